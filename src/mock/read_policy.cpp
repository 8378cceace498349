// The policies.
#include "mock/read_policy.hpp"

#include <algorithm>
#include <cassert>
#include <limits>

namespace cupel::mock {

ReadPolicy::ReadPolicy(const Options& options, const TransactionLog& log, std::uint64_t seed)
    : options_(options), log_(log), random_(seed), efforts_(seed ^ 0x6566666f7274ULL) {}

void ReadPolicy::begin(Txn t, Session session, Level level, std::optional<Policy> policy) {
  txn_ = t;
  session_ = number(session);
  level_ = level;
  policy_ = policy;
  check_at(level);
  checker_->begin(t, session_, level_);
  const bool adversary = policy ? *policy == Policy::kAdversarial : options_.adversarial > 0;
  if (!stronger_.checker && adversary) start_stronger(options_.level);
  stronger_begin(t);
}

// A checker for this level too, if the one that is there is not.
void ReadPolicy::check_at(Level level) {
  if (checker_) {
    if (kind_ == Kind::kMixed || (kind_ == Kind::kWeak && is_weak(level))) return;
    if (kind_ == Kind::kOrder && level == order_level_) return;
    const auto order = checker_->order();
    if (!order.empty()) {
      kind_ = Kind::kMixed;
      checker_ = mixed_admissibility(log_, order, numbers_);
      return;
    }
  }
  kind_ = is_weak(level) ? Kind::kWeak : Kind::kOrder;
  order_level_ = level;
  checker_ = is_weak(level) ? weak_admissibility() : order_admissibility(level);
}

// What a checker costs is by sessions, and most that a store ever saw may be idle.
Session ReadPolicy::number(Session session) {
  constexpr auto kNoNumber = std::numeric_limits<Session>::max();
  if (session >= numbers_.size()) numbers_.resize(session + 1, kNoNumber);
  if (numbers_[session] == kNoNumber) numbers_[session] = next_number_++;
  return numbers_[session];
}

Txn ReadPolicy::read(Key key) {
  key_ = key;
  checker_->candidates(key, candidates_);
  Txn chosen = kInitial;
  if (options_.choose) {
    chosen = enumerated(key);
  } else {
    switch (draw_policy()) {
      case Policy::kUniform:
        chosen = uniform();
        break;
      case Policy::kLatest:
        chosen = latest();
        break;
      case Policy::kAdversarial:
        chosen = adversarial(key);
        break;
    }
  }
  stronger_read(key, chosen);
  return chosen;
}

bool ReadPolicy::try_read(Txn writer) {
  checker_->set_effort(draw_effort());
  return checker_->try_read(key_, writer);
}

// What was allowed before is allowed again, whatever that takes.
void ReadPolicy::read_again(Key key, Txn writer) {
  checker_->set_effort(kAnyEffort);
  [[maybe_unused]] const bool taken = checker_->try_read(key, writer);
  assert(taken);
}

// Mostly little, rarely more, and however much there can be: so nothing that is allowed is
// never returned, and what a read costs is bounded but for rare ones.
std::size_t ReadPolicy::draw_effort() {
  constexpr std::size_t kMostly = 2048;
  if (options_.choose) return kAnyEffort;
  std::size_t effort = kMostly;
  while (effort < kAnyEffort / 8 && efforts_.below(8) == 0) effort *= 4;
  return effort;
}

Policy ReadPolicy::draw_policy() {
  if (policy_) return *policy_;
  const double u = std::max(options_.uniform, 0.0), l = std::max(options_.latest, 0.0),
               a = std::max(options_.adversarial, 0.0);
  if (l == 0 && a == 0) return Policy::kUniform;
  const double drawn = random_.unit() * (u + l + a);
  if (drawn < u) return Policy::kUniform;
  return drawn < u + l ? Policy::kLatest : Policy::kAdversarial;
}

Txn ReadPolicy::enumerated(Key key) {
  std::vector<Txn> allowed;
  for (const Txn w : candidates_) {
    if (!try_read(w)) continue;
    checker_->undo_last();
    allowed.push_back(w);
  }
  assert(!allowed.empty());
  const auto index = allowed.size() == 1 ? 0 : options_.choose(allowed.size());
  assert(index < allowed.size());
  const Txn chosen = allowed[std::min(index, allowed.size() - 1)];
  read_again(key, chosen);
  return chosen;
}

Txn ReadPolicy::uniform() {
  for (std::size_t left = candidates_.size(); left > 0; --left) {
    std::swap(candidates_[random_.below(left)], candidates_[left - 1]);
    if (try_read(candidates_[left - 1])) return candidates_[left - 1];
  }
  assert(false && "every read has an answer");
  return kInitial;
}

Txn ReadPolicy::latest() {
  // By session, the sessions in a random order; null after all of them.
  struct Group {
    Session session;
    std::vector<Txn> writers;
  };
  std::vector<Group> groups;
  for (const Txn w : candidates_) {
    if (w == kInitial) continue;
    const Session s = log_.at(w).session;
    auto group =
        std::find_if(groups.begin(), groups.end(), [&](const Group& g) { return g.session == s; });
    if (group == groups.end()) group = groups.insert(group, {s, {}});
    group->writers.push_back(w);
  }
  random_.shuffle(std::span(groups));
  for (const Group& group : groups) {
    for (auto w = group.writers.rbegin(); w != group.writers.rend(); ++w) {
      if (try_read(*w)) return *w;
    }
  }
  [[maybe_unused]] const bool taken = try_read(kInitial);
  assert(taken && "every read has an answer");
  return kInitial;
}

Txn ReadPolicy::adversarial(Key key) {
  // Allowed ones are looked at up to this number: the stronger checker may be slow.
  constexpr int kMostTried = 32;
  std::optional<Txn> otherwise;
  int tried = 0;
  for (std::size_t left = candidates_.size(); left > 0 && tried < kMostTried; --left) {
    std::swap(candidates_[random_.below(left)], candidates_[left - 1]);
    const Txn w = candidates_[left - 1];
    if (!try_read(w)) continue;
    ++tried;
    if (!otherwise) otherwise = w;
    if (!stronger_.live) return w;
    if (w == kInitial || stronger_.known[w]) {
      if (!stronger_.checker->try_read(key, w)) return w;
      stronger_.checker->undo_last();
    }
    checker_->undo_last();
  }
  assert(otherwise);
  read_again(key, *otherwise);
  return *otherwise;
}

bool ReadPolicy::write(Key key) {
  checker_->set_effort(draw_effort());
  if (!checker_->try_write(key)) return false;
  stronger_write(key);
  return true;
}

void ReadPolicy::saw_absent(Key key, Txn reader) {
  checker_->saw_absent(key, reader);
  if (stronger_.checker && stronger_.known[reader]) stronger_.checker->saw_absent(key, reader);
}

void ReadPolicy::commit() {
  checker_->commit();
  stronger_end(txn_, true);
}

void ReadPolicy::abort() {
  checker_->abort();
  stronger_end(txn_, false);
}

void ReadPolicy::writes_removed() {
  checker_->abort();
  checker_->begin(txn_, session_, level_);
  stronger_end(txn_, false);
  stronger_begin(txn_);
  // Less than what was allowed is allowed.
  for (const auto& o : log_.at(txn_).operations) {
    if (o.is_write) {
      checker_->set_effort(kAnyEffort);
      [[maybe_unused]] const bool written = checker_->try_write(o.key);
      assert(written);
      stronger_write(o.key);
    } else if (!o.local) {
      read_again(o.key, o.writer);
      stronger_read(o.key, o.writer);
    }
  }
}

// ---- the checker at the next stronger level ----

void ReadPolicy::start_stronger(Level level) {
  if (level == Level::kStrongSessionSerializable) return;
  const auto next = static_cast<Level>(static_cast<int>(level) + 1);
  stronger_.checker = is_weak(next) ? weak_admissibility() : order_admissibility(next);
  stronger_.checker->set_effort(kStrongerEffort);
  for (Txn t = 0; t < txn_; ++t) {
    const auto& txn = log_.at(t);
    if (txn.status != TransactionLog::Status::kCommitted) continue;
    stronger_begin(t);
    for (const auto& o : txn.operations) {
      if (o.is_write && stronger_.live && !stronger_.checker->try_write(o.key))
        stronger_end(t, false);
      if (!o.is_write && !o.local) stronger_read(o.key, o.writer);
    }
    stronger_end(t, true);
  }
}

void ReadPolicy::stronger_begin(Txn t) {
  if (!stronger_.checker) return;
  const auto next = static_cast<Level>(static_cast<int>(options_.level) + 1);
  stronger_.checker->begin(t, number(log_.at(t).session), next);
  stronger_.known.resize(t + 1, false);
  stronger_.live = true;
}

bool ReadPolicy::stronger_read(Key key, Txn writer) {
  if (!stronger_.live || (writer != kInitial && !stronger_.known[writer])) return false;
  return stronger_.checker->try_read(key, writer);
}

void ReadPolicy::stronger_write(Key key) {
  if (stronger_.live && !stronger_.checker->try_write(key)) stronger_end(txn_, false);
}

void ReadPolicy::stronger_end(Txn t, bool committed) {
  if (!stronger_.live) return;
  if (committed) {
    stronger_.checker->commit();
  } else {
    stronger_.checker->abort();
  }
  stronger_.known[t] = committed;
  stronger_.live = false;
}

}  // namespace cupel::mock
