// The search for interleavings: against all orders of random programs, each counted once but for
// the places of independent statements.
#include "mock/proxy/interleavings.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "base/random.hpp"
#include "mock/proxy/sessions.hpp"

namespace cupel::proxy {
namespace {

using Programs = std::vector<std::vector<Footprint>>;  // of each client, its statements

// Some clients start only when others have come to a place: by client, how many statements of which
// others have to be done.
using Starts = std::map<std::size_t, std::map<std::size_t, std::size_t>>;

// Statement `at` of a client.
struct Place {
  std::size_t client = 0, at = 0;
};

// The same for two orders that differ only in the places of independent statements: how each pair
// of dependent statements is ordered.
std::string canonical(const Programs& programs, const std::vector<Place>& order) {
  std::string pairs;
  std::vector<std::vector<std::size_t>> position(programs.size());
  for (std::size_t i = 0; i < programs.size(); ++i) position[i].resize(programs[i].size());
  for (std::size_t i = 0; i < order.size(); ++i) position[order[i].client][order[i].at] = i;
  for (std::size_t one = 0; one < programs.size(); ++one) {
    for (std::size_t other = one + 1; other < programs.size(); ++other) {
      for (std::size_t i = 0; i < programs[one].size(); ++i) {
        for (std::size_t j = 0; j < programs[other].size(); ++j) {
          if (independent(programs[one][i], programs[other][j])) continue;
          pairs += position[one][i] < position[other][j] ? '<' : '>';
        }
      }
    }
  }
  return pairs;
}

// A run in which `choose` says who goes on.
std::vector<Place> run(
    const Programs& programs, const Starts& starts,
    const std::function<std::size_t(const std::vector<std::size_t>& clients)>& choose) {
  std::vector<std::size_t> next(programs.size());
  std::vector<Place> order;
  const auto started = [&](std::size_t client) {
    const auto after = starts.find(client);
    return after == starts.end() ||
           std::all_of(after->second.begin(), after->second.end(),
                       [&](const auto& one) { return next[one.first] >= one.second; });
  };
  for (;;) {
    std::vector<std::size_t> clients;
    for (std::size_t i = 0; i < programs.size(); ++i) {
      if (next[i] < programs[i].size() && started(i)) clients.push_back(i);
    }
    if (clients.empty()) return order;
    const auto client = clients[choose(clients)];
    order.push_back({client, next[client]++});
  }
}

using Visit = std::function<void(const std::vector<Place>& order)>;

void every_order(const Programs& programs, const Starts& starts, const Visit& visit) {
  std::vector<std::pair<std::size_t, std::size_t>> digits;  // which, of how many
  for (;;) {
    std::size_t made = 0;
    visit(run(programs, starts, [&](const auto& clients) {
      if (made == digits.size()) digits.emplace_back(0, clients.size());
      return digits[made++].first;
    }));
    while (!digits.empty() && digits.back().first + 1 == digits.back().second) digits.pop_back();
    if (digits.empty()) return;
    ++digits.back().first;
  }
}

std::set<std::string> all_of(const Programs& programs, const Starts& starts) {
  std::set<std::string> found;
  every_order(programs, starts,
              [&](const auto& order) { found.insert(canonical(programs, order)); });
  return found;
}

struct Explored {
  std::set<std::string> found;
  std::uint64_t counted = 0, diverged = 0, runs = 0;
  std::vector<std::size_t> choices = {};  // of the last run
};
Explored explored(const Programs& programs, const Starts& starts = {}, const Visit& visit = {}) {
  Interleavings all;
  Explored result;
  for (bool more = true; more;) {
    std::vector<std::size_t> next(programs.size());
    const auto order = run(programs, starts, [&](const auto& clients) {
      std::vector<Interleavings::Waiting> waiting;
      for (const auto client : clients)
        waiting.push_back({std::to_string(client), std::to_string(next[client])});
      const auto chosen = all.choose(waiting);
      all.ran(programs[clients[chosen]][next[clients[chosen]]++]);
      return chosen;
    });
    more = all.next();
    ++result.runs;
    if (visit) visit(order);
    if (!all.repeated()) result.found.insert(canonical(programs, order));
    result.choices = all.choices();
  }
  result.counted = all.found();
  result.diverged = all.diverged();
  return result;
}

Programs random_programs(base::Random& random) {
  Programs programs(2 + random.below(2));
  for (auto& program : programs) {
    Touches written;
    const auto length = 1 + random.below(3);
    for (std::uint64_t i = 0; i < length; ++i) {
      Footprint footprint;
      const Touch touch{static_cast<std::uint32_t>(random.below(2)),
                        random.chance(0.3) ? "" : std::to_string(random.below(2))};
      if (random.chance(0.05)) footprint.unknown = true;
      if (random.chance(0.4)) {
        footprint.reads.insert(touch);
      } else {
        footprint.writes.insert(touch);
        written.insert(touch);
      }
      program.push_back(footprint);
    }
    Footprint commit;
    commit.ends = true;
    commit.ended_writes = written;
    program.push_back(commit);
  }
  return programs;
}

TEST(InterleavingsTest, AreFoundOnceEach) {
  base::Random random(17);
  std::size_t reduced = 0;
  std::uint64_t runs = 0, interleavings = 0;
  for (int i = 0; i < 150; ++i) {
    const auto programs = random_programs(random);
    const auto all = all_of(programs, {});
    const auto found = explored(programs);
    EXPECT_EQ(found.found, all) << "program " << i;
    EXPECT_EQ(found.counted, all.size()) << "program " << i;
    EXPECT_EQ(found.diverged, 0U);
    reduced += all.size() == 1 ? 1 : 0;
    runs += found.runs;
    interleavings += all.size();
  }
  EXPECT_GT(reduced, 0U);
  EXPECT_LT(runs, interleavings + interleavings / 10) << "few runs turn out to be the same";
}

// A client that another one starts, or that waits for others, as a test's last look at the result.
TEST(InterleavingsTest, AreFoundOnceEachWhereClientsStartOthers) {
  base::Random random(23);
  for (int i = 0; i < 150; ++i) {
    const auto programs = random_programs(random);
    const auto last = programs.size() - 1;
    Starts starts;
    for (std::size_t other = 0; other < last; ++other) {
      if (random.chance(0.6)) starts[last][other] = random.below(programs[other].size() + 1);
    }
    const auto all = all_of(programs, starts);
    const auto found = explored(programs, starts);
    EXPECT_EQ(found.found, all) << "program " << i;
    EXPECT_EQ(found.counted, all.size()) << "program " << i;
  }
}

// Five clients with ten statements each, which touch different rows, and one that looks at all of
// them in the end.
TEST(InterleavingsTest, TakeFewRunsWhereClientsStayApart) {
  Programs programs(5);
  Starts starts;
  for (std::size_t client = 0; client < programs.size(); ++client) {
    const Touch own{1, std::to_string(client)};
    for (int i = 0; i < 9; ++i) programs[client].push_back({.writes = {own}});
    programs[client].push_back({.ends = true, .ended_writes = {own}});
    starts[programs.size()][client] = 10;
  }
  EXPECT_EQ(explored(programs).runs, 1U);
  programs.push_back({{.reads = {{1, ""}}}});
  const auto found = explored(programs, starts);
  EXPECT_EQ(found.counted, 1U);
  EXPECT_LE(found.runs, 5U);
}

// What a client does after its statement, such as a BEGIN, may be told later, and hides nothing.
TEST(InterleavingsTest, AddUpTheParts) {
  Interleavings all;
  const Touch row{1, "1"};
  int runs = 0;
  do {
    ++runs;
    const auto first = all.choose({{"a", "write"}, {"b", "write"}});
    all.ran({.writes = {row}});
    all.ran({});
    all.choose(
        {first == 0 ? Interleavings::Waiting{"b", "write"} : Interleavings::Waiting{"a", "write"}});
    all.ran({.writes = {row}});
    all.ran({});
  } while (all.next());
  EXPECT_EQ(runs, 2);
  EXPECT_EQ(all.found(), 2U);
}

// Statements with their footprints from their texts, against what they do: every outcome that some
// order has is that of an order that was explored. A function that draws the next number, as
// txid_current() does, makes the outcome depend on an order that no table shows.
struct Statement {
  std::string sql;
  int row = 0;
  enum class Kind { kRead, kAdd, kDraw, kShowDrawn } kind = Kind::kRead;
};
using Texts = std::vector<std::vector<Statement>>;

std::string outcome(const Texts& texts, const std::vector<Place>& order) {
  std::map<int, int> table;
  std::vector<std::string> seen(texts.size());
  int drawn = 0;
  for (const auto& place : order) {
    const auto& statement = texts[place.client][place.at];
    auto& row = table[statement.row];
    using Kind = Statement::Kind;
    if (statement.kind == Kind::kRead) seen[place.client] += std::to_string(row) + " ";
    if (statement.kind == Kind::kAdd) row = row * 3 + statement.row + 1;
    if (statement.kind == Kind::kDraw) row = ++drawn;
    if (statement.kind == Kind::kShowDrawn) seen[place.client] += std::to_string(++drawn) + " ";
  }
  std::string all;
  for (const auto& text : seen) all += text + "|";
  for (const auto& [row, value] : table) all += std::to_string(value) + " ";
  return all;
}

Texts random_texts(base::Random& random) {
  Texts texts(2 + random.below(2));
  for (auto& text : texts) {
    for (auto left = 1 + random.below(3); left > 0; --left) {
      const int row = static_cast<int>(random.below(2));
      const auto where = " where id = " + std::to_string(row);
      using Kind = Statement::Kind;
      switch (random.below(5)) {
        case 0:
        case 1:
          text.push_back({"select n from t" + where, row, Kind::kRead});
          break;
        case 2:
          text.push_back({"update t set n = n * 3 + id + 1" + where, row, Kind::kAdd});
          break;
        case 3:
          text.push_back({"update t set n = txid_current()" + where, row, Kind::kDraw});
          break;
        default:
          text.push_back({"select txid_current()", row, Kind::kShowDrawn});
      }
    }
  }
  return texts;
}

Programs footprints_of(const Texts& texts) {
  Catalog catalog;
  catalog.tables[1] = {.oid = 1,
                       .schema = "public",
                       .name = "t",
                       .key = {{"id", TableFacts::KeyColumn::Kind::kInteger}}};
  Programs programs;
  for (const auto& text : texts) {
    Sessions sessions(Isolation::kReadCommitted, Dialect::kPostgres);
    auto& program = programs.emplace_back();
    for (const auto& statement : text)
      program.push_back(
          sessions.follow({.client = "c", .requests = {{.text = statement.sql}}}, catalog)
              .footprint);
  }
  return programs;
}

TEST(InterleavingsTest, HaveEveryOutcomeOfStatements) {
  base::Random random(29);
  std::size_t fewer = 0;
  for (int i = 0; i < 150; ++i) {
    const auto texts = random_texts(random);
    const auto programs = footprints_of(texts);
    std::set<std::string> all, found;
    std::size_t orders = 0, runs = 0;
    every_order(programs, {}, [&](const std::vector<Place>& order) {
      all.insert(outcome(texts, order));
      ++orders;
    });
    explored(programs, {}, [&](const std::vector<Place>& order) {
      found.insert(outcome(texts, order));
      ++runs;
    });
    EXPECT_EQ(found, all) << "program " << i;
    fewer += runs < orders ? 1 : 0;
  }
  EXPECT_GT(fewer, 20U) << "something is pruned";
}

TEST(InterleavingsTest, RepeatARunFromItsChoices) {
  base::Random random(3);
  const auto programs = random_programs(random);
  const auto last = explored(programs).choices;
  Interleavings again(last);
  std::vector<std::size_t> next(programs.size());
  run(programs, {}, [&](const auto& clients) {
    std::vector<Interleavings::Waiting> waiting(clients.size());
    return again.choose(waiting);
  });
  again.next();
  EXPECT_EQ(again.choices(), last);
  EXPECT_EQ(again.diverged(), 0U);
}

TEST(InterleavingsTest, SayThatARunDoesNotRepeat) {
  Interleavings all;
  const std::vector<Interleavings::Waiting> both{{"a", "1"}, {"b", "1"}};
  int runs = 0;
  do {
    all.choose(both);
    all.ran({.unknown = true});
    // Another statement in each run.
    all.choose({{"a", std::to_string(runs)}, {"b", "2"}});
    all.ran({.unknown = true});
  } while (all.next() && ++runs < 100);
  EXPECT_LT(runs, 100);
  EXPECT_GT(all.diverged(), 0U);
}

}  // namespace
}  // namespace cupel::proxy
