// examples/record_libpq on a PostgreSQL: what it recorded of itself is a history
// that cupel reads, that keeps what repeatable read promises, and that shows where
// read committed does not.
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "base/process.hpp"
#include "databases/lab/server.hpp"
#include "support/scratch_folder.hpp"

namespace cupel {
namespace {

using base::Seconds;

struct Ran {
  int code;
  std::string output;  // and errors
};

Ran ran(std::vector<std::string> arguments) {
  auto process = base::Process::start({.arguments = std::move(arguments),
                                       .output = base::Stream::pipe(),
                                       .errors = base::Stream::output()});
  if (!process.ok()) return {-1, process.error().to_string()};
  auto output = process->read_all(Seconds(120)).value_or("timeout");
  return {process->wait(Seconds(10))->code, output};
}

class RecordExample : public testing::Test {
 protected:
  void SetUp() override {
    auto started = lab::start(lab::Kind::kPostgres,
                              {.server_options = {"deadlock_timeout=20ms"}, .durable = false});
    ASSERT_TRUE(started.ok()) << started.error().to_string();
    server_.emplace(*std::move(started));
  }

  [[nodiscard]] std::string history() const { return folder_.path("history.jsonl"); }
  Ran example(const std::string& accounts, const std::string& isolation) {
    return ran({EXAMPLE_BINARY, server_->url(), history(), "8", "100", accounts, isolation});
  }
  Ran check(const std::string& level) {
    return ran({CUPEL_BINARY, "check", "-l", level, history()});
  }

  const test::ScratchFolder folder_;
  std::optional<lab::Server> server_;
};

TEST_F(RecordExample, RepeatableReadSatisfiesSnapshotIsolation) {
  const auto example = this->example("10", "repeatable read");
  ASSERT_EQ(example.code, 0) << example.output;
  EXPECT_NE(example.output.find(" 0 unknown; 0 audits with a wrong sum"), std::string::npos)
      << example.output;
  const auto committed = std::stoi(example.output);
  EXPECT_GT(committed, 100) << example.output;

  // All of it is in the file: eight clients with a hundred transfers and ten audits.
  std::ifstream lines(history());
  int acknowledged = 0, invoked = 0;
  for (std::string line; std::getline(lines, line);) {
    acknowledged += line.find(R"("type":"ok")") != std::string::npos;
    invoked += line.find(R"("type":"invoke")") != std::string::npos;
  }
  EXPECT_EQ(acknowledged, committed);
  EXPECT_EQ(invoked, 8 * (100 + 10));

  const auto checked = check("snapshot-isolation");
  EXPECT_EQ(checked.code, 0) << checked.output;
  EXPECT_NE(checked.output.find("satisfied"), std::string::npos) << checked.output;
  EXPECT_EQ(check("strong-session-snapshot-isolation").code, 0);
}

TEST_F(RecordExample, ReadCommittedDoesNot) {
  const auto example = this->example("4", "read committed");
  ASSERT_EQ(example.code, 0) << example.output;
  const auto checked = check("snapshot-isolation");
  EXPECT_EQ(checked.code, 1) << checked.output;
  EXPECT_NE(checked.output.find("violated"), std::string::npos) << checked.output;
  EXPECT_EQ(check("read-committed").code, 0);
}

TEST_F(RecordExample, SaysWhatIsWrong) {
  server_->stop();
  const auto nobody = example("10", "repeatable read");
  EXPECT_EQ(nobody.code, 3);
  EXPECT_NE(nobody.output.find("refused"), std::string::npos) << nobody.output;
  const auto few = example("1", "repeatable read");
  EXPECT_EQ(few.code, 3);
  EXPECT_NE(few.output.find("found `1`, expected a number from 2"), std::string::npos)
      << few.output;
}

}  // namespace
}  // namespace cupel
