// HTTP with JSON on a store: requests in, responses out; no socket. The routes are in
// docs/reference/mock-server.md.
//
// A session has keys and values (begin, read, write, keys, commit, rollback) and SQL.
// Each is a session of its own in the history, and while one has a transaction open the
// other is refused: transactions run one after another, so it would wait for itself.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "mock/wire/backend.hpp"
#include "mock/wire/http/foreign_page.hpp"

namespace cupel::wire {

struct HttpRequest {
  std::string method, path, body;
  std::string authorization;  // the header
  std::string peer;           // an address to name sessions by; may be empty
  HttpHeaders headers = {};   // that say where it comes from
};
struct HttpResponse {
  int status = 200;
  std::string body;  // JSON, or empty with 204
};

// Thread safe. Requests of one session at the same time: all but the first are refused.
class HttpService {
 public:
  static constexpr std::size_t kLongestBody = std::size_t{4} << 20;
  static constexpr std::size_t kMaxSessions = 1000;

  // `password`: then each request must say `Authorization: Bearer PASSWORD`. `names`: own_names().
  HttpService(Backend& backend, std::optional<std::string> password,
              std::vector<std::string> names = {});
  ~HttpService();
  HttpResponse handle(const HttpRequest& request);
  // Closes all sessions. No request may be under way.
  void clear();

 private:
  class State;
  std::unique_ptr<State> state_;
};

// {"error": {"sqlstate": …, "message": …}}
std::string http_error(std::string_view sqlstate, std::string_view message);

}  // namespace cupel::wire
