// cupel's servers in network namespaces: those that outlive the command, those of a run, what
// is left of either after a SIGKILL, and that none of it needs root.
//
// The tests have a network of their own in place of the machine's.
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>

#include "base/process.hpp"
#include "databases/lab/loopback.hpp"
#include "databases/lab/namespaces.hpp"
#include "databases/lab/network.hpp"
#include "databases/lab/remains.hpp"
#include "support/file_event.hpp"
#include "support/polling.hpp"
#include "support/process_event.hpp"
#include "support/scratch_folder.hpp"

namespace cupel::lab {
namespace {

namespace fs = std::filesystem;
using base::Seconds;

std::string content(const fs::path& file) {
  std::ostringstream text;
  text << std::ifstream(file).rdbuf();
  return text.str();
}

struct Ran {
  int code = -1;
  std::string output, errors;
};

class LabNetworks : public testing::Test {
 protected:
  void SetUp() override {
    fs::permissions(folder_, fs::perms(0777));
    fs::create_directory(temporary_);
    fs::permissions(temporary_, fs::perms(01777));
    enter_namespaces();
    if (const auto why = networks_forbidden(); !why.empty()) GTEST_SKIP() << why;
    ASSERT_TRUE(enter_new_network().ok());
  }
  void TearDown() override {
    const auto before = processes();
    cupel({"lab", "stop", "all"});
    EXPECT_TRUE(servers().empty());
    EXPECT_TRUE(named_networks().empty());
    for (const auto id : before) EXPECT_TRUE(test::wait_for_end(id));
  }

  base::Result<base::Process> start(std::vector<std::string> arguments,
                                    std::optional<base::Credentials> user = {}) const {
    arguments.insert(arguments.begin(), program_);
    return base::Process::start(
        {.arguments = std::move(arguments),
         .environment = {{"XDG_STATE_HOME", folder_ / "state"}, {"TMPDIR", temporary_}},
         .directory = folder_,
         .output = base::Stream::pipe(),
         .errors = base::Stream::file(folder_ / "errors"),
         .user = user});
  }
  Ran cupel(std::vector<std::string> arguments, std::optional<base::Credentials> user = {}) const {
    fs::remove(folder_ / "errors");
    auto process = start(std::move(arguments), user);
    if (!process.ok()) return {-1, "", process.error().to_string()};
    auto output = process->read_all(Seconds(100)).value_or("timeout");
    const auto status = process->wait(Seconds(20));
    return {status ? status->code : -1, output, content(folder_ / "errors")};
  }
  // The directories of servers.
  std::vector<std::string> servers() const {
    std::vector<std::string> found;
    for (const auto& entry : fs::directory_iterator(temporary_)) {
      if (entry.path().filename().string().starts_with(kDirectory)) {
        found.push_back(entry.path().string());
      }
    }
    return found;
  }

  std::vector<pid_t> processes() const {
    std::vector<pid_t> all;
    for (const auto& directory : servers()) {
      const auto some = processes_in(directory);
      all.insert(all.end(), some.begin(), some.end());
    }
    return all;
  }
  static std::set<ino_t> networks_of(const std::vector<pid_t>& processes) {
    std::set<ino_t> networks;
    struct stat facts {};
    for (const auto id : processes) {
      if (::stat(("/proc/" + std::to_string(id) + "/ns/net").c_str(), &facts) == 0) {
        networks.insert(facts.st_ino);
      }
    }
    return networks;
  }

  const test::ScratchFolder scratch_;
  const fs::path folder_ = scratch_.path();
  const fs::path temporary_ = folder_ / "tmp";
  std::string program_ = CUPEL_BINARY;
};

TEST_F(LabNetworks, AreThoseOfServersThatOutliveTheCommand) {
  if (::geteuid() != 0) {
    const auto started = cupel({"lab", "start", "etcd", "--nodes", "2"});
    EXPECT_TRUE(started.output.starts_with("etcd://127.0.0.1:")) << started.output;
    EXPECT_NE(started.errors.find("only root may"), std::string::npos) << started.errors;
    return;
  }
  const auto cluster = cupel({"lab", "start", "etcd", "--nodes", "2", "--fast"});
  EXPECT_TRUE(cluster.output.starts_with("etcd://198.18.1.1:")) << cluster.errors;
  EXPECT_NE(cluster.output.find(",198.18.1.2:"), std::string::npos) << cluster.output;
  const auto single = cupel({"lab", "start", "redis", "--network", "namespaces"});
  ASSERT_TRUE(single.output.starts_with("redis://198.18.2.1:")) << single.errors;
  const auto port = static_cast<std::uint16_t>(std::stoi(single.output.substr(19)));
  EXPECT_EQ(ask("198.18.2.1", port, "PING\r\n", Seconds(5)), "+PONG\r\n");
  EXPECT_EQ(named_networks().size(), 2U);
  EXPECT_EQ(cupel({"lab", "kill", "etcd", "--node", "1"}).code, 0);
  EXPECT_EQ(cupel({"lab", "restart", "etcd", "--node", "1"}).code, 0);
  EXPECT_EQ(networks_of(processes()).size(), 3U);
  EXPECT_EQ(cupel({"lab", "stop", "etcd"}).code, 0);
  EXPECT_EQ(named_networks().size(), 1U);
  EXPECT_EQ(ask("198.18.2.1", port, "PING\r\n", Seconds(5)), "+PONG\r\n");
}

TEST_F(LabNetworks, CanBeDeclined) {
  const auto started =
      cupel({"lab", "start", "etcd", "--nodes", "2", "--fast", "--network", "loopback"});
  EXPECT_TRUE(started.output.starts_with("etcd://127.0.0.1:")) << started.errors;
  EXPECT_EQ(cupel({"lab", "start", "redis", "--network", "moon"}).code, 3);
}

// However far it came.
TEST_F(LabNetworks, OfAKilledStartAreCleared) {
  for (const int entries : {1, 2, 4}) {
    auto starting = start({"lab", "start", "etcd", "--nodes", "3"});
    ASSERT_TRUE(starting.ok());
    // Its files come one after the other; nothing announces them all.
    ASSERT_TRUE(test::poll_until([&] {
      const auto all = servers();
      std::error_code ignored;
      return !all.empty() && std::distance(fs::directory_iterator(all.front(), ignored),
                                           fs::directory_iterator()) >= entries;
    }));
    starting->signal(SIGKILL);
    starting->wait(Seconds(20));
    const auto before = processes();
    // It lives on only if a state file knows of it.
    const auto listed = cupel({"lab", "list"}).output;
    EXPECT_EQ(servers().size(), listed.empty() ? 0U : 1U) << listed;
    EXPECT_EQ(named_networks().size(), servers().size());
    cupel({"lab", "stop", "all"});
    EXPECT_TRUE(servers().empty());
    for (const auto id : before) EXPECT_TRUE(test::wait_for_end(id));
  }
}

// Also a process that its server started, and that did not die with it.
TEST_F(LabNetworks, OfNobodyAreClearedAndNoOthers) {
  const auto make = [&](const std::string& name, pid_t owner, std::uint64_t started) {
    const auto directory = temporary_ / (kDirectory + name);
    Site site{.kind = Kind::kRedis,
              .directory = directory.string(),
              .user = {},
              .options = {},
              .nodes = {}};
    fs::create_directory(directory);
    EXPECT_TRUE(note_owner(site).ok());
    auto text = content(directory / "owner.json");
    const auto replace = [&](const std::string& field, std::uint64_t value) {
      const auto at = text.find("\"" + field + "\": ") + field.size() + 4;
      text.replace(at, text.find_first_of(",\n", at) - at, std::to_string(value));
    };
    if (owner != 0) {
      replace("pid", static_cast<std::uint64_t>(owner));
      replace("start", started);
      std::ofstream(directory / "owner.json") << text;
    }
    return directory;
  };
  const auto ours = make("aaaaaa", 0, 0);
  // This process, started at another time.
  const auto nobodys = make("bbbbbb", ::getpid(), 1);
  std::vector<base::Process> left;
  for (const auto& directory : {ours, nobodys}) {
    auto sleeper = base::Process::start(
        {.arguments = {"sleep", "600"}, .environment = {{kMark, directory.string()}}});
    ASSERT_TRUE(sleeper.ok());
    left.push_back(*std::move(sleeper));
    if (::geteuid() == 0) {
      const auto id = "cupel-" + directory.string().substr(directory.string().size() - 6);
      ASSERT_TRUE(Network::make_named(1, id, directory.string()).ok());
    }
  }
  EXPECT_EQ(cupel({"lab", "list"}).code, 0);
  EXPECT_TRUE(left[0].running());
  EXPECT_EQ(left[1].wait(Seconds(20))->signal, SIGKILL);
  EXPECT_EQ(servers(), std::vector{ours.string()});
  if (::geteuid() == 0) {
    ASSERT_EQ(named_networks().size(), 1U);
    EXPECT_EQ(named_networks()[0].first, "cupel-aaaaaa");
  }
  remove_network("cupel-aaaaaa");
  left.clear();
  fs::remove_all(ours);
}

// A state file that cannot be read may know of it; so may one in a folder that is not there now.
TEST_F(LabNetworks, OfAStateFileThatCannotBeReadStay) {
  const auto directory = temporary_ / "cupel-lab-cccccc";
  fs::create_directory(directory);
  const auto make = [&](const std::string& state_file) {
    std::ofstream(directory / "owner.json")
        << R"({"state_file":")" << state_file << R"(","kind":"redis","pid":)" << ::getpid()
        << R"(,"start":1,"boot":")" << content("/proc/sys/kernel/random/boot_id").substr(0, 36)
        << R"(\n","process_namespace":")" << fs::read_symlink("/proc/self/ns/pid").string()
        << R"("})";
    EXPECT_EQ(cupel({"lab", "list"}).code, 0);
    return fs::exists(directory);
  };
  const auto state = folder_ / "known.json";
  fs::create_directory(state);  // open() works, read() does not
  EXPECT_TRUE(make(state));
  fs::remove(state);
  EXPECT_TRUE(make(folder_ / "unmounted/known.json"));
  std::ofstream(state) << R"({"directory": )";
  EXPECT_TRUE(make(state));
  std::ofstream(state) << R"({"directory": ")" << directory.string() << "\"}";
  EXPECT_TRUE(make(state));
  std::ofstream(state) << R"({"directory": "/other"})";
  EXPECT_FALSE(make(state));
  fs::create_directory(directory);
  fs::remove(state);
  EXPECT_FALSE(make(state));
}

TEST_F(LabNetworks, OfOthersStay) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root sees networks with names";
  const std::vector<std::pair<std::string, std::string>> others{
      {"cupel-test", "/nowhere/cupel-lab-test"},
      {"cupel-dddddd", ""},
      {"cupel-eeeeee", "/nowhere/cupel-lab-ffffff"}};
  const auto ip = [](std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), {"ip", "link"});
    auto ran = base::Process::start({.arguments = std::move(arguments)});
    const auto status = ran.ok() ? ran->wait(Seconds(20)) : std::nullopt;
    return status && status->well();
  };
  for (const auto& [id, alias] : others) {
    ASSERT_TRUE(ip({"add", id, "type", "bridge"}));
    ASSERT_TRUE(alias.empty() || ip({"set", id, "alias", alias}));
  }
  ASSERT_TRUE(ip({"add", "cupel-gggggg", "type", "bridge"}));
  ASSERT_TRUE(ip({"set", "cupel-gggggg", "alias", "/nowhere/cupel-lab-gggggg"}));
  cupel({"lab", "list"});
  for (const auto& [id, alias] : others) EXPECT_TRUE(ip({"del", id})) << id;
  EXPECT_FALSE(ip({"show", "cupel-gggggg"}));
}

// Who looks around in a server's directory is not its process.
TEST_F(LabNetworks, ProcessesAreThoseOfTheServerOnly) {
  const auto directory = temporary_ / "cupel-lab-hhhhhh";
  fs::create_directory(directory);
  const auto sleeper = [&](const fs::path& errors, const std::string& mark) {
    return base::Process::start({.arguments = {"sleep", "600"},
                                 .environment = {{kMark, mark}},
                                 .directory = directory,
                                 .output = base::Stream::file(errors),
                                 .errors = base::Stream::output()});
  };
  const auto visitor = sleeper(folder_ / "visitor.log", "");
  const auto server = sleeper(directory / "redis.log", "");
  const auto marked = sleeper(folder_ / "marked.log", directory);
  ASSERT_TRUE(visitor.ok() && server.ok() && marked.ok());
  auto found = processes_in(directory);
  std::sort(found.begin(), found.end());
  EXPECT_EQ(found, (std::vector{std::min(server->id(), marked->id()),
                                std::max(server->id(), marked->id())}));
  fs::remove_all(directory);
}

TEST_F(LabNetworks, OfAKilledRunAreGone) {
  auto running = start({"run", "--db", "lab:etcd?nodes=3", "--txns", "0", "--time-limit", "60s",
                        "--sessions", "2", "-o", "history.jsonl"});
  ASSERT_TRUE(running.ok());
  ASSERT_TRUE(test::wait_for_file(folder_ / "history.jsonl", [](const std::string& text) {
    return std::count(text.begin(), text.end(), '\n') > 20;
  }));
  const auto before = processes();
  const auto networks = networks_of(before);
  EXPECT_EQ(before.size(), 3U);
  EXPECT_EQ(networks.size(), 3U);
  struct stat here {};
  ASSERT_EQ(::stat("/proc/thread-self/ns/net", &here), 0);
  EXPECT_FALSE(networks.contains(here.st_ino));
  running->signal(SIGKILL);
  running->wait(Seconds(20));
  for (const auto id : before) EXPECT_TRUE(test::wait_for_end(id));
  EXPECT_EQ(cupel({"check", "history.jsonl"}).code, 0);
  EXPECT_EQ(servers().size(), 1U);
  EXPECT_EQ(cupel({"lab", "list"}).code, 0);
  EXPECT_TRUE(servers().empty());
}

// What was recorded before says why.
TEST_F(LabNetworks, KeepTheLogsOfANodeThatDied) {
  auto running = start({"run", "--db", "lab:redis", "--txns", "0", "--time-limit", "2s",
                        "--sessions", "2", "-o", "history.jsonl"});
  ASSERT_TRUE(running.ok());
  ASSERT_TRUE(test::wait_for_file(folder_ / "history.jsonl", [](const std::string& text) {
    return std::count(text.begin(), text.end(), '\n') > 20;
  }));
  for (const auto id : processes()) ::kill(id, SIGKILL);
  const auto output = running->read_all(Seconds(100)).value_or("timeout");
  EXPECT_NE(output.find("logs of the server: history.jsonl.logs"), std::string::npos) << output;
  EXPECT_NE(content(folder_ / "errors").find("node 0 of the test server was dead at the end"),
            std::string::npos);
  EXPECT_NE(content(folder_ / "history.jsonl.logs/redis.log").find("Ready to accept"),
            std::string::npos);
  EXPECT_EQ(cupel({"run", "--db", "lab:redis", "--txns", "5", "-o", "other.jsonl"}).code, 0);
  EXPECT_FALSE(fs::exists(folder_ / "other.jsonl.logs"));
}

// The programs are copied: the user may not look into the folder where they were built.
TEST_F(LabNetworks, NeedNoRoot) {
  constexpr uid_t kNobody = 65534;
  std::optional<base::Credentials> user;
  if (::geteuid() == 0) user = base::Credentials{kNobody, kNobody};
  const auto built = fs::path(program_).parent_path();
  for (const char* name : {"cupel", "cupel-run", "libcupel-driver-redis.so"})
    fs::copy_file(built / name, folder_ / name);
  program_ = folder_ / "cupel";
  const auto ran = cupel({"run", "--db", "lab:redis", "--txns", "0", "--json", "--faults",
                          "delay,loss", "--time-limit", "2s", "--fault-every", "300ms",
                          "--fault-for", "300ms", "-o", "history.jsonl"},
                         user);
  if (ran.errors.find("make no network namespaces") != std::string::npos) {
    GTEST_SKIP() << ran.errors;
  }
  EXPECT_EQ(ran.code, 0) << ran.errors;
  EXPECT_NE(ran.output.find("\"failed_faults\":0"), std::string::npos) << ran.output;
  EXPECT_EQ(ran.output.find("\"faults\":0"), std::string::npos) << ran.output;
}

// One of 64 KB would block a slow link for long.
TEST_F(LabNetworks, HaveNoLargePackets) {
  const auto network = Network::make(1);
  ASSERT_TRUE(network.ok()) << network.error().to_string();
  for (const auto& file : {std::string(), network->file(0)}) {
    auto shown = base::Process::start({.arguments = {"ip", "-d", "link", "show", "type", "veth"},
                                       .output = base::Stream::pipe(),
                                       .network = file});
    ASSERT_TRUE(shown.ok());
    const auto text = shown->read_all(Seconds(20)).value_or("");
    EXPECT_NE(text.find("gso_max_segs 1 "), std::string::npos) << text;
  }
}

// It would run in another network if ours cannot be opened.
TEST_F(LabNetworks, AreNotMistakenWhenNoFileCanBeOpened) {
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &before), 0);
  const rlimit none{.rlim_cur = 3, .rlim_max = before.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &none), 0);
  const auto child = base::Process::start({.arguments = {"true"}});
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &before), 0);
  ASSERT_FALSE(child.ok());
  EXPECT_NE(child.error().message.find("which network"), std::string::npos);
}

TEST_F(LabNetworks, AreThoseOfTheThreadThatStartsAChild) {
  const auto read = [](const std::optional<std::string>& file) {
    auto child = base::Process::start({.arguments = {"readlink", "/proc/self/ns/net"},
                                       .output = base::Stream::pipe(),
                                       .network = file.value_or("")});
    EXPECT_TRUE(child.ok());
    return child->read_all(Seconds(20)).value_or("");
  };
  const auto other = Namespace::make();
  ASSERT_TRUE(other.ok());
  const auto here = read({}), named = read(other->file());
  EXPECT_EQ(here, fs::read_symlink("/proc/thread-self/ns/net").string() + "\n");
  EXPECT_NE(here, named);
  std::string there;
  EXPECT_TRUE(other
                  ->run([&]() -> base::Status {
                    there = read({});
                    return base::Ok{};
                  })
                  .ok());
  EXPECT_EQ(there, named);
}

}  // namespace
}  // namespace cupel::lab
