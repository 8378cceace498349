// verify: the certificate as a whole. Proofs first, each by the part that knows its
// kind, then the answers, which only point at them.
#include "engine/certify/verify.hpp"

#include <fmt/format.h>

#include "data/history/digest.hpp"
#include "data/history/times.hpp"
#include "engine/certify/context.hpp"
#include "engine/certify/document.hpp"
#include "engine/certify/replay.hpp"
#include "engine/certify/subject.hpp"
#include "engine/certify/violated.hpp"
#include "engine/certify/weak.hpp"

namespace cupel::certify {

namespace {

// What every answer and proof at the level needs of the history: none if it is there.
Rejection level_applies(const Subject& subject, Level level) {
  const Shape shape = shape_of(level);
  if (shape.real_time() && !subject.history().has_all_times()) {
    return fmt::format("{} needs the times of all transactions, which this history does not have",
                       name_of(level));
  }
  if (!shape.one_object) return std::nullopt;
  if (auto which = touches_more_than_one(subject)) {
    return fmt::format("{} is about single objects, and {}", name_of(level), *which);
  }
  return std::nullopt;
}

class Verifier {
 public:
  Verifier(const history::History& history, const Document& document, history::Time drift)
      : subject_(history), document_(document), drift_(drift), how_(document.proofs.size()) {}

  Rejection proof(std::size_t i) {
    const Proof& p = document_.proofs[i];
    const auto wrong = p.satisfied ? satisfied(p, how_[i]) : violated(p, how_[i]);
    if (!wrong) return std::nullopt;
    return fmt::format("proofs[{}], {} {}: {}", i, name_of(p.level),
                       p.satisfied ? "satisfied" : "violated", *wrong);
  }

  Rejection answer(std::size_t i, Report& report) {
    const ClaimedAnswer& a = document_.answers[i];
    const auto wrong = [&](std::string_view what) {
      return fmt::format("answers[{}], {} {}: {}", i, name_of(a.level),
                         a.satisfied ? "satisfied" : "violated", what);
    };
    for (std::size_t before = 0; before < i; ++before) {
      if (document_.answers[before].level == a.level)
        return wrong("the level has an answer already");
    }
    if (auto why = level_applies(subject_, a.level)) return wrong(*why);
    const Proof& p = document_.proofs[a.proof];
    if (p.satisfied != a.satisfied) {
      return wrong(fmt::format("proofs[{}] proves that {} is {}", a.proof, name_of(p.level),
                               p.satisfied ? "satisfied" : "violated"));
    }
    const bool follows = a.satisfied ? implies(p.level, a.level) : implies(a.level, p.level);
    if (!follows) {
      return wrong(fmt::format("it does not follow from {} {}, which proofs[{}] proves",
                               name_of(p.level), p.satisfied ? "satisfied" : "violated", a.proof));
    }
    report.answers.push_back({std::string(name_of(a.level)), a.satisfied, a.proof, how_[a.proof],
                              p.level == a.level ? std::string() : std::string(name_of(p.level))});
    return std::nullopt;
  }

 private:
  Rejection satisfied(const Proof& p, std::string& how) {
    if (auto why = level_applies(subject_, p.level)) return why;
    const Shape shape = shape_of(p.level);
    if (shape.one_object) {
      how = "an order of " + counted(p.orders.size(), "object", "objects");
      return replay_by_key(subject_, shape, drift_, p.orders);
    }
    const auto transactions = p.order.size() / (shape.begin_and_commit ? 2 : 1);
    how = "an order of " + counted(transactions, "transaction", "transactions");
    if (!shape.is_weak()) return replay(subject_, shape, drift_, p.order);
    return satisfies_weak(subject_, shape, p.order, p.reads_from, p.placings);
  }
  Rejection violated(const Proof& p, std::string& how) {
    if (auto why = level_applies(subject_, p.level)) return why;
    Context context(subject_, shape_of(p.level), drift_);
    return shows_violation(context, p.body, how);
  }

  Subject subject_;
  const Document& document_;
  const history::Time drift_;
  std::vector<std::string> how_;  // by proof
};

}  // namespace

Report verify(const history::History& history, std::string_view certificate_json,
              history::Time clock_drift_ns) {
  Report report;
  const Parsed parsed =
      parse(certificate_json, {history.txn_count(), history.op_count(), history.key_count()});
  report.reason = parsed.trouble;
  if (parsed.what == Parsed::kNoCertificate) return report;
  report.validity = Validity::kNotValid;
  if (parsed.what == Parsed::kMalformed) return report;
  const Document& document = parsed.document;

  const auto digest = fmt::format("{:016x}", history::digest(history));
  if (document.digest != digest) {
    report.reason = fmt::format(
        "the certificate is about another history: its digest is `{}`, that of this one {}{}",
        document.digest, digest, kReadAsChecked);
    return report;
  }
  if (auto refusal = history::drift_refusal(history, clock_drift_ns)) {
    report.reason = *std::move(refusal);
    return report;
  }
  Verifier verifier(history, document, clock_drift_ns);
  for (std::size_t i = 0; i < document.proofs.size(); ++i) {
    if (auto wrong = verifier.proof(i)) {
      report.reason = *wrong;
      if (document.clock_drift_ns != clock_drift_ns) {
        report.reason += fmt::format(
            "; the certificate is for clocks up to {} ns wrong, and was checked for {} ns",
            document.clock_drift_ns, clock_drift_ns);
      }
      return report;
    }
  }
  for (std::size_t i = 0; i < document.answers.size(); ++i) {
    if (auto wrong = verifier.answer(i, report)) {
      report.reason = *wrong;
      report.answers.clear();
      return report;
    }
  }
  report.validity = Validity::kValid;
  return report;
}

Report verify_answers(const history::History& history, std::string_view certificate_json,
                      history::Time clock_drift_ns) {
  auto report = verify(history, certificate_json, clock_drift_ns);
  if (report.validity == Validity::kValid && report.answers.empty()) {
    report.validity = Validity::kNotValid;
    report.reason = "it answers for no level, and so proves nothing";
  }
  return report;
}

}  // namespace cupel::certify
