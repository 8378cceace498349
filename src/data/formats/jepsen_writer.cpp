// Op maps out. Lines of all sessions are merged by time, each session's own
// order kept even where its clock runs backwards.
#include "data/formats/jepsen_writer.hpp"

#include <absl/strings/charconv.h>
#include <fmt/format.h>
#include <simdjson.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <iterator>

#include "base/budget.hpp"
#include "base/hash_table.hpp"
#include "base/text/json.hpp"
#include "base/visible.hpp"
#include "data/formats/edn.hpp"
#include "data/formats/jepsen_events.hpp"
#include "data/history/facts.hpp"
#include "data/history/text_order.hpp"

namespace cupel::formats {

namespace {

using namespace history;
using jepsen::Cell;
using jepsen::Tag;

constexpr std::size_t kFlushBytes = 1 << 20;

// Whether EDN text reads back as this scalar.
bool reads_back(std::string_view text, ScalarView scalar, bool vector) {
  jepsen::Chunk chunk;
  EdnReader reader(text, chunk);
  Cell cell;
  if (!reader.value(cell, 1) || !reader.at_end()) return false;
  if (vector && cell.is_vector() && scalar.kind == ScalarKind::kLiteral) {
    std::string read;
    canonical(chunk, cell, read);
    return read == scalar.text;
  }
  const bool kind = scalar.kind == ScalarKind::kKeyword
                        ? cell.tag == Tag::kKeyword
                        : cell.tag == Tag::kLiteral || cell.tag == Tag::kMap;
  return kind && cell.view() == scalar.text;
}

bool is_json_number_or_bool(std::string_view text) {
  if (text == "true" || text == "false") return true;
  double value = 0;
  const auto [end, error] = absl::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size() && std::isfinite(value) &&
         jepsen::canonical_double(value) == text;
}

class Writer {
 public:
  Writer(const History& h, std::ostream& out, bool edn) : h_(h), out_(out), edn_(edn) {}

  base::Status run() {
    for (std::size_t s = 0; s < h_.session_count(); ++s) {
      const auto& name = h_.session_name(SessionId(s));
      if (name == "nemesis") {
        return base::Error{.message =
                               "found a session named nemesis, which Jepsen's readers skip; "
                               "expected another name, or write the cupel format"};
      }
      processes_.push_back(process(name));
    }
    numbered_ = numbered();
    const auto lines = moments();
    if (h_.has_times()) numbered_ = are_labels(lines);
    if (numbered_) line_ = lines.size();  // the header's, beyond those of the transactions
    header(sessions_differ(lines));
    if (numbered_) line_ = 0;
    for (const Moment& moment : lines) {
      const TxnId t(moment.txn);
      if (moment.completion) {
        completion(t);
      } else {
        line(t, "invoke", h_.invoke(t), true);
      }
    }
    flush(0);
    if (!bad_text_.empty()) {
      return base::Error{.message = "found " + bad_text_ +
                                    " that is not UTF-8, which neither JSON nor EDN can hold; "
                                    "expected text, or write the cupel format"};
    }
    out_.flush();
    if (!out_) return base::Error{.message = "could not write the history: disk full or closed"};
    return base::Ok{};
  }

 private:
  void put(std::string_view text) { buffer_.append(text); }
  void put(char c) { buffer_ += c; }
  void number(std::int64_t n) { fmt::format_to(std::back_inserter(buffer_), "{}", n); }
  void flush(std::size_t least) {
    if (buffer_.size() < least) return;
    out_.write(buffer_.data(), static_cast<std::streamsize>(buffer_.size()));
    buffer_.clear();
  }

  std::string process(const std::string& name) {
    std::int64_t number = 0;
    const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), number);
    if (error == std::errc() && end == name.data() + name.size() &&
        std::to_string(number) == name) {
      return name;
    }
    return quoted(name, "a session name");
  }

  std::string quoted(std::string_view text, std::string_view what) {
    if (!simdjson::validate_utf8(text.data(), text.size()) && bad_text_.empty()) bad_text_ = what;
    std::string out;
    text::append_quoted(text, out);
    // A history may go to a terminal; these escapes are those of JSON and EDN.
    return base::visible(out);
  }

  // Words: the fields' names, and the types and functions.
  void field(std::string_view name, bool first = false) {
    if (edn_) {
      put(first ? ":" : ", :");
      put(name);
      put(' ');
    } else {
      put(first ? "\"" : ",\"");
      put(name);
      put("\":");
    }
  }
  void word(std::string_view text) {
    if (edn_) {
      put(':');
      put(text);
    } else {
      put('"');
      put(text);
      put('"');
    }
  }
  void separator() { put(edn_ ? ' ' : ','); }

  void scalar(ScalarView s, std::uint32_t id, base::HashMap<std::uint32_t, std::string>& cache,
              bool is_key) {
    if (s.kind == ScalarKind::kNull) return put(edn_ ? "nil" : "null");
    if (s.kind == ScalarKind::kInteger) return number(s.integer);
    const auto [it, fresh] = cache.try_emplace(id);
    if (fresh) it->second = text_of(s, is_key);
    put(it->second);
  }
  // A vector is a value of a key, but as the value of a read it may be a list.
  std::string text_of(ScalarView s, bool is_key) {
    std::string text = quoted(s.text, "a key or value");
    const bool keyword = s.kind == ScalarKind::kKeyword;
    if (s.kind == ScalarKind::kString) return text;
    if (edn_) {
      std::string plain = (keyword ? ":" : "") + std::string(s.text);
      if (base::visible(plain) == plain && reads_back(plain, s, is_key)) return plain;
      return (keyword ? "#cupel/keyword " : "#cupel/literal ") + text;
    }
    if (!keyword && is_json_number_or_bool(s.text)) return std::string(s.text);
    return (keyword ? R"({"keyword":)" : R"({"literal":)") + text + "}";
  }
  void key(KeyId k) { scalar(h_.key(k), k.raw, keys_, true); }
  void value(ValueId v) {
    if (!v.valid()) return put(edn_ ? "nil" : "null");
    scalar(h_.value(v), v.raw, values_, false);
  }

  void op(const Operation& o, bool invocation) {
    put('[');
    const auto head = [&](std::string_view f) {
      word(f);
      separator();
      key(o.key);
      separator();
    };
    switch (o.kind) {
      case OpKind::kRead:
        head("r");
        value(invocation ? ValueId::none() : o.value);
        if (!invocation && !o.value.valid()) unknown();
        break;
      case OpKind::kListRead:
        head("r");
        if (invocation) {
          value(ValueId::none());
          break;
        }
        put('[');
        if (h_.list_known(o)) {
          bool first = true;
          for (const ValueId v : h_.list(o)) {
            if (!first) separator();
            first = false;
            value(v);
          }
        }
        put(']');
        if (!h_.list_known(o)) unknown();
        break;
      case OpKind::kWrite:
        head("w");
        value(o.value);
        break;
      case OpKind::kAppend:
        head("append");
        value(o.value);
        break;
      case OpKind::kInsert:
        head("insert");
        value(o.value);
        break;
      case OpKind::kDelete:
        head("delete");
        value(o.value);
        break;
      case OpKind::kCompareAndSet: {
        const CompareAndSet cas = h_.compare_and_set(o);
        head("cas");
        put('[');
        value(cas.expected);
        separator();
        value(cas.desired);
        put(']');
        if (!cas.succeeded && !invocation) unknown();
        break;
      }
      case OpKind::kRangeRead: {
        const RangeRead range = h_.range(o);
        word("range");
        separator();
        put('[');
        value(range.low);
        separator();
        value(h_.value(range.high) == history::kAboveAll ? ValueId::none() : range.high);
        put(']');
        separator();
        if (invocation) {
          value(ValueId::none());
          break;
        }
        put('[');
        bool first = true;
        for (const RangeEntry& entry : range.entries) {
          if (!first) separator();
          first = false;
          put('[');
          key(entry.key);
          separator();
          value(entry.value);
          put(']');
        }
        put(']');
        break;
      }
    }
    put(']');
  }
  void unknown() {
    separator();
    put("false");
  }

  void begin_line(std::string_view type) {
    put('{');
    field("index", true);
    number(static_cast<std::int64_t>(line_++));
    field("type");
    word(type);
    field("process");
  }
  void end_line() {
    put("}\n");
    flush(kFlushBytes);
  }

  void line(TxnId t, std::string_view type, Time time, bool invocation) {
    begin_line(type);
    put(processes_[h_.session(t).index()]);
    field("f");
    word("txn");
    field("value");
    put('[');
    for (auto i = h_.first_op(t); i < h_.last_op(t); ++i) {
      if (i != h_.first_op(t)) separator();
      op(h_.op(OpId(i)), invocation);
    }
    put(']');
    if (time != kNoTime) {
      field("time");
      number(time);
    }
    end_line();
  }
  void completion(TxnId t) {
    const auto status = h_.status(t);
    line(t,
         status == TxnStatus::kCommitted ? "ok"
         : status == TxnStatus::kAborted ? "fail"
                                         : "info",
         h_.complete(t), false);
  }

  struct Moment {
    Time time;
    std::uint32_t txn;
    bool completion;
  };
  // Without times, whether the labels are 0, 1, 2 … in an order that the sessions keep: lines in
  // that order have the labels as their indexes, and who reads them finds T3 where it was.
  bool numbered() const {
    if (h_.has_times()) return false;
    std::vector<bool> seen(h_.txn_count());
    for (std::uint32_t t = 0; t < h_.txn_count(); ++t) {
      const auto label = h_.label(TxnId(t));
      if (label >= seen.size() || seen[label]) return false;
      seen[label] = true;
      const bool follows = t > 0 && h_.session(TxnId(t)) == h_.session(TxnId(t - 1));
      if (follows && label < h_.label(TxnId(t - 1))) return false;
    }
    return true;
  }

  // With times: whether each label is the place of the line that completes its transaction.
  bool are_labels(const std::vector<Moment>& lines) const {
    for (std::size_t at = 0; at < lines.size(); ++at) {
      if (lines[at].completion && h_.label(TxnId(lines[at].txn)) != at) return false;
    }
    return true;
  }

  // The lines in their order. Without times: the completions only.
  std::vector<Moment> moments() const {
    std::vector<Moment> all;
    all.reserve((h_.has_times() ? 2 : 1) * h_.txn_count());
    for (std::size_t s = 0; s < h_.session_count(); ++s) {
      Time now = kNoTime;
      for (auto t = h_.session_begin(SessionId(s)); t != h_.session_end(SessionId(s));
           t = TxnId(t.raw + 1)) {
        if (h_.has_times()) {
          now = std::max(now, h_.invoke(t));
          all.push_back({now, t.raw, false});
          now = std::max(now, h_.complete(t));
        }
        all.push_back({now, t.raw, true});
      }
    }
    std::stable_sort(all.begin(), all.end(), [&](const Moment& a, const Moment& b) {
      return numbered_ ? h_.label(TxnId(a.txn)) < h_.label(TxnId(b.txn)) : a.time < b.time;
    });
    return all;
  }

  // Whether a reader would number the sessions otherwise, or miss one.
  bool sessions_differ(const std::vector<Moment>& lines) const {
    std::size_t mentioned = 0;
    for (const Moment& line : lines) {
      const auto s = h_.session(TxnId(line.txn)).index();
      if (s > mentioned) return true;
      if (s == mentioned) ++mentioned;
    }
    return mentioned != h_.session_count();
  }

  // What Jepsen has no place for goes into lines of the nemesis, which other
  // readers skip.
  void header(bool sessions) {
    std::vector<std::pair<std::string, std::string>> facts;
    for (const auto& [name, text] : h_.metadata()) {
      if (name != "format" && name != history::kNotIgnored) facts.emplace_back(name, text);
    }
    const auto nemesis = [&](std::string_view f) {
      begin_line("info");
      word("nemesis");
      field("f");
      word(f);
      field("value");
      put('[');
    };
    if (!facts.empty()) {
      nemesis("cupel.metadata");
      for (std::size_t i = 0; i < facts.size(); ++i) {
        if (i > 0) separator();
        put('[');
        put(quoted(facts[i].first, "metadata"));
        separator();
        put(quoted(facts[i].second, "metadata"));
        put(']');
      }
      put(']');
      end_line();
    }
    if (sessions) {
      nemesis("cupel.sessions");
      for (std::size_t s = 0; s < h_.session_count(); ++s) {
        if (s > 0) separator();
        put(quoted(h_.session_name(SessionId(s)), "a session name"));
      }
      put(']');
      end_line();
    }
    if (h_.default_initial_value() != h_.null_value() || !h_.initial_overrides().empty()) {
      nemesis("cupel.initial");
      value(h_.default_initial_value());
      separator();
      put('[');
      bool first = true;
      for (const auto& [k, v] : h_.initial_overrides()) {
        if (!first) separator();
        first = false;
        put('[');
        key(k);
        separator();
        value(v);
        put(']');
      }
      put("]]");
      end_line();
    }
  }

  const History& h_;
  std::ostream& out_;
  bool edn_;
  std::string buffer_;
  std::string bad_text_;  // what was found not to be UTF-8
  std::vector<std::string> processes_;
  base::HashMap<std::uint32_t, std::string> keys_, values_;  // texts, by id
  std::uint64_t line_ = 0;
  bool numbered_ = false;  // the labels are the indexes of lines
};

}  // namespace

base::Status write_jepsen(const History& history, std::ostream& out, bool edn) {
  {
    // At its first use simdjson chooses an implementation, in a function that must not throw.
    const base::AllocationWatch::Deferral later;
    [[maybe_unused]] const bool chosen = simdjson::validate_utf8("", 0);
  }
  return Writer(history, out, edn).run();
}

}  // namespace cupel::formats
