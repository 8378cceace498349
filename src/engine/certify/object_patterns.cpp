// Patterns of objects: see object_proofs.hpp. Each function says in its comment why no order of the
// operations explains what was seen.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <numeric>
#include <optional>
#include <set>
#include <span>

#include "engine/certify/object_proofs.hpp"

namespace cupel::certify {

namespace {

using history::Call;
using history::ObjectHistory;
using history::ObjectKind;
using history::ObjectOp;

class Refuter {
 public:
  Refuter(const ObjectHistory& history, const ObjectPattern& pattern,
          std::span<const std::uint32_t> ops)
      : h_(history), p_(pattern), of_object_(ops) {}

  ObjectRejection run() {
    for (const auto id : p_.ops) {
      if (id >= h_.ops.size() || h_.ops[id].object != p_.object)
        return fmt::format("operation {} is none of the object", id);
      // An enqueue of unknown outcome happened if its element was dequeued.
      if (!h_.ops[id].certain() && h_.ops[id].call != Call::kEnqueue)
        return fmt::format("nobody knows what operation {} did", id);
    }
    for (const auto element : p_.elements) {
      if (element >= h_.elements.size()) return fmt::format("there is no element {}", element);
    }
    constexpr auto kAny = static_cast<std::size_t>(-1);
    struct Rule {
      ObjectKind kind;
      std::string_view name;
      std::size_t ops, elements;
      bool (Refuter::*holds)() const;
    };
    constexpr std::array kRules = {
        Rule{ObjectKind::kSet, "set-duplicate", 1, 1, &Refuter::duplicate},
        Rule{ObjectKind::kSet, "thin-air-read", 1, 1, &Refuter::never_added},
        Rule{ObjectKind::kSet, "aborted-read", 1, 1, &Refuter::never_added},
        Rule{ObjectKind::kSet, "set-future", 1, 1, &Refuter::added_later},
        Rule{ObjectKind::kSet, "set-fork", 2, 2, &Refuter::fork},
        Rule{ObjectKind::kSet, "set-stale", 2, 1, &Refuter::stale},
        Rule{ObjectKind::kSet, "set-reverse", 2, 2, &Refuter::reverse},
        Rule{ObjectKind::kCounter, "counter-step", 1, 0, &Refuter::no_multiple},
        Rule{ObjectKind::kCounter, "counter-range", 1, 0, &Refuter::out_of_range},
        Rule{ObjectKind::kCounter, "counter-range", 2, 0, &Refuter::out_of_range},
        Rule{ObjectKind::kUniqueIds, "id-twice", 2, 1, &Refuter::returned_twice},
        Rule{ObjectKind::kBag, "thin-air-dequeue", 1, 1, &Refuter::too_often},
        Rule{ObjectKind::kBag, "aborted-dequeue", 1, 1, &Refuter::too_often},
        Rule{ObjectKind::kBag, "dequeued-too-often", kAny, 1, &Refuter::too_often},
        Rule{ObjectKind::kFifoQueue, "thin-air-dequeue", 1, 1, &Refuter::too_often},
        Rule{ObjectKind::kFifoQueue, "aborted-dequeue", 1, 1, &Refuter::too_often},
        Rule{ObjectKind::kFifoQueue, "dequeued-too-often", kAny, 1, &Refuter::too_often},
        Rule{ObjectKind::kFifoQueue, "fifo-order", 4, 2, &Refuter::overtaken},
        Rule{ObjectKind::kFifoQueue, "fifo-lost", kAny, kAny, &Refuter::lost},
        Rule{ObjectKind::kBank, "bank-nil", 1, 0, &Refuter::no_balance},
        Rule{ObjectKind::kBank, "bank-accounts", 2, 0, &Refuter::other_accounts},
        Rule{ObjectKind::kBank, "bank-total", 2, 0, &Refuter::other_total},
        Rule{ObjectKind::kBank, "bank-range", 2, 1, &Refuter::balance_out_of_range},
    };
    if (p_.name == "no-order") return search_in_vain(h_, of_object_);
    bool known = false;
    for (const Rule& rule : kRules) {
      if (rule.kind != h_.kind || rule.name != p_.name) continue;
      known = true;
      if ((rule.ops != kAny && p_.ops.size() != rule.ops) ||
          (rule.elements != kAny && p_.elements.size() != rule.elements)) {
        continue;
      }
      return (this->*rule.holds)() ? ObjectRejection()
                                   : fmt::format("the operations do not show {}", rule.name);
    }
    return known ? fmt::format("{} has another number of operations or elements", p_.name)
                 : fmt::format("there is no pattern {} of this kind of object", p_.name);
  }

 private:
  [[nodiscard]] const ObjectOp& op(std::size_t i) const { return h_.ops[p_.ops[i]]; }
  [[nodiscard]] std::uint32_t element(std::size_t i) const { return p_.elements[i]; }
  [[nodiscard]] bool is_read(std::size_t i) const { return op(i).call == Call::kRead; }
  [[nodiscard]] bool has(std::size_t i, std::uint32_t element) const {
    const auto values = h_.values_of(op(i));
    return std::find(values.begin(), values.end(), element) != values.end();
  }
  // Whether this holds for every add of the element that may have happened.
  template <typename Predicate>
  [[nodiscard]] bool every_add(std::uint32_t element, Predicate holds) const {
    return std::all_of(of_object_.begin(), of_object_.end(), [&](std::uint32_t id) {
      const ObjectOp& one = h_.ops[id];
      return one.call != Call::kAdd || !one.possible() || h_.values_of(one)[0] != element ||
             holds(one);
    });
  }

  // A set has an element once.
  [[nodiscard]] bool duplicate() const {
    const auto values = h_.values_of(op(0));
    return is_read(0) && std::count(values.begin(), values.end(), element(0)) > 1;
  }
  // An element that a read returns was added before.
  [[nodiscard]] bool never_added() const {
    return is_read(0) && has(0, element(0)) &&
           every_add(element(0), [](const ObjectOp&) { return false; });
  }
  [[nodiscard]] bool added_later() const {
    return is_read(0) && has(0, element(0)) &&
           every_add(element(0), [&](const ObjectOp& add) { return op(0).precedes(add); });
  }
  // Elements stay in the set, so the later of two reads has all of the earlier one.
  [[nodiscard]] bool fork() const {
    return is_read(0) && is_read(1) && has(0, element(0)) && !has(1, element(0)) &&
           has(1, element(1)) && !has(0, element(1));
  }
  // After an add of the element, or after a read that has it, every read has it.
  [[nodiscard]] bool stale() const {
    return is_read(1) && op(0).precedes(op(1)) && has(0, element(0)) && !has(1, element(0));
  }
  // The second element came after the first one, so a read that has it has the first one.
  [[nodiscard]] bool reverse() const {
    return op(0).call == Call::kAdd && has(0, element(0)) && is_read(1) && has(1, element(1)) &&
           !has(1, element(0)) &&
           every_add(element(1), [&](const ObjectOp& add) { return op(0).precedes(add); });
  }

  // Every value of the counter is a sum of amounts.
  [[nodiscard]] bool no_multiple() const {
    std::uint64_t divisor = 0;
    for (const auto id : of_object_) {
      const ObjectOp& one = h_.ops[id];
      if (one.call != Call::kAdd || !one.possible()) continue;
      divisor = std::gcd(divisor, magnitude(one.number));
    }
    const auto read = magnitude(op(0).number);
    return is_read(0) && (divisor == 0 ? read != 0 : read % divisor != 0);
  }
  static std::uint64_t magnitude(std::int64_t number) {
    return number < 0 ? 0 - static_cast<std::uint64_t>(number) : static_cast<std::uint64_t>(number);
  }

  // From the start, or from a first read, to the last read: the adds that must be between them, and
  // those that may be. The first read comes before the last one by their times, or by their values
  // if the counter never goes back.
  [[nodiscard]] bool out_of_range() const {
    const bool two = p_.ops.size() == 2;
    const ObjectOp& last = op(p_.ops.size() - 1);
    if (!is_read(0) || (two && !is_read(1))) return false;
    Wide forced = 0, least = 0, most = 0;
    bool grows = true, shrinks = true;
    for (const auto id : of_object_) {
      const ObjectOp& one = h_.ops[id];
      if (one.call != Call::kAdd || !one.possible()) continue;
      grows = grows && one.number >= 0;
      shrinks = shrinks && one.number <= 0;
      const bool after_first = !two || op(0).precedes(one);
      if (one.certain() && after_first && one.precedes(last)) {
        forced += one.number;
      } else if (!last.precedes(one) && !(two && one.precedes(op(0)))) {
        (one.number < 0 ? least : most) += one.number;
      }
    }
    const Wide first = two ? op(0).number : 0, change = last.number - first;
    const bool in_order =
        !two || op(0).precedes(last) || (grows && change > 0) || (shrinks && change < 0);
    return in_order && (change < forced + least || change > forced + most);
  }

  [[nodiscard]] bool is(std::size_t i, Call call, std::uint32_t element) const {
    return op(i).call == call && h_.values_of(op(i))[0] == element;
  }
  template <typename Predicate>
  [[nodiscard]] std::size_t count_of(Call call, Predicate holds) const {
    return static_cast<std::size_t>(
        std::count_if(of_object_.begin(), of_object_.end(), [&](std::uint32_t id) {
          return h_.ops[id].call == call && h_.ops[id].possible() && holds(h_.ops[id]);
        }));
  }
  [[nodiscard]] std::size_t enqueues_of(std::uint32_t element) const {
    return count_of(Call::kEnqueue,
                    [&](const ObjectOp& one) { return h_.values_of(one)[0] == element; });
  }

  // When the last of these dequeues ended, fewer enqueues of the element had begun.
  [[nodiscard]] bool too_often() const {
    std::set<std::uint32_t> distinct(p_.ops.begin(), p_.ops.end());
    if (distinct.size() != p_.ops.size() || distinct.empty()) return false;
    auto end = op(0).complete;
    for (std::size_t i = 0; i < p_.ops.size(); ++i) {
      if (!is(i, Call::kDequeue, element(0))) return false;
      end = std::max(end, op(i).complete);
    }
    return count_of(Call::kEnqueue, [&](const ObjectOp& one) {
             return h_.values_of(one)[0] == element(0) && one.invoke <= end;
           }) < p_.ops.size();
  }

  // The first element came before the second one, and left after it. Each was enqueued once.
  [[nodiscard]] bool overtaken() const {
    return op(0).certain() && is(0, Call::kEnqueue, element(0)) &&
           is(1, Call::kEnqueue, element(1)) && is(2, Call::kDequeue, element(1)) &&
           is(3, Call::kDequeue, element(0)) && enqueues_of(element(0)) == 1 &&
           enqueues_of(element(1)) == 1 && op(0).precedes(op(1)) && op(2).precedes(op(3));
  }

  // Each of these elements came before another one, which was dequeued, and no dequeue returned it.
  // So each left by a dequeue of unknown outcome before the last of those dequeues ended; fewer of
  // these had begun.
  [[nodiscard]] bool lost() const {
    const auto count = p_.elements.size();
    std::set<std::uint32_t> distinct(p_.elements.begin(), p_.elements.end());
    if (count == 0 || p_.ops.size() != 3 * count || distinct.size() != count) return false;
    auto end = op(2).complete;
    for (std::size_t i = 0; i < count; ++i) {
      const ObjectOp &in = op(3 * i), &later = op(3 * i + 1), &out = op(3 * i + 2);
      if (!in.certain() || !is(3 * i, Call::kEnqueue, element(i)) || later.call != Call::kEnqueue)
        return false;
      const auto other = h_.values_of(later)[0];
      const auto returned = count_of(Call::kDequeue, [&](const ObjectOp& one) {
        return one.known && h_.values_of(one)[0] == element(i);
      });
      if (!is(3 * i + 2, Call::kDequeue, other) || enqueues_of(other) != 1 || returned != 0 ||
          !in.precedes(later)) {
        return false;
      }
      end = std::max(end, out.complete);
    }
    return count_of(Call::kDequeue,
                    [&](const ObjectOp& one) { return !one.known && one.invoke <= end; }) < count;
  }

  // The balances of a read by account. None: it has no balance of an account, or two.
  __extension__ using Wide = __int128;
  using Balances = std::map<std::uint32_t, Wide>;
  [[nodiscard]] std::optional<Balances> balances(std::size_t i) const {
    Balances all;
    const auto accounts = h_.values_of(op(i));
    for (std::size_t j = 0; is_read(i) && j < accounts.size(); ++j) {
      const auto balance = h_.numbers[op(i).first + j];
      if (balance == history::kNilBalance || !all.emplace(accounts[j], balance).second)
        return std::nullopt;
    }
    return all;
  }

  // Every account has a balance.
  [[nodiscard]] bool no_balance() const { return is_read(0) && !balances(0); }
  // Accounts neither come nor go.
  [[nodiscard]] bool other_accounts() const {
    const auto first = balances(0), second = balances(1);
    if (!is_read(0) || !is_read(1) || !first || !second) return false;
    return first->size() != second->size() ||
           std::any_of(first->begin(), first->end(),
                       [&](const auto& one) { return !second->contains(one.first); });
  }
  // Transfers between the accounts that are read keep the total.
  [[nodiscard]] bool other_total() const {
    const auto first = balances(0), second = balances(1);
    if (!is_read(0) || !is_read(1) || !first || !second) return false;
    Wide difference = 0;
    for (const auto& [account, balance] : *first) difference -= balance;
    for (const auto& [account, balance] : *second) difference += balance;
    const auto outside = [&](const ObjectOp& one) {
      const auto accounts = h_.values_of(one);
      return !first->contains(accounts[0]) || !first->contains(accounts[1]);
    };
    return difference != 0 && !other_accounts() && count_of(Call::kTransfer, outside) == 0;
  }
  // The transfers that must lie between the two reads, and those that may.
  [[nodiscard]] bool balance_out_of_range() const {
    const auto first = balances(0), second = balances(1);
    if (!is_read(0) || !is_read(1) || !first || !second || !op(0).precedes(op(1)) ||
        !first->contains(element(0)) || !second->contains(element(0))) {
      return false;
    }
    Wide forced = 0, least = 0, most = 0;
    for (const auto id : of_object_) {
      const ObjectOp& one = h_.ops[id];
      if (one.call != Call::kTransfer || !one.possible()) continue;
      const auto accounts = h_.values_of(one);
      const Wide change = (accounts[1] == element(0) ? Wide(one.number) : 0) -
                          (accounts[0] == element(0) ? Wide(one.number) : 0);
      if (one.certain() && op(0).precedes(one) && one.precedes(op(1))) {
        forced += change;
      } else if (!op(1).precedes(one) && !one.precedes(op(0))) {
        (change < 0 ? least : most) += change;
      }
    }
    const Wide change = second->at(element(0)) - first->at(element(0));
    return change < forced + least || change > forced + most;
  }

  [[nodiscard]] bool returned_twice() const {
    return p_.ops[0] != p_.ops[1] && op(0).call == Call::kGenerate &&
           op(1).call == Call::kGenerate && has(0, element(0)) && has(1, element(0));
  }

  const ObjectHistory& h_;
  const ObjectPattern& p_;
  std::span<const std::uint32_t> of_object_;  // all operations of the object
};

}  // namespace

ObjectRejection refute(const ObjectHistory& history, const ObjectPattern& pattern,
                       std::span<const std::uint32_t> ops) {
  return Refuter(history, pattern, ops).run();
}

}  // namespace cupel::certify
