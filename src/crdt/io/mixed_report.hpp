// Mixed report: what is printed about a history of several objects, as text and as JSON.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "crdt/analysis/analyze_mixed.hpp"

namespace cupel::crdt {

struct MixedReport {
  std::string file;
  const MixedHistory* history = nullptr;
  MixedAnalysis analysis = {};
  bool show_witness = false;
  bool of_adapter = false;  // as in Report
};

// A line FILE<TAB>objects<TAB>VERDICT; below it, indented by two blanks, that of each object.
std::string as_text(const MixedReport& report);
// One object, with its line feed; the fields are in docs/crdt.md.
std::string as_json(const MixedReport& report);
// The same object.
nlohmann::ordered_json json_of(const MixedReport& report);

}  // namespace cupel::crdt
