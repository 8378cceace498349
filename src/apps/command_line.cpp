// The command line by CLI11: see the header.
#include "apps/command_line.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cassert>
#include <charconv>
#include <cstdint>
#include <limits>
#include <set>
#include <sstream>
#include <string_view>
#include <utility>

#include "apps/spelling.hpp"

namespace cupel::apps {

Option* Option::type_name(const std::string& name) {
  inner_.type_name(name);
  return this;
}
Option* Option::group(const std::string& heading) {
  inner_.group(heading);
  return this;
}
Option* Option::hidden() {
  return group("");
}
Option* Option::required() {
  inner_.required();
  return this;
}
Option* Option::check(Check check) {
  inner_.check(
      CLI::Validator([check = std::move(check)](std::string& text) { return check(text); }, ""));
  return this;
}
Option* Option::delimiter(char between) {
  inner_.delimiter(between);
  return this;
}
Option* Option::allow_extra_args(bool allowed) {
  inner_.allow_extra_args(allowed);
  return this;
}
Option* Option::capture_default_str() {
  inner_.capture_default_str();
  return this;
}
Option* Option::default_str(const std::string& text) {
  inner_.default_str(text);
  return this;
}
Option* Option::needs(Option* other) {
  inner_.needs(&other->inner_);
  return this;
}
Option* Option::excludes(Option* other) {
  inner_.excludes(&other->inner_);
  return this;
}
std::string Option::name() const {
  return inner_.get_name();
}
std::size_t Option::count() const {
  return inner_.count();
}

Option* Command::keep(CLI::Option* inner) {
  return options_.emplace_back(std::make_unique<Option>(*inner)).get();
}

template <typename T>
Option* Command::add_option(const std::string& names, T& value, const std::string& description) {
  return keep(inner_.add_option(names, value, description));
}
Option* Command::add_flag(const std::string& names, bool& value, const std::string& description) {
  return keep(inner_.add_flag(names, value, description));
}

// The types of values that options have.
#define CUPEL_OPTION_OF(...) \
  template Option* Command::add_option(const std::string&, __VA_ARGS__&, const std::string&)
CUPEL_OPTION_OF(std::string);
CUPEL_OPTION_OF(std::uint16_t);
CUPEL_OPTION_OF(std::uint32_t);
CUPEL_OPTION_OF(std::uint64_t);
CUPEL_OPTION_OF(int);
CUPEL_OPTION_OF(double);
CUPEL_OPTION_OF(std::vector<std::string>);
CUPEL_OPTION_OF(std::optional<std::string>);
CUPEL_OPTION_OF(std::optional<std::uint16_t>);
CUPEL_OPTION_OF(std::optional<std::uint32_t>);
CUPEL_OPTION_OF(std::optional<std::uint64_t>);
CUPEL_OPTION_OF(std::optional<double>);
CUPEL_OPTION_OF(std::optional<std::vector<std::size_t>>);
#undef CUPEL_OPTION_OF

void Command::add_flag_below(const std::vector<std::string>& names, bool& value,
                             const std::string& description) {
  for (const auto& command : subcommands_) {
    // Not get_option_no_throw(), which allocates and must not.
    const auto options = command->inner_.get_options();
    const bool taken = std::any_of(names.begin(), names.end(), [&](const auto& name) {
      return std::any_of(options.begin(), options.end(),
                         [&](const CLI::Option* option) { return option->check_name(name); });
    });
    if (!taken) command->add_flag(fmt::format("{}", fmt::join(names, ",")), value, description);
    command->add_flag_below(names, value, description);
  }
}

Command* Command::add_subcommand(const std::string& name, const std::string& description) {
  CLI::App* const inner = inner_.add_subcommand(name, description);
  inner->footer("");  // CLI11 copies that of the command above
  return subcommands_.emplace_back(std::make_unique<Command>(*inner)).get();
}
void Command::require_subcommand(std::size_t least, std::size_t most) {
  inner_.require_subcommand(least, most);
}
Command* Command::footer(const std::string& text) {
  inner_.footer(text);
  return this;
}
Command* Command::callback(std::function<void()> call) {
  inner_.callback(std::move(call));
  return this;
}
Option* Command::get_option(const std::string& name) {
  // CLI::App::get_option() allocates under noexcept.
  const auto found = std::find_if(options_.begin(), options_.end(), [&](const auto& option) {
    return option->inner_.check_name(name);
  });
  assert(found != options_.end() && "an option of this command");
  return found->get();
}
std::vector<Option*> Command::get_options() {
  std::vector<Option*> all;
  for (const auto& option : options_) all.push_back(option.get());
  return all;
}
bool Command::got_subcommand(const std::string& name) const {
  return inner_.got_subcommand(name);
}

namespace {

constexpr std::size_t kHelpWidth = 80;

// The text in lines of at most `width` characters. The lines after the first begin with `indent`
// blanks more. A longer word is broken after a comma, if it has one.
std::string wrapped(const std::string& text, std::size_t width, std::size_t indent = 0) {
  const auto next = '\n' + std::string(indent, ' ');
  std::string lines, line;
  for (const auto& word : CLI::detail::split(text, ' ')) {
    if (!line.empty() && line.size() + 1 + word.size() > width) {
      lines += std::exchange(line, {}) + next;
    }
    line += (line.empty() ? "" : " ") + word;
    for (std::size_t comma; line.size() > width; line.erase(0, comma + 1)) {
      comma = line.rfind(',', width - 1);
      if (comma == std::string::npos || comma + 1 == line.size()) break;
      lines += line.substr(0, comma + 1) + next;
    }
  }
  return lines + line;
}

// A command line of a shell, in several with a backslash at the end, preferably before an option.
// Quoted text stays together.
std::string wrapped_example(std::string_view line, std::size_t indent) {
  constexpr std::string_view kGoesOn = " \\";
  constexpr auto kNone = std::string_view::npos;
  std::string lines;
  std::size_t from = 0, blank = kNone, option = kNone, used = indent;
  char quote = 0;
  for (std::size_t i = 0; i < line.size(); ++i, ++used) {
    if (quote == 0 && line[i] == ' ' && i > from) {
      blank = i;
      if (line.substr(i + 1, 2) == "--" || line.substr(i + 1, 1) == "|") option = i;
    }
    if (line[i] == '\'' || line[i] == '"') {
      if (quote == 0) {
        quote = line[i];
      } else if (quote == line[i]) {
        quote = 0;
      }
    }
    if (used + kGoesOn.size() < kHelpWidth || blank == kNone) continue;
    const auto end = option == kNone ? blank : option;
    lines += fmt::format("{}{}\n{}", line.substr(from, end - from), kGoesOn,
                         std::string(indent + 4, ' '));
    from = end + 1;
    used = indent + 4 + (i - from);
    blank = option = kNone;
  }
  return lines.append(line.substr(from));
}

// A row of two columns, or an example, that is too wide.
std::string wrapped_row(const std::string& line) {
  constexpr std::size_t kFarthest = 56;  // that a column begins
  const auto indent = line.find_first_not_of(' ');
  const auto gap = line.find("  ", indent);
  const std::string margin(indent, ' ');
  if (gap == std::string::npos && line.compare(indent, 6, "cupel ") == 0)
    return margin + wrapped_example(std::string_view(line).substr(indent), indent);
  if (gap == std::string::npos)
    return margin + wrapped(line.substr(indent), kHelpWidth - indent, indent);
  const auto column = line.find_first_not_of(' ', gap);
  if (column <= kFarthest)
    return line.substr(0, column) + wrapped(line.substr(column), kHelpWidth - column, column);
  return fmt::format("{}\n{}    {}", line.substr(0, gap), margin,
                     wrapped(line.substr(column), kHelpWidth - indent - 4, indent + 4));
}

// What follows the options. A line that does not begin with a blank belongs to the paragraph of
// the line before, unless it begins one: "Exit code: …".
std::string wrapped_footer(const std::string& footer) {
  constexpr std::size_t kLongestHeading = 12;
  std::istringstream in(footer);
  std::string text, rest;  // of a line that was too wide
  for (std::string line; std::getline(in, line);) {
    const bool begins = line.empty() || line.front() == ' ' || line.find(':') <= kLongestHeading;
    if (!rest.empty() && begins) text += std::exchange(rest, {}) + '\n';
    if (!rest.empty()) line = std::exchange(rest, {}) + ' ' + line;
    if (line.size() > kHelpWidth && line.front() != ' ') {
      const auto lines = wrapped(line, kHelpWidth);
      const auto last = lines.rfind('\n') + 1;
      text += lines.substr(0, last);
      rest = lines.substr(last);
      continue;
    }
    text += (line.size() > kHelpWidth ? wrapped_row(line) : line) + '\n';
  }
  return rest.empty() ? text : text + rest + '\n';
}

// Descriptions in lines that fit a terminal. The default of an option, and the options that it
// needs or excludes, are sentences of its description.
class WrappingFormatter : public CLI::Formatter {
 public:
  static constexpr std::size_t kColumn = 32;

  std::string make_help(const CLI::App* app, std::string name,
                        CLI::AppFormatMode mode) const override {
    auto text = CLI::Formatter::make_help(app, std::move(name), mode);
    for (std::size_t at; (at = text.find("\n\n\n")) != std::string::npos;) text.erase(at, 1);
    return text;
  }
  // Without CLI11's mark at a name that turns a flag off: "--no-x{false}".
  std::string make_option_name(const CLI::Option* option, bool positional) const override {
    auto name = CLI::Formatter::make_option_name(option, positional);
    for (std::size_t at; (at = name.find("{false}")) != std::string::npos;) name.erase(at, 7);
    return name;
  }
  std::string make_option_opts(const CLI::Option* option) const override {
    if (option->get_type_size() == 0) return {};
    std::string text;
    if (!option->get_type_name().empty()) text += " " + option->get_type_name();
    if (option->get_expected_max() == CLI::detail::expected_max_vector_size) text += " ...";
    if (option->get_required()) text += " REQUIRED";
    return text;
  }
  std::string make_option_desc(const CLI::Option* option) const override {
    return wrapped(full_description(*option), kDescriptionWidth);
  }
  static std::string full_description(const CLI::Option& option) {
    auto text = option.get_description();
    const auto& fallback = option.get_default_str();
    if (!fallback.empty()) text += ". Default: " + fallback;
    if (!option.get_needs().empty()) text += ". Only with " + listed(option.get_needs());
    if (!option.get_excludes().empty()) text += ". Not with " + listed(option.get_excludes());
    return text;
  }
  std::string make_description(const CLI::App* app) const override {
    return wrapped(app->get_description(), kHelpWidth) + "\n";
  }
  std::string make_subcommand(const CLI::App* sub) const override {
    std::ostringstream out;
    CLI::detail::format_help(out, sub->get_display_name(true),
                             wrapped(sub->get_description(), kDescriptionWidth),
                             get_column_width());
    return out.str();
  }
  std::string make_footer(const CLI::App* app) const override {
    return wrapped_footer(app->get_footer());
  }

 private:
  static constexpr std::size_t kDescriptionWidth = kHelpWidth - kColumn;

  // In the order of their names: CLI11's sets are ordered by address.
  static std::string listed(const std::set<CLI::Option*>& options) {
    std::vector<std::string> names;
    for (const auto* option : options) names.push_back(option->get_name());
    std::sort(names.begin(), names.end());
    return fmt::format("{}", fmt::join(names, ", "));
  }
};

// CLI11's errors of an option's number of values and their kind, which it reports in its own
// notions.
std::string in_own_words(const CLI::App& asked, const std::exception& error) {
  const bool number = dynamic_cast<const CLI::ArgumentMismatch*>(&error) != nullptr;
  const bool kind = dynamic_cast<const CLI::ConversionError*>(&error) != nullptr;
  std::string text = error.what();
  if (!number && !kind) return text;
  for (const auto* option : asked.get_options()) {
    const auto name = option->get_name();
    if (!text.starts_with(name + ": ") && text.find(": " + name + " = ") == text.npos) continue;
    const auto what = option->get_type_name().empty() ? "a value" : option->get_type_name();
    if (option->count() > 1 && option->get_expected_max() == 1) {
      return fmt::format("found {} {} times, expected it once; leave out all but one", name,
                         option->count());
    }
    if (number) return fmt::format("{}: expected {} after it", name, what);
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

// An option of `mock` that comes after `mock test`: CLI11 gives it to the former.
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

// As in `chek --help` and `lab strat --help`: the help of the command above would answer another
// question.
bool misspelled_command(const CLI::App& app) {
  const CLI::App* asked = &app;
  while (!asked->get_subcommands().empty()) asked = asked->get_subcommands().front();
  const auto remaining = app.remaining(true);
  return !asked->get_subcommands({}).empty() && !remaining.empty() &&
         !remaining.front().starts_with("-");
}

// What a mistake in the command line is called, where CLI11's own words are about its own notions.
std::string usage_error(const CLI::App& app, const std::exception& error,
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
  std::erase(remaining, "--");  // what follows it belongs to another program
  // As they were given: CLI11 collects what follows a `--` apart.
  std::stable_sort(remaining.begin(), remaining.end(), [&](const auto& left, const auto& right) {
    return std::find(arguments.begin(), arguments.end(), left) <
           std::find(arguments.begin(), arguments.end(), right);
  });
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
      return fmt::format("expected a command after {}: {}", asked.get_name(), one_of(commands));
    }
    return in_own_words(asked, error);
  }
  const std::string& extra = remaining.front();
  if (!extra.starts_with("-")) {
    if (commands.empty()) {
      // `levels` lists what `explain` describes.
      return fmt::format("found `{}`, expected nothing more{}", extra,
                         asked.get_name() == "levels"
                             ? fmt::format("; `cupel explain {}` describes a level", extra)
                             : "");
    }
    return fmt::format("found `{}` after {}, expected {}{}{}", extra, asked.get_name(),
                       one_of(commands),
                       asked.get_require_subcommand_min() > 0 ? "" : ", or nothing more",
                       did_you_mean(extra, commands));
  }
  std::vector<std::string> short_names;
  for (const auto* option : asked.get_options()) {
    for (const auto& name : option->get_lnames()) names.push_back("--" + name);
    for (const auto& name : option->get_snames()) short_names.push_back("-" + name);
  }
  const auto name = extra.substr(0, extra.find('='));
  // As in `cupel --json check FILE`.
  if (std::find(names.begin(), names.end(), name) != names.end() ||
      std::find(short_names.begin(), short_names.end(), name) != short_names.end()) {
    return fmt::format("found `{}` before the command {}; put it after the command", name,
                       asked.get_name());
  }
  // `cupel mock test ./run-tests.sh --quick`: only a -- shows whose it is.
  const auto* command = asked.get_option_no_throw("COMMAND");
  const bool of_command = command != nullptr && command->count() > 0 &&
                          std::find(arguments.begin(), arguments.end(), "--") == arguments.end();
  if (of_command) {
    return fmt::format(
        "found `{}`, which is no option of {}; put the command and its options after "
        "--: -- {} {}",
        name, asked.get_name(), command->results().front(), name);
  }
  return fmt::format("found `{}`, which is no option of {}{}", name, asked.get_name(),
                     did_you_mean(name, names));
}

}  // namespace

CommandLine::CommandLine(const Texts& texts)
    : app_(std::make_unique<CLI::App>(texts.description, texts.name)),
      root_(std::make_unique<Command>(*app_)) {
  app_->set_version_flag("--version", texts.version, "Show the version, the commit and the build");
  app_->set_help_flag("-h,--help", "Show this help");
  app_->require_subcommand(1);
  auto formatter = std::make_shared<WrappingFormatter>();
  formatter->column_width(WrappingFormatter::kColumn);
  app_->formatter(formatter);
  app_->footer(texts.footer);
}
CommandLine::~CommandLine() = default;

std::optional<std::string> CommandLine::parse(const std::vector<std::string>& arguments) {
  try {
    app_->parse(std::vector(arguments.rbegin(), arguments.rend()));  // the last first, CLI11 wants
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() != 0 || misspelled_command(*app_)) {
      throw UsageError(usage_error(*app_, error, arguments));
    }
    std::ostringstream shown;  // help or version
    app_->exit(error, shown, shown);
    return shown.str();
  } catch (const UsageError& error) {  // by a callback
    throw UsageError(usage_error(*app_, error, arguments));
  }
  return std::nullopt;
}

std::string CommandLine::asked_command() const {
  std::string command = app_->get_name();
  for (auto chain = app_->get_subcommands(); !chain.empty();
       chain = chain.front()->get_subcommands()) {
    command += " " + chain.front()->get_name();
  }
  return command;
}

namespace {

CommandPage::Item item_of(const CLI::Option& option) {
  CommandPage::Item item;
  if (option.get_positional()) item.names.push_back(option.get_name(true));
  for (const auto& name : option.get_snames()) item.names.push_back("-" + name);
  for (const auto& name : option.get_lnames()) item.names.push_back("--" + name);
  item.takes_value = option.get_items_expected_max() != 0;
  if (item.takes_value) item.value = option.get_type_name();
  item.several = option.get_expected_max() == CLI::detail::expected_max_vector_size;
  item.required = option.get_required();
  item.description = WrappingFormatter::full_description(option);
  item.group = option.get_group();
  return item;
}

void add_pages(const CLI::App& app, std::vector<std::string> path,
               std::vector<CommandPage>& pages) {
  path.push_back(app.get_name());
  CommandPage page{.path = path,
                   .description = app.get_description(),
                   .footer = app.get_footer(),
                   .needs_command = app.get_require_subcommand_min() > 0};
  for (const auto* option : app.get_options()) {
    if (option->get_group().empty()) continue;  // hidden
    (option->get_positional() ? page.arguments : page.options).push_back(item_of(*option));
  }
  const auto below = app.get_subcommands([](const CLI::App*) { return true; });
  for (const auto* command : below) {
    page.commands.push_back({command->get_name(), command->get_description()});
  }
  pages.push_back(std::move(page));
  for (const auto* command : below) add_pages(*command, path, pages);
}

}  // namespace

std::vector<CommandPage> CommandLine::pages() const {
  std::vector<CommandPage> all;
  add_pages(*app_, {}, all);
  return all;
}

std::vector<std::string> split(const std::string& text, char between) {
  std::vector<std::string> parts;
  std::size_t begin = 0;
  for (std::size_t at; (at = text.find(between, begin)) != std::string::npos; begin = at + 1) {
    parts.push_back(text.substr(begin, at - begin));
  }
  parts.push_back(text.substr(begin));
  return parts;
}

std::optional<double> number_of(const std::string& text) {
  double number = 0;
  const auto* const last = text.data() + text.size();
  const auto [end, error] = std::from_chars(text.data(), last, number);
  return error == std::errc() && end == last ? std::optional(number) : std::nullopt;
}

Check whole_number(std::uint64_t least, std::uint64_t most) {
  return [least, most](const std::string& text) {
    std::uint64_t number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    const bool well = error == std::errc() && end == text.data() + text.size();
    if (well && number >= least && number <= most) return std::string();
    return fmt::format("found `{}`, expected a whole number from {} to {}", text, least, most);
  };
}

namespace {

Check number_between(double least, double most, const char* expected) {
  return [=](const std::string& text) {
    const auto number = number_of(text);
    if (number && *number >= least && *number <= most) return std::string();
    return fmt::format("found `{}`, expected {}", text, expected);
  };
}

}  // namespace

Check share() {
  return number_between(0, 1, "a number from 0 to 1");
}

Check not_negative() {
  return number_between(0, std::numeric_limits<double>::max(), "a number, 0 or more");
}

Check positive(std::uint64_t most) {
  return [most](const std::string& text) {
    const auto number = number_of(text);
    if (number && *number > 0 && *number <= static_cast<double>(most)) return std::string();
    return fmt::format("found `{}`, expected a number above 0, at most {}", text, most);
  };
}

Check not_empty(const char* expected) {
  return [expected](const std::string& text) {
    return text.empty() ? fmt::format("found an empty name, expected {}", expected) : std::string();
  };
}

Check not_standard_output(const char* expected) {
  return [expected](const std::string& text) {
    if (text == "-")
      return fmt::format("found -, which is standard output; expected {}, which cannot be there",
                         expected);
    return not_empty(expected)(text);
  };
}

Check one_of_names(std::vector<std::string> names) {
  return [names = std::move(names)](const std::string& text) {
    if (std::find(names.begin(), names.end(), text) != names.end()) return std::string();
    return fmt::format("found `{}`, expected {}{}", text, one_of(names), did_you_mean(text, names));
  };
}

}  // namespace cupel::apps
