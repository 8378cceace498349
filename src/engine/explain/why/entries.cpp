// The tables of the glossary. What is said of databases is from their manuals,
// from Kleppmann's Hermitage (what each level of PostgreSQL, MySQL, Oracle and SQL
// Server lets through), from Jepsen's reports and from the papers that found the
// violations, and names the version where it was one version's fault. Plume's names
// (TAP, OOPSLA 2024) are those of its own source.
#include "engine/explain/why/glossary.hpp"

namespace cupel::explain {

using levels::Level;

namespace {

// Seen inside one transaction or one read, so every level asks for it.
const std::vector<Level> kAll = {Level::kReadCommitted, Level::kSnapshotIsolation,
                                 Level::kLinearizable};

constexpr const char* kMini = "The 14 that mini-transactions can show";
constexpr const char* kObjects = "Of lists and compare-and-set";
constexpr const char* kAdya = "Adya's, by the edges of the cycle";
constexpr const char* kSession = "Adya's, with session order";
constexpr const char* kTime = "Adya's, with real time";

constexpr const char* kNoLevel =
    "No level of any database named here. It is a fault of the database or of the recorder.";
constexpr const char* kUncommitted =
    "MySQL and MariaDB (InnoDB) at READ UNCOMMITTED; SQL Server at READ UNCOMMITTED or with "
    "NOLOCK; "
    "SQLite only in shared-cache mode with PRAGMA read_uncommitted.";
constexpr const char* kTwoStatements =
    "PostgreSQL, Oracle, SQL Server, MySQL and MariaDB at READ COMMITTED, between two statements. "
    "This is the default of the first three.";
constexpr const char* kSkew =
    "PostgreSQL at REPEATABLE READ and READ COMMITTED; Oracle at SERIALIZABLE, which is snapshot "
    "isolation; SQL Server at SNAPSHOT; MySQL and MariaDB (InnoDB) at REPEATABLE READ; MongoDB in "
    "transactions; YugabyteDB at REPEATABLE READ; CockroachDB at READ COMMITTED.";
constexpr const char* kStale =
    "Reads from an asynchronous replica of any database, such as PostgreSQL's standbys, the "
    "replicas of MySQL and Redis, and MongoDB's secondaries; Cassandra if the replicas that are "
    "read and written need not overlap, as at ONE; etcd's reads with the option serializable.";
constexpr const char* kChooseStronger =
    "Run the transactions at a level that forbids the anomaly, and retry those that fail.";

const AnomalyEntry kAnomalies[] = {
    {.name = "thin-air-read",
     .definition = "A read returned a value that nobody wrote.",
     .example = "a: r(x,7)",
     .weakest = kAll,
     .group = kMini,
     .also = {"TAP-a", "ThinAirRead"},
     .allowed = kNoLevel,
     .cause = "The storage is corrupt, a client decoded a value wrongly, a writer outside the "
              "recorded sessions wrote the value, or the tables were not empty at the start.",
     .remedy =
         "First make sure that every writer is recorded. If so, treat it as data corruption."},
    {.name = "aborted-read",
     .definition = "A read returned a value that an aborted transaction wrote (Adya's G1a, a dirty "
                   "read).",
     .example = "a: ! w(x,1) | b: r(x,1)",
     .weakest = kAll,
     .group = kMini,
     .also = {"TAP-b", "AbortedRead", "dirty read", "P1", "A1"},
     .allowed =
         "MySQL and MariaDB (InnoDB) at READ UNCOMMITTED; SQL Server at READ UNCOMMITTED or with "
         "NOLOCK; SQLite only in shared-cache mode with PRAGMA read_uncommitted; MongoDB with read "
         "concern local, if a failover rolls back the value that was read.",
     .cause = "Writes become visible before their commit. Or a commit that was reported as failed "
              "had taken effect. A client that records a time-out as an abort also causes this.",
     .remedy = "Use READ COMMITTED or more, or read concern majority. Record time-outs as "
               "indeterminate."},
    {.name = "future-read",
     .definition = "A transaction read a value that it wrote itself later.",
     .example = "a: r(x,1) w(x,1)",
     .weakest = kAll,
     .group = kMini,
     .also = {"TAP-c", "FutureRead"},
     .allowed =
         "No level of any database named here. Jepsen found it in transactions of MongoDB 4.2.6.",
     .cause = "A driver or server retries a transaction whose first attempt had taken effect.",
     .remedy = "Look for retries below the application. Update the database."},
    {.name = "not-my-last-write",
     .definition =
         "A transaction wrote a key several times and then read one of its earlier writes.",
     .example = "a: w(x,1) w(x,2) r(x,1)",
     .weakest = kAll,
     .group = kMini,
     .also = {"TAP-e", "NotMyLastWrite"},
     .allowed = kNoLevel,
     .cause = "Buffered writes are applied out of order, or a cache is in front of them.",
     .remedy = "Report it to the vendor. No setting should make a difference."},
    {.name = "not-my-own-write",
     .definition = "A transaction wrote a key and then read a version of another transaction.",
     .example = "b: w(x,1) | a: w(x,2) r(x,1)",
     .weakest = kAll,
     .group = kMini,
     .also = {"TAP-d", "NotMyOwnWrite"},
     .allowed = kNoLevel,
     .cause = "The reads and writes of one transaction go to different servers or connections.",
     .remedy = "Keep a transaction on one connection. If it already is, report the violation to "
               "the vendor."},
    {.name = "intermediate-read",
     .definition =
         "A read returned a value that its writer overwrote in the same transaction (Adya's "
         "G1b).",
     .example = "a: w(x,1) w(x,2) | b: r(x,1)",
     .weakest = kAll,
     .group = kMini,
     .also = {"TAP-f", "IntermediateRead"},
     .allowed = kUncommitted,
     .cause = "Writes become visible before their commit.",
     .remedy = "Use READ COMMITTED or more."},
    {.name = "non-repeatable-read",
     .definition = "Two reads of one key in one transaction returned different values, without a "
                   "write of its own between them.",
     .example = "a: w(x,1) | b: r(x,0) r(x,1)",
     .weakest = {Level::kReadAtomic, Level::kSnapshotIsolation, Level::kLinearizable},
     .group = kMini,
     .also = {"TAP-j", "NonRepeatableRead", "fuzzy read", "P2", "A2"},
     .allowed = kTwoStatements,
     .cause = "Each statement reads from its own snapshot.",
     .remedy =
         "Use REPEATABLE READ or more, or read once and keep the value, or use select for update."},
    {.name = "session-guarantee-violation",
     .definition = "A transaction missed a write that an earlier transaction of its session made "
                   "(read your writes, monotonic reads).",
     .example = "a: w(x,1) ; r(x,0)",
     .weakest = {Level::kReadAtomic, Level::kLinearizable},
     .group = kMini,
     .also = {"TAP-k", "TAP-l"},
     .allowed = kStale,
     .cause = "Several replicas serve a session, or a connection pool moves it.",
     .remedy =
         "Read from the primary, or use causally consistent sessions if the database has them."},
    {.name = "non-monotonic-read",
     .definition = "A transaction read from another transaction and then read a version older than "
                   "that transaction's writes.",
     .example = "a: w(x,1) ; w(x,2) w(y,2) | b: r(y,2) r(x,1)",
     .weakest = {Level::kReadCommitted, Level::kLinearizable},
     .some = {Level::kSnapshotIsolation},
     .group = kMini,
     .also = {"TAP-h", "OTV", "NonMonoReadCO", "TAP-i", "NonMonoReadAO", "NonMonoReadCM",
              "observed transaction vanishes"},
     .allowed =
         "MySQL and MariaDB (InnoDB) at REPEATABLE READ: a locking read (SELECT … FOR UPDATE) "
         "returns the newest version, and a plain SELECT after it returns one of the older "
         "snapshot. InnoDB and SQL Server at READ UNCOMMITTED. Transactions whose reads go "
         "to replicas that are not equally current.",
     .cause = "A transaction reads from two states of the database: the newest one and a "
              "snapshot, or two replicas. Or a commit becomes visible key by key.",
     .remedy = "With InnoDB at REPEATABLE READ, read everything with locking reads, or use READ "
               "COMMITTED (each statement reads the newest commits) or SERIALIZABLE. Elsewhere, "
               "use READ COMMITTED or more, on one replica."},
    {.name = "fractured-read",
     .definition = "A transaction saw one write of another transaction and missed another one.",
     .example = "a: w(x,1) w(y,1) | b: r(x,0) r(y,1)",
     .weakest = {Level::kReadAtomic, Level::kLinearizable},
     .some = {Level::kSnapshotIsolation},
     .group = kMini,
     .also = {"TAP-k", "FracturedReadCO", "TAP-l", "FracturedReadAO", "FracturedReadCM",
              "read skew", "A5A"},
     .allowed =
         "PostgreSQL, Oracle, SQL Server, MySQL and MariaDB at READ COMMITTED, between two "
         "statements; Cassandra's batches over several partitions; MongoDB's reads of several "
         "documents outside transactions.",
     .cause = "Two reads see two states of the database, with a commit between them.",
     .remedy = "Use REPEATABLE READ (a snapshot) for transactions that read more than one row."},
    {.name = "causality-violation",
     .definition =
         "A read missed a write in its causal past, which consists of session order and reads.",
     .example = "a: w(x,1) | b: r(x,1) w(y,1) | c: r(y,1) r(x,0)",
     .weakest = {Level::kCausal, Level::kLinearizable},
     .some = {Level::kSnapshotIsolation},
     .group = kMini,
     .also = {"TAP-m", "COConflictAO", "COConflictCM", "TAP-n", "ConflictAO", "ConflictCM"},
     .allowed = "MongoDB outside causally consistent sessions, if secondaries are read; Cassandra; "
                "asynchronous replication between several writable nodes; READ COMMITTED of any "
                "SQL database, between two statements. PolySI found it as a fault in Dgraph and in "
                "YugabyteDB.",
     .cause = "Writes reach replicas in an order that contradicts their dependencies.",
     .remedy =
         "Use causally consistent sessions, or a single primary for reads that belong together."},
    {.name = "long-fork",
     .definition =
         "Two readers saw two writes in opposite orders: each saw one write and missed the "
         "other.",
     .example = "a: w(x,1) | b: w(y,1) | c: r(x,1) r(y,0) | d: r(x,0) r(y,1)",
     .weakest = {Level::kPrefix, Level::kSnapshotIsolation},
     .group = kMini,
     .also = {"parallel snapshot isolation's anomaly"},
     .allowed = "Parallel snapshot isolation, by design; READ COMMITTED of any SQL database, "
                "between two statements; readers on a primary and on a standby of PostgreSQL, as "
                "Jepsen found in Amazon RDS for PostgreSQL 17.4.",
     .cause = "There is no single order of commits. Each node has its own, or the primary's memory "
              "and its log have different ones.",
     .remedy = "Let readers that compare their results read from one node, or use serializable."},
    {.name = "lost-update",
     .definition =
         "Two transactions read the same version of a key and both wrote the key: one update "
         "is lost.",
     .example = "a: r(x,0) w(x,1) | b: r(x,0) w(x,2)",
     .weakest = {Level::kSnapshotIsolation, Level::kLinearizable},
     .group = kMini,
     .also = {"P4"},
     .allowed = "PostgreSQL, Oracle and SQL Server at READ COMMITTED, their default; MySQL "
                "(InnoDB) at REPEATABLE READ, its default, and below; MariaDB at the same levels "
                "if innodb_snapshot_isolation is off; CockroachDB and YugabyteDB at READ "
                "COMMITTED; MongoDB outside transactions; Redis with GET and SET without WATCH; "
                "Cassandra without lightweight transactions. PolySI found it in MariaDB Galera.",
     .cause = "The application reads a value, computes a new one and writes it back, without a "
              "lock or a check.",
     .remedy = "Compute in the statement (set n = n - 1), use select for update, use "
               "compare-and-set on a version column, or use snapshot isolation with a retry."},
    {.name = "write-skew",
     .definition =
         "Each of two transactions read a key that the other one changed, and neither saw "
         "the other's write.",
     .example = "a: r(x,0) w(y,1) | b: r(y,0) w(x,1)",
     .weakest = {Level::kSerializable},
     .group = kMini,
     .also = {"A5B"},
     .allowed = kSkew,
     .cause = "A rule about several rows is checked on a snapshot, and each transaction changes a "
              "different row: the last doctor on call, the second booking of a room.",
     .remedy = "Use SERIALIZABLE with a retry, or lock the rows that are only read (select for "
               "update), or express the rule in one row or a constraint."},

    {.name = "incompatible-order",
     .definition =
         "Two reads of one list returned values of which neither is a prefix of the other.",
     .example = "a: a(x,1) | b: a(x,2) | c: l(x,[1 2]) | d: l(x,[2 1])",
     .weakest = kAll,
     .group = kObjects,
     .allowed = kNoLevel,
     .cause = "Two nodes accepted appends independently, and one of the two lists was discarded "
              "after it had been read.",
     .remedy = "Look for failovers and split brain at that time. Use majority reads and writes."},
    {.name = "duplicate-element",
     .definition = "A list read returned an element twice that was appended once.",
     .example = "a: a(x,1) | b: l(x,[1 1])",
     .weakest = kAll,
     .group = kObjects,
     .allowed =
         "No level of any database named here. Jepsen found it in transactions of MongoDB 4.2.6.",
     .cause = "The driver or the server retried a write that had taken effect.",
     .remedy = "Turn off automatic retries, or make writes idempotent."},
    {.name = "failed-compare-read",
     .definition = "A compare-and-set failed, although the key only ever had the expected value.",
     .example = "a: cas!(x,0,1)",
     .weakest = kAll,
     .group = kObjects,
     .allowed = kNoLevel,
     .cause = "A compare-and-set that took effect is retried and fails because of its own write.",
     .remedy = "Record a failure after a retry as indeterminate."},

    {.name = "G0",
     .definition =
         "Dirty write: the versions of several keys order the same transactions in a cycle "
         "(ww edges only).",
     .example = "a: a(x,1) a(y,1) | b: a(x,2) a(y,2) | c: l(x,[1 2]) l(y,[2 1])",
     .weakest = {Level::kReadCommitted, Level::kSnapshotIsolation, Level::kLinearizable},
     .group = kAdya,
     .also = {"dirty write", "P0"},
     .allowed = "None of PostgreSQL, MySQL, MariaDB, Oracle and SQL Server at any level.",
     .cause = "The writes of a transaction are applied one by one without locks, or with clocks "
              "that differ between nodes.",
     .remedy = "Use transactions. If the last writer wins in the store, check its clocks."},
    {.name = "G1a",
     .definition = "A read returned a value that an aborted transaction wrote: Adya's name for "
                   "aborted-read.",
     .example = "a: ! w(x,1) | b: r(x,1)",
     .weakest = kAll,
     .group = kAdya,
     .allowed = "See aborted-read.",
     .cause = "See aborted-read.",
     .remedy = "See aborted-read."},
    {.name = "G1b",
     .definition =
         "A read returned a value that its writer overwrote in the same transaction: Adya's "
         "name for intermediate-read.",
     .example = "a: w(x,1) w(x,2) | b: r(x,1)",
     .weakest = kAll,
     .group = kAdya,
     .allowed = "See intermediate-read.",
     .cause = "See intermediate-read.",
     .remedy = "See intermediate-read."},
    {.name = "G1c",
     .definition = "Circular information flow: a cycle of ww and wr edges.",
     .example = "a: r(x,1) w(y,1) | b: r(y,1) w(x,1)",
     .weakest = {Level::kReadCommitted, Level::kSnapshotIsolation, Level::kLinearizable},
     .group = kAdya,
     .also = {"TAP-g", "CyclicCO"},
     .allowed = "MySQL and MariaDB (InnoDB) at READ UNCOMMITTED; SQL Server at READ UNCOMMITTED. "
                "Jepsen found it as a fault in transactions of MongoDB 4.2.6.",
     .cause = "Writes become visible before their commit.",
     .remedy = "Use READ COMMITTED or more."},
    {.name = "G-single",
     .definition =
         "Read skew: a cycle with exactly one rw edge. A read missed a write that comes before it.",
     .example = "a: a(x,1) a(z,1) | b: a(z,2) a(y,2) | c: l(y,[2]) l(x,[]) | d: l(z,[1 2])",
     .weakest = {Level::kSnapshotIsolation, Level::kLinearizable},
     .some = {Level::kReadCommitted},
     .group = kAdya,
     .also = {"read skew"},
     .allowed =
         "PostgreSQL, Oracle, SQL Server, MySQL and MariaDB at READ COMMITTED; MySQL (InnoDB) "
         "at REPEATABLE READ too, in transactions that write.",
     .cause = "A transaction reads from two states of the database.",
     .remedy =
         "Use a snapshot: REPEATABLE READ of PostgreSQL, SNAPSHOT of SQL Server, or similar."},
    {.name = "G-nonadjacent",
     .definition =
         "A cycle with several rw edges, no two of which are adjacent. A long-fork is one.",
     .example =
         "a: a(x,1) a(z,1) | b: a(z,2) a(y,2) | c: l(y,[2]) l(w,[]) | d: a(w,3) | e: l(w,[3]) "
         "l(x,[]) | f: l(z,[1 2])",
     .weakest = {Level::kSnapshotIsolation, Level::kLinearizable},
     .some = {Level::kPrefix},
     .group = kAdya,
     .allowed = "READ COMMITTED of any SQL database; databases that allow long-fork.",
     .cause = "Several readers have snapshots that do not fit together.",
     .remedy = "Use snapshot isolation with one order of commits."},
    {.name = "G2-item",
     .definition =
         "Anti-dependency cycle: a cycle with two adjacent rw edges. A write-skew is one.",
     .example = "a: r(x,0) w(y,1) | b: r(y,0) w(z,1) | c: r(z,0) w(x,1)",
     .weakest = {Level::kSerializable, Level::kLinearizable},
     .group = kAdya,
     .allowed = kSkew,
     .cause = "Each transaction reads a key that the next one changes, and all of them read from "
              "snapshots.",
     .remedy = "Use SERIALIZABLE with a retry."},

    {.name = "G0-process",
     .definition = "A G0 whose proof needs session order.",
     .example = "a: a(x,1) ; a(x,2) | b: l(x,[2 1])",
     .weakest = {Level::kReadCommitted, Level::kLinearizable},
     .group = kSession,
     .allowed = "Stores in which the last writer wins by clocks that differ, such as Cassandra.",
     .cause = "Another clock than the session's orders the writes of a session.",
     .remedy = "Keep a session on one node, or its writes in one transaction."},
    {.name = "G1c-process",
     .definition = "A G1c whose proof needs session order.",
     .example = "a: r(x,1) ; w(y,1) | b: r(y,1) w(x,1)",
     .weakest = {Level::kReadCommitted, Level::kLinearizable},
     .group = kSession,
     .also = {"TAP-g", "CyclicCO"},
     .allowed = "Levels at which uncommitted writes are visible: READ UNCOMMITTED.",
     .cause = "According to the order of the sessions, a session saw a write before it was made.",
     .remedy =
         "Use READ COMMITTED or more. Make sure that each session is recorded in its own order."},
    {.name = "G-single-process",
     .definition = "A G-single whose proof needs session order.",
     .example = "a: a(x,1) a(z,1) | b: a(z,2) ; l(x,[]) | c: l(z,[1 2])",
     .weakest = {Level::kStrongSessionSnapshotIsolation, Level::kLinearizable},
     .some = {Level::kReadCommitted},
     .group = kSession,
     .allowed = kStale,
     .cause = "A session takes a snapshot that is older than what it did or saw before.",
     .remedy = "Read from the primary, or use sessions that keep their own order."},
    {.name = "G-nonadjacent-process",
     .definition = "A G-nonadjacent whose proof needs session order.",
     .example = "a: w(x,1) ; r(y,0) | b: w(y,1) ; r(x,0)",
     .weakest = {Level::kStrongSessionSnapshotIsolation, Level::kLinearizable},
     .some = {Level::kPrefix},
     .group = kSession,
     .allowed = kStale,
     .cause = "Several sessions take snapshots that are older than what they did or saw before.",
     .remedy = "Read from the primary, or use sessions that keep their own order."},
    {.name = "G2-item-process",
     .definition = "A G2-item whose proof needs session order.",
     .example = "a: w(z,1) ; r(x,0) | b: r(z,0) w(x,1)",
     .weakest = {Level::kStrongSessionSerializable, Level::kLinearizable},
     .group = kSession,
     .allowed = kSkew,
     .cause =
         "Transactions read from snapshots, as in G2-item, in sessions of several transactions.",
     .remedy = "Use SERIALIZABLE with a retry."},

    {.name = "G0-realtime",
     .definition = "A G0 whose proof needs real time, and possibly session order.",
     .example = "b: a(x,2) @0-10 | a: a(x,1) @20-30 | c: l(x,[1 2]) @40-50",
     .weakest = {Level::kStrongSnapshotIsolation, Level::kLinearizable},
     .some = {Level::kGeneralizedSnapshotIsolation},
     .group = kTime,
     .allowed = "Stores that order writes by clocks that differ, such as Cassandra.",
     .cause = "A later write gets an earlier timestamp.",
     .remedy = "Synchronise the clocks. If only the recorder's clocks differ, use --clock-drift."},
    {.name = "G1c-realtime",
     .definition = "A G1c whose proof needs real time, and possibly session order.",
     .example = "b: r(x,1) @0-10 | a: w(x,1) @20-30",
     .weakest = {Level::kStrongSnapshotIsolation, Level::kLinearizable},
     .some = {Level::kGeneralizedSnapshotIsolation},
     .group = kTime,
     .allowed = "Hardly any database: a value was seen before its transaction was invoked.",
     .cause = "The recorder's clocks differ.",
     .remedy = "Use --clock-drift with the largest difference of the clocks."},
    {.name = "G-single-realtime",
     .definition =
         "A G-single whose proof needs real time, such as a stale read: a write completed "
         "before the reader was invoked, and the reader missed it.",
     .example = "a: w(x,1) @0-10 | b: r(x,0) @20-30",
     .weakest = {Level::kStrongSnapshotIsolation, Level::kLinearizable},
     .some = {Level::kGeneralizedSnapshotIsolation},
     .group = kTime,
     .also = {"stale read", "causal reverse"},
     .allowed = "Reads from an asynchronous replica of any database; etcd's reads with the option "
                "serializable; ZooKeeper without sync; CockroachDB at SERIALIZABLE in the form of "
                "a causal reverse: of two writes to different keys, the later one is seen and the "
                "earlier one is not.",
     .cause = "A replica lags, a lease has expired, or a clock is wrong.",
     .remedy =
         "Read from the leader with linearizable reads. If clocks differ, use --clock-drift."},
    {.name = "G-nonadjacent-realtime",
     .definition = "A G-nonadjacent whose proof needs real time.",
     .example = "a: w(x,1) @0-10 | b: r(y,0) @20-30 | c: w(y,1) @5-40 | d: r(y,1) r(x,0) @5-40",
     .weakest = {Level::kStrongSnapshotIsolation, Level::kLinearizable},
     .some = {Level::kGeneralizedSnapshotIsolation},
     .group = kTime,
     .allowed = "Databases that allow stale reads or long forks.",
     .cause = "Several readers use replicas that lag.",
     .remedy = "Read from the leader with linearizable reads."},
    {.name = "G2-item-realtime",
     .definition = "A G2-item whose proof needs real time.",
     .example = "c: w(y,1) @0-10 | b: r(y,0) w(x,1) @5-50 | a: r(x,0) @20-100",
     .weakest = {Level::kStrictSerializable, Level::kLinearizable},
     .group = kTime,
     .allowed = "Databases that are serializable but not strictly, because their order may "
                "contradict real time; and databases that allow G2-item.",
     .cause = "The serial order places a transaction before one that had already completed.",
     .remedy = "If real time matters, use a strictly serializable database."},
};

}  // namespace

std::span<const AnomalyEntry> anomalies() {
  return kAnomalies;
}

}  // namespace cupel::explain
