// MySQL's protocol: packets, the first messages, values, and where answers end.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "mock/wire/bytes.hpp"
#include "mock/wire/mysql/codec.hpp"

namespace cupel::wire::mysql {
namespace {

using namespace std::string_literals;
using Part = Answer::Part;

std::string with_length(const std::string& text) {
  return static_cast<char>(text.size()) + text;
}
std::string column(const std::string& name, std::uint8_t type, std::uint8_t decimals = 0) {
  std::string payload = with_length("def");
  for (const auto* text : {"shop", "t", "t"}) payload += with_length(text);
  payload += with_length(name) + with_length(name) + '\x0c' + "\x2d\0\x0b\0\0\0"s;
  payload += static_cast<char>(type);
  return payload + "\0\0"s + static_cast<char>(decimals) + "\0\0"s;
}
std::string eof(std::uint16_t status) {
  std::string payload = "\xfe\0\0"s;
  put_little(payload, status, 2);
  return payload;
}
std::string greeting(std::uint32_t low, std::uint32_t high) {
  std::string payload = "\x0a"s + "10.11\0"s;
  put_little(payload, 7, 4);
  payload += "abcdefgh\0"s;
  put_little(payload, low, 2);
  payload += "\x2d\2\0"s;
  put_little(payload, high, 2);
  return payload + "\x15\0\0\0\0\0\0\x1d\0\0\0ijklmnopqrst\0native\0"s;
}
std::string login(std::uint32_t capabilities, const std::string& rest) {
  std::string payload;
  put_little(payload, capabilities, 4);
  return payload + std::string(28, '\0') + rest;
}

TEST(MysqlPackets, AreWholeOrNotThere) {
  std::string bytes;
  put_packet(bytes, "abc", 3);
  Packet packet;
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    decode_packet(std::string_view(bytes).substr(0, size), 100, packet);
    EXPECT_EQ(packet.kind, Packet::Kind::kIncomplete);
  }
  decode_packet(bytes + "x", 100, packet);
  ASSERT_EQ(packet.kind, Packet::Kind::kPacket);
  EXPECT_EQ(packet.sequence, 3);
  EXPECT_EQ(packet.size, bytes.size());
  decode_packet(bytes, 2, packet);
  EXPECT_EQ(packet.kind, Packet::Kind::kTooLong);
}

TEST(MysqlPackets, AreOneInSeveralParts) {
  const std::string long_payload(0xffffff + 5, 'a'), full(0xffffff, 'b');
  for (const auto& payload : {long_payload, full}) {
    std::string bytes;
    put_packet(bytes, payload, 0);
    Packet packet;
    decode_packet(std::string_view(bytes).substr(0, bytes.size() - 1), 1 << 26, packet);
    EXPECT_EQ(packet.kind, Packet::Kind::kIncomplete);
    decode_packet(bytes, 1 << 26, packet);
    ASSERT_EQ(packet.kind, Packet::Kind::kPacket);
    EXPECT_EQ(packet.payload, payload);
    EXPECT_EQ(packet.sequence, 1);
    EXPECT_EQ(packet.size, bytes.size());
  }
}

TEST(MysqlGreeting, LosesWhatChangesThePackets) {
  auto payload = greeting(0xffff & ~1U, 0xffff);  // MariaDB's
  const auto kept = payload;
  ASSERT_TRUE(simplify_greeting(payload));
  const auto simple = decode_greeting(payload);
  ASSERT_TRUE(simple);
  EXPECT_EQ(simple->connection, 7U);
  EXPECT_EQ(simple->capabilities, 0x00fff7deU & ~kSsl & ~kCompress);
  EXPECT_EQ(payload.find("\x1d"), std::string::npos) << "MariaDB's own";
  auto of_mysql = greeting(0xffff, 0xffff);
  ASSERT_TRUE(simplify_greeting(of_mysql));
  EXPECT_NE(of_mysql.find("\x1d"), std::string::npos) << "unused bytes stay";
  std::string error = "\xff\x10\x04Too many connections";
  EXPECT_FALSE(simplify_greeting(error));
}

TEST(MysqlLogin, NamesTheDatabaseAndTheProgram) {
  const auto attributes = with_length("_os") + with_length("Linux") + with_length("program_name") +
                          with_length("alice");
  const auto capabilities = kProtocol41 | kSecureConnection | kConnectWithDatabase |
                            kPluginAuthentication | kConnectAttributes;
  const auto payload = login(capabilities, "me\0\3abcshop\0native\0"s + with_length(attributes));
  const auto found = decode_login(payload);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->user, "me");
  EXPECT_EQ(found->database, "shop");
  EXPECT_EQ(found->program, "alice");
  EXPECT_EQ(payload.substr(found->database_at, 4), "shop");
  EXPECT_TRUE(decode_login(login(kProtocol41 | kSsl, ""))->wants_ssl);
  EXPECT_FALSE(decode_login(login(capabilities,
                                  "me\0\x20"
                                  "ab"s)));
  EXPECT_FALSE(decode_login(login(0, "me\0")));
  const auto changed = "me\0\3abcshop\0"s;
  const auto change = decode_change_user(changed, capabilities);
  ASSERT_TRUE(change);
  EXPECT_EQ(changed.substr(change->database_at, 4), "shop");
}

TEST(MysqlExecution, HasItsValuesAsText) {
  std::string payload;
  put_little(payload, 1, 4);
  payload += "\0\1\0\0\0"s + "\4"s + "\1"s;  // the third is null; types follow
  payload += "\x08\0\xfd\0\x03\0\x0c\0\x01\x80"s;
  put_little(payload, static_cast<std::uint64_t>(-5), 8);
  payload += with_length("it's") + "\7\xe8\7\2\x03\x04\x05\x06"s + "\xff"s;
  std::vector<ParameterType> types;
  const auto values = decode_execute_values(payload, 5, types, {});
  ASSERT_TRUE(values);
  EXPECT_EQ(*values,
            (std::vector<Cell>{"-5", "it's", std::nullopt, "2024-02-03 04:05:06.000000", "255"}));
  EXPECT_TRUE(is_number(types[0].type));
  EXPECT_FALSE(is_number(types[1].type));
  EXPECT_FALSE(decode_execute_values(payload.substr(0, payload.size() - 1), 5, types, {}));
}

// The parts of an answer, and whether each of the packets ends a result, and the answer.
struct Followed {
  std::vector<Part> parts;
  std::string ends;  // "-", "r" and "e"
};
Followed follow(std::uint8_t command, const std::vector<std::string>& payloads) {
  Answer answer(command);
  Followed followed;
  for (const auto& payload : payloads) {
    followed.parts.push_back(answer.take(payload));
    followed.ends += answer.ended() ? 'e' : answer.result_ended() ? 'r' : '-';
  }
  return followed;
}

TEST(MysqlAnswers, EndWhereTheyEnd) {
  const auto ok = [](std::uint8_t status) {
    return "\0\1\0"s + static_cast<char>(status) + "\0\0\0"s;
  };
  EXPECT_EQ(follow(kQuery, {ok(0)}).ends, "e");
  EXPECT_EQ(follow(kQuery, {ok(kMoreResults), ok(0)}).ends, "re");
  EXPECT_EQ(follow(kQuery, {"\xff\xbd\x04#40001Deadlock"}).ends, "e");
  const auto rows = follow(kQuery, {"\2", column("a", 3), column("b", 253), eof(3), "\1a\xfb",
                                    eof(kMoreResults), ok(0)});
  EXPECT_EQ(rows.ends, "-----re");
  EXPECT_EQ(rows.parts,
            (std::vector<Part>{Part::kColumns, Part::kColumn, Part::kColumn, Part::kColumnsEnd,
                               Part::kRow, Part::kRowsEnd, Part::kOk}));
  EXPECT_EQ(follow(kQuery, {"\1", column("a", 3), eof(0), "\xff\xbd\x04#40001Deadlock"}).ends,
            "---e");
  EXPECT_EQ(follow(kExecute, {"\1", column("a", 3), eof(kCursorExists)}).ends, "--e");
  EXPECT_EQ(follow(kFetch, {"\0\0a"s, eof(0)}).ends, "-e");
  EXPECT_EQ(follow(kPrepare,
                   {"\0\1\0\0\0\1\0\1\0\0\0\0"s, column("?", 253), eof(0), column("a", 3), eof(0)})
                .ends,
            "----e");
  EXPECT_EQ(follow(kPrepare, {"\0\1\0\0\0\0\0\0\0\0\0\0"s}).ends, "e");
  EXPECT_EQ(follow(kStatistics, {"Uptime: 1"}).ends, "e");
  EXPECT_EQ(follow(kSetOption, {eof(0)}).ends, "e");
  EXPECT_EQ(follow(kQuery, {"\xfbpath", ok(0)}).ends, "-e");
  // A row that begins with a long text is no end.
  EXPECT_EQ(
      follow(kQuery, {"\1", column("a", 253), eof(0), "\xfe" + std::string(40, 'x'), eof(0)}).ends,
      "----e");
}

TEST(MysqlAnswers, SayTheirStatus) {
  Answer answer;
  const auto ok = "\0\xfc\0\1\5\1\0\0\0"s;
  answer.take(ok);
  ASSERT_TRUE(answer.status());
  EXPECT_EQ(*answer.status(), kInTransaction);
  EXPECT_EQ(answer.status_at(), 5U);
}

TEST(MysqlRows, AreTheSameAsTextAndInBinary) {
  const auto text = decode_text_row("\1"s + "7" + "\xfb" + "\x13" + "2024-02-03 04:05:06");
  ASSERT_TRUE(text);
  const std::vector<Column> columns{*decode_column(column("a", 3)),
                                    *decode_column(column("b", 253)),
                                    *decode_column(column("c", 12))};
  const auto binary = decode_binary_row("\0\x08\7\0\0\0\7\xe8\7\2\x03\x04\x05\x06"s, columns);
  ASSERT_TRUE(binary);
  EXPECT_EQ(*text, *binary);
  EXPECT_FALSE(decode_binary_row("\0\x08\7\0"s, columns));
  EXPECT_FALSE(decode_text_row("\5ab"));
}

TEST(MysqlErrors, AreReadAndMade) {
  const auto payload = error_payload({1213, "40001", "Deadlock"});
  const auto failure = decode_error(payload);
  ASSERT_TRUE(failure);
  EXPECT_EQ(failure->number, 1213);
  EXPECT_EQ(failure->sqlstate, "40001");
  EXPECT_EQ(failure->message, "Deadlock");
  EXPECT_FALSE(decode_error("\0"));
}

}  // namespace
}  // namespace cupel::wire::mysql
