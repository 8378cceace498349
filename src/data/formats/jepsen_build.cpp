// Build: see the header.
#include "data/formats/jepsen_build.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "data/formats/op_setup.hpp"

namespace cupel::formats::jepsen {

using history::KeyId;
using history::kNoTime;
using history::TxnStatus;
using history::ValueId;

KeyId Build::key_id(const Chunk& chunk, const Cell& cell) {
  if (cell.tag == Tag::kInteger) return builder_.key(cell.integer);
  return builder_.key(scalar_of(chunk, cell, text_));
}

ValueId Build::value_id(const Chunk& chunk, const Cell& cell) {
  if (cell.tag == Tag::kInteger) return builder_.value(cell.integer);
  return builder_.value(scalar_of(chunk, cell, text_));
}

void Build::note_use(KeyId key, std::uint8_t use) {
  if (key.index() >= key_use_.size()) key_use_.resize(2 * key.index() + 16);
  key_use_[key.index()] |= use;
}

Refusal Build::set_initial(history::ScalarView key, history::ScalarView value, bool is_register) {
  const KeyId id = builder_.key(key);
  builder_.set_initial(id, builder_.value(value));
  if (is_register) note_use(id, kWritten);
  return std::nullopt;
}

void Build::initial(const PairedOp& set_up) {
  const Chunk& chunk = p_.chunks[set_up.chunk];
  std::string key_text;
  for (std::uint32_t i = set_up.first; i < set_up.first + set_up.count; ++i) {
    const auto key = scalar_of(chunk, chunk.ops[i].key, key_text);
    start_with(key, scalar_of(chunk, chunk.ops[i].value, text_));
  }
}

std::vector<std::pair<std::uint32_t, std::uint32_t>> Build::writes_of(const PairedOp& op) {
  const Chunk& chunk = p_.chunks[op.chunk];
  std::vector<std::pair<std::uint32_t, std::uint32_t>> writes;
  for (std::uint32_t i = op.first; i < op.first + op.count; ++i) {
    writes.emplace_back(key_id(chunk, chunk.ops[i].key).raw,
                        value_id(chunk, chunk.ops[i].value).raw);
  }
  return writes;
}

bool Build::run(const Kinds& kinds, bool line_order) {
  kind_ = kinds.kind;
  collection_written_ = collection_held();
  if (!scan()) return false;
  const auto keys =
      std::count_if(key_use_.begin(), key_use_.end(), [](auto use) { return use != 0; });
  if (auto words = words_of(kinds, static_cast<std::uint64_t>(keys)); !words.empty())
    builder_.set_metadata("kind", words);
  if (kinds.set_ups > 0) builder_.set_metadata(kSetUp, std::to_string(kinds.set_ups));
  if (line_order) builder_.set_metadata("times", "line order");
  return emit(line_order);
}

// Interns every key, in place, and notes how it is used.
bool Build::scan() {
  for (const PairedOp& txn : p_.ops) {
    reading_.step();
    Chunk& chunk = p_.chunks[txn.chunk];
    for (std::uint32_t i = txn.first; i < txn.first + txn.count; ++i) {
      reading_.step();
      if (!scan_op(txn, chunk, chunk.ops[i])) return false;
    }
  }
  return true;
}

bool Build::scan_op(const PairedOp& txn, Chunk& chunk, MicroOp& op) {
  const auto note = [&](KeyId k, std::uint8_t use) {
    note_use(k, use);
    const auto all = key_use_[k.index()];
    return (all & kAppended) == 0 || (all & (kWritten | kScalarSeen | kInRange)) == 0;
  };
  const Micro kind = op.kind();
  if (kind == Micro::kRange) {
    if (op.value.note != 0) return true;
    for (std::size_t j = 0; j < op.value.size; ++j) {
      const Cell entry = chunk.child(chunk.child(op.value, j), 0);
      if (!note(key_id(chunk, entry), kInRange))
        return p_.fail(txn, listed_in_range(shown(chunk, entry)));
    }
    return true;
  }
  const KeyId k = key_id(chunk, op.key);
  std::uint8_t use = kWritten;
  if (kind == Micro::kWrite || kind == Micro::kInsert)
    collection_written_ = collection_written_ || is_collection(op.value);
  if (kind == Micro::kCas)
    collection_written_ = collection_written_ || is_collection(chunk.child(op.value, 1));
  if (kind == Micro::kAppend) use = kAppended;
  if (kind == Micro::kRead) {
    // A value of a transaction that did not commit may be an error of the client. [] of an unknown
    // read says that the key is a list.
    const bool committed = txn.status == TxnStatus::kCommitted, unknown = op.value.note != 0;
    use = kNullSeen;
    if (kind_ == Workload::kTransactions && op.value.is_vector()) {
      if (!txn.from_invoke && (committed || unknown)) use = kVectorSeen;
    } else if (committed && !txn.from_invoke && !unknown && !op.value.is_nothing()) {
      use = kScalarSeen;
    }
  }
  if (!note(k, use)) {
    if ((key_use_[k.index()] & (kWritten | kScalarSeen)) == 0)
      return p_.fail(txn, listed_in_range(shown(chunk, op.key)));
    return p_.fail(txn, used_as_both(shown(chunk, op.key)));
  }
  const auto kept = op.key.note;
  op.key = Cell::of(k.raw);
  op.key.note = kept;
  return true;
}

bool Build::emit_read(const PairedOp& txn, const Chunk& chunk, const MicroOp& op, KeyId key) {
  const bool committed = txn.status == TxnStatus::kCommitted;
  const bool known =
      op.value.note == 0 && (committed || !op.value.is_nothing()) && !txn.from_invoke;
  const auto use = key_use_[key.index()];
  const bool list = (use & kAppended) != 0 ||
                    ((use & kVectorSeen) != 0 && (use & (kWritten | kScalarSeen | kInRange)) == 0);
  if (!list) {
    if (committed && known && !collection_written_ && is_collection(op.value) && !stated_)
      return p_.fail(txn, collection_read(shown(chunk, op.value), kind_));
    builder_.read(key, known ? value_id(chunk, op.value) : ValueId::none());
    return true;
  }
  if (!known || (!op.value.is_vector() && !op.value.is_nothing())) {
    builder_.list_read_unknown(key);
    return true;
  }
  list_.clear();
  for (std::size_t i = 0; i < op.value.size; ++i) {
    list_.push_back(value_id(chunk, chunk.child(op.value, i)));
  }
  builder_.list_read(key, list_);
  return true;
}

bool Build::emit_range(const PairedOp& txn, const Chunk& chunk, const MicroOp& op) {
  if (op.value.note != 0) return true;  // its result is not known, so it says nothing
  range_.clear();
  if (op.value.is_nothing() && txn.status == TxnStatus::kCommitted) {
    return p_.fail(txn, kRangeWithoutResult);
  }
  for (std::size_t i = 0; i < op.value.size; ++i) {
    const Cell entry = chunk.child(op.value, i);
    const Cell name = chunk.child(entry, 0), value = chunk.child(entry, 1);
    const KeyId key = key_id(chunk, name);
    // An empty list of a key that nothing wrote is what a list holds at first.
    const bool written = starts_as_collection() || (key_use_[key.index()] & kWritten) != 0;
    const bool list = !collection_written_ || (value.is_vector() && value.size == 0 && !written);
    if (list && !stated_ && is_collection(value))
      return p_.fail(txn, collection_row(shown(chunk, name), shown(chunk, value), kind_));
    range_.push_back({key, value_id(chunk, value)});
  }
  builder_.range_read(value_id(chunk, chunk.child(op.key, 0)),
                      value_id(chunk, chunk.child(op.key, 1)), range_);
  return true;
}

bool Build::emit_op(const PairedOp& txn, const Chunk& chunk, const MicroOp& op) {
  const Micro kind = op.kind();
  if (kind == Micro::kRange) return emit_range(txn, chunk, op);
  const KeyId k(static_cast<std::uint32_t>(op.key.integer));
  switch (kind) {
    case Micro::kRead:
      return emit_read(txn, chunk, op, k);
    case Micro::kWrite:
      builder_.write(k, value_id(chunk, op.value));
      break;
    case Micro::kAppend:
      builder_.append(k, value_id(chunk, op.value));
      break;
    case Micro::kInsert:
      builder_.insert(k, value_id(chunk, op.value));
      break;
    case Micro::kDelete:
      builder_.erase(k, value_id(chunk, op.value));
      break;
    case Micro::kCas:
      builder_.compare_and_set(k, value_id(chunk, chunk.child(op.value, 0)),
                               value_id(chunk, chunk.child(op.value, 1)), op.value.note == 0);
      break;
    case Micro::kRange:
      break;
  }
  return true;
}

bool Build::emit(bool line_order) {
  const auto time = [&](Ref ref) {
    if (!ref.valid()) return kNoTime;
    return line_order ? static_cast<history::Time>(p_.ordinal(ref)) : p_.event(ref).time;
  };
  const auto last_of = last_of_chunks();
  for (std::size_t t = 0; t < p_.ops.size(); ++t) {
    const PairedOp& txn = p_.ops[t];
    reading_.step();
    builder_.begin(history::SessionId(txn.session), txn.status,
                   {.invoke = time(txn.invoke),
                    .complete = time(txn.completion),
                    .label = label_of(p_.event(txn), p_.ordinal(txn.anchor()))});
    const Chunk& chunk = p_.chunks[txn.chunk];
    for (std::uint32_t i = txn.first; i < txn.first + txn.count; ++i) {
      reading_.step();
      if (!emit_op(txn, chunk, chunk.ops[i])) return false;
    }
    builder_.end();
    for (const Ref ref : {txn.invoke, txn.completion}) {
      if (ref.valid() && last_of[ref.chunk] == t) p_.chunks[ref.chunk] = Chunk();
    }
  }
  return true;
}

// The last transaction that needs a chunk, by chunk. So what is read and what is built are not in
// memory at once. Of mutexes and strings all stay, since their operations borrow text.
std::vector<std::size_t> Build::last_of_chunks() const {
  std::vector<std::size_t> last(p_.chunks.size(), p_.ops.size());
  if (kind_ == Workload::kMutex || kind_ == Workload::kStrings) return last;
  for (std::size_t t = 0; t < p_.ops.size(); ++t) {
    for (const Ref ref : {p_.ops[t].invoke, p_.ops[t].completion}) {
      if (ref.valid()) last[ref.chunk] = t;
    }
  }
  return last;
}

}  // namespace cupel::formats::jepsen
