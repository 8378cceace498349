// Writing a history as Jepsen op maps, one a line: JSON or EDN. What read_jepsen
// makes of the output is the same history, whatever it held; the extensions
// that this takes are in docs/reference/formats/jepsen.md.
#pragma once

#include <ostream>

#include "base/result.hpp"
#include "data/history/history.hpp"

namespace cupel::formats {

// With times: an invocation and a completion line a transaction, in the order
// of their times. Without: completions only, since an order of lines would
// claim a real-time order. They stand in the order of the labels where these
// number the transactions from 0 on, and T3 is the line of index 3 then. Refuses
// text that is not UTF-8, a session named "nemesis", and a stream that fails.
base::Status write_jepsen(const history::History& history, std::ostream& out, bool edn);

}  // namespace cupel::formats
