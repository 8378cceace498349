// Report: what is printed about one history of a replicated data type, as text and as JSON.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "crdt/analysis/analyze.hpp"

namespace cupel::crdt {

struct Report {
  std::string file;
  const History* history = nullptr;
  const Analysis& analysis;
  bool show_witness = false;               // of kSatisfied
  bool show_explanation = true;            // of kViolated, as text
  const Visibility* visibility = nullptr;  // if the deliveries were used
  bool of_adapter = false;  // of its run: the process "1.2" is the replica 1 after two crashes
};

// Is there an execution to show?
bool has_execution(const Report& report);
// "replica-order", "received", "read-from", "overwritten", "removed", "listed", "arbitrated".
std::string_view name(Why why);

// A line FILE<TAB>TYPE<TAB>VERDICT, then the details, indented by two blanks.
std::string as_text(const Report& report);
// One object, with its line feed; the fields are in docs/reference/crdt.md.
std::string as_json(const Report& report);
// The same object; `named`: the name of its first field, which has `file`.
nlohmann::ordered_json json_of(const Report& report, const char* named = "file");

// Their number, without those of updates of unknown outcome.
std::size_t processes_of(const History& history);
// After the run of an adapter: how many replicas they were.
std::size_t replicas_of_run(const History& history);

// What an operation is the first of its replica to have seen: the last operation of each
// other replica that its clock reaches, where the operation before did not and no
// other of these brings it along; by the rule of delivery `applied`, all updates. The arrows of a
// picture.
std::vector<OpId> newly_seen(const Report& report, OpId op);

}  // namespace cupel::crdt
