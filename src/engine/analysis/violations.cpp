// violations_of: see the header.
#include "engine/analysis/violations.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <tuple>
#include <utility>

#include "engine/analysis/explanations.hpp"
#include "engine/explain/counts/severity.hpp"

namespace cupel::analysis {

using check::LevelResult;
using check::Verdict;
using explain::Anomaly;
using explain::Counterexample;
using history::History;
using history::TxnId;
using levels::InternalAnomaly;
using levels::Level;

namespace {

constexpr std::size_t kNone = SIZE_MAX;

std::vector<TxnId> originals_of(const Anomaly& anomaly, const Counterexample* small) {
  std::vector<TxnId> who;
  for (const TxnId t : anomaly.transactions) {
    if (t.valid()) who.push_back(small != nullptr ? small->original_txn[t.index()] : t);
  }
  return who;
}

// Which of the causes the check came upon itself. The causes have an internal
// anomaly at the weakest level only, though others come upon it too.
std::size_t index_of_cause(const Analysis& analysis, Level level, const InternalAnomaly* internal) {
  if (!analysis.whole_history) return kNone;
  const auto& found = analysis.whole_history->causes.found;
  for (std::size_t i = 0; i < found.size(); ++i) {
    const auto& theirs = found[i].violation.internal;
    if (!found[i].from_check || theirs.empty() != (internal == nullptr)) continue;
    if (internal == nullptr ? found[i].level == level : theirs.front().read == internal->read) {
      return i;
    }
  }
  return kNone;
}

// by_cause(), also of a level whose internal anomalies are causes of a weaker one.
ByCause causes_of(const Analysis& analysis, const LevelResult& result) {
  auto all = by_cause(analysis, result);
  if (!all.occurrences.empty() || all.violation.internal.empty()) return all;
  std::vector<InternalAnomaly> one_each;
  for (const auto& internal : all.violation.internal) {
    const auto at = index_of_cause(analysis, result.level, &internal);
    if (at == kNone) continue;
    one_each.push_back(internal);
    all.occurrences.push_back(analysis.whole_history->causes.found[at].occurrences);
  }
  if (!one_each.empty()) all.violation.internal = std::move(one_each);
  return all;
}

// What makes two violations the same: the name, the transactions of the whole history and the
// keys. Keys by what they are: a part of the history numbers them anew.
struct Identity {
  std::string name;
  std::vector<TxnId> transactions;
  std::vector<std::tuple<history::ScalarKind, std::int64_t, std::string>> keys;

  friend bool operator<(const Identity& a, const Identity& b) {
    return std::tie(a.name, a.transactions, a.keys) < std::tie(b.name, b.transactions, b.keys);
  }
};

Identity identity_of(const History& history, const Anomaly& anomaly, const Counterexample* small) {
  Identity identity{anomaly.name, originals_of(anomaly, small), {}};
  std::sort(identity.transactions.begin(), identity.transactions.end());
  for (const auto id : anomaly.keys) {
    const auto key = history.key(id);
    identity.keys.emplace_back(key.kind, key.integer, std::string(key.text));
  }
  std::sort(identity.keys.begin(), identity.keys.end());
  return identity;
}

class Collector {
 public:
  Collector(const History& history, const Analysis& analysis, std::size_t most,
            std::span<const Level> decisive)
      : history_(history), analysis_(analysis), most_(most), decisive_(decisive) {}

  Violations collect() && {
    const auto& weakest = analysis_.check.weakest_violated;
    for (const auto& result : analysis_.check.levels) {
      if (result.verdict == Verdict::kViolated && result.violation &&
          std::find(weakest.begin(), weakest.end(), result.level) != weakest.end()) {
        add(result);
      }
    }
    if (analysis_.whole_history) add_causes();
    for (auto& [reported, rank] : entries_) {
      std::get<0>(rank) = !decisive_.empty() && !is_of(reported, decisive_);
      std::get<1>(rank) = !is_of(reported, weakest);
    }
    std::stable_sort(entries_.begin(), entries_.end(),
                     [](const Entry& x, const Entry& y) { return x.rank < y.rank; });
    for (auto& entry : entries_) {
      if (all_.shown.size() < most_) {
        all_.shown.push_back(std::move(entry.reported));
      } else {
        ++all_.left_out[entry.reported.anomaly.name];
      }
    }
    return std::move(all_);
  }

 private:
  // The order of the report: is the level none of the decisive ones, is it stronger than the
  // weakest; transactions, level, severity, operations of a counterexample, index of its cause.
  using Rank = std::tuple<bool, bool, std::size_t, Level, std::uint32_t, std::size_t, std::size_t>;
  struct Entry {
    ReportedViolation reported;
    Rank rank;
  };

  [[nodiscard]] Rank rank_of(const ReportedViolation& reported, Level at,
                             std::size_t cause_index) const {
    const auto& anomaly = reported.anomaly;
    const auto transactions = anomaly.transactions.size();
    const auto operations =
        reported.small != nullptr ? reported.small->history.op_count() : SIZE_MAX;
    if (cause_index == kNone)
      return {false, false, transactions, at, counts::severity(anomaly.name), operations, kNone};
    const auto& cause = analysis_.whole_history->causes.found[cause_index];
    return {false,      false,      transactions, cause.level, counts::severity(cause.name),
            operations, cause_index};
  }

  // `anomaly`: of the whole history, even where the violation was made small.
  [[nodiscard]] ReportedViolation reported_of(Level at, const levels::Violation& violation,
                                              std::size_t internal, const Anomaly& anomaly,
                                              const Counterexample* small) const {
    if (small == nullptr) {
      return {&history_, at, &violation, internal, anomaly, originals_of(anomaly, nullptr)};
    }
    return {&small->history,
            small->level,
            &small->violation,
            0,
            small->anomaly,
            originals_of(small->anomaly, small),
            small};
  }

  // Its index among the entries: that of the same violation, if it is there already.
  std::size_t add(ReportedViolation reported, Rank rank, const std::set<Identity>& identities) {
    std::size_t at = entries_.size();
    for (const auto& one : identities) {
      if (const auto known = known_.find(one); known != known_.end()) {
        at = std::min(at, known->second);
      }
    }
    for (const auto& one : identities) known_.try_emplace(one, at);
    if (at == entries_.size()) {
      entries_.push_back({std::move(reported), rank});
      return at;
    }
    auto& [before, its_rank] = entries_[at];
    its_rank = std::min(its_rank, rank);
    reported.occurrences = std::max(reported.occurrences, before.occurrences);
    for (const Level level : before.levels) add_level(reported, level);
    if (before.small == nullptr && reported.small != nullptr) {
      std::sort(reported.levels.begin(), reported.levels.end());
      before = std::move(reported);
    } else {
      for (const Level level : reported.levels) add_level(before, level);
      before.occurrences = reported.occurrences;
    }
    return at;
  }

  static void add_level(ReportedViolation& reported, Level level) {
    if (std::find(reported.levels.begin(), reported.levels.end(), level) == reported.levels.end()) {
      reported.levels.push_back(level);
    }
  }

  void add(const LevelResult& result) {
    const Level at = result.explained_at.value_or(result.level);
    auto causes = causes_of(analysis_, result);
    const auto& violation = all_.by_cause.emplace_back(std::move(causes.violation));
    std::map<levels::InternalKind, std::size_t> of_kind;
    for (std::size_t i = 0; i < violation.internal.size(); ++i) {
      const auto& one = violation.internal[i];
      const InternalKey key{one.kind, one.read, one.key, one.other};
      const auto number = of_kind[one.kind]++;
      const auto cause_index = index_of_cause(analysis_, at, &one);
      causes_reported_.insert(cause_index);
      if (const auto known = known_internal_.find(key); known != known_internal_.end()) {
        if (known->second == kNone) continue;
        auto& reported = entries_[known->second].reported;
        add_level(reported, result.level);
        // Perhaps it was made small here, though not there.
        if (number > 0 || reported.small != nullptr) continue;
      } else if (number >= most_) {
        ++all_.left_out[std::string(levels::name(one.kind))];
        known_internal_.emplace(key, kNone);
        continue;
      }
      levels::Violation single;
      single.internal.push_back(one);
      const auto occurrences = i < causes.occurrences.size() ? causes.occurrences[i] : 1;
      // Of internal anomalies the first of each kind is made small.
      known_internal_[key] =
          add(Candidate{result, at, violation, i, single, occurrences, cause_index, number == 0});
    }
    if (violation.internal.empty()) {
      const auto occurrences = causes.occurrences.empty() ? 1 : causes.occurrences.front();
      const auto cause_index = index_of_cause(analysis_, at, nullptr);
      causes_reported_.insert(cause_index);
      add(Candidate{result, at, violation, 0, violation, occurrences, cause_index, true});
    }
  }

  // A violation to be added.
  struct Candidate {
    const LevelResult& result;
    Level at;                            // where it was found
    const levels::Violation& violation;  // with all its internal anomalies
    std::size_t internal;                // which of them it is
    const levels::Violation& alone;      // with that one only
    std::uint64_t occurrences;
    std::size_t cause_index;
    bool may_be_small;
  };
  std::size_t add(const Candidate& candidate) {
    const auto& [result, at, violation, internal, alone, occurrences, cause_index, may_be_small] =
        candidate;
    const auto anomalies = explain::explain(history_, at, alone, {.fields = &analysis_.fields});
    if (anomalies.empty()) return kNone;
    const auto* small = may_be_small ? counterexample_of(analysis_, result, anomalies, 0) : nullptr;
    auto reported = reported_of(at, violation, internal, anomalies.front(), small);
    reported.levels = {result.level};
    reported.occurrences = occurrences;
    // Made small or not, it is the violation that the whole history shows.
    std::set<Identity> identities = {identity_of(history_, anomalies.front(), nullptr),
                                     identity_of(*reported.history, reported.anomaly, small)};
    if (cause_index != kNone && !alone.internal.empty()) {
      identities = {{fmt::format("cause {}", cause_index), {}, {}}};
    }
    const auto rank = rank_of(reported, at, cause_index);
    return add(std::move(reported), rank, identities);
  }

  void add_causes() {
    const auto& causes = analysis_.whole_history->causes;
    for (std::size_t i = 0; i < causes.found.size(); ++i) {
      const auto& cause = causes.found[i];
      if (causes_reported_.contains(i)) continue;
      const auto* small = counterexample_of(analysis_, cause);
      const auto explanations = explanations_of(history_, analysis_, cause);
      for (std::size_t a = 0; a < explanations.size(); ++a) {
        auto reported =
            reported_of(cause.level, cause.violation, a, explanations[a].anomaly, small);
        reported.levels = {cause.level};
        reported.occurrences = cause.occurrences;
        const std::set<Identity> identities = {
            identity_of(*reported.history, reported.anomaly, small)};
        const auto rank = rank_of(reported, cause.level, i);
        add(std::move(reported), rank, identities);
      }
    }
    for (const auto& [name, number] : causes.left_out) all_.left_out[name] += number;
  }

  using InternalKey =
      std::tuple<levels::InternalKind, history::OpId, history::KeyId, history::OpId>;

  const History& history_;
  const Analysis& analysis_;
  const std::size_t most_;
  const std::span<const Level> decisive_;
  Violations all_;
  std::vector<Entry> entries_;
  std::map<Identity, std::size_t> known_;  // indices in `entries_`
  std::set<std::size_t> causes_reported_;  // which of its causes the weakest levels have
  std::map<InternalKey, std::size_t> known_internal_;  // the same; kNone: left out
};

}  // namespace

bool is_of(const ReportedViolation& violation, std::span<const Level> levels) {
  const auto forbids = [&](Level level) {
    return std::any_of(levels.begin(), levels.end(),
                       [&](Level one) { return one == level || levels::implies(one, level); });
  };
  return forbids(violation.level) ||
         std::any_of(violation.levels.begin(), violation.levels.end(), forbids);
}

Violations violations_of(const History& history, const Analysis& analysis, std::size_t most,
                         std::span<const Level> decisive) {
  return Collector(history, analysis, most, decisive).collect();
}

}  // namespace cupel::analysis
