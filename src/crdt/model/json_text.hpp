// JSON text: values as elements and messages have them, and the way back.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "crdt/model/history.hpp"

namespace cupel::crdt {

std::string json_text(const nlohmann::json& value);
// At most 60 bytes and an ellipsis, for messages.
std::string short_json_text(const nlohmann::json& value);
// The value of an element; null of kNone.
nlohmann::json element_json(const History& history, std::uint32_t element);
// What a whole read returned, as an array.
nlohmann::json list_json(const History& history, const Operation& op);

}  // namespace cupel::crdt
