// Faults: see the header.
#include "data/formats/jepsen_faults.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace cupel::formats::jepsen {

using history::kNoTime;

// Jepsen's nemesis says twice what it does: when it begins to and when it has. What it
// starts lasts until it stops it: start or start-X until stop or stop-X; of anything
// else the two lines are the time it took.
void Faults::note(const Chunk& chunk, const Event& e) {
  constexpr std::size_t kMostFaults = 1000;
  if (e.time == kNoTime) return;
  const std::string_view f = word(chunk, e);
  const bool starts = f == "start" || f.starts_with("start-");
  const bool stops = f == "stop" || f.starts_with("stop-");
  const auto name = f.substr(starts  ? std::min<std::size_t>(6, f.size())
                             : stops ? std::min<std::size_t>(5, f.size())
                                     : 0);
  const Cell value = chunk.values[e.first];
  const auto said = value.is_name() ? std::string(value.view()) : std::string();
  // Of our own recorder's, several may be in force, which their values tell apart.
  const bool by_value = name == "fault";
  const auto open = std::find_if(faults_.rbegin(), faults_.rend(), [&](const auto& fault) {
    return fault.name == name && !fault.ended && (!by_value || fault.value == said);
  });
  if (stops || (!starts && open != faults_.rend())) {
    // Both lines of a stop: the second is when it has been fixed.
    if (open == faults_.rend() && by_value) return;
    const auto last = open != faults_.rend()
                          ? open
                          : std::find_if(faults_.rbegin(), faults_.rend(),
                                         [&](const auto& fault) { return fault.name == name; });
    if (last == faults_.rend()) return;
    last->to = e.time;
    last->ended = true;
    return;
  }
  if (open != faults_.rend() || faults_.size() >= kMostFaults) return;
  std::string what(name.empty() ? std::string_view("fault") : name);
  if (value.is_name()) what = (name.empty() || name == "fault" ? "" : what + " ") + said;
  faults_.push_back({e.time, kNoTime, std::string(name), said, std::move(what), false});
}

std::string Faults::text() {
  std::string text;
  for (auto& fault : faults_) {
    std::replace(fault.what.begin(), fault.what.end(), '\n', ' ');
    text += fmt::format("{}{} {} {}", text.empty() ? "" : "\n", fault.from,
                        fault.ended ? std::to_string(fault.to) : "-", fault.what);
  }
  return text;
}

}  // namespace cupel::formats::jepsen
