// Versions: see the header.
#include "engine/explain/counts/versions.hpp"

#include <algorithm>
#include <numeric>

#include "base/offsets.hpp"

namespace cupel::counts {

Versions::Versions(const History& history, const Accesses& accesses, bool lists_open)
    : history_(history), accesses_(accesses) {
  const auto& a = accesses_;
  writer_.resize(a.writes.size());
  for (Owner o = 0; o < a.txns.size(); ++o) {
    for (auto w = a.write_first[o]; w < a.write_first[o + 1]; ++w) writer_[w] = o;
  }
  by_key_.resize(a.reads.size());
  std::iota(by_key_.begin(), by_key_.end(), 0);
  for (Owner o = 0; o < a.txns.size(); ++o) {
    std::sort(by_key_.begin() + a.read_first[o], by_key_.begin() + a.read_first[o + 1],
              [&](std::uint32_t x, std::uint32_t y) {
                return a.reads[x].key != a.reads[y].key ? a.reads[x].key < a.reads[y].key : x < y;
              });
  }
  resolve_reads(lists_open);
  if (!lists_open && !a.list_order.empty()) order_lists();
  find_overwriters(lists_open);
}

Version Versions::written(Owner owner, KeyId key) const {
  const auto begin = accesses_.writes.begin() + accesses_.write_first[owner];
  const auto end = accesses_.writes.begin() + accesses_.write_first[owner + 1];
  const auto it = std::lower_bound(begin, end, key,
                                   [](const levels::FinalWrite& w, KeyId k) { return w.key < k; });
  if (it == end || it->key != key) return kNone;
  return static_cast<Version>(it - accesses_.writes.begin());
}

std::uint32_t Versions::first_read(Owner owner, KeyId key) const {
  const auto begin = by_key_.begin() + accesses_.read_first[owner];
  const auto end = by_key_.begin() + accesses_.read_first[owner + 1];
  const auto it = std::lower_bound(
      begin, end, key, [&](std::uint32_t read, KeyId k) { return accesses_.reads[read].key < k; });
  return it == end || accesses_.reads[*it].key != key ? kNone : *it;
}

std::span<const std::uint32_t> Versions::reads_of(Owner owner, KeyId key) const {
  const auto begin = by_key_.begin() + accesses_.read_first[owner];
  const auto end = by_key_.begin() + accesses_.read_first[owner + 1];
  auto it = std::lower_bound(
      begin, end, key, [&](std::uint32_t read, KeyId k) { return accesses_.reads[read].key < k; });
  const auto first = static_cast<std::size_t>(it - by_key_.begin());
  while (it != end && accesses_.reads[*it].key == key) ++it;
  return std::span(by_key_).subspan(first, static_cast<std::size_t>(it - by_key_.begin()) - first);
}

void Versions::resolve_reads(bool lists_open) {
  const auto& a = accesses_;
  of_read_.assign(a.reads.size(), kNone);
  reader_first_.assign(count() + 1, 0);
  for (std::uint32_t r = 0; r < a.reads.size(); ++r) {
    const auto& read = a.reads[r];
    if (read.last_candidate - read.first_candidate != 1 ||
        (lists_open && history_.is_list(read.key))) {
      reads_known_ = false;
      continue;
    }
    const Owner w = a.candidates[read.first_candidate];
    of_read_[r] = w == kInitialOwner ? initial(read.key) : written(w, read.key);
    if (of_read_[r] != kNone && !read.repeated) ++reader_first_[of_read_[r] + 1];
  }
  base::counts_to_offsets(reader_first_);
  readers_.resize(reader_first_.back());
  auto next = reader_first_;
  for (std::uint32_t r = 0; r < a.reads.size(); ++r) {
    if (of_read_[r] != kNone && !a.reads[r].repeated) readers_[next[of_read_[r]]++] = r;
  }
}

// The arcs of a key come in the order of its longest list; after its last element
// those that nobody read share a place.
void Versions::order_lists() {
  position_.assign(writer_.size(), 0);
  for (const auto& arc : accesses_.list_order) {
    const auto from = written(arc.from, arc.key), to = written(arc.to, arc.key);
    if (from == kNone || to == kNone) continue;
    if (position_[from] == 0) position_[from] = 1;
    position_[to] = position_[from] + 1;
  }
}

bool Versions::older_in_list(Version a, Version b) const {
  if (position_.empty() || is_initial(a) || is_initial(b)) return false;
  return position_[a] != 0 && position_[b] != 0 && position_[a] < position_[b];
}

bool Versions::updates(Owner owner, Version v) const {
  const auto read = first_read(owner, key(v));
  return read != kNone && of_read_[read] == v && written(owner, key(v)) != kNone;
}

void Versions::find_overwriters(bool lists_open) {
  const auto& a = accesses_;
  // Twice: counted, then placed.
  const auto for_each = [&](const auto& found) {
    for (std::uint32_t r = 0; r < a.reads.size(); ++r) {
      if (of_read_[r] == kNone || a.reads[r].repeated) continue;
      if (written(a.reads[r].owner, a.reads[r].key) != kNone) found(of_read_[r], a.reads[r].owner);
    }
    for (Version w = 0; w < writer_.size(); ++w) {
      if (first_read(writer_[w], a.writes[w].key) == kNone) {
        found(initial(a.writes[w].key), writer_[w]);
      }
    }
    if (lists_open) return;
    for (const auto& arc : a.list_order) {
      const auto from = written(arc.from, arc.key);
      if (from != kNone) found(from, arc.to);
    }
  };
  overwriter_first_.assign(count() + 1, 0);
  for_each([&](Version v, Owner) { ++overwriter_first_[v + 1]; });
  base::counts_to_offsets(overwriter_first_);
  overwriters_.resize(overwriter_first_.back());
  auto next = overwriter_first_;
  for_each([&](Version v, Owner o) { overwriters_[next[v]++] = o; });
  // Sorted, each once.
  std::uint32_t kept = 0;
  for (std::size_t v = 0; v < count(); ++v) {
    const auto begin = overwriters_.begin() + overwriter_first_[v];
    const auto end = overwriters_.begin() + overwriter_first_[v + 1];
    std::sort(begin, end);
    const auto unique_end = std::unique(begin, end);
    overwriter_first_[v] = kept;
    kept = static_cast<std::uint32_t>(std::copy(begin, unique_end, overwriters_.begin() + kept) -
                                      overwriters_.begin());
  }
  overwriter_first_[count()] = kept;
  overwriters_.resize(kept);

  // A key's order is known if every writer read what it overwrote or stands in a
  // list, but for a single one.
  std::vector<std::uint32_t> writers(history_.key_count(), 0), placed(history_.key_count(), 0);
  for (Version w = 0; w < writer_.size(); ++w) {
    const KeyId key = a.writes[w].key;
    ++writers[key.index()];
    const auto read = first_read(writer_[w], key);
    const bool in_list = !position_.empty() && position_[w] != 0;
    if (in_list || (read != kNone && of_read_[read] != kNone)) ++placed[key.index()];
  }
  for (std::size_t k = 0; k < writers.size(); ++k) {
    orders_known_ = orders_known_ && (writers[k] < 2 || placed[k] == writers[k]);
  }
  // Two list elements at one place: nobody read either.
  if (!position_.empty()) {
    for (std::size_t i = 1; i < a.list_order.size(); ++i) {
      const auto &before = a.list_order[i - 1], &arc = a.list_order[i];
      if (before.key == arc.key && before.from == arc.from && before.to != arc.to)
        orders_known_ = false;
    }
  }
}

}  // namespace cupel::counts
