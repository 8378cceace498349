// cupel elle: the models between the levels against exhaustive search, and the command's output.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <map>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "apps/engine/elle_models.hpp"
#include "base/process.hpp"
#include "support/history_language.hpp"
#include "support/scratch_folder.hpp"

namespace cupel::apps {
namespace {

using check::Verdict;

// Registers with unique writes: transaction i writes 10 * i + key to a key. A read comes before the
// transaction's write of the key; -1 is the initial version, else it is the writer.
constexpr int kKeys = 2;
struct Txn {
  int session = 0;
  std::array<int, kKeys> reads{-2, -2};  // -2: none
  std::array<bool, kKeys> writes{};
};
using Txns = std::vector<Txn>;

Txns random_txns(std::mt19937& random) {
  Txns txns(2 + random() % 4);
  const bool one_session_each = random() % 2 == 0;
  for (std::size_t i = 0; i < txns.size(); ++i) {
    txns[i].session = one_session_each ? static_cast<int>(i) : static_cast<int>(random() % 2);
    for (auto& write : txns[i].writes) write = random() % 2 == 0;
  }
  for (std::size_t i = 0; i < txns.size(); ++i) {
    for (int key = 0; key < kKeys; ++key) {
      if (random() % 3 == 0) continue;
      std::vector<int> seen = {-1};
      for (std::size_t j = 0; j < txns.size(); ++j) {
        if (j != i && txns[j].writes[key]) seen.push_back(static_cast<int>(j));
      }
      txns[i].reads[key] = seen[random() % seen.size()];
    }
  }
  return txns;
}

history::History history_of(const Txns& txns) {
  std::map<int, std::string> sessions;
  for (std::size_t i = 0; i < txns.size(); ++i) {
    std::string ops;
    for (int key = 0; key < kKeys; ++key) {
      const auto read = txns[i].reads[key];
      const auto name = std::string(1, "xy"[key]);
      if (read == -1) ops += "r(" + name + ",nil) ";
      if (read >= 0) ops += "r(" + name + "," + std::to_string(10 * read + key) + ") ";
    }
    for (int key = 0; key < kKeys; ++key) {
      if (!txns[i].writes[key]) continue;
      ops += "w(" + std::string(1, "xy"[key]) + "," + std::to_string(10 * i + key) + ") ";
    }
    if (ops.empty()) ops = "() ";
    auto& session = sessions[txns[i].session];
    session += (session.empty() ? "" : "; ") + ops;
  }
  std::string text;
  for (const auto& [number, session] : sessions) text += (text.empty() ? "" : "| ") + session;
  return test::history_of(text);
}

using Relation = std::vector<std::vector<bool>>;

Relation closed(Relation relation) {
  const auto n = relation.size();
  for (std::size_t k = 0; k < n; ++k)
    for (std::size_t i = 0; i < n; ++i)
      for (std::size_t j = 0; j < n; ++j)
        if (relation[i][k] && relation[k][j]) relation[i][j] = true;
  return relation;
}

bool cyclic(const Relation& closure) {
  for (std::size_t i = 0; i < closure.size(); ++i)
    if (closure[i][i]) return true;
  return false;
}

// What one order of versions shows.
struct Shown {
  bool g0, g1c, g_single, lost_update;
};

Shown shown(const Txns& txns, const std::array<std::vector<int>, kKeys>& orders) {
  const auto n = txns.size();
  Relation ww(n, std::vector<bool>(n)), read = ww;
  std::vector<std::pair<int, int>> rw;
  Shown found{};
  for (int key = 0; key < kKeys; ++key) {
    const auto& order = orders[key];
    for (std::size_t i = 1; i < order.size(); ++i) ww[order[i - 1]][order[i]] = true;
    for (std::size_t i = 0; i < n; ++i) {
      const int writer = txns[i].reads[key];
      if (writer == -2) continue;
      if (writer >= 0) read[writer][i] = true;
      const auto next =
          writer == -1 ? order.begin() : std::find(order.begin(), order.end(), writer) + 1;
      if (next != order.end() && *next != static_cast<int>(i)) rw.emplace_back(i, *next);
      for (std::size_t j = 0; j < i; ++j) {
        if (txns[j].reads[key] == writer && txns[j].writes[key] && txns[i].writes[key])
          found.lost_update = true;
      }
    }
  }
  auto both = ww;
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = 0; j < n; ++j) both[i][j] = both[i][j] || read[i][j];
  found.g0 = cyclic(closed(ww));
  both = closed(both);
  found.g1c = cyclic(both);
  for (const auto& [from, to] : rw) found.g_single = found.g_single || both[to][from];
  return found;
}

struct Truth {
  bool pl_1 = false, pl_2 = false, pl_cs = false, pl_2_plus = false;
};

Truth truth_of(const Txns& txns) {
  Truth truth;
  std::array<std::vector<int>, kKeys> orders;
  for (std::size_t i = 0; i < txns.size(); ++i)
    for (int key = 0; key < kKeys; ++key)
      if (txns[i].writes[key]) orders[key].push_back(static_cast<int>(i));
  do {
    do {
      const auto found = shown(txns, orders);
      truth.pl_1 = truth.pl_1 || !found.g0;
      truth.pl_2 = truth.pl_2 || (!found.g0 && !found.g1c);
      truth.pl_cs = truth.pl_cs || (!found.g0 && !found.g1c && !found.lost_update);
      truth.pl_2_plus = truth.pl_2_plus || (!found.g0 && !found.g1c && !found.g_single);
    } while (std::next_permutation(orders[1].begin(), orders[1].end()));
  } while (std::next_permutation(orders[0].begin(), orders[0].end()));
  return truth;
}

TEST(ElleModels, AgreeWithExhaustiveSearch) {
  std::mt19937 random(20261124);
  std::map<std::string, std::array<int, 3>> counts;  // true, false, unknown
  for (int round = 0; round < 6000; ++round) {
    const auto txns = random_txns(random);
    const auto history = history_of(txns);
    const auto truth = truth_of(txns);
    const std::pair<const char*, bool> expected[] = {{"read-uncommitted", truth.pl_1},
                                                     {"PL-2", truth.pl_2},
                                                     {"cursor-stability", truth.pl_cs},
                                                     {"consistent-view", truth.pl_2_plus}};
    for (const auto& [name, satisfied] : expected) {
      const auto model = elle_model(name);
      ASSERT_TRUE(model);
      check::Options options;
      options.asked = levels_to_check(*model);
      options.evidence = true;
      options.threads = 1;
      const auto result = check::check(history, options);
      const auto answer = elle_verdict(*model, history, result);
      ++counts[name][answer.verdict == Verdict::kSatisfied  ? 0
                     : answer.verdict == Verdict::kViolated ? 1
                                                            : 2];
      if (answer.verdict == Verdict::kUnknown) continue;
      ASSERT_EQ(answer.verdict == Verdict::kSatisfied, satisfied)
          << name << ": " << test::to_text(history);
    }
  }
  for (const auto& [name, count] : counts) {
    RecordProperty(name, std::to_string(count[0]) + " true, " + std::to_string(count[1]) +
                             " false, " + std::to_string(count[2]) + " unknown");
    EXPECT_GT(count[0], 1000) << name;
    EXPECT_GT(count[1], name == "read-uncommitted" ? -1 : 300) << name;
    EXPECT_LT(count[2], name == "read-uncommitted" ? 1 : 1800) << name;
    std::printf("%s: %d true, %d false, %d unknown\n", name.c_str(), count[0], count[1], count[2]);
  }
}

TEST(ElleModels, WhatAModelForbids) {
  EXPECT_EQ(elle_model(":strict-serializable")->enough[0], levels::Level::kStrictSerializable);
  EXPECT_EQ(elle_model("pl-2.99")->enough[0], levels::Level::kSerializable);
  EXPECT_FALSE(elle_model("eventual"));
  EXPECT_EQ(forbids(*elle_model("PL-2"), "G1a"), true);
  EXPECT_EQ(forbids(*elle_model("PL-1"), "G1a"), false);
  EXPECT_EQ(forbids(*elle_model("serializable"), "G2-item-realtime"), false);
  EXPECT_EQ(forbids(*elle_model("PL-SS"), "G2-item-realtime"), true);
  EXPECT_EQ(forbids(*elle_model("PL-SS"), "G99"), std::nullopt);
}

class ElleCommand : public testing::Test {
 protected:
  struct Ran {
    int code;
    std::string output;  // and errors
  };
  static Ran elle(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), {CUPEL_BINARY, "elle"});
    auto process = base::Process::start({.arguments = std::move(arguments),
                                         .output = base::Stream::pipe(),
                                         .errors = base::Stream::output()});
    if (!process.ok()) return {-1, process.error().to_string()};
    auto output = process->read_all(base::Seconds(60)).value_or("timeout");
    const auto status = process->wait(base::Seconds(10));
    return {status ? status->code : -1, output};
  }
  // Two transactions, one after the other; the second reads y.
  [[nodiscard]] std::string history(const std::string& name, const std::string& y) const {
    return folder_.file(name, R"({:type :invoke, :process 0, :f :txn, :value [[:append :y 1]]}
{:type :ok, :process 0, :f :txn, :value [[:append :y 1]]}
{:type :invoke, :process 1, :f :txn, :value [[:r :y nil]]}
{:type :ok, :process 1, :f :txn, :value [[:r :y )" +
                                  y + "]]}\n");
  }
  const test::ScratchFolder folder_;
};

TEST_F(ElleCommand, PrintsWhatElleCliPrints) {
  const auto good = history("good.edn", "[1]"), stale = history("stale.edn", "[]");
  const auto one = elle({"--model", "list-append", good});
  EXPECT_EQ(one.code, 0);
  EXPECT_EQ(one.output, good + " \t true\n");
  const auto both = elle({"-m", "list-append", stale, good});
  EXPECT_EQ(both.code, 1);
  EXPECT_EQ(both.output, stale + " \t false\n" + good + " \t true\n");
  EXPECT_EQ(elle({"-m", "list-append", "-c", "serializable", stale}).code, 0);
  const auto json = elle({"-m", "list-append", "--verbose", stale});
  EXPECT_EQ(json.code, 1);
  EXPECT_NE(json.output.find("\"valid?\": false"), std::string::npos) << json.output;
  EXPECT_NE(json.output.find("-realtime"), std::string::npos) << json.output;
}

// No model forbids it, and `true` would hide it.
TEST_F(ElleCommand, SaysUnknownWhereDataAreGoneOrFinalReadsFailed) {
  const auto recorded = [&](const std::string& facts) {
    return folder_.file(
        "recorded.jsonl",
        R"({"type":"info","process":"nemesis","f":"cupel.metadata","value":[)" + facts + R"(]}
{"type":"invoke","process":0,"f":"txn","value":[["append","y",1]],"time":1}
{"type":"ok","process":0,"f":"txn","value":[["append","y",1]],"time":2}
{"type":"invoke","process":9,"f":"txn","value":[["r","y",null]],"time":1}
{"type":"ok","process":9,"f":"txn","value":[["r","y",null]],"time":4}
)");
  };
  const std::string readers = R"(["final readers","9 the database"])",
                    gone = R"(["data gone","kv is gone"])";
  const auto lost = elle({"-m", "list-append", recorded(readers)});
  EXPECT_EQ(lost.code, 0) << "as `cupel check -l` has it: " << lost.output;
  for (const auto& [facts, why] :
       {std::pair<std::string, std::string>(
            R"(["final reads failed","no answer"])",
            "it is unknown whether acknowledged writes are lost: no answer"),
        std::pair<std::string, std::string>(
            gone, "it is unknown whether acknowledged writes are lost: kv is gone"),
        std::pair<std::string, std::string>(
            readers + ',' + gone,
            "acknowledged writes are lost, which no model forbids: kv is gone")}) {
    const auto file = recorded(facts);
    const auto text = elle({"-m", "list-append", file});
    EXPECT_EQ(text.code, 2) << text.output;
    EXPECT_NE(text.output.find(file + " \t unknown\n"), std::string::npos) << text.output;
    EXPECT_NE(text.output.find(why), std::string::npos) << text.output;
    const auto json = elle({"-m", "list-append", "--verbose", file});
    EXPECT_NE(json.output.find("\"valid?\": \"unknown\""), std::string::npos) << json.output;
    EXPECT_NE(json.output.find("\"error\": \"" + why), std::string::npos) << json.output;
  }
}

TEST_F(ElleCommand, SaysWhatItCannotDo) {
  const auto good = history("good.edn", "[1]");
  for (const auto& [arguments, message] :
       std::vector<std::pair<std::vector<std::string>, std::string>>{
           {{"-m", "comments", good}, "a model of elle-cli that cupel does not check"},
           {{"-m", "lst-append", good}, "list-append"},
           {{"-m", "rw-register", good}, "does not fit this history"},
           {{"-m", "mutex", good}, "does not fit this history"},
           {{"-m", "list-append", "-c", "eventual", good},
            "--consistency-models: found `eventual`"},
           {{"-m", "list-append", "-c", "PL-2", "-a", "G2-item", good},
            "which read-committed allows"},
           {{"-m", "list-append", "-p", "png", good}, "expected svg"},
           {{"-m", "list-append", folder_.path("none.edn")}, "none.edn"}}) {
    const auto ran = elle(arguments);
    EXPECT_EQ(ran.code, 3) << ran.output;
    EXPECT_NE(ran.output.find(message), std::string::npos) << ran.output;
  }
}

}  // namespace
}  // namespace cupel::apps
