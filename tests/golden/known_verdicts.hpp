// KnownVerdicts: histories whose verdicts are known, and the one question asked
// of them: does check::check answer the same?
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "data/history/history.hpp"
#include "engine/check/check.hpp"

namespace cupel::golden {

// One history and what is known about it.
struct KnownHistory {
  std::filesystem::path path;  // a file, or a directory that is one history
  std::map<levels::Level, check::Verdict> verdicts;
};

// The history of a file, which is unpacked first if it ends in .zst, or of a directory.
base::Result<history::History> read(const std::filesystem::path& path);

// Reads it (unpacking it first if it ends in .zst), checks all its levels at once, and
// adds a test failure for whatever differs or cannot be read.
void expect_verdicts(const KnownHistory& known);

// A test's name for a path: letters, digits and underscores.
std::string test_name(std::string_view path);

}  // namespace cupel::golden
