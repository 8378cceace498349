// Operations: what transactions did, before they are part of a history.
//
// A transaction that is going on, or that was just read from a stream, is held in these
// columns; keys are numbers of its reader's table, values are held as they are, since
// most of them never come again.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "data/history/history.hpp"
#include "data/history/scalar.hpp"
#include "data/history/state.hpp"

namespace cupel::history {

// A scalar whose text is in the Operations it belongs to.
struct Value {
  ScalarKind kind = ScalarKind::kNull;
  std::uint32_t size = 0;
  std::int64_t integer = 0;  // or where its text begins
};

using Key = std::uint32_t;  // of a reader's table

class Operations {
 public:
  struct Entry {
    Key key;
    Value value;
  };
  struct Operation {
    OpKind kind;
    bool known = true;                   // reads: what it saw; else its outcome is not known
    bool succeeded = true;               // compare-and-sets
    Key key = 0;                         // unused for range reads
    Value value = {};                    // or expected, or low
    Value other = {};                    // desired, or high
    std::uint32_t first = 0, count = 0;  // of a list read: elements; of a range read: entries
  };

  void clear() {
    all_.clear();
    elements_.clear();
    entries_.clear();
    text_.clear();
  }
  [[nodiscard]] bool empty() const { return all_.empty(); }
  [[nodiscard]] std::size_t size() const { return all_.size(); }
  [[nodiscard]] const std::vector<Operation>& all() const { return all_; }
  [[nodiscard]] std::span<const Value> elements(const Operation& op) const {
    return std::span(elements_).subspan(op.first, op.count);
  }
  [[nodiscard]] std::span<const Entry> entries(const Operation& op) const {
    return std::span(entries_).subspan(op.first, op.count);
  }
  [[nodiscard]] ScalarView view(const Value& value) const {
    return {value.kind, value.kind == ScalarKind::kInteger ? value.integer : 0, text_of(value)};
  }

  Value keep(ScalarView scalar);
  void read(Key key, Value value, bool known);
  // A write, insert, delete or append.
  void write(OpKind kind, Key key, Value value);
  void compare_and_set(Key key, Value expected, Value desired, bool succeeded);
  void list_read(Key key, bool known);  // its elements follow
  void element(Value value);
  void range_read(Value low, Value high);  // its entries follow
  void entry(Key key, Value value);

  // Behind those that are here: all, or one of them. `known`: else what a read saw is left out.
  void append(const Operations& from);
  void append(const Operations& from, const Operation& op, bool known = true);

  void save(StateWriter& out) const;
  // Behind those that are here; their keys are below `keys`.
  void load(StateReader& in, std::size_t keys);

  [[nodiscard]] std::uint64_t resident_bytes() const;

 private:
  [[nodiscard]] std::string_view text_of(const Value& value) const;

  std::vector<Operation> all_;
  std::vector<Value> elements_;
  std::vector<Entry> entries_;
  std::string text_;
};

}  // namespace cupel::history
