// A key of the store is two numbers: of the table and of the row in it. So the keys of future rows
// are a range.
#include "mock/engines/rows.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <set>

#include "data/history/builder.hpp"

namespace cupel::engines {

namespace {

constexpr std::size_t kDigits = 8;
constexpr std::size_t kKeySize = 2 * kDigits + 1;

void put_number(std::string& key, std::size_t at, std::uint32_t number) {
  for (std::size_t digit = kDigits; digit > 0; number >>= 4)
    key[at + --digit] = "0123456789abcdef"[number & 15];
}

std::string key_of(std::uint32_t table, std::uint32_t row) {
  std::string key(kKeySize, '/');
  put_number(key, 0, table);
  put_number(key, kDigits + 1, row);
  return key;
}

std::optional<std::uint32_t> number_of(std::string_view digits) {
  std::uint32_t number = 0;
  for (const char digit : digits) {
    const auto at = std::string_view("0123456789abcdef").find(digit);
    if (at == std::string_view::npos) return std::nullopt;
    number = number << 4 | static_cast<std::uint32_t>(at);
  }
  return number;
}

// After the table's number in the name of a value of a unique key. The rows of the table end before
// it, as every range of them does (keys_without_base).
constexpr std::string_view kValueMark = "0/=";

// Of the name of a lock on a value of a unique key, in front of the text.
std::optional<std::uint32_t> table_of_value(std::string_view text) {
  if (!text.substr(std::min(kDigits, text.size())).starts_with(kValueMark)) return std::nullopt;
  return number_of(text.substr(0, kDigits));
}

std::optional<RowId> row_of(std::string_view key) {
  if (key.size() != kKeySize || key[kDigits] != '/') return std::nullopt;
  const auto table = number_of(key.substr(0, kDigits)), row = number_of(key.substr(kDigits + 1));
  if (!table || !row) return std::nullopt;
  return RowId{*table, *row};
}

}  // namespace

void Rows::name_database(std::uint32_t database, std::string_view name) {
  databases_[database] = name;
}

std::uint32_t Rows::table(const File& file) {
  const auto [found, added] =
      by_file_.try_emplace(file, static_cast<std::uint32_t>(tables_.size()));
  if (added) tables_.push_back({.file = file, .name = {}});
  return found->second;
}

std::optional<RowId> Rows::find(const File& file, const Position& first) const {
  return find_each(file, {first}).front();
}

std::vector<std::optional<RowId>> Rows::find_each(const File& file,
                                                  const std::vector<Position>& firsts) const {
  std::vector<std::optional<RowId>> found(firsts.size());
  const auto table = by_file_.find(file);
  if (table == by_file_.end()) return found;
  const auto& blocks = tables_[table->second].blocks;
  auto block = blocks.end();
  for (std::size_t i = 0; i < firsts.size(); ++i) {
    const auto& first = firsts[i];
    if (block == blocks.end() || block->first != first.block) block = blocks.find(first.block);
    if (block == blocks.end() || first.offset >= block->second.size()) continue;
    if (const auto row = block->second[first.offset]; row > 0)
      found[i] = RowId{table->second, row - 1};
  }
  return found;
}

mock::KeyNumber Rows::number(const RowId& id, mock::Store& store) {
  auto& number = row(id).number;
  if (!number) number = store.number(store_key(id));
  return *number;
}

RowId Rows::add(std::uint32_t database, const Write& insertion) {
  const auto number = table({database, insertion.table});
  auto& table = tables_[number];
  table.name = insertion.table_name;
  auto at = static_cast<std::uint32_t>(table.rows.size());
  if (!insertion.key.empty()) at = table.by_key.try_emplace(insertion.key, at).first->second;
  if (at == table.rows.size()) table.rows.push_back({.key = insertion.key});
  auto& block = table.blocks[insertion.row.block];
  if (block.size() <= insertion.row.offset) block.resize(insertion.row.offset + 1U);
  block[insertion.row.offset] = at + 1;
  return {number, at};
}

mock::Value Rows::add_version(const Position& version, std::string_view text) {
  versions_.push_back({version, texts_.of(text)});
  return mock::Value::of(static_cast<std::int64_t>(versions_.size() - 1));
}

const Rows::Version& Rows::latest_version(const Row& row) const {
  return row.latest == 0 ? row.base : versions_[row.latest];
}

Position Rows::version(const RowId& id, std::uint64_t number) const {
  if (number == 0) return row(id).base.position;
  assert(number < versions_.size() && "the store has no other values");
  return versions_[number].position;
}

bool Rows::has_only_base(const RowId& id) const {
  return row(id).latest == 0 && row(id).base.position.valid();
}

void Rows::set_latest(const RowId& id, const mock::Value& value) {
  row(id).latest = static_cast<std::uint64_t>(value.integer);
}

void Rows::set_base(const RowId& id, const Position& version, std::string_view text) {
  row(id).base = {version, texts_.of(text)};
  row(id).latest = 0;
  tables_[id.table].without_base.clear();
}

std::string Rows::store_key(const RowId& row) {
  return key_of(row.table, row.row);
}

std::string Rows::table_key(const File& file) {
  return key_of(table(file), 0).substr(0, kDigits);
}

std::string Rows::value_key(const File& file, std::string_view text) {
  return fmt::format("{}{}{}", table_key(file), kValueMark, text);
}

const std::vector<Rows::Range>& Rows::keys_without_base(const File& file) {
  constexpr std::size_t kMostRanges = 64;
  const auto number = table(file);
  auto& table = tables_[number];
  auto& ranges = table.without_base;
  if (!ranges.empty()) return ranges;
  const auto has_base = [&](std::uint32_t row) { return table.rows[row].base.position.valid(); };
  auto at = static_cast<std::uint32_t>(table.rows.size());
  auto high = fmt::format("{:08x}0", number);  // '0' comes after '/'
  for (;;) {
    const auto end = at;
    while (at > 0 && !has_base(at - 1)) --at;
    if (at < end || ranges.empty()) ranges.emplace_back(key_of(number, at), std::move(high));
    if (at == 0 || ranges.size() == kMostRanges) break;
    while (at > 0 && has_base(at - 1)) --at;
    high = key_of(number, at);
  }
  return ranges;
}

void Rows::copy_database(std::uint32_t from, std::uint32_t to) {
  for (std::size_t i = 0; i < tables_.size(); ++i) {
    if (tables_[i].file.first != from) continue;
    const auto number = table({to, tables_[i].file.second});
    auto copy = tables_[i];
    copy.file.first = to;
    copy.without_base.clear();
    for (auto& row : copy.rows) {
      row.base = latest_version(row);
      row.latest = 0;
      row.number.reset();
    }
    tables_[number] = std::move(copy);
  }
}

void Rows::start_over(std::uint32_t kept_database) {
  std::vector<Table> kept;
  by_file_.clear();
  for (auto& table : tables_) {
    if (table.file.first != kept_database) continue;
    table.without_base.clear();
    for (auto& row : table.rows) {
      row.base = latest_version(row);
      row.latest = 0;
      row.number.reset();
    }
    by_file_[table.file] = static_cast<std::uint32_t>(kept.size());
    kept.push_back(std::move(table));
  }
  tables_ = std::move(kept);
  versions_ = {{}};
}

std::string Rows::name(const RowId& id) const {
  const auto& table = tables_[id.table];
  const auto database = databases_.find(table.file.first);
  std::string text;
  if (database != databases_.end() && database->second != kMainDatabase)
    text = database->second + ".";
  const auto& key = row(id).key;
  return text + table.name + (key.empty() ? fmt::format("[{}]", id.row) : "(" + key + ")");
}

std::string Rows::with_names(std::string text) const {
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (const auto table = table_of_value(std::string_view(text).substr(at));
        table && *table < tables_.size() && !tables_[*table].name.empty()) {
      const auto words = "a unique key of " + tables_[*table].name;
      text.replace(at, text.find_first_of(" ,", at) - at, words);
      at += words.size();
      continue;
    }
    const auto id = row_of(std::string_view(text).substr(at, kKeySize));
    if (!id || id->table >= tables_.size() || id->row >= tables_[id->table].rows.size()) continue;
    const auto words = name(*id);
    text.replace(at, kKeySize, words);
    at += words.size();
  }
  return text;
}

namespace {

// Texts that are different for different things: the second has "#2" after it.
class UniqueTexts {
 public:
  const std::string& of(std::uint64_t thing, const std::string& text) {
    const auto known = texts_.find(thing);
    if (known != texts_.end()) return known->second;
    auto unique = text;
    for (int n = 2; !taken_.insert(unique).second; ++n) unique = fmt::format("{} #{}", text, n);
    return texts_.emplace(thing, std::move(unique)).first->second;
  }

 private:
  std::map<std::uint64_t, std::string> texts_;
  std::set<std::string> taken_;
};

}  // namespace

const Rows::Version& Rows::version_of(const RowId& id, const history::ScalarView& value) const {
  return value.kind == history::ScalarKind::kInteger
             ? versions_[static_cast<std::size_t>(value.integer)]
             : row(id).base;
}

std::vector<std::vector<std::size_t>> Rows::changed_columns(const history::History& from,
                                                            const std::vector<RowId>& ids) const {
  std::vector<std::set<const Version*>> versions(from.key_count());
  const auto add = [&](history::KeyId key, history::ValueId value) {
    const auto& version = version_of(ids[key.index()], from.value(value));
    if (version.position.valid()) versions[key.index()].insert(&version);
  };
  for (std::uint32_t i = 0; i < from.key_count(); ++i) add(history::KeyId(i), from.null_value());
  for (std::uint32_t i = 0; i < from.op_count(); ++i) {
    const auto op = from.op(history::OpId(i));
    add(op.key, op.value);
  }
  std::vector<std::vector<std::size_t>> columns;
  for (const auto& of_key : versions) {
    std::vector<const RowTexts::Text*> texts;
    for (const auto* version : of_key) texts.push_back(&version->text);
    columns.push_back(texts_.differing(texts));
  }
  return columns;
}

base::Result<history::History> Rows::in_words(const history::History& from) const {
  using history::ScalarView;
  history::HistoryBuilder builder;
  UniqueTexts names;
  std::vector<history::KeyId> keys;
  std::vector<UniqueTexts> values(from.key_count());
  std::vector<RowId> ids;
  for (std::uint32_t i = 0; i < from.key_count(); ++i) {
    const auto text = from.key(history::KeyId(i)).text;
    const auto id = row_of(text);
    if (!id || id->table >= tables_.size() || id->row >= tables_[id->table].rows.size())
      return base::Error{.message = fmt::format("internal error: {} is no row of a table", text)};
    ids.push_back(*id);
  }
  const auto columns = changed_columns(from, ids);
  const auto value_of = [&](history::KeyId key, history::ValueId value) {
    const auto seen = from.value(value);
    const bool written = seen.kind == history::ScalarKind::kInteger;
    const auto& version = version_of(ids[key.index()], seen);
    if (!written && !version.position.valid()) return builder.null_value();
    const auto text =
        version.position.valid() ? texts_.words(version.text, columns[key.index()]) : "deleted";
    const auto number = static_cast<std::uint64_t>(seen.integer);
    return builder.value(ScalarView::of(std::string_view(values[key.index()].of(number, text))));
  };
  for (const auto& [fact, text] : from.metadata()) builder.set_metadata(fact, text);
  for (std::uint32_t i = 0; i < from.key_count(); ++i) {
    const auto& id = ids[i];
    const auto number = std::uint64_t{id.table} << 32 | id.row;
    keys.push_back(builder.key(ScalarView::of(std::string_view(names.of(number, name(id))))));
    if (row(id).base.position.valid())
      builder.set_initial(keys.back(), value_of(history::KeyId(i), from.null_value()));
  }
  for (std::uint32_t i = 0; i < from.txn_count(); ++i) {
    const history::TxnId txn(i);
    builder.begin(
        builder.session(from.session_name(from.session(txn))), from.status(txn),
        {.invoke = from.invoke(txn), .complete = from.complete(txn), .label = from.label(txn)});
    for (auto at = from.first_op(txn); at < from.last_op(txn); ++at) {
      const auto op = from.op(history::OpId(at));
      const auto value = value_of(op.key, op.value);
      if (op.kind == history::OpKind::kWrite) {
        builder.write(keys[op.key.index()], value);
      } else {
        builder.read(keys[op.key.index()], value);
      }
    }
    builder.end();
  }
  return std::move(builder).finish();
}

}  // namespace cupel::engines
