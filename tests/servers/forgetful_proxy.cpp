// Packets pass as they are, but for one bit of a status; see the header.
#include "servers/forgetful_proxy.hpp"

#include <sys/socket.h>

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "mock/wire/bytes.hpp"
#include "mock/wire/mysql/codec.hpp"
#include "servers/loopback.hpp"

namespace cupel::test {

namespace {

using base::Descriptor;
namespace mysql = wire::mysql;

constexpr std::size_t kHeader = 4;  // of a packet

// One side went away; its thread ends.
struct LinkIsOver {};

void send_bytes(const Descriptor& to, std::string_view bytes) {
  while (!bytes.empty()) {
    const auto sent = ::send(to.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent <= 0) throw LinkIsOver{};
    bytes.remove_prefix(static_cast<std::size_t>(sent));
  }
}

std::string read_bytes(const Descriptor& from, std::size_t count) {
  std::string bytes(count, '\0');
  for (std::size_t got = 0; got < count;) {
    const auto more = ::recv(from.get(), bytes.data() + got, count - got, 0);
    if (more <= 0) throw LinkIsOver{};
    got += static_cast<std::size_t>(more);
  }
  return bytes;
}

// A packet, with its header in front of its payload.
std::string read_packet(const Descriptor& from) {
  auto packet = read_bytes(from, kHeader);
  const auto length = wire::Reader(packet).little<std::size_t>(3);
  return packet + read_bytes(from, length);
}
std::string_view payload_of(std::string_view packet) {
  return packet.substr(kHeader);
}

class WholeAnswer {
 public:
  WholeAnswer(const Descriptor& server, std::uint8_t command) : answer_(command) {
    do {
      packets_.push_back(read_packet(server));
      answer_.take(payload_of(packets_.back()));
    } while (!answer_.ended());
  }

  [[nodiscard]] bool in_transaction() const {
    return (answer_.status().value_or(0) & mysql::kInTransaction) != 0;
  }
  void clear_in_transaction() {
    auto& low = packets_.back()[kHeader + answer_.status_at()];
    low = static_cast<char>(static_cast<unsigned char>(low) & ~mysql::kInTransaction);
  }
  // The row of one number gets another.
  void change_number(int by) {
    for (auto& packet : packets_) {
      const auto row = payload_of(packet);
      const bool is_number = row.size() > 1 && row.front() == static_cast<char>(row.size() - 1) &&
                             row.find_first_not_of("0123456789", 1) == std::string_view::npos;
      if (is_number) packet.back() = static_cast<char>('0' + (packet.back() - '0' + by) % 10);
    }
  }
  void send_to(const Descriptor& client) const {
    for (const auto& packet : packets_) send_bytes(client, packet);
  }

 private:
  mysql::Answer answer_;
  std::vector<std::string> packets_;
};

void log_in(const Descriptor& client, const Descriptor& server) {
  const auto greeting = read_packet(server);
  std::string simple(payload_of(greeting)), sent;
  if (!mysql::simplify_greeting(simple)) throw LinkIsOver{};
  mysql::put_packet(sent, simple, 0);
  send_bytes(client, sent);
  while (true) {
    send_bytes(server, read_packet(client));
    const auto answer = read_packet(server);
    send_bytes(client, answer);
    if (mysql::decode_error(payload_of(answer))) throw LinkIsOver{};
    if (payload_of(answer).starts_with('\0')) return;
  }
}

void relay(const Descriptor& client, const Descriptor& server, const std::atomic<int>& ends_at,
           const std::atomic<bool>& moves) {
  log_in(client, server);
  int statements = 0, moved = 0;
  while (true) {
    const auto request = read_packet(client);
    if (request.size() == kHeader) throw LinkIsOver{};
    const auto command = static_cast<std::uint8_t>(request[kHeader]);
    send_bytes(server, request);
    if (!mysql::has_answer(command)) continue;
    WholeAnswer answer(server, command);
    if (command == mysql::kQuery) statements = 0;
    const bool counts = command == mysql::kExecute && answer.in_transaction();
    if (counts && ++statements == ends_at) {
      std::string rollback;
      mysql::put_packet(rollback, "\x03ROLLBACK", 0);
      send_bytes(server, rollback);
      const WholeAnswer unseen(server, mysql::kQuery);
      answer.clear_in_transaction();
    }
    if (moves && request.find("CONNECTION_ID()") != std::string::npos) {
      answer.change_number(++moved % 10);
    }
    answer.send_to(client);
  }
}

}  // namespace

ForgetfulProxy::ForgetfulProxy(std::uint16_t server, const std::atomic<int>& ends_at,
                               const std::atomic<bool>& moves)
    : server_(server), ends_at_(ends_at), moves_(moves), listener_(listening(port_)) {
  thread_ = std::thread([this] { work(); });
}

ForgetfulProxy::~ForgetfulProxy() {
  ::shutdown(listener_.get(), SHUT_RDWR);
  thread_.join();
  for (auto& link : links_) {
    ::shutdown(link.client.get(), SHUT_RDWR);
    ::shutdown(link.server.get(), SHUT_RDWR);
    link.thread.join();
  }
}

void ForgetfulProxy::work() {
  while (true) {
    Descriptor client(::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC));
    if (!client) return;
    auto& link = links_.emplace_back(Link{std::move(client), connected_to(server_), {}});
    link.thread = std::thread([this, &link] {
      try {
        relay(link.client, link.server, ends_at_, moves_);
      } catch (const LinkIsOver&) {
        ::shutdown(link.client.get(), SHUT_RDWR);
        ::shutdown(link.server.get(), SHUT_RDWR);
      }
    });
  }
}

}  // namespace cupel::test
