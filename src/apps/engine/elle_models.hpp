// The consistency models of Elle, in terms of cupel's levels.
//
// Most are levels of cupel by another name. The others lie between levels: a model weaker than a
// level that is satisfied is satisfied. It is violated if a violation that was found uses only what
// the model forbids: reads of what was never committed, or a cycle of edges that hold in every
// order of versions, with at most as many read-write edges as the model forbids. Between the two
// the answer is unknown, and says so.
//
// Source: elle/consistency_model.clj, which names Adya's levels, and Adya's thesis (1999, chapters
// 3 and 4) for what they forbid. The histories have no predicates, so repeatable-read (PL-2.99) is
// serializable.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "data/history/history.hpp"
#include "engine/check/check.hpp"
#include "engine/levels/level.hpp"

namespace cupel::apps {

// Which cycles of forced edges a model between the levels forbids.
enum class Forbidden : std::uint8_t {
  kNothing,       // the model is a level
  kWriteCycles,   // G0
  kReadCycles,    // G1
  kLostUpdates,   // G1, and lost updates
  kOneReadWrite,  // G1 and G-single, of which a lost update is one
};

struct ElleModel {
  std::string_view name;
  std::string_view other_name;          // Adya's; may be empty
  std::array<levels::Level, 2> enough;  // each alone implies the model; the first is it, if a level
  Forbidden forbidden = Forbidden::kNothing;

  [[nodiscard]] bool is_level() const { return forbidden == Forbidden::kNothing; }
};

std::span<const ElleModel> elle_models();
// With or without the colon of a keyword. None: no such model, or none that cupel decides.
std::optional<ElleModel> elle_model(std::string_view name);
// The levels to check for it.
std::vector<levels::Level> levels_to_check(const ElleModel& model);

struct ElleVerdict {
  check::Verdict verdict = check::Verdict::kUnknown;  // never kRefused
  std::string detail = {};                            // of unknown: why
  const check::LevelResult* violated = nullptr;       // of violated: where it was found; borrowed
};
// `result`: of levels_to_check() at least, with evidence.
ElleVerdict elle_verdict(const ElleModel& model, const history::History& history,
                         const check::CheckResult& result);

// Does the model forbid an anomaly of `--anomalies`? None: no such anomaly.
std::optional<bool> forbids(const ElleModel& model, std::string_view anomaly);

}  // namespace cupel::apps
