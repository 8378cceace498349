// Version: what `cupel --version` prints. Generated when the program is built
// (cmake/write_version.cmake), so that a new commit compiles one small file again.
#pragma once

#include <string_view>

namespace cupel::apps {

std::string_view version();     // "0.2.0", "0.2.0-dev" before it
std::string_view commit();      // "1a2b3c4d5e6f", with "-dirty" if files differ from it; "unknown"
std::string_view build_type();  // "RelWithDebInfo", or "unknown"

}  // namespace cupel::apps
