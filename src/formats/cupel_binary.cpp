// cupel files. After a 16-byte header (magic, version, checksum) come blocks:
//
//   u32 column · u32 raw size · u32 stored size · u64 checksum · stored bytes
//
// all little-endian. A column is the concatenation of its blocks, each a zstd
// frame of at most 1 MiB of raw bytes: a reader holds one raw block a column,
// whatever a block claims. The checksum (FNV-1a) covers the block's own header
// and stored bytes; the last block is of no column, and holds the number
// of blocks before it, so that a file cut between blocks is seen as cut.
// Version 2 has the column kNodes; what has no nodes is written as version 1,
// which every cupel reads.
//
// Raw bytes are varints. Transactions and operations are in the order of the
// source, in which values are numbered as they first appear: so a written value
// is nearly always the number after the largest so far, and costs a zero byte.
#include "formats/cupel_binary.hpp"

#include <fmt/format.h>
#include <zstd.h>

#include <algorithm>
#include <array>
#include <cassert>
#include <memory>
#include <numeric>
#include <ostream>
#include <vector>

#include "base/fnv.hpp"
#include "base/hash_table.hpp"
#include "formats/byte_cursor.hpp"
#include "history/builder.hpp"
#include "history/single_op.hpp"

namespace cupel::formats {

using namespace history;

namespace {

constexpr std::string_view kMagic(
    "\x89"
    "CUPEL\r\n",
    8);  // a text-mode copy breaks it, visibly
constexpr std::uint32_t kPlainVersion = 1, kVersion = 2;
constexpr unsigned kScalarKinds = 5;
constexpr std::uint64_t kSmallDeltas = 64;  // zigzag deltas that share a byte with the kind
constexpr std::size_t kHeaderBytes = 16, kBlockHeaderBytes = 20;
constexpr std::size_t kRawBlockBytes = 1 << 20;
constexpr int kZstdLevel = 6;

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

template <typename Integer>
void put_little(std::string& out, Integer value) {
  for (std::size_t i = 0; i < sizeof value; ++i) out += static_cast<char>(value >> (8 * i));
}

std::uint64_t zigzag(std::uint64_t delta) {
  return (delta << 1) ^ (0 - (delta >> 63));
}
std::uint64_t unzigzag(std::uint64_t code) {
  return (code >> 1) ^ (0 - (code & 1));
}

// ---- Writing ---------------------------------------------------------------

class ColumnWriter {
 public:
  ColumnWriter() : context_(ZSTD_createCCtx(), &ZSTD_freeCCtx) {
    ZSTD_CCtx_setParameter(context_.get(), ZSTD_c_compressionLevel, kZstdLevel);
    ZSTD_CCtx_setParameter(context_.get(), ZSTD_c_checksumFlag, 1);
  }

  void start(std::ostream& out, std::uint32_t version) {
    out_ = &out;
    version_ = version;
    std::string header(kMagic);
    put_little(header, version);
    put_little(header, static_cast<std::uint32_t>(fnv(header)));
    out << header;
  }
  void varint(Column column, std::uint64_t value) {
    auto& raw = raw_[column];
    while (value >= 0x80) {
      raw += static_cast<char>(value | 0x80);
      value >>= 7;
    }
    raw += static_cast<char>(value);
    if (raw.size() >= kRawBlockBytes) flush(column, kRawBlockBytes);
  }
  void text(Column lengths, std::string_view text) {
    varint(lengths, text.size());
    for (; !text.empty();) {
      const auto piece = text.substr(0, kRawBlockBytes);
      raw_[kTexts] += piece;
      text.remove_prefix(piece.size());
      if (raw_[kTexts].size() >= kRawBlockBytes) flush(kTexts, kRawBlockBytes);
    }
  }
  void finish() {
    for (std::uint32_t c = 0; c < kColumns; ++c) {
      if (!raw_[c].empty()) flush(static_cast<Column>(c), raw_[c].size());
    }
    std::string count;
    put_little(count, blocks_);
    emit(end_column(version_), count.size(), count);
  }

 private:
  void flush(Column column, std::size_t size) {
    std::string stored(ZSTD_compressBound(size), '\0');
    const auto got =
        ZSTD_compress2(context_.get(), stored.data(), stored.size(), raw_[column].data(), size);
    assert(!ZSTD_isError(got) && "the destination holds any compressed block");
    stored.resize(got);
    emit(column, size, stored);
    raw_[column].erase(0, size);
    ++blocks_;
  }
  void emit(std::uint32_t column, std::size_t raw_size, std::string_view stored) {
    std::string header;
    put_little(header, column);
    put_little(header, static_cast<std::uint32_t>(raw_size));
    put_little(header, static_cast<std::uint32_t>(stored.size()));
    put_little(header, fnv(stored, fnv(header)));
    *out_ << header << stored;
  }

  std::unique_ptr<ZSTD_CCtx, decltype(&ZSTD_freeCCtx)> context_;
  std::ostream* out_ = nullptr;
  std::uint32_t version_ = kVersion;
  std::array<std::string, kColumns> raw_;
  std::uint64_t blocks_ = 0;
};

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

void write_scalars(ColumnWriter& out, Column column, std::size_t count, const auto& at) {
  out.varint(column, count);
  std::uint64_t last = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const ScalarView scalar = at(i);
    if (scalar.kind == ScalarKind::kInteger) {
      const auto integer = static_cast<std::uint64_t>(scalar.integer);
      const auto delta = zigzag(integer - last);
      if (delta < kSmallDeltas)
        out.varint(column, kScalarKinds + delta);
      else {
        out.varint(column, static_cast<unsigned>(ScalarKind::kInteger));
        out.varint(column, delta);
      }
      last = integer;
    } else {
      out.varint(column, static_cast<unsigned>(scalar.kind));
      if (scalar.kind != ScalarKind::kNull) out.text(column, scalar.text);
    }
  }
}

std::vector<std::uint32_t> source_order(const History& h) {
  std::vector<std::uint32_t> order(h.txn_count());
  std::iota(order.begin(), order.end(), 0);
  // Within a session first_op never falls, so a stable sort keeps session order.
  std::stable_sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
    return h.first_op(TxnId(a)) < h.first_op(TxnId(b));
  });
  return order;
}

// ---- Reading ---------------------------------------------------------------

// Thrown inside this file only, caught by read_cupel.
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

  // Throws Broken.
  void run() {
    index_blocks();
    read_scalars(
        columns_[kKeys], [&](ScalarView s) { return builder_.key(s).index(); }, keys_);
    read_scalars(
        columns_[kValues], [&](ScalarView s) { return builder_.value(s).index(); }, values_);
    values_ = std::max<std::uint64_t>(values_, 1);  // null, which the builder always has
    read_facts();
    read_txns();
    for (const auto& column : columns_) {
      if (!column.at_end())
        throw Broken{column.where(), "found more in a column than its history needs"};
    }
  }

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

  void read_txns() {
    auto& in = columns_[kTxns];
    std::uint64_t label = 0, invoke = 0;
    for (std::uint64_t t = 0; t < txns_; ++t) {
      reading_.step();
      const auto session = in.below(sessions_, "session of a transaction");
      const auto flags = in.below(16, "status of a transaction");
      if ((flags & 3) > 2) in.broken(flags & 3, 3, "status of a transaction");
      label += unzigzag(in.varint());
      if (label > 0xffffffff) in.broken(label, 0x100000000, "label of a transaction");
      const auto ops = in.below(1u << 30, "number of operations");
      HistoryBuilder::TxnFacts facts;
      facts.label = static_cast<std::uint32_t>(label);
      if (flags & 4)
        facts.invoke = static_cast<Time>(invoke += unzigzag(columns_[kTimes].varint()));
      if (flags & 8)
        facts.complete = static_cast<Time>(invoke + unzigzag(columns_[kTimes].varint()));
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
  RecencyCode op_code_, swap_code_, range_code_;
  std::vector<ValueId> elements_;
  std::vector<RangeEntry> entries_;
};

// Thrown inside this file only: not single operations on registers, or not wanted.
struct Declined {};

// Takes what a HistoryBuilder takes, and passes it on operation by operation.
// Checks what the builder would, or declines.
class SingleOps {
 public:
  explicit SingleOps(SingleOpSink& sink, std::size_t least) : sink_(sink), least_(least) {
    batch_.reserve(kBatch);
    values_.add(ScalarView::null());
  }

  KeyId key(ScalarView scalar) { return KeyId(keys_.add(scalar)); }
  ValueId value(ScalarView scalar) { return ValueId(values_.add(scalar)); }
  SessionId session(const std::string& name) {
    if (!session_names_.insert(name).second) throw Declined{};
    return SessionId(facts_.sessions++);
  }
  void set_metadata(const std::string&, const std::string&) {}
  void set_default_initial(ValueId value) { facts_.default_initial = value; }
  void set_initial(KeyId key, ValueId value) { facts_.initial.emplace_back(key, value); }
  void expect_txns(std::size_t txns) {
    facts_.txns = txns;
    facts_.keys = keys_.size();
    facts_.values = values_.size();
    values_ = {};
    if (txns < least_ || !sink_.begin(facts_)) throw Declined{};
  }

  void begin(SessionId session, TxnStatus status, const HistoryBuilder::TxnFacts& facts) {
    ops_ = 0;
    op_ = {session,   status,    OpKind::kRead, KeyId(),
           ValueId(), ValueId(), facts.invoke,  facts.complete};
    const bool begins = facts.invoke != kNoTime, ends = facts.complete != kNoTime;
    if (begins && ends && facts.complete < facts.invoke) throw Declined{};
    if (status == TxnStatus::kAborted) return;
    if (!begins || (status == TxnStatus::kCommitted && !ends)) throw Declined{};
  }
  void read(KeyId key, ValueId value) { one(OpKind::kRead, key, value); }
  void write(KeyId key, ValueId value) { one(OpKind::kWrite, key, value); }
  void compare_and_set(KeyId key, ValueId expected, ValueId desired, bool succeeded) {
    if (!succeeded) throw Declined{};
    one(OpKind::kCompareAndSet, key, desired);
    op_.expected = expected;
  }
  void append(KeyId, ValueId) { throw Declined{}; }
  void insert(KeyId, ValueId) { throw Declined{}; }
  void erase(KeyId, ValueId) { throw Declined{}; }
  void list_read(KeyId, std::span<const ValueId>) { throw Declined{}; }
  void list_read_unknown(KeyId) { throw Declined{}; }
  void range_read(ValueId, ValueId, std::span<const RangeEntry>) { throw Declined{}; }
  void end() {
    if (ops_ != 1) throw Declined{};
    if (op_.status == TxnStatus::kAborted) return;
    batch_.push_back(op_);
    if (batch_.size() == kBatch) flush();
  }
  void flush() {
    if (!sink_.add(batch_)) throw Declined{};
    batch_.clear();
  }

 private:
  static constexpr std::size_t kBatch = 4096;

  // Numbers scalars as the builder would where none is there twice; where one may be,
  // declines.
  class Distinct {
   public:
    std::size_t add(ScalarView scalar) {
      if (scalar.kind == ScalarKind::kInteger) {
        if (scalar.integer < 0 || scalar.integer >= kMost) throw Declined{};
        const auto at = static_cast<std::size_t>(scalar.integer);
        if (at >= integers_.size()) integers_.resize(std::max(at + 1, 2 * integers_.size()));
        if (integers_[at]) throw Declined{};
        integers_[at] = true;
      } else if (scalar.kind != ScalarKind::kNull) {
        const auto name = static_cast<char>(scalar.kind) + std::string(scalar.text);
        if (!texts_.insert(name).second) throw Declined{};
      } else if (null_) {
        return 0;
      } else {
        null_ = true;
      }
      return size_++;
    }
    [[nodiscard]] std::size_t size() const { return size_; }

   private:
    static constexpr std::int64_t kMost = std::int64_t{1} << 32;
    std::vector<bool> integers_;
    base::HashSet<std::string> texts_;
    bool null_ = false;
    std::size_t size_ = 0;
  };

  void one(OpKind kind, KeyId key, ValueId value) {
    ++ops_;
    op_.kind = kind;
    op_.key = key;
    op_.value = value;
  }

  SingleOpSink& sink_;
  std::size_t least_;
  SingleOpFacts facts_;
  Distinct keys_, values_;
  base::HashSet<std::string> session_names_;
  SingleOp op_{};
  unsigned ops_ = 0;
  std::vector<SingleOp> batch_;
};

// Takes what a HistoryBuilder takes, and keeps the nodes only.
class NodeTaker {
 public:
  KeyId key(ScalarView) { return KeyId(keys_++); }
  ValueId value(ScalarView) { return ValueId(values_++); }
  SessionId session(const std::string&) { return SessionId(sessions_++); }
  void set_metadata(const std::string&, const std::string&) {}
  void set_default_initial(ValueId) {}
  void set_initial(KeyId, ValueId) {}
  void add_node(std::string name) { nodes_.names.push_back(std::move(name)); }
  void at_node(std::uint32_t label, std::uint64_t node) {
    if (node == 0 || label >= kMostNodeLabels) return;
    auto& of = nodes_.of_label;
    if (of.size() <= label) of.resize(std::max<std::size_t>(label + 1, of.size() * 3 / 2));
    of[label] = static_cast<std::uint16_t>(node);
  }
  void begin(SessionId, TxnStatus, const HistoryBuilder::TxnFacts&) {}
  void read(KeyId, ValueId) {}
  void write(KeyId, ValueId) {}
  void compare_and_set(KeyId, ValueId, ValueId, bool) {}
  void append(KeyId, ValueId) {}
  void insert(KeyId, ValueId) {}
  void erase(KeyId, ValueId) {}
  void list_read(KeyId, std::span<const ValueId>) {}
  void list_read_unknown(KeyId) {}
  void range_read(ValueId, ValueId, std::span<const RangeEntry>) {}
  void end() {}
  [[nodiscard]] Nodes taken() && { return std::move(nodes_); }

 private:
  std::size_t keys_ = 0, values_ = 0, sessions_ = 0;
  Nodes nodes_;
};

}  // namespace

Match recognize_cupel(std::string_view bytes) {
  if (!bytes.starts_with(kMagic.substr(0, 6))) return Match::kNo;
  ByteCursor in(bytes.substr(0, kHeaderBytes));
  const bool whole = in.take(kMagic.size()) == kMagic;
  in.little_u32();
  const auto checksum = in.little_u32();
  const bool checked =
      whole && !in.failed() &&
      checksum == static_cast<std::uint32_t>(fnv(bytes.substr(0, kHeaderBytes - 4)));
  return checked ? Match::kChecked : Match::kBegins;
}

base::Result<History> read_cupel(std::string_view bytes, const std::string& file, Reading reading) {
  try {
    HistoryBuilder builder;
    Reader(bytes, reading, builder).run();
    auto history = std::move(builder).finish();
    if (!history.ok()) return base::Error{.message = history.error().message, .file = file};
    return history;
  } catch (const Broken& broken) {
    return base::Error{.message = broken.message + ", expected a whole and intact cupel file",
                       .file = file,
                       .byte = broken.byte};
  }
}

bool stream_cupel(std::string_view bytes, Reading reading, std::size_t least_txns,
                  SingleOpSink& sink) {
  try {
    SingleOps ops(sink, least_txns);
    Reader(bytes, reading, ops).run();
    ops.flush();
    return true;
  } catch (const Declined&) {
  } catch (const Broken&) {  // read_cupel() says it
  }
  return false;
}

Nodes nodes_of_cupel(std::string_view bytes, Reading reading) {
  ByteCursor in(bytes);
  in.take(kMagic.size());
  if (in.little_u32() <= kPlainVersion) return {};
  try {
    NodeTaker taker;
    Reader(bytes, reading, taker).run();
    return std::move(taker).taken();
  } catch (const Broken&) {  // read_cupel() says it
    return {};
  }
}

base::Status write_cupel(const History& h, std::ostream& stream, const Nodes& nodes) {
  const bool with_nodes = !nodes.names.empty();
  ColumnWriter out;
  out.start(stream, with_nodes ? kVersion : kPlainVersion);
  write_scalars(out, kKeys, h.key_count(), [&](std::size_t i) { return h.key(KeyId(i)); });
  write_scalars(out, kValues, h.value_count(), [&](std::size_t i) { return h.value(ValueId(i)); });

  out.varint(kFacts, h.metadata().size() - h.metadata().count("format"));
  for (const auto& [name, text] : h.metadata()) {
    if (name == "format") continue;  // of the file that the history was read from
    out.text(kFacts, name);
    out.text(kFacts, text);
  }
  out.varint(kFacts, h.session_count());
  for (std::size_t s = 0; s < h.session_count(); ++s)
    out.text(kFacts, h.session_name(SessionId(s)));
  out.varint(kFacts, h.value_count() ? h.default_initial_value().raw : 0);
  out.varint(kFacts, h.initial_overrides().size());
  std::uint32_t last_key = 0;
  for (const auto& [key, value] : h.initial_overrides()) {  // sorted by key
    out.varint(kFacts, key.raw - last_key);
    out.varint(kFacts, value.raw);
    last_key = key.raw;
  }
  out.varint(kFacts, h.txn_count());
  if (with_nodes) {
    out.varint(kNodes, nodes.names.size());
    for (const auto& name : nodes.names) out.text(kNodes, name);
  }

  RecencyCode op_code, swap_code, range_code;
  std::uint64_t label = 0, invoke = 0;
  for (const auto i : source_order(h)) {
    const TxnId t(i);
    const bool invoked = h.invoke(t) != kNoTime, completed = h.complete(t) != kNoTime;
    out.varint(kTxns, h.session(t).raw);
    out.varint(kTxns, static_cast<unsigned>(h.status(t)) | (invoked ? 4 : 0) | (completed ? 8 : 0));
    out.varint(kTxns, zigzag(h.label(t) - label));
    label = h.label(t);
    out.varint(kTxns, h.last_op(t) - h.first_op(t));
    if (with_nodes) {
      out.varint(kNodes, h.label(t) < nodes.of_label.size() ? nodes.of_label[h.label(t)] : 0);
    }
    if (invoked) {
      out.varint(kTimes, zigzag(static_cast<std::uint64_t>(h.invoke(t)) - invoke));
      invoke = static_cast<std::uint64_t>(h.invoke(t));
    }
    if (completed) out.varint(kTimes, zigzag(static_cast<std::uint64_t>(h.complete(t)) - invoke));
    for (auto o = h.first_op(t); o < h.last_op(t); ++o) {
      const auto op = h.op(OpId(o));
      out.varint(kKinds, static_cast<unsigned>(op.kind));
      if (op.kind != OpKind::kRangeRead) out.varint(kOpKeys, op.key.raw);
      switch (op.kind) {
        case OpKind::kListRead: {
          if (!h.list_known(op)) {
            out.varint(kLists, 0);
            break;
          }
          // Elements are relative to each other, not to what came before, so
          // that equal prefixes are equal bytes: zstd then stores them once.
          const auto list = h.list(op);
          out.varint(kLists, list.size() + 1);
          std::uint64_t element = 0;
          for (const auto v : list) {
            out.varint(kLists, zigzag(v.raw - element));
            element = v.raw;
          }
          break;
        }
        case OpKind::kRangeRead: {
          const auto range = h.range(op);
          out.varint(kRanges, range_code.encode(range.low.raw));
          out.varint(kRanges, range_code.encode(range.high.raw));
          out.varint(kRanges, range.entries.size());
          for (const auto& entry : range.entries) {
            out.varint(kRanges, entry.key.raw);
            out.varint(kRanges, range_code.encode(entry.value.raw));
          }
          break;
        }
        case OpKind::kCompareAndSet: {
          const auto swap = h.compare_and_set(op);
          out.varint(kSwaps, swap_code.encode(swap.expected.raw));
          out.varint(kSwaps, swap_code.encode(swap.desired.raw));
          out.varint(kSwaps, swap.succeeded);
          break;
        }
        default:
          out.varint(kOpValues, op_code.encode(op.value.raw));
      }
    }
  }
  out.finish();
  return base::Ok{};
}

extern constinit const FormatSpec kCupelFormat{
    .format = Format::kCupel,
    .name = "cupel",
    .description = "its own, compressed",
    .page = "docs/formats/cupel.md",
    .extensions = {{{".cupel"}}},
    .recognize = recognize_cupel,
    .read = [](const Source& source,
               Reading reading) { return read_cupel(source.files[0].bytes, source.path, reading); },
    .write =
        [](const History& history, std::ostream& out, const WriteOptions& options) {
          return write_cupel(history, out, options.nodes == nullptr ? Nodes() : *options.nodes);
        }};

}  // namespace cupel::formats
