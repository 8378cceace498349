// Explorer: all runs of a small program, instead of some of them.
//
// A run makes choices: what each read returns, and, under Store::interleave, which client
// goes on. The choices of a run are the digits of an odometer; the next run repeats all
// but the last that can be raised. Runs whose clients have done the same so far, in
// another order, go on the same way, so where a run comes to what one before it came to,
// it makes no more choices of its own: it ends by the first of each, and counts as
// repeated. What the clients do must be decided by what they read.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <set>
#include <span>
#include <vector>

#include "engine/mock/store.hpp"

namespace cupel::mock {

class Explorer {
 public:
  Explorer() = default;
  // Starts at these choices, to see that run again.
  explicit Explorer(std::span<const std::size_t> choices);
  Explorer(const Explorer&) = delete;
  Explorer& operator=(const Explorer&) = delete;

  // To be called by the store (Options::choose): below `of`, which is at least 2.
  std::size_t choose(std::size_t of);
  // Options::before_turn, with one of the place's digests.
  void reached(const Digest& history, std::span<const std::uint64_t> turns);
  // A run is over, with this history. False: there is no other.
  bool next(const Digest& history);

  // Of the last run, from its end until the next one's first choice.
  [[nodiscard]] bool repeated() const { return last_repeated_; }
  [[nodiscard]] const std::vector<std::size_t>& choices() const { return last_; }

  [[nodiscard]] std::uint64_t runs() const { return runs_; }
  [[nodiscard]] std::uint64_t histories() const { return histories_; }  // different ones
  // Runs that had not the choices that the same run had before: what the program does is
  // not decided by what it reads, and what was explored may not be all.
  [[nodiscard]] std::uint64_t diverged() const { return diverged_; }

 private:
  struct Digit {
    std::size_t at, of;
  };
  std::vector<Digit> digits_;
  std::size_t made_ = 0;  // choices of this run
  std::vector<std::size_t> last_;
  std::set<std::vector<std::uint64_t>> reached_;
  bool repeats_ = false, diverges_ = false, last_repeated_ = false;
  std::uint64_t runs_ = 0, histories_ = 0, diverged_ = 0;
};

}  // namespace cupel::mock
