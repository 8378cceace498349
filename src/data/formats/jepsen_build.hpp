// Build: the history of paired operations. Two passes: scan() finds out which keys are lists, which
// the whole file decides, and emit() makes transactions in the order of their completions. Linear
// in the operations.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "data/formats/jepsen_pairs.hpp"
#include "data/formats/op_header.hpp"
#include "data/formats/op_interpreter.hpp"
#include "data/formats/op_kinds.hpp"
#include "data/history/builder.hpp"

namespace cupel::formats::jepsen {

class Build : public Contents {
 public:
  Build(Pairs& pairs, Reading& reading, const Interpretation& as)
      : p_(pairs), reading_(reading), stated_(as.kind.has_value()) {}

  [[nodiscard]] history::HistoryBuilder& builder() { return builder_; }

  // What the operation wrote is initial contents, before run().
  void initial(const PairedOp& set_up);
  [[nodiscard]] std::vector<std::pair<std::uint32_t, std::uint32_t>> writes_of(const PairedOp& op);
  // False after an error, which is in the pairs.
  bool run(const Kinds& kinds, bool line_order);

 private:
  void set_fact(std::string_view name, std::string_view text) override {
    builder_.set_metadata(name, text);
  }
  void set_sessions(const std::vector<std::string_view>& names) override {
    for (const auto name : names) builder_.session(name);
  }
  void set_default_initial(history::ScalarView value) override {
    builder_.set_default_initial(builder_.value(value));
  }
  Refusal set_initial(history::ScalarView key, history::ScalarView value,
                      bool is_register) override;

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
  std::vector<std::uint8_t> key_use_;
  std::vector<history::ValueId> list_;
  std::vector<history::RangeEntry> range_;
  std::string text_;
};

}  // namespace cupel::formats::jepsen
