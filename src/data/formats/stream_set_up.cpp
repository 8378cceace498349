// Stream set-up: see the header.
#include "data/formats/stream_set_up.hpp"

#include <algorithm>
#include <utility>

#include "data/formats/op_setup.hpp"
#include "data/history/scalar.hpp"

namespace cupel::formats {

using history::Moment;
using history::TxnStatus;

void StreamSetUp::invoked(std::uint32_t process, std::uint64_t place, Moment at) {
  operations_.push_back({.process = process, .invoked_at = place, .invoked = at});
}

void StreamSetUp::ended(std::uint32_t process, std::uint64_t place, Moment at, TxnStatus status,
                        history::Operations& seen) {
  const auto begun =
      std::find_if(operations_.rbegin(), operations_.rend(),
                   [&](const Operation& one) { return one.process == process && !one.ended_at; });
  auto& one = begun != operations_.rend() ? *begun : operations_.emplace_back();
  one.process = process;
  one.ended_at = place;
  one.ended = at;
  one.status = status;
  std::swap(one.seen, seen);
}

std::vector<StreamSetUp::Operation> StreamSetUp::end(const End& how) {
  over_ = true;
  const auto last = [](const Operation& one) { return one.ended_at.value_or(~std::uint64_t{0}); };
  std::stable_sort(operations_.begin(), operations_.end(),
                   [&](const Operation& a, const Operation& b) { return last(a) < last(b); });
  std::vector<jepsen::SetUp> all;
  history::ScalarTable values;
  for (const auto& one : operations_) {
    auto& found = all.emplace_back();
    found.invoked = one.invoked_at;
    if (how.others) found.ended = one.ended_at;
    found.committed = one.status == TxnStatus::kCommitted;
    found.failed = one.ended_at && one.status == TxnStatus::kAborted;
    if (how.has_clock) found.end_time = one.ended.time;
    const auto& written = one.ended_at ? one.seen : how.tried(one.process);
    for (const auto& op : written.all())
      found.writes.emplace_back(op.key, values.intern(written.view(op.value)));
  }
  const auto contents = jepsen::initial_contents(all, how.others_begin);
  for (std::size_t i = 0; i < contents.size(); ++i) operations_[i].is_content = contents[i];
  return std::exchange(operations_, {});
}

void StreamSetUp::save(history::StateWriter& out) const {
  out.flag(over_);
  out.number(operations_.size());
  for (const auto& one : operations_) {
    out.number(one.process);
    for (const auto& at : {one.invoked_at, one.ended_at}) out.number(at ? 1 + *at : 0);
    for (const auto& moment : {one.invoked, one.ended}) {
      out.integer(moment.time);
      out.number(moment.label);
    }
    out.number(static_cast<std::uint64_t>(one.status));
    one.seen.save(out);
  }
}

void StreamSetUp::load(history::StateReader& in, std::size_t processes, std::size_t keys) {
  over_ = in.flag();
  const auto count = in.count();
  for (std::size_t i = 0; i < count && in.good(); ++i) {
    auto& one = operations_.emplace_back();
    one.process = in.below(processes);
    for (auto* const at : {&one.invoked_at, &one.ended_at}) {
      if (const auto place = in.number(); place > 0) *at = place - 1;
    }
    for (auto* const moment : {&one.invoked, &one.ended}) {
      moment->time = in.integer();
      moment->label = static_cast<std::uint32_t>(in.number());
    }
    one.status = static_cast<TxnStatus>(in.below(3));
    one.seen.load(in, keys);
  }
}

}  // namespace cupel::formats
