// Shard: one of N equal shares of a list of tasks, for machines that share the work.
//
// The task at position i, from 0, is of shard i mod N. So the shares depend on the list and on N
// alone, and no machine needs to know of the others. A scheduler starts the same command once for
// each shard and says in the environment which one it is: Slurm's job arrays, MPI's launchers,
// Kubernetes' indexed jobs, GNU parallel. That is asked for only by `auto`: a user who merely works
// inside a job of Slurm wants all of the tasks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.hpp"

namespace cupel::base {

struct Shard {
  std::uint32_t number = 1, of = 1;  // 1 … of

  [[nodiscard]] bool takes(std::size_t task) const { return task % of == number - 1; }
  [[nodiscard]] bool is_all() const { return of == 1; }
  [[nodiscard]] std::string text() const;  // "3/32"
};

inline constexpr std::uint32_t kMostShards = 1'000'000;

// The value of a variable of the environment; none: it is not set.
using Environment = std::function<std::optional<std::string>(const char* name)>;
// That of this process.
std::optional<std::string> environment(const char* name);

// "3/32"; "auto": as the environment says; "auto/32": the same where the environment knows the
// number but not how many there are (Kubernetes, GNU parallel), and checked where it knows both.
// Errors say what was found and expected: among them an environment that says nothing, one in which
// two schedulers say something, and a Slurm array with gaps.
Result<Shard> parse_shard(std::string_view text, const Environment& environment);

}  // namespace cupel::base
