// The text: what went wrong, in words that need no theory; "Let", the transactions
// with the operations that matter; "First", where some of the order had to be
// deduced, the facts it was deduced from, each stated before it is used; and "Then",
// the cycle: the contradiction. A line has one reason. Depth and length are
// bounded, because a reader's patience is.
#include "engine/explain/why/explain.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "engine/explain/why/counterexample.hpp"
#include "engine/explain/why/cycle.hpp"
#include "engine/explain/why/glossary.hpp"
#include "engine/explain/why/layout.hpp"
#include "engine/explain/why/near_write.hpp"
#include "engine/explain/why/sentences.hpp"
#include "engine/explain/why/words.hpp"

namespace cupel::explain {

using levels::InternalAnomaly;
using levels::InternalKind;
using levels::Level;

namespace {

constexpr int kDeepest = 6;
constexpr std::size_t kLongestPath = 12;  // longer ones: the first eight and the last four
constexpr std::size_t kPathHead = 8;
constexpr std::size_t kMostFacts = 60;  // for one cycle
constexpr std::size_t kMostCases = 4;
constexpr std::size_t kMostListed = 24;  // transactions

// The first sentences follow the title.
std::string opened(const Anomaly& anomaly) {
  return broken(anomaly.summary, 2, title_of(anomaly).size() + 2);
}

std::string item(const std::string& indent, const std::string& lead, const std::string& text) {
  const auto hanging = indent.size() + std::max<std::size_t>(lead.size(), 4);
  return "\n" + indent + lead + broken(text, hanging, indent.size() + lead.size());
}

// "(1)", "(1, 3)", "(1-4)".
std::string cited(const std::vector<std::size_t>& facts) {
  if (facts.empty()) return {};
  std::string text;
  for (std::size_t i = 0; i < facts.size();) {
    std::size_t last = i;
    while (last + 1 < facts.size() && facts[last + 1] == facts[last] + 1) ++last;
    text += (text.empty() ? "" : ", ") + std::to_string(facts[i]);
    if (last > i + 1) {
      text += fmt::format("-{}", facts[last]);
    } else if (last > i) {
      text += fmt::format(", {}", facts[last]);
    }
    i = last + 1;
  }
  return "(" + text + ")";
}

// Two owners of a mutex are a lost update of its state, which users do not call that.
void take_names(Anomaly& anomaly, const Named& named, Words& words) {
  anomaly.name = named.name;
  anomaly.adya = named.adya;
  if (!words.of_mutex() || named.name != "lost-update") return;
  const auto change = words.find_write(named.transactions[0], named.keys[0]);
  anomaly.shown_as =
      words.write_noun(change) == "acquire" ? "mutex held twice" : "mutex released twice";
}

class CycleReporter {
 public:
  CycleReporter(const History& history, Level level, const Derivation& derivation,
                const Context& context)
      : history_(history),
        level_(level),
        derivation_(derivation),
        words_(history, involved(), context) {
    if (!derivation.cycle.empty()) raw_.push_back(derivation.cycle);
    for (const auto& one : derivation.cases) raw_.push_back(one.cycle);
    for (const auto& raw : raw_) cycles_.push_back(contracted(derivation, raw));
  }

  Anomaly report() {
    Anomaly anomaly;
    anomaly.at = level_;
    if (cycles_.empty()) return anomaly;
    const Named named = name_of(history_, words_, level_, derivation_, cycles_);
    take_names(anomaly, named, words_);
    fill(anomaly);

    anomaly.summary = capitalised(summary(named) + ".");
    // The steps before the listing: what they mention is what it lists.
    const std::string proof = derivation_.cases.empty() ? cycle_text(0, "  ") : cases_text();
    anomaly.explanation = opened(anomaly) + "\n  Let:" + words_.listing(kMostListed, 4) + proof;
    if (abridged()) {
      anomaly.explanation +=
          item("  ", "", "This proof is abridged. `cupel check --report` shows the other steps.");
    }
    const auto& mentioned = words_.referenced();
    anomaly.listed.assign(
        mentioned.begin(),
        mentioned.begin() + static_cast<std::ptrdiff_t>(std::min(mentioned.size(), kMostListed)));
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
                                 clause(history_, apart, derivation_, edge, {})});
      }
    }
  }

  // ---- what went wrong

  // "T4's write of 3 to x".
  std::string deed(TxnId txn, KeyId key, OpId op = OpId::none()) {
    const auto who = words_.txn(txn);
    const OpId write = op.valid() ? op : words_.find_write(txn, key);
    if (!txn.valid() || !write.valid())
      return fmt::format("{}'s version of {}", who, words_.key(key));
    return fmt::format("{}'s {}", who, words_.write_noun(write));
  }

  std::string summary(const Named& named) {
    if (named.name == "lost-update") {
      const auto a = words_.txn(named.transactions[0]);
      const auto b = words_.txn(named.transactions[1]);
      const KeyId key = named.keys[0];
      const auto read = words_.find_read(named.transactions[0], key);
      // The reads are shown without what they wrote: a compare-and-set does both.
      words_.read_clause(read, key);
      words_.read_clause(words_.find_read(named.transactions[1], key), key);
      if (words_.of_mutex()) {
        return fmt::format(
            "{} and {} both found the mutex {} and both changed it. They are "
            "concurrent: neither is visible to the other",
            a, b, words_.seen(read, key));
      }
      return fmt::format(
          "an update was lost. {} and {} both read {} = {} and both wrote {}. They are concurrent: "
          "neither is visible to the other. The later update overwrote the earlier one",
          a, b, words_.key(key), words_.seen(read, key), words_.key(key));
    }
    if (named.name == "write-skew") {
      const auto a = words_.txn(named.transactions[0]);
      const auto b = words_.txn(named.transactions[1]);
      return fmt::format(
          "{} and {} each acted on data that the other was changing. {} read {}, which {} wrote, "
          "and {} read {}, which {} wrote; neither saw the other's write. A rule that spans both "
          "keys may now be broken, although each of them kept it",
          a, b, a, words_.key(named.keys[0]), b, b, words_.key(named.keys[1]), a);
    }
    if (named.name == "long-fork") {
      const auto r = words_.txn(named.transactions[0]);
      const auto one = deed(named.transactions[1], named.keys[0]);
      const auto s = words_.txn(named.transactions[2]);
      const auto two = deed(named.transactions[3], named.keys[1]);
      return fmt::format(
          "two readers saw two writes in opposite orders. {} saw {} but not {}; {} saw it the "
          "other "
          "way round. They do not agree on which came first",
          r, one, two, s);
    }
    if (named.miss) return missed(named.name, *named.miss);
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
          "no order of the transactions explains what they saw. In every order some transactions "
          "precede themselves, such as {}",
          who);
    }
    const bool orders_only =
        std::all_of(cycles_[0].begin(), cycles_[0].end(), [](const PathEdge& p) {
          return p.edge.kind == EdgeKind::kSession || p.edge.kind == EdgeKind::kRealTime;
        });
    if (orders_only) {
      return fmt::format("session order and real time contradict each other about {}", who);
    }
    const char* them = seen.size() == 2 ? "the two" : "them";
    if (words_.of_mutex())
      return fmt::format("no order of {} leaves the mutex with one owner", who);
    if (named.adya == "G0") {
      return fmt::format("the writes of {} form a cycle. No order of {} leaves this mix of values",
                         who, them);
    }
    if (named.adya.starts_with("G0")) {
      return fmt::format(
          "the writes of {} form a cycle. The order of their versions contradicts the order in "
          "which they ran",
          who);
    }
    if (named.adya.starts_with("G1c")) {
      return fmt::format(
          "information flows in a cycle through {}. Each depends on the one before it, so {} of {} "
          "can be the first",
          who, seen.size() == 2 ? "neither" : "none", them);
    }
    const auto reads = std::count_if(cycles_[0].begin(), cycles_[0].end(), [](const PathEdge& p) {
      return p.edge.kind == EdgeKind::kReadWrite;
    });
    const bool whole =
        raw_[0].empty() || derivation_.edges[raw_[0].front()].from_point == levels::Point::kWhole;
    // The missed writes may only be among the reasons for the edges.
    const auto missed = reads == 0 ? std::string()
                                   : fmt::format(" in which {} missed a write of the next one",
                                                 static_cast<std::size_t>(reads) == seen.size()
                                                     ? "each"
                                                     : fmt::format("{} of them", reads));
    return fmt::format(
        "no order fits {}. They form a cycle{}. {}, at least one of {} would have seen something "
        "else",
        who, missed, whole ? "Run one after the other" : "On consistent snapshots", them);
  }

  std::string missed_in_mutex(const Miss& miss, const std::string& reader,
                              const std::string& write) {
    const auto read = words_.find_read(miss.reader, miss.key);
    const auto found = read.valid() ? words_.answer(read, miss.key) : std::string("missed that");
    const bool by_time = miss.path.size() == 1 && miss.path[0].edge.kind == EdgeKind::kRealTime;
    return by_time ? fmt::format("{} was complete before {} was invoked, but {} {}", write, reader,
                                 reader, found)
                   : fmt::format("{} comes before {}, but {} {}", write, reader, reader, found);
  }

  std::string missed(const std::string& name, const Miss& miss) {
    const auto reader = words_.txn(miss.reader);
    const auto write = deed(miss.writer, miss.key, miss.write);
    const auto key = words_.key(miss.key);
    if (words_.of_mutex()) return missed_in_mutex(miss, reader, write);
    const Edge* seen = miss.path.size() == 1 ? &miss.path[0].edge : nullptr;
    const bool read = seen != nullptr && seen->kind == EdgeKind::kWriteRead &&
                      seen->from == miss.writer && seen->key != miss.key;
    if (name == "fractured-read") {
      if (!read)
        return fmt::format("{} saw a part of what {} wrote, but not {}", reader,
                           words_.txn(miss.writer), write);
      return fmt::format(
          "{} saw only a part of {}: it saw {}, but not {}. What was changed together was not seen "
          "together",
          reader, words_.txn(miss.writer), deed(miss.writer, seen->key, seen->from_op), write);
    }
    if (name == "session-guarantee-violation") {
      return fmt::format(
          "a transaction missed a write of its own session, a causality violation within one "
          "session. {} did not see {}, which the session made before",
          reader, write);
    }
    if (name == "non-monotonic-read") {
      if (!read)
        return fmt::format(
            "{} went back in time. After it had seen {}, it read an older "
            "version of {}",
            reader, write, key);
      return fmt::format(
          "{} went back in time. It saw {}, and after that it read a version of {} that is older "
          "than {}",
          reader, deed(miss.writer, seen->key, seen->from_op), key,
          words_.versions_owner(miss.writer, miss.write, miss.key));
    }
    if (name == "causality-violation") {
      return fmt::format(
          "{} saw an effect without its cause. It or its session had seen something that came "
          "after "
          "{}, but it read {} as it was before that",
          reader, write, key);
    }
    if (seen != nullptr && seen->kind == EdgeKind::kRealTime) {
      return fmt::format(
          "a stale read. {} was complete before {} was invoked, but {} did not see it", write,
          reader, reader);
    }
    return fmt::format(
        "{} read an outdated value. What it and {} read and wrote orders it after {}, but it did "
        "not see that write",
        reader, levels::has_session_order(level_) ? "its session" : "others", write);
  }

  // ---- the facts that the cycle rests on

  struct Facts {
    std::vector<std::string> lines;
    // By index in the derivation and end: session edges that were joined have one index.
    std::map<std::pair<std::uint32_t, TxnId>, std::size_t> number_of;
    std::size_t count = 0;
    bool cut = false;
  };

  // The edge gets a sentence. That may take a read for granted, which then needs one, too, if it
  // is a fact with reasons.
  void note_stated(std::uint32_t index, const Edge& edge) {
    stated_.insert(index);
    note_read(edge);
    if (const auto within = reason_within(derivation_, edge)) note_read(*within);
  }
  void note_read(const Edge& edge) {
    const bool visible = edge.reason == Reason::kVisible;
    if (!visible && edge.reason != Reason::kOverwritten) return;
    const TxnId writer = visible ? edge.to : edge.writer;
    const TxnId reader = visible ? edge.reader : edge.from;
    const auto read =
        std::find_if(derivation_.edges.begin(), derivation_.edges.end(), [&](const Edge& known) {
          return known.kind == EdgeKind::kWriteRead && known.from == writer && known.to == reader &&
                 known.key == edge.key;
        });
    if (read == derivation_.edges.end() || read->because.empty()) return;
    granted_.insert(static_cast<std::uint32_t>(read - derivation_.edges.begin()));
  }
  [[nodiscard]] bool abridged() const {
    return cut_ || !std::includes(stated_.begin(), stated_.end(), granted_.begin(), granted_.end());
  }

  // Lists the facts that a forced edge rests on; returns the numbers to cite.
  std::vector<std::size_t> establish(const Edge& edge, int depth, const std::string& indent,
                                     Facts& facts) {
    std::vector<std::size_t> numbers;
    const Path path = contracted(derivation_, edge.because);
    if (path.empty() || reason_within(derivation_, edge)) return numbers;
    if (depth >= kDeepest) {
      facts.cut = true;
      return numbers;
    }
    for (std::size_t i = 0; i < path.size(); ++i) {
      if (path.size() > kLongestPath && i == kPathHead) {
        const std::size_t tail = path.size() - (kLongestPath - kPathHead);
        facts.lines.push_back(fmt::format("{}... {} more steps like these ...", indent, tail - i));
        cut_ = true;
        i = tail;
      }
      if (facts.count >= kMostFacts) {
        facts.cut = true;
        return numbers;
      }
      const auto [known, fresh] = facts.number_of.try_emplace({path[i].index, path[i].edge.to}, 0);
      if (fresh) {
        const auto why = cited(establish(path[i].edge, depth + 1, indent, facts));
        note_stated(path[i].index, path[i].edge);
        const auto number = ++facts.count;
        facts.number_of[{path[i].index, path[i].edge.to}] = number;
        facts.lines.push_back(
            item(indent, fmt::format("({}) ", number), statement(path[i].edge, why)).substr(1));
      }
      // A fact may still be under way only if the derivation rests on itself: never.
      numbers.push_back(facts.number_of[{path[i].index, path[i].edge.to}]);
    }
    std::sort(numbers.begin(), numbers.end());
    return numbers;
  }

  std::string statement(const Edge& edge, const std::string& why) {
    const auto what = relation(words_, edge);
    return fmt::format("{}, because {}.", what, clause(history_, words_, derivation_, edge, why));
  }

  // "T2 begins < T1 commits < T2 begins", or with one event "T1 < T2 < T1".
  std::string cycle_words(const std::vector<std::uint32_t>& raw) {
    std::vector<std::string> events;
    std::size_t session = 0;  // events before the end of a session edge; 0: none is open
    for (const auto index : raw) {
      const Edge& edge = derivation_.edges[index];
      if (edge.kind == EdgeKind::kSession && edge.from.valid()) {
        if (session != 0) {  // one step, as in contracted()
          events.resize(session);
          continue;
        }
      } else if (edge.kind != EdgeKind::kOwn) {
        session = 0;
      }
      std::string event = words_.name(edge.from);
      if (edge.from_point == levels::Point::kBegin) event += " begins";
      if (edge.from_point == levels::Point::kCommit) event += " commits";
      if (events.empty() || events.back() != event) events.push_back(std::move(event));
      if (edge.kind == EdgeKind::kSession && edge.from.valid()) session = events.size();
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
    Facts facts;
    std::vector<std::string> lines;
    const Path& path = cycles_[which];
    const auto inner = indent + "  ";
    for (std::size_t i = 0; i < path.size(); ++i) {
      if (path.size() > kLongestPath && i == kPathHead) {
        const std::size_t tail = path.size() - (kLongestPath - kPathHead);
        lines.push_back(fmt::format("\n{}... {} more steps like these ...", inner, tail - i));
        cut_ = true;
        i = tail;
      }
      note_stated(path[i].index, path[i].edge);
      const auto why = cited(establish(path[i].edge, 0, inner, facts));
      lines.push_back(item(inner, "", statement(path[i].edge, why)));
    }
    std::string text;
    if (!facts.lines.empty()) {
      text += "\n" + indent + "First:";
      for (const auto& line : facts.lines) text += "\n" + line;
      if (facts.cut) text += "\n" + inner + "... further reasons are left out here";
      cut_ = cut_ || facts.cut;
    }
    text += "\n" + indent + "Then:";
    for (const auto& line : lines) text += line;
    return text + item(inner, "",
                       fmt::format("So under {} {}: a contradiction!", levels::name(level_),
                                   cycle_words(raw_[which])));
  }

  // What is assumed in a case, and by which edge.
  std::string assumption(const Path& cycle) {
    std::vector<std::string> all;
    for (const PathEdge& p : cycle) {
      if (p.edge.reason != Reason::kAssumed) continue;
      auto text = assumed(p.edge);
      if (all.size() < 4 && std::find(all.begin(), all.end(), text) == all.end()) {
        all.push_back(std::move(text));
      }
    }
    return all.empty() ? "without assumptions" : "assume that " + enumerate(all);
  }

  std::string assumed(const Edge& edge) {
    const auto key = words_.key(edge.key);
    if (edge.kind == EdgeKind::kWriteWrite) {
      return fmt::format("in {}, {} is older than {}", key,
                         words_.versions_owner(edge.from, edge.from_op, edge.key),
                         words_.versions_owner(edge.to, edge.to_op, edge.key));
    }
    if (edge.kind == EdgeKind::kWriteRead) {
      const auto reader = words_.txn(edge.to);
      return fmt::format("{} read {} from {}", reader, key, words_.txn(edge.from));
    }
    const auto reader = words_.txn(edge.from);
    const auto writer = words_.versions_owner(edge.to, edge.to_op, edge.key);
    if (edge.because.empty()) {
      return fmt::format("what {} read from {} is older than {}", reader, key, writer);
    }
    const TxnId source =
        edge.writer.valid() ? edge.writer : derivation_.edges[edge.because.front()].from;
    return fmt::format("{} read {} from {}", reader, key, words_.txn(source));
  }

  std::string cases_text() {
    std::string text = fmt::format(
        "\n  No single order is forced, so the alternatives were tried; these {} cases leave none:",
        cycles_.size());
    for (std::size_t c = 0; c < cycles_.size() && c < kMostCases; ++c) {
      text += item("  ", fmt::format("Case {}: ", c + 1), assumption(cycles_[c]) + ".");
      text += cycle_text(c, "    ");
    }
    if (cycles_.size() > kMostCases) {
      cut_ = true;
      text += fmt::format("\n  ... and {} more cases, each with its cycle",
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
  // By index in the derivation: the edges with a sentence, and the reads that sentences take for
  // granted although they follow from others.
  std::set<std::uint32_t> stated_, granted_;
  bool cut_ = false;  // a list was cut
};

// What is wrong inside one transaction or one read: said at once, then shown.
class InternalReporter {
 public:
  InternalReporter(const History& history, const InternalAnomaly& found, const Context& context)
      : history_(history),
        whole_(context.origin ? context.origin->whole : history),
        found_(found),
        involved_{found.txn, found.other_txn},
        words_(history, involved_, context) {}

  Anomaly report() {
    Anomaly anomaly;
    anomaly.name = levels::name(found_.kind);
    anomaly.at = levels::forbidden_by(found_.kind);
    if (found_.kind == InternalKind::kAbortedRead) anomaly.adya = "G1a";
    if (found_.kind == InternalKind::kIntermediateRead) anomaly.adya = "G1b";
    anomaly.transactions = {found_.txn};
    if (found_.other_txn.valid() && found_.other_txn != found_.txn) {
      anomaly.transactions.push_back(found_.other_txn);
    }
    if (found_.key.valid()) anomaly.keys = {found_.key};
    who_ = words_.txn(found_.txn);
    other_ = found_.other_txn.valid() ? words_.txn(found_.other_txn) : std::string("somebody");
    look();
    anomaly.summary = capitalised(summary());
    const auto then = item("    ", "", proof());
    anomaly.explanation =
        opened(anomaly) + "\n  Let:" + words_.listing(kMostListed, 4) + "\n  Then:" + then;
    anomaly.listed = words_.referenced();
    return anomaly;
  }

 private:
  // What the text is about: the elements of lists, and the phrases for the operations.
  void look() {
    const bool written = found_.other.valid() && words_.writes(found_.other, found_.key);
    if (written) focus_.push_back(words_.written(found_.other));
    const auto is_list = [&](OpId op) {
      return op.valid() && history_.kind(op) == history::OpKind::kListRead &&
             history_.list_known(history_.op(op));
    };
    if (is_list(found_.read) && is_list(found_.other)) {
      // Two lists: the window around the first place where they differ.
      const auto one = history_.list(history_.op(found_.read));
      const auto two = history_.list(history_.op(found_.other));
      while (difference_ < one.size() && difference_ < two.size() &&
             one[difference_] == two[difference_]) {
        ++difference_;
      }
      if (difference_ < one.size()) focus_.push_back(one[difference_]);
      if (difference_ < two.size()) focus_.push_back(two[difference_]);
    }
    if (found_.kind == InternalKind::kDuplicateElement && is_list(found_.read)) {
      const auto list = history_.list(history_.op(found_.read));
      std::map<std::uint32_t, int> times;
      for (const auto element : list) {
        if (++times[element.raw] == 2 && focus_.empty()) focus_.push_back(element);
      }
      if (!focus_.empty()) repeated_ = words_.value(focus_.front());
    }
    if (history_.kind(found_.read) == history::OpKind::kRangeRead) look_at_rows();
    key_ = words_.key(found_.key);
    got_ = words_.answer(found_.read, found_.key, focus_);
    if (written) {
      deed_ = words_.write_noun(found_.other);
      wrote_ = words_.write_clause(found_.other);
    } else if (found_.other.valid()) {
      got_before_ = words_.answer(found_.other, found_.key, focus_);
    }
    if (deed_.empty()) deed_ = "write of " + key_;
    if (wrote_.empty()) wrote_ = "wrote " + key_;
  }

  // A range read that returned the key several times: which of the rows is meant.
  void look_at_rows() {
    const auto values = words_.row_values(history_.range(history_.op(found_.read)), found_.key);
    if (values.size() < 2) return;
    if (in_one_range()) {
      for (const auto v : values) in_one_range_.push_back(words_.value(v));
      return;
    }
    const auto written_by = [&](history::ValueId value, TxnId only) {
      for (std::uint32_t t = 0; t < history_.txn_count(); ++t) {
        if (only.valid() && only != TxnId(t)) continue;
        for (auto i = history_.first_op(TxnId(t)); i < history_.last_op(TxnId(t)); ++i) {
          if (words_.writes(OpId(i), found_.key) && words_.written(OpId(i)) == value) return true;
        }
      }
      return false;
    };
    const auto is_meant = [&](history::ValueId value) {
      switch (found_.kind) {
        case InternalKind::kThinAirRead:
          return value != history_.initial_value(found_.key) && !written_by(value, TxnId::none());
        case InternalKind::kNotMyOwnWrite:
          return !written_by(value, found_.txn);
        case InternalKind::kNotMyLastWrite:
          return value != words_.written(found_.other) && written_by(value, found_.txn);
        case InternalKind::kAbortedRead:
        case InternalKind::kIntermediateRead:
        case InternalKind::kFutureRead:
          return value == words_.written(found_.other);
        default:
          return value == values.front();
      }
    };
    const auto meant = std::find_if(values.begin(), values.end(), is_meant);
    if (meant != values.end()) focus_ = {*meant};
  }
  // A range read that did not return the key.
  [[nodiscard]] bool found_absence() const {
    return history_.kind(found_.read) == history::OpKind::kRangeRead &&
           words_.row_values(history_.range(history_.op(found_.read)), found_.key).empty();
  }
  [[nodiscard]] bool in_one_range() const {
    return found_.kind == InternalKind::kNonRepeatableRead && found_.other == found_.read;
  }

  std::string summary() const {
    if (words_.of_mutex()) return mutex_summary();
    switch (found_.kind) {
      case InternalKind::kThinAirRead:
        return found_absence()
                   ? fmt::format("{} did not find {}, which nobody removed.", who_, key_)
                   : fmt::format("{} read a value that nobody wrote.{}", who_, nearly_equal());
      case InternalKind::kAbortedRead:
        return in_doubt() ? fmt::format("{} read a write of {} that cannot have taken place.", who_,
                                        other_)
                          : fmt::format(
                                "{} read a write that was rolled back: {} was aborted. {} may "
                                "have acted on data that never existed.",
                                who_, other_, who_);
      case InternalKind::kIntermediateRead:
        return fmt::format(
            "{} read an intermediate version: {} itself replaced it before it ended.", who_,
            other_);
      case InternalKind::kFutureRead:
        return fmt::format("{} read its own future: a value that it wrote only afterwards.", who_);
      case InternalKind::kNotMyOwnWrite:
        return fmt::format("{} did not find what it had just written itself.", who_);
      case InternalKind::kNotMyLastWrite:
        return fmt::format("{} read a value of its own that it had already replaced.", who_);
      case InternalKind::kIncompatibleOrder:
        return found_.other.valid() && history_.kind(found_.other) == history::OpKind::kListRead
                   ? fmt::format(
                         "two reads of {} contradict each other: neither list is a prefix of the "
                         "other.",
                         key_)
                   : fmt::format("{} read {} in an order that no appends give.", who_, key_);
      case InternalKind::kDuplicateElement:
        return fmt::format("an append to {} took effect more than once.", key_);
      case InternalKind::kNonRepeatableRead:
        if (in_one_range()) {
          return fmt::format("{} read {} as {} in one range read. It mixed two states of the data.",
                             who_, key_, fmt::join(in_one_range_, " and as "));
        }
        return fmt::format(
            "{} read {} twice and got two different values. It mixed two states of the data.", who_,
            key_);
      case InternalKind::kFailedCompareRead:
        return fmt::format(
            "a compare-and-set of {} failed, although {} only ever had the expected value.", who_,
            key_);
    }
    return {};
  }

  // A write of nearly the value that was read out of thin air.
  [[nodiscard]] std::string nearly_equal() const {
    const auto& read = history_.op(found_.read);
    const bool single = read.kind == history::OpKind::kRead;
    if (single ? !read.value.valid() : focus_.empty()) return {};
    const auto value = single ? read.value : focus_.front();
    return near_write(whole_, history_.key(found_.key), history_.value(value), key_);
  }

  // One compare-and-set a transaction: what it found nobody left, or only an operation that failed.
  [[nodiscard]] std::string mutex_summary() const {
    if (found_.kind == InternalKind::kFailedCompareRead)
      return fmt::format("{} failed, although the mutex was never in another state.", who_);
    if (found_.kind == InternalKind::kAbortedRead)
      return fmt::format("{} {}, which only the failed {} of {} can explain.", who_, got_, deed_,
                         other_);
    return fmt::format("{} {}, and nobody had left it so.", who_, got_);
  }

  std::string proof() const {
    if (words_.of_mutex() && found_.kind == InternalKind::kThinAirRead)
      return fmt::format("{} {}, but no operation left the mutex so: a contradiction!", who_, got_);
    switch (found_.kind) {
      case InternalKind::kThinAirRead:
        if (found_absence()) {
          return fmt::format(
              "{} {}, but {} was {} at first and no transaction deleted it: a contradiction!", who_,
              got_, key_, words_.value(history_.initial_value(found_.key)));
        }
        return fmt::format("{} {}, but no transaction wrote that: a contradiction!", who_,
                           from_key(found_.read, got_));
      case InternalKind::kAbortedRead:
        // An indeterminate one: whether it happened was tried, and if so the level is
        // violated by other means.
        return in_doubt() ? fmt::format(
                                "{} saw {}'s {}, and {} is indeterminate; but it cannot "
                                "have happened, for what it read fits nowhere: a "
                                "contradiction!",
                                who_, other_, deed_, other_)
                          : fmt::format(
                                "{} saw {}'s {}, but {} was aborted, so that never "
                                "happened: a contradiction!",
                                who_, other_, deed_, other_);
      case InternalKind::kIntermediateRead:
        return fmt::format(
            "{} saw {}'s {}, but {} wrote {} again before it ended, and nobody else "
            "may see what was there in between: a contradiction!",
            who_, other_, deed_, other_, key_);
      case InternalKind::kFutureRead:
        return fmt::format("{} {}, but only {} wrote that, and later: a contradiction!", who_,
                           from_key(found_.read, got_), who_);
      case InternalKind::kNotMyOwnWrite:
        return fmt::format("{} {} and then {}: a contradiction!", who_, wrote_, got_);
      case InternalKind::kNotMyLastWrite:
        return fmt::format("{} {}, and after that it {} again: a contradiction!", who_, wrote_,
                           got_);
      case InternalKind::kIncompatibleOrder:
        if (got_before_.empty()) {
          return fmt::format(
              "{} {} from {}, but no order of the appends gives that: an element "
              "that was appended twice stands in neither place: a contradiction!",
              who_, got_, key_);
        }
        return fmt::format(
            "{} {} from {}, but {} {}. They differ at element {}, and elements of a "
            "list do not move: a contradiction!",
            who_, got_, key_, other_ == who_ ? "it also" : other_, got_before_, difference_ + 1);
      case InternalKind::kDuplicateElement:
        return fmt::format(
            "{} {} from {}, with {} in it twice, but it was appended once: a "
            "contradiction!",
            who_, got_, key_, repeated_.empty() ? "an element" : repeated_);
      case InternalKind::kNonRepeatableRead:
        if (in_one_range()) {
          return fmt::format("{} {} in one read, and no version has two values: a contradiction!",
                             who_, got_);
        }
        return fmt::format(
            "{} {} and later {}, and wrote nothing there in between: a "
            "contradiction!",
            who_, from_key(found_.other, got_before_.empty() ? "read something" : got_before_),
            got_);
      case InternalKind::kFailedCompareRead:
        return fmt::format("{} {} in {}, but there was never anything else: a contradiction!", who_,
                           got_, key_);
    }
    return {};
  }

  // What a range read found names the key itself.
  [[nodiscard]] std::string from_key(OpId read, const std::string& got) const {
    const bool named = read.valid() && history_.kind(read) == history::OpKind::kRangeRead;
    return named ? got : got + " from " + key_;
  }
  bool in_doubt() const {
    return found_.other_txn.valid() &&
           history_.status(found_.other_txn) == history::TxnStatus::kIndeterminate;
  }

  const History& history_;
  const History& whole_;  // of which history_ is a part
  const InternalAnomaly& found_;
  const TxnId involved_[2];
  Words words_;
  std::vector<history::ValueId> focus_;
  std::size_t difference_ = 0;
  std::vector<std::string> in_one_range_;  // the values of one key
  std::string who_, other_, key_, got_, got_before_, deed_, wrote_, repeated_;
};

// Of an append of an element that was appended several times.
std::string one_placing(const History& history, OpId append, const Context& context) {
  const TxnId txn[] = {history.txn_of(append)};
  const auto op = history.op(append);
  Words words(history, txn, context);
  return item("  ", "",
              fmt::format("{} was appended to {} more than once. This is one way to match the "
                          "appends with the lists; every other way is a contradiction, too.",
                          words.value(op.value), words.key(op.key)));
}

}  // namespace

std::string_view heading_of(const Anomaly& anomaly) {
  return anomaly.shown_as.empty() ? anomaly.name : anomaly.shown_as;
}

std::string title_of(const Anomaly& anomaly) {
  std::string others;
  for (const std::string& name : {anomaly.name, anomaly.adya}) {
    if (name.empty() || name == heading_of(anomaly)) continue;
    if (others != name) others += (others.empty() ? "" : ", ") + name;
  }
  bool first = true;
  for (const auto letter : plume_letters(anomaly.name)) {
    if (!others.empty()) others += first ? ", " : " or ";
    others += letter;
    first = false;
  }
  const std::string heading(heading_of(anomaly));
  return others.empty() ? heading : fmt::format("{} ({})", heading, others);
}

std::vector<Anomaly> explain(const History& history, Level level,
                             const levels::Violation& violation, const Context& context) {
  std::vector<Anomaly> anomalies;
  for (const auto& found : violation.internal) {
    anomalies.push_back(InternalReporter(history, found, context).report());
  }
  const auto& derivation = violation.derivation;
  if (!derivation.cycle.empty() || !derivation.cases.empty()) {
    anomalies.push_back(CycleReporter(history, level, derivation, context).report());
  }
  if (violation.placed.valid()) {
    const auto note = one_placing(history, violation.placed, context);
    for (Anomaly& anomaly : anomalies) anomaly.explanation += note;
  }
  return anomalies;
}

void explain_again(Counterexample& small, const History& whole, const FieldsByLabel* fields) {
  const Context context{.origin = Origin{whole, small.original_txn}, .fields = fields};
  auto again = explain(small.history, small.level, small.violation, context);
  if (!again.empty()) small.anomaly = std::move(again.front());
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
