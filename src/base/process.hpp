// Processes: starts a child, talks to it in lines, signals it, waits for it.
//
//   auto cat = Process::start({.arguments = {"cat"}, .input = Stream::pipe(),
//                              .output = Stream::pipe()});
//   cat->write_line("hello", 1s);
//   cat->read_line(1s).text;  // "hello"
//   cat->stop(1s);
//
// A child dies with us, however we die, unless it is detached: the kernel sends it
// SIGKILL (Linux; elsewhere only the destructor does). It has a process group of its
// own, so a Ctrl-C at the terminal does not reach it, inherits no open file besides
// its three streams, and starts with every signal at its default. Only processes
// that we started are ever signalled, by id, and never after they were waited for.
//
// Different children may be used by different threads; one child by one thread at a
// time. Times are seconds on the monotonic clock.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.hpp"

namespace cupel::base {

using Seconds = std::chrono::duration<double>;

// What one of a child's three standard streams is connected to.
struct Stream {
  enum class Kind : std::uint8_t { kNone, kInherited, kPipe, kFile, kOutput };
  Kind kind = Kind::kNone;
  std::string path = {};  // kFile

  static Stream nothing() { return {}; }  // /dev/null
  static Stream inherited() { return {.kind = Kind::kInherited}; }
  static Stream pipe() { return {.kind = Kind::kPipe}; }
  // Read from its start, or appended to; made if it is not there. No symbolic link.
  static Stream file(std::string path) { return {.kind = Kind::kFile, .path = std::move(path)}; }
  // For `errors` only: wherever the output goes.
  static Stream output() { return {.kind = Kind::kOutput}; }
};

struct Credentials {
  uid_t user = 0;
  gid_t group = 0;
};

struct ProcessOptions {
  std::vector<std::string> arguments;  // the program first, looked up in PATH if it has no slash
  std::vector<std::pair<std::string, std::string>> environment = {};  // besides ours
  std::string directory = {};                                         // empty: ours
  Stream input = {}, output = {}, errors = {};
  std::optional<Credentials> user = {};  // to run as; needs root
  // A network namespace to run in, "/proc/123/ns/net"; needs root there. Empty: the thread's that
  // calls start().
  std::string network = {};
  bool detached = false;  // outlives us: a session of its own; nothing is done in the destructor
};

struct ExitStatus {
  int code = 0;    // of exit(), if signal is 0
  int signal = 0;  // that ended it
  // False: the child ended, and the kernel did not keep its status, or another part of this
  // process collected it. Nothing is known of how it ended.
  bool known = true;
  // POSIX, 2.8.2: a shell did not find a command, or could not execute it.
  [[nodiscard]] bool not_found() const { return known && signal == 0 && code == 127; }
  [[nodiscard]] bool not_executable() const { return known && signal == 0 && code == 126; }
  [[nodiscard]] bool not_run() const { return not_found() || not_executable(); }
  [[nodiscard]] bool well() const { return known && code == 0 && signal == 0; }
  // "exited with 3", "was ended by signal 9 (Killed)"; for the codes by which a shell says that it
  // cannot run a command, also their meaning.
  [[nodiscard]] std::string to_string() const;
};

struct Line {
  enum class Kind : std::uint8_t {
    kLine,     // `text` without its line feed
    kEnd,      // the child closed its output; `text` is what came without a line feed
    kTimeout,  // no whole line in time: what came of it stays for the next call
    kTooLong,  // more than kLongestLine bytes: the stream is of no use any more
  };
  Kind kind = Kind::kEnd;
  std::string text = {};
};
inline constexpr std::size_t kLongestLine = std::size_t{64} << 20;

class Process {
 public:
  // Errors: no such program, no such directory, a file that cannot be opened, not
  // allowed to be that user or to enter that network namespace.
  static Result<Process> start(const ProcessOptions& options);

  // The thread that starts all children is started now, and not by the first child: it keeps the
  // namespaces that the caller has at this moment.
  static void prepare();

  Process(Process&&) noexcept;
  Process& operator=(Process&&) noexcept;
  // Kills the group and waits for the child, unless it is detached.
  ~Process();

  [[nodiscard]] pid_t id() const;

  // A line of the output (Stream::pipe()).
  Line read_line(Seconds timeout);
  // All the output until it ends; none on a timeout.
  std::optional<std::string> read_all(Seconds timeout);
  // The text and a line feed to the input (Stream::pipe()). Errors: the child
  // closed its input; a timeout, after which part of the line may be with it.
  Status write_line(std::string_view text, Seconds timeout);
  void close_input();

  // Never blocks.
  bool running();
  // None: it still runs.
  std::optional<ExitStatus> wait(Seconds timeout);
  // To the child alone, or to its whole group. Nothing if it was waited for.
  void signal(int number);
  void signal_group(int number);
  // SIGTERM to the group; once nobody of it is left, or after `grace`, SIGKILL to those that are.
  ExitStatus stop(Seconds grace);

 private:
  struct State;
  explicit Process(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

// Gives SIGCHLD its default action. While it is ignored, which a program inherits from its parent,
// the kernel drops the status of every child. A program calls this at its start.
void keep_child_statuses();

// When a process was started, in the kernel's own count of ticks since boot: with
// the id it names a process for good, which the id alone does not. None: there is
// no such process (any more); a zombie counts as none.
std::optional<std::uint64_t> process_start(pid_t id);

// Sends a signal to the process that process_start() gave `start` for, and to no
// other that has its id now. False: it is gone, or not ours to signal.
bool signal_process(pid_t id, std::uint64_t start, int number);

}  // namespace cupel::base
