// Slots of Redis Cluster: which slot a key has, and what an answer to CLUSTER NODES says. The same
// from a real cluster is in tests/servers/redis_cluster_test.cpp.
#include <gtest/gtest.h>

#include "databases/drivers/redis/slots.hpp"

namespace cupel::drivers::redis {
namespace {

const Host kAsked{.name = "10.0.0.9", .port = 7009};

std::string shown(const std::vector<Host>& hosts) {
  std::string text;
  for (const auto& host : hosts) text += address(host) + ' ';
  return text;
}
std::string shown(const std::optional<Host>& host) {
  return host ? address(*host) : "none";
}

TEST(RedisSlots, AreThoseOfTheSpecification) {
  EXPECT_EQ(slot_of("123456789"), 0x31C3);
  EXPECT_EQ(slot_of("foo"), 12182);
  EXPECT_EQ(slot_of(""), 0);
  // Only the hash tag counts.
  EXPECT_EQ(slot_of("{user1000}.following"), slot_of("user1000"));
  EXPECT_EQ(slot_of("foo{bar}{zap}"), slot_of("bar"));
  EXPECT_EQ(slot_of("foo{{bar}}zap"), slot_of("{bar"));
  // An empty tag, or one without an end, is none.
  EXPECT_NE(slot_of("foo{}{bar}"), slot_of("bar"));
  EXPECT_NE(slot_of("foo{bar"), slot_of("bar"));
}

constexpr std::string_view kNodes =
    "a :7001@17001 myself,master - 0 1 1 connected 0-5460 7 [7->-b] [9-<-b]\n"
    "b 10.0.0.2:7002@17002,host-b master - 0 1 2 connected 5461-10922\n"
    "c 10.0.0.3:7003@17003 slave a 0 1 1 connected\n"
    "d 10.0.0.4:7004@17004 slave,fail a 0 1 1 disconnected\n"
    "e 10.0.0.5:7005@17005 master,fail - 0 1 3 disconnected 10923\n"
    "f 10.0.0.6:7006@17006 slave b 0 1 2 connected\n"
    "g :0@0 master,noaddr - 0 1 0 disconnected\n"
    "not a node\n";

TEST(RedisSlots, ComeFromTheAnswerOfANode) {
  const auto slots = Slots::parse(kNodes, kAsked);
  EXPECT_EQ(shown(slots.primary_of(0)), "10.0.0.9:7001");
  EXPECT_EQ(shown(slots.primary_of(7)), "10.0.0.9:7001");
  EXPECT_EQ(shown(slots.primary_of(5460)), "10.0.0.9:7001");
  EXPECT_EQ(shown(slots.primary_of(5461)), "10.0.0.2:7002");
  EXPECT_EQ(shown(slots.primary_of(10923)), "10.0.0.5:7005");
  EXPECT_EQ(shown(slots.primary_of(10924)), "none");
  EXPECT_EQ(shown(slots.replicas_of(0)), "10.0.0.3:7003 ");
  EXPECT_EQ(shown(slots.replicas_of(6000)), "10.0.0.6:7006 ");
  EXPECT_EQ(shown(slots.replicas_of(10924)), "");
  EXPECT_EQ(slots.replicas(), 3U);
  EXPECT_EQ(slots.nodes().size(), 6U);
  EXPECT_TRUE(slots.is_primary({.name = "10.0.0.2", .port = 7002}));
  EXPECT_FALSE(slots.is_primary({.name = "10.0.0.3", .port = 7003}));
  const auto primaries = slots.primaries();
  ASSERT_EQ(primaries.size(), 3U);
  EXPECT_EQ(primaries[0].second, 1U) << "a replica that failed counts";
  EXPECT_EQ(primaries[2].second, 0U);
  EXPECT_TRUE(Slots::parse("", kAsked).primaries().empty());
}

TEST(RedisSlots, RedirectionsNameAHost) {
  EXPECT_EQ(shown(redirected("MOVED 3999 127.0.0.1:6381", kAsked)), "127.0.0.1:6381");
  EXPECT_EQ(shown(redirected("ASK 3999 ::1:6381", kAsked)), "[::1]:6381");
  EXPECT_EQ(shown(redirected("MOVED 3999 :6381", kAsked)), "10.0.0.9:6381");
  for (const auto* bad : {"MOVED 3999 ?:6381", "MOVED 3999", "MOVED 3999 127.0.0.1",
                          "MOVED 3999 127.0.0.1:", "MOVED 3999 127.0.0.1:0"}) {
    EXPECT_EQ(shown(redirected(bad, kAsked)), "none") << bad;
  }
}

}  // namespace
}  // namespace cupel::drivers::redis
