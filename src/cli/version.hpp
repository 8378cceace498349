// Version: what `cupel --version` prints. Generated when the program is built
// (cmake/write_version.cmake), so that a new commit compiles one small file again.
#pragma once

#include <string_view>

namespace cupel::cli {

std::string_view version();     // "0.1.0"
std::string_view commit();      // "1a2b3c4d5e6f", with "-dirty" if files differ from it; "unknown"
std::string_view build_type();  // "Release", or "unknown"

}  // namespace cupel::cli
