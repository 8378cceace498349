// generate: a synthetic history from a simulated multi-version store.
//
// Sessions run transactions against a store that really gives the chosen level,
// and typically no more: snapshots lag where the level lets them, concurrent
// writers are let through where it does. So the history satisfies the level by
// construction, whatever its size, and with `inject` it violates exactly the
// levels that forbid the injected anomaly. The same options give the same
// history. Cost: logarithmic in sessions an operation; about 60 bytes a version.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "data/history/history.hpp"

namespace cupel::workload {

// How the store behaves. Named by the strongest level that it gives.
enum class Store : std::uint8_t {
  kReadCommitted,       // each read may see a later state than the one before it
  kReadAtomic,          // some transactions of every session, whole, own ones always
  kCausal,              // replicas that deliver transactions in causal order
  kPrefix,              // a lagging snapshot; writers never conflict
  kSnapshotIsolation,   // a lagging snapshot (never older than what the session saw); first
                        // committer wins
  kSerializable,        // validated reads; read-only transactions may lag
  kStrictSerializable,  // validated reads of the newest state
};
enum class Distribution : std::uint8_t { kUniform, kZipf, kHotspot, kExponential };
enum class Shape : std::uint8_t {
  kRegister,    // reads and writes
  kListAppend,  // appends and list reads
  kMini,        // mini-transactions (MTC): one or two reads, each write after a read of its key
  kRange,       // inserts, deletes, reads and range reads of ten keys
};

inline constexpr std::uint32_t kMaxSessions = 100'000;
inline constexpr std::uint64_t kMaxKeys = 1'000'000'000;

struct GenerateOptions {
  // What is generated.
  Store store = Store::kSnapshotIsolation;
  Shape shape = Shape::kRegister;
  std::uint32_t sessions = 10;
  std::uint32_t txns_per_session = 100;    // that commit; aborted ones come on top
  std::uint32_t min_ops = 4, max_ops = 8;  // per transaction
  std::uint64_t keys = 100;                // at most 10^9
  double read_share = 0.5;
  Distribution distribution = Distribution::kUniform;
  double duplicates = 0;  // share of writes that write a value again
  double abort_rate = 0, indeterminate_rate = 0;
  // Also record the attempts that the store aborted because of a conflict; they are
  // made again until they commit. Otherwise only `abort_rate` aborts.
  bool conflict_aborts = false;
  bool times = true;
  std::vector<std::string> inject;  // anomalies to inject, one each, on keys of their own
  // Where they are injected: after this share of the transactions, from 0 to 1, in the
  // clients' own sessions, so that what comes before and after is tied to them. Not
  // given: in sessions of their own, which run beside the others.
  std::optional<double> inject_at;
  std::uint64_t seed = 1;
};

std::string_view name(Store store);
std::string_view name(Distribution distribution);
std::string_view name(Shape shape);
// By level name. A level that a stronger store gives anyway is that store:
// snapshot-isolation is strong-session-snapshot-isolation, serializable is
// strong-session-serializable.
std::optional<Store> parse_store(std::string_view text);
std::optional<Distribution> parse_distribution(std::string_view text);
std::optional<Shape> parse_shape(std::string_view text);
std::span<const Store> all_stores();
std::span<const Shape> all_shapes();
std::span<const Distribution> all_distributions();

// The 14 anomalies of mini-transactions (levels.md), and all that can be injected: those
// and Adya's G1c.
std::span<const std::string_view> mini_transaction_anomalies();
std::span<const std::string_view> injectable_anomalies();

// Errors: an option out of range, an anomaly that cannot be injected, too few sessions
// for it with inject_at.
base::Result<history::History> generate(const GenerateOptions& options);

}  // namespace cupel::workload
