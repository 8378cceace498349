// Replicated type: what most types have in common, and the messages of calls that are not
// understood.
#include "crdt/model/replicated_type.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/text/flat_json.hpp"
#include "base/text/json.hpp"

namespace cupel::crdt {

using Json = nlohmann::json;

namespace {

class TreeCall final : public FlatCall {
 public:
  TreeCall(const ReplicatedType& type, Json value) : type_(type), value_(std::move(value)) {}

  [[nodiscard]] std::optional<std::string> parse(const ParsedCall& call) const override {
    return type_.parse({.method = call.method,
                        .value = value_,
                        .indeterminate = call.indeterminate,
                        .grow_only = call.grow_only,
                        .history = call.history,
                        .op = call.op,
                        .list = call.list});
  }

 private:
  const ReplicatedType& type_;
  const Json value_;
};

}  // namespace

std::unique_ptr<FlatCall> ReplicatedType::flat_call(std::string_view /*method*/,
                                                    std::string_view value) const {
  return tree_call(value);
}

std::unique_ptr<FlatCall> ReplicatedType::tree_call(std::string_view value) const {
  return std::make_unique<TreeCall>(*this, text::flat_json(value));
}

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

std::optional<std::string> ParsedCall::refuse_repeated_characters() const {
  std::vector<std::uint32_t> sorted(list.begin(), list.end());
  std::sort(sorted.begin(), sorted.end());
  if (std::adjacent_find(sorted.begin(), sorted.end()) == sorted.end()) return std::nullopt;
  return expected("each character once, as a text has it");
}

std::optional<std::string> ParsedCall::take_list(std::string_view what) const {
  const auto is_null = [](const Json& v) { return v.is_null(); };
  if (!value.is_array() || std::any_of(value.begin(), value.end(), is_null)) return expected(what);
  for (const Json& v : value) list.push_back(element(v));
  return std::nullopt;
}

}  // namespace cupel::crdt
