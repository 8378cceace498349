// LevelSpec: the one description of each isolation level.
//
// The table kLevelSpecs says what a level is called, what it asks of a history, what it
// implies and how it is described to users. Everything else comes from it: the names that
// the command line takes, the order problem (describe.hpp), the refusals (decide.cpp), the
// ladder (check), the glossary (explain) and the lists of the documentation, which a test
// compares with it. certify keeps a table of its own on purpose: its independence is its value.
//
// To add a level: the enumerator and its entry here, the same enumerator in
// include/cupel/check.hpp, and engine/certify/levels_table.
// docs/internals/architecture.md#extension-points lists what else is to be written. To put it
// between two levels, A that implies B: A implies the new level and no longer B, and the new level
// implies B.
//
// The levels that `cupel mock` serves (engine/mock/store.cpp) and those that `cupel generate
// --level` takes (data/workload/generate.cpp) are lists of their own: a simulated store has to be
// written for each.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

namespace cupel::levels {

// Weakest first: a level comes after every level that it implies.
enum class Level : std::uint8_t {
  kReadCommitted,
  kReadAtomic,
  kCausal,
  kPrefix,
  kSnapshotIsolation,
  kGeneralizedSnapshotIsolation,
  kStrongSessionSnapshotIsolation,
  kStrongSnapshotIsolation,
  kSerializable,
  kStrongSessionSerializable,
  kStrictSerializable,
  kLinearizable,
};
inline constexpr std::size_t kLevelCount = 12;

// What the weak levels ask: a writer k of x that is visible to a read r of x in this sense, and
// that r does not read from, is before the writer that r reads from (φ(k, r) in
// docs/reference/levels.md).
enum class Visibility : std::uint8_t {
  kNone,         // an order level, which has no φ
  kEarlierRead,  // an earlier read of the same transaction reads from k
  kOneStep,      // k is a predecessor of r's transaction by session order or a read, in one step
  kCausal,       // … in any number of steps
};

// The nodes of the order problem.
enum class Nodes : std::uint8_t {
  kTransactions,     // one event a transaction
  kBeginsAndCommits  // two: begin before commit
};

// What i before j in real time (i completed before j was invoked) orders.
enum class RealTime : std::uint8_t {
  kNone,
  kCommitBeforeCommit,  // C_i < C_j; with B_i < C_j, which follows
  kCommitBeforeBegin,   // C_i < B_j as well
};

struct LevelSpec {
  Level level;
  std::string_view name;                          // "snapshot-isolation"
  std::string_view short_name;                    // "si"
  std::array<std::string_view, 2> aliases{};      // lower case; empty: none
  std::array<std::optional<Level>, 2> implies{};  // directly, at most two; implies() is transitive

  // What it asks of a history.
  Visibility visibility = Visibility::kNone;
  Nodes nodes = Nodes::kTransactions;
  bool writers_exclude = false;  // of two writers of a key one commits before the other begins
  bool session_order = false;    // a transaction comes after those before it in its session
  RealTime real_time = RealTime::kNone;
  bool single_object = false;  // each object by itself; no transaction may touch two
  // The ladder decides levels in this order, so that implications give many of the other verdicts,
  // and what is cheap comes before what may use up the time.
  // The positions are 0 to kLevelCount - 1, each once; a new level may take the last. No verdict
  // depends on the order.
  unsigned ladder_position;

  // The description for users.
  std::string_view page;         // "docs/reference/levels/prefix.md"
  std::string_view definition;   // sentences
  std::string_view also_called;  // in papers and products; may be empty
  // A smallest violation, in the language for examples that engine/explain/why/glossary.cpp parses:
  // sessions between |, transactions between ;.
  std::string_view example;
  std::string_view given_by;  // which databases give it, as on its page
};

inline constexpr std::array<LevelSpec, kLevelCount> kLevelSpecs = {{
    {.level = Level::kReadCommitted,
     .name = "read-committed",
     .short_name = "rc",
     .visibility = Visibility::kEarlierRead,
     .session_order = true,
     .ladder_position = 2,
     .page = "docs/reference/levels/read-committed.md",
     .definition = "Transactions read only committed, final values. Within a transaction, reads do "
                   "not go back: after a read from a transaction, no later read returns a version "
                   "older than its writes.",
     .also_called = "",
     .example = "a: w(x,1) ; w(x,2) w(y,2) | b: r(y,2) r(x,1)",
     .given_by = "PostgreSQL at READ COMMITTED, its default (each statement takes a new "
                 "snapshot). MariaDB and MySQL (InnoDB) at READ COMMITTED. Oracle at READ "
                 "COMMITTED, its default. SQL Server at READ COMMITTED, its default."},
    {.level = Level::kReadAtomic,
     .name = "read-atomic",
     .short_name = "ra",
     .implies = {Level::kReadCommitted},
     .visibility = Visibility::kOneStep,
     .session_order = true,
     .ladder_position = 3,
     .page = "docs/reference/levels/read-atomic.md",
     .definition =
         "In addition, a transaction sees all writes of another transaction or none, and it "
         "sees the writes of its own session.",
     .also_called = "",
     .example = "a: w(x,1) w(y,1) | b: r(y,0) r(x,1)",
     .given_by = "No widely used SQL product offers exactly this level. It was defined for RAMP "
                 "transactions. Every database that gives snapshot isolation or more gives this "
                 "level within the limits of its session guarantees."},
    {.level = Level::kCausal,
     .name = "causal",
     .short_name = "cc",
     .aliases = {"causal-consistency"},
     .implies = {Level::kReadAtomic},
     .visibility = Visibility::kCausal,
     .session_order = true,
     .ladder_position = 1,
     .page = "docs/reference/levels/causal.md",
     .definition =
         "In addition, a transaction that sees a write sees everything that its writer had seen.",
     .also_called = "causal consistency",
     .example = "a: w(x,1) | b: r(x,1) w(y,1) | c: r(y,1) r(x,0)",
     .given_by = "MongoDB offers causally consistent sessions (with majority read and write "
                 "concern). The violations of YugabyteDB in the test data are violations of this "
                 "level. SQL products do not name it. Geo-replicated stores often promise it."},
    {.level = Level::kPrefix,
     .name = "prefix",
     .short_name = "pc",
     .implies = {Level::kCausal},
     .nodes = Nodes::kBeginsAndCommits,
     .session_order = true,
     .ladder_position = 6,
     .page = "docs/reference/levels/prefix.md",
     .definition =
         "Every transaction reads from a prefix of one commit order, which is the same for "
         "all. It may write without having seen the latest version.",
     .also_called = "consistent prefix",
     .example = "a: w(x,1) | b: w(y,1) | c: r(x,1) r(y,0) | d: r(y,1) r(x,0)",
     .given_by =
         "No SQL product names it. MariaDB and MySQL (InnoDB) at REPEATABLE READ come close: plain "
         "reads come from one snapshot, and lost updates are possible. But a write, and a locking "
         "read, sees the newest version. So a transaction that mixes both can violate this level."},
    {.level = Level::kSnapshotIsolation,
     .name = "snapshot-isolation",
     .short_name = "si",
     .aliases = {"pl-si"},
     .nodes = Nodes::kBeginsAndCommits,
     .writers_exclude = true,
     .ladder_position = 7,
     .page = "docs/reference/levels/snapshot-isolation.md",
     .definition =
         "Every transaction reads from a snapshot, and two transactions that write the same "
         "key do not overlap. The level includes neither session order nor real time.",
     .also_called = "Adya's PL-SI",
     .example = "a: r(x,0) w(x,1) | b: r(x,0) w(x,2)",
     .given_by = "PostgreSQL at REPEATABLE READ. SQL Server at SNAPSHOT. Oracle at SERIALIZABLE. "
                 "MariaDB at REPEATABLE READ with innodb_snapshot_isolation on. Single-node "
                 "systems of this kind give the stronger strong snapshot isolation."},
    {.level = Level::kGeneralizedSnapshotIsolation,
     .name = "generalized-snapshot-isolation",
     .short_name = "gsi",
     .aliases = {"ansi-snapshot-isolation"},
     .implies = {Level::kSnapshotIsolation},
     .nodes = Nodes::kBeginsAndCommits,
     .writers_exclude = true,
     .real_time = RealTime::kCommitBeforeCommit,
     .ladder_position = 10,
     .page = "docs/reference/levels/generalized-snapshot-isolation.md",
     .definition =
         "Snapshot isolation in which commits follow real time. A snapshot may be old, but "
         "not from the future.",
     .also_called = "ANSI snapshot isolation",
     .example = "a: r(x,1) @0-1 | b: w(x,1) @5-6",
     .given_by = "No SQL product names it. It was defined for replicated databases that read from "
                 "a replica's older snapshot."},
    {.level = Level::kStrongSessionSnapshotIsolation,
     .name = "strong-session-snapshot-isolation",
     .short_name = "sssi",
     .implies = {Level::kSnapshotIsolation, Level::kPrefix},
     .nodes = Nodes::kBeginsAndCommits,
     .writers_exclude = true,
     .session_order = true,
     .ladder_position = 8,
     .page = "docs/reference/levels/strong-session-snapshot-isolation.md",
     .definition = "Snapshot isolation in which a transaction's snapshot includes the earlier "
                   "transactions of its session.",
     .also_called = "PolySI's SI; Biswas and Enea's SI",
     .example = "a: w(x,1) ; r(x,0)",
     .given_by =
         "PostgreSQL at REPEATABLE READ, SQL Server at SNAPSHOT and Oracle at SERIALIZABLE, each "
         "on a single node. The recorded violations in the tests come from Galera, Dgraph, "
         "YugabyteDB, and MariaDB at REPEATABLE READ with innodb_snapshot_isolation off."},
    {.level = Level::kStrongSnapshotIsolation,
     .name = "strong-snapshot-isolation",
     .short_name = "ssi",
     .implies = {Level::kStrongSessionSnapshotIsolation, Level::kGeneralizedSnapshotIsolation},
     .nodes = Nodes::kBeginsAndCommits,
     .writers_exclude = true,
     .session_order = true,
     .real_time = RealTime::kCommitBeforeBegin,
     .ladder_position = 9,
     .page = "docs/reference/levels/strong-snapshot-isolation.md",
     .definition =
         "Snapshot isolation in which a snapshot includes every transaction that committed "
         "before it was taken.",
     .also_called = "",
     .example = "a: w(x,1) @0-1 | b: r(x,0) @5-6",
     .given_by = "PostgreSQL at REPEATABLE READ, SQL Server at SNAPSHOT and Oracle at "
                 "SERIALIZABLE, each on a single node. Clients with different clocks need "
                 "--clock-drift."},
    {.level = Level::kSerializable,
     .name = "serializable",
     .short_name = "ser",
     .aliases = {"pl-3", "serializability"},
     .implies = {Level::kSnapshotIsolation},
     .ladder_position = 5,
     .page = "docs/reference/levels/serializable.md",
     .definition = "The result is the same as if the transactions ran one after another in some "
                   "order. The level includes neither session order nor real time.",
     .also_called = "Adya's PL-3",
     .example = "a: r(x,0) r(y,0) w(x,1) | b: r(x,0) r(y,0) w(y,1)",
     .given_by = "PostgreSQL at SERIALIZABLE (serializable snapshot isolation). MariaDB and MySQL "
                 "(InnoDB), and SQL Server, at SERIALIZABLE (locking). CockroachDB by default. "
                 "Oracle's SERIALIZABLE is snapshot isolation."},
    {.level = Level::kStrongSessionSerializable,
     .name = "strong-session-serializable",
     .short_name = "sser",
     .implies = {Level::kSerializable, Level::kStrongSessionSnapshotIsolation},
     .session_order = true,
     .ladder_position = 4,
     .page = "docs/reference/levels/strong-session-serializable.md",
     .definition = "Serializable, in an order that respects the order of every session.",
     .also_called = "Biswas and Enea's SER",
     .example = "a: w(x,1) ; r(x,0)",
     .given_by = "PostgreSQL at SERIALIZABLE, and MariaDB and MySQL (InnoDB) at SERIALIZABLE, on a "
                 "single node. CockroachDB promises it by default. The recorded violations in the "
                 "tests come from CockroachDB as tested for the thesis, and from PostgreSQL at "
                 "SERIALIZABLE before a bug was fixed."},
    {.level = Level::kStrictSerializable,
     .name = "strict-serializable",
     .short_name = "strict",
     .aliases = {"pl-ss", "strict-serializability"},
     .implies = {Level::kStrongSessionSerializable, Level::kStrongSnapshotIsolation},
     .session_order = true,
     .real_time = RealTime::kCommitBeforeBegin,
     .ladder_position = 0,
     .page = "docs/reference/levels/strict-serializable.md",
     .definition = "Serializable, in an order that respects real time.",
     .also_called = "PL-SS",
     .example = "a: w(x,1) @0-1 | b: r(x,0) @5-6",
     .given_by = "MariaDB and MySQL (InnoDB) at SERIALIZABLE on a single node (two-phase "
                 "locking). Google Spanner and FoundationDB promise it. CockroachDB does not "
                 "promise it across keys."},
    {.level = Level::kLinearizable,
     .name = "linearizable",
     .short_name = "lin",
     .aliases = {"linearizability"},
     .session_order = true,
     .real_time = RealTime::kCommitBeforeBegin,
     .single_object = true,
     .ladder_position = 11,
     .page = "docs/reference/levels/linearizable.md",
     .definition =
         "Every object, taken alone, is strict serializable. The level is for transactions "
         "that touch one object each.",
     .also_called = "",
     .example = "a: w(x,1) @0-1 | b: r(x,0) @5-6",
     .given_by = "etcd (linearizable reads, its default today) and ZooKeeper with sync before a "
                 "read. The etcd logs in the tests come from an early version without linearizable "
                 "reads: 79 of 102 are not linearizable."},
}};

constexpr const LevelSpec& spec_of(Level level) {
  return kLevelSpecs[static_cast<std::size_t>(level)];
}

}  // namespace cupel::levels
