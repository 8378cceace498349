// Frames, batches and answers; see the header.
#include "mock/proxy/messages.hpp"

#include <algorithm>
#include <iterator>

#include "mock/wire/bytes.hpp"

namespace cupel::proxy {

namespace postgres = wire::postgres;

postgres::Decoded<Frame> decode_frame(std::string_view bytes) {
  using Kind = postgres::Decoded<Frame>::Kind;
  postgres::Decoded<Frame> decoded;
  constexpr std::size_t kHead = 5;
  if (bytes.size() < kHead) return decoded;
  wire::Reader reader(bytes.substr(1));
  const auto length = reader.big<std::uint32_t>();
  if (length < 4 || length > kLongestPassed) {
    decoded.kind = Kind::kMalformed;
    decoded.wrong = "the length of a message is out of range";
    return decoded;
  }
  if (bytes.size() < std::size_t{1} + length) return decoded;
  decoded.kind = Kind::kMessage;
  decoded.size = std::size_t{1} + length;
  decoded.message = {bytes.front(), bytes.substr(kHead, length - 4)};
  return decoded;
}

bool Batches::add(const Frame& frame, std::string_view bytes) {
  batch_.bytes += bytes;
  understand(bytes);
  const std::string_view ends = "QSHFX";
  if (ends.find(frame.letter) == std::string_view::npos) return false;
  batch_.end = frame.letter;
  batch_.leaves = frame.letter == 'X';
  return true;
}

void Batches::understand(std::string_view bytes) {
  const auto decoded = postgres::decode(bytes);
  if (decoded.kind != postgres::Decoded<postgres::Frontend>::Kind::kMessage) {
    batch_.unreadable = true;
    // Each of these is answered by one message that ends it.
    if (std::string_view("PBDEC").find(bytes.front()) != std::string_view::npos) ++batch_.answers;
    return;
  }
  const auto& message = decoded.message;
  if (const auto* query = std::get_if<postgres::Query>(&message)) {
    batch_.requests.push_back({.text = std::string(query->text), .simple = true});
  } else if (const auto* parse = std::get_if<postgres::Parse>(&message)) {
    ++batch_.answers;
    prepared_.insert_or_assign(std::string(parse->name),
                               Prepared{std::string(parse->text), parse->types});
  } else if (const auto* bind = std::get_if<postgres::Bind>(&message)) {
    ++batch_.answers;
    const auto found = prepared_.find(bind->statement);
    if (found == prepared_.end()) {
      batch_.unreadable = true;  // PREPARE in SQL makes such ones
      portals_.erase(std::string(bind->portal));
      return;
    }
    Request request{.text = found->second.text};
    for (std::size_t i = 0; i < bind->values.size(); ++i) {
      const auto& formats = bind->formats;
      Request::Parameter parameter;
      if (i < found->second.types.size()) parameter.type = found->second.types[i];
      if (formats.size() == 1) parameter.format = formats.front();
      if (formats.size() > 1 && i < formats.size()) parameter.format = formats[i];
      if (bind->values[i]) parameter.value = std::string(*bind->values[i]);
      request.parameters.push_back(std::move(parameter));
    }
    const auto& results = bind->result_formats;
    const auto binary = std::count_if(results.begin(), results.end(),
                                      [](std::int16_t format) { return format != 0; });
    if (binary > 0) {
      request.results =
          binary == std::ssize(results) ? Request::Format::kBinary : Request::Format::kMixed;
    }
    portals_.insert_or_assign(std::string(bind->portal), std::move(request));
  } else if (std::holds_alternative<postgres::Describe>(message)) {
    ++batch_.answers;
  } else if (const auto* execute = std::get_if<postgres::Execute>(&message)) {
    ++batch_.answers;
    const auto found = portals_.find(execute->portal);
    // Rows in portions: what a portion has read is not known.
    if (found == portals_.end() || execute->rows != 0) batch_.unreadable = true;
    if (found != portals_.end()) batch_.requests.push_back(found->second);
  } else if (const auto* close = std::get_if<postgres::Close>(&message)) {
    ++batch_.answers;
    if (close->target == postgres::Target::kStatement) {
      prepared_.erase(std::string(close->name));
    } else {
      portals_.erase(std::string(close->name));
    }
  } else if (std::holds_alternative<postgres::FunctionCall>(message)) {
    batch_.unreadable = true;
  }
}

Batch Batches::take() {
  return std::exchange(batch_, {});
}

std::map<char, std::string> report_fields(std::string_view body) {
  std::map<char, std::string> fields;
  wire::Reader reader(body);
  while (!reader.failed() && !reader.at_end()) {
    const auto letter = static_cast<char>(reader.big<std::uint8_t>());
    if (letter == 0) break;
    const auto text = reader.text_to_zero();
    if (!reader.failed()) fields.emplace(letter, text);
  }
  return fields;
}

std::optional<std::vector<ResultColumn>> result_columns(std::string_view body) {
  wire::Reader reader(body);
  const auto count = reader.big<std::uint16_t>();
  std::vector<ResultColumn> columns;
  for (std::size_t i = 0; i < count && !reader.failed(); ++i) {
    ResultColumn column{.name = std::string(reader.text_to_zero())};
    reader.take(16);  // table, column, type, size and modifier
    column.format = reader.big<std::int16_t>();
    columns.push_back(std::move(column));
  }
  if (!reader.complete()) return std::nullopt;
  return columns;
}

std::optional<std::vector<std::optional<std::string>>> result_row(std::string_view body) {
  wire::Reader reader(body);
  const auto count = reader.big<std::uint16_t>();
  std::vector<std::optional<std::string>> cells;
  for (std::size_t i = 0; i < count && !reader.failed(); ++i) {
    const auto size = reader.big<std::int32_t>();
    if (size < 0) {
      cells.emplace_back();
    } else {
      cells.emplace_back(std::string(reader.take(static_cast<std::size_t>(size))));
    }
  }
  if (!reader.complete()) return std::nullopt;
  return cells;
}

std::string with_database(std::string_view startup, std::string_view from, std::string_view to) {
  wire::Reader reader(startup);
  reader.take(4);
  std::string rest(reader.take(4));  // the version
  bool named = false;
  std::string user;
  while (!reader.failed() && !reader.at_end()) {
    const auto name = reader.text_to_zero();
    if (name.empty()) break;
    auto value = reader.text_to_zero();
    if (name == "user") user = value;
    if (name == "database") {
      named = true;
      if (value == from) value = to;
    }
    wire::put_text_and_zero(rest, name);
    wire::put_text_and_zero(rest, value);
  }
  if (reader.failed()) return std::string(startup);
  if (!named && user == from) {  // the database of the user's name
    wire::put_text_and_zero(rest, "database");
    wire::put_text_and_zero(rest, to);
  }
  rest += '\0';
  std::string message;
  wire::put_big(message, static_cast<std::uint32_t>(rest.size() + 4));
  return message + rest;
}

}  // namespace cupel::proxy
