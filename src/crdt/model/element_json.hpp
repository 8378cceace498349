// Elements as JSON values: a history keeps the text of each.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "crdt/model/history.hpp"

namespace cupel::crdt {

// The value of an element; null of kNone.
nlohmann::json element_json(const History& history, std::uint32_t element);
// What a whole read returned, as an array.
nlohmann::json list_json(const History& history, const Operation& op);

}  // namespace cupel::crdt
