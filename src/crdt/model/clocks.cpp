// Clocks: closure by a topological sweep, cycles and paths by breadth-first search.
#include "crdt/model/clocks.hpp"

#include <algorithm>
#include <cassert>
#include <functional>
#include <queue>

namespace cupel::crdt {

Clocks::Clocks(const History& history)
    : width_(history.replicas.size()), at_(history.ops.size() * width_) {
  for (OpId id = 0; id < history.ops.size(); ++id)
    row(id)[history.ops[id].replica] = history.ops[id].seq;
}

void Clocks::deliver(const Operation& from_op, OpId from, OpId to) {
  const auto source = row(from);
  const auto target = row(to);
  for (std::size_t j = 0; j < width_; ++j) target[j] = std::max(target[j], source[j]);
  target[from_op.replica] = std::max(target[from_op.replica], from_op.seq + 1);
}

StepGraph::StepGraph(const History& history) : history_(history), out_(history.ops.size()) {}

void StepGraph::add(const Step& step) {
  out_[step.from].push_back(static_cast<std::uint32_t>(steps_.size()));
  steps_.push_back(step);
}

void StepGraph::keep(std::size_t count) {
  for (; steps_.size() > count; steps_.pop_back()) out_[steps_.back().from].pop_back();
}

std::optional<std::vector<OpId>> StepGraph::order() const {
  const std::size_t count = history_.ops.size();
  std::vector<std::uint32_t> waiting(count, 0);
  for (const Step& step : steps_) ++waiting[step.to];
  for (OpId id = 0; id < count; ++id) waiting[id] += history_.ops[id].seq > 0;
  std::priority_queue<OpId, std::vector<OpId>, std::greater<>> ready;
  for (OpId id = 0; id < count; ++id) {
    if (waiting[id] == 0) ready.push(id);
  }
  std::vector<OpId> order;
  order.reserve(count);
  const auto arrive = [&](OpId id) {
    if (--waiting[id] == 0) ready.push(id);
  };
  while (!ready.empty()) {
    const OpId id = ready.top();
    ready.pop();
    order.push_back(id);
    const auto& line = history_.by_replica[history_.ops[id].replica];
    if (history_.ops[id].seq + 1 < line.size()) arrive(line[history_.ops[id].seq + 1]);
    for (const auto s : out_[id]) arrive(steps_[s].to);
  }
  if (order.size() < count) return std::nullopt;
  return order;
}

std::optional<StepGraph::Closed> StepGraph::close() const {
  auto sorted = order();
  if (!sorted) return std::nullopt;
  Closed closed{Clocks(history_), std::move(*sorted)};
  for (const OpId id : closed.order) {
    const Operation& op = history_.ops[id];
    const auto& line = history_.by_replica[op.replica];
    if (op.seq + 1 < line.size()) closed.clocks.deliver(op, id, line[op.seq + 1]);
    for (const auto s : out_[id]) closed.clocks.deliver(op, id, steps_[s].to);
  }
  return closed;
}

std::vector<Step> StepGraph::path(OpId from, OpId to, std::size_t limit) const {
  std::vector<Step> reached(history_.ops.size(), Step{kNone, kNone});
  std::vector<bool> seen(history_.ops.size(), false);
  std::queue<OpId> queue;
  queue.push(from);
  // `from` itself is not marked: a path may come back to it.
  while (!queue.empty() && !seen[to]) {
    const OpId id = queue.front();
    queue.pop();
    const auto visit = [&](const Step& step) {
      if (seen[step.to]) return;
      seen[step.to] = true;
      reached[step.to] = step;
      queue.push(step.to);
    };
    for (const auto s : out_[id]) {
      if (s < limit) visit(steps_[s]);
    }
    const Operation& op = history_.ops[id];
    const auto& line = history_.by_replica[op.replica];
    if (op.seq + 1 < line.size()) visit({id, line[op.seq + 1], Why::kReplicaOrder});
  }
  std::vector<Step> steps;
  if (!seen[to]) return steps;
  OpId at = to;
  do {
    steps.push_back(reached[at]);
    at = reached[at].from;
  } while (at != from);
  std::reverse(steps.begin(), steps.end());
  return steps;
}

// Tarjan 1972, without recursion.
std::vector<std::uint32_t> StepGraph::components() const {
  const std::size_t count = history_.ops.size();
  std::vector<std::uint32_t> component(count, kNone), reached(count, kNone), low(count, 0);
  std::vector<OpId> open;                              // without a component yet
  std::vector<std::pair<OpId, std::size_t>> visiting;  // and which arc is next
  std::uint32_t time = 0, components = 0;
  const auto enter = [&](OpId id) {
    reached[id] = low[id] = time++;
    open.push_back(id);
    visiting.emplace_back(id, 0);
  };
  for (OpId root = 0; root < count; ++root) {
    if (reached[root] == kNone) enter(root);
    while (!visiting.empty()) {
      auto& [id, arc] = visiting.back();
      const Operation& op = history_.ops[id];
      const auto& line = history_.by_replica[op.replica];
      const std::size_t arcs = out_[id].size() + (op.seq + 1 < line.size() ? 1 : 0);
      if (arc < arcs) {
        const OpId to = arc < out_[id].size() ? steps_[out_[id][arc]].to : line[op.seq + 1];
        ++arc;
        if (reached[to] == kNone)
          enter(to);
        else if (component[to] == kNone)
          low[id] = std::min(low[id], reached[to]);
        continue;
      }
      const OpId done = id;
      visiting.pop_back();
      if (!visiting.empty()) {
        auto& above = low[visiting.back().first];
        above = std::min(above, low[done]);
      }
      if (low[done] != reached[done]) continue;
      OpId member = kNone;
      do {
        member = open.back();
        open.pop_back();
        component[member] = components;
      } while (member != done);
      ++components;
    }
  }
  return component;
}

std::vector<Step> StepGraph::cycle() const {
  // Each step within a strongly connected component lies on a cycle.
  const std::size_t count = history_.ops.size();
  const auto component = components();
  // The shortest through the first steps that lie among them; a few are enough to be short,
  // and fewer must do where each takes long.
  std::vector<Step> best;
  constexpr std::size_t kMostTries = 64, kFewestTries = 4, kWork = 5'000'000;
  const std::size_t most =
      std::clamp(kWork / (count + steps_.size() + 1), kFewestTries, kMostTries);
  std::size_t tries = 0;
  for (std::size_t s = 0; s < steps_.size() && tries < most && (best.empty() || best.size() > 2);
       ++s) {
    const Step& step = steps_[s];
    if (component[step.from] != component[step.to]) continue;
    auto back = path(step.to, step.from, steps_.size());
    ++tries;
    if (step.from == step.to) back.clear();
    back.push_back(step);
    if (best.empty() || back.size() < best.size()) best = std::move(back);
  }
  assert(!best.empty());
  return best;
}

std::optional<std::vector<OpId>> linear_order(const History& history, const Clocks& clocks,
                                              std::span<const Step> steps) {
  StepGraph graph(history);
  for (OpId id = 0; id < history.ops.size(); ++id) {
    const auto row = clocks.row(id);
    for (std::uint32_t j = 0; j < row.size(); ++j) {
      if (j != history.ops[id].replica && row[j] > 0)
        graph.add({history.by_replica[j][row[j] - 1], id, Why::kReadFrom});
    }
  }
  for (const Step& step : steps) graph.add(step);
  return graph.order();
}

}  // namespace cupel::crdt
