// cupel: which isolation levels a recorded database history satisfies.
//
// Three clients, three transactions. Alice sets x to 1. Bob and Carol both read
// that 1, and both write x.
//
//   cupel::HistoryBuilder builder;
//   builder.transaction("alice").label(1).write("x", 1);
//   builder.transaction("bob").label(2).read("x", 1).write("x", 2);
//   builder.transaction("carol").label(3).read("x", 1).write("x", 3);
//   std::string error;
//   const std::optional<cupel::History> history = builder.build(error);
//   if (!history) return error;
//   const cupel::Answer answer =
//       cupel::check_history(*history, {.levels = {cupel::Level::kSnapshotIsolation}});
//   const cupel::LevelAnswer& level = answer.levels.front();
//   if (level.verdict != cupel::Verdict::kViolated) return "not violated";
//   return level.anomalies.front().name + ": " + level.anomalies.front().explanation;
//
// It returns, because under snapshot isolation the second to commit would have
// had to fail:
//
// clang-format off
//   lost-update: An update was lost. T2 and T3 both read x = 1 and both wrote x. They are
//     concurrent: neither is visible to the other. The later update overwrote the earlier one.
//     Let:
//       T2 = read x = 1, write x = 2    session bob, 1st transaction
//       T3 = read x = 1, write x = 3    session carol, 1st transaction
//       T1 = write x = 1                session alice, 1st transaction
//     First:
//       (1) T3 began before T2 committed, because T3 did not see T2's write of 2 to x: it read T1's
//           1, which T2 read too and replaced.
//     Then:
//       T2 began before T3 committed, because T2 did not see T3's write of 3 to x: it read T1's 1,
//           which T3 read too and replaced.
//       T3 committed before T2 began, because both wrote x, so one committed before the other began,
//           and that one was not T2 (1).
//       So under snapshot-isolation T2 begins < T3 commits < T2 begins: a contradiction!
// clang-format on
//
// The cycle proves it: each of its transactions would have to precede itself, so no
// order of the transactions explains what the clients saw.
//
// The same for a file, at every level at once:
//
//   auto history = cupel::read_history("history.jsonl", error);
//   for (const auto& level : cupel::check_history(*history).levels) ...
//
// Nothing here prints, exits or keeps state between calls. Errors are reported by a
// sentence, never by an exception; std::bad_alloc alone may pass. A History is
// immutable, cheap to copy (the copies share it), and may be checked from
// several threads at a time. A HistoryBuilder belongs to one thread.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cupel/scalar.hpp"

namespace cupel {

// The isolation levels, a level after all that it implies. docs/reference/levels.md says
// what each means; linearizable is for transactions of one object each, implies
// nothing here and is implied by nothing.
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

// "snapshot-isolation". Valid for the life of the program.
std::string_view name(Level level);

// By name, short name ("si") or alias ("PL-SI"), whatever the case, blanks, underscores and
// hyphens; none if it is no level.
std::optional<Level> parse_level(std::string_view text);

// The verdict on a level.
enum class Verdict : std::uint8_t {
  kSatisfied,  // an order was found that explains every read
  kViolated,   // no order does; `anomalies` says why
  kUnknown,    // a limit of time or memory was met first; `detail` says where
  kRefused,    // the question has no meaning for this history; `detail` says why
};

// The operations of the clients of a database and their results.
// Made by HistoryBuilder or read_history.
// Empty by default: no transactions, every level satisfied.
class History {
 public:
  struct Content;

  History();
  explicit History(std::shared_ptr<const Content> content);

  // Numbers of what it holds.
  [[nodiscard]] std::size_t transaction_count() const;
  [[nodiscard]] std::size_t session_count() const;
  [[nodiscard]] std::size_t operation_count() const;
  // How the operations of a file were read: "transactions", "registers with compare-and-set, 3
  // keys", "mutex: one owner, not reentrant".
  [[nodiscard]] std::string kind() const;
  // How many op maps ReadOptions::ignore left out, by their f.
  [[nodiscard]] std::map<std::string, std::uint64_t> ignored() const;

  [[nodiscard]] const Content& content() const { return *content_; }

 private:
  std::shared_ptr<const Content> content_;
};

// Puts a history together, transaction by transaction. Sessions may come in any
// interleaving; the transactions of one session come in the order in which its
// client ran them. Every function but build() returns the builder, to chain.
//
// Use a key either as a register (read, write, erase, compare_and_set) or as a
// list (append, read_list), not as both: build() refuses that.
class HistoryBuilder {
 public:
  HistoryBuilder();
  ~HistoryBuilder();
  HistoryBuilder(HistoryBuilder&&) noexcept;
  HistoryBuilder& operator=(HistoryBuilder&&) noexcept;

  // Begins the next transaction of a session; the one before it ends here. The calls
  // that follow are about this transaction. It counts as committed unless aborted()
  // or indeterminate() says otherwise.
  HistoryBuilder& transaction(std::string_view session);

  // The transaction certainly had no effect. Reading what it wrote is an anomaly.
  HistoryBuilder& aborted();
  // It may have committed or not (time-out, lost connection). It counts if a
  // committed transaction read something it wrote.
  HistoryBuilder& indeterminate();
  // How explanations call it: T7 for 7. Default: its number in order of
  // transaction() calls, from 0.
  HistoryBuilder& label(std::uint32_t label);
  // When its client invoked it and when it knew the outcome, in nanoseconds of
  // one clock, any epoch. Without times for all committed transactions the levels that need
  // real time are refused.
  HistoryBuilder& times(std::int64_t invoked_ns, std::int64_t completed_ns);

  // Operations, in program order, with what the client saw. Before the first
  // transaction() they are ignored and build() fails.
  HistoryBuilder& read(const Scalar& key, const Scalar& value);
  HistoryBuilder& write(const Scalar& key, const Scalar& value);
  HistoryBuilder& erase(const Scalar& key);  // writes null
  HistoryBuilder& compare_and_set(const Scalar& key, const Scalar& expected, const Scalar& desired,
                                  bool succeeded);
  HistoryBuilder& append(const Scalar& list, const Scalar& element);
  HistoryBuilder& read_list(const Scalar& list, const std::vector<Scalar>& elements);

  // The initial value of every key (of one key). Default: null. Lists start empty.
  HistoryBuilder& initial(const Scalar& value);
  HistoryBuilder& initial(const Scalar& key, const Scalar& value);

  // The history; the builder is spent then. None, and a sentence in `error`, if
  // an operation came outside a transaction, a key is both register and list, or
  // a transaction completes before it is invoked.
  std::optional<History> build(std::string& error);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// Reads a history file, or a directory for the formats that use one. `format` is
// "jepsen", "plume", "awdit", "dbcop", "cobra", "viper", "cupel" or "knossos";
// empty: recognised by content. None, and in `error` file, line or byte, what
// was found and what was expected, if that fails. The history is held in memory, but not what only
// explanations show: fields of a jepsen file that cupel ignores, such as the node. check_history()
// looks these up in the file if something is violated (Answer::file_error).
std::optional<History> read_history(const std::string& path, std::string& error,
                                    std::string_view format = {});

// How to read a file, as the options of `cupel check` say it.
struct ReadOptions {
  std::string format = {};  // empty: recognised by content
  // The kind of op maps: "transactions", "registers", "mutex" or "strings"; empty: as their f and
  // their values say. Values that do not fit are an error.
  std::string kind = {};
  std::vector<std::string> ignore = {};  // leaves out the op maps with these f
};
// The same as above, read in this way.
std::optional<History> read_history(const std::string& path, std::string& error,
                                    const ReadOptions& options);

// Writes a history as jepsen (JSON lines), plume, awdit, dbcop or cupel; the file
// appears whole or not at all. False, and a sentence in `error`, if the file cannot
// be written or the format cannot hold the history: nothing is left out silently.
bool write_history(const History& history, const std::string& path, std::string_view format,
                   std::string& error);

inline constexpr std::int64_t kMostClockDriftNs = 1'000'000'000'000'000'000;  // thirty years

// The question of a check, and its cost.
struct Options {
  // Changes what is asked.
  std::vector<Level> levels;  // empty: every level
  // Intervals are widened by this on both sides; from 0 to kMostClockDriftNs.
  std::int64_t clock_drift_ns = 0;
  // If a level is violated, also counts each anomaly in the whole history and looks for further
  // causes. Takes at most two seconds and a tenth of the check's time.
  bool history_analysis = false;
  bool survey = false;  // deprecated: the name of history_analysis in 0.1.0; either turns it on

  // Changes how much it may cost.
  std::optional<double> timeout_seconds = {};  // for all levels together; none: no limit
  std::uint64_t memory_limit_bytes = 0;        // resident, of the whole process; 0: no limit
  unsigned threads = 0;  // 0: as many as the machine has; never changes an answer

  // How long violations may be made smaller before they are explained, so that an explanation
  // names only what the violation needs. None: as long as the check took, at least 1 s and at
  // most 5 s. 0: not at all; violations are then explained in the whole history.
  std::optional<double> shrink_seconds = {};
};

// One thing that went wrong.
struct Anomaly {
  std::string name;  // "lost-update"; docs/reference/anomalies.md lists the names
  std::string adya;  // "G-single" ...; empty where Adya has no name for it
  std::vector<std::uint32_t> transactions;  // by label, in the order of the cycle
  std::vector<std::string> keys;
  std::string explanation;  // several lines: what happened, who took part, the cycle
};

// The answer for one level.
struct LevelAnswer {
  Level level;
  Verdict verdict;
  std::string decided_by;             // "saturation", "schedule", "implied-by:causal" ...
  double seconds;                     // spent on this level; 0 where it follows from another
  std::string detail;                 // a sentence for kUnknown and kRefused, else empty
  std::optional<Level> explained_at;  // kViolated: the level whose anomalies these are, which
                                      // is this one or a weaker one
  std::vector<Anomaly> anomalies;     // kViolated: at least one
};

// How often an anomaly occurs in a whole history; docs/reference/anomalies.md, "Counts", says
// what is counted.
struct Count {
  std::string name;
  std::uint64_t count;
  bool exact;  // false: at least so many
};

// The answer for a history.
struct Answer {
  std::vector<LevelAnswer> levels;         // as asked; all of them: weakest first
  std::vector<Level> strongest_satisfied;  // those that no other satisfied level implies
  std::vector<Level> weakest_violated;     // those that imply no other violated level
  std::vector<Count> counts;               // with Options::history_analysis: most severe first
  std::vector<Anomaly> further;  // with Options::history_analysis: one for each cause that
                                 // the check itself did not find, most severe first
  // A sentence if the file of the history has changed since read_history(): the explanations then
  // lack what only the file has. Else empty.
  std::string file_error;
  // There were transactions, and none committed: a history that violates nothing satisfies every
  // level then, whatever the database does. `cupel check` rejects it.
  bool nothing_committed = false;
  // Whether a recorded run kept the writes that it acknowledged, as `cupel check` judges it for its
  // exit code. Violated: its final reads show lost writes, or nodes that differ; if Options::levels
  // names levels, only if a table is gone as a whole. Unknown: the final reads failed, or a table
  // is gone and no acknowledged write is known to be lost. Satisfied: else, also if the history has
  // no final reads.
  Verdict durable = Verdict::kSatisfied;
  std::string durable_detail;  // why it is not satisfied
};

// Decides the levels. Takes nearly linear time on histories whose constraints are
// forced, as most are, and may take exponential time on others: give those a
// timeout. The same history and options give the same answer, seconds aside. Throws
// std::invalid_argument if an option is out of its range.
Answer check_history(const History& history, const Options& options = {});

// A page about a level or an anomaly, by any of its names; empty if there is none.
std::string describe(std::string_view name);

}  // namespace cupel
