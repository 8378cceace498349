// MySQL's protocol (4.1) as a proxy sees it: packets, the first messages of a connection, commands
// with their parameters, and where an answer ends. Bytes in, bytes out; no socket. Every length is
// checked.
//
// A proxy calls simplify_greeting(), so that a client asks for nothing that changes the form of
// packets: no encryption, no compression, rows that end with an EOF packet.
//
// Source: MySQL 8 source documentation, "Client/Server Protocol"; MariaDB Knowledge Base,
// "Clients & Utilities / Server Client Protocol".
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace cupel::wire::mysql {

enum Capability : std::uint32_t {
  kConnectWithDatabase = 0x8,
  kCompress = 0x20,
  kProtocol41 = 0x200,
  kSsl = 0x800,
  kSecureConnection = 0x8000,
  kPluginAuthentication = 0x80000,
  kConnectAttributes = 0x100000,
  kLongAuthentication = 0x200000,
};

enum Status : std::uint16_t { kInTransaction = 0x1, kMoreResults = 0x8, kCursorExists = 0x40 };

enum Command : std::uint8_t {
  kQuit = 0x01,
  kInitDatabase = 0x02,
  kQuery = 0x03,
  kFieldList = 0x04,
  kStatistics = 0x09,
  kProcessInfo = 0x0a,
  kDebug = 0x0d,
  kPing = 0x0e,
  kChangeUser = 0x11,
  kPrepare = 0x16,
  kExecute = 0x17,
  kSendLongData = 0x18,
  kCloseStatement = 0x19,
  kResetStatement = 0x1a,
  kSetOption = 0x1b,
  kFetch = 0x1c,
  kResetConnection = 0x1f,
};
bool has_answer(std::uint8_t command);

// A payload may come in several packets; it is whole here.
struct Packet {
  enum class Kind : std::uint8_t { kPacket, kIncomplete, kTooLong };
  Kind kind = Kind::kIncomplete;
  std::string_view payload = {};  // borrowed from the bytes, or from `joined`
  std::uint8_t sequence = 0;      // of the last of them
  std::size_t size = 0;           // with all headers
  std::string joined = {};

  Packet() = default;
  Packet(const Packet&) = delete;  // a payload may be its own
  Packet& operator=(const Packet&) = delete;
};
// Fills in `packet`. `longest`: of a payload.
void decode_packet(std::string_view bytes, std::size_t longest, Packet& packet);
// Appends a payload, in several packets if it is that long.
void put_packet(std::string& out, std::string_view payload, std::uint8_t sequence);

// --- The first messages

// The server's greeting: its capabilities, and the number of the connection.
struct Greeting {
  std::uint32_t connection = 0;
  std::uint32_t capabilities = 0;
};
// None: malformed, or an error packet instead.
std::optional<Greeting> decode_greeting(std::string_view payload);
// Takes away what the header says. False: it is none.
bool simplify_greeting(std::string& payload);

bool offers_tls(std::string_view greeting);
// The packet that asks for TLS, before the login.
std::string tls_request();
// A login as it is within TLS.
void mark_tls(std::string& login);

// What a client answers to the greeting, or COM_CHANGE_USER without its first byte.
struct Login {
  std::uint32_t capabilities = 0;
  std::string user, database;
  std::string program;     // the attribute program_name
  bool wants_ssl = false;  // and nothing else is known
  // Where the name of the database stands in the payload, without its zero.
  std::size_t database_at = 0;
};
std::optional<Login> decode_login(std::string_view payload);
std::optional<Login> decode_change_user(std::string_view payload, std::uint32_t capabilities);

// --- Commands

struct ParameterType {
  std::uint8_t type = 0xfd;
  bool is_unsigned = false;
};
// Whether a value of this type is a number.
bool is_number(std::uint8_t type);
// COM_STMT_EXECUTE without its first byte.
struct ExecuteHead {
  std::uint32_t statement = 0;
  std::uint8_t cursor = 0;
};
std::optional<ExecuteHead> decode_execute_head(std::string_view payload);
// Its values as text. `types` are those of the statement's last execution, and replaced if the
// client sends new ones. `long_data`: what COM_STMT_SEND_LONG_DATA sent, by parameter.
using Cell = std::optional<std::string>;
std::optional<std::vector<Cell>> decode_execute_values(std::string_view payload, std::size_t count,
                                                       std::vector<ParameterType>& types,
                                                       const std::vector<Cell>& long_data);

// --- Answers

// Follows an answer from packet to packet.
class Answer {
 public:
  explicit Answer(std::uint8_t command = kQuery);

  enum class Part : std::uint8_t {
    kOk,       // the end of a statement without rows
    kError,    // the end of the answer
    kFile,     // the server asks for a file; what follows it is the answer
    kColumns,  // how many there are
    kColumn,
    kColumnsEnd,
    kRow,
    kRowsEnd,
    kPrepared,  // the first packet of an answer to COM_STMT_PREPARE
    kOther,
  };
  Part take(std::string_view payload);
  // With the last packet: a statement's result, and the whole answer.
  [[nodiscard]] bool result_ended() const { return result_ended_; }
  [[nodiscard]] bool ended() const { return ended_; }
  // Of the last packet: its status, and where in the payload it is; none: it has none.
  [[nodiscard]] std::optional<std::uint16_t> status() const { return status_; }
  [[nodiscard]] std::size_t status_at() const { return status_at_; }

 private:
  enum class Next : std::uint8_t { kFirst, kColumn, kColumnsEnd, kRow, kDefinitions };
  Part first(std::string_view payload);
  Part prepared(std::string_view payload);
  void note_status(std::string_view payload, std::size_t at);
  void end_result();

  std::uint8_t command_;
  Next next_ = Next::kFirst;
  std::uint64_t left_ = 0;  // columns, or packets of an answer to COM_STMT_PREPARE
  bool result_ended_ = false, ended_ = false;
  std::optional<std::uint16_t> status_;
  std::size_t status_at_ = 0;
};

struct Prepared {
  std::uint32_t statement = 0;
  std::uint16_t columns = 0, parameters = 0;
};
std::optional<Prepared> decode_prepared(std::string_view payload);

struct Column {
  std::string name;
  std::uint8_t type = 0;
  std::uint8_t decimals = 0;
  bool is_unsigned = false;
};
std::optional<Column> decode_column(std::string_view payload);
// The cells as texts, as the text protocol has them.
std::optional<std::vector<Cell>> decode_text_row(std::string_view payload);
std::optional<std::vector<Cell>> decode_binary_row(std::string_view payload,
                                                   const std::vector<Column>& columns);

struct Failure {
  std::uint16_t number = 0;
  std::string sqlstate, message;
};
std::optional<Failure> decode_error(std::string_view payload);
std::string error_payload(const Failure& failure);

}  // namespace cupel::wire::mysql
