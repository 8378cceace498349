// MySQL's protocol as a conversation: greeting, authentication, commands.
//
// What differs from MySQL: a prepared statement's cursor is not kept (all rows are sent
// at once, as the protocol allows a server), and EOF packets are always used
// (CLIENT_DEPRECATE_EOF is not offered). Several statements in one text are run one by
// one by the session; without CLIENT_MULTI_STATEMENTS they are refused before.
#include "wire/conversation.hpp"

#include <fmt/format.h>

#include <map>

#include "base/random.hpp"
#include "base/utf8.hpp"
#include "wire/bytes.hpp"
#include "wire/input_buffer.hpp"
#include "wire/mysql/codec.hpp"
#include "wire/statement_text.hpp"

namespace cupel::wire {

namespace {

using namespace mysql;
using sql::TransactionState;

constexpr std::size_t kMaxStatements = 4096;

struct Statement {
  std::unique_ptr<sql::Prepared> prepared;
  std::vector<ParameterType> types;  // as last sent
  std::vector<std::optional<std::string>> long_data;
  std::size_t long_size = 0;
};

class Mysql : public Conversation {
 public:
  explicit Mysql(ConversationOptions options) : options_(std::move(options)) {
    if (options_.refusal) {
      fatal(1040, "08004", *options_.refusal);
      return;
    }
    // Printable, and so without the zero that ends it.
    base::Random random(options_.secret);
    for (std::size_t i = 0; i < kScrambleSize; ++i)
      scramble_ += static_cast<char>(random.between('!', '~'));
    say(greeting(options_.number, scramble_));
  }

  void receive(std::string_view bytes) override {
    if (stage_ != Stage::kOver) in_.add(bytes);
  }

  bool advance() override {
    if (stage_ == Stage::kOver) return false;
    const auto packet = decode_packet(in_.bytes());
    if (packet.kind == Packet::Kind::kIncomplete) return false;
    const bool command = stage_ == Stage::kOpen;
    if (packet.kind == Packet::Kind::kTooLong) {
      sequence_ = static_cast<std::uint8_t>(packet.sequence + 1);
      fatal(1153, "08S01",
            fmt::format("Got a packet of {} bytes or more, expected fewer", kLongestPacket));
      return true;
    }
    const auto expected = command ? std::uint8_t{0} : sequence_;
    if (packet.sequence != expected) {
      sequence_ = static_cast<std::uint8_t>(packet.sequence + 1);
      fatal(1156, "08S01",
            fmt::format("Got packets out of order: found number {}, expected {}", packet.sequence,
                        expected));
      return true;
    }
    sequence_ = static_cast<std::uint8_t>(packet.sequence + 1);
    switch (stage_) {
      case Stage::kHandshake:
        on_handshake(decode_handshake(packet.payload));
        break;
      case Stage::kSwitched:
        prove(packet.payload);
        break;
      case Stage::kOpen:
        on_command(packet.payload);
        break;
      case Stage::kOver:
        break;
    }
    if (stage_ != Stage::kOver) in_.drop(packet.size);
    return true;
  }

  [[nodiscard]] bool open() const override { return stage_ == Stage::kOpen; }
  [[nodiscard]] bool over() const override { return stage_ == Stage::kOver; }
  [[nodiscard]] std::optional<sql::Session::Idle> idle_limit() const override {
    return session_ ? session_->idle_limit() : std::nullopt;
  }

  void refuse(std::string_view sqlstate, std::string_view message) override {
    if (stage_ == Stage::kOver) return;
    // Instead of the greeting, if that is still here.
    if (stage_ == Stage::kHandshake && !out_.empty()) {
      out_.clear();
      sequence_ = 0;
    }
    const auto name = error_name(sqlstate);
    fatal(name.number, name.sqlstate, message);
  }

 private:
  enum class Stage : std::uint8_t { kHandshake, kSwitched, kOpen, kOver };

  void say(std::string_view payload) { put_packet(out_, payload, sequence_); }
  void send_error(std::uint16_t number, std::string_view sqlstate, std::string_view message) {
    say(error(number, sqlstate, message));
  }
  void send_error(const sql::Error& wrong) {
    const auto name = error_name(wrong.sqlstate);
    auto message = wrong.message;
    if (!wrong.detail.empty()) message += ": " + wrong.detail;
    send_error(wrong.mysql_number != 0 ? wrong.mysql_number : name.number, name.sqlstate, message);
  }
  void fatal(std::uint16_t number, std::string_view sqlstate, std::string_view message) {
    send_error(number, sqlstate, message);
    end();
  }
  void malformed() { send_error(1835, "HY000", "Malformed communication packet"); }
  void end() {
    stage_ = Stage::kOver;
    in_.clear();
    statements_.clear();
    session_.reset();
  }

  [[nodiscard]] std::uint16_t status(bool more = false) const {
    std::uint16_t flags = more ? kMoreResults : 0;
    if (session_->state() != TransactionState::kIdle) flags |= kInTransaction;
    if (session_->autocommit()) flags |= kAutocommit;
    return flags;
  }
  void say_ok() { say(ok({.status = status()})); }

  // --- authentication

  void on_handshake(const std::optional<HandshakeResponse>& response) {
    if (!response) return fatal(1043, "08S01", "Bad handshake");
    if (response->wants_ssl)
      return fatal(1043, "08S01",
                   "Bad handshake: encryption is not supported; connect without SSL");
    capabilities_ = response->capabilities & kServerCapabilities;
    multi_statements_ = (capabilities_ & kMultiStatements) != 0;
    identify(*response);
  }

  void identify(const HandshakeResponse& response) {
    user_ = response.user;
    application_ = response.application;
    // They come back in answers, and one is the session's name in the history.
    if (!base::valid_utf8(user_) || !base::valid_utf8(application_)) {
      return fatal(1300, "22021",
                   fmt::format("Invalid utf8mb4 character string in the {}",
                               base::valid_utf8(user_) ? "program_name" : "user"));
    }
    const bool other_plugin = !response.plugin.empty() && response.plugin != kNativePassword;
    if (other_plugin) {
      say(auth_switch(scramble_));
      stage_ = Stage::kSwitched;
      return;
    }
    prove(response.proof);
  }

  void prove(std::string_view proof) {
    if (options_.password && proof != native_password_proof(*options_.password, scramble_)) {
      return fatal(1045, "28000",
                   fmt::format("Access denied for user '{}' (using password: {})", user_,
                               proof.empty() ? "NO" : "YES"));
    }
    session_ = options_.open(application_.empty() ? user_ : application_);
    if (!session_) return fatal(1053, "08S01", "Server shutdown in progress");
    session_->on_user(user_);
    stage_ = Stage::kOpen;
    say_ok();
  }

  // --- commands

  void on_command(std::string_view payload) {
    if (payload.empty()) return malformed();
    const auto rest = payload.substr(1);
    switch (static_cast<std::uint8_t>(payload[0])) {
      case kQuit:
        return end();
      case kInitDatabase:  // any: there is one
      case kPing:
        return say_ok();
      case kQuery:
        return on_query(rest);
      case kPrepare:
        return on_prepare(rest);
      case kExecute:
        return on_execute(rest);
      case kSendLongData:
        return on_long_data(rest);
      case kCloseStatement:
        return close(rest);
      case kResetStatement:
        return on_reset_statement(rest);
      case kResetConnection:
        session_->reset();
        statements_.clear();
        return say_ok();
      case kChangeUser:
        return on_change_user(rest);
      case kSetOption:
        return on_set_option(rest);
      case kStatistics:
        return say("cupel mock");
      case kFieldList:
        return send_error(
            1235, "42000",
            "COM_FIELD_LIST is not supported; ask by SHOW COLUMNS, or start the client with "
            "--no-auto-rehash (-A)");
      case kFetch:
        return send_error(1235, "42000",
                          "COM_STMT_FETCH is not supported: all rows come with COM_STMT_EXECUTE");
      default:
        return send_error(
            1047, "08S01",
            fmt::format("Unknown command {}", static_cast<unsigned char>(payload[0])));
    }
  }

  void say_columns(const std::vector<sql::Column>& columns, bool more) {
    for (const auto& column : columns) say(column_definition(column));
    say(eof(status(more)));
  }

  // False: a value had no binary format, and the client got an error.
  bool say_result(const sql::Result& result, bool more, bool binary) {
    if (!result.has_rows) {
      say(ok({.affected = result.affected,
              .last_insert_id = result.last_insert_id,
              .status = status(more)}));
      return true;
    }
    std::string count;
    put_length_encoded(count, result.columns.size());
    say(count);
    say_columns(result.columns, more);
    for (const auto& row : result.rows) {
      if (!binary) {
        say(text_row(result.columns, row));
        continue;
      }
      const auto bytes = binary_row(result.columns, row);
      if (!bytes) {
        send_error(1366, "HY000",
                   "A value has no binary format of its column's type; use a text query");
        return false;
      }
      say(*bytes);
    }
    say(eof(status(more)));
    return true;
  }

  void on_query(std::string_view text) {
    if (is_empty_statement(text, sql::kMysqlLexis))
      return send_error(1065, "42000", "Query was empty");
    if (!multi_statements_ && has_several_statements(text, sql::kMysqlLexis)) {
      return send_error(
          1064, "42000",
          "You have an error in your SQL syntax: found several statements, expected one; "
          "connect with CLIENT_MULTI_STATEMENTS to send several");
    }
    const auto run = session_->run(text);
    for (std::size_t i = 0; i < run.results.size(); ++i) {
      say_result(run.results[i], i + 1 < run.results.size() || run.error, false);
    }
    if (run.error)
      send_error(*run.error);
    else if (run.results.empty())
      say_ok();
  }

  void on_prepare(std::string_view text) {
    if (is_empty_statement(text, sql::kMysqlLexis))
      return send_error(1065, "42000", "Query was empty");
    if (has_several_statements(text, sql::kMysqlLexis)) {
      return send_error(1064, "42000",
                        "You have an error in your SQL syntax: found several statements, expected "
                        "one to prepare");
    }
    if (statements_.size() >= kMaxStatements) {
      return send_error(
          1461, "42000",
          fmt::format("Can't create more than {} prepared statements; close some", kMaxStatements));
    }
    auto prepared = session_->prepare(text);
    if (const auto* wrong = std::get_if<sql::Error>(&prepared)) return send_error(*wrong);
    auto& made = *std::get<0>(prepared);
    if (made.parameter_count() > 65535)
      return send_error(1390, "HY000", "Prepared statement contains too many placeholders");
    const auto id = next_statement_++;
    say(prepare_ok(id, made.columns().size(), made.parameter_count()));
    if (made.parameter_count() > 0) {
      for (std::size_t i = 0; i < made.parameter_count(); ++i) say(parameter_definition());
      say(eof(status()));
    }
    if (!made.columns().empty()) say_columns(made.columns(), false);
    statements_[id].prepared = std::move(std::get<0>(prepared));
  }

  // None, and the client got an error: malformed, or not there.
  Statement* statement_of(std::string_view payload, const char* command) {
    Reader in(payload);
    const auto id = in.little<std::uint32_t>();
    const auto found = statements_.find(id);
    if (in.failed()) {
      malformed();
    } else if (found == statements_.end()) {
      send_error(1243, "HY000",
                 fmt::format("Unknown prepared statement handler ({}) given to {}", id, command));
    } else {
      return &found->second;
    }
    return nullptr;
  }

  void on_execute(std::string_view payload) {
    if (!decode_execute_head(payload)) return malformed();
    auto* statement = statement_of(payload, "COM_STMT_EXECUTE");
    if (statement == nullptr) return;
    const auto values = decode_execute_values(payload, statement->prepared->parameter_count(),
                                              statement->types, statement->long_data);
    forget_long_data(*statement);
    if (!values) return send_error(1210, "HY000", "Incorrect arguments to COM_STMT_EXECUTE");
    std::vector<sql::Type> sent;
    for (const auto& type : statement->types) sent.push_back(sent_type(type));
    auto result = session_->execute(*statement->prepared, *values, sent);
    if (const auto* wrong = std::get_if<sql::Error>(&result)) return send_error(*wrong);
    say_result(std::get<sql::Result>(result), false, true);
  }

  static void forget_long_data(Statement& statement) {
    statement.long_data.clear();
    statement.long_size = 0;
  }

  // Neither this nor a close is ever answered.
  void on_long_data(std::string_view payload) {
    Reader in(payload);
    const auto found = statements_.find(in.little<std::uint32_t>());
    const auto parameter = in.little<std::uint16_t>();
    if (in.failed() || found == statements_.end()) return;
    auto& statement = found->second;
    if (parameter >= statement.prepared->parameter_count()) return;
    if (statement.long_size + in.left() > kLongestPacket) {
      return fatal(1153, "08S01",
                   fmt::format("Got parameters of more than {} bytes", kLongestPacket));
    }
    statement.long_size += in.left();
    statement.long_data.resize(statement.prepared->parameter_count());
    auto& data = statement.long_data[parameter];
    if (!data) data.emplace();
    *data += in.rest();
  }

  void close(std::string_view payload) {
    Reader in(payload);
    const auto id = in.little<std::uint32_t>();
    if (!in.failed()) statements_.erase(id);
  }

  void on_reset_statement(std::string_view payload) {
    auto* statement = statement_of(payload, "COM_STMT_RESET");
    if (statement == nullptr) return;
    forget_long_data(*statement);
    say_ok();
  }

  void on_change_user(std::string_view payload) {
    const auto response = decode_change_user(payload, capabilities_);
    if (!response) return malformed();
    statements_.clear();
    session_.reset();
    identify(*response);
  }

  void on_set_option(std::string_view payload) {
    Reader in(payload);
    const auto option = in.little<std::uint16_t>();
    if (!in.complete() || option > 1)
      return send_error(1047, "08S01", "Unknown option given to COM_SET_OPTION");
    multi_statements_ = option == 0;
    say(eof(status()));
  }

  ConversationOptions options_;
  Stage stage_ = Stage::kHandshake;
  InputBuffer in_;
  std::uint8_t sequence_ = 0;
  std::string scramble_, user_, application_;
  std::uint32_t capabilities_ = 0;
  bool multi_statements_ = false;
  std::unique_ptr<sql::Session> session_;
  std::map<std::uint32_t, Statement> statements_;
  std::uint32_t next_statement_ = 1;
};

}  // namespace

std::unique_ptr<Conversation> make_mysql(ConversationOptions options) {
  return std::make_unique<Mysql>(std::move(options));
}

}  // namespace cupel::wire
