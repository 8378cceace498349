// viper JSON. VIPER's collectors make every written value unique, tombstones of
// deletes included, so values link reads to writes as they stand.
//
// Many logs begin in the middle of a database's life and hold no initial
// transaction; what a read then finds and nobody wrote is either older than the
// log or out of thin air. It is taken for the initial value of its key only
// where every such read of the key agrees.
#include "data/formats/viper.hpp"

#include <fmt/format.h>
#include <simdjson.h>

#include <utility>

#include "base/hash_table.hpp"
#include "base/json_fault.hpp"
#include "data/formats/json_members.hpp"
#include "data/history/builder.hpp"
#include "data/history/text_order.hpp"

namespace cupel::formats {

using namespace history;
namespace dom = simdjson::dom;

namespace {

constexpr std::string_view kNil = "nil";
// Above every key: scalars compare by kind first, and literals are the last kind.

class Reader {
 public:
  Reader(Reading reading, bool alone) : reading_(reading), alone_(alone) {}

  base::Result<History> run(const std::vector<SessionLog>& logs, const std::string& directory) {
    for (const auto& log : logs) {
      file_ = &log.file;
      line_ = 0;
      std::string name = stem(log.file);
      for (std::size_t at = 0; at < log.bytes.size();) {
        const auto [text, next] = line_at(log.bytes, at);
        at = next;
        ++line_;
        reading_.step();
        if (text.find_first_not_of(" \t") == text.npos) continue;
        if (auto read = transaction(text, name); !read.ok()) return std::move(read).error();
      }
    }
    if (builder_.txn_count() == 0 && !has_initial_) {
      return base::Error{
          .message = R"(found no transaction, expected lines like {"value": [["w", 1, 7, true]]})",
          .file = directory};
    }
    const auto foreign = alone_ ? foreign_value() : ValueId::none();
    if (!has_initial_) infer_initial_values();
    builder_.set_metadata("format", "viper");
    auto history = std::move(builder_).finish();
    if (!history.ok()) return base::Error{.message = history.error().message, .file = directory};
    if (foreign.valid()) {
      return base::Error{
          .message = fmt::format("the log of one session reads the value {}, which "
                                 "it did not write. {}",
                                 history->value(foreign).to_string(), kNameTheFolder),
          .file = directory};
    }
    return history;
  }

 private:
  // What is wrong with the line at hand, found while its transaction is open.
  struct Malformed {
    std::string found, expected;
  };

  base::Error error(std::string message) const {
    return {.message = std::move(message), .file = *file_, .line = line_};
  }

  base::Status transaction(std::string_view text, const std::string& name) {
    dom::element document;
    if (const auto failure = parser_.parse(text.data(), text.size()).get(document)) {
      return error(fmt::format("found {}, expected a JSON object: {}", shown(text),
                               base::json_fault(failure)));
    }
    dom::array operations;
    if (document["value"].get(operations)) {
      return error(fmt::format(
          R"(found {}, expected an object whose "value" is an array of operations)", shown(text)));
    }
    dom::element other;
    if (!document["type"].get(other) || !document["process"].get(other)) {
      return error(
          "found an op map of Jepsen, whose invocations would count as transactions here. Read it "
          "with -f jepsen");
    }
    bool initial = false;
    dom::element flag;
    if (!document["isInitial"].get(flag) && flag.get(initial)) {
      return error(fmt::format(R"(found {} as "isInitial", expected true or false)",
                               shown(simdjson::to_string(flag))));
    }
    if (!initial) {
      builder_.begin(builder_.session(name), TxnStatus::kCommitted,
                     {.label = static_cast<std::uint32_t>(builder_.txn_count())});
    } else if (std::exchange(has_initial_, true)) {
      return error("found a second initial transaction, expected at most one");
    }
    try {
      for (const auto operation : operations) {
        reading_.step();
        if (initial)
          initial_operation(operation);
        else
          ordinary_operation(operation);
      }
    } catch (const Malformed& wrong) {
      if (!initial) builder_.cancel();
      return error(fmt::format("found {}, expected {}", shown(wrong.found), wrong.expected));
    }
    if (!initial) builder_.end();
    return base::Ok{};
  }

  static constexpr const char* kOperation =
      R"(["w", key, value, ok], ["r", key, value, is_dead], ["i"|"d", key, value, read_value, is_dead, ok] )"
      R"(or ["range", low, high, [{"id": key, "val": value}], [dead]])";

  // The elements of an operation, and its kind.
  std::string_view open(dom::element operation, std::size_t least) {
    dom::array array;
    if (operation.get(array)) throw Malformed{simdjson::to_string(operation), kOperation};
    parts_.clear();
    for (const auto part : array) parts_.push_back(part);
    std::string_view kind;
    if (parts_.size() < least || parts_[0].get(kind))
      throw Malformed{simdjson::to_string(operation), kOperation};
    return kind;
  }

  static bool is_true(dom::element part) {
    bool value = false;
    if (part.get(value)) throw Malformed{simdjson::to_string(part), "true or false"};
    return value;
  }

  // `text_` keeps what the scalar borrows, until the next call.
  ScalarView scalar(dom::element part) {
    std::int64_t integer;
    std::string_view text;
    if (!part.get(integer)) return ScalarView::of(integer);
    if (!part.get(text)) return text == kNil ? ScalarView::null() : ScalarView::of(text);
    switch (part.type()) {
      case dom::element_type::NULL_VALUE:
        return ScalarView::null();
      case dom::element_type::UINT64:
      case dom::element_type::DOUBLE:
      case dom::element_type::BOOL:
        text_ = simdjson::to_string(part);
        return ScalarView::literal(text_);
      default:
        throw Malformed{simdjson::to_string(part), "a number or a string"};
    }
  }
  KeyId key(dom::element part) {
    const auto s = scalar(part);
    if (s.kind == ScalarKind::kNull) throw Malformed{simdjson::to_string(part), "a key"};
    return builder_.key(s);
  }
  ValueId value(dom::element part) { return builder_.value(scalar(part)); }

  void range_entries(dom::element part, std::vector<RangeEntry>& entries) {
    dom::array array;
    if (part.get(array)) throw Malformed{simdjson::to_string(part), "an array of keys and values"};
    for (const auto entry : array) {
      dom::element id, val;
      if (entry["id"].get(id) || entry["val"].get(val)) {
        throw Malformed{simdjson::to_string(entry), R"({"id": key, "val": value})"};
      }
      entries.push_back({key(id), value(val)});
    }
  }

  void initial_operation(dom::element operation) {
    const auto kind = open(operation, 3);
    if (kind == "w" || kind == "i") {
      set_initial(key(parts_[1]), value(parts_[2]));
    } else if (kind == "range" && parts_.size() >= 5) {
      // A collector that attached to a loaded database recorded it so.
      entries_.clear();
      range_entries(parts_[3], entries_);
      range_entries(parts_[4], entries_);
      for (const auto& entry : entries_) set_initial(entry.key, entry.value);
    } else {
      throw Malformed{simdjson::to_string(operation),
                      "only writes, or a range read of everything, in the initial transaction"};
    }
  }

  void ordinary_operation(dom::element operation) {
    const auto kind = open(operation, 3);
    if (kind == "r") {
      read(key(parts_[1]), value(parts_[2]));
    } else if (kind == "w") {
      write(OpKind::kWrite, parts_.size() < 4 || is_true(parts_[3]));
    } else if (kind == "i" || kind == "d") {
      const bool happened = parts_.size() < 6 || is_true(parts_[5]);
      if (happened && parts_.size() >= 4) read(key(parts_[1]), value(parts_[3]));
      write(kind == "i" ? OpKind::kInsert : OpKind::kDelete, happened);
    } else if (kind == "range" && parts_.size() >= 5) {
      entries_.clear();
      range_entries(parts_[3], entries_);
      range_entries(parts_[4], entries_);
      const auto low = builder_.value(scalar(parts_[1]));  // null is below every key
      auto high_scalar = scalar(parts_[2]);
      if (high_scalar.kind == ScalarKind::kNull) high_scalar = history::kAboveAll;
      builder_.range_read(low, builder_.value(high_scalar), entries_);
      for (const auto& entry : entries_) seen_.insert({entry.key, entry.value});
    } else {
      throw Malformed{simdjson::to_string(operation), kOperation};
    }
  }

  void read(KeyId key, ValueId value) {
    builder_.read(key, value);
    seen_.insert({key, value});
  }

  // A write that did not happen is remembered as well: a read of it is no
  // read of an older value.
  void write(OpKind kind, bool happened) {
    const auto k = key(parts_[1]);
    const auto v = value(parts_[2]);
    written_.insert({k, v});
    if (!happened) return;
    if (kind == OpKind::kWrite)
      builder_.write(k, v);
    else if (kind == OpKind::kInsert)
      builder_.insert(k, v);
    else
      builder_.erase(k, v);
  }

  void set_initial(KeyId key, ValueId value) {
    builder_.set_initial(key, value);
    initial_.insert({key, value});
  }

  // Of a log that is read without the others: a value that another session wrote, or that is older.
  [[nodiscard]] ValueId foreign_value() const {
    for (const auto& read : seen_) {
      if (read.second != builder_.null_value() && !written_.contains(read) &&
          !initial_.contains(read))
        return read.second;
    }
    return ValueId::none();
  }

  void infer_initial_values() {
    base::HashMap<KeyId, ValueId> unknown;  // none(): reads disagree
    for (const auto& [key, value] : seen_) {
      if (written_.contains({key, value})) continue;
      const auto [it, fresh] = unknown.try_emplace(key, value);
      if (!fresh) it->second = ValueId::none();
    }
    std::uint64_t inferred = 0;
    for (const auto& [key, value] : unknown) {
      if (!value.valid() || value == builder_.null_value()) continue;
      builder_.set_initial(key, value);
      ++inferred;
    }
    if (inferred)
      builder_.set_metadata("note", fmt::format("initial values inferred for {} {}", inferred,
                                                inferred == 1 ? "key" : "keys"));
  }

  using Version = std::pair<KeyId, ValueId>;
  Reading reading_;
  dom::parser parser_;
  HistoryBuilder builder_;
  const bool alone_;
  base::HashSet<Version> seen_, written_, initial_;
  std::vector<dom::element> parts_;
  std::vector<RangeEntry> entries_;
  std::string text_;
  const std::string* file_ = nullptr;
  std::uint64_t line_ = 0;
  bool has_initial_ = false;
};

}  // namespace

// One transaction a line: an object with a "value" and, unlike jepsen's, no "type". One with a
// "process" or an "f" is jepsen's that lacks it: as viper's it would lose its session.
Match recognize_viper(std::string_view bytes) {
  const auto start = bytes.find_first_not_of(" \t\r\n");
  if (start == bytes.npos || bytes[start] != '{') return Match::kNo;
  const auto members = first_object(line_at(bytes, start).text);
  const bool jepsen =
      members.contains("type") || members.contains("process") || members.contains("f");
  return members.contains("value") && !jepsen ? Match::kBegins : Match::kNo;
}

base::Result<History> read_viper(const std::vector<SessionLog>& logs, const std::string& directory,
                                 Reading reading, bool alone) {
  return Reader(reading, alone).run(logs, directory);
}

extern constinit const FormatSpec kViperFormat{
    .format = Format::kViper,
    .name = "viper",
    .description = "a directory of JSON *.log files",
    .page = "docs/reference/formats/viper.md",
    .example = "{\"value\": [[\"w\", 1, 5, true], [\"r\", 2, \"nil\", false]]}\n",
    .in_logs = true,
    .recognize = recognize_viper,
    .read = [](const Source& source, Reading reading) {
      return read_viper(source.files, source.path, reading, source.alone);
    }};

}  // namespace cupel::formats
