// plant: the transactions of a place as a history of their own, with the answers that
// show the anomaly, and whether the engine finds it there.
#pragma once

#include <optional>
#include <string_view>

#include "worth/places.hpp"

namespace cupel::worth {

// The transactions with all their operations; reads of which the place says nothing are
// unknown. Nothing: a read cannot see what it should (a compare-and-set expects another
// value).
std::optional<History> planted(const History& history, const Place& place);

// Would `cupel check` tell it: is a weakest violated level violated by it, by its name?
bool finds(const History& planted, std::string_view anomaly);

}  // namespace cupel::worth
