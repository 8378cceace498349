// dbcop bincode. The file is walked twice: first to validate it and to see
// which success flags its recorder set at all, then to build. Some recorders
// leave the flags of every event false; taken at their word nothing would have
// happened. So a flag is believed only in a file where some flag of its kind is
// true (for the events), or where anything is true (for the transactions).
#include "data/formats/dbcop.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <ostream>

#include "data/formats/byte_cursor.hpp"
#include "data/formats/integer_registers.hpp"
#include "data/formats/lost_facts.hpp"
#include "data/history/builder.hpp"

namespace cupel::formats {

using namespace history;

namespace {

constexpr std::uint64_t kEventBytes = 18, kSmallestTxnBytes = 9, kSmallestSessionBytes = 8;

struct Header {
  std::string_view info, start, end;
};

class Reader {
 public:
  Reader(std::string_view bytes, const std::string& file, Reading reading)
      : bytes_(bytes), file_(file), reading_(reading) {}

  base::Result<History> run() {
    bool any_event = false, any_success = false, any_commit = false;
    auto seen = walk([](std::uint64_t) {}, [] {},
                     [&](bool, std::uint64_t, std::uint64_t, bool success) {
                       any_event = true;
                       any_success |= success;
                     },
                     [&](bool committed) { any_commit |= committed; });
    if (!seen.ok()) return std::move(seen).error();
    const bool believe_events = any_success || !any_event;
    const bool believe_txns = any_commit || any_success;

    HistoryBuilder builder;
    builder.set_default_initial(builder.value(0), /*unless_written=*/true);
    builder.set_metadata("format", "dbcop");
    const auto fact = [&](const char* name, std::string_view text) {
      if (!text.empty()) builder.set_metadata(name, text);
    };
    fact("database", seen->info);
    fact("start", seen->start);
    fact("end", seen->end);
    if (any_event && !believe_events) {
      builder.set_metadata(
          "note",
          "no event is marked as successful: the flags were not recorded, all events count");
    }

    struct Event {
      bool write;
      std::uint64_t variable, value;
    };
    std::vector<Event> events;  // of the open transaction: its status comes last
    SessionId session;
    std::uint32_t sessions = 0;
    std::uint64_t dropped = 0;
    auto built = walk(
        [&](std::uint64_t) { session = builder.session(std::to_string(sessions++)); },
        [&] { events.clear(); },
        [&](bool write, std::uint64_t variable, std::uint64_t value, bool success) {
          if (success || !believe_events)
            events.push_back({write, variable, value});
          else
            ++dropped;
        },
        [&](bool committed) {
          builder.begin(session,
                        committed || !believe_txns ? TxnStatus::kCommitted : TxnStatus::kAborted,
                        {.label = static_cast<std::uint32_t>(builder.txn_count())});
          for (const auto& event : events) {
            const auto k = builder.key(static_cast<std::int64_t>(event.variable));
            const auto v = builder.value(static_cast<std::int64_t>(event.value));
            if (event.write)
              builder.write(k, v);
            else
              builder.read(k, v);
          }
          builder.end();
        });
    if (!built.ok()) return std::move(built).error();
    if (dropped) builder.set_metadata("failed events left out", std::to_string(dropped));
    auto history = std::move(builder).finish();
    if (!history.ok()) return base::Error{.message = history.error().message, .file = file_};
    return history;
  }

 private:
  base::Error error(std::uint64_t offset, std::string message) const {
    return {.message = std::move(message), .file = file_, .byte = offset};
  }
  base::Error ended(const char* expected) const {
    return error(bytes_.size(), fmt::format("the file ends, expected {}", expected));
  }

  // A count of things that take at least `smallest` bytes each, so that a
  // hostile count is caught before anything is allocated for it.
  base::Result<std::uint64_t> count(ByteCursor& in, const char* what,
                                    std::uint64_t smallest) const {
    const auto at = in.offset();
    const auto n = in.little_u64();
    if (in.failed()) return ended(what);
    if (n > in.remaining() / smallest) {
      return error(
          at, fmt::format("found {} as the number of {}, expected at most {} in the {} bytes left",
                          n, what, in.remaining() / smallest, in.remaining()));
    }
    return n;
  }

  template <typename OnSession, typename OnTxn, typename OnEvent, typename OnTxnEnd>
  base::Result<Header> walk(OnSession on_session, OnTxn on_txn, OnEvent on_event,
                            OnTxnEnd on_txn_end) {
    ByteCursor in(bytes_);
    Header header;
    for (int i = 0; i < 5; ++i) in.little_u64();
    if (in.failed()) return ended("a header of five 8-byte integers");
    for (auto* text : {&header.info, &header.start, &header.end}) {
      const auto length = count(in, "characters", 1);
      if (!length.ok()) return length.error();
      *text = in.take(*length);
    }
    const auto flag = [&](const char* what, bool& value) -> base::Status {
      const auto at = in.offset();
      const auto byte = in.u8();
      if (in.failed()) return ended(what);
      if (byte > 1)
        return error(at, fmt::format("found {} as the {}, expected 0 or 1", byte, what));
      value = byte != 0;
      return base::Ok{};
    };
    const auto sessions = count(in, "sessions", kSmallestSessionBytes);
    if (!sessions.ok()) return sessions.error();
    for (std::uint64_t s = 0; s < *sessions; ++s) {
      const auto txns = count(in, "transactions", kSmallestTxnBytes);
      if (!txns.ok()) return txns.error();
      on_session(*txns);
      for (std::uint64_t t = 0; t < *txns; ++t) {
        const auto events = count(in, "events", kEventBytes);
        if (!events.ok()) return events.error();
        on_txn();
        reading_.step(bytes_.data() + in.offset());
        for (std::uint64_t e = 0; e < *events; ++e) {
          reading_.step(bytes_.data() + in.offset());
          bool write = false, success = false;
          if (auto f = flag("write flag of an event", write); !f.ok()) return f.error();
          const auto variable = in.little_u64();
          const auto value = in.little_u64();
          if (auto f = flag("success flag of an event", success); !f.ok()) return f.error();
          on_event(write, variable, value, success);
        }
        bool committed = false;
        if (auto f = flag("success flag of a transaction", committed); !f.ok()) return f.error();
        on_txn_end(committed);
      }
    }
    if (!in.at_end()) {
      return error(
          in.offset(),
          fmt::format("found {} bytes after the last session, expected the end of the file",
                      in.remaining()));
    }
    return header;
  }

  std::string_view bytes_;
  const std::string& file_;
  Reading reading_;
};

void put(std::string& out, std::uint64_t value) {
  for (int i = 0; i < 8; ++i) out += static_cast<char>(value >> (8 * i));
}

}  // namespace

namespace {

// Recognition: a walk over the head of a file that asks of each length, text and flag
// whether it can be one.
class HeadWalk {
 public:
  explicit HeadWalk(std::string_view bytes)
      : file_size_(bytes.size()), in_(bytes.substr(0, kHeadBytes)) {}

  // The header, its texts and the number of sessions.
  bool header() {
    for (int i = 0; i < 5; ++i) in_.little_u64();
    for (int i = 0; i < 3; ++i) {
      const auto length = in_.little_u64();
      if (length > file_size_) return false;
      for (const char c : in_.take(length)) {
        if (static_cast<unsigned char>(c) < ' ') return false;
      }
    }
    return count(kSmallestSessionBytes, sessions_) && !in_.failed();
  }

  // Everything after the header, as far as the head goes.
  bool sessions() {
    for (std::uint64_t s = 0; s < sessions_ && !in_.failed(); ++s) {
      std::uint64_t txns = 0;
      if (!count(kSmallestTxnBytes, txns)) return false;
      for (std::uint64_t t = 0; t < txns && !in_.failed(); ++t) {
        if (!transaction()) return false;
      }
    }
    return cut() || (!in_.failed() && in_.at_end());
  }

 private:
  bool transaction() {
    std::uint64_t events = 0;
    if (!count(kEventBytes, events)) return false;
    for (std::uint64_t e = 0; e < events && !in_.failed(); ++e) {
      if (!flag()) return false;
      in_.little_u64();
      in_.little_u64();
      if (!flag()) return false;
    }
    return flag();
  }
  // The head ended, and the file goes on.
  [[nodiscard]] bool cut() const { return in_.failed() && file_size_ > kHeadBytes; }
  bool flag() { return in_.u8() <= 1; }
  bool count(std::uint64_t smallest, std::uint64_t& value) {
    value = in_.little_u64();
    return in_.failed() || value <= (file_size_ - in_.offset()) / smallest;
  }

  std::uint64_t file_size_;
  ByteCursor in_;
  std::uint64_t sessions_ = 0;
};

constexpr std::array<std::string_view, 3> kKeptMetadata = {"database", "start", "end"};

}  // namespace

Match recognize_dbcop(std::string_view bytes) {
  HeadWalk walk(bytes);
  if (!walk.header()) return Match::kNo;
  return walk.sessions() ? Match::kChecked : Match::kBegins;
}

base::Result<History> read_dbcop(std::string_view bytes, const std::string& file, Reading reading) {
  return Reader(bytes, file, reading).run();
}

base::Status write_dbcop(const History& h, std::ostream& out) {
  if (auto fits = fits_integer_registers(
          h, {.format = "dbcop", .aborted = true, .empty = true, .negative = true});
      !fits.ok()) {
    return fits;
  }
  std::uint64_t most_txns = 0, most_events = 0;
  for (std::size_t s = 0; s < h.session_count(); ++s) {
    most_txns = std::max<std::uint64_t>(
        most_txns, h.session_end(SessionId(s)).index() - h.session_begin(SessionId(s)).index());
  }
  for (std::size_t t = 0; t < h.txn_count(); ++t) {
    most_events = std::max<std::uint64_t>(most_events, h.last_op(TxnId(t)) - h.first_op(TxnId(t)));
  }
  std::string bytes;
  for (const std::uint64_t n : {std::uint64_t{0}, std::uint64_t{h.session_count()},
                                std::uint64_t{h.key_count()}, most_txns, most_events}) {
    put(bytes, n);
  }
  for (const auto name : kKeptMetadata) {
    const std::string text = h.fact(std::string(name));
    put(bytes, text.size());
    bytes += text;
  }
  put(bytes, h.session_count());
  for (std::size_t s = 0; s < h.session_count(); ++s) {
    const auto first = h.session_begin(SessionId(s)).index(),
               last = h.session_end(SessionId(s)).index();
    put(bytes, last - first);
    for (auto i = first; i < last; ++i) {
      const TxnId t(i);
      put(bytes, h.last_op(t) - h.first_op(t));
      for (auto o = h.first_op(t); o < h.last_op(t); ++o) {
        const auto op = h.op(OpId(o));
        bytes += static_cast<char>(op.kind == OpKind::kWrite);
        put(bytes, static_cast<std::uint64_t>(integer_key(h, op.key)));
        put(bytes, static_cast<std::uint64_t>(integer_value(h, op.key, op.value)));
        bytes += '\1';
      }
      bytes += static_cast<char>(h.status(t) == TxnStatus::kCommitted);
      if (bytes.size() > (1 << 20)) {
        out.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
        bytes.clear();
      }
    }
  }
  out.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  return base::Ok{};
}

extern constinit const FormatSpec kDbcopFormat{
    .format = Format::kDbcop,
    .name = "dbcop",
    .description = "history.bincode",
    .page = "docs/reference/formats/dbcop.md",
    .extensions = {{{".bincode"}}},
    .file_in_directory = "history.bincode",
    .recognize = recognize_dbcop,
    .read = [](const Source& source,
               Reading reading) { return read_dbcop(source.files[0].bytes, source.path, reading); },
    .write = [](const History& history, std::ostream& out,
                const WriteOptions&) { return write_dbcop(history, out); },
    .lost =
        [](const History& history) {
          return lost_facts(history, KeptFacts{.metadata = kKeptMetadata});
        }};

}  // namespace cupel::formats
