// File feed: see the header.
#include "engine/online/file_feed.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "data/history/times.hpp"

namespace cupel::online {

using history::OpKind;
using history::StreamedTransaction;
using history::Time;
using history::TxnStatus;

namespace {

// What others may see of a transaction that has not ended: what it will have written. Its reads
// say nothing before its end.
void set_tried(const StreamedTransaction& txn, Operations& tried) {
  const auto& seen = txn.operations;
  tried.clear();
  if (txn.status == TxnStatus::kAborted) return;
  for (const auto& op : seen.all()) {
    const bool failed = op.kind == OpKind::kCompareAndSet && !op.succeeded;
    if (op.kind != OpKind::kRangeRead && !failed) tried.append(seen, op, /*known=*/false);
  }
}

}  // namespace

FileFeed::FileFeed(Window& window, history::TransactionSource& source, const FilePlan& plan,
                   Time drift, bool evidence)
    : window_(window),
      source_(source),
      plan_(plan),
      evidence_(evidence),
      slack_(std::min<Time>(drift, FilePlan::kNothingLeft / 4) * 2),
      lanes_(plan.counts.size()) {
  for (const auto& [number, late] : plan.late) late_.push_back(number);
  std::sort(late_.begin(), late_.end(), [&](std::uint64_t a, std::uint64_t b) {
    const auto at = [&](std::uint64_t n) {
      return std::pair(plan_.late.at(n).transaction.invoke, n);
    };
    return at(b) < at(a);
  });
}

Time FileFeed::when_begun(const StreamedTransaction& txn) const {
  return txn.invoke == history::kNoTime ? txn.invoke : history::earlier(txn.invoke, slack_);
}

void FileFeed::begin_history() {
  begun_ = true;
  for (const auto& initial : source_.initial()) {
    if (initial.of_all) {
      digest_.add(initial.value());
      window_.set_default_initial(initial.value());
    } else {
      digest_.add(source_.key(initial.key));
      digest_.add(initial.value());
      know_key(initial.key);
      window_.set_initial(initial.key, initial.value());
    }
  }
}

FileFeed::Lane& FileFeed::lane(std::uint32_t session) {
  auto& lane = lanes_[session];
  if (!lane.session) lane.session = window_.session(plan_.session_names[session]);
  return lane;
}

base::Result<bool> FileFeed::step() {
  const auto block = std::max<std::uint64_t>(plan_.block, 1);
  bool over = read_ >= plan_.transactions;
  for (std::uint64_t n = 0; !over && n < block; ++n) {
    auto more = source_.next(txn_);
    if (!more.ok()) return more;
    if (!*more || txn_.session >= lanes_.size()) {
      return base::Error{.message = "the history changed while it was checked"};
    }
    if (!begun_) begin_history();
    if (evidence_) note_read();
    const auto place = ++lanes_[txn_.session].read;
    const bool aborted = txn_.status == TxnStatus::kAborted;
    if (!plan_.late.contains(read_)) hold(txn_.session, place, {counted_, std::move(txn_)});
    counted_ += aborted ? 0 : 1;
    txn_ = {};
    over = ++read_ == plan_.transactions;
  }
  if (evidence_) window_.note_read({counted_, digest_counted_, digest_.value()});
  if (over) {
    auto rest = source_.next(txn_);
    if (!rest.ok()) return rest;  // also what is broken at the end of the file
    emit(FilePlan::kNothingLeft);
    return false;
  }
  const auto from = plan_.no_earlier[static_cast<std::size_t>(read_ / block)];
  emit(from);
  if (from != FilePlan::kNothingLeft) window_.set_no_earlier(from);
  return true;
}

// As who verifies reads it.
void FileFeed::note_read() {
  history::add_transaction(digest_, txn_, txn_.operations,
                           [this](Key key) { return source_.key(key); });
  if (txn_.status != TxnStatus::kAborted) digest_counted_ = digest_.value();
}

void FileFeed::hold(std::uint32_t session, std::uint32_t place, Waiting waiting) {
  auto& to = lane(session);
  const auto at = to.waiting.emplace(place, std::move(waiting)).first;
  ++waiting_;
  if (!to.open && place == to.begun + 1) {
    events_.insert({when_begun(at->second.txn), false, session});
  }
}

// Those that began before.
void FileFeed::let_in_late(Time before) {
  while (!late_.empty()) {
    const auto& late = plan_.late.at(late_.back());
    if (when_begun(late.transaction) >= before && before != FilePlan::kNothingLeft) return;
    late_.pop_back();
    hold(late.transaction.session, late.place, {late.number, late.transaction});
  }
}

// `no_earlier`: no invocation that is still to be read is before that.
void FileFeed::emit(Time no_earlier) {
  const auto before =
      no_earlier == FilePlan::kNothingLeft || no_earlier < std::numeric_limits<Time>::min() + slack_
          ? no_earlier
          : no_earlier - slack_;
  let_in_late(before);
  while (!events_.empty() &&
         (std::get<0>(*events_.begin()) < before || before == FilePlan::kNothingLeft)) {
    const auto [when, ends, session] = *events_.begin();
    events_.erase(events_.begin());
    auto& of = lanes_[session];
    ends ? end(of, session) : begin(of, session);
  }
}

// Keys have the same numbers in the window as in the file, and what they are is known beforehand: a
// list that is read as null starts empty, whatever registers start with.
void FileFeed::know_key(Key key) {
  auto& keys = window_.keys();
  while (keys.size() <= key) {
    const Key next = keys.of(plan_.keys.at(static_cast<Key>(keys.size())));
    plan_.lists[next] ? keys.note_list(next) : keys.note_register(next);
  }
}

void FileFeed::note_keys(const Operations& operations) {
  for (const auto& op : operations.all()) {
    if (op.kind != OpKind::kRangeRead) {
      know_key(op.key);
      continue;
    }
    for (const auto& entry : operations.entries(op)) know_key(entry.key);
  }
}

void FileFeed::begin(Lane& lane, std::uint32_t session) {
  const auto& txn = lane.waiting.begin()->second.txn;
  note_keys(txn.operations);
  set_tried(txn, tried_);
  window_.begin(*lane.session, {txn.invoke, txn.label}, tried_);
  if (txn.status == TxnStatus::kIndeterminate && txn.operations.empty())
    window_.note_silent(*lane.session);
  lane.open = true;
  ++lane.begun;
  const bool committed = txn.status == TxnStatus::kCommitted;
  events_.insert({committed ? txn.complete : when_begun(txn), true, session});
}

void FileFeed::end(Lane& lane, std::uint32_t session) {
  const auto at = lane.waiting.begin();
  const auto& [number, txn] = at->second;
  window_.end(*lane.session, txn.status, {txn.complete, txn.label}, txn.operations,
              evidence_ ? std::optional(number) : std::nullopt);
  lane.open = false;
  lane.waiting.erase(at);
  --waiting_;
  if (lane.begun == plan_.counts[session]) return window_.close(*lane.session);
  if (const auto next = lane.waiting.begin();
      next != lane.waiting.end() && next->first == lane.begun + 1) {
    events_.insert({when_begun(next->second.txn), false, session});
  }
}

}  // namespace cupel::online
