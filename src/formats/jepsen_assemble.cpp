// From events to a History. In order:
//   classify what kind of history this is: transactions, a register, a mutex or
//            a string key-value store; anything else is refused by name
//   pair     invocations with completions, process by process
//   resolve  for the single-object kinds, what each pair did as micro-operations
//   scan     which keys are lists: the history decides, not the format
//   emit     transactions into the builder, in the order of their completions
// Linear in the events and operations.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <utility>

#include "base/hash_table.hpp"
#include "formats/jepsen_events.hpp"
#include "history/builder.hpp"
#include "history/starts_empty.hpp"

namespace cupel::formats::jepsen {

namespace {

using history::KeyId;
using history::kNoTime;
using history::ScalarView;
using history::TxnStatus;
using history::ValueId;

enum class Kind { kTxn, kRegister, kMutex, kStore };

class Assembly {
 public:
  Assembly(std::vector<Chunk> chunks, const Source& source, Reading reading)
      : chunks_(std::move(chunks)), source_(source), reading_(reading) {}

  base::Result<history::History> run() {
    for (const Chunk& chunk : chunks_) {
      if (chunk.error) return error_at(source_, *chunk.error);
    }
    if (!classify() || !pair() || !resolve() || !scan() || !emit())
      return error_at(source_, *error_);
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
  static constexpr std::uint32_t kNone = 0xffffffff;
  struct Ref {
    std::uint32_t chunk = kNone, event = 0;
    [[nodiscard]] bool valid() const { return chunk != kNone; }
  };
  struct Txn {
    Ref invoke, completion;
    std::uint32_t session = 0;
    TxnStatus status = TxnStatus::kCommitted;
    bool from_invoke = false;  // the operations are what was tried, not what was seen
    // Its operations: of an event's chunk, or of extra_.
    std::uint32_t chunk = 0, first = 0, count = 0;
  };
  struct Process {
    Ref pending;
    bool has_invoked = false;
    std::uint32_t session = kNone;
  };

  const Event& event(Ref ref) const { return chunks_[ref.chunk].events[ref.event]; }
  std::uint64_t ordinal(Ref ref) const { return first_ordinal_[ref.chunk] + ref.event; }
  Ref anchor(const Txn& txn) const { return txn.completion.valid() ? txn.completion : txn.invoke; }
  // Where it says what was tried: a completion may say nothing.
  Ref tried(const Txn& txn) const { return txn.invoke.valid() ? txn.invoke : txn.completion; }
  bool fail(std::uint64_t byte, std::string message) {
    error_ = ParseError{byte, std::move(message)};
    return false;
  }
  bool fail(const Txn& txn, std::string message) {
    return fail(event(anchor(txn)).byte, std::move(message));
  }

  void note_use(KeyId key, std::uint8_t use) {
    if (key.index() >= key_use_.size()) key_use_.resize(2 * key.index() + 16);
    key_use_[key.index()] |= use;
  }

  bool classify();
  bool read_header(const Chunk& chunk, const Event& event);
  void note_fault(const Chunk& chunk, const Event& event);
  void add_faults();
  bool refuse(std::uint64_t byte, std::string_view guess);
  bool pair();
  bool pair_event(Ref ref, Process& process);
  std::uint32_t session_of(const Event& e, Ref ref, Process& process);
  void add(Txn txn, TxnStatus status);

  bool resolve();
  bool resolve_register(Txn& txn);
  void resolve_mutex(Txn& txn);
  static constexpr std::int64_t kNeverEnded = std::numeric_limits<std::int64_t>::max();
  struct Sighting;
  struct Token;
  struct Store;
  bool resolve_store();
  bool collect_tokens(base::HashMap<std::string, Store>& stores);
  void note_sightings(const Txn& get, Store& store);
  bool match(const Store& store, const Token& token,
             base::HashMap<std::uint32_t, std::string_view>& found);
  std::string store_name(const Txn& txn) const;
  std::int64_t invoked(const Txn& txn) const;
  std::int64_t ended(const Txn& txn) const;
  // The values of an event that is not a transaction.
  Cell value(Ref ref) const { return chunks_[ref.chunk].values[event(ref).first]; }
  Cell key(Ref ref) const { return chunks_[ref.chunk].values[event(ref).first + 1]; }
  Cell scalar(const Chunk& chunk, Cell cell);
  Chunk& extra() { return chunks_[extra_]; }
  void extra_op(Txn& txn, Micro kind, Cell key, Cell value, bool note = false);
  void extra_cas(Txn& txn, Cell key, Cell expected, Cell desired, bool failed);

  bool scan();
  bool emit();
  [[nodiscard]] std::vector<std::size_t> last_of_chunks() const;
  KeyId key_id(const Chunk& chunk, const Cell& cell);
  ValueId value_id(const Chunk& chunk, const Cell& cell);
  bool emit_op(const Txn& txn, const Chunk& chunk, const MicroOp& op);
  template <typename Use>
  auto with_scalar(const Chunk& chunk, const Cell& cell, Use&& use);

  static constexpr std::uint8_t kAppended = 1, kVectorSeen = 2, kScalarSeen = 4, kWritten = 8;

  std::vector<Chunk> chunks_;
  Source source_;
  Reading reading_;
  history::HistoryBuilder builder_;
  std::optional<ParseError> error_;
  std::vector<std::uint64_t> first_ordinal_;
  std::uint32_t extra_ = 0;  // the chunk of resolved operations
  Kind kind_ = Kind::kTxn;
  bool independent_ = false;  // values are [key value]
  struct Fault {
    history::Time from, to;
    std::string name, value, what;
    bool ended;
  };
  std::vector<Fault> faults_;        // what the nemesis did, by when it began
  std::vector<std::string> others_;  // words of f that no kind knows, in file order

  bool all_invoked_ = true;  // every completion has its invocation line
  bool anonymous_ = false;   // some event has no process
  bool timed_ = false;       // some event has a time
  std::vector<Txn> txns_;
  std::vector<std::uint8_t> key_use_;
  std::vector<ValueId> list_;
  std::vector<history::RangeEntry> range_;
};

std::string_view word(F f) {
  switch (f) {
    case F::kTxn:
      return "txn";
    case F::kRead:
      return "read";
    case F::kWrite:
      return "write";
    case F::kCas:
      return "cas";
    case F::kAcquire:
      return "acquire";
    case F::kRelease:
      return "release";
    case F::kPut:
      return "put";
    case F::kAppend:
      return "append";
    case F::kGet:
      return "get";
    default:
      return "other";
  }
}

bool Assembly::refuse(std::uint64_t byte, std::string_view guess) {
  std::string found;
  for (const std::string& name : others_) {
    if (!found.empty()) found += ", ";
    found += "f=" + name;
  }
  return fail(byte, fmt::format("found {}, which looks like a {}: not a transactional or "
                                "single-object history; expected f=txn, read/write/cas, "
                                "acquire/release, or put/append/get with a key",
                                found, guess));
}

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
  const auto malformed = [&] { return fail(e.byte, jepsen::malformed_header(e.f)); };
  if (value.tag != Tag::kVector) return malformed();
  if (e.f == F::kMetadata) {
    for (std::size_t i = 0; i < value.size; ++i) {
      const Cell pair = chunk.child(value, i);
      if (pair.tag != Tag::kVector || pair.size != 2) return malformed();
      const Cell name = chunk.child(pair, 0), text = chunk.child(pair, 1);
      if (name.tag != Tag::kString || text.tag != Tag::kString) return malformed();
      builder_.set_metadata(name.view(), text.view());
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
  const Cell pairs = chunk.child(value, 1);
  base::HashSet<KeyId> keys;
  for (std::size_t i = 0; i < pairs.size; ++i) {
    const Cell pair = chunk.child(pairs, i);
    if (!pair.is_vector() || pair.size != 2) return malformed();
    const KeyId key = key_id(chunk, chunk.child(pair, 0));
    const Cell initial = chunk.child(pair, 1);
    if (!keys.insert(key).second) {
      return fail(e.byte, "found two initial values of key " + shown(chunk, chunk.child(pair, 0)));
    }
    builder_.set_initial(key, value_id(chunk, initial));
    if (!with_scalar(chunk, initial, history::starts_empty)) note_use(key, kWritten);
  }
  return true;
}

// Jepsen's nemesis says twice what it does: when it begins to and when it has. What it
// starts lasts until it stops it: start or start-X until stop or stop-X; of anything
// else the two lines are the time it took.
void Assembly::note_fault(const Chunk& chunk, const Event& e) {
  constexpr std::size_t kMostFaults = 1000;
  if (e.time == kNoTime) return;
  const std::string_view f = e.f == F::kOther ? std::string_view(chunk.names[e.name]) : word(e.f);
  const bool starts = f == "start" || f.starts_with("start-");
  const bool stops = f == "stop" || f.starts_with("stop-");
  const auto name = f.substr(starts  ? std::min<std::size_t>(6, f.size())
                             : stops ? std::min<std::size_t>(5, f.size())
                                     : 0);
  const Cell value = chunk.values[e.first];
  const auto said = value.is_name() ? std::string(value.view()) : std::string();
  // Of our own recorder's, several may be in force, which their values tell apart.
  const bool by_value = name == "fault";
  const auto open = std::find_if(faults_.rbegin(), faults_.rend(), [&](const auto& fault) {
    return fault.name == name && !fault.ended && (!by_value || fault.value == said);
  });
  if (stops || (!starts && open != faults_.rend())) {
    // Both lines of a stop: the second is when it has been fixed.
    if (open == faults_.rend() && by_value) return;
    const auto last = open != faults_.rend()
                          ? open
                          : std::find_if(faults_.rbegin(), faults_.rend(),
                                         [&](const auto& fault) { return fault.name == name; });
    if (last == faults_.rend()) return;
    last->to = e.time;
    last->ended = true;
    return;
  }
  if (open != faults_.rend() || faults_.size() >= kMostFaults) return;
  std::string what(name.empty() ? std::string_view("fault") : name);
  if (value.is_name()) what = (name.empty() || name == "fault" ? "" : what + " ") + said;
  faults_.push_back({e.time, kNoTime, std::string(name), said, std::move(what), false});
}

// A line for each, "FROM TO WHAT", in nanoseconds, "-" where no end was seen: for what
// draws a history in time.
void Assembly::add_faults() {
  std::string text;
  for (auto& fault : faults_) {
    std::replace(fault.what.begin(), fault.what.end(), '\n', ' ');
    text += fmt::format("{}{} {} {}", text.empty() ? "" : "\n", fault.from,
                        fault.ended ? std::to_string(fault.to) : "-", fault.what);
  }
  if (!text.empty()) builder_.set_metadata("faults", text);
}

bool Assembly::classify() {
  std::uint64_t count = 0, txns = 0, clients = 0, skipped = 0;
  std::uint64_t first_client = 0;
  std::array<std::uint64_t, 16> by_f{};
  std::array<std::uint64_t, 16> first_of{};
  bool tuples = false, plain = false, collections = false;
  base::HashMap<std::string_view, bool> seen;
  for (const Chunk& chunk : chunks_) {
    first_ordinal_.push_back(count);
    count += chunk.events.size();
    for (const Event& e : chunk.events) {
      reading_.step();
      if (e.is_header()) {
        if (!read_header(chunk, e)) return false;
        continue;
      }
      if (e.nemesis) note_fault(chunk, e);
      if (!e.client) continue;
      if (clients++ == 0) first_client = e.byte;
      if (e.is_txn) {
        ++txns;
        continue;
      }
      const auto f = static_cast<std::size_t>(e.f);
      if (by_f[f]++ == 0) first_of[f] = e.byte;
      const auto name = e.f == F::kOther ? std::string_view(chunk.names[e.name]) : word(e.f);
      if (seen.try_emplace(name, true).second) others_.emplace_back(name);
      ++skipped;
      if (e.type != Type::kInvoke && e.type != Type::kOk) continue;
      const Cell value = chunk.values[e.first];
      if (value.is_nothing()) continue;
      if (e.f == F::kRead || e.f == F::kWrite) {
        const bool pair = value.is_vector() && value.size == 2;
        (pair ? tuples : plain) = true;
        collections = collections || (value.is_vector() && !pair) || value.tag == Tag::kMap;
      } else if (e.f == F::kCas) {
        const bool pair = value.is_vector() && value.size == 2 && chunk.child(value, 1).is_vector();
        (pair ? tuples : plain) = true;
      }
    }
  }
  add_faults();
  if (txns > 0) {
    kind_ = Kind::kTxn;
    if (skipped > 0) {
      std::string names;
      for (const auto& name : others_) names += (names.empty() ? "" : ", ") + name;
      builder_.set_metadata(
          "skipped",
          fmt::format("{} that {} ({})",
                      skipped == 1 ? "1 op map" : fmt::format("{} op maps", skipped),
                      skipped == 1 ? "is no transaction" : "are no transactions", names));
    }
    return true;
  }
  if (clients == 0) {
    return fail(0,
                "found no operations of clients, expected op maps with a process number and "
                "f=txn, read/write/cas, acquire/release, or put/append/get");
  }
  const auto of = [&](F f) { return by_f[static_cast<std::size_t>(f)]; };
  const auto registers = of(F::kRead) + of(F::kWrite) + of(F::kCas);
  const auto mutexes = of(F::kAcquire) + of(F::kRelease);
  const auto stores = of(F::kPut) + of(F::kAppend) + of(F::kGet);
  if (registers == clients && !collections) {
    kind_ = Kind::kRegister;
    independent_ = tuples && !plain;
    return true;
  }
  if (mutexes == clients) {
    kind_ = Kind::kMutex;
    return true;
  }
  if (stores == clients) {
    kind_ = Kind::kStore;
    return true;
  }
  const auto has = [&](std::string_view name) { return seen.contains(name); };
  const auto at = first_client;
  if (has("transfer")) return refuse(at, "bank workload");
  if (has("add") || has("inc") || has("increment") || has("decrement")) {
    return refuse(at, "counter or set workload");
  }
  if (has("enqueue") || has("dequeue")) return refuse(at, "queue workload");
  if (registers == clients) return refuse(at, "set or bank workload (reads of whole collections)");
  return refuse(at, "workload of another kind");
}

bool Assembly::pair() {
  history::ScalarTable ids;
  std::vector<Process> processes;
  std::size_t events = 0;
  for (const Chunk& chunk : chunks_) events += chunk.events.size();
  txns_.reserve(events / 2 + 1);
  for (std::uint32_t c = 0; c < chunks_.size(); ++c) {
    for (std::uint32_t i = 0; i < chunks_[c].events.size(); ++i) {
      reading_.step();
      const Event& e = chunks_[c].events[i];
      if (!e.client || e.is_header() || (kind_ == Kind::kTxn && !e.is_txn)) continue;
      anonymous_ = anonymous_ || e.process.tag == Tag::kAbsent;
      const auto p =
          with_scalar(chunks_[c], e.process, [&](ScalarView s) { return ids.intern(s); });
      if (p == processes.size()) processes.emplace_back();
      if (!pair_event({c, i}, processes[p])) return false;
    }
  }
  // What was never completed may have happened.
  for (const Process& process : processes) {
    if (process.pending.valid()) {
      add({.invoke = process.pending, .completion = {}, .session = process.session},
          TxnStatus::kIndeterminate);
    }
  }
  return true;
}

// The process as people write it, for messages.
std::string process_name(const Event& e) {
  if (e.process.tag == Tag::kInteger) return "process " + std::to_string(e.process.integer);
  if (e.process.tag == Tag::kAbsent) return "the operations without a process";
  return "process " + std::string(e.process.view());
}

std::uint32_t Assembly::session_of(const Event& e, Ref ref, Process& process) {
  if (e.process.tag == Tag::kAbsent) {  // nothing orders it: a session of its own
    return builder_
        .session(fmt::format("of operation {}",
                             e.index >= 0 ? static_cast<std::uint64_t>(e.index) : ordinal(ref)))
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
  const Event& e = event(ref);
  timed_ = timed_ || e.time != kNoTime;
  if (e.type == Type::kInvoke) {
    if (process.pending.valid()) {
      return fail(e.byte,
                  fmt::format("found a second invocation of {} before the completion of its "
                              "first (op map {}), expected ok, fail or info",
                              process_name(e), ordinal(process.pending)));
    }
    process.session = session_of(e, ref, process);
    process.pending = ref;
    process.has_invoked = true;
    return true;
  }
  Txn txn{.invoke = process.pending, .completion = ref};
  if (process.pending.valid()) {
    const Event& invoke = event(process.pending);
    if (invoke.f != e.f && invoke.f != F::kAbsent && e.f != F::kAbsent) {
      return fail(e.byte, fmt::format("found a completion of f={} for {}, which invoked f={}",
                                      word(e.f), process_name(e), word(invoke.f)));
    }
    if (invoke.time != kNoTime && e.time != kNoTime && e.time < invoke.time) {
      return fail(e.byte, fmt::format("found a completion at time {}, before its invocation at {}, "
                                      "expected times of one clock",
                                      e.time, invoke.time));
    }
    txn.session = process.session;
    process.pending = {};
  } else {
    if (process.has_invoked && e.type != Type::kInfo && e.process.tag != Tag::kAbsent) {
      return fail(e.byte, fmt::format("found a completion of {}, which has nothing open: its last "
                                      "operation is already completed",
                                      process_name(e)));
    }
    all_invoked_ = false;
    txn.session = process.session = session_of(e, ref, process);
  }
  switch (e.type) {
    case Type::kOk:
      add(txn, TxnStatus::kCommitted);
      break;
    case Type::kFail:
      add(txn, TxnStatus::kAborted);
      break;
    default:
      add(txn, TxnStatus::kIndeterminate);
  }
  if (e.process.tag == Tag::kAbsent) process.session = kNone;
  return true;
}

void Assembly::add(Txn txn, TxnStatus status) {
  txn.status = status;
  Ref from = txn.completion;
  if (status != TxnStatus::kCommitted && txn.invoke.valid()) {
    // A completion that repeats the operations may know what some reads saw.
    const Event& invoke = event(txn.invoke);
    const bool repeats =
        from.valid() &&
        (invoke.repeated || (event(from).count != 0 && event(from).count == invoke.count));
    if (!repeats) {
      from = txn.invoke;
      txn.from_invoke = true;
    }
  }
  txn.chunk = from.chunk;
  if (kind_ == Kind::kTxn) {
    txn.first = event(from).first;
    txn.count = event(from).count;
  }
  txns_.push_back(txn);
}

bool Assembly::resolve() {
  if (kind_ == Kind::kTxn) return true;
  extra_ = static_cast<std::uint32_t>(chunks_.size());
  chunks_.emplace_back();
  if (kind_ == Kind::kStore) return resolve_store();
  for (Txn& txn : txns_) {
    reading_.step();
    if (kind_ == Kind::kMutex) {
      resolve_mutex(txn);
    } else if (!resolve_register(txn)) {
      return false;
    }
  }
  return true;
}

// Text of other chunks stays where it is; a vector becomes a literal.
Cell Assembly::scalar(const Chunk& chunk, Cell cell) {
  if (!cell.is_vector()) return cell;
  std::string text;
  canonical(chunk, cell, text);
  return Cell::of(Tag::kLiteral, extra().keep(text));
}

void Assembly::extra_op(Txn& txn, Micro kind, Cell key, Cell value, bool note) {
  txn.chunk = extra_;
  txn.first = static_cast<std::uint32_t>(extra().ops.size());
  txn.count = 1;
  key.note = static_cast<std::uint8_t>(kind);
  value.note = note;
  extra().ops.push_back({key, value});
}

void Assembly::extra_cas(Txn& txn, Cell key, Cell expected, Cell desired, bool failed) {
  const auto first = extra().cells.size();
  extra().cells.push_back(expected);
  extra().cells.push_back(desired);
  extra_op(txn, Micro::kCas, key, Cell::vector(Tag::kVector, first, 2), failed);
}

void Assembly::resolve_mutex(Txn& txn) {
  const bool acquire = event(anchor(txn)).f == F::kAcquire;
  const Cell held = Cell::of(Tag::kString, "held");
  extra_cas(txn, Cell::of(Tag::kString, "mutex"), acquire ? Cell::null() : held,
            acquire ? held : Cell::null(), false);
}

bool Assembly::resolve_register(Txn& txn) {
  const Event& e = event(anchor(txn));
  const bool ok = txn.status == TxnStatus::kCommitted;
  // What was done: the ok's word, else the invocation's, else the completion's.
  Ref from = ok || !txn.invoke.valid() ? anchor(txn) : txn.invoke;
  if (ok && e.f != F::kRead && value(from).is_nothing() && txn.invoke.valid()) from = txn.invoke;
  const Chunk& chunk = chunks_[from.chunk];
  Cell key = Cell::of(Tag::kString, "register");
  Cell payload = value(from);
  const auto as_written = [&] { return shown(chunk, value(from)); };
  if (independent_) {
    if (!payload.is_vector() || payload.size != 2) {
      return fail(
          txn, "found value " + as_written() + ", expected [key value] as elsewhere in this file");
    }
    key = scalar(chunk, chunk.child(payload, 0));
    payload = chunk.child(payload, 1);
  }
  switch (e.f) {
    case F::kRead:
      extra_op(txn, Micro::kRead, key, ok ? scalar(chunk, payload) : Cell::null(), !ok);
      return true;
    case F::kWrite:
      extra_op(txn, Micro::kWrite, key, scalar(chunk, payload));
      return true;
    default:
      break;
  }
  if (!payload.is_vector() || payload.size != 2) {
    return fail(txn, "found a cas of " + as_written() + ", expected [old new]");
  }
  bool failed = false;
  if (source_.failed_cas_was_seen && txn.status == TxnStatus::kAborted &&
      value(txn.completion).is_vector()) {
    txn.status = TxnStatus::kCommitted;
    failed = true;
  }
  const Cell expected = scalar(chunk, chunk.child(payload, 0));
  extra_cas(txn, key, expected, scalar(chunk, chunk.child(payload, 1)), failed);
  return true;
}

// A store of strings with put, append and get, as registers of whole strings.
// What an append did is learnt from the gets: a get of p ++ t … shows that some
// append of t found p and left p ++ t, a compare-and-set that succeeded. An
// append that no get shows left a string nobody saw. Where one text was appended
// several times, only appends whose interval fits can have found a prefix:
// after everything in the prefix was invoked, before the get completed. If that
// leaves a choice the history is refused, for a guess could be a false verdict.
struct Assembly::Sighting {
  std::string_view prefix;
  std::int64_t after, before;  // ordinals between which the append took effect
  std::int64_t last;           // when it was last seen
  bool recurs;                 // the prefix can have come about more than once
};
struct Assembly::Token {
  std::uint32_t puts = 0;
  std::int64_t first_invoked = kNeverEnded;
  std::vector<std::uint32_t> appends;  // indexes of txns_
  std::vector<Sighting> sightings;     // in file order
  bool seen_first = false;             // at the start of some get
};
struct Assembly::Store {
  base::HashMap<std::string_view, Token> tokens;
  std::vector<std::size_t> lengths;  // of tokens, longest first
  bool emptied = false;              // some put wrote the empty string
  // When the first two writes of the key ended: an append that began later than
  // all but itself did not find the key empty.
  std::int64_t first_ended = kNeverEnded, second_ended = kNeverEnded;

  [[nodiscard]] bool may_be_first(std::int64_t append_invoked, std::int64_t append_ended) const {
    const auto other = append_ended == first_ended ? second_ended : first_ended;
    return emptied || append_invoked <= other;
  }
};

std::int64_t Assembly::invoked(const Txn& txn) const {
  return txn.invoke.valid() ? static_cast<std::int64_t>(ordinal(txn.invoke)) : -1;
}
std::int64_t Assembly::ended(const Txn& txn) const {
  return txn.status == TxnStatus::kIndeterminate || !txn.completion.valid()
             ? kNeverEnded
             : static_cast<std::int64_t>(ordinal(txn.completion));
}

std::string Assembly::store_name(const Txn& txn) const {
  std::string name;
  canonical(chunks_[tried(txn).chunk], key(tried(txn)), name);
  return name;
}

bool Assembly::collect_tokens(base::HashMap<std::string, Store>& stores) {
  for (std::uint32_t t = 0; t < txns_.size(); ++t) {
    reading_.step();
    const Txn& txn = txns_[t];
    const Ref from = tried(txn);
    const Event& e = event(from);
    const auto found = [&](Ref ref) { return shown(chunks_[ref.chunk], value(ref)); };
    if (key(from).is_nothing()) {
      return fail(e.byte, fmt::format("found f={} without a key, expected :key", word(e.f)));
    }
    if (e.f == F::kGet) {
      if (txn.status == TxnStatus::kCommitted && value(txn.completion).tag != Tag::kString &&
          !value(txn.completion).is_nothing()) {
        return fail(txn, "found a get of " + found(txn.completion) + ", expected a string");
      }
      continue;
    }
    if (value(from).tag != Tag::kString) {
      return fail(e.byte,
                  fmt::format("found a {} of {}, expected a string", word(e.f), found(from)));
    }
    const auto text = value(from).view();
    Store& store = stores[store_name(txn)];
    if (txn.status == TxnStatus::kCommitted) {
      const auto end = ended(txn);
      if (end < store.first_ended) {
        store.second_ended = std::exchange(store.first_ended, end);
      } else {
        store.second_ended = std::min(store.second_ended, end);
      }
    }
    if (text.empty()) {
      store.emptied = true;
      if (e.f == F::kPut) continue;
      return fail(e.byte, "found an append of an empty string, expected some text");
    }
    Token& token = store.tokens[text];
    token.first_invoked = std::min(token.first_invoked, invoked(txn));
    if (e.f == F::kPut) {
      ++token.puts;
    } else {
      token.appends.push_back(t);
    }
  }
  for (auto& [name, store] : stores) {
    std::vector<std::string_view> sorted;
    bool appends = false;
    for (const auto& [text, token] : store.tokens) {
      sorted.push_back(text);
      store.lengths.push_back(text.size());
      appends = appends || !token.appends.empty();
    }
    std::sort(sorted.begin(), sorted.end());
    for (std::size_t i = 1; appends && i < sorted.size(); ++i) {
      if (sorted[i].starts_with(sorted[i - 1])) {
        return fail(0, fmt::format("found key {} with a text that begins another of its texts, so "
                                   "that gets cannot be distinguished; expected texts such as "
                                   "\"x 0 1 y\"",
                                   name));
      }
    }
    std::sort(store.lengths.rbegin(), store.lengths.rend());
    store.lengths.erase(std::unique(store.lengths.begin(), store.lengths.end()),
                        store.lengths.end());
  }
  return true;
}

// Cuts what a get saw into the texts that were written, and notes each.
void Assembly::note_sightings(const Txn& get, Store& store) {
  const auto whole = value(get.completion).view();
  std::vector<std::pair<Token*, std::size_t>> path;
  for (std::size_t at = 0; at < whole.size();) {
    reading_.step();
    const auto before = at;
    for (const auto length : store.lengths) {
      if (length > whole.size() - at) continue;
      const auto token = store.tokens.find(whole.substr(at, length));
      if (token == store.tokens.end() || (at > 0 && token->second.appends.empty())) continue;
      path.emplace_back(&token->second, at);
      at += length;
      break;
    }
    if (at == before) return;  // no chain of writes makes this string: a thin-air read
  }
  std::int64_t after = -1;
  bool recurs = store.emptied;
  for (const auto& [token, offset] : path) {
    auto& sightings = token->sightings;
    const auto prefix = whole.substr(0, offset);
    // At the start it is a put if it can be; match() refuses what could be both.
    const bool append = !token->appends.empty() && !(offset == 0 && token->puts > 0);
    token->seen_first = token->seen_first || offset == 0;
    if (append && (sightings.empty() || token->appends.size() > 1)) {
      const auto same = std::find_if(sightings.begin(), sightings.end(),
                                     [&](const Sighting& s) { return s.prefix == prefix; });
      if (same == sightings.end()) {
        sightings.push_back({prefix, after, ended(get), ended(get), recurs});
      } else {
        same->before = std::min(same->before, ended(get));
        same->last = std::max(same->last, ended(get));
      }
    }
    after = std::max(after, token->first_invoked);
    recurs = (offset == 0 || recurs) && token->puts + token->appends.size() > 1;
  }
}

// Which append each sighting is of; found[t] is the prefix that txns_[t] found.
bool Assembly::match(const Store& store, const Token& token,
                     base::HashMap<std::uint32_t, std::string_view>& found) {
  auto open = token.sightings;
  auto appends = token.appends;
  std::erase_if(appends, [&](std::uint32_t t) {
    return appends.size() > 1 && txns_[t].status == TxnStatus::kAborted;
  });
  if (appends.size() == 1 && !open.empty()) {  // any other prefix is a read of nothing written
    found[appends[0]] = open[0].prefix;
    return true;
  }
  for (bool progress = true; progress && !open.empty();) {
    reading_.step();
    progress = false;
    for (std::size_t i = 0; i < open.size(); ++i) {
      std::vector<std::uint32_t> fit;
      for (const auto t : appends) {
        if (ended(txns_[t]) > open[i].after && invoked(txns_[t]) < open[i].before) fit.push_back(t);
      }
      if (fit.size() > 1) continue;
      if (fit.size() == 1) {  // none: nothing can have written it, a thin-air read
        found[fit[0]] = open[i].prefix;
        std::erase(appends, fit[0]);
      }
      open.erase(open.begin() + static_cast<std::ptrdiff_t>(i));
      progress = true;
      break;
    }
  }
  bool choice = !open.empty();
  for (const auto t : appends) {
    choice = choice || (token.seen_first && token.puts > 0 &&
                        store.may_be_first(invoked(txns_[t]), ended(txns_[t])));
  }
  for (const Sighting& s : token.sightings) {
    if (!s.recurs) continue;
    for (const auto t : appends) {
      choice = choice || (ended(txns_[t]) > s.after && invoked(txns_[t]) < s.last);
    }
  }
  if (!choice) return true;
  const Txn& txn = txns_[appends.back()];
  return fail(txn,
              "found the text " + shown(chunks_[tried(txn).chunk], value(tried(txn))) +
                  " written to one key several times, so that gets do not show which append they "
                  "show; expected distinct texts");
}

bool Assembly::resolve_store() {
  base::HashMap<std::string, Store> stores;
  if (!collect_tokens(stores)) return false;
  for (const Txn& txn : txns_) {
    reading_.step();
    if (event(anchor(txn)).f != F::kGet || txn.status != TxnStatus::kCommitted) continue;
    const auto it = stores.find(store_name(txn));
    if (it != stores.end() && value(txn.completion).tag == Tag::kString)
      note_sightings(txn, it->second);
  }
  base::HashMap<std::uint32_t, std::string_view> found;
  for (std::uint32_t t = 0; t < txns_.size(); ++t) {
    reading_.step();
    if (event(tried(txns_[t])).f != F::kAppend) continue;
    Store& store = stores[store_name(txns_[t])];
    const Token& token = store.tokens[value(tried(txns_[t])).view()];
    if (token.appends.front() == t && !match(store, token, found)) return false;
  }
  const auto whole = [](const Cell& cell) {  // "" is what a key holds at first
    return cell.is_nothing() || cell.size == 0 ? Cell::null() : cell;
  };
  for (std::uint32_t t = 0; t < txns_.size(); ++t) {
    reading_.step();
    Txn& txn = txns_[t];
    const Ref from = tried(txn);
    const Cell store = scalar(chunks_[from.chunk], key(from));
    const F f = event(from).f;
    if (f == F::kGet) {
      const bool ok = txn.status == TxnStatus::kCommitted;
      extra_op(txn, Micro::kRead, store, ok ? whole(value(txn.completion)) : Cell::null(), !ok);
    } else if (f == F::kPut) {
      extra_op(txn, Micro::kWrite, store, whole(value(from)));
    } else if (const auto it = found.find(t); it == found.end()) {
      const auto name = fmt::format("<append #{}>", ordinal(anchor(txn)));
      extra_op(txn, Micro::kWrite, store, Cell::of(Tag::kLiteral, extra().keep(name)));
    } else {
      const auto prefix = it->second;
      const auto after = std::string(prefix) + std::string(value(from).view());
      extra_cas(txn, store, prefix.empty() ? Cell::null() : Cell::of(Tag::kString, prefix),
                Cell::of(Tag::kString, extra().keep(after)), false);
    }
  }
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
  const bool txns = kind_ == Kind::kTxn;
  for (const Txn& txn : txns_) {
    reading_.step();
    Chunk& chunk = chunks_[txn.chunk];
    for (std::uint32_t i = txn.first; i < txn.first + txn.count; ++i) {
      reading_.step();
      MicroOp& op = chunk.ops[i];
      const Micro kind = op.kind();
      if (kind == Micro::kRange) {
        for (std::size_t j = 0; j < op.value.size; ++j) {
          const Cell entry = chunk.child(chunk.child(op.value, j), 0);
          if (!note(key_id(chunk, entry), kWritten)) {
            return fail(txn, "found key " + shown(chunk, entry) +
                                 " in a range read and with appends, expected one of the two");
          }
        }
        continue;
      }
      const KeyId k = key_id(chunk, op.key);
      std::uint8_t use = kWritten;
      if (kind == Micro::kAppend) use = kAppended;
      if (kind == Micro::kRead) {
        use = txns && op.value.is_vector() ? kVectorSeen : op.value.is_nothing() ? 0 : kScalarSeen;
      }
      if (!note(k, use)) {
        return fail(txn, "found key " + shown(chunk, op.key) +
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

bool Assembly::emit_op(const Txn& txn, const Chunk& chunk, const MicroOp& op) {
  const Micro kind = op.kind();
  if (kind == Micro::kRange) {
    range_.clear();
    if (op.value.is_nothing() && txn.status == TxnStatus::kCommitted) {
      return fail(txn, "found a range read without what it saw, expected [[key value] …]");
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
    case Micro::kRead: {
      const bool committed = txn.status == TxnStatus::kCommitted;
      const bool known =
          op.value.note == 0 && (committed || !op.value.is_nothing()) && !txn.from_invoke;
      const auto use = key_use_[k.index()];
      if ((use & kAppended) != 0 || ((use & kVectorSeen) != 0 && (use & kWritten) == 0)) {
        if (!known) {
          builder_.list_read_unknown(k);
          break;
        }
        if (!op.value.is_vector() && !op.value.is_nothing()) {
          return fail(txn, "found a read of " + shown(chunk, op.value) +
                               " from a key that other reads show to be a list, expected a vector");
        }
        list_.clear();
        for (std::size_t i = 0; i < op.value.size; ++i) {
          list_.push_back(value_id(chunk, chunk.child(op.value, i)));
        }
        builder_.list_read(k, list_);
      } else {
        builder_.read(k, known ? value_id(chunk, op.value) : ValueId::none());
      }
      break;
    }
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
  // The order of the lines is an order in time only if both ends are there.
  const bool line_order = !timed_ && all_invoked_ && !anonymous_;
  if (line_order) builder_.set_metadata("times", "line order");
  const auto time = [&](Ref ref) {
    if (!ref.valid()) return kNoTime;
    return line_order ? static_cast<history::Time>(ordinal(ref)) : event(ref).time;
  };
  const auto last_of = last_of_chunks();
  for (std::size_t t = 0; t < txns_.size(); ++t) {
    const Txn& txn = txns_[t];
    reading_.step();
    const Event& e = event(anchor(txn));
    const auto label = e.index >= 0 ? static_cast<std::uint64_t>(e.index) : ordinal(anchor(txn));
    builder_.begin(
        history::SessionId(txn.session), txn.status,
        {.invoke = time(txn.invoke),
         .complete = time(txn.completion),
         .label = static_cast<std::uint32_t>(std::min<std::uint64_t>(label, 0xffffffff))});
    const Chunk& chunk = chunks_[txn.chunk];
    for (std::uint32_t i = txn.first; i < txn.first + txn.count; ++i) {
      reading_.step();
      if (!emit_op(txn, chunk, chunk.ops[i])) return false;
    }
    builder_.end();
    for (const Ref ref : {txn.invoke, txn.completion}) {
      if (ref.valid() && last_of[ref.chunk] == t) chunks_[ref.chunk] = Chunk();
    }
  }
  return true;
}

// The last transaction that needs a chunk, by chunk. So what is read and what is built are not in
// memory at once. Of single objects all stay, since their operations borrow text.
std::vector<std::size_t> Assembly::last_of_chunks() const {
  std::vector<std::size_t> last(chunks_.size(), txns_.size());
  if (kind_ != Kind::kTxn) return last;
  for (std::size_t t = 0; t < txns_.size(); ++t) {
    for (const Ref ref : {txns_[t].invoke, txns_[t].completion}) {
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
