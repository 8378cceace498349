// describe: see the header.
#include "engine/levels/describe.hpp"

#include <algorithm>
#include <numeric>

#include "base/graph/digraph.hpp"
#include "base/hash_table.hpp"
#include "data/history/times.hpp"
#include "engine/levels/hints.hpp"

namespace cupel::levels {

using history::SessionId;
using history::Time;
using history::TxnStatus;

namespace {

constexpr std::uint32_t kNone = std::numeric_limits<std::uint32_t>::max();

// Keys that some counting transaction writes; the others constrain nothing
// (every read of them is of the initial version).
std::vector<std::uint8_t> written_keys(const History& h, const Accesses& a) {
  std::vector<std::uint8_t> written(h.key_count(), 0);
  for (const auto& write : a.writes) written[write.key.index()] = 1;
  return written;
}

// Sessions as chains of the owners in `wanted` (by owner: its number or
// kNone); an indeterminate owner is a chain of its own, after its session's
// predecessor and before nothing.
template <typename LoneArc>
std::vector<std::vector<std::uint32_t>> make_chains(const History& h, const Accesses& a,
                                                    std::span<const Owner> owners,
                                                    const LoneArc& lone_arc) {
  std::vector<std::vector<std::uint32_t>> chains;
  std::vector<std::uint32_t> lone;
  SessionId session;
  std::uint32_t previous = kNone;
  for (std::uint32_t i = 0; i < owners.size(); ++i) {
    const TxnId txn = a.txns[owners[i]];
    if (h.session(txn) != session) {
      session = h.session(txn);
      previous = kNone;
    }
    if (h.status(txn) == TxnStatus::kIndeterminate) {
      lone.push_back(i);
      if (previous != kNone) lone_arc(previous, i);
      continue;
    }
    if (previous == kNone) chains.emplace_back();
    chains.back().push_back(i);
    previous = i;
  }
  for (const auto i : lone) chains.push_back({i});
  return chains;
}

// Real time through helper nodes on a time line: a helper for each run of
// completions that is followed by an invocation.
void add_real_time(const History& h, const Accesses& a, const LevelShape& shape, Time drift,
                   std::span<const Owner> owners, order::Problem& p) {
  struct Moment {
    Time time;
    bool completes;  // at equal times invocations come first: equal is not before
    std::uint32_t owner;
  };
  std::vector<Moment> moments;
  for (std::uint32_t i = 0; i < owners.size(); ++i) {
    const TxnId txn = a.txns[owners[i]];
    moments.push_back({history::earlier(h.invoke(txn), drift), false, i});
    if (h.status(txn) == TxnStatus::kCommitted)
      moments.push_back({history::later(h.complete(txn), drift), true, i});
  }
  std::sort(moments.begin(), moments.end(), [](const Moment& x, const Moment& y) {
    if (x.time != y.time) return x.time < y.time;
    if (x.completes != y.completes) return !x.completes;
    return x.owner < y.owner;
  });
  bool open = false;  // completions went to helper_count - 1 since the last invocation
  std::vector<std::uint32_t> pending;
  for (const Moment& m : moments) {
    if (m.completes) {
      pending.push_back(m.owner);
      open = true;
      continue;
    }
    if (open) {
      const std::uint32_t helper = p.helper_count++;
      for (const auto o : pending) {
        p.fixed.push_back({p.commit(o), p.helper(helper), order::FixedKind::kRealTime, 0, 0});
      }
      pending.clear();
      open = false;
    }
    if (p.helper_count == 0) continue;
    const auto target = shape.rt_commit_to_begin ? p.begin(m.owner) : p.commit(m.owner);
    p.fixed.push_back({p.helper(p.helper_count - 1), target, order::FixedKind::kRealTime, 0, 0});
  }
}

// Each key that is written with each session that uses it, for every `stride`-th owner; sorted.
using Use = std::pair<std::uint32_t, std::uint32_t>;
std::vector<Use> uses_of(const History& h, const Accesses& a,
                         const std::vector<std::uint8_t>& written, std::size_t stride) {
  std::vector<Use> uses;
  const auto sort = [&] {
    std::sort(uses.begin(), uses.end());
    uses.erase(std::unique(uses.begin(), uses.end()), uses.end());
  };
  for (std::size_t o = 0; o < a.txns.size(); o += stride) {
    const auto session = h.session(a.txns[o]).raw;
    const auto use = [&](KeyId key) {
      if (written[key.index()]) uses.emplace_back(key.raw, session);
    };
    for (auto i = a.write_first[o]; i < a.write_first[o + 1]; ++i) use(a.writes[i].key);
    for (auto i = a.read_first[o]; i < a.read_first[o + 1]; ++i) use(a.reads[i].key);
    if (uses.size() > (1u << 24)) sort();
  }
  sort();
  return uses;
}

// The biconnected components of the sessions that share keys.
auto components_of(const History& h, const std::vector<Use>& uses) {
  // The sessions of one key form a clique; a ring over them has the same
  // biconnected components and is linear.
  std::vector<graph::Arc> edges;
  for (std::size_t i = 0; i < uses.size();) {
    std::size_t j = i;
    while (j < uses.size() && uses[j].first == uses[i].first) ++j;
    for (std::size_t k = i; k + 1 < j; ++k) edges.push_back({uses[k].second, uses[k + 1].second});
    if (j - i > 2) edges.push_back({uses[i].second, uses[j - 1].second});
    i = j;
  }
  const auto key_of = [](const graph::Arc& e) {
    return (static_cast<std::uint64_t>(std::min(e.from, e.to)) << 32) | std::max(e.from, e.to);
  };
  std::sort(edges.begin(), edges.end(),
            [&](const auto& x, const auto& y) { return key_of(x) < key_of(y); });
  edges.erase(std::unique(edges.begin(), edges.end(),
                          [&](const auto& x, const auto& y) { return key_of(x) == key_of(y); }),
              edges.end());
  return graph::biconnected_components(h.session_count(), edges);
}

}  // namespace

Part whole(const Accesses& a) {
  Part part;
  part.owners.resize(a.txns.size());
  std::iota(part.owners.begin(), part.owners.end(), 0);
  part.all_keys = true;
  return part;
}

std::vector<Part> split_into_parts(const History& h, const Accesses& a, bool biconnected) {
  const auto written = written_keys(h, a);
  // Mostly a few of the owners already show that the sessions hang together. Odd strides: owners
  // that take turns by session would else show few sessions.
  for (const std::size_t stride : {63, 7}) {
    if (a.txns.size() < (stride == 7 ? 10 : 1000) * stride) continue;
    const auto some = components_of(h, uses_of(h, a, written, stride));
    if (some.size() == 1 && some.front().size() == h.session_count()) return {whole(a)};
  }
  const auto uses = uses_of(h, a, written, 1);
  auto components = components_of(h, uses);
  // The theorem needs every session to be one sequence, and an indeterminate
  // transaction is not ordered before what follows it.
  const bool sequences = std::none_of(a.txns.begin(), a.txns.end(), [&](TxnId t) {
    return h.status(t) == TxnStatus::kIndeterminate;
  });
  if (!biconnected || !sequences) {
    // Merge components that share a session.
    std::vector<std::uint32_t> parent(h.session_count());
    std::iota(parent.begin(), parent.end(), 0);
    const auto find = [&](std::uint32_t s) {
      while (parent[s] != s) s = parent[s] = parent[parent[s]];
      return s;
    };
    for (const auto& c : components) {
      for (const auto s : c) parent[find(s)] = find(c.front());
    }
    std::vector<std::vector<std::uint32_t>> merged(h.session_count());
    for (std::uint32_t s = 0; s < h.session_count(); ++s) merged[find(s)].push_back(s);
    std::erase_if(merged, [](const auto& c) { return c.empty(); });
    components = std::move(merged);
  }
  if (components.size() < 2) return {whole(a)};

  std::vector<std::vector<std::uint32_t>> of_session(h.session_count());
  for (std::uint32_t c = 0; c < components.size(); ++c) {
    for (const auto s : components[c]) of_session[s].push_back(c);
  }
  std::vector<Part> parts(components.size());
  for (std::size_t i = 0; i < uses.size();) {
    std::size_t j = i;
    while (j < uses.size() && uses[j].first == uses[i].first) ++j;
    // The component that holds all sessions of the key: two of them decide.
    std::uint32_t home = of_session[uses[i].second].front();
    if (j - i > 1) {
      for (const auto c : of_session[uses[i].second]) {
        if (std::binary_search(components[c].begin(), components[c].end(), uses[i + 1].second))
          home = c;
      }
    }
    parts[home].keys.push_back(KeyId(uses[i].first));
    i = j;
  }
  for (Owner o = 0; o < a.txns.size(); ++o) {
    for (const auto c : of_session[h.session(a.txns[o]).index()]) parts[c].owners.push_back(o);
  }
  std::erase_if(parts, [](const Part& p) { return p.owners.empty() || p.keys.empty(); });
  if (parts.empty()) parts.push_back(whole(a));
  return parts;
}

std::vector<Part> split_by_key(const History& h, const Accesses& a) {
  std::vector<std::pair<std::uint32_t, Owner>> uses;
  for (Owner o = 0; o < a.txns.size(); ++o) {
    const auto first = h.first_op(a.txns[o]);
    if (first != h.last_op(a.txns[o])) uses.emplace_back(h.op(OpId(first)).key.raw, o);
  }
  std::sort(uses.begin(), uses.end());
  uses.erase(std::unique(uses.begin(), uses.end()), uses.end());
  std::vector<Part> parts;
  for (const auto& [key, owner] : uses) {
    if (parts.empty() || parts.back().keys.front().raw != key)
      parts.push_back({{}, {KeyId(key)}, false});
    parts.back().owners.push_back(owner);
  }
  return parts;
}

LevelShape shape_of(Level level) {
  const LevelSpec& spec = spec_of(level);
  if (spec.visibility != Visibility::kNone) return {};
  return {.split = spec.nodes == Nodes::kBeginsAndCommits,
          .write_to_begin = spec.writers_exclude,
          .optional_session_order = !spec.session_order,
          .rt_commit_to_begin = spec.real_time == RealTime::kCommitBeforeBegin,
          .rt_commit_to_commit = spec.real_time == RealTime::kCommitBeforeCommit};
}

namespace {

// Numbers keys and owners of a part as the engine wants them, from 0 on.
class PartNumbers {
 public:
  PartNumbers(const History& h, const Accesses& a, const Part& part)
      : all_keys_(part.all_keys), all_owners_(part.owners.size() == a.txns.size()) {
    number_keys(h, a, part);
    if (all_owners_) return;
    for (std::uint32_t i = 0; i < part.owners.size(); ++i) {
      number_in_part_.emplace(part.owners[i], i);
    }
  }

  // By the problem's object.
  [[nodiscard]] const std::vector<KeyId>& keys() const { return keys_; }
  // kNone: it is not of the part, or constrains nothing.
  [[nodiscard]] std::uint32_t object(KeyId key) const {
    if (all_keys_) return object_of_[key.index()];
    const auto it = object_in_part_.find(key);
    return it == object_in_part_.end() ? kNone : it->second;
  }
  // kNone: it is not of the part.
  [[nodiscard]] std::uint32_t owner(Owner o) const {
    if (all_owners_ || o == kInitialOwner) return o;
    const auto it = number_in_part_.find(o);
    return it == number_in_part_.end() ? kNone : it->second;
  }

 private:
  void number_keys(const History& h, const Accesses& a, const Part& part) {
    if (!all_keys_) {
      keys_ = part.keys;
      for (std::uint32_t i = 0; i < keys_.size(); ++i) object_in_part_.emplace(keys_[i], i);
      return;
    }
    object_of_.assign(h.key_count(), kNone);
    const auto written = written_keys(h, a);
    for (std::uint32_t k = 0; k < h.key_count(); ++k) {
      if (!written[k]) continue;
      object_of_[k] = static_cast<std::uint32_t>(keys_.size());
      keys_.push_back(KeyId(k));
    }
  }

  bool all_keys_, all_owners_;
  std::vector<KeyId> keys_;
  std::vector<std::uint32_t> object_of_;  // by key, if the part has all keys
  base::HashMap<KeyId, std::uint32_t> object_in_part_;
  base::HashMap<Owner, std::uint32_t> number_in_part_;
};

// The candidates of the problem's reads. Reads that share a list go on sharing it.
class CandidateLists {
 public:
  struct List {
    std::uint32_t first, last;
    bool inside;  // of the part: every candidate is
  };

  CandidateLists(const Accesses& a, const PartNumbers& numbers, order::Problem& problem)
      : a_(a), numbers_(numbers), p_(problem) {}

  List of(const ExternalRead& read) {
    if (read.joint_last - read.joint_first < 2) return copy(read);
    const auto range = (static_cast<std::uint64_t>(read.joint_first) << 32) | read.joint_last;
    const auto known = shared_.find(range);
    return known != shared_.end() ? known->second
                                  : shared_.emplace(range, copy(read)).first->second;
  }

 private:
  List copy(const ExternalRead& read) {
    List list{static_cast<std::uint32_t>(p_.candidates.size()), 0, true};
    for (auto c = read.joint_first; c < read.joint_last && list.inside; ++c) {
      const Owner writer = a_.candidates[c];
      p_.candidates.push_back(writer == kInitialOwner ? order::kInitial : numbers_.owner(writer));
      list.inside = writer == kInitialOwner || p_.candidates.back() != kNone;
    }
    if (!list.inside) p_.candidates.resize(list.first);
    list.last = static_cast<std::uint32_t>(p_.candidates.size());
    return list;
  }

  const Accesses& a_;
  const PartNumbers& numbers_;
  order::Problem& p_;
  base::HashMap<std::uint64_t, List> shared_;
};

// What each owner of the part writes and reads. False: the budget ended.
bool add_accesses(const Accesses& a, const Part& part, const PartNumbers& numbers,
                  base::Budget& budget, Described& d) {
  order::Problem& p = d.problem;
  CandidateLists lists(a, numbers, p);
  p.write_first.reserve(part.owners.size() + 1);
  for (std::uint32_t i = 0; i < part.owners.size(); ++i) {
    if ((i & 0x3f) == 0 && budget.exceeded()) return false;
    const Owner o = part.owners[i];
    for (auto w = a.write_first[o]; w < a.write_first[o + 1]; ++w) {
      const auto x = numbers.object(a.writes[w].key);
      if (x != kNone) p.write_object.push_back(x);
    }
    p.write_first.push_back(static_cast<std::uint32_t>(p.write_object.size()));
    for (auto r = a.read_first[o]; r < a.read_first[o + 1]; ++r) {
      const ExternalRead& read = a.reads[r];
      const auto x = numbers.object(read.key);
      if (x == kNone || read.repeated) continue;
      const auto list = lists.of(read);
      if (!list.inside) continue;
      p.reads.push_back({i, x, list.first, list.last});
      d.reads.push_back(r);
    }
  }
  return true;
}

void add_hints(const History& h, const Accesses& a, const Part& part, order::Problem& p) {
  const Hints hints(h, a.labels_mix_sessions);
  for (const Owner owner : part.owners) {
    p.hint.push_back(hints.begin(a.txns[owner]));
    p.commit_hint.push_back(hints.commit(a.txns[owner]));
  }
}

}  // namespace

Described describe_order(const History& h, const Accesses& a, const Part& part,
                         const LevelShape& shape, Time drift, base::Budget& budget) {
  Described d;
  order::Problem& p = d.problem;
  p.split = shape.split;
  p.write_to_begin = shape.write_to_begin;
  p.optional_session_order = shape.optional_session_order;
  d.owners = part.owners;
  p.owner_count = static_cast<order::Owner>(part.owners.size());
  const PartNumbers numbers(h, a, part);
  d.keys = numbers.keys();
  p.object_count = static_cast<order::Object>(d.keys.size());
  if (!add_accesses(a, part, numbers, budget, d)) return d;
  p.chains = make_chains(h, a, part.owners, [&](std::uint32_t before, std::uint32_t lone) {
    if (!shape.optional_session_order) {
      p.fixed.push_back({p.commit(before), p.begin(lone), order::FixedKind::kSession, 0, 0});
    }
  });
  for (const ListOrder& list : a.list_order) {
    const auto x = numbers.object(list.key);
    if (x == kNone) continue;
    const auto from = numbers.owner(list.from), to = numbers.owner(list.to);
    p.fixed.push_back(
        {p.commit(from), p.write_target(to), order::FixedKind::kListOrder, x, list.witness.raw});
  }
  if (shape.rt_commit_to_begin || shape.rt_commit_to_commit) {
    add_real_time(h, a, shape, drift, part.owners, p);
  }
  add_hints(h, a, part, p);
  return d;
}

DescribedVisibility describe_visibility(const History& h, const Accesses& a, bool every_read) {
  DescribedVisibility d;
  auto& p = d.problem;
  const auto written = written_keys(h, a);
  std::vector<std::uint32_t> object_of(h.key_count(), kNone);
  for (std::uint32_t k = 0; k < h.key_count(); ++k) {
    if (!written[k]) continue;
    object_of[k] = static_cast<std::uint32_t>(d.keys.size());
    d.keys.push_back(KeyId(k));
  }
  d.owners = whole(a).owners;
  p.owner_count = static_cast<order::Owner>(a.txns.size());
  p.object_count = static_cast<order::Object>(d.keys.size());
  for (Owner o = 0; o < a.txns.size(); ++o) {
    for (auto w = a.write_first[o]; w < a.write_first[o + 1]; ++w) {
      p.write_object.push_back(object_of[a.writes[w].key.index()]);
    }
    p.write_first.push_back(static_cast<std::uint32_t>(p.write_object.size()));
    for (auto r = a.read_first[o]; r < a.read_first[o + 1]; ++r) {
      const ExternalRead& read = a.reads[r];
      if (object_of[read.key.index()] == kNone || (read.repeated && !every_read)) continue;
      p.reads.push_back({o, object_of[read.key.index()], read.op.raw});
      d.reads.push_back(r);
    }
    p.read_first.push_back(static_cast<std::uint32_t>(p.reads.size()));
  }
  p.chains = make_chains(h, a, d.owners, [&](std::uint32_t before, std::uint32_t lone) {
    p.fixed.push_back({before, lone, order::FixedKind::kSession, 0, 0});
  });
  for (const ListOrder& list : a.list_order) {
    p.fixed.push_back({list.from, list.to, order::FixedKind::kListOrder,
                       object_of[list.key.index()], list.witness.raw});
  }
  return d;
}

}  // namespace cupel::levels
