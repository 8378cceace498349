// Emitter: see the header.
#include "apps/emit.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iostream>

#include "apps/command.hpp"
#include "apps/spelling.hpp"
#include "apps/version.hpp"
#include "base/write_file.hpp"
#include "report/emit_github.hpp"
#include "report/emit_markdown.hpp"
#include "report/emit_sql.hpp"

namespace cupel::apps {

namespace {

const std::vector<std::string>& names() {  // in the order of Kind
  static const std::vector<std::string> all = {"markdown", "sql",   "plume", "jepsen",
                                               "junit",    "sarif", "github"};
  return all;
}

// What is no plain file (a pipe, a terminal) is written in place. So is /dev/stdout, even
// where it leads to a file: the link must not be replaced.
bool is_device(const std::string& path) {
  namespace fs = std::filesystem;
  std::error_code ignored;
  return path.starts_with("/dev/") || path.starts_with("/proc/") ||
         (fs::exists(path, ignored) && !fs::is_regular_file(path, ignored) &&
          !fs::is_directory(path, ignored));
}

void print_write_error(const std::string& path, const std::string& what,
                       const std::string& because) {
  print_error(base::Error{
      .message = fmt::format("{}cannot be written: {}", what.empty() ? what : what + " ", because),
      .file = path});
}

}  // namespace

bool can_write(const std::string& path, bool append, const std::string& what) {
  namespace fs = std::filesystem;
  if (is_device(path)) return true;
  std::error_code ignored;
  if (fs::is_directory(path, ignored)) {
    print_write_error(path, what, std::strerror(EISDIR));
    return false;
  }
  if (!append) {
    const auto fresh = base::make_fresh_file(path);
    if (fresh.ok()) {
      fs::remove(*fresh, ignored);
    } else {
      print_write_error(path, what, std::strerror(errno));
    }
    return fresh.ok();
  }
  const bool existed = fs::exists(path, ignored);
  errno = 0;
  const bool opened = std::ofstream(path, std::ios::binary | std::ios::app).is_open();
  const int reason = errno;
  if (opened && !existed) fs::remove(path, ignored);
  if (!opened)
    print_write_error(path, what, reason != 0 ? std::strerror(reason) : "unknown reason");
  return opened;
}

bool write_whole(const std::string& path, const std::string& text, bool append,
                 const std::string& what) {
  namespace fs = std::filesystem;
  std::error_code ignored;
  const bool in_place = append || is_device(path) || fs::is_directory(path, ignored);
  auto written = path;
  if (!in_place) {
    auto fresh = base::make_fresh_file(path);
    if (!fresh.ok()) {
      print_write_error(path, what, std::strerror(errno));
      return false;
    }
    written = *std::move(fresh);
  }
  errno = 0;
  std::ofstream out(written, append ? std::ios::binary | std::ios::app : std::ios::binary);
  const bool opened = out.is_open();
  out << text;
  out.close();
  const int reason = errno;
  std::error_code failure;
  if (out && !in_place) fs::rename(written, path, failure);
  if (out && !failure) return true;
  if (opened && !in_place) fs::remove(written, ignored);
  const std::string because = failure  ? failure.message()
                              : reason ? std::strerror(reason)
                                       : "unknown reason";
  print_write_error(path, what, because);
  return false;
}

Emitter::Target Emitter::target_of(const std::string& text) {
  const auto equals = text.find('=');
  const auto name = text.substr(0, equals);
  const auto known = std::find(names().begin(), names().end(), name);
  if (known == names().end()) {
    throw UsageError("--emit", fmt::format("found `{}`, expected {}{}", name, one_of(names()),
                                           did_you_mean(name, names())));
  }
  Target target{static_cast<Kind>(known - names().begin()), name, {}};
  if (equals != std::string::npos) {
    target.file = text.substr(equals + 1);
    if (target.file.empty()) {
      throw UsageError(
          "--emit",
          fmt::format("found `{}`, expected a file after the `=`, as in {}=FILE", text, name));
    }
    if (target.file == "-") target.file.clear();
  } else if (target.kind == Kind::kGithub) {
    if (const char* summary = std::getenv("GITHUB_STEP_SUMMARY");
        summary != nullptr && *summary != 0) {
      target.file = summary;
      target.append = true;
    }
  }
  return target;
}

Emitter::Emitter(const std::vector<std::string>& asked, bool several)
    : sarif_(std::string(version())) {
  for (const auto& list : asked) {
    for (const auto& one : split(list, ',')) targets_.push_back(target_of(one));
  }
  const Target* there = nullptr;
  for (const Target& target : targets_) {
    if (several && (target.kind == Kind::kPlume || target.kind == Kind::kJepsen)) {
      throw UsageError(
          "--emit",
          fmt::format("{} writes one history, but several are checked; check them one at a time",
                      target.name));
    }
    if (!target.file.empty()) continue;
    if (there != nullptr) {
      throw UsageError("--emit", fmt::format("found {} and {} for standard output, expected one "
                                             "format there; name a file, as in {}=FILE",
                                             there->name, target.name, target.name));
    }
    there = &target;
  }
}

std::vector<std::pair<std::string, std::string>> Emitter::files() const {
  std::vector<std::pair<std::string, std::string>> all;
  for (const Target& target : targets_) {
    if (!target.file.empty() && !target.append) all.emplace_back(target.name, target.file);
  }
  return all;
}

bool Emitter::can_write_all() const {
  return std::all_of(targets_.begin(), targets_.end(), [](const Target& target) {
    return target.file.empty() || can_write(target.file, target.append);
  });
}

bool Emitter::instead_of_text() const {
  return std::any_of(targets_.begin(), targets_.end(),
                     [](const Target& target) { return target.file.empty(); });
}

void Emitter::give(Target& target, const std::string& text) {
  if (target.file.empty()) {
    print(text);
  } else {
    target.text += text;
  }
}

void Emitter::history(const Target& target, const report::Checked& checked) {
  std::vector<report::Finding> small;
  for (auto& finding : report::findings_of(checked)) {
    if (finding.small != nullptr) small.push_back(std::move(finding));
  }
  if (small.empty()) {
    print_note(fmt::format("{} has no counterexample, so nothing is written as {}", checked.file,
                           target.name));
    return;
  }
  const auto& first = small.front();
  formats::WriteOptions options{.format = target.kind == Kind::kPlume ? formats::Format::kPlume
                                                                      : formats::Format::kJepsen};
  options.edn = target.kind == Kind::kJepsen && target.file.ends_with(".edn");
  if (write_history(first.history, target.file.empty() ? "-" : target.file, options) !=
      kSatisfied) {
    failed_ = true;
  } else if (small.size() > 1) {
    print_note(fmt::format("{} of {} counterexamples is written, the first: {}", 1, small.size(),
                           explain::title_of(first.anomaly)));
  }
}

void Emitter::add(const report::Emission& emission) {
  for (Target& target : targets_) {
    switch (target.kind) {
      case Kind::kMarkdown:
        give(target, report::emit_markdown(emission));
        break;
      case Kind::kSql:
        give(target, report::emit_sql(emission));
        break;
      case Kind::kPlume:
      case Kind::kJepsen:
        history(target, emission.checked);
        break;
      case Kind::kJunit:
        junit_.add(emission);
        break;
      case Kind::kSarif:
        sarif_.add(emission);
        break;
      case Kind::kGithub:
        give(target, report::emit_github(emission));
        // GitHub reads both outputs for commands; this one is free of results.
        std::cerr << report::github_annotations(emission);
        break;
    }
  }
}

void Emitter::add(const std::string& file, const base::Error& error) {
  for (Target& target : targets_) {
    if (target.kind == Kind::kJunit) junit_.add(file, error);
    if (target.kind == Kind::kSarif) sarif_.add(file, error);
    if (target.kind == Kind::kGithub) {
      give(target, report::emit_github(file, error));
      std::cerr << report::github_annotation(file, error);
    }
  }
}

bool Emitter::finish() {
  for (Target& target : targets_) {
    if (target.kind == Kind::kPlume || target.kind == Kind::kJepsen) continue;
    if (target.kind == Kind::kJunit) give(target, junit_.text());
    if (target.kind == Kind::kSarif) give(target, sarif_.text());
    if (!target.file.empty() && !write_whole(target.file, target.text, target.append))
      failed_ = true;
  }
  return !failed_;
}

std::string shell_word(const std::string& word) {
  const bool plain = !word.empty() && std::all_of(word.begin(), word.end(), [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 ||
           std::string_view("-_./,:=+@%").find(c) != std::string_view::npos;
  });
  if (plain) return word;
  std::string quoted = "'";
  for (const char c : word) quoted += c == '\'' ? "'\\''" : std::string(1, c);
  return quoted + "'";
}

}  // namespace cupel::apps
