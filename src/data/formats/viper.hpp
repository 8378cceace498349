// viper JSON: a directory of *.log files, one a session, one transaction a line:
//
//   {"value": [["w",1,7,true],["r",1,7,false],["range",1,9,[{"id":1,"val":7}],[]]]}
//
// See docs/reference/formats/viper.md. Read only.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "data/formats/format_spec.hpp"
#include "data/formats/input.hpp"
#include "data/history/history.hpp"

namespace cupel::formats {

Match recognize_viper(std::string_view bytes);
base::Result<history::History> read_viper(const std::vector<SessionLog>& logs,
                                          const std::string& directory, Reading reading = {},
                                          bool alone = false);

}  // namespace cupel::formats
