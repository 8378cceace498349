// BreakingProxy: a TCP relay on loopback between a client and its server, which breaks a
// connection at an exact moment: when the client's bytes contain a given text.
//
//   BreakingProxy proxy(server.port());
//   …                                            // the client connects to proxy.port()
//   auto& link = proxy.newest();                 // its connection
//   link.arm(Break::kCloseAfterRequest, "COMMIT");
//   …                                            // the client sends COMMIT
//   link.wait_until_over();                      // the server has done all that it got
//
// Each connection has a thread. What happened before arm() does not matter.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <list>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "base/descriptor.hpp"

namespace cupel::test {

enum class Break : std::uint8_t {
  kNone,
  kCloseBeforeRequest,  // the server does not get what contains the text
  kResetBeforeRequest,  // the same, by a reset
  kCloseAfterRequest,   // the server does its work; the client gets no byte of the answer
  kResetAfterRequest,
  kCloseInAnswer,  // the client gets half of the answer
  kHoldAnswer,     // the client gets it at release()
  kHoldRequest,    // the server gets it when the client has given up and closed
};

class BreakingProxy {
 public:
  class Link {
   public:
    Link(base::Descriptor client, base::Descriptor server);
    ~Link();  // breaks what is not over
    Link(const Link&) = delete;
    Link& operator=(const Link&) = delete;

    void arm(Break what, std::string text);
    // Closes towards the client now, between two requests; returns when the client can see it.
    void cut(bool by_reset);
    // Returns when the answer that is held was sent to the client, or the connection is over.
    // False: none came.
    [[nodiscard]] bool release();
    // The text came, and what was armed is done or under way.
    [[nodiscard]] bool sprung();
    // The server closed its end, after all that it got. False: not within a minute.
    [[nodiscard]] bool wait_until_over();

   private:
    void work();
    void obey();
    void on_client_bytes(std::string bytes);
    void on_client_end();
    void on_server_bytes(const std::string& bytes);
    void spring();
    void end_client(bool by_reset);
    void end_requests();
    void set(bool& flag);
    bool wait_for(const bool& flag);

    base::Descriptor client_, server_, wake_;
    std::string at_client_;  // the addresses of the client's end, as /proc/net/tcp has them
    std::mutex mutex_;       // of the next ones
    std::condition_variable changed_;
    Break what_ = Break::kNone;
    std::string text_;
    std::string seen_;  // of the client's bytes since arm()
    bool sprung_ = false, over_ = false, client_closed_ = false, delivered_ = false;
    bool cut_ = false, cut_by_reset_ = false, release_ = false, stop_ = false;
    // The thread's own.
    std::string held_requests_, held_answer_;
    bool holds_requests_ = false;
    bool requests_end_at_answer_ = false;  // the late request is on its way
    std::thread thread_;
  };

  explicit BreakingProxy(std::uint16_t server);
  ~BreakingProxy();
  BreakingProxy(const BreakingProxy&) = delete;
  BreakingProxy& operator=(const BreakingProxy&) = delete;

  [[nodiscard]] std::uint16_t port() const { return port_; }
  // The connection that was accepted last.
  Link& newest();

 private:
  void work();

  std::uint16_t server_, port_ = 0;
  base::Descriptor listener_, wake_;
  std::mutex mutex_;
  std::list<Link> links_;
  std::thread thread_;
};

}  // namespace cupel::test
