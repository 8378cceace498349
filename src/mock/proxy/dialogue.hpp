// Dialogue: a database's protocol between one client and the server, as a scheduling proxy needs
// it: where messages end, what a client asks for, and when it is answered. What passes is passed by
// the dialogue; when, the proxy says (scheduling_proxy.hpp).
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/descriptor.hpp"
#include "mock/proxy/request.hpp"
#include "mock/wire/input_buffer.hpp"
#include "mock/wire/tls.hpp"

namespace cupel::proxy {

// A socket with what is to be sent and what came.
struct Line {
  base::Descriptor socket;
  wire::InputBuffer in;
  std::string out;
  std::unique_ptr<wire::Tls> tls;
  bool ended = false;  // the other side has closed
};

// A client, and its connection to the server.
struct Link {
  // In kStartup the proxy connects to the server.
  enum class Phase : std::uint8_t { kOpening, kStartup, kReady, kClosing };
  Phase phase = Phase::kOpening;
  std::string wanted_name;  // as the client calls itself
  std::string name;         // the same, or with a number if another client has it
  Line client, server;
  std::int32_t backend = 0;  // the server's number for the connection
  // As Executed::before; PostgreSQL's F: a transaction without BEGIN that goes on until Sync.
  char state = 'I';
  bool copying = false;      // the client sends data while a batch runs
  bool keeps_locks = false;  // beyond transactions, perhaps
  bool own_settings = false;

  std::optional<Batch> waiting;  // for its turn
  std::optional<Batch> running;
  Executed doing;  // what `running` came to so far
  Answer answer;   // of the statement under way
  std::size_t row_bytes = 0;
};

// Keeps a row of the answer under way, unless there are too many.
void keep_row(Link& link, std::optional<std::vector<std::optional<std::string>>> row,
              std::size_t bytes);

class Dialogue {
 public:
  struct Options {
    // A client that asks for the first database gets the second one.
    std::string database_asked = {}, database_given = {};
    std::string user = {};
    std::string mark = {};  // PostgreSQL: INFO messages that begin with it are not for the client
    bool tls = false;       // to the server; the client has none
    bool holds = true;      // false: nothing is held, and nothing is kept
  };
  virtual ~Dialogue() = default;

  // One message of the client is passed on, or answered, or added to a batch; once that is whole,
  // it is link.waiting. False: no whole message has come.
  virtual bool from_client(Link& link) = 0;
  // One message of the server is passed on. kDone: the batch under way has all its answers.
  enum class Step : std::uint8_t { kIncomplete, kPassed, kDone };
  virtual Step from_server(Link& link) = 0;
  // Whether the batch that waits concerns nobody else.
  [[nodiscard]] virtual bool is_local(const Link& link) const = 0;
  // link.running was sent. True: no answer is to come.
  virtual bool sent(Link& link) = 0;
  // The batch of a client that has gone without one.
  [[nodiscard]] virtual Batch farewell() const = 0;
  // An error in the server's words, and the end.
  virtual void refuse(Link& link, std::string_view sqlstate, const std::string& message) = 0;
};

std::unique_ptr<Dialogue> postgres_dialogue(const Dialogue::Options& options);
std::unique_ptr<Dialogue> mysql_dialogue(const Dialogue::Options& options);

}  // namespace cupel::proxy
