// Registers whose values are written once (thesis, algorithm 1): the read-from is
// what it must be, and the least happens-before that contains it decides.
//
// Last writer wins: happens-before is the closure of replica order and read-from.
// Each read asks that the writes it has seen are linearized before the one it
// returns; of a replica only the last of them need be said. A cycle, or none.
//
// Multi-value: algorithm 1 as printed takes the same closure, and rejects too much.
// A read that has seen write(a) and returns {b} alone is admitted if write(b) had
// seen write(a), which the closure need not contain: ReadAllMaximals asks for
// happens-before steps of its own (r1: write a, read {b}; r2: write b). We add those
// steps, where only one returned value can have overwritten, until none is missing. Where
// several could have, one is guessed, and another where a contradiction rests on it; what
// no guess explains the exact method decides.
//
// Cost: sorting and one sweep of clocks a round, (operations × replicas); a round more
// only after new steps.
#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "crdt/decide.hpp"

namespace cupel::crdt {

namespace {

class Registers {
 public:
  Registers(const History& history, const Axioms&) : history_(history), graph_(history) {}

  std::optional<Decision> decide() {
    if (!fixed_writers()) return std::nullopt;
    if (decision_.violation) return violated();
    for (OpId id = 0; id < history_.ops.size(); ++id) {
      const Operation& op = history_.ops[id];
      if (op.kind != Kind::kValues) continue;
      for (const auto e : history_.list(op)) graph_.add({writer_[e], id, Why::kReadFrom});
    }
    return history_.type == Type::kLastWriterWinsRegister ? last_writer() : multi_value();
  }

 private:
  // False: some value is written twice. A value that nobody wrote is a violation.
  bool fixed_writers() {
    writer_.assign(history_.elements.size(), kNone);
    writes_.resize(history_.keys.size());
    for (auto& of_key : writes_) of_key.resize(history_.replicas.size());
    for (OpId id = 0; id < history_.ops.size(); ++id) {
      const Operation& op = history_.ops[id];
      if (op.kind != Kind::kWrite) continue;
      if (writer_[op.element] != kNone) return false;
      writer_[op.element] = id;
      writes_[op.key][op.replica].push_back(id);
    }
    for (OpId id = 0; id < history_.ops.size(); ++id) {
      const Operation& op = history_.ops[id];
      if (op.kind != Kind::kValues) continue;
      for (const auto e : history_.list(op)) {
        if (writer_[e] == kNone) {
          decision_.violation = Violation{.core = {.ops = {id}, .elements = {}}, .cycle = {}};
          return true;
        }
      }
    }
    return true;
  }

  // The last write of the read's key on each replica that it has seen.
  template <typename Do>
  void for_last_seen(OpId read, const Clocks& clocks, Do work) {
    const auto row = clocks.row(read);
    const auto& of_key = writes_[history_.ops[read].key];
    for (std::size_t j = 0; j < row.size(); ++j) {
      const auto& writes = of_key[j];
      const auto end = std::partition_point(writes.begin(), writes.end(), [&](OpId w) { return history_.ops[w].seq < row[j]; });
      if (end != writes.begin()) work(*std::prev(end));
    }
  }

  std::optional<Decision> violated() {
    decision_.verdict = Verdict::kViolated;
    decision_.decided_by = "registers";
    auto& ops = decision_.violation->core.ops;
    // A read that only lies on the way is a read all the same: a core without what it
    // returned would say less than it is to say.
    for (std::size_t i = 0, count = ops.size(); i < count; ++i) {
      if (history_.ops[ops[i]].kind == Kind::kValues) with_writes(ops[i], decision_.violation->core);
    }
    std::sort(ops.begin(), ops.end());
    ops.erase(std::unique(ops.begin(), ops.end()), ops.end());
    return std::move(decision_);
  }

  // The operations that make the step true, and those that make it known.
  void evidence(const Step& step, std::size_t index, Core& core) {
    core.ops.push_back(step.from);
    core.ops.push_back(step.to);
    if (step.why == Why::kReadFrom) return with_writes(step.to, core);
    if (step.read == kNone) return;
    core.ops.push_back(step.read);
    with_writes(step.read, core);
    evidence_of_path(step.from, step.read, index, core);
  }
  void with_writes(OpId read, Core& core) {
    for (const auto e : history_.list(history_.ops[read])) {
      if (writer_[e] != kNone) core.ops.push_back(writer_[e]);
    }
  }
  // Of "from happens before to", by steps that were there before step `limit`.
  void evidence_of_path(OpId from, OpId to, std::size_t limit, Core& core) {
    for (const Step& step : graph_.path(from, to, limit)) {
      // A step of a multi-value register asks for a path of its own, of older steps.
      std::size_t index = limit;
      if (step.why == Why::kOverwritten) {
        for (std::size_t s = 0; s < limit; ++s) {
          const Step& other = graph_.steps()[s];
          if (other.from == step.from && other.to == step.to && other.why == step.why && other.read == step.read) index = s;
        }
      }
      evidence(step, index, core);
    }
  }
  std::optional<Decision> cycle_found(std::vector<Step> cycle, std::size_t hb_steps) {
    Violation violation;
    for (const Step& step : cycle) {
      std::size_t index = hb_steps;
      for (std::size_t s = 0; s < graph_.steps().size(); ++s) {
        const Step& other = graph_.steps()[s];
        if (step.why == Why::kOverwritten && other.from == step.from && other.to == step.to && other.read == step.read) index = s;
      }
      evidence(step, index, violation.core);
    }
    violation.cycle = std::move(cycle);
    decision_.violation = std::move(violation);
    return violated();
  }
  // The read cannot be explained: it has seen this write, or one and what overwrote it.
  std::optional<Decision> read_found(OpId read, std::vector<OpId> seen, std::size_t hb_steps) {
    Violation violation;
    violation.core.ops.push_back(read);
    with_writes(read, violation.core);
    if (seen.size() == 2) evidence_of_path(seen[0], seen[1], hb_steps, violation.core);
    for (const OpId w : seen) {
      violation.core.ops.push_back(w);
      evidence_of_path(w, read, hb_steps, violation.core);
    }
    decision_.violation = std::move(violation);
    return violated();
  }

  std::optional<Decision> satisfied(Clocks clocks, std::vector<OpId> order) {
    decision_.verdict = Verdict::kSatisfied;
    decision_.decided_by = "registers";
    decision_.witness = Witness{std::move(clocks), std::move(order)};
    return std::move(decision_);
  }

  std::optional<Decision> last_writer() {
    auto closed = graph_.close();
    const std::size_t hb_steps = graph_.steps().size();
    if (!closed) return cycle_found(graph_.cycle(), hb_steps);
    for (OpId id = 0; id < history_.ops.size(); ++id) {
      const Operation& op = history_.ops[id];
      if (op.kind != Kind::kValues) continue;
      const auto list = history_.list(op);
      OpId wrong = kNone;
      for_last_seen(id, closed->clocks, [&](OpId w) {
        if (list.empty()) wrong = w;
        else if (w != writer_[list[0]]) graph_.add({w, writer_[list[0]], Why::kArbitrated, id});
      });
      if (wrong != kNone) return read_found(id, {wrong}, hb_steps);
    }
    if (auto order = graph_.order()) return satisfied(std::move(closed->clocks), std::move(*order));
    return cycle_found(graph_.cycle(), hb_steps);
  }

  std::optional<Decision> multi_value() {
    const std::size_t sure = graph_.steps().size();
    // What is returned together did not overwrite each other.
    constexpr std::size_t kMostSiblings = 32;
    for (const Operation& op : history_.ops) {
      const auto list = history_.list(op);
      if (op.kind != Kind::kValues || list.size() > kMostSiblings) continue;
      for (const auto a : list) {
        for (const auto b : list) {
          if (a != b) apart_.insert({writer_[a], writer_[b]});
        }
      }
    }
    for (int repairs = 0;;) {
      const std::size_t known = graph_.steps().size();
      auto closed = graph_.close();
      std::vector<Step> contradiction;
      if (!closed) {
        contradiction = graph_.cycle();
        if (guesses_.empty()) return cycle_found(std::move(contradiction), known);
      }
      std::vector<std::pair<OpId, OpId>> open;  // a write, and a read that has seen and not returned it
      for (OpId id = 0; closed && contradiction.empty() && id < history_.ops.size(); ++id) {
        const Operation& op = history_.ops[id];
        if (op.kind != Kind::kValues) continue;
        const auto list = history_.list(op);
        std::vector<OpId> wrong;
        for_last_seen(id, closed->clocks, [&](OpId w) {
          if (!wrong.empty()) return;
          if (list.empty()) {
            wrong = {w};
            return;
          }
          bool explained = false;
          for (const auto e : list) {
            const OpId returned = writer_[e];
            if (returned == w || before(history_, closed->clocks, w, returned)) explained = true;
            if (returned != w && before(history_, closed->clocks, returned, w) && wrong.empty()) {
              wrong = {returned, w};  // overwritten, and seen to be
            }
          }
          if (explained || !wrong.empty()) return;
          if (list.size() == 1) graph_.add({w, writer_[list[0]], Why::kOverwritten, id});
          else open.push_back({w, id});
        });
        if (wrong.empty()) continue;
        if (guesses_.empty()) return read_found(id, wrong, known);
        contradiction = graph_.path(wrong.back(), id, known);
        if (wrong.size() == 2) {
          const auto over = graph_.path(wrong[0], wrong[1], known);
          contradiction.insert(contradiction.end(), over.begin(), over.end());
        }
      }
      if (contradiction.empty()) {
        if (graph_.steps().size() > known) continue;
        if (open.empty()) return satisfied(std::move(closed->clocks), std::move(closed->order));
        if (!guess(open, closed->clocks)) return std::nullopt;
        continue;
      }
      // Some guess may be to blame: another is tried in its place.
      constexpr int kMostRepairs = 100;
      std::size_t left = 10'000;
      if (++repairs > kMostRepairs || !blame(contradiction, graph_.steps().size(), left)) return std::nullopt;
      graph_.keep(sure);
      for (const auto& [of, chosen] : guesses_) graph_.add({of.first, chosen, Why::kOverwritten, of.second});
    }
  }

  // How many operations of each replica each operation can have seen: no write that is not
  // returned and that all that is returned was written before. For guesses only: that is
  // asked of the order of the file.
  std::vector<std::uint32_t> most_seen(const Clocks& clocks) {
    const std::size_t width = history_.replicas.size();
    std::vector<std::uint32_t> most(history_.ops.size() * width, kNone);
    for (std::size_t i = 0; i < width; ++i) {
      std::vector<std::uint32_t> later(width, kNone);
      const auto& line = history_.by_replica[i];
      for (std::size_t at = line.size(); at-- > 0;) {
        const OpId id = line[at];
        const Operation& op = history_.ops[id];
        for (std::size_t j = 0; j < width && op.kind == Kind::kValues; ++j) {
          if (j == i) continue;
          const auto& writes = writes_[op.key][j];
          auto w = std::partition_point(writes.begin(), writes.end(), [&](OpId o) { return history_.ops[o].seq < clocks.row(id)[j]; });
          for (; w != writes.end() && history_.ops[*w].seq < later[j]; ++w) {
            const auto list = history_.list(op);
            if (std::all_of(list.begin(), list.end(), [&](std::uint32_t e) { return writer_[e] < *w; })) later[j] = history_.ops[*w].seq;
          }
        }
        std::copy(later.begin(), later.end(), most.begin() + static_cast<std::ptrdiff_t>(id * width));
      }
    }
    return most;
  }

  // Several could have overwritten it: of those written later, by the order of the file,
  // the one for which that brings least along, and nothing that its replica cannot have
  // seen. If it works it is a witness as good as any.
  bool guess(const std::vector<std::pair<OpId, OpId>>& open, const Clocks& clocks) {
    const auto most = most_seen(clocks);
    const std::size_t width = history_.replicas.size();
    for (const auto& of : open) {
      const auto& [w, read] = of;
      if (guesses_.contains(of)) return false;
      const auto past = clocks.row(w);
      OpId best = kNone;
      std::tuple<int, bool, std::uint64_t> least;
      for (const auto e : history_.list(history_.ops[read])) {
        const OpId returned = writer_[e];
        if (apart_.contains({w, returned}) || before(history_, clocks, returned, w)) continue;
        const auto row = clocks.row(returned);
        std::uint64_t brings = 0;
        bool too_much = returned < w;
        for (std::size_t j = 0; j < row.size(); ++j) {
          const auto count = j == history_.ops[w].replica ? history_.ops[w].seq + 1 : past[j];
          too_much = too_much || count > most[returned * width + j];
          brings += count > row[j] ? count - row[j] : 0;
        }
        const auto blamed = blamed_.find({w, returned});
        const std::tuple cost(blamed == blamed_.end() ? 0 : blamed->second, too_much, brings);
        if (best != kNone && cost >= least) continue;
        best = returned;
        least = cost;
      }
      if (best == kNone) return false;
      guesses_[of] = best;
      graph_.add({w, best, Why::kOverwritten, read});
    }
    return true;
  }

  // Takes back a guess that a contradiction rests on; false: none was found.
  bool blame(const std::vector<Step>& steps, std::size_t limit, std::size_t& left) {
    for (auto step = steps.rbegin(); step != steps.rend(); ++step) {
      if (step->why != Why::kOverwritten) continue;
      const auto at = guesses_.find({step->from, step->read});
      if (at == guesses_.end() || at->second != step->to) continue;
      ++blamed_[{step->from, step->to}];
      guesses_.erase(at);
      return true;
    }
    // What was said because of a guess.
    for (const Step& step : steps) {
      if (step.why != Why::kOverwritten || left == 0) continue;
      --left;
      std::size_t index = 0;
      while (index < limit && (graph_.steps()[index].why != Why::kOverwritten || graph_.steps()[index].from != step.from || graph_.steps()[index].to != step.to || graph_.steps()[index].read != step.read)) ++index;
      if (index == limit) continue;
      if (blame(graph_.path(step.from, step.read, index), index, left)) return true;
    }
    return false;
  }

  const History& history_;
  StepGraph graph_;
  std::vector<OpId> writer_;                          // by element
  std::vector<std::vector<std::vector<OpId>>> writes_;  // by key and replica
  std::map<std::pair<OpId, OpId>, OpId> guesses_;  // a write and a read that did not return it: what overwrote it
  std::set<std::pair<OpId, OpId>> apart_;          // two writes that were returned together
  std::map<std::pair<OpId, OpId>, int> blamed_;    // a write, and what was guessed to overwrite it: how often in vain
  Decision decision_;
};

}  // namespace

std::optional<Decision> decide_register(const History& history, const Axioms& axioms) {
  return Registers(history, axioms).decide();
}

}  // namespace cupel::crdt
