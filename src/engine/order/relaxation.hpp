// Relaxation: what follows from a "no" where session order is optional.
//
// Levels without session order keep the sessions as chains, because vector clocks need
// chains, but a "no" that rests on a chain proves nothing. The search is guided by
// counterexamples: each proof of "no" says which chain steps it used.
//   - First a sub-problem is decided: the few owners of the proof and those that they read
//     from, without any chain (sub_problem.hpp). If it has no solution, neither has the whole
//     problem, and its proof is the answer.
//   - Else the chains are relaxed where the proof used them. In the first rounds an owner
//     at a chain step is taken out of its chain: it stands alone, and its neighbours in the
//     chain stay neighbours. A few such owners may be all it takes. In later rounds the
//     chain is cut at each step of the proof.
//   - The same is done for every other cycle that the same arcs close
//     (cycle_enumeration.hpp), so that rounds are few. Then the whole problem is decided
//     again.
// Every round takes a chain step away, and late rounds twice as many around it as the one
// before, so it ends. (An owner taken out on account of another that turns out to be the
// cause goes back, but only once.)
// Why cuts: a chain that is cut costs the clocks one more column, and what is left of it
// still guides the search. An owner alone costs a column too and guides nothing. With few
// columns and good guides the stages after saturation have little to do.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "engine/order/proof.hpp"
#include "engine/order/sub_problem.hpp"

namespace cupel::order {

class Relaxation {
 public:
  explicit Relaxation(const Problem& problem);

  [[nodiscard]] const RelaxedChains& chains() const { return chains_; }
  // No owner is in a chain with another: then a "no" is final.
  [[nodiscard]] bool all_alone() const { return alone_count_ == problem_.owner_count; }

  // What saturation forced when it last ended in a cycle.
  [[nodiscard]] const std::vector<KnownArc>& forced() const { return forced_; }

  // Saturation ended in a cycle. A result if that decides; else the chains are relaxed.
  std::optional<OrderResult> cycles(const EventGraph& graph, const Versions& versions,
                                    const OpenReads& open, base::Budget& budget);
  // Another proof of "no", made with the open reads (ProofBuilder).
  std::optional<OrderResult> proof(Proof proof, Stage stage, base::Budget& budget);

 private:
  enum class Effect : std::uint8_t { kFinal, kRelaxedAlready, kRelaxed };
  // Along a chain, perhaps past others.
  struct Step {
    Owner from, to;
  };
  Effect relax_for(Proof& proof, Stage stage, bool one_step, base::Budget& budget);
  [[nodiscard]] std::vector<Owner> owners_of(const Proof& proof) const;
  bool decide_subproblem(const Proof& proof, base::Budget& budget);
  void take_out(Owner o);
  void cut(const Step& step);
  [[nodiscard]] bool is_broken(const Step& step) const;
  void put_back();
  void take_all_out();

  const Problem& problem_;
  RelaxedChains chains_;
  Owner alone_count_ = 0;
  int rounds_ = 0;
  std::vector<Owner> newly_alone_, new_cuts_;  // taken out, cut before, by the last relax_for()
  std::vector<std::uint8_t>
      blamed_;  // by owner: so often what came after it in a chain was taken out
  std::vector<std::uint8_t> put_back_;
  std::vector<std::pair<Owner, Owner>> taken_after_;  // and what it was taken out for being after
  std::vector<std::uint32_t> chain_of_, place_;
  OwnerTables tables_;
  std::vector<KnownArc> forced_;
  OrderResult final_;
};

}  // namespace cupel::order
