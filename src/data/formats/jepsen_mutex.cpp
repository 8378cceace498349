// Mutex: acquires and releases as compare-and-sets of one key. A mutex has one owner and is not
// reentrant. Other locks use the same words: semaphores, whose values are permits, locks with
// fencing tokens, named locks, and locks that their owner may acquire again. As a mutex their
// histories would be violations, so they are refused.
#include <fmt/format.h>

#include "base/hash_table.hpp"
#include "data/formats/jepsen_pairs.hpp"

namespace cupel::formats::jepsen {

using history::TxnStatus;

Refusal mutex_value(const Chunk& chunk, const Event& event) {
  const Cell value = chunk.values[event.first];
  const bool says = event.type == Type::kInvoke || event.type == Type::kOk;  // it may be an error
  if (!says || value.is_nothing()) return std::nullopt;
  return fmt::format(
      "found f={} with the value {}, expected none for a mutex: permits are those of a semaphore, "
      "other values name a lock, its owner or a fencing token, and cupel does not check such "
      "locks. If the value means nothing, add --kind mutex",
      word(chunk, event), shown(chunk, value));
}

Refusal mutex_step(bool& holds, bool acquire, TxnStatus status) {
  if (acquire && status == TxnStatus::kCommitted && holds) {
    return "one process acquires the lock twice without a release between: a reentrant lock, which "
           "cupel does not check. If it is a mutex, for which this is a violation, add --kind "
           "mutex";
  }
  if (!acquire || status == TxnStatus::kCommitted) holds = acquire;
  return std::nullopt;
}

bool resolve_mutex(Pairs& pairs, Reading& reading, bool stated) {
  base::HashMap<std::uint32_t, bool> holds;  // by session, until it tries to release
  const Cell mutex = Cell::of(Tag::kString, kMutexKey), held = Cell::of(Tag::kString, kHeld);
  for (PairedOp& op : pairs.ops) {
    reading.step();
    const Event& event = pairs.event(op);
    const bool acquire = event.f == F::kAcquire;
    if (!stated) {
      for (const Ref ref : {op.invoke, op.completion}) {
        if (!ref.valid()) continue;
        const Event& said = pairs.event(ref);
        if (auto wrong = mutex_value(pairs.chunks[ref.chunk], said))
          return pairs.fail(said.byte, *std::move(wrong));
      }
      if (auto wrong = mutex_step(holds[op.session], acquire, op.status))
        return pairs.fail(event.byte, *std::move(wrong));
    }
    pairs.extra_cas(op, mutex, acquire ? Cell::null() : held, acquire ? held : Cell::null());
  }
  return true;
}

}  // namespace cupel::formats::jepsen
