// Commands: what they share. Each adds itself to the command line and, when it
// is the one asked for, leaves what is to be run.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <string>
#include <string_view>

#include "formats/formats.hpp"

namespace cupel::cli {

// The exit codes: docs/commands.md.
enum Exit : int { kSatisfied = 0, kViolated = 1, kUnknown = 2, kBad = 3 };

using Run = std::function<int()>;

void add_check(CLI::App& app, Run& run);
void add_verify(CLI::App& app, Run& run);
void add_stats(CLI::App& app, Run& run);
void add_convert(CLI::App& app, Run& run);
void add_run(CLI::App& app, Run& run);
void add_campaign(CLI::App& app, Run& run);
void add_generate(CLI::App& app, Run& run);
void add_lab(CLI::App& app, Run& run);
void add_mock(CLI::App& app, Run& run);
void add_crdt(CLI::App& app, Run& run);
void add_explain(CLI::App& app, Run& run);  // and `levels`

inline constexpr const char* kWhatIsAsked = "Changes what is asked";
inline constexpr const char* kWhatItCosts = "Changes what it costs";

// Writes to standard output. A reader that went away (`| head`) is no error, but
// nothing more is written; other failures are told by finish_output().
void print(std::string_view text);
void flush_output();
// False, with a word on standard error, if the output could not be written.
bool finish_output();

// On standard error; if that cannot be written, nobody is told, and nothing else changes.
void mention(std::string_view text);
// "cupel: " and the error, on standard error. The file "-" is standard input.
void complain(const base::Error& error);
void complain(std::string_view message);
// Complains; the exit code.
int bad(const base::Error& error);

// Is standard output a terminal that may be coloured (NO_COLOR, TERM=dumb)?
bool use_colour();

// Options of numbers: a whole one, at least `least` and at most the type's largest
// (or `most`), a share from 0 to 1, and a number that is not negative. Others are
// refused with what was found.
CLI::Validator whole_number(std::uint64_t least, std::uint64_t most);
CLI::Validator share();
CLI::Validator not_negative();

// Adds -f/--format and -t/--to.
void add_format_option(CLI::App& command, std::string& format);
void add_target_options(CLI::App& command, std::string& format, bool& edn, const char* file);
// Empty: not given, to be detected. CLI::ValidationError if unknown.
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

// The whole command line: parses, runs, returns the exit code.
int run(int argc, char** argv);

}  // namespace cupel::cli
