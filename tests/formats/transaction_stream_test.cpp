// Transaction stream: the rules by which it pairs invocations and completions are those of the
// reader of whole files.
#include "data/formats/transaction_stream.hpp"

#include <gtest/gtest.h>

#include <string>

#include "data/formats/jepsen_reader.hpp"
#include "formats/files.hpp"

namespace cupel::formats {
namespace {

struct Streamed {
  std::string error;
  std::size_t transactions = 0, operations = 0;
  std::string kind, ignored;
};

Streamed streamed(const std::string& text, const Interpretation& as = {}) {
  const ScratchFolder folder;
  Streamed found;
  auto source = stream_history(folder.file("h.jsonl", text), {}, as);
  if (!source.ok()) {
    found.error = source.error().to_string();
    return found;
  }
  history::StreamedTransaction txn;
  for (;;) {
    const auto more = (*source)->next(txn);
    if (!more.ok()) {
      found.error = more.error().message;
      return found;
    }
    if (!*more) break;
    ++found.transactions;
    found.operations += txn.operations.size();
  }
  found.kind = (*source)->fact("kind");
  found.ignored = (*source)->fact("ignored");
  return found;
}

std::string line(const std::string& type, int process, const std::string& f,
                 const std::string& value) {
  return R"({"type":")" + type + R"(","process":)" + std::to_string(process) + R"(,"f":")" + f +
         R"(","value":)" + value + "}\n";
}
std::string both(int process, const std::string& f, const std::string& invoked,
                 const std::string& completed, const std::string& type = "ok") {
  return line("invoke", process, f, invoked) + line(type, process, f, completed);
}

TEST(TransactionStream, RefusesWhatTheReaderOfWholeFilesRefuses) {
  const std::string written = both(0, "write", "1", "1");
  const struct {
    std::string text;
    const char* why;  // null: read
  } cases[] = {
      {both(0, "txn", R"([["w","x",1]])", R"([["w","y",2]])", "info"), "other operations"},
      {both(0, "txn", R"([["w","x",1]])", R"([["w","x",2]])"), "other operations"},
      {both(0, "txn", R"([["w","x",1],["w","y",1]])", R"([["w","x",1]])", "info"), nullptr},
      {both(0, "txn", "[]", R"([["w","x",1]])", "info"), nullptr},
      {both(0, "read", R"([["r","x",null]])", "null", "fail"), nullptr},
      {both(0, "read", R"([["r","x",null]])", "null"), "without the operations"},
      {both(0, "write", R"([["w","x",1]])", R"([["w","x",1]])"), nullptr},
      {both(0, "write", R"(["x",1])", R"(["x",1])") +
           both(0, "txn", R"([["r","x",null]])", R"([["r","x",1]])"),
       nullptr},
      {both(0, "txn", R"([["r","x",null]])", R"([["r","x",null]])") + written,
       "f=write beside transactions"},
      {both(0, "init", R"({"x":1,"y":2})", R"({"x":1,"y":2})") + both(0, "txn", "[]", "[]"),
       nullptr},
      {written + both(1, "read", "null", "[1,2,3]"), "whole collections"},
      {written + both(1, "read", "5", "1"), "invoked with a value"},
      {written + both(1, "read", "1", "1"), nullptr},
      {written + both(1, "write", "5", "[3,5]"), "other operations|wrote [3 5]"},
      {written + both(1, "write", "5", "\"timeout\"", "info"), nullptr}};
  for (const auto& [text, why] : cases) {
    const auto found = streamed(text);
    const auto whole = read_jepsen(text, "h", 0);
    EXPECT_EQ(whole.ok(), why == nullptr) << text << (whole.ok() ? "" : whole.error().message);
    if (why == nullptr) {
      EXPECT_EQ(found.error, "") << text;
      EXPECT_EQ(found.transactions, whole.ok() ? whole->txn_count() : 0) << text;
      EXPECT_EQ(found.operations, whole.ok() ? whole->op_count() : 0) << text;
      continue;
    }
    const std::string reasons(why);
    const auto first = reasons.substr(0, reasons.find('|')),
               last = reasons.substr(reasons.rfind('|') + 1);
    EXPECT_NE(found.error.find(first), std::string::npos) << text << found.error;
    if (!whole.ok()) {
      EXPECT_NE(whole.error().message.find(last), std::string::npos)
          << text << whole.error().message;
    }
  }
}

TEST(TransactionStream, SaysHowItReadAndWhatItLeftOut) {
  const auto text =
      both(0, "txn", R"([["w","x",1]])", R"([["w","x",1]])") + both(0, "nap", "3", "3");
  EXPECT_NE(streamed(text).error.find("f=nap beside transactions"), std::string::npos);
  const auto ignored = streamed(text, {.kind = {}, .ignore = {"nap"}});
  EXPECT_EQ(ignored.error, "");
  EXPECT_EQ(ignored.ignored, "2 nap");
  EXPECT_EQ(ignored.kind, "");
  EXPECT_EQ(
      streamed(both(0, "write", "[1,2]", "[1,2]") + both(0, "cas", "[2,[1,2]]", "[2,[1,2]]")).kind,
      "registers with compare-and-set, 2 keys");
  EXPECT_EQ(
      streamed(both(0, "write", "[1,2]", "[1,2]"), {.kind = Workload::kTransactions, .ignore = {}})
          .kind,
      "transactions, and single operations as such (write)");
}

TEST(TransactionStream, ReadsEdnOneMapALine) {
  const std::string maps =
      "; of a recorder\n"
      "{:type :invoke, :process 0, :f :txn, :value [[:append :x 1]]}\n"
      "#jepsen.history.Op{:type :ok, :process 0, :f :txn, :value [[:append :x 1]]}\n"
      "{:type :invoke, :process 1, :f :txn, :value [[:r :x nil]]}\n";
  const auto found = streamed(maps);
  EXPECT_EQ(found.error, "");
  EXPECT_EQ(found.transactions, 2u);
  EXPECT_EQ(found.operations, 2u);
  EXPECT_NE(streamed("[" + maps + "]").error.find("one a line"), std::string::npos);
}

}  // namespace
}  // namespace cupel::formats
