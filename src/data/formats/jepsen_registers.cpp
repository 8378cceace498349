// Registers: each operation as a micro-operation, in the cells of its chunk. The operation of an ok
// counts, else that of the invocation, else that of the completion.
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "data/formats/jepsen_pairs.hpp"
#include "data/formats/op_pairing.hpp"

namespace cupel::formats::jepsen {

namespace {

using history::TxnStatus;

bool resolve_register(Pairs& p, PairedOp& op, Kinds& kinds, bool failed_cas_was_seen) {
  const bool ok = op.status == TxnStatus::kCommitted;
  const bool read = p.event(op).f == F::kRead;
  Ref from = ok ? op.completion : op.tried();
  if (ok && !read && p.value(from).is_nothing() && op.invoke.valid()) from = op.invoke;
  Chunk& chunk = p.chunks[from.chunk];
  // A read that did not end well, and never named its key, says nothing; nor does such a set-up.
  const bool set_up = p.event(op).f == F::kSetup;
  if (!ok && p.value(from).is_nothing() &&
      (set_up || (read && kinds.kind == Workload::kTransactions))) {
    op.chunk = from.chunk;
    return true;
  }
  auto found = register_operation(chunk, p.event(from), kinds.keyed);
  if (found.refusal) return p.fail(op, *found.refusal);
  if (ok && from.chunk == op.completion.chunk && from.event == op.completion.event &&
      op.invoke.valid() && !p.value(op.invoke).is_nothing()) {
    const Chunk& tried_in = p.chunks[op.invoke.chunk];
    const auto tried = register_operation(tried_in, p.event(op.invoke), kinds.keyed);
    auto refused =
        tried.refusal ? tried.refusal : register_disagreement(tried_in, tried.op, chunk, found.op);
    if (refused) return p.fail(op, *std::move(refused));
  }
  if (!ok && op.invoke.valid() && op.completion.valid() && !p.value(op.invoke).is_nothing() &&
      !p.value(op.completion).is_nothing()) {
    const Chunk& done_in = p.chunks[op.completion.chunk];
    const auto done = register_operation(done_in, p.event(op.completion), kinds.keyed);
    std::array<std::string, 3> tried_texts, done_texts;
    if (!done.refusal) {  // else an error of the client
      auto refused = other_attempt(p.event(op.completion), kinds.keyed,
                                   attempt_of(chunk, found.op, tried_texts),
                                   attempt_of(done_in, done.op, done_texts));
      if (refused) return p.fail(op, *std::move(refused));
    }
  }
  if (read && !ok) found.op.value = Cell::null();
  const bool compares = found.op.kind() == Micro::kCas;
  kinds.compares = kinds.compares || compares;
  found.op.value.note = read && !ok ? 1 : 0;
  if (compares && failed_cas_was_seen && op.status == TxnStatus::kAborted &&
      p.value(op.completion).is_vector()) {
    op.status = TxnStatus::kCommitted;
    found.op.value.note = 1;
  }
  // Without an invocation, the value may be an error.
  const bool unsure = found.op.value.is_nothing() || !op.invoke.valid();
  if (op.status == TxnStatus::kIndeterminate && !read && unsure) p.note_unsaid(p.event(op).byte);
  op.chunk = from.chunk;
  op.first = static_cast<std::uint32_t>(chunk.ops.size());
  op.count = 1;
  op.from_invoke = false;
  chunk.ops.push_back(found.op);
  return true;
}

}  // namespace

bool resolve_registers(Pairs& pairs, Reading& reading, Kinds& kinds, bool failed_cas_was_seen) {
  SaidAtTheEnd writes;  // null is no value if an ok says another one
  const auto says = [&](Ref ref) { return ref.valid() && !pairs.value(ref).is_nothing(); };
  for (PairedOp& op : pairs.ops) {
    reading.step();
    if (op.is_txn) continue;
    if (pairs.event(op).f == F::kWrite) {
      const bool may_be_error = op.invoke.valid() && op.status != TxnStatus::kCommitted;
      writes.note(op.status, says(op.invoke), !may_be_error && says(op.completion),
                  pairs.event(op.tried()).byte);
    }
    if (!resolve_register(pairs, op, kinds, failed_cas_was_seen)) return false;
  }
  const auto unknowable = writes.unknowable();
  return !unknowable || pairs.fail(*unknowable, kUnsaidWrite);
}

}  // namespace cupel::formats::jepsen
