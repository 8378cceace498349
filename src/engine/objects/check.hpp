// objects: decides whether histories of sets and the like are linearizable, each with its evidence,
// and computes the classes of Jepsen's checkers beside it (docs/reference/objects.md).
//
// A history of several objects is linearizable if that of each object is. Every answer is checked
// by the code of the verifier before it is returned: an order that cannot be replayed, or a pattern
// that shows nothing, is an internal error and makes the verdict unknown.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/budget.hpp"
#include "base/verdict.hpp"
#include "data/history/object_history.hpp"
#include "engine/certify/object_proofs.hpp"

namespace cupel::objects {

using base::Verdict;

// The answer for one object.
struct Answer {
  Verdict verdict = Verdict::kUnknown;
  std::vector<std::uint32_t> order = {};                 // satisfied: an execution
  std::optional<certify::ObjectPattern> violation = {};  // violated
  std::string detail = {};                               // unknown: why
};

// A class of Jepsen's checker for this kind.
struct JepsenClass {
  std::string name;
  std::uint64_t count = 0;
  std::vector<std::uint32_t> elements = {};  // the first ones
};
struct Jepsen {
  std::string checker;
  Verdict verdict = Verdict::kUnknown;  // satisfied: `valid? true`
  std::string error = {};
  std::vector<JepsenClass> classes = {};
};

struct Result {
  Verdict verdict = Verdict::kUnknown;  // of all objects
  std::string detail = {};              // unknown: why
  std::vector<Answer> answers = {};     // by object
  Jepsen jepsen = {};
};

// Deterministic, but for the limits of the budget. The intervals of the history are widened by the
// drift, which Jepsen does not know.
Result check(history::ObjectHistory& history, history::Time clock_drift, base::Budget& budget);

}  // namespace cupel::objects
