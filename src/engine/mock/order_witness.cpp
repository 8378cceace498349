// The witness: where the open transaction fits into it, and how the engine orders it again.
#include "engine/mock/order_admissibility.hpp"
#include "engine/order/problem.hpp"

namespace cupel::mock {

bool OrderAdmissibility::make_room() {
  if (find_insertion()) return true;
  // The witness gets in the way from the first event on that overwrites what was read.
  std::size_t from = witness_.size();
  for (const Access& read : known_[txn_].reads) {
    const Txn w = versions_[read.version].writer;
    const auto& order = keys_[read.key].in_witness;
    const auto next = w == kInitial ? order.begin() : std::find(order.begin(), order.end(), w) + 1;
    if (next != order.end()) from = std::min<std::size_t>(from, at_[commit_of(*next)]);
  }
  return schedule(from) || search(from);
}

// Exactly, but of more and more of the witness, as far as effort() goes.
bool OrderAdmissibility::search(std::size_t from) {
  constexpr std::size_t kLeast = 128;
  for (std::size_t redone = std::max(2 * (witness_.size() - from), kLeast);; redone *= 4) {
    const bool all = redone >= witness_.size();
    if (std::min(redone, witness_.size()) > effort()) return false;
    // Of a part, a "no" proves nothing about the whole.
    if (ask_engine(all ? 0 : witness_.size() - redone,
                   all ? std::numeric_limits<std::uint64_t>::max() : 64))
      return true;
    if (all) return false;
  }
}

OrderAdmissibility::BeginRange OrderAdmissibility::begin_range() {
  const TxnState& open = known_[txn_];
  BeginRange found{0, witness_.size()};
  if (open.index > 0) found.low = at_[commit_of(sessions_[open.session].back())] + 1;
  if (!begin_ranges_.empty()) found = begin_ranges_.back();
  for (std::size_t i = begin_ranges_.size(); i < open.reads.size(); ++i) {
    const Access& read = open.reads[i];
    const Txn w = versions_[read.version].writer;
    const auto& order = keys_[read.key].in_witness;
    const std::size_t after = w == kInitial ? 0 : at_[commit_of(w)] + 1;
    found.low = std::max(found.low, after);
    const auto next = in_witness_after(order, after);
    if (next != order.end()) {
      found.high = std::min<std::size_t>(found.high, at_[commit_of(*next)]);
    }
    begin_ranges_.push_back(found);
  }
  return found;
}

OrderAdmissibility::CommitRange OrderAdmissibility::narrowed(const CommitRange& before,
                                                             const Access& write,
                                                             std::size_t place) {
  CommitRange found = before;
  const auto& order = keys_[write.key].in_witness;
  const auto next = in_witness_after(order, place);
  Version current = keys_[write.key].initial;
  if (next != order.begin()) {
    current = version(write.key, *(next - 1));
    found.change = std::max<std::size_t>(found.change, at_[commit_of(*(next - 1))]);
    found.initial_only = false;
  }
  for (const LastReader& r : versions_[current].readers) {
    if (r.txn != txn_) {
      found.earliest = std::max<std::size_t>(found.earliest, at_[begin_of(r.txn)] + 1);
    }
  }
  if (first_wins_ && next != order.end()) {
    const std::size_t other = at_[begin_of(*next)];
    if (other < place) found.jump = std::min(found.jump, other);
    found.latest = std::min(found.latest, other);
  }
  return found;
}

OrderAdmissibility::CommitRange OrderAdmissibility::commit_range(std::size_t place) {
  const auto& writes = known_[txn_].writes;
  CommitRange found;
  found.earliest = place;
  found.latest = witness_.size();
  auto known = commit_ranges_.find(place);
  if (known == commit_ranges_.end() && commit_ranges_.size() < kMostRanges) {
    known = commit_ranges_.emplace(place, std::vector<CommitRange>()).first;
  }
  if (known == commit_ranges_.end()) {
    for (const Access& write : writes) found = narrowed(found, write, place);
    return found;
  }
  if (!known->second.empty()) found = known->second.back();
  for (std::size_t i = known->second.size(); i < writes.size(); ++i) {
    found = narrowed(found, writes[i], place);
    known->second.push_back(found);
  }
  return found;
}

// A place for the open transaction with the witness as it is; the latest begin.
std::optional<OrderAdmissibility::Insertion> OrderAdmissibility::find_insertion() {
  const auto [low, high] = begin_range();
  if (low > high) return std::nullopt;
  if (split_ && !first_wins_)
    return Insertion{high, witness_.size()};  // a late commit contradicts nothing
  // Down from the latest place, to the next at which something is different.
  std::size_t place = high;
  for (;;) {
    auto [earliest, latest, jump, change, initial_only] = commit_range(place);
    if (jump == kNone) {
      if (!split_ ? earliest == place : earliest <= latest) return Insertion{place, earliest};
      if (initial_only) return std::nullopt;
      jump = change;
    }
    if (jump < low) return std::nullopt;
    place = jump;
  }
}

// The question about the witness from this place on, to the engine: what comes before stays.
// A transaction that began there and commits later has begun, with its reads after it. From 0
// on the answer is exact; else a "no" means that the rest alone cannot be ordered.
bool OrderAdmissibility::ask_engine(std::size_t from, std::uint64_t proposals) {
  const auto later = [&](Event e) { return e / 2 == txn_ || at_[e] >= from; };
  const auto begun = [&](Txn t) { return !later(begin_of(t)); };
  order::Problem p;
  p.split = split_;
  p.write_to_begin = first_wins_;
  p.without_proof = true;
  p.max_proposals = proposals;
  std::vector<Txn> txns;
  std::vector<order::Owner> owner(known_.size(), order::kInitial);
  for (Session s = 0; s < sessions_.size(); ++s) {
    std::vector<order::Owner> chain;
    const auto add_txn = [&](Txn t) {
      owner[t] = static_cast<order::Owner>(txns.size());
      chain.push_back(owner[t]);
      txns.push_back(t);
    };
    const auto& all = sessions_[s];
    for (auto t = std::partition_point(all.begin(), all.end(),
                                       [&](Txn x) { return !later(commit_of(x)); });
         t != all.end(); ++t) {
      add_txn(*t);
    }
    if (s == known_[txn_].session) add_txn(txn_);
    if (!chain.empty()) p.chains.push_back(std::move(chain));
  }
  p.owner_count = static_cast<order::Owner>(txns.size());
  p.object_count = static_cast<order::Object>(keys_.size());
  const auto node = [&](Event e) {
    const auto o = owner[e / 2];
    return split_ && (e & 1) != 0 ? p.commit(o) : p.begin(o);
  };
  for (const Txn t : txns) {
    std::vector<Key> written;
    for (const Access& w : known_[t].writes) written.push_back(w.key);
    std::sort(written.begin(), written.end());
    p.write_object.insert(p.write_object.end(), written.begin(), written.end());
    p.write_first.push_back(static_cast<std::uint32_t>(p.write_object.size()));
    // Later is better near the end of the old witness.
    p.hint.push_back(t == txn_ ? witness_.size() : at_[begin_of(t)]);
    for (const Event e : {begin_of(t), commit_of(t)}) {
      for (const Event next : out_[e]) {
        if (!later(next)) {
          if (later(e)) return false;
        } else if (next / 2 != t) {
          p.fixed.push_back({node(e), node(next), order::FixedKind::kSession, 0, 0});
        }
      }
      if (!split_) break;
    }
    if (begun(t)) {
      for (const auto& chain : p.chains) {
        if (!begun(txns[chain.front()])) {
          p.fixed.push_back(
              {p.begin(owner[t]), p.begin(chain.front()), order::FixedKind::kSession, 0, 0});
        }
      }
      continue;
    }
    for (const Access& read : known_[t].reads) {
      Txn w = versions_[read.version].writer;
      if (w != kInitial && !later(commit_of(w))) {
        // Of those before, only what is current there can still be read.
        const auto& order = keys_[read.key].in_witness;
        const auto next = std::partition_point(order.begin(), order.end(),
                                               [&](Txn x) { return !later(commit_of(x)); });
        if (*(next - 1) != w) return false;
        w = kInitial;
      } else if (w == kInitial && !keys_[read.key].in_witness.empty() &&
                 !later(commit_of(keys_[read.key].in_witness.front()))) {
        return false;
      }
      const auto first = static_cast<std::uint32_t>(p.candidates.size());
      p.candidates.push_back(w == kInitial ? order::kInitial : owner[w]);
      p.reads.push_back({owner[t], read.key, first, first + 1});
    }
  }
  base::Budget budget;
  const auto outcome = order::decide(p, budget);
  if (outcome.solvability != order::Solvability::kYes) return false;
  std::vector<Event> order(witness_.begin(), witness_.begin() + static_cast<std::ptrdiff_t>(from));
  for (const auto at : outcome.order) {
    if (p.is_helper(at)) continue;
    const Txn t = txns[p.owner_of(at)];
    const Event e = split_ && at % 2 == 1 ? commit_of(t) : begin_of(t);
    if (later(e)) order.push_back(e);
  }
  set_witness(order);
  [[maybe_unused]] const bool fits = find_insertion().has_value();
  assert(fits && "the engine's order has a place for the open transaction");
  return true;
}

// Everything but the open transaction's events, in this order.
void OrderAdmissibility::set_witness(const std::vector<Event>& order) {
  forget_ranges();
  witness_.clear();
  for (const Event e : order) {
    if (e / 2 != txn_) witness_.push_back(e);
  }
  for (std::size_t i = 0; i < witness_.size(); ++i) at_[witness_[i]] = static_cast<Position>(i);
  const auto earlier = [&](Txn x, Txn y) { return at_[commit_of(x)] < at_[commit_of(y)]; };
  for (KeyFacts& k : keys_) {
    if (!std::is_sorted(k.in_witness.begin(), k.in_witness.end(), earlier)) {
      std::sort(k.in_witness.begin(), k.in_witness.end(), earlier);
    }
  }
}

}  // namespace cupel::mock
