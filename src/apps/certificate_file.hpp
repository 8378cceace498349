// Certificate files: a certificate given where `cupel verify` and `cupel crdt verify` take the
// history, and one of the other's.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/result.hpp"

namespace cupel::apps {

// Is the file a certificate, by its beginning (formats.hpp)? A pipe is none: it is read only once.
bool is_certificate(const std::string& file);
// The error of a certificate in the place of the history; `command`: "verify".
base::Error certificate_comes_second(const char* command, const std::string& file);
// The error if the certificate is what the other command checks; `command`: "verify" or
// "crdt verify".
std::optional<base::Error> certificate_of_other(std::string_view command,
                                                std::string_view certificate,
                                                const std::string& file);

}  // namespace cupel::apps
