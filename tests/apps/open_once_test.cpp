// A history is opened once: `cupel check` does not look at a file again, and every command that
// reads a history takes a pipe.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <atomic>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>
#include <thread>

#include "base/descriptor.hpp"
#include "base/temp_dir.hpp"
#include "data/formats/input.hpp"
#include "data/formats/line_pieces.hpp"
#include "data/formats/open_file.hpp"

namespace {

class OpenOnce : public testing::Test {
 protected:
  void SetUp() override {
    std::string lines;
    for (int i = 0; i < 4000; ++i) {
      for (const char* type : {"invoke", "ok"}) {
        lines += fmt::format(
            R"({{"type":"{}","process":{},"f":"txn","value":[["append","x",{}]],"time":{},"node":"n1"}})",
            type, i % 3, i, 10 * i + (type[0] == 'o' ? 5 : 0));
        lines += '\n';
      }
    }
    lines += R"({"type":"invoke","process":9,"f":"txn","value":[["r","x",null]],"time":50000})";
    lines += "\n";
    lines += R"({"type":"ok","process":9,"f":"txn","value":[["r","x",[3999]]],"time":50001})";
    std::ofstream(folder_.file("violated.jsonl")) << lines << "\n";
    std::ofstream(folder_.file("small.jsonl"))
        << R"({"type":"invoke","process":0,"f":"txn","value":[["append","x",1]]})"
        << "\n"
        << R"({"type":"ok","process":0,"f":"txn","value":[["append","x",1]]})"
        << "\n";
    ASSERT_EQ(::mkfifo(folder_.file("pipe").c_str(), 0600), 0);
  }

  // `before`: what a shell does first.
  [[nodiscard]] int run(const std::string& before, const std::string& arguments) {
    const auto command = fmt::format("cd {} && {} timeout 60 {} {} >out 2>err",
                                     folder_.path().string(), before, CUPEL_BINARY, arguments);
    const int status = std::system(command.c_str());
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }
  [[nodiscard]] std::string text_of(const std::string& name) const {
    std::ifstream in(folder_.file(name));
    return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
  }
  // How often the file is opened meanwhile. Two opens without a close between them may be counted
  // once.
  template <typename Work>
  int opens_of(const std::string& name, const Work& work) {
    const cupel::base::Descriptor events(::inotify_init1(IN_CLOEXEC | IN_NONBLOCK));
    EXPECT_GE(::inotify_add_watch(events.get(), folder_.file(name).c_str(), IN_OPEN | IN_CLOSE), 0);
    std::atomic<bool> over{false};
    int opens = 0;
    std::thread counter([&] {
      char buffer[4096];
      for (bool last = false; !last;) {
        last = over;
        pollfd ready{events.get(), POLLIN, 0};
        ::poll(&ready, 1, 20);
        const auto got = ::read(events.get(), buffer, sizeof buffer);
        for (ssize_t at = 0; at < got;) {
          const auto* event = reinterpret_cast<const inotify_event*>(buffer + at);
          opens += (event->mask & IN_OPEN) != 0 ? 1 : 0;
          at += static_cast<ssize_t>(sizeof(inotify_event) + event->len);
        }
      }
    });
    work();
    over = true;
    counter.join();
    return opens;
  }

  cupel::base::TempDir folder_ = *cupel::base::TempDir::make("cupel-test-");
};

// With an explanation, the other fields of the maps, the lines and nodes of a report.
TEST_F(OpenOnce, CheckOpensAFileOnce) {
  for (const auto* options : {"check -l strict-serializable violated.jsonl", "check violated.jsonl",
                              "check --json --emit sarif=found.sarif violated.jsonl",
                              "check --report report violated.jsonl",
                              "check -l strict-serializable --memory-limit 4G violated.jsonl"}) {
    int code = -1;
    EXPECT_EQ(opens_of("violated.jsonl", [&] { code = run("", options); }), 1) << options;
    EXPECT_EQ(code, 1) << options << text_of("err");
  }
}

// Each command that reads a history, plain and compressed, in JSON and in cupel's format: a file
// that is replaced between two openings would give an answer about neither.
TEST_F(OpenOnce, EveryCommandOpensItsHistoryOnce) {
  ASSERT_EQ(
      run("", "generate -q --level strict-serializable --sessions 4 --txns 400 -o fine.jsonl"), 0)
      << text_of("err");
  ASSERT_EQ(run("", "convert fine.jsonl fine.cupel"), 0) << text_of("err");
  // Decided in windows, in 80M.
  ASSERT_EQ(run("",
                "generate -q --level strict-serializable --sessions 10 --txns 16000 --ops 8 "
                "--keys 300 -o large.jsonl"),
            0);
  ASSERT_EQ(std::system(fmt::format("cd {0} && gzip -k fine.jsonl fine.cupel && mkdir run && "
                                    "cp fine.jsonl run/history.00001.jsonl",
                                    folder_.path().string())
                            .c_str()),
            0);
  ASSERT_EQ(run("", "check -l causal --certificate fine.cert fine.jsonl"), 0) << text_of("err");
  ASSERT_EQ(run("", "watch -q -l causal --no-follow --certificate chain.cert fine.jsonl"), 0)
      << text_of("err");
  const struct {
    const char* file;
    const char* arguments;
    int code;
  } cases[] = {{"fine.jsonl", "check fine.jsonl", 0},
               {"fine.cupel", "check fine.cupel", 0},
               {"fine.jsonl.gz", "check fine.jsonl.gz", 0},
               {"fine.cupel.gz", "check fine.cupel.gz", 0},
               {"fine.jsonl", "check -l linearizable --json fine.jsonl", 3},
               {"violated.jsonl", "check -l causal --memory-limit 1M violated.jsonl", 2},
               {"large.jsonl", "check -l strict-serializable --memory-limit 80M large.jsonl", 0},
               {"large.jsonl", "check --memory-limit 80M large.jsonl", 0},
               {"fine.jsonl", "verify fine.jsonl fine.cert", 0},
               {"fine.cert", "verify fine.jsonl fine.cert", 0},
               {"fine.cupel", "verify fine.cupel fine.cert", 0},
               {"fine.jsonl.gz", "verify fine.jsonl.gz fine.cert", 0},
               {"fine.jsonl", "verify fine.jsonl chain.cert", 0},
               {"chain.cert", "verify fine.jsonl chain.cert", 0},
               {"fine.jsonl.gz", "verify fine.jsonl.gz chain.cert", 0},
               {"fine.jsonl", "watch -l causal --no-follow fine.jsonl", 0},
               {"fine.jsonl", "watch -l causal --end-after 1s --state state fine.jsonl", 0},
               {"fine.jsonl", "watch -l causal --end-after 1s --state state fine.jsonl", 0},
               {"violated.jsonl", "watch -l serializable --no-follow violated.jsonl", 0},
               {"violated.jsonl", "watch -l strict --no-follow violated.jsonl", 1},
               {"violated.jsonl", "watch -l strict --report page violated.jsonl", 1},
               {"fine.jsonl", "convert fine.jsonl again.cupel", 0},
               {"fine.jsonl", "convert fine.jsonl again.edn", 0},
               {"fine.jsonl.gz", "convert fine.jsonl.gz again.cupel", 0},
               {"fine.cupel", "convert fine.cupel again.jsonl", 0},
               {"fine.jsonl", "stats fine.jsonl", 0},
               {"fine.cupel.gz", "stats fine.cupel.gz", 0},
               {"fine.jsonl", "elle -m rw-register fine.jsonl", 0},
               {"fine.cupel", "elle -m rw-register fine.cupel", 0},
               {"fine.jsonl.gz", "elle -m rw-register fine.jsonl.gz", 0},
               {"violated.jsonl", "elle -m list-append -d page violated.jsonl", 1}};
  for (const auto& [file, arguments, code] : cases) {
    int got = -1;
    EXPECT_EQ(opens_of(file, [&] { got = run("", arguments); }), 1) << file << ": " << arguments;
    EXPECT_EQ(got, code) << arguments << "\n" << text_of("out") << text_of("err");
  }
}

// Windows go through the file several times, so it must not change between them.
TEST_F(OpenOnce, AFileThatIsReplacedStaysTheOneThatWasOpened) {
  const auto file = folder_.file("violated.jsonl");
  // A reader sees what it has opened, whatever has the name by then.
  {
    const cupel::formats::OpenOnce once(file);
    const auto before = cupel::formats::MappedFile::open(file);
    ASSERT_TRUE(before.ok());
    std::ofstream(folder_.file("other")) << "other\n";
    ASSERT_EQ(std::rename(folder_.file("other").c_str(), file.c_str()), 0);
    const auto again = cupel::formats::MappedFile::open(file);
    ASSERT_TRUE(again.ok());
    EXPECT_EQ(again->bytes(), before->bytes());
    auto lines = cupel::formats::LinePieces::open(file);
    ASSERT_TRUE(lines.ok());
    const auto piece = lines->next();
    ASSERT_TRUE(piece.ok());
    EXPECT_EQ(*piece, before->bytes().substr(0, piece->size()));
    EXPECT_FALSE(cupel::formats::has_changed(file));
  }
  const cupel::formats::OpenOnce once(file);
  EXPECT_FALSE(cupel::formats::has_changed(file));
  EXPECT_EQ(cupel::formats::MappedFile::open(file)->bytes(), "other\n");
  std::ofstream(file, std::ios::app) << "more\n";
  EXPECT_TRUE(cupel::formats::has_changed(file));
  EXPECT_EQ(cupel::formats::MappedFile::open(file)->bytes(), "other\nmore\n");
}

TEST_F(OpenOnce, EveryCommandReadsAPipe) {
  ASSERT_EQ(run("", "check -l causal --certificate small.cert small.jsonl"), 0) << text_of("err");
  const struct {
    const char* file;
    const char* arguments;
    int code;
  } cases[] = {{"violated", "check -l strict-serializable pipe", 1},
               {"violated", "check --json pipe", 1},
               {"violated", "check --report report pipe", 1},
               {"violated", "check -l strict-serializable --memory-limit 1M pipe", 2},
               {"small", "check -f jepsen pipe", 0},
               {"small", "check pipe small.jsonl", 0},
               {"small", "stats pipe", 0},
               {"small", "convert pipe converted.edn", 0},
               {"small", "verify pipe small.cert", 0},
               {"small", "elle -m list-append pipe", 0},
               {"small", "watch -l causal --end-after 1s pipe", 0}};
  for (const auto& [file, arguments, code] : cases) {
    const auto feed = fmt::format("{{ cat {}.jsonl >pipe & }} &&", file);
    EXPECT_EQ(run(feed, arguments), code) << arguments << "\n" << text_of("out") << text_of("err");
  }
}

TEST_F(OpenOnce, APipeWithoutWriterEndsAtTheFirstSignal) {
  const std::string once = "timeout --preserve-status -s TERM -k 30 1";
  EXPECT_EQ(run(once, "check -l causal pipe"), 2) << text_of("err");
  EXPECT_NE(text_of("out").find("interrupted"), std::string::npos) << text_of("out");
}

}  // namespace
