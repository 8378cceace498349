// Polygraph: see the header. Closing: whatever would close a cycle is refuted, and
// what is left of its choice holds, cheapest reason first. What is open then is
// tried; a try whose contradiction does not rest on it settles the rest as well.
#include "engine/explain/why/polygraph.hpp"

#include <algorithm>
#include <limits>
#include <queue>
#include <utility>

namespace cupel::explain {

using levels::Edge;
using levels::EdgeKind;
using levels::Level;
using levels::Point;
using levels::Reason;

namespace {

constexpr int kMostLeaves = 256;
constexpr std::size_t kMostPairs = 600;  // where the derivation's own choices are not enough
constexpr int kMostRounds = 200;         // of making a proof smaller

// The first part of a Name. Overwrites are kOverwrite and the writer that was read.
enum Kind : std::uint32_t {
  kInSession,
  kRealTime,
  kList,
  kRead,
  kInitial,
  kChoice,   // of the order of two writers; at weak levels the one order there may be
  kOrdered,  // which it was
  kOverwrite,
};
constexpr std::uint32_t kNone = 0xffffffff;

}  // namespace

Polygraph::Polygraph(const History& history, const levels::Accesses& accesses, Level level,
                     std::vector<TxnId> txns, const levels::Derivation& derivation)
    : history_(history),
      visibility_(levels::visibility(level)),
      weak_(levels::is_weak(level)),
      split_(levels::has_begin_and_commit(level)),
      to_begin_(levels::writers_exclude(level)),
      txns_(std::move(txns)),
      derivation_(derivation) {
  std::sort(txns_.begin(), txns_.end());
  txns_.erase(std::unique(txns_.begin(), txns_.end()), txns_.end());
  std::erase_if(txns_, [&](TxnId t) {
    return !t.valid() || accesses.owner_of[t.index()] == levels::kInitialOwner;
  });
  for (Number t = 0; t < txns_.size(); ++t) numbers_.emplace(txns_[t], t);
  for (Number t = 0; t < txns_.size(); ++t) {
    const auto owner = accesses.owner_of[txns_[t].index()];
    for (auto i = accesses.write_first[owner]; i < accesses.write_first[owner + 1]; ++i) {
      writes_.emplace(std::pair(t, accesses.writes[i].key), accesses.writes[i].op);
      writers_[accesses.writes[i].key].push_back(t);
    }
  }
  if (weak_ || levels::has_session_order(level)) add_session_order();
  add_list_order(accesses);
  add_real_time(derivation);
  add_reads(accesses);
  add_choices();
}

OpId Polygraph::write_of(Number t, KeyId key) const {
  const auto it = writes_.find({t, key});
  return it == writes_.end() ? OpId::none() : it->second;
}

Polygraph::Number Polygraph::number_of(TxnId txn) const {
  const auto it = numbers_.find(txn);
  return it == numbers_.end() ? kInitialVersion : it->second;
}

Polygraph::Unit Polygraph::unit(const Name& name) {
  return units_.try_emplace(name, static_cast<Unit>(units_.size())).first->second;
}

bool Polygraph::on(const Mask& mask, const Name& name) const {
  const auto it = units_.find(name);
  return it != units_.end() && mask[it->second] != 0;
}

void Polygraph::add_session_order() {
  for (Number i = 0; i < txns_.size(); ++i) {
    if (history_.status(txns_[i]) != history::TxnStatus::kCommitted) continue;
    for (Number j = i + 1; j < txns_.size(); ++j) {
      if (history_.session(txns_[i]) != history_.session(txns_[j])) break;
      Edge edge;
      edge.from = txns_[i];
      edge.to = txns_[j];
      edge.kind = EdgeKind::kSession;
      if (split_) {
        edge.from_point = Point::kCommit;
        edge.to_point = Point::kBegin;
      }
      fixed_edges_.push_back({Name{kInSession, i, j, kNone, kNone}, edge});
      unit(fixed_edges_.back().name);
    }
  }
}

// Each before every later one, so that a proof need not walk along the list.
void Polygraph::add_list_order(const levels::Accesses& accesses) {
  std::map<KeyId, std::map<levels::Owner, std::vector<const levels::ListOrder*>>> next;
  for (const auto& one : accesses.list_order) next[one.key][one.from].push_back(&one);
  for (const auto& [key, arcs] : next) {
    for (Number t = 0; t < txns_.size(); ++t) {
      const auto first = arcs.find(accesses.owner_of[txns_[t].index()]);
      if (first == arcs.end()) continue;
      std::vector<levels::Owner> reached = {first->first};
      std::map<levels::Owner, OpId> witness = {{first->first, OpId::none()}};
      for (std::size_t at = 0; at < reached.size(); ++at) {
        const auto out = arcs.find(reached[at]);
        if (out == arcs.end()) continue;
        for (const auto* arc : out->second) {
          const bool fresh = witness.emplace(arc->to, arc->witness).second;
          if (fresh) reached.push_back(arc->to);
          const Number to = number_of(accesses.txns[arc->to]);
          if (to == kInitialVersion || to == t) continue;
          Edge edge;
          edge.from = txns_[t];
          edge.to = txns_[to];
          edge.kind = EdgeKind::kWriteWrite;
          edge.reason = Reason::kListOrder;
          if (split_) {
            edge.from_point = Point::kCommit;
            edge.to_point = to_begin_ ? Point::kBegin : Point::kCommit;
          }
          edge.key = key;
          edge.from_op = write_of(t, key);
          edge.to_op = write_of(to, key);
          edge.witness = arc->witness;
          const Name name{kList, t, to, key.raw, kNone};
          if (!units_.contains(name)) fixed_edges_.push_back({name, edge});
          unit(name);
        }
      }
    }
  }
}

void Polygraph::add_real_time(const levels::Derivation& derivation) {
  for (const Edge& edge : derivation.edges) {
    if (edge.kind != EdgeKind::kRealTime) continue;
    if (number_of(edge.from) == kInitialVersion || number_of(edge.to) == kInitialVersion) continue;
    const Name name = name_of(edge);
    if (!units_.contains(name)) fixed_edges_.push_back({name, edge});
    unit(name);
  }
}

void Polygraph::add_reads(const levels::Accesses& accesses) {
  const bool every_read = visibility_ == levels::Visibility::kEarlierRead;
  for (Number t = 0; t < txns_.size(); ++t) {
    const auto owner = accesses.owner_of[txns_[t].index()];
    for (auto i = accesses.read_first[owner]; i < accesses.read_first[owner + 1]; ++i) {
      const auto& read = accesses.reads[i];
      if ((read.repeated && !every_read) || !writers_.contains(read.key)) continue;
      Read mine{t, read.key, read.op, {}};
      const auto first = every_read ? read.first_candidate : read.joint_first;
      const auto last = every_read ? read.last_candidate : read.joint_last;
      bool all_here = true;
      for (auto c = first; c < last; ++c) {
        const auto candidate = accesses.candidates[c];
        const bool initial = candidate == levels::kInitialOwner;
        const Number writer = initial ? kInitialVersion : number_of(accesses.txns[candidate]);
        all_here = all_here && (initial || writer != kInitialVersion);
        if (std::find(mine.writers.begin(), mine.writers.end(), writer) == mine.writers.end()) {
          mine.writers.push_back(writer);
        }
      }
      if (all_here && !mine.writers.empty()) reads_.push_back(std::move(mine));
    }
  }
}

void Polygraph::add_choices() {
  for (const Read& read : reads_) {
    for (const Number writer : read.writers) {
      if (writer != kInitialVersion) {
        unit({kRead, writer, read.reader, read.key.raw, read.op.raw});
      }
      for (const Number other : writers_[read.key]) {
        if (other == read.reader || other == writer) continue;
        if (writer == kInitialVersion) {
          unit({kInitial, read.reader, other, read.key.raw, read.op.raw});
        } else if (weak_) {
          unit({kChoice, other, writer, read.key.raw, kNone});
        } else {
          unit({kOverwrite + writer, read.reader, other, read.key.raw, read.op.raw});
        }
      }
    }
  }
  if (weak_) return;
  for (const auto& [key, writers] : writers_) {
    for (std::size_t i = 0; i < writers.size(); ++i) {
      for (std::size_t j = i + 1; j < writers.size(); ++j) {
        const auto a = writers[i], b = writers[j];
        if (units_.contains({kList, a, b, key.raw, kNone}) ||
            units_.contains({kList, b, a, key.raw, kNone})) {
          continue;
        }
        pairs_.push_back({a, b, key});
        unit({kChoice, a, b, key.raw, kNone});
      }
    }
  }
}

Polygraph::Name Polygraph::name_of(const Edge& edge) const {
  const Number from = number_of(edge.from), to = number_of(edge.to);
  switch (edge.kind) {
    case EdgeKind::kSession:
      return {kInSession, from, to, kNone, kNone};
    case EdgeKind::kRealTime:
      return {kRealTime, from, to, static_cast<std::uint32_t>(edge.from_point),
              static_cast<std::uint32_t>(edge.to_point)};
    case EdgeKind::kWriteRead:
      return {kRead, from, to, edge.key.raw, edge.to_op.raw};
    case EdgeKind::kReadWrite:
      if (edge.reason == Reason::kInitial) {
        return {kInitial, from, to, edge.key.raw, edge.from_op.raw};
      }
      return {kOverwrite + number_of(edge.writer), from, to, edge.key.raw, edge.from_op.raw};
    default:
      if (edge.reason == Reason::kListOrder) return {kList, from, to, edge.key.raw, kNone};
      if (weak_) return {kChoice, from, to, edge.key.raw, kNone};
      return {kChoice, std::min(from, to), std::max(from, to), edge.key.raw, kNone};
  }
}

// What a derivation speaks of, generously: of a read whatever it may have seen, of a
// list its whole order.
Polygraph::Mask Polygraph::spoken_of(const levels::Derivation& derivation) const {
  Mask mask(units_.size(), 0);
  const auto set = [&](const Name& name) {
    if (const auto it = units_.find(name); it != units_.end()) mask[it->second] = 1;
  };
  const auto set_pair = [&](Number a, Number b, KeyId key) {
    set({kChoice, a, b, key.raw, kNone});
    set({kChoice, b, a, key.raw, kNone});
  };
  std::vector<std::uint8_t> keys(history_.key_count(), 0);
  const auto set_reads = [&](TxnId reader, KeyId key, TxnId later) {
    for (const Read& read : reads_) {
      if (txns_[read.reader] != reader || read.key != key) continue;
      for (const Number writer : read.writers) {
        set({kRead, writer, read.reader, key.raw, read.op.raw});
        if (later.valid() && writer != kInitialVersion) set_pair(writer, number_of(later), key);
        for (const Number other : writers_.at(key)) {
          set({kInitial, read.reader, other, key.raw, read.op.raw});
        }
      }
    }
  };
  for (const Edge& edge : derivation.edges) {
    if (edge.key.valid()) keys[edge.key.index()] = 1;
    switch (edge.kind) {
      case EdgeKind::kSession:
      case EdgeKind::kRealTime:
        set(name_of(edge));
        break;
      case EdgeKind::kWriteRead:
        set_reads(edge.to, edge.key, TxnId::none());
        break;
      case EdgeKind::kWriteWrite:
        set_pair(number_of(edge.from), number_of(edge.to), edge.key);
        if (edge.reader.valid()) set_reads(edge.reader, edge.key, TxnId::none());
        break;
      case EdgeKind::kReadWrite:
        set_reads(edge.from, edge.key, edge.to);
        break;
      default:
        break;
    }
  }
  for (const auto& [name, unit] : units_) {
    const auto kind = std::get<0>(name);
    if (kind >= kOverwrite) mask[unit] = 1;
    if (kind == kList && keys[std::get<3>(name)] != 0) mask[unit] = 1;
  }
  return mask;
}

Polygraph::Mask Polygraph::listed(const Proof& proof) const {
  Mask mask(units_.size(), 0);
  std::map<std::tuple<Number, Number, KeyId>, bool> ordered;  // as listed
  std::map<std::pair<KeyId, OpId>, bool> spoken;              // reads, each with a writer or more
  for (const Found& f : proof.found) {
    mask[units_.at(name_of(f.edge))] = 1;
    const Number from = number_of(f.edge.from), to = number_of(f.edge.to);
    if (f.edge.kind == EdgeKind::kWriteWrite) ordered[{from, to, f.edge.key}] = true;
    if (f.edge.kind == EdgeKind::kWriteRead) spoken[{f.edge.key, f.edge.to_op}] = true;
    if (f.edge.reason == Reason::kInitial) spoken[{f.edge.key, f.edge.from_op}] = true;
  }
  for (const Read& read : reads_) {
    if (!spoken.contains({read.key, read.op})) continue;
    for (const Number writer : read.writers) {
      // Another that it might have seen: refuted with all that this would have said.
      bool implied = false;
      if (writer == kInitialVersion) {
        implied = std::none_of(
            writers_.at(read.key).begin(), writers_.at(read.key).end(), [&](Number other) {
              return on(mask, {kInitial, read.reader, other, read.key.raw, read.op.raw});
            });
      } else {
        const Name name{kRead, writer, read.reader, read.key.raw, read.op.raw};
        implied = !on(mask, name);
        mask[units_.at(name)] = 1;
      }
      for (const Number other : writers_.at(read.key)) {
        const bool side_listed = ordered.contains({writer, other, read.key});
        if (writer != kInitialVersion && side_listed && !implied) continue;
        if (writer == kInitialVersion && !implied) continue;
        const auto kind = writer == kInitialVersion ? +kInitial : kOverwrite + writer;
        const auto it = units_.find({kind, read.reader, other, read.key.raw, read.op.raw});
        if (it != units_.end()) mask[it->second] = 1;
      }
    }
  }
  return mask;
}

std::uint32_t Polygraph::add(Search& search, State& state, const Name& name, const Edge& edge,
                             bool certain, Evidence evidence) const {
  const auto index = static_cast<std::uint32_t>(search.found.size());
  auto& found = evidence.found;
  std::vector<std::uint32_t> path(found.begin(),
                                  found.end() - static_cast<std::ptrdiff_t>(evidence.others));
  std::sort(found.begin(), found.end());
  found.erase(std::unique(found.begin(), found.end()), found.end());
  search.found.push_back({edge, certain, std::move(found), std::move(path)});
  state.known.emplace(name, index);
  const auto node = [&](TxnId txn, Point point) {
    const Number t = number_of(txn);
    return point == Point::kBegin ? begin(t) : commit(t);
  };
  if (!weak_ || edge.kind != EdgeKind::kReadWrite) {
    state.arcs.push_back({node(edge.from, edge.from_point), node(edge.to, edge.to_point), index});
  }
  return index;
}

std::uint32_t Polygraph::overwrite_initial(Search& search, State& state, const Read& read,
                                           Number writer, Reason seen_for,
                                           const std::vector<std::uint32_t>& evidence) const {
  Edge edge;
  edge.from = edge.reader = txns_[read.reader];
  edge.to = txns_[writer];
  edge.from_point = split_ ? Point::kBegin : Point::kWhole;
  edge.to_point = split_ ? Point::kCommit : Point::kWhole;
  edge.kind = EdgeKind::kReadWrite;
  edge.reason = Reason::kInitial;
  edge.key = read.key;
  edge.from_op = edge.witness = read.op;
  edge.to_op = write_of(writer, read.key);
  edge.several_writers = read.writers.size() > 1;
  const auto index = add(search, state, name_of(edge), edge, !edge.several_writers, evidence);
  search.found[index].assumed = seen_for == Reason::kAssumed;
  return index;
}

void Polygraph::see(Search& search, State& state, std::size_t r, std::size_t alternative,
                    Reason reason, const std::vector<std::uint32_t>& evidence) const {
  const Read& read = reads_[r];
  const Number writer = read.writers[alternative];
  state.seen[r] = static_cast<std::int32_t>(alternative);
  if (writer == kInitialVersion) {
    if (weak_) return;  // only a write that is visible matters
    for (const Number other : writers_.at(read.key)) {
      if (!on(search.mask, {kInitial, read.reader, other, read.key.raw, read.op.raw})) continue;
      overwrite_initial(search, state, read, other, reason, evidence);
    }
    return;
  }
  Edge edge;
  edge.from = txns_[writer];
  edge.to = txns_[read.reader];
  edge.from_point = split_ ? Point::kCommit : Point::kWhole;
  edge.to_point = split_ ? Point::kBegin : Point::kWhole;
  edge.kind = EdgeKind::kWriteRead;
  edge.reason = reason;
  edge.key = read.key;
  edge.from_op = write_of(writer, read.key);
  edge.to_op = read.op;
  edge.several_writers = read.writers.size() > 1;
  add(search, state, name_of(edge), edge, reason == Reason::kGiven, evidence);
}

void Polygraph::order(Search& search, State& state, const PairOrder& chosen,
                      Evidence evidence) const {
  const Pair& pair = pairs_[chosen.pair];
  const Number from = chosen.reversed ? pair.later : pair.earlier;
  const Number to = chosen.reversed ? pair.earlier : pair.later;
  state.order[chosen.pair] = chosen.reversed ? 2 : 1;
  Edge edge;
  edge.from = txns_[from];
  edge.to = txns_[to];
  edge.from_point = split_ ? Point::kCommit : Point::kWhole;
  edge.to_point = !split_ ? Point::kWhole : to_begin_ ? Point::kBegin : Point::kCommit;
  edge.kind = EdgeKind::kWriteWrite;
  edge.reason = chosen.reason;
  edge.key = pair.key;
  edge.from_op = write_of(from, pair.key);
  edge.to_op = write_of(to, pair.key);
  if (const Read* read = chosen.read; read != nullptr) {
    edge.reader = txns_[read->reader];
    edge.writer = edge.to;
    edge.witness = read->op;
    edge.several_writers = read->writers.size() > 1;
  }
  add(search, state, {kOrdered, from, to, pair.key.raw, kNone}, edge, false, std::move(evidence));
}

std::optional<std::uint32_t> Polygraph::known(const State& state, const Name& name) const {
  const auto it = state.known.find(name);
  return it == state.known.end() ? std::nullopt : std::optional(it->second);
}

std::optional<std::uint32_t> Polygraph::known_order(const State& state, Number earlier,
                                                    Number later, KeyId key) const {
  const auto found = known(state, {kOrdered, earlier, later, key.raw, kNone});
  return found ? found : known(state, {kList, earlier, later, key.raw, kNone});
}

// The reads of a version of which it is known that another is later.
bool Polygraph::add_overwrites(Search& search, State& state) const {
  bool changed = false;
  for (std::size_t r = 0; r < reads_.size(); ++r) {
    const Read& read = reads_[r];
    if (state.seen[r] < 0) continue;
    const Number writer = read.writers[static_cast<std::size_t>(state.seen[r])];
    if (writer == kInitialVersion) continue;
    const auto seen = known(state, {kRead, writer, read.reader, read.key.raw, read.op.raw});
    for (const Number later : writers_.at(read.key)) {
      const Name name{kOverwrite + writer, read.reader, later, read.key.raw, read.op.raw};
      if (!on(search.mask, name) || known(state, name)) continue;
      const auto ordered = known_order(state, writer, later, read.key);
      if (!ordered) continue;
      Edge edge;
      edge.from = edge.reader = txns_[read.reader];
      edge.to = txns_[later];
      edge.writer = txns_[writer];
      edge.from_point = split_ ? Point::kBegin : Point::kWhole;
      edge.to_point = split_ ? Point::kCommit : Point::kWhole;
      edge.kind = EdgeKind::kReadWrite;
      edge.reason = Reason::kOverwritten;
      edge.key = read.key;
      edge.from_op = edge.witness = read.op;
      edge.to_op = write_of(later, read.key);
      edge.several_writers = read.writers.size() > 1;
      add(search, state, name, edge, false, {{*ordered, *seen}, 1});
      changed = true;
    }
  }
  return changed;
}

std::vector<Polygraph::Nodes> Polygraph::reach(const State& state) const {
  const std::size_t nodes = split_ ? 2 * txns_.size() : txns_.size();
  std::vector<Nodes> reached(nodes);
  for (const Arc& arc : state.arcs) reached[arc.from].set(arc.to);
  for (std::size_t k = 0; k < nodes; ++k) {
    for (std::size_t i = 0; i < nodes; ++i) {
      if (reached[i].test(k)) reached[i] |= reached[k];
    }
  }
  return reached;
}

std::optional<Polygraph::Way> Polygraph::way(const Search& search, const State& state, Node from,
                                             Node to, bool visibility_only) const {
  const std::size_t nodes = split_ ? 2 * txns_.size() : txns_.size();
  constexpr auto kFar = std::numeric_limits<std::uint32_t>::max();
  std::vector<std::uint32_t> distance(nodes, kFar);
  std::vector<const Arc*> by(nodes, nullptr);
  std::vector<std::vector<const Arc*>> out(nodes);
  for (const Arc& arc : state.arcs) {
    if (visibility_only && arc.found != kOwn) {
      const auto kind = search.found[arc.found].edge.kind;
      if (kind != EdgeKind::kSession && kind != EdgeKind::kWriteRead) continue;
    }
    out[arc.from].push_back(&arc);
  }
  // What rests on more is shown later, and what is given first.
  const auto cost = [&](const Arc& arc) -> std::uint32_t {
    if (arc.found == kOwn) return 0;
    const Found& f = search.found[arc.found];
    return f.certain ? 2 : 3 + static_cast<std::uint32_t>(2 * f.evidence.size());
  };
  using Entry = std::pair<std::uint32_t, Node>;
  std::priority_queue<Entry, std::vector<Entry>, std::greater<>> queue;
  const auto relax = [&](std::uint32_t base, Node node) {
    for (const Arc* arc : out[node]) {
      const auto next = base + cost(*arc);
      if (next >= distance[arc->to]) continue;
      distance[arc->to] = next;
      by[arc->to] = arc;
      queue.emplace(next, arc->to);
    }
  };
  relax(0, from);
  while (!queue.empty()) {
    const auto [base, node] = queue.top();
    queue.pop();
    if (base != distance[node]) continue;
    if (node == to) break;
    relax(base, node);
  }
  if (by[to] == nullptr) return std::nullopt;
  Way way{{}, distance[to]};
  Node node = to;
  do {
    if (by[node]->found != kOwn) way.found.push_back(by[node]->found);
    node = by[node]->from;
  } while (node != from);
  std::reverse(way.found.begin(), way.found.end());
  return way;
}

std::optional<std::vector<std::uint32_t>> Polygraph::cheapest_cycle(const Search& search,
                                                                    const State& state) const {
  const auto reached = reach(state);
  std::optional<Way> best;
  for (Node node = 0; node < reached.size(); ++node) {
    if (!reached[node].test(node)) continue;
    auto cycle = way(search, state, node, node, false);
    if (cycle && (!best || cycle->cost < best->cost)) best = std::move(cycle);
  }
  if (!best) return std::nullopt;
  return std::move(best->found);
}

// The choice whose refutation is the cheapest: one of its sides closes a cycle.
bool Polygraph::refute_one(Search& search, State& state) const {
  const auto reached = reach(state);
  struct Refuted {
    std::uint32_t cost;
    bool read;
    std::size_t index, side;  // pair: 1 if the reversed side is refuted; read: which writer
    const Read* witness;
    std::vector<std::uint32_t> evidence;  // the path
    std::size_t others;                   // then, as many that are none of it
  };
  std::optional<Refuted> best;
  // An arc from `from` to `to` would close a cycle.
  const auto look = [&](Node from, Node to, bool read, std::size_t index, std::size_t side,
                        const Read* witness, std::optional<std::uint32_t> also) {
    if (!reached[to].test(from)) return;
    auto why = way(search, state, to, from, false);
    if (!why || (best && best->cost <= why->cost)) return;
    if (also) why->found.push_back(*also);
    best = Refuted{why->cost, read, index, side, witness, std::move(why->found), also ? 1U : 0U};
  };
  for (std::size_t p = 0; p < pairs_.size(); ++p) {
    const Pair& pair = pairs_[p];
    if (state.order[p] != 0) continue;
    for (const std::size_t side : {0, 1}) {
      const Number a = side == 0 ? pair.earlier : pair.later;
      const Number b = side == 0 ? pair.later : pair.earlier;
      look(commit(a), write_target(b), false, p, side, nullptr, std::nullopt);
      for (std::size_t r = 0; r < reads_.size(); ++r) {
        const Read& read = reads_[r];
        if (read.key != pair.key || state.seen[r] < 0) continue;
        if (read.writers[static_cast<std::size_t>(state.seen[r])] != a) continue;
        if (!on(search.mask, {kOverwrite + a, read.reader, b, read.key.raw, read.op.raw})) continue;
        look(begin(read.reader), commit(b), false, p, side, &read,
             known(state, {kRead, a, read.reader, read.key.raw, read.op.raw}));
      }
    }
  }
  for (std::size_t r = 0; r < reads_.size(); ++r) {
    const Read& read = reads_[r];
    if (state.seen[r] != kOpen) continue;
    for (std::size_t c = 0; c < read.writers.size(); ++c) {
      const Number writer = read.writers[c];
      if (state.out[r][c] != 0) continue;
      if (writer != kInitialVersion) {
        look(commit(writer), begin(read.reader), true, r, c, nullptr, std::nullopt);
      }
      for (const Number other : writers_.at(read.key)) {
        const bool initial = writer == kInitialVersion;
        const auto kind = initial ? +kInitial : kOverwrite + writer;
        if (!on(search.mask, {kind, read.reader, other, read.key.raw, read.op.raw})) continue;
        const auto ordered = initial ? std::nullopt : known_order(state, writer, other, read.key);
        if (!initial && !ordered) continue;
        look(begin(read.reader), commit(other), true, r, c, nullptr, ordered);
      }
    }
  }
  if (!best) return false;
  if (!best->read) {
    const auto reason = best->witness != nullptr ? Reason::kVisible : Reason::kNoOverlap;
    order(search, state, {best->index, best->side == 0, reason, best->witness},
          {std::move(best->evidence), best->others});
    return true;
  }
  const std::size_t r = best->index;
  state.out[r][best->side] = 1;
  auto& because = state.out_because[r];
  because.insert(because.end(), best->evidence.begin(), best->evidence.end());
  if (std::count(state.out[r].begin(), state.out[r].end(), 0) == 1) {
    const auto last = std::find(state.out[r].begin(), state.out[r].end(), 0);
    see(search, state, r, static_cast<std::size_t>(last - state.out[r].begin()),
        Reason::kOnlyWriter, because);
  }
  return true;
}

std::optional<std::vector<std::uint32_t>> Polygraph::visible(const Search& search,
                                                             const State& state, Number writer,
                                                             const Read& read) const {
  if (visibility_ == levels::Visibility::kCausal) {
    auto way_there = way(search, state, writer, read.reader, true);
    if (!way_there) return std::nullopt;
    return std::move(way_there->found);
  }
  if (visibility_ == levels::Visibility::kOneStep) {
    const auto session = known(state, {kInSession, writer, read.reader, kNone, kNone});
    if (session) return std::vector{*session};
  }
  for (std::size_t r = 0; r < reads_.size(); ++r) {
    const Read& other = reads_[r];
    if (other.reader != read.reader || state.seen[r] < 0) continue;
    if (other.writers[static_cast<std::size_t>(state.seen[r])] != writer) continue;
    if (visibility_ == levels::Visibility::kEarlierRead && !(other.op < read.op)) continue;
    return std::vector{*known(state, {kRead, writer, other.reader, other.key.raw, other.op.raw})};
  }
  return std::nullopt;
}

std::optional<std::vector<std::uint32_t>> Polygraph::add_visible(Search& search,
                                                                 State& state) const {
  for (std::size_t r = 0; r < reads_.size(); ++r) {
    const Read& read = reads_[r];
    if (state.seen[r] < 0) continue;
    const Number seen = read.writers[static_cast<std::size_t>(state.seen[r])];
    for (const Number other : writers_.at(read.key)) {
      if (other == seen || other == read.reader) continue;
      if (seen == kInitialVersion) {
        if (!on(search.mask, {kInitial, read.reader, other, read.key.raw, read.op.raw})) continue;
        auto path = visible(search, state, other, read);
        if (!path) continue;
        path->insert(path->begin(),
                     overwrite_initial(search, state, read, other, Reason::kGiven, {}));
        return path;
      }
      const Name name{kOrdered, other, seen, read.key.raw, kNone};
      if (known(state, name) || !on(search.mask, {kChoice, other, seen, read.key.raw, kNone})) {
        continue;
      }
      auto path = visible(search, state, other, read);
      if (!path) continue;
      path->push_back(*known(state, {kRead, seen, read.reader, read.key.raw, read.op.raw}));
      Edge edge;
      edge.from = txns_[other];
      edge.to = edge.writer = txns_[seen];
      edge.kind = EdgeKind::kWriteWrite;
      edge.reason = Reason::kVisible;
      edge.key = read.key;
      edge.from_op = write_of(other, read.key);
      edge.to_op = write_of(seen, read.key);
      edge.reader = txns_[read.reader];
      edge.witness = read.op;
      edge.several_writers = read.writers.size() > 1;
      add(search, state, name, edge, false, {std::move(*path), 1});
    }
  }
  return std::nullopt;
}

Polygraph::State Polygraph::start(Search& search) const {
  State state;
  state.order.assign(pairs_.size(), 0);
  state.seen.assign(reads_.size(), kOpen);
  state.out.resize(reads_.size());
  state.out_because.resize(reads_.size());
  if (split_) {
    for (Number t = 0; t < txns_.size(); ++t) state.arcs.push_back({begin(t), commit(t), kOwn});
  }
  for (const FixedEdge& fixed : fixed_edges_) {
    if (on(search.mask, fixed.name)) add(search, state, fixed.name, fixed.edge, true, {});
  }
  // What is switched off is not there to choose: it is as if it held of itself.
  for (std::size_t p = 0; p < pairs_.size(); ++p) {
    const Pair& pair = pairs_[p];
    if (!on(search.mask, {kChoice, pair.earlier, pair.later, pair.key.raw, kNone})) {
      state.order[p] = 3;
    }
  }
  for (std::size_t r = 0; r < reads_.size(); ++r) {
    const Read& read = reads_[r];
    state.out[r].assign(read.writers.size(), 0);
    const bool there = std::all_of(read.writers.begin(), read.writers.end(), [&](Number writer) {
      return writer == kInitialVersion ||
             on(search.mask, {kRead, writer, read.reader, read.key.raw, read.op.raw});
    });
    if (!there) {
      state.seen[r] = kLeftOut;
    } else if (read.writers.size() == 1) {
      see(search, state, r, 0, Reason::kGiven, {});
    }
  }
  return state;
}

std::optional<Polygraph::Cycles> Polygraph::close(Search& search, State state) const {
  for (;;) {
    if (weak_) {
      if (auto cycle = add_visible(search, state)) return Cycles{*std::move(cycle)};
    }
    if (auto cycle = cheapest_cycle(search, state)) return Cycles{*std::move(cycle)};
    if (weak_ || (!add_overwrites(search, state) && !refute_one(search, state))) break;
  }
  return branch(search, state);
}

std::optional<Polygraph::Cycles> Polygraph::branch(Search& search, const State& state) const {
  if (++search.leaves > kMostLeaves) {
    search.too_long = true;
    return std::nullopt;
  }
  Cycles all;
  // True: the contradiction does not rest on what was tried, and is the whole answer.
  const auto try_out = [&](State&& next, const auto& rests_on_it, bool* failed) {
    auto cycles = close(search, std::move(next));
    if (!cycles) {
      *failed = true;
      return false;
    }
    const auto needs = needed(search.found, *cycles);
    bool rests = false;
    for (std::size_t i = 0; i < needs.size(); ++i) {
      rests = rests || (needs[i] != 0 && rests_on_it(search.found[i].edge));
    }
    if (!rests) all.clear();
    all.insert(all.end(), cycles->begin(), cycles->end());
    return !rests;
  };
  bool failed = false;
  for (std::size_t r = 0; r < reads_.size(); ++r) {
    if (state.seen[r] != kOpen) continue;
    const Read& read = reads_[r];
    for (std::size_t c = 0; c < read.writers.size(); ++c) {
      if (state.out[r][c] != 0) continue;
      State next = state;
      see(search, next, r, c, Reason::kAssumed, state.out_because[r]);
      const auto of_read = [&](const Edge& edge) {
        return edge.key == read.key &&
               (edge.kind == EdgeKind::kWriteRead
                    ? edge.to_op == read.op
                    : edge.kind == EdgeKind::kReadWrite && edge.from_op == read.op);
      };
      if (try_out(std::move(next), of_read, &failed)) return all;
      if (failed) return std::nullopt;
    }
    return all;
  }
  for (std::size_t p = 0; p < pairs_.size(); ++p) {
    if (state.order[p] != 0) continue;
    const Pair& pair = pairs_[p];
    for (const bool reversed : {false, true}) {
      State next = state;
      order(search, next, {p, reversed, Reason::kAssumed, nullptr}, {});
      const auto of_pair = [&](const Edge& edge) {
        return edge.kind == EdgeKind::kWriteWrite && edge.key == pair.key &&
               edge.from == txns_[reversed ? pair.later : pair.earlier] &&
               edge.to == txns_[reversed ? pair.earlier : pair.later];
      };
      if (try_out(std::move(next), of_pair, &failed)) return all;
      if (failed) return std::nullopt;
    }
    return all;
  }
  return std::nullopt;  // nothing is open: it passes
}

std::vector<std::uint8_t> Polygraph::needed(const std::vector<Found>& found, const Cycles& cycles) {
  std::vector<std::uint8_t> needs(found.size(), 0);
  std::vector<std::uint32_t> left;
  const auto need = [&](std::uint32_t index) {
    if (needs[index] != 0) return;
    needs[index] = 1;
    left.push_back(index);
  };
  for (const auto& cycle : cycles) {
    for (const auto index : cycle) need(index);
  }
  while (!left.empty()) {
    const auto index = left.back();
    left.pop_back();
    for (const auto other : found[index].evidence) need(other);
  }
  return needs;
}

std::optional<Polygraph::Proof> Polygraph::prove(const Mask& mask) const {
  Search search{mask, {}};
  State state = start(search);
  auto cycles = close(search, std::move(state));
  if (!cycles || search.too_long) return std::nullopt;
  // Only what is needed, and what was found in two cases once.
  const auto needs = needed(search.found, *cycles);
  Proof proof;
  std::vector<std::uint32_t> place(search.found.size(), 0);
  std::map<std::tuple<TxnId, TxnId, Name, std::vector<std::uint32_t>>, std::uint32_t> known_at;
  for (std::uint32_t i = 0; i < search.found.size(); ++i) {
    if (needs[i] == 0) continue;
    Found& f = search.found[i];
    for (auto& index : f.evidence) index = place[index];  // found earlier
    std::sort(f.evidence.begin(), f.evidence.end());
    for (auto& index : f.path) index = place[index];
    const auto [it, fresh] =
        known_at.try_emplace({f.edge.from, f.edge.to, name_of(f.edge), f.evidence},
                             static_cast<std::uint32_t>(proof.found.size()));
    place[i] = it->second;
    if (!fresh) continue;
    proof.found.push_back(std::move(f));
  }
  for (auto& cycle : *cycles) {
    for (auto& index : cycle) index = place[index];
    proof.cycles.push_back(std::move(cycle));
  }
  return proof;
}

std::optional<Polygraph::Proof> Polygraph::minimal_proof(base::Budget& budget,
                                                         bool* minimal) const {
  *minimal = false;
  auto proof = prove(spoken_of(derivation_));
  if (!proof && !budget.exceeded() && pairs_.size() <= kMostPairs)
    proof = prove(Mask(units_.size(), 1));
  if (!proof) return std::nullopt;
  for (int round = 0; round < kMostRounds; ++round) {
    const Mask mask = listed(*proof);
    std::optional<Proof> smaller;
    for (std::size_t i = proof->found.size(); i > 0 && !smaller; --i) {
      if (budget.exceeded()) return proof;
      Mask without = mask;
      without[units_.at(name_of(proof->found[i - 1].edge))] = 0;
      smaller = prove(without);
    }
    if (!smaller) {
      *minimal = true;
      break;
    }
    proof = std::move(smaller);
  }
  return proof;
}

}  // namespace cupel::explain
