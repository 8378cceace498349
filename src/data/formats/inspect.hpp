// Inspect: reads a history and shows its bytes to the caller. `cupel verify` reads them a second
// time, with other code. The file is opened once, also if it is standard input.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "base/result.hpp"
#include "data/formats/formats.hpp"
#include "data/history/history.hpp"

namespace cupel::formats {

// Given the format and the content of an input that is one file, before it is read.
using Inspect = std::function<void(Format, std::string_view)>;

// As read() of formats.hpp.
base::Result<history::History> read_and_inspect(const std::string& path, const ReadOptions& options,
                                                const Inspect& inspect);

}  // namespace cupel::formats
