// Messages: what a backend of an SQL engine asks the mock store, decoded, and the replies.
//
// A message is its length (4 bytes), its kind (1 byte) and its body; numbers are little-endian, a
// text is its length (4 bytes) and its bytes. A position is a block (4 bytes) and an offset (2
// bytes; 0: no version). docs/reference/mock-engines.md lists the messages.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace cupel::engines {

// Where a row version is in the file of its table.
struct Position {
  std::uint32_t block = 0;
  std::uint16_t offset = 0;

  [[nodiscard]] bool valid() const { return offset != 0; }
  friend auto operator<=>(const Position&, const Position&) = default;
};

inline constexpr auto kEveryCommit = std::numeric_limits<std::uint32_t>::max();

// The first message of a connection.
struct OpenRequest {
  std::uint8_t protocol = 0;
  std::uint32_t database = 0;
  std::string database_name, session;
  std::uint16_t client_port = 0;  // 0: not known
};

// The level and the policy of the next transaction; empty: the store's own.
struct ChooseRequest {
  std::string level, policy;
  // What the client asks for; a level of a product is at least that.
  enum class Isolation : std::uint8_t { kReadCommitted, kRepeatableRead, kSerializable };
  Isolation isolation = Isolation::kReadCommitted;
};

// Which versions of these rows does the transaction see?
struct ReadRequest {
  std::uint32_t statement = 0;
  std::uint32_t commits = kEveryCommit;  // that the statement may see, by CommitCount
  bool latest = false;                   // what was committed last: no read of the transaction
  bool absent = false;                   // the transaction sees that the table has no other rows
  // The statement locks what it finds (mock::Transaction::find): the rows that it has not locked
  // when it ends are the ones that it read.
  bool find = false;
  std::uint32_t table = 0;
  std::vector<Position> rows = {};
  bool wants_last = false;  // of those that it finds: found_reply()
};

// Which version of the row was committed last? The row is locked for the transaction: by the engine
// before, or by the store now. If the version is known to be the one that the statement `found`,
// the reply is that it is done.
struct LockRequest {
  std::uint32_t statement = 0, commits = kEveryCommit, table = 0;
  Position row;
  bool shared = false;    // others may hold it too
  bool observed = false;  // the client is shown what it finds
  bool no_wait = false;
  bool found = false;
};
// A lock of the store that is no read, where the store has the engine's locks.
struct GuardRequest {
  enum class Kind : std::uint8_t {
    kGaps,       // nobody adds a row to the table
    kInsertion,  // a row is added to the table, or to one of its indexes
    kRow,        // nobody else locks or adds the row with this primary key
    kValue,      // nobody else has this value of a unique key
  };
  Kind kind = Kind::kGaps;
  std::uint32_t table = 0;
  bool no_wait = false;
  bool shared = false;                     // of kRow: others may lock it so, too
  Position row = {};                       // of kRow
  std::string table_name = {}, text = {};  // the primary key, or the value
};
// The lock on a row is given back.
struct UnlockRequest {
  std::uint32_t table = 0;
  Position row;
  bool shared = false;
};
// The engine does not want to wait any more for the lock that it asked for, if it still does. This
// one has no reply.
struct StopWaitingRequest {};
// The end of a statement that found rows, which it did not lock. It has no reply.
struct EndStatementRequest {
  std::uint32_t statement = 0;
  bool failed = false;  // the client was shown nothing
};

// The text of a row is its columns, as in "id", kValue, "5", kNextColumn, "owner", kValue, "ann".
// Names and values have neither character.
inline constexpr char kValue = '\x1e', kNextColumn = '\x1f';

struct Write {
  std::uint32_t table = 0;
  Position row, version;  // not valid: the row is deleted
  bool base = false;      // of a rewritten table: every session sees it
  bool insert = false;    // the row is new
  bool checked = false;   // and the engine has seen to it that there is no other with its key
  std::string table_name = {}, key = {}, value = {};
};

struct CommitRequest {
  std::vector<Write> writes;
};
// What the client asks for from now on in this transaction. It has no reply; only for a store that
// keeps statements.
struct TextRequest {
  std::string text;
};
struct FinishRequest {};  // commits a transaction that only read; has no reply
struct AbortRequest {};   // has no reply
struct CopyDatabaseRequest {
  std::uint32_t from = 0, to = 0;
};

using Request = std::variant<OpenRequest, ChooseRequest, ReadRequest, LockRequest, GuardRequest,
                             UnlockRequest, StopWaitingRequest, EndStatementRequest, TextRequest,
                             CommitRequest, FinishRequest, AbortRequest, CopyDatabaseRequest>;

inline constexpr std::uint8_t kProtocol = 5;
// Bytes. A longer one ends the connection; engines refuse a commit that would need it.
inline constexpr std::uint32_t kLongestMessage = 1U << 28;

// A message without its length. None: it is malformed.
std::optional<Request> decode(std::string_view message);

// The length of the message that `bytes` starts with, without the four bytes of the length itself.
// None: too few bytes to know.
std::optional<std::uint32_t> message_length(std::string_view bytes);

enum class FailureKind : std::uint8_t {
  kConflict,
  kEnded,
  kStopped,
  kDuplicate,
  kInvalid,
  kDeadlock
};

// Whole messages.
std::string done_reply();
// Of OpenRequest.
struct Opened {
  bool refuses = false;           // transactions that only read, so FinishRequest is not to be used
  bool keeps_statements = false;  // TextRequest is wanted
  bool locks = false;             // it has the engine's locks,
  bool gaps = false;              // and those of gaps
  // It has the level of a product: which.
  std::optional<ChooseRequest::Isolation> isolation = {};
};
std::string opened_reply(const Opened& opened);
Opened decode_opened(std::uint8_t flags);
// The lock was not to be had without waiting, or the engine gave up.
std::string not_locked_reply();
std::string versions_reply(const std::vector<Position>& versions);
// Of a ReadRequest with wants_last: where `last`, the version was committed last when so many
// transactions had committed by CommitCount, or after that.
struct FoundVersion {
  Position version;
  bool last = false;
};
std::string found_reply(const std::vector<FoundVersion>& versions, std::uint32_t commits);
std::string failure_reply(FailureKind kind, std::string_view message);
// For tests and fuzzing: what decode() reads.
std::string encode(const Request& request);

}  // namespace cupel::engines
