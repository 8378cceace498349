// Phantoms of small histories.
#include "mock/mocktest/phantoms.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "data/history/builder.hpp"

namespace cupel::mocktest {
namespace {

using history::ScalarView;

// An operation: "r k" reads that the row is missing, "w k" inserts it.
struct Txn {
  std::string_view session;
  std::int64_t began, ended;
  std::vector<std::string_view> operations;
  bool committed = true;
};

std::vector<std::string> phantoms(const std::vector<Txn>& txns, bool timed = true,
                                  std::string_view missing = {}) {
  history::HistoryBuilder builder;
  std::uint32_t label = 0;
  for (const auto& txn : txns) {
    builder.begin(builder.session(std::string(txn.session)),
                  txn.committed ? history::TxnStatus::kCommitted : history::TxnStatus::kAborted,
                  {.invoke = timed ? txn.began : history::kNoTime,
                   .complete = timed ? txn.ended : history::kNoTime,
                   .label = label++});
    for (const auto operation : txn.operations) {
      const auto key = builder.key(ScalarView::of(operation.substr(2)));
      const auto value =
          builder.value(missing.empty() ? ScalarView::null() : ScalarView::of(missing));
      if (operation[0] == 'w') {
        builder.write(key, builder.value(ScalarView::of(std::string_view("there"))));
      } else {
        builder.read(key, value);
      }
    }
    builder.end();
  }
  const auto history = std::move(builder).finish();
  EXPECT_TRUE(history.ok());
  std::vector<std::string> found;
  for (const auto& phantom : find_phantoms(*history, 10))
    found.push_back(sentence_of(*history, phantom));
  return found;
}

using Sentences = std::vector<std::string>;

TEST(Phantoms, AreMissedRowsThatAConcurrentTransactionInserted) {
  EXPECT_EQ(
      phantoms({{"a", 0, 3, {"r t(2)", "w t(1)"}}, {"b", 1, 4, {"r t(1)", "w t(2)"}}}),
      (Sentences{"T0 (session a, its 1st transaction) did not find \"t(2)\", which T1 (session b, "
                 "its 1st transaction) inserted at the same time.",
                 "T1 (session b, its 1st transaction) did not find \"t(1)\", which T0 (session a, "
                 "its 1st transaction) inserted at the same time."}));
  EXPECT_EQ(phantoms({{"a", 0, 2, {"r t(2)"}}, {"b", 1, 3, {"w t(2)"}}}).size(), 1u)
      << "no level is violated";
  EXPECT_EQ(phantoms({{"a", 0, 2, {"r t(2)"}}, {"b", 1, 3, {"w t(2)"}}}, true, "absent#2").size(),
            1u)
      << "as the recorder of a true database writes it";
  EXPECT_EQ(phantoms({{"a", 0, 2, {"r t(2)"}, false}, {"b", 1, 3, {"w t(2)"}}}).size(), 1u)
      << "the client has seen it";
}

TEST(Phantoms, AreNotWhatCameBeforeOrAfter) {
  EXPECT_EQ(phantoms({{"a", 0, 1, {"r t(2)"}}, {"b", 2, 3, {"w t(2)"}}}), Sentences());
  EXPECT_EQ(phantoms({{"a", 0, 1, {"w t(2)"}}, {"b", 2, 3, {"r t(3)"}}}), Sentences());
  EXPECT_EQ(phantoms({{"a", 0, 2, {"r t(2)"}}, {"a", 3, 4, {"w t(2)"}}}), Sentences())
      << "its own session";
  EXPECT_EQ(phantoms({{"a", 0, 2, {"r t(2)"}}, {"b", 1, 3, {"w t(2)"}, false}}), Sentences())
      << "nobody has inserted it";
}

// A client that looks in one transaction and inserts in the next one.
TEST(Phantoms, LastUntilTheClientHasActedOnWhatItRead) {
  EXPECT_EQ(
      phantoms({{"a", 0, 1, {"r t(2)"}}, {"b", 2, 3, {"w t(2)"}}, {"a", 4, 5, {"w t(1)"}}}).size(),
      1u);
  EXPECT_EQ(phantoms({{"a", 0, 1, {"r t(2)"}}, {"a", 2, 3, {"w t(1)"}}, {"b", 4, 5, {"w t(2)"}}}),
            Sentences());
  EXPECT_EQ(
      phantoms({{"a", 0, 1, {"r t(2)"}}, {"b", 2, 3, {"w t(2)"}}, {"a", 4, 5, {"w t(1)"}}}, false)
          .size(),
      1u);
}

}  // namespace
}  // namespace cupel::mocktest
