// Glossary: what each level (engine/levels/spec.hpp) and each anomaly means, and which levels
// forbid which anomalies. docs/reference/levels.md and docs/reference/anomalies.md say more.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/levels/level.hpp"

namespace cupel::explain {

// Examples are histories in a line: "a: w(x,1) ; r(x,0) | b: r(x,1) @0-10", sessions
// separated by |, transactions by ; with ! before what an aborted one did and the
// times after it. r and w read and write, a and l append to and read a list, cas! is a
// compare-and-set that failed. What is not written holds 0. The tests check each.
struct AnomalyEntry {
  std::string_view name;                    // "lost-update", "G-single"
  std::string_view definition;              // sentences
  std::string_view example = {};            // a smallest history
  std::vector<levels::Level> weakest;       // these, and whatever implies one of them, forbid it
  std::vector<levels::Level> some = {};     // these forbid some of what goes by the name
  std::string_view group;                   // the heading it is listed under
  std::vector<std::string_view> also = {};  // other names; Plume's letters "TAP-a" to "TAP-n"
  std::string_view allowed;                 // which databases allow it, at which setting; sentences
  std::string_view cause;                   // the usual cause
  std::string_view remedy;                  // what to do
};

// What people ask for that is neither: a name for several of them, or for something that
// histories of keys do not show.
struct TermEntry {
  std::string_view name;
  std::string_view definition;
  std::vector<std::string_view> see;  // levels and anomalies, each with a page
  std::vector<std::string_view> also = {};
  // The level to ask for instead; none: no level speaks of it.
  std::optional<levels::Level> nearest = {};
  bool same = false;  // for a history, that level is the same
};

// What a name for a level stands for, as option -l takes it.
struct LevelAsked {
  std::optional<levels::Level> level;         // of that name, or the same for every history
  std::string_view instead;                   // the name of the term, if the level has another
  std::optional<levels::Level> nearest = {};  // without a level: the nearest one
  bool anomaly = false;                       // the name is an anomaly's, and `nearest` forbids it
};
// Nothing: no page has that name. SSI, in capitals, is PostgreSQL's serializable; ssi is the short
// name of strong-snapshot-isolation.
std::optional<LevelAsked> level_asked(std::string_view name);

std::span<const AnomalyEntry> anomalies();
std::span<const TermEntry> terms();

// Every level that forbids the anomaly, weakest first.
std::vector<levels::Level> forbidding(const AnomalyEntry& anomaly);
// Every other level at which something of that name may be found: what it forbids
// is a part of what the name says.
std::vector<levels::Level> forbidding_some(const AnomalyEntry& anomaly);

// The pages about a level or an anomaly, by any of its names (case, blanks and
// underscores do not matter); empty if there is none. A name of Plume's may have two.
std::string describe(std::string_view name);
// The same as one JSON object; empty if there is none. Fields: docs/reference/commands.md.
std::string describe_json(std::string_view name);

// An example as a table: a column a session, a line an operation.
std::string table(std::string_view example, std::size_t indent);

// Plume's letters for an anomaly, "TAP-h"; where it has two patterns for one, both. Empty if none.
std::vector<std::string_view> plume_letters(std::string_view anomaly);

// Every name that describe() knows.
std::vector<std::string> glossary_names();

// Every level with what it asks for, at most `width` columns; with none one line each, as scripts
// expect.
std::string list_levels(std::size_t width = std::string::npos);
// Every anomaly with what it means, by groups, and the terms.
std::string list_anomalies();
// Levels and anomalies by name and group, as one JSON object.
std::string list_json();

}  // namespace cupel::explain
