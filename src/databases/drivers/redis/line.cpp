// Lines: see the header.
#include "databases/drivers/redis/line.hpp"

#include <fmt/format.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

#include "base/hung_up.hpp"
#include "databases/drivers/key_value.hpp"
#include "databases/drivers/sql_connection.hpp"

namespace cupel::drivers::redis {

namespace {

RedisReply reply_of(const redisReply& reply) {
  RedisReply answer{.type = reply.type, .text = {}, .elements = {}};
  if (reply.str != nullptr) answer.text.assign(reply.str, reply.len);
  if (reply.type == REDIS_REPLY_INTEGER) answer.text = std::to_string(reply.integer);
  if (reply.type == REDIS_REPLY_ARRAY) {
    for (std::size_t i = 0; i < reply.elements; ++i) {
      answer.elements.push_back(reply_of(*reply.element[i]));
    }
  }
  return answer;
}

// Errors by which Redis says that it did not run the command, and what they mean.
struct Refusal {
  std::string_view word;
  Cause cause;
};
constexpr std::array kRefusals{
    Refusal{"LOADING", Cause::kConnection},     Refusal{"MASTERDOWN", Cause::kConnection},
    Refusal{"CLUSTERDOWN", Cause::kConnection}, Refusal{"MISCONF", Cause::kConnection},
    Refusal{"NOREPLICAS", Cause::kConnection},  Refusal{"OOM", Cause::kConnection},
    Refusal{"BUSY", Cause::kConnection},        Refusal{"READONLY", Cause::kConnection},
    Refusal{"MOVED", Cause::kConnection},       Refusal{"ASK", Cause::kConnection},
    Refusal{"CROSSSLOT", Cause::kStatement},    Refusal{"TRYAGAIN", Cause::kConflict},
    Refusal{"NOAUTH", Cause::kStatement},       Refusal{"NOPERM", Cause::kStatement},
    Refusal{"WRONGTYPE", Cause::kStatement},    Refusal{"EXECABORT", Cause::kStatement}};

// What to do about it.
std::string_view advice(std::string_view word) {
  if (word == "READONLY") return "; this is a replica: give the URL of its master";
  if (word == "NOAUTH") return "; write the password as redis://:PASSWORD@HOST";
  if (word == "WRONGPASS") return "; check the user and password of the URL";
  if (word == "MISCONF") return "; the server cannot save to its disk";
  return "";
}

}  // namespace

std::string first_word(const std::string& text) {
  return text.substr(0, text.find(' '));
}

Failure failure_of(const RedisReply& answer, bool writes) {
  const auto word = first_word(answer.text);
  Failure failure{.txn_outcome = writes ? TxnOutcome::kUnknown : TxnOutcome::kAborted,
                  .cause = Cause::kStatement,
                  .code = word,
                  .message = sql::one_line(answer.text) + std::string(advice(word))};
  const auto* known = std::find_if(kRefusals.begin(), kRefusals.end(),
                                   [&](const Refusal& refusal) { return refusal.word == word; });
  if (known != kRefusals.end()) {
    failure.txn_outcome = TxnOutcome::kAborted;
    failure.cause = known->cause;
  } else if (answer.text.starts_with("ERR unknown command") ||
             answer.text.starts_with("ERR wrong number of arguments")) {
    failure.txn_outcome = TxnOutcome::kAborted;
  }
  return failure;
}

base::Result<std::unique_ptr<Line>> Line::connect(const Settings& settings, const Host& host) {
  const timeval limit{
      static_cast<time_t>(settings.timeout),
      static_cast<suseconds_t>(
          (settings.timeout - static_cast<double>(static_cast<time_t>(settings.timeout))) * 1e6)};
  auto line = std::make_unique<Line>();
  line->context_.reset(redisConnectWithTimeout(host.name.c_str(), host.port, limit));
  auto* context = line->context_.get();
  const auto cannot = [&](std::string_view why) {
    return base::Error{.message =
                           fmt::format("cannot connect to Redis at {}: {}", address(host), why)};
  };
  if (context == nullptr) return cannot("out of memory");
  if (context->err != 0) {
    return cannot(fmt::format("{}; is the server running?", context->errstr));
  }
  if (redisSetTimeout(context, limit) != REDIS_OK) return cannot(context->errstr);
  redisEnableKeepAlive(context);
  std::vector<Command> hello;
  if (!settings.password.empty()) {
    hello.push_back(settings.user.empty() ? Command{"AUTH", settings.password}
                                          : Command{"AUTH", settings.user, settings.password});
  }
  if (settings.database != 0) {
    hello.push_back({"SELECT", std::to_string(settings.database)});
  }
  hello.push_back({"PING"});
  std::vector<RedisReply> answers;
  if (auto failure = line->send(hello, answers)) {
    return cannot(failure->message + "; is it a Redis server, and running?");
  }
  for (const auto& answer : answers) {
    if (answer.error()) return cannot(failure_of(answer, false).message);
  }
  return line;
}

MaybeFailure Line::send(const std::vector<Command>& commands, std::vector<RedisReply>& answers) {
  if (!asking_) return exchange(commands, answers);
  // ASKING is about the next command, or about a whole block.
  std::vector<Command> all;
  std::vector<std::size_t> asked;  // by command of `all`, those that are not ASKING
  bool in_block = false;
  for (const auto& command : commands) {
    if (!in_block) all.push_back({"ASKING"});
    asked.push_back(all.size());
    all.push_back(command);
    in_block = command[0] == "MULTI" || (in_block && command[0] != "EXEC");
  }
  std::vector<RedisReply> found;
  auto failure = exchange(all, found);
  answers.clear();
  for (const auto at : asked) {
    if (at < found.size()) answers.push_back(std::move(found[at]));
  }
  return failure;
}

MaybeFailure Line::exchange(const std::vector<Command>& commands,
                            std::vector<RedisReply>& answers) {
  answers.clear();
  if (lost_) return lost_before();
  if (base::hung_up(context_->fd)) return broken(0, false, "the server closed the connection");
  std::string bytes;
  for (const auto& command : commands) {
    bytes += fmt::format("*{}\r\n", command.size());
    for (const auto& word : command) bytes += fmt::format("${}\r\n{}\r\n", word.size(), word);
  }
  for (std::size_t sent = 0; sent < bytes.size();) {
    const auto count = ::send(context_->fd, bytes.data() + sent, bytes.size() - sent, MSG_NOSIGNAL);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return broken(errno, sent > 0, {});
    sent += static_cast<std::size_t>(count);
  }
  while (answers.size() < commands.size()) {
    void* raw = nullptr;
    errno = 0;
    if (redisGetReply(context_.get(), &raw) != REDIS_OK) {
      return broken(context_->err == REDIS_ERR_IO ? errno : 0, true, context_->errstr);
    }
    answers.push_back(reply_of(*static_cast<redisReply*>(raw)));
    freeReplyObject(raw);
  }
  return std::nullopt;
}

Failure Line::broken(int number, bool sent, const std::string& words) {
  lost_ = true;
  const bool timeout = number == EAGAIN || number == EWOULDBLOCK || number == ETIMEDOUT;
  std::string message = !words.empty() && number == 0 ? words : std::strerror(number);
  if (timeout) message = "no answer in time";
  return {.txn_outcome = sent ? TxnOutcome::kUnknown : TxnOutcome::kAborted,
          .cause = timeout ? Cause::kTimeout : Cause::kConnection,
          .code = timeout ? "timeout" : "lost",
          .message = std::move(message),
          .connection_lost = true};
}

}  // namespace cupel::drivers::redis
