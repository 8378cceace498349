// Watch: one level of a history that grows, looked at again and again.
//
// When to look is a matter of cost alone: after a share of what is held has come, or
// after some milliseconds where little comes. A level that cannot be watched in bounded
// memory is watched at the next stronger one that can; when that one fails, the whole
// history has to be asked (kAsk). It is the same where a violation rests on a bet.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "engine/levels/level.hpp"
#include "engine/online/stream.hpp"
#include "engine/online/window.hpp"

namespace cupel::online {

// The level that is watched for this one: itself, or the weakest stronger one that can be.
levels::Level watched_for(levels::Level level);
// What is promised, in a sentence: exactly, or by another level.
std::string promise_of(levels::Level level);
// Of a watch that met a limit after so many transactions: "nothing is known from transaction …".
std::string unknown_after(std::uint64_t decided);

struct WatchOptions {
  levels::Level level = levels::Level::kStrictSerializable;  // that is asked
  history::Time drift = 0;
  std::size_t sessions = 0;              // nothing is forgotten before so many have come
  std::uint64_t memory_limit_bytes = 0;  // resident, whole process; 0: none
  std::uint64_t forget_outcome_after = 200'000;
  std::size_t least_batch = 4000;       // transactions
  std::chrono::milliseconds pause{20};  // between two looks where less than that comes
  // The level itself is watched, within any so many transactions in a row; 0: as the level can be.
  std::size_t slide = 0;
  bool evidence = false;  // each look leaves it, for a certificate by windows
  // Of a history that has ended, where more is known: file_check.hpp.
  bool doubt_ends_session = true;  // as WindowOptions
  bool bets = true;                // else nothing is forgotten on one
  std::optional<std::chrono::steady_clock::time_point> deadline = {};
  // A look that takes longer gives its window up (Finding::kGivenUp). None: no look does.
  std::optional<double> window_seconds = 10;
  formats::Interpretation as = {};  // of op maps
};

// WatchOptions::slide, where there is no other way.
inline constexpr std::size_t kSlide = 50'000;
inline constexpr const char* kSlideInWords = "50,000";

enum class Finding : std::uint8_t {
  kSatisfied,  // so far
  kViolated,
  kAsk,      // of the whole history: `why` says why it is not known here
  kUnknown,  // a limit was met: `why` says which, decided() from where on nothing is known
  kGivenUp,  // a window took too long and was given up, and the watch goes on: given_up()
  kRefused,  // the level has no definition for these operations: `why`
};

class Watch {
 public:
  explicit Watch(const WatchOptions& options);

  Stream& add(std::string name, std::string sessions = "");
  [[nodiscard]] std::size_t streams() const { return streams_.size(); }
  [[nodiscard]] Stream& stream(std::size_t i) { return *streams_[i]; }
  [[nodiscard]] const Stream& stream(std::size_t i) const { return *streams_[i]; }

  // Is it time? `idle`: nothing more can be read at the moment.
  [[nodiscard]] bool due(bool idle) const;
  // `ended`: as Window::look() takes it.
  Finding look(bool ended = false);

  // kAsk, because the level that is watched is violated: what is held violates the one that is
  // asked as well, unless a forgotten transaction wrote a value that is held, too.
  [[nodiscard]] bool violated_alone() const { return violated_alone_; }

  // kUnknown: so many transactions, from the beginning on, had been decided before.
  [[nodiscard]] std::uint64_t decided() const { return decided_; }

  // The transactions of the last window that was given up, by number from 1; they stay undecided.
  // From then on the watch slides.
  struct GivenUp {
    std::uint64_t first, last;
  };
  [[nodiscard]] const std::optional<GivenUp>& given_up() const { return given_up_; }

  // Right after a look, without bytes taken since: what another Watch with the same options and as
  // many streams goes on from.
  void save(StateWriter& out) const;
  void load(StateReader& in);

  // Of a window that slides: its violation was none of the whole history.
  void forget_reads() { window_.forget_reads(); }

  [[nodiscard]] const Window& window() const { return window_; }
  // For whoever gives it transactions without a stream.
  [[nodiscard]] Window& window() { return window_; }
  [[nodiscard]] levels::Level watched() const { return watched_; }
  [[nodiscard]] const std::string& why() const { return why_; }
  [[nodiscard]] std::uint64_t looks() const { return looks_; }
  [[nodiscard]] double longest_look_seconds() const { return longest_; }

 private:
  Finding give_up();
  [[nodiscard]] bool slides() const { return options_.slide > 0 || given_up_; }
  [[nodiscard]] bool is_late() const;

  const WatchOptions options_;
  levels::Level watched_;
  Window window_;
  std::vector<std::unique_ptr<Stream>> streams_;
  std::chrono::steady_clock::time_point last_look_;
  std::chrono::nanoseconds cost_{};  // of the processor, for the last look
  std::uint64_t looks_ = 0;
  double longest_ = 0;
  bool violated_alone_ = false;
  std::uint64_t decided_ = 0;
  std::optional<GivenUp> given_up_;
  std::string why_;
};

}  // namespace cupel::online
