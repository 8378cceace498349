// Updates of unknown outcome with known deliveries: what is said to be certain against every way in
// which the last update of a replica may have happened, over random histories; and its
// certificates.
#include "crdt/analysis/certain.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "base/random.hpp"
#include "crdt/io/certificate.hpp"
#include "crdt/io/reader.hpp"
#include "crdt/solve/context.hpp"
#include "crdt/verify/verify.hpp"
#include "crdt/workload/generate.hpp"
#include "support/parameter_name.hpp"

namespace cupel::crdt {
namespace {

using Json = nlohmann::json;
using Lines = std::vector<Json>;

std::string text_of(const Lines& lines) {
  std::string text;
  for (const Json& line : lines) text += line.dump() + "\n";
  return text;
}

bool is_operation(const Json& line) {
  return line.contains("process") && line["f"] != "deliver";
}

bool is_update(const Json& line) {
  return is_operation(line) && line["f"] != "read" && line["f"] != "contains";
}

// What an operation says that its process had seen, as a line before it.
std::optional<Json> version_of(const Json& line) {
  if (!line.contains("seen")) return std::nullopt;
  return Json{{"process", line["process"]}, {"f", "version"}, {"value", line["seen"]}};
}

// Some deliver lines become what the next operation of their process had seen.
Lines with_seen(const Lines& lines, base::Random& random) {
  Lines changed;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const bool next = i + 1 < lines.size() && lines[i]["f"] == "deliver" &&
                      is_operation(lines[i + 1]) && lines[i + 1]["process"] == lines[i]["process"];
    changed.push_back(lines[i]);
    if (!next || !random.chance(0.5)) continue;
    changed.back() = lines[i + 1];
    changed.back()["seen"] = lines[i]["value"];
    ++i;
  }
  return changed;
}

// A history in which the last update of a replica is of unknown outcome, and perhaps a read: no
// line names the update.
struct Doubtful {
  Lines lines;
  std::size_t at = 0;  // of the update
};

std::optional<Doubtful> doubtful(Type type, std::uint64_t seed, base::Random& random) {
  GenerateOptions options;
  options.type = {type};
  options.replicas = 2;
  options.keys = 2;
  options.values = 2;
  options.ops = 8;
  options.final_reads = random.chance(0.7);
  options.seed = seed;
  options.context = true;
  options.times = false;
  auto bugs = injected_bugs_of(type);
  for (const auto& own : bugs_of(type)) bugs.push_back(own);
  if (!bugs.empty() && random.chance(0.5)) options.bug = bugs[random.below(bugs.size())];
  const auto history = generate(options);
  if (!history.ok()) return std::nullopt;
  Doubtful made;
  const char* const rule = random.chance(0.7) ? "applied" : random.chance(0.5) ? "causal" : "fifo";
  made.lines.push_back({{"f", "delivery"}, {"value", rule}});
  const std::string text = write(*history);
  for (std::size_t at = 0; at < text.size();) {
    const auto end = text.find('\n', at);
    auto line = Json::parse(text.substr(at, end - at));
    if (line["f"] != "delivery") made.lines.push_back(std::move(line));
    at = end + 1;
  }
  made.lines = with_seen(made.lines, random);
  for (Json& line : made.lines) {
    const bool reads = is_operation(line) && !is_update(line);
    if (reads && random.chance(0.1)) line["type"] = "info";
  }
  const int process = static_cast<int>(random.below(2));
  int updates = 0;
  for (std::size_t i = 0; i < made.lines.size(); ++i) {
    if (!is_update(made.lines[i]) || made.lines[i]["process"] != process) continue;
    made.at = i;
    ++updates;
  }
  if (updates == 0) return std::nullopt;
  made.lines[made.at]["type"] = "info";
  const auto id = fmt::format("{}:{}", process, updates - 1);
  for (Json& line : made.lines) {
    const char* const field = line["f"] == "deliver" ? "value" : "seen";
    if (!line.contains(field)) continue;
    Json kept = Json::array();
    for (const Json& named : line[field]) {
      if (named != id) kept.push_back(named);
    }
    line[field] = kept;
  }
  return made;
}

std::optional<Verdict> decided(const Lines& lines, Type type) {
  const auto history = read(text_of(lines), "h", {type});
  if (!history.ok()) return std::nullopt;
  const auto visibility = Visibility::of(*history);
  if (!visibility.ok()) return std::nullopt;
  base::Budget budget;
  return decide_context({*history, *visibility, {}, budget}).verdict;
}

// The update as that of a process of its own, which had seen nothing or what its client had seen
// by then; each replica sees it from one of its operations on, or never.
bool can_have_happened(const Doubtful& doubtful, Type type) {
  const Json& update = doubtful.lines[doubtful.at];
  Json seen = Json::array();
  int own = 0;
  for (std::size_t i = 0; i < doubtful.at; ++i) {
    const Json& line = doubtful.lines[i];
    if (!line.contains("process") || line["process"] != update["process"]) continue;
    if (const char* const field = line["f"] == "deliver" ? "value" : "seen"; line.contains(field))
      seen.insert(seen.end(), line[field].begin(), line[field].end());
    if (is_update(line)) seen.push_back(fmt::format("{}:{}", line["process"].dump(), own++));
  }
  std::vector<std::vector<std::size_t>> places(2);  // of the lines before which it is seen
  for (std::size_t i = 1; i < doubtful.lines.size(); ++i) {
    const Json& line = doubtful.lines[i];
    if (i != doubtful.at && is_operation(line)) places[line["process"].get<int>()].push_back(i);
  }
  for (auto& of_replica : places) of_replica.push_back(doubtful.lines.size());  // never
  for (const bool knows : {false, true}) {
    for (const auto first : places[0]) {
      for (const auto second : places[1]) {
        Lines lines;
        for (std::size_t i = 0; i < doubtful.lines.size(); ++i) {
          if (i == first) lines.push_back({{"process", 0}, {"f", "deliver"}, {"value", {"7:0"}}});
          if (i == second) lines.push_back({{"process", 1}, {"f", "deliver"}, {"value", {"7:0"}}});
          Json line = doubtful.lines[i];
          const bool unknown = line.contains("type");
          if (auto version = version_of(line); unknown && version) lines.push_back(*version);
          if (unknown && i != doubtful.at) continue;  // a read
          if (i == doubtful.at) {
            if (knows) lines.push_back({{"process", 7}, {"f", "deliver"}, {"value", seen}});
            line["process"] = 7;
            line.erase("type");
            line.erase("seen");
          }
          lines.push_back(std::move(line));
        }
        if (decided(lines, type) == Verdict::kSatisfied) return true;
      }
    }
  }
  return false;
}

constexpr std::uint64_t kHistories = 800;

class Certain : public testing::TestWithParam<Type> {};

TEST_P(Certain, HoldsHoweverTheUpdateHappened) {
  const Type type = GetParam();
  base::Random random(31 + static_cast<std::uint64_t>(type));
  int satisfied = 0, violated = 0, refused = 0;
  for (std::uint64_t seed = 1; seed <= kHistories; ++seed) {
    const auto made = doubtful(type, seed, random);
    if (!made) continue;
    const std::string text = text_of(made->lines);
    const auto open = read(text, "h", {type});
    ASSERT_TRUE(open.ok()) << open.error().to_string() << "\n" << text;
    ASSERT_NE(open->context.unknown_outcome_line, 0u);
    for (const auto outcome : {UnknownOutcome::kAbsent, UnknownOutcome::kAbsentUnread}) {
      const auto history = read(text, "h", {type}, 1, outcome);
      ASSERT_TRUE(history.ok()) << history.error().to_string() << "\n" << text;
      const auto visibility = Visibility::of(*history);
      ASSERT_TRUE(visibility.ok()) << text;
      base::Budget budget;
      const auto found = analyze(*history, {.visibility = &*visibility}, budget);
      const bool certain = is_certain(*history, found);
      const auto verdict = found.decision.verdict;
      if (certain && verdict == Verdict::kViolated) {
        ASSERT_FALSE(can_have_happened(*made, type)) << text;
      }
      if (verdict == Verdict::kUnknown) continue;
      const auto certificate = certificate_of(*history, found);
      ASSERT_EQ(head_of(certificate).unknown_outcome, outcome);
      const auto verified = verify(*history, certificate);
      ASSERT_EQ(verified.status == CertificateStatus::kValid, certain) << verified.reason << "\n"
                                                                       << text << certificate;
      // It is of no other reading.
      ASSERT_NE(verify(*open, certificate).status, CertificateStatus::kValid) << text;
      (certain ? verdict == Verdict::kSatisfied ? satisfied : violated : refused) += 1;
      if (certain) break;
    }
  }
  EXPECT_GT(satisfied, 0);
  EXPECT_GT(violated, 0);
  EXPECT_GT(refused, 0);
}

INSTANTIATE_TEST_SUITE_P(Types, Certain, testing::ValuesIn(all_types()), test::parameter_name);

}  // namespace
}  // namespace cupel::crdt
