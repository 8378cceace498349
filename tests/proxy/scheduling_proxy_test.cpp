// The scheduling proxy between clients and a server that are sockets of this test and speak just
// enough of PostgreSQL's protocol. The statements of the clients are sent before the proxy may
// choose, so nothing depends on how fast the machine is.
#include "mock/proxy/scheduling_proxy.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>

#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/descriptor.hpp"
#include "base/tcp.hpp"
#include "mock/wire/bytes.hpp"
#include "mock/wire/socket.hpp"
#include "support/polling.hpp"

namespace cupel::proxy {
namespace {

constexpr base::Seconds kPatience{60};

std::string framed(char letter, const std::string& body) {
  std::string made(1, letter);
  wire::put_big(made, static_cast<std::uint32_t>(body.size() + 4));
  return made + body;
}
std::string big_bytes(std::uint32_t number) {
  std::string made;
  wire::put_big(made, number);
  return made;
}

// Exactly so many bytes. Empty: the other side has closed.
std::string receive(int socket, std::size_t size) {
  std::string bytes(size, '\0');
  for (std::size_t done = 0; done < size;) {
    const auto more = ::recv(socket, bytes.data() + done, size - done, 0);
    if (more <= 0) return {};
    done += static_cast<std::size_t>(more);
  }
  return bytes;
}
std::uint32_t number_in(const std::string& bytes) {
  wire::Reader reader(bytes);
  return reader.big<std::uint32_t>();
}
struct Framed {
  char letter = 0;  // 0: the other side has closed
  std::string body = {};
};
Framed receive_framed(int socket) {
  const auto head = receive(socket, 5);
  if (head.empty()) return {};
  const auto size = number_in(head.substr(1)) - 4;
  return {head[0], size == 0 ? "" : receive(socket, size)};
}
void send_all(int socket, const std::string& bytes) {
  ASSERT_EQ(::send(socket, bytes.data(), bytes.size(), MSG_NOSIGNAL),
            static_cast<ssize_t>(bytes.size()));
}

// Runs nothing, and says yes to every statement; but one that begins with UPDATE locked waits until
// another client that ran one has sent COMMIT.
class SilentServer {
 public:
  SilentServer() {
    auto listening = wire::listen_on("127.0.0.1", 0);
    if (!listening.ok()) throw std::runtime_error(listening.error().to_string());
    port_ = listening->port;
    socket_ = std::move(listening->socket);
    accepting_ = std::thread([this] { accept_all(); });
  }
  ~SilentServer() {
    stop_.signal();
    accepting_.join();
    {
      const std::lock_guard lock(mutex_);
      for (const auto& socket : sockets_) ::shutdown(socket.get(), SHUT_RDWR);
      committed_ = true;
    }
    changed_.notify_all();
    for (auto& client : clients_) client.join();
  }
  SilentServer(const SilentServer&) = delete;
  SilentServer& operator=(const SilentServer&) = delete;

  [[nodiscard]] std::uint16_t port() const { return port_; }
  // In the order in which they came: "7: COMMIT", by the number of the connection.
  [[nodiscard]] std::vector<std::string> statements() const {
    const std::lock_guard lock(mutex_);
    return statements_;
  }
  [[nodiscard]] std::optional<std::int32_t> waits() const {
    const std::lock_guard lock(mutex_);
    return waits_;
  }

 private:
  void accept_all() {
    for (std::int32_t number = 1;; ++number) {
      pollfd entries[] = {{socket_.get(), POLLIN, 0}, {stop_.number(), POLLIN, 0}};
      ::poll(entries, 2, -1);
      if (stop_.signaled()) return;
      base::Descriptor client(::accept4(socket_.get(), nullptr, nullptr, SOCK_CLOEXEC));
      if (!client) continue;
      const int socket = client.get();
      const std::lock_guard lock(mutex_);
      sockets_.push_back(std::move(client));
      clients_.emplace_back([this, socket, number] { serve(socket, number); });
    }
  }

  void serve(int socket, std::int32_t number) {
    const auto size = number_in(receive(socket, 4));
    if (size < 4 || receive(socket, size - 4).empty()) return;
    char state = 'I';
    send_all(socket, framed('R', big_bytes(0)) +
                         framed('K', big_bytes(static_cast<std::uint32_t>(number)) + big_bytes(0)) +
                         framed('Z', std::string(1, state)));
    for (;;) {
      const auto came = receive_framed(socket);
      if (came.letter == 0 || came.letter == 'X') {
        ::shutdown(socket, SHUT_RDWR);
        return;
      }
      const std::string sql = came.body.c_str();
      {
        std::unique_lock lock(mutex_);
        statements_.push_back(std::to_string(number) + ": " + sql);
        if (sql == "COMMIT") committed_ = true;
        if (sql.starts_with("UPDATE locked")) {
          if (holder_ && holder_ != number) {
            waits_ = number;
            changed_.wait(lock, [&] { return committed_; });
            waits_.reset();
          }
          holder_ = number;
        }
      }
      changed_.notify_all();
      if (sql == "BEGIN") state = 'T';
      if (sql == "COMMIT") state = 'I';
      std::string tag = sql.substr(0, sql.find(' '));
      send_all(socket, framed('C', tag + '\0') + framed('Z', std::string(1, state)));
    }
  }

  base::Descriptor socket_;
  std::uint16_t port_ = 0;
  wire::StopEvent stop_;
  std::thread accepting_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<base::Descriptor> sockets_;
  std::vector<std::thread> clients_;
  std::vector<std::string> statements_;
  std::optional<std::int32_t> holder_, waits_;
  bool committed_ = false;
};

base::Descriptor connected(std::uint16_t port) {
  auto made = base::connect_tcp({"127.0.0.1", port}, base::Patience(kPatience));
  if (!made.ok()) throw std::runtime_error(made.error().to_string());
  const int flags = ::fcntl(made->get(), F_GETFL);
  ::fcntl(made->get(), F_SETFL, flags & ~O_NONBLOCK);
  return std::move(*made);
}

class RawClient {
 public:
  RawClient(std::uint16_t port, const std::string& name) : socket_(connected(port)) {
    std::string body = big_bytes(196608);
    for (const auto* text : {"user", "me", "application_name"}) body += std::string(text) + '\0';
    body += name + '\0' + '\0';
    send_all(socket_.get(), big_bytes(static_cast<std::uint32_t>(body.size() + 4)) + body);
    ready();
  }
  void ask(const std::string& sql) { send_all(socket_.get(), framed('Q', sql + '\0')); }
  // The last error, or nothing.
  std::string ready() {
    std::string error;
    for (;;) {
      const auto came = receive_framed(socket_.get());
      if (came.letter == 'E') error = came.body;
      if (came.letter == 'Z' || came.letter == 0) return error;
    }
  }
  void run(const std::string& sql) {
    ask(sql);
    ready();
  }

 private:
  base::Descriptor socket_;
};

class SchedulingProxyTest : public ::testing::Test {
 protected:
  // As long as it lives, nobody goes on: it is a client that has not said who it is.
  struct Gate {
    base::Descriptor socket;
  };
  void start() {
    SchedulingProxy::Options options;
    options.server = {.host = "127.0.0.1", .port = server_.port()};
    options.settle = std::chrono::milliseconds(200);  // the gate holds 400 times as long
    options.choose = [this](const std::vector<Interleavings::Waiting>& waiting) {
      std::string names;
      for (const auto& one : waiting) names += (names.empty() ? "" : " ") + one.client;
      const std::lock_guard lock(mutex_);
      offered_.push_back(names);
      return waiting.size() - 1;  // the last one
    };
    options.blockers = [this](const std::vector<std::int32_t>&) -> base::Result<Blockers> {
      Blockers blockers;
      if (const auto waits = server_.waits()) blockers[*waits] = {kSomeClient};
      return blockers;
    };
    auto started = SchedulingProxy::start(std::move(options));
    ASSERT_TRUE(started.ok()) << started.error().to_string();
    proxy_ = std::move(*started);
  }
  void SetUp() override { start(); }
  [[nodiscard]] Gate gate() const { return {connected(proxy_->port())}; }
  [[nodiscard]] std::vector<std::string> offered() const {
    const std::lock_guard lock(mutex_);
    return offered_;
  }
  // "a 1: UPDATE …", in the order in which it was done.
  [[nodiscard]] std::vector<std::string> executed() const {
    std::vector<std::string> lines;
    for (const auto& one : proxy_->executed()) {
      lines.push_back(one.client + " " + std::to_string(one.turn) + ": " +
                      (one.left ? "(leaves)" : one.requests.at(0).text));
    }
    return lines;
  }
  using Lines = std::vector<std::string>;

  SilentServer server_;
  std::unique_ptr<SchedulingProxy> proxy_;

 private:
  mutable std::mutex mutex_;
  std::vector<std::string> offered_;
};

TEST_F(SchedulingProxyTest, HoldsStatementsUntilTheirTurn) {
  RawClient a(proxy_->port(), "a"), b(proxy_->port(), "b");
  {
    const auto held = gate();
    a.ask("UPDATE t SET n = 1");
    b.ask("UPDATE t SET n = 2");
  }
  a.ready();
  b.ready();
  proxy_->stop();
  EXPECT_EQ(server_.statements(), (Lines{"2: UPDATE t SET n = 2", "1: UPDATE t SET n = 1"}));
  EXPECT_EQ(offered(), (Lines{"a b", "a"}));
  EXPECT_EQ(executed(), (Lines{"b 1: UPDATE t SET n = 2", "a 2: UPDATE t SET n = 1"}));
  EXPECT_EQ(proxy_->executed()[0].answers.at(0).tag, "UPDATE");
  EXPECT_EQ(proxy_->connections(), 2U);
  EXPECT_EQ(proxy_->trouble(), "");
}

TEST_F(SchedulingProxyTest, DoesNotHoldWhatConcernsNobodyElse) {
  RawClient a(proxy_->port(), "a");
  const auto held = gate();
  a.run("SET x TO 1");
  a.run("BEGIN");
  proxy_->stop();
  EXPECT_EQ(offered(), Lines());
  EXPECT_EQ(executed(), (Lines{"a 0: SET x TO 1", "a 0: BEGIN"}));
}

TEST_F(SchedulingProxyTest, NumbersClientsOfOneName) {
  RawClient a(proxy_->port(), "a"), other(proxy_->port(), "a");
  a.run("BEGIN");
  other.run("BEGIN");
  proxy_->stop();
  EXPECT_EQ(executed(), (Lines{"a 0: BEGIN", "a#2 0: BEGIN"}));
}

// Its transaction ends then, so it is a turn.
TEST_F(SchedulingProxyTest, HoldsTheEndOfAConnectionInATransaction) {
  RawClient b(proxy_->port(), "b");
  {
    const auto held = gate();
    {
      RawClient a(proxy_->port(), "a");
      a.run("BEGIN");
    }
    b.ask("UPDATE t SET n = 2");
  }
  b.ready();
  EXPECT_TRUE(test::poll_until([&] { return offered().size() == 2; }));
  b.run("UPDATE t SET n = 3");
  proxy_->stop();
  EXPECT_EQ(offered(), (Lines{"a b", "a", "b"}));
  EXPECT_EQ(executed(), (Lines{"a 0: BEGIN", "b 1: UPDATE t SET n = 2", "a 2: (leaves)",
                               "b 3: UPDATE t SET n = 3"}));
}

// The statement that waits does not stop the one that lets it go on.
TEST_F(SchedulingProxyTest, LetsOthersGoOnWhileOneWaitsForALock) {
  RawClient a(proxy_->port(), "a"), b(proxy_->port(), "b");
  a.run("BEGIN");
  b.run("BEGIN");
  a.run("UPDATE locked SET n = 1");
  {
    const auto held = gate();
    a.ask("COMMIT");
    b.ask("UPDATE locked SET n = 2");
  }
  a.ready();
  b.ready();
  proxy_->stop();
  ASSERT_EQ(executed(), (Lines{"a 0: BEGIN", "b 0: BEGIN", "a 1: UPDATE locked SET n = 1",
                               "a 3: COMMIT", "b 2: UPDATE locked SET n = 2"}));
  const auto& waited = proxy_->executed().back();
  EXPECT_TRUE(waited.waited);
  EXPECT_EQ(waited.done_in, 3U);
  EXPECT_FALSE(proxy_->executed()[3].waited);
}

TEST(SchedulingProxyTrouble, IsToldToTheClientAndKept) {
  std::uint16_t closed = 0;
  {
    const auto listening = wire::listen_on("127.0.0.1", 0);
    ASSERT_TRUE(listening.ok());
    closed = listening->port;
  }
  SchedulingProxy::Options options;
  options.server = {.host = "127.0.0.1", .port = closed};
  auto proxy = SchedulingProxy::start(std::move(options));
  ASSERT_TRUE(proxy.ok());
  const auto socket = connected((*proxy)->port());
  std::string body = big_bytes(196608) + "user" + '\0' + "me" + '\0' + '\0';
  send_all(socket.get(), big_bytes(static_cast<std::uint32_t>(body.size() + 4)) + body);
  const auto said = receive_framed(socket.get());
  EXPECT_EQ(said.letter, 'E');
  EXPECT_NE(said.body.find("the server cannot be reached"), std::string::npos) << said.body;
  (*proxy)->stop();
  EXPECT_NE((*proxy)->trouble(), "");
}

}  // namespace
}  // namespace cupel::proxy
