// Functions, by PostgreSQL's types; those of MySQL where it is the dialect. What is not
// in the list raises 0A000, whether PostgreSQL knows it or not.
#include <fmt/format.h>

#include <algorithm>
#include <bitset>
#include <cmath>

#include "sql/plan/expression.hpp"
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

struct Signature {
  const char* name;
  std::vector<Type> parameters;
  Type result;
  std::function<Scalar(const Values&)> value;
};

constexpr auto kT = Type::kText;
constexpr auto kI = Type::kInteger;

// Functions with one signature.
const std::vector<Signature>& simple() {
  static const std::vector<Signature> all = {
      {"upper", {kT}, kT, [](const Values& v) -> Scalar { return upper(text(v[0])); }},
      {"lower", {kT}, kT, [](const Values& v) -> Scalar { return lower(text(v[0])); }},
      {"octet_length",
       {kT},
       kI,
       [](const Values& v) -> Scalar { return static_cast<std::int64_t>(text(v[0]).size()); }},
      {"substring",
       {kT, kI},
       kT,
       [](const Values& v) -> Scalar { return substring(text(v[0]), whole(v[1]), {}); }},
      {"substring",
       {kT, kI, kI},
       kT,
       [](const Values& v) -> Scalar { return substring(text(v[0]), whole(v[1]), whole(v[2])); }},
      {"left",
       {kT, kI},
       kT,
       [](const Values& v) -> Scalar {
         const auto all_of_it = static_cast<std::int64_t>(characters(text(v[0])));
         const auto count =
             whole(v[1]) < 0 ? std::max<std::int64_t>(all_of_it + whole(v[1]), 0) : whole(v[1]);
         return std::string(first_characters(text(v[0]), static_cast<std::size_t>(count)));
       }},
      {"right",
       {kT, kI},
       kT,
       [](const Values& v) -> Scalar {
         const auto all_of_it = static_cast<std::int64_t>(characters(text(v[0])));
         const auto skipped = whole(v[1]) < 0 ? std::min(-whole(v[1]), all_of_it)
                                              : std::max<std::int64_t>(all_of_it - whole(v[1]), 0);
         return substring(text(v[0]), skipped + 1, {});
       }},
      {"btrim",
       {kT},
       kT,
       [](const Values& v) -> Scalar { return stripped(text(v[0]), " ", true, true); }},
      {"ltrim",
       {kT},
       kT,
       [](const Values& v) -> Scalar { return stripped(text(v[0]), " ", true, false); }},
      {"rtrim",
       {kT},
       kT,
       [](const Values& v) -> Scalar { return stripped(text(v[0]), " ", false, true); }},
      {"btrim",
       {kT, kT},
       kT,
       [](const Values& v) -> Scalar { return stripped(text(v[0]), text(v[1]), true, true); }},
      {"ltrim",
       {kT, kT},
       kT,
       [](const Values& v) -> Scalar { return stripped(text(v[0]), text(v[1]), true, false); }},
      {"rtrim",
       {kT, kT},
       kT,
       [](const Values& v) -> Scalar { return stripped(text(v[0]), text(v[1]), false, true); }},
      {"replace",
       {kT, kT, kT},
       kT,
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
       }},
      {"strpos",
       {kT, kT},
       kI,
       [](const Values& v) -> Scalar {
         const auto found = find_text(text(v[0]), text(v[1]));
         if (found == std::string::npos) return std::int64_t{0};
         return static_cast<std::int64_t>(
                    characters(std::string_view(text(v[0])).substr(0, found))) +
                1;
       }},
      {"reverse",
       {kT},
       kT,
       [](const Values& v) -> Scalar {
         std::string made(text(v[0]).size(), '\0');
         std::string_view rest = text(v[0]);
         while (!rest.empty()) {
           const auto first = first_characters(rest, 1);
           first.copy(made.data() + rest.size() - first.size(), first.size());
           rest.remove_prefix(first.size());
         }
         return made;
       }},
      {"repeat",
       {kT, kI},
       kT,
       [](const Values& v) -> Scalar {
         const auto times = std::max<std::int64_t>(whole(v[1]), 0);
         if (static_cast<double>(times) * static_cast<double>(text(v[0]).size()) > 1e6) {
           raise("54000", "requested length too large");
         }
         std::string made;
         for (std::int64_t count = 0; count < times; ++count) made += text(v[0]);
         return made;
       }},
      {"lpad",
       {kT, kI},
       kT,
       [](const Values& v) -> Scalar { return padded(text(v[0]), whole(v[1]), " ", true); }},
      {"rpad",
       {kT, kI},
       kT,
       [](const Values& v) -> Scalar { return padded(text(v[0]), whole(v[1]), " ", false); }},
      {"lpad",
       {kT, kI, kT},
       kT,
       [](const Values& v) -> Scalar { return padded(text(v[0]), whole(v[1]), text(v[2]), true); }},
      {"rpad",
       {kT, kI, kT},
       kT,
       [](const Values& v) -> Scalar {
         return padded(text(v[0]), whole(v[1]), text(v[2]), false);
       }},
      {"starts_with",
       {kT, kT},
       Type::kBoolean,
       [](const Values& v) -> Scalar { return text(v[0]).starts_with(text(v[1])); }},
  };
  return all;
}

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

}  // namespace

ExpressionPtr Coercion::function(const std::string& called, std::vector<ExpressionPtr> parts,
                                 std::optional<std::uint32_t> position) const {
  const bool mysql = dialect_ == Dialect::kMysql;
  const auto given = [&](std::size_t at) { return parts[at]->type.type; };
  const auto wrong = [&]() -> void {
    std::string types;
    for (const auto& part : parts) {
      types += (types.empty() ? "" : ", ") + std::string(type_name(part->type.type));
    }
    if (mysql) not_supported(fmt::format("{}({})", called, types), position);
    raise("42883", fmt::format("function {}({}) does not exist", called, types), position);
  };
  const auto brought = [&](std::size_t at, Type type) {
    auto made = to(parts[at], {type}, Context::kImplicit);
    // MySQL takes any value for any other.
    const bool exact = is_whole(given(at)) || given(at) == Type::kNumeric;
    const bool as_text = is_string(type) && exact;
    const bool as_whole = is_integer(type) && exact;
    if (made == nullptr && mysql && (as_text || as_whole)) {
      made = to(parts[at], {type}, Context::kExplicit);
    }
    if (made == nullptr) wrong();
    return made;
  };
  const auto of_session = [&](Type type, std::function<Scalar(const SessionFacts&)> value) {
    if (!parts.empty()) wrong();
    return computed(called, {type}, {}, [value = std::move(value)](const Frame& frame) {
      return value(frame.running.facts);
    });
  };

  std::string name = called;
  if (name == "char_length" || name == "character_length") name = "length";
  if (name == "substr" || (mysql && name == "mid")) name = "substring";
  if (name == "ceiling") name = "ceil";
  if (name == "pow") name = "power";
  if (mysql && name == "lcase") name = "lower";
  if (mysql && name == "ucase") name = "upper";
  if (mysql && called == "length") name = "octet_length";
  if (name == "position" && parts.size() == 2) name = "strpos";
  if (mysql && name == "substring" && (parts.size() == 2 || parts.size() == 3)) {
    std::vector<ExpressionPtr> all{brought(0, kT)};
    for (std::size_t at = 1; at < parts.size(); ++at) all.push_back(brought(at, Type::kBigint));
    return strict(name, {kT}, all, [](const Values& v) -> Scalar {
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
  if (mysql && (name == "left" || name == "right") && parts.size() == 2) {
    return strict(name, {kT}, {brought(0, kT), brought(1, Type::kBigint)},
                  [left = name == "left"](const Values& v) -> Scalar {
                    const auto size = static_cast<std::int64_t>(characters(text(v[0])));
                    const auto count = std::clamp<std::int64_t>(whole(v[1]), 0, size);
                    if (count == 0) return std::string();
                    return substring(text(v[0]), left ? 1 : size - count + 1, count);
                  });
  }
  if (mysql && (name == "upper" || name == "lower") && parts.size() == 1) {
    return strict(name, {kT}, {brought(0, kT)}, [up = name == "upper"](const Values& v) -> Scalar {
      const auto& words = text(v[0]);
      if (std::any_of(words.begin(), words.end(), [](char c) { return (c & 0x80) != 0; })) {
        not_supported("upper and lower of letters beyond ASCII");
      }
      return up ? upper(words) : lower(words);
    });
  }
  if (mysql && (name == "btrim" || name == "ltrim" || name == "rtrim") && parts.size() == 2) {
    not_supported("trim of other characters than blanks");
  }
  if (mysql && (name == "lpad" || name == "rpad") && parts.size() == 3) {
    const auto count = brought(1, Type::kBigint);
    return strict(name, {kT}, {brought(0, kT), count, brought(2, kT)},
                  [left = name == "lpad"](const Values& v) -> Scalar {
                    if (whole(v[1]) < 0) return {};
                    if (text(v[2]).empty()) not_supported("padding with nothing");
                    return padded(text(v[0]), whole(v[1]), text(v[2]), left);
                  });
  }

  if (name == "now" || name == "transaction_timestamp") {
    const auto type = mysql ? Type::kTimestamp : Type::kTimestampTz;
    return of_session(type, [mysql](const SessionFacts& facts) -> Scalar {
      return mysql ? facts.now / 1'000'000 * 1'000'000 : facts.now;
    });
  }
  if (mysql && (name == "curdate")) {
    return of_session(Type::kDate, [](const SessionFacts& facts) -> Scalar {
      return facts.now / 86'400'000'000;
    });
  }
  if (name == "version") {
    return of_session(
        kT, [](const SessionFacts& facts) -> Scalar { return facts.setting("cupel.version"); });
  }
  if (name == "pg_backend_pid" || (mysql && name == "connection_id")) {
    return of_session(mysql ? Type::kUnsigned : kI, [mysql](const SessionFacts& facts) -> Scalar {
      if (mysql) return std::uint64_t{facts.connection};
      return static_cast<std::int64_t>(facts.connection);
    });
  }
  if (!mysql && name == "pg_cancel_backend" && parts.size() == 1) {
    return computed(name, {Type::kBoolean}, {brought(0, kI)},
                    [part = brought(0, kI)](const Frame& frame) -> Scalar {
                      const auto value = part->value(frame);
                      if (is_null(value)) return {};
                      const auto& facts = frame.running.facts;
                      return facts.cancel_other &&
                             facts.cancel_other(static_cast<std::uint32_t>(whole(value)));
                    });
  }
  if (!mysql && name == "set_config" && parts.size() == 3) {
    const auto setting = brought(0, kT), wanted = brought(1, kT),
               local = brought(2, Type::kBoolean);
    return computed(name, {kT}, {setting, wanted, local}, [=](const Frame& frame) -> Scalar {
      const auto one = setting->value(frame), value = wanted->value(frame),
                 only = local->value(frame);
      if (is_null(one)) raise("22004", "SET requires parameter name");
      if (is_null(value)) not_supported("set_config of null");
      return frame.running.facts.configure(lower(text(one)), text(value),
                                           !is_null(only) && std::get<bool>(only));
    });
  }
  if (!mysql && name == "current_setting" && parts.size() == 2) {
    const auto setting = brought(0, kT), missing = brought(1, Type::kBoolean);
    return computed(name, {kT}, {setting, missing}, [=](const Frame& frame) -> Scalar {
      const auto one = setting->value(frame), may = missing->value(frame);
      if (is_null(one) || is_null(may)) return {};
      try {
        return frame.running.facts.setting(lower(text(one)));
      } catch (const Raised& raised) {
        if (raised.error.sqlstate != "42704" || !std::get<bool>(may)) throw;
        return {};
      }
    });
  }
  if (name == "current_database" || name == "current_catalog" ||
      (mysql && (name == "database" || name == "schema"))) {
    return of_session(
        kT, [](const SessionFacts& facts) -> Scalar { return facts.setting("cupel.database"); });
  }
  if (name == "current_user") {
    return of_session(kT, [mysql](const SessionFacts& facts) -> Scalar {
      return mysql ? facts.user + "@localhost" : facts.user;
    });
  }
  if (name == "current_schema") {
    return of_session(kT, [](const SessionFacts&) -> Scalar { return std::string("public"); });
  }
  if (mysql && name == "last_insert_id") {
    return of_session(Type::kUnsigned,
                      [](const SessionFacts& facts) -> Scalar { return facts.last_insert_id; });
  }
  if ((name == "current_setting" || name == "cupel_variable") && parts.size() == 1) {
    return computed(name, {kT}, {brought(0, kT)},
                    [part = brought(0, kT)](const Frame& frame) -> Scalar {
                      const auto value = part->value(frame);
                      if (is_null(value)) return {};
                      return frame.running.facts.setting(lower(text(value)));
                    });
  }
  if (mysql && name == "ifnull" && parts.size() == 2) name = "coalesce";
  if (name == "coalesce" || name == "greatest" || name == "least") {
    if (parts.empty()) wrong();
    const bool numbers =
        std::any_of(parts.begin(), parts.end(), [](const auto& part) { return is_numeric(*part); });
    for (auto& part : parts) {
      if (mysql && numbers && name != "coalesce") part = as_number(part);
    }
    const auto upper_name = upper(name);
    const auto type = common(parts, upper_name.c_str());
    std::vector<ExpressionPtr> same;
    for (const auto& part : parts) same.push_back(alike(part, type));
    if (name == "coalesce") {
      return computed(name, type, same, [same](const Frame& frame) {
        for (const auto& part : same) {
          auto value = part->value(frame);
          if (!is_null(value)) return value;
        }
        return Scalar();
      });
    }
    const int wanted = name == "greatest" ? 1 : -1;
    return computed(name, type, same, [same, wanted, type, mysql](const Frame& frame) {
      Scalar best;
      for (const auto& part : same) {
        auto value = part->value(frame);
        if (is_null(value)) {
          if (mysql) return Scalar();
          continue;
        }
        if (is_null(best) || compare(value, best, order_type(type.type, mysql)) * wanted > 0) {
          best = std::move(value);
        }
      }
      return best;
    });
  }
  if (mysql && name == "if" && parts.size() == 3) {
    const auto test = condition(parts[0], "IF");
    const auto type = common({parts[1], parts[2]}, "IF");
    const auto yes = alike(parts[1], type), no = alike(parts[2], type);
    return computed(name, type, {test, yes, no}, [test, yes, no](const Frame& frame) {
      return holds(test, frame) ? yes->value(frame) : no->value(frame);
    });
  }
  if (name == "concat") {
    std::vector<ExpressionPtr> all;
    for (std::size_t at = 0; at < parts.size(); ++at) {
      if (given(at) == Type::kBoolean) not_supported("concat of a boolean");
      if (mysql && (given(at) == Type::kDouble || given(at) == Type::kReal)) {
        not_supported("concat of a floating-point number");
      }
      all.push_back(given(at) == Type::kChar ? parts[at]
                                             : to(parts[at], {kT},
                                                  is_string(given(at)) || given(at) == Type::kNull
                                                      ? Context::kImplicit
                                                      : Context::kExplicit));
    }
    return computed(name, {kT}, all, [all, mysql](const Frame& frame) -> Scalar {
      std::string made;
      for (const auto& part : all) {
        const auto value = part->value(frame);
        if (!is_null(value)) made += text(value);
        check_length(made.size());
        if (is_null(value) && mysql) return {};
      }
      return made;
    });
  }
  if (name == "length" && parts.size() == 1) {
    if (given(0) == Type::kChar) not_supported("length of character(n)");
    return strict(name, {kI}, {brought(0, kT)}, [](const Values& v) -> Scalar {
      return static_cast<std::int64_t>(characters(text(v[0])));
    });
  }

  // Numbers.
  const bool of_number = name == "abs" || name == "round" || name == "ceil" || name == "floor";
  if (mysql && of_number && !parts.empty()) parts[0] = as_number(parts[0]);
  const bool stepped =
      name == "round" || name == "ceil" || name == "floor" || name == "trunc" || name == "sign";
  if (mysql && (stepped || name == "power" || name == "sqrt") && name != "round" &&
      name != "floor" && name != "ceil") {
    not_supported("the function " + called, position);
  }
  if (name == "abs" && parts.size() == 1) {
    auto part = given(0) == Type::kNull ? brought(0, Type::kDouble) : parts[0];
    if (mysql && is_integer(part->type.type)) part = brought(0, Type::kBigint);
    const auto type = part->type.type;
    if (!is_number(type)) wrong();
    if (type == Type::kUnsigned) return part;
    FullType result{type};
    if (mysql) result.scale = decimals(*part);
    return strict(name, result, {part}, [type](const Values& v) -> Scalar {
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
  if (stepped && parts.size() == 1) {
    if (mysql && is_whole(given(0))) return parts[0];
    auto type = given(0) == Type::kNumeric ? Type::kNumeric : Type::kDouble;
    if (mysql && type == Type::kNumeric && name != "round") {
      // DECIMAL UNSIGNED has an integer without a sign below it.
      if (parts[0]->type.positive) {
        return strict(name, {Type::kUnsigned}, {parts[0]}, [name](const Values& v) -> Scalar {
          const auto number = unsigned_of(std::get<Decimal>(in_steps(name, v[0], Type::kNumeric)));
          if (!number) not_supported(name + " of a number beyond 64 bits, or of one below 0");
          return *number;
        });
      }
      return strict(name, {Type::kBigint}, {parts[0]}, [name](const Values& v) -> Scalar {
        const auto whole_one = std::get<Decimal>(in_steps(name, v[0], Type::kNumeric)).to_integer();
        if (!whole_one) not_supported(name + " of a number beyond 64 bits");
        return *whole_one;
      });
    }
    return strict(name, {type}, {brought(0, type)},
                  [name, type](const Values& v) { return in_steps(name, v[0], type); });
  }
  if ((name == "round" || name == "trunc") && parts.size() == 2) {
    if (mysql && !(given(0) == Type::kNumeric && parts[1]->kind == Expression::Kind::kConstant)) {
      not_supported("round of what is no decimal, or to a computed number of digits");
    }
    FullType rounded{Type::kNumeric};
    if (mysql && !is_null(parts[1]->constant)) {
      if (!is_integer(given(1)) || whole(parts[1]->constant) < 0 ||
          whole(parts[1]->constant) > 30) {
        not_supported("round to this number of digits");
      }
      rounded.scale = static_cast<int>(whole(parts[1]->constant));
    }
    return strict(name, rounded, {brought(0, Type::kNumeric), brought(1, kI)},
                  [name](const Values& v) -> Scalar {
                    const auto digits =
                        static_cast<int>(std::clamp<std::int64_t>(whole(v[1]), -2000, 2000));
                    const auto& number = std::get<Decimal>(v[0]);
                    auto made = name == "round" ? number.rounded(digits) : number.truncated(digits);
                    return made;
                  });
  }
  if (name == "mod" && parts.size() == 2) return binary("%", parts[0], parts[1], position);
  if (name == "sqrt" && parts.size() == 1) {
    if (given(0) == Type::kNumeric) not_supported("sqrt of numeric");
    return strict(name, {Type::kDouble}, {brought(0, Type::kDouble)},
                  [](const Values& v) -> Scalar {
                    const double number = std::get<double>(v[0]);
                    if (number < 0) raise("2201F", "cannot take square root of a negative number");
                    return std::sqrt(number);
                  });
  }

  bool known = false;
  for (const auto& one : simple()) {
    if (name != one.name) continue;
    known = true;
    if (one.parameters.size() != parts.size()) continue;
    std::vector<ExpressionPtr> same;
    for (std::size_t at = 0; at < parts.size(); ++at) {
      same.push_back(brought(at, one.parameters[at]));
    }
    return strict(name, {one.result}, std::move(same), one.value);
  }
  if (known || name == "abs" || name == "length") wrong();
  not_supported("the function " + called, position);
}

}  // namespace cupel::sql
