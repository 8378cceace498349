// The functions of SQL, one entry of the table each: its name, the types of its arguments and of
// its result, and its value, which is null if an argument is. What has no entry raises 0A000,
// whether PostgreSQL knows it or not.
#include <fmt/format.h>

#include <algorithm>

#include "base/text.hpp"
#include "sql/expression/coercion.hpp"

namespace cupel::sql {

namespace {

using Values = std::vector<Scalar>;

std::string upper(std::string words) {
  for (auto& c : words) {
    if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 32);
  }
  return words;
}

const std::string& text(const Scalar& value) {
  return std::get<std::string>(value);
}

struct Function {
  std::string name;
  std::vector<Type> parameters;
  Type result = Type::kNull;
  std::function<Scalar(const Values&)> value;
};

const std::vector<Function>& functions() {
  constexpr auto kText = Type::kText;
  static const std::vector<Function> kFunctions = {
      {"upper", {kText}, kText, [](const Values& v) { return upper(text(v[0])); }},
      {"lower", {kText}, kText, [](const Values& v) { return base::to_lower(text(v[0])); }},
      {"length",
       {kText},
       Type::kInteger,
       [](const Values& v) { return static_cast<std::int64_t>(characters(text(v[0]))); }},
      // What drivers ask for.
      {"version", {}, kText, [](const Values&) { return "PostgreSQL 15.0 (cupel mock)"; }},
      {"current_database", {}, kText, [](const Values&) { return "cupel"; }},
      {"current_schema", {}, kText, [](const Values&) { return "public"; }},
  };
  return kFunctions;
}

}  // namespace

ExpressionPtr Coercion::coalesce(const std::vector<ExpressionPtr>& parts) const {
  const auto type = common(parts, "COALESCE");
  std::vector<ExpressionPtr> all;
  for (const auto& part : parts) all.push_back(alike(part, type));
  // As PostgreSQL's planner, before it asks what the others have in common.
  std::erase_if(all, [](const auto& part) {
    return part->kind == Expression::Kind::kConstant && is_null(part->constant);
  });
  if (all.empty()) return constant({}, type);
  return computed("coalesce", common(all, "COALESCE"), all, [all](const Frame& frame) {
    for (const auto& part : all) {
      auto value = part->value(frame);
      if (!is_null(value)) return value;
    }
    return Scalar();
  });
}

ExpressionPtr Coercion::function(const std::string& name,
                                 const std::vector<ExpressionPtr>& parts) const {
  if (name == "now" && parts.empty()) {
    return computed(name, {Type::kTimestampTz}, {},
                    [](const Frame& frame) -> Scalar { return frame.context.facts.now; });
  }
  const auto found = std::find_if(functions().begin(), functions().end(),
                                  [&](const Function& one) { return one.name == name; });
  if (found == functions().end()) not_supported("the function " + name);
  std::vector<ExpressionPtr> arguments;
  std::string types;
  bool fits = parts.size() == found->parameters.size();
  for (const auto& part : parts) {
    types += (types.empty() ? "" : ", ") + std::string(type_name(part->type.type));
    if (!fits) continue;
    arguments.push_back(to(part, {found->parameters[arguments.size()]}, Context::kImplicit));
    fits = arguments.back() != nullptr;
  }
  if (!fits) raise("42883", fmt::format("function {}({}) does not exist", name, types));
  return strict(name, {found->result}, std::move(arguments), found->value);
}

}  // namespace cupel::sql
