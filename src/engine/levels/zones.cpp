// decide_by_zones: see the header.
#include "engine/levels/zones.hpp"

#include <algorithm>
#include <limits>
#include <optional>

#include "base/hash_table.hpp"
#include "base/offsets.hpp"
#include "data/history/times.hpp"

namespace cupel::levels {

using history::OpId;
using history::OpKind;
using history::Time;
using history::TxnStatus;

namespace {

constexpr std::uint32_t kNone = std::numeric_limits<std::uint32_t>::max();
constexpr Time kForever = std::numeric_limits<Time>::max();
constexpr Time kAlways = std::numeric_limits<Time>::min();

// Members are numbered as in the part. A version is the number of its writer plus
// one, and 0 for the initial one.
class Zones {
 public:
  Zones(const History& h, const Accesses& a, const Part& part, Time drift)
      : h_(h), a_(a), owners_(part.owners), drift_(drift) {}

  ZonesResult decide() {
    if (!collect() || !link() || !order_chains() || !write_order()) return std::move(result_);
    result_.kind = ZonesResult::Kind::kLinearizable;
    return std::move(result_);
  }

 private:
  // Who completed first and who was invoked last, of a set of members; the initial
  // version was there always.
  struct Bounds {
    Time completed = kForever, invoked = kAlways;
    std::uint32_t first = kNone, last = kNone;  // whose times these are

    void add(const Bounds& other) {
      if (other.completed < completed) completed = other.completed, first = other.first;
      if (other.invoked > invoked) invoked = other.invoked, last = other.last;
    }
  };

  [[nodiscard]] Time invoked(std::uint32_t member) const {
    return history::earlier(h_.invoke(a_.txns[owners_[member]]), drift_);
  }
  [[nodiscard]] bool certain(std::uint32_t member) const {
    return h_.status(a_.txns[owners_[member]]) == TxnStatus::kCommitted;
  }
  [[nodiscard]] Time completed(std::uint32_t member) const {
    return certain(member) ? history::later(h_.complete(a_.txns[owners_[member]]), drift_)
                           : kForever;
  }
  // An indeterminate one that took effect saw what it expected, which accesses do not say.
  [[nodiscard]] bool compares(std::uint32_t member) const {
    const TxnId txn = a_.txns[owners_[member]];
    for (auto i = h_.first_op(txn); i < h_.last_op(txn); ++i) {
      if (h_.op(OpId(i)).kind == OpKind::kCompareAndSet) return true;
    }
    return false;
  }
  [[nodiscard]] std::uint32_t member_of(Owner owner) const {
    if (owners_.size() == a_.txns.size()) return owner;
    const auto found = std::lower_bound(owners_.begin(), owners_.end(), owner);
    return found != owners_.end() && *found == owner
               ? static_cast<std::uint32_t>(found - owners_.begin())
               : kNone;
  }

  // What each member sees and writes, and the bounds of each version.
  bool collect() {
    const auto n = static_cast<std::uint32_t>(owners_.size());
    seen_.assign(n, kNone);
    writes_.assign(n, 0);
    bounds_.assign(n + 1, {});
    next_.assign(n + 1, kNone);
    bounds_[0].completed = kAlways;
    for (std::uint32_t m = 0; m < n; ++m) {
      const Owner o = owners_[m];
      const auto written = a_.write_first[o + 1] - a_.write_first[o];
      if (written > 1) return false;
      if (written == 1) {
        if (h_.op(a_.writes[a_.write_first[o]].op).kind == OpKind::kAppend) return false;
        writes_[m] = 1;
      }
      for (auto r = a_.read_first[o]; r < a_.read_first[o + 1]; ++r) {
        const ExternalRead& read = a_.reads[r];
        if (read.repeated) continue;
        if (seen_[m] != kNone || read.joint_last - read.joint_first != 1) return false;
        const Owner writer = a_.candidates[read.joint_first];
        const auto member = writer == kInitialOwner ? 0 : member_of(writer);
        if (member == kNone) return false;
        seen_[m] = writer == kInitialOwner ? 0 : member + 1;
      }
      if (!certain(m) && (seen_[m] != kNone || !writes_[m] || compares(m))) return false;
      if (!writes_[m] && seen_[m] == kNone) return false;
      bounds_[writes_[m] ? m + 1 : seen_[m]].add({completed(m), invoked(m), m, m});
    }
    return true;
  }

  // Compare-and-sets tie versions together. Two that saw the same version are a
  // contradiction, whatever the times.
  bool link() {
    for (std::uint32_t m = 0; m < owners_.size(); ++m) {
      if (!writes_[m] || seen_[m] == kNone) continue;
      if (next_[seen_[m]] != kNone) {
        accuse({m, next_[seen_[m]] - 1}, seen_[m], seen_[m]);
        return false;
      }
      next_[seen_[m]] = m + 1;
    }
    return true;
  }

  // A chain of versions: its bounds, if it agrees with itself.
  std::optional<Bounds> bounds_of_chain(std::uint32_t head) {
    path_.clear();
    for (auto v = head; v != kNone; v = next_[v]) path_.push_back(v);
    chained_ += path_.size();
    Bounds later;  // of the versions after it
    for (auto i = path_.size(); i-- > 0;) {
      const auto v = path_[i];
      const Bounds& here = bounds_[v];
      // A reader before its writer.
      if (v != 0 && here.first != kNone && here.completed < invoked(v - 1)) {
        accuse({here.first, v - 1}, v, v);
        return std::nullopt;
      }
      if (later.first != kNone && later.completed < here.invoked) {
        accuse({later.first, here.last}, v, version_of(later.first));
        return std::nullopt;
      }
      later.add(here);
    }
    return later;
  }

  [[nodiscard]] std::uint32_t version_of(std::uint32_t member) const {
    return writes_[member] ? member + 1 : seen_[member];
  }

  bool order_chains() {
    struct Chain {
      Bounds bounds;
      std::uint32_t head;
      Time low;
      bool forward;
    };
    std::vector<Chain> chains;
    for (std::uint32_t v = 0; v < next_.size(); ++v) {
      const bool is_head = v == 0 || (writes_[v - 1] && seen_[v - 1] == kNone);
      if (!is_head) continue;
      const auto bounds = bounds_of_chain(v);
      if (!bounds) return false;
      chains.push_back({*bounds, v, std::min(bounds->completed, bounds->invoked),
                        bounds->completed < bounds->invoked});
    }
    std::size_t versions = 1;
    for (const auto w : writes_) versions += w;
    if (chained_ != versions) return false;  // compare-and-sets in a cycle
    std::sort(chains.begin(), chains.end(), [](const Chain& x, const Chain& y) {
      if ((x.head == 0) != (y.head == 0)) return x.head == 0;
      if (x.low != y.low) return x.low < y.low;
      if (x.forward != y.forward) return !x.forward;
      return x.head < y.head;
    });
    result_.one_chain =
        chains.size() == 1 || (chains.size() == 2 && chains[0].bounds.last == kNone);
    const Chain* latest = nullptr;  // of those so far, the one invoked last
    for (const Chain& chain : chains) {
      if (latest != nullptr && chain.bounds.completed < latest->bounds.invoked) {
        accuse_chains(latest->bounds, latest->head, chain.bounds, chain.head);
        return false;
      }
      if (latest == nullptr || chain.bounds.invoked > latest->bounds.invoked) latest = &chain;
      heads_.push_back(chain.head);
    }
    return true;
  }

  // The members in the order of their chains; what session order says is looked at
  // here, since it contradicts real time only where clocks are coarse or wrong.
  bool write_order() {
    std::vector<std::uint32_t> first(next_.size() + 1, 0), readers;
    const auto only_reads = [&](std::uint32_t m) { return !writes_[m]; };
    for (std::uint32_t m = 0; m < owners_.size(); ++m) {
      if (only_reads(m)) ++first[seen_[m] + 1];
    }
    base::counts_to_offsets(first);
    readers.resize(first.back());
    auto place = first;
    for (std::uint32_t m = 0; m < owners_.size(); ++m) {
      if (only_reads(m)) readers[place[seen_[m]]++] = m;
    }
    std::vector<TxnId> last_of(h_.session_count(), TxnId::none());
    const auto put = [&](std::uint32_t m) {
      const TxnId txn = a_.txns[owners_[m]];
      auto& last = last_of[h_.session(txn).index()];
      if (certain(m) && last.valid() && last > txn) return false;
      if (!last.valid() || last < txn) last = txn;
      result_.order.push_back(owners_[m]);
      return true;
    };
    result_.order.reserve(owners_.size());
    for (const auto head : heads_) {
      for (auto v = head; v != kNone; v = next_[v]) {
        const auto begin = readers.begin() + first[v], end = readers.begin() + first[v + 1];
        // What nobody saw need not have happened.
        if (v != 0 && !certain(v - 1) && begin == end && next_[v] == kNone) continue;
        if (v != 0 && !put(v - 1)) return false;
        std::sort(begin, end, [&](std::uint32_t x, std::uint32_t y) {
          const auto at_x = invoked(x), at_y = invoked(y);
          return at_x != at_y ? at_x < at_y : x < y;
        });
        for (auto r = begin; r != end; ++r) {
          if (!put(*r)) return false;
        }
      }
    }
    return true;
  }

  // ---- What contradicts: the members named, and the versions from one to another
  // along their chain.

  void accuse(std::initializer_list<std::uint32_t> members, std::uint32_t from, std::uint32_t to) {
    result_.kind = ZonesResult::Kind::kContradiction;
    const auto add = [&](std::uint32_t m) { result_.suspects.push_back(owners_[m]); };
    for (const auto m : members) add(m);
    for (auto v = from; v != kNone; v = v == to ? kNone : next_[v]) {
      if (v != 0) add(v - 1);
    }
    auto& all = result_.suspects;
    std::sort(all.begin(), all.end());
    all.erase(std::unique(all.begin(), all.end()), all.end());
  }
  // Of each chain, what is between the member that completed first and the one
  // that was invoked last; the initial version completed before anything.
  void accuse_chains(const Bounds& x, std::uint32_t head_x, const Bounds& y, std::uint32_t head_y) {
    for (const auto& [bounds, head] : {std::pair{x, head_x}, std::pair{y, head_y}}) {
      const auto one = bounds.first == kNone ? 0 : version_of(bounds.first);
      const auto other = version_of(bounds.last);
      auto from = head;
      while (from != one && from != other) from = next_[from];
      const auto to = from == one ? other : one;
      if (bounds.first == kNone) {
        accuse({bounds.last}, from, to);
      } else {
        accuse({bounds.first, bounds.last}, from, to);
      }
    }
  }

  const History& h_;
  const Accesses& a_;
  const std::vector<Owner>& owners_;
  const Time drift_;
  std::vector<std::uint32_t> seen_;   // by member: a version, or kNone
  std::vector<std::uint8_t> writes_;  // by member
  std::vector<Bounds> bounds_;        // by version
  std::vector<std::uint32_t> next_;   // by version: the one that a compare-and-set made of it
  std::vector<std::uint32_t> path_;
  std::size_t chained_ = 0;           // versions met
  std::vector<std::uint32_t> heads_;  // of the chains, in order
  ZonesResult result_;
};

}  // namespace

ZonesResult decide_by_zones(const History& h, const Accesses& a, const Part& part, Time drift) {
  if (!a.list_order.empty()) return {};
  return Zones(h, a, part, drift).decide();
}

}  // namespace cupel::levels
