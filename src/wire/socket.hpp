// Sockets that are given up as soon as a server stops: each wait also looks at a bell.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.hpp"

namespace cupel::wire {

using Seconds = std::chrono::duration<double>;

// A file descriptor, closed when it goes.
class Descriptor {
 public:
  Descriptor() = default;
  explicit Descriptor(int number) : number_(number) {}
  Descriptor(Descriptor&& other) noexcept : number_(other.number_) { other.number_ = -1; }
  Descriptor& operator=(Descriptor&& other) noexcept;
  ~Descriptor();
  [[nodiscard]] int number() const { return number_; }
  explicit operator bool() const { return number_ >= 0; }

 private:
  int number_ = -1;
};

// Rung once, heard by all and for good. Thread safe.
class Bell {
 public:
  Bell();
  void ring();
  [[nodiscard]] bool rung() const;
  [[nodiscard]] int number() const { return descriptor_.number(); }

 private:
  Descriptor descriptor_;
};

// A listening TCP socket; port 0: any free one.
struct Listening {
  Descriptor socket;
  std::uint16_t port = 0;
};
base::Result<Listening> listen_on(const std::string& address, std::uint16_t port);

// A connection. Used by one thread.
class Socket {
 public:
  // What a read or write came to: kStopped is the bell.
  enum class Outcome : std::uint8_t { kWell, kEnded, kTimeout, kStopped };

  Socket(Descriptor descriptor, const Bell& bell)
      : descriptor_(std::move(descriptor)), bell_(bell) {}
  // At least one byte is read into `bytes`, which is replaced.
  Outcome read(std::string& bytes, std::optional<Seconds> timeout);
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
  [[nodiscard]] int number() const { return descriptor_.number(); }

 private:
  Outcome wait_for(bool to_write, std::optional<Seconds> timeout);
  Descriptor descriptor_;
  const Bell& bell_;
};

}  // namespace cupel::wire
