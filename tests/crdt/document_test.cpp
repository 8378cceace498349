// Maps with nested values: the format and its errors, the four policies in small cases, and what a
// user reads. The decision against the axioms is in context_test.cpp, with the other types.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "crdt/analysis/analyze.hpp"
#include "crdt/families.hpp"
#include "crdt/io/certificate.hpp"
#include "crdt/io/reader.hpp"
#include "crdt/io/report.hpp"
#include "crdt/verify/verify.hpp"
#include "crdt/workload/generate.hpp"
#include "support/parameter_name.hpp"

namespace cupel::crdt {
namespace {

constexpr Type kMaps[] = {Type::kMap, Type::kRemoveWinsMap, Type::kUpdateWinsMap, Type::kResetMap};

History read_map(const std::string& text, Type type = Type::kMap) {
  auto history = read(text, "h", {type});
  EXPECT_TRUE(history.ok()) << (history.ok() ? "" : history.error().to_string());
  return std::move(history).value();
}

std::string error_of_document(const std::string& text) {
  const auto history = read(text, "h", {Type::kMap});
  return history.ok() ? "none" : history.error().to_string();
}

Analysis analyzed_document(const History& history) {
  const auto visibility = Visibility::of(history).value();
  base::Budget budget;
  return analyze(history, {.visibility = &visibility}, budget);
}

Verdict verdict_of_document(const std::string& text, Type type) {
  const auto history = read_map(text, type);
  const auto found = analyzed_document(history);
  const auto verified = verify(history, certificate_of(history, found));
  EXPECT_EQ(verified.status, CertificateStatus::kValid) << verified.reason << "\n" << text;
  return found.decision.verdict;
}

std::string summary_of_document(const std::string& text, Type type = Type::kMap) {
  const auto found = analyzed_document(read_map(text, type));
  return found.explanation ? found.explanation->name + ": " + found.explanation->summary : "";
}

// Which of the four policies allow it: 1 or 0 each.
std::string allowed(const std::string& text) {
  std::string all;
  for (const Type type : kMaps)
    all += verdict_of_document(text, type) == Verdict::kSatisfied ? '1' : '0';
  return all;
}

const char* const kTodo = R"({"process":0,"f":"put","value":[["todo"],{"map":"m1"}]}
{"process":0,"f":"put","value":[["todo","n"],{"counter":"c1"}]}
{"process":0,"f":"inc","value":[["todo","n"],2]}
{"process":1,"f":"deliver","value":{"0":3}}
)";

// A remove of the key, and concurrently an increment within its value; then a third replica reads.
std::string removed_and_incremented(const std::string& shown) {
  return std::string(kTodo) + R"({"process":1,"f":"remove","value":[["todo"]]}
{"process":0,"f":"inc","value":[["todo","n"],1]}
{"process":2,"f":"deliver","value":["0:0","0:1","0:2","0:3","1:0"]}
{"process":2,"f":"read","value":)" +
         shown + "}\n";
}

TEST(Documents, AConcurrentUpdateWithinARemovedValueDecidesByThePolicy) {
  EXPECT_EQ(allowed(removed_and_incremented("{}")), "1100");
  const auto with = [](int n) {
    return removed_and_incremented(fmt::format(
        R"({{"todo":{{"map":"m1","value":{{"n":{{"counter":"c1","value":{}}}}}}}}})", n));
  };
  EXPECT_EQ(allowed(with(3)), "0010");
  EXPECT_EQ(allowed(with(1)), "0001");
  EXPECT_EQ(allowed(with(2)), "0000");
}

TEST(Documents, AConcurrentPutOfARemovedKeyDecidesByThePolicy) {
  const auto shown = [](const std::string& value) {
    return R"({"process":0,"f":"put","value":[["k"],1]}
{"process":1,"f":"deliver","value":["0:0"]}
{"process":1,"f":"remove","value":[["k"]]}
{"process":0,"f":"put","value":[["k"],2]}
{"process":2,"f":"deliver","value":["0:0","0:1","1:0"]}
{"process":2,"f":"read","value":[["k"],)" +
           value + "]}\n";
  };
  EXPECT_EQ(allowed(shown("2")), "1111");
  EXPECT_EQ(allowed(shown("null")), "1000");
  EXPECT_EQ(allowed(shown("1")), "0000");
}

// Two concurrent puts, and a remove that has seen only the winner.
TEST(Documents, ARemoveOfTheWinnerUncoversTheOtherPutOrNot) {
  const auto shown = [](const std::string& value) {
    return R"({"process":0,"f":"put","value":[["k"],1]}
{"process":1,"f":"put","value":[["k"],2]}
{"process":3,"f":"deliver","value":["0:0","1:0"]}
{"process":3,"f":"read","value":[["k"],2]}
{"process":2,"f":"deliver","value":["1:0"]}
{"process":2,"f":"remove","value":[["k"]]}
{"process":3,"f":"deliver","value":["2:0"]}
{"process":3,"f":"read","value":[["k"],)" +
           value + "]}\n";
  };
  EXPECT_EQ(allowed(shown("null")), "1000");
  EXPECT_EQ(allowed(shown("1")), "0111");
}

TEST(Documents, EachKindOfContainerIsRead) {
  const std::string text = R"({"process":0,"f":"put","value":[["a"],{"map":1}]}
{"process":0,"f":"put","value":[["a","l"],{"list":2}]}
{"process":0,"f":"addAfter","value":[["a","l"],[null,"x"]]}
{"process":0,"f":"addAfter","value":[["a","l"],["x",7]]}
{"process":0,"f":"remove","value":[["a","l"],"x"]}
{"process":0,"f":"put","value":[["a","t"],{"text":3}]}
{"process":0,"f":"insert","value":[[{"text":3}],[null,"h\u00e9y"]]}
{"process":0,"f":"delete","value":[["a","t"],"h"]}
{"process":0,"f":"put","value":[["s"],{"set":4}]}
{"process":0,"f":"add","value":[["s"],"e"]}
{"process":0,"f":"add","value":[["s"],true]}
{"process":0,"f":"remove","value":[["s"],"e"]}
{"process":0,"f":"put","value":[["r"],{"register":5}]}
{"process":0,"f":"write","value":[["r"],1.5]}
{"process":0,"f":"put","value":[["c"],{"counter":6}]}
{"process":0,"f":"dec","value":[["c"]]}
{"process":1,"f":"deliver","value":{"0":20}}
{"process":1,"f":"read","value":{"a":{"map":1,"value":{"l":{"list":2,"value":[7]},"t":{"text":3,"value":"\u00e9y"}}},"s":{"set":4,"value":[true]},"r":{"register":5,"value":[1.5]},"c":{"counter":6,"value":-1}}}
)";
  std::string fewer = text;
  fewer.replace(fewer.find("{\"0\":20}"), 8, "{\"0\":16}");
  EXPECT_EQ(allowed(fewer), "1111");
  const auto history = read_map(fewer);
  for (const bool edn : {false, true}) {
    const auto again = read_map(write(history, edn));
    EXPECT_EQ(write(again), write(history));
    EXPECT_EQ(analyzed_document(again).decision.verdict, Verdict::kSatisfied);
  }
  EXPECT_EQ(history.text(6), "insert(a.t, null, \"h\u00e9y\")");
  EXPECT_EQ(history.text(4), "remove(a.l, \"x\")");
  EXPECT_EQ(history.text(15), "dec(c, 1)");
  EXPECT_EQ(history.text(16),
            "read() = {a: map 1 {l: list 2 [7], t: text 3 \"\u00e9y\"}, c: counter 6 -1, "
            "r: register 5 [1.5], s: set 4 [true]}");
  for (const auto& [from, to] :
       {std::pair{"[7]", "[]"}, {"[true]", "[true,\"e\"]"}, {"[1.5]", "[]"}, {"-1}", "0}"}}) {
    auto wrong = fewer;
    wrong.replace(wrong.rfind(from), std::string(from).size(), to);
    EXPECT_EQ(allowed(wrong), "0000") << to;
  }
}

const char* const kItems = R"({"process":0,"f":"put","value":[["items"],{"list":"l1"}]}
{"process":0,"f":"addAfter","value":[["items"],[null,"x"]]}
{"process":0,"f":"addAfter","value":[["items"],["x",{"map":"m1"}]]}
{"process":0,"f":"put","value":[[{"map":"m1"},"n"],1]}
{"process":0,"f":"addAfter","value":[["items"],[{"map":"m1"},{"list":"l2"}]]}
{"process":0,"f":"addAfter","value":[[{"list":"l2"}],[null,{"counter":"c1"}]]}
{"process":0,"f":"inc","value":[[{"counter":"c1"}],2]}
)";

TEST(Documents, ListsHaveContainers) {
  const auto shown = [](const std::string& items) {
    return std::string(kItems) + R"({"process":1,"f":"deliver","value":{"0":7}}
{"process":1,"f":"read","value":{"items":{"list":"l1","value":)" +
           items + "}}}\n";
  };
  const std::string right =
      R"(["x",{"map":"m1","value":{"n":1}},{"list":"l2","value":[{"counter":"c1","value":2}]}])";
  EXPECT_EQ(allowed(shown(right)), "1111");
  const auto history = read_map(shown(right));
  for (const bool edn : {false, true}) {
    const auto again = read_map(write(history, edn));
    EXPECT_EQ(write(again), write(history));
    EXPECT_EQ(analyzed_document(again).decision.verdict, Verdict::kSatisfied);
  }
  EXPECT_EQ(history.text(2), "addAfter(items, \"x\", {\"map\":\"m1\"})");
  EXPECT_EQ(history.text(3), "put(items[map \"m1\"].n, 1)");
  EXPECT_EQ(history.text(6), "inc(items[list \"l2\"][counter \"c1\"], 2)");
  EXPECT_EQ(
      history.text(7),
      "read() = {items: list \"l1\" [\"x\",map \"m1\" {n: 1},list \"l2\" [counter \"c1\" 2]]}");
  for (const auto& [from, to] : {std::pair{"\"n\":1", "\"n\":2"},
                                 {"{\"n\":1}", "{}"},
                                 {"\"value\":2", "\"value\":3"},
                                 {"\"x\",", ""},
                                 {"[{\"counter\":\"c1\",\"value\":2}]", "[]"}}) {
    auto wrong = right;
    wrong.replace(wrong.find(from), std::string(from).size(), to);
    EXPECT_EQ(allowed(shown(wrong)), "0000") << wrong;
  }
  EXPECT_EQ(allowed(shown(R"([{"map":"m1","value":{"n":1}},"x",{"list":"l2","value":[]}])")),
            "0000");
  EXPECT_EQ(
      summary_of_document(shown(R"(["x",{"list":"l2","value":[{"counter":"c1","value":2}]}])")),
      "lost-character: at items, line 9 (replica 1) does not show {\"map\":\"m1\"}; it had "
      "received addAfter(items, \"x\", {\"map\":\"m1\"}) of replica 0 (line 3), and no remove of "
      "it");
}

// The list decides, by every policy, and the update keeps the value of the key.
TEST(Documents, ARemovedElementTakesAlongWhatIsDoneInItConcurrently) {
  const auto shown = [](const std::string& what, const std::string& read) {
    return std::string(kItems) + R"({"process":1,"f":"deliver","value":{"0":7}}
{"process":1,"f":"remove","value":)" +
           what + R"(}
{"process":0,"f":"put","value":[[{"map":"m1"},"n"],5]}
{"process":2,"f":"deliver","value":{"0":8,"1":1}}
{"process":2,"f":"read","value":)" +
           read + "}\n";
  };
  const std::string element = R"([["items"],{"map":"m1"}])", key = R"([["items"]])";
  const std::string list = R"({"items":{"list":"l1","value":[)",
                    rest = R"({"list":"l2","value":[{"counter":"c1","value":2}]}]}})",
                    map = R"({"map":"m1","value":{"n":5}},)";
  EXPECT_EQ(allowed(shown(element, list + "\"x\"," + rest)), "1111");
  EXPECT_EQ(allowed(shown(element, list + "\"x\"," + map + rest)), "0000");
  EXPECT_EQ(allowed(shown(element, R"([[{"map":"m1"},"n"],null])")), "1111");
  EXPECT_EQ(allowed(shown(key, R"([[{"map":"m1"},"n"],null])")), "1101");
  EXPECT_EQ(allowed(shown(key, "{}")), "1100");
  EXPECT_EQ(allowed(shown(key, list + "\"x\"," + map + rest)), "0010");
  EXPECT_EQ(allowed(shown(key, list + "]}}")), "0001");
}

TEST(Documents, ErrorsSayWhatIsWrong) {
  const auto line = [](const std::string& f, const std::string& value) {
    return R"({"process":0,"f":")" + f + R"(","value":)" + value + "}\n";
  };
  const std::string map = line("put", R"([["a"],{"map":1}])");
  EXPECT_EQ(error_of_document(line("put", "1")),
            "h:1: found put with the value 1, expected a path and what to do there, as in "
            "[[\"todo\",\"n\"],1]");
  EXPECT_EQ(error_of_document(line("put", "[[],1]")),
            "h:1: found put with the value [[],1], expected a path of keys, as in "
            "[\"todo\",\"n\"], or from a container on, as in [{\"map\":\"m1\"},\"n\"]");
  EXPECT_NE(error_of_document(line("put", "[[\"a\"],null]")).find("expected a path and a value"),
            std::string::npos);
  EXPECT_NE(
      error_of_document(line("put", "[[\"a\"],{\"tree\":1}]")).find("containers are map, list"),
      std::string::npos);
  EXPECT_EQ(error_of_document(map + line("put", R"([["b"],{"map":1}])")),
            "h:2: found a second put of map 1, expected each container to be put once; tag them "
            "with the replica and a number");
  EXPECT_EQ(error_of_document(line("put", R"([[{"map":2},"a"],{"map":1}])") +
                              line("put", R"([[{"map":1},"a"],{"map":2}])")),
            "h:2: found that map 2 is put into itself, expected no cycle");
  EXPECT_EQ(error_of_document(line("inc", R"([["b","n"],1])")),
            "h:1: found the path [\"b\",\"n\"], expected containers that lines before put at "
            "\"b\"");
  EXPECT_EQ(error_of_document(map + line("put", R"([["a"],{"map":2}])") +
                              line("put", R"([["a","n"],1])")),
            "h:3: found the path [\"a\",\"n\"], but several containers were put at \"a\", expected "
            "the id of the one that is meant, as in [{\"map\":\"m1\"},\"n\"]");
  EXPECT_EQ(error_of_document(map + line("inc", R"([["a"],1])")),
            "h:2: found inc of [\"a\"], which is a map, expected an update that it has");
  EXPECT_NE(
      error_of_document(line("put", R"([["c"],{"counter":1}])") + line("put", R"([["c","n"],1])"))
          .find("which leads through a counter 1, expected maps"),
      std::string::npos);
  const std::string list = line("put", R"([["l"],{"list":1}])");
  EXPECT_EQ(error_of_document(map + list + line("addAfter", R"([["l"],[null,{"map":1}]])")),
            "h:3: found a second put of map 1, expected each container to be put once; tag them "
            "with the replica and a number");
  EXPECT_EQ(error_of_document(list + line("addAfter", R"([["l"],[null,{"list":1}]])")),
            "h:2: found a second put of list 1, expected each container to be put once; tag them "
            "with the replica and a number");
  EXPECT_NE(error_of_document(list + line("addAfter", R"([["l"],[null,{"tree":1}]])"))
                .find("the element, which may be a new container"),
            std::string::npos);
  EXPECT_NE(error_of_document(list + line("read", R"({"l":{"list":1,"value":[{"map":2}]}})"))
                .find("expected an array of scalars and of containers with their values"),
            std::string::npos);
  EXPECT_NE(error_of_document(line("move", "[[\"a\"],1]")).find("found the method `move`"),
            std::string::npos);
  EXPECT_NE(error_of_document(line("read", "3")).find("expected the document"), std::string::npos);
  EXPECT_NE(
      error_of_document(line("read", R"({"a":null})")).find("found null in what a read shows"),
      std::string::npos);
  EXPECT_NE(error_of_document(line("read", R"({"a":{"counter":1,"value":"x"}})"))
                .find("expected a whole number"),
            std::string::npos);
}

TEST(Documents, AnUpdateOfAContainerThatIsNotThereIsFound) {
  EXPECT_EQ(summary_of_document(R"({"process":0,"f":"put","value":[["n"],{"counter":"c1"}]}
{"process":1,"f":"version","value":[]}
{"process":1,"f":"inc","value":[["n"],1]}
)"),
            "used-unseen-value: line 3 (replica 1) names counter \"c1\", which it had not "
            "received");
  EXPECT_EQ(summary_of_document(R"({"process":1,"f":"version","value":[]}
{"process":1,"f":"inc","value":[[{"counter":"c9"}],1]}
)"),
            "used-unseen-value: line 2 (replica 1) names counter \"c9\", which nobody put "
            "anywhere");
}

TEST(Documents, ExplanationsNameThePathTheUpdateAndTheLine) {
  const auto report = [](const std::string& text, Type type) {
    const auto history = read_map(text, type);
    return as_text({.file = "h", .history = &history, .analysis = analyzed_document(history)});
  };
  EXPECT_EQ(report(removed_and_incremented("{}"), Type::kUpdateWinsMap),
            "h\tupdate-wins-map\tviolated\n"
            "  concurrent-update-lost: line 8 (replica 2) shows nothing at todo; it had received "
            "inc(todo.n, 1) of replica 0 (line 6), which no remove that it had received had seen: "
            "this update must keep the value\n"
            "  it takes 4 of 6 operations:\n"
            "    line 1  replica 0  put(todo, map \"m1\")\n"
            "    line 5  replica 1  remove(todo)\n"
            "    line 6  replica 0  inc(todo.n, 1)\n"
            "    line 8  replica 2  read(todo) = nothing  <- this one\n");
  EXPECT_EQ(summary_of_document(removed_and_incremented(R"({"todo":{"map":"m1","value":{}}})"),
                                Type::kRemoveWinsMap),
            "removed-value-shown: line 8 (replica 2) shows map \"m1\" at todo; it had received "
            "remove(todo) of replica 1 (line 5), which had seen that put");
  EXPECT_EQ(summary_of_document(
                std::string(kTodo) +
                R"({"process":1,"f":"read","value":[["todo","n"],{"counter":"c1","value":5}]}
)"),
            "impossible-value: at todo.n, line 5 (replica 1) returned 5; what it had "
            "received adds up to 2");
  EXPECT_EQ(
      summary_of_document(std::string(kTodo) +
                          R"({"process":1,"f":"read","value":[["todo","n"],null]})"),
      "lost-put: line 5 (replica 1) shows nothing at todo.n; it had received put(todo.n, counter "
      "\"c1\") of replica 0 (line 2), and no put or remove of it that had seen that");
}

// Two reads that prefer one of two concurrent puts each.
TEST(Documents, TheReadsOfAKeyFitOneOrder) {
  const std::string text = R"({"process":0,"f":"put","value":[["k"],1]}
{"process":1,"f":"put","value":[["k"],2]}
{"process":2,"f":"deliver","value":["0:0","1:0"]}
{"process":2,"f":"read","value":[["k"],1]}
{"process":3,"f":"deliver","value":["0:0","1:0"]}
{"process":3,"f":"read","value":{"k":2}}
)";
  EXPECT_EQ(allowed(text), "0000");
  EXPECT_EQ(summary_of_document(text),
            "order-disagreement: no order of the updates of k explains what these reads show "
            "there");
}

class DocumentBugs : public testing::TestWithParam<Type> {};

TEST_P(DocumentBugs, AreFoundWithFewOperations) {
  constexpr std::size_t kMostOperations = 10;
  for (const auto& bug : bugs_of(GetParam())) {
    for (std::uint64_t seed = 1; seed <= 10; ++seed) {
      GenerateOptions options;
      options.type = {GetParam()};
      options.ops = 1000;
      options.seed = seed;
      options.bug = bug;
      options.context = true;
      const auto history = generate(options).value();
      const auto found = analyzed_document(history);
      ASSERT_EQ(found.decision.verdict, Verdict::kViolated) << bug << " " << seed;
      EXPECT_LE(found.explanation->core.ops.size(), kMostOperations) << bug << " " << seed;
      const auto verified = verify(history, certificate_of(history, found));
      EXPECT_EQ(verified.status, CertificateStatus::kValid) << bug << " " << verified.reason;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Types, DocumentBugs, testing::ValuesIn(kMaps), test::parameter_name);

}  // namespace
}  // namespace cupel::crdt
