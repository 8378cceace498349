// Interleavings: every order of the statements of several clients, but for orders that differ only
// in the places of independent statements.
//
// Each run of the clients starts anew and repeats the choices of an earlier one up to some point
// (stateless search). Sleep sets leave out what was seen (Godefroid, "Partial-Order Methods for the
// Verification of Concurrent Systems", 1996, chapter 5): after a choice, a client whose next
// statement was chosen in its place in an earlier run sleeps until a statement runs that is not
// independent of its own. A run in which only sleeping clients could go on has been seen in another
// order. What a statement touches is known when it has run, so a deadlock or a wait counts with
// what it did to the others.
//
// Another client is chosen only where a run has shown that the order may matter: two statements of
// different clients depend on each other, and none between them has to come after the one and
// before the other. Then some client that could begin the reversed order is to be chosen in the
// place of the first of them (source sets: Abdulla, Aronis, Jonsson, Sagonas, "Optimal Dynamic
// Partial Order Reduction", POPL 2014). So independent clients need one run, and not one for each
// order that turns out to be the same. A statement that a client asked for only after another
// client's turn comes after that turn in every order. Cost: the square of the turns of a run, and
// for each pair that is reversed the square of the turns between them.
//
//   Interleavings all;
//   do {
//     … at each turn: client = all.choose(waiting); … all.ran(footprint); …
//   } while (all.next());
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "mock/proxy/footprint.hpp"

namespace cupel::proxy {

class Interleavings {
 public:
  // A client that could go on, and the statement that it would run.
  struct Waiting {
    std::string client, statement;
  };

  Interleavings() = default;
  // Starts at these choices, to see that run again.
  explicit Interleavings(std::span<const std::size_t> choices);

  // Which of the clients goes on; there is at least one.
  std::size_t choose(const std::vector<Waiting>& waiting);
  // What the chosen client's statement touched, and what it let others do. In parts, if it is
  // called more than once.
  void ran(const Footprint& footprint);
  // A run is over. False: there is no other.
  bool next();

  // Of the last run: it was the same as an earlier one but for independent statements.
  [[nodiscard]] bool repeated() const { return last_repeated_; }
  // Where there was more than one client to choose.
  [[nodiscard]] const std::vector<std::size_t>& choices() const { return last_; }
  [[nodiscard]] std::uint64_t found() const { return found_; }  // different interleavings
  // Runs that offered other choices than the same run before, as often as it was tried: what the
  // clients do is not decided by what they read.
  [[nodiscard]] std::uint64_t diverged() const { return diverged_; }

 private:
  struct Turn {
    std::vector<Waiting> waiting;
    std::size_t chosen = 0;
    Footprint footprint = {.unknown = true};      // of the chosen statement, once it has run
    bool ran = false;                             // in this run
    std::map<std::string, Footprint> sleep = {};  // by client: not to be chosen
    std::set<std::string> wanted = {};            // clients to be chosen, unless they sleep
    [[nodiscard]] const std::string& client() const { return waiting[chosen].client; }
  };
  [[nodiscard]] static std::map<std::string, Footprint> sleep_after(const Turn& turn);
  [[nodiscard]] static std::optional<std::size_t> next_of(const Turn& turn);

  // The turns that come before one in every order that is the same.
  using Before = std::vector<bool>;
  [[nodiscard]] std::optional<std::size_t> enabled_by(std::size_t turn) const;
  void want_reversals();
  void want_reversal(const std::vector<Before>& before, std::size_t one, std::size_t other);

  std::vector<Turn> turns_;
  std::size_t seen_ = 0;            // whose reversals are wanted already
  std::vector<std::size_t> given_;  // choices to begin with
  std::size_t given_used_ = 0;
  std::size_t made_ = 0;
  std::vector<std::size_t> this_run_, last_;
  bool repeats_ = false, diverges_ = false, last_repeated_ = false;
  int attempts_ = 0;  // runs that diverged one after another
  std::uint64_t found_ = 0, diverged_ = 0;
};

}  // namespace cupel::proxy
