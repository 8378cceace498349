// Object agreement: see the header.
#include "readers/object_agreement.hpp"

#include "data/formats/jepsen_reader.hpp"
#include "data/formats/knossos.hpp"
#include "readers/agreement.hpp"
#include "readers/given_lines.hpp"
#include "readers/random_objects.hpp"
#include "readers/random_recording.hpp"
#include "readers/same_history.hpp"
#include "readers/stream_agreement.hpp"

namespace cupel::test {

namespace {

constexpr Compared kColumns{.ids = false, .metadata = false};

// Which append a get shows may be open: then the file is refused, in EDN too.
std::string compare_refusal(const ObjectRecording& recording, const base::Error& refusal) {
  if (recording.object != Object::kStrings) return refusal.to_string();
  const auto edn = formats::read_jepsen(edn_lines(recording.maps), "input", 1);
  if (!edn.ok() && edn.error().to_string() == refusal.to_string()) return {};
  return "refused in JSON: " + refusal.to_string();
}

// A store of strings is read as a whole, everything else as it comes, too.
std::string compare_lines(const ObjectRecording& recording, const std::string& text,
                          const history::History& h, std::size_t& streamed) {
  GivenLines lines(text);
  const auto found = compare_stream(lines, h);
  if (!found.difference.empty()) return found.difference;
  const bool strings = recording.object == Object::kStrings;
  if (found.refused && !strings) return "stream: " + found.refused->to_string();
  if (strings) return found.refused ? unexpected(*found.refused, h) : "stream: took strings";
  ++streamed;
  return {};
}

std::string compare_log(const ObjectRecording& recording, const history::History& h) {
  const auto log = formats::read_knossos(recording.log, "input");
  return log.ok() ? difference(h, *log, kColumns) : log.error().to_string();
}

}  // namespace

std::string ObjectAgreement::difference_of(std::uint64_t seed) {
  const auto recording = random_objects(seed);
  const auto object = static_cast<std::size_t>(recording.object);
  const auto text = json_lines(recording.maps);
  const auto told = [&](const std::string& wrong) { return wrong + "\n" + text; };
  const auto read = formats::read_jepsen(text, "input", 1);
  if (!read.ok()) {
    ++tally_.refused;
    const auto wrong = compare_refusal(recording, read.error());
    return wrong.empty() ? "" : told(wrong);
  }
  if (auto wrong = compare_forms(recording.maps, *read, seed); !wrong.empty()) return wrong;
  ++tally_.compared[object];
  if (recording.history) {
    auto wrong = difference(*recording.history, *read, kColumns);
    if (wrong.empty()) wrong = compare_verdicts(*recording.history, *read, tally_.violated);
    if (!wrong.empty()) return told(wrong);
  }
  if (auto wrong = compare_lines(recording, text, *read, tally_.streamed[object]); !wrong.empty())
    return told(wrong);
  const auto watched = compare_watch(text, *read, recording.open_compare, seed);
  if (!watched.difference.empty()) return told(watched.difference);
  if (watched.refused > 0 && recording.object != Object::kStrings)
    return told("watch: refused what the stream takes");
  tally_.watched[object] += watched.compared;
  if (recording.log.empty()) return {};
  ++tally_.logs;
  const auto wrong = compare_log(recording, *read);
  return wrong.empty() ? "" : told(wrong + "\n" + recording.log);
}

}  // namespace cupel::test
