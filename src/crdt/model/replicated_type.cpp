// Replicated type: what most types have in common, and the messages of calls that are not
// understood.
#include "crdt/model/replicated_type.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "text/json.hpp"

namespace cupel::crdt {

using Json = nlohmann::json;

std::uint32_t ParsedCall::element(const Json& text) const {
  return history.element(op.key, text.is_string() ? text::quoted(text.get_ref<const std::string&>())
                                                  : text::dump(text));
}

std::optional<std::string> ParsedCall::expected(std::string_view what) const {
  return fmt::format("found {} with the value {}, expected {}", method, text::dump_excerpt(value),
                     what);
}

std::optional<std::string> ParsedCall::unknown_method(std::string_view expected) const {
  return fmt::format("found the method `{}`, expected {}", method, expected);
}

std::optional<std::string> ParsedCall::take_list(std::string_view what) const {
  const auto is_null = [](const Json& v) { return v.is_null(); };
  if (!value.is_array() || std::any_of(value.begin(), value.end(), is_null)) return expected(what);
  for (const Json& v : value) list.push_back(element(v));
  return std::nullopt;
}

Json ReplicatedType::value_of_read(const Operation& /*op*/, const Json& /*argument*/,
                                   const Json& answer) const {
  return answer;
}

}  // namespace cupel::crdt
