// Sockets whose waits end as soon as the server stops: each also waits for a StopEvent.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/descriptor.hpp"
#include "base/result.hpp"

namespace cupel::wire {

using Seconds = std::chrono::duration<double>;

// Signaled once, for good, to everybody who waits. Thread safe.
class StopEvent {
 public:
  StopEvent();
  void signal();
  [[nodiscard]] bool signaled() const;
  [[nodiscard]] int number() const { return descriptor_.get(); }

 private:
  base::Descriptor descriptor_;
};

// A listening TCP socket; port 0: any free one.
struct Listening {
  base::Descriptor socket;
  std::uint16_t port = 0;
};
base::Result<Listening> listen_on(const std::string& address, std::uint16_t port);

// A connection. Used by one thread.
class Socket {
 public:
  // What a read or write came to: kStopped: the event was signaled.
  enum class Outcome : std::uint8_t { kWell, kEnded, kTimeout, kStopped };

  Socket(base::Descriptor descriptor, const StopEvent& stop)
      : descriptor_(std::move(descriptor)), stop_(stop) {}
  // At least one byte is read into `bytes`, which is replaced.
  Outcome read(std::string& bytes, std::optional<Seconds> timeout);
  // What is there already; false: nothing.
  bool read_now(std::string& bytes);
  // All of it.
  Outcome write(std::string_view bytes, Seconds timeout);
  // Is there something to read, or did it end?
  Outcome wait(std::optional<Seconds> timeout) { return wait_for(false, timeout); }
  // Says that no more will be written, and reads what still comes for a moment, so that
  // the other side gets to read the last words.
  void part();
  // Has the other side closed, read or not? Any thread may ask while the socket is there.
  [[nodiscard]] bool hung_up() const;
  // Of the other side, as numbers.
  [[nodiscard]] std::string peer() const;
  [[nodiscard]] int number() const { return descriptor_.get(); }

 private:
  Outcome wait_for(bool to_write, std::optional<Seconds> timeout);
  base::Descriptor descriptor_;
  const StopEvent& stop_;
};

}  // namespace cupel::wire
