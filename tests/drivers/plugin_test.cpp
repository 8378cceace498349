// Plug-ins: one that cupel does not list is found and loaded; one of another version, one without
// an entry and one that is not there are errors that say what to do. The folders of each are of
// tests/drivers/CMakeLists.txt.
#include "databases/drivers/plugin.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <string>

namespace {

using namespace cupel::drivers;

// As of a user who has set CUPEL_PLUGINS. all_drivers() looks once in a process, so the folder of
// the toy is set before.
class Plugins : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    setenv("CUPEL_PLUGINS", "/nowhere::" TOY_FOLDER ":" OLD_FOLDER, 1);
    static_cast<void>(all_drivers());
  }
};

std::string error_of(const std::string& url, const std::string& isolation = "") {
  const auto opened = open(url, {.isolation = isolation});
  return opened.ok() ? "" : opened.error().to_string();
}

TEST_F(Plugins, OneThatIsNotListedIsADriverLikeAny) {
  const auto drivers = all_drivers();
  const auto toy = std::find_if(drivers.begin(), drivers.end(),
                                [](const DriverInfo& driver) { return driver.name == "toy"; });
  ASSERT_NE(toy, drivers.end());
  EXPECT_TRUE(toy->available);
  EXPECT_EQ(error_of("toy:x"), "the toy was asked for toy:x at playful");
  EXPECT_EQ(error_of("toy:x", "Serious"), "the toy was asked for toy:x at serious");
  EXPECT_NE(error_of("toy:x", "sad").find("playful or serious"), std::string::npos)
      << error_of("toy:x", "sad");
}

TEST_F(Plugins, OneOfAnotherVersionIsRefused) {
  const auto old = load_plugin("old");
  ASSERT_FALSE(old.ok());
  EXPECT_NE(old.error().message.find("this driver is of cupel 0.0.1, and the program of cupel"),
            std::string::npos)
      << old.error().message;
  EXPECT_EQ(error_of("old:x"), old.error().to_string());
  const auto drivers = all_drivers();
  EXPECT_TRUE(std::none_of(drivers.begin(), drivers.end(),
                           [](const DriverInfo& driver) { return driver.name == "old"; }));
}

TEST_F(Plugins, OneWithoutAnEntryIsRefused) {
  const auto empty = load_plugin("empty");
  ASSERT_FALSE(empty.ok());
  EXPECT_NE(empty.error().message.find("another generation of cupel"), std::string::npos)
      << empty.error().message;
  EXPECT_EQ(error_of("empty:x"), empty.error().to_string());
}

TEST_F(Plugins, OneThatIsNotThereIsNamedWithItsPackage) {
  const auto driver = usable("postgres");  // CUPEL_PLUGINS does not have it
  ASSERT_FALSE(driver.ok());
  EXPECT_NE(driver.error().message.find("Install the package cupel-postgres"), std::string::npos)
      << driver.error().message;
  EXPECT_EQ(error_of("postgres://127.0.0.1/x"), driver.error().message);
}

}  // namespace
