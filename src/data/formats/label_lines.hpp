// Where the transactions' labels stand in a text file, for messages that point into it.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace cupel::formats {

// The line of the file, from 1, on which each of these labels stands; those that are
// not found are left out. Jepsen's "index" (JSON lines and EDN, an operation map a
// line) and plume's transaction numbers, the first line of each; nothing for others.
std::map<std::uint32_t, std::uint64_t> lines_of_labels(const std::string& file,
                                                       const std::string& format,
                                                       std::vector<std::uint32_t> labels);

}  // namespace cupel::formats
