// Glossary: what each level and each anomaly means, and which levels forbid
// which anomalies. docs/levels.md and docs/anomalies.md say more.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "levels/level.hpp"

namespace cupel::explain {

struct AnomalyEntry {
  std::string_view name;                 // "lost-update", "G-single"
  std::string_view meaning;              // sentences
  std::string_view example;              // "T1: read x = 0, write x = 1 ..."; may be empty
  std::vector<levels::Level> weakest;    // these, and whatever implies one of them, forbid it
  std::vector<levels::Level> some = {};  // these forbid some of what goes by the name
};

struct LevelEntry {
  levels::Level level;
  std::string_view meaning;
  std::string_view also_called;  // names in papers and products; may be empty
};

std::span<const AnomalyEntry> anomalies();
std::span<const LevelEntry> level_entries();

// Every level that forbids the anomaly, weakest first.
std::vector<levels::Level> forbidding(const AnomalyEntry& anomaly);
// Every other level at which something of that name may be found: what it forbids
// is a part of what the name says.
std::vector<levels::Level> forbidding_some(const AnomalyEntry& anomaly);

// The page about a level or an anomaly, by any of its names (case, blanks and
// underscores do not matter); empty if there is none.
std::string describe(std::string_view name);

// One line for every level.
std::string list_levels();
// One line for every anomaly.
std::string list_anomalies();

}  // namespace cupel::explain
