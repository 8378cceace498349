// shrink: see the header.
#include "engine/explain/shrink/shrink.hpp"

#include <algorithm>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "base/budget.hpp"
#include "base/hash_table.hpp"
#include "base/leave_out.hpp"
#include "base/verdict.hpp"
#include "engine/explain/shrink/select.hpp"
#include "engine/explain/why/cycle.hpp"
#include "engine/explain/why/explain.hpp"
#include "engine/explain/why/interpretation.hpp"
#include "engine/explain/why/words.hpp"
#include "engine/levels/decide.hpp"

namespace cupel::shrink {

using explain::Counterexample;
using levels::Edge;
using levels::EdgeKind;
using levels::Level;
using levels::Violation;
using Kept = Material::Kept;

namespace {

// A history of more operations is never taken as a whole.
constexpr std::size_t kSmallHistory = 20'000;
// All pairs are tried of no more than these.
constexpr std::size_t kPairsOfTransactions = 10;
constexpr std::size_t kPairsOfOperations = 16;

// What a violation speaks of, from little to much.
enum class Extent : std::uint8_t {
  kOperations,    // the operations that the edges are about
  kKeys,          // all that these transactions do to these keys
  kTransactions,  // all that they do
  kEverything,    // the history
};

class Speaker {
 public:
  Speaker(const History& history, const Violation& violation)
      : history_(history), violation_(violation), words_(history, {}) {
    if (!violation.internal.empty()) {
      const auto& found = violation.internal.front();
      note(found.txn, found.key, found.read);
      note(found.other_txn, found.key, found.other);
      // What else these did to the key: the write that came after, the read before.
      for (const TxnId txn : {found.txn, found.other_txn}) add_accesses(txn, found.key);
      return;
    }
    for (const Edge& edge : violation.derivation.edges) add(edge);
  }

  std::vector<OperationRef> references(Extent extent) {
    std::vector<OperationRef> all = references_;
    if (extent == Extent::kOperations) return all;
    const std::set<TxnId> txns = txns_of(all, extent);
    for (const TxnId txn : txns) {
      all.push_back({txn, OpId::none()});
      for (auto i = history_.first_op(txn); i < history_.last_op(txn); ++i) {
        if (extent == Extent::kKeys && !touches(OpId(i))) continue;
        all.push_back({txn, OpId(i)});
      }
    }
    return all;
  }

 private:
  [[nodiscard]] std::set<TxnId> txns_of(const std::vector<OperationRef>& all, Extent extent) const {
    std::set<TxnId> txns;
    if (extent == Extent::kEverything) {
      for (std::size_t t = 0; t < history_.txn_count(); ++t) txns.insert(TxnId(t));
    } else {
      for (const OperationRef& m : all) txns.insert(m.txn);
    }
    return txns;
  }

  [[nodiscard]] bool touches(OpId op) const {
    return std::any_of(keys_.begin(), keys_.end(),
                       [&](KeyId key) { return words_.reads(op, key) || words_.writes(op, key); });
  }

  void note(TxnId txn, KeyId key, OpId op) {
    if (!txn.valid()) return;
    if (key.valid()) keys_.insert(key);
    references_.push_back({txn, op});
  }

  void add_accesses(TxnId txn, KeyId key) {
    if (!txn.valid() || !key.valid()) return;
    for (auto i = history_.first_op(txn); i < history_.last_op(txn); ++i) {
      if (words_.reads(OpId(i), key) || words_.writes(OpId(i), key)) note(txn, key, OpId(i));
    }
  }
  // Every read of the key: where it is read twice, what they have in common counts.
  void add_reads(TxnId txn, KeyId key) {
    if (!txn.valid()) return;
    for (auto i = history_.first_op(txn); i < history_.last_op(txn); ++i) {
      if (words_.reads(OpId(i), key)) note(txn, key, OpId(i));
    }
  }
  void add_write(TxnId txn, KeyId key, OpId op) {
    if (!txn.valid()) return;
    note(txn, key, op.valid() ? op : words_.find_write(txn, key));
  }

  void add(const Edge& edge) {
    note(edge.from, edge.key, OpId::none());
    note(edge.to, edge.key, OpId::none());
    switch (edge.kind) {
      case EdgeKind::kWriteRead:
        add_write(edge.from, edge.key, edge.from_op);
        add_reads(edge.to, edge.key);
        break;
      case EdgeKind::kWriteWrite:
        add_write(edge.from, edge.key, edge.from_op);
        add_write(edge.to, edge.key, edge.to_op);
        add_reads(edge.reader, edge.key);
        break;
      case EdgeKind::kReadWrite:
        add_reads(edge.from, edge.key);
        add_write(edge.to, edge.key, edge.to_op);
        add_write(edge.writer, edge.key, OpId::none());
        break;
      default:
        break;
    }
    if (edge.witness.valid()) note(history_.txn_of(edge.witness), edge.key, edge.witness);
  }

  const History& history_;
  const Violation& violation_;
  explain::Words words_;
  std::vector<OperationRef> references_;
  std::set<KeyId> keys_;
};

// As explain() names it, without its text.
std::string name_at(const History& history, Level level, const Violation& violation) {
  if (!violation.internal.empty()) {
    return std::string(levels::name(violation.internal.front().kind));
  }
  const auto& derivation = violation.derivation;
  std::vector<explain::Path> cycles;
  if (!derivation.cycle.empty()) {
    cycles.push_back(explain::contracted(derivation, derivation.cycle));
  }
  for (const auto& one : derivation.cases) {
    cycles.push_back(explain::contracted(derivation, one.cycle));
  }
  return explain::name_of(history, explain::Words(history, {}), level, derivation, cycles).name;
}

class Shrinker {
 public:
  Shrinker(const History& history, Level level, const Violation& violation, const Options& options,
           base::Budget& budget)
      : history_(history),
        level_(level),
        violation_(violation),
        drift_(options.clock_drift_ns),
        budget_(budget),
        name_(name_of(history, violation)) {}

  std::optional<Counterexample> run() {
    if (!begin()) return std::nullopt;
    speak_of_less();
    for (bool changed = true; changed && !budget_.exceeded();) {
      changed = leave_out_transactions();
      changed = leave_out_operations() || changed;
      changed = changed || leave_out_two();
    }
    const bool minimal = !budget_.exceeded();
    explain_shortest();
    auto anomaly = std::move(explain::explain(best_.part.history, level_, best_.violation).front());
    return Counterexample{std::move(best_.part.history),
                          std::move(best_.part.original_txn),
                          std::move(best_.part.original_op),
                          level_,
                          std::move(best_.violation),
                          std::move(anomaly),
                          minimal};
  }

 private:
  struct Found {
    Kept kept;
    Part part;
    Violation violation;
    std::string name;
  };

  [[nodiscard]] std::string name_of(const History& history, const Violation& violation) const {
    return name_at(history, level_, violation);
  }

  // What the engine says of this choice; nothing if there is no violation.
  std::optional<Found> decide(Kept kept) {
    if (budget_.exceeded()) return std::nullopt;
    Found found{std::move(kept), {}, {}, {}};
    found.part = material_->part(found.kept);
    levels::Decider decider(found.part.history, drift_, 1, false);
    auto decision = decider.decide(level_, budget_);
    if (decision.status != base::Verdict::kViolated) return std::nullopt;
    found.violation = std::move(*decision.violation);
    auto& internal = found.violation.internal;
    if (!internal.empty()) {  // one of the name that is asked for, if there is one
      const auto same = std::find_if(internal.begin(), internal.end(), [&](const auto& one) {
        return levels::name(one.kind) == name_;
      });
      const auto one = same == internal.end() ? internal.front() : *same;
      internal = {one};
    }
    found.name = name_of(found.part.history, found.violation);
    return found;
  }

  bool attempt(Kept kept) {
    material_->settle(kept);
    if (kept == best_.kept) return false;
    auto found = decide(std::move(kept));
    if (!found || (found->name != name_ && !keep_derivation(*found))) return false;
    best_ = *std::move(found);
    return true;
  }

  // The engine finds one contradiction of those that are there, and it may be another
  // than before. If all that the one before speaks of is in the part, that one stands.
  bool keep_derivation(Found& found) const {
    const History& before = best_.part.history;
    const History& now = found.part.history;
    const auto& old = best_.violation.derivation;
    if (!best_.violation.internal.empty() || !old.cases.empty()) return false;
    base::HashMap<TxnId, TxnId> txn_now;
    base::HashMap<OpId, OpId> op_now;
    for (std::size_t t = 0; t < now.txn_count(); ++t) {
      txn_now.emplace(found.part.original_txn[t], TxnId(t));
    }
    for (std::size_t i = 0; i < now.op_count(); ++i) {
      op_now.emplace(found.part.original_op[i], OpId(i));
    }
    for (const OperationRef& m : Speaker(before, best_.violation).references(Extent::kOperations)) {
      if (!txn_now.contains(best_.part.original_txn[m.txn.index()])) return false;
      // Whether others count may hang on who read from them.
      if (before.status(m.txn) != history::TxnStatus::kCommitted) return false;
      if (!m.op.valid()) continue;
      const auto op = op_now.find(best_.part.original_op[m.op.index()]);
      if (op == op_now.end() || now.kind(op->second) != before.kind(m.op)) return false;
    }
    bool sure = true;
    // An edge may name more than the speaker refers to.
    const auto txn = [&](TxnId id) {
      if (!id.valid()) return id;
      const auto same = txn_now.find(best_.part.original_txn[id.index()]);
      sure = sure && same != txn_now.end();
      return sure ? same->second : TxnId::none();
    };
    const auto op = [&](OpId id) {
      if (!id.valid()) return id;
      const auto same = op_now.find(best_.part.original_op[id.index()]);
      sure = sure && same != op_now.end();
      return sure ? same->second : OpId::none();
    };
    const auto key = [&](KeyId id) {
      for (std::size_t k = 0; id.valid() && k < now.key_count(); ++k) {
        const auto same = now.key(KeyId(k)), wanted = before.key(id);
        if (!(same < wanted) && !(wanted < same)) return KeyId(k);
      }
      sure = sure && !id.valid();
      return KeyId::none();
    };
    Violation kept;
    kept.derivation = old;
    for (Edge& edge : kept.derivation.edges) {
      sure = sure && !edge.several_writers && edge.reason != levels::Reason::kOnlyWriter;
      edge.from = txn(edge.from);
      edge.to = txn(edge.to);
      edge.reader = txn(edge.reader);
      edge.writer = txn(edge.writer);
      edge.from_op = op(edge.from_op);
      edge.to_op = op(edge.to_op);
      edge.witness = op(edge.witness);
      edge.key = key(edge.key);
    }
    if (!sure || name_of(now, kept) != name_) return false;
    found.violation = std::move(kept);
    found.name = name_;
    return true;
  }

  bool begin() {
    Speaker speaker(history_, violation_);
    std::optional<std::pair<Material, Found>> otherwise;  // of another name
    for (const Extent extent :
         {Extent::kOperations, Extent::kKeys, Extent::kTransactions, Extent::kEverything}) {
      if (extent == Extent::kEverything && history_.op_count() > kSmallHistory) break;
      const bool whole_lists = extent != Extent::kOperations || !violation_.internal.empty();
      material_.emplace(history_, speaker.references(extent), whole_lists);
      auto found = decide(material_->all());
      if (!found) continue;
      if (found->name == name_) {
        best_ = *std::move(found);
        return true;
      }
      if (!otherwise) otherwise.emplace(*std::move(material_), *std::move(found));
    }
    if (!otherwise) return false;
    material_.emplace(std::move(otherwise->first));
    best_ = std::move(otherwise->second);
    name_ = best_.name;
    return true;
  }

  // The engine returns the contradiction that it met first. What is shown to people, in words
  // and in pictures, is the one that takes the fewest reasons, if it is of the same name.
  void explain_shortest() {
    auto retold = explain::shorten(best_.part.history, level_, best_.violation, budget_);
    if (!retold) return;
    Violation simple = best_.violation;
    simple.derivation = std::move(retold->derivation);
    if (name_of(best_.part.history, simple) == name_) best_.violation = std::move(simple);
  }

  // To what the violation of the best part speaks of, as long as that is less.
  void speak_of_less() {
    for (bool changed = true; changed;) {
      const auto size = weight(best_.kept);
      auto references =
          Speaker(best_.part.history, best_.violation).references(Extent::kOperations);
      for (OperationRef& m : references) {
        m.txn = best_.part.original_txn[m.txn.index()];
        if (m.op.valid()) m.op = best_.part.original_op[m.op.index()];
      }
      Kept kept = material_->only(references);
      for (std::size_t i = 0; i < kept.txns.size(); ++i) {
        if (best_.kept.txns[i] == 0) kept.txns[i] = 0;
      }
      for (std::size_t i = 0; i < kept.ops.size(); ++i) {
        if (best_.kept.ops[i] == Material::State::kOut) kept.ops[i] = Material::State::kOut;
      }
      material_->settle(kept);
      changed = weight(kept) < size && attempt(std::move(kept));
    }
  }

  static std::size_t weight(const Kept& kept) {
    const auto ops = std::count_if(kept.ops.begin(), kept.ops.end(),
                                   [](auto state) { return state != Material::State::kOut; });
    return static_cast<std::size_t>(ops + std::count(kept.txns.begin(), kept.txns.end(), 1));
  }

  [[nodiscard]] std::vector<std::uint32_t> transactions_kept() const {
    std::vector<std::uint32_t> units;
    for (std::uint32_t t = 0; t < best_.kept.txns.size(); ++t) {
      if (best_.kept.txns[t] != 0) units.push_back(t);
    }
    return units;
  }
  [[nodiscard]] std::vector<std::uint32_t> operations_kept() const {
    std::vector<std::uint32_t> units;
    for (std::uint32_t i = 0; i < best_.kept.ops.size(); ++i) {
      if (best_.kept.ops[i] != Material::State::kOut) units.push_back(i);
    }
    return units;
  }
  static void drop_transaction(Kept& kept, std::uint32_t txn) { kept.txns[txn] = 0; }
  static void drop_operation(Kept& kept, std::uint32_t op) { kept.ops[op] = Material::State::kOut; }

  bool leave_out_transactions() {
    return leave_out([&] { return transactions_kept(); }, drop_transaction);
  }
  bool leave_out_operations() {
    return leave_out([&] { return operations_kept(); }, drop_operation);
  }

  // What cannot go alone may go together: the two writers that two reads need, whose
  // reads are of the initial version then. Where they are few enough to try all.
  bool leave_out_two() {
    const auto one_pair = [&](const auto& units, const auto& drop) {
      for (std::size_t i = 0; i < units.size(); ++i) {
        for (std::size_t j = i + 1; j < units.size() && !budget_.exceeded(); ++j) {
          Kept kept = best_.kept;
          drop(kept, units[i]);
          drop(kept, units[j]);
          if (attempt(std::move(kept))) return true;
        }
      }
      return false;
    };
    const auto txns = transactions_kept(), ops = operations_kept();
    return (txns.size() <= kPairsOfTransactions && one_pair(txns, drop_transaction)) ||
           (ops.size() <= kPairsOfOperations && one_pair(ops, drop_operation));
  }

  // Single ones again until none can be left out. True: some were.
  template <typename Units, typename Drop>
  bool leave_out(const Units& units_now, const Drop& drop) {
    bool any = false;
    auto units = units_now();
    const auto next =
        +[](std::size_t chunk, std::size_t left) { return std::min(chunk, left) / 2; };
    base::leave_out(
        {.first = std::max<std::size_t>(units.size() / 2, 1), .to_the_end = true, .next = next},
        [&] { return units.size(); },
        [&](std::size_t begin, std::size_t end) -> std::optional<std::size_t> {
          Kept kept = best_.kept;
          for (auto i = begin; i < end; ++i) drop(kept, units[i]);
          if (!attempt(std::move(kept))) return std::nullopt;
          any = true;
          speak_of_less();
          const auto before = begin == 0 ? std::optional<std::uint32_t>() : units[begin - 1];
          units = units_now();
          if (!before) return 0;
          return std::upper_bound(units.begin(), units.end(), *before) - units.begin();
        },
        [&] { return !budget_.exceeded(); });
    return any;
  }

  const History& history_;
  const Level level_;
  const Violation& violation_;
  const history::Time drift_;
  base::Budget& budget_;
  std::string name_;
  std::optional<Material> material_;
  Found best_;
};

std::optional<Counterexample> shrink_within(const History& history, Level level,
                                            const Violation& violation, const Options& options,
                                            base::Budget& budget) {
  const auto& derivation = violation.derivation;
  if (violation.internal.empty() && derivation.cycle.empty() && derivation.cases.empty()) {
    return std::nullopt;
  }
  return Shrinker(history, level, violation, options, budget).run();
}

}  // namespace

std::optional<Counterexample> shrink(const History& history, Level level,
                                     const Violation& violation, const Options& options) {
  base::Budget budget(std::chrono::duration<double>(options.seconds), options.memory_limit_bytes);
  return shrink_within(history, level, violation, options, budget);
}

void file_at_weakest(Counterexample& small, const Options& options) {
  if (!small.violation.internal.empty()) return;
  base::Budget budget(std::chrono::duration<double>(options.seconds), options.memory_limit_bytes);
  levels::Decider decider(small.history, options.clock_drift_ns, 1, false);
  for (const Level level : levels::all_levels()) {
    if (level == small.level || !levels::implies(small.level, level)) continue;
    auto decision = decider.decide(level, budget);
    if (decision.status != base::Verdict::kViolated || !decision.violation->internal.empty() ||
        name_at(small.history, level, *decision.violation) != small.anomaly.name) {
      continue;
    }
    small.level = level;
    small.violation = *std::move(decision.violation);
    small.anomaly = std::move(explain::explain(small.history, level, small.violation).front());
    return;
  }
}

std::vector<Counterexample> counterexamples(const History& history,
                                            const check::CheckResult& result,
                                            const Options& options) {
  std::vector<Counterexample> found;
  base::Budget budget(std::chrono::duration<double>(options.seconds), options.memory_limit_bytes);
  std::set<Level> done;
  const auto add = [&](Level level, const Violation& violation) {
    auto one = shrink_within(history, level, violation, options, budget);
    if (!one) return;
    for (auto& other : found) {
      if (other.anomaly.name != one->anomaly.name || other.original_op != one->original_op ||
          other.original_txn != one->original_txn) {
        continue;
      }
      if (other.level != level) other.also_at.push_back(level);
      return;
    }
    found.push_back(*std::move(one));
  };
  const auto& weakest = result.weakest_violated;
  std::vector<const check::LevelResult*> violated;
  for (const auto& one : result.levels) {
    if (one.violation) violated.push_back(&one);
  }
  std::stable_partition(violated.begin(), violated.end(), [&](const auto* one) {
    return std::find(weakest.begin(), weakest.end(), one->level) != weakest.end();
  });
  for (const auto* violated_level : violated) {
    const auto& one = *violated_level;
    const Level at = one.explained_at.value_or(one.level);
    if (!done.insert(at).second) continue;
    if (one.violation->internal.empty()) {
      add(at, *one.violation);
      continue;
    }
    std::set<levels::InternalKind> kinds;
    for (const auto& anomaly : one.violation->internal) {
      if (!kinds.insert(anomaly.kind).second) continue;
      Violation of_kind;
      of_kind.internal.push_back(anomaly);
      add(at, of_kind);
    }
  }
  return found;
}

}  // namespace cupel::shrink
