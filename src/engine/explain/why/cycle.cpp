// The names: see the header.
#include "engine/explain/why/cycle.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <span>

namespace cupel::explain {

using levels::Level;

namespace {

// From the strongest phenomenon to the weakest: what is forbidden at the weakest
// level comes first.
constexpr const char* kClasses[] = {"G0", "G1c", "G-single", "G-nonadjacent", "G2-item"};

int class_of(const std::vector<EdgeKind>& kinds) {
  std::vector<std::size_t> rw;
  bool wr = false;
  for (std::size_t i = 0; i < kinds.size(); ++i) {
    if (kinds[i] == EdgeKind::kReadWrite) rw.push_back(i);
    if (kinds[i] == EdgeKind::kWriteRead) wr = true;
  }
  if (rw.empty()) return wr ? 1 : 0;
  if (rw.size() == 1) return 2;
  bool adjacent = rw.front() == 0 && rw.back() + 1 == kinds.size();
  for (std::size_t i = 1; i < rw.size(); ++i) adjacent = adjacent || rw[i] == rw[i - 1] + 1;
  return adjacent ? 4 : 3;
}

std::vector<EdgeKind> kinds_of(const Path& path) {
  std::vector<EdgeKind> kinds;
  for (const PathEdge& p : path) kinds.push_back(p.edge.kind);
  return kinds;
}

// Adya's name is that of a cycle in a known version order, but a forced edge is
// known only because the other way round there is a cycle too: the path that forced
// it, closed by the edge that would then hold. One of all these cycles is real, so
// the name is of the class that claims least; session order and real time count
// wherever one of them needs it.
class Adya {
 public:
  explicit Adya(const Derivation& derivation) : derivation_(derivation) {}

  void add(const Path& cycle) {
    class_ = std::max(class_, class_of(kinds_of(cycle)));
    for (const PathEdge& p : cycle) rest_on(p.edge);
  }
  [[nodiscard]] std::string name() const { return std::string(kClasses[class_]) + suffix(); }
  [[nodiscard]] const char* suffix() const {
    return real_time_ ? "-realtime" : session_ ? "-process" : "";
  }

 private:
  void rest_on(const Edge& edge) {
    // The initial transaction comes before a session in any order.
    session_ = session_ || (edge.kind == EdgeKind::kSession && edge.from.valid());
    real_time_ = real_time_ || (edge.kind == EdgeKind::kRealTime && edge.from.valid());
    if (edge.because.empty()) return;
    if (edge.reason == Reason::kVisible || edge.reason == Reason::kOnlyWriter ||
        edge.reason == Reason::kNoOverlap || edge.reason == Reason::kOverwritten) {
      auto kinds = kinds_of(contracted(derivation_, edge.because));
      const bool misses = edge.reason == Reason::kVisible || edge.reason == Reason::kOnlyWriter;
      kinds.push_back(misses ? EdgeKind::kReadWrite : EdgeKind::kWriteWrite);
      class_ = std::max(class_, class_of(kinds));
    }
    for (const auto index : edge.because) {
      if (seen_.insert(index).second) rest_on(derivation_.edges[index]);
    }
  }

  const Derivation& derivation_;
  int class_ = 0;
  bool session_ = false, real_time_ = false;
  std::set<std::uint32_t> seen_;
};

// The read that the cycle says missed a visible write, if it is about one: the
// reader of its only rw edge or, without rw edges, of its last kVisible edge.
std::optional<Miss> miss_of(const Derivation& derivation, const Path& cycle) {
  std::optional<std::size_t> rw, visible;
  for (std::size_t i = 0; i < cycle.size(); ++i) {
    const Edge& edge = cycle[i].edge;
    if (edge.kind == EdgeKind::kReadWrite) {
      if (rw) return std::nullopt;
      rw = i;
    }
    if (edge.kind == EdgeKind::kWriteWrite && edge.reason == Reason::kVisible) {
      // An edge forced later rests on more; the last one closed the cycle.
      if (!visible || cycle[i].index > cycle[*visible].index) visible = i;
    }
  }
  if (rw) {
    const Edge& edge = cycle[*rw].edge;
    Miss miss{edge.from, edge.to, edge.key, edge.to_op, edge.from_op, {}};
    for (std::size_t i = 1; i < cycle.size(); ++i) {
      miss.path.push_back(cycle[(*rw + i) % cycle.size()]);
    }
    return miss;
  }
  if (!visible) return std::nullopt;
  const Edge& edge = cycle[*visible].edge;
  return Miss{edge.reader,  edge.from,    edge.key,
              edge.from_op, edge.witness, contracted(derivation, edge.because)};
}

// Is the reader one read away from the writer, by an operation before `read`?
bool by_earlier_read(const Path& path, OpId read) {
  return path.size() == 1 && path[0].edge.kind == EdgeKind::kWriteRead && read.valid() &&
         path[0].edge.to_op.valid() && path[0].edge.to_op < read;
}

// Does a cycle follow from session order and reads alone, as causal consistency
// has it? If so: were all missed writes one edge away (read atomic forbids it
// too), and even read from before (read committed forbids it too)?
struct Causality {
  const Derivation& derivation;
  bool one_step = true;
  bool earlier_read = true;
  std::map<std::uint32_t, bool> known = {};

  [[nodiscard]] bool visibility(const std::vector<std::uint32_t>& path) const {
    return std::all_of(path.begin(), path.end(), [&](auto index) {
      const Edge& edge = derivation.edges[index];
      return edge.kind == EdgeKind::kOwn || edge.kind == EdgeKind::kSession ||
             (edge.kind == EdgeKind::kWriteRead && edge.reason == Reason::kGiven);
    });
  }
  bool ordered(std::uint32_t index) {
    const auto found = known.find(index);
    if (found != known.end()) return found->second;
    const Edge& edge = derivation.edges[index];
    bool yes = visibility({index});
    if (edge.kind == EdgeKind::kWriteWrite) {
      yes = edge.reason == Reason::kListOrder;
      if (edge.reason == Reason::kVisible) {
        yes = visibility(edge.because);
        const Path because = contracted(derivation, edge.because);
        one_step = one_step && because.size() <= 1;
        earlier_read = earlier_read && by_earlier_read(because, edge.witness);
      }
    }
    return known[index] = yes;
  }
  bool order(const std::vector<std::uint32_t>& path) {
    return std::all_of(path.begin(), path.end(), [&](auto index) { return ordered(index); });
  }
  bool cycle(const std::vector<std::uint32_t>& path) {
    std::vector<std::uint32_t> others;
    std::optional<std::uint32_t> missing;
    for (const auto index : path) {
      if (derivation.edges[index].kind != EdgeKind::kReadWrite) {
        others.push_back(index);
      } else if (missing) {
        return false;
      } else {
        missing = index;
      }
    }
    if (!missing) return order(path);
    const Edge& rw = derivation.edges[*missing];
    const bool known_later = rw.reason == Reason::kListOrder || rw.reason == Reason::kInitial ||
                             (rw.reason == Reason::kOverwritten && order(rw.because));
    return known_later && visibility(others);
  }
};

// How a missed write is called by the way it was visible.
std::string by_path(const Miss& miss, const History& history) {
  if (miss.path.size() == 1) {
    return miss.path[0].edge.kind == EdgeKind::kSession ? "session-guarantee-violation"
                                                        : "fractured-read";
  }
  const bool same_session = miss.path.empty() && miss.reader.valid() && miss.writer.valid() &&
                            history.session(miss.reader) == history.session(miss.writer);
  return same_session ? "session-guarantee-violation" : "fractured-read";
}

// A cycle that causal consistency or a weaker level forbids, at whatever level it
// was found. False if it rests on anything else, or is a plain cycle of reads.
bool causal_name(const History& history, Level level, const Derivation& derivation,
                 const std::vector<std::uint32_t>& raw_cycle, const Path& cycle, Named& named) {
  Causality causality{derivation};
  const bool causal = causality.cycle(raw_cycle);
  if (!causal && !levels::is_weak(level)) return false;
  auto miss = miss_of(derivation, cycle);
  if (!miss) return false;
  const bool one_step = causal && causality.one_step && miss->path.size() <= 1;
  const bool earlier_read =
      one_step && causality.earlier_read && by_earlier_read(miss->path, miss->read);
  const auto visibility = levels::visibility(level);
  if (visibility == levels::Visibility::kEarlierRead || earlier_read) {
    named.name = "non-monotonic-read";
  } else if (visibility == levels::Visibility::kOneStep || one_step) {
    named.name = by_path(*miss, history);
  } else {
    named.name = "causality-violation";
  }
  named.miss = std::move(miss);
  return true;
}

// Could only one transaction, or the initial one, have written this value?
bool written_once(const History& history, const Words& words, KeyId key, history::ValueId value) {
  int writers = history.initial_value(key) == value ? 1 : 0;
  for (std::size_t i = 0; i < history.txn_count() && writers < 2; ++i) {
    const TxnId t(i);
    if (history.status(t) == history::TxnStatus::kAborted) continue;
    for (auto op = history.first_op(t); op < history.last_op(t); ++op) {
      if (!words.writes(OpId(op), key) || words.written(OpId(op)) != value) continue;
      ++writers;
      break;
    }
  }
  return writers < 2;
}

// At an order level: two transactions that read one version of a key and both
// write the key. A later version of it was never read, so a write was lost.
bool lost_update(const History& history, const Words& words, const Derivation& derivation,
                 const std::vector<Path>& cycles, Named& named) {
  std::set<TxnId> involved;
  std::set<KeyId> keys;
  std::map<std::pair<TxnId, KeyId>, TxnId> source;  // by the wr edges of the derivation
  for (const Edge& edge : derivation.edges) {
    if (edge.kind == EdgeKind::kWriteRead && edge.reason != Reason::kAssumed) {
      source[{edge.to, edge.key}] = edge.from;
    }
  }
  for (const Path& cycle : cycles) {
    for (const PathEdge& p : cycle) {
      if (p.edge.from.valid()) involved.insert(p.edge.from);
      if (p.edge.to.valid()) involved.insert(p.edge.to);
      if (p.edge.key.valid()) keys.insert(p.edge.key);
    }
  }
  for (const KeyId key : keys) {
    if (history.is_list(key)) continue;           // an append updates whatever it finds
    std::map<std::uint32_t, TxnId> first_reader;  // by value
    for (const TxnId t : involved) {
      if (!words.find_write(t, key).valid()) continue;
      const OpId read = words.find_read(t, key);
      if (!read.valid()) continue;
      const auto op = history.op(read);
      history::ValueId seen = op.value;
      if (op.kind == history::OpKind::kCompareAndSet) seen = history.compare_and_set(op).expected;
      if (op.kind == history::OpKind::kRangeRead) {
        seen = history.initial_value(key);
        for (const auto& entry : history.range(op).entries) {
          if (entry.key != key) continue;
          seen = entry.value;
          break;
        }
      }
      if (!seen.valid()) continue;
      const auto [it, fresh] = first_reader.try_emplace(seen.raw, t);
      if (fresh) continue;
      const auto mine = source.find({t, key}), other = source.find({it->second, key});
      // Duplicate values: the same value need not be the same version.
      const bool same = mine != source.end() && other != source.end()
                            ? mine->second == other->second
                            : written_once(history, words, key, seen);
      if (!same) continue;
      named.name = "lost-update";
      named.transactions = {it->second, t};
      named.keys = {key};
      return true;
    }
  }
  return false;
}

// Appends that read the list first: two that saw the same list are a lost update.
bool lost_append(const History& history, const Words& words, const std::vector<Path>& cycles,
                 Named& named) {
  std::map<std::pair<KeyId, std::vector<history::ValueId>>, TxnId> first_reader;
  std::set<std::pair<TxnId, KeyId>> looked;
  for (const Path& cycle : cycles) {
    for (const PathEdge& p : cycle) {
      if (!p.edge.key.valid() || !history.is_list(p.edge.key)) continue;
      for (const TxnId t : {p.edge.from, p.edge.to}) {
        if (!t.valid() || !looked.insert({t, p.edge.key}).second) continue;
        const OpId read = words.find_read(t, p.edge.key);
        if (!read.valid() || !words.find_write(t, p.edge.key).valid()) continue;
        const auto op = history.op(read);
        std::span<const history::ValueId>
            list;  // a range read that does not return it saw no element
        if (op.kind == history::OpKind::kListRead) {
          if (!history.list_known(op)) continue;
          list = history.list(op);
        }
        const auto [it, fresh] = first_reader.try_emplace(
            {p.edge.key, std::vector<history::ValueId>(list.begin(), list.end())}, t);
        if (fresh) continue;
        named.name = "lost-update";
        named.transactions = {std::min(it->second, t), std::max(it->second, t)};
        named.keys = {p.edge.key};
        return true;
      }
    }
  }
  return false;
}

// Two rw edges, not adjacent, and between them only what makes writes visible:
// each reader sees one of two writes and misses the other.
bool long_fork(const Path& cycle, Named& named) {
  std::vector<std::size_t> rw;
  for (std::size_t i = 0; i < cycle.size(); ++i) {
    const Edge& edge = cycle[i].edge;
    if (edge.kind == EdgeKind::kReadWrite) {
      rw.push_back(i);
    } else if (edge.kind == EdgeKind::kWriteWrite || edge.kind == EdgeKind::kRealTime) {
      return false;
    }
  }
  if (rw.size() != 2 || rw[0] + 1 == rw[1] || (rw[1] + 1) % cycle.size() == rw[0]) return false;
  const Edge& first = cycle[rw[0]].edge;
  const Edge& second = cycle[rw[1]].edge;
  if (first.key == second.key) return false;
  // Each segment must contain a read, or nothing was seen at all.
  const auto sees = [&](std::size_t from, std::size_t to) {
    for (std::size_t i = from + 1; i % cycle.size() != to; ++i) {
      if (cycle[i % cycle.size()].edge.kind == EdgeKind::kWriteRead) return true;
    }
    return false;
  };
  if (!sees(rw[0], rw[1]) || !sees(rw[1], rw[0])) return false;
  named.name = "long-fork";
  // first.to is visible to second.from, second.to to first.from.
  named.transactions = {first.from, second.to, second.from, first.to};
  named.keys = {second.key, first.key};
  return true;
}

bool write_skew(const Path& cycle, Named& named) {
  if (cycle.size() != 2 || cycle[0].edge.kind != EdgeKind::kReadWrite ||
      cycle[1].edge.kind != EdgeKind::kReadWrite || cycle[0].edge.key == cycle[1].edge.key) {
    return false;
  }
  named.name = "write-skew";
  named.transactions = {cycle[0].edge.from, cycle[1].edge.from};
  named.keys = {cycle[0].edge.key, cycle[1].edge.key};
  return true;
}

}  // namespace

Path contracted(const Derivation& derivation, std::span<const std::uint32_t> path) {
  Path result;
  for (const auto index : path) {
    const Edge& edge = derivation.edges[index];
    if (edge.kind == EdgeKind::kOwn) continue;
    if (!result.empty() && edge.kind == EdgeKind::kSession && edge.from.valid() &&
        result.back().edge.kind == EdgeKind::kSession && result.back().edge.from.valid() &&
        result.back().edge.to == edge.from) {
      result.back().edge.to = edge.to;
      result.back().edge.to_point = edge.to_point;
      continue;
    }
    result.push_back({edge, index});
  }
  return result;
}

Named name_of(const History& history, const Words& words, Level level, const Derivation& derivation,
              const std::vector<Path>& cycles) {
  Named named;
  Adya adya(derivation);
  for (const Path& cycle : cycles) adya.add(cycle);
  named.adya = adya.name();
  const bool one = cycles.size() == 1 && derivation.cases.empty();

  const auto& raw_cycle = derivation.cases.empty() ? derivation.cycle : derivation.cases[0].cycle;
  if ((one || levels::is_weak(level)) &&
      causal_name(history, level, derivation, raw_cycle, cycles[0], named)) {
    return named;
  }
  if (levels::is_weak(level)) {
    named.name = named.adya;
    return named;
  }
  if (levels::forbids_lost_updates(level) &&
      (lost_update(history, words, derivation, cycles, named) ||
       lost_append(history, words, cycles, named))) {
    named.adya = kClasses[2];  // in either order of the writes: a ww and an rw edge
    return named;
  }
  const auto every = [&](auto pattern) {
    Named found = named;
    for (std::size_t i = cycles.size(); i > 0; --i) {  // the first case's transactions stay
      if (!pattern(cycles[i - 1], found)) return false;
    }
    named = std::move(found);
    return true;
  };
  const bool plain = *adya.suffix() == '\0';
  if (every(long_fork) || (plain && every(write_skew))) return named;
  named.name = named.adya;
  if (one) named.miss = miss_of(derivation, cycles[0]);
  return named;
}

}  // namespace cupel::explain
