// A recording: a folder in which a recorder left one history as several files of JSON lines, each
// compressed once it is full (record.hpp):
//
//   history.00001.jsonl.zst  history.00002.jsonl.zst  history.00003.jsonl  history.index.jsonl
//
// Together, in the order of their numbers, they are the history. A file is there as it was written
// or compressed, or for a moment both; the index is for people and for whoever looks for a place.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/budget.hpp"
#include "base/result.hpp"

namespace cupel::formats {

// The `number`-th file of a recording, from 1; none: it is not there (yet).
std::optional<std::string> recorded_part(const std::string& folder, std::uint32_t number);
// Whether the folder holds a recording.
bool is_recording(const std::string& path);
// The lines of all files. Errors: a file is missing between others, or is damaged. May throw
// Stopped (input.hpp), if it is given a budget.
base::Result<std::string> read_recording(const std::string& folder, base::Budget* budget);

// Of the first file: its first bytes, at most so many.
base::Result<std::string> recorded_head(const std::string& folder, std::size_t bytes);
// How many bytes of lines the `number`-th file has, by the index; none: it is not in it.
std::optional<std::uint64_t> recorded_bytes(const std::string& folder, std::uint32_t number);

}  // namespace cupel::formats
