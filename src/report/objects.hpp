// The answer to a check of objects, as text, JSON, lines and a certificate. See
// docs/reference/objects.md.
#pragma once

#include <span>
#include <string>
#include <utility>
#include <vector>

#include "data/history/object_history.hpp"
#include "engine/levels/level.hpp"
#include "engine/objects/check.hpp"

namespace cupel::report {

// Borrowed: it must outlive the call only.
struct CheckedObjects {
  const std::string& file;  // as the user named it
  const history::ObjectHistory& history;
  const objects::Result& result;
  double seconds = 0;
};

// The verdict on a level. Operations on single objects that are linearizable are strictly
// serializable, and satisfy all that follows; of other levels a violation says nothing.
inline constexpr const char* kRefusedOfObjects =
    "is about transactions; operations on single objects are checked for linearizability, from "
    "which it follows if that is satisfied";
objects::Verdict verdict_at(levels::Level level, const objects::Result& result);

// "FILE<TAB>LEVEL<TAB>satisfied|violated|unknown", one line for each level that is not refused.
std::string object_lines(const CheckedObjects& checked, std::span<const levels::Level> asked);
// The verdict, the violations and Jepsen's classes, for people.
std::string object_text(const CheckedObjects& checked);
// The violations and Jepsen's classes alone; every line starts with two blanks, or is empty.
std::string object_explanation(const CheckedObjects& checked);
// One object on one line, newline included. `asked`: empty: linearizable.
std::string object_json(const CheckedObjects& checked, std::span<const levels::Level> asked);
// The certificate of a verdict that is not unknown. `digest` and `drift`: of the history as read.
std::string object_certificate(const CheckedObjects& checked, std::uint64_t digest,
                               history::Time clock_drift_ns);

// One sentence or two about a violation, in the words of the object.
std::string object_sentence(const history::ObjectHistory& history,
                            const certify::ObjectPattern& pattern);

}  // namespace cupel::report
