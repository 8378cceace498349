// Linearizability of registers while their operations go by: what zones.hpp decides of a
// History, decided of a file of any length, at 32 bytes a version.
//
// It only ever says yes. Whatever else a history is, a contradiction included, is a
// question for those who hold it, and can prove what they say.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <vector>

#include "base/budget.hpp"
#include "data/history/single_op.hpp"

namespace cupel::levels {

class StreamedZones final : public history::SingleOpSink {
 public:
  // Borrowed.
  explicit StreamedZones(base::Budget& budget) : budget_(budget) {}

  bool begin(const history::SingleOpFacts& facts) override;
  bool add(std::span<const history::SingleOp> ops) override;

  // After all were added. "zones" or "chain", what decided that the history is linearizable;
  // nothing: not decided here. Called once.
  std::optional<std::string_view> decide();

 private:
  using Time = history::Time;
  static constexpr std::uint32_t kNone = std::numeric_limits<std::uint32_t>::max();
  static constexpr Time kForever = std::numeric_limits<Time>::max();
  static constexpr Time kAlways = std::numeric_limits<Time>::min();

  // Of those who saw a version, its writer included: the earliest completion and the
  // latest invocation. Later the same of a whole chain, at its head.
  struct Version {
    Time completed = kForever, invoked = kAlways;
    Time written = kForever;     // when its writer was invoked; kForever: not yet met
    std::uint32_t next = kNone;  // the version that a compare-and-set made of it
    std::uint32_t key = kNone;
  };

  // Versions are numbered as their values, and the initial ones after them by key.
  [[nodiscard]] std::uint32_t seen(history::KeyId key, history::ValueId value) const;
  [[nodiscard]] bool is_initial(std::uint32_t version) const { return version >= values_; }
  bool belongs(std::uint32_t version, history::KeyId key);
  bool chain(std::uint32_t head);

  base::Budget& budget_;
  std::size_t values_ = 0;
  std::vector<Version> versions_;
  std::vector<std::uint32_t> initial_;  // by key: a value
  std::vector<Time> completed_;         // by session: when its last certain operation was
  std::vector<std::uint8_t> is_made_;   // by version: a compare-and-set wrote it
  std::vector<std::uint32_t> path_;
  std::size_t chained_ = 0, written_ = 0;
};

}  // namespace cupel::levels
