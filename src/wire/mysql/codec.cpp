// Packets, messages and values of MySQL's protocol: see the header.
#include "wire/mysql/codec.hpp"

#include <fmt/format.h>
#include <openssl/evp.h>

#include <array>
#include <bit>
#include <charconv>
#include <cmath>

#include "wire/bytes.hpp"
#include "wire/calendar.hpp"

namespace cupel::wire::mysql {

namespace {

constexpr std::size_t kFullPacket = 0xffffff;
constexpr std::uint16_t kUtf8 = 45, kBinary = 63;  // utf8mb4_general_ci; no characters
constexpr std::uint16_t kServerStatus = kAutocommit;
// Of 8.0, so that clients ask what 8.0 knows.
constexpr std::string_view kVersion = "8.0.30-cupel-mock";

ColumnType type_of(sql::Type type) {
  switch (type) {
    case sql::Type::kNull:
      return kNull;
    case sql::Type::kBoolean:
      return kTiny;
    case sql::Type::kSmallint:
      return kShort;
    case sql::Type::kInteger:
      return kLong;
    case sql::Type::kBigint:
    case sql::Type::kUnsigned:
      return kLongLong;
    case sql::Type::kNumeric:
      return kNewDecimal;
    case sql::Type::kReal:
      return kFloat;
    case sql::Type::kDouble:
      return kDouble;
    case sql::Type::kDate:
      return kDate;
    case sql::Type::kTimestamp:
    case sql::Type::kTimestampTz:
      return kDatetime;
    case sql::Type::kText:
    case sql::Type::kVarchar:
      break;
    case sql::Type::kChar:
      return kString;
  }
  return kVarString;
}

bool is_text(ColumnType type) {
  return type == kVarString || type == kString;
}

std::uint32_t width_of(ColumnType type) {
  switch (type) {
    case kTiny:
      return 1;
    case kShort:
      return 6;
    case kLong:
      return 11;
    case kLongLong:
      return 20;
    case kNewDecimal:
      return 67;
    case kFloat:
      return 12;
    case kDouble:
      return 22;
    case kDate:
      return 10;
    case kDatetime:
      return 26;
    case kNull:
      return 0;
    default:
      return 4 * 65535;
  }
}

template <typename Number>
std::optional<Number> number_of(std::string_view text) {
  Number number{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

// A session's booleans are "t" and "f", MySQL's 1 and 0; MySQL shows no time zone.
std::string_view shown(sql::Type type, const std::string& text) {
  if (type == sql::Type::kTimestampTz && text.ends_with("+00"))
    return std::string_view(text).substr(0, text.size() - 3);
  if (type != sql::Type::kBoolean) return text;
  return text == "t" || text == "true" || text == "1" ? "1" : "0";
}

std::optional<std::string> datetime_text(Reader& in, bool with_time) {
  const auto size = in.little<std::uint8_t>();
  if (size != 0 && size != 4 && size != 7 && size != 11) return std::nullopt;
  unsigned year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0, microsecond = 0;
  if (size >= 4) {
    year = in.little<std::uint16_t>();
    month = in.little<std::uint8_t>();
    day = in.little<std::uint8_t>();
  }
  if (size >= 7) {
    hour = in.little<std::uint8_t>();
    minute = in.little<std::uint8_t>();
    second = in.little<std::uint8_t>();
  }
  if (size == 11) microsecond = in.little<std::uint32_t>();
  // Checked as text, by whoever takes it for a timestamp.
  if (microsecond > 999'999) return std::nullopt;
  return to_string({year, month, day, hour, minute, second, microsecond}, with_time);
}

std::optional<std::string> time_text(Reader& in) {
  const auto size = in.little<std::uint8_t>();
  if (size != 0 && size != 8 && size != 12) return std::nullopt;
  const bool negative = size > 0 && in.little<std::uint8_t>() != 0;
  const std::uint64_t days = size > 0 ? in.little<std::uint32_t>() : 0;
  std::uint64_t hour = 0;
  unsigned minute = 0, second = 0;
  if (size > 0) {
    hour = days * 24 + in.little<std::uint8_t>();
    minute = in.little<std::uint8_t>();
    second = in.little<std::uint8_t>();
  }
  auto text = fmt::format("{}{:02}:{:02}:{:02}", negative ? "-" : "", hour, minute, second);
  if (size == 12) text += fmt::format(".{:06}", in.little<std::uint32_t>());
  return text;
}

template <typename Float>
std::optional<std::string> float_text(Float number) {
  if (!std::isfinite(number)) return std::nullopt;  // MySQL has none
  return fmt::format("{}", number);
}

// None: malformed.
std::optional<std::string> value_text(Reader& in, const ParameterType& type) {
  const auto integer = [&](std::size_t size) {
    const auto bits = in.little<std::uint64_t>(size);
    if (type.is_unsigned) return std::to_string(bits);
    const auto unused = 64 - 8 * size;
    return std::to_string(static_cast<std::int64_t>(bits << unused) >> unused);
  };
  switch (type.type) {
    case kTiny:
      return integer(1);
    case kShort:
    case kYear:
      return integer(2);
    case kLong:
    case kInt24:
      return integer(4);
    case kLongLong:
      return integer(8);
    case kFloat:
      return float_text(std::bit_cast<float>(in.little<std::uint32_t>()));
    case kDouble:
      return float_text(std::bit_cast<double>(in.little<std::uint64_t>()));
    case kDate:
      return datetime_text(in, false);
    case kTimestampType:
    case kDatetime:
      return datetime_text(in, true);
    case kTime:
      return time_text(in);
    case 0:    // DECIMAL
    case 15:   // VARCHAR
    case 16:   // BIT
    case 245:  // JSON
    case kNewDecimal:
    case 247:  // ENUM
    case 248:  // SET
    case 249:  // TINY_BLOB to BLOB
    case 250:
    case 251:
    case 252:
    case kVarString:
    case kString:
    case 255:  // GEOMETRY
      return std::string(in.length_encoded_text());
    default:
      return std::nullopt;
  }
}

void put_definition(std::string& out, std::string_view table, std::string_view name,
                    ColumnType type, bool is_unsigned = false) {
  put_length_encoded_text(out, "def");
  put_length_encoded_text(out, "");  // schema
  put_length_encoded_text(out, table);
  put_length_encoded_text(out, table);
  put_length_encoded_text(out, name);
  put_length_encoded_text(out, name);
  put_length_encoded(out, 12);
  put_little(out, is_text(type) ? kUtf8 : kBinary, 2);
  put_little(out, width_of(type), 4);
  put_little(out, type, 1);
  put_little(out, is_text(type) ? 0 : is_unsigned ? 0xa0 : 0x80, 2);  // BINARY_FLAG, UNSIGNED_FLAG
  put_little(out, type == kDouble || type == kFloat ? 31 : 0, 1);  // decimals: as many as there are
  put_little(out, 0, 2);
}

using Digest = std::array<unsigned char, 20>;
Digest digest_of(std::string_view bytes) {
  Digest digest{};
  EVP_Digest(bytes.data(), bytes.size(), digest.data(), nullptr, EVP_sha1(), nullptr);
  return digest;
}
std::string_view view(const Digest& digest) {
  return {reinterpret_cast<const char*>(digest.data()), digest.size()};
}

// program_name, as libmysql and libmariadb send it.
std::string application_of(std::string_view attributes) {
  Reader in(attributes);
  while (!in.at_end() && !in.failed()) {
    const auto name = in.length_encoded_text();
    const auto value = in.length_encoded_text();
    if (!in.failed() && name == "program_name") return std::string(value);
  }
  return {};
}

}  // namespace

Packet decode_packet(std::string_view bytes) {
  Reader in(bytes);
  const auto length = in.little<std::uint32_t>(3);
  const auto sequence = in.little<std::uint8_t>();
  if (in.failed()) return {};
  if (length >= kLongestPacket) return {.kind = Packet::Kind::kTooLong, .sequence = sequence};
  if (in.left() < length) return {};
  return {.kind = Packet::Kind::kPacket,
          .payload = in.take(length),
          .sequence = sequence,
          .size = std::size_t{length} + 4};
}

void put_packet(std::string& out, std::string_view payload, std::uint8_t& sequence) {
  for (bool more = true; more;) {
    const auto part = payload.substr(0, kFullPacket);
    payload.remove_prefix(part.size());
    more = part.size() == kFullPacket;  // then one follows, if only an empty one
    put_little(out, part.size(), 3);
    put_little(out, sequence++, 1);
    out += part;
  }
}

std::optional<HandshakeResponse> decode_handshake(std::string_view payload) {
  Reader in(payload);
  HandshakeResponse response;
  response.capabilities = in.little<std::uint32_t>();
  in.little<std::uint32_t>();  // the longest packet it takes
  in.take(1);                  // character set
  in.take(23);
  if (in.failed() || (response.capabilities & kProtocol41) == 0) return std::nullopt;
  if (in.at_end() && (response.capabilities & kSsl) != 0) {
    response.wants_ssl = true;
    return response;
  }
  response.user = in.text_to_zero();
  if ((response.capabilities & kLongAuthentication) != 0) {
    response.proof = in.length_encoded_text();
  } else if ((response.capabilities & kSecureConnection) != 0) {
    response.proof = in.take(in.little<std::uint8_t>());
  } else {
    response.proof = in.text_to_zero();
  }
  // Not all clients send what they announce.
  if ((response.capabilities & kConnectWithDatabase) != 0 && !in.at_end())
    response.database = in.text_to_zero();
  if ((response.capabilities & kPluginAuthentication) != 0 && !in.at_end())
    response.plugin = in.text_to_zero();
  if ((response.capabilities & kConnectAttributes) != 0 && !in.at_end()) {
    response.application = application_of(in.length_encoded_text());
  }
  if (in.failed()) return std::nullopt;
  return response;
}

std::optional<HandshakeResponse> decode_change_user(std::string_view payload,
                                                    std::uint32_t capabilities) {
  Reader in(payload);
  HandshakeResponse response;
  response.capabilities = capabilities;
  response.user = in.text_to_zero();
  response.proof = in.take(in.little<std::uint8_t>());
  response.database = in.text_to_zero();
  if (!in.at_end()) in.take(2);  // character set
  if ((capabilities & kPluginAuthentication) != 0 && !in.at_end())
    response.plugin = in.text_to_zero();
  if ((capabilities & kConnectAttributes) != 0 && !in.at_end()) {
    response.application = application_of(in.length_encoded_text());
  }
  if (in.failed()) return std::nullopt;
  return response;
}

std::optional<ExecuteHead> decode_execute_head(std::string_view payload) {
  Reader in(payload);
  ExecuteHead head;
  head.statement = in.little<std::uint32_t>();
  head.cursor = in.little<std::uint8_t>();
  in.little<std::uint32_t>();  // iterations: always 1
  if (in.failed()) return std::nullopt;
  return head;
}

sql::Type sent_type(const ParameterType& type) {
  switch (type.type) {
    case kTiny:
    case kShort:
    case kLong:
    case kInt24:
    case kLongLong:
      return type.is_unsigned ? sql::Type::kUnsigned : sql::Type::kBigint;
    case kFloat:
      return sql::Type::kReal;
    case kDouble:
      return sql::Type::kDouble;
    case 0:
    case kNewDecimal:
      return sql::Type::kNumeric;
    default:
      return sql::Type::kText;
  }
}

std::optional<std::vector<sql::Datum>> decode_execute_values(
    std::string_view payload, std::size_t count, std::vector<ParameterType>& types,
    const std::vector<std::optional<std::string>>& long_data) {
  Reader in(payload);
  in.take(9);  // the head
  std::vector<sql::Datum> values;
  if (count == 0) return in.failed() ? std::nullopt : std::optional(values);
  const auto nulls = in.take((count + 7) / 8);
  if (in.little<std::uint8_t>() != 0) {
    if (in.left() < 2 * count) return std::nullopt;
    types.assign(count, {});
    for (auto& type : types) {
      type.type = in.little<std::uint8_t>();
      type.is_unsigned = (in.little<std::uint8_t>() & 0x80) != 0;
    }
  }
  if (in.failed() || types.size() != count) return std::nullopt;
  for (std::size_t i = 0; i < count; ++i) {
    if (i < long_data.size() && long_data[i]) {
      values.push_back(long_data[i]);
    } else if ((static_cast<unsigned char>(nulls[i / 8]) >> (i % 8) & 1) != 0 ||
               types[i].type == kNull) {
      values.emplace_back();
    } else {
      values.push_back(value_text(in, types[i]));
      if (!values.back()) return std::nullopt;
    }
  }
  if (!in.complete()) return std::nullopt;
  return values;
}

std::string greeting(std::uint32_t connection, std::string_view scramble) {
  std::string out;
  put_little(out, 10, 1);  // of the protocol
  put_text_and_zero(out, kVersion);
  put_little(out, connection, 4);
  out += scramble.substr(0, 8);
  out += '\0';
  put_little(out, kServerCapabilities & 0xffff, 2);
  put_little(out, kUtf8, 1);
  put_little(out, kServerStatus, 2);
  put_little(out, kServerCapabilities >> 16, 2);
  put_little(out, kScrambleSize + 1, 1);
  out.append(10, '\0');
  put_text_and_zero(out, scramble.substr(8, kScrambleSize - 8));
  put_text_and_zero(out, kNativePassword);
  return out;
}

std::string auth_switch(std::string_view scramble) {
  std::string out = "\xfe";
  put_text_and_zero(out, kNativePassword);
  put_text_and_zero(out, scramble);
  return out;
}

std::string ok(const Outcome& outcome) {
  std::string out(1, '\0');
  put_length_encoded(out, outcome.affected);
  put_length_encoded(out, outcome.last_insert_id);
  put_little(out, outcome.status, 2);
  put_little(out, 0, 2);  // warnings
  return out;
}

std::string eof(std::uint16_t status) {
  std::string out = "\xfe";
  put_little(out, 0, 2);  // warnings
  put_little(out, status, 2);
  return out;
}

std::string error(std::uint16_t number, std::string_view sqlstate, std::string_view message) {
  std::string out = "\xff";
  put_little(out, number, 2);
  out += '#';
  out += sqlstate;
  out += message;
  return out;
}

std::string column_definition(const sql::Column& column) {
  std::string out;
  put_definition(out, column.table, column.name, type_of(column.type),
                 column.type == sql::Type::kUnsigned);
  return out;
}

std::string parameter_definition() {
  std::string out;
  put_definition(out, "", "?", kVarString);
  return out;
}

std::string text_row(const std::vector<sql::Column>& columns, const std::vector<sql::Datum>& row) {
  std::string out;
  for (std::size_t i = 0; i < row.size(); ++i) {
    if (!row[i]) {
      out += '\xfb';
    } else {
      put_length_encoded_text(out, shown(columns[i].type, *row[i]));
    }
  }
  return out;
}

std::optional<std::string> binary_row(const std::vector<sql::Column>& columns,
                                      const std::vector<sql::Datum>& row) {
  std::string out(1, '\0');
  const auto nulls = out.size();
  out.append((row.size() + 2 + 7) / 8, '\0');
  for (std::size_t i = 0; i < row.size(); ++i) {
    if (!row[i]) {
      const auto bit = i + 2;
      out[nulls + bit / 8] = static_cast<char>(out[nulls + bit / 8] | 1 << (bit % 8));
      continue;
    }
    const auto text = shown(columns[i].type, *row[i]);
    switch (type_of(columns[i].type)) {
      case kTiny:
        put_little(out, text == "1" ? 1 : 0, 1);
        break;
      case kShort:
      case kLong:
      case kLongLong: {
        if (columns[i].type == sql::Type::kUnsigned) {
          const auto number = number_of<std::uint64_t>(text);
          if (!number) return std::nullopt;
          put_little(out, *number, 8);
          break;
        }
        const auto number = number_of<std::int64_t>(text);
        if (!number) return std::nullopt;
        const auto type = type_of(columns[i].type);
        put_little(out, static_cast<std::uint64_t>(*number),
                   type == kShort  ? 2
                   : type == kLong ? 4
                                   : 8);
        break;
      }
      case kFloat: {
        const auto number = number_of<float>(text);
        if (!number) return std::nullopt;
        put_little(out, std::bit_cast<std::uint32_t>(*number), 4);
        break;
      }
      case kDouble: {
        const auto number = number_of<double>(text);
        if (!number) return std::nullopt;
        put_little(out, std::bit_cast<std::uint64_t>(*number), 8);
        break;
      }
      case kDate:
      case kDatetime: {
        const auto time = parse_timestamp(text);
        if (!time) return std::nullopt;
        const bool with_time = type_of(columns[i].type) == kDatetime;
        put_little(out, !with_time ? 4 : time->microsecond != 0 ? 11 : 7, 1);
        put_little(out, static_cast<std::uint64_t>(time->year), 2);
        for (const unsigned part : {time->month, time->day}) put_little(out, part, 1);
        if (!with_time) break;
        for (const unsigned part : {time->hour, time->minute, time->second})
          put_little(out, part, 1);
        if (time->microsecond != 0) put_little(out, time->microsecond, 4);
        break;
      }
      case kNull:
        return std::nullopt;  // which is not null
      default:
        put_length_encoded_text(out, text);
        break;
    }
  }
  return out;
}

std::string prepare_ok(std::uint32_t statement, std::size_t columns, std::size_t parameters) {
  std::string out(1, '\0');
  put_little(out, statement, 4);
  put_little(out, columns, 2);
  put_little(out, parameters, 2);
  put_little(out, 0, 1);
  put_little(out, 0, 2);  // warnings
  return out;
}

ErrorName error_name(std::string_view sqlstate) {
  struct Entry {
    std::string_view from;
    ErrorName to;
  };
  static constexpr Entry kNames[] = {
      {"40001", {1213, "40001"}}, {"40P01", {1213, "40001"}}, {"25P03", {1205, "HY000"}},
      {"55P03", {1205, "HY000"}}, {"23505", {1062, "23000"}}, {"23502", {1048, "23000"}},
      {"23503", {1452, "23000"}}, {"23514", {3819, "HY000"}}, {"42P01", {1146, "42S02"}},
      {"42P07", {1050, "42S01"}}, {"42601", {1064, "42000"}}, {"42703", {1054, "42S22"}},
      {"42701", {1060, "42S21"}}, {"42702", {1052, "23000"}}, {"42803", {1055, "42000"}},
      {"42883", {1305, "42000"}}, {"42P02", {1210, "HY000"}}, {"3B001", {1305, "42000"}},
      {"3D000", {1049, "42000"}}, {"0A000", {1235, "42000"}}, {"22001", {1406, "22001"}},
      {"22003", {1264, "22003"}}, {"22007", {1292, "22007"}}, {"22008", {1292, "22007"}},
      {"22012", {1365, "22012"}}, {"22P02", {1366, "22007"}}, {"01000", {1265, "01000"}},
      {"22023", {1231, "42000"}}, {"21000", {1242, "21000"}}, {"25006", {1792, "25006"}},
      {"25001", {1568, "25001"}}, {"28000", {1045, "28000"}}, {"53300", {1040, "08004"}},
      {"57P01", {1053, "08S01"}}, {"57P03", {1053, "08S01"}}, {"57P05", {4031, "HY000"}},
      {"26000", {1094, "HY000"}}, {"42704", {1193, "HY000"}}, {"57014", {1317, "70100"}},
      {"08P01", {1835, "HY000"}}, {"08S01", {1153, "08S01"}}};
  for (const auto& entry : kNames) {
    if (entry.from == sqlstate) return entry.to;
  }
  return {1105, "HY000"};
}

std::string native_password_proof(std::string_view password, std::string_view scramble) {
  if (password.empty()) return {};
  const auto once = digest_of(password);
  const auto twice = digest_of(view(once));
  const auto mixed = digest_of(std::string(scramble) + std::string(view(twice)));
  std::string proof;
  for (std::size_t i = 0; i < once.size(); ++i) proof += static_cast<char>(once[i] ^ mixed[i]);
  return proof;
}

}  // namespace cupel::wire::mysql
