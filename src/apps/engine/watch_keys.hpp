// The keys of violations that `cupel watch --keep-going` has reported: what is seen of them counts
// as unknown from then on. An unknown read constrains nothing, so what is found without them is a
// violation of the whole history, and none that was reported before.
#pragma once

#include <string>

#include "data/history/scalar.hpp"
#include "engine/analysis/analyze.hpp"

namespace cupel::apps {

// The keys of what is reported of this history, but for those that are masked already. If the
// violations name none, all that their transactions read. Empty: nothing can be masked.
history::ScalarTable keys_of_violations(const analysis::AnalyzedFile& found,
                                        const history::ScalarTable& masked);

// "key x", "keys x, y and 3 more".
std::string names_of_keys(const history::ScalarTable& keys);

}  // namespace cupel::apps
