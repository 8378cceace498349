// object check: what `cupel check` says of a history of sets and the like
// (docs/reference/objects.md).
#pragma once

#include <string>

#include "apps/engine/check_history.hpp"
#include "apps/engine/kept_results.hpp"
#include "apps/many_histories.hpp"
#include "data/history/object_history.hpp"
#include "engine/check/check.hpp"

namespace cupel::apps {

// Decides, prints, and writes the certificate that is asked for. The exit code. `kept`: borrowed;
// none: results are not kept. The intervals of the history may be widened.
int print_objects(const std::string& file, history::ObjectHistory& history,
                  const CheckArguments& arguments, const check::Options& options,
                  const KeptResults* kept, VerdictTable& table);

}  // namespace cupel::apps
