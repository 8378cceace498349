// Adapter run: see the header.
//
// A replica has a status for each message. A library may keep a message until others have come; the
// adapter says which wait, so the history has only what was applied. Lines `deliver` are written
// at that time.
#include "crdt/workload/adapter_run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>

#include "base/budget.hpp"
#include "crdt/workload/recorder.hpp"
#include "text/json.hpp"

namespace cupel::crdt {

namespace {

using Json = nlohmann::json;
using MessageId = std::size_t;
using Replica = std::uint32_t;

// Chances, before an operation.
constexpr double kPartition = 0.01, kRestart = 0.01, kSync = 0.02, kLateRepeat = 0.1;
// Of a delivery.
constexpr double kRepeatedShare = 0.1, kLostShare = 0.1;

enum class Status : std::uint8_t { kNone, kLost, kWaiting, kApplied };

struct Sent {
  Replica from;
  Json value;                     // null: the update made no message, and nothing is delivered
  std::string id;                 // as `deliver` lines name it
  std::vector<std::size_t> past;  // messages of each replica that the sender had, in causal order
};

class AdapterRunner {
 public:
  AdapterRunner(Adapter& adapter, const AdapterRunOptions& options)
      : adapter_(adapter),
        options_(options),
        recorder_(options, Arguments::kAsAnswered),
        status_(options.replicas),
        pending_(options.replicas),
        waiting_(options.replicas),
        by_sender_(options.replicas),
        in_order_(options.replicas, std::vector<std::size_t>(options.replicas, 0)),
        side_(options.replicas, 0) {}

  base::Result<AdapterRecorded> run() {
    recorder_.note({{"f", "delivery"}, {"value", "applied"}});
    command({{"f", "begin"},
             {"replicas", options_.replicas},
             {"keys", recorder_.keys()},
             {"object", options_.object}},
            {});
    const bool late = options_.replicas > 2;
    const auto last = options_.replicas - 1;
    for (std::uint64_t i = 0; i < options_.ops && !failure_; ++i) {
      const bool absent = late && i < options_.ops / 4;
      if (late && i == options_.ops / 4) join(last);
      const auto r = static_cast<Replica>(random().below(absent ? last : options_.replicas));
      change_partition(i);
      if (has(Hazard::kRestart) && random().chance(kRestart)) restart(r);
      if (has(Hazard::kLoss) && random().chance(kSync))
        sync_with_some(r, absent ? last : options_.replicas);
      if (has(Hazard::kDuplicates) && random().chance(kLateRepeat)) repeat_some(r);
      deliver_some(r, options_.delivery);
      if (!failure_) perform(recorder_.next(r));
    }
    settle();
    for (Replica r = 0; r < options_.replicas; ++r) {
      for (std::uint32_t k = 0; k < options_.keys && !failure_; ++k)
        perform(recorder_.read_of(r, k));
    }
    if (failure_) return *failure_;
    adapter_.program().close();
    recorded_.messages = messages_.size();
    recorded_.lines = recorder_.lines();
    return std::move(recorded_);
  }

 private:
  base::Random& random() { return recorder_.random(); }

  [[nodiscard]] bool has(Hazard hazard) const {
    return std::find(options_.hazards.begin(), options_.hazards.end(), hazard) !=
           options_.hazards.end();
  }

  // Nothing: it failed, which is kept.
  std::optional<Json> ask(const Json& question) {
    if (failure_) return std::nullopt;
    auto answer = adapter_.program().ask(question);
    if (!answer.ok()) {
      failure_ = std::move(answer).error();
      return std::nullopt;
    }
    if (const Json threw = answer->value("threw", Json()); threw.is_string()) {
      if (recorded_.throws++ == 0)
        recorded_.first_throw =
            fmt::format("`{}`: {}", text::dump(brief(question)), threw.get<std::string>());
    }
    return std::move(*answer);
  }

  // Of a message only where it is from.
  static Json brief(Json question) {
    if (question["f"] == "deliver") question.erase("value");
    return question;
  }

  // For a request that is no operation.
  void command(const Json& question, const std::vector<Replica>& concerned) {
    const base::AllocationWatch::Deferral deferral;  // JSON's destructors allocate
    const auto answer = ask(question);
    if (!answer) return;
    if ((*answer)["type"] != "ok") {
      failure_ = adapter_.program().refused(brief(question), *answer, ", expected the type \"ok\"");
      return;
    }
    std::set<MessageId> before;
    for (const Replica r : concerned) before.insert(waiting_[r].begin(), waiting_[r].end());
    for (const Replica r : concerned) {
      std::set<MessageId> now;
      if (!read_waiting(*answer, r, now)) {
        failure_ = adapter_.program().refused(
            brief(question), *answer, "; expected in `waiting` the messages that wait, by replica");
        return;
      }
      learn_waiting(r, before, now);
    }
  }

  // False: the answer has something else than messages there.
  bool read_waiting(const Json& answer, Replica replica, std::set<MessageId>& now) const {
    const Json all = answer.value("waiting", Json::object());
    if (!all.is_object()) return false;
    const Json its = all.value(std::to_string(replica), Json::array());
    if (!its.is_array()) return false;
    for (const Json& id : its) {
      if (!id.is_number_unsigned() || id.get<MessageId>() >= messages_.size()) return false;
      now.insert(id.get<MessageId>());
    }
    return true;
  }

  // Those that waited somewhere before and do not wait here any more are applied here.
  void learn_waiting(Replica r, const std::set<MessageId>& before, const std::set<MessageId>& now) {
    std::vector<MessageId> applied;
    for (const MessageId m : before) {
      if (!now.contains(m) && status_[r][m] != Status::kApplied) applied.push_back(m);
    }
    waiting_[r].clear();
    for (const MessageId m : now) {
      if (status_[r][m] == Status::kApplied) continue;
      status_[r][m] = Status::kWaiting;
      waiting_[r].insert(m);
    }
    set_applied(r, applied);
  }

  void set_applied(Replica r, const std::vector<MessageId>& applied) {
    if (applied.empty()) return;
    Json ids = Json::array();
    for (const MessageId m : applied) {
      status_[r][m] = Status::kApplied;
      waiting_[r].erase(m);
      ids.push_back(messages_[m].id);
    }
    recorder_.note({{"process", r}, {"f", "deliver"}, {"value", ids}});
  }

  // A message or a document with all that the replica has seen.
  std::string note_state(Replica r) {
    auto id = fmt::format("m{}", states_++);
    recorder_.note({{"process", r}, {"f", "send"}, {"id", id}});
    return id;
  }

  void perform(const Operation& op) {
    const base::AllocationWatch::Deferral deferral;  // JSON's destructors allocate
    Json question = recorder_.question(op);
    Json request = question;
    request["replica"] = op.replica;
    const auto answer = ask(request);
    if (!answer) return;
    if ((*answer)["type"] == "info") {
      failure_ =
          adapter_.program().refused(request, *answer, ", expected the type \"ok\" or \"fail\"");
      return;
    }
    const auto outcome = recorder_.record(op, question, *answer);
    if (outcome.wrong)
      failure_ = adapter_.program().refused(request, *answer, ": " + *outcome.wrong);
    if (!outcome.update.empty()) send(op.replica, outcome.update, answer->value("send", Json()));
  }

  void send(Replica from, std::string id, Json value) {
    Sent sent{from, std::move(value), std::move(id), {}};
    if (adapter_.library().sends_states) sent.id = note_state(from);
    for (Replica j = 0; j < options_.replicas; ++j) sent.past.push_back(next_in_order(from, j));
    const MessageId m = messages_.size();
    messages_.push_back(std::move(sent));
    by_sender_[from].push_back(m);
    for (Replica r = 0; r < options_.replicas; ++r) {
      status_[r].push_back(r == from ? Status::kApplied : Status::kNone);
      if (r != from) pending_[r].push_back(m);
    }
  }

  // How many of the sender's messages the replica has without a gap.
  std::size_t next_in_order(Replica to, Replica from) {
    std::size_t& next = in_order_[to][from];
    while (next < by_sender_[from].size() &&
           status_[to][by_sender_[from][next]] == Status::kApplied)
      ++next;
    return next;
  }

  [[nodiscard]] bool is_reachable(Replica a, Replica b) const { return side_[a] == side_[b]; }

  // The next message in causal order; none: there is none, or others come first.
  std::optional<MessageId> next_causal(Replica to, Replica from) {
    const auto next = next_in_order(to, from);
    if (next == by_sender_[from].size()) return std::nullopt;
    const MessageId m = by_sender_[from][next];
    for (Replica j = 0; j < options_.replicas; ++j) {
      if (j != from && j != to && messages_[m].past[j] > next_in_order(to, j)) return std::nullopt;
    }
    return m;
  }

  // Some message that did not come yet.
  std::optional<MessageId> next_of_any(Replica to) {
    auto& pending = pending_[to];
    while (!pending.empty()) {
      std::swap(pending[random().below(pending.size())], pending.back());
      const MessageId m = pending.back();
      if (status_[to][m] == Status::kNone) {
        if (!is_reachable(messages_[m].from, to)) return std::nullopt;
        pending.pop_back();
        return m;
      }
      pending.pop_back();  // it came otherwise
    }
    return std::nullopt;
  }

  void hand(Replica to, MessageId m) {
    const Sent& sent = messages_[m];
    ++recorded_.delivered;
    if (status_[to][m] == Status::kNone || status_[to][m] == Status::kLost) {
      status_[to][m] = Status::kWaiting;
      waiting_[to].insert(m);
    } else {
      ++recorded_.again;
    }
    if (sent.value.is_null()) {
      set_applied(to, {m});
      return;
    }
    command({{"f", "deliver"},
             {"replica", to},
             {"from", sent.from},
             {"message", m},
             {"value", sent.value}},
            {to});
  }

  void deliver_some(Replica to, double chance) {
    const auto first = static_cast<Replica>(random().below(options_.replicas));
    for (Replica k = 0; k < options_.replicas; ++k) {
      const auto from = (first + k) % options_.replicas;
      while (from != to && !failure_ && random().chance(chance)) {
        const bool any = has(Hazard::kReordering);
        const auto m = any                      ? next_of_any(to)
                       : is_reachable(from, to) ? next_causal(to, from)
                                                : std::nullopt;
        if (!m) break;
        if (any && has(Hazard::kLoss) && random().chance(kLostShare)) {
          status_[to][*m] = Status::kLost;
          ++recorded_.lost;
          continue;
        }
        hand(to, *m);
        if (has(Hazard::kDuplicates) && random().chance(kRepeatedShare)) hand(to, *m);
      }
    }
  }

  // A message that came long ago, if one drawn at random did.
  void repeat_some(Replica to) {
    if (messages_.empty()) return;
    const MessageId m = random().below(messages_.size());
    if (messages_[m].from == to || messages_[m].value.is_null()) return;
    if (status_[to][m] == Status::kWaiting || status_[to][m] == Status::kApplied) hand(to, m);
  }

  void change_partition(std::uint64_t now) {
    if (now >= heals_ && heals_ > 0) heal();
    if (heals_ > 0 || options_.replicas < 2 || !random().chance(kPartition)) return;
    const auto cut = 1 + random().below((std::uint64_t{1} << std::min(options_.replicas, 60U)) - 2);
    for (Replica r = 0; r < options_.replicas; ++r) side_[r] = (cut >> (r % 60)) & 1;
    heals_ = now + 5 + random().below(std::max<std::uint64_t>(1, options_.ops / 8));
    ++recorded_.partitions;
  }

  void heal() {
    side_.assign(options_.replicas, 0);
    heals_ = 0;
  }

  void restart(Replica r) {
    ++recorded_.restarts;
    command({{"f", "restart"}, {"replica", r}}, {r});
  }

  // The replica that was not there yet begins empty, or from what another one saved.
  void join(Replica r) {
    recorded_.joined_late = true;
    if (!has(Hazard::kJoin) || random().chance(0.5)) return;
    const auto from = static_cast<Replica>(random().below(r));
    copy_status(from, r);
    command({{"f", "join"}, {"replica", r}, {"from", from}}, {r});
  }

  void sync_with_some(Replica r, Replica among) {
    const auto other = static_cast<Replica>(random().below(among));
    if (other != r && is_reachable(r, other)) sync(r, other);
  }

  void sync(Replica a, Replica b) {
    ++recorded_.syncs;
    copy_status(a, b);
    copy_status(b, a);
    command({{"f", "sync"}, {"replica", a}, {"from", b}}, {a, b});
  }

  // What was applied at one is now applied at the other.
  void copy_status(Replica from, Replica to) {
    std::vector<MessageId> fresh;
    for (MessageId m = 0; m < messages_.size(); ++m) {
      if (status_[from][m] == Status::kApplied && status_[to][m] != Status::kApplied) {
        status_[to][m] = Status::kApplied;
        waiting_[to].erase(m);
        fresh.push_back(m);
      }
    }
    if (fresh.empty()) return;
    const auto id = note_state(from);
    recorder_.note({{"process", to}, {"f", "deliver"}, {"value", {id}}});
  }

  // Everything arrives: what is pending, then what was lost by syncs, then what still waits again.
  void settle() {
    heal();
    for (bool more = true; more && !failure_;) {
      more = false;
      for (Replica r = 0; r < options_.replicas; ++r) {
        const auto before = recorded_.delivered;
        deliver_some(r, 0.9);
        more = more || recorded_.delivered > before || !has_all_but_lost(r);
      }
    }
    if (has(Hazard::kLoss)) {
      for (int round = 0; round < 2; ++round) {
        for (Replica r = 0; r + 1 < options_.replicas && !failure_; ++r) sync(r, r + 1);
        if (options_.replicas > 2) sync(options_.replicas - 1, 0);
      }
    }
    for (Replica r = 0; r < options_.replicas; ++r) {
      const auto kept = waiting_[r];
      for (const MessageId m : kept) hand(r, m);
    }
    for (Replica r = 0; r < options_.replicas && !failure_; ++r) report_stuck(r);
  }

  [[nodiscard]] bool has_all_but_lost(Replica r) const {
    return std::none_of(status_[r].begin(), status_[r].end(),
                        [](Status s) { return s == Status::kNone; });
  }

  // They count as applied: the library had everything that it needed.
  void report_stuck(Replica r) {
    const std::vector<MessageId> kept(waiting_[r].begin(), waiting_[r].end());
    for (const MessageId m : kept) {
      if (recorded_.stuck++ == 0)
        recorded_.first_stuck = fmt::format("{} at replica {}", messages_[m].id, r);
    }
    set_applied(r, kept);
  }

  Adapter& adapter_;
  const AdapterRunOptions& options_;
  Recorder recorder_;
  std::vector<Sent> messages_;
  std::vector<std::vector<Status>> status_;      // by replica and message
  std::vector<std::vector<MessageId>> pending_;  // by replica: not handed over yet
  std::vector<std::set<MessageId>> waiting_;     // by replica: those of that status
  std::vector<std::vector<MessageId>> by_sender_;
  std::vector<std::vector<std::size_t>> in_order_;  // by receiver and sender
  std::vector<std::uint64_t> side_;                 // of the partition, by replica
  std::uint64_t heals_ = 0;                         // before this operation; 0: there is none
  std::uint64_t states_ = 0;
  std::optional<base::Error> failure_;
  AdapterRecorded recorded_;
};

}  // namespace

base::Result<AdapterRecorded> run(Adapter& adapter, const AdapterRunOptions& options) {
  return AdapterRunner(adapter, options).run();
}

}  // namespace cupel::crdt
