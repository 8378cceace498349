// ScalarTable: the interning of keys and values. See the header.
#include "data/history/scalar.hpp"

#include <algorithm>
#include <cassert>
#include <string>

#include "base/hash_table.hpp"

namespace cupel::history {

std::string ScalarView::to_string() const {
  switch (kind) {
    case ScalarKind::kNull:
      return "null";
    case ScalarKind::kInteger:
      return std::to_string(integer);
    case ScalarKind::kKeyword:
      return ":" + std::string(text);
    case ScalarKind::kString:
    case ScalarKind::kLiteral:
      break;
  }
  return std::string(text);
}

// Integers have maps of their own: they are nearly all there is. Recorded keys
// and values are mostly counters, so those below a few times the number of
// scalars are looked up in an array, several times cheaper than a hash; it grows
// only with the table, so one huge integer cannot make it large. Texts are keyed
// by kind and content; the key owns its bytes because the arena moves.
struct ScalarTable::Index {
  static constexpr std::uint32_t kNoId = 0xffffffff;
  static constexpr std::size_t kFirstCounters = 1024;
  static constexpr std::size_t kCountersPerScalar = 8;

  std::vector<std::uint32_t> counters;                  // the id of each integer 0, 1, 2 …
  base::HashMap<std::int64_t, std::uint32_t> integers;  // the others; some of the counters too
  base::HashMap<std::string, std::uint32_t> texts;

  static std::string text_key(ScalarView scalar) {
    std::string key(1, static_cast<char>(scalar.kind));
    key.append(scalar.text);
    return key;
  }
};

ScalarTable::ScalarTable() : index_(std::make_unique<Index>()) {}
ScalarTable::~ScalarTable() = default;
ScalarTable::ScalarTable(ScalarTable&&) noexcept = default;
ScalarTable& ScalarTable::operator=(ScalarTable&&) noexcept = default;
ScalarTable::ScalarTable(const ScalarTable& other)
    : kinds_(other.kinds_),
      payload_(other.payload_),
      text_end_(other.text_end_),
      arena_(other.arena_) {}
ScalarTable& ScalarTable::operator=(const ScalarTable& other) {
  if (this != &other) *this = ScalarTable(other);
  return *this;
}

std::uint32_t ScalarTable::intern(std::int64_t integer) {
  assert(index_ && "interning after the index was dropped");
  auto& counters = index_->counters;
  const auto counter = static_cast<std::uint64_t>(integer);  // a negative one is huge
  if (counter >= counters.size() &&
      counter < Index::kFirstCounters + Index::kCountersPerScalar * kinds_.size()) {
    counters.resize(std::max<std::size_t>(Index::kFirstCounters, 2 * counter), Index::kNoId);
    for (std::uint32_t id = 0; id < kinds_.size(); ++id) {
      if (kinds_[id] == ScalarKind::kInteger && payload_[id] < counters.size())
        counters[payload_[id]] = id;
    }
  }
  const auto fresh_id = static_cast<std::uint32_t>(kinds_.size());
  auto& id = counter < counters.size()
                 ? counters[counter]
                 : index_->integers.try_emplace(integer, Index::kNoId).first->second;
  if (id == Index::kNoId) {
    id = fresh_id;
    kinds_.push_back(ScalarKind::kInteger);
    payload_.push_back(counter);
  }
  return id;
}

void ScalarTable::prefetch(std::int64_t integer) const {
  const auto& counters = index_->counters;
  const auto counter = static_cast<std::uint64_t>(integer);
  if (counter < counters.size()) {
    __builtin_prefetch(&counters[counter]);
  } else {
    index_->integers.prefetch(integer);
  }
}

std::uint32_t ScalarTable::intern(ScalarView scalar) {
  if (scalar.kind == ScalarKind::kInteger) return intern(scalar.integer);
  assert(index_ && "interning after the index was dropped");
  const auto [it, fresh] =
      index_->texts.try_emplace(Index::text_key(scalar), static_cast<std::uint32_t>(kinds_.size()));
  if (fresh) add(scalar);
  return it->second;
}

std::uint32_t ScalarTable::find_or_add(ScalarView scalar) {
  if (index_) return intern(scalar);
  const auto id = find(scalar);
  return id ? *id : add(scalar);
}

std::uint32_t ScalarTable::add(ScalarView scalar) {
  kinds_.push_back(scalar.kind);
  if (scalar.kind == ScalarKind::kInteger) {
    payload_.push_back(static_cast<std::uint64_t>(scalar.integer));
  } else {
    payload_.push_back(text_end_.size());
    arena_.insert(arena_.end(), scalar.text.begin(), scalar.text.end());
    text_end_.push_back(arena_.size());
  }
  return static_cast<std::uint32_t>(kinds_.size() - 1);
}

ScalarView ScalarTable::at(std::uint32_t id) const {
  assert(id < kinds_.size() && "a scalar id of another table");
  const auto payload = payload_[id];
  if (kinds_[id] == ScalarKind::kInteger) return ScalarView::of(static_cast<std::int64_t>(payload));
  const auto begin = payload == 0 ? 0 : text_end_[payload - 1];
  return {kinds_[id], 0, std::string_view(arena_.data() + begin, text_end_[payload] - begin)};
}

std::optional<std::uint32_t> ScalarTable::find(ScalarView scalar) const {
  if (!index_) {
    for (std::uint32_t id = 0; id < kinds_.size(); ++id) {
      if (at(id) == scalar) return id;
    }
    return std::nullopt;
  }
  if (scalar.kind == ScalarKind::kInteger) {
    const auto counter = static_cast<std::uint64_t>(scalar.integer);
    if (counter < index_->counters.size()) {
      const auto id = index_->counters[counter];
      return id == Index::kNoId ? std::nullopt : std::optional(id);
    }
    const auto it = index_->integers.find(scalar.integer);
    if (it == index_->integers.end()) return std::nullopt;
    return it->second;
  }
  const auto it = index_->texts.find(Index::text_key(scalar));
  if (it == index_->texts.end()) return std::nullopt;
  return it->second;
}

void ScalarTable::drop_index() {
  index_.reset();
  kinds_.shrink_to_fit();
  payload_.shrink_to_fit();
  text_end_.shrink_to_fit();
  arena_.shrink_to_fit();
}

std::uint64_t ScalarTable::resident_bytes() const {
  return kinds_.capacity() + 8 * payload_.capacity() + 8 * text_end_.capacity() + arena_.capacity();
}

}  // namespace cupel::history
