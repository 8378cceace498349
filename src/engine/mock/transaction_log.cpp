// The log's bookkeeping, and its translation into a History.
#include "engine/mock/transaction_log.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <utility>

#include "data/history/builder.hpp"

namespace cupel::mock {

namespace {

history::ScalarView scalar(const Value& value) {
  switch (value.kind) {
    case Value::Kind::kNull:
      return history::ScalarView::null();
    case Value::Kind::kInteger:
      return history::ScalarView::of(value.integer);
    case Value::Kind::kText:
      return history::ScalarView::of(std::string_view(value.text));
  }
  return history::ScalarView::null();
}

class Hash {
 public:
  void add(std::uint64_t number) {
    for (std::size_t i = 0; i < words_.size(); ++i)
      words_[i] = mix(words_[i] ^ mix(number + kSeeds[i]));
  }
  void add(std::string_view text) {
    add(text.size());
    for (std::size_t at = 0; at < text.size(); at += 8) {
      std::uint64_t word = 0;
      for (std::size_t i = at; i < std::min(at + 8, text.size()); ++i) {
        word = word << 8 | static_cast<unsigned char>(text[i]);
      }
      add(word);
    }
  }
  void add(const Value& value) {
    add(static_cast<std::uint64_t>(value.kind));
    add(static_cast<std::uint64_t>(value.integer));
    add(value.text);
  }
  [[nodiscard]] const Digest& words() const { return words_; }

 private:
  static constexpr Digest kSeeds = {0x9e3779b97f4a7c15ULL, 0xd1b54a32d192ed03ULL};
  static std::uint64_t mix(std::uint64_t z) {  // splitmix64's
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
    return z ^ (z >> 31);
  }
  Digest words_ = kSeeds;
};

}  // namespace

Key TransactionLog::key(std::string_view name) {
  const auto found = by_name_.find(name);
  if (found != by_name_.end()) return found->second;
  const auto key = static_cast<Key>(writers_.size());
  assert(key < 1U << 29 && "operations have so many bits for it");
  const auto added = keys_.emplace(std::string(name), key).first;
  by_name_.emplace(added->first, key);
  names_.push_back(&added->first);
  writers_.emplace_back();
  return key;
}

void TransactionLog::set_initial(Key key, Value value) {
  initial_[key] = std::move(value);
}

Txn TransactionLog::begin(Session session, Level level) {
  transactions_.push_back({session, level, Status::kOpen, {}});
  transactions_.back().began = ++clock_;
  const Txn t = count() - 1;
  open_[t] = {};
  select(t);
  return t;
}

void TransactionLog::select(Txn open) {
  if (now_ != nullptr && selected_ == open) return;
  const auto found = open_.find(open);
  assert(found != open_.end() && "it is open");
  selected_ = open;
  now_ = &found->second;
}

void TransactionLog::end(Status status) {
  transactions_[selected_].status = status;
  transactions_[selected_].ended = ++clock_;
  session_ended_[transactions_[selected_].session] = clock_;
  open_.erase(selected_);
  now_ = nullptr;
}

void TransactionLog::began_after(std::uint32_t commits) {
  auto& txn = transactions_[selected_];
  const auto before = session_ended_.find(txn.session);
  for (std::size_t at = commits; at < committed_.size(); ++at) {
    const auto ended = transactions_[committed_[at]].ended;
    if (before != session_ended_.end() && ended <= before->second) continue;
    txn.began = std::min(txn.began, ended);
    return;
  }
}

void TransactionLog::note(const Operation& operation) {
  if (operation.is_write) now_->own[operation.key] = operation.written();
  transactions_[selected_].operations.push_back(operation);
}

const Value& TransactionLog::read(Key key, Txn writer) {
  note({.key = key, .from = writer});
  return value(writer, key);
}

const Value& TransactionLog::read_own(Key key) {
  const auto written = now_->own.find(key);
  assert(written != now_->own.end());
  note({.local = true, .key = key, .from = written->second});
  return transactions_[selected_].values[written->second];
}

void TransactionLog::read_absent(Key key) {
  note({.absent = true, .key = key});
}

void TransactionLog::write(Key key, Value value) {
  auto& values = transactions_[selected_].values;
  values.push_back(std::move(value));
  note({.is_write = true, .key = key, .from = static_cast<std::uint32_t>(values.size() - 1)});
}

std::vector<std::string> TransactionLog::scan(std::string_view prefix, char end) {
  auto keys = keys_with_prefix(prefix);
  std::erase_if(keys,
                [&](const std::string& key) { return key.find(end, prefix.size()) != key.npos; });
  Scan made{std::string(prefix), end};
  auto& scans = transactions_[selected_].scans;
  if (std::find(scans.begin(), scans.end(), made) == scans.end()) scans.push_back(std::move(made));
  return keys;
}

std::vector<std::string> TransactionLog::scan_between(std::string_view low, std::string_view high,
                                                      std::string_view ending) {
  std::vector<std::string> found;
  if (high <= low) return found;
  for (auto it = keys_.lower_bound(low); it != keys_.end() && it->first < high; ++it) {
    if (it->first.ends_with(ending) && is_there(it->second)) found.push_back(it->first);
  }
  add_range(transactions_[selected_], {std::string(low), std::string(high), std::string(ending)});
  return found;
}

void TransactionLog::add_range(Transaction& txn, RangeScan made) {
  auto& scans = txn.range_scans;
  if (std::find(scans.begin(), scans.end(), made) == scans.end()) scans.push_back(std::move(made));
}

void TransactionLog::look_between(std::string_view low, std::string_view high) {
  if (low < high) add_range(transactions_[selected_], {std::string(low), std::string(high), ""});
}

std::vector<Key> TransactionLog::new_since(std::uint32_t commits, std::string_view low,
                                           std::string_view high) const {
  std::vector<Key> found;
  for (std::size_t at = commits; at < committed_.size(); ++at) {
    for (const auto& [key, value] : transactions_[committed_[at]].last_writes) {
      const std::string_view name = *names_[key];
      if (writers_[key].front() == committed_[at] && low <= name && name < high &&
          !initial_.contains(key) && !touches(selected_, key))
        found.push_back(key);
    }
  }
  return found;
}

bool TransactionLog::scanned(const Transaction& txn, std::string_view name) {
  return std::any_of(txn.scans.begin(), txn.scans.end(),
                     [&](const Scan& scan) {
                       return name.starts_with(scan.prefix) &&
                              name.find(scan.end, scan.prefix.size()) == name.npos;
                     }) ||
         std::any_of(txn.range_scans.begin(), txn.range_scans.end(), [&](const RangeScan& scan) {
           return scan.low <= name && name < scan.high && name.ends_with(scan.ending);
         });
}

std::vector<Txn> TransactionLog::concurrent_scanners() const {
  std::vector<Txn> found;
  const auto began = transactions_[selected_].began;
  for (auto at = committed_.rbegin(); at != committed_.rend(); ++at) {
    const auto& txn = transactions_[*at];
    if (txn.ended < began) break;
    if (!txn.scans.empty() || !txn.range_scans.empty()) found.push_back(*at);
  }
  return found;
}

bool TransactionLog::note_absent(Txn scanner, Key key) {
  if (!scanned(transactions_[scanner], *names_[key]) || touches(scanner, key)) return false;
  transactions_[scanner].operations.push_back({.absent = true, .key = key});
  return true;
}

bool TransactionLog::saw_absent(Key key) const {
  if (!writers_[key].empty() || initial_.contains(key) || touches(selected_, key)) return false;
  return scanned(transactions_[selected_], *names_[key]);
}

std::vector<Txn> TransactionLog::absent_for(Key key) {
  std::vector<Txn> found;
  if (scanned_ == 0 || !writers_[key].empty() || initial_.contains(key)) return found;
  absent_until_.resize(writers_.size(), 0);
  if (absent_until_[key] == scanned_) return found;
  const auto new_since = [&](Txn t) {
    return transactions_[t].commit_index >= absent_until_[key] && !touches(t, key);
  };
  const std::string_view name = *names_[key];
  for (std::size_t size = 0; size <= name.size(); ++size) {
    const auto of_prefix = scans_.find(name.substr(0, size));
    if (of_prefix == scans_.end()) continue;
    for (const auto& [end, last] : of_prefix->second) {
      if (name.find(end, size) != name.npos) continue;
      for (const auto& [scanner, t] : last) {
        if (new_since(t)) found.push_back(t);
      }
    }
  }
  for (const auto& [scanner, by_ending] : range_scans_) {
    for (const auto& [ending, covered] : by_ending) {
      const auto next = covered.upper_bound(name);
      if (next == covered.begin() || !name.ends_with(ending)) continue;
      const Txn t = std::prev(next)->second;
      if (t != kInitial && new_since(t)) found.push_back(t);
    }
  }
  absent_until_[key] = scanned_;
  std::sort(found.begin(), found.end());
  found.erase(std::unique(found.begin(), found.end()), found.end());
  for (const Txn t : found) {
    transactions_[t].operations.push_back({.absent = true, .key = key});
  }
  return found;
}

bool TransactionLog::touches(Txn t, Key key) const {
  const auto& txn = transactions_[t];
  auto& touched = txn.status == Status::kOpen ? open_.at(t).touched : touched_by_[t];
  for (; touched.operations < txn.operations.size(); ++touched.operations)
    touched.keys.insert(txn.operations[touched.operations].key);
  return touched.keys.contains(key);
}

void TransactionLog::take_back(std::size_t operations) {
  auto& all = transactions_[selected_].operations;
  const auto from = all.begin() + static_cast<std::ptrdiff_t>(std::min(operations, all.size()));
  // A local read after the savepoint of a key that was written only before it stays.
  base::HashSet<Key> taken;
  const auto gone = [&](const Operation& o) {
    if (o.is_write) taken.insert(o.key);
    return o.is_write || (o.local && taken.contains(o.key));
  };
  std::vector<Operation> kept;
  for (auto it = from; it != all.end(); ++it) {
    if (!gone(*it)) kept.push_back(*it);
  }
  all.erase(from, all.end());
  all.insert(all.end(), kept.begin(), kept.end());
  const auto operations_left = std::exchange(all, {});
  *now_ = {};
  for (const auto& operation : operations_left) note(operation);
}

void TransactionLog::commit() {
  const Txn t = selected_;
  transactions_[t].commit_index = static_cast<std::uint32_t>(committed_.size());
  committed_.push_back(t);
  for (const Key key : open_writes()) {
    writers_[key].push_back(t);
    transactions_[t].last_writes.emplace_back(key, now_->own.at(key));
  }
  transactions_[t].operations.shrink_to_fit();
  const Scanner scanner{transactions_[t].session, transactions_[t].level};
  for (const auto& scan : transactions_[t].scans) scans_[scan.prefix][scan.end][scanner] = t;
  for (const auto& scan : transactions_[t].range_scans) {
    auto& covered = range_scans_[scanner][scan.ending];
    const auto next = covered.upper_bound(scan.high);
    const Txn before = next == covered.begin() ? kInitial : std::prev(next)->second;
    covered.erase(covered.lower_bound(scan.low), next);
    covered[scan.low] = t;
    covered[scan.high] = before;
  }
  if (!transactions_[t].scans.empty() || !transactions_[t].range_scans.empty()) {
    scanned_ = transactions_[t].commit_index + 1;
    touched_by_[t] = std::move(now_->touched);
  }
  end(Status::kCommitted);
}

void TransactionLog::abort() {
  end(Status::kAborted);
}

const Value* TransactionLog::own(Key key) const {
  if (now_ == nullptr || now_->own.empty()) return nullptr;
  const auto found = now_->own.find(key);
  return found == now_->own.end() ? nullptr : &transactions_[selected_].values[found->second];
}

Txn TransactionLog::last_writer(Key key, std::uint32_t commits) const {
  const auto& writers = writers_[key];
  const auto found = std::find_if(writers.rbegin(), writers.rend(), [&](Txn writer) {
    return transactions_[writer].commit_index < commits;
  });
  return found == writers.rend() ? kInitial : *found;
}

bool TransactionLog::has_read(Key key) const {
  if (!touches(selected_, key)) return false;
  const auto& operations = transactions_[selected_].operations;
  return std::any_of(operations.begin(), operations.end(),
                     [&](const Operation& o) { return !o.is_write && !o.absent && o.key == key; });
}

bool TransactionLog::has_read_other(Key key, Txn writer) const {
  if (!touches(selected_, key)) return false;
  const auto& operations = transactions_[selected_].operations;
  return std::any_of(operations.begin(), operations.end(), [&](const Operation& o) {
    return !o.is_write && !o.local && o.key == key && o.from != writer;
  });
}

std::vector<Key> TransactionLog::open_writes() const {
  std::vector<Key> keys;
  keys.reserve(now_->own.size());
  for (const auto& [key, at] : now_->own) keys.push_back(key);
  std::sort(keys.begin(), keys.end());
  return keys;
}

const Value& TransactionLog::value(Txn writer, Key key) const {
  static const Value null;
  if (writer == kInitial) {
    const auto held = initial_.find(key);
    return held == initial_.end() ? null : held->second;
  }
  const auto& writes = transactions_[writer].last_writes;
  // Who reads much reads keys that one transaction wrote, in their order.
  const auto next = last_value_ + 1;
  auto found = writes.begin();
  if (next < writes.size() && writes[next].first == key) {
    found += static_cast<std::ptrdiff_t>(next);
  } else {
    found = std::lower_bound(writes.begin(), writes.end(), key,
                             [](const auto& one, Key wanted) { return one.first < wanted; });
  }
  last_value_ = static_cast<std::size_t>(found - writes.begin());
  assert(found != writes.end() && found->first == key && "a writer of the key wrote it");
  return transactions_[writer].values[found->second];
}

const Value& TransactionLog::value_of(Txn t, const Operation& operation) const {
  if (operation.is_write || operation.local) return transactions_[t].values[operation.written()];
  return value(operation.writer(), operation.key);
}

std::vector<std::string> TransactionLog::keys_with_prefix(std::string_view prefix) const {
  std::vector<std::string> found;
  for (auto it = keys_.lower_bound(prefix); it != keys_.end() && it->first.starts_with(prefix);
       ++it) {
    if (is_there(it->second)) found.push_back(it->first);
  }
  return found;
}

bool TransactionLog::is_there(Key key) const {
  return !writers_[key].empty() || initial_.contains(key) || own(key) != nullptr;
}

base::Result<history::History> TransactionLog::history(std::span<const std::string> sessions,
                                                       bool times) const {
  history::HistoryBuilder builder;
  if (times) builder.set_metadata("times", "line order");
  std::vector<history::KeyId> keys;
  for (const auto* name : names_)
    keys.push_back(builder.key(history::ScalarView::of(std::string_view(*name))));
  for (const auto& [key, held] : initial_)
    builder.set_initial(keys[key], builder.value(scalar(held)));
  const auto placed = times ? places() : std::vector<Places>();
  for (Txn t = 0; t < count(); ++t) {
    const auto& txn = transactions_[t];
    if (txn.status == Status::kOpen) continue;
    builder.begin(builder.session(sessions[txn.session]),
                  txn.status == Status::kCommitted ? history::TxnStatus::kCommitted
                                                   : history::TxnStatus::kAborted,
                  {.invoke = times ? placed[t].begin : history::kNoTime,
                   .complete = times ? placed[t].end : history::kNoTime,
                   .label = label(t, placed)});
    for (const auto& o : txn.operations) {
      const auto value = builder.value(scalar(value_of(t, o)));
      if (o.is_write) {
        builder.write(keys[o.key], value);
      } else {
        builder.read(keys[o.key], value);
      }
    }
    builder.end();
  }
  return std::move(builder).finish();
}

std::vector<TransactionLog::Places> TransactionLog::places() const {
  struct Event {
    std::int64_t time;
    bool ends;
    Txn txn;
    auto operator<=>(const Event&) const = default;
  };
  std::vector<Event> events;
  for (Txn t = 0; t < count(); ++t) {
    const auto& txn = transactions_[t];
    if (txn.status == Status::kOpen) continue;
    events.push_back({txn.began, false, t});
    events.push_back({txn.ended, true, t});
  }
  std::sort(events.begin(), events.end());
  std::vector<Places> found(transactions_.size());
  for (std::size_t i = 0; i < events.size(); ++i) {
    auto& of = found[events[i].txn];
    (events[i].ends ? of.end : of.begin) = static_cast<std::int64_t>(i + 1);
  }
  return found;
}

std::uint32_t TransactionLog::label(Txn t, const std::vector<Places>& places) {
  return places.empty() ? t : static_cast<std::uint32_t>(places[t].end - 1);
}

constexpr std::size_t kMostStatements = 20;
constexpr std::size_t kLongestStatement = 500;

void TransactionLog::note_statement(std::string_view text) {
  auto& noted = transactions_[selected_].statements;
  if (text.empty() || noted.size() == kMostStatements) return;
  if (text.size() > kLongestStatement) {
    std::size_t end = kLongestStatement;
    while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xc0) == 0x80) --end;
    text = text.substr(0, end);
  }
  const auto [known, is_new] =
      text_ids_.try_emplace(std::string(text), static_cast<std::uint32_t>(texts_.size()));
  if (is_new) texts_.emplace_back(text);
  if (noted.empty() || noted.back() != known->second) noted.push_back(known->second);
}

std::map<std::uint32_t, std::vector<std::string>> TransactionLog::statements(bool times) const {
  std::map<std::uint32_t, std::vector<std::string>> by_label;
  const auto placed = times ? places() : std::vector<Places>();
  for (Txn t = 0; t < count(); ++t) {
    const auto& txn = transactions_[t];
    if (txn.status == Status::kOpen || txn.statements.empty()) continue;
    auto& texts = by_label[label(t, placed)];
    for (const auto text : txn.statements) texts.push_back(texts_[text]);
  }
  return by_label;
}

Digest TransactionLog::digest(std::span<const std::string> sessions, bool in_order) const {
  std::map<Session, Hash> by_session;
  std::vector<std::uint64_t> places;  // of each transaction in its session
  std::map<Session, std::uint64_t> lengths;
  for (Txn t = 0; t < count(); ++t) {
    const auto& txn = transactions_[t];
    places.push_back(lengths[txn.session]++);
    auto& hash = by_session[txn.session];
    hash.add(static_cast<std::uint64_t>(txn.status));
    hash.add(static_cast<std::uint64_t>(txn.level));
    hash.add(txn.operations.size());
    for (const auto& scan : txn.scans) hash.add(scan.prefix + scan.end);
    for (const auto& scan : txn.range_scans) {
      hash.add(scan.low);
      hash.add(scan.high);
      hash.add(scan.ending);
    }
    for (const auto& o : txn.operations) {
      hash.add((o.is_write ? 1U : 0U) + (o.local ? 2U : 0U) + (o.writer() == kInitial ? 4U : 0U));
      hash.add(*names_[o.key]);
      hash.add(value_of(t, o));
      if (o.writer() == kInitial) continue;
      hash.add(sessions[transactions_[o.writer()].session]);
      hash.add(places[o.writer()]);
    }
  }
  std::map<std::string_view, const Hash*> by_name;
  for (const auto& [session, hash] : by_session) by_name.emplace(sessions[session], &hash);
  Hash all;
  for (const auto& [name, hash] : by_name) {
    all.add(name);
    for (const auto word : hash->words()) all.add(word);
  }
  if (in_order) {
    for (const auto& txn : transactions_) all.add(sessions[txn.session]);
  }
  return all.words();
}

std::string TransactionLog::observed(std::span<const std::string> sessions) const {
  std::map<std::string_view, std::string> by_name;
  for (Txn t = 0; t < count(); ++t) {
    for (const auto& o : transactions_[t].operations) {
      if (o.is_write || o.absent) continue;
      auto& line = by_name[sessions[transactions_[t].session]];
      const auto& value = value_of(t, o);
      switch (value.kind) {
        case Value::Kind::kNull:
          line += " null";
          break;
        case Value::Kind::kInteger:
          line += fmt::format(" {}", value.integer);
          break;
        case Value::Kind::kText:
          line += fmt::format(" {:?}", value.text);
          break;
      }
    }
  }
  std::string text;
  for (const auto& [name, line] : by_name) text += fmt::format("{}:{}\n", name, line);
  return text;
}

}  // namespace cupel::mock
