// Jepsen's store: a folder for each run, which has the run's history in several forms.
//
//   store/etcd/20261101T120000/history.edn  history.txt  jepsen.log  test.jepsen  results.edn …
//   store/etcd/latest -> 20261101T120000
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "data/formats/formats.hpp"

namespace cupel::formats {

// The file that a folder of one run stands for: history.edn, else history.txt, else jepsen.log;
// with a format, only a file in that format.
std::optional<std::string> history_of_run(const std::string& folder, std::optional<Format> format);

// Why a folder or a file of a run cannot be read, if it has Jepsen's binary form of a history only.
std::optional<base::Error> without_text(const std::string& path, std::string_view bytes = {});

// Whether the file is one that Jepsen leaves empty if no operation was made.
bool may_be_empty(const std::string& file);

// The histories at these paths, for commands that take several: of a folder of runs, the file of
// each run, in the order of their names; links such as `latest` are left out. Else the path, or the
// file that it stands for.
std::vector<std::string> histories_at(const std::vector<std::string>& paths,
                                      std::optional<Format> format);

}  // namespace cupel::formats
