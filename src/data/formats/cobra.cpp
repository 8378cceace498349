// cobra logs. A version is the triple (write-id, writer, value), and a history
// links a read to its writer by (key, value) alone; so each version needs a
// value of its own. That is its integer, as people expect to see it, unless two
// versions of the key have the same integer: then it is "integer@write-id".
// Logs whose write ids are all the one constant know (key, value) only, and
// keep their duplicates.
#include "data/formats/cobra.hpp"

#include <fmt/format.h>

#include <utility>

#include "base/hash_table.hpp"
#include "data/formats/byte_cursor.hpp"
#include "data/formats/input.hpp"
#include "data/history/builder.hpp"

namespace cupel::formats {

using namespace history;

namespace {

constexpr std::int64_t kInitial = 0xbebeebee;     // the state before the history
constexpr std::int64_t kNull = 0xdeadbeef;        // a key that was absent in it
constexpr std::int64_t kUnrecorded = 0xabddefee;  // a write id that says nothing

struct Record {
  char type;
  std::int64_t txn;  // of S and C; the writer of R; of W the open transaction
  std::int64_t write_id, key, value;
};

struct Log {
  std::string file;
  std::vector<Record> records;
};

// Where a version comes from.
struct Origin {
  std::int64_t writer, write_id;
  friend bool operator==(const Origin&, const Origin&) = default;
};
constexpr Origin kInitialOrigin{kInitial, kInitial};
constexpr Origin kUnrecordedOrigin{kUnrecorded, kUnrecorded};

base::Error error(const std::string& file, std::uint64_t byte, std::string message) {
  return {.message = std::move(message), .file = file, .byte = byte};
}

base::Result<Log> parse(const SessionLog& log, Reading& reading) {
  Log parsed{log.file, {}};
  ByteCursor in(log.bytes);
  bool open = false;
  std::int64_t txn = 0;
  while (!in.at_end()) {
    reading.step();
    const auto at = in.offset();
    Record record{static_cast<char>(in.u8()), txn, 0, 0, 0};
    switch (record.type) {
      case 'S':
        record.txn = txn = in.big_i64();
        if (!in.failed()) open = true;
        break;
      case 'C':
        record.txn = in.big_i64();
        if (!in.failed() && !open) {
          return error(
              log.file, at,
              fmt::format("found the commit of {} outside a transaction, expected S", record.txn));
        }
        if (!in.failed() && record.txn != txn) {
          return error(log.file, at,
                       fmt::format("found the commit of transaction {} inside transaction {}",
                                   record.txn, txn));
        }
        open = false;
        break;
      case 'R':
        record.txn = in.big_i64();
        [[fallthrough]];
      case 'W':
        record.write_id = in.big_i64();
        record.key = in.big_i64();
        record.value = in.big_i64();
        if (!in.failed() && !open) {
          return error(log.file, at,
                       fmt::format("found {} outside a transaction, expected S", record.type));
        }
        break;
      default:
        return error(log.file, at,
                     fmt::format("found {}, expected a record of type S, C, W or R",
                                 shown(std::string_view(&record.type, 1))));
    }
    if (in.failed()) {
      return error(
          log.file, at,
          fmt::format("the file ends inside a record of type {} that begins here", record.type));
    }
    parsed.records.push_back(record);
  }
  return parsed;
}

class Assembler {
 public:
  Assembler(std::vector<Log> logs, Reading reading, bool alone)
      : logs_(std::move(logs)), reading_(reading), alone_(alone) {}

  base::Result<History> run(const std::string& directory) {
    bool any_write = false, any_id = false;
    std::size_t records = 0;
    for (const auto& log : logs_) {
      records += log.records.size();
      for (const auto& r : log.records) {
        any_write |= r.type == 'W';
        any_id |= r.type == 'W' && r.write_id != kUnrecorded;
      }
    }
    by_value_only_ = any_write && !any_id;
    if (records == 0) {
      return base::Error{.message = "the logs hold no record, expected S, C, W and R",
                         .file = directory};
    }
    note_versions();
    if (alone_) note_written();
    for (const auto& log : logs_) {
      if (auto added = add(log); !added.ok()) return std::move(added).error();
    }
    for (const auto& [key, value] : initial_)
      builder_.set_initial(builder_.key(key), builder_.value(value));
    builder_.set_metadata("format", "cobra");
    if (by_value_only_)
      builder_.set_metadata("note", "no write ids were recorded: reads are linked by value");
    auto history = std::move(builder_).finish();
    if (!history.ok()) return base::Error{.message = history.error().message, .file = directory};
    return history;
  }

 private:
  [[nodiscard]] bool reads_initial(const Record& r) const {
    const auto special = [](std::int64_t id) { return id == kInitial || id == kNull; };
    return special(r.txn) && (special(r.write_id) || (by_value_only_ && r.write_id == kUnrecorded));
  }

  [[nodiscard]] Origin origin(const Record& r) const {
    if (r.type == 'R' && reads_initial(r))
      return by_value_only_ ? kUnrecordedOrigin : kInitialOrigin;
    return by_value_only_ ? kUnrecordedOrigin : Origin{r.txn, r.write_id};
  }

  struct Versions {
    Origin first;
    bool several = false;  // this integer stands for several versions of the key
  };

  void note_versions() {
    for (const auto& log : logs_) {
      for (const auto& r : log.records) {
        reading_.step();
        if (r.type != 'W' && r.type != 'R') continue;
        const auto from = origin(r);
        const auto [it, fresh] = versions_.try_emplace(std::pair(r.key, r.value), Versions{from});
        if (!fresh && !(it->second.first == from)) it->second.several = true;
      }
    }
  }

  // Of a log that is read without the others.
  void note_written() {
    for (const auto& log : logs_) {
      for (const auto& r : log.records) {
        if (r.type == 'S') transactions_.insert(r.txn);
        if (r.type == 'W') written_.insert({r.key, r.value});
      }
    }
  }
  [[nodiscard]] bool reads_another_log(const Record& r) const {
    if (!alone_ || reads_initial(r)) return false;
    return by_value_only_ || r.txn == kUnrecorded ? !written_.contains({r.key, r.value})
                                                  : !transactions_.contains(r.txn);
  }

  ValueId value_of(const Record& r) {
    const auto from = origin(r);
    if (from == kInitialOrigin || !versions_.at({r.key, r.value}).several)
      return builder_.value(r.value);
    // The write id alone names a write, save where a read names another writer of it.
    const auto [it, fresh] =
        writer_of_.try_emplace(std::tuple(r.key, r.value, from.write_id), from.writer);
    std::string text = fmt::format("{}@{}", r.value, from.write_id);
    if (!fresh && it->second != from.writer) text += fmt::format("/{}", from.writer);
    return builder_.value(ScalarView::of(text));
  }

  base::Status add(const Log& log) {
    const auto session = builder_.session(stem(log.file));
    const auto& records = log.records;
    for (std::size_t i = 0; i < records.size();) {
      std::size_t end = i + 1;
      while (end < records.size() && records[end].type != 'S' && records[end].type != 'C') ++end;
      const bool committed = end < records.size() && records[end].type == 'C';
      // A log that ends inside a transaction may have ended inside its commit.
      const auto status = committed               ? TxnStatus::kCommitted
                          : end == records.size() ? TxnStatus::kIndeterminate
                                                  : TxnStatus::kAborted;
      builder_.begin(session, status, {.label = static_cast<std::uint32_t>(records[i].txn)});
      for (auto r = i + 1; r < end; ++r) {
        reading_.step();
        const auto& record = records[r];
        const auto key = builder_.key(record.key);
        if (record.type == 'W') {
          builder_.write(key, value_of(record));
          continue;
        }
        if (reads_another_log(record)) {
          builder_.cancel();
          return base::Error{
              .message = fmt::format("the log of one session reads {} from key {}, which it did "
                                     "not write. {}",
                                     record.value, record.key, kNameTheFolder),
              .file = log.file};
        }
        if (reads_initial(record)) {
          const auto [it, fresh] = initial_.try_emplace(record.key, record.value);
          if (!fresh && it->second != record.value) {
            builder_.cancel();
            return base::Error{
                .message = fmt::format(
                    "transaction {} reads {} as the initial value of key {}, another read "
                    "found {}; expected one initial value a key",
                    records[i].txn, record.value, record.key, it->second),
                .file = log.file};
          }
        }
        builder_.read(key, value_of(record));
      }
      builder_.end();
      i = committed ? end + 1 : end;
    }
    return base::Ok{};
  }

  std::vector<Log> logs_;
  Reading reading_;
  HistoryBuilder builder_;
  const bool alone_;
  bool by_value_only_ = false;
  base::HashSet<std::int64_t> transactions_;                      // of a log that is alone
  base::HashSet<std::pair<std::int64_t, std::int64_t>> written_;  // key and value; of one, too
  base::HashMap<std::pair<std::int64_t, std::int64_t>, Versions> versions_;
  base::HashMap<std::tuple<std::int64_t, std::int64_t, std::int64_t>, std::int64_t> writer_of_;
  base::HashMap<std::int64_t, std::int64_t> initial_;
};

}  // namespace

namespace {

// Are the records of the head of a log such as a collector writes: each of a known type,
// and reads, writes and commits inside the transaction that they are of?
bool has_records(std::string_view bytes) {
  ByteCursor in(bytes.substr(0, kHeadBytes));
  bool open = false;
  std::int64_t txn = 0;
  while (!in.at_end()) {
    const char type = static_cast<char>(in.u8());
    if (type == 'S') {
      txn = in.big_i64();
      open = true;
    } else if (open && type == 'C') {
      const auto committed = in.big_i64();
      if (!in.failed() && committed != txn) return false;
      open = false;
    } else if (open && (type == 'R' || type == 'W')) {
      in.take(type == 'R' ? 32 : 24);
    } else {
      return false;
    }
    if (in.failed()) return bytes.size() > kHeadBytes;
  }
  return true;
}

}  // namespace

Match recognize_cobra(std::string_view bytes) {
  constexpr std::size_t kRecord = 9;
  if (bytes.size() < kRecord || bytes[0] != 'S') return Match::kNo;
  if (has_records(bytes)) return Match::kChecked;
  // Text has no NUL or high byte here; a 64-bit id below 2^56 begins with NUL.
  const bool begins = bytes[1] == '\0' || bytes.size() == kRecord ||
                      std::string_view("SCWR").find(bytes[kRecord]) != std::string_view::npos;
  return begins ? Match::kBegins : Match::kNo;
}

base::Result<History> read_cobra(const std::vector<SessionLog>& logs, const std::string& directory,
                                 Reading reading, bool alone) {
  std::vector<Log> parsed;
  for (const auto& log : logs) {
    auto one = parse(log, reading);
    if (!one.ok()) return std::move(one).error();
    parsed.push_back(std::move(*one));
  }
  return Assembler(std::move(parsed), reading, alone).run(directory);
}

extern constinit const FormatSpec kCobraFormat{.format = Format::kCobra,
                                               .name = "cobra",
                                               .description = "a directory of binary *.log files",
                                               .page = "docs/reference/formats/cobra.md",
                                               .in_logs = true,
                                               .recognize = recognize_cobra,
                                               .read = [](const Source& source, Reading reading) {
                                                 return read_cobra(source.files, source.path,
                                                                   reading, source.alone);
                                               }};

}  // namespace cupel::formats
