// evidence_of: see the header.
#include "engine/online/evidence.hpp"

namespace cupel::online {

using history::History;
using history::OpId;
using history::TxnId;
using history::TxnStatus;

namespace {

class Parts {
 public:
  Parts(const History& history, std::span<const std::uint8_t> kept,
        std::span<const std::uint64_t> numbers)
      : h_(history), kept_(kept), numbers_(numbers) {}

  Evidence run(const levels::Witness& witness) {
    out_.level = witness.level;
    std::vector<std::uint8_t> placed(h_.txn_count(), 0);
    const auto place = [&](std::span<const TxnId> order) {
      for (const TxnId t : order) {
        part_of(t).order.push_back(numbers_[t.index()]);
        placed[t.index()] = 1;
      }
    };
    place(witness.order);
    for (const auto& of : witness.by_key) place(of.order);
    for (std::uint32_t t = 0; t < h_.txn_count(); ++t) {
      const bool never =
          kept_[t] == 0 && placed[t] == 0 && h_.status(TxnId(t)) == TxnStatus::kIndeterminate;
      if (never) out_.gone.push_back(numbers_[t]);
    }
    if (witness.reads_from.empty() && witness.placings.empty()) return std::move(out_);
    find_owners();
    for (const auto& read : witness.reads_from) {
      const TxnId reader = owner_[read.read.index()];
      auto& part = part_of(reader);
      // What is forgotten is what the rest begins with.
      const bool named = read.writer.valid() && &part_of(read.writer) == &part;
      part.reads_from.push_back(
          {numbers_[reader.index()], read.read.raw - h_.first_op(reader), read.key,
           named ? std::optional(numbers_[read.writer.index()]) : std::nullopt});
    }
    for (const auto& placing : witness.placings) {
      const TxnId t = owner_[placing.append.index()];
      part_of(t).placings.push_back({placing.key, placing.position, numbers_[t.index()],
                                     placing.append.raw - h_.first_op(t)});
    }
    return std::move(out_);
  }

 private:
  Evidence::Part& part_of(TxnId t) { return kept_[t.index()] != 0 ? out_.rest : out_.closed; }

  void find_owners() {
    owner_.assign(h_.op_count(), TxnId::none());
    for (std::uint32_t t = 0; t < h_.txn_count(); ++t) {
      for (auto i = h_.first_op(TxnId(t)); i < h_.last_op(TxnId(t)); ++i) owner_[i] = TxnId(t);
    }
  }

  const History& h_;
  std::span<const std::uint8_t> kept_;
  std::span<const std::uint64_t> numbers_;
  std::vector<TxnId> owner_;  // by operation
  Evidence out_;
};

}  // namespace

Evidence evidence_of(const History& history, const levels::Witness& witness,
                     std::span<const std::uint8_t> kept, std::span<const std::uint64_t> numbers) {
  return Parts(history, kept, numbers).run(witness);
}

}  // namespace cupel::online
