// `cupel run` on servers that refuse: a wrong password, a database, a server or a
// level that is not there. Each ends with exit code 3, and a sentence that says so
// and never shows the password.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <ostream>
#include <sstream>

#include "base/process.hpp"
#include "databases/lab/server.hpp"
#include "support/scratch_folder.hpp"

namespace cupel::lab {
void PrintTo(Kind kind, std::ostream* out) {
  *out << name(kind);
}
namespace {

namespace fs = std::filesystem;

class RunCommand : public testing::TestWithParam<Kind> {
 protected:
  void expect_refused(const std::string& url, const std::string& isolation,
                      const std::vector<std::string>& words) {
    const auto output = folder_ + "/output", errors = folder_ + "/errors";
    fs::remove(errors);
    auto process = base::Process::start(
        {.arguments = {CUPEL_BINARY, "run", "--db", url, "--isolation", isolation, "--txns", "2",
                       "--statement-timeout", "5s", "-o", folder_ + "/history.jsonl"},
         .output = base::Stream::file(output),
         .errors = base::Stream::file(errors)});
    ASSERT_TRUE(process.ok()) << process.error().to_string();
    const auto status = process->wait(base::Seconds(60));
    ASSERT_TRUE(status);
    std::ostringstream messages;
    messages << std::ifstream(errors).rdbuf();
    EXPECT_EQ(status->code, 3) << url;
    EXPECT_EQ(fs::file_size(output), 0U);
    for (const auto& word : words) {
      EXPECT_NE(messages.str().find(word), std::string::npos) << messages.str();
    }
    EXPECT_EQ(messages.str().find("tiger"), std::string::npos) << messages.str();
    EXPECT_FALSE(fs::exists(folder_ + "/history.jsonl"));
  }

  const test::ScratchFolder scratch_;
  const std::string folder_ = scratch_.path();
};

class RunCommandOfKeyValueStore : public testing::Test {
 protected:
  const test::ScratchFolder scratch_;
  const std::string folder_ = scratch_.path();
};

TEST_P(RunCommand, SaysWhatIsWrong) {
  auto started = start(GetParam(), {.durable = false});
  ASSERT_TRUE(started.ok()) << started.error().to_string();
  const auto url = started->url();
  const auto scheme = url.substr(0, url.find("//") + 2);
  const auto host = url.substr(url.find('@') + 1, url.rfind('/') - url.find('@') - 1);
  expect_refused(scheme + "guarded:tiger@" + host + "/cupel", "serializable",
                 {"cannot connect", "check the user and the password"});
  expect_refused(scheme + "cupel@" + host + "/nowhere", "serializable",
                 {"nowhere", "make it with"});
  expect_refused(url, "chaos", {"chaos", "repeatable-read", "read-committed"});
  started->stop();
  expect_refused(url, "serializable", {"cannot connect", "is the server running"});
}

// As in docs/reference/lab.md: cupel run --db "$(cupel lab start redis)".
TEST_F(RunCommandOfKeyValueStore, RunsWithoutAWorkload) {
  for (const auto kind : {Kind::kRedis, Kind::kEtcd}) {
    const auto started = start(kind, {.durable = false});
    ASSERT_TRUE(started.ok()) << started.error().to_string();
    const auto output = folder_ + "/output";
    auto process =
        base::Process::start({.arguments = {CUPEL_BINARY, "run", "--db", started->url(), "--txns",
                                            "20", "--overwrite", "-o", folder_ + "/history.jsonl"},
                              .output = base::Stream::file(output),
                              .errors = base::Stream::file(folder_ + "/errors")});
    ASSERT_TRUE(process.ok()) << process.error().to_string();
    const auto status = process->wait(base::Seconds(60));
    ASSERT_TRUE(status);
    std::ostringstream text, messages;
    text << std::ifstream(output).rdbuf();
    messages << std::ifstream(folder_ + "/errors").rdbuf();
    EXPECT_EQ(status->code, 0) << text.str() << messages.str();
    EXPECT_NE(text.str().find("at linearizable: workload lwt, 10 sessions"), std::string::npos)
        << text.str();
    EXPECT_NE(messages.str().find("note: the workload is lwt"), std::string::npos)
        << messages.str();
  }
}

INSTANTIATE_TEST_SUITE_P(Sql, RunCommand, testing::Values(Kind::kPostgres, Kind::kMariadb),
                         [](const auto& info) {
                           return info.param == Kind::kPostgres ? "Postgres" : "Mariadb";
                         });

}  // namespace
}  // namespace cupel::lab
