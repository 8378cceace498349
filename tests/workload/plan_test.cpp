// Workload files: what is written is read back the same, and files that are no
// plans are refused with the place of what is wrong.
#include "data/workload/plan.hpp"

#include <filesystem>
#include <fstream>

#include "support/scratch_folder.hpp"
#include "workload/serial_store.hpp"

namespace cupel::test {
namespace {

namespace fs = std::filesystem;
using workload::all_workloads;
using workload::make_workload;
using workload::read_plan;
using workload::write_plan;

class PlanFile : public testing::Test {
 protected:
  [[nodiscard]] std::string path() const { return (folder_ / "plan.json").string(); }
  [[nodiscard]] std::string text() const {
    std::ifstream in(path(), std::ios::binary);
    return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
  }
  // What is said of a file with this text, without the name of the file.
  [[nodiscard]] std::string error(const std::string& text) const {
    std::ofstream(path(), std::ios::binary) << text;
    const auto read = read_plan(path());
    if (read.ok()) return "accepted";
    EXPECT_EQ(read.error().file, path());
    return read.error().message;
  }
  // The same of a plan with these sessions.
  [[nodiscard]] std::string in_sessions(const std::string& sessions,
                                        const std::string& more = "") const {
    return error("{\"cupel_plan\":1," + more + "\"sessions\":" + sessions + "}");
  }
  [[nodiscard]] std::string in_operation(const std::string& op,
                                         const std::string& more = "") const {
    return in_sessions("[[[" + op + "]]]", more);
  }

  const test::ScratchFolder scratch_;
  const fs::path folder_ = scratch_.path();
};

std::string rows(const Workload& plan) {
  std::string text;
  plan.load([&](std::uint32_t, const Row& row) {
    text += workload::to_string(row.key[0]) + "=" + workload::to_string(row.values[0]) + " ";
    EXPECT_EQ(plan.loaded(0, row.key, 0), row.values[0]);
  });
  return text;
}

TEST_F(PlanFile, ReadsBackWhatWasWritten) {
  int written = 0;
  for (const auto& info : all_workloads()) {
    for (const bool tombstones : {true, false}) {
      auto options = info.defaults;
      options.sessions = 3;
      options.keys = 20;
      options.duplicates = 0.2;
      options.tombstones = tombstones;
      const auto fresh = make_workload(info.name, options);
      const auto job = (*fresh)->next(0);
      if (job->program || job->seen) {
        const auto status = write_plan(info.name, options, 5, path());
        ASSERT_FALSE(status.ok());
        EXPECT_NE(status.error().message.find(std::string(info.name) +
                                              " decides what to do by what it reads"),
                  std::string::npos);
        EXPECT_TRUE(fs::is_empty(folder_));
        continue;
      }
      ++written;
      ASSERT_TRUE(write_plan(info.name, options, 50, path()).ok());
      const auto expected = make_workload(info.name, options);
      const auto read = read_plan(path());
      ASSERT_TRUE(read.ok()) << read.error().to_string();
      EXPECT_EQ((*read)->sessions(), 3u);
      EXPECT_EQ(rows(**read), rows(**expected));
      EXPECT_EQ((*read)->default_initial(), (*expected)->default_initial());
      EXPECT_EQ((*read)->needs().lists, (*expected)->needs().lists);
      EXPECT_EQ((*read)->needs().ranges, (*expected)->needs().ranges);
      EXPECT_EQ((*read)->loaded(0, {std::int64_t{99}}, 0), Datum());
      for (std::uint32_t s = 0; s < 3; ++s) {
        for (int t = 0; t < 50; ++t) {
          const auto a = (*read)->next(s).value(), b = (*expected)->next(s).value();
          if (b.committed) b.committed();
          ASSERT_EQ(a.statements.size(), b.statements.size());
          for (std::size_t i = 0; i < a.statements.size(); ++i) {
            const auto &x = a.statements[i], &y = b.statements[i];
            ASSERT_EQ(x.kind, y.kind);
            ASSERT_EQ(x.key, y.key);
            ASSERT_EQ(x.values, y.values);
            ASSERT_EQ(x.high, y.high);
          }
        }
        EXPECT_FALSE((*read)->next(s).has_value());
        EXPECT_FALSE((*read)->next(s).has_value());
      }
      fs::remove(path());
    }
  }
  EXPECT_EQ(written, 2 * 9);
}

TEST_F(PlanFile, EveryOperation) {
  ASSERT_EQ(
      in_sessions(R"([[[["r",1,null],["w",2,null],["w",2,7],["range",[1,5],null],["cas",1,[0,null]],
      ["cas",1,[null,-3]],["insert",9,null],["delete",9,null]]],[],[[["r",-1,null]]]])",
                  R"("workload":"mine","seed":3,"initial":[[1,0]],)"),
      "accepted");
  const auto plan = std::move(read_plan(path())).value();
  EXPECT_EQ(plan->sessions(), 3u);
  EXPECT_TRUE(plan->needs().compare_and_set && plan->needs().ranges && plan->needs().deletes);
  EXPECT_TRUE(plan->needs().multiple);
  EXPECT_FALSE(plan->needs().interactive || plan->needs().tables || plan->needs().lists);
  EXPECT_EQ(plan->loaded(0, {std::int64_t{1}}, 0), Datum(std::int64_t{0}));
  EXPECT_EQ(plan->default_initial(), Datum());
  SerialStore store(*plan);
  const auto ran = store.run(plan->next(0).value());
  EXPECT_EQ(ran.statements.size(), 8u);
  EXPECT_FALSE(ran.failed);
  EXPECT_TRUE(ran.replies[4].succeeded);
  EXPECT_FALSE(ran.replies[5].succeeded);
  EXPECT_FALSE(plan->next(1).has_value());
  EXPECT_TRUE(plan->next(2).has_value());

  ASSERT_EQ(in_operation(R"(["append",3,null],["r",3,null])", R"("values":"list",)"), "accepted");
  EXPECT_TRUE(std::move(read_plan(path())).value()->needs().lists);
}

TEST_F(PlanFile, ErrorsAreReportedWithTheirPlace) {
  EXPECT_EQ(in_sessions(R"([[],[],[[["r",1,null]],[["r",1,null],["w","x",null]]]])"),
            "sessions[2][1][1][1]: found \"x\", expected an integer of 64 bits");
  EXPECT_EQ(in_sessions("[]"), "sessions: found no sessions, expected at least one");
  EXPECT_EQ(in_sessions("7"), "sessions: found 7, expected an array of sessions");
  EXPECT_EQ(in_sessions("[7]"), "sessions[0]: found 7, expected an array of transactions");
  EXPECT_EQ(in_sessions("[[7]]"), "sessions[0][0]: found 7, expected an array of operations");
  EXPECT_EQ(in_sessions("[[[]]]"), "sessions[0][0]: found no operations, expected at least one");
  EXPECT_EQ(in_sessions("[[[7]]]"),
            "sessions[0][0][0]: found 7, expected an operation: [\"r\", key, null]");
  EXPECT_EQ(in_operation(R"(["r",1])"),
            "sessions[0][0][0]: found [\"r\",1], expected [operation, key, value]");
  EXPECT_EQ(in_operation(R"(["read",1,null])"),
            "sessions[0][0][0][0]: found \"read\", expected \"r\", \"w\", \"append\", \"range\", "
            "\"cas\", \"insert\" or \"delete\"");
  EXPECT_EQ(in_operation(R"([null,1,null])").substr(0, 34), "sessions[0][0][0][0]: found null, ");
  EXPECT_EQ(in_operation(R"(["r",1,5])"),
            "sessions[0][0][0][2]: found 5, expected null: what is found there is for the database "
            "to say");
  EXPECT_EQ(in_operation(R"(["w",1,"a"])"),
            "sessions[0][0][0][2]: found \"a\", expected an integer of 64 bits or null");
  EXPECT_EQ(in_operation(R"(["w",1.5,null])"),
            "sessions[0][0][0][1]: found 1.5, expected an integer of 64 bits");
  EXPECT_EQ(in_operation(R"(["w",18446744073709551615,null])"),
            "sessions[0][0][0][1]: found 18446744073709551615, expected an integer of 64 bits");
  EXPECT_EQ(in_operation(R"(["range",[0,3000000000],null])"),
            "sessions[0][0][0][1]: found [0,3000000000], expected a range of at most 1000000 keys");
  EXPECT_EQ(
      in_operation(R"(["range",[-9223372036854775808,9223372036854775807],null])").substr(0, 31),
      "sessions[0][0][0][1]: found [-9");
  EXPECT_EQ(in_operation(R"(["range",3,null])"),
            "sessions[0][0][0][1]: found 3, expected [low, high]");
  EXPECT_EQ(in_operation(R"(["range",[1,2,3],null])"),
            "sessions[0][0][0][1]: found [1,2,3], expected [low, high]");
  EXPECT_EQ(in_operation(R"(["cas",3,null])"),
            "sessions[0][0][0][2]: found null, expected [expected, new]");
  EXPECT_EQ(in_operation(R"(["append",3,null])"),
            "sessions[0][0][0]: found [\"append\",3,null], which needs \"values\":\"list\" at the "
            "top of the file");
  EXPECT_EQ(in_operation(R"(["w",3,null])", R"("values":"list",)"),
            "sessions[0][0][0]: found [\"w\",3,null], which needs \"values\":\"integer\" at the "
            "top of the file");
  EXPECT_EQ(in_sessions("[[]]", R"("initial":[[1,0],[1,2]],)"),
            "initial[1]: found [1,2], expected a key that has no initial value yet");
  EXPECT_EQ(in_sessions("[[]]", R"("initial":[[1,null]],)"),
            "initial[0][1]: found null, expected an integer of 64 bits");
  EXPECT_EQ(in_sessions("[[]]", R"("initial":{"1":0},)"),
            "initial: found {\"1\":0}, expected an array of [key, value]");
  EXPECT_EQ(in_sessions("[[]]", R"("values":"list","initial":[[1,0]],)"),
            "initial: found initial values, expected none: lists are empty at first");
  EXPECT_EQ(in_sessions("[[]]", R"("values":"text",)"),
            "values: found \"text\", expected \"integer\" or \"list\"");
  EXPECT_EQ(in_sessions("[[]]", R"("intial":[],)"),
            "intial: found a field that workload files of version 1 do not have");
  EXPECT_EQ(error(R"({"sessions":[[]]})"), "found no field \"cupel_plan\", expected one");
  EXPECT_EQ(error(R"({"cupel_plan":1})"), "found no field \"sessions\", expected one");
  EXPECT_EQ(error(R"({"cupel_plan":2,"sessions":[[]]})"),
            "cupel_plan: found 2, expected 1, the version that this cupel reads");
  EXPECT_EQ(error(R"([1])"), "found [1], expected an object with \"cupel_plan\"");
  const std::string kNone = "found no JSON document";
  for (const std::string text : {"", "   ", "{", "{\"cupel_plan\":1,\"sessions\":[[", "r(1,2,3,4)",
                                 "{\"cupel_plan\":1,\"sessions\":[[]]} x", "\xff\xfe"}) {
    EXPECT_EQ(error(text).substr(0, kNone.size()), kNone) << text;
  }
  EXPECT_EQ(error(std::string(5000, '[') + std::string(5000, ']')).substr(0, kNone.size()), kNone);
  // A long thing is cut, and not inside a character.
  const auto cut = in_operation("[\"" + std::string(58, 'x') + "äääää\",1,null]");
  EXPECT_EQ(cut.substr(0, 22 + 6 + 59), "sessions[0][0][0][0]: found \"" + std::string(58, 'x'));
  EXPECT_NE(cut.find("x…, expected"), std::string::npos) << cut;
}

TEST_F(PlanFile, FilesThatCannotBeReadOrWritten) {
  const auto missing = read_plan((folder_ / "none.json").string());
  ASSERT_FALSE(missing.ok());
  EXPECT_EQ(missing.error().message, "cannot read the file: is the path right?");
  const auto directory = read_plan(folder_.string());
  ASSERT_FALSE(directory.ok());
  EXPECT_EQ(directory.error().message, "found a directory, expected a workload file");
  const auto nowhere = write_plan("mini", {}, 5, (folder_ / "none" / "plan.json").string());
  ASSERT_FALSE(nowhere.ok());
  EXPECT_EQ(nowhere.error().message, "cannot open for writing: No such file or directory");
  std::ofstream(path()) << "older";
  ASSERT_FALSE(write_plan("tpcc", {}, 5, path()).ok());
  EXPECT_EQ(text(), "older");
  ASSERT_FALSE(write_plan("none", {}, 5, path()).ok());
}

}  // namespace
}  // namespace cupel::test
