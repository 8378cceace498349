// translate: the engine's proof, of numbers, in the words of the history (describe.hpp).

#include <algorithm>

#include "base/hash_table.hpp"
#include "engine/levels/describe.hpp"

namespace cupel::levels {

using order::ArcKind;

namespace {

class Translator {
 public:
  Translator(const Accesses& a, const order::Proof& proof, const ProblemWords& words)
      : a_(a), proof_(proof), words_(words) {}

  Derivation run() && {
    derivation_.complete = proof_.complete;
    for (const order::ProofArc& arc : proof_.arcs) derivation_.edges.push_back(edge_of(arc));
    add_open_reads();
    if (proof_.by_cases) {
      for (const auto& cycle : proof_.cycles) derivation_.cases.push_back({cycle});
    } else if (!proof_.cycles.empty()) {
      derivation_.cycle = proof_.cycles.front();
    }
    return std::move(derivation_);
  }

 private:
  [[nodiscard]] std::span<const Owner> candidates(const ExternalRead& read) const {
    const auto first = words_.every_read ? read.first_candidate : read.joint_first;
    const auto last = words_.every_read ? read.last_candidate : read.joint_last;
    return std::span(a_.candidates).subspan(first, last - first);
  }
  [[nodiscard]] TxnId txn_of(order::Owner o) const {
    return o < words_.owners.size() ? a_.txns[words_.owners[o]] : TxnId::none();
  }
  [[nodiscard]] TxnId txn(order::Node v) const {
    return a_.txns[words_.owners[words_.split ? v / 2 : v]];
  }
  [[nodiscard]] Point point(order::Node v) const {
    return !words_.split ? Point::kWhole : (v & 1) == 0 ? Point::kBegin : Point::kCommit;
  }
  [[nodiscard]] const ExternalRead& read_of(const order::ProofArc& arc) const {
    return a_.reads[words_.reads[arc.read_or_object]];
  }
  [[nodiscard]] OpId final_write(TxnId t, KeyId key) const {
    const Owner o = a_.owner_of[t.index()];
    const auto begin = a_.writes.begin() + a_.write_first[o],
               end = a_.writes.begin() + a_.write_first[o + 1];
    const auto it =
        std::lower_bound(begin, end, key, [](const FinalWrite& w, KeyId k) { return w.key < k; });
    return it != end && it->key == key ? it->op : OpId::none();
  }
  void add_final_writes(Edge& e) const {
    e.from_op = final_write(e.from, e.key);
    e.to_op = final_write(e.to, e.key);
  }

  Edge edge_of(const order::ProofArc& arc) {
    Edge e;
    e.from = txn(arc.from);
    e.to = txn(arc.to);
    e.from_point = point(arc.from);
    e.to_point = point(arc.to);
    e.because = arc.because;
    e.bound = static_cast<Bound>(arc.bound);
    for (const order::Exclusion& exclusion : arc.excluded) {
      e.excluded.push_back({txn_of(exclusion.candidate), exclusion.cycle});
    }
    switch (arc.kind) {
      case ArcKind::kOwn:
        e.kind = EdgeKind::kOwn;
        break;
      case ArcKind::kChain:
      case ArcKind::kSession:
        e.kind = EdgeKind::kSession;
        break;
      case ArcKind::kRealTime:
        e.kind = EdgeKind::kRealTime;
        break;
      case ArcKind::kListOrder:
      case ArcKind::kVisible:
      case ArcKind::kNoOverlap:
      case ArcKind::kAssumedBefore:
        describe_write_write(arc, e);
        break;
      case ArcKind::kRead:
      case ArcKind::kOnlyWriter:
      case ArcKind::kAssumedWriter:
        describe_write_read(arc, e);
        break;
      case ArcKind::kInitialRead:
      case ArcKind::kOverwritten:
      case ArcKind::kAssumedOverwritten:
        describe_read_write(arc, e);
        break;
      case ArcKind::kSawInitial:
        e.kind = EdgeKind::kSaw;
        e.reason = Reason::kOnlyWriter;
        e.to_op = note_read(arc, e);
        break;
    }
    return e;
  }

  // The read that the arc is about; the edge's key is the read's.
  OpId note_read(const order::ProofArc& arc, Edge& e) {
    const std::uint32_t r = words_.reads[arc.read_or_object];
    const ExternalRead& read = a_.reads[r];
    e.key = read.key;
    e.several_writers = candidates(read).size() > 1;
    if (arc.kind == ArcKind::kOnlyWriter || arc.kind == ArcKind::kSawInitial) {
      known_.insert(r);
    } else if (e.several_writers && proof_.by_cases) {
      open_reads_.push_back(r);
    }
    return read.op;
  }

  void describe_write_write(const order::ProofArc& arc, Edge& e) {
    e.kind = EdgeKind::kWriteWrite;
    if (arc.kind == ArcKind::kVisible) {
      e.reason = Reason::kVisible;
      e.witness = note_read(arc, e);
      e.reader = a_.txns[read_of(arc).owner];
      e.writer = e.to;
    } else {
      e.reason = arc.kind == ArcKind::kListOrder   ? Reason::kListOrder
                 : arc.kind == ArcKind::kNoOverlap ? Reason::kNoOverlap
                                                   : Reason::kAssumed;
      e.key = words_.keys[arc.read_or_object];
      if (arc.kind == ArcKind::kListOrder) e.witness = OpId(arc.other);
    }
    add_final_writes(e);
  }

  void describe_write_read(const order::ProofArc& arc, Edge& e) {
    e.kind = EdgeKind::kWriteRead;
    e.reason = arc.kind == ArcKind::kRead         ? Reason::kGiven
               : arc.kind == ArcKind::kOnlyWriter ? Reason::kOnlyWriter
                                                  : Reason::kAssumed;
    e.to_op = note_read(arc, e);
    e.from_op = final_write(e.from, e.key);
  }

  void describe_read_write(const order::ProofArc& arc, Edge& e) {
    e.kind = EdgeKind::kReadWrite;
    e.reason = arc.kind == ArcKind::kInitialRead   ? Reason::kInitial
               : arc.kind == ArcKind::kOverwritten ? Reason::kOverwritten
                                                   : Reason::kAssumed;
    e.from_op = e.witness = note_read(arc, e);
    e.to_op = final_write(e.to, e.key);
    e.reader = e.from;
    e.writer = txn_of(arc.seen);
  }

  // Those reads of the cases of which no edge says what they saw.
  void add_open_reads() {
    std::sort(open_reads_.begin(), open_reads_.end());
    open_reads_.erase(std::unique(open_reads_.begin(), open_reads_.end()), open_reads_.end());
    for (const std::uint32_t r : open_reads_) {
      if (known_.contains(r)) continue;
      OpenRead open{a_.reads[r].op, a_.reads[r].key, {}};
      for (const Owner w : candidates(a_.reads[r])) {
        open.writers.push_back(w == kInitialOwner ? TxnId::none() : a_.txns[w]);
      }
      derivation_.open_reads.push_back(std::move(open));
    }
  }

  const Accesses& a_;
  const order::Proof& proof_;
  const ProblemWords& words_;
  Derivation derivation_;
  std::vector<std::uint32_t> open_reads_;
  base::HashSet<std::uint32_t> known_;
};

}  // namespace

Derivation translate(const Accesses& accesses, const order::Proof& proof,
                     const ProblemWords& words) {
  return Translator(accesses, proof, words).run();
}

}  // namespace cupel::levels
