// Mutex: acquires and releases as compare-and-sets of one key. A mutex has one owner and is not
// reentrant. Other locks use the same words: semaphores, whose values are permits, locks with
// fencing tokens, named locks, and locks that their owner may acquire again. As a mutex their
// histories would be violations, so they are refused.
#include <fmt/format.h>

#include "base/hash_table.hpp"
#include "formats/jepsen_pairs.hpp"

namespace cupel::formats::jepsen {

namespace {

using history::TxnStatus;

bool refuse_value(Pairs& pairs, const PairedOp& op) {
  for (const Ref ref : {op.invoke, op.completion}) {
    if (!ref.valid() || pairs.value(ref).is_nothing()) continue;
    const Event& event = pairs.event(ref);
    if (event.type != Type::kInvoke && event.type != Type::kOk) continue;  // it may be an error
    const Chunk& chunk = pairs.chunks[ref.chunk];
    return pairs.fail(
        event.byte,
        fmt::format(
            "found f={} with the value {}, expected none for a mutex: permits are those of "
            "a semaphore, other values name a lock, its owner or a fencing token, and cupel "
            "does not check such locks. If the value means nothing, add --kind mutex",
            word(chunk, event), shown(chunk, pairs.value(ref))));
  }
  return true;
}

}  // namespace

bool resolve_mutex(Pairs& pairs, Reading& reading, bool stated) {
  base::HashMap<std::uint32_t, bool> holds;  // by session, until it tries to release
  const Cell mutex = Cell::of(Tag::kString, "mutex"), held = Cell::of(Tag::kString, "held");
  for (PairedOp& op : pairs.ops) {
    reading.step();
    const Event& event = pairs.event(op);
    const bool acquire = event.f == F::kAcquire;
    if (!stated) {
      if (!refuse_value(pairs, op)) return false;
      if (acquire && op.status == TxnStatus::kCommitted && holds[op.session]) {
        return pairs.fail(
            event.byte,
            "one process acquires the lock twice without a release between: a reentrant lock, "
            "which cupel does not check. If it is a mutex, for which this is a violation, add "
            "--kind mutex");
      }
      if (!acquire || op.status == TxnStatus::kCommitted) holds[op.session] = acquire;
    }
    pairs.extra_cas(op, mutex, acquire ? Cell::null() : held, acquire ? held : Cell::null());
  }
  return true;
}

}  // namespace cupel::formats::jepsen
