// Fault: one fault of a run, as planned or as it was.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "run/faults/cluster.hpp"

namespace cupel::faults {

// Which nodes are hit, where they are not given by number.
enum class Targets : std::uint8_t {
  kSeeded,  // one of the others, drawn from those that differ in this cluster
  kOne,
  kMinority,   // as many as a majority can spare: 1 of 3, 2 of 5
  kMajority,   // as few as a majority needs: 2 of 3, 3 of 5
  kPrimaries,  // that take writes when the fault begins
  kAll,
};

// "one", "minority" …; empty for kSeeded.
std::string_view name(Targets targets);
std::optional<Targets> parse_targets(std::string_view name);

// From a node or the clients to another: node numbers, or kClients.
using Link = std::pair<std::size_t, std::size_t>;

struct Fault {
  std::string kind;  // a name in the table of kinds.hpp, or a family of it
  // When it begins: seconds after the start of the load, or once so many transactions committed.
  double at = 0;
  std::optional<std::uint64_t> commits = {};
  double lasts = 5;  // seconds; without effect on a fault that ends by itself
  // Whom it hits: `nodes` or `links`, if they are not empty. Else they are chosen when it begins.
  Targets targets = Targets::kSeeded;
  std::vector<std::size_t> nodes = {};
  std::vector<Link> links = {};
  std::map<std::string, double> parameters = {};  // by the kind's names; the others are drawn
  std::uint64_t seed = 0;                         // of what is drawn
};

// A fault that was caused, or that could not be.
struct Done {
  Fault fault;              // with what was chosen: exact nodes or links, parameters, moments
  std::string what;         // "partition halves: 0 1 | 2"
  double began = 0;         // seconds after the start of the load, when it was in force
  double ended = -1;        // when it was healed; negative: not yet
  std::string failed = {};  // why it could not be caused; empty: it was in force
};

}  // namespace cupel::faults
