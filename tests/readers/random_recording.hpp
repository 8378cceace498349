// Random recordings: a seed makes the operation maps of a history, and the history that a reader
// must make of them. The operations are those of a random sketch, with keys and values of every
// kind; how they were recorded is random, too: with invocations or without, with times, positions
// or neither, with outcomes that repeat the operations or not, with names instead of numbers.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "data/history/history.hpp"
#include "readers/document.hpp"

namespace cupel::test {

struct Recording {
  std::vector<Document> maps;  // in the order of the file
  history::History history;    // with its labels
  // Every process has a name, and every operation its invocation: it can be read as it comes.
  bool as_it_comes = true;
  // A compare-and-set has not ended, so that a watch does not know yet whether it compared well.
  bool open_compare = false;
};

Recording random_recording(std::uint64_t seed);

// Files of the maps. `style.random` chooses among the spellings and the fields without a meaning.
std::string json_lines(const std::vector<Document>& maps, Style style = {});
std::string json_array(const std::vector<Document>& maps, Style style = {});
std::string edn_lines(const std::vector<Document>& maps, Style style = {});
// In brackets: [] or (); or as records.
std::string edn_vector(const std::vector<Document>& maps, char open, Style style = {});
std::string edn_records(const std::vector<Document>& maps, Style style = {});

// A value of any kind, as a key or a value may be.
Document random_scalar(base::Random& random);

}  // namespace cupel::test
