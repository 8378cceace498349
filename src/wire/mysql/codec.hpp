// MySQL's wire protocol (4.1) as packets and messages: bytes in, what a client says
// out, and the reverse for what a server says. No socket and no state.
//
// Source: MySQL 8 source documentation, "Client/Server Protocol". A packet is three
// bytes of length, one that counts, and the payload; a payload of kLongestPacket or
// more is refused by its length, before it is kept.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sql/session.hpp"

namespace cupel::wire::mysql {

inline constexpr std::size_t kLongestPacket = std::size_t{4} << 20;
inline constexpr std::size_t kScrambleSize = 20;
inline constexpr std::string_view kNativePassword = "mysql_native_password";

enum Capability : std::uint32_t {
  kLongPassword = 0x1,
  kFoundRows = 0x2,
  kLongFlag = 0x4,
  kConnectWithDatabase = 0x8,
  kProtocol41 = 0x200,
  kSsl = 0x800,
  kTransactions = 0x2000,
  kSecureConnection = 0x8000,
  kMultiStatements = 0x10000,
  kMultiResults = 0x20000,
  kPreparedMultiResults = 0x40000,
  kPluginAuthentication = 0x80000,
  kConnectAttributes = 0x100000,
  kLongAuthentication = 0x200000,
};
inline constexpr std::uint32_t kServerCapabilities =
    kLongPassword | kFoundRows | kLongFlag | kConnectWithDatabase | kProtocol41 | kTransactions |
    kSecureConnection | kMultiStatements | kMultiResults | kPreparedMultiResults |
    kPluginAuthentication | kConnectAttributes | kLongAuthentication;

enum Status : std::uint16_t { kInTransaction = 0x1, kAutocommit = 0x2, kMoreResults = 0x8 };

enum Command : std::uint8_t {
  kQuit = 0x01,
  kInitDatabase = 0x02,
  kQuery = 0x03,
  kFieldList = 0x04,
  kStatistics = 0x09,
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

enum ColumnType : std::uint8_t {
  kTiny = 1,
  kShort = 2,
  kLong = 3,
  kFloat = 4,
  kDouble = 5,
  kNull = 6,
  kTimestampType = 7,
  kLongLong = 8,
  kInt24 = 9,
  kDate = 10,
  kTime = 11,
  kDatetime = 12,
  kYear = 13,
  kNewDecimal = 246,
  kVarString = 253,
  kString = 254,
};

// What was found at the beginning of a buffer.
struct Packet {
  enum class Kind : std::uint8_t { kPacket, kIncomplete, kTooLong };
  Kind kind = Kind::kIncomplete;
  std::string_view payload = {};  // borrowed
  std::uint8_t sequence = 0;
  std::size_t size = 0;  // with its header
};
Packet decode_packet(std::string_view bytes);

// Appends the payload, in several packets if it is that long. `sequence`: of the
// first, and afterwards of the next.
void put_packet(std::string& out, std::string_view payload, std::uint8_t& sequence);

// What a client answers to the greeting. None: malformed.
struct HandshakeResponse {
  std::uint32_t capabilities = 0;
  std::string user, database, plugin;
  std::string proof;        // of the password, as the plugin has it
  std::string application;  // the attribute program_name
  bool wants_ssl = false;   // and nothing else is known
};
std::optional<HandshakeResponse> decode_handshake(std::string_view payload);
// COM_CHANGE_USER without its first byte.
std::optional<HandshakeResponse> decode_change_user(std::string_view payload,
                                                    std::uint32_t capabilities);

// COM_STMT_EXECUTE without its first byte. Values are text as sessions have it.
// `types` are those of the statement's last execution, and replaced if the client sends
// new ones. `long_data`: what COM_STMT_SEND_LONG_DATA sent, by parameter.
struct ParameterType {
  std::uint8_t type = kVarString;
  bool is_unsigned = false;
};
struct ExecuteHead {
  std::uint32_t statement = 0;
  std::uint8_t cursor = 0;
};
std::optional<ExecuteHead> decode_execute_head(std::string_view payload);
// What a parameter of this type is to a session: an integer, a decimal, a double or text.
sql::Type sent_type(const ParameterType& type);
std::optional<std::vector<sql::Datum>> decode_execute_values(
    std::string_view payload, std::size_t count, std::vector<ParameterType>& types,
    const std::vector<std::optional<std::string>>& long_data);

// Payloads of what a server says.
std::string greeting(std::uint32_t connection, std::string_view scramble);
std::string auth_switch(std::string_view scramble);
struct Outcome {
  std::uint64_t affected = 0, last_insert_id = 0;
  std::uint16_t status = 0;
};
std::string ok(const Outcome& outcome);
std::string eof(std::uint16_t status);
std::string error(std::uint16_t number, std::string_view sqlstate, std::string_view message);
std::string column_definition(const sql::Column& column);
std::string parameter_definition();
std::string text_row(const std::vector<sql::Column>& columns, const std::vector<sql::Datum>& row);
// None: a value is not of its column's type.
std::optional<std::string> binary_row(const std::vector<sql::Column>& columns,
                                      const std::vector<sql::Datum>& row);
std::string prepare_ok(std::uint32_t statement, std::size_t columns, std::size_t parameters);

// What MySQL calls an SQLSTATE of PostgreSQL's, which sessions speak.
struct ErrorName {
  std::uint16_t number;
  std::string_view sqlstate;
};
ErrorName error_name(std::string_view sqlstate);

// SHA1(password) XOR SHA1(scramble, SHA1(SHA1(password))); empty for no password.
std::string native_password_proof(std::string_view password, std::string_view scramble);

}  // namespace cupel::wire::mysql
