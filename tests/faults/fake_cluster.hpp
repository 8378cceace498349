// FakeCluster: a cluster that takes notes of what is done to it, and fails when asked to.
#pragma once

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <functional>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "run/faults/cluster.hpp"
#include "support/polling.hpp"

namespace cupel::faults {

class FakeCluster : public Cluster {
 public:
  explicit FakeCluster(std::size_t nodes) : running_(nodes, true), primaries_{0} {}

  [[nodiscard]] std::size_t nodes() const override { return running_.size(); }
  [[nodiscard]] bool running(std::size_t node) const override {
    const std::lock_guard lock(mutex_);
    return running_[node];
  }
  [[nodiscard]] std::vector<std::size_t> primaries() override { return primaries_; }
  [[nodiscard]] std::string log_end(std::size_t node) const override {
    return fmt::format("the log of node {}", node);
  }

  base::Status kill(std::span<const std::size_t> nodes) override {
    if (while_killing_) while_killing_();
    return end("kill", nodes);
  }
  base::Status shut_down(std::span<const std::size_t> nodes) override {
    return end("shut down", nodes);
  }
  base::Result<bool> start(std::span<const std::size_t> nodes, const GiveUp& give_up) override {
    std::vector<std::size_t> stopped;
    for (const auto node : nodes) {
      if (!running(node)) stopped.push_back(node);
    }
    if (!stopped.empty()) note(fmt::format("start {}", fmt::join(stopped, " ")));
    if (failing_starts_ > 0) {
      --failing_starts_;
      return base::Error{.message = "node 0 did not start"};
    }
    // Whoever waits may be given up at any time, without an event.
    bool given_up = false;
    (void)test::poll_until([&] { return (given_up = give_up()) || !hanging_; });
    if (given_up) return false;
    const std::lock_guard lock(mutex_);
    for (const auto node : nodes) running_[node] = true;
    return true;
  }
  base::Status pause(std::size_t node) override {
    note(fmt::format("pause {}", node));
    return base::Ok{};
  }
  base::Status resume(std::size_t node) override {
    note(fmt::format("resume {}", node));
    return base::Ok{};
  }
  [[nodiscard]] bool fails_over() const override { return running_.size() > 1; }
  // The old primary is stopped.
  base::Status fail_over() override {
    const auto old = primaries_.front();
    primaries_ = {(old + 1) % running_.size()};
    return kill(std::vector{old});
  }
  [[nodiscard]] std::string unfit_membership() override { return no_membership_; }
  [[nodiscard]] std::vector<std::size_t> leavers() override {
    std::vector<std::size_t> standbys;
    for (std::size_t node = 0; node < nodes(); ++node) {
      if (running(node) && node != primaries_.front()) standbys.push_back(node);
    }
    return standbys;
  }
  base::Status leave(std::size_t node) override { return end("leave", std::vector{node}); }
  base::Status set_links(std::span<const LinkFault> faults) override {
    note(fmt::format("links {}", faults.size()));
    if (!faults.empty() && throwing_) throw std::runtime_error("no thread is left");
    if (!faults.empty() && failing_links_) return base::Error{.message = "no link can be cut"};
    const std::lock_guard lock(mutex_);
    links_.assign(faults.begin(), faults.end());
    return base::Ok{};
  }
  [[nodiscard]] std::string unfit(const LinkFault& fault) override {
    return fault.delay > 0 ? no_delay_ : no_links_;
  }
  base::Status set_clock(std::size_t node, const ClockFault& fault) override {
    note(fmt::format("clock {}: {:+} s x {}, {} s of {}", node, fault.offset, fault.rate,
                     fault.jump, fault.period));
    return base::Ok{};
  }
  [[nodiscard]] std::string unfit_clocks() override { return {}; }
  base::Status set_disk(std::size_t node, const DiskFault& fault) override {
    note(fmt::format("disk {}: {}, {}", node, fault.full ? "full" : "not full", fault.errors));
    return base::Ok{};
  }
  base::Status lose_unsynced(std::size_t node) override {
    note(fmt::format("lose {}", node));
    return base::Ok{};
  }
  [[nodiscard]] std::string unfit_disks() override { return {}; }
  base::Result<std::string> corrupt(std::size_t node, std::uint64_t bits,
                                    std::uint64_t /*seed*/) override {
    note(fmt::format("corrupt {}: {}", node, bits));
    return std::string("file: 1 bit from byte 0 on");
  }

  [[nodiscard]] std::vector<std::string> notes() const {
    const std::lock_guard lock(mutex_);
    return notes_;
  }
  [[nodiscard]] std::vector<LinkFault> links() const {
    const std::lock_guard lock(mutex_);
    return links_;
  }
  // Ends by itself.
  void die(std::size_t node) {
    const std::lock_guard lock(mutex_);
    running_[node] = false;
  }
  void note(std::string text) {
    const std::lock_guard lock(mutex_);
    notes_.push_back(std::move(text));
  }

 private:
  base::Status end(const char* how, std::span<const std::size_t> nodes) {
    note(fmt::format("{} {}", how, fmt::join(nodes, " ")));
    const std::lock_guard lock(mutex_);
    for (const auto node : nodes) running_[node] = false;
    return base::Ok{};
  }

  mutable std::mutex mutex_;
  std::vector<bool> running_;
  std::vector<std::string> notes_;
  std::vector<LinkFault> links_;

 public:
  std::vector<std::size_t> primaries_;
  std::string no_links_, no_delay_, no_membership_;  // why such faults are not possible
  bool failing_links_ = false;
  bool throwing_ = false;
  std::function<void()> while_killing_;
  std::atomic<int> failing_starts_ = 0;
  std::atomic<bool> hanging_ = false;  // no start ever ends
};

}  // namespace cupel::faults
