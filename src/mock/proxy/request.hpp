// What a client of a proxy asks for and gets, whatever its protocol is: requests, in batches, and
// their answers.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace cupel::proxy {

enum class Dialect : std::uint8_t { kPostgres, kMysql };

// The longest message that passes. A client's batch is held as a whole, and is no longer either.
inline constexpr std::size_t kLongestPassed = std::size_t{64} << 20;

// One statement that a client wants to be run.
struct Request {
  std::string text;
  struct Parameter {
    std::uint32_t type = 0;   // PostgreSQL: its OID; 0: the server decides
    std::int16_t format = 0;  // 1: binary
    std::optional<std::string> value = {};
    bool number = false;  // MySQL: the value is one
  };
  std::vector<Parameter> parameters = {};
  bool simple = false;  // the text may be several statements
  enum class Format : std::uint8_t { kText, kBinary, kMixed } results = Format::kText;
};

// What a client sends before it waits for the server. PostgreSQL: a Query, or everything up to a
// Sync or a Flush; MySQL: a command.
struct Batch {
  std::string bytes = {};
  std::vector<Request> requests = {};
  bool unreadable = false;  // something in it is not understood; it passes as it is
  bool leaves = false;      // the client closes its connection
  bool local = false;       // it concerns nobody else, whatever the requests are
  char end = 0;             // the letter of its last message, or the command
  std::size_t answers = 0;  // PostgreSQL, up to a Flush: how many messages end one of its parts
};

struct ResultColumn {
  std::string name;
  std::int16_t format = 0;  // 1: binary
};

// What one statement of a request came to.
struct Answer {
  std::vector<ResultColumn> columns = {};
  std::vector<std::vector<std::optional<std::string>>> rows = {};
  bool rows_dropped = false;  // too many to keep
  std::string tag = {};       // "UPDATE 1", "OK 1"; empty: it failed, or did nothing
  // Of an error: PostgreSQL's SQLSTATE, or MySQL's number.
  std::string code = {}, message = {};
  std::vector<std::string> recorded = {};  // what the recorder said of it (test_database.hpp)
};

// A client's batch and its answers, in the order in which the batches were done.
struct Executed {
  std::string client;
  std::vector<Request> requests = {};
  bool unreadable = false;
  bool left = false;  // the client closed its connection with this
  std::vector<Answer> answers = {};
  char before = 'I', after = 'I';  // I: no transaction; T: in one; E: in one that failed
  bool waited = false;             // for a lock of another client
  bool own_settings = false;       // another user than the proxy's, or settings at the start
  // Its turn, from 1; 0: it was not held. And the turn in whose course it was done, which is a
  // later one if it waited for a lock.
  std::uint64_t turn = 0, done_in = 0;
  std::chrono::nanoseconds began{}, ended{};  // since the proxy's start
};

}  // namespace cupel::proxy
