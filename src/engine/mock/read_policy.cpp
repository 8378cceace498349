// The policies.
#include "engine/mock/read_policy.hpp"

#include <algorithm>
#include <cassert>
#include <limits>

namespace cupel::mock {

ReadPolicy::ReadPolicy(const Options& options, const TransactionLog& log, std::uint64_t seed)
    : options_(options), log_(log), random_(seed), efforts_(seed ^ 0x6566666f7274ULL) {
  if (!is_versioned(options)) return;
  kind_ = Kind::kVersioned;
  checker_ = versioned_admissibility(options.product, log, seed);
}

void ReadPolicy::begin(Txn t, Session session, Level level, std::optional<Policy> policy) {
  park();
  open_ = true;
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

void ReadPolicy::park() {
  if (!open_) return;
  parked_[txn_] = {session_, level_, policy_, stronger_.live};
  open_ = stronger_.live = false;
}

void ReadPolicy::select(Txn open) {
  if (open_ && txn_ == open) return;
  park();
  const auto found = parked_.find(open);
  assert(found != parked_.end() && "it is open");
  txn_ = open;
  open_ = true;
  session_ = found->second.session;
  level_ = found->second.level;
  policy_ = found->second.policy;
  stronger_.live = found->second.stronger;
  parked_.erase(found);
  checker_->select(open);
  if (stronger_.live) stronger_.checker->select(open);
}

std::unique_ptr<AdmissibilityChecker> ReadPolicy::new_checker(Level level) const {
  if (is_weak(level)) return weak_admissibility();
  if (options_.overlap) return mixed_admissibility(TransactionLog(), {}, {});
  return order_admissibility(level);
}

// A checker for this level too, if the one that is there is not.
void ReadPolicy::check_at(Level level) {
  if (checker_) {
    if (kind_ == Kind::kVersioned || kind_ == Kind::kMixed ||
        (kind_ == Kind::kWeak && is_weak(level)))
      return;
    if (kind_ == Kind::kOrder && level == order_level_) return;
    if (!checker_->order().empty() || !parked_.empty()) return to_mixed();
  }
  kind_ = is_weak(level) ? Kind::kWeak : options_.overlap ? Kind::kMixed : Kind::kOrder;
  order_level_ = level;
  checker_ = new_checker(level);
}

// With all that is committed, in the order that the checker holds, and all that is open.
void ReadPolicy::to_mixed() {
  const auto order = checker_->order();
  kind_ = Kind::kMixed;
  checker_ = mixed_admissibility(log_, order, numbers_);
  for (const auto& [t, its] : parked_) {
    checker_->begin(t, its.session, its.level);
    repeat(*checker_, t);
  }
}

// What the transaction did so far. False if that is not allowed any more.
bool ReadPolicy::repeat(AdmissibilityChecker& checker, Txn t) {
  checker.set_effort(kAnyEffort);
  const auto& operations = log_.at(t).operations;
  return std::all_of(operations.begin(), operations.end(), [&](const auto& o) {
    return o.is_write ? checker.try_write(o.key) : o.local || checker.try_read(o.key, o.writer());
  });
}

// What a checker costs is by sessions, and most that a store ever saw may be idle.
Session ReadPolicy::number(Session session) {
  constexpr auto kNoNumber = std::numeric_limits<Session>::max();
  if (session >= numbers_.size()) numbers_.resize(session + 1, kNoNumber);
  if (numbers_[session] == kNoNumber) numbers_[session] = next_number_++;
  return numbers_[session];
}

std::optional<Txn> ReadPolicy::read(Key key, std::uint32_t commits) {
  key_ = key;
  checker_->candidates(key, candidates_);
  const auto later = std::erase_if(candidates_, [&](Txn writer) {
    return writer != kInitial && log_.at(writer).commit_index >= commits;
  });
  auto chosen = candidates_.empty() ? std::nullopt : choose(key);
  if (!chosen && (later > 0 || candidates_.empty())) {
    checker_->candidates(key, candidates_);
    chosen = choose(key);
  }
  if (chosen) stronger_read(key, *chosen);
  return chosen;
}

std::optional<Txn> ReadPolicy::choose(Key key) {
  if (options_.choose) return enumerated(key);
  switch (draw_policy()) {
    case Policy::kUniform:
      return uniform();
    case Policy::kLatest:
      return latest();
    case Policy::kAdversarial:
      return adversarial(key);
  }
  return std::nullopt;
}

std::optional<Txn> ReadPolicy::read_latest(Key key) {
  const Txn last = checker_->latest(key);
  return read_version(key, last) ? std::optional(last) : std::nullopt;
}

bool ReadPolicy::read_version(Key key, Txn writer) {
  if (!read_again(key, writer)) return false;
  stronger_read(key, writer);
  return true;
}

bool ReadPolicy::try_read(Txn writer) {
  checker_->set_effort(draw_effort());
  return checker_->try_read(key_, writer);
}

// What was allowed before is allowed again, whatever that takes.
bool ReadPolicy::read_again(Key key, Txn writer) {
  checker_->set_effort(kAnyEffort);
  return checker_->try_read(key, writer);
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

std::optional<Txn> ReadPolicy::enumerated(Key key) {
  std::vector<Txn> allowed;
  for (const Txn w : candidates_) {
    if (!try_read(w)) continue;
    checker_->undo_last();
    allowed.push_back(w);
  }
  if (allowed.empty()) return std::nullopt;
  const auto index = allowed.size() == 1 ? 0 : options_.choose(allowed.size());
  assert(index < allowed.size());
  const Txn chosen = allowed[std::min(index, allowed.size() - 1)];
  return read_again(key, chosen) ? std::optional(chosen) : std::nullopt;
}

std::optional<Txn> ReadPolicy::uniform() {
  for (std::size_t left = candidates_.size(); left > 0; --left) {
    std::swap(candidates_[random_.below(left)], candidates_[left - 1]);
    if (try_read(candidates_[left - 1])) return candidates_[left - 1];
  }
  assert(options_.overlap && "every read has an answer");
  return std::nullopt;
}

std::optional<Txn> ReadPolicy::latest() {
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
  return try_read(kInitial) ? std::optional(kInitial) : std::nullopt;
}

std::optional<Txn> ReadPolicy::adversarial(Key key) {
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
  if (otherwise && !read_again(key, *otherwise)) return std::nullopt;
  return otherwise;
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

bool ReadPolicy::commit() {
  if (!checker_->commit()) return false;
  stronger_end(txn_, true);
  open_ = false;
  return true;
}

void ReadPolicy::abort() {
  checker_->abort();
  stronger_end(txn_, false);
  open_ = false;
}

bool ReadPolicy::writes_removed() {
  checker_->begin_again(txn_, session_, level_);
  stronger_end(txn_, false);
  stronger_begin(txn_);
  for (const auto& o : log_.at(txn_).operations) {
    if (o.is_write) {
      stronger_write(o.key);
    } else if (!o.local) {
      stronger_read(o.key, o.writer());
    }
  }
  // Less than what was allowed is allowed.
  return repeat(*checker_, txn_);
}

// ---- the checker at the next stronger level ----

void ReadPolicy::start_stronger(Level level) {
  if (kind_ == Kind::kVersioned || level >= Level::kStrongSessionSerializable) return;
  const auto next = static_cast<Level>(static_cast<int>(level) + 1);
  stronger_.checker = new_checker(next);
  stronger_.checker->set_effort(kStrongerEffort);
  for (const Txn t : log_.committed()) {
    const auto& txn = log_.at(t);
    stronger_begin(t);
    for (const auto& o : txn.operations) {
      if (o.is_write && stronger_.live && !stronger_.checker->try_write(o.key))
        stronger_end(t, false);
      if (!o.is_write && !o.local) stronger_read(o.key, o.writer());
    }
    stronger_end(t, true);
  }
}

void ReadPolicy::stronger_begin(Txn t) {
  if (!stronger_.checker) return;
  const auto next = static_cast<Level>(static_cast<int>(options_.level) + 1);
  stronger_.checker->begin(t, number(log_.at(t).session), next);
  stronger_.known.resize(std::max<std::size_t>(stronger_.known.size(), t + 1), false);
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
  const bool known = committed && stronger_.checker->commit();
  if (!known) stronger_.checker->abort();
  stronger_.known[t] = known;
  stronger_.live = false;
}

}  // namespace cupel::mock
