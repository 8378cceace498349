// Map replica: the simulated replica of a map with nested values, and the requests to it.
#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "crdt/model/replicated_type.hpp"
#include "crdt/solve/document_parts.hpp"
#include "crdt/workload/simulated_replica.hpp"

namespace cupel::crdt {

std::vector<TypeBug> bugs_of_map(MapPolicy policy);

std::unique_ptr<SimulatedReplica> make_map_replica(const History& history, std::string_view bug,
                                                   std::uint32_t self, MapPolicy policy);

// Puts, removes, updates within, and reads of the document and of places. Three keys a map, at most
// three maps deep.
void choose_map_request(RequestChoice& choice);

}  // namespace cupel::crdt
