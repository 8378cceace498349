// Transaction stream: a history read once, in the order of its file, one transaction at a time.
//
// Jepsen's op maps as JSON lines (a file, a recording of several, standard input), as far as they
// can be read without the whole: transactions and registers, each with its process and its
// invocation. What is in memory is a piece of the file, and what has been invoked and has not
// ended. Here nothing is judged. The maps mean what they mean to every reader (op_stream.hpp).
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "base/result.hpp"
#include "data/formats/interpretation.hpp"
#include "data/history/streamed.hpp"

namespace cupel::formats {

base::Result<std::unique_ptr<history::TransactionSource>> stream_transactions(
    const std::string& path, const Interpretation& as = {});

// The same for whoever decides a history that does not fit into memory: also cupel files, whose
// transactions come in the order of the file, and compressed ones. A last line without an end is
// read like the others.
// `first_bytes`: as ReadOptions (formats.hpp), of lines.
base::Result<std::unique_ptr<history::TransactionSource>> stream_history(
    const std::string& path, std::optional<std::uint64_t> first_bytes = {},
    const Interpretation& as = {});
// Whether the reader of whole files may take what a stream of lines refused with the error.
bool may_suit_the_whole(const base::Error& error);
// Is the file, or its content if it is compressed, in cupel's format?
bool holds_cupel(const std::string& path);

}  // namespace cupel::formats
