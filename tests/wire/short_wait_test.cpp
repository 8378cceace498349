// ShortWait: how often it looks. How long it waits depends on the machine.
#include "mock/wire/short_wait.hpp"

#include <gtest/gtest.h>

namespace cupel::wire {
namespace {

// In vain: the waits after it look once each.
TEST(ShortWait, LooksLessOftenAfterItWasInVain) {
  ShortWait wait;
  int looks = 0;
  const auto look = [&](bool came) {
    looks = 0;
    return wait.until([&] {
      ++looks;
      return came;
    });
  };
  EXPECT_TRUE(look(true));
  EXPECT_EQ(looks, 1);
  for (const int skipped : {1, 3, 7, 15, 31, 63, 63}) {
    EXPECT_FALSE(look(false));
    for (int i = 0; i < skipped; ++i) {
      EXPECT_EQ(look(i % 2 == 0), i % 2 == 0);
      EXPECT_EQ(looks, 1);
    }
  }
  EXPECT_TRUE(look(true));
  EXPECT_FALSE(look(false));
  look(false);
  EXPECT_EQ(looks, 1);
}

}  // namespace
}  // namespace cupel::wire
