// The table of levels: what comes from it, and the pages and lists that repeat it.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "engine/certify/levels_table.hpp"
#include "engine/explain/why/glossary.hpp"
#include "engine/levels/level.hpp"
#include "source_dir.hpp"

namespace cupel::levels {
namespace {

std::string page_of(const std::string& path) {
  std::ifstream in(std::string(CUPEL_SOURCE_DIR) + "/" + path);
  std::ostringstream text;
  text << in.rdbuf();
  return std::move(text).str();
}

std::string trimmed(std::string text) {
  text.erase(0, text.find_first_not_of(' '));
  text.erase(text.find_last_not_of(' ') + 1);
  return text;
}

// The cells of each row of the table whose first line begins so, below its first two lines.
std::vector<std::vector<std::string>> table_of(const std::string& page,
                                               const std::string& first_line) {
  std::vector<std::vector<std::string>> rows;
  std::istringstream lines(page.substr(std::min(page.find("\n" + first_line), page.size())));
  bool inside = false;
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with("|")) {
      if (inside) break;
      continue;
    }
    inside = true;
    std::vector<std::string> cells;
    std::istringstream pieces(line.substr(1));
    for (std::string cell; std::getline(pieces, cell, '|');) cells.push_back(trimmed(cell));
    rows.push_back(cells);
  }
  if (rows.size() > 2) rows.erase(rows.begin(), rows.begin() + 2);
  return rows;
}

TEST(LevelSpec, NamesShortNamesAndAliasesAreDistinctAndParse) {
  std::map<std::string, Level> names;
  for (const LevelSpec& spec : kLevelSpecs) {
    std::vector<std::string> all = {std::string(spec.name), std::string(spec.short_name)};
    for (const auto alias : spec.aliases) {
      if (!alias.empty()) all.emplace_back(alias);
    }
    for (const auto& one : all) {
      EXPECT_TRUE(names.emplace(one, spec.level).second) << one << " names two levels";
      EXPECT_EQ(parse_level(one), spec.level);
      std::string upper = one;
      std::transform(upper.begin(), upper.end(), upper.begin(), ::toupper);
      EXPECT_EQ(parse_level(upper), spec.level);
      for (const char between : {' ', '_'}) {
        std::string other = upper;
        std::replace(other.begin(), other.end(), '-', between);
        EXPECT_EQ(parse_level(other), spec.level) << other;
      }
    }
  }
  EXPECT_EQ(parse_level(""), std::nullopt);
  EXPECT_EQ(parse_level("read"), std::nullopt);
  EXPECT_EQ(parse_level(" - "), std::nullopt);
  EXPECT_EQ(parse_level("SnapshotIsolation"), Level::kSnapshotIsolation);
}

TEST(LevelSpec, TheLadderHasEveryLevelOnce) {
  const auto ladder = ladder_order();
  std::vector<Level> sorted(ladder.begin(), ladder.end());
  std::sort(sorted.begin(), sorted.end());
  EXPECT_TRUE(std::equal(sorted.begin(), sorted.end(), all_levels().begin(), all_levels().end()));
}

// certify's table is written apart, so that one mistake does not certify the other.
TEST(LevelSpec, CertifySaysTheSameOfEveryLevel) {
  for (const LevelSpec& spec : kLevelSpecs) {
    const auto there = certify::level_named(spec.name);
    ASSERT_TRUE(there) << spec.name;
    const auto shape = certify::shape_of(*there);
    EXPECT_EQ(static_cast<int>(shape.phi), static_cast<int>(spec.visibility)) << spec.name;
    EXPECT_EQ(shape.begin_and_commit, has_begin_and_commit(spec.level)) << spec.name;
    EXPECT_EQ(shape.no_overlap, spec.writers_exclude) << spec.name;
    EXPECT_EQ(shape.session_order, spec.session_order) << spec.name;
    EXPECT_EQ(shape.real_time(), needs_real_time(spec.level)) << spec.name;
    EXPECT_EQ(shape.begins_in_real_time, spec.real_time == RealTime::kCommitBeforeBegin);
    EXPECT_EQ(shape.one_object, spec.single_object) << spec.name;
    for (const LevelSpec& other : kLevelSpecs) {
      EXPECT_EQ(certify::implies(*there, *certify::level_named(other.name)),
                implies(spec.level, other.level))
          << spec.name << ", " << other.name;
    }
  }
}

// What explanations ask of a level, so that they name none.
TEST(LevelSpec, AnswersWhatExplanationsAsk) {
  const auto all = [](auto predicate) {
    std::string names;
    for (const Level level : all_levels()) {
      if (predicate(level)) names += std::string(short_name(level)) + " ";
    }
    return names;
  };
  // The short names, weakest first; a new level is added where it belongs.
  EXPECT_EQ(all(writers_exclude), "si gsi sssi ssi ");
  EXPECT_EQ(all(forbids_lost_updates), "si gsi sssi ssi ser sser strict lin ");
  EXPECT_EQ(all(is_single_object), "lin ");
  EXPECT_EQ(all(is_weak), "rc ra cc ");
  for (const Level level : all_levels()) {
    EXPECT_EQ(is_weak(level), visibility(level) != Visibility::kNone) << name(level);
  }
}

// ---- docs/reference/levels.md

std::string visibility_in_words(Visibility visibility) {
  switch (visibility) {
    case Visibility::kEarlierRead:
      return "an earlier read, in program order, of the same transaction reads from k";
    case Visibility::kOneStep:
      return "k is an so- or wr-predecessor of r's transaction, in one step";
    case Visibility::kCausal:
      return "k is an (so ∪ wr)⁺ predecessor of r's transaction";
    case Visibility::kNone:
      break;
  }
  return "";
}

// The cells after the name: ww, rw, so, real time.
std::vector<std::string> order_in_words(const LevelSpec& spec) {
  const bool two = spec.nodes == Nodes::kBeginsAndCommits;
  const std::string dash = "–";
  const std::string real_time = spec.real_time == RealTime::kNone ? dash
                                : !two                            ? "i < j"
                                : spec.real_time == RealTime::kCommitBeforeCommit
                                    ? "B_i < C_j, C_i < C_j"
                                    : "B_i < C_j, C_i < C_j, C_i < B_j";
  return {!two                   ? "a < b or b < a"
          : spec.writers_exclude ? "C_a < B_b or C_b < B_a"
                                 : "C_a < C_b or C_b < C_a",
          two ? "B_r < C_b" : "r < b",
          !spec.session_order ? dash
          : two               ? "C_i < B_j"
                              : "i < j",
          real_time};
}

// What to do about a row that is missing, or one too many.
std::string missing_row(const LevelSpec& spec, const std::string& found) {
  return "docs/reference/levels.md: found " + found + " instead of the row of " +
         std::string(spec.name) + " in the table of " + (is_weak(spec.level) ? "φ" : "choices") +
         "; write this row, after that of the level before it in src/engine/levels/spec.hpp";
}

TEST(LevelsPage, ItsTablesSayWhatTheSpecsSay) {
  const auto page = page_of("docs/reference/levels.md");
  const auto weak = table_of(page, "| level | φ(k, r) |");
  const auto order = table_of(page, "| level | ww choice");
  std::size_t weak_row = 0, order_row = 0;
  std::vector<std::string> above(4);
  for (const LevelSpec& spec : kLevelSpecs) {
    const auto& table = is_weak(spec.level) ? weak : order;
    const std::size_t at = is_weak(spec.level) ? weak_row++ : order_row++;
    // After a missing row all others are those of other levels: only the first is said.
    ASSERT_LT(at, table.size()) << missing_row(spec, "the end");
    const auto& row = table[at];
    const auto name = row[0].substr(0, row[0].find(' '));  // "snapshot-isolation (Adya)"
    ASSERT_EQ(name, spec.name) << missing_row(spec, "that of " + name);
    const auto wrong = "docs/reference/levels.md: the row of " + std::string(spec.name);
    if (is_weak(spec.level)) {
      EXPECT_EQ(row, (std::vector<std::string>{std::string(spec.name),
                                               visibility_in_words(spec.visibility)}))
          << wrong;
      continue;
    }
    if (spec.single_object) continue;  // of which the row is a sentence
    ASSERT_EQ(row.size(), 5u) << wrong;
    for (std::size_t i = 0; i < 4; ++i) {
      if (row[i + 1] != "same") above[i] = row[i + 1];
    }
    EXPECT_EQ(above, order_in_words(spec)) << wrong << " (same: as in the row above)";
  }
  EXPECT_EQ(weak_row, weak.size())
      << "docs/reference/levels.md: a row without a level in kLevelSpecs";
  EXPECT_EQ(order_row, order.size())
      << "docs/reference/levels.md: a row without a level in kLevelSpecs";
}

TEST(LevelsPage, NamesThePageOfEveryLevelInOrder) {
  const auto page = page_of("docs/reference/levels.md");
  std::size_t at = 0;
  for (const LevelSpec& spec : kLevelSpecs) {
    const auto link = "[" + std::string(spec.name) + "](" +
                      std::string(spec.page).substr(std::string("docs/reference/").size()) + ")";
    const auto found = page.find(link, at);
    EXPECT_TRUE(found != std::string::npos) << "docs/reference/levels.md: write the link " << link
                                            << ", after that of the level before it";
    at = found == std::string::npos ? at : found;
    EXPECT_TRUE(
        std::filesystem::exists(std::string(CUPEL_SOURCE_DIR) + "/" + std::string(spec.page)))
        << "write " << spec.page;
  }
}

// The list items of chains "a ⇒ b ⇒ c", in which SI stands for snapshot-isolation.
TEST(LevelsPage, ItsChainsOfImplicationsAreThoseOfTheSpecs) {
  const auto page = page_of("docs/reference/levels.md");
  std::istringstream lines(page);
  std::vector<std::pair<Level, Level>> direct;
  const auto level_of = [](std::string text) {
    text = trimmed(text);
    if (text.ends_with("SI")) text.replace(text.size() - 2, 2, "snapshot-isolation");
    return parse_level(text);
  };
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with("- ") || line.find("⇒") == line.npos) continue;
    std::istringstream chains(line.substr(2));
    for (std::string chain; std::getline(chains, chain, ';');) {
      std::optional<Level> stronger;
      for (std::size_t at = 0; at != std::string::npos;) {
        const auto arrow = chain.find("⇒", at);
        const auto level = level_of(chain.substr(at, arrow - at));
        ASSERT_TRUE(level) << chain.substr(at, arrow - at);
        if (stronger) direct.emplace_back(*stronger, *level);
        stronger = level;
        at = arrow == std::string::npos ? arrow : arrow + std::string("⇒").size();
      }
    }
  }
  ASSERT_FALSE(direct.empty());
  bool stated[kLevelCount][kLevelCount] = {};
  for (std::size_t i = 0; i < kLevelCount; ++i) stated[i][i] = true;
  for (std::size_t round = 0; round < kLevelCount; ++round) {
    for (const auto& [from, to] : direct) {
      for (std::size_t k = 0; k < kLevelCount; ++k) {
        stated[static_cast<std::size_t>(from)][k] |= stated[static_cast<std::size_t>(to)][k];
      }
    }
  }
  for (const Level a : all_levels()) {
    for (const Level b : all_levels()) {
      EXPECT_EQ(stated[static_cast<std::size_t>(a)][static_cast<std::size_t>(b)], implies(a, b))
          << "docs/reference/levels.md: the chains \"a ⇒ b ⇒ c\" and `implies` in "
             "src/engine/levels/spec.hpp differ "
             "on "
          << name(a) << " and " << name(b);
    }
  }
}

// ---- cupel levels

TEST(LevelsList, HasALineForEachLevelInOrder) {
  std::istringstream lines(explain::list_levels());
  for (const LevelSpec& spec : kLevelSpecs) {
    std::string line;
    ASSERT_TRUE(std::getline(lines, line)) << spec.name;
    std::istringstream words(line);
    std::string level, brief;
    words >> level >> brief;
    EXPECT_EQ(level, spec.name);
    EXPECT_EQ(brief, spec.short_name);
    EXPECT_NE(line.find(spec.definition.substr(0, 20)), std::string::npos) << line;
  }
  std::string more;
  EXPECT_FALSE(std::getline(lines, more)) << more;
}

}  // namespace
}  // namespace cupel::levels
