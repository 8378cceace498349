// twitter: users tweet and follow each other. The mix is that of Cobra's Twitter, the
// size VIPER's (section 7): 1000 users, chosen by the distribution, zipf by default.
//
// A user follows at most ten others, each in the slot that the other's number names,
// so that following and unfollowing are by primary key; following another with the
// same slot lets the first one go.
#include "data/workload/application.hpp"
#include "data/workload/keys.hpp"
#include "data/workload/workload_spec.hpp"

namespace cupel::workload {

namespace {

enum : std::uint32_t { kUsers, kTweets, kFollows };
enum : std::uint32_t { kTweetCount = 1, kFollowers, kFollowing };  // of a user
enum : std::uint32_t { kBody = 0 };                                // of a tweet
enum : std::uint32_t { kWhom = 0 };                                // of a slot; 0: free
constexpr std::int64_t kUserCount = 1000, kSlots = 10, kTweetsShown = 5;

class Twitter final : public Application {
 public:
  explicit Twitter(const WorkloadOptions& o)
      : Application(o, tables(o), false),
        keys_(o.distribution, static_cast<std::uint64_t>(scaled(kUserCount, o.scale, 2))) {
    set_kinds({
        {"new-tweet", 20, [this](auto& r) { return new_tweet(r); }},
        {"follow", 40, [this](auto& r) { return follow(r); }},
        {"timeline", 10, [this](auto& r) { return timeline(r); }},
        {"show-follow", 10, [this](auto& r) { return show_follow(r); }},
        {"show-tweets", 20, [this](auto& r) { return show_tweets(r); }},
    });
  }

 private:
  static std::vector<TableSpec> tables(const WorkloadOptions& o) {
    const auto users = scaled(kUserCount, o.scale, 2);
    return {{"users",
             {"user_id"},
             {"name", "tweets", "followers", "follows"},
             {users},
             [](const RowKey& key) {
               return std::vector<std::string>{"user " + std::to_string(key[0]), "0", "0", "0"};
             }},
            {"tweets", {"user_id", "tweet"}, {"body"}},
            {"follows", {"user_id", "slot"}, {"whom"}, {users, kSlots}, [](const RowKey&) {
               return std::vector<std::string>{"0"};
             }}};
  }

  std::int64_t user(base::Random& random) const {
    return static_cast<std::int64_t>(keys_.choose(random)) + 1;
  }

  Program new_tweet(base::Random& random) const {
    const auto who = user(random);
    const auto mood = random.below(1000);
    return [=](Rows& rows) {
      const auto number = rows.read(kUsers, {who}, {kTweetCount}).number(0) + 1;
      if (!rows.ok()) return;
      rows.write(kTweets, {who, number}, {{kBody, "mood " + std::to_string(mood)}});
      rows.write(kUsers, {who}, {{kTweetCount, number}});
    };
  }

  // Follows, or unfollows whom it follows already.
  Program follow(base::Random& random) const {
    const auto who = user(random);
    auto whom = user(random);
    while (whom == who) whom = user(random);
    return [=](Rows& rows) {
      const RowKey slot = {who, whom % kSlots + 1};
      const auto before = rows.read(kFollows, slot, {kWhom}).number(0);
      const auto after = before == whom ? 0 : whom;
      const auto change = (after != 0) - (before != 0);
      const auto count = rows.read(kUsers, {who}, {kFollowing}).number(0);
      if (!rows.ok()) return;
      rows.write(kFollows, slot, {{kWhom, after}});
      if (change != 0) rows.write(kUsers, {who}, {{kFollowing, count + change}});
      if (before != 0) add_follower(rows, before, -1);
      if (after != 0) add_follower(rows, after, 1);
    };
  }
  static void add_follower(Rows& rows, std::int64_t who, std::int64_t change) {
    const auto count = rows.read(kUsers, {who}, {kFollowers}).number(0);
    if (rows.ok()) rows.write(kUsers, {who}, {{kFollowers, count + change}});
  }

  // The last tweet of each whom the user follows.
  Program timeline(base::Random& random) const {
    const auto who = user(random);
    return [=](Rows& rows) {
      for (std::int64_t slot = 1; slot <= kSlots && rows.ok(); ++slot) {
        const auto whom = rows.read(kFollows, {who, slot}, {kWhom}).number(0);
        if (whom != 0) show_last(rows, whom, 1);
      }
    };
  }
  static void show_last(Rows& rows, std::int64_t who, std::int64_t shown) {
    const auto count = rows.read(kUsers, {who}, {kTweetCount}).number(0);
    for (auto n = count; n > 0 && n > count - shown; --n) rows.read(kTweets, {who, n}, {kBody});
  }

  Program show_follow(base::Random& random) const {
    const auto who = user(random);
    return [=](Rows& rows) {
      rows.read(kUsers, {who}, {kFollowers, kFollowing});
      for (std::int64_t slot = 1; slot <= kSlots; ++slot) rows.read(kFollows, {who, slot}, {kWhom});
    };
  }

  Program show_tweets(base::Random& random) const {
    const auto who = user(random);
    return [=](Rows& rows) { show_last(rows, who, kTweetsShown); };
  }

  KeyDistribution keys_;
};

}  // namespace

extern constinit const WorkloadSpec kTwitterWorkload{
    {.name = "twitter",
     .summary = "tweet, follow, timeline",
     .source = "Cobra's Twitter; sizes as in VIPER, section 7",
     .page = "docs/reference/workloads/twitter.md",
     .defaults = {.distribution = Distribution::kZipf}},
    [](const WorkloadOptions& options) -> WorkloadPointer {
      return std::make_unique<Twitter>(options);
    }};

}  // namespace cupel::workload
