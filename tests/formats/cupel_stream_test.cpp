// A cupel file read transaction by transaction has what it has as a whole; and what is broken in it
// is an error there too.
#include "data/formats/cupel_stream.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "base/random.hpp"
#include "base/read_file.hpp"
#include "base/temp_dir.hpp"
#include "data/formats/formats.hpp"
#include "data/formats/packed_scalars.hpp"
#include "data/history/builder.hpp"

namespace cupel::formats {
namespace {

using history::ScalarView;

TEST(PackedScalars, HoldWhatWasAdded) {
  base::Random random(7);
  PackedScalars packed;
  std::vector<std::string> texts;
  texts.reserve(100'000);
  std::vector<ScalarView> all;
  const auto add = [&](ScalarView scalar) {
    all.push_back(scalar);
    packed.add(scalar);
  };
  constexpr std::int64_t kLeast = std::numeric_limits<std::int64_t>::min();
  constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
  for (int group = 0; group < 400; ++group) {
    const auto kind = random.below(7);
    const auto start = random.between(kLeast / 2, kMost / 2);
    for (int i = 0; i < 128; ++i) {
      if (kind == 0) add(ScalarView::of(start + 3 * i));
      if (kind == 1) add(ScalarView::of(start + random.between(0, 255)));
      if (kind == 2) add(ScalarView::of(start + random.between(0, 65'535)));
      if (kind == 3) add(ScalarView::of(start + random.between(0, 0xffffffff)));
      if (kind == 4) add(ScalarView::of(i % 2 == 0 ? kLeast + i : kMost - i));
      if (kind == 5 && i % 40 != 7) add(ScalarView::of(start));
      if (kind == 5 && i % 40 == 7) add(ScalarView::of(texts.emplace_back(std::to_string(start))));
      if (kind == 6) add(i % 3 == 0 ? ScalarView::null() : ScalarView::of(-i));
    }
    for (auto some = random.below(3); some > 0; --some) add(ScalarView::of(start));
  }
  ASSERT_EQ(packed.size(), all.size());
  for (std::size_t i = 0; i < all.size(); ++i) ASSERT_EQ(packed.at(i), all[i]) << i;
}

class CupelStream : public testing::Test {
 protected:
  void SetUp() override {
    history::HistoryBuilder b;
    const auto a = b.session("a"), c = b.session("c");
    const auto x = b.key(ScalarView::of(1)), list = b.key(ScalarView::of(std::string_view("l")));
    for (std::int64_t i = 0; i < 300; ++i) {
      b.begin(i % 3 == 0 ? a : c,
              i % 7 == 0 ? history::TxnStatus::kAborted : history::TxnStatus::kCommitted,
              {.invoke = 10 * i, .complete = 10 * i + 5, .label = static_cast<std::uint32_t>(i)});
      b.write(x, b.value(ScalarView::of(i * i)));
      b.append(list, b.value(ScalarView::of(i)));
      b.end();
    }
    const auto h = std::move(b).finish();
    ASSERT_TRUE(h.ok());
    ASSERT_TRUE(write(*h, file_, {.format = Format::kCupel}).ok());
  }

  // How many transactions there are, or the error.
  static base::Result<std::size_t> count(const std::string& file) {
    auto source = stream_cupel_file(file);
    if (!source.ok()) return std::move(source).error();
    history::StreamedTransaction txn;
    for (std::size_t n = 0;; ++n) {
      const auto more = (*source)->next(txn);
      if (!more.ok()) return more.error();
      if (!*more) return n;
    }
  }

  base::TempDir folder_ = *base::TempDir::make("cupel-test-");
  const std::string file_ = folder_.file("h.cupel");
};

TEST_F(CupelStream, HasTheTransactionsInTheirOrder) {
  auto source = stream_cupel_file(file_);
  ASSERT_TRUE(source.ok());
  history::StreamedTransaction txn;
  for (std::int64_t i = 0; i < 300; ++i) {
    ASSERT_TRUE(*(*source)->next(txn));
    EXPECT_EQ((*source)->session_name(txn.session), i % 3 == 0 ? "a" : "c");
    EXPECT_EQ(txn.invoke, 10 * i);
    EXPECT_EQ(txn.label, i);
    ASSERT_EQ(txn.operations.size(), 2u);
    const auto& op = txn.operations.all()[0];
    EXPECT_EQ(op.kind, history::OpKind::kWrite);
    EXPECT_EQ((*source)->key(op.key), ScalarView::of(1));
    EXPECT_EQ(txn.operations.view(op.value), ScalarView::of(i * i));
    EXPECT_TRUE((*source)->is_list(txn.operations.all()[1].key));
  }
  EXPECT_FALSE(*(*source)->next(txn));
}

TEST_F(CupelStream, ACutOrChangedFileIsAnError) {
  const auto bytes = *base::read_file(file_);
  ASSERT_EQ(*count(file_), 300u);
  const auto other = folder_.file("other.cupel");
  for (std::size_t at = 0; at < bytes.size(); at += 11) {
    auto changed = bytes;
    changed[at] = static_cast<char>(changed[at] ^ 0x10);
    std::ofstream(other, std::ios::binary) << changed;
    const auto found = count(other);
    ASSERT_FALSE(found.ok()) << at;
    EXPECT_TRUE(found.error().byte) << at;
    std::ofstream(other, std::ios::binary) << bytes.substr(0, at);
    EXPECT_FALSE(count(other).ok()) << at;
  }
}

TEST_F(CupelStream, LeastBytesAreFewerThanAHistoryTakes) {
  const auto history = read(file_);
  ASSERT_TRUE(history.ok());
  const auto least = least_bytes_of_history(file_);
  EXPECT_GE(least, history->op_count() * 9);
  EXPECT_LE(least, history->resident_bytes());
  EXPECT_EQ(least_bytes_of_history(folder_.file("none")), 0u);
}

}  // namespace
}  // namespace cupel::formats
