// Adapter: a library of replicated data types behind the protocol of
// docs/reference/crdt-adapters.md, in one program for all replicas.
//
//   auto command = adapter_command("yjs", {.adapters = "adapters", .cache = "/tmp/cache"});
//   auto adapter = Adapter::start(*command, 10);
//   adapter->library().objects;  // {"array", "list"}, {"text", "list"}, …
//
// The libraries come from npm, in the versions of adapters/package-lock.json, at the first use.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/result.hpp"
#include "crdt/model/type.hpp"
#include "crdt/workload/program.hpp"

namespace cupel::crdt {

struct AdapterPlaces {
  std::string adapters;  // the folder of harness.mjs
  std::string cache;     // the adapters and what npm installed; made if missing; empty: unknown
};

struct AdapterCommand {
  std::string name;  // as the user gave it
  base::ProcessOptions process;
};

// The adapters of that folder, by name.
std::vector<std::string> adapter_names(const AdapterPlaces& places);

// How to start an adapter: one of that folder, or a file with a slash in its name (.mjs and .js for
// the harness, .py, or a program). Installs the libraries when the cache lacks them, which
// `installing` is told before. Errors: no such adapter; no Node.js, npm or Python; npm failed.
base::Result<AdapterCommand> adapter_command(const std::string& name, const AdapterPlaces& places,
                                             void (*installing)(const std::string& folder));

// What may happen to replicas and messages, besides delay and partitions, which all survive.
enum class Hazard : std::uint8_t {
  kReordering,  // messages in any order; without it, in causal order
  kDuplicates,  // a message again, also much later
  kLoss,        // a message never, but a sync of both replicas some time
  kRestart,     // a replica is saved and loaded
  kJoin,        // a replica begins from what another one saved
  kCrash,       // a replica begins again from what it saved long ago, or from nothing
  kClocks,      // the wall clocks of replicas are apart, and jump
  kFiles,       // a replica merges the document that another one saved some time ago
  kExchange,    // two replicas speak the library's protocol of addressed messages
  kCompaction,  // once all have everything, a replica forgets the history of its document
};
inline constexpr const char* kHazardNames[] = {"reordering", "duplicates", "loss",   "restart",
                                               "join",       "crash",      "clocks", "files",
                                               "exchange",   "compaction"};

// What an adapter says of its library.
struct Library {
  std::string name;                                          // with its version
  std::vector<std::pair<std::string, std::string>> objects;  // and their types, the first first
  std::vector<Hazard> survives;
  bool sends_states = false;  // a message has all that its sender has seen, not one update
  bool has_several = false;   // a document may have several objects
  // By object, where it survives other faults than the library.
  std::map<std::string, std::vector<Hazard>> objects_survive = {};
};

struct ChosenObject {
  std::string object;
  NamedType type;
  std::vector<Hazard> survives;
};
// The object of that name, or else the first of that type; a name of cupel's or an alias; empty:
// not given. Errors: there is none; cupel does not decide its type.
base::Result<ChosenObject> choose_object(const Library& library, const std::string& object,
                                         const std::string& type);

class Adapter {
 public:
  static base::Result<Adapter> start(const AdapterCommand& command, double timeout_seconds);
  [[nodiscard]] const Library& library() const { return library_; }
  [[nodiscard]] Program& program() { return program_; }

 private:
  Adapter(Program program, Library library)
      : program_(std::move(program)), library_(std::move(library)) {}

  Program program_;
  Library library_;
};

}  // namespace cupel::crdt
