// plume text. The lines of a transaction may be apart from each other (a
// recorder that interleaves its sessions), and HistoryBuilder wants whole
// transactions; so operations are scanned into a column first, then handed over
// transaction by transaction, after a counting sort if any was in pieces.
// The scanner reads each byte once, ahead of those who intern what it found.
#include "data/formats/plume.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <ostream>
#include <unordered_set>
#include <vector>

#include "base/hash_table.hpp"
#include "base/offsets.hpp"
#include "base/pipeline.hpp"
#include "data/formats/input.hpp"
#include "data/formats/integer_registers.hpp"
#include "data/formats/lost_facts.hpp"
#include "data/history/builder.hpp"
#include "data/history/naming.hpp"

namespace cupel::formats {

using namespace history;

namespace {

constexpr std::int64_t kAbortedTxn = -1;
constexpr std::string_view kExpected = "expected r(key,value,session,transaction) or w(…)";

constexpr std::size_t kPrefetchAhead = 16;

struct ScannedOp {
  KeyId key;
  ValueId value;
  std::uint32_t txn;
  bool write;
};

struct ScannedTxn {
  std::uint64_t line;  // of its first operation
  std::int64_t id;
  std::uint32_t session;
};

// An operation as it is written, but for its key.
struct RawOp {
  KeyId key;
  std::int64_t value, session, txn;
  std::uint64_t line;
  bool write;
};

struct Piece {
  std::vector<RawOp> ops;
  const char* malformed = nullptr;  // the line after them, if it is no operation
  std::uint64_t line = 0;           // its number
};

class Scanner {
 public:
  // The keys become the builder's.
  Scanner(std::string_view bytes, HistoryBuilder& builder, Reading reading)
      : p_(bytes.data()), end_(bytes.data() + bytes.size()), builder_(builder), reading_(reading) {}

  // The next operations; false: there are none. May throw Stopped.
  bool next(Piece& piece) {
    const base::AllocationWatch watch(reading_.budget());
    scan(piece);
    for (std::size_t i = 0; i < keys_.size(); ++i) {
      if (i + kPrefetchAhead < keys_.size()) builder_.prefetch_key(keys_[i + kPrefetchAhead]);
      piece.ops[i].key = builder_.key(keys_[i]);
    }
    return !piece.ops.empty() || piece.malformed != nullptr;
  }

 private:
  static constexpr std::size_t kOps = 4096;

  void scan(Piece& piece) {
    piece.ops.clear();
    piece.ops.reserve(kOps);
    piece.malformed = nullptr;
    keys_.clear();
    while (p_ != end_ && piece.ops.size() < kOps) {
      ++line_;
      reading_.step(p_);
      skip();
      if (p_ == end_) break;
      if (*p_ == '\n') {
        ++p_;
        continue;
      }
      const char* const begin = p_;
      RawOp op;
      std::int64_t key = 0;
      op.line = line_;
      op.write = *p_ == 'w';
      bool well = (*p_ == 'r' || *p_ == 'w') && take(++p_, '(') && scan_integer(p_, end_, key) &&
                  take(p_, ',') && scan_integer(p_, end_, op.value) && take(p_, ',') &&
                  scan_integer(p_, end_, op.session) && take(p_, ',') &&
                  scan_integer(p_, end_, op.txn) && take(p_, ')');
      if (well) {
        skip();
        well = p_ == end_ || *p_++ == '\n';
      }
      if (!well) {
        piece.malformed = begin;
        piece.line = line_;
        p_ = end_;
        return;
      }
      piece.ops.push_back(op);
      keys_.push_back(key);
    }
  }

  void skip() {
    while (p_ != end_ && (*p_ == ' ' || *p_ == '\t' || *p_ == '\r')) ++p_;
  }
  // Spaces after a comma are tolerated: some recorders print them.
  bool take(const char*& p, char expected) const {
    if (p == end_ || *p != expected) return false;
    ++p;
    while (p != end_ && *p == ' ') ++p;
    return true;
  }

  const char* p_;
  const char* const end_;
  std::uint64_t line_ = 0;
  HistoryBuilder& builder_;
  std::vector<std::int64_t> keys_;  // of the piece
  Reading reading_;
};

class Reader {
 public:
  Reader(std::string_view bytes, const std::string& file, unsigned threads, Reading reading)
      : bytes_(bytes), file_(file), threads_(threads), reading_(reading) {}

  base::Result<History> run() {
    builder_.set_default_initial(builder_.value(0), /*unless_written=*/true);
    builder_.set_metadata("format", "plume");
    ops_.reserve(bytes_.size() / 24);
    Scanner scanner(bytes_, builder_, reading_);
    std::optional<base::Error> error;
    base::pipeline<Piece>(
        bytes_.size() < kSmall ? 1 : threads_, [&](Piece& piece) { return scanner.next(piece); },
        [&](const Piece& piece) {
          auto taken = take(piece);
          if (!taken.ok()) error = std::move(taken).error();
          return !error;
        });
    if (error) return *std::move(error);
    if (ops_.empty()) {
      return base::Error{.message = fmt::format("found no operation, {}", kExpected),
                         .file = file_};
    }
    return build();
  }

 private:
  base::Status take(const Piece& piece) {
    const auto& all = piece.ops;
    for (std::size_t i = 0; i < all.size(); ++i) {
      if (i + kPrefetchAhead < all.size()) builder_.prefetch_value(all[i + kPrefetchAhead].value);
      const RawOp& op = all[i];
      if (op.session != session_ || op.txn != txn_ || current_ == kNone) {
        auto found = enter(op.session, op.txn, op.line);
        if (!found.ok()) return found;
      }
      if (ops_.size() >= 0xfffffffe) return too_many(op.line);
      ops_.push_back({op.key, builder_.value(op.value), current_, op.write});
    }
    if (piece.malformed == nullptr) return base::Ok{};
    const auto offset = static_cast<std::size_t>(piece.malformed - bytes_.data());
    return base::Error{
        .message = fmt::format("found {}, {} in decimal, at most 9223372036854775807",
                               shown(line_at(bytes_, offset).text), kExpected),
        .file = file_,
        .line = piece.line};
  }

  base::Error too_many(std::uint64_t line) const {
    return {.message = "more than 4294967294 operations", .file = file_, .line = line};
  }

  // Makes (session, txn) the current transaction; a new one if it must be.
  base::Status enter(std::int64_t session, std::int64_t txn, std::uint64_t line) {
    if (txn < kAbortedTxn || txn > 0xfffffffeLL) {
      return base::Error{
          .message =
              fmt::format("found the transaction id {}, expected -1 (aborted) to 4294967294", txn),
          .file = file_,
          .line = line};
    }
    session_ = session;
    txn_ = txn;
    const auto [place, fresh_session] = session_index_.try_emplace(session, last_txn_.size());
    const std::uint32_t s = static_cast<std::uint32_t>(place->second);
    if (fresh_session) {
      builder_.session(std::to_string(session));
      last_txn_.push_back(kNone);
    }
    if (txn == kAbortedTxn) {
      // Nothing separates two aborted transactions in a row: they are one.
      const auto last = last_txn_[s];
      if (last != kNone && txns_[last].id == kAbortedTxn) {
        in_pieces_ = true;  // ops of another session came between
        current_ = last;
        return base::Ok{};
      }
    } else {
      const auto [known, fresh] =
          txn_index_.try_emplace(txn, static_cast<std::uint32_t>(txns_.size()));
      if (!fresh) {
        const auto& other = txns_[known->second];
        if (other.session != s) {
          return base::Error{
              .message =
                  fmt::format("found transaction id {} in session {}, which another session used "
                              "on line {}; expected ids that no two sessions share",
                              txn, session, other.line),
              .file = file_,
              .line = line};
        }
        in_pieces_ = true;
        current_ = known->second;
        return base::Ok{};
      }
    }
    current_ = static_cast<std::uint32_t>(txns_.size());
    txns_.push_back({line, txn, s});
    last_txn_[s] = current_;
    return base::Ok{};
  }

  base::Result<History> build() {
    if (in_pieces_) {
      auto first = base::offsets_by(txns_.size(), ops_, [](const ScannedOp& op) { return op.txn; });
      std::vector<ScannedOp> sorted(ops_.size());
      for (const auto& op : ops_) sorted[first[op.txn]++] = op;
      ops_ = std::move(sorted);
    }
    for (std::size_t i = 0; i < ops_.size();) {
      reading_.step();
      const auto t = ops_[i].txn;
      const auto& txn = txns_[t];
      const bool aborted = txn.id == kAbortedTxn;
      builder_.begin(SessionId(txn.session), aborted ? TxnStatus::kAborted : TxnStatus::kCommitted,
                     {.label = static_cast<std::uint32_t>(
                          aborted ? static_cast<std::int64_t>(txn.line) : txn.id)});
      for (; i < ops_.size() && ops_[i].txn == t; ++i) {
        if (ops_[i].write)
          builder_.write(ops_[i].key, ops_[i].value);
        else
          builder_.read(ops_[i].key, ops_[i].value);
      }
      builder_.end();
    }
    auto history = std::move(builder_).finish();
    if (!history.ok()) return base::Error{.message = history.error().message, .file = file_};
    return history;
  }

  static constexpr std::uint32_t kNone = 0xffffffff;
  static constexpr std::size_t kSmall = 1 << 20;  // bytes, for which no other thread is begun
  std::string_view bytes_;
  const std::string& file_;
  unsigned threads_;
  Reading reading_;
  HistoryBuilder builder_;
  std::vector<ScannedOp> ops_;
  std::vector<ScannedTxn> txns_;
  std::vector<std::uint32_t> last_txn_;  // of each session
  base::HashMap<std::int64_t, std::size_t> session_index_;
  base::HashMap<std::int64_t, std::uint32_t> txn_index_;
  std::int64_t session_ = 0, txn_ = 0;  // of the line before
  std::uint32_t current_ = kNone;       // none before the first line
  bool in_pieces_ = false;
};

}  // namespace

Match recognize_plume(std::string_view bytes) {
  const auto head = bytes.substr(0, kHeadBytes);
  const auto start = head.find_first_not_of(" \t\r\n");
  const bool begins = start != head.npos && head.size() > start + 1 &&
                      (head[start] == 'r' || head[start] == 'w') && head[start + 1] == '(';
  return begins ? Match::kBegins : Match::kNo;
}

base::Result<History> read_plume(std::string_view bytes, const std::string& file, unsigned threads,
                                 Reading reading) {
  return Reader(bytes, file, threads, reading).run();
}

base::Status write_plume(const History& h, std::ostream& out) {
  if (auto fits = fits_integer_registers(h, {.format = "plume", .aborted = true}); !fits.ok())
    return fits;
  // Two aborted transactions in a row would come back as one.
  for (std::size_t i = 1; i < h.txn_count(); ++i) {
    const TxnId before(i - 1), t(i);
    if (h.session(before) == h.session(t) && h.status(before) == TxnStatus::kAborted &&
        h.status(t) == TxnStatus::kAborted) {
      return base::Error{
          .message = fmt::format("{} and {} are both aborted, and plume cannot distinguish two "
                                 "aborted transactions in a row apart: "
                                 "write dbcop, jepsen or cupel instead",
                                 transaction_name(h, before), transaction_in_full(h, t))};
    }
  }
  // A transaction keeps its own id if no two share one, else all are numbered anew.
  std::unordered_set<std::uint32_t> labels;
  bool own_ids = true;
  for (std::size_t i = 0; i < h.txn_count() && own_ids; ++i) {
    if (h.status(TxnId(i)) == TxnStatus::kCommitted)
      own_ids = labels.insert(h.label(TxnId(i))).second;
  }
  fmt::memory_buffer text;
  for (std::size_t i = 0; i < h.txn_count(); ++i) {
    const TxnId t(i);
    const std::int64_t id = h.status(t) == TxnStatus::kAborted ? kAbortedTxn
                            : own_ids                          ? h.label(t)
                                                               : static_cast<std::int64_t>(i);
    for (auto o = h.first_op(t); o < h.last_op(t); ++o) {
      const auto op = h.op(OpId(o));
      fmt::format_to(std::back_inserter(text), "{}({},{},{},{})\n",
                     op.kind == OpKind::kWrite ? 'w' : 'r', integer_key(h, op.key),
                     integer_value(h, op.key, op.value), h.session(t).raw, id);
    }
    if (text.size() > (1 << 20) || i + 1 == h.txn_count()) {
      out.write(text.data(), static_cast<std::streamsize>(text.size()));
      text.clear();
    }
  }
  return base::Ok{};
}

extern constinit const FormatSpec kPlumeFormat{
    .format = Format::kPlume,
    .name = "plume",
    .description = "`r(1,2,0,7)`",
    .page = "docs/reference/formats/plume.md",
    .example = "w(0,1,0,0)\nr(0,1,1,1)\n",
    .extensions = {{{".plume"}}},
    .recognize = recognize_plume,
    .read =
        [](const Source& source, Reading reading) {
          return read_plume(source.files[0].bytes, source.path, source.threads, reading);
        },
    .write = [](const History& history, std::ostream& out,
                const WriteOptions&) { return write_plume(history, out); },
    .lost =
        [](const History& history) {
          return lost_facts(history, {.transaction_numbers = true, .empty_sessions = false});
        }};

}  // namespace cupel::formats
