// History: names, interning and the text of an operation.
#include "crdt/model/history.hpp"

#include <fmt/format.h>

#include <array>
#include <nlohmann/json.hpp>

namespace cupel::crdt {

namespace {

constexpr std::array kTypes = {
    Type::kAddWinsSet,      Type::kRemoveWinsSet,      Type::kEnableWinsFlag,
    Type::kDisableWinsFlag, Type::kMultiValueRegister, Type::kLastWriterWinsRegister,
    Type::kCounter,         Type::kGrowableArray};

struct Alias {
  std::string_view name;
  NamedType meant;
};
// The first of each type is its name.
constexpr std::array kNames = {
    Alias{"add-wins-set", {Type::kAddWinsSet}},
    Alias{"remove-wins-set", {Type::kRemoveWinsSet}},
    Alias{"enable-wins-flag", {Type::kEnableWinsFlag}},
    Alias{"disable-wins-flag", {Type::kDisableWinsFlag}},
    Alias{"multi-value-register", {Type::kMultiValueRegister}},
    Alias{"last-writer-wins-register", {Type::kLastWriterWinsRegister}},
    Alias{"counter", {Type::kCounter}},
    Alias{"growable-array", {Type::kGrowableArray}},
    Alias{"aw-set", {Type::kAddWinsSet}},
    Alias{"or-set", {Type::kAddWinsSet}},
    Alias{"rw-set", {Type::kRemoveWinsSet}},
    Alias{"grow-only-set", {Type::kAddWinsSet, true}},
    Alias{"g-set", {Type::kAddWinsSet, true}},
    Alias{"ew-flag", {Type::kEnableWinsFlag}},
    Alias{"dw-flag", {Type::kDisableWinsFlag}},
    Alias{"mv-register", {Type::kMultiValueRegister}},
    Alias{"mvr", {Type::kMultiValueRegister}},
    Alias{"lww-register", {Type::kLastWriterWinsRegister}},
    Alias{"lww", {Type::kLastWriterWinsRegister}},
    Alias{"replicated-counter", {Type::kCounter}},
    Alias{"pn-counter", {Type::kCounter}},
    Alias{"g-counter", {Type::kCounter, true}},
    Alias{"grow-only-counter", {Type::kCounter, true}},
    Alias{"replicated-growable-array", {Type::kGrowableArray}},
    Alias{"rga", {Type::kGrowableArray}},
};

}  // namespace

std::string_view name(Type type) {
  return kNames[static_cast<std::size_t>(type)].name;
}

std::span<const Type> all_types() {
  return kTypes;
}

std::optional<NamedType> type_of(std::string_view name) {
  for (const auto& alias : kNames) {
    if (alias.name == name) return alias.meant;
  }
  return std::nullopt;
}

std::vector<std::string> type_names() {
  std::vector<std::string> names;
  for (const auto& alias : kNames) names.emplace_back(alias.name);
  return names;
}

std::uint32_t History::replica(const std::string& name) {
  const auto [it, fresh] = replica_ids_.try_emplace(name, replicas.size());
  if (fresh) {
    replicas.push_back(name);
    by_replica.emplace_back();
  }
  return it->second;
}

std::uint32_t History::key(const std::string& name) {
  const auto [it, fresh] = key_ids_.try_emplace(name, keys.size());
  if (fresh) keys.push_back(name);
  return it->second;
}

std::uint32_t History::element(std::uint32_t of, const std::string& text) {
  const auto [it, fresh] = element_ids_.try_emplace({of, text}, elements.size());
  if (fresh) elements.push_back({of, text});
  return it->second;
}

OpId History::add(Operation op) {
  const auto id = static_cast<OpId>(ops.size());
  op.seq = static_cast<std::uint32_t>(by_replica[op.replica].size());
  by_replica[op.replica].push_back(id);
  ops.push_back(op);
  return id;
}

OpId History::add(Operation op, std::span<const std::uint32_t> list) {
  op.list_begin = static_cast<std::uint32_t>(lists.size());
  lists.insert(lists.end(), list.begin(), list.end());
  op.list_end = static_cast<std::uint32_t>(lists.size());
  return add(op);
}

std::string_view History::method(const Operation& op) const {
  switch (op.kind) {
    case Kind::kUp:
      return is_flag(type) ? "enable" : "add";
    case Kind::kDown:
      return is_flag(type) ? "disable" : "remove";
    case Kind::kTest:
      return is_flag(type) ? "read" : "contains";
    case Kind::kInc:
      return op.amount < 0 ? "dec" : "inc";
    case Kind::kWrite:
      return "write";
    case Kind::kInsert:
      return "addAfter";
    case Kind::kDelete:
      return "remove";
    case Kind::kState:
    case Kind::kValue:
    case Kind::kValues:
    case Kind::kList:
      break;
  }
  return "read";
}

std::string History::key_json(std::uint32_t key) const {
  const std::string& name = keys[key];
  const bool whole =
      !name.empty() &&
      name.find_first_not_of("0123456789", name.starts_with('-') ? 1 : 0) == std::string::npos;
  if (whole || name.starts_with('"')) return name;
  return nlohmann::json(name).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

std::string History::element_text(std::uint32_t element) const {
  return element == kNone ? std::string("the beginning") : elements[element].text;
}

std::string History::text(OpId id) const {
  const Operation& op = ops[id];
  std::string arguments, result;
  const auto add_argument = [&](const std::string& text) {
    arguments += (arguments.empty() ? "" : ", ") + text;
  };
  if (is_flag(type) || keys.size() > 1) add_argument(keys[op.key]);
  switch (op.kind) {
    case Kind::kUp:
    case Kind::kDown:
      if (!is_flag(type)) add_argument(elements[op.element].text);
      break;
    case Kind::kTest:
      if (!is_flag(type)) add_argument(elements[op.element].text);
      result = op.returned ? "true" : "false";
      break;
    case Kind::kInc:
      if (op.amount != 1 && op.amount != -1)
        add_argument(std::to_string(op.amount < 0 ? -op.amount : op.amount));
      break;
    case Kind::kValue:
      result = std::to_string(op.amount);
      break;
    case Kind::kWrite:
    case Kind::kDelete:
      add_argument(elements[op.element].text);
      break;
    case Kind::kInsert:
      add_argument(op.parent == kNone ? "null" : elements[op.parent].text);
      add_argument(elements[op.element].text);
      break;
    case Kind::kState:
    case Kind::kValues:
    case Kind::kList: {
      constexpr std::size_t kShown = 12;
      const auto all = list(op);
      if (type == Type::kLastWriterWinsRegister) {
        result = all.empty() ? "null" : elements[all[0]].text;
        break;
      }
      for (std::size_t i = 0; i < all.size() && i < kShown; ++i)
        result += (i == 0 ? "" : ", ") + elements[all[i]].text;
      if (all.size() > kShown) result += fmt::format(", … {} more", all.size() - kShown);
      result = (op.kind == Kind::kList ? "[" : "{") + result + (op.kind == Kind::kList ? "]" : "}");
      break;
    }
  }
  return fmt::format("{}({}){}", method(op), arguments, result.empty() ? "" : " = " + result);
}

}  // namespace cupel::crdt
