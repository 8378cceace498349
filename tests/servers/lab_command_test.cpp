// cupel lab: what it prints, and that its servers outlive it and can be stopped.
#include <gtest/gtest.h>
#include <signal.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "base/process.hpp"
#include "databases/lab/loopback.hpp"
#include "support/scratch_folder.hpp"

namespace cupel::lab {
namespace {

namespace fs = std::filesystem;
using base::Seconds;

struct Ran {
  int code;
  std::string output, errors;
};

class LabCommand : public ::testing::Test {
 protected:
  void TearDown() override { cupel({"stop", "all"}); }

  Ran cupel(std::vector<std::string> arguments,
            std::vector<std::pair<std::string, std::string>> environment = {}) {
    arguments.insert(arguments.begin(), {CUPEL_BINARY, "lab"});
    environment.emplace_back("XDG_STATE_HOME", folder_.string());
    const auto errors = (folder_ / "errors").string();
    fs::remove(errors);
    auto process = base::Process::start({.arguments = arguments,
                                         .environment = environment,
                                         .output = base::Stream::pipe(),
                                         .errors = base::Stream::file(errors)});
    if (!process.ok()) return {-1, "", process.error().to_string()};
    // All of the output, which ends only if no server has kept it.
    auto output = process->read_all(Seconds(60)).value_or("timeout");
    std::ostringstream messages;
    messages << std::ifstream(errors).rdbuf();
    return {process->wait(Seconds(60))->code, output, messages.str()};
  }

  const test::ScratchFolder scratch_;
  const fs::path folder_ = scratch_.path();
};

std::uint16_t port_of(const std::string& url) {
  return static_cast<std::uint16_t>(std::stoi(url.substr(url.rfind(':') + 1)));
}

TEST_F(LabCommand, AServerOutlivesTheCommand) {
  const auto started = cupel({"start", "redis"});
  ASSERT_EQ(started.code, 0) << started.errors;
  ASSERT_EQ(started.output.rfind("redis://127.0.0.1:", 0), 0u) << started.output;
  EXPECT_NE(started.errors.find("`cupel lab stop redis`"), std::string::npos) << started.errors;
  const auto port = port_of(started.output);
  EXPECT_EQ(ask("127.0.0.1", port, "SET a 7\r\n", Seconds(5)), "+OK\r\n");

  const auto other = cupel({"start", "redis", "-o", "maxclients=33", "--fast"});
  ASSERT_EQ(other.code, 0) << other.errors;
  EXPECT_NE(
      ask("127.0.0.1", port_of(other.output), "CONFIG GET maxclients\r\n", Seconds(5)).find("33"),
      std::string::npos);

  auto listed = cupel({"list"}).output;
  EXPECT_EQ(listed.rfind("redis\trunning\tredis://127.0.0.1:", 0), 0u) << listed;
  EXPECT_NE(listed.find("\nredis-2\trunning\t"), std::string::npos) << listed;

  EXPECT_EQ(cupel({"kill", "redis"}).code, 0);
  EXPECT_EQ(ask("127.0.0.1", port, "GET a\r\n", Seconds(1)), "");
  EXPECT_EQ(cupel({"list"}).output.rfind("redis\tdead\t", 0), 0u);
  EXPECT_EQ(cupel({"restart", "redis"}).code, 0);
  EXPECT_EQ(ask("127.0.0.1", port, "GET a\r\n", Seconds(5)), "$1\r\n7\r\n");

  EXPECT_EQ(cupel({"stop", "redis"}).output, "stopped redis\n");
  EXPECT_EQ(ask("127.0.0.1", port, "GET a\r\n", Seconds(1)), "");
  EXPECT_EQ(cupel({"stop", "all"}).output, "stopped redis-2\n");
  EXPECT_EQ(cupel({"list"}).output, "");
}

TEST_F(LabCommand, SaysWhatIsWrong) {
  const auto expect = [&](const Ran& ran, const std::string& words) {
    EXPECT_EQ(ran.code, 3);
    EXPECT_EQ(ran.output, "");
    EXPECT_NE(ran.errors.find(words), std::string::npos) << ran.errors;
  };
  expect(cupel({"start", "oracle"}),
         "there is no test server `oracle`. Write one of postgres, postgres-standby, mariadb");
  expect(cupel({"start", "redis", "--name", "a/b"}), "expected letters, digits, - and _");
  expect(cupel({"stop", "redis"}), "found no server `redis`; none was started");
  expect(cupel({"start", "redis"}, {{"PATH", "/no/such/folder"}}),
         "install the Debian package redis-server");
  expect(cupel({"start", "redis", "-o", "bogus=1"}), "Bad directive");
  expect(cupel({"start", "rediss"}), "Did you mean `redis`?");
  expect(cupel({"start", "redis", "-o", "requirepass"}),
         "the option `requirepass` of Redis has no value. Write requirepass=PASSWORD, and add the "
         "password to the URL of the server: redis://:PASSWORD@HOST:PORT");
  const auto group = cupel({"start", "redis-replica", "-o", "requirepass=secret"});
  expect(group, "the option `requirepass` cannot be used with redis-replica");
  EXPECT_EQ(group.errors.find("secret"), std::string::npos) << group.errors;
  EXPECT_EQ(cupel({"list"}).output, "");
  ASSERT_EQ(cupel({"start", "redis", "--name", "mine"}).code, 0);
  expect(cupel({"start", "etcd", "--name", "mine"}), "there is a server `mine` already");
  expect(cupel({"kill", "yours"}), "found no server `yours`; there are mine");
  expect(cupel({"kill", "mine", "--node", "1"}), "the nodes of mine are 0 to 0");
  std::ofstream(folder_ / "cupel/lab/odd.json") << "{}";
  expect(cupel({"stop", "odd"}), "expected the state of a server as cupel writes it");
  fs::remove(folder_ / "cupel/lab/odd.json");
}

}  // namespace
}  // namespace cupel::lab
