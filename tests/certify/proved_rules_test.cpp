// Rules that random histories seldom need: places of list elements that were appended twice,
// bounds on what a read saw, further rows of a range read, a range read of a single object. Each
// generator makes little else; the test says how often the rule was there, and at least once.
//
// CUPEL_PROVED_HISTORIES=N: so many histories of each generator.
#include <gtest/gtest.h>

#include <cstdlib>
#include <ostream>

#include "certify/both_verifiers.hpp"
#include "certify/certificates.hpp"
#include "certify/mutate.hpp"
#include "engine/certify/proof_text.hpp"
#include "engine/levels/accesses.hpp"
#include "report/certificate.hpp"

namespace cupel::test {
namespace {

using base::Random;
using history::History;
using history::OpKind;
using history::TxnStatus;

Atom key_of(std::uint64_t number) {
  return Atom::of(static_cast<std::int64_t>(number));
}

void set_status(SketchTxn& txn, Random& random, double uncertain) {
  if (random.chance(uncertain)) txn.status = TxnStatus::kIndeterminate;
  if (random.chance(uncertain / 2)) txn.status = TxnStatus::kAborted;
}

// A store that executes transactions one after the other, of random sessions; what a read returns
// is now and then older or made up.
Sketch sessions_of(Random& random, std::uint64_t txns,
                   const std::function<SketchTxn(std::uint64_t)>& next) {
  Sketch sketch;
  const auto sessions = 2 + random.below(2);
  for (std::uint64_t s = 0; s < sessions; ++s) sketch.sessions.push_back({std::to_string(s)});
  for (std::uint64_t i = 0; i < txns; ++i)
    sketch.sessions[random.below(sessions)].txns.push_back(next(i));
  return sketch;
}

// Lists of two different elements.
Sketch repeated_elements(std::uint64_t seed) {
  Random random(seed);
  std::vector<std::vector<Atom>> lists(1 + random.below(2));
  return sessions_of(random, 2 + random.below(5), [&](std::uint64_t) {
    SketchTxn txn;
    set_status(txn, random, 0.1);
    auto now = lists;
    for (auto ops = 1 + random.below(4); ops > 0; --ops) {
      const auto key = random.below(lists.size());
      SketchOp op{.kind = random.chance(0.55) ? OpKind::kAppend : OpKind::kListRead,
                  .key = key_of(key)};
      if (op.kind == OpKind::kAppend) {
        op.value = Atom::of(random.between(1, 2));
        now[key].push_back(op.value);
      } else {
        op.list = now[key];
        if (random.chance(0.2)) op.list.resize(random.below(op.list.size() + 1));
        if (random.chance(0.1)) op.list.push_back(Atom::of(random.between(1, 2)));
        if (random.chance(0.1) && !op.list.empty())
          std::swap(op.list[random.below(op.list.size())], op.list.back());
      }
      txn.ops.push_back(std::move(op));
    }
    if (txn.status == TxnStatus::kCommitted || random.chance(0.5)) lists = std::move(now);
    return txn;
  });
}

// One element over and over, and then reads that have now and then lost one.
Sketch equal_elements(std::uint64_t seed) {
  Random random(seed);
  Sketch sketch;
  history::Time now = 0;
  const auto add = [&](SketchOp op) {
    const auto length = random.between(1, 12);
    SketchTxn txn{.ops = {std::move(op)}, .invoke = now, .complete = now + length};
    now += random.between(5, 15);
    sketch.sessions.push_back({std::to_string(sketch.sessions.size()), {std::move(txn)}});
  };
  std::vector<Atom> list;
  for (auto appends = 2 + random.below(3); appends > 0; --appends) {
    list.push_back(Atom::of(random.chance(0.8) ? 1 : 2));
    add({.kind = OpKind::kAppend, .key = key_of(0), .value = list.back()});
  }
  for (int reads = 0; reads < 2; ++reads) {
    SketchOp op{.kind = OpKind::kListRead, .key = key_of(0), .list = list};
    if (random.chance(0.5)) op.list.pop_back();
    add(std::move(op));
  }
  return sketch;
}

// Long sessions that write few values over and over, and read what may be from many of them.
Sketch repeated_values(std::uint64_t seed) {
  Random random(seed);
  const auto keys = 2 + random.below(2), values = 2 + random.below(2);
  std::vector<std::vector<Atom>> versions(keys, {Atom::of(0)});
  return sessions_of(random, 8 + random.below(9), [&](std::uint64_t) {
    SketchTxn txn;
    set_status(txn, random, 0.03);
    for (auto ops = 1 + random.below(3); ops > 0; --ops) {
      const auto key = random.below(keys);
      auto& of = versions[key];
      SketchOp op{.kind = random.chance(0.55) ? OpKind::kWrite : OpKind::kRead, .key = key_of(key)};
      if (op.kind == OpKind::kWrite) {
        op.value = Atom::of(random.between(0, static_cast<std::int64_t>(values) - 1));
        of.push_back(op.value);
      } else {
        op.value = random.chance(0.6) ? of.back() : of[random.below(of.size())];
      }
      txn.ops.push_back(std::move(op));
    }
    return txn;
  });
}

// Range reads that return a key twice, with versions of any moment, later ones too.
Sketch further_rows(std::uint64_t seed) {
  Random random(seed);
  const auto values = 2 + random.below(4);
  return sessions_of(random, 2 + random.below(5), [&](std::uint64_t i) {
    SketchTxn txn;
    set_status(txn, random, 0.05);
    for (auto ops = 1 + random.below(2); ops > 0; --ops) {
      if (random.chance(0.5)) {
        txn.ops.push_back({.kind = OpKind::kWrite,
                           .key = key_of(random.below(2)),
                           .value = Atom::of(static_cast<std::int64_t>(i % values))});
        continue;
      }
      SketchOp op{.kind = OpKind::kRangeRead, .low = key_of(0), .high = key_of(1)};
      for (auto rows = random.below(4); rows > 0; --rows)
        op.entries.emplace_back(key_of(random.below(2)),
                                Atom::of(random.between(0, static_cast<std::int64_t>(values))));
      txn.ops.push_back(std::move(op));
    }
    return txn;
  });
}

struct Generator {
  const char* name;
  Sketch (*make)(std::uint64_t seed);
  const char* needed;  // of the certificate or of its text
  std::vector<levels::Level> asked = {};
  friend void PrintTo(const Generator& one, std::ostream* out) { *out << one.name; }
};
const Generator kGenerators[] = {
    {"places", repeated_elements, "\"placings\":"},
    {"places of one transaction", repeated_elements, " stands "},
    {"places within places", equal_elements, "\"proof\": {\"placings\":"},
    {"bounds", repeated_values, "\"bound\": \"earlier\""},
    {"later bounds", repeated_values, "\"bound\": \"later\""},
    {"rows", further_rows, "P 0 weak", {levels::Level::kReadCommitted}},
};

constexpr std::size_t kMostPlaces = 7;  // of elements appended twice: cases within cases

class ProvedRule : public testing::TestWithParam<Generator> {};

TEST_P(ProvedRule, BothSayTheSame) {
  const char* said = std::getenv("CUPEL_PROVED_HISTORIES");
  const std::uint64_t wanted = said != nullptr ? std::strtoull(said, nullptr, 10) : 60;
  BothVerifiers both;
  std::size_t there = 0;
  for (std::uint64_t seed = 0; seed < wanted; ++seed) {
    const Sketch sketch = GetParam().make(seed);
    const History h = build(sketch);
    if (levels::ListChoices(h).placings().size() > kMostPlaces) continue;
    check::Options options;
    options.asked = GetParam().asked;
    options.threads = 1;
    options.evidence = true;
    const auto json = report::certificate(h, check::check(h, options), 0).json;
    const auto proof = certify::proof_text(h, json, 0);
    for (const std::string& why : proof.left_out)
      EXPECT_EQ(why, "") << "seed " << seed << ":\n" << to_text(sketch) << "\n" << json;
    if ((json + proof.text).find(GetParam().needed) != std::string::npos) ++there;
    const auto expect = [&](const std::string& trouble, const std::string& what) {
      EXPECT_EQ(trouble, "") << "seed " << seed << ", " << what << ":\n" << to_text(sketch);
    };
    expect(both.compare(h, json, 0), json);
    Random random(seed);
    Json changed = Json::parse(json);
    const auto how = mutate(changed, random);
    if (changed.is_object()) {
      changed["history"] = Json::parse(json)["history"];  // the program is not told the digest
      expect(both.compare(h, changed.dump(), 0), how + " " + changed.dump());
    }
    const auto text = changed_text(proof.text, random);
    expect(both.compare_text(h, text, 0), text);
  }
  printf("%s: in %zu of %zu histories\n", GetParam().name, there, static_cast<std::size_t>(wanted));
  for (const auto& [what, count] : both.seen()) printf("%8zu %s\n", count, what.c_str());
  for (const auto& [why, count] : both.left_out())
    printf("%8zu not proved: %s\n", count, why.c_str());
  EXPECT_GT(there, 0U);
}

INSTANTIATE_TEST_SUITE_P(Rules, ProvedRule, testing::ValuesIn(kGenerators), [](const auto& info) {
  std::string name = info.param.name;
  std::erase(name, ' ');
  return name;
});

// A range read is of more than one object, even if it returned nothing and nothing was there.
TEST(ProvedRanges, AreOfMoreThanOneObject) {
  const History plain = history_of("s1: w(1,1)@0-1 ; r(1,1)@2-3");
  check::Options options;
  options.asked = {levels::Level::kLinearizable};
  options.evidence = true;
  const auto json = report::certificate(plain, check::check(plain, options), 0).json;
  BothVerifiers both;
  EXPECT_EQ(both.compare(plain, json, 0), "");
  EXPECT_EQ(both.seen().at("accepted by both"), 1U);
  for (const char* with :
       {"s1: w(1,1)@0-1 ; r(1,1)@2-3 ; range(5,6,[])@4-5", "s1: w(1,1)@0-1 ; range(1,1,[1=1])@2-3",
        "s1: w(1,1)@0-1 ; r(1,1)@2-3 | s2: ? range(5,6,[])@4-5"}) {
    const History h = history_of(with);
    Json moved = Json::parse(json);
    moved["history"] = empty_certificate(h)["history"];
    ProvedProgram program;
    EXPECT_EQ(both.compare(h, moved.dump(), 0), "") << with;
    EXPECT_EQ(program.run(h, certify::proof_text(h, moved.dump(), 0).text, 0),
              ProvedProgram::Said::kNotProved)
        << with;
  }
}

}  // namespace
}  // namespace cupel::test
