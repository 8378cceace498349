// read_file: a small file at once, and the reason if that fails.
//
// Not by the iterators of a std::ifstream, which throw where reading fails: of a folder, of a bad
// disk, and of /proc's file of a process that ends at that moment.
#pragma once

#include <string>

#include "base/result.hpp"

namespace cupel::base {

// The errors name the file and the system's reason: "cannot read: Is a directory".
Result<std::string> read_file(const std::string& path);

}  // namespace cupel::base
