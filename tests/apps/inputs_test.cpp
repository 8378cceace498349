// Inputs: the notes and hints of the commands about a file that was damaged or recorded badly.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>

#include "base/temp_dir.hpp"

namespace {

class Inputs : public testing::Test {
 protected:
  void put(const std::string& name, std::string_view text) const {
    std::ofstream(folder_.file(name)) << text;
  }
  [[nodiscard]] int run(const std::string& arguments) const {
    const auto command = fmt::format("cd {} && timeout 60 {} {} >out 2>err",
                                     folder_.path().string(), CUPEL_BINARY, arguments);
    const int status = std::system(command.c_str());
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }
  [[nodiscard]] std::string text_of(const std::string& name) const {
    std::ifstream in(folder_.file(name));
    return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
  }

  cupel::base::TempDir folder_ = *cupel::base::TempDir::make("cupel-test-");
};

constexpr const char* kWrite =
    R"({"type":"invoke","process":0,"f":"txn","value":[["w","x",5]]}
{"type":"ok","process":0,"f":"txn","value":[["w","x",5]]}
)";

TEST_F(Inputs, EveryCommandNotesThatAFileWasCut) {
  put("h.jsonl", std::string(kWrite) + R"({"type":"invoke","proc)");
  put("h.edn",
      "{:type :invoke, :process 0, :f :txn, :value [[:w :x 5]]}\n"
      "{:type :ok, :process 0, :f :txn, :value [[:w :x 5]]}\n{:type :invoke, :process 1, :val");
  constexpr const char* kNote = "its incomplete last line is left out";
  for (const char* arguments : {"check h.jsonl --certificate h.cert", "convert h.jsonl -o h.cupel",
                                "check h.edn --certificate e.cert", "convert h.edn -o e.cupel"}) {
    EXPECT_EQ(run(arguments), 0) << text_of("err");
    const auto notes = text_of("err");
    const auto first = notes.find(kNote);
    EXPECT_NE(first, std::string::npos) << arguments << "\n" << notes;
    EXPECT_EQ(notes.find(kNote, first + 1), std::string::npos) << notes;
  }
  for (const char* arguments : {"verify h.jsonl h.cert", "verify h.edn e.cert"})
    EXPECT_EQ(run(arguments), 0) << arguments << text_of("err");  // both readers leave it out
}

// A last line that has its end counts, whatever it begins with and whatever comes behind it.
TEST_F(Inputs, AWatchReadsAWholeLastLineWithoutItsNewline) {
  const std::string tag = "#jepsen.history.Op";
  const std::string before = tag + "{:type :invoke :process 0 :f :txn :value [[:w 1 1]]}\n" + tag +
                             "{:type :ok :process 0 :f :txn :value [[:w 1 1]]}\n" + tag +
                             "{:type :invoke :process 1 :f :txn :value [[:r 1 nil]]}\n";
  const std::string map = "{:type :ok :process 1 :f :txn :value [[:r 1 9]]";
  for (const auto& last : {tag + map + "}", map + " :error \\{}", map + "} ; end", map + "},",
                           " " + map + "}", "^{:a 1} " + map + "}", map + " :error #<Foo {>}"}) {
    put("h.edn", before + last);
    EXPECT_EQ(run("check -l causal h.edn"), 1) << last << text_of("err");
    EXPECT_EQ(run("watch --no-follow -l causal h.edn"), 1) << last << text_of("err");
  }
  for (const auto& last : {tag + map, map + " :error \\{", map + "} ; end\n{:type"}) {
    put("h.edn", before + last);
    EXPECT_EQ(run("check -l causal h.edn"), last.ends_with("{:type") ? 3 : 0)
        << last << text_of("err");
  }
}

// cupel writes a read-only transaction of unknown outcome without its reads.
TEST_F(Inputs, AWatchReadsTransactionsOfUnknownOutcomeWithoutOperations) {
  const std::string unknown =
      R"({"type":"invoke","process":9,"f":"txn","value":[]}
{"type":"info","process":9,"f":"txn","value":[]}
)";
  put("h.jsonl", unknown + kWrite);
  EXPECT_EQ(run("watch --no-follow -l causal h.jsonl"), 0) << text_of("err");
  // What nobody wrote may be theirs.
  put("h.jsonl", unknown + R"({"type":"invoke","process":1,"f":"txn","value":[["r","x",null]]}
{"type":"ok","process":1,"f":"txn","value":[["r","x",7]]}
)");
  EXPECT_EQ(run("watch --no-follow -l causal h.jsonl"), 3) << text_of("out");
  EXPECT_EQ(run("check -l causal h.jsonl"), 3) << text_of("out");
}

// The value 5 and the text "5" are two values.
TEST_F(Inputs, AThinAirReadNamesANearlyEqualWrite) {
  put("h.jsonl", std::string(kWrite) +
                     R"({"type":"invoke","process":1,"f":"txn","value":[["r","x",null]]}
{"type":"ok","process":1,"f":"txn","value":[["r","x","5"]]}
)");
  for (const char* arguments : {"check h.jsonl", "check -l read-committed h.jsonl"}) {
    EXPECT_EQ(run(arguments), 1) << text_of("err");
    const auto text = text_of("out");
    EXPECT_NE(text.find(" 5 was written to x: "), std::string::npos) << arguments << "\n" << text;
  }
}

}  // namespace
