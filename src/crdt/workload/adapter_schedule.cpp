// Adapter schedule: see the header.
#include "crdt/workload/adapter_schedule.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

namespace cupel::crdt {

namespace {

// Chances, before an operation.
constexpr double kPartition = 0.01, kSync = 0.02, kSave = 0.02, kCrash = 0.007, kCalm = 0.002,
                 kMerge = 0.02, kGreet = 0.03, kHear = 0.4;
// Of a delivery.
constexpr double kRepeatedShare = 0.1, kLostShare = 0.1;

}  // namespace

void AdapterSchedule::run_operations() {
  const auto count = options().ops;
  for (std::uint64_t i = 0; i < count && !replicas_.has_failed(); ++i) {
    const bool calm_now = i == count / 2 || (i > count / 4 && random().chance(kCalm));
    if (calm_now) i += calm();
    const auto r = before_operation(i, count);
    if (!replicas_.has_failed()) replicas_.perform(recorder().next(r));
  }
}

ReplicaId AdapterSchedule::before_operation(std::uint64_t i, std::uint64_t count) {
  const bool late = options().replicas > 2;
  const auto last = options().replicas - 1;
  const bool absent = late && i < count / 4;
  if (late && i == count / 4) join(last);
  const auto present = absent ? last : options().replicas;
  const auto r = static_cast<ReplicaId>(random().below(present));
  change_partition(i, count);
  if (replicas_.has(Hazard::kRestart) && random().chance(kRestart)) replicas_.restart(r);
  if ((replicas_.has(Hazard::kCrash) || replicas_.has(Hazard::kFiles)) && random().chance(kSave))
    replicas_.save(r);
  const bool edits = options().edits != nullptr && r == 0;  // it has what the trace says
  if (replicas_.has(Hazard::kCrash) && random().chance(kCrash) && !edits) replicas_.crash(r);
  if (replicas_.has(Hazard::kClocks) && random().chance(kJump)) set_clock(r);
  if (replicas_.has(Hazard::kLoss) && random().chance(kSync)) sync_with_some(r, present);
  if (replicas_.has(Hazard::kFiles) && random().chance(kMerge)) merge_some(r, present);
  if (replicas_.has(Hazard::kExchange)) exchange_some(r, present);
  if (replicas_.has(Hazard::kDuplicates) && random().chance(kLateRepeat)) repeat_some(r);
  deliver_some(r, options().delivery);
  return r;
}

// The replica that was not there yet begins empty, or from what another one saved.
void AdapterSchedule::join(ReplicaId r) {
  recorded().joined_late = true;
  if (!replicas_.has(Hazard::kJoin) || random().chance(0.5)) return;
  replicas_.join_from(r, static_cast<ReplicaId>(random().below(r)));
}

void AdapterSchedule::set_clock(ReplicaId r) {
  constexpr std::int64_t kDay = 86'400'000;
  replicas_.set_clock(r, static_cast<std::int64_t>(random().below(2 * kDay)) - kDay);
}

void AdapterSchedule::sync_with_some(ReplicaId r, ReplicaId among) {
  const auto other = static_cast<ReplicaId>(random().below(among));
  if (other != r && is_reachable(r, other)) replicas_.sync(r, other);
}

// What another replica saved some time ago, as from a file.
void AdapterSchedule::merge_some(ReplicaId r, ReplicaId among) {
  const auto other = static_cast<ReplicaId>(random().below(among));
  if (other != r && replicas_.has_saved(other)) replicas_.merge(r, other);
}

// The library's protocol between two replicas: its messages are delivered in their order, and
// other things happen between them.
void AdapterSchedule::exchange_some(ReplicaId r, ReplicaId among) {
  const auto other = static_cast<ReplicaId>(random().below(among));
  if (other != r && is_reachable(r, other) && random().chance(kGreet)) replicas_.greet(r, other);
  for (ReplicaId from = 0; from < options().replicas; ++from) {
    while (replicas_.has_to_hear(r, from) && is_reachable(from, r) && random().chance(kHear) &&
           !replicas_.has_failed())
      replicas_.hear(r, from);
  }
}

void AdapterSchedule::repeat_some(ReplicaId to) {
  if (messages().size() == 0) return;
  const MessageId m = random().below(messages().size());
  if (messages()[m].from == to || messages()[m].value.is_null()) return;
  const auto status = messages().status(to, m);
  if (status == MessageStatus::kWaiting || status == MessageStatus::kApplied) replicas_.hand(to, m);
}

// An update without a message has changed nothing, as the library says: a set had the element
// already. So another replica has seen it as soon as it has all that the sender had; earlier, it
// would have to show what never came. In causal order it comes as other messages do.
void AdapterSchedule::take_silent(ReplicaId to) {
  if (!replicas_.has(Hazard::kReordering)) return;
  constexpr int kMostTries = 16;  // a library may send nothing at all
  std::vector<MessageId> left;
  auto& silent = messages().silent(to);
  int tries = 0;
  std::size_t i = 0;
  for (; i < silent.size() && tries < kMostTries && !replicas_.has_failed(); ++i) {
    const MessageId m = silent[i];
    if (messages().status(to, m) != MessageStatus::kMissing) continue;  // it came otherwise
    if (messages().has_past_of(messages()[m], to)) {
      replicas_.hand(to, m);
    } else {
      left.push_back(m);
      ++tries;
    }
  }
  left.insert(left.end(), silent.begin() + static_cast<std::ptrdiff_t>(i), silent.end());
  silent = std::move(left);
}

void AdapterSchedule::deliver_some(ReplicaId to, double chance) {
  take_silent(to);
  const auto count = static_cast<StreamId>(messages().streams().size());
  const auto first = static_cast<StreamId>(random().below(count));
  for (StreamId k = 0; k < count; ++k) {
    const StreamId s = (first + k) % count;
    // What a replica sent before a crash comes back to it.
    while (s != messages().stream_of(to) && !replicas_.has_failed() && random().chance(chance)) {
      const bool any = replicas_.has(Hazard::kReordering);
      const auto m = any ? next_of_any(to)
                     : is_reachable(messages().streams()[s].sender, to)
                         ? messages().next_causal(to, s)
                         : std::nullopt;
      if (!m) break;
      if (any && replicas_.has(Hazard::kLoss) && random().chance(kLostShare)) {
        messages().set_lost(to, *m);
        ++recorded().lost;
        continue;
      }
      replicas_.hand(to, *m);
      if (replicas_.has(Hazard::kDuplicates) && random().chance(kRepeatedShare))
        replicas_.hand(to, *m);
    }
  }
}

// Some message that did not come yet.
std::optional<MessageId> AdapterSchedule::next_of_any(ReplicaId to) {
  auto& pending = messages().pending(to);
  while (!pending.empty()) {
    std::swap(pending[random().below(pending.size())], pending.back());
    const MessageId m = pending.back();
    if (messages().status(to, m) == MessageStatus::kMissing) {
      if (!is_reachable(messages()[m].from, to)) return std::nullopt;
      pending.pop_back();
      return m;
    }
    pending.pop_back();  // it came otherwise
  }
  return std::nullopt;
}

void AdapterSchedule::change_partition(std::uint64_t now, std::uint64_t count) {
  if (now >= heals_ && heals_ > 0) heal();
  if (heals_ > 0 || options().replicas < 2 || !random().chance(kPartition)) return;
  const auto cut = 1 + random().below((std::uint64_t{1} << std::min(options().replicas, 60U)) - 2);
  for (ReplicaId r = 0; r < options().replicas; ++r) side_[r] = (cut >> (r % 60)) & 1;
  heals_ = now + 5 + random().below(std::max<std::uint64_t>(1, count / 8));
  ++recorded().partitions;
}

void AdapterSchedule::heal() {
  side_.assign(options().replicas, 0);
  heals_ = 0;
}

// Updates that nothing is concurrent to, each seen and read everywhere before the next: some
// update, and for sets and flags its opposite at another replica, and the first again. At random
// most updates are overtaken by others. How many operations that were.
std::uint64_t AdapterSchedule::calm() {
  const auto random_replica = [&] {
    return static_cast<ReplicaId>(random().below(options().replicas));
  };
  constexpr int kMostDraws = 100;
  Operation op = recorder().next(random_replica());
  for (int i = 0; is_read(op.kind) && i < kMostDraws; ++i) op = recorder().next(random_replica());
  if (is_read(op.kind)) return 0;
  arrive();
  compact_some();
  std::uint64_t count = 0;
  const bool has_opposite = op.kind == Kind::kUp || op.kind == Kind::kDown;
  for (int turn = 0; turn < (has_opposite ? 3 : 1) && !replicas_.has_failed(); ++turn) {
    replicas_.perform(op);
    arrive();
    for (ReplicaId r = 0; r < options().replicas && !replicas_.has_failed(); ++r)
      replicas_.perform(recorder().read_of(r, op.key));
    count += 1 + options().replicas;
    if (!has_opposite) break;
    const NamedType type = recorder().type_of(op.key);
    const bool removes = op.kind == Kind::kUp && !type.grow_only && type.type != Type::kGrowOnlySet;
    op.kind = removes ? Kind::kDown : Kind::kUp;
    op.replica = random_replica();
  }
  return count;
}

// Nobody can lack what is forgotten then, if nobody goes back to what it saved before.
void AdapterSchedule::compact_some() {
  if (!replicas_.has(Hazard::kCompaction)) return;
  sync_lost();
  if (!messages().has_everything()) return;
  for (ReplicaId r = 0; r < options().replicas && !replicas_.has_failed(); ++r) {
    if (random().chance(0.5)) replicas_.compact(r);
    if (replicas_.has(Hazard::kCrash) || replicas_.has(Hazard::kFiles)) replicas_.save(r);
  }
}

void AdapterSchedule::update_after_crashes() {
  constexpr int kMostDraws = 10'000;
  for (int i = 0; i < kMostDraws && !replicas_.crashed_since().empty() && !replicas_.has_failed();
       ++i) {
    const Operation op =
        recorder().next(static_cast<ReplicaId>(random().below(options().replicas)));
    if (!is_read(op.kind) && replicas_.crashed_since().contains(op.key)) replicas_.perform(op);
  }
}

// What is pending, but for what is lost.
void AdapterSchedule::arrive() {
  heal();
  for (bool more = true; more && !replicas_.has_failed();) {
    more = false;
    for (ReplicaId r = 0; r < options().replicas; ++r) {
      const auto before = recorded().delivered;
      deliver_some(r, 0.9);
      more = more || recorded().delivered > before || !has_all_but_lost(r);
    }
  }
  for (ReplicaId r = 0; r < options().replicas && !replicas_.has_failed(); ++r) take_silent(r);
}

// All replicas bring each other up to date, because what was lost does not come otherwise.
// What nobody has, because the only replica that had it crashed, is sent again.
void AdapterSchedule::sync_lost() {
  if (!replicas_.has(Hazard::kLoss)) return;
  for (MessageId m = 0; m < messages().size() && !replicas_.has_failed(); ++m) {
    bool is_gone = true;
    for (ReplicaId r = 0; r < options().replicas; ++r) {
      const auto status = messages().status(r, m);
      is_gone = is_gone && (status == MessageStatus::kLost || status == MessageStatus::kMissing);
    }
    if (is_gone && comes_by_itself(m)) replicas_.hand(messages()[m].from, m);
  }
  for (int round = 0; round < 2; ++round) {
    for (ReplicaId r = 0; r + 1 < options().replicas && !replicas_.has_failed(); ++r)
      replicas_.sync(r, r + 1);
    if (options().replicas > 2 && !replicas_.has_failed())
      replicas_.sync(options().replicas - 1, 0);
  }
  for (ReplicaId r = 0; r < options().replicas && !replicas_.has_failed(); ++r) take_silent(r);
}

void AdapterSchedule::settle() {
  arrive();
  sync_lost();
  for (ReplicaId r = 0; r < options().replicas; ++r) {
    const auto kept = messages().waiting(r);
    for (const MessageId m : kept) replicas_.hand(r, m);
  }
  for (ReplicaId r = 0; r < options().replicas && !replicas_.has_failed(); ++r) {
    report_stuck(r);
    const auto& silent = messages().silent(r);
    for (auto left = silent.size() + 1; left > silent.size() && !replicas_.has_failed();) {
      left = silent.size();
      take_silent(r);
    }
  }
}

bool AdapterSchedule::has_all_but_lost(ReplicaId r) {
  for (MessageId m = 0; m < messages().size(); ++m) {
    if (comes_by_itself(m) && messages().status(r, m) == MessageStatus::kMissing) return false;
  }
  return true;
}

// They count as applied: the library had everything that it needed.
void AdapterSchedule::report_stuck(ReplicaId r) {
  const std::vector<MessageId> kept(messages().waiting(r).begin(), messages().waiting(r).end());
  for (const MessageId m : kept) {
    if (recorded().stuck++ == 0)
      recorded().first_stuck = fmt::format("{} at replica {}", messages()[m].ids.front(), r);
    if (recorded().not_applied.size() < AdapterRecorded::kMostNamed)
      recorded().not_applied.push_back({r, messages()[m].ids.front()});
  }
  replicas_.set_applied(r, kept);
}

}  // namespace cupel::crdt
