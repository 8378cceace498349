// Each body is read to its end; a message with bytes left over is malformed.
#include "mock/engines/messages.hpp"

#include <algorithm>
#include <utility>

#include "mock/wire/bytes.hpp"

namespace cupel::engines {

namespace {

using wire::put_little;
using wire::Reader;

constexpr std::size_t kPositionSize = 6;
constexpr std::uint8_t kLatest = 1, kAbsent = 2, kFind = 4, kWantsLast = 8;
constexpr std::uint8_t kShared = 1, kObserved = 2, kNoWait = 4, kFound = 8;
constexpr std::uint8_t kBase = 1, kInsert = 2, kChecked = 4;
constexpr std::uint8_t kRefuses = 1, kKeepsStatements = 2, kLocks = 4, kGaps = 8, kOfProduct = 16;
constexpr int kIsolationBit = 5;

std::string take_text(Reader& reader) {
  const auto size = reader.little<std::uint32_t>();
  return std::string(reader.take(size));
}

Position take_position(Reader& reader) {
  const auto bytes = reader.take(kPositionSize);
  if (bytes.empty()) return {};
  const auto at = [&](std::size_t i) {
    return std::uint32_t{static_cast<std::uint8_t>(bytes[i])} << (8 * (i % 4));
  };
  return {at(0) | at(1) | at(2) | at(3), static_cast<std::uint16_t>(at(4) | at(5))};
}

OpenRequest take_open(Reader& reader) {
  OpenRequest request;
  request.protocol = reader.little<std::uint8_t>();
  request.database = reader.little<std::uint32_t>();
  request.database_name = take_text(reader);
  request.session = take_text(reader);
  request.client_port = reader.little<std::uint16_t>();
  return request;
}

ChooseRequest take_choice(Reader& reader) {
  ChooseRequest request;
  request.level = take_text(reader);
  request.policy = take_text(reader);
  const auto isolation = reader.little<std::uint8_t>();
  request.isolation = static_cast<ChooseRequest::Isolation>(std::min<std::uint8_t>(isolation, 2));
  return request;
}

ReadRequest take_read(Reader& reader) {
  ReadRequest request;
  request.statement = reader.little<std::uint32_t>();
  request.commits = reader.little<std::uint32_t>();
  const auto flags = reader.little<std::uint8_t>();
  request.latest = (flags & kLatest) != 0;
  request.absent = (flags & kAbsent) != 0;
  request.find = (flags & kFind) != 0;
  request.wants_last = (flags & kWantsLast) != 0;
  request.table = reader.little<std::uint32_t>();
  const auto count = reader.little<std::uint32_t>();
  request.rows.reserve(std::min(std::size_t{count}, reader.left() / kPositionSize));
  for (std::uint32_t i = 0; i < count && !reader.failed(); ++i) {
    request.rows.push_back(take_position(reader));
  }
  return request;
}

LockRequest take_lock(Reader& reader) {
  LockRequest request;
  request.statement = reader.little<std::uint32_t>();
  request.commits = reader.little<std::uint32_t>();
  request.table = reader.little<std::uint32_t>();
  request.row = take_position(reader);
  const auto flags = reader.little<std::uint8_t>();
  request.shared = (flags & kShared) != 0;
  request.observed = (flags & kObserved) != 0;
  request.no_wait = (flags & kNoWait) != 0;
  request.found = (flags & kFound) != 0;
  return request;
}

GuardRequest take_guard(Reader& reader) {
  GuardRequest request;
  const auto kind = reader.little<std::uint8_t>();
  request.kind = static_cast<GuardRequest::Kind>(std::min<std::uint8_t>(kind, 3));
  request.table = reader.little<std::uint32_t>();
  const auto flags = reader.little<std::uint8_t>();
  request.no_wait = (flags & kNoWait) != 0;
  request.shared = (flags & kShared) != 0;
  request.row = take_position(reader);
  request.table_name = take_text(reader);
  request.text = take_text(reader);
  return request;
}

UnlockRequest take_unlock(Reader& reader) {
  const auto table = reader.little<std::uint32_t>();
  const auto row = take_position(reader);
  return {table, row, (reader.little<std::uint8_t>() & kShared) != 0};
}

Write take_write(Reader& reader) {
  Write write;
  write.table = reader.little<std::uint32_t>();
  write.row = take_position(reader);
  write.version = take_position(reader);
  const auto flags = reader.little<std::uint8_t>();
  write.base = (flags & kBase) != 0;
  write.insert = (flags & kInsert) != 0;
  write.checked = (flags & kChecked) != 0;
  write.table_name = take_text(reader);
  write.key = take_text(reader);
  write.value = take_text(reader);
  return write;
}

CommitRequest take_commit(Reader& reader) {
  CommitRequest request;
  const auto count = reader.little<std::uint32_t>();
  for (std::uint32_t i = 0; i < count && !reader.failed(); ++i) {
    request.writes.push_back(take_write(reader));
  }
  return request;
}

CopyDatabaseRequest take_copy(Reader& reader) {
  const auto from = reader.little<std::uint32_t>();
  return {from, reader.little<std::uint32_t>()};
}

std::optional<Request> take_body(char kind, Reader& reader) {
  switch (kind) {
    case 'O':
      return take_open(reader);
    case 'B':
      return take_choice(reader);
    case 'R':
      return take_read(reader);
    case 'L':
      return take_lock(reader);
    case 'N':
      return take_guard(reader);
    case 'U':
      return take_unlock(reader);
    case 'X':
      return StopWaitingRequest{};
    case 'E':
      return EndStatementRequest{reader.little<std::uint32_t>()};
    case 'G':
      return EndStatementRequest{reader.little<std::uint32_t>(), true};
    case 'T':
      return TextRequest{take_text(reader)};
    case 'C':
      return take_commit(reader);
    case 'F':
      return FinishRequest{};
    case 'A':
      return AbortRequest{};
    case 'D':
      return take_copy(reader);
    default:
      return std::nullopt;
  }
}

std::string framed(std::string_view message) {
  std::string bytes;
  put_little(bytes, message.size(), 4);
  return bytes.append(message);
}

void put_text(std::string& out, std::string_view text) {
  put_little(out, text.size(), 4);
  out += text;
}

void put_position(std::string& out, const Position& position) {
  const auto block = position.block;
  const auto offset = position.offset;
  // One by one: the compiler makes one or two stores of them.
  const char bytes[kPositionSize] = {
      static_cast<char>(block),       static_cast<char>(block >> 8),
      static_cast<char>(block >> 16), static_cast<char>(block >> 24),
      static_cast<char>(offset),      static_cast<char>(offset >> 8)};
  out.append(bytes, kPositionSize);
}

struct Encoder {
  std::string out = {};

  void operator()(const OpenRequest& request) {
    out += 'O';
    put_little(out, request.protocol, 1);
    put_little(out, request.database, 4);
    put_text(out, request.database_name);
    put_text(out, request.session);
    put_little(out, request.client_port, 2);
  }
  void operator()(const ChooseRequest& request) {
    out += 'B';
    put_text(out, request.level);
    put_text(out, request.policy);
    put_little(out, static_cast<std::uint64_t>(request.isolation), 1);
  }
  void operator()(const ReadRequest& request) {
    out += 'R';
    put_little(out, request.statement, 4);
    put_little(out, request.commits, 4);
    put_little(out,
               (request.latest ? kLatest : 0U) | (request.absent ? kAbsent : 0U) |
                   (request.find ? kFind : 0U) | (request.wants_last ? kWantsLast : 0U),
               1);
    put_little(out, request.table, 4);
    put_little(out, request.rows.size(), 4);
    for (const auto& row : request.rows) put_position(out, row);
  }
  void operator()(const LockRequest& request) {
    out += 'L';
    put_little(out, request.statement, 4);
    put_little(out, request.commits, 4);
    put_little(out, request.table, 4);
    put_position(out, request.row);
    put_little(out,
               (request.shared ? kShared : 0U) | (request.observed ? kObserved : 0U) |
                   (request.no_wait ? kNoWait : 0U) | (request.found ? kFound : 0U),
               1);
  }
  void operator()(const GuardRequest& request) {
    out += 'N';
    put_little(out, static_cast<std::uint64_t>(request.kind), 1);
    put_little(out, request.table, 4);
    put_little(out, (request.no_wait ? kNoWait : 0U) | (request.shared ? kShared : 0U), 1);
    put_position(out, request.row);
    put_text(out, request.table_name);
    put_text(out, request.text);
  }
  void operator()(const UnlockRequest& request) {
    out += 'U';
    put_little(out, request.table, 4);
    put_position(out, request.row);
    put_little(out, request.shared ? kShared : 0U, 1);
  }
  void operator()(const StopWaitingRequest& /*request*/) { out += 'X'; }
  void operator()(const EndStatementRequest& request) {
    out += request.failed ? 'G' : 'E';
    put_little(out, request.statement, 4);
  }
  void operator()(const TextRequest& request) {
    out += 'T';
    put_text(out, request.text);
  }
  void operator()(const FinishRequest& /*request*/) { out += 'F'; }
  void operator()(const CommitRequest& request) {
    out += 'C';
    put_little(out, request.writes.size(), 4);
    for (const auto& write : request.writes) {
      put_little(out, write.table, 4);
      put_position(out, write.row);
      put_position(out, write.version);
      put_little(out,
                 (write.base ? kBase : 0U) | (write.insert ? kInsert : 0U) |
                     (write.checked ? kChecked : 0U),
                 1);
      put_text(out, write.table_name);
      put_text(out, write.key);
      put_text(out, write.value);
    }
  }
  void operator()(const AbortRequest& /*request*/) { out += 'A'; }
  void operator()(const CopyDatabaseRequest& request) {
    out += 'D';
    put_little(out, request.from, 4);
    put_little(out, request.to, 4);
  }
};

}  // namespace

std::optional<Request> decode(std::string_view message) {
  if (message.empty()) return std::nullopt;
  Reader reader(message.substr(1));
  auto request = take_body(message.front(), reader);
  if (!reader.complete()) return std::nullopt;
  return request;
}

std::optional<std::uint32_t> message_length(std::string_view bytes) {
  if (bytes.size() < 4) return std::nullopt;
  return Reader(bytes).little<std::uint32_t>();
}

std::string done_reply() {
  return framed("k");
}

std::string opened_reply(const Opened& opened) {
  std::string body = "o";
  auto flags = (opened.refuses ? kRefuses : 0U) |
               (opened.keeps_statements ? kKeepsStatements : 0U) | (opened.locks ? kLocks : 0U) |
               (opened.gaps ? kGaps : 0U);
  if (opened.isolation)
    flags |= kOfProduct | static_cast<unsigned>(*opened.isolation) << kIsolationBit;
  put_little(body, flags, 1);
  return framed(body);
}

Opened decode_opened(std::uint8_t flags) {
  Opened opened{.refuses = (flags & kRefuses) != 0,
                .keeps_statements = (flags & kKeepsStatements) != 0,
                .locks = (flags & kLocks) != 0,
                .gaps = (flags & kGaps) != 0};
  if ((flags & kOfProduct) != 0)
    opened.isolation = static_cast<ChooseRequest::Isolation>(flags >> kIsolationBit & 3);
  return opened;
}

std::string not_locked_reply() {
  return framed("w");
}

std::string versions_reply(const std::vector<Position>& versions) {
  std::string body = "v";
  body.reserve(1 + kPositionSize * versions.size());
  for (const auto& version : versions) put_position(body, version);
  return framed(body);
}

std::string found_reply(const std::vector<FoundVersion>& versions, std::uint32_t commits) {
  std::string body = "l";
  put_little(body, commits, 4);
  for (const auto& found : versions) {
    put_position(body, found.version);
    put_little(body, found.last ? 1 : 0, 1);
  }
  return framed(body);
}

std::string failure_reply(FailureKind kind, std::string_view message) {
  std::string body = "f";
  put_little(body, static_cast<std::uint64_t>(kind), 1);
  put_text(body, message);
  return framed(body);
}

std::string encode(const Request& request) {
  Encoder encoder;
  std::visit(encoder, request);
  return encoder.out;
}

}  // namespace cupel::engines
