// Batches of messages, and what is read in them.
#include "mock/proxy/messages.hpp"

#include <gtest/gtest.h>

#include <string>

#include "mock/wire/bytes.hpp"

namespace cupel::proxy {
namespace {

using Kind = wire::postgres::Decoded<Frame>::Kind;

std::string message(char letter, const std::string& body) {
  std::string bytes(1, letter);
  wire::put_big(bytes, static_cast<std::uint32_t>(body.size() + 4));
  return bytes + body;
}
std::string zero(const std::string& text) {
  return text + '\0';
}
// Bind of the unnamed statement with one parameter as text.
std::string bind(const std::string& value) {
  std::string body = zero("") + zero("");
  wire::put_big(body, std::uint16_t{0});
  wire::put_big(body, std::uint16_t{1});
  wire::put_big(body, static_cast<std::uint32_t>(value.size()));
  body += value;
  wire::put_big(body, std::uint16_t{0});
  return message('B', body);
}
std::string parse(const std::string& text) {
  return message('P', zero("") + zero(text) + std::string(2, '\0'));
}
std::string execute(std::uint32_t rows = 0) {
  std::string body = zero("");
  wire::put_big(body, rows);
  return message('E', body);
}

// The batches of these bytes.
std::vector<Batch> batches_of(std::string_view bytes) {
  std::vector<Batch> found;
  Batches batches;
  for (;;) {
    const auto frame = decode_frame(bytes);
    if (frame.kind != Kind::kMessage) return found;
    if (batches.add(frame.message, bytes.substr(0, frame.size))) found.push_back(batches.take());
    bytes.remove_prefix(frame.size);
  }
}

TEST(Frames, AreWholeOrNotThere) {
  const auto whole = message('Q', zero("select 1"));
  for (std::size_t size = 0; size < whole.size(); ++size)
    EXPECT_EQ(decode_frame(std::string_view(whole).substr(0, size)).kind, Kind::kIncomplete);
  const auto more = whole + "Q";
  const auto frame = decode_frame(more);
  ASSERT_EQ(frame.kind, Kind::kMessage);
  EXPECT_EQ(frame.size, whole.size());
  EXPECT_EQ(frame.message.body, zero("select 1"));
}

TEST(Frames, HaveALengthWithinBounds) {
  EXPECT_EQ(decode_frame(std::string("Q\0\0\0\3", 5)).kind, Kind::kMalformed);
  EXPECT_EQ(decode_frame("Q\x7f\xff\xff\xff").kind, Kind::kMalformed);
}

TEST(BatchesOfMessages, EndWithAQueryOrASync) {
  const auto extended = parse("select $1") + bind("7") + execute() + message('S', "");
  const auto batches = batches_of(message('Q', zero("begin")) + extended);
  ASSERT_EQ(batches.size(), 2U);
  EXPECT_TRUE(batches[0].requests.at(0).simple);
  EXPECT_EQ(batches[0].requests.at(0).text, "begin");
  EXPECT_EQ(batches[1].bytes, extended);
  EXPECT_EQ(batches[1].requests.at(0).text, "select $1");
  EXPECT_EQ(batches[1].requests.at(0).parameters.at(0).value, "7");
  EXPECT_FALSE(batches[1].unreadable);
}

TEST(BatchesOfMessages, KnowAStatementOfAnEarlierBatch) {
  const auto batches =
      batches_of(parse("select $1") + message('S', "") + bind("8") + execute() + message('S', ""));
  ASSERT_EQ(batches.size(), 2U);
  EXPECT_TRUE(batches[0].requests.empty());
  EXPECT_EQ(batches[1].requests.at(0).text, "select $1");
}

TEST(BatchesOfMessages, CountTheAnswersBeforeAFlush) {
  const auto batches = batches_of(parse("select $1") + bind("7") + execute() + message('H', ""));
  ASSERT_EQ(batches.size(), 1U);
  EXPECT_EQ(batches[0].answers, 3U);
}

TEST(BatchesOfMessages, SayWhatTheyDoNotUnderstand) {
  EXPECT_TRUE(batches_of(bind("7") + message('S', "")).at(0).unreadable) << "no such statement";
  EXPECT_TRUE(
      batches_of(parse("select $1") + bind("7") + execute(1) + message('S', "")).at(0).unreadable)
      << "rows in portions";
  EXPECT_TRUE(batches_of(message('P', "x") + message('S', "")).at(0).unreadable);
}

TEST(Answers, AreRead) {
  const std::string row("\0\2\0\0\0\1a\xff\xff\xff\xff", 11);
  const auto cells = result_row(row);
  ASSERT_TRUE(cells);
  EXPECT_EQ(cells->at(0), "a");
  EXPECT_FALSE(cells->at(1));
  EXPECT_FALSE(result_row(row.substr(0, row.size() - 1)));
  EXPECT_FALSE(result_columns(std::string("\0\1", 2)));
  EXPECT_EQ(report_fields(std::string("SERROR\0C40P01\0\0", 15))['C'], "40P01");
}

TEST(Startup, NamesAnotherDatabase) {
  const auto startup = [](const std::string& parameters) {
    std::string bytes;
    wire::put_big(bytes, static_cast<std::uint32_t>(parameters.size() + 8));
    wire::put_big(bytes, std::uint32_t{196608});
    return bytes + parameters;
  };
  const auto asked =
      startup(zero("user") + zero("me") + zero("database") + zero("shop") + zero(""));
  const auto given =
      startup(zero("user") + zero("me") + zero("database") + zero("copy") + zero(""));
  EXPECT_EQ(with_database(asked, "shop", "copy"), given);
  EXPECT_EQ(with_database(asked, "other", "copy"), asked);
  const auto without = startup(zero("user") + zero("me") + zero(""));
  EXPECT_EQ(with_database(without, "me", "copy"), given) << "the user's name is the default";
}

}  // namespace
}  // namespace cupel::proxy
