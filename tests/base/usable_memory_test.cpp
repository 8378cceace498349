// usable_memory: more than this process has, and no more than a machine may have.
#include "base/usable_memory.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include "base/budget.hpp"

namespace cupel::base {
namespace {

TEST(UsableMemory, IsBetweenWhatIsUsedAndWhatThereIs) {
  const auto pages = static_cast<std::uint64_t>(::sysconf(_SC_PHYS_PAGES));
  const auto machine = pages * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
  EXPECT_GT(usable_memory(), resident_bytes());
  EXPECT_LE(usable_memory(), machine + resident_bytes());
}

}  // namespace
}  // namespace cupel::base
