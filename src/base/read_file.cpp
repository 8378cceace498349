// By system calls, each asked for its own errno; an interrupted one is called again.
#include "base/read_file.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>

#include "base/descriptor.hpp"

namespace cupel::base {

Result<std::string> read_file(const std::string& path) {
  const auto failed = [&](const char* doing) {
    return Error{.message = std::string("cannot ") + doing + ": " + std::strerror(errno),
                 .file = path};
  };
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (file.get() < 0) return failed("open");
  std::string text;
  std::array<char, 16384> buffer;
  for (;;) {
    const auto count = ::read(file.get(), buffer.data(), buffer.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return failed("read");
    if (count == 0) return text;
    text.append(buffer.data(), static_cast<std::size_t>(count));
  }
}

}  // namespace cupel::base
