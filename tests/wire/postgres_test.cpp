// PostgreSQL's protocol byte by byte: the codec, the values and what a conversation says.
#include <gtest/gtest.h>

#include "mock/wire/conversation.hpp"
#include "mock/wire/postgres/codec.hpp"
#include "mock/wire/postgres/values.hpp"
#include "mock/wire/statement_text.hpp"
#include "wire/fake_backend.hpp"
#include "wire/golden.hpp"

namespace cupel::wire {
namespace {

using namespace postgres;

template <typename Message>
using Kind = typename Decoded<Message>::Kind;

TEST(PostgresCodec, Openings) {
  const auto ssl = decode_opening(lasting("00000008 04d2162f"));
  ASSERT_EQ(ssl.kind, Kind<Opening>::kMessage);
  EXPECT_EQ(ssl.size, 8u);
  EXPECT_TRUE(std::holds_alternative<EncryptionRequest>(ssl.message));
  EXPECT_TRUE(std::holds_alternative<EncryptionRequest>(
      decode_opening(lasting("00000008 04d21630")).message));

  const auto startup = decode_opening(lasting("00000012 00030000 'user' 00 'al' 00 00"));
  ASSERT_EQ(startup.kind, Kind<Opening>::kIncomplete) << "one byte is missing";
  const auto whole = decode_opening(lasting("00000011 00030000 'user' 00 'al' 00 00"));
  ASSERT_EQ(whole.kind, Kind<Opening>::kMessage);
  EXPECT_EQ(std::get<Startup>(whole.message).parameters,
            (std::vector<std::pair<std::string, std::string>>{{"user", "al"}}));

  const auto cancel = decode_opening(lasting("00000010 04d2162e 00000007 00000009"));
  EXPECT_EQ(std::get<CancelRequest>(cancel.message).secret, 9u);
  EXPECT_EQ(std::get<UnknownVersion>(decode_opening(lasting("00000008 00020000")).message).major,
            2u);
}

TEST(PostgresCodec, RefusesOpeningsThatLieAboutTheirLength) {
  for (const char* wrong : {"00000007", "00000000", "7fffffff", "ffffffff", "00002711",  // 10001
                            "0000000a 00030000 00 00",      // after the end of the parameters
                            "0000000c 00030000 'user'"}) {  // without one
    EXPECT_EQ(decode_opening(lasting(wrong)).kind, Kind<Opening>::kMalformed) << wrong;
  }
}

TEST(PostgresCodec, Messages) {
  const auto query = decode(lasting("51 0000000d 'select 1' 00"));
  ASSERT_EQ(query.kind, Kind<Frontend>::kMessage);
  EXPECT_EQ(std::get<Query>(query.message).text, "select 1");
  EXPECT_EQ(query.size, 14u);

  const auto parsed = bytes_of("50 00000013 's' 00 'q' 00 0002 00000017 00000000 00");
  EXPECT_EQ(decode(parsed).kind, Kind<Frontend>::kMalformed) << "a byte too many";
  const auto parse = decode(lasting("50 00000012 's' 00 'q' 00 0002 00000017 00000000"));
  ASSERT_EQ(parse.kind, Kind<Frontend>::kMessage);
  EXPECT_EQ(std::get<Parse>(parse.message).types, (std::vector<Oid>{23, 0}));

  const auto bound =
      decode(lasting("42 0000001d 00 's' 00 0001 0001 0002 00000004 00000007 ffffffff 0001 0000"));
  ASSERT_EQ(bound.kind, Kind<Frontend>::kMessage);
  const auto& bind = std::get<Bind>(bound.message);
  EXPECT_EQ(bind.formats, std::vector<std::int16_t>{1});
  ASSERT_EQ(bind.values.size(), 2u);
  EXPECT_EQ(bind.values[0], bytes_of("00000007"));
  EXPECT_FALSE(bind.values[1]);

  const auto execute = decode(lasting("45 0000000a 'p' 00 00000002"));
  EXPECT_EQ(std::get<Execute>(execute.message).rows, 2u);
  const auto describe = decode(lasting("44 00000007 'S' 's' 00"));
  EXPECT_EQ(std::get<Describe>(describe.message).target, Target::kStatement);
}

TEST(PostgresCodec, RefusesMessagesThatLie) {
  for (const char* wrong : {"01",                                         // no such message
                            "51 00000003",                                // shorter than its length
                            "51 7fffffff", "51 ffffffff", "51 00400001",  // longer than may be
                            "51 00000005 'x'",                            // no end of the text
                            "44 00000006 'X' 00",                    // neither statement nor portal
                            "42 0000000e 00 00 0000 0001 7fffffff",  // a value of 2 GiB
                            "42 0000000e 00 00 0000 0001 fffffffe",  // a negative one
                            "42 0000000a 00 00 ffff 0000",           // 65535 formats
                            "50 00000008 00 00 ffff"}) {
    const auto decoded = decode(lasting(wrong));
    EXPECT_EQ(decoded.kind, Kind<Frontend>::kMalformed) << wrong;
    EXPECT_FALSE(decoded.wrong.empty());
  }
  EXPECT_EQ(decode(lasting("51 00000009 'sele'")).kind, Kind<Frontend>::kIncomplete);
}

TEST(PostgresCodec, Answers) {
  std::string out;
  put_authentication_ok(out);
  put_parameter_status(out, "a", "b");
  put_key_data(out, 1, 2);
  put_ready(out, 'I');
  EXPECT_EQ(shown(out), shown(bytes_of("52 00000008 00000000  53 00000008 'a' 00 'b' 00"
                                       "4b 0000000c 00000001 00000002  5a 00000005 'I'")));
  out.clear();
  const Field fields[] = {{.name = "n", .type = 20, .size = 8, .format = 1}};
  put_row_description(out, fields);
  EXPECT_EQ(shown(out),
            shown(bytes_of("54 0000001a 0001 'n' 00 00000000 0000 00000014 0008 ffffffff 0001")));
  out.clear();
  const std::optional<std::string> values[] = {"ab", std::nullopt, ""};
  put_data_row(out, values);
  EXPECT_EQ(shown(out), shown(bytes_of("44 00000014 0003 00000002 'ab' ffffffff 00000000")));
  out.clear();
  put_error(out, {.sqlstate = "42601", .message = "m", .position = 3});
  EXPECT_EQ(shown(out),
            shown(bytes_of("45 00000020 'SERROR' 00 'VERROR' 00 'C42601' 00 'Mm' 00 'P3' 00 00")));
  out.clear();
  put_error(out, {.sqlstate = "22023", .message = "m", .detail = "d", .hint = "h"});
  EXPECT_EQ(shown(out),
            shown(bytes_of(
                "45 00000023 'SERROR' 00 'VERROR' 00 'C22023' 00 'Mm' 00 'Dd' 00 'Hh' 00 00")));
}

TEST(PostgresValues, BothWays) {
  struct Case {
    sql::Type type;
    const char* text;
    const char* bytes;
  };
  using enum sql::Type;
  for (const auto& [type, text, bytes] :
       std::initializer_list<Case>{{kBoolean, "t", "01"},
                                   {kBoolean, "f", "00"},
                                   {kSmallint, "-2", "fffe"},
                                   {kInteger, "70000", "00011170"},
                                   {kBigint, "-1", "ffffffffffffffff"},
                                   {kText, "tea", "'tea'"},
                                   {kVarchar, "", ""},
                                   {kTimestamp, "2000-01-01 00:00:01.5", "000000000016e360"},
                                   {kTimestamp, "1999-12-31 23:59:59", "fffffffffff0bdc0"},
                                   {kTimestampTz, "2000-01-01 00:00:00+00", "0000000000000000"},
                                   {kNumeric, "0", "0000 0000 0000 0000"},
                                   {kNumeric, "12345.678", "0003 0001 0000 0003 0001 0929 1a7c"},
                                   {kNumeric, "-0.0001", "0001 ffff 4000 0004 0001"},
                                   {kNumeric, "10000", "0001 0001 0000 0000 0001"},
                                   {kNumeric, "1.50", "0002 0000 0000 0002 0001 1388"}}) {
    const auto binary = binary_of_text(type, text);
    ASSERT_TRUE(binary) << text;
    EXPECT_EQ(shown(*binary), shown(bytes_of(bytes))) << text;
    EXPECT_EQ(text_of_binary(oid_of(type), bytes_of(bytes)), text);
  }
}

// What clients send and sessions have no type of.
TEST(PostgresValues, Parameters) {
  EXPECT_EQ(text_of_binary(26, bytes_of("ffffffff")), "4294967295");
  EXPECT_EQ(text_of_binary(700, bytes_of("3f000000")), "0.5");
  EXPECT_EQ(text_of_binary(701, bytes_of("bff8000000000000")), "-1.5");
  EXPECT_EQ(text_of_binary(701, bytes_of("7ff0000000000000")), "Infinity");
  EXPECT_EQ(text_of_binary(1700, bytes_of("0000 0000 c000 0000")), "NaN");
  for (const Oid type : {Oid{0}, Oid{19}, Oid{705}}) EXPECT_EQ(text_of_binary(type, "tea"), "tea");
}

TEST(PostgresValues, RefusesWhatIsNone) {
  EXPECT_FALSE(text_of_binary(23, bytes_of("0000")));
  EXPECT_FALSE(text_of_binary(16, ""));
  EXPECT_FALSE(text_of_binary(1700, bytes_of("0001 0000 0000 0000")));
  EXPECT_FALSE(text_of_binary(1700, bytes_of("0001 0000 0000 0000 2710")));  // a digit of 10000
  EXPECT_FALSE(text_of_binary(1114, bytes_of("7fffffffffffffff")));
  EXPECT_FALSE(binary_of_text(sql::Type::kSmallint, "40000"));
  EXPECT_FALSE(binary_of_text(sql::Type::kInteger, "x"));
  EXPECT_FALSE(binary_of_text(sql::Type::kTimestamp, "2023-02-29"));
  // bytea, "char", json, xml, date, uuid
  for (const Oid type : {17, 18, 114, 142, 1082, 2950}) {
    EXPECT_FALSE(is_known(type)) << type;
    EXPECT_FALSE(text_of_binary(type, std::string(16, 'x'))) << type;
  }
}

TEST(StatementText, SeesThroughComments) {
  EXPECT_TRUE(is_empty_statement(""));
  EXPECT_TRUE(is_empty_statement(" ; -- words\n /* a /* nested */ one */ ;"));
  EXPECT_TRUE(is_empty_statement("/*!40101 SET NAMES utf8 */"));
  EXPECT_TRUE(is_empty_statement("/* without an end"));
  EXPECT_FALSE(is_empty_statement("/* words */ x"));
  EXPECT_FALSE(is_empty_statement("-- words\n''"));
}

// --- conversations

std::string message(char letter, const std::string& body = "") {
  std::string out(1, letter);
  const auto size = static_cast<std::uint32_t>(body.size() + 4);
  for (int shift = 24; shift >= 0; shift -= 8) out += static_cast<char>(size >> shift);
  return out + body;
}
std::string text(const std::string& words) {
  return words + '\0';
}
std::string query(const std::string& words) {
  return message('Q', text(words));
}
std::string parse(const std::string& words, const std::string& name = "") {
  return message('P', text(name) + text(words) + bytes_of("0000"));
}
std::string bind(const std::string& portal = "", const std::string& statement = "") {
  return message('B', text(portal) + text(statement) + bytes_of("0000 0000 0000"));
}
std::string execute(const std::string& rows = "00000000", const std::string& portal = "") {
  return message('E', text(portal) + bytes_of(rows));
}
const std::string kSync = message('S');

class PostgresConversation : public ::testing::Test {
 protected:
  void SetUp() override { start({}); }
  void start(std::optional<std::string> password) {
    conversation_ = make_postgres(
        {.open = [this](const std::string& client) { return backend_.open_sql(client); },
         .password = std::move(password),
         .number = 7,
         .secret = 9,
         .refusal = {}});
  }
  std::string send(const std::string& bytes) {
    conversation_->receive(bytes);
    std::string out;
    while (conversation_->advance()) {
    }
    return conversation_->take_output();
  }
  void log_in() {
    const auto out =
        send(bytes_of("00000023 00030000 'user' 00 'al' 00 'application_name' 00 00 00"));
    ASSERT_TRUE(out.ends_with(bytes_of("4b 0000000c 00000007 00000009 5a 00000005 'I'")))
        << shown(out);
  }
  // The letters of the messages, an error's SQLSTATE and a tag behind theirs.
  static std::string letters(std::string_view out) {
    std::string all;
    while (out.size() >= 5) {
      std::size_t size = 0;
      for (int i = 1; i <= 4; ++i)
        size = size << 8 | static_cast<unsigned char>(out[static_cast<std::size_t>(i)]);
      const auto body = out.substr(5, size - 4);
      all += out[0];
      if (out[0] == 'E' || out[0] == 'N')
        all += "(" + std::string(body.substr(body.find(std::string("\0C", 2)) + 2, 5)) + ")";
      if (out[0] == 'C' || out[0] == 'Z')
        all += "(" + std::string(body.substr(0, body.find('\0'))) + ")";
      out.remove_prefix(size + 1);
    }
    return all;
  }
  std::string answer(const std::string& bytes) { return letters(send(bytes)); }

  FakeBackend backend_;
  std::unique_ptr<Conversation> conversation_;
};

TEST_F(PostgresConversation, RefusesEncryptionAndGoesOn) {
  EXPECT_EQ(send(bytes_of("00000008 04d21630")), "N");
  EXPECT_EQ(send(bytes_of("00000008 04d2162f")), "N");
  log_in();
}

TEST_F(PostgresConversation, SimpleQueries) {
  log_in();
  EXPECT_EQ(answer(query("select 1; rows 2; nothing")),
            "TDC(SELECT 1)TDDC(SELECT 2)C(INSERT 0 3)Z(I)");
  EXPECT_EQ(answer(query(" ; ")), "IZ(I)");
  EXPECT_EQ(answer(query("select 1; nonsense; select 2")), "TDC(SELECT 1)E(42601)Z(I)");
  EXPECT_EQ(answer(query("begin")), "C(BEGIN)Z(T)");
  EXPECT_EQ(answer(query("begin")), "N(25001)C(BEGIN)Z(T)");
  EXPECT_EQ(answer(query("fail 40001")), "E(40001)Z(E)");
  EXPECT_EQ(answer(query("select 1")), "E(25P02)Z(E)");
  EXPECT_EQ(answer(query("commit")), "C(ROLLBACK)Z(I)");
  EXPECT_EQ(send(query("select 42")),
            bytes_of("54 0000001a 0001 'n' 00 00000000 0000 00000014 0008 ffffffff 0000"
                     "44 0000000c 0001 00000002 '42'"
                     "43 0000000d 'SELECT' 20 '1' 00 5a 00000005 'I'"));
}

TEST_F(PostgresConversation, ExtendedQueries) {
  log_in();
  EXPECT_EQ(answer(parse("rows 3") + bind() + message('D', "P" + text("")) + execute() + kSync),
            "12TDDDC(SELECT 3)Z(I)");
  EXPECT_EQ(answer(parse("nothing") + message('D', "S" + text("")) + bind() + execute() +
                   execute() + kSync),
            "1tn2C(INSERT 0 3)E(55000)Z(I)");
  EXPECT_EQ(answer(parse("") + bind() + message('D', "P" + text("")) + execute() + kSync),
            "12nIZ(I)");
  // A row limit: whether there is more shows at the next Execute.
  EXPECT_EQ(
      answer(query("begin") + parse("rows 4", "s") + bind("p", "s") + execute("00000002", "p") +
             execute("00000002", "p") + execute("00000002", "p") + kSync),
      "C(BEGIN)Z(T)12DDsDDsC(SELECT 0)Z(T)");
  // Portals end with the transaction, statements do not.
  EXPECT_EQ(answer(query("commit") + execute("00000000", "p") + kSync + bind("p", "s") + kSync),
            "C(COMMIT)Z(I)E(34000)Z(I)2Z(I)");
  EXPECT_EQ(answer(parse("select 1", "s") + kSync), "E(42P05)Z(I)");
  EXPECT_EQ(answer(message('C', "S" + text("s")) + bind("", "s") + kSync), "3E(26000)Z(I)");
}

TEST_F(PostgresConversation, SkipsToTheSyncAfterAnError) {
  log_in();
  EXPECT_EQ(answer(parse("unknown words") + bind() + execute() + query("select 1") + kSync +
                   query("select 1")),
            "E(42601)Z(I)TDC(SELECT 1)Z(I)");
}

TEST_F(PostgresConversation, StatementsUpToASyncAreOneTransaction) {
  log_in();
  EXPECT_EQ(
      answer(parse("nothing", "s") + bind("", "s") + execute() + bind("", "s") + execute() + kSync),
      "12C(INSERT 0 3)2C(INSERT 0 3)Z(I)");
  EXPECT_EQ(backend_.log.statements,
            (std::vector<std::string>{"BEGIN", "nothing", "nothing", "COMMIT"}));
  backend_.log.statements.clear();
  EXPECT_EQ(answer(bind("", "s") + execute() + parse("fail 23505") + bind() + execute() + kSync),
            "2C(INSERT 0 3)12E(23505)Z(I)");
  EXPECT_EQ(backend_.log.statements,
            (std::vector<std::string>{"BEGIN", "nothing", "fail 23505", "ROLLBACK"}));
  backend_.log.statements.clear();
  EXPECT_EQ(answer(bind("", "s") + execute() + kSync), "2C(INSERT 0 3)Z(I)");
  EXPECT_EQ(backend_.log.statements, std::vector<std::string>{"nothing"})
      << "a single one needs no BEGIN";
}

TEST_F(PostgresConversation, ParametersInBinary) {
  log_in();
  const auto typed = message('P', text("") + text("select $1") + bytes_of("0001 00000017"));
  const auto bound =
      message('B', text("") + text("") + bytes_of("0001 0001 0001 00000004 fffffffe 0001 0001"));
  const auto out = send(typed + bound + execute() + kSync);
  EXPECT_EQ(letters(out), "12DC(SELECT 1)Z(I)");
  EXPECT_EQ(backend_.log.statements.back(), "select $1|-2");
  EXPECT_NE(out.find(bytes_of("0001 00000008 fffffffffffffffe")), std::string::npos) << shown(out);
  const auto short_one =
      message('B', text("") + text("") + bytes_of("0001 0001 0001 00000002 fffe 0000"));
  EXPECT_EQ(answer(short_one + kSync), "E(22P03)Z(I)");
  // bytea: as text it would be another value.
  EXPECT_EQ(answer(message('P', text("") + text("select $1") + bytes_of("0001 00000011")) + bound +
                   execute() + kSync),
            "1E(0A000)Z(I)");
  EXPECT_EQ(answer(bind() + kSync), "E(08P01)Z(I)") << "no parameter where one is needed";
}

TEST_F(PostgresConversation, OddMessages) {
  log_in();
  EXPECT_EQ(answer(message('d', "1\t2\n") + message('c') + message('f', text("no"))), "")
      << "left over from a COPY that was refused";
  EXPECT_EQ(answer(message('F', bytes_of("0000"))), "E(0A000)Z(I)");
  EXPECT_EQ(answer(message('H')), "");
  EXPECT_EQ(answer(message('X')), "");
  EXPECT_TRUE(conversation_->over());
  EXPECT_EQ(backend_.log.open, 0);
}

TEST_F(PostgresConversation, MalformedMessagesEndIt) {
  log_in();
  EXPECT_EQ(answer(bytes_of("51 7fffffff") + "select"), "E(08P01)");
  EXPECT_TRUE(conversation_->over());
  start({});
  EXPECT_EQ(answer(bytes_of("00000008 00020000")), "E(0A000)");
  start({});
  EXPECT_EQ(answer(bytes_of("00000009 00030000 00")), "E(28000)") << "no user";
}

// A session of such a name could not be written into a history.
TEST_F(PostgresConversation, NamesAreUtf8) {
  EXPECT_EQ(answer(bytes_of("00000011 00030000 'user' 00 'a' ff 00 00")), "E(22021)");
  EXPECT_TRUE(conversation_->over());
  start({});
  EXPECT_EQ(
      answer(bytes_of("00000025 00030000 'user' 00 'al' 00 'application_name' 00 'a' c3 00 00")),
      "E(22021)");
  start({});
  EXPECT_TRUE(
      answer(bytes_of("00000025 00030000 'user' 00 'al' 00 'application_name' 00 c3 a9 00 00"))
          .ends_with("KZ(I)"));
}

TEST_F(PostgresConversation, APasswordIfThereIsOne) {
  start("secret");
  const auto startup = bytes_of("00000011 00030000 'user' 00 'al' 00 00");
  EXPECT_EQ(shown(send(startup)), shown(bytes_of("52 00000008 00000003")));
  EXPECT_EQ(answer(message('p', text("guess"))), "E(28P01)");
  start("secret");
  send(startup);
  EXPECT_TRUE(answer(message('p', text("secret"))).ends_with("KZ(I)"));
}

TEST_F(PostgresConversation, NewerClientsAreToldWhatIsSpoken) {
  const auto out = send(bytes_of("0000001a 00030002 'user' 00 'al' 00 '_pq_.x' 00 '1' 00 00"));
  EXPECT_TRUE(out.starts_with(bytes_of("76 00000013 00000000 00000001 '_pq_.x' 00"))) << shown(out);
}

}  // namespace
}  // namespace cupel::wire
