// Page: the answer to a check as one HTML file that needs nothing else.
//
// Verdicts, statistics, every violation with its picture, its steps and the
// evidence of each, and a timeline. Style and script (web/) are inside, nothing is
// loaded, so the file can be attached to a bug report or a CI run and opened from
// disk. Without scripts everything but the timeline and the search is still there.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "report/nodes.hpp"
#include "report/render.hpp"

namespace cupel::report {

inline constexpr std::size_t kMostPageBytes = 5'000'000;
inline constexpr std::size_t kMostViolationsShown = 12;

struct PageOptions {
  std::size_t most_bytes = kMostPageBytes;
  NodesByLabel nodes = {};  // which node each transaction ran on; empty: not known
};

// A file of a report, by its name inside the report's folder.
struct ReportFile {
  std::string name, bytes;
};

// index.html and, for the n-th violation shown, counterexample-n.dot and
// counterexample-n.svg. Same answer, same bytes, but for the seconds in it.
std::vector<ReportFile> report_files(const Checked& checked, const PageOptions& options = {});

// The page that lists the reports of several histories: links to folders, and why a
// history has none.
struct ReportLink {
  std::string folder, file;          // of the report, empty: it has none; the history's name
  const check::CheckResult* result;  // nullptr: it could not be read
  std::string error = {};            // then
  std::string lost = {};             // "acknowledged writes are lost", if the final reads say so
};
std::string contents_page(std::span<const ReportLink> links);

}  // namespace cupel::report
