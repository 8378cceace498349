// Cupel stream: see the header.
#include "data/formats/cupel_stream.hpp"

#include <filesystem>
#include <fstream>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "base/hash_table.hpp"
#include "base/temp_dir.hpp"
#include "data/formats/cupel_binary.hpp"
#include "data/formats/cupel_columns.hpp"
#include "data/formats/decompress.hpp"
#include "data/formats/packed_scalars.hpp"

namespace cupel::formats {

using history::KeyId;
using history::kNoTime;
using history::OpKind;
using history::RangeEntry;
using history::ScalarView;
using history::SessionId;
using history::StreamedTransaction;
using history::TransactionSource;
using history::TxnStatus;
using history::ValueId;

namespace {

// What a History holds of each: history.hpp.
constexpr std::uint64_t kBytesOfOperation = 9, kBytesOfTransaction = 16;

// Takes what a HistoryBuilder takes, and has one transaction at a time.
class Taker {
 public:
  KeyId key(ScalarView scalar) {
    const auto id = keys_.intern(scalar);
    lists_.resize(keys_.size(), 0);
    return KeyId(id);
  }
  ValueId value(ScalarView scalar) {
    values_.add(scalar);
    return ValueId(values_.size() - 1);
  }
  SessionId session(const std::string& name) {
    const auto [at, fresh] =
        numbers_.try_emplace(name, static_cast<std::uint32_t>(sessions_.size()));
    if (fresh) sessions_.push_back(name);
    return SessionId(at->second);
  }
  void set_metadata(const std::string& name, const std::string& text) {
    metadata_.insert_or_assign(name, text);
  }
  void set_default_initial(ValueId value) { add_initial(true, KeyId(0), value); }
  void set_initial(KeyId key, ValueId value) { add_initial(false, key, value); }

  // The transaction that comes next is written here. Borrowed.
  void into(StreamedTransaction& out) { out_ = &out; }

  void begin(SessionId session, TxnStatus status, const history::HistoryBuilder::TxnFacts& facts) {
    out_->session = session.raw;
    out_->status = status;
    out_->invoke = facts.invoke;
    out_->complete = status == TxnStatus::kCommitted ? facts.complete : kNoTime;
    out_->label = facts.label;
    out_->operations.clear();
  }
  void read(KeyId key, ValueId value) {
    out_->operations.read(key.raw, value.valid() ? keep(value) : history::Value(), value.valid());
  }
  void write(KeyId key, ValueId value) { write(OpKind::kWrite, key, value); }
  void append(KeyId key, ValueId value) {
    lists_[key.index()] = 1;
    write(OpKind::kAppend, key, value);
  }
  void insert(KeyId key, ValueId value) { write(OpKind::kInsert, key, value); }
  void erase(KeyId key, ValueId value) { write(OpKind::kDelete, key, value); }
  void compare_and_set(KeyId key, ValueId expected, ValueId desired, bool succeeded) {
    const auto saw = keep(expected);
    out_->operations.compare_and_set(key.raw, saw, keep(desired), succeeded);
  }
  void list_read(KeyId key, std::span<const ValueId> elements) {
    lists_[key.index()] = 1;
    out_->operations.list_read(key.raw, true);
    for (const auto element : elements) out_->operations.element(keep(element));
  }
  void list_read_unknown(KeyId key) {
    lists_[key.index()] = 1;
    out_->operations.list_read(key.raw, false);
  }
  void range_read(ValueId low, ValueId high, std::span<const RangeEntry> entries) {
    const auto from = keep(low);
    out_->operations.range_read(from, keep(high));
    for (const auto& entry : entries) out_->operations.entry(entry.key.raw, keep(entry.value));
  }
  void end() {}

  [[nodiscard]] const history::ScalarTable& keys() const { return keys_; }
  [[nodiscard]] bool is_list(std::uint32_t key) const { return lists_[key] != 0; }
  [[nodiscard]] const std::vector<std::string>& sessions() const { return sessions_; }
  [[nodiscard]] const std::vector<TransactionSource::Initial>& initial() const { return initial_; }
  [[nodiscard]] const std::map<std::string, std::string>& metadata() const { return metadata_; }

 private:
  history::Value keep(ValueId value) {
    // A file without values still has null.
    return out_->operations.keep(value.index() < values_.size() ? values_.at(value.index())
                                                                : ScalarView::null());
  }
  void write(OpKind kind, KeyId key, ValueId value) {
    out_->operations.write(kind, key.raw, keep(value));
  }
  void add_initial(bool of_all, KeyId key, ValueId value) {
    const auto scalar =
        value.index() < values_.size() ? values_.at(value.index()) : ScalarView::null();
    initial_.push_back({of_all, key.raw, scalar.kind, scalar.integer, std::string(scalar.text)});
  }

  history::ScalarTable keys_;
  std::vector<std::uint8_t> lists_;
  PackedScalars values_;
  base::HashMap<std::string, std::uint32_t> numbers_;
  std::vector<std::string> sessions_;
  std::vector<TransactionSource::Initial> initial_;
  std::map<std::string, std::string> metadata_;
  StreamedTransaction* out_ = nullptr;
};

class CupelFile final : public TransactionSource {
 public:
  CupelFile(std::string name, MappedFile file) : name_(std::move(name)), file_(std::move(file)) {}

  base::Status begin() {
    return guarded<base::Status>([&]() -> base::Status {
      reader_.begin();
      return base::Ok{};
    });
  }
  base::Result<bool> next(StreamedTransaction& out) override {
    return guarded<base::Result<bool>>([&]() -> base::Result<bool> {
      taker_.into(out);
      return reader_.next();
    });
  }

  [[nodiscard]] const std::vector<Initial>& initial() const override { return taker_.initial(); }
  [[nodiscard]] std::size_t key_count() const override { return taker_.keys().size(); }
  [[nodiscard]] ScalarView key(history::Key key) const override { return taker_.keys().at(key); }
  [[nodiscard]] bool is_list(history::Key key) const override { return taker_.is_list(key); }
  [[nodiscard]] const std::string& session_name(std::uint32_t session) const override {
    return taker_.sessions()[session];
  }
  [[nodiscard]] std::string fact(const std::string& name) const override {
    const auto found = taker_.metadata().find(name);
    return found == taker_.metadata().end() ? std::string() : found->second;
  }

 private:
  template <typename Answer, typename Step>
  Answer guarded(Step step) {
    try {
      return step();
    } catch (const cupel_file::Broken& broken) {
      return base::Error{.message = broken.message + ", expected a whole and intact cupel file",
                         .file = name_,
                         .byte = broken.byte};
    }
  }

  const std::string name_;
  const MappedFile file_;
  Taker taker_;
  cupel_file::Reader<Taker> reader_{file_.bytes(), Reading(nullptr, &file_), taker_};
};

// The content of a compressed file, as a temporary file that has no name any more.
base::Result<MappedFile> decompressed(const std::string& path, const MappedFile& packed) {
  const auto folder = base::TempDir::make("cupel-");
  if (!folder.ok()) return folder.error();
  const auto name = folder->file("history.cupel");
  std::ofstream out(name, std::ios::binary);
  Decompression content(packed.bytes());
  for (;;) {
    const auto piece = content.next();
    if (!piece.ok()) {
      auto error = piece.error();
      error.file = path;
      return error;
    }
    if (piece->empty()) break;
    out << *piece;
  }
  out.close();
  if (!out) {
    return base::Error{.message = "cannot be decompressed: no place for a temporary file",
                       .file = path};
  }
  return MappedFile::open_as_it_is(name);
}

}  // namespace

base::Result<std::unique_ptr<TransactionSource>> stream_cupel_file(const std::string& path) {
  auto file = MappedFile::open_as_it_is(path);
  if (file.ok() && is_compressed(file->bytes())) file = decompressed(path, *file);
  if (!file.ok()) return std::move(file).error();
  auto source = std::make_unique<CupelFile>(path, std::move(file).value());
  if (auto begun = source->begin(); !begun.ok()) return std::move(begun).error();
  return std::unique_ptr<TransactionSource>(std::move(source));
}

std::uint64_t least_bytes_of_history(const std::string& path) {
  std::error_code unknown;
  if (!std::filesystem::is_regular_file(path, unknown)) return 0;
  const auto file = MappedFile::open_as_it_is(path);
  if (!file.ok() || recognize_cupel(file->bytes()) != Match::kChecked) return 0;
  std::uint64_t operations = 0, transaction_bytes = 0;
  ByteCursor in(file->bytes());
  in.take(cupel_file::kHeaderBytes);
  while (!in.at_end()) {
    const auto column = in.little_u32();
    const auto raw_size = in.little_u32();
    const auto stored_size = in.little_u32();
    in.little_u64();
    in.take(stored_size);
    if (in.failed()) return 0;
    if (column == cupel_file::kKinds) operations += raw_size;
    if (column == cupel_file::kTxns) transaction_bytes += raw_size;
  }
  // A transaction is at most 5 varints of 5 bytes in its column.
  constexpr std::uint64_t kMostBytesInColumn = 25;
  return operations * kBytesOfOperation +
         transaction_bytes / kMostBytesInColumn * kBytesOfTransaction;
}

}  // namespace cupel::formats
