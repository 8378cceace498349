// A socket with a Redis server, commands over it, and what an error as the answer means.
//
// Bytes are sent by the driver itself and not by hiredis, so that it knows whether any were, and
// gets no SIGPIPE.
#pragma once

#include <hiredis.h>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "databases/drivers/driver.hpp"
#include "databases/drivers/url.hpp"

namespace cupel::drivers::redis {

struct Settings {
  std::vector<Host> hosts;
  std::vector<Host> sentinels;  // none: a primary is who says that it is one
  std::string master;           // the sentinels' name for the primary
  std::string user, password;
  std::int64_t database = 0;
  double timeout = 10;
  bool blocks = false;    // several statements a transaction
  bool one_slot = false;  // all keys are in one slot of a cluster
};

using Command = std::vector<std::string>;

// What the server said, without hiredis's memory.
struct RedisReply {
  int type = REDIS_REPLY_NIL;
  std::string text;  // of strings, statuses and errors
  std::vector<RedisReply> elements;

  [[nodiscard]] bool error() const { return type == REDIS_REPLY_ERROR; }
  [[nodiscard]] bool nil() const { return type == REDIS_REPLY_NIL; }
};

// "MISCONF" of "MISCONF Redis is configured to …".
std::string first_word(const std::string& text);

// An error as the answer to a command; `writes`: to one that would have changed
// something.
Failure failure_of(const RedisReply& answer, bool writes);

class Line {
 public:
  static base::Result<std::unique_ptr<Line>> connect(const Settings& settings, const Host& host);

  // Sends all at once and reads an answer for each. A failure leaves the line of no
  // use; kAborted if nothing was sent.
  MaybeFailure send(const std::vector<Command>& commands, std::vector<RedisReply>& answers);

  // From now on commands are also for a slot that this node of a cluster only imports: they follow
  // the redirection ASK.
  void set_asking(bool asking) { asking_ = asking; }

 private:
  MaybeFailure exchange(const std::vector<Command>& commands, std::vector<RedisReply>& answers);
  Failure broken(int number, bool sent, const std::string& words);

  struct FreeContext {
    void operator()(redisContext* context) const { redisFree(context); }
  };
  std::unique_ptr<redisContext, FreeContext> context_;
  bool lost_ = false;
  bool asking_ = false;
};

}  // namespace cupel::drivers::redis
