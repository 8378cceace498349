// Acceptor: see the header. Threads that are done are joined once a second at the latest.
#include "mock/wire/acceptor.hpp"

#include <poll.h>
#include <sys/socket.h>

#include <cerrno>
#include <chrono>
#include <system_error>
#include <utility>

namespace cupel::wire {

void Acceptor::start(std::vector<int> listening, Serve serve) {
  listening_ = std::move(listening);
  serve_ = std::move(serve);
  accepting_ = std::thread([this] { accept_all(); });
}

void Acceptor::join() {
  if (!accepting_.joinable()) return;
  accepting_.join();
  for (auto& connection : running_) connection.thread.join();
  running_.clear();
}

void Acceptor::accept_all() {
  std::vector<pollfd> waiting;
  waiting.reserve(listening_.size() + 1);
  for (const int socket : listening_)
    waiting.push_back({.fd = socket, .events = POLLIN, .revents = 0});
  waiting.push_back({.fd = stop_.number(), .events = POLLIN, .revents = 0});
  for (;;) {
    ::poll(waiting.data(), waiting.size(), 1000);
    join_done();
    if (stop_.signaled()) return;
    for (std::size_t i = 0; i < listening_.size(); ++i) {
      if (waiting[i].revents != 0) accept_one(i);
    }
  }
}

void Acceptor::join_done() {
  running_.remove_if([](Running& connection) {
    if (!connection.done) return false;
    connection.thread.join();
    return true;
  });
}

void Acceptor::accept_one(std::size_t listener) {
  base::Descriptor socket(::accept4(listening_[listener], nullptr, nullptr, SOCK_CLOEXEC));
  if (!socket) {
    // For example no descriptor is free. The client still waits, so a retry at once fails too.
    if (errno != EAGAIN && errno != EINTR && errno != ECONNABORTED)
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
    return;
  }
  if (running_.size() >= most_) return;
  auto& running = running_.emplace_back();
  try {
    running.thread = std::thread(
        [this, &running,
         connection = Connection{std::move(socket), listener, ++last_number_}]() mutable {
          serve_(std::move(connection));
          running.done = true;
        });
  } catch (const std::system_error&) {  // no more threads
    running_.pop_back();
  }
}

}  // namespace cupel::wire
