// The policies.
#include "mock/chooser.hpp"

#include <algorithm>
#include <cassert>
#include <limits>

namespace cupel::mock {

Chooser::Chooser(const Options& options, const Ledger& ledger, std::uint64_t seed)
    : options_(options), ledger_(ledger), random_(seed), efforts_(seed ^ 0x6566666f7274ULL) {}

void Chooser::begin(Txn t, Session session, Level level, std::optional<Policy> policy) {
  txn_ = t;
  session_ = number(session);
  level_ = level;
  policy_ = policy;
  judge_at(level);
  judge_->begin(t, session_, level_);
  const bool adversary = policy ? *policy == Policy::kAdversarial : options_.adversarial > 0;
  if (!shadow_.judge && adversary) cast_shadow(options_.level);
  shadow_begin(t);
}

// A judge for this level too, if the one that is there is not.
void Chooser::judge_at(Level level) {
  if (judge_) {
    if (kind_ == Kind::kMixed || (kind_ == Kind::kWeak && is_weak(level))) return;
    if (kind_ == Kind::kOrder && level == order_level_) return;
    const auto order = judge_->order();
    if (!order.empty()) {
      kind_ = Kind::kMixed;
      judge_ = mixed_judge(ledger_, order, numbers_);
      return;
    }
  }
  kind_ = is_weak(level) ? Kind::kWeak : Kind::kOrder;
  order_level_ = level;
  judge_ = is_weak(level) ? weak_judge() : order_judge(level);
}

// What a judge costs is by sessions, and most that a store ever saw may be idle.
Session Chooser::number(Session session) {
  constexpr auto kNoNumber = std::numeric_limits<Session>::max();
  if (session >= numbers_.size()) numbers_.resize(session + 1, kNoNumber);
  if (numbers_[session] == kNoNumber) numbers_[session] = next_number_++;
  return numbers_[session];
}

Txn Chooser::read(Key key) {
  key_ = key;
  judge_->candidates(key, candidates_);
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
  shadow_take(key, chosen);
  return chosen;
}

bool Chooser::take(Txn writer) {
  judge_->set_effort(draw_effort());
  return judge_->take(key_, writer);
}

// What was allowed before is allowed again, whatever that takes.
void Chooser::retake(Key key, Txn writer) {
  judge_->set_effort(kAnyEffort);
  [[maybe_unused]] const bool taken = judge_->take(key, writer);
  assert(taken);
}

// Mostly little, rarely more, and however much there can be: so nothing that is allowed is
// never returned, and what a read costs is bounded but for rare ones.
std::size_t Chooser::draw_effort() {
  constexpr std::size_t kMostly = 2048;
  if (options_.choose) return kAnyEffort;
  std::size_t effort = kMostly;
  while (effort < kAnyEffort / 8 && efforts_.below(8) == 0) effort *= 4;
  return effort;
}

Policy Chooser::draw_policy() {
  if (policy_) return *policy_;
  const double u = std::max(options_.uniform, 0.0), l = std::max(options_.latest, 0.0),
               a = std::max(options_.adversarial, 0.0);
  if (l == 0 && a == 0) return Policy::kUniform;
  const double drawn = random_.unit() * (u + l + a);
  if (drawn < u) return Policy::kUniform;
  return drawn < u + l ? Policy::kLatest : Policy::kAdversarial;
}

Txn Chooser::enumerated(Key key) {
  std::vector<Txn> allowed;
  for (const Txn w : candidates_) {
    if (!take(w)) continue;
    judge_->untake();
    allowed.push_back(w);
  }
  assert(!allowed.empty());
  const auto index = allowed.size() == 1 ? 0 : options_.choose(allowed.size());
  assert(index < allowed.size());
  const Txn chosen = allowed[std::min(index, allowed.size() - 1)];
  retake(key, chosen);
  return chosen;
}

Txn Chooser::uniform() {
  for (std::size_t left = candidates_.size(); left > 0; --left) {
    std::swap(candidates_[random_.below(left)], candidates_[left - 1]);
    if (take(candidates_[left - 1])) return candidates_[left - 1];
  }
  assert(false && "every read has an answer");
  return kInitial;
}

Txn Chooser::latest() {
  // By session, the sessions in a random order; null after all of them.
  struct Group {
    Session session;
    std::vector<Txn> writers;
  };
  std::vector<Group> groups;
  for (const Txn w : candidates_) {
    if (w == kInitial) continue;
    const Session s = ledger_.at(w).session;
    auto group =
        std::find_if(groups.begin(), groups.end(), [&](const Group& g) { return g.session == s; });
    if (group == groups.end()) group = groups.insert(group, {s, {}});
    group->writers.push_back(w);
  }
  random_.shuffle(std::span(groups));
  for (const Group& group : groups) {
    for (auto w = group.writers.rbegin(); w != group.writers.rend(); ++w) {
      if (take(*w)) return *w;
    }
  }
  [[maybe_unused]] const bool taken = take(kInitial);
  assert(taken && "every read has an answer");
  return kInitial;
}

Txn Chooser::adversarial(Key key) {
  // Allowed ones are looked at up to this number: the shadow's answer may cost.
  constexpr int kLooks = 32;
  std::optional<Txn> otherwise;
  int looks = 0;
  for (std::size_t left = candidates_.size(); left > 0 && looks < kLooks; --left) {
    std::swap(candidates_[random_.below(left)], candidates_[left - 1]);
    const Txn w = candidates_[left - 1];
    if (!take(w)) continue;
    ++looks;
    if (!otherwise) otherwise = w;
    if (!shadow_.live) return w;
    if (w == kInitial || shadow_.known[w]) {
      if (!shadow_.judge->take(key, w)) return w;
      shadow_.judge->untake();
    }
    judge_->untake();
  }
  assert(otherwise);
  retake(key, *otherwise);
  return *otherwise;
}

bool Chooser::write(Key key) {
  judge_->set_effort(draw_effort());
  if (!judge_->write(key)) return false;
  shadow_write(key);
  return true;
}

void Chooser::saw_absent(Key key, Txn reader) {
  judge_->saw_absent(key, reader);
  if (shadow_.judge && shadow_.known[reader]) shadow_.judge->saw_absent(key, reader);
}

void Chooser::commit() {
  judge_->commit();
  shadow_end(txn_, true);
}

void Chooser::abort() {
  judge_->abort();
  shadow_end(txn_, false);
}

void Chooser::taken_back() {
  judge_->abort();
  judge_->begin(txn_, session_, level_);
  shadow_end(txn_, false);
  shadow_begin(txn_);
  // Less than what was allowed is allowed.
  for (const auto& o : ledger_.at(txn_).operations) {
    if (o.is_write) {
      judge_->set_effort(kAnyEffort);
      [[maybe_unused]] const bool written = judge_->write(o.key);
      assert(written);
      shadow_write(o.key);
    } else if (!o.local) {
      retake(o.key, o.writer);
      shadow_take(o.key, o.writer);
    }
  }
}

// ---- the shadow ----

void Chooser::cast_shadow(Level level) {
  if (level == Level::kStrongSessionSerializable) return;
  const auto next = static_cast<Level>(static_cast<int>(level) + 1);
  shadow_.judge = is_weak(next) ? weak_judge() : order_judge(next);
  shadow_.judge->set_effort(kShadowEffort);
  for (Txn t = 0; t < txn_; ++t) {
    const auto& txn = ledger_.at(t);
    if (txn.status != Ledger::Status::kCommitted) continue;
    shadow_begin(t);
    for (const auto& o : txn.operations) {
      if (o.is_write && shadow_.live && !shadow_.judge->write(o.key)) shadow_end(t, false);
      if (!o.is_write && !o.local) shadow_take(o.key, o.writer);
    }
    shadow_end(t, true);
  }
}

void Chooser::shadow_begin(Txn t) {
  if (!shadow_.judge) return;
  const auto next = static_cast<Level>(static_cast<int>(options_.level) + 1);
  shadow_.judge->begin(t, number(ledger_.at(t).session), next);
  shadow_.known.resize(t + 1, false);
  shadow_.live = true;
}

bool Chooser::shadow_take(Key key, Txn writer) {
  if (!shadow_.live || (writer != kInitial && !shadow_.known[writer])) return false;
  return shadow_.judge->take(key, writer);
}

void Chooser::shadow_write(Key key) {
  if (shadow_.live && !shadow_.judge->write(key)) shadow_end(txn_, false);
}

void Chooser::shadow_end(Txn t, bool committed) {
  if (!shadow_.live) return;
  if (committed) {
    shadow_.judge->commit();
  } else {
    shadow_.judge->abort();
  }
  shadow_.known[t] = committed;
  shadow_.live = false;
}

}  // namespace cupel::mock
