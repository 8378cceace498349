// no_thread: the error for a std::thread that the system does not grant. std::thread reports it by
// an exception, which ends the program if another thread of ours meets it.
#pragma once

#include <string>
#include <string_view>
#include <system_error>

#include "base/result.hpp"

namespace cupel::base {

// `purpose`: "the server".
inline Error no_thread(std::string_view purpose, const std::system_error& error) {
  return {.message = "the system grants no thread for " + std::string(purpose) + ": " +
                     error.code().message() +
                     ". End other programs, or raise the limit of processes (ulimit -u)"};
}

}  // namespace cupel::base
