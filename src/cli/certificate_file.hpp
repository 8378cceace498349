// Certificate files: a certificate given where `cupel verify` and `cupel crdt verify` take the
// history.
#pragma once

#include <string>

#include "base/result.hpp"

namespace cupel::cli {

// Is the file a certificate, by its beginning (formats.hpp)? A pipe is none: it is read only once.
bool is_certificate(const std::string& file);
// The error of a certificate in the place of the history; `command`: "verify".
base::Error certificate_comes_second(const char* command, const std::string& file);

}  // namespace cupel::cli
