// Jepsen op maps: every quirk of docs/reference/formats/jepsen.md, beside what is refused.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <zstd.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "base/visible.hpp"
#include "data/formats/edn.hpp"
#include "data/formats/formats.hpp"
#include "data/formats/jepsen_reader.hpp"
#include "data/formats/jepsen_writer.hpp"
#include "data/history/builder.hpp"
#include "data/history/text_order.hpp"
#include "data/history/times.hpp"
#include "formats/files.hpp"
#include "formats/history_text.hpp"

namespace cupel::formats {
namespace {

using namespace history;
namespace fs = std::filesystem;

std::string read_text(std::string_view bytes, TextOf what = {.times = false, .labels = false}) {
  const auto h = read_jepsen(bytes, "h", 0);
  return h ? text_of(*h, what) : h.error().to_string();
}

TEST(Jepsen, JsonLinesGiveTransactionsWithTimesAndLabels) {
  const auto h = read_jepsen(
      R"({"index":0,"type":"invoke","process":3,"f":"txn","value":[["r",1,null],["w",2,5]],"time":10}
{"index":1,"type":"ok","process":3,"f":"txn","value":[["r",1,null],["w",2,5]],"time":20}
)",
      "h", 0);
  ASSERT_TRUE(h) << h.error().to_string();
  EXPECT_EQ(text_of(*h, {.times = true}), "3: #1 10..20 r(1,null) w(2,5)\n");
  EXPECT_TRUE(h->has_all_times());
  EXPECT_EQ(h->metadata().count("times"), 0u);
  EXPECT_EQ(h->metadata().at("format"), "jepsen");
}

TEST(Jepsen, EverySpellingOfOneHistoryIsTheSame) {
  const std::string expected = "0: w(x,1)\n1: r(x,1)\n";
  for (
      const char* text : {
          R"({"type":"ok","process":0,"f":"txn","value":[["w","x",1]]}
{"type":"ok","process":1,"f":"txn","value":[["r","x",1]]})",
          R"([{"type":"ok","process":0,"f":"txn","value":[["w","x",1]]},
{"type":"ok","process":1,"f":"txn","value":[["r","x",1]]}])",
          R"({"type":"ok","process":0,"f":"txn",
 "value":[["w","x",1]]}  {"type":"ok","process":"1","f":"txn","value":[["r","x",1]]})",
          R"({:type :ok, :process 0, :f :txn, :value [[:w "x" 1]]}
{:type :ok, :process 1, :f :txn, :value [[:r "x" 1]]})",
          R"([{:type :ok, :process 0, :f :txn, :value [[:w "x" 1]]} ; first
 {:type :ok :process 1 :f :txn :value ([:r "x" 1N])}])",
          R"(({:type :ok :process 0 :f :txn :value [(:w "x" +1)]} #_{:type :huh}
 {:type :ok :process 1 :f :txn :value [[:r "x" #_ 7 1]]}))",
          R"(; a comment
#jepsen.history.Op{:index 0, :time nil, :type :ok, :process 0, :f :txn, :value [[:w "\u0078" 1]]}
#jepsen.history.Op{:type :ok, :process 1, :f :txn, :value [[:r "x" 1]], :extra #{1 {:a #inst "2020"}}})",
          R"({"type" "ok" "process" 0 "f" "txn" "value" [["w" "x" 1]]} {"type" "ok" "process" 1 "f" "txn" "value" [["r" "x" 1]]})",
          "\xef\xbb\xbf{\"type\":\"ok\",\"process\":0,\"value\":[[\"w\",\"x\",1]]}\r\n\r\n"
          "{\"type\":\"ok\",\"process\":1,\"value\":[[\"r\",\"x\",1]]}\r\n"}) {
    EXPECT_EQ(read_text(text), expected) << text;
    EXPECT_NE(recognize_jepsen(text), Match::kNo) << text;
  }
}

TEST(Jepsen, StatusesFollowCompletionsAndLostOnes) {
  EXPECT_EQ(read_text(R"(
{:type :invoke :process 0 :f :txn :value [[:w 1 1] [:r 2 nil]]}
{:type :fail :process 0 :f :txn :value nil}
{:type :invoke :process 1 :f :txn :value [[:w 1 2] [:r 2 nil]]}
{:type :info :process 1 :f :txn :error :timeout}
{:type :invoke :process 1 :f :txn :value [[:w 1 3]]}
{:type :info :process 2 :f :txn :value [[:w 1 4] [:r 2 9]]}
)"),
            "0: aborted w(1,1) r(2,?)\n"
            "1: indeterminate w(1,2) r(2,?) | indeterminate w(1,3)\n"
            "2: indeterminate w(1,4) r(2,9)\n");
}

// Lines are read a chunk at a time, which drops what is not needed; an array is not.
TEST(Jepsen, WithoutSuccessOnlyARepeatedTransactionKnowsItsReads) {
  const std::string lines =
      R"({"type":"invoke","process":0,"f":"txn","value":[["w",1,1],["r",2,null]]}
{"type":"fail","process":0,"f":"txn","value":[["w",1,1],["r",2,9]]}
{"type":"invoke","process":1,"f":"txn","value":[["w",1,2],["r",2,null],["r",3,null]]}
{"type":"fail","process":1,"f":"txn","value":[["w",1,2],["r",2,8,false],["r",3,7]]}
{"type":"invoke","process":1,"f":"txn","value":[["w",1,3],["r",2,null]]}
{"type":"fail","process":1,"f":"txn","value":[["w",1,3]]}
{"type":"invoke","process":0,"f":"txn","value":[["w",1,4],["r",2,null]]}
{"type":"info","process":0,"f":"txn","value":["timeout",[1,2]]}
{"type":"invoke","process":2,"f":"txn","value":[["w",1,5],["r",2,null]]}
{"type":"info","process":2,"f":"txn","value":[["w",1,5],["r",2,6]]}
)";
  const std::string expected =
      "0: aborted w(1,1) r(2,9) | indeterminate w(1,4) r(2,?)\n"
      "1: aborted w(1,2) r(2,?) r(3,7) | aborted w(1,3) r(2,?)\n"
      "2: indeterminate w(1,5) r(2,6)\n";
  EXPECT_EQ(read_text(lines), expected);
  std::string array = "[" + lines.substr(0, lines.size() - 1) + "]";
  for (std::size_t at = 0; (at = array.find('\n', at)) != std::string::npos; at += 2)
    array.replace(at, 1, ",\n");
  EXPECT_EQ(read_text(array), expected);
}

TEST(Jepsen, ReadsOfAnInvocationAreUnknownEvenIfItNamesAValue) {
  EXPECT_EQ(read_text(R"({:type :invoke :process 0 :f :txn :value [[:r 2 9] [:w 1 1]]})"),
            "0: indeterminate r(2,?) w(1,1)\n");
}

TEST(Jepsen, TheHistoryDecidesWhichKeysAreLists) {
  EXPECT_EQ(read_text(R"(
{:type :ok :process 0 :value [[:append :a 1] [:r :b nil] [:r :c nil] [:r :d [1 2]]]}
{:type :ok :process 1 :value [[:r :a nil] [:r :a []] [:w :b 1] [:r :c [1 :k "s"]] [:r :e nil]]}
{:type :ok :process 2 :value [[:r :a [1]] [:r :d nil] [:w :v [1 2]] [:r :v [1 2]]]}
)"),
            "0: append(:a,1) r(:b,null) list(:c,[]) list(:d,[1 2])\n"
            "1: list(:a,[]) list(:a,[]) w(:b,1) list(:c,[1 :k s]) r(:e,null)\n"
            "2: list(:a,[1]) list(:d,[]) w(:v,[1 2]) r(:v,[1 2])\n");
  EXPECT_EQ(read_text("{:type :ok :process 0 :value [[:append 1 1]]}\n"
                      "{:type :ok :process 0 :value [[:w 1 1]]}"),
            "h:2: found key 1 used both as a list (append) and as a register (write, read of one "
            "value, initial value), expected one of the two; a list starts empty");
}

TEST(Jepsen, AKeyWithAnInitialValueIsARegister) {
  const auto with_initial = [](const std::string& initial, const std::string& ops) {
    return read_text(R"({"type":"info","process":"nemesis","f":"cupel.initial","value":)" +
                     initial + "}\n" + R"({"type":"ok","process":0,"value":)" + ops + "}\n");
  };
  EXPECT_EQ(with_initial(R"([null,[["l",[1,2]]]])", R"([["r","l",[1,2]]])"), "0: r(l,[1 2])\n");
  for (const char* empty : {"null", "[]"}) {
    EXPECT_EQ(with_initial("[null,[[\"l\"," + std::string(empty) + "]]]",
                           R"([["append","l",1],["r","l",[1]]])"),
              "0: append(l,1) list(l,[1])\n");
  }
  EXPECT_EQ(with_initial(R"([0,[]])", R"([["append","l",1],["r","l",[1]]])"),
            "0: append(l,1) list(l,[1])\n");
  EXPECT_EQ(
      with_initial(R"([null,[["l",[1,2]]]])", R"([["append","l",3],["r","l",[1,2,3]]])"),
      "h:2: found key \"l\" used both as a list (append) and as a register (write, read of one "
      "value, initial value), expected one of the two; a list starts empty");
  EXPECT_EQ(with_initial(R"([null,[["x",1],["x",2]]])", R"([["r","x",1]])"),
            "h:1: found two initial values of key \"x\"");
  EXPECT_EQ(
      with_initial(R"({"x":1})", R"([["r","x",1]])"),
      "h:1: found a malformed cupel.initial line, expected [VALUE, [[KEY, VALUE], …]]: of all "
      "keys, and of single ones");
}

TEST(Jepsen, ARangeReadReturnsNoList) {
  const auto read = [](const std::string& ops) {
    return read_text(R"({"type":"ok","process":0,"value":[)" + ops + "]}\n");
  };
  const std::string appended =
      "h:1: found key 5 in a range read and with appends, expected one of the two: a range read "
      "cannot return a list, and a row that is left out says that the list is empty. Leave the "
      "whole range read out, or record a read of each key";
  EXPECT_EQ(read(R"(["append",5,1],["range",[1,9],[[5,[1]]]])"), appended);
  EXPECT_EQ(read(R"(["range",[1,9],[[5,[1]]]],["append",5,1])"), appended);
  EXPECT_EQ(read(R"(["append",5,1],["range",[1,9],[]])"), "0: append(5,1) range(1..9)\n");
  // A list that holds nothing, or whose appends are missing, or a register: nobody knows.
  for (const std::string row : {"[]", "[1]", R"({"a":1})"}) {
    const auto found = read(R"(["w",1,1],["range",[1,9],[[5,)" + row + "]]]");
    EXPECT_NE(found.find("for key 5, a collection, but every write wrote a single value. A range "
                         "read cannot return a list: leave the whole range read out, or record a "
                         "read of each key. If the database may "
                         "store such a value, add --kind transactions"),
              std::string::npos)
        << found;
  }
  // Beside values that are collections: not of a key that nothing wrote, if it may be an empty
  // list.
  EXPECT_NE(read(R"(["w",1,[7]],["range",[1,9],[[1,[7]],[5,[]]]])").find("returned [] for key 5"),
            std::string::npos);
  EXPECT_EQ(read(R"(["w",1,[7]],["w",5,[]],["range",[1,9],[[1,[7]],[5,[]]]])"),
            "0: w(1,[7]) w(5,[]) range(1..9,1=[7],5=[])\n");
  EXPECT_EQ(read_text(R"({"type":"info","process":"nemesis","f":"cupel.initial","value":[[],[]]}
{"type":"ok","process":0,"value":[["range",[1,9],[[5,[]]]]]}
)"),
            "0: range(1..9,5=[])\n");
}

TEST(Jepsen, NullIsNoBoundOfARange) {
  const auto h = read_jepsen(
      R"({"type":"ok","process":0,"value":[["range",[null,9],[]],["range",[1,null],[]]]})", "h", 0);
  ASSERT_TRUE(h) << h.error().to_string();
  const auto first = h->range(h->op(OpId(0))), second = h->range(h->op(OpId(1)));
  EXPECT_EQ(h->value(first.low), ScalarView::null());
  EXPECT_EQ(h->value(second.high), kAboveAll);
  std::ostringstream out;
  ASSERT_TRUE(write_jepsen(*h, out, false));
  EXPECT_NE(out.str().find(R"(["range",[null,9],[]],["range",[1,null],[]])"), std::string::npos)
      << out.str();
}

// The cells of such a range were freed when the next operation was parsed, which then wrote its own
// bounds there.
TEST(Jepsen, BoundsOfOpenRangesOutliveTheirNeighbours) {
  const struct {
    const char* json;
    const char* edn;
    const char* text;
  } cases[] = {
      // A serial history of one session.
      {R"({"type":"ok","process":0,"f":"txn","value":[["w","d",1]]}
{"type":"ok","process":0,"f":"txn","value":[["range",["e",null],[]]]}
{"type":"ok","process":0,"f":"txn","value":[["range",["a","a"],[]]]}
{"type":"ok","process":0,"f":"txn","value":[["range",["a","c"],[]]]})",
       R"({:type :ok :process 0 :f :txn :value [[:w "d" 1]]}
{:type :ok :process 0 :f :txn :value [[:range ["e" nil] []]]}
{:type :ok :process 0 :f :txn :value [[:range ["a" "a"] []]]}
{:type :ok :process 0 :f :txn :value [[:range ["a" "c"] []]]})",
       "0: w(d,1) | range(e..nil) | range(a..a) | range(a..c)\n"},
      // The first two transactions alone are a phantom that is missed.
      {R"({"type":"ok","process":0,"f":"txn","value":[["w","b",1]]}
{"type":"ok","process":0,"f":"txn","value":[["range",["a",null],[]]]}
{"type":"ok","process":0,"f":"txn","value":[["range",["c","d"],[]]]})",
       R"({:type :ok :process 0 :f :txn :value [[:w "b" 1]]}
{:type :ok :process 0 :f :txn :value [[:range ["a" nil] []]]}
{:type :ok :process 0 :f :txn :value [[:range ["c" "d"] []]]})",
       "0: w(b,1) | range(a..nil) | range(c..d)\n"},
      // Neighbours in one transaction, with rows, without any bound, and beside a cas.
      {R"([{"type":"ok","process":0,"f":"txn",
 "value":[["range",[2,null],[[2,7],["k",8]]],["range",[null,null],[["k",8]]],["cas","q",[1,2]]]}])",
       R"([{:type :ok :process 0 :f :txn
 :value [[:range [2 nil] [[2 7] ["k" 8]]] [:range [nil nil] [["k" 8]]] [:cas "q" [1 2]]]}])",
       "0: range(2..nil,2=7,k=8) range(null..nil,k=8) cas(q,1->2)\n"},
      // A failed transaction that repeats its operations has them by another path.
      {R"({"type":"fail","process":0,"f":"txn","value":[["range",[2,null],[[5,5]]],["range",[3,4],[]]]})",
       R"({:type :fail :process 0 :f :txn :value [[:range [2 nil] [[5 5]]] [:range [3 4] []]]})",
       "0: aborted range(2..nil,5=5) range(3..4)\n"}};
  for (const auto& [json, edn, text] : cases) {
    EXPECT_EQ(read_text(json), text);
    EXPECT_EQ(read_text(edn), text);
  }
}

TEST(Jepsen, WhatIsWrittenCommandsNoTerminal) {
  HistoryBuilder b;
  b.begin(b.session("s\u202e"), TxnStatus::kCommitted, {});
  b.write(b.key(ScalarView::of("a\u009bb")), b.value(ScalarView::literal("\"\u2028\"")));
  b.end();
  const auto h = std::move(b).finish();
  ASSERT_TRUE(h);
  for (const bool edn : {false, true}) {
    std::ostringstream out;
    ASSERT_TRUE(write_jepsen(*h, out, edn));
    EXPECT_EQ(out.str(), base::visible(out.str(), "\n"));
    const auto again = read_jepsen(out.str(), "h", 0);
    ASSERT_TRUE(again) << again.error().to_string();
    EXPECT_EQ(again->key(KeyId(0)), h->key(KeyId(0)));
    EXPECT_EQ(again->value(again->op(OpId(0)).value), h->value(h->op(OpId(0)).value));
    EXPECT_EQ(again->session_name(SessionId(0)), h->session_name(SessionId(0)));
  }
}

TEST(Jepsen, ScalarsOfEveryKind) {
  EXPECT_EQ(
      read_text(R"({:type :ok :process 0 :value [[:w "1" 1] [:w 1 :k] [:w -1 "a\"\n"] [:w 1.0 true]
 [:w 99999999999999999999 1e400] [:w [1 "x"] {:b 1, :a 2}] [:w #{2 1} \a] [:w nil foo/bar] [:w #inst "2020" 1/2]]})"),
      "0: w(1,1) w(1,:k) w(-1,a\"\n) w(1.0,true) w(99999999999999999999N,##Inf) "
      "w([1 \"x\"],{:a 2 :b 1}) w(#{1 2},\\a) w(null,foo/bar) w(#inst \"2020\",1/2)\n");
  EXPECT_EQ(
      read_text(
          R"({"type":"ok","process":0,"value":[["w","1",true],["w",1.5,18446744073709551615],["w",{"keyword":"k"},{"literal":"#inst 1"}],["w",[1,"x"],{"b":1,"a":[]}]]})"),
      "0: w(1,true) w(1.5,18446744073709551615N) w(:k,#inst 1) w([1 \"x\"],{\"a\" [] \"b\" 1})\n");
}

// Every spelling that clojure.edn takes for one value is one scalar.
TEST(Jepsen, EdnValuesHaveOneSpelling) {
  const auto value = [](std::string_view text) {
    return read_text(fmt::format("{{:type :ok :process 0 :f :txn :value [[:w 1 {}]]}}", text));
  };
  const std::vector<std::pair<std::string, std::vector<std::string>>> cases = {
      {"31", {"0x1F", "0X1f", "037", "2r11111", "31N", "+31", "0x1FN", "62/2"}},
      {"-8", {"-010", "-0x8"}},
      {"123456789012345678901234567890N",
       {"123456789012345678901234567890", "123456789012345678901234567890N"}},
      {"1/2", {"2/4", "1/2"}},
      {"-3/2", {"-6/4"}},
      {"1.5M", {"1.50M", "15e-1M", "01.5M", "0.15E1M"}},
      {"100M", {"1e2M", "100.0M"}},
      {"0M", {"0.00M", "0e5M"}},
      {"1E99M", {"1e99M", "10e98M"}},
      {"1.5", {"1.50", "15e-1"}},
      {"##-Inf", {"##-Inf", "-1e999"}},
      {"\\a", {"\\a", "\\u0061", "\\o141"}},
      {"\\newline", {"\\newline", "\\u000a", "\\o12"}},
      {"{:a/b 1 :c 2}", {"#:a{:b 1 :_/c 2}", "{:c 2, :a/b 1}"}},
      {"#uuid \"ab\"", {"#uuid \"AB\"", "#uuid #_ 1 \"ab\""}},
  };
  for (const auto& [canonical, spellings] : cases) {
    for (const auto& spelling : spellings) {
      EXPECT_EQ(value(spelling), fmt::format("0: w(1,{})\n", canonical)) << spelling;
    }
  }
  // A whole number, a decimal one and a double are three values.
  for (const auto* other : {"31.0", "31M", "31.0M", "\\3"}) {
    EXPECT_NE(value(other), value("31")) << other;
  }
}

TEST(Jepsen, EdnThatClojureDoesNotReadIsRefused) {
  const std::pair<std::string, std::string> cases[] = {
      {"08", "found a number that Clojure does not read"},
      {"0x10000000000000000", "found a number of more than 64 bits that is not decimal"},
      {"1.5.2", "found 1.5.2, expected a number"},
      {"2026-01-01", "found 2026-01-01, expected a number"},
      {"1.5N", "found 1.5N, expected a number"},
      {"1/0", "found the ratio 1/0"},
      {"99999999999999999999/2", "found the ratio 99999999999999999999/2"},
      {"1e9999999999M", "found 1e9999999999M, expected a decimal number"},
      {"#{1 1N}", "found 1 twice in one set"},
      {"{:a 1 :a 2}", "found :a twice in one map"},
      {"[1 2 ...]", "found `...`, which stands for values that were not printed"},
      {"::a", "found a keyword with two colons"},
      {"#<Object 7>", "found an object that was printed"},
  };
  for (const auto& [text, message] : cases) {
    const auto found =
        read_text(fmt::format("\n{{:type :ok :process 0 :f :txn :value [[:w 1 {}]]}}", text));
    EXPECT_EQ(found.substr(0, 5 + message.size()), "h:2: " + message) << text;
  }
  EXPECT_EQ(read_text("{:type :ok :type :fail :process 0 :f :txn :value [[:w 1 1]]}"),
            "h:1: found the field :type twice in one map, expected it once");
  EXPECT_EQ(read_text("#:a{:type :ok :process 0 :f :txn :value [[:w 1 1]]}").substr(0, 20),
            "h:1: found a # value");
}

TEST(Jepsen, MicroOperationsMayHaveLongNames) {
  EXPECT_EQ(read_text(R"({:type :invoke, :f :txn, :value [[:write :x 1]], :process 0, :time 1}
{:type :ok, :f :txn, :value [[:write :x 1]], :process 0, :time 2}
{:type :invoke, :f :txn, :value [[:read :x nil]], :process 1, :time 3}
{:type :ok, :f :txn, :value [[:read :x 1]], :process 1, :time 4})"),
            "0: w(:x,1)\n1: r(:x,1)\n");
  EXPECT_EQ(
      read_text(R"({"type":"ok","f":"txn","value":[["write","x",1],["read","x",1]],"process":0})"),
      "0: w(x,1) r(x,1)\n");
}

// A Jepsen run without any operation of a client: the nemesis may have acted.
TEST(Jepsen, ARunInWhichNothingHappenedSaysSo) {
  for (const char* text :
       {"[]", "()", " [ ]\n", "{:type :info :process :nemesis :f :start :value nil :time 5}",
        R"({"type":"info","process":"nemesis","f":"start","value":null})"}) {
    const auto h = read_jepsen(text, "h", 0);
    ASSERT_TRUE(h) << text << h.error().to_string();
    EXPECT_EQ(h->txn_count(), 0U);
    EXPECT_EQ(h->fact("nothing happened"), "yes") << text;
    EXPECT_FALSE(history::drift_refusal(*h, 5)) << text;
  }
  // A recording of our own has lines before the operations.
  EXPECT_FALSE(read_jepsen(
      R"({"type":"info","process":"nemesis","f":"cupel.metadata","value":[["a","b"]]})", "h", 0));
}

TEST(Jepsen, AValueBeyondTheSizeOfACellIsRefused) {
  for (const char* text : {"\"abcd\"", ":abcd", "abcd", "{:a 1}", "#{1}", "\"ab\\n\\n\"", "#a 7"}) {
    jepsen::Chunk chunk;
    jepsen::Cell cell;
    EdnReader reader(text, chunk, /*most_text=*/3);
    EXPECT_FALSE(reader.value(cell)) << text;
    ASSERT_TRUE(chunk.error) << text;
    EXPECT_EQ(chunk.error->message, "found a value of more than 3 bytes, expected a shorter one");
  }
}

TEST(Jepsen, DiscardedFormsAreNoPartOfEdn) {
  for (const auto* text : {
           "{:type :ok :process 0 :f :txn :value [[:w 1 1]] #_ {:a 1}}",
           "{#_ :a :type #_ :fail :ok :process 0 :f :txn :value [[:w 1 1 #_ 2] #_ [:w 1 2]]}",
           "{:type :ok :process 0 :f :txn #_ #_ :f :write :value [[:w 1 1]]} #_ #_ 1 {:type :huh}",
           "#_ {:type :ok :process 0 :f :txn :value [[:w 1 2]]}\n"
           "{:type :ok :process 0 :f :txn :value [[:w 1 1]]}\n#_ 7",
           "[#_ 1 {:type :ok :process 0 :f :txn :value [[:w 1 1]]} #_ {}]",
           "#jepsen.history.Op #_ 1 {:type :ok :process 0 :f :txn :value [[:w 1 1]]}",
           "^{:a 1} {:type :ok :process 0 :f :txn :value ^:b [[:w 1 1]]}",
       }) {
    EXPECT_EQ(read_text(text), "0: w(1,1)\n") << text;
  }
  EXPECT_EQ(read_text("{:type :ok :process 0 :f :txn :value #_ [[:w 1 1]]}"),
            "h:1: found a map with a key that has no value, expected pairs");
  EXPECT_EQ(read_text("{:type :ok :process 0 :f :txn :value [[:w 1 1]]} #_"),
            "h:1: found the end of the file, expected a value: it is truncated");
}

TEST(Jepsen, LineOrderIsTimeOnlyWhenEveryCompletionHasItsInvocation) {
  const std::string both =
      "{:type :invoke :process 0 :value [[:w 1 1]]}\n{:type :ok :process 0 :value [[:w 1 1]]}\n";
  auto h = read_jepsen(both, "h", 0);
  ASSERT_TRUE(h);
  EXPECT_EQ(text_of(*h, {.times = true}), "0: #1 0..1 w(1,1)\n");
  EXPECT_EQ(h->metadata().at("times"), "line order");
  h = read_jepsen(both + "{:type :ok :process 1 :value [[:w 1 2]]}", "h", 0);
  ASSERT_TRUE(h);
  EXPECT_FALSE(h->has_times());
  // Someone's clock in one line is the file's clock.
  h = read_jepsen(both + "{:type :invoke :process 0 :value [[:w 1 2]] :time 5}", "h", 0);
  ASSERT_TRUE(h);
  EXPECT_EQ(text_of(*h, {.times = true}), "0: #1 -..- w(1,1) | indeterminate #2 5..- w(1,2)\n");
}

TEST(Jepsen, OperationsWithoutAProcessAreSessionsOfTheirOwn) {
  const auto h = read_jepsen(
      "{:type :invoke :value [[:w 1 1]]}\n{:type :ok :value [[:w 1 1]]}\n"
      "{:type :ok :value [[:r 1 1]]}",
      "h", 0);
  ASSERT_TRUE(h) << h.error().to_string();
  EXPECT_EQ(text_of(*h), "of operation 0: #1 w(1,1)\nof operation 2: #2 r(1,1)\n");
  EXPECT_FALSE(h->has_times());
}

TEST(Jepsen, TheNemesisIsSkippedAndOtherOperationsAreRefusedOrIgnored) {
  const char* text = R"(
{:type :info :process :nemesis :f :start :value {:a 1}}
{:type :info :process "nemesis" :f :txn :value "cut"}
{:type :ok :process 0 :f :txn :value [[:w 1 1]]}
{:type :invoke :process 0 :f :nap :value 3}
{:type :ok :process 0 :f :nap :value 3}
{:type :ok :process "client a" :f :txn :value [[:w 1 2]]}
)";
  EXPECT_EQ(read_text(text),
            "h:5: found 2 op maps with f=nap beside transactions, and its value is neither [key "
            "value] nor a transaction, so cupel cannot know what it wrote. Record it as a "
            "transaction, or add --ignore nap if it wrote nothing that a transaction reads");
  const auto h = read_jepsen(text, "h", 0, {}, {.kind = {}, .ignore = {"nap"}});
  ASSERT_TRUE(h) << h.error().to_string();
  EXPECT_EQ(text_of(*h, {.labels = false}), "0: w(1,1)\nclient a: w(1,2)\n");
  EXPECT_EQ(h->metadata().at("ignored"), "2 nap");
  EXPECT_FALSE(read_jepsen(text, "h", 0, {}, {.kind = {}, .ignore = {"na"}}));
}

// One wrote y, as its completion says, or x, as its invocation says: a guess could accuse the
// database.
TEST(Jepsen, ACompletionWithOtherOperationsIsRefused) {
  const auto pair = [](const std::string& invoked, const std::string& type,
                       const std::string& completed) {
    return R"({"type":"invoke","process":0,"f":"txn","value":[)" + invoked + "]}\n" +
           R"({"type":")" + type + R"(","process":0,"f":"txn","value":[)" + completed + "]}";
  };
  const struct {
    const char *invoked, *completed;
    bool ok_is_read, others_are_read;
  } cases[] = {{R"(["w","x",1])", R"(["w","x",1])", true, true},
               {R"(["w","x",1])", R"(["w","y",2])", false, false},
               {R"(["w","x",1])", R"(["w","x",2])", false, false},
               {R"(["w","x",1])", R"(["append","x",1])", false, false},
               {R"(["append","x",1])", R"(["append","x",2])", false, false},
               {R"(["r","x",null])", R"(["r","x",1])", true, true},
               {R"(["r","x",null])", R"(["r","y",1])", false, false},
               {R"(["cas","x",[1,2]])", R"(["cas","x",[1,2],false])", true, true},
               {R"(["cas","x",[1,2]])", R"(["cas","x",[1,3]])", false, false},
               {R"(["range",[1,2],null])", R"(["range",[1,2],[[1,5]]])", true, true},
               {R"(["range",[1,2],null])", R"(["range",[1,3],[[1,5]]])", false, false},
               // A part of it was executed. An ok did all of it.
               {R"(["w","x",1],["w","y",1])", R"(["w","x",1])", false, true},
               {R"(["w","x",1],["w","y",1])", R"(["w","y",1])", false, false},
               {R"(["w","x",1])", R"(["w","x",1],["w","y",1])", false, false},
               {R"(["w","x",1])", "", false, true},
               // A scan is invoked without its rows, and a delete that finds nothing is a read.
               {R"(["w","x",1])", R"(["r","y",2],["r","z",3],["w","x",1])", true, true},
               {R"(["delete","x",null])", R"(["r","x",null])", true, true},
               {R"(["delete","x",null])", R"(["delete","x","dead"])", true, true},
               // An invocation that says nothing.
               {"", R"(["w","x",1])", true, true}};
  for (const auto& [invoked, completed, ok_is_read, others_are_read] : cases) {
    for (const std::string type : {"ok", "fail", "info"}) {
      const auto text = pair(invoked, type, completed);
      const bool good = type == "ok" ? ok_is_read : others_are_read;
      for (const auto& whole :
           {text, "[" + std::string(text).replace(text.find('\n'), 1, ",\n") + "]"}) {
        const auto found = read_text(whole);
        EXPECT_EQ(found.find("h:2: the \"" + type +
                             "\" has other operations than its invocation") == std::string::npos,
                  good)
            << whole << "\n"
            << found;
      }
    }
  }
  EXPECT_EQ(read_text(pair("", "info", R"(["w","x",1])")), "0: indeterminate w(x,1)\n");
  EXPECT_EQ(read_text(pair(R"(["w","x",1],["r","y",null])", "info", R"(["w","x",1])")),
            "0: indeterminate w(x,1) r(y,?)\n");
}

TEST(Jepsen, ARegisterCompletionWithAnotherValueIsRefused) {
  const auto pair = [](const std::string& f, const std::string& invoked, const std::string& type,
                       const std::string& completed) {
    return read_text("{:type :invoke :process 0 :f :write :value " +
                     std::string(invoked[0] == '[' && f != "cas" ? "[9 9]" : "9") +
                     "}\n{:type :ok :process 0 :f :write}\n{:type :invoke :process 1 :f :" + f +
                     " :value " + invoked + "}\n{:type :" + type + " :process 1 :f :" + f +
                     " :value " + completed + "}");
  };
  EXPECT_EQ(pair("write", "1", "ok", "1"), "0: w(register,9)\n1: w(register,1)\n");
  EXPECT_EQ(pair("write", "1", "ok", "nil"), "0: w(register,9)\n1: w(register,1)\n");
  EXPECT_EQ(
      pair("write", "1", "ok", "2"),
      "h:4: the \"ok\" wrote 2, and its invocation 1. Record the invoked value in both lines");
  EXPECT_EQ(pair("write", "1", "info", ":timed-out"),
            "0: w(register,9)\n1: indeterminate w(register,1)\n");
  EXPECT_NE(pair("cas", "[1 2]", "ok", "[1 3]").find("h:4: the \"ok\" wrote [1 3]"),
            std::string::npos);
  EXPECT_EQ(pair("read", "4", "ok", "4"), "0: w(register,9)\n1: r(register,4)\n");
  EXPECT_NE(pair("read", "5", "ok", "4").find("h:4: the read was invoked with a value"),
            std::string::npos);
  // Versions, as etcd's registers have them.
  EXPECT_NE(pair("write", "1", "ok", "[3 1]")
                .find("h:4: the \"ok\" wrote [3 1], and its invocation "
                      "1: a register with versions"),
            std::string::npos);
  EXPECT_NE(pair("write", "[nil 1]", "ok", "[3 1]").find("register with versions"),
            std::string::npos);
  EXPECT_NE(pair("read", "[nil nil]", "ok", "[3 1]").find("register with versions"),
            std::string::npos);
  EXPECT_NE(pair("read", "[1 nil]", "ok", "[2 1]").find("another key. Record"), std::string::npos);
}

// A fail or an info: a value of the type that was invoked is another operation, anything else is an
// error of the client.
TEST(Jepsen, ACompletionInDoubtRepeatsItsInvocation) {
  const auto pair = [](const std::string& f, const std::string& invoked, const std::string& type,
                       const std::string& completed, const std::string& before = "") {
    return read_text(before + "{:type :invoke :process 1 :f :" + f + " :value " + invoked +
                     "}\n{:type :" + type + " :process 1 :f :" + f + " :value " + completed + "}");
  };
  EXPECT_EQ(pair("write", "[1 2]", "info", "[1 3]"),
            "h:2: the \"info\" has [1 3], and its invocation [1 2]. Record in both lines what the "
            "client asked for, or leave the value out of this one");
  const std::string txn = "{:type :ok :process 0 :f :txn :value [[:w 1 1]]}\n";
  const struct {
    const char *f, *invoked, *completed;
  } others[] = {{"write", "1", "2"},           {"write", "[1 2]", "[2 2]"},
                {"write", "\"a\"", "\"b\""},   {"write", "1.5", "2.5"},
                {"write", "true", "false"},    {"cas", "[nil 2]", "[nil 3]"},
                {"cas", "[1 2]", "[nil 2]"},   {"cas", "[1 [2 3]]", "[1 [2 4]]"},
                {"read", "[1 nil]", "[2 nil]"}};
  for (const auto& [f, invoked, completed] : others) {
    for (const std::string type : {"info", "fail"}) {
      EXPECT_NE(pair(f, invoked, type, completed).find("has "), std::string::npos)
          << f << " " << invoked << " " << completed;
    }
  }
  EXPECT_EQ(pair("write", "[1 2]", "ok", "[[:w 1 3]]"),
            "h:2: the \"ok\" has a transaction, and its invocation a single operation. Record in "
            "both lines what the client asked for");
  EXPECT_NE(pair("write", "[1 2]", "info", "[1 3]", txn).find("h:3: the \"info\" has [1 3]"),
            std::string::npos);
  for (const std::string invoked : {"[1 2]", "[[1 2] [3 4]]"}) {
    const auto other = invoked == "[1 2]" ? "[1 3]" : "[[1 2] [3 5]]";
    EXPECT_NE(pair("setup", invoked, "info", other, txn).find("has other operations"),
              std::string::npos);
    EXPECT_NE(pair("setup", invoked, "info", invoked, txn).find("indeterminate w(1,2)"),
              std::string::npos);
  }
  const struct {
    const char *f, *invoked, *completed;
  } errors[] = {{"write", "1", ":timeout"},   {"write", "1", "\"timeout\""},
                {"write", "1", "nil"},        {"write", "1", "[:error 2]"},
                {"write", "1", "{:code 2}"},  {"write", ":a", ":timeout"},
                {"cas", "[1 2]", ":gone"},    {"cas", "[1 2]", "3"},
                {"write", "[1 2]", "[1 2]"},  {"write", "[1 2]", "[1 :timeout]"},
                {"write", "[1 2]", "[1 nil]"}};
  for (const auto& [f, invoked, completed] : errors) {
    EXPECT_NE(pair(f, invoked, "info", completed).find("1: indeterminate "), std::string::npos)
        << f << " " << invoked << " " << completed;
  }
}

TEST(Jepsen, TheFieldKeyNamesTheRegister) {
  const auto op = [](const std::string& type, const std::string& f, const std::string& rest) {
    return "{:type :" + type + " :process 1 :f :" + f + " " + rest + "}\n";
  };
  const auto write = op("invoke", "write", ":key :a :value 1");
  const auto read = op("invoke", "read", ":key :b");
  EXPECT_EQ(read_text(write + op("ok", "write", ":key :a") + read +
                      op("ok", "read", ":key :b :value nil")),
            "1: w(:a,1) | r(:b,null)\n");
  EXPECT_EQ(read_text(write + op("ok", "write", ":key :a :value 1") + read +
                      op("info", "read", ":value :timeout") +
                      op("invoke", "cas", ":key [1 2] :value [1 2]") + op("fail", "cas", "")),
            "1: w(:a,1) | indeterminate r(:b,?) | aborted cas([1 2],1->2)\n");
  // As jepsen.independent has it, set up and beside transactions.
  EXPECT_EQ(
      read_text(op("invoke", "init", ":key :a :value 1") + op("ok", "init", ":key :a :value 1") +
                "{:type :ok :process 2 :f :txn :value [[:r :b nil]]}"),
      "2: r(:b,null)\n");
  const auto refused = [&](const std::string& text, const std::string& message) {
    const auto found = read_text(text);
    EXPECT_EQ(found.substr(0, message.size()), message);
  };
  refused(write + op("ok", "write", ":key :b :value 1"),
          "h:2: the \"ok\" has the key :b, and its invocation :a. Record the invoked key");
  refused(write + op("info", "write", ":key :b"), "h:2: the \"info\" has the key :b");
  refused(write + op("info", "write", ":key :a :value 2"), "h:2: the \"info\" has [:a 2]");
  refused(write + op("ok", "write", ":value 1"), "h:2: the \"ok\" has no key, and its");
  refused(op("invoke", "write", ":value 1") + op("ok", "write", ":key :a :value 1"),
          "h:2: the \"ok\" has the key :a, and its invocation none");
  refused(write + op("ok", "write", ":key :a :value 1") + op("invoke", "read", ":value nil"),
          "h:3: found f=read without the field key, and the operations before with it. Record");
  refused(op("invoke", "read", "") + op("ok", "read", ":value 1") + write,
          "h:3: found f=write with the field key, and the operations before without it. Record");
  // One mutex may have a key, several may not.
  const auto acquire = op("invoke", "acquire", ":key :a") + op("ok", "acquire", "");
  EXPECT_EQ(read_text(acquire), "1: cas(mutex,null->held)\n");
  refused(acquire + op("invoke", "release", ":key :b"),
          "h:3: found f=release of the lock :b, and before it operations of the lock :a");
  // Strings.
  const auto put = op("invoke", "put", ":key :a :value \"x\"");
  EXPECT_EQ(read_text(put + op("ok", "put", "")), "1: w(:a,x)\n");
  refused(put + op("ok", "put", ":key :b :value \"x\""), "h:2: the \"ok\" has the key :b");
  refused(op("invoke", "get", ":key :a") + op("ok", "get", ":key :b :value \"\""),
          "h:2: the \"ok\" has the key :b");
  refused(put + op("info", "put", ":value \"y\""),
          "h:2: the \"info\" of a put has \"y\", and its invocation \"x\"");
  EXPECT_EQ(read_text(put + op("info", "put", ":value :timeout")), "1: indeterminate w(:a,x)\n");
}

// The values are those of another kind of workload: never a thin-air read.
TEST(Jepsen, AReadOfACollectionIsNotThatOfARegister) {
  const auto both = [](int process, const std::string& f, const std::string& invoked,
                       const std::string& completed) {
    const auto line = [&](const std::string& type, const std::string& value) {
      return "{:type :" + type + ", :process " + std::to_string(process) + ", :f :" + f +
             ", :value " + value + "}\n";
    };
    return line("invoke", invoked) + line("ok", completed);
  };
  const auto comments = both(0, "write", "[5 100]", "[5 100]") +
                        both(0, "write", "[5 101]", "[5 101]") +
                        both(1, "read", "[5 nil]", "[5 #{100 101}]");
  EXPECT_EQ(
      read_text(comments),
      "h:6: the read returned #{100 101}, a collection, but every write wrote a single value: "
      "this is a set, a bank or another object, not a register. If the database may store "
      "such a value, add --kind registers");
  const auto stated =
      read_jepsen(comments, "h", 0, {}, {.kind = Workload::kRegisters, .ignore = {}});
  ASSERT_TRUE(stated) << stated.error().to_string();
  EXPECT_EQ(text_of(*stated, {.labels = false}), "0: w(5,100) | w(5,101)\n1: r(5,#{100 101})\n");
  for (const char* seen : {"[1 2]", "[1]", "[]", "#{}", "{:a 1}", "[[1 2] [3 4]]"}) {
    EXPECT_NE(
        read_text(both(0, "write", "1", "1") + both(1, "read", "nil", seen)).find("collection"),
        std::string::npos)
        << seen;
    EXPECT_NE(read_text(both(0, "write", "[7 1]", "[7 1]") +
                        both(1, "read", "[7 nil]", "[7 " + std::string(seen) + "]"))
                  .find("collection"),
              std::string::npos)
        << seen;
  }
  for (const char* seen : {"#{1}", "{:a 1}"}) {
    EXPECT_NE(read_text(both(0, "txn", "[[:w 7 1]]", "[[:w 7 1]]") +
                        both(1, "txn", "[[:r 7 nil]]", "[[:r 7 " + std::string(seen) + "]]"))
                  .find("h:4: the read returned"),
              std::string::npos);
  }
  // A database may store collections.
  EXPECT_EQ(read_text(both(0, "write", "[7 #{1}]", "[7 #{1}]") +
                      both(1, "read", "[7 nil]", "[7 #{1 2}]")),
            "0: w(7,#{1})\n1: r(7,#{1 2})\n");
}

TEST(Jepsen, OtherLocksAreNoMutex) {
  const auto op = [](int process, const std::string& f, const std::string& value) {
    const auto line = [&](const char* type) {
      return std::string("{:type :") + type + " :process " + std::to_string(process) + " :f :" + f +
             " :value " + value + "}\n";
    };
    return line("invoke") + line("ok");
  };
  const auto semaphore = op(0, "acquire", "1") + op(1, "acquire", "1") + op(0, "release", "1");
  EXPECT_NE(read_text(semaphore).find("h:1: found f=acquire with the value 1, expected none for a "
                                      "mutex: permits are those of a semaphore"),
            std::string::npos)
      << read_text(semaphore);
  const auto reentrant = op(0, "acquire", "nil") + op(0, "acquire", "nil");
  EXPECT_NE(read_text(reentrant).find("h:4: one process acquires the lock twice"),
            std::string::npos)
      << read_text(reentrant);
  EXPECT_NE(
      read_text(op(0, "acquire", "nil") +
                "{:type :invoke :process 0 :f :acquire}{:type :fail :process 0 :f :acquire}\n" +
                op(0, "acquire", "nil"))
          .find("h:5: one process acquires the lock twice"),
      std::string::npos);
  // Two owners at once are a violation of a mutex, and so is what a lost release leads to.
  const std::string acquired = "cas(mutex,null->held)", released = "cas(mutex,held->null)";
  EXPECT_EQ(read_text(op(0, "acquire", "nil") + op(1, "acquire", "nil")),
            "0: " + acquired + "\n1: " + acquired + "\n");
  EXPECT_EQ(read_text(op(0, "acquire", "nil") +
                      "{:type :invoke :process 0 :f :release}{:type :fail :process 0 :f :release "
                      ":value :not-held}\n" +
                      op(0, "acquire", "nil")),
            "0: " + acquired + " | aborted " + released + " | " + acquired + "\n");
  const auto stated = read_jepsen(semaphore, "h", 0, {}, {.kind = Workload::kMutex, .ignore = {}});
  ASSERT_TRUE(stated) << stated.error().to_string();
  EXPECT_EQ(text_of(*stated, {.labels = false}),
            "0: " + acquired + " | " + released + "\n1: " + acquired + "\n");
}

// Nothing that wrote is left out.
TEST(Jepsen, OperationsBesideTransactionsAreTransactions) {
  EXPECT_EQ(read_text(R"(
{:type :invoke, :process 0, :f :write, :value [1 5]}
{:type :ok, :process 0, :f :write, :value [1 5]}
{:type :invoke, :process 1, :f :txn, :value [[:r 1 nil]]}
{:type :ok, :process 1, :f :txn, :value [[:r 1 5]]}
{:type :invoke, :process 1, :f :read, :value [1 nil]}
{:type :ok, :process 1, :f :read, :value [1 5]}
{:type :invoke, :process 1, :f :cas, :value [1 [5 6]]}
{:type :info, :process 1, :f :cas, :value [1 [5 6]]}
)"),
            "0: w(1,5)\n1: r(1,5) | r(1,5) | indeterminate cas(1,5->6)\n");
  // Micro-operations are transactions, whatever their f, and their completion may be bare.
  EXPECT_EQ(read_text(R"(
{:type :invoke, :process 0, :f :write, :value [[:w 0 1]]}
{:type :ok, :process 0, :f :write, :value [[:w 0 1]]}
{:type :invoke, :process 1, :f :write, :value [[:w 1 1]]}
{:type :info, :process 1, :f :write, :value nil, :error :timeout}
{:type :invoke, :process 2, :f :read, :value [[:r 0 nil] [:r 1 nil]]}
{:type :ok, :process 2, :f :read, :value [[:r 0 1] [:r 1 nil]]}
{:type :ok, :process "setup", :f :frob, :value [[:w 3 1]]}
)"),
            "0: w(0,1)\n1: indeterminate w(1,1)\n2: r(0,1) r(1,null)\nsetup: w(3,1)\n");
  // Set-up writes, in every spelling, are what the keys start with.
  const auto starts = [](std::string_view bytes) {
    const auto h = read_jepsen(bytes, "h", 0);
    if (!h) return h.error().to_string();
    std::string text = text_of(*h, {.labels = false});
    for (const auto& [key, value] : h->initial_overrides())
      text += h->key(key).to_string() + "=" + h->value(value).to_string() + " ";
    return text;
  };
  for (const char* value : {"[[:w 0 10] [:w 1 20]]", "[[0 10] [1 20]]", "{0 10, 1 20}"}) {
    EXPECT_EQ(starts("{:type :invoke :process 0 :f :init :value " + std::string(value) + "}\n" +
                     "{:type :ok :process 0 :f :init :value " + value + "}\n" +
                     "{:type :ok :process 1 :f :txn :value [[:r 0 10]]}"),
              "1: r(0,10)\n0=10 1=20 ")
        << value;
  }
  EXPECT_EQ(starts(R"(
{"type":"ok","process":0,"f":"setup","value":["x",5]}
{"type":"ok","process":1,"f":"txn","value":[["r","x",5]]})"),
            "1: r(x,5)\nx=5 ");
  EXPECT_NE(read_text("{:type :ok :process 0 :f :init}\n{:type :ok :process 1 :value [[:r 0 1]]}")
                .find("h:1: found f=init beside transactions"),
            std::string::npos);
  EXPECT_NE(read_text("{:type :ok :process 0 :f :write :value 1}\n"
                      "{:type :ok :process 1 :value [[:r 0 1]]}")
                .find("--ignore write"),
            std::string::npos);
  // All of them are named at once.
  EXPECT_EQ(read_text("{:type :ok :process 1 :value [[:r 0 nil]]}\n"
                      "{:type :invoke :process 0 :f :nap :value 1}\n"
                      "{:type :ok :process 0 :f :nap :value 1}\n"
                      "{:type :ok :process 3 :f :tick :value 1}"),
            "h:2: found 2 op maps with f=nap, f=tick beside transactions, and their values are "
            "neither [key value] nor a transaction, so cupel cannot know what they wrote. Record "
            "them as transactions, or add --ignore nap --ignore tick if they wrote nothing that a "
            "transaction reads");
  // A read that failed, and never named its key, says nothing.
  EXPECT_EQ(read_text("{:type :ok :process 1 :value [[:r 0 nil]]}\n"
                      "{:type :invoke :process 0 :f :read :value nil}\n"
                      "{:type :fail :process 0 :f :read :value nil}"),
            "1: r(0,null)\n0: aborted\n");
}

TEST(Jepsen, ANameThatNothingIsIgnoredByIsNoted) {
  const auto h = read_jepsen("{:type :ok :process 1 :value [[:r 0 nil]]}", "h", 0, {},
                             {.kind = {}, .ignore = {"nap"}});
  ASSERT_TRUE(h) << h.error().to_string();
  EXPECT_EQ(h->metadata().at("not ignored"),
            "no op map has f=nap, which --ignore names; the others have f=txn");
}

TEST(Jepsen, ARangeReadWithoutAKnownResultSaysNothing) {
  EXPECT_EQ(read_text(R"({"type":"invoke","process":0,"value":[["range",[0,null],null],["w","x",1]]}
{"type":"ok","process":0,"value":[["range",[0,null],null,false],["w","x",1]]})"),
            "0: w(x,1)\n");
}

// A register with keys is read with [key nil], so reads that were invoked with null are of one
// register, whose values may be pairs.
TEST(Jepsen, PairsAreNoKeysOfAReadWithoutOne) {
  const std::string text =
      "{:type :invoke :process 0 :f :write :value [1 2]}{:type :ok :process 0 :f :write :value [1 "
      "2]}{:type :invoke :process 0 :f :write :value [3 4]}{:type :ok :process 0 :f :write :value "
      "[3 4]}{:type :invoke :process 0 :f :read :value nil}{:type :ok :process 0 :f :read :value "
      "[1 2]}";
  EXPECT_NE(read_text(text).find("Invoke such reads with [key nil], or add --kind registers"),
            std::string::npos)
      << read_text(text);
  const auto one = read_jepsen(text, "h", 0, {}, {.kind = Workload::kRegisters, .ignore = {}});
  ASSERT_TRUE(one) << one.error().to_string();
  EXPECT_EQ(text_of(*one, {.labels = false}),
            "0: w(register,[1 2]) | w(register,[3 4]) | r(register,[1 2])\n");
}

// The kind that the message names is one that reads the file.
TEST(Jepsen, AStatedKindAllowsCollections) {
  const std::string text =
      "{:type :ok :process 0 :f :txn :value [[:w 7 1]]}{:type :ok :process 1 :f :txn :value [[:r 7 "
      "{:a 1}]]}";
  EXPECT_NE(read_text(text).find("add --kind transactions"), std::string::npos) << read_text(text);
  EXPECT_TRUE(read_jepsen(text, "h", 0, {}, {.kind = Workload::kTransactions, .ignore = {}}));
  const auto other = read_jepsen(text, "h", 0, {}, {.kind = Workload::kRegisters, .ignore = {}});
  ASSERT_FALSE(other);
  EXPECT_NE(other.error().to_string().find(
                "h:1: found a transaction, which does not fit --kind registers"),
            std::string::npos)
      << other.error().to_string();
  // As every key held before the history, or as one write wrote.
  EXPECT_EQ(
      read_text("{:type :info :process :nemesis :f :cupel.initial :value [{:a 1} []]}" + text),
      "0: w(7,1)\n1: r(7,{:a 1})\n");
  const std::string written =
      "{:type :ok :process 0 :f :write :value {:x 1}}{:type :ok :process 0 :f :read :value {:x 1}}";
  EXPECT_EQ(read_text(written), "0: w(register,{:x 1}) | r(register,{:x 1})\n");
}

// The invocation of a set-up says what it wrote.
TEST(Jepsen, ACompletedSetUpMayBeSilent) {
  const std::string invoke = "{:type :invoke :process 0 :f :init :value {1 5}}";
  const std::string read = "{:type :ok :process 1 :f :txn :value [[:r 1 5]]}";
  EXPECT_EQ(read_text(invoke + "{:type :ok :process 0 :f :init :value nil}" + read), "1: r(1,5)\n");
  EXPECT_EQ(read_text(invoke + "{:type :info :process 0 :f :init :value [:timeout \"x\"]}" + read),
            "1: r(1,5)\n0: indeterminate w(1,5)\n");
}

// A file of several may lack what --ignore names; a name like one that is there is a mistake.
TEST(Jepsen, AMisspelledIgnoreIsAnError) {
  const std::string text =
      "{:type :ok :process 0 :f :txn :value [[:w 1 1]]}{:type :ok :process 0 :f :write :value [2 "
      "2]}";
  const auto error = [&](std::vector<std::string> ignore) {
    const auto h = read_jepsen(text, "h", 0, {}, {.kind = {}, .ignore = std::move(ignore)});
    return h ? std::string() : h.error().to_string();
  };
  EXPECT_EQ(error({"wirte"}),
            "h: found no op map with f=wirte, which --ignore names. Did you mean `write`?");
  EXPECT_EQ(error({"nap"}), "");
  EXPECT_EQ(error({"write", "writes"}), "");
  // Beside a right name, if the file is refused.
  const auto h = read_jepsen(text + "{:type :ok :process 0 :f :nap :value 3}", "h", 0, {},
                             {.kind = {}, .ignore = {"write", "naps"}});
  ASSERT_FALSE(h);
  EXPECT_NE(h.error().message.find("; also found no op map with f=naps, which --ignore names. Did "
                                   "you mean `nap`?"),
            std::string::npos)
      << h.error().message;
}

TEST(Jepsen, TheKindIsStated) {
  const auto kind = [](std::string_view text, Interpretation as = {}) {
    const auto h = read_jepsen(text, "h", 0, {}, as);
    if (!h) return h.error().to_string();
    return h->metadata().contains("kind") ? h->metadata().at("kind") : std::string("transactions");
  };
  EXPECT_EQ(kind("{:type :ok :process 0 :value [[:w 1 1]]}"), "transactions");
  EXPECT_EQ(
      kind("{:type :ok :process 0 :f :write :value [1 1]}{:type :ok :process 0 :f :cas :value "
           "[2 [1 2]]}{:type :ok :process 0 :f :read :value [3 nil]}"),
      "registers with compare-and-set, 3 keys");
  EXPECT_EQ(kind("{:type :ok :process 0 :f :write :value 1}"), "registers, 1 key");
  EXPECT_EQ(kind("{:type :ok :process 0 :f :acquire}"), "mutex: one owner, not reentrant");
  EXPECT_EQ(kind("{:type :ok :process 0 :f :put :key 1 :value \"a\"}"),
            "strings with append, 1 key");
  EXPECT_EQ(kind("{:type :ok :process 0 :f :write :value [1 1]}",
                 {.kind = Workload::kTransactions, .ignore = {}}),
            "transactions, and single operations as such (write)");
  EXPECT_NE(
      kind("{:type :ok :process 0 :f :write :value 1}", {.kind = Workload::kMutex, .ignore = {}})
          .find(
              "h:1: found f=write, which does not fit --kind mutex: expected f=acquire or release"),
      std::string::npos);
  EXPECT_EQ(parse_workload("mutex"), Workload::kMutex);
  EXPECT_EQ(parse_workload("lock"), std::nullopt);
}

// What it does is reported twice; what it starts lasts until it stops it.
TEST(Jepsen, WhatTheNemesisDidIsNoted) {
  const auto h = read_jepsen(R"(
{:type :info :process :nemesis :f :start-partition :value nil :time 10}
{:type :ok :process 0 :f :txn :value [[:w 1 1]] :time 15}
{:type :info :process :nemesis :f :start-partition :value :majority :time 20}
{:type :info :process :nemesis :f :kill :value "n1" :time 25}
{:type :info :process :nemesis :f :kill :value "n1" :time 28}
{:type :info :process :nemesis :f :stop-partition :value nil :time 30}
{:type :info :process :nemesis :f :stop-partition :value nil :time 40}
{:type :info :process :nemesis :f :start :time 50}
{:type :info :process :nemesis :f :bump-clock}
)",
                             "h", 0);
  ASSERT_TRUE(h) << h.error().to_string();
  EXPECT_EQ(h->metadata().at("faults"), "10 40 partition\n25 28 kill n1\n50 - fault");
  // As cupel run writes them, in JSON; and no others, no metadata.
  const auto own = read_jepsen(
      R"({"type":"info","process":"nemesis","f":"start-fault","value":"fault","time":5,"index":0}
{"type":"ok","process":0,"f":"txn","value":[["w",1,1]],"time":6,"index":1}
{"type":"info","process":"nemesis","f":"stop-fault","value":"fault","time":7,"index":2}
)",
      "h", 0);
  ASSERT_TRUE(own) << own.error().to_string();
  EXPECT_EQ(own->metadata().at("faults"), "5 7 fault");
  // Several at a time end each for itself.
  const auto several = read_jepsen(
      R"({"type":"info","process":"nemesis","f":"start-fault","value":"kill 0","time":5,"index":0}
{"type":"info","process":"nemesis","f":"start-fault","value":"pause 1","time":6,"index":1}
{"type":"ok","process":0,"f":"txn","value":[["w",1,1]],"time":6,"index":2}
{"type":"info","process":"nemesis","f":"stop-fault","value":"kill 0","time":7,"index":3}
{"type":"info","process":"nemesis","f":"stop-fault","value":"pause 1","time":9,"index":4}
)",
      "h", 0);
  ASSERT_TRUE(several) << several.error().to_string();
  EXPECT_EQ(several->metadata().at("faults"), "5 7 kill 0\n6 9 pause 1");
  const auto none =
      read_jepsen("{:type :ok :process 0 :f :txn :value [[:w 1 1]] :time 15}", "h", 0);
  ASSERT_TRUE(none);
  EXPECT_FALSE(none->metadata().contains("faults"));
}

TEST(Jepsen, ARegisterIsOneKey) {
  EXPECT_EQ(read_text(R"([{:type :invoke :process 0 :f :read :value nil}
 {:type :ok :process 0 :f :read :value nil} {:type :ok :process 1 :f :write :value 3}
 {:type :invoke :process 2 :f :cas :value [3 4]} {:type :ok :process 2 :f :cas :value [3 4]}
 {:type :invoke :process 2 :f :cas :value [3 5]} {:type :fail :process 2 :f :cas :value [3 5]}
 {:type :invoke :process 3 :f :read} {:type :info :process 3 :f :read :error :timeout}])"),
            "0: r(register,null)\n1: w(register,3)\n"
            "2: cas(register,3->4) | aborted cas(register,3->5)\n3: indeterminate r(register,?)\n");
}

TEST(Jepsen, IndependentRegistersHaveKeys) {
  EXPECT_EQ(read_text(R"(
{"type":"invoke","process":0,"f":"read","value":["x",null]}
{"type":"ok","process":0,"f":"read","value":["x",1]}
{"type":"ok","process":1,"f":"write","value":["y",2]}
{"type":"ok","process":1,"f":"cas","value":["y",[2,3]]})"),
            "0: r(x,1)\n1: w(y,2) | cas(y,2->3)\n");
}

TEST(Jepsen, AMutexIsACompareAndSet) {
  EXPECT_EQ(read_text(R"([{:type :ok :process 0 :f :acquire} {:type :ok :process 0 :f :release}
 {:type :fail :process 0 :f :release :error :not-held}])"),
            "0: cas(mutex,null->held) | cas(mutex,held->null) | aborted cas(mutex,held->null)\n");
}

TEST(Jepsen, AStoreOfStringsIsRegistersOfWholeStrings) {
  EXPECT_EQ(read_text(R"(
{:process 0, :type :ok, :f :get, :key "0", :value ""}
{:process 0, :type :ok, :f :append, :key "0", :value "x a y"}
{:process 0, :type :ok, :f :append, :key "0", :value "x b y"}
{:process 0, :type :ok, :f :get, :key "0", :value "x a yx b y"}
{:process 0, :type :ok, :f :put, :key "0", :value "x c y"}
{:process 0, :type :ok, :f :append, :key "0", :value "x d y"}
{:process 0, :type :ok, :f :append, :key "1", :value "x e y"}
{:process 0, :type :ok, :f :put, :key "0", :value "x f y"}
{:process 0, :type :ok, :f :get, :key "0", :value "torn"}
)"),
            "0: r(0,null) | cas(0,null->x a y) | cas(0,x a y->x a yx b y) | r(0,x a yx b y) | "
            "w(0,x c y) | w(0,<append #5>) | w(1,<append #6>) | w(0,x f y) | r(0,torn)\n");
}

// One text twice: the intervals distinguish the appends, or the history is refused.
TEST(Jepsen, AStoreWithRepeatedTextsIsResolvedByTimeOrRefused) {
  const auto op = [](int process, const char* type, const char* f, const char* value) {
    return "{:process " + std::to_string(process) + ", :type :" + type + ", :f :" + f +
           ", :key 0, :value " + value + "}\n";
  };
  const auto both = [&](int process, const char* f, const char* value) {
    return op(process, "invoke", f, value) + op(process, "ok", f, value);
  };
  const auto one_after_the_other = both(0, "append", "\"a;\"") + both(1, "get", "\"a;\"") +
                                   both(0, "put", "\"b;\"") + both(0, "append", "\"a;\"") +
                                   both(1, "get", "\"b;a;\"");
  EXPECT_EQ(read_text(one_after_the_other),
            "0: cas(0,null->a;) | w(0,b;) | cas(0,b;->b;a;)\n1: r(0,a;) | r(0,b;a;)\n");
  const auto at_once = op(0, "invoke", "append", "\"a;\"") + op(1, "invoke", "append", "\"a;\"") +
                       op(0, "ok", "append", "\"a;\"") + op(1, "ok", "append", "\"a;\"") +
                       both(2, "get", "\"a;a;\"");
  EXPECT_NE(read_text(at_once).find("gets do not show which append"), std::string::npos)
      << read_text(at_once);
}

TEST(Jepsen, OtherWorkloadsAreRefusedByName) {
  const auto refusal = [](const char* text) { return read_text(text); };
  EXPECT_EQ(refusal(R"({:type :ok :process 0 :f :add :value 1})"),
            "h:1: found f=add, which looks like a counter or set workload: not a transactional or "
            "single-object history; expected f=txn, read/write/cas, acquire/release, or "
            "put/append/get with a key");
  EXPECT_NE(refusal(R"({:type :ok :process 0 :f :transfer :value {:from 1}})").find("bank"),
            std::string::npos);
  EXPECT_NE(refusal(R"({:type :ok :process 0 :f :read :value {0 10}})").find("set or bank"),
            std::string::npos);
  EXPECT_NE(refusal(R"({:type :ok :process 0 :f :read :value [1 2 3]})").find("set or bank"),
            std::string::npos);
  EXPECT_NE(refusal(R"({:type :ok :process 0 :f :frobnicate})").find("f=frobnicate"),
            std::string::npos);
}

TEST(Jepsen, ErrorsNameLineFoundAndExpected) {
  const auto txn = [](std::string value) {
    return "\n{:type :ok :process 0 :value " + value + "}";
  };
  const std::pair<std::string, std::string> cases[] = {
      {"", "h: found no operations, expected op maps"},
      {" \n ; only a comment", "h: found no operations, expected op maps"},
      {"hello", "h:1: found hello, expected an op map"},
      {txn("[[:q 1 2]]"), "h:2: found operation [:q 1 2], expected one of r, w, append"},
      {txn("[[:w 1]]"), "h:2: found operation [:w 1], expected three elements"},
      {txn("[[:cas 1 2]]"), "h:2: found operation [:cas 1 2], expected [cas key [old new]]"},
      {txn("[[:range 1 2]]"), "h:2: found operation [:range 1 2], expected [range [low high]"},
      {txn("nil"), "h:2: found value nil, expected a transaction"},
      {txn("7"), "h:2: found value 7, expected a transaction"},
      {"{:process 0 :value []}", "h:1: found an operation without a type"},
      {"{:type :done :value []}", "h:1: found type :done, expected invoke, ok, fail or info"},
      {"{:type :ok :time 1.5 :value []}", "h:1: found time 1.5, expected whole nanoseconds"},
      {"{:type :ok :process 1.5 :value []}", "h:1: found process 1.5, expected a number or a name"},
      {"{:type :ok :index -1 :value []}", "h:1: found index -1"},
      {"{:type :ok :value [[:w 1 2]]", "h:1: found a map without its closing }"},
      {"[{:type :ok :value [[:w 1 2]]}", "h:1: found the end of the file, expected the closing ]"},
      {"{:type :ok\n :value [[:w 1 2}", "h:2: found }, expected a value"},
      {"{:type :ok\n :value \"", "h:2: found a string without its closing quote"},
      {"{:type :ok} \xff", "h:1: found bytes that are not UTF-8"},
      {"{\"type\":\"ok\",\"value\":[]}\n{\"type\":\"ok\",",
       "h:2: found a last line without its end"},
      {"{\"type\":\"ok\",\"value\":[]}\n{\"type\":\"ok\",}", "h:2: found malformed JSON"},
      {"{\"type\":\"ok\",\"value\":[]}\n{\"type\":\"\xff\"}", "h:2: found malformed JSON"},
      {"{\"type\":\"ok\",\"value\":[]}\n{\"type\":1e999}", "h:2: found malformed JSON"},
      {"{\"type\":\"ok\",\"value\":[]}\nnonsense\n{\"type\":\"ok\",\"value\":[]}",
       "h:2: found nonsense"},
      {"[{\"type\":\"ok\",\"value\":[]}\n{\"type\":\"ok\",\"value\":[]}]",
       "h:2: found op maps without a comma"},
      {"{\"type\":\"ok\",\"process\":0,\"value\":[[\"w\",1]]}",
       "h:1: found operation [\"w\" 1], expected three"},
      {"{:type :invoke :process 0 :value []}\n{:type :invoke :process 0 :value []}",
       "h:2: found a second invocation of process 0"},
      {"{:type :invoke :process 0 :value []}\n{:type :ok :process 0 :value []}\n{:type :ok "
       ":process 0 :value []}",
       "h:3: found a completion of process 0, which has nothing open"},
      {"{:type :invoke :process 0 :time 5 :value []}\n{:type :ok :process 0 :time 4 :value []}",
       "h:2: found a completion at time 4, before its invocation at 5"},
      {"{:type :invoke :process 0 :f :read}\n{:type :ok :process 0 :f :write :value 1}",
       "h:2: found a completion of f=write for process 0, which invoked f=read"},
  };
  for (const auto& [text, expected] : cases) {
    const auto h = read_jepsen(text, "h", 0);
    ASSERT_FALSE(h) << text;
    EXPECT_EQ(h.error().to_string().substr(0, expected.size()), expected) << text;
  }
}

// A full disk or a crash: whoever committed was invoked in a whole line before.
TEST(Jepsen, ReadsUpToWhereAFileWithInvocationsWasCut) {
  const std::string whole =
      "{\"type\":\"invoke\",\"process\":0,\"f\":\"txn\",\"value\":[[\"w\",\"x\",1]]}\n"
      "{\"type\":\"ok\",\"process\":0,\"f\":\"txn\",\"value\":[[\"w\",\"x\",1]]}\n";
  const std::string last =
      "{\"type\":\"invoke\",\"process\":1,\"f\":\"txn\",\"note\":{\"a\":\"}\"},\"value\":[]}";
  const auto expected = read_jepsen(whole, "h", 0);
  ASSERT_TRUE(expected);
  EXPECT_EQ(expected->fact("cut"), "");
  for (std::size_t length = 1; length < last.size(); ++length) {
    const auto cut = read_jepsen(whole + last.substr(0, length), "h", 0);
    ASSERT_TRUE(cut) << length << cut.error().to_string();
    EXPECT_EQ(cut->txn_count(), 1U);
    EXPECT_NE(cut->fact("cut"), "");
  }
  EXPECT_EQ(read_jepsen(whole + last, "h", 0)->fact("cut"), "");
}

TEST(Jepsen, ReadsUpToWhereAnEdnFileWasCut) {
  const std::string whole =
      "{:type :invoke, :process 0, :f :txn, :value [[:w :x 1]]}\n"
      "{:type :ok, :process 0, :f :txn, :value [[:w :x 1]]}\n";
  const std::string last = "{:type :invoke, :process 1, :note {:a \"}\"}, :value [[:w :x 7]]}";
  for (std::size_t length = 1; length < last.size(); ++length) {
    const auto cut = read_jepsen(whole + last.substr(0, length), "h", 0);
    ASSERT_TRUE(cut) << length << cut.error().to_string();
    EXPECT_EQ(cut->txn_count(), 1U);
    EXPECT_NE(cut->fact("cut"), "");
  }
  const auto all = read_jepsen(whole + last, "h", 0);
  EXPECT_EQ(all->fact("cut"), "");
  EXPECT_EQ(all->txn_count(), 2U);
  // Whoever read something may have read what is missing; and what ends with a line is no cut.
  EXPECT_NE(read_text(whole.substr(whole.find('\n') + 1) + "{:type :ok").find("h:2: found a last"),
            std::string::npos);
  EXPECT_EQ(read_text("[" + whole + "{:type :ok").find("h:3: "), 0U);
  EXPECT_NE(read_text(whole + "{:type :ok}}\n").find("h:3: "), std::string::npos);
  // A bracket may be a character, and a mistake is none.
  for (const char* odd :
       {":index -1 :error \\{}", ":error \\{ :type :fail}", ":time 08 :error \\{}"})
    EXPECT_EQ(read_text(whole + "{:type :invoke :process 1 :f :txn :value [] " + odd).find("h:3: "),
              0U)
        << odd;
}

TEST(Jepsen, DeepNestingIsRefusedInBothSyntaxes) {
  for (const auto& [open, close] :
       {std::pair<std::string, std::string>{"[", "]"}, {"{:a ", "}"}, {"#a ", ""}, {"#_ ", "1"}}) {
    std::string edn = "{:type :ok :value ";
    for (int i = 0; i < 200'000; ++i) edn += open;
    EXPECT_NE(read_text(edn).find("nested more than 100 deep"), std::string::npos) << open;
  }
  std::string json =
      R"({"type":"ok","value":)" + std::string(5000, '[') + std::string(5000, ']') + "}";
  EXPECT_NE(read_text(json).find("nested more than 100 deep"), std::string::npos);
}

TEST(Jepsen, HugeLabelsAreClamped) {
  EXPECT_EQ(read_text("{:type :ok :process 0 :index 99999999999 :value [[:w 1 1]]}", {}),
            "0: #4294967295 w(1,1)\n");
}

TEST(Jepsen, LooksLikeOnlyItself) {
  EXPECT_EQ(recognize_jepsen(""), Match::kNo);
  EXPECT_EQ(recognize_jepsen(R"({"value": [["w", 1, 2, true]]})"), Match::kNo);  // viper
  EXPECT_NE(recognize_jepsen(R"({"process":0,"value":[["w",1,2]]})"), Match::kNo)
      << "without a type it is an error, and not viper's";
  EXPECT_EQ(recognize_jepsen("r(1,2,3,4)"), Match::kNo);
  EXPECT_EQ(recognize_jepsen("INFO  jepsen.util - 0 :invoke :read nil"), Match::kNo);
  EXPECT_NE(recognize_jepsen("; a note\n{:index 0 :type :ok}"), Match::kNo);
}

// Larger than a chunk: the pieces must join up, however many threads read them.
TEST(Jepsen, TheNumberOfThreadsChangesNothing) {
  std::string text;
  for (int i = 0; i < 40'000; ++i) {
    const auto process = std::to_string(i % 7 == 6 ? i : i % 7);
    const auto ops = R"([["append",)" + std::to_string(i % 50) + "," + std::to_string(i) +
                     R"(],["r","k)" + std::to_string(i % 9) + "\",null]]";
    text += R"({"type":"invoke","process":)" + process + R"(,"f":"txn","value":)" + ops + "}\n";
    text += R"({"type":")" +
            std::string(i % 5 == 0   ? "info"
                        : i % 5 == 1 ? "fail"
                                     : "ok") +
            R"(","process":)" + process + R"(,"f":"txn","value":)" + ops + "}\n";
  }
  ASSERT_GT(text.size(), 4u << 20);
  const auto one = read_jepsen(text, "h", 1);
  const auto four = read_jepsen(text, "h", 4);
  ASSERT_TRUE(one && four);
  EXPECT_EQ(one->txn_count(), 40'000u);
  EXPECT_EQ(text_of(*one, {.times = true}), text_of(*four, {.times = true}));
  const auto array = "[" + [&] {
    std::string with_commas;
    for (const char c : text) with_commas += c == '\n' ? std::string(",\n") : std::string(1, c);
    return with_commas.substr(0, with_commas.size() - 2);
  }() + "]";
  const auto other = read_jepsen(array, "h", 0);
  ASSERT_TRUE(other) << other.error().to_string();
  EXPECT_EQ(text_of(*one, {.times = true}), text_of(*other, {.times = true}));
  // The first error of the file is the one reported.
  text.insert(3u << 20, "}");
  const auto bad1 = read_jepsen(text, "h", 1), bad4 = read_jepsen(text, "h", 4);
  ASSERT_FALSE(bad1 || bad4);
  EXPECT_EQ(bad1.error().to_string(), bad4.error().to_string());
}

History every_kind(bool times) {
  HistoryBuilder b;
  const auto zero = b.session("0"), empty = b.session("empty"), name = b.session("a client");
  (void)empty;
  const auto value = [&](auto v) { return b.value(ScalarView::of(v)); };
  const auto x = b.key(ScalarView::of("x")), list = b.key(7),
             odd = b.key(ScalarView::keyword("k w"));
  const auto late = b.key(ScalarView::keyword("late")),
             unread = b.key(ScalarView::literal("[1 2]"));
  const auto facts = [&](Time from, Time to) {
    return times ? HistoryBuilder::TxnFacts{.invoke = from, .complete = to}
                 : HistoryBuilder::TxnFacts{};
  };
  b.begin(name, TxnStatus::kCommitted, facts(50, 60));
  b.write(x, value("quote \" \\ \n \x01 é"));
  b.read(x, ValueId::none());
  b.read(odd, b.null_value());
  b.list_read_unknown(unread);
  b.append(list, b.value(ScalarView::literal("true")));
  b.append(list, b.value(ScalarView::literal("2.5")));
  b.append(list, b.value(ScalarView::literal("not edn ( ] at all")));
  b.append(list, b.value(ScalarView::literal("5")));
  for (const char* text : {"\\", "\\ ", "\\]", "\\,"}) {
    b.append(list, b.value(ScalarView::literal(text)));
  }
  const ValueId elements[] = {value(1), b.null_value(), value("s"),
                              b.value(ScalarView::keyword("e"))};
  b.list_read(list, elements);
  b.list_read(list, {});
  b.list_read_unknown(list);
  b.end();
  b.begin(zero, TxnStatus::kCommitted, facts(10, 70));
  b.insert(late, value(3));
  b.erase(late, ValueId::none());
  b.erase(late, value(4));
  b.compare_and_set(x, b.null_value(), value(1), true);
  b.compare_and_set(x, value(1), value("2"), false);
  const RangeEntry entries[] = {
      {x, value(1)}, {late, b.null_value()}, {x, value(2)}, {x, value(1)}};
  b.range_read(value(0), value("z"), entries);
  b.range_read(value(0), value(1), {});
  b.end();
  b.begin(zero, TxnStatus::kAborted, facts(71, 80));
  b.write(x, value(INT64_MIN));
  b.read(x, value(9));
  b.end();
  b.begin(zero, TxnStatus::kIndeterminate, facts(81, kNoTime));
  b.append(list, value(INT64_MAX));
  b.read(x, ValueId::none());
  b.end();
  b.begin(zero, TxnStatus::kCommitted, facts(82, 83));
  b.end();
  b.set_default_initial(value(0));
  b.set_initial(x, value("first"));
  b.set_metadata("database", "PostgreSQL \"15\"");
  auto h = std::move(b).finish();
  EXPECT_TRUE(h);
  return std::move(*h);
}

TEST(Jepsen, WhatIsWrittenIsReadBack) {
  for (const bool times : {false, true}) {
    const History h = every_kind(times);
    for (const bool edn : {false, true}) {
      std::ostringstream out;
      ASSERT_TRUE(write_jepsen(h, out, edn));
      EXPECT_NE(recognize_jepsen(out.str()), Match::kNo);
      const auto back = read_jepsen(out.str(), "h", 0);
      ASSERT_TRUE(back) << back.error().to_string() << "\n" << out.str();
      EXPECT_EQ(text_of(*back, {.times = true, .labels = false}),
                text_of(h, {.times = true, .labels = false}))
          << out.str();
      EXPECT_EQ(back->metadata().at("database"), "PostgreSQL \"15\"");
      EXPECT_EQ(back->value(back->default_initial_value()), ScalarView::of(0));
      ASSERT_EQ(back->initial_overrides().size(), 1u);
      EXPECT_EQ(back->value(back->initial_overrides()[0].second), ScalarView::of("first"));
      std::ostringstream again;
      ASSERT_TRUE(write_jepsen(*back, again, edn));
      EXPECT_EQ(again.str(), out.str());
    }
  }
}

// Vectors are keys as they are; as the value of a read, one would be a list.
TEST(Jepsen, EdnWritesVectorsAsKeys) {
  const std::string text =
      "{:type :ok :process 0 :f :txn :value [[:w [1 \"a\"] 1] [:append [1 [:k 2]] 5] [:w {:a [1]} "
      "[7]]]}"
      "{:type :ok :process 1 :f :txn :value [[:r [1 \"a\"] 1] [:r [1 [:k 2]] [5]] [:r {:a [1]} "
      "[7]]]}";
  const auto h = read_jepsen(text, "h", 0);
  ASSERT_TRUE(h) << h.error().to_string();
  std::ostringstream out;
  ASSERT_TRUE(write_jepsen(*h, out, true));
  EXPECT_NE(out.str().find("[:w [1 \"a\"] 1]"), std::string::npos) << out.str();
  EXPECT_NE(out.str().find("[:append [1 [:k 2]] 5]"), std::string::npos) << out.str();
  EXPECT_NE(out.str().find("#cupel/literal \"[7]\""), std::string::npos) << out.str();
  const auto back = read_jepsen(out.str(), "h", 0);
  ASSERT_TRUE(back) << back.error().to_string();
  EXPECT_EQ(text_of(*back), text_of(*h));
}

// A converted file consists of transactions, and says of what kind it was.
TEST(Jepsen, AConvertedFileFitsTheKindThatItWas) {
  const auto h = read_jepsen(R"({"type":"ok","process":0,"f":"write","value":3}
)",
                             "h", 0);
  ASSERT_TRUE(h);
  const ScratchFolder folder;
  for (const auto& [name, format] :
       {std::pair("h.jsonl", Format::kJepsen), std::pair("h.cupel", Format::kCupel)}) {
    const auto path = folder.path(name);
    ASSERT_TRUE(write(*h, path, {.format = format}).ok());
    const auto same =
        read(path, {.format = {}, .as = {.kind = Workload::kRegisters, .ignore = {}}});
    EXPECT_TRUE(same.ok()) << same.error().to_string();
    EXPECT_FALSE(read(path, {.format = {}, .as = {.kind = Workload::kMutex, .ignore = {}}}).ok())
        << name;
  }
}

// Null stands for a value if an ok says one: what is in doubt may have written anything.
TEST(Jepsen, AWriteThatIsInvokedWithoutItsValue) {
  const auto maps = [](const char* end) {
    return std::string(R"({"type":"invoke","process":0,"f":"write","value":null}
{"type":"ok","process":0,"f":"write","value":5}
{"type":"invoke","process":1,"f":"write","value":null}
)") + end;
  };
  EXPECT_EQ(read_text(maps(R"({"type":"fail","process":1,"f":"write","value":null})")),
            "0: w(register,5)\n1: aborted w(register,null)\n");
  for (const char* end : {"", R"({"type":"info","process":1,"f":"write","value":"timeout"})"}) {
    EXPECT_EQ(read_text(maps(end)).find("h:3: the write has no value"), 0U) << read_text(maps(end));
  }
  // Null is a value if no ok says another one.
  EXPECT_EQ(read_text(R"({"type":"invoke","process":1,"f":"write","value":null})"),
            "1: indeterminate w(register,null)\n");
}

// An operation of unknown outcome that does not say what it wrote may have written what was read.
TEST(Jepsen, AnOperationOfUnknownOutcomeThatDoesNotSayWhatItWrote) {
  const auto doubts = [](const std::string& text) {
    return read_text(text).find("nor all that it wrote") != std::string::npos;
  };
  const std::string invoked = R"({"type":"invoke","process":0,"f":"txn","value":[]})"
                              "\n";
  const auto ended = [](const char* type, const char* value) {
    return fmt::format(R"({{"type":"{}","process":0,"f":"txn","value":{}}})"
                       "\n",
                       type, value);
  };
  const std::string read_5 = R"({"type":"invoke","process":2,"f":"txn","value":[["r","x",null]]}
{"type":"ok","process":2,"f":"txn","value":[["r","x",5]]}
)";
  EXPECT_TRUE(doubts(invoked + read_5));
  for (const char* value : {"[]", "null", "\"timeout\"", R"([["w","y",5]])"}) {
    EXPECT_TRUE(doubts(invoked + ended("info", value) + read_5)) << value;
    EXPECT_FALSE(doubts(invoked + ended("fail", value) + read_5)) << value;
  }
  EXPECT_TRUE(doubts(ended("info", "null") + read_5));
  EXPECT_FALSE(doubts(ended("info", "[]") + read_5)) << "without an invocation, none is none";
  // Nobody read what nobody wrote.
  const std::string write_5 = R"({"type":"invoke","process":3,"f":"txn","value":[["w","x",5]]}
{"type":"ok","process":3,"f":"txn","value":[["w","x",5]]}
)";
  EXPECT_FALSE(doubts(invoked + write_5 + read_5));
  // The same of registers, with keys and without.
  for (const char* text : {
           "{:type :ok :process 0 :f :write :value 1} {:type :info :process 1 :f :write :value "
           ":timeout} {:type :ok :process 2 :f :read :value 9}",
           "{:type :ok :process 0 :f :write :value [1 1]} {:type :info :process 1 :f :write :value "
           "[1 nil]} {:type :ok :process 2 :f :read :value [1 9]}",
           "{:type :invoke :process 1 :f :write :value [1 nil]} {:type :info :process 1 :f :write "
           ":value [1 nil]} {:type :ok :process 2 :f :read :value [1 9]}",
       }) {
    EXPECT_TRUE(doubts(text)) << text << read_text(text);
  }
}

TEST(Jepsen, AKeywordAndAStringOfOneNameAreNoOneProcess) {
  const auto maps = [](const char* first, const char* second) {
    return fmt::format(
        "{{:type :ok :process {} :f :txn :value [[:w :x 1]]}}\n"
        "{{:type :ok :process {} :f :txn :value [[:r :x nil]]}}\n",
        first, second);
  };
  for (const auto& text : {maps(":a", "\":a\""), maps("\":a\"", ":a")})
    EXPECT_EQ(read_text(text).find("h:2: found two processes of the name :a"), 0U) << text;
  EXPECT_EQ(read_text(maps(":a", "\"a\"")).find("h:"), std::string::npos);
  EXPECT_EQ(read_text(maps(":a", ":a")).find("h:"), std::string::npos);
}

// In a file whose lines are not in the order of their times, the lost line may be the write.
TEST(Jepsen, ALostLineMayHaveWrittenWhatWasRead) {
  const std::string read =
      R"({"type":"invoke","process":0,"f":"txn","value":[["r","x",null]],"time":10}
{"type":"ok","process":0,"f":"txn","value":[["r","x",1]],"time":20}
)";
  EXPECT_NE(read_text(read + R"({"type":"invoke","process":1,"f":"txn","val)")
                .find("the lost part may have written it"),
            std::string::npos);
}

// What a transaction read that did not commit may be an error of the client.
TEST(Jepsen, OnlyCommittedReadsSayWhatAKeyIs) {
  EXPECT_EQ(read_text("{:type :ok :process 0 :f :txn :value [[:append 1 1] [:w 2 1]]}\n"
                      "{:type :fail :process 1 :f :txn :value [[:r 1 7] [:r 2 [1]] [:r 3 [1]]]}"),
            "0: append(1,1) w(2,1)\n1: aborted list(1,?) r(2,[1]) r(3,[1])\n");
}

TEST(Jepsen, ACompletionOfASingleOperationNamesIt) {
  EXPECT_EQ(read_text(R"({"type":"invoke","process":0,"f":"acquire","value":null}
{"type":"fail","process":0,"value":null})"),
            "h:2: found a completion of process 0 without f, and its invocation has f=acquire. "
            "Record f in both lines");
}

// T3 of a report on the history is the line of index 3 of the file.
TEST(Jepsen, LabelsThatNumberTheTransactionsAreTheLinesIndexes) {
  for (const bool header : {false, true}) {
    HistoryBuilder b;
    const auto x = b.key(1);
    const auto one = b.session("one"), two = b.session("two");
    const auto txn = [&](SessionId session, std::uint32_t label) {
      b.begin(session, TxnStatus::kCommitted, {.label = label});
      b.write(x, b.value(static_cast<std::int64_t>(100 + label)));
      b.end();
    };
    for (const auto& [session, label] :
         {std::pair(one, 0), {two, 1}, {one, 2}, {two, 3}, {one, 4}}) {
      txn(session, static_cast<std::uint32_t>(label));
    }
    if (header) b.set_metadata("database", "x");
    const auto h = std::move(b).finish();
    ASSERT_TRUE(h);
    for (const bool edn : {false, true}) {
      std::ostringstream out;
      ASSERT_TRUE(write_jepsen(*h, out, edn));
      const auto back = read_jepsen(out.str(), "h", 0);
      ASSERT_TRUE(back) << back.error().to_string();
      EXPECT_EQ(text_of(*back, {.times = true, .labels = true}),
                text_of(*h, {.times = true, .labels = true}));
      std::istringstream lines(out.str());
      std::string line;
      if (header) std::getline(lines, line);
      for (int label = 0; std::getline(lines, line); ++label) {
        EXPECT_TRUE(
            line.starts_with((edn ? "{:index " : "{\"index\":") + std::to_string(label) + ","))
            << line;
        EXPECT_NE(line.find(std::to_string(100 + label)), std::string::npos) << line;
      }
    }
  }
}

TEST(Jepsen, WritingRefusesWhatTextCannotHold) {
  HistoryBuilder b;
  b.begin(b.session("nemesis"), TxnStatus::kCommitted);
  b.end();
  std::ostringstream out;
  EXPECT_FALSE(write_jepsen(*std::move(b).finish(), out, false));
  HistoryBuilder bytes;
  bytes.begin(bytes.session("0"), TxnStatus::kCommitted);
  bytes.write(bytes.key(1), bytes.value(ScalarView::of("\xff")));
  bytes.end();
  const auto status = write_jepsen(*std::move(bytes).finish(), out, true);
  ASSERT_FALSE(status);
  EXPECT_NE(status.error().message.find("not UTF-8"), std::string::npos);
}

// Files packed by the zstd tool, which writes their size.
std::string unpacked(const std::string& packed) {
  const auto size = ZSTD_getFrameContentSize(packed.data(), packed.size());
  if (size == ZSTD_CONTENTSIZE_ERROR || size == ZSTD_CONTENTSIZE_UNKNOWN) return {};
  std::string text(size, '\0');
  const auto got = ZSTD_decompress(text.data(), text.size(), packed.data(), packed.size());
  return got == size ? text : std::string();
}

TEST(Jepsen, EverySharedHistoryIsReadOrRefusedAndRoundTrips) {
  const fs::path shared = recorded("");
  if (!fs::exists(shared)) GTEST_SKIP() << "no shared histories here";
  std::size_t seen = 0, refused = 0;
  for (const char* folder : {"elle", "elle-cli", "porcupine-kv", "real"}) {
    for (const auto& entry : fs::recursive_directory_iterator(shared / folder)) {
      if (!entry.is_regular_file()) continue;
      SCOPED_TRACE(entry.path());
      std::ifstream in(entry.path(), std::ios::binary);
      std::string bytes{std::istreambuf_iterator<char>(in), {}};
      if (entry.path().extension() == ".zst") bytes = unpacked(bytes);
      EXPECT_NE(recognize_jepsen(std::string_view(bytes).substr(0, 4096)), Match::kNo);
      const auto h = read_jepsen(bytes, entry.path(), 0);
      ++seen;
      if (entry.path().parent_path().filename() == "jepsen") {
        ++refused;
        ASSERT_FALSE(h);
        EXPECT_NE(h.error().message.find("not a transactional or single-object history"),
                  std::string::npos);
        continue;
      }
      ASSERT_TRUE(h) << h.error().to_string();
      EXPECT_GT(h->txn_count(), 0u);
      for (const bool edn : {false, true}) {
        std::ostringstream out;
        ASSERT_TRUE(write_jepsen(*h, out, edn));
        const auto back = read_jepsen(out.str(), "back", 0);
        ASSERT_TRUE(back) << back.error().to_string();
        EXPECT_TRUE(text_of(*back, {.times = true, .labels = false}) ==
                    text_of(*h, {.times = true, .labels = false}));
      }
    }
  }
  EXPECT_GE(seen, 30u);
  EXPECT_EQ(refused, 6u);
}

}  // namespace
}  // namespace cupel::formats
