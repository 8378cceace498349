// Reader: parses a line into a JSON value, and the value into an operation of the type.
#include "crdt/io/reader.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>

#include "base/budget.hpp"
#include "base/hash_table.hpp"
#include "crdt/io/context_reader.hpp"
#include "crdt/io/context_writer.hpp"
#include "crdt/io/edn.hpp"
#include "crdt/io/flat_line.hpp"
#include "crdt/model/replicated_type.hpp"
#include "crdt/model/times.hpp"
#include "text/json.hpp"

namespace cupel::crdt {

namespace {

using Json = nlohmann::json;

// A number and the text of its digits are two keys: such a text keeps its quotes.
std::string key_name(const Json& key) {
  if (!key.is_string()) return text::dump(key);
  const auto& text = key.get_ref<const std::string&>();
  const auto digits = text.find_first_not_of("0123456789", text.starts_with('-') ? 1 : 0);
  const bool ambiguous = text.starts_with('"') || (!text.empty() && digits == std::string::npos);
  return ambiguous ? text::dump(key) : text;
}

class Reader {
 public:
  Reader(const std::string& file, NamedType type)
      : file_(file), named_(type), type_(replicated_type(type.type)) {
    history_.type = type.type;
  }

  base::Result<History> all(std::string_view bytes) {
    for (std::size_t at = 0; at < bytes.size();) {
      auto end = bytes.find('\n', at);
      if (end == std::string_view::npos) end = bytes.size();
      ++line_;
      if (auto done = one(bytes.substr(at, end - at)); !done.ok()) return done.error();
      at = end + 1;
    }
    if (history_.ops.size() > 0xfffffff0 || history_.lists.size() > 0xfffffff0)
      return error("found more than 4 billion operations or values");
    for (auto& [process, open] : open_) {
      if (auto done = unknown(open); !done.ok()) return done.error();
    }
    if (auto wrong = context_.resolve()) return error(std::move(wrong->message), wrong->line);
    spread_times(history_);
    if (history_.indeterminate.empty()) return std::move(history_);
    if (history_.context.is_known()) leave_context_out();
    return type_.without_impossible(std::move(history_));
  }

 private:
  [[nodiscard]] base::Error error(std::string message, std::uint64_t line = 0) const {
    return {.message = std::move(message), .file = file_, .line = line == 0 ? line_ : line};
  }

  base::Status one(std::string_view text) {
    while (!text.empty() && (text.back() == '\r' || text.back() == ' ' || text.back() == '\t'))
      text.remove_suffix(1);
    while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
    if (text.empty() || text.front() == ';') return base::Ok{};
    const base::AllocationWatch::Deferral deferral;  // JSON's destructors allocate
    if (const auto flat = flat_line(text)) {
      if (auto done = take(*flat)) return *done;
    }
    Json op;
    // JSON has a string or the end after its first bracket, EDN a keyword.
    const auto second = text.find_first_not_of(" \t", 1);
    const bool json = text.front() == '{' && second != std::string_view::npos &&
                      (text[second] == '"' || text[second] == '}');
    if (json) {
      if (auto reason = text::beyond_bounds(text)) return error(std::move(*reason));
      op = Json::parse(text, nullptr, false);
      if (op.is_discarded())
        return error(
            "found a line that is no JSON object, expected an operation such as "
            "{\"process\":1,\"f\":\"read\",\"value\":[]}");
    } else {
      auto parsed = parse_edn(text);
      if (!parsed.ok()) {
        return error(parsed.error().message);
      }
      op = std::move(parsed).value();
    }
    if (!op.is_object())
      return error(
          fmt::format("found {}, expected an operation: an object with process, f and value",
                      text::dump_excerpt(op)));
    return outcome(op);
  }

  // An operation that happened, or a delivery. Nothing: it is something else.
  std::optional<base::Status> take(const FlatLine& flat) {
    if (!open_.empty() || flat.process.empty() || !flat.f.starts_with('"')) return std::nullopt;
    const bool is_name = flat.process.starts_with('"');
    if (flat.process == "\"nemesis\"" || (!is_name && !is_number(flat.process)))
      return std::nullopt;
    const auto method = flat_text(flat.f);
    if (method == "deliver" && flat.value.starts_with('[') && flat.key.empty()) {
      const auto ids = flat_values(flat.value);
      const bool names = std::all_of(ids.begin(), ids.end(),
                                     [](std::string_view id) { return id.starts_with('"'); });
      if (!names) return std::nullopt;
      context_.deliver(std::string(flat.process), ids, line_);
      return base::Ok{};
    }
    if (ContextReader::is_context(method)) return std::nullopt;
    Operation made{.line = line_};
    if (!flat.time.empty()) {
      if (!is_number(flat.time)) return std::nullopt;
      made.time = made.begun = made.ended = flat_json(flat.time).get<std::int64_t>();
    }
    static const Json kNoFields = Json::object();
    const Json key = flat.key.empty() ? Json("x") : flat_json(flat.key),
               value = flat_json(flat.value);
    return operation({.method = method,
                      .process = std::string(flat.process),
                      .key = key,
                      .value = value,
                      .fields = kNoFields},
                     made, false);
  }
  static bool is_number(std::string_view token) {
    return token.front() == '-' || (token.front() >= '0' && token.front() <= '9');
  }

  struct Open {
    Json op;
    std::uint64_t line;
  };

  // Nobody can say who saw an update of unknown outcome, its own replica included.
  void leave_context_out() {
    const auto& first = history_.by_replica[history_.indeterminate[0]];
    history_.context = {};
    history_.context.unknown_outcome_line = history_.ops[first[0]].line;
  }

  base::Status outcome(const Json& op) {
    const auto type = op.find("type");
    const auto method = op.find("f");
    if (method != op.end() && *method == "delivery") return context_line(op);
    if (!op.contains("process"))
      return error(
          "found an operation without `process`, expected the replica that it was asked of");
    const Json& process = op["process"];
    if (process == "nemesis") return base::Ok{};
    if (!process.is_string() && !process.is_number_integer())
      return error(fmt::format("found the process {}, expected a number or a string",
                               text::dump_excerpt(process)));
    if (method != op.end() && method->is_string() &&
        ContextReader::is_context(method->get_ref<const std::string&>()))
      return context_line(op);
    if (type == op.end()) return operation(op, false, line_, time_of(op));
    if (!type->is_string())
      return error(fmt::format("found the type {}, expected invoke, ok, fail or info",
                               text::dump_excerpt(*type)));
    const auto& word = type->get_ref<const std::string&>();
    const std::string name = text::dump(process);
    const auto open = open_.find(name);
    if (word == "invoke") {
      if (open != open_.end())
        return error(fmt::format("process {} begins an operation while that of line {} is open",
                                 name, open->second.line));
      open_.emplace(name, Open{op, line_});
      return base::Ok{};
    }
    if (word == "ok" || word == "fail" || word == "info") {
      if (open == open_.end()) {
        // What is known of an operation without an invocation: it may have happened, or it
        // did not.
        if (word == "ok")
          return error(fmt::format(
              "found an ok of process {} without its invocation, expected an `invoke` before it; "
              "operations that happened may also stand without `type`",
              name));
        return word == "fail" ? base::Status(base::Ok{}) : operation(op, true, line_);
      }
      const Open begun = std::move(open->second);
      open_.erase(open);
      return completed(op, begun, word);
    }
    return error(fmt::format("found the type \"{}\", expected invoke, ok, fail or info", word));
  }

  base::Status context_line(const Json& op) {
    if (op.contains("process")) {
      if (const auto open = open_.find(text::dump(op["process"])); open != open_.end())
        return error(fmt::format(
            "found {} of process {} while its operation of line {} is open, expected it before or "
            "after the operation",
            text::dump(op["f"]), text::dump(op["process"]), open->second.line));
    }
    if (auto wrong = context_.line(op, line_)) return error(std::move(*wrong));
    return base::Ok{};
  }

  // Fields that the completion lacks are those of the invocation.
  base::Status completed(const Json& op, const Open& begun, const std::string& word) {
    for (const char* const field : {"f", "key"}) {
      if (!op.contains(field) || !begun.op.contains(field) || op[field] == begun.op[field])
        continue;
      return error(
          fmt::format("found the completion ({}) with the `{}` {}, but line {}, which it completes "
                      "for process {}, has {}; expected the same",
                      word, field, text::dump_excerpt(op[field]), begun.line,
                      text::dump(op["process"]), text::dump_excerpt(begun.op[field])));
    }
    if (word == "fail") return base::Ok{};
    const auto invoked = time_of(begun.op);
    if (word == "info") return operation(begun.op, true, line_, invoked);
    Json whole = op;
    for (const char* const field : {"f", "key", "id", "seen"}) {
      if (!whole.contains(field) && begun.op.contains(field)) whole[field] = begun.op[field];
    }
    const bool read = whole.contains("f") && (whole["f"] == "read" || whole["f"] == "contains");
    if (!read && begun.op.contains("value") &&
        (!whole.contains("value") || whole["value"].is_null()))
      whole["value"] = begun.op["value"];
    return operation(whole, false, line_, invoked);
  }

  base::Status unknown(const Open& open) {
    const base::AllocationWatch::Deferral deferral;  // JSON's destructors allocate
    return operation(open.op, true, open.line, time_of(open.op));
  }

  static std::optional<std::int64_t> time_of(const Json& op) {
    const auto time = op.find("time");
    if (time == op.end() || !time->is_number_integer()) return std::nullopt;
    return time->get<std::int64_t>();
  }

  base::Status operation(const Json& op, bool indeterminate, std::uint64_t line,
                         std::optional<std::int64_t> invoked = {}) {
    const auto f = op.find("f");
    if (f == op.end() || !f->is_string())
      return error("found an operation without `f`, expected the name of a method", line);
    Operation made;
    made.line = line;
    if (const auto time = time_of(op); time && !indeterminate) {
      made.time = time;
      made.ended = *time;
    }
    made.begun = invoked.value_or(kAlways);
    static const Json kDefaultKey = "x", kNoValue;
    const auto key = op.find("key"), value = op.find("value");
    return operation({.method = f->get_ref<const std::string&>(),
                      .process = text::dump(op["process"]),
                      .key = key == op.end() ? kDefaultKey : *key,
                      .value = value == op.end() ? kNoValue : *value,
                      .fields = op},
                     made, indeterminate);
  }

  // An operation as the line has it; `fields` may have `id` and `seen`.
  struct LineCall {
    std::string_view method;
    std::string process;
    const Json& key;
    const Json& value;
    const Json& fields;
  };

  base::Status operation(const LineCall& line_call, Operation made, bool indeterminate) {
    const auto line = made.line;
    const Json& key = line_call.key;
    if (!key.is_string() && !key.is_number_integer())
      return error(
          fmt::format("found the key {}, expected a number or a string", text::dump_excerpt(key)),
          line);
    made.key = history_.key(key_name(key));
    std::vector<std::uint32_t> list;
    const ParsedCall call{.method = line_call.method,
                          .value = line_call.value,
                          .indeterminate = indeterminate,
                          .grow_only = named_.grow_only,
                          .history = history_,
                          .op = made,
                          .list = list};
    if (auto wrong = type_.parse(call)) return error(std::move(*wrong), line);
    if (indeterminate) {
      if (is_read(made.kind)) return base::Ok{};
      made.replica = history_.replica(fmt::format("{}?{}", line_call.process, line));
      history_.indeterminate.push_back(made.replica);
    } else {
      made.replica = history_.replica(line_call.process);
    }
    auto wrong = context_.seen(line_call.fields, made);
    const OpId id = history_.add(made, list);
    if (made.kind == Kind::kInsert) {
      for (const auto e : history_.changed(history_.ops[id])) {
        if (inserted_.insert(e).second) continue;
        return error(fmt::format("found a second {} of {}, expected each character to be added "
                                 "once; {}",
                                 history_.method(made), history_.element_text(e),
                                 made.list_begin == made.list_end
                                     ? "tag them with the replica and a number"
                                     : "docs/crdt.md#text says how texts repeat characters"),
                     line);
      }
    }
    if (!wrong && !is_read(made.kind)) wrong = context_.id(line_call.fields, id);
    if (wrong) return error(std::move(*wrong), line);
    return base::Ok{};
  }

  std::string file_;
  NamedType named_;
  const ReplicatedType& type_;
  History history_;
  ContextReader context_{history_};
  std::uint64_t line_ = 0;
  std::map<std::string, Open> open_;  // by process
  base::HashSet<std::uint32_t> inserted_;
};

std::string edn_of(const Json& value) {
  if (value.is_null()) return "nil";
  if (value.is_array()) {
    std::string text = "[";
    for (const Json& v : value) text += (text.size() > 1 ? " " : "") + edn_of(v);
    return text + "]";
  }
  if (value.is_object()) {
    std::string text = "{";
    for (const auto& [k, v] : value.items())
      text += (text.size() > 1 ? ", " : "") + text::quoted(k) + " " + edn_of(v);
    return text + "}";
  }
  return text::dump(value);
}

}  // namespace

base::Result<History> read(std::string_view bytes, const std::string& file, NamedType type) {
  auto reader = std::make_unique<Reader>(file, type);
  auto history = reader->all(bytes);
  const base::AllocationWatch::Deferral deferral;  // JSON's destructors allocate
  reader.reset();
  return history;
}

std::string write(const History& history, OpId id, bool edn) {
  const base::AllocationWatch::Deferral deferral;  // JSON's destructors allocate
  const Operation& op = history.ops[id];
  const Json value = replicated_type(history).value(history, op);
  const bool unknown = std::find(history.indeterminate.begin(), history.indeterminate.end(),
                                 op.replica) != history.indeterminate.end();
  std::string process = history.replicas[op.replica];
  if (unknown) process = process.substr(0, process.rfind('?'));
  const bool has_value = !value.is_null() || is_read(op.kind);
  if (edn) {
    return fmt::format("{{{}:process {}, :f :{}, :key {}{}{}}}", unknown ? ":type :info, " : "",
                       process, history.method(op), history.key_json(op.key),
                       has_value ? ", :value " + edn_of(value) : "",
                       op.time ? fmt::format(", :time {}", *op.time) : "");
  }
  return fmt::format("{{{}\"process\":{},\"f\":\"{}\",\"key\":{}{}{}}}",
                     unknown ? "\"type\":\"info\"," : "", process, history.method(op),
                     history.key_json(op.key), has_value ? ",\"value\":" + text::dump(value) : "",
                     op.time ? fmt::format(",\"time\":{}", *op.time) : "");
}

std::string write(const History& history, bool edn) {
  std::string text;
  ContextWriter context(history, edn);
  text += context.rule();
  for (OpId id = 0; id < history.ops.size(); ++id) {
    text += context.before(history.ops[id].replica, history.ops[id].seq);
    text += write(history, id, edn) + "\n";
  }
  return text + context.rest();
}

}  // namespace cupel::crdt
