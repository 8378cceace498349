// Siblings: multi-value registers whose values are written once and whose reads return
// several of them, decided completely.
//
// Who wrote what a read returns is known. What is left of the axioms (thesis, figure 2.1)
// is said of clocks, how many operations of each replica each operation has seen:
// - a read has seen what it returns, and a clock contains those of what it has seen;
// - what is returned together has not seen each other;
// - a write that a read has seen and did not return was seen by something it returned.
// Only the last leaves a choice: which of the siblings had seen it.
//
// Each clock is kept between what it must and what it may be. Every axiom moves one of
// the two, to a fixpoint: of a choice whose siblings but one may not have seen the write
// nothing is left to choose, and a write that no sibling may have seen the read has not.
// Where several may, one is chosen: the one to which the write's past brings least that is
// new. The bounds then say at once what follows, so that hardly ever one is wrong where
// replicas were right. What contradicts itself is traced back to the choices that it rests
// on, by the reasons that each bound has; the last of them is undone and forbidden as long
// as the others stand (backjumping). If it rests on none there is no execution, and the
// trace is the evidence. If nothing is left to choose the least clocks are an execution.
//
// Exponential at worst: three-colouring is such a history (tests/crdt/colouring.hpp).
//
// Cost: the bounds of one replica's operations for another are a row that only grows along
// it, and moving one moves a stretch of the row. A sweep of (operations × replicas), and
// then the stretches that are moved.
#include <algorithm>
#include <cassert>
#include <queue>
#include <tuple>

#include "crdt/decide.hpp"

namespace cupel::crdt {

namespace {

using Number = std::uint32_t;

class Siblings {
 public:
  Siblings(const History& history, base::Budget& budget)
      : h_(history), budget_(budget), width_(history.replicas.size()) {}

  Decision decide(std::span<const OpId> order) {
    Decision decision;
    decision.decided_by = "registers";
    if (!take()) return decision;
    order_.assign(order.begin(), order.end());
    start();
    const bool possible = axioms() && search();
    if (budget_.exceeded()) return decision;
    if (!possible) {
      decision.verdict = Verdict::kViolated;
      decision.violation = Violation{core(), {}};
      return decision;
    }
    auto least = clocks();
    auto sorted = linear_order(h_, least, {});
    assert(sorted);
    decision.verdict = Verdict::kSatisfied;
    decision.witness = Witness{std::move(least), std::move(*sorted)};
    return decision;
  }

 private:
  // Why a bound is where it is: because of two others, and by what a read says, of a write.
  // One with `read` kChosen is a choice, its `write` the level; with kLearned the reads and
  // writes are learned_[write].
  struct Reason {
    Number first, second;
    OpId read, write;
  };
  static constexpr OpId kChosen = kNone - 1, kLearned = kNone - 2;
  static constexpr Number kGiven = 0;  // the reason of what needs none

  // The operation `seq` of a replica, and how many of `of` it has seen.
  struct Place {
    Number replica, of, seq;
  };
  struct Moved {
    Place at;
    bool upper;
  };
  // What a stretch of a row was, for taking back.
  struct Stretch {
    std::size_t begin;
    Number count, value, reason;
    bool upper;
  };
  struct Level {
    std::size_t stretches, passed, learned;
    Number reasons;
    Place at;      // what was chosen: that this operation
    Number value;  // has seen so many
  };
  struct Open {
    Number place;  // of the read in the order
    OpId read;
    Number of;
    bool operator>(const Open& o) const { return std::tie(place, of) > std::tie(o.place, o.of); }
  };

  bool take() {
    const std::size_t count = h_.ops.size();
    if (budget_.would_exceed(count * width_ * 20)) return false;
    start_.assign(width_, 0);
    for (std::size_t i = 1; i < width_; ++i) start_[i] = start_[i - 1] + line(i - 1).size();
    writer_.assign(h_.elements.size(), kNone);
    writes_.resize(h_.keys.size() * width_);
    reads_.resize(h_.keys.size() * width_);
    readers_.resize(count);
    for (OpId id = 0; id < count; ++id) {
      const Operation& op = h_.ops[id];
      auto& of_kind = op.kind == Kind::kWrite ? writes_ : reads_;
      of_kind[op.key * width_ + op.replica].push_back(id);
      if (op.kind == Kind::kWrite) writer_[op.element] = id;
    }
    for (OpId id = 0; id < count; ++id) {
      for (const auto e : h_.list(h_.ops[id])) readers_[writer_[e]].push_back(id);
    }
    return true;
  }

  [[nodiscard]] const std::vector<OpId>& line(std::size_t replica) const {
    return h_.by_replica[replica];
  }
  [[nodiscard]] std::size_t row(std::size_t replica, std::size_t of) const {
    return start_[replica] * width_ + of * line(replica).size();
  }
  [[nodiscard]] std::size_t cell(OpId op, std::size_t of) const {
    return row(h_.ops[op].replica, of) + h_.ops[op].seq;
  }
  [[nodiscard]] const std::vector<OpId>& writes(OpId read, std::size_t of) const {
    return writes_[h_.ops[read].key * width_ + of];
  }
  // The first of these, all of one replica, that is not among the first `seq` of it.
  [[nodiscard]] auto from_seq(const std::vector<OpId>& ops, Number seq) const {
    return std::partition_point(ops.begin(), ops.end(),
                                [&](OpId o) { return h_.ops[o].seq < seq; });
  }

  [[nodiscard]] Clocks clocks() const {
    Clocks all(h_);
    for (OpId id = 0; id < h_.ops.size(); ++id) {
      for (std::size_t j = 0; j < width_; ++j) all.row(id)[j] = least_[cell(id, j)];
    }
    return all;
  }

  Number reason(Number first, Number second, OpId read = kNone, OpId write = kNone) {
    if (read == kNone && write == kNone) {
      if (first == kGiven || first == second) return second;
      if (second == kGiven) return first;
    }
    reasons_.push_back({first, second, read, write});
    return static_cast<Number>(reasons_.size() - 1);
  }

  // The least clocks by one sweep, the most without a bound but their own.
  void start() {
    const std::size_t cells = h_.ops.size() * width_;
    reasons_.assign(1, {0, 0, kNone, kNone});
    least_.assign(cells, 0);
    most_.assign(cells, 0);
    why_least_.assign(cells, kGiven);
    why_most_.assign(cells, kGiven);
    asked_already_.assign(cells, false);
    offered_.assign(cells, false);
    place_.resize(h_.ops.size());
    Number place = 0;
    for (const OpId id : order_) {
      const Operation& op = h_.ops[id];
      place_[id] = place++;
      for (std::size_t j = 0; j < width_; ++j) {
        const std::size_t c = cell(id, j);
        most_[c] = j == op.replica ? op.seq : static_cast<Number>(line(j).size());
        if (op.seq == 0) continue;
        least_[c] = j == op.replica ? op.seq : least_[c - 1];
        why_least_[c] = j == op.replica ? kGiven : why_least_[c - 1];
      }
      for (const auto e : h_.list(op)) {
        const OpId w = writer_[e];
        const auto from = h_.ops[w].replica;
        if (from == op.replica || least_[cell(id, from)] > h_.ops[w].seq) continue;
        const Number known = reason(kGiven, kGiven, id, w);
        for (std::size_t j = 0; j < width_; ++j) {
          const Number count = j == from ? h_.ops[w].seq + 1 : least_[cell(w, j)];
          Number& mine = least_[cell(id, j)];
          if (count <= mine) continue;
          mine = count;
          why_least_[cell(id, j)] = j == from ? known : reason(known, why_least_[cell(w, j)]);
        }
      }
    }
  }

  // What has seen an operation it has not seen.
  void start_most() {
    for (std::size_t i = 0; i < width_; ++i) {
      for (std::size_t j = 0; j < width_; ++j) {
        if (i == j) continue;
        const std::size_t seen = row(j, i), mine = row(i, j), length = line(j).size();
        Number first = 0;
        for (Number s = 0; s < line(i).size(); ++s) {
          while (first < length && least_[seen + first] <= s) ++first;
          if (first == length) break;
          if (most_[mine + s] <= first) continue;
          most_[mine + s] = first;
          why_most_[mine + s] = why_least_[seen + first];
        }
      }
    }
  }

  // What reads say at the beginning. False: a contradiction, or the budget is spent.
  bool axioms() {
    for (const OpId id : order_) {
      const Operation& op = h_.ops[id];
      if (op.kind != Kind::kValues) continue;
      if (budget_.exceeded()) return false;
      const auto list = h_.list(op);
      const auto place = [&](OpId o, std::size_t of) {
        return Place{h_.ops[o].replica, static_cast<Number>(of), h_.ops[o].seq};
      };
      // Siblings have not seen each other.
      for (const auto a : list) {
        for (const auto b : list) {
          const OpId v = writer_[a], w = writer_[b];
          if (a != b && !lower(place(w, h_.ops[v].replica), h_.ops[v].seq, kGiven, kGiven, id, v))
            return false;
        }
      }
      // Nothing of a replica behind what is returned of it; nothing if nothing is returned.
      std::vector<Number> returned(width_, 0);
      for (const auto e : list) returned[h_.ops[writer_[e]].replica] = h_.ops[writer_[e]].seq + 1;
      for (std::size_t j = 0; j < width_; ++j) {
        if (returned[j] == 0 && !list.empty()) {
          ask(id, j);
          continue;
        }
        const auto& of = writes(id, j);
        const auto next = from_seq(of, returned[j]);
        if (next != of.end() && !lower(place(id, j), h_.ops[*next].seq, kGiven, kGiven, id, *next))
          return false;
      }
    }
    // First what follows from this by itself, which is told more briefly.
    if (!settle()) return false;
    start_most();
    for (const OpId id : order_) {
      if (h_.ops[id].kind != Kind::kValues) continue;
      for (std::size_t j = 0; j < width_; ++j) ask(id, j);
    }
    return settle();
  }

  // Moves a bound of an operation, and with it those of its replica's others. False:
  // a contradiction, contradiction_ is why.
  bool raise(const Place& at, Number value, Number first, Number second, OpId read = kNone,
             OpId write = kNone) {
    const std::size_t base = row(at.replica, at.of);
    if (least_[base + at.seq] >= value) return true;
    const Number why = reason(first, second, read, write);
    if (value > most_[base + at.seq]) {
      contradiction_ = {why, why_most_[base + at.seq]};
      return false;
    }
    const std::size_t length = line(at.replica).size();
    const Number before = least_[base + at.seq];
    std::size_t end = base + at.seq;
    for (; end < base + length && least_[end] < value;) {
      const std::size_t begin = end;
      while (end < base + length && why_least_[end] == why_least_[begin] &&
             least_[end] == least_[begin] && least_[end] < value)
        ++end;
      if (!levels_.empty())
        stretches_.push_back(
            {begin, static_cast<Number>(end - begin), least_[begin], why_least_[begin], false});
    }
    std::fill(least_.begin() + static_cast<std::ptrdiff_t>(base + at.seq),
              least_.begin() + static_cast<std::ptrdiff_t>(end), value);
    std::fill(why_least_.begin() + static_cast<std::ptrdiff_t>(base + at.seq),
              why_least_.begin() + static_cast<std::ptrdiff_t>(end), why);
    moved_.push_back({at, false});
    // Reads that now have seen more writes of their key.
    const auto until = static_cast<Number>(end - base);
    const auto ask_those = [&](std::uint32_t key) {
      const auto& reads = reads_[key * width_ + at.replica];
      for (auto r = from_seq(reads, at.seq); r != reads.end() && h_.ops[*r].seq < until; ++r)
        ask(*r, at.of);
    };
    if (value - before < until - at.seq) {
      for (Number s = before; s < value; ++s) {
        const Operation& op = h_.ops[line(at.of)[s]];
        if (op.kind == Kind::kWrite) ask_those(op.key);
      }
    } else {
      for (Number s = at.seq; s < until; ++s) {
        if (h_.ops[line(at.replica)[s]].kind == Kind::kValues) ask(line(at.replica)[s], at.of);
      }
    }
    return true;
  }

  bool lower(const Place& at, Number value, Number first, Number second, OpId read = kNone,
             OpId write = kNone) {
    const std::size_t base = row(at.replica, at.of);
    if (most_[base + at.seq] <= value) return true;
    const Number why = reason(first, second, read, write);
    if (value < least_[base + at.seq]) {
      contradiction_ = {why, why_least_[base + at.seq]};
      return false;
    }
    std::size_t begin = base + at.seq + 1;
    for (; begin > base && most_[begin - 1] > value;) {
      const std::size_t end = begin;
      while (begin > base && why_most_[begin - 1] == why_most_[end - 1] &&
             most_[begin - 1] == most_[end - 1])
        --begin;
      if (!levels_.empty())
        stretches_.push_back(
            {begin, static_cast<Number>(end - begin), most_[end - 1], why_most_[end - 1], true});
    }
    std::fill(most_.begin() + static_cast<std::ptrdiff_t>(begin),
              most_.begin() + static_cast<std::ptrdiff_t>(base + at.seq + 1), value);
    std::fill(why_most_.begin() + static_cast<std::ptrdiff_t>(begin),
              why_most_.begin() + static_cast<std::ptrdiff_t>(base + at.seq + 1), why);
    moved_.push_back({at, true});
    // Reads that return what now can have seen less.
    for (auto s = static_cast<Number>(begin - base); s <= at.seq; ++s) {
      for (const OpId r : readers_[line(at.replica)[s]]) ask(r, at.of);
    }
    return true;
  }

  void ask(OpId read, std::size_t of) {
    if (asked_already_[cell(read, of)]) return;
    asked_already_[cell(read, of)] = true;
    asked_.emplace_back(read, static_cast<Number>(of));
  }

  // All that follows. False: a contradiction.
  bool settle() {
    bool possible = true;
    std::size_t m = 0, a = 0;
    while (possible && (m < moved_.size() || a < asked_.size())) {
      if (a < asked_.size()) {
        const auto [read, of] = asked_[a++];
        asked_already_[cell(read, of)] = false;
        possible = answer(read, of);
      } else {
        const Moved moved = moved_[m++];
        possible = moved.upper ? lowered(moved.at) : raised(moved.at);
      }
    }
    for (; a < asked_.size(); ++a) asked_already_[cell(asked_[a].first, asked_[a].second)] = false;
    moved_.clear();
    asked_.clear();
    return possible;
  }

  bool raised(const Place& at) {
    const std::size_t mine = row(at.replica, at.of) + at.seq;
    const Number value = least_[mine];
    const Number why = why_least_[mine];
    // It has seen the last of these, and what that has seen.
    const Place last{at.of, 0, value - 1};
    for (Number j = 0; j < width_; ++j) {
      const std::size_t of_last = row(at.of, j) + last.seq;
      const std::size_t of_mine = row(at.replica, j) + at.seq;
      if (!raise({at.replica, j, at.seq}, least_[of_last], why, why_least_[of_last])) return false;
      if (!lower({at.of, j, last.seq}, most_[of_mine], why, why_most_[of_mine])) return false;
    }
    for (Number i = 0; i < width_; ++i) {
      if (i == at.replica) continue;
      const std::size_t length = line(i).size();
      // The first there that has seen it has seen as much.
      const auto seen = least_.begin() + static_cast<std::ptrdiff_t>(row(i, at.replica));
      const auto first = static_cast<Number>(
          std::upper_bound(seen, seen + static_cast<std::ptrdiff_t>(length), at.seq) - seen);
      if (first < length &&
          !raise({i, at.of, first}, value, why_least_[row(i, at.replica) + first], why))
        return false;
      // The last there that cannot have seen as much has not seen it.
      const auto bound = most_.begin() + static_cast<std::ptrdiff_t>(row(i, at.of));
      const auto enough = static_cast<Number>(
          std::lower_bound(bound, bound + static_cast<std::ptrdiff_t>(length), value) - bound);
      if (enough > 0 &&
          !lower({i, at.replica, enough - 1}, at.seq, why_most_[row(i, at.of) + enough - 1], why))
        return false;
    }
    return true;
  }

  bool lowered(const Place& at) {
    const std::size_t mine = row(at.replica, at.of) + at.seq;
    const Number value = most_[mine];
    const Number why = why_most_[mine];
    for (Number j = 0; j < width_; ++j) {
      if (j == at.replica) continue;
      // Nor has what it has seen.
      const std::size_t seen = row(at.replica, j) + at.seq;
      if (const Number count = least_[seen];
          count > 0 && !lower({j, at.of, count - 1}, value, why_least_[seen], why))
        return false;
      if (j == at.of) continue;
      // It has not seen what has seen more.
      const std::size_t length = line(j).size();
      const auto counts = least_.begin() + static_cast<std::ptrdiff_t>(row(j, at.of));
      const auto first = static_cast<Number>(
          std::upper_bound(counts, counts + static_cast<std::ptrdiff_t>(length), value) - counts);
      if (first < length &&
          !lower({at.replica, j, at.seq}, first, why_least_[row(j, at.of) + first], why))
        return false;
    }
    return true;
  }

  // The last write of a replica that a read has seen was seen by something it returned.
  bool answer(OpId read, Number of) {
    const auto list = h_.list(h_.ops[read]);
    const auto& written = writes(read, of);
    if (list.empty() || written.empty()) return true;
    Number most = 0, least = 0;
    for (const auto e : list) {
      const OpId w = writer_[e];
      if (h_.ops[w].replica == of) return true;
      most = std::max(most, most_[cell(w, of)]);
      least = std::max(least, least_[cell(w, of)]);
    }
    const Operation& op = h_.ops[read];
    const auto beyond = from_seq(written, most);
    if (beyond != written.end() && h_.ops[*beyond].seq < most_[cell(read, of)]) {
      Number why = kGiven;
      for (const auto e : list) why = reason(why, why_most_[cell(writer_[e], of)]);
      if (!lower({op.replica, of, op.seq}, h_.ops[*beyond].seq, why, kGiven, read, *beyond))
        return false;
    }
    const auto end = from_seq(written, least_[cell(read, of)]);
    if (end == written.begin()) return true;
    const OpId last = *std::prev(end);
    const Number needed = h_.ops[last].seq + 1;
    if (least >= needed) return true;
    OpId only = kNone;
    for (const auto e : list) {
      if (most_[cell(writer_[e], of)] < needed || writer_[e] == only) continue;
      if (only != kNone) {
        offer({place_[read], read, of});
        return true;
      }
      only = writer_[e];
    }
    assert(only != kNone);
    Number why = why_least_[cell(read, of)];
    for (const auto e : list) {
      if (writer_[e] != only) why = reason(why, why_most_[cell(writer_[e], of)]);
    }
    return raise({h_.ops[only].replica, of, h_.ops[only].seq}, needed, why, kGiven, read, last);
  }

  void offer(const Open& open) {
    if (offered_[cell(open.read, open.of)]) return;
    offered_[cell(open.read, open.of)] = true;
    open_.push(open);
  }

  // The next choice that is still one; false: none is left.
  bool choose() {
    while (!open_.empty()) {
      const Open open = open_.top();
      open_.pop();
      offered_[cell(open.read, open.of)] = false;
      const auto& written = writes(open.read, open.of);
      const auto end = from_seq(written, least_[cell(open.read, open.of)]);
      const auto pass = [&] {
        if (!levels_.empty()) passed_.push_back(open);
      };
      if (end == written.begin()) {
        pass();
        continue;
      }
      const OpId last = *std::prev(end);
      const Number needed = h_.ops[last].seq + 1;
      OpId best = kNone;
      std::uint64_t fewest = 0;
      bool done = false;
      for (const auto e : h_.list(h_.ops[open.read])) {
        const OpId w = writer_[e];
        done = done || least_[cell(w, open.of)] >= needed;
        if (most_[cell(w, open.of)] < needed) continue;
        std::uint64_t brings = 0;
        for (std::size_t j = 0; j < width_; ++j) {
          const Number past = j == open.of ? needed : least_[cell(last, j)];
          const Number mine = least_[cell(w, j)];
          brings += past > mine ? past - mine : 0;
        }
        if (best != kNone && brings >= fewest) continue;
        best = w;
        fewest = brings;
      }
      if (done) {
        pass();
        continue;
      }
      assert(best != kNone);
      const Place at{h_.ops[best].replica, open.of, h_.ops[best].seq};
      levels_.push_back({stretches_.size(), passed_.size(), learned_.size(),
                         static_cast<Number>(reasons_.size()), at, needed});
      passed_.push_back(open);
      // Possible as far as the bounds say.
      raise(at, needed, kGiven, kGiven, kChosen, static_cast<OpId>(levels_.size() - 1));
      return true;
    }
    return false;
  }

  void undo() {
    const Level& level = levels_.back();
    while (stretches_.size() > level.stretches) {
      const Stretch& s = stretches_.back();
      auto& values = s.upper ? most_ : least_;
      auto& reasons = s.upper ? why_most_ : why_least_;
      std::fill_n(values.begin() + static_cast<std::ptrdiff_t>(s.begin), s.count, s.value);
      std::fill_n(reasons.begin() + static_cast<std::ptrdiff_t>(s.begin), s.count, s.reason);
      stretches_.pop_back();
    }
    for (; passed_.size() > level.passed; passed_.pop_back()) offer(passed_.back());
    reasons_.resize(level.reasons);
    learned_.resize(level.learned);
    levels_.pop_back();
  }

  // What a contradiction rests on: choices, and what reads say.
  struct Ground {
    std::vector<Number> levels;
    std::vector<OpId> ops;
  };
  Ground ground(std::pair<Number, Number> of) {
    Ground found;
    std::vector<Number> stack{of.first, of.second}, marked;
    seen_.resize(reasons_.size(), false);
    while (!stack.empty()) {
      const Number at = stack.back();
      stack.pop_back();
      if (at == kGiven || seen_[at]) continue;
      seen_[at] = true;
      marked.push_back(at);
      const Reason& r = reasons_[at];
      if (r.read == kChosen) {
        found.levels.push_back(r.write);
        continue;
      }
      if (r.read == kLearned) {
        found.ops.insert(found.ops.end(), learned_[r.write].begin(), learned_[r.write].end());
      } else {
        if (r.read != kNone) found.ops.push_back(r.read);
        if (r.write != kNone) found.ops.push_back(r.write);
      }
      stack.push_back(r.first);
      stack.push_back(r.second);
    }
    for (const Number m : marked) seen_[m] = false;
    std::sort(found.levels.begin(), found.levels.end());
    std::sort(found.ops.begin(), found.ops.end());
    found.ops.erase(std::unique(found.ops.begin(), found.ops.end()), found.ops.end());
    return found;
  }

  // True: an execution, the least clocks. False: there is none, or the budget is spent.
  bool search() {
    while (choose()) {
      if (budget_.exceeded()) return false;
      while (!settle()) {
        if (budget_.exceeded()) return false;
        Ground why = ground(contradiction_);
        if (why.levels.empty()) return false;
        // The last of these choices is wrong as long as the others stand.
        const Number wrong = why.levels.back();
        why.levels.pop_back();
        const Level level = levels_[wrong];
        while (levels_.size() > wrong) undo();
        Number rests = kGiven;
        for (const Number l : why.levels) rests = reason(rests, levels_[l].reasons);
        learned_.push_back(std::move(why.ops));
        // The choice was possible, so that this is.
        lower(level.at, level.value - 1, rests, kGiven, kLearned,
              static_cast<OpId>(learned_.size() - 1));
      }
    }
    return true;
  }

  // The operations that the last contradiction rests on.
  Core core() {
    Core found;
    auto& ops = found.ops;
    ops = ground(contradiction_).ops;
    for (std::size_t i = 0, count = ops.size(); i < count; ++i) {
      for (const auto e : h_.list(h_.ops[ops[i]])) ops.push_back(writer_[e]);
    }
    std::sort(ops.begin(), ops.end());
    ops.erase(std::unique(ops.begin(), ops.end()), ops.end());
    return found;
  }

  const History& h_;
  base::Budget& budget_;
  const std::size_t width_;
  std::vector<std::size_t> start_;                 // by replica: operations before its first
  std::vector<OpId> writer_;                       // by element
  std::vector<std::vector<OpId>> writes_, reads_;  // by key and replica
  std::vector<std::vector<OpId>> readers_;         // by write
  std::vector<OpId> order_;
  std::vector<Number> place_;                                // in the order
  std::vector<Number> least_, most_, why_least_, why_most_;  // by replica, replica and operation
  std::vector<Reason> reasons_;
  std::vector<Level> levels_;
  std::vector<Stretch> stretches_;
  std::vector<Open> passed_;
  std::vector<Moved> moved_;
  std::vector<std::pair<OpId, Number>> asked_;
  std::vector<bool> asked_already_, offered_, seen_;
  std::priority_queue<Open, std::vector<Open>, std::greater<>> open_;
  std::vector<std::vector<OpId>> learned_;
  std::pair<Number, Number> contradiction_;
};

}  // namespace

Decision decide_siblings(const History& history, std::span<const OpId> order,
                         base::Budget& budget) {
  return Siblings(history, budget).decide(order);
}

}  // namespace cupel::crdt
