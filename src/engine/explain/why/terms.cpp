// Terms of the glossary: names that are no level and no anomaly of cupel's, with their source and
// their relation to the levels that cupel decides. The relations are those of Adya (1999), Bailis
// et al. (Highly Available Transactions, PVLDB 2014), Cerone, Bernardi and Gotsman (CONCUR 2015),
// Bouajjani et al. (POPL 2017), Biswas and Enea (OOPSLA 2019), and of Elle's table of models.
#include "engine/explain/why/glossary.hpp"

namespace cupel::explain {

using levels::Level;

namespace {

const TermEntry kTerms[] = {
    {.name = "lost-write",
     .definition =
         "The database acknowledged a write, and at the end of the run no node has it or anything "
         "that replaced it. Isolation levels order transactions and do not speak of durability, so "
         "that the history may satisfy them all. `cupel run` finds lost writes by its final reads, "
         "after all faults are healed. Usual causes: asynchronous replication and a failover, a "
         "commit that does not wait for the disk, two primaries at a time.",
     .see = {"linearizable", "strict-serializable", "lost-update"},
     .also = {"lost acknowledged write", "data loss"}},
    {.name = "divergent-replicas",
     .definition =
         "At the end of the run, after all faults are healed and the nodes had time to agree, two "
         "nodes hold different values of one key. `cupel run` finds this by its final reads. Usual "
         "causes: replication that stopped or skipped a transaction, two primaries at a time, a "
         "statement that replicas execute differently.",
     .see = {"linearizable", "long-fork"},
     .also = {"split brain", "replica divergence"}},
    {.name = "phantom",
     .definition =
         "A query read twice returned other rows the second time, because another "
         "transaction added or removed rows (ANSI's P3 and A3). cupel treats a range read "
         "as a read of every key in the range, including absent keys. So a phantom has the "
         "name of its effect on these keys.",
     .see = {"non-repeatable-read", "write-skew", "G2-item"},
     .also = {"phantom read", "P3", "A3"},
     .nearest = Level::kSerializable},
    {.name = "repeatable-read",
     .definition =
         "A name with several meanings. Adya's PL-2.99 is serializable except for phantoms; cupel "
         "does not have this level, and serializable is the next stronger one. PostgreSQL's "
         "REPEATABLE READ is snapshot-isolation. REPEATABLE READ of MySQL, and of MariaDB with "
         "innodb_snapshot_isolation off, comes close to prefix and allows lost updates.",
     .see = {"serializable", "snapshot-isolation", "prefix"},
     .also = {"PL-2.99", "rr"},
     .nearest = Level::kSerializable},
    {.name = "PL-1",
     .definition =
         "Adya's level for READ UNCOMMITTED. It forbids only G0. cupel has no level as weak "
         "as this; its weakest level is read-committed.",
     .see = {"G0", "read-committed"},
     .also = {"read-uncommitted"},
     .nearest = Level::kReadCommitted},
    {.name = "PL-2",
     .definition = "Adya's level for READ COMMITTED. It forbids G0 and G1. cupel does not have it: "
                   "read-committed, after Biswas and Enea, is stronger, because it forbids "
                   "non-monotonic-read as well.",
     .see = {"read-committed", "G1", "non-monotonic-read"},
     .nearest = Level::kReadCommitted},
    {.name = "G1",
     .definition =
         "Adya's name for G1a, G1b and G1c together. Read-committed forbids these and G0.",
     .see = {"aborted-read", "intermediate-read", "G1c"},
     .nearest = Level::kReadCommitted},
    {.name = "G2",
     .definition =
         "Adya's name for any cycle with an rw edge, of a predicate or of an item. "
         "Serializable (PL-3) forbids it. A cycle over items is a G2-item, or, if no two rw "
         "edges are adjacent, a G-single or a G-nonadjacent.",
     .see = {"G2-item", "G-single", "G-nonadjacent", "write-skew"},
     .also = {"anti-dependency cycle"},
     .nearest = Level::kSerializable},
    {.name = "cyclic-versions",
     .definition =
         "Elle's name for a key of which the history shows versions in a cycle, so that no version "
         "order exists. cupel reports the reads that contradict each other: an incompatible-order "
         "for lists, a cycle of ww and wr edges (G0, G1c) for registers.",
     .see = {"incompatible-order", "G0", "G1c"},
     .nearest = Level::kReadCommitted},
    {.name = "dirty-update",
     .definition =
         "Elle's name for a committed transaction that updates what an aborted transaction wrote: "
         "the aborted element stays in the list below later ones. cupel reports the read that "
         "returns the aborted element.",
     .see = {"aborted-read"},
     .also = {"dirty-updates"},
     .nearest = Level::kReadCommitted},
    {.name = "internal",
     .definition =
         "Elle's name for a transaction whose read disagrees with its own earlier reads and writes "
         "(Cerone, Bernardi and Gotsman's axiom INT). cupel has a name for each case.",
     .see = {"not-my-own-write", "not-my-last-write", "future-read", "non-repeatable-read"},
     .also = {"internal-inconsistency"},
     .nearest = Level::kReadAtomic},
    {.name = "predicate-read-miss",
     .definition =
         "Elle's name for a predicate read that misses a key although every version of the key "
         "matches the predicate. Of predicates, cupel checks ranges of keys: it treats a key that "
         "a range read did not return as read absent, and reports the cycle that follows.",
     .see = {"phantom", "G2-item"},
     .nearest = Level::kSerializable},
    {.name = "G-cursor",
     .definition =
         "Adya's phenomenon of cursor stability: a cycle of one rw edge and ww edges, all of one "
         "key. A transaction reads a key, another one overwrites it, and the first overwrites "
         "that. "
         "cupel reports it as a lost-update.",
     .see = {"lost-update", "cursor-stability"},
     .nearest = Level::kSnapshotIsolation},
    {.name = "G-single-item",
     .definition =
         "Elle's name for a G-single whose rw edge is of an item and not of a predicate. cupel "
         "treats a range read as reads of keys, so each of its G-singles is one.",
     .see = {"G-single"},
     .nearest = Level::kSnapshotIsolation},
    {.name = "G-MSR",
     .definition =
         "Adya's phenomenon of monotonic-snapshot-read: one operation, such as a statement of SQL, "
         "saw a part of a transaction's effects, or an older state than an operation before it. "
         "cupel does not check it: histories do not say where a statement begins.",
     .see = {"monotonic-snapshot-read", "non-monotonic-read"},
     .nearest = Level::kSnapshotIsolation},
    {.name = "G-SIb",
     .definition =
         "Adya's phenomenon of missed effects: a cycle of dependencies and start edges (one "
         "transaction committed before another began) with exactly one rw edge. Snapshot isolation "
         "forbids it and G-SIa. Clients do not see when a database begins and commits, so cupel "
         "asks whether some begins and commits fit the reads, which comes to the same for the "
         "history. It reports the cycle as a G-single or G-nonadjacent.",
     .see = {"snapshot-isolation", "G-single", "G-nonadjacent"},
     .also = {"GSIb", "missed effects"},
     .nearest = Level::kSnapshotIsolation},
    {.name = "G-SIa",
     .definition =
         "Adya's phenomenon of interference: a transaction depends on another one that had not "
         "committed when it began. Snapshot isolation forbids it and G-SIb. Only begins and "
         "commits inside the database show it; cupel asks whether some of them fit the reads.",
     .see = {"snapshot-isolation", "G1c"},
     .also = {"GSIa"},
     .nearest = Level::kSnapshotIsolation},
    {.name = "item-many-preceders",
     .definition =
         "Bailis et al. (HAT, 2014): a transaction reads one key from more than one other "
         "transaction. Item cut isolation forbids it. cupel calls it a non-repeatable-read, which "
         "read-atomic forbids.",
     .see = {"non-repeatable-read", "read-atomic"},
     .also = {"IMP"},
     .nearest = Level::kReadAtomic},
    {.name = "predicate-many-preceders",
     .definition =
         "Bailis et al. (HAT, 2014): two predicate reads of a transaction, whose predicates "
         "overlap, saw the changes of different transactions. Predicate cut isolation forbids it. "
         "Of predicates, cupel checks ranges of keys: there it is a non-repeatable-read of a key, "
         "which may be absent.",
     .see = {"phantom", "non-repeatable-read", "read-atomic"},
     .also = {"PMP"},
     .nearest = Level::kReadAtomic},
    {.name = "read-your-writes",
     .definition = "A session guarantee (Terry et al., 1994): a read returns the writes that its "
                   "session made "
                   "before, or later versions. read-atomic and linearizable imply it, and so does "
                   "every level "
                   "that implies one of these. cupel does not check it alone.",
     .see = {"session-guarantee-violation", "read-atomic", "causal"},
     .also = {"RYW", "read my writes"},
     .nearest = Level::kReadAtomic},
    {.name = "monotonic-reads",
     .definition =
         "A session guarantee (Terry et al., 1994): a read returns no version older than what its "
         "session has read before. causal and linearizable imply it, and so does every level that "
         "implies one of these; read-atomic does not. cupel does not check it alone.",
     .see = {"causal", "causality-violation"},
     .nearest = Level::kCausal},
    {.name = "monotonic-writes",
     .definition =
         "A session guarantee (Terry et al., 1994): everybody sees the writes of a session in "
         "their "
         "order. causal implies it, and so does every level that implies causal; read-atomic does "
         "not. cupel does not check it alone.",
     .see = {"causal", "causality-violation"},
     .nearest = Level::kCausal},
    {.name = "writes-follow-reads",
     .definition =
         "A session guarantee (Terry et al., 1994): whoever sees a write of a session also sees "
         "the writes that the session had read before. causal implies it, and so does every level "
         "that implies causal. cupel does not check it alone.",
     .see = {"causal", "causality-violation"},
     .also = {"session causality"},
     .nearest = Level::kCausal},
    {.name = "PRAM",
     .definition =
         "Pipelined RAM (Lipton and Sandberg, 1988), also FIFO consistency: every session sees the "
         "writes of each other session in their order, and its own at once. It is the same as "
         "read-your-writes, monotonic-reads and monotonic-writes together (Brzezinski et al., "
         "2004). causal implies it. cupel does not check it.",
     .see = {"causal", "read-your-writes", "monotonic-reads", "monotonic-writes"},
     .also = {"pipelined RAM", "FIFO consistency"},
     .nearest = Level::kCausal},
    {.name = "causal-memory",
     .definition =
         "Ahamad et al. (1995); CM of Bouajjani et al. (2017): every session sees the writes in an "
         "order that respects causality, and explains all its reads by one such order. Sessions "
         "may "
         "disagree about the order of concurrent writes, for ever. It cannot be compared with "
         "causal-convergence, and so not with causal. strong-session-serializable implies it. "
         "cupel "
         "does not check it.",
     .see = {"causal", "strong-session-serializable"},
     .also = {"CM"},
     .nearest = Level::kCausal},
    {.name = "causal-convergence",
     .definition =
         "CCv of Bouajjani et al. (2017), after Burckhardt: causal consistency in which all "
         "sessions resolve concurrent writes by one order. For transactions of one operation, "
         "causal is the same level (Biswas and Enea, 2019); causal extends it to transactions.",
     .see = {"causal"},
     .also = {"CCv", "convergent causal consistency", "causal+"},
     .nearest = Level::kCausal},
    {.name = "monotonic-atomic-view",
     .definition =
         "Bailis et al. (HAT, 2014): read committed in which a transaction that sees one effect of "
         "another transaction misses none of its effects afterwards. It forbids the phenomenon "
         "OTV, "
         "which cupel calls non-monotonic-read. cupel does not check it by this name: "
         "read-committed, after Biswas and Enea, forbids the same and includes session order.",
     .see = {"read-committed", "non-monotonic-read"},
     .also = {"MAV"},
     .nearest = Level::kReadCommitted},
    {.name = "monotonic-view",
     .definition = "Adya's PL-2L: G1 and G-monotonic are forbidden, so that a transaction sees no "
                   "older state "
                   "after a newer one. PL-2+ implies it, and so does snapshot-isolation. cupel "
                   "does not check "
                   "it; read-committed asks the same of single reads, and includes session order.",
     .see = {"consistent-view", "read-committed", "snapshot-isolation"},
     .also = {"PL-2L"},
     .nearest = Level::kReadCommitted},
    {.name = "monotonic-snapshot-read",
     .definition =
         "Adya's PL-MSR: each operation, such as a statement of SQL, reads from a snapshot, and "
         "the "
         "snapshots of a transaction do not go back; Oracle calls it read consistency. It forbids "
         "G1 and G-MSR. snapshot-isolation implies it. cupel does not check it.",
     .see = {"snapshot-isolation", "read-committed"},
     .also = {"PL-MSR", "monotonic snapshot reads", "statement-level read consistency"},
     .nearest = Level::kSnapshotIsolation},
    {.name = "consistent-view",
     .definition =
         "Adya's PL-2+, basic consistency: G1 and G-single are forbidden, so that a transaction "
         "sees a state that is consistent for what it reads. snapshot-isolation and serializable "
         "imply it; prefix does not, because it allows the lost-update, which is a G-single. cupel "
         "does not check it.",
     .see = {"G-single", "snapshot-isolation"},
     .also = {"PL-2+", "basic consistency"},
     .nearest = Level::kSnapshotIsolation},
    {.name = "forward-consistent-view",
     .definition =
         "Adya's PL-FCV: G1 and G-SIb are forbidden. It is consistent-view in which a transaction "
         "may read beyond its begin, but consistently. snapshot-isolation and update-serializable "
         "imply it. cupel does not check it.",
     .see = {"consistent-view", "snapshot-isolation", "G-SIb"},
     .also = {"PL-FCV"},
     .nearest = Level::kSnapshotIsolation},
    {.name = "cursor-stability",
     .definition =
         "Berenson et al. (1995) and Adya's PL-CS: read committed without lost updates of the row "
         "under a cursor; Adya forbids G1 and G-cursor. snapshot-isolation and serializable imply "
         "it; read-committed, causal and prefix do not. cupel does not check it, but names the "
         "anomaly: a lost-update.",
     .see = {"lost-update", "snapshot-isolation", "repeatable-read"},
     .also = {"PL-CS"},
     .nearest = Level::kSnapshotIsolation},
    {.name = "update-serializability",
     .definition =
         "Adya's PL-3U, after Hansdah and Patnaik (1986): the transactions that write are "
         "serializable, and each that only reads sees a state of some serial order of these; two "
         "readers may see different orders. serializable implies it, and it implies PL-2+. Neither "
         "it nor snapshot-isolation implies the other. cupel does not check it.",
     .see = {"serializable", "consistent-view"},
     .also = {"PL-3U", "update-serializable", "update consistency"},
     .nearest = Level::kSerializable},
    {.name = "one-copy-serializability",
     .definition =
         "Bernstein and Goodman (1983): a replicated database behaves as one copy on which the "
         "transactions run one after another. Clients see no copies, so for a history it is "
         "serializable.",
     .see = {"serializable", "strong-session-serializable", "strict-serializable"},
     .also = {"1SR", "conflict-serializable", "view-serializable"},
     .nearest = Level::kSerializable,
     .same = true},
    {.name = "serializable-snapshot-isolation",
     .definition =
         "A way to implement serializable (Cahill, Röhm and Fekete, 2008): snapshot isolation that "
         "aborts a transaction between two rw edges in a row. PostgreSQL uses it at SERIALIZABLE. "
         "It is no level, and not what cupel calls ssi, which is strong-snapshot-isolation.",
     .see = {"serializable", "write-skew", "strong-snapshot-isolation"},
     .also = {"SSI"},
     .nearest = Level::kSerializable,
     .same = true},
    {.name = "parallel-snapshot-isolation",
     .definition =
         "Sovran et al. (Walter, 2011) and Cerone et al. (2015): a transaction reads from a causal "
         "snapshot, and of two writers of a key one sees the other. There is no order of all "
         "commits, so it allows the long-fork, and the write-skew; it forbids the lost-update. "
         "strong-session-snapshot-isolation implies it, and it implies causal. cupel does not "
         "check "
         "it.",
     .see = {"causal", "long-fork", "lost-update", "strong-session-snapshot-isolation"},
     .also = {"PSI", "non-monotonic snapshot isolation"},
     .nearest = Level::kStrongSessionSnapshotIsolation},
    {.name = "prefix-consistency",
     .definition =
         "The level prefix: every transaction reads from a prefix of one order of commits "
         "(Burckhardt et al., 2015; Biswas and Enea, 2019). Terry's consistent prefix (2013) asks "
         "this of single reads of a replica, without session order.",
     .see = {"prefix"},
     .nearest = Level::kPrefix,
     .same = true},
    {.name = "sequential-consistency",
     .definition =
         "Lamport (1979): the operations of all sessions have one order that agrees with each "
         "session's order. Where each transaction is one operation, this is "
         "strong-session-serializable. linearizable implies it. cupel checks it by "
         "`-l strong-session-serializable`.",
     .see = {"strong-session-serializable", "linearizable"},
     .also = {"sequential", "SC"},
     .nearest = Level::kStrongSessionSerializable},
    {.name = "external-consistency",
     .definition =
         "Gifford (1981), and Google's name for what Spanner promises: transactions take effect in "
         "one order, and a transaction that begins after another has committed comes after it. For "
         "a history this is strict-serializable.",
     .see = {"strict-serializable", "G-single-realtime"},
     .also = {"externally consistent", "strong serializability", "strong-serializable"},
     .nearest = Level::kStrictSerializable,
     .same = true},
    {.name = "opacity",
     .definition =
         "A property of transactional memory (Guerraoui and Kapałka, 2008): strict-serializable, "
         "and transactions that abort or still run have seen consistent states, too. It implies "
         "strict-serializable. cupel does not check it, because it leaves out what aborted "
         "transactions read.",
     .see = {"strict-serializable"},
     .nearest = Level::kStrictSerializable},
};

}  // namespace

std::span<const TermEntry> terms() {
  return kTerms;
}

}  // namespace cupel::explain
