// Packets, messages, values and answers of MySQL's protocol; see the header.
#include "mock/wire/mysql/codec.hpp"

#include <fmt/format.h>

#include <bit>
#include <cmath>

#include "mock/wire/bytes.hpp"

namespace cupel::wire::mysql {

namespace {

constexpr std::size_t kFullPacket = 0xffffff;
constexpr std::uint8_t kOkByte = 0x00, kFileByte = 0xfb, kEofByte = 0xfe, kErrorByte = 0xff;
constexpr std::uint8_t kNullCell = 0xfb;
constexpr std::uint16_t kUnsignedFlag = 0x20;
constexpr std::uint32_t kLongPassword = 0x1;  // MariaDB: without it, capabilities of its own follow

enum ColumnType : std::uint8_t {
  kTiny = 1,
  kShort = 2,
  kLong = 3,
  kFloat = 4,
  kDouble = 5,
  kNull = 6,
  kTimestamp = 7,
  kLongLong = 8,
  kInt24 = 9,
  kDate = 10,
  kTime = 11,
  kDatetime = 12,
  kYear = 13,
  kNewDecimal = 246,
};

std::uint64_t length_encoded(Reader& in) {
  const auto first = in.little<std::uint8_t>();
  if (first < 0xfb) return first;
  if (first == 0xfc) return in.little<std::uint64_t>(2);
  if (first == 0xfd) return in.little<std::uint64_t>(3);
  if (first == 0xfe) return in.little<std::uint64_t>(8);
  in.take(in.left() + 1);  // no number
  return 0;
}
std::string_view length_encoded_text(Reader& in) {
  return in.take(length_encoded(in));
}

std::uint8_t byte_of(std::string_view payload, std::size_t at = 0) {
  return at < payload.size() ? static_cast<std::uint8_t>(payload[at]) : 0;
}

bool is_eof(std::string_view payload) {
  return byte_of(payload) == kEofByte && payload.size() < 9;
}

std::string program_of(std::string_view attributes) {
  Reader in(attributes);
  while (!in.at_end() && !in.failed()) {
    const auto name = length_encoded_text(in);
    const auto value = length_encoded_text(in);
    if (!in.failed() && name == "program_name") return std::string(value);
  }
  return {};
}

std::string fraction(std::uint32_t microseconds, std::uint8_t decimals) {
  if (decimals == 0 || decimals > 6) return "";
  return "." + fmt::format("{:06}", microseconds).substr(0, decimals);
}

std::optional<std::string> datetime_text(Reader& in, bool with_time, std::uint8_t decimals) {
  const auto size = in.little<std::uint8_t>();
  if (size != 0 && size != 4 && size != 7 && size != 11) return std::nullopt;
  unsigned year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0;
  std::uint32_t microseconds = 0;
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
  if (size == 11) microseconds = in.little<std::uint32_t>();
  auto text = fmt::format("{:04}-{:02}-{:02}", year, month, day);
  if (with_time)
    text +=
        fmt::format(" {:02}:{:02}:{:02}", hour, minute, second) + fraction(microseconds, decimals);
  return text;
}

std::optional<std::string> time_text(Reader& in, std::uint8_t decimals) {
  const auto size = in.little<std::uint8_t>();
  if (size != 0 && size != 8 && size != 12) return std::nullopt;
  bool negative = false;
  std::uint64_t hours = 0;
  unsigned minute = 0, second = 0;
  std::uint32_t microseconds = 0;
  if (size > 0) {
    negative = in.little<std::uint8_t>() != 0;
    hours = std::uint64_t{in.little<std::uint32_t>()} * 24;
    hours += in.little<std::uint8_t>();
    minute = in.little<std::uint8_t>();
    second = in.little<std::uint8_t>();
  }
  if (size == 12) microseconds = in.little<std::uint32_t>();
  return fmt::format("{}{:02}:{:02}:{:02}", negative ? "-" : "", hours, minute, second) +
         fraction(microseconds, decimals);
}

// None: malformed, or of a type that is not known.
Cell value_text(Reader& in, std::uint8_t type, bool is_unsigned, std::uint8_t decimals) {
  const auto integer = [&](std::size_t size) {
    const auto bits = in.little<std::uint64_t>(size);
    if (is_unsigned) return std::to_string(bits);
    const auto unused = 64 - 8 * size;
    return std::to_string(static_cast<std::int64_t>(bits << unused) >> unused);
  };
  switch (type) {
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
      return fmt::format("{}", std::bit_cast<float>(in.little<std::uint32_t>()));
    case kDouble:
      return fmt::format("{}", std::bit_cast<double>(in.little<std::uint64_t>()));
    case kDate:
      return datetime_text(in, false, 0);
    case kTimestamp:
    case kDatetime:
      return datetime_text(in, true, decimals);
    case kTime:
      return time_text(in, decimals);
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
    case 253:  // VAR_STRING
    case 254:  // STRING
    case 255:  // GEOMETRY
      return std::string(length_encoded_text(in));
    default:
      return std::nullopt;
  }
}

bool is_null(std::string_view bits, std::size_t at) {
  return (byte_of(bits, at / 8) >> (at % 8) & 1) != 0;
}

}  // namespace

bool has_answer(std::uint8_t command) {
  return command != kQuit && command != kSendLongData && command != kCloseStatement;
}

void decode_packet(std::string_view bytes, std::size_t longest, Packet& packet) {
  packet.kind = Packet::Kind::kIncomplete;
  packet.joined.clear();
  Reader in(bytes);
  std::size_t whole = 0;
  for (bool first = true;; first = false) {
    const auto length = in.little<std::uint32_t>(3);
    packet.sequence = in.little<std::uint8_t>();
    if (in.failed()) return;
    whole += length;
    if (whole > longest) {
      packet.kind = Packet::Kind::kTooLong;
      return;
    }
    const auto part = in.take(length);
    if (in.failed()) return;
    const bool more = length == kFullPacket;
    if (first && !more) {
      packet.payload = part;
    } else {
      packet.joined += part;
      packet.payload = packet.joined;
    }
    if (!more) break;
  }
  packet.kind = Packet::Kind::kPacket;
  packet.size = bytes.size() - in.left();
}

void put_packet(std::string& out, std::string_view payload, std::uint8_t sequence) {
  for (bool more = true; more;) {
    const auto part = payload.substr(0, kFullPacket);
    payload.remove_prefix(part.size());
    more = part.size() == kFullPacket;  // then one follows, if only an empty one
    put_little(out, part.size(), 3);
    put_little(out, sequence++, 1);
    out += part;
  }
}

std::optional<Greeting> decode_greeting(std::string_view payload) {
  Reader in(payload);
  if (in.little<std::uint8_t>() != 10) return std::nullopt;
  Greeting greeting;
  in.text_to_zero();
  greeting.connection = in.little<std::uint32_t>();
  in.take(8);
  in.take(1);
  greeting.capabilities = in.little<std::uint16_t>();
  in.take(3);  // character set, status
  greeting.capabilities |= in.little<std::uint32_t>(2) << 16;
  in.take(11);  // the length of the scramble, and ten that are unused or MariaDB's own
  if (in.failed()) return std::nullopt;
  return greeting;
}

bool simplify_greeting(std::string& payload) {
  if (!decode_greeting(payload)) return false;
  const auto after_version = payload.find('\0', 1) + 1;
  const auto clear = [&](std::size_t at, unsigned bits) {
    const auto kept = byte_of(payload, after_version + at) & ~bits;
    payload[after_version + at] = static_cast<char>(kept);
  };
  constexpr std::size_t kLow = 13, kHigh = 18, kOfMariadb = 27;
  clear(kLow, kCompress);
  clear(kLow + 1, kSsl >> 8);
  // CLIENT_DEPRECATE_EOF, optional metadata, Zstandard, query attributes and what came later.
  clear(kHigh + 1, 0xff);
  if ((byte_of(payload, after_version + kLow) & kLongPassword) == 0) {
    for (std::size_t at = kOfMariadb; at < kOfMariadb + 4; ++at) clear(at, 0xff);
  }
  return true;
}

bool offers_tls(std::string_view greeting) {
  const auto decoded = decode_greeting(greeting);
  return decoded && (decoded->capabilities & kSsl) != 0;
}

std::string tls_request() {
  constexpr std::uint32_t kLongest = 1U << 24, kUtf8 = 45;
  std::string payload;
  put_little(payload, kProtocol41 | kSsl | kSecureConnection | kPluginAuthentication, 4);
  put_little(payload, kLongest, 4);
  put_little(payload, kUtf8, 1);
  payload.append(23, '\0');
  return payload;
}

void mark_tls(std::string& login) {
  if (login.size() > 1) login[1] = static_cast<char>(login[1] | (kSsl >> 8));
}

std::optional<Login> decode_login(std::string_view payload) {
  Reader in(payload);
  Login login;
  login.capabilities = in.little<std::uint32_t>();
  in.take(28);  // the longest packet it takes, character set, unused or MariaDB's own
  if (in.failed() || (login.capabilities & kProtocol41) == 0) return std::nullopt;
  if (in.at_end() && (login.capabilities & kSsl) != 0) {
    login.wants_ssl = true;
    return login;
  }
  login.user = in.text_to_zero();
  if ((login.capabilities & kLongAuthentication) != 0) {
    length_encoded_text(in);
  } else if ((login.capabilities & kSecureConnection) != 0) {
    in.take(in.little<std::uint8_t>());
  } else {
    in.text_to_zero();
  }
  login.database_at = payload.size() - in.left();
  // Not all clients send what they announce.
  if ((login.capabilities & kConnectWithDatabase) != 0 && !in.at_end())
    login.database = in.text_to_zero();
  if ((login.capabilities & kPluginAuthentication) != 0 && !in.at_end()) in.text_to_zero();
  if ((login.capabilities & kConnectAttributes) != 0 && !in.at_end())
    login.program = program_of(length_encoded_text(in));
  if (in.failed()) return std::nullopt;
  return login;
}

std::optional<Login> decode_change_user(std::string_view payload, std::uint32_t capabilities) {
  Reader in(payload);
  Login login;
  login.capabilities = capabilities;
  login.user = in.text_to_zero();
  in.take(in.little<std::uint8_t>());
  login.database_at = payload.size() - in.left();
  login.database = in.text_to_zero();
  if (in.failed()) return std::nullopt;
  return login;
}

bool is_number(std::uint8_t type) {
  switch (type) {
    case 0:
    case kTiny:
    case kShort:
    case kLong:
    case kInt24:
    case kLongLong:
    case kYear:
    case kFloat:
    case kDouble:
    case kNewDecimal:
      return true;
    default:
      return false;
  }
}

std::optional<ExecuteHead> decode_execute_head(std::string_view payload) {
  Reader in(payload);
  ExecuteHead head;
  head.statement = in.little<std::uint32_t>();
  head.cursor = in.little<std::uint8_t>();
  in.take(4);  // iterations: always 1
  if (in.failed()) return std::nullopt;
  return head;
}

std::optional<std::vector<Cell>> decode_execute_values(std::string_view payload, std::size_t count,
                                                       std::vector<ParameterType>& types,
                                                       const std::vector<Cell>& long_data) {
  Reader in(payload);
  in.take(9);  // the head
  std::vector<Cell> values;
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
    } else if (is_null(nulls, i) || types[i].type == kNull) {
      values.emplace_back();
    } else {
      values.push_back(value_text(in, types[i].type, types[i].is_unsigned, 6));
      if (!values.back()) return std::nullopt;
    }
  }
  if (!in.complete()) return std::nullopt;
  return values;
}

Answer::Answer(std::uint8_t command) : command_(command) {
  if (command == kFetch || command == kFieldList) next_ = Next::kRow;
}

void Answer::note_status(std::string_view payload, std::size_t at) {
  Reader in(payload.substr(std::min(at, payload.size())));
  const auto status = in.little<std::uint16_t>();
  if (in.failed()) return;
  status_ = status;
  status_at_ = at;
}

void Answer::end_result() {
  result_ended_ = true;
  ended_ = (status_.value_or(0) & kMoreResults) == 0;
  next_ = Next::kFirst;
}

Answer::Part Answer::take(std::string_view payload) {
  result_ended_ = ended_ = false;
  status_.reset();
  switch (next_) {
    case Next::kFirst:
      return first(payload);
    case Next::kColumn:
      if (--left_ == 0) next_ = Next::kColumnsEnd;
      return Part::kColumn;
    case Next::kColumnsEnd:
      next_ = Next::kRow;
      note_status(payload, 3);
      if ((status_.value_or(0) & kCursorExists) != 0) {  // the rows wait for COM_STMT_FETCH
        result_ended_ = ended_ = true;
        next_ = Next::kFirst;
      }
      return Part::kColumnsEnd;
    case Next::kRow:
      if (byte_of(payload) == kErrorByte) {
        result_ended_ = ended_ = true;
        return Part::kError;
      }
      if (!is_eof(payload)) return Part::kRow;
      note_status(payload, 3);
      end_result();
      return Part::kRowsEnd;
    case Next::kDefinitions:
      if (--left_ == 0) result_ended_ = ended_ = true;
      return Part::kOther;
  }
  return Part::kOther;
}

Answer::Part Answer::first(std::string_view payload) {
  const auto kind = byte_of(payload);
  if (kind == kErrorByte) {
    result_ended_ = ended_ = true;
    return Part::kError;
  }
  if (command_ == kStatistics || payload.empty()) {
    result_ended_ = ended_ = true;
    return Part::kOther;
  }
  if (command_ == kPrepare) return prepared(payload);
  if (kind == kOkByte) {
    Reader in(payload.substr(1));
    length_encoded(in);  // rows
    length_encoded(in);  // the last number that was drawn
    note_status(payload, payload.size() - in.left());
    end_result();
    return Part::kOk;
  }
  if (is_eof(payload)) {
    note_status(payload, 3);
    result_ended_ = ended_ = true;
    return Part::kOther;
  }
  if (kind == kFileByte) return Part::kFile;
  Reader in(payload);
  left_ = length_encoded(in);
  if (in.failed() || left_ == 0) {
    result_ended_ = ended_ = true;
    return Part::kOther;
  }
  next_ = Next::kColumn;
  return Part::kColumns;
}

Answer::Part Answer::prepared(std::string_view payload) {
  const auto said = decode_prepared(payload);
  if (said) {
    left_ = std::uint64_t{said->parameters} + (said->parameters > 0 ? 1 : 0) + said->columns +
            (said->columns > 0 ? 1 : 0);
  }
  if (!said || left_ == 0) {
    result_ended_ = ended_ = true;
  } else {
    next_ = Next::kDefinitions;
  }
  return Part::kPrepared;
}

std::optional<Prepared> decode_prepared(std::string_view payload) {
  Reader in(payload);
  Prepared prepared;
  if (in.little<std::uint8_t>() != kOkByte) return std::nullopt;
  prepared.statement = in.little<std::uint32_t>();
  prepared.columns = in.little<std::uint16_t>();
  prepared.parameters = in.little<std::uint16_t>();
  if (in.failed()) return std::nullopt;
  return prepared;
}

std::optional<Column> decode_column(std::string_view payload) {
  Reader in(payload);
  Column column;
  for (int i = 0; i < 4; ++i) length_encoded_text(in);  // catalog, schema, table, its own name
  column.name = length_encoded_text(in);
  length_encoded_text(in);  // the column's own name
  length_encoded(in);
  in.take(6);  // character set, width
  column.type = in.little<std::uint8_t>();
  column.is_unsigned = (in.little<std::uint16_t>() & kUnsignedFlag) != 0;
  column.decimals = in.little<std::uint8_t>();
  if (in.failed()) return std::nullopt;
  return column;
}

std::optional<std::vector<Cell>> decode_text_row(std::string_view payload) {
  Reader in(payload);
  std::vector<Cell> cells;
  while (!in.at_end() && !in.failed()) {
    if (byte_of(payload, payload.size() - in.left()) == kNullCell) {
      in.take(1);
      cells.emplace_back();
    } else {
      cells.emplace_back(std::string(length_encoded_text(in)));
    }
  }
  if (in.failed()) return std::nullopt;
  return cells;
}

std::optional<std::vector<Cell>> decode_binary_row(std::string_view payload,
                                                   const std::vector<Column>& columns) {
  Reader in(payload);
  in.take(1);
  constexpr std::size_t kFirstBit = 2;
  const auto nulls = in.take((columns.size() + 7 + kFirstBit) / 8);
  std::vector<Cell> cells;
  for (std::size_t i = 0; i < columns.size() && !in.failed(); ++i) {
    const auto& column = columns[i];
    if (is_null(nulls, i + kFirstBit)) {
      cells.emplace_back();
      continue;
    }
    cells.push_back(value_text(in, column.type, column.is_unsigned, column.decimals));
    if (!cells.back()) return std::nullopt;
  }
  if (!in.complete()) return std::nullopt;
  return cells;
}

std::optional<Failure> decode_error(std::string_view payload) {
  Reader in(payload);
  if (in.little<std::uint8_t>() != kErrorByte) return std::nullopt;
  Failure failure;
  failure.number = in.little<std::uint16_t>();
  if (in.failed()) return std::nullopt;
  auto rest = in.rest();
  if (rest.starts_with('#') && rest.size() >= 6) {
    failure.sqlstate = rest.substr(1, 5);
    rest.remove_prefix(6);
  }
  failure.message = rest;
  return failure;
}

std::string error_payload(const Failure& failure) {
  std::string out(1, static_cast<char>(kErrorByte));
  put_little(out, failure.number, 2);
  return out + '#' + failure.sqlstate + failure.message;
}

}  // namespace cupel::wire::mysql
