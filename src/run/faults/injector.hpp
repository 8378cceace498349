// Injector: causes the faults of a schedule, and heals them, while the load runs.
//
//   Injector injector(cluster, schedule, hooks, stop);
//   injector.start();     // the load begins
//   injector.end();       // it ends: no fault begins any more
//   injector.heal_all();  // every fault is healed, and every node answers
//   injector.done();      // what was done
//
// The work is done by one thread of its own, so a node that takes long to start holds up other
// faults and not the load. If a node is waited for and another fault is due, that one comes first.
// A healing that fails is tried again a few times, and once more at the end.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "run/faults/schedule.hpp"

namespace cupel::faults {

// Called by the injector's thread. Each may be left out.
struct Hooks {
  std::function<std::uint64_t()> commits = {};  // so far
  // A fault is in force from now on, or is healed.
  std::function<void(bool begins, const std::string& what)> note = {};
  // After each change of what was done.
  std::function<void(const std::vector<Done>& done)> changed = {};
};

struct Limits {
  double retry_after = 1;      // seconds after a healing that failed
  int tries = 3;               // of a healing, before it is given up until the end
  double patience = 60;        // seconds that one try may take
  double after_interrupt = 5;  // seconds of healing once the user has interrupted the run
};

class Injector {
 public:
  // Both references outlive it. `stop`: the user has interrupted the run.
  Injector(Cluster& cluster, Schedule schedule, Hooks hooks, const std::atomic<bool>& stop,
           Limits limits = {});
  Injector(const Injector&) = delete;
  Injector& operator=(const Injector&) = delete;
  ~Injector();  // heal_all()

  void start();
  // From now on no fault begins, and those in force are healed. Returns at once.
  void end();
  // end(), and returns when all is healed and every node answers, or given up.
  void heal_all();

  // Whether there is a fault that this cluster can have.
  [[nodiscard]] bool possible() const { return possible_; }
  // After heal_all().
  [[nodiscard]] const std::vector<Done>& done() const { return done_; }
  [[nodiscard]] std::uint64_t count() const;                   // that were in force
  [[nodiscard]] std::uint64_t failed() const;                  // that could not be caused
  [[nodiscard]] bool node_died() const { return node_died_; }  // other than by a fault
  [[nodiscard]] const std::vector<std::string>& warnings() const { return warnings_; }

 private:
  using Clock = std::chrono::steady_clock;
  struct Active {
    FaultId id;
    const Kind* kind;
    double end_due, try_at;     // try_at: not before
    double healing_since = -1;  // negative: not yet
    int tries = 0;              // that failed
    std::string why = {};       // the last one failed
    [[nodiscard]] double due() const { return std::max(end_due, try_at); }
  };

  [[nodiscard]] double now() const;
  [[nodiscard]] bool ending() const;
  void work();
  // What is thrown becomes a warning.
  void guarded(std::string_view otherwise, const std::function<void()>& step);
  void begin_due();
  void begin(const Fault& fault, std::vector<std::size_t>& taken);
  [[nodiscard]] bool due(const Fault& fault) const;
  [[nodiscard]] bool given_up(const Active& active) const { return active.tries >= limits_.tries; }
  [[nodiscard]] bool all_healed() const;
  void heal_due(const GiveUp& give_up);
  bool heal(Active& active, const GiveUp& give_up);
  [[nodiscard]] bool something_due(FaultId but) const;
  void wait();
  bool interrupted();
  void finish();
  void wait_for_cluster();
  void changed();
  Done& done_of(const Active& active) { return done_[active.id]; }

  Effects effects_;
  Schedule schedule_;
  bool possible_;
  Hooks hooks_;
  const std::atomic<bool>& stop_;
  Limits limits_;
  Clock::time_point start_;
  std::vector<Fault> pending_;
  std::vector<Active> active_;
  std::vector<Done> done_;  // by FaultId
  std::vector<std::string> warnings_;
  bool node_died_ = false;
  std::optional<Clock::time_point> interrupted_;

  mutable std::mutex mutex_;
  std::condition_variable wake_;
  bool ending_ = false;  // guarded by mutex_
  std::thread thread_;
};

}  // namespace cupel::faults
