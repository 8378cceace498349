// Replica messages: which message of a run each replica has, and which may come next.
//
// A replica has a status for each message. A library may keep a message until others have come
// (kWaiting). The messages of a replica between two crashes are a stream. A replica does not know
// its earlier ones until they come back, so only within a stream does each message have all before
// it in its past.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace cupel::crdt {

using ReplicaId = std::uint32_t;
using MessageId = std::size_t;
using StreamId = std::uint32_t;

enum class MessageStatus : std::uint8_t { kMissing, kLost, kWaiting, kApplied };

struct SentMessage {
  ReplicaId from;
  nlohmann::json value;          // null: an update without a message
  std::vector<std::string> ids;  // as `deliver` lines name what it has
  StreamId stream = 0;
  std::vector<std::size_t> past = {};  // messages of each stream that the sender had
  std::vector<MessageId> beyond = {};  // what it had besides, if there is no value
  [[nodiscard]] bool is_silent() const { return value.is_null(); }
};

class ReplicaMessages {
 public:
  struct Stream {
    ReplicaId sender;
    std::vector<MessageId> messages;
  };

  explicit ReplicaMessages(std::uint32_t replicas);

  [[nodiscard]] std::size_t size() const { return messages_.size(); }
  [[nodiscard]] const SentMessage& operator[](MessageId m) const { return messages_[m]; }
  [[nodiscard]] MessageStatus status(ReplicaId r, MessageId m) const { return status_[r][m]; }
  // By message.
  [[nodiscard]] const std::vector<MessageStatus>& statuses(ReplicaId r) const { return status_[r]; }
  [[nodiscard]] const std::set<MessageId>& waiting(ReplicaId r) const { return waiting_[r]; }
  // Not handed over yet: messages, and updates that have none.
  [[nodiscard]] std::vector<MessageId>& pending(ReplicaId r) { return pending_[r]; }
  [[nodiscard]] std::vector<MessageId>& silent(ReplicaId r) { return silent_[r]; }

  [[nodiscard]] const std::vector<Stream>& streams() const { return streams_; }
  // Of its messages from now on.
  [[nodiscard]] StreamId stream_of(ReplicaId r) const { return stream_of_[r]; }

  // Its sender has applied it. The stream, and what the sender had, are filled in.
  void add(SentMessage sent);
  void set_lost(ReplicaId r, MessageId m) { status_[r][m] = MessageStatus::kLost; }
  void set_waiting(ReplicaId r, MessageId m);
  void set_applied(ReplicaId r, const std::vector<MessageId>& applied);
  // These messages wait now. Those that waited before, maybe elsewhere, and do not wait any more
  // are applied: returned, and not noted yet.
  [[nodiscard]] std::vector<MessageId> set_waiting(ReplicaId r, const std::set<MessageId>& before,
                                                   const std::set<MessageId>& now);
  // What was applied elsewhere is applied. False: it had all of them.
  bool take(const std::vector<MessageStatus>& from, ReplicaId to);
  // It goes on with this, or with nothing, in a new stream.
  void begin_again(ReplicaId r, const std::vector<MessageStatus>* saved);

  // The next message in causal order; nothing: there is none, or others come first.
  [[nodiscard]] std::optional<MessageId> next_causal(ReplicaId to, StreamId s);
  // Has the replica all that the sender had?
  [[nodiscard]] bool has_past_of(const SentMessage& sent, ReplicaId to);
  [[nodiscard]] bool has_everything() const;
  static std::set<MessageId> waiting_in(const std::vector<MessageStatus>& status);

 private:
  void begin_stream(ReplicaId sender);
  // How many of the stream's messages the replica has without a gap.
  std::size_t next_in_order(ReplicaId to, StreamId s);
  [[nodiscard]] std::vector<MessageId> applied_beyond(ReplicaId r,
                                                      const std::vector<std::size_t>& past) const;

  std::vector<SentMessage> messages_;
  std::vector<std::vector<MessageStatus>> status_;        // by replica and message
  std::vector<std::vector<MessageId>> pending_, silent_;  // by replica
  std::vector<std::set<MessageId>> waiting_;              // by replica: those of that status
  std::vector<Stream> streams_;
  std::vector<StreamId> stream_of_;                 // by replica
  std::vector<std::vector<std::size_t>> in_order_;  // by receiver and stream
};

}  // namespace cupel::crdt
