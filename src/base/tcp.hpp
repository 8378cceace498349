// TCP by a socket that never blocks: to connect, and to wait for it no longer than a deadline.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/descriptor.hpp"
#include "base/process.hpp"
#include "base/result.hpp"

namespace cupel::base {

struct TcpPlace {
  std::string host;  // a name or an address
  std::uint16_t port = 0;
};

// How long is left.
class Patience {
 public:
  explicit Patience(Seconds timeout);

  // Until the socket is ready for `event` of poll(). False: the deadline has passed, or the socket
  // is of no use.
  [[nodiscard]] bool wait(int socket, short event) const;
  [[nodiscard]] Error late() const;  // "no answer within 5 s"

 private:
  Seconds timeout_;
  std::chrono::steady_clock::time_point deadline_;
};

// To the first address of the name that answers; looking up the name has no deadline. Errors, in
// the system's words: an unknown name, no connection in time.
Result<Descriptor> connect_tcp(const TcpPlace& place, const Patience& patience);

// Errors, in the system's words: the connection broke, or not all was sent in time; a part may
// have been.
Status send_all(const Descriptor& socket, std::string_view bytes, const Patience& patience);

}  // namespace cupel::base
