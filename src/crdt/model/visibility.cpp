// Visibility: the replicas execute their lines one by one. A line that names an update or message
// of another replica waits until that replica has come to it. If all wait, the lines contradict
// each other.
//
// By the rules causal and fifo, a replica sees of each other one the first so many updates: a
// vector. What came too early waits in `early_`. By the rule applied it is any set, and a message
// stands for the first so many arrivals of its sender; what a receiver had merged of a sender
// before, it does not merge again.
//
// Cost: receptions × replicas + replicas² × updates.
#include "crdt/model/visibility.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace cupel::crdt {

class Deliveries {
 public:
  explicit Deliveries(const History& history)
      : h_(history),
        replicas_(history.replicas.size()),
        causal_(history.context.rule == DeliveryRule::kCausal),
        applied_(history.context.rule == DeliveryRule::kApplied),
        updates_of_(replicas_),
        receptions_of_(replicas_),
        executed_(replicas_, 0),
        received_(replicas_, 0),
        waiting_(replicas_),
        vector_(replicas_, std::vector<std::uint32_t>(applied_ ? 0 : replicas_, 0)),
        early_(replicas_, std::vector<std::set<std::uint32_t>>(applied_ ? 0 : replicas_)),
        merged_(applied_ ? replicas_ : 0, std::vector<std::uint32_t>(replicas_, 0)),
        first_(merged_),
        sent_(history.context.receptions.size()) {
    v_.history_ = &history.ops;
    v_.replicas_ = replicas_;
    v_.number_.assign(h_.ops.size(), kNone);
    place_.assign(h_.ops.size(), 0);
    for (OpId id = 0; id < h_.ops.size(); ++id) {
      const Operation& op = h_.ops[id];
      if (is_read(op.kind)) continue;
      v_.number_[id] = static_cast<std::uint32_t>(v_.updates_++);
      place_[id] = static_cast<std::uint32_t>(updates_of_[op.replica].size());
      updates_of_[op.replica].push_back(id);
    }
    v_.since_.assign(replicas_ * v_.updates_, kNone);
    v_.arrivals_.resize(replicas_);
    v_.order_.reserve(h_.ops.size());
    if (causal_) past_.resize(v_.updates_ * replicas_);
    for (std::uint32_t i = 0; i < h_.context.receptions.size(); ++i)
      receptions_of_[h_.context.receptions[i].replica].push_back(i);
  }

  base::Result<Visibility> run() {
    std::vector<std::uint32_t> ready;
    for (auto r = static_cast<std::uint32_t>(replicas_); r-- > 0;) ready.push_back(r);
    while (!ready.empty()) {
      const auto r = ready.back();
      ready.pop_back();
      while (step(r)) {
        ready.insert(ready.end(), waiting_[r].begin(), waiting_[r].end());
        waiting_[r].clear();
      }
    }
    if (v_.order_.size() < h_.ops.size() || !all_received()) return contradiction();
    return std::move(v_);
  }

 private:
  // The next line of a replica. False: there is none, or it waits.
  bool step(std::uint32_t r) {
    const auto& ops = h_.by_replica[r];
    if (received_[r] < receptions_of_[r].size()) {
      const auto at = receptions_of_[r][received_[r]];
      const Reception& reception = h_.context.receptions[at];
      if (reception.seq <= executed_[r]) {
        if (const auto other = awaited(reception); other != kNone) {
          waiting_[other].push_back(r);
          return false;
        }
        ++received_[r];
        receive(r, at);
        return true;
      }
    }
    if (executed_[r] == ops.size()) return false;
    const OpId id = ops[executed_[r]++];
    v_.order_.push_back(id);
    if (!is_read(h_.ops[id].kind)) execute(r, id);
    return true;
  }

  // A replica that has not come to what the line names, or kNone.
  [[nodiscard]] std::uint32_t awaited(const Reception& reception) const {
    for (const NamedUpdates& named : h_.context.updates(reception)) {
      if (named.kind == NamedUpdates::Kind::kMessage) {
        const Reception& message = h_.context.receptions[named.of];
        if (!is_sent(named.of)) return message.replica;
        continue;
      }
      OpId last = named.of;
      if (named.kind == NamedUpdates::Kind::kFirst) {
        if (named.count == 0) continue;
        last = updates_of_[named.of][named.count - 1];
      }
      if (executed_[h_.ops[last].replica] <= h_.ops[last].seq) return h_.ops[last].replica;
    }
    return kNone;
  }

  [[nodiscard]] bool is_sent(std::uint32_t message) const { return sent_[message].is_there; }

  [[nodiscard]] bool all_received() const {
    for (std::uint32_t r = 0; r < replicas_; ++r) {
      if (received_[r] < receptions_of_[r].size()) return false;
    }
    return true;
  }

  void execute(std::uint32_t r, OpId id) {
    if (!applied_) {
      if (causal_) {
        std::copy(vector_[r].begin(), vector_[r].end(),
                  past_.begin() + static_cast<std::ptrdiff_t>(v_.number_[id] * replicas_));
      }
      vector_[r][r] = place_[id] + 1;
    }
    arrive(r, id);
  }

  void arrive(std::uint32_t r, OpId update) {
    auto& since = v_.since_[v_.number_[update] * replicas_ + r];
    if (since != kNone) return;
    since = executed_[r];
    v_.arrivals_[r].push_back(update);
  }

  void receive(std::uint32_t r, std::uint32_t at) {
    const Reception& reception = h_.context.receptions[at];
    if (reception.kind == Reception::Kind::kSent) {
      sent_[at] = {.is_there = true, .vector = vector_[r], .arrivals = v_.arrivals_[r].size()};
      return;
    }
    const bool version = reception.kind == Reception::Kind::kVersion;
    for (const NamedUpdates& named : h_.context.updates(reception)) {
      switch (named.kind) {
        case NamedUpdates::Kind::kUpdate:
          take(r, named.of, version);
          break;
        case NamedUpdates::Kind::kFirst:
          take_first(r, named, version);
          break;
        case NamedUpdates::Kind::kMessage:
          merge(r, named.of);
          break;
      }
    }
    if (!applied_) take_early(r);
  }

  void take(std::uint32_t r, OpId update, bool version) {
    if (applied_) {
      arrive(r, update);
      return;
    }
    const auto from = h_.ops[update].replica;
    if (place_[update] < vector_[r][from]) return;
    if (version) {
      if (causal_) raise(r, past(update));
      raise_one(r, from, place_[update] + 1);
    } else if (is_next(r, update)) {
      raise_one(r, from, place_[update] + 1);
    } else {
      early_[r][from].insert(place_[update]);
      any_early_ = true;
    }
  }

  // What the replica has seen of them it need not look at again.
  void take_first(std::uint32_t r, const NamedUpdates& named, bool version) {
    auto& had = applied_ ? first_[r][named.of] : vector_[r][named.of];
    auto i = had;
    if (version && causal_ && named.count > i) i = named.count - 1;
    for (; i < named.count; ++i) take(r, updates_of_[named.of][i], version);
    if (applied_) had = std::max(had, named.count);
  }

  [[nodiscard]] std::span<const std::uint32_t> past(OpId update) const {
    return std::span(past_).subspan(v_.number_[update] * replicas_, replicas_);
  }

  // Has the replica seen all that must come before?
  [[nodiscard]] bool is_next(std::uint32_t r, OpId update) const {
    if (place_[update] != vector_[r][h_.ops[update].replica]) return false;
    if (!causal_) return true;
    const auto needed = past(update);
    return std::equal(needed.begin(), needed.end(), vector_[r].begin(), std::less_equal<>());
  }

  void raise_one(std::uint32_t r, std::uint32_t from, std::uint32_t count) {
    for (auto& seen = vector_[r][from]; seen < count; ++seen) arrive(r, updates_of_[from][seen]);
  }
  void raise(std::uint32_t r, std::span<const std::uint32_t> vector) {
    for (std::uint32_t from = 0; from < replicas_; ++from) raise_one(r, from, vector[from]);
  }

  void take_early(std::uint32_t r) {
    if (!any_early_) return;
    for (bool again = true; again;) {
      again = false;
      for (std::uint32_t from = 0; from < replicas_; ++from) {
        auto& early = early_[r][from];
        early.erase(early.begin(), early.lower_bound(vector_[r][from]));
        while (!early.empty() && is_next(r, updates_of_[from][*early.begin()])) {
          raise_one(r, from, *early.begin() + 1);
          early.erase(early.begin());
          again = true;
        }
      }
    }
  }

  void merge(std::uint32_t r, std::uint32_t at) {
    const Message& message = sent_[at];
    if (!applied_) {
      raise(r, message.vector);
      return;
    }
    const auto from = h_.context.receptions[at].replica;
    if (from == r) return;
    auto& merged = merged_[r][from];
    for (; merged < message.arrivals; ++merged) arrive(r, v_.arrivals_[from][merged]);
  }

  [[nodiscard]] base::Error contradiction() const {
    for (std::uint32_t r = 0; r < replicas_; ++r) {
      if (received_[r] == receptions_of_[r].size()) continue;
      const Reception& reception = h_.context.receptions[receptions_of_[r][received_[r]]];
      return {
          .message = fmt::format(
              "found that replica {} had received updates or messages that came after: no order "
              "of the lines fits all deliveries; expected each delivery after what it delivers",
              h_.replicas[r]),
          .line = reception.line};
    }
    return {.message = "found deliveries that no order of the lines fits"};
  }

  struct Message {
    bool is_there = false;
    std::vector<std::uint32_t> vector = {};
    std::size_t arrivals = 0;
  };

  const History& h_;
  const std::size_t replicas_;
  const bool causal_, applied_;
  Visibility v_;
  std::vector<std::uint32_t> place_;           // by operation: among its replica's updates
  std::vector<std::vector<OpId>> updates_of_;  // by replica
  std::vector<std::vector<std::uint32_t>> receptions_of_;  // by replica
  std::vector<std::uint32_t> executed_, received_;         // by replica: how many lines
  std::vector<std::vector<std::uint32_t>> waiting_;        // by replica: who waits for it
  std::vector<std::vector<std::uint32_t>> vector_;         // by replica: updates seen of each
  std::vector<std::uint32_t> past_;                        // by update: the vector of its replica
  std::vector<std::vector<std::set<std::uint32_t>>> early_;
  bool any_early_ = false;
  std::vector<std::vector<std::uint32_t>> merged_;  // by receiver and sender: arrivals
  std::vector<std::vector<std::uint32_t>> first_;   // by receiver and sender: updates, by kFirst
  std::vector<Message> sent_;
};

base::Result<Visibility> Visibility::of(const History& history) {
  return Deliveries(history).run();
}

Visibility Visibility::of_clocks(const History& history, const Clocks& clocks,
                                 std::vector<OpId> order) {
  Visibility v;
  v.history_ = &history.ops;
  v.number_.assign(history.ops.size(), kNone);
  for (OpId id = 0; id < history.ops.size(); ++id) {
    if (!is_read(history.ops[id].kind)) v.number_[id] = static_cast<std::uint32_t>(v.updates_++);
  }
  const auto replicas = v.replicas_ = history.replicas.size();
  v.since_.assign(replicas * v.updates_, kNone);
  v.arrivals_.resize(replicas);
  for (std::uint32_t r = 0; r < replicas; ++r) {
    std::vector<std::uint32_t> seen(replicas, 0);
    for (const OpId id : history.by_replica[r]) {
      const auto row = clocks.row(id);
      for (std::size_t j = 0; j < replicas; ++j) {
        for (; seen[j] < row[j]; ++seen[j]) {
          const OpId update = history.by_replica[j][seen[j]];
          if (is_read(history.ops[update].kind)) continue;
          v.since_[v.number_[update] * replicas + r] = history.ops[id].seq;
          v.arrivals_[r].push_back(update);
        }
      }
    }
  }
  v.order_ = std::move(order);
  return v;
}

Visibility Visibility::of_part(const History& part, std::span<const OpId> origin) const {
  return of_part(part, origin, arrivals_, order_);
}

Visibility Visibility::of_part(const History& part, std::span<const OpId> origin,
                               std::span<const std::vector<OpId>> arrivals,
                               std::span<const OpId> order) const {
  Visibility v;
  v.history_ = &part.ops;
  v.number_.assign(part.ops.size(), kNone);
  for (OpId id = 0; id < part.ops.size(); ++id) {
    if (!is_read(part.ops[id].kind)) v.number_[id] = static_cast<std::uint32_t>(v.updates_++);
  }
  // Of a part that has much, a table is faster than a search in its operations.
  constexpr std::size_t kSmall = 50;
  std::vector<std::uint32_t> first(origin.size() > history_->size() / kSmall ? history_->size() : 0,
                                   kNone);
  for (std::size_t i = first.empty() ? 0 : origin.size(); i-- > 0;)
    first[origin[i]] = static_cast<std::uint32_t>(i);
  const auto for_part_ops = [&](OpId id, const auto& found) {
    if (!first.empty() && first[id] == kNone) return;
    auto at = first.empty() ? std::lower_bound(origin.begin(), origin.end(), id)
                            : origin.begin() + first[id];
    for (; at != origin.end() && *at == id; ++at) found(static_cast<OpId>(at - origin.begin()));
  };
  v.replicas_ = part.replicas.size();
  v.since_.assign(v.replicas_ * v.updates_, kNone);
  v.arrivals_.resize(part.replicas.size());
  for (std::uint32_t r = 0; r < part.replicas.size(); ++r) {
    const auto& line = part.by_replica[r];
    if (line.empty()) continue;
    const auto replica = (*history_)[origin[line[0]]].replica;
    std::uint32_t place = 0;
    for (const OpId update : arrivals[replica]) {
      for_part_ops(update, [&](OpId there) {
        while (place < line.size() && (*history_)[origin[line[place]]].seq < since(replica, update))
          ++place;
        v.since_[v.number_[there] * v.replicas_ + r] = place;
        v.arrivals_[r].push_back(there);
      });
    }
  }
  for (const OpId id : order) for_part_ops(id, [&](OpId there) { v.order_.push_back(there); });
  return v;
}

Clocks Visibility::clocks(const History& history) const {
  Clocks clocks(history);
  std::vector<std::uint32_t> seen;
  replay(
      history, *this, [&](std::uint32_t) { seen.assign(history.replicas.size(), 0); },
      [&](OpId id) {
        const Operation& update = history.ops[id];
        seen[update.replica] = std::max(seen[update.replica], update.seq + 1);
      },
      [&](OpId id) {
        const auto row = clocks.row(id);
        for (std::size_t j = 0; j < row.size(); ++j) row[j] = std::max(row[j], seen[j]);
        return true;
      });
  return clocks;
}

KeyEvents::KeyEvents(const History& history, const Visibility& visibility)
    : begin_(history.keys.size() + 1, 0) {
  std::vector<std::uint32_t> key_of, last;
  key_of.reserve(history.ops.size());
  for (const Operation& op : history.ops) key_of.push_back(op.key);
  std::uint32_t replica = 0;
  const auto for_events = [&](const auto& found) {
    last.assign(history.keys.size(), kNone);
    const auto note = [&](OpId id, What what) {
      const auto key = key_of[id];
      if (last[key] != replica) found(key, Event{replica, What::kReplica});
      last[key] = replica;
      found(key, Event{id, what});
    };
    crdt::replay(
        history, visibility, [&](std::uint32_t r) { replica = r; },
        [&](OpId update) { note(update, What::kArrives); },
        [&](OpId id) {
          note(id, What::kPerformed);
          return true;
        });
  };
  for_events([&](std::uint32_t key, Event) { ++begin_[key + 1]; });
  for (std::size_t key = 0; key < history.keys.size(); ++key) begin_[key + 1] += begin_[key];
  events_.resize(begin_.back());
  auto next = begin_;
  for_events([&](std::uint32_t key, Event event) { events_[next[key]++] = event; });
}

}  // namespace cupel::crdt
