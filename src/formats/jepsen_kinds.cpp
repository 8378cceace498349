// Kinds: what the operations of a whole file are: transactions, a register, a mutex or a string
// key-value store; anything else is refused by name. See jepsen_pairs.hpp.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "formats/jepsen_pairs.hpp"
#include "formats/op_interpreter.hpp"
#include "formats/op_pairing.hpp"

namespace cupel::formats::jepsen {

namespace {

using history::TxnStatus;

class Classification {
 public:
  Classification(Pairs& pairs, const Interpretation& as, Reading& reading)
      : p_(pairs), as_(as), reading_(reading) {}

  bool run(bool collection_held, Kinds& out);

 private:
  // Of the operations that are no transactions.
  struct Shapes {
    std::map<std::string, std::uint64_t> count, first;  // by f: of op maps; the first one's byte
    std::vector<std::string> names;                     // in the order of the file
    std::array<std::uint64_t, static_cast<std::size_t>(F::kOther) + 1> by_f{};  // operations
    std::uint64_t operations = 0;
    bool pairs = false, plain = false;
    bool collections_read = false, collections_written = false;
    bool reads_without_key = false;  // a read was invoked with null
  };

  void find_shapes();
  bool as_transactions();
  bool single_objects(bool collection_held);
  bool refuse(std::string_view guess);

  Pairs& p_;
  const Interpretation& as_;
  Reading& reading_;
  Shapes shapes_;
  Kinds found_;
};

void Classification::find_shapes() {
  auto& shapes = shapes_;
  for (const PairedOp& op : p_.ops) {
    reading_.step();
    if (op.is_txn) continue;
    ++shapes.operations;
    ++shapes.by_f[static_cast<std::size_t>(p_.event(op).f)];
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
}

bool Classification::run(bool collection_held, Kinds& out) {
  find_shapes();
  const bool transactions =
      as_.kind ? *as_.kind == Workload::kTransactions : shapes_.operations < p_.ops.size();
  if (!(transactions ? as_transactions() : single_objects(collection_held))) return false;
  out = std::move(found_);
  return true;
}

// Operations beside transactions: those on a register of several count, and others are an error.
bool Classification::as_transactions() {
  found_.kind = Workload::kTransactions;
  found_.keyed = true;
  std::set<std::string> unknown;
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
    if (known && !says && f == F::kRead && op.status != TxnStatus::kCommitted) continue;
    if (!known || !says) unknown.emplace(word(p_.chunks[op.anchor().chunk], p_.event(op)));
  }
  if (unknown.empty()) {
    found_.objects = std::move(shapes_.names);
    return true;
  }
  std::vector<std::pair<std::string, std::uint64_t>> words;
  for (const auto& f : shapes_.names) {
    if (unknown.contains(f)) words.emplace_back(f, shapes_.count.at(f));
  }
  const auto& name = words.front().first;
  if (shapes_.operations == p_.ops.size()) {
    return p_.fail(shapes_.first.at(name),
                   fmt::format("found f={} whose value is neither a transaction nor [key value], "
                               "and no transaction, which --kind transactions asks for. Leave "
                               "out --kind, or state another kind",
                               name));
  }
  return p_.fail(shapes_.first.at(name), left_out(words));
}

bool Classification::single_objects(bool collection_held) {
  const auto& shapes = shapes_;
  const auto asked = as_.kind;
  const auto of = [&](F f) { return shapes.by_f[static_cast<std::size_t>(f)]; };
  const auto registers = of(F::kRead) + of(F::kWrite) + of(F::kCas) + of(F::kSetup);
  const auto is = [&](Workload kind, std::uint64_t count) {
    found_.kind = kind;
    return count == p_.ops.size() && (!asked || *asked == kind);
  };
  const bool silent_setup = of(F::kSetup) > 0 && !(shapes.pairs || shapes.plain);
  const bool collection =
      shapes.collections_read && !shapes.collections_written && !collection_held;
  if (is(Workload::kRegisters, registers) && !silent_setup && (asked || !collection)) {
    found_.keyed = shapes.pairs && !shapes.plain && !(asked && shapes.reads_without_key);
    if (!found_.keyed || !shapes.reads_without_key) return true;
    return p_.fail(shapes.first.at("read"), kReadWithoutKey);
  }
  if (is(Workload::kMutex, of(F::kAcquire) + of(F::kRelease))) return true;
  if (is(Workload::kStrings, of(F::kPut) + of(F::kAppend) + of(F::kGet))) return true;
  if (asked) {
    const auto* const expected = *asked == Workload::kRegisters ? "f=read, write or cas"
                                 : *asked == Workload::kMutex   ? "f=acquire or release"
                                                                : "f=put, append or get";
    return refuse(fmt::format("history of another kind than --kind {}, which has {}", name(*asked),
                              expected));
  }
  const auto has = [&](std::string_view name) {
    return std::find(shapes.names.begin(), shapes.names.end(), name) != shapes.names.end();
  };
  if (has("transfer")) return refuse("bank workload");
  if (has("add") || has("inc") || has("increment") || has("decrement"))
    return refuse("counter or set workload");
  if (has("enqueue") || has("dequeue")) return refuse("queue workload");
  if (registers == p_.ops.size() && collection)
    return refuse("set or bank workload (reads of whole collections)");
  return refuse("workload of another kind");
}

bool Classification::refuse(std::string_view guess) {
  if (shapes_.names.empty())
    return p_.fail(p_.ops.front(), fmt::format("found f=txn, which looks like a {}", guess));
  std::string found;
  std::uint64_t first = ~std::uint64_t{0};
  for (const std::string& name : shapes_.names) {
    found += (found.empty() ? "f=" : ", f=") + name;
    first = std::min(first, shapes_.first.at(name));
  }
  return p_.fail(first, fmt::format("found {}, which looks like a {}: not a transactional or "
                                    "single-object history; expected f=txn, read/write/cas, "
                                    "acquire/release, or put/append/get with a key",
                                    found, guess));
}

}  // namespace

bool classify(Pairs& pairs, const Interpretation& as, Reading& reading, bool collection_held,
              Kinds& out) {
  return Classification(pairs, as, reading).run(collection_held, out);
}

}  // namespace cupel::formats::jepsen
