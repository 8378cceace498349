// FormulaHistory: see the header. Names of transactions are the thesis's (figure 3.5):
// a and b of a variable, which is false if a is before b; w, y and z of a literal, which
// is false if y is before z.
#include "bench/formula_history.hpp"

#include <algorithm>
#include <cadical.hpp>
#include <cassert>
#include <cstdlib>
#include <string>

#include "base/random.hpp"
#include "data/history/builder.hpp"

namespace cupel::bench {

Formula random_formula(int variables, int clauses, std::uint64_t seed) {
  assert(variables >= 3);
  base::Random random(seed);
  Formula formula{variables, {}};
  for (int i = 0; i < clauses; ++i) {
    Clause clause;
    while (clause.size() < 3) {
      const int v = 1 + static_cast<int>(random.below(static_cast<std::uint64_t>(variables)));
      const bool there = std::any_of(clause.begin(), clause.end(),
                                     [&](int literal) { return std::abs(literal) == v; });
      if (!there) clause.push_back(random.chance(0.5) ? v : -v);
    }
    formula.clauses.push_back(std::move(clause));
  }
  return formula;
}

bool has_model(const Formula& formula) {
  CaDiCaL::Solver solver;
  solver.set("quiet", 1);
  for (const Clause& clause : formula.clauses) {
    for (const int literal : clause) solver.add(literal);
    solver.add(0);
  }
  return solver.solve() == 10;
}

namespace {

struct Access {
  std::int64_t key, value;
  bool write;
};

// Transactions as lists of accesses: the reduction adds to them in any order.
class Reduction {
 public:
  using Transaction = std::size_t;

  Transaction transaction() {
    transactions_.emplace_back();
    return transactions_.size() - 1;
  }
  // `before` is before `after` at every level: a read of a key of their own.
  void order(Transaction before, Transaction after) {
    const auto key = next_key_++;
    write(before, key, 1);
    read(after, key, 1);
  }
  std::int64_t key() { return next_key_++; }
  void write(Transaction t, std::int64_t key, std::int64_t value) {
    transactions_[t].push_back({key, value, true});
  }
  void read(Transaction t, std::int64_t key, std::int64_t value) {
    transactions_[t].push_back({key, value, false});
  }

  [[nodiscard]] history::History history() const {
    history::HistoryBuilder builder;
    for (std::size_t t = 0; t < transactions_.size(); ++t) {
      builder.begin(builder.session(std::to_string(t)), history::TxnStatus::kCommitted,
                    {.label = static_cast<std::uint32_t>(t)});
      for (const Access& access : transactions_[t]) {
        const auto key = builder.key(access.key);
        const auto value = builder.value(access.value);
        access.write ? builder.write(key, value) : builder.read(key, value);
      }
      builder.end();
    }
    auto finished = std::move(builder).finish();
    assert(finished.ok());
    return *std::move(finished);
  }

 private:
  std::vector<std::vector<Access>> transactions_;
  std::int64_t next_key_ = 1;
};

}  // namespace

history::History history_of(const Formula& formula) {
  Reduction made;
  struct Pair {
    Reduction::Transaction a, b;
  };
  std::vector<Pair> variables;
  for (int v = 0; v < formula.variables; ++v) {
    const auto a = made.transaction();
    variables.push_back({a, made.transaction()});
  }
  for (const Clause& clause : formula.clauses) {
    std::vector<Reduction::Transaction> ys, zs;
    for (const int literal : clause) {
      auto [a, b] = variables[static_cast<std::size_t>(std::abs(literal)) - 1];
      if (literal < 0) std::swap(a, b);
      const auto w = made.transaction(), y = made.transaction(), z = made.transaction();
      // If a is before b, then y is before w, which reads from z: so y is before z.
      made.order(y, a);
      made.order(b, w);
      const auto key = made.key();
      made.write(y, key, 1);
      made.write(z, key, 2);
      made.read(w, key, 2);
      ys.push_back(y);
      zs.push_back(z);
    }
    // Were every y before its z, this would close a cycle.
    for (std::size_t j = 0; j < ys.size(); ++j) made.order(zs[j], ys[(j + 1) % ys.size()]);
  }
  return made.history();
}

}  // namespace cupel::bench
