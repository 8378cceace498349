// The functions of SQL, one entry of kFunctions each: its name, how many arguments it takes, and
// either their types with its value (`plain`), or what makes the expression of a call (`made`). For
// a new function, copy `plain("strpos", …)`; use `made` only if the type of the result depends on
// the arguments, or the value on more than them. What has no entry raises 0A000, whether PostgreSQL
// knows it or not.
#include <fmt/format.h>

#include <algorithm>
#include <bitset>
#include <cmath>
#include <limits>

#include "sql/expression/coercion.hpp"
#include "sql/value/text_search.hpp"

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

// Characters from `start` (1 is the first), `count` of them; both may reach outside.
std::string substring(const std::string& words, std::int64_t start,
                      std::optional<std::int64_t> count) {
  const auto all = static_cast<std::int64_t>(characters(words));
  if (count && *count < 0) raise("22011", "negative substring length not allowed");
  std::int64_t end = all + 1;
  if (count && !__builtin_add_overflow(start, *count, &end)) end = std::min(end, all + 1);
  const auto from = std::max<std::int64_t>(start, 1);
  if (end <= from) return {};
  const auto skipped = first_characters(words, static_cast<std::size_t>(from - 1)).size();
  return std::string(first_characters(std::string_view(words).substr(skipped),
                                      static_cast<std::size_t>(end - from)));
}

std::string stripped(const std::string& words, const std::string& set, bool left, bool right) {
  // Characters of one byte: those of the set that are longer are not looked for.
  if (!std::all_of(set.begin(), set.end(), [](char c) { return (c & 0x80) == 0; })) {
    not_supported("trimming characters beyond ASCII");
  }
  std::bitset<128> in_set;
  for (const char c : set) in_set.set(static_cast<std::size_t>(c));
  const auto goes = [&](char c) { return (c & 0x80) == 0 && in_set[static_cast<std::size_t>(c)]; };
  std::size_t from = 0, to = words.size();
  while (left && from < to && goes(words[from])) ++from;
  while (right && to > from && goes(words[to - 1])) --to;
  return words.substr(from, to - from);
}

std::string padded(const std::string& words, std::int64_t length, const std::string& fill,
                   bool left) {
  if (length > 1'000'000) raise("54000", "requested length too large");
  const auto wanted = static_cast<std::size_t>(std::max<std::int64_t>(length, 0));
  const auto count = characters(words);
  if (count >= wanted || fill.empty()) return std::string(first_characters(words, wanted));
  std::string padding;
  auto missing = wanted - count;
  while (missing > 0) {
    const auto part = first_characters(fill, missing);
    padding += part;
    missing -= characters(part);
  }
  return left ? padding + words : words + padding;
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

// round, ceil, floor, trunc, sign: of numeric, or of double precision.
Scalar in_steps(const std::string& name, const Scalar& value, Type type) {
  if (type == Type::kNumeric) {
    const auto& number = std::get<Decimal>(value);
    if (name == "round") return number.rounded(0);
    if (name == "trunc") return number.truncated(0);
    if (name == "ceil") return number.ceiling();
    if (name == "floor") return number.floor();
    return Decimal(number.sign());
  }
  const double number = std::get<double>(value);
  if (name == "round") return std::nearbyint(number);
  if (name == "trunc") return std::trunc(number);
  if (name == "ceil") return std::ceil(number);
  if (name == "floor") return std::floor(number);
  return number > 0 ? 1.0 : number < 0 ? -1.0 : 0.0;
}

ExpressionPtr length(Call& call) {
  if (call.given(0) == Type::kChar) not_supported("length of character(n)");
  return strict(call.name, {kI}, {call.brought(0, kT)}, [](const Values& v) -> Scalar {
    return static_cast<std::int64_t>(characters(text(v[0])));
  });
}

// The arguments of concat() as text.
std::vector<ExpressionPtr> concatenated(Call& call) {
  std::vector<ExpressionPtr> all;
  for (std::size_t at = 0; at < call.parts.size(); ++at) {
    const auto given = call.given(at);
    if (given == Type::kBoolean) not_supported("concat of a boolean");
    const bool textual = is_string(given) || given == Type::kNull;
    all.push_back(given == Type::kChar
                      ? call.parts[at]
                      : call.rules.to(call.parts[at], {kT},
                                      textual ? Context::kImplicit : Context::kExplicit));
  }
  return all;
}

// Leaves out nulls.
ExpressionPtr concat(Call& call) {
  const auto all = concatenated(call);
  return computed(call.name, {kT}, all, [all](const Frame& frame) -> Scalar {
    std::string made;
    for (const auto& part : all) {
      const auto value = part->value(frame);
      if (!is_null(value)) made += text(value);
      check_length(made.size());
    }
    return made;
  });
}

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

// A choice among arguments of one type.

std::vector<ExpressionPtr> of_one_type(const Call& call, const FullType& type) {
  std::vector<ExpressionPtr> same;
  for (const auto& part : call.parts) same.push_back(call.rules.alike(part, type));
  return same;
}

ExpressionPtr coalesce(Call& call) {
  const auto type = call.rules.common(call.parts, "COALESCE");
  const auto same = of_one_type(call, type);
  return computed(call.name, type, same, [same](const Frame& frame) {
    for (const auto& part : same) {
      auto value = part->value(frame);
      if (!is_null(value)) return value;
    }
    return Scalar();
  });
}

ExpressionPtr extreme(Call& call) {
  const auto type = call.rules.common(call.parts, upper(call.name).c_str());
  const auto same = of_one_type(call, type);
  const int wanted = call.name == "greatest" ? 1 : -1;
  const auto by = type.type;
  return computed(call.name, type, same, [same, wanted, by](const Frame& frame) {
    Scalar best;
    for (const auto& part : same) {
      auto value = part->value(frame);
      if (is_null(value)) continue;
      if (is_null(best) || compare(value, best, by) * wanted > 0) {
        best = std::move(value);
      }
    }
    return best;
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

ExpressionPtr stepped(Call& call) {
  const auto type = call.given(0) == Type::kNumeric ? Type::kNumeric : Type::kDouble;
  return strict(call.name, {type}, {call.brought(0, type)},
                [name = call.name, type](const Values& v) { return in_steps(name, v[0], type); });
}

// To a number of digits.
ExpressionPtr rounded_to(Call& call) {
  return strict(call.name, {Type::kNumeric}, {call.brought(0, Type::kNumeric), call.brought(1, kI)},
                [round = call.name == "round"](const Values& v) -> Scalar {
                  const auto count =
                      static_cast<int>(std::clamp<std::int64_t>(whole(v[1]), -2000, 2000));
                  const auto& number = std::get<Decimal>(v[0]);
                  return round ? number.rounded(count) : number.truncated(count);
                });
}

ExpressionPtr modulo(Call& call) {
  return call.rules.binary("%", call.parts[0], call.parts[1], call.position);
}

ExpressionPtr square_root(Call& call) {
  if (call.given(0) == Type::kNumeric) not_supported("sqrt of numeric");
  return strict(call.name, {Type::kDouble}, {call.brought(0, Type::kDouble)},
                [](const Values& v) -> Scalar {
                  const double number = std::get<double>(v[0]);
                  if (number < 0) raise("2201F", "cannot take square root of a negative number");
                  return std::sqrt(number);
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
      plain("octet_length", {kT}, kI,
            [](const Values& v) -> Scalar { return static_cast<std::int64_t>(text(v[0]).size()); }),

      plain("substring", {kT, kI}, kT,
            [](const Values& v) -> Scalar { return substring(text(v[0]), whole(v[1]), {}); }),
      plain("substring", {kT, kI, kI}, kT,
            [](const Values& v) -> Scalar {
              return substring(text(v[0]), whole(v[1]), whole(v[2]));
            }),
      plain("left", {kT, kI}, kT,
            [](const Values& v) -> Scalar {
              const auto all_of_it = static_cast<std::int64_t>(characters(text(v[0])));
              const auto count = whole(v[1]) < 0
                                     ? std::max<std::int64_t>(all_of_it + whole(v[1]), 0)
                                     : whole(v[1]);
              return std::string(first_characters(text(v[0]), static_cast<std::size_t>(count)));
            }),
      plain("right", {kT, kI}, kT,
            [](const Values& v) -> Scalar {
              const auto all_of_it = static_cast<std::int64_t>(characters(text(v[0])));
              const auto skipped = whole(v[1]) < 0
                                       ? std::min(-whole(v[1]), all_of_it)
                                       : std::max<std::int64_t>(all_of_it - whole(v[1]), 0);
              return substring(text(v[0]), skipped + 1, {});
            }),
      plain("btrim", {kT}, kT,
            [](const Values& v) -> Scalar { return stripped(text(v[0]), " ", true, true); }),
      plain("ltrim", {kT}, kT,
            [](const Values& v) -> Scalar { return stripped(text(v[0]), " ", true, false); }),
      plain("rtrim", {kT}, kT,
            [](const Values& v) -> Scalar { return stripped(text(v[0]), " ", false, true); }),
      plain("btrim", {kT, kT}, kT,
            [](const Values& v) -> Scalar { return stripped(text(v[0]), text(v[1]), true, true); }),
      plain(
          "ltrim", {kT, kT}, kT,
          [](const Values& v) -> Scalar { return stripped(text(v[0]), text(v[1]), true, false); }),
      plain(
          "rtrim", {kT, kT}, kT,
          [](const Values& v) -> Scalar { return stripped(text(v[0]), text(v[1]), false, true); }),
      plain("replace", {kT, kT, kT}, kT,
            [](const Values& v) -> Scalar {
              std::string made;
              const auto& from = text(v[1]);
              const auto& words = text(v[0]);
              if (from.empty()) return words;
              std::size_t at = 0;
              for (std::size_t found = 0; (found = find_text(words, from, at)) != words.npos;
                   at = found + from.size()) {
                made.append(words, at, found - at);
                made += text(v[2]);
                check_length(made.size());
              }
              return made.append(words, at);
            }),
      plain("strpos", {kT, kT}, kI,
            [](const Values& v) -> Scalar {
              const auto found = find_text(text(v[0]), text(v[1]));
              if (found == std::string::npos) return std::int64_t{0};
              return static_cast<std::int64_t>(
                         characters(std::string_view(text(v[0])).substr(0, found))) +
                     1;
            }),
      plain("reverse", {kT}, kT,
            [](const Values& v) -> Scalar {
              std::string made(text(v[0]).size(), '\0');
              std::string_view rest = text(v[0]);
              while (!rest.empty()) {
                const auto first = first_characters(rest, 1);
                first.copy(made.data() + rest.size() - first.size(), first.size());
                rest.remove_prefix(first.size());
              }
              return made;
            }),
      plain("repeat", {kT, kI}, kT,
            [](const Values& v) -> Scalar {
              const auto times = std::max<std::int64_t>(whole(v[1]), 0);
              if (static_cast<double>(times) * static_cast<double>(text(v[0]).size()) > 1e6) {
                raise("54000", "requested length too large");
              }
              std::string made;
              for (std::int64_t count = 0; count < times; ++count) made += text(v[0]);
              return made;
            }),
      plain("lpad", {kT, kI}, kT,
            [](const Values& v) -> Scalar { return padded(text(v[0]), whole(v[1]), " ", true); }),
      plain("rpad", {kT, kI}, kT,
            [](const Values& v) -> Scalar { return padded(text(v[0]), whole(v[1]), " ", false); }),
      plain("lpad", {kT, kI, kT}, kT,
            [](const Values& v) -> Scalar {
              return padded(text(v[0]), whole(v[1]), text(v[2]), true);
            }),
      plain("rpad", {kT, kI, kT}, kT,
            [](const Values& v) -> Scalar {
              return padded(text(v[0]), whole(v[1]), text(v[2]), false);
            }),
      plain("starts_with", {kT, kT}, Type::kBoolean,
            [](const Values& v) -> Scalar { return text(v[0]).starts_with(text(v[1])); }),
      made("length", 1, 1, length),
      made("concat", 0, kAny, concat),
      made("now", 0, 0, now),
      made("transaction_timestamp", 0, 0, now),
      made("version", 0, 0, version),
      made("current_database", 0, 0, database),
      made("current_catalog", 0, 0, database),
      made("current_schema", 0, 0, current_schema),
      made("pg_backend_pid", 0, 0, backend_pid),
      made("current_user", 0, 0, current_user),
      made("pg_cancel_backend", 1, 1, cancel_backend),
      made("set_config", 3, 3, set_config),
      made("current_setting", 1, 1, current_setting),
      made("current_setting", 2, 2, current_setting_or_null),
      made("coalesce", 1, kAny, coalesce),
      made("greatest", 1, kAny, extreme),
      made("least", 1, kAny, extreme),
      made("abs", 1, 1, absolute),
      made("round", 1, 1, stepped),
      made("ceil", 1, 1, stepped),
      made("floor", 1, 1, stepped),
      made("trunc", 1, 1, stepped),
      made("sign", 1, 1, stepped),
      made("round", 2, 2, rounded_to),
      made("trunc", 2, 2, rounded_to),
      made("mod", 2, 2, modulo),
      made("sqrt", 1, 1, square_root),
  };
  return kFunctions;
}

// Other names of entries.
struct OtherName {
  std::string_view called, name;
};
constexpr OtherName kOtherNames[] = {

    {"char_length", "length"}, {"character_length", "length"},
    {"substr", "substring"},   {"position", "strpos"},
    {"ceiling", "ceil"},
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
