// The text: a sentence that says what went wrong, the transactions with the
// operations that matter, the numbered steps with their reasons below them, and
// the contradiction. Reasons are told once and referred to afterwards; depth and
// length are bounded, because a reader's patience is.
#include "explain/explain.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "explain/cycle.hpp"
#include "explain/sentences.hpp"
#include "explain/words.hpp"

namespace cupel::explain {

using levels::InternalAnomaly;
using levels::InternalKind;
using levels::Level;

namespace {

constexpr int kDeepest = 4;
constexpr std::size_t kLongestPath = 12;  // longer ones: the first eight and the last four
constexpr std::size_t kPathHead = 8;
constexpr std::size_t kMostLines = 60;  // of steps and reasons, for one cycle
constexpr std::size_t kMostCases = 4;
constexpr std::size_t kMostListed = 24;  // transactions

std::string capitalised(std::string text) {
  if (!text.empty() && text[0] >= 'a' && text[0] <= 'z') text[0] = static_cast<char>(text[0] - 32);
  return text;
}

class Teller {
 public:
  Teller(const History& history, Level level, const Derivation& derivation)
      : history_(history), level_(level), derivation_(derivation), words_(history, involved()) {
    if (!derivation.cycle.empty()) raw_.push_back(derivation.cycle);
    for (const auto& one : derivation.cases) raw_.push_back(one.cycle);
    for (const auto& raw : raw_) cycles_.push_back(contracted(derivation, raw));
  }

  Anomaly tell() {
    Anomaly anomaly;
    anomaly.at = level_;
    if (cycles_.empty()) return anomaly;
    const Named named = name_of(history_, words_, level_, derivation_, cycles_);
    anomaly.name = named.name;
    anomaly.adya = named.adya;
    fill(anomaly);

    const std::string first = capitalised(summary(named)) + ".";
    // The steps before the listing: what they mention is what it lists.
    const std::string proof = derivation_.cases.empty() ? cycle_text(0, "  ") : cases_text();
    anomaly.explanation = first + listing() + proof;
    return anomaly;
  }

 private:
  std::vector<TxnId> involved() const {
    std::vector<TxnId> all;
    for (const Edge& edge : derivation_.edges) {
      for (const TxnId t : {edge.from, edge.to, edge.reader, edge.writer}) all.push_back(t);
      if (edge.witness.valid()) all.push_back(history_.txn_of(edge.witness));
    }
    return all;
  }

  void fill(Anomaly& anomaly) {
    const auto add = [](auto& list, auto id) {
      if (id.valid() && std::find(list.begin(), list.end(), id) == list.end()) list.push_back(id);
    };
    Words apart = words_;  // sentences of structure mention nothing in the text
    for (std::size_t c = 0; c < cycles_.size(); ++c) {
      for (const PathEdge& p : cycles_[c]) {
        const Edge& edge = p.edge;
        add(anomaly.transactions, edge.from);
        add(anomaly.transactions, edge.to);
        if (edge.reason == Reason::kVisible) add(anomaly.transactions, edge.reader);
        add(anomaly.keys, edge.key);
        anomaly.edges.push_back({edge.from, edge.to, edge.kind, edge.reason, edge.key, edge.from_op,
                                 edge.to_op,
                                 derivation_.cases.empty() ? 0 : static_cast<std::uint32_t>(c + 1),
                                 sentence(history_, apart, derivation_, edge, false)});
      }
    }
  }

  // ---- what went wrong, in one sentence

  std::string version_by(const Miss& miss) {
    const OpId write = miss.write.valid() ? miss.write : words_.find_write(miss.writer, miss.key);
    return write.valid() ? words_.version(write, miss.key) : words_.key(miss.key);
  }

  std::string summary(const Named& named) {
    if (named.name == "lost-update") {
      const auto a = words_.txn(named.transactions[0]);
      const auto b = words_.txn(named.transactions[1]);
      const KeyId key = named.keys[0];
      const auto read = words_.find_read(named.transactions[0], key);
      // The reads are told without what they wrote: a compare-and-set does both.
      words_.read_clause(read, key);
      words_.read_clause(words_.find_read(named.transactions[1], key), key);
      return fmt::format(
          "{} and {} both read {} = {} and both wrote {}: one of the two updates is lost", a, b,
          words_.key(key), words_.seen(read, key), words_.key(key));
    }
    if (named.name == "write-skew") {
      const auto a = words_.txn(named.transactions[0]);
      const auto b = words_.txn(named.transactions[1]);
      return fmt::format(
          "{} read {}, which {} changed, and {} read {}, which {} changed: neither saw "
          "the other's write",
          a, words_.key(named.keys[0]), b, b, words_.key(named.keys[1]), a);
    }
    if (named.name == "long-fork") {
      const auto r = words_.txn(named.transactions[0]);
      const auto w = words_.txn(named.transactions[1]);
      const auto s = words_.txn(named.transactions[2]);
      const auto v = words_.txn(named.transactions[3]);
      return fmt::format(
          "{} saw the write of {} by {} but not that of {} by {}; {} saw it the other "
          "way round",
          r, words_.key(named.keys[0]), w, words_.key(named.keys[1]), v, s);
    }
    if (named.miss) {
      const Miss& miss = *named.miss;
      const auto reader = words_.txn(miss.reader);
      const auto writer = words_.txn(miss.writer);
      if (named.name == "fractured-read") {
        return fmt::format("{} saw a part of what {} wrote but missed its {}", reader, writer,
                           version_by(miss));
      }
      if (named.name == "session-guarantee-violation") {
        return fmt::format("{} missed {}, which {} wrote earlier in the same session", reader,
                           version_by(miss), writer);
      }
      if (named.name == "non-monotonic-read") {
        return fmt::format(
            "{} read from {} and then read a version of {} that is older than {}'s {}", reader,
            writer, words_.key(miss.key), writer, version_by(miss));
      }
      if (named.name == "causality-violation") {
        return fmt::format("{} missed {}, although {}, which wrote it, is in its past", reader,
                           version_by(miss), writer);
      }
      if (miss.path.size() == 1 && miss.path[0].edge.kind == EdgeKind::kRealTime) {
        return fmt::format(
            "a stale read: {} missed {}, although {}, which wrote it, had completed "
            "before",
            reader, version_by(miss), writer);
      }
      return fmt::format("{} missed {}, although {}, which wrote it, has to come before it", reader,
                         version_by(miss), writer);
    }
    std::vector<std::string> names;
    std::vector<TxnId> seen;
    for (const PathEdge& p : cycles_[0]) {
      if (std::find(seen.begin(), seen.end(), p.edge.from) != seen.end()) continue;
      seen.push_back(p.edge.from);
      if (seen.size() <= 6) names.push_back(words_.txn(p.edge.from));
    }
    if (seen.size() > 6) names.push_back(fmt::format("{} more", seen.size() - 6));
    const auto who = enumerate(names);
    if (!derivation_.cases.empty()) {
      return fmt::format(
          "whichever order is chosen, transactions end up before themselves, such as {}", who);
    }
    const bool orders_only =
        std::all_of(cycles_[0].begin(), cycles_[0].end(), [](const PathEdge& p) {
          return p.edge.kind == EdgeKind::kSession || p.edge.kind == EdgeKind::kRealTime;
        });
    if (orders_only) {
      return fmt::format("session order and real time contradict each other about {}", who);
    }
    if (named.adya.starts_with("G0")) return fmt::format("the writes of {} come in a circle", who);
    if (named.adya.starts_with("G1c")) {
      return fmt::format("information flows in a circle through {}", who);
    }
    const auto reads = std::count_if(cycles_[0].begin(), cycles_[0].end(), [](const PathEdge& p) {
      return p.edge.kind == EdgeKind::kReadWrite;
    });
    return fmt::format("no order fits {}: {} of their reads missed a write of the next", who,
                       reads);
  }

  // ---- the transactions

  std::string listing() {
    std::size_t width = 0;
    for (const TxnId t : words_.mentioned()) width = std::max(width, words_.name(t).size());
    std::string text;
    std::size_t count = 0;
    for (const TxnId t : words_.mentioned()) {
      if (++count > kMostListed) break;
      text += "\n    " + words_.line(t, width);
    }
    if (words_.mentioned().size() > kMostListed) {
      text += fmt::format("\n    ... and {} more", words_.mentioned().size() - kMostListed);
    }
    return text;
  }

  // ---- the steps

  struct Numbered {
    std::vector<std::string> lines;
    std::map<std::uint32_t, std::string> number_of;  // by index in the derivation
    bool cut = false;
  };

  std::string arrow(const Edge& edge) {
    const auto from = words_.txn(edge.from);
    const auto to = words_.txn(edge.to);
    return fmt::format("{} -> {} ({})", from, to, to_string(edge.kind));
  }

  void steps(const Path& path, const std::string& prefix, const std::string& indent, int depth,
             Numbered& out) {
    for (std::size_t i = 0; i < path.size(); ++i) {
      if (path.size() > kLongestPath && i == kPathHead) {
        const std::size_t tail = path.size() - (kLongestPath - kPathHead);
        out.lines.push_back(fmt::format("{}... {} more steps ...", indent, tail - i));
        i = tail;
      }
      if (out.lines.size() >= kMostLines) {
        out.cut = true;
        return;
      }
      const Edge& edge = path[i].edge;
      const auto number = fmt::format("{}{}", prefix, i + 1);
      if (const auto before = out.number_of.find(path[i].index); before != out.number_of.end()) {
        out.lines.push_back(
            fmt::format("{}{}. {}: as in step {}", indent, number, arrow(edge), before->second));
        continue;
      }
      out.number_of.emplace(path[i].index, number);
      const Path because = contracted(derivation_, edge.because);
      const bool deeper = !because.empty() && depth < kDeepest;
      const auto step = arrow(edge);
      const auto words = sentence(history_, words_, derivation_, edge, deeper);
      out.lines.push_back(
          fmt::format("{}{}. {}: {}{}", indent, number, step, words, deeper ? ":" : ""));
      if (deeper) steps(because, number + ".", indent + "   ", depth + 1, out);
    }
  }

  // "T2 begins < T1 commits < T2 begins", or with one event "T1 < T2 < T1".
  std::string circle(const std::vector<std::uint32_t>& raw) {
    std::vector<std::string> events;
    for (const auto index : raw) {
      const Edge& edge = derivation_.edges[index];
      std::string event = words_.name(edge.from);
      if (edge.from_point == levels::Point::kBegin) event += " begins";
      if (edge.from_point == levels::Point::kCommit) event += " commits";
      if (events.empty() || events.back() != event) events.push_back(std::move(event));
    }
    if (events.empty()) return {};
    events.push_back(events.front());
    std::string text;
    for (std::size_t i = 0; i < events.size(); ++i) {
      if (events.size() > 14 && i == 9) {
        text += fmt::format(" < ... {} more ...", events.size() - 4 - i);
        i = events.size() - 4;
      }
      text += (i == 0 ? "" : " < ") + events[i];
    }
    return text;
  }

  std::string cycle_text(std::size_t which, const std::string& indent) {
    Numbered out;
    steps(cycles_[which], "", indent, 0, out);
    std::string text;
    for (const auto& line : out.lines) text += "\n" + line;
    if (out.cut) text += "\n" + indent + "... further reasons are left out here";
    text += fmt::format("\n{}Together: {}, a circle, which {} does not allow.", indent,
                        circle(raw_[which]), levels::name(level_));
    return text;
  }

  std::string assumption(const Path& cycle) {
    std::vector<std::string> all;
    for (const PathEdge& p : cycle) {
      if (p.edge.reason != Reason::kAssumed) continue;
      auto text = sentence(history_, words_, derivation_, p.edge, false);
      if (text.starts_with("suppose that ")) text.erase(0, 13);
      if (all.size() < 4) all.push_back(std::move(text));
    }
    return all.empty() ? "in any case" : "if " + enumerate(all);
  }

  std::string cases_text() {
    std::string text = fmt::format(
        "\n  No single order is forced, so the alternatives were tried; together these {} cases "
        "leave "
        "none:",
        cycles_.size());
    for (std::size_t c = 0; c < cycles_.size() && c < kMostCases; ++c) {
      text += fmt::format("\n  Case {}: {}", c + 1, assumption(cycles_[c]));
      text += cycle_text(c, "    ");
    }
    if (cycles_.size() > kMostCases) {
      text += fmt::format("\n  ... and {} more cases, each with its circle",
                          cycles_.size() - kMostCases);
    }
    return text;
  }

  const History& history_;
  Level level_;
  const Derivation& derivation_;
  Words words_;
  std::vector<std::vector<std::uint32_t>> raw_;
  std::vector<Path> cycles_;
};

Anomaly explain_internal(const History& history, const InternalAnomaly& found) {
  const TxnId both[] = {found.txn, found.other_txn};
  Words words(history, both);
  Anomaly anomaly;
  anomaly.name = levels::name(found.kind);
  anomaly.at = levels::forbidden_by(found.kind);
  anomaly.transactions = {found.txn};
  if (found.other_txn.valid() && found.other_txn != found.txn) {
    anomaly.transactions.push_back(found.other_txn);
  }
  if (found.key.valid()) anomaly.keys = {found.key};

  const auto key = words.key(found.key);
  const auto who = words.txn_in_full(found.txn);
  const auto other_who = found.other_txn.valid() && found.other_txn != found.txn
                             ? words.txn_in_full(found.other_txn)
                             : std::string("it");
  std::vector<history::ValueId> focus;
  if (found.other.valid() && words.writes(found.other, found.key)) {
    focus.push_back(words.written(found.other));
  }
  // Two lists: the window around the first place where they differ.
  std::size_t difference = 0;
  if (found.kind == InternalKind::kIncompatibleOrder && found.read.valid() && found.other.valid()) {
    const auto one = history.list(history.op(found.read));
    const auto two = history.list(history.op(found.other));
    while (difference < one.size() && difference < two.size() &&
           one[difference] == two[difference]) {
      ++difference;
    }
    if (difference < one.size()) focus.push_back(one[difference]);
    if (difference < two.size()) focus.push_back(two[difference]);
  }
  const auto seen = words.read_clause(found.read, found.key, focus);
  const auto wrote = [&] {
    return found.other.valid() && words.writes(found.other, found.key)
               ? words.write_clause(found.other)
               : "wrote " + key;
  };

  switch (found.kind) {
    case InternalKind::kThinAirRead:
      anomaly.explanation = fmt::format("{} {}, which nobody wrote.", who, seen);
      break;
    case InternalKind::kAbortedRead:
      anomaly.adya = "G1a";
      // An indeterminate one: whether it happened was tried, and if so the level is
      // violated by other means.
      anomaly.explanation =
          fmt::format("{} {}, but {}, which {}, {}.", who, seen, other_who, wrote(),
                      found.other_txn.valid() &&
                              history.status(found.other_txn) == history::TxnStatus::kIndeterminate
                          ? "is indeterminate and cannot have happened: what it read fits nowhere"
                          : "was aborted");
      break;
    case InternalKind::kIntermediateRead:
      anomaly.adya = "G1b";
      anomaly.explanation = fmt::format(
          "{} {}, but {}, which {}, changed {} again before it ended: nobody else may see the "
          "version in between.",
          who, seen, other_who, wrote(), key);
      break;
    case InternalKind::kFutureRead:
      anomaly.explanation = fmt::format("{} {}, which it wrote itself only later.", who, seen);
      break;
    case InternalKind::kNotMyOwnWrite:
      anomaly.explanation =
          fmt::format("{} {}, but {} before: it must see its own write.", who, seen,
                      found.other.valid() ? words.write_clause(found.other) : "wrote " + key);
      break;
    case InternalKind::kNotMyLastWrite:
      anomaly.explanation = fmt::format(
          "{} {}, which it wrote, but {} after that: it must see the last.", who, seen, wrote());
      break;
    case InternalKind::kIncompatibleOrder:
      if (!found.other.valid() || history.kind(found.other) != history::OpKind::kListRead) {
        anomaly.explanation = fmt::format(
            "{} {}, but no order of the appends gives that: an element that was appended twice "
            "stands in neither place.",
            who, seen);
        break;
      }
      anomaly.explanation = fmt::format(
          "{} {}, but {} {}: they differ at element {}, so no order of the appends gives both.",
          who, seen, other_who, words.read_clause(found.other, found.key, focus), difference + 1);
      break;
    case InternalKind::kDuplicateElement:
      anomaly.explanation = fmt::format(
          "{} {}, in which an element occurs twice although it was appended once.", who, seen);
      break;
    case InternalKind::kNonRepeatableRead:
      anomaly.explanation = fmt::format(
          "{} {} first and later {}, without a write of its own in between.", who,
          found.other.valid() ? words.read_clause(found.other, found.key) : "read " + key, seen);
      break;
    case InternalKind::kFailedCompareRead:
      anomaly.explanation = fmt::format("{} {}, but there was never anything else.", who, seen);
      break;
  }
  return anomaly;
}

}  // namespace

std::vector<Anomaly> explain(const History& history, Level level,
                             const levels::Violation& violation) {
  std::vector<Anomaly> anomalies;
  for (const auto& found : violation.internal)
    anomalies.push_back(explain_internal(history, found));
  const auto& derivation = violation.derivation;
  if (!derivation.cycle.empty() || !derivation.cases.empty()) {
    anomalies.push_back(Teller(history, level, derivation).tell());
  }
  return anomalies;
}

std::string_view to_string(levels::EdgeKind kind) {
  switch (kind) {
    case EdgeKind::kOwn:
      return "own";
    case EdgeKind::kSession:
      return "so";
    case EdgeKind::kRealTime:
      return "rt";
    case EdgeKind::kWriteRead:
      return "wr";
    case EdgeKind::kWriteWrite:
      return "ww";
    case EdgeKind::kReadWrite:
      return "rw";
    case EdgeKind::kSaw:
      return "saw";
  }
  return {};
}

std::string_view to_string(levels::Reason reason) {
  switch (reason) {
    case Reason::kGiven:
      return "given";
    case Reason::kOnlyWriter:
      return "only-writer";
    case Reason::kListOrder:
      return "list-order";
    case Reason::kInitial:
      return "initial";
    case Reason::kVisible:
      return "visible";
    case Reason::kOverwritten:
      return "overwritten";
    case Reason::kNoOverlap:
      return "no-overlap";
    case Reason::kAssumed:
      return "assumed";
  }
  return {};
}

}  // namespace cupel::explain
