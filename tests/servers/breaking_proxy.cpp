// BreakingProxy: see the header.
#include "servers/breaking_proxy.hpp"

#include <fmt/format.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>

#include <array>
#include <cstring>
#include <fstream>
#include <utility>

#include "servers/loopback.hpp"
#include "support/polling.hpp"

namespace cupel::test {

namespace {

using base::Descriptor;

constexpr auto kPatience = std::chrono::seconds(60);

Descriptor waker() {
  return Descriptor(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
}
void wake(const Descriptor& waker) {
  const std::uint64_t one = 1;
  (void)!::write(waker.get(), &one, sizeof one);
}
void calm(const Descriptor& waker) {
  std::uint64_t count = 0;
  (void)!::read(waker.get(), &count, sizeof count);
}

void send_all(const Descriptor& socket, std::string_view bytes) {
  while (!bytes.empty()) {
    const auto sent = ::send(socket.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent <= 0) return;  // the reader finds out
    bytes.remove_prefix(static_cast<std::size_t>(sent));
  }
}

// Empty: the other side is gone.
std::string received(const Descriptor& socket) {
  std::string bytes(65536, '\0');
  const auto count = ::recv(socket.get(), bytes.data(), bytes.size(), 0);
  bytes.resize(count > 0 ? static_cast<std::size_t>(count) : 0);
  return bytes;
}

void close_with_reset(Descriptor& socket) {
  const linger now{.l_onoff = 1, .l_linger = 0};
  ::setsockopt(socket.get(), SOL_SOCKET, SO_LINGER, &now, sizeof now);
  socket.reset();
}

// "LOCAL REMOTE" of the other end of a connection on loopback, as /proc/net/tcp has them.
std::string other_end_of(const Descriptor& socket) {
  std::string ends;
  for (const auto address_of : {::getpeername, ::getsockname}) {
    sockaddr_in address{};
    socklen_t size = sizeof address;
    if (address_of(socket.get(), reinterpret_cast<sockaddr*>(&address), &size) != 0) return {};
    ends += fmt::format("{}{:08X}:{:04X}", ends.empty() ? "" : " ", address.sin_addr.s_addr,
                        ntohs(address.sin_port));
  }
  return ends;
}

// Whether this end has heard of no end yet: 01 is ESTABLISHED.
bool is_established(const std::string& ends) {
  std::ifstream lines("/proc/self/net/tcp");
  for (std::string line; std::getline(lines, line);) {
    if (line.find(ends + " 01 ") != std::string::npos) return true;
  }
  return false;
}

bool has_event(const pollfd& entry) {
  return entry.fd >= 0 && entry.revents != 0;
}

}  // namespace

BreakingProxy::Link::Link(Descriptor client, Descriptor server)
    : client_(std::move(client)),
      server_(std::move(server)),
      wake_(waker()),
      at_client_(other_end_of(client_)) {
  const int on = 1;
  for (const auto* socket : {&client_, &server_}) {
    ::setsockopt(socket->get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  }
  thread_ = std::thread([this] { work(); });
}

BreakingProxy::Link::~Link() {
  set(stop_);
  thread_.join();
}

void BreakingProxy::Link::arm(Break what, std::string text) {
  const std::lock_guard lock(mutex_);
  what_ = what;
  text_ = std::move(text);
}

void BreakingProxy::Link::cut(bool by_reset) {
  {
    const std::lock_guard lock(mutex_);
    cut_by_reset_ = by_reset;
  }
  set(cut_);
  wait_for(client_closed_);
  // On a loaded machine the kernel brings the end there only later, and tells this end nothing.
  if (!at_client_.empty()) (void)poll_until([&] { return !is_established(at_client_); });
}

bool BreakingProxy::Link::release() {
  set(release_);
  return wait_for(delivered_);
}

bool BreakingProxy::Link::sprung() {
  const std::lock_guard lock(mutex_);
  return sprung_;
}

bool BreakingProxy::Link::wait_until_over() {
  return wait_for(over_);
}

void BreakingProxy::Link::set(bool& flag) {
  {
    const std::lock_guard lock(mutex_);
    flag = true;
  }
  changed_.notify_all();
  wake(wake_);
}

bool BreakingProxy::Link::wait_for(const bool& flag) {
  std::unique_lock lock(mutex_);
  return changed_.wait_for(lock, kPatience, [&] { return flag; });
}

void BreakingProxy::Link::work() {
  for (bool stop = false; server_ && !stop;) {
    std::array<pollfd, 3> entries{
        {{wake_.get(), POLLIN, 0}, {server_.get(), POLLIN, 0}, {client_.get(), POLLIN, 0}}};
    ::poll(entries.data(), entries.size(), -1);
    if (has_event(entries[0])) {
      calm(wake_);
      obey();
    }
    if (has_event(entries[1])) {
      auto bytes = received(server_);
      if (bytes.empty()) break;
      on_server_bytes(bytes);
    }
    // Not before the cut that was asked for.
    if (client_ && has_event(entries[2])) {
      auto bytes = received(client_);
      bytes.empty() ? on_client_end() : on_client_bytes(std::move(bytes));
    }
    const std::lock_guard lock(mutex_);
    stop = stop_;
  }
  server_.reset();
  if (client_) end_client(false);
  set(delivered_);  // to a client that is gone
  set(over_);
}

void BreakingProxy::Link::obey() {
  std::unique_lock lock(mutex_);
  const bool cut = std::exchange(cut_, false);
  const bool by_reset = cut_by_reset_;
  const bool release = release_ && !held_answer_.empty();
  lock.unlock();
  if (cut) {
    end_client(by_reset);
    end_requests();
  }
  if (release) {
    send_all(client_, std::exchange(held_answer_, {}));
    set(delivered_);
  }
}

void BreakingProxy::Link::on_client_bytes(std::string bytes) {
  bool springs = false;
  {
    const std::lock_guard lock(mutex_);
    if (what_ != Break::kNone && !sprung_) {
      seen_ += bytes;
      springs = sprung_ = seen_.find(text_) != std::string::npos;
    }
  }
  if (springs) spring();
  if (holds_requests_) {
    held_requests_ += bytes;
  } else if (client_) {
    send_all(server_, bytes);
  }
}

void BreakingProxy::Link::spring() {
  switch (what_) {
    case Break::kCloseBeforeRequest:
      end_client(false);
      end_requests();
      break;
    case Break::kResetBeforeRequest:
      end_client(true);
      close_with_reset(server_);
      break;
    case Break::kHoldRequest:
      holds_requests_ = true;
      break;
    default:
      break;
  }
}

void BreakingProxy::Link::on_client_end() {
  end_client(false);
  if (!holds_requests_) return end_requests();
  // A server that sees the end before it has answered may drop the request.
  holds_requests_ = false;
  requests_end_at_answer_ = true;
  send_all(server_, std::exchange(held_requests_, {}));
}

void BreakingProxy::Link::on_server_bytes(const std::string& bytes) {
  if (std::exchange(requests_end_at_answer_, false)) return end_requests();
  if (!client_) return;
  switch (sprung() ? what_ : Break::kNone) {
    case Break::kCloseInAnswer:
      send_all(client_, bytes.substr(0, bytes.size() / 2));
      [[fallthrough]];
    case Break::kCloseAfterRequest:
      end_client(false);
      return end_requests();
    case Break::kResetAfterRequest:
      end_client(true);
      return end_requests();
    case Break::kHoldAnswer:
      held_answer_ += bytes;
      return obey();
    default:
      send_all(client_, bytes);
  }
}

void BreakingProxy::Link::end_client(bool by_reset) {
  if (by_reset) {
    close_with_reset(client_);
  } else {
    client_.reset();
  }
  set(client_closed_);
}

void BreakingProxy::Link::end_requests() {
  ::shutdown(server_.get(), SHUT_WR);
}

BreakingProxy::BreakingProxy(std::uint16_t server)
    : server_(server), listener_(listening(port_)), wake_(waker()) {
  thread_ = std::thread([this] { work(); });
}

BreakingProxy::~BreakingProxy() {
  wake(wake_);
  thread_.join();
}

void BreakingProxy::work() {
  for (;;) {
    std::array<pollfd, 2> entries{{{wake_.get(), POLLIN, 0}, {listener_.get(), POLLIN, 0}}};
    ::poll(entries.data(), entries.size(), -1);
    if (has_event(entries[0])) return;
    Descriptor client(::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC));
    if (!client) continue;
    auto server = connected_to(server_);
    const std::lock_guard lock(mutex_);
    links_.emplace_back(std::move(client), std::move(server));
  }
}

BreakingProxy::Link& BreakingProxy::newest() {
  const std::lock_guard lock(mutex_);
  return links_.back();
}

}  // namespace cupel::test
