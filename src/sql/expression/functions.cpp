// The functions of SQL, one entry of kFunctions each: its name, how many arguments it takes, and
// either their types with its value (`plain`), or what makes the expression of a call (`made`). For
// a new function, copy `plain("upper", …)`; use `made` only if the type of the result depends on
// the arguments, or the value on more than them. What has no entry raises 0A000, whether PostgreSQL
// knows it or not.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "sql/expression/coercion.hpp"

namespace cupel::sql {

namespace {

using Values = std::vector<Scalar>;

const std::string& text(const Scalar& value) {
  return std::get<std::string>(value);
}
std::int64_t whole(const Scalar& value) {
  return std::get<std::int64_t>(value);
}

std::string upper(std::string words) {
  for (auto& c : words) {
    if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 32);
  }
  return words;
}

std::string lower(std::string words) {
  for (auto& c : words) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c + 32);
  }
  return words;
}

constexpr auto kT = Type::kText;
constexpr auto kI = Type::kInteger;

// A call that is bound: its arguments, and what the entries below make of them.
class Call {
 public:
  Call(const Coercion& coercion, std::string called, std::vector<ExpressionPtr> arguments,
       std::optional<std::uint32_t> at)
      : rules(coercion), parts(std::move(arguments)), position(at), called_(std::move(called)) {}

  const Coercion& rules;
  std::string name;  // of the entry
  std::vector<ExpressionPtr> parts;
  std::optional<std::uint32_t> position;

  [[nodiscard]] Type given(std::size_t at) const { return parts[at]->type.type; }

  [[noreturn]] void wrong() const {
    std::string types;
    for (const auto& part : parts) {
      types += (types.empty() ? "" : ", ") + std::string(type_name(part->type.type));
    }
    raise("42883", fmt::format("function {}({}) does not exist", called_, types), position);
  }

  // An argument as this type, which it must be without a cast.
  [[nodiscard]] ExpressionPtr brought(std::size_t at, Type type) const {
    auto made = rules.to(parts[at], {type}, Context::kImplicit);
    if (made == nullptr) wrong();
    return made;
  }

  // What the session knows.
  [[nodiscard]] ExpressionPtr of_session(Type type,
                                         std::function<Scalar(const SessionFacts&)> value) const {
    return computed(called_, {type}, {}, [value = std::move(value)](const Frame& frame) {
      return value(frame.context.facts);
    });
  }

 private:
  std::string called_;
};

// The session, its settings and its clock.

ExpressionPtr now(Call& call) {
  return call.of_session(Type::kTimestampTz,
                         [](const SessionFacts& facts) -> Scalar { return facts.now; });
}

ExpressionPtr version(Call& call) {
  return call.of_session(
      kT, [](const SessionFacts& facts) -> Scalar { return std::string(facts.version); });
}

ExpressionPtr database(Call& call) {
  return call.of_session(kT, [](const SessionFacts&) -> Scalar { return std::string("cupel"); });
}

ExpressionPtr current_schema(Call& call) {
  return call.of_session(kT, [](const SessionFacts&) -> Scalar { return std::string("public"); });
}

ExpressionPtr backend_pid(Call& call) {
  return call.of_session(kI, [](const SessionFacts& facts) -> Scalar {
    return static_cast<std::int64_t>(facts.connection);
  });
}

ExpressionPtr current_user(Call& call) {
  return call.of_session(kT, [](const SessionFacts& facts) -> Scalar { return facts.user; });
}

ExpressionPtr cancel_backend(Call& call) {
  const auto part = call.brought(0, kI);
  return computed(call.name, {Type::kBoolean}, {part}, [part](const Frame& frame) -> Scalar {
    const auto value = part->value(frame);
    if (is_null(value)) return {};
    const auto& facts = frame.context.facts;
    return facts.cancel_other && facts.cancel_other(static_cast<std::uint32_t>(whole(value)));
  });
}

ExpressionPtr set_config(Call& call) {
  const auto setting = call.brought(0, kT), wanted = call.brought(1, kT),
             local = call.brought(2, Type::kBoolean);
  return computed(call.name, {kT}, {setting, wanted, local}, [=](const Frame& frame) -> Scalar {
    const auto one = setting->value(frame), value = wanted->value(frame),
               only = local->value(frame);
    if (is_null(one)) raise("22004", "SET requires parameter name");
    if (is_null(value)) not_supported("set_config of null");
    return frame.context.facts.configure(lower(text(one)), text(value),
                                         !is_null(only) && std::get<bool>(only));
  });
}

ExpressionPtr current_setting(Call& call) {
  const auto part = call.brought(0, kT);
  return computed(call.name, {kT}, {part}, [part](const Frame& frame) -> Scalar {
    const auto value = part->value(frame);
    if (is_null(value)) return {};
    return frame.context.facts.setting(lower(text(value)));
  });
}

ExpressionPtr current_setting_or_null(Call& call) {
  const auto setting = call.brought(0, kT), missing = call.brought(1, Type::kBoolean);
  return computed(call.name, {kT}, {setting, missing}, [=](const Frame& frame) -> Scalar {
    const auto one = setting->value(frame), may = missing->value(frame);
    if (is_null(one) || is_null(may)) return {};
    try {
      return frame.context.facts.setting(lower(text(one)));
    } catch (const SqlException& exception) {
      if (exception.error.sqlstate != "42704" || !std::get<bool>(may)) throw;
      return {};
    }
  });
}

ExpressionPtr coalesce(Call& call) {
  const auto type = Coercion::common(call.parts, "COALESCE");
  std::vector<ExpressionPtr> all;
  for (const auto& part : call.parts) all.push_back(call.rules.alike(part, type));
  // As PostgreSQL's planner, before it asks what the others have in common.
  std::erase_if(all, [](const auto& part) {
    return part->kind == Expression::Kind::kConstant && is_null(part->constant);
  });
  if (all.empty()) return constant({}, type);
  return computed(call.name, Coercion::common(all, "COALESCE"), all, [all](const Frame& frame) {
    for (const auto& part : all) {
      auto value = part->value(frame);
      if (!is_null(value)) return value;
    }
    return Scalar();
  });
}

// Numbers.

ExpressionPtr absolute(Call& call) {
  const auto part = call.given(0) == Type::kNull ? call.brought(0, Type::kDouble) : call.parts[0];
  const auto type = part->type.type;
  if (!is_number(type)) call.wrong();
  return strict(call.name, {type}, {part}, [type](const Values& v) -> Scalar {
    if (type == Type::kNumeric) {
      const auto& number = std::get<Decimal>(v[0]);
      return number.sign() < 0 ? number.negated() : number;
    }
    if (is_integer(type)) {
      const auto number = whole(v[0]);
      if (number == std::numeric_limits<std::int64_t>::min()) {
        raise("22003", "bigint out of range");
      }
      return checked_integer(number < 0 ? -number : number, type);
    }
    return std::fabs(std::get<double>(v[0]));
  });
}

// An entry of the table.
struct Function {
  const char* name;
  std::size_t least, most;  // arguments
  // One of these: what makes the expression, or types and value; null of null arguments.
  ExpressionPtr (*make)(Call&) = nullptr;
  std::vector<Type> parameters = {};
  Type result = Type::kNull;
  std::function<Scalar(const Values&)> value = {};
};

constexpr std::size_t kAny = std::numeric_limits<std::size_t>::max();

Function plain(const char* name, std::vector<Type> parameters, Type result,
               std::function<Scalar(const Values&)> value) {
  const auto count = parameters.size();
  return {name, count, count, nullptr, std::move(parameters), result, std::move(value)};
}
Function made(const char* name, std::size_t least, std::size_t most, ExpressionPtr (*make)(Call&)) {
  return {name, least, most, make};
}

const std::vector<Function>& functions() {
  static const std::vector<Function> kFunctions = {
      plain("upper", {kT}, kT, [](const Values& v) -> Scalar { return upper(text(v[0])); }),
      plain("lower", {kT}, kT, [](const Values& v) -> Scalar { return lower(text(v[0])); }),
      plain("length", {kT}, kI,
            [](const Values& v) -> Scalar {
              return static_cast<std::int64_t>(characters(text(v[0])));
            }),
      made("coalesce", 1, kAny, coalesce),
      made("abs", 1, 1, absolute),
      made("now", 0, 0, now),
      made("version", 0, 0, version),
      made("current_database", 0, 0, database),
      made("current_catalog", 0, 0, database),
      made("current_schema", 0, 0, current_schema),
      made("current_user", 0, 0, current_user),
      made("pg_backend_pid", 0, 0, backend_pid),
      made("pg_cancel_backend", 1, 1, cancel_backend),
      made("set_config", 3, 3, set_config),
      made("current_setting", 1, 1, current_setting),
      made("current_setting", 2, 2, current_setting_or_null),
  };
  return kFunctions;
}

// Other names of entries.
struct OtherName {
  std::string_view called, name;
};
constexpr OtherName kOtherNames[] = {
    {"char_length", "length"},
    {"character_length", "length"},
};

std::string entry_name(const std::string& called) {
  for (const auto& [other, name] : kOtherNames) {
    if (called == other) return std::string(name);
  }
  return called;
}

}  // namespace

ExpressionPtr Coercion::function(const std::string& called, std::vector<ExpressionPtr> parts,
                                 std::optional<std::uint32_t> position) const {
  Call call(*this, called, std::move(parts), position);
  call.name = entry_name(called);
  bool known = false;
  for (const auto& one : functions()) {
    if (call.name != one.name) continue;
    known = true;
    if (call.parts.size() < one.least || call.parts.size() > one.most) continue;
    if (one.make != nullptr) return one.make(call);
    std::vector<ExpressionPtr> arguments;
    for (std::size_t at = 0; at < call.parts.size(); ++at) {
      arguments.push_back(call.brought(at, one.parameters[at]));
    }
    return strict(call.name, {one.result}, std::move(arguments), one.value);
  }
  if (known) call.wrong();
  not_supported("the function " + called, position);
}

}  // namespace cupel::sql
