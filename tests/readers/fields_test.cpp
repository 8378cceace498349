// Files that are odd outside of what has a meaning, and files that are cut: both readers take them
// alike.
#include <gtest/gtest.h>

#include <string>

#include "base/random.hpp"
#include "data/formats/jepsen_reader.hpp"
#include "engine/certify/plain_reader.hpp"
#include "readers/agreement.hpp"
#include "readers/random_recording.hpp"
#include "readers/same_history.hpp"
#include "support/rounds.hpp"

namespace cupel::test {
namespace {

base::Result<history::History> read(std::string_view text) {
  return formats::read_jepsen(text, "input", 1);
}

void expect_same(const std::string& text, const history::History& usual) {
  const auto found = read(text);
  ASSERT_TRUE(found.ok()) << found.error().to_string() << "\n" << text;
  EXPECT_EQ(difference(usual, *found), "") << text;
  const auto plain = certify::read_plainly(text, "input");
  ASSERT_TRUE(plain.ok()) << plain.error().to_string() << "\n" << text;
  EXPECT_EQ(certify::compare(*found, *plain), "") << text;
}

TEST(Fields, WithoutAMeaningAreNotReadInEdn) {
  const auto usual = read("{:type :ok, :process 0, :f :txn, :value [[:w :x 1]]}");
  ASSERT_TRUE(usual.ok());
  for (const std::string odd : {"[a b ...]",
                                "...",
                                "1/0",
                                "1/3",
                                "08",
                                "0x",
                                "#<SQLException java.sql: a > b>",
                                "[#<Object[] [Ljava.lang.Object;@7f> 1]",
                                "#object[java.lang.Object 0x1f \"a\"]",
                                "##Foo",
                                "::a",
                                "#foo/bar {:a 1}",
                                "\\foo",
                                "\"\\q }\"",
                                "@(deref x)",
                                "#'user/x",
                                "^{:a ...} x",
                                "#\"a\\d\"",
                                "#{1 1}",
                                "{:a}",
                                "{:a 1 :a 2}",
                                "#_ ... 08",
                                "[#_ ... 08]",
                                "#(+ 1 %)",
                                "'a",
                                "(a ; ] }\n 08)",
                                "[\\] \\{ \\\"]",
                                "99999999999999999999999999999e9999999999M",
                                ":"}) {
    expect_same("{:type :ok, :process 0, :trace " + odd + ", :f :txn, :value [[:w :x 1]]}", *usual);
    expect_same("{:trace " + odd + " :type :ok, :process 0, :f :txn, :value [[:w :x 1]]}", *usual);
    expect_same("[{:type :ok, :process 0, :f :txn, :value [[:w :x 1]] :trace " + odd + "}]",
                *usual);
    // The values of the nemesis have no meaning either.
    if (odd == ":" || odd[0] == '@' || odd[0] == '^' || odd.starts_with("#_")) continue;
    expect_same("{:type :info, :process :nemesis, :f :kill, :value " + odd +
                    "} {:type :ok, :process 0, :f :txn, :index 0, :value [[:w :x 1]]}",
                *usual);
  }
  for (const std::string odd : {"08", "...", "1/0", "#<Foo>", "##Foo", "::a"}) {
    EXPECT_FALSE(read("{:type :ok, :process 0, :f :txn, :value [[:w :x " + odd + "]]}").ok())
        << odd;
    EXPECT_FALSE(
        read("{:type :ok, :process 0, :index " + odd + ", :f :txn, :value [[:w :x 1]]}").ok())
        << odd;
  }
  for (const std::string odd : {"[a", "\"a", "(]", "#<a", "}"}) {
    EXPECT_FALSE(
        read("{:type :ok, :process 0, :f :txn, :value [[:w :x 1]], :trace " + odd + "}").ok())
        << odd;
  }
}

TEST(Fields, WithoutAMeaningAreNotReadInJson) {
  const std::string map = R"("type":"ok","process":0,"f":"txn","value":[["w","x",1]])";
  const auto usual = read("{" + map + "}");
  ASSERT_TRUE(usual.ok());
  for (const std::string odd :
       {"NaN", "-Infinity", "1e999", "123456789012345678901234567890", "01",
        "[1,NaN,{\"a\":Infinity}]", "\"\\q }\"", "{\"a\":\"}\",\"b\":+1}"}) {
    expect_same("{\"trace\":" + odd + "," + map + "}", *usual);
    expect_same("{" + map + ", \"trace\" : " + odd + " }\n", *usual);
    expect_same("[{" + map + ",\"trace\":" + odd + "}]", *usual);
  }
  EXPECT_FALSE(read(R"({"type":"ok","process":0,"f":"txn","value":[["w","x",NaN]]})").ok());
  EXPECT_FALSE(read("{" + map + ",\"index\":01}").ok());
  EXPECT_FALSE(read("{" + map + ",\"trace\":[1}").ok());
  // A name with an escape may be one that has a meaning.
  const auto named = [](const std::string& name) {
    return R"([{"type":"ok",")" + name + R"(":7,"f":"txn","value":[["w","x",1]],"trace":NaN}])";
  };
  EXPECT_EQ(read(named("process"))->session_name(history::SessionId(0)), "7");
  EXPECT_EQ(read(named("pr\\u006fcess"))->session_name(history::SessionId(0)), "7");
  for (const char* name : {"pr\\cess", "\\"}) EXPECT_FALSE(read(named(name)).ok()) << name;
}

TEST(Fields, WithAMeaningStandOnce) {
  for (const auto* twice :
       {R"({"type":"ok","process":0,"f":"txn","value":[["w","x",1]],"value":[["w","x",2]]})",
        R"({"type":"fail","process":0,"f":"txn","value":[["w","x",1]],"type":"ok"})",
        R"([{"type":"ok","process":0,"process":1,"f":"txn","value":[["w","x",1]]}])",
        "{:type :ok, :process 0, :f :txn, :value [[:w :x 1]], :value [[:w :x 2]]}"}) {
    const auto found = read(twice);
    ASSERT_FALSE(found.ok()) << twice;
    EXPECT_NE(found.error().message.find("twice in one map"), std::string::npos)
        << found.error().message;
  }
  EXPECT_TRUE(
      read(R"({"type":"ok","process":0,"f":"txn","value":[["w","x",1]],"note":1,"note":2})").ok());
}

// Wherever a file ends, both readers leave out the same line, or one of them rejects it.
TEST(Fields, AFileThatIsCutIsTheSameToBothReaders) {
  std::size_t compared = 0, cut = 0;
  for (std::uint64_t seed = 0; seed < rounds(60u); ++seed) {
    const auto recording = random_recording(seed);
    if (recording.maps.empty()) continue;
    base::Random random(seed);
    const Style lines{.random = &random, .one_line = true},
        free{.random = &random, .one_line = false};
    for (const auto& text : {json_lines(recording.maps), json_lines(recording.maps, lines),
                             json_lines(recording.maps, free), edn_lines(recording.maps)}) {
      const auto last = text.size() - std::min<std::size_t>(text.size(), 160);
      for (auto end = text.size(); end > last; --end) {
        const auto part = text.substr(0, end);
        const auto found = read(part);
        if (!found.ok()) continue;
        const auto plain = certify::read_plainly(part, "input");
        ASSERT_TRUE(plain.ok()) << part;
        ASSERT_EQ(certify::compare(*found, *plain), "") << "seed " << seed << "\n" << part;
        ++compared;
        cut += !found->fact("cut").empty();
      }
    }
  }
  EXPECT_GT(compared, rounds(1000u));
  EXPECT_GT(cut, rounds(1000u));
}

}  // namespace
}  // namespace cupel::test
