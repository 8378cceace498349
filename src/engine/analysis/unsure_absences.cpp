// Counts keys that range reads left out: see the header.
#include "engine/analysis/unsure_absences.hpp"

#include <vector>

#include "data/history/text_order.hpp"
#include "data/history/written.hpp"

namespace cupel::analysis {

namespace {

using history::History;
using history::KeyId;
using history::OpId;
using history::OpKind;
using history::ScalarView;
using history::TxnStatus;

// Whether the key was ever anything but absent.
std::vector<bool> keys_with_values(const History& h) {
  std::vector<bool> found(h.key_count());
  for (std::size_t k = 0; k < found.size(); ++k)
    found[k] = !h.is_list(KeyId(k)) && h.initial_value(KeyId(k)) != h.null_value();
  for (std::size_t o = 0; o < h.op_count(); ++o) {
    const auto op = h.op(OpId(o));
    if (history::written(h, op).valid()) found[op.key.index()] = true;
  }
  return found;
}

}  // namespace

std::optional<UnsureAbsences> unsure_absences(const History& h) {
  if (h.keys_between(ScalarView::null(), history::kAboveAll).empty()) return std::nullopt;
  const auto with_value = keys_with_values(h);
  std::vector<std::size_t> returned_by(h.key_count());  // the last range read, from 1 on
  UnsureAbsences unsure;
  for (std::size_t o = 0; o < h.op_count(); ++o) {
    const auto op = h.op(OpId(o));
    if (op.kind != OpKind::kRangeRead) continue;
    if (h.status(h.txn_of(OpId(o))) != TxnStatus::kCommitted) continue;
    const auto range = h.range(op);
    for (const auto& entry : range.entries) returned_by[entry.key.index()] = o + 1;
    const auto low = h.value(range.low), high = h.value(range.high);
    for (const KeyId key : h.keys_between(low, high)) {
      if (!with_value[key.index()] || returned_by[key.index()] == o + 1) continue;
      if (history::agreed_between(low, h.key(key), high)) continue;
      if (unsure.count++ == 0) unsure = {1, h.key(key), low, high};
    }
  }
  return unsure.count == 0 ? std::nullopt : std::optional(unsure);
}

}  // namespace cupel::analysis
