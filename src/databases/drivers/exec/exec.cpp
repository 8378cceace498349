// exec: any database, through a client program that speaks JSON lines.
//
// One subprocess a session. A whole transaction goes in on one line, in the words
// of Jepsen's histories (docs/reference/formats/jepsen.md), and its outcome comes back on one:
//
//   {"value":[["append",3,7],["r",4,null]]}
//   {"type":"ok","value":[["append",3,7],["r",4,[1,2]]]}
//
// Once a line is sent the transaction may have committed, so whatever then goes
// wrong is unknown, unless the client itself says "fail". A client that did not
// answer, or not as expected, is ended: its next line could be the answer to
// anything. See docs/reference/drivers/exec.md.
#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>

#include "base/process.hpp"
#include "base/text/excerpt.hpp"
#include "base/text/json.hpp"
#include "databases/drivers/registry.hpp"

namespace cupel::drivers {

namespace {

using base::Process;
using base::Seconds;
using workload::Datum;
using workload::Reply;
using workload::Row;
using workload::Statement;
using workload::StatementKind;
using Json = nlohmann::json;
using Clock = std::chrono::steady_clock;

constexpr std::string_view kScheme = "exec:";
constexpr std::size_t kRowsALine = 500;  // that prepare() sends

std::string excerpt(std::string_view output) {
  return text::excerpt(output, text::kLongExcerpt);
}

Json json_of(const Datum& datum) {
  if (const auto* number = std::get_if<std::int64_t>(&datum)) return *number;
  if (const auto* text = std::get_if<std::string>(&datum)) return *text;
  return nullptr;
}

// What is neither null, integer nor text is recorded as its JSON text, not corrected.
Datum datum_of(const Json& json) {
  if (json.is_null()) return {};
  if (json.is_string()) return json.get<std::string>();
  if (json.is_number_unsigned() &&
      json.get<std::uint64_t>() >
          static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max())) {
    return text::dump(json);
  }
  if (json.is_number_integer()) return json.get<std::int64_t>();
  return text::dump(json);
}

// None: a statement that this driver cannot say.
std::optional<Json> operation_of(const Statement& statement) {
  if (statement.table != 0 || statement.key.size() != 1) return std::nullopt;
  for (const auto column : statement.columns) {
    if (column != 0) return std::nullopt;
  }
  const auto key = json_of(statement.key[0]);
  const auto value = [&](std::size_t i) { return json_of(statement.values.at(i)); };
  switch (statement.kind) {
    case StatementKind::kRead:
      return Json::array({"r", key, nullptr});
    case StatementKind::kWrite:
      return Json::array({"w", key, value(0)});
    case StatementKind::kInsert:
      return Json::array({"insert", key, value(0)});
    case StatementKind::kDelete:
      return Json::array({"delete", key, nullptr});
    case StatementKind::kAppend:
      return Json::array({"append", key, value(0)});
    case StatementKind::kRange:
      if (statement.high.size() != 1) return std::nullopt;
      return Json::array({"range", Json::array({key, json_of(statement.high[0])}), nullptr});
    case StatementKind::kCompareAndSet:
      return Json::array({"cas", key, Json::array({value(0), value(1)})});
  }
  return std::nullopt;
}

// Reads one answered operation; false: it does not answer `asked`.
bool read_reply(const Statement& statement, const Json& asked, const Json& answered, Reply& reply) {
  if (!answered.is_array() || answered.size() < 3 || answered.size() > 4 ||
      answered[0] != asked[0] || answered[1] != asked[1]) {
    return false;
  }
  const auto& value = answered[2];
  switch (statement.kind) {
    case StatementKind::kRead:
      if (value.is_array()) {
        for (const auto& element : value) reply.elements.push_back(datum_of(element));
      } else if (!value.is_null()) {
        reply.rows.push_back({statement.key, {datum_of(value)}});
      }
      return answered.size() == 3;
    case StatementKind::kRange:
      if (!value.is_array()) return false;
      for (const auto& row : value) {
        if (!row.is_array() || row.size() != 2) return false;
        reply.rows.push_back({{datum_of(row[0])}, {datum_of(row[1])}});
      }
      return answered.size() == 3;
    case StatementKind::kCompareAndSet:
      if (answered.size() == 4 && !answered[3].is_boolean()) return false;
      reply.succeeded = answered.size() == 3 || answered[3].get<bool>();
      return value == asked[2];
    case StatementKind::kDelete:
      return answered.size() == 3;  // a tombstone is allowed
    default:
      return answered.size() == 3 && value == asked[2];
  }
}

// A client may begin its words with the name of a cause: "constraint: key 3 is there".
Cause cause_in(const std::string& words, Cause otherwise) {
  for (const auto cause : {Cause::kConflict, Cause::kTimeout, Cause::kConnection,
                           Cause::kConstraint, Cause::kStatement, Cause::kGone}) {
    if (words.rfind(name(cause), 0) == 0) return cause;
  }
  return otherwise;
}

struct Client {
  std::string command;
  std::string isolation;
  Seconds timeout{10};
  std::string table = {};  // of this run; empty: before prepare()

  [[nodiscard]] base::Result<Process> start(const std::string& session) const {
    return Process::start({.arguments = {"sh", "-c", command},
                           .environment = {{"CUPEL_SESSION", session},
                                           {"CUPEL_ISOLATION", isolation},
                                           {"CUPEL_TABLE", table}},
                           .input = base::Stream::pipe(),
                           .output = base::Stream::pipe(),
                           .errors = base::Stream::inherited()});
  }
};

// A client that runs, asked line by line.
class Conversation {
 public:
  Conversation(const Client& client, Process process)
      : client_(client), process_(std::move(process)) {}

  // Sends the operations; `answer` is a JSON object of type ok whose value is an
  // array of as many elements.
  MaybeFailure ask(const Json& operations, Json& answer) {
    if (!process_)
      return lost(TxnOutcome::kAborted, Cause::kConnection, "the client was ended before");
    // Nothing is sent yet, so nothing can have happened.
    if (const auto line = process_->read_line(Seconds(0)); line.kind == base::Line::Kind::kLine) {
      ++lines_;
      return lost(
          TxnOutcome::kAborted, Cause::kStatement,
          fmt::format("line {} of the client's output answers nothing: found `{}`, expected "
                      "one line for each that it reads",
                      lines_, excerpt(line.text)));
    } else if (line.kind == base::Line::Kind::kEnd) {
      return lost(TxnOutcome::kAborted, Cause::kConnection, "the client " + end());
    }
    const auto deadline =
        Clock::now() + std::chrono::duration_cast<Clock::duration>(client_.timeout);
    const auto sent =
        process_->write_line(text::dump(Json{{"value", operations}}), client_.timeout);
    if (!sent.ok()) {
      const auto status = process_->wait(Seconds(1));
      return lost(TxnOutcome::kUnknown, Cause::kConnection,
                  status ? "the client " + status->to_string() + " and did not take a transaction"
                         : "the client did not take a transaction: " + sent.error().message);
    }
    const auto line = process_->read_line(std::max(Seconds(deadline - Clock::now()), Seconds(0)));
    switch (line.kind) {
      case base::Line::Kind::kLine:
        break;
      case base::Line::Kind::kTimeout:
        return lost(TxnOutcome::kUnknown, Cause::kTimeout,
                    fmt::format("the client did not answer in {} s", client_.timeout.count()));
      case base::Line::Kind::kEnd:
        return lost(TxnOutcome::kUnknown, Cause::kConnection,
                    "the client " + end() + " and did not answer");
      case base::Line::Kind::kTooLong:
        return lost(TxnOutcome::kUnknown, Cause::kStatement,
                    fmt::format("line {} of the client's output is longer than {} MiB", lines_ + 1,
                                base::kLongestLine >> 20));
    }
    ++lines_;
    answer = Json::parse(line.text, nullptr, false);
    const auto bad = [&](const char* expected) { return malformed(line.text, expected); };
    if (!answer.is_object()) return bad("a JSON object");
    const auto type = answer.find("type");
    if (type == answer.end() || (*type != "ok" && *type != "fail" && *type != "info")) {
      return bad("a `type` of \"ok\", \"fail\" or \"info\"");
    }
    if (*type == "ok") {
      const auto value = answer.find("value");
      if (value == answer.end() || !value->is_array() || value->size() != operations.size()) {
        return bad("a `value` with an operation for each that was asked");
      }
      return std::nullopt;
    }
    const bool failed = *type == "fail";
    const auto error = answer.find("error");
    const auto words = error == answer.end() ? std::string("the client gives no reason")
                       : error->is_string()  ? error->get<std::string>()
                                             : text::dump(*error);
    return Failure{.txn_outcome = failed ? TxnOutcome::kAborted : TxnOutcome::kUnknown,
                   .cause = cause_in(words, failed ? Cause::kConflict : Cause::kTimeout),
                   .code = type->get<std::string>(),
                   .message = words};
  }

  // Of the line that ask() read last.
  MaybeFailure malformed(const std::string& found, const std::string& expected) {
    return lost(TxnOutcome::kUnknown, Cause::kStatement,
                fmt::format("line {} of the client's output: found `{}`, expected {}", lines_,
                            excerpt(found), expected));
  }

  // The client is to end by itself now; at most so long.
  void finish() {
    if (!process_) return;
    process_->close_input();
    process_->wait(client_.timeout);
    process_.reset();
  }

 private:
  Failure lost(TxnOutcome txn_outcome, Cause cause, std::string message) {
    process_.reset();
    return {.txn_outcome = txn_outcome,
            .cause = cause,
            .code = {},
            .message = std::move(message),
            .connection_lost = true};
  }
  std::string end() {
    const auto status = process_->wait(Seconds(1));
    return status ? status->to_string() : "closed its output";
  }

  Client client_;
  std::optional<Process> process_;
  std::uint64_t lines_ = 0;  // that it wrote
};

class ExecConnection final : public Connection {
 public:
  explicit ExecConnection(Conversation conversation) : conversation_(std::move(conversation)) {}

  MaybeFailure begin() override { return refused(); }
  MaybeFailure execute(const Statement&, Reply&) override { return refused(); }
  MaybeFailure commit() override { return refused(); }
  void rollback() override {}

  MaybeFailure transact(std::span<const Statement> statements,
                        std::vector<Reply>& replies) override {
    replies.clear();
    Json operations = Json::array();
    for (const auto& statement : statements) {
      auto operation = operation_of(statement);
      if (!operation) {
        return Failure{.txn_outcome = TxnOutcome::kAborted,
                       .cause = Cause::kStatement,
                       .code = {},
                       .message = "the exec driver has one table, of one key and one column"};
      }
      operations.push_back(std::move(*operation));
    }
    Json answer;
    if (auto failure = conversation_.ask(operations, answer)) return failure;
    const auto& value = answer["value"];
    replies.resize(statements.size());
    for (std::size_t i = 0; i < statements.size(); ++i) {
      if (read_reply(statements[i], operations[i], value[i], replies[i])) continue;
      replies.clear();
      return conversation_.malformed(text::dump(value[i]),
                                     "an answer to " + excerpt(text::dump(operations[i])));
    }
    return std::nullopt;
  }

 private:
  static Failure refused() {
    return {.txn_outcome = TxnOutcome::kAborted,
            .cause = Cause::kStatement,
            .code = {},
            .message = "the exec driver runs whole transactions only"};
  }
  Conversation conversation_;
};

class ExecDatabase final : public Database {
 public:
  ExecDatabase(Client client, Facts facts) : client_(std::move(client)), facts_(std::move(facts)) {}

  [[nodiscard]] Facts facts() const override { return facts_; }
  [[nodiscard]] workload::Needs can() const override {
    return {
        .multiple = true, .ranges = true, .deletes = true, .lists = true, .compare_and_set = true};
  }

  base::Status prepare(const workload::Workload& workload) override {
    const auto& tables = workload.schema().tables;
    if (tables.size() != 1 || tables[0].key.size() != 1 || tables[0].columns.size() != 1) {
      return base::Error{.message =
                             "the exec driver has one table, of one key and one column, and "
                             "this workload needs more"};
    }
    client_.table = tables[0].name;
    auto process = client_.start("setup");
    if (!process.ok()) return std::move(process).error();
    Conversation conversation(client_, std::move(*process));
    const bool lists = tables[0].columns[0].type == workload::ColumnType::kList;
    MaybeFailure failure;
    Json operations = Json::array();
    const auto send = [&] {
      Json answer;
      if (!failure) failure = conversation.ask(operations, answer);
      operations.clear();
    };
    send();  // an empty one: it is ready, and its store empty
    workload.load([&](std::uint32_t, const Row& row) {
      if (std::holds_alternative<std::monostate>(row.values.at(0))) return;
      operations.push_back(
          {lists ? "append" : "w", json_of(row.key.at(0)), json_of(row.values[0])});
      if (operations.size() == kRowsALine) send();
    });
    if (!operations.empty()) send();
    if (failure) {
      return base::Error{.message = fmt::format("`{}` did not take the initial rows: {}",
                                                client_.command, failure->message)};
    }
    conversation.finish();
    return base::Ok{};
  }

  base::Result<std::unique_ptr<Connection>> connect(std::uint32_t session) override {
    auto process = client_.start(std::to_string(session));
    if (!process.ok()) return std::move(process).error();
    return std::unique_ptr<Connection>(
        std::make_unique<ExecConnection>(Conversation(client_, std::move(*process))));
  }

  // The store is the client's: it is asked, and whether it does anything is its own matter.
  void clean() override {
    if (client_.table.empty()) return;
    auto process = client_.start("clean");
    if (!process.ok()) return;
    Conversation conversation(client_, std::move(*process));
    Json answer;
    (void)conversation.ask(Json::array(), answer);
    conversation.finish();
    client_.table.clear();
  }

 private:
  Client client_;
  Facts facts_;
};

}  // namespace

base::Result<std::unique_ptr<Database>> open_exec(const std::string& url,
                                                  const OpenOptions& options) {
  Client client{.command = url.substr(kScheme.size()),
                .isolation = options.isolation,
                .timeout = Seconds(options.statement_timeout)};
  if (client.command.find_first_not_of(" \t") == std::string::npos) {
    return base::Error{.message = fmt::format("found `{}`, expected a command after exec:, as in "
                                              "`exec:python3 client.py`",
                                              url)};
  }
  auto process = client.start("probe");
  if (!process.ok()) return std::move(process).error();
  Conversation conversation(client, std::move(*process));
  Json answer;
  if (const auto failure = conversation.ask(Json::array(), answer)) {
    return base::Error{.message = fmt::format(
                           "`{}` does not answer an empty transaction as a client of cupel must "
                           "(docs/reference/drivers/exec.md): {}",
                           client.command, failure->message)};
  }
  conversation.finish();
  const auto said = [&](const char* field, const std::string& otherwise) {
    const auto found = answer.find(field);
    return found != answer.end() && found->is_string() && !found->get<std::string>().empty()
               ? found->get<std::string>()
               : otherwise;
  };
  Facts facts{.product = said("database", client.command),
              .version = said("version", "unknown"),
              .isolation = said("isolation", options.isolation),
              .detail = said("detail", "")};
  return std::unique_ptr<Database>(
      std::make_unique<ExecDatabase>(std::move(client), std::move(facts)));
}

}  // namespace cupel::drivers
