// Stream agreement: a stream of transactions, held against the history of the whole file.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/result.hpp"
#include "data/history/history.hpp"
#include "data/history/streamed.hpp"

namespace cupel::test {

// Whether the refusal says that a later line may decide.
bool leaves_to_the_whole(const base::Error& refusal);

// Whether the reader of whole files refuses a read of what nobody wrote, because an operation of
// unknown outcome does not say what it wrote.
bool has_unsaid_write(const base::Error& refusal);

struct StreamComparison {
  std::string difference = {};              // empty: none
  std::optional<base::Error> refused = {};  // nothing was compared: a later line may decide
};

// The same transactions and initial values, or a refusal that leaves them to the whole file.
// `times`: their times, too.
StreamComparison compare_stream(history::TransactionSource& source, const history::History& h,
                                bool times = true);

// The same of op maps, one a line, refusals included: both readers take the text and make the same
// transactions of it, or both refuse it; the stream may also leave it to the whole. At the line
// that the stream refuses, the other reader refuses a text that ends there. The first difference;
// empty: there is none.
std::string compare_maps(std::string_view text);

}  // namespace cupel::test
