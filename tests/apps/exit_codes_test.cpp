// Exit codes: every command ends with 0 for satisfied or done, 1 for violated, 2 for unknown, and 3
// for bad input, usage or environment. Of several answers the largest counts.
// docs/reference/commands.md.
#include <gtest/gtest.h>

#include <fstream>
#include <ostream>
#include <string>
#include <vector>

#include "base/process.hpp"
#include "base/read_file.hpp"
#include "support/scratch_folder.hpp"

namespace {

using cupel::base::Process;
using cupel::base::Seconds;
using cupel::base::Stream;

struct ExitCase {
  int code;
  const char* command;  // after `cupel`, by the shell, in a folder with the files below
};

void PrintTo(const ExitCase& one, std::ostream* out) {
  *out << one.command;
}

// The files that the cases use.
class ExitCode : public testing::TestWithParam<ExitCase> {
 protected:
  void SetUp() override {
    const std::string good = R"({"type":"ok","process":0,"f":"txn","value":[["w","x",1]]}
{"type":"ok","process":1,"f":"txn","value":[["r","x",1]]}
)";
    write("good.jsonl", good);
    write("other.jsonl", good + R"({"type":"ok","process":1,"f":"txn","value":[["w","x",2]]}
)");
    write("bad.jsonl", R"({"type":"ok","process":0,"f":"txn","value":[["r","x",7]]}
)");
    write("live.jsonl", R"({"type":"invoke","process":0,"f":"txn","value":[["w","x",1]]}
{"type":"ok","process":0,"f":"txn","value":[["w","x",1]]}
)");
    write("wrong.jsonl", R"({"type":"invoke","process":0,"f":"txn","value":[["r","x",null]]}
{"type":"ok","process":0,"f":"txn","value":[["r","x",7]]}
)");
    write("text.jsonl", "no history\n");
    write("append.edn", R"({:type :ok, :process 0, :f :txn, :value [[:append :x 1] [:r :x [1]]]}
)");
    write("g1a.edn", R"({:type :fail, :process 0, :f :txn, :value [[:append :x 1]]}
{:type :ok, :process 1, :f :txn, :value [[:r :x [1]]]}
)");
    write("set.jsonl", R"({"process":0,"f":"add","value":1}
{"process":0,"f":"read","value":[1]}
)");
    write("wrong-set.jsonl", R"({"process":0,"f":"read","value":[7]}
)");
    write("campaign.json",
          R"({"databases": [{}], "workloads": ["append"], "sessions": 2, "txns": 5})");
    write("nobody.json", R"({"databases": [{"url": "exec:exit 3"}], "workloads": ["append"],
                             "sessions": 2, "txns": 5})");
    write("weak.json", R"({"sessions": 4, "txns": 200,
      "databases": [{"url": "mock:prefix", "level": "strong-session-snapshot-isolation"}],
      "workloads": [{"workload": "general", "keys": 5}]})");
    write("client.sh", R"(while read line; do
  case $line in
    *'[]'*) echo '{"type":"ok","value":[]}' ;;
    *) echo '{"type":"fail","error":"no"}' ;;
  esac
done
)");
  }
  void write(const char* name, const std::string& text) const {
    std::ofstream(folder_.path(name)) << text;
  }

  const cupel::test::ScratchFolder folder_;
};

TEST_P(ExitCode, Is) {
  const std::string script =
      std::string("cupel() { \"") + CUPEL_BINARY + "\" \"$@\"; }\n" +
      (GetParam().command[0] == '$' ? GetParam().command + 1
                                    : std::string("cupel ") + GetParam().command);
  auto process = Process::start({.arguments = {"sh", "-c", script},
                                 .environment = {{"TMPDIR", folder_.path("")}},
                                 .directory = folder_.path(""),
                                 .output = Stream::file(folder_.path("output")),
                                 .errors = Stream::output()});
  ASSERT_TRUE(process.ok()) << process.error().to_string();
  const auto status = process->wait(Seconds(60));
  const auto said = cupel::base::read_file(folder_.path("output"));
  ASSERT_TRUE(status && status->signal == 0);
  EXPECT_EQ(status->code, GetParam().code) << (said.ok() ? *said : "");
}

// A case that begins with $ is a whole script.
constexpr ExitCase kExitCases[] = {
    {0, "check good.jsonl"},
    {0, "check -l serializable good.jsonl"},
    {1, "check bad.jsonl"},
    {2, "check --timeout 0 good.jsonl"},
    {2, "check -l serializable --memory-limit 1K bad.jsonl"},
    {3, "check missing.jsonl"},
    {3, "check text.jsonl"},
    {3, "check -l linearizable other.jsonl"},
    {3, "check --no-such-option good.jsonl"},
    {1, "check good.jsonl bad.jsonl good.jsonl"},
    {3, "check bad.jsonl missing.jsonl good.jsonl"},
    {1, "$cat bad.jsonl | cupel check -"},
    {0, "watch -l serializable --no-follow live.jsonl"},
    {1, "watch -l serializable --no-follow wrong.jsonl"},
    {3, "watch -l serializable --no-follow missing.jsonl"},
    {3, "watch -l serializable --no-follow text.jsonl"},
    {0, "run --sessions 2 --txns 10 -o h.jsonl"},
    {1,
     "run --db mock:prefix -l strong-session-snapshot-isolation --sessions 4 --txns 200 --keys 5 "
     "-o h.jsonl"},
    {2, "run --sessions 2 --txns 10 --timeout 0 -o h.jsonl"},
    {3, "run --db nothing://here -o h.jsonl"},
    {3, "run --db 'exec:sh client.sh' --workload append --sessions 2 --txns 5 -o h.jsonl"},
    {3, "run --db 'exec:exit 3' -o h.jsonl"},
    {3, "run --sessions 2 --txns 10 -o good.jsonl"},
    {0, "campaign campaign.json -o out"},
    {1, "campaign weak.json -o out"},
    {3, "campaign nobody.json -o out"},
    {3, "campaign good.jsonl -o out"},
    {3, "campaign missing.json -o out"},
    {0, "merge good.jsonl other.jsonl -o joined.jsonl"},
    {3, "merge good.jsonl missing.jsonl -o joined.jsonl"},
    {0, "$cupel campaign campaign.json -o out && cupel merge out -o both"},
    {0, "$cupel check --certificate c.json good.jsonl && cupel verify good.jsonl c.json"},
    {0, "$cupel check --certificate c.json bad.jsonl; cupel verify bad.jsonl c.json"},
    {1, "$cupel check --certificate c.json good.jsonl && cupel verify other.jsonl c.json"},
    {3, "verify good.jsonl text.jsonl"},
    {3, "verify good.jsonl missing.json"},
    {0, "convert good.jsonl h.edn"},
    {3, "convert missing.jsonl h.edn"},
    {3, "convert text.jsonl h.edn"},
    {0, "stats good.jsonl"},
    {3, "stats missing.jsonl"},
    {0, "generate --txns 5 -o h.jsonl"},
    {3, "generate --level nothing -o h.jsonl"},
    {0, "explain lost-update"},
    {3, "explain no-such-anomaly"},
    {0, "elle --model list-append --consistency-models serializable append.edn"},
    {2, "elle --model list-append append.edn"},
    {1, "elle --model list-append g1a.edn"},
    {3, "elle --model list-append missing.edn"},
    {3, "elle --model nothing append.edn"},
    {0, "crdt check --type or-set set.jsonl"},
    {1, "crdt check --type or-set wrong-set.jsonl"},
    {1, "crdt check --type or-set set.jsonl wrong-set.jsonl"},
    {3, "crdt check --type or-set missing.jsonl"},
    {3, "crdt check --type nothing set.jsonl"},
    {0, "crdt generate --type or-set"},
    {3, "crdt generate --type nothing"},
    {3, "crdt run --type or-set --exec 'exit 3'"},
    {0,
     "$cupel crdt check --type or-set --certificate c.json set.jsonl && cupel crdt verify "
     "set.jsonl "
     "c.json"},
    {3, "crdt verify set.jsonl text.jsonl"},
    {3, "mock test -- true"},
    {3, "mock test -- false"},
    {3, "mock test -- no-such-program-of-cupel"},
    {3, "mock test -- sh -c no-such-program-of-cupel"},
    {3, "mock test --setup 'exit 4' -- true"},
    {0, "lab list"},
    {3, "lab stop no-such-server"},
    {3, "lab start no-such-kind"},
    {0, "doctor"},
    {0, "--version"},
    {3, ""},
    {3, "no-such-command"},
};

INSTANTIATE_TEST_SUITE_P(Commands, ExitCode, testing::ValuesIn(kExitCases));

}  // namespace
