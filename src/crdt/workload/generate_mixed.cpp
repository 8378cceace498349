// Generate mixed: one network for the simulated replicas of several objects. What is delivered in
// one order is a stream: all updates, or with the bug objects-apart those of one object.
#include "crdt/workload/generate_mixed.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "crdt/model/replicated_type.hpp"
#include "crdt/workload/simulated_replica.hpp"
#include "text/json.hpp"

namespace cupel::crdt {

namespace {

class MixedSimulation {
 public:
  MixedSimulation(const MixedGenerateOptions& options, MixedHistory& history)
      : options_(options),
        history_(history),
        random_(options.seed),
        apart_(options.bug == kObjectsApart.name),
        streams_(apart_ ? options.types.size() : 1,
                 Stream{.log = std::vector<std::vector<Sent>>(options.replicas),
                        .seen = std::vector<std::vector<std::uint32_t>>(
                            options.replicas, std::vector<std::uint32_t>(options.replicas, 0))}) {
    for (std::uint32_t r = 0; r < options.replicas; ++r) history.whole.replica(std::to_string(r));
    name_objects();
    for (std::uint32_t o = 0; o < history.objects.size(); ++o) {
      History& own = history.objects[o].history;
      Requests requests = options;
      requests.type = options.types[o];
      requests.seed = options.seed + o + 1;
      requesters_.push_back(std::make_unique<Requester>(requests, own));
      const bool wrong = has_bug(requests.type.type, options.bug);
      auto& replicas = replicas_.emplace_back();
      for (std::uint32_t r = 0; r < options.replicas; ++r)
        replicas.push_back(simulated_replica(own, wrong ? options.bug : "", r));
    }
  }

  void run() {
    for (std::uint64_t i = 0; i < options_.ops; ++i) {
      const auto r = static_cast<std::uint32_t>(random_.below(options_.replicas));
      const auto o = static_cast<std::uint32_t>(random_.below(history_.objects.size()));
      deliver(r, options_.delivery);
      perform(o, requesters_[o]->next(r, replicas_[o][r]->visible()));
    }
    if (!options_.final_reads) return;
    for (bool again = true; again;) {
      again = false;
      for (std::uint32_t r = 0; r < options_.replicas; ++r) again = deliver(r, 1) || again;
    }
    for (std::uint32_t r = 0; r < options_.replicas; ++r) {
      for (std::uint32_t o = 0; o < history_.objects.size(); ++o) {
        for (std::uint32_t k = 0; k < options_.keys; ++k) perform(o, requesters_[o]->read_of(r, k));
      }
    }
  }

 private:
  struct Sent {
    std::uint32_t object;
    OpId id;  // of the whole
    Update update;
  };
  struct Stream {
    std::vector<std::vector<Sent>> log;            // by replica
    std::vector<std::vector<std::uint32_t>> seen;  // by replica and sender
  };

  void name_objects() {
    for (std::size_t o = 0; o < options_.types.size(); ++o) {
      const auto type = options_.types[o].type;
      const auto same = std::count_if(options_.types.begin(),
                                      options_.types.begin() + static_cast<std::ptrdiff_t>(o),
                                      [&](NamedType other) { return other.type == type; });
      const auto named =
          same == 0 ? std::string(name(type)) : fmt::format("{} {}", name(type), same + 1);
      history_.objects.push_back(
          {.name = text::quoted(named), .type = options_.types[o], .history = {}, .origin = {}});
    }
  }

  [[nodiscard]] Stream& stream_of(std::uint32_t object) { return streams_[apart_ ? object : 0]; }

  [[nodiscard]] static bool is_deliverable(const Stream& stream, const Update& update,
                                           std::uint32_t to) {
    for (std::uint32_t j = 0; j < stream.log.size(); ++j) {
      if (j != update.op.replica && update.past[j] > stream.seen[to][j]) return false;
    }
    return true;
  }

  // Was anything delivered?
  bool deliver(std::uint32_t to, double chance) {
    auto& context = history_.whole.context;
    const auto begin = static_cast<std::uint32_t>(context.named.size());
    bool any = false;
    for (Stream& stream : streams_) any = deliver(stream, to, chance) || any;
    const auto end = static_cast<std::uint32_t>(context.named.size());
    if (begin == end) return any;
    context.receptions.push_back(
        {.replica = to,
         .seq = static_cast<std::uint32_t>(history_.whole.by_replica[to].size()),
         .begin = begin,
         .end = end});
    return any;
  }

  bool deliver(Stream& stream, std::uint32_t to, double chance) {
    bool any = false;
    const auto first = static_cast<std::uint32_t>(random_.below(options_.replicas));
    for (std::uint32_t k = 0; k < options_.replicas; ++k) {
      const auto from = (first + k) % options_.replicas;
      auto& seen = stream.seen[to][from];
      while (from != to && seen < stream.log[from].size() && random_.chance(chance)) {
        const Sent& sent = stream.log[from][seen];
        if (!is_deliverable(stream, sent.update, to)) break;
        replicas_[sent.object][to]->apply(sent.update, random_);
        ++seen;
        if (options_.context) history_.whole.context.named.push_back({.of = sent.id});
        any = true;
      }
    }
    return any;
  }

  void perform(std::uint32_t object, Operation op) {
    std::vector<std::uint32_t> list;
    if (options_.times) {
      op.time = static_cast<std::int64_t>(history_.whole.ops.size() + 1) * 1'000'000;
      op.begun = op.ended = *op.time;
    }
    auto& replica = *replicas_[object][op.replica];
    if (is_read(op.kind)) {
      replica.answer(op, list, history_.objects[object].history);
      add(object, op, list);
      return;
    }
    if (!replica.accepts(op)) return;
    Stream& stream = stream_of(object);
    const auto [id, own] = add(object, op, list);
    Update update{op, own, stream.seen[op.replica], 0, {}};
    replica.prepare(update);
    replica.apply(update, random_);
    ++stream.seen[op.replica][op.replica];
    stream.log[op.replica].push_back({object, id, std::move(update)});
  }

  // The operation of the whole, and that of the object.
  std::pair<OpId, OpId> add(std::uint32_t object, const Operation& op,
                            std::span<const std::uint32_t> list) {
    MixedObject& its = history_.objects[object];
    const OpId own = list.empty() ? its.history.add(op) : its.history.add(op, list);
    const OpId id = history_.whole.add({.kind = op.kind,
                                        .replica = op.replica,
                                        .time = op.time,
                                        .begun = op.begun,
                                        .ended = op.ended});
    its.origin.push_back(id);
    history_.place.push_back({object, own});
    return {id, own};
  }

  const MixedGenerateOptions& options_;
  MixedHistory& history_;
  base::Random random_;
  const bool apart_;
  std::vector<Stream> streams_;
  std::vector<std::unique_ptr<Requester>> requesters_;                    // by object
  std::vector<std::vector<std::unique_ptr<SimulatedReplica>>> replicas_;  // by object and replica
};

}  // namespace

base::Result<MixedHistory> generate_mixed(const MixedGenerateOptions& options) {
  const bool known = options.bug.empty() || options.bug == kObjectsApart.name ||
                     std::any_of(options.types.begin(), options.types.end(),
                                 [&](NamedType type) { return has_bug(type.type, options.bug); });
  if (!known) {
    return base::Error{.message = fmt::format("found the bug `{}`, expected {} or a bug of one of "
                                              "the types",
                                              options.bug, kObjectsApart.name)};
  }
  MixedHistory history;
  history.objects.reserve(options.types.size());
  MixedSimulation(options, history).run();
  return history;
}

}  // namespace cupel::crdt
