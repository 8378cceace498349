// Plain maps: the operation maps of a file, one after the other, for the plain reader
// (plain_reader.hpp). Each is parsed into a tree, and the micro-operations of a transaction into
// columns; the tree is gone before the next map is read.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "data/history/history.hpp"
#include "engine/certify/plain_reader.hpp"
#include "engine/certify/plain_value.hpp"

namespace cupel::certify {

// One operation map, with the fields that have a meaning.
struct PlainMap {
  std::string type, f;
  PlainValue process, value, key;
  history::Time time = history::kNoTime;
  std::optional<std::uint64_t> index;
  std::uint64_t ordinal = 0;  // its place in the file
  bool transaction = false;
  std::vector<PlainOperation> operations = {};  // of a transaction

  // A line of cupel's own: initial values, or the order of sessions.
  [[nodiscard]] bool is_header() const {
    return f == "cupel.initial" || f == "cupel.metadata" || f == "cupel.sessions";
  }
};

PlainTable::Id id_of(PlainTable& table, const PlainValue& value);
// The result of a read.
void set_result(PlainTable& table, const PlainValue& value, PlainOperation& op);

class PlainMaps {
 public:
  PlainMaps(std::string_view bytes, PlainTable& table, const std::vector<std::string>& ignored);

  // The next one of a client, or header. None: at the end, or after a mistake.
  std::unique_ptr<PlainMap> next();

  // Empty: there was no mistake.
  [[nodiscard]] const std::string& error() const { return error_; }
  // The line of the map at hand.
  [[nodiscard]] std::uint64_t line() const;

 private:
  bool fail(std::string message);
  bool next_map(PlainValue& map);
  [[nodiscard]] bool is_cut() const;
  std::unique_ptr<PlainMap> fields_of(PlainValue& map);
  bool read_operations(PlainMap& op);
  static void add_key(PlainMap& op);
  void set_up(PlainMap& op);
  PlainOperation operation(const PlainValue& vector);
  void range_read(const PlainValue& bounds, const PlainValue& found, PlainOperation& op);
  PlainTable::Id id(const PlainValue& value) { return id_of(table_, value); }

  const std::string_view bytes_;
  PlainTable& table_;
  const std::vector<std::string>& ignored_;
  const bool edn_;
  PlainText text_;
  bool open_ = false, lines_ = false;  // in an array or a list; bare maps
  std::size_t at_ = 0;                 // where the map at hand begins
  std::uint64_t ordinal_ = 0;
  std::string error_;
};

}  // namespace cupel::certify
