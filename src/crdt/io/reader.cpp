// Reader: a line becomes a JSON value, and that an operation of the type.
#include "crdt/io/reader.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>
#include <set>

#include "crdt/io/edn.hpp"
#include "crdt/io/json.hpp"

namespace cupel::crdt {

namespace {

using Json = nlohmann::json;

std::string text_of(const Json& value) {
  return value.dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::string shortened(const Json& value) {
  std::string text = text_of(value);
  constexpr std::size_t kMost = 60;
  if (text.size() > kMost) text = text.substr(0, kMost) + "…";
  return text;
}

// A number and the text of its digits are two keys: such a text keeps its quotes.
std::string key_name(const Json& key) {
  if (!key.is_string()) return text_of(key);
  const auto& text = key.get_ref<const std::string&>();
  const auto digits = text.find_first_not_of("0123456789", text.starts_with('-') ? 1 : 0);
  const bool ambiguous = text.starts_with('"') || (!text.empty() && digits == std::string::npos);
  return ambiguous ? text_of(key) : text;
}

// An addAfter or remove of unknown outcome did not happen if nobody can have added the
// character that it names: that may be the work of one that failed, or of another that did
// not happen. What a read shows is left to the decision.
History without_impossible(const History& history) {
  std::vector<bool> unknown(history.replicas.size(), false);
  for (const auto r : history.indeterminate) unknown[r] = true;
  std::vector<bool> added(history.elements.size(), false), shown(history.elements.size(), false);
  std::vector<std::vector<OpId>> waiting(history.elements.size());  // by what they name
  std::vector<std::uint32_t> fresh;
  const auto add = [&](std::uint32_t e) {
    if (!added[e]) fresh.push_back(e);
    added[e] = true;
  };
  for (OpId id = 0; id < history.ops.size(); ++id) {
    const Operation& op = history.ops[id];
    for (const auto e : history.list(op)) shown[e] = true;
    if (op.kind != Kind::kInsert) continue;
    if (unknown[op.replica] && op.parent != kNone)
      waiting[op.parent].push_back(id);
    else
      add(op.element);
  }
  while (!fresh.empty()) {
    const auto e = fresh.back();
    fresh.pop_back();
    for (const OpId id : waiting[e]) add(history.ops[id].element);
  }
  History kept;
  kept.type = history.type;
  for (const Operation& whole : history.ops) {
    Operation op = whole;
    const auto named = op.kind == Kind::kInsert ? op.parent : op.element;
    const bool is_shown = op.kind == Kind::kInsert && shown[op.element];
    if (unknown[op.replica] && named != kNone && !added[named] && !is_shown) continue;
    op.replica = kept.replica(history.replicas[op.replica]);
    op.key = kept.key(history.keys[op.key]);
    const auto element = [&](std::uint32_t e) {
      return e == kNone ? kNone : kept.element(op.key, history.elements[e].text);
    };
    if (unknown[whole.replica]) kept.indeterminate.push_back(op.replica);
    op.parent = element(op.parent);
    op.element = element(op.element);
    std::vector<std::uint32_t> list;
    for (const auto e : history.list(whole)) list.push_back(element(e));
    kept.add(op, list);
  }
  return kept;
}

class Reader {
 public:
  Reader(const std::string& file, NamedType type) : file_(file), named_(type) {
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
    if (history_.type == Type::kGrowableArray && !history_.indeterminate.empty())
      return without_impossible(history_);
    return std::move(history_);
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
    Json op;
    // JSON has a string or the end behind its first bracket, EDN a keyword.
    const auto second = text.find_first_not_of(" \t", 1);
    const bool json = text.front() == '{' && second != std::string_view::npos &&
                      (text[second] == '"' || text[second] == '}');
    if (json) {
      if (auto reason = beyond_bounds(text)) return error(std::move(*reason));
      op = Json::parse(text, nullptr, false);
      if (op.is_discarded())
        return error(
            "found a line that is no JSON object, expected an operation such as "
            "{\"process\":1,\"f\":\"read\",\"value\":[]}");
    } else {
      auto parsed = parse_edn(text);
      if (!parsed.ok()) {
        auto wrong = error(parsed.error().message);
        return wrong;
      }
      op = std::move(parsed).value();
    }
    if (!op.is_object())
      return error(fmt::format(
          "found {}, expected an operation: an object with process, f and value", shortened(op)));
    return outcome(op);
  }

  struct Open {
    Json op;
    std::uint64_t line;
  };

  base::Status outcome(const Json& op) {
    const auto type = op.find("type");
    if (!op.contains("process"))
      return error(
          "found an operation without `process`, expected the replica that it was asked of");
    const Json& process = op["process"];
    if (process == "nemesis") return base::Ok{};
    if (!process.is_string() && !process.is_number_integer())
      return error(
          fmt::format("found the process {}, expected a number or a string", shortened(process)));
    if (type == op.end()) return operation(op, false, line_);
    if (!type->is_string())
      return error(
          fmt::format("found the type {}, expected invoke, ok, fail or info", shortened(*type)));
    const auto& word = type->get_ref<const std::string&>();
    const std::string name = text_of(process);
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

  // What the completion does not say is what was asked.
  base::Status completed(const Json& op, const Open& begun, const std::string& word) {
    for (const char* const field : {"f", "key"}) {
      if (!op.contains(field) || !begun.op.contains(field) || op[field] == begun.op[field])
        continue;
      return error(
          fmt::format("found the completion ({}) with the `{}` {}, but line {}, which it completes "
                      "for process {}, has {}; expected the same",
                      word, field, shortened(op[field]), begun.line, text_of(op["process"]),
                      shortened(begun.op[field])));
    }
    if (word == "fail") return base::Ok{};
    if (word == "info") return operation(begun.op, true, line_);
    Json whole = op;
    for (const char* const field : {"f", "key"}) {
      if (!whole.contains(field) && begun.op.contains(field)) whole[field] = begun.op[field];
    }
    const bool read = whole.contains("f") && (whole["f"] == "read" || whole["f"] == "contains");
    if (!read && begun.op.contains("value") &&
        (!whole.contains("value") || whole["value"].is_null()))
      whole["value"] = begun.op["value"];
    return operation(whole, false, line_);
  }

  base::Status unknown(const Open& open) { return operation(open.op, true, open.line); }

  base::Status operation(const Json& op, bool indeterminate, std::uint64_t line) {
    const auto f = op.find("f");
    if (f == op.end() || !f->is_string())
      return error("found an operation without `f`, expected the name of a method", line);
    Operation made;
    made.line = line;
    if (const auto time = op.find("time"); time != op.end() && time->is_number_integer())
      made.time = time->get<std::int64_t>();
    const Json key = op.contains("key") ? op["key"] : Json("x");
    if (!key.is_string() && !key.is_number_integer())
      return error(fmt::format("found the key {}, expected a number or a string", shortened(key)),
                   line);
    made.key = history_.key(key_name(key));
    const Json value = op.contains("value") ? op["value"] : Json();
    std::vector<std::uint32_t> list;
    if (auto done =
            method(f->get_ref<const std::string&>(), value, made, list, indeterminate, line);
        !done.ok())
      return done;
    if (indeterminate) {
      if (is_read(made.kind)) return base::Ok{};
      made.replica = history_.replica(fmt::format("{}?{}", text_of(op["process"]), line));
      history_.indeterminate.push_back(made.replica);
    } else {
      made.replica = history_.replica(text_of(op["process"]));
    }
    if (made.kind == Kind::kInsert && !inserted_.insert(made.element).second) {
      return error(fmt::format("found a second addAfter of {}, expected each character to be added "
                               "once; tag them with the replica and a number",
                               history_.element_text(made.element)),
                   line);
    }
    history_.add(made, list);
    return base::Ok{};
  }

  base::Status method(const std::string& f, const Json& value, Operation& op,
                      std::vector<std::uint32_t>& list, bool indeterminate, std::uint64_t line) {
    const Type type = history_.type;
    const auto element = [&](const Json& v) { return history_.element(op.key, text_of(v)); };
    const auto expected = [&](const char* what) {
      return error(
          fmt::format("found {} with the value {}, expected {}", f, shortened(value), what), line);
    };
    const auto refused = [&] {
      return named_.grow_only &&
             (op.kind == Kind::kDown || (op.kind == Kind::kInc && op.amount < 0));
    };
    const auto has_null = [](const Json& values) {
      return std::any_of(values.begin(), values.end(), [](const Json& v) { return v.is_null(); });
    };
    const auto distinct = [&](const char* what) -> base::Status {
      if (has_null(value)) return expected("no null among the elements");
      for (const Json& v : value) list.push_back(element(v));
      auto sorted = list;
      std::sort(sorted.begin(), sorted.end());
      if (std::adjacent_find(sorted.begin(), sorted.end()) != sorted.end()) return expected(what);
      return base::Ok{};
    };
    if (is_set(type)) {
      if (f == "add" || f == "remove") {
        if (value.is_null()) return expected("the element");
        op.kind = f == "add" ? Kind::kUp : Kind::kDown;
        op.element = element(value);
        return refused() ? base::Status(error("found a remove from a grow-only set", line))
                         : base::Status(base::Ok{});
      }
      if (f == "contains") {
        if (indeterminate) return op.kind = Kind::kTest, base::Status(base::Ok{});
        if (!value.is_array() || value.size() != 2 || value[0].is_null() || !value[1].is_boolean())
          return expected("the element and what was returned, as in [\"a\",true]");
        op.kind = Kind::kTest;
        op.element = element(value[0]);
        op.returned = value[1].get<bool>();
        return base::Ok{};
      }
      if (f == "read") {
        op.kind = Kind::kState;
        if (indeterminate) return base::Ok{};
        if (!value.is_array()) return expected("the array of the elements");
        return distinct("each element once");
      }
      return error(
          fmt::format("found the method `{}`, expected add, remove, contains or read of a set", f),
          line);
    }
    if (is_flag(type)) {
      if (f == "enable" || f == "disable") {
        op.kind = f == "enable" ? Kind::kUp : Kind::kDown;
        return base::Ok{};
      }
      if (f == "read") {
        op.kind = Kind::kTest;
        if (indeterminate) return base::Ok{};
        if (!value.is_boolean()) return expected("true or false");
        op.returned = value.get<bool>();
        return base::Ok{};
      }
      return error(
          fmt::format("found the method `{}`, expected enable, disable or read of a flag", f),
          line);
    }
    if (type == Type::kCounter) {
      constexpr std::int64_t kMost = std::int64_t{1} << 40;  // sums of millions do not overflow
      if (f == "inc" || f == "dec" || f == "read") {
        op.kind = f == "read" ? Kind::kValue : Kind::kInc;
        if (indeterminate && f == "read") return base::Ok{};
        op.amount = 1;
        if (!value.is_null() || f == "read") {
          if (!value.is_number_integer())
            return expected(f == "read" ? "a whole number" : "a whole number, or none for 1");
          if (value.is_number_unsigned() &&
              value.get<std::uint64_t>() > static_cast<std::uint64_t>(kMost))
            return expected("a number of at most 2^40");
          op.amount = value.get<std::int64_t>();
        }
        if (op.amount > kMost || op.amount < -kMost) return expected("a number of at most 2^40");
        if (f != "read" && op.amount <= 0) return expected("a whole number above 0, or none for 1");
        if (f == "dec") op.amount = -op.amount;
        return refused() ? base::Status(error("found a dec of a grow-only counter", line))
                         : base::Status(base::Ok{});
      }
      return error(fmt::format("found the method `{}`, expected inc, dec or read of a counter", f),
                   line);
    }
    if (is_register(type)) {
      if (f == "write") {
        if (value.is_null()) return expected("the value that was written");
        op.kind = Kind::kWrite;
        op.element = element(value);
        return base::Ok{};
      }
      if (f == "read") {
        op.kind = Kind::kValues;
        if (indeterminate || value.is_null()) return base::Ok{};
        if (type == Type::kMultiValueRegister) {
          if (!value.is_array() || has_null(value))
            return expected("the array of the values, none of them null");
          // Replicas that return one value twice mean that two writes of it are concurrent.
          std::set<std::uint32_t> seen;
          for (const Json& v : value) {
            if (const auto e = element(v); seen.insert(e).second) list.push_back(e);
          }
        } else {
          list.push_back(element(value));
        }
        return base::Ok{};
      }
      return error(fmt::format("found the method `{}`, expected write or read of a register", f),
                   line);
    }
    if (f == "addAfter" || f == "add-after") {
      if (!value.is_array() || value.size() != 2 || value[1].is_null())
        return expected(
            "the character before (null: the beginning) and the new one, as in [null,\"a\"]");
      op.kind = Kind::kInsert;
      op.parent = value[0].is_null() ? kNone : element(value[0]);
      op.element = element(value[1]);
      if (op.parent == op.element) return expected("two different characters");
      return base::Ok{};
    }
    if (f == "remove") {
      if (value.is_null()) return expected("the character");
      op.kind = Kind::kDelete;
      op.element = element(value);
      return base::Ok{};
    }
    if (f == "read") {
      op.kind = Kind::kList;
      if (indeterminate) return base::Ok{};
      if (!value.is_array() || has_null(value))
        return expected("the array of the characters, none of them null");
      for (const Json& v : value) list.push_back(element(v));
      return base::Ok{};
    }
    return error(
        fmt::format("found the method `{}`, expected addAfter, remove or read of an array", f),
        line);
  }

  std::string file_;
  NamedType named_;
  History history_;
  std::uint64_t line_ = 0;
  std::map<std::string, Open> open_;  // by process
  std::set<std::uint32_t> inserted_;
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
      text += (text.size() > 1 ? ", " : "") + text_of(Json(k)) + " " + edn_of(v);
    return text + "}";
  }
  return text_of(value);
}

}  // namespace

base::Result<History> read(std::string_view bytes, const std::string& file, NamedType type) {
  return Reader(file, type).all(bytes);
}

std::string write(const History& history, OpId id, bool edn) {
  const Operation& op = history.ops[id];
  const auto element = [&](std::uint32_t e) {
    return e == kNone ? Json() : Json::parse(history.elements[e].text, nullptr, false);
  };
  Json value;
  switch (op.kind) {
    case Kind::kUp:
    case Kind::kDown:
      if (is_set(history.type)) value = element(op.element);
      break;
    case Kind::kTest:
      if (is_set(history.type))
        value = Json::array({element(op.element), op.returned});
      else
        value = op.returned;
      break;
    case Kind::kInc:
      if (op.amount != 1 && op.amount != -1) value = op.amount < 0 ? -op.amount : op.amount;
      break;
    case Kind::kValue:
      value = op.amount;
      break;
    case Kind::kWrite:
    case Kind::kDelete:
      value = element(op.element);
      break;
    case Kind::kInsert:
      value = Json::array({element(op.parent), element(op.element)});
      break;
    case Kind::kValues:
      if (history.type == Type::kLastWriterWinsRegister) {
        if (op.list_begin != op.list_end) value = element(history.list(op)[0]);
        break;
      }
      [[fallthrough]];
    case Kind::kState:
    case Kind::kList:
      value = Json::array();
      for (const auto e : history.list(op)) value.push_back(element(e));
      break;
  }
  const bool unknown = std::find(history.indeterminate.begin(), history.indeterminate.end(),
                                 op.replica) != history.indeterminate.end();
  std::string process = history.replicas[op.replica];
  if (unknown) process = process.substr(0, process.rfind('?'));
  const bool has_value = !value.is_null() || (is_register(history.type) && is_read(op.kind));
  if (edn) {
    return fmt::format("{{{}:process {}, :f :{}, :key {}{}{}}}", unknown ? ":type :info, " : "",
                       process, history.method(op), history.key_json(op.key),
                       has_value ? ", :value " + edn_of(value) : "",
                       op.time ? fmt::format(", :time {}", *op.time) : "");
  }
  return fmt::format("{{{}\"process\":{},\"f\":\"{}\",\"key\":{}{}{}}}",
                     unknown ? "\"type\":\"info\"," : "", process, history.method(op),
                     history.key_json(op.key), has_value ? ",\"value\":" + text_of(value) : "",
                     op.time ? fmt::format(",\"time\":{}", *op.time) : "");
}

std::string write(const History& history, bool edn) {
  std::string text;
  for (OpId id = 0; id < history.ops.size(); ++id) text += write(history, id, edn) + "\n";
  return text;
}

}  // namespace cupel::crdt
