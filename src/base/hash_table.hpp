// HashMap, HashSet: abseil's, which an allocation may fail in. Abseil is not written for
// exceptions: a table whose growth throws keeps its old array with the new size, and an
// element whose construction throws counts as one that is there; the table's destructor
// then destroys what never was. The allocations of an AllocationWatch that fail are not
// rare: every memory limit ends with one.
//
// So a table that is full announces its growth before it begins, which may throw and
// changes nothing; and what fails while it grows, or while an element is constructed in
// it, fails at the next allocation outside of it. A refusal of the system itself (ulimit -v)
// is not survived; Linux kills a process that has too much before that.
#pragma once

#include <absl/container/flat_hash_map.h>
#include <absl/container/flat_hash_set.h>

#include <cstddef>
#include <initializer_list>
#include <type_traits>
#include <utility>

#include "base/budget.hpp"

namespace cupel::base {

template <typename Table>
class GuardedTable : public Table {
  using Deferral = AllocationWatch::Deferral;

 public:
  using typename Table::key_type;
  using typename Table::value_type;

  GuardedTable() = default;
  GuardedTable(std::initializer_list<value_type> values) : GuardedTable(Deferral(), values) {}
  template <typename Iterator>
  GuardedTable(Iterator first, Iterator last) : GuardedTable(Deferral(), first, last) {}
  GuardedTable(const GuardedTable& other)
      : GuardedTable(Deferral(), static_cast<const Table&>(other)) {}
  GuardedTable(GuardedTable&&) noexcept = default;
  ~GuardedTable() = default;
  GuardedTable& operator=(const GuardedTable& other) {
    const Deferral deferral;
    Table::operator=(other);
    return *this;
  }
  GuardedTable& operator=(GuardedTable&&) noexcept = default;

  template <typename... Arguments>
  auto emplace(Arguments&&... arguments) {
    if (is_full()) announce_growth();
    const Deferral deferral;
    return Table::emplace(std::forward<Arguments>(arguments)...);
  }
  auto insert(const value_type& value) {
    before_insertion_of(key_of(value));
    const Deferral deferral;
    return Table::insert(value);
  }
  auto insert(value_type&& value) {
    before_insertion_of(key_of(value));
    const Deferral deferral;
    return Table::insert(std::move(value));
  }
  template <typename Iterator>
  void insert(Iterator first, Iterator last) {
    for (; first != last; ++first) emplace(*first);
  }
  void reserve(std::size_t count) {
    if (count > this->capacity()) AllocationWatch::before_allocation(count * kSlotBytes);
    const Deferral deferral;
    Table::reserve(count);
  }
  void rehash(std::size_t) = delete;
  template <typename Other>
  void merge(Other&&) = delete;

 protected:
  static constexpr std::size_t kSlotBytes = sizeof(value_type) + 1;

  // A table grows when seven eighths are full.
  [[nodiscard]] bool is_full() const {
    return this->size() >= this->capacity() - this->capacity() / 8;
  }
  void announce_growth() const {
    AllocationWatch::before_allocation((2 * this->capacity() + 1) * kSlotBytes);
  }
  void before_insertion_of(const key_type& key) const {
    if (is_full() && !this->contains(key)) announce_growth();
  }

 private:
  static const key_type& key_of(const value_type& value) {
    if constexpr (std::is_same_v<key_type, value_type>) {
      return value;
    } else {
      return value.first;
    }
  }

  template <typename... Arguments>
  explicit GuardedTable(const Deferral&, Arguments&&... arguments)
      : Table(std::forward<Arguments>(arguments)...) {}
};

template <typename Key, typename Hash = typename absl::flat_hash_set<Key>::hasher,
          typename Equal = typename absl::flat_hash_set<Key>::key_equal>
using HashSet = GuardedTable<absl::flat_hash_set<Key, Hash, Equal>>;

template <typename Key, typename Value, typename Hash = typename absl::flat_hash_set<Key>::hasher,
          typename Equal = typename absl::flat_hash_set<Key>::key_equal>
class HashMap : public GuardedTable<absl::flat_hash_map<Key, Value, Hash, Equal>> {
  using Table = absl::flat_hash_map<Key, Value, Hash, Equal>;

 public:
  using GuardedTable<Table>::GuardedTable;

  template <typename... Arguments>
  auto try_emplace(const Key& key, Arguments&&... arguments) {
    this->before_insertion_of(key);
    const AllocationWatch::Deferral deferral;
    return Table::try_emplace(key, std::forward<Arguments>(arguments)...);
  }
  template <typename... Arguments>
  auto try_emplace(Key&& key, Arguments&&... arguments) {
    this->before_insertion_of(key);
    const AllocationWatch::Deferral deferral;
    return Table::try_emplace(std::move(key), std::forward<Arguments>(arguments)...);
  }
  template <typename AnyValue>
  auto insert_or_assign(const Key& key, AnyValue&& value) {
    this->before_insertion_of(key);
    const AllocationWatch::Deferral deferral;
    return Table::insert_or_assign(key, std::forward<AnyValue>(value));
  }
  Value& operator[](const Key& key) { return try_emplace(key).first->second; }
  Value& operator[](Key&& key) { return try_emplace(std::move(key)).first->second; }
};

}  // namespace cupel::base
