// What must not change the engine's answer does not: names of keys, values and
// sessions, the order of sessions, the order of independent lines of a file, the
// number of threads. What can only add
// constraints never helps: one more transaction that nobody reads.
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <functional>
#include <span>
#include <vector>

#include "base/random.hpp"
#include "data/formats/formats.hpp"
#include "engine/check/check.hpp"
#include "property/random_history.hpp"
#include "support/rounds.hpp"
#include "support/scratch_folder.hpp"

namespace cupel::test {
namespace {

using check::Verdict;
using history::OpKind;

const std::uint64_t kSeeds = test::rounds(660u);

check::CheckResult check_all(const Sketch& sketch, unsigned threads = 1) {
  check::Options options;
  options.asked.assign(levels::all_levels().begin(), levels::all_levels().end());
  options.threads = threads;
  return check::check(build(sketch), options);
}

std::vector<Verdict> verdicts(const Sketch& sketch) {
  std::vector<Verdict> out;
  for (const auto& r : check_all(sketch).levels) out.push_back(r.verdict);
  return out;
}

void for_each_seed(const std::function<void(const Sketch&, base::Random&)>& body) {
  for (std::uint64_t seed = 500000; seed < 500000 + kSeeds; ++seed) {
    const Sketch sketch = random_sketch(kind_of_seed(seed), seed);
    base::Random random(seed);
    SCOPED_TRACE(testing::Message() << "seed " << seed << ": " << to_text(sketch));
    body(sketch, random);
    if (testing::Test::HasFailure()) return;
  }
}

void for_each_op(Sketch& sketch, const std::function<void(SketchOp&)>& body) {
  for (auto& session : sketch.sessions) {
    for (auto& txn : session.txns) {
      for (auto& op : txn.ops) body(op);
    }
  }
}

TEST(Metamorphic, NamesOfKeysDoNotMatter) {
  const auto rename = [](Atom& key) {
    if (!key.text.empty()) key.text = "key_" + key.text;  // keeps the order, which ranges use
  };
  for_each_seed([&](const Sketch& sketch, base::Random&) {
    Sketch renamed = sketch;
    for_each_op(renamed, [&](SketchOp& op) {
      rename(op.key);
      rename(op.low);
      rename(op.high);
      for (auto& entry : op.entries) rename(entry.first);
    });
    EXPECT_EQ(verdicts(sketch), verdicts(renamed)) << to_text(renamed);
  });
}

TEST(Metamorphic, NamesOfValuesDoNotMatter) {
  const auto rename = [](Atom& value) {
    if (value.known && value.kind == history::ScalarKind::kInteger) {
      value = Atom::of("v" + std::to_string(100 - value.integer));
    }
  };
  for_each_seed([&](const Sketch& sketch, base::Random&) {
    Sketch renamed = sketch;
    rename(renamed.initial);
    for_each_op(renamed, [&](SketchOp& op) {
      rename(op.value);
      rename(op.desired);
      for (auto& element : op.list) rename(element);
      for (auto& entry : op.entries) rename(entry.second);
    });
    EXPECT_EQ(verdicts(sketch), verdicts(renamed)) << to_text(renamed);
  });
}

TEST(Metamorphic, NamesAndOrderOfSessionsDoNotMatter) {
  for_each_seed([](const Sketch& sketch, base::Random& random) {
    Sketch permuted = sketch;
    random.shuffle(std::span(permuted.sessions));
    for (auto& session : permuted.sessions) session.name = "client_" + session.name;
    EXPECT_EQ(verdicts(sketch), verdicts(permuted)) << to_text(permuted);
  });
}

// The verdicts of the lines, read as a Jepsen history in JSON lines.
std::vector<Verdict> verdicts_of_lines(const std::vector<std::string>& lines) {
  const test::ScratchFolder folder;
  std::string text;
  for (const auto& line : lines) text += line + '\n';
  const auto history =
      formats::read(folder.file("lines.jsonl", text), {.format = formats::Format::kJepsen});
  EXPECT_TRUE(history.ok()) << (history.ok() ? "" : history.error().to_string());
  std::vector<Verdict> out;
  if (!history.ok()) return out;
  for (const auto& r : check::check(*history, {}).levels) out.push_back(r.verdict);
  return out;
}

std::vector<std::string> json_lines(const history::History& history) {
  const test::ScratchFolder folder;
  const auto path = folder.path("written.jsonl");
  const auto written = formats::write(history, path, {.format = formats::Format::kJepsen});
  EXPECT_TRUE(written.ok()) << (written.ok() ? "" : written.error().to_string());
  std::ifstream in(path, std::ios::binary);
  std::vector<std::string> lines;
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

// The text of a field up to the next one, as the writer spells it.
std::string field(const std::string& line, const std::string& name) {
  const auto begin = line.find("\"" + name + "\":");
  if (begin == std::string::npos) return {};
  const auto end = line.find(",\"", begin);
  return line.substr(begin, end - begin);
}

// Lines of different processes may change places, unless one begins a transaction
// and the other ends one: their order may be a real-time constraint. Lines of the
// nemesis say what the others mean and stay.
bool independent(const std::string& a, const std::string& b) {
  const auto process_a = field(a, "process"), process_b = field(b, "process");
  const bool invokes_a = field(a, "type") == R"("type":"invoke")";
  const bool invokes_b = field(b, "type") == R"("type":"invoke")";
  const auto nemesis = R"("process":"nemesis")";
  return process_a != process_b && invokes_a == invokes_b && process_a != nemesis &&
         process_b != nemesis;
}

TEST(Metamorphic, TheOrderOfIndependentLinesDoesNotMatter) {
  std::size_t exchanged = 0, timed = 0;
  for_each_seed([&](const Sketch& sketch, base::Random& random) {
    auto lines = json_lines(build(sketch));
    if (random.chance(0.5)) {  // then the order of the lines is the only clock
      for (auto& line : lines) {
        const auto time = line.find(",\"time\":");
        if (time != std::string::npos) line.erase(time, line.find('}', time) - time);
      }
    }
    auto permuted = lines;
    for (std::size_t i = 0; lines.size() > 1 && i < 8 * lines.size(); ++i) {
      const auto at = random.below(lines.size() - 1);
      if (!independent(permuted[at], permuted[at + 1])) continue;
      std::swap(permuted[at], permuted[at + 1]);
      ++exchanged;
    }
    for (const auto& line : lines) timed += field(line, "type") == R"("type":"invoke")";
    std::string text;
    for (const auto& line : permuted) text += line + "\n";
    EXPECT_EQ(verdicts_of_lines(lines), verdicts_of_lines(permuted)) << text;
  });
  EXPECT_GT(exchanged, 10 * kSeeds);
  EXPECT_GT(timed, kSeeds / 2);  // some of the histories know real time
}

// A failed compare-and-set may have read from any transaction, so there a new
// one can help; elsewhere nobody can have read a fresh value.
TEST(Metamorphic, AnUnreadTransactionNeverHelps) {
  for_each_seed([](const Sketch& sketch, base::Random& random) {
    Sketch larger = sketch;
    std::vector<const SketchOp*> writes;
    bool timed = false, failed_compare = false;
    for (const auto& session : sketch.sessions) {
      for (const auto& txn : session.txns) {
        timed = timed || txn.invoke != history::kNoTime;
        for (const auto& op : txn.ops) {
          failed_compare = failed_compare || !op.succeeded;
          if (op.kind == OpKind::kWrite || op.kind == OpKind::kAppend) writes.push_back(&op);
        }
      }
    }
    if (failed_compare || writes.empty()) return;
    SketchOp op = *writes[random.below(writes.size())];
    op.value = Atom::of(999);
    SketchTxn txn{.ops = {op}};
    if (timed) {
      txn.invoke = random.between(80, 200);
      txn.complete = txn.invoke + random.between(0, 30);
    }
    auto& txns = larger.sessions[random.below(larger.sessions.size())].txns;
    txns.insert(txns.begin() + static_cast<std::ptrdiff_t>(random.below(txns.size() + 1)), txn);
    const auto before = verdicts(sketch), after = verdicts(larger);
    for (std::size_t i = 0; i < before.size(); ++i) {
      EXPECT_FALSE(before[i] == Verdict::kViolated && after[i] == Verdict::kSatisfied)
          << levels::name(levels::all_levels()[i]) << ": " << to_text(larger);
    }
  });
}

bool same(const levels::Edge& a, const levels::Edge& b) {
  return a.from == b.from && a.to == b.to && a.from_point == b.from_point &&
         a.to_point == b.to_point && a.kind == b.kind && a.reason == b.reason && a.key == b.key &&
         a.because == b.because;
}

void expect_threads_change_nothing(const Sketch& sketch) {
  const auto one = check_all(sketch, 1), four = check_all(sketch, 4);
  ASSERT_EQ(one.levels.size(), four.levels.size());
  EXPECT_EQ(one.strongest_satisfied, four.strongest_satisfied);
  EXPECT_EQ(one.weakest_violated, four.weakest_violated);
  for (std::size_t i = 0; i < one.levels.size(); ++i) {
    const auto &a = one.levels[i], &b = four.levels[i];
    EXPECT_EQ(a.verdict, b.verdict);
    EXPECT_EQ(a.decided_by, b.decided_by);
    EXPECT_EQ(a.detail, b.detail);
    EXPECT_EQ(a.explained_at, b.explained_at);
    ASSERT_EQ(a.violation.has_value(), b.violation.has_value());
    if (!a.violation) continue;
    EXPECT_EQ(a.violation->internal.size(), b.violation->internal.size());
    const auto &da = a.violation->derivation, &db = b.violation->derivation;
    EXPECT_EQ(da.cycle, db.cycle);
    EXPECT_TRUE(
        std::equal(da.edges.begin(), da.edges.end(), db.edges.begin(), db.edges.end(), same));
  }
}

TEST(Metamorphic, ThreadsChangeNothing) {
  for_each_seed([](const Sketch& sketch, base::Random&) { expect_threads_change_nothing(sketch); });
}

// Histories on keys and sessions of their own, side by side in one.
Sketch side_by_side(std::span<const Sketch> sketches) {
  Sketch all{.initial = sketches[0].initial};
  for (std::size_t i = 0; i < sketches.size(); ++i) {
    Sketch one = sketches[i];
    const std::string prefix = "part" + std::to_string(i) + "_";
    const auto rename = [&](Atom& key) {
      if (!key.text.empty()) key.text = prefix + key.text;
    };
    for_each_op(one, [&](SketchOp& op) {
      rename(op.key);
      rename(op.low);
      rename(op.high);
      for (auto& entry : op.entries) rename(entry.first);
    });
    for (auto& session : one.sessions) {
      session.name = prefix + session.name;
      all.sessions.push_back(std::move(session));
    }
  }
  return all;
}

// Parts that are decided apart, of which several are violated: which of them is
// shown must not depend on who was faster.
TEST(Metamorphic, ThreadsChangeNothingInHistoriesOfSeveralParts) {
  int several_violated = 0;
  for (std::uint64_t seed = 500000; seed < 500000 + test::rounds(1000u); ++seed) {
    std::vector<Sketch> sketches;
    int violated = 0;
    for (std::uint64_t other = seed; sketches.size() < 5; other += 1000 * kKindCount) {
      const Sketch sketch = random_sketch(kind_of_seed(seed), other);
      const auto result = check_all(sketch);
      const auto& serializable =
          result.levels[static_cast<std::size_t>(levels::Level::kSerializable)];
      ASSERT_EQ(serializable.level, levels::Level::kSerializable);
      // What is wrong inside one transaction would answer for all parts.
      if (serializable.violation && !serializable.violation->internal.empty()) continue;
      violated += serializable.verdict == Verdict::kViolated;
      sketches.push_back(sketch);
    }
    several_violated += violated > 1;
    const Sketch sketch = side_by_side(sketches);
    SCOPED_TRACE(testing::Message() << "seed " << seed << ": " << to_text(sketch));
    expect_threads_change_nothing(sketch);
    if (testing::Test::HasFailure()) return;
  }
  EXPECT_GT(several_violated, test::rounds(30));
}

// The same where one violated part takes long and the other is done at once.
TEST(Metamorphic, ThreadsChangeNothingWhereOnePartIsSlow) {
  const auto read = [](const char* key, std::int64_t value) {
    return SketchOp{
        .kind = OpKind::kRead, .key = Atom::of(std::string_view(key)), .value = Atom::of(value)};
  };
  const auto write = [](const char* key, std::int64_t value) {
    return SketchOp{
        .kind = OpKind::kWrite, .key = Atom::of(std::string_view(key)), .value = Atom::of(value)};
  };
  // Two sessions take turns to count; the last two both count from the same value.
  Sketch slow{.sessions = {{"a"}, {"b"}}};
  constexpr std::int64_t kCounts = 20'000;
  slow.sessions[0].txns.push_back({.ops = {write("x", 1)}});
  for (std::int64_t i = 1; i < kCounts; ++i) {
    slow.sessions[i % 2].txns.push_back({.ops = {read("x", i), write("x", i + 1)}});
  }
  slow.sessions[0].txns.push_back({.ops = {read("x", kCounts), write("x", kCounts + 1)}});
  slow.sessions[1].txns.push_back({.ops = {read("x", kCounts), write("x", kCounts + 2)}});
  const Sketch quick = parse_sketch("s1: w(x,1) | s2: r(x,1) w(x,2) | s3: r(x,1) w(x,3)");
  const Sketch slow_first[] = {slow, quick}, quick_first[] = {quick, slow};
  expect_threads_change_nothing(side_by_side(slow_first));
  expect_threads_change_nothing(side_by_side(quick_first));
}

}  // namespace
}  // namespace cupel::test
