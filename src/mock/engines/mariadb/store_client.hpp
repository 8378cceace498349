// StoreClient: a session's connection to the mock store. docs/reference/mock-engines.md describes
// the messages.
//
// It connects at the first request. After a failure the transaction at the store is over; the
// caller does not ask again before end().
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "mock/engines/messages.hpp"
#include "mock/wire/short_wait.hpp"

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
    // A statement begins to wait for a lock (true), or does so no more.
    std::function<void(bool)> waits = {};
    // The text of what the client asks for, or its beginning.
    std::function<std::string()> statement = {};
  };
  enum class Trouble : std::uint8_t {
    kConflict,     // the store ended the transaction
    kDuplicate,    // so it did for a primary key that is there already
    kInvalid,      // an unknown level or policy
    kInterrupted,  // the connection is closed
    kLost,         // so it is, or was never made
    kTooLong,      // the request, which was not sent
  };
  struct Failure {
    Trouble trouble = Trouble::kLost;
    std::string message;
  };

  explicit StoreClient(Settings settings) : settings_(std::move(settings)) {}
  ~StoreClient() { disconnect(); }
  StoreClient(const StoreClient&) = delete;
  StoreClient& operator=(const StoreClient&) = delete;

  using Milliseconds = std::chrono::milliseconds;
  enum class Locked : std::uint8_t {
    kWell,
    kNotAvailable,  // for so long
    kInterrupted,   // the transaction goes on
    kFailed,        // see failure()
  };

  // What the store is like. Null: see failure().
  const Opened* opened() { return connect() ? &opened_ : nullptr; }
  // How many transactions have committed.
  std::uint32_t commits();
  // None: see failure().
  std::optional<std::vector<Position>> read(const ReadRequest& request);
  // False: see failure().
  bool choose(const ChooseRequest& request);
  bool commit(const CommitRequest& request);
  // Commits a transaction that only read and locked nothing, and does not wait. False: it is to be
  // committed in the other way.
  bool finish();
  bool copy_database(const CopyDatabaseRequest& request);
  void roll_back();
  void end_statement(const EndStatementRequest& request);
  // Waits at most so long. `version` is set if it went well.
  Locked lock(LockRequest request, Milliseconds limit, Position& version);
  Locked guard(GuardRequest request, Milliseconds limit);
  void unlock(const UnlockRequest& request);

  [[nodiscard]] const Failure& failure() const { return failure_; }

 private:
  bool connect();
  void disconnect();
  bool send(const Request& request);
  // Asked while a reply is awaited; false: it has failed.
  using WhileWaiting = std::function<bool()>;
  bool receive(char* bytes, std::size_t size, const WhileWaiting& waiting);
  bool receive_some(const WhileWaiting& waiting);
  // The reply without its length.
  std::optional<std::string> receive_reply(const WhileWaiting& waiting);
  std::optional<std::string> ask(const Request& request, bool interruptible = true);
  // "w" where it gave up.
  std::optional<std::string> ask_for_lock(const Request& request, Milliseconds limit,
                                          bool& interrupted);
  std::optional<std::vector<Position>> versions_of(const std::string& reply, std::size_t count);
  bool ask_done(const Request& request, bool interruptible = true);
  bool fail(Trouble trouble, std::string message);
  bool lose(const std::string& what);
  bool report_statement();

  Settings settings_;
  int socket_ = -1;
  wire::ShortWait wait_;
  std::string came_;       // from the store
  std::size_t taken_ = 0;  // of it
  Opened opened_;
  std::string reported_;  // the statement that the store knows
  Failure failure_;
};

}  // namespace cupel::engines::mariadb
