// decide: see the header.
#include "levels/decide.hpp"

#include <absl/container/flat_hash_map.h>
#include <fmt/format.h>

#include <algorithm>

#include "levels/accesses.hpp"
#include "levels/describe.hpp"
#include "solver/clause_solver.hpp"

namespace cupel::levels {

using history::OpKind;
using history::Time;
using history::TxnStatus;

namespace {

std::string_view stage_name(order::Stage stage) {
  switch (stage) {
    case order::Stage::kSaturation: return "saturation";
    case order::Stage::kSchedule: return "schedule";
    case order::Stage::kRefine: return "refine";
  }
  return "?";
}

// What a cheap yes may cost at the weak levels; a count, so that it is the same
// on every machine.
constexpr std::uint64_t kCheapProposals = 300;

// The deepest stage that any part needed names the decision.
class StageTally {
 public:
  void see(order::Stage stage) { deepest_ = std::max(deepest_, stage); }
  [[nodiscard]] std::string text() const { return std::string(stage_name(deepest_)); }

 private:
  order::Stage deepest_ = order::Stage::kSaturation;
};

}  // namespace

class Decider::State {
 public:
  State(const History& h, Time drift) : h_(h), drift_(drift), choices_(h) {
    for (std::uint32_t t = 0; t < h.txn_count() && !has_unsure_compare_and_set_; ++t) {
      if (h.status(TxnId(t)) != TxnStatus::kIndeterminate) continue;
      for (std::uint32_t i = h.first_op(TxnId(t)); i < h.last_op(TxnId(t)); ++i) {
        has_unsure_compare_and_set_ = has_unsure_compare_and_set_ || h.kind(OpId(i)) == OpKind::kCompareAndSet;
      }
    }
  }

  Decision decide(Level level, base::Budget& budget) {
    if (auto refused = refusal(level)) return {Answer::kRefused, {}, *std::move(refused), {}};
    if (!collected_) {
      accesses_ = collect_accesses(h_, choices_, {}, budget);
      collected_ = accesses_.complete;
    }
    if (!collected_) return gave_up(budget, "collecting reads and writes");
    Decision first = decide_fates(level, choices_, accesses_, budget);
    if (first.answer != Answer::kNo || choices_.count() < 2) return first;
    // Elements appended twice: another placing may pass.
    ListChoices other(h_);
    while (other.advance()) {
      if (budget.exceeded()) return gave_up(budget, "trying the places of elements appended twice");
      const Accesses accesses = collect_accesses(h_, other, {}, budget);
      if (!accesses.complete) return gave_up(budget, "collecting reads and writes");
      Decision next = decide_fates(level, other, accesses, budget);
      if (next.answer != Answer::kNo) return next;
    }
    return first;
  }

  std::optional<std::string> refusal(Level level) const {
    if (needs_real_time(level) && !h_.has_all_times()) {
      return fmt::format(
          "{} needs the times of all transactions, which this history does not have",
          name(level));
    }
    if (level != Level::kLinearizable) return std::nullopt;
    for (std::uint32_t t = 0; t < h_.txn_count(); ++t) {
      if (h_.status(TxnId(t)) == TxnStatus::kAborted) continue;
      KeyId key;
      for (std::uint32_t i = h_.first_op(TxnId(t)); i < h_.last_op(TxnId(t)); ++i) {
        const auto op = h_.op(OpId(i));
        if (op.kind != OpKind::kRangeRead && (!key.valid() || key == op.key)) {
          key = op.key;
          continue;
        }
        return fmt::format(
            "linearizable is about operations on single objects, and transaction {} of session {} "
            "touches more than one key",
            h_.label(TxnId(t)), h_.session_name(h_.session(TxnId(t))));
      }
    }
    return std::nullopt;
  }

 private:
  static Decision gave_up(const base::Budget& budget, std::string_view reached) {
    Decision d;
    d.detail = budget.limit() == base::Limit::kNone
                   ? fmt::format("stopped in {}: without session order this history is too large to be sure", reached)
                   : fmt::format("{} limit met in {}", base::to_string(budget.limit()), reached);
    return d;
  }

  // Indeterminate transactions with compare-and-sets. First their reads are left
  // open, which only makes more possible: "no" is no. A "yes" is yes if every
  // such transaction that somebody read from saw what it expected; else one that
  // did not is supposed to have happened, reads included, and to have never
  // happened, in turn.
  Decision decide_fates(Level level, const ListChoices& choices, const Accesses& open,
                        base::Budget& budget) const {
    TxnId suspect;
    Decision decision = decide_choice(level, open, {}, budget, &suspect);
    if (decision.answer != Answer::kYes || !suspect.valid()) return decision;
    std::vector<Fate> fates(h_.txn_count(), Fate::kOpen);
    return suppose(level, choices, suspect, fates, budget);
  }

  Decision suppose(Level level, const ListChoices& choices, TxnId txn, std::vector<Fate>& fates,
                   base::Budget& budget) const {
    Decision last;
    for (const Fate fate : {Fate::kHappened, Fate::kNever}) {
      if (budget.exceeded()) return gave_up(budget, "supposing what indeterminate transactions did");
      fates[txn.index()] = fate;
      const Accesses a = collect_accesses(h_, choices, fates, budget);
      if (!a.complete) return gave_up(budget, "collecting reads and writes");
      TxnId suspect;
      Decision decision = decide_choice(level, a, fates, budget, &suspect);
      if (decision.answer == Answer::kYes && suspect.valid()) {
        decision = suppose(level, choices, suspect, fates, budget);
      }
      if (decision.answer != Answer::kNo) {
        fates[txn.index()] = Fate::kOpen;
        return decision;
      }
      last = std::move(decision);
    }
    fates[txn.index()] = Fate::kOpen;
    return last;
  }

  // An indeterminate transaction of open fate with a compare-and-set that some
  // read is from, though its own expectation was not met in the witness (`saw`
  // tells; absent at the weak levels, where every such one is suspect).
  TxnId find_suspect(const Accesses& a, std::span<const Fate> fates, std::span<const Owner> read_from,
                     const std::vector<std::uint8_t>* met) const {
    for (const Owner o : read_from) {
      if (o == kInitialOwner) continue;
      const TxnId txn = a.txns[o];
      if (h_.status(txn) != TxnStatus::kIndeterminate) continue;
      if (!fates.empty() && fates[txn.index()] != Fate::kOpen) continue;
      if (met != nullptr && (*met)[o] != 0) continue;
      for (std::uint32_t i = h_.first_op(txn); i < h_.last_op(txn); ++i) {
        const auto op = h_.op(OpId(i));
        if (op.kind == OpKind::kCompareAndSet && h_.compare_and_set(op).succeeded) return txn;
      }
    }
    return TxnId::none();
  }

  // Replays the witness: which indeterminate owners found the values that their
  // compare-and-sets expected. Only single-operation ones are looked into; the
  // others stay suspect, which costs time and no exactness.
  void note_met(const Accesses& a, const Described& d, const order::Outcome& outcome,
                std::span<const Fate> fates, std::vector<std::uint8_t>& met) const {
    // An open one that nobody read from did not happen, as far as this goes.
    std::vector<std::uint8_t> happened(d.owners.size(), 0);
    for (std::size_t o = 0; o < d.owners.size(); ++o) {
      const TxnId txn = a.txns[d.owners[o]];
      happened[o] = h_.status(txn) == TxnStatus::kCommitted ||
                    (!fates.empty() && fates[txn.index()] == Fate::kHappened);
    }
    for (const auto w : outcome.writers) {
      if (w != order::kInitial) happened[w] = 1;
    }
    std::vector<order::Owner> current(d.problem.object_count, order::kInitial);
    for (const auto v : outcome.order) {
      if (d.problem.is_helper(v)) continue;
      const auto o = d.problem.owner_of(v);
      const TxnId txn = a.txns[d.owners[o]];
      if (v == d.problem.begin(o) && h_.status(txn) == TxnStatus::kIndeterminate &&
          h_.last_op(txn) - h_.first_op(txn) == 1 && d.problem.write_first[o + 1] - d.problem.write_first[o] == 1) {
        const auto op = h_.op(OpId(h_.first_op(txn)));
        const auto x = d.problem.write_object[d.problem.write_first[o]];
        if (op.kind == OpKind::kCompareAndSet) {
          const auto seen = current[x] == order::kInitial ? h_.initial_value(op.key)
                                                          : value_of(a, d.owners[current[x]], op.key);
          met[d.owners[o]] = seen == h_.compare_and_set(op).expected;
        }
      }
      if (v != d.problem.commit(o) || happened[o] == 0) continue;
      for (auto i = d.problem.write_first[o]; i < d.problem.write_first[o + 1]; ++i) {
        current[d.problem.write_object[i]] = o;
      }
    }
  }

  // What the owner finally wrote to the key.
  history::ValueId value_of(const Accesses& a, Owner o, KeyId key) const {
    for (auto i = a.write_first[o]; i < a.write_first[o + 1]; ++i) {
      if (a.writes[i].key != key) continue;
      const auto op = h_.op(a.writes[i].op);
      return op.kind == OpKind::kCompareAndSet ? h_.compare_and_set(op).desired : op.value;
    }
    return {};
  }

  Decision decide_choice(Level level, const Accesses& a, std::span<const Fate> fates, base::Budget& budget,
                         TxnId* suspect) const {
    Violation violation;
    for (const auto& anomaly : a.internal) {
      if (forbidden_by(anomaly.kind) == Level::kReadCommitted || level != Level::kReadCommitted) {
        violation.internal.push_back(anomaly);
      }
    }
    if (!violation.internal.empty()) {
      Decision d;
      d.answer = Answer::kNo;
      d.decided_by = "internal";
      d.violation = std::move(violation);
      return d;
    }
    return is_weak(level) ? decide_weak(level, a, fates, budget, suspect)
                          : decide_order(level, a, fates, budget, suspect);
  }

  // --- order levels ---

  // `proposals` bounds stage 3: kGaveUp where they do not settle it.
  Decision decide_order(Level level, const Accesses& a, std::span<const Fate> fates, base::Budget& budget,
                        TxnId* suspect,
                        std::uint64_t proposals = std::numeric_limits<std::uint64_t>::max()) const {
    const LevelShape shape = shape_of(level);
    std::vector<Part> parts;
    bool by_key = false;
    if (level == Level::kLinearizable) {
      parts = split_by_key(h_, a);
      by_key = true;
    } else if (needs_real_time(level)) {
      parts = {whole(a)};
    } else {
      parts = split_into_parts(h_, a, has_session_order(level));
    }
    StageTally stages;
    std::size_t chains_decided = 0;
    for (std::size_t i = 0; i < parts.size(); ++i) {
      if (by_key && chain_of_compare_and_sets(a, parts[i])) {
        ++chains_decided;
        continue;
      }
      Described described = describe_order(h_, a, parts[i], shape, drift_);
      described.problem.max_proposals = proposals;
      const order::Outcome outcome = order::decide(described.problem, budget);
      stages.see(outcome.stage);
      if (outcome.answer == order::Answer::kYes) {
        if (has_unsure_compare_and_set_ && !suspect->valid()) {
          std::vector<std::uint8_t> met(a.txns.size(), 0);
          note_met(a, described, outcome, fates, met);
          std::vector<Owner> read_from;
          for (const auto w : outcome.writers) {
            if (w != order::kInitial) read_from.push_back(described.owners[w]);
          }
          *suspect = find_suspect(a, fates, read_from, &met);
        }
        continue;
      }
      Decision d;
      d.decided_by = stage_name(outcome.stage);
      if (outcome.answer == order::Answer::kGaveUp) {
        return gave_up(budget, parts.size() == 1 ? std::string(stage_name(outcome.stage))
                                                 : fmt::format("{} of part {} of {}", stage_name(outcome.stage),
                                                               i + 1, parts.size()));
      }
      d.answer = Answer::kNo;
      d.violation.emplace();
      std::vector<Owner> writers;
      for (const auto& read : described.problem.reads) {
        writers.push_back(read.last_candidate - read.first_candidate == 1
                              ? described.problem.candidates[read.first_candidate]
                              : order::kUnresolved);
      }
      d.violation->derivation = translate(a, outcome.proof, shape.split, described.owners,
                                          described.keys, described.reads, writers);
      return d;
    }
    Decision d;
    d.answer = Answer::kYes;
    d.decided_by = chains_decided != 0 && chains_decided == parts.size() ? "chain" : stages.text();
    return d;
  }

  // Lightweight transactions on one object: every operation that counts is a
  // read-modify-write of one version, so the versions form one chain from the
  // initial one, which neither the sessions nor real time may contradict. Linear (MTC, algorithm
  // 2). True: linearizable. False: not of this shape, or not so; the engine
  // decides then, and finds the proof.
  bool chain_of_compare_and_sets(const Accesses& a, const Part& part) const {
    absl::flat_hash_map<Owner, Owner> next;  // by the version read
    for (const Owner o : part.owners) {
      if (h_.status(a.txns[o]) != TxnStatus::kCommitted) return false;
      if (a.write_first[o + 1] - a.write_first[o] != 1 || a.read_first[o + 1] - a.read_first[o] != 1) return false;
      const ExternalRead& read = a.reads[a.read_first[o]];
      if (read.last_candidate - read.first_candidate != 1) return false;
      if (!next.emplace(a.candidates[read.first_candidate], o).second) return false;
    }
    std::vector<Owner> chain;
    for (auto it = next.find(kInitialOwner); it != next.end(); it = next.find(chain.back())) {
      chain.push_back(it->second);
      if (chain.size() > part.owners.size()) return false;
    }
    if (chain.size() != part.owners.size()) return false;
    absl::flat_hash_map<history::SessionId, TxnId> last_of;  // session order: TxnIds of a session ascend
    for (const Owner o : chain) {
      auto& last = last_of[h_.session(a.txns[o])];
      if (last.valid() && last > a.txns[o]) return false;
      last = a.txns[o];
    }
    Time earliest_completion = std::numeric_limits<Time>::max();
    for (auto it = chain.rbegin(); it != chain.rend(); ++it) {
      const TxnId txn = a.txns[*it];
      if (earliest_completion < h_.invoke(txn) - drift_) return false;
      earliest_completion = std::min(earliest_completion, h_.complete(txn) + drift_);
    }
    return true;
  }

  // --- weak levels ---

  Decision decide_weak(Level level, const Accesses& a, std::span<const Fate> fates, base::Budget& budget,
                       TxnId* suspect) const {
    const DescribedVisibility d = describe_visibility(h_, a, level == Level::kReadCommitted);
    const order::Visible visible = level == Level::kReadCommitted ? order::Visible::kEarlierRead
                                   : level == Level::kReadAtomic  ? order::Visible::kDirect
                                                                  : order::Visible::kCausal;
    std::vector<Owner> writers(d.reads.size());
    std::vector<std::uint32_t> open;
    const auto candidates = [&](std::uint32_t r) {
      const ExternalRead& read = a.reads[d.reads[r]];
      return level == Level::kReadCommitted
                 ? std::span(a.candidates).subspan(read.first_candidate, read.last_candidate - read.first_candidate)
                 : std::span(a.candidates).subspan(read.joint_first, read.joint_last - read.joint_first);
    };
    for (std::uint32_t r = 0; r < d.reads.size(); ++r) {
      writers[r] = candidates(r).front();
      if (candidates(r).size() > 1) open.push_back(r);
    }
    if (!open.empty()) return decide_weak_by_cases(a, d, visible, writers, open, candidates, fates, budget, suspect);
    const order::Outcome outcome = order::decide_visibility(d.problem, visible, writers, budget);
    if (has_unsure_compare_and_set_) *suspect = find_suspect(a, fates, writers, nullptr);
    return weak_decision(a, d, writers, outcome, budget);
  }

  [[nodiscard]] std::uint64_t hint(const Accesses& a, Owner o) const {
    const TxnId txn = a.txns[o];
    if (h_.has_all_times()) return (static_cast<std::uint64_t>(h_.invoke(txn)) ^ (1ull << 63)) >> 2;
    const auto s = h_.session(txn);
    return (static_cast<std::uint64_t>(txn.raw - h_.session_begin(s).raw) << 32) /
           (h_.session_end(s).raw - h_.session_begin(s).raw);
  }

  Decision weak_decision(const Accesses& a, const DescribedVisibility& d, std::span<const Owner> writers,
                         const order::Outcome& outcome, const base::Budget& budget) const {
    if (outcome.answer == order::Answer::kGaveUp) return gave_up(budget, "saturation");
    Decision decision;
    decision.decided_by = "saturation";
    decision.answer = outcome.answer == order::Answer::kYes ? Answer::kYes : Answer::kNo;
    if (decision.answer == Answer::kNo) {
      decision.violation.emplace();
      decision.violation->derivation =
          translate(a, outcome.proof, false, d.owners, d.keys, d.reads, writers);
    }
    return decision;
  }

  // Reads with several possible writers: a solver proposes writers, saturation
  // judges them, and the reads that took part in its cycle become a clause.
  // Before that, an order at prefix (or, for all three, anything stronger) is a
  // cheap yes.
  template <typename Candidates>
  Decision decide_weak_by_cases(const Accesses& a, const DescribedVisibility& d,
                                order::Visible visible, std::vector<Owner> writers,
                                std::span<const std::uint32_t> open, const Candidates& candidates,
                                std::span<const Fate> fates, base::Budget& budget, TxnId* suspect) const {
    const bool repeatable = std::none_of(a.internal.begin(), a.internal.end(), [](const auto& anomaly) {
      return anomaly.kind == InternalKind::kNonRepeatableRead;
    });
    if (repeatable) {
      Decision stronger = decide_order(Level::kStrongSessionSerializable, a, fates, budget, suspect, kCheapProposals);
      if (stronger.answer != Answer::kYes) {
        *suspect = TxnId::none();
        stronger = decide_order(Level::kPrefix, a, fates, budget, suspect, kCheapProposals);
      }
      if (stronger.answer == Answer::kYes) return stronger;
      *suspect = TxnId::none();
    }
    solver::ClauseSolver sat;
    absl::flat_hash_map<std::uint32_t, std::vector<solver::Literal>> literals;
    for (const auto r : open) {
      auto& mine = literals[r];
      // First guess: the writer that comes last before the reader by time, or by
      // place in the session; the truth is seldom far from it.
      const auto reader = hint(a, a.reads[d.reads[r]].owner);
      const auto options = candidates(r);
      const auto distance = [&](Owner w) {
        const auto writer = w == kInitialOwner ? 0 : hint(a, w);
        return writer <= reader ? reader - writer : (1ull << 63) + (writer - reader);
      };
      const auto guess = std::min_element(options.begin(), options.end(), [&](Owner x, Owner y) {
        return distance(x) < distance(y);
      });
      for (auto it = options.begin(); it != options.end(); ++it) {
        mine.push_back(sat.new_variable());
        sat.prefer(it == guess ? mine.back() : -mine.back());
      }
      sat.add_clause(mine);
    }
    order::Outcome last;
    Decision violated;
    violated.answer = Answer::kNo;
    violated.decided_by = "refine";
    violated.violation.emplace();
    Derivation& all = violated.violation->derivation;
    constexpr std::size_t kCasesKept = 64;
    while (true) {
      switch (sat.solve(budget)) {
        case solver::Answer::kGaveUp: return gave_up(budget, "refine");
        case solver::Answer::kNone: return violated;
        case solver::Answer::kModel: break;
      }
      for (const auto r : open) {
        const auto& mine = literals.at(r);
        const auto it = std::find_if(mine.begin(), mine.end(), [&](auto l) { return sat.is_true(l); });
        writers[r] = candidates(r)[static_cast<std::size_t>(it - mine.begin())];
      }
      const order::Outcome outcome = order::decide_visibility(d.problem, visible, writers, budget);
      if (outcome.answer != order::Answer::kNo) {
        if (has_unsure_compare_and_set_) *suspect = find_suspect(a, fates, writers, nullptr);
        Decision decision = weak_decision(a, d, writers, outcome, budget);
        decision.decided_by = "refine";
        return decision;
      }
      // The choices that the cycle rests on.
      std::vector<solver::Literal> clause;
      for (const auto& arc : outcome.proof.arcs) {
        const bool of_read = arc.kind == order::ArcKind::kRead || arc.kind == order::ArcKind::kVisible ||
                             arc.kind == order::ArcKind::kInitialRead;
        if (!of_read) continue;
        const auto it = literals.find(arc.read_or_object);
        if (it == literals.end()) continue;
        const auto options = candidates(arc.read_or_object);
        const auto chosen = std::find(options.begin(), options.end(), writers[arc.read_or_object]);
        clause.push_back(-it->second[static_cast<std::size_t>(chosen - options.begin())]);
      }
      std::sort(clause.begin(), clause.end());
      clause.erase(std::unique(clause.begin(), clause.end()), clause.end());
      const Derivation one = translate(a, outcome.proof, false, d.owners, d.keys, d.reads, writers);
      if (clause.empty()) {
        violated.violation->derivation = one;
        violated.decided_by = "saturation";
        return violated;
      }
      sat.add_clause(clause);
      if (all.cases.size() < kCasesKept) {
        const auto offset = static_cast<std::uint32_t>(all.edges.size());
        for (Edge e : one.edges) {
          for (auto& b : e.because) b += offset;
          const bool open_read = e.kind == EdgeKind::kWriteRead && e.reason == Reason::kGiven &&
                                 std::any_of(open.begin(), open.end(), [&](auto r) {
                                   return a.reads[d.reads[r]].op == e.to_op;
                                 });
          if (open_read) e.reason = Reason::kAssumed;
          all.edges.push_back(std::move(e));
        }
        Case one_case{one.cycle};
        for (auto& i : one_case.cycle) i += offset;
        all.cases.push_back(std::move(one_case));
      }
    }
  }

  const History& h_;
  const Time drift_;
  const ListChoices choices_;
  Accesses accesses_;  // for choices_; once collected_
  bool collected_ = false;
  bool has_unsure_compare_and_set_ = false;
};

Decider::Decider(const History& history, Time clock_drift_ns)
    : state_(std::make_unique<State>(history, clock_drift_ns)) {}
Decider::~Decider() = default;
std::optional<std::string> Decider::refusal(Level level) const { return state_->refusal(level); }
Decision Decider::decide(Level level, base::Budget& budget) { return state_->decide(level, budget); }

}  // namespace cupel::levels
