// Manual pages and completions: see the header.
#include "apps/pages.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace cupel::apps {

namespace {

using Item = CommandPage::Item;

// "cupel mock test".
std::string command_of(const CommandPage& page) {
  return fmt::format("{}", fmt::join(page.path, " "));
}

// ---- man

// A text in roff: no character of it means something, and no line begins with a request.
std::string roff(std::string_view text) {
  std::string escaped;
  bool line_begins = true;
  for (const char c : text) {
    if (line_begins && (c == '.' || c == '\'')) escaped += "\\&";
    if (c == '\\') {
      escaped += "\\e";
    } else if (c == '-') {
      escaped += "\\-";
    } else {
      escaped += c;
    }
    line_begins = c == '\n';
  }
  return escaped;
}

std::string bold(std::string_view text) {
  return "\\fB" + roff(text) + "\\fR";
}

std::string value_of(const Item& item) {
  return item.value.empty() ? "VALUE" : item.value;
}

// "\fB\-l\fR, \fB\-\-level\fR \fILEVEL\fR".
std::string head_of(const Item& item) {
  std::vector<std::string> names;
  for (const auto& name : item.names) names.push_back(bold(name));
  auto head = fmt::format("{}", fmt::join(names, ", "));
  if (item.takes_value) head += " \\fI" + roff(value_of(item)) + "\\fR";
  return head + (item.several ? " ..." : "");
}

std::string sentence(std::string text) {
  if (!text.empty() && text.back() != '.') text += '.';
  return text;
}

// The blocks of a footer: a heading ("Examples:") and lines that are shown as they are, or words.
std::string footer_of(const std::string& footer) {
  std::string out;
  bool as_is = false;
  for (const auto& line : split(footer, '\n')) {
    const bool indented = line.starts_with("  ");
    if (as_is && !indented) out += ".fi\n";
    if (!as_is && indented) out += ".nf\n";
    as_is = indented;
    if (indented) {
      out += roff(line.substr(2)) + "\n";
    } else if (line.ends_with(":")) {
      auto heading = line.substr(0, line.size() - 1);
      std::transform(heading.begin(), heading.end(), heading.begin(),
                     [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
      out += ".SH " + roff(heading) + "\n";
    } else if (line.empty()) {
      out += ".PP\n";
    } else {
      out += roff(line) + "\n";
    }
  }
  return out + (as_is ? ".fi\n" : "");
}

std::string synopsis_of(const CommandPage& page) {
  auto text = bold(command_of(page)) + " [\\fIOPTIONS\\fR]";
  for (const auto& argument : page.arguments) {
    const auto name = "\\fI" + roff(argument.names.front()) + "\\fR";
    text += argument.required ? " " + name : " [" + name + "]";
    if (argument.several) text += " ...";
  }
  if (!page.commands.empty()) {
    text += page.needs_command ? " \\fICOMMAND\\fR ..." : " [\\fICOMMAND\\fR ...]";
  }
  return text;
}

void add_items(const std::vector<Item>& items, std::string& out) {
  for (const auto& item : items) {
    out += fmt::format(".TP\n{}\n{}\n", head_of(item), roff(sentence(item.description)));
  }
}

}  // namespace

std::string man_file(const CommandPage& page) {
  return fmt::format("{}.1", fmt::join(page.path, "-"));
}

std::string man_page(const CommandPage& page, std::string_view version) {
  auto name = fmt::format("{}", fmt::join(page.path, "-"));
  auto upper = name;
  std::transform(upper.begin(), upper.end(), upper.begin(),
                 [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  auto brief = page.description;
  if (brief.ends_with(".")) brief.pop_back();
  std::string out = fmt::format(".TH {} 1 \"\" \"cupel {}\" \"cupel\"\n.SH NAME\n{} \\- {}\n",
                                roff(upper), version, roff(name), roff(brief));
  out += fmt::format(".SH SYNOPSIS\n{}\n.SH DESCRIPTION\n{}\n", synopsis_of(page),
                     roff(sentence(page.description)));
  if (!page.arguments.empty()) {
    out += ".SH ARGUMENTS\n";
    for (const auto& item : page.arguments) {
      out += fmt::format(".TP\n\\fI{}\\fR{}\n{}\n", roff(item.names.front()),
                         item.several ? " ..." : "", roff(sentence(item.description)));
    }
  }
  std::vector<std::string> groups;
  for (const auto& option : page.options) {
    if (std::find(groups.begin(), groups.end(), option.group) == groups.end()) {
      groups.push_back(option.group);
    }
  }
  if (!groups.empty()) out += ".SH OPTIONS\n";
  for (const auto& group : groups) {
    if (group != "Options") out += ".SS " + roff(group) + "\n";
    std::vector<Item> items;
    std::copy_if(page.options.begin(), page.options.end(), std::back_inserter(items),
                 [&](const Item& item) { return item.group == group; });
    add_items(items, out);
  }
  if (!page.commands.empty()) out += ".SH COMMANDS\n";
  for (const auto& command : page.commands) {
    out += fmt::format(".TP\n{}(1)\n{}\n", bold(name + "-" + command.name),
                       roff(sentence(command.description)));
  }
  out += footer_of(page.footer);
  if (page.path.size() > 1) {
    const std::vector<std::string> above(page.path.begin(), page.path.end() - 1);
    out += fmt::format(".SH SEE ALSO\n{}(1)\n", bold(fmt::format("{}", fmt::join(above, "-"))));
  }
  return out;
}

// ---- completion

namespace {

// For a shell, between single quotes.
std::string shell_quoted(std::string_view text) {
  std::string out = "'";
  for (const char c : text) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return out + "'";
}

std::vector<std::string> words_of(const Item& item, const std::vector<ValueWords>& values) {
  const auto found = std::find_if(values.begin(), values.end(),
                                  [&](const auto& one) { return one.value == item.value; });
  return found == values.end() ? std::vector<std::string>() : found->words;
}

// Commands, options and the words of values, by the path of commands: as "case" branches.
struct Branches {
  std::string commands, options, values;
};

Branches branches_of(const std::vector<CommandPage>& pages, const std::vector<ValueWords>& values) {
  Branches branches;
  for (const auto& page : pages) {
    std::vector<std::string> commands, options;
    for (const auto& command : page.commands) commands.push_back(command.name);
    for (const auto& option : page.options) {
      options.insert(options.end(), option.names.begin(), option.names.end());
      if (!option.takes_value) continue;
      std::vector<std::string> patterns;
      for (const auto& name : option.names)
        patterns.push_back(shell_quoted(command_of(page) + " " + name));
      branches.values +=
          fmt::format("    {}) words={} ;;\n", fmt::join(patterns, "|"),
                      shell_quoted(fmt::format("{}", fmt::join(words_of(option, values), " "))));
    }
    const auto path = shell_quoted(command_of(page));
    if (!commands.empty()) {
      branches.commands += fmt::format("    {}) commands={} ;;\n", path,
                                       shell_quoted(fmt::format("{}", fmt::join(commands, " "))));
    }
    branches.options += fmt::format("    {}) options={} ;;\n", path,
                                    shell_quoted(fmt::format("{}", fmt::join(options, " "))));
  }
  return branches;
}

}  // namespace

std::string bash_completion(const std::vector<CommandPage>& pages,
                            const std::vector<ValueWords>& values) {
  const auto branches = branches_of(pages, values);
  return fmt::format(R"(# Completion of cupel for bash. Made from the program's own help.

# commands: those below this command. options: its own.
_cupel_of_command() {{
  commands= options=
  case $1 in
{}  esac
  case $1 in
{}  esac
}}

# words: the values of an option of a command, where there is a list. False: it takes no value.
_cupel_of_option() {{
  words=
  case $1 in
{}    *) return 1 ;;
  esac
}}

_cupel() {{
  local current=${{COMP_WORDS[COMP_CWORD]}} before=${{COMP_WORDS[COMP_CWORD-1]}}
  local path=cupel commands options words word at list
  _cupel_of_command "$path"
  for ((at = 1; at < COMP_CWORD; ++at)); do
    word=${{COMP_WORDS[at]}}
    case " $commands " in *" $word "*) path="$path $word"; _cupel_of_command "$path" ;; esac
  done
  COMPREPLY=()
  if _cupel_of_option "$path $before"; then
    case $current in *,*) list=${{current%,*}}, ;; esac
    if [ -n "$words" ]; then COMPREPLY=($(compgen -P "$list" -W "$words" -- "${{current#"$list"}}"))
    else COMPREPLY=($(compgen -f -- "$current")); fi
  elif [[ $current == -* ]]; then COMPREPLY=($(compgen -W "$options" -- "$current"))
  elif [ -n "$commands" ]; then COMPREPLY=($(compgen -W "$commands" -- "$current"))
  else COMPREPLY=($(compgen -f -- "$current")); fi
}}
complete -o filenames -F _cupel cupel
)",
                     branches.commands, branches.options, branches.values);
}

std::string zsh_completion(const std::vector<CommandPage>& pages,
                           const std::vector<ValueWords>& values) {
  std::string commands, options, taken;
  const auto described = [](std::string_view name, std::string_view description) {
    std::string escaped;  // a colon ends the name
    for (const char c : name) escaped += c == ':' ? std::string("\\:") : std::string(1, c);
    return shell_quoted(
        fmt::format("{}:{}", escaped, description.substr(0, description.find(". "))));
  };
  for (const auto& page : pages) {
    const auto path = shell_quoted(command_of(page));
    std::vector<std::string> below, own;
    for (const auto& command : page.commands) {
      below.push_back(described(command.name, command.description));
    }
    for (const auto& option : page.options) {
      std::vector<std::string> patterns;
      for (const auto& name : option.names) {
        own.push_back(described(name, option.description));
        patterns.push_back(shell_quoted(command_of(page) + " " + name));
      }
      if (!option.takes_value) continue;
      taken += fmt::format("    {}) words=({}) ;;\n", fmt::join(patterns, "|"),
                           fmt::join(words_of(option, values), " "));
    }
    if (!below.empty()) {
      commands += fmt::format("    {}) commands=({}) ;;\n", path, fmt::join(below, " "));
    }
    options += fmt::format("    {}) options=({}) ;;\n", path, fmt::join(own, " "));
  }
  return fmt::format(R"(#compdef cupel
# Completion of cupel for zsh. Made from the program's own help.

_cupel_of_command() {{
  commands=() options=()
  case $1 in
{}  esac
  case $1 in
{}  esac
}}

_cupel_of_option() {{
  words=()
  case $1 in
{}    *) return 1 ;;
  esac
}}

_cupel() {{
  local command_path=cupel word
  local -a commands options given=("${{(@)words[2,CURRENT-1]}}")
  local before=${{words[CURRENT-1]}} current=${{words[CURRENT]}}
  _cupel_of_command $command_path
  for word in $given; do
    if (( ${{commands[(I)$word:*]}} )); then
      command_path="$command_path $word"
      _cupel_of_command $command_path
    fi
  done
  local -a words
  if _cupel_of_option "$command_path $before"; then
    if (( $#words )); then compset -P '*,'; compadd -- $words; else _files; fi
  elif [[ $current == -* ]]; then _describe option options
  elif (( $#commands )); then _describe command commands
  else _files; fi
}}

_cupel "$@"
)",
                     commands, options, taken);
}

std::string fish_completion(const std::vector<CommandPage>& pages,
                            const std::vector<ValueWords>& values) {
  std::vector<std::string> paths;
  for (const auto& page : pages) paths.push_back(shell_quoted(command_of(page)));
  std::string out = fmt::format(R"(# Completion of cupel for fish. Made from the program's own help.
function __cupel_at --argument-names asked
    set -l known {}
    set -l at cupel
    for word in (commandline -opc)[2..-1]
        contains -- "$at $word" $known; and set at "$at $word"
    end
    test "$at" = "$asked"
end
# The words, behind those of a list that are there already.
function __cupel_words
    set -l list (commandline -ct | string replace -r '^--[^=]*=' '' | string match -r '.*,')
    printf '%s\n' "$list"$argv
end
)",
                                fmt::join(paths, " "));
  const auto brief = [](std::string_view text) {
    return shell_quoted(text.substr(0, text.find(". ")));
  };
  for (const auto& page : pages) {
    const auto line = fmt::format("complete -c cupel -n {}",
                                  shell_quoted("__cupel_at " + shell_quoted(command_of(page))));
    for (const auto& command : page.commands) {
      out += fmt::format("{} -f -a {} -d {}\n", line, command.name, brief(command.description));
    }
    for (const auto& option : page.options) {
      out += line;
      for (const auto& name : option.names) {
        out += name.starts_with("--") ? " -l " + name.substr(2) : " -s " + name.substr(1);
      }
      const auto words = words_of(option, values);
      if (option.takes_value) out += " -r";
      if (!words.empty())
        out += fmt::format(" -f -a {}",
                           shell_quoted(fmt::format("(__cupel_words {})", fmt::join(words, " "))));
      out += fmt::format(" -d {}\n", brief(option.description));
    }
  }
  return out;
}

}  // namespace cupel::apps
