// Generate: histories of simulated replicas, correct or with a bug.
//
//   GenerateOptions options;
//   options.type = Type::kAddWinsSet;
//   options.bug = "remove-kills-concurrent-add";
//   const History history = generate(options).value();
//
// Each replica has its own state and a log of updates. An update is delivered to the others at a
// random time, after the updates that it has seen, of whatever object, as in causal broadcast. The
// same options and seed give the same history.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/random.hpp"
#include "crdt/model/recording.hpp"
#include "crdt/model/replicated_type.hpp"

namespace cupel::crdt {

class SimulatedReplica;

struct Bug {
  std::string_view name;
  std::vector<Type> types;
  std::string_view what;
};
std::vector<Bug> all_bugs();
// Those of a type's own implementation, by name.
std::vector<std::string> bugs_of(Type type);
// Those at the way in, and of the clock, that many types can have and that make sense for this one.
std::vector<std::string> injected_bugs_of(Type type);
// Of both.
bool has_bug(Type type, std::string_view bug);

// A replica with this bug; empty: none.
std::unique_ptr<SimulatedReplica> simulated_replica(const History& history, std::string_view bug,
                                                    std::uint32_t self);

// The requests to replicas.
struct Requests {
  NamedType type = {};
  std::uint32_t replicas = 3;
  std::uint32_t keys = 1;
  std::uint32_t values = 3;  // sets: elements a key
  double read_share = 0.4;
  double duplicates = 0;  // registers: share of writes of a value that was written before
  std::uint64_t seed = 1;
};

// The bug of the network: the updates of each object have a stream of their own, so that one
// arrives before what its replica had seen of another object.
inline constexpr TypeBug kObjectsApart = {
    "objects-apart", "delivers each object by a stream of its own (with several types)"};

struct GenerateOptions : Requests {
  // Named objects, one of each type, in place of the one of `type`. They have the names of their
  // types, with a number from the second one of a type on.
  std::vector<NamedType> types = {};
  std::uint64_t ops = 100;
  double delivery =
      0.3;  // chance that the next update of another replica arrives before an operation
  std::string bug = {};     // none: correct
  bool final_reads = true;  // at the end everything is delivered, and every replica reads every key
  bool context = false;     // also what each replica had received
  bool times = true;        // a millisecond an operation
};

// Errors: a bug that none of the types has.
base::Result<Recording> generate_recording(const GenerateOptions& options);
// The history of the one object.
base::Result<History> generate(const GenerateOptions& options);

// Chooses operations; the reads among them have no answer yet.
class Requester {
 public:
  // Adds replicas and keys to the history.
  Requester(const Requests& requests, History& history);
  // `visible`: an array's characters that the replica knows of, by key.
  Operation next(std::uint32_t replica, std::span<const std::vector<std::uint32_t>> visible);
  // A read of the whole value of a key.
  [[nodiscard]] Operation read_of(std::uint32_t replica, std::uint32_t key) const;
  base::Random& random() { return random_; }

 private:
  const Requests requests_;
  History& history_;
  base::Random random_;
  std::uint64_t fresh_ = 0;
  std::vector<std::vector<std::uint32_t>> written_;  // registers, by key
};

}  // namespace cupel::crdt
