// Reader and writer of histories of replicated data types: JSON lines and EDN, one operation per
// line (docs/formats/crdt.md).
//
//   {"process":1,"f":"add","key":"s","value":"a"}
//   {"process":2,"f":"read","key":"s","value":["a"]}
#pragma once

#include <string>
#include <string_view>

#include "crdt/model/history.hpp"
#include "crdt/model/mixed_history.hpp"

namespace cupel::crdt {

// `file` is for messages only. With several threads (0: as many as the machine has) one splits
// lines while another takes them. With `unknown_outcome` kAbsentUnread the lines are read twice.
// Errors: the line, what was found, what was expected; not kOpen: a line names an update that is
// left out.
base::Result<History> read(std::string_view bytes, const std::string& file, NamedType type,
                           unsigned threads = 1,
                           UnknownOutcome unknown_outcome = UnknownOutcome::kOpen);

// The same of a history of several objects, each of which says its type:
//
//   {"object":"cart","type":"or-set"}
//   {"process":1,"object":"cart","f":"add","value":"a"}
base::Result<MixedHistory> read_mixed(std::string_view bytes, const std::string& file,
                                      unsigned threads = 1,
                                      UnknownOutcome unknown_outcome = UnknownOutcome::kOpen);

// The lines that read() takes: JSON, or EDN maps.
std::string write(const History& history, bool edn = false);
std::string write(const MixedHistory& history, bool edn = false);
// One operation, without its line feed.
std::string write(const History& history, OpId op, bool edn = false);

}  // namespace cupel::crdt
