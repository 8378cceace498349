// Encoder: see the header.
#include "crdt/solve/encoder.hpp"

#include <algorithm>

namespace cupel::crdt {

namespace {

constexpr std::size_t kMostVariables = 60'000'000;

}  // namespace

Encoder::Encoder(const History& history, const Axioms& axioms, base::Budget& budget,
                 OpId probed_read, solver::ClauseSolver* shared)
    : history_(history),
      type_(replicated_type(history)),
      axioms_(axioms),
      budget_(budget),
      probed_read_(probed_read),
      own_solver_(shared == nullptr ? std::make_unique<solver::ClauseSolver>() : nullptr),
      solver_(shared == nullptr ? *own_solver_ : *shared),
      updates_wait_(type_.traits().sums && shared == nullptr),
      width_(history.replicas.size()) {
  true_ = solver_.new_variable();
  clause({true_});
  choose();
}

void Encoder::clause(const Clause& literals) {
  for (const Literal l : literals) {
    if (l == true_) {
      if (literals.size() > 1) return;
    }
  }
  solver_.add_clause(literals);
}

// The updates that some read depends on, and the operations that matter: those and the reads.
void Encoder::choose() {
  const TypeTraits& traits = type_.traits();
  claims_ = traits.membership ? claims_of(history_) : std::vector<Claim>{};
  std::vector<bool> has_reads(std::max(history_.keys.size(), history_.elements.size()), false);
  for (const Claim& claim : claims_) has_reads[claim.element] = true;
  for (const Operation& op : history_.ops) {
    if (op.kind == Kind::kValue || op.kind == Kind::kValues) has_reads[op.key] = true;
  }
  updates_.resize(width_);
  of_object_.resize(has_reads.size());
  place_.assign(history_.ops.size(), kNone);
  own_.assign(history_.ops.size(), 0);
  for (std::size_t j = 0; j < width_; ++j) {
    for (const OpId id : history_.by_replica[j]) {
      const Operation& op = history_.ops[id];
      own_[id] = static_cast<std::uint32_t>(updates_[j].size());
      if (is_read(op.kind)) {
        nodes_.push_back(id);
      } else if (traits.updates_use_elements || has_reads[type_.object(op)]) {
        place_[id] = own_[id];
        updates_[j].push_back(id);
        nodes_.push_back(id);
        of_object_[type_.object(op)].push_back(id);
      }
    }
  }
}

void Encoder::place_offsets() {
  offset_.assign(width_ * width_, 0);
  for (std::size_t i = 0; i < width_; ++i) {
    std::uint32_t at = 0;
    for (std::size_t j = 0; j < width_; ++j) {
      offset_[i * width_ + j] = at;
      if (i != j) at += static_cast<std::uint32_t>(updates_[j].size());
    }
  }
}

bool Encoder::make_variables() {
  std::size_t all = 0;
  for (const auto& u : updates_) all += u.size();
  total_updates_ = all;
  std::size_t count = 0;
  for (const OpId id : nodes_) count += all - updates_[history_.ops[id].replica].size();
  if (count > kMostVariables || budget_.would_exceed(count * 60)) return false;
  first_.assign(history_.ops.size(), 0);
  place_offsets();
  std::vector<OpId> last(width_, kNone);
  for (const OpId id : nodes_) {  // along each replica
    const auto i = history_.ops[id].replica;
    if (!make_variables_of(id, last[i])) return false;
    last[i] = id;
  }
  return true;
}

bool Encoder::make_variables_of(OpId id, OpId previous) {
  const auto i = history_.ops[id].replica;
  if (updates_wait_ && place_[id] != kNone) {
    first_[id] = previous == kNone ? 0 : first_[previous];  // 0: nothing seen
    return true;
  }
  for (std::size_t j = 0; j < width_; ++j) {
    if (j == i) continue;
    for (std::size_t k = 0; k < updates_[j].size(); ++k) {
      if (too_much()) return false;
      const Literal v = solver_.new_variable();
      if (k == 0 && first_[id] == 0) first_[id] = v;
      solver_.prefer(-v);
      if (k > 0) clause({-v, v - 1});
    }
  }
  if (previous == kNone || first_[previous] == 0) return true;
  for (std::uint32_t k = 0; first_[id] != 0 && k < total_updates_ - updates_[i].size(); ++k)
    clause({-(first_[previous] + static_cast<Literal>(k)), first_[id] + static_cast<Literal>(k)});
  return true;
}

Literal Encoder::at_least(OpId o, std::size_t j, std::uint32_t k) const {
  if (k == 0) return true_;
  const auto i = history_.ops[o].replica;
  if (i == j) return k <= own_[o] ? true_ : -true_;
  if (k > updates_[j].size() || first_[o] == 0) return -true_;
  return first_[o] + static_cast<Literal>(offset_[i * width_ + j] + k - 1);
}

Literal Encoder::seen(OpId o, OpId update) const {
  return update == o ? -true_ : at_least(o, history_.ops[update].replica, place_[update] + 1);
}

Literal Encoder::both(Literal a, Literal b) {
  if (a == true_) return b;
  if (b == true_) return a;
  if (a == -true_ || b == -true_) return -true_;
  const Literal v = solver_.new_variable();
  clause({-v, a});
  clause({-v, b});
  return v;
}

Literal Encoder::earlier(OpId a, OpId b) {
  const auto [it, fresh] = earlier_.try_emplace({std::min(a, b), std::max(a, b)}, 0);
  if (fresh) {
    it->second = solver_.new_variable();
    arcs_.push_back({{std::min(a, b), std::max(a, b), Why::kArbitrated}, it->second});
    arcs_.push_back({{std::max(a, b), std::min(a, b), Why::kArbitrated}, -it->second});
    const Literal first = seen(std::max(a, b), std::min(a, b)),
                  second = seen(std::min(a, b), std::max(a, b));
    clause({-first, it->second});
    clause({-second, -it->second});
  }
  return a < b ? it->second : -it->second;
}

}  // namespace cupel::crdt
