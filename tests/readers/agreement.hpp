// Do all readers make the same history of one recording? JSON against EDN, each in every form in
// which a file may have it; the whole file against the stream of transactions and the window of a
// watch; what the writers of cupel make of the history; and the history that is expected.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "history/history.hpp"
#include "readers/document.hpp"
#include "support/scratch_folder.hpp"

namespace cupel::test {

// Empty: each form in which these maps can be a file gives this history, and so does the second
// reader, unless it does not read the kind.
std::string compare_forms(const std::vector<Document>& maps, const history::History& plain,
                          std::uint64_t seed);

// The same transactions to a stream that reads the text as a file.
std::string compare_as_it_comes(const std::string& text, const history::History& h);

class ReaderAgreement {
 public:
  struct Tally {
    std::size_t compared = 0, open_ranges = 0, streamed = 0, watched = 0, violated = 0,
                converted = 0, told_apart = 0;
  };

  // Empty: they agree about the recording of this seed. Else the first difference, with the file.
  std::string difference_of(std::uint64_t seed);
  // Of all from `first`: the first difference.
  std::string first_difference(std::uint64_t first, std::uint64_t count);

  [[nodiscard]] const Tally& tally() const { return tally_; }

 private:
  test::ScratchFolder folder_;
  Tally tally_;
};

}  // namespace cupel::test
