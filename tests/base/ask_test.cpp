// Questions over TCP, to a socket of our own that answers or keeps still.
#include "base/ask.hpp"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <thread>

namespace cupel::base {
namespace {

// Takes one connection, reads what comes first, and answers in two parts.
class Answerer {
 public:
  Answerer() : socket_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    ::bind(socket_, reinterpret_cast<const sockaddr*>(&address), size);
    ::listen(socket_, 4);
    ::getsockname(socket_, reinterpret_cast<sockaddr*>(&address), &size);
    port_ = ntohs(address.sin_port);
  }
  ~Answerer() { ::close(socket_); }
  Answerer(const Answerer&) = delete;
  Answerer& operator=(const Answerer&) = delete;

  [[nodiscard]] TcpPlace place() const { return {"localhost", port_}; }
  std::string serve(const std::string& first, const std::string& second) const {
    const int connection = ::accept(socket_, nullptr, nullptr);
    char heard[64];
    const auto count = ::recv(connection, heard, sizeof heard, 0);
    ::send(connection, first.data(), first.size(), MSG_NOSIGNAL);
    ::send(connection, second.data(), second.size(), MSG_NOSIGNAL);
    ::close(connection);
    return std::string(heard, count > 0 ? static_cast<std::size_t>(count) : 0);
  }

 private:
  int socket_;
  std::uint16_t port_ = 0;
};

TEST(Ask, GoesOnUntilTheAnswerIsWholeOrTheOtherSideCloses) {
  const Answerer answerer;
  std::string heard;
  {
    const std::jthread server([&] { heard = answerer.serve("one\n", "two"); });
    const auto all = ask(answerer.place(), "ruok", Seconds(10));
    ASSERT_TRUE(all.ok()) << all.error().message;
    EXPECT_EQ(*all, "one\ntwo");
  }
  EXPECT_EQ(heard, "ruok");
  const std::jthread server([&] { answerer.serve("one\n", "two"); });
  const auto line = ask(answerer.place(), "?", Seconds(10), [](std::string_view answer) {
    return answer.find('\n') != std::string_view::npos;
  });
  ASSERT_TRUE(line.ok()) << line.error().message;
  EXPECT_EQ(line->substr(0, 4), "one\n");
}

TEST(Ask, SaysWhyThereIsNoAnswer) {
  TcpPlace nobody;
  {
    const Answerer silent;
    EXPECT_TRUE(listens(silent.place(), Seconds(10)));
    const auto late = ask(silent.place(), "", Seconds(0.05));  // nobody accepts
    ASSERT_FALSE(late.ok());
    EXPECT_EQ(late.error().message, "no answer within 0.05 s");
    nobody = {"127.0.0.1", silent.place().port};
  }
  EXPECT_FALSE(listens(nobody, Seconds(10)));
  EXPECT_EQ(ask(nobody, "", Seconds(10)).error().message, "Connection refused");
}

}  // namespace
}  // namespace cupel::base
