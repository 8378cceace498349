// Reader and writer of histories of replicated data types: JSON lines and EDN, one operation per
// line (docs/reference/formats/crdt.md).
//
//   {"process":1,"f":"add","key":"s","value":"a"}
//   {"process":2,"f":"read","key":"s","value":["a"]}
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "crdt/model/history.hpp"
#include "crdt/model/recording.hpp"

namespace cupel::crdt {

// `file` is for messages only. Without a type, each object says its own:
//
//   {"object":"cart","type":"or-set"}
//   {"process":1,"object":"cart","f":"add","value":"a"}
//
// With several threads (0: as many as the machine has) one splits lines while another takes them.
// With `unknown_outcome` kAbsentUnread the lines are read twice. Errors: the line, what was found,
// what was expected; not kOpen: a line names an update that is left out.
base::Result<Recording> read_recording(std::string_view bytes, const std::string& file,
                                       std::optional<NamedType> type = {}, unsigned threads = 1,
                                       UnknownOutcome unknown_outcome = UnknownOutcome::kOpen);
// The history of the one object.
base::Result<History> read(std::string_view bytes, const std::string& file, NamedType type,
                           unsigned threads = 1,
                           UnknownOutcome unknown_outcome = UnknownOutcome::kOpen);

// The lines that read() takes: JSON, or EDN maps.
std::string write(const History& history, bool edn = false);
std::string write(const Recording& recording, bool edn = false);
// One operation, without its line feed.
std::string write(const History& history, OpId op, bool edn = false);

}  // namespace cupel::crdt
