// Several objects of several types in one history: against the axioms by brute force, over one
// happens-before that all objects share; the format; certificates.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <functional>
#include <sstream>

#include "base/random.hpp"
#include "crdt/analysis/analyze.hpp"
#include "crdt/io/certificate.hpp"
#include "crdt/io/reader.hpp"
#include "crdt/io/recording_report.hpp"
#include "crdt/model/times.hpp"
#include "crdt/verify/verify_recording.hpp"
#include "crdt/workload/generate.hpp"
#include "oracle.hpp"
#include "random_deliveries.hpp"
#include "random_history.hpp"

namespace cupel::crdt {
namespace {

using Past = std::vector<std::uint32_t>;

Recording mixed(const std::string& text) {
  auto history = read_recording(text, "h");
  EXPECT_TRUE(history.ok()) << (history.ok() ? "" : history.error().to_string());
  return std::move(history).value();
}

std::string error_of(const std::string& text) {
  const auto history = read_recording(text, "h");
  return history.ok() ? "none" : history.error().to_string();
}

RecordingAnalysis analyzed(Recording& history, bool with_deliveries, bool strict = false) {
  std::optional<Visibility> visibility;
  if (with_deliveries) {
    visibility = Visibility::of(history.combined).value();
    deliver_to_objects(history, *visibility);
  }
  base::Budget budget;
  return analyze(history,
                 {.axioms = {.strict = strict}, .visibility = visibility ? &*visibility : nullptr},
                 budget);
}

// Two or three objects with some operations each, in a random order of the lines.
Recording random_mixed(base::Random& random, std::uint32_t operations, bool deliveries) {
  const auto types = all_types();
  const auto replicas = 2 + static_cast<std::uint32_t>(random.below(2));
  const auto objects = 2 + random.below(2);
  Recording mixed;
  for (std::uint32_t r = 0; r < replicas; ++r) mixed.combined.replica(std::to_string(r));
  while (mixed.objects.size() < objects) {
    const Type type = types[random.below(types.size())];
    if (!deliveries && replicated_type(type).traits().needs_deliveries) continue;
    const auto some = 1 + static_cast<std::uint32_t>(
                              random.below(operations / static_cast<std::uint32_t>(objects) + 1));
    const Shape shape{some, replicas, 1, 2U};
    mixed.objects.push_back({.name = fmt::format("\"o{}\"", mixed.objects.size()),
                             .type = {type},
                             .history = random_history(type, shape, random),
                             .origin = {}});
  }
  while (true) {
    std::vector<std::uint32_t> open;
    for (std::uint32_t o = 0; o < objects; ++o) {
      if (mixed.objects[o].origin.size() < mixed.objects[o].history.ops.size()) open.push_back(o);
    }
    if (open.empty()) return mixed;
    const auto o = open[random.below(open.size())];
    auto& object = mixed.objects[o];
    const auto op = static_cast<OpId>(object.origin.size());
    object.origin.push_back(mixed.combined.add(
        {.kind = object.history.ops[op].kind, .replica = object.history.ops[op].replica}));
    mixed.place.push_back({o, op});
  }
}

// Of the whole, what the operations of an object have seen of it.
Past projected(const ObjectHistory& object, const Past& whole) {
  Past past(object.origin.size(), 0);
  for (std::size_t a = 0; a < past.size(); ++a) {
    for (std::size_t b = 0; b < past.size(); ++b) {
      if (whole[object.origin[a]] >> object.origin[b] & 1U) past[a] |= 1U << b;
    }
  }
  return past;
}

bool admitted(const Recording& history, const Past& whole, bool strict) {
  return std::all_of(history.objects.begin(), history.objects.end(), [&](const auto& object) {
    return admitted_with(object.history, projected(object, whole), strict);
  });
}

// The lines of some operations, and of the types, without deliveries.
std::string lines_of(const Recording& history, const std::vector<OpId>& operations) {
  std::vector<std::string> lines;
  std::istringstream text(write(history));
  for (std::string line; std::getline(text, line);) {
    if (line.find("\"f\":\"deliver\"") == std::string::npos) lines.push_back(line + "\n");
  }
  std::string some;
  for (std::size_t o = 0; o < history.objects.size(); ++o) some += lines[o];
  for (const OpId id : operations) some += lines[history.objects.size() + id];
  return some;
}

bool have_no_happens_before(const Recording& recording, const std::vector<OpId>& operations,
                            bool strict) {
  const auto core = mixed(lines_of(recording, operations));
  return !any_happens_before(core.combined,
                             [&](const Past& past) { return admitted(core, past, strict); });
}

// A certificate is valid for its history, which was read again, and for no other verdict.
void expect_valid(const Recording& decided, const RecordingAnalysis& found) {
  const auto certificate = certificate_of(decided, found);
  auto history = mixed(write(decided));
  const auto verified = verify(history, certificate);
  if (!found.together.empty()) {  // no object is violated alone
    ASSERT_EQ(verified.status, CertificateStatus::kValid) << verified.reason;
    ASSERT_TRUE(have_no_happens_before(decided, found.together, found.axioms.strict))
        << write(decided) << lines_of(decided, found.together);
    // Without any one of the operations it is valid only if that was one too many.
    for (std::size_t i = 0; i < found.together.size(); ++i) {
      auto fewer = found;
      fewer.together.erase(fewer.together.begin() + static_cast<std::ptrdiff_t>(i));
      if (verify(history, certificate_of(decided, fewer)).status != CertificateStatus::kValid)
        continue;
      ASSERT_TRUE(have_no_happens_before(decided, fewer.together, found.axioms.strict))
          << write(decided) << lines_of(decided, fewer.together);
    }
    return;
  }
  if (found.decided == Verdict::kSatisfied) {  // so its operations have a common happens-before
    RecordingAnalysis forged{.axioms = found.axioms, .decided = Verdict::kViolated};
    for (OpId id = 0; id < decided.combined.ops.size(); ++id) {
      if (decided.place[id].object != kNone) forged.together.push_back(id);
    }
    ASSERT_EQ(verify(history, certificate_of(decided, forged)).status, CertificateStatus::kNotValid)
        << write(decided);
  }
  ASSERT_EQ(verified.status, CertificateStatus::kValid) << verified.reason << "\n"
                                                        << write(decided) << certificate;
  auto other = certificate;
  const bool well = found.decided == Verdict::kSatisfied;
  for (auto at = other.find(well ? "satisfied" : "violated"); at != std::string::npos;
       at = other.find(well ? "satisfied" : "violated", at + 1))
    other.replace(at, well ? 9 : 8, well ? "violated" : "satisfied");
  ASSERT_NE(verify(history, other).status, CertificateStatus::kValid) << other;
}

TEST(Mixed, WithDeliveriesIsDecidedAsTheAxioms) {
  base::Random random(5);
  int satisfied = 0, violated = 0;
  for (int i = 0; i < 6000; ++i) {
    auto made = random_mixed(random, 12, /*deliveries=*/true);
    const RandomDeliveries deliveries(made.combined, DeliveryRule::kCausal, random);
    if (!made.combined.context.is_known()) continue;
    const bool strict = random.chance(0.3);
    auto history = mixed(write(made, random.chance(0.3)));
    const auto found = analyzed(history, true, strict);
    ASSERT_NE(found.decided, Verdict::kUnknown);
    const bool well = found.decided == Verdict::kSatisfied;
    ASSERT_EQ(well, admitted(made, deliveries.past, strict)) << write(made);
    expect_valid(history, found);
    ++(well ? satisfied : violated);
  }
  EXPECT_GT(satisfied, 300);
  EXPECT_GT(violated, 300);
}

// By every rule, an object's replicas had seen of it what they had seen of it in the whole.
TEST(Mixed, ObjectsHaveSeenWhatTheWholeHasSeen) {
  base::Random random(8);
  for (int i = 0; i < 2000; ++i) {
    auto made = random_mixed(random, 12, /*deliveries=*/true);
    const auto rule = i % 3 == 0   ? DeliveryRule::kCausal
                      : i % 3 == 1 ? DeliveryRule::kFifo
                                   : DeliveryRule::kApplied;
    const RandomDeliveries deliveries(made.combined, rule, random);
    if (!made.combined.context.is_known()) continue;
    deliver_to_objects(made, Visibility::of(made.combined).value());
    for (const ObjectHistory& object : made.objects) {
      const auto visibility = Visibility::of(object.history).value();
      for (OpId id = 0; id < object.origin.size(); ++id) {
        for (OpId u = 0; u < object.origin.size(); ++u) {
          if (is_read(object.history.ops[u].kind) || u == id) continue;
          ASSERT_EQ(visibility.sees(id, u),
                    (deliveries.seen[object.origin[id]] >> object.origin[u] & 1U) != 0)
              << write(made);
        }
      }
    }
  }
}

TEST(Mixed, WithoutDeliveriesNeverContradictsExhaustiveSearch) {
#if defined(__SANITIZE_ADDRESS__)
  constexpr int kHistories = 300;  // 1,500 take minutes then
#else
  constexpr int kHistories = 1500;
#endif
  base::Random random(6);
  int satisfied = 0, violated = 0, together = 0;
  for (int i = 0; i < kHistories; ++i) {
    auto history = mixed(write(random_mixed(random, 6, /*deliveries=*/false)));
    const bool strict = i % 8 == 0;
    const auto found = analyzed(history, false, strict);
    const bool expected = any_happens_before(
        history.combined, [&](const Past& past) { return admitted(history, past, strict); });
    ASSERT_EQ(found.decided, expected ? Verdict::kSatisfied : Verdict::kViolated) << write(history);
    expect_valid(history, found);
    ++(expected ? satisfied : violated);
    together += found.together.empty() ? 0 : 1;
  }
  EXPECT_GT(satisfied, kHistories / 8);
  EXPECT_GT(violated, kHistories / 8);
  RecordProperty("together", together);  // few; the next tests are about them
}

// The executions that were found of each object alone do not fit together; others do.
TEST(Mixed, OtherExecutionsOfTheObjectsAreTried) {
  for (const auto* const text : {R"({"object":"o0","type":"lww"}
{"object":"o1","type":"any-maximal-register"}
{"object":"o1","process":1,"f":"write","value":2}
{"object":"o0","process":0,"f":"write","value":0}
{"object":"o1","process":0,"f":"write","value":2}
{"object":"o0","process":0,"f":"read","value":0}
{"object":"o1","process":0,"f":"read","value":2}
{"object":"o0","process":1,"f":"read","value":null}
{"object":"o1","process":0,"f":"read","value":2}
)",
                                 R"({"object":"o0","type":"lww"}
{"object":"o1","type":"max-register"}
{"object":"o1","process":0,"f":"read","value":0}
{"object":"o0","process":1,"f":"write","value":0}
{"object":"o0","process":1,"f":"write","value":1}
{"object":"o0","process":0,"f":"write","value":1}
{"object":"o0","process":1,"f":"read","value":1}
{"object":"o1","process":1,"f":"write","value":0}
{"object":"o1","process":1,"f":"read","value":0}
)"}) {
    auto history = mixed(text);
    const auto found = analyzed(history, false);
    EXPECT_EQ(found.decided, Verdict::kSatisfied) << text;
    expect_valid(history, found);
  }
}

constexpr const char* kShop = R"({"object":"cart","type":"or-set"}
{"object":7,"type":"counter"}
{"process":0,"object":"cart","f":"add","value":"a"}
{"process":0,"object":7,"f":"inc","value":1}
{"process":1,"f":"deliver","value":["0:0","0:1"]}
{"process":1,"object":7,"f":"read","value":1}
{"process":1,"object":"cart","f":"read","value":[]}
)";

TEST(Mixed, UpdatesAreNumberedOverAllObjects) {
  auto history = mixed(kShop);
  ASSERT_EQ(history.objects.size(), 2U);
  const auto found = analyzed(history, true);
  EXPECT_EQ(found.decided, Verdict::kViolated);
  EXPECT_EQ(as_text(RecordingReport{"h", &history, found}),
            "h\tobjects\tviolated\n"
            "  \"cart\"\tadd-wins-set\tviolated\n"
            "    lost-add: line 7 (replica 1) does not show \"a\"; it had received add(\"a\") of "
            "replica 0 (line 3), and no remove that had seen this add\n"
            "    it takes 2 of 2 operations:\n"
            "      line 3  replica 0  add(\"a\")\n"
            "      line 7  replica 1  read() = {}  <- this one\n"
            "  7\tcounter\tsatisfied\n");
}

// Each object is satisfied alone: the cart may not have arrived, but it came before the counter.
TEST(Mixed, ObjectsThatAreSatisfiedOnlyAloneAreNotSatisfied) {
  auto history = mixed(kShop);
  const auto found = analyzed(history, false);
  EXPECT_EQ(found.decided, Verdict::kViolated);
  expect_valid(history, found);
  EXPECT_EQ(as_text(RecordingReport{"h", &history, found}),
            "h\tobjects\tviolated\n"
            "  \"cart\"\tadd-wins-set\tsatisfied\n"
            "  7\tcounter\tsatisfied\n"
            "  no-common-order: each object is satisfied alone, but no happens-before explains all "
            "of them\n"
            "  it takes 4 of 4 operations:\n"
            "    line 3  replica 0  \"cart\": add(\"a\")\n"
            "    line 4  replica 0  7: inc()\n"
            "    line 6  replica 1  7: read() = 1\n"
            "    line 7  replica 1  \"cart\": read() = {}\n");
}

// Certificates that are valid for each object do not make one of both.
TEST(Mixed, ClocksOfObjectsMustBeThoseOfOneHappensBefore) {
  auto history = mixed(kShop);
  base::Budget budget;
  RecordingAnalysis forged{.decided = Verdict::kSatisfied};
  for (const ObjectHistory& object : history.objects)
    forged.objects.push_back(analyze(object.history, {}, budget));
  const auto verified = verify(history, certificate_of(history, forged));
  EXPECT_EQ(verified.status, CertificateStatus::kNotValid);
  EXPECT_EQ(verified.reason,
            "operation 3 has seen more of the object \"cart\" than its certificate says, by what "
            "was seen of other objects");
}

// The set's remove arrives without effect; some other delivery explains the reads.
const char* const kNoEffect = R"({"object":"s","type":"or-set"}
{"object":"n","type":"counter"}
{"process":0,"object":"s","f":"add","value":"a"}
{"process":0,"object":"n","f":"inc","value":1}
{"process":0,"object":"s","f":"remove","value":"a"}
{"process":1,"f":"deliver","value":["0:0","0:1","0:2"]}
{"process":1,"object":"s","f":"read","value":["a"]}
{"process":1,"object":"n","f":"read","value":1}
)";

// `change` names what analyze is asked for besides the deliveries.
std::string report_of_mixed(const std::string& text,
                            const std::function<void(AnalysisOptions&)>& change, Verdict& verdict) {
  auto history = mixed(text);
  const auto visibility = Visibility::of(history.combined).value();
  deliver_to_objects(history, visibility);
  AnalysisOptions options{.visibility = &visibility};
  change(options);
  base::Budget budget;
  const RecordingReport report{.file = "h",
                               .recording = &history,
                               .analysis = analyze(history, options, budget),
                               .show_witness = false};
  verdict = verdict_of(report.analysis);
  return as_text(report);
}

TEST(Mixed, CheckedDeliveriesAreComparedWithTheVerdictWithoutThem) {
  Verdict verdict{};
  const auto checked = [](AnalysisOptions& options) { options.also_without = true; };
  const auto differ = report_of_mixed(kNoEffect, checked, verdict);
  EXPECT_EQ(verdict, Verdict::kViolated);
  EXPECT_NE(differ.find("  context-contradiction: without the context: satisfied\n"),
            std::string::npos)
      << differ;
  // Without the third delivery both verdicts are the same.
  std::string same = kNoEffect;
  same.replace(same.find(",\"0:2\"]"), 7, "]");
  const auto agree = report_of_mixed(same, checked, verdict);
  EXPECT_EQ(verdict, Verdict::kSatisfied);
  EXPECT_NE(agree.find("  without the context: satisfied\n"), std::string::npos) << agree;
  EXPECT_EQ(agree.find("contradiction"), std::string::npos) << agree;
  // Of an object that is decided with deliveries only nothing is known without them.
  const auto document = report_of_mixed(R"({"object":"d","type":"map"}
{"process":0,"object":"d","f":"put","value":[["k"],1]}
{"process":1,"f":"deliver","value":["0:0"]}
{"process":1,"object":"d","f":"read","value":{"k":1}}
)",
                                        checked, verdict);
  EXPECT_EQ(verdict, Verdict::kSatisfied);
  EXPECT_NE(document.find("  without the context: unknown\n"), std::string::npos) << document;
}

TEST(Mixed, ConvergenceIsComparedObjectByObject) {
  Verdict verdict{};
  const auto converge = [](AnalysisOptions& options) { options.converge = true; };
  const std::string begin = R"({"object":"s","type":"or-set"}
{"object":"n","type":"counter"}
{"process":0,"object":"s","f":"add","value":"a"}
{"process":0,"object":"n","f":"inc","value":1}
{"process":0,"object":"s","f":"read","value":["a"]}
{"process":0,"object":"n","f":"read","value":1}
)";
  const auto read_of_other = [&](const std::string& delivered, const std::string& number) {
    return begin + R"({"process":1,"f":"deliver","value":[)" + delivered +
           "]}\n{\"process\":1,\"object\":\"n\",\"f\":\"read\",\"value\":" + number + "}\n";
  };
  report_of_mixed(read_of_other(R"("0:0","0:1")", "1"), converge, verdict);
  EXPECT_EQ(verdict, Verdict::kSatisfied);
  // It had not received the increment, which makes it right but not converged.
  const auto apart = report_of_mixed(read_of_other(R"("0:0")", "0"), converge, verdict);
  EXPECT_EQ(verdict, Verdict::kViolated);
  EXPECT_NE(apart.find("not converged: the last reads of 1 of 1 keys differ"), std::string::npos)
      << apart;
  EXPECT_NE(apart.find("replica 1 had not received inc() of replica 0"), std::string::npos)
      << apart;
  // No object has two last reads.
  report_of_mixed(begin + R"({"process":1,"f":"deliver","value":["0:0"]})", converge, verdict);
  EXPECT_EQ(verdict, Verdict::kUnknown);
}

TEST(Mixed, AnObjectWithoutOperationsIsSatisfied) {
  auto history = mixed(R"({"object":"s","type":"or-set"}
{"object":"l","type":"movable-list"}
{"process":0,"object":"s","f":"add","value":"a"}
{"process":1,"f":"deliver","value":["0:0"]}
{"process":1,"object":"s","f":"read","value":["a"]}
)");
  const auto found = analyzed(history, true);
  ASSERT_EQ(found.decided, Verdict::kSatisfied);
  expect_valid(history, found);
}

// By the register, the addition is seen together with the read of the array before it.
TEST(Mixed, AReadThatIsSeenByAnotherObjectHasItsPlace) {
  auto history = mixed(R"({"object":"a","type":"rga"}
{"object":"r","type":"any-maximal-register"}
{"process":0,"object":"r","f":"write","value":0}
{"process":0,"object":"a","f":"addAfter","value":[null,0]}
{"process":1,"object":"a","f":"read","value":[]}
{"process":1,"object":"r","f":"write","value":0}
{"process":1,"object":"r","f":"read","value":0}
{"process":0,"object":"r","f":"write","value":1}
)");
  const auto found = analyzed(history, false);
  ASSERT_EQ(found.decided, Verdict::kSatisfied);
  expect_valid(history, found);
}

GenerateOptions shop(std::uint64_t seed, const std::string& bug) {
  GenerateOptions options;
  options.types = {{Type::kAddWinsSet}, {Type::kCounter}, {Type::kStrongList}};
  options.ops = 1000;
  options.keys = 2;
  options.seed = seed;
  options.bug = bug;
  options.context = true;
  return options;
}

TEST(Mixed, InjectedBugsAreFound) {
  auto bugs = bugs_of(Type::kAddWinsSet);
  for (const Type type : {Type::kCounter, Type::kStrongList}) {
    for (const auto& bug : bugs_of(type)) bugs.push_back(bug);
  }
  bugs.emplace_back(kObjectsApart.name);
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    auto correct = mixed(write(generate_recording(shop(seed, "")).value()));
    ASSERT_EQ(analyzed(correct, true).decided, Verdict::kSatisfied) << seed;
    for (const auto& bug : bugs) {
      auto wrong = mixed(write(generate_recording(shop(seed, bug)).value()));
      const auto found = analyzed(wrong, true);
      ASSERT_EQ(found.decided, Verdict::kViolated) << bug << " " << seed;
      std::size_t operations = 0;
      for (const Analysis& object : found.objects) {
        if (operations == 0 && object.explanation)
          operations = object.explanation->part.history.ops.size();
      }
      EXPECT_LE(operations, 10U) << bug << " " << seed;
      expect_valid(wrong, found);
    }
  }
}

TEST(Mixed, MistakesAreNamed) {
  const std::string cart = R"({"object":"cart","type":"or-set"})";
  EXPECT_EQ(error_of(R"({"process":0,"object":"cart","f":"add","value":1})"),
            "h:1: found the object \"cart\" without its type, expected a line such as "
            "{\"object\":\"cart\",\"type\":\"or-set\"} before its operations");
  EXPECT_EQ(error_of(R"({"process":0,"f":"add","value":1})"),
            "h:1: found an operation without `object`, expected the option --type, or a line such "
            "as {\"object\":\"cart\",\"type\":\"or-set\"} before its operations");
  EXPECT_EQ(error_of(cart + "\n" + R"({"process":0,"f":"add","value":1})"),
            "h:2: found an operation without `object`, expected it in each operation of a history "
            "that names objects");
  EXPECT_EQ(
      error_of(cart + "\n" + cart),
      "h:2: found the type of the object \"cart\" a second time, first in line 1; expected it "
      "once");
  EXPECT_EQ(error_of(R"({"object":"cart","type":"or-sett"})"),
            "h:1: found the type \"or-sett\", expected one of docs/reference/formats/crdt.md, such "
            "as or-set");
  EXPECT_EQ(read(R"({"process":0,"object":"cart","f":"add","value":1})", "h", {Type::kAddWinsSet})
                .error()
                .to_string(),
            "h:1: found `object`, which belongs to histories of several types; expected none with "
            "--type, or the command without --type");
}

}  // namespace
}  // namespace cupel::crdt
