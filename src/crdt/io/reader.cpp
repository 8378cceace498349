// Reader: parses a line into its fields, or into a JSON value where they are not flat, and these
// into an operation of the type. Of a long history another thread splits the lines into fields.
#include "crdt/io/reader.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <set>

#include "base/budget.hpp"
#include "base/hash_table.hpp"
#include "base/pipeline.hpp"
#include "base/text/flat_json.hpp"
#include "base/text/json.hpp"
#include "crdt/io/context_reader.hpp"
#include "crdt/io/context_writer.hpp"
#include "crdt/io/edn.hpp"
#include "crdt/io/flat_line.hpp"
#include "crdt/model/amounts.hpp"
#include "crdt/model/replicated_type.hpp"
#include "crdt/model/times.hpp"

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

// A name of an object, as JSON, and of a key of it.
using ObjectKey = std::pair<std::string, std::string>;

// The history of one object, as far as it was read.
struct Read {
  Read(std::string object_name, NamedType named, std::uint64_t at)
      : name(std::move(object_name)), type(named), line(at) {
    history.type = named.type;
  }

  std::string name;  // as JSON; empty: the only one, without a name
  NamedType type;
  std::uint64_t line;  // that gave its type
  History history;
  std::vector<OpId> origin;    // of several: by operation, that of the whole
  std::vector<bool> inserted;  // by element
  std::int64_t amounts = 0;    // of all updates of counters, without their signs
};

class Reader {
 public:
  // Without a type, the lines name objects and their types.
  Reader(const std::string& file, std::optional<NamedType> type, unsigned threads,
         UnknownOutcome unknown_outcome, std::set<ObjectKey> unread = {})
      : file_(file),
        mixed_(!type),
        threads_(threads),
        unknown_outcome_(unknown_outcome),
        unread_(std::move(unread)),
        objects_(only(type)),
        context_(whole()) {}

  base::Result<Recording> recording(std::string_view bytes) {
    if (auto done = all(bytes); !done.ok()) return done.error();
    if (objects_.empty()) return error("found no object, expected " + std::string(kDeclaration));
    History& all_operations = whole();
    spread_times(all_operations);
    const bool needed = std::any_of(objects_.begin(), objects_.end(), [](const auto& object) {
      return replicated_type(object->history).traits().needs_deliveries;
    });
    if (needed) know_that_one_replica_receives_nothing();
    if (!all_operations.indeterminate.empty() && all_operations.context.is_known())
      leave_context_out();
    all_operations.unknown_outcome = unknown_outcome_;
    Recording made;
    for (auto& object : objects_) {
      object->history.unknown_outcome = unknown_outcome_;
      made.objects.push_back(part(*object));
    }
    if (!mixed_) return made;
    made.place.resize(whole_.ops.size());
    made.combined = std::move(whole_);
    for (std::uint32_t o = 0; o < made.objects.size(); ++o) {
      const auto& origin = made.objects[o].origin;
      for (OpId id = 0; id < origin.size(); ++id) made.place[origin[id]] = {o, id};
    }
    share_times(made);
    return made;
  }

 private:
  static constexpr std::string_view kDeclaration =
      "a line such as {\"object\":\"cart\",\"type\":\"or-set\"} before its operations";

  static std::vector<std::unique_ptr<Read>> only(std::optional<NamedType> type) {
    std::vector<std::unique_ptr<Read>> objects;
    if (type) objects.push_back(std::make_unique<Read>("", *type, 0));
    return objects;
  }
  // Of a history of one replica nobody has to say so.
  void know_that_one_replica_receives_nothing() {
    auto& receptions = whole().context.receptions;
    if (receptions.empty() && whole().replicas.size() == 1) receptions.emplace_back();
  }
  // The history that the deliveries are of.
  History& whole() { return mixed_ ? whole_ : objects_[0]->history; }

  // Without updates of unknown outcome that cannot have happened.
  ObjectHistory part(Read& object) {
    ObjectHistory made{.name = std::move(object.name),
                       .type = object.type,
                       .history = std::move(object.history),
                       .origin = std::move(object.origin)};
    auto& history = made.history;
    if (mixed_ && history.ops.empty() && !whole_.replicas.empty())
      history.replica(whole_.replicas[0]);
    if (history.indeterminate.empty()) return made;
    base::HashMap<std::uint64_t, OpId> by_line;
    for (const OpId id : made.origin) by_line.emplace(whole_.ops[id].line, id);
    const auto& type = replicated_type(history);
    history = type.without_impossible(std::move(history));
    made.origin.clear();
    if (!mixed_) return made;
    for (const Operation& op : history.ops) made.origin.push_back(by_line.at(op.line));
    return made;
  }

  // A line, and what another thread has made of it.
  struct Line {
    std::string_view text;
    std::optional<FlatLine> flat;
    // Of `flat`, by another thread: an operation, or the ids of a deliver line.
    std::unique_ptr<FlatCall> call;
    std::vector<std::string_view> ids;
  };
  struct Lines {
    // A piece is made again and again by the same thread, so that it frees what it has allocated.
    void clear() { count = 0; }
    ~Lines() {
      const base::AllocationWatch::Deferral deferral;
      lines.clear();
    }
    Line& next() {
      if (count == lines.size()) lines.emplace_back();
      return lines[count++];
    }
    std::vector<Line> lines;
    std::size_t count = 0;
  };

  base::Status lines_of(std::string_view bytes) {
    constexpr std::size_t kLong = 1 << 20, kPiece = 1 << 19;
    const unsigned threads = bytes.size() < kLong ? 1 : base::thread_count(threads_);
    std::size_t at = 0;
    base::Status status = base::Ok{};
    base::pipeline<Lines>(
        threads,
        [&](Lines& piece) {
          piece.clear();
          const auto until = at + kPiece;
          while (at < bytes.size() && at < until) {
            auto end = bytes.find('\n', at);
            if (end == std::string_view::npos) end = bytes.size();
            split(bytes.substr(at, end - at), threads > 1, piece.next());
            at = end + 1;
          }
          return piece.count > 0;
        },
        [&](const Lines& piece) {
          for (std::size_t i = 0; i < piece.count && status.ok(); ++i) {
            ++line_;
            status = one(piece.lines[i]);
          }
          return status.ok();
        });
    return status;
  }

  void split(std::string_view text, bool ahead, Line& line) const {
    const base::AllocationWatch::Deferral deferral;  // JSON's destructors allocate
    while (!text.empty() && (text.back() == '\r' || text.back() == ' ' || text.back() == '\t'))
      text.remove_suffix(1);
    while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
    line.text = text;
    line.flat = flat_line(text);
    line.call = nullptr;
    line.ids.clear();
    if (!ahead || !line.flat || !line.flat->f.starts_with('"')) return;
    const auto method = text::flat_text(line.flat->f);
    if (is_deliver(*line.flat))
      line.ids = text::flat_values(line.flat->value);
    else if (!mixed_ && !ContextReader::is_context(method))
      line.call = replicated_type(objects_[0]->history).flat_call(method, line.flat->value);
  }

  static bool is_deliver(const FlatLine& flat) {
    return flat.f == "\"deliver\"" && flat.value.starts_with('[') && flat.key.empty() &&
           flat.object.empty();
  }

  base::Status all(std::string_view bytes) {
    if (auto done = lines_of(bytes); !done.ok()) return done.error();
    for (auto& [process, open] : open_) {
      if (auto done = unknown(open); !done.ok()) return done.error();
    }
    for (const auto& object : objects_) {
      if (object->history.ops.size() > 0xfffffff0 || object->history.lists.size() > 0xfffffff0)
        return error("found more than 4 billion operations or values");
    }
    if (whole().ops.size() > 0xfffffff0) return error("found more than 4 billion operations");
    if (whole().context.named.size() > 0xfffffff0)
      return error("found more than 4 billion deliveries of updates");
    if (auto wrong = context_.resolve()) return error(std::move(wrong->message), wrong->line);
    return base::Ok{};
  }

  [[nodiscard]] base::Error error(std::string message, std::uint64_t line = 0) const {
    return {.message = std::move(message), .file = file_, .line = line == 0 ? line_ : line};
  }

  base::Status one(const Line& line) {
    const auto text = line.text;
    if (text.empty() || text.front() == ';') return base::Ok{};
    const base::AllocationWatch::Deferral deferral;  // JSON's destructors allocate
    if (line.flat) {
      if (auto done = take(*line.flat, line)) return *done;
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
      if (op.is_discarded()) return base::Ok{};  // only comments
    }
    if (!op.is_object())
      return error(
          fmt::format("found {}, expected an operation: an object with process, f and value",
                      text::dump_excerpt(op)));
    return outcome(op);
  }

  // An operation that happened, or a delivery. Nothing: it is something else.
  std::optional<base::Status> take(const FlatLine& flat, const Line& line) {
    if (!open_.empty() || flat.process.empty() || !flat.f.starts_with('"')) return std::nullopt;
    const bool is_name = flat.process.starts_with('"');
    if (flat.process == "\"nemesis\"" || (!is_name && !is_number(flat.process)))
      return std::nullopt;
    const auto method = text::flat_text(flat.f);
    if (is_deliver(flat)) {
      std::vector<std::string_view> own;
      if (line.ids.empty()) own = text::flat_values(flat.value);
      const auto& ids = line.ids.empty() ? own : line.ids;
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
      made.time = made.begun = made.ended = text::flat_json(flat.time).get<std::int64_t>();
    }
    static const Json kNoFields = Json::object(), kNoValue;
    const Json key = flat.key.empty() ? Json("x") : text::flat_json(flat.key);
    if (!flat.object.empty() && !flat.object.starts_with('"') && !is_number(flat.object))
      return std::nullopt;
    return operation({.method = method,
                      .process = std::string(flat.process),
                      .object = flat.object,
                      .key = key,
                      .value = kNoValue,
                      .flat = &flat,
                      .flat_call = line.call.get(),
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
    History& history = whole();
    const auto& first = history.by_replica[history.indeterminate[0]];
    history.context = {.rule = history.context.rule, .receptions = {}, .named = {}};
    history.context.unknown_outcome_line = history.ops[first[0]].line;
  }

  base::Status outcome(const Json& op) {
    const auto type = op.find("type");
    const auto method = op.find("f");
    if (method == op.end() && type != op.end() && op.contains("object") && !op.contains("process"))
      return declaration(op["object"], *type);
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
    if (const auto time = op.find("time"); time != op.end() && !is_time(*time)) {
      return error(fmt::format(
          "found the time {}, expected a whole number of nanoseconds that fits in 64 bits",
          text::dump_excerpt(*time)));
    }
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
    for (const char* const field : {"f", "object", "key"}) {
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
    for (const char* const field : {"f", "object", "key", "id", "seen"}) {
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

  static bool is_time(const Json& value) {
    constexpr auto kMost = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
    return value.is_null() || (value.is_number_integer() && (!value.is_number_unsigned() ||
                                                             value.get<std::uint64_t>() <= kMost));
  }
  static std::optional<std::int64_t> time_of(const Json& op) {
    const auto time = op.find("time");
    if (time == op.end() || time->is_null()) return std::nullopt;
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
    const auto key = op.find("key"), value = op.find("value"), object = op.find("object");
    const std::string name = object == op.end() ? "" : text::dump(*object);
    return operation({.method = f->get_ref<const std::string&>(),
                      .process = text::dump(op["process"]),
                      .object = name,
                      .key = key == op.end() ? kDefaultKey : *key,
                      .value = value == op.end() ? kNoValue : *value,
                      .flat = nullptr,
                      .flat_call = nullptr,
                      .fields = op},
                     made, indeterminate);
  }

  // An operation as the line has it; `fields` may have `id` and `seen`.
  struct LineCall {
    std::string_view method;
    std::string process;
    std::string_view object;  // as JSON; empty: none
    const Json& key;
    const Json& value;
    const FlatLine* flat;       // has the value, instead
    const FlatCall* flat_call;  // the same, if it is there already
    const Json& fields;
  };

  base::Status operation(const LineCall& line_call, Operation made, bool indeterminate) {
    const auto line = made.line;
    const Json& key = line_call.key;
    if (!key.is_string() && !key.is_number_integer())
      return error(
          fmt::format("found the key {}, expected a number or a string", text::dump_excerpt(key)),
          line);
    if (!mixed_ && !line_call.object.empty()) {
      return error(
          "found `object`, which belongs to histories of several types; expected none with --type, "
          "or the command without --type",
          line);
    }
    Read* const object = mixed_ ? object_of(line_call.object) : objects_[0].get();
    if (object == nullptr) return unknown_object(line_call.object, line);
    History& history = object->history;
    made.key = history.key(key_name(key));
    if (indeterminate || !begun_.empty()) keep_clock(line_call, made, indeterminate);
    if (indeterminate && unknown_outcome_ != UnknownOutcome::kOpen) {
      const bool is_read = line_call.method == "read" || line_call.method == "contains";
      if (!is_read) history.absent.push_back({line, made.key});
      return leave_out(line_call, line);
    }
    list_.clear();
    const auto call = [&](const Json& value) {
      return ParsedCall{.method = line_call.method,
                        .value = value,
                        .indeterminate = indeterminate,
                        .grow_only = object->type.grow_only,
                        .history = history,
                        .op = made,
                        .list = list_};
    };
    const ReplicatedType& type = replicated_type(history);
    std::unique_ptr<FlatCall> own;
    const FlatCall* flat = line_call.flat_call;
    if (flat == nullptr && line_call.flat != nullptr) {
      own = type.flat_call(line_call.method, line_call.flat->value);
      flat = own.get();
    }
    const auto parsed = call(line_call.value);
    if (auto wrong = flat != nullptr ? flat->parse(parsed) : type.parse(parsed))
      return error(std::move(*wrong), line);
    if (is_read(made.kind) && (indeterminate || is_unread(*object, made.key)))
      return leave_out(line_call, line);
    return add(*object, made, list_, line_call, indeterminate);
  }

  // The line is no operation of the history. What it says of its process remains.
  base::Status leave_out(const LineCall& line_call, std::uint64_t line) {
    if (!line_call.fields.contains("seen")) return base::Ok{};
    const Operation op{.replica = whole().replica(line_call.process), .line = line};
    if (auto wrong = context_.seen(line_call.fields, op)) return error(std::move(*wrong), line);
    return base::Ok{};
  }

  // A clock that was set back shows at operations of unknown outcome, too.
  void keep_clock(const LineCall& line_call, const Operation& op, bool indeterminate) {
    if (indeterminate) {
      auto& latest = begun_.try_emplace(line_call.process, kAlways).first->second;
      latest = std::max(latest, op.begun);
    } else if (const auto open = begun_.find(line_call.process);
               open != begun_.end() && open->second > op.ended) {
      whole().backward_clock_line = op.line;
    }
  }

  [[nodiscard]] bool is_unread(const Read& object, std::uint32_t key) const {
    return !unread_.empty() && unread_.contains({object.name, object.history.keys[key]});
  }

  base::Status add(Read& object, Operation made, std::span<const std::uint32_t> list,
                   const LineCall& line_call, bool indeterminate) {
    History& history = object.history;
    const auto process =
        indeterminate ? fmt::format("{}?{}", line_call.process, made.line) : line_call.process;
    made.replica = history.replica(process);
    if (indeterminate) history.indeterminate.push_back(made.replica);
    // Of the whole, the operation without its key and its values.
    Operation shared{.kind = made.kind,
                     .replica = mixed_ ? whole_.replica(process) : made.replica,
                     .line = made.line,
                     .time = made.time,
                     .begun = made.begun,
                     .ended = made.ended};
    if (mixed_ && indeterminate) whole_.indeterminate.push_back(shared.replica);
    auto wrong = context_.seen(line_call.fields, shared);
    const OpId here = history.add(made, list), id = mixed_ ? whole_.add(shared) : here;
    if (mixed_) object.origin.push_back(id);
    if (auto second = second_insert(object, here)) return error(std::move(*second), made.line);
    if (made.kind == Kind::kInc) {
      object.amounts += made.amount < 0 ? -made.amount : made.amount;
      if (object.amounts > kMostSum) {
        return error(fmt::format("found amounts that add up to more than 2^{}, expected counters "
                                 "of smaller amounts: no read could return their sum",
                                 kSumBits),
                     made.line);
      }
    }
    if (!wrong && !is_read(made.kind)) wrong = context_.id(line_call.fields, id);
    if (wrong) return error(std::move(*wrong), made.line);
    return base::Ok{};
  }

  static std::optional<std::string> second_insert(Read& object, OpId id) {
    const History& history = object.history;
    const Operation& op = history.ops[id];
    if (op.kind != Kind::kInsert) return std::nullopt;
    if (object.inserted.size() < history.elements.size())
      object.inserted.resize(2 * history.elements.size(), false);
    for (const auto e : history.changed(op)) {
      if (!object.inserted[e]) {
        object.inserted[e] = true;
        continue;
      }
      return fmt::format("found a second {} of {}, expected each character to be added once; {}",
                         history.method(op), history.element_text(e),
                         op.list_begin == op.list_end
                             ? "tag them with the replica and a number"
                             : "docs/reference/crdt.md#text says how texts repeat characters");
    }
    return std::nullopt;
  }

  // The type of an object.
  base::Status declaration(const Json& object, const Json& type) {
    if (!mixed_) {
      return error(
          "found the type of an object, which belongs to histories of several types; expected none "
          "with --type, or the command without --type");
    }
    if (!object.is_string() && !object.is_number_integer()) {
      return error(fmt::format("found the object {}, expected a number or a string",
                               text::dump_excerpt(object)));
    }
    const auto named =
        type.is_string() ? type_of(type.get_ref<const std::string&>()) : std::nullopt;
    if (!named) {
      return error(
          fmt::format("found the type {}, expected one of docs/reference/formats/crdt.md, such as "
                      "or-set",
                      text::dump_excerpt(type)));
    }
    const auto name = text::dump(object);
    const auto [known, fresh] = names_.emplace(name, objects_.size());
    if (!fresh) {
      return error(
          fmt::format("found the type of the object {} a second time, first in line {}; "
                      "expected it once",
                      name, objects_[known->second]->line));
    }
    objects_.push_back(std::make_unique<Read>(name, *named, line_));
    return base::Ok{};
  }

  // Null: its type was not given.
  Read* object_of(std::string_view name) {
    if (last_ < objects_.size() && objects_[last_]->name == name) return objects_[last_].get();
    const auto found = names_.find(std::string(name));
    if (found == names_.end()) return nullptr;
    last_ = found->second;
    return objects_[last_].get();
  }

  [[nodiscard]] base::Error unknown_object(std::string_view name, std::uint64_t line) const {
    if (name.empty() && objects_.empty()) {
      return error("found an operation without `object`, expected the option --type, or " +
                       std::string(kDeclaration),
                   line);
    }
    if (name.empty()) {
      return error(
          "found an operation without `object`, expected it in each operation of a "
          "history that names objects",
          line);
    }
    return error(
        fmt::format("found the object {} without its type, expected {}", name, kDeclaration), line);
  }

  std::string file_;
  const bool mixed_;
  const unsigned threads_;
  const UnknownOutcome unknown_outcome_;
  const std::set<ObjectKey> unread_;
  History whole_;  // of several objects
  std::vector<std::unique_ptr<Read>> objects_;
  base::HashMap<std::string, std::size_t> names_;  // objects
  std::size_t last_ = 0;                           // the object of the last operation
  ContextReader context_;
  std::uint64_t line_ = 0;
  std::map<std::string, Open> open_;  // by process
  // By process: when the last operation of unknown outcome was invoked.
  std::map<std::string, std::int64_t> begun_;
  std::vector<std::uint32_t> list_;  // of the operation that is read
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

base::Result<Recording> read_recording(std::string_view bytes, const std::string& file,
                                       std::optional<NamedType> type, unsigned threads,
                                       UnknownOutcome unknown_outcome) {
  std::set<ObjectKey> unread;
  if (unknown_outcome == UnknownOutcome::kAbsentUnread) {
    auto all = read_recording(bytes, file, type, threads, UnknownOutcome::kAbsent);
    if (!all.ok()) return all;
    for (const auto& object : all->objects) {
      for (const auto& absent : object.history.absent)
        unread.emplace(object.name, object.history.keys[absent.key]);
    }
  }
  auto reader = std::make_unique<Reader>(file, type, threads, unknown_outcome, std::move(unread));
  auto recording = reader->recording(bytes);
  const base::AllocationWatch::Deferral deferral;  // JSON's destructors allocate
  reader.reset();
  return recording;
}

base::Result<History> read(std::string_view bytes, const std::string& file, NamedType type,
                           unsigned threads, UnknownOutcome unknown_outcome) {
  auto recording = read_recording(bytes, file, type, threads, unknown_outcome);
  if (!recording.ok()) return std::move(recording).error();
  return std::move(recording->objects[0].history);
}

namespace {

std::string written(const History& history, OpId id, bool edn, std::string_view object) {
  const base::AllocationWatch::Deferral deferral;  // JSON's destructors allocate
  const Operation& op = history.ops[id];
  const Json value = replicated_type(history).value(history, op);
  const bool unknown = std::find(history.indeterminate.begin(), history.indeterminate.end(),
                                 op.replica) != history.indeterminate.end();
  std::string process = history.replicas[op.replica];
  if (unknown) process = process.substr(0, process.rfind('?'));
  const bool has_value = !value.is_null() || is_read(op.kind);
  if (edn) {
    return fmt::format("{{{}:process {}, {}:f :{}, :key {}{}{}}}", unknown ? ":type :info, " : "",
                       process, object.empty() ? "" : fmt::format(":object {}, ", object),
                       history.method(op), history.key_json(op.key),
                       has_value ? ", :value " + edn_of(value) : "",
                       op.time ? fmt::format(", :time {}", *op.time) : "");
  }
  return fmt::format(
      "{{{}\"process\":{},{}\"f\":\"{}\",\"key\":{}{}{}}}", unknown ? "\"type\":\"info\"," : "",
      process, object.empty() ? "" : fmt::format("\"object\":{},", object), history.method(op),
      history.key_json(op.key), has_value ? ",\"value\":" + text::dump(value) : "",
      op.time ? fmt::format(",\"time\":{}", *op.time) : "");
}

}  // namespace

std::string write(const History& history, OpId id, bool edn) {
  return written(history, id, edn, "");
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

std::string write(const Recording& recording, bool edn) {
  if (!recording.is_named()) return write(recording.whole(), edn);
  std::string text;
  for (const ObjectHistory& object : recording.objects) {
    const auto* const form =
        edn ? "{{:object {}, :type \"{}\"}}\n" : "{{\"object\":{},\"type\":\"{}\"}}\n";
    text += fmt::format(fmt::runtime(form), object.name, name(object.history.type));
  }
  ContextWriter context(recording.combined, edn);
  text += context.rule();
  for (OpId id = 0; id < recording.combined.ops.size(); ++id) {
    const auto [object, op] = recording.place[id];
    if (object == kNone) continue;
    text += context.before(recording.combined.ops[id].replica, recording.combined.ops[id].seq);
    text +=
        written(recording.objects[object].history, op, edn, recording.objects[object].name) + "\n";
  }
  return text + context.rest();
}

}  // namespace cupel::crdt
