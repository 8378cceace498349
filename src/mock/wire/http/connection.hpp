// HTTP/1.1 on one socket, by cpp-httplib: its parsing of requests, our sockets, so that
// all three interfaces listen, count and stop in the same way.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "mock/wire/http/service.hpp"
#include "mock/wire/socket.hpp"

namespace cupel::wire {

class HttpEngine {
 public:
  explicit HttpEngine(HttpService& service);
  ~HttpEngine();
  // Until the client closes, is idle for too long, or the server stops. `refusal`: the
  // only response, with status 503. Thread safe.
  void serve(Socket& socket, const std::optional<std::string>& refusal);

 private:
  class State;
  std::unique_ptr<State> state_;
};

}  // namespace cupel::wire
