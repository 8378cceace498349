// Do all readers make the same history of one recording of single objects? Each form, the stream
// that gets one line at a time, the window of a watch, a log of Knossos, and the history that is
// expected.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

namespace cupel::test {

class ObjectAgreement {
 public:
  struct Tally {
    std::array<std::size_t, 4> compared{}, streamed{}, watched{};  // by Object
    std::size_t logs = 0, violated = 0;
    std::size_t refused = 0;  // as a whole: which append a get shows is open
  };

  // Empty: they agree about the recording of this seed. Else the first difference, with the file.
  std::string difference_of(std::uint64_t seed);

  [[nodiscard]] const Tally& tally() const { return tally_; }

 private:
  Tally tally_;
};

}  // namespace cupel::test
