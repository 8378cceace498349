// Fuzz target: the readers of histories of replicated data types, of one object and of several.
// Whatever they are given, for any type, they do not crash; what they accept they write so that it
// reads the same again; and small ones are decided, with and without their deliveries, with
// certificates that the verifier finds valid.
#include <algorithm>

#include "crdt/analysis/analyze.hpp"
#include "crdt/analysis/certain.hpp"
#include "crdt/io/certificate.hpp"
#include "crdt/io/reader.hpp"
#include "crdt/model/replicated_type.hpp"
#include "crdt/model/times.hpp"
#include "crdt/verify/verify_recording.hpp"
#include "touch_history.hpp"

namespace {

using namespace cupel;

// Exhaustive search takes time with more operations, and with many elements.
constexpr std::size_t kSmall = 8, kFewElements = 24;

bool is_small(const crdt::History& history) {
  return history.ops.size() <= kSmall && history.elements.size() <= kFewElements;
}

crdt::AnalysisOptions options_of(const crdt::Visibility* visibility) {
  return {.visibility = visibility, .shrink_seconds = 60};
}

crdt::Verdict decide(const crdt::History& history, const crdt::Visibility* visibility) {
  base::Budget budget;
  const auto found = crdt::analyze(history, options_of(visibility), budget);
  const auto verdict = found.decision.verdict;
  if (verdict == crdt::Verdict::kUnknown) {
    fuzz::require(history.has_unread(), "a small one is decided");
    return verdict;
  }
  const bool certain =
      history.unknown_outcome == crdt::UnknownOutcome::kOpen || crdt::is_certain(history, found);
  const bool valid = crdt::verify(history, crdt::certificate_of(history, found)).status ==
                     crdt::CertificateStatus::kValid;
  fuzz::require(valid == certain, "the certificate is valid");
  return verdict;
}

// With its deliveries, if it has any.
void decide_read(const crdt::History& history) {
  const bool without = !crdt::replicated_type(history).traits().needs_deliveries &&
                       history.unknown_outcome == crdt::UnknownOutcome::kOpen;
  const auto open = without ? decide(history, nullptr) : crdt::Verdict::kUnknown;
  const bool known =
      history.context.is_known() && (history.context.unknown_outcome_line == 0 ||
                                     history.unknown_outcome != crdt::UnknownOutcome::kOpen);
  if (!known) return;
  const auto visibility = crdt::Visibility::of(history);
  if (!visibility.ok() || crdt::late_update(history, *visibility)) return;
  const auto by_deliveries = decide(history, &*visibility);
  if (history.context.rule == crdt::DeliveryRule::kCausal &&
      by_deliveries == crdt::Verdict::kSatisfied) {
    fuzz::require(open != crdt::Verdict::kViolated, "without deliveries no less is allowed");
  }
}

void one_type(std::string_view bytes, crdt::NamedType type) {
  const auto history = crdt::read(bytes, "fuzz", type);
  if (!history.ok()) {
    fuzz::require(!history.error().message.empty(), "a refusal says why");
    return;
  }
  const auto lines = crdt::write(*history);
  const auto again = crdt::read(lines, "fuzz", type);
  fuzz::require(again.ok() && crdt::write(*again) == lines, "what is written is read back");
  const auto edn = crdt::read(crdt::write(*history, true), "fuzz", type);
  fuzz::require(edn.ok() && crdt::write(*edn) == lines, "EDN says the same");
  if (!is_small(*history)) return;
  decide_read(*history);
  if (history->context.unknown_outcome_line == 0) return;
  for (const auto outcome : {crdt::UnknownOutcome::kAbsent, crdt::UnknownOutcome::kAbsentUnread}) {
    const auto absent = crdt::read(bytes, "fuzz", type, 1, outcome);
    if (absent.ok()) decide_read(*absent);
  }
}

void several_types(std::string_view bytes) {
  auto history = crdt::read_recording(bytes, "fuzz");
  if (!history.ok()) {
    fuzz::require(!history.error().message.empty(), "a refusal says why");
    return;
  }
  const auto lines = crdt::write(*history);
  const auto again = crdt::read_recording(lines, "fuzz");
  fuzz::require(again.ok() && crdt::write(*again) == lines, "what is written is read back");
  const bool small = history->combined.ops.size() <= kSmall &&
                     std::ranges::all_of(history->objects, [](const crdt::ObjectHistory& object) {
                       return is_small(object.history);
                     });
  const auto& context = history->combined.context;
  if (!small || !context.is_known() || context.unknown_outcome_line != 0) return;
  const auto visibility = crdt::Visibility::of(history->combined);
  if (!visibility.ok() || crdt::late_update(history->combined, *visibility)) return;
  crdt::deliver_to_objects(*history, *visibility);
  base::Budget budget;
  const auto found = crdt::analyze(*history, options_of(&*visibility), budget);
  fuzz::require(found.decided != crdt::Verdict::kUnknown, "a small one is decided");
  const auto certificate = crdt::certificate_of(*history, found);
  fuzz::require(crdt::verify(*history, certificate).status == crdt::CertificateStatus::kValid,
                "the certificate is valid");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  for (const auto type : crdt::all_types()) one_type(bytes, {type});
  several_types(bytes);
  return 0;
}
