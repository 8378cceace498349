// See the header.
#include "data/formats/integer_registers.hpp"

#include <fmt/format.h>

#include <vector>

#include "data/history/naming.hpp"

namespace cupel::formats {

using namespace history;

namespace {

// Why an operation cannot be held; empty if it can.
std::string obstacle(const History& h, TxnStatus status, const Operation& op,
                     const IntegerRegisterLimits& limits,
                     const std::vector<std::uint8_t>& writes_zero) {
  if (op.kind != OpKind::kRead && op.kind != OpKind::kWrite) {
    return fmt::format("has an operation of kind {}", to_string(op.kind));
  }
  const auto key = h.key(op.key);
  if (key.kind != ScalarKind::kInteger) return fmt::format("uses the key {}", shown_key(key));
  if (key.integer < 0 && !limits.negative)
    return fmt::format("uses the negative key {}", key.integer);
  if (!op.value.valid())
    return fmt::format("has a read of {} whose result is not known", key.integer);
  const bool starts_null = h.initial_value(op.key) == h.null_value();
  if (op.value == h.initial_value(op.key)) {
    // The 0 of the file would be the value of that write alone.
    if (op.kind == OpKind::kWrite && status != TxnStatus::kAborted) {
      return fmt::format("writes {}, the initial value of key {}",
                         history::shown(h.value(op.value)), key.integer);
    }
    if (!starts_null || !writes_zero[op.key.index()]) return {};
    return fmt::format("has an absent value of key {}, to which another transaction writes 0",
                       key.integer);
  }
  const auto value = h.value(op.value);
  const char* verb = op.kind == OpKind::kRead ? "reads" : "writes";
  if (value.kind != ScalarKind::kInteger) {
    return fmt::format("{} the value {} of key {}", verb, history::shown(value), key.integer);
  }
  if (value.integer == 0 && !(starts_null && writes_zero[op.key.index()])) {
    return fmt::format("{} 0, which is not the initial value of key {} but would become it", verb,
                       key.integer);
  }
  if (value.integer < 0 && !limits.negative) {
    return fmt::format("{} the negative value {} of key {}", verb, value.integer, key.integer);
  }
  return {};
}

}  // namespace

base::Status fits_integer_registers(const History& h, const IntegerRegisterLimits& limits) {
  const auto refuse = [&](TxnId t, std::string_view why) -> base::Error {
    return {.message = fmt::format(
                "{} {}; {} holds {} transactions of reads and writes of {}integers, with 0 as the "
                "initial value: write jepsen or cupel instead",
                transaction_in_full(h, t), why, limits.format,
                limits.aborted ? "committed or aborted" : "committed",
                limits.negative ? "" : "unsigned ")};
  };
  // Where a transaction writes 0, readers do not take 0 for the initial value.
  std::vector<std::uint8_t> writes_zero(h.key_count(), 0);
  for (std::size_t i = 0; i < h.txn_count(); ++i) {
    if (h.status(TxnId(i)) == TxnStatus::kAborted) continue;
    for (auto id = h.first_op(TxnId(i)); id < h.last_op(TxnId(i)); ++id) {
      const Operation op = h.op(OpId(id));
      if (op.kind != OpKind::kWrite || !op.value.valid()) continue;
      if (h.value(op.value) == ScalarView::of(std::int64_t{0})) writes_zero[op.key.index()] = 1;
    }
  }
  for (std::size_t i = 0; i < h.txn_count(); ++i) {
    const TxnId t(i);
    if (h.status(t) == TxnStatus::kIndeterminate) return refuse(t, "is indeterminate");
    if (h.status(t) == TxnStatus::kAborted && !limits.aborted) return refuse(t, "is aborted");
    if (h.first_op(t) == h.last_op(t) && !limits.empty) return refuse(t, "has no operation");
    for (auto op = h.first_op(t); op < h.last_op(t); ++op) {
      const auto why = obstacle(h, h.status(t), h.op(OpId(op)), limits, writes_zero);
      if (!why.empty()) return refuse(t, why);
    }
  }
  return base::Ok{};
}

std::int64_t integer_key(const History& h, KeyId key) {
  return h.key(key).integer;
}

std::int64_t integer_value(const History& h, KeyId key, ValueId value) {
  return value == h.initial_value(key) ? 0 : h.value(value).integer;
}

}  // namespace cupel::formats
