// JSON text: see the header.
#include "crdt/model/json_text.hpp"

#include <nlohmann/json.hpp>

namespace cupel::crdt {

using Json = nlohmann::json;

std::string json_text(const Json& value) {
  return value.dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::string short_json_text(const Json& value) {
  std::string text = json_text(value);
  constexpr std::size_t kMost = 60;
  if (text.size() > kMost) text = text.substr(0, kMost) + "…";
  return text;
}

Json element_json(const History& history, std::uint32_t element) {
  return element == kNone ? Json() : Json::parse(history.elements[element].text, nullptr, false);
}

Json list_json(const History& history, const Operation& op) {
  Json all = Json::array();
  for (const auto e : history.list(op)) all.push_back(element_json(history, e));
  return all;
}

}  // namespace cupel::crdt
