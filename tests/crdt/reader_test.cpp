// Reader: the two formats, what completions mean, and what is refused with which words.
#include "crdt/reader.hpp"

#include <gtest/gtest.h>

#include "crdt/generate.hpp"

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

TEST(Reader, CompletionsCountAndUnknownOnesAreSeenByNobody) {
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

}  // namespace
}  // namespace cupel::crdt
