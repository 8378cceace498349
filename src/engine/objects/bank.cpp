// Banks: transfers between accounts, and reads of all balances. A balance is a sum, so sums.cpp
// decides whether an order of the transfers explains every read. The balances at the start are not
// known; the first read in the order says them.
//
// Most violations need no search, and are found first: two reads have other accounts or another
// total, or the balance of an account changed between two reads by more or less than the transfers
// between them explain.
#include <algorithm>
#include <utility>

#include "engine/objects/kinds.hpp"

namespace cupel::objects {

namespace {

using certify::ObjectPattern;
using history::Call;
using history::ObjectHistory;
using history::ObjectOp;

class BankDecision {
 public:
  BankDecision(const ObjectHistory& history, Ops ops, ByElement& scratch, base::Budget& budget)
      : h_(history), ops_(ops), places_(scratch), budget_(budget) {}

  Answer run() {
    for (const auto id : ops_) {
      if (h_.ops[id].call == Call::kRead && h_.ops[id].certain()) reads_.push_back(id);
    }
    Answer answer;
    answer.violation = find_wrong_reads();
    if (!answer.violation) answer = search();
    places_.forget();
    if (answer.violation) answer.verdict = Verdict::kViolated;
    return answer;
  }

 private:
  [[nodiscard]] ObjectPattern pattern(std::string name, std::vector<std::uint32_t> ops) const {
    return {.name = std::move(name), .object = h_.ops[ops_.front()].object, .ops = std::move(ops)};
  }
  [[nodiscard]] bool holds(const ObjectPattern& found) const {
    return certify::refute(h_, found, ops_).empty();
  }

  // A read beside the first one.
  [[nodiscard]] std::optional<ObjectPattern> find_wrong_reads() const {
    bool keeps_total = true;  // else transfers go to accounts that are not read
    for (const auto read : reads_) {
      auto missing = pattern("bank-nil", {read});
      if (holds(missing)) return missing;
      if (read == reads_.front()) continue;
      auto accounts = pattern("bank-accounts", {reads_.front(), read});
      if (holds(accounts)) return accounts;
      if (!keeps_total || total(read) == total(reads_.front())) continue;
      auto other = pattern("bank-total", {reads_.front(), read});
      if (holds(other)) return other;
      keeps_total = false;
    }
    return std::nullopt;
  }

  [[nodiscard]] std::uint64_t total(std::uint32_t read) const {
    std::uint64_t sum = 0;
    for (std::uint32_t i = 0; i < h_.ops[read].count; ++i)
      sum += static_cast<std::uint64_t>(h_.numbers[h_.ops[read].first + i]);
    return sum;
  }

  Answer search() {
    SumsOf what{.width = 0};
    if (!reads_.empty()) {
      for (const auto account : h_.values_of(h_.ops[reads_.front()]))
        places_.set(account, what.width++);
    }
    for (const auto id : ops_) {
      const ObjectOp& op = h_.ops[id];
      if (op.call == Call::kRead ? !op.certain() : !op.possible()) continue;
      SumOp one{.id = id, .invoke = op.invoke, .complete = op.complete};
      const auto accounts = h_.values_of(op);
      if (op.call == Call::kRead) {
        one.is_read = true;
        one.result.resize(what.width);
        for (std::size_t i = 0; i < accounts.size(); ++i)
          one.result[places_.at(accounts[i])] = h_.numbers[op.first + i];
      } else if (accounts[0] != accounts[1]) {
        if (places_.at(accounts[0]) != kNone)
          one.changes.emplace_back(places_.at(accounts[0]), -op.number);
        if (places_.at(accounts[1]) != kNone)
          one.changes.emplace_back(places_.at(accounts[1]), op.number);
      }
      // Transfers that change nothing belong into the order only if they happened.
      if (one.is_read || !one.changes.empty() || op.certain()) what.ops.push_back(std::move(one));
    }
    auto answer = decide_sums(what, budget_);
    if (answer.verdict == Verdict::kSatisfied) return answer;
    if (auto range = find_range()) {
      answer = {.verdict = Verdict::kViolated, .violation = std::move(range)};
    } else if (answer.violation) {
      answer.violation->object = h_.ops[ops_.front()].object;
    }
    return answer;
  }

  // A read and one of the last that ended before it began.
  [[nodiscard]] std::optional<ObjectPattern> find_range() const {
    constexpr std::size_t kMostBefore = 4, kMostWork = std::size_t{1} << 28;
    if (reads_.empty()) return std::nullopt;
    const auto accounts = h_.values_of(h_.ops[reads_.front()]);
    if (reads_.size() * ops_.size() * accounts.size() > kMostWork / kMostBefore)
      return std::nullopt;
    auto sorted = reads_;
    std::sort(sorted.begin(), sorted.end(), [&](std::uint32_t a, std::uint32_t b) {
      return h_.ops[a].complete < h_.ops[b].complete;
    });
    for (std::size_t i = 0; i < sorted.size(); ++i) {
      std::size_t before = 0;
      for (auto j = i; j-- > 0 && before < kMostBefore;) {
        if (!h_.ops[sorted[j]].precedes(h_.ops[sorted[i]])) continue;
        ++before;
        for (const auto account : accounts) {
          auto found = pattern("bank-range", {sorted[j], sorted[i]});
          found.elements = {account};
          if (holds(found)) return found;
        }
      }
    }
    return std::nullopt;
  }

  const ObjectHistory& h_;
  const Ops ops_;
  ByElement& places_;  // of the accounts, in the order of the first read
  base::Budget& budget_;
  std::vector<std::uint32_t> reads_;
};

}  // namespace

Answer decide_bank(const ObjectHistory& history, Ops ops, ByElement& scratch,
                   base::Budget& budget) {
  return BankDecision(history, ops, scratch, budget).run();
}

}  // namespace cupel::objects
