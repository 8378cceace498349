// The recorder of the C++ API: the operations that it was told are those of the file.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "cupel/record.hpp"
#include "data/formats/formats.hpp"
#include "readers/random_recording.hpp"
#include "readers/same_history.hpp"
#include "support/history_language.hpp"
#include "support/rounds.hpp"
#include "support/scratch_folder.hpp"

namespace cupel::test {
namespace {

using history::History;
using history::OpKind;

Scalar scalar(history::ScalarView view) {
  if (view.kind == history::ScalarKind::kNull) return {};
  if (view.kind == history::ScalarKind::kInteger) return view.integer;
  return std::string(view.text);
}

// The recorder has integers and texts, and knows what every read returned.
bool can_be_recorded(const History& h) {
  for (std::uint32_t k = 0; k < h.key_count(); ++k) {
    if (h.key(history::KeyId(k)).kind > history::ScalarKind::kString) return false;
  }
  for (std::uint32_t v = 0; v < h.value_count(); ++v) {
    if (h.value(history::ValueId(v)).kind > history::ScalarKind::kString) return false;
  }
  for (std::uint32_t t = 0; t < h.txn_count(); ++t) {
    if (h.status(history::TxnId(t)) == history::TxnStatus::kIndeterminate) return false;
  }
  for (std::uint32_t o = 0; o < h.op_count(); ++o) {
    const auto op = h.op(history::OpId(o));
    if (op.kind == OpKind::kRead && !op.value.valid()) return false;
    if (op.kind == OpKind::kListRead && !h.list_known(op)) return false;
    if (op.kind == OpKind::kDelete && op.value != h.null_value()) return false;
  }
  return h.initial_overrides().empty();
}

void record(RecordedSession& session, const History& h, const history::Operation& op) {
  const auto key = op.kind == OpKind::kRangeRead ? Scalar() : scalar(h.key(op.key));
  const auto value = [&](history::ValueId v) { return scalar(h.value(v)); };
  switch (op.kind) {
    case OpKind::kRead:
      return session.read(key, value(op.value));
    case OpKind::kWrite:
      return session.write(key, value(op.value));
    case OpKind::kInsert:
      return session.insert(key, value(op.value));
    case OpKind::kDelete:
      return session.erase(key);
    case OpKind::kAppend:
      return session.append(key, value(op.value));
    case OpKind::kListRead: {
      std::vector<Scalar> elements;
      for (const auto element : h.list(op)) elements.push_back(value(element));
      return session.read_list(key, elements);
    }
    case OpKind::kRangeRead: {
      const auto range = h.range(op);
      std::vector<std::pair<Scalar, Scalar>> found;
      for (const auto& entry : range.entries) {
        found.emplace_back(scalar(h.key(entry.key)), value(entry.value));
      }
      return session.read_range(value(range.low), value(range.high), found);
    }
    case OpKind::kCompareAndSet: {
      const auto cas = h.compare_and_set(op);
      return session.compare_and_set(key, value(cas.expected), value(cas.desired), cas.succeeded);
    }
  }
}

TEST(Readers, AgreeWithTheRecorder) {
  const ScratchFolder folder;
  const auto file = folder.path("history.jsonl");
  std::size_t compared = 0;
  for (std::uint64_t seed = 0; seed < rounds(600u); ++seed) {
    const auto told = random_recording(seed).history;
    if (told.txn_count() == 0 || !can_be_recorded(told)) continue;
    std::string error;
    auto recorder = Recorder::open(
        file, {.default_initial = scalar(told.value(told.default_initial_value()))}, error);
    ASSERT_TRUE(recorder) << error;
    for (std::uint32_t s = 0; s < told.session_count(); ++s) {
      auto session = recorder->session();
      for (auto t = told.session_begin(history::SessionId(s)).raw;
           t < told.session_end(history::SessionId(s)).raw; ++t) {
        session.begin();
        for (auto o = told.first_op(history::TxnId(t)); o < told.last_op(history::TxnId(t)); ++o) {
          record(session, told, told.op(history::OpId(o)));
        }
        if (told.status(history::TxnId(t)) == history::TxnStatus::kCommitted) {
          session.committed();
        } else {
          session.aborted();
        }
      }
    }
    ASSERT_TRUE(recorder->close(error)) << error;
    const auto read = formats::read(file);
    ASSERT_TRUE(read.ok()) << seed << ": " << read.error().to_string();
    constexpr Compared kOperations{
        .ids = false, .labels = false, .times = false, .metadata = false, .names = false};
    ASSERT_EQ(difference(told, *read, kOperations), "") << seed << ": " << to_text(told) << "\n"
                                                        << to_text(*read);
    ++compared;
  }
  EXPECT_GT(compared, rounds(60u));
}

}  // namespace
}  // namespace cupel::test
