// Lengths first, then each message field by field: see the header.
#include "mock/wire/postgres/codec.hpp"

#include <fmt/format.h>

#include "mock/wire/bytes.hpp"

namespace cupel::wire::postgres {

namespace {

constexpr std::uint32_t kSslRequest = 80877103, kGssRequest = 80877104, kCancel = 80877102;

template <typename Message>
Decoded<Message> malformed(std::string wrong) {
  return {.kind = Decoded<Message>::Kind::kMalformed, .wrong = std::move(wrong)};
}

// A message of a letter, whose length is put in when it is written.
class Message {
 public:
  Message(std::string& out, char letter) : out_(out), at_(out.size()) {
    out.append({letter, 0, 0, 0, 0});
  }
  ~Message() {
    std::string length;
    put_big(length, static_cast<std::uint32_t>(out_.size() - at_ - 1));
    out_.replace(at_ + 1, 4, length);
  }
  Message(const Message&) = delete;
  Message& operator=(const Message&) = delete;

 private:
  std::string& out_;
  std::size_t at_;
};

void put_report(std::string& out, char letter, const Report& report) {
  const Message message(out, letter);
  const auto field = [&](char name, std::string_view text) {
    out += name;
    put_text_and_zero(out, text);
  };
  field('S', report.severity);
  field('V', report.severity);
  field('C', report.sqlstate);
  field('M', report.message);
  if (!report.detail.empty()) field('D', report.detail);
  if (!report.hint.empty()) field('H', report.hint);
  if (report.position) field('P', std::to_string(*report.position));
  if (!report.table.empty()) {
    field('s', "public");
    field('t', report.table);
  }
  if (!report.column.empty()) field('c', report.column);
  if (!report.constraint.empty()) field('n', report.constraint);
  out += '\0';
}

std::vector<std::int16_t> formats_of(Reader& in) {
  std::vector<std::int16_t> formats(in.big<std::uint16_t>());
  if (formats.size() * 2 > in.left()) {
    in.take(in.left() + 1);
    return {};
  }
  for (auto& format : formats) format = in.big<std::int16_t>();
  return formats;
}

Parse parse_of(Reader& in) {
  Parse parse;
  parse.name = in.text_to_zero();
  parse.text = in.text_to_zero();
  std::size_t count = in.big<std::uint16_t>();
  for (; count > 0 && !in.failed(); --count) parse.types.push_back(in.big<Oid>());
  return parse;
}

Bind bind_of(Reader& in) {
  Bind bind;
  bind.portal = in.text_to_zero();
  bind.statement = in.text_to_zero();
  bind.formats = formats_of(in);
  std::size_t count = in.big<std::uint16_t>();
  for (; count > 0 && !in.failed(); --count) {
    const auto length = in.big<std::int32_t>();
    if (length == -1) {
      bind.values.emplace_back();
    } else {
      // A negative length becomes one that no message has.
      bind.values.emplace_back(in.take(static_cast<std::uint32_t>(length)));
    }
  }
  bind.result_formats = formats_of(in);
  return bind;
}

// False: neither a statement nor a portal.
template <typename Named>
bool named_of(Reader& in, Named& named) {
  const auto letter = in.take(1);
  if (letter != "S" && letter != "P") return false;
  named.target = static_cast<Target>(letter[0]);
  named.name = in.text_to_zero();
  return true;
}

}  // namespace

Decoded<Opening> decode_opening(std::string_view bytes) {
  Reader in(bytes);
  const auto length = in.big<std::uint32_t>();
  if (in.failed()) return {};
  if (length < 8 || length > kLongestStartup) {
    return malformed<Opening>(fmt::format("invalid length of startup packet: {}", length));
  }
  if (bytes.size() < length) return {};
  Reader body(bytes.substr(4, length - 4));
  const auto code = body.big<std::uint32_t>();
  Decoded<Opening> decoded{.kind = Decoded<Opening>::Kind::kMessage, .size = length};
  if (code == kSslRequest || code == kGssRequest) {
    decoded.message = EncryptionRequest{};
  } else if (code == kCancel) {
    CancelRequest cancel;
    cancel.process = body.big<std::uint32_t>();
    cancel.secret = body.big<std::uint32_t>();
    decoded.message = cancel;
  } else if (code >> 16 != 3) {
    decoded.message = UnknownVersion{code >> 16, code & 0xffff};
    return decoded;
  } else {
    Startup startup{.minor = static_cast<std::uint16_t>(code), .parameters = {}};
    for (auto name = body.text_to_zero(); !name.empty(); name = body.text_to_zero()) {
      const auto value = body.text_to_zero();
      startup.parameters.emplace_back(name, value);
    }
    decoded.message = std::move(startup);
  }
  if (!body.complete()) return malformed<Opening>("invalid startup packet layout");
  return decoded;
}

Decoded<Frontend> decode(std::string_view bytes) {
  Reader in(bytes);
  const auto letters = in.take(1);
  if (in.failed()) return {};
  const char letter = letters[0];
  if (std::string_view("QPBDECHSXpdcfF").find(letter) == std::string_view::npos) {
    return malformed<Frontend>(fmt::format("invalid frontend message type {}",
                                           static_cast<int>(static_cast<unsigned char>(letter))));
  }
  const auto length = in.big<std::uint32_t>();
  if (in.failed()) return {};
  if (length < 4 || length > kLongestMessage) {
    return malformed<Frontend>(
        fmt::format("invalid message length {}, expected 4 to {}", length, kLongestMessage));
  }
  if (in.left() < length - 4) return {};
  Reader body(in.take(length - 4));
  Decoded<Frontend> decoded{.kind = Decoded<Frontend>::Kind::kMessage,
                            .size = std::size_t{length} + 1};
  bool well = true;
  switch (letter) {
    case 'Q':
      decoded.message = Query{body.text_to_zero()};
      break;
    case 'P':
      decoded.message = parse_of(body);
      break;
    case 'B':
      decoded.message = bind_of(body);
      break;
    case 'D':
      well = named_of(body, decoded.message.emplace<Describe>());
      break;
    case 'C':
      well = named_of(body, decoded.message.emplace<Close>());
      break;
    case 'E': {
      Execute execute;
      execute.portal = body.text_to_zero();
      execute.rows = body.big<std::uint32_t>();
      if (execute.rows > 0x7fffffff) execute.rows = 0;  // negative: all, as PostgreSQL has it
      decoded.message = execute;
      break;
    }
    case 'H':
      decoded.message = Flush{};
      break;
    case 'S':
      decoded.message = Sync{};
      break;
    case 'X':
      decoded.message = Terminate{};
      break;
    case 'p':
      decoded.message = Password{body.text_to_zero()};
      break;
    case 'F':
      decoded.message = FunctionCall{};
      body.rest();
      break;
    default:
      decoded.message = CopyPart{};
      body.rest();
      break;
  }
  if (!well || !body.complete()) {
    return malformed<Frontend>(fmt::format("invalid message format of `{}`", letter));
  }
  return decoded;
}

void put_authentication_ok(std::string& out) {
  const Message message(out, 'R');
  put_big(out, std::uint32_t{0});
}
void put_cleartext_password(std::string& out) {
  const Message message(out, 'R');
  put_big(out, std::uint32_t{3});
}
void put_negotiate_version(std::string& out, std::uint32_t newest_minor,
                           std::span<const std::string> unknown_options) {
  const Message message(out, 'v');
  put_big(out, newest_minor);
  put_big(out, static_cast<std::uint32_t>(unknown_options.size()));
  for (const auto& option : unknown_options) put_text_and_zero(out, option);
}
void put_parameter_status(std::string& out, std::string_view name, std::string_view value) {
  const Message message(out, 'S');
  put_text_and_zero(out, name);
  put_text_and_zero(out, value);
}
void put_key_data(std::string& out, std::uint32_t process, std::uint32_t secret) {
  const Message message(out, 'K');
  put_big(out, process);
  put_big(out, secret);
}
void put_ready(std::string& out, char state) {
  const Message message(out, 'Z');
  out += state;
}
void put_parse_complete(std::string& out) {
  const Message message(out, '1');
}
void put_bind_complete(std::string& out) {
  const Message message(out, '2');
}
void put_close_complete(std::string& out) {
  const Message message(out, '3');
}
void put_no_data(std::string& out) {
  const Message message(out, 'n');
}
void put_portal_suspended(std::string& out) {
  const Message message(out, 's');
}
void put_empty_query(std::string& out) {
  const Message message(out, 'I');
}
void put_command_complete(std::string& out, std::string_view tag) {
  const Message message(out, 'C');
  put_text_and_zero(out, tag);
}
void put_parameter_description(std::string& out, std::span<const Oid> types) {
  const Message message(out, 't');
  put_big(out, static_cast<std::uint16_t>(types.size()));
  for (const Oid type : types) put_big(out, type);
}

void put_row_description(std::string& out, std::span<const Field> fields) {
  const Message message(out, 'T');
  put_big(out, static_cast<std::uint16_t>(fields.size()));
  for (const auto& field : fields) {
    put_text_and_zero(out, field.name);
    put_big(out, field.table);
    put_big(out, field.number);
    put_big(out, field.type);
    put_big(out, field.size);
    put_big(out, field.modifier);
    put_big(out, field.format);
  }
}

void put_data_row(std::string& out, std::span<const std::optional<std::string>> values) {
  const Message message(out, 'D');
  put_big(out, static_cast<std::uint16_t>(values.size()));
  for (const auto& value : values) {
    put_big(out, value ? static_cast<std::int32_t>(value->size()) : std::int32_t{-1});
    if (value) out += *value;
  }
}

void put_error(std::string& out, const Report& report) {
  put_report(out, 'E', report);
}
void put_notice(std::string& out, const Report& report) {
  put_report(out, 'N', report);
}

}  // namespace cupel::wire::postgres
