// find_root_causes: see the header.
#include "engine/explain/counts/root_causes.hpp"

#include <algorithm>
#include <map>
#include <new>
#include <set>
#include <tuple>
#include <utility>

#include "base/hash_table.hpp"
#include "base/verdict.hpp"
#include "data/history/mask.hpp"
#include "engine/explain/counts/severity.hpp"
#include "engine/explain/why/explain.hpp"
#include "engine/levels/decide.hpp"

namespace cupel::counts {

using check::Verdict;
using history::OpId;
using history::TxnId;
using levels::Decision;
using levels::Derivation;
using levels::EdgeKind;
using levels::InternalAnomaly;
using levels::InternalKind;
using levels::Level;
using levels::Reason;

namespace {

// Many readers share one cause where it is the writer's doing.
using Group = std::tuple<InternalKind, bool, std::uint32_t>;
Group group_of(const InternalAnomaly& a) {
  const bool by_writer =
      (a.kind == InternalKind::kAbortedRead || a.kind == InternalKind::kIntermediateRead) &&
      a.other_txn.valid();
  return {a.kind, by_writer, by_writer ? a.other_txn.raw : a.key.raw};
}

// The reads to which a cycle is due.
class Culprits {
 public:
  explicit Culprits(const Derivation& derivation) : derivation_(derivation) {
    std::vector<std::vector<std::uint32_t>> cycles;
    if (!derivation.cycle.empty()) cycles.push_back(derivation.cycle);
    for (const auto& one : derivation.cases) cycles.push_back(one.cycle);
    for (const auto& cycle : cycles) {
      const auto before = found_.size();
      missing(cycle, false);
      if (found_.size() == before) missing(cycle, true);
      if (found_.size() == before) {
        reading(cycle);
        nothing_missed_ = true;
      }
    }
  }

  // (operation, key), each once.
  [[nodiscard]] const std::set<std::pair<OpId, KeyId>>& found() const { return found_; }
  // Some cycle has no read that missed anything: it consists of what was seen.
  [[nodiscard]] bool nothing_missed() const { return nothing_missed_; }

 private:
  void add(OpId op, KeyId key) {
    if (op.valid()) found_.insert({op, key});
  }
  void missing(const std::vector<std::uint32_t>& path, bool deeper) {
    for (const auto index : path) {
      const auto& edge = derivation_.edges[index];
      if (edge.kind == EdgeKind::kReadWrite) add(edge.from_op, edge.key);
      if (edge.reason == Reason::kVisible) add(edge.witness, edge.key);
      if (deeper && seen_.insert(index).second) missing(edge.because, true);
    }
  }
  void reading(const std::vector<std::uint32_t>& path) {
    for (const auto index : path) {
      const auto& edge = derivation_.edges[index];
      if (edge.kind == EdgeKind::kWriteRead) add(edge.to_op, edge.key);
      if (edge.reason == Reason::kListOrder) add(edge.witness, edge.key);
      if (read_.insert(index).second) reading(edge.because);
    }
  }

  const Derivation& derivation_;
  std::set<std::pair<OpId, KeyId>> found_;
  std::set<std::uint32_t> seen_, read_;
  bool nothing_missed_ = false;
};

// Two reads of one key with the same answer.
bool same_answer(const History& history, const history::Operation& one,
                 const history::Operation& other) {
  if (one.kind != other.kind || one.key != other.key) return false;
  if (one.kind == history::OpKind::kRead) return one.value == other.value;
  if (one.kind != history::OpKind::kListRead) return false;
  if (!history.list_known(one) || !history.list_known(other)) return false;
  const auto list = history.list(one);
  const auto other_list = history.list(other);
  return std::equal(list.begin(), list.end(), other_list.begin(), other_list.end());
}

class Finder {
 public:
  Finder(const History& whole, const check::CheckResult& result, const AnomalyCounts& counts,
         const RootCauseLimits& limits, base::Budget& budget)
      : whole_(whole), result_(result), counts_(counts), limits_(limits), budget_(budget) {
    for (const auto& one : result.levels) decided_.push_back(&one);
    for (const auto& one : result.besides) decided_.push_back(&one);
  }

  RootCauses run() {
    const base::AllocationWatch watch(&budget_);
    try {
      find();
    } catch (const std::bad_alloc&) {  // by the watch, or the system's own limit
      if (budget_.limit() == base::Limit::kNone) throw;
      causes_.all = false;
    }
    const base::AllocationWatch unwatched(nullptr);
    finish();
    return std::move(causes_);
  }

 private:
  // Every level that a violated one implies and that is not satisfied, weakest first.
  [[nodiscard]] std::vector<Level> levels_in_question() const {
    std::vector<Level> some;
    for (const Level level : levels::all_levels()) {
      bool wanted = false, satisfied = false;
      for (const auto& one : result_.levels) {
        wanted = wanted || (one.verdict == Verdict::kViolated && levels::implies(one.level, level));
      }
      for (const auto* one : decided_) {
        satisfied = satisfied ||
                    (one->verdict == Verdict::kSatisfied && levels::implies(one->level, level));
      }
      if (wanted && !satisfied) some.push_back(level);
    }
    return some;
  }

  void find() {
    const auto wanted = levels_in_question();
    causes_.all = true;
    // What there is no room for hides later causes, and takes away reads that others
    // share: first every level is asked for what comes before.
    find(wanted, false);
    if (skipped_) find(wanted, true);
  }

  void find(const std::vector<Level>& wanted, bool pass_over) {
    std::size_t at = 0;        // the level at which something was last set aside
    bool looked_ahead = true;  // since something was last set aside
    for (std::size_t i = 0; i < wanted.size();) {
      const Level level = wanted[i];
      if (known_satisfied(level)) {
        ++i;
        continue;
      }
      const bool at_hand = first_found(level) != nullptr;
      if (!at_hand && !may_be_violated(level)) {
        causes_.all = false;
        ++i;
        continue;
      }
      if (!looked_ahead && i + 1 < wanted.size()) {
        // What is satisfied at the top is so everywhere below.
        looked_ahead = true;
        for (const Level top : wanted) {
          const bool highest = std::none_of(wanted.begin(), wanted.end(), [&](Level other) {
            return other != top && levels::implies(other, top);
          });
          if (highest && may_be_violated(top)) decide(top);
        }
        continue;
      }
      const Decision& decision = decide(level);
      switch (decision.status) {
        case base::Verdict::kSatisfied:
        case base::Verdict::kRefused:
          ++i;
          break;
        case base::Verdict::kUnknown:
          causes_.all = false;
          ++i;
          break;
        case base::Verdict::kViolated: {
          if (std::exchange(at, i) != i) passed_over_ = 0;
          if (passed_over_ >= limits_.causes || !room_for_some()) {
            causes_.all = false;  // another level may have other names
            ++i;
            break;
          }
          const levels::Violation violation = *decision.violation;
          const auto next = violation.internal.empty()
                                ? set_aside(level, violation.derivation, pass_over)
                                : set_aside(level, violation.internal);
          if (next == Next::kStop) return give_up();
          if (next == Next::kSkip) {
            skipped_ = true;
            ++i;
            break;
          }
          looked_ahead = false;
          break;
        }
      }
    }
  }
  void give_up() { causes_.all = false; }

  // Is there time for as much as the check spent on the level, or, if it did not decide
  // that itself, on the cheapest of its like?
  bool may_be_violated(Level level) {
    if (budget_.exceeded()) return false;
    std::optional<double> cost;
    for (const auto* one : decided_) {
      if (one->seconds == 0 || levels::is_weak(one->level) != levels::is_weak(level)) continue;
      if (one->level == level) {
        cost = one->seconds;
        break;
      }
      cost = std::min(cost.value_or(one->seconds), one->seconds);
    }
    return cost.value_or(0) <= budget_.seconds_left();
  }

  [[nodiscard]] bool known_satisfied(Level level) const {
    return std::any_of(satisfied_.begin(), satisfied_.end(),
                       [&](Level other) { return levels::implies(other, level); });
  }

  const Decision& decide(Level level) {
    const auto known = decisions_.find(level);
    if (known != decisions_.end()) return known->second;
    Decision decision;
    const auto* first = first_found(level);
    if (first != nullptr) {
      decision.status = base::Verdict::kViolated;
      decision.violation = *first;
    } else {
      if (!decider_ && !mask()) return decisions_[level] = std::move(decision);
      decision = decider_->decide(level, budget_);
    }
    if (decision.status == base::Verdict::kSatisfied) satisfied_.push_back(level);
    return decisions_[level] = std::move(decision);
  }
  // What the check has found already, as long as no read that it rests on is set aside.
  [[nodiscard]] const levels::Violation* first_found(Level level) const {
    for (const auto& one : result_.levels) {
      if (!one.violation || one.explained_at.value_or(one.level) != level) continue;
      return intact(*one.violation) ? &*one.violation : nullptr;
    }
    return nullptr;
  }
  [[nodiscard]] bool intact(const levels::Violation& violation) const {
    const auto aside = [&](OpId op) { return op.valid() && aside_.contains(op); };
    return std::none_of(violation.internal.begin(), violation.internal.end(),
                        [&](const auto& one) { return aside(one.read) || aside(one.other); }) &&
           std::none_of(violation.derivation.edges.begin(), violation.derivation.edges.end(),
                        [&](const auto& edge) {
                          return aside(edge.from_op) || aside(edge.to_op) || aside(edge.witness);
                        });
  }

  enum class Next { kOn, kSkip, kStop };

  // Several groups at once: one cause each.
  Next set_aside(Level level, const std::vector<InternalAnomaly>& internal) {
    std::map<Group, std::pair<const InternalAnomaly*, std::uint64_t>> groups;
    std::vector<OpId> reads;
    std::set<std::tuple<InternalKind, OpId, KeyId>> once;
    for (const auto& one : internal) {
      if (reads.empty() || reads.back() != one.read) reads.push_back(one.read);
      if (!once.insert({one.kind, one.read, one.key}).second) continue;
      auto& [first, count] = groups.try_emplace(group_of(one), &one, 0).first->second;
      ++count;
    }
    for (const auto& [group, found] : groups) {
      levels::Violation violation;
      violation.internal = {*found.first};
      RootCause cause;
      cause.level = level;
      cause.name = levels::name(found.first->kind);
      if (found.first->key.valid()) cause.keys = {found.first->key};
      cause.transactions =
          found.first->other_txn.valid() && found.first->other_txn != found.first->txn ? 2 : 1;
      cause.violation = std::move(violation);
      cause.occurrences = found.second;
      cause.from_check = first_found(level) != nullptr;
      causes_.found.push_back(std::move(cause));
    }
    cut();
    return mask_later(std::move(reads));
  }

  Next set_aside(Level level, const Derivation& derivation, bool pass_over) {
    levels::Violation violation;
    violation.derivation = derivation;
    const auto anomalies = explain::explain(whole_, level, violation);
    if (anomalies.empty()) return Next::kStop;
    RootCause cause;
    cause.level = level;
    cause.name = anomalies.front().name;
    cause.adya = anomalies.front().adya;
    cause.keys = anomalies.front().keys;
    cause.transactions = anomalies.front().transactions.size();
    cause.violation = std::move(violation);
    cause.from_check = first_found(level) != nullptr;

    const Culprits culprits(derivation);
    std::vector<OpId> reads;
    std::set<std::uint32_t> marked;
    const auto mark = mark_of(cause.name);
    // Of a name with a mark all that the counts has marked are set aside already. What the reads
    // that are left say of the same transactions (real time, other keys) is the same to whoever
    // reads it.
    const bool enough = !room_for(cause.name);
    if (enough && !mark && !pass_over) return Next::kSkip;
    const auto note = [&](std::uint32_t r) {
      if (of_another_name(r, mark)) return;
      reads.push_back(counts_.accesses().reads[r].op);
      if (mark && counts_.marked(r, *mark)) marked.insert(r);
    };
    for (const auto& [op, key] : culprits.found()) {
      reads.push_back(op);
      if (culprits.nothing_missed() && key.valid() && whole_.is_list(key)) {
        add_list_reads(key, reads);
        continue;
      }
      if (counts_.versions() == nullptr || !key.valid()) continue;
      for_same_version(op, key, note);
    }
    if (mark == Mark::kLostUpdate) {
      cause.occurrences = std::max<std::uint64_t>(marked.size(), 2) - 1;
    } else if (mark == Mark::kLongFork || mark == Mark::kWriteSkew) {
      cause.occurrences = std::max<std::uint64_t>(marked.size() / 2, 1);
    } else {
      cause.occurrences = std::max<std::uint64_t>(marked.size(), 1);
    }
    if (enough) {
      ++passed_over_;
      if (!mark) ++left_out_[cause.name];
      return mask_later(std::move(reads));
    }
    const auto name = cause.name;
    // The same transactions contradict each other by other reads, also of other keys: one anomaly.
    auto transactions = anomalies.front().transactions;
    std::sort(transactions.begin(), transactions.end());
    if (!once_.insert({name, std::move(transactions)}).second) return mask_later(std::move(reads));
    if (causes_.found.size() >= limits_.causes) drop_one();
    causes_.found.push_back(std::move(cause));
    if (mark && counts_.finished() && of_name(name) >= limits_.of_one_name) {
      for (std::uint32_t r = 0; r < counts_.accesses().reads.size(); ++r) {
        if (counts_.marked(r, *mark)) reads.push_back(counts_.accesses().reads[r].op);
      }
    }
    return mask_later(std::move(reads));
  }

  [[nodiscard]] std::size_t of_name(const std::string& name) const {
    return static_cast<std::size_t>(
        std::count_if(causes_.found.begin(), causes_.found.end(),
                      [&](const RootCause& c) { return c.name == name; }));
  }
  // A name that is not reported yet may replace one that is reported twice.
  [[nodiscard]] bool room_for(const std::string& name) const {
    if (causes_.found.size() < limits_.causes) return of_name(name) < limits_.of_one_name;
    return of_name(name) == 0 && room_for_some();
  }
  [[nodiscard]] bool room_for_some() const {
    return causes_.found.size() < limits_.causes ||
           std::any_of(causes_.found.begin(), causes_.found.end(),
                       [&](const RootCause& c) { return of_name(c.name) > 1; });
  }
  // Of the name reported most often, if there is one without a mark of these, the last that the
  // result of the check does not have.
  void drop_one() {
    auto last = causes_.found.end();
    for (auto it = causes_.found.begin(); it != causes_.found.end(); ++it) {
      const auto rank = [&](const RootCause& c) {
        return std::tuple(of_name(c.name) > 1 && !c.from_check, !mark_of(c.name), of_name(c.name));
      };
      if (last == causes_.found.end() || rank(*it) >= rank(*last)) last = it;
    }
    ++left_out_[last->name];
    causes_.found.erase(last);
  }
  // The counts counts the read, but not under this name.
  [[nodiscard]] bool of_another_name(std::uint32_t r, std::optional<Mark> mark) const {
    if (mark && counts_.marked(r, *mark)) return false;
    for (std::size_t m = 0; m < kMarkCount; ++m) {
      if (counts_.marked(r, static_cast<Mark>(m))) return true;
    }
    return false;
  }
  static std::optional<Mark> mark_of(std::string_view wanted) {
    for (std::size_t m = 0; m < kMarkCount; ++m) {
      if (name(static_cast<Mark>(m)) == wanted) return static_cast<Mark>(m);
    }
    return std::nullopt;
  }

  // The other reads of the version, but not whole ranges for the sake of one key.
  template <typename Visit>
  void for_same_version(OpId op, KeyId key, const Visit& visit) const {
    const Owner o = counts_.accesses().owner_of[whole_.txn_of(op).index()];
    if (o == kInitialOwner) return;
    for (const auto r : counts_.versions()->reads_of(o, key)) {
      if (counts_.accesses().reads[r].op != op) continue;
      const Version v = counts_.versions()->of_read(r);
      if (v == kNone) return;
      for (const auto same : counts_.versions()->readers(v)) {
        const OpId other = counts_.accesses().reads[same].op;
        if (other == op || whole_.kind(other) != history::OpKind::kRangeRead) visit(same);
      }
    }
  }

  void add_list_reads(KeyId key, std::vector<OpId>& reads) const {
    for (std::uint32_t i = 0; i < whole_.op_count(); ++i) {
      if (whole_.kind(OpId(i)) == history::OpKind::kListRead && whole_.op(OpId(i)).key == key) {
        reads.emplace_back(i);
      }
    }
  }

  // Stops if that changes nothing, and the search would go on for ever.
  Next mask_later(std::vector<OpId> reads) {
    add_repeated(reads);
    std::erase_if(reads, [&](OpId op) { return !aside_.insert(op).second; });
    if (reads.empty()) return Next::kStop;
    pending_.insert(pending_.end(), reads.begin(), reads.end());
    decider_.reset();
    decisions_.clear();
    return Next::kOn;
  }

  // What a transaction read is one thing, however often it read it.
  void add_repeated(std::vector<OpId>& reads) const {
    for (std::size_t i = 0, count = reads.size(); i < count; ++i) {
      const auto read = whole_.op(reads[i]);
      const TxnId txn = whole_.txn_of(reads[i]);
      for (auto other = whole_.first_op(txn); other < whole_.last_op(txn); ++other) {
        if (OpId(other) != reads[i] && same_answer(whole_, read, whole_.op(OpId(other))))
          reads.emplace_back(other);
      }
    }
  }

  // False if there is no memory for a copy.
  bool mask() {
    if (!pending_.empty() && !masked_) {
      if (budget_.would_exceed(whole_.resident_bytes())) return false;
      masked_ = whole_;
    }
    if (!pending_.empty()) masked_ = history::with_unknown(*std::move(masked_), pending_);
    pending_.clear();
    decider_.emplace(masked_ ? *masked_ : whole_, limits_.clock_drift_ns, limits_.threads,
                     /*evidence=*/false);
    return true;
  }

  // At most so many of one name, and at most so many; the larger groups first.
  void cut() {
    std::stable_sort(
        causes_.found.begin(), causes_.found.end(),
        [](const RootCause& x, const RootCause& y) { return x.occurrences > y.occurrences; });
    std::map<std::string, std::size_t> kept;
    std::vector<RootCause> some;
    counts::sort(causes_);
    for (auto& cause : causes_.found) {
      if (kept[cause.name] >= limits_.of_one_name || some.size() >= limits_.causes) {
        ++left_out_[cause.name];
        continue;
      }
      ++kept[cause.name];
      some.push_back(std::move(cause));
    }
    causes_.found = std::move(some);
  }

  void finish() {
    counts::sort(causes_);
    causes_.left_out.assign(left_out_.begin(), left_out_.end());
    std::sort(causes_.left_out.begin(), causes_.left_out.end(),
              [](const auto& x, const auto& y) { return severity(x.first) < severity(y.first); });
  }

  const History& whole_;
  const check::CheckResult& result_;
  const AnomalyCounts& counts_;
  const RootCauseLimits& limits_;
  base::Budget& budget_;

  std::vector<const check::LevelResult*> decided_;  // by the check, asked or not
  std::optional<History> masked_;
  std::set<OpId> aside_;
  std::vector<OpId> pending_;               // of these, not yet unknown in masked_
  std::optional<levels::Decider> decider_;  // of what is left
  std::map<Level, Decision> decisions_;     // of what is left
  std::vector<Level> satisfied_;            // stay so, whatever is set aside
  std::map<std::string, std::uint64_t> left_out_;
  // Cycles that were found: their names, transactions and keys.
  std::set<std::pair<std::string, std::vector<TxnId>>> once_;
  bool skipped_ = false;         // a level, for want of room
  std::size_t passed_over_ = 0;  // at this level: cycles of a name of which there were enough
  RootCauses causes_;
};

}  // namespace

void sort(RootCauses& causes) {
  std::stable_sort(causes.found.begin(), causes.found.end(),
                   [](const RootCause& x, const RootCause& y) {
                     const auto key = [](const RootCause& c) {
                       return std::tuple(c.level, severity(c.name), c.transactions);
                     };
                     return key(x) < key(y);
                   });
}

RootCauses find_root_causes(const History& history, const check::CheckResult& result,
                            const AnomalyCounts& counts, const RootCauseLimits& limits,
                            base::Budget& budget) {
  return Finder(history, result, counts, limits, budget).run();
}

}  // namespace cupel::counts
