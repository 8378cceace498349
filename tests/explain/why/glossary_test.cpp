// The glossary knows every name that can come out of explain, and agrees with
// the levels about which are forbidden where.
#include "engine/explain/why/glossary.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <map>
#include <regex>
#include <sstream>
#include <string>

#include "engine/levels/derivation.hpp"
#include "source_dir.hpp"

namespace cupel::explain {
namespace {

using levels::Level;

const AnomalyEntry& entry(std::string_view name) {
  const auto all = anomalies();
  const auto it =
      std::find_if(all.begin(), all.end(), [&](const auto& e) { return e.name == name; });
  if (it == all.end()) throw std::invalid_argument(std::string(name));
  return *it;
}

TEST(Glossary, HasAPageForEveryLevel) {
  for (const Level level : levels::all_levels()) {
    EXPECT_NE(describe(levels::name(level)), "") << levels::name(level);
    EXPECT_EQ(describe(levels::short_name(level)), describe(levels::name(level)));
  }
}

// Names from papers, from manuals and from Adya, Elle and Jepsen.
constexpr const char* kNamesInUse[] = {"read your writes",
                                       "monotonic reads",
                                       "monotonic writes",
                                       "writes follow reads",
                                       "PRAM",
                                       "sequential consistency",
                                       "external consistency",
                                       "1SR",
                                       "PSI",
                                       "parallel snapshot isolation",
                                       "MAV",
                                       "monotonic atomic view",
                                       "cursor stability",
                                       "update serializability",
                                       "prefix consistency",
                                       "repeatable read",
                                       "rr",
                                       "SSI",
                                       "serializable snapshot isolation",
                                       "SI",
                                       "RC",
                                       "read committed",
                                       "PL-1",
                                       "PL-2",
                                       "PL-2+",
                                       "PL-2.99",
                                       "PL-3",
                                       "consistent view",
                                       "G0",
                                       "G1a",
                                       "G1b",
                                       "G1c",
                                       "G2",
                                       "G2-item",
                                       "G-single",
                                       "G-single-item",
                                       "G-cursor",
                                       "G-nonadjacent",
                                       "OTV",
                                       "PMP",
                                       "IMP",
                                       "G-MSR",
                                       "G-SIb",
                                       "CM",
                                       "CCv",
                                       "CC",
                                       "causal memory",
                                       "causal convergence",
                                       "cyclic-versions",
                                       "predicate-read-miss",
                                       "dirty update",
                                       "dirty read",
                                       "fuzzy read",
                                       "phantom",
                                       "read skew",
                                       "write skew",
                                       "internal",
                                       "opacity"};

TEST(Glossary, KnowsTheNamesThatPeopleUse) {
  EXPECT_EQ(std::size(kNamesInUse), 58u);
  for (const std::string name : kNamesInUse) {
    EXPECT_NE(describe(name), "") << name;
    const auto asked = level_asked(name);
    ASSERT_TRUE(asked) << name;
    EXPECT_TRUE(asked->level || asked->nearest) << name;
    // However it is spelled.
    auto other = name;
    for (char& c : other) c = c == ' ' ? '_' : c;
    EXPECT_EQ(level_asked(other)->level, asked->level) << name;
    EXPECT_EQ(level_asked(other)->nearest, asked->nearest) << name;
  }
}

TEST(Glossary, SaysWhichLevelANameAsksFor) {
  const auto level = [](std::string_view name) { return level_asked(name)->level; };
  const auto nearest = [](std::string_view name) {
    EXPECT_EQ(level_asked(name)->level, std::nullopt) << name;
    return level_asked(name)->nearest;
  };
  EXPECT_EQ(level("SSI"), Level::kSerializable);
  EXPECT_EQ(level("ssi"), Level::kStrongSnapshotIsolation);
  EXPECT_EQ(level("serializable snapshot isolation"), Level::kSerializable);
  EXPECT_EQ(level("1SR"), Level::kSerializable);
  EXPECT_EQ(level("External Consistency"), Level::kStrictSerializable);
  EXPECT_EQ(level("SI"), Level::kSnapshotIsolation);
  EXPECT_EQ(nearest("rr"), Level::kSerializable);
  EXPECT_EQ(nearest("read your writes"), Level::kReadAtomic);
  EXPECT_EQ(nearest("PRAM"), Level::kCausal);
  EXPECT_EQ(nearest("sequential"), Level::kStrongSessionSerializable);
  EXPECT_EQ(nearest("PSI"), Level::kStrongSessionSnapshotIsolation);
  EXPECT_EQ(nearest("MAV"), Level::kReadCommitted);
  EXPECT_EQ(nearest("cursor stability"), Level::kSnapshotIsolation);
  EXPECT_EQ(nearest("G-single-item"), Level::kSnapshotIsolation);
  EXPECT_FALSE(level_asked("PRAM")->anomaly);
  EXPECT_EQ(nearest("write skew"), Level::kSerializable);
  EXPECT_TRUE(level_asked("write skew")->anomaly);
  EXPECT_FALSE(level_asked("no such name"));
  EXPECT_NE(describe("PSI").find("Nearest level"), std::string::npos) << describe("PSI");
  EXPECT_NE(describe("SSI").find("serializable"), std::string::npos);
}

TEST(Glossary, HasAPageForEveryName) {
  for (const char* name : {"thin-air-read",
                           "aborted-read",
                           "future-read",
                           "not-my-last-write",
                           "not-my-own-write",
                           "intermediate-read",
                           "non-repeatable-read",
                           "session-guarantee-violation",
                           "non-monotonic-read",
                           "fractured-read",
                           "causality-violation",
                           "long-fork",
                           "lost-update",
                           "write-skew",
                           "G0",
                           "G1a",
                           "G1b",
                           "G1c",
                           "G-single",
                           "G-nonadjacent",
                           "G2-item"}) {
    EXPECT_NE(describe(name), "") << name;
  }
  for (const char* base : {"G0", "G1c", "G-single", "G-nonadjacent", "G2-item"}) {
    EXPECT_NE(describe(std::string(base) + "-process"), "");
    EXPECT_NE(describe(std::string(base) + "-realtime"), "");
  }
  for (int kind = 0; kind <= static_cast<int>(levels::InternalKind::kFailedCompareRead); ++kind) {
    const auto internal = static_cast<levels::InternalKind>(kind);
    const auto by = forbidding(entry(levels::name(internal)));
    EXPECT_NE(std::find(by.begin(), by.end(), levels::forbidden_by(internal)), by.end())
        << levels::name(internal);
  }
}

TEST(Glossary, IsFoundInAnySpelling) {
  EXPECT_EQ(describe("Lost Update"), describe("lost-update"));
  EXPECT_EQ(describe("g_single"), describe("G-single"));
  EXPECT_EQ(describe("best effort"), "");
}

TEST(Glossary, KnowsWhatPeopleAskFor) {
  const std::pair<const char*, const char*> asked[] = {
      {"Dirty Read", "aborted-read\n"},
      {"dirty_write", "G0\n"},
      {"phantom", "phantom\n"},
      {"PHANTOM-READ", "phantom\n"},
      {"read skew", "fractured-read\n"},
      {"stale read", "G-single-realtime\n"},
      {"nonrepeatable read", "non-repeatable-read\n"},
      {"fuzzy-read", "non-repeatable-read\n"},
      {"PL-1", "PL-1\n"},
      {"pl 2", "PL-2\n"},
      {"PL_2.99", "repeatable-read\n"},
      {"PL-3", "serializable (ser)\n"},
      {"PL-SI", "snapshot-isolation (si)\n"},
      {"G1", "G1\n"},
      {"g2", "G2\n"},
      {"Repeatable Read", "repeatable-read\n"}};
  for (const auto& [name, first] : asked) EXPECT_TRUE(describe(name).starts_with(first)) << name;
  for (const auto& term : terms()) {
    for (const auto other : term.see) EXPECT_NE(describe(other), "") << term.name << " " << other;
  }
  EXPECT_NE(describe("snapshot-isolation").find("Forbids some of\n"), std::string::npos);
}

// Names of the literature and of other checkers: each has a page, be it a level that cupel decides
// or one that it does not.
TEST(Glossary, HasAPageForTheNamesOfTheLiterature) {
  for (const char* name : {"read your writes",
                           "monotonic reads",
                           "monotonic writes",
                           "writes follow reads",
                           "PRAM",
                           "sequential consistency",
                           "external consistency",
                           "1SR",
                           "PSI",
                           "parallel snapshot isolation",
                           "MAV",
                           "monotonic atomic view",
                           "cursor stability",
                           "update serializability",
                           "prefix consistency",
                           "repeatable read",
                           "rr",
                           "SSI",
                           "serializable snapshot isolation",
                           "SI",
                           "RC",
                           "read committed",
                           "PL-1",
                           "PL-2",
                           "PL-2+",
                           "PL-2.99",
                           "PL-3",
                           "consistent view",
                           "G0",
                           "G1a",
                           "G1b",
                           "G1c",
                           "G2",
                           "G2-item",
                           "G-single",
                           "G-single-item",
                           "G-cursor",
                           "G-nonadjacent",
                           "OTV",
                           "PMP",
                           "IMP",
                           "G-MSR",
                           "G-SIb",
                           "CM",
                           "CCv",
                           "CC",
                           "causal memory",
                           "causal convergence",
                           "cyclic-versions",
                           "predicate-read-miss",
                           "dirty update",
                           "dirty read",
                           "fuzzy read",
                           "phantom",
                           "read skew",
                           "write skew",
                           "internal",
                           "opacity"}) {
    EXPECT_NE(describe(name), "") << name;
    EXPECT_NE(describe_json(name), "") << name;
  }
}

// A level that cupel does not decide says so, and how it relates to those that cupel does.
TEST(Glossary, SaysOfOtherLevelsThatTheyAreNotChecked) {
  const std::pair<const char*, const char*> related[] = {
      {"read your writes", "read-atomic and linearizable imply it"},
      {"monotonic reads", "causal and linearizable imply it"},
      {"monotonic writes", "causal implies it"},
      {"writes follow reads", "causal implies it"},
      {"PRAM", "causal implies it"},
      {"PSI", "strong-session-snapshot-isolation implies it"},
      {"cursor stability", "snapshot-isolation and serializable imply it"},
      {"PL-2+", "snapshot-isolation and serializable imply it"},
      {"PL-3U", "serializable implies it"},
      {"CM", "strong-session-serializable implies it"},
      {"opacity", "It implies strict-serializable"}};
  for (const auto& [name, relation] : related) {
    auto page = describe(name);
    std::replace(page.begin(), page.end(), '\n', ' ');
    page = std::regex_replace(page, std::regex(" +"), " ");
    EXPECT_NE(page.find(relation), std::string::npos) << page;
    EXPECT_NE(page.find("cupel does not check it"), std::string::npos) << page;
  }
  EXPECT_TRUE(describe("1SR").starts_with("one-copy-serializability\n"));
  EXPECT_TRUE(describe("CCv").starts_with("causal-convergence\n"));
  EXPECT_TRUE(describe("OTV").starts_with("non-monotonic-read\n"));
  EXPECT_TRUE(describe("rr").starts_with("repeatable-read\n"));
  // One word, two meanings.
  EXPECT_TRUE(describe("ssi").starts_with("strong-snapshot-isolation (ssi)\n"));
  EXPECT_NE(describe("ssi").find("serializable-snapshot-isolation"), std::string::npos);
  EXPECT_TRUE(describe("SSI").starts_with("serializable-snapshot-isolation\n"));
  EXPECT_NE(describe("SSI").find("strong-snapshot-isolation"), std::string::npos);
}

// No name leads to two pages, but for Plume's letters.
TEST(Glossary, NamesOfTermsAreDistinct) {
  std::map<std::string, std::string_view> owner;
  for (const auto& term : terms()) {
    auto names = term.also;
    names.push_back(term.name);
    for (const auto name : names) {
      const auto [at, fresh] = owner.try_emplace(std::string(name), term.name);
      EXPECT_TRUE(fresh) << name << " of " << at->second << " and " << term.name;
      for (const auto& entry : anomalies()) EXPECT_NE(entry.name, name);
    }
    EXPECT_TRUE(term.definition.ends_with('.')) << term.name;
  }
}

TEST(Glossary, ListsLevelsOneALineUnlessTheWidthIsKnown) {
  const auto lines = [](const std::string& text) {
    return std::count(text.begin(), text.end(), '\n');
  };
  EXPECT_EQ(static_cast<std::size_t>(lines(list_levels())), levels::kLevelCount);
  std::istringstream wrapped(list_levels(100));
  for (std::string line; std::getline(wrapped, line);) EXPECT_LE(line.size(), 100u) << line;
  EXPECT_GT(lines(list_levels(100)), lines(list_levels()));
}

TEST(Glossary, ForbidsFromTheWeakestLevelOn) {
  EXPECT_EQ(forbidding(entry("write-skew")),
            (std::vector<Level>{Level::kSerializable, Level::kStrongSessionSerializable,
                                Level::kStrictSerializable}));
  const auto lost = forbidding(entry("lost-update"));
  EXPECT_EQ(std::count(lost.begin(), lost.end(), Level::kPrefix), 0);
  EXPECT_EQ(std::count(lost.begin(), lost.end(), Level::kSerializable), 1);
  EXPECT_EQ(forbidding(entry("thin-air-read")).size(), levels::kLevelCount);
}

TEST(Glossary, SaysWhichLevelsForbidSomeOfAName) {
  EXPECT_EQ(forbidding_some(entry("G-nonadjacent")),
            std::vector<Level>{Level::kPrefix});  // a long fork is one
  EXPECT_NE(describe("G-nonadjacent").find("Some of them also by\n    prefix\n"),
            std::string::npos);
  EXPECT_TRUE(forbidding_some(entry("lost-update")).empty());
  EXPECT_EQ(describe("lost-update").find("Some of them"), std::string::npos);
}

// The rows of docs/reference/anomalies.md before its counts: first column the name, last the
// weakest level.
TEST(Glossary, AgreesWithTheAnomaliesPage) {
  std::ifstream page(CUPEL_SOURCE_DIR "/docs/reference/anomalies.md");
  std::map<std::string, std::string> rows;
  for (std::string line; std::getline(page, line);) {
    if (line == "## Counts") break;  // tables of other things follow
    if (!line.starts_with("| ")) continue;
    const auto end = line.find_last_not_of(" |");
    const auto last = line.rfind("| ", end);
    const auto name = line.substr(2, line.find_first_of(" |", 2) - 2);
    rows[name] = line.substr(last + 2, end - last - 1);
  }
  for (const auto& anomaly : anomalies()) {
    if (anomaly.name == "G1a" || anomaly.name == "G1b") continue;  // in brackets there
    ASSERT_TRUE(rows.contains(std::string(anomaly.name))) << anomaly.name << " has no row";
    EXPECT_EQ(rows[std::string(anomaly.name)], levels::name(anomaly.weakest.front()))
        << anomaly.name;
  }
  EXPECT_EQ(rows.size(), anomalies().size() - 2 + 1);  // `name`, the heading
}

// What cycle.cpp calls a cycle stands there as literals: all have a page.
TEST(Glossary, HasAPageForEveryNameInTheSource) {
  std::ifstream source(CUPEL_SOURCE_DIR "/src/engine/explain/why/cycle.cpp");
  const std::string text{std::istreambuf_iterator<char>(source), std::istreambuf_iterator<char>()};
  const std::regex quoted("\"([a-zA-Z0-9]+(-[a-z]+)+|G[0-9a-z]+)\"");
  int names = 0;
  for (auto it = std::sregex_iterator(text.begin(), text.end(), quoted);
       it != std::sregex_iterator(); ++it) {
    ++names;
    EXPECT_NE(describe((*it)[1].str()), "") << (*it)[1];
  }
  EXPECT_GE(names, 12);
}

// Plume has fourteen letters; what it calls by two of them has one name here.
TEST(Glossary, KnowsPlumesLetters) {
  const std::map<char, std::string> first = {{'a', "thin-air-read"},
                                             {'b', "aborted-read"},
                                             {'c', "future-read"},
                                             {'d', "not-my-own-write"},
                                             {'e', "not-my-last-write"},
                                             {'f', "intermediate-read"},
                                             {'g', "G1c"},
                                             {'h', "non-monotonic-read"},
                                             {'i', "non-monotonic-read"},
                                             {'j', "non-repeatable-read"},
                                             {'k', "session-guarantee-violation"},
                                             {'l', "session-guarantee-violation"},
                                             {'m', "causality-violation"},
                                             {'n', "causality-violation"}};
  for (const auto& [letter, name] : first) {
    const auto page = describe(std::string("tap-") + letter);
    EXPECT_TRUE(page.starts_with(name + "\n")) << letter << ": " << page;
    EXPECT_NE(page.find(std::string("TAP-") + letter), std::string::npos);
  }
  EXPECT_NE(describe("TAP-k").find("\nfractured-read\n"), std::string::npos);
  EXPECT_EQ(describe("TAP-o"), "");
}

TEST(Glossary, SaysOfEachWhoAllowsItAndWhatToDo) {
  for (const auto& entry : anomalies()) {
    for (const auto text : {entry.definition, entry.allowed, entry.cause, entry.remedy}) {
      EXPECT_TRUE(text.ends_with('.')) << entry.name << ": " << text;
    }
    EXPECT_FALSE(entry.group.empty()) << entry.name;
  }
}

TEST(Glossary, DrawsExamplesAsTables) {
  EXPECT_EQ(table("a: r(x,0) w(x,1) ; a(l,1) @0-9 | b: l(l,[1 2]) cas!(x,0,1)", 2),
            "  session a            session b\n"
            "  T1: read x = 0       T3: read l = [1 2]\n"
            "      write x = 1          compare-and-set x from 0 to 1 (failed)\n"
            "  T2: append 1 to l\n"
            "      (from 0 to 9)\n");
}

TEST(Glossary, IsThereInJsonToo) {
  const auto page = describe_json("lost update");
  EXPECT_TRUE(page.starts_with(R"({"anomaly":"lost-update","group":)")) << page;
  EXPECT_TRUE(page.ends_with("}\n"));
  EXPECT_TRUE(
      describe_json("si").starts_with(R"({"level":"snapshot-isolation","short_name":"si")"));
  EXPECT_NE(describe_json("TAP-k").find(R"("others":[{"anomaly":"fractured-read")"),
            std::string::npos);
  EXPECT_EQ(describe_json("no such thing"), "");
}

std::string text_of(const std::string& path) {
  std::ifstream in(path);
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

// What the page of a level says of databases, with its links and line ends undone.
TEST(Glossary, SaysOfDatabasesWhatThePagesOfTheLevelsSay) {
  for (const auto& entry : levels::kLevelSpecs) {
    auto page = text_of(CUPEL_SOURCE_DIR "/" + std::string(entry.page));
    page = std::regex_replace(page, std::regex("\\[([^\\]]*)\\]\\([^)]*\\)"), "$1");
    std::erase(page, '`');
    page = std::regex_replace(page, std::regex("\\s+"), " ");
    const auto section = " ## Which databases give it " + std::string(entry.given_by) + " ## ";
    EXPECT_TRUE(page.find(section) != std::string::npos)
        << entry.page << ": below \"## Which databases give it\", expected `given_by` of "
        << entry.name
        << " in src/engine/levels/spec.hpp, and another heading after it: " << entry.given_by;
  }
}

// The end of docs/reference/anomalies.md holds the pages themselves.
TEST(Glossary, HasItsPagesInTheManual) {
  const std::string path = CUPEL_SOURCE_DIR "/docs/reference/anomalies.md";
  const std::string begin = "## What `cupel explain` says of each\n\n```\n";
  const std::string known = text_of(path);
  const auto at = known.find(begin);
  ASSERT_NE(at, std::string::npos);
  std::string expected = known.substr(0, at) + begin;
  bool first = true;
  for (const auto& entry : anomalies()) {
    if (!first) expected += "\n";
    expected += describe(entry.name);
    first = false;
  }
  expected += "```\n";
  if (std::getenv("CUPEL_WRITE_GOLDEN") != nullptr) std::ofstream(path) << expected;
  EXPECT_EQ(expected, text_of(path)) << "CUPEL_WRITE_GOLDEN=1 explain_test writes it anew";
}

}  // namespace
}  // namespace cupel::explain
