// MySQL's protocol: one command at a time; see the header.
//
// A command is held if it runs a statement or ends a transaction. After an error the proxy asks the
// server by COM_PING whether a transaction is still open: errors do not say it, and a deadlock or a
// time-out may end one or not. COM_PING leaves the warnings of the session as they are.
#include <map>
#include <utility>

#include "base/text.hpp"
#include "mock/proxy/dialogue.hpp"
#include "mock/proxy/footprint.hpp"
#include "mock/proxy/mysql_text.hpp"
#include "mock/wire/bytes.hpp"
#include "mock/wire/mysql/codec.hpp"

namespace cupel::proxy {

namespace mysql = wire::mysql;

namespace {

class MysqlDialogue final : public Dialogue {
 public:
  explicit MysqlDialogue(const Options& options) : options_(options) {}

  bool from_client(Link& link) override {
    // The server speaks first.
    if (link.phase == Link::Phase::kStartup && !greeted_) return false;
    const auto bytes = link.client.in.bytes();
    mysql::Packet packet;
    mysql::decode_packet(bytes, kLongestPassed, packet);
    sequence_ = packet.sequence;
    if (packet.kind == mysql::Packet::Kind::kTooLong)
      refuse(link, "08S01", "a packet is too long for the proxy");
    if (packet.kind != mysql::Packet::Kind::kPacket) return false;
    const auto size = packet.size;
    const auto whole = bytes.substr(0, size);
    if (link.phase == Link::Phase::kStartup) {
      log_in(link, packet.payload);
    } else if (link.copying) {
      link.server.out += whole;
      // The end of a file.
      if (!authenticates_ && packet.payload.empty()) link.copying = false;
    } else {
      command(link, packet.payload, whole);
    }
    link.client.in.drop(size);
    return link.phase != Link::Phase::kClosing;
  }

  Step from_server(Link& link) override {
    const auto bytes = link.server.in.bytes();
    mysql::Packet packet;
    mysql::decode_packet(bytes, kLongestPassed, packet);
    if (packet.kind == mysql::Packet::Kind::kTooLong)
      refuse(link, "08S01", "the server's answer is too long for the proxy");
    if (packet.kind != mysql::Packet::Kind::kPacket) return Step::kIncomplete;
    const auto size = packet.size;
    auto step = Step::kPassed;
    if (!greeted_) {
      greet(link, packet.payload, bytes.substr(0, size));
    } else if (pings_) {
      pings_ = false;
      answer_.take(packet.payload);
      note_status(link);
      step = Step::kDone;
    } else if (link.phase == Link::Phase::kStartup) {
      mysql::put_packet(link.client.out, packet.payload, shifted(packet.sequence, -1));
      step = authenticated(link, packet.payload);
    } else {
      link.client.out += bytes.substr(0, size);
      if (authenticates_) {
        step = authenticated(link, packet.payload);
      } else if (link.running || !options_.holds) {
        step = answered(link, packet.payload);
      }
    }
    link.server.in.drop(size);
    return step;
  }

  [[nodiscard]] bool is_local(const Link& link) const override {
    const auto& batch = *link.waiting;
    const bool open = link.state != 'I';
    if (batch.end == mysql::kResetConnection || batch.end == mysql::kChangeUser)
      return !open && !link.keeps_locks;
    return batch.local ||
           (!batch.unreadable && concern_only_the_client(batch.requests, open, Dialect::kMysql));
  }

  bool sent(Link& link) override {
    start_answer(link, static_cast<std::uint8_t>(link.running->end));
    return !mysql::has_answer(static_cast<std::uint8_t>(link.running->end));
  }

  [[nodiscard]] Batch farewell() const override {
    Batch batch{.leaves = true, .end = mysql::kQuit};
    mysql::put_packet(batch.bytes, std::string(1, mysql::kQuit), 0);
    return batch;
  }

  void refuse(Link& link, std::string_view sqlstate, const std::string& message) override {
    say_error(link, {1105, std::string(sqlstate), message});
    link.phase = Link::Phase::kClosing;
    link.server.socket.reset();
  }

 private:
  void say_error(Link& link, const mysql::Failure& failure) const {
    const auto next = greeted_ ? sequence_ + 1 : 0;
    mysql::put_packet(link.client.out, mysql::error_payload(failure),
                      static_cast<std::uint8_t>(next));
  }

  // --- The first messages

  void greet(Link& link, std::string_view payload, std::string_view whole) {
    const auto greeting = mysql::decode_greeting(payload);
    greeted_ = true;
    std::string simple(payload);
    if (!greeting || !mysql::simplify_greeting(simple)) {  // an error
      link.client.out += whole;
      return;
    }
    link.backend = static_cast<std::int32_t>(greeting->connection);
    mysql::put_packet(link.client.out, simple, 0);
  }

  void log_in(Link& link, std::string_view payload) {
    if (logged_in_) {
      // What authentication asks for.
      return mysql::put_packet(link.server.out, payload, shifted(sequence_, 1));
    }
    logged_in_ = true;
    const auto login = mysql::decode_login(payload);
    if (!login || login->wants_ssl) {
      return refuse(link, "08S01",
                    login ? "the proxy of cupel has no TLS; connect without it"
                          : "the client's first message is not understood");
    }
    capabilities_ = login->capabilities;
    const auto user = login->user.empty() ? std::string("client") : login->user;
    link.wanted_name = login->program.empty() ? user : login->program;
    link.own_settings = login->user != options_.user;
    std::string text(payload);
    if (options_.tls) mysql::mark_tls(text);
    put(link.server.out, text, *login, shifted(sequence_, 1));
  }

  // The request for TLS was a packet, which the client does not know.
  [[nodiscard]] std::uint8_t shifted(std::uint8_t sequence, int by) const {
    return static_cast<std::uint8_t>(sequence + (options_.tls ? by : 0));
  }

  // With the other database.
  void put(std::string& out, std::string_view payload, const mysql::Login& login,
           std::uint8_t sequence) const {
    std::string text(payload);
    if (!login.database.empty() && login.database == options_.database_asked)
      text.replace(login.database_at, login.database.size(), options_.database_given);
    mysql::put_packet(out, text, sequence);
  }

  Step authenticated(Link& link, std::string_view payload) {
    const auto kind = payload.empty() ? '\1' : payload.front();
    if (kind != '\0' && kind != '\xff') return Step::kPassed;
    if (authenticates_) {
      authenticates_ = link.copying = false;
      link.state = 'I';
      statements_.clear();
      return Step::kDone;
    }
    if (kind == '\0') link.phase = Link::Phase::kReady;
    return Step::kPassed;
  }

  // --- Commands

  void command(Link& link, std::string_view payload, std::string_view whole) {
    if (payload.empty()) return refuse(link, "08S01", "an empty packet instead of a command");
    const auto code = static_cast<std::uint8_t>(payload.front());
    Batch batch{.bytes = std::string(whole), .end = static_cast<char>(code)};
    const auto body = payload.substr(1);
    switch (code) {
      case mysql::kQuit:
        batch.leaves = true;
        break;
      case mysql::kQuery:
        query(batch, body);
        break;
      case mysql::kExecute:
        execute(batch, body);
        break;
      case mysql::kResetConnection:
        batch.requests.push_back({.text = std::string(kResetConnectionText), .simple = true});
        break;
      case mysql::kChangeUser:
        change_user(batch, body);
        break;
      case mysql::kInitDatabase:
        batch.local = true;
        if (body == options_.database_asked && !body.empty()) {
          batch.bytes.clear();
          mysql::put_packet(batch.bytes, payload.substr(0, 1).data()[0] + options_.database_given,
                            sequence_);
        }
        break;
      case mysql::kSendLongData:
      case mysql::kCloseStatement:
        note_statement(code, body);
        link.server.out += whole;
        return;
      case mysql::kPrepare:
        prepared_text_ = body;
        [[fallthrough]];
      case mysql::kFieldList:
      case mysql::kStatistics:
      case mysql::kProcessInfo:
      case mysql::kDebug:
      case mysql::kPing:
      case mysql::kResetStatement:
      case mysql::kSetOption:
      case mysql::kFetch:
        batch.local = true;
        if (code == mysql::kResetStatement) note_statement(code, body);
        break;
      default:
        return say_error(link, {1047, "08S01", "the proxy of cupel does not know this command"});
    }
    if (refuses(link, batch)) return;
    if (options_.holds) {
      link.waiting = std::move(batch);
    } else {
      start_answer(link, code);
      link.server.out += batch.bytes;
    }
  }

  void query(Batch& batch, std::string_view text) {
    batch.requests.push_back({.text = std::string(text), .simple = true});
    take_modes(text);
    batch.unreadable = other_quotes_;
    if (options_.database_asked.empty() || !uses_database(text, options_.database_asked)) return;
    batch.bytes.clear();
    mysql::put_packet(batch.bytes,
                      static_cast<char>(mysql::kQuery) + std::string("USE ") +
                          mysql_identifier(options_.database_given),
                      sequence_);
  }

  // Of a statement that would touch the original.
  bool refuses(Link& link, const Batch& batch) {
    if (options_.database_asked.empty() || options_.database_asked == options_.database_given)
      return false;
    std::string_view text;
    if (batch.end == mysql::kPrepare) text = prepared_text_;
    if (batch.end == mysql::kQuery) text = batch.requests[0].text;
    if (!names_tables_of(text, options_.database_asked)) return false;
    say_error(link, {1105, "HY000",
                     "the statement names a table of the database " + options_.database_asked +
                         ", and the test has a copy of it; leave the database's name out, or use "
                         "cupel's option --in-place"});
    return true;
  }

  void take_modes(std::string_view text) {
    const auto lower = base::to_lower(text);
    if (lower.find("sql_mode") == std::string::npos) return;
    for (const auto* mode :
         {"ansi", "no_backslash_escapes", "db2", "maxdb", "oracle", "postgresql", "mssql"})
      other_quotes_ |= lower.find(mode) != std::string::npos;
  }

  struct Statement {
    std::string text;
    std::size_t parameters = 0;
    std::vector<mysql::ParameterType> types = {};
    std::vector<mysql::Cell> long_data = {};
    bool other_quotes = false;
  };

  void execute(Batch& batch, std::string_view body) {
    const auto head = mysql::decode_execute_head(body);
    // The number of the last one that was prepared (MariaDB).
    constexpr std::uint32_t kLast = 0xffffffff;
    const auto found = head ? statements_.find(head->statement == kLast ? last_ : head->statement)
                            : statements_.end();
    if (found == statements_.end()) {
      batch.unreadable = true;
      return;
    }
    auto& statement = found->second;
    batch.requests.push_back({.text = statement.text, .results = Request::Format::kBinary});
    auto values = mysql::decode_execute_values(body, statement.parameters, statement.types,
                                               statement.long_data);
    statement.long_data.clear();
    // Rows in portions: what a portion has read is not known.
    batch.unreadable = !values || head->cursor != 0 || statement.other_quotes;
    for (std::size_t i = 0; values && i < values->size(); ++i) {
      batch.requests.back().parameters.push_back(
          {.type = statement.types[i].type,
           .value = std::move((*values)[i]),
           .number = mysql::is_number(statement.types[i].type)});
    }
  }

  void note_statement(std::uint8_t code, std::string_view body) {
    wire::Reader in(body);
    const auto found = statements_.find(in.little<std::uint32_t>());
    if (found == statements_.end()) return;
    if (code == mysql::kCloseStatement) {
      statements_.erase(found);
      return;
    }
    auto& data = found->second.long_data;
    if (code == mysql::kResetStatement) return data.clear();
    const auto parameter = in.little<std::uint16_t>();
    if (in.failed() || parameter >= found->second.parameters) return;
    if (data.size() <= parameter) data.resize(parameter + std::size_t{1});
    data[parameter] = data[parameter].value_or("") + std::string(in.rest());
  }

  void change_user(Batch& batch, std::string_view body) const {
    batch.requests.push_back({.text = std::string(kResetConnectionText), .simple = true});
    const auto login = mysql::decode_change_user(body, capabilities_);
    if (!login) {
      batch.unreadable = true;
      return;
    }
    std::string out, payload;
    put(out, body, *login, 0);
    constexpr std::size_t kHeader = 4;
    payload = static_cast<char>(mysql::kChangeUser) + out.substr(kHeader);
    batch.bytes.clear();
    mysql::put_packet(batch.bytes, payload, sequence_);
  }

  // --- Answers

  void start_answer(Link& link, std::uint8_t code) {
    answer_ = mysql::Answer(code);
    binary_ = code == mysql::kExecute;
    columns_.clear();
    if (code != mysql::kChangeUser) return;
    authenticates_ = true;
    link.copying = options_.holds;
  }

  void note_status(Link& link) const {
    if (const auto status = answer_.status())
      link.state = (*status & mysql::kInTransaction) != 0 ? 'T' : 'I';
  }

  Step answered(Link& link, std::string_view payload) {
    using Part = mysql::Answer::Part;
    const auto part = answer_.take(payload);
    note_status(link);
    auto& answer = link.answer;
    switch (part) {
      case Part::kPrepared:
        if (const auto prepared = mysql::decode_prepared(payload)) {
          last_ = prepared->statement;
          statements_[prepared->statement] = {.text = prepared_text_,
                                              .parameters = prepared->parameters,
                                              .other_quotes = other_quotes_};
        }
        break;
      case Part::kFile:
        link.copying = options_.holds;
        break;
      case Part::kColumns:
        columns_.clear();
        break;
      case Part::kColumn:
        columns_.push_back(mysql::decode_column(payload).value_or(mysql::Column()));
        answer.columns.push_back({.name = columns_.back().name});
        break;
      case Part::kRow:
        if (!options_.holds || columns_.empty()) break;
        keep_row(
            link,
            binary_ ? mysql::decode_binary_row(payload, columns_) : mysql::decode_text_row(payload),
            payload.size());
        break;
      case Part::kOk: {
        wire::Reader rows(payload.substr(1));
        const auto few = rows.little<std::uint8_t>();  // or the first byte of a long number
        answer.tag = "OK " + std::to_string(few);
        break;
      }
      case Part::kError:
        // Then there is no last one.
        if (link.running && link.running->end == static_cast<char>(mysql::kPrepare)) last_ = 0;
        if (const auto failure = mysql::decode_error(payload)) {
          answer.code = std::to_string(failure->number);
          answer.message = failure->message;
        }
        break;
      default:
        break;
    }
    if (answer_.result_ended()) link.doing.answers.push_back(std::exchange(answer, {}));
    if (!answer_.ended()) return Step::kPassed;
    link.copying = false;
    if (part != Part::kError || !options_.holds) return Step::kDone;
    pings_ = true;
    answer_ = mysql::Answer(mysql::kPing);
    mysql::put_packet(link.server.out, std::string(1, mysql::kPing), 0);
    return Step::kPassed;
  }

  const Options options_;
  bool greeted_ = false, logged_in_ = false;
  bool authenticates_ = false;  // anew, by COM_CHANGE_USER
  bool pings_ = false;
  bool other_quotes_ = false;  // an SQL mode that changes what quotes and backslashes are
  std::uint8_t sequence_ = 0;  // of the client's last packet
  std::uint32_t capabilities_ = 0;
  std::string prepared_text_;  // of the statement that is being prepared
  std::map<std::uint32_t, Statement> statements_;
  std::uint32_t last_ = 0;
  mysql::Answer answer_;
  bool binary_ = false;
  std::vector<mysql::Column> columns_;
};

}  // namespace

std::unique_ptr<Dialogue> mysql_dialogue(const Dialogue::Options& options) {
  return std::make_unique<MysqlDialogue>(options);
}

}  // namespace cupel::proxy
