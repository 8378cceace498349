// Reading Jepsen's op maps: EDN or JSON; transactions, registers, mutexes and
// string key-value stores. docs/reference/formats/jepsen.md says what each becomes.
//
//   auto h = read_jepsen("{:type :ok, :process 0, :f :txn, :value [[:w :x 1]]}", "a.edn", 0);
#pragma once

#include <string>
#include <string_view>

#include "base/result.hpp"
#include "data/formats/format_spec.hpp"
#include "data/formats/input.hpp"
#include "data/formats/interpretation.hpp"
#include "data/history/history.hpp"

namespace cupel::formats {

// EDN or JSON, decided by content. `threads` 0: as many as the machine has; the
// result does not depend on it. `file` is for messages only.
base::Result<history::History> read_jepsen(std::string_view bytes, const std::string& file,
                                           unsigned threads, Reading reading = {},
                                           const Interpretation& as = {},
                                           history::ObjectHistory* objects = nullptr);

// Whether the last line of a file is there and has its end, so that nothing of it was cut: brackets
// and quotes close. It may be malformed.
bool is_whole_line(std::string_view text);

// Whether op maps are in EDN; else they are in JSON.
bool is_edn(std::string_view bytes);

// Whether the first bytes of a file (4 KiB will do) are Jepsen op maps.
Match recognize_jepsen(std::string_view bytes);

}  // namespace cupel::formats
