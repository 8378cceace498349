// Children: what they are given, what comes back, and that none remains.
#include "base/process.hpp"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <thread>

#include "support/polling.hpp"
#include "support/process_event.hpp"
#include "support/scratch_folder.hpp"

namespace cupel::base {
namespace {

using namespace std::chrono_literals;
using Kind = Line::Kind;

constexpr Seconds kPatience{20};  // far more than anything here takes

ProcessOptions shell(const std::string& script) {
  return {.arguments = {"sh", "-c", script}, .input = Stream::pipe(), .output = Stream::pipe()};
}

// What a script prints.
std::string output_of(ProcessOptions options) {
  options.output = Stream::pipe();
  auto process = Process::start(options);
  if (!process.ok()) return "error: " + process.error().to_string();
  return process->read_all(kPatience).value_or("timeout");
}

TEST(Process, TalksInLines) {
  auto cat =
      Process::start({.arguments = {"cat"}, .input = Stream::pipe(), .output = Stream::pipe()});
  ASSERT_TRUE(cat.ok());
  for (const std::string text : {"hello", "", "zwölf"}) {
    ASSERT_TRUE(cat->write_line(text, kPatience).ok());
    const auto line = cat->read_line(kPatience);
    EXPECT_EQ(line.kind, Kind::kLine);
    EXPECT_EQ(line.text, text);
  }
  cat->close_input();
  EXPECT_EQ(cat->read_line(kPatience).kind, Kind::kEnd);
  const auto status = cat->wait(kPatience);
  ASSERT_TRUE(status);
  EXPECT_TRUE(status->well());
}

TEST(Process, LinesLongerThanAPipe) {
  auto cat =
      Process::start({.arguments = {"cat"}, .input = Stream::pipe(), .output = Stream::pipe()});
  ASSERT_TRUE(cat.ok());
  const std::string text(1 << 20, 'x');
  std::thread writer([&] { EXPECT_TRUE(cat->write_line(text, kPatience).ok()); });
  // Reading and writing are of different streams; the writer is joined before more.
  const auto line = cat->read_line(kPatience);
  writer.join();
  EXPECT_EQ(line.kind, Kind::kLine);
  EXPECT_EQ(line.text, text);
}

TEST(Process, ATimeoutKeepsWhatCame) {
  auto process = Process::start(shell("printf abc; read go; echo def; printf end"));
  ASSERT_TRUE(process.ok());
  const auto before = std::chrono::steady_clock::now();
  EXPECT_EQ(process->read_line(300ms).kind, Kind::kTimeout);
  EXPECT_GE(std::chrono::steady_clock::now() - before, 300ms);
  ASSERT_TRUE(process->write_line("go", kPatience).ok());
  const auto line = process->read_line(kPatience);
  EXPECT_EQ(line.kind, Kind::kLine);
  EXPECT_EQ(line.text, "abcdef");
  const auto rest = process->read_line(kPatience);
  EXPECT_EQ(rest.kind, Kind::kEnd);
  EXPECT_EQ(rest.text, "end");
}

TEST(Process, WritingToADeadChildIsAnError) {
  auto process = Process::start(shell("exit 3"));
  ASSERT_TRUE(process.ok());
  EXPECT_EQ(process->wait(kPatience)->to_string(), "exited with 3");
  const auto written = process->write_line("anyone?", kPatience);  // and no SIGPIPE
  ASSERT_FALSE(written.ok());
  EXPECT_EQ(written.error().message, "cannot write to it: Broken pipe");
}

TEST(Process, WritingToAChildThatDoesNotReadTimesOut) {
  auto process = Process::start(shell("sleep 100"));
  ASSERT_TRUE(process.ok());
  const auto written = process->write_line(std::string(1 << 20, 'x'), 200ms);
  ASSERT_FALSE(written.ok());
  EXPECT_EQ(written.error().message, "it did not read its input in time");
}

TEST(Process, ReportsWhyItDidNotStart) {
  const auto missing = Process::start({.arguments = {"no-such-program-of-cupel"}});
  ASSERT_FALSE(missing.ok());
  EXPECT_EQ(missing.error().message,
            "cannot start no-such-program-of-cupel: No such file or directory");
  const auto not_runnable = Process::start({.arguments = {"/etc/passwd"}});
  ASSERT_FALSE(not_runnable.ok());
  EXPECT_EQ(not_runnable.error().message, "cannot start /etc/passwd: Permission denied");
  const auto nowhere = Process::start({.arguments = {"true"}, .directory = "/no/such/folder"});
  ASSERT_FALSE(nowhere.ok());
  EXPECT_EQ(nowhere.error().message,
            "cannot enter /no/such/folder to start true: No such file or directory");
  const auto no_file =
      Process::start({.arguments = {"true"}, .output = Stream::file("/no/such/file")});
  ASSERT_FALSE(no_file.ok());
  EXPECT_EQ(no_file.error().to_string(), "/no/such/file: No such file or directory");
}

TEST(Process, EnvironmentDirectoryAndFiles) {
  EXPECT_EQ(output_of({.arguments = {"sh", "-c", "echo $CUPEL_A-$HOME; pwd"},
                       .environment = {{"CUPEL_A", "b c"}, {"HOME", "/elsewhere"}},
                       .directory = "/"}),
            "b c-/elsewhere\n/\n");
  const test::ScratchFolder folder;
  const auto in = folder.file("in", "from a file\n"), out = folder.path("out");
  for (int i = 0; i < 2; ++i) {  // the second appends
    auto process = Process::start({.arguments = {"sh", "-c", "cat; echo error >&2"},
                                   .input = Stream::file(in),
                                   .output = Stream::file(out),
                                   .errors = Stream::output()});
    ASSERT_TRUE(process.ok());
    ASSERT_TRUE(process->wait(kPatience));
  }
  std::ostringstream text;
  text << std::ifstream(out).rdbuf();
  EXPECT_EQ(text.str(), "from a file\nerror\nfrom a file\nerror\n");
}

TEST(Process, InheritsNoFileAndNoIgnoredSignal) {
  // Open on purpose without close-on-exec, as a careless library does.
  std::FILE* careless = std::tmpfile();
  const int copy = ::dup(::fileno(careless));
  const auto before = std::signal(SIGPIPE, SIG_IGN);
  // ls itself has one file open, the folder that it lists.
  const std::string output =
      output_of({.arguments = {"sh", "-c", "ls /proc/self/fd; grep SigIgn /proc/self/status"}});
  const std::string before_mask = "0\n1\n2\n3\nSigIgn:\t";
  ASSERT_EQ(output.substr(0, before_mask.size()), before_mask);
  // Signals 32 and 33 are the C library's own, which no program can set: they are as
  // whoever started this test left them.
  constexpr std::uint64_t kReserved = std::uint64_t{3} << 31;
  EXPECT_EQ(std::stoull(output.substr(before_mask.size()), nullptr, 16) & ~kReserved, 0U) << output;
  std::signal(SIGPIPE, before);
  ::close(copy);
  std::fclose(careless);
}

TEST(Process, StopsPolitelyThenNot) {
  auto polite = Process::start(shell("trap 'exit 7' TERM; echo up; while :; do sleep 0.01; done"));
  ASSERT_TRUE(polite.ok());
  ASSERT_EQ(polite->read_line(kPatience).text, "up");
  EXPECT_EQ(polite->stop(kPatience).code, 7);
  auto stubborn = Process::start(shell("trap '' TERM; echo up; while :; do sleep 0.01; done"));
  ASSERT_TRUE(stubborn.ok());
  ASSERT_EQ(stubborn->read_line(kPatience).text, "up");
  EXPECT_TRUE(stubborn->running());
  const auto status = stubborn->stop(200ms);
  EXPECT_EQ(status.to_string(), "was ended by signal 9 (Killed)");
  EXPECT_FALSE(stubborn->running());
}

TEST(Process, TheDestructorTakesTheGroup) {
  pid_t child = 0, grandchild = 0;
  {
    auto process = Process::start(shell("sleep 1000 & echo $!; wait"));
    ASSERT_TRUE(process.ok());
    child = process->id();
    grandchild = std::stoi(process->read_line(kPatience).text);
    EXPECT_TRUE(process_start(child));
    EXPECT_TRUE(process_start(grandchild));
  }
  EXPECT_TRUE(test::wait_for_end(child));
  EXPECT_TRUE(test::wait_for_end(grandchild));
}

// The child ends at once, and what it started would go on.
TEST(Process, StopTakesTheGroup) {
  for (const bool stubborn : {false, true}) {
    const std::string ignores = stubborn ? "trap '' TERM; " : "";
    auto process = Process::start(shell("trap 'exit 7' TERM; (" + ignores +
                                        "sh -c 'echo $PPID'; sleep 1000; sleep 1000) & "
                                        "while :; do sleep 0.01; done"));
    ASSERT_TRUE(process.ok());
    const pid_t id = std::stoi(process->read_line(kPatience).text);
    ASSERT_TRUE(process_start(id));
    EXPECT_EQ(process->stop(stubborn ? Seconds(0.3) : kPatience).code, 7);
    EXPECT_TRUE(test::wait_for_end(id)) << stubborn;
  }
}

// What the others do when they get the signal to end is waited for.
TEST(Process, StopLetsTheGroupEndWell) {
  auto process = Process::start(
      shell("trap 'exit 0' TERM; "
            "(trap 'sleep 0.2; echo well; exit' TERM; echo up; while :; do sleep 0.01; done) & "
            "while :; do sleep 0.01; done"));
  ASSERT_TRUE(process.ok());
  ASSERT_EQ(process->read_line(kPatience).text, "up");
  EXPECT_TRUE(process->stop(kPatience).well());
  EXPECT_EQ(process->read_line(kPatience).text, "well");
}

// As a program that was started by one that ignores SIGCHLD.
TEST(Process, AStatusThatTheKernelDropsIsUnknownAndNotZero) {
  std::signal(SIGCHLD, SIG_IGN);
  for (const char* script : {"exit 3", "exit 0", "kill -9 $$"}) {
    auto process = Process::start(shell(script));
    ASSERT_TRUE(process.ok());
    const auto status = process->wait(kPatience);
    ASSERT_TRUE(status);
    EXPECT_FALSE(status->known) << script;
    EXPECT_FALSE(status->well()) << script;
    EXPECT_NE(status->to_string().find("exit status is lost"), std::string::npos);
  }
  keep_child_statuses();
  auto process = Process::start(shell("exit 3"));
  ASSERT_TRUE(process.ok());
  const auto status = process->wait(kPatience);
  ASSERT_TRUE(status);
  EXPECT_TRUE(status->known);
  EXPECT_EQ(status->to_string(), "exited with 3");
}

TEST(Process, SaysThatAShellDidNotFindTheCommand) {
  const auto ended = [](const char* script) {
    auto process =
        Process::start({.arguments = {"sh", "-c", script}, .errors = Stream::file("/dev/null")});
    EXPECT_TRUE(process.ok());
    return process->wait(kPatience)->to_string();
  };
  EXPECT_EQ(ended("no-such-program-of-cupel"), "exited with 127 (command not found)");
  EXPECT_EQ(ended("/etc/passwd"), "exited with 126 (command cannot be executed)");
}

// Waits until this process has no such thread: then what its end sends was sent.
bool thread_gone(pid_t thread) {
  // join() returns earlier, and before Linux 6.9 there is no descriptor of a thread.
  const auto path = "/proc/self/task/" + std::to_string(thread);
  return test::poll_until([&] { return !std::filesystem::exists(path); });
}

TEST(Process, OutlivesTheThreadThatStartedIt) {
  std::optional<Process> process;
  pid_t thread = 0;
  std::thread([&] {
    thread = ::gettid();
    auto started = Process::start(shell("read go; echo here"));
    ASSERT_TRUE(started.ok());
    process = std::move(*started);
  }).join();
  ASSERT_TRUE(thread_gone(thread));
  ASSERT_TRUE(process->write_line("go", kPatience).ok());
  EXPECT_EQ(process->read_line(kPatience).text, "here");
}

// Waits until the process is stopped. False if it ends instead. It is no child of this one,
// so waitid() does not report it.
bool stopped(pid_t id) {
  char state = 0;
  const bool changed = test::poll_until([&] {
    std::ifstream in("/proc/" + std::to_string(id) + "/stat");
    std::string line;
    std::getline(in, line);
    const auto at = line.find_first_not_of(' ', line.rfind(')') + 1);  // ID (NAME) STATE …
    state = line.empty() || at >= line.size() ? 'X' : line[at];
    return state == 'X' || state == 'Z' || state == 'T';
  });
  return changed && state == 'T';
}

constexpr const char* kHelperPipe = "CUPEL_PROCESS_TEST_PIPE";
constexpr const char* kHelperDetached = "CUPEL_PROCESS_TEST_DETACHED";

// This binary with these variables set is another program: it starts a child,
// writes the child's id to the pipe, and waits to be killed.
const bool kHelper = [] {
  const char* pipe = std::getenv(kHelperPipe);
  if (pipe == nullptr) return false;
  auto process = Process::start({.arguments = {"sleep", "1000"},
                                 .detached = std::string(std::getenv(kHelperDetached)) == "1"});
  const pid_t id = process.ok() ? process->id() : 0;
  if (::write(std::atoi(pipe), &id, sizeof id) != sizeof id) std::_Exit(1);
  for (;;) ::pause();
}();

// Starts that program and kills it: is its child gone then?
bool dies_with_us(bool detached) {
  EXPECT_FALSE(kHelper);
  int ends[2];
  EXPECT_EQ(::pipe(ends), 0);
  const pid_t program = ::fork();
  if (program == 0) {
    ::setenv(kHelperPipe, std::to_string(ends[1]).c_str(), 1);
    ::setenv(kHelperDetached, detached ? "1" : "0", 1);
    ::execl("/proc/self/exe", "process_test", nullptr);
    ::_exit(127);
  }
  ::close(ends[1]);
  pid_t child = 0;
  EXPECT_EQ(::read(ends[0], &child, sizeof child), static_cast<ssize_t>(sizeof child));
  ::close(ends[0]);
  EXPECT_TRUE(child > 0 && process_start(child));
  ::kill(program, SIGKILL);
  ::waitpid(program, nullptr, 0);
  if (!detached) return test::wait_for_end(child);
  // One that was sent SIGKILL dies of it before it stops.
  ::kill(child, SIGSTOP);
  const bool lives = stopped(child);
  if (lives) ::kill(child, SIGKILL);
  return !lives;
}

TEST(Process, ChildrenDieWithAKilledProgram) {
  EXPECT_TRUE(dies_with_us(false));
}
TEST(Process, DetachedOnesLiveOn) {
  EXPECT_FALSE(dies_with_us(true));
}

TEST(Process, ManyThreads) {
  std::vector<std::thread> threads;
  for (int t = 0; t < 8; ++t) {
    threads.emplace_back([t] {
      for (int i = 0; i < 10; ++i) {
        const auto text = std::to_string(t * 100 + i);
        EXPECT_EQ(output_of({.arguments = {"echo", text}}), text + "\n");
      }
    });
  }
  for (auto& thread : threads) thread.join();
}

TEST(Process, RunsAsAnotherUser) {
  const Credentials nobody{65534, 65534};
  if (::geteuid() == 0) {
    EXPECT_EQ(output_of({.arguments = {"sh", "-c", "id -u; id -g; id -G"}, .user = nobody}),
              "65534\n65534\n65534\n");
  } else {
    const auto process = Process::start({.arguments = {"true"}, .user = nobody});
    ASSERT_FALSE(process.ok());
    EXPECT_EQ(process.error().message,
              "cannot become user 65534 to start true: Operation not permitted");
  }
}

TEST(ProcessStart, NamesAProcessForGood) {
  const auto ours = process_start(::getpid());
  ASSERT_TRUE(ours);
  EXPECT_EQ(process_start(::getpid()), ours);
  EXPECT_FALSE(process_start(0));
  auto process = Process::start(shell("read end"));
  ASSERT_TRUE(process.ok());
  EXPECT_GE(process_start(process->id()), ours);
  process->close_input();
  // Dead and not yet waited for: a zombie.
  ASSERT_TRUE(test::wait_for_end(process->id()));
  EXPECT_FALSE(process_start(process->id()));
  EXPECT_TRUE(process->wait(kPatience));
}

TEST(SignalProcess, GoesToThatProcessOnly) {
  auto process = Process::start({.arguments = {"sleep", "1000"}});
  ASSERT_TRUE(process.ok());
  const auto start = process_start(process->id());
  ASSERT_TRUE(start);
  EXPECT_FALSE(signal_process(process->id(), *start + 1, SIGKILL));
  EXPECT_TRUE(process->running());
  EXPECT_TRUE(signal_process(process->id(), *start, SIGKILL));
  EXPECT_EQ(process->wait(kPatience)->signal, SIGKILL);
  EXPECT_FALSE(signal_process(process->id(), *start, SIGKILL));
}

}  // namespace
}  // namespace cupel::base
