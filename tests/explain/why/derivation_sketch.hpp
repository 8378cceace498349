// A derivation written by hand: edges one by one, each with what it rests on.
#pragma once

#include <string_view>
#include <vector>

#include "data/history/history.hpp"
#include "engine/levels/derivation.hpp"

namespace cupel::test {

using Because = std::vector<std::uint32_t>;

// Transactions are given by their label, -1 being the initial one; keys by name.
// Operations are left out unless an edge needs them, as find_read and find_write
// have to cope with that too.
class DerivationSketch {
 public:
  explicit DerivationSketch(const history::History& history) : history_(history) {}

  std::uint32_t so(int from, int to);
  std::uint32_t rt(int from, int to);
  std::uint32_t wr(int from, int to, std::string_view key,
                   levels::Reason reason = levels::Reason::kGiven);
  std::uint32_t ww(int from, int to, std::string_view key, levels::Reason reason,
                   Because because = {});
  // kVisible: `reader` read `to`'s version.
  std::uint32_t visible(int from, int to, int reader, std::string_view key, Because because);
  // kInitial without `because`, else kOverwritten; `writer` wrote what was read.
  std::uint32_t rw(int from, int to, std::string_view key, int writer = -1, Because because = {});
  std::uint32_t rw_assumed(int from, int to, std::string_view key);
  std::uint32_t list_rw(int from, int to, std::string_view key);
  std::uint32_t own(int txn);
  // The points of edges, for levels where begin and commit are two events.
  DerivationSketch& from_to(std::uint32_t edge, levels::Point from, levels::Point to);

  levels::Violation cycle(std::vector<std::uint32_t> edges);
  levels::Violation cases(std::vector<std::vector<std::uint32_t>> cycles);

  [[nodiscard]] history::TxnId txn(int label) const;
  [[nodiscard]] history::KeyId key(std::string_view name) const;
  // The n-th operation of a transaction, from 0.
  [[nodiscard]] history::OpId op(int label, std::uint32_t n) const;
  std::vector<levels::Edge>& edges() { return edges_; }

 private:
  std::uint32_t add(int from, int to, levels::EdgeKind kind, levels::Reason reason,
                    std::string_view key, Because because);
  const history::History& history_;
  std::vector<levels::Edge> edges_;
};

}  // namespace cupel::test
