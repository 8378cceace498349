// The tables: see the header.
#include "explain/glossary.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

namespace cupel::explain {

using levels::Level;

namespace {

// Seen inside one transaction or one read, so every level asks for it.
const std::vector<Level> kAll = {Level::kReadCommitted, Level::kSnapshotIsolation,
                                 Level::kLinearizable};

const AnomalyEntry kAnomalies[] = {
    {"thin-air-read", "A read returned a value that nobody wrote.",
     "T1: read x = 7, and no transaction wrote 7 to x", kAll},
    {"aborted-read",
     "A read returned a value that an aborted transaction wrote (Adya's G1a, a dirty read).",
     "T1: write x = 1, aborts; T2: read x = 1", kAll},
    {"future-read", "A transaction read a value that it wrote itself only later.",
     "T1: read x = 1, write x = 1", kAll},
    {"not-my-last-write",
     "After several writes of its own a transaction read one that was not its last.",
     "T1: write x = 1, write x = 2, read x = 1", kAll},
    {"not-my-own-write", "After its own write a transaction read somebody else's version.",
     "T1: write x = 1; T2: write x = 2, read x = 1", kAll},
    {"intermediate-read",
     "A read returned a value that its writer overwrote in the same transaction (Adya's G1b).",
     "T1: write x = 1, write x = 2; T2: read x = 1", kAll},
    {"non-repeatable-read",
     "Two reads of one key in one transaction, without a write of its own in between, returned "
     "different values.",
     "T3: read x = 1, read x = 2",
     {Level::kReadAtomic, Level::kSnapshotIsolation, Level::kLinearizable}},
    {"session-guarantee-violation",
     "A transaction missed what an earlier transaction of its own session wrote (read your "
     "writes, "
     "monotonic reads).",
     "one session; T1: write x = 1; T2: read x = 0",
     {Level::kReadAtomic, Level::kLinearizable}},
    {"non-monotonic-read",
     "A transaction read from another one, and then read a version older than what that one "
     "wrote.",
     "T1: write x = 1, write y = 1; T2: read y = 1, read x = 0",
     {Level::kReadCommitted, Level::kLinearizable},
     {Level::kSnapshotIsolation}},
    {"fractured-read",
     "A transaction saw one write of another transaction and missed another of its writes.",
     "T1: write x = 1, write y = 1; T2: read x = 0, read y = 1",
     {Level::kReadAtomic, Level::kLinearizable},
     {Level::kSnapshotIsolation}},
    {"causality-violation",
     "A read missed a write that is in its past by way of session order and reads.",
     "T1: write x = 1; T2: read x = 1, write y = 1; T3: read y = 1, read x = 0",
     {Level::kCausal, Level::kLinearizable},
     {Level::kSnapshotIsolation}},
    {"long-fork",
     "Two readers saw two writes in opposite orders: each saw one write and missed the other.",
     "T1: write x = 1; T2: write y = 1; T3: read x = 1, read y = 0; T4: read x = 0, read y = 1",
     {Level::kPrefix, Level::kSnapshotIsolation}},
    {"lost-update",
     "Two transactions read the same version of a key and both wrote the key: one update is lost.",
     "T1: read x = 0, write x = 1; T2: read x = 0, write x = 2",
     {Level::kSnapshotIsolation, Level::kLinearizable}},
    {"write-skew",
     "Two transactions each read what the other changed, and neither saw the other's write.",
     "T1: read x = 0, write y = 1; T2: read y = 0, write x = 1",
     {Level::kSerializable}},
    {"incompatible-order", "Two reads of one list of which neither is a prefix of the other.",
     "T1: read x = [1 2]; T2: read x = [2 1]", kAll},
    {"duplicate-element", "A list was read with an element twice that was appended once.",
     "T1: read x = [1 1]", kAll},
    {"failed-compare-read",
     "A compare-and-set failed although nothing but the value it expected was ever there.",
     "T1: compare-and-set x from 0 to 1 fails, and nobody wrote x", kAll},
    {"G0",
     "Dirty write: the versions of several keys order the same transactions in a circle (ww edges "
     "only).",
     "",
     {Level::kReadCommitted, Level::kSnapshotIsolation, Level::kLinearizable}},
    {"G1a", "Adya's name for aborted-read.", "", kAll},
    {"G1b", "Adya's name for intermediate-read.", "", kAll},
    {"G1c",
     "Circular information flow: a cycle of ww and wr edges.",
     "T1: read x = 1, write y = 1; T2: read y = 1, write x = 1",
     {Level::kReadCommitted, Level::kSnapshotIsolation, Level::kLinearizable}},
    {"G-single",
     "Read skew: a cycle with exactly one rw edge. A read missed a write that comes before it.",
     "T1: write x = 1, write y = 1; T2: read x = 0, read y = 1",
     {Level::kSnapshotIsolation, Level::kLinearizable},
     {Level::kReadCommitted}},
    {"G-nonadjacent",
     "A cycle with several rw edges of which no two follow each other; long-fork is one.",
     "",
     {Level::kSnapshotIsolation, Level::kLinearizable},
     {Level::kPrefix}},
    {"G2-item",
     "Anti-dependency cycle: a cycle with two rw edges that follow each other; write-skew is one.",
     "",
     {Level::kSerializable, Level::kLinearizable}},
    {"G0-process",
     "G0 with help of session order.",
     "",
     {Level::kReadCommitted, Level::kLinearizable}},
    {"G1c-process",
     "G1c with help of session order.",
     "",
     {Level::kReadCommitted, Level::kLinearizable}},
    {"G-single-process",
     "G-single with help of session order.",
     "",
     {Level::kStrongSessionSnapshotIsolation, Level::kLinearizable},
     {Level::kReadCommitted}},
    {"G-nonadjacent-process",
     "G-nonadjacent with help of session order.",
     "",
     {Level::kStrongSessionSnapshotIsolation, Level::kLinearizable},
     {Level::kPrefix}},
    {"G2-item-process",
     "G2-item with help of session order.",
     "",
     {Level::kStrongSessionSerializable, Level::kLinearizable}},
    {"G0-realtime",
     "G0 with help of real time, and of session order where that is not real time's.",
     "",
     {Level::kStrongSnapshotIsolation, Level::kLinearizable},
     {Level::kGeneralizedSnapshotIsolation}},
    {"G1c-realtime",
     "G1c with help of real time, and of session order where that is not real time's.",
     "",
     {Level::kStrongSnapshotIsolation, Level::kLinearizable},
     {Level::kGeneralizedSnapshotIsolation}},
    {"G-single-realtime",
     "G-single with help of real time, such as a stale read: a write had completed "
     "before the "
     "reader was invoked, and was missed.",
     "T1: write x = 1, completes; then T2: read x = 0",
     {Level::kStrongSnapshotIsolation, Level::kLinearizable},
     {Level::kGeneralizedSnapshotIsolation}},
    {"G-nonadjacent-realtime",
     "G-nonadjacent with help of real time.",
     "",
     {Level::kStrongSnapshotIsolation, Level::kLinearizable},
     {Level::kGeneralizedSnapshotIsolation}},
    {"G2-item-realtime",
     "G2-item with help of real time.",
     "",
     {Level::kStrictSerializable, Level::kLinearizable}},
};

const LevelEntry kLevels[] = {
    {Level::kReadCommitted,
     "Only committed, final values are read, and within a transaction reads do not go back: after "
     "reading from a "
     "transaction, nothing older than its writes is read.",
     "PL-2"},
    {Level::kReadAtomic,
     "Also, of another transaction one sees all writes or none, and one sees those of one's own "
     "session.",
     ""},
    {Level::kCausal, "Also, whoever sees a write sees everything that the writer had seen.",
     "causal consistency"},
    {Level::kPrefix,
     "Every transaction reads from a prefix of one commit order that all agree on; it may write "
     "without having seen "
     "the latest version.",
     "consistent prefix"},
    {Level::kSnapshotIsolation,
     "Every transaction reads from a snapshot, and two that write the same key do not overlap. "
     "Neither session order "
     "nor real time count.",
     "Adya's PL-SI"},
    {Level::kGeneralizedSnapshotIsolation,
     "Snapshot isolation in which commits follow real time; a snapshot may be old, but not from "
     "the future.",
     "ANSI snapshot isolation"},
    {Level::kStrongSessionSnapshotIsolation,
     "Snapshot isolation in which a transaction's snapshot includes what its session did before.",
     "PolySI's SI; Biswas and Enea's SI"},
    {Level::kStrongSnapshotIsolation,
     "Snapshot isolation in which a snapshot includes whatever had committed before it began.", ""},
    {Level::kSerializable,
     "As if the transactions ran one after the other. Neither session order nor real time count.",
     "Adya's PL-3"},
    {Level::kStrongSessionSerializable, "Serializable, in an order that keeps each session's.",
     "Biswas and Enea's SER"},
    {Level::kStrictSerializable, "Serializable, in an order that keeps real time.", "PL-SS"},
    {Level::kLinearizable,
     "Every object by itself is strict serializable. For transactions that touch one object each.",
     ""},
};

std::string normal(std::string_view text) {
  std::string result;
  for (const char c : text) {
    result +=
        c == ' ' || c == '_' ? '-' : static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  }
  return result;
}

std::string wrapped(std::string_view text, std::size_t indent, std::size_t width = 78) {
  std::string result, line(indent, ' ');
  std::size_t at = 0;
  while (at < text.size()) {
    const auto end = std::min(text.find(' ', at), text.size());
    if (line.size() > indent && line.size() + 1 + end - at > width) {
      result += line + "\n";
      line.assign(indent, ' ');
    }
    if (line.size() > indent) line += ' ';
    line += text.substr(at, end - at);
    at = end + 1;
  }
  return result + line + "\n";
}

std::string join(const std::vector<std::string>& words) {
  std::string text;
  for (const auto& word : words) text += (text.empty() ? "" : ", ") + word;
  return text.empty() ? "none" : text;
}

std::string describe_anomaly(const AnomalyEntry& entry) {
  std::vector<std::string> names;
  for (const Level level : forbidding(entry)) names.emplace_back(levels::name(level));
  std::string text = fmt::format("{}\n{}", entry.name, wrapped(entry.meaning, 2));
  if (!entry.example.empty()) text += "  Example\n" + wrapped(entry.example, 4);
  text += "  Forbidden by\n" + wrapped(join(names), 4);
  names.clear();
  for (const Level level : forbidding_some(entry)) names.emplace_back(levels::name(level));
  return names.empty() ? text : text + "  Some of them also by\n" + wrapped(join(names), 4);
}

std::string describe_level(const LevelEntry& entry) {
  std::vector<std::string> weaker, stronger, forbidden;
  for (const Level other : levels::all_levels()) {
    if (other == entry.level) continue;
    if (levels::implies(entry.level, other)) weaker.emplace_back(levels::name(other));
    if (levels::implies(other, entry.level)) stronger.emplace_back(levels::name(other));
  }
  for (const auto& anomaly : kAnomalies) {
    const auto by = forbidding(anomaly);
    if (std::find(by.begin(), by.end(), entry.level) != by.end())
      forbidden.emplace_back(anomaly.name);
  }
  std::string text = fmt::format("{} ({})\n{}", levels::name(entry.level),
                                 levels::short_name(entry.level), wrapped(entry.meaning, 2));
  if (!entry.also_called.empty()) text += "  Also called\n" + wrapped(entry.also_called, 4);
  text += "  Implies\n" + wrapped(join(weaker), 4);
  text += "  Is implied by\n" + wrapped(join(stronger), 4);
  return text + "  Forbids\n" + wrapped(join(forbidden), 4);
}

}  // namespace

std::span<const AnomalyEntry> anomalies() {
  return kAnomalies;
}
std::span<const LevelEntry> level_entries() {
  return kLevels;
}

std::vector<Level> forbidding(const AnomalyEntry& anomaly) {
  std::vector<Level> found;
  for (const Level level : levels::all_levels()) {
    const bool forbids =
        std::any_of(anomaly.weakest.begin(), anomaly.weakest.end(),
                    [&](Level weakest) { return levels::implies(level, weakest); });
    if (forbids) found.push_back(level);
  }
  return found;
}

std::vector<Level> forbidding_some(const AnomalyEntry& anomaly) {
  const auto all = forbidding(anomaly);
  std::vector<Level> found;
  for (const Level level : levels::all_levels()) {
    const bool some = std::any_of(anomaly.some.begin(), anomaly.some.end(),
                                  [&](Level weakest) { return levels::implies(level, weakest); });
    if (some && std::find(all.begin(), all.end(), level) == all.end()) found.push_back(level);
  }
  return found;
}

std::string describe(std::string_view name) {
  const auto wanted = normal(name);
  if (const auto level = levels::parse_level(wanted)) {
    for (const auto& entry : kLevels) {
      if (entry.level == *level) return describe_level(entry);
    }
  }
  for (const auto& entry : kAnomalies) {
    if (normal(entry.name) == wanted) return describe_anomaly(entry);
  }
  return {};
}

std::string list_levels() {
  std::string text;
  for (const auto& entry : kLevels) {
    const auto stop = entry.meaning.find_first_of(".;:");
    text += fmt::format("{:<34} {:<7} {}\n", levels::name(entry.level),
                        levels::short_name(entry.level), entry.meaning.substr(0, stop));
  }
  return text;
}

std::string list_anomalies() {
  std::string text;
  for (const auto& entry : kAnomalies) {
    const auto by = forbidding(entry);
    text += fmt::format("{:<28} first forbidden by {}\n", entry.name,
                        by.empty() ? "no level" : levels::name(entry.weakest.front()));
  }
  return text;
}

}  // namespace cupel::explain
