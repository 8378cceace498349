// The classes of Jepsen's checker `bank` (jepsen.tests.bank 0.3.14). Each ok read has one of them
// at most, in this order. As in elle-cli, the accounts are those of the first read, and so is the
// total unless it is given.
#include <algorithm>

#include "engine/objects/kinds.hpp"

namespace cupel::objects {

Jepsen jepsen_bank(const history::ObjectHistory& history, Ops ops) {
  JepsenClass unexpected{.name = "unexpected-key"}, nil{.name = "nil-balance"},
      wrong{.name = "wrong-total"}, negative{.name = "negative-value"};
  std::vector<std::uint32_t> accounts;
  std::uint64_t total = 0;
  bool first = true;
  for (const auto id : ops) {
    const auto& op = history.ops[id];
    if (op.call != history::Call::kRead || !op.certain()) continue;
    const auto read = history.values_of(op);
    const auto balances = std::span(history.numbers).subspan(op.first, op.count);
    std::uint64_t sum = 0;
    for (const auto balance : balances) sum += static_cast<std::uint64_t>(balance);
    if (first) {
      accounts.assign(read.begin(), read.end());
      std::sort(accounts.begin(), accounts.end());
      total = static_cast<std::uint64_t>(history.total.value_or(static_cast<std::int64_t>(sum)));
      first = false;
    }
    const auto is = [&](auto holds) {
      return std::any_of(balances.begin(), balances.end(), holds);
    };
    const bool other = std::any_of(read.begin(), read.end(), [&](std::uint32_t account) {
      return !std::binary_search(accounts.begin(), accounts.end(), account);
    });
    if (other) {
      ++unexpected.count;
    } else if (is([](std::int64_t balance) { return balance == history::kNilBalance; })) {
      ++nil.count;
    } else if (sum != total) {
      ++wrong.count;
    } else if (!history.negative_balances && is([](std::int64_t balance) { return balance < 0; })) {
      ++negative.count;
    }
  }
  const bool valid = unexpected.count + nil.count + wrong.count + negative.count == 0;
  return {
      .checker = "bank",
      .verdict = valid ? Verdict::kSatisfied : Verdict::kViolated,
      .classes = {std::move(unexpected), std::move(nil), std::move(wrong), std::move(negative)}};
}

}  // namespace cupel::objects
