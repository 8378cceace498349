// A log of what each write replaced undoes statements and savepoints.
#include "mock/engines/mariadb/transaction.hpp"

#include <algorithm>

namespace cupel::engines::mariadb {

namespace {

constexpr std::uint32_t kOffsets = 0xffff;

bool sees_alone(Transaction::Sight sight) {
  return sight == Transaction::Sight::kAlone || sight == Transaction::Sight::kNow;
}

}  // namespace

Position position_of(std::uint32_t number) {
  if (number == 0) return {};
  return {(number - 1) / kOffsets, static_cast<std::uint16_t>((number - 1) % kOffsets + 1)};
}

std::uint32_t number_at(const Position& position) {
  return position.valid() ? position.block * kOffsets + position.offset : 0;
}

void Transaction::begin_statement() {
  if (in_statement_) return;
  in_statement_ = true;
  ++statement_;
  statement_commits_ = client_.commits();
  statement_start_ = undo_.size();
  found_rows_ = false;
  seen_.clear();
  found_.clear();
}

void Transaction::end_statement(bool failed) {
  if (in_statement_ && found_rows_ && !over_) client_.end_statement({statement_, failed});
  in_statement_ = found_rows_ = false;
}

const Opened* Transaction::store() {
  if (over_) return nullptr;
  const auto* opened = client_.opened();
  if (opened == nullptr) fail();
  return opened;
}

std::optional<Transaction::Isolation> Transaction::isolation() {
  const auto* opened = store();
  if (opened == nullptr || !opened->isolation) return std::nullopt;
  return std::max(*opened->isolation, choice_.isolation);
}

bool Transaction::prepare() {
  const auto* opened = store();
  if (opened == nullptr) return false;
  const bool chooses = !choice_.level.empty() || !choice_.policy.empty() ||
                       (opened->isolation && choice_.isolation > *opened->isolation);
  if (!at_store_ && chooses && !client_.choose(choice_)) return fail();
  at_store_ = true;
  return true;
}

// Locks are given back after the number of commits has grown, so who waited for one sees it.
bool Transaction::renew_found() {
  const auto commits = client_.commits();
  if (commits == found_as_of_ && commits != kEveryCommit) return false;  // or not known
  found_as_of_ = commits;
  forget_found();
  return true;
}

bool Transaction::read(const TablePtr& table, const std::vector<RowNumber>& rows, Sight sight) {
  if (over_ || (sight != Sight::kLatest && !prepare())) return false;
  if (sight == Sight::kLatest) renew_found();
  ReadRequest request{.statement = statement_,
                      .commits = sight == Sight::kLatest || sight == Sight::kNow
                                     ? kEveryCommit
                                     : statement_commits_,
                      .latest = sight == Sight::kLatest,
                      .absent = sees_alone(sight),
                      .find = sight == Sight::kFound,
                      .table = table->number};
  for (const auto row : rows) request.rows.push_back(position_of(row));
  const auto versions_there = client_.read(request);
  if (!versions_there) return fail();
  if (request.find) {
    found_rows_ = true;
    only_reads_ = false;
  }
  auto& known_now = versions(sight);
  for (std::size_t i = 0; i < rows.size(); ++i)
    known_now.set({table->number, rows[i]}, number_at((*versions_there)[i]));
  return true;
}

bool Transaction::look(const TablePtr& table, const std::vector<RowNumber>& rows, Sight sight) {
  if (table->strong()) return true;
  std::vector<RowNumber> unknown;
  for (const auto row : rows) {
    if (!versions(sight).find({table->number, row}) && !known(table, row)) unknown.push_back(row);
  }
  if (sees_alone(sight) && looked_at_.contains(table->number)) sight = Sight::kWeak;
  if (unknown.empty() && !sees_alone(sight)) return !over_;
  if (!read(table, unknown, sight)) return false;
  if (sees_alone(sight)) looked_at_.insert(table->number);
  return true;
}

std::optional<VersionNumber> Transaction::own(const TablePtr& table, RowNumber row) const {
  if (own_.empty()) return std::nullopt;
  const auto found = own_.find({table->number, row});
  if (found == own_.end()) return std::nullopt;
  return found->second.change.version;
}

std::optional<VersionNumber> Transaction::known(const TablePtr& table, RowNumber row) const {
  if (const auto written = own(table, row)) return written;
  if (table->strong() || !table->unsent.empty()) return table->rows.latest(row);
  if (!table->rows.is_shared(row)) return 0;
  return std::nullopt;
}

std::optional<VersionNumber> Transaction::visible(const TablePtr& table, RowNumber row,
                                                  Sight sight) {
  if (const auto written = own(table, row)) return written;
  const RowKey key{table->number, row};
  auto& seen = versions(sight);
  // Who has asked for it knew nothing else of it, and only the own write would change that.
  if (const auto found = seen.find(key)) return found;
  if (const auto version = known(table, row)) return version;
  if (!read(table, {row}, sight)) return std::nullopt;
  return seen.find(key);
}

std::optional<VersionNumber> Transaction::latest(const TablePtr& table, RowNumber row) {
  if (const auto version = known(table, row)) return version;
  if (over_) return std::nullopt;
  const auto versions =
      client_.read({.latest = true, .table = table->number, .rows = {position_of(row)}});
  if (versions) return number_at(versions->front());
  fail();
  return std::nullopt;
}

bool Transaction::holds(const TablePtr& table, RowNumber row, bool shared) const {
  const RowKey key{table->number, row};
  const auto held = held_.find(key);
  return own_.contains(key) || (held != held_.end() && (shared || !held->second.shared));
}

Transaction::Locked Transaction::lock(const TablePtr& table, RowNumber row, const Locking& locking,
                                      VersionNumber& version) {
  const RowKey key{table->number, row};
  if (const auto version_known = known(table, row)) {
    version = *version_known;
    return Locked::kWell;
  }
  if (holds(table, row, locking.shared)) {
    version = held_.at(key).version;
    return Locked::kWell;
  }
  if (!prepare()) return Locked::kFailed;
  only_reads_ = false;
  Position last;
  const auto locked = client_.lock({.statement = statement_,
                                    .commits = statement_commits_,
                                    .table = table->number,
                                    .row = position_of(row),
                                    .shared = locking.shared,
                                    .observed = locking.observed},
                                   locking.limit, last);
  if (locked != Locked::kWell) return outcome(locked);
  version = number_at(last);
  held_[key] = {version, locking.shared};
  return locked;
}

void Transaction::unlock(const TablePtr& table, RowNumber row, bool shared) {
  held_.erase({table->number, row});
  if (!over_) client_.unlock({table->number, position_of(row), shared});
}

Transaction::Locked Transaction::guard(GuardRequest request, const Locking& locking) {
  const auto name = std::to_string(static_cast<int>(request.kind)) +
                    std::to_string(number_at(request.row)) + (request.shared ? "s" : "x") +
                    request.text;
  if (over_) return Locked::kFailed;
  if (guarded_.contains({request.table, name})) return Locked::kWell;
  if (!prepare()) return Locked::kFailed;
  only_reads_ = false;
  const auto table = request.table;
  const auto locked = client_.guard(std::move(request), locking.limit);
  if (locked != Locked::kWell) return outcome(locked);
  guarded_.emplace(table, name);
  return locked;
}

Transaction::Locked Transaction::guard_gaps(const TablePtr& table, const Locking& locking) {
  return guard({.kind = GuardRequest::Kind::kGaps, .table = table->number}, locking);
}

Transaction::Locked Transaction::guard_insertion(const TablePtr& table, const Locking& locking) {
  return guard({.kind = GuardRequest::Kind::kInsertion, .table = table->number}, locking);
}

Transaction::Locked Transaction::guard_row(const TablePtr& table, RowNumber row,
                                           std::string table_name, const Locking& locking) {
  table->rows.share_row(row);  // others may ask the store for it from now on
  return guard({.kind = GuardRequest::Kind::kRow,
                .table = table->number,
                .shared = locking.shared,
                .row = position_of(row),
                .table_name = std::move(table_name),
                .text = table->rows.key_text(row)},
               locking);
}

Transaction::Locked Transaction::guard_value(const TablePtr& table, std::string value,
                                             const Locking& locking) {
  return guard(
      {.kind = GuardRequest::Kind::kValue, .table = table->number, .text = std::move(value)},
      locking);
}

bool Transaction::is_changed_by_others(const TablePtr& table, RowNumber row) const {
  return !own_.contains({table->number, row}) && table->rows.is_changing(row);
}

void Transaction::set_own(const RowKey& key, Own own) {
  const auto& table = own.table;
  if (!own_.contains(key)) table->rows.begin_change(key.second);
  own_.insert_or_assign(key, std::move(own));
}

void Transaction::drop_own(const RowKey& key) {
  const auto found = own_.find(key);
  if (found == own_.end()) return;
  found->second.table->rows.end_change(key.second);
  own_.erase(found);
}

void Transaction::write(const TablePtr& table, Change change) {
  if (table->kind == TableKind::kSequence)
    return table->rows.set_latest(change.row, change.version);
  const RowKey key{table->number, change.row};
  const auto before = own_.find(key);
  if (before == own_.end()) {
    undo_.push_back({key, std::nullopt});
    return set_own(key, {table, std::move(change)});
  }
  undo_.push_back({key, before->second});
  if (before->second.change.insert && change.version == 0)
    return drop_own(key);  // as if it had not been there
  change.insert = before->second.change.insert;
  before->second.change = std::move(change);
}

void Transaction::roll_back_to(std::size_t mark) {
  while (undo_.size() > mark) {
    auto& last = undo_.back();
    if (last.before) {
      set_own(last.row, std::move(*last.before));
    } else {
      drop_own(last.row);
    }
    undo_.pop_back();
  }
}

bool Transaction::commit() {
  CommitRequest request;
  for (const auto& [key, own] : own_) {
    const auto& change = own.change;
    const auto& rows = own.table->rows;
    if (own.table->strong()) continue;
    request.writes.push_back({.table = key.first,
                              .row = position_of(change.row),
                              .version = position_of(change.version),
                              .insert = change.insert,
                              .checked = change.checked,
                              .table_name = change.table_name,
                              .key = rows.key_text(change.row),
                              .value = change.value});
  }
  if (over_) return false;
  // The store locks what is read at serializable levels of products: until the commit is done.
  const bool finishes = at_store_ && only_reads_ && request.writes.empty() &&
                        isolation().value_or(Isolation::kReadCommitted) < Isolation::kSerializable;
  if (finishes && client_.finish()) {
    // No reply is due.
  } else if (at_store_ || !request.writes.empty()) {
    if (!prepare()) return false;
    // Those who see it may ask before the reply is here.
    for (const auto& [key, own] : own_) {
      if (own.change.version != 0) own.table->rows.share_row(own.change.row);
    }
    if (!client_.commit(request)) return fail();
  }
  for (const auto& [key, own] : own_) {
    if (own.table->strong()) own.table->rows.set_latest(own.change.row, own.change.version);
  }
  forget();
  return true;
}

void Transaction::roll_back() {
  if (at_store_ || over_) client_.roll_back();
  forget();
}

void Transaction::forget() {
  at_store_ = over_ = in_statement_ = found_rows_ = false;
  only_reads_ = true;
  statement_start_ = 0;
  seen_.clear();
  found_.clear();
  looked_at_.clear();
  held_.clear();
  guarded_.clear();
  for (const auto& [key, own] : own_) own.table->rows.end_change(key.second);
  own_.clear();
  undo_.clear();
}

bool Transaction::send_base(const std::vector<Write>& writes) {
  if (over_) return false;
  if (writes.empty()) return true;
  return client_.commit({writes}) || fail();
}

bool Transaction::copy_database(std::uint32_t from, std::uint32_t to) {
  return client_.copy_database({from, to});
}

}  // namespace cupel::engines::mariadb
