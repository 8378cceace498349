// An oracle for histories of objects, by exhaustive search: is there an order of the operations
// that contains real time and that the object explains? It follows docs/reference/objects.md, has
// one step function for each kind, and knows nothing of the engine or the verifier.
#pragma once

#include "data/history/object_history.hpp"

namespace cupel::objects_test {

bool is_linearizable(const history::ObjectHistory& history);

}  // namespace cupel::objects_test
