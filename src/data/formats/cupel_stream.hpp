// Cupel stream: a cupel file (docs/reference/formats/cupel.md) read once, transaction by
// transaction, in the order of the file. In memory are one block a column, the keys, and the values
// packed (packed_scalars.hpp), so a history can be gone through that is far larger than memory.
#pragma once

#include <memory>
#include <string>

#include "base/result.hpp"
#include "data/history/streamed.hpp"

namespace cupel::formats {

// `path` is a cupel file, which may be compressed; then its content is written to a temporary file.
// Errors name the byte where the first broken block begins.
base::Result<std::unique_ptr<history::TransactionSource>> stream_cupel_file(
    const std::string& path);

// Bytes that a History of this cupel file takes at least; 0: it is none, is compressed or broken.
std::uint64_t least_bytes_of_history(const std::string& path);

}  // namespace cupel::formats
