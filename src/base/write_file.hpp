// write_file: a small file at once, and the reason if that fails.
//
// A std::ofstream does not say why it failed, and errno may be another call's by then.
#pragma once

#include <string>
#include <string_view>

#include "base/result.hpp"

namespace cupel::base {

enum class WriteMode { kReplace, kAppend };

// A link in its place is not followed. The errors name the file and the system's reason: "cannot
// write: No space left on device".
Status write_file(const std::string& path, std::string_view text,
                  WriteMode mode = WriteMode::kReplace);

// A new empty file beside `path`, under a name that nobody can foresee and that is no link. The
// caller fills it and gives it the name `path`, or removes it.
Result<std::string> make_fresh_file(const std::string& path);

// Writes a fresh file and gives it the name PATH, so that a reader sees the old text or the new
// one.
Status replace_file(const std::string& path, std::string_view text);

}  // namespace cupel::base
