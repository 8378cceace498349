// Keys, cells and rows: see the header.
#include "databases/drivers/cells.hpp"

#include <fmt/format.h>

#include <charconv>

namespace cupel::drivers {

using workload::ColumnType;
using workload::Datum;
using workload::Schema;
using workload::Statement;
using workload::StatementKind;
using workload::Table;

namespace {

constexpr std::uint64_t kSign = std::uint64_t{1} << 63;

void add_number(std::string& bytes, std::uint64_t number, int width) {
  for (int shift = 8 * (width - 1); shift >= 0; shift -= 8) {
    bytes += static_cast<char>(number >> shift & 0xff);
  }
}

// Takes so many bytes from the front; none if there are fewer.
std::optional<std::uint64_t> take_number(std::string_view& bytes, std::size_t width) {
  if (bytes.size() < width) return std::nullopt;
  std::uint64_t number = 0;
  for (std::size_t i = 0; i < width; ++i) {
    number = number << 8 | static_cast<unsigned char>(bytes[i]);
  }
  bytes.remove_prefix(width);
  return number;
}

constexpr char kNull = 'a', kInteger = 'i', kText = 't';

}  // namespace

std::string misfit(const workload::Schema& schema, const Statement& statement) {
  if (statement.table >= schema.tables.size()) {
    return fmt::format("table {} of a schema with {}", statement.table, schema.tables.size());
  }
  const auto& table = schema.tables[statement.table];
  if (statement.key.size() != table.key.size()) {
    return fmt::format("{} values for the {} key columns of {}", statement.key.size(),
                       table.key.size(), table.name);
  }
  for (const auto column : statement.columns) {
    if (column >= table.columns.size()) {
      return fmt::format("column {} of {}, which has {}", column, table.name, table.columns.size());
    }
  }
  const auto columns = statement.columns.empty() ? table.columns.size() : statement.columns.size();
  std::size_t expected = 0;
  switch (statement.kind) {
    case StatementKind::kRead:
    case StatementKind::kDelete:
      break;
    case StatementKind::kRange:
      if (table.key.size() != 1 || statement.high.size() != 1) {
        return fmt::format("a range over the {} key columns of {}, expected one", table.key.size(),
                           table.name);
      }
      break;
    case StatementKind::kWrite:
    case StatementKind::kInsert:
      expected = columns;
      break;
    case StatementKind::kAppend:
      if (table.columns.size() != 1 || table.columns[0].type != ColumnType::kList) {
        return fmt::format("an append to {}, whose column is no list", table.name);
      }
      expected = 1;
      break;
    case StatementKind::kCompareAndSet:
      if (columns != 1)
        return fmt::format("a compare-and-set of {} columns, expected one", columns);
      if (table.columns[statement.columns.empty() ? 0 : statement.columns[0]].type ==
          ColumnType::kList) {
        return fmt::format("a compare-and-set of a list, in {}", table.name);
      }
      expected = 2;
      break;
  }
  if (statement.kind == StatementKind::kInsert && columns != table.columns.size()) {
    return fmt::format("an insert of {} of the {} columns of {}", columns, table.columns.size(),
                       table.name);
  }
  if (statement.values.size() != expected) {
    return fmt::format("{} values, expected {}", statement.values.size(), expected);
  }
  return {};
}

Failure refused(std::string message) {
  return {.txn_outcome = TxnOutcome::kAborted,
          .cause = Cause::kStatement,
          .code = "cupel",
          .message = std::move(message)};
}

std::optional<std::int64_t> to_integer(std::string_view text) {
  std::int64_t integer = 0;
  const auto* last = text.data() + text.size();
  const auto [end, error] = std::from_chars(text.data(), last, integer);
  if (text.empty() || error != std::errc() || end != last) return std::nullopt;
  return integer;
}

Datum normal(ColumnType type, const Datum& datum) {
  if (type == ColumnType::kText && std::holds_alternative<std::int64_t>(datum)) {
    return workload::to_string(datum);
  }
  return datum;
}

Datum from_text(ColumnType type, std::string_view text) {
  if (type != ColumnType::kText) {
    const auto integer = to_integer(text);
    if (integer && std::to_string(*integer) == text) return *integer;
  }
  return std::string(text);
}

std::string appended(std::string_view list, const Datum& element) {
  std::string text(list);
  if (!text.empty()) text += ',';
  return text + workload::to_string(element);
}

std::string text_prefix(const Table& table) {
  return "cupel:" + table.name + ':';
}

std::string text_key(const Table& table, const Datum& key) {
  return text_prefix(table) + workload::to_string(key);
}

base::Status one_cell_a_row(const Schema& schema, std::string_view product) {
  for (const auto& table : schema.tables) {
    if (table.key.size() == 1 && table.columns.size() == 1) continue;
    return base::Error{.message = fmt::format(
                           "the table {} has {} key columns and {} others; {} holds one value a "
                           "key; choose a workload on one table, such as lwt",
                           table.name, table.key.size(), table.columns.size(), product)};
  }
  return base::Ok{};
}

std::string ordered_prefix(const Table& table) {
  return "cupel:" + table.name + '\0';
}

std::string ordered_key(const Table& table, std::span<const Datum> key) {
  std::string bytes = ordered_prefix(table);
  for (std::size_t i = 0; i < key.size(); ++i) {
    const auto datum = normal(table.key[i].type, key[i]);
    if (const auto* integer = std::get_if<std::int64_t>(&datum)) {
      bytes += kInteger;
      add_number(bytes, static_cast<std::uint64_t>(*integer) ^ kSign, 8);
    } else if (const auto* text = std::get_if<std::string>(&datum)) {
      bytes += kText;
      for (const char c : *text) {
        bytes += c;
        if (c == '\0') bytes += '\xff';
      }
      bytes += '\0';
      bytes += '\1';
    } else {
      bytes += kNull;
    }
  }
  return bytes;
}

std::optional<std::vector<Datum>> parse_ordered_key(const Table& table, std::string_view bytes) {
  const auto prefix = ordered_prefix(table);
  if (!bytes.starts_with(prefix)) return std::nullopt;
  bytes.remove_prefix(prefix.size());
  std::vector<Datum> key;
  while (!bytes.empty()) {
    const char tag = bytes.front();
    bytes.remove_prefix(1);
    if (tag == kInteger) {
      const auto number = take_number(bytes, 8);
      if (!number) return std::nullopt;
      key.emplace_back(static_cast<std::int64_t>(*number ^ kSign));
    } else if (tag == kText) {
      std::string text;
      for (;;) {
        const auto zero = bytes.find('\0');
        if (zero == std::string_view::npos || zero + 1 == bytes.size()) return std::nullopt;
        text += bytes.substr(0, zero);
        const char after = bytes[zero + 1];
        bytes.remove_prefix(zero + 2);
        if (after == '\1') break;
        if (after != '\xff') return std::nullopt;
        text += '\0';
      }
      key.emplace_back(std::move(text));
    } else if (tag == kNull) {
      key.emplace_back();
    } else {
      return std::nullopt;
    }
  }
  if (key.size() != table.key.size()) return std::nullopt;
  return key;
}

std::string row_bytes(std::span<const Datum> cells) {
  std::string bytes;
  for (const auto& cell : cells) {
    if (const auto* integer = std::get_if<std::int64_t>(&cell)) {
      bytes += kInteger;
      add_number(bytes, static_cast<std::uint64_t>(*integer), 8);
    } else if (const auto* text = std::get_if<std::string>(&cell)) {
      bytes += kText;
      add_number(bytes, text->size(), 4);
      bytes += *text;
    } else {
      bytes += kNull;
    }
  }
  return bytes;
}

std::optional<std::vector<Datum>> parse_row(std::string_view bytes, std::size_t columns) {
  std::vector<Datum> cells;
  while (!bytes.empty()) {
    const char tag = bytes.front();
    bytes.remove_prefix(1);
    if (tag == kInteger) {
      const auto number = take_number(bytes, 8);
      if (!number) return std::nullopt;
      cells.emplace_back(static_cast<std::int64_t>(*number));
    } else if (tag == kText) {
      const auto size = take_number(bytes, 4);
      if (!size || bytes.size() < *size) return std::nullopt;
      cells.emplace_back(std::string(bytes.substr(0, *size)));
      bytes.remove_prefix(*size);
    } else if (tag == kNull) {
      cells.emplace_back();
    } else {
      return std::nullopt;
    }
  }
  if (cells.size() != columns) return std::nullopt;
  return cells;
}

}  // namespace cupel::drivers
