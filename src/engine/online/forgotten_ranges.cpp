// Forgotten ranges: see the header.
#include "engine/online/forgotten_ranges.hpp"

#include "data/history/text_order.hpp"

namespace cupel::online {

using history::ScalarView;

void ForgottenRanges::add(ScalarView low, ScalarView high, const RangeReader& reader) {
  readers_.try_emplace({bounds_.intern(low), bounds_.intern(high)}, reader);
}

const RangeReader* ForgottenRanges::reader_of(ScalarView key) const {
  for (const auto& [bounds, reader] : readers_) {
    if (history::agreed_between(bounds_.at(bounds.first), key, bounds_.at(bounds.second)))
      return &reader;
  }
  return nullptr;
}

void ForgottenRanges::save(history::StateWriter& out) const {
  out.number(compared_);
  out.number(readers_.size());
  for (const auto& [bounds, reader] : readers_) {
    out.scalar(bounds_.at(bounds.first));
    out.scalar(bounds_.at(bounds.second));
    out.number(reader.session);
    out.integer(reader.invoke);
    out.integer(reader.complete);
    out.number(reader.label);
    out.number(reader.place);
  }
}

void ForgottenRanges::load(history::StateReader& in, std::size_t sessions) {
  compared_ = static_cast<std::size_t>(in.number());
  const auto count = in.count();
  for (std::size_t i = 0; i < count && in.good(); ++i) {
    const auto low = bounds_.intern(in.scalar()), high = bounds_.intern(in.scalar());
    RangeReader reader;
    reader.session = in.below(sessions);
    reader.invoke = in.integer();
    reader.complete = in.integer();
    reader.label = in.below(0x100000000);
    reader.place = in.below(0x100000000);
    readers_.try_emplace({low, high}, reader);
  }
}

}  // namespace cupel::online
