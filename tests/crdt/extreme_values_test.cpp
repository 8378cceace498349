// Extreme values: whatever numbers, texts and nesting a line has, JSON and EDN are read alike, and
// nothing is thrown.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <chrono>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "base/random.hpp"
#include "crdt/analysis/analyze.hpp"
#include "crdt/io/certificate.hpp"
#include "crdt/io/reader.hpp"
#include "crdt/io/report.hpp"
#include "crdt/model/replicated_type.hpp"
#include "crdt/verify/verify.hpp"

namespace cupel::crdt {
namespace {

// One text in both formats.
struct Both {
  std::string json, edn;
};

Both same(const std::string& text) {
  return {text, text};
}
Both array(const std::vector<Both>& values) {
  Both all = same("[");
  for (const Both& value : values) {
    const auto* const between = all.json.size() > 1 ? "," : "";
    all.json += between + value.json;
    all.edn += between + value.edn;
  }
  return {all.json + "]", all.edn + "]"};
}
Both map(const std::vector<std::pair<std::string, Both>>& entries) {
  Both all = same("{");
  for (const auto& [key, value] : entries) {
    const auto* const between = all.json.size() > 1 ? "," : "";
    all.json += fmt::format("{}\"{}\":{}", between, key, value.json);
    all.edn += fmt::format("{}\"{}\" {}", between, key, value.edn);
  }
  return {all.json + "}", all.edn + "}"};
}

class Lines {
 public:
  explicit Lines(base::Random& random) : random_(random) {}

  // An operation of some type, often with a value that is out of place.
  Both operation() {
    std::vector<std::pair<std::string, Both>> fields = {
        {"process", random_.chance(0.03) ? scalar() : same(random_.chance(0.7) ? "0" : "1")},
        {"f", same("")}};
    auto [method, value] = call();
    fields[1].second = same('"' + method + '"');
    if (random_.chance(0.1)) fields.emplace_back("key", scalar());
    if (random_.chance(0.95)) fields.emplace_back("value", std::move(value));
    if (random_.chance(0.1)) fields.emplace_back("time", scalar());
    auto line = map(fields);
    for (const auto& [name, field] : fields) {  // EDN has keywords
      const auto at = line.edn.find('"' + name + "\" ");
      line.edn.replace(at, name.size() + 2, ':' + name);
    }
    return line;
  }

 private:
  Both scalar() {
    static const std::vector<std::string> kScalars = {"0",
                                                      "1",
                                                      "2",
                                                      "3",
                                                      "-1",
                                                      "-0",
                                                      "9223372036854775807",
                                                      "-9223372036854775808",
                                                      "9223372036854775808",
                                                      "18446744073709551615",
                                                      "18446744073709551616",
                                                      "-9223372036854775809",
                                                      "576460752303423488",
                                                      "576460752303423489",
                                                      "1099511627776",
                                                      "1099511627777",
                                                      "4294967295",
                                                      "4294967296",
                                                      "1e308",
                                                      "1e309",
                                                      "-1e400",
                                                      "1e-400",
                                                      "0.1",
                                                      "0.12345678901234567890123456789",
                                                      "123456789012345678901234567890.5",
                                                      "\"\"",
                                                      "\"a\"",
                                                      "\"b\"",
                                                      "\"9223372036854775808\"",
                                                      "\"\\u0000\"",
                                                      "true",
                                                      "false"};
    if (random_.chance(0.05)) return {"null", "nil"};
    // Mostly small ones, so that operations meet.
    return same(random_.chance(0.5) ? kScalars[random_.below(4)]
                                    : kScalars[random_.below(kScalars.size())]);
  }
  Both value() {
    if (!random_.chance(0.05)) return scalar();
    const auto depth =
        std::vector<std::size_t>{1, 19, 20, 21, 97, 98, 99, 100, 3000}[random_.below(9)];
    return same(std::string(depth, '[') + "1" + std::string(depth, ']'));
  }
  std::vector<Both> values(std::size_t most) {
    std::vector<Both> all(random_.below(most + 1));
    for (Both& one : all) one = value();
    return all;
  }
  Both path() {
    std::vector<Both> all = {same(random_.chance(0.5) ? "\"k\"" : "\"c\"")};
    if (random_.chance(0.1)) all.push_back(value());
    return array(all);
  }
  Both container(bool shown) {
    const std::vector<std::string> names = {"map", "list", "text", "counter", "set", "register"};
    std::vector<std::pair<std::string, Both>> entries = {
        {names[random_.chance(0.5) ? 3 : random_.below(names.size())], same("\"c\"")}};
    if (shown) entries.emplace_back("value", random_.chance(0.6) ? value() : array(values(2)));
    return map(entries);
  }

  std::pair<std::string, Both> call() {
    switch (random_.below(13)) {
      case 0:
        return {"add", random_.chance(0.7) ? value() : array({path(), value()})};
      case 1:
        return {"remove", random_.chance(0.7) ? value() : array({path()})};
      case 2:
        return {random_.chance(0.5) ? "enable" : "disable", value()};
      case 3:
        return {"contains", array({value(), value()})};
      case 4:
        return {"write", random_.chance(0.7) ? value() : array({path(), value()})};
      case 5:
        return {random_.chance(0.6) ? "inc" : "dec",
                random_.chance(0.6) ? value() : array({path(), value()})};
      case 6:
        return {"addAfter", array({random_.chance(0.5) ? Both{"null", "nil"} : value(), value()})};
      case 7:
        return {"move", array({value(), value()})};
      case 8:
        return {"put", array({path(), random_.chance(0.4) ? value() : container(false)})};
      case 9:
        return {random_.chance(0.5) ? "insert" : "delete",
                random_.chance(0.5) ? value() : array({Both{"null", "nil"}, same("\"xyz\"")})};
      case 10:
        return {random_.chance(0.5) ? "mark" : "reset",
                array({same("\"xy\""), same("\"bold\""), value()})};
      default:
        break;
    }
    switch (random_.below(5)) {
      case 0:
        return {"read", value()};
      case 1:
        return {"read", array({array({value(), value()})})};
      case 2:
        return {"read", map({{"k", random_.chance(0.4) ? value() : container(true)}})};
      case 3:
        return {"read", array({path(), random_.chance(0.4) ? value() : container(true)})};
      default:
        return {"read", array(values(3))};
    }
  }

  base::Random& random_;
};

// The rule of a history in which nothing was delivered.
const Both kNothingDelivered = {R"({"f":"delivery","value":"causal"})",
                                R"({:f :delivery, :value :causal})"};

void expect_answers(const History& history) {
  std::optional<Visibility> visibility;
  if (history.context.is_known()) visibility = Visibility::of(history).value();
  base::Budget budget(std::chrono::duration<double>(2), 0);
  const auto found = analyze(
      history,
      {.visibility = visibility ? &*visibility : nullptr, .converge = true, .shrink_seconds = 0.05},
      budget);
  as_text(Report{.file = "h", .history = &history, .analysis = found});
  as_json(Report{.file = "h", .history = &history, .analysis = found});
  if (found.decision.verdict == Verdict::kUnknown) return;
  const auto verified = verify(history, certificate_of(history, found));
  EXPECT_NE(verified.status, CertificateStatus::kNotValid) << verified.reason << write(history);
  EXPECT_NE(verified.status, CertificateStatus::kBadInput) << verified.reason << write(history);
}

TEST(ExtremeValues, JsonAndEdnAreReadAlikeByEveryType) {
  base::Random random(1);
  std::size_t kept = 0, refused = 0;
  for (const Type type : all_types()) {
    SCOPED_TRACE(name(type));
    Lines lines(random);
    for (int i = 0; i < 25; ++i) {
      Both text = {kNothingDelivered.json + "\n", kNothingDelivered.edn + "\n"};
      if (random.chance(0.3) && type != Type::kMap) text = same("; no deliveries\n");
      for (int line = 0; line < 25; ++line) {
        const auto next = lines.operation();
        const Both longer = {text.json + next.json + "\n", text.edn + next.edn + "\n"};
        const auto json = read(longer.json, "h", {type}), edn = read(longer.edn, "h", {type});
        ASSERT_EQ(json.ok(), edn.ok()) << next.json << "\n"
                                       << (json.ok() ? "" : json.error().to_string())
                                       << (edn.ok() ? "" : edn.error().to_string());
        if (!json.ok()) {
          ASSERT_EQ(json.error().line, edn.error().line) << next.json;
          ASSERT_EQ(json.error().message.find("internal"), std::string::npos);
          ++refused;
          continue;
        }
        ASSERT_EQ(write(*json), write(*edn)) << next.json;
        text = longer;
        ++kept;
      }
      const auto history = read(text.json, "h", {type});
      ASSERT_TRUE(history.ok());
      if (history->ops.empty()) continue;
      // What cupel writes is read again, in both formats.
      for (const bool is_edn : {false, true}) {
        const auto again = read(write(*history, is_edn), "h", {type});
        ASSERT_TRUE(again.ok()) << again.error().to_string() << "\n" << write(*history, is_edn);
        ASSERT_EQ(write(*again), write(*history));
      }
      if (history->context.is_known() || !replicated_type(type).traits().needs_deliveries)
        expect_answers(*history);
    }
  }
  EXPECT_GT(kept, 2000U);
  EXPECT_GT(refused, 2000U);
}

std::string refusal(const std::string& type, const std::string& text) {
  const auto history = read(text, "h", *type_of(type));
  EXPECT_FALSE(history.ok()) << text;
  return history.ok() ? "" : history.error().to_string();
}

// A counter of a document was read into a number of 64 bits without a look at its size.
TEST(ExtremeValues, CountersOfDocumentsAreBoundedAsOthers) {
  const std::string put = R"({"process":0,"f":"put","value":[["n"],{"counter":"c"}]}
)";
  const auto shown = [&](const std::string& number) {
    return put + R"({"process":0,"f":"read","value":{"n":{"counter":"c","value":)" + number +
           "}}}\n";
  };
  for (const auto* const type : {"map", "remove-wins-map", "update-wins-map", "reset-map"}) {
    for (const auto* const number :
         {"9223372036854775808", "18446744073709551615", "576460752303423489",
          "-576460752303423489", "-9223372036854775808"}) {
      EXPECT_EQ(refusal(type, shown(number)),
                fmt::format("h:2: found {} as the value of a counter, expected a whole number of "
                            "at most 2^59",
                            number));
    }
    EXPECT_EQ(refusal(type, put + "{:process 0, :f :read, :value {:n {:counter :c, :value "
                                  "9223372036854775808}}}"),
              "h:2: found 9223372036854775808 as the value of a counter, expected a whole number "
              "of at most 2^59");
    const auto most = read(shown("576460752303423488"), "h", *type_of(type));
    ASSERT_TRUE(most.ok());
    expect_answers(*most);
  }
}

// Both formats say it in the same words.
TEST(ExtremeValues, WholeNumbersBeyond64BitsAreNamed) {
  for (const auto* const number : {"18446744073709551616", "-9223372036854775809"}) {
    const auto message = fmt::format(
        "h:1: found the number {}, expected a whole number that fits in 64 bits; write "
        "it as a text",
        number);
    EXPECT_EQ(refusal("or-set", fmt::format(R"({{"process":0,"f":"add","value":{}}})", number)),
              message);
    EXPECT_EQ(refusal("or-set", fmt::format("{{:process 0, :f :add, :value {}}}", number)),
              message);
  }
}

// Sums of amounts that are each within their bound overflowed 64 bits.
TEST(ExtremeValues, AmountsOfAnObjectHaveABoundTogether) {
  const std::string line = R"({"process":0,"f":"inc","value":1099511627776})"
                           "\n";
  std::string lines;
  for (int i = 0; i < 1 << 19; ++i) lines += line;
  ASSERT_TRUE(read(lines, "h", *type_of("counter")).ok());
  const std::string last = R"({"process":0,"f":"dec","value":1})";
  EXPECT_EQ(refusal("counter", lines + last),
            "h:524289: found amounts that add up to more than 2^59, expected counters of smaller "
            "amounts: no read could return their sum");
}

TEST(ExtremeValues, TimesAreWholeNanoseconds) {
  const auto timed = [](const std::string& time) {
    return R"({"process":0,"f":"inc","value":1,"time":)" + time + "}\n";
  };
  for (const auto* const time : {"9223372036854775808", "1.5", "1e9", "\"1\"", "true"}) {
    const auto message = refusal("counter", timed("1") + timed(time));
    EXPECT_TRUE(message.starts_with("h:2: found the time ")) << message;
  }
  for (const auto* const time : {"9223372036854775807", "-9223372036854775808", "null"})
    EXPECT_TRUE(read(timed(time), "h", *type_of("counter")).ok()) << time;
}

// The difference of two times may have more than 64 bits.
TEST(ExtremeValues, TheTimeToConvergeIsAtMostTheGreatestNumber) {
  const auto history = read(R"({"process":0,"f":"inc","value":1,"time":-9223372036854775808}
{"process":0,"f":"read","value":1,"time":5}
{"process":1,"f":"read","value":1,"time":9223372036854775807}
)",
                            "h", *type_of("counter"));
  ASSERT_TRUE(history.ok()) << history.error().to_string();
  const auto found = converge(*history);
  ASSERT_EQ(found.nanoseconds.size(), 1U);
  EXPECT_EQ(found.nanoseconds[0], std::numeric_limits<std::int64_t>::max());
}

// `#_` is a comment of EDN, wherever a line has it.
TEST(ExtremeValues, DiscardedFormsOfEdnAreNoLines) {
  const auto history = read(R"({:process 0, :f :add, :value "a"}
#_ {:process 0, :f :read, :value #{"b"}}
  #_#_ 1 {:x 2} ; and a comment
{:process 0, :f :read, :value #{"a" #_ "b"}} #_ :end
#_ 1 {:process 1, :f :read, :value #{"a"} #_ {:process 2}}
)",
                            "h", *type_of("or-set"));
  ASSERT_TRUE(history.ok()) << history.error().to_string();
  EXPECT_EQ(history->ops.size(), 3U);
  EXPECT_EQ(history->ops[2].line, 5U);
  EXPECT_EQ(refusal("or-set", "#_"),
            "h:1: found the end of the line, expected a value: it is truncated");
  EXPECT_EQ(refusal("or-set", "{:process 0, :f :add, :value 1} 2"),
            "h:1: found `2` after the value, expected one EDN map a line");
}

}  // namespace
}  // namespace cupel::crdt
