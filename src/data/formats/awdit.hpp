// awdit text: `w key value`, `r key value`; a line of dashes ends a
// transaction, a line of equals signs ends a session. See docs/reference/formats/awdit.md.
#pragma once

#include <iosfwd>
#include <string>
#include <string_view>

#include "base/result.hpp"
#include "data/formats/format_spec.hpp"
#include "data/formats/input.hpp"
#include "data/history/history.hpp"

namespace cupel::formats {

Match recognize_awdit(std::string_view bytes);
base::Result<history::History> read_awdit(std::string_view bytes, const std::string& file,
                                          Reading reading = {});
base::Status write_awdit(const history::History& history, std::ostream& out);

}  // namespace cupel::formats
