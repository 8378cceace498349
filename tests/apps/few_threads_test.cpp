// A system that grants few threads, or none: every command does its work with those that it gets,
// or ends with an error. No exception of std::thread ends the program
// (tests/torture/failing_threads.c).
#include <gtest/gtest.h>

#include <fstream>
#include <ostream>
#include <string>

#include "base/process.hpp"
#include "base/read_file.hpp"
#include "support/scratch_folder.hpp"

namespace {

using cupel::base::Process;
using cupel::base::Seconds;
using cupel::base::Stream;

struct ThreadCase {
  const char* name;
  const char* command;  // after `cupel`, by the shell
  int most;             // threads that are granted before one is not
};

void PrintTo(const ThreadCase& one, std::ostream* out) {
  *out << one.name;
}

class FewThreads : public testing::TestWithParam<ThreadCase> {};

TEST_P(FewThreads, EndTheCommandWithAnAnswerOrAnError) {
  bool refused = false, done = false;
  for (int granted = 0; granted <= GetParam().most; ++granted) {
    const cupel::test::ScratchFolder folder;
    folder.file(
        "campaign.json",
        R"({"databases": [{}], "workloads": ["append"], "seeds": 3, "sessions": 2, "txns": 5})");
    folder.file("own.json", R"({"url": "redis://HOSTS", "start": "exit 3", "patience": 5})");
    auto process = Process::start(
        {.arguments = {"sh", "-c", std::string("'" CUPEL_BINARY "' ") + GetParam().command},
         // The shim is not the first library, as a sanitizer wants to be.
         .environment = {{"ASAN_OPTIONS", "verify_asan_link_order=0"},
                         {"LD_PRELOAD", FAILING_THREADS},
                         {"FAILING_THREADS_PROGRAM", "cupel"},
                         {"FAILING_THREADS_GRANTED", std::to_string(granted)},
                         {"TMPDIR", folder.path()}},
         .directory = folder.path(),
         .output = Stream::file(folder.path("output")),
         .errors = Stream::output()});
    ASSERT_TRUE(process.ok()) << process.error().to_string();
    const auto status = process->wait(Seconds(60));
    const auto said = cupel::base::read_file(folder.path("output")).value();
    ASSERT_TRUE(status) << granted << " threads: " << said;
    ASSERT_EQ(status->signal, 0) << granted << " threads: " << said;
    EXPECT_TRUE(status->code == 0 || status->code == 3) << granted << " threads: " << said;
    EXPECT_EQ(said.find("internal error"), std::string::npos) << granted << " threads: " << said;
    (status->code == 0 ? done : refused) = true;
  }
  EXPECT_TRUE(done) << "so many threads are enough";
  static_cast<void>(refused);
}

INSTANTIATE_TEST_SUITE_P(
    Commands, FewThreads,
    testing::Values(ThreadCase{"Check",
                               "generate --txns 200 -o h.jsonl; '" CUPEL_BINARY
                               "' check -l read-committed h.jsonl",
                               3},
                    ThreadCase{"Run", "run --sessions 2 --txns 5 -o h.jsonl", 8},
                    ThreadCase{"RunLive", "run --live --sessions 2 --txns 5 -o h.jsonl", 8},
                    ThreadCase{"RunRotated", "run --rotate 4K --sessions 2 --txns 50 -o r", 8},
                    ThreadCase{
                        "RunWithFaultCommands",
                        "run --fault true --fault-every 0.05s --sessions 2 --rate 40 --txns 10 -l "
                        "read-committed -o h.jsonl",
                        10},
                    ThreadCase{"Campaign", "campaign campaign.json -j 3 -o out", 16}),
    [](const auto& info) { return std::string(info.param.name); });

}  // namespace
