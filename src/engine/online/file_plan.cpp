// File plan: see the header.
#include "engine/online/file_plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <utility>

namespace cupel::online {

using history::kNoTime;
using history::Operations;
using history::StreamedTransaction;
using history::Time;
using history::TxnStatus;

namespace {

// More than that are left where they are, at the cost of what has to be held meanwhile.
constexpr std::size_t kMostLate = 100'000, kMostLateOperations = 2'000'000;

class Planner {
 public:
  explicit Planner(const PlanSizes& sizes) : sizes_(sizes) { plan_.block = sizes.block; }

  // Empty: go on.
  std::string add(const StreamedTransaction& txn) {
    if (txn.session >= plan_.counts.size()) {
      plan_.counts.resize(txn.session + 1, 0);
      plan_.born.resize(txn.session + 1, 0);
    }
    auto& count = plan_.counts[txn.session];
    if (count == 0) {
      plan_.born[txn.session] = plan_.transactions;
      ++plan_.sessions;
    }
    ++count;
    if (auto why = unfit(txn); !why.empty()) return why;
    const auto block = static_cast<std::size_t>(plan_.transactions / plan_.block);
    if (block >= plan_.no_earlier.size()) {
      plan_.no_earlier.push_back(FilePlan::kNothingLeft);
      latest_.push_back(latest_.empty() ? kNoTime : latest_.back());
    }
    if (is_late(txn, block)) {
      late_operations_ += txn.operations.size();
      plan_.late.emplace(plan_.transactions, FilePlan::Late{count, txn, counted_});
    } else {
      plan_.no_earlier[block] = std::min(plan_.no_earlier[block], txn.invoke);
    }
    latest_[block] = std::max(latest_[block], txn.invoke);
    if (!plan_.several_keys && touches_several(txn)) plan_.several_keys = txn.label;
    ++plan_.transactions;
    counted_ += txn.status == TxnStatus::kAborted ? 0 : 1;
    plan_.committed += txn.status == TxnStatus::kCommitted ? 1 : 0;
    plan_.operations += txn.operations.size();
    note_keys(txn.operations);
    plan_.doubtful_compares |= txn.status == TxnStatus::kIndeterminate && has_compare(txn);
    return {};
  }

  FilePlan finish(const history::TransactionSource& source) && {
    known_.resize(source.key_count(), 0);
    bool starts_empty = true;
    for (const auto& initial : source.initial()) {
      if (initial.of_all) {
        starts_empty = initial.kind == history::ScalarKind::kNull;
      } else {
        known_[initial.key] = 1;
      }
    }
    plan_.doubtful_nulls = !starts_empty && std::count(known_.begin(), known_.end(), 0) > 0;
    for (std::size_t k = 0; k < source.key_count(); ++k) {
      plan_.keys.intern(source.key(static_cast<history::Key>(k)));
      plan_.lists.push_back(source.is_list(static_cast<history::Key>(k)));
    }
    plan_.keys.drop_index();
    for (std::size_t s = 0; s < plan_.counts.size(); ++s) {
      plan_.session_names.push_back(source.session_name(static_cast<std::uint32_t>(s)));
    }
    auto& all = plan_.no_earlier;
    for (std::size_t b = all.size(); b > 1; --b) all[b - 2] = std::min(all[b - 2], all[b - 1]);
    return std::move(plan_);
  }
  FilePlan unfit(std::string why) && {
    plan_.unfit = std::move(why);
    return std::move(plan_);
  }

 private:
  static std::string unfit(const StreamedTransaction& txn) {
    const bool committed = txn.status == TxnStatus::kCommitted;
    if (txn.invoke == kNoTime || (committed && txn.complete == kNoTime)) {
      return fmt::format(
          "transaction {} has no times, so that nobody knows what may still come; windows need the "
          "times of all transactions, or their invocations",
          txn.label);
    }
    if (committed && txn.complete < txn.invoke) {
      return fmt::format("transaction {} ends before it begins", txn.label);
    }
    return {};
  }
  // What a key is is known by any operation but a read of null.
  void note_keys(const Operations& operations) {
    const auto know = [&](history::Key key) {
      if (key >= known_.size()) known_.resize(key + std::size_t{1}, 0);
      known_[key] = 1;
    };
    for (const auto& op : operations.all()) {
      if (op.kind == history::OpKind::kRangeRead) {
        for (const auto& entry : operations.entries(op)) know(entry.key);
      } else if (op.kind != history::OpKind::kRead ||
                 (op.known && op.value.kind != history::ScalarKind::kNull)) {
        know(op.key);
      }
    }
  }
  static bool touches_several(const StreamedTransaction& txn) {
    const auto& all = txn.operations.all();
    return txn.status != TxnStatus::kAborted &&
           std::any_of(all.begin(), all.end(), [&](const Operations::Operation& op) {
             return op.kind == history::OpKind::kRangeRead || op.key != all.front().key;
           });
  }
  static bool has_compare(const StreamedTransaction& txn) {
    const auto& all = txn.operations.all();
    return std::any_of(all.begin(), all.end(), [](const Operations::Operation& op) {
      return op.kind == history::OpKind::kCompareAndSet;
    });
  }
  [[nodiscard]] bool is_late(const StreamedTransaction& txn, std::size_t block) const {
    return block >= sizes_.late_blocks && txn.invoke < latest_[block - sizes_.late_blocks] &&
           plan_.late.size() < kMostLate && late_operations_ < kMostLateOperations;
  }

  const PlanSizes sizes_;
  FilePlan plan_;
  std::vector<std::uint8_t> known_;  // by key
  std::vector<Time> latest_;         // by block: the latest invocation up to its end
  std::size_t late_operations_ = 0;
  std::uint64_t counted_ = 0;
};

}  // namespace

std::uint64_t FilePlan::sessions_by(std::uint64_t number) const {
  std::uint64_t found = 0;
  for (std::size_t s = 0; s < counts.size(); ++s) {
    found += counts[s] > 0 && born[s] < number ? 1 : 0;
  }
  return found;
}

base::Result<FilePlan> plan_of(history::TransactionSource& source,
                               const std::function<bool()>& stop, const PlanSizes& sizes) {
  Planner planner(sizes);
  StreamedTransaction txn;
  for (std::uint64_t n = 0;; ++n) {
    if (n % sizes.block == 0 && stop()) return std::move(planner).unfit("it was interrupted");
    const auto more = source.next(txn);
    if (!more.ok()) return more.error();
    if (!*more) return std::move(planner).finish(source);
    if (auto why = planner.add(txn); !why.empty()) return std::move(planner).unfit(std::move(why));
  }
}

}  // namespace cupel::online
