// The stream of operation maps and the reader of whole files, on random maps: also those that no
// recorder should write.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>

#include "base/random.hpp"
#include "data/formats/jepsen_reader.hpp"
#include "readers/stream_agreement.hpp"
#include "support/rounds.hpp"

namespace cupel::test {
namespace {

class RandomMaps {
 public:
  explicit RandomMaps(std::uint64_t seed) : random_(seed) {
    theme_ = random_.below(5);
    times_ = random_.below(3);
    keyed_ = random_.chance(0.5);
  }

  std::string run() {
    const auto count = 1 + random_.below(9);
    for (std::size_t i = 0; i < count; ++i) step();
    return text_;
  }

 private:
  template <typename T>
  const auto& any(const T& of) {
    return of[random_.below(std::size(of))];
  }
  std::string scalar() {
    constexpr const char* kScalars[] = {"null",  "1", "2",   "3",     "4",
                                        "\"a\"", "5", "[1]", "[1,2]", "[]"};
    return any(kScalars);
  }
  std::string key() {
    constexpr const char* kKeys[] = {"1", "2", "\"x\"", "\"l\"", "[1,2]"};
    return any(kKeys);
  }
  std::string micro(const std::string& of, bool answered) {
    switch (random_.below(9)) {
      case 0:
      case 1:
        return fmt::format(R"(["w",{},{}])", of, scalar());
      case 2:
      case 3:
        return fmt::format(R"(["append",{},{}])", of, random_.below(9));
      case 4:
        return fmt::format(R"(["cas",{},[{},{}]{}])", of, scalar(), scalar(),
                           random_.chance(0.3) ? ",false" : "");
      case 5:
        return fmt::format(R"(["range",[1,9],{}])",
                           answered ? fmt::format("[[{},{}]]", key(), scalar()) : "null");
      default:
        return fmt::format(R"(["r",{},{}])", of,
                           answered || random_.chance(0.1) ? scalar() : "null");
    }
  }
  // The operations of a transaction, and those of its completion: the reads are answered.
  std::pair<std::string, std::string> transaction() {
    std::string asked, told;
    for (std::size_t i = 0, count = random_.below(4); i < count; ++i) {
      const auto of = key();
      auto op = micro(of, false), done = op;
      if (op.starts_with("[\"r\"")) {
        done = fmt::format(R"(["r",{},{}{}])", of, scalar(), random_.chance(0.1) ? ",false" : "");
      }
      if (op.starts_with("[\"range"))
        done = fmt::format(R"(["range",[1,9],[[{},{}]]])", key(), scalar());
      if (random_.chance(0.05)) done = micro(key(), true);
      asked += (i > 0 ? "," : "") + op;
      told += (i > 0 ? "," : "") + done;
    }
    return {"[" + asked + "]", "[" + told + "]"};
  }
  std::string single(std::string_view f) {
    if (f == "cas")
      return keyed_ ? fmt::format("[{},[{},{}]]", key(), scalar(), scalar())
                    : fmt::format("[{},{}]", scalar(), scalar());
    if (f == "acquire" || f == "release") return random_.chance(0.1) ? "1" : "null";
    return keyed_ ? fmt::format("[{},{}]", key(), scalar()) : scalar();
  }

  struct Process {
    bool open = false;
    std::string f, told;
  };

  void step() {
    constexpr std::array<std::string_view, 4> kSingles = {"read", "write", "cas", "write"};
    constexpr std::array<std::string_view, 2> kLocks = {"acquire", "release"};
    constexpr std::array<const char*, 4> kEnds = {"ok", "ok", "fail", "info"};
    const auto p = random_.below(3);
    auto& process = processes_[p];
    if (process.open != random_.chance(0.05)) {
      auto told = process.told;
      if (random_.chance(0.15)) told = single(process.f == "txn" ? "write" : process.f);
      if (random_.chance(0.1)) told = "null";
      if (random_.chance(0.05)) told = "\"timeout\"";
      const auto f = random_.chance(0.03) || process.f.empty() ? "" : process.f;
      map(any(kEnds), p, f, told.empty() ? "null" : told);
      process.open = false;
      return;
    }
    process.f = theme_ == 3 && random_.chance(0.9)   ? any(kLocks)
                : theme_ >= 2 && random_.chance(0.8) ? any(kSingles)
                : random_.chance(0.05)               ? "init"
                : random_.chance(0.03)               ? "nap"
                                                     : "txn";
    std::string asked;
    if (process.f == "txn") {
      std::tie(asked, process.told) = transaction();
    } else {
      asked = process.told = single(process.f);
      if (process.f == "read" && random_.chance(0.8))
        asked = keyed_ ? asked.substr(0, asked.rfind(',')) + ",null]" : "null";
      if (process.f == "write" && random_.chance(0.2)) asked = "null";
      if (process.f == "nap" && random_.chance(0.5)) process.told = transaction().second;
    }
    map("invoke", p, process.f, asked);
    process.open = true;
  }

  void map(std::string_view type, std::size_t process, std::string_view f,
           const std::string& value) {
    ++now_;
    const bool timed = times_ == 1 || (times_ == 2 && random_.chance(0.95));
    text_ += fmt::format(R"({{"type":"{}","process":{},{}"value":{}{}}})"
                         "\n",
                         type, process, f.empty() ? "" : fmt::format(R"("f":"{}",)", f), value,
                         timed ? fmt::format(R"(,"time":{})", now_) : "");
  }

  base::Random random_;
  std::uint64_t theme_, times_;
  bool keyed_;
  int now_ = 0;
  std::array<Process, 3> processes_;
  std::string text_;
};

TEST(StreamOfMaps, AgreesWithTheReaderOfWholeFiles) {
  std::size_t read = 0, refused = 0;
  const auto rounds = test::rounds(20'000U);
  for (std::uint64_t seed = 1; seed <= rounds; ++seed) {
    const auto text = RandomMaps(seed).run();
    ASSERT_EQ(compare_maps(text), "") << "seed " << seed << "\n" << text;
    ++(formats::read_jepsen(text, "input", 1).ok() ? read : refused);
  }
  EXPECT_GT(read, rounds / 10);
  EXPECT_GT(refused, rounds / 10);
}

}  // namespace
}  // namespace cupel::test
