// `cupel check` of histories that do not fit into the memory limit: decided in windows, and said
// so; what fits is decided as before. And `cupel watch` of several files.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <nlohmann/json.hpp>
#include <string>
#include <tuple>
#include <vector>

#include "base/temp_dir.hpp"

namespace {

namespace fs = std::filesystem;

// Less than the whole takes, more than the windows of these histories.
constexpr const char* kLimit = "--memory-limit 80M";

struct Ran {
  int code = -1;
  std::string out, err;
};

class WindowsCheck : public testing::Test {
 protected:
  static std::string text_of(const fs::path& path) {
    std::ifstream in(path);
    return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
  }
  [[nodiscard]] Ran run(const std::string& arguments) const {
    const auto out = folder_.file("out"), err = folder_.file("err");
    const auto command = fmt::format("cd {} && {} {} >{} 2>{}", folder_.path().string(),
                                     CUPEL_BINARY, arguments, out, err);
    const int status = std::system(command.c_str());
    return {WEXITSTATUS(status), text_of(out), text_of(err)};
  }
  void make(const std::string& name, const std::string& options) const {
    const auto made = run(fmt::format(
        "generate -q --sessions 10 --txns 16000 --ops 8 --keys 300 {} -o {}", options, name));
    ASSERT_EQ(made.code, 0) << made.err;
  }

  cupel::base::TempDir folder_ = *cupel::base::TempDir::make("cupel-test-");
};

TEST_F(WindowsCheck, WhatFitsIsDecidedAsBefore) {
  make("h.cupel", "--level strict-serializable");
  const auto without = run("check -l strict --memory-limit 0 h.cupel");
  const auto with = run("check -l strict --memory-limit 4G h.cupel");
  EXPECT_EQ(without.code, 0);
  EXPECT_EQ(with.out, without.out);
  EXPECT_EQ(with.err, without.err);
  EXPECT_EQ(with.out, "h.cupel\tstrict-serializable\tsatisfied\n");
}

// A run of registers and lists that ended with reads of every key by two nodes. `change` makes of
// what a node read of a key what it shall have read.
using Change = std::function<std::string(int node, int key, std::string)>;
std::string recorded_run(int txns, const Change& change) {
  constexpr int kKeys = 300;
  std::string lines =
      R"({"type":"info","process":"nemesis","f":"cupel.metadata","value":[["final readers","98 node 1\n99 node 2"]]}
)";
  int time = 0;
  const auto add = [&](int process, const std::string& tried, const std::string& seen) {
    for (const auto& [type, value] : {std::pair("invoke", tried), std::pair("ok", seen)}) {
      lines += fmt::format(R"({{"type":"{}","process":{},"f":"txn","value":[{}],"time":{}}})", type,
                           process, value, ++time);
      lines += '\n';
    }
  };
  std::vector<std::string> held(kKeys);
  for (int txn = 1; txn <= txns; ++txn) {
    const int key = txn % kKeys;
    // Few appends, or the lists would be longer than what windows hold.
    const bool list = key % 3 == 0;
    if (list && txn > kKeys * 20) {
      add(txn % 9, fmt::format(R"(["r",{},null])", key),
          fmt::format(R"(["r",{},[{}]])", key, held[key]));
      continue;
    }
    const auto op = fmt::format(R"(["{}",{},{}])", list ? "append" : "w", key, txn);
    add(txn % 9, op, op);
    held[key] =
        list && !held[key].empty() ? fmt::format("{},{}", held[key], txn) : std::to_string(txn);
  }
  for (const int node : {1, 2}) {
    for (int key = 0; key < kKeys; ++key) {
      const auto value = change(node, key, key % 3 == 0 ? "[" + held[key] + "]" : held[key]);
      add(97 + node, fmt::format(R"(["r",{},null])", key),
          fmt::format(R"(["r",{},{}])", key, value));
    }
  }
  return lines;
}

// As the check of the whole history does.
TEST_F(WindowsCheck, WindowsAndWatchCheckTheFinalReads) {
  const auto object = [&](const std::string& json) {
    auto found = nlohmann::json::parse(json)["final_reads"];
    // Numbers of transactions are those of what is held.
    for (const char* list : {"lost_writes", "divergent_replicas"}) {
      for (auto& one : found[list]) one.erase("txn");
    }
    return found;
  };
  // In the small limit no level is decided, so the final reads alone are shown.
  const auto compare = [&](const char* name, const char* limit, int txns, int code,
                           const Change& change) {
    std::ofstream(folder_.file("h.jsonl")) << recorded_run(txns, change);
    const auto whole = run("check --json --shrink-time 0 h.jsonl");
    EXPECT_EQ(whole.code, code == 0 ? 0 : 1) << name << whole.err;
    const auto ran = run(fmt::format("check --json --memory-limit {} h.jsonl", limit));
    EXPECT_EQ(ran.code, code) << name << ran.err;
    EXPECT_NE(ran.err.find("decided in windows"), std::string::npos) << ran.err;
    EXPECT_EQ(object(ran.out), object(whole.out)) << name;
    EXPECT_EQ(object(ran.out)["keys"], 300);
    // A watch reads its record once more.
    const auto watched = run("watch -q -l causal --no-follow --json h.jsonl");
    EXPECT_EQ(watched.code, run("check -l causal h.jsonl").code) << watched.err;
    const auto last = watched.out.substr(watched.out.rfind('\n', watched.out.size() - 2) + 1);
    EXPECT_EQ(object(last), object(whole.out)) << last;
  };
  compare("well", "80M", 230'000, 0, [](int, int, const std::string& value) { return value; });
  const Change lost = [](int, int key, const std::string& value) {
    return key == 4 ? std::string("4") : key == 3 ? std::string("[3]") : value;
  };
  compare("lost", "64M", 150'000, 2, lost);
  compare("divergent", "64M", 150'000, 2, [](int node, int key, const std::string& value) {
    return node == 2 && key == 7 ? std::string("7") : value;
  });
  // The explanation is of the level that is violated, too.
  std::ofstream(folder_.file("h.jsonl")) << recorded_run(230'000, lost);
  const auto both = run("check -l strict-serializable --memory-limit 80M h.jsonl");
  EXPECT_EQ(both.code, 1) << both.out << both.err;
  EXPECT_NE(both.err.find("acknowledged writes are lost, besides the violation"), std::string::npos)
      << both.err;
}

// What the recorder said of them counts in windows, too.
TEST_F(WindowsCheck, FinalReadsThatFailedAreUnknown) {
  make("h.jsonl", "--level strict-serializable");
  const auto history = text_of(fs::path(folder_.file("h.jsonl")));
  const auto check = [&](const std::string& fact, const std::string& options) {
    std::ofstream(folder_.file("h.jsonl"))
        << history << R"({"type":"info","process":"nemesis","f":"cupel.metadata","value":[[)"
        << fact << "]]}\n";
    return run(fmt::format("check {} {} h.jsonl", options, kLimit));
  };
  const auto failed = R"("final reads failed","node 2 did not answer")";
  const auto gone = R"("data gone","the table kv is gone on the database")";
  for (const auto& [fact, options, why] :
       {std::tuple(failed, "", "node 2 did not answer"),
        std::tuple(failed, "-l strict-serializable", "node 2 did not answer"),
        std::tuple(gone, "", "the table kv is gone on the database"),
        std::tuple(gone, "-l strict-serializable", "the table kv is gone on the database")}) {
    const auto ran = check(fact, options);
    EXPECT_EQ(ran.code, 2) << ran.err;
    EXPECT_NE(
        ran.out.find(std::string("it is unknown whether acknowledged writes are lost: ") + why),
        std::string::npos)
        << ran.out;
  }
}

// As without the limit, which ends the reading before the line that is wrong.
TEST_F(WindowsCheck, WhatIsRefusedIsRefusedWithALimitToo) {
  const auto line = [](int txn) {
    const auto ops =
        fmt::format(R"("process":{},"f":"txn","value":[["w","x{}",{}]])", txn % 9, txn % 999, txn);
    return fmt::format(R"({{"type":"invoke",{0},"time":{1}}}
{{"type":"ok",{0},"time":{2}}}
)",
                       ops, 2 * txn, 2 * txn + 1);
  };
  std::string lines;
  for (int txn = 1; txn <= 30'000; ++txn) lines += line(txn);
  const auto write = [&](const std::string& text) {
    std::ofstream(folder_.file("h.jsonl")) << text;
  };
  const std::string nap = R"({"type":"invoke","process":77,"f":"nap","value":3,"time":0}
)";
  for (const auto& [text, word] :
       {std::pair(nap + lines, "f=nap"), std::pair(lines + nap, "f=nap"),
        std::pair(lines + nap + lines, "f=nap"),
        std::pair(lines + "garbage\n" + lines, "found garbage"),
        std::pair(lines + "{\"type\":\"ok\",\"pro\n", "truncated or corrupt")}) {
    write(text);
    const auto without = run("check -l causal --memory-limit 0 h.jsonl");
    EXPECT_EQ(without.code, 3) << without.out;
    EXPECT_NE(without.err.find(word), std::string::npos) << without.err;
    const auto with = run("check -l causal --memory-limit 1M h.jsonl");
    EXPECT_EQ(with.code, 3) << word << with.out << with.err;
    EXPECT_EQ(with.out, "");
    EXPECT_NE(with.err.find(word), std::string::npos) << with.err;
  }
  // Only the reader of whole files takes a completion without an invocation.
  write(R"({"type":"ok","process":10,"f":"txn","value":[["w","y",1]],"time":1}
)" + lines);
  EXPECT_EQ(run("check -l causal --memory-limit 0 h.jsonl").code, 0);
  EXPECT_EQ(run("check -l causal --memory-limit 1M h.jsonl").code, 2);
}

TEST_F(WindowsCheck, WhatDoesNotFitIsDecidedInWindowsAndSaysSo) {
  make("h.cupel", "--level strict-serializable");
  ASSERT_EQ(run("convert -q h.cupel -o h.jsonl").code, 0);
  fs::create_directory(folder_.path() / "parts");
  const auto split = run(
      "--version >/dev/null; split -l 200000 -d -a 5 --numeric-suffixes=1 "
      "--additional-suffix=.jsonl h.jsonl parts/history. && zstd -q --rm parts/history.00001.jsonl"
      " && zstd -q -k h.jsonl && gzip -k h.cupel");
  ASSERT_EQ(split.code, 0) << split.err;
  for (const char* file : {"h.cupel", "h.cupel.gz", "h.jsonl", "h.jsonl.zst", "parts"}) {
    const auto checked = run(fmt::format("check -l strict {} {}", kLimit, file));
    EXPECT_EQ(checked.code, 0) << file << checked.out << checked.err;
    EXPECT_TRUE(checked.out.starts_with(fmt::format("{}\tstrict-serializable\tsatisfied\n", file)))
        << checked.out;
    EXPECT_NE(checked.out.find("strict-serializable is decided exactly"), std::string::npos);
    EXPECT_NE(checked.out.find("160,000 transactions"), std::string::npos) << checked.out;
    EXPECT_NE(checked.err.find("decided in windows"), std::string::npos) << checked.err;
  }
  const auto json = nlohmann::json::parse(run(fmt::format("check --json {} h.cupel", kLimit)).out);
  EXPECT_EQ(json["format"], "cupel");
  EXPECT_EQ(json["transactions"], 160'000);
  EXPECT_EQ(json["operations"], 1'280'000);
  EXPECT_EQ(json["strongest_satisfied"], nlohmann::json::array({"strict-serializable"}));
  EXPECT_GT(json["windows"]["most_held"], 0);
  EXPECT_TRUE(json["windows"]["promises"].contains("strict-serializable"));
  for (const auto& level : json["levels"]) {
    EXPECT_EQ(level["verdict"], "satisfied");
    const bool itself = level["level"] == "strict-serializable";
    EXPECT_EQ(level["decided_by"].get<std::string>(),
              itself ? "windows" : "implied-by:strict-serializable");
  }
}

// A list starts empty, whatever registers start with, and is known as one only at its end.
TEST_F(WindowsCheck, NullIsReadOfAListThatComesLater) {
  std::ofstream out(folder_.file("late-list.jsonl"));
  out << R"({"type":"info","process":"nemesis","f":"cupel.initial","value":[0,[]]})" << '\n';
  int time = 0;
  const auto add = [&](const std::string& value) {
    for (const char* type : {"invoke", "ok"}) {
      out << fmt::format(R"({{"type":"{}","process":0,"f":"txn","value":[{}],"time":{}}})", type,
                         value, ++time)
          << '\n';
    }
  };
  add(R"(["r","list",null])");
  for (int i = 1; i <= 100'000; ++i) {
    std::string writes;
    for (int k = 0; k < 8; ++k) {
      writes += fmt::format(R"({}["w",{},{}])", k == 0 ? "" : ",", (i + 37 * k) % 300, 8 * i + k);
    }
    add(writes);
  }
  add(R"(["append","list",1])");
  out.close();
  const auto checked =
      run(fmt::format("check -l strict {} --certificate late.json late-list.jsonl", kLimit));
  EXPECT_EQ(checked.code, 0) << checked.out << checked.err;
  EXPECT_NE(checked.err.find("decided in windows"), std::string::npos) << checked.err;
  const auto verified = run("verify late-list.jsonl late.json");
  EXPECT_EQ(verified.code, 0) << verified.out << verified.err;
}

TEST_F(WindowsCheck, AViolationIsFoundAndExplained) {
  make("h.cupel", "--level strong-session-snapshot-isolation --inject lost-update --inject-at 0.6");
  const auto whole = nlohmann::json::parse(
      run("check --json -l strong-session-snapshot-isolation --memory-limit 0 h.cupel").out);
  const auto ran =
      run(fmt::format("check --json -l strong-session-snapshot-isolation {} h.cupel", kLimit));
  EXPECT_EQ(ran.code, 1) << ran.err;
  const auto parts = nlohmann::json::parse(ran.out);
  const auto &there = whole["levels"][0], &here = parts["levels"][0];
  EXPECT_EQ(here["verdict"], "violated");
  EXPECT_EQ(here["decided_by"], "windows");
  EXPECT_EQ(here["anomalies"][0]["name"], there["anomalies"][0]["name"]);
  EXPECT_EQ(here["anomalies"][0]["transactions"], there["anomalies"][0]["transactions"]);
  EXPECT_EQ(parts["windows"]["explained"]["level"], "strong-session-snapshot-isolation");
  const auto text =
      run(fmt::format("check -l strong-session-snapshot-isolation {} h.cupel", kLimit));
  EXPECT_NE(text.out.find("lost-update"), std::string::npos) << text.out;
  EXPECT_NE(text.out.find("the part that was held after"), std::string::npos) << text.out;
}

TEST_F(WindowsCheck, WhatWindowsCannotDecideIsUnknownWithTheReason) {
  make("h.cupel", "--level causal --no-times");
  const auto ran = run(fmt::format("check -l causal {} h.cupel", kLimit));
  EXPECT_EQ(ran.code, 2);
  EXPECT_NE(ran.out.find("has no times"), std::string::npos) << ran.out;
  make("other.plume", "--level causal");
  const auto other = run(fmt::format("check -l causal {} other.plume", kLimit));
  EXPECT_EQ(other.code, 2);
  EXPECT_NE(other.out.find("in windows"), std::string::npos) << other.out;
}

// A watch forgets nothing before as many sessions have come as it was told; a check knows that no
// more will.
TEST_F(WindowsCheck, AWatchThatMeetsItsLimitAsksTheRecord) {
  make("h.cupel", "--level strict-serializable --inject lost-update --inject-at 0.6");
  make("g.cupel", "--level strict-serializable");
  for (const char* name : {"h", "g"}) {
    ASSERT_EQ(run(fmt::format("convert -q {0}.cupel -o {0}.jsonl", name)).code, 0);
  }
  const auto watch = fmt::format("watch -l strict --sessions 50 {}", kLimit);
  for (const char* how :
       {"--no-follow h.jsonl", "--end-after 2s h.jsonl", "-o o.jsonl - <h.jsonl"}) {
    const auto found = run(fmt::format("{} {}", watch, how));
    EXPECT_EQ(found.code, 1) << how << found.out << found.err;
    EXPECT_NE(found.out.find("lost-update"), std::string::npos) << found.out;
    EXPECT_NE(found.err.find("from here on the recorded history is checked"), std::string::npos)
        << found.err;
  }
  const auto piped = run(fmt::format("{} -o p.jsonl --certificate c.json - <h.jsonl", watch));
  EXPECT_EQ(piped.code, 1) << piped.err;
  EXPECT_NE(piped.err.find("no certificate was written: a violation that was found in windows"),
            std::string::npos)
      << piped.err;
  EXPECT_FALSE(fs::exists(folder_.path() / "c.json"));
  const auto well =
      run(fmt::format("{} --no-follow --state st --certificate c.json g.jsonl", watch));
  EXPECT_EQ(well.code, 0) << well.out << well.err;
  EXPECT_NE(well.out.find("the memory limit was met after"), std::string::npos) << well.out;
  EXPECT_EQ(run("verify g.jsonl c.json").code, 0);
  // Its windows were replaced, so the next watch must not go on with them.
  EXPECT_FALSE(fs::exists(folder_.path() / "st/watch.state"));
  // What windows cannot decide either.
  const auto in_words = run(fmt::format(
      "watch -l read-committed --sessions 50 {} --no-follow g.jsonl", "--memory-limit 30M"));
  EXPECT_EQ(in_words.code, 2) << in_words.out << in_words.err;
  // Of any transaction, or from one on: that depends on how much memory the program itself takes.
  EXPECT_NE(in_words.out.find("nothing is known "), std::string::npos) << in_words.out;
}

// The window has a violation, the record does not fit into the limit, and what is held may be too
// large to be explained: it is violated still, and a certificate that is left is a valid one.
TEST_F(WindowsCheck, AViolationOfTheWindowCountsWhereTheRecordDoesNotFit) {
  ASSERT_EQ(
      run("generate -q --level causal --sessions 10 --txns 2500 --keys 300 --ops 1-4 --seed 3 "
          "--indeterminate-rate 0.001 -o h.jsonl")
          .code,
      0);
  ASSERT_EQ(run("check -l prefix h.jsonl").code, 1);
  int without = 0, with = 0;
  for (const char* limit : {"20M", "22M", "24M", "26M", "30M", "40M", "60M"}) {
    fs::remove(folder_.path() / "c.json");
    const auto found =
        run(fmt::format("watch -l prefix --no-follow --shrink-time 0 --memory-limit {} "
                        "--certificate c.json h.jsonl",
                        limit));
    // How much memory a program has before it begins differs between machines.
    if (found.code == 2) continue;
    EXPECT_EQ(found.code, 1) << limit << found.out << found.err;
    if (fs::exists(folder_.path() / "c.json")) {
      ++with;
      const auto verified = run("verify h.jsonl c.json");
      EXPECT_EQ(verified.code, 0) << limit << verified.out << verified.err;
      continue;
    }
    ++without;
    EXPECT_NE(found.err.find("no certificate was written: the violation is in what is held"),
              std::string::npos)
        << limit << found.err;
  }
  EXPECT_GE(with, 1);
  EXPECT_GE(without, 1);
}

// A state goes on with the windows of a certificate: once another one took their place, it is gone.
TEST_F(WindowsCheck, AWatchBeginsAnewWhereItsWindowsAreGone) {
  ASSERT_EQ(run("generate -q --level read-committed --sessions 4 --txns 2500 --keys 5000 --ops 1-4 "
                "--seed 684948 --indeterminate-rate 0.01 -o r.jsonl")
                .code,
            0);
  ASSERT_EQ(run("generate -q --level strict-serializable --sessions 20 --txns 1000 --keys 1000 "
                "--ops 4 --seed 126264 --indeterminate-rate 0.01 --inject intermediate-read "
                "--duplicates 0.02 -o v.jsonl")
                .code,
            0);
  const auto twice = [&](const std::string& arguments, int code) {
    for (int i = 0; i < 2; ++i) {
      const auto ran = run("watch -q --threads 1 --no-follow --certificate c.json " + arguments);
      EXPECT_EQ(ran.code, code) << i << arguments << ran.out << ran.err;
    }
  };
  twice("-l read-committed --state r r.jsonl", 0);
  EXPECT_EQ(run("verify r.jsonl c.json").code, 0);
  twice("-l strict-serializable --memory-limit 30M --state v v.jsonl", 1);
}

// Where the memory limit is met, a compare-and-set is always going on that fails in the end.
TEST_F(WindowsCheck, OfAWholeFolderNothingIsGoingOn) {
  std::vector<std::string> lines;
  const auto event = [&](const char* type, int process, const std::string& value) {
    lines.push_back(
        fmt::format(R"({{"index":{},"type":"{}","process":{},"f":"txn","value":[{}],"time":{}}})",
                    lines.size(), type, process, value, 10 * lines.size()));
  };
  event("invoke", 0, R"(["w","a",1])");
  event("ok", 0, R"(["w","a",1])");
  for (int round = 0, n = 0; round < 1500; ++round) {
    const auto write = fmt::format(R"(["w","z",{}])", round);
    event("invoke", 1, write + R"(,["cas","a",[3,5]])");
    event("invoke", 0, R"(["r","z",null])");
    event("ok", 0, fmt::format(R"(["r","z",{}])", round));
    for (int i = 0; i < 25; ++i, ++n) {
      const int process = 2 + n % 3;
      const auto other = fmt::format(R"(["w","b{}",{}],)", process, n);
      event("invoke", process, other + R"(["r","a",null])");
      event("ok", process, other + R"(["r","a",1])");
    }
    event("ok", 1, write + R"(,["cas","a",[3,5],false])");
  }
  fs::create_directory(folder_.path() / "parts");
  for (const int part : {1, 2}) {
    std::ofstream out(folder_.path() / fmt::format("parts/history.0000{}.jsonl", part));
    const auto cut = lines.size() * 95 / 100;
    for (auto i = part == 1 ? 0 : cut; i < (part == 1 ? cut : lines.size()); ++i)
      out << lines[i] << "\n";
  }
  EXPECT_EQ(run("check -q -l strict parts").code, 0);
  for (const char* limit : {"24M", "28M", "32M"}) {
    const auto watched = run(
        fmt::format("watch -q -l strict --sessions 50 --no-follow --memory-limit {} parts", limit));
    EXPECT_TRUE(watched.code == 0 || watched.code == 2) << limit << watched.out << watched.err;
  }
}

// Half of the sessions in each file.
TEST_F(WindowsCheck, SeveralFilesAccuseNobodyByTheirClocks) {
  ASSERT_EQ(run("generate -q --level strict --sessions 4 --txns 200 --keys 20 -o h.jsonl").code, 0);
  EXPECT_EQ(run("watch -q -l strict - -o piped.jsonl <h.jsonl").code, 0) << "a source, no level";
  std::ifstream in(folder_.file("h.jsonl"));
  std::ofstream halves[] = {std::ofstream(folder_.file("a.jsonl")),
                            std::ofstream(folder_.file("b.jsonl"))};
  for (std::string line; std::getline(in, line);) {
    const auto process = nlohmann::json::parse(line).at("process");
    for (int half = 0; half < 2; ++half) {
      if (!process.is_number() || process.get<int>() % 2 == half) halves[half] << line << '\n';
    }
  }
  for (auto& half : halves) half.close();
  const auto unsaid = run("watch -l strict --no-follow -o 1.jsonl a.jsonl b.jsonl");
  EXPECT_EQ(unsaid.code, 3) << unsaid.out;
  EXPECT_NE(unsaid.err.find("say with --clock-drift"), std::string::npos) << unsaid.err;
  const auto one_clock =
      run("watch -l strict --no-follow --clock-drift 0s -o 2.jsonl a.jsonl b.jsonl");
  EXPECT_EQ(one_clock.code, 0) << one_clock.out << one_clock.err;
  EXPECT_EQ(run("watch -l causal --no-follow -o 3.jsonl a.jsonl b.jsonl").code, 0);
}

}  // namespace
