// MySQL's protocol byte by byte: the codec, the values and what a conversation says.
#include <gtest/gtest.h>

#include "wire/conversation.hpp"
#include "wire/fake_backend.hpp"
#include "wire/golden.hpp"
#include "wire/mysql/codec.hpp"

namespace cupel::wire {
namespace {

using namespace mysql;

TEST(MysqlCodec, Packets) {
  const auto bytes = bytes_of("030000 02 'abc' 00");
  const auto packet = decode_packet(bytes);
  ASSERT_EQ(packet.kind, Packet::Kind::kPacket);
  EXPECT_EQ(packet.payload, "abc");
  EXPECT_EQ(packet.sequence, 2);
  EXPECT_EQ(packet.size, 7u);
  EXPECT_EQ(decode_packet(lasting("030000 02 'ab'")).kind, Packet::Kind::kIncomplete);
  EXPECT_EQ(decode_packet(lasting("ffffff 00")).kind, Packet::Kind::kTooLong);
  EXPECT_EQ(decode_packet(lasting("000040 00")).kind, Packet::Kind::kTooLong);

  std::string out;
  std::uint8_t sequence = 255;
  put_packet(out, std::string(0xffffff, 'x'), sequence);
  EXPECT_EQ(out.size(), 0xffffff + 8u) << "a full packet is followed by an empty one";
  EXPECT_EQ(shown(std::string_view(out).substr(out.size() - 4)), shown(bytes_of("000000 00")));
  EXPECT_EQ(sequence, 1);
}

TEST(MysqlCodec, Answers) {
  EXPECT_EQ(shown(ok({.affected = 3, .last_insert_id = 300, .status = kAutocommit})),
            shown(bytes_of("00 03 fc2c01 0200 0000")));
  EXPECT_EQ(shown(eof(kInTransaction)), shown(bytes_of("fe 0000 0100")));
  EXPECT_EQ(shown(error(1064, "42000", "m")), shown(bytes_of("ff 2804 '#42000' 'm'")));
  EXPECT_EQ(
      shown(column_definition({.name = "n", .type = sql::Type::kBigint, .table = "t"})),
      shown(bytes_of("03 'def' 00 01 't' 01 't' 01 'n' 01 'n' 0c 3f00 14000000 08 8000 00 0000")));
  EXPECT_EQ(shown(text_row({{"a", sql::Type::kText, ""},
                            {"b", sql::Type::kBoolean, ""},
                            {"c", sql::Type::kText, ""}},
                           {"x", "t", std::nullopt})),
            shown(bytes_of("01 'x' 01 '1' fb")));
  EXPECT_EQ(shown(*binary_row({{"a", sql::Type::kBigint, ""},
                               {"b", sql::Type::kText, ""},
                               {"c", sql::Type::kTimestamp, ""}},
                              {"-1", std::nullopt, "2024-02-29 12:34:56"})),
            shown(bytes_of("00 08 ffffffffffffffff 07 e807 02 1d 0c 22 38")));
  EXPECT_FALSE(binary_row({{"a", sql::Type::kInteger, ""}}, {"tea"}));
  EXPECT_EQ(shown(prepare_ok(1, 2, 3)), shown(bytes_of("00 01000000 0200 0300 00 0000")));
}

TEST(MysqlCodec, Greeting) {
  const auto said = greeting(5, "abcdefghijklmnopqrst");
  EXPECT_TRUE(said.starts_with('\x0a'));
  EXPECT_NE(said.find(bytes_of("00 05000000 'abcdefgh' 00")), std::string::npos) << shown(said);
  EXPECT_TRUE(said.ends_with(
      bytes_of("15 00000000000000000000 'ijklmnopqrst' 00 'mysql_native_password' 00")))
      << shown(said);
}

// The proof that libmariadb makes is looked at in servers_test.cpp; here by the formula's parts.
TEST(MysqlCodec, Passwords) {
  EXPECT_EQ(native_password_proof("", "abcdefghijklmnopqrst"), "");
  // SHA1("secret") xor SHA1("abcdefghijklmnopqrst" SHA1(SHA1("secret"))), by Python's hashlib.
  EXPECT_EQ(shown(native_password_proof("secret", "abcdefghijklmnopqrst")),
            shown(bytes_of("8817c50fa779daef010ee7577825b0847df9842e")));
}

TEST(MysqlCodec, Handshakes) {
  const std::string fixed(23, '\0');
  const auto head = bytes_of("08820800 00000001 2d") + fixed;
  const auto whole = head + bytes_of("'root' 00 02 'xy' 'test' 00 'mysql_native_password' 00");
  const auto response = decode_handshake(whole);
  ASSERT_TRUE(response);
  EXPECT_EQ(response->user, "root");
  EXPECT_EQ(response->proof, "xy");
  EXPECT_EQ(response->database, "test");
  EXPECT_EQ(response->plugin, "mysql_native_password");
  EXPECT_FALSE(decode_handshake(head + bytes_of("'root' 00 09 'xy'")));
  EXPECT_FALSE(decode_handshake(head + "root"));
  EXPECT_FALSE(
      decode_handshake(bytes_of("08800800 00000001 2d") + fixed + bytes_of("'root' 00 00")))
      << "of before 4.1";
  EXPECT_TRUE(decode_handshake(bytes_of("088a0800 00000001 2d") + fixed)->wants_ssl);
}

TEST(MysqlCodec, ExecutedValues) {
  std::vector<ParameterType> types;
  // tiny unsigned, short, double, null, datetime with microseconds, date, time, text
  const auto payload = bytes_of(
      "01000000 00 01000000  08 01  0180 0200 0500 0800 0c00 0a00 0b00 fd00"
      "ff feff 000000000000f8bf 0b e807 02 1d 0c 22 38 20a10700 04 e807 02 1d 08 01 01000000 02 03 "
      "04 03 'tea'");
  const auto values = decode_execute_values(payload, 8, types, {});
  ASSERT_TRUE(values);
  EXPECT_EQ(*values,
            (std::vector<sql::Datum>{"255", "-2", "-1.5", std::nullopt, "2024-02-29 12:34:56.5",
                                     "2024-02-29", "-26:03:04", "tea"}));
  // The types stay for the next time.
  std::vector<ParameterType> kept = {{.type = 8, .is_unsigned = false}};
  EXPECT_EQ(
      decode_execute_values(lasting("01000000 00 01000000 00 00 0700000000000000"), 1, kept, {}),
      (std::vector<sql::Datum>{"7"}));
  std::vector<ParameterType> none;
  for (const char* wrong :
       {"01000000 00 01000000 00 00 07", "01000000 00 01000000 00 01 08",
        "01000000 00 01000000 00 01 0800 07", "01000000 00 01000000 00 01 fd00 fe ffffffffffffffff",
        "01000000 00 01000000 00 01 0c00 05 0000000000", "01000000 00 01000000 00 01 6300",
        "01000000 00 01000000 00 01 0100 07 07", "01000000 00"}) {
    EXPECT_FALSE(decode_execute_values(lasting(wrong), 1, none, {})) << wrong;
    none.clear();
  }
}

TEST(MysqlCodec, ErrorNames) {
  EXPECT_EQ(error_name("23505").number, 1062);
  EXPECT_EQ(error_name("40001").number, 1213);
  EXPECT_EQ(error_name("42P01").sqlstate, "42S02");
  EXPECT_EQ(error_name("0A000").number, 1235);
  EXPECT_EQ(error_name("ZZ999").number, 1105);
}

class MysqlConversation : public ::testing::Test {
 protected:
  void SetUp() override { start({}); }
  void start(std::optional<std::string> password) {
    conversation_ = make_mysql({.open =
                                    [this](const std::string& client) {
                                      return backend_.open_sql(sql::Product::kMysql, client);
                                    },
                                .password = std::move(password),
                                .number = 7,
                                .secret = 9,
                                .refusal = {}});
    greeting_ = conversation_->take_output();
  }
  // The payloads of the answer, which must count on.
  std::vector<std::string> send(const std::string& payload, std::uint8_t sequence = 0) {
    std::string bytes;
    auto number = sequence;
    put_packet(bytes, payload, number);
    conversation_->receive(bytes);
    while (conversation_->advance()) {
    }
    std::vector<std::string> payloads;
    const auto out = conversation_->take_output();
    for (std::string_view rest = out; !rest.empty();) {
      const auto packet = decode_packet(rest);
      EXPECT_EQ(packet.kind, Packet::Kind::kPacket);
      EXPECT_EQ(packet.sequence, static_cast<std::uint8_t>(sequence + 1 + payloads.size()));
      payloads.emplace_back(packet.payload);
      rest.remove_prefix(packet.size);
    }
    return payloads;
  }
  std::vector<std::string> log_in(const char* plugin = "mysql_native_password",
                                  const std::string& proof = "",
                                  const char* capabilities = "00820a00") {
    return send(bytes_of(capabilities) + bytes_of("00000001 2d") + std::string(23, '\0') +
                    bytes_of("'root' 00") + static_cast<char>(proof.size()) + proof + plugin + '\0',
                1);
  }
  static std::string kinds(const std::vector<std::string>& payloads) {
    std::string all;
    for (const auto& payload : payloads) {
      const auto first = static_cast<unsigned char>(payload.empty() ? 1 : payload[0]);
      const bool is_eof = first == 0xfe && payload.size() == 5;
      if (first == 0xff)
        all += "E" +
               std::to_string(static_cast<unsigned char>(payload[1]) |
                              static_cast<unsigned char>(payload[2]) << 8) +
               " ";
      else if (first == 0x00)
        all += "ok ";
      else
        all += is_eof ? "eof " : "row ";
    }
    return all;
  }
  std::string answer(const std::string& payload) { return kinds(send(payload)); }
  std::string query(const std::string& words) { return answer("\x03" + words); }

  FakeBackend backend_;
  std::unique_ptr<Conversation> conversation_;
  std::string greeting_;
};

TEST_F(MysqlConversation, TextQueries) {
  EXPECT_EQ(kinds(log_in()), "ok ");
  EXPECT_EQ(query("select 1"), "row row eof row eof ");
  EXPECT_EQ(query("nothing"), "ok ");
  EXPECT_EQ(shown(send("\x03nothing")[0]), shown(bytes_of("00 03 07 0200 0000")));
  EXPECT_EQ(query(" "), "E1065 ");
  EXPECT_EQ(query("fail 23505"), "E1062 ");
  EXPECT_EQ(query("select 1; select 2"), "E1064 ") << "several were not agreed on";
  EXPECT_EQ(shown(send("\x03"
                       "begin")[0]),
            shown(bytes_of("00 00 00 0300 0000")))
      << "in a transaction";
}

TEST_F(MysqlConversation, SeveralStatements) {
  log_in("mysql_native_password", "", "00820b00");
  const auto answers = send("\x03nothing; select 1; fail 40001");
  EXPECT_EQ(kinds(answers), "ok row row eof row eof E1213 ");
  EXPECT_EQ(shown(answers[0]), shown(bytes_of("00 03 07 0a00 0000"))) << "more follow";
  EXPECT_EQ(answer(bytes_of("1b 0100")), "eof ");
  EXPECT_EQ(query("select 1; select 2"), "E1064 ");
  EXPECT_EQ(answer(bytes_of("1b 0000")), "eof ");
  EXPECT_EQ(query("nothing; nothing"), "ok ok ");
  EXPECT_EQ(answer(bytes_of("1b 0700")), "E1047 ");
}

TEST_F(MysqlConversation, PreparedStatements) {
  log_in();
  EXPECT_EQ(answer("\x16select ?"), "ok row eof row eof ");
  EXPECT_EQ(answer(bytes_of("17 01000000 00 01000000 00 01 0800 f9ffffffffffffff")),
            "row row eof ok eof ")
      << "binary rows begin with a zero";
  EXPECT_EQ(backend_.log.statements.back(), "select ?|-7");
  EXPECT_EQ(answer(bytes_of("18 01000000 0000 'te'")), "");
  EXPECT_EQ(answer(bytes_of("18 01000000 0000 'a'")), "");
  EXPECT_EQ(answer(bytes_of("1a 01000000")), "ok ") << "a reset forgets what was sent";
  EXPECT_EQ(answer(bytes_of("18 01000000 0000 '12'")), "");
  EXPECT_EQ(answer(bytes_of("17 01000000 00 01000000 00 01 fc00")), "row row eof ok eof ");
  EXPECT_EQ(backend_.log.statements.back(), "select ?|12");
  EXPECT_EQ(answer(bytes_of("17 01000000 00 01000000 00 01 08")), "E1210 ");
  EXPECT_EQ(answer(bytes_of("19 01000000")), "") << "not answered";
  EXPECT_EQ(answer(bytes_of("17 01000000 00 01000000")), "E1243 ");
  EXPECT_EQ(answer(bytes_of("17 0100")), "E1835 ");
  EXPECT_EQ(answer("\x16unknown"), "E1064 ");
  EXPECT_EQ(answer(bytes_of("1c 01000000 01000000")), "E1235 ");
}

TEST_F(MysqlConversation, OtherCommands) {
  log_in();
  EXPECT_EQ(answer("\x0e"), "ok ");
  EXPECT_EQ(answer("\x02test"), "ok ");
  EXPECT_EQ(answer(std::string("\x04t\0", 3)), "E1235 ");
  EXPECT_EQ(answer("\x16nothing"), "ok ");
  EXPECT_EQ(query("begin"), "ok ");
  EXPECT_EQ(shown(send("\x1f")[0]), shown(bytes_of("00 00 00 0200 0000")))
      << "no transaction any more";
  EXPECT_EQ(answer(bytes_of("17 01000000 00 01000000")), "E1243 ") << "nor a statement";
  EXPECT_EQ(answer("\x63"), "E1047 ");
  EXPECT_EQ(answer(""), "E1835 ");
  EXPECT_EQ(answer(bytes_of("11 'bob' 00 00 00 2d00 'mysql_native_password' 00")), "ok ");
  EXPECT_EQ(backend_.log.names, (std::vector<std::string>{"root", "bob"}));
  EXPECT_EQ(answer("\x01"), "");
  EXPECT_TRUE(conversation_->over());
  EXPECT_EQ(backend_.log.open, 0);
}

TEST_F(MysqlConversation, OtherPluginsAreAskedToSwitch) {
  start("secret");
  const auto at = greeting_.find("mock") + 9;
  const auto scramble = greeting_.substr(at, 8) + greeting_.substr(greeting_.size() - 35, 12);
  const auto asked = log_in("caching_sha2_password", std::string(32, 'x'));
  ASSERT_EQ(asked.size(), 1u);
  EXPECT_EQ(shown(asked[0]), shown(auth_switch(scramble)));
  EXPECT_EQ(kinds(send(native_password_proof("secret", scramble), 3)), "ok ");
}

TEST_F(MysqlConversation, AWrongPassword) {
  start("secret");
  EXPECT_EQ(kinds(log_in()), "E1045 ");
  EXPECT_TRUE(conversation_->over());
}

// A session of such a name could not be written into a history.
TEST_F(MysqlConversation, NamesAreUtf8) {
  const auto with = [&](const char* user) {
    return kinds(send(bytes_of("00820a00 00000001 2d") + std::string(23, '\0') + bytes_of(user) +
                          bytes_of("00 00 'mysql_native_password' 00"),
                      1));
  };
  EXPECT_EQ(with("'r' c3"), "E1300 ");
  EXPECT_TRUE(conversation_->over());
  start({});
  EXPECT_EQ(with("'r' c3a9"), "ok ");
}

TEST_F(MysqlConversation, WhatEndsIt) {
  EXPECT_EQ(kinds(send("x", 1)), "E1043 ");
  start({});
  log_in();
  EXPECT_EQ(kinds(send("\x0e", 4)), "E1156 ") << "out of order";
  EXPECT_TRUE(conversation_->over());
  start({});
  conversation_->receive(bytes_of("ffffff 01"));
  EXPECT_TRUE(conversation_->advance());
  EXPECT_TRUE(conversation_->over());
}

}  // namespace
}  // namespace cupel::wire
