// The proved verifier of replicated data types (proofs/Replicated.v) agrees with the one in C++ on
// certificates of random histories, and neither accepts what is not true: changed certificates,
// changed histories, and made-up witnesses of violated histories. It is the program cupel-proved,
// which is there if OCaml was when this was built. CUPEL_PROVED_HISTORIES=N: so many of each type.
#include <gtest/gtest.h>

#include <cstdlib>
#include <nlohmann/json.hpp>

#include "certify/proved_program.hpp"
#include "crdt/analysis/analyze.hpp"
#include "crdt/io/canonical.hpp"
#include "crdt/io/certificate.hpp"
#include "crdt/io/reader.hpp"
#include "crdt/model/times.hpp"
#include "crdt/verify/verify.hpp"
#include "oracle.hpp"
#include "random_deliveries.hpp"
#include "random_history.hpp"
#include "support/parameter_name.hpp"

namespace cupel::crdt {
namespace {

using Json = nlohmann::json;
using Said = test::ProvedProgram::Said;

int histories() {
  const char* said = std::getenv("CUPEL_PROVED_HISTORIES");
  return said == nullptr ? 60 : std::atoi(said);
}

// Some have times, some deliveries that are known.
struct Recorded {
  History history;
  std::vector<RandomDeliveries::Mask> past =
      {};  // with known deliveries: what each operation had seen
  bool has_times = false;
};

Recorded recorded(Type type, int i, base::Random& random) {
  Recorded made{.history = random_history(type, small_shape(type, i, random), random)};
  History& h = made.history;
  if (random.chance(0.3)) {
    std::vector<std::int64_t> now(h.replicas.size(), 0);
    for (Operation& op : h.ops) {
      auto& clock = now[op.replica];
      if (random.chance(0.6)) op.begun = clock = clock + random.between(0, 20);
      if (random.chance(0.6)) op.ended = clock = clock + random.between(0, 10);
    }
    spread_times(h);
    made.has_times = true;
  } else if (random.chance(0.5)) {
    const RandomDeliveries deliveries(h, DeliveryRule::kCausal, random);
    if (h.context.is_known()) made.past = deliveries.past;
  }
  return made;
}

Analysis analyzed(const History& h) {
  base::Budget budget;
  AnalysisOptions options;
  const auto visibility = Visibility::of(h);
  if (h.context.is_known() && visibility.ok()) options.visibility = &*visibility;
  return analyze(h, options, budget);
}

// By the axioms alone; without times.
bool is_true(const Recorded& made) {
  return made.past.empty() ? admitted_by_oracle(made.history, false)
                           : admitted_with(made.history, made.past, false);
}

class Proved : public testing::TestWithParam<Type> {
 protected:
  Said ask(const ProofTexts& texts) {
    return program_.run_replicated(texts.history, texts.witness);
  }
  Said ask(const History& history, const std::string& certificate) {
    const auto texts = proof_texts(history, certificate);
    EXPECT_EQ(texts.left_out, "");
    return ask(texts);
  }
  test::ProvedProgram program_;
};

TEST_P(Proved, AcceptsWhatTheOtherAccepts) {
  base::Random random(5 + static_cast<std::uint64_t>(GetParam()));
  int satisfied = 0, with_times = 0, with_deliveries = 0;
  for (int i = 0; i < histories(); ++i) {
    const auto made = recorded(GetParam(), i, random);
    const History& h = made.history;
    const auto found = analyzed(h);
    if (!found.decision.witness) continue;
    const auto certificate = certificate_of(h, found);
    ASSERT_EQ(verify(h, certificate).status, CertificateStatus::kValid) << write(h) << certificate;
    ASSERT_EQ(ask(h, certificate), Said::kProved)
        << program_.output() << "\n"
        << write(h) << certificate << proof_texts(h, certificate).history;
    ASSERT_EQ(program_.output(),
              "proved satisfied " + std::string(name(h.type)) +
                  (made.past.empty() ? ", deliveries not known" : ", deliveries known"));
    ++satisfied;
    with_times += made.has_times ? 1 : 0;
    with_deliveries += made.past.empty() ? 0 : 1;
  }
  EXPECT_GT(satisfied, histories() / 10);
  EXPECT_GT(with_times, 0);
  EXPECT_GT(with_deliveries, 0);
}

// One change of a number of the clocks or the linearization.
Json changed(Json json, const History& h, base::Random& random) {
  auto& order = json["order"];
  if (!json.contains("clocks") || random.chance(0.3)) {
    std::swap(order[random.below(order.size())], order[random.below(order.size())]);
  } else if (random.chance(0.2)) {
    order[random.below(order.size())] = random.below(h.ops.size());
  } else {
    auto& row = json["clocks"][random.below(h.ops.size())];
    auto& count = row[random.below(row.size())];
    const auto value = count.get<std::uint64_t>();
    count = random.chance(0.5) || value == 0 ? value + 1 : value - 1;
  }
  return json;
}

TEST_P(Proved, AgreesAboutChangedCertificates) {
  base::Random random(55 + static_cast<std::uint64_t>(GetParam()));
  int valid = 0, refused = 0;
  for (int i = 0; i < histories(); ++i) {
    const auto made = recorded(GetParam(), i, random);
    const auto found = analyzed(made.history);
    if (!found.decision.witness) continue;
    const auto whole = Json::parse(certificate_of(made.history, found));
    for (int m = 0; m < 4; ++m) {
      const auto json = changed(whole, made.history, random);
      const bool well = verify(made.history, json.dump()).status == CertificateStatus::kValid;
      const auto said = ask(made.history, json.dump());
      (well ? valid : refused) += 1;
      // The one in C++ also wants an order in which no operation stands twice.
      if (well) {
        ASSERT_EQ(said, Said::kProved) << program_.output() << "\n"
                                       << write(made.history) << json.dump();
      }
      if (said == Said::kProved && !made.has_times) {
        ASSERT_TRUE(is_true(made)) << write(made.history) << json.dump();
      }
    }
  }
  EXPECT_GT(valid, 0);
  EXPECT_GT(refused, 0);
}

// A history in which one read returned something else, or one operation is another one.
History misheard(const History& history, base::Random& random) {
  History h = history;
  Operation& op = h.ops[random.below(h.ops.size())];
  const auto other = static_cast<std::uint32_t>(random.below(h.elements.size() + 1));
  switch (op.kind) {
    case Kind::kTest:
      op.returned = !op.returned;
      break;
    case Kind::kValue:
    case Kind::kInc:
      op.amount += random.chance(0.5) ? 1 : -1;
      break;
    case Kind::kUp:
    case Kind::kDown:
      op.kind = op.kind == Kind::kUp ? Kind::kDown : Kind::kUp;
      break;
    case Kind::kState:
    case Kind::kValues:
    case Kind::kList:
      if (op.list_end > op.list_begin && random.chance(0.5)) {
        ++op.list_begin;
      } else if (op.list_end > op.list_begin && other < h.elements.size() &&
                 h.elements[other].key == op.key) {
        h.lists[op.list_begin] = other;
      }
      break;
    default:
      break;
  }
  return h;
}

TEST_P(Proved, AcceptsNoWitnessOfAnotherHistoryThatIsWrong) {
  base::Random random(555 + static_cast<std::uint64_t>(GetParam()));
  int wrong = 0;
  for (int i = 0; i < histories(); ++i) {
    auto made = recorded(GetParam(), i, random);
    const auto found = analyzed(made.history);
    if (!found.decision.witness || made.has_times) continue;
    const auto certificate = certificate_of(made.history, found);
    for (int m = 0; m < 4; ++m) {
      Recorded other = made;
      other.history = misheard(made.history, random);
      // A decrement or a remove is a word that such a type does not have.
      if (GetParam() == Type::kGrowOnlySet &&
          std::any_of(other.history.ops.begin(), other.history.ops.end(),
                      [](const Operation& op) { return op.kind == Kind::kDown; }))
        continue;
      if (ask(other.history, certificate) == Said::kProved) {
        ASSERT_TRUE(is_true(other)) << write(other.history) << certificate;
      } else {
        ++wrong;
      }
    }
  }
  EXPECT_GT(wrong, 0);
}

// Clocks of random deliveries, and any order that contains them.
std::string made_up(const History& h, base::Random& random) {
  Clocks clocks(h);
  std::vector<OpId> order(h.ops.size());
  for (OpId id = 0; id < h.ops.size(); ++id) order[id] = id;
  random.shuffle(std::span(order));
  std::stable_sort(order.begin(), order.end(),
                   [&](OpId a, OpId b) { return h.ops[a].seq < h.ops[b].seq; });
  std::vector<std::vector<std::uint32_t>> now(h.replicas.size(),
                                              std::vector<std::uint32_t>(h.replicas.size(), 0));
  const double share = random.chance(0.5) ? 0.3 : 0.7;
  Json rows = Json::array();
  for (OpId id = 0; id < h.ops.size(); ++id) rows.push_back(Json::array());
  for (std::size_t i = 0; i < order.size(); ++i) {
    const Operation& op = h.ops[order[i]];
    auto& mine = now[op.replica];
    for (std::size_t j = 0; j < i; ++j) {
      if (h.ops[order[j]].replica == op.replica || !random.chance(share)) continue;
      const auto row = rows[order[j]].get<std::vector<std::uint32_t>>();
      for (std::size_t r = 0; r < row.size(); ++r) mine[r] = std::max(mine[r], row[r]);
      const auto from = h.ops[order[j]].replica;
      mine[from] = std::max(mine[from], h.ops[order[j]].seq + 1);
    }
    mine[op.replica] = op.seq;
    rows[order[i]] = mine;
    mine[op.replica] = op.seq + 1;
  }
  return Json{{"verdict", "satisfied"}, {"clocks", rows}, {"order", order}}.dump();
}

TEST_P(Proved, AcceptsNoMadeUpWitnessOfWhatIsViolated) {
  base::Random random(5555 + static_cast<std::uint64_t>(GetParam()));
  int accepted = 0, violated = 0;
  for (int i = 0; i < histories(); ++i) {
    const History h = random_history(GetParam(), small_shape(GetParam(), i, random), random);
    const bool well = admitted_by_oracle(h, false);
    violated += well ? 0 : 1;
    for (int m = 0; m < 4; ++m) {
      const auto witness = made_up(h, random);
      if (ask(h, witness) != Said::kProved) continue;
      ASSERT_TRUE(well) << write(h) << witness;
      ++accepted;
    }
  }
  EXPECT_GT(accepted, 0);
  EXPECT_GT(violated, 0);
}

TEST(ProvedWords, SayWhatIsLeftOut) {
  base::Random random(1);
  const History tree = random_history(Type::kTree, {4, 2, 1, 2}, random);
  EXPECT_EQ(proof_texts(tree, R"({"verdict":"satisfied","context":"trusted"})").left_out,
            "the axioms of the type tree");
  const History set = random_history(Type::kAddWinsSet, {4, 2, 1, 2}, random);
  EXPECT_EQ(proof_texts(set, R"({"verdict":"violated"})").left_out,
            "the rules by which a replicated data type is violated");
  EXPECT_EQ(proof_texts(set, R"({"verdict":"satisfied","letter":true})").left_out, "");
  const History array = random_history(Type::kGrowableArray, {4, 2, 1, 2}, random);
  EXPECT_EQ(proof_texts(array, R"({"verdict":"satisfied","letter":true})").left_out,
            "the axioms exactly as printed (--strict-axioms)");
}

INSTANTIATE_TEST_SUITE_P(Types, Proved,
                         testing::ValuesIn(proved_types().begin(), proved_types().end()),
                         test::parameter_name);

}  // namespace
}  // namespace cupel::crdt
