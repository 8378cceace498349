// Document oracle: the axioms of docs/reference/documents.md about maps with nested values, read
// aloud for a history of which is known what each operation had seen. It tries all orders of the
// updates of a place, and of the characters of a list.
#pragma once

#include <cstdint>
#include <vector>

#include "crdt/model/history.hpp"

namespace cupel::crdt {

// `past`: by operation the set of those before it.
bool document_is_admitted(const History& history, const std::vector<std::uint32_t>& past);

}  // namespace cupel::crdt
