// Random recordings of single objects, as Knossos checks them: registers, one or many
// (jepsen.independent), a mutex, and stores of strings. A simulated object answers, so that most
// histories are linearizable.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "data/history/history.hpp"
#include "readers/document.hpp"

namespace cupel::test {

enum class Object : std::uint8_t { kRegister, kRegisters, kMutex, kStrings };

struct ObjectRecording {
  Object object;
  std::vector<Document> maps;
  std::optional<history::History> history;  // expected; not of strings
  // A compare-and-set has not ended, so that a watch does not know yet whether it compared well.
  bool open_compare = false;
  std::string log = {};  // of one register with integers: the same as a log of Knossos; else empty
};

ObjectRecording random_objects(std::uint64_t seed);

}  // namespace cupel::test
