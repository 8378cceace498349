// The verifier that is proved and the one in C++ on many random histories: at each level a
// certificate of that level alone, changed certificates, certificates of histories that were
// changed afterwards, and changed texts.
//
// CUPEL_PROVED_HISTORIES=N: so many histories at each level, each with one change of each kind.
// CUPEL_PROVED_FIRST=N: the first seed.
#include <gtest/gtest.h>

#include <cstdlib>
#include <map>
#include <sstream>

#include "certify/certificates.hpp"
#include "certify/levels_table.hpp"
#include "certify/mutate.hpp"
#include "certify/proof_text.hpp"
#include "certify/proved_program.hpp"
#include "check/check.hpp"
#include "history/digest.hpp"
#include "levels/spec.hpp"
#include "property/random_history.hpp"
#include "report/certificate.hpp"

namespace cupel::test {
namespace {

using base::Random;
using history::History;
using Said = ProvedProgram::Said;

std::uint64_t from_environment(const char* name, std::uint64_t otherwise) {
  const char* text = std::getenv(name);
  return text != nullptr ? std::strtoull(text, nullptr, 10) : otherwise;
}

history::Time drift_for(const History& h) {
  return h.has_all_times() && h.op_count() % 3 == 0 ? 5 : 0;
}

check::CheckResult check_at(const History& h, levels::Level level, history::Time drift) {
  check::Options options;
  options.asked = {level};
  options.threads = 1;
  options.evidence = true;
  options.clock_drift_ns = drift;
  return check::check(h, options);
}

std::vector<std::string> lines_of_text(const std::string& text) {
  std::istringstream in(text);
  std::vector<std::string> lines;
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

// A line dropped, repeated or swapped, or a number changed.
std::string changed_text(const std::string& text, Random& random) {
  auto lines = lines_of_text(text);
  if (lines.empty()) return text;
  const auto i = random.below(lines.size());
  const auto at = [&](std::size_t n) { return lines.begin() + static_cast<std::ptrdiff_t>(n); };
  switch (random.below(6)) {
    case 0:
      lines.erase(at(i));
      break;
    case 1:
      std::swap(lines[i], lines[random.below(lines.size())]);
      break;
    case 2:
      lines.insert(at(random.below(lines.size() + 1)), std::string(lines[i]));
      break;
    default: {
      std::string& line = lines[i];
      std::vector<std::size_t> digits;
      for (std::size_t n = 0; n < line.size(); ++n) {
        if (line[n] >= '0' && line[n] <= '9') digits.push_back(n);
      }
      if (!digits.empty())
        line[digits[random.below(digits.size())]] = static_cast<char>('0' + random.below(10));
    }
  }
  std::string result;
  for (const auto& line : lines) result += line + "\n";
  return result;
}

// A value, a status or a time of the history changed, or an operation dropped.
Sketch changed_history(Sketch sketch, Random& random) {
  std::vector<SketchTxn*> txns;
  for (auto& session : sketch.sessions) {
    for (auto& txn : session.txns) txns.push_back(&txn);
  }
  if (txns.empty()) return sketch;
  SketchTxn& txn = *txns[random.below(txns.size())];
  if (txn.ops.empty() || random.chance(0.1)) {
    txn.status = static_cast<history::TxnStatus>(random.below(3));
    return sketch;
  }
  const auto i = random.below(txn.ops.size());
  if (random.chance(0.2)) {
    txn.ops.erase(txn.ops.begin() + static_cast<std::ptrdiff_t>(i));
    return sketch;
  }
  SketchOp& op = txn.ops[i];
  if (!op.list.empty()) {
    auto& list = op.list;
    if (random.chance(0.5)) {
      list.pop_back();
    } else {
      std::swap(list[random.below(list.size())], list[random.below(list.size())]);
    }
  } else if (!op.entries.empty()) {
    op.entries.erase(op.entries.begin() +
                     static_cast<std::ptrdiff_t>(random.below(op.entries.size())));
  } else if (op.value.known && op.value.kind == history::ScalarKind::kInteger) {
    op.value.integer = random.between(0, 5);
  }
  return sketch;
}

// A build of what is no history fails; then there is nothing to compare.
std::optional<History> built(const Sketch& sketch) {
  try {
    return build(sketch);
  } catch (const std::invalid_argument&) {
    return std::nullopt;
  }
}

class ProvedAtLevel : public testing::TestWithParam<std::size_t> {
 protected:
  // What both say of a certificate of the history. "": they agree.
  std::string compare(const History& h, const std::string& json, history::Time drift) {
    const auto proof = certify::proof_text(h, json, drift);
    const auto report = certify::verify(h, json, drift);
    const bool valid = report.validity == certify::Validity::kValid;
    if (!proof.trouble.empty()) {
      ++seen_["no certificate to both"];
      return valid ? "only the one in C++ reads it: " + proof.trouble : "";
    }
    const auto said = program_.run(h, proof.text, drift);
    if (said == Said::kBadInput) return program_.output() + "\n" + proof.text;
    bool whole = true;
    for (const auto& why : proof.left_out) {
      if (why.empty()) continue;
      whole = false;
      if (valid) ++left_out_[why];
    }
    if (valid) {
      ++seen_[whole ? "accepted by both" : "accepted, but for what has no counterpart"];
      return said == Said::kProved
                 ? ""
                 : "only the one in C++ accepts: " + program_.output() + "\n" + proof.text;
    }
    const bool none_missing = whole && proofs_in(proof.text) == Json::parse(json)["proofs"].size();
    if (!none_missing || said == Said::kNotProved) {
      ++seen_["rejected by both"];
      return "";
    }
    // What is wrong in form alone is right to the verifier that is proved.
    for (const char* form : {" has two orders", "the level has an answer already",
                             "placings: operation", "reads_from: "}) {
      if (report.reason.find(form) == std::string::npos) continue;
      ++seen_["rejected in C++ for its form"];
      return "";
    }
    return "only the one that is proved accepts: " + report.reason;
  }
  static std::size_t proofs_in(const std::string& text) {
    std::size_t found = 0;
    for (const auto& line : lines_of_text(text)) found += line.starts_with("P ") ? 1 : 0;
    return found;
  }

  // If the changed text is accepted, its answers are those of the engine.
  std::string compare_text(const History& h, const std::string& text, history::Time drift) {
    const auto said = program_.run(h, text, drift);
    if (said != Said::kProved) {
      ++seen_[said == Said::kBadInput ? "changed text: cannot be read" : "changed text: rejected"];
      return "";
    }
    ++seen_["changed text: accepted, and true"];
    for (const auto& line : lines_of_text(text)) {
      if (!line.starts_with("N ")) continue;
      std::istringstream words(line.substr(2));
      unsigned level = 0, verdict = 0;
      words >> level >> verdict;
      const auto name = certify::name_of(static_cast<certify::Level>(level));
      for (std::size_t i = 0; i < levels::kLevelCount; ++i) {
        if (levels::kLevelSpecs[i].name != name) continue;
        const auto is = check_at(h, static_cast<levels::Level>(i), drift).levels.front().verdict;
        const auto expected = verdict == 1 ? check::Verdict::kSatisfied : check::Verdict::kViolated;
        if (is != expected && is != check::Verdict::kUnknown)
          return "proved is " + line + ", and the engine says " + std::string(to_string(is));
      }
    }
    return "";
  }

  ProvedProgram program_;
  std::map<std::string, std::size_t> seen_, left_out_;
};

TEST_P(ProvedAtLevel, BothSayTheSame) {
  const auto level = static_cast<levels::Level>(GetParam());
  const auto wanted = from_environment("CUPEL_PROVED_HISTORIES", 20);
  const auto first = from_environment("CUPEL_PROVED_FIRST", 500000);
  std::uint64_t done = 0, satisfied = 0;
  // At linearizable few kinds of histories have an answer.
  for (std::uint64_t seed = first; done < wanted && seed < first + 40 * wanted; ++seed) {
    const Sketch sketch = random_sketch(kind_of_seed(seed), seed);
    const History h = build(sketch);
    const auto drift = drift_for(h);
    const auto result = check_at(h, level, drift);
    const auto json = report::certificate(h, result, drift).json;
    const Json original = Json::parse(json);
    if (original["answers"].empty()) continue;
    ++done;
    if (result.levels.front().verdict == check::Verdict::kSatisfied) ++satisfied;
    const auto expect = [&](const std::string& trouble, const std::string& what) {
      EXPECT_EQ(trouble, "") << "seed " << seed << ", " << what << ":\n" << to_text(sketch);
    };
    ASSERT_EQ(certify::verify(h, json, drift).validity, certify::Validity::kValid);
    expect(compare(h, json, drift), json);

    Random random(seed);
    Json changed = original;
    const auto how = mutate(changed, random);
    if (changed.is_object()) {
      // The program is not told the digest, nor the drift that the certificate names.
      changed["history"] = original["history"];
      expect(compare(h, changed.dump(), drift), how + " " + changed.dump());
    }
    if (const auto other = built(changed_history(sketch, random))) {
      Json moved = original;
      moved["history"] = empty_certificate(*other)["history"];
      expect(compare(*other, moved.dump(), drift), to_text(*other) + " " + moved.dump());
    }
    const auto text = changed_text(certify::proof_text(h, json, drift).text, random);
    expect(compare_text(h, text, drift), text);
  }
  printf("%zu histories, %zu satisfied\n", static_cast<std::size_t>(done),
         static_cast<std::size_t>(satisfied));
  for (const auto& [what, count] : seen_) printf("%8zu %s\n", count, what.c_str());
  for (const auto& [why, count] : left_out_) printf("%8zu not proved: %s\n", count, why.c_str());
  EXPECT_EQ(done, wanted);
}

INSTANTIATE_TEST_SUITE_P(Proved, ProvedAtLevel,
                         testing::Range<std::size_t>(0, levels::kLevelCount));

}  // namespace
}  // namespace cupel::test
