// Transaction stream: see the header. What a line means is said in docs/formats/jepsen.md.
#include "formats/transaction_stream.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <fstream>
#include <map>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "base/hash_table.hpp"
#include "base/newlines.hpp"
#include "formats/cupel_stream.hpp"
#include "formats/decompress.hpp"
#include "formats/jepsen_events.hpp"
#include "formats/line_pieces.hpp"
#include "formats/op_pairing.hpp"
#include "formats/recording.hpp"
#include "history/starts_empty.hpp"

namespace cupel::formats {

using history::Key;
using history::kNoTime;
using history::Operations;
using history::OpKind;
using history::ScalarView;
using history::StreamedTransaction;
using history::Time;
using history::TxnStatus;
using history::Value;
using jepsen::Cell;
using jepsen::Chunk;
using jepsen::Event;
using jepsen::F;
using jepsen::Micro;
using jepsen::MicroOp;
using jepsen::Tag;
using jepsen::Type;

namespace {

constexpr std::string_view kCupelMagic =
    "\x89"
    "CUPEL";

// A scalar as the reader of whole files has it. `text` is for those that are spelled anew.
ScalarView scalar_of(const Chunk& chunk, const Cell& cell, std::string& text) {
  switch (cell.tag) {
    case Tag::kAbsent:
    case Tag::kNull:
      return ScalarView::null();
    case Tag::kInteger:
      return ScalarView::of(cell.integer);
    case Tag::kString:
      return ScalarView::of(cell.view());
    case Tag::kKeyword:
      return ScalarView::keyword(cell.view());
    default:
      text.clear();
      canonical(chunk, cell, text);
      return ScalarView::literal(text);
  }
}

class JsonLines final : public history::TransactionSource {
 public:
  JsonLines(std::string name, LinePieces pieces, Interpretation as)
      : name_(std::move(name)), pieces_(std::move(pieces)), as_(std::move(as)) {}

  base::Result<bool> next(StreamedTransaction& out) override {
    while (true) {
      if (chunk_ < chunks_.size()) {
        auto& chunk = chunks_[chunk_];
        if (event_ == chunk.events.size()) {
          if (chunk.error) return wrong(chunk.error->byte, chunk.error->message);
          ++chunk_;
          event_ = 0;
          continue;
        }
        const Event& event = chunk.events[event_++];
        auto ended = take(chunk, event, out);
        ++ordinal_;
        if (!ended.ok()) return wrong(event.byte, ended.error().message);
        if (*ended) return true;
        continue;
      }
      if (over_) return next_open(out);
      lines_ += base::count_newlines(piece_);
      auto piece = pieces_.next();
      if (!piece.ok()) return piece.error();
      piece_ = *piece;
      over_ = piece_.empty();
      chunks_ = over_ ? std::vector<Chunk>() : jepsen::parse_json(piece_, 1);
      chunk_ = event_ = 0;
    }
  }

  [[nodiscard]] const std::vector<Initial>& initial() const override { return initial_; }
  [[nodiscard]] std::size_t key_count() const override { return key_use_.size(); }
  [[nodiscard]] ScalarView key(Key key) const override { return keys_.at(key); }
  [[nodiscard]] bool is_list(Key key) const override { return (key_use_[key] & kList) != 0; }
  [[nodiscard]] const std::string& session_name(std::uint32_t session) const override {
    return sessions_[session].name;
  }

  [[nodiscard]] std::string fact(const std::string& name) const override {
    if (name == "ignored") {
      std::string lines;
      for (const auto& [f, count] : ignored_)
        lines += fmt::format("{}{} {}", lines.empty() ? "" : "\n", count, f);
      return lines;
    }
    if (name == "times" && timed_ == false) return "line order";
    if (name == "kind" && of_transactions_ == false) {
      const auto counted =
          keys_.size() == 1 ? std::string("1 key") : fmt::format("{} keys", keys_.size());
      return fmt::format("registers{}, {}", compares_ ? " with compare-and-set" : "", counted);
    }
    if (name == "kind" && objects_) return "transactions, and single operations as such";
    const auto found = facts_.find(name);
    return found == facts_.end() ? std::string() : found->second;
  }

 private:
  enum : std::uint8_t { kRegister = 1, kList = 2 };
  struct Session {
    std::string name;
    jepsen::OpenOperation rules;
    Time invoked = kNoTime;
    std::uint32_t label = 0;
    Operations tried;
  };

  base::Error wrong(std::uint64_t byte, std::string message) const {
    return {.message = std::move(message),
            .file = name_,
            .line = lines_ + 1 + base::count_newlines(piece_.substr(0, byte))};
  }
  static base::Error wrong(std::string message) { return {.message = std::move(message)}; }

  // Whether a transaction has ended with it.
  base::Result<bool> take(const Chunk& chunk, const Event& event, StreamedTransaction& out) {
    if (event.is_header()) return header(chunk, event);
    if (!event.client) return false;
    if (!as_.ignore.empty() && as_.ignores(word(chunk, event))) {
      ++ignored_[std::string(word(chunk, event))];
      return false;
    }
    if (event.process.tag == Tag::kAbsent) return wrong("found an operation without a process");
    const auto number = session_of(event);
    const bool txn = sessions_[number].rules.completes_txn(event);
    if (auto fit = classify(chunk, event, txn); !fit.ok()) return std::move(fit).error();
    if (event.type == Type::kInvoke) return invoke(chunk, event, sessions_[number]);
    return complete(chunk, event, number, out);
  }

  // Transactions, or operations on registers. Those on registers of several keys may also stand
  // beside transactions.
  base::Status classify(const Chunk& chunk, const Event& event, bool txn) {
    const bool setup = event.f == F::kSetup && of_transactions_ != true &&
                       (event.type != Type::kInvoke || jepsen::is_pair(chunk, event));
    const bool on_register =
        setup || event.f == F::kRead || event.f == F::kWrite || event.f == F::kCas;
    if (!txn && !on_register) {
      return wrong(of_transactions_ == true
                       ? jepsen::left_out(word(chunk, event), 1)
                       : std::string("found operations that are neither transactions nor of "
                                     "registers"));
    }
    const auto pair = txn ? std::optional<bool>() : jepsen::is_pair(chunk, event);
    if (!of_transactions_) {
      if (as_.kind && *as_.kind != Workload::kTransactions &&
          (txn || *as_.kind != Workload::kRegisters)) {
        return wrong(fmt::format("found operations of another kind than --kind {}",
                                 formats::name(*as_.kind)));
      }
      of_transactions_ = txn || as_.kind == Workload::kTransactions;
    }
    if (txn && !*of_transactions_) {
      if (pairs_ != true || as_.kind)
        return wrong("found a transaction after operations on registers");
      of_transactions_ = objects_ = true;
    } else if (!txn && *of_transactions_) {
      objects_ = true;
      pairs_ = true;
      const bool counts = event.type == Type::kInvoke || event.type == Type::kOk;
      if (counts && pair != true) return wrong(jepsen::left_out(word(chunk, event), 1));
    }
    return base::Ok{};
  }

  base::Result<bool> header(const Chunk& chunk, const Event& event) {
    if (of_transactions_) return wrong("found a header line after the first operation");
    if (event.f == F::kSessions) return false;
    const Cell value = chunk.values[event.first];
    if (event.f == F::kMetadata) return metadata(chunk, event, value);
    if (!value.is_vector() || value.size != 2 || !chunk.child(value, 1).is_vector()) {
      return wrong(jepsen::malformed_header(event.f));
    }
    const auto add = [&](bool of_all, Key key, const Cell& cell) {
      std::string text;
      const auto scalar = scalar_of(chunk, cell, text);
      initial_.push_back({of_all, key, scalar.kind, scalar.integer, std::string(scalar.text)});
    };
    add(true, 0, chunk.child(value, 0));
    note_written(chunk.child(value, 0));
    const Cell pairs = chunk.child(value, 1);
    base::HashSet<Key> keys;
    for (std::size_t i = 0; i < pairs.size; ++i) {
      const Cell pair = chunk.child(pairs, i);
      if (!pair.is_vector() || pair.size != 2) return wrong(jepsen::malformed_header(event.f));
      const Key key = key_of(chunk, chunk.child(pair, 0));
      if (!keys.insert(key).second) {
        return wrong(fmt::format("found two initial values of key {}", keys_.at(key).to_string()));
      }
      add(false, key, chunk.child(pair, 1));
      if (!history::starts_empty(initial_.back().value())) {
        key_use_[key] |= kRegister;
        note_written(chunk.child(pair, 1));
      }
    }
    return false;
  }

  base::Result<bool> metadata(const Chunk& chunk, const Event& event, const Cell& value) {
    for (std::size_t i = 0; value.is_vector() && i < value.size; ++i) {
      const Cell pair = chunk.child(value, i);
      if (!pair.is_vector() || pair.size != 2) return wrong(jepsen::malformed_header(event.f));
      facts_.insert_or_assign(std::string(chunk.child(pair, 0).view()),
                              std::string(chunk.child(pair, 1).view()));
    }
    return false;
  }

  std::uint32_t session_of(const Event& event) {
    if (event.process.tag == Tag::kInteger) {
      const auto known = by_number_.find(event.process.integer);
      if (known != by_number_.end()) return known->second;
      sessions_.emplace_back().name = std::to_string(event.process.integer);
      const auto session = static_cast<std::uint32_t>(sessions_.size() - 1);
      by_number_.emplace(event.process.integer, session);
      return session;
    }
    std::string name =
        (event.process.tag == Tag::kKeyword ? ":" : "") + std::string(event.process.view());
    const auto [at, fresh] =
        by_name_.try_emplace(name, static_cast<std::uint32_t>(sessions_.size()));
    if (fresh) sessions_.emplace_back().name = std::move(name);
    return at->second;
  }

  // With a clock, or in the order of the lines.
  base::Status note_times(const Event& event) {
    if (event.type == Type::kInfo || event.type == Type::kFail) return base::Ok{};
    if (!timed_) timed_ = event.time != kNoTime;
    if (*timed_ == (event.time != kNoTime)) return base::Ok{};
    return wrong("found operations with a time and others without");
  }
  [[nodiscard]] Time time_of(const Event& event) const {
    return timed_ == true ? event.time : static_cast<Time>(ordinal_);
  }
  [[nodiscard]] std::uint32_t label_of(const Event& event) const {
    const auto label = event.index >= 0 ? static_cast<std::uint64_t>(event.index) : ordinal_;
    return static_cast<std::uint32_t>(std::min<std::uint64_t>(label, 0xffffffff));
  }

  base::Result<bool> invoke(const Chunk& chunk, const Event& event, Session& session) {
    if (auto refused = session.rules.invoke(event)) return wrong(*std::move(refused));
    if (auto good = note_times(event); !good.ok()) return std::move(good).error();
    session.invoked = time_of(event);
    session.label = label_of(event);
    if (auto read = operations(chunk, event, false, session.tried); !read.ok()) {
      return std::move(read).error();
    }
    return false;
  }

  base::Result<bool> complete(const Chunk& chunk, const Event& event, std::uint32_t number,
                              StreamedTransaction& out) {
    Session& session = sessions_[number];
    const bool open = session.rules.open, txn = session.rules.completes_txn(event);
    if (auto refused = session.rules.complete(event)) return wrong(*std::move(refused));
    if (!open && event.type == Type::kOk) {
      return wrong("found a completion without an invocation");
    }
    if (auto good = note_times(event); !good.ok()) return std::move(good).error();
    const bool committed = event.type == Type::kOk;
    out.session = number;
    out.status = committed                   ? TxnStatus::kCommitted
                 : event.type == Type::kFail ? TxnStatus::kAborted
                                             : TxnStatus::kIndeterminate;
    out.invoke = open ? session.invoked : kNoTime;
    out.complete = committed ? time_of(event) : kNoTime;
    out.label = label_of(event);
    // A completion says again what was done, or only how it ended.
    const bool says =
        txn ? event.is_txn
            : !open ||
                  (committed && (event.f == F::kRead || !chunk.values[event.first].is_nothing()));
    if (says) {
      if (auto read = operations(chunk, event, committed, out.operations); !read.ok()) {
        return std::move(read).error();
      }
    }
    if (open) {
      const auto agreed = says ? jepsen::agreement(session.tried, out.operations, event.type)
                               : jepsen::Agreement{.completion_counts = false};
      if (agreed.refusal) return wrong(*agreed.refusal);
      if (!txn && says && jepsen::reads_another_value(session.tried, out.operations))
        return wrong(jepsen::kInvokedWithAValue);
      if (!agreed.completion_counts) {
        out.operations.clear();
        out.operations.append(session.tried);
      }
    }
    session.rules.open = false;
    return true;
  }

  // What never ended.
  base::Result<bool> next_open(StreamedTransaction& out) {
    for (; next_open_ < sessions_.size(); ++next_open_) {
      auto& session = sessions_[next_open_];
      if (!session.rules.open) continue;
      out.session = next_open_++;
      out.status = TxnStatus::kIndeterminate;
      out.invoke = session.invoked;
      out.complete = kNoTime;
      out.label = session.label;
      out.operations.clear();
      out.operations.append(session.tried);
      return true;
    }
    return false;
  }

  // --- operations ---

  Key key_of(const Chunk& chunk, const Cell& cell) {
    const auto key = cell.tag == Tag::kInteger ? keys_.intern(cell.integer)
                                               : keys_.intern(scalar_of(chunk, cell, text_));
    if (key >= key_use_.size()) key_use_.resize(key + 1, 0);
    return key;
  }
  Value value_of(const Chunk& chunk, const Cell& cell, Operations& out) {
    return out.keep(scalar_of(chunk, cell, text_));
  }
  base::Status use(Key key, std::uint8_t as) {
    key_use_[key] |= as;
    if (key_use_[key] != (kRegister | kList)) return base::Ok{};
    return wrong(
        fmt::format("found key {} used both as a list and as a register; a list starts empty",
                    keys_.at(key).to_string()));
  }

  // `seen`: as the database answered; else as the client asked.
  base::Status operations(const Chunk& chunk, const Event& event, bool seen, Operations& out) {
    out.clear();
    if (!event.is_txn) return single(chunk, event, seen, out);
    for (auto i = event.first; i < event.first + event.count; ++i) {
      if (auto taken = operation(chunk, chunk.ops[i], seen, out); !taken.ok()) return taken;
    }
    return base::Ok{};
  }

  base::Status operation(const Chunk& chunk, const MicroOp& op, bool seen, Operations& out) {
    const auto write = [&](OpKind kind, std::uint8_t as) -> base::Status {
      const Key key = key_of(chunk, op.key);
      if (auto used = use(key, as); !used.ok()) return used;
      if (as == kRegister) note_written(op.value);
      out.write(kind, key, value_of(chunk, op.value, out));
      return base::Ok{};
    };
    switch (op.kind()) {
      case Micro::kWrite:
        return write(OpKind::kWrite, kRegister);
      case Micro::kInsert:
        return write(OpKind::kInsert, kRegister);
      case Micro::kDelete:
        return write(OpKind::kDelete, kRegister);
      case Micro::kAppend:
        return write(OpKind::kAppend, kList);
      case Micro::kRange:
        return range_read(chunk, op, seen, out);
      case Micro::kRead:
        return read(chunk, op, seen, out);
      case Micro::kCas:
        break;
    }
    const Key key = key_of(chunk, op.key);
    if (auto used = use(key, kRegister); !used.ok()) return used;
    note_written(chunk.child(op.value, 1));
    const auto expected = value_of(chunk, chunk.child(op.value, 0), out);
    out.compare_and_set(key, expected, value_of(chunk, chunk.child(op.value, 1), out),
                        op.value.note == 0);
    return base::Ok{};
  }

  base::Status range_read(const Chunk& chunk, const MicroOp& op, bool seen, Operations& out) {
    if (op.value.is_nothing() && seen) return wrong("found a range read without what it saw");
    const auto low = value_of(chunk, chunk.child(op.key, 0), out);
    out.range_read(low, value_of(chunk, chunk.child(op.key, 1), out));
    for (std::size_t i = 0; i < op.value.size; ++i) {
      const Cell entry = chunk.child(op.value, i);
      const Key key = key_of(chunk, chunk.child(entry, 0));
      if (auto used = use(key, kRegister); !used.ok()) return used;
      out.entry(key, value_of(chunk, chunk.child(entry, 1), out));
    }
    return base::Ok{};
  }

  base::Status read(const Chunk& chunk, const MicroOp& op, bool seen, Operations& out) {
    const Key key = key_of(chunk, op.key);
    const bool known = seen && op.value.note == 0;
    if (op.value.is_vector() && (key_use_[key] & kRegister) == 0) {
      key_use_[key] |= kList;
      out.list_read(key, known);
      for (std::size_t i = 0; known && i < op.value.size; ++i) {
        out.element(value_of(chunk, chunk.child(op.value, i), out));
      }
      return base::Ok{};
    }
    if (known && !op.value.is_nothing()) {
      if (auto used = use(key, kRegister); !used.ok()) return used;
    }
    if (known && !collection_written_ && jepsen::is_collection(op.value) && !as_.kind) {
      return wrong(jepsen::collection_read(shown(chunk, op.value), *of_transactions_
                                                                       ? Workload::kTransactions
                                                                       : Workload::kRegisters));
    }
    out.read(key, value_of(chunk, op.value, out), known);
    return base::Ok{};
  }
  void note_written(const Cell& value) {
    collection_written_ = collection_written_ || jepsen::is_collection(value);
  }

  base::Status single(const Chunk& chunk, const Event& event, bool seen, Operations& out) {
    if (!pairs_) pairs_ = jepsen::is_pair(chunk, event);
    if (jepsen::reads_without_key(chunk, event)) {
      if (pairs_ == true) return wrong(jepsen::kReadWithoutKey);
      pairs_ = false;
    }
    auto found = jepsen::register_operation(chunk, event, pairs_ == true);
    if (found.refusal) return wrong(*std::move(found.refusal));
    if (!*of_transactions_) {
      if (auto used = use(key_of(chunk, found.op.key), kRegister); !used.ok()) return used;
    }
    compares_ = compares_ || found.op.kind() == Micro::kCas;
    return operation(chunk, found.op, seen, out);
  }

  const std::string name_;
  LinePieces pieces_;
  std::string_view piece_;
  std::vector<Chunk> chunks_;
  std::size_t chunk_ = 0, event_ = 0;
  bool over_ = false;
  std::uint64_t lines_ = 0, ordinal_ = 0;
  const Interpretation as_;
  std::optional<bool> of_transactions_, pairs_, timed_;
  bool objects_ = false;  // operations on registers beside transactions
  bool compares_ = false, collection_written_ = false;
  std::vector<Initial> initial_;
  std::map<std::string, std::string> facts_;
  std::map<std::string, std::uint64_t> ignored_;  // op maps, by f
  history::ScalarTable keys_;
  std::vector<std::uint8_t> key_use_;
  base::HashMap<std::int64_t, std::uint32_t> by_number_;
  base::HashMap<std::string, std::uint32_t> by_name_;
  std::deque<Session> sessions_;
  std::uint32_t next_open_ = 0;
  std::string text_;
};

}  // namespace

base::Result<std::unique_ptr<history::TransactionSource>> stream_transactions(
    const std::string& path, const Interpretation& as) {
  std::ifstream file(path == "-" ? "" : path, std::ios::binary);
  std::string head(kCupelMagic.size(), '\0');
  if (file.read(head.data(), static_cast<std::streamsize>(head.size())) && head == kCupelMagic) {
    return base::Error{.message =
                           "found a file in cupel's format, expected the JSON lines that "
                           "were watched: it is not in the order in which they came",
                       .file = path};
  }
  auto pieces = LinePieces::open(path);
  if (!pieces.ok()) return pieces.error();
  return std::unique_ptr<history::TransactionSource>(
      std::make_unique<JsonLines>(path, std::move(pieces).value(), as));
}

namespace {

// The first bytes of the content; empty where they cannot be read, which opening says again.
std::string head_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::string head(kCupelMagic.size(), '\0');
  file.read(head.data(), static_cast<std::streamsize>(head.size()));
  head.resize(static_cast<std::size_t>(file.gcount()));
  if (!is_compressed(head)) return head;
  const auto packed = MappedFile::open_as_it_is(path);
  if (!packed.ok()) return {};
  Decompression content(packed->bytes());
  const auto piece = content.next();
  return piece.ok() ? std::string(piece->substr(0, kCupelMagic.size())) : std::string();
}

}  // namespace

bool holds_cupel(const std::string& path) {
  return !is_recording(path) && head_of(path) == kCupelMagic;
}

base::Result<std::unique_ptr<history::TransactionSource>> stream_history(
    const std::string& path, std::optional<std::uint64_t> first_bytes, const Interpretation& as) {
  if (holds_cupel(path)) return stream_cupel_file(path);
  auto pieces = LinePieces::open(path, LinePieces::LastLine::kTake, first_bytes);
  if (!pieces.ok()) return pieces.error();
  return std::unique_ptr<history::TransactionSource>(
      std::make_unique<JsonLines>(path, std::move(pieces).value(), as));
}

}  // namespace cupel::formats
