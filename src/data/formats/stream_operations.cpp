// Stream operations: see the header.
#include "data/formats/stream_operations.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "data/formats/jepsen_pairs.hpp"

namespace cupel::formats {

using history::Key;
using history::Operations;
using history::OpKind;
using history::ScalarView;
using history::Value;
using jepsen::Cell;
using jepsen::F;
using jepsen::Micro;
using jepsen::MicroOp;

Key StreamOperations::key_of(ScalarView name) {
  const Key key = sink_.key_of(name);
  keys_ = std::max<std::uint64_t>(keys_, key + std::uint64_t{1});
  return key;
}

Key StreamOperations::key_of(const Chunk& chunk, const Cell& cell) {
  return key_of(scalar_of(chunk, cell, text_));
}

Value StreamOperations::value_of(const Chunk& chunk, const Cell& cell, Operations& out) {
  return out.keep(scalar_of(chunk, cell, text_));
}

jepsen::Refusal StreamOperations::use(Key key, std::uint8_t as) {
  return setting_up_ ? std::nullopt : claim(key, as);
}

jepsen::Refusal StreamOperations::claim(Key key, std::uint8_t as) {
  if (sink_.use(key, as) != (StreamSink::kRegister | StreamSink::kList)) return std::nullopt;
  auto refusal = jepsen::used_as_both(sink_.name_of(key).to_string());
  // Of a key that only reads show to be a list, the whole file decides.
  if (as == StreamSink::kRegister) refusal += kNeedsTheWhole;
  return refusal;
}

void StreamOperations::note_written(const Cell& value) {
  collection_written_ = collection_written_ || jepsen::is_collection(value);
}

jepsen::Refusal StreamOperations::take(const Chunk& chunk, const Event& event, bool seen,
                                       jepsen::Kinds& kinds, Operations& out) {
  out.clear();
  if (vector_of_register_ && kinds.kind == Workload::kTransactions) {
    return std::string(
               "found a transaction after a read of a register that returned a vector, which may "
               "have been a list") +
           kNeedsTheWhole;
  }
  invocation_ = event.type == jepsen::Type::kInvoke;
  if (!event.is_txn) return single(chunk, event, seen, kinds, out);
  for (auto i = event.first; i < event.first + event.count; ++i) {
    if (auto refused = operation(chunk, chunk.ops[i], seen, kinds.kind, out)) return refused;
  }
  return std::nullopt;
}

jepsen::Refusal StreamOperations::single(const Chunk& chunk, const Event& event, bool seen,
                                         jepsen::Kinds& kinds, Operations& out) {
  if (kinds.kind == Workload::kMutex) return mutex(chunk, event, out);
  auto found = jepsen::register_operation(chunk, event, kinds.keyed);
  if (found.refusal) {
    // A value without a key may come, and the outcome may say what an invocation does not.
    const bool open = kinds.keyed || event.type == jepsen::Type::kInvoke;
    if (open) *found.refusal += kNeedsTheWhole;
    return std::move(found.refusal);
  }
  // A later transaction may show that a key is a list; reading null says nothing of this.
  if (kinds.kind == Workload::kRegisters && found.op.kind() != Micro::kRead) {
    if (auto refused = use(key_of(chunk, found.op.key), StreamSink::kRegister)) return refused;
  }
  kinds.compares = kinds.compares || found.op.kind() == Micro::kCas;
  return operation(chunk, found.op, seen, kinds.kind, out);
}

jepsen::Refusal StreamOperations::disagreement(const Chunk& chunk, const Event& event,
                                               const jepsen::Kinds& kinds,
                                               const Operations& tried) const {
  if (event.is_txn || tried.size() != 1 || kinds.kind == Workload::kMutex ||
      jepsen::object_of(event.f) != Workload::kRegisters || chunk.values[event.first].is_nothing())
    return std::nullopt;
  const auto done = jepsen::register_operation(chunk, event, kinds.keyed);
  if (done.refusal) return std::nullopt;  // an error of the client
  const auto& op = tried.all()[0];
  std::array<std::string, 3> texts;
  return jepsen::other_attempt(
      event, kinds.keyed,
      {.key = sink_.name_of(op.key), .value = tried.view(op.value), .other = tried.view(op.other)},
      attempt_of(chunk, done.op, texts));
}

jepsen::Refusal StreamOperations::mutex(const Chunk& chunk, const Event& event, Operations& out) {
  if (!as_.kind) {
    if (auto wrong = jepsen::mutex_value(chunk, event)) return wrong;
  }
  const Key key = key_of(ScalarView::of(jepsen::kMutexKey));
  if (auto refused = use(key, StreamSink::kRegister)) return refused;
  const auto free = out.keep(ScalarView::null()), held = out.keep(ScalarView::of(jepsen::kHeld));
  const bool acquire = event.f == F::kAcquire;
  out.compare_and_set(key, acquire ? free : held, acquire ? held : free, /*succeeded=*/true);
  return std::nullopt;
}

jepsen::Refusal StreamOperations::operation(const Chunk& chunk, const MicroOp& op, bool seen,
                                            Workload kind, Operations& out) {
  if (op.kind() == Micro::kRange) return range_read(chunk, op, seen, kind, out);
  if (op.kind() == Micro::kRead) return read(chunk, op, seen, kind, out);
  const Key key = key_of(chunk, op.key);
  const auto as = op.kind() == Micro::kAppend ? StreamSink::kList : StreamSink::kRegister;
  if (auto refused = use(key, as)) return refused;
  const auto write = [&](OpKind as_kind) {
    out.write(as_kind, key, value_of(chunk, op.value, out));
  };
  switch (op.kind()) {
    case Micro::kInsert:
    case Micro::kWrite:
      note_written(op.value);
      write(op.kind() == Micro::kWrite ? OpKind::kWrite : OpKind::kInsert);
      break;
    case Micro::kDelete:
      write(OpKind::kDelete);
      break;
    case Micro::kAppend:
      write(OpKind::kAppend);
      break;
    default: {
      note_written(chunk.child(op.value, 1));
      const auto expected = value_of(chunk, chunk.child(op.value, 0), out);
      out.compare_and_set(key, expected, value_of(chunk, chunk.child(op.value, 1), out),
                          op.value.note == 0);
    }
  }
  return std::nullopt;
}

jepsen::Refusal StreamOperations::range_read(const Chunk& chunk, const MicroOp& op, bool seen,
                                             Workload kind, Operations& out) {
  if (op.value.note != 0) return std::nullopt;  // its result is not known, so it says nothing
  if (op.value.is_nothing() && seen) return jepsen::kRangeWithoutResult;
  const auto low = value_of(chunk, chunk.child(op.key, 0), out);
  out.range_read(low, value_of(chunk, chunk.child(op.key, 1), out));
  for (std::size_t i = 0; i < op.value.size; ++i) {
    const Cell entry = chunk.child(op.value, i);
    const Cell name = chunk.child(entry, 0), value = chunk.child(entry, 1);
    const Key key = key_of(chunk, name);
    const auto before = sink_.use(key, 0);
    if ((before & StreamSink::kList) != 0)
      return jepsen::listed_in_range(shown(chunk, name)) + kNeedsTheWhole;
    // The key may be a list that is empty, unless a write of it comes.
    const bool empty = value.is_vector() && value.size == 0;
    const bool list = !collection_written_ || (empty && !starts_as_collection_);
    if (list && jepsen::is_collection(value) && !as_.kind) {
      return jepsen::collection_row(shown(chunk, name), shown(chunk, value), kind) + kNeedsTheWhole;
    }
    if (auto refused = use(key, StreamSink::kRegister)) return refused;
    out.entry(key, value_of(chunk, value, out));
  }
  return std::nullopt;
}

jepsen::Refusal StreamOperations::read(const Chunk& chunk, const MicroOp& op, bool seen,
                                       Workload kind, Operations& out) {
  const Key key = key_of(chunk, op.key);
  const bool known = seen && op.value.note == 0;
  const bool answer = seen || (!invocation_ && op.value.note != 0);
  const bool vector = answer && op.value.is_vector() && kind == Workload::kTransactions;
  if (vector && (sink_.use(key, 0) & StreamSink::kRegister) == 0) {
    sink_.use(key, StreamSink::kList);
    out.list_read(key, known);
    for (std::size_t i = 0; known && i < op.value.size; ++i)
      out.element(value_of(chunk, chunk.child(op.value, i), out));
    return std::nullopt;
  }
  if (known && !op.value.is_nothing()) {
    if (auto refused = claim(key, StreamSink::kRegister)) return refused;
  }
  if (known && !collection_written_ && jepsen::is_collection(op.value) && !as_.kind)
    return jepsen::collection_read(shown(chunk, op.value), kind) + kNeedsTheWhole;
  vector_of_register_ = vector_of_register_ || (known && op.value.is_vector() && !vector);
  out.read(key, value_of(chunk, op.value, out), known);
  return std::nullopt;
}

void StreamOperations::save(history::StateWriter& out) const {
  out.flag(setting_up_);
  out.flag(collection_written_);
  out.flag(starts_as_collection_);
  out.flag(vector_of_register_);
  out.number(keys_);
}

void StreamOperations::load(history::StateReader& in) {
  setting_up_ = in.flag();
  collection_written_ = in.flag();
  starts_as_collection_ = in.flag();
  vector_of_register_ = in.flag();
  keys_ = in.number();
}

}  // namespace cupel::formats
