// Certificate files: a certificate given where `cupel verify` and `cupel crdt verify` take the
// history.
#pragma once

#include <string>

#include "base/result.hpp"

namespace cupel::cli {

// Does the file begin as a certificate does, by windows or not, that of `check` or `crdt check`?
bool is_certificate(const std::string& file);
// The error of a certificate in the place of the history; `command`: "verify".
base::Error certificate_comes_second(const char* command, const std::string& file);

}  // namespace cupel::cli
