// Document parts: what a document's counters, lists, texts, sets and registers are by themselves,
// each kind as a history of that type. A container is a key, named by its path. An operation of the
// document has some of them as its parts: a read one for each container that it shows, and by
// MapPolicy::kReset a remove one for each container in which it undoes something.
#pragma once

#include <cstdint>
#include <vector>

#include "crdt/model/document.hpp"
#include "crdt/solve/context.hpp"

namespace cupel::crdt {

enum class MapPolicy : std::uint8_t { kLastWriterWins, kRemoveWins, kUpdateWins, kReset };

struct DocumentPart {
  History history;
  std::vector<OpId> origin;             // by operation: that of the document
  std::vector<std::uint32_t> elements;  // by element: that of the document
};

// One for each kind of which the document has updates.
std::vector<DocumentPart> document_parts(const KnownContext& context, const DocumentIndex& index,
                                         const KeyEvents& events, MapPolicy policy);

}  // namespace cupel::crdt
