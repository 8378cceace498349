// The path of the search, sleep sets, and the pairs of statements to be reversed; see the header.
#include "mock/proxy/interleavings.hpp"

#include <algorithm>

namespace cupel::proxy {

namespace {

constexpr int kMostAttempts = 5;

bool has(const std::vector<Interleavings::Waiting>& waiting, const std::string& client) {
  return std::any_of(waiting.begin(), waiting.end(),
                     [&](const auto& one) { return one.client == client; });
}

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
    if (client != turn.client() && independent(footprint, turn.footprint))
      sleep.emplace(client, footprint);
  }
  return sleep;
}

// The first that is wanted and does not sleep.
std::optional<std::size_t> Interleavings::next_of(const Turn& turn) {
  for (std::size_t i = 0; i < turn.waiting.size(); ++i) {
    const auto& client = turn.waiting[i].client;
    if (turn.wanted.contains(client) && !turn.sleep.contains(client)) return i;
  }
  return std::nullopt;
}

// The turn after which the statement of this one began to wait. None: it did from the start.
std::optional<std::size_t> Interleavings::enabled_by(std::size_t turn) const {
  const auto& chosen = turns_[turn].waiting[turns_[turn].chosen];
  for (auto at = turn; at > 0; --at) {
    const auto& earlier = turns_[at - 1];
    const bool waited =
        std::any_of(earlier.waiting.begin(), earlier.waiting.end(), [&](const Waiting& one) {
          return one.client == chosen.client && one.statement == chosen.statement;
        });
    if (!waited || earlier.client() == chosen.client) return at - 1;
  }
  return std::nullopt;
}

// Of the turns that the last run was the first to make, with those before them.
void Interleavings::want_reversals() {
  // The run ended before some had their turn.
  if (!last_repeated_ && !turns_.empty()) {
    for (const auto& waiting : turns_.back().waiting) turns_.back().wanted.insert(waiting.client);
  }
  std::vector<Before> before(turns_.size(), Before(turns_.size()));
  for (std::size_t other = 0; other < turns_.size(); ++other) {
    const auto enabler = enabled_by(other);
    auto& earlier = before[other];
    std::vector<std::size_t> reversible;
    for (auto one = other; one-- > 0;) {
      if (earlier[one]) continue;  // by way of a turn between
      const bool follows = enabler == one || turns_[one].client() == turns_[other].client();
      if (!follows && independent(turns_[one].footprint, turns_[other].footprint)) continue;
      if (!follows) reversible.push_back(one);
      earlier[one] = true;
      for (std::size_t i = 0; i < one; ++i) earlier[i] = earlier[i] || before[one][i];
    }
    if (other < seen_) continue;
    for (const auto one : reversible) want_reversal(before, one, other);
  }
  seen_ = turns_.size();
}

// Of the turns after `one` that need not come after it, up to `other`: a client whose turn can be
// the first of them is to be chosen instead of `one`.
void Interleavings::want_reversal(const std::vector<Before>& before, std::size_t one,
                                  std::size_t other) {
  auto& turn = turns_[one];
  std::vector<std::size_t> reversed;
  std::optional<std::string> first;
  for (auto at = one + 1; at <= other; ++at) {
    if (at != other && before[at][one]) continue;
    const bool begins = std::none_of(reversed.begin(), reversed.end(), [&](std::size_t earlier) {
      return static_cast<bool>(before[at][earlier]);
    });
    reversed.push_back(at);
    if (!begins) continue;
    const auto& client = turns_[at].client();
    if (turn.wanted.contains(client) || turn.sleep.contains(client)) return;
    if (!first && has(turn.waiting, client)) first = client;
  }
  if (first) {
    turn.wanted.insert(*first);
    return;
  }
  for (const auto& waiting : turn.waiting) turn.wanted.insert(waiting.client);
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
  turn.wanted.insert(turn.client());
  turns_.push_back(std::move(turn));
  ++made_;
  return note(turns_.back().chosen);
}

void Interleavings::ran(const Footprint& footprint) {
  if (repeats_ || diverges_ || made_ == 0) return;
  auto& turn = turns_[made_ - 1];
  // What the client does after its statement may come late.
  if (turn.ran) {
    turn.footprint.add(footprint);
  } else {
    turn.footprint = footprint;
  }
  turn.ran = true;
}

bool Interleavings::next() {
  if (made_ < turns_.size() && !repeats_) diverges_ = true;
  if (given_used_ < given_.size()) diverges_ = true;
  last_ = std::exchange(this_run_, {});
  last_repeated_ = repeats_;
  const bool diverged = diverges_;
  repeats_ = diverges_ = false;
  made_ = 0;
  for (auto& turn : turns_) turn.ran = false;
  given_used_ = given_.size();
  if (diverged && ++attempts_ < kMostAttempts && !turns_.empty() && given_.empty()) {
    last_repeated_ = true;  // it counts when it runs as it should
    return true;
  }
  attempts_ = 0;
  diverged_ += diverged;
  found_ += !last_repeated_;
  want_reversals();
  while (!turns_.empty()) {
    auto& turn = turns_.back();
    turn.sleep.insert_or_assign(turn.client(), turn.footprint);
    if (const auto chosen = next_of(turn)) {
      turn.chosen = *chosen;
      turn.footprint = {.unknown = true};
      seen_ = turns_.size() - 1;
      return true;
    }
    turns_.pop_back();
  }
  return false;
}

}  // namespace cupel::proxy
