// Fuzz target: the verifier of certificates of replicated data types, on small histories whose
// verdicts are known. Whatever it is given, it does not crash; and what it accepts is true.
#include <array>
#include <optional>

#include "crdt/analysis/analyze.hpp"
#include "crdt/analysis/certain.hpp"
#include "crdt/io/reader.hpp"
#include "crdt/verify/verify_recording.hpp"
#include "touch_history.hpp"

namespace {

using namespace cupel;
using crdt::UnknownOutcome;
using crdt::Verdict;

struct Known {
  const char* type;  // null: of several objects
  const char* lines;
  UnknownOutcome unknown_outcome = UnknownOutcome::kOpen;
};

// What is wrong is of another key than the update of unknown outcome.
constexpr const char* kOtherKey = R"({"f":"delivery","value":"applied"}
{"process":1,"f":"inc","key":"x","value":2}
{"process":1,"f":"inc","key":"y"}
{"process":3,"type":"info","f":"inc","key":"x","value":4}
{"process":2,"f":"deliver","value":["1:0","1:1"]}
{"process":2,"f":"read","key":"x","value":6}
{"process":2,"f":"read","key":"y","value":0}
)";

constexpr Known kKnown[] = {
    // An element that was removed; without the deliveries nothing is wrong, and nothing contradicts
    // convergence.
    {"add-wins-set", R"({"process":1,"f":"add","value":"b"}
{"process":1,"f":"add","value":"a"}
{"process":2,"f":"deliver","value":["1:0"]}
{"process":2,"f":"remove","value":"b"}
{"process":2,"f":"read","value":["b"]}
)"},
    // Two replicas that have the same, and differ.
    {"multi-value-register", R"({"process":1,"f":"write","value":1}
{"process":2,"f":"write","value":2}
{"process":1,"f":"deliver","value":["2:0"]}
{"process":2,"f":"deliver","value":["1:0"]}
{"process":1,"f":"read","value":[1,2]}
{"process":2,"f":"read","value":[2]}
)"},
    // Writes in two orders.
    {"last-writer-wins-register", R"({"process":1,"f":"write","value":1}
{"process":2,"f":"write","value":2}
{"process":1,"f":"read","value":2}
{"process":1,"f":"read","value":1}
{"process":2,"f":"read","value":1}
{"process":2,"f":"read","value":2}
)"},
    // A counter that is right, and might count an increment of unknown outcome.
    {"counter", R"({"process":1,"f":"inc","value":2,"time":1}
{"process":3,"type":"info","f":"inc","value":4,"time":2}
{"process":2,"f":"read","value":4,"time":3}
{"process":2,"f":"read","value":6,"time":4}
)"},
    {"counter", kOtherKey, UnknownOutcome::kAbsent},
    {"counter", kOtherKey, UnknownOutcome::kAbsentUnread},
    // Characters in two orders.
    {"list", R"({"process":1,"f":"addAfter","value":[null,"a"]}
{"process":2,"f":"addAfter","value":[null,"b"]}
{"process":1,"f":"deliver","value":["2:0"]}
{"process":2,"f":"deliver","value":["1:0"]}
{"process":1,"f":"addAfter","value":["b","c"]}
{"process":1,"f":"read","value":["a","b","c"]}
{"process":2,"f":"read","value":["b","a"]}
)"},
    {"weak-list", R"({"process":1,"f":"addAfter","value":[null,"a"]}
{"process":2,"f":"addAfter","value":[null,"b"]}
{"process":1,"f":"deliver","value":["2:0"]}
{"process":2,"f":"deliver","value":["1:0"]}
{"process":1,"f":"remove","value":"a"}
{"process":1,"f":"read","value":["b"]}
{"process":2,"f":"read","value":["b","a"]}
)"},
    {"non-interleaving-list", R"({"process":1,"f":"addAfter","value":[null,"a"]}
{"process":1,"f":"addAfter","value":["a","b"]}
{"process":2,"f":"addAfter","value":[null,"c"]}
{"process":2,"f":"addAfter","value":["c","d"]}
{"process":1,"f":"deliver","value":["2:0","2:1"]}
{"process":1,"f":"read","value":["a","c","b","d"]}
)"},
    {"movable-list", R"({"f":"delivery","value":"fifo"}
{"process":1,"f":"addAfter","value":[null,"a"]}
{"process":1,"f":"addAfter","value":["a","b"]}
{"process":2,"f":"deliver","value":["1:0","1:1"]}
{"process":1,"f":"move","value":["a","b"]}
{"process":2,"f":"move","value":["b",null]}
{"process":1,"f":"deliver","value":["2:0"]}
{"process":1,"f":"read","value":["b","a"]}
)"},
    {"marked-text", R"({"process":1,"f":"insert","value":[null,"ab"]}
{"process":2,"f":"deliver","value":["1:0"]}
{"process":1,"f":"mark","value":["ab","bold",true]}
{"process":2,"f":"insert","value":["a","c"]}
{"process":2,"f":"deliver","value":["1:1"]}
{"process":2,"f":"read","value":[["a",{"bold":true}],["cb"]]}
)"},
    {"tree", R"({"process":1,"f":"move","value":["a",null]}
{"process":1,"f":"move","value":["b",null]}
{"process":2,"f":"deliver","value":["1:0","1:1"]}
{"process":1,"f":"move","value":["a","b"]}
{"process":2,"f":"move","value":["b","a"]}
{"process":1,"f":"deliver","value":["2:0"]}
{"process":1,"f":"read","value":[["a","b"],["b",null]]}
)"},
    {"map", R"({"process":1,"f":"put","value":[["a"],{"map":"m"}]}
{"process":1,"f":"put","value":[["a","n"],{"counter":"c"}]}
{"process":2,"f":"deliver","value":["1:0","1:1"]}
{"process":2,"f":"put","value":[["a"],3]}
{"process":1,"f":"read","value":{"a":{"map":"m","value":{"n":{"counter":"c","value":0}}}}}
{"process":2,"f":"read","value":{"a":3}}
)"},
    {nullptr, R"({"object":"s","type":"add-wins-set"}
{"object":"n","type":"counter"}
{"process":1,"object":"s","f":"add","value":"a"}
{"process":1,"object":"n","f":"inc"}
{"process":2,"f":"deliver","value":["1:0","1:1"]}
{"process":2,"object":"s","f":"read","value":["a"]}
{"process":2,"object":"n","f":"read","value":0}
)"},
    {nullptr, R"({"object":"s","type":"grow-only-set"}
{"object":"n","type":"counter"}
{"process":1,"object":"s","f":"add","value":"a"}
{"process":2,"object":"n","f":"inc"}
{"process":2,"object":"s","f":"read","value":["a"]}
{"process":1,"object":"n","f":"read","value":1}
)"},
};

// What a certificate may be about, by Verified. kUnknown: there must be none.
enum Terms : std::uint8_t { kWithoutDeliveries, kByDeliveries, kConvergedOnly, kTerms };
using Truth = std::array<std::array<Verdict, kTerms>, 2>;  // by `strict`

crdt::AnalysisOptions options_of(bool strict, Terms terms, const crdt::Visibility* visibility) {
  return {.axioms = {.strict = strict},
          .visibility = terms == kWithoutDeliveries ? nullptr : visibility,
          .converged_only = terms == kConvergedOnly};
}

Verdict found(const crdt::Recording& recording, const crdt::AnalysisOptions& options) {
  base::Budget budget;
  const auto analysis = crdt::analyze(recording, options, budget);
  const bool certain = recording.whole().unknown_outcome == UnknownOutcome::kOpen ||
                       crdt::is_certain(recording, analysis);
  return certain ? analysis.decided : Verdict::kUnknown;
}

Truth truth_of(const crdt::Recording& recording, const crdt::Visibility* visibility) {
  Truth truth;
  for (const bool strict : {false, true}) {
    for (const auto terms : {kWithoutDeliveries, kByDeliveries, kConvergedOnly}) {
      const bool none = terms != kWithoutDeliveries && visibility == nullptr;
      truth[strict][terms] =
          none ? Verdict::kUnknown : found(recording, options_of(strict, terms, visibility));
    }
  }
  return truth;
}

struct Decided {
  crdt::Recording recording;
  Truth truth;
};

Decided decided(const Known& known) {
  std::optional<crdt::NamedType> type;
  if (known.type != nullptr) {
    type = crdt::type_of(known.type);
    fuzz::require(type.has_value(), "a known type");
  }
  auto read = crdt::read_recording(known.lines, "known", type, 1, known.unknown_outcome);
  fuzz::require(read.ok(), "a known history is read");
  Decided one{.recording = *read, .truth = {}};
  if (!read->whole().context.is_known()) {
    one.truth = truth_of(*read, nullptr);
    return one;
  }
  const auto visibility = crdt::Visibility::of(read->whole());
  fuzz::require(visibility.ok(), "its deliveries are possible");
  crdt::deliver_to_objects(*read, *visibility);
  one.truth = truth_of(*read, &*visibility);
  return one;
}

// Two readings of one history, without its updates of unknown outcome: what either decides is true
// of it. The engine may stop at what is uncertain, where a certificate is about another part.
Truth completed(Truth truth, const Truth& other) {
  for (std::size_t strict = 0; strict < truth.size(); ++strict) {
    for (std::size_t terms = 0; terms < kTerms; ++terms) {
      if (truth[strict][terms] == Verdict::kUnknown) truth[strict][terms] = other[strict][terms];
    }
  }
  return truth;
}

const std::vector<Decided>& all_decided() {
  static const std::vector<Decided> all = [] {
    std::vector<Decided> made;
    for (const auto& known : kKnown) {
      auto& one = made.emplace_back(decided(known));
      if (known.unknown_outcome != UnknownOutcome::kAbsent) continue;
      auto unread = known;
      unread.unknown_outcome = UnknownOutcome::kAbsentUnread;
      one.truth = completed(one.truth, decided(unread).truth);
    }
    return made;
  }();
  return all;
}

Terms terms_of(const crdt::Verified& verified) {
  if (!verified.by_deliveries) return kWithoutDeliveries;
  return verified.converged_only ? kConvergedOnly : kByDeliveries;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const bool named = crdt::head_of(bytes).of_named_objects;
  for (const Decided& one : all_decided()) {
    if (one.recording.is_named() != named) continue;
    auto recording = one.recording;
    const auto verified = crdt::verify(recording, bytes);
    if (verified.status != crdt::CertificateStatus::kValid) {
      fuzz::require(!verified.reason.empty(), "a refusal says why");
      continue;
    }
    const auto truth = one.truth[verified.strict][terms_of(verified)];
    fuzz::require(truth != Verdict::kUnknown, "there is such a certificate");
    fuzz::require((truth == Verdict::kSatisfied) == (verified.verdict == "satisfied"),
                  "what is accepted is true");
  }
  return 0;
}
