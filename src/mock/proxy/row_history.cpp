// First the versions of all rows, then what each SELECT depended on; see the header.
#include "mock/proxy/row_history.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <iterator>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <utility>

#include "data/history/builder.hpp"
#include "mock/proxy/sessions.hpp"

namespace cupel::proxy {

namespace {

using history::ScalarView;
using history::TxnStatus;
using nlohmann::json;

constexpr std::size_t kMostRowsAtEnd = 20'000;
constexpr std::chrono::seconds kEvaluating{20};  // of all SELECTs

struct RowKey {
  std::uint32_t table = 0;
  std::string key;  // "alice", "1, 2"
  auto operator<=>(const RowKey&) const = default;
};

// A state of a row. The labels tell apart versions with the same content.
struct Version {
  json row = nullptr;                               // null: it is not there
  std::string presence = {};                        // "present", "absent#2"
  std::map<std::string, std::string> columns = {};  // of the row: label by column
};
using State = std::map<RowKey, std::size_t>;  // the version of each row; not there: 0

struct Operation {
  bool writes = false;
  std::string key, value;
};

struct Transaction {
  std::string client;
  TxnStatus status = TxnStatus::kAborted;
  std::chrono::nanoseconds began{}, ended{};
  std::vector<Operation> operations = {};
  std::vector<std::size_t> executed = {};
};

// A SELECT, UPDATE or DELETE whose reads are still to be found.
struct Search {
  std::size_t transaction = 0, at = 0;  // before that operation
  Request request = {};                 // on the temporary tables
  const std::string* text_of_client = nullptr;
  const StatementText* text = nullptr;
  const Answer* answer = nullptr;
  State seen = {};
};

std::string text_of(const json& value) {
  return value.is_string() ? value.get<std::string>() : value.dump();
}

class Recording {
 public:
  Recording(const std::vector<Executed>& executed, const Rows& before, TestConnection& connection,
            Catalog catalog, Isolation level)
      : executed_(executed),
        connection_(connection),
        catalog_(std::move(catalog)),
        sessions_(level, catalog_.dialect) {
    for (const auto& [table, rows] : before) {
      recorded_.insert(table);
      for (const auto& row : rows) {
        const RowKey key{table, key_of(table, row)};
        committed_[key] = add_version(key, row);
      }
    }
    initial_ = committed_;
  }

  base::Result<RowHistory> run() && {
    for (const auto& one : executed_) follow(one);
    for (auto& [client, open] : open_) close(open, TxnStatus::kAborted, last_);
    compare_at_the_end();
    if (trouble_.empty()) {
      for (const auto& search : searches_) find_reads(search);
    }
    insert_reads();
    return build();
  }

 private:
  struct Open {
    std::optional<std::size_t> transaction;
    State own = {};
    std::optional<State> snapshot = {};
    bool unsure = false;  // which snapshot it has
    struct Savepoint {
      std::string name;
      State own;
      std::size_t operations = 0;
    };
    std::vector<Savepoint> savepoints = {};
  };

  // --- Versions

  [[nodiscard]] std::string key_of(std::uint32_t table, const json& row) const {
    std::string key;
    const auto facts = catalog_.tables.find(table);
    if (facts == catalog_.tables.end()) return key;
    for (const auto& column : facts->second.key) {
      key += (key.empty() ? "" : ", ") + text_of(row.value(column.name, json()));
    }
    return key;
  }
  [[nodiscard]] std::string name_of(const RowKey& key) const {
    const auto facts = catalog_.tables.find(key.table);
    return fmt::format("{}({})", facts == catalog_.tables.end() ? "?" : facts->second.name,
                       key.key);
  }
  std::string label(const std::string& key, const std::string& value) {
    const auto number = ++written_[key][value];
    return number == 1 ? value : fmt::format("{}#{}", value, number);
  }

  std::vector<Version>& versions_of(const RowKey& key) {
    auto& versions = versions_[key];
    if (versions.empty()) versions.push_back({.presence = label(name_of(key), "absent")});
    return versions;
  }

  // After `last`: what does not change keeps its label.
  std::size_t add_version(const RowKey& key, const json& row, std::size_t last = 0,
                          const std::set<std::string>& overwritten = {}) {
    auto& versions = versions_of(key);
    const auto before = versions[last];
    Version made{.row = row};
    const auto name = name_of(key);
    made.presence = row.is_null() == before.row.is_null()
                        ? before.presence
                        : label(name, row.is_null() ? "absent" : "present");
    for (const auto& [column, value] : row.items()) {
      const auto had = before.columns.find(column);
      made.columns[column] = had != before.columns.end() && before.row[column] == value &&
                                     !overwritten.contains(column)
                                 ? had->second
                                 : label(name + "." + column, text_of(value));
    }
    versions.push_back(std::move(made));
    return versions.size() - 1;
  }

  [[nodiscard]] static std::size_t version_in(const State& state, const RowKey& key) {
    const auto found = state.find(key);
    return found == state.end() ? 0 : found->second;
  }

  // --- What was executed

  void follow(const Executed& executed) {
    const auto followed = sessions_.follow(executed, catalog_);
    last_ = std::max(last_, executed.ended);
    auto& open = open_[executed.client];
    if (!open.transaction && (executed.before != 'I' || executed.after != 'I' ||
                              !concern_only_the_client(executed.requests, false, catalog_.dialect)))
      begin(open, executed);
    take_part(open, executed);
    if (is_mysql()) check_boundaries(executed);
    std::size_t at = 0;
    bool committed = true, said_end = false;
    const auto& answers = executed.answers;
    for (const auto& request : executed.requests) {
      const auto& texts = sessions_.read(request.text);
      for (std::size_t i = 0; i < texts.size() && at < answers.size(); ++i, ++at) {
        const auto& answer = answers[at];
        if (!answer.code.empty()) committed = false;
        if (texts[i].word == TransactionWord::kCommit ||
            texts[i].word == TransactionWord::kRollback) {
          // PostgreSQL answers ROLLBACK to the COMMIT of a transaction that failed.
          committed = texts[i].word == TransactionWord::kCommit && answer.code.empty() &&
                      answer.tag != "ROLLBACK";
          said_end = true;
        }
        if (texts[i].word == TransactionWord::kBegin && texts[i].commits_first &&
            executed.before != 'I') {
          close(open, TxnStatus::kCommitted, executed.ended);
          begin(open, executed);
          take_part(open, executed);
        }
        if (open.transaction)
          statement(open, {executed, request, texts[i], texts.size() == 1, answer, followed.level});
        if (said_end && open.transaction) {
          close(open, committed ? TxnStatus::kCommitted : TxnStatus::kAborted, executed.ended);
          said_end = false;
        }
      }
    }
    for (; at < answers.size(); ++at) {
      if (!answers[at].code.empty()) committed = false;
      if (open.transaction) write(open, answers[at]);
    }
    if (executed.unreadable && open.transaction)
      not_recorded_.push_back(
          fmt::format("a request of {}: it is not understood", executed.client));
    if (executed.left) committed = false;
    if (executed.after == 'I' && open.transaction)
      close(open, committed ? TxnStatus::kCommitted : TxnStatus::kAborted, executed.ended);
    if (executed.left) open_.erase(executed.client);
  }

  [[nodiscard]] bool is_mysql() const { return catalog_.dialect == Dialect::kMysql; }

  // MySQL: each statement of a text is a transaction of its own, unless one is open, and some
  // statements end it.
  void check_boundaries(const Executed& executed) {
    bool several = false, ends = executed.unreadable;
    for (const auto& request : executed.requests) {
      const auto& texts = sessions_.read(request.text);
      several |= texts.size() > 1;
      for (const auto& text : texts) {
        ends |=
            text.may_end_transactions || (texts.size() > 1 && text.word != TransactionWord::kNone);
      }
    }
    const bool writes = std::any_of(executed.answers.begin(), executed.answers.end(),
                                    [](const Answer& answer) { return !answer.recorded.empty(); });
    const bool stays_open = executed.before == 'T' && executed.after == 'T' && !ends;
    if (trouble_.empty() &&
        ((writes && several && !stays_open) || (ends && (writes || executed.before == 'T')))) {
      trouble_ =
          fmt::format("{} sent what may be several transactions at once: {}", executed.client,
                      executed.requests.empty() ? "?" : executed.requests[0].text);
    }
  }

  void begin(Open& open, const Executed& executed) {
    open = {};
    open.transaction = transactions_.size();
    transactions_.push_back({.client = executed.client, .began = executed.began});
  }

  void take_part(const Open& open, const Executed& executed) {
    if (!open.transaction) return;
    transactions_[*open.transaction].executed.push_back(
        static_cast<std::size_t>(&executed - executed_.data()));
  }

  void close(Open& open, TxnStatus status, std::chrono::nanoseconds ended) {
    if (!open.transaction) return;
    auto& transaction = transactions_[*open.transaction];
    transaction.status = status;
    transaction.ended = std::max(ended, transaction.began);
    if (status == TxnStatus::kCommitted) {
      for (const auto& [key, version] : open.own) committed_[key] = version;
    }
    open = {};
  }

  // A statement of a request that was executed, and its answer.
  struct Step {
    const Executed& executed;
    const Request& request;
    const StatementText& text;
    bool alone;  // in its request
    const Answer& answer;
    Isolation level;
  };

  void statement(Open& open, const Step& step) {
    const auto& text = step.text;
    const auto& answer = step.answer;
    const bool works = !text.local && text.word == TransactionWord::kNone;
    if (is_mysql()) {
      take_mysql_snapshot(open, step);
    } else if (works && step.level != Isolation::kReadCommitted && !open.snapshot) {
      open.snapshot = committed_;
      // While it waited, others may have committed; and not every statement takes a snapshot.
      open.unsure = step.executed.waited || text.unknown;
    }
    const bool searches = (text.reads_only && !text.tables.empty()) ||
                          (!is_mysql() && changed_table(text) != nullptr);
    if (searches && answer.code.empty()) search(open, step);
    write(open, answer, &text);
    savepoint(open, text, answer);
    if (searches) return;
    if (works && text.unknown && answer.code.empty())
      leave_out(step.request.text, "it may do more than read and write tables");
  }

  void take_mysql_snapshot(Open& open, const Step& step) {
    const auto& text = step.text;
    const bool works = !text.local && text.word == TransactionWord::kNone;
    if (open.snapshot || step.level < Isolation::kRepeatableRead) return;
    if (is_plain_select(text) || text.takes_snapshot) {
      open.snapshot = committed_;
      open.unsure |= text.unknown;
    } else if (works && (text.unknown || text.tables.size() > 1)) {
      open.unsure = true;  // a part of it may have taken one
    }
  }

  // What a SELECT saw, besides what its own transaction wrote.
  [[nodiscard]] State seen_by(const Open& open, const Step& step) const {
    if (!is_mysql()) {
      return open.snapshot && step.level != Isolation::kReadCommitted ? *open.snapshot : committed_;
    }
    const bool plain = is_plain_select(step.text);
    if (plain && step.level == Isolation::kRepeatableRead && open.snapshot) return *open.snapshot;
    auto seen = committed_;
    if (!plain || step.level != Isolation::kReadUncommitted) return seen;
    for (const auto& [client, other] : open_) {
      for (const auto& [key, version] : other.own) seen[key] = version;
    }
    return seen;
  }

  void leave_out(const std::string& text, const std::string& why) {
    not_recorded_.push_back(text + ": " + why);
  }

  void search(Open& open, const Step& step) {
    const auto& [executed, request, text, alone, answer, level] = step;
    const auto footprint = footprint_of(text, request.parameters, catalog_);
    std::string why;
    for (const auto& used : text.tables) {
      const auto* table = catalog_.find(used.schema, used.name);
      if (table != nullptr && !recorded_.contains(table->oid))
        why = fmt::format("the table {} has no primary key, or is not recorded", used.name);
    }
    if (footprint.unknown) why = "it may do more than read and write tables";
    if (executed.unreadable || !alone) why = "it is sent together with others";
    if (answer.rows_dropped) why = "its answer is too long";
    if (open.unsure && level >= Isolation::kRepeatableRead)
      why = "it is not known which snapshot its transaction has";
    const auto* changed = changed_table(text);
    // What it found before it waited is not read again, but for a row that it named.
    if (executed.waited && changed != nullptr && !names_rows(footprint, *changed))
      why = "it waited, and it does not name its rows by their key";
    if (executed.waited && (level == Isolation::kReadCommitted || is_mysql()) &&
        text.tables.size() > 1)
      why = "it waited, and reads several tables";
    if (request.results == Request::Format::kMixed) why = "its answer mixes text and binary values";
    if (!why.empty()) return leave_out(request.text, why);
    Search made{.transaction = *open.transaction,
                .at = transactions_[*open.transaction].operations.size(),
                .request = request,
                .text_of_client = &request.text,
                .text = &text,
                .answer = &answer,
                .seen = seen_by(open, step)};
    for (const auto& [key, version] : open.own) made.seen[key] = version;
    if (!is_mysql()) made.request.text = with_schema(request.text, text.schemas, "pg_temp");
    searches_.push_back(std::move(made));
  }

  [[nodiscard]] bool names_rows(const Footprint& footprint,
                                const StatementText::TableUse& used) const {
    const auto* table = catalog_.find(used.schema, used.name);
    return std::all_of(footprint.writes.begin(), footprint.writes.end(), [&](const Touch& touch) {
      return table != nullptr && (touch.table != table->oid || !touch.key.empty());
    });
  }

  void savepoint(Open& open, const StatementText& text, const Answer& answer) {
    if (!answer.code.empty()) return;
    auto& savepoints = open.savepoints;
    auto& operations = transactions_[*open.transaction].operations;
    if (text.word == TransactionWord::kSavepoint) {
      savepoints.push_back({text.savepoint, open.own, operations.size()});
      return;
    }
    if (text.word != TransactionWord::kRollbackTo && text.word != TransactionWord::kRelease) return;
    const auto found = std::find_if(savepoints.rbegin(), savepoints.rend(),
                                    [&](const auto& one) { return one.name == text.savepoint; });
    if (found == savepoints.rend()) {
      trouble_ = "a savepoint is not known";
      return;
    }
    const auto index = static_cast<std::size_t>(savepoints.rend() - found - 1);
    if (text.word == TransactionWord::kRelease) {
      savepoints.resize(index);
      return;
    }
    open.own = savepoints[index].own;
    // What was written since is undone: nobody sees it. SELECTs after it stand at its end.
    const auto kept = savepoints[index].operations;
    operations.resize(std::min(kept, operations.size()));
    for (auto& search : searches_) {
      if (search.transaction == *open.transaction) search.at = std::min(search.at, kept);
    }
    savepoints.resize(index + 1);
  }

  // `text`: of the statement that wrote, where it is known.
  void write(Open& open, const Answer& answer, const StatementText* text = nullptr) {
    for (const auto& recorded : answer.recorded) {
      const auto said = json::parse(recorded, nullptr, false);
      if (!said.is_object() || said.contains("truncated") || !said.contains("table")) {
        trouble_ = "a table was truncated";
        continue;
      }
      const auto table = said["table"].get<std::uint32_t>();
      const auto& before = said["old"];
      const auto& after = said["new"];
      const RowKey old_key{table, before.is_null() ? "" : key_of(table, before)};
      const RowKey new_key{table, after.is_null() ? "" : key_of(table, after)};
      if (!before.is_null()) {
        const auto last = current(open, old_key);
        if (versions_of(old_key)[last].row != before)
          trouble_ = fmt::format("{} was another row than expected", name_of(old_key));
        write_row(open, old_key, last,
                  after.is_null() || new_key != old_key ? json(nullptr) : after,
                  overwritten(text, table));
      }
      if (!after.is_null() && (before.is_null() || new_key != old_key))
        write_row(open, new_key, current(open, new_key), after);
    }
  }

  std::size_t current(const Open& open, const RowKey& key) {
    versions_of(key);
    return open.own.contains(key) ? open.own.at(key) : version_in(committed_, key);
  }

  // The columns that an UPDATE sets whatever they held: they are written even where that is what
  // they held before. Only of the table that it names; others change by foreign keys.
  [[nodiscard]] std::set<std::string> overwritten(const StatementText* text,
                                                  std::uint32_t table) const {
    if (text == nullptr) return {};
    const auto named = std::find_if(text->tables.begin(), text->tables.end(), [](const auto& used) {
      return used.use == StatementText::Use::kWrite;
    });
    if (named == text->tables.end()) return {};
    const auto* facts = catalog_.find(named->schema, named->name);
    const bool known = facts != nullptr && facts->oid == table && !facts->write_runs_more;
    return known ? text->overwritten : std::set<std::string>();
  }

  void write_row(Open& open, const RowKey& key, std::size_t last, const json& row,
                 const std::set<std::string>& overwritten = {}) {
    const auto before = versions_of(key)[last];
    const auto made = add_version(key, row, last, overwritten);
    open.own[key] = made;
    const auto& version = versions_of(key)[made];
    auto& operations = transactions_[*open.transaction].operations;
    const auto name = name_of(key);
    if (version.presence != before.presence) operations.push_back({true, name, version.presence});
    for (const auto& [column, value] : version.columns) {
      const auto had = before.columns.find(column);
      if (had == before.columns.end() || had->second != value)
        operations.push_back({true, name + "." + column, value});
    }
  }

  void compare_at_the_end() {
    Catalog recorded;
    for (const auto table : recorded_) recorded.tables[table] = catalog_.tables[table];
    const auto now = connection_.read_rows(recorded, kMostRowsAtEnd);
    if (!now.ok()) {
      if (trouble_.empty()) trouble_ = now.error().message;
      return;
    }
    for (const auto table : recorded_) {
      std::map<std::string, json> expected, found;
      for (const auto& [key, version] : committed_) {
        const auto& row = versions_of(key)[version].row;
        if (key.table == table && !row.is_null()) expected[key.key] = row;
      }
      const auto rows = now->find(table);
      if (rows == now->end()) continue;
      for (const auto& row : rows->second) found[key_of(table, row)] = row;
      if (expected != found && trouble_.empty()) {
        trouble_ = fmt::format("the table {} holds other rows than were seen to be written",
                               catalog_.tables.at(table).name);
      }
    }
  }

  // --- What a SELECT, UPDATE or DELETE depended on

  using Answers = TestConnection::Answers;
  using Tables = std::map<std::uint32_t, std::map<std::string, json>>;  // rows by key

  // What an UPDATE or DELETE did, as an answer.
  Answers effect_of(const Answer& answer, const TableFacts& table,
                    const std::set<std::string>& assigned) const {
    Answers effect;
    for (const auto& recorded : answer.recorded) {
      const auto said = json::parse(recorded, nullptr, false);
      if (!said.is_object() || said.value("table", 0U) != table.oid) continue;
      const auto& before = said["old"];
      const auto& after = said["new"];
      const auto old_key = before.is_null() ? "" : key_of(table.oid, before);
      const auto new_key = after.is_null() ? "" : key_of(table.oid, after);
      if (!before.is_null() && (after.is_null() || old_key != new_key))
        effect.push_back({"deleted", old_key});
      if (!after.is_null()) effect.push_back(written_row(table, after, assigned));
    }
    std::sort(effect.begin(), effect.end());
    return effect;
  }
  [[nodiscard]] std::vector<std::optional<std::string>> written_row(
      const TableFacts& table, const json& row, const std::set<std::string>& assigned) const {
    std::vector<std::optional<std::string>> cells{"written", key_of(table.oid, row)};
    for (const auto& column : assigned) cells.emplace_back(row.value(column, json()).dump());
    return cells;
  }

  void find_reads(const Search& search) {
    std::set<std::uint32_t> used;
    for (const auto& table : search.text->tables) {
      if (const auto* facts = catalog_.find(table.schema, table.name)) used.insert(facts->oid);
    }
    Tables seen;
    for (const auto table : used) seen[table];
    for (const auto& [key, version] : search.seen) {
      const auto& row = versions_of(key)[version].row;
      if (used.contains(key.table) && !row.is_null()) seen[key.table][key.key] = row;
    }
    for (const auto table : used) {
      if (!make_table(table))
        return leave_out(*search.text_of_client, "no temporary table can be made");
    }
    const auto* changed = changed_table(*search.text);
    auto expected = search.answer->rows;
    if (changed != nullptr) {
      expected = effect_of(*search.answer, *catalog_.find(changed->schema, changed->name),
                           search.text->assigned);
    }
    std::sort(expected.begin(), expected.end());
    for (const bool reversed : {false, true}) {
      const auto answer = evaluate(search, seen, reversed);
      if (!answer || *answer != expected) {
        return leave_out(*search.text_of_client,
                         changed == nullptr ? "its answer is not what the versions give"
                                            : "what it wrote is not what the versions give");
      }
    }
    for (auto& [key, versions] : versions_) {
      if (!used.contains(key.table) || versions.size() < 2) continue;
      if (!find_reads_of(search, seen, key, versions, expected)) return;
    }
  }

  // False: it took too long.
  bool find_reads_of(const Search& search, Tables& seen, const RowKey& key,
                     const std::vector<Version>& versions, const Answers& expected) {
    const auto& now = versions[version_in(search.seen, key)];
    auto& rows = seen[key.table];
    const auto name = name_of(key);
    const auto differs = [&](const json& row) {
      const auto kept = rows.find(key.key) == rows.end() ? json(nullptr) : rows[key.key];
      if (row.is_null()) {
        rows.erase(key.key);
      } else {
        rows[key.key] = row;
      }
      // Where the answer depends on the order of the rows, nothing is known.
      bool all = true;
      for (const bool reversed : {false, true}) {
        const auto answer = all ? evaluate(search, seen, reversed) : std::nullopt;
        all = answer && *answer != expected;
      }
      if (kept.is_null()) {
        rows.erase(key.key);
      } else {
        rows[key.key] = kept;
      }
      return all;
    };
    const auto too_long = [&] {
      if (std::chrono::steady_clock::now() - began_ < kEvaluating) return false;
      leave_out(*search.text_of_client, "it takes too long to find out what it read");
      return true;
    };
    std::set<std::string> tried;
    bool read = false;
    // The first version is that of a row that is not there, which this one may never have been.
    for (auto at = initial_.contains(key) ? 1U : 0U; at < versions.size(); ++at) {
      const auto& version = versions[at];
      if (read || version.row.is_null() == now.row.is_null()) continue;
      if (!tried.insert(version.row.dump()).second) continue;
      if (too_long()) return false;
      read = differs(version.row);
    }
    if (read) reads_[&search].push_back({false, name, now.presence});
    if (now.row.is_null()) return true;
    for (const auto& [column, label] : now.columns) {
      std::set<std::string> values{now.row[column].dump()};
      bool dependent = false;
      for (const auto& version : versions) {
        if (dependent || version.row.is_null() || !version.row.contains(column)) continue;
        if (!values.insert(version.row[column].dump()).second) continue;
        if (too_long()) return false;
        auto row = now.row;
        row[column] = version.row[column];
        dependent = differs(row);
      }
      if (dependent) reads_[&search].push_back({false, name + "." + column, label});
    }
    return true;
  }

  bool make_table(std::uint32_t oid) {
    if (made_.contains(oid)) return true;
    const bool made = connection_.make_table(catalog_.tables.at(oid));
    if (made) made_.insert(oid);
    return made;
  }

  // The answer on these rows, which are stored in the order of their keys or in the other one;
  // without an order of its own. None: an error.
  std::optional<Answers> evaluate(const Search& search, const Tables& tables, bool reversed) {
    for (const auto& [oid, rows] : tables) {
      std::vector<json> all;
      for (const auto& [key, row] : rows) all.push_back(row);
      if (reversed) std::reverse(all.begin(), all.end());
      if (!connection_.fill_table(catalog_.tables.at(oid), all)) return std::nullopt;
    }
    auto answer = std::optional<Answers>();
    if (const auto* changed = changed_table(*search.text)) {
      answer = effect(search, *catalog_.find(changed->schema, changed->name), tables);
    } else {
      answer = connection_.answer(search.request);
    }
    if (answer) std::sort(answer->begin(), answer->end());
    return answer;
  }

  std::optional<Answers> effect(const Search& search, const TableFacts& table,
                                const Tables& tables) {
    const auto after = connection_.change(search.request, table);
    if (!after) return std::nullopt;
    Answers effect;
    auto gone = tables.at(table.oid);
    for (std::size_t i = 0; i < after->rows.size(); ++i) {
      const auto& row = after->rows[i];
      gone.erase(key_of(table.oid, row));
      if (after->written[i]) effect.push_back(written_row(table, row, search.text->assigned));
    }
    for (const auto& [key, row] : gone) effect.push_back({"deleted", key});
    return effect;
  }

  // --- The history

  void insert_reads() {
    // The last first, so that the places of the others stay.
    for (auto search = searches_.rbegin(); search != searches_.rend(); ++search) {
      const auto found = reads_.find(&*search);
      if (found == reads_.end() || !trouble_.empty()) continue;
      auto& operations = transactions_[search->transaction].operations;
      const auto at =
          operations.begin() + static_cast<std::ptrdiff_t>(std::min(search->at, operations.size()));
      operations.insert(at, found->second.begin(), found->second.end());
    }
    // What nobody read, or nobody wrote, says nothing.
    std::set<std::string> read, written;
    for (const auto& transaction : transactions_) {
      for (const auto& operation : transaction.operations)
        (operation.writes ? written : read).insert(operation.key);
    }
    std::set_intersection(read.begin(), read.end(), written.begin(), written.end(),
                          std::inserter(keys_, keys_.end()));
    if (!trouble_.empty()) keys_.clear();
    for (auto& transaction : transactions_) {
      std::erase_if(transaction.operations,
                    [&](const Operation& operation) { return !keys_.contains(operation.key); });
    }
  }

  base::Result<RowHistory> build() {
    history::HistoryBuilder builder;
    for (const auto& [key, versions] : versions_) {
      const auto& first = versions[version_in(initial_, key)];
      const auto initial = [&](const std::string& name, const std::string& value) {
        if (keys_.contains(name))
          builder.set_initial(builder.key(ScalarView::of(name)),
                              builder.value(ScalarView::of(value)));
      };
      const auto name = name_of(key);
      initial(name, first.presence);
      for (const auto& [column, value] : first.columns) initial(name + "." + column, value);
    }
    // Numbered in the order of their ends; those of a session are in that order already.
    std::stable_sort(transactions_.begin(), transactions_.end(),
                     [](const auto& one, const auto& other) { return one.ended < other.ended; });
    std::uint32_t label = 0;
    std::vector<std::vector<std::size_t>> of_transactions;
    for (const auto& transaction : transactions_) {
      of_transactions.push_back(transaction.executed);
      builder.begin(builder.session(transaction.client), transaction.status,
                    {.invoke = transaction.began.count(),
                     .complete = transaction.ended.count(),
                     .label = label++});
      for (const auto& operation : transaction.operations) {
        const auto key = builder.key(ScalarView::of(operation.key));
        const auto value = builder.value(ScalarView::of(operation.value));
        if (operation.writes) {
          builder.write(key, value);
        } else {
          builder.read(key, value);
        }
      }
      builder.end();
    }
    auto history = std::move(builder).finish();
    if (!history.ok()) return std::move(history).error();
    return RowHistory{std::move(*history), std::move(of_transactions), std::move(not_recorded_),
                      std::move(trouble_)};
  }

  const std::vector<Executed>& executed_;
  TestConnection& connection_;
  Catalog catalog_;
  Sessions sessions_;
  std::set<std::uint32_t> recorded_;  // tables
  std::map<RowKey, std::vector<Version>> versions_;
  std::map<std::string, std::map<std::string, int>> written_;  // how often a key got a value
  State committed_, initial_;
  std::chrono::nanoseconds last_{};  // when the last statement ended
  std::map<std::string, Open> open_;
  std::vector<Transaction> transactions_;
  std::vector<Search> searches_;
  std::map<const Search*, std::vector<Operation>> reads_;
  std::set<std::string> keys_;    // of the history
  std::set<std::uint32_t> made_;  // temporary tables
  const std::chrono::steady_clock::time_point began_ = std::chrono::steady_clock::now();
  std::vector<std::string> not_recorded_;
  std::string trouble_;  // why nothing is recorded
};

}  // namespace

base::Result<RowHistory> record_rows(const std::vector<Executed>& executed, const Rows& before,
                                     TestConnection& connection) {
  auto catalog = connection.read_catalog();
  if (!catalog.ok()) return std::move(catalog).error();
  const auto level = connection.read_default_level();
  if (!level.ok()) return level.error();
  return Recording(executed, before, connection, std::move(*catalog), *level).run();
}

}  // namespace cupel::proxy
