// By the exceptions of the stream: only at the first failure does errno say why.
#include "base/write_in_place.hpp"

#include <cerrno>
#include <cstring>

namespace cupel::base {

Status write_in_place(std::ostream& out, const std::string& name,
                      const std::function<Status()>& write) {
  const auto before = out.exceptions();
  try {
    errno = 0;
    out.exceptions(std::ios::badbit | std::ios::failbit);
    auto done = write();
    if (done.ok()) out.flush();
    out.exceptions(before);
    if (done.ok() || !done.error().file.empty()) return done;
    auto error = std::move(done).error();
    error.file = name;
    return error;
  } catch (const std::ios_base::failure&) {
    const int reason = errno;
    out.exceptions(std::ios::goodbit);
    if (reason == EPIPE) return Ok{};
    return Error{.message = std::string("cannot write: ") +
                            (reason != 0 ? std::strerror(reason) : "unknown reason"),
                 .file = name};
  }
}

}  // namespace cupel::base
