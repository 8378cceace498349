// cupel: the project's own format. Compressed columns that hold everything a
// History holds; the layout is in docs/formats/cupel.md and in cupel_binary.cpp.
#pragma once

#include <iosfwd>
#include <string>
#include <string_view>

#include "base/result.hpp"
#include "formats/input.hpp"
#include "history/history.hpp"

namespace cupel::formats {

bool looks_like_cupel(std::string_view head);
// A truncated or corrupt file is an error that names the byte where its first
// broken block begins.
base::Result<history::History> read_cupel(std::string_view bytes, const std::string& file,
                                          Reading reading = {});
base::Status write_cupel(const history::History& history, std::ostream& out);

}  // namespace cupel::formats
