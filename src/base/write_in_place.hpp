// write_in_place: output to a pipe, a terminal or another device, which takes every byte as it
// comes. A pipe whose reader went away (`| head`) is no error: the reader has all that it wants.
#pragma once

#include <functional>
#include <ostream>
#include <string>

#include "base/result.hpp"

namespace cupel::base {

// Calls `write`, which writes to `out`, until the first failure of `out`. `name`: of the output,
// for the error. SIGPIPE must be ignored.
Status write_in_place(std::ostream& out, const std::string& name,
                      const std::function<Status()>& write);

}  // namespace cupel::base
