// Schedule: which fault comes when. Drawn by a seed, or read from a plan.
//
// Drawn: the first round begins `every` seconds after the start of the load, lasts `lasts` seconds,
// and so on. Each round takes one group of the list, in a random order, until all had their turn.
// What a round draws depends on the seed and the round's number only, so the same seed gives the
// same faults at the same times, whatever happens between them.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "run/faults/fault.hpp"
#include "run/faults/kinds.hpp"

namespace cupel::faults {

struct Options {
  std::string list = {};         // "partition,kill+pause": see parse_list(); empty: none
  std::vector<Fault> plan = {};  // or this
  double every = 10, lasts = 5;  // seconds from the end of a round to the next; of a round
  // Not 0: `every` and `lasts` are chosen so that each group has its turn in so many seconds, if
  // rounds of 3 seconds suffice for that. They get no longer than by default.
  double within = 0;
  Targets targets = Targets::kSeeded;
  bool optional = false;  // a fault that the cluster cannot have is left out, with a warning
  std::string optional_name = "--faults-optional";  // how the user says so, for messages
  std::uint64_t seed = 1;

  [[nodiscard]] bool any() const { return !list.empty() || !plan.empty(); }
};

// Groups separated by commas; the faults of a group, joined by +, come at once. "all": every
// family by itself, but those that come by name only. Errors: an unknown name.
base::Result<std::vector<std::vector<std::string>>> parse_list(std::string_view list);

// Whether a fault that may come needs this of the servers. Names that are unknown do not.
bool asks_for(const Options& options, Kind::Needs needs);

class Schedule {
 public:
  // Errors: a fault that the cluster cannot have, unless it may be left out; then it is in
  // `warnings`. A plan that names a node that is not there.
  static base::Result<Schedule> make(const Options& options, Cluster& cluster,
                                     std::vector<std::string>& warnings);

  // A plan: all its faults, and none at the second call. Else those of the next round that begins
  // at `now` or later, seconds after the start of the load.
  std::vector<Fault> next(double now);
  // Of a list: what was not tried.
  [[nodiscard]] std::vector<std::string> untried(std::span<const Done> done) const;
  // Whether a fault of such a kind may come.
  [[nodiscard]] bool may_have(const std::function<bool(const Kind&)>& such) const;
  [[nodiscard]] bool planned() const { return planned_; }

 private:
  using Variants = std::vector<const Kind*>;  // one of them is drawn

  explicit Schedule(const Options& options) : options_(options), planned_(!options.plan.empty()) {}
  void choose_period();
  base::Status take_list(Cluster& cluster, std::vector<std::string>& warnings);
  base::Status take_plan(Cluster& cluster, std::vector<std::string>& warnings);
  [[nodiscard]] std::vector<Fault> round(std::uint64_t number) const;
  [[nodiscard]] double moment(std::uint64_t round) const;

  Options options_;
  bool planned_;
  std::vector<std::vector<Variants>> groups_;
  std::uint64_t next_ = 0;
};

}  // namespace cupel::faults
