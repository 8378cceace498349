// Inject: the transactions of an opportunity as a history of their own, with the answers that
// show the anomaly, and whether the engine finds it there.
#pragma once

#include <optional>
#include <string_view>

#include "engine/explain/power/opportunities.hpp"

namespace cupel::power {

// The transactions with all their operations; reads of which the opportunity says nothing are
// unknown. Nothing: a read cannot see what it should (a compare-and-set expects another
// value).
std::optional<History> injected(const History& history, const Opportunity& opportunity);

// Would `cupel check` find it: is a weakest violated level violated by it, by its name?
bool finds(const History& injected, std::string_view anomaly);

}  // namespace cupel::power
