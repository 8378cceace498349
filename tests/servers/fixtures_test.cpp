// The recipes of examples/fixtures, as their README runs them: each wrong shop fails within ten
// iterations and cupel names the lost update. The shop that locks the row passes.
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "base/process.hpp"
#include "servers/compilers.hpp"
#include "source_dir.hpp"
#include "support/scratch_folder.hpp"

namespace cupel {
namespace {

using base::Process;
using base::Seconds;
using base::Stream;

const std::string kFixtures = CUPEL_SOURCE_DIR "/examples/fixtures/";
const std::string kShopTables = "psql -qXf " + kFixtures + "shop.sql";
// Debian's own Python, for which its packages are.
const std::string kPython = "/usr/bin/python3";

using Environment = std::vector<std::pair<std::string, std::string>>;

struct Recipe {
  std::string folder, setup;
  std::vector<std::string> command;
  Environment environment = {};
};

struct Ran {
  int code = -1;
  std::string output = {};
};

Ran run(const Recipe& recipe, const std::string& iterations, bool fixed) {
  const test::ScratchFolder scratch;
  std::vector<std::string> command = {CUPEL_BINARY,
                                      "mock",
                                      "test",
                                      "--engine",
                                      "postgres",
                                      "--level",
                                      "causal",
                                      "--setup",
                                      recipe.setup,
                                      "--iterations",
                                      iterations,
                                      "--history",
                                      scratch.path("history.jsonl"),
                                      "--"};
  command.insert(command.end(), recipe.command.begin(), recipe.command.end());
  auto environment = recipe.environment;
  environment.emplace_back("PYTHONDONTWRITEBYTECODE", "1");
  environment.emplace_back("SHOP_FIXED", fixed ? "1" : "");
  auto process = Process::start({.arguments = command,
                                 .environment = environment,
                                 .directory = kFixtures + recipe.folder,
                                 .output = Stream::pipe(),
                                 .errors = Stream::output()});
  if (!process.ok()) return {.output = process.error().to_string()};
  Ran ran{.output = process->read_all(Seconds(240)).value_or("timeout")};
  const auto status = process->wait(Seconds(10));
  if (status && status->signal == 0) ran.code = status->code;
  return ran;
}

void expect_found_and_fixed(const Recipe& recipe) {
  const auto wrong = run(recipe, "10", false);
  EXPECT_EQ(wrong.code, 1) << wrong.output;
  EXPECT_NE(wrong.output.find("failed: iteration"), std::string::npos) << wrong.output;
  EXPECT_NE(wrong.output.find("lost-update (G-single): An update was lost."), std::string::npos)
      << wrong.output;
  const auto fixed = run(recipe, "3", true);
  EXPECT_EQ(fixed.code, 0) << fixed.output;
  EXPECT_NE(fixed.output.find("passed: 3 iterations"), std::string::npos) << fixed.output;
}

TEST(Fixtures, Pytest) {
  expect_found_and_fixed(
      {"pytest", kShopTables, {kPython, "-m", "pytest", "-p", "no:cacheprovider"}});
}

TEST(Fixtures, Django) {
  expect_found_and_fixed({"django",
                          kPython + " manage.py migrate -v0",
                          {kPython, "manage.py", "test", "--keepdb", "--noinput"}});
}

TEST(Fixtures, Rspec) {
  expect_found_and_fixed({"rspec", kShopTables, {"/usr/bin/rspec", "shop_spec.rb"}});
}

TEST(Fixtures, Jest) {
  const test::ScratchFolder scratch;
  const std::string packages = CUPEL_NODE_PATH;
  expect_found_and_fixed({"jest",
                          kShopTables,
                          {packages + "/.bin/jest", "--cacheDirectory=" + scratch.path()},
                          {{"NODE_PATH", packages}}});
}

TEST(Fixtures, Junit) {
  const test::ScratchFolder scratch;
  std::string classes = scratch.path();
  for (const auto* library :
       {"postgresql", "junit-jupiter-api", "junit-jupiter-engine", "junit-platform-commons",
        "junit-platform-engine", "junit-platform-launcher", "junit-platform-console",
        "junit-platform-reporting", "opentest4j", "opentest4j-reporting-events",
        "opentest4j-reporting-schema", "apiguardian-api", "picocli", "univocity-parsers"})
    classes += std::string(":/usr/share/java/") + library + ".jar";
  auto command = test::java_compiler();
  ASSERT_FALSE(command.empty()) << "no javac and no ecj";
  command.insert(command.end(), {"-cp", classes, "-d", scratch.path(), "Shop.java",
                                 "Customers.java", "ShopTest.java"});
  auto compiler = Process::start(
      {.arguments = command, .directory = kFixtures + "junit", .errors = Stream::inherited()});
  ASSERT_TRUE(compiler.ok()) << compiler.error().to_string();
  const auto compiled = compiler->wait(Seconds(200));
  ASSERT_TRUE(compiled && compiled->well());
  expect_found_and_fixed({"junit",
                          kShopTables,
                          {"java", "-cp", classes, "org.junit.platform.console.ConsoleLauncher",
                           "--select-class=ShopTest", "--disable-banner"}});
}

}  // namespace
}  // namespace cupel
