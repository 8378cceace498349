// The frame around the commands: parsing, output, errors, exit codes.
#include "apps/command.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cassert>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <new>
#include <optional>
#include <system_error>
#include <utility>
#include <vector>

#include "apps/options.hpp"
#include "apps/programs.hpp"
#include "apps/spelling.hpp"
#include "apps/terminal.hpp"
#include "apps/version.hpp"
#include "base/budget.hpp"
#include "base/no_thread.hpp"
#include "base/text/escape.hpp"
#include "base/visible.hpp"
#include "base/watched_threads.hpp"
#include "data/formats/decompress.hpp"
#include "report/fitted.hpp"

#ifndef CUPEL_CORE
#include "base/process.hpp"
#include "base/text/password.hpp"
#endif

namespace cupel::apps {

namespace {

int write_failure = 0;  // errno of the first write that failed

// Of the command that is run: how much it says beside its result.
struct Talk {
  bool quiet = false, verbose = false;
} talk;

// Arguments with a password in them, and what messages show instead.
std::vector<std::pair<std::string, std::string>>& guarded() {
  static std::vector<std::pair<std::string, std::string>> all;
  return all;
}

// How wide the terminal is; none: the stream is no terminal, or one too narrow to break lines for.
std::optional<std::size_t> columns_of(int stream) {
  winsize size{};
  constexpr unsigned kNarrowest = 40;
  if (isatty(stream) == 0 || ioctl(stream, TIOCGWINSZ, &size) != 0 || size.ws_col < kNarrowest)
    return std::nullopt;
  return size.ws_col;
}

// Long lines are broken at the width of a terminal. Scripts read whole lines.
std::string fitted_to(int stream, std::string_view text) {
  const auto columns = columns_of(stream);
  return columns ? report::fitted(text, *columns) : std::string(text);
}

// The text up to so many characters.
std::string_view first_columns(std::string_view text, std::size_t columns) {
  std::size_t end = 0;
  for (; end < text.size(); ++end) {
    const bool begins = (static_cast<unsigned char>(text[end]) & 0xc0) != 0x80;
    if (begins && columns-- == 0) break;
  }
  return text.substr(0, end);
}

void write_to_stderr(std::string_view text) {
  static_cast<void>(std::fwrite(text.data(), 1, text.size(), stderr));
  static_cast<void>(std::fflush(stderr));
}

const Processes* all_processes = nullptr;

double seconds_of(const timeval& time) {
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
}

// What the command cost.
std::string cost_text(double seconds) {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return fmt::format(
      "cupel: {:.3f} s, {:.3f} s of user and {:.3f} s of system time, at most {:.1f} "
      "MB resident\n",
      seconds, seconds_of(usage.ru_utime), seconds_of(usage.ru_stime),
      static_cast<double>(usage.ru_maxrss) / 1024);
}

constexpr const char* kExamples =
    "Exit code: 0 every requested level is satisfied, 1 a level is violated, 2 a level is\n"
    "unknown, 3 bad input, usage or environment; the largest over all files.\n"
    "\n"
    "Examples:\n"
    "  cupel check history.jsonl                    checks every level and explains the "
    "violations\n"
    "  cupel check -l serializable a.jsonl b.jsonl  prints FILE, LEVEL, VERDICT for each file\n"
    "  cupel check --json history.jsonl | jq .strongest_satisfied\n"
    "  cupel explain lost-update                    explains what the name means";

// What `cupel` alone prints. The static core has no other programs.
constexpr const char* kStartHere =
    "cupel: expected a command. Start here:\n"
    "  cupel check history.jsonl          which levels does the history satisfy?\n"
#ifndef CUPEL_CORE
    "  cupel run --db lab:postgres        runs a workload and checks its history\n"
    "  cupel mock test -- ./run-tests.sh  runs tests on the weakest database allowed\n"
#endif
    "  cupel explain lost-update          explains an anomaly, a level or a format\n"
    "  cupel --help                       lists all commands\n";

constexpr std::string_view kColours[] = {"\x1b[1m",  "\x1b[2m",  "\x1b[31m",
                                         "\x1b[32m", "\x1b[33m", "\x1b[0m"};

// Does GitHub's runner read what is written there, and look for its commands?
bool is_read_by_github(int stream) {
  const char* github = std::getenv("GITHUB_ACTIONS");
  struct stat facts = {};
  return github != nullptr && std::strcmp(github, "true") == 0 && fstat(stream, &facts) == 0 &&
         !S_ISREG(facts.st_mode);
}

// The last of two lines of defence: whoever makes a text escapes what comes from outside
// (base/text/escape.hpp), and here nothing passes that commands a terminal or GitHub's runner.
std::string harmless(std::string_view text, int stream) {
  std::string out;
  for (const bool coloured = stream == STDOUT_FILENO && use_colour();;) {
    const auto escape = coloured ? text.find('\x1b') : std::string_view::npos;
    out += base::visible(text.substr(0, escape), "\n\t");
    if (escape == std::string_view::npos) break;
    text.remove_prefix(escape);
    const auto* ours = std::find_if(std::begin(kColours), std::end(kColours),
                                    [&](const auto& one) { return text.starts_with(one); });
    const bool known = ours != std::end(kColours);
    out += known ? std::string(*ours) : base::visible("\x1b");
    text.remove_prefix(known ? ours->size() : 1);
  }
  return is_read_by_github(stream) ? text::without_commands(out) : out;
}

}  // namespace

void print(std::string_view shown) {
  if (write_failure != 0) return;
  const auto text = harmless(shown, STDOUT_FILENO);
  if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size()) write_failure = errno;
}

std::optional<std::size_t> output_columns() {
  return columns_of(STDOUT_FILENO);
}

void print_text(std::string_view text) {
  print(fitted_to(STDOUT_FILENO, text));
}

void flush_output() {
  if (write_failure == 0 && std::fflush(stdout) != 0) write_failure = errno;
}

bool finish_output() {
  flush_output();
  if (write_failure == 0 || write_failure == EPIPE) return true;
  print_error(fmt::format("cannot write to standard output: {}", std::strerror(write_failure)));
  return false;
}

void print_status(std::string_view text) {
  if (!talk.quiet) write_to_stderr(fitted_to(STDERR_FILENO, harmless(text, STDERR_FILENO)));
}

void print_in_place(std::string_view text) {
  if (talk.quiet) return;
  auto shown = harmless(text, STDERR_FILENO);
  // Only one line can be replaced.
  if (const auto columns = columns_of(STDERR_FILENO)) {
    const bool ends = shown.ends_with('\n');
    const auto line = std::string_view(shown).substr(0, shown.size() - (ends ? 1 : 0));
    shown = std::string(first_columns(line, *columns - 1)) + (ends ? "\n" : "");
  }
  write_to_stderr("\r\x1b[K" + shown);
}

bool verbose() {
  return talk.verbose;
}

void print_detail(std::string_view text) {
  if (!talk.verbose) return;
  flush_output();
  write_to_stderr(fitted_to(STDERR_FILENO, harmless(text, STDERR_FILENO)));
}

std::string unused_name(std::string_view prefix, std::string_view extension) {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  localtime_r(&now, &parts);
  char when[32];
  std::strftime(when, sizeof when, "%Y%m%d-%H%M%S", &parts);
  auto name = fmt::format("{}-{}{}", prefix, when, extension);
  for (int i = 2; std::filesystem::exists(name); ++i)
    name = fmt::format("{}-{}-{}{}", prefix, when, i, extension);
  return name;
}

void print_note(std::string_view text) {
  if (!talk.quiet) print_error(fmt::format("note: {}", text));
}

void print_error(std::string_view message) {
  flush_output();
  std::string text(message);
  for (const auto& [argument, shown] : guarded()) {
    for (std::size_t at = 0; (at = text.find(argument, at)) != std::string::npos;) {
      text.replace(at, argument.size(), shown);
      at += shown.size();
    }
  }
  const auto shown = harmless(fmt::format("cupel: {}\n", text), STDERR_FILENO);
  write_to_stderr(fitted_to(STDERR_FILENO, shown));
}
void print_error(const base::Error& error) {
  auto named = error;
  named.file = named.file == "-" ? "standard input" : base::visible(named.file);
#ifndef CUPEL_CORE
  named.file = text::without_password(named.file);  // a URL in place of a file
#endif
  print_error(named.to_string());
}
int bad(const base::Error& error) {
  print_error(error);
  return kBad;
}

bool use_colour() {
  const char* no_colour = std::getenv("NO_COLOR");
  const char* terminal = std::getenv("TERM");
  return isatty(STDOUT_FILENO) != 0 && (no_colour == nullptr || *no_colour == '\0') &&
         terminal != nullptr && std::strcmp(terminal, "dumb") != 0;
}

base::Result<std::string> decompressed(base::Result<std::string> read, const std::string& file) {
  if (!read.ok() || !formats::is_compressed(*read)) return read;
  auto content = formats::decompress(*read, nullptr);
  if (content.ok()) return content;
  auto error = content.error();
  error.file = file;
  return error;
}

void add_format_option(Command& command, std::string& format) {
  command
      .add_option("-f,--format", format,
                  fmt::format("Format of the histories: {}. Default: recognised by content",
                              one_of(format_names())))
      ->type_name("FORMAT");
}

void add_target_options(Command& command, std::string& format, bool& edn, const char* file) {
  command
      .add_option("-t,--to", format,
                  fmt::format("Format to write: {}. Default: by the extension of {} ({})",
                              formats::format_names(/*written_only=*/true), file,
                              fmt::join(formats::written_extensions(), ", ")))
      ->type_name("FORMAT");
  command.add_flag("--edn", edn, "Write jepsen as EDN instead of JSON lines");
}

std::optional<formats::Format> format_of(const std::string& name, const char* option) {
  if (name.empty()) return std::nullopt;
  const auto format = formats::parse_format(name);
  if (!format) {
    const auto names = format_names();
    throw UsageError(option, fmt::format("found `{}`, expected {}{}", name, one_of(names),
                                         did_you_mean(name, names)));
  }
  return format;
}

std::optional<Target> target_of(const std::string& path) {
  const auto extension = std::filesystem::path(path).extension().string();
  if (const auto options = formats::options_of_extension(extension)) {
    return Target{options->format, options->edn};
  }
  const auto format = formats::parse_format(extension.empty() ? extension : extension.substr(1));
  if (format) return Target{*format, false};
  return std::nullopt;
}

base::Result<formats::WriteOptions> write_options(const std::string& path, const std::string& name,
                                                  bool edn, std::string_view option) {
  if (const auto format = format_of(name, "--to")) {
    if (edn && *format != formats::Format::kJepsen) {
      return base::Error{
          .message = fmt::format("--edn is a way to write jepsen, and {} was asked for", name)};
    }
    return formats::WriteOptions{.format = *format, .edn = edn};
  }
  if (edn) return formats::WriteOptions{.format = formats::Format::kJepsen, .edn = true};
  const auto target = target_of(path);
  if (!target) {
    const auto endings = one_of(formats::written_extensions());
    if (path == "-") {
      return base::Error{.message = fmt::format(
                             "standard output has no name that says which format to write; {}",
                             option.empty() ? fmt::format("name a file that ends in {}", endings)
                                            : fmt::format("say it with {}", option))};
    }
    return base::Error{
        .message =
            fmt::format("the name does not say which format to write; {}end it in {}",
                        option.empty() ? "" : fmt::format("say it with {}, or ", option), endings),
        .file = path};
  }
  return formats::WriteOptions{.format = target->format, .edn = target->edn};
}

int write_history(const history::History& history, const std::string& path,
                  const formats::WriteOptions& options) {
  const auto written = formats::write(history, path, options);
  if (!written.ok()) {
    print_error(written.error());
    return kBad;
  }
  const auto lost = formats::lost_facts(history, options.format);
  if (!lost.empty()) {
    print_note(fmt::format("{} cannot hold these, so they are omitted: {}",
                           formats::name(options.format), fmt::join(lost, ", ")));
  }
  return kSatisfied;
}

namespace {

// As people try them: `help`, `help COMMAND`, `version`.
std::vector<std::string> arguments_of(int argc, char** argv) {
  std::vector<std::string> all(argv + std::min(argc, 1), argv + argc);
  if (!all.empty() && all.front() == "help") {
    all.erase(all.begin());
    all.emplace_back("--help");
  } else if (all.size() == 1 && all.front() == "version") {
    all.front() = "--version";
  }
  return all;
}

// A standard stream that came closed is taken, so that no file is opened in its place and
// written what was meant for it. Reading the input and writing the output still fail.
void take_closed_streams() {
  for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (fcntl(stream, F_GETFD) != -1 || errno != EBADF) continue;
    // The lowest number that is free: this one.
    static_cast<void>(open("/dev/null", stream == STDOUT_FILENO ? O_RDONLY : O_WRONLY));
  }
}

// For messages that repeat an argument, or the value of an option.
void guard(const std::string& argument, const std::string& shown) {
  if (shown.empty()) return;
  guarded().emplace_back(argument, shown);
  const auto equals = argument.find('=');
  if (!argument.starts_with("--") || equals != shown.find('=') || equals + 1 >= shown.size())
    return;
  guarded().emplace_back(argument.substr(equals + 1), shown.substr(equals + 1));
}

// The list of processes shows everybody the arguments of a command: the passwords among them are
// written over as soon as they are read.
void hide_passwords([[maybe_unused]] int argc, [[maybe_unused]] char** argv) {
#ifndef CUPEL_CORE
  bool is_password = false;  // the next argument
  for (int i = 1; i < argc; ++i) {
    const std::string argument = argv[i];
    constexpr std::string_view kOption = "--password=";
    auto shown = text::without_password(argument);
    if (argument.starts_with(kOption)) shown = kOption;
    if (is_password) shown.clear();
    is_password = argument == "--password";
    if (shown == argument) continue;
    guard(argument, shown);
    const auto first = std::mismatch(argument.begin(), argument.end(), shown.begin(), shown.end());
    const auto last = std::mismatch(argument.rbegin(), std::make_reverse_iterator(first.first),
                                    shown.rbegin(), std::make_reverse_iterator(first.second));
    std::fill(argv[i] + (first.first - argument.begin()),
              argv[i] + (last.first.base() - argument.begin()), '*');
  }
#endif
}

#ifdef CUPEL_CORE
constexpr bool kHasOtherPrograms = false;
#else
constexpr bool kHasOtherPrograms = true;

// The program of the command that is asked for, or whose help is, if it is another one.
std::optional<Program> program_asked(const std::vector<std::string>& arguments,
                                     std::span<const NamedCommand> own) {
  if (arguments.empty()) return std::nullopt;
  return program_elsewhere(arguments.front(), own);
}
#endif

CommandLine::Texts texts() {
  return {
      .name = "cupel",
      .description =
          "Decides which isolation levels a recorded database history satisfies, "
          "and shows why others are violated.",
      .version = fmt::format("cupel {} (commit {}, build {})", version(), commit(), build_type()),
      .footer = kExamples};
}

// `chosen`: what the command that is asked for leaves to be run. `first`: the first argument; if it
// names a command, the others are left out, since their hundreds of options take longer than a
// small check. Of commands that are not `own` only the summary is known.
void add_commands(Command& app, Run& chosen, std::span<const NamedCommand> own,
                  std::string_view first) {
  const auto add = [&](std::string_view name) {
    const auto found = std::find_if(own.begin(), own.end(),
                                    [&](const NamedCommand& one) { return one.name == name; });
    if (found != own.end()) {
      found->add(app, chosen);
    } else if (kHasOtherPrograms) {
      add_command(app, name);
    }
  };
  const bool named = std::any_of(own.begin(), own.end(),
                                 [&](const NamedCommand& one) { return one.name == first; });
  for (const auto& spec : kCommandSpecs) {
    if (first != "--version" && (!named || spec.name == first)) add(spec.name);
  }
  app.add_flag_below(
      {"-q", "--quiet"}, talk.quiet,
      "Print no notes, progress and tables on standard error: only warnings and errors");
  app.add_flag_below({"--verbose"}, talk.verbose,
                     "Print more: how each level was decided; on standard error, the time of each "
                     "stage and the memory used");
}

// Without an allocation.
void say_out_of_memory() {
  write_to_stderr(
      "cupel: out of memory: three quarters of the machine's, or what the system allows; with "
      "--memory-limit, check stops earlier and the verdict is unknown\n");
}

// In a thread that hands no exception back. What was written of a history stays.
void end_without_memory() {
  say_out_of_memory();
  _exit(kBad);
}

int parse_and_run(const std::vector<std::string>& arguments, std::span<const NamedCommand> own) {
  CommandLine line(texts());
  Run chosen;
  add_commands(line.root(), chosen, own, arguments.empty() ? "" : arguments.front());
  try {
    if (const auto shown = line.parse(arguments)) {
      print(*shown);
      return finish_output() ? kSatisfied : kBad;
    }
    // Several processes share a check; of any other command one is enough.
    const bool helper = all_processes != nullptr && all_processes->is_helper();
    if (helper && line.asked_command() != "cupel check") return kSatisfied;
    const auto begin = std::chrono::steady_clock::now();
    // What has no limit of its own has this one; commands that do take it in their turn.
    base::Budget limited(std::nullopt, default_memory_limit());
    const base::AllocationWatch watch(&limited);
    // Static, since a thread may outlive the command.
    static base::Budget of_other_threads(std::nullopt, default_memory_limit());
    base::watch_other_threads(&of_other_threads, end_without_memory);
    const int code = chosen();
    print_detail(
        cost_text(std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count()));
    return finish_output() ? code : kBad;
  } catch (const UsageError& error) {
    print_error(fmt::format("{} (see {} --help)", error.what(), line.asked_command()));
    return kBad;
  }
}

}  // namespace

const Processes* processes() {
  return all_processes;
}

Command* add_command(Command& app, std::string_view name) {
  const auto* const spec = std::find_if(kCommandSpecs.begin(), kCommandSpecs.end(),
                                        [&](const auto& one) { return one.name == name; });
  assert(spec != kCommandSpecs.end() && "a command of cupel");
  return app.add_subcommand(std::string(spec->name), std::string(spec->summary));
}

int run(int argc, char** argv, std::span<const NamedCommand> own, const Processes* processes) {
  all_processes = processes;
  take_closed_streams();
  std::signal(SIGPIPE, SIG_IGN);  // a write to a closed pipe is an error that print() sees
#ifndef CUPEL_CORE
  base::keep_child_statuses();
#endif
  try {
    const auto arguments = arguments_of(argc, argv);
    if (arguments.empty()) {
      write_to_stderr(kStartHere);
      return kBad;
    }
#ifndef CUPEL_CORE
    if (const auto program = program_asked(arguments, own)) {
      const bool helper = processes != nullptr && processes->is_helper();
      return helper ? kSatisfied : bad(become(*program, argv));
    }
#endif
    hide_passwords(argc, argv);  // the sooner the better
    return parse_and_run(arguments, own);
  } catch (const std::bad_alloc&) {
    flush_output();
    say_out_of_memory();
  } catch (const std::system_error& error) {
    if (error.code() == std::errc::resource_unavailable_try_again) {
      print_error(base::no_thread("this command", error));
    } else {
      print_error(fmt::format("internal error: {}", error.what()));
    }
  } catch (const std::exception& error) {
    print_error(fmt::format("internal error: {}", error.what()));
  }
  return kBad;
}

std::vector<CommandPage> command_pages(std::span<const NamedCommand> own) {
  CommandLine line(texts());
  Run chosen;
  add_commands(line.root(), chosen, own, "");
  return line.pages();
}

}  // namespace cupel::apps
