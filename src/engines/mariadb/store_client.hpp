// StoreClient: a session's connection to the mock store. docs/mock-engines.md describes the
// messages.
//
// It connects at the first request. After a failure the transaction at the store is over; the
// caller does not ask again before end().
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "engines/messages.hpp"

namespace cupel::engines::mariadb {

class StoreClient {
 public:
  struct Settings {
    std::string socket;
    std::uint32_t database = 0;
    std::string session;
    std::uint16_t client_port = 0;
    // Asked while a reply is awaited, but not that of a commit: nobody would know its outcome.
    std::function<bool()> interrupted = {};
    // The text of what the client asks for, or its beginning.
    std::function<std::string()> statement = {};
  };
  enum class Trouble : std::uint8_t {
    kConflict,     // the store ended the transaction
    kDuplicate,    // so it did for a primary key that is there already
    kInvalid,      // an unknown level or policy
    kInterrupted,  // the connection is closed
    kLost,         // so it is, or was never made
  };
  struct Failure {
    Trouble trouble = Trouble::kLost;
    std::string message;
  };

  explicit StoreClient(Settings settings) : settings_(std::move(settings)) {}
  ~StoreClient() { disconnect(); }
  StoreClient(const StoreClient&) = delete;
  StoreClient& operator=(const StoreClient&) = delete;

  // None: see failure().
  std::optional<std::vector<Position>> read(const ReadRequest& request);
  // False: see failure().
  bool choose(const ChooseRequest& request);
  bool commit(const CommitRequest& request);
  bool copy_database(const CopyDatabaseRequest& request);
  void roll_back();

  [[nodiscard]] const Failure& failure() const { return failure_; }

 private:
  bool connect();
  void disconnect();
  bool send(const Request& request);
  bool receive(char* bytes, std::size_t size, bool interruptible);
  // The reply without its length.
  std::optional<std::string> ask(const Request& request, bool interruptible = true);
  bool ask_done(const Request& request, bool interruptible = true);
  bool fail(Trouble trouble, std::string message);
  bool lose(const std::string& what);
  bool report_statement();

  Settings settings_;
  int socket_ = -1;
  bool keeps_statements_ = false;  // the store does
  std::string reported_;           // the statement that it knows
  Failure failure_;
};

}  // namespace cupel::engines::mariadb
