// Certificates by windows: those of random histories of every kind hold; what was changed, in the
// certificate or in the history, does not; and what is accepted is satisfied.
#include "engine/certify/windows.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <fstream>
#include <iterator>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/budget.hpp"
#include "base/random.hpp"
#include "base/read_file.hpp"
#include "base/temp_dir.hpp"
#include "base/verdict.hpp"
#include "data/formats/formats.hpp"
#include "data/formats/transaction_stream.hpp"
#include "data/history/builder.hpp"
#include "engine/levels/decide.hpp"
#include "engine/online/chain.hpp"
#include "engine/online/checker.hpp"
#include "online/compare_all.hpp"
#include "online/compare_files.hpp"
#include "support/rounds.hpp"

namespace cupel::test {
namespace {

using base::Random;
using history::kNoTime;
using history::Operations;
using history::OpKind;
using history::ScalarView;
using history::StreamedTransaction;
using history::TxnStatus;
using history::ValueId;

class Source final : public history::TransactionSource {
 public:
  explicit Source(const CertifiedRun& run) : run_(run) {}
  base::Result<bool> next(StreamedTransaction& out) override {
    if (next_ == run_.transactions.size()) return false;
    out = run_.transactions[next_++];
    return true;
  }
  [[nodiscard]] const std::vector<Initial>& initial() const override { return run_.initial; }
  [[nodiscard]] std::size_t key_count() const override { return run_.keys.size(); }
  [[nodiscard]] ScalarView key(history::Key key) const override { return run_.keys.at(key); }
  [[nodiscard]] bool is_list(history::Key key) const override { return run_.lists[key] != 0; }
  [[nodiscard]] const std::string& session_name(std::uint32_t session) const override {
    name_ = std::to_string(session);
    return name_;
  }

 private:
  const CertifiedRun& run_;
  std::size_t next_ = 0;
  mutable std::string name_;
};

std::vector<std::string> lines_of(const std::string& chain) {
  std::vector<std::string> lines;
  for (std::size_t at = 0; at < chain.size();) {
    const auto end = chain.find('\n', at);
    lines.push_back(chain.substr(at, end - at));
    at = end + 1;
  }
  return lines;
}

certify::ChainReport verify(const CertifiedRun& run, const std::vector<std::string>& lines,
                            history::Time drift) {
  Source source(run);
  std::size_t next = 0;
  const certify::NextLine line = [&]() -> base::Result<std::optional<std::string_view>> {
    if (next == lines.size()) return std::optional<std::string_view>();
    return std::optional<std::string_view>(lines[next++]);
  };
  auto report = certify::verify_windows(source, line, drift);
  EXPECT_TRUE(report.ok());
  return *report;
}
bool valid(const CertifiedRun& run, const std::vector<std::string>& lines, history::Time drift) {
  return verify(run, lines, drift).report.validity == certify::Validity::kValid;
}

// The whole, for the engine.
history::History whole(const CertifiedRun& run) {
  history::HistoryBuilder b;
  for (const auto& initial : run.initial) b.set_default_initial(b.value(initial.value()));
  std::vector<const StreamedTransaction*> all;
  for (const auto& txn : run.transactions) all.push_back(&txn);
  const auto id = [&](history::Key key) { return b.key(run.keys.at(key)); };
  for (const auto* txn : all) {
    b.begin(b.session(std::to_string(txn->session)), txn->status,
            {.invoke = txn->invoke, .complete = txn->complete});
    const auto& from = txn->operations;
    for (const auto& op : from.all()) {
      const auto value = [&](const history::Value& v) { return b.value(from.view(v)); };
      std::vector<ValueId> elements;
      std::vector<history::RangeEntry> entries;
      switch (op.kind) {
        case OpKind::kRead:
          b.read(id(op.key), op.known ? value(op.value) : ValueId::none());
          break;
        case OpKind::kListRead:
          for (const auto& element : from.elements(op)) elements.push_back(value(element));
          if (op.known) {
            b.list_read(id(op.key), elements);
          } else {
            b.list_read_unknown(id(op.key));
          }
          break;
        case OpKind::kRangeRead:
          for (const auto& e : from.entries(op)) entries.push_back({id(e.key), value(e.value)});
          b.range_read(value(op.value), value(op.other), entries);
          break;
        case OpKind::kCompareAndSet:
          b.compare_and_set(id(op.key), value(op.value), value(op.other), op.succeeded);
          break;
        case OpKind::kAppend:
          b.append(id(op.key), value(op.value));
          break;
        case OpKind::kInsert:
          b.insert(id(op.key), value(op.value));
          break;
        case OpKind::kDelete:
          b.erase(id(op.key), value(op.value));
          break;
        case OpKind::kWrite:
          b.write(id(op.key), value(op.value));
          break;
      }
    }
    b.end();
  }
  auto built = std::move(b).finish();
  EXPECT_TRUE(built.ok());
  return *std::move(built);
}

base::Verdict verdict(const CertifiedRun& run, Level level, history::Time drift) {
  const auto h = whole(run);
  base::Budget budget;
  return levels::Decider(h, drift, 1, false).decide(level, budget).status;
}

// The digests of the windows as this history has them, so that nothing but the orders is left to
// refuse it.
std::vector<std::string> with_digests_of(const CertifiedRun& run, std::vector<std::string> lines) {
  for (auto& line : lines) {
    constexpr std::string_view kCount = "\"transactions\":", kDigest = "\"history\":\"";
    const auto at = line.find(kCount), digest = line.find(kDigest);
    if (at == std::string::npos || digest == std::string::npos) continue;
    const auto count = std::stoull(line.substr(at + kCount.size()));
    const bool end = line.starts_with(R"({"end")");
    history::Fold fold;
    for (const auto& initial : run.initial) fold.add(initial.value());
    std::size_t counted = 0;
    for (const auto& txn : run.transactions) {
      if (!end && counted == count) break;
      history::add_transaction(fold, txn, txn.operations,
                               [&](history::Key key) { return run.keys.at(key); });
      counted += txn.status != TxnStatus::kAborted;
    }
    line.replace(digest + kDigest.size(), 16, fmt::format("{:016x}", fold.value()));
    const auto frontier = line.find(",\"frontier\"");
    if (frontier != std::string::npos) line = line.substr(0, frontier) + "}";
  }
  return lines;
}

// One thing in the history changed: a value, the order of a session, a time. False: nothing was.
bool change(CertifiedRun& run, Random& random) {
  if (run.transactions.empty()) return false;
  auto& txn = run.transactions[random.below(run.transactions.size())];
  if (txn.status != TxnStatus::kCommitted) return false;
  const auto what = random.below(4);
  if (what == 0) {
    // With the next of its session: its place in the session, and its times.
    for (auto* next = &txn + 1; next != run.transactions.data() + run.transactions.size(); ++next) {
      if (next->session != txn.session || next->status != TxnStatus::kCommitted) continue;
      std::swap(txn.operations, next->operations);
      return true;
    }
    return false;
  }
  if (what == 1) {
    if (txn.complete == kNoTime || txn.invoke == kNoTime) return false;
    txn.invoke = std::max<history::Time>(txn.invoke - random.between(0, 40), 0);
    txn.complete = std::max(txn.invoke + 1, txn.complete - random.between(0, 80));
    return true;
  }
  if (txn.operations.empty()) return false;
  const auto place = random.below(txn.operations.size());
  const auto other = ScalarView::of(random.between(0, 12));
  Operations changed;
  const auto& from = txn.operations;
  bool done = false;
  for (std::size_t i = 0; i < from.size(); ++i) {
    const auto& op = from.all()[i];
    const bool here = i == place;
    const auto keep = [&](const history::Value& v) { return changed.keep(from.view(v)); };
    switch (op.kind) {
      case OpKind::kRead:
        done = done || (here && op.known && run.lists[op.key] == 0);
        changed.read(op.key, here && run.lists[op.key] == 0 ? changed.keep(other) : keep(op.value),
                     op.known);
        break;
      case OpKind::kListRead: {
        changed.list_read(op.key, op.known);
        auto elements = from.elements(op);
        if (here && !elements.empty()) {
          elements = elements.first(elements.size() - 1);
          done = true;
        }
        for (const auto& element : elements) changed.element(keep(element));
        break;
      }
      case OpKind::kRangeRead:
        if (here && from.entries(op).empty()) {  // it saw nothing of more keys, or of fewer
          changed.range_read(changed.keep(ScalarView::of(0)), changed.keep(other));
          done = true;
        } else {
          changed.range_read(keep(op.value), keep(op.other));
        }
        for (const auto& entry : from.entries(op)) {
          changed.entry(entry.key, here ? changed.keep(other) : keep(entry.value));
          done = done || here;
        }
        break;
      case OpKind::kCompareAndSet:
        changed.compare_and_set(op.key, here ? changed.keep(other) : keep(op.value), keep(op.other),
                                op.succeeded);
        done = done || here;
        break;
      default:
        changed.write(op.kind, op.key, here ? changed.keep(other) : keep(op.value));
        done = done || here;
    }
  }
  txn.operations = std::move(changed);
  return done;
}

struct Counts {
  std::size_t certified = 0, windows = 0, left_out = 0, reordered = 0, reorders = 0, changed = 0,
              refused = 0;
};

void check_one(const Sketch& sketch, Level level, std::uint64_t seed, Counts& counts) {
  const history::Time drift = seed % 4 == 3 ? 4 : 0;
  const auto run = certify_run(sketch, level, drift, seed, seed % 5 == 0 ? 4 : 1);
  if (!run.satisfied) return;
  const auto lines = lines_of(run.chain);
  const auto report = verify(run, lines, drift);
  ASSERT_EQ(report.report.validity, certify::Validity::kValid)
      << levels::name(level) << ", seed " << seed << ": " << report.report.reason << "\n"
      << run.chain << to_text(sketch);
  ++counts.certified;
  counts.windows += report.windows;
  Random random(seed + 1);
  const auto digest = lines.back().find("\"history\":\"");
  auto other = lines;
  other.back()[digest + 11] = other.back()[digest + 11] == '0' ? '1' : '0';
  EXPECT_FALSE(valid(run, other, drift)) << "a changed digest, seed " << seed;
  other = lines;
  other.pop_back();
  EXPECT_FALSE(valid(run, other, drift)) << "no end, seed " << seed;
  if (report.windows > 0) {
    other = lines;
    other.erase(other.begin() + 1 + static_cast<std::ptrdiff_t>(random.below(report.windows)));
    EXPECT_FALSE(valid(run, other, drift)) << "a window left out, seed " << seed;
    ++counts.left_out;
    // Another order may be right as well.
    other = lines;
    auto& line = other[1 + random.below(report.windows)];
    const auto from = line.find("\"order\":[") + 9, to = line.find(']', from);
    const auto comma = line.find(',', from);
    if (comma < to) {
      line = line.substr(0, from) + line.substr(comma + 1, to - comma - 1) + "," +
             line.substr(from, comma - from) + line.substr(to);
      ++counts.reorders;
      counts.reordered += !valid(run, other, drift);
    }
  }
  for (int i = 0; i < 3; ++i) {
    auto altered = run;
    if (!change(altered, random)) continue;
    ++counts.changed;
    const bool accepted = valid(altered, with_digests_of(altered, lines), drift);
    counts.refused += !accepted;
    if (!accepted) continue;
    ASSERT_EQ(verdict(altered, level, drift), base::Verdict::kSatisfied)
        << levels::name(level) << ", seed " << seed << "\n"
        << run.chain << to_text(sketch);
  }
}

template <typename Make>
void check_all(std::uint64_t first, std::uint64_t count, Make make,
               std::span<const Level> levels = kExact) {
  for (const Level level : levels) {
    Counts counts;
    for (auto seed = first; seed < first + count; ++seed) {
      ASSERT_NO_FATAL_FAILURE(check_one(make(seed), level, seed, counts));
    }
    fmt::print(
        "{:34} {} certificates of {} windows; {} with one left out, {} of {} other orders and {} "
        "of {} other histories refused\n",
        levels::name(level), counts.certified, counts.windows, counts.left_out, counts.reordered,
        counts.reorders, counts.refused, counts.changed);
    EXPECT_GT(counts.certified, count / 20) << levels::name(level);
    EXPECT_GT(counts.windows, counts.certified) << levels::name(level);
    EXPECT_GT(counts.reordered, 0u) << levels::name(level);
    EXPECT_GT(counts.refused, counts.changed / 5) << levels::name(level);
    EXPECT_LT(counts.refused, counts.changed) << levels::name(level);
  }
}

TEST(OnlineWindows, SmallHistoriesOfEveryKind) {
  check_all(0, rounds(300),
            [](std::uint64_t seed) { return random_sketch(kind_of_seed(seed), seed); });
}

TEST(OnlineWindows, LongerHistories) {
  check_all(2'000'000, rounds(100), long_sketch);
}

TEST(OnlineWindows, RangesOfListsAndOfKeysThatStartWithAValue) {
  // Linearizability is refused.
  check_all(6'000'000, rounds(200), range_sketch, std::span(kExact).first(std::size(kExact) - 1));
}

TEST(OnlineWindows, CompareAndSets) {
  check_all(4'000'000, rounds(100), compare_sketch);
}

// Seeds that a window was once cut wrongly for.
TEST(OnlineWindows, SeedsThatFailedOnce) {
  Counts counts;
  for (const std::uint64_t seed : {11528}) {
    for (const Level level : kExact) {
      ASSERT_NO_FATAL_FAILURE(
          check_one(random_sketch(kind_of_seed(seed), seed), level, seed, counts));
    }
  }
  EXPECT_GT(counts.certified, 0u);
}

base::Result<certify::ChainReport> verify_file(const std::string& file,
                                               const std::string& certificate,
                                               history::Time drift = 0) {
  auto source = formats::holds_cupel(file) ? formats::stream_history(file)
                                           : formats::stream_transactions(file);
  if (!source.ok()) return std::move(source).error();
  const auto lines = lines_of(*base::read_file(certificate));
  std::size_t next = 0;
  return certify::verify_windows(
      **source,
      [&]() -> base::Result<std::optional<std::string_view>> {
        if (next == lines.size()) return std::optional<std::string_view>();
        return std::optional<std::string_view>(lines[next++]);
      },
      drift);
}

// Names of keys and texts of values that are long and full of what has to be escaped, and numbers
// of transactions that 32 bits do not hold, as after days.
TEST(OnlineWindows, LongLabels) {
  const auto folder = base::TempDir::make("cupel-test-");
  ASSERT_TRUE(folder.ok());
  const auto file = folder->file("history.jsonl"), certificate = folder->file("certificate");
  std::string part;
  for (int i = 0; i < 700; ++i) part += R"(\"\\/\n\u0001é𝄞 )";
  const auto name = [&](int i) { return fmt::format(R"("{}{}")", part, i); };
  const auto label = [](int line) { return 5'000'000'000 + line; };
  std::string text;
  for (int i = 0; i < 60; ++i) {
    const auto ops = [&](bool seen) {
      const auto key = name(i % 2);
      return fmt::format(R"([["r",{0},{1}],["w",{0},{2}]])", key,
                         !seen || i < 2 ? "null" : name(100 + i - 2), name(100 + i));
    };
    for (const bool seen : {false, true}) {
      text += fmt::format(
          R"({{"index":{},"type":"{}","process":{},"f":"txn","value":{},"time":{}}})"
          "\n",
          label(2 * i + seen), seen ? "ok" : "invoke", i % 3, ops(seen), 10 * i + 5 * seen);
    }
  }
  const auto add_read = [&](const std::string& value) {
    return fmt::format(
        R"({{"index":{},"type":"invoke","process":1,"f":"txn","value":[["r",{},null]],"time":1000}})"
        "\n"
        R"({{"index":{},"type":"ok","process":1,"f":"txn","value":[["r",{},{}]],"time":1005}})"
        "\n",
        label(1000), name(0), label(1001), name(0), value);
  };
  for (const Level level : {Level::kStrictSerializable, Level::kStrongSessionSnapshotIsolation}) {
    // The last value, or one that was forgotten long ago and begins as the last one does.
    for (const bool stale : {false, true}) {
      const auto all = text + add_read(name(stale ? 110 : 158));
      std::ofstream(file, std::ios::binary) << all;
      online::Checker checker(
          {.level = level, .least_batch = 10, .evidence = true}, file, file,
          [](online::Checker::Question) { return online::Checker::State::kViolated; });
      auto chain = online::Chain::begin(certificate, level, level, 0);
      ASSERT_TRUE(chain.ok());
      checker.leave(*chain);
      for (const auto& line : lines_of(all)) {
        ASSERT_TRUE(checker.take(line + "\n").ok());
        ASSERT_EQ(*checker.look_if_due(false), online::Checker::State::kSatisfied);
      }
      ASSERT_EQ(*checker.finish(),
                stale ? online::Checker::State::kViolated : online::Checker::State::kSatisfied);
      EXPECT_GT(checker.watch().window().held().forgotten, 40u);
      if (!stale) {
        const auto report = verify_file(file, certificate);
        ASSERT_TRUE(report.ok()) << report.error().to_string();
        EXPECT_EQ(report->report.validity, certify::Validity::kValid) << report->report.reason;
        EXPECT_GT(report->windows, 1u);
      }
      const auto history = formats::read(file);
      ASSERT_TRUE(history.ok());
      base::Budget budget;
      EXPECT_EQ(levels::Decider(*history, 0, 1, false).decide(level, budget).status,
                stale ? base::Verdict::kViolated : base::Verdict::kSatisfied);
    }
  }
}

// Decided in the windows of a watch, as what does not fit into memory, and verified from the file
// in its own order.
TEST(OnlineWindows, OfFilesInWindows) {
  const auto folder = base::TempDir::make("cupel-test-");
  ASSERT_TRUE(folder.ok());
  const auto lines = folder->file("history.jsonl"), columns = folder->file("history.cupel");
  const auto certificate = folder->file("certificate");
  std::map<Level, std::size_t> certified;
  std::uint64_t windows = 0;
  for (std::uint64_t seed = 0; seed < rounds(300u); ++seed) {
    base::Random random(seed);
    Sketch sketch = seed % 3 == 0   ? long_sketch(seed)
                    : seed % 3 == 1 ? compare_sketch(seed)
                                    : random_sketch(kind_of_seed(seed / 3), seed);
    add_times(sketch, random, /*by_nobody=*/false);
    const auto built = build(sketch);
    if (built.txn_count() == 0) continue;
    ASSERT_TRUE(formats::write(built, lines, {.format = formats::Format::kJepsen}).ok());
    const auto h = *formats::read(lines, {});
    // In the order of the completions, or session by session.
    ASSERT_TRUE(
        formats::write(seed % 4 == 0 ? built : h, columns, {.format = formats::Format::kCupel})
            .ok());
    const bool of_columns = seed % 2 == 0;
    const auto& file = of_columns ? columns : lines;
    const history::Time drift = seed % 4 == 3 ? 4 : 0;
    for (const Level level : kExact) {
      auto chain = online::Chain::begin(certificate, level, level, drift);
      ASSERT_TRUE(chain.ok());
      const auto answer = in_windows(file, level, drift, seed, 0, &*chain);
      ASSERT_TRUE(answer.ok()) << answer.error().to_string();
      ASSERT_EQ(chain->ended(), answer->finding == online::Finding::kSatisfied);
      if (!chain->ended()) continue;
      const auto report = verify_file(file, certificate, drift);
      ASSERT_TRUE(report.ok()) << report.error().to_string();
      ASSERT_EQ(report->report.validity, certify::Validity::kValid)
          << levels::name(level) << ", seed " << seed << ": " << report->report.reason << "\n"
          << to_text(h) << "\n"
          << *base::read_file(certificate);
      ++certified[level];
      windows += report->windows;
    }
  }
  for (const Level level : kExact) EXPECT_GT(certified[level], rounds(10u)) << levels::name(level);
  EXPECT_GT(windows, rounds(500u));
}

// As a watch reads a file and a verifier reads it again.
TEST(OnlineWindows, OfFiles) {
  const auto folder = base::TempDir::make("cupel-test-");
  ASSERT_TRUE(folder.ok());
  const auto file = folder->file("history.jsonl"), certificate = folder->file("certificate");
  std::size_t certified = 0, windows = 0;
  for (std::uint64_t seed = 0; seed < rounds(400u); ++seed) {
    const auto sketch = seed % 4 == 0   ? long_sketch(seed)
                        : seed % 4 == 2 ? compare_sketch(seed)
                                        : random_sketch(kind_of_seed(seed), seed);
    const auto h = build(sketch);
    if (!h.has_all_times() || h.txn_count() == 0) continue;
    ASSERT_TRUE(formats::write(h, file, {.format = formats::Format::kJepsen}).ok());
    const auto level = kExact[seed % std::size(kExact)];
    online::WatchOptions options{.level = level, .evidence = true};
    online::Checker checker(options, file, file, [](online::Checker::Question) {
      return online::Checker::State::kViolated;
    });
    auto chain = online::Chain::begin(certificate, level, level, 0);
    ASSERT_TRUE(chain.ok());
    checker.leave(*chain);
    const auto text = *base::read_file(file);
    auto state = online::Checker::State::kSatisfied;
    std::size_t at = 0;
    while (at < text.size() && state == online::Checker::State::kSatisfied) {
      auto end = text.find('\n', at) + 1;
      for (int i = 0; i < 5 && end < text.size(); ++i) end = text.find('\n', end) + 1;
      if (!checker.take(std::string_view(text).substr(at, end - at)).ok()) break;
      at = end;
      const auto looked = at == text.size() ? checker.finish() : checker.look_if_due(true);
      if (!looked.ok()) break;
      state = *looked;
    }
    if (!chain->ended()) continue;
    ++certified;
    const auto report = verify_file(file, certificate);
    ASSERT_TRUE(report.ok()) << report.error().to_string() << "\n" << text;
    ASSERT_EQ(report->report.validity, certify::Validity::kValid)
        << "seed " << seed << ": " << report->report.reason << "\n"
        << text;
    windows += report->windows;
  }
  EXPECT_GT(certified, rounds(20u));
  EXPECT_GE(windows, certified);
}

}  // namespace
}  // namespace cupel::test
