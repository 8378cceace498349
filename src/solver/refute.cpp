// refute: see the header.
#include "solver/refute.hpp"

#include <cadical.hpp>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <numeric>
#include <string_view>

namespace cupel::solver {

namespace {

class BudgetTerminator : public CaDiCaL::Terminator {
 public:
  explicit BudgetTerminator(base::Budget& budget) : budget_(budget) {}
  bool terminate() override { return budget_.exceeded(); }

 private:
  base::Budget& budget_;
};

void add(CaDiCaL::Solver& solver, std::span<const Literal> clause) {
  for (const Literal l : clause) solver.add(l);
  solver.add(0);
}

constexpr int kUnsatisfiable = 20;
constexpr int kCoreRounds = 4;  // asking for a core of the core

std::optional<std::vector<std::uint32_t>> core(Literal variables,
                                               std::span<const std::vector<Literal>> axioms,
                                               std::span<const std::vector<Literal>> clauses,
                                               base::Budget& budget) {
  CaDiCaL::Solver solver;
  solver.set("quiet", 1);
  BudgetTerminator terminator(budget);
  solver.connect_terminator(&terminator);
  for (const auto& axiom : axioms) add(solver, axiom);
  const auto selector = [&](std::uint32_t i) { return variables + 1 + static_cast<Literal>(i); };
  for (std::uint32_t i = 0; i < clauses.size(); ++i) {
    solver.add(-selector(i));
    add(solver, clauses[i]);
  }
  std::vector<std::uint32_t> kept(clauses.size());
  std::iota(kept.begin(), kept.end(), 0);
  bool refuted = false;
  for (int round = 0; round < kCoreRounds; ++round) {
    for (const auto i : kept) solver.assume(selector(i));
    if (solver.solve() != kUnsatisfiable) break;
    refuted = true;
    std::vector<std::uint32_t> used;
    for (const auto i : kept) {
      if (solver.failed(selector(i))) used.push_back(i);
    }
    const bool smaller = used.size() < kept.size();
    kept = std::move(used);
    if (!smaller) break;
  }
  solver.disconnect_terminator();
  if (!refuted) return std::nullopt;
  return kept;
}

// "1 -2 0" lines; deletions, which begin with d, are of no interest.
std::vector<std::vector<Literal>> parse_lemmas(std::string_view text) {
  std::vector<std::vector<Literal>> lemmas;
  while (!text.empty()) {
    const auto end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (line.empty() || line.front() == 'd') continue;
    auto& lemma = lemmas.emplace_back();
    while (!line.empty()) {
      char* after = nullptr;
      const long literal = std::strtol(line.data(), &after, 10);
      const auto length = static_cast<std::size_t>(after - line.data());
      if (length == 0 || literal == 0) break;
      lemma.push_back(static_cast<Literal>(literal));
      line.remove_prefix(std::min(length, line.size()));
    }
    if (lemma.empty()) break;  // the contradiction
  }
  if (lemmas.empty() || !lemmas.back().empty()) lemmas.emplace_back();
  return lemmas;
}

}  // namespace

std::optional<Refutation> refute(Literal variables, std::span<const std::vector<Literal>> axioms,
                                 std::span<const std::vector<Literal>> clauses,
                                 base::Budget& budget) {
  if (budget.exceeded()) return std::nullopt;
  auto used = core(variables, axioms, clauses, budget);
  if (!used) return std::nullopt;

  char* buffer = nullptr;
  std::size_t size = 0;
  std::FILE* learnt = open_memstream(&buffer, &size);
  if (learnt == nullptr) return std::nullopt;
  bool refuted = false;
  {
    CaDiCaL::Solver solver;
    solver.set("quiet", 1);
    solver.configure("plain");
    solver.set("binary", 0);
    solver.trace_proof(learnt, "refutation");
    BudgetTerminator terminator(budget);
    solver.connect_terminator(&terminator);
    for (const auto& axiom : axioms) add(solver, axiom);
    for (const auto i : *used) add(solver, clauses[i]);
    refuted = solver.solve() == kUnsatisfiable;
    solver.disconnect_terminator();
    solver.close_proof_trace();
  }
  std::fclose(learnt);
  const std::unique_ptr<char, decltype(&std::free)> owned(buffer, &std::free);
  if (!refuted) return std::nullopt;
  return Refutation{*std::move(used), parse_lemmas({buffer, size})};
}

}  // namespace cupel::solver
