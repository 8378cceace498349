// refute: see the header.
#include "base/solver/refute.hpp"

#include <cstdio>
#include <cstdlib>
#include <numeric>
#include <string_view>

#include "base/solver/sat.hpp"

namespace cupel::solver {

namespace {

constexpr int kCoreRounds = 4;  // asking for a core of the core

std::optional<std::vector<std::uint32_t>> core(Literal variables,
                                               std::span<const std::vector<Literal>> axioms,
                                               std::span<const std::vector<Literal>> clauses,
                                               base::Budget& budget) {
  Sat solver;
  for (const auto& axiom : axioms) solver.add_clause(axiom);
  const auto selector = [&](std::uint32_t i) { return variables + 1 + static_cast<Literal>(i); };
  for (std::uint32_t i = 0; i < clauses.size(); ++i) {
    solver.add_clause(clauses[i], -selector(i));
  }
  std::vector<std::uint32_t> kept(clauses.size());
  std::iota(kept.begin(), kept.end(), 0);
  bool refuted = false;
  for (int round = 0; round < kCoreRounds; ++round) {
    for (const auto i : kept) solver.assume(selector(i));
    if (solver.solve(budget) != SolveResult::kUnsatisfiable) break;
    refuted = true;
    std::vector<std::uint32_t> used;
    for (const auto i : kept) {
      if (solver.failed(selector(i))) used.push_back(i);
    }
    const bool smaller = used.size() < kept.size();
    kept = std::move(used);
    if (!smaller) break;
  }
  if (!refuted) return std::nullopt;
  return kept;
}

// A file whose text is in memory; `buffer` and `size` hold after a flush.
struct TextInMemory {
  char* buffer = nullptr;
  std::size_t size = 0;
  std::FILE* file = open_memstream(&buffer, &size);

  TextInMemory() = default;
  ~TextInMemory() {
    if (file != nullptr) std::fclose(file);
    std::free(buffer);
  }
  TextInMemory(const TextInMemory&) = delete;
  TextInMemory& operator=(const TextInMemory&) = delete;
};

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

  TextInMemory learnt;
  if (learnt.file == nullptr) return std::nullopt;
  bool refuted = false;
  {
    Sat solver;
    solver.configure("plain");
    solver.set("binary", 0);
    solver.trace_proof(learnt.file, "refutation");
    for (const auto& axiom : axioms) solver.add_clause(axiom);
    for (const auto i : *used) solver.add_clause(clauses[i]);
    refuted = solver.solve(budget) == SolveResult::kUnsatisfiable;
    solver.close_proof_trace();
  }
  std::fflush(learnt.file);
  if (!refuted) return std::nullopt;
  return Refutation{*std::move(used), parse_lemmas({learnt.buffer, learnt.size})};
}

}  // namespace cupel::solver
