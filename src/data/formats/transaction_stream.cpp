// Transaction stream: see the header. What a line means is said in
// docs/reference/formats/jepsen.md.
#include "data/formats/transaction_stream.hpp"

#include <algorithm>
#include <deque>
#include <filesystem>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "data/formats/cupel_stream.hpp"
#include "data/formats/decompress.hpp"
#include "data/formats/line_pieces.hpp"
#include "data/formats/op_stream.hpp"
#include "data/formats/recording.hpp"
#include "data/formats/stream_operations.hpp"
#include "data/history/scalar.hpp"

namespace cupel::formats {

using history::Key;
using history::Moment;
using history::Operations;
using history::ScalarView;
using history::StreamedTransaction;
using history::TxnStatus;

namespace {

constexpr std::string_view kCupelMagic =
    "\x89"
    "CUPEL";

class LineTransactions final : public history::TransactionSource, private OpStream::Sink {
 public:
  LineTransactions(std::string name, LinePieces pieces, Interpretation as)
      : pieces_(std::move(pieces)), stream_(*this, std::move(name), std::move(as)) {}

  base::Result<bool> next(StreamedTransaction& out) override {
    while (given_ == ended_) {
      given_ = ended_ = 0;
      const auto more = stream_.step();
      if (!more.ok()) return cut_by_piece(more.error());
      if (*more) continue;
      if (over_) {
        if (auto finished = stream_.finish(); !finished.ok()) return std::move(finished).error();
        if (given_ == ended_) return next_open(out);
        continue;
      }
      const auto piece = pieces_.next();
      if (!piece.ok()) return piece.error();
      over_ = piece->empty();
      stream_.give(*piece);
    }
    std::swap(out, ready_[given_++]);
    return true;
  }

  [[nodiscard]] const std::vector<Initial>& initial() const override { return initial_; }
  [[nodiscard]] std::size_t key_count() const override { return uses_.size(); }
  [[nodiscard]] ScalarView key(Key key) const override { return keys_.at(key); }
  [[nodiscard]] bool is_list(Key key) const override { return (uses_[key] & OpStream::kList) != 0; }
  [[nodiscard]] const std::string& session_name(std::uint32_t session) const override {
    return sessions_[session];
  }
  [[nodiscard]] std::string fact(const std::string& name) const override {
    return stream_.fact(name);
  }

 private:
  // A map may have more lines, in the next piece.
  base::Error cut_by_piece(base::Error error) {
    if (over_ || !error.message.ends_with("truncated or corrupt")) return error;
    const auto rest = pieces_.next();
    if (rest.ok() && !rest->empty()) error.message += kNeedsTheWhole;
    return error;
  }
  // What never ended.
  base::Result<bool> next_open(StreamedTransaction& out) {
    for (; next_open_ < stream_.process_count(); ++next_open_) {
      if (!stream_.is_open(next_open_)) continue;
      const auto& process = stream_.process(next_open_++);
      out = {.session = process.session.value_or(0),
             .status = TxnStatus::kIndeterminate,
             .invoke = process.invoked.time,
             .label = process.invoked.label,
             .operations = process.tried};
      return true;
    }
    return false;
  }

  Key key_of(ScalarView name) override {
    const Key key = keys_.intern(name);
    if (key >= uses_.size()) uses_.resize(key + 1, 0);
    return key;
  }
  ScalarView name_of(Key key) override { return keys_.at(key); }
  std::uint8_t use(Key key, std::uint8_t as) override { return uses_[key] |= as; }
  void set_default_initial(ScalarView value) override { add_initial(true, 0, value); }
  void set_initial(Key key, ScalarView value) override { add_initial(false, key, value); }
  void add_initial(bool of_all, Key key, ScalarView value) {
    initial_.push_back({of_all, key, value.kind, value.integer, std::string(value.text)});
  }
  [[nodiscard]] bool has_begun() const override { return false; }
  history::Time note_set_up(history::Time ended) override {
    return set_up_ended_ = std::max(set_up_ended_, ended);
  }
  std::uint32_t session(const std::string& name) override {
    sessions_.push_back(name);
    return static_cast<std::uint32_t>(sessions_.size() - 1);
  }
  void begin(std::uint32_t /*session*/, Moment /*at*/, const Operations& /*tried*/,
             bool /*silent*/) override {}
  void end(std::uint32_t session, TxnStatus status, Moment invoked, Moment at,
           Operations& seen) override {
    if (ended_ == ready_.size()) ready_.emplace_back();
    auto& txn = ready_[ended_++];
    txn.session = session;
    txn.status = status;
    txn.invoke = invoked.time;
    txn.complete = status == TxnStatus::kCommitted ? at.time : history::kNoTime;
    txn.label = at.label;
    std::swap(txn.operations, seen);
  }

  LinePieces pieces_;
  bool over_ = false;
  std::vector<StreamedTransaction> ready_;  // [given_, ended_) have ended and are not given yet
  std::size_t given_ = 0, ended_ = 0;
  std::vector<Initial> initial_;
  history::ScalarTable keys_;
  std::vector<std::uint8_t> uses_;  // by key
  std::deque<std::string> sessions_;
  std::uint32_t next_open_ = 0;
  history::Time set_up_ended_ = history::kNoTime;
  OpStream stream_;
};

base::Result<std::unique_ptr<history::TransactionSource>> lines_of(
    const std::string& path, LinePieces::LastLine last, std::optional<std::uint64_t> first_bytes,
    const Interpretation& as) {
  auto pieces = LinePieces::open(path, last, first_bytes);
  if (!pieces.ok()) return pieces.error();
  return std::unique_ptr<history::TransactionSource>(
      std::make_unique<LineTransactions>(path, std::move(pieces).value(), as));
}

// The first bytes of the content of a file; empty where they cannot be read, which opening says
// again, and of what can be read only once.
std::string head_of(const std::string& path) {
  std::error_code unknown;
  if (!std::filesystem::is_regular_file(path, unknown)) return {};
  const auto file = MappedFile::open_as_it_is(path);
  if (!file.ok()) return {};
  if (!is_compressed(file->bytes()))
    return std::string(file->bytes().substr(0, kCupelMagic.size()));
  Decompression content(file->bytes());
  const auto piece = content.next();
  return piece.ok() ? std::string(piece->substr(0, kCupelMagic.size())) : std::string();
}

}  // namespace

bool holds_cupel(const std::string& path) {
  return !is_recording(path) && head_of(path) == kCupelMagic;
}

using Opened = base::Result<std::unique_ptr<history::TransactionSource>>;

Opened stream_transactions(const std::string& path, const Interpretation& as) {
  if (!holds_cupel(path)) return lines_of(path, LinePieces::LastLine::kLeaveOut, {}, as);
  return base::Error{.message =
                         "found a file in cupel's format, expected the JSON lines that were "
                         "watched: it is not in the order in which they came",
                     .file = path};
}

bool may_suit_the_whole(const base::Error& error) {
  return error.message.ends_with(kNeedsTheWhole) || error.message.ends_with(kOneMapALine);
}

Opened stream_history(const std::string& path, std::optional<std::uint64_t> first_bytes,
                      const Interpretation& as) {
  if (holds_cupel(path)) return stream_cupel_file(path);
  return lines_of(path, LinePieces::LastLine::kTake, first_bytes, as);
}

}  // namespace cupel::formats
