// Processes: fork and exec, errors in the child are reported through a pipe.
//
// All forks are done by one thread that never ends. PR_SET_PDEATHSIG, by which a
// child dies with us, fires when the *thread* that forked ends, and a session's
// thread may well end before the server or client that it started.
#include "base/process.hpp"

#include <fcntl.h>
#include <grp.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <condition_variable>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <filesystem>
#include <functional>
#include <mutex>
#include <system_error>
#include <thread>

#include "base/descriptor.hpp"
#include "base/read_file.hpp"
#include "base/sigpipe.hpp"

extern char** environ;  // NOLINT: POSIX has it so

namespace cupel::base {

namespace {

using Clock = std::chrono::steady_clock;

Clock::time_point deadline_in(Seconds timeout) {
  constexpr Seconds kForever{1e9};
  return Clock::now() + std::chrono::duration_cast<Clock::duration>(std::min(timeout, kForever));
}
// For poll(): rounded up, so that a wait of less than 1 ms is not a busy loop.
int milliseconds_until(Clock::time_point deadline) {
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now()).count();
  return static_cast<int>(std::clamp<std::int64_t>(left, 0, 1'000'000));
}

// Above the standard streams, which the child overwrites one after the other.
Descriptor above_standard(Descriptor descriptor) {
  if (!descriptor || descriptor.get() > STDERR_FILENO) return descriptor;
  return Descriptor(::fcntl(descriptor.get(), F_DUPFD_CLOEXEC, STDERR_FILENO + 1));
}

struct Pipe {
  Descriptor read, write;
};
std::optional<Pipe> make_pipe() {
  std::array<int, 2> ends{};
  // Close-on-exec from the first instant: another thread may fork at any time.
  if (::syscall(SYS_pipe2, ends.data(), O_CLOEXEC) != 0) return std::nullopt;
  Pipe pipe{Descriptor(ends[0]), Descriptor(ends[1])};
  pipe.read = above_standard(std::move(pipe.read));
  pipe.write = above_standard(std::move(pipe.write));
  if (!pipe.read || !pipe.write) return std::nullopt;
  return pipe;
}

void never_block(const Descriptor& descriptor) {
  ::fcntl(descriptor.get(), F_SETFL, ::fcntl(descriptor.get(), F_GETFL) | O_NONBLOCK);
}

// A file, or what swallows all.
Descriptor open_file(const Stream& stream, bool input) {
  const bool file = stream.kind == Stream::Kind::kFile;
  // What a link leads to may be another's, who does not know of it.
  const int flags =
      (input ? O_RDONLY : O_WRONLY | O_CREAT | O_APPEND) | O_CLOEXEC | (file ? O_NOFOLLOW : 0);
  return above_standard(Descriptor(::open(file ? stream.path.c_str() : "/dev/null", flags, 0666)));
}

// The network namespace of this thread; none if the kernel does not say.
Descriptor own_network() {
  return above_standard(Descriptor(::open("/proc/thread-self/ns/net", O_RDONLY | O_CLOEXEC)));
}
std::optional<ino_t> network_of(const Descriptor& network) {
  struct stat facts {};
  if (!network || ::fstat(network.get(), &facts) != 0) return std::nullopt;
  return facts.st_ino;
}

// The thread that forks; see above. Never destroyed: it outlives static objects.
class Launcher {
 public:
  static Launcher& get() {
    static Launcher& launcher = *new Launcher;
    return launcher;
  }
  // The thread's, and so a child's unless it is told otherwise.
  [[nodiscard]] std::optional<ino_t> network() const { return network_; }
  void run(const std::function<void()>& task) {
    std::unique_lock lock(mutex_);
    bool done = false;
    tasks_.emplace_back([&] {
      task();
      done = true;
    });
    wake_.notify_one();
    finished_.wait(lock, [&] { return done; });
  }

 private:
  Launcher() {
    // No signal handler of the program's is to run on this thread.
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    try {
      std::thread([this] { serve(); }).detach();
    } catch (...) {
      pthread_sigmask(SIG_SETMASK, &before, nullptr);
      throw;
    }
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
  }
  void serve() {
    std::unique_lock lock(mutex_);
    for (;;) {
      wake_.wait(lock, [&] { return !tasks_.empty(); });
      tasks_.front()();
      tasks_.pop_front();
      finished_.notify_all();
    }
  }
  std::mutex mutex_;
  const std::optional<ino_t> network_ = network_of(own_network());
  std::condition_variable wake_, finished_;
  std::deque<std::function<void()>> tasks_;
};

// What the child needs, made before the fork: after it, only calls that are safe
// in a signal handler, since other threads' locks may be held.
struct Plan {
  std::vector<std::string> candidates;  // the program's path, in the order of PATH
  std::vector<char*> arguments, environment;
  const char* directory = nullptr;
  std::array<int, 3> streams{-1, -1, -1};  // -1: inherited
  const char* network = nullptr;
  std::optional<Credentials> user;
  bool detached = false;
  pid_t parent = 0;
};

enum class Step : int { kStreams, kNetwork, kUser, kDirectory, kProgram };
struct Trouble {
  Step step;
  int error;
};

[[noreturn]] void child(const Plan& plan, int report) {
  const auto fail = [&](Step step) {
    const Trouble trouble{step, errno};
    [[maybe_unused]] const auto written = ::write(report, &trouble, sizeof trouble);
    ::_exit(127);
  };
  if (plan.detached) {
    ::setsid();
  } else {
    ::setpgid(0, 0);
  }
  for (int number = 1; number < NSIG; ++number) {
    struct sigaction standard {};
    standard.sa_handler = SIG_DFL;
    ::sigaction(number, &standard, nullptr);  // fails for SIGKILL and the library's own: no matter
  }
  for (int i = 0; i < 3; ++i) {
    const int from = plan.streams[static_cast<std::size_t>(i)];
    if (from >= 0 && ::dup2(from, i) < 0) fail(Step::kStreams);
  }
#ifdef SYS_close_range
  constexpr unsigned kCloseOnExec = 1U << 2;  // of <linux/close_range.h>
  ::syscall(SYS_close_range, STDERR_FILENO + 1U, ~0U, kCloseOnExec);
#endif
  if (plan.network != nullptr) {
    const int network = ::open(plan.network, O_RDONLY | O_CLOEXEC);
    if (network < 0 || ::setns(network, CLONE_NEWNET) != 0) fail(Step::kNetwork);
  }
  if (plan.user) {
    if (::setgroups(0, nullptr) != 0 || ::setgid(plan.user->group) != 0 ||
        ::setuid(plan.user->user) != 0) {
      fail(Step::kUser);
    }
  }
  if (!plan.detached) {
    // After setuid(), which clears it. The parent may be gone already.
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (::getppid() != plan.parent) ::_exit(127);
  }
  if (plan.directory != nullptr && ::chdir(plan.directory) != 0) fail(Step::kDirectory);
  sigset_t none;
  sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  int error = ENOENT;
  for (const auto& candidate : plan.candidates) {
    ::execve(candidate.c_str(), plan.arguments.data(), plan.environment.data());
    if (errno != ENOENT && errno != ENOTDIR) error = errno;  // EACCES says more than "not there"
  }
  errno = error;
  fail(Step::kProgram);
  ::_exit(127);
}

std::vector<std::string> candidates_for(const std::string& program) {
  if (program.find('/') != std::string::npos) return {program};
  const char* path = std::getenv("PATH");
  const std::string folders = path != nullptr ? path : "/usr/local/bin:/usr/bin:/bin";
  std::vector<std::string> candidates;
  for (std::size_t start = 0; start <= folders.size();) {
    const auto end = std::min(folders.find(':', start), folders.size());
    const auto folder = folders.substr(start, end - start);
    auto candidate = (folder.empty() ? "." : folder) + "/" + program;
    // A folder that we may not look into says "not allowed", not "not there".
    if (::access(candidate.c_str(), F_OK) == 0) candidates.push_back(std::move(candidate));
    start = end + 1;
  }
  return candidates;
}

std::vector<std::string> environment_with(
    const std::vector<std::pair<std::string, std::string>>& additions) {
  std::vector<std::string> all;
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    const std::string_view text = *entry;
    const auto name = text.substr(0, text.find('='));
    const bool replaced = std::any_of(additions.begin(), additions.end(),
                                      [&](const auto& addition) { return addition.first == name; });
    if (!replaced) all.emplace_back(text);
  }
  for (const auto& [name, value] : additions) all.push_back(name + "=" + value);
  return all;
}

std::vector<char*> pointers_to(std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  for (auto& text : texts) pointers.push_back(text.data());
  pointers.push_back(nullptr);
  return pointers;
}

Error system_error(const std::string& what, int number) {
  return Error{.message = what + ": " + std::strerror(number)};
}

// The child's id; -1, and `error`, if the system grants no process, or no thread to the launcher.
pid_t fork_child(const Plan& plan, int report, int& error) {
  pid_t id = -1;
  try {
    Launcher::get().run([&] {
      id = ::fork();
      if (id == 0) child(plan, report);
      error = errno;
    });
  } catch (const std::system_error& refused) {
    error = refused.code().value();
  }
  return id;
}

}  // namespace

std::string ExitStatus::to_string() const {
  if (!known) {
    return "ended, and its exit status is lost: SIGCHLD is ignored, or something else waited for "
           "it";
  }
  const char* const why = not_found()        ? " (command not found)"
                          : not_executable() ? " (command cannot be executed)"
                                             : "";
  if (signal == 0) return "exited with " + std::to_string(code) + why;
  return "was ended by signal " + std::to_string(signal) + " (" + ::strsignal(signal) + ")";
}

struct Process::State {
  pid_t id = 0;
  bool detached = false;
  std::optional<ExitStatus> status;
  Descriptor input, output;
  std::string pending;       // read and not yet given out
  std::size_t searched = 0;  // of pending: no line feed before this
  bool ended = false;        // the output

  // Waits until the output has bytes or ends; false: the deadline has passed.
  bool more(Clock::time_point deadline) {
    for (;;) {
      pollfd poll{output.get(), POLLIN, 0};
      const int ready = ::poll(&poll, 1, milliseconds_until(deadline));
      if (ready < 0 && errno == EINTR) continue;
      if (ready <= 0) return false;
      std::array<char, 65536> buffer;
      const auto count = ::read(output.get(), buffer.data(), buffer.size());
      if (count < 0 && (errno == EINTR || errno == EAGAIN)) continue;
      if (count <= 0) {
        ended = true;
      } else {
        pending.append(buffer.data(), static_cast<std::size_t>(count));
      }
      return true;
    }
  }
};

Process::Process(std::unique_ptr<State> state) : state_(std::move(state)) {}
Process::Process(Process&&) noexcept = default;

Process& Process::operator=(Process&& other) noexcept {
  std::swap(state_, other.state_);
  return *this;
}

Process::~Process() {
  if (state_ == nullptr || state_->detached || state_->status) return;
  // The group may hold children of the child; the child itself is not waited for
  // yet, so its id cannot be another's.
  signal_group(SIGKILL);
  wait(Seconds(1e9));
}

void Process::prepare() {
  Launcher::get();
}

Result<Process> Process::start(const ProcessOptions& options) {
  assert(!options.arguments.empty());
  const auto& program = options.arguments.front();
  const auto failed = [&](int number) { return system_error("cannot start " + program, number); };

  auto state = std::make_unique<State>();
  state->detached = options.detached;
  Plan plan;
  plan.candidates = candidates_for(program);
  auto arguments = options.arguments;
  plan.arguments = pointers_to(arguments);
  auto environment = environment_with(options.environment);
  plan.environment = pointers_to(environment);
  plan.directory = options.directory.empty() ? nullptr : options.directory.c_str();
  plan.user = options.user;
  const auto here = own_network();
  // Or the child would be in the network that we were in at first.
  if (!here && (errno != ENOENT || Launcher::get().network())) {
    return system_error("cannot see which network to start " + program + " in", errno);
  }
  const bool elsewhere = network_of(here) != Launcher::get().network();
  auto network = options.network;
  if (network.empty() && here && elsewhere) network = "/proc/self/fd/" + std::to_string(here.get());
  plan.network = network.empty() ? nullptr : network.c_str();
  plan.detached = options.detached;
  plan.parent = ::getpid();

  std::array<Descriptor, 3> ends;  // the child's
  const std::array<const Stream*, 3> streams{&options.input, &options.output, &options.errors};
  for (std::size_t i = 0; i < streams.size(); ++i) {
    const bool input = i == 0;
    switch (streams[i]->kind) {
      case Stream::Kind::kInherited:
        continue;
      case Stream::Kind::kOutput:
        assert(i == 2);
        plan.streams[2] = plan.streams[1] >= 0 ? plan.streams[1] : STDOUT_FILENO;
        continue;
      case Stream::Kind::kNone:
      case Stream::Kind::kFile:
        ends[i] = open_file(*streams[i], input);
        if (!ends[i]) return Error{.message = std::strerror(errno), .file = streams[i]->path};
        break;
      case Stream::Kind::kPipe: {
        assert(i != 2);  // nobody would read it, and the child would block
        auto pipe = make_pipe();
        if (!pipe) return failed(errno);
        ends[i] = std::move(input ? pipe->read : pipe->write);
        auto& ours = input ? state->input : state->output;
        ours = std::move(input ? pipe->write : pipe->read);
        never_block(ours);
        break;
      }
    }
    plan.streams[i] = ends[i].get();
  }

  auto report = make_pipe();
  if (!report) return failed(errno);
  int fork_error = 0;
  const pid_t id = fork_child(plan, report->write.get(), fork_error);
  if (id < 0) return failed(fork_error);
  state->id = id;
  // Also here, so that signal_group() is right whichever of us runs first.
  if (!options.detached) ::setpgid(id, id);
  report->write.reset();
  Trouble trouble{};
  ssize_t count = 0;
  while ((count = ::read(report->read.get(), &trouble, sizeof trouble)) < 0 && errno == EINTR) {
  }
  Process process(std::move(state));
  if (count == static_cast<ssize_t>(sizeof trouble)) {
    process.wait(Seconds(1e9));
    switch (trouble.step) {
      case Step::kStreams:
        break;
      case Step::kNetwork:
        return system_error("cannot enter the network " + network + " to start " + program,
                            trouble.error);
      case Step::kUser:
        return system_error(
            "cannot become user " + std::to_string(options.user->user) + " to start " + program,
            trouble.error);
      case Step::kDirectory:
        return system_error("cannot enter " + options.directory + " to start " + program,
                            trouble.error);
      case Step::kProgram:
        break;
    }
    return failed(trouble.error);
  }
  return process;
}

pid_t Process::id() const {
  return state_->id;
}

Line Process::read_line(Seconds timeout) {
  assert(state_->output);
  const auto deadline = deadline_in(timeout);
  auto& state = *state_;
  for (;;) {
    const auto feed = state.pending.find('\n', state.searched);
    if (feed != std::string::npos) {
      Line line{Line::Kind::kLine, state.pending.substr(0, feed)};
      state.pending.erase(0, feed + 1);
      state.searched = 0;
      return line;
    }
    state.searched = state.pending.size();
    if (state.ended) {
      state.searched = 0;
      return {Line::Kind::kEnd, std::exchange(state.pending, {})};
    }
    if (state.pending.size() > kLongestLine) return {Line::Kind::kTooLong, {}};
    if (!state.more(deadline)) return {Line::Kind::kTimeout, {}};
  }
}

std::optional<std::string> Process::read_all(Seconds timeout) {
  assert(state_->output);
  const auto deadline = deadline_in(timeout);
  while (!state_->ended) {
    if (!state_->more(deadline)) return std::nullopt;
  }
  state_->searched = 0;
  return std::exchange(state_->pending, {});
}

Status Process::write_line(std::string_view text, Seconds timeout) {
  if (!state_->input) return Error{.message = "its input is closed"};
  const auto deadline = deadline_in(timeout);
  const std::string line = std::string(text) + '\n';
  const WithoutSigpipe guard;
  for (std::size_t written = 0; written < line.size();) {
    const auto count = ::write(state_->input.get(), line.data() + written, line.size() - written);
    if (count >= 0) {
      written += static_cast<std::size_t>(count);
    } else if (errno == EAGAIN) {
      pollfd poll{state_->input.get(), POLLOUT, 0};
      const int ready = ::poll(&poll, 1, milliseconds_until(deadline));
      if (ready == 0 && Clock::now() >= deadline) {
        return Error{.message = "it did not read its input in time"};
      }
    } else if (errno != EINTR) {
      return system_error("cannot write to it", errno);
    }
  }
  return Ok{};
}

void Process::close_input() {
  state_->input.reset();
}

bool Process::running() {
  return !wait(Seconds(0));
}

std::optional<ExitStatus> Process::wait(Seconds timeout) {
  if (state_->status) return state_->status;
  const auto deadline = deadline_in(timeout);
  // No call waits for one child with a timeout on every kernel, so: asking again,
  // at first often, since most children that are waited for end soon.
  for (auto pause = std::chrono::microseconds(200);;
       pause = std::min(pause * 2, std::chrono::microseconds(20'000))) {
    int status = 0;
    const auto found = ::waitpid(state_->id, &status, WNOHANG);
    if (found == state_->id) {
      if (WIFSIGNALED(status)) {
        state_->status = ExitStatus{.signal = WTERMSIG(status)};
      } else {
        state_->status = ExitStatus{.code = WEXITSTATUS(status)};
      }
      return state_->status;
    }
    if (found < 0 && errno == ECHILD) {
      state_->status = ExitStatus{.known = false};
      return state_->status;
    }
    const auto now = Clock::now();
    if (now >= deadline) return std::nullopt;
    std::this_thread::sleep_for(std::min<Clock::duration>(pause, deadline - now));
  }
}

void Process::signal(int number) {
  if (!state_->status) ::kill(state_->id, number);
}
void Process::signal_group(int number) {
  if (!state_->status) ::kill(-state_->id, number);
}

namespace {

// Of a process that is no zombie, from the third of proc(5) on; else none.
std::vector<std::string> fields_of(pid_t id) {
  const auto read = read_file("/proc/" + std::to_string(id) + "/stat");
  const std::string text = read.ok() ? *read : std::string();
  // "PID (NAME) STATE …", where NAME may hold anything, brackets too.
  const auto name_end = text.rfind(')');
  if (name_end == std::string::npos) return {};
  std::vector<std::string> fields;
  for (std::size_t start = name_end + 2; start < text.size();) {
    const auto end = std::min(text.find(' ', start), text.size());
    fields.push_back(text.substr(start, end - start));
    start = end + 1;
  }
  if (fields.empty() || fields[0] == "Z" || fields[0] == "X") return {};
  return fields;
}

// The group's first, our child, or another of it; these are not seen where there is no /proc.
bool lives_any_of(pid_t group) {
  siginfo_t ended{};
  if (::waitid(P_PID, static_cast<id_t>(group), &ended, WEXITED | WNOHANG | WNOWAIT) == 0 &&
      ended.si_pid == 0) {
    return true;
  }
  constexpr std::size_t kGroup = 5 - 3;
  std::error_code error;
  for (std::filesystem::directory_iterator at("/proc", error), end; !error && at != end;
       at.increment(error)) {
    const auto name = at->path().filename().string();
    if (name.find_first_not_of("0123456789") != std::string::npos) continue;
    const auto fields = fields_of(static_cast<pid_t>(std::strtol(name.c_str(), nullptr, 10)));
    if (fields.size() > kGroup && fields[kGroup] == std::to_string(group)) return true;
  }
  return false;
}

}  // namespace

ExitStatus Process::stop(Seconds grace) {
  if (state_->status) return *state_->status;
  signal_group(SIGTERM);
  // Not waited for before the end: a zombie keeps the id, and with it the group's, from others.
  const auto deadline = deadline_in(grace);
  for (auto pause = std::chrono::milliseconds(1);
       lives_any_of(state_->id) && Clock::now() < deadline;
       pause = std::min(pause * 2, std::chrono::milliseconds(20))) {
    std::this_thread::sleep_for(std::min<Clock::duration>(pause, deadline - Clock::now()));
  }
  signal_group(SIGKILL);
  return *wait(Seconds(1e9));
}

void keep_child_statuses() {
  struct sigaction standard {};
  standard.sa_handler = SIG_DFL;  // and no SA_NOCLDWAIT
  ::sigaction(SIGCHLD, &standard, nullptr);
}

std::optional<std::uint64_t> process_start(pid_t id) {
  constexpr std::size_t kStartTime = 22 - 3;
  const auto fields = fields_of(id);
  if (fields.size() <= kStartTime) return std::nullopt;
  return std::strtoull(fields[kStartTime].c_str(), nullptr, 10);
}

bool signal_process(pid_t id, std::uint64_t start, int number) {
#if defined(SYS_pidfd_open) && defined(SYS_pidfd_send_signal)
  // The descriptor holds on to the process, so its id cannot become another's
  // between the look at its start and the signal.
  const Descriptor process(static_cast<int>(::syscall(SYS_pidfd_open, id, 0)));
  if (process) {
    return process_start(id) == start &&
           ::syscall(SYS_pidfd_send_signal, process.get(), number, nullptr, 0) == 0;
  }
  if (errno != ENOSYS) return false;
#endif
  return process_start(id) == start && ::kill(id, number) == 0;
}

}  // namespace cupel::base
