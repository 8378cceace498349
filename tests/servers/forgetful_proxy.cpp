// MySQL's protocol, as far as it says where an answer ends; see the header.
#include "servers/forgetful_proxy.hpp"

#include <sys/socket.h>

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "servers/loopback.hpp"

namespace cupel::test {

namespace {

using base::Descriptor;

constexpr std::size_t kHeader = 4;  // three bytes of length, the number of the packet
constexpr char kQuery = 0x03, kPrepare = 0x16, kExecute = 0x17;
constexpr unsigned kInTransaction = 1, kMoreResults = 8;

// One side went away; its thread ends.
struct LinkIsOver {};

unsigned byte_at(std::string_view bytes, std::size_t at) {
  if (at >= bytes.size()) throw LinkIsOver{};
  return static_cast<unsigned char>(bytes[at]);
}
unsigned number_at(std::string_view bytes, std::size_t at) {
  return byte_at(bytes, at) | byte_at(bytes, at + 1) << 8;
}

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

// With its header.
std::string read_packet(const Descriptor& from) {
  auto packet = read_bytes(from, kHeader);
  const auto length = number_at(packet, 0) | byte_at(packet, 2) << 16;
  return packet + read_bytes(from, length);
}

// Without encryption, compression, and what leaves out packets at the end of rows and columns.
void simplify(std::string& greeting) {
  const auto after_version = greeting.find('\0', kHeader + 1) + 1;
  const auto clear = [&](std::size_t at, unsigned bits) {
    const auto kept = byte_at(greeting, after_version + at) & ~bits;
    greeting[after_version + at] = static_cast<char>(kept);
  };
  clear(13, 0x20);  // CLIENT_COMPRESS
  clear(14, 0x08);  // CLIENT_SSL
  clear(19, 0x05);  // CLIENT_DEPRECATE_EOF, CLIENT_ZSTD_COMPRESSION
  for (const std::size_t at : {27, 28, 29, 30}) clear(at, 0xff);  // MariaDB's own
}

class Answer {
 public:
  Answer(const Descriptor& server, char command) : server_(server) {
    if (command == kPrepare) {
      prepared();
    } else {
      do {
        result();
      } while ((status() & kMoreResults) != 0);
    }
  }

  [[nodiscard]] unsigned status() const {
    return status_at_ == 0 ? 0 : number_at(packets_.back(), status_at_);
  }
  void clear_in_transaction() {
    auto& low = packets_.back()[status_at_];
    low = static_cast<char>(static_cast<unsigned char>(low) & ~kInTransaction);
  }
  void send_to(const Descriptor& client) const {
    for (const auto& packet : packets_) send_bytes(client, packet);
  }

 private:
  const std::string& next() { return packets_.emplace_back(read_packet(server_)); }
  // Packets up to the one that ends them.
  void until_end() {
    while (true) {
      const auto& packet = next();
      if (byte_at(packet, kHeader) == 0xfe && packet.size() < kHeader + 9) break;
      if (byte_at(packet, kHeader) == 0xff) return;
    }
    status_at_ = kHeader + 3;  // after the number of warnings
  }
  void result() {
    status_at_ = 0;
    const auto& first = next();
    const auto kind = byte_at(first, kHeader);
    if (kind == 0xff) return;
    if (kind != 0) {
      until_end();  // the columns
      return until_end();
    }
    // Two numbers of 1, 3, 4 or 9 bytes before it.
    auto at = kHeader + 1;
    for (int number = 0; number < 2; ++number) {
      const auto size = byte_at(first, at);
      at += size < 0xfc ? 1 : size == 0xfc ? 3 : size == 0xfd ? 4 : 9;
    }
    status_at_ = at;
  }
  void prepared() {
    const auto& first = next();
    if (byte_at(first, kHeader) != 0) return;
    const auto columns = number_at(first, kHeader + 5), parameters = number_at(first, kHeader + 7);
    if (parameters > 0) until_end();
    if (columns > 0) until_end();
    status_at_ = 0;
  }

  const Descriptor& server_;
  std::vector<std::string> packets_;
  std::size_t status_at_ = 0;  // in the last packet; 0: it has none
};

void log_in(const Descriptor& client, const Descriptor& server) {
  auto greeting = read_packet(server);
  simplify(greeting);
  send_bytes(client, greeting);
  while (true) {
    send_bytes(server, read_packet(client));
    const auto answer = read_packet(server);
    send_bytes(client, answer);
    const auto kind = byte_at(answer, kHeader);
    if (kind == 0xff) throw LinkIsOver{};
    if (kind == 0) return;
  }
}

bool has_answer(char command) {
  return command != 0x01 && command != 0x18 && command != 0x19;  // quit, long data, close
}

void relay(const Descriptor& client, const Descriptor& server, const std::atomic<int>& ends_at) {
  log_in(client, server);
  int statements = 0;
  while (true) {
    const auto request = read_packet(client);
    const auto command = static_cast<char>(byte_at(request, kHeader));
    send_bytes(server, request);
    if (!has_answer(command)) continue;
    Answer answer(server, command);
    if (command == kQuery) statements = 0;
    const bool counts = command == kExecute && (answer.status() & kInTransaction) != 0;
    if (counts && ++statements == ends_at) {
      using namespace std::string_literals;
      send_bytes(server, "\x09\0\0\0\x03"s + "ROLLBACK");
      const Answer unseen(server, kQuery);
      answer.clear_in_transaction();
    }
    answer.send_to(client);
  }
}

}  // namespace

ForgetfulProxy::ForgetfulProxy(std::uint16_t server, const std::atomic<int>& ends_at)
    : server_(server), ends_at_(ends_at), listener_(listening(port_)) {
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
        relay(link.client, link.server, ends_at_);
      } catch (const LinkIsOver&) {
        ::shutdown(link.client.get(), SHUT_RDWR);
        ::shutdown(link.server.get(), SHUT_RDWR);
      }
    });
  }
}

}  // namespace cupel::test
