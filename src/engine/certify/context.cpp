// Context: see the header.
#include "engine/certify/context.hpp"

#include <fmt/format.h>

#include <iterator>

namespace cupel::certify {

using history::OpKind;

void Context::forget() {
  by_read_.clear();
  shared_.clear();
  kept_.clear();
}

void Context::assume(TxnId t, AssumedOutcome outcome) {
  assumed_[t] = outcome;
  forget();
}
void Context::place(KeyId key, std::uint32_t position, OpId append) {
  places_[{key.raw, position}] = append;
  place_of_[append] = position;
  forget();
}
void Context::unplace(KeyId key, std::uint32_t position) {
  place_of_.erase(placed(key, position));
  places_.erase({key.raw, position});
  forget();
}

OpId Context::placed(KeyId key, std::size_t position) const {
  const auto it = places_.find({key.raw, static_cast<std::uint32_t>(position)});
  return it == places_.end() ? OpId::none() : it->second;
}

std::optional<std::uint32_t> Context::place_of(OpId append) const {
  const auto it = place_of_.find(append);
  if (it == place_of_.end()) return std::nullopt;
  return it->second;
}

OpId Context::append_at(KeyId key, std::size_t position, ValueId element) const {
  if (const OpId said = placed(key, position); said.valid()) return said;
  OpId only;
  for (const auto& w : subject_.written(key, element)) {
    if (!counts(w.txn)) continue;
    if (only.valid()) return OpId::none();
    only = w.op;
  }
  return only;
}

std::vector<External> Context::external_reads(TxnId t, KeyId key) const {
  std::vector<External> reads;
  if (!reads_known(t)) return reads;
  for (auto i = history().first_op(t); i < history().last_op(t); ++i) {
    const OpId id(i);
    const auto op = history().op(id);
    if (op.kind == OpKind::kRangeRead || op.key == key) {
      subject_.for_each_seen(t, id, [&](KeyId k, const Seen& seen) {
        if (k == key) reads.push_back({id, seen});
      });
    }
    if (op.key == key && subject_.writes(op)) break;
  }
  return reads;
}

// All that count and whose final write fits, the reader perhaps among them; sorted.
std::vector<TxnId> Context::fitting(KeyId key, const Seen& seen) const {
  std::vector<TxnId> found;
  const auto null = history().null_value();
  if (seen.what == Seen::kList) {
    if (seen.list.empty()) return {TxnId::none()};
    const OpId last = append_at(key, seen.list.size() - 1, seen.list.back());
    for (const auto& w : subject_.written(key, seen.list.back())) {
      if (w.final && counts(w.txn) && (!last.valid() || w.op == last)) found.push_back(w.txn);
    }
  } else {
    const auto some =
        seen.what == Seen::kValue ? subject_.written(key, seen.value) : subject_.written(key);
    for (const auto& w : some) {
      if (w.final && counts(w.txn) && seen.fits(subject_.version(w.op), null))
        found.push_back(w.txn);
    }
    if (seen.fits(subject_.initial(key), null)) found.push_back(TxnId::none());
  }
  std::sort(found.begin(), found.end());
  return found;
}

std::vector<TxnId> Context::candidates_alone(TxnId t, KeyId key, const Seen& seen) const {
  auto found = fitting(key, seen);
  std::erase(found, t);
  return found;
}

// Reads that ask the same share one list. Lists of elements do so at one length, if
// they are prefixes of one list; if not, no execution is possible anyway.
std::span<const TxnId> Context::shared(KeyId key, const Seen& seen) {
  if (seen.what == Seen::kList) return kept_.emplace_back(fitting(key, seen));
  const auto [it, fresh] =
      shared_.try_emplace({static_cast<std::uint32_t>(seen.what), key.raw, seen.value.raw});
  if (fresh) it->second = kept_.emplace_back(fitting(key, seen));
  return it->second;
}

Context::Asked Context::candidates(OpId read, KeyId key) {
  const TxnId t = subject_.txn_of(read);
  if (const auto it = by_read_.find({read.raw, key.raw}); it != by_read_.end())
    return {std::nullopt, t, it->second};
  const auto wrong = [&](std::string_view what) {
    return Asked{fmt::format("operation {} {}", read.raw, what)};
  };
  const auto reads = external_reads(t, key);
  const auto it =
      std::find_if(reads.begin(), reads.end(), [read](const External& r) { return r.op == read; });
  if (it == reads.end()) {
    return wrong(
        fmt::format("is not known to read {} from another transaction", shown_key(subject_, key)));
  }
  const bool alone = shape_.phi == Phi::kEarlierRead;
  if (!alone && it != reads.begin())
    return wrong("is not the first of its transaction to read the key");
  Candidates found{shared(key, it->seen), t};
  if (!alone) {
    for (const External& other : std::span(reads).subspan(1)) {
      const auto also = shared(key, other.seen);
      if (also.data() == found.all.data()) continue;
      std::vector<TxnId> both;
      std::set_intersection(found.all.begin(), found.all.end(), also.begin(), also.end(),
                            std::back_inserter(both));
      found.all = kept_.emplace_back(std::move(both));
    }
  }
  by_read_[{read.raw, key.raw}] = found;
  return {std::nullopt, t, found};
}

}  // namespace cupel::certify
