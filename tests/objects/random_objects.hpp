// Random histories of objects that are nearly linearizable: a legal run, in which some results,
// intervals and outcomes are then changed.
#pragma once

#include <random>

#include "data/history/object_history.hpp"

namespace cupel::objects_test {

history::ObjectHistory random_objects(history::ObjectKind kind, std::mt19937& random);

}  // namespace cupel::objects_test
