// Comparisons of readers: see the header.
#include "readers/agreement.hpp"

#include <fmt/format.h>

#include <optional>
#include <set>
#include <sstream>
#include <utility>
#include <vector>

#include "base/verdict.hpp"
#include "data/formats/format_spec.hpp"
#include "data/formats/jepsen_reader.hpp"
#include "data/formats/jepsen_writer.hpp"
#include "data/formats/transaction_stream.hpp"
#include "data/history/text_order.hpp"
#include "engine/certify/plain_reader.hpp"
#include "engine/check/check.hpp"
#include "engine/levels/decide.hpp"
#include "engine/online/stream.hpp"
#include "engine/online/window.hpp"
#include "property/random_history.hpp"
#include "readers/random_recording.hpp"
#include "readers/same_history.hpp"
#include "readers/stream_agreement.hpp"

namespace cupel::test {

namespace {

using formats::Format;
using history::History;
using history::OpKind;

base::Result<History> read_in_pieces(const std::string& text, std::size_t bytes, unsigned threads) {
  formats::Reading reading;
  reading.set_piece_bytes(bytes);
  return formats::read_jepsen(text, "input", threads, reading);
}

// The forms in which one recording can be a file.
struct Form {
  std::string name, text;
};

std::vector<Form> forms(const std::vector<Document>& maps, std::uint64_t seed) {
  base::Random random(seed * 7 + 3);
  const Style lines{.random = &random, .one_line = true};
  const Style free{.random = &random, .one_line = false};
  return {{"JSON lines with spellings", json_lines(maps, lines)},
          {"JSON maps", json_lines(maps, free)},
          {"JSON array", json_array(maps, free)},
          {"EDN lines", edn_lines(maps)},
          {"EDN lines with spellings", edn_lines(maps, lines)},
          {"EDN maps", edn_lines(maps, free)},
          {"EDN vector", edn_vector(maps, '[', free)},
          {"EDN list", edn_vector(maps, '(', free)},
          {"EDN records", edn_records(maps, free)}};
}

std::string told(const std::string& what, const std::string& difference, const std::string& text) {
  return what + ": " + difference + "\n" + text;
}

// The second reader, by which `cupel verify` reads.
std::string compare_plainly(const std::string& text, const History& h) {
  const auto plain = certify::read_plainly(text, "input");
  if (!plain.ok()) return "the second reader: " + plain.error().to_string();
  if (!plain->unread.empty()) return {};
  return certify::compare(h, *plain);
}

// One map with another field or value.
std::vector<Document> edited(std::vector<Document> maps, base::Random& random) {
  auto& map = maps[random.below(maps.size())];
  auto& [name, field] = map.members[random.below(map.members.size())];
  Document* at = &field;
  while (at->kind == Document::Kind::kVector && !at->items.empty() && !random.chance(0.15)) {
    at = &at->items[random.below(at->items.size())];
  }
  static constexpr const char* kWords[] = {"ok", "fail", "info", "w", "r", "append"};
  if (at->kind == Document::Kind::kVector && !at->items.empty() && random.chance(0.7)) {
    at->items.pop_back();
  } else if (at->kind == Document::Kind::kInteger && random.chance(0.5)) {
    at->integer ^= 1;
  } else {
    *at = random.chance(0.3) ? Document::of(kWords[random.below(6)]) : random_scalar(random);
  }
  return maps;
}

// The comparison of `cupel verify` finds a difference where the columns of two histories differ.
std::string compare_edited(const std::vector<Document>& maps, const History& h, std::uint64_t seed,
                           std::size_t& told_apart) {
  base::Random random(seed * 5 + 2);
  const auto text = json_lines(edited(maps, random));
  const auto other = read_in_pieces(text, 0, 1);
  const auto plain = certify::read_plainly(text, "input");
  if (!other.ok() || !plain.ok()) return {};
  const bool same = difference(h, *other, {.ids = false, .metadata = false}).empty();
  const auto found = certify::compare(h, *plain);
  if (same != found.empty()) return told("edited", same ? found : "no difference found", text);
  told_apart += !same;
  return {};
}

// --- writers of cupel ---

base::Result<std::string> written(const History& h, Format format, bool edn) {
  std::ostringstream out;
  auto done = formats::spec_of(format).write(h, out, {.format = format, .edn = edn});
  if (!done.ok()) return std::move(done).error();
  return std::move(out).str();
}

base::Result<History> read_back(const std::string& bytes, Format format) {
  return formats::spec_of(format).read({"input", {{"input", bytes}}, 1}, {});
}

// The facts of which a format says that it loses them are not compared.
Compared kept_by(const History& h, Format format) {
  const auto lost = formats::lost_facts(h, format);
  const std::set<std::string> all(lost.begin(), lost.end());
  const bool jepsen = format == Format::kJepsen;
  return {.ids = false,
          .labels = !jepsen && !all.contains("transaction numbers"),
          .times = !all.contains("times"),
          .metadata = jepsen || format == Format::kCupel,
          .names = !all.contains("session names")};
}

std::string compare_writers(const History& h) {
  for (const bool edn : {false, true}) {
    const auto text = written(h, Format::kJepsen, edn);
    if (!text.ok()) return told("writing", text.error().to_string(), "");
    const auto read = read_back(*text, Format::kJepsen);
    if (!read.ok()) return told("reading what was written", read.error().to_string(), *text);
    // A read that is not known, of a transaction that did not commit, is written as null.
    if (auto wrong = difference(h, *read, kept_by(h, Format::kJepsen)); !wrong.empty()) {
      return told(edn ? "written as EDN" : "written as JSON", wrong, *text);
    }
  }
  const auto columns = written(h, Format::kCupel, false);
  if (!columns.ok()) return told("writing columns", columns.error().to_string(), "");
  const auto read = read_back(*columns, Format::kCupel);
  if (!read.ok()) return told("reading columns", read.error().to_string(), "");
  return difference(h, *read, {.ids = false});
}

// Registers with integers, which more formats can have.
std::string compare_integer_formats(std::uint64_t seed, std::size_t& converted) {
  static constexpr Kind kKinds[] = {Kind::kRegister, Kind::kDuplicates, Kind::kStatuses,
                                    Kind::kMultiRead, Kind::kSessionOrder};
  auto sketch = random_sketch(kKinds[seed % 5], seed);
  for (auto& session : sketch.sessions) {
    for (auto& txn : session.txns) {
      for (auto& op : txn.ops) {
        op.key = Atom::of(std::int64_t{op.key.text.front()});
        if (op.value == Atom::null()) op.value = Atom::of(0);
      }
    }
  }
  sketch.initial = Atom::of(0);  // as these formats have it
  const auto h = build(sketch);
  for (const Format format : {Format::kPlume, Format::kAwdit, Format::kDbcop}) {
    const auto text = written(h, format, false);
    if (!text.ok()) continue;  // it says why
    const auto read = read_back(*text, format);
    const std::string name(formats::name(format));
    if (!read.ok()) return told(name, read.error().to_string(), to_text(sketch));
    ++converted;
    auto what = kept_by(h, format);
    if (h.session_count() != read->session_count()) continue;  // sessions without transactions
    if (auto wrong = difference(h, *read, what); !wrong.empty()) {
      return told(name, wrong, to_text(sketch));
    }
  }
  return {};
}

bool has_open_range(const History& h) {
  for (std::uint32_t o = 0; o < h.op_count(); ++o) {
    const auto op = h.op(history::OpId(o));
    if (op.kind == OpKind::kRangeRead && h.value(h.range(op).high) == history::kAboveAll) {
      return true;
    }
  }
  return false;
}

bool is_collection(history::ScalarView v) {
  if (v.kind != history::ScalarKind::kLiteral) return false;
  return v.text.starts_with('[') || v.text.starts_with('{') || v.text.starts_with("#{");
}

// A read of a vector is one of a list until the key is written, and a read of a collection is not
// that of a register until a collection is written: only the whole file tells.
bool reads_a_collection(const History& h) {
  for (std::uint32_t o = 0; o < h.op_count(); ++o) {
    const auto op = h.op(history::OpId(o));
    if (op.kind == OpKind::kRead && op.value.valid() && is_collection(h.value(op.value)))
      return true;
    if (op.kind != OpKind::kRangeRead) continue;
    for (const auto& entry : h.range(op).entries) {
      if (is_collection(h.value(entry.value))) return true;
    }
  }
  return false;
}

}  // namespace

std::string compare_forms(const std::vector<Document>& maps, const History& plain,
                          std::uint64_t seed) {
  for (const auto& form : forms(maps, seed)) {
    const auto piece = seed % 3 == 0 ? 0 : 1 + seed % 211;
    const auto read = read_in_pieces(form.text, piece, 1 + seed % 3);
    if (!read.ok()) return told(form.name, read.error().to_string(), form.text);
    if (auto wrong = difference(plain, *read); !wrong.empty()) {
      return told(form.name, wrong, form.text);
    }
    if (auto wrong = compare_plainly(form.text, *read); !wrong.empty()) {
      return told(form.name, wrong, form.text);
    }
  }
  return {};
}

std::string unexpected(const base::Error& refusal, const History& h) {
  static constexpr const char* kOfCollections[] = {
      "used both as a list", "in a range read and with appends",
      "a collection, but every write wrote a single value"};
  const auto told = [&] { return "refused only as it comes: " + refusal.to_string(); };
  if (!leaves_to_the_whole(refusal)) return told();
  if (refusal.message.find("of a store of strings") != std::string::npos) {
    return h.fact("kind").starts_with("strings") ? "" : told();
  }
  for (const auto* reason : kOfCollections) {
    if (refusal.message.find(reason) != std::string::npos)
      return reads_a_collection(h) ? "" : told();
  }
  return told();
}

std::string compare_verdicts(const History& a, const History& b, std::size_t& violated) {
  const auto left = check::check(a, {}).levels, right = check::check(b, {}).levels;
  for (std::size_t i = 0; i < left.size(); ++i) {
    if (left[i].verdict != right[i].verdict) {
      return fmt::format("the verdicts at {} differ", levels::name(left[i].level));
    }
    violated += left[i].verdict == check::Verdict::kViolated;
  }
  return {};
}

WatchComparison compare_watch(const std::string& text, const History& h, bool open_compare,
                              std::uint64_t seed) {
  using base::Verdict;
  using levels::Level;
  WatchComparison found;
  for (const Level level :
       {Level::kCausal, Level::kStrongSessionSerializable, Level::kStrictSerializable}) {
    base::Budget budget;
    const auto whole = levels::Decider(h, 0, 1, false).decide(level, budget).status;
    if (whole == Verdict::kRefused) continue;
    online::Window window({.level = level});
    online::Stream stream(window, "input");
    base::Status taken = base::Ok{};
    for (std::string_view rest = text; taken.ok() && !rest.empty();) {
      std::size_t end = 0;
      for (std::uint64_t i = 0; i < 1 + seed % 5 && end < rest.size(); ++i) {
        end = rest.find('\n', end) + 1;
      }
      taken = stream.take(rest.substr(0, end));
      rest.remove_prefix(end);
    }
    if (taken.ok()) taken = stream.end();
    if (!taken.ok()) {
      ++found.refused;
      if (found.difference = unexpected(taken.error(), h); !found.difference.empty()) return found;
      continue;
    }
    const auto look = window.look(budget, /*ended=*/true);
    const bool accepts_more = open_compare && look.status == Verdict::kSatisfied;
    // One that names no operations may explain what is violated: the recorded history is asked.
    const bool asks = look.status == Verdict::kUnknown && text.find(R"("value":[])") != text.npos;
    if (look.status != whole && !accepts_more && !asks) {
      found.difference =
          fmt::format("watch: the verdict at {} is {}, and of the whole {}", levels::name(level),
                      static_cast<int>(look.status), static_cast<int>(whole));
      return found;
    }
    ++found.compared;
  }
  return found;
}

std::string ReaderAgreement::difference_of(std::uint64_t seed) {
  const auto recording = random_recording(seed);
  const auto text = json_lines(recording.maps);
  if (recording.maps.empty() || recording.history.txn_count() == 0) return {};
  const auto plain = read_in_pieces(text, 0, 1);
  // Random operations read what nobody wrote, which one of unknown outcome may have written.
  if (!plain.ok() && has_unsaid_write(plain.error())) return {};
  if (!plain.ok()) return told("JSON lines", plain.error().to_string(), text);
  const Compared what{.ids = false, .metadata = false};
  if (auto wrong = difference(recording.history, *plain, what); !wrong.empty()) {
    return told("expected, and read from JSON lines", wrong, text);
  }
  ++tally_.compared;
  tally_.open_ranges += has_open_range(*plain);
  if (auto wrong = compare_plainly(text, *plain); !wrong.empty()) return told("JSON", wrong, text);
  auto edit = compare_edited(recording.maps, *plain, seed, tally_.told_apart);
  if (!edit.empty()) return edit;
  if (auto wrong = compare_forms(recording.maps, *plain, seed); !wrong.empty()) return wrong;
  if (auto wrong = compare_verdicts(recording.history, *plain, tally_.violated); !wrong.empty()) {
    return told("JSON lines", wrong, text);
  }
  if (auto wrong = compare_writers(*plain); !wrong.empty()) return wrong;
  if (auto wrong = compare_integer_formats(seed, tally_.converted); !wrong.empty()) return wrong;
  if (!recording.as_it_comes) return {};
  auto source = formats::stream_history(folder_.file("history.jsonl", text));
  if (!source.ok()) return source.error().to_string();
  auto streamed = compare_stream(**source, *plain);
  if (streamed.refused) streamed.difference = unexpected(*streamed.refused, *plain);
  if (!streamed.difference.empty()) return told("JSON lines", streamed.difference, text);
  ++(streamed.refused ? tally_.refused : tally_.streamed);
  const auto watched = compare_watch(text, *plain, recording.open_compare, seed);
  tally_.watched += watched.compared;
  return watched.difference.empty() ? "" : told("JSON lines", watched.difference, text);
}

}  // namespace cupel::test
