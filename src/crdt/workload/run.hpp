// Run: replicas that are programs. cupel sends the requests, delivers the messages and records.
//
// One program is started per replica. It speaks JSON lines (docs/reference/crdt.md#run) and answers
// every line with one line:
//
//   {"f":"add","key":"x","value":"e1"}         {"type":"ok","send":MESSAGE}
//   {"f":"read","key":"x"}                     {"type":"ok","value":["e1"]}
//   {"f":"deliver","from":0,"value":MESSAGE}   {"type":"ok"}
//
// An answer may say what its message carries, {"carries":"update"} or {"carries":"state"}.
//
// cupel keeps what a replica sends and delivers it to each other replica at random, before one of
// its operations. The network is simulated, so the same seed gives the same run. Replicas that have
// a network of their own send nothing.
#pragma once

#include <string>

#include "crdt/workload/generate.hpp"

namespace cupel::crdt {

enum class Delivery : std::uint8_t {
  kCausal,  // after all that the sender had received when it sent
  kFifo,    // each sender's messages in their order
  kAny,     // in any order
};

struct RunOptions : Requests {
  std::string command;  // for `sh -c`
  std::uint64_t ops = 200;
  double delivery =
      0.3;  // chance that the next message of another replica arrives before an operation
  Delivery order = Delivery::kCausal;
  double repeats = 0;           // share of messages that arrive a second time
  double timeout_seconds = 10;  // for an answer
};

struct Recorded {
  std::string lines;           // the history, as read() takes it, with times
  std::uint64_t messages = 0;  // delivered
  // Everything that was sent was delivered before the last reads, one of every key by each replica.
  bool settled = false;
  // Why the lines do not say what each replica had received; empty: they do.
  std::string without_context = {};
};

// Errors: a program that does not start, dies, does not answer, or answers otherwise than
// described, with the line.
base::Result<Recorded> run(const RunOptions& options);

}  // namespace cupel::crdt
