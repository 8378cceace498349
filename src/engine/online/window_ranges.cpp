// The range reads that a window has forgotten, and the keys that come too late for them: see
// forgotten_ranges.hpp. The history of such a look is the reader alone, with a range of that key.
#include <fmt/format.h>

#include <utility>

#include "base/verdict.hpp"
#include "data/history/builder.hpp"
#include "engine/levels/level.hpp"
#include "engine/online/window.hpp"

namespace cupel::online {

using base::Verdict;
using history::HistoryBuilder;
using history::OpId;
using history::OpKind;
using history::TxnId;
using history::TxnStatus;

// A range read that was forgotten did not return a key that comes only now, and that starts with a
// value. With real time, everything that comes was invoked after the reader completed, so nobody
// can have deleted the key before.
std::optional<Look> Window::look_for_missing_key() {
  const auto missing = forgotten_ranges_.find_missing(keys_, [&](Key key) {
    return keys_.held(key).value_or(default_initial_).kind == history::ScalarKind::kNull;
  });
  if (!missing) return std::nullopt;
  const auto key = keys_.name(missing->key);
  HistoryBuilder builder;
  builder.set_default_initial(builder.value(default_initial_));
  const auto id = builder.key(key);
  if (const auto held = keys_.held(missing->key)) builder.set_initial(id, builder.value(*held));
  const auto& reader = missing->reader;
  builder.begin(builder.session(sessions_[reader.session].name), TxnStatus::kCommitted,
                {.invoke = reader.invoke,
                 .complete = reader.complete,
                 .label = reader.label,
                 .place = reader.place});
  builder.range_read(builder.value(key), builder.value(key), {});
  builder.end();
  history_ = *std::move(builder).finish();
  key_of_ = {missing->key};
  txns_ = {{.session = reader.session,
            .status = TxnStatus::kCommitted,
            .invoke = reader.invoke,
            .complete = reader.complete,
            .label = reader.label,
            .place = reader.place,
            .born = 0}};
  kept_ = {1};
  newly_forgotten_ = {0};
  evidence_.reset();
  waits_ = false;
  // A key that has neither been written nor read may turn out to be a list.
  const bool sure = levels::needs_real_time(level_) && keys_.is_register(missing->key);
  return Look{Verdict::kViolated,
              fmt::format("a range read that was forgotten did not return key {}, which came later",
                          key.to_string()),
              sure && held_.doubt.empty()};
}

void Window::note_forgotten_ranges() {
  if (default_initial_.kind == history::ScalarKind::kNull) return;
  for (std::uint32_t t = 0; t < history_.txn_count(); ++t) {
    if (kept_[t] || history_.status(TxnId(t)) != TxnStatus::kCommitted) continue;
    const auto& txn = txns_[t];
    for (auto i = history_.first_op(TxnId(t)); i < history_.last_op(TxnId(t)); ++i) {
      const auto op = history_.op(OpId(i));
      if (op.kind != OpKind::kRangeRead) continue;
      const auto range = history_.range(op);
      forgotten_ranges_.add(history_.value(range.low), history_.value(range.high),
                            {.session = txn.session,
                             .invoke = txn.invoke,
                             .complete = txn.complete,
                             .label = txn.label,
                             .place = txn.place});
    }
  }
}

}  // namespace cupel::online
