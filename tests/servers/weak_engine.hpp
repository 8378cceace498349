// A mock store that behaves like a database in one place: every transaction sees what was committed
// last.
#pragma once

#include "mock/store.hpp"

namespace cupel::test {

inline mock::Options in_one_place() {
  mock::Options options;
  options.level = mock::Level::kStrongSessionSerializable;
  options.choose = [](std::size_t allowed) { return allowed - 1; };
  return options;
}

}  // namespace cupel::test
