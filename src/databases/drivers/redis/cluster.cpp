// Lines to a cluster: see the header.
#include "databases/drivers/redis/cluster.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <thread>

namespace cupel::drivers::redis {

namespace {

constexpr int kMostRedirections = 8;
constexpr double kToAskForSlots = 1;  // seconds of each node
// Before a session hears that a node is not there: the others need a while to replace it.
constexpr std::chrono::milliseconds kPauseWithoutNode{50};

Failure no_node(const std::string& why) {
  return {.txn_outcome = TxnOutcome::kAborted,
          .cause = Cause::kConnection,
          .code = "no node",
          .message = why};
}

}  // namespace

base::Result<Slots> ask_for_slots(const Settings& settings, const std::vector<Host>& hosts,
                                  std::size_t first) {
  auto brief = settings;
  brief.timeout = std::min(settings.timeout, kToAskForSlots);
  std::string why = "the URL names none";
  for (std::size_t i = 0; i < hosts.size(); ++i) {
    const auto& host = hosts[(first + i) % hosts.size()];
    auto line = Line::connect(brief, host);
    if (!line) {
      why = line.error().message;
      continue;
    }
    std::vector<RedisReply> answers;
    if (auto failure = (*line)->send({{"CLUSTER", "NODES"}}, answers)) {
      why = fmt::format("{}: {}", address(host), failure->message);
    } else if (answers[0].error()) {
      why = fmt::format("{}: {}", address(host), answers[0].text);
    } else if (auto slots = Slots::parse(answers[0].text, host); slots.primaries().empty()) {
      why = fmt::format("{} knows no primary that has slots", address(host));
    } else {
      return slots;
    }
  }
  return base::Error{.message = "no node of the cluster says who has which slot: " + why};
}

void ClusterLines::refresh() {
  auto hosts = slots_.nodes();
  hosts.insert(hosts.end(), settings_.hosts.begin(), settings_.hosts.end());
  // Each time another first: one that is cut off from the others keeps an old map.
  auto slots = ask_for_slots(settings_, hosts, turn_++);
  if (!slots) return;
  slots_ = *std::move(slots);
  stale_ = false;
}

base::Result<ClusterLines::Target> ClusterLines::target_of(std::uint16_t slot, bool from_replica) {
  if (stale_) refresh();
  if (from_replica) {
    const auto replicas = slots_.replicas_of(slot);
    if (!replicas.empty()) return Target{replicas[turn_++ % replicas.size()], true};
    stale_ = true;
    return base::Error{.message = fmt::format("slot {} has no replica that answers", slot)};
  }
  if (const auto primary = slots_.primary_of(slot)) return Target{*primary};
  stale_ = true;
  return base::Error{.message = fmt::format("slot {} has no primary", slot)};
}

Line* ClusterLines::line_to(const Target& target, std::string& why) {
  auto& line = lines_[name_of(target)];
  if (line) return line.get();
  auto made = Line::connect(settings_, target.host);
  if (!made) {
    why = made.error().message;
    return nullptr;
  }
  if (target.replica) {
    std::vector<RedisReply> answers;
    if (auto failure = (*made)->send({{"READONLY"}}, answers)) {
      why = failure->message;
      return nullptr;
    }
    if (answers[0].error()) {
      why = answers[0].text;
      return nullptr;
    }
  }
  line = *std::move(made);
  return line.get();
}

std::string ClusterLines::name_of(const Target& target) {
  return address(target.host) + (target.replica ? ", replica" : "");
}

Failure ClusterLines::unavailable(Failure failure) {
  stale_ = true;
  std::this_thread::sleep_for(kPauseWithoutNode);
  return failure;
}

std::optional<ClusterLines::Target> ClusterLines::next_after(const Failure& failure,
                                                             const Target& asked,
                                                             std::uint16_t slot) {
  const bool moved = failure.code == "MOVED", ask = failure.code == "ASK";
  if (failure.txn_outcome != TxnOutcome::kAborted || (!moved && !ask)) return std::nullopt;
  stale_ = stale_ || moved;
  const auto host = redirected(failure.message, asked.host);
  if (host && !asked.replica) return Target{.host = *host, .asking = ask};
  // A replica of another primary by now.
  stale_ = true;
  auto next = target_of(slot, asked.replica);
  return next ? std::optional(*next) : std::nullopt;
}

MaybeFailure ClusterLines::transact(const std::string& key, bool only_reads,
                                    const Attempt& attempt) {
  node_.clear();
  const auto slot = slot_of(key);
  const auto first = target_of(slot, only_reads && reads_ == Reads::kReplica);
  if (!first) return unavailable(no_node(first.error().message));
  auto target = *first;
  for (int redirections = 0;; ++redirections) {
    std::string why;
    auto* line = line_to(target, why);
    if (line == nullptr) return unavailable(no_node(why));
    const bool primary = !target.replica || slots_.is_primary(target.host);
    node_ = fmt::format("{}, {}", address(target.host), primary ? "primary" : "replica");
    line->set_asking(target.asking);
    auto failure = attempt(*line);
    line->set_asking(false);
    if (!failure) return failure;
    if (failure->connection_lost) {
      lines_.erase(name_of(target));
      stale_ = true;
      return failure;
    }
    const auto next = next_after(*failure, target, slot);
    if (!next || redirections == kMostRedirections) {
      return failure->cause == Cause::kConnection ? unavailable(*std::move(failure)) : failure;
    }
    target = *next;
  }
}

}  // namespace cupel::drivers::redis
