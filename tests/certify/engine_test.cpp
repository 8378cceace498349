// The engine's certificates: every verdict on random histories has one, every one is
// verified, and none that was changed is accepted unless what it says is still true,
// as the oracle knows. CUPEL_CERTIFY_SEEDS=N: so many histories of each kind.
#include <gtest/gtest.h>

#include <cstdlib>
#include <map>
#include <optional>
#include <set>

#include "certify/certificates.hpp"
#include "certify/mutate.hpp"
#include "data/history/digest.hpp"
#include "engine/check/check.hpp"
#include "oracle/oracle.hpp"
#include "property/random_history.hpp"
#include "report/certificate.hpp"

namespace cupel::test {
namespace {

using base::Random;
using check::Verdict;
using history::History;
using levels::Level;

constexpr double kMaxChoices = 400;  // for the oracle
constexpr int kMutationsEach = 60;
constexpr int kOtherHistoriesEach = 10;

std::uint64_t seeds_per_kind() {
  const char* said = std::getenv("CUPEL_CERTIFY_SEEDS");
  return said == nullptr ? 40 : std::strtoull(said, nullptr, 10);
}

check::CheckResult checked(const History& h, history::Time drift, std::vector<Level> asked) {
  check::Options options;
  options.asked = std::move(asked);
  options.threads = 1;
  options.evidence = true;
  options.clock_drift_ns = drift;
  return check::check(h, options);
}

// What is wrong with the certificate of what was decided; "" if nothing is.
std::string uncertified(const Sketch& sketch) {
  const History h = build(sketch);
  const auto drift = drift_for(h);
  const auto of = [&](const std::vector<Level>& asked) -> std::string {
    const auto result = checked(h, drift, asked);
    std::size_t decided = 0;
    for (const auto& level : result.levels) {
      decided += level.verdict == Verdict::kSatisfied || level.verdict == Verdict::kViolated;
    }
    const auto made = report::certificate(h, result, drift);
    if (!made.missing.empty()) return "missing: " + std::string(levels::name(made.missing.front()));
    const auto report = certify::verify(h, made.json, drift);
    if (report.validity != certify::Validity::kValid) return report.reason + "\n" + made.json;
    return report.answers.size() == decided ? "" : "fewer answers than verdicts";
  };
  // The ladder, and each level by itself.
  if (auto wrong = of({}); !wrong.empty()) return wrong;
  for (const Level level : levels::all_levels()) {
    if (auto wrong = of({level}); !wrong.empty())
      return std::string(levels::name(level)) + " alone: " + wrong;
  }
  return {};
}

class OfKind : public testing::TestWithParam<int> {};

TEST_P(OfKind, EveryVerdictIsVerified) {
  const auto kind = static_cast<Kind>(GetParam());
  for (std::uint64_t i = 0; i < 4 * seeds_per_kind(); ++i) {
    const std::uint64_t seed = i * kKindCount + static_cast<std::uint64_t>(kind);
    const Sketch sketch = random_sketch(kind, seed);
    if (uncertified(sketch).empty()) continue;
    const Sketch small = shrink(sketch, [](const Sketch& s) { return !uncertified(s).empty(); });
    FAIL() << "seed " << seed << ":\n"
           << to_text(sketch) << "\nshrunk:\n"
           << to_text(small) << "\n"
           << uncertified(small);
  }
}

// Asks the oracle, once for each question about one history.
class Truth {
 public:
  explicit Truth(const History& h) : h_(h), single_(oracle::is_single_object(h)) {}

  // nullopt: the question has no meaning.
  std::optional<bool> satisfied(Level level, history::Time drift) {
    if (levels::needs_real_time(level) && !h_.has_all_times()) return std::nullopt;
    if (level == Level::kLinearizable && !single_) return std::nullopt;
    const auto [it, fresh] =
        known_.try_emplace({level, levels::needs_real_time(level) ? drift : 0});
    if (fresh) it->second = oracle::oracle_satisfies(h_, level, it->first.second);
    return it->second;
  }
  // What the report says and is not so; "" if it is all true.
  std::string lie(const certify::Report& report, history::Time drift) {
    for (const auto& answer : report.answers) {
      const auto level = *levels::parse_level(answer.level);
      const auto truth = satisfied(level, drift);
      if (!truth || *truth != answer.satisfied) {
        return answer.level + (answer.satisfied ? " satisfied" : " violated") + ", proven by " +
               answer.how;
      }
    }
    return {};
  }

 private:
  const History& h_;
  const bool single_;
  std::map<std::pair<Level, history::Time>, bool> known_;
};

struct Counts {
  int refused = 0, still_true = 0;
};

// One answer for each proof that still says what it proves.
void answer_as_proven(Json& certificate) {
  if (!certificate.is_object() || !certificate.contains("proofs") ||
      !certificate["proofs"].is_array())
    return;
  Json answers = Json::array();
  std::set<std::string> levels;
  for (std::size_t i = 0; i < certificate["proofs"].size(); ++i) {
    const Json& proof = certificate["proofs"][i];
    if (!proof.is_object() || !proof.contains("level") || !proof["level"].is_string() ||
        !proof.contains("verdict"))
      continue;
    if (!levels.insert(proof["level"].get<std::string>()).second) continue;
    answers.push_back({{"level", proof["level"]}, {"verdict", proof["verdict"]}, {"proof", i}});
  }
  certificate["answers"] = std::move(answers);
}

TEST_P(OfKind, NoMutationIsAcceptedUnlessStillTrue) {
  const auto kind = static_cast<Kind>(GetParam());
  std::map<std::string, Counts> counts;
  Counts all;
  for (std::uint64_t i = 0; i < seeds_per_kind(); ++i) {
    const std::uint64_t seed = i * kKindCount + static_cast<std::uint64_t>(kind);
    const Sketch sketch = random_sketch(kind, seed);
    const History h = build(sketch);
    if (oracle::writer_choices(h) > kMaxChoices) continue;
    const auto drift = drift_for(h);
    // Every other time one level alone: then the proof is its own.
    std::vector<Level> asked;
    if (i % 2 == 1) asked.push_back(levels::all_levels()[i / 2 % levels::kLevelCount]);
    const Json original = Json::parse(report::certificate(h, checked(h, drift, asked), drift).json);
    if (original["proofs"].empty()) continue;
    Random random(seed);
    Truth truth(h);
    const auto verify = [&](const std::string& how, const History& of, Truth& its,
                            const Json& mutated) {
      const auto report = certify::verify(of, mutated.dump(), drift);
      Counts& count = counts[how];
      if (report.validity != certify::Validity::kValid) {
        EXPECT_NE(report.reason, "");
        ++count.refused, ++all.refused;
        return;
      }
      ++count.still_true, ++all.still_true;
      const auto lie = its.lie(report, drift);
      ASSERT_EQ(lie, "") << how << "\n"
                         << to_text(of) << "\n"
                         << mutated.dump() << "\nbefore:\n"
                         << original.dump();
    };
    for (int m = 0; m < kMutationsEach; ++m) {
      Json mutated = original;
      const auto how = mutate(mutated, random);
      const bool again = random.chance(0.2) && mutated.is_object() && mutated.contains("proofs") &&
                         mutated.contains("history") && mutated["history"].is_object() &&
                         mutated.contains("answers");
      if (again) mutate(mutated, random);
      // A proof of something else is refused for its answer; so every other time the
      // answers say what the proofs do.
      if (m % 2 == 1) answer_as_proven(mutated);
      verify(how, h, truth, mutated);
      if (HasFatalFailure()) return;
    }
    // Another history, whose digest is put in: only the proof shows it.
    for (int m = 0; m < kOtherHistoriesEach; ++m) {
      Sketch other = sketch;
      auto& session = other.sessions[random.below(other.sessions.size())];
      if (session.txns.empty()) continue;
      auto& txn = session.txns[random.below(session.txns.size())];
      const auto dice = random.below(4);
      if (dice == 0) {
        txn.status = static_cast<history::TxnStatus>(random.below(3));
      } else if (dice == 1) {
        std::swap(session.txns.front(), session.txns.back());
      } else if (!txn.ops.empty()) {
        auto& op = txn.ops[random.below(txn.ops.size())];
        if (op.kind == history::OpKind::kListRead) {
          if (!op.list.empty())
            op.list.erase(op.list.begin() +
                          static_cast<std::ptrdiff_t>(random.below(op.list.size())));
        } else if (op.kind == history::OpKind::kRangeRead) {
          if (!op.entries.empty()) op.entries.pop_back();
        } else {
          op.value = Atom::of(random.between(0, 5));
        }
      }
      const History changed = build(other);
      if (oracle::writer_choices(changed) > kMaxChoices) continue;
      Json mutated = original;
      mutated["history"] = empty_certificate(changed)["history"];
      Truth its(changed);
      verify("another history", changed, its, mutated);
      if (HasFatalFailure()) return;
    }
  }
  for (const auto& [how, count] : counts) {
    std::printf("  %-28s %6d refused, %5d still true\n", how.c_str(), count.refused,
                count.still_true);
  }
  // Twelve kinds: ten thousand mutations.
  EXPECT_GE(all.refused + all.still_true, static_cast<int>(seeds_per_kind() * 25));
  EXPECT_GT(all.refused, all.still_true);
}

INSTANTIATE_TEST_SUITE_P(Kinds, OfKind, testing::Range(0, kKindCount), [](const auto& info) {
  std::string text(name(static_cast<Kind>(info.param)));
  for (char& c : text) c = c == '-' ? '_' : c;
  return text;
});

}  // namespace
}  // namespace cupel::test
