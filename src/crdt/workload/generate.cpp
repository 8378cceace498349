// Generate: simulated replicas (simulated_replica.hpp) and a network that delivers at random.
#include "crdt/workload/generate.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>

#include "base/text/json.hpp"
#include "crdt/model/replicated_type.hpp"
#include "crdt/workload/simulated_replica.hpp"

namespace cupel::crdt {

namespace {

struct Injected {
  TypeBug bug;
  InjectedBug what;
};
constexpr Injected kInjected[] = {
    {{"loses-update", "an update of another replica that arrives is lost now and then"},
     InjectedBug::kLosesUpdate},
    {{"applies-again", "an update of another replica is applied once more, later"},
     InjectedBug::kAppliesAgain},
    {{"reorders-updates", "an update is applied after one that arrives later"},
     InjectedBug::kReorders},
    {{"clock-apart", "timestamps are those of the replicas' clocks, of which some are ahead"},
     InjectedBug::kClockApart},
    {{"ties-by-arrival", "of equal timestamps, the one that arrives last is later"},
     InjectedBug::kTiesByArrival},
};

bool is_injected(Type type, std::string_view bug) {
  const auto& injected = replicated_type(type).traits().injected;
  return std::find(injected.begin(), injected.end(), bug) != injected.end();
}

}  // namespace

std::vector<std::string> injected_bugs_of(Type type) {
  const auto& injected = replicated_type(type).traits().injected;
  return {injected.begin(), injected.end()};
}

bool has_bug(Type type, std::string_view bug) {
  const auto& own = replicated_type(type).traits().bugs;
  return is_injected(type, bug) ||
         std::any_of(own.begin(), own.end(), [&](const TypeBug& one) { return one.name == bug; });
}

std::unique_ptr<SimulatedReplica> simulated_replica(const History& history, std::string_view bug,
                                                    std::uint32_t self) {
  const ReplicatedType& type = replicated_type(history);
  const bool injected = is_injected(history.type, bug);
  auto replica = type.traits().simulate(history, injected ? "" : bug, self);
  for (const Injected& one : kInjected) {
    if (injected && one.bug.name == bug) replica->inject(one.what);
  }
  return replica;
}

std::vector<Bug> all_bugs() {
  std::vector<Bug> all;
  for (const Injected& one : kInjected) {
    all.push_back({one.bug.name, {}, one.bug.what});
    for (const Type type : all_types()) {
      if (is_injected(type, one.bug.name)) all.back().types.push_back(type);
    }
  }
  for (const Type type : all_types()) {
    for (const TypeBug& bug : replicated_type(type).traits().bugs) {
      const auto known = std::find_if(all.begin(), all.end(),
                                      [&](const Bug& other) { return other.name == bug.name; });
      if (known != all.end())
        known->types.push_back(type);
      else
        all.push_back({bug.name, {type}, bug.what});
    }
  }
  return all;
}

std::vector<std::string> bugs_of(Type type) {
  std::vector<std::string> names;
  for (const TypeBug& bug : replicated_type(type).traits().bugs) names.emplace_back(bug.name);
  return names;
}

Requester::Requester(const Requests& requests, History& history)
    : requests_(requests), history_(history), random_(requests.seed) {
  history.type = requests.type.type;
  for (std::uint32_t r = 0; r < requests.replicas; ++r) history.replica(std::to_string(r));
  for (std::uint32_t k = 0; k < requests.keys; ++k)
    history.key(requests.keys == 1 ? std::string("x") : fmt::format("x{}", k));
  written_.resize(requests.keys);
}

Operation Requester::read_of(std::uint32_t replica, std::uint32_t key) const {
  Operation op;
  op.replica = replica;
  op.key = key;
  op.kind = replicated_type(history_).traits().whole_read;
  return op;
}

Operation Requester::next(std::uint32_t replica,
                          std::span<const std::vector<std::uint32_t>> visible) {
  const auto key = static_cast<std::uint32_t>(random_.below(requests_.keys));
  Operation op = read_of(replica, key);
  const bool read = random_.chance(requests_.read_share);
  const bool down = !requests_.type.grow_only && random_.chance(0.4);
  RequestChoice choice{.op = op,
                       .read = read,
                       .down = down,
                       .values = requests_.values,
                       .duplicates = requests_.duplicates,
                       .history = history_,
                       .random = random_,
                       .fresh = fresh_,
                       .written = written_[key],
                       .visible = visible};
  replicated_type(history_).choose(choice);
  return op;
}

namespace {

// Replicas of each object, and one network. Updates that are delivered in one order are a stream:
// all of them, or with the bug objects-apart those of one object.
class Simulation {
 public:
  Simulation(const GenerateOptions& options, Recording& recording)
      : options_(options),
        recording_(recording),
        random_(options.seed),
        apart_(options.bug == kObjectsApart.name),
        streams_(apart_ ? options.types.size() : 1,
                 Stream{.log = std::vector<std::vector<Sent>>(options.replicas),
                        .seen = std::vector<std::vector<std::uint32_t>>(
                            options.replicas, std::vector<std::uint32_t>(options.replicas, 0))}) {
    add_objects();
    for (std::uint32_t r = 0; r < options.replicas && recording.is_named(); ++r)
      recording.combined.replica(std::to_string(r));
    for (std::uint32_t o = 0; o < recording.objects.size(); ++o) {
      ObjectHistory& object = recording.objects[o];
      Requests requests = options;
      requests.type = object.type;
      if (recording.is_named()) requests.seed = options.seed + o + 1;
      requesters_.push_back(std::make_unique<Requester>(requests, object.history));
      const std::string_view bug =
          has_bug(object.type.type, options.bug) ? std::string_view(options.bug) : "";
      auto& replicas = replicas_.emplace_back();
      for (std::uint32_t r = 0; r < options.replicas; ++r)
        replicas.push_back(simulated_replica(object.history, bug, r));
    }
  }

  void run() {
    for (std::uint64_t i = 0; i < options_.ops; ++i) {
      const auto r = static_cast<std::uint32_t>(random().below(options_.replicas));
      const auto o = recording_.is_named()
                         ? static_cast<std::uint32_t>(random().below(recording_.objects.size()))
                         : 0;
      deliver(r, options_.delivery);
      perform(o, requesters_[o]->next(r, replicas_[o][r]->visible()));
    }
    if (!options_.final_reads) return;
    for (bool again = true; again;) {
      again = false;
      for (std::uint32_t r = 0; r < options_.replicas; ++r) again = deliver(r, 1) || again;
    }
    for (std::uint32_t r = 0; r < options_.replicas; ++r) {
      for (std::uint32_t o = 0; o < recording_.objects.size(); ++o) {
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

  void add_objects() {
    if (options_.types.empty())
      recording_.objects.push_back(
          {.name = "", .type = options_.type, .history = {}, .origin = {}});
    for (std::size_t o = 0; o < options_.types.size(); ++o) {
      const auto type = options_.types[o].type;
      const auto same = std::count_if(options_.types.begin(),
                                      options_.types.begin() + static_cast<std::ptrdiff_t>(o),
                                      [&](NamedType other) { return other.type == type; });
      const auto named =
          same == 0 ? std::string(name(type)) : fmt::format("{} {}", name(type), same + 1);
      recording_.objects.push_back(
          {.name = text::quoted(named), .type = options_.types[o], .history = {}, .origin = {}});
    }
  }

  // Of one object, requests and network draw from one source.
  base::Random& random() { return recording_.is_named() ? random_ : requesters_[0]->random(); }

  [[nodiscard]] static bool is_deliverable(const Stream& stream, const Update& update,
                                           std::uint32_t to) {
    for (std::uint32_t j = 0; j < stream.log.size(); ++j) {
      if (j != update.op.replica && update.past[j] > stream.seen[to][j]) return false;
    }
    return true;
  }

  // Was anything delivered?
  bool deliver(std::uint32_t to, double chance) {
    History& whole = recording_.whole();
    const auto begin = static_cast<std::uint32_t>(whole.context.named.size());
    bool any = false;
    for (Stream& stream : streams_) any = deliver(stream, to, chance) || any;
    const auto end = static_cast<std::uint32_t>(whole.context.named.size());
    if (begin == end) return any;
    whole.context.receptions.push_back(
        {.replica = to,
         .seq = static_cast<std::uint32_t>(whole.by_replica[to].size()),
         .begin = begin,
         .end = end});
    return any;
  }

  bool deliver(Stream& stream, std::uint32_t to, double chance) {
    bool any = false;
    const auto first = static_cast<std::uint32_t>(random().below(options_.replicas));
    for (std::uint32_t k = 0; k < options_.replicas; ++k) {
      const auto from = (first + k) % options_.replicas;
      auto& seen = stream.seen[to][from];
      while (from != to && seen < stream.log[from].size() && random().chance(chance)) {
        const Sent& sent = stream.log[from][seen];
        if (!is_deliverable(stream, sent.update, to)) break;
        replicas_[sent.object][to]->apply(sent.update, random());
        ++seen;
        if (options_.context) recording_.whole().context.named.push_back({.of = sent.id});
        any = true;
      }
    }
    return any;
  }

  void perform(std::uint32_t object, Operation op) {
    std::vector<std::uint32_t> list;
    if (options_.times) {
      op.time = static_cast<std::int64_t>(recording_.whole().ops.size() + 1) * 1'000'000;
      op.begun = op.ended = *op.time;
    }
    auto& replica = *replicas_[object][op.replica];
    if (is_read(op.kind)) {
      replica.answer(op, list, recording_.objects[object].history);
      add(object, op, list);
      return;
    }
    if (!replica.accepts(op)) return;
    Stream& stream = streams_[apart_ ? object : 0];
    const auto [id, own] = add(object, op, list);
    Update update{op, own, stream.seen[op.replica], 0, {}};
    replica.prepare(update);
    replica.apply(update, random());
    ++stream.seen[op.replica][op.replica];
    stream.log[op.replica].push_back({object, id, std::move(update)});
  }

  // The operation of the whole, and that of the object.
  std::pair<OpId, OpId> add(std::uint32_t object, const Operation& op,
                            std::span<const std::uint32_t> list) {
    ObjectHistory& its = recording_.objects[object];
    const OpId own = list.empty() ? its.history.add(op) : its.history.add(op, list);
    if (!recording_.is_named()) return {own, own};
    const OpId id = recording_.combined.add({.kind = op.kind,
                                             .replica = op.replica,
                                             .time = op.time,
                                             .begun = op.begun,
                                             .ended = op.ended});
    its.origin.push_back(id);
    recording_.place.push_back({object, own});
    return {id, own};
  }

  const GenerateOptions& options_;
  Recording& recording_;
  base::Random random_;
  const bool apart_;
  std::vector<Stream> streams_;
  std::vector<std::unique_ptr<Requester>> requesters_;                    // by object
  std::vector<std::vector<std::unique_ptr<SimulatedReplica>>> replicas_;  // by object and replica
};

std::optional<base::Error> unknown_bug(const GenerateOptions& options) {
  if (options.bug.empty()) return std::nullopt;
  if (options.types.empty()) {
    const Type type = options.type.type;
    if (has_bug(type, options.bug)) return std::nullopt;
    auto known = bugs_of(type);
    for (auto& bug : injected_bugs_of(type)) known.push_back(std::move(bug));
    return base::Error{.message =
                           fmt::format("found the bug `{}`, expected a bug of the type {}: {}",
                                       options.bug, name(type), fmt::join(known, ", "))};
  }
  if (options.bug == kObjectsApart.name ||
      std::any_of(options.types.begin(), options.types.end(),
                  [&](NamedType type) { return has_bug(type.type, options.bug); }))
    return std::nullopt;
  return base::Error{.message = fmt::format("found the bug `{}`, expected {} or a bug of one of "
                                            "the types",
                                            options.bug, kObjectsApart.name)};
}

}  // namespace

base::Result<Recording> generate_recording(const GenerateOptions& options) {
  if (auto unknown = unknown_bug(options)) return std::move(*unknown);
  Recording recording;
  recording.objects.reserve(std::max<std::size_t>(options.types.size(), 1));
  Simulation(options, recording).run();
  return recording;
}

base::Result<History> generate(const GenerateOptions& options) {
  auto recording = generate_recording(options);
  if (!recording.ok()) return std::move(recording).error();
  return std::move(recording->objects[0].history);
}

}  // namespace cupel::crdt
