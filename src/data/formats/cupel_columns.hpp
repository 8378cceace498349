// The columns of a cupel file (docs/reference/formats/cupel.md), for those who read or write them:
// their numbers, the codes of ids, and a reader that decodes one block a column at a time. What the
// file holds goes to a `Builder`: a HistoryBuilder, or another with its functions.
#pragma once

#include <fmt/format.h>
#include <zstd.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/fnv.hpp"
#include "data/formats/byte_cursor.hpp"
#include "data/formats/input.hpp"
#include "data/history/builder.hpp"

namespace cupel::formats::cupel_file {

using history::HistoryBuilder;
using history::KeyId;
using history::OpKind;
using history::RangeEntry;
using history::ScalarKind;
using history::ScalarView;
using history::SessionId;
using history::Time;
using history::TxnStatus;
using history::ValueId;

inline constexpr std::string_view kMagic(
    "\x89"
    "CUPEL\r\n",
    8);  // a text-mode copy breaks it, visibly
inline constexpr std::uint32_t kPlainVersion = 1, kVersion = 2;
inline constexpr unsigned kScalarKinds = 5;
inline constexpr std::uint64_t kSmallDeltas = 64;  // zigzag deltas that share a byte with the kind
inline constexpr std::size_t kHeaderBytes = 16, kBlockHeaderBytes = 20;
inline constexpr std::size_t kRawBlockBytes = 1 << 20;

enum Column : std::uint32_t {
  kFacts,     // metadata, names of the sessions, default and per-key initial values, counts
  kKeys,      // the key scalars in the order of their ids
  kValues,    // the value scalars, likewise
  kTexts,     // the bytes of the scalars that are not integers, and of kFacts
  kTxns,      // session, status, labels, operations in it
  kTimes,     // invocations and completions
  kKinds,     // of the operations
  kOpKeys,    // keys of the operations
  kOpValues,  // values of the operations
  kLists,     // what list reads saw
  kRanges,    // range reads
  kSwaps,     // compare-and-sets
  kNodes,     // names of the nodes, the node of each transaction
  kColumns,
};

// The column of the last block.
constexpr std::uint32_t end_column(std::uint32_t version) {
  return version == kPlainVersion ? kNodes : kColumns;
}

using base::fnv;

inline std::uint64_t zigzag(std::uint64_t delta) {
  return (delta << 1) ^ (0 - (delta >> 63));
}
inline std::uint64_t unzigzag(std::uint64_t code) {
  return (code >> 1) ^ (0 - (code & 1));
}

// The codes that writer and reader share: each keeps what the code is relative to.
struct RecencyCode {
  std::uint64_t next = 0;  // the largest id so far, plus one
  std::uint64_t encode(std::uint32_t id) {
    if (id == ValueId::kNoneRaw) return 0;
    const auto code = 1 + zigzag(next - id);
    next = std::max<std::uint64_t>(next, std::uint64_t{id} + 1);
    return code;
  }
  // The id as a wide integer; kNoneRaw for none.
  std::uint64_t decode(std::uint64_t code) {
    if (code == 0) return ValueId::kNoneRaw;
    const auto id = next - unzigzag(code - 1);
    next = std::max(next, id + 1);
    return id;
  }
};

// Thrown by a reader; whoever runs it catches it.
struct Broken {
  std::uint64_t byte;
  std::string message;
};

class ColumnReader {
 public:
  struct Block {
    std::uint64_t byte;  // where it begins in the file
    std::uint32_t raw_size;
    std::string_view stored;
  };

  void add(Block block) { blocks_.push_back(block); }
  // Borrowed. The bytes of a block need not stay resident once it is decompressed.
  void release_with(const Reading* reading) { reading_ = reading; }

  std::uint64_t varint() {
    if (at_ < raw_.size() && static_cast<unsigned char>(raw_[at_]) < 0x80) {
      return static_cast<unsigned char>(raw_[at_++]);
    }
    std::uint64_t value = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
      const auto byte = static_cast<unsigned char>(next());
      if (shift == 63 && byte > 1) break;
      value |= std::uint64_t{byte & 0x7fu} << shift;
      if (byte < 0x80) return value;
    }
    throw Broken{where(), "found an integer of more than 64 bits"};
  }
  // A varint that must be below `limit`.
  std::uint64_t below(std::uint64_t limit, const char* what) {
    const auto value = varint();
    if (value >= limit) broken(value, limit, what);
    return value;
  }
  std::string text(std::uint64_t size) {
    std::string text;
    while (size > 0) {
      if (at_ == raw_.size()) refill();
      const auto piece = std::min<std::uint64_t>(size, raw_.size() - at_);
      text.append(raw_, at_, piece);
      at_ += piece;
      size -= piece;
    }
    return text;
  }
  [[nodiscard]] std::uint64_t raw_bytes() const {
    std::uint64_t bytes = 0;
    for (const auto& block : blocks_) bytes += block.raw_size;
    return bytes;
  }
  [[nodiscard]] bool at_end() const { return at_ == raw_.size() && next_block_ == blocks_.size(); }
  [[nodiscard]] std::uint64_t where() const { return current_byte_; }

  [[noreturn]] void broken(std::uint64_t value, std::uint64_t limit, const char* what) const {
    throw Broken{where(),
                 fmt::format("found {} as the {}, expected less than {}", value, what, limit)};
  }

 private:
  char next() {
    if (at_ == raw_.size()) refill();
    return raw_[at_++];
  }
  void refill() {
    if (next_block_ == blocks_.size()) throw Broken{where(), "the column ends early"};
    const auto& block = blocks_[next_block_++];
    current_byte_ = block.byte;
    raw_.resize(block.raw_size);
    at_ = 0;
    const auto got =
        ZSTD_decompress(raw_.data(), raw_.size(), block.stored.data(), block.stored.size());
    if (ZSTD_isError(got) || got != block.raw_size) {
      throw Broken{block.byte,
                   fmt::format("the block does not decompress: {}",
                               ZSTD_isError(got) ? ZSTD_getErrorName(got) : "wrong size")};
    }
    if (raw_.empty()) throw Broken{block.byte, "found an empty block"};
    if (reading_ != nullptr)
      reading_->release(block.stored.data(), block.stored.data() + block.stored.size());
  }

  const Reading* reading_ = nullptr;
  std::vector<Block> blocks_;
  std::size_t next_block_ = 0;
  std::string raw_;
  std::size_t at_ = 0;
  std::uint64_t current_byte_ = kHeaderBytes;
};

// Reports what a file holds to `Builder`: a HistoryBuilder, or another with its functions.
template <typename Builder>
class Reader {
 public:
  Reader(std::string_view bytes, Reading reading, Builder& builder)
      : bytes_(bytes), reading_(reading), builder_(builder) {
    for (auto& column : columns_) column.release_with(&reading_);
  }

  // Each throws Broken. All at once:
  void run() {
    begin();
    while (next()) {
    }
  }
  // What comes before the first transaction.
  void begin() {
    index_blocks();
    read_scalars(
        columns_[kKeys], [&](ScalarView s) { return builder_.key(s).index(); }, keys_);
    read_scalars(
        columns_[kValues], [&](ScalarView s) { return builder_.value(s).index(); }, values_);
    values_ = std::max<std::uint64_t>(values_, 1);  // null, which the builder always has
    read_facts();
  }
  // One transaction more. False: that was the last, and nothing is left.
  bool next() {
    if (read_ == txns_) {
      for (const auto& column : columns_) {
        if (!column.at_end())
          throw Broken{column.where(), "found more in a column than its history needs"};
      }
      return false;
    }
    read_txn();
    ++read_;
    return true;
  }
  // So many bytes the operations take at least: one each.
  [[nodiscard]] std::uint64_t operations() const { return columns_[kKinds].raw_bytes(); }
  [[nodiscard]] std::uint64_t transactions() const { return txns_; }

 private:
  void index_blocks() {
    ByteCursor in(bytes_);
    const auto magic = in.take(kMagic.size());
    if (magic != kMagic) throw Broken{0, "found other bytes than the opening of a cupel file"};
    version_ = in.little_u32();
    const auto checksum = in.little_u32();
    if (in.failed()) throw Broken{bytes_.size(), "the file ends inside its header"};
    if (checksum != static_cast<std::uint32_t>(fnv(bytes_.substr(0, kHeaderBytes - 4)))) {
      throw Broken{8, "the header's checksum is wrong"};
    }
    if (version_ < kPlainVersion || version_ > kVersion) {
      throw Broken{8, fmt::format("found version {}, expected {} or {}: a newer cupel wrote this "
                                  "file",
                                  version_, kPlainVersion, kVersion)};
    }
    const auto end = end_column(version_);
    for (std::uint64_t blocks = 0;; ++blocks) {
      if (reading_.stopped()) throw Stopped{};  // a block is a megabyte
      const auto at = in.offset();
      const auto header = in.take(12);
      ByteCursor fields(header);
      const auto column = fields.little_u32();
      const auto raw_size = fields.little_u32();
      const auto stored_size = fields.little_u32();
      const auto expected = in.little_u64();
      const auto stored = in.take(stored_size);
      if (in.failed())
        throw Broken{at, "the file ends inside the block that begins here: it was cut"};
      if (fnv(stored, fnv(header)) != expected)
        throw Broken{at, "the checksum of the block that begins here is wrong"};
      if (column == end) {
        if (ByteCursor(stored).little_u64() != blocks || stored.size() != 8) {
          throw Broken{at, "the number of blocks is not the recorded one"};
        }
        if (!in.at_end()) throw Broken{in.offset(), "found bytes after the last block"};
        return;
      }
      if (column > end || raw_size > kRawBlockBytes)
        throw Broken{at, "found a block of no known column or size"};
      columns_[column].add({at, raw_size, stored});
      reading_.release(stored.data(), stored.data() + stored.size());
    }
  }

  void read_scalars(ColumnReader& in, const auto& intern, std::uint64_t& count) {
    count = in.below(0xffffffff, "number of scalars");
    std::uint64_t last = 0;
    for (std::uint64_t i = 0; i < count; ++i) {
      reading_.step();
      const auto code = in.below(kScalarKinds + kSmallDeltas, "kind of a scalar");
      std::size_t id = 0;
      if (code >= kScalarKinds || code == static_cast<unsigned>(ScalarKind::kInteger)) {
        last += unzigzag(code >= kScalarKinds ? code - kScalarKinds : in.varint());
        id = intern(ScalarView::of(static_cast<std::int64_t>(last)));
      } else if (code == static_cast<unsigned>(ScalarKind::kNull)) {
        id = intern(ScalarView::null());
      } else {
        const auto text = columns_[kTexts].text(in.varint());
        id = intern(ScalarView{static_cast<ScalarKind>(code), 0, text});
      }
      if (id != i) throw Broken{in.where(), "found a scalar twice, or null not as the first value"};
    }
  }

  void read_facts() {
    auto& in = columns_[kFacts];
    for (auto n = in.varint(); n > 0; --n) {
      const auto name = columns_[kTexts].text(in.varint());
      const auto text = columns_[kTexts].text(in.varint());
      builder_.set_metadata(name, text);
    }
    builder_.set_metadata("format", "cupel");  // older files hold the format that they were made of
    sessions_ = in.below(0xffffffff, "number of sessions");
    for (std::uint64_t s = 0; s < sessions_; ++s) {
      if (builder_.session(columns_[kTexts].text(in.varint())).index() != s) {
        throw Broken{in.where(), "found two sessions of one name"};
      }
    }
    builder_.set_default_initial(ValueId(in.below(values_, "default initial value")));
    std::uint64_t key = 0;
    for (auto n = in.varint(); n > 0; --n) {
      key += in.below(keys_, "key of an initial value");
      if (key >= keys_) in.broken(key, keys_, "key of an initial value");
      builder_.set_initial(KeyId(key), ValueId(in.below(values_, "initial value")));
    }
    txns_ = in.below(0xffffffff, "number of transactions");
    if constexpr (requires { builder_.expect_txns(txns_); }) builder_.expect_txns(txns_);
    if (version_ > kPlainVersion) read_node_names();
  }

  void read_node_names() {
    auto& in = columns_[kNodes];
    nodes_ = in.below(kMostNodeNames + 1, "number of nodes");
    for (std::uint64_t n = 0; n < nodes_; ++n) {
      auto name = columns_[kTexts].text(in.varint());
      if constexpr (requires { builder_.add_node(std::move(name)); }) {
        builder_.add_node(std::move(name));
      }
    }
  }

  ValueId id(ColumnReader& in, RecencyCode& code) {
    const auto wide = code.decode(in.varint());
    if (wide != ValueId::kNoneRaw && wide >= values_) in.broken(wide, values_, "number of a value");
    return ValueId(wide);
  }
  ValueId known(ColumnReader& in, RecencyCode& code) {
    const auto value = id(in, code);
    if (!value.valid()) throw Broken{in.where(), "found no value, expected one"};
    return value;
  }

  void read_txn() {
    auto& in = columns_[kTxns];
    reading_.step();
    const auto session = in.below(sessions_, "session of a transaction");
    const auto flags = in.below(16, "status of a transaction");
    if ((flags & 3) > 2) in.broken(flags & 3, 3, "status of a transaction");
    label_ += unzigzag(in.varint());
    if (label_ > 0xffffffff) in.broken(label_, 0x100000000, "label of a transaction");
    const auto ops = in.below(1u << 30, "number of operations");
    HistoryBuilder::TxnFacts facts;
    facts.label = static_cast<std::uint32_t>(label_);
    if (flags & 4) facts.invoke = static_cast<Time>(invoke_ += unzigzag(columns_[kTimes].varint()));
    if (flags & 8)
      facts.complete = static_cast<Time>(invoke_ + unzigzag(columns_[kTimes].varint()));
    if (version_ > kPlainVersion) {
      const auto node = columns_[kNodes].below(nodes_ + 1, "node of a transaction");
      if constexpr (requires { builder_.at_node(facts.label, node); }) {
        builder_.at_node(facts.label, node);
      }
    }
    builder_.begin(SessionId(session), static_cast<TxnStatus>(flags & 3), facts);
    for (std::uint64_t i = 0; i < ops; ++i) read_op();
    builder_.end();
  }

  void read_op() {
    reading_.step();
    const auto kind = static_cast<OpKind>(columns_[kKinds].below(8, "kind of an operation"));
    KeyId key;
    if (kind != OpKind::kRangeRead) key = KeyId(columns_[kOpKeys].below(keys_, "number of a key"));
    auto& in = columns_[kOpValues];
    switch (kind) {
      case OpKind::kRead:
        return builder_.read(key, id(in, op_code_));
      case OpKind::kWrite:
        return builder_.write(key, known(in, op_code_));
      case OpKind::kAppend:
        return builder_.append(key, known(in, op_code_));
      case OpKind::kInsert:
        return builder_.insert(key, known(in, op_code_));
      case OpKind::kDelete:
        return builder_.erase(key, known(in, op_code_));
      case OpKind::kListRead:
        return read_list(key);
      case OpKind::kRangeRead:
        return read_range();
      case OpKind::kCompareAndSet: {
        auto& swaps = columns_[kSwaps];
        const auto expected = known(swaps, swap_code_), desired = known(swaps, swap_code_);
        return builder_.compare_and_set(key, expected, desired, swaps.below(2, "outcome") != 0);
      }
    }
  }

  void read_list(KeyId key) {
    auto& in = columns_[kLists];
    const auto size = in.varint();
    if (size == 0) return builder_.list_read_unknown(key);
    elements_.clear();
    std::uint64_t element = 0;
    for (std::uint64_t i = 1; i < size; ++i) {
      element += unzigzag(in.varint());
      if (element >= values_) in.broken(element, values_, "number of a value");
      elements_.emplace_back(element);
    }
    builder_.list_read(key, elements_);
  }

  void read_range() {
    auto& in = columns_[kRanges];
    const auto low = known(in, range_code_), high = known(in, range_code_);
    entries_.clear();
    for (auto n = in.varint(); n > 0; --n) {
      const KeyId key(in.below(keys_, "number of a key"));
      entries_.push_back({key, known(in, range_code_)});
    }
    builder_.range_read(low, high, entries_);
  }

  std::string_view bytes_;
  Reading reading_;
  std::array<ColumnReader, kColumns> columns_;
  Builder& builder_;
  std::uint32_t version_ = kVersion;
  std::uint64_t keys_ = 0, values_ = 0, sessions_ = 0, txns_ = 0, nodes_ = 0;
  std::uint64_t read_ = 0, label_ = 0, invoke_ = 0;  // of the transactions so far
  RecencyCode op_code_, swap_code_, range_code_;
  std::vector<ValueId> elements_;
  std::vector<RangeEntry> entries_;
};

}  // namespace cupel::formats::cupel_file
