// Replica messages: see the header.
#include "crdt/workload/replica_messages.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

namespace cupel::crdt {

ReplicaMessages::ReplicaMessages(std::uint32_t replicas)
    : status_(replicas),
      pending_(replicas),
      silent_(replicas),
      waiting_(replicas),
      stream_of_(replicas),
      in_order_(replicas) {
  for (ReplicaId r = 0; r < replicas; ++r) begin_stream(r);
}

void ReplicaMessages::begin_stream(ReplicaId sender) {
  stream_of_[sender] = static_cast<StreamId>(streams_.size());
  streams_.push_back({sender, {}});
  for (auto& counts : in_order_) counts.push_back(0);
}

void ReplicaMessages::add(SentMessage sent) {
  const ReplicaId from = sent.from;
  sent.stream = stream_of_[from];
  for (StreamId s = 0; s < streams_.size(); ++s) sent.past.push_back(next_in_order(from, s));
  const bool silent = sent.is_silent();
  if (silent) sent.beyond = applied_beyond(from, sent.past);
  const MessageId m = messages_.size();
  streams_[sent.stream].messages.push_back(m);
  messages_.push_back(std::move(sent));
  for (ReplicaId r = 0; r < status_.size(); ++r) {
    status_[r].push_back(r == from ? MessageStatus::kApplied : MessageStatus::kMissing);
    if (r != from) (silent ? silent_ : pending_)[r].push_back(m);
  }
}

void ReplicaMessages::set_waiting(ReplicaId r, MessageId m) {
  status_[r][m] = MessageStatus::kWaiting;
  waiting_[r].insert(m);
}

void ReplicaMessages::set_applied(ReplicaId r, const std::vector<MessageId>& applied) {
  for (const MessageId m : applied) {
    status_[r][m] = MessageStatus::kApplied;
    waiting_[r].erase(m);
  }
}

std::vector<MessageId> ReplicaMessages::set_waiting(ReplicaId r, const std::set<MessageId>& before,
                                                    const std::set<MessageId>& now) {
  std::vector<MessageId> applied;
  for (const MessageId m : before) {
    if (!now.contains(m) && status_[r][m] != MessageStatus::kApplied) applied.push_back(m);
  }
  waiting_[r].clear();
  for (const MessageId m : now) {
    if (status_[r][m] != MessageStatus::kApplied) set_waiting(r, m);
  }
  return applied;
}

bool ReplicaMessages::take(const std::vector<MessageStatus>& from, ReplicaId to) {
  bool fresh = false;
  for (MessageId m = 0; m < from.size(); ++m) {
    if (from[m] != MessageStatus::kApplied || status_[to][m] == MessageStatus::kApplied) continue;
    status_[to][m] = MessageStatus::kApplied;
    waiting_[to].erase(m);
    fresh = true;
  }
  return fresh;
}

void ReplicaMessages::begin_again(ReplicaId r, const std::vector<MessageStatus>* saved) {
  begin_stream(r);
  pending_[r].clear();
  silent_[r].clear();
  waiting_[r].clear();
  in_order_[r].assign(streams_.size(), 0);
  for (MessageId m = 0; m < messages_.size(); ++m) {
    auto status = saved != nullptr && m < saved->size() ? (*saved)[m] : MessageStatus::kMissing;
    if (status == MessageStatus::kLost) status = MessageStatus::kMissing;
    if (status == MessageStatus::kMissing)
      (messages_[m].is_silent() ? silent_ : pending_)[r].push_back(m);
    if (status == MessageStatus::kWaiting) waiting_[r].insert(m);
    status_[r][m] = status;
  }
}

std::vector<MessageId> ReplicaMessages::applied_beyond(ReplicaId r,
                                                       const std::vector<std::size_t>& past) const {
  std::vector<MessageId> beyond;
  for (StreamId s = 0; s < streams_.size(); ++s) {
    const auto& messages = streams_[s].messages;
    std::copy_if(messages.begin() + static_cast<std::ptrdiff_t>(past[s]), messages.end(),
                 std::back_inserter(beyond),
                 [&](MessageId m) { return status_[r][m] == MessageStatus::kApplied; });
  }
  return beyond;
}

bool ReplicaMessages::has_past_of(const SentMessage& sent, ReplicaId to) {
  for (StreamId s = 0; s < sent.past.size(); ++s) {
    if (sent.past[s] > next_in_order(to, s)) return false;
  }
  return std::all_of(sent.beyond.begin(), sent.beyond.end(),
                     [&](MessageId m) { return status_[to][m] == MessageStatus::kApplied; });
}

std::size_t ReplicaMessages::next_in_order(ReplicaId to, StreamId s) {
  std::size_t& next = in_order_[to][s];
  const auto& messages = streams_[s].messages;
  while (next < messages.size() && status_[to][messages[next]] == MessageStatus::kApplied) ++next;
  return next;
}

std::optional<MessageId> ReplicaMessages::next_causal(ReplicaId to, StreamId s) {
  const auto next = next_in_order(to, s);
  if (next == streams_[s].messages.size()) return std::nullopt;
  const MessageId m = streams_[s].messages[next];
  const auto& past = messages_[m].past;
  for (StreamId other = 0; other < past.size(); ++other) {
    if (other != s && past[other] > next_in_order(to, other)) return std::nullopt;
  }
  return m;
}

bool ReplicaMessages::has_everything() const {
  return std::all_of(status_.begin(), status_.end(), [](const std::vector<MessageStatus>& all) {
    return std::all_of(all.begin(), all.end(),
                       [](MessageStatus s) { return s == MessageStatus::kApplied; });
  });
}

std::set<MessageId> ReplicaMessages::waiting_in(const std::vector<MessageStatus>& status) {
  std::set<MessageId> waiting;
  for (MessageId m = 0; m < status.size(); ++m) {
    if (status[m] == MessageStatus::kWaiting) waiting.insert(m);
  }
  return waiting;
}

}  // namespace cupel::crdt
