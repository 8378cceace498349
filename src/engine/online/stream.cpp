// Stream: see the header.
#include "engine/online/stream.hpp"

#include <algorithm>

#include "data/history/times.hpp"

namespace cupel::online {

using formats::OpStream;
using history::kNoTime;
using history::OpKind;
using history::ScalarView;
using history::Time;
using history::TxnStatus;

namespace {

constexpr std::uint64_t kInvocationsToTrust = 1000;
constexpr Time kSlack = 10'000'000;  // ns

}  // namespace

base::Status Stream::take(std::string_view lines) {
  maps_.give(lines);
  for (bool more = true; more;) {
    const auto read = maps_.step();
    if (!read.ok()) return read.error();
    more = *read;
    if (more && window_.drift() != 0 && maps_.has_clock() == false)
      return maps_.error(history::drift_without_clock(window_.drift()));
  }
  if (maps_.has_clock() == false) {
    window_.set_no_earlier(static_cast<Time>(maps_.maps()));
  } else if (invocations_ >= kInvocationsToTrust && latest_ != kNoTime) {
    window_.set_no_earlier(latest_ - 2 * backward_ - kSlack);
  }
  return base::Ok{};
}

std::uint8_t Stream::use(Key key, std::uint8_t as) {
  auto& keys = window_.keys();
  if ((as & OpStream::kList) != 0) keys.note_list(key);
  if ((as & OpStream::kRegister) != 0) keys.note_register(key);
  return static_cast<std::uint8_t>((keys.is_list(key) ? OpStream::kList : 0) |
                                   (keys.is_register(key) ? OpStream::kRegister : 0));
}

void Stream::begin(Session session, Moment at, const Operations& tried, bool silent) {
  if (maps_.has_clock() == true && at.time != kNoTime) {
    ++invocations_;
    if (latest_ != kNoTime && at.time < latest_)
      backward_ = std::max(backward_, history::between(at.time, latest_));
    latest_ = std::max(latest_, at.time);
  }
  window_.begin(session, at, without_masked(tried));
  if (silent) window_.note_silent(session);
}

void Stream::end(Session session, TxnStatus status, Moment /*invoked*/, Moment at,
                 Operations& seen) {
  if (status == TxnStatus::kCommitted && maps_.has_clock() == true)
    latest_ = std::max(latest_, at.time);
  window_.end(session, status, at, without_masked(seen));
}

// Is a masked key in the range?
bool Stream::masks_between(ScalarView low, ScalarView high) const {
  return std::any_of(masked_.begin(), masked_.end(), [&](Key key) {
    const auto name = window_.keys().name(key);
    return !(name < low) && !(high < name);
  });
}

// The same operations, with unknown results where a masked key was seen.
const Operations& Stream::without_masked(const Operations& all) {
  if (masked_.empty()) return all;
  unmasked_.clear();
  for (const auto& op : all.all()) {
    const bool range = op.kind == OpKind::kRangeRead;
    if (range && masks_between(all.view(op.value), all.view(op.other))) continue;
    const bool masked = !range && masked_.contains(op.key);
    if (!masked || op.kind != OpKind::kCompareAndSet) {
      unmasked_.append(all, op, /*known=*/!masked);
    } else if (op.succeeded) {
      unmasked_.write(OpKind::kWrite, op.key, unmasked_.keep(all.view(op.other)));
    } else {
      unmasked_.read(op.key, {}, /*known=*/false);
    }
  }
  return unmasked_;
}

base::Status Stream::end() {
  if (auto finished = maps_.finish(); !finished.ok()) return finished;
  for (std::uint32_t p = 0; p < maps_.process_count(); ++p) {
    if (const auto session = maps_.process(p).session) window_.close(*session);
  }
  return base::Ok{};
}

void Stream::save(StateWriter& out) const {
  maps_.save(out);
  out.integer(latest_);
  out.integer(backward_);
  out.number(invocations_);
  out.number(sessions_);
}

void Stream::load(StateReader& in) {
  maps_.load(in, window_.session_count(), window_.keys().size());
  latest_ = in.integer();
  backward_ = in.integer();
  invocations_ = in.number();
  sessions_ = in.number();
}

}  // namespace cupel::online
