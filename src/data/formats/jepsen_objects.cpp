// Objects: see the header.
#include "data/formats/jepsen_objects.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <iterator>
#include <limits>
#include <map>
#include <span>
#include <utility>

#include "data/formats/edn.hpp"

namespace cupel::formats::jepsen {

namespace {

using history::Call;
using history::ObjectHistory;
using history::ObjectKind;
using history::ObjectOp;
using history::TxnStatus;

// The words that an operation of a kind may have.
struct CallWord {
  ObjectKind kind;
  std::string_view word;
  Call call;
};
constexpr std::string_view kDrain = "drain";  // dequeues until the queue is empty
constexpr CallWord kCallWords[] = {
    {ObjectKind::kSet, "add", Call::kAdd},
    {ObjectKind::kSet, "read", Call::kRead},
    {ObjectKind::kCounter, "add", Call::kAdd},
    {ObjectKind::kCounter, "inc", Call::kAdd},
    {ObjectKind::kCounter, "increment", Call::kAdd},
    {ObjectKind::kCounter, "dec", Call::kAdd},
    {ObjectKind::kCounter, "decrement", Call::kAdd},
    {ObjectKind::kCounter, "read", Call::kRead},
    {ObjectKind::kUniqueIds, "generate", Call::kGenerate},
    {ObjectKind::kBag, "enqueue", Call::kEnqueue},
    {ObjectKind::kBag, "dequeue", Call::kDequeue},
    {ObjectKind::kBag, kDrain, Call::kDequeue},
    {ObjectKind::kFifoQueue, "enqueue", Call::kEnqueue},
    {ObjectKind::kFifoQueue, "dequeue", Call::kDequeue},
    {ObjectKind::kFifoQueue, kDrain, Call::kDequeue},
    {ObjectKind::kBank, "transfer", Call::kTransfer},
    {ObjectKind::kBank, "read", Call::kRead},
};

bool subtracts(std::string_view word) {
  return word == "dec" || word == "decrement";
}
// Without a value they add one.
bool adds_one(std::string_view word) {
  return word != "add";
}

std::optional<Call> call_of(ObjectKind kind, std::string_view word) {
  for (const auto& one : kCallWords) {
    if (one.kind == kind && one.word == word) return one.call;
  }
  return std::nullopt;
}

bool is_edn_set(const Cell& cell) {
  return cell.tag == Tag::kLiteral && cell.view().starts_with("#{");
}

bool is_elements(const Cell& cell) {
  return cell.is_vector() || is_edn_set(cell);
}

// Whether the value is [key rest], as of jepsen.independent.
bool is_two(const Cell& cell) {
  return cell.is_vector() && cell.size == 2;
}

bool says_field_key(const Chunk& chunk, const Event& event) {
  return !chunk.values[event.first + 1].is_nothing();
}

// The forms of the values in a file that matter for its kind.
struct Shapes {
  std::map<std::string_view, std::uint64_t> words;  // of f; the first byte
  bool transactions = false;
  bool fields = false;         // the key is a field
  bool pairs = true;           // every invocation has a pair, and every result of a read
  std::uint64_t reads = 0;     // ok ones that returned something
  bool elements_read = false;  // an ok read returned elements
  bool number_read = false;    // or a whole number
  bool map_read = false;       // or a map
  bool another_read = false;   // or something else
};

// The payload of an operation in a file whose keys may be in pairs.
Cell payload_of(const Chunk& chunk, const Cell& value, bool keyed) {
  return keyed && is_two(value) ? chunk.child(value, 1) : value;
}

Shapes shapes_of(const Pairs& pairs) {
  Shapes shapes;
  for (const PairedOp& op : pairs.ops) {
    if (op.is_txn) {
      shapes.transactions = true;
      return shapes;
    }
    for (const Ref ref : {op.invoke, op.completion}) {
      if (!ref.valid()) continue;
      const Chunk& chunk = pairs.chunks[ref.chunk];
      const Event& event = pairs.event(ref);
      shapes.words.try_emplace(word(chunk, event), event.byte);
      if (says_field_key(chunk, event)) shapes.fields = true;
      const bool says =
          event.type == Type::kInvoke || (event.type == Type::kOk && event.f == F::kRead);
      const Cell value = pairs.value(ref);
      if (says && !is_two(value) && (event.type == Type::kInvoke || !value.is_nothing()))
        shapes.pairs = false;
    }
  }
  for (const PairedOp& op : pairs.ops) {
    if (!op.completion.valid() || op.status != TxnStatus::kCommitted) continue;
    const Event& event = pairs.event(op.completion);
    if (event.f != F::kRead) continue;
    const Cell value = payload_of(pairs.chunks[op.completion.chunk], pairs.value(op.completion),
                                  shapes.fields || shapes.pairs);
    if (value.is_nothing()) continue;
    ++shapes.reads;
    if (is_elements(value)) {
      shapes.elements_read = true;
    } else if (value.tag == Tag::kMap) {
      shapes.map_read = true;
    } else {
      (value.tag == Tag::kInteger ? shapes.number_read : shapes.another_read) = true;
    }
  }
  return shapes;
}

// The kind that the words and values say. None: none of these.
std::optional<ObjectsOf> kind_by(const Shapes& shapes) {
  const auto only = [&](ObjectKind kind) {
    return !shapes.transactions &&
           std::all_of(shapes.words.begin(), shapes.words.end(),
                       [&](const auto& word) { return call_of(kind, word.first).has_value(); });
  };
  if (shapes.another_read || shapes.elements_read + shapes.number_read + shapes.map_read > 1)
    return std::nullopt;
  if (shapes.words.contains("transfer") && shapes.map_read && only(ObjectKind::kBank))
    return ObjectsOf{.kind = ObjectKind::kBank};
  if (shapes.elements_read && shapes.words.contains("add") && only(ObjectKind::kSet))
    return ObjectsOf{.kind = ObjectKind::kSet, .full = shapes.reads > 1};
  if (shapes.number_read && only(ObjectKind::kCounter))
    return ObjectsOf{.kind = ObjectKind::kCounter};
  if (shapes.words.contains("generate") && only(ObjectKind::kUniqueIds))
    return ObjectsOf{.kind = ObjectKind::kUniqueIds};
  // Nothing says that the queue has an order.
  if (shapes.words.contains("enqueue") && only(ObjectKind::kBag))
    return ObjectsOf{.kind = ObjectKind::kBag};
  return std::nullopt;
}

// Operations with their values as a history.
class Resolver {
 public:
  Resolver(Pairs& pairs, Reading& reading, const ObjectsOf& what, bool timed, ObjectHistory& out)
      : p_(pairs), reading_(reading), kind_(what.kind), timed_(timed), out_(out) {
    out_.kind = what.kind;
    out_.full = what.full;
    out_.times_are_places = !timed;
    const auto shapes = shapes_of(pairs);
    fields_ = shapes.fields;
    out_.keyed = fields_ || (shapes.pairs && kind_ != ObjectKind::kBank);
  }

  bool run() {
    p_.add_extra_chunk();
    for (const PairedOp& op : p_.ops) {
      reading_.step();
      if (!add(op)) return false;
    }
    if (out_.objects.size() == 0) out_.objects.intern(history::ScalarView::null());
    out_.objects.drop_index();
    out_.elements.drop_index();
    return true;
  }

 private:
  bool add(const PairedOp& paired) {
    const Event& invoke = p_.event(paired.invoke);
    ObjectOp op;
    op.status = paired.status;
    op.call = *call_of(kind_, word(p_.chunks[paired.invoke.chunk], invoke));
    op.process = process_of(paired, invoke);
    op.label = label_of(p_.event(paired.anchor()), p_.ordinal(paired.anchor()));
    op.invoke_place = static_cast<std::uint32_t>(p_.ordinal(paired.invoke));
    op.complete_place = paired.completion.valid()
                            ? static_cast<std::uint32_t>(p_.ordinal(paired.completion))
                            : 0xffffffff;
    if (!take_times(paired, op) || !take_object(paired, op)) return false;
    op.first = out_.values.size();
    if (word(p_.chunks[paired.invoke.chunk], invoke) == kDrain) return take_drain(paired, op);
    if (!take_values(paired, op)) return false;
    op.count = static_cast<std::uint32_t>(out_.values.size() - op.first);
    out_.ops.push_back(op);
    return true;
  }

  std::uint32_t process_of(const PairedOp& op, const Event& invoke) {
    const auto name = invoke.process.tag == Tag::kAbsent
                          ? fmt::format("of operation {}", p_.ordinal(op.invoke))
                          : session_name(invoke);
    const auto [at, added] =
        processes_.try_emplace(name, static_cast<std::uint32_t>(out_.processes.size()));
    if (added) out_.processes.push_back(name);
    return at->second;
  }

  // An operation that has not certainly ended may take effect at any time after its invocation.
  bool take_times(const PairedOp& paired, ObjectOp& op) {
    const auto time_of = [&](Ref ref) -> std::optional<history::Time> {
      if (!timed_) return static_cast<history::Time>(p_.ordinal(ref));
      const Event& event = p_.event(ref);
      if (event.time != history::kNoTime) return event.time;
      p_.fail(event.byte,
              "found an operation without time, and others have it. Record the time in "
              "every line, or in none");
      return std::nullopt;
    };
    const auto begin = time_of(paired.invoke);
    if (!begin) return false;
    op.invoke = *begin;
    if (!paired.completion.valid()) return true;
    const auto end = time_of(paired.completion);
    if (!end) return false;
    if (op.status != TxnStatus::kIndeterminate) op.complete = *end;
    return true;
  }

  // The key of the object; the payloads of both lines.
  bool take_object(const PairedOp& paired, ObjectOp& op) {
    const Chunk& chunk = p_.chunks[paired.invoke.chunk];
    tried_ = p_.value(paired.invoke);
    done_ = paired.completion.valid() ? p_.value(paired.completion) : Cell::null();
    Cell key = Cell::null();
    if (fields_) {
      key = p_.key(paired.invoke);
      if (!has_field_key(paired)) return false;
      // A read has its key before its value by now.
      tried_ = payload_of(chunk, tried_, op.call == Call::kRead);
      if (paired.completion.valid())
        done_ = payload_of(p_.chunks[paired.completion.chunk], done_, op.call == Call::kRead);
    } else if (out_.keyed) {
      key = chunk.child(tried_, 0);
      tried_ = chunk.child(tried_, 1);
      if (!done_.is_nothing() && op.status == TxnStatus::kCommitted) {
        const Chunk& done_in = p_.chunks[paired.completion.chunk];
        if (!is_two(done_)) return p_.fail(paired, no_pair(shown(done_in, done_)));
        if (id_of(done_in, done_in.child(done_, 0), out_.objects) !=
            id_of(chunk, key, out_.objects)) {
          return p_.fail(paired,
                         fmt::format("the \"ok\" has the key {}, and its invocation {}. "
                                     "Record the invoked key in both lines",
                                     shown(done_in, done_in.child(done_, 0)), shown(chunk, key)));
        }
        done_ = done_in.child(done_, 1);
      }
    }
    op.object = id_of(chunk, key, out_.objects);
    return true;
  }

  // The key is a field of every operation, and the same in both lines.
  bool has_field_key(const PairedOp& paired) {
    const Chunk& chunk = p_.chunks[paired.invoke.chunk];
    const Cell key = p_.key(paired.invoke);
    if (key.is_nothing()) {
      return p_.fail(p_.event(paired.invoke).byte,
                     fmt::format("f={} has no field key, and other operations have one. Record the "
                                 "key in every operation, or in none",
                                 word(chunk, p_.event(paired.invoke))));
    }
    if (!paired.completion.valid() || p_.key(paired.completion).is_nothing()) return true;
    const Chunk& done_in = p_.chunks[paired.completion.chunk];
    const Cell done = p_.key(paired.completion);
    if (id_of(done_in, done, out_.objects) == id_of(chunk, key, out_.objects)) return true;
    return p_.fail(paired,
                   fmt::format("the completion has the key {}, and its invocation {}. Record "
                               "the invoked key in both lines",
                               shown(done_in, done), shown(chunk, key)));
  }

  bool take_values(const PairedOp& paired, ObjectOp& op) {
    if (kind_ == ObjectKind::kCounter)
      return op.call == Call::kRead ? take_number_read(paired, op) : take_amount(paired, op);
    if (kind_ == ObjectKind::kBank)
      return op.call == Call::kRead ? take_balances(paired, op) : take_transfer(paired, op);
    if (op.call == Call::kGenerate || op.call == Call::kDequeue) return take_id(paired, op);
    return op.call == Call::kRead ? take_read(paired, op) : take_argument(paired);
  }

  // The entries of a map, in turn.
  template <typename Take>
  bool entries(const PairedOp& paired, const Cell& map, Take take) {
    Chunk scratch;  // the map was read before, so it is well formed
    EdnReader reader(map.view().substr(1), scratch);
    for (;;) {
      reader.skip();
      if (reader.at_end() || reader.peek() == '}') return true;
      Cell name, value;
      if (!reader.value(name, 2) || !reader.value(value, 2))
        return p_.fail(paired, scratch.error->message);
      if (!take(scratch, name, value)) return false;
    }
  }

  // The keys of JSON are strings, also those that are numbers elsewhere.
  std::uint32_t account(const Chunk& chunk, const Cell& cell) {
    if (cell.tag == Tag::kString) {
      std::int64_t number = 0;
      const auto text = cell.view();
      const auto [end, bad] = std::from_chars(text.data(), text.data() + text.size(), number);
      if (bad == std::errc() && end == text.data() + text.size() && std::to_string(number) == text)
        return out_.elements.intern(number);
    }
    return id_of(chunk, cell, out_.elements);
  }

  bool take_balances(const PairedOp& paired, ObjectOp& op) {
    if (paired.status != TxnStatus::kCommitted || done_.is_nothing()) return true;
    op.known = true;
    const auto wrong = [&](const Cell& cell, const Chunk& chunk) {
      return p_.fail(paired,
                     fmt::format("a read of a bank returned {}. Record a map of accounts and "
                                 "whole balances, as in {{0 10, 1 5}}",
                                 shown(chunk, cell)));
    };
    if (done_.tag != Tag::kMap || !done_.view().starts_with('{'))
      return wrong(done_, p_.chunks[paired.completion.chunk]);
    return entries(paired, done_, [&](const Chunk& chunk, const Cell& name, const Cell& balance) {
      if (!balance.is_nothing() && balance.tag != Tag::kInteger) return wrong(balance, chunk);
      out_.values.push_back(account(chunk, name));
      out_.numbers.resize(out_.values.size());
      out_.numbers.back() = balance.is_nothing() ? history::kNilBalance : balance.integer;
      return true;
    });
  }

  bool take_transfer(const PairedOp& paired, ObjectOp& op) {
    const Chunk& chunk = p_.chunks[paired.invoke.chunk];
    std::optional<std::uint32_t> from, to;
    bool amount = false;
    const bool map = tried_.tag == Tag::kMap && tried_.view().starts_with('{');
    if (map && !entries(paired, tried_, [&](const Chunk& in, const Cell& name, const Cell& value) {
          if (!name.is_name()) return true;
          if (name.view() == "from") from = account(in, value);
          if (name.view() == "to") to = account(in, value);
          if (name.view() != "amount" || value.tag != Tag::kInteger) return true;
          op.number = value.integer;
          amount = value.integer != std::numeric_limits<std::int64_t>::min();
          return true;
        })) {
      return false;
    }
    if (!from || !to || !amount) {
      return p_.fail(paired,
                     fmt::format("the transfer {} does not say from, to and a whole amount. Record "
                                 "it as {{:from 0, :to 1, :amount 5}}",
                                 shown(chunk, tried_)));
    }
    out_.values.insert(out_.values.end(), {*from, *to});
    out_.numbers.resize(out_.values.size());
    if (paired.status != TxnStatus::kCommitted || done_.is_nothing()) return true;
    std::string tried, done;
    canonical(chunk, tried_, tried);
    canonical(p_.chunks[paired.completion.chunk], done_, done);
    return tried == done ||
           p_.fail(
               paired,
               fmt::format("the \"ok\" has {}, and its invocation {}. Record the invoked "
                           "transfer in both lines",
                           shown(p_.chunks[paired.completion.chunk], done_), shown(chunk, tried_)));
  }

  // A drain is as many dequeues as it returned elements, each at some time in its interval. Without
  // a result, a drain took any number of elements.
  bool take_drain(const PairedOp& paired, ObjectOp op) {
    const bool known = paired.status == TxnStatus::kCommitted && done_.is_vector();
    if (!known && op.possible() && kind_ == ObjectKind::kFifoQueue) {
      return p_.fail(paired,
                     "found a drain without a known result: it may have taken any number of "
                     "elements, so that the order of a FIFO queue cannot be checked. Try "
                     "--kind total-queue");
    }
    for (std::size_t i = 0; known && i < done_.size; ++i) {
      const Chunk& chunk = p_.chunks[paired.completion.chunk];
      op.first = out_.values.size();
      op.count = 1;
      op.known = true;
      out_.values.push_back(id_of(chunk, chunk.child(done_, i), out_.elements));
      out_.ops.push_back(op);
    }
    return true;
  }

  // The id or the element that a call returned. It may be invoked with anything.
  bool take_id(const PairedOp& paired, ObjectOp& op) {
    if (paired.status != TxnStatus::kCommitted || done_.is_nothing()) return true;
    op.known = true;
    out_.values.push_back(id_of(p_.chunks[paired.completion.chunk], done_, out_.elements));
    return true;
  }

  bool take_number(const PairedOp& paired, Ref ref, const Cell& cell, std::int64_t& number) {
    if (cell.tag == Tag::kInteger && cell.integer != std::numeric_limits<std::int64_t>::min()) {
      number = cell.integer;
      return true;
    }
    return p_.fail(paired,
                   fmt::format("the value {} of a counter is no whole number. Record numbers of 64 "
                               "bits",
                               shown(p_.chunks[ref.chunk], cell)));
  }

  bool take_number_read(const PairedOp& paired, ObjectOp& op) {
    if (paired.status != TxnStatus::kCommitted || done_.is_nothing()) return true;
    op.known = true;
    return take_number(paired, paired.completion, done_, op.number);
  }

  // An ok that returns another number than was added may be the new value of the counter.
  bool take_amount(const PairedOp& paired, ObjectOp& op) {
    const auto name = word(p_.chunks[paired.invoke.chunk], p_.event(paired.invoke));
    op.number = 1;
    if (!(tried_.is_nothing() && adds_one(name)) &&
        !take_number(paired, paired.invoke, tried_, op.number)) {
      return false;
    }
    if (paired.status == TxnStatus::kCommitted && !done_.is_nothing()) {
      std::int64_t done = 0;
      if (!take_number(paired, paired.completion, done_, done)) return false;
      if (tried_.is_nothing() || done != op.number) {
        return p_.fail(paired,
                       fmt::format("the \"ok\" of f={} has {}, and its invocation {}. Record "
                                   "the invoked number in both lines; cupel does not check "
                                   "counters whose adds return the new value",
                                   name, done, shown(p_.chunks[paired.invoke.chunk], tried_)));
      }
    }
    if (subtracts(name)) op.number = -op.number;
    return true;
  }

  // The argument of the invocation, which an ok repeats.
  bool take_argument(const PairedOp& paired) {
    const Chunk& chunk = p_.chunks[paired.invoke.chunk];
    if (tried_.is_nothing() && paired.status == TxnStatus::kIndeterminate) {
      return p_.fail(paired,
                     fmt::format("f={} was invoked without its value and its outcome is not known: "
                                 "any element may come from it. Record the value in each "
                                 "invocation",
                                 word(chunk, p_.event(paired.invoke))));
    }
    const auto argument = id_of(chunk, tried_, out_.elements);
    out_.values.push_back(argument);
    if (paired.status != TxnStatus::kCommitted || done_.is_nothing()) return true;
    const Chunk& done_in = p_.chunks[paired.completion.chunk];
    if (id_of(done_in, done_, out_.elements) == argument) return true;
    return p_.fail(paired,
                   fmt::format("the \"ok\" has {}, and its invocation {}. Record the invoked "
                               "value in both lines",
                               shown(done_in, done_), shown(chunk, tried_)));
  }

  // Without a value, nobody knows what the read returned.
  bool take_read(const PairedOp& paired, ObjectOp& op) {
    if (paired.status != TxnStatus::kCommitted || done_.is_nothing()) return true;
    op.known = true;
    const Chunk& chunk = p_.chunks[paired.completion.chunk];
    if (done_.is_vector()) {
      for (std::size_t i = 0; i < done_.size; ++i) {
        reading_.step();
        out_.values.push_back(id_of(chunk, chunk.child(done_, i), out_.elements));
      }
      return true;
    }
    if (!is_edn_set(done_)) {
      return p_.fail(paired,
                     fmt::format("a read of a set returned {}, which is no vector and no set. "
                                 "Record its elements, as in [1 2]",
                                 shown(chunk, done_)));
    }
    return take_edn_set(paired);
  }

  bool take_edn_set(const PairedOp& paired) {
    Chunk scratch;  // the set was read before, so it is well formed
    EdnReader reader(done_.view().substr(2), scratch);
    for (;;) {
      reader.skip();
      if (reader.at_end() || reader.peek() == '}') return true;
      reading_.step();
      Cell element;
      if (!reader.value(element, 2)) return p_.fail(paired, scratch.error->message);
      out_.values.push_back(id_of(scratch, element, out_.elements));
    }
  }

  std::uint32_t id_of(const Chunk& chunk, const Cell& cell, history::ScalarTable& table) {
    return table.intern(scalar_of(chunk, cell, text_));
  }

  Pairs& p_;
  Reading& reading_;
  const ObjectKind kind_;
  const bool timed_;
  ObjectHistory& out_;
  bool fields_ = false;
  Cell tried_, done_;  // the payloads of the operation
  std::map<std::string, std::uint32_t, std::less<>> processes_;
  std::string text_;
};

}  // namespace

bool find_objects(Pairs& pairs, const Interpretation& as, std::optional<ObjectsOf>& found) {
  found = as.objects;
  if (as.kind) return true;
  if (!found) {
    // Most files have transactions or registers: look no further.
    const bool others = std::any_of(pairs.ops.begin(), pairs.ops.end(), [&](const PairedOp& op) {
      return !op.is_txn && pairs.event(op).f == F::kOther;
    });
    if (others) found = kind_by(shapes_of(pairs));
    return true;
  }
  for (const PairedOp& op : pairs.ops) {
    for (const Ref ref : {op.invoke, op.completion}) {
      if (!ref.valid()) continue;
      const auto name = word(pairs.chunks[ref.chunk], pairs.event(ref));
      if (!op.is_txn && call_of(found->kind, name)) continue;
      std::string expected;
      for (const auto& one : kCallWords) {
        if (one.kind != found->kind) continue;
        expected += (expected.empty() ? "f=" : ", f=") + std::string(one.word);
      }
      return pairs.fail(
          pairs.event(ref).byte,
          fmt::format("found {}, which does not fit --kind {}: expected {}. Leave out "
                      "--kind, or name the kind that the file has",
                      op.is_txn ? "a transaction" : fmt::format("f={}", name),
                      formats::name(*found), expected));
    }
  }
  return true;
}

bool may_be_objects(const Pairs& pairs) {
  return std::any_of(pairs.ops.begin(), pairs.ops.end(), [&](const PairedOp& op) {
    const Event& event = pairs.event(op.tried());
    if (op.is_txn || event.f != F::kOther) return false;
    const auto name = word(pairs.chunks[op.tried().chunk], event);
    return std::any_of(std::begin(kCallWords), std::end(kCallWords),
                       [&](const CallWord& one) { return one.word == name; });
  });
}

bool resolve_objects(Pairs& pairs, Reading& reading, const ObjectsOf& what, bool timed,
                     ObjectHistory& out) {
  return Resolver(pairs, reading, what, timed, out).run();
}

}  // namespace cupel::formats::jepsen
