// Loosen: what to do with a "no" where the chains are only a guide.
//
// Levels without session order keep the sessions as chains, because vector clocks
// need chains, but a "no" that rests on them proves nothing. Three things are
// made of it:
//   - a sub-problem: the few owners of the proof and those that they read from,
//     without any chain. If that has no solution neither has the whole, and its
//     proof is the answer;
//   - else the chains lose something that the proof rests on. In the first rounds an
//     owner at a chain step is taken out of its chain (it stands alone; its neighbours
//     in the chain stay neighbours), since a few odd ones may be all. In later rounds
//     the chain is cut at each step: what is before and what is after go their own ways;
//   - and before everything is asked again, the same for every other cycle that
//     the same arcs close (untangle.hpp), so that rounds are few.
// Every round takes a chain step away, late rounds twice as many around it as the one
// before: it ends. (An owner taken out on account of another that turns out to be the
// odd one goes back, but only once.)
// Why cuts: a long chain that is cut costs the clocks one column more, and what is
// left of it goes on being a guide; an owner alone costs a column too, and guides
// nothing. With few columns and good guides the stages after saturation have little to do.
//
// Why the sub-problem is sound. Let S be a set of owners, and P|S the problem of
// the owners S with all their writes, the fixed arcs between them (through
// helpers too), and those of their reads all of whose candidates are in S or
// initial. A solution of P, restricted to the events of S, is one of P|S: that a
// is before b does not depend on what else is there, each condition of problem.hpp
// is about the order of two events, and each of P|S is one of P. (Its reads kept
// their candidates, so the version that a read saw is in P|S; its versions are
// ordered as before; leaving out a writer or a reader only takes conditions away.)
// So no solution of P|S means no solution of P, whichever S is chosen.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "order/proof.hpp"

namespace cupel::order {

class Relaxation {
 public:
  explicit Relaxation(const Problem& problem);

  [[nodiscard]] const RelaxedChains& chains() const { return chains_; }
  // Every owner is apart: then a "no" is final.
  [[nodiscard]] bool all_alone() const { return alone_count_ == problem_.owner_count; }

  // What saturation forced when it last ended in a cycle.
  [[nodiscard]] const std::vector<KnownArc>& forced() const { return forced_; }

  // Saturation ended in a cycle. An result if that decides; else chains are looser.
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
  std::vector<Owner> newly_alone_, new_cuts_;  // taken apart, cut before, by the last relax_for()
  std::vector<std::uint8_t>
      blamed_;  // by owner: so often what came after it in a chain was taken out
  std::vector<std::uint8_t> put_back_;
  std::vector<std::pair<Owner, Owner>> taken_after_;  // and what it was taken out for being after
  std::vector<std::uint32_t> chain_of_, place_;
  std::vector<std::uint32_t> read_first_;   // reads by owner
  std::vector<std::uint32_t> fixed_first_;  // fixed arcs by owner, at both ends
  std::vector<std::uint32_t> fixed_of_;
  std::vector<KnownArc> forced_;
  OrderResult final_;
};

}  // namespace cupel::order
