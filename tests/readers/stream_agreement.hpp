// Stream agreement: a stream of transactions, held against the history of the whole file.
#pragma once

#include <optional>
#include <string>

#include "base/result.hpp"
#include "data/history/history.hpp"
#include "data/history/streamed.hpp"

namespace cupel::test {

// Whether the refusal says that a later line may decide.
bool leaves_to_the_whole(const base::Error& refusal);

struct StreamComparison {
  std::string difference = {};              // empty: none
  std::optional<base::Error> refused = {};  // nothing was compared: a later line may decide
};

// The same transactions and initial values, or a refusal that leaves them to the whole file.
// `times`: their times, too.
StreamComparison compare_stream(history::TransactionSource& source, const history::History& h,
                                bool times = true);

}  // namespace cupel::test
