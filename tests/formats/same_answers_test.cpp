// Same answers: the reader of whole files and the stream of operation maps say the same of the kind
// of workload. Where the stream refuses a line, the other reader refuses a file that ends with this
// line, with the same message at the same line. Only a message that says that a later line may
// decide may stand alone.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <array>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/random.hpp"
#include "data/formats/formats.hpp"
#include "data/formats/jepsen_reader.hpp"
#include "data/formats/op_stream.hpp"
#include "data/history/scalar.hpp"
#include "support/rounds.hpp"

namespace cupel::formats {
namespace {

// Takes everything and keeps nothing.
class NoSink final : public StreamSink {
 public:
  history::Key key_of(history::ScalarView name) override {
    const auto key = keys_.intern(name);
    if (key >= uses_.size()) uses_.resize(key + 1, 0);
    return key;
  }
  history::ScalarView name_of(history::Key key) override { return keys_.at(key); }
  std::uint8_t use(history::Key key, std::uint8_t as) override { return uses_[key] |= as; }
  void set_default_initial(history::ScalarView /*value*/) override {}
  void set_initial(history::Key /*key*/, history::ScalarView /*value*/) override {}
  [[nodiscard]] bool has_begun() const override { return false; }
  history::Time note_set_up(history::Time ended) override { return ended; }
  std::uint32_t session(const std::string& /*name*/) override { return sessions_++; }
  void begin(std::uint32_t /*session*/, history::Moment /*at*/,
             const history::Operations& /*tried*/, bool /*silent*/) override {}
  void end(std::uint32_t /*session*/, history::TxnStatus /*status*/, history::Moment /*invoked*/,
           history::Moment /*at*/, history::Operations& /*seen*/) override {}

 private:
  history::ScalarTable keys_;
  std::vector<std::uint8_t> uses_;
  std::uint32_t sessions_ = 0;
};

struct Answer {
  std::string kind = {};
  std::optional<base::Error> refused = {};
  std::size_t lines = 0;  // read until then
  bool nothing = false;   // no operation
};

Answer of_stream(const std::vector<std::string>& lines, const Interpretation& as) {
  NoSink sink;
  OpStream stream(sink, "h", as);
  Answer answer;
  for (const auto& line : lines) {
    ++answer.lines;
    stream.give(line);
    for (bool more = true; more;) {
      const auto read = stream.step();
      if (!read.ok()) {
        answer.refused = read.error();
        return answer;
      }
      more = *read;
    }
  }
  if (auto finished = stream.finish(); !finished.ok()) answer.refused = finished.error();
  answer.kind = stream.fact("kind");
  answer.nothing = !stream.any_client();
  return answer;
}

Answer of_file(const std::vector<std::string>& lines, std::size_t count, const Interpretation& as) {
  std::string text;
  for (std::size_t i = 0; i < count; ++i) text += lines[i];
  Answer answer;
  const auto h = read_jepsen(text, "h", 1, {}, as);
  if (!h.ok()) {
    answer.refused = h.error();
  } else {
    answer.kind = h->fact("kind");
  }
  return answer;
}

// Empty: they say the same. `words`: they also refuse in the same words.
std::string compare(const std::vector<std::string>& lines, const Interpretation& as,
                    bool words = true) {
  const auto stream = of_stream(lines, as);
  const auto whole = of_file(lines, lines.size(), as);
  std::string text;
  for (const auto& line : lines) text += line;
  const auto told = [&](const std::string& what) {
    return fmt::format("{}\nkind: {}\n{}", what, as.kind ? name(*as.kind) : "not stated", text);
  };
  if (!stream.refused) {
    // A stream waits for a transaction that may say later what it wrote, and accuses nobody.
    const bool waits =
        whole.refused && whole.refused->message.find("nor all that it wrote") != std::string::npos;
    if (whole.refused && !stream.nothing && !waits)
      return told("refused only as a file: " + whole.refused->to_string());
    if (!whole.refused && stream.kind != whole.kind)
      return told(fmt::format("'{}' as a stream, '{}' as a file", stream.kind, whole.kind));
    return {};
  }
  const std::string later = kNeedsTheWhole;
  const auto& message = stream.refused->message;
  const bool open = message.ends_with(later);
  if (!open && !whole.refused) return told("refused only as a stream: " + message);
  const auto before = of_file(lines, stream.lines, as);
  if (!before.refused) {
    return open ? "" : told("refused too early: " + stream.refused->to_string());
  }
  const bool same =
      message == before.refused->message || message == before.refused->message + later;
  if (!words || (same ? stream.refused->line == before.refused->line : open)) return {};
  return told(stream.refused->to_string() + "\n" + before.refused->to_string());
}

constexpr std::array<std::optional<Workload>, 5> kKinds = {std::nullopt, Workload::kTransactions,
                                                           Workload::kRegisters, Workload::kMutex,
                                                           Workload::kStrings};

struct Snippet {
  const char* f;
  const char* asked;
  const char* answered;
};
constexpr Snippet kSnippets[] = {{"txn", R"([["w","x",1]])", R"([["w","x",1]])"},
                                 {"txn", R"([["r","x",null]])", R"([["r","x",1]])"},
                                 {"txn", R"([["append",8,1]])", R"([["append",8,1]])"},
                                 {"txn", R"([["r",8,null]])", R"([["r",8,[1]]])"},
                                 {"write", "null", "7"},
                                 {"read", "[1,3]", "[1,5]"},
                                 {"read", "null", "5"},
                                 {"read", "null", "null"},
                                 {"read", "null", "[1,2,3]"},
                                 {"read", "null", R"([["r","x",1]])"},
                                 {"read", "[1,null]", "[1,5]"},
                                 {"write", "5", "5"},
                                 {"write", "[1,5]", "[1,5]"},
                                 {"write", "[1,2,3]", "[1,2,3]"},
                                 {"write", "null", "null"},
                                 {"cas", "[1,2]", "[1,2]"},
                                 {"cas", "[1,[5,6]]", "[1,[5,6]]"},
                                 {"cas", "null", "[1,2]"},
                                 {"acquire", "null", "null"},
                                 {"acquire", "2", "2"},
                                 {"release", "null", "null"},
                                 {"put", "3", "3"},
                                 {"nap", "null", "null"},
                                 {"nap", "null", R"([["w","x",2]])"},
                                 {"nap", "3", "3"},
                                 {"nap", "3", R"([["w","x",2]])"},
                                 {"add", "3", "3"},
                                 {"transfer", R"({"from":1})", R"({"from":1})"},
                                 {"enqueue", "1", "1"},
                                 {"init", "[7,5]", "[7,5]"},
                                 {"init", "null", "null"}};

void add(std::vector<std::string>& lines, int process, const Snippet& snippet, const char* type) {
  const auto map = [&](const char* of_type, const char* value) {
    lines.push_back(fmt::format("{{\"type\":\"{}\",\"process\":{},\"f\":\"{}\",\"value\":{}}}\n",
                                of_type, process, snippet.f, value));
  };
  map("invoke", snippet.asked);
  const std::string end = type;
  if (end == "ok") map(type, snippet.answered);
  if (end == "fail") map(type, snippet.asked);
  if (end == "info") map(type, "\"timeout\"");
}

TEST(SameAnswers, OfEveryPairOfOperations) {
  for (const auto& kind : kKinds) {
    for (const auto& a : kSnippets) {
      for (const auto& b : kSnippets) {
        std::vector<std::string> lines;
        add(lines, 0, a, "ok");
        add(lines, 1, b, "ok");
        ASSERT_EQ(compare(lines, {.kind = kind, .ignore = {}}), "");
      }
    }
  }
}

TEST(SameAnswers, OfRandomOperations) {
  for (std::uint64_t seed = 1; seed <= test::rounds(20'000U); ++seed) {
    base::Random random(seed);
    std::vector<std::string> lines;
    const auto count = 1 + random.below(5);
    for (std::size_t i = 0; i < count; ++i) {
      constexpr const char* kEnds[] = {"ok", "ok", "ok", "fail", "info", "none"};
      add(lines, static_cast<int>(i), kSnippets[random.below(std::size(kSnippets))],
          kEnds[random.below(std::size(kEnds))]);
    }
    const auto kind = random.below(2) == 0 ? std::nullopt : kKinds[random.below(kKinds.size())];
    Interpretation as{.kind = kind, .ignore = {}};
    if (random.below(4) == 0) as.ignore = {"nap"};
    ASSERT_EQ(compare(lines, as), "") << "seed " << seed;
  }
}

// With the field `key`, and completions that repeat their invocation, or do not.
TEST(SameAnswers, OfKeysAndDifferentCompletions) {
  constexpr const char* kFs[] = {"read", "write", "cas", "acquire", "release", "init", "txn"};
  constexpr const char* kValues[] = {"null",    "1",       "2",         "[1,2]",    "[1,3]",
                                     "[2,3]",   "\"a\"",   "\"b\"",     "[null,2]", "[1,null]",
                                     "[[1,2]]", "[[1,3]]", "{\"a\":1}", "1.5"};
  constexpr const char* kEnds[] = {"ok", "fail", "info"};
  std::size_t refused = 0;
  for (std::uint64_t seed = 1; seed <= test::rounds(20'000U); ++seed) {
    base::Random random(seed);
    std::vector<std::string> lines;
    const auto any = [&](const auto& of) { return of[random.below(std::size(of))]; };
    const auto keys = random.below(3);  // none, everywhere, here and there
    const auto map = [&](const char* type, std::size_t process, const char* f, const char* value) {
      const bool has = keys == 1 || (keys == 2 && random.below(2) == 0);
      const auto key = has ? fmt::format(R"("key":"{}",)", random.below(8) == 0 ? 'b' : 'a') : "";
      lines.push_back(fmt::format(R"({{"type":"{}","process":{},"f":"{}",{}"value":{}}})"
                                  "\n",
                                  type, process, f, key, value));
    };
    const char* f = any(kFs);
    for (std::size_t i = 0, count = 1 + random.below(3); i < count; ++i) {
      if (random.below(4) == 0) f = any(kFs);
      const char* value = any(kValues);
      if (std::string_view(f) == "txn") {
        map("invoke", i, f, R"([["w",1,2]])");
        map(any(kEnds), i, f, R"([["w",1,2]])");
        continue;
      }
      // A read asks for nothing; a write of null may be one of a value that its ok says.
      if (f == kFs[0]) value = keys > 0 ? "null" : "[1,null]";
      map("invoke", i, f, value);
      if (random.below(8) > 0) map(any(kEnds), i, f, random.below(2) == 0 ? value : any(kValues));
    }
    const auto kind = random.below(4) == 0 ? kKinds[random.below(kKinds.size())] : std::nullopt;
    const Interpretation as{.kind = kind, .ignore = {}};
    // Of what differs, each reader has words of its own.
    ASSERT_EQ(compare(lines, as, /*words=*/false), "") << "seed " << seed;
    refused += of_file(lines, lines.size(), as).refused ? 1 : 0;
  }
  EXPECT_GT(refused, test::rounds(2'000U));
  EXPECT_LT(refused, test::rounds(18'000U));
}

TEST(SameAnswers, OfSourcesWithoutOperations) {
  const std::string nemesis = R"({"type":"info","process":"nemesis","f":"start","value":null})";
  const std::string header =
      R"({"type":"info","process":"nemesis","f":"cupel.sessions","value":["0"]})";
  const std::string said =
      R"({"type":"info","process":"nemesis","f":"cupel.metadata","value":[["nothing happened","yes"]]})";
  const std::string nap = R"({"type":"ok","process":0,"f":"nap","value":1})";
  const struct {
    std::vector<std::string> lines;
    bool nothing_happened;
  } cases[] = {{{nemesis}, true}, {{nemesis, nemesis}, true},
               {{header}, false}, {{header, nemesis}, false},
               {{said}, true},    {{said, header, nemesis}, true},
               {{nap}, false},    {{nemesis, nap}, false}};
  for (const auto& [lines, expected] : cases) {
    std::string text;
    for (const auto& line : lines) text += line + "\n";
    const Interpretation as{.kind = {}, .ignore = {"nap"}};
    NoSink sink;
    OpStream stream(sink, "h", as);
    stream.give(text);
    for (bool more = true; more;) more = *stream.step();
    EXPECT_EQ(stream.nothing_happened(), expected) << text;
    const auto h = read_jepsen(text, "h", 1, {}, as);
    EXPECT_EQ(h.ok() && !h->fact(kNothingHappened).empty(), expected) << text;
  }
}

// Two files in one pipe: together they would be a history that nobody recorded.
TEST(SameAnswers, OfTwoHistoriesInOneSource) {
  const std::vector<std::string> one = {
      R"({"index":3,"type":"invoke","process":0,"f":"txn","value":[["w","x",1]]})"
      "\n",
      R"({"index":3,"type":"ok","process":0,"f":"txn","value":[["w","x",1]]})"
      "\n",
      R"({"index":5,"type":"invoke","process":0,"f":"txn","value":[["r","x",null]]})"
      "\n",
      R"({"index":6,"type":"ok","process":0,"f":"txn","value":[["r","x",1]]})"
      "\n"};
  auto two = one;
  two.insert(two.end(), one.begin(), one.end());
  EXPECT_EQ(of_file(one, one.size(), {}).refused, std::nullopt);
  const auto refused = of_file(two, two.size(), {}).refused;
  ASSERT_TRUE(refused.has_value());
  EXPECT_NE(refused->to_string().find(":5: found index 3 again"), std::string::npos)
      << refused->to_string();
  EXPECT_EQ(compare(two, {}), "");
}

// A file for each kind of workload of Jepsen's tests.
TEST(SameAnswers, OfTheKindsOfJepsensTests) {
  std::size_t files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(CUPEL_KINDS)) {
    std::ifstream in(entry.path());
    std::vector<std::string> lines;
    for (std::string line; std::getline(in, line);) lines.push_back(line + "\n");
    for (const auto& kind : kKinds)
      EXPECT_EQ(compare(lines, {.kind = kind, .ignore = {}}), "") << entry.path();
    ++files;
  }
  EXPECT_EQ(files, 17U);
}

}  // namespace
}  // namespace cupel::formats
