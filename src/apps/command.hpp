// Commands: what they share. Each adds itself to the command line and, when it
// is the one asked for, leaves what is to be run.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "apps/command_line.hpp"
#include "base/team.hpp"
#include "data/formats/formats.hpp"

namespace cupel::apps {

// The exit codes: docs/reference/commands.md.
enum Exit : int { kSatisfied = 0, kViolated = 1, kUnknown = 2, kBad = 3 };

using Run = std::function<int()>;

// A command and who adds it to the command line.
struct NamedCommand {
  std::string_view name;
  void (*add)(Command& app, Run& chosen);
};

// The commands that each program has: engine_commands.cpp, run_commands.cpp …
std::span<const NamedCommand> engine_commands();
std::span<const NamedCommand> run_commands();
std::span<const NamedCommand> mock_commands();
std::span<const NamedCommand> crdt_commands();

// Adds the command of this name with its summary (programs.hpp).
Command* add_command(Command& app, std::string_view name);

inline constexpr const char* kQuestionOptions = "Options that change the question";
inline constexpr const char* kCostOptions = "Options that change the cost";

// Writes to standard output what commands neither a terminal nor GitHub's runner: other control
// characters than \n, \t and our colours become escapes. A reader that went away (`| head`) is no
// error, but nothing more is written; finish_output() reports other failures.
void print(std::string_view text);
// The same for a text that people read: on a terminal, long lines are broken at its width.
void print_text(std::string_view text);
void flush_output();
// False, with a word on standard error, if the output could not be written.
bool finish_output();

// On standard error; if that cannot be written, nobody hears of it, and nothing else changes. Not
// with --quiet.
void print_status(std::string_view text);
// The same in place of the line that the cursor is in.
void print_in_place(std::string_view text);
// With --verbose only.
bool verbose();
void print_detail(std::string_view text);
// "PREFIX-DATE-TIME" and the extension, in the current folder, with -2, -3 … if that is there.
std::string unused_name(std::string_view prefix, std::string_view extension);
// A remark that is no error: "cupel: note: ". Not with --quiet.
void print_note(std::string_view text);
// "cupel: " and the error, on standard error. The file "-" is standard input.
void print_error(const base::Error& error);
void print_error(std::string_view message);
// Prints the error; the exit code.
int bad(const base::Error& error);

// Is standard output a terminal that may be coloured (NO_COLOR, TERM=dumb)?
bool use_colour();

// The content of a file that gzip, zstd or xz may have compressed. `read`: its bytes.
base::Result<std::string> decompressed(base::Result<std::string> read, const std::string& file);

// Adds -f/--format and -t/--to.
void add_format_option(Command& command, std::string& format);
void add_target_options(Command& command, std::string& format, bool& edn, const char* file);
// Empty: not given, to be detected. UsageError if unknown.
std::optional<formats::Format> format_of(const std::string& name, const char* option);
// The format that the extension of a file speaks of.
struct Target {
  formats::Format format;
  bool edn;
};
std::optional<Target> target_of(const std::string& path);
// Format to write: by `name`, else by the extension of `path`. `option`: where the command takes
// the name, for the message; empty: it does not.
base::Result<formats::WriteOptions> write_options(const std::string& path, const std::string& name,
                                                  bool edn, std::string_view option = "-t");
// Writes the history, and says in one line on standard error what the format has
// no place for. The exit code.
int write_history(const history::History& history, const std::string& path,
                  const formats::WriteOptions& options);

// Several processes that run the same command line and check one history together. `team`: of the
// first process; of another, what it is asked, until there is nothing more, and where it answers.
struct Processes {
  base::Team* team = nullptr;
  base::TeamPart part = {};
  // None: this history is done.
  std::function<std::optional<std::string>()> question = {};
  std::function<void(const std::string&)> answer = {};

  [[nodiscard]] bool is_helper() const { return part.number > 0; }
};

// The whole command line of a program that has the commands `own`: parses, runs, returns the exit
// code. A command of another program replaces this process. `processes`: borrowed.
int run(int argc, char** argv, std::span<const NamedCommand> own,
        const Processes* processes = nullptr);
// Those of run(); none: this process is alone.
const Processes* processes();

// The commands `own`, for manual pages and the completion of shells.
std::vector<CommandPage> command_pages(std::span<const NamedCommand> own);

}  // namespace cupel::apps
