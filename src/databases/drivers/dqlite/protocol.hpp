// dqlite's wire protocol, version 1 (dqlite.io, page Wire protocol): bytes only, no socket.
//
// Everything consists of words of 8 bytes, numbers are little endian. A client says hello once,
// then sends requests, each of which has an answer; rows come in several answers. A message is the
// length of its body in words (4 bytes), its type (1), the schema of the body (1), 2 unused bytes,
// and the body. A text ends with a zero byte and is filled up to a whole word, so it can hold no
// zero byte.
//
// A row starts with its columns' types, 4 bits each and filled up to a whole word; parameters with
// their number and types, a byte each. A value is one word, or a text, or a length and bytes.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "data/workload/statement.hpp"

namespace cupel::drivers::dqlite {

inline constexpr std::size_t kHeaderSize = 8;
inline constexpr std::uint64_t kLargestBody = std::uint64_t{1} << 28U;  // bytes, of what is read
inline constexpr std::size_t kMostParameters = 255;

// What a client sends.
std::string hello();
std::string ask_leader();
std::string open_database(std::string_view name);
// Statements run in the database that was opened. None of the texts has a zero byte, and there are
// at most kMostParameters.
std::string execute(std::string_view sql, std::span<const workload::Datum> parameters = {});
std::string query(std::string_view sql, std::span<const workload::Datum> parameters = {});

// Whether a text can be sent.
bool can_be_sent(std::string_view text);

enum class AnswerType : std::uint8_t {
  kFailure = 0,
  kServer = 1,
  kDatabase = 4,
  kResult = 6,
  kRows = 7,
};

struct Header {
  AnswerType type = AnswerType::kFailure;  // or a value that has no name
  std::uint64_t body_size = 0;             // in bytes
};
// Of kHeaderSize bytes.
Header parse_header(std::string_view bytes);

// The bodies of answers; none: no such body.
struct ServerFailure {
  std::uint64_t code = 0;  // SQLite's, extended, or of ServerCode
  std::string message;
};
std::optional<ServerFailure> parse_failure(std::string_view body);
// Who is the leader, "127.0.0.1:9001"; empty: the server knows none.
std::optional<std::string> parse_leader(std::string_view body);
// How many rows a statement touched.
std::optional<std::uint64_t> parse_result(std::string_view body);
struct Rows {
  std::vector<std::vector<workload::Datum>> rows;
  bool last = false;  // no further answer follows
};
// A number with a fraction is its decimals.
std::optional<Rows> parse_rows(std::string_view body);

}  // namespace cupel::drivers::dqlite
