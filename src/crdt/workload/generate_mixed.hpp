// Generate mixed: histories of simulated replicas with several objects of several types.
//
//   MixedGenerateOptions options;
//   options.types = {{Type::kAddWinsSet}, {Type::kCounter}};
//   const MixedHistory history = generate_mixed(options).value();
//
// The replicas are those of generate.hpp, an object of each type on each of them. An update is
// delivered after all that its replica had seen, of whatever object.
#pragma once

#include <string_view>
#include <vector>

#include "crdt/model/mixed_history.hpp"
#include "crdt/model/replicated_type.hpp"
#include "crdt/workload/generate.hpp"

namespace cupel::crdt {

// The bug of the network: the updates of each object have a stream of their own, so that one
// arrives before what its replica had seen of another object.
inline constexpr TypeBug kObjectsApart = {
    "objects-apart", "delivers each object by a stream of its own (with several types)"};

struct MixedGenerateOptions : GenerateOptions {
  std::vector<NamedType> types;  // an object of each; `type` says nothing
};

// Objects have the names of their types, with a number from the second one of a type on. Errors: a
// bug that none of the types has.
base::Result<MixedHistory> generate_mixed(const MixedGenerateOptions& options);

}  // namespace cupel::crdt
