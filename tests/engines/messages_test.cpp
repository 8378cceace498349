// The messages of the engines: what is written is read again, and nothing else is.
#include "mock/engines/messages.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "base/random.hpp"

namespace cupel::engines {
namespace {

std::string random_text(base::Random& random) {
  std::string text(random.below(20), ' ');
  for (auto& byte : text) byte = static_cast<char>(random.below(256));
  return text;
}

Position random_position(base::Random& random) {
  return {static_cast<std::uint32_t>(random.below(1ULL << 32)),
          static_cast<std::uint16_t>(random.below(1U << 16))};
}

std::uint32_t random_number(base::Random& random) {
  return static_cast<std::uint32_t>(random.below(1ULL << 32));
}

Request random_request(base::Random& random) {
  switch (random.below(13)) {
    case 0:
      return OpenRequest{kProtocol, random_number(random), random_text(random), random_text(random),
                         5432};
    case 1: {
      ReadRequest request{random_number(random), random_number(random), random.chance(0.5),
                          random.chance(0.5),    random.chance(0.5),    random_number(random)};
      for (auto n = random.below(300); n > 0; --n) request.rows.push_back(random_position(random));
      return request;
    }
    case 2: {
      CommitRequest request;
      for (auto n = random.below(5); n > 0; --n) {
        request.writes.push_back({random_number(random), random_position(random),
                                  random_position(random), random.chance(0.5), random.chance(0.5),
                                  random.chance(0.5), random_text(random), random_text(random),
                                  random_text(random)});
      }
      return request;
    }
    case 3:
      return ChooseRequest{random_text(random), random_text(random),
                           static_cast<ChooseRequest::Isolation>(random.below(3))};
    case 4:
      return AbortRequest{};
    case 5:
      return LockRequest{random_number(random),   random_number(random), random_number(random),
                         random_position(random), random.chance(0.5),    random.chance(0.5),
                         random.chance(0.5)};
    case 9:
      return GuardRequest{static_cast<GuardRequest::Kind>(random.below(4)),
                          random_number(random),
                          random.chance(0.5),
                          random.chance(0.5),
                          random_position(random),
                          random_text(random),
                          random_text(random)};
    case 10:
      return UnlockRequest{random_number(random), random_position(random), random.chance(0.5)};
    case 11:
      return StopWaitingRequest{};
    case 6:
      return EndStatementRequest{random_number(random), random.chance(0.5)};
    case 7:
      return FinishRequest{};
    case 8:
      return TextRequest{random_text(random)};
    default:
      return CopyDatabaseRequest{random_number(random), random_number(random)};
  }
}

TEST(EngineMessages, AreReadAsTheyWereWritten) {
  base::Random random(7);
  for (int i = 0; i < 2000; ++i) {
    const auto bytes = encode(random_request(random));
    const auto read = decode(bytes);
    ASSERT_TRUE(read) << i;
    EXPECT_EQ(encode(*read), bytes) << i;
  }
}

TEST(EngineMessages, MustBeWhole) {
  base::Random random(8);
  for (int i = 0; i < 300; ++i) {
    const auto bytes = encode(random_request(random));
    const auto size = static_cast<std::size_t>(random.below(bytes.size()));
    EXPECT_FALSE(decode(std::string_view(bytes).substr(0, size))) << i;
    EXPECT_FALSE(decode(bytes + 'x')) << i;
  }
}

// Whatever comes in, a message that is accepted is one that could have been written.
TEST(EngineMessages, ThatAreChangedAreReadAsAnotherOrNotAtAll) {
  base::Random random(9);
  int accepted = 0;
  for (int i = 0; i < 5000; ++i) {
    auto bytes = encode(random_request(random));
    for (auto n = 1 + random.below(3); n > 0; --n)
      bytes[random.below(bytes.size())] = static_cast<char>(random.below(256));
    const auto read = decode(bytes);
    if (!read) continue;
    ++accepted;
    const auto again = decode(encode(*read));
    ASSERT_TRUE(again);
    EXPECT_EQ(encode(*again), encode(*read));
  }
  EXPECT_GT(accepted, 100);
}

TEST(EngineMessages, HaveALength) {
  EXPECT_FALSE(message_length("abc"));
  EXPECT_EQ(message_length(done_reply()), 1u);
  EXPECT_EQ(message_length(versions_reply({{1, 2}, {3, 4}})), 13u);
  EXPECT_EQ(failure_reply(FailureKind::kEnded, "why"), std::string("\x09\0\0\0f\1\3\0\0\0why", 13));
}

}  // namespace
}  // namespace cupel::engines
