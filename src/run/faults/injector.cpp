// The thread that causes and heals: see the header.
#include "run/faults/injector.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <exception>
#include <numeric>

namespace cupel::faults {

namespace {

constexpr double kLook = 0.02;  // seconds between two looks at commits, and at what is waited for

std::chrono::steady_clock::duration duration(double seconds) {
  return std::chrono::duration_cast<std::chrono::steady_clock::duration>(
      std::chrono::duration<double>(seconds));
}

// As exact as a plan needs it.
double milliseconds(double seconds) {
  return std::round(seconds * 1000) / 1000;
}

// What is thrown, as when the system has no thread left, is one more failure of a fault.
template <class Function>
auto attempt(const Function& function) -> decltype(function()) {
  try {
    return function();
  } catch (const std::exception& error) {
    return base::Error{.message = error.what()};
  }
}

}  // namespace

Injector::Injector(Cluster& cluster, Schedule schedule, Hooks hooks, const std::atomic<bool>& stop,
                   Limits limits)
    : effects_(cluster),
      schedule_(std::move(schedule)),
      possible_(schedule_.may_have([](const Kind&) { return true; })),
      hooks_(std::move(hooks)),
      stop_(stop),
      limits_(limits) {}

Injector::~Injector() {
  heal_all();
}

void Injector::start() {
  start_ = Clock::now();
  thread_ = std::thread([this] { work(); });
}

void Injector::end() {
  const std::lock_guard lock(mutex_);
  ending_ = true;
  wake_.notify_all();
}

void Injector::heal_all() {
  end();
  if (thread_.joinable()) thread_.join();
}

std::uint64_t Injector::count() const {
  return static_cast<std::uint64_t>(std::count_if(
      done_.begin(), done_.end(), [](const Done& done) { return done.failed.empty(); }));
}
std::uint64_t Injector::failed() const {
  return done_.size() - count();
}

double Injector::now() const {
  return std::chrono::duration<double>(Clock::now() - start_).count();
}

bool Injector::ending() const {
  const std::lock_guard lock(mutex_);
  return ending_;
}

void Injector::changed() {
  if (hooks_.changed) hooks_.changed(done_);
}

void Injector::work() {
  guarded("no further faults were caused", [this] {
    while (!ending()) {
      heal_due([this] { return ending(); });
      if (!ending()) begin_due();
      wait();
    }
  });
  guarded("not every fault may be healed", [this] { finish(); });
}

void Injector::guarded(std::string_view otherwise, const std::function<void()>& step) {
  try {
    step();
  } catch (const std::exception& error) {
    warnings_.push_back(fmt::format("{}: {}", otherwise, error.what()));
  }
}

// Until something is due, but not for long if it depends on more than the time.
void Injector::wait() {
  double until = now() + 1;
  for (const auto& active : active_) {
    if (!given_up(active)) until = std::min(until, active.due());
  }
  for (const auto& fault : pending_) {
    until = std::min(until, fault.commits ? now() + kLook : std::max(fault.at, now() + kLook / 4));
  }
  std::unique_lock lock(mutex_);
  wake_.wait_until(lock, start_ + duration(until), [&] { return ending_; });
}

bool Injector::due(const Fault& fault) const {
  if (fault.commits) return hooks_.commits && hooks_.commits() >= *fault.commits;
  return now() >= fault.at;
}

bool Injector::all_healed() const {
  return std::all_of(active_.begin(), active_.end(),
                     [&](const Active& active) { return given_up(active); });
}

void Injector::begin_due() {
  // A round begins when the one before is over; the faults of a plan may overlap.
  if (!schedule_.planned() && !all_healed()) return;
  if (pending_.empty()) pending_ = schedule_.next(now());
  std::vector<std::size_t> taken;
  for (std::size_t i = 0; i < pending_.size();) {
    if (!due(pending_[i])) {
      ++i;
      continue;
    }
    const auto fault = pending_[i];
    pending_.erase(pending_.begin() + static_cast<std::ptrdiff_t>(i));
    begin(fault, taken);
  }
}

void Injector::begin(const Fault& planned, std::vector<std::size_t>& taken) {
  const FaultId id = done_.size();
  Fault fault = planned;
  base::Random random(fault.seed);
  Choice choice{effects_.cluster(), random, taken};
  choose(fault, choice);
  fault.at = milliseconds(now());
  fault.commits.reset();
  const auto* kind = find_kind(fault.kind);
  auto begun = attempt([&] { return kind->begin(effects_, id, fault); });
  if (begun.ok() && ending()) begun = base::Error{.message = "the load ended before it began"};
  done_.push_back({.fault = fault, .what = describe(fault), .began = milliseconds(now())});
  auto& done = done_.back();
  active_.push_back({.id = id,
                     .kind = kind,
                     .end_due = kind->momentary || !begun.ok() ? now() : now() + fault.lasts,
                     .try_at = 0});
  if (begun.ok()) {
    if (hooks_.note) hooks_.note(true, done.what);
  } else {
    done.failed = begun.error().message;
    warnings_.push_back(
        fmt::format("the fault `{}` could not be caused: {}", done.what, done.failed));
  }
  changed();
}

bool Injector::something_due(FaultId but) const {
  const bool heals = std::any_of(active_.begin(), active_.end(), [&](const Active& active) {
    return active.id != but && !given_up(active) && now() >= active.due();
  });
  if (heals || !schedule_.planned()) return heals;
  return std::any_of(pending_.begin(), pending_.end(),
                     [&](const Fault& fault) { return due(fault); });
}

void Injector::heal_due(const GiveUp& give_up) {
  std::vector<FaultId> ids;
  std::sort(active_.begin(), active_.end(), [](const Active& a, const Active& b) {
    return std::pair(a.kind->order, a.id) < std::pair(b.kind->order, b.id);
  });
  for (const auto& active : active_) {
    if (!given_up(active) && now() >= active.due()) ids.push_back(active.id);
  }
  for (const auto id : ids) {
    const auto at = std::find_if(active_.begin(), active_.end(),
                                 [&](const Active& active) { return active.id == id; });
    const bool healed = heal(*at, [&, id] { return give_up() || something_due(id); });
    if (healed) active_.erase(at);
  }
}

bool Injector::heal(Active& active, const GiveUp& give_up) {
  auto& done = done_of(active);
  if (active.healing_since < 0) {
    active.healing_since = now();
    if (done.failed.empty()) {
      done.fault.lasts = milliseconds(std::max(0.0, active.healing_since - done.began));
    }
  }
  auto healed = attempt([&] { return active.kind->end(effects_, active.id, done.fault, give_up); });
  if (healed.ok() && *healed) {
    done.ended = milliseconds(now());
    if (done.failed.empty() && hooks_.note) hooks_.note(false, done.what);
    changed();
    return true;
  }
  if (healed.ok() && now() - active.healing_since < limits_.patience) {
    active.try_at = now() + kLook;
    return false;
  }
  active.why =
      healed.ok() ? fmt::format("it took over {} s", limits_.patience) : healed.error().message;
  active.try_at = now() + limits_.retry_after;
  active.healing_since = now();
  if (++active.tries == limits_.tries) {
    warnings_.push_back(fmt::format("the fault `{}` could not be healed in {} tries: {}", done.what,
                                    limits_.tries, active.why));
  }
  return false;
}

bool Injector::interrupted() {
  if (!stop_) return false;
  if (!interrupted_) interrupted_ = Clock::now();
  return Clock::now() - *interrupted_ > duration(limits_.after_interrupt);
}

void Injector::finish() {
  const GiveUp give_up = [this] { return interrupted(); };
  for (auto& active : active_) {
    active.end_due = active.try_at = 0;
    active.tries = given_up(active) ? limits_.tries - 1 : active.tries;
  }
  while (!all_healed() && !interrupted()) {
    heal_due(give_up);
    std::this_thread::sleep_for(duration(kLook));
  }
  for (const auto& active : active_) {
    if (given_up(active)) continue;
    warnings_.push_back(fmt::format("the fault `{}` was not healed when the run was interrupted{}",
                                    done_of(active).what,
                                    active.why.empty() ? "" : ": " + active.why));
  }
  if (schedule_.planned() && pending_.empty()) pending_ = schedule_.next(now());  // if never begun
  if (schedule_.planned() && !pending_.empty()) {
    warnings_.push_back(
        fmt::format("{} of the plan's faults never came: the load ended before", pending_.size()));
  }
  if (const auto untried = schedule_.untried(done_); !done_.empty() && !untried.empty()) {
    warnings_.push_back(fmt::format("the load ended before {} came", fmt::join(untried, ", ")));
  }
  if (active_.empty() && !interrupted()) wait_for_cluster();
  changed();
}

// All faults are healed: what does not run now ended by itself.
void Injector::wait_for_cluster() {
  auto& cluster = effects_.cluster();
  std::vector<std::size_t> nodes(cluster.nodes());
  std::iota(nodes.begin(), nodes.end(), 0);
  for (const auto node : nodes) {
    if (cluster.running(node)) continue;
    node_died_ = true;
    warnings_.push_back(fmt::format("node {} ended by itself; the end of its log:\n{}", node,
                                    cluster.log_end(node)));
  }
  const GiveUp give_up = [this] { return interrupted(); };
  auto ready = cluster.start(nodes, give_up);
  if (!ready.ok()) {  // one that was ill has ended only now
    node_died_ = true;
    warnings_.push_back("after the faults, a node ended by itself: " + ready.error().message);
    ready = cluster.start(nodes, give_up);
  }
  if (!ready.ok()) {
    warnings_.push_back("after the faults, not every node answered: " + ready.error().message);
  }
}

}  // namespace cupel::faults
