// A conversation: what a connection of a wire protocol says, given what its client says.
// Bytes in, bytes out; no socket. A fuzz target's input is one, too.
//
//   conversation->receive(bytes);
//   while (conversation->advance()) send(conversation->take_output());
//   if (conversation->over()) close();
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "mock/sql/session.hpp"

namespace cupel::wire {

struct ConversationOptions {
  // The session of a client that authenticated ("psql", "alice").
  std::function<std::unique_ptr<sql::Session>(const std::string& client)> open;
  std::optional<std::string> password;  // none: any will do
  std::uint32_t number = 1;             // of the connection; its "process id"
  std::uint64_t secret = 0;             // the server sends it at the start
  // A CancelRequest: ends the statement of the connection with this number and this secret.
  std::function<void(std::uint32_t number, std::uint32_t secret)> cancel = {};
  // Why every client is rejected ("too many clients"); sent where the protocol allows it.
  std::optional<std::string> refusal;
};

// Used by one thread at a time.
class Conversation {
 public:
  virtual ~Conversation() = default;
  // Keeps what came; at most a message and what comes with it, since advance() ends
  // the conversation when a message is longer than it may be.
  virtual void receive(std::string_view bytes) = 0;
  // Works on one message. False: there is no whole one, or it is over. May wait for
  // as long as the session does.
  virtual bool advance() = 0;
  // Has the client been let in? Before, it is given less time.
  [[nodiscard]] virtual bool open() const = 0;
  [[nodiscard]] virtual bool over() const = 0;
  // What is to be sent, and is then forgotten here.
  std::string take_output() { return std::exchange(out_, {}); }
  [[nodiscard]] std::size_t output_size() const { return out_.size(); }
  // Says in the protocol's words that the server goes away or is full, and ends it.
  virtual void refuse(std::string_view sqlstate, std::string_view message) = 0;

 protected:
  std::string out_;
};

std::unique_ptr<Conversation> make_postgres(ConversationOptions options);

}  // namespace cupel::wire
