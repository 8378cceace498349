// From events to a History. In order:
//   pair     invocations with completions, process by process
//   classify what kind of history this is: transactions, a register, a mutex or
//            a string key-value store; anything else is refused by name
//   resolve  for the single-object kinds, what each pair did as micro-operations
//   scan     which keys are lists: the history decides, not the format
//   emit     transactions into the builder, in the order of their completions
// Linear in the events and operations.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <utility>

#include "base/hash_table.hpp"
#include "formats/formats.hpp"
#include "formats/jepsen_events.hpp"
#include "formats/jepsen_faults.hpp"
#include "formats/jepsen_pairs.hpp"
#include "formats/op_pairing.hpp"
#include "history/builder.hpp"
#include "history/starts_empty.hpp"

namespace cupel::formats::jepsen {

namespace {

using history::KeyId;
using history::kNoTime;
using history::ScalarView;
using history::TxnStatus;
using history::ValueId;

class Assembly {
 public:
  Assembly(std::vector<Chunk> chunks, const Source& source, Reading reading)
      : source_(source), reading_(reading) {
    p_.chunks = std::move(chunks);
  }

  base::Result<history::History> run() {
    for (const Chunk& chunk : p_.chunks) {
      if (chunk.error) return error_at(source_, *chunk.error);
    }
    if (!pair() || !classify() || !resolve() || !scan() || !emit())
      return error_at(source_, *p_.error);
    if (source_.cut) {
      if (!all_invoked_) {
        return error_at(
            source_, {*source_.cut,
                      "found a map without its closing }: the file was cut while it was written; "
                      "since its operations have no invocations, values that were read may have "
                      "been written in the lost part"});
      }
      builder_.set_metadata("cut",
                            "the file was cut while it was written; its incomplete last line "
                            "is left out");
    }
    builder_.set_metadata("format", source_.format);
    auto built = std::move(builder_).finish();
    if (!built) {
      auto error = std::move(built).error();
      error.file = source_.file;
      return error;
    }
    return built;
  }

 private:
  static constexpr std::uint32_t kNone = Ref::kNone;
  struct Process {
    OpenOperation rules;
    Ref pending;
    std::uint32_t session = kNone;
  };
  // Of the operations that are no transactions.
  struct Shapes {
    std::map<std::string, std::uint64_t> count, first;  // by f: of op maps; the first one's byte
    std::vector<std::string> names;                     // in the order of the file
    bool pairs = false, plain = false;
    bool collections_read = false, collections_written = false;
    bool reads_without_key = false;  // a read was invoked with null
  };

  void note_use(KeyId key, std::uint8_t use) {
    if (key.index() >= key_use_.size()) key_use_.resize(2 * key.index() + 16);
    key_use_[key.index()] |= use;
  }
  void note_write(KeyId key, bool collection) {
    note_use(key, kWritten);
    collection_written_ = collection_written_ || collection;
  }

  bool read_header(const Chunk& chunk, const Event& event);
  bool pair();
  bool pair_event(Ref ref, Process& process);
  std::uint32_t session_of(const Event& e, Ref ref, Process& process);
  bool add(PairedOp op, TxnStatus status);

  Shapes shapes_of_objects();
  bool classify();
  bool as_transactions(const Shapes& shapes);
  bool refuse(const Shapes& shapes, std::string_view guess);
  void say_how_it_was_read();

  bool resolve();
  bool resolve_register(PairedOp& op);

  bool scan();
  bool emit();
  [[nodiscard]] std::vector<std::size_t> last_of_chunks() const;
  KeyId key_id(const Chunk& chunk, const Cell& cell);
  ValueId value_id(const Chunk& chunk, const Cell& cell);
  bool emit_op(const PairedOp& txn, const Chunk& chunk, const MicroOp& op);
  bool emit_read(const PairedOp& txn, const Chunk& chunk, const MicroOp& op, KeyId key);
  template <typename Use>
  auto with_scalar(const Chunk& chunk, const Cell& cell, Use&& use);

  static constexpr std::uint8_t kAppended = 1, kVectorSeen = 2, kScalarSeen = 4, kWritten = 8,
                                kNullSeen = 16;

  Pairs p_;
  Source source_;
  Reading reading_;
  history::HistoryBuilder builder_;
  Workload kind_ = Workload::kTransactions;
  bool independent_ = false;  // values of registers are [key value]
  Faults faults_;
  std::map<std::string, std::uint64_t> ignored_;  // by f: of op maps
  std::vector<std::string> objects_;              // f of single operations beside transactions
  bool compares_ = false;                         // some register has a compare-and-set

  bool all_invoked_ = true;  // every completion has its invocation line
  bool anonymous_ = false;   // some event has no process
  bool timed_ = false;       // some event has a time
  bool collection_written_ = false;
  bool nothing_happened_ = false;  // as the header says, which cupel wrote of an empty run
  std::vector<std::uint8_t> key_use_;
  std::vector<ValueId> list_;
  std::vector<history::RangeEntry> range_;
};

template <typename Use>
auto Assembly::with_scalar(const Chunk& chunk, const Cell& cell, Use&& use) {
  switch (cell.tag) {
    case Tag::kAbsent:
    case Tag::kNull:
      return use(ScalarView::null());
    case Tag::kInteger:
      return use(ScalarView::of(cell.integer));
    case Tag::kString:
      return use(ScalarView::of(cell.view()));
    case Tag::kKeyword:
      return use(ScalarView::keyword(cell.view()));
    case Tag::kLiteral:
    case Tag::kMap:
      return use(ScalarView::literal(cell.view()));
    case Tag::kVector:
    case Tag::kIntegers:
      break;
  }
  std::string text;
  canonical(chunk, cell, text);
  return use(ScalarView::literal(text));
}

// A header line of our own: initial values, metadata, or the order of sessions.
bool Assembly::read_header(const Chunk& chunk, const Event& e) {
  const Cell value = chunk.values[e.first];
  const auto malformed = [&] { return p_.fail(e.byte, jepsen::malformed_header(e.f)); };
  if (value.tag != Tag::kVector) return malformed();
  if (e.f == F::kMetadata) {
    for (std::size_t i = 0; i < value.size; ++i) {
      const Cell pair = chunk.child(value, i);
      if (pair.tag != Tag::kVector || pair.size != 2) return malformed();
      const Cell name = chunk.child(pair, 0), text = chunk.child(pair, 1);
      if (name.tag != Tag::kString || text.tag != Tag::kString) return malformed();
      builder_.set_metadata(name.view(), text.view());
      nothing_happened_ = nothing_happened_ || name.view() == kNothingHappened;
    }
    return true;
  }
  if (e.f == F::kSessions) {
    for (std::size_t i = 0; i < value.size; ++i) {
      const Cell name = chunk.child(value, i);
      if (name.tag != Tag::kString) return malformed();
      builder_.session(name.view());
    }
    return true;
  }
  if (value.size != 2 || !chunk.child(value, 1).is_vector()) return malformed();
  builder_.set_default_initial(value_id(chunk, chunk.child(value, 0)));
  collection_written_ = collection_written_ || is_collection(chunk.child(value, 0));
  const Cell pairs = chunk.child(value, 1);
  base::HashSet<KeyId> keys;
  for (std::size_t i = 0; i < pairs.size; ++i) {
    const Cell pair = chunk.child(pairs, i);
    if (!pair.is_vector() || pair.size != 2) return malformed();
    const KeyId key = key_id(chunk, chunk.child(pair, 0));
    const Cell initial = chunk.child(pair, 1);
    if (!keys.insert(key).second) {
      return p_.fail(e.byte,
                     "found two initial values of key " + shown(chunk, chunk.child(pair, 0)));
    }
    builder_.set_initial(key, value_id(chunk, initial));
    if (!with_scalar(chunk, initial, history::starts_empty))
      note_write(key, is_collection(initial));
  }
  return true;
}

bool Assembly::pair() {
  history::ScalarTable ids;
  std::vector<Process> processes;
  std::uint64_t count = 0;
  for (const Chunk& chunk : p_.chunks) {
    p_.first_ordinal.push_back(count);
    count += chunk.events.size();
  }
  p_.ops.reserve(count / 2 + 1);
  const bool ignores = !source_.as.ignore.empty();
  for (std::uint32_t c = 0; c < p_.chunks.size(); ++c) {
    const Chunk& chunk = p_.chunks[c];
    for (std::uint32_t i = 0; i < chunk.events.size(); ++i) {
      reading_.step();
      const Event& e = chunk.events[i];
      if (e.is_header()) {
        if (!read_header(chunk, e)) return false;
        continue;
      }
      if (e.nemesis) faults_.note(chunk, e);
      if (!e.client) continue;
      if (ignores && source_.as.ignores(word(chunk, e))) {
        ++ignored_[std::string(word(chunk, e))];
        continue;
      }
      anonymous_ = anonymous_ || e.process.tag == Tag::kAbsent;
      const auto p = with_scalar(chunk, e.process, [&](ScalarView s) { return ids.intern(s); });
      if (p == processes.size()) processes.emplace_back();
      if (!pair_event({c, i}, processes[p])) return false;
    }
  }
  // An operation that was never completed may have happened.
  for (const Process& process : processes) {
    if (!process.pending.valid()) continue;
    const PairedOp op{.invoke = process.pending, .completion = {}, .session = process.session};
    if (!add(op, TxnStatus::kIndeterminate)) return false;
  }
  if (const auto text = faults_.text(); !text.empty()) builder_.set_metadata("faults", text);
  return true;
}

std::uint32_t Assembly::session_of(const Event& e, Ref ref, Process& process) {
  if (e.process.tag == Tag::kAbsent) {  // nothing orders it: a session of its own
    return builder_
        .session(fmt::format("of operation {}",
                             e.index >= 0 ? static_cast<std::uint64_t>(e.index) : p_.ordinal(ref)))
        .raw;
  }
  if (process.session == kNone) {
    std::string name;
    if (e.process.tag == Tag::kInteger) {
      name = std::to_string(e.process.integer);
    } else {
      if (e.process.tag == Tag::kKeyword) name = ":";
      name += e.process.view();
    }
    process.session = builder_.session(name).raw;
  }
  return process.session;
}

bool Assembly::pair_event(Ref ref, Process& process) {
  const Event& e = p_.event(ref);
  timed_ = timed_ || e.time != kNoTime;
  if (e.type == Type::kInvoke) {
    if (auto refused = process.rules.invoke(e)) return p_.fail(e.byte, *std::move(refused));
    process.session = session_of(e, ref, process);
    process.pending = ref;
    return true;
  }
  if (auto refused = process.rules.complete(e)) return p_.fail(e.byte, *std::move(refused));
  PairedOp op{.invoke = process.pending, .completion = ref};
  if (!process.pending.valid()) {
    all_invoked_ = false;
    process.session = session_of(e, ref, process);
  }
  op.session = process.session;
  process.pending = {};
  process.rules.open = false;
  if (e.process.tag == Tag::kAbsent) process.session = kNone;
  return add(op, e.type == Type::kOk     ? TxnStatus::kCommitted
                 : e.type == Type::kFail ? TxnStatus::kAborted
                                         : TxnStatus::kIndeterminate);
}

bool Assembly::add(PairedOp op, TxnStatus status) {
  op.status = status;
  const auto is_txn = [&](Ref ref) { return ref.valid() && p_.event(ref).is_txn; };
  op.is_txn = is_txn(op.invoke) || is_txn(op.completion);
  Ref from = op.anchor();
  if (op.is_txn && op.invoke.valid() && op.completion.valid()) {
    // A set-up whose completion says only how it ended.
    const bool silent = p_.event(op.invoke).f == F::kSetup && !p_.event(op.completion).is_txn;
    const auto agreed = silent ? Agreement{.completion_counts = false}
                               : agreement(p_.chunks[op.invoke.chunk], p_.event(op.invoke),
                                           p_.chunks[op.completion.chunk], p_.event(op.completion));
    if (agreed.refusal) return p_.fail(op, *agreed.refusal);
    if (!agreed.completion_counts) from = op.invoke;
  }
  op.from_invoke = from.chunk == op.invoke.chunk && from.event == op.invoke.event;
  op.chunk = from.chunk;
  if (op.is_txn) {
    op.first = p_.event(from).first;
    op.count = p_.event(from).count;
  }
  p_.ops.push_back(op);
  return true;
}

bool Assembly::refuse(const Shapes& shapes, std::string_view guess) {
  if (shapes.names.empty())
    return p_.fail(p_.ops.front(), fmt::format("found f=txn, which looks like a {}", guess));
  std::string found;
  std::uint64_t first = ~std::uint64_t{0};
  for (const std::string& name : shapes.names) {
    found += (found.empty() ? "f=" : ", f=") + name;
    first = std::min(first, shapes.first.at(name));
  }
  return p_.fail(first, fmt::format("found {}, which looks like a {}: not a transactional or "
                                    "single-object history; expected f=txn, read/write/cas, "
                                    "acquire/release, or put/append/get with a key",
                                    found, guess));
}

Assembly::Shapes Assembly::shapes_of_objects() {
  Shapes shapes;
  for (const PairedOp& op : p_.ops) {
    reading_.step();
    if (op.is_txn) continue;
    for (const Ref ref : {op.invoke, op.completion}) {
      if (!ref.valid()) continue;
      const Event& e = p_.event(ref);
      const Chunk& chunk = p_.chunks[ref.chunk];
      const std::string name(word(chunk, e));
      const auto [at, fresh] = shapes.first.try_emplace(name, e.byte);
      if (fresh) shapes.names.push_back(name);
      at->second = std::min(at->second, e.byte);
      ++shapes.count[name];
      if (e.type != Type::kInvoke && e.type != Type::kOk) continue;
      const bool is_register = e.f == F::kRead || e.f == F::kWrite || e.f == F::kCas;
      const auto pair = is_register || e.f == F::kSetup ? is_pair(chunk, e) : std::nullopt;
      if (!pair) {
        shapes.reads_without_key |= reads_without_key(chunk, e);
        continue;
      }
      (*pair ? shapes.pairs : shapes.plain) = true;
      if (*pair || e.f == F::kCas || !is_collection(p_.value(ref))) continue;
      (e.f == F::kRead ? shapes.collections_read : shapes.collections_written) = true;
    }
  }
  return shapes;
}

// Operations beside transactions: those on a register of several count, and others are an error.
bool Assembly::as_transactions(const Shapes& shapes) {
  kind_ = Workload::kTransactions;
  independent_ = true;
  base::HashMap<std::string, bool> unknown;
  for (const PairedOp& op : p_.ops) {
    reading_.step();
    if (op.is_txn) continue;
    const F f = p_.event(op).f;
    bool known = f == F::kRead || f == F::kWrite || f == F::kCas;
    bool says = false;
    for (const Ref ref : {op.invoke, op.completion}) {
      if (!ref.valid() || !known) continue;
      const auto pair = is_pair(p_.chunks[ref.chunk], p_.event(ref));
      says = says || pair == true;
      if (op.status == TxnStatus::kCommitted || p_.event(ref).type == Type::kInvoke)
        known = pair != false;
    }
    if (!known || !says)
      unknown.try_emplace(std::string(word(p_.chunks[op.anchor().chunk], p_.event(op))), true);
  }
  if (unknown.empty()) {
    objects_ = shapes.names;
    return true;
  }
  const bool transactions =
      std::any_of(p_.ops.begin(), p_.ops.end(), [](const PairedOp& op) { return op.is_txn; });
  for (const auto& name : shapes.names) {
    if (!unknown.contains(name)) continue;
    if (!transactions) {
      return p_.fail(shapes.first.at(name),
                     fmt::format("found f={} whose value is neither a transaction nor [key value], "
                                 "and no transaction, which --kind transactions asks for. Leave "
                                 "out --kind, or state another kind",
                                 name));
    }
    return p_.fail(shapes.first.at(name), left_out(name, shapes.count.at(name)));
  }
  return true;
}

bool Assembly::classify() {
  const Shapes shapes = shapes_of_objects();
  if (p_.ops.empty()) {
    if (!ignored_.empty()) return p_.fail(0, "found no operation that --ignore does not leave out");
    const bool only_nemesis =
        std::all_of(p_.chunks.begin(), p_.chunks.end(), [&](const Chunk& chunk) {
          return std::all_of(chunk.events.begin(), chunk.events.end(), [&](const Event& e) {
            return e.is_header() ? nothing_happened_ : e.nemesis;
          });
        });
    if (only_nemesis) {
      builder_.set_metadata(kNothingHappened, "yes");
      return true;
    }
    return p_.fail(0,
                   "found no operations of clients, expected op maps with a process number and "
                   "f=txn, read/write/cas, acquire/release, or put/append/get");
  }
  const auto asked = source_.as.kind;
  std::array<std::uint64_t, 16> by_f{};
  std::uint64_t objects = 0;
  for (const PairedOp& op : p_.ops) {
    if (op.is_txn) continue;
    ++objects;
    ++by_f[static_cast<std::size_t>(p_.event(op).f)];
  }
  if (asked ? *asked == Workload::kTransactions : objects < p_.ops.size())
    return as_transactions(shapes);
  const auto of = [&](F f) { return by_f[static_cast<std::size_t>(f)]; };
  const auto registers = of(F::kRead) + of(F::kWrite) + of(F::kCas) + of(F::kSetup);
  const auto is = [&](Workload kind, std::uint64_t count) {
    return count == p_.ops.size() && (!asked || *asked == kind);
  };
  const bool silent_setup = of(F::kSetup) > 0 && !(shapes.pairs || shapes.plain);
  const bool collection =
      shapes.collections_read && !shapes.collections_written && !collection_written_;
  if (is(Workload::kRegisters, registers) && !silent_setup && (asked || !collection)) {
    kind_ = Workload::kRegisters;
    independent_ = shapes.pairs && !shapes.plain && !(asked && shapes.reads_without_key);
    if (!independent_ || !shapes.reads_without_key) return true;
    return p_.fail(shapes.first.at("read"), kReadWithoutKey);
  }
  if (is(Workload::kMutex, of(F::kAcquire) + of(F::kRelease))) {
    kind_ = Workload::kMutex;
    return true;
  }
  if (is(Workload::kStrings, of(F::kPut) + of(F::kAppend) + of(F::kGet))) {
    kind_ = Workload::kStrings;
    return true;
  }
  if (asked) {
    const auto expected = *asked == Workload::kRegisters ? "f=read, write or cas"
                          : *asked == Workload::kMutex   ? "f=acquire or release"
                                                         : "f=put, append or get";
    return refuse(shapes, fmt::format("history of another kind than --kind {}, which has {}",
                                      name(*asked), expected));
  }
  const auto has = [&](std::string_view name) {
    return std::find(shapes.names.begin(), shapes.names.end(), name) != shapes.names.end();
  };
  if (has("transfer")) return refuse(shapes, "bank workload");
  if (has("add") || has("inc") || has("increment") || has("decrement")) {
    return refuse(shapes, "counter or set workload");
  }
  if (has("enqueue") || has("dequeue")) return refuse(shapes, "queue workload");
  if (registers == p_.ops.size() && collection)
    return refuse(shapes, "set or bank workload (reads of whole collections)");
  return refuse(shapes, "workload of another kind");
}

// For text and JSON: the kind of a history of single objects, and the operations that do not count.
void Assembly::say_how_it_was_read() {
  const auto keys =
      std::count_if(key_use_.begin(), key_use_.end(), [](auto use) { return use != 0; });
  const auto counted = keys == 1 ? std::string("1 key") : fmt::format("{} keys", keys);
  std::string how;
  switch (kind_) {
    case Workload::kTransactions:
      for (const auto& name : objects_) how += (how.empty() ? "" : ", ") + name;
      if (!how.empty()) how = fmt::format("transactions, and single operations as such ({})", how);
      break;
    case Workload::kRegisters:
      how = fmt::format("registers{}, {}", compares_ ? " with compare-and-set" : "", counted);
      break;
    case Workload::kMutex:
      how = "mutex: one owner, not reentrant";
      break;
    case Workload::kStrings:
      how = fmt::format("strings with append, {}", counted);
      break;
  }
  if (!how.empty()) builder_.set_metadata("kind", how);
  std::string ignored;
  for (const auto& [f, count] : ignored_)
    ignored += fmt::format("{}{} {}", ignored.empty() ? "" : "\n", count, f);
  if (!ignored.empty()) builder_.set_metadata("ignored", ignored);
}

bool Assembly::resolve() {
  if (kind_ == Workload::kMutex || kind_ == Workload::kStrings) {
    p_.add_extra_chunk();
    return kind_ == Workload::kMutex ? resolve_mutex(p_, reading_, source_.as.kind.has_value())
                                     : resolve_strings(p_, reading_);
  }
  for (PairedOp& op : p_.ops) {
    reading_.step();
    if (!op.is_txn && !resolve_register(op)) return false;
  }
  return true;
}

bool Assembly::resolve_register(PairedOp& op) {
  const bool ok = op.status == TxnStatus::kCommitted;
  const bool read = p_.event(op).f == F::kRead;
  // The operation of an ok counts, else that of the invocation, else that of the completion.
  Ref from = ok ? op.completion : op.tried();
  if (ok && !read && p_.value(from).is_nothing() && op.invoke.valid()) from = op.invoke;
  Chunk& chunk = p_.chunks[from.chunk];
  auto found = register_operation(chunk, p_.event(from), independent_);
  if (found.refusal) return p_.fail(op, *found.refusal);
  if (ok && from.chunk == op.completion.chunk && from.event == op.completion.event &&
      op.invoke.valid() && !p_.value(op.invoke).is_nothing()) {
    const Chunk& tried_in = p_.chunks[op.invoke.chunk];
    const auto tried = register_operation(tried_in, p_.event(op.invoke), independent_);
    auto refused =
        tried.refusal ? tried.refusal : register_disagreement(tried_in, tried.op, chunk, found.op);
    if (refused) return p_.fail(op, *std::move(refused));
  }
  if (read && !ok) found.op.value = Cell::null();
  const bool compares = found.op.kind() == Micro::kCas;
  compares_ = compares_ || compares;
  found.op.value.note = read && !ok ? 1 : 0;
  if (compares && source_.failed_cas_was_seen && op.status == TxnStatus::kAborted &&
      p_.value(op.completion).is_vector()) {
    op.status = TxnStatus::kCommitted;
    found.op.value.note = 1;
  }
  op.chunk = from.chunk;
  op.first = static_cast<std::uint32_t>(chunk.ops.size());
  op.count = 1;
  op.from_invoke = false;
  chunk.ops.push_back(found.op);
  return true;
}

KeyId Assembly::key_id(const Chunk& chunk, const Cell& cell) {
  if (cell.tag == Tag::kInteger) return builder_.key(cell.integer);
  return with_scalar(chunk, cell, [&](ScalarView scalar) { return builder_.key(scalar); });
}

ValueId Assembly::value_id(const Chunk& chunk, const Cell& cell) {
  if (cell.tag == Tag::kInteger) return builder_.value(cell.integer);
  return with_scalar(chunk, cell, [&](ScalarView scalar) { return builder_.value(scalar); });
}

// Interns every key, in place, and notes how it is used.
bool Assembly::scan() {
  const auto note = [&](KeyId k, std::uint8_t use) {
    note_use(k, use);
    return (key_use_[k.index()] & (kAppended | kWritten)) != (kAppended | kWritten) &&
           (key_use_[k.index()] & (kAppended | kScalarSeen)) != (kAppended | kScalarSeen);
  };
  const bool txns = kind_ == Workload::kTransactions;
  for (const PairedOp& txn : p_.ops) {
    reading_.step();
    Chunk& chunk = p_.chunks[txn.chunk];
    for (std::uint32_t i = txn.first; i < txn.first + txn.count; ++i) {
      reading_.step();
      MicroOp& op = chunk.ops[i];
      const Micro kind = op.kind();
      if (kind == Micro::kRange) {
        for (std::size_t j = 0; j < op.value.size; ++j) {
          const Cell entry = chunk.child(chunk.child(op.value, j), 0);
          if (!note(key_id(chunk, entry), kWritten)) {
            return p_.fail(txn, "found key " + shown(chunk, entry) +
                                    " in a range read and with appends, expected one of the two");
          }
        }
        continue;
      }
      const KeyId k = key_id(chunk, op.key);
      std::uint8_t use = kWritten;
      if (kind == Micro::kWrite || kind == Micro::kInsert)
        collection_written_ = collection_written_ || is_collection(op.value);
      if (kind == Micro::kCas)
        collection_written_ = collection_written_ || is_collection(chunk.child(op.value, 1));
      if (kind == Micro::kAppend) use = kAppended;
      if (kind == Micro::kRead) {
        use = txns && op.value.is_vector() ? kVectorSeen
              : op.value.is_nothing()      ? kNullSeen
                                           : kScalarSeen;
      }
      if (!note(k, use)) {
        return p_.fail(txn,
                       "found key " + shown(chunk, op.key) +
                           " used both as a list (append) and as a register (write, read of one "
                           "value, initial value), expected one of the two; a list starts empty");
      }
      const auto kept = op.key.note;
      op.key = Cell::of(k.raw);
      op.key.note = kept;
    }
  }
  return true;
}

bool Assembly::emit_read(const PairedOp& txn, const Chunk& chunk, const MicroOp& op, KeyId key) {
  const bool committed = txn.status == TxnStatus::kCommitted;
  const bool known =
      op.value.note == 0 && (committed || !op.value.is_nothing()) && !txn.from_invoke;
  const auto use = key_use_[key.index()];
  const bool list = (use & kAppended) != 0 || ((use & kVectorSeen) != 0 && (use & kWritten) == 0);
  if (!list) {
    if (known && !collection_written_ && is_collection(op.value) && !source_.as.kind)
      return p_.fail(txn, collection_read(shown(chunk, op.value), kind_));
    builder_.read(key, known ? value_id(chunk, op.value) : ValueId::none());
    return true;
  }
  if (!known) {
    builder_.list_read_unknown(key);
    return true;
  }
  if (!op.value.is_vector() && !op.value.is_nothing()) {
    return p_.fail(txn, "found a read of " + shown(chunk, op.value) +
                            " from a key that other reads show to be a list, expected a vector");
  }
  list_.clear();
  for (std::size_t i = 0; i < op.value.size; ++i) {
    list_.push_back(value_id(chunk, chunk.child(op.value, i)));
  }
  builder_.list_read(key, list_);
  return true;
}

bool Assembly::emit_op(const PairedOp& txn, const Chunk& chunk, const MicroOp& op) {
  const Micro kind = op.kind();
  if (kind == Micro::kRange) {
    range_.clear();
    if (op.value.is_nothing() && txn.status == TxnStatus::kCommitted) {
      return p_.fail(txn, "found a range read without what it saw, expected [[key value] …]");
    }
    for (std::size_t i = 0; i < op.value.size; ++i) {
      const Cell entry = chunk.child(op.value, i);
      range_.push_back(
          {key_id(chunk, chunk.child(entry, 0)), value_id(chunk, chunk.child(entry, 1))});
    }
    builder_.range_read(value_id(chunk, chunk.child(op.key, 0)),
                        value_id(chunk, chunk.child(op.key, 1)), range_);
    return true;
  }
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

bool Assembly::emit() {
  say_how_it_was_read();
  // The order of the lines is an order in time only if both ends are there.
  const bool line_order = !timed_ && all_invoked_ && !anonymous_;
  if (line_order) builder_.set_metadata("times", "line order");
  const auto time = [&](Ref ref) {
    if (!ref.valid()) return kNoTime;
    return line_order ? static_cast<history::Time>(p_.ordinal(ref)) : p_.event(ref).time;
  };
  const auto last_of = last_of_chunks();
  for (std::size_t t = 0; t < p_.ops.size(); ++t) {
    const PairedOp& txn = p_.ops[t];
    reading_.step();
    const Event& e = p_.event(txn);
    const auto label =
        e.index >= 0 ? static_cast<std::uint64_t>(e.index) : p_.ordinal(txn.anchor());
    builder_.begin(
        history::SessionId(txn.session), txn.status,
        {.invoke = time(txn.invoke),
         .complete = time(txn.completion),
         .label = static_cast<std::uint32_t>(std::min<std::uint64_t>(label, 0xffffffff))});
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
std::vector<std::size_t> Assembly::last_of_chunks() const {
  std::vector<std::size_t> last(p_.chunks.size(), p_.ops.size());
  if (kind_ == Workload::kMutex || kind_ == Workload::kStrings) return last;
  for (std::size_t t = 0; t < p_.ops.size(); ++t) {
    for (const Ref ref : {p_.ops[t].invoke, p_.ops[t].completion}) {
      if (ref.valid()) last[ref.chunk] = t;
    }
  }
  return last;
}

}  // namespace

base::Result<history::History> assemble(std::vector<Chunk> chunks, const Source& source,
                                        Reading reading) {
  return Assembly(std::move(chunks), source, reading).run();
}

}  // namespace cupel::formats::jepsen
