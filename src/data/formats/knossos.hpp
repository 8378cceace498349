// Jepsen's text: history.txt, and jepsen.log or the console's output of every version since 2014.
//
//   3  :invoke  :cas  [1 4]
//   INFO  jepsen.util - 3   :fail   :cas    [1 4]
//   2021-02-26 11:42:48,806{GMT}  INFO  [jepsen worker 1] jepsen.util: 1  :ok  :txn  [[:w 1 2]]
//
// In logs of 2014 (the second line), unlike in op maps, a failed cas is an observation: the
// register was seen to hold another value.
#pragma once

#include <string>
#include <string_view>

#include "base/result.hpp"
#include "data/formats/format_spec.hpp"
#include "data/formats/input.hpp"
#include "data/formats/interpretation.hpp"
#include "data/history/history.hpp"

namespace cupel::formats {

base::Result<history::History> read_knossos(std::string_view bytes, const std::string& file,
                                            Reading reading = {}, const Interpretation& as = {},
                                            history::ObjectHistory* objects = nullptr);
Match recognize_knossos(std::string_view bytes);

}  // namespace cupel::formats
