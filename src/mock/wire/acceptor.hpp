// Acceptor: one thread that accepts on all sockets of a server, and a thread for each connection.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <list>
#include <thread>
#include <vector>

#include "base/descriptor.hpp"
#include "mock/wire/socket.hpp"

namespace cupel::wire {

class Acceptor {
 public:
  struct Connection {
    base::Descriptor socket;
    std::size_t listener = 0;  // the index of the socket that it came to
    std::uint64_t number = 0;  // from 1 on
  };
  // Called in the connection's own thread. What it does not keep is closed when it returns.
  using Serve = std::function<void(Connection)>;

  // `stop` is borrowed, as are the sockets, which listen and do not block. More connections than
  // `most` at a time are closed at once, and so is one for which there is no thread.
  Acceptor(const StopEvent& stop, std::size_t most) : stop_(stop), most_(most) {}
  Acceptor(const Acceptor&) = delete;
  Acceptor& operator=(const Acceptor&) = delete;
  // Called once. Throws std::system_error if there is no thread to accept.
  void start(std::vector<int> listening, Serve serve);
  [[nodiscard]] bool started() const { return accepting_.joinable(); }
  // Waits for all threads, after the event was signaled.
  void join();

 private:
  struct Running {
    std::thread thread;
    std::atomic<bool> done = false;
  };
  void accept_all();
  void accept_one(std::size_t listener);
  void join_done();

  const StopEvent& stop_;
  std::size_t most_;
  std::vector<int> listening_;
  Serve serve_;
  std::thread accepting_;
  std::list<Running> running_;  // of the accepting thread, then of join()
  std::uint64_t last_number_ = 0;
};

}  // namespace cupel::wire
