// Check of a recording of replicated data types: what `cupel crdt check` and `cupel crdt run` do
// with the lines of a history.
#pragma once

#include <optional>
#include <string>

#include "apps/crdt/crdt_arguments.hpp"
#include "apps/crdt/crdt_report.hpp"
#include "base/budget.hpp"

namespace cupel::apps {

// One check of a history, or of a run (`ran`).
struct CrdtCheck {
  const std::string& file;
  const CrdtArguments& arguments;
  const CrdtLimits& limits;
  base::Budget& budget;
  const CrdtRunReport* ran = nullptr;
};

// Makes the folder of --report, unless there is none. False, with an error printed: it cannot be
// written.
bool prepare_crdt_page(const std::string& folder);

// Analyzes, prints, and writes the files that were requested. Without a type, the lines name
// objects and their types. The exit code.
int check_crdt_lines(const CrdtCheck& check, const std::string& lines,
                     std::optional<crdt::NamedType> type);

}  // namespace cupel::apps
