// The end of a watch: what `cupel check` says of a history beside its levels. Acknowledged writes
// may be lost, and the history may show little.
//
// It needs the recorded history as a whole, which is read once more if it is short, or if it has
// final reads. Without it there is what the watch itself has counted.
#pragma once

#include <cstdint>
#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "base/verdict.hpp"
#include "data/formats/interpretation.hpp"
#include "engine/check/check.hpp"
#include "engine/levels/level.hpp"

namespace cupel::apps {

struct EndedWatch {
  std::string name, record;                  // as the user named it; the file
  std::optional<std::uint64_t> first_bytes;  // of the record; none: all
  formats::Interpretation as = {};
  const check::Options& options;  // the limits
  levels::Level level;            // which is satisfied
  bool by_name = false;           // the user named it
  // Not known once only the record can say: none.
  struct Counts {
    std::uint64_t committed = 0, transactions = 0;
  };
  std::optional<Counts> counts;
  std::function<std::string(const char*)> fact;  // of the header
};

struct WatchEnd {
  base::Verdict losses = base::Verdict::kSatisfied;
  std::string why_unknown = {};            // of `losses`
  std::vector<std::string> warnings = {};  // a sentence each
  std::string final_reads = {};            // lines with two blanks in front; empty: there are none
  nlohmann::ordered_json final_reads_object = {};
};

WatchEnd end_of(const EndedWatch& watch);

}  // namespace cupel::apps
