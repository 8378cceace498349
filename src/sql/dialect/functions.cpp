// The functions of SQL, one entry of kFunctions each: its name, the database that has it, how many
// arguments it takes, and either their types with its value (`plain`), or what makes the expression
// of a call (`made`). For a new function, copy `plain("strpos", …)`; use `made` only if the type of
// the result depends on the arguments, or the value on more than them. What has no entry raises
// 0A000, whether the database knows it or not.
//
// The types of a plain entry hold for both databases. Each brings an argument to its type by its
// own rules (Coercion::argument): PostgreSQL without a cast or not at all, MySQL nearly any value.
// A function that only one of them has, or that differs, has `of_postgres` or `of_mysql` around it.
#include <fmt/format.h>

#include <algorithm>
#include <bitset>
#include <cmath>
#include <limits>

#include "sql/dialect/dialect.hpp"
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
    throw rules.no_function(called_, types, position);
  }

  // An argument as this type, which it must be without a cast.
  [[nodiscard]] ExpressionPtr brought(std::size_t at, Type type) const {
    auto made = rules.argument(parts[at], type);
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
  // Of text where a number is needed.
  void need_number() { parts[0] = rules.as_number(parts[0]); }

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

// Text as MySQL has it.

ExpressionPtr mysql_substring(Call& call) {
  std::vector<ExpressionPtr> all{call.brought(0, kT)};
  for (std::size_t at = 1; at < call.parts.size(); ++at) {
    all.push_back(call.brought(at, Type::kBigint));
  }
  return strict(call.name, {kT}, all, [](const Values& v) -> Scalar {
    // Negative positions count from the end; there is none before the first.
    const auto size = static_cast<std::int64_t>(characters(text(v[0])));
    const auto asked = whole(v[1]);
    const auto start = asked < 0 ? size + 1 + std::max(asked, -size - 1) : asked;
    if (start < 1 || start > size) return std::string();
    const auto count = v.size() == 3 ? std::min(whole(v[2]), size) : size;
    if (count < 1) return std::string();
    return substring(text(v[0]), start, count);
  });
}

ExpressionPtr mysql_end_of_text(Call& call) {
  return strict(call.name, {kT}, {call.brought(0, kT), call.brought(1, Type::kBigint)},
                [left = call.name == "left"](const Values& v) -> Scalar {
                  const auto size = static_cast<std::int64_t>(characters(text(v[0])));
                  const auto count = std::clamp<std::int64_t>(whole(v[1]), 0, size);
                  if (count == 0) return std::string();
                  return substring(text(v[0]), left ? 1 : size - count + 1, count);
                });
}

ExpressionPtr mysql_letters(Call& call) {
  return strict(
      call.name, {kT}, {call.brought(0, kT)},
      [up = call.name == "upper"](const Values& v) -> Scalar {
        const auto& words = text(v[0]);
        if (std::any_of(words.begin(), words.end(), [](char c) { return (c & 0x80) != 0; })) {
          not_supported("upper and lower of letters beyond ASCII");
        }
        return up ? upper(words) : lower(words);
      });
}

ExpressionPtr mysql_trim(Call&) {
  not_supported("trim of other characters than blanks");
}

ExpressionPtr mysql_pad(Call& call) {
  const auto count = call.brought(1, Type::kBigint);
  return strict(call.name, {kT}, {call.brought(0, kT), count, call.brought(2, kT)},
                [left = call.name == "lpad"](const Values& v) -> Scalar {
                  if (whole(v[1]) < 0) return {};
                  if (text(v[2]).empty()) not_supported("padding with nothing");
                  return padded(text(v[0]), whole(v[1]), text(v[2]), left);
                });
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

// Null where an argument is.
ExpressionPtr mysql_concat(Call& call) {
  for (std::size_t at = 0; at < call.parts.size(); ++at) {
    if (call.given(at) == Type::kBoolean) not_supported("concat of a boolean");
    if (call.given(at) == Type::kDouble || call.given(at) == Type::kReal) {
      not_supported("concat of a floating-point number");
    }
  }
  const auto all = concatenated(call);
  return computed(call.name, {kT}, all, [all](const Frame& frame) -> Scalar {
    std::string made;
    for (const auto& part : all) {
      const auto value = part->value(frame);
      if (is_null(value)) return {};
      made += text(value);
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

ExpressionPtr mysql_now(Call& call) {
  return call.of_session(Type::kTimestamp, [](const SessionFacts& facts) -> Scalar {
    return facts.now / 1'000'000 * 1'000'000;
  });
}

ExpressionPtr curdate(Call& call) {
  return call.of_session(
      Type::kDate, [](const SessionFacts& facts) -> Scalar { return facts.now / 86'400'000'000; });
}

ExpressionPtr version(Call& call) {
  return call.of_session(
      kT, [](const SessionFacts& facts) -> Scalar { return std::string(facts.version); });
}

ExpressionPtr database(Call& call) {
  return call.of_session(kT, [](const SessionFacts& facts) -> Scalar { return facts.database(); });
}

ExpressionPtr current_schema(Call& call) {
  return call.of_session(kT, [](const SessionFacts&) -> Scalar { return std::string("public"); });
}

ExpressionPtr backend_pid(Call& call) {
  return call.of_session(kI, [](const SessionFacts& facts) -> Scalar {
    return static_cast<std::int64_t>(facts.connection);
  });
}

ExpressionPtr connection_id(Call& call) {
  return call.of_session(Type::kUnsigned, [](const SessionFacts& facts) -> Scalar {
    return std::uint64_t{facts.connection};
  });
}

ExpressionPtr current_user(Call& call) {
  return call.of_session(kT, [](const SessionFacts& facts) -> Scalar { return facts.user; });
}

ExpressionPtr mysql_current_user(Call& call) {
  return call.of_session(
      kT, [](const SessionFacts& facts) -> Scalar { return facts.user + "@localhost"; });
}

ExpressionPtr last_insert_id(Call& call) {
  return call.of_session(Type::kUnsigned,
                         [](const SessionFacts& facts) -> Scalar { return facts.last_insert_id; });
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
  const bool numbers = std::any_of(call.parts.begin(), call.parts.end(),
                                   [](const auto& part) { return is_numeric(*part); });
  for (auto& part : call.parts) {
    if (numbers) part = call.rules.as_number(part);
  }
  const auto type = call.rules.common(call.parts, upper(call.name).c_str());
  const auto same = of_one_type(call, type);
  const int wanted = call.name == "greatest" ? 1 : -1;
  const auto& rules = call.rules.dialect().rules();
  const auto by = order_type(type.type, rules.values);
  return computed(call.name, type, same,
                  [same, wanted, by, of_null = rules.queries.null_in_extremes](const Frame& frame) {
                    Scalar best;
                    for (const auto& part : same) {
                      auto value = part->value(frame);
                      if (is_null(value)) {
                        if (of_null) return Scalar();
                        continue;
                      }
                      if (is_null(best) || compare(value, best, by) * wanted > 0) {
                        best = std::move(value);
                      }
                    }
                    return best;
                  });
}

ExpressionPtr mysql_if(Call& call) {
  const auto test = call.rules.condition(call.parts[0], "IF");
  const auto type = call.rules.common({call.parts[1], call.parts[2]}, "IF");
  const auto yes = call.rules.alike(call.parts[1], type),
             no = call.rules.alike(call.parts[2], type);
  return computed(call.name, type, {test, yes, no}, [test, yes, no](const Frame& frame) {
    return holds(test, frame) ? yes->value(frame) : no->value(frame);
  });
}

// Numbers.

ExpressionPtr absolute(Call& call) {
  call.need_number();
  auto part = call.given(0) == Type::kNull ? call.brought(0, Type::kDouble) : call.parts[0];
  part = call.rules.widened(part);
  const auto type = part->type.type;
  if (!is_number(type)) call.wrong();
  if (type == Type::kUnsigned) return part;
  const auto result = call.rules.showing(type, Coercion::decimals(*part));
  return strict(call.name, result, {part}, [type](const Values& v) -> Scalar {
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

// MySQL has an integer below and above a decimal: without a sign where the decimal has none.
ExpressionPtr mysql_integer_beside(const Call& call) {
  const auto& name = call.name;
  if (call.parts[0]->type.positive) {
    return strict(name, {Type::kUnsigned}, {call.parts[0]}, [name](const Values& v) -> Scalar {
      const auto number = unsigned_of(std::get<Decimal>(in_steps(name, v[0], Type::kNumeric)));
      if (!number) not_supported(name + " of a number beyond 64 bits, or of one below 0");
      return *number;
    });
  }
  return strict(name, {Type::kBigint}, {call.parts[0]}, [name](const Values& v) -> Scalar {
    const auto number = std::get<Decimal>(in_steps(name, v[0], Type::kNumeric)).to_integer();
    if (!number) not_supported(name + " of a number beyond 64 bits");
    return *number;
  });
}

ExpressionPtr stepped(Call& call) {
  call.need_number();
  const auto type = call.given(0) == Type::kNumeric ? Type::kNumeric : Type::kDouble;
  return strict(call.name, {type}, {call.brought(0, type)},
                [name = call.name, type](const Values& v) { return in_steps(name, v[0], type); });
}

ExpressionPtr mysql_stepped(Call& call) {
  call.need_number();
  if (is_whole(call.given(0))) return call.parts[0];
  if (call.given(0) == Type::kNumeric && call.name != "round") return mysql_integer_beside(call);
  return stepped(call);
}

// To a number of digits; the result shows those of `rounded`.
ExpressionPtr rounded_as(Call& call, const FullType& rounded) {
  return strict(call.name, rounded, {call.brought(0, Type::kNumeric), call.brought(1, kI)},
                [round = call.name == "round"](const Values& v) -> Scalar {
                  const auto count =
                      static_cast<int>(std::clamp<std::int64_t>(whole(v[1]), -2000, 2000));
                  const auto& number = std::get<Decimal>(v[0]);
                  return round ? number.rounded(count) : number.truncated(count);
                });
}

ExpressionPtr rounded_to(Call& call) {
  return rounded_as(call, {Type::kNumeric});
}

ExpressionPtr mysql_rounded_to(Call& call) {
  call.need_number();
  const auto& digits = call.parts[1];
  if (call.given(0) != Type::kNumeric || digits->kind != Expression::Kind::kConstant) {
    not_supported("round of what is no decimal, or to a computed number of digits");
  }
  FullType rounded{Type::kNumeric};
  if (!is_null(digits->constant)) {
    if (!is_integer(call.given(1)) || whole(digits->constant) < 0 || whole(digits->constant) > 30) {
      not_supported("round to this number of digits");
    }
    rounded.scale = static_cast<int>(whole(digits->constant));
  }
  return rounded_as(call, rounded);
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
  std::optional<Product> only = {};
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
  return {name, count, count, {}, nullptr, std::move(parameters), result, std::move(value)};
}
Function made(const char* name, std::size_t least, std::size_t most, ExpressionPtr (*make)(Call&)) {
  return {name, least, most, {}, make};
}
Function of_postgres(Function function) {
  function.only = Product::kPostgres;
  return function;
}
Function of_mysql(Function function) {
  function.only = Product::kMysql;
  return function;
}

const std::vector<Function>& functions() {
  static const std::vector<Function> kFunctions = {
      of_postgres(
          plain("upper", {kT}, kT, [](const Values& v) -> Scalar { return upper(text(v[0])); })),
      of_postgres(
          plain("lower", {kT}, kT, [](const Values& v) -> Scalar { return lower(text(v[0])); })),
      plain("octet_length", {kT}, kI,
            [](const Values& v) -> Scalar { return static_cast<std::int64_t>(text(v[0]).size()); }),
      of_postgres(
          plain("substring", {kT, kI}, kT,
                [](const Values& v) -> Scalar { return substring(text(v[0]), whole(v[1]), {}); })),
      of_postgres(plain("substring", {kT, kI, kI}, kT,
                        [](const Values& v) -> Scalar {
                          return substring(text(v[0]), whole(v[1]), whole(v[2]));
                        })),
      of_postgres(plain(
          "left", {kT, kI}, kT,
          [](const Values& v) -> Scalar {
            const auto all_of_it = static_cast<std::int64_t>(characters(text(v[0])));
            const auto count =
                whole(v[1]) < 0 ? std::max<std::int64_t>(all_of_it + whole(v[1]), 0) : whole(v[1]);
            return std::string(first_characters(text(v[0]), static_cast<std::size_t>(count)));
          })),
      of_postgres(plain("right", {kT, kI}, kT,
                        [](const Values& v) -> Scalar {
                          const auto all_of_it = static_cast<std::int64_t>(characters(text(v[0])));
                          const auto skipped =
                              whole(v[1]) < 0 ? std::min(-whole(v[1]), all_of_it)
                                              : std::max<std::int64_t>(all_of_it - whole(v[1]), 0);
                          return substring(text(v[0]), skipped + 1, {});
                        })),
      plain("btrim", {kT}, kT,
            [](const Values& v) -> Scalar { return stripped(text(v[0]), " ", true, true); }),
      plain("ltrim", {kT}, kT,
            [](const Values& v) -> Scalar { return stripped(text(v[0]), " ", true, false); }),
      plain("rtrim", {kT}, kT,
            [](const Values& v) -> Scalar { return stripped(text(v[0]), " ", false, true); }),
      of_postgres(plain(
          "btrim", {kT, kT}, kT,
          [](const Values& v) -> Scalar { return stripped(text(v[0]), text(v[1]), true, true); })),
      of_postgres(plain(
          "ltrim", {kT, kT}, kT,
          [](const Values& v) -> Scalar { return stripped(text(v[0]), text(v[1]), true, false); })),
      of_postgres(plain(
          "rtrim", {kT, kT}, kT,
          [](const Values& v) -> Scalar { return stripped(text(v[0]), text(v[1]), false, true); })),
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
      of_postgres(plain("lpad", {kT, kI, kT}, kT,
                        [](const Values& v) -> Scalar {
                          return padded(text(v[0]), whole(v[1]), text(v[2]), true);
                        })),
      of_postgres(plain("rpad", {kT, kI, kT}, kT,
                        [](const Values& v) -> Scalar {
                          return padded(text(v[0]), whole(v[1]), text(v[2]), false);
                        })),
      plain("starts_with", {kT, kT}, Type::kBoolean,
            [](const Values& v) -> Scalar { return text(v[0]).starts_with(text(v[1])); }),
      of_mysql(made("substring", 2, 3, mysql_substring)),
      of_mysql(made("left", 2, 2, mysql_end_of_text)),
      of_mysql(made("right", 2, 2, mysql_end_of_text)),
      of_mysql(made("upper", 1, 1, mysql_letters)),
      of_mysql(made("lower", 1, 1, mysql_letters)),
      of_mysql(made("btrim", 2, 2, mysql_trim)),
      of_mysql(made("ltrim", 2, 2, mysql_trim)),
      of_mysql(made("rtrim", 2, 2, mysql_trim)),
      of_mysql(made("lpad", 3, 3, mysql_pad)),
      of_mysql(made("rpad", 3, 3, mysql_pad)),
      made("length", 1, 1, length),
      of_postgres(made("concat", 0, kAny, concat)),
      of_mysql(made("concat", 0, kAny, mysql_concat)),
      of_postgres(made("now", 0, 0, now)),
      of_mysql(made("now", 0, 0, mysql_now)),
      of_postgres(made("transaction_timestamp", 0, 0, now)),
      of_mysql(made("transaction_timestamp", 0, 0, mysql_now)),
      of_mysql(made("curdate", 0, 0, curdate)),
      made("version", 0, 0, version),
      made("current_database", 0, 0, database),
      made("current_catalog", 0, 0, database),
      of_mysql(made("database", 0, 0, database)),
      of_mysql(made("schema", 0, 0, database)),
      made("current_schema", 0, 0, current_schema),
      of_postgres(made("pg_backend_pid", 0, 0, backend_pid)),
      of_mysql(made("pg_backend_pid", 0, 0, connection_id)),
      of_mysql(made("connection_id", 0, 0, connection_id)),
      of_postgres(made("current_user", 0, 0, current_user)),
      of_mysql(made("current_user", 0, 0, mysql_current_user)),
      of_mysql(made("last_insert_id", 0, 0, last_insert_id)),
      of_postgres(made("pg_cancel_backend", 1, 1, cancel_backend)),
      of_postgres(made("set_config", 3, 3, set_config)),
      made("current_setting", 1, 1, current_setting),
      of_postgres(made("current_setting", 2, 2, current_setting_or_null)),
      made("coalesce", 1, kAny, coalesce),
      of_mysql(made("ifnull", 2, 2, coalesce)),
      made("greatest", 1, kAny, extreme),
      made("least", 1, kAny, extreme),
      of_mysql(made("if", 3, 3, mysql_if)),
      made("abs", 1, 1, absolute),
      of_postgres(made("round", 1, 1, stepped)),
      of_postgres(made("ceil", 1, 1, stepped)),
      of_postgres(made("floor", 1, 1, stepped)),
      of_mysql(made("round", 1, 1, mysql_stepped)),
      of_mysql(made("ceil", 1, 1, mysql_stepped)),
      of_mysql(made("floor", 1, 1, mysql_stepped)),
      of_postgres(made("trunc", 1, 1, stepped)),
      of_postgres(made("sign", 1, 1, stepped)),
      of_postgres(made("round", 2, 2, rounded_to)),
      of_mysql(made("round", 2, 2, mysql_rounded_to)),
      of_postgres(made("trunc", 2, 2, rounded_to)),
      made("mod", 2, 2, modulo),
      of_postgres(made("sqrt", 1, 1, square_root)),
  };
  return kFunctions;
}

// Other names of entries.
struct OtherName {
  std::string_view called, name;
  std::optional<Product> only = {};
};
constexpr OtherName kOtherNames[] = {
    {"length", "octet_length", Product::kMysql},
    {"char_length", "length"},
    {"character_length", "length"},
    {"substr", "substring"},
    {"mid", "substring", Product::kMysql},
    {"position", "strpos"},
    {"lcase", "lower", Product::kMysql},
    {"ucase", "upper", Product::kMysql},
    {"ceiling", "ceil"},
};

std::string entry_name(const std::string& called, Product product) {
  for (const auto& [other, name, only] : kOtherNames) {
    if (called == other && (!only || *only == product)) return std::string(name);
  }
  return called;
}

}  // namespace

ExpressionPtr Coercion::function(const std::string& called, std::vector<ExpressionPtr> parts,
                                 std::optional<std::uint32_t> position) const {
  Call call(*this, called, std::move(parts), position);
  const auto product = dialect_.rules().product;
  call.name = entry_name(called, product);
  bool known = false;
  for (const auto& one : functions()) {
    if (call.name != one.name || (one.only && *one.only != product)) continue;
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
