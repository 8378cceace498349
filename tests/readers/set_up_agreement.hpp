// Do all readers make the same of operations that set up? The whole file, the second reader, the
// stream that gets one line at a time, and the window of a watch.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "data/history/history.hpp"
#include "engine/levels/level.hpp"

namespace cupel::test {

// An operation map, as a line of JSON.
std::string op_line(const std::string& type, int process, const std::string& f,
                    const std::string& value, std::optional<int> time = {});

bool is_violated(const history::History& h, levels::Level level);

// Empty: all agree on the transactions, of which `transactions` is the number, and on the verdict.
std::string compare_readers(const std::string& text, levels::Level level, bool violated,
                            std::size_t& transactions);

// Random set-ups that overlap in any way, and a store that applies each at one moment of its own.
class SetUpAgreement {
 public:
  struct Tally {
    std::size_t contents = 0;  // histories with set-ups as initial values
    std::size_t lost_writes = 0, found = 0;
  };

  // Empty: no reader accuses the store of this seed.
  std::string difference_of(std::uint64_t seed);

  [[nodiscard]] const Tally& tally() const { return tally_; }

 private:
  Tally tally_;
};

}  // namespace cupel::test
