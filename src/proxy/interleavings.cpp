// The path of the search, and sleep sets; see the header.
#include "proxy/interleavings.hpp"

#include <algorithm>

namespace cupel::proxy {

namespace {

constexpr int kMostAttempts = 5;

bool same(const std::vector<Interleavings::Waiting>& some,
          const std::vector<Interleavings::Waiting>& others) {
  return std::equal(some.begin(), some.end(), others.begin(), others.end(),
                    [](const auto& one, const auto& other) {
                      return one.client == other.client && one.statement == other.statement;
                    });
}

}  // namespace

Interleavings::Interleavings(std::span<const std::size_t> choices)
    : given_(choices.begin(), choices.end()) {}

std::map<std::string, Footprint> Interleavings::sleep_after(const Turn& turn) {
  std::map<std::string, Footprint> sleep;
  for (const auto& [client, footprint] : turn.sleep) {
    if (client != turn.waiting[turn.chosen].client && independent(footprint, turn.footprint))
      sleep.emplace(client, footprint);
  }
  return sleep;
}

std::size_t Interleavings::choose(const std::vector<Waiting>& waiting) {
  const auto note = [&](std::size_t chosen) {
    if (waiting.size() > 1) this_run_.push_back(chosen);
    return chosen;
  };
  if (repeats_ || diverges_) return note(0);
  if (made_ < turns_.size()) {
    auto& turn = turns_[made_];
    if (!same(turn.waiting, waiting)) {
      diverges_ = true;
      return note(0);
    }
    ++made_;
    return note(turn.chosen);
  }
  Turn turn{.waiting = waiting};
  if (!turns_.empty()) turn.sleep = sleep_after(turns_.back());
  if (given_used_ < given_.size() && waiting.size() > 1) {
    const auto wanted = given_[given_used_++];
    if (wanted >= waiting.size()) diverges_ = true;
    turn.chosen = wanted < waiting.size() ? wanted : 0;
  } else {
    const auto awake = std::find_if(waiting.begin(), waiting.end(), [&](const Waiting& one) {
      return !turn.sleep.contains(one.client);
    });
    if (awake == waiting.end()) {
      repeats_ = true;
      return note(0);
    }
    turn.chosen = static_cast<std::size_t>(awake - waiting.begin());
  }
  turns_.push_back(std::move(turn));
  ++made_;
  return note(turns_.back().chosen);
}

void Interleavings::ran(const Footprint& footprint) {
  if (!repeats_ && !diverges_ && made_ > 0) turns_[made_ - 1].footprint = footprint;
}

bool Interleavings::next() {
  if (made_ < turns_.size() && !repeats_) diverges_ = true;
  if (given_used_ < given_.size()) diverges_ = true;
  last_ = std::exchange(this_run_, {});
  last_repeated_ = repeats_;
  const bool diverged = diverges_;
  repeats_ = diverges_ = false;
  made_ = 0;
  given_used_ = given_.size();
  if (diverged && ++attempts_ < kMostAttempts && !turns_.empty() && given_.empty()) {
    last_repeated_ = true;  // it counts when it runs as it should
    return true;
  }
  attempts_ = 0;
  diverged_ += diverged;
  found_ += !last_repeated_;
  while (!turns_.empty()) {
    auto& turn = turns_.back();
    turn.sleep.insert_or_assign(turn.waiting[turn.chosen].client, turn.footprint);
    const auto awake =
        std::find_if(turn.waiting.begin(), turn.waiting.end(),
                     [&](const Waiting& one) { return !turn.sleep.contains(one.client); });
    if (awake != turn.waiting.end()) {
      turn.chosen = static_cast<std::size_t>(awake - turn.waiting.begin());
      turn.footprint = {.unknown = true};
      return true;
    }
    turns_.pop_back();
  }
  return false;
}

}  // namespace cupel::proxy
