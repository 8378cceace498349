// interpret: see the header. First everything behind the derivation is brought back;
// then the polygraph of the transactions in it is searched for a violation of which
// nothing can be left out, which is shown instead where there is one.
#include "explain/interpretation.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "base/budget.hpp"
#include "explain/cycle.hpp"
#include "explain/polygraph.hpp"
#include "explain/sentences.hpp"
#include "explain/words.hpp"
#include "levels/accesses.hpp"

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
      return edge.reason == Reason::kListOrder || edge.reason == Reason::kInitial;
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
// on, with the reads and version orders behind rw and ww edges brought back.
class Restorer {
 public:
  Restorer(const History& history, const Derivation& derivation)
      : history_(history), derivation_(derivation), words_(history, everybody()) {}

  Interpretation run() {
    const auto restore = [&](const std::vector<std::uint32_t>& cycle) {
      for (const auto index : restored(cycle)) result_.dependencies[index].in_cycle = true;
    };
    if (!derivation_.cycle.empty()) restore(derivation_.cycle);
    for (const auto& one : derivation_.cases) restore(one.cycle);
    // Grows: every dependency is asked what it follows from.
    for (std::size_t i = 0; i < sources_.size(); ++i) {
      auto evidence = evidence_of(sources_[i]);
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

  std::uint32_t add(const Edge& edge) {
    const auto [it, fresh] =
        index_.try_emplace({edge.from, edge.to, edge.kind, edge.key},
                           static_cast<std::uint32_t>(result_.dependencies.size()));
    if (!fresh) return it->second;
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
    result_.dependencies.push_back(std::move(d));
    sources_.push_back(edge);
    return it->second;
  }

  std::vector<std::uint32_t> evidence_of(const Edge edge) {
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
  Interpretation result_;
  std::vector<Edge> sources_;  // by dependency: the edge it was made of
  std::map<std::tuple<TxnId, TxnId, EdgeKind, KeyId>, std::uint32_t> index_;
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

// What the polygraph found, the cycles first.
class Shower {
 public:
  Shower(const History& history, Level level, const Polygraph::Proof& proof)
      : history_(history), level_(level), proof_(proof), words_(history, everybody()) {}

  Interpretation run() {
    std::vector<std::uint32_t> shown;
    std::vector<std::uint32_t> place(proof_.found.size(), kNowhere);
    const auto show = [&](std::uint32_t index) {
      if (place[index] != kNowhere) return;
      place[index] = static_cast<std::uint32_t>(shown.size());
      shown.push_back(index);
    };
    for (const auto& cycle : proof_.cycles) {
      for (const auto index : cycle) show(index);
    }
    const auto in_cycles = shown.size();
    for (std::size_t i = 0; i < shown.size(); ++i) {  // grows
      for (const auto index : proof_.found[shown[i]].evidence) show(index);
    }
    for (std::size_t i = 0; i < shown.size(); ++i) {
      const auto& found = proof_.found[shown[i]];
      Dependency d{found.edge.from,
                   found.edge.to,
                   found.edge.kind,
                   found.edge.reason,
                   found.edge.key,
                   found.edge.from_op,
                   found.edge.to_op,
                   found.certain,
                   i < in_cycles,
                   {},
                   {}};
      for (const auto index : found.evidence) d.evidence.push_back(place[index]);
      std::sort(d.evidence.begin(), d.evidence.end());
      d.sentence = sentence_of(found.edge);
      result_.dependencies.push_back(std::move(d));
    }
    note_transactions(result_);
    return std::move(result_);
  }

 private:
  static constexpr std::uint32_t kNowhere = 0xffffffff;

  [[nodiscard]] std::vector<TxnId> everybody() const {
    std::vector<TxnId> all;
    for (const auto& found : proof_.found) {
      for (const TxnId t : {found.edge.from, found.edge.to, found.edge.reader}) all.push_back(t);
      if (found.edge.witness.valid()) all.push_back(history_.txn_of(found.edge.witness));
    }
    return all;
  }

  std::string sentence_of(Edge edge) {
    const Derivation apart;  // reasons are told by the evidence
    edge.because.clear();
    const bool no_overlap = edge.kind == EdgeKind::kWriteWrite && edge.reason == Reason::kNoOverlap;
    if (!no_overlap || (levels::has_begin_and_commit(level_) && level_ != Level::kPrefix)) {
      return clause(history_, words_, apart, edge, {});
    }
    edge.reason = Reason::kGiven;
    const auto order = clause(history_, words_, apart, edge, {});
    return order + ": " + words_.txn(edge.from) + " has to come before " + words_.txn(edge.to);
  }

  const History& history_;
  const Level level_;
  const Polygraph::Proof& proof_;
  Words words_;
  Interpretation result_;
};

}  // namespace

Interpretation interpret(const History& history, Level level, const levels::Violation& violation) {
  const auto& derivation = violation.derivation;
  if (derivation.cycle.empty() && derivation.cases.empty()) return {};
  Interpretation restored = Restorer(history, derivation).run();
  base::Budget budget;
  const auto accesses = levels::collect_accesses(history, levels::ListChoices(history), {}, budget);
  auto txns = involved(accesses, restored.transactions);
  if (txns.size() > Polygraph::kMostTransactions) return restored;
  bool minimal = false;
  const Polygraph polygraph(history, accesses, level, std::move(txns), derivation);
  const auto proof = polygraph.minimal_proof(&minimal);
  if (!proof) return restored;
  Interpretation result = Shower(history, level, *proof).run();
  result.minimal = minimal;
  return result;
}

}  // namespace cupel::explain
