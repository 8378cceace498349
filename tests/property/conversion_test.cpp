// Converting a history to another format, and reading it back, changes no
// verdict: for every format that can be written and that accepts the history. What
// a format has no place for is said, neither more nor less.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "data/formats/formats.hpp"
#include "engine/check/check.hpp"
#include "property/random_history.hpp"
#include "support/scratch_folder.hpp"

namespace cupel::test {
namespace {

using formats::Format;

std::vector<check::Verdict> verdicts(const history::History& h) {
  std::vector<check::Verdict> out;
  for (const auto& r : check::check(h, {}).levels) out.push_back(r.verdict);
  return out;
}

// What the history read back does not say any more. Jepsen lines are numbered as
// they are written, which is not counted.
std::set<std::string> differences(const history::History& before, const history::History& after,
                                  Format format) {
  std::set<std::string> lost;
  const auto names = [](const history::History& h) {
    std::vector<std::string> all;
    for (std::size_t s = 0; s < h.session_count(); ++s) {
      const history::SessionId id(s);
      if (h.session_begin(id) != h.session_end(id)) all.push_back(h.session_name(id));
    }
    return all;
  };
  if (before.session_count() != after.session_count()) lost.insert("sessions without transactions");
  if (names(before) != names(after)) lost.insert("session names");
  EXPECT_EQ(before.txn_count(), after.txn_count());
  for (std::size_t i = 0; i < std::min(before.txn_count(), after.txn_count()); ++i) {
    const history::TxnId t(i);
    if (before.invoke(t) != after.invoke(t) || before.complete(t) != after.complete(t))
      lost.insert("times");
    if (before.label(t) != after.label(t) && format != Format::kJepsen)
      lost.insert("transaction numbers");
  }
  return lost;
}

// A number for each name, in the order of the names, which ranges use.
void number_keys(Sketch& sketch) {
  const auto number = [](Atom& key) {
    if (key.text.empty()) return;
    const char second = key.text.size() > 1 ? key.text[1] : '\0';
    key = Atom::of(std::int64_t{key.text.front()} * 256 + second);
  };
  for (auto& session : sketch.sessions) {
    for (auto& txn : session.txns) {
      for (auto& op : txn.ops) {
        number(op.key);
        number(op.low);
        number(op.high);
        for (auto& entry : op.entries) number(entry.first);
      }
    }
  }
}

// Values and initial values that a format of integers holds, or takes for another.
void use_zero(Sketch& sketch) {
  for (auto& session : sketch.sessions) {
    for (auto& txn : session.txns) {
      for (auto& op : txn.ops) {
        if (op.value == Atom::of(1)) op.value = Atom::of(0);
        if (op.value == Atom::of(2)) op.value = Atom::null();
      }
    }
  }
}

bool only_registers(const Sketch& sketch) {
  for (const auto& session : sketch.sessions) {
    for (const auto& txn : session.txns) {
      for (const auto& op : txn.ops) {
        if (op.kind != history::OpKind::kRead && op.kind != history::OpKind::kWrite) return false;
      }
    }
  }
  return true;
}

class Conversion : public testing::Test {
 protected:
  // Seeds that the format took. Some formats have integers for keys.
  int run(Format format, bool edn, bool loses_times, bool integer_keys = false) {
    int converted = 0;
    const std::string path =
        folder_.path("history-" + std::string(formats::name(format)) + (edn ? "-edn" : ""));
    for (std::uint64_t seed = 700000; seed < 700330; ++seed) {
      Sketch sketch = random_sketch(kind_of_seed(seed), seed);
      if (integer_keys) number_keys(sketch);
      if (seed % 2 == 1 && only_registers(sketch)) use_zero(sketch);
      const auto before = build(sketch);
      if (!formats::write(before, path, {.format = format, .edn = edn}))
        continue;  // says why; tested elsewhere
      const auto after = formats::read(path, {.format = format});
      EXPECT_TRUE(after.ok()) << seed << ": " << (after.ok() ? "" : after.error().to_string());
      if (!after) return converted;
      ++converted;
      const auto said = formats::lost_facts(before, format);
      EXPECT_EQ(std::set<std::string>(said.begin(), said.end()),
                differences(before, *after, format))
          << formats::name(format) << ", seed " << seed << ": " << to_text(sketch);
      auto mine = verdicts(before), theirs = verdicts(*after);
      for (std::size_t i = 0; i < mine.size(); ++i) {
        // A format without times refuses what it cannot ask; and then nothing
        // follows from it either.
        if (loses_times && levels::needs_real_time(levels::all_levels()[i])) continue;
        EXPECT_EQ(mine[i], theirs[i])
            << formats::name(format) << " at " << levels::name(levels::all_levels()[i]) << ", seed "
            << seed << ": " << to_text(sketch);
      }
    }
    return converted;
  }

  const test::ScratchFolder folder_;
};

TEST_F(Conversion, JepsenJson) {
  EXPECT_GT(run(Format::kJepsen, false, true), 200);
}
TEST_F(Conversion, JepsenEdn) {
  EXPECT_GT(run(Format::kJepsen, true, true), 200);
}
TEST_F(Conversion, Cupel) {
  EXPECT_EQ(run(Format::kCupel, false, false), 330);
}
TEST_F(Conversion, Dbcop) {
  EXPECT_GT(run(Format::kDbcop, false, true, true), 20);
}
TEST_F(Conversion, Plume) {
  EXPECT_GT(run(Format::kPlume, false, true, true), 20);
}

}  // namespace
}  // namespace cupel::test
