// Which shared libraries this program can load: those that it looks for at the first call of one of
// their functions (lazy_library.cpp).
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace cupel::base {

struct LazyLibraryState {
  std::string file;  // "libpq.so.5"
  std::string why;   // it cannot be loaded; empty: it can
};

// Those whose file has `part` in its name, by name. Loads each. Empty in a build that loads its
// libraries at the start.
std::vector<LazyLibraryState> lazy_libraries(std::string_view part = {});

}  // namespace cupel::base
