// The thesis's figures and reductions, each accepting case beside a rejecting one a
// single edit away.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>

#include "base/random.hpp"
#include "crdt/families.hpp"
#include "crdt/io/reader.hpp"
#include "crdt/solve/decide.hpp"
#include "support/parameter_name.hpp"

namespace cupel::crdt {
namespace {

// "r1 add a", "r2 contains a true", "r1 read [1,2]": a replica, a method, JSON values.
History history_of(Type type, const std::vector<std::string>& lines) {
  std::string text;
  for (const auto& line : lines) text += line + "\n";
  auto read_back = read(text, "test", {type});
  EXPECT_TRUE(read_back.ok()) << (read_back.ok() ? "" : read_back.error().to_string());
  return std::move(read_back).value();
}
std::string op(int replica, const std::string& f, const std::string& value = "",
               const std::string& key = "") {
  return "{\"process\":" + std::to_string(replica) + ",\"f\":\"" + f + "\"" +
         (key.empty() ? "" : ",\"key\":\"" + key + "\"") +
         (value.empty() ? "" : ",\"value\":" + value) + "}";
}
Verdict verdict(const History& history, const Methods& methods = {}) {
  base::Budget budget(std::chrono::duration<double>(60), 0);
  return decide(history, {}, budget, methods).verdict;
}
Verdict verdict(Type type, const std::vector<std::string>& lines) {
  return verdict(history_of(type, lines));
}

std::vector<std::string> figure_1_1(const std::string& last) {
  return {op(1, "add", "\"a\""),
          op(1, "add", "\"b\""),
          op(2, "add", "\"b\""),
          op(2, "add", "\"a\""),
          op(1, "remove", "\"b\""),
          op(2, "remove", "\"a\""),
          op(1, "contains", "[\"a\",true]"),
          op(1, "contains", "[\"b\",true]"),
          op(2, "contains", "[\"a\",true]"),
          op(2, "contains", "[\"b\"," + last + "]")};
}

// Some interleaving of the replicas in which every read returns the set as it is.
bool linearizable_set(const History& h, std::vector<std::size_t> at, std::vector<bool> set) {
  bool done = true;
  for (std::size_t r = 0; r < h.by_replica.size(); ++r) {
    if (at[r] == h.by_replica[r].size()) continue;
    done = false;
    const auto& o = h.ops[h.by_replica[r][at[r]]];
    auto next = set;
    if (o.kind == Kind::kTest && set[o.element] != o.returned) continue;
    if (o.kind != Kind::kTest) next[o.element] = o.kind == Kind::kUp;
    auto step = at;
    ++step[r];
    if (linearizable_set(h, step, next)) return true;
  }
  return done;
}

TEST(Figures, F11IsAnAddWinsSetAndNotLinearizable) {
  const auto history = history_of(Type::kAddWinsSet, figure_1_1("true"));
  EXPECT_EQ(verdict(history), Verdict::kSatisfied);
  EXPECT_FALSE(
      linearizable_set(history, {0, 0}, std::vector<bool>(history.elements.size(), false)));
  EXPECT_EQ(verdict(Type::kAddWinsSet, figure_1_1("false")), Verdict::kViolated);
}

TEST(Figures, F25CounterThatAlgorithm3Rejects) {
  const auto with = [](const std::string& last) {
    std::vector<std::string> lines;
    for (const int r : {1, 2}) {
      for (const auto& line : {op(r, "inc"), op(r, "inc"), op(r, "read", "2"), op(r, "read", last)})
        lines.push_back(line);
    }
    return history_of(Type::kCounter, lines);
  };
  EXPECT_EQ(verdict(with("3")), Verdict::kSatisfied);
  EXPECT_EQ(verdict(with("3"), {.search = false}), Verdict::kSatisfied);
  EXPECT_EQ(verdict(with("5")), Verdict::kViolated);
}

TEST(Figures, F26SetThatAlgorithm4Rejects) {
  const auto with = [](const std::string& last) {
    return history_of(Type::kAddWinsSet,
                      {op(1, "add", "\"a\""), op(1, "add", "\"b\""), op(1, "read", "[\"a\",\"b\"]"),
                       op(1, "read", "[\"a\",\"b\",\"c\"]"), op(2, "add", "\"c\""),
                       op(2, "add", "\"d\""), op(2, "read", "[\"c\",\"d\"]"), op(2, "read", last)});
  };
  EXPECT_EQ(verdict(with("[\"c\",\"d\",\"a\"]")), Verdict::kSatisfied);
  EXPECT_EQ(verdict(with("[\"c\",\"d\",\"a\"]"), {.search = false}), Verdict::kSatisfied);
  EXPECT_EQ(verdict(with("[\"c\",\"d\",\"b\"]")),
            Verdict::kViolated);  // d before c was seen, b before a
}

// Algorithm 1 as printed rejects the first: write(b) must have seen write(a).
TEST(Figures, MultiValueReadThatNeedsAHappensBeforeOfItsOwn) {
  const auto with = [](const std::string& second) {
    return history_of(Type::kMultiValueRegister, {op(1, "write", "\"a\""), op(1, "read", "[\"b\"]"),
                                                  op(2, "read", second), op(2, "write", "\"b\"")});
  };
  EXPECT_EQ(verdict(with("[\"a\"]")), Verdict::kSatisfied);
  EXPECT_EQ(verdict(with("[]")), Verdict::kSatisfied);
  EXPECT_EQ(
      verdict(Type::kMultiValueRegister, {op(1, "write", "\"a\""), op(1, "read", "[\"b\"]"),
                                          op(2, "write", "\"b\""), op(2, "read", "[\"b\",\"a\"]")}),
      Verdict::kViolated);
}

TEST(Figures, F22RemovedParentsStillOrderTheirBranches) {
  const auto with = [](const std::string& list) {
    return history_of(Type::kGrowableArray,
                      {op(1, "addAfter", "[null,\"a\"]"), op(1, "addAfter", "[\"a\",\"b\"]"),
                       op(1, "addAfter", "[\"b\",\"d\"]"), op(1, "remove", "\"b\""),
                       op(1, "addAfter", "[\"a\",\"c\"]"), op(1, "read", list)});
  };
  EXPECT_EQ(verdict(with("[\"a\",\"c\",\"d\"]")), Verdict::kSatisfied);
  EXPECT_EQ(verdict(with("[\"a\",\"d\",\"c\"]")),
            Verdict::kViolated);  // b before c on the replica, so c stands first
}

using Clauses = std::vector<std::array<int, 3>>;

bool one_in_three(const Clauses& clauses, int variables) {
  for (int bits = 0; bits < 1 << variables; ++bits) {
    bool well = true;
    for (const auto& c : clauses)
      well = well && ((bits >> c[0]) & 1) + ((bits >> c[1]) & 1) + ((bits >> c[2]) & 1) == 1;
    if (well) return true;
  }
  return false;
}

std::string variable(int v) {
  return "x" + std::to_string(v);
}
std::string barrier_flag(int r) {
  return "y" + std::to_string(r);
}

// Figure 2.3, for flags, sets (contains) and registers (1 and 0).
History reduction_flag(Type type, const Clauses& clauses, int variables) {
  std::vector<std::string> lines;
  const auto set = [&](int r, const std::string& x, bool on) {
    if (is_set(type))
      lines.push_back(op(r, on ? "add" : "remove", "\"" + x + "\""));
    else if (is_flag(type))
      lines.push_back(op(r, on ? "enable" : "disable", "", x));
    else
      lines.push_back(op(r, "write", on ? "1" : "0", x));
  };
  const auto get = [&](int r, const std::string& x, bool on) {
    if (is_set(type))
      lines.push_back(op(r, "contains", "[\"" + x + "\"," + (on ? "true" : "false") + "]"));
    else if (is_flag(type))
      lines.push_back(op(r, "read", on ? "true" : "false", x));
    else
      lines.push_back(
          op(r, "read", type == Type::kMultiValueRegister ? (on ? "[1]" : "[0]") : (on ? "1" : "0"),
             x));
  };
  for (int v = 0; v < variables; ++v) {
    set(0, variable(v), true);
    set(1, variable(v), false);
  }
  for (std::size_t round = 0; round < clauses.size(); ++round) {
    for (int r = 0; r < 3; ++r) {
      set(r, barrier_flag(r), round % 2 == 0);
      for (int other = 0; other < 3; ++other) {
        if (other != r) get(r, barrier_flag(other), round % 2 == 0);
      }
      const auto literal = [&](int k) {
        return variable(clauses[round][static_cast<std::size_t>((r + k) % 3)]);
      };
      get(r, literal(0), true);
      get(r, literal(1), false);
      get(r, literal(2), false);
      set(r, literal(0), false);
      set(r, literal(1), true);
    }
  }
  return history_of(type, lines);
}

// Figure 2.4, for counters.
History reduction_counter(const Clauses& clauses, int variables) {
  std::vector<std::string> lines;
  for (int v = 0; v < variables; ++v) {
    for (const bool up : {true, false}) {
      const int r = 3 + 2 * v + (up ? 0 : 1);
      lines.push_back(op(r, "inc", "", "y"));
      lines.push_back(op(r, up ? "inc" : "dec", "", variable(v)));
    }
  }
  const auto n = std::to_string(variables);
  lines.push_back(op(0, "read", n, "y"));
  for (std::size_t round = 0; round <= clauses.size(); ++round) {
    for (int r = 0; r < 3; ++r) {
      lines.push_back(op(r, round % 2 == 0 ? "inc" : "dec", "", barrier_flag(r)));
      for (int other = 0; other < 3; ++other) {
        if (other != r)
          lines.push_back(op(r, "read", round % 2 == 0 ? "1" : "0", barrier_flag(other)));
      }
      if (round == clauses.size()) continue;
      const auto literal = [&](int k) {
        return variable(clauses[round][static_cast<std::size_t>((r + k) % 3)]);
      };
      lines.push_back(op(r, "read", "1", literal(0)));
      lines.push_back(op(r, "read", "-1", literal(1)));
      lines.push_back(op(r, "read", "-1", literal(2)));
      for (int twice = 0; twice < 2; ++twice) lines.push_back(op(r, "dec", "", literal(0)));
      for (int twice = 0; twice < 2; ++twice) lines.push_back(op(r, "inc", "", literal(1)));
    }
  }
  lines.push_back(op(0, "read", n, "y"));
  return history_of(Type::kCounter, lines);
}

class Reductions : public testing::TestWithParam<Type> {};

TEST_P(Reductions, FromOneInThreeSatAreDecidedRightly) {
  const Type type = GetParam();
  base::Random random(11);
  int satisfiable = 0, unsatisfiable = 0;
  const auto ask = [&](const Clauses& clauses, int variables) {
    const bool expected = one_in_three(clauses, variables);
    (expected ? satisfiable : unsatisfiable) += 1;
    const auto history = type == Type::kCounter ? reduction_counter(clauses, variables)
                                                : reduction_flag(type, clauses, variables);
    EXPECT_EQ(verdict(history), expected ? Verdict::kSatisfied : Verdict::kViolated)
        << name(type) << "\n"
        << write(history);
  };
  // All four triples of four variables: the sums say 4/3 of them true.
  ask({{0, 1, 2}, {0, 1, 3}, {0, 2, 3}, {1, 2, 3}}, 4);
  ask({{0, 1, 2}}, 3);
  for (int i = 0; i < 12; ++i) {
    const int variables = 4 + static_cast<int>(random.below(2));
    Clauses clauses;
    std::vector<bool> used(static_cast<std::size_t>(variables), false);
    for (int c = 0; c < 3 + i % 3; ++c) {
      std::vector<int> all(static_cast<std::size_t>(variables));
      for (int v = 0; v < variables; ++v) all[static_cast<std::size_t>(v)] = v;
      random.shuffle(std::span(all));
      clauses.push_back({all[0], all[1], all[2]});
      for (int k = 0; k < 3; ++k)
        used[static_cast<std::size_t>(all[static_cast<std::size_t>(k)])] = true;
    }
    // The counters' proof has every variable in a clause.
    if (std::count(used.begin(), used.end(), false) == 0) ask(clauses, variables);
  }
  EXPECT_GT(satisfiable, 1);
  EXPECT_GT(unsatisfiable, 1);
}

INSTANTIATE_TEST_SUITE_P(Types, Reductions,
                         testing::Values(Type::kAddWinsSet, Type::kRemoveWinsSet,
                                         Type::kEnableWinsFlag, Type::kDisableWinsFlag,
                                         Type::kMultiValueRegister, Type::kLastWriterWinsRegister,
                                         Type::kCounter),
                         test::parameter_name);

}  // namespace
}  // namespace cupel::crdt
