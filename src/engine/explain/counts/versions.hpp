// Versions: who read which version of which key, and who wrote the next one.
//
// A version is what one counting transaction finally wrote to a key, or the initial
// one. Only what is certain is here: a read with several possible writers is of an
// unknown version, and a transaction overwrites a version if a client saw so.
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "data/history/history.hpp"
#include "engine/levels/accesses.hpp"

namespace cupel::counts {

using history::History;
using history::KeyId;
using levels::Accesses;
using levels::kInitialOwner;
using levels::Owner;

using Version = std::uint32_t;
inline constexpr std::uint32_t kNone = std::numeric_limits<std::uint32_t>::max();

class Versions {
 public:
  // `lists_open`: which append stands at which place of a list is a choice, so no
  // read of a list is of a known version. Keeps references to both. Linear, but for
  // sorting within a transaction and a version.
  Versions(const History& history, const Accesses& accesses, bool lists_open);

  [[nodiscard]] std::size_t count() const { return writer_.size() + history_.key_count(); }
  [[nodiscard]] KeyId key(Version v) const {
    return v < writer_.size() ? accesses_.writes[v].key : KeyId(v - writer_.size());
  }
  // kInitialOwner for an initial version.
  [[nodiscard]] Owner writer(Version v) const {
    return v < writer_.size() ? writer_[v] : kInitialOwner;
  }
  [[nodiscard]] bool is_initial(Version v) const { return v >= writer_.size(); }
  [[nodiscard]] Version initial(KeyId key) const {
    return static_cast<Version>(writer_.size() + key.index());
  }
  // What the owner finally wrote to the key; kNone if it did not.
  [[nodiscard]] Version written(Owner owner, KeyId key) const;

  // By index into Accesses::reads; kNone if that is not certain.
  [[nodiscard]] Version of_read(std::uint32_t read) const { return of_read_[read]; }
  // The owner's first read of the key, as an index into Accesses::reads, or kNone.
  [[nodiscard]] std::uint32_t first_read(Owner owner, KeyId key) const;
  // All its reads, as such indexes, by key and then ascending.
  [[nodiscard]] std::span<const std::uint32_t> reads_by_key(Owner owner) const {
    return {by_key_.data() + accesses_.read_first[owner],
            by_key_.data() + accesses_.read_first[owner + 1]};
  }
  // All its reads of the key, as such indexes, ascending.
  [[nodiscard]] std::span<const std::uint32_t> reads_of(Owner owner, KeyId key) const;
  // The first reads of the version, ascending.
  [[nodiscard]] std::span<const std::uint32_t> readers(Version v) const {
    return {readers_.data() + reader_first_[v], readers_.data() + reader_first_[v + 1]};
  }
  // Those who overwrite the version for certain, ascending:
  // - who read it, and then wrote the key;
  // - of an initial version: also who wrote the key without having read it;
  // - of a list: also the writer of the next element in list reads.
  [[nodiscard]] std::span<const Owner> overwriters(Version v) const {
    return {overwriters_.data() + overwriter_first_[v],
            overwriters_.data() + overwriter_first_[v + 1]};
  }
  // The first of these ways.
  [[nodiscard]] bool updates(Owner owner, Version v) const;

  // Do list reads say that `a` is older than `b`?
  [[nodiscard]] bool older_in_list(Version a, Version b) const;

  // Every read is of a known version.
  [[nodiscard]] bool reads_known() const { return reads_known_; }
  // So is the order of each key's versions, without further reasoning.
  [[nodiscard]] bool orders_known() const { return orders_known_; }

 private:
  void resolve_reads(bool lists_open);
  void order_lists();
  void find_overwriters(bool lists_open);

  const History& history_;
  const Accesses& accesses_;
  bool reads_known_ = true, orders_known_ = true;
  std::vector<Owner> writer_;          // by final write
  std::vector<Version> of_read_;       // by read
  std::vector<std::uint32_t> by_key_;  // reads, by owner and then by key, first reads first
  std::vector<std::uint32_t> reader_first_, readers_;
  std::vector<std::uint32_t> overwriter_first_;
  std::vector<Owner> overwriters_;
  std::vector<std::uint32_t> position_;  // by final write, in its list; 0: none. Empty: no lists
};

}  // namespace cupel::counts
