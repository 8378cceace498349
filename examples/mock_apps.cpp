// The applications.
#include "mock_apps.hpp"

#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <random>
#include <set>
#include <sstream>

namespace apps {

namespace {

using cupel::MockStore;
using cupel::MockTransaction;
using cupel::Scalar;

std::string text(const std::optional<Scalar>& value) {
  const auto* found = value ? std::get_if<std::string>(&*value) : nullptr;
  return found ? *found : std::string();
}
std::optional<std::int64_t> number(const std::optional<Scalar>& value) {
  const auto* found = value ? std::get_if<std::int64_t>(&*value) : nullptr;
  return found ? std::optional(*found) : std::nullopt;
}

// A list is kept under one key, as numbers with spaces between.
std::vector<int> list(const std::optional<Scalar>& value) {
  std::istringstream words(text(value));
  std::vector<int> numbers;
  for (int next = 0; words >> next;) numbers.push_back(next);
  return numbers;
}
std::string in_words(const std::vector<int>& numbers) {
  std::string words;
  for (const int next : numbers) words += (words.empty() ? "" : " ") + std::to_string(next);
  return words;
}

// Operations drawn by these weights, about one of `subjects`.
Plan drawn(std::uint64_t seed, int clients, int operations, std::vector<int> weights,
           int subjects) {
  std::mt19937_64 random(seed);
  const auto below = [&](int bound) {
    return static_cast<int>(random() % static_cast<unsigned>(bound));
  };
  int all = 0;
  for (const int weight : weights) all += weight;
  Plan plan(static_cast<std::size_t>(clients));
  for (auto& client : plan) {
    for (int i = 0; i < operations; ++i) {
      Operation operation;
      int at = below(all);
      while (at >= weights[operation.kind]) at -= weights[operation.kind++];
      operation.what = below(subjects);
      client.push_back(operation);
    }
  }
  return plan;
}

// Each client's operations, in its own thread or one client after another.
void run_clients(MockStore& store, const Plan& plan, bool interleaved,
                 const std::function<void(int client, int place, const Operation&)>& run) {
  std::vector<std::function<void()>> clients;
  for (std::size_t c = 0; c < plan.size(); ++c) {
    clients.emplace_back([&, c] {
      for (std::size_t i = 0; i < plan[c].size(); ++i)
        run(static_cast<int>(c), static_cast<int>(i), plan[c][i]);
    });
  }
  if (interleaved) return store.interleave(clients);
  for (const auto& client : clients) client();
}

std::string session(int client) {
  return "client " + std::to_string(client + 1);
}

std::string lines(const std::vector<std::string>& seen) {
  std::string all;
  for (const auto& line : seen) all += line + "\n";
  return all;
}

// ---- Treiber's stack ----
//
// A row for each element: its value and the row below. `head` holds the topmost row. Each
// read, write and compare-and-set is a transaction of its own. Source: Nagar et al. 2020,
// after Treiber 1986.
class Stack {
 public:
  enum Kind { kPush, kPop };

  explicit Stack(MockStore& store) : store_(store) {}

  // Two elements, 2 above 1.
  void open() {
    store_.set_initial("row 1", "1 ");
    store_.set_initial("row 2", "2 1");
    store_.set_initial("head", "2");
  }

  // False: others were always faster.
  bool push(const std::string& client, int value) {
    const std::string row = "row " + std::to_string(value);
    for (int attempt = 0; attempt < kAttempts; ++attempt) {
      const auto head = read(client, "head");
      auto transaction = store_.begin(client);
      transaction.write(row, std::to_string(value) + " " + text(head));
      if (!transaction.commit()) continue;
      if (compare_and_set(client, text(head), std::to_string(value))) return true;
    }
    return false;
  }

  // None: the stack is empty, or others were always faster.
  std::optional<int> pop(const std::string& client) {
    for (int attempt = 0; attempt < kAttempts; ++attempt) {
      const auto head = text(read(client, "head"));
      if (head.empty()) return std::nullopt;
      const auto row = list(read(client, "row " + head));
      if (row.empty()) continue;
      const auto below = row.size() > 1 ? std::to_string(row[1]) : std::string();
      if (compare_and_set(client, head, below)) return row[0];
    }
    return std::nullopt;
  }

 private:
  static constexpr int kAttempts = 3;

  std::optional<Scalar> read(const std::string& client, const std::string& key) {
    auto transaction = store_.begin(client);
    auto value = transaction.read(key);
    transaction.commit();
    return value;
  }
  bool compare_and_set(const std::string& client, const std::string& from, const std::string& to) {
    auto transaction = store_.begin(client);
    if (text(transaction.read("head")) != from) return false;
    return transaction.write("head", to) && transaction.commit();
  }

  MockStore& store_;
};

Plan draw_stack(std::uint64_t seed, int clients, int operations) {
  return drawn(seed, clients, operations, {1, 1}, 1);
}

Application::Outcome run_stack(MockStore& store, const Plan& plan, bool interleaved) {
  Stack stack(store);
  stack.open();
  std::vector<std::string> seen(plan.size());
  std::vector<std::vector<int>> popped(plan.size());
  run_clients(store, plan, interleaved, [&](int client, int place, const Operation& operation) {
    if (operation.kind == Stack::kPush) {
      stack.push(session(client), 10 * (client + 1) + place);
      return;
    }
    const auto value = stack.pop(session(client));
    seen[client] += value ? " " + std::to_string(*value) : " -";
    if (value) popped[client].push_back(*value);
  });
  std::set<int> once;
  bool twice = false;
  for (const auto& values : popped) {
    for (const int value : values) twice = !once.insert(value).second || twice;
  }
  return {lines(seen), {twice}};
}

// ---- Courseware ----
//
// One course of two places, of which one is left, and four students. A row says of each
// student whether she is registered, another whether she is enrolled. Source: Kaki et al. 2018.
class Courseware {
 public:
  enum Kind { kRegister, kDeregister, kEnroll, kRemove, kView };
  static constexpr int kStudents = 4, kPlaces = 2;
  struct View {
    bool active = false;
    std::vector<int> enrolled;
  };

  explicit Courseware(MockStore& store) : store_(store) {}

  void open() {
    store_.set_initial("course", "active");
    for (int s = 0; s < kStudents; ++s) store_.set_initial(student(s), "registered");
    store_.set_initial(enrollment(0), 1);
  }

  void set_registered(const std::string& client, int who, bool registered) {
    auto transaction = store_.begin(client);
    transaction.write(student(who), registered ? Scalar("registered") : Scalar());
    if (!registered && number(transaction.read(enrollment(who))))
      transaction.write(enrollment(who), {});
    transaction.commit();
  }
  // False: she is not registered, or the course is full or removed.
  bool enroll(const std::string& client, int who) {
    auto transaction = store_.begin(client);
    if (text(transaction.read("course")) != "active") return false;
    if (text(transaction.read(student(who))) != "registered") return false;
    if (enrolled(transaction).size() >= kPlaces) return false;
    return transaction.write(enrollment(who), 1) && transaction.commit();
  }
  // With all who are enrolled.
  void remove(const std::string& client) {
    auto transaction = store_.begin(client);
    for (const int who : enrolled(transaction)) transaction.write(enrollment(who), {});
    transaction.write("course", "removed");
    transaction.commit();
  }
  View view(const std::string& client) {
    auto transaction = store_.begin(client);
    View view;
    view.active = text(transaction.read("course")) == "active";
    view.enrolled = enrolled(transaction);
    transaction.commit();
    return view;
  }

 private:
  static std::string student(int who) { return "student " + std::to_string(who); }
  static std::string enrollment(int who) { return "enrolled " + std::to_string(who); }
  static std::vector<int> enrolled(MockTransaction& transaction) {
    std::vector<int> all;
    for (int s = 0; s < kStudents; ++s) {
      if (number(transaction.read(enrollment(s)))) all.push_back(s);
    }
    return all;
  }

  MockStore& store_;
};

Plan draw_courseware(std::uint64_t seed, int clients, int operations) {
  return drawn(seed, clients, operations, {1, 1, 16, 1, 14}, Courseware::kStudents);
}

Application::Outcome run_courseware(MockStore& store, const Plan& plan, bool interleaved) {
  Courseware courseware(store);
  courseware.open();
  std::vector<std::string> seen(plan.size());
  std::vector<std::vector<Courseware::View>> views(plan.size());
  run_clients(store, plan, interleaved, [&](int client, int, const Operation& operation) {
    switch (operation.kind) {
      case Courseware::kRegister:
      case Courseware::kDeregister:
        courseware.set_registered(session(client), operation.what,
                                  operation.kind == Courseware::kRegister);
        break;
      case Courseware::kEnroll:
        seen[client] += courseware.enroll(session(client), operation.what) ? " yes" : " no";
        break;
      case Courseware::kRemove:
        courseware.remove(session(client));
        break;
      default: {
        const auto view = courseware.view(session(client));
        seen[client] += (view.active ? " active:" : " removed:") + in_words(view.enrolled) + ";";
        views[client].push_back(view);
      }
    }
  });
  bool overflow = false, of_removed = false;
  for (const auto& each : views) {
    for (const auto& view : each) {
      overflow = overflow || view.enrolled.size() > Courseware::kPlaces;
      of_removed = of_removed || (!view.active && !view.enrolled.empty());
    }
  }
  return {lines(seen), {overflow, of_removed}};
}

// ---- Shopping cart ----
//
// One cart, kept under one key as its items. Source: Sivaramakrishnan et al. 2015; thesis
// figure 1.4.
class Cart {
 public:
  enum Kind { kAdd, kDelete, kChange, kGet };
  static constexpr int kItems = 3;

  explicit Cart(MockStore& store) : store_(store) {}

  // An item of each kind but the last.
  void open() { store_.set_initial("cart", "0 1"); }

  void add(const std::string& client, int item) {
    change(client, [item](std::vector<int>& items) { items.push_back(item); });
  }
  // All of that kind. False: it could not be done.
  bool remove(const std::string& client, int item) {
    return change(client, [item](std::vector<int>& items) { std::erase(items, item); });
  }
  // Twice as many, of those that are there.
  void more(const std::string& client, int item) {
    change(client, [item](std::vector<int>& items) {
      items.insert(items.end(),
                   static_cast<std::size_t>(std::count(items.begin(), items.end(), item)), item);
    });
  }
  std::vector<int> get(const std::string& client) {
    auto transaction = store_.begin(client);
    auto items = list(transaction.read("cart"));
    transaction.commit();
    return items;
  }

 private:
  bool change(const std::string& client, const std::function<void(std::vector<int>&)>& edit) {
    auto transaction = store_.begin(client);
    auto items = list(transaction.read("cart"));
    edit(items);
    std::sort(items.begin(), items.end());
    return transaction.write("cart", in_words(items)) && transaction.commit();
  }

  MockStore& store_;
};

// Item 0 is deleted by some and added by nobody.
Plan draw_cart(std::uint64_t seed, int clients, int operations) {
  auto plan = drawn(seed, clients, operations, {3, 2, 1, 4}, Cart::kItems);
  for (auto& client : plan) {
    for (auto& operation : client) {
      if (operation.kind == Cart::kAdd && operation.what == 0) operation.what = 1;
    }
  }
  return plan;
}

Application::Outcome run_cart(MockStore& store, const Plan& plan, bool interleaved) {
  Cart cart(store);
  cart.open();
  std::vector<std::string> seen(plan.size());
  // A client that has deleted item 0, or has seen that it is gone, does not see it again.
  std::vector<int> gone(plan.size(), 0), again(plan.size(), 0);
  run_clients(store, plan, interleaved, [&](int client, int, const Operation& operation) {
    switch (operation.kind) {
      case Cart::kAdd:
        cart.add(session(client), operation.what);
        break;
      case Cart::kDelete:
        if (cart.remove(session(client), operation.what) && operation.what == 0) gone[client] = 1;
        break;
      case Cart::kChange:
        cart.more(session(client), operation.what);
        break;
      default: {
        const auto items = cart.get(session(client));
        seen[client] += " {" + in_words(items) + "}";
        const bool there = std::find(items.begin(), items.end(), 0) != items.end();
        if (there && gone[client]) again[client] = 1;
        if (!there) gone[client] = 1;
      }
    }
  });
  return {lines(seen), {std::find(again.begin(), again.end(), 1) != again.end()}};
}

// ---- Twitter ----
//
// Two users. Lists of tweets and of whom one follows, a key each. Source: thesis figure 4.9.
class Twitter {
 public:
  enum Kind { kTweet, kFollow, kUnfollow, kTimeline, kNewsfeed };
  static constexpr int kUsers = 2;

  explicit Twitter(MockStore& store) : store_(store) {}

  // Each follows the other.
  void open() {
    for (int u = 0; u < kUsers; ++u) store_.set_initial(following(u), std::to_string(1 - u));
  }

  bool tweet(const std::string& client, int user, int text) {
    auto transaction = store_.begin(client);
    auto tweets = list(transaction.read(tweets_of(user)));
    tweets.push_back(text);
    return transaction.write(tweets_of(user), in_words(tweets)) && transaction.commit();
  }
  void set_following(const std::string& client, int user, int whom, bool follows) {
    auto transaction = store_.begin(client);
    auto all = list(transaction.read(following(user)));
    std::erase(all, whom);
    if (follows) all.push_back(whom);
    transaction.write(following(user), in_words(all));
    transaction.commit();
  }
  std::vector<int> timeline(const std::string& client, int user) {
    auto transaction = store_.begin(client);
    auto tweets = list(transaction.read(tweets_of(user)));
    transaction.commit();
    return tweets;
  }
  // Tweets by user.
  std::map<int, std::vector<int>> newsfeed(const std::string& client, int user) {
    auto transaction = store_.begin(client);
    std::map<int, std::vector<int>> feed;
    for (const int whom : list(transaction.read(following(user))))
      feed[whom] = list(transaction.read(tweets_of(whom)));
    transaction.commit();
    return feed;
  }

 private:
  static std::string following(int user) { return "following:" + std::to_string(user); }
  static std::string tweets_of(int user) { return "tweets:" + std::to_string(user); }

  MockStore& store_;
};

// What is tweeted and looked at is mostly user 1's, and user 0's feed is where it is missed.
Plan draw_twitter(std::uint64_t seed, int clients, int operations) {
  auto plan = drawn(seed, clients, operations, {8, 1, 1, 6, 4}, 2 * Twitter::kUsers);
  for (auto& client : plan) {
    for (auto& operation : client) {
      const bool on_own = operation.kind == Twitter::kTweet || operation.kind == Twitter::kTimeline;
      operation.what = (operation.what > 0) == on_own ? 1 : 0;
    }
  }
  return plan;
}

Application::Outcome run_twitter(MockStore& store, const Plan& plan, bool interleaved) {
  Twitter twitter(store);
  twitter.open();
  std::vector<std::string> seen(plan.size());
  // By client and user: tweets that the client wrote or saw. A feed that has the user has them.
  std::vector<std::map<int, std::set<int>>> known(plan.size());
  std::vector<int> missing(plan.size(), 0);
  run_clients(store, plan, interleaved, [&](int client, int place, const Operation& operation) {
    const auto note = [&](int user, const std::vector<int>& tweets) {
      seen[client] += " " + std::to_string(user) + ":{" + in_words(tweets) + "}";
      for (const int tweet : known[client][user]) {
        if (std::find(tweets.begin(), tweets.end(), tweet) == tweets.end()) missing[client] = 1;
      }
      known[client][user].insert(tweets.begin(), tweets.end());
    };
    const int user = operation.what, other = 1 - user;
    switch (operation.kind) {
      case Twitter::kTweet: {
        const int text = 10 * (client + 1) + place;
        if (twitter.tweet(session(client), user, text)) known[client][user].insert(text);
        break;
      }
      case Twitter::kFollow:
      case Twitter::kUnfollow:
        twitter.set_following(session(client), user, other, operation.kind == Twitter::kFollow);
        break;
      case Twitter::kTimeline:
        note(user, twitter.timeline(session(client), user));
        break;
      default: {
        const auto feed = twitter.newsfeed(session(client), user);
        if (feed.empty()) seen[client] += " nobody";
        for (const auto& [whom, tweets] : feed) note(whom, tweets);
      }
    }
  });
  return {lines(seen), {std::find(missing.begin(), missing.end(), 1) != missing.end()}};
}

}  // namespace

const std::vector<Application>& applications() {
  static const std::vector<Application> all = {
      {"stack", {"no element is popped twice"}, draw_stack, run_stack},
      {"courseware",
       {"no course has more students than places", "no student is enrolled in a removed course"},
       draw_courseware,
       run_courseware},
      {"shopping cart", {"a deleted item does not reappear"}, draw_cart, run_cart},
      {"twitter", {"a tweet that was seen is not missing later"}, draw_twitter, run_twitter},
  };
  return all;
}

}  // namespace apps
