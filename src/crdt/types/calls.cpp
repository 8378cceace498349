// Calls: the operations of a type as files, requests and words have them, by the forms in its
// traits (CallForm).
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "crdt/model/amounts.hpp"
#include "crdt/model/element_json.hpp"
#include "crdt/model/replicated_type.hpp"

namespace cupel::crdt {

namespace {

using Json = nlohmann::json;
using Wrong = std::optional<std::string>;

std::int64_t magnitude(const Operation& op) {
  return op.amount < 0 ? -op.amount : op.amount;
}

bool has_amount(const CallForm& form) {
  return form.argument == Argument::kIncrease || form.argument == Argument::kDecrease;
}

// The last of the forms is that of a read.
const CallForm& form_of(const TypeTraits& traits, const Operation& op) {
  return *std::find_if(traits.calls.begin(), traits.calls.end() - 1, [&](const CallForm& form) {
    return form.kind == op.kind && (form.argument != Argument::kIncrease || op.amount >= 0);
  });
}

// The elements that stand beside the method.
std::vector<std::uint32_t> named_by(const CallForm& form, const Operation& op) {
  if (form.argument == Argument::kAbsent || has_amount(form)) return {};
  if (form.argument == Argument::kAfter) return {op.parent, op.element};
  if (form.argument == Argument::kTo) return {op.element, op.parent};
  return {op.element};
}

bool is_whole_number(const Json& value) {
  return value.is_number_integer() &&
         (!value.is_number_unsigned() || is_whole_within(value, kNever));
}

Wrong parse_pair(const CallForm& form, const ParsedCall& call) {
  const Json& pair = call.value;
  const bool after = form.argument == Argument::kAfter;
  const bool two = pair.is_array() && pair.size() == 2;
  if (!two || pair[after ? 1 : 0].is_null() || (!after && pair[0] == pair[1]))
    return call.expected(form.expected);
  const auto element = [&](const Json& one) { return one.is_null() ? kNone : call.element(one); };
  (after ? call.op.parent : call.op.element) = element(pair[0]);
  (after ? call.op.element : call.op.parent) = element(pair[1]);
  if (call.op.parent == call.op.element) return call.expected("two different characters");
  return std::nullopt;
}

Wrong parse_amount(const CallForm& form, const ParsedCall& call) {
  auto& amount = call.op.amount = 1;
  if (!call.value.is_null()) {
    if (!call.value.is_number_integer()) return call.expected("a whole number, or none for 1");
    if (!is_whole_within(call.value, kMostAmount))
      return call.expected(fmt::format("a number of at most 2^{}", kAmountBits));
    amount = call.value.get<std::int64_t>();
  }
  if (amount <= 0) return call.expected("a whole number above 0, or none for 1");
  if (form.argument == Argument::kDecrease) amount = -amount;
  return std::nullopt;
}

Wrong parse_argument(const CallForm& form, const ParsedCall& call) {
  if (form.argument == Argument::kAbsent) return std::nullopt;
  if (has_amount(form)) return parse_amount(form, call);
  if (form.argument == Argument::kAfter || form.argument == Argument::kTo)
    return parse_pair(form, call);
  if (call.value.is_null()) return call.expected(form.expected);
  call.op.element = call.element(call.value);
  if (form.argument != Argument::kNumber) return std::nullopt;
  if (!is_whole_number(call.value)) return call.expected("a whole number below 2^63");
  call.op.amount = call.value.get<std::int64_t>();
  return std::nullopt;
}

Wrong parse_boolean(const CallForm& form, const ParsedCall& call) {
  const Json& value = call.value;
  const bool named = form.argument == Argument::kElement;
  if (named && (!value.is_array() || value.size() != 2 || value[0].is_null()))
    return call.expected(form.expected);
  const Json& returned = named ? value[1] : value;
  if (!returned.is_boolean()) return call.expected(form.expected);
  if (named) call.op.element = call.element(value[0]);
  call.op.returned = returned.get<bool>();
  return std::nullopt;
}

Wrong parse_sum(const ParsedCall& call) {
  if (!call.value.is_number_integer()) return call.expected("a whole number");
  if (!is_whole_within(call.value, kMostSum))
    return call.expected(fmt::format("a number of at most 2^{}", kSumBits));
  call.op.amount = call.value.get<std::int64_t>();
  return std::nullopt;
}

Wrong parse_members(const CallForm& form, const ParsedCall& call) {
  if (!call.value.is_array()) return call.expected(form.expected);
  if (auto wrong = call.take_list("no null among the elements")) return wrong;
  auto sorted = call.list;
  std::sort(sorted.begin(), sorted.end());
  const bool once = std::adjacent_find(sorted.begin(), sorted.end()) == sorted.end();
  return once ? std::nullopt : call.expected("each element once");
}

Wrong parse_tree(const CallForm& form, const ParsedCall& call) {
  if (!call.value.is_array()) return call.expected(form.expected);
  std::vector<std::pair<std::uint32_t, std::uint32_t>> pairs;
  for (const Json& pair : call.value) {
    if (!pair.is_array() || pair.size() != 2 || pair[0].is_null() || pair[0] == pair[1])
      return call.expected(form.expected);
    const auto node = call.element(pair[0]);
    pairs.emplace_back(node, pair[1].is_null() ? node : call.element(pair[1]));
  }
  std::sort(pairs.begin(), pairs.end());  // equal trees are equal lists
  for (const auto& [node, parent] : pairs) call.list.insert(call.list.end(), {node, parent});
  return std::nullopt;
}

Wrong parse_answer(const CallForm& form, const ParsedCall& call) {
  switch (form.answer) {
    case Answer::kBoolean:
      return parse_boolean(form, call);
    case Answer::kSum:
      return parse_sum(call);
    case Answer::kMembers:
      return parse_members(form, call);
    case Answer::kTree:
      return parse_tree(form, call);
    case Answer::kList:
      return call.take_list(form.expected);
    default:
      break;
  }
  if (call.value.is_null()) return std::nullopt;
  if (form.answer == Answer::kValues) return call.take_list(form.expected);
  if (form.answer == Answer::kNumber && !is_whole_number(call.value))
    return call.expected(form.expected);
  call.list.push_back(call.element(call.value));
  return std::nullopt;
}

std::string tree_text(const History& history, const Operation& op) {
  constexpr std::size_t kShown = 24;
  const auto list = history.list(op);
  std::string all;
  for (std::size_t i = 0; i < std::min(kShown, list.size()); i += 2)
    all += fmt::format("{}{}: {}", i == 0 ? "" : ", ", history.element_text(list[i]),
                       list[i] == list[i + 1] ? "null" : history.element_text(list[i + 1]));
  if (list.size() > kShown) all += fmt::format(", … {} more", (list.size() - kShown) / 2);
  return "{" + all + "}";
}

std::string answer_text(const CallForm& form, const History& history, const Operation& op) {
  const auto list = history.list(op);
  switch (form.answer) {
    case Answer::kAbsent:
      return "";
    case Answer::kBoolean:
      return op.returned ? "true" : "false";
    case Answer::kSum:
      return std::to_string(op.amount);
    case Answer::kList:
      return "[" + history.listed(op) + "]";
    case Answer::kTree:
      return tree_text(history, op);
    case Answer::kValue:
    case Answer::kNumber:
      return list.empty() ? "null" : history.element_text(list[0]);
    default:
      return "{" + history.listed(op) + "}";
  }
}

}  // namespace

std::string_view ReplicatedType::method(const Operation& op) const {
  return form_of(traits_, op).method;
}

ReplicatedType::Text ReplicatedType::text(const History& history, const Operation& op) const {
  const CallForm& form = form_of(traits_, op);
  Text text{.arguments = {}, .result = answer_text(form, history, op)};
  for (const auto e : named_by(form, op))
    text.arguments.push_back(e == kNone ? "null" : history.element_text(e));
  if (has_amount(form) && magnitude(op) != 1)
    text.arguments.push_back(std::to_string(magnitude(op)));
  return text;
}

std::optional<std::string> ReplicatedType::parse(const ParsedCall& call) const {
  const auto form =
      std::find_if(traits_.calls.begin(), traits_.calls.end(),
                   [&](const CallForm& known) { return known.method == call.method; });
  if (form == traits_.calls.end()) return call.unknown_method(traits_.methods);
  call.op.kind = form->kind;
  if (form->answer != Answer::kAbsent)
    return call.indeterminate ? std::nullopt : parse_answer(*form, call);
  if (auto wrong = parse_argument(*form, call)) return wrong;
  const bool grows = call.grow_only || traits_.names[0].grow_only;
  if (!grows || form->refused_if_growing.empty()) return std::nullopt;
  return std::string(form->refused_if_growing);
}

Json ReplicatedType::argument(const History& history, const Operation& op) const {
  const CallForm& form = form_of(traits_, op);
  if (has_amount(form)) return magnitude(op);
  Json named = Json::array();
  for (const auto e : named_by(form, op)) named.push_back(element_json(history, e));
  return named.size() > 1 ? named : named.empty() ? Json() : named[0];
}

Json ReplicatedType::value(const History& history, const Operation& op) const {
  const CallForm& form = form_of(traits_, op);
  const auto list = history.list(op);
  switch (form.answer) {
    case Answer::kAbsent:
      return has_amount(form) && magnitude(op) == 1 ? Json() : argument(history, op);
    case Answer::kBoolean:
      return value_of_read(op, argument(history, op), op.returned);
    case Answer::kSum:
      return op.amount;
    case Answer::kValue:
    case Answer::kNumber:
      return list.empty() ? Json() : element_json(history, list[0]);
    case Answer::kTree:
      break;
    default:
      return list_json(history, op);
  }
  Json tree = Json::array();
  for (std::size_t i = 0; i < list.size(); i += 2)
    tree.push_back({element_json(history, list[i]),
                    element_json(history, list[i] == list[i + 1] ? kNone : list[i + 1])});
  return tree;
}

Json ReplicatedType::value_of_read(const Operation& op, const Json& argument,
                                   const Json& answer) const {
  const bool named = op.kind == Kind::kTest && traits_.objects_are_elements;
  return named ? Json::array({argument, answer}) : answer;
}

}  // namespace cupel::crdt
