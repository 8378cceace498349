// Mixed history: see the header.
//
// A causally closed set of updates stays closed if all but those of one object are left out. So an
// update that is delivered where it is visible in the whole is visible there in the part, too.
#include "crdt/model/mixed_history.hpp"

#include <algorithm>
#include <optional>

namespace cupel::crdt {

namespace {

// The lines of one replica, object by object.
class ReplicaDeliveries {
 public:
  ReplicaDeliveries(MixedHistory& history, std::uint32_t replica)
      : history_(history), replica_(replica), news_(history.objects.size()) {}

  void arrive(OpId update) {
    const auto [object, op] = history_.place[update];
    if (history_.whole.ops[update].replica != replica_) news_[object].push_back(op);
  }

  void perform(OpId id) {
    const auto [object, op] = history_.place[id];
    auto& news = news_[object];
    if (news.empty()) return;
    std::sort(news.begin(), news.end());
    History& part = history_.objects[object].history;
    Context& context = part.context;
    const auto begin = static_cast<std::uint32_t>(context.named.size());
    for (const OpId update : news) context.named.push_back({.of = update});
    context.receptions.push_back({.replica = part.ops[op].replica,
                                  .seq = part.ops[op].seq,
                                  .begin = begin,
                                  .end = static_cast<std::uint32_t>(context.named.size()),
                                  .line = history_.whole.ops[id].line});
    news.clear();
  }

 private:
  MixedHistory& history_;
  const std::uint32_t replica_;
  std::vector<std::vector<OpId>> news_;  // by object: what arrived since its last operation here
};

}  // namespace

void share_times(MixedHistory& history) {
  for (OpId id = 0; id < history.whole.ops.size(); ++id) {
    const auto [object, op] = history.place[id];
    if (object == kNone) continue;
    Operation& there = history.objects[object].history.ops[op];
    there.begun = history.whole.ops[id].begun;
    there.ended = history.whole.ops[id].ended;
  }
}

void deliver_to_objects(MixedHistory& history, const Visibility& visibility) {
  for (MixedObject& object : history.objects) {
    object.history.context = {};
    object.history.context.rule = history.whole.context.rule;
  }
  std::optional<ReplicaDeliveries> deliveries;
  replay(
      history.whole, visibility,
      [&](std::uint32_t replica) { deliveries.emplace(history, replica); },
      [&](OpId update) { deliveries->arrive(update); },
      [&](OpId id) {
        deliveries->perform(id);
        return true;
      });
  // That nothing was received of an object is known, too. One without operations has no replica.
  for (MixedObject& object : history.objects) {
    auto& receptions = object.history.context.receptions;
    if (object.history.replicas.empty()) object.history.replica("0");
    if (receptions.empty()) receptions.push_back({});
  }
}

}  // namespace cupel::crdt
