// Recording report: what is printed about a recording, as text and as JSON. Without names it is the
// report of the one object.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "crdt/analysis/analyze.hpp"
#include "crdt/io/report.hpp"

namespace cupel::crdt {

struct RecordingReport {
  std::string file;
  const Recording* recording = nullptr;
  RecordingAnalysis analysis = {};
  bool show_witness = false;
  bool of_adapter = false;  // as in Report

  [[nodiscard]] Report of_object(std::size_t object) const;
};

// Of named objects: a line FILE<TAB>objects<TAB>VERDICT; below it, indented by two blanks, that of
// each object.
std::string as_text(const RecordingReport& report);
// One object; the fields are in docs/reference/crdt.md.
nlohmann::ordered_json json_of(const RecordingReport& report);

}  // namespace cupel::crdt
