// A window that slides: of levels for which no settled past can be cut off.
//
// It holds the newest transactions, and decides the level for them alone (held_alone.hpp). A
// violation here is one of the whole, unless a forgotten transaction wrote the same value as one
// that is held: so it is never sure. What is satisfied here is satisfied within the window, and no
// further.
#include "base/verdict.hpp"
#include "data/history/mask.hpp"
#include "engine/online/held_alone.hpp"
#include "engine/online/window.hpp"

namespace cupel::online {

using base::Verdict;
using history::History;
using history::OpId;

Look Window::slide(const history::OpenCompares& open, bool silent, base::Budget& budget) {
  if (held_.forgotten > 0) {
    const auto unknown = reads_of_others(history_, /*frontier_known=*/false);
    history_ = history::with_unknown(std::move(history_), unknown);
  }
  const bool masked = silent || !open.reads.empty();
  const auto unsure = silent ? reads_of_others(history_, /*frontier_known=*/false) : open.reads;
  const auto certain = masked ? history::with_unknown(history_, unsure) : History();
  waits_ = waits_ || silent;
  levels::Decider decider(masked ? certain : history_, options_.drift, 1, /*evidence=*/false);
  auto decision = decider.decide(level_, budget);
  Look look{decision.status, std::move(decision.detail),
            held_.forgotten == 0 && held_.doubt.empty()};
  if (decision.status != Verdict::kSatisfied) return look;
  held_.open = 0;
  for (std::size_t t = 0; t < txns_.size(); ++t) {
    held_.open += txns_[t].open ? 1 : 0;
    if (txns_[t].open || txns_[t].born + slide_ >= held_.transactions) continue;
    kept_[t] = 0;
    --held_.held;
    held_.forgotten += txns_[t].status == history::TxnStatus::kAborted ? 0 : 1;
  }
  return look;
}

bool Window::violates_alone(levels::Level level, base::Budget& budget) const {
  const auto unknown = reads_of_others(history_, /*frontier_known=*/true);
  const auto alone = with_writers_of_frontier(history::with_unknown(history_, unknown));
  levels::Decider decider(alone, options_.drift, 1, /*evidence=*/false);
  return decider.decide(level, budget).status == Verdict::kViolated;
}

void Window::give_up(levels::Level level, std::size_t slide) {
  level_ = level;
  slide_ = slide;
  held_.open = 0;
  for (std::size_t t = 0; t < txns_.size(); ++t) {
    held_.open += txns_[t].open ? 1 : 0;
    if (txns_[t].open || !kept_[t]) continue;
    kept_[t] = 0;
    held_.forgotten += txns_[t].status == history::TxnStatus::kAborted ? 0 : 1;
  }
  held_.held = held_.open;
  held_.uncovered = held_.undecided = held_.outcome = 0;
  forgotten_ranges_ = {};  // else each look to come meets the same missing key
  waits_ = false;
}

void Window::forget_reads() {
  std::vector<OpId> reads;
  for (std::size_t o = 0; o < history_.op_count(); ++o) reads.emplace_back(o);
  history_ = history::with_unknown(std::move(history_), reads);
}

}  // namespace cupel::online
