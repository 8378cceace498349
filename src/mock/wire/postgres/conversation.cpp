// PostgreSQL's protocol as a conversation: startup, simple and extended queries.
//
// What differs from PostgreSQL: a portal's rows are all made at its first Execute (a
// row limit cuts what is sent, not what is computed).
//
// Several Executes before a Sync are one transaction, as in PostgreSQL. A session
// knows no such thing, so the second one is expected by looking ahead: unless a Sync
// is the next thing in the buffer, a statement on data outside a transaction is
// preceded by a BEGIN of ours, and the Sync by the COMMIT.
#include "mock/wire/conversation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <vector>

#include "base/utf8.hpp"
#include "mock/wire/input_buffer.hpp"
#include "mock/wire/postgres/codec.hpp"
#include "mock/wire/postgres/values.hpp"
#include "mock/wire/statement_text.hpp"

namespace cupel::wire {

namespace {

using namespace postgres;
using sql::TransactionState;

constexpr std::size_t kMaxStatements = 4096, kMaxPortals = 256;

struct Statement {
  std::unique_ptr<sql::Prepared> prepared;  // none: an empty statement
  std::vector<Oid> types;
};

struct Portal {
  std::shared_ptr<const Statement> statement;
  std::vector<sql::Datum> values;
  std::vector<std::int16_t> formats;  // one a column, or none
  std::optional<sql::Result> result;
  std::size_t sent = 0;  // rows
};

bool touches_data(const std::string& command) {
  constexpr std::string_view kCommands[] = {"SELECT", "INSERT", "UPDATE", "DELETE"};
  return std::find(std::begin(kCommands), std::end(kCommands), command) != std::end(kCommands);
}

// What ends work on a message, and all until the next Sync.
struct Refusal {
  std::string sqlstate, message, detail = {};
  std::optional<std::uint32_t> position = {};
  sql::Violated violated = {};
};
Refusal refusal(sql::Error error) {
  return {std::move(error.sqlstate), std::move(error.message), std::move(error.detail),
          error.position, std::move(error.violated)};
}

class Postgres : public Conversation {
 public:
  explicit Postgres(ConversationOptions options) : options_(std::move(options)) {}

  void receive(std::string_view bytes) override {
    if (stage_ != Stage::kOver) in_.add(bytes);
  }

  bool advance() override {
    switch (stage_) {
      case Stage::kOpening:
        return advance_opening();
      case Stage::kPassword:
      case Stage::kOpen:
        return advance_message();
      case Stage::kOver:
        return false;
    }
    return false;
  }

  [[nodiscard]] bool open() const override { return stage_ == Stage::kOpen; }
  [[nodiscard]] bool over() const override { return stage_ == Stage::kOver; }

  void refuse(std::string_view sqlstate, std::string_view message) override {
    if (stage_ != Stage::kOver) fatal(sqlstate, message);
  }

 private:
  enum class Stage : std::uint8_t { kOpening, kPassword, kOpen, kOver };

  void fatal(std::string_view sqlstate, std::string_view message) {
    put_error(out_, {.severity = "FATAL", .sqlstate = sqlstate, .message = message});
    end();
  }
  void end() {
    stage_ = Stage::kOver;
    in_.clear();
    portals_.clear();
    statements_.clear();
    session_.reset();
  }

  bool advance_opening() {
    auto decoded = decode_opening(in_.bytes());
    using Kind = decltype(decoded)::Kind;
    if (decoded.kind == Kind::kIncomplete) return false;
    if (decoded.kind == Kind::kMalformed) {
      fatal("08P01", decoded.wrong);
      return true;
    }
    in_.drop(decoded.size);
    if (std::holds_alternative<EncryptionRequest>(decoded.message)) {
      // Once for SSL and once for GSS; who asks on and on is no client.
      if (++encryption_requests_ > 4)
        fatal("08P01", "too many requests for encryption, which is not supported");
      else
        out_ += 'N';
    } else if (const auto* unknown = std::get_if<UnknownVersion>(&decoded.message)) {
      fatal("0A000", fmt::format("unsupported frontend protocol {}.{}: server supports 3.0",
                                 unknown->major, unknown->minor));
    } else if (const auto* startup = std::get_if<Startup>(&decoded.message)) {
      start(*startup);
    } else {
      const auto& request = std::get<CancelRequest>(decoded.message);
      if (options_.cancel) options_.cancel(request.process, request.secret);
      end();  // it is not answered
    }
    return true;
  }

  void start(const Startup& startup) {
    std::vector<std::string> unknown;
    std::string application;
    for (const auto& [name, value] : startup.parameters) {
      if (name == "user") user_ = value;
      if (name == "application_name") application = value;
      if (name == "client_encoding") {
        std::string encoding;
        for (const char c : value)
          encoding += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
        std::erase_if(encoding,
                      [](char c) { return c == '-' || c == '_' || c == '\'' || c == '"'; });
        if (encoding != "utf8" && encoding != "unicode" && encoding != "sqlascii" &&
            encoding != "auto") {
          return fatal(
              "22023",
              fmt::format("found client_encoding `{}`, expected UTF8, the only one here", value));
        }
      }
      if (name == "replication" && value != "false" && value != "off" && value != "no" &&
          value != "0") {
        return fatal("0A000", "replication connections are not supported");
      }
      if (name.starts_with("_pq_.")) unknown.push_back(name);
      static constexpr std::string_view kNoSettings[] = {"user", "database", "replication",
                                                         "client_encoding"};
      const bool setting =
          !name.starts_with("_pq_.") &&
          std::find(std::begin(kNoSettings), std::end(kNoSettings), name) == std::end(kNoSettings);
      if (name == "options") {
        if (!add_options(value)) {
          return fatal("0A000",
                       fmt::format("found the options `{}`, expected -c NAME=VALUE", value));
        }
      } else if (setting) {
        settings_.emplace_back(name, value);
      }
    }
    if (user_.empty()) return fatal("28000", "no PostgreSQL user name specified in startup packet");
    // They come back in answers, and one is the session's name in the history.
    if (!base::valid_utf8(user_) || !base::valid_utf8(application)) {
      return fatal("22021",
                   fmt::format("found {} that is not UTF-8, expected text in UTF-8",
                               base::valid_utf8(user_) ? "an application_name" : "a user"));
    }
    if (startup.minor > 0 || !unknown.empty()) put_negotiate_version(out_, 0, unknown);
    application_ = application;
    if (options_.refusal) return fatal("53300", *options_.refusal);
    if (options_.password) {
      put_cleartext_password(out_);
      stage_ = Stage::kPassword;
    } else {
      let_in();
    }
  }

  // "-c name=value --name=value", with spaces after backslashes.
  bool add_options(std::string_view text) {
    std::vector<std::string> words(1);
    for (std::size_t at = 0; at < text.size(); ++at) {
      if (text[at] == '\\' && at + 1 < text.size()) {
        words.back() += text[++at];
      } else if (text[at] != ' ') {
        words.back() += text[at];
      } else if (!words.back().empty()) {
        words.emplace_back();
      }
    }
    for (std::size_t at = 0; at < words.size(); ++at) {
      std::string one = words[at];
      if (one.empty()) continue;
      if (one == "-c" && at + 1 < words.size()) {
        one = words[++at];
      } else if (one.starts_with("-c") || one.starts_with("--")) {
        one.erase(0, 2);
      } else {
        return false;
      }
      const auto equal = one.find('=');
      if (equal == one.npos || equal == 0) return false;
      auto name = one.substr(0, equal);
      std::replace(name.begin(), name.end(), '-', '_');
      settings_.emplace_back(std::move(name), one.substr(equal + 1));
    }
    return true;
  }

  // Settings that a client connects with. Drivers also send their time zone and the like: what is
  // not supported here causes a warning only. False: the connection was rejected.
  bool configure() {
    for (const auto& [name, value] : settings_) {
      const auto wrong = session_->configure(name, value);
      if (!wrong) continue;
      if (wrong->sqlstate != "0A000") {
        fatal(wrong->sqlstate, wrong->message);
        return false;
      }
      put_notice(out_,
                 {.severity = "WARNING", .sqlstate = wrong->sqlstate, .message = wrong->message});
    }
    return true;
  }

  void let_in() {
    session_ = options_.open(application_.empty() ? user_ : application_);
    if (!session_) return fatal("57P03", "the mock store is shutting down");
    session_->on_deallocate([this](std::optional<std::string_view> name) {
      if (!name) {
        std::erase_if(statements_, [](const auto& one) { return !one.first.empty(); });
        return true;
      }
      const auto found = name->empty() ? statements_.end() : statements_.find(*name);
      if (found == statements_.end()) return false;
      statements_.erase(found);
      return true;
    });
    put_authentication_ok(out_);
    if (!configure()) return;
    const std::pair<const char*, std::string> said[] = {{"server_version", "15.0 (cupel mock)"},
                                                        {"server_encoding", "UTF8"},
                                                        {"client_encoding", "UTF8"},
                                                        {"application_name", application_},
                                                        {"is_superuser", "off"},
                                                        {"session_authorization", user_},
                                                        {"DateStyle", "ISO, MDY"},
                                                        {"IntervalStyle", "postgres"},
                                                        {"TimeZone", "UTC"},
                                                        {"integer_datetimes", "on"},
                                                        {"standard_conforming_strings", "on"}};
    for (const auto& [name, value] : said) put_parameter_status(out_, name, value);
    put_key_data(out_, options_.number, static_cast<std::uint32_t>(options_.secret));
    put_ready(out_, 'I');
    stage_ = Stage::kOpen;
  }

  bool advance_message() {
    const auto decoded = decode(in_.bytes());
    using Kind = std::decay_t<decltype(decoded)>::Kind;
    if (decoded.kind == Kind::kIncomplete) return false;
    if (decoded.kind == Kind::kMalformed) {
      fatal("08P01", decoded.wrong);
      return true;
    }
    if (stage_ == Stage::kPassword) {
      const auto* password = std::get_if<Password>(&decoded.message);
      if (password == nullptr) {
        if (std::holds_alternative<Terminate>(decoded.message))
          end();
        else
          fatal("08P01", "expected a password");
      } else if (password->text != *options_.password) {
        fatal("28P01", fmt::format("password authentication failed for user \"{}\"", user_));
      } else {
        in_.drop(decoded.size);
        let_in();
      }
      return true;
    }
    following_ = in_.bytes().substr(decoded.size);
    if (!skipping_ || std::holds_alternative<Sync>(decoded.message) ||
        std::holds_alternative<Terminate>(decoded.message)) {
      try {
        std::visit([&](const auto& message) { on(message); }, decoded.message);
      } catch (const Refusal& refused) {  // thrown by this class alone
        say(refused);
        skipping_ = true;
      }
    }
    if (stage_ != Stage::kOver) in_.drop(decoded.size);
    return true;
  }

  void say(const Refusal& refused) {
    put_error(out_, {.sqlstate = refused.sqlstate,
                     .message = refused.message,
                     .detail = refused.detail,
                     .position = refused.position,
                     .table = refused.violated.table,
                     .column = refused.violated.column,
                     .constraint = refused.violated.constraint});
  }
  void send_notices(const sql::Result& result) {
    for (const auto& notice : result.notices) {
      put_notice(out_, {.severity = notice.warning ? "WARNING" : "NOTICE",
                        .sqlstate = notice.sqlstate,
                        .message = notice.message});
    }
  }
  void ready() {
    if (session_->state() == TransactionState::kIdle) portals_.clear();
    put_ready(out_, static_cast<char>(session_->state()));
  }

  // --- simple queries

  static std::vector<Field> fields_of(const std::vector<sql::Column>& columns,
                                      const std::vector<std::int16_t>& formats) {
    std::vector<Field> fields;
    for (std::size_t i = 0; i < columns.size(); ++i) {
      fields.push_back({.name = columns[i].name,
                        .type = oid_of(columns[i].type),
                        .size = size_of(columns[i].type),
                        .format = formats.empty() ? std::int16_t{0} : formats[i],
                        .modifier = columns[i].modifier,
                        .table = columns[i].table_id,
                        .number = columns[i].number});
    }
    return fields;
  }

  void on(const Query& query) {
    portals_.erase("");
    if (implicit_) {
      if (const auto failed = end_implicit()) {
        say(*failed);
        return ready();
      }
    }
    if (is_empty_statement(query.text)) {
      put_empty_query(out_);
      return ready();
    }
    const auto run = session_->run(query.text);
    for (const auto& result : run.results) {
      send_notices(result);
      if (result.has_rows) {
        put_row_description(out_, fields_of(result.columns, {}));
        for (const auto& row : result.rows) put_data_row(out_, row);
      }
      put_command_complete(out_, result.tag);
    }
    if (run.error) say(refusal(*run.error));
    ready();
  }

  // --- extended queries

  std::shared_ptr<const Statement> statement_of(std::string_view name) const {
    const auto found = statements_.find(name);
    if (found == statements_.end()) {
      throw Refusal{"26000", name.empty()
                                 ? "unnamed prepared statement does not exist"
                                 : fmt::format("prepared statement \"{}\" does not exist", name)};
    }
    return found->second;
  }
  Portal& portal_of(std::string_view name) {
    const auto found = portals_.find(name);
    if (found == portals_.end())
      throw Refusal{"34000", fmt::format("portal \"{}\" does not exist", name)};
    return found->second;
  }

  void on(const Parse& parse) {
    if (parse.name.empty()) {
      statements_.erase("");
    } else if (statements_.contains(parse.name)) {
      throw Refusal{"42P05", fmt::format("prepared statement \"{}\" already exists", parse.name)};
    } else if (statements_.size() >= kMaxStatements) {
      throw Refusal{"53400",
                    fmt::format("found {} prepared statements, expected no more; close some",
                                kMaxStatements)};
    }
    auto statement = std::make_shared<Statement>();
    if (!is_empty_statement(parse.text)) {
      std::vector<sql::Type> said_types;
      for (const Oid type : parse.types) said_types.push_back(type_of(type));
      auto prepared = session_->prepare(parse.text, said_types);
      if (auto* error = std::get_if<sql::Error>(&prepared)) throw refusal(std::move(*error));
      statement->prepared = std::move(std::get<0>(prepared));
      const auto& known = statement->prepared->types;
      for (std::size_t i = 0; i < known.size(); ++i) {
        const Oid said = i < parse.types.size() ? parse.types[i] : 0;
        statement->types.push_back(said != 0 ? said : oid_of(known[i]));
      }
    }
    statements_.insert_or_assign(std::string(parse.name), std::move(statement));
    put_parse_complete(out_);
  }

  void on(const Bind& bind) {
    auto statement = statement_of(bind.statement);
    Portal portal;
    if (bind.portal.empty()) {
      portals_.erase("");
    } else if (portals_.contains(bind.portal)) {
      throw Refusal{"42P03", fmt::format("cursor \"{}\" already exists", bind.portal)};
    } else if (portals_.size() >= kMaxPortals) {
      throw Refusal{
          "53400", fmt::format("found {} open portals, expected no more; close some", kMaxPortals)};
    }
    if (bind.values.size() != statement->types.size()) {
      throw Refusal{
          "08P01", fmt::format("bind message supplies {} parameters, but prepared statement \"{}\" "
                               "requires {}",
                               bind.values.size(), bind.statement, statement->types.size())};
    }
    const auto formats = [](const std::vector<std::int16_t>& given, std::size_t count,
                            const char* what) {
      if (given.size() > 1 && given.size() != count) {
        throw Refusal{"08P01", fmt::format("bind message has {} {} formats but {} {}s",
                                           given.size(), what, count, what)};
      }
      std::vector<std::int16_t> each(count, given.empty() ? std::int16_t{0} : given[0]);
      if (given.size() > 1) each = given;
      for (const auto format : each) {
        if (format != 0 && format != 1)
          throw Refusal{"22023", fmt::format("unsupported format code: {}", format)};
      }
      return each;
    };
    const auto given = formats(bind.formats, bind.values.size(), "parameter");
    for (std::size_t i = 0; i < bind.values.size(); ++i) {
      const auto& value = bind.values[i];
      if (!value) {
        portal.values.emplace_back();
      } else if (given[i] == 0) {
        portal.values.emplace_back(std::string(*value));
      } else {
        const Oid type = statement->types[i];
        if (!is_known(type)) {
          throw Refusal{"0A000",
                        fmt::format("a binary value of the type with oid {} (parameter ${}) is not "
                                    "supported by cupel's own SQL; send it as text, or take "
                                    "`--engine postgres`, which has all of PostgreSQL's",
                                    type, i + 1)};
        }
        portal.values.push_back(text_of_binary(type, *value));
        if (!portal.values.back()) {
          throw Refusal{"22P03", fmt::format("found {} bytes of parameter ${}, which are no binary "
                                             "value of the type with oid {}",
                                             value->size(), i + 1, type)};
        }
      }
    }
    const auto columns = statement->prepared ? statement->prepared->columns.size() : 0;
    // A statement without rows is often bound with one format for all of them.
    if (columns > 0 || bind.result_formats.size() > 1)
      portal.formats = formats(bind.result_formats, columns, "result column");
    portal.statement = std::move(statement);
    portals_.insert_or_assign(std::string(bind.portal), std::move(portal));
    put_bind_complete(out_);
  }

  void describe_rows(const Statement& statement, const std::vector<std::int16_t>& formats) {
    if (!statement.prepared || !statement.prepared->has_rows) return put_no_data(out_);
    put_row_description(out_, fields_of(statement.prepared->columns, formats));
  }

  void on(const Describe& describe) {
    if (describe.target == Target::kPortal) {
      const auto& portal = portal_of(describe.name);
      return describe_rows(*portal.statement, portal.formats);
    }
    const auto statement = statement_of(describe.name);
    put_parameter_description(out_, statement->types);
    describe_rows(*statement, {});
  }

  void on(const Execute& execute) {
    auto& portal = portal_of(execute.portal);
    const auto& statement = *portal.statement;
    if (!statement.prepared) return put_empty_query(out_);
    if (!portal.result) {
      portal.result = run(portal);
      const auto& described = statement.prepared->columns;
      if (portal.result->has_rows && described.size() != portal.result->columns.size()) {
        throw Refusal{"0A000", "cached plan must not change result type"};
      }
    } else if (!portal.result->has_rows) {
      throw Refusal{"55000", fmt::format("portal \"{}\" cannot be run", execute.portal)};
    }
    const auto& result = *portal.result;
    if (!result.has_rows) return put_command_complete(out_, result.tag);
    const auto left = result.rows.size() - portal.sent;
    const auto count = execute.rows == 0 ? left : std::min<std::size_t>(left, execute.rows);
    for (std::size_t i = 0; i < count; ++i) send_row(portal, result.rows[portal.sent + i]);
    portal.sent += count;
    // Full to the limit: whether there is more shows at the next Execute, as in PostgreSQL.
    if (execute.rows != 0 && count == execute.rows) return put_portal_suspended(out_);
    // "SELECT n" counts what this Execute gave.
    put_command_complete(
        out_, result.tag.starts_with("SELECT ") ? fmt::format("SELECT {}", count) : result.tag);
  }

  void send_row(const Portal& portal, const std::vector<sql::Datum>& row) {
    const auto binary = [](std::int16_t format) { return format == 1; };
    if (std::none_of(portal.formats.begin(), portal.formats.end(), binary))
      return put_data_row(out_, row);
    const auto& columns = portal.statement->prepared->columns;
    std::vector<sql::Datum> values = row;
    for (std::size_t i = 0; i < values.size() && i < columns.size(); ++i) {
      if (!values[i] || !binary(portal.formats[i])) continue;
      auto bytes = binary_of_text(columns[i].type, *values[i]);
      if (!bytes) {
        throw Refusal{
            "22P03",
            fmt::format("found `{}` in column \"{}\", which has no binary format of its type; "
                        "ask for text",
                        *values[i], columns[i].name)};
      }
      values[i] = std::move(bytes);
    }
    put_data_row(out_, values);
  }

  // The statement of a portal, in the transaction that it belongs to.
  sql::Result run(const Portal& portal) {
    const auto& command = portal.statement->prepared->command;
    const bool begins = implicit_ && (command == "BEGIN" || command.starts_with("START"));
    if (session_->state() == TransactionState::kIdle && touches_data(command) && !sync_is_next()) {
      auto begun = session_->run("BEGIN");
      if (begun.error) throw refusal(std::move(*begun.error));
      implicit_ = true;
    }
    auto result = session_->execute(*portal.statement->prepared, portal.values);
    if (session_->state() == TransactionState::kIdle) implicit_ = false;
    if (auto* error = std::get_if<sql::Error>(&result)) throw refusal(std::move(*error));
    if (begins) {
      // The block that is there becomes the client's, as in PostgreSQL; that is no warning.
      implicit_ = false;
      std::get<0>(result).notices.clear();
    }
    send_notices(std::get<0>(result));
    return std::get<0>(std::move(result));
  }

  [[nodiscard]] bool sync_is_next() const {
    const auto next = decode(following_);
    return next.kind == std::decay_t<decltype(next)>::Kind::kMessage &&
           std::holds_alternative<Sync>(next.message);
  }

  std::optional<Refusal> end_implicit() {
    implicit_ = false;
    const bool failed = skipping_ || session_->state() == TransactionState::kFailed;
    auto ended = session_->run(failed ? "ROLLBACK" : "COMMIT");
    if (ended.error) return refusal(std::move(*ended.error));
    return std::nullopt;
  }

  void on(const Close& close) {
    // Of what is not there: no error.
    if (close.target == Target::kPortal) {
      if (const auto found = portals_.find(close.name); found != portals_.end())
        portals_.erase(found);
    } else if (const auto found = statements_.find(close.name); found != statements_.end()) {
      statements_.erase(found);
    }
    put_close_complete(out_);
  }

  void on(const Flush& /*unused*/) {}  // all is sent as soon as it is said

  void on(const Sync& /*unused*/) {
    if (implicit_) {
      if (const auto failed = end_implicit()) say(*failed);
    }
    skipping_ = false;
    ready();
  }

  void on(const Terminate& /*unused*/) { end(); }
  void on(const Password& /*unused*/) { fatal("08P01", "found a password that was not asked for"); }
  void on(const CopyPart& /*unused*/) {
  }  // what is left of a COPY that was refused, as in PostgreSQL
  void on(const FunctionCall& /*unused*/) {
    say({"0A000", "function calls are not supported; send a query"});
    ready();
  }

  ConversationOptions options_;
  Stage stage_ = Stage::kOpening;
  InputBuffer in_;
  std::string_view following_;  // after the message that is worked on
  int encryption_requests_ = 0;
  std::string user_, application_;
  std::vector<std::pair<std::string, std::string>> settings_;  // asked for at the start
  std::unique_ptr<sql::Session> session_;
  std::map<std::string, std::shared_ptr<const Statement>, std::less<>> statements_;
  std::map<std::string, Portal, std::less<>> portals_;
  bool skipping_ = false;  // until the next Sync
  bool implicit_ = false;  // in a transaction that we began
};

}  // namespace

std::unique_ptr<Conversation> make_postgres(ConversationOptions options) {
  return std::make_unique<Postgres>(std::move(options));
}

}  // namespace cupel::wire
