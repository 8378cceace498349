// Certificates: every verdict's is found valid by the verifier, which shares nothing
// with what decided; and of mutants, none is accepted that is not true.
#include "crdt/io/certificate.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "crdt/explain/explain.hpp"
#include "crdt/io/reader.hpp"
#include "crdt/verify/digest.hpp"
#include "crdt/verify/verify.hpp"
#include "oracle.hpp"
#include "random_history.hpp"
#include "support/parameter_name.hpp"

namespace cupel::crdt {
namespace {

using Json = nlohmann::json;

struct Proven {
  Decision decision;
  std::string certificate;
};

Proven proven(const History& h, const Axioms& axioms) {
  base::Budget budget;
  Proven made{decide(h, axioms, budget), {}};
  if (made.decision.witness) {
    made.certificate = certificate_of_witness(h, axioms, *made.decision.witness);
  } else {
    const auto explanation = explain(h, *made.decision.violation, axioms, {.seconds = 60});
    EXPECT_FALSE(explanation.name.empty());
    EXPECT_FALSE(explanation.summary.empty());
    made.certificate = certificate_of_core(h, axioms, explanation.core);
  }
  return made;
}

std::string hex(std::uint64_t number) {
  std::string text(16, '0');
  for (int i = 15; i >= 0; --i, number >>= 4)
    text[static_cast<std::size_t>(i)] = "0123456789abcdef"[number & 15];
  return text;
}

class Certificates : public testing::TestWithParam<Type> {};

TEST_P(Certificates, AreValidForEveryVerdict) {
  const Type type = GetParam();
  base::Random random(31 + static_cast<std::uint64_t>(type));
  int satisfied = 0, violated = 0;
  for (int i = 0; i < 1200; ++i) {
    const History h = random_history(type, small_shape(type, i, random), random);
    const Axioms axioms{.strict = random.chance(0.3)};
    const auto made = proven(h, axioms);
    const auto verified = verify(h, made.certificate);
    ASSERT_EQ(verified.status, CertificateStatus::kValid) << verified.reason << "\n"
                                                          << write(h) << made.certificate;
    ASSERT_EQ(verified.verdict == "satisfied", admitted_by_oracle(h, axioms.strict));
    (made.decision.witness ? satisfied : violated) += 1;
  }
  EXPECT_GT(satisfied, 60);
  EXPECT_GT(violated, 60);
}

// One change at a time, to any part of it: a number, a list, a word.
Json mutant(Json json, const History& h, base::Random& random) {
  const auto number_in = [&](Json& list, std::uint64_t most) {
    if (list.empty() || random.chance(0.2)) {
      list.push_back(random.below(most + 2));
    } else if (random.chance(0.4)) {
      list.erase(list.begin() + static_cast<std::ptrdiff_t>(random.below(list.size())));
    } else {
      list[random.below(list.size())] = random.below(most + 2);
    }
  };
  const auto subset = [&](std::size_t most) {
    Json list = Json::array();
    const double share = random.chance(0.5) ? 0.9 : 0.5;
    for (std::size_t i = 0; i < most; ++i) {
      if (random.chance(share)) list.push_back(i);
    }
    return list;
  };
  const auto pick = random.below(11);
  if (pick >= 8) {  // any part of the history for what has no execution
    json["verdict"] = "violated";
    json["operations"] = subset(h.ops.size());
    json["elements"] = subset(h.elements.size());
  } else if (json["verdict"] == "satisfied" && pick < 5) {
    auto& clocks = json["clocks"];
    if (pick < 3) {
      auto& row = clocks[random.below(clocks.size())];
      auto& entry = row[random.below(row.size())];
      const auto value = entry.get<std::uint64_t>();
      entry = random.chance(0.5) || value == 0 ? value + 1 : value - 1;
    } else if (pick == 3) {
      std::swap(json["order"][random.below(h.ops.size())],
                json["order"][random.below(h.ops.size())]);
    } else {
      number_in(random.chance(0.5) ? json["order"] : clocks[random.below(clocks.size())],
                h.ops.size());
    }
  } else if (json["verdict"] == "violated" && pick < 5) {
    number_in(random.chance(0.75) ? json["operations"] : json["elements"], h.ops.size());
  } else if (pick == 5) {
    json["letter"] = !json["letter"].get<bool>();
  } else if (pick == 6) {
    json["verdict"] = json["verdict"] == "satisfied" ? "violated" : "satisfied";
    if (random.chance(0.5)) {  // with what that takes
      Json rows = Json::array(), order = Json::array();
      for (OpId id = 0; id < h.ops.size(); ++id) {
        std::vector<std::uint32_t> row(h.replicas.size(), 0);
        row[h.ops[id].replica] = h.ops[id].seq;
        rows.push_back(row);
        order.push_back(id);
      }
      json["clocks"] = rows;
      json["order"] = json["operations"] = order;
      json["elements"] = Json::array();
      for (std::size_t e = 0; e < h.elements.size(); ++e) json["elements"].push_back(e);
    }
  } else {
    json["history"] = hex(digest(h) ^ (std::uint64_t{1} << random.below(64)));
  }
  return json;
}

TEST_P(Certificates, MutantsAreAcceptedOnlyWhereTheyAreTrue) {
  const Type type = GetParam();
  base::Random random(91 + static_cast<std::uint64_t>(type));
  int refused = 0, true_still = 0;
  for (int i = 0; i < 500; ++i) {
    const History h = random_history(type, small_shape(type, i, random), random);
    const Axioms axioms{.strict = random.chance(0.3)};
    const auto whole = Json::parse(proven(h, axioms).certificate);
    for (int m = 0; m < 12; ++m) {
      const auto changed = mutant(whole, h, random);
      const auto verified = verify(h, changed.dump());
      if (verified.status != CertificateStatus::kValid) {
        ASSERT_FALSE(verified.reason.empty());
        ++refused;
        continue;
      }
      ++true_still;
      const bool strict = changed["letter"] == true;
      ASSERT_EQ(changed["history"], hex(digest(h)));
      ASSERT_EQ(verified.verdict == "satisfied", admitted_by_oracle(h, strict))
          << write(h) << changed;
      if (verified.verdict != "satisfied") continue;
      // This very happens-before is admitted, and closed.
      std::vector<std::uint32_t> past(h.ops.size(), 0);
      for (OpId o = 0; o < h.ops.size(); ++o) {
        for (OpId p = 0; p < h.ops.size(); ++p) {
          if (changed["clocks"][o][h.ops[p].replica] > h.ops[p].seq) past[o] |= 1U << p;
        }
      }
      for (OpId o = 0; o < h.ops.size(); ++o) {
        for (OpId p = 0; p < h.ops.size(); ++p) {
          if (past[o] >> p & 1U) {
            ASSERT_EQ(past[p] & ~past[o], 0U);
          }
        }
        ASSERT_EQ(past[o] >> o & 1U, 0U);
      }
      ASSERT_TRUE(admitted_with(h, past, strict)) << write(h) << changed;
    }
  }
  EXPECT_GT(refused, 2000);
  EXPECT_GT(true_still, 20);
}

INSTANTIATE_TEST_SUITE_P(Types, Certificates, testing::ValuesIn(decided_without_deliveries()),
                         test::parameter_name);

// The whole read loses what it shows if its element is left out, and the contains must not
// keep the element's add in.
TEST(Certificate, AnUpdateDoesNotStayWithoutItsElement) {
  const auto h = std::move(read(R"({"process":1,"f":"add","key":"s","value":"a"}
{"process":1,"f":"contains","key":"s","value":["a",true]}
{"process":1,"f":"read","key":"s","value":["a"]}
)",
                                "test", {Type::kAddWinsSet}))
                     .value();
  for (const Core& core : {Core{{0, 1, 2}, {}}, Core{{1, 2}, {}}, Core{{0, 1, 2}, {0}}}) {
    const auto verified = verify(h, certificate_of_core(h, {}, core));
    EXPECT_EQ(verified.status, CertificateStatus::kNotValid)
        << core.ops.size() << core.elements.size();
  }
  const auto part = part_of(h, Core{{0, 1, 2}, {}});
  EXPECT_EQ(part.origin, std::vector<OpId>{2});
  EXPECT_TRUE(admitted_by_oracle(part.history, false));
}

TEST(Certificate, SaysWhetherTheAxiomsAreStrict) {
  const auto h =
      std::move(read("{\"process\":1,\"f\":\"inc\"}\n", "test", {Type::kCounter})).value();
  for (const bool strict : {false, true}) {
    const auto certificate = proven(h, {.strict = strict}).certificate;
    EXPECT_EQ(verify(h, certificate).strict, strict);
    auto json = Json::parse(certificate);
    for (const Json& word : {Json("true"), Json(1), Json()}) {
      json["letter"] = word;
      const auto verified = verify(h, json.dump());
      EXPECT_EQ(verified.status, CertificateStatus::kBadInput);
      EXPECT_NE(verified.reason.find("letter"), std::string::npos) << verified.reason;
    }
  }
}

// Its reads depend only on which updates they see, so their order need not be tried.
TEST(Certificate, OfAResettableCounterThatIsNotResetIsDecided) {
  std::string lines;
  for (int replica = 0; replica < 12; ++replica)
    lines += fmt::format("{{\"process\":{},\"f\":\"dec\"}}\n", replica);
  lines += R"({"process":12,"f":"inc"}
{"process":0,"f":"dec"}
{"process":0,"f":"read","value":1}
)";
  const auto h = std::move(read(lines, "test", {Type::kResettableCounter})).value();
  Core whole;
  for (OpId id = 0; id < h.ops.size(); ++id) whole.ops.push_back(id);
  EXPECT_EQ(verify(h, certificate_of_core(h, {}, whole)).status, CertificateStatus::kValid);
}

TEST(Certificate, NestedTooDeeplyIsBadInput) {
  History h;
  h.type = Type::kCounter;
  const std::string deep(200'000, '[');
  const auto verified = verify(h, R"({"cupel_crdt_certificate":1,"operations":)" + deep);
  EXPECT_EQ(verified.status, CertificateStatus::kBadInput);
  EXPECT_NE(verified.reason.find("within each other"), std::string::npos) << verified.reason;
}

TEST(Certificate, OfNoneIsBadInput) {
  History h;
  h.type = Type::kCounter;
  EXPECT_EQ(verify(h, "").status, CertificateStatus::kBadInput);
  EXPECT_EQ(verify(h, "{}").status, CertificateStatus::kBadInput);
  EXPECT_EQ(verify(h, R"({"cupel_crdt_certificate":2})").status, CertificateStatus::kBadInput);
  EXPECT_EQ(verify(h, R"({"cupel_crdt_certificate":1,"type":3})").status,
            CertificateStatus::kBadInput);
}

TEST(Certificate, OfAnotherHistoryIsNotValid) {
  const auto history = [](const char* amount) {
    return std::move(
               read(std::string(
                        "{\"process\":1,\"f\":\"inc\"}\n{\"process\":1,\"f\":\"read\",\"value\":") +
                        amount + "}\n",
                    "test", {Type::kCounter}))
        .value();
  };
  const auto one = history("1"), two = history("2");
  EXPECT_EQ(verify(one, proven(one, {}).certificate).status, CertificateStatus::kValid);
  EXPECT_EQ(verify(two, proven(two, {}).certificate).status, CertificateStatus::kValid);
  EXPECT_EQ(verify(two, proven(one, {}).certificate).status, CertificateStatus::kNotValid);
  EXPECT_EQ(verify(one, proven(two, {}).certificate).status, CertificateStatus::kNotValid);
}

}  // namespace
}  // namespace cupel::crdt
