// interpret and shorten: see the header. The reasons of a derivation are restored;
// shorten searches the polygraph of the transactions in it for a proof of which nothing
// can be left out.
#include "engine/explain/why/interpretation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "base/budget.hpp"
#include "engine/explain/why/cycle.hpp"
#include "engine/explain/why/polygraph.hpp"
#include "engine/explain/why/sentences.hpp"
#include "engine/explain/why/words.hpp"
#include "engine/levels/accesses.hpp"

namespace cupel::explain {

using levels::Level;

namespace {

bool is_certain(const Edge& edge) {
  switch (edge.kind) {
    case EdgeKind::kSession:
    case EdgeKind::kRealTime:
      return true;
    case EdgeKind::kWriteRead:
      return edge.reason == Reason::kGiven;
    default:
      return edge.reason == Reason::kListOrder ||
             (edge.reason == Reason::kInitial && !edge.several_writers);
  }
}

void note_transactions(Interpretation& interpretation) {
  auto& all = interpretation.transactions;
  for (const Dependency& d : interpretation.dependencies) {
    for (const TxnId t : {d.from, d.to}) {
      if (std::find(all.begin(), all.end(), t) == all.end()) all.push_back(t);
    }
  }
}

// The dependencies of a derivation, as it is: the cycle, and whatever its edges rest
// on, with the reads and version orders of rw and ww edges restored.
class Restorer {
 public:
  Restorer(const History& history, const Derivation& derivation)
      : history_(history), derivation_(derivation), words_(history, everybody()) {
    // What several cases say is said once, as the first says it: what that rests on is earlier.
    for (const Edge& edge : derivation.edges) first_.try_emplace(name_of(edge), &edge);
  }

  Interpretation run() {
    const auto restore = [&](const std::vector<std::uint32_t>& cycle) {
      for (const auto index : restored(cycle)) result_.dependencies[index].in_cycle = true;
    };
    if (!derivation_.cycle.empty()) restore(derivation_.cycle);
    for (const auto& one : derivation_.cases) restore(one.cycle);
    // Grows: every dependency is asked what it follows from; hence the copy.
    for (std::size_t i = 0; i < sources_.size(); ++i) {
      const Edge source = sources_[i];
      auto evidence = evidence_of(source);
      std::sort(evidence.begin(), evidence.end());
      evidence.erase(std::unique(evidence.begin(), evidence.end()), evidence.end());
      std::erase(evidence, static_cast<std::uint32_t>(i));
      result_.dependencies[i].evidence = std::move(evidence);
    }
    note_transactions(result_);
    return std::move(result_);
  }

 private:
  [[nodiscard]] std::vector<TxnId> everybody() const {
    std::vector<TxnId> all;
    for (const Edge& edge : derivation_.edges) {
      for (const TxnId t : {edge.from, edge.to, edge.reader, edge.writer}) all.push_back(t);
      if (edge.witness.valid()) all.push_back(history_.txn_of(edge.witness));
    }
    return all;
  }

  std::vector<std::uint32_t> restored(std::span<const std::uint32_t> path) {
    std::vector<std::uint32_t> indexes;
    for (const PathEdge& p : contracted(derivation_, path)) {
      if (p.edge.from.valid() && p.edge.to.valid()) indexes.push_back(add(p.edge));
    }
    return indexes;
  }

  using Name = std::tuple<TxnId, TxnId, EdgeKind, KeyId>;
  static Name name_of(const Edge& edge) { return {edge.from, edge.to, edge.kind, edge.key}; }

  std::uint32_t add(const Edge& stated) {
    const auto [it, fresh] = index_.try_emplace(
        name_of(stated), static_cast<std::uint32_t>(result_.dependencies.size()));
    if (!fresh) return it->second;
    const auto first = first_.find(name_of(stated));
    const Edge& edge = first == first_.end() ? stated : *first->second;
    Dependency d;
    d.from = edge.from;
    d.to = edge.to;
    d.kind = edge.kind;
    d.reason = edge.reason;
    d.key = edge.key;
    d.from_op = edge.from_op;
    d.to_op = edge.to_op;
    if (edge.key.valid()) {
      const bool reads = edge.kind == EdgeKind::kReadWrite;
      if (!d.from_op.valid()) {
        d.from_op = reads ? words_.find_read(d.from, d.key) : words_.find_write(d.from, d.key);
      }
      if (!d.to_op.valid()) {
        d.to_op = edge.kind == EdgeKind::kWriteRead ? words_.find_read(d.to, d.key)
                                                    : words_.find_write(d.to, d.key);
      }
    }
    d.certain = is_certain(edge);
    d.sentence = clause(history_, words_, derivation_, edge, {});
    if (edge.kind == EdgeKind::kWriteWrite && edge.reason == Reason::kVisible &&
        edge.reader.valid() && edge.to.valid() && edge.reader != edge.from) {
      d.reader = edge.reader;
      d.witness = edge.witness.valid() ? edge.witness : words_.find_read(edge.reader, edge.key);
      d.otherwise =
          fmt::format("otherwise {} missed {}'s write to {}, although it was visible",
                      words_.name(edge.reader), words_.name(edge.from), words_.key(edge.key));
    }
    result_.dependencies.push_back(std::move(d));
    sources_.push_back(edge);
    return it->second;
  }

  std::vector<std::uint32_t> evidence_of(const Edge& edge) {
    if (is_certain(edge)) return {};
    auto evidence = restored(edge.because);
    const auto also = [&](std::uint32_t index) { evidence.push_back(index); };
    if (edge.reason == Reason::kVisible && edge.reader.valid() && edge.to.valid()) {
      also(add_read(edge.to, edge.reader, edge.key, edge.witness));
    }
    if (edge.reason == Reason::kOverwritten && edge.writer.valid() && edge.from != edge.writer) {
      // The read, and that what it saw is older: by the path, unless that says so itself.
      Edge older;
      older.from = edge.writer;
      older.to = edge.to;
      older.kind = EdgeKind::kWriteWrite;
      older.reason = Reason::kNoOverlap;
      older.key = edge.key;
      older.because = edge.because;
      for (const auto index : edge.because) {
        const Edge& known = derivation_.edges[index];
        const bool same = known.kind == older.kind && known.key == older.key;
        if (same && known.from == older.from && known.to == older.to) older = known;
      }
      evidence = {add(older)};
      also(add_read(edge.writer, edge.from, edge.key, edge.from_op));
    }
    return evidence;
  }

  std::uint32_t add_read(TxnId writer, TxnId reader, KeyId key, OpId read) {
    Edge edge;
    edge.from = writer;
    edge.to = reader;
    edge.kind = EdgeKind::kWriteRead;
    edge.reason = Reason::kGiven;
    edge.key = key;
    edge.to_op = read;
    // As the derivation has it, where it does.
    for (const Edge& known : derivation_.edges) {
      if (known.kind == edge.kind && known.from == writer && known.to == reader &&
          known.key == key) {
        return add(known);
      }
    }
    return add(edge);
  }

  const History& history_;
  const Derivation& derivation_;
  Words words_;
  std::map<Name, const Edge*> first_;  // of the derivation's edges
  Interpretation result_;
  std::vector<Edge> sources_;  // by dependency: the edge it was made of
  std::map<Name, std::uint32_t> index_;
};

// The transactions to look at: all that count, if they are few; else those of the
// derivation, and whoever they may have read from. Empty: too many.
std::vector<TxnId> involved(const levels::Accesses& accesses, std::vector<TxnId> txns) {
  if (accesses.txns.size() <= Polygraph::kMostTransactions) return accesses.txns;
  std::set<TxnId> all(txns.begin(), txns.end());
  for (const TxnId txn : txns) {
    const auto owner = accesses.owner_of[txn.index()];
    if (owner == levels::kInitialOwner) continue;
    for (auto r = accesses.read_first[owner]; r < accesses.read_first[owner + 1]; ++r) {
      const auto& read = accesses.reads[r];
      for (auto c = read.first_candidate; c < read.last_candidate; ++c) {
        const auto candidate = accesses.candidates[c];
        if (candidate != levels::kInitialOwner) all.insert(accesses.txns[candidate]);
        if (all.size() > Polygraph::kMostTransactions) return txns;
      }
    }
  }
  return {all.begin(), all.end()};
}

// A proof as a derivation: reasons and cycles become paths from event to event. Where the
// order of two writers says no more than the path from one to the other, it is that path.
class Converter {
 public:
  Converter(Level level, const Polygraph::Proof& proof)
      : overlaps_count_(levels::writers_exclude(level)),
        proof_(proof),
        place_(proof.found.size()) {}

  Derivation run() {
    for (std::size_t i = 0; i < proof_.found.size(); ++i) {
      const auto& found = proof_.found[i];
      Edge edge = found.edge;
      auto path = flat(found.path);
      if (edge.reason == Reason::kOverwritten) path = shortest(found.path, std::move(path));
      inner_.push_back(path);
      if (is_a_path(edge)) {
        place_[i] = std::move(path);
        continue;
      }
      if (found.assumed) edge.reason = Reason::kAssumed;
      if (edge.reason == Reason::kOnlyWriter || edge.reason == Reason::kInitial) {
        for (const auto index : found.path) edge.because.push_back(edge_of(index));
      } else if (overlaps_count_ && edge.reason != Reason::kVisible && !path.empty()) {
        edge.because = joined(path, Point::kBegin, Point::kCommit);
      } else if (!path.empty()) {
        edge.because = joined(path, result_.edges[path.front()].from_point,
                              result_.edges[path.back()].to_point);
      }
      place_[i] = {static_cast<std::uint32_t>(result_.edges.size())};
      result_.edges.push_back(std::move(edge));
    }
    for (const auto& cycle : proof_.cycles) {
      auto path = flat(cycle);
      // Starts at the first of its transactions.
      std::rotate(path.begin(),
                  std::min_element(path.begin(), path.end(),
                                   [&](auto one, auto other) {
                                     return result_.edges[one].from < result_.edges[other].from;
                                   }),
                  path.end());
      const auto start = result_.edges[path.front()].from_point;
      result_.cases.push_back({joined(path, start, start)});
    }
    if (result_.cases.size() == 1) {
      result_.cycle = std::move(result_.cases.front().cycle);
      result_.cases.clear();
    }
    return std::move(result_);
  }

 private:
  using Indexes = std::vector<std::uint32_t>;
  using Point = levels::Point;

  [[nodiscard]] bool is_a_path(const Edge& edge) const {
    return edge.kind == EdgeKind::kWriteWrite && edge.reason == Reason::kNoOverlap &&
           !overlaps_count_;
  }
  [[nodiscard]] Indexes flat(const Indexes& found) const {
    Indexes path;
    for (const auto index : found) {
      path.insert(path.end(), place_[index].begin(), place_[index].end());
    }
    return path;
  }

  // The way from the writer who was read to the later one: that of which their order follows.
  [[nodiscard]] Indexes shortest(const Indexes& found, Indexes otherwise) const {
    if (found.size() != 1) return otherwise;
    const Edge& order = proof_.found[found.front()].edge;
    const bool by_path = order.kind == EdgeKind::kWriteWrite && order.reason == Reason::kNoOverlap;
    return by_path ? inner_[found.front()] : otherwise;
  }

  // The order of two writers itself, where it is a fact of its own.
  std::uint32_t edge_of(std::uint32_t found) {
    Edge edge = proof_.found[found].edge;
    if (!is_a_path(edge)) return place_[found].front();
    const auto [it, fresh] = order_.try_emplace(found, 0);
    if (fresh) {
      const auto& path = place_[found];
      edge.because =
          joined(path, result_.edges[path.front()].from_point, result_.edges[path.back()].to_point);
      it->second = static_cast<std::uint32_t>(result_.edges.size());
      result_.edges.push_back(std::move(edge));
    }
    return it->second;
  }

  // With begin before commit of a transaction where the path goes through both.
  Indexes joined(const Indexes& path, Point start, Point end) {
    Indexes result;
    auto at = start;
    for (const auto index : path) {
      const auto from = result_.edges[index].from;
      if (at == Point::kBegin && result_.edges[index].from_point == Point::kCommit) {
        result.push_back(own(from));
      }
      result.push_back(index);
      at = result_.edges[index].to_point;
    }
    if (at == Point::kBegin && end == Point::kCommit) {
      const auto last = result_.edges[path.back()].to;
      result.push_back(own(last));
    }
    return result;
  }
  std::uint32_t own(TxnId txn) {
    const auto [it, fresh] =
        own_.try_emplace(txn, static_cast<std::uint32_t>(result_.edges.size()));
    if (fresh) {
      Edge edge;
      edge.from = edge.to = txn;
      edge.from_point = Point::kBegin;
      edge.to_point = Point::kCommit;
      edge.kind = EdgeKind::kOwn;
      result_.edges.push_back(edge);
    }
    return it->second;
  }

  const bool overlaps_count_;  // two writers of a key may not overlap
  const Polygraph::Proof& proof_;
  std::vector<Indexes> inner_;  // by what was found: the path that it follows from
  std::vector<Indexes> place_;  // by what was found: its edge, or the path that it is
  Derivation result_;
  std::map<TxnId, std::uint32_t> own_;
  std::map<std::uint32_t, std::uint32_t> order_;  // by what was found
};

}  // namespace

Interpretation interpret(const History& history, const levels::Violation& violation) {
  const auto& derivation = violation.derivation;
  if (derivation.cycle.empty() && derivation.cases.empty()) return {};
  return Restorer(history, derivation).run();
}

std::optional<ShortExplanation> shorten(const History& history, Level level,
                                        const levels::Violation& violation, base::Budget& budget) {
  const auto& derivation = violation.derivation;
  if (derivation.cycle.empty() && derivation.cases.empty()) return std::nullopt;
  const auto accesses = levels::collect_accesses(history, levels::ListChoices(history), {}, budget);
  auto txns = involved(accesses, interpret(history, violation).transactions);
  if (budget.exceeded() || txns.size() > Polygraph::kMostTransactions) return std::nullopt;
  bool minimal = false;
  const Polygraph polygraph(history, accesses, level, std::move(txns), derivation);
  const auto proof = polygraph.minimal_proof(budget, &minimal);
  if (!proof) return std::nullopt;
  const bool conditional =
      std::any_of(proof->found.begin(), proof->found.end(), [](const Polygraph::Found& found) {
        return (found.assumed || found.edge.reason == Reason::kAssumed) && !found.evidence.empty();
      });
  if (conditional) return std::nullopt;  // no edge says what was ruled out before it was assumed
  return ShortExplanation{Converter(level, *proof).run(), minimal};
}

}  // namespace cupel::explain
