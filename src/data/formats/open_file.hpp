// A file that is open for reading, for whoever reads it piece by piece; input.hpp has the bytes of
// a whole file.
#pragma once

#include <memory>
#include <string>

#include "base/budget.hpp"
#include "base/descriptor.hpp"
#include "base/result.hpp"

namespace cupel::formats {

// Several readers may share it, so each reads a regular file at places of its own (pread).
using OpenFile = std::shared_ptr<const base::Descriptor>;

// "-" is standard input. A named pipe without a writer is waited for. While an OpenOnce (input.hpp)
// of the path lives, a regular file is opened by the first call only: a reader that comes back gets
// the same file, also if another one has its name by then.
base::Result<OpenFile> open_file(const std::string& path, base::Budget* budget = nullptr);

// Has the file been written to since it was opened? While an OpenOnce of the path lives; false if
// nothing has opened it.
bool has_changed(const std::string& path);

}  // namespace cupel::formats
