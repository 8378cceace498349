// told: what an explanation is told with besides the history: more about its
// transactions, from the file.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "check/check.hpp"
#include "explain/counts/whole_history.hpp"
#include "explain/why/counterexample.hpp"
#include "explain/why/explain.hpp"
#include "history/history.hpp"

namespace cupel::cli {

// The extra fields (formats::extra_fields) of the transactions that explanations of
// `result` and of the survey list. Tells the counterexamples of both again with them, and with what
// of their transactions is left out. Reads the file once more if something is violated, if no limit
// is met before.
explain::FieldsByLabel tell_with_fields(const std::string& file, const history::History& history,
                                        const check::CheckResult& result,
                                        std::vector<explain::Counterexample>& counterexamples,
                                        std::optional<counts::WholeHistory>& survey,
                                        base::Budget& budget);

}  // namespace cupel::cli
