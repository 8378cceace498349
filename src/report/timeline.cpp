// See the header. Columns instead of objects: a transaction takes some 30 bytes and
// an operation 8, so that a history of 30,000 transactions fits whole.
#include "report/timeline.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdlib>
#include <set>
#include <sstream>

#include "base/text/json.hpp"
#include "base/visible.hpp"
#include "data/history/naming.hpp"
#include "data/history/text_order.hpp"
#include "data/history/times.hpp"
#include "engine/analysis/final_reads.hpp"
#include "report/stats.hpp"

namespace cupel::report {

using history::History;
using history::KeyId;
using history::kNoTime;
using history::OpId;
using history::OpKind;
using history::SessionId;
using history::Time;
using history::TxnId;
using history::TxnStatus;
using history::ValueId;

namespace {

constexpr std::size_t kColumns = 240, kMostRows = 48;
constexpr std::size_t kMostOperations = 60;  // of one transaction; the page says how many more
constexpr std::size_t kListEnd = 6;          // elements of a list that are shown
constexpr Time kPositions = 1'000'000'000;   // the length of a history without times

// JSON text for a script of the page, which `</script>` must not end.
std::string json_text(std::string_view text) {
  std::string out;
  for (const char c : text::quoted(text)) {
    if (c == '<') {
      out += "\\u003c";
    } else {
      out += c;
    }
  }
  return out;
}

// The nodes of a history by number, in the order of their names.
class NodesOfHistory {
 public:
  struct At {
    std::size_t node;
    char role;  // 'p' primary, 'r' replica, '-' nobody says
  };

  NodesOfHistory(const History& history, const NodesByLabel* nodes)
      : history_(history), nodes_(nodes) {
    if (nodes == nullptr) return;
    // A number decides first, if the history has them.
    std::set<std::pair<std::size_t, std::string>> sorted;
    const auto key = [&](const std::string& name) {
      const auto number = number_of_node(history, name);
      return std::pair(number.empty()
                           ? SIZE_MAX
                           : static_cast<std::size_t>(std::strtoull(number.c_str(), nullptr, 10)),
                       name);
    };
    for (const auto& text : nodes->names) sorted.insert(key(parse_node(text).name));
    // Where some have numbers, a name without is of several servers: a cluster's replicas, say.
    const bool numbered = !sorted.empty() && sorted.begin()->first != SIZE_MAX;
    for (const auto& [number, name] : sorted) {
      if (!numbered || number != SIZE_MAX) names_.push_back(name);
    }
    for (const auto& text : nodes->names) {
      const auto node = parse_node(text);
      const auto at = std::find(names_.begin(), names_.end(), node.name) - names_.begin();
      at_.push_back({static_cast<std::size_t>(at), node.role.empty() ? '-' : node.role.front()});
    }
  }

  [[nodiscard]] std::size_t count() const { return names_.size(); }
  [[nodiscard]] std::string name(std::size_t node) const {
    return numbered_name(history_, names_[node]);
  }
  [[nodiscard]] std::string short_name(std::size_t node) const {
    const auto number = number_of_node(history_, names_[node]);
    return number.empty() ? names_[node] : "node " + number;
  }
  [[nodiscard]] const At* of(TxnId t) const {
    const auto label = history_.label(t);
    if (nodes_ == nullptr || label >= nodes_->of_label.size()) return nullptr;
    const auto number = nodes_->of_label[label];
    return number == 0 || at_[number - 1].node == count() ? nullptr : &at_[number - 1];
  }

 private:
  const History& history_;
  const NodesByLabel* nodes_;
  std::vector<std::string> names_;
  std::vector<At> at_;  // by name in the file
};

class Timeline {
 public:
  Timeline(const History& history, std::span<const std::vector<TxnId>> marked,
           const TimelineOptions& options)
      : history_(history),
        marked_(marked),
        also_(options.also),
        nodes_(history, options.nodes),
        most_(options.most_bytes),
        clock_(history.has_times()),
        places_(history.times_are_places()) {
    measure();
  }

  std::string write() {
    const auto faults = faults_of(history_);
    grid();
    pace();
    node_activity();
    choose();
    std::string out = fmt::format(
        R"({{"clock":{},"places":{},"from":{},"to":{},"total":{},"shown":{})", clock_, places_,
        places_ ? from_ : 0, since_start(to_), history_.txn_count(), shown_.size());
    out += R"(,"sessions":[)";
    std::size_t previous = SIZE_MAX;
    for (const TxnId t : shown_) {
      const auto s = history_.session(t);
      if (s.index() == previous) continue;
      out +=
          fmt::format("{}[{},{},{},{}]", previous == SIZE_MAX ? "" : ",", s.raw,
                      json_text(history::session_text(history_, s)), history_.session_begin(s).raw,
                      history_.session_end(s).raw - history_.session_begin(s).raw);
      previous = s.index();
    }
    std::string ops = operations();
    out += R"(],"keys":[)";
    for (std::size_t i = 0; i < keys_.size(); ++i) {
      out += (i > 0 ? "," : "") + json_text(history::shown_key(history_.key(keys_[i])));
    }
    column(out, "ids", [](TxnId t) { return t.raw; });
    column(out, "labels", [&](TxnId t) { return history_.label(t); });
    out += R"(],"status":")";
    for (const TxnId t : shown_) out += "cai"[static_cast<std::size_t>(history_.status(t))];
    out += R"(","start":[)";
    values(out, [&](TxnId t) { return since_start(start(t)); });
    column(out, "length", [&](TxnId t) {
      return end(t) == kNoTime ? Time{-1} : history::between(start(t), end(t));
    });
    out += R"(],"ops":[)" + ops + R"(],"windows":[)";
    for (std::size_t i = 0; i < windows_.size(); ++i) {
      out += fmt::format("{}[{},{}]", i > 0 ? "," : "", since_start(windows_[i].first),
                         windows_[i].second - from_);
    }
    out += "]," + grid_ + ',' + pace_ + R"(,"nodes":)" + nodes() + R"(,"faults":[)";
    for (std::size_t i = 0; i < faults.size(); ++i) {
      out += fmt::format("{}[{},{},{}]", i > 0 ? "," : "", since_start(faults[i].from),
                         faults[i].to == kNoTime ? Time{-1} : since_start(faults[i].to),
                         json_text(history::cut(faults[i].what)));
    }
    out += R"(],"marked":[)";
    for (std::size_t i = 0; i < marked_.size(); ++i) {
      out += i > 0 ? ",[" : "[";
      for (std::size_t j = 0; j < marked_[i].size(); ++j) {
        out += fmt::format("{}{}", j > 0 ? "," : "", marked_[i][j].raw);
      }
      out += "]";
    }
    return out + "]}";
  }

 private:
  [[nodiscard]] Time start(TxnId t) const { return start_[t.index()]; }
  [[nodiscard]] Time since_start(Time time) const { return history::between(from_, time); }
  // kNoTime: its end was not seen.
  [[nodiscard]] Time end(TxnId t) const { return end_[t.index()]; }

  void measure() {
    start_.resize(history_.txn_count());
    end_.resize(history_.txn_count());
    from_ = std::numeric_limits<Time>::max();
    to_ = std::numeric_limits<Time>::min();
    Time last_known = 0;
    for (std::size_t i = 0; i < history_.txn_count(); ++i) {
      const TxnId t(i);
      const auto first = history_.session_begin(history_.session(t)).index();
      const auto last = history_.session_end(history_.session(t)).index();
      if (clock_) {
        start_[i] = history_.invoke(t);
        end_[i] = history_.complete(t);
        // Rare: a transaction without times among others. It stands where its predecessor ended.
        if (start_[i] == kNoTime)
          start_[i] = end_[i] != kNoTime ? end_[i] : i == first ? 0 : last_known;
      } else {
        const auto at = [&](std::size_t n) {
          return static_cast<Time>(static_cast<double>(n - first) /
                                   static_cast<double>(last - first) *
                                   static_cast<double>(kPositions));
        };
        start_[i] = at(i);
        end_[i] = start_[i] + (at(i + 1) - start_[i]) * 9 / 10;
      }
      last_known = end_[i] == kNoTime ? start_[i] : end_[i];
      from_ = std::min(from_, start_[i]);
      to_ = std::max(to_, last_known);
    }
    if (from_ > to_) from_ = to_ = 0;
  }

  void grid() {
    const auto sessions = history_.session_count();
    const auto rows = std::min(sessions, kMostRows);
    std::vector<std::uint32_t> count(rows * kColumns), failed(rows * kColumns);
    for (std::size_t i = 0; i < history_.txn_count(); ++i) {
      const TxnId t(i);
      const auto row = history_.session(t).index() * rows / sessions;
      const auto cell = row * kColumns + column_of(start(t));
      ++count[cell];
      failed[cell] += history_.status(t) != TxnStatus::kCommitted;
    }
    grid_ = fmt::format(R"("grid":{{"columns":{},"rows":[)", kColumns);
    for (std::size_t row = 0; row < rows; ++row) {
      // The sessions of a row: those s with s * rows / sessions == row.
      const auto first = (row * sessions + rows - 1) / rows;
      const auto end = ((row + 1) * sessions + rows - 1) / rows;
      grid_ += fmt::format("{}[{},{}]", row > 0 ? "," : "", first, end);
    }
    const auto write = [&](const char* name, const std::vector<std::uint32_t>& cells) {
      grid_ += fmt::format(R"(],"{}":[)", name);
      for (std::size_t i = 0; i < cells.size(); ++i) {
        if (i > 0) grid_ += ',';
        grid_ += std::to_string(cells[i]);
      }
    };
    write("count", count);
    write("failed", failed);
    grid_ += "]}";
  }

  [[nodiscard]] std::size_t column_of(Time time) const {
    const double span = static_cast<double>(since_start(to_)) + 1;
    const auto column = static_cast<std::size_t>(static_cast<double>(since_start(time)) / span *
                                                 static_cast<double>(kColumns));
    return std::min(column, kColumns - 1);
  }

  // The sessions that only read at the end, when the load was over.
  [[nodiscard]] std::vector<bool> final_readers() const {
    std::vector<bool> is(history_.session_count());
    for (const auto& node : analysis::readers_of(history_)) is[node.session.index()] = true;
    return is;
  }

  // Commits and their latencies, by when they ended.
  void pace() {
    if (!clock_ || places_) {
      pace_ = R"("pace":null)";
      return;
    }
    std::vector<std::vector<Time>> latencies(kColumns);
    const auto reads_finally = final_readers();
    for (std::size_t i = 0; i < history_.txn_count(); ++i) {
      const TxnId t(i);
      const bool known = history_.invoke(t) != kNoTime && history_.complete(t) != kNoTime;
      if (history_.status(t) != TxnStatus::kCommitted || !known) continue;
      if (reads_finally[history_.session(t).index()]) continue;
      latencies[column_of(end(t))].push_back(history::between(start(t), end(t)));
    }
    for (auto& column : latencies) std::sort(column.begin(), column.end());
    pace_ = R"("pace":{"commits":[)";
    const auto write = [&](auto value) {
      for (std::size_t i = 0; i < kColumns; ++i) {
        pace_ += (i > 0 ? "," : "") + std::to_string(value(latencies[i]));
      }
    };
    const auto percentile = [](std::size_t percent) {
      return [percent](const std::vector<Time>& sorted) {
        return sorted.empty() ? Time{-1} : sorted[(sorted.size() - 1) * percent / 100];
      };
    };
    write([](const std::vector<Time>& sorted) { return sorted.size(); });
    pace_ += R"(],"p50":[)";
    write(percentile(50));
    pace_ += R"(],"p99":[)";
    write(percentile(99));
    pace_ += "]}";
  }

  // What committed on each node, by when it ended.
  void node_activity() {
    if (!clock_ || nodes_.count() < 2) return;
    activity_.assign(nodes_.count(), std::vector<std::uint32_t>(kColumns));
    roles_.assign(nodes_.count(), std::string(kColumns, '-'));
    const auto reads_finally = final_readers();
    for (std::size_t i = 0; i < history_.txn_count(); ++i) {
      const TxnId t(i);
      const auto at = nodes_.of(t);
      if (!at || history_.status(t) != TxnStatus::kCommitted || end(t) == kNoTime ||
          reads_finally[history_.session(t).index()]) {
        continue;
      }
      const auto column = column_of(end(t));
      ++activity_[at->node][column];
      char& role = roles_[at->node][column];
      if (role != 'p') role = at->role;
    }
  }

  std::string nodes() {
    if (activity_.empty()) return "null";
    std::string out = R"({"names":[)";
    const auto list = [&](std::string_view next, auto value) {
      for (std::size_t n = 0; n < nodes_.count(); ++n) out += (n > 0 ? "," : "") + value(n);
      out += next;
    };
    list(R"(],"short":[)", [&](std::size_t n) { return json_text(base::visible(nodes_.name(n))); });
    list(R"(],"of":[)",
         [&](std::size_t n) { return json_text(base::visible(nodes_.short_name(n))); });
    values(out, [&](TxnId t) {
      const auto at = nodes_.of(t);
      return at ? static_cast<std::int64_t>(at->node) : -1;
    });
    out += R"(],"role":")";
    for (const TxnId t : shown_) out += nodes_.of(t) ? nodes_.of(t)->role : '-';
    out += R"(","commits":[)";
    list(R"(],"roles":[)",
         [&](std::size_t n) { return fmt::format("[{}]", fmt::join(activity_[n], ",")); });
    list("]}", [&](std::size_t n) { return '"' + roles_[n] + '"'; });
    return out;
  }

  // What a transaction takes, never too little: its columns, and its operations with
  // a value of text at its longest.
  [[nodiscard]] std::size_t bytes_of(TxnId t) const {
    std::size_t bytes = 68;
    const auto last =
        std::min<std::size_t>(history_.last_op(t), history_.first_op(t) + kMostOperations);
    for (std::size_t o = history_.first_op(t); o < last; ++o)
      bytes += value_of(OpId(o)).size() + 14;
    return bytes;
  }

  // How far a transaction is from what matters, in time.
  void choose() {
    const auto n = history_.txn_count();
    std::vector<Time> centres;
    std::vector<bool> must(n);
    const auto add = [&](TxnId t) {
      if (t.index() >= n || must[t.index()]) return;
      must[t.index()] = true;
      centres.push_back(start(t));
    };
    for (const auto& list : marked_) std::for_each(list.begin(), list.end(), add);
    std::for_each(also_.begin(), also_.end(), add);
    if (centres.empty()) centres.push_back(from_);
    std::sort(centres.begin(), centres.end());
    const auto distance = [&](TxnId t) {
      if (must[t.index()]) return Time{-1};
      const auto after = std::lower_bound(centres.begin(), centres.end(), start(t));
      Time nearest = std::numeric_limits<Time>::max();
      if (after != centres.end()) nearest = *after - start(t);
      if (after != centres.begin()) nearest = std::min(nearest, start(t) - *(after - 1));
      return nearest;
    };
    std::vector<std::pair<Time, TxnId>> order;
    order.reserve(n);
    for (std::size_t i = 0; i < n; ++i) order.emplace_back(distance(TxnId(i)), TxnId(i));
    // Only the nearest are of use: nothing is smaller than 64 bytes.
    const auto at_most = std::min(n, most_ / 64);
    std::partial_sort(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(at_most),
                      order.end());
    std::size_t used = grid_.size() + pace_.size() + 4000 + nodes_.count() * kColumns * 8;
    std::size_t taken = 0;
    std::vector<bool> key_known(history_.key_count()), session_known(history_.session_count());
    while (taken < at_most) {
      const TxnId t = order[taken].second;
      used += bytes_of(t);
      if (const auto s = history_.session(t).index(); !session_known[s]) {
        session_known[s] = true;
        used += 6 * std::min<std::size_t>(history_.session_name(SessionId(s)).size(), 48) + 40;
      }
      const auto last =
          std::min<std::size_t>(history_.last_op(t), history_.first_op(t) + kMostOperations);
      for (std::size_t o = history_.first_op(t); o < last; ++o) {
        const KeyId key = history_.op(OpId(o)).key;
        if (!key.valid() || key_known[key.index()]) continue;
        key_known[key.index()] = true;
        used += json_text(history::shown_key(history_.key(key))).size() + 1;
      }
      if (used > most_) break;
      ++taken;
    }
    // Beyond this distance nothing is whole.
    const bool all = taken == n;
    const Time whole = all || taken == 0 ? 0 : std::max<Time>(0, order[taken - 1].first - 1);
    for (std::size_t i = 0; i < taken; ++i) shown_.push_back(order[i].second);
    std::sort(shown_.begin(), shown_.end());
    if (all) {
      windows_ = {{from_, to_}};
      return;
    }
    for (const Time centre : centres) {
      const Time a = std::max(from_, centre - whole), b = std::min(to_, centre + whole);
      if (!windows_.empty() && a <= windows_.back().second) {
        windows_.back().second = std::max(windows_.back().second, b);
      } else {
        windows_.emplace_back(a, b);
      }
    }
  }

  template <typename Value>
  void column(std::string& out, const char* name, Value value) {
    out += fmt::format(R"(],"{}":[)", name);
    values(out, value);
  }
  template <typename Value>
  void values(std::string& out, Value value) {
    bool first = true;
    for (const TxnId t : shown_) {
      if (!first) out += ',';
      first = false;
      append(out, value(t));
    }
  }
  // Of thousands of numbers each: formatting them took a third of a page's time.
  template <typename Number>
  static void append(std::string& out, Number number) {
    std::array<char, 24> digits;
    const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), number).ptr;
    out.append(digits.data(), end);
  }

  // Kinds as OpKind; 8 stands for operations left out, their number in place of the key.
  std::string operations() {
    std::vector<std::uint32_t> place(history_.key_count(), KeyId::kNoneRaw);
    std::string out;
    for (const TxnId t : shown_) {
      out += out.empty() ? "[" : ",[";
      const std::size_t first = history_.first_op(t), last = history_.last_op(t);
      for (std::size_t o = first; o < std::min(last, first + kMostOperations); ++o) {
        const auto op = history_.op(OpId(o));
        std::int64_t key = -1;
        if (op.key.valid()) {
          auto& at = place[op.key.index()];
          if (at == KeyId::kNoneRaw) {
            at = static_cast<std::uint32_t>(keys_.size());
            keys_.push_back(op.key);
          }
          key = at;
        }
        if (o > first) out += ',';
        append(out, static_cast<int>(op.kind));
        out += ',';
        append(out, key);
        out += ',';
        out += value_of(OpId(o));
      }
      if (last - first > kMostOperations)
        out += fmt::format(",8,{},0", last - first - kMostOperations);
      out += ']';
    }
    return out;
  }

  // As JSON: an integer of up to 15 digits as itself, everything else as text.
  [[nodiscard]] std::string value_of(OpId id) const {
    const auto op = history_.op(id);
    const auto shown = [&](ValueId value) {
      return value.valid() ? history::shown(history_.value(value)) : std::string("?");
    };
    switch (op.kind) {
      case OpKind::kListRead: {
        if (!history_.list_known(op)) return R"("?")";
        const auto list = history_.list(op);
        std::string text = list.size() > kListEnd ? "[…" : "[";
        for (std::size_t i = list.size() - std::min(list.size(), kListEnd); i < list.size(); ++i) {
          text += (text.size() > 1 ? " " : "") + shown(list[i]);
        }
        text += "]";
        if (list.size() > kListEnd) text += fmt::format(" ({})", list.size());
        return json_text(text);
      }
      case OpKind::kRangeRead: {
        const auto range = history_.range(op);
        std::string text = fmt::format("{} to {}:", history::shown_bound(history_.value(range.low)),
                                       history::shown_bound(history_.value(range.high)));
        for (std::size_t i = 0; i < range.entries.size() && i < kListEnd; ++i) {
          text += fmt::format(" {}={}", history::shown_key(history_.key(range.entries[i].key)),
                              shown(range.entries[i].value));
        }
        if (range.entries.empty()) text += " nothing";
        if (range.entries.size() > kListEnd) text += fmt::format(" … ({})", range.entries.size());
        return json_text(text);
      }
      case OpKind::kCompareAndSet: {
        const auto cas = history_.compare_and_set(op);
        return json_text(fmt::format("{} → {}{}", shown(cas.expected), shown(cas.desired),
                                     cas.succeeded ? "" : " (failed)"));
      }
      default: {
        if (!op.value.valid()) return R"("?")";
        const auto scalar = history_.value(op.value);
        constexpr std::int64_t kExact = 999'999'999'999'999;  // a double holds it
        if (scalar.kind == history::ScalarKind::kInteger && std::abs(scalar.integer) <= kExact) {
          return std::to_string(scalar.integer);
        }
        return json_text(history::shown(scalar));
      }
    }
  }

  const History& history_;
  std::span<const std::vector<TxnId>> marked_;
  std::span<const TxnId> also_;
  NodesOfHistory nodes_;
  std::size_t most_;
  bool clock_, places_;
  Time from_ = 0, to_ = 0;
  std::vector<Time> start_, end_;
  std::vector<TxnId> shown_;
  std::vector<KeyId> keys_;
  std::vector<std::pair<Time, Time>> windows_;
  std::string grid_, pace_;
  std::vector<std::vector<std::uint32_t>> activity_;  // by node and column
  std::vector<std::string> roles_;
};

}  // namespace

std::vector<Fault> faults_of(const History& history) {
  std::vector<Fault> faults;
  std::istringstream lines(history.fact("faults"));
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    Fault fault{0, kNoTime, {}};
    std::string to;
    if (!(words >> fault.from >> to)) continue;
    if (to != "-") {
      const auto [end, bad] = std::from_chars(to.data(), to.data() + to.size(), fault.to);
      if (bad != std::errc() || end != to.data() + to.size()) continue;
    }
    std::getline(words >> std::ws, fault.what);
    fault.what = base::visible(fault.what);
    faults.push_back(std::move(fault));
  }
  return faults;
}

std::string timeline_json(const History& history, std::span<const std::vector<TxnId>> marked,
                          const TimelineOptions& options) {
  return Timeline(history, marked, options).write();
}

}  // namespace cupel::report
