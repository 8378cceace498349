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
//   Interleavings all;
//   do {
//     … at each turn: client = all.choose(waiting); … all.ran(footprint); …
//   } while (all.next());
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "proxy/footprint.hpp"

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
  // What the chosen client's statement touched, and what it let others do.
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
    std::map<std::string, Footprint> sleep = {};  // by client: not to be chosen
  };
  [[nodiscard]] static std::map<std::string, Footprint> sleep_after(const Turn& turn);

  std::vector<Turn> turns_;
  std::vector<std::size_t> given_;  // choices to begin with
  std::size_t given_used_ = 0;
  std::size_t made_ = 0;
  std::vector<std::size_t> this_run_, last_;
  bool repeats_ = false, diverges_ = false, last_repeated_ = false;
  int attempts_ = 0;  // runs that diverged one after another
  std::uint64_t found_ = 0, diverged_ = 0;
};

}  // namespace cupel::proxy
