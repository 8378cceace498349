// The interface in C: the same words as in C++, errors as sentences, and no way to crash it by a
// handle that is not there.
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <cstdio>
#include <cstring>
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>
#include <string>
#include <thread>

#include "cupel/check.hpp"
#include "cupel/cupel.h"
#include "source_dir.hpp"
#include "support/scratch_folder.hpp"

namespace {

struct Free {
  void operator()(cupel_builder* one) const { cupel_builder_free(one); }
  void operator()(cupel_history* one) const { cupel_history_free(one); }
  void operator()(cupel_answer* one) const { cupel_answer_free(one); }
  void operator()(cupel_recorder* one) const { cupel_recorder_free(one); }
  void operator()(cupel_session* one) const { cupel_session_free(one); }
};
template <typename T>
using Handle = std::unique_ptr<T, Free>;

Handle<cupel_history> lost_update(int64_t last = 3) {
  const Handle<cupel_builder> builder(cupel_builder_new());
  const auto x = cupel_text("x");
  cupel_builder_transaction(builder.get(), "alice");
  cupel_builder_write(builder.get(), x, cupel_integer(1));
  cupel_builder_transaction(builder.get(), "bob");
  cupel_builder_read(builder.get(), x, cupel_integer(1));
  cupel_builder_write(builder.get(), x, cupel_integer(2));
  cupel_builder_transaction(builder.get(), "carol");
  cupel_builder_read(builder.get(), x, cupel_integer(1));
  cupel_builder_write(builder.get(), x, cupel_integer(last));
  return Handle<cupel_history>(cupel_builder_build(builder.get()));
}

Handle<cupel_answer> check(const cupel_history* history, const char* levels) {
  cupel_options options;
  cupel_options_init(&options, sizeof options);
  options.levels = levels;
  return Handle<cupel_answer>(cupel_check(history, &options));
}

TEST(InC, SaysWhatCppSays) {
  cupel::HistoryBuilder builder;
  builder.transaction("alice").write("x", 1);
  builder.transaction("bob").read("x", 1).write("x", 2);
  builder.transaction("carol").read("x", 1).write("x", 3);
  std::string error;
  const auto expected = cupel::check_history(*builder.build(error));

  const auto history = lost_update();
  ASSERT_TRUE(history) << cupel_error();
  EXPECT_EQ(cupel_history_transactions(history.get()), 3u);
  EXPECT_EQ(cupel_history_sessions(history.get()), 3u);
  EXPECT_EQ(cupel_history_operations(history.get()), 5u);
  const auto answer = check(history.get(), nullptr);
  ASSERT_TRUE(answer) << cupel_error();
  ASSERT_EQ(cupel_answer_level_count(answer.get()), expected.levels.size());
  std::size_t violated = 0;
  for (std::size_t i = 0; i < expected.levels.size(); ++i) {
    const auto& level = expected.levels[i];
    EXPECT_EQ(cupel_answer_level(answer.get(), i), cupel::name(level.level));
    EXPECT_EQ(static_cast<int>(cupel_answer_verdict(answer.get(), i)),
              static_cast<int>(level.verdict));
    EXPECT_EQ(cupel_answer_detail(answer.get(), i), level.detail);
    ASSERT_EQ(cupel_answer_anomaly_count(answer.get(), i), level.anomalies.size());
    for (std::size_t j = 0; j < level.anomalies.size(); ++j, ++violated) {
      EXPECT_EQ(cupel_answer_anomaly(answer.get(), i, j), level.anomalies[j].name);
      EXPECT_EQ(cupel_answer_explanation(answer.get(), i, j), level.anomalies[j].explanation);
    }
  }
  EXPECT_GT(violated, 0u);
  const auto json = nlohmann::json::parse(cupel_answer_json(answer.get()));
  EXPECT_EQ(json.at("transactions"), 3);
  EXPECT_NE(std::strstr(cupel_answer_text(answer.get()), "lost-update"), nullptr);
}

TEST(InC, TheExampleIsC) {
  std::FILE* const ran = popen(LOST_UPDATE, "r");
  ASSERT_NE(ran, nullptr);
  std::string output(4096, '\0');
  output.resize(std::fread(output.data(), 1, output.size(), ran));
  EXPECT_EQ(WEXITSTATUS(pclose(ran)), 1);
  EXPECT_TRUE(output.starts_with("lost-update: An update was lost. T1 and T2 both read x = 1"))
      << output;
}

TEST(InC, DrawsTheFirstViolation) {
  const auto answer = check(lost_update().get(), "si");
  const char* picture = cupel_answer_svg(answer.get());
  ASSERT_NE(picture, nullptr) << cupel_error();
  EXPECT_TRUE(std::string(picture).starts_with("<?xml") || std::string(picture).starts_with("<svg"))
      << std::string(picture).substr(0, 80);
  const auto satisfied = check(lost_update().get(), "read-committed");
  EXPECT_EQ(cupel_answer_svg(satisfied.get()), nullptr);
  EXPECT_STREQ(cupel_error(), "nothing is violated, so there is no picture");
}

TEST(InC, ACertificateProvesItsHistoryAndNoOther) {
  const auto history = lost_update();
  cupel_options options;
  cupel_options_init(&options, sizeof options);
  options.evidence = 1;
  const Handle<cupel_answer> answer(cupel_check(history.get(), &options));
  ASSERT_TRUE(answer) << cupel_error();
  const char* certificate = cupel_answer_certificate(answer.get());
  ASSERT_NE(certificate, nullptr) << cupel_error();
  const char* verified = cupel_verify(history.get(), certificate, 0);
  ASSERT_NE(verified, nullptr) << cupel_error();
  const auto proven = nlohmann::json::parse(verified);
  EXPECT_EQ(proven.at("valid"), true);
  EXPECT_GT(proven.at("answers").size(), 4u);

  const auto other = lost_update(4);
  const auto rejected = nlohmann::json::parse(cupel_verify(other.get(), certificate, 0));
  EXPECT_EQ(rejected.at("valid"), false);
  EXPECT_NE(rejected.at("reason").get<std::string>().find("another history"), std::string::npos);

  EXPECT_EQ(cupel_verify(history.get(), "{}", 0), nullptr);
  EXPECT_NE(std::string(cupel_error()), "");
  EXPECT_EQ(cupel_verify(nullptr, certificate, 0), nullptr);
  EXPECT_EQ(cupel_answer_certificate(nullptr), nullptr);
  EXPECT_EQ(cupel_answer_certificate(check(history.get(), "si").get()), nullptr);
  EXPECT_STREQ(cupel_error(), "the check kept no evidence: its options had no `evidence`");
}

TEST(InC, ReadsAsTheUserSaysAndSaysHow) {
  const cupel::test::ScratchFolder folder;
  const auto file = folder.file("h.jsonl",
                                R"({"type":"ok","process":0,"f":"write","value":["x",1]}
{"type":"ok","process":0,"f":"nap","value":3}
)");
  EXPECT_EQ(cupel_history_read(file.c_str(), nullptr), nullptr);
  const Handle<cupel_history> history(
      cupel_history_read_as(file.c_str(), nullptr, "registers", "doze,nap"));
  ASSERT_TRUE(history) << cupel_error();
  EXPECT_STREQ(cupel_history_kind(history.get()), "registers, 1 key");
  EXPECT_EQ(cupel_history_kind(nullptr), nullptr);
  const auto answer = check(history.get(), "causal");
  ASSERT_TRUE(answer) << cupel_error();
  EXPECT_NE(std::string(cupel_answer_json(answer.get()))
                .find(R"("kind":"registers, 1 key","ignored":[{"f":"nap","op_maps":1}])"),
            std::string::npos);
  EXPECT_EQ(cupel_history_read_as(file.c_str(), nullptr, "mutex", "nap"), nullptr);
  EXPECT_EQ(cupel_history_read_as(file.c_str(), nullptr, "locks", nullptr), nullptr);
  EXPECT_NE(std::string(cupel_error()).find("expected transactions, registers"), std::string::npos);
}

TEST(InC, SaysWhetherARecordedRunKeptItsWrites) {
  const cupel::test::ScratchFolder folder;
  const auto file = folder.file(
      "h.jsonl",
      R"({"type":"info","process":"nemesis","f":"cupel.metadata","value":[["final reads failed","no answer"]]}
{"type":"ok","process":0,"f":"txn","value":[["w","x",1]]}
)");
  const Handle<cupel_history> history(cupel_history_read(file.c_str(), nullptr));
  ASSERT_TRUE(history) << cupel_error();
  const auto unknown = check(history.get(), "causal");
  EXPECT_EQ(cupel_answer_verdict(unknown.get(), 0), CUPEL_SATISFIED);
  EXPECT_EQ(cupel_answer_durable(unknown.get()), CUPEL_UNKNOWN);
  EXPECT_STREQ(cupel_answer_durable_detail(unknown.get()), "no answer");
  const auto kept = check(lost_update().get(), "causal");
  EXPECT_EQ(cupel_answer_durable(kept.get()), CUPEL_SATISFIED);
  EXPECT_STREQ(cupel_answer_durable_detail(kept.get()), "");
  EXPECT_EQ(cupel_answer_durable(nullptr), CUPEL_REFUSED);
  EXPECT_EQ(cupel_answer_durable_detail(nullptr), nullptr);
}

TEST(InC, SaysWhyACallFailed) {
  EXPECT_EQ(cupel_history_read("/nowhere/history.jsonl", nullptr), nullptr);
  EXPECT_NE(std::string(cupel_error()).find("/nowhere/history.jsonl"), std::string::npos)
      << cupel_error();
  EXPECT_FALSE(check(lost_update().get(), "si,sreializable"));
  EXPECT_STREQ(cupel_error(), "found `sreializable`, expected a level, such as serializable");
  EXPECT_FALSE(check(lost_update().get(), "si,"));
  EXPECT_STREQ(cupel_error(), "found ``, expected a level, such as serializable");
  EXPECT_STREQ(cupel_level_name("SI"), "snapshot-isolation");
  EXPECT_EQ(cupel_level_name("sreializable"), nullptr);
  EXPECT_STREQ(cupel_error(), "found `sreializable`, expected a level, such as serializable");
  EXPECT_EQ(cupel_level_name(nullptr), nullptr);
  EXPECT_EQ(cupel_describe("nonsense"), nullptr);
  EXPECT_NE(std::string(cupel_describe("lost-update")).find("lost"), std::string::npos);

  const Handle<cupel_builder> builder(cupel_builder_new());
  EXPECT_EQ(cupel_builder_read(builder.get(), cupel_text("x"), cupel_null()), CUPEL_OK);
  EXPECT_EQ(cupel_builder_build(builder.get()), nullptr);  // before the first transaction
  EXPECT_STREQ(cupel_error(), "an operation came before the first transaction()");
  EXPECT_EQ(cupel_builder_transaction(builder.get(), "late"), CUPEL_FAILED);
  EXPECT_STREQ(cupel_error(), "the builder has built its history");
  // An error belongs to its thread.
  std::thread([] { EXPECT_STREQ(cupel_error(), ""); }).join();

  cupel_options options;
  cupel_options_init(&options, sizeof options);
  options.size = sizeof options + 8;
  EXPECT_EQ(cupel_check(lost_update().get(), &options), nullptr);
  EXPECT_STREQ(
      cupel_error(),
      "options of a size that this library does not know: begin with cupel_options_init()");
}

// A program that was compiled before the last fields were there.
// A negative one would narrow the intervals of transactions, and accuse the innocent.
TEST(InC, RefusesAClockDriftThatIsNone) {
  cupel_builder* builder = cupel_builder_new();
  ASSERT_EQ(cupel_builder_transaction(builder, "a"), CUPEL_OK);
  ASSERT_EQ(cupel_builder_write(builder, cupel_text("x"), cupel_integer(1)), CUPEL_OK);
  cupel_history* history = cupel_builder_build(builder);
  ASSERT_NE(history, nullptr);
  cupel_options options;
  cupel_options_init(&options, sizeof options);
  for (const std::int64_t drift : {std::int64_t{-1}, std::int64_t{1} << 62}) {
    options.clock_drift_ns = drift;
    EXPECT_EQ(cupel_check(history, &options), nullptr);
    EXPECT_NE(std::string(cupel_error()).find("clock drift"), std::string::npos) << cupel_error();
    EXPECT_EQ(cupel_verify(history, "{}", drift), nullptr);
    EXPECT_NE(std::string(cupel_error()).find("clock drift"), std::string::npos) << cupel_error();
  }
  options.clock_drift_ns = 0;
  options.levels = "causal, prefix";
  cupel_answer* answer = cupel_check(history, &options);
  EXPECT_NE(answer, nullptr) << cupel_error();
  cupel_answer_free(answer);
  cupel_history_free(history);
  cupel_builder_free(builder);
}

TEST(InC, OptionsOfAnOlderHeaderAreFilledToTheirEnd) {
  struct {
    cupel_options options;
    char after = 'x';
  } old;
  const std::size_t size = offsetof(cupel_options, shrink_seconds);
  old.options.shrink_seconds = 7;
  cupel_options_init(&old.options, size);
  EXPECT_EQ(old.options.size, size);
  EXPECT_EQ(old.options.shrink_seconds, 7);  // of the program, not of the struct
  EXPECT_EQ(old.after, 'x');
  old.options.levels = "serializable";
  EXPECT_NE(Handle<cupel_answer>(cupel_check(lost_update().get(), &old.options)), nullptr);
}

TEST(InC, TakesNoHandleForAnswer) {
  EXPECT_EQ(cupel_check(nullptr, nullptr), nullptr);
  EXPECT_STREQ(cupel_error(), "no history was given");
  EXPECT_EQ(cupel_builder_write(nullptr, cupel_null(), cupel_null()), CUPEL_FAILED);
  EXPECT_EQ(cupel_answer_text(nullptr), nullptr);
  EXPECT_EQ(cupel_answer_svg(nullptr), nullptr);
  EXPECT_EQ(cupel_answer_level_count(nullptr), 0u);
  EXPECT_EQ(cupel_history_transactions(nullptr), 0u);
  EXPECT_EQ(cupel_session_new(nullptr), nullptr);
  cupel_session_begin(nullptr);
  EXPECT_EQ(cupel_recorder_close(nullptr), CUPEL_FAILED);
  cupel_history_free(nullptr);
  const auto answer = check(lost_update().get(), "si");
  EXPECT_EQ(cupel_answer_level(answer.get(), 1), nullptr);
  EXPECT_EQ(cupel_answer_verdict(answer.get(), 1), CUPEL_REFUSED);
  EXPECT_EQ(cupel_answer_explanation(answer.get(), 0, 9), nullptr);
}

TEST(InC, KeepsEveryKindOfOperation) {
  const cupel::test::ScratchFolder folder;
  const Handle<cupel_builder> builder(cupel_builder_new());
  auto* to = builder.get();
  cupel_builder_initial(to, cupel_integer(0));
  cupel_builder_initial_of(to, cupel_text("y"), cupel_text("first"));
  cupel_builder_transaction(to, "a");
  cupel_builder_label(to, 7);
  cupel_builder_times(to, 10, 20);
  cupel_builder_read(to, cupel_text("y"), cupel_text("first"));
  cupel_builder_compare_and_set(to, cupel_text("x"), cupel_integer(0), cupel_integer(5), 1);
  cupel_builder_erase(to, cupel_integer(3));
  const cupel_value elements[] = {cupel_integer(1), cupel_integer(2)};
  cupel_builder_transaction(to, "b");
  cupel_builder_append(to, cupel_text("l"), elements[0]);
  cupel_builder_append(to, cupel_text("l"), elements[1]);
  cupel_builder_read_list(to, cupel_text("l"), elements, 2);
  cupel_builder_transaction(to, "c");
  cupel_builder_aborted(to);
  cupel_builder_write(to, cupel_text("x"), cupel_integer(9));
  cupel_builder_transaction(to, "c");
  cupel_builder_indeterminate(to);
  cupel_builder_write(to, cupel_text("x"), cupel_integer(10));
  const Handle<cupel_history> history(cupel_builder_build(to));
  ASSERT_TRUE(history) << cupel_error();
  const auto file = folder.path("all.jsonl");
  ASSERT_EQ(cupel_history_write(history.get(), file.c_str(), "jepsen"), CUPEL_OK) << cupel_error();
  const Handle<cupel_history> again(cupel_history_read(file.c_str(), nullptr));
  ASSERT_TRUE(again) << cupel_error();
  EXPECT_EQ(cupel_history_transactions(again.get()), 4u);
  EXPECT_EQ(cupel_history_operations(again.get()), 8u);
  const auto answer = check(again.get(), "serializable");
  ASSERT_TRUE(answer) << cupel_error();
  EXPECT_EQ(cupel_answer_verdict(answer.get(), 0), CUPEL_SATISFIED);
}

TEST(InC, RecordsWhatAnApplicationSaw) {
  const cupel::test::ScratchFolder folder;
  const auto file = folder.path("history.jsonl");
  {
    const Handle<cupel_recorder> recorder(
        cupel_recorder_open(file.c_str(), "PostgreSQL", "repeatable read"));
    ASSERT_TRUE(recorder) << cupel_error();
    EXPECT_EQ(cupel_recorder_unique_id(recorder.get()), 1);
    Handle<cupel_session> session(cupel_session_new(recorder.get()));
    cupel_session_begin(session.get());
    cupel_session_write(session.get(), cupel_text("x"), cupel_integer(1));
    cupel_session_committing(session.get());
    cupel_session_committed(session.get());
    cupel_session_begin(session.get());
    cupel_session_read(session.get(), cupel_text("x"), cupel_integer(1));
    cupel_session_erase(session.get(), cupel_text("x"));
    cupel_session_aborted(session.get(), "serialization failure");
    cupel_session_begin(session.get());
    cupel_session_append(session.get(), cupel_text("l"), cupel_integer(1));
    cupel_session_indeterminate(session.get(), nullptr);
    cupel_session_begin(session.get());
    cupel_session_read_list(session.get(), cupel_text("l"), nullptr, 0);
    session.reset();
    ASSERT_EQ(cupel_recorder_close(recorder.get()), CUPEL_OK) << cupel_error();
  }
  const Handle<cupel_history> history(cupel_history_read(file.c_str(), "jepsen"));
  ASSERT_TRUE(history) << cupel_error();
  EXPECT_EQ(cupel_history_transactions(history.get()), 4u);
  EXPECT_EQ(cupel_recorder_open("/nowhere/h.jsonl", nullptr, nullptr), nullptr);
  EXPECT_NE(std::string(cupel_error()).find("/nowhere"), std::string::npos) << cupel_error();
}

// A call of a session returns nothing; what it did not record must not be lost in silence.
TEST(InC, ARecordingThatLacksAnOperationIsAnError) {
  const cupel::test::ScratchFolder folder;
  const cupel_value bad = {static_cast<cupel_kind>(3), 0, nullptr, 0};
  const Handle<cupel_builder> builder(cupel_builder_new());
  cupel_builder_transaction(builder.get(), "a");
  EXPECT_EQ(cupel_builder_write(builder.get(), cupel_text("x"), bad), CUPEL_FAILED);
  EXPECT_STREQ(cupel_error(),
               "found a value of the kind 3, expected one of CUPEL_NULL, CUPEL_INTEGER and "
               "CUPEL_TEXT");
  const Handle<cupel_recorder> recorder(
      cupel_recorder_open(folder.path("history.jsonl").c_str(), nullptr, nullptr));
  ASSERT_TRUE(recorder) << cupel_error();
  Handle<cupel_session> session(cupel_session_new(recorder.get()));
  cupel_session_begin(session.get());
  cupel_session_write(session.get(), cupel_text("x"), bad);
  cupel_session_committed(session.get());
  session.reset();
  EXPECT_EQ(cupel_recorder_close(recorder.get()), CUPEL_FAILED);
  EXPECT_TRUE(std::string(cupel_error()).starts_with("the history is incomplete")) << cupel_error();
}

// What the header declares is what the library gives out: a function that is missing in the map
// would be missing in libcupel.so.
TEST(InC, TheMapNamesEveryFunctionOfTheHeader) {
  const auto text = [](const char* name) {
    std::ifstream in(std::string(CUPEL_SOURCE_DIR) + "/" + name);
    std::stringstream all;
    all << in.rdbuf();
    return all.str();
  };
  const auto header = text("include/cupel/cupel.h"), map = text("src/api/c/libcupel.map");
  std::set<std::string> functions;
  for (std::size_t at = header.find("#ifdef __cplusplus");
       (at = header.find("cupel_", at)) != header.npos;) {
    const auto end = header.find_first_not_of("abcdefghijklmnopqrstuvwxyz_", at);
    if (header[end] == '(' && header[at - 1] == ' ') functions.insert(header.substr(at, end - at));
    at = end;
  }
  EXPECT_GT(functions.size(), 50u);
  for (const auto& function : functions) {
    bool named = map.find(" " + function + ";") != map.npos;
    for (std::size_t at = 0; !named && (at = map.find("_*;", at)) != map.npos; at += 3) {
      const auto begin = map.rfind(' ', at) + 1;
      named = function.starts_with(map.substr(begin, at + 1 - begin));
    }
    EXPECT_TRUE(named) << function;
  }
}

}  // namespace
