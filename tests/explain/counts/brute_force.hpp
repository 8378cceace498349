// The counts of counts.hpp by brute force: every definition as literally as it can be
// said, over all pairs and a transitive closure. Shares nothing with the analysis but
// the history.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "data/history/history.hpp"

namespace cupel::test {

// By name, zeros left out. Only of histories of reads and writes in which each read
// has at most one possible writer and no transaction is indeterminate; else nothing.
std::optional<std::map<std::string, std::uint64_t>> counts_by_brute_force(
    const history::History& history);

}  // namespace cupel::test
