// Canonical text: a history as the proved verifier reads it (docs/reference/formats/canonical.md).
//
// One line for each operation and key: a range read is a line for each key of its range. The
// text says what decides a verdict and nothing else, and says it one way: `proofs/Format.v`
// proves that it can be read back. Names of keys and of values that are no small integers are
// comments.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/certify/operations.hpp"

namespace cupel::certify {

using Sink = std::function<void(std::string_view)>;

// A line of an operation: what it saw of the key, if that is known, and whether it writes it.
struct OpLine {
  OpId op;
  KeyId key;
  std::optional<Seen> seen;
  bool writes;
};
// The lines of a transaction, in their order.
std::vector<OpLine> lines_of(const History& history, TxnId txn);

// The number that stands for a value: a small integer for itself.
std::uint64_t value_number(const History& history, ValueId value);

// Why the history cannot be written: its times span more than 2^62 ns.
std::optional<std::string> write_canonical(const History& history, const Sink& sink);

}  // namespace cupel::certify
