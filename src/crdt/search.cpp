// Search: executions by delivery, for sets, flags and counters (thesis, algorithms 3
// and 4), as a quick way to accept.
//
// As there, replicas advance an operation at a time, and what one has done is delivered
// to another. The thesis delivers the whole present state of a replica, which is why
// its search cannot find figures 2.5 and 2.6; here any single update is delivered, with
// what it had seen, and so every execution can be found. Not all are looked for: the
// operations run in the order of the file, a read that comes out wrong has updates of its
// object delivered one by one, the oldest that help first, and after a number of wrong
// turns the search gives up. It never rejects.
//
// Cost: for each operation that comes out wrong, the updates of its object that its replica
// has not seen.
#include <algorithm>

#include "crdt/decide.hpp"

namespace cupel::crdt {

namespace {

class Search {
 public:
  Search(const History& history, base::Budget& budget)
      : history_(history), budget_(budget), clocks_(history) {}

  std::optional<Decision> decide() {
    if (history_.type == Type::kGrowableArray || is_register(history_.type)) return std::nullopt;
    const std::size_t width = history_.replicas.size();
    now_.assign(width, std::vector<std::uint32_t>(width, 0));
    const std::size_t objects = std::max(history_.elements.size(), history_.keys.size());
    updates_.assign(objects, std::vector<std::vector<OpId>>(width));
    if (!(is_set(history_.type) || is_flag(history_.type))) {
      claims_of_op_.clear();
    } else {
      claims_ = claims_of(history_);
      claims_of_op_.assign(history_.ops.size(), {0, 0});
      for (std::uint32_t c = 0; c < claims_.size(); ++c) {
        auto& [begin, end] = claims_of_op_[claims_[c].op];
        if (end == 0) begin = c;
        end = c + 1;
      }
    }
    for (OpId id = 0; id < history_.ops.size(); ++id) {
      if (id % 64 == 0 && budget_.exceeded()) return std::nullopt;
      if (!run(id)) return std::nullopt;
    }
    Decision decision;
    decision.verdict = Verdict::kSatisfied;
    decision.decided_by = "search";
    auto order = linear_order(history_, clocks_, {});
    if (!order) return std::nullopt;
    decision.witness = Witness{std::move(clocks_), std::move(*order)};
    return decision;
  }

 private:
  [[nodiscard]] std::uint32_t object(const Operation& op) const {
    return is_set(history_.type) ? op.element : op.key;
  }

  bool run(OpId id) {
    const Operation& op = history_.ops[id];
    auto& row = now_[op.replica];
    if (is_read(op.kind)) {
      const bool well = op.kind == Kind::kValue ? reach_value(op) : reach_claims(id, op);
      if (!well) return false;
    }
    std::copy(row.begin(), row.end(), clocks_.row(id).begin());
    row[op.replica] = op.seq + 1;
    if (!is_read(op.kind)) updates_[object(op)][op.replica].push_back(id);
    return true;
  }

  void deliver(std::vector<std::uint32_t>& row, OpId update) {
    const auto past = clocks_.row(update);
    for (std::size_t j = 0; j < row.size(); ++j) row[j] = std::max(row[j], past[j]);
    auto& own = row[history_.ops[update].replica];
    own = std::max(own, history_.ops[update].seq + 1);
  }

  [[nodiscard]] std::size_t seen_of(const std::vector<OpId>& updates, std::uint32_t until) const {
    return static_cast<std::size_t>(
        std::partition_point(updates.begin(), updates.end(),
                             [&](OpId u) { return history_.ops[u].seq < until; }) -
        updates.begin());
  }

  // What the row has not seen of an object, oldest first.
  std::vector<OpId> unseen(const std::vector<std::uint32_t>& row, std::uint32_t of) const {
    std::vector<OpId> found;
    for (std::size_t j = 0; j < row.size(); ++j) {
      const auto& updates = updates_[of][j];
      found.insert(found.end(),
                   updates.begin() + static_cast<std::ptrdiff_t>(seen_of(updates, row[j])),
                   updates.end());
    }
    std::sort(found.begin(), found.end());
    return found;
  }

  [[nodiscard]] std::int64_t value(const std::vector<std::uint32_t>& row, std::uint32_t key) const {
    std::int64_t sum = 0;
    for (std::size_t j = 0; j < row.size(); ++j) {
      const auto& updates = updates_[key][j];
      const auto seen = seen_of(updates, row[j]);
      for (std::size_t u = 0; u < seen; ++u) sum += history_.ops[updates[u]].amount;
    }
    return sum;
  }

  // Deliveries, the oldest that come nearer first.
  bool reach_value(const Operation& op) {
    auto& row = now_[op.replica];
    std::int64_t sum = value(row, op.key);
    if (sum == op.amount) return true;
    const auto waiting = unseen(row, op.key);
    for (int pass = 0; pass < 2; ++pass) {  // the second takes what leads away, too
      for (const OpId u : waiting) {
        if (row[history_.ops[u].replica] > history_.ops[u].seq) continue;
        auto next = row;
        deliver(next, u);
        const auto then = value(next, op.key);
        const auto far = [&](std::int64_t s) {
          return s < op.amount ? op.amount - s : s - op.amount;
        };
        if (pass == 0 && far(then) >= far(sum)) continue;
        row = std::move(next);
        sum = then;
        if (sum == op.amount) return true;
      }
    }
    return false;
  }

  // Is the claim's object on, for a replica that has seen this?
  [[nodiscard]] bool holds(const std::vector<std::uint32_t>& row, std::uint32_t of) const {
    const Kind winner = up_wins(history_.type) ? Kind::kUp : Kind::kDown;
    bool any_up = false;
    for (std::size_t j = 0; j < row.size(); ++j) {
      const auto& updates = updates_[of][j];
      const auto seen = seen_of(updates, row[j]);
      for (std::size_t u = 0; u < seen && !any_up; ++u)
        any_up = history_.ops[updates[u]].kind == Kind::kUp;
      // Only the last of a replica can be maximal.
      if (seen == 0 || history_.ops[updates[seen - 1]].kind != winner) continue;
      const Operation& last = history_.ops[updates[seen - 1]];
      bool overwritten = false;
      for (std::size_t k = 0; k < row.size() && !overwritten; ++k) {
        const auto& others = updates_[of][k];
        for (std::size_t u = seen_of(others, row[k]); u-- > 0 && !overwritten;) {
          if (history_.ops[others[u]].kind == winner) continue;
          overwritten = clocks_.row(others[u])[j] > last.seq;
          break;  // the last of the other side has seen most
        }
      }
      if (!overwritten) return up_wins(history_.type);
    }
    return up_wins(history_.type) ? false : any_up;
  }

  bool reach_claims(OpId id, const Operation& op) {
    auto& row = now_[op.replica];
    const auto [begin, end] = claims_of_op_[id];
    std::size_t turns = 0;
    for (bool again = true; again;) {
      again = false;
      for (auto c = begin; c < end; ++c) {
        const Claim& claim = claims_[c];
        if (holds(row, claim.element) == claim.returned) continue;
        if (++turns > 3 * static_cast<std::size_t>(end - begin) + 8) return false;
        again = true;
        bool reached = false;
        auto next = row;
        for (const OpId u : unseen(row, claim.element)) {
          auto one = row;
          deliver(one, u);
          deliver(next, u);  // and with those before it, where one alone does not do
          if (holds(one, claim.element) == claim.returned) {
            row = std::move(one);
            reached = true;
            break;
          }
          if (holds(next, claim.element) == claim.returned) {
            row = next;
            reached = true;
            break;
          }
        }
        if (!reached) return false;
      }
    }
    return true;
  }

  const History& history_;
  base::Budget& budget_;
  Clocks clocks_;
  std::vector<std::vector<std::uint32_t>> now_;          // what each replica has seen
  std::vector<std::vector<std::vector<OpId>>> updates_;  // run so far, by object and replica
  std::vector<Claim> claims_;
  std::vector<std::pair<std::uint32_t, std::uint32_t>> claims_of_op_;
};

}  // namespace

std::optional<Decision> decide_search(const History& history, const Axioms&, base::Budget& budget) {
  return Search(history, budget).decide();
}

}  // namespace cupel::crdt
