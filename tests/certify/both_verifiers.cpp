// Both verifiers: see the header.
#include "certify/both_verifiers.hpp"

#include <algorithm>
#include <cctype>
#include <sstream>
#include <stdexcept>
#include <vector>

#include "certify/certificates.hpp"
#include "engine/certify/proof_text.hpp"

namespace cupel::test {

using base::Random;
using history::History;
using Said = ProvedProgram::Said;

namespace {

std::vector<std::string> lines_of_text(const std::string& text) {
  std::istringstream in(text);
  std::vector<std::string> lines;
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

std::size_t proofs_in(const std::string& text) {
  std::size_t found = 0;
  for (const auto& line : lines_of_text(text)) found += line.starts_with("P ") ? 1 : 0;
  return found;
}

// Of a reason to reject, the words without names and numbers.
std::string kind_of(const std::string& reason) {
  std::string kind;
  for (const char c : reason) {
    if (std::isdigit(static_cast<unsigned char>(c)) == 0) kind += c;
  }
  const auto colon = kind.find(": ");
  kind = colon == std::string::npos ? kind : kind.substr(colon + 2);
  return kind.substr(0, 60);
}

}  // namespace

check::CheckResult check_at(const History& h, levels::Level level, history::Time drift) {
  check::Options options;
  options.asked = {level};
  options.threads = 1;
  options.evidence = true;
  options.clock_drift_ns = drift;
  return check::check(h, options);
}

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

std::optional<History> built(const Sketch& sketch) {
  try {
    return build(sketch);
  } catch (const std::invalid_argument&) {
    return std::nullopt;
  }
}

std::string BothVerifiers::compare(const History& h, const std::string& json, history::Time drift) {
  const auto report = certify::verify_answers(h, json, drift);
  const bool valid = report.validity == certify::Validity::kValid;
  const auto proof =
      certify::proof_text(h, json, drift, valid ? certify::Checked::kYes : certify::Checked::kNo);
  if (!proof.trouble.empty()) {
    ++seen_["no certificate to both, by the reader that they share"];
    return valid ? "only the one in C++ reads it: " + proof.trouble : "";
  }
  const bool whole = std::all_of(proof.left_out.begin(), proof.left_out.end(),
                                 [](const std::string& why) { return why.empty(); });
  if (!valid && (!whole || proofs_in(proof.text) != Json::parse(json)["proofs"].size())) {
    std::string why;
    for (const auto& one : proof.left_out) {
      if (why.empty()) why = one;
    }
    ++seen_["rejected in C++, never shown to the proved verifier: " + kind_of(why)];
    ++rejected_;
    return "";
  }
  const auto said = program_.run(h, proof.text, drift);
  if (said == Said::kBadInput) return program_.output() + "\n" + proof.text;
  if (!valid) {
    ++rejected_;
    ++rejected_and_shown_;
    if (said == Said::kNotProved) {
      ++seen_["rejected by both"];
      return "";
    }
    ++seen_["rejected in C++ alone: " + kind_of(report.reason)];
    return unlike_the_engine(h, drift);
  }
  for (const auto& why : proof.left_out) {
    if (!why.empty()) ++left_out_[why];
  }
  ++seen_[whole ? "accepted by both" : "accepted, but for what has no counterpart"];
  if (said != Said::kProved)
    return "only the one in C++ accepts: " + program_.output() + "\n" + proof.text;
  std::vector<std::string> expected;
  for (std::size_t i = 0; i < proof.left_out.size(); ++i) {
    const auto& answer = report.answers[i];
    if (proof.left_out[i].empty())
      expected.push_back((answer.satisfied ? "satisfied " : "violated ") + answer.level);
  }
  return program_.proved() == expected ? "" : "other answers are proved: " + program_.output();
}

std::string BothVerifiers::compare_text(const History& h, const std::string& text,
                                        history::Time drift) {
  const auto said = program_.run(h, text, drift);
  if (said != Said::kProved) {
    ++seen_[said == Said::kBadInput ? "changed text: cannot be read" : "changed text: rejected"];
    return "";
  }
  ++seen_["changed text: accepted, and true"];
  return unlike_the_engine(h, drift);
}

std::string BothVerifiers::unlike_the_engine(const History& h, history::Time drift) const {
  for (const std::string& answer : program_.proved()) {
    const bool satisfied = answer.starts_with("satisfied ");
    const auto name = answer.substr(answer.find(' ') + 1);
    for (std::size_t i = 0; i < levels::kLevelCount; ++i) {
      if (levels::kLevelSpecs[i].name != name) continue;
      const auto is = check_at(h, static_cast<levels::Level>(i), drift).levels.front().verdict;
      const auto expected = satisfied ? check::Verdict::kSatisfied : check::Verdict::kViolated;
      if (is != expected && is != check::Verdict::kUnknown)
        return "proved is " + answer + ", and the engine says " + std::string(to_string(is));
    }
  }
  return "";
}

}  // namespace cupel::test
