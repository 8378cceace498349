// Merge: see the header.
#include "engine/online/merge.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "data/formats/input.hpp"
#include "data/formats/json_members.hpp"

namespace cupel::online {

namespace {

constexpr std::string_view kBlanks = " \t\r";
constexpr std::string_view kClock = "[\"clock\",\"";

// A member of a line: where its name begins, and its value, which may be an integer. Of several
// with one name the last counts, as for the reader.
struct Member {
  std::size_t name = std::string_view::npos, value = 0, end = 0;
  std::optional<std::int64_t> integer;
  [[nodiscard]] bool there() const { return name != std::string_view::npos; }
};

Member member(const formats::Members& members, std::string_view line, std::string_view name) {
  const auto found = std::find(members.names.rbegin(), members.names.rend(), name);
  if (found == members.names.rend()) return {};
  Member m;
  m.name = static_cast<std::size_t>(found->data() - line.data()) - 1;
  const auto colon = line.find(':', m.name + name.size() + 2);
  m.value = std::min(line.find_first_not_of(kBlanks, colon + 1), line.size());
  std::int64_t integer = 0;
  const char* first = line.data() + m.value;
  const auto [end, error] = std::from_chars(first, line.data() + line.size(), integer);
  m.end = m.value + static_cast<std::size_t>(end - first);
  const bool whole = m.end < line.size() &&
                     std::string_view(",} \t\r").find(line[m.end]) != std::string_view::npos;
  if (error == std::errc() && whole) m.integer = integer;
  return m;
}

struct Replacement {
  std::size_t begin, end;
  std::string text;
};

// Without the index, and without one comma beside it.
Replacement without(std::string_view line, const Member& index) {
  const auto before = line.find_last_not_of(kBlanks, index.name - 1);
  if (line[before] == ',') return {before, index.end, ""};
  const auto after = line.find_first_not_of(kBlanks, index.end);
  return {index.name, line[after] == ',' ? after + 1 : index.end, ""};
}

}  // namespace

// "MACHINE NANOSECONDS".
void Merge::set_clock(Recorder& recorder, std::string_view line, std::int64_t now) {
  std::string machine;
  std::int64_t start = files_ ? 0 : now;
  if (const auto at = line.find(kClock); at != std::string_view::npos) {
    const auto text = line.substr(at + kClock.size());
    const auto blank = text.find(' ');
    if (blank != std::string_view::npos) {
      machine = text.substr(0, blank);
      std::from_chars(text.data() + blank + 1, text.data() + text.size(), start);
    }
  }
  const bool first = !start_;
  if (first) {
    start_ = start;
    machine_ = machine;
  }
  const bool same = first || (!machine.empty() && machine == machine_);
  guessed_ = guessed_ || !same;
  recorder.offset = same ? start - *start_ : files_ ? 0 : now - *start_;
}

base::Status Merge::take(std::size_t recorder, std::string_view lines, std::int64_t now,
                         std::string& out) {
  if (recorder >= recorders_.size()) recorders_.resize(recorder + 1);
  while (!lines.empty()) {
    const auto end = lines.find('\n');
    const auto line = lines.substr(0, end);
    lines.remove_prefix(end == std::string_view::npos ? lines.size() : end + 1);
    if (line.find_first_not_of(" \t\r") == std::string_view::npos) continue;
    if (auto taken = take_line(recorders_[recorder], recorder == 0, line, now, out); !taken.ok()) {
      return taken;
    }
  }
  return base::Ok{};
}

base::Status Merge::take_line(Recorder& recorder, bool first, std::string_view line,
                              std::int64_t now, std::string& out) {
  if (!recorder.offset) set_clock(recorder, line, now);
  const auto members = formats::first_object(line);
  const auto process = member(members, line, "process"), time = member(members, line, "time");
  if (process.there() && line.substr(process.value).starts_with("\"nemesis\"")) {
    // Each says what keys hold at first; of the other facts, the first recorder's count.
    if (!first && line.find("cupel.metadata") != std::string_view::npos) return base::Ok{};
    out += line;
    out += '\n';
    return base::Ok{};
  }
  std::int64_t shifted = 0;
  if (!process.integer || !time.integer ||
      __builtin_add_overflow(*time.integer, *recorder.offset, &shifted)) {
    return base::Error{.message =
                           fmt::format("found the line {}, expected a JSON object with an integer "
                                       "`process` and an integer `time`: where there are several "
                                       "recorders, both are needed to keep them apart",
                                       formats::shown(line))};
  }
  const auto [it, fresh] = recorder.process.try_emplace(*process.integer, next_process_);
  if (fresh) ++next_process_;
  std::vector<Replacement> replacements = {{process.value, process.end, std::to_string(it->second)},
                                           {time.value, time.end, std::to_string(shifted)}};
  // The index would come twice; without it, lines are numbered as they stand.
  if (const auto index = member(members, line, "index"); index.integer)
    replacements.push_back(without(line, index));
  std::sort(replacements.begin(), replacements.end(),
            [](const auto& a, const auto& b) { return a.begin < b.begin; });
  std::size_t copied = 0;
  for (const auto& replacement : replacements) {
    out += line.substr(copied, replacement.begin - copied);
    out += replacement.text;
    copied = replacement.end;
  }
  out += line.substr(copied);
  out += '\n';
  return base::Ok{};
}

}  // namespace cupel::online
