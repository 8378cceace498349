// Folders and disks that do not take what the tool writes: each error names the file and the
// system's reason. Root may write anywhere, so root runs the tool as nobody.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "support/scratch_folder.hpp"

namespace {

namespace fs = std::filesystem;

struct ShellResult {
  int code;
  std::string text;  // of standard error
};

class Unwritable : public testing::Test {
 protected:
  void SetUp() override {
    fs::permissions(folder_, fs::perms::all);
    for (const char* name : {"closed", "hidden", "open"}) {
      fs::create_directory(folder_ / name);
      fs::permissions(folder_ / name, fs::perms::all);
    }
    for (const char* file : {"lost.txt", "hidden/lost.txt"}) {
      std::ofstream(folder_ / file) << "r(1,0,0,1)\nw(1,1,0,1)\nr(1,0,1,2)\nw(1,2,1,2)\n";
    }
    std::ofstream(folder_ / "c.json") << R"({"databases": [{}], "sessions": 1, "txns": 2})";
    std::ofstream(folder_ / "file") << "no folder\n";
    fs::permissions(folder_ / "closed", fs::perms(0555));
    fs::permissions(folder_ / "hidden", fs::perms(0));
    if (run("--version").code != 0) GTEST_SKIP() << "nobody cannot run " << CUPEL_BINARY;
  }
  void TearDown() override {
    for (const char* name : {"closed", "hidden"}) fs::permissions(folder_ / name, fs::perms::all);
  }

  // `cupel ARGUMENTS` in the folder, with these variables of the environment.
  [[nodiscard]] ShellResult run(const std::string& arguments,
                                const std::string& variables = "") const {
    const std::string nobody =
        geteuid() == 0 ? "setpriv --reuid=65534 --regid=65534 --clear-groups " : "";
    const auto line = "cd '" + folder_.string() + "' && env HOME=/nowhere " + variables + " " +
                      nobody + "'" CUPEL_BINARY "' " + arguments + " 2>&1 >/dev/null";
    FILE* pipe = popen(line.c_str(), "r");
    std::string text;
    char buffer[4096];
    for (std::size_t n; (n = fread(buffer, 1, sizeof buffer, pipe)) > 0;) text.append(buffer, n);
    const int status = pclose(pipe);
    return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, text};
  }
  void refuses(const std::string& arguments, const std::vector<std::string>& words,
               const std::string& variables = "") const {
    const auto ran = run(arguments, variables);
    EXPECT_EQ(ran.code, 3) << arguments << ": " << ran.text;
    for (const auto& word : words) {
      EXPECT_NE(ran.text.find(word), std::string::npos) << arguments << ": " << ran.text;
    }
  }

  const cupel::test::ScratchFolder scratch_;
  const fs::path folder_ = scratch_.path();
};

constexpr const char* kDenied = "Permission denied";
constexpr const char* kMissing = "No such file or directory";
constexpr const char* kNotAFolder = "Not a directory";
constexpr const char* kFull = "No space left on device";

TEST_F(Unwritable, EachFileToWriteSaysWhyItCannotBe) {
  const std::vector<std::pair<std::string, std::string>> folders{
      {"closed", kDenied}, {"hidden", kDenied}, {"none", kMissing}, {"file", kNotAFolder}};
  for (const auto& [name, reason] : folders) {
    const std::string file = name + "/h.jsonl";
    for (const std::string& command :
         {"generate --level causal -o " + file, "generate --plan general -o " + file,
          "convert lost.txt " + file, "check --certificate " + file + " lost.txt",
          "check --emit sql=" + file + " lost.txt", "crdt generate --type or-set -o " + file}) {
      refuses(command, {file + ": ", reason});
    }
  }
}

TEST_F(Unwritable, ARunNamesItsFolder) {
  const std::string run = "run --sessions 1 --txns 2 -o ";
  refuses(run + "closed/h.jsonl", {"cannot be made in the folder closed: ", kDenied});
  refuses(run + "closed/h.cupel", {"cannot be made in the folder closed: ", kDenied});
  refuses(run + "hidden/h.jsonl", {"cannot be made in the folder hidden: ", kDenied});
  refuses(run + "hidden/sub/h.jsonl", {"the folder hidden/sub cannot be used: ", kDenied});
  refuses(run + "none/h.jsonl", {"there is no folder none; make it"});
  refuses(run + "file/h.jsonl", {"file is a file, not a folder"});
  fs::create_directory(folder_ / "open/h.jsonl");
  refuses(run + "open/h.jsonl", {"open/h.jsonl: cannot be written: it is a folder"});
  std::ofstream(folder_ / "closed.jsonl") << "x";
  fs::permissions(folder_ / "closed.jsonl", fs::perms(0444));
  refuses(run + "closed.jsonl --overwrite", {"closed.jsonl: cannot be written: ", kDenied});
  const std::string make = run + "open/new.jsonl";
  refuses(make + " --db sqlite:closed/x.db", {"closed/x.db: unable to open", kDenied});
  refuses(make, {"hidden/cupel-", kDenied, "set TMPDIR"},
          "TMPDIR='" + (folder_ / "hidden").string() + "'");
  refuses(make, {"none: cannot be used for temporary directories: ", kMissing, "set TMPDIR"},
          "TMPDIR='" + (folder_ / "none").string() + "'");
  EXPECT_FALSE(fs::exists(folder_ / "open/new.jsonl"));
}

TEST_F(Unwritable, AReportAndACampaignNameTheirFolders) {
  refuses("check --report closed lost.txt", {"closed/index.html", kDenied});
  refuses("check --report closed/sub lost.txt", {"closed/sub: ", kDenied});
  refuses("check --report file lost.txt", {"file: ", kNotAFolder});
  refuses("check --report hidden/sub lost.txt", {"hidden/sub: ", kDenied});
  refuses("campaign c.json -o closed", {"closed/plan.json: ", kDenied});
  refuses("campaign c.json -o closed/sub", {"closed/sub: cannot make the folder: ", kDenied});
  refuses("campaign c.json -o hidden", {"hidden: cannot open: ", kDenied});
  refuses("campaign c.json -o file", {"file: ", kNotAFolder});
  // What cannot be read is not replaced.
  std::ofstream(folder_ / "open/results.jsonl") << "{}\n";
  fs::permissions(folder_ / "open/results.jsonl", fs::perms(0));
  refuses("campaign c.json -o open", {"results.jsonl: cannot read the results: ", kDenied});
}

TEST_F(Unwritable, TheLabNamesTheFolderOfItsState) {
  const auto state = [&](const char* name) {
    return "XDG_STATE_HOME='" + (folder_ / name).string() + "'";
  };
  for (const char* command : {"lab list", "lab stop all", "lab start redis"}) {
    refuses(command, {"closed/cupel/lab: cannot make the folder", kDenied, "set XDG_STATE_HOME"},
            state("closed"));
    refuses(command, {"file/cupel/lab: cannot make the folder", kNotAFolder}, state("file"));
  }
  fs::create_directories(folder_ / "open/cupel/lab");
  fs::permissions(folder_ / "open/cupel/lab", fs::perms(0555));
  refuses("lab stop all", {"lab/lock: cannot lock the state", kDenied, "set XDG_STATE_HOME"},
          state("open"));
  std::ofstream(folder_ / "open/cupel/lab/lock") << "";
  fs::permissions(folder_ / "open/cupel/lab/lock", fs::perms(0666));
  fs::permissions(folder_ / "open/cupel/lab", fs::perms::all);
  refuses("lab start redis", {"hidden/cupel-lab-", kDenied, "set TMPDIR"},
          state("open") + " TMPDIR='" + (folder_ / "hidden").string() + "'");
}

TEST_F(Unwritable, WhatCannotBeReadSaysSo) {
  refuses("check hidden/lost.txt", {"hidden/lost.txt: ", kDenied});
  refuses("check hidden", {"hidden: ", kDenied});
  fs::create_directory(folder_ / "logs");
  std::ofstream(folder_ / "logs/1.log") << "x";
  fs::permissions(folder_ / "logs/1.log", fs::perms(0));
  refuses("check logs", {"logs/1.log: ", kDenied});
}

// A disk that is full from the first write on, by tests/torture/failing_writes.c.
TEST_F(Unwritable, AFullDiskIsNamed) {
  // The shim is not the first library, as a sanitizer wants to be.
  const std::string full =
      "ASAN_OPTIONS=verify_asan_link_order=0 LD_PRELOAD='" FAILING_WRITES
      "' "
      "FAILING_WRITES_FROM=1 FAILING_WRITES_HOW=full FAILING_WRITES_PROGRAM=cupel";
  const auto full_for = [&](const std::string& command, const std::string& file) {
    refuses(command, {file + ": ", kFull}, full);
  };
  for (const std::string name : {"h.jsonl", "h.plume", "h.cupel", "h.bincode"}) {
    full_for("convert lost.txt " + name, name);
  }
  full_for("generate --plan general -o plan.json", "plan.json");
  full_for("check --certificate proof.json lost.txt", "proof.json");
  full_for("check --emit sql=s.sql lost.txt", "s.sql");
  full_for("check --report open lost.txt", "open/index.html");
  full_for("campaign c.json -o open", "plan.json");
  full_for("run --db mock: --sessions 1 --txns 2 -o run.jsonl", "run.jsonl");
  for (const auto& entry : fs::directory_iterator(folder_)) {
    EXPECT_NE(entry.path().extension(), ".new") << entry.path() << " was left";
  }
}

// What a link in the way leads to stays as it is.
TEST_F(Unwritable, NoLinkIsFollowed) {
  const auto check = [&](const std::string& command, const std::string& file) {
    std::ofstream(folder_ / "open/mine") << "mine";
    fs::permissions(folder_ / "open/mine", fs::perms(0666));
    fs::remove(folder_ / file);
    fs::create_symlink(folder_ / "open/mine", folder_ / file);
    EXPECT_NE(run(command).code, -1) << command;
    std::ifstream mine(folder_ / "open/mine");
    std::string text;
    std::getline(mine, text);
    EXPECT_EQ(text, "mine") << command;
  };
  check("convert lost.txt open/h.jsonl", "open/h.jsonl");
  check("generate --plan general -o open/plan.json", "open/plan.json");
  check("check --certificate open/proof.json lost.txt", "open/proof.json");
  check("check --emit sql=open/s.sql lost.txt", "open/s.sql");
  check("check --report open lost.txt", "open/index.html");
  check("campaign c.json -o open", "open/results.jsonl");
  check("run --sessions 1 --txns 2 -o open/run.jsonl", "open/run.jsonl");
  fs::create_symlink(folder_ / "open/nowhere", folder_ / "open/dangling.jsonl");
  refuses("run --sessions 1 --txns 2 -o open/dangling.jsonl", {"is a link that leads nowhere"});
}

}  // namespace
