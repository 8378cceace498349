// cupel files: they hold everything, they are small, and every broken one is seen.
#include "data/formats/cupel_binary.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <sstream>
#include <vector>

#include "data/formats/formats.hpp"
#include "data/history/builder.hpp"
#include "formats/files.hpp"
#include "formats/history_text.hpp"
#include "support/scratch_folder.hpp"

namespace cupel::formats {
namespace {

using namespace history;

std::string written(const History& h) {
  std::ostringstream out;
  EXPECT_TRUE(write_cupel(h, out).ok());
  return std::move(out).str();
}

// One of everything.
History everything() {
  HistoryBuilder b;
  const auto a = b.session("a"), other = b.session("clients/2");
  b.session("idle");
  const auto x = b.key(1), y = b.key(ScalarView::of("y")), l = b.key(ScalarView::keyword("l"));
  const auto big = b.value(INT64_MIN), small = b.value(5), text = b.value(ScalarView::of("five"));
  b.begin(other, TxnStatus::kCommitted, {.invoke = -100, .complete = 250, .label = 4294967295});
  b.write(x, big);
  b.read(y, b.null_value());
  b.append(l, small);
  b.end();
  b.begin(a, TxnStatus::kIndeterminate, {.invoke = 120, .label = 4});
  b.read(x, ValueId::none());
  b.list_read(l, std::vector{small, text});
  b.list_read(l, {});
  b.list_read_unknown(l);
  b.end();
  b.begin(other, TxnStatus::kAborted, {.label = 5});
  b.insert(x, text);
  b.erase(y, ValueId::none());
  b.erase(y, b.value(77));
  b.compare_and_set(x, big, text, true);
  b.compare_and_set(x, text, big, false);
  b.end();
  b.begin(a, TxnStatus::kCommitted, {.invoke = INT64_MAX - 1, .complete = INT64_MAX, .label = 0});
  b.range_read(b.value(0), b.value(9),
               std::vector<RangeEntry>{{x, small}, {y, text}, {x, text}, {x, small}});
  b.range_read(b.null_value(), b.null_value(), {});
  b.end();
  b.begin(a, TxnStatus::kCommitted, {});
  b.end();
  b.set_default_initial(b.value(ScalarView::literal("1.5")));
  b.set_initial(y, text);
  b.set_metadata("format", "cupel");
  b.set_metadata("note", std::string("a\0b", 3));
  return *std::move(b).finish();
}

TEST(CupelBinary, HoldsEverything) {
  const auto h = everything();
  const auto bytes = written(h);
  const auto back = read_cupel(bytes, "f");
  ASSERT_TRUE(back.ok()) << back.error().to_string();
  EXPECT_EQ(text_of(*back, {.times = true}), text_of(h, {.times = true}));
  EXPECT_EQ(back->metadata(), h.metadata());
  EXPECT_EQ(back->session_count(), 3u);
  ASSERT_EQ(back->value_count(), h.value_count());
  for (std::size_t v = 0; v < h.value_count(); ++v)
    EXPECT_EQ(back->value(ValueId(v)), h.value(ValueId(v)));
  for (std::size_t k = 0; k < h.key_count(); ++k) {
    EXPECT_EQ(back->initial_value(KeyId(k)), h.initial_value(KeyId(k)));
    EXPECT_EQ(back->is_list(KeyId(k)), h.is_list(KeyId(k)));
  }
  EXPECT_EQ(written(*back), bytes);
}

// By label: the third of four transactions has none, and one label is beyond all nodes.
TEST(CupelBinary, HoldsTheNodesToo) {
  HistoryBuilder b;
  const auto a = b.session("a");
  const auto x = b.key(1);
  for (const std::uint32_t label : {0U, 7U, 3U, 4294967295U}) {
    b.begin(a, TxnStatus::kCommitted, {.label = label});
    b.read(x, b.null_value());
    b.end();
  }
  const auto h = *std::move(b).finish();
  const Nodes nodes{.names = {"127.0.0.1:7001, replica", ""}, .of_label = {2, 0, 0, 0, 0, 0, 0, 1}};
  std::ostringstream out;
  ASSERT_TRUE(write_cupel(h, out, nodes).ok());
  const auto bytes = std::move(out).str();
  EXPECT_EQ(bytes[8], 2) << "an older cupel says that a newer one wrote it";
  EXPECT_EQ(written(h)[8], 1) << "without nodes every cupel reads it";
  const auto back = read_cupel(bytes, "f");
  ASSERT_TRUE(back.ok()) << back.error().to_string();
  EXPECT_EQ(text_of(*back), text_of(h));
  const auto kept = nodes_of_cupel(bytes);
  EXPECT_EQ(kept.names, nodes.names);
  ASSERT_GE(kept.of_label.size(), 8U);
  for (std::size_t label = 0; label < kept.of_label.size(); ++label) {
    EXPECT_EQ(kept.of_label[label], label < 8 ? nodes.of_label[label] : 0) << label;
  }
  EXPECT_TRUE(nodes_of_cupel(written(h)).names.empty());
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    EXPECT_FALSE(read_cupel(bytes.substr(0, size), "f").ok()) << size;
    EXPECT_TRUE(nodes_of_cupel(bytes.substr(0, size)).names.empty()) << size;
  }
  // As fields of the operation maps, which explanations show.
  const test::ScratchFolder folder;
  const auto file = folder.file("h.cupel", bytes);
  using Fields = std::vector<std::pair<std::string, std::string>>;
  const auto fields = extra_fields(file, "cupel", {3, 7});
  ASSERT_EQ(fields.size(), 1U);
  EXPECT_EQ(fields.at(7), (Fields{{"node", "\"127.0.0.1:7001, replica\""}}));
}

TEST(CupelBinary, HoldsNothing) {
  HistoryBuilder b;
  for (const auto& h : {History{}, *std::move(b).finish()}) {
    const auto back = read_cupel(written(h), "f");
    ASSERT_TRUE(back.ok()) << back.error().to_string();
    EXPECT_EQ(back->txn_count(), 0u);
  }
}

TEST(CupelBinary, SpansManyBlocks) {
  HistoryBuilder b;
  const std::string long_text(3 << 20, 'x');
  const auto s = b.session("s");
  std::uint64_t noise = 1;
  for (int t = 0; t < 200000; ++t) {
    b.begin(s, TxnStatus::kCommitted,
            {.invoke = t * 10, .complete = t * 10 + 5, .label = static_cast<std::uint32_t>(t)});
    for (int o = 0; o < 4; ++o) {
      noise = noise * 6364136223846793005u + 1442695040888963407u;
      b.write(b.key(static_cast<std::int64_t>(noise >> 54)),
              b.value(static_cast<std::int64_t>(noise)));
    }
    b.end();
  }
  b.begin(s, TxnStatus::kCommitted, {});
  b.write(b.key(1), b.value(ScalarView::of(long_text)));
  b.end();
  const auto h = *std::move(b).finish();
  const auto back = read_cupel(written(h), "f");
  ASSERT_TRUE(back.ok()) << back.error().to_string();
  EXPECT_TRUE(text_of(*back, {.times = true}) == text_of(h, {.times = true}));
}

TEST(CupelBinary, EveryCutNamesAByte) {
  const auto bytes = written(everything());
  for (std::size_t cut = 0; cut < bytes.size(); ++cut) {
    const auto h = read_cupel(std::string_view(bytes).substr(0, cut), "f");
    ASSERT_FALSE(h.ok()) << cut;
    ASSERT_TRUE(h.error().byte.has_value());
    EXPECT_LE(*h.error().byte, cut);
  }
  EXPECT_FALSE(read_cupel(bytes + "x", "f").ok());
}

TEST(CupelBinary, EveryFlippedBitNamesAByteAtOrBeforeIt) {
  const auto bytes = written(everything());
  for (std::size_t at = 0; at < bytes.size(); ++at) {
    for (int bit = 0; bit < 8; ++bit) {
      auto broken = bytes;
      broken[at] = static_cast<char>(broken[at] ^ (1 << bit));
      const auto h = read_cupel(broken, "f");
      ASSERT_FALSE(h.ok()) << at;
      ASSERT_TRUE(h.error().byte.has_value());
      EXPECT_LE(*h.error().byte, at);
    }
  }
}

// What is reported while the file goes by.
struct Reported final : SingleOpSink {
  bool begin(const SingleOpFacts& given) override {
    facts = given;
    return true;
  }
  bool add(std::span<const SingleOp> some) override {
    ops.insert(ops.end(), some.begin(), some.end());
    return true;
  }
  SingleOpFacts facts;
  std::vector<SingleOp> ops;
};

TEST(CupelBinary, StreamsSingleOperationsAndNothingElse) {
  using Make = std::function<void(HistoryBuilder&)>;
  const auto bytes_of = [](const Make& second,
                           HistoryBuilder::TxnFacts facts = {.invoke = 3, .complete = 4}) {
    HistoryBuilder b;
    b.set_initial(b.key(1), b.value(9));
    b.begin(b.session("a"), TxnStatus::kCommitted, {.invoke = 1, .complete = 2});
    b.write(b.key(1), b.value(5));
    b.end();
    b.begin(b.session("b"), TxnStatus::kAborted, {});
    b.write(b.key(1), b.value(6));
    b.end();
    b.begin(b.session("b"), TxnStatus::kCommitted, facts);
    second(b);
    b.end();
    return written(*std::move(b).finish());
  };
  const auto swap =
      bytes_of([](auto& b) { b.compare_and_set(b.key(1), b.value(5), b.value(7), true); });
  Reported reported;
  ASSERT_TRUE(stream_cupel(swap, {}, 3, reported));
  EXPECT_EQ(reported.facts.txns, 3u);
  EXPECT_EQ(reported.facts.keys, 1u);
  ASSERT_EQ(reported.facts.initial.size(), 1u);
  ASSERT_EQ(reported.ops.size(), 2u);  // without the aborted one
  const auto h = *read_cupel(swap, "f");
  EXPECT_EQ(h.value(reported.ops[0].value), ScalarView::of(std::int64_t{5}));
  EXPECT_EQ(reported.ops[1].kind, OpKind::kCompareAndSet);
  EXPECT_EQ(h.value(reported.ops[1].expected), ScalarView::of(std::int64_t{5}));
  EXPECT_EQ(h.value(reported.ops[1].value), ScalarView::of(std::int64_t{7}));
  EXPECT_EQ(reported.ops[1].invoke, 3);
  EXPECT_EQ(reported.ops[1].complete, 4);
  EXPECT_EQ(h.session_name(reported.ops[1].session), "b");

  Reported unused;
  EXPECT_FALSE(stream_cupel(swap, {}, 4, unused)) << "fewer than asked for";
  // A fact that a verdict alone would hide.
  for (const auto& [fact, streamed] :
       {std::pair("data gone", false), std::pair("final reads failed", false),
        std::pair("part", false), std::pair("database", true)}) {
    const auto stated = written(HistoryBuilder::with_metadata(*read_cupel(swap, "f"), fact, "x"));
    EXPECT_EQ(stream_cupel(stated, {}, 3, unused), streamed) << fact;
  }
  for (std::size_t cut = 0; cut < swap.size(); ++cut) {
    EXPECT_FALSE(stream_cupel(std::string_view(swap).substr(0, cut), {}, 0, unused)) << cut;
  }
  const std::vector<Make> others{
      [](auto&) {},
      [](auto& b) { b.read(b.key(1), b.value(5)), b.read(b.key(1), b.value(5)); },
      [](auto& b) { b.compare_and_set(b.key(1), b.value(5), b.value(7), false); },
      [](auto& b) { b.append(b.key(2), b.value(5)); },
      [](auto& b) { b.list_read(b.key(2), {}); },
      [](auto& b) { b.list_read_unknown(b.key(2)); },
      [](auto& b) { b.range_read(b.value(0), b.value(9), {}); },
      [](auto& b) { b.insert(b.key(1), b.value(8)); },
      [](auto& b) { b.erase(b.key(1), ValueId::none()); },
  };
  for (std::size_t i = 0; i < others.size(); ++i) {
    EXPECT_FALSE(stream_cupel(bytes_of(others[i]), {}, 0, unused)) << i;
  }
  const auto read = [](auto& b) { b.read(b.key(1), b.value(5)); };
  EXPECT_TRUE(stream_cupel(bytes_of(read), {}, 0, unused));
  EXPECT_FALSE(stream_cupel(bytes_of(read, {.invoke = 3}), {}, 0, unused)) << "no end";
  EXPECT_FALSE(stream_cupel(bytes_of(read, {}), {}, 0, unused)) << "no times";
}

TEST(CupelBinary, SaysThatANewerVersionWroteTheFile) {
  auto bytes = written(everything());
  bytes[8] = 3;
  std::uint64_t hash = 0xcbf29ce484222325;
  for (int i = 0; i < 12; ++i)
    hash = (hash ^ static_cast<unsigned char>(bytes[static_cast<std::size_t>(i)])) * 0x100000001b3;
  for (int i = 0; i < 4; ++i)
    bytes[static_cast<std::size_t>(12 + i)] = static_cast<char>(hash >> (8 * i));
  const auto h = read_cupel(bytes, "f");
  ASSERT_FALSE(h.ok());
  EXPECT_EQ(
      h.error().to_string(),
      "f: byte 8: found version 3, expected 1 or 2: a newer cupel wrote this file, expected a "
      "whole and intact cupel file");
}

TEST(CupelRecorded, IsAFifthOfJsonLinesOrLess) {
  CUPEL_RECORDED(folder, "real");
  std::size_t files = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
    const auto path = entry.path().string();
    if (!entry.is_regular_file() ||
        (entry.path().extension() != ".jsonl" && entry.path().extension() != ".json"))
      continue;
    const auto h = read(path);
    ASSERT_TRUE(h.ok()) << h.error().to_string();
    const auto bytes = written(*h);
    EXPECT_LE(bytes.size() * 5, entry.file_size()) << path;
    const auto back = read_cupel(bytes, "back");
    ASSERT_TRUE(back.ok()) << back.error().to_string();
    EXPECT_TRUE(text_of(*back, {.times = true}) == text_of(*h, {.times = true})) << path;
    ++files;
  }
  EXPECT_GT(files, 0u);
}

TEST(CupelRecorded, HoldsWhatTheOtherFormatsRead) {
  for (const char* name : {"polysi/violations/dgraph", "polysi/twitter-10000",
                           "veristrong/viper-1000", "isovista/dgraph_si.txt"}) {
    CUPEL_RECORDED(path, name);
    const auto h = read(path);
    ASSERT_TRUE(h.ok()) << h.error().to_string();
    const auto back = read_cupel(written(*h), "back");
    ASSERT_TRUE(back.ok()) << back.error().to_string();
    EXPECT_TRUE(text_of(*back, {.times = true}) == text_of(*h, {.times = true})) << path;
    EXPECT_EQ(back->initial_overrides().size(), h->initial_overrides().size());
    auto metadata = h->metadata();
    metadata["format"] = "cupel";
    EXPECT_EQ(back->metadata(), metadata);
  }
}

}  // namespace
}  // namespace cupel::formats
