// Do all readers make the same history of one recording? JSON against EDN, each in every form in
// which a file may have it; the whole file against the stream of transactions and the window of a
// watch; what the writers of cupel make of the history; and the history that is expected.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "data/history/history.hpp"
#include "readers/document.hpp"
#include "support/scratch_folder.hpp"

namespace cupel::test {

// Empty: each form in which these maps can be a file gives this history, and so does the second
// reader, unless it does not read the kind.
std::string compare_forms(const std::vector<Document>& maps, const history::History& plain,
                          std::uint64_t seed);

// A reader of lines refuses what a later line may change only where the history has something of
// the kind: collections that are read, or a store of strings. Empty: so it is.
std::string unexpected(const base::Error& refusal, const history::History& h);

// What came of a comparison of verdicts, each at one level.
struct WatchComparison {
  std::string difference = {};  // empty: none
  std::size_t compared = 0, refused = 0;
};
// The verdicts of windows that take a few lines at a time, and of the whole file. `open_compare`: a
// compare-and-set has not ended, so that a watch does not know yet whether it compared well.
WatchComparison compare_watch(const std::string& text, const history::History& h, bool open_compare,
                              std::uint64_t seed);

// Of the verdicts at all levels, of which `violated` counts violations.
std::string compare_verdicts(const history::History& a, const history::History& b,
                             std::size_t& violated);

class ReaderAgreement {
 public:
  struct Tally {
    std::size_t compared = 0, open_ranges = 0, streamed = 0, watched = 0, violated = 0,
                converted = 0, told_apart = 0;
    std::size_t refused = 0;  // by the stream, which leaves it to the whole file
  };

  // Empty: they agree about the recording of this seed. Else the first difference, with the file.
  std::string difference_of(std::uint64_t seed);

  [[nodiscard]] const Tally& tally() const { return tally_; }

 private:
  test::ScratchFolder folder_;
  Tally tally_;
};

// Of the recordings of all seeds from `first`: the first difference.
template <typename Agreement>
std::string first_difference(Agreement& agreement, std::uint64_t first, std::uint64_t count) {
  for (auto seed = first; seed < first + count; ++seed) {
    if (auto wrong = agreement.difference_of(seed); !wrong.empty())
      return "seed " + std::to_string(seed) + ": " + wrong;
  }
  return {};
}

}  // namespace cupel::test
