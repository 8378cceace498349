// Windows: does a chain of windows prove that a history is satisfied at a level?
//
// A watch leaves such a chain (docs/reference/formats/certificate.md, "Windows"): one line for each
// part of the history that it closed, with an order of the part. The parts stand one after the
// other, so what a part leaves in each key is what the next one begins with. Each is checked
// as a history of its own, by the rules for a satisfied level (replay, weak); and that no
// transaction of a later part belongs before an earlier one, by its session or by its times.
//
// History and certificate are read once, side by side. What is held: the transactions that have
// been read and stand in no part yet, one part, and for each key what it holds; of a list, its
// length and two hashes, polynomials at places that are drawn anew each time. Two lists of n
// elements that differ have the same with a probability of about (n / 2^61)^2.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.hpp"
#include "data/history/streamed.hpp"
#include "engine/certify/verify.hpp"

namespace cupel::certify {

// Whether the first line of a certificate is that of a chain.
bool is_chain(std::string_view first_line);

// The lines of the certificate, without their ends; none: there are no more.
using NextLine = std::function<base::Result<std::optional<std::string_view>>()>;

struct ChainReport {
  Report report;
  std::uint64_t windows = 0, transactions = 0;  // that were checked well
  std::size_t most_held = 0;                    // transactions
  // Valid so far; the chain ends in this certificate, which is about the whole history.
  std::optional<std::string> violation;
};

// Errors: one of the two cannot be read.
base::Result<ChainReport> verify_windows(history::TransactionSource& history, const NextLine& line,
                                         history::Time clock_drift_ns);

}  // namespace cupel::certify
