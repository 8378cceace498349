// Models of elle-cli whose histories are of objects: sets and the like. elle-cli asks the question
// of jepsen.checker for these, so the answer is by its rules; a note says if a history that passes
// is not linearizable.
#pragma once

#include <array>
#include <string>
#include <string_view>

#include "data/history/object_history.hpp"
#include "engine/check/check.hpp"

namespace cupel::apps {

// Each is the name of a kind (formats::parse_objects).
inline constexpr std::array<std::string_view, 4> kElleObjects = {"set", "set-full", "counter",
                                                                 "bank"};

// Prints the answer for one history; the exit code.
int check_elle_objects(const std::string& file, history::ObjectHistory& history,
                       const check::Options& options, bool json);

}  // namespace cupel::apps
