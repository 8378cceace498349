// Build: the history of paired operations. Two passes: scan() finds out which keys are lists, which
// the whole file decides, and emit() makes transactions in the order of their completions. Linear
// in the operations.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "formats/jepsen_pairs.hpp"
#include "formats/op_interpreter.hpp"
#include "history/builder.hpp"

namespace cupel::formats::jepsen {

class Build {
 public:
  Build(Pairs& pairs, Reading& reading, const Interpretation& as)
      : p_(pairs), reading_(reading), stated_(as.kind.has_value()) {}

  [[nodiscard]] history::HistoryBuilder& builder() { return builder_; }

  // What header lines say, before scan().
  void initial(const Chunk& chunk, const Header::Initial& initial);
  // What the operation wrote, the same.
  void initial(const PairedOp& set_up);
  [[nodiscard]] std::vector<std::pair<std::uint32_t, std::uint32_t>> writes_of(const PairedOp& op);
  // Whether a key holds a collection at the start, so that a read may return one.
  [[nodiscard]] bool collection_written() const { return collection_written_; }

  // False after an error, which is in the pairs.
  bool run(const Kinds& kinds, bool line_order);

 private:
  void initial(const Chunk& chunk, const Cell& key, const Cell& value);
  void note_use(history::KeyId key, std::uint8_t use);
  bool scan();
  bool scan_op(const PairedOp& txn, Chunk& chunk, MicroOp& op);
  bool emit(bool line_order);
  [[nodiscard]] std::vector<std::size_t> last_of_chunks() const;
  history::KeyId key_id(const Chunk& chunk, const Cell& cell);
  history::ValueId value_id(const Chunk& chunk, const Cell& cell);
  bool emit_op(const PairedOp& txn, const Chunk& chunk, const MicroOp& op);
  bool emit_read(const PairedOp& txn, const Chunk& chunk, const MicroOp& op, history::KeyId key);
  bool emit_range(const PairedOp& txn, const Chunk& chunk, const MicroOp& op);

  static constexpr std::uint8_t kAppended = 1, kVectorSeen = 2, kScalarSeen = 4, kWritten = 8,
                                kNullSeen = 16, kInRange = 32;

  Pairs& p_;
  Reading& reading_;
  const bool stated_;  // the kind of the workload
  history::HistoryBuilder builder_;
  Workload kind_ = Workload::kTransactions;
  bool collection_written_ = false;
  bool starts_as_collection_ = false;  // every key
  std::vector<std::uint8_t> key_use_;
  std::vector<history::ValueId> list_;
  std::vector<history::RangeEntry> range_;
  std::string text_;
};

}  // namespace cupel::formats::jepsen
