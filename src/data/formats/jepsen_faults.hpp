// Faults: what the nemesis of a file did, and when.
#pragma once

#include <string>
#include <vector>

#include "data/formats/jepsen_events.hpp"

namespace cupel::formats::jepsen {

class Faults {
 public:
  // An event of the nemesis, in the order of the file.
  void note(const Chunk& chunk, const Event& event);
  // A line for each, "FROM TO WHAT", in nanoseconds, "-" if no end was seen: for pictures of the
  // history in time.
  [[nodiscard]] std::string text();

 private:
  struct Fault {
    history::Time from, to;
    std::string name, value, what;
    bool ended;
  };
  std::vector<Fault> faults_;  // by when it began
};

}  // namespace cupel::formats::jepsen
