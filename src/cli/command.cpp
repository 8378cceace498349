// The frame around the commands: parsing, output, errors, exit codes.
#include "cli/command.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <memory>
#include <new>

namespace cupel::cli {

namespace {

int write_failure = 0;  // errno of the first write that failed

// Options described in lines that fit a terminal.
class WrappingFormatter : public CLI::Formatter {
 public:
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

void complain(std::string_view message) {
  flush_output();
  fmt::print(stderr, "cupel: {}\n", message);
}
void complain(const base::Error& error) {
  complain(error.to_string());
}

bool use_colour() {
  const char* no_colour = std::getenv("NO_COLOR");
  const char* terminal = std::getenv("TERM");
  return isatty(STDOUT_FILENO) != 0 && (no_colour == nullptr || *no_colour == '\0') &&
         terminal != nullptr && std::strcmp(terminal, "dumb") != 0;
}

void add_format_option(CLI::App& command, std::string& format) {
  command
      .add_option("-f,--format", format,
                  "Format of the histories: jepsen, plume, awdit, dbcop, cobra, viper, cupel or "
                  "knossos. Default: recognised by content")
      ->type_name("FORMAT");
}

std::optional<formats::Format> format_of(const std::string& name, const char* option) {
  if (name.empty()) return std::nullopt;
  const auto format = formats::parse_format(name);
  if (!format) {
    throw CLI::ValidationError(
        option, fmt::format("found `{}`, expected jepsen, plume, awdit, dbcop, cobra, "
                            "viper, cupel or knossos",
                            name));
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
                                                  bool edn) {
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
    return base::Error{
        .message =
            "the name does not say which format to write; say it with -t, or end the name in "
            ".jsonl, .edn, .bincode, .plume, .awdit or .cupel",
        .file = path};
  }
  return formats::WriteOptions{.format = target->format, .edn = target->edn};
}

int run(int argc, char** argv) {
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
  add_stats(app, chosen);
  add_convert(app, chosen);
  add_generate(app, chosen);
  add_lab(app, chosen);
  add_explain(app, chosen);

  try {
    try {
      app.parse(argc, argv);
    } catch (const CLI::ParseError& error) {
      if (error.get_exit_code() == 0) {  // help or version
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
    complain(fmt::format("{} (see {} --help)", error.what(), command));
  } catch (const std::bad_alloc&) {
    complain("out of memory; --memory-limit makes check give up earlier, with the verdict unknown");
  } catch (const std::exception& error) {
    complain(fmt::format("internal error: {}", error.what()));
  }
  return kBad;
}

}  // namespace cupel::cli
