// Adapter replicas: what the replicas of an adapter do, one request at a time. Each action asks the
// library, learns which messages it has applied, and adds to the record: lines of the history,
// steps that can be repeated, and counts.
//
// A library may keep a message until others have come; the adapter says which wait, so the history
// has only what was applied. Lines `deliver` are written at that time.
#pragma once

#include <deque>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "crdt/workload/adapter_link.hpp"
#include "crdt/workload/adapter_run.hpp"
#include "crdt/workload/recorder.hpp"
#include "crdt/workload/replica_messages.hpp"

namespace cupel::crdt {

class AdapterReplicas {
 public:
  using Json = nlohmann::json;

  AdapterReplicas(Adapter& adapter, const AdapterRunOptions& options);
  AdapterReplicas(const AdapterReplicas&) = delete;  // its link refers to its record
  AdapterReplicas& operator=(const AdapterReplicas&) = delete;

  // The first request. Of several objects, one may be left that has keys.
  void begin(const std::vector<std::uint32_t>& keys, bool script);
  base::Result<AdapterRecorded> finished();
  [[nodiscard]] bool has_failed() const { return link_.has_failed(); }
  [[nodiscard]] AdapterLink& link() { return link_; }

  // An operation, as the recorder has it or with this question.
  void perform(const Operation& op);
  void perform(const Operation& op, const Json& question);
  // A message with these updates; null: they have none.
  void send(ReplicaId from, std::vector<std::string> ids, Json value);
  void hand(ReplicaId to, MessageId m);
  // They count as applied from now on.
  void set_applied(ReplicaId r, const std::vector<MessageId>& applied);

  void restart(ReplicaId r);
  // Its document and what it has seen, for a crash.
  void save(ReplicaId r);
  [[nodiscard]] bool has_saved(ReplicaId r) const { return saved_[r].has_value(); }
  // It begins again from what it saved last, or from nothing, as a new process. What it has not
  // seen any more, its own messages too, comes again.
  void crash(ReplicaId r);
  void set_clock(ReplicaId r, std::int64_t ahead);
  void join_from(ReplicaId r, ReplicaId from);
  void sync(ReplicaId a, ReplicaId b);
  // What the other one saved last.
  void merge(ReplicaId r, ReplicaId other);
  // A new exchange ends an earlier one of the two.
  void greet(ReplicaId r, ReplicaId other);
  // The next message of an exchange.
  void hear(ReplicaId r, ReplicaId from);
  [[nodiscard]] bool has_to_hear(ReplicaId r, ReplicaId from) {
    return !addressed_[{from, r}].empty();
  }
  void compact(ReplicaId r);

  [[nodiscard]] bool has(Hazard hazard) const;
  [[nodiscard]] const AdapterRunOptions& options() const { return options_; }
  [[nodiscard]] Recorder& recorder() { return recorder_; }
  [[nodiscard]] ReplicaMessages& messages() { return messages_; }
  [[nodiscard]] AdapterRecorded& recorded() { return recorded_; }
  // Keys without an update since a crash.
  [[nodiscard]] std::set<std::uint32_t>& crashed_since() { return crashed_since_; }
  // Of a trace: the key of its text, and the last text that was read.
  [[nodiscard]] std::uint32_t text_key() const { return text_; }
  [[nodiscard]] const std::string& last_text() const { return last_text_; }

 private:
  // All that a replica has seen at some time: the name of that state and the messages in it.
  struct Saved {
    std::string id;
    std::vector<MessageStatus> status;
  };
  // A message of an exchange, and the state of its sender.
  struct Addressed {
    Json value;
    Saved state;
  };

  void note_step(AdapterStep step);
  void note_operation(const Operation& op, Json question, const Json& answer, bool is_line);
  void note_applied(ReplicaId r, const std::vector<MessageId>& applied);
  void note_delivered(ReplicaId to, const std::string& id);
  std::string note_state(ReplicaId r);
  void command(const Json& question, const std::vector<ReplicaId>& concerned);
  void learn_from(const Json& question, const Json& answer, const std::vector<ReplicaId>& concerned,
                  std::set<MessageId> before = {});
  [[nodiscard]] std::vector<MessageId> brought(const Json& answer, ReplicaId replica) const;
  bool read_waiting(const Json& answer, ReplicaId replica, std::set<MessageId>& now) const;
  void copy_status(ReplicaId from, ReplicaId to);
  void copy_status(const Saved& from, ReplicaId to);
  void address(ReplicaId from, ReplicaId to, const Json& messages);
  void hang_up(ReplicaId r);

  const AdapterRunOptions& options_;
  AdapterRecorded recorded_;
  AdapterLink link_;
  Recorder recorder_;
  ReplicaMessages messages_;
  std::vector<std::optional<Saved>> saved_;                                     // by replica
  std::map<std::pair<ReplicaId, ReplicaId>, std::deque<Addressed>> addressed_;  // from and to
  std::set<std::uint32_t> crashed_since_;
  std::uint64_t states_ = 0;
  std::uint32_t text_ = 0;
  std::string last_text_;
};

}  // namespace cupel::crdt
