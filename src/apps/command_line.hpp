// CommandLine: commands and their options, as small an interface as the tool needs.
//
// Only command_line.cpp includes CLI11: its header costs each file that includes it about two
// seconds to compile.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace cupel::apps {

// A mistake in the command line. A command's callback throws it, or the command while it runs; the
// user sees it with a hint at --help.
class UsageError : public std::runtime_error {
 public:
  explicit UsageError(const std::string& message) : std::runtime_error(message) {}
  UsageError(const std::string& option, const std::string& message)
      : std::runtime_error(option + ": " + message) {}
};

// What is wrong with the text of a value: "found `x`, expected …"; empty: nothing.
using Check = std::function<std::string(const std::string& text)>;

// An option or a positional argument. Its functions return it, to chain.
class Option {
 public:
  explicit Option(CLI::Option& inner) : inner_(inner) {}
  Option(const Option&) = delete;
  Option& operator=(const Option&) = delete;

  Option* type_name(const std::string& name);  // of the value, in the help; empty: none
  Option* group(const std::string& heading);   // where it is in the help
  Option* hidden();                            // not in the help
  Option* required();
  Option* check(Check check);
  Option* delimiter(char between);  // of several values in one text
  Option* allow_extra_args(bool allowed);
  Option* capture_default_str();  // the help shows the value that the variable has now
  Option* default_str(const std::string& text);
  Option* needs(Option* other);
  Option* excludes(Option* other);

  [[nodiscard]] std::string name() const;
  [[nodiscard]] std::size_t count() const;  // how often it was given
  [[nodiscard]] bool empty() const { return count() == 0; }

 private:
  friend class Command;
  CLI::Option& inner_;
};

class Command {
 public:
  explicit Command(CLI::App& inner) : inner_(inner) {}
  Command(const Command&) = delete;
  Command& operator=(const Command&) = delete;

  // `names`: "-l,--level", or a word in capitals for a positional argument. `value` is borrowed
  // until the command line is parsed. For the types of the explicit instantiations in the .cpp.
  template <typename T>
  Option* add_option(const std::string& names, T& value, const std::string& description);
  // "--colour,!--no-colour": the second sets it to false.
  Option* add_flag(const std::string& names, bool& value, const std::string& description);
  // To all commands below this one that have none of these names.
  void add_flag_below(const std::vector<std::string>& names, bool& value,
                      const std::string& description);
  Command* add_subcommand(const std::string& name, const std::string& description);
  void require_subcommand(std::size_t least, std::size_t most);
  void require_subcommand(std::size_t number) { require_subcommand(number, number); }

  Command* footer(const std::string& text);  // below the help
  // Called when the command line names this command and has no mistake that can be seen before.
  Command* callback(std::function<void()> call);

  // By one of its names; it exists.
  [[nodiscard]] Option* get_option(const std::string& name);
  [[nodiscard]] std::vector<Option*> get_options();  // in the order in which they were added
  [[nodiscard]] std::size_t count(const std::string& name) { return get_option(name)->count(); }
  [[nodiscard]] bool got_subcommand(const std::string& name) const;

 private:
  Option* keep(CLI::Option* inner);

  CLI::App& inner_;
  std::vector<std::unique_ptr<Option>> options_;
  std::vector<std::unique_ptr<Command>> subcommands_;
};

// A command as its help has it, for manual pages and the completion of shells.
struct CommandPage {
  struct Item {
    std::vector<std::string> names = {};  // {"-l", "--level"}; of an argument: {"HISTORY"}
    std::string value = {};               // what it takes: "LEVEL"; empty: nothing, or unnamed
    bool takes_value = false;
    bool several = false;  // values
    bool required = false;
    std::string description = {};  // with the default, and the options that it needs and excludes
    std::string group = {};        // the heading it stands under: "Options"
  };
  struct Subcommand {
    std::string name, description;
  };
  std::vector<std::string> path;  // {"cupel", "mock", "test"}
  std::string description = {}, footer = {};
  std::vector<Item> arguments = {}, options = {};  // in the order of the help, without hidden ones
  std::vector<Subcommand> commands = {};
  bool needs_command = false;
};

class CommandLine {
 public:
  struct Texts {
    std::string name, description, version, footer;
  };
  explicit CommandLine(const Texts& texts);
  ~CommandLine();
  CommandLine(const CommandLine&) = delete;
  CommandLine& operator=(const CommandLine&) = delete;

  Command& root() { return *root_; }
  // The help or the version, if that is asked for; it is to be printed. Throws UsageError.
  std::optional<std::string> parse(const std::vector<std::string>& arguments);
  // "cupel mock test": what was asked for, as far as it is known.
  [[nodiscard]] std::string asked_command() const;
  // All commands, each before those below it.
  [[nodiscard]] std::vector<CommandPage> pages() const;

 private:
  std::unique_ptr<CLI::App> app_;
  std::unique_ptr<Command> root_;
};

// The parts between the separators: always one more than separators.
std::vector<std::string> split(const std::string& text, char between);

// The number that the text is, if it is nothing else.
std::optional<double> number_of(const std::string& text);

// Values of options. A whole number, at least `least` and at most `most`.
Check whole_number(std::uint64_t least, std::uint64_t most);
Check share();                       // a number from 0 to 1
Check not_negative();                // a number, 0 or more
Check positive(std::uint64_t most);  // a number above 0
// As from "$FILE" where FILE is not set. `expected`: "the file to write".
Check not_empty(const char* expected);
// The same of what is written and can only be a file or a folder: "-" is no name for it.
Check not_standard_output(const char* expected);
Check one_of_names(std::vector<std::string> names);

}  // namespace cupel::apps
