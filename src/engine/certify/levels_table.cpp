// The table: see the header, and docs/reference/levels.md, which it repeats line by line.
#include "engine/certify/levels_table.hpp"

#include <array>

namespace cupel::certify {

namespace {

struct Row {
  std::string_view name;
  Shape shape;
};

constexpr std::array<Row, 12> kRows = {{
    {"read-committed", {.phi = Phi::kEarlierRead, .session_order = true}},
    {"read-atomic", {.phi = Phi::kOneStep, .session_order = true}},
    {"causal", {.phi = Phi::kCausal, .session_order = true}},
    {"prefix", {.begin_and_commit = true, .session_order = true}},
    {"snapshot-isolation", {.begin_and_commit = true, .no_overlap = true}},
    {"generalized-snapshot-isolation",
     {.begin_and_commit = true, .no_overlap = true, .commits_in_real_time = true}},
    {"strong-session-snapshot-isolation",
     {.begin_and_commit = true, .no_overlap = true, .session_order = true}},
    {"strong-snapshot-isolation",
     {.begin_and_commit = true,
      .no_overlap = true,
      .session_order = true,
      .commits_in_real_time = true,
      .begins_in_real_time = true}},
    {"serializable", {}},
    {"strong-session-serializable", {.session_order = true}},
    {"strict-serializable", {.session_order = true, .begins_in_real_time = true}},
    {"linearizable", {.session_order = true, .begins_in_real_time = true, .one_object = true}},
}};

}  // namespace

Shape shape_of(Level level) {
  return kRows[static_cast<std::size_t>(level)].shape;
}
std::string_view name_of(Level level) {
  return kRows[static_cast<std::size_t>(level)].name;
}

std::optional<Level> level_named(std::string_view name) {
  for (std::size_t i = 0; i < kRows.size(); ++i) {
    if (kRows[i].name == name) return static_cast<Level>(i);
  }
  return std::nullopt;
}

bool implies(Level stronger, Level weaker) {
  if (stronger == weaker) return true;
  const auto through = [weaker](auto... next) { return (implies(next, weaker) || ...); };
  switch (stronger) {
    case Level::kStrictSerializable:
      return through(Level::kStrongSessionSerializable, Level::kStrongSnapshotIsolation);
    case Level::kStrongSessionSerializable:
      return through(Level::kSerializable, Level::kStrongSessionSnapshotIsolation);
    case Level::kSerializable:
      return through(Level::kSnapshotIsolation);
    case Level::kStrongSnapshotIsolation:
      return through(Level::kStrongSessionSnapshotIsolation, Level::kGeneralizedSnapshotIsolation);
    case Level::kGeneralizedSnapshotIsolation:
      return through(Level::kSnapshotIsolation);
    case Level::kStrongSessionSnapshotIsolation:
      return through(Level::kSnapshotIsolation, Level::kPrefix);
    case Level::kPrefix:
      return through(Level::kCausal);
    case Level::kCausal:
      return through(Level::kReadAtomic);
    case Level::kReadAtomic:
      return through(Level::kReadCommitted);
    case Level::kSnapshotIsolation:
    case Level::kReadCommitted:
    case Level::kLinearizable:
      return false;
  }
  return false;
}

}  // namespace cupel::certify
