// Cases: what the suite measures. A history, a level and the verdict that is known from
// elsewhere: from how the history was made, from a SAT solver, or from who published it.
//
// Made histories are described by a recipe, and made once: the file's name is a digest of
// its recipe. A sweep changes one parameter and keeps the others, as the papers do.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "bench/formula_history.hpp"

namespace cupel::bench {

enum class Size : std::uint8_t {
  kTiny,   // some hundred transactions: the tests run these
  kSmall,  // to 10^4 transactions: minutes
  kFull,   // to 10^6 transactions: hours
};
std::optional<Size> parse_size(std::string_view text);
std::string_view name(Size size);

struct Recipe {
  std::vector<std::string> generate;  // arguments of `cupel generate`, without -o; or empty:
  // the history of random_formula(variables, clauses, seed)
  int variables = 0, clauses = 0;
  std::uint64_t seed = 0;

  [[nodiscard]] std::string to_string() const;
  // In the cache's folder.
  [[nodiscard]] std::string file_name() const;
};

struct Case {
  std::string group;   // what belongs together in one table: "histories", "transactions" …
  std::string series;  // within the group, one line of its plot: a level, a kind
  // The parameter's value; a number if the group is drawn against it.
  std::string value;
  std::filesystem::path history;  // where it is, or will be when its recipe was followed
  std::optional<Recipe> recipe;
  std::string level;
  std::string expected;  // "satisfied" or "violated"; empty: a SAT solver will know

  // Group, series, value and level: identifies the case.
  [[nodiscard]] std::string name() const;
};

// The cases of that size, made histories being in `cache`. The collection of real
// histories is part of it where it is there (golden::collection_folder()).
std::vector<Case> cases(Size size, const std::filesystem::path& cache);

// Makes the history if it is not there; `cupel` is the program that generates. A file is
// there whole or not at all.
base::Status make(const Case& one, const std::string& cupel);

// The verdict of a case that left it to the SAT solver.
std::string known_verdict(const Case& one);

}  // namespace cupel::bench
