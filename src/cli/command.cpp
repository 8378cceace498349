// The frame around the commands: parsing, output, errors, exit codes.
#include "cli/command.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <limits>
#include <memory>
#include <new>

#include "cli/spelling.hpp"

namespace cupel::cli {

namespace {

int write_failure = 0;  // errno of the first write that failed

// Options described in lines that fit a terminal.
class WrappingFormatter : public CLI::Formatter {
 public:
  std::string make_help(const CLI::App* app, std::string name,
                        CLI::AppFormatMode mode) const override {
    auto text = CLI::Formatter::make_help(app, std::move(name), mode);
    for (std::size_t at; (at = text.find("\n\n\n")) != std::string::npos;) text.erase(at, 1);
    return text;
  }
  std::string make_option_desc(const CLI::Option* option) const override {
    constexpr std::size_t kWidth = 64;
    std::string wrapped, line;
    for (const auto& word : CLI::detail::split(option->get_description(), ' ')) {
      if (!line.empty() && line.size() + 1 + word.size() > kWidth) {
        wrapped += line + "\n";
        line.clear();
      }
      line += (line.empty() ? "" : " ") + word;
    }
    return wrapped + line;
  }
};

constexpr const char* kExamples =
    "Exit code: 0 every level asked for is satisfied, 1 some level is violated, 2 some level is\n"
    "unknown, 3 bad input, usage or environment; the largest over all files.\n"
    "\n"
    "Examples:\n"
    "  cupel check history.jsonl                    every level, strongest satisfied, and why not "
    "more\n"
    "  cupel check -l serializable a.jsonl b.jsonl  one line a file: FILE, LEVEL, VERDICT\n"
    "  cupel check --json history.jsonl | jq .strongest_satisfied\n"
    "  cupel explain lost-update                    what a word means";

}  // namespace

void print(std::string_view text) {
  if (write_failure != 0) return;
  if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size()) write_failure = errno;
}

void flush_output() {
  if (write_failure == 0 && std::fflush(stdout) != 0) write_failure = errno;
}

bool finish_output() {
  flush_output();
  if (write_failure == 0 || write_failure == EPIPE) return true;
  complain(fmt::format("cannot write to standard output: {}", std::strerror(write_failure)));
  return false;
}

void mention(std::string_view text) {
  static_cast<void>(std::fwrite(text.data(), 1, text.size(), stderr));
  static_cast<void>(std::fflush(stderr));
}

void complain(std::string_view message) {
  flush_output();
  mention(fmt::format("cupel: {}\n", message));
}
void complain(const base::Error& error) {
  auto named = error;
  if (named.file == "-") named.file = "standard input";
  complain(named.to_string());
}
int bad(const base::Error& error) {
  complain(error);
  return kBad;
}

bool use_colour() {
  const char* no_colour = std::getenv("NO_COLOR");
  const char* terminal = std::getenv("TERM");
  return isatty(STDOUT_FILENO) != 0 && (no_colour == nullptr || *no_colour == '\0') &&
         terminal != nullptr && std::strcmp(terminal, "dumb") != 0;
}

CLI::Validator whole_number(std::uint64_t least, std::uint64_t most) {
  const auto check = [least, most](const std::string& text) {
    std::uint64_t number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    const bool well = error == std::errc() && end == text.data() + text.size();
    if (well && number >= least && number <= most) return std::string();
    return fmt::format("found `{}`, expected a whole number from {} to {}", text, least, most);
  };
  return {check, ""};
}

namespace {

CLI::Validator number_between(double least, double most, const char* expected) {
  const auto check = [=](const std::string& text) {
    double number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    const bool well = error == std::errc() && end == text.data() + text.size();
    if (well && number >= least && number <= most) return std::string();
    return fmt::format("found `{}`, expected {}", text, expected);
  };
  return {check, ""};
}

}  // namespace

CLI::Validator share() {
  return number_between(0, 1, "a number from 0 to 1");
}

CLI::Validator not_negative() {
  return number_between(0, std::numeric_limits<double>::max(), "a number, 0 or more");
}

void add_format_option(CLI::App& command, std::string& format) {
  command
      .add_option("-f,--format", format,
                  fmt::format("Format of the histories: {}. Default: recognised by content",
                              one_of(format_names())))
      ->type_name("FORMAT");
}

void add_target_options(CLI::App& command, std::string& format, bool& edn, const char* file) {
  std::vector<std::string> written;
  for (const auto f : formats::all_formats()) {
    if (formats::is_written(f)) written.emplace_back(formats::name(f));
  }
  command
      .add_option("-t,--to", format,
                  fmt::format("Format to write: {}. Default: by the extension of {} (.jsonl, "
                              ".edn, .bincode, .plume, .awdit, .cupel)",
                              one_of(written), file))
      ->type_name("FORMAT");
  command.add_flag("--edn", edn, "Write jepsen as EDN instead of JSON lines");
}

std::optional<formats::Format> format_of(const std::string& name, const char* option) {
  if (name.empty()) return std::nullopt;
  const auto format = formats::parse_format(name);
  if (!format) {
    const auto names = format_names();
    throw CLI::ValidationError(option, fmt::format("found `{}`, expected {}{}", name, one_of(names),
                                                   did_you_mean(name, names)));
  }
  return format;
}

std::optional<Target> target_of(const std::string& path) {
  const auto extension = std::filesystem::path(path).extension().string();
  if (extension == ".json" || extension == ".jsonl") return Target{formats::Format::kJepsen, false};
  if (extension == ".edn") return Target{formats::Format::kJepsen, true};
  if (extension == ".bincode") return Target{formats::Format::kDbcop, false};
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
    constexpr const char* kEndings = ".jsonl, .edn, .bincode, .plume, .awdit or .cupel";
    if (path == "-") {
      return base::Error{.message = fmt::format(
                             "standard output has no name that says which format to write; {}",
                             option.empty() ? fmt::format("name a file that ends in {}", kEndings)
                                            : fmt::format("say it with {}", option))};
    }
    return base::Error{
        .message =
            fmt::format("the name does not say which format to write; {}end it in {}",
                        option.empty() ? "" : fmt::format("say it with {}, or ", option), kEndings),
        .file = path};
  }
  return formats::WriteOptions{.format = target->format, .edn = target->edn};
}

int write_history(const history::History& history, const std::string& path,
                  const formats::WriteOptions& options) {
  const auto written = formats::write(history, path, options);
  if (!written.ok()) {
    complain(written.error());
    return kBad;
  }
  const auto lost = formats::left_out(history, options.format);
  if (!lost.empty()) {
    complain(fmt::format("note: {} has no place for these, left out: {}",
                         formats::name(options.format), fmt::join(lost, ", ")));
  }
  return kSatisfied;
}

namespace {

// CLI11's errors of an option's number of values and their kind, which it tells in its own notions.
std::string in_own_words(const CLI::App& asked, const CLI::ParseError& error) {
  const bool number = dynamic_cast<const CLI::ArgumentMismatch*>(&error) != nullptr;
  const bool kind = dynamic_cast<const CLI::ConversionError*>(&error) != nullptr;
  const std::string text = error.what();
  if (!number && !kind) return text;
  for (const auto* option : asked.get_options()) {
    const auto name = option->get_name();
    if (!text.starts_with(name + ": ") && text.find(": " + name + " = ") == text.npos) continue;
    const auto what = option->get_type_name().empty() ? "a value" : option->get_type_name();
    if (option->count() > 1 && option->get_expected_max() == 1) {
      return fmt::format("found {} {} times, expected it once; leave out all but one", name,
                         option->count());
    }
    if (number) return fmt::format("{}: expected {} behind it", name, what);
    return fmt::format("{}: found `{}`, expected {}", name, fmt::join(option->results(), ","),
                       what);
  }
  return text;
}

bool has_option(const CLI::App& app, const std::string& name) {
  const auto options = app.get_options();
  return std::any_of(options.begin(), options.end(), [&](const CLI::Option* option) {
    return name.starts_with("--") && option->check_lname(name.substr(2));
  });
}

// An option of `mock` that stands behind `mock test`: CLI11 gives it to the former.
std::optional<std::string> option_of_other(const CLI::App& app,
                                           const std::vector<std::string>& arguments) {
  const CLI::App* asked = &app;
  auto at = arguments.begin();
  while (!asked->get_subcommands().empty()) {
    asked = asked->get_subcommands().front();
    at = std::find(at, arguments.end(), asked->get_name());
    if (at != arguments.end()) ++at;
  }
  const auto* parent = asked->get_parent();
  if (parent == nullptr) return std::nullopt;
  for (; at != arguments.end() && *at != "--"; ++at) {
    const auto name = at->substr(0, at->find('='));
    if (!has_option(*parent, name) || has_option(*asked, name)) continue;
    return fmt::format("found `{}`, which is an option of {}, and none of {} {}", name,
                       parent->get_name(), parent->get_name(), asked->get_name());
  }
  return std::nullopt;
}

// What a mistake in the command line is called, where CLI11's own words are about its own notions.
std::string usage_error(const CLI::App& app, const CLI::ParseError& error,
                        const std::vector<std::string>& arguments) {
  const std::string word = arguments.empty() ? "" : arguments.front();
  std::vector<std::string> names;
  const auto chosen = app.get_subcommands();
  if (chosen.empty() && !word.starts_with("-")) {
    for (const auto* command : app.get_subcommands({})) names.push_back(command->get_name());
    if (word.empty()) return "expected a command: " + one_of(names);
    return fmt::format("found the command `{}`, expected {}{}", word, one_of(names),
                       did_you_mean(word, names));
  }
  // A misspelled option comes first: it may be why another is missing.
  auto remaining = app.remaining(true);
  std::erase(remaining, "--");  // what is behind it is somebody else's
  const CLI::App* deepest = &app;
  while (!deepest->get_subcommands().empty()) deepest = deepest->get_subcommands().front();
  const CLI::App& asked = *deepest;
  std::vector<std::string> commands;
  for (const auto* command : asked.get_subcommands({})) commands.push_back(command->get_name());
  if (const auto other = option_of_other(app, arguments)) return *other;
  if (remaining.empty()) {
    const bool none_chosen = dynamic_cast<const CLI::RequiredError*>(&error) != nullptr &&
                             asked.get_require_subcommand_min() > 0;
    if (none_chosen) {
      return fmt::format("expected a command behind {}: {}", asked.get_name(), one_of(commands));
    }
    return in_own_words(asked, error);
  }
  const std::string& extra = remaining.front();
  if (!extra.starts_with("-")) {
    if (commands.empty()) return fmt::format("found `{}`, expected nothing more", extra);
    return fmt::format("found `{}` behind {}, expected {}{}{}", extra, asked.get_name(),
                       one_of(commands),
                       asked.get_require_subcommand_min() > 0 ? "" : ", or nothing more",
                       did_you_mean(extra, commands));
  }
  for (const auto* option : asked.get_options()) {
    for (const auto& name : option->get_lnames()) names.push_back("--" + name);
  }
  const auto name = extra.substr(0, extra.find('='));
  // As in `cupel --json check FILE`.
  if (std::find(names.begin(), names.end(), name) != names.end()) {
    return fmt::format("found `{}` before the command {}; put it behind", name, asked.get_name());
  }
  // `cupel mock test ./run-tests.sh --quick`: whose it is shows only behind --.
  const auto* command = asked.get_option_no_throw("COMMAND");
  const bool of_command = command != nullptr && command->count() > 0 &&
                          std::find(arguments.begin(), arguments.end(), "--") == arguments.end();
  if (of_command) {
    return fmt::format(
        "found `{}`, which is no option of {}; put the command and its options behind "
        "--: -- {} {}",
        name, asked.get_name(), command->results().front(), name);
  }
  return fmt::format("found `{}`, which is no option of {}{}", name, asked.get_name(),
                     did_you_mean(name, names));
}

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
// written what was meant for it. Reading the input, writing the output goes on failing.
void take_closed_streams() {
  for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (fcntl(stream, F_GETFD) != -1 || errno != EBADF) continue;
    // The lowest number that is free: this one.
    static_cast<void>(open("/dev/null", stream == STDOUT_FILENO ? O_RDONLY : O_WRONLY));
  }
}

}  // namespace

int run(int argc, char** argv) {
  take_closed_streams();
  std::signal(SIGPIPE, SIG_IGN);  // a write to a closed pipe is an error that print() sees

  CLI::App app(
      "Decides which isolation levels a recorded database history satisfies, and shows why "
      "others are violated.",
      "cupel");
  app.set_version_flag("--version", std::string("cupel ") + CUPEL_VERSION);
  app.set_help_flag("-h,--help", "Show this help");
  app.require_subcommand(1);
  auto formatter = std::make_shared<WrappingFormatter>();
  formatter->column_width(32);
  app.formatter(formatter);
  app.footer(kExamples);

  Run chosen;
  add_check(app, chosen);
  add_run(app, chosen);
  add_campaign(app, chosen);
  add_verify(app, chosen);
  add_stats(app, chosen);
  add_convert(app, chosen);
  add_generate(app, chosen);
  add_lab(app, chosen);
#ifdef CUPEL_MOCK
  add_mock(app, chosen);
#endif
  add_crdt(app, chosen);
  add_explain(app, chosen);

  const auto arguments = arguments_of(argc, argv);
  try {
    try {
      app.parse(std::vector(arguments.rbegin(), arguments.rend()));  // the last first, CLI11 wants
    } catch (const CLI::ParseError& error) {
      const bool misspelled = app.get_subcommands().empty() && !arguments.empty() &&
                              !arguments.front().starts_with("-");
      if (error.get_exit_code() == 0 && !misspelled) {  // help or version
        app.exit(error);
        return finish_output() ? kSatisfied : kBad;
      }
      throw;
    }
    const int code = chosen();
    return finish_output() ? code : kBad;
  } catch (const CLI::ParseError& error) {
    std::string command = "cupel";
    for (auto chain = app.get_subcommands(); !chain.empty();
         chain = chain.front()->get_subcommands()) {
      command += " " + chain.front()->get_name();
    }
    complain(fmt::format("{} (see {} --help)", usage_error(app, error, arguments), command));
  } catch (const std::bad_alloc&) {
    complain("out of memory; --memory-limit makes check give up earlier, with the verdict unknown");
  } catch (const std::exception& error) {
    complain(fmt::format("internal error: {}", error.what()));
  }
  return kBad;
}

}  // namespace cupel::cli
