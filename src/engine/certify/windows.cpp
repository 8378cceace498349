// verify_windows: see the header.
#include "engine/certify/windows.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <limits>
#include <memory>
#include <random>
#include <set>
#include <utility>
#include <vector>

#include "base/hash_table.hpp"
#include "base/offsets.hpp"
#include "data/history/builder.hpp"
#include "data/history/text_order.hpp"
#include "data/history/times.hpp"
#include "engine/certify/chain_document.hpp"
#include "engine/certify/replay.hpp"
#include "engine/certify/subject.hpp"
#include "engine/certify/weak.hpp"

namespace cupel::certify {

using history::HistoryBuilder;
using history::Key;
using history::kNoTime;
using history::Operations;
using history::OpKind;
using history::ScalarKind;
using history::ScalarView;
using history::StreamedTransaction;
using history::Time;
using history::TxnStatus;
using history::Value;

namespace {

constexpr std::uint64_t kPrime = (std::uint64_t{1} << 61) - 1;
// A word of an element is below this, and so below the prime.
constexpr std::uint64_t kWordBits = 56;

std::uint64_t times(std::uint64_t a, std::uint64_t b) {
  __extension__ using Wide = unsigned __int128;
  const auto product = static_cast<Wide>(a) * b;
  const auto sum =
      static_cast<std::uint64_t>(product & kPrime) + static_cast<std::uint64_t>(product >> 61);
  return sum >= kPrime ? sum - kPrime : sum;
}

// The elements of a list as a polynomial modulo 2^61 - 1 at two places.
struct ListHash {
  std::uint64_t one = 0, two = 0;
  std::uint32_t count = 0;
  friend bool operator==(const ListHash&, const ListHash&) = default;
};

class ListHasher {
 public:
  ListHasher() {
    std::random_device device;
    const auto draw = [&] {
      const auto bits = static_cast<std::uint64_t>(device()) << 32 | device();
      return bits % (kPrime - 2) + 2;
    };
    one_ = draw();
    two_ = draw();
  }

  void add(ListHash& hash, ScalarView element) const {
    ++hash.count;
    word(hash, static_cast<std::uint64_t>(element.kind) + 1);
    if (element.kind == ScalarKind::kInteger) {
      const auto bits = static_cast<std::uint64_t>(element.integer);
      word(hash, bits & 0xffffffff);
      word(hash, bits >> 32);
    }
    if (element.kind == ScalarKind::kNull || element.kind == ScalarKind::kInteger) return;
    word(hash, element.text.size() & ((std::uint64_t{1} << kWordBits) - 1));
    for (std::size_t i = 0; i < element.text.size(); i += kWordBits / 8) {
      std::uint64_t bytes = 0;
      for (const char c : element.text.substr(i, kWordBits / 8)) {
        bytes = bytes << 8 | static_cast<unsigned char>(c);
      }
      word(hash, bytes);
    }
  }

 private:
  void word(ListHash& hash, std::uint64_t value) const {
    hash.one = (times(hash.one, one_) + value) % kPrime;
    hash.two = (times(hash.two, two_) + value) % kPrime;
  }
  std::uint64_t one_, two_;
};

// What the closed windows left in each key.
class Frontier {
 public:
  struct Held {
    bool holds = false, tombstone = false;
    ScalarKind kind = ScalarKind::kNull;
    std::int64_t integer = 0;
  };

  [[nodiscard]] std::size_t size() const { return held_.size(); }
  void grow(std::size_t keys) { held_.resize(std::max(held_.size(), keys)); }
  [[nodiscard]] const Held& held(Key key) const { return held_[key]; }
  [[nodiscard]] ScalarView value(Key key) const {
    const Held& held = held_[key];
    if (held.kind == ScalarKind::kNull || held.kind == ScalarKind::kInteger) {
      return {held.kind, held.integer, {}};
    }
    return {held.kind, 0, texts_.at(key)};
  }
  [[nodiscard]] ListHash list(Key key) const {
    const auto it = lists_.find(key);
    return it != lists_.end() ? it->second : ListHash{};
  }

  void hold(Key key, ScalarView name, ScalarView now, bool tombstone) {
    Held& held = held_[key];
    if (held.holds) digest_ -= history::held_digest(name, history::kOfRegister, value(key));
    held = {true, tombstone, now.kind, now.kind == ScalarKind::kInteger ? now.integer : 0};
    if (now.kind != ScalarKind::kNull && now.kind != ScalarKind::kInteger) {
      texts_[key] = now.text;
    } else {
      texts_.erase(key);
    }
    digest_ += history::held_digest(name, history::kOfRegister, value(key));
  }
  void append(Key key, ScalarView name, ScalarView element) {
    auto& hash = lists_[key];
    digest_ += history::held_digest(name, hash.count, element);
    hasher_.add(hash, element);
  }
  // Does what the list read saw begin with all that was appended?
  [[nodiscard]] bool begins(Key key, const Operations& from,
                            std::span<const Value> elements) const {
    const auto expected = list(key);
    if (elements.size() < expected.count) return false;
    ListHash hash;
    for (std::size_t i = 0; i < expected.count; ++i) hasher_.add(hash, from.view(elements[i]));
    return hash == expected;
  }
  [[nodiscard]] std::uint64_t digest() const { return digest_; }

 private:
  ListHasher hasher_;
  std::vector<Held> held_;
  base::HashMap<Key, std::string> texts_;
  base::HashMap<Key, ListHash> lists_;
  std::uint64_t digest_ = 0;
};

std::string hex(std::uint64_t digest) {
  return fmt::format("{:016x}", digest);
}

// The transactions that have been read and stand in no window yet, by number.
struct Pending {
  std::uint64_t number;
  StreamedTransaction txn;
  bool placed = false;
};

// A window as a history of its own, which starts with what the frontier holds.
class Block {
 public:
  Block(const history::TransactionSource& source, const Frontier& frontier)
      : source_(source),
        frontier_(frontier),
        ids_(source.key_count(), history::KeyId::none()),
        uses_(source.key_count(), 0) {}

  // By number, ascending.
  void add(const Pending& pending) {
    const auto& txn = pending.txn;
    const auto session = builder_.session(source_.session_name(txn.session));
    builder_.begin(session, txn.status,
                   {.invoke = txn.invoke, .complete = txn.complete, .label = txn.label});
    committed_ = txn.status == TxnStatus::kCommitted;
    for (const auto& op : txn.operations.all()) add(txn.operations, op);
    builder_.end();
    sessions_.push_back(session.raw);
    numbers_.push_back(pending.number);
  }

  // What is wrong with it as a history.
  Rejection finish(const std::optional<ScalarView>& initial_of_all) {
    if (initial_of_all) builder_.set_default_initial(builder_.value(*initial_of_all));
    if (ranges_) {
      for (Key key = 0; key < ids_.size(); ++key) id(key);
    }
    for (Key key = 0; key < ids_.size(); ++key) {
      if (!ids_[key].valid()) continue;
      if (source_.is_list(key)) {  // without an operation here, the history does not know it
        builder_.set_initial(ids_[key], builder_.null_value());
        continue;
      }
      if (!frontier_.held(key).holds) {
        const bool starts_empty = !initial_of_all || initial_of_all->kind == ScalarKind::kNull;
        if (starts_empty || uses_[key] != kNullRead) continue;
        lists_to_come_.push_back(key);
        builder_.set_initial(ids_[key], builder_.null_value());
        continue;
      }
      if (frontier_.held(key).tombstone) {
        return fmt::format("key {} was deleted with a value of its own in a window before",
                           source_.key(key).to_string());
      }
      builder_.set_initial(ids_[key], builder_.value(frontier_.value(key)));
    }
    if (wrong_) return wrong_;
    auto built = std::move(builder_).finish();
    if (!built.ok()) return built.error().message;
    history_.emplace(std::move(built).value());
    // Transactions are numbered session by session, in the order in which they were added.
    std::vector<std::uint32_t> next(sessions_.size() + 2, 0);
    for (const auto session : sessions_) ++next[session + 1];
    base::counts_to_offsets(next);
    for (std::size_t i = 0; i < sessions_.size(); ++i) {
      txn_of_.push_back(TxnId(next[sessions_[i]]++));
    }
    return std::nullopt;
  }

  [[nodiscard]] const History& history() const { return *history_; }
  // Keys that were read as null here, and that must turn out to be lists: registers start with
  // another value.
  [[nodiscard]] const std::vector<Key>& lists_to_come() const { return lists_to_come_; }
  // none: it is not in this window.
  [[nodiscard]] std::optional<TxnId> txn(std::uint64_t number) const {
    const auto it = std::lower_bound(numbers_.begin(), numbers_.end(), number);
    if (it == numbers_.end() || *it != number) return std::nullopt;
    return txn_of_[static_cast<std::size_t>(it - numbers_.begin())];
  }
  [[nodiscard]] std::optional<OpId> operation(std::uint64_t number, std::uint32_t place) const {
    const auto txn = this->txn(number);
    if (!txn || history_->first_op(*txn) + place >= history_->last_op(*txn)) return std::nullopt;
    return OpId(history_->first_op(*txn) + place);
  }
  [[nodiscard]] std::optional<KeyId> key(const OwnedScalar& name) const {
    for (std::uint32_t k = 0; k < history_->key_count(); ++k) {
      if (history_->key(KeyId(k)) == name.view()) return KeyId(k);
    }
    return std::nullopt;
  }

 private:
  // How a key is used, as bits.
  static constexpr std::uint8_t kNullRead = 1, kOtherwise = 2;

  history::KeyId id(Key key) {
    auto& id = ids_[key];
    if (!id.valid()) id = builder_.key(source_.key(key));
    return id;
  }

  void add(const Operations& from, const Operations::Operation& op) {
    note_use(from, op);
    const auto value = [&](const Value& v) { return builder_.value(from.view(v)); };
    switch (op.kind) {
      case OpKind::kRead:
        // Of nothing: of a list, an empty one.
        if (source_.is_list(op.key)) return list_read(from, op, {});
        return builder_.read(id(op.key), op.known ? value(op.value) : ValueId::none());
      case OpKind::kWrite:
        return builder_.write(id(op.key), value(op.value));
      case OpKind::kAppend:
        return builder_.append(id(op.key), value(op.value));
      case OpKind::kInsert:
        return builder_.insert(id(op.key), value(op.value));
      case OpKind::kDelete:
        return builder_.erase(id(op.key), value(op.value));
      case OpKind::kCompareAndSet:
        return builder_.compare_and_set(id(op.key), value(op.value), value(op.other), op.succeeded);
      case OpKind::kListRead:
        return list_read(from, op, from.elements(op));
      case OpKind::kRangeRead: {
        ranges_ = true;
        std::vector<history::RangeEntry> entries;
        for (const auto& entry : from.entries(op)) {
          entries.push_back({id(entry.key), value(entry.value)});
        }
        if (committed_) no_list_is_missed(from, op);
        return builder_.range_read(value(op.value), value(op.other), entries);
      }
    }
  }

  void note_use(const Operations& from, const Operations::Operation& op) {
    if (op.kind == OpKind::kRangeRead) {
      for (const auto& entry : from.entries(op)) uses_[entry.key] |= kOtherwise;
    } else if (op.kind != OpKind::kRead) {
      uses_[op.key] |= kOtherwise;
    } else if (op.known) {
      uses_[op.key] |= from.view(op.value).kind == ScalarKind::kNull ? kNullRead : kOtherwise;
    }
  }

  // A range read returns every list to which the windows before appended.
  void no_list_is_missed(const Operations& from, const Operations::Operation& range) {
    if (!lists_) find_lists();
    const auto low = from.view(range.value), high = from.view(range.other);
    const auto entries = from.entries(range);
    auto it = std::lower_bound(lists_->begin(), lists_->end(), low,
                               [&](Key key, ScalarView bound) { return source_.key(key) < bound; });
    for (; it != lists_->end() && !(high < source_.key(*it)); ++it) {
      const bool returned = std::any_of(entries.begin(), entries.end(),
                                        [&](const auto& entry) { return entry.key == *it; });
      if (returned || !history::agreed_between(low, source_.key(*it), high)) continue;
      wrong_ = fmt::format(
          "a range read does not return key {}, a list to which the windows before appended",
          source_.key(*it).to_string());
    }
  }
  void find_lists() {
    lists_.emplace();
    for (Key key = 0; key < frontier_.size(); ++key) {
      if (frontier_.list(key).count > 0) lists_->push_back(key);
    }
    std::sort(lists_->begin(), lists_->end(),
              [this](Key a, Key b) { return source_.key(a) < source_.key(b); });
  }

  void list_read(const Operations& from, const Operations::Operation& op,
                 std::span<const Value> elements) {
    // What somebody of unknown outcome read is no fact.
    if (!op.known || !committed_) return builder_.list_read_unknown(id(op.key));
    if (!frontier_.begins(op.key, from, elements)) {
      wrong_ = fmt::format(
          "a list read of key {} does not begin with the elements that the windows before "
          "appended",
          source_.key(op.key).to_string());
      return;
    }
    std::vector<ValueId> rest;
    for (auto i = frontier_.list(op.key).count; i < elements.size(); ++i) {
      rest.push_back(builder_.value(from.view(elements[i])));
    }
    builder_.list_read(id(op.key), rest);
  }

  const history::TransactionSource& source_;
  const Frontier& frontier_;
  HistoryBuilder builder_;
  std::vector<history::KeyId> ids_;  // by key of the source
  std::vector<std::uint8_t> uses_;   // by key of the source
  std::vector<Key> lists_to_come_;
  std::vector<std::uint32_t> sessions_;
  std::vector<std::uint64_t> numbers_;
  std::vector<TxnId> txn_of_;
  std::optional<std::vector<Key>> lists_;  // that are not empty at first, in key order
  bool ranges_ = false, committed_ = false;
  Rejection wrong_;
  std::optional<History> history_;
};

class Chain {
 public:
  Chain(history::TransactionSource& source, const NextLine& line, Time drift)
      : source_(source), next_line_(line), drift_(drift) {}

  base::Result<ChainReport> run() {
    out_.report.validity = Validity::kNotValid;
    auto line = next_line_();
    if (!line.ok()) return line.error();
    auto first = *line ? parse_chain_line(**line, Level::kCausal) : ChainTrouble{"it is empty"};
    if (const auto* trouble = std::get_if<ChainTrouble>(&first)) return not_valid(trouble->what);
    if (!std::holds_alternative<ChainHead>(first)) {
      return not_valid("found no first line that names the level");
    }
    head_ = std::get<ChainHead>(first);
    shape_ = shape_of(head_.level);
    while (true) {
      line = next_line_();
      if (!line.ok()) return line.error();
      if (!*line) {
        return not_valid(fmt::format(
            "the certificate has no last line, so it says nothing of what comes after its {}, {}",
            counted(out_.windows, "window", "windows"),
            counted(out_.transactions, "transaction", "transactions")));
      }
      auto parsed = parse_chain_line(**line, head_.level);
      if (const auto* trouble = std::get_if<ChainTrouble>(&parsed)) {
        return not_valid(at_window(trouble->what));
      }
      if (const auto* end = std::get_if<ChainEnd>(&parsed)) return this->end(*end);
      const auto* window = std::get_if<ChainWindow>(&parsed);
      if (window == nullptr) return not_valid(at_window("found a second first line"));
      auto wrong = check(*window);
      if (!wrong.ok()) return wrong.error();
      if (*wrong) return not_valid(at_window(**wrong));
      ++out_.windows;
    }
  }

 private:
  [[nodiscard]] std::string at_window(const std::string& what) const {
    return fmt::format("window {}: {}", out_.windows + 1, what);
  }
  ChainReport not_valid(std::string why) {
    out_.report.reason = std::move(why);
    if (head_.clock_drift_ns != drift_) {
      out_.report.reason += fmt::format(
          "; the certificate is for clocks up to {} ns wrong, and was checked for {} ns",
          head_.clock_drift_ns, drift_);
    }
    return out_;
  }

  // --- the history ---

  // One more; false: there is none. Aborted ones are only counted in the digest.
  base::Result<bool> read() {
    StreamedTransaction txn;
    auto more = source_.next(txn);
    if (!more.ok() || !*more) return more;
    note_initial();
    history::add_transaction(fold_, txn, txn.operations,
                             [this](Key key) { return source_.key(key); });
    frontier_.grow(source_.key_count());
    if (txn.status == TxnStatus::kAborted) return true;
    const auto number = read_++;
    if (drift_ != 0 && source_.fact("times") == "line order")
      return base::Error{.message = history::drift_without_clock(drift_)};
    if (shape_.real_time() && (txn.invoke == kNoTime ||
                               (txn.status == TxnStatus::kCommitted && txn.complete == kNoTime))) {
      untimed_ = number;
    }
    // It touches no object: no order has it.
    if (shape_.one_object && txn.status == TxnStatus::kCommitted && txn.operations.empty()) {
      return true;
    }
    if (txn.session >= sessions_.size()) sessions_.resize(txn.session + 1);
    if (shape_.session_order && txn.status == TxnStatus::kCommitted) {
      sessions_[txn.session].push_back(number);
    }
    pending_.emplace(number, std::make_unique<Pending>(Pending{number, std::move(txn)}));
    out_.most_held = std::max(out_.most_held, pending_.size());
    return true;
  }

  void note_initial() {
    if (initial_noted_) return;
    initial_noted_ = true;
    for (const auto& initial : source_.initial()) {
      if (initial.of_all) {
        initial_of_all_ = initial.value();
        fold_.add(initial.value());
        continue;
      }
      fold_.add(source_.key(initial.key));
      fold_.add(initial.value());
      frontier_.grow(source_.key_count());
      frontier_.hold(initial.key, source_.key(initial.key), initial.value(), false);
    }
  }

  // --- a window ---

  base::Result<Rejection> check(const ChainWindow& window) {
    using Answer = base::Result<Rejection>;
    if (window.number != out_.windows + 1) {
      return Answer(fmt::format("found window {}, expected {}", window.number, out_.windows + 1));
    }
    if (!implies(window.level, head_.level)) {
      return Answer(fmt::format("{} does not follow from {}, the level of its order",
                                name_of(head_.level), name_of(window.level)));
    }
    while (read_ < window.transactions) {
      const auto more = read();
      if (!more.ok()) return more.error();
      if (*more) continue;
      return Answer(fmt::format("found a history of {}, expected {} at least",
                                counted(read_, "transaction", "transactions"),
                                window.transactions));
    }
    if (read_ > window.transactions) {
      return Answer(fmt::format("transactions: found {}, after {} of the windows before",
                                window.transactions, read_));
    }
    if (untimed_) {
      return Answer(
          fmt::format("{} needs the times of all transactions, and transaction {} has "
                      "none",
                      name_of(head_.level), *untimed_));
    }
    if (hex(fold_.value()) != window.history) {
      return Answer(fmt::format(
          "the certificate is about another history: the digest of its first {} is `{}`, that of "
          "this one {}{}",
          counted(read_, "transaction", "transactions"), window.history, hex(fold_.value()),
          kReadAsChecked));
    }
    Rejection wrong = missed_keys();
    if (!wrong) wrong = order(window);
    if (!wrong && !window.frontier.empty() && hex(frontier_.digest()) != window.frontier) {
      wrong = fmt::format("frontier: found the digest `{}`, expected {}", window.frontier,
                          hex(frontier_.digest()));
    }
    return Answer(std::move(wrong));
  }

  // Keys that start with a value, and that a range read of a window before did not return: it was
  // decided without them.
  Rejection missed_keys() {
    for (; compared_keys_ < source_.key_count(); ++compared_keys_) {
      const auto key = static_cast<Key>(compared_keys_);
      if (ranges_.empty() || source_.is_list(key)) continue;
      const bool held = compared_keys_ < frontier_.size() && frontier_.held(key).holds;
      if (held && frontier_.value(key).kind == ScalarKind::kNull) continue;
      for (const auto& [low, high] : ranges_) {
        if (!history::agreed_between(bounds_.at(low), source_.key(key), bounds_.at(high))) continue;
        return fmt::format(
            "a range read of a window before did not return key {}, which came later",
            source_.key(key).to_string());
      }
    }
    return std::nullopt;
  }

  void note_ranges(const std::vector<Pending*>& placed) {
    if (!initial_of_all_ || initial_of_all_->kind == ScalarKind::kNull) return;
    for (const auto* pending : placed) {
      if (pending->txn.status != TxnStatus::kCommitted) continue;
      const auto& operations = pending->txn.operations;
      for (const auto& op : operations.all()) {
        if (op.kind != OpKind::kRangeRead) continue;
        ranges_.emplace(bounds_.intern(operations.view(op.value)),
                        bounds_.intern(operations.view(op.other)));
      }
    }
  }

  Rejection order(const ChainWindow& window) {
    std::vector<Pending*> placed;
    for (const auto number : window.order) {
      const auto it = pending_.find(number);
      if (it == pending_.end()) {
        return fmt::format(
            "order: transaction {} {}", number,
            number < read_ ? "stands in a window before, or is gone" : "has not been read by then");
      }
      if (!std::exchange(it->second->placed, true)) placed.push_back(it->second.get());
    }
    auto by_number = placed;
    std::sort(by_number.begin(), by_number.end(),
              [](const auto* a, const auto* b) { return a->number < b->number; });
    if (auto wrong = sessions_before(by_number)) return wrong;
    if (auto wrong = times_before(by_number)) return wrong;
    Block block(source_, frontier_);
    for (const auto* pending : by_number) block.add(*pending);
    if (auto wrong = block.finish(initial_of_all_)) return wrong;
    lists_to_come_.insert(block.lists_to_come().begin(), block.lists_to_come().end());
    if (auto wrong = satisfied(window, block)) return wrong;
    note_ranges(by_number);
    close(window, by_number);
    return gone(window);
  }

  // Of each session, whoever committed before one that stands here stands here or before.
  Rejection sessions_before(const std::vector<Pending*>& by_number) {
    if (!shape_.session_order) return std::nullopt;
    for (const auto* pending : by_number) {
      for (const auto number : sessions_[pending->txn.session]) {
        if (number >= pending->number) break;
        if (pending_.at(number)->placed) continue;
        return fmt::format(
            "transaction {} stands in it, and transaction {}, before it in its "
            "session, does not",
            pending->number, number);
      }
      // Those before it stand here, too, and need not be looked at again.
      auto& session = sessions_[pending->txn.session];
      while (!session.empty() && pending_.at(session.front())->placed) session.pop_front();
    }
    return std::nullopt;
  }

  // Nobody here completed before somebody in a window before was invoked.
  Rejection times_before(const std::vector<Pending*>& by_number) {
    if (!shape_.real_time()) return std::nullopt;
    auto latest = latest_invoke_;
    for (const auto* pending : by_number) {
      const auto& txn = pending->txn;
      latest = std::max(latest, txn.invoke);
      if (txn.status != TxnStatus::kCommitted || latest_invoke_ == kNoTime) continue;
      const bool before = txn.complete<latest_invoke_&& static_cast<std::uint64_t>(latest_invoke_) -
                                       static_cast<std::uint64_t>(txn.complete)> 2 *
                          static_cast<std::uint64_t>(drift_);
      if (before) {
        return fmt::format("transaction {} completed before one of the windows before was invoked",
                           pending->number);
      }
    }
    latest_invoke_ = latest;
    return std::nullopt;
  }

  Rejection satisfied(const ChainWindow& window, const Block& block) const {
    const History& h = block.history();
    if (h.txn_count() == 0) return std::nullopt;
    const Shape shape = shape_of(window.level);
    Subject subject(h);
    if (shape.real_time() && !h.has_all_times()) return "not all transactions have times";
    std::vector<Number> order;
    for (const auto number : window.order) order.push_back(block.txn(number)->raw);
    if (shape.one_object) {
      if (auto which = touches_more_than_one(subject)) return which;
      std::vector<KeyOrder> orders;
      std::vector<std::uint32_t> place(h.key_count(), kNone);
      for (const Number t : order) {
        const KeyId key = subject.only_key(TxnId(t));
        if (!key.valid()) return "order: a transaction without operations stands in it";
        auto& at = place[key.index()];
        if (at == kNone) {
          at = static_cast<std::uint32_t>(orders.size());
          orders.push_back({key.raw, {}});
        }
        orders[at].order.push_back(t);
      }
      return replay_by_key(subject, shape, drift_, orders);
    }
    if (!shape.is_weak()) return replay(subject, shape, drift_, order);
    std::vector<ReadFrom> reads;
    if (auto wrong = reads_from(window, block, reads)) return wrong;
    std::vector<Place> places;
    if (auto wrong = placings(window, block, places)) return wrong;
    return satisfies_weak(subject, shape, order, reads, places);
  }

  static Rejection reads_from(const ChainWindow& window, const Block& block,
                              std::vector<ReadFrom>& out) {
    for (const auto& read : window.reads_from) {
      const auto op = block.operation(read.transaction, read.operation);
      const auto key = block.key(read.key);
      const auto writer = read.writer ? block.txn(*read.writer) : std::optional(TxnId::none());
      if (!op || !key || !writer) {
        return fmt::format(
            "reads_from: operation {} of transaction {}, its key or its writer does not stand in "
            "this window",
            read.operation, read.transaction);
      }
      out.push_back({op->raw, key->raw, writer->valid() ? writer->raw : kNone});
    }
    return std::nullopt;
  }

  static Rejection placings(const ChainWindow& window, const Block& block,
                            std::vector<Place>& out) {
    for (const auto& place : window.placings) {
      const auto op = block.operation(place.transaction, place.operation);
      const auto key = block.key(place.key);
      if (!op || !key) {
        return fmt::format(
            "placings: operation {} of transaction {}, or its key, does not stand in this window",
            place.operation, place.transaction);
      }
      out.push_back({key->raw, place.position, op->raw});
    }
    return std::nullopt;
  }

  // What it writes is what the next window begins with.
  void close(const ChainWindow& window, const std::vector<Pending*>& by_number) {
    const bool twice = shape_of(window.level).begin_and_commit;
    base::HashMap<std::uint64_t, bool> begun;
    for (const auto number : window.order) {
      if (twice && begun.try_emplace(number, true).second) continue;
      const auto& txn = pending_.at(number)->txn;
      for (const auto& op : txn.operations.all()) install(txn.operations, op);
    }
    for (const auto* pending : by_number) {
      out_.transactions += 1;
      pending_.erase(pending->number);
    }
  }

  void install(const Operations& from, const Operations::Operation& op) {
    const auto hold = [&](const Value& value) {
      const auto now = from.view(value);
      frontier_.hold(op.key, source_.key(op.key), now,
                     op.kind == OpKind::kDelete && now.kind != ScalarKind::kNull);
    };
    switch (op.kind) {
      case OpKind::kWrite:
      case OpKind::kInsert:
      case OpKind::kDelete:
        return hold(op.value);
      case OpKind::kAppend:
        return frontier_.append(op.key, source_.key(op.key), from.view(op.value));
      case OpKind::kCompareAndSet:
        if (op.succeeded) hold(op.other);
        return;
      default:
        return;
    }
  }

  // Never took place.
  Rejection gone(const ChainWindow& window) {
    for (const auto number : window.gone) {
      const auto it = pending_.find(number);
      if (it == pending_.end() || it->second->txn.status != TxnStatus::kIndeterminate) {
        return fmt::format("gone: transaction {} is not one of unknown outcome that is left",
                           number);
      }
      pending_.erase(it);
    }
    return std::nullopt;
  }

  base::Result<ChainReport> end(const ChainEnd& end) {
    if (end.how == ChainEnd::kUnknown) {
      return not_valid(fmt::format("the watch ended without a verdict ({}), after {}", end.why,
                                   counted(out_.windows, "window", "windows")));
    }
    if (end.how == ChainEnd::kViolated) {
      out_.report.validity = Validity::kValid;
      out_.violation = end.certificate;
      return out_;
    }
    while (true) {
      const auto more = read();
      if (!more.ok()) return more.error();
      if (!*more) break;
      if (read_ > end.transactions)
        return not_valid("the history goes on after the end of the certificate");
    }
    note_initial();
    if (auto wrong = missed_keys()) return not_valid(*wrong);
    for (const Key key : lists_to_come_) {
      if (source_.is_list(key)) continue;
      return not_valid(
          fmt::format("key {} was read as null, and it is no list, which would start empty",
                      source_.key(key).to_string()));
    }
    if (end.windows != out_.windows || end.transactions != read_) {
      return not_valid(
          fmt::format("its last line is of {} windows and {} transactions, expected "
                      "{} and {}",
                      end.windows, end.transactions, out_.windows, read_));
    }
    if (end.history != hex(fold_.value())) {
      return not_valid(fmt::format(
          "the certificate is about another history: its digest is `{}`, that of this one {}{}",
          end.history, hex(fold_.value()), kReadAsChecked));
    }
    for (const auto& [number, pending] : pending_) {
      if (pending->txn.status != TxnStatus::kCommitted) continue;
      return not_valid(fmt::format("transaction {} is committed, and stands in no window", number));
    }
    const auto how =
        fmt::format("orders of {} in {}", counted(out_.transactions, "transaction", "transactions"),
                    counted(out_.windows, "window", "windows"));
    const auto level = std::string(name_of(head_.asked.value_or(head_.level)));
    const bool other = head_.asked && *head_.asked != head_.level;
    out_.report.answers.push_back(
        {level, true, 0, how, other ? std::string(name_of(head_.level)) : std::string()});
    out_.report.validity = Validity::kValid;
    return out_;
  }

  history::TransactionSource& source_;
  const NextLine& next_line_;
  const Time drift_;
  ChainHead head_;
  Shape shape_;
  ChainReport out_;
  history::Fold fold_;
  Frontier frontier_;
  bool initial_noted_ = false;
  std::optional<ScalarView> initial_of_all_;  // its text is the source's
  std::uint64_t read_ = 0;
  std::optional<std::uint64_t> untimed_;
  base::HashMap<std::uint64_t, std::unique_ptr<Pending>> pending_;
  std::vector<std::deque<std::uint64_t>> sessions_;  // their committed ones that are pending
  Time latest_invoke_ = kNoTime;                     // of those in windows
  // The bounds of range reads in windows, if keys start with a value.
  history::ScalarTable bounds_;
  std::set<std::pair<std::uint32_t, std::uint32_t>> ranges_;
  std::set<Key> lists_to_come_;    // of all windows
  std::size_t compared_keys_ = 0;  // are in none of them, or stood in the same windows
};

}  // namespace

bool is_chain(std::string_view first_line) {
  return std::holds_alternative<ChainHead>(parse_chain_line(first_line, Level::kCausal));
}

base::Result<ChainReport> verify_windows(history::TransactionSource& history, const NextLine& line,
                                         Time clock_drift_ns) {
  return Chain(history, line, clock_drift_ns).run();
}

}  // namespace cupel::certify
