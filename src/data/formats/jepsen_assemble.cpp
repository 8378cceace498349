// From events to a History. In order:
//   pair     invocations with completions, process by process (op_interpreter)
//   classify what kind of history this is (op_kinds)
//   resolve  for the single-object kinds, what each pair did as micro-operations
//   build    which keys are lists, and the transactions (jepsen_build)
// Linear in the events and operations.
#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "data/formats/formats.hpp"
#include "data/formats/jepsen_build.hpp"
#include "data/formats/jepsen_events.hpp"
#include "data/formats/jepsen_faults.hpp"
#include "data/formats/jepsen_objects.hpp"
#include "data/formats/jepsen_pairs.hpp"
#include "data/formats/op_interpreter.hpp"
#include "data/formats/op_kinds.hpp"
#include "data/formats/op_pairing.hpp"
#include "data/formats/op_setup.hpp"
#include "data/history/builder.hpp"
#include "data/history/unwritten.hpp"

namespace cupel::formats::jepsen {

namespace {

using history::TxnStatus;

constexpr const char* kWasCut =
    "the file was cut while it was written; its incomplete last line is left out";

class Assembly {
 public:
  Assembly(std::vector<Chunk> chunks, const Source& source, Reading reading)
      : source_(source),
        reading_(reading),
        interpreter_(source.as),
        build_(p_, reading_, source.as) {
    p_.chunks = std::move(chunks);
  }

  base::Result<history::History> run() {
    for (const Chunk& chunk : p_.chunks) {
      if (chunk.error) return error_at(source_, *chunk.error);
    }
    if (!pair()) return error_at(source_, *p_.error);
    std::optional<ObjectsOf> objects;
    if (!find_objects(p_, source_.as, objects)) return error_at(source_, *p_.error);
    if (objects && source_.objects != nullptr) return assemble_objects(*objects);
    if (!classify_all() || !resolve()) return error_at(source_, *p_.error);
    if (auto misspelled = interpreter_.misspelled())
      return base::Error{.message = *std::move(misspelled), .file = source_.file};
    take_set_ups();
    const bool all_invoked = interpreter_.all_invoked();
    // The order of the lines is an order in time only if both ends are there.
    const bool line_order =
        !interpreter_.any_time() && all_invoked && !interpreter_.any_anonymous();
    if (!build_.run(kinds_, line_order)) return error_at(source_, *p_.error);
    auto& builder = build_.builder();
    if (source_.cut) {
      if (!all_invoked) {
        return error_at(
            source_, {*source_.cut,
                      "found a last line without its end: the file was cut while it was written; "
                      "since its operations have no invocations, values that were read may have "
                      "been written in the lost part"});
      }
      builder.set_metadata(history::kCut, kWasCut);
    }
    if (auto ignored = interpreter_.ignored(); !ignored.empty())
      builder.set_metadata("ignored", ignored);
    if (auto missing = interpreter_.missing(); !missing.empty())
      builder.set_metadata(kNotIgnored, missing);
    if (auto text = faults_.text(); !text.empty()) builder.set_metadata("faults", text);
    builder.set_metadata("format", source_.format);
    auto built = std::move(builder).finish();
    if (!built) {
      auto error = std::move(built).error();
      error.file = source_.file;
      return error;
    }
    if (auto doubt = lost_write(*built)) return error_at(source_, *std::move(doubt));
    return built;
  }

 private:
  // What a process has open.
  struct Process {
    Ref pending;
    std::uint32_t session = Ref::kNone;
  };

  bool pair();
  bool take(Ref ref);
  std::uint32_t session_of(const Event& e, Ref ref, Process& process);
  bool add(PairedOp op);
  bool classify_all();
  bool classify();
  bool resolve();
  base::Result<history::History> assemble_objects(const ObjectsOf& what);
  bool times_follow_lines() const;
  void take_set_ups();
  // A read of what nobody wrote, where nobody knows all that was written.
  std::optional<ParseError> lost_write(const history::History& h) const;

  Pairs p_;
  Source source_;
  Reading reading_;
  Interpreter interpreter_;
  Build build_;
  Kinds kinds_;
  Faults faults_;
  std::vector<Process> processes_;
  std::optional<std::uint64_t> others_;  // the ordinal of the first event that sets nothing up
  history::Time others_begin_ = history::kNoTime;  // the first invocation among these events
};

bool Assembly::pair() {
  std::uint64_t count = 0;
  for (const Chunk& chunk : p_.chunks) {
    p_.first_ordinal.push_back(count);
    count += chunk.events.size();
  }
  p_.ops.reserve(count / 2 + 1);
  for (std::uint32_t c = 0; c < p_.chunks.size(); ++c) {
    for (std::uint32_t i = 0; i < p_.chunks[c].events.size(); ++i) {
      reading_.step();
      if (!take({c, i})) return false;
    }
  }
  // An operation that was never completed may have happened.
  for (const Process& process : processes_) {
    if (!process.pending.valid()) continue;
    if (!add({.invoke = process.pending,
              .completion = {},
              .session = process.session,
              .status = TxnStatus::kIndeterminate})) {
      return false;
    }
  }
  return true;
}

bool Assembly::take(Ref ref) {
  const Chunk& chunk = p_.chunks[ref.chunk];
  const Event& e = chunk.events[ref.event];
  if (e.nemesis && !e.is_header()) faults_.note(chunk, e);
  Interpreter::Step step;
  if (auto refused = interpreter_.take(chunk, e, step)) return p_.fail(e.byte, *std::move(refused));
  if (step.what == Interpreter::What::kNothing) return true;
  if (step.what == Interpreter::What::kHeader) {
    auto malformed = build_.take_header(chunk, e);
    return !malformed || p_.fail(e.byte, *std::move(malformed));
  }
  if (step.process == processes_.size()) processes_.emplace_back();
  auto& process = processes_[step.process];
  // A set-up before everything else gets its session once it is known to be a transaction.
  if (!step.sets_up) {
    if (!others_) others_ = p_.ordinal(ref);
    const bool begins = e.type == Type::kInvoke && e.time != history::kNoTime;
    if (begins && (others_begin_ == history::kNoTime || e.time < others_begin_))
      others_begin_ = e.time;
  }
  if (!process.pending.valid())
    process.session = others_ ? session_of(e, ref, process) : Ref::kNone;
  if (e.type == Type::kInvoke) {
    process.pending = ref;
    return true;
  }
  const PairedOp op{.invoke = process.pending,
                    .completion = ref,
                    .session = process.session,
                    .status = step.status};
  process.pending = {};
  if (e.process.tag == Tag::kAbsent) process.session = Ref::kNone;
  return add(op);
}

std::uint32_t Assembly::session_of(const Event& e, Ref ref, Process& process) {
  auto& builder = build_.builder();
  if (e.process.tag == Tag::kAbsent) {  // nothing orders it: a session of its own
    return builder
        .session(fmt::format("of operation {}",
                             e.index >= 0 ? static_cast<std::uint64_t>(e.index) : p_.ordinal(ref)))
        .raw;
  }
  return process.session != Ref::kNone ? process.session : builder.session(session_name(e)).raw;
}

bool Assembly::add(PairedOp op) {
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
    const auto says = [&](Ref ref) {
      return is_txn(ref) && (p_.event(ref).count > 0 || p_.event(ref).dropped);
    };
    const bool said = op.invoke.valid() ? says(op.invoke) : !p_.event(op.completion).silent;
    if (op.status == TxnStatus::kIndeterminate && !said) p_.note_unsaid(p_.event(op).byte);
  }
  p_.ops.push_back(op);
  return true;
}

std::optional<ParseError> Assembly::lost_write(const history::History& h) const {
  if (source_.as.initial_later || (!p_.unsaid && !source_.cut)) return std::nullopt;
  const auto read = history::first_unwritten_read(h);
  if (!read) return std::nullopt;
  const auto label = h.label(h.txn_of(*read));
  if (p_.unsaid) return ParseError{*p_.unsaid, fmt::format(kMayHaveWritten, label)};
  return ParseError{*source_.cut,
                    fmt::format("found a last line without its end: the file was cut while it was "
                                "written; T{} read what the rest did not write, so the lost part "
                                "may have written it",
                                label)};
}

bool Assembly::classify_all() {
  if (!p_.ops.empty()) return classify();
  if (!interpreter_.ignored().empty()) return p_.fail(0, kAllIgnored);
  if (interpreter_.nothing_happened(build_.says_nothing_happened())) {
    build_.builder().set_metadata(kNothingHappened, "yes");
    return true;
  }
  return p_.fail(0,
                 "found no operations of clients, expected op maps with a process number and "
                 "f=txn, read/write/cas, acquire/release, or put/append/get");
}

bool Assembly::classify() {
  Classifier classifier(source_.as);
  const auto transaction_of = [&](const PairedOp& op) -> const Event& {
    const bool begins = op.invoke.valid() && p_.event(op.invoke).is_txn;
    return p_.event(begins ? op.invoke : op.anchor());
  };
  if (build_.collection_held()) classifier.collection_held();
  if (!build_.said_kind().empty()) classifier.converted(build_.said_kind());
  for (const PairedOp& op : p_.ops) {
    reading_.step();
    if (op.is_txn) {
      // Of transactions alone, it is enough to know that there are some.
      if (source_.as.kind || !classifier.any_transaction())
        classifier.transaction(transaction_of(op).byte);
      continue;
    }
    const auto said = [&](Ref ref) {
      const Event& event = p_.event(ref);
      return said_by(p_.chunks[ref.chunk], event, event.byte);
    };
    auto invocation = op.invoke.valid() ? std::optional(said(op.invoke)) : std::nullopt;
    if (invocation) classifier.invoked(*invocation);
    if (op.completion.valid()) {
      classifier.ended(invocation ? &*invocation : nullptr, said(op.completion), op.status);
    } else {
      classifier.never_ended(*invocation);
    }
  }
  auto answer = classifier.decide();
  if (answer.refusal) {
    if (const auto also = interpreter_.misspelling(); !also.empty())
      *answer.refusal += "; also " + also;
    if (source_.objects != nullptr && !source_.as.kind && may_be_objects(p_)) {
      *answer.refusal +=
          fmt::format(". If it is about objects, state their kind with --kind: {}", object_names());
    }
    return p_.fail(answer.place, *std::move(answer.refusal));
  }
  kinds_ = std::move(answer.kinds);
  return true;
}

bool Assembly::resolve() {
  const bool stated = source_.as.kind.has_value();
  switch (kinds_.kind) {
    case Workload::kMutex:
      p_.add_extra_chunk();
      return resolve_mutex(p_, reading_, stated);
    case Workload::kStrings:
      p_.add_extra_chunk();
      return resolve_strings(p_, reading_);
    default:
      return resolve_registers(p_, reading_, kinds_, source_.failed_cas_was_seen);
  }
}

// The history is empty, and the objects are where the source wants them.
// No event of a client has an earlier time than one of a line before it.
bool Assembly::times_follow_lines() const {
  history::Time latest = history::kNoTime;
  for (const Chunk& chunk : p_.chunks) {
    for (const Event& event : chunk.events) {
      if (!event.client || event.time == history::kNoTime) continue;
      if (event.time < latest) return false;
      latest = event.time;
    }
  }
  return true;
}

base::Result<history::History> Assembly::assemble_objects(const ObjectsOf& what) {
  auto& out = *source_.objects;
  out = {};
  if (!interpreter_.all_invoked()) {
    for (const auto& op : p_.ops) {
      if (op.invoke.valid()) continue;
      p_.fail(op,
              "found a completion without its invocation. Histories of objects need both lines "
              "of each operation");
      return error_at(source_, *p_.error);
    }
  }
  if (source_.cut && !times_follow_lines()) {
    return error_at(source_,
                    {*source_.cut,
                     "found a last line without its end: the file was cut while it was written; "
                     "since its lines are not in the order of their times, what operations "
                     "returned may come from the lost part"});
  }
  if (auto misspelled = interpreter_.misspelled())
    return base::Error{.message = *std::move(misspelled), .file = source_.file};
  if (!resolve_objects(p_, reading_, what, interpreter_.any_time(), out))
    return error_at(source_, *p_.error);
  const auto note = [&](std::string_view name, std::string text) {
    if (!text.empty()) out.metadata.emplace(name, std::move(text));
  };
  note("format", std::string(source_.format));
  note("kind", std::string(formats::name(what)));
  note("ignored", interpreter_.ignored());
  note(kNotIgnored, interpreter_.missing());
  note("faults", faults_.text());
  if (source_.cut) note(history::kCut, kWasCut);
  history::HistoryBuilder builder;
  for (const char* name : {"format", "kind"}) builder.set_metadata(name, out.fact(name));
  return std::move(builder).finish();
}

// Those that are the initial contents are no operations any more.
void Assembly::take_set_ups() {
  std::vector<std::size_t> places;
  std::vector<SetUp> set_ups;
  for (std::size_t i = 0; i < p_.ops.size(); ++i) {
    const PairedOp& op = p_.ops[i];
    if (op.session != Ref::kNone) continue;
    places.push_back(i);
    auto& one = set_ups.emplace_back();
    if (op.invoke.valid()) one.invoked = p_.ordinal(op.invoke);
    if (op.completion.valid() && others_ && p_.ordinal(op.completion) < *others_) {
      one.ended = p_.ordinal(op.completion);
      one.committed = op.status == TxnStatus::kCommitted;
      one.failed = op.status == TxnStatus::kAborted;
      one.end_time = p_.event(op.completion).time;
    }
    one.writes = build_.writes_of(op);
  }
  const auto contents = initial_contents(set_ups, others_begin_);
  std::vector<std::size_t> transactions;
  for (std::size_t i = 0; i < places.size(); ++i) {
    if (contents[i]) {
      build_.initial(p_.ops[places[i]]);
    } else {
      transactions.push_back(places[i]);
    }
  }
  kinds_.set_ups = places.size() - transactions.size();
  // Their sessions come in the order in which they began.
  std::sort(transactions.begin(), transactions.end(), [&](std::size_t a, std::size_t b) {
    return p_.ordinal(p_.ops[a].tried()) < p_.ordinal(p_.ops[b].tried());
  });
  for (const auto place : transactions) {
    PairedOp& op = p_.ops[place];
    Process none;
    op.session = session_of(p_.event(op.tried()), op.tried(), none);
  }
  std::erase_if(p_.ops, [](const PairedOp& op) { return op.session == Ref::kNone; });
}

}  // namespace

base::Result<history::History> assemble(std::vector<Chunk> chunks, const Source& source,
                                        Reading reading) {
  return Assembly(std::move(chunks), source, reading).run();
}

}  // namespace cupel::formats::jepsen
