// Elle's models as levels: see the header.
#include "apps/engine/elle_models.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

namespace cupel::apps {

using check::LevelResult;
using check::Verdict;
using history::History;
using history::KeyId;
using history::OpId;
using history::OpKind;
using history::TxnId;
using levels::EdgeKind;
using levels::InternalKind;
using levels::Level;
using levels::Reason;

namespace {

constexpr Level kSi = Level::kSnapshotIsolation, kSer = Level::kSerializable;
constexpr Level kRc = Level::kReadCommitted, kRa = Level::kReadAtomic;
constexpr Level kStrict = Level::kStrictSerializable;

constexpr ElleModel kModels[] = {
    {"strict-serializable", "PL-SS", {kStrict, kStrict}},
    {"strong-serializable", "", {kStrict, kStrict}},
    {"strong-session-serializable",
     "",
     {Level::kStrongSessionSerializable, Level::kStrongSessionSerializable}},
    {"serializable", "PL-3", {kSer, kSer}},
    {"conflict-serializable", "", {kSer, kSer}},
    {"repeatable-read", "PL-2.99", {kSer, kSer}},
    {"strong-snapshot-isolation",
     "",
     {Level::kStrongSnapshotIsolation, Level::kStrongSnapshotIsolation}},
    {"strong-session-snapshot-isolation",
     "",
     {Level::kStrongSessionSnapshotIsolation, Level::kStrongSessionSnapshotIsolation}},
    {"snapshot-isolation", "PL-SI", {kSi, kSi}},
    {"update-serializable", "PL-3U", {kSer, kSer}, Forbidden::kOneReadWrite},
    {"forward-consistent-view", "PL-FCV", {kSi, kSi}, Forbidden::kOneReadWrite},
    {"consistent-view", "PL-2+", {kSi, kSi}, Forbidden::kOneReadWrite},
    {"cursor-stability", "PL-CS", {kSi, kSi}, Forbidden::kLostUpdates},
    {"monotonic-snapshot-read", "PL-MSR", {kSi, kSi}, Forbidden::kReadCycles},
    {"monotonic-view", "PL-2L", {kSi, kSi}, Forbidden::kReadCycles},
    {"monotonic-atomic-view", "", {kRa, kSi}, Forbidden::kReadCycles},
    {"read-committed", "PL-2", {kRc, kSi}, Forbidden::kReadCycles},
    {"read-uncommitted", "PL-1", {kRc, kSi}, Forbidden::kWriteCycles},
};

// The level that first forbids an anomaly. Any model forbids G0.
struct ForbiddenBy {
  std::string_view anomaly;
  Level level;
};
constexpr ForbiddenBy kAnomalies[] = {
    {"G0", kRc},
    {"G1a", kRc},
    {"G1b", kRc},
    {"G1c", kRc},
    {"incompatible-order", kRc},
    {"dirty-update", kRc},
    {"G-single", kSi},
    {"G-nonadjacent", kSi},
    {"GSIa", kSi},
    {"GSIb", kSi},
    {"lost-update", kSi},
    {"write-skew", kSer},
    {"G2-item", kSer},
    {"G0-process", Level::kStrongSessionSnapshotIsolation},
    {"G1c-process", Level::kStrongSessionSnapshotIsolation},
    {"G-single-process", Level::kStrongSessionSnapshotIsolation},
    {"G-nonadjacent-process", Level::kStrongSessionSnapshotIsolation},
    {"G2-item-process", Level::kStrongSessionSerializable},
    {"G2-process", Level::kStrongSessionSerializable},
    {"G0-realtime", Level::kStrongSnapshotIsolation},
    {"G1c-realtime", Level::kStrongSnapshotIsolation},
    {"G-single-realtime", Level::kStrongSnapshotIsolation},
    {"G-nonadjacent-realtime", Level::kStrongSnapshotIsolation},
    {"G2-item-realtime", kStrict},
};

bool same_name(std::string_view a, std::string_view b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](unsigned char x, unsigned char y) {
    return std::tolower(x) == std::tolower(y);
  });
}

// The edge holds in every order of the versions in which G1c does not show already.
bool is_forced(const levels::Derivation& derivation, const levels::Edge& edge) {
  if (edge.several_writers || edge.bound != levels::Bound::kExact) return false;
  if (edge.kind != EdgeKind::kWriteRead && edge.kind != EdgeKind::kWriteWrite &&
      edge.kind != EdgeKind::kReadWrite) {
    return false;
  }
  switch (edge.reason) {
    case Reason::kGiven:
    case Reason::kListOrder:
    case Reason::kInitial:
      return true;
    case Reason::kOverwritten:
      // The other order of the two versions would close a cycle with this path.
      return std::all_of(edge.because.begin(), edge.because.end(), [&](std::uint32_t at) {
        const auto& step = derivation.edges[at];
        return step.kind == EdgeKind::kOwn ||
               (step.kind != EdgeKind::kReadWrite && is_forced(derivation, step));
      });
    default:
      return false;
  }
}

// The cycle is one that the model forbids, whatever the order of the versions.
bool is_forbidden_cycle(Forbidden forbidden, const levels::Derivation& derivation) {
  if (derivation.cycle.empty() || !derivation.complete) return false;
  std::size_t reads = 0, overwritten = 0;
  for (const auto at : derivation.cycle) {
    const auto& edge = derivation.edges[at];
    if (edge.kind == EdgeKind::kOwn) continue;
    if (!is_forced(derivation, edge)) return false;
    overwritten += edge.kind == EdgeKind::kReadWrite;
    reads += edge.kind == EdgeKind::kWriteRead || edge.reason == Reason::kOverwritten;
  }
  switch (forbidden) {
    case Forbidden::kWriteCycles:
      return reads == 0 && overwritten == 0;
    case Forbidden::kOneReadWrite:
      return overwritten <= 1;
    default:
      return overwritten == 0;
  }
}

// What the transaction read of the key before it wrote it.
struct UpdatedKey {
  bool wrote = false;
  std::optional<OpId> read = {};
};

UpdatedKey updated(const History& history, TxnId txn, KeyId key) {
  UpdatedKey found;
  for (auto i = history.first_op(txn); i < history.last_op(txn); ++i) {
    const auto op = history.op(OpId(i));
    if (op.key != key) continue;
    if (op.kind == OpKind::kRead || op.kind == OpKind::kListRead) {
      if (!found.wrote && !found.read) found.read = OpId(i);
    } else {
      found.wrote = true;
    }
  }
  return found;
}

// At most one version of the key holds the value.
bool is_unique(const History& history, KeyId key, history::ValueId value) {
  std::size_t versions = history.initial_value(key) == value;
  for (std::uint32_t i = 0; i < history.op_count(); ++i) {
    const auto op = history.op(OpId(i));
    if (op.kind == OpKind::kRead || op.kind == OpKind::kListRead) continue;
    if (op.kind == OpKind::kWrite && op.key != key) continue;
    if (op.kind != OpKind::kWrite && op.kind != OpKind::kAppend) return false;
    versions += op.key == key && op.value == value;
  }
  return versions <= 1;
}

bool saw_the_same(const History& history, KeyId key, OpId a, OpId b) {
  const auto first = history.op(a), second = history.op(b);
  if (first.kind != second.kind) return false;
  if (first.kind == OpKind::kRead) {
    return first.value.valid() && first.value == second.value &&
           is_unique(history, key, first.value);
  }
  if (!history.list_known(first) || !history.list_known(second)) return false;
  const auto left = history.list(first), right = history.list(second);
  return std::equal(left.begin(), left.end(), right.begin(), right.end()) &&
         std::all_of(left.begin(), left.end(),
                     [&](history::ValueId element) { return is_unique(history, key, element); });
}

// Two transactions of the cycle read one version of a key and both wrote the key: in any order of
// the two writes, the earlier one is between the read and the write of the other.
bool is_lost_update(const History& history, const levels::Derivation& derivation) {
  for (const auto at : derivation.cycle) {
    const auto& edge = derivation.edges[at];
    if (edge.kind != EdgeKind::kReadWrite || !edge.from.valid() || !edge.to.valid()) continue;
    if (history.status(edge.from) != history::TxnStatus::kCommitted ||
        history.status(edge.to) != history::TxnStatus::kCommitted) {
      continue;
    }
    const auto a = updated(history, edge.from, edge.key), b = updated(history, edge.to, edge.key);
    if (a.wrote && b.wrote && a.read && b.read &&
        saw_the_same(history, edge.key, *a.read, *b.read)) {
      return true;
    }
  }
  return false;
}

bool is_forbidden_read(Forbidden forbidden, InternalKind kind) {
  if (forbidden == Forbidden::kWriteCycles) return false;
  switch (kind) {
    case InternalKind::kThinAirRead:
    case InternalKind::kAbortedRead:
    case InternalKind::kIntermediateRead:
    case InternalKind::kFutureRead:
    case InternalKind::kIncompatibleOrder:
    case InternalKind::kDuplicateElement:
      return true;
    default:
      return false;
  }
}

bool is_forbidden(Forbidden forbidden, const History& history, const levels::Violation& violation) {
  if (violation.assumed.valid() || !violation.branches.empty() ||
      !violation.placing_branches.empty()) {
    return false;  // what was found is one of several possibilities
  }
  if (!violation.internal.empty()) {
    return std::any_of(violation.internal.begin(), violation.internal.end(),
                       [&](const auto& found) { return is_forbidden_read(forbidden, found.kind); });
  }
  const bool no_lost_updates =
      forbidden == Forbidden::kLostUpdates || forbidden == Forbidden::kOneReadWrite;
  return is_forbidden_cycle(forbidden, violation.derivation) ||
         (no_lost_updates && is_lost_update(history, violation.derivation));
}

// Registers: nothing orders the versions, so those of one order of all transactions have no G0.
bool cannot_have_write_cycles(const History& history, const check::CheckResult& result) {
  for (std::uint32_t i = 0; i < history.op_count(); ++i) {
    const auto kind = history.kind(OpId(i));
    if (kind != OpKind::kRead && kind != OpKind::kWrite) return false;
  }
  return std::all_of(result.levels.begin(), result.levels.end(), [](const LevelResult& found) {
    return found.verdict != Verdict::kUnknown &&
           (!found.violation || found.violation->internal.empty());
  });
}

ElleVerdict verdict_of_level(Level level, const check::CheckResult& result) {
  ElleVerdict answer;
  for (const auto& found : result.levels) {
    if (found.verdict == Verdict::kViolated && levels::implies(level, found.level)) {
      return {.verdict = Verdict::kViolated, .violated = &found};
    }
    if (found.level != level) continue;
    if (found.verdict == Verdict::kSatisfied) return {.verdict = Verdict::kSatisfied};
    answer.detail = fmt::format("{}: {}", levels::name(level), found.detail);
  }
  return answer;
}

}  // namespace

std::span<const ElleModel> elle_models() {
  return kModels;
}

std::optional<ElleModel> elle_model(std::string_view name) {
  if (name.starts_with(':')) name.remove_prefix(1);
  for (const auto& model : kModels) {
    if (same_name(name, model.name) ||
        (!model.other_name.empty() && same_name(name, model.other_name))) {
      return model;
    }
  }
  return std::nullopt;
}

std::vector<Level> levels_to_check(const ElleModel& model) {
  if (model.is_level()) {
    // If the history has no times, the weaker level may be violated all the same.
    if (levels::needs_real_time(model.enough[0])) {
      return {levels::implies(model.enough[0], kSer) ? kSer : kSi, model.enough[0]};
    }
    return {model.enough[0]};
  }
  std::vector<Level> all = {kRc, kSi};
  for (const auto level : model.enough) {
    if (std::find(all.begin(), all.end(), level) == all.end()) all.push_back(level);
  }
  return all;
}

ElleVerdict elle_verdict(const ElleModel& model, const History& history,
                         const check::CheckResult& result) {
  if (model.is_level()) return verdict_of_level(model.enough[0], result);
  if (model.forbidden == Forbidden::kWriteCycles && cannot_have_write_cycles(history, result)) {
    return {.verdict = Verdict::kSatisfied};
  }
  std::string open;
  for (const auto& found : result.levels) {
    const bool enough =
        std::find(model.enough.begin(), model.enough.end(), found.level) != model.enough.end();
    if (enough && found.verdict == Verdict::kSatisfied) return {.verdict = Verdict::kSatisfied};
    if (found.verdict == Verdict::kUnknown) open = found.detail;
  }
  for (const auto& found : result.levels) {
    if (found.violation && is_forbidden(model.forbidden, history, *found.violation)) {
      return {.verdict = Verdict::kViolated, .violated = &found};
    }
  }
  if (!open.empty()) return {.detail = open};
  return {.detail =
              fmt::format("cupel does not decide {} itself; {} is violated, by something that "
                          "{} may allow",
                          model.name, levels::name(model.enough[0]), model.name)};
}

std::optional<bool> forbids(const ElleModel& model, std::string_view anomaly) {
  if (anomaly.starts_with(':')) anomaly.remove_prefix(1);
  for (const auto& [name, level] : kAnomalies) {
    if (!same_name(name, anomaly)) continue;
    if (name == "G0") return true;
    if (model.is_level()) {
      return level == kRc || levels::implies(model.enough[0], level);
    }
    if (level == kRc) return model.forbidden != Forbidden::kWriteCycles;
    if (name == "lost-update") return model.forbidden >= Forbidden::kLostUpdates;
    return name == "G-single" && model.forbidden == Forbidden::kOneReadWrite;
  }
  return std::nullopt;
}

}  // namespace cupel::apps
