// Whether the other side of a connection has closed it, even if it sent something before that
// nobody has read yet. Without it, bytes can still be sent, and nobody says that they do not
// arrive.
#pragma once

#include <poll.h>

namespace cupel::base {

inline bool hung_up(int socket) {
  pollfd entry{socket, POLLRDHUP, 0};
  return ::poll(&entry, 1, 0) > 0;
}

}  // namespace cupel::base
