// Reader: the two formats, what completions mean, and what is refused with which words.
#include "crdt/io/reader.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/text/flat_json.hpp"
#include "crdt/io/flat_line.hpp"
#include "crdt/workload/generate.hpp"

namespace cupel::crdt {
namespace {

History well(Type type, const std::string& text) {
  auto history = read(text, "h", {type});
  EXPECT_TRUE(history.ok()) << (history.ok() ? "" : history.error().to_string());
  return history.ok() ? std::move(history).value() : History{};
}
std::string refusal(NamedType type, const std::string& text) {
  const auto history = read(text, "h", type);
  EXPECT_FALSE(history.ok());
  return history.ok() ? "" : history.error().to_string();
}

TEST(Reader, JsonAndEdnAreTheSame) {
  const auto json = well(Type::kAddWinsSet, R"({"process":1,"f":"add","key":"s","value":"a"}
{"process":"r2","f":"contains","key":"s","value":["a",true],"time":7}

{"process":1,"f":"read","key":"s","value":["a"]}
)");
  const auto edn = well(Type::kAddWinsSet, R"(; a comment
{:process 1, :f :add, :key :s, :value "a"}
#jepsen.history.Op{:process "r2", :f :contains, :key "s", :value ["a" true], :time 7, :index 1}
{:process 1 :f :read :key s :value #{"a"}}
)");
  EXPECT_EQ(write(json), write(edn));
  EXPECT_EQ(json.ops[1].time, 7);
  EXPECT_EQ(json.ops[2].line, 4U);
}

TEST(Reader, CompletionsCountAndUnknownOnesNeedNotBeSeen) {
  const auto h = well(Type::kCounter, R"({"process":1,"type":"invoke","f":"inc","key":"c"}
{"process":1,"type":"ok","f":"inc"}
{"process":1,"type":"invoke","f":"inc","key":"c","value":5}
{"process":1,"type":"info","f":"inc","error":"timeout"}
{"process":2,"type":"invoke","f":"inc","key":"c","value":9}
{"process":2,"type":"fail","f":"inc"}
{"process":"nemesis","type":"info","f":"partition"}
{"process":2,"type":"invoke","f":"read","key":"c"}
{"process":2,"type":"ok","f":"read","value":6}
{"process":3,"type":"invoke","f":"inc","key":"c"}
)");
  ASSERT_EQ(h.ops.size(), 4U);  // 1, 5 perhaps, the read, 1 perhaps
  EXPECT_EQ(h.indeterminate.size(), 2U);
  EXPECT_EQ(h.keys, std::vector<std::string>{"c"});
}

TEST(Reader, ContextIsReadAndWrittenAlike) {
  const auto json = well(Type::kAddWinsSet, R"({"f":"delivery","value":"fifo"}
{"process":0,"f":"add","value":"a","id":"first"}
{"process":1,"f":"deliver","value":["0:1","first","s"]}
{"process":1,"f":"read","value":[],"seen":{"0":1,"b":0}}
{"process":0,"f":"remove","value":"a"}
{"process":0,"f":"send","id":"s"}
{"process":"b","f":"version","value":["0:1"]}
{"process":"b","type":"invoke","f":"add","value":"b"}
{"process":"b","type":"ok","f":"add"}
{"process":1,"f":"deliver","value":["b:0"]}
)");
  ASSERT_EQ(json.ops.size(), 4U);
  const auto& context = json.context;
  EXPECT_EQ(context.rule, DeliveryRule::kFifo);
  ASSERT_EQ(context.receptions.size(), 5U);
  const auto first = context.updates(context.receptions[0]);
  ASSERT_EQ(first.size(), 3U);
  EXPECT_EQ(first[0].of, 2U);
  EXPECT_EQ(first[1].of, 0U);
  EXPECT_EQ(first[2].kind, NamedUpdates::Kind::kMessage);
  EXPECT_EQ(context.receptions[first[2].of].kind, Reception::Kind::kSent);
  EXPECT_EQ(context.updates(context.receptions[1])[0].count, 1U);
  EXPECT_EQ(context.receptions[4].seq, 1U);
  for (const bool edn : {false, true}) {
    const auto text = write(json, edn);
    EXPECT_EQ(write(well(Type::kAddWinsSet, text), edn), text);
  }
}

TEST(Reader, AnUnknownOutcomeLeavesTheContextOut) {
  const auto h = well(Type::kCounter, R"({"process":0,"f":"inc"}
{"type":"info","process":0,"f":"inc"}
{"process":1,"f":"deliver","value":["0:0"]}
)");
  EXPECT_FALSE(h.context.is_known());
  EXPECT_EQ(h.context.unknown_outcome_line, 2U);
}

TEST(Reader, SaysWhatIsWrongWithAContext) {
  const auto set = NamedType{Type::kAddWinsSet};
  const std::string add = "{\"process\":0,\"f\":\"add\",\"value\":1}\n";
  const auto after = [&](const std::string& line) { return refusal(set, add + line); };
  EXPECT_EQ(after(R"({"process":1,"f":"deliver","value":["0:1"]})"),
            "h:2: found a line that names \"0:1\", but no update or message has this id");
  EXPECT_EQ(after(R"({"process":1,"f":"deliver","value":{"0":2}})"),
            "h:2: found a line that names 2 updates of the process 0, but the history has 1");
  EXPECT_EQ(after(R"({"process":1,"f":"deliver","value":3})"),
            "h:2: found deliver with the value 3, expected an array of ids such as [\"0:3\"], or "
            "the number of updates of each process such as {\"0\":4}");
  EXPECT_EQ(after(R"({"process":1,"f":"send"})"),
            "h:2: found send without `id`, expected the name of the message, for deliver lines");
  EXPECT_EQ(
      after(R"({"process":1,"f":"send","id":"0:0"})"),
      "h:2: found the id \"0:0\", which the update of line 1 has by default; expected another "
      "id");
  EXPECT_EQ(after("{\"process\":1,\"f\":\"send\",\"id\":\"m\"}\n"
                  "{\"process\":1,\"f\":\"send\",\"id\":\"m\"}"),
            "h:3: found the id \"m\" a second time, first in line 2; expected each id once");
  EXPECT_EQ(
      after("{\"process\":0,\"f\":\"add\",\"value\":1,\"id\":\"n\"}\n"
            "{\"process\":1,\"f\":\"deliver\",\"value\":[\"0:1\"]}"),
      "h:3: found a line that names \"0:1\", but no update or message has this id: the update "
      "of line 2 has another");
  EXPECT_EQ(after(R"({"f":"delivery","value":"soon"})"),
            "h:2: found delivery with the value \"soon\", expected causal, fifo or applied");
  EXPECT_EQ(after("{\"process\":\"0\",\"f\":\"add\",\"value\":1}\n"
                  "{\"process\":1,\"f\":\"deliver\",\"value\":[\"0:0\"]}"),
            "h:3: found a line that names the process 0, but there are two, 0 and \"0\"; expected "
            "another name for one");
  EXPECT_EQ(
      after("{\"process\":1,\"type\":\"invoke\",\"f\":\"read\"}\n"
            "{\"process\":1,\"f\":\"deliver\",\"value\":[\"0:0\"]}"),
      "h:3: found \"deliver\" of process 1 while its operation of line 2 is open, expected it "
      "before or after the operation");
}

TEST(Reader, SaysWhatIsWrong) {
  using T = Type;
  const auto set = NamedType{T::kAddWinsSet};
  EXPECT_EQ(refusal(set, "{\"f\":\"add\"}"),
            "h:1: found an operation without `process`, expected the replica that it was asked of");
  EXPECT_EQ(refusal(set, "\n{\"process\":1}"),
            "h:2: found an operation without `f`, expected the name of a method");
  EXPECT_EQ(refusal(set, R"({"process":1,"f":"inc"})"),
            "h:1: found the method `inc`, expected add, remove, contains or read of a set");
  EXPECT_EQ(refusal(set, R"({"process":1,"f":"read","value":["a","a"]})"),
            "h:1: found read with the value [\"a\",\"a\"], expected each element once");
  EXPECT_EQ(refusal({T::kAddWinsSet, true}, R"({"process":1,"f":"remove","value":"a"})"),
            "h:1: found a remove from a grow-only set");
  EXPECT_EQ(refusal({T::kCounter, true}, R"({"process":1,"f":"dec"})"),
            "h:1: found a dec of a grow-only counter");
  EXPECT_NE(refusal({T::kCounter}, R"({"process":1,"f":"read"})").find("expected a whole number"),
            std::string::npos);
  EXPECT_NE(refusal({T::kCounter}, R"({"process":1,"f":"inc","value":-1})").find("above 0"),
            std::string::npos);
  EXPECT_NE(refusal({T::kCounter}, "{\"process\":1").find("no JSON object"), std::string::npos);
  EXPECT_NE(
      refusal({T::kEnableWinsFlag}, R"({"process":1,"f":"read","value":1})").find("true or false"),
      std::string::npos);
  EXPECT_NE(refusal({T::kGrowableArray},
                    "{\"process\":1,\"f\":\"addAfter\",\"value\":[null,1]}\n{\"process\":2,\"f\":"
                    "\"addAfter\",\"value\":[null,1]}")
                .find("h:2: found a second addAfter of 1"),
            std::string::npos);
  EXPECT_NE(refusal({T::kCounter},
                    "{\"process\":1,\"type\":\"invoke\",\"f\":\"inc\"}\n{\"process\":1,\"type\":"
                    "\"invoke\",\"f\":\"inc\"}")
                .find("while that of line 1 is open"),
            std::string::npos);
}

TEST(Reader, WhatACompletionLeavesOutIsWhatWasAsked) {
  for (const std::string value : {"", ",\"value\":null"}) {
    const auto h = well(Type::kCounter,
                        "{\"process\":1,\"type\":\"invoke\",\"f\":\"inc\",\"key\":7,\"value\":5}\n"
                        "{\"process\":1,\"type\":\"ok\"" +
                            value + "}\n");
    ASSERT_EQ(h.ops.size(), 1U);
    EXPECT_EQ(h.text(0), "inc(5)");
    EXPECT_EQ(h.keys, std::vector<std::string>{"7"});
  }
  // Of a read it is not the answer.
  EXPECT_NE(refusal({Type::kCounter},
                    "{\"process\":1,\"type\":\"invoke\",\"f\":\"read\",\"value\":5}\n"
                    "{\"process\":1,\"type\":\"ok\",\"f\":\"read\"}")
                .find("expected a whole number"),
            std::string::npos);
}

TEST(Reader, CompletionsAreOfWhatWasAsked) {
  const auto set = NamedType{Type::kAddWinsSet};
  const std::string asked =
      "\n{\"process\":1,\"type\":\"invoke\",\"f\":\"add\",\"key\":1,\"value\":\"a\"}\n";
  for (const std::string type : {"ok", "fail", "info"}) {
    EXPECT_EQ(refusal(set, asked + "{\"process\":1,\"type\":\"" + type +
                               "\",\"f\":\"remove\",\"value\":\"a\"}"),
              "h:3: found the completion (" + type +
                  ") with the `f` \"remove\", but line 2, which it completes for process 1, has "
                  "\"add\"; expected the same");
  }
  EXPECT_NE(refusal(set, asked + R"({"process":1,"type":"ok","f":"add","key":"1","value":"a"})")
                .find("with the `key` \"1\", but line 2"),
            std::string::npos);
  EXPECT_NE(refusal(set, R"({"process":1,"type":"ok","f":"add","value":"a"})")
                .find("h:1: found an ok of process 1 without its invocation"),
            std::string::npos);
  EXPECT_EQ(well(Type::kAddWinsSet, R"({"process":1,"type":"info","f":"add","value":"a"})")
                .indeterminate.size(),
            1U);
  EXPECT_TRUE(
      well(Type::kAddWinsSet, R"({"process":1,"type":"fail","f":"add","value":"a"})").ops.empty());
}

TEST(Reader, NullIsNoElement) {
  const auto refused = [](Type type, const char* f, const char* value) {
    const auto text =
        refusal({type}, std::string("{\"process\":1,\"f\":\"") + f + "\",\"value\":" + value + "}");
    EXPECT_NE(text.find("h:1: found "), std::string::npos) << text;
  };
  refused(Type::kAddWinsSet, "read", "[1,null]");
  refused(Type::kRemoveWinsSet, "contains", "[null,false]");
  refused(Type::kMultiValueRegister, "read", "[null]");
  refused(Type::kGrowableArray, "read", "[null,1]");
}

TEST(Reader, NestingIsBounded) {
  const auto nested = [](std::size_t depth, const char* before, const char* after) {
    return before + std::string(depth, '[') + std::string(depth, ']') + after;
  };
  struct Line {
    const char *before, *after, *message;
  };
  for (const auto& [before, after, message] :
       {Line{R"({"process":1,"f":"add","value":)", "}",
             "h:1: found more than 100 arrays and objects within each other"},
        Line{R"({"process":1,"type":"invoke","f":"add","value":)", "}",
             "h:1: found more than 100 arrays and objects within each other"},
        Line{"{:process 1, :f :add, :value ", "}",
             "h:1: found values nested more than 100 deep"}}) {
    EXPECT_EQ(well(Type::kAddWinsSet, nested(99, before, after)).ops.size(), 1U);
    for (const std::size_t depth : {100, 200'000}) {
      EXPECT_NE(refusal({Type::kAddWinsSet}, nested(depth, before, after)).find(message),
                std::string::npos);
    }
  }
  // In a text brackets are letters.
  EXPECT_EQ(well(Type::kAddWinsSet,
                 R"({"process":1,"f":"add","value":"\")" + std::string(200, '[') + "\"}")
                .ops.size(),
            1U);
}

TEST(Reader, EdnThatJsonCannotSayIsRefused) {
  const auto refused = [](const std::string& value, const std::string& message) {
    const auto text = refusal({Type::kAddWinsSet}, "\n{:process 1, :f :add, :value " + value);
    EXPECT_EQ(text.substr(0, 5 + message.size()), "h:2: " + message) << value;
  };
  refused("#inst \"2026\"}", "found `#inst`, expected a set or a record");
  refused("1/2}", "found the number `1/2`, expected a whole or a decimal one");
  refused("\"\xff\"}", "found a word that is no UTF-8");
  refused(":\xff}", "found a word that is no UTF-8");
  refused("\"\\q\"}", "found an unknown escape in a string");
  refused("[1 2}", "found }, expected a value");
  refused("[1 2", "found [ without its ]");
  refused("\"a", "found a string without its closing quote");
  refused("", "found { without its }");
  refused("1} 2", "found `2` after the value, expected one EDN map a line");
  refused("}", "found a map with a key that has no value");
}

TEST(Reader, EdnDiscardsAndEscapesAreUnderstood) {
  const auto h =
      well(Type::kAddWinsSet,
           "{:process 1, #_:time #_\"x\" :f :add, :value \"a\\n\\u00e9\\ud83d\\ude00\"}\n"
           "{:process 2 :f :add :value [+7 -0 2.50 18446744073709551615 nil #_1]}");
  ASSERT_EQ(h.elements.size(), 2U);
  EXPECT_EQ(h.elements[0].text, "\"a\\né😀\"");
  EXPECT_EQ(h.elements[1].text, "[7,0,2.5,18446744073709551615,null]");
}

TEST(Reader, ADiscardedLineIsNoOperation) {
  const auto h = well(Type::kAddWinsSet,
                      "{:process 0, :f :add, :value \"a\"}\n"
                      "#_ {:process 0, :f :read, :value #{\"b\"}}\n"
                      "#_ #_ {:process 0 :f :huh} {:f :huh} ; and a comment\n"
                      "{:process 0, :f :read, :value #{\"a\"} #_ :key #_ 7} #_ 1\n");
  EXPECT_EQ(h.ops.size(), 2U);
  EXPECT_EQ(h.ops[1].line, 4U);
  EXPECT_EQ(refusal({Type::kAddWinsSet}, "#_\n{:process 0, :f :add, :value 1}"),
            "h:1: found the end of the line, expected a value: it is truncated");
}

TEST(Reader, WholeNumbersInEveryRadixAreExact) {
  const auto h =
      well(Type::kAddWinsSet, "{:process 1 :f :add :value [0x1F 017 2r101 7N #:a{:b 1}]}\n");
  EXPECT_EQ(h.elements[0].text, "[31,15,5,7,{\"a/b\":1}]");
  EXPECT_EQ(refusal({Type::kAddWinsSet}, "{:process 1 :f :add :value {:a 1 \"a\" 2}}"),
            "h:1: found the key \"a\" twice in one map, expected it once");
}

TEST(Reader, WholeNumbersFitOrAreRefused) {
  const auto set = NamedType{Type::kAddWinsSet};
  for (const std::string large : {"18446744073709551616", "-9223372036854775809"}) {
    EXPECT_NE(refusal(set, "{\"process\":1,\"f\":\"read\",\"value\":[1," + large + "]}")
                  .find("h:1: found the number " + large + ", expected a whole number"),
              std::string::npos);
    EXPECT_NE(refusal(set, "{:process 1, :f :read, :value [1 " + large + "]}")
                  .find("h:1: found the number " + large + ", expected a whole number"),
              std::string::npos);
  }
  const auto h = well(
      Type::kAddWinsSet,
      R"({"process":1,"f":"read","value":[18446744073709551615,-9223372036854775808,1.25e+20,"18446744073709551616"]})");
  EXPECT_EQ(h.elements.size(), 4U);
}

TEST(Reader, KeysThatAreNumbersAreNotTexts) {
  const std::string lines = R"({"process":1,"f":"inc","key":1}
{"process":1,"f":"inc","key":"1"}
{"process":1,"f":"inc","key":"\"1\""}
{"process":1,"f":"inc","key":"a"}
{"process":1,"f":"inc","key":-7}
{"process":1,"f":"inc","key":"-"}
{"process":1,"f":"inc","key":""}
)";
  const auto h = well(Type::kCounter, lines);
  EXPECT_EQ(h.keys.size(), 7U);
  EXPECT_EQ(h.keys[3], "a");
  EXPECT_EQ(write(h), lines);
  EXPECT_EQ(write(well(Type::kCounter, write(h, true))), lines);
}

// The addAfter of "p" failed, and so no replica can have added "c" after it, nor "d" after
// that; "e" and "f" wait for each other.
TEST(Reader, UnknownOutcomesThatCannotHaveHappenedDidNot) {
  const std::string failed = R"({"process":1,"type":"invoke","f":"addAfter","value":[null,"p"]}
{"process":1,"type":"fail","f":"addAfter","value":[null,"p"]}
{"process":2,"type":"info","f":"addAfter","value":["c","d"]}
{"process":2,"type":"info","f":"addAfter","value":["p","c"]}
{"process":2,"type":"info","f":"addAfter","value":["f","e"]}
{"process":2,"type":"info","f":"addAfter","value":["e","f"]}
{"process":4,"type":"info","f":"remove","value":"p"}
{"process":4,"type":"info","f":"remove","value":"d"}
{"process":5,"type":"info","f":"addAfter","value":[null,"a"]}
{"process":5,"type":"info","f":"addAfter","value":["a","b"]}
{"process":5,"type":"info","f":"remove","value":"b"}
)";
  const auto h = well(Type::kGrowableArray, failed + R"({"process":3,"f":"read","value":[]})");
  EXPECT_EQ(h.ops.size(), 4U);
  EXPECT_EQ(h.indeterminate.size(), 3U);
  EXPECT_EQ(h.text(2), "remove(\"b\")");
  EXPECT_EQ(h.ops[2].line, 11U);
  EXPECT_EQ(h.text(3), "read() = []");
  // What is shown stays, wrong as it is.
  const auto shown =
      well(Type::kGrowableArray, failed + R"({"process":3,"f":"read","value":["c"]})");
  EXPECT_EQ(shown.ops.size(), 5U);
}

TEST(Reader, WhatIsWrittenIsReadBack) {
  for (const Type type : all_types()) {
    GenerateOptions options;
    options.type = {type};
    options.ops = 300;
    options.keys = 3;
    options.duplicates = 0.3;
    options.seed = 5;
    const auto history = generate(options).value();
    const auto text = write(history), edn = write(history, true);
    EXPECT_EQ(write(well(type, text)), text) << name(type);
    EXPECT_EQ(write(well(type, edn)), text) << name(type);
    EXPECT_EQ(write(well(type, text), true), edn) << name(type);
  }
}

// The replica that only receives is met before one that has operations.
TEST(Reader, WhatIsDeliveredAtTheEndIsWrittenInOneOrder) {
  const auto text = write(well(Type::kMarkedText,
                               R"({"process":1,"f":"insert","value":[null,"ab"]}
{"process":2,"f":"deliver","value":["1:0"]}
{"process":0,"f":"mark","value":["ab","bold",true]}
{"process":0,"f":"deliver","value":["1:0"]}
)"));
  EXPECT_EQ(write(well(Type::kMarkedText, text)), text);
}

// The same lines with a field that is ignored take the way of the JSON parser.
TEST(Reader, FlatLinesAreReadAsTheJsonParserReadsThem) {
  for (const Type type : all_types()) {
    GenerateOptions options;
    options.type = {type};
    options.ops = 200;
    options.keys = 2;
    options.context = true;
    const std::string lines = write(generate(options).value());
    std::string others;
    for (const char c : lines) {
      if (c == '\n') others.insert(others.size() - 1, ",\"ignored\":0");
      others += c;
    }
    const auto flat = read(lines, "flat", {type}), parsed = read(others, "parsed", {type});
    ASSERT_TRUE(flat.ok() && parsed.ok());
    EXPECT_EQ(write(*flat), write(*parsed));
    EXPECT_EQ(flat->elements.size(), parsed->elements.size());
    EXPECT_EQ(flat->ops.size(), parsed->ops.size());
    EXPECT_EQ(flat->ops.back().time, parsed->ops.back().time);
    EXPECT_EQ(flat->ops.back().begun, parsed->ops.back().begun);
    EXPECT_EQ(flat->ops.back().ended, parsed->ops.back().ended);
  }
}

TEST(Reader, WhatIsNotFlatIsLeftToTheJsonParser) {
  for (const char* line :
       {R"({"process":1,"f":"inc","value":[[1.5]]})",
        R"({"process":1,"f":"inc","f":"inc"})",
        R"({"process":1,"f":"inc","value":{"a":1]})",
        R"({"process":1,"f":"inc","value":{1:1}})",
        R"({"process":1,"f":"inc","value":[[1,]]})",
        R"({"process":1,"f":"inc","value":{"a":1,}})",
        R"({"process":1,"f":"inc","value":[[[[[[[[[[[[[[[[[[[[[[1]]]]]]]]]]]]]]]]]]]]]]})",
        R"({"process":1,"f":"inc","value":"\u0041"})",
        R"({"process":01,"f":"inc"})",
        R"({"process":-0,"f":"inc"})",
        R"({"process":1,"f":"inc","value":1.5})",
        R"({"process":1,"f":"inc","value":1234567890123456789012})",
        R"({"process":1,"f":"inc","id":"a"})",
        R"({"process":1,"f":"inc"}})",
        R"({"process":1,"f":"inc","value":[1,]})",
        R"({"process":1,"f":"inc",})",
        "{}",
        "{\"process\":1,\"f\":\"in\tc\"}",
        "{\"process\":1,\"f\":\"\xc3\"}",
        "{\"process\":1,\"f\":\"\xed\xa0\x80\"}",
        "{\"process\":1,\"f\":\"\x7f\"}"})
    EXPECT_FALSE(flat_line(line)) << line;
  const auto spaced =
      flat_line(R"({ "process" : "a", "f" : "read", "value" : [ "x", -1, true ] })");
  ASSERT_TRUE(spaced);
  EXPECT_EQ(spaced->process, "\"a\"");
  EXPECT_EQ(text::flat_json(spaced->value), nlohmann::json({"x", -1, true}));
  for (const char* value :
       {"[[1,[]],{}]", R"({"a":{"b":[{"c":null}, 2 ]},"a":"ü"})", R"([ ["x",{"y":false}] ])"}) {
    const auto line = std::string(R"({"process":1,"f":"read","value":)") + value + "}";
    const auto flat = flat_line(line);
    ASSERT_TRUE(flat) << value;
    EXPECT_EQ(flat->value, value);
    EXPECT_EQ(text::flat_json(flat->value), nlohmann::json::parse(value));
  }
}

// Reads of marks that are the same are one element, whoever reads their line.
TEST(Reader, FlatMarksAreThoseOfTheJsonParser) {
  for (const char* value :
       {R"([["ab",{"bold":true}],["c",{"a b":1,"a":"x","bold":null}],["d"],["e",{"bold":true}]])",
        "[[\"a\xe2\x80\x8b\",{\"b\":\"c\"}]]", R"([["ü",{"ä":[1],"b":{"c":2}}]])",
        R"([["a",{"b":1,"b":2}],["c",{"b":-3,"c":false}]])", "[]", R"([["a",{}]])"}) {
    const auto line = [&](const std::string& rest) {
      return std::string(R"({"process":1,"f":"read","value":)") + value + rest + "}\n";
    };
    const auto history = well(Type::kMarkedText, line("") + line(",\"ignored\":0"));
    ASSERT_EQ(history.ops.size(), 2U);
    EXPECT_EQ(history.ops[0].parent, history.ops[1].parent) << value;
    EXPECT_TRUE(std::ranges::equal(history.list(history.ops[0]), history.list(history.ops[1])));
  }
}

}  // namespace
}  // namespace cupel::crdt
