// plume text, as PolySI, Plume and IsoVista write it: one operation a line,
//
//   w(key,value,session,transaction)
//   r(key,value,session,transaction)
//
// in decimal; see docs/reference/formats/plume.md for what is made of it.
#pragma once

#include <iosfwd>
#include <string>
#include <string_view>

#include "base/result.hpp"
#include "data/formats/format_spec.hpp"
#include "data/formats/input.hpp"
#include "data/history/history.hpp"

namespace cupel::formats {

Match recognize_plume(std::string_view bytes);
base::Result<history::History> read_plume(std::string_view bytes, const std::string& file,
                                          unsigned threads = 1, Reading reading = {});
base::Status write_plume(const history::History& history, std::ostream& out);

}  // namespace cupel::formats
