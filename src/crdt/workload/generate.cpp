// Generate: simulated replicas (simulated_replica.hpp) and a network that delivers at random.
#include "crdt/workload/generate.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <memory>

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
  auto replica = type.simulate(history, injected ? "" : bug, self);
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

// Replicas, the updates of each, and how many of them each other has received.
class Simulation {
 public:
  Simulation(const GenerateOptions& options, History& history)
      : options_(options),
        history_(history),
        requester_(options, history),
        log_(options.replicas),
        seen_(options.replicas, std::vector<std::uint32_t>(options.replicas, 0)) {
    for (std::uint32_t r = 0; r < options.replicas; ++r)
      replicas_.push_back(simulated_replica(history, options.bug, r));
  }

  void run() {
    for (std::uint64_t i = 0; i < options_.ops; ++i) {
      const auto r = static_cast<std::uint32_t>(random().below(options_.replicas));
      deliver(r, options_.delivery);
      perform(requester_.next(r, replicas_[r]->visible()));
    }
    if (!options_.final_reads) return;
    for (bool again = true; again;) {
      again = false;
      for (std::uint32_t r = 0; r < options_.replicas; ++r) again = deliver(r, 1) || again;
    }
    for (std::uint32_t r = 0; r < options_.replicas; ++r) {
      for (std::uint32_t k = 0; k < options_.keys; ++k) perform(requester_.read_of(r, k));
    }
  }

 private:
  base::Random& random() { return requester_.random(); }

  [[nodiscard]] bool is_deliverable(const Update& update, std::uint32_t to) const {
    for (std::uint32_t j = 0; j < options_.replicas; ++j) {
      if (j != update.op.replica && update.past[j] > seen_[to][j]) return false;
    }
    return true;
  }

  // Was anything delivered?
  bool deliver(std::uint32_t to, double chance) {
    bool any = false;
    const auto first = static_cast<std::uint32_t>(random().below(options_.replicas));
    for (std::uint32_t k = 0; k < options_.replicas; ++k) {
      const auto from = (first + k) % options_.replicas;
      while (from != to && seen_[to][from] < log_[from].size() && random().chance(chance)) {
        const Update& update = log_[from][seen_[to][from]];
        if (!is_deliverable(update, to)) break;
        replicas_[to]->apply(update, random());
        ++seen_[to][from];
        if (options_.context) history_.context.named.push_back({.of = update.id});
        any = true;
      }
    }
    if (options_.context) record(to);
    return any;
  }

  // What has been delivered since the last line.
  void record(std::uint32_t to) {
    auto& context = history_.context;
    const auto begin = context.receptions.empty() ? 0 : context.receptions.back().end;
    const auto end = static_cast<std::uint32_t>(context.named.size());
    if (begin == end) return;
    context.receptions.push_back({.replica = to,
                                  .seq = static_cast<std::uint32_t>(history_.by_replica[to].size()),
                                  .begin = begin,
                                  .end = end});
  }

  void perform(Operation op) {
    std::vector<std::uint32_t> list;
    if (options_.times) {
      op.time = static_cast<std::int64_t>(history_.ops.size() + 1) * 1'000'000;
      op.begun = op.ended = *op.time;
    }
    if (is_read(op.kind)) {
      replicas_[op.replica]->answer(op, list, history_);
      history_.add(op, list);
      return;
    }
    if (!replicas_[op.replica]->accepts(op)) return;
    Update update{op, history_.add(op), seen_[op.replica], 0, {}};
    replicas_[op.replica]->prepare(update);
    replicas_[op.replica]->apply(update, random());
    ++seen_[op.replica][op.replica];
    log_[op.replica].push_back(std::move(update));
  }

  const GenerateOptions& options_;
  History& history_;
  Requester requester_;
  std::vector<std::unique_ptr<SimulatedReplica>> replicas_;
  std::vector<std::vector<Update>> log_;
  std::vector<std::vector<std::uint32_t>> seen_;
};

}  // namespace

base::Result<History> generate(const GenerateOptions& options) {
  const Type type = options.type.type;
  if (!options.bug.empty() && !has_bug(type, options.bug)) {
    auto known = bugs_of(type);
    for (auto& bug : injected_bugs_of(type)) known.push_back(std::move(bug));
    return base::Error{.message =
                           fmt::format("found the bug `{}`, expected a bug of the type {}: {}",
                                       options.bug, name(type), fmt::join(known, ", "))};
  }
  History history;
  Simulation(options, history).run();
  return history;
}

}  // namespace cupel::crdt
