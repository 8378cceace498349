// Recording: see the header.
//
// A causally closed set of updates stays closed if all but those of one object are left out. So an
// update that is delivered where it is visible in the whole is visible there in the part, too.
#include "crdt/model/recording.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

namespace cupel::crdt {

namespace {

// The lines of one replica, object by object.
class ReplicaDeliveries {
 public:
  ReplicaDeliveries(Recording& recording, std::uint32_t replica)
      : recording_(recording), replica_(replica), news_(recording.objects.size()) {}

  void arrive(OpId update) {
    const auto [object, op] = recording_.place[update];
    if (recording_.combined.ops[update].replica != replica_) news_[object].push_back(op);
  }

  void perform(OpId id) {
    const auto [object, op] = recording_.place[id];
    auto& news = news_[object];
    if (news.empty()) return;
    std::sort(news.begin(), news.end());
    History& part = recording_.objects[object].history;
    Context& context = part.context;
    const auto begin = static_cast<std::uint32_t>(context.named.size());
    for (const OpId update : news) context.named.push_back({.of = update});
    context.receptions.push_back({.replica = part.ops[op].replica,
                                  .seq = part.ops[op].seq,
                                  .begin = begin,
                                  .end = static_cast<std::uint32_t>(context.named.size()),
                                  .line = recording_.combined.ops[id].line});
    news.clear();
  }

 private:
  Recording& recording_;
  const std::uint32_t replica_;
  std::vector<std::vector<OpId>> news_;  // by object: what arrived since its last operation here
};

}  // namespace

std::string Recording::text(OpId op) const {
  if (!is_named()) return whole().text(op);
  const ObjectHistory& object = objects[place[op].object];
  return fmt::format("{} of the object {}", object.history.text(place[op].op), object.name);
}

void share_times(Recording& recording) {
  for (OpId id = 0; id < recording.place.size(); ++id) {
    const auto [object, op] = recording.place[id];
    if (object == kNone) continue;
    Operation& there = recording.objects[object].history.ops[op];
    there.begun = recording.combined.ops[id].begun;
    there.ended = recording.combined.ops[id].ended;
  }
}

void deliver_to_objects(Recording& recording, const Visibility& visibility) {
  if (!recording.is_named()) return;
  for (ObjectHistory& object : recording.objects) {
    object.history.context = {};
    object.history.context.rule = recording.combined.context.rule;
  }
  std::optional<ReplicaDeliveries> deliveries;
  replay(
      recording.combined, visibility,
      [&](std::uint32_t replica) { deliveries.emplace(recording, replica); },
      [&](OpId update) { deliveries->arrive(update); },
      [&](OpId id) {
        deliveries->perform(id);
        return true;
      });
  // That nothing was received of an object is known, too. One without operations has no replica.
  for (ObjectHistory& object : recording.objects) {
    auto& receptions = object.history.context.receptions;
    if (object.history.replicas.empty()) object.history.replica("0");
    if (receptions.empty()) receptions.push_back({});
  }
}

}  // namespace cupel::crdt
