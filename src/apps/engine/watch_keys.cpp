// Keys of reported violations: see the header.
#include "apps/engine/watch_keys.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>

#include "engine/analysis/violations.hpp"
#include "engine/explain/why/words.hpp"
#include "report/page.hpp"

namespace cupel::apps {

using history::History;
using history::KeyId;
using history::OpId;
using history::OpKind;
using history::ScalarTable;
using history::TxnId;

ScalarTable keys_of_violations(const analysis::AnalyzedFile& found, const ScalarTable& masked) {
  ScalarTable keys;
  const auto violations =
      analysis::violations_of(found.history, found.analysis, report::kMostViolationsShown);
  const auto add = [&](const History& h, KeyId key) {
    if (key.valid() && !masked.find(h.key(key))) keys.find_or_add(h.key(key));
  };
  for (const auto& shown : violations.shown) {
    for (const KeyId key : shown.anomaly.keys) add(*shown.history, key);
  }
  if (keys.size() > 0) return keys;
  for (const auto& shown : violations.shown) {
    const History& h = *shown.history;
    for (const TxnId txn : shown.anomaly.transactions) {
      if (!txn.valid()) continue;
      for (auto o = h.first_op(txn); o < h.last_op(txn); ++o) {
        const auto op = h.op(OpId(o));
        add(h, op.key);
        if (op.kind != OpKind::kRangeRead) continue;
        const auto range = h.range(op);
        for (const KeyId key : h.keys_between(h.value(range.low), h.value(range.high))) add(h, key);
      }
    }
  }
  return keys;
}

std::string names_of_keys(const ScalarTable& keys) {
  constexpr std::uint32_t kMost = 5;
  const auto count = static_cast<std::uint32_t>(keys.size());
  std::vector<std::string> names;
  for (std::uint32_t i = 0; i < std::min(count, kMost); ++i)
    names.push_back(keys.at(i).to_string());
  if (count > kMost) names.push_back(fmt::format("{} more", count - kMost));
  return (count == 1 ? "key " : "keys ") + explain::enumerate(names);
}

}  // namespace cupel::apps
