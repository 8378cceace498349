// The tables behind level.hpp.
#include "levels/level.hpp"

#include <absl/strings/match.h>

namespace cupel::levels {

namespace {

constexpr std::array<Level, kLevelCount> kAll = {
    Level::kReadCommitted,
    Level::kReadAtomic,
    Level::kCausal,
    Level::kPrefix,
    Level::kSnapshotIsolation,
    Level::kGeneralizedSnapshotIsolation,
    Level::kStrongSessionSnapshotIsolation,
    Level::kStrongSnapshotIsolation,
    Level::kSerializable,
    Level::kStrongSessionSerializable,
    Level::kStrictSerializable,
    Level::kLinearizable,
};

struct Names {
  std::string_view name, short_name;
};
constexpr std::array<Names, kLevelCount> kNames = {{
    {"read-committed", "rc"},
    {"read-atomic", "ra"},
    {"causal", "cc"},
    {"prefix", "pc"},
    {"snapshot-isolation", "si"},
    {"generalized-snapshot-isolation", "gsi"},
    {"strong-session-snapshot-isolation", "sssi"},
    {"strong-snapshot-isolation", "ssi"},
    {"serializable", "ser"},
    {"strong-session-serializable", "sser"},
    {"strict-serializable", "strict"},
    {"linearizable", "lin"},
}};

struct Alias {
  std::string_view alias;
  Level level;
};
constexpr Alias kAliases[] = {
    {"pl-2", Level::kReadCommitted},
    {"pl-si", Level::kSnapshotIsolation},
    {"pl-3", Level::kSerializable},
    {"pl-ss", Level::kStrictSerializable},
    {"strict-serializability", Level::kStrictSerializable},
    {"serializability", Level::kSerializable},
    {"linearizability", Level::kLinearizable},
    {"causal-consistency", Level::kCausal},
    {"ansi-snapshot-isolation", Level::kGeneralizedSnapshotIsolation},
};

// Direct implications, stronger to weaker (levels.md, "Implications").
constexpr std::pair<Level, Level> kDirect[] = {
    {Level::kStrictSerializable, Level::kStrongSessionSerializable},
    {Level::kStrictSerializable, Level::kStrongSnapshotIsolation},
    {Level::kStrongSessionSerializable, Level::kSerializable},
    {Level::kStrongSessionSerializable, Level::kStrongSessionSnapshotIsolation},
    {Level::kSerializable, Level::kSnapshotIsolation},
    {Level::kStrongSnapshotIsolation, Level::kStrongSessionSnapshotIsolation},
    {Level::kStrongSnapshotIsolation, Level::kGeneralizedSnapshotIsolation},
    {Level::kGeneralizedSnapshotIsolation, Level::kSnapshotIsolation},
    {Level::kStrongSessionSnapshotIsolation, Level::kSnapshotIsolation},
    {Level::kStrongSessionSnapshotIsolation, Level::kPrefix},
    {Level::kPrefix, Level::kCausal},
    {Level::kCausal, Level::kReadAtomic},
    {Level::kReadAtomic, Level::kReadCommitted},
};

}  // namespace

std::span<const Level> all_levels() {
  return kAll;
}
std::string_view name(Level level) {
  return kNames[static_cast<std::size_t>(level)].name;
}
std::string_view short_name(Level level) {
  return kNames[static_cast<std::size_t>(level)].short_name;
}

std::optional<Level> parse_level(std::string_view text) {
  const auto is = [text](std::string_view wanted) {
    return absl::EqualsIgnoreCase({text.data(), text.size()}, {wanted.data(), wanted.size()});
  };
  for (const Level level : kAll) {
    if (is(name(level)) || is(short_name(level))) return level;
  }
  for (const auto& [alias, level] : kAliases) {
    if (is(alias)) return level;
  }
  return std::nullopt;
}

bool implies(Level stronger, Level weaker) {
  if (stronger == weaker) return true;
  for (const auto& [from, to] : kDirect) {
    if (from == stronger && implies(to, weaker)) return true;
  }
  return false;
}

bool is_weak(Level level) {
  return level <= Level::kCausal;
}
bool needs_real_time(Level level) {
  return level == Level::kGeneralizedSnapshotIsolation ||
         level == Level::kStrongSnapshotIsolation || level == Level::kStrictSerializable ||
         level == Level::kLinearizable;
}
bool has_session_order(Level level) {
  return level != Level::kSnapshotIsolation && level != Level::kGeneralizedSnapshotIsolation &&
         level != Level::kSerializable;
}
bool has_begin_and_commit(Level level) {
  return level >= Level::kPrefix && level <= Level::kStrongSnapshotIsolation;
}

}  // namespace cupel::levels
