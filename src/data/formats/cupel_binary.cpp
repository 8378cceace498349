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
#include "data/formats/cupel_binary.hpp"

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
#include "data/formats/byte_cursor.hpp"
#include "data/formats/cupel_columns.hpp"
#include "data/history/builder.hpp"
#include "data/history/facts.hpp"
#include "data/history/single_op.hpp"

namespace cupel::formats {

using namespace history;
using namespace cupel_file;

namespace {

constexpr int kZstdLevel = 6;

template <typename Integer>
void put_little(std::string& out, Integer value) {
  for (std::size_t i = 0; i < sizeof value; ++i) out += static_cast<char>(value >> (8 * i));
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
  // Verdicts alone would hide these facts: of lost writes, of a part, of what was left out.
  void set_metadata(const std::string& name, const std::string& /*text*/) {
    for (const char* one : {kDataGone, kFinalReadsFailed, kPart, kCut, kIgnored, kNotIgnored}) {
      if (name == one) throw Declined{};
    }
  }
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
    .page = "docs/reference/formats/cupel.md",
    .extensions = {{{".cupel"}}},
    .recognize = recognize_cupel,
    .read = [](const Source& source,
               Reading reading) { return read_cupel(source.files[0].bytes, source.path, reading); },
    .write =
        [](const History& history, std::ostream& out, const WriteOptions& options) {
          return write_cupel(history, out, options.nodes == nullptr ? Nodes() : *options.nodes);
        }};

}  // namespace cupel::formats
