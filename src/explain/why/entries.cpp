// The tables of the glossary. What is said of databases is from their manuals,
// from Kleppmann's Hermitage (what each level of PostgreSQL, MySQL, Oracle and SQL
// Server lets through), from Jepsen's reports and from the papers that found the
// violations, and names the version where it was one version's fault. Plume's names
// (TAP, OOPSLA 2024) are those of its own source.
#include "explain/why/glossary.hpp"

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
    "No level of any database named here: it is a fault of the database, or of what recorded it.";
constexpr const char* kUncommitted =
    "MySQL and MariaDB (InnoDB) at READ UNCOMMITTED; SQL Server at READ UNCOMMITTED or with "
    "NOLOCK; "
    "SQLite only in shared-cache mode with PRAGMA read_uncommitted.";
constexpr const char* kTwoStatements =
    "PostgreSQL, Oracle, SQL Server, MySQL and MariaDB at READ COMMITTED, between two statements; "
    "it is the default of the first three.";
constexpr const char* kSkew =
    "PostgreSQL at REPEATABLE READ and READ COMMITTED; Oracle at SERIALIZABLE, which is snapshot "
    "isolation; SQL Server at SNAPSHOT; MySQL and MariaDB (InnoDB) at REPEATABLE READ; MongoDB in "
    "transactions; YugabyteDB at REPEATABLE READ; CockroachDB at READ COMMITTED.";
constexpr const char* kStale =
    "Reads from an asynchronous replica of any database, such as PostgreSQL's standbys, MySQL's "
    "and "
    "Redis's replicas and MongoDB's secondaries; Cassandra where the replicas read and those "
    "written need not overlap, as at ONE; etcd's reads with the option serializable.";
constexpr const char* kChooseStronger =
    "Run the transactions at a level that forbids it, and retry those that fail.";

const AnomalyEntry kAnomalies[] = {
    {.name = "thin-air-read",
     .meaning = "A read returned a value that nobody wrote.",
     .example = "a: r(x,7)",
     .weakest = kAll,
     .group = kMini,
     .also = {"TAP-a", "ThinAirRead"},
     .allowed = kNoLevel,
     .cause = "Corrupted storage, a client that decoded something wrong, a writer outside the "
              "recorded sessions, or tables that were not empty at the start.",
     .remedy = "Make sure first that every writer is recorded; then take it for data corruption."},
    {.name = "aborted-read",
     .meaning = "A read returned a value that an aborted transaction wrote (Adya's G1a, a dirty "
                "read).",
     .example = "a: ! w(x,1) | b: r(x,1)",
     .weakest = kAll,
     .group = kMini,
     .also = {"TAP-b", "AbortedRead", "dirty read", "P1", "A1"},
     .allowed = "MySQL and MariaDB (InnoDB) at READ UNCOMMITTED; SQL Server at READ UNCOMMITTED or "
                "with NOLOCK; SQLite only in shared-cache mode with PRAGMA read_uncommitted; "
                "MongoDB with read concern local, where a failover rolls back what was read.",
     .cause = "Writes become visible before their commit, or a commit that was reported as failed "
              "had taken effect after all: a client that takes a time-out for an abort records "
              "that as well.",
     .remedy = "READ COMMITTED or more; read concern majority. Record time-outs as indeterminate."},
    {.name = "future-read",
     .meaning = "A transaction read a value that it wrote itself only later.",
     .example = "a: r(x,1) w(x,1)",
     .weakest = kAll,
     .group = kMini,
     .also = {"TAP-c", "FutureRead"},
     .allowed = "No level of any database named here; MongoDB 4.2.6 did it in transactions, as "
                "Jepsen found.",
     .cause = "A driver or server that retries a transaction whose first attempt had taken effect.",
     .remedy = "Look for retries below the application; update the database."},
    {.name = "not-my-last-write",
     .meaning = "After several writes of its own a transaction read one that was not its last.",
     .example = "a: w(x,1) w(x,2) r(x,1)",
     .weakest = kAll,
     .group = kMini,
     .also = {"TAP-e", "NotMyLastWrite"},
     .allowed = kNoLevel,
     .cause = "Buffered writes that are applied out of order, or a cache in front of them.",
     .remedy = "Report it; no setting should make a difference."},
    {.name = "not-my-own-write",
     .meaning = "After its own write a transaction read somebody else's version.",
     .example = "b: w(x,1) | a: w(x,2) r(x,1)",
     .weakest = kAll,
     .group = kMini,
     .also = {"TAP-d", "NotMyOwnWrite"},
     .allowed = kNoLevel,
     .cause = "Reads and writes of one transaction that go to different servers or connections.",
     .remedy = "Keep a transaction on one connection; else report it."},
    {.name = "intermediate-read",
     .meaning = "A read returned a value that its writer overwrote in the same transaction (Adya's "
                "G1b).",
     .example = "a: w(x,1) w(x,2) | b: r(x,1)",
     .weakest = kAll,
     .group = kMini,
     .also = {"TAP-f", "IntermediateRead"},
     .allowed = kUncommitted,
     .cause = "Writes become visible before their commit.",
     .remedy = "READ COMMITTED or more."},
    {.name = "non-repeatable-read",
     .meaning = "Two reads of one key in one transaction, without a write of its own in between, "
                "returned different values.",
     .example = "a: w(x,1) | b: r(x,0) r(x,1)",
     .weakest = {Level::kReadAtomic, Level::kSnapshotIsolation, Level::kLinearizable},
     .group = kMini,
     .also = {"TAP-j", "NonRepeatableRead", "fuzzy read", "P2", "A2"},
     .allowed = kTwoStatements,
     .cause = "Each statement has a snapshot of its own.",
     .remedy = "REPEATABLE READ or more; or read once and keep the value; or select for update."},
    {.name = "session-guarantee-violation",
     .meaning = "A transaction missed what an earlier transaction of its own session wrote (read "
                "your writes, monotonic reads).",
     .example = "a: w(x,1) ; r(x,0)",
     .weakest = {Level::kReadAtomic, Level::kLinearizable},
     .group = kMini,
     .also = {"TAP-k", "TAP-l"},
     .allowed = kStale,
     .cause = "A session that is served by several replicas, or a connection pool that moves it.",
     .remedy = "Read from the primary, or in causally consistent sessions where there are such."},
    {.name = "non-monotonic-read",
     .meaning = "A transaction read from another one, and then read a version older than what that "
                "one wrote.",
     .example = "a: w(x,1) ; w(x,2) w(y,2) | b: r(y,2) r(x,1)",
     .weakest = {Level::kReadCommitted, Level::kLinearizable},
     .some = {Level::kSnapshotIsolation},
     .group = kMini,
     .also = {"TAP-h", "NonMonoReadCO", "TAP-i", "NonMonoReadAO", "NonMonoReadCM",
              "observed transaction vanishes"},
     .allowed = "MySQL and MariaDB (InnoDB) at READ UNCOMMITTED; SQL Server at READ UNCOMMITTED; "
                "transactions whose reads go to replicas that are not equally up to date.",
     .cause = "The commit of a transaction becomes visible key by key, or node by node.",
     .remedy = "READ COMMITTED or more, on one replica."},
    {.name = "fractured-read",
     .meaning = "A transaction saw one write of another transaction and missed another of its "
                "writes.",
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
     .cause = "Two reads see two states of the database, and a commit falls between them.",
     .remedy = "REPEATABLE READ (a snapshot) for whatever reads more than one row."},
    {.name = "causality-violation",
     .meaning = "A read missed a write that is in its past by way of session order and reads.",
     .example = "a: w(x,1) | b: r(x,1) w(y,1) | c: r(y,1) r(x,0)",
     .weakest = {Level::kCausal, Level::kLinearizable},
     .some = {Level::kSnapshotIsolation},
     .group = kMini,
     .also = {"TAP-m", "COConflictAO", "COConflictCM", "TAP-n", "ConflictAO", "ConflictCM"},
     .allowed =
         "MongoDB outside causally consistent sessions, where secondaries are read; Cassandra; "
         "asynchronous replication between several writable nodes; READ COMMITTED of any SQL "
         "database, between two statements. PolySI found it in Dgraph and in YugabyteDB, "
         "where it was a fault.",
     .cause = "Writes reach replicas in another order than the one in which they depend on each "
              "other.",
     .remedy = "Causally consistent sessions, or a single primary for reads that belong together."},
    {.name = "long-fork",
     .meaning = "Two readers saw two writes in opposite orders: each saw one write and missed the "
                "other.",
     .example = "a: w(x,1) | b: w(y,1) | c: r(x,1) r(y,0) | d: r(x,0) r(y,1)",
     .weakest = {Level::kPrefix, Level::kSnapshotIsolation},
     .group = kMini,
     .also = {"parallel snapshot isolation's anomaly"},
     .allowed =
         "Parallel snapshot isolation, by design; READ COMMITTED of any SQL database, between "
         "two statements; readers on a primary and on a standby of PostgreSQL, as Jepsen "
         "found in Amazon RDS for PostgreSQL 17.4.",
     .cause =
         "There is no one order of commits: each node, or the primary's memory and its log, has "
         "its own.",
     .remedy = "Let readers who compare notes read from one node; or serializable."},
    {.name = "lost-update",
     .meaning =
         "Two transactions read the same version of a key and both wrote the key: one update "
         "is lost.",
     .example = "a: r(x,0) w(x,1) | b: r(x,0) w(x,2)",
     .weakest = {Level::kSnapshotIsolation, Level::kLinearizable},
     .group = kMini,
     .also = {"P4"},
     .allowed =
         "PostgreSQL, Oracle and SQL Server at READ COMMITTED, their default; MySQL (InnoDB) "
         "at REPEATABLE READ, its default, and below; MariaDB likewise where "
         "innodb_snapshot_isolation is off; CockroachDB and YugabyteDB at READ COMMITTED; "
         "MongoDB outside transactions; Redis with GET and SET without WATCH; Cassandra "
         "without lightweight transactions. PolySI found it in MariaDB Galera.",
     .cause =
         "Reading a value, computing a new one in the application and writing it back, without "
         "a lock or a check.",
     .remedy = "Compute in the statement (set n = n - 1), select for update, compare-and-set on a "
               "version column, or snapshot isolation with a retry."},
    {.name = "write-skew",
     .meaning = "Two transactions each read what the other changed, and neither saw the other's "
                "write.",
     .example = "a: r(x,0) w(y,1) | b: r(y,0) w(x,1)",
     .weakest = {Level::kSerializable},
     .group = kMini,
     .also = {"A5B"},
     .allowed = kSkew,
     .cause = "A rule about several rows is checked on a snapshot, and each transaction changes "
              "another one of them: the last doctor on call, the second booking of a room.",
     .remedy =
         "SERIALIZABLE with a retry; or lock what is only read (select for update), or put the "
         "rule into one row or a constraint."},

    {.name = "incompatible-order",
     .meaning = "Two reads of one list of which neither is a prefix of the other.",
     .example = "a: a(x,1) | b: a(x,2) | c: l(x,[1 2]) | d: l(x,[2 1])",
     .weakest = kAll,
     .group = kObjects,
     .allowed = kNoLevel,
     .cause = "Two nodes took appends without knowing of each other, and one of the two histories "
              "was thrown away after it had been read.",
     .remedy =
         "Look at failovers and split brain around the time; ask for majority reads and writes."},
    {.name = "duplicate-element",
     .meaning = "A list was read with an element twice that was appended once.",
     .example = "a: a(x,1) | b: l(x,[1 1])",
     .weakest = kAll,
     .group = kObjects,
     .allowed = "No level of any database named here; MongoDB 4.2.6 did it in transactions, as "
                "Jepsen found.",
     .cause = "A write that was retried, by the driver or the server, after it had taken effect.",
     .remedy = "Turn off automatic retries, or make writes idempotent."},
    {.name = "failed-compare-read",
     .meaning =
         "A compare-and-set failed although nothing but the value it expected was ever there.",
     .example = "a: cas!(x,0,1)",
     .weakest = kAll,
     .group = kObjects,
     .allowed = kNoLevel,
     .cause = "A compare-and-set that took effect is retried, and fails on its own write.",
     .remedy = "Take a failure after a retry for indeterminate."},

    {.name = "G0",
     .meaning = "Dirty write: the versions of several keys order the same transactions in a cycle "
                "(ww edges only).",
     .example = "a: a(x,1) a(y,1) | b: a(x,2) a(y,2) | c: l(x,[1 2]) l(y,[2 1])",
     .weakest = {Level::kReadCommitted, Level::kSnapshotIsolation, Level::kLinearizable},
     .group = kAdya,
     .also = {"dirty write", "P0"},
     .allowed = "None of PostgreSQL, MySQL, MariaDB, Oracle and SQL Server at any level.",
     .cause = "Writes of a transaction are applied one by one without locks, or with a clock that "
              "differs from node to node.",
     .remedy =
         "Use transactions at all; look at the clocks of a store that lets the last writer win."},
    {.name = "G1a",
     .meaning = "A read returned a value that an aborted transaction wrote: Adya's name for "
                "aborted-read.",
     .example = "a: ! w(x,1) | b: r(x,1)",
     .weakest = kAll,
     .group = kAdya,
     .allowed = "See aborted-read.",
     .cause = "See aborted-read.",
     .remedy = "See aborted-read."},
    {.name = "G1b",
     .meaning = "A read returned a value that its writer overwrote in the same transaction: Adya's "
                "name for intermediate-read.",
     .example = "a: w(x,1) w(x,2) | b: r(x,1)",
     .weakest = kAll,
     .group = kAdya,
     .allowed = "See intermediate-read.",
     .cause = "See intermediate-read.",
     .remedy = "See intermediate-read."},
    {.name = "G1c",
     .meaning = "Circular information flow: a cycle of ww and wr edges.",
     .example = "a: r(x,1) w(y,1) | b: r(y,1) w(x,1)",
     .weakest = {Level::kReadCommitted, Level::kSnapshotIsolation, Level::kLinearizable},
     .group = kAdya,
     .also = {"TAP-g", "CyclicCO"},
     .allowed = "MySQL and MariaDB (InnoDB) at READ UNCOMMITTED; SQL Server at READ UNCOMMITTED. "
                "MongoDB 4.2.6 had it in transactions, as Jepsen found, where it was a fault.",
     .cause = "Writes become visible before their commit.",
     .remedy = "READ COMMITTED or more."},
    {.name = "G-single",
     .meaning =
         "Read skew: a cycle with exactly one rw edge. A read missed a write that comes before "
         "it.",
     .example = "a: a(x,1) a(z,1) | b: a(z,2) a(y,2) | c: l(y,[2]) l(x,[]) | d: l(z,[1 2])",
     .weakest = {Level::kSnapshotIsolation, Level::kLinearizable},
     .some = {Level::kReadCommitted},
     .group = kAdya,
     .also = {"read skew"},
     .allowed =
         "PostgreSQL, Oracle, SQL Server, MySQL and MariaDB at READ COMMITTED; MySQL (InnoDB) "
         "at REPEATABLE READ too, in transactions that write.",
     .cause = "What a transaction reads comes from two states of the database.",
     .remedy = "A snapshot: REPEATABLE READ of PostgreSQL, SNAPSHOT of SQL Server, and the like."},
    {.name = "G-nonadjacent",
     .meaning =
         "A cycle with several rw edges of which no two follow each other; long-fork is one.",
     .example =
         "a: a(x,1) a(z,1) | b: a(z,2) a(y,2) | c: l(y,[2]) l(w,[]) | d: a(w,3) | e: l(w,[3]) "
         "l(x,[]) | f: l(z,[1 2])",
     .weakest = {Level::kSnapshotIsolation, Level::kLinearizable},
     .some = {Level::kPrefix},
     .group = kAdya,
     .allowed = "READ COMMITTED of any SQL database; where long-fork is allowed.",
     .cause = "Several readers have snapshots that do not fit together.",
     .remedy = "Snapshot isolation, with one order of commits."},
    {.name = "G2-item",
     .meaning =
         "Anti-dependency cycle: a cycle with two rw edges that follow each other; write-skew "
         "is one.",
     .example = "a: r(x,0) w(y,1) | b: r(y,0) w(z,1) | c: r(z,0) w(x,1)",
     .weakest = {Level::kSerializable, Level::kLinearizable},
     .group = kAdya,
     .allowed = kSkew,
     .cause = "Each transaction reads what the next one changes, all of them on snapshots.",
     .remedy = "SERIALIZABLE with a retry."},

    {.name = "G0-process",
     .meaning = "G0 with help of session order.",
     .example = "a: a(x,1) ; a(x,2) | b: l(x,[2 1])",
     .weakest = {Level::kReadCommitted, Level::kLinearizable},
     .group = kSession,
     .allowed = "Stores that let the last writer win by clocks that differ, such as Cassandra.",
     .cause = "Writes of a session are ordered by another clock than the session's.",
     .remedy = "Keep a session on one node, or its writes in one transaction."},
    {.name = "G1c-process",
     .meaning = "G1c with help of session order.",
     .example = "a: r(x,1) ; w(y,1) | b: r(y,1) w(x,1)",
     .weakest = {Level::kReadCommitted, Level::kLinearizable},
     .group = kSession,
     .also = {"TAP-g", "CyclicCO"},
     .allowed = "Where writes are seen before their commit: READ UNCOMMITTED.",
     .cause = "A session saw a write before it was made, by the order of the sessions.",
     .remedy = "READ COMMITTED or more; make sure that sessions are recorded in their own order."},
    {.name = "G-single-process",
     .meaning = "G-single with help of session order.",
     .example = "a: a(x,1) a(z,1) | b: a(z,2) ; l(x,[]) | c: l(z,[1 2])",
     .weakest = {Level::kStrongSessionSnapshotIsolation, Level::kLinearizable},
     .some = {Level::kReadCommitted},
     .group = kSession,
     .allowed = kStale,
     .cause = "A session takes a snapshot that is older than what it has done or seen.",
     .remedy = "Read from the primary, or in sessions that keep their own order."},
    {.name = "G-nonadjacent-process",
     .meaning = "G-nonadjacent with help of session order.",
     .example = "a: w(x,1) ; r(y,0) | b: w(y,1) ; r(x,0)",
     .weakest = {Level::kStrongSessionSnapshotIsolation, Level::kLinearizable},
     .some = {Level::kPrefix},
     .group = kSession,
     .allowed = kStale,
     .cause = "Several sessions take snapshots that are older than what they have done or seen.",
     .remedy = "Read from the primary, or in sessions that keep their own order."},
    {.name = "G2-item-process",
     .meaning = "G2-item with help of session order.",
     .example = "a: w(z,1) ; r(x,0) | b: r(z,0) w(x,1)",
     .weakest = {Level::kStrongSessionSerializable, Level::kLinearizable},
     .group = kSession,
     .allowed = kSkew,
     .cause = "Transactions on snapshots, as in G2-item, and sessions of several transactions.",
     .remedy = "SERIALIZABLE with a retry."},

    {.name = "G0-realtime",
     .meaning = "G0 with help of real time, and of session order where that is not real time's.",
     .example = "b: a(x,2) @0-10 | a: a(x,1) @20-30 | c: l(x,[1 2]) @40-50",
     .weakest = {Level::kStrongSnapshotIsolation, Level::kLinearizable},
     .some = {Level::kGeneralizedSnapshotIsolation},
     .group = kTime,
     .allowed = "Stores that order writes by clocks that differ, such as Cassandra.",
     .cause = "A later write gets an earlier timestamp.",
     .remedy = "Synchronise clocks; if only the recorder's clocks differ, --clock-drift."},
    {.name = "G1c-realtime",
     .meaning = "G1c with help of real time, and of session order where that is not real time's.",
     .example = "b: r(x,1) @0-10 | a: w(x,1) @20-30",
     .weakest = {Level::kStrongSnapshotIsolation, Level::kLinearizable},
     .some = {Level::kGeneralizedSnapshotIsolation},
     .group = kTime,
     .allowed = "Hardly any database: something was seen before its transaction was invoked.",
     .cause = "The recorder's clocks differ.",
     .remedy = "--clock-drift, with what the clocks may differ by."},
    {.name = "G-single-realtime",
     .meaning =
         "G-single with help of real time, such as a stale read: a write had completed before "
         "the reader was invoked, and was missed.",
     .example = "a: w(x,1) @0-10 | b: r(x,0) @20-30",
     .weakest = {Level::kStrongSnapshotIsolation, Level::kLinearizable},
     .some = {Level::kGeneralizedSnapshotIsolation},
     .group = kTime,
     .also = {"stale read", "causal reverse"},
     .allowed =
         "Reads from an asynchronous replica of any database; etcd's reads with the option "
         "serializable; ZooKeeper without sync; CockroachDB at SERIALIZABLE in the form of a "
         "causal reverse: of two writes to different keys the later is seen and the earlier "
         "is not.",
     .cause = "A replica that is behind, a lease that has run out, a clock that is wrong.",
     .remedy = "Read from the leader, with linearizable reads; --clock-drift if clocks differ."},
    {.name = "G-nonadjacent-realtime",
     .meaning = "G-nonadjacent with help of real time.",
     .example = "a: w(x,1) @0-10 | b: r(y,0) @20-30 | c: w(y,1) @5-40 | d: r(y,1) r(x,0) @5-40",
     .weakest = {Level::kStrongSnapshotIsolation, Level::kLinearizable},
     .some = {Level::kGeneralizedSnapshotIsolation},
     .group = kTime,
     .allowed = "Where stale reads or long forks are.",
     .cause = "Several readers who are behind.",
     .remedy = "Read from the leader, with linearizable reads."},
    {.name = "G2-item-realtime",
     .meaning = "G2-item with help of real time.",
     .example = "c: w(y,1) @0-10 | b: r(y,0) w(x,1) @5-50 | a: r(x,0) @20-100",
     .weakest = {Level::kStrictSerializable, Level::kLinearizable},
     .group = kTime,
     .allowed = "Databases that are serializable but not strictly, where an order that real time "
                "contradicts is as good as another; and where G2-item is allowed.",
     .cause = "A serial order that puts a transaction before one that was already over.",
     .remedy = "Where that matters, a strictly serializable database."},
};

const TermEntry kTerms[] = {
    {.name = "phantom",
     .meaning =
         "A query read twice found other rows the second time, because somebody had added or "
         "removed some (ANSI's P3 and A3). A range read is here a read of every key in its "
         "range, of the absent ones too, so a phantom goes by the name of what it does to "
         "these keys.",
     .see = {"non-repeatable-read", "write-skew", "G2-item"},
     .also = {"phantom read", "P3", "A3"}},
    {.name = "repeatable-read",
     .meaning =
         "A name with several meanings. Adya's PL-2.99: serializable but for phantoms; there is "
         "no such level here, and serializable is the next. PostgreSQL's REPEATABLE READ is "
         "snapshot-isolation. That of MySQL and of MariaDB, where innodb_snapshot_isolation is "
         "off, comes close to prefix and lets updates be lost.",
     .see = {"serializable", "snapshot-isolation", "prefix"},
     .also = {"PL-2.99"}},
    {.name = "PL-1",
     .meaning =
         "Adya's level for READ UNCOMMITTED: it forbids G0 and nothing else. No level here is "
         "as weak; read-committed is the weakest.",
     .see = {"G0", "read-committed"},
     .also = {"read-uncommitted"}},
    {.name = "G1",
     .meaning = "Adya's name for G1a, G1b and G1c together: what read-committed (PL-2) forbids "
                "besides G0.",
     .see = {"aborted-read", "intermediate-read", "G1c"}},
    {.name = "G2",
     .meaning =
         "Adya's name for any cycle with an rw edge, of a predicate or of an item; serializable "
         "(PL-3) forbids it. Of items it is G2-item, and more exactly G-single or "
         "G-nonadjacent where no two rw edges follow each other.",
     .see = {"G2-item", "G-single", "G-nonadjacent", "write-skew"},
     .also = {"anti-dependency cycle"}},
};

const LevelEntry kLevels[] = {
    {.level = Level::kReadCommitted,
     .meaning = "Only committed, final values are read, and within a transaction reads do not "
                "go back: after reading from a transaction, nothing older than its writes is "
                "read.",
     .also_called = "PL-2",
     .example = "a: w(x,1) ; w(x,2) w(y,2) | b: r(y,2) r(x,1)",
     .given_by = "PostgreSQL at READ COMMITTED, its default (each statement takes a new "
                 "snapshot). MariaDB and MySQL (InnoDB) at READ COMMITTED. Oracle at READ "
                 "COMMITTED, its default. SQL Server at READ COMMITTED, its default."},
    {.level = Level::kReadAtomic,
     .meaning = "Also, of another transaction one sees all writes or none, and one sees those "
                "of one's own session.",
     .also_called = "",
     .example = "a: w(x,1) w(y,1) | b: r(y,0) r(x,1)",
     .given_by = "No widely used SQL product offers exactly this level. RAMP transactions were "
                 "made for it. Every database that gives snapshot isolation or more gives it "
                 "within the limits of its session guarantees."},
    {.level = Level::kCausal,
     .meaning = "Also, whoever sees a write sees everything that the writer had seen.",
     .also_called = "causal consistency",
     .example = "a: w(x,1) | b: r(x,1) w(y,1) | c: r(y,1) r(x,0)",
     .given_by = "MongoDB offers causally consistent sessions (with majority read and write "
                 "concern). YugabyteDB's violations in the test data were found against this "
                 "level. SQL products do not name it; it is what geo-replicated stores promise."},
    {.level = Level::kPrefix,
     .meaning = "Every transaction reads from a prefix of one commit order that all agree on; "
                "it may write without having seen the latest version.",
     .also_called = "consistent prefix",
     .example = "a: w(x,1) | b: w(y,1) | c: r(x,1) r(y,0) | d: r(y,1) r(x,0)",
     .given_by = "No SQL product names it. MariaDB and MySQL (InnoDB) at REPEATABLE READ come "
                 "close, in that plain reads come from one snapshot and lost updates are "
                 "possible; a write, and a locking read, sees the newest version though, so a "
                 "transaction that mixes both can leave this level."},
    {.level = Level::kSnapshotIsolation,
     .meaning = "Every transaction reads from a snapshot, and two that write the same key do "
                "not overlap. Neither session order nor real time count.",
     .also_called = "Adya's PL-SI",
     .example = "a: r(x,0) w(x,1) | b: r(x,0) w(x,2)",
     .given_by = "PostgreSQL at REPEATABLE READ. SQL Server at SNAPSHOT. Oracle at SERIALIZABLE. "
                 "MariaDB at REPEATABLE READ with innodb_snapshot_isolation on. Single-node "
                 "systems of this kind give the stronger strong snapshot isolation."},
    {.level = Level::kGeneralizedSnapshotIsolation,
     .meaning = "Snapshot isolation in which commits follow real time; a snapshot may be old, "
                "but not from the future.",
     .also_called = "ANSI snapshot isolation",
     .example = "a: r(x,1) @0-1 | b: w(x,1) @5-6",
     .given_by = "No SQL product names it. It was made for replicated databases that answer from "
                 "a replica's older snapshot."},
    {.level = Level::kStrongSessionSnapshotIsolation,
     .meaning = "Snapshot isolation in which a transaction's snapshot includes what its session "
                "did before.",
     .also_called = "PolySI's SI; Biswas and Enea's SI",
     .example = "a: w(x,1) ; r(x,0)",
     .given_by = "PostgreSQL at REPEATABLE READ, SQL Server at SNAPSHOT and Oracle at "
                 "SERIALIZABLE on a single node. The recorded violations of it shipped with "
                 "cupel come from Galera, Dgraph, YugabyteDB and from MariaDB at REPEATABLE READ "
                 "with innodb_snapshot_isolation off."},
    {.level = Level::kStrongSnapshotIsolation,
     .meaning = "Snapshot isolation in which a snapshot includes whatever had committed before "
                "it began.",
     .also_called = "",
     .example = "a: w(x,1) @0-1 | b: r(x,0) @5-6",
     .given_by = "PostgreSQL at REPEATABLE READ, SQL Server at SNAPSHOT and Oracle at "
                 "SERIALIZABLE, each on a single node. Clients with different clocks need "
                 "--clock-drift."},
    {.level = Level::kSerializable,
     .meaning = "As if the transactions ran one after the other. Neither session order nor real "
                "time count.",
     .also_called = "Adya's PL-3",
     .example = "a: r(x,0) r(y,0) w(x,1) | b: r(x,0) r(y,0) w(y,1)",
     .given_by = "PostgreSQL at SERIALIZABLE (serializable snapshot isolation). MariaDB and "
                 "MySQL (InnoDB), and SQL Server, at SERIALIZABLE (locking). CockroachDB, its "
                 "default. Oracle's SERIALIZABLE is snapshot isolation."},
    {.level = Level::kStrongSessionSerializable,
     .meaning = "Serializable, in an order that keeps each session's.",
     .also_called = "Biswas and Enea's SER",
     .example = "a: w(x,1) ; r(x,0)",
     .given_by = "PostgreSQL at SERIALIZABLE, and MariaDB and MySQL (InnoDB) at SERIALIZABLE, on "
                 "a single node. CockroachDB promises it, its default. The recorded violations "
                 "shipped with cupel come from CockroachDB as tested for the thesis and from "
                 "PostgreSQL at SERIALIZABLE before a repair."},
    {.level = Level::kStrictSerializable,
     .meaning = "Serializable, in an order that keeps real time.",
     .also_called = "PL-SS",
     .example = "a: w(x,1) @0-1 | b: r(x,0) @5-6",
     .given_by = "MariaDB and MySQL (InnoDB) at SERIALIZABLE on a single node (two-phase "
                 "locking). Google Spanner and FoundationDB promise it. CockroachDB does not "
                 "promise it across keys."},
    {.level = Level::kLinearizable,
     .meaning = "Every object by itself is strict serializable. For transactions that touch one "
                "object each.",
     .also_called = "",
     .example = "a: w(x,1) @0-1 | b: r(x,0) @5-6",
     .given_by = "etcd (linearizable reads, its default today) and ZooKeeper with sync before a "
                 "read. The etcd logs in the tests are from an early version whose reads were "
                 "not: 79 of 102 are not linearizable."},
};

}  // namespace

std::span<const AnomalyEntry> anomalies() {
  return kAnomalies;
}
std::span<const TermEntry> terms() {
  return kTerms;
}
std::span<const LevelEntry> level_entries() {
  return kLevels;
}

}  // namespace cupel::explain
