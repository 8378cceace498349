// A tiny language for order problems, so that a test shows its problem in one line.
//
//   "a w(x) ; b r(x,a) w(x) | c r(x,init) | list x a -> b"
//
// Parts are separated by `|`. A part is a chain of owners, separated by `;`: a name and
// what the owner reads and writes. Owners are numbered as they come, and so are objects.
//
//   w(x)               writes x
//   r(x,a)  r(x,init)  reads a's version of x; the initial version
//   r(x,a b init)      reads one of these
//   r(x,a)&r(y,b)      two reads of one step (visibility problems only)
//
// Or a part is one of these:
//
//   session a -> b     a fixed arc between owners of different chains
//   list x a -> b      a fixed order of two versions of x
//   time a -> b        real time: a completed before b was invoked; `#0`, `#1` are helpers
//   hints b a c        which owners should come earlier (else: as they are written)
//
// Before the first part may stand words and a colon: `split:` (an owner begins and
// commits), `no-overlap:` (split, and writers of one object do not overlap), `optional:`
// (session order is optional), `whole:` (proofs are whole), `unrepaired:` (no schedule is repaired
// before saturation, so that the later stages have something to do), `nearby:` (three owners where
// the schedule failed, and whom they read from, are decided first).
//
// Results come as text too, with the same names; in split problems `a.begin`, `a.commit`.
// An arc is its kind, its object if it has one, its ends, and in braces why it is forced:
//
//   visible x b->a for c {read y b->c}
//
// is a ww arc from b to a, because c read a's version of x, and b is before c by the read
// of y. A proof is its cycles, each with its arcs in brackets: [chain b->a, read x a->b],
// beginning with the one whose text is the least. In a whole proof follows, after "knowing",
// why reads with several candidates saw what they saw.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/order/saturation.hpp"
#include "engine/order/visibility.hpp"

namespace cupel::test {

struct OrderSketch {
  order::Problem problem = {};
  std::vector<std::string> owners = {}, objects = {};

  [[nodiscard]] order::Owner owner(std::string_view name) const;
  [[nodiscard]] order::Object object(std::string_view name) const;
  // "a", "a.begin", "a.commit" or "#0".
  [[nodiscard]] order::Node node(std::string_view name) const;
  [[nodiscard]] std::string name(order::Node node) const;
  [[nodiscard]] std::string owner_name(order::Owner owner) const;
};

struct VisibilitySketch {
  order::VisibilityProblem problem = {};
  std::vector<std::vector<order::Owner>> candidates = {};  // by read
  OrderSketch names = {};
};

// Both throw std::invalid_argument on a mistake in the test.
OrderSketch order_problem(std::string_view text);
VisibilitySketch visibility_problem(std::string_view text);

std::string text_of(const OrderSketch& sketch, const order::Proof& proof);
// "a->b", by the names of nodes.
std::string text_of(const OrderSketch& sketch, std::span<const order::Node> order);
std::string text_of(const OrderSketch& sketch, const order::KnownArc& arc);
std::string text_of(const OrderSketch& sketch, const order::EventGraph& graph,
                    std::span<const order::EventGraph::Step> steps);

// Everything that the stages work on, of one problem.
struct Engine {
  explicit Engine(std::string_view text, const order::RelaxedChains& relaxed = {})
      : Engine(order_problem(text), relaxed) {}
  explicit Engine(OrderSketch of, const order::RelaxedChains& relaxed = {});

  OrderSketch sketch;
  base::Budget budget = {};
  order::EventGraph graph;
  order::Versions versions;
  order::OpenReads open;
  order::Saturation saturation;
};

// What stage 1 says: "fixpoint: " and the arcs that it forced, sorted; "cycle: " or
// "no writer: " and the proof.
std::string saturated(std::string_view text);
// What the whole engine says: "yes in schedule: " and the order; "no in refine: " and the proof.
std::string decided(std::string_view text);
// The same of a weak level; "yes: " or "no: ". With several candidates of a read, by cases.
std::string decided(std::string_view text, order::Visible visible);

}  // namespace cupel::test
