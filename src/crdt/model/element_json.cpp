// Elements as JSON values: see the header.
#include "crdt/model/element_json.hpp"

#include <nlohmann/json.hpp>

namespace cupel::crdt {

using Json = nlohmann::json;

Json element_json(const History& history, std::uint32_t element) {
  return element == kNone ? Json() : Json::parse(history.elements[element].text, nullptr, false);
}

Json list_json(const History& history, const Operation& op) {
  Json all = Json::array();
  for (const auto e : history.list(op)) all.push_back(element_json(history, e));
  return all;
}

}  // namespace cupel::crdt
