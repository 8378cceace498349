// SubProblem: see sub_problem.hpp. Everything keeps its relative order.
#include "engine/order/sub_problem.hpp"

#include <algorithm>
#include <limits>

#include "base/offsets.hpp"
#include "engine/order/proof.hpp"

namespace cupel::order {

namespace {

template <typename T>
void make_set(std::vector<T>& values) {
  std::sort(values.begin(), values.end());
  values.erase(std::unique(values.begin(), values.end()), values.end());
}

template <typename T>
std::uint32_t index_in(const std::vector<T>& sorted, T value) {
  return static_cast<std::uint32_t>(std::lower_bound(sorted.begin(), sorted.end(), value) -
                                    sorted.begin());
}

}  // namespace

OwnerTables::OwnerTables(const Problem& problem)
    : read_first(base::offsets_by(problem.owner_count, problem.reads,
                                  [](const Read& read) { return read.owner; })),
      fixed_first(problem.owner_count + 1, 0) {
  const auto each_end = [&](const auto& visit) {
    for (std::uint32_t i = 0; i < problem.fixed.size(); ++i) {
      for (const Node v : {problem.fixed[i].from, problem.fixed[i].to}) {
        if (!problem.is_helper(v)) visit(problem.owner_of(v), i);
      }
    }
  };
  each_end([&](Owner o, std::uint32_t) { ++fixed_first[o + 1]; });
  base::counts_to_offsets(fixed_first);
  fixed.resize(fixed_first.back());
  auto next = fixed_first;
  each_end([&](Owner o, std::uint32_t i) { fixed[next[o]++] = i; });
}

SubProblem::SubProblem(const Problem& whole, const OwnerTables& tables, std::vector<Owner> owners,
                       Chains chains)
    : whole_(whole), owners_(std::move(owners)) {
  for (Owner i = 0; i < owners_.size(); ++i) number_.emplace(owners_[i], i);
  sub_.split = whole.split;
  sub_.write_to_begin = whole.write_to_begin;
  sub_.whole_proofs = whole.whole_proofs;
  sub_.max_proposals = whole.max_proposals;
  sub_.nearby_from = std::numeric_limits<Owner>::max();
  sub_.owner_count = static_cast<Owner>(owners_.size());
  number_objects(tables);
  add_chains(chains);
  add_owners(tables);
  add_fixed_arcs(tables);
}

void SubProblem::number_objects(const OwnerTables& tables) {
  for (const Owner o : owners_) {
    objects_.insert(objects_.end(), whole_.write_object.begin() + whole_.write_first[o],
                    whole_.write_object.begin() + whole_.write_first[o + 1]);
    for (auto r = tables.read_first[o]; r < tables.read_first[o + 1]; ++r)
      objects_.push_back(whole_.reads[r].object);
  }
  make_set(objects_);
  sub_.object_count = static_cast<Object>(objects_.size());
}

void SubProblem::add_chains(Chains chains) {
  if (chains == Chains::kNone || whole_.optional_session_order) {
    for (Owner i = 0; i < owners_.size(); ++i) sub_.chains.push_back({i});
    return;
  }
  for (const auto& chain : whole_.chains) {
    std::vector<Owner> here;
    for (const Owner o : chain) {
      if (const auto it = number_.find(o); it != number_.end()) here.push_back(it->second);
    }
    if (!here.empty()) sub_.chains.push_back(std::move(here));
  }
}

void SubProblem::add_owners(const OwnerTables& tables) {
  for (Owner i = 0; i < owners_.size(); ++i) {
    const Owner o = owners_[i];
    sub_.hint.push_back(whole_.hint[o]);
    if (!whole_.commit_hint.empty()) sub_.commit_hint.push_back(whole_.commit_hint[o]);
    for (auto w = whole_.write_first[o]; w < whole_.write_first[o + 1]; ++w) {
      sub_.write_object.push_back(object(whole_.write_object[w]));
    }
    sub_.write_first.push_back(static_cast<std::uint32_t>(sub_.write_object.size()));
    for (auto r = tables.read_first[o]; r < tables.read_first[o + 1]; ++r) add_read(i, r);
  }
}

// Only with all its candidates.
void SubProblem::add_read(Owner i, std::uint32_t r) {
  const Read& read = whole_.reads[r];
  const auto first = whole_.candidates.begin() + read.first_candidate;
  const auto last = whole_.candidates.begin() + read.last_candidate;
  if (!std::all_of(first, last, [&](Owner w) { return w == kInitial || number_.contains(w); }))
    return;
  const auto first_candidate = static_cast<std::uint32_t>(sub_.candidates.size());
  for (auto it = first; it != last; ++it)
    sub_.candidates.push_back(*it == kInitial ? kInitial : number_.at(*it));
  sub_.reads.push_back({i, object(read.object), first_candidate,
                        static_cast<std::uint32_t>(sub_.candidates.size())});
  reads_.push_back(r);
}

void SubProblem::add_fixed_arcs(const OwnerTables& tables) {
  std::vector<std::uint32_t> fixed;
  for (const Owner o : owners_) {
    fixed.insert(fixed.end(), tables.fixed.begin() + tables.fixed_first[o],
                 tables.fixed.begin() + tables.fixed_first[o + 1]);
  }
  make_set(fixed);
  for (const auto i : fixed) {
    for (const Node v : {whole_.fixed[i].from, whole_.fixed[i].to}) {
      if (whole_.is_helper(v)) helpers_.push_back(v);
    }
  }
  make_set(helpers_);
  sub_.helper_count = static_cast<std::uint32_t>(helpers_.size());
  for (const auto i : fixed) {
    const FixedArc& arc = whole_.fixed[i];
    if (!contains(arc.from) || !contains(arc.to)) continue;
    sub_.fixed.push_back({node(arc.from), node(arc.to), arc.kind,
                          arc.kind == FixedKind::kListOrder ? object(arc.object) : 0, arc.witness});
  }
}

Object SubProblem::object(Object x) const {
  return index_in(objects_, x);
}

bool SubProblem::contains(Node v) const {
  return whole_.is_helper(v) || number_.contains(whole_.owner_of(v));
}

Node SubProblem::node(Node v) const {
  if (whole_.is_helper(v)) return sub_.helper(index_in(helpers_, v));
  const Owner o = number_.at(whole_.owner_of(v));
  return v == whole_.begin(whole_.owner_of(v)) ? sub_.begin(o) : sub_.commit(o);
}

Node SubProblem::whole(Node v) const {
  const Owner o = owners_[sub_.owner_of(v)];
  return v == sub_.begin(sub_.owner_of(v)) ? whole_.begin(o) : whole_.commit(o);
}

void SubProblem::translate(Proof& proof) const {
  const auto translate_owner = [&](Owner& o) {
    if (o < owners_.size()) o = owners_[o];
  };
  for (ProofArc& arc : proof.arcs) {
    arc.from = whole(arc.from);
    arc.to = whole(arc.to);
    if (arc.kind == ArcKind::kListOrder) {
      arc.read_or_object = objects_[arc.read_or_object];
      continue;  // `other` is the caller's
    }
    if (names_read(arc.kind)) {
      arc.read_or_object = reads_[arc.read_or_object];
    } else if (arc.read_or_object < objects_.size()) {
      arc.read_or_object = objects_[arc.read_or_object];
    }
    translate_owner(arc.other);
    translate_owner(arc.seen);
    for (Exclusion& exclusion : arc.excluded) translate_owner(exclusion.candidate);
  }
}

}  // namespace cupel::order
