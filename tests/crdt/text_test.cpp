// Texts: a range is inserted in one piece, and seen and deleted as one.
#include <gtest/gtest.h>

#include "crdt/analysis/analyze.hpp"
#include "crdt/io/certificate.hpp"
#include "crdt/io/reader.hpp"
#include "crdt/verify/verify.hpp"
#include "crdt/workload/generate.hpp"

namespace cupel::crdt {
namespace {

constexpr NamedType kNamed{Type::kText};

// With its deliveries if it has any; the certificate is checked.
Verdict verdict_of_text(const std::string& lines) {
  const auto history = read(lines, "h", kNamed);
  EXPECT_TRUE(history.ok()) << (history.ok() ? "" : history.error().to_string());
  base::Budget budget;
  std::optional<Visibility> visibility;
  if (history->context.is_known()) visibility = Visibility::of(*history).value();
  const auto found = analyze(*history, {.visibility = visibility ? &*visibility : nullptr}, budget);
  const auto verified = verify(*history, certificate_of(*history, found));
  EXPECT_EQ(verified.status, CertificateStatus::kValid) << verified.reason << "\n" << lines;
  return found.decision.verdict;
}

TEST(Text, AReadSeesAllOfARangeOrNothing) {
  const std::string inserted = R"({"process":0,"f":"insert","value":[null,"abc"]}
)";
  const auto read = [&](const std::string& text) {
    return verdict_of_text(inserted + R"({"process":1,"f":"read","value":")" + text + "\"}");
  };
  EXPECT_EQ(read(""), Verdict::kSatisfied);
  EXPECT_EQ(read("abc"), Verdict::kSatisfied);
  EXPECT_EQ(read("ab"), Verdict::kViolated);
  EXPECT_EQ(read("acb"), Verdict::kViolated);
}

TEST(Text, ARangeIsDeletedAtOnce) {
  const std::string deleted = R"({"process":0,"f":"insert","value":[null,"abcd"]}
{"process":0,"f":"delete","value":"bd"}
)";
  const auto read = [&](const std::string& text) {
    return verdict_of_text(deleted + R"({"process":1,"f":"read","value":")" + text + "\"}");
  };
  EXPECT_EQ(read("ac"), Verdict::kSatisfied);
  EXPECT_EQ(read("abcd"), Verdict::kSatisfied);
  EXPECT_EQ(read("abc"), Verdict::kViolated);
}

// Its first character is not the one that the read shows.
TEST(Text, ARangeThatIsHalfThereIsExplained) {
  const auto explained = [](const char* process) {
    const auto history = read(std::string(R"({"process":0,"f":"insert","value":[null,"ab"]}
{"process":0,"f":"delete","value":"ab"}
{"process":)") + process + R"(,"f":"read","value":"b"})",
                              "h", kNamed);
    base::Budget budget;
    const auto found = analyze(*history, {}, budget);
    return found.explanation->name + ": " + found.explanation->summary;
  };
  EXPECT_EQ(
      explained("0"),
      "removed-character-shown: read() = \"b\" of replica 0 shows a character whose remove it "
      "has seen");
  EXPECT_EQ(explained("1"),
            "removed-character-shown: read() = \"b\" of replica 1 shows only a part of what "
            "delete(\"ab\") of replica 0 removes");
}

// What its replica showed is not in the middle of a new range; what came later may be.
TEST(Text, ARangeIsInsertedInOnePiece) {
  const std::string inserted = R"({"process":0,"f":"insert","value":[null,"ad"]}
DELIVER{"process":1,"f":"insert","value":["a","bc"]}
{"process":2,"f":"version","value":["0:0","1:0"]}
{"process":2,"f":"read","value":)";
  const auto read = [&](const std::string& deliver, const std::string& text) {
    auto lines = inserted + "\"" + text + "\"}";
    return verdict_of_text(lines.replace(lines.find("DELIVER"), 7, deliver));
  };
  const std::string arrived = R"({"process":1,"f":"deliver","value":["0:0"]}
)";
  EXPECT_EQ(read(arrived, "abcd"), Verdict::kSatisfied);
  EXPECT_EQ(read(arrived, "abdc"), Verdict::kViolated);
  // A concurrent range may be mixed with it.
  const std::string concurrent = R"({"process":0,"f":"insert","value":[null,"ab"]}
{"process":1,"f":"insert","value":[null,"cd"]}
{"process":2,"f":"read","value":)";
  EXPECT_EQ(verdict_of_text(concurrent + "\"acbd\"}"), Verdict::kSatisfied);
  EXPECT_EQ(verdict_of_text(concurrent + "\"adbc\"}"), Verdict::kViolated);
}

// Nothing is added after itself, with a read or without.
TEST(Text, InsertionsAfterEachOtherAreViolated) {
  const std::string cycle = R"({"process":0,"f":"insert","value":["b","a"]}
{"process":1,"f":"insert","value":["c","b"]}
{"process":2,"f":"insert","value":["a","dc"]}
)";
  for (const char* rest : {"", R"({"process":1,"f":"read","value":"acb"})"})
    EXPECT_EQ(verdict_of_text(cycle + rest), Verdict::kViolated);
  EXPECT_EQ(verdict_of_text(R"({"process":0,"f":"insert","value":["b","a"]}
{"process":1,"f":"insert","value":["c","b"]}
{"process":2,"f":"insert","value":[null,"dc"]}
)"),
            Verdict::kSatisfied);
}

TEST(Text, ACharacterMayBeOfAnyPlaneAndIsInsertedOnce) {
  EXPECT_EQ(
      verdict_of_text("{\"process\":0,\"f\":\"insert\",\"value\":[null,\"\\ud83d\\ude00é\"]}\n"
                      "{\"process\":0,\"f\":\"read\",\"value\":\"😀é\"}\n"),
      Verdict::kSatisfied);
  const auto twice = read(R"({"process":0,"f":"insert","value":[null,"aba"]})", "h", kNamed);
  ASSERT_FALSE(twice.ok());
  EXPECT_NE(twice.error().message.find("found a second insert of \"a\""), std::string::npos)
      << twice.error().message;
  for (const char* line :
       {R"({"process":0,"f":"insert","value":[null,""]})",
        R"({"process":0,"f":"insert","value":["ab","c"]})",
        R"({"process":0,"f":"insert","value":["a","ba"]})",
        R"({"process":0,"f":"delete","value":""})", R"({"process":0,"f":"delete","value":"aa"})",
        R"({"process":0,"f":"read","value":["a"]})",
        R"({"process":0,"f":"addAfter","value":[null,"a"]})"})
    EXPECT_FALSE(read(line, "h", kNamed).ok()) << line;
}

// Which of two would be gone, or whether another one was meant, nobody can say.
TEST(Text, AnOperationNamesACharacterOnce) {
  const auto error = [](std::string_view type, const std::string& line) {
    const auto history = read(line, "h", *type_of(type));
    return history.ok() ? "" : history.error().message;
  };
  const std::string insert = "{\"process\":0,\"f\":\"insert\",\"value\":[null,\"abc\"]}\n";
  const std::string once = ", expected each character once, as a text has it";
  for (const auto* type : {"text", "marked-text"}) {
    EXPECT_EQ(error(type, insert + R"({"process":0,"f":"delete","value":"aa"})"),
              "found delete with the value \"aa\"" + once);
    EXPECT_EQ(error(type, insert + R"({"process":0,"f":"delete","value":"ba"})"), "");
  }
  EXPECT_EQ(error("marked-text", insert + R"({"process":0,"f":"mark","value":["aba","b",1]})"),
            "found mark with the value [\"aba\",\"b\",1]" + once);
  EXPECT_EQ(error("marked-text", insert + R"({"process":0,"f":"mark","value":["ab","b",1]})"), "");
  const std::string put = "{\"process\":0,\"f\":\"put\",\"value\":[[\"t\"],{\"text\":\"t1\"}]}\n";
  EXPECT_EQ(error("map", put + R"({"process":0,"f":"delete","value":[[{"text":"t1"}],"aca"]})"),
            "found delete with the value [[{\"text\":\"t1\"}],\"aca\"]" + once);
  EXPECT_EQ(error("map", put + R"({"process":0,"f":"delete","value":[[{"text":"t1"}],"ac"]})"), "");
}

TEST(Text, EveryGeneratedCharacterIsNew) {
  GenerateOptions options;
  options.type = kNamed;
  options.ops = 20'000;
  options.replicas = 2;
  options.read_share = 0;
  options.final_reads = false;
  const auto history = generate(options).value();
  EXPECT_TRUE(read(write(history), "h", kNamed).ok());
  EXPECT_GT(history.elements.size(), 20'000U);
}

}  // namespace
}  // namespace cupel::crdt
