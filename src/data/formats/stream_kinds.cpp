// Stream kinds: see the header.
#include "data/formats/stream_kinds.hpp"

#include <string>
#include <utility>

#include "data/formats/jepsen_pairs.hpp"
#include "data/formats/stream_operations.hpp"

namespace cupel::formats {

using history::TxnStatus;
using jepsen::Chunk;
using jepsen::Event;
using jepsen::F;
using jepsen::Interpreter;
using jepsen::Said;
using jepsen::Type;

jepsen::Refusal StreamKinds::take(const Chunk& chunk, const Event& event,
                                  const Interpreter::Step& step, std::optional<Said>& open,
                                  std::uint64_t place) {
  if (step.is_txn) {
    if (open) classifier_.became_transaction(*open);
    open.reset();
    if (!classifier_.any_transaction()) classifier_.transaction(place);
  } else if (event.type == Type::kInvoke) {
    open = said_by(chunk, event, place);
    if (may_become_transaction(*open)) return std::nullopt;
    classifier_.invoked(*open);
  } else {
    classifier_.ended(open ? &*open : nullptr, said_by(chunk, event, place), step.status);
    open.reset();
  }
  return decide();
}

// What was taken before stays as it was taken.
jepsen::Refusal StreamKinds::decide(bool again) {
  if (!classifier_.any() || (!again && decided_at_ == classifier_.changes())) return std::nullopt;
  decided_at_ = classifier_.changes();
  auto answer = classifier_.decide();
  if (answer.refusal) {
    refused_place_ = answer.place;
    if (!answer.is_final) *answer.refusal += kNeedsTheWhole;
    return std::move(answer.refusal);
  }
  if (answer.kinds.kind == Workload::kStrings) {
    return std::string("found f=put, append or get of a store of strings") + kNeedsTheWhole;
  }
  const bool single = answer.kinds.kind != Workload::kMutex;
  if (single && (answer.kinds.keyed ? took_plain_ : took_keyed_)) {
    return std::string(
               "found [key value] of registers with keys, and values without a key elsewhere") +
           kNeedsTheWhole;
  }
  kinds_.kind = answer.kinds.kind;
  kinds_.keyed = answer.kinds.keyed;
  kinds_.objects = std::move(answer.kinds.objects);
  return std::nullopt;
}

bool StreamKinds::may_become_transaction(const Said& open) const {
  if (open.f == F::kOther) return true;
  if (!open.nothing) return false;
  if (open.f == F::kSetup) return true;
  if (open.f == F::kRead && !as_.kind && !classifier_.any_said()) return true;
  return classifier_.any_transaction() &&
         (open.f == F::kRead || open.f == F::kWrite || open.f == F::kCas);
}

bool StreamKinds::tries_nothing(const Event& event, const std::optional<Said>& open) const {
  if (event.is_txn || !open) return false;
  if (open->f == F::kOther) return true;
  if (!open->nothing) return false;
  return may_become_transaction(*open) || kinds_.kind == Workload::kTransactions;
}

bool StreamKinds::says_what_was_done(const Chunk& chunk, const Event& event,
                                     const Interpreter::Step& step) const {
  if (step.is_txn) return event.is_txn;
  return step.status == TxnStatus::kCommitted && kinds_.kind != Workload::kMutex &&
         (event.f == F::kRead || event.f == F::kSetup || !chunk.values[event.first].is_nothing());
}

jepsen::Refusal StreamKinds::wrong_lock(const Chunk& chunk, const Event& event, TxnStatus status,
                                        bool& holds) const {
  if (kinds_.kind != Workload::kMutex || as_.kind) return std::nullopt;
  if (auto wrong = jepsen::mutex_value(chunk, event)) return wrong;
  return jepsen::mutex_step(holds, event.f == F::kAcquire, status);
}

void StreamKinds::save(history::StateWriter& out) const {
  classifier_.save(out);
  out.number(static_cast<std::uint64_t>(kinds_.kind));
  out.flag(kinds_.keyed);
  out.flag(kinds_.compares);
  out.number(kinds_.set_ups);
  out.number(kinds_.objects.size());
  for (const auto& f : kinds_.objects) out.text(f);
  out.flag(took_plain_);
  out.flag(took_keyed_);
}

void StreamKinds::load(history::StateReader& in) {
  classifier_.load(in);
  kinds_.kind = static_cast<Workload>(in.below(static_cast<std::size_t>(Workload::kStrings)));
  kinds_.keyed = in.flag();
  kinds_.compares = in.flag();
  kinds_.set_ups = in.number();
  const auto objects = in.count();
  for (std::size_t i = 0; i < objects && in.good(); ++i) kinds_.objects.emplace_back(in.text());
  took_plain_ = in.flag();
  took_keyed_ = in.flag();
}

}  // namespace cupel::formats
