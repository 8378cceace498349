// Document calls: the operations of maps as a file has them
// (docs/reference/documents.md#operations).
//
//   {"f":"put","value":[["todo"],{"map":"m1"}]}
//   {"f":"put","value":[["todo","n"],{"counter":"c1"}]}
//   {"f":"inc","value":[["todo","n"],2]}
//   {"f":"read","value":{"todo":{"map":"m1","value":{"n":{"counter":"c1","value":2}}}}}
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>

#include "crdt/model/replicated_type.hpp"

namespace cupel::crdt {

// As ReplicatedType::parse, value, text and argument.
std::optional<std::string> parse_document_call(const ParsedCall& call);
nlohmann::json value_of_document_call(const History& history, const Operation& op);
nlohmann::json argument_of_document_call(const History& history, const Operation& op);
ReplicatedType::Text text_of_document_call(const History& history, const Operation& op);
std::string_view method_of_document_call(const Operation& op);

}  // namespace cupel::crdt
