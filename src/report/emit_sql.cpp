// The scripts: see the header.
#include "report/emit_sql.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <vector>

#include "base/text.hpp"
#include "base/text/escape.hpp"
#include "base/visible.hpp"
#include "data/history/naming.hpp"
#include "data/history/text_order.hpp"
#include "engine/explain/why/words.hpp"
#include "engine/levels/spec.hpp"
#include "report/steps.hpp"

namespace cupel::report {

using explain::Counterexample;
using history::History;
using history::KeyId;
using history::OpId;
using history::OpKind;
using history::ScalarKind;
using history::ScalarView;
using history::SessionId;
using history::TxnId;
using history::TxnStatus;
using history::ValueId;

namespace {

constexpr std::string_view kTable = "cupel_example";

std::string lower(std::string_view text) {
  return base::to_lower(text, "-_", ' ');
}

// What may follow "--": one line.
std::string comment(std::string_view text) {
  return base::visible(text);
}

// Scalars as literals of one column: numbers if all are, else text in which different
// scalars differ.
class Column {
 public:
  Column(std::vector<ScalarView> scalars, bool text, Dialect dialect) : dialect_(dialect) {
    integers_ = !text && std::all_of(scalars.begin(), scalars.end(), [](const ScalarView& s) {
      return s.kind == ScalarKind::kInteger || s.kind == ScalarKind::kNull;
    });
    std::map<std::string, ScalarView> known;
    for (const auto& scalar : scalars) {
      const auto [it, fresh] = known.try_emplace(plain(scalar), scalar);
      quoted_ = quoted_ || (!fresh && !(it->second == scalar));
    }
  }
  [[nodiscard]] const char* type(bool key) const {
    if (integers_) return "bigint";
    return key && dialect_ == Dialect::kMysql ? "varchar(255)" : "text";
  }
  [[nodiscard]] std::string literal(ScalarView scalar) const {
    if (scalar.kind == ScalarKind::kNull) return "null";
    if (integers_) return std::to_string(scalar.integer);
    return sql_string(bare(scalar), dialect_);
  }
  // Without the quotes.
  [[nodiscard]] std::string bare(ScalarView scalar) const {
    return quoted_ ? history::shown(scalar) : plain(scalar);
  }

 private:
  // Without what no text column takes.
  static std::string plain(ScalarView scalar) {
    std::string text;
    for (const char c : text::as_utf8(scalar.to_string()))
      text += c == '\0' ? std::string("\\0") : std::string(1, c);
    return text;
  }

  Dialect dialect_;
  bool integers_ = false;
  bool quoted_ = false;
};

class Script {
 public:
  Script(const Emission& emission, const Counterexample& example)
      : emission_(emission),
        example_(example),
        history_(example.history),
        dialect_(dialect_of(emission.checked.history)),
        words_(history_, all()),
        lists_(has(OpKind::kAppend) || has(OpKind::kListRead)),
        keys_(key_scalars(), false, dialect_),
        values_(value_scalars(), lists_, dialect_) {}

  std::string text() {
    head();
    table();
    body();
    return std::move(out_);
  }

 private:
  [[nodiscard]] std::vector<TxnId> all() const {
    std::vector<TxnId> txns;
    for (std::size_t t = 0; t < history_.txn_count(); ++t) txns.emplace_back(t);
    return txns;
  }
  [[nodiscard]] bool has(OpKind kind) const {
    for (std::size_t op = 0; op < history_.op_count(); ++op) {
      if (history_.kind(OpId(op)) == kind) return true;
    }
    return false;
  }
  // Rows come and go: a key that was not written has none.
  [[nodiscard]] bool rows_come_and_go() const {
    return has(OpKind::kInsert) || has(OpKind::kDelete) || has(OpKind::kRangeRead);
  }
  [[nodiscard]] std::vector<ScalarView> key_scalars() const {
    std::vector<ScalarView> scalars;
    for (std::size_t k = 0; k < history_.key_count(); ++k)
      scalars.push_back(history_.key(KeyId(k)));
    for (std::size_t op = 0; op < history_.op_count(); ++op) {
      if (history_.kind(OpId(op)) != OpKind::kRangeRead) continue;
      const auto range = history_.range(history_.op(OpId(op)));
      for (const auto bound : {history_.value(range.low), history_.value(range.high)}) {
        if (!history::is_no_bound(bound)) scalars.push_back(bound);
      }
    }
    return scalars;
  }
  [[nodiscard]] std::vector<ScalarView> value_scalars() const {
    std::vector<ScalarView> scalars;
    const auto add = [&](ValueId value) {
      if (value.valid()) scalars.push_back(history_.value(value));
    };
    for (std::size_t k = 0; k < history_.key_count(); ++k) add(history_.initial_value(KeyId(k)));
    for (std::size_t o = 0; o < history_.op_count(); ++o) {
      const auto op = history_.op(OpId(o));
      if (op.kind == OpKind::kCompareAndSet) {
        add(history_.compare_and_set(op).expected);
        add(history_.compare_and_set(op).desired);
      } else {
        add(op.value);
      }
    }
    return scalars;
  }

  [[nodiscard]] std::string key(KeyId k) const { return keys_.literal(history_.key(k)); }
  [[nodiscard]] std::string value(ValueId v) const {
    return v.valid() ? values_.literal(history_.value(v)) : "null";
  }
  void line(const std::string& text) { out_ += text + "\n"; }
  void note(std::string_view text) { line("-- " + comment(text)); }

  // ---- what it is

  void head() {
    const auto& anomaly = example_.anomaly;
    note(title_of(anomaly) + ": " + sentence_of(anomaly));
    std::string found = fmt::format("Violates {}", levels::name(example_.level));
    if (const auto from = recorded_from(emission_.checked.history); !from.empty()) {
      found += "; recorded from " + from;
    }
    note(found + ".");
    if (!emission_.command.empty()) note("Found by: " + emission_.command);
    const auto steps = steps_of(history_, anomaly);
    const auto sessions = sessions_of(history_, steps);
    std::vector<std::string> who;
    for (const SessionId session : sessions) {
      std::vector<std::string> names;
      for (auto t = history_.session_begin(session); t != history_.session_end(session);
           t = TxnId(t.index() + 1)) {
        names.push_back(words_.name(t));
      }
      who.push_back(explain::enumerate(names));
    }
    std::string connections;
    for (const auto& one : who) connections += (connections.empty() ? "" : "; ") + one;
    note(fmt::format("{} connection{}, for: {}. Issue the lines in this order, each on the",
                     who.size(), who.size() == 1 ? "" : "s", connections));
    note("connection of the transaction that its comment names. A database that gives");
    note("the level waits, fails or returns other values at one of them.");
    line("");
  }

  void table() {
    line(fmt::format("create table {} (id {} primary key, value {});", kTable, keys_.type(true),
                     values_.type(false)));
    std::string rows;
    for (std::size_t k = 0; k < history_.key_count(); ++k) {
      const KeyId id(k);
      const auto initial = history_.initial_value(id);
      const bool absent = !initial.valid() || initial == history_.null_value();
      if (!used(id) || ((absent || history_.is_list(id)) && rows_come_and_go())) continue;
      rows += fmt::format("{}({}, {})", rows.empty() ? "" : ", ", key(id),
                          history_.is_list(id) ? "''" : value(initial));
    }
    if (!rows.empty()) line(fmt::format("insert into {} (id, value) values {};", kTable, rows));
    line("");
  }
  [[nodiscard]] bool used(KeyId k) const {
    for (std::size_t op = 0; op < history_.op_count(); ++op) {
      const auto one = history_.op(OpId(op));
      if (one.key == k) return true;
      if (one.kind != OpKind::kRangeRead) continue;
      for (const auto& entry : history_.range(one).entries) {
        if (entry.key == k) return true;
      }
    }
    return false;
  }

  // ---- the steps

  // The level's name in SQL: as recorded, else the one that promises what is violated.
  [[nodiscard]] std::string isolation() const {
    const auto& whole = emission_.checked.history;
    auto recorded = lower(whole.fact("isolation"));
    if (recorded.starts_with("snapshot")) recorded = "repeatable read";
    for (const char* name :
         {"read uncommitted", "read committed", "repeatable read", "serializable"}) {
      if (recorded == name) return recorded;
    }
    const auto& level = levels::spec_of(example_.level);
    if (level.visibility == levels::Visibility::kEarlierRead) return "read committed";
    const bool serial = level.visibility == levels::Visibility::kNone &&
                        level.nodes == levels::Nodes::kTransactions;
    return serial ? "serializable" : "repeatable read";
  }

  void begin(TxnId t) {
    const auto name = comment(words_.name(t));
    if (dialect_ == Dialect::kPostgres) {
      line(fmt::format("begin transaction isolation level {}; -- {}", isolation(), name));
      return;
    }
    if (emission_.checked.history.fact("settings").find("innodb_snapshot_isolation=ON") !=
        std::string::npos) {
      line(fmt::format("set session innodb_snapshot_isolation = on; -- {}", name));
    }
    line(fmt::format("set transaction isolation level {}; -- {}", isolation(), name));
    line(fmt::format("begin; -- {}", name));
  }

  [[nodiscard]] std::string where(KeyId k) const { return "where id = " + key(k); }
  // Of a range; empty if it has no bounds.
  [[nodiscard]] std::string where(ScalarView low, ScalarView high) const {
    if (history::is_no_bound(low) && history::is_no_bound(high)) return "";
    if (history::is_no_bound(low)) return " where id <= " + keys_.literal(high);
    if (history::is_no_bound(high)) return " where id >= " + keys_.literal(low);
    return fmt::format(" where id between {} and {}", keys_.literal(low), keys_.literal(high));
  }

  [[nodiscard]] std::string statement(OpId id) const {
    const auto op = history_.op(id);
    switch (op.kind) {
      case OpKind::kRead:
      case OpKind::kListRead:
        return fmt::format("select value from {} {};", kTable, where(op.key));
      case OpKind::kWrite:
        if (!rows_come_and_go()) {
          return fmt::format("update {} set value = {} {};", kTable, value(op.value),
                             where(op.key));
        }
        [[fallthrough]];
      case OpKind::kInsert: {
        const bool mysql = dialect_ == Dialect::kMysql;
        return fmt::format("insert into {} (id, value) values ({}, {}) {};", kTable, key(op.key),
                           value(op.value),
                           mysql ? "on duplicate key update value = values(value)"
                                 : "on conflict (id) do update set value = excluded.value");
      }
      case OpKind::kDelete:
        if (op.value.valid() && op.value != history_.null_value()) {  // a tombstone is a value
          return fmt::format("update {} set value = {} {};", kTable, value(op.value),
                             where(op.key));
        }
        return fmt::format("delete from {} {};", kTable, where(op.key));
      case OpKind::kAppend: {
        const auto element = sql_string(" " + values_.bare(history_.value(op.value)), dialect_);
        const bool mysql = dialect_ == Dialect::kMysql;
        if (rows_come_and_go()) {  // the first append inserts the row
          return fmt::format("insert into {} (id, value) values ({}, {}) {};", kTable, key(op.key),
                             element,
                             mysql ? "on duplicate key update value = concat(value, values(value))"
                                   : fmt::format("on conflict (id) do update set value = "
                                                 "{}.value || excluded.value",
                                                 kTable));
        }
        const auto more =
            mysql ? fmt::format("concat(value, {})", element) : fmt::format("value || {}", element);
        return fmt::format("update {} set value = {} {};", kTable, more, where(op.key));
      }
      case OpKind::kRangeRead: {
        const auto range = history_.range(op);
        return fmt::format("select id, value from {}{} order by id;", kTable,
                           where(history_.value(range.low), history_.value(range.high)));
      }
      case OpKind::kCompareAndSet: {
        const auto swap = history_.compare_and_set(op);
        const auto expected = value(swap.expected);
        return fmt::format("update {} set value = {} {} and value {} {};", kTable,
                           value(swap.desired), where(op.key), expected == "null" ? "is" : "=",
                           expected);
      }
    }
    return {};
  }

  // What the client saw, for the comment; empty for writes.
  [[nodiscard]] std::string seen(OpId id) const {
    const auto op = history_.op(id);
    switch (op.kind) {
      case OpKind::kRead:
        return op.value.valid() ? "saw " + words_.value(op.value) : "what it saw is not known";
      case OpKind::kListRead:
        return history_.list_known(op) ? "saw " + words_.seen(id, op.key)
                                       : "what it saw is not known";
      case OpKind::kRangeRead: {
        std::string rows;
        for (const auto& entry : history_.range(op).entries) {
          if (!rows.empty()) rows += ", ";
          rows += words_.key(entry.key) + " = " + words_.value(entry.value);
        }
        return "saw " + (rows.empty() ? "no row" : rows);
      }
      case OpKind::kCompareAndSet:
        return history_.compare_and_set(op).succeeded ? "changed 1 row" : "changed no row";
      default:
        return {};
    }
  }

  void body() {
    const auto steps = steps_of(history_, example_.anomaly);
    for (const Step& step : steps) {
      const auto name = words_.name(step.txn);
      switch (step.what) {
        case Step::What::kBegin:
          begin(step.txn);
          break;
        case Step::What::kOperation: {
          auto what_happened = name;
          if (const auto what = seen(step.op); !what.empty()) what_happened += ": " + what;
          if (!step.missed.empty())
            what_happened += ", although " + step.missed +
                             (step.missed_initial ? " was not overwritten yet" : " was committed");
          line(statement(step.op) + " -- " + comment(what_happened));
          break;
        }
        case Step::What::kEnd:
          switch (history_.status(step.txn)) {
            case TxnStatus::kCommitted:
              line("commit; -- " + comment(name));
              break;
            case TxnStatus::kAborted:
              line("rollback; -- " + comment(name));
              break;
            case TxnStatus::kIndeterminate:
              line("commit; -- " + comment(name) + ": its client did not learn the outcome");
              break;
          }
          break;
      }
    }
    line("");
    line(fmt::format("drop table {};", kTable));
  }

  const Emission& emission_;
  const Counterexample& example_;
  const History& history_;
  Dialect dialect_;
  explain::Words words_;
  bool lists_;
  Column keys_, values_;
  std::string out_;
};

}  // namespace

Dialect dialect_of(const History& history) {
  const auto database = lower(history.fact("database"));
  for (const char* name : {"mysql", "mariadb", "galera", "tidb", "percona"}) {
    if (database.find(name) != std::string::npos) return Dialect::kMysql;
  }
  return Dialect::kPostgres;
}

namespace {

// In hexadecimal, as MySQL takes every text: it has no escapes for most control characters.
std::string hexadecimal(std::string_view text) {
  std::string literal = "cast(x'";
  for (const char c : text) literal += fmt::format("{:02x}", static_cast<unsigned char>(c));
  return literal + "' as char)";
}

}  // namespace

// What base::visible() escapes would move the reader's cursor, and each dialect has its own
// escapes.
std::string sql_string(std::string_view text, Dialect dialect) {
  std::string body;
  bool escapes = false;
  const auto valid = text::as_utf8(text);
  for (std::string_view rest = valid; !rest.empty();) {
    const auto [length, plain] = base::first_character(rest);
    const auto character = rest.substr(0, length);
    rest.remove_prefix(length);
    if (character == "'") {
      body += "''";
    } else if (character == "\\") {
      body += "\\\\";
      escapes = true;
    } else if (plain) {
      body += character;
    } else if (const auto which = std::string_view("\n\r\t").find(character[0]); which < 3) {
      body += std::string("\\") + "nrt"[which];
      escapes = true;
    } else {
      if (dialect == Dialect::kMysql) return hexadecimal(valid);
      for (const char c : character)
        body += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
      escapes = true;
    }
  }
  return (escapes && dialect == Dialect::kPostgres ? "E'" : "'") + body + "'";
}

std::string emit_sql(const Emission& emission) {
  const Checked& checked = emission.checked;
  std::string text;
  std::map<std::string, std::size_t> without;  // how many have no script, by name
  for (const auto& finding : findings_of(checked)) {
    const auto& anomaly = finding.anomaly;
    if (finding.small == nullptr && without[anomaly.name]++ > 0) continue;
    if (!text.empty()) text += "\n";
    if (finding.small != nullptr) {
      text += Script(emission, *finding.small).text();
      continue;
    }
    text += "-- " +
            comment(title_of(anomaly) + " in " + checked.file +
                    " was not made small enough for a script: " + sentence_of(anomaly)) +
            "\n";
  }
  for (const auto& [name, number] : without) {
    if (number < 2) continue;
    text += fmt::format("\n-- Nor were {} more of {}.\n", grouped(number - 1), name);
  }
  if (!text.empty()) return text;
  return "-- " + comment("No counterexample in " + checked.file + ": " + verdict_of(checked)) +
         "\n";
}

}  // namespace cupel::report
