// What level.hpp answers, read from the table of spec.hpp.
#include "engine/levels/level.hpp"

#include <absl/strings/ascii.h>

#include <string>

namespace cupel::levels {

namespace {

// The table is in the order of the enumerators, each level after those that it implies, and
// the ladder has one position for each.
consteval bool is_well_formed() {
  for (std::size_t i = 0; i < kLevelCount; ++i) {
    const LevelSpec& spec = kLevelSpecs[i];
    if (static_cast<std::size_t>(spec.level) != i) return false;
    if (spec.name.empty() || spec.short_name.empty() || spec.page.empty()) return false;
    if (spec.ladder_position >= kLevelCount) return false;
    for (const auto& weaker : spec.implies) {
      if (weaker && static_cast<std::size_t>(*weaker) >= i) return false;
    }
    for (std::size_t j = 0; j < i; ++j) {
      if (kLevelSpecs[j].ladder_position == spec.ladder_position) return false;
      if (kLevelSpecs[j].name == spec.name || kLevelSpecs[j].short_name == spec.short_name) {
        return false;
      }
    }
    // The weak levels are described by what is visible, the others by an order of events.
    const bool weak = spec.visibility != Visibility::kNone;
    if (weak && (spec.nodes != Nodes::kTransactions || spec.writers_exclude ||
                 !spec.session_order || spec.real_time != RealTime::kNone)) {
      return false;
    }
    // Of two writers one commits before the other begins: there must be both events.
    if (spec.writers_exclude && spec.nodes != Nodes::kBeginsAndCommits) return false;
  }
  return true;
}
static_assert(is_well_formed());

constexpr auto kAll = [] {
  std::array<Level, kLevelCount> all{};
  for (std::size_t i = 0; i < kLevelCount; ++i) all[i] = kLevelSpecs[i].level;
  return all;
}();

constexpr auto kLadder = [] {
  std::array<Level, kLevelCount> ladder{};
  for (const LevelSpec& spec : kLevelSpecs) ladder[spec.ladder_position] = spec.level;
  return ladder;
}();

}  // namespace

std::span<const Level> all_levels() {
  return kAll;
}
std::span<const Level> ladder_order() {
  return kLadder;
}
std::string_view name(Level level) {
  return spec_of(level).name;
}
std::string_view short_name(Level level) {
  return spec_of(level).short_name;
}

namespace {

// "Snapshot Isolation", "snapshot_isolation" and "SnapshotIsolation" are snapshot-isolation.
std::string letters_of(std::string_view text) {
  std::string letters;
  for (const char c : text) {
    if (c != ' ' && c != '_' && c != '-') letters += absl::ascii_tolower(c);
  }
  return letters;
}

}  // namespace

std::optional<Level> parse_level(std::string_view text) {
  const auto wanted = letters_of(text);
  if (wanted.empty()) return std::nullopt;
  const auto is = [&wanted](std::string_view name) { return letters_of(name) == wanted; };
  for (const LevelSpec& spec : kLevelSpecs) {
    if (is(spec.name) || is(spec.short_name)) return spec.level;
    for (const auto alias : spec.aliases) {
      if (is(alias)) return spec.level;
    }
  }
  return std::nullopt;
}

bool implies(Level stronger, Level weaker) {
  if (stronger == weaker) return true;
  for (const auto& next : spec_of(stronger).implies) {
    if (next && implies(*next, weaker)) return true;
  }
  return false;
}

bool is_weak(Level level) {
  return spec_of(level).visibility != Visibility::kNone;
}
bool needs_real_time(Level level) {
  return spec_of(level).real_time != RealTime::kNone;
}
bool has_session_order(Level level) {
  return spec_of(level).session_order;
}
bool has_begin_and_commit(Level level) {
  return spec_of(level).nodes == Nodes::kBeginsAndCommits;
}
bool writers_exclude(Level level) {
  return spec_of(level).writers_exclude;
}
bool forbids_lost_updates(Level level) {
  // A read and a write of one event see the same versions; two events may lie apart.
  return !is_weak(level) && (!has_begin_and_commit(level) || writers_exclude(level));
}
bool is_single_object(Level level) {
  return spec_of(level).single_object;
}
Visibility visibility(Level level) {
  return spec_of(level).visibility;
}

}  // namespace cupel::levels
