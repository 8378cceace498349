// Style as a test: layers, file openings, glossary words, public headers. Each
// check is first shown an injected mistake, because a check that finds nothing
// may be a check that looks at nothing.
#include <gtest/gtest.h>

#include <filesystem>
#include <regex>

#include "source_dir.hpp"
#include "style/source_tree.hpp"

namespace cupel::style {
namespace {

const std::string kRepository = CUPEL_SOURCE_DIR;

std::string architecture() {
  return read_text(kRepository + "/docs/internals/architecture.md");
}

std::string joined(const Findings& findings) {
  std::string text;
  for (const auto& finding : findings) text += "\n  " + finding;
  return text;
}

// `least`: fewer sources, and the test looks at nothing.
void expect_none(const Forbidden& rule, const std::vector<SourceFile>& sources, std::size_t least) {
  ASSERT_GE(sources.size(), least);
  const auto findings = check_forbidden(rule, sources);
  EXPECT_TRUE(findings.empty()) << joined(findings);
}

constexpr const char* kSmallTable =
    "Words before.\n\n"
    "| folder | may include | why |\n"
    "|---|---|---|\n"
    "| base | std | lowest |\n"
    "| `order` | base, solver | no level names |\n"
    "| cli | anything | |\n"
    "\n"
    "| other | table |\n|---|---|\n| levels | nothing |\n";

// base, cli, and order with these arguments.
std::vector<SourceFile> small_lists(const std::string& order) {
  return {{"src/base/CMakeLists.txt", "cupel_layer(base SOURCES a.cpp)\n"},
          {"src/cli/CMakeLists.txt", "cupel_layer(cli USES order base)\n"},
          {"src/order/CMakeLists.txt", "cupel_layer(order " + order + ")\n"}};
}

TEST(LayerTable, IsReadFromMarkdown) {
  const auto table = parse_layer_table(kSmallTable);
  ASSERT_EQ(table.size(), 3u);
  EXPECT_EQ(table.at("order"), (std::set<std::string>{"base", "order", "solver"}));
}

TEST(LayerCheck, FindsAnInjectedInclude) {
  const auto table = parse_layer_table(kSmallTable);
  const std::vector<SourceFile> good = {
      {"src/base/ids.hpp", "// Ids.\n#include <vector>\n"},
      {"src/order/clock.cpp",
       "// Clocks.\n#include \"base/ids.hpp\"\n#include \"order/clock.hpp\"\n"},
      {"src/cli/main.cpp", "// Main.\n#include \"order/clock.hpp\"\n"}};
  EXPECT_TRUE(check_includes(table, good).empty()) << joined(check_includes(table, good));

  auto bad = good;
  bad[1].text += "  #  include \"levels/level.hpp\"\n";
  const auto findings = check_includes(table, bad);
  ASSERT_EQ(findings.size(), 1u) << joined(findings);
  EXPECT_EQ(
      findings[0],
      "src/order/clock.cpp:4: src/order may not include levels/ (docs/internals/architecture.md)");
}

TEST(LayerCheck, FindsAFolderWithoutARowAndARowWithoutAFolder) {
  const auto table = parse_layer_table(kSmallTable);
  const auto findings = check_includes(
      table, {{"src/base/a.hpp", ""}, {"src/cli/a.cpp", ""}, {"src/extra/a.cpp", ""}});
  EXPECT_EQ(findings.size(), 2u) << joined(findings);
}

TEST(LayerCheck, FindsAnInjectedLink) {
  const auto table = parse_layer_table(kSmallTable);
  EXPECT_TRUE(check_links(table, small_lists("USES base"), {}).empty());
  const auto findings =
      check_links(table, small_lists("\n SOURCES a.cpp\n USES base cli\n LIBRARIES x"), {});
  ASSERT_EQ(findings.size(), 1u) << joined(findings);
  EXPECT_EQ(findings[0],
            "src/order/CMakeLists.txt:1: order may not link cli (docs/internals/architecture.md)");
  EXPECT_EQ(check_links(
                table, small_lists("USES base)\ntarget_link_libraries(cupel_order x cupel_cli"), {})
                .size(),
            1u);
}

TEST(LayerCheck, FindsAMissingLink) {
  const auto table = parse_layer_table(kSmallTable);
  const std::vector<SourceFile> sources = {
      {"src/order/deep/clock.cpp",
       "// Clocks.\n#include \"base/ids.hpp\"\n#include \"order/a.hpp\"\n"},
      {"src/order/a.cpp", "// A.\n#include \"base/ids.hpp\"\n"}};
  EXPECT_TRUE(check_links(table, small_lists("USES base"), sources).empty());
  const auto findings = check_links(table, small_lists("SOURCES a.cpp"), sources);
  ASSERT_EQ(findings.size(), 1u) << joined(findings);
  EXPECT_EQ(findings[0],
            "src/order/deep/clock.cpp:2: order includes base and does not link it "
            "(src/order/CMakeLists.txt)");
  const auto later = small_lists(")\ntarget_link_libraries(cupel_order PUBLIC cupel_base");
  EXPECT_TRUE(check_links(table, later, sources).empty());
}

TEST(LayerCheck, DistinguishesTheRowsOfSubfolders) {
  const auto table = parse_layer_table(
      "| folder | may include |\n|---|---|\n| base | std |\n| explain/why | base |\n"
      "| explain/shrink | base, explain/why |\n");
  const std::vector<SourceFile> good = {
      {"src/base/ids.hpp", "// Ids.\n"},
      {"src/explain/why/a.cpp", "// A.\n#include \"base/ids.hpp\"\n"},
      {"src/explain/shrink/b.cpp", "// B.\n#include \"explain/why/a.hpp\"\n"}};
  EXPECT_TRUE(check_includes(table, good).empty()) << joined(check_includes(table, good));
  auto bad = good;
  bad[1].text += "#include \"explain/shrink/b.hpp\"\n";
  EXPECT_EQ(check_includes(table, bad).size(), 1u) << joined(check_includes(table, bad));

  const auto links = [&](const std::string& why, const std::string& shrink) {
    return check_links(
        table,
        {{"src/base/CMakeLists.txt", "cupel_layer(base)"},
         {"src/explain/why/CMakeLists.txt", "cupel_layer(explain_why USES base " + why + ")"},
         {"src/explain/shrink/CMakeLists.txt", "cupel_layer(explain_shrink USES " + shrink + ")"}},
        good);
  };
  EXPECT_TRUE(links("", "explain_why").empty()) << joined(links("", "explain_why"));
  EXPECT_EQ(links("explain_shrink", "explain_why").size(), 1u);
  EXPECT_EQ(links("", "base").size(), 1u);
}

TEST(OpeningCheck, FindsAnInjectedBareFile) {
  EXPECT_EQ(check_openings({{"src/a.cpp", "#include <vector>\n"}}).size(), 1u);
  EXPECT_TRUE(check_openings({{"src/a.cpp", "// A.\n#include <vector>\n"}}).empty());
}

TEST(WordCheck, FindsInjectedWords) {
  const std::set<std::string> banned = parse_banned_words("Not in identifiers: `trace`, `foo`.\n");
  EXPECT_EQ(banned, (std::set<std::string>{"foo", "trace"}));
  EXPECT_EQ(check_words(banned, {{"a", "int edges1; Solver2 s; int known_edges2;"}}).size(), 3u);
  EXPECT_EQ(check_words(banned, {{"a", "int trace; int read_trace; TraceReader r;"}}).size(), 3u);
  EXPECT_TRUE(
      check_words(banned, {{"a",
                            "int log2, t1, x2, uint32, traced, ZSTD_compress2; // trace edges1\n"
                            "auto s = \"trace\"; char c = '\"'; auto t = \"foo\";"}})
          .empty());
}

TEST(PublicDocsCheck, FindsAnInjectedBareFunction) {
  EXPECT_EQ(check_public_docs({{"a", "// A.\n\nint check(int x);\n"}}).size(), 1u);
  EXPECT_EQ(check_public_docs({{"a", "// A.\n\nstruct Options {\n  int a;\n};\n"}}).size(), 1u);
  EXPECT_TRUE(check_public_docs({{"a",
                                  "// A.\nclass Forward;\n\n// Checks x.\nint check(int x);\n"
                                  "int twice(int x);  // x + x\n"
                                  "// Any.\ntemplate <typename T>\nT any(T t);\n"}})
                  .empty());
}

// Abseil's tables are in an undefined state after a failed allocation.
const Forbidden kBareHashTables = {R"(absl::flat_hash|absl/container/flat_hash)",
                                   {"src/base/hash_table.hpp"},
                                   "base::HashMap and HashSet survive a failing allocation"};

const Forbidden kSleeps = {R"(\b(sleep_for|sleep_until|usleep|nanosleep|sleep)\s*\()",
                           {"tests/support/polling.hpp"},
                           "wait for an event; without one, tests/support/polling.hpp"};

// A new level is a row of src/engine/levels/spec.hpp: nobody else compares with one.
const Forbidden kSingleLevels = {
    R"(([=!<>]=|[<>])\s*(levels::)?Level::k|\bLevel::k\w+\s*([=!]=|[<>])|\bcase (levels::)?Level::k)",
    {},
    "ask the level a named question (src/engine/levels/level.hpp)"};

TEST(ForbiddenCheck, FindsInjectedTestsForOneLevel) {
  const auto count = [](const std::string& line) {
    return check_forbidden(kSingleLevels, {{"src/report/a.cpp", "// A file.\n" + line + "\n"}})
        .size();
  };
  EXPECT_EQ(count("if (level == Level::kPrefix) return;"), 1u);
  EXPECT_EQ(count("split_(level != levels::Level::kPrefix),"), 1u);
  EXPECT_EQ(count("if (levels::Level::kPrefix == level) return;"), 1u);
  EXPECT_EQ(count("return level <= Level::kCausal;"), 1u);
  EXPECT_EQ(count("      case Level::kPrefix:"), 1u);
  EXPECT_EQ(count("if (levels::writers_exclude(level)) return;  // level == Level::kPrefix"), 0u);
  EXPECT_EQ(count("{.weakest = {Level::kPrefix, Level::kLinearizable}},"), 0u);
}

TEST(Repository, AsksTheTableOfLevels) {
  const auto sources = read_sources(kRepository, {"src/engine/explain", "src/report",
                                                  "src/engine/analysis", "src/run", "src/apps"});
  expect_none(kSingleLevels, sources, 80);
}

// `analysis` is the one place where violations are explained; the others show what it found.
const Forbidden kExplanations = {
    R"(\bexplain::explain\()",
    {},
    "take the explanation from analysis (src/engine/analysis/explanations.hpp)"};

TEST(Repository, ExplainsInTheAnalysis) {
  EXPECT_EQ(check_forbidden(kExplanations, {{"a", "auto a = explain::explain(history, at, one);"}})
                .size(),
            1u);
  EXPECT_EQ(
      check_forbidden(kExplanations, {{"a", "crdt::explain(a); explain::Anomaly one;"}}).size(),
      0u);
  const auto sources = read_sources(
      kRepository, {"src/report", "src/api", "src/run", "src/mock/mocktest", "src/apps"});
  expect_none(kExplanations, sources, 80);
}

TEST(ForbiddenCheck, FindsInjectedHashTablesAndSleeps) {
  const auto count = [](const Forbidden& rule, const std::string& path, const std::string& line) {
    return check_forbidden(rule, {{path, "// A file.\n" + line + "\n"}}).size();
  };
  EXPECT_EQ(count(kBareHashTables, "src/a.cpp", "absl::flat_hash_set<int> all;"), 1u);
  EXPECT_EQ(count(kBareHashTables, "src/a.cpp", "base::HashSet<int> all;  // absl::flat_hash_set"),
            0u);
  EXPECT_EQ(count(kSleeps, "tests/a.cpp", "std::this_thread::sleep_for(10ms);"), 1u);
  EXPECT_EQ(count(kSleeps, "tests/a.cpp", "::sleep(1);"), 1u);
  EXPECT_EQ(count(kSleeps, "tests/a.cpp", "start(\"sleep(1)\"); asleep(1);"), 0u);
  EXPECT_EQ(count(kSleeps, "tests/support/polling.hpp", "std::this_thread::sleep_for(10ms);"), 0u);
}

TEST(Repository, GuardsItsHashTables) {
  expect_none(kBareHashTables, read_sources(kRepository, {"src"}), 200);
}

TEST(Repository, WaitsForEventsInTests) {
  expect_none(kSleeps, read_sources(kRepository, {"tests"}), 100);
}

TEST(Repository, KeepsItsLayers) {
  const auto table = parse_layer_table(architecture());
  ASSERT_GE(table.size(), 10u);
  const auto sources = read_sources(kRepository, {"src"});
  ASSERT_GE(sources.size(), 10u);
  auto findings = check_includes(table, sources);
  const auto lists = read_cmake_lists(kRepository);
  ASSERT_GE(lists.size(), 20u);
  const auto links = check_links(table, lists, sources);
  findings.insert(findings.end(), links.begin(), links.end());
  EXPECT_TRUE(findings.empty()) << joined(findings);
}

TEST(Repository, OpensEveryFileWithItsPurpose) {
  const auto findings =
      check_openings(read_sources(kRepository, {"src", "include", "tests", "bench", "fuzz"}));
  EXPECT_TRUE(findings.empty()) << joined(findings);
}

TEST(Repository, KeepsToTheGlossary) {
  const auto banned = parse_banned_words(architecture());
  ASSERT_FALSE(banned.empty());
  const auto findings = check_words(banned, read_sources(kRepository, {"src", "include"}));
  EXPECT_TRUE(findings.empty()) << joined(findings);
}

// What is wrong with the version in CMakeLists.txt, by the CHANGELOG; empty: nothing.
std::string wrong_version(const std::string& cmake, const std::string& changelog) {
  std::smatch version, suffix, released;
  if (!std::regex_search(cmake, version, std::regex(R"(project\(cupel VERSION ([0-9.]+))")) ||
      !std::regex_search(cmake, suffix,
                         std::regex(R"(set\(CUPEL_VERSION \$\{PROJECT_VERSION\}(-dev)?\))")) ||
      !std::regex_search(changelog, released, std::regex(R"(\n## \[([0-9.]+)\])"))) {
    return "no version found";
  }
  const auto before = released.prefix().str();
  const bool changed = before.find("\n- ") != std::string::npos;
  const bool next = version[1] != released[1] && suffix[1].matched;
  const bool same = version[1] == released[1] && !suffix[1].matched;
  if (changed && !next) return "there are unreleased changes, so it is the next version with -dev";
  if (!changed && !same) return "nothing changed since " + released[1].str() + ", so that is it";
  return {};
}

TEST(VersionCheck, FindsAVersionThatTheChangelogContradicts) {
  const std::string released =
      "project(cupel VERSION 0.1.0 X)\nset(CUPEL_VERSION ${PROJECT_VERSION})";
  const std::string later =
      "project(cupel VERSION 0.2.0 X)\nset(CUPEL_VERSION ${PROJECT_VERSION}-dev)";
  const std::string cut = "# Changelog\n\n## [0.1.0] - today\n\n- A.\n";
  const std::string changed =
      "# Changelog\n\n## [Unreleased]\n\n- B.\n\n## [0.1.0] - then\n\n- A.\n";
  EXPECT_EQ(wrong_version(released, cut), "");
  EXPECT_EQ(wrong_version(later, changed), "");
  EXPECT_NE(wrong_version(released, changed), "");
  EXPECT_NE(wrong_version(later, cut), "");
  EXPECT_NE(wrong_version("", changed), "");
}

TEST(Repository, CallsItselfByTheVersionOfItsChangelog) {
  EXPECT_EQ(wrong_version(read_text(kRepository + "/CMakeLists.txt"),
                          read_text(kRepository + "/CHANGELOG.md")),
            "");
}

// The packages of other languages have the version of CMakeLists.txt, with "-dev" as each spells
// it.
TEST(Repository, PackagesHaveOneVersion) {
  const auto found = [](const std::string& file, const std::string& pattern) {
    const auto text = read_text(kRepository + file);
    std::smatch match;
    return std::regex_search(text, match, std::regex(pattern)) ? match[1].str() : "none";
  };
  const auto version = found("/CMakeLists.txt", R"(project\(cupel VERSION ([0-9.]+))");
  const bool dev =
      found("/CMakeLists.txt", R"(set\(CUPEL_VERSION \$\{PROJECT_VERSION\}(-dev)?\))") == "-dev";
  EXPECT_EQ(found("/node/package.json", R"R("version": "([^"]+)")R"),
            version + (dev ? "-dev" : ""));
  EXPECT_EQ(found("/python/pyproject.toml", R"R(\nversion = "([^"]+)")R"),
            version + (dev ? ".dev0" : ""));
}

TEST(Repository, DocumentsItsPublicHeaders) {
  const auto findings = check_public_docs(read_sources(kRepository, {"include"}));
  EXPECT_TRUE(findings.empty()) << joined(findings);
}

}  // namespace
}  // namespace cupel::style
