// Messages: what a backend of an SQL engine asks the mock store, decoded, and the replies.
//
// A message is its length (4 bytes), its kind (1 byte) and its body; numbers are little-endian, a
// text is its length (4 bytes) and its bytes. A position is a block (4 bytes) and an offset (2
// bytes; 0: no version). docs/mock-engines.md lists the messages.
#pragma once

#include <cstdint>
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
};

// Which versions of these rows does the transaction see?
struct ReadRequest {
  std::uint32_t statement = 0;
  bool latest = false;  // what was committed last: no read of the transaction
  bool absent = false;  // the transaction sees that the table has no other rows
  std::uint32_t table = 0;
  std::vector<Position> rows = {};
};

struct Write {
  std::uint32_t table = 0;
  Position row, version;  // not valid: the row is deleted
  bool base = false;      // of a rewritten table: every session sees it
  bool insert = false;    // the row is new
  std::string table_name = {}, key = {}, value = {};
};

struct CommitRequest {
  std::vector<Write> writes;
};
struct AbortRequest {};  // has no reply
struct CopyDatabaseRequest {
  std::uint32_t from = 0, to = 0;
};

using Request = std::variant<OpenRequest, ChooseRequest, ReadRequest, CommitRequest, AbortRequest,
                             CopyDatabaseRequest>;

inline constexpr std::uint8_t kProtocol = 1;

// A message without its length. None: it is malformed.
std::optional<Request> decode(std::string_view message);

// The length of the message that `bytes` starts with, without the four bytes of the length itself.
// None: too few bytes to know.
std::optional<std::uint32_t> message_length(std::string_view bytes);

enum class FailureKind : std::uint8_t { kConflict, kEnded, kStopped, kDuplicate, kInvalid };

// Whole messages.
std::string done_reply();
std::string versions_reply(const std::vector<Position>& versions);
std::string failure_reply(FailureKind kind, std::string_view message);
// For tests and fuzzing: what decode() reads.
std::string encode(const Request& request);

}  // namespace cupel::engines
