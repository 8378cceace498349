// cupel: the project's own format. Compressed columns that hold everything a
// History holds, and the nodes of its transactions; the layout is in
// docs/reference/formats/cupel.md and in cupel_binary.cpp.
#pragma once

#include <iosfwd>
#include <string>
#include <string_view>

#include "base/result.hpp"
#include "data/formats/extra_fields.hpp"
#include "data/formats/format_spec.hpp"
#include "data/formats/input.hpp"
#include "data/history/history.hpp"
#include "data/history/single_op.hpp"

namespace cupel::formats {

Match recognize_cupel(std::string_view bytes);
// A truncated or corrupt file is an error that names the byte where its first
// broken block begins.
base::Result<history::History> read_cupel(std::string_view bytes, const std::string& file,
                                          Reading reading = {});
// Without making a History: false where there are fewer transactions than that, where one
// is not a single operation on a register, where the file is broken (read_cupel() says
// how), or where the sink wants no more. May throw Stopped.
bool stream_cupel(std::string_view bytes, Reading reading, std::size_t least_txns,
                  history::SingleOpSink& sink);
base::Status write_cupel(const history::History& history, std::ostream& out,
                         const Nodes& nodes = {});
// The nodes in a file; empty if there are none, or it is broken. May throw Stopped.
Nodes nodes_of_cupel(std::string_view bytes, Reading reading = {});

}  // namespace cupel::formats
