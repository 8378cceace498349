// refute_cases: see the header.
#include "engine/levels/refutation.hpp"

#include <algorithm>
#include <tuple>

#include "base/hash_table.hpp"
#include "base/solver/refute.hpp"

namespace cupel::levels {

using history::TxnStatus;
using solver::Literal;

namespace {

class Refuter {
 public:
  Refuter(const History& history, Derivation& derivation) : history_(history), d_(derivation) {}

  void run(base::Budget& budget) {
    for (const Edge& edge : d_.edges) {
      conditions_.push_back(conditions_of(edge));
      if (edge.reason == Reason::kOnlyWriter) known_.insert({edge.to_op, edge.key});
    }
    std::vector<std::vector<Literal>> clauses;
    for (const Case& one : d_.cases) {
      std::vector<Literal> clause;
      for (const auto i : one.cycle) {
        for (const Literal l : conditions_[i]) clause.push_back(-l);
      }
      clauses.push_back(unique(std::move(clause)));
    }
    std::vector<std::vector<Literal>> axioms;
    for (const OpenRead& read : d_.open_reads) add_axioms(read, axioms);
    auto found = solver::refute(static_cast<Literal>(choices_.size()), axioms, clauses, budget);
    if (!found) {
      d_.complete = false;
      return;
    }
    d_.refutation =
        Refutation{std::move(choices_), std::move(found->used), std::move(found->lemmas)};
  }

 private:
  static std::vector<Literal> unique(std::vector<Literal> literals) {
    std::sort(literals.begin(), literals.end());
    literals.erase(std::unique(literals.begin(), literals.end()), literals.end());
    return literals;
  }

  Literal literal(const Choice& choice) {
    const auto key = std::tuple(choice.before.raw, choice.after.raw, choice.read.raw,
                                choice.key.raw, choice.writer.raw, static_cast<int>(choice.bound));
    const auto [it, fresh] = numbers_.try_emplace(key, static_cast<Literal>(choices_.size() + 1));
    if (fresh) choices_.push_back(choice);
    return it->second;
  }
  Literal before(TxnId a, TxnId b) {
    return a < b ? literal({.before = a, .after = b}) : -literal({.before = b, .after = a});
  }
  Literal saw(OpId read, KeyId key, TxnId writer, Bound bound) {
    return literal({.read = read, .key = key, .writer = writer, .bound = bound});
  }

  // The choices under which an edge holds.
  std::vector<Literal> conditions_of(const Edge& edge) {
    std::vector<Literal> literals;
    const auto seen = [&](OpId read, TxnId writer) {
      if (edge.several_writers && !known_.contains({read, edge.key})) {
        literals.push_back(saw(read, edge.key, writer, edge.bound));
      }
    };
    const bool assumed = edge.reason == Reason::kAssumed;
    switch (edge.kind) {
      case EdgeKind::kWriteRead:
        if (assumed) literals.push_back(saw(edge.to_op, edge.key, edge.from, edge.bound));
        break;
      case EdgeKind::kWriteWrite:
        if (assumed) literals.push_back(before(edge.from, edge.to));
        if (edge.reason == Reason::kVisible) seen(edge.witness, edge.to);
        break;
      case EdgeKind::kReadWrite:
        seen(edge.from_op, edge.writer);
        if (assumed && edge.writer.valid() && edge.because.empty())
          literals.push_back(before(edge.writer, edge.to));
        break;
      default:
        break;
    }
    for (const auto i : edge.because) {
      literals.insert(literals.end(), conditions_[i].begin(), conditions_[i].end());
    }
    return unique(std::move(literals));
  }

  // A read sees one of its possible writers; a bound is what it says. Only what
  // choices of the cases are about.
  void add_axioms(const OpenRead& read, std::vector<std::vector<Literal>>& axioms) {
    std::vector<Literal> one_of;
    for (const TxnId writer : read.writers)
      one_of.push_back(saw(read.read, read.key, writer, Bound::kExact));
    axioms.push_back(one_of);
    const std::size_t choices = choices_.size();
    for (std::size_t i = 0; i < choices; ++i) {
      const Choice choice = choices_[i];
      if (choice.read != read.read || choice.key != read.key || choice.bound == Bound::kExact)
        continue;
      for (const TxnId writer : read.writers) {
        if (within(choice, writer)) {
          axioms.push_back(
              {-saw(read.read, read.key, writer, Bound::kExact), static_cast<Literal>(i + 1)});
        }
      }
    }
  }
  [[nodiscard]] bool within(const Choice& choice, TxnId writer) const {
    if (writer == choice.writer) return true;
    if (!writer.valid() || !choice.writer.valid()) return false;
    if (history_.session(writer) != history_.session(choice.writer)) return false;
    const bool earlier = choice.bound == Bound::kEarlier;
    const TxnId first = earlier ? writer : choice.writer, second = earlier ? choice.writer : writer;
    return first < second && history_.status(first) == TxnStatus::kCommitted;
  }

  const History& history_;
  Derivation& d_;
  std::vector<std::vector<Literal>> conditions_;  // by edge
  base::HashSet<std::pair<OpId, KeyId>> known_;
  std::vector<Choice> choices_;
  base::HashMap<
      std::tuple<std::uint32_t, std::uint32_t, std::uint32_t, std::uint32_t, std::uint32_t, int>,
      Literal>
      numbers_;
};

}  // namespace

void refute_cases(const History& history, Derivation& derivation, base::Budget& budget) {
  if (derivation.cases.empty() || !derivation.complete) return;
  Refuter(history, derivation).run(budget);
}

}  // namespace cupel::levels
