// PostgreSQL's wire protocol, version 3, as messages: bytes in, what a client says out,
// and the reverse for what a server says. No socket and no state.
//
// Source: PostgreSQL 15 documentation, chapter 55, "Message Formats". Lengths are
// looked at before anything is kept: a message may be kLongestMessage long, the first
// one of a connection kLongestStartup.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace cupel::wire::postgres {

inline constexpr std::size_t kLongestMessage = std::size_t{4} << 20;
inline constexpr std::size_t kLongestStartup = 10000;  // as PostgreSQL
using Oid = std::uint32_t;

// What was found at the beginning of a buffer. `size`: bytes of it that are done with.
template <typename Message>
struct Decoded {
  enum class Kind : std::uint8_t { kMessage, kIncomplete, kMalformed };
  Kind kind = Kind::kIncomplete;
  Message message = {};
  std::size_t size = 0;
  std::string wrong = {};  // kMalformed: a sentence without its full stop
};

// The first messages of a connection, which have no letter.
struct Startup {
  std::uint16_t minor = 0;  // of version 3
  std::vector<std::pair<std::string, std::string>> parameters;
};
struct EncryptionRequest {};  // SSL or GSS: answered by 'N'
struct CancelRequest {
  std::uint32_t process = 0, secret = 0;
};
struct UnknownVersion {
  std::uint32_t major = 0, minor = 0;
};
using Opening = std::variant<EncryptionRequest, Startup, CancelRequest, UnknownVersion>;
Decoded<Opening> decode_opening(std::string_view bytes);

// Texts and values are borrowed from the buffer.
struct Query {
  std::string_view text;
};
struct Parse {
  std::string_view name, text;
  std::vector<Oid> types;  // 0: not said
};
struct Bind {
  std::string_view portal, statement;
  std::vector<std::int16_t> formats;  // none: all text; one: of all
  std::vector<std::optional<std::string_view>> values;
  std::vector<std::int16_t> result_formats;
};
enum class Target : char { kStatement = 'S', kPortal = 'P' };
struct Describe {
  Target target = Target::kStatement;
  std::string_view name;
};
struct Execute {
  std::string_view portal;
  std::uint32_t rows = 0;  // 0: all
};
struct Close {
  Target target = Target::kStatement;
  std::string_view name;
};
struct Flush {};
struct Sync {};
struct Terminate {};
struct Password {
  std::string_view text;
};
struct CopyPart {};  // CopyData, CopyDone, CopyFail
struct FunctionCall {};
using Frontend = std::variant<Query, Parse, Bind, Describe, Execute, Close, Flush, Sync, Terminate,
                              Password, CopyPart, FunctionCall>;
Decoded<Frontend> decode(std::string_view bytes);

// What a server says; each is appended.
void put_authentication_ok(std::string& out);
void put_cleartext_password(std::string& out);
void put_negotiate_version(std::string& out, std::uint32_t newest_minor,
                           std::span<const std::string> unknown_options);
void put_parameter_status(std::string& out, std::string_view name, std::string_view value);
void put_key_data(std::string& out, std::uint32_t process, std::uint32_t secret);
void put_ready(std::string& out, char state);
void put_parse_complete(std::string& out);
void put_bind_complete(std::string& out);
void put_close_complete(std::string& out);
void put_no_data(std::string& out);
void put_portal_suspended(std::string& out);
void put_empty_query(std::string& out);
void put_command_complete(std::string& out, std::string_view tag);
void put_parameter_description(std::string& out, std::span<const Oid> types);

struct Field {
  std::string_view name;
  Oid type = 25;
  std::int16_t size = -1;
  std::int16_t format = 0;
  std::int32_t modifier = -1;  // of the type
  std::uint32_t table = 0;     // 0: of none
  std::uint16_t number = 0;    // of the column in its table, from 1
};
void put_row_description(std::string& out, std::span<const Field> fields);
void put_data_row(std::string& out, std::span<const std::optional<std::string>> values);

// The fields of an error or a notice.
struct Report {
  std::string_view severity = "ERROR";  // FATAL, WARNING
  std::string_view sqlstate = "XX000";
  std::string_view message;
  std::string_view detail = {};
  std::string_view hint = {};
  std::optional<std::uint32_t> position = {};
  std::string_view table = {};  // of the violated constraint, as the next two
  std::string_view column = {};
  std::string_view constraint = {};
};
void put_error(std::string& out, const Report& report);
void put_notice(std::string& out, const Report& report);

}  // namespace cupel::wire::postgres
