// cobra logs: a directory of binary *.log files, one a session, big-endian:
//
//   'S' i64 txn                                      begin
//   'C' i64 txn                                      commit
//   'W' i64 write-id, key, value
//   'R' i64 writer-txn, write-id, key, value
//
// See docs/reference/formats/cobra.md. Read only.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "data/formats/format_spec.hpp"
#include "data/formats/input.hpp"
#include "data/history/history.hpp"

namespace cupel::formats {

Match recognize_cobra(std::string_view bytes);
base::Result<history::History> read_cobra(const std::vector<SessionLog>& logs,
                                          const std::string& directory, Reading reading = {},
                                          bool alone = false);

}  // namespace cupel::formats
