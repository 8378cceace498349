// A stream for cpp-httplib that reads no more than a request may be: the library itself
// bounds neither a header line nor a chunked body.
#include "mock/wire/http/connection.hpp"

#include <fmt/format.h>
#include <httplib.h>

#include <algorithm>
#include <charconv>
#include <cstring>

namespace cupel::wire {

namespace {

constexpr Seconds kIdle{60}, kWithinRequest{10}, kWriting{30};
constexpr std::size_t kLongestRequest = HttpService::kLongestBody + 65536;

class SocketStream : public httplib::Stream {
 public:
  explicit SocketStream(Socket& socket) : socket_(socket) {}

  // Is there a request, or will there be none?
  bool next_request() {
    taken_ = 0;
    return at_ < bytes_.size() || socket_.wait(kIdle) == Socket::Outcome::kWell;
  }
  [[nodiscard]] bool too_long() const { return refused_ || taken_ > kLongestRequest; }
  // What is left of the request is not read: it said that it is too long.
  void refuse_rest() { refused_ = true; }

  [[nodiscard]] bool is_readable() const override { return true; }
  [[nodiscard]] bool is_writable() const override { return true; }
  ssize_t read(char* to, std::size_t size) override {
    if (refused_) return -1;
    if (at_ >= bytes_.size()) {
      if (too_long() || socket_.read(bytes_, kWithinRequest) != Socket::Outcome::kWell) {
        bytes_.clear();
        at_ = 0;
        return -1;
      }
      at_ = 0;
    }
    const auto count = std::min(size, bytes_.size() - at_);
    std::memcpy(to, bytes_.data() + at_, count);
    at_ += count;
    taken_ += count;
    return static_cast<ssize_t>(count);
  }
  ssize_t write(const char* from, std::size_t size) override {
    return socket_.write({from, size}, kWriting) == Socket::Outcome::kWell
               ? static_cast<ssize_t>(size)
               : -1;
  }
  void get_remote_ip_and_port(std::string& ip, int& port) const override {
    ip = socket_.peer();
    port = 0;
  }
  void get_local_ip_and_port(std::string& ip, int& port) const override {
    ip.clear();
    port = 0;
  }
  [[nodiscard]] socket_t socket() const override { return socket_.number(); }

 private:
  Socket& socket_;
  std::string bytes_;
  std::size_t at_ = 0, taken_ = 0;
  bool refused_ = false;
};

// Our name for it, which no client can send: a header ends at the first colon.
constexpr const char* kContentType = "Content-Type:";

// No page may read, frame or guess the type of what is answered.
httplib::Headers for_no_page() {
  return {{"X-Content-Type-Options", "nosniff"},
          {"X-Frame-Options", "DENY"},
          {"Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'"},
          {"Cross-Origin-Resource-Policy", "same-origin"},
          {"Cache-Control", "no-store"}};
}

HttpHeaders headers_of(const httplib::Request& request) {
  return {.host = request.get_header_value("Host"),
          .origin = request.get_header_value("Origin"),
          .fetch_site = request.get_header_value("Sec-Fetch-Site"),
          .content_type = request.get_header_value(kContentType)};
}

thread_local bool refused_by_library = false;  // of the connection that this thread serves

}  // namespace

// Never listens: only its processing of a request is used.
class HttpEngine::State : public httplib::Server {
 public:
  explicit State(HttpService& service) {
    const auto answer = [&service](const httplib::Request& request, httplib::Response& response) {
      const auto made = service.handle({.method = request.method,
                                        .path = request.path,
                                        .body = request.body,
                                        .authorization = request.get_header_value("Authorization"),
                                        .peer = request.remote_addr,
                                        .headers = headers_of(request)});
      response.status = made.status;
      if (!made.body.empty()) response.set_content(made.body, "application/json");
    };
    set_default_headers(for_no_page());
    Get(".*", answer);
    Post(".*", answer);
    Put(".*", answer);
    Patch(".*", answer);
    Delete(".*", answer);
    set_payload_max_length(HttpService::kLongestBody);
    set_keep_alive_max_count(1'000'000);
    set_error_handler([](const httplib::Request&, httplib::Response& response) {
      if (!response.body.empty()) return;
      // The library's own refusal: where the next request would begin is not known.
      refused_by_library = true;
      response.set_header("Connection", "close");
      response.set_content(
          http_error("08P01",
                     fmt::format("the request was refused with status {}{}", response.status,
                                 response.status == 413 ? ": its body is too long" : "")),
          "application/json");
    });
    set_exception_handler(
        [](const httplib::Request&, httplib::Response& response, std::exception_ptr) {
          response.status = 500;
          response.set_content(http_error("XX000", "internal error"), "application/json");
        });
  }

  // A request that says nothing of a body has none (RFC 9112, 6.3); the library would read
  // until the client closes.
  static void take_no_length(httplib::Request& request) {
    if (request.has_header("Content-Length") || request.has_header("Transfer-Encoding")) return;
    request.set_header("Content-Length", "0");
  }

  void serve(Socket& socket) {
    SocketStream stream(socket);
    refused_by_library = false;
    const auto set_up = [&](httplib::Request& request) {
      take_no_length(request);
      // Of what calls itself a form the library takes 8 KB, and it is to be refused as a whole.
      if (request.has_header("Content-Type")) {
        request.set_header(kContentType, request.get_header_value("Content-Type"));
        request.headers.erase("Content-Type");
      }
      const auto& length = request.get_header_value("Content-Length");
      std::uint64_t size = 0;
      const auto [end, wrong] = std::from_chars(length.data(), length.data() + length.size(), size);
      if (wrong == std::errc::result_out_of_range || size > HttpService::kLongestBody) {
        stream.refuse_rest();
      }
    };
    while (stream.next_request()) {
      bool closed = false;
      if (!process_request(stream, false, closed, set_up) || closed || stream.too_long() ||
          refused_by_library) {
        break;
      }
    }
  }
};

HttpEngine::HttpEngine(HttpService& service) : state_(std::make_unique<State>(service)) {}
HttpEngine::~HttpEngine() = default;

void HttpEngine::serve(Socket& socket, const std::optional<std::string>& refusal) {
  if (!refusal) {
    state_->serve(socket);
  } else if (socket.wait(kWithinRequest) == Socket::Outcome::kWell) {
    const auto body = http_error("53300", *refusal);
    socket.write(
        fmt::format("HTTP/1.1 503 Service Unavailable\r\nContent-Type: application/json\r\n"
                    "Content-Length: {}\r\nConnection: close\r\n\r\n{}",
                    body.size(), body),
        kWriting);
  }
  socket.part();
}

}  // namespace cupel::wire
