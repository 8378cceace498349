// Keys: what a window knows about each key for good: its name, whether it is a list, and
// what it holds after all that was forgotten.
//
// The one part of a watch that grows with the database: about 60 bytes a key.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "data/history/operations.hpp"
#include "data/history/scalar.hpp"
#include "data/history/state.hpp"

namespace cupel::online {

using history::Key;
using history::Operations;
using history::StateReader;
using history::StateWriter;
using history::Value;

// Of a list's elements, in order: equal ones have the same, others (but for one case in
// 2^100 or so) another.
struct ListHash {
  std::uint64_t low = 0x9e3779b97f4a7c15ull, high = 0xc2b2ae3d27d4eb4full;
  void add(history::ScalarView element);
  friend bool operator==(const ListHash&, const ListHash&) = default;
};

class Keys {
 public:
  Key of(history::ScalarView name) { return grown(table_.intern(name)); }
  Key of(std::int64_t name) { return grown(table_.intern(name)); }
  [[nodiscard]] history::ScalarView name(Key key) const { return table_.at(key); }
  [[nodiscard]] std::size_t size() const { return facts_.size(); }

  // A list was appended to, or read; a register written, or a scalar read.
  void note_list(Key key) { facts_[key].list = true; }
  void note_register(Key key) { facts_[key].written = true; }
  [[nodiscard]] bool is_list(Key key) const { return facts_[key].list; }
  [[nodiscard]] bool is_register(Key key) const { return facts_[key].written; }
  // Used as both: the history cannot be read.
  [[nodiscard]] bool is_both(Key key) const { return facts_[key].list && facts_[key].written; }

  // What the key holds, once something was forgotten, or said before the first transaction.
  [[nodiscard]] std::optional<history::ScalarView> held(Key key) const;
  void hold(Key key, history::ScalarView value);

  // How many elements of the list are forgotten, and which.
  [[nodiscard]] std::uint32_t forgotten(Key key) const { return facts_[key].forgotten; }
  [[nodiscard]] bool begins_with_forgotten(Key key, const Operations& from,
                                           std::span<const Value> elements) const;
  void forget_element(Key key, history::ScalarView element);

  // A checksum of what all keys hold.
  [[nodiscard]] std::uint64_t digest() const { return digest_; }

  void save(StateWriter& out) const;
  // Into a table without keys.
  void load(StateReader& in);

 private:
  struct Facts {
    bool list = false, written = false, holds = false;
    history::ScalarKind kind = history::ScalarKind::kNull;
    std::uint32_t forgotten = 0;
    std::int32_t place = -1;  // of its ListHash, or of its text
    std::int64_t integer = 0;
  };
  Key grown(std::uint32_t id) {
    if (id >= facts_.size()) facts_.resize(id + 1);
    return id;
  }

  history::ScalarTable table_;
  std::vector<Facts> facts_;
  std::vector<ListHash> hashes_;
  std::vector<std::string> texts_;  // each of one key for good
  std::uint64_t digest_ = 0;
};

}  // namespace cupel::online
