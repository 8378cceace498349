// Merge: see the header.
#include "online/merge.hpp"

#include <charconv>

namespace cupel::online {

namespace {

constexpr std::string_view kProcess = "\"process\":", kTime = ",\"time\":", kIndex = ",\"index\":";
constexpr std::string_view kNemesis = "\"process\":\"nemesis\"";
constexpr std::string_view kClock = "[\"clock\",\"";

struct Number {
  std::size_t at = std::string_view::npos, size = 0;
  std::int64_t value = 0;
  [[nodiscard]] bool there() const { return at != std::string_view::npos; }
};

// The integer after `word`. Inside a text every quote has a backslash before it, so the word is
// not found there.
Number number_after(std::string_view line, std::string_view word) {
  const auto at = line.find(word);
  if (at == std::string_view::npos) return {};
  Number number{at + word.size()};
  const char* first = line.data() + number.at;
  const auto [end, error] = std::from_chars(first, line.data() + line.size(), number.value);
  if (error != std::errc()) return {};
  number.size = static_cast<std::size_t>(end - first);
  return number;
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
  if (line.find(kNemesis) != std::string_view::npos) {
    // Each says what keys hold at first; of the other facts, the first recorder's count.
    if (!first && line.find("cupel.metadata") != std::string_view::npos) return base::Ok{};
    out += line;
    out += '\n';
    return base::Ok{};
  }
  const auto process = number_after(line, kProcess);
  const auto time = number_after(line, kTime);
  if (!process.there() || !time.there() || time.at < process.at) {
    return base::Error{
        .message =
            "found a line without a process number and a time after it; where several "
            "recorders send, expected lines as cupel's recorders write them"};
  }
  const auto [it, fresh] = recorder.process.try_emplace(process.value, next_process_);
  if (fresh) ++next_process_;
  // The index would come twice; without it, lines are numbered as they stand.
  const auto index = number_after(line, kIndex);
  const auto rest = time.at + time.size;
  out += line.substr(0, process.at);
  out += std::to_string(it->second);
  out += line.substr(process.at + process.size, time.at - process.at - process.size);
  out += std::to_string(time.value + *recorder.offset);
  if (index.there() && index.at > rest) {
    out += line.substr(rest, index.at - kIndex.size() - rest);
    out += line.substr(index.at + index.size);
  } else {
    out += line.substr(rest);
  }
  out += '\n';
  return base::Ok{};
}

}  // namespace cupel::online
