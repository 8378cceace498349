// A log of what each write replaced undoes statements and savepoints.
#include "engines/mariadb/transaction.hpp"

namespace cupel::engines::mariadb {

namespace {

constexpr std::uint32_t kOffsets = 0xffff;

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
  statement_start_ = undo_.size();
  seen_.clear();
}

bool Transaction::prepare() {
  if (over_) return false;
  if (!at_store_ && !(choice_.level.empty() && choice_.policy.empty()) && !client_.choose(choice_))
    return fail();
  at_store_ = true;
  return true;
}

bool Transaction::read(const TablePtr& table, const std::vector<RowNumber>& rows, Sight sight) {
  if (over_ || (sight != Sight::kLatest && !prepare())) return false;
  ReadRequest request{.statement = statement_,
                      .latest = sight == Sight::kLatest,
                      .absent = sight == Sight::kAlone,
                      .table = table->number};
  for (const auto row : rows) request.rows.push_back(position_of(row));
  const auto versions = client_.read(request);
  if (!versions) return fail();
  for (std::size_t i = 0; i < rows.size(); ++i) {
    seen_[{table->number, rows[i]}] = number_at((*versions)[i]);
  }
  return true;
}

bool Transaction::look(const TablePtr& table, const std::vector<RowNumber>& rows, Sight sight) {
  if (table->strong()) return true;
  std::vector<RowNumber> unknown;
  for (const auto row : rows) {
    if (!known(table, row) && !seen_.contains({table->number, row})) unknown.push_back(row);
  }
  if (sight == Sight::kAlone && looked_at_.contains(table->number)) sight = Sight::kWeak;
  if (unknown.empty() && sight != Sight::kAlone) return !over_;
  if (!read(table, unknown, sight)) return false;
  if (sight == Sight::kAlone) looked_at_.insert(table->number);
  return true;
}

std::optional<VersionNumber> Transaction::own(const TablePtr& table, RowNumber row) const {
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

std::optional<VersionNumber> Transaction::visible(const TablePtr& table, RowNumber row) {
  if (const auto version = known(table, row)) return version;
  const RowKey key{table->number, row};
  const auto seen = seen_.find(key);
  if (seen != seen_.end()) return seen->second;
  if (!read(table, {row}, Sight::kWeak)) return std::nullopt;
  return seen_[key];
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

void Transaction::write(const TablePtr& table, Change change) {
  if (table->kind == TableKind::kSequence)
    return table->rows.set_latest(change.row, change.version);
  const RowKey key{table->number, change.row};
  const auto before = own_.find(key);
  if (before == own_.end()) {
    undo_.push_back({key, std::nullopt});
    own_[key] = {table, std::move(change)};
    return;
  }
  undo_.push_back({key, before->second});
  if (before->second.change.insert && change.version == 0) {
    own_.erase(before);  // as if it had not been there
    return;
  }
  change.insert = before->second.change.insert;
  before->second.change = std::move(change);
}

void Transaction::roll_back_to(std::size_t mark) {
  while (undo_.size() > mark) {
    auto& last = undo_.back();
    if (last.before) {
      own_[last.row] = std::move(*last.before);
    } else {
      own_.erase(last.row);
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
                              .table_name = change.table_name,
                              .key = rows.key_text(change.row),
                              .value = change.value});
  }
  if (over_) return false;
  if (at_store_ || !request.writes.empty()) {
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
  if (at_store_) client_.roll_back();
  forget();
}

void Transaction::forget() {
  at_store_ = over_ = in_statement_ = false;
  statement_start_ = 0;
  seen_.clear();
  looked_at_.clear();
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
