// Fuzz target: what a client of the mock store's HTTP port sends, until it hangs up.
#include <sys/socket.h>
#include <unistd.h>

#include "base/descriptor.hpp"
#include "mock/wire/http/connection.hpp"
#include "touch_history.hpp"
#include "wire/fake_backend.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace cupel::wire;
  constexpr std::size_t kMost = 16384;  // both directions fit into the sockets' buffers
  int ends[2];
  if (size > kMost || ::socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0) return 0;
  cupel::fuzz::require(::write(ends[0], data, size) == static_cast<ssize_t>(size), "it was sent");
  ::shutdown(ends[0], SHUT_WR);
  FakeBackend backend;
  backend.log.stopped = true;  // nobody waits
  {
    HttpService service(backend, std::nullopt, own_names("127.0.0.1"));
    HttpEngine engine(service);
    const StopEvent stop;
    Socket socket(cupel::base::Descriptor(ends[1]), stop);
    engine.serve(socket, std::nullopt);
  }
  ::close(ends[0]);
  cupel::fuzz::require(backend.log.open == 0, "every session is closed");
  return 0;
}
