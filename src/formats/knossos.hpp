// Knossos logs: one register, one line an event, as Jepsen once printed them.
//
//   INFO  jepsen.util - 3   :invoke :cas    [1 4]
//   INFO  jepsen.util - 3   :fail   :cas    [1 4]
//
// Here, unlike in op maps, a failed cas is an observation: the register was
// seen to hold another value.
#pragma once

#include <string>
#include <string_view>

#include "base/result.hpp"
#include "formats/format_spec.hpp"
#include "formats/input.hpp"
#include "formats/interpretation.hpp"
#include "history/history.hpp"

namespace cupel::formats {

base::Result<history::History> read_knossos(std::string_view bytes, const std::string& file,
                                            Reading reading = {}, const Interpretation& as = {});
Match recognize_knossos(std::string_view bytes);

}  // namespace cupel::formats
