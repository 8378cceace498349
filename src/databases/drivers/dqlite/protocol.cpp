// dqlite's wire protocol: see the header.
#include "databases/drivers/dqlite/protocol.hpp"

#include <fmt/format.h>

#include <bit>
#include <cstring>

namespace cupel::drivers::dqlite {

using workload::Datum;

namespace {

constexpr std::size_t kWord = 8;
constexpr std::uint64_t kVersion = 1;
constexpr std::uint64_t kDatabase = 0;  // a connection has one, with this number
constexpr std::uint64_t kLastRows = ~std::uint64_t{0}, kMoreRows = 0xeeee'eeee'eeee'eeee;
constexpr std::uint64_t kMostColumns = 32767;  // SQLite's limit

enum class RequestType : std::uint8_t { kLeader = 0, kOpen = 3, kExecuteSql = 8, kQuerySql = 9 };

// SQLite's types, and three more by which the server marks columns that were declared so.
enum ValueType : std::uint8_t {
  kInteger = 1,
  kFloat = 2,
  kText = 3,
  kBlob = 4,
  kNull = 5,
  kUnixTime = 9,
  kIso8601 = 10,
  kBoolean = 11,
};

void fill_word(std::string& bytes) {
  bytes.resize((bytes.size() + kWord - 1) / kWord * kWord, '\0');
}
void add_number(std::string& bytes, std::uint64_t number, std::size_t width = kWord) {
  for (std::size_t i = 0; i < width; ++i) bytes += static_cast<char>(number >> (8 * i) & 0xffU);
}
void add_text(std::string& bytes, std::string_view text) {
  bytes += text;
  bytes += '\0';
  fill_word(bytes);
}

std::string message(RequestType type, const std::string& body) {
  std::string bytes;
  add_number(bytes, body.size() / kWord, 4);
  bytes += static_cast<char>(type);
  fill_word(bytes);
  return bytes + body;
}

ValueType type_of(const Datum& datum) {
  if (std::holds_alternative<std::int64_t>(datum)) return kInteger;
  return std::holds_alternative<std::string>(datum) ? kText : kNull;
}

std::string statement(RequestType type, std::string_view sql, std::span<const Datum> parameters) {
  std::string body;
  add_number(body, kDatabase);
  add_text(body, sql);
  if (!parameters.empty()) {
    body += static_cast<char>(parameters.size());
    for (const auto& parameter : parameters) body += static_cast<char>(type_of(parameter));
    fill_word(body);
  }
  for (const auto& parameter : parameters) {
    if (const auto* integer = std::get_if<std::int64_t>(&parameter)) {
      add_number(body, static_cast<std::uint64_t>(*integer));
    } else if (const auto* text = std::get_if<std::string>(&parameter)) {
      add_text(body, *text);
    } else {
      add_number(body, 0);
    }
  }
  return message(type, body);
}

// Takes words from the front of a body. After a read past its end nothing is left, and bad() says
// so.
class Cursor {
 public:
  explicit Cursor(std::string_view body) : left_(body) {}

  std::uint64_t number() {
    const auto bytes = take(kWord);
    std::uint64_t value = 0;
    for (std::size_t i = 0; i < bytes.size(); ++i) {
      value |= std::uint64_t{static_cast<unsigned char>(bytes[i])} << (8 * i);
    }
    return value;
  }
  std::string_view text() {
    const auto size = left_.find('\0');
    if (size == std::string_view::npos) return take(left_.size() + 1);
    return take_filled(size, size + 1);
  }
  std::string_view blob() {
    const auto size = number();
    if (size > left_.size()) return take(left_.size() + 1);
    return take_filled(static_cast<std::size_t>(size), static_cast<std::size_t>(size));
  }
  std::string_view take(std::size_t size) {
    bad_ = bad_ || size > left_.size();
    const auto bytes = bad_ ? std::string_view() : left_.substr(0, size);
    left_ = bad_ ? std::string_view() : left_.substr(size);
    return bytes;
  }
  [[nodiscard]] bool bad() const { return bad_; }

 private:
  // `size` bytes of `used`, which are filled up to a word.
  std::string_view take_filled(std::size_t size, std::size_t used) {
    return take((used + kWord - 1) / kWord * kWord).substr(0, size);
  }

  std::string_view left_;
  bool bad_ = false;
};

// Error: a type that is none.
std::optional<Datum> value(Cursor& cursor, std::uint8_t type) {
  switch (type) {
    case kInteger:
    case kUnixTime:
    case kBoolean:
      return Datum(static_cast<std::int64_t>(cursor.number()));
    case kFloat:
      return Datum(fmt::format("{}", std::bit_cast<double>(cursor.number())));
    case kText:
    case kIso8601:
      return Datum(std::string(cursor.text()));
    case kBlob:
      return Datum(std::string(cursor.blob()));
    case kNull:
      cursor.number();
      return Datum();
    default:
      return std::nullopt;
  }
}

}  // namespace

std::string hello() {
  std::string bytes;
  add_number(bytes, kVersion);
  return bytes;
}

std::string ask_leader() {
  std::string body;
  add_number(body, 0);
  return message(RequestType::kLeader, body);
}

std::string open_database(std::string_view name) {
  std::string body;
  add_text(body, name);
  add_number(body, 0);  // flags
  add_text(body, "");   // the file system: the server's own
  return message(RequestType::kOpen, body);
}

std::string execute(std::string_view sql, std::span<const Datum> parameters) {
  return statement(RequestType::kExecuteSql, sql, parameters);
}

std::string query(std::string_view sql, std::span<const Datum> parameters) {
  return statement(RequestType::kQuerySql, sql, parameters);
}

bool can_be_sent(std::string_view text) {
  return text.find('\0') == std::string_view::npos;
}

Header parse_header(std::string_view bytes) {
  const auto word = Cursor(bytes).number();
  return {.type = static_cast<AnswerType>(word >> 32U & 0xffU),
          .body_size = (word & 0xffff'ffffU) * kWord};
}

std::optional<ServerFailure> parse_failure(std::string_view body) {
  Cursor cursor(body);
  ServerFailure failure{.code = cursor.number(), .message = std::string(cursor.text())};
  return cursor.bad() ? std::nullopt : std::optional(std::move(failure));
}

std::optional<std::string> parse_leader(std::string_view body) {
  Cursor cursor(body);
  cursor.number();  // its id
  std::string address(cursor.text());
  return cursor.bad() ? std::nullopt : std::optional(std::move(address));
}

std::optional<std::uint64_t> parse_result(std::string_view body) {
  Cursor cursor(body);
  cursor.number();  // the id of the last row inserted
  const auto touched = cursor.number();
  return cursor.bad() ? std::nullopt : std::optional(touched);
}

std::optional<Rows> parse_rows(std::string_view body) {
  Cursor cursor(body);
  const auto columns = cursor.number();
  if (columns == 0 || columns > kMostColumns) return std::nullopt;
  for (std::uint64_t i = 0; i < columns && !cursor.bad(); ++i) cursor.text();  // its name
  Rows result;
  const auto type_words = (columns + 15) / 16;
  std::vector<std::uint64_t> types(type_words);
  while (!cursor.bad()) {
    types[0] = cursor.number();
    // No column has a type of 14 or 15, so these are no types.
    if (types[0] == kLastRows || types[0] == kMoreRows) {
      if (cursor.bad()) break;
      result.last = types[0] == kLastRows;
      return result;
    }
    for (std::size_t i = 1; i < types.size(); ++i) types[i] = cursor.number();
    auto& row = result.rows.emplace_back();
    for (std::uint64_t i = 0; i < columns && !cursor.bad(); ++i) {
      auto datum = value(cursor, types[i / 16] >> (4 * (i % 16)) & 0xfU);
      if (!datum) return std::nullopt;
      row.push_back(*std::move(datum));
    }
  }
  return std::nullopt;
}

}  // namespace cupel::drivers::dqlite
