// Plain reader: see the header. The rules are those of
// docs/reference/formats/jepsen.md#interpretation.
#include "engine/certify/plain_reader.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <memory>
#include <optional>
#include <set>

#include "engine/certify/plain_maps.hpp"
#include "engine/certify/plain_value.hpp"

namespace cupel::certify {

namespace {

using history::kNoTime;
using history::OpKind;
using history::Time;
using history::TxnStatus;
using Kind = PlainValue::Kind;
using Operations = std::vector<PlainOperation>;

struct Pair {
  std::unique_ptr<PlainMap> invoke, completion;
  std::optional<std::size_t> session = {};  // none: it sets up, and nobody else had begun
};

// The value of which this is the code; of a literal, its text.
PlainValue value_of(const std::string& code) {
  PlainValue value;
  value.text = code.substr(1);
  value.kind = code[0] == 'n'   ? Kind::kNull
               : code[0] == 's' ? Kind::kString
               : code[0] == 'k' ? Kind::kKeyword
                                : Kind::kLiteral;  // an integer's text is its canonical text, too
  return value;
}

bool is_read(const PlainOperation& op) {
  return op.kind == OpKind::kRead || op.kind == OpKind::kRangeRead;
}

void mark(std::vector<bool>& keys, PlainTable::Id key) {
  if (keys.size() <= key) keys.resize(key + 1);
  keys[key] = true;
}

bool is_marked(const std::vector<bool>& keys, std::size_t key) {
  return key < keys.size() && keys[key];
}

class PlainReader {
 public:
  PlainReader(std::string_view bytes, const std::string& file, const PlainOptions& options)
      : file_(file), options_(options), maps_(bytes, out_.table, options.ignore) {}

  base::Result<PlainHistory> run() {
    out_.initial = out_.table.id("n");
    while (auto op = maps_.next()) {
      if (!(op->is_header() ? header(*op) : pair(std::move(op)))) break;
    }
    if (error_.empty()) error_ = maps_.error();
    if (!error_.empty()) {
      return base::Error{.message = error_, .file = file_, .line = maps_.line()};
    }
    for (auto& [name, pending] : pending_) {
      if (pending) end_of(Pair{std::move(pending), nullptr, session_at(name)});
    }
    build();
    return std::move(out_);
  }

 private:
  bool fail(std::string message) {
    error_ = std::move(message);
    return false;
  }

  bool header(const PlainMap& op) {
    const auto& items = op.value.items;
    if (op.f == "cupel.sessions") {
      for (const auto& name : items) session(name.text);
    } else if (op.f == "cupel.initial") {
      if (items.size() != 2) return fail("found a malformed cupel.initial line");
      out_.initial = id(items[0]);
      for (const auto& pair : items[1].items) {
        if (!pair.is_pair()) return fail("found a malformed cupel.initial line");
        out_.initial_of.emplace_back(id(pair.items[0]), id(pair.items[1]));
      }
    }
    return true;
  }

  PlainTable::Id id(const PlainValue& value) { return id_of(out_.table, value); }

  // --- pairs ---

  std::size_t session(const std::string& name) {
    const auto [at, fresh] = session_of_.try_emplace(name, out_.sessions.size());
    if (fresh) out_.sessions.push_back({name});
    return at->second;
  }

  static bool is_number(const std::string& text) {
    std::int64_t number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    return error == std::errc() && std::to_string(number) == text;
  }

  // Two processes are the same if these texts are.
  static std::string process_of(const PlainMap& op) {
    const auto& process = op.process;
    if (process.kind == Kind::kInteger) return "i" + std::to_string(process.integer);
    if (process.kind == Kind::kString) return (is_number(process.text) ? "i" : "s") + process.text;
    return process.kind == Kind::kKeyword ? "k" + process.text : "n";
  }

  std::size_t session_of(const PlainMap& op, const std::string& process) {
    if (op.process.is_nothing()) {
      anonymous_ = true;
      return session(fmt::format("of operation {}", op.index.value_or(op.ordinal)));
    }
    return session((process[0] == 'k' ? ":" : "") + process.substr(1));
  }

  // None of a process that has only set up.
  std::optional<std::size_t> session_at(const std::string& process) const {
    const auto at = sessions_.find(process);
    return at == sessions_.end() ? std::nullopt : std::optional(at->second);
  }

  static bool sets_up(const PlainMap& op) {
    if (op.f != "init" && op.f != "setup") return false;
    return std::all_of(op.operations.begin(), op.operations.end(), [](const PlainOperation& one) {
      return one.kind == OpKind::kWrite || one.kind == OpKind::kInsert;
    });
  }

  // The first operation that does not set up ends the set-up.
  void note_other(const PlainMap& op) {
    if (sets_up(op)) return;
    if (!others_at_) others_at_ = op.ordinal;
    if (op.type != "invoke" || op.time == kNoTime) return;
    others_time_ = others_time_ == kNoTime ? op.time : std::min(others_time_, op.time);
  }

  bool pair(std::unique_ptr<PlainMap> op) {
    note_other(*op);
    timed_ = timed_ || op->time != kNoTime;
    const auto process = process_of(*op);
    auto& pending = pending_[process];
    if (op->process.is_nothing()) anonymous_ = true;
    if (op->type == "invoke") {
      if (pending) return fail("found a second invocation of a process that has one open");
      note_session(*op, process);
      pending = std::move(op);
      return true;
    }
    if (op->type != "ok" && op->type != "fail" && op->type != "info") {
      return fail("found an operation without a type");
    }
    if (!pending) {
      all_invoked_ = false;
      note_session(*op, process);
    }
    return end_of(Pair{std::move(pending), std::move(op), session_at(process)});
  }

  void note_session(const PlainMap& op, const std::string& process) {
    sessions_.erase(process);
    if (others_at_) sessions_[process] = session_of(op, process);
  }

  // A completion repeats what its invocation wrote.
  static bool repeats(const Operations& tried, const Operations& done) {
    for (std::size_t i = 0; i < tried.size(); ++i) {
      const auto &a = tried[i], &b = done[i];
      if (is_read(b) && (is_read(a) || a.kind == OpKind::kDelete)) continue;
      if (a.kind != b.kind || a.key != b.key) return false;
      if (a.kind != OpKind::kDelete && (a.value != b.value || a.other != b.other)) return false;
    }
    return true;
  }

  bool end_of(Pair pair) {
    const bool transaction = (pair.invoke && pair.invoke->transaction) ||
                             (pair.completion && pair.completion->transaction);
    (transaction ? any_transaction_ : any_object_) = true;
    if (transaction && pair.invoke && pair.completion) {
      const auto& tried = pair.invoke->operations;
      auto& done = pair.completion->operations;
      const bool as_many = tried.size() == done.size();
      if (as_many && !repeats(tried, done)) {
        return fail("found a completion with other operations than its invocation");
      }
      // The completion of a set-up may say only how it ended.
      const bool silent = !pair.completion->transaction;
      const bool counts = !silent && (pair.completion->type == "ok" || (as_many && !done.empty()) ||
                                      (tried.empty() && !done.empty()));
      if (counts) pair.invoke->operations.clear();
      if (!counts) done.clear();
      pair.invoke->operations.shrink_to_fit();
    }
    ended_.push_back(std::move(pair));
    return true;
  }

  // --- the history ---

  void build() {
    const bool transactions = any_transaction_ || options_.transactions;
    if (!transactions && !of_objects()) return;
    const bool line_order = !timed_ && all_invoked_ && !anonymous_;
    std::vector<PlainTransaction> all;
    for (auto& pair : ended_) {
      auto& txn = all.emplace_back();
      const PlainMap& last = pair.completion ? *pair.completion : *pair.invoke;
      txn.status = !pair.completion || last.type == "info" ? TxnStatus::kIndeterminate
                   : last.type == "fail"                   ? TxnStatus::kAborted
                                                           : TxnStatus::kCommitted;
      const auto time = [&](const std::unique_ptr<PlainMap>& op) {
        if (!op) return kNoTime;
        return line_order ? static_cast<Time>(op->ordinal) : op->time;
      };
      txn.invoke = time(pair.invoke);
      txn.complete = time(pair.completion);
      txn.label = static_cast<std::uint32_t>(
          std::min<std::uint64_t>(last.index.value_or(last.ordinal), 0xffffffff));
      operations_of(pair, txn);
    }
    const auto contents = contents_of(all);
    const auto first = [&](std::size_t i) -> const PlainMap& {
      return ended_[i].invoke ? *ended_[i].invoke : *ended_[i].completion;
    };
    std::map<std::uint64_t, std::size_t> late;  // by when it began: what has no session yet
    for (std::size_t i = 0; i < all.size(); ++i) {
      if (!contents[i] && !ended_[i].session) late.emplace(first(i).ordinal, i);
    }
    for (const auto& [began, i] : late)
      ended_[i].session = session_of(first(i), process_of(first(i)));
    for (std::size_t i = 0; i < all.size(); ++i) {
      for (const auto& op : all[i].operations) {
        if (contents[i]) out_.initial_of.emplace_back(op.key, op.value);
      }
      if (!contents[i]) out_.sessions[*ended_[i].session].transactions.push_back(std::move(all[i]));
    }
    ended_.clear();
    find_lists(transactions);
  }

  // Which of these pairs set up what the keys start with: they committed before anybody else began,
  // and nobody wrote one of their keys otherwise but after them.
  std::vector<bool> contents_of(const std::vector<PlainTransaction>& all) const {
    std::vector<bool> contents(all.size());
    std::map<PlainTable::Id, std::vector<std::size_t>> writers;
    const auto ended = [&](std::size_t i) -> std::optional<std::uint64_t> {
      const auto& op = ended_[i].completion;
      if (!op || !others_at_ || op->ordinal >= *others_at_) return std::nullopt;
      return op->ordinal;
    };
    for (std::size_t i = 0; i < all.size(); ++i) {
      if (ended_[i].session) continue;
      const bool committed = all[i].status == TxnStatus::kCommitted;
      const auto time = ended_[i].completion ? ended_[i].completion->time : kNoTime;
      const bool in_time = time == kNoTime || others_time_ == kNoTime || time <= others_time_;
      contents[i] = ended(i) && committed && in_time;
      if (ended(i) && all[i].status == TxnStatus::kAborted) continue;
      for (const auto& op : all[i].operations) {
        auto& of_key = writers[op.key];
        if (of_key.empty() || of_key.back() != i) of_key.push_back(i);
      }
    }
    for (const auto& [key, of_key] : writers) {
      const auto value = [&, key = key](std::size_t i) {
        std::optional<PlainTable::Id> last;
        for (const auto& op : all[i].operations) {
          if (op.key == key) last = op.value;
        }
        return last;
      };
      const auto first = of_key.front();
      const auto same = [&](std::size_t i) { return value(i) == value(first); };
      if (std::all_of(of_key.begin(), of_key.end(), same)) continue;
      bool before_all = ended(first).has_value();
      for (const auto i : of_key) {
        if (i == first) continue;
        const auto& invoke = ended_[i].invoke;
        before_all = before_all && invoke && invoke->ordinal > ended(first);
        contents[i] = false;
      }
      contents[first] = contents[first] && before_all;
    }
    return contents;
  }

  // Single operations only: on registers, or on a mutex.
  bool of_objects() {
    std::set<std::string> words;
    bool pairs = false, plain = false;  // a read that was invoked with null names no key
    for (const auto& pair : ended_) {
      for (const auto* op : {pair.invoke.get(), pair.completion.get()}) {
        if (op == nullptr) continue;
        words.insert(op->f);
        if (op->type != "invoke" && op->type != "ok") continue;
        if (op->value.is_nothing()) {
          plain = plain || (op->f == "read" && op->type == "invoke");
          continue;
        }
        const auto& items = op->value.items;
        const bool is = op->value.is_pair() && (op->f != "cas" || items[1].is_vector());
        (is ? pairs : plain) = true;
      }
    }
    independent_ = pairs && !plain;
    const auto has = [&](const char* word) { return words.contains(word); };
    if (has("put") || has("get") || has("append")) {
      out_.unread = "the second reader does not read stores of strings";
    } else if (!has("read") && !has("write") && !has("cas") && !has("acquire") && !has("release")) {
      out_.unread = "the second reader knows no such objects";
    }
    return out_.unread.empty();
  }

  void operations_of(Pair& pair, PlainTransaction& txn) {
    const bool transaction = (pair.invoke && pair.invoke->transaction) ||
                             (pair.completion && pair.completion->transaction);
    if (!transaction) return single(pair, txn);
    auto& done = pair.completion ? pair.completion->operations : pair.invoke->operations;
    const bool of_invocation =
        pair.invoke && pair.completion && done.empty() && !pair.invoke->operations.empty();
    txn.operations = std::move(of_invocation ? pair.invoke->operations : done);
    std::erase_if(txn.operations, [](const PlainOperation& op) {
      return op.kind == OpKind::kRangeRead && !op.known;
    });
    if (txn.status == TxnStatus::kCommitted) return;
    const bool tried = of_invocation || !pair.completion;
    for (auto& op : txn.operations) {
      const bool nothing = !op.vector && op.value == out_.table.id("n");
      if (op.kind == OpKind::kRead && (tried || nothing)) op.known = false;
      if (op.kind == OpKind::kRead && tried) op.vector = false;
    }
  }

  // One operation on a register or on the mutex.
  void single(Pair& pair, PlainTransaction& txn) {
    const bool ok = txn.status == TxnStatus::kCommitted;
    const PlainMap& anchor = pair.completion ? *pair.completion : *pair.invoke;
    const PlainMap* from = ok || !pair.invoke ? &anchor : pair.invoke.get();
    const auto& f = anchor.f;
    auto& op = txn.operations.emplace_back();
    if (f == "acquire" || f == "release") {
      op.kind = OpKind::kCompareAndSet;
      op.key = out_.table.id("smutex");
      op.value = out_.table.id(f == "acquire" ? "n" : "sheld");
      op.other = out_.table.id(f == "acquire" ? "sheld" : "n");
      return;
    }
    if (ok && f != "read" && from->value.is_nothing() && pair.invoke) from = pair.invoke.get();
    const bool transactions = any_transaction_ || options_.transactions;
    if (transactions && f == "read" && !ok && from->value.is_nothing()) {
      txn.operations.clear();  // it never named its key
      return;
    }
    const bool keyed = independent_ || transactions;
    const PlainValue nothing;
    const PlainValue* value = &from->value;
    op.key = out_.table.id("sregister");
    if (keyed) {
      op.key = value->is_pair() ? id(value->items[0]) : id(nothing);
      value = value->is_pair() ? &value->items[1] : &nothing;
    }
    if (f == "read") {
      op.known = ok;
      set_result(out_.table, ok ? *value : nothing, op);
    } else if (f == "cas") {
      op.kind = OpKind::kCompareAndSet;
      if (value->is_pair()) op.value = id(value->items[0]);
      if (value->is_pair()) op.other = id(value->items[1]);
    } else {
      op.kind = OpKind::kWrite;
      op.value = id(*value);
    }
  }

  // A key is a list if something is appended, or if a read returned a vector and nothing writes it
  // or returned one value of it.
  void find_lists(bool transactions) {
    std::vector<bool> appended, seen, written;
    const auto nothing = out_.table.id("n");
    for (const auto& session : out_.sessions) {
      for (const auto& txn : session.transactions) {
        for (const auto& op : txn.operations) {
          if (op.kind == OpKind::kRead) {
            const bool committed = txn.status == TxnStatus::kCommitted;
            if (op.vector && transactions && (committed || !op.known)) mark(seen, op.key);
            if (committed && op.known && !op.vector && op.value != nothing) mark(written, op.key);
          } else if (op.kind == OpKind::kRangeRead) {
            for (std::size_t i = 0; i < op.items.size(); i += 2) mark(written, op.items[i]);
          } else {
            mark(op.kind == OpKind::kAppend ? appended : written, op.key);
          }
        }
      }
    }
    for (const auto& [key, value] : out_.initial_of) {
      const auto& code = out_.table.code(value);
      if (code != "n" && code != "l[]") mark(written, key);
    }
    out_.lists.resize(std::max(appended.size(), seen.size()));
    for (std::size_t key = 0; key < out_.lists.size(); ++key) {
      out_.lists[key] =
          is_marked(appended, key) || (is_marked(seen, key) && !is_marked(written, key));
    }
    for (auto& session : out_.sessions) {
      for (auto& txn : session.transactions) {
        for (auto& op : txn.operations) as_list_or_register(op);
      }
    }
  }

  void as_list_or_register(PlainOperation& op) {
    if (op.kind != OpKind::kRead) return;
    if (op.key < out_.lists.size() && out_.lists[op.key]) {
      op.kind = OpKind::kListRead;  // null is the empty list
      if (!op.vector && op.value != out_.table.id("n")) op.known = false;
      return;
    }
    if (!op.vector) return;
    PlainValue whole{.kind = Kind::kVector};
    for (const auto item : op.items) whole.items.push_back(value_of(out_.table.code(item)));
    op.value = id(whole);
    op.items.clear();
    op.vector = false;
  }

  const std::string& file_;
  const PlainOptions& options_;
  PlainHistory out_;
  PlainMaps maps_;
  std::string error_;
  std::map<std::string, std::unique_ptr<PlainMap>> pending_;  // by process
  std::map<std::string, std::size_t> sessions_;               // by process
  std::map<std::string, std::size_t> session_of_;             // by name
  std::vector<Pair> ended_;
  std::optional<std::uint64_t> others_at_;  // the first map of an operation that does not set up
  Time others_time_ = kNoTime;              // the first invocation of one
  bool timed_ = false, all_invoked_ = true, anonymous_ = false;
  bool any_transaction_ = false, any_object_ = false, independent_ = false;
};

}  // namespace

PlainTable::Id PlainTable::id(std::string code) {
  const auto [at, fresh] = ids_.try_emplace(std::move(code), static_cast<Id>(codes_.size()));
  if (fresh) codes_.push_back(&at->first);
  return at->second;
}

base::Result<PlainHistory> read_plainly(std::string_view bytes, const std::string& file,
                                        const PlainOptions& options) {
  return PlainReader(bytes, file, options).run();
}

}  // namespace cupel::certify
