// Workload files, read by simdjson's DOM, which keeps the place of an error at hand,
// into 40 bytes an operation; statements are made of them when they are asked for.
#include "data/workload/plan.hpp"

#include <fmt/format.h>
#include <simdjson.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iostream>

#include "base/hash_table.hpp"
#include "base/json_fault.hpp"
#include "base/simdjson_first_use.hpp"
#include "base/write_file.hpp"
#include "base/write_in_place.hpp"
#include "data/workload/key_value.hpp"

namespace cupel::workload {

namespace {

namespace dom = simdjson::dom;
using Integer = std::optional<std::int64_t>;  // none: null

constexpr std::uint64_t kWidestRange = 1'000'000;

struct Operation {
  StatementKind kind;
  std::int64_t key;  // kRange: low
  Integer value;     // kRange: high; kCompareAndSet: expected
  Integer desired;
};
using Transactions = std::vector<std::vector<Operation>>;

struct Plan {
  ColumnType type = ColumnType::kInteger;
  Integer default_initial;
  std::vector<std::pair<std::int64_t, std::int64_t>> initial;  // in the order of the file
  std::vector<Transactions> sessions;
};

constexpr std::pair<std::string_view, StatementKind> kWords[] = {
    {"r", StatementKind::kRead},
    {"w", StatementKind::kWrite},
    {"append", StatementKind::kAppend},
    {"range", StatementKind::kRange},
    {"cas", StatementKind::kCompareAndSet},
    {"insert", StatementKind::kInsert},
    {"delete", StatementKind::kDelete}};
constexpr const char* kWordList =
    "\"r\", \"w\", \"append\", \"range\", \"cas\", \"insert\" or \"delete\"";

std::string_view word_of(StatementKind kind) {
  for (const auto& [word, k] : kWords) {
    if (k == kind) return word;
  }
  return "?";
}

Datum datum(Integer integer) {
  return integer ? Datum(*integer) : Datum();
}

Statement statement_of(const Operation& op) {
  Statement s{.kind = op.kind, .key = {op.key}};
  switch (op.kind) {
    case StatementKind::kRange:
      s.high = {*op.value};
      break;
    case StatementKind::kCompareAndSet:
      s.values = {datum(op.value), datum(op.desired)};
      break;
    case StatementKind::kRead:
    case StatementKind::kDelete:
      break;
    default:
      s.values = {datum(op.value)};
  }
  return s;
}

class PlannedWorkload final : public Workload {
 public:
  explicit PlannedWorkload(Plan plan)
      : plan_(std::move(plan)),
        schema_(kv_schema(plan_.type)),
        initial_(plan_.initial.begin(), plan_.initial.end()),
        issued_(plan_.sessions.size(), 0) {
    for (const auto& session : plan_.sessions) {
      for (const auto& txn : session) {
        needs_.multiple |= txn.size() > 1;
        for (const auto& op : txn) {
          needs_.ranges |= op.kind == StatementKind::kRange;
          needs_.deletes |= op.kind == StatementKind::kInsert || op.kind == StatementKind::kDelete;
          needs_.lists |= op.kind == StatementKind::kAppend;
          needs_.compare_and_set |= op.kind == StatementKind::kCompareAndSet;
        }
      }
    }
    needs_.lists |= plan_.type == ColumnType::kList;
  }

  [[nodiscard]] const Schema& schema() const override { return schema_; }
  [[nodiscard]] Needs needs() const override { return needs_; }
  [[nodiscard]] std::uint32_t sessions() const override {
    return static_cast<std::uint32_t>(plan_.sessions.size());
  }
  void load(const RowSink& sink) const override {
    for (const auto& [key, value] : plan_.initial) sink(0, {{key}, {value}});
  }
  [[nodiscard]] Datum loaded(std::uint32_t, const std::vector<Datum>& key,
                             std::uint32_t) const override {
    const auto* integer = std::get_if<std::int64_t>(&key.front());
    const auto it = integer ? initial_.find(*integer) : initial_.end();
    return it == initial_.end() ? Datum() : Datum(it->second);
  }
  [[nodiscard]] Datum default_initial() const override { return datum(plan_.default_initial); }

  std::optional<Job> next(std::uint32_t session) override {
    const auto& transactions = plan_.sessions[session];
    if (issued_[session] == transactions.size()) return std::nullopt;
    Job job{.name = "transaction"};
    for (const auto& op : transactions[issued_[session]])
      job.statements.push_back(statement_of(op));
    ++issued_[session];
    return job;
  }

 private:
  Plan plan_;
  Schema schema_;
  Needs needs_;
  base::HashMap<std::int64_t, std::int64_t> initial_;
  std::vector<std::size_t> issued_;  // by session
};

// Reading. What is wrong is thrown as an Error inside this file and caught at its edge.
class PlanReader {
 public:
  explicit PlanReader(const std::string& path) : path_(path) {}

  Plan read() {
    std::error_code unreadable;
    if (std::filesystem::is_directory(path_, unreadable))
      fail("", "found a directory, expected a workload file");
    base::prepare_simdjson();
    dom::parser parser;
    dom::element root;
    if (const auto error = parser.load(path_).get(root)) {
      if (error == simdjson::IO_ERROR) fail("", "cannot read the file: is the path right?");
      fail("", fmt::format("found no JSON document, expected a workload file as `cupel generate "
                           "--plan` writes it: {}",
                           base::json_fault(error)));
    }
    if (!root.is_object()) fail("", found(root) + ", expected an object with \"cupel_plan\"");
    const dom::object object(root);
    for (const auto field : object) {
      const std::string_view name = field.key;
      if (name != "cupel_plan" && name != "workload" && name != "seed" && name != "values" &&
          name != "default_initial" && name != "initial" && name != "sessions") {
        fail(std::string(name), "found a field that workload files of version 1 do not have");
      }
    }
    const auto version = required(object, "cupel_plan");
    if (integer(version, "cupel_plan") != Integer(1)) {
      fail("cupel_plan", found(version) + ", expected 1, the version that this cupel reads");
    }
    dom::element values;
    if (!object["values"].get(values)) {
      const auto text = values.is_string() ? std::string_view(values) : "";
      if (text != "integer" && text != "list")
        fail("values", found(values) + ", expected \"integer\" or \"list\"");
      if (text == "list") plan_.type = ColumnType::kList;
    }
    dom::element initial;
    if (!object["default_initial"].get(initial))
      plan_.default_initial = integer(initial, "default_initial");
    if (!object["initial"].get(initial)) read_initial(initial);
    read_sessions(required(object, "sessions"));
    return std::move(plan_);
  }

 private:
  [[noreturn]] void fail(const std::string& where, const std::string& what) const {
    throw base::Error{.message = where.empty() ? what : where + ": " + what, .file = path_};
  }

  static std::string found(dom::element element) {
    std::string text = simdjson::minify(element);
    constexpr std::size_t kShown = 60;
    if (text.size() > kShown) {
      std::size_t cut = kShown;
      while (cut > 0 && (text[cut] & 0xc0) == 0x80) --cut;  // not inside a character
      text = text.substr(0, cut) + "…";
    }
    return "found " + text;
  }

  [[nodiscard]] dom::element required(dom::object object, const char* name) const {
    dom::element element;
    if (object[name].get(element))
      fail("", fmt::format("found no field \"{}\", expected one", name));
    return element;
  }
  [[nodiscard]] dom::array array(dom::element element, const std::string& where,
                                 const char* expected) const {
    if (!element.is_array()) fail(where, found(element) + ", expected " + expected);
    return element;
  }
  [[nodiscard]] Integer integer(dom::element element, const std::string& where) const {
    if (element.is_null()) return std::nullopt;
    if (!element.is<std::int64_t>())
      fail(where, found(element) + ", expected an integer of 64 bits or null");
    return std::int64_t(element);
  }
  [[nodiscard]] std::int64_t number(dom::element element, const std::string& where) const {
    if (!element.is<std::int64_t>())
      fail(where, found(element) + ", expected an integer of 64 bits");
    return element;
  }
  // The two elements of a pair.
  [[nodiscard]] std::pair<dom::element, dom::element> pair(dom::element element,
                                                           const std::string& where,
                                                           const char* expected) const {
    const auto both = array(element, where, expected);
    if (both.size() != 2) fail(where, found(element) + ", expected " + expected);
    return {both.at(0), both.at(1)};
  }

  void read_initial(dom::element element) {
    base::HashSet<std::int64_t> keys;
    std::size_t i = 0;
    for (const dom::element row : array(element, "initial", "an array of [key, value]")) {
      const auto where = fmt::format("initial[{}]", i++);
      const auto [key, value] = pair(row, where, "[key, value]");
      plan_.initial.emplace_back(number(key, where + "[0]"), number(value, where + "[1]"));
      if (!keys.insert(plan_.initial.back().first).second) {
        fail(where, found(row) + ", expected a key that has no initial value yet");
      }
    }
    if (plan_.type == ColumnType::kList && !plan_.initial.empty()) {
      fail("initial", "found initial values, expected none: lists are empty at first");
    }
  }

  void read_sessions(dom::element element) {
    std::size_t s = 0;
    for (const dom::element session : array(element, "sessions", "an array of sessions")) {
      const auto in_session = fmt::format("sessions[{}]", s++);
      auto& transactions = plan_.sessions.emplace_back();
      std::size_t t = 0;
      for (const dom::element txn : array(session, in_session, "an array of transactions")) {
        const auto in_txn = fmt::format("{}[{}]", in_session, t++);
        auto& ops = transactions.emplace_back();
        std::size_t i = 0;
        for (const dom::element op : array(txn, in_txn, "an array of operations")) {
          ops.push_back(operation(op, fmt::format("{}[{}]", in_txn, i++)));
        }
        if (ops.empty()) fail(in_txn, "found no operations, expected at least one");
      }
    }
    if (plan_.sessions.empty()) fail("sessions", "found no sessions, expected at least one");
  }

  [[nodiscard]] Operation operation(dom::element element, const std::string& where) const {
    const auto parts = array(element, where, "an operation: [\"r\", key, null]");
    if (parts.size() != 3) fail(where, found(element) + ", expected [operation, key, value]");
    const dom::element word = parts.at(0), key = parts.at(1), value = parts.at(2);
    const auto* known = std::find_if(std::begin(kWords), std::end(kWords), [&](const auto& entry) {
      return word.is_string() && std::string_view(word) == entry.first;
    });
    if (known == std::end(kWords)) fail(where + "[0]", found(word) + ", expected " + kWordList);
    Operation op{.kind = known->second, .key = 0, .value = {}, .desired = {}};
    const auto in_value = where + "[2]";
    switch (op.kind) {
      case StatementKind::kRange: {
        const auto [low, high] = pair(key, where + "[1]", "[low, high]");
        op.key = number(low, where + "[1][0]");
        const std::int64_t top = number(high, where + "[1][1]");
        op.value = top;
        // The history says what each key of a range held at first.
        if (top > op.key &&
            static_cast<std::uint64_t>(top) - static_cast<std::uint64_t>(op.key) >= kWidestRange) {
          fail(where + "[1]",
               found(key) + fmt::format(", expected a range of at most {} keys", kWidestRange));
        }
        break;
      }
      case StatementKind::kCompareAndSet: {
        const auto [expected, desired] = pair(value, in_value, "[expected, new]");
        op.value = integer(expected, in_value + "[0]");
        op.desired = integer(desired, in_value + "[1]");
        break;
      }
      case StatementKind::kRead:
      case StatementKind::kDelete:
        break;
      default:
        op.value = integer(value, in_value);
    }
    if (op.kind != StatementKind::kRange) op.key = number(key, where + "[1]");
    const bool gives_no_value = op.kind == StatementKind::kRange ||
                                op.kind == StatementKind::kRead ||
                                op.kind == StatementKind::kDelete;
    if (gives_no_value && !value.is_null()) {
      fail(in_value,
           found(value) + ", expected null: what is found there is for the database to say");
    }
    const bool list = plan_.type == ColumnType::kList;
    if (op.kind != StatementKind::kRead && (op.kind == StatementKind::kAppend) != list) {
      fail(where, fmt::format("{}, which needs \"values\":\"{}\" at the top of the file",
                              found(element), list ? "integer" : "list"));
    }
    return op;
  }

  const std::string& path_;
  Plan plan_;
};

void print_operation(const Statement& s, fmt::memory_buffer& out) {
  const auto to = std::back_inserter(out);
  const auto word = word_of(s.kind);
  if (s.kind == StatementKind::kRange) {
    fmt::format_to(to, "[\"{}\",[{},{}],null]", word, to_string(s.key[0]), to_string(s.high[0]));
  } else if (s.kind == StatementKind::kCompareAndSet) {
    fmt::format_to(to, "[\"{}\",{},[{},{}]]", word, to_string(s.key[0]), to_string(s.values[0]),
                   to_string(s.values[1]));
  } else {
    fmt::format_to(to, "[\"{}\",{},{}]", word, to_string(s.key[0]),
                   s.values.empty() ? "null" : to_string(s.values[0]));
  }
}

void print_plan(std::string_view name, std::uint64_t seed, Workload& workload, std::uint32_t txns,
                std::ostream& file) {
  fmt::memory_buffer out;
  const auto to = std::back_inserter(out);
  const auto flush = [&](std::size_t more_than) {
    if (out.size() <= more_than) return;
    file.write(out.data(), static_cast<std::streamsize>(out.size()));
    out.clear();
  };
  constexpr std::size_t kPiece = 1 << 20;

  fmt::format_to(to,
                 "{{\"cupel_plan\":1,\"workload\":\"{}\",\"seed\":{},\"values\":\"{}\",\n"
                 "\"default_initial\":{},\n\"initial\":[",
                 name, seed, workload.needs().lists ? "list" : "integer",
                 to_string(workload.default_initial()));
  bool first_row = true;
  workload.load([&](std::uint32_t, const Row& row) {
    fmt::format_to(to, "{}[{},{}]", first_row ? "" : ",", to_string(row.key[0]),
                   to_string(row.values[0]));
    first_row = false;
    flush(kPiece);
  });
  fmt::format_to(to, "],\n\"sessions\":[");
  for (std::uint32_t s = 0; s < workload.sessions(); ++s) {
    fmt::format_to(to, "{}[", s == 0 ? "" : ",");
    for (std::uint32_t t = 0; t < txns; ++t) {
      const auto job = workload.next(s);
      if (job->committed) job->committed();  // as all will, if all goes well
      fmt::format_to(to, "{}\n[", t == 0 ? "" : ",");
      for (std::size_t i = 0; i < job->statements.size(); ++i) {
        if (i > 0) out.push_back(',');
        print_operation(job->statements[i], out);
      }
      out.push_back(']');
      flush(kPiece);
    }
    out.push_back(']');
  }
  fmt::format_to(to, "]}}\n");
  flush(0);
}

}  // namespace

base::Result<std::unique_ptr<Workload>> read_plan(const std::string& path) {
  try {
    return std::unique_ptr<Workload>(std::make_unique<PlannedWorkload>(PlanReader(path).read()));
  } catch (base::Error& error) {
    return std::move(error);
  }
}

base::Status write_plan(std::string_view name, const WorkloadOptions& options, std::uint32_t txns,
                        const std::string& path) {
  auto made = make_workload(name, options);
  if (!made.ok()) return made.error();
  const auto job = make_workload(name, options).value()->next(0);
  if (job->program || job->seen) {
    return base::Error{
        .message = fmt::format(
            "the workload {} decides what to do by what it reads, so its transactions cannot be "
            "written beforehand; run it as it is: `cupel run --workload {}`",
            name, name)};
  }
  const auto write_to = [&](std::ostream& out, const std::string& to) {
    return base::write_in_place(out, to, [&] {
      print_plan(name, options.seed, **made, txns, out);
      return base::Status(base::Ok{});
    });
  };
  if (path == "-") return write_to(std::cout, "standard output");

  namespace fs = std::filesystem;
  std::error_code ignored;
  const auto status = fs::status(path, ignored);
  // Pipes and terminals are written as it comes, and /dev/stdout is no link to be replaced.
  const bool device = path.starts_with("/dev/") || path.starts_with("/proc/");
  const bool whole = !device && (!fs::exists(status) || fs::is_regular_file(status));
  auto written = path;
  if (whole) {
    auto fresh = base::make_fresh_file(path);
    if (!fresh.ok()) return std::move(fresh).error();
    written = *std::move(fresh);
  }
  errno = 0;
  std::ofstream file(written, std::ios::binary | std::ios::trunc);
  if (!file) {
    return base::Error{.message = fmt::format("cannot open for writing: {}",
                                              errno != 0 ? std::strerror(errno) : "unknown reason"),
                       .file = path};
  }
  auto done = write_to(file, path);
  if (!whole) return done;
  file.close();
  std::error_code failure;
  if (done.ok()) fs::rename(written, path, failure);
  if (failure) {
    done = base::Error{.message = "cannot rename the finished file: " + failure.message(),
                       .file = path};
  }
  if (!done.ok()) fs::remove(written, ignored);
  return done;
}

}  // namespace cupel::workload
