// The final reads of each key, then two passes over all writes of these keys.
#include "engine/analysis/final_reads.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <set>
#include <sstream>

namespace cupel::analysis {

namespace {

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

constexpr Time kNever = std::numeric_limits<Time>::max();

// What a write leaves in a register; none: it is no write, or did not happen.
std::optional<ValueId> written(const History& history, const history::Operation& op) {
  switch (op.kind) {
    case OpKind::kWrite:
    case OpKind::kInsert:
    case OpKind::kDelete:
      return op.value;
    case OpKind::kCompareAndSet: {
      const auto cas = history.compare_and_set(op);
      return cas.succeeded ? std::optional(cas.desired) : std::nullopt;
    }
    case OpKind::kRead:
    case OpKind::kAppend:
    case OpKind::kListRead:
    case OpKind::kRangeRead:
      return std::nullopt;
  }
  return std::nullopt;
}

class Search {
 public:
  explicit Search(const History& history) : history_(history) {
    result_.nodes = readers_of(history);
  }

  std::optional<FinalReads> run() && {
    if (result_.nodes.empty()) return std::nullopt;
    for (auto& node : result_.nodes) read_of(node);
    result_.keys = keys_.size();
    for (const auto& [key, seen] : keys_) result_.keys_of_all += was_read_everywhere(seen) ? 1 : 0;
    for_each_write(&Search::note_writer);
    for (auto& [key, seen] : keys_) settle(key, seen);
    for_each_write(&Search::note_lost);
    for (const auto& [key, seen] : keys_) conclude(key, seen);
    if (!result_.divergent.empty()) name_writes();
    return std::move(result_);
  }

 private:
  struct Seen {
    std::vector<OpId> found;      // one a node at most
    std::set<ValueId> elements;   // of a list, on any node
    std::vector<ValueId> values;  // of a register, on any node
    std::vector<bool> explained;  // parallel: some transaction wrote it
    Time last_writer = kNoTime;   // the end of the last that wrote one of the values
    bool late = false;            // a transaction of unknown outcome wrote what some node holds
    std::uint64_t lost = 0;
    OpId last_lost;
    Time last_lost_begin = kNoTime;
  };

  void read_of(FinalReads::Node& node) {
    std::map<KeyId, OpId> last;
    for (TxnId t = history_.session_begin(node.session); t != history_.session_end(node.session);
         t = TxnId(t.raw + 1)) {
      if (history_.status(t) != TxnStatus::kCommitted) continue;
      for (auto i = history_.first_op(t); i < history_.last_op(t); ++i) {
        const auto op = history_.op(OpId(i));
        const bool known = op.kind == OpKind::kListRead
                               ? history_.list_known(op)
                               : op.kind == OpKind::kRead && op.value != ValueId();
        if (known) last[op.key] = OpId(i);
      }
    }
    node.keys = last.size();
    for (const auto& [key, op] : last) keys_[key].found.push_back(op);
  }

  [[nodiscard]] bool was_read_everywhere(const Seen& seen) const {
    return seen.found.size() == result_.nodes.size();
  }

  using Visit = void (Search::*)(TxnId, OpId, const history::Operation&, Seen&);
  void for_each_write(Visit visit) {
    for (std::uint32_t raw = 0; raw < history_.txn_count(); ++raw) {
      const TxnId t(raw);
      if (history_.status(t) == TxnStatus::kAborted) continue;
      for (auto i = history_.first_op(t); i < history_.last_op(t); ++i) {
        const auto op = history_.op(OpId(i));
        if (op.key == KeyId()) continue;
        const auto seen = keys_.find(op.key);
        if (seen != keys_.end()) (this->*visit)(t, OpId(i), op, seen->second);
      }
    }
  }

  // The first visit of a key collects what its final reads found.
  static void add_value(Seen& seen, ValueId value) {
    if (std::find(seen.values.begin(), seen.values.end(), value) == seen.values.end()) {
      seen.values.push_back(value);
      seen.explained.push_back(false);
    }
  }
  void collect(Seen& seen) const {
    if (!seen.values.empty() || !seen.elements.empty()) return;
    for (const auto found : seen.found) {
      const auto op = history_.op(found);
      if (op.kind == OpKind::kListRead) {
        const auto list = history_.list(op);
        seen.elements.insert(list.begin(), list.end());
      } else {
        add_value(seen, op.value);
      }
    }
  }

  void note_writer(TxnId t, OpId /*id*/, const history::Operation& op, Seen& seen) {
    collect(seen);
    const bool unknown = history_.status(t) != TxnStatus::kCommitted;
    if (op.kind == OpKind::kAppend) {
      seen.late = seen.late || (unknown && seen.elements.contains(op.value));
      return;
    }
    const auto value = written(history_, op);
    if (!value) return;
    const auto at = std::find(seen.values.begin(), seen.values.end(), *value);
    if (at == seen.values.end()) return;
    seen.explained[static_cast<std::size_t>(at - seen.values.begin())] = true;
    seen.late = seen.late || unknown;
    const auto end = history_.complete(t);
    seen.last_writer = std::max(seen.last_writer, unknown || end == kNoTime ? kNever : end);
  }

  // A value that is neither the initial one nor anybody's is another anomaly's matter, but for
  // null: of a row that nobody deleted it says that every write is gone.
  void settle(KeyId key, Seen& seen) const {
    collect(seen);
    for (std::size_t i = 0; i < seen.values.size(); ++i) {
      if (!seen.explained[i] && seen.values[i] != history_.initial_value(key) &&
          seen.values[i] != history_.null_value()) {
        seen.last_writer = kNever;
      }
    }
  }

  void note_lost(TxnId t, OpId id, const history::Operation& op, Seen& seen) {
    if (history_.status(t) != TxnStatus::kCommitted || !was_read_everywhere(seen)) return;
    const auto begin = history_.invoke(t);
    if (op.kind == OpKind::kAppend) {
      if (seen.elements.contains(op.value)) return;
    } else {
      const auto value = written(history_, op);
      if (!value || begin == kNoTime || history_.times_are_places()) return;
      if (seen.last_writer == kNever || begin <= seen.last_writer) return;
    }
    ++seen.lost;
    if (seen.lost > 1 && begin < seen.last_lost_begin) return;
    seen.last_lost = id;
    seen.last_lost_begin = begin;
  }

  [[nodiscard]] bool same(OpId a, OpId b) const {
    const auto one = history_.op(a), other = history_.op(b);
    if (one.kind != OpKind::kListRead || other.kind != OpKind::kListRead) {
      return one.kind == other.kind && one.value == other.value;
    }
    const auto left = history_.list(one), right = history_.list(other);
    return std::equal(left.begin(), left.end(), right.begin(), right.end());
  }

  void conclude(KeyId key, const Seen& seen) {
    if (seen.lost > 0) result_.lost.push_back({key, seen.lost, seen.last_lost, seen.found});
    const bool agree = std::all_of(seen.found.begin(), seen.found.end(),
                                   [&](OpId op) { return same(op, seen.found.front()); });
    if (!agree && !seen.late) result_.divergent.push_back({.key = key, .found = seen.found});
  }

  // What all nodes hold is left out: of a list its elements, of a register its value.
  [[nodiscard]] std::set<ValueId> held_by_some(const FinalReads::DivergentKey& one) const {
    std::map<ValueId, std::size_t> holders;
    for (const auto id : one.found) {
      const auto op = history_.op(id);
      if (op.kind != OpKind::kListRead) {
        ++holders[op.value];
        continue;
      }
      const auto list = history_.list(op);
      for (const auto value : std::set<ValueId>(list.begin(), list.end())) ++holders[value];
    }
    std::set<ValueId> some;
    for (const auto& [value, count] : holders) {
      if (count < one.found.size()) some.insert(value);
    }
    return some;
  }

  void name_writes() {
    struct Wanted {
      FinalReads::DivergentKey* to;
      std::set<ValueId> values;
    };
    std::map<KeyId, Wanted> wanted;
    for (auto& one : result_.divergent) wanted[one.key] = {&one, held_by_some(one)};
    for (std::uint32_t raw = 0; raw < history_.txn_count(); ++raw) {
      const TxnId t(raw);
      if (history_.status(t) == TxnStatus::kAborted) continue;
      for (auto i = history_.first_op(t); i < history_.last_op(t); ++i) {
        const auto op = history_.op(OpId(i));
        const auto key = op.key == KeyId() ? wanted.end() : wanted.find(op.key);
        if (key == wanted.end()) continue;
        const auto value = op.kind == OpKind::kAppend ? op.value : written(history_, op);
        if (value && key->second.values.contains(*value)) key->second.to->writes.emplace_back(i);
      }
    }
    const auto later = [&](OpId a, OpId b) {
      return history_.invoke(history_.txn_of(a)) > history_.invoke(history_.txn_of(b));
    };
    for (auto& one : result_.divergent) {
      std::stable_sort(one.writes.begin(), one.writes.end(), later);
      if (one.writes.size() > kMostDivergentWrites) one.writes.resize(kMostDivergentWrites);
    }
  }

  const History& history_;
  std::map<KeyId, Seen> keys_;
  FinalReads result_;
};

}  // namespace

std::vector<FinalReads::Node> readers_of(const History& history) {
  std::map<std::string, std::string> names;
  std::istringstream lines(history.fact(kFinalReaders));
  for (std::string line; std::getline(lines, line);) {
    const auto blank = line.find(' ');
    names[line.substr(0, blank)] = blank == std::string::npos ? "" : line.substr(blank + 1);
  }
  std::vector<FinalReads::Node> nodes;
  for (std::uint32_t s = 0; s < history.session_count(); ++s) {
    const auto found = names.find(history.session_name(SessionId(s)));
    if (found != names.end()) nodes.push_back({found->second, SessionId(s)});
  }
  return nodes;
}

std::string FinalReads::in_words() const {
  std::string text = lost.empty() ? "" : "acknowledged writes are lost";
  if (!divergent.empty()) {
    text += text.empty() ? "the nodes differ at the end" : "; the nodes differ at the end";
  }
  return text;
}

check::Verdict Losses::verdict() const {
  if (shown && (!by_name || !gone.empty())) return check::Verdict::kViolated;
  return why_unknown().empty() ? check::Verdict::kSatisfied : check::Verdict::kUnknown;
}

std::string Losses::why_unknown() const {
  if (gone.empty() || shown) return failed;
  return gone + (failed.empty() ? "; no acknowledged write is known to be lost" : "; " + failed);
}

Losses losses_of(const History& history, const std::optional<FinalReads>& reads,
                 bool levels_by_name) {
  return {.shown = reads && !reads->well(),
          .gone = history.fact(kDataGone),
          .failed = history.fact(kFinalReadsFailed),
          .by_name = levels_by_name};
}

std::optional<FinalReads> final_reads(const History& history) {
  return Search(history).run();
}

}  // namespace cupel::analysis
