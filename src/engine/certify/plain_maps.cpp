// Plain maps: see the header. The words and shapes are those of docs/reference/formats/jepsen.md.
#include "engine/certify/plain_maps.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

namespace cupel::certify {

namespace {

using history::kNoTime;
using history::OpKind;
using Kind = PlainValue::Kind;

std::string code_of(const PlainValue& value) {
  switch (value.kind) {
    case Kind::kAbsent:
    case Kind::kNull:
      return "n";
    case Kind::kInteger:
      return "i" + std::to_string(value.integer);
    case Kind::kString:
      return "s" + value.text;
    case Kind::kKeyword:
      return "k" + value.text;
    default:
      return "l" + canonical_text(value);
  }
}

std::optional<OpKind> kind_of(std::string_view word) {
  if (word == "r" || word == "read") return OpKind::kRead;
  if (word == "w" || word == "write") return OpKind::kWrite;
  if (word == "append") return OpKind::kAppend;
  if (word == "cas") return OpKind::kCompareAndSet;
  if (word == "insert") return OpKind::kInsert;
  if (word == "delete") return OpKind::kDelete;
  if (word == "range") return OpKind::kRangeRead;
  return std::nullopt;
}

bool is_micro_operation(const PlainValue& value) {
  return value.is_vector() && value.items.size() >= 2 && value.items.size() <= 4 &&
         value.items[0].is_name() && kind_of(value.items[0].text);
}

// JSON if its first map is, else EDN.
bool is_edn_text(std::string_view bytes) {
  PlainText text(bytes, /*edn=*/false);
  if (!text.more()) return false;
  if (text.peek() == '[') {
    text.advance();
    if (!text.more() || text.peek() == ']') return false;
  }
  PlainValue first;
  if (text.peek() != '{') {
    if (text.value(first)) return first.kind != Kind::kMap;
    return text.position() < bytes.size();  // else the only line may be incomplete
  }
  text.advance();
  if (!text.more() || text.peek() == '}') return false;
  if (text.peek() != '"') return true;
  if (!text.value(first)) return text.position() < bytes.size();
  if (!text.more()) return false;
  if (text.peek() != ':') return true;
  text.advance();
  if (!text.more()) return false;
  // After a name and a colon there is a value in JSON, and the rest of a keyword in EDN.
  const auto rest = bytes.substr(text.position());
  constexpr std::string_view kWords[] = {"true", "false", "null", "NaN", "Infinity"};
  return std::string_view("\"[{-0123456789").find(rest[0]) == std::string_view::npos &&
         std::none_of(std::begin(kWords), std::end(kWords),
                      [&](std::string_view word) { return rest.starts_with(word); });
}

// Of a set-up that failed or is in doubt: what it tried, and not why it ended so.
bool is_set_up(const PlainValue& value) {
  const auto& items = value.items;
  if (!value.is_vector() || items.empty()) return false;
  if (std::all_of(items.begin(), items.end(), [](const auto& item) { return item.is_pair(); }))
    return true;
  return items.size() == 2 && (items[0].kind == Kind::kInteger || items[0].kind == Kind::kString) &&
         !items[1].is_vector() && items[1].kind != Kind::kMap;
}

std::optional<std::uint64_t> index_of(const PlainValue& value) {
  if (value.kind != Kind::kInteger) return std::nullopt;
  return static_cast<std::uint64_t>(value.integer);
}

}  // namespace

PlainTable::Id id_of(PlainTable& table, const PlainValue& value) {
  return table.id(code_of(value));
}

void set_result(PlainTable& table, const PlainValue& value, PlainOperation& op) {
  op.vector = value.is_vector();
  if (op.vector) {
    for (const auto& item : value.items) op.items.push_back(id_of(table, item));
  } else {
    op.value = id_of(table, value);
  }
}

PlainMaps::PlainMaps(std::string_view bytes, PlainTable& table,
                     const std::vector<std::string>& ignored)
    : bytes_(bytes.starts_with("\xef\xbb\xbf") ? bytes.substr(3) : bytes),
      table_(table),
      ignored_(ignored),
      edn_(is_edn_text(bytes_)),
      text_(bytes_, edn_) {
  open_ = text_.more() && (text_.peek() == '[' || (edn_ && text_.peek() == '('));
  lines_ = !open_;
  if (open_) text_.advance();
}

bool PlainMaps::fail(std::string message) {
  if (error_.empty()) error_ = std::move(message);
  return false;
}

std::uint64_t PlainMaps::line() const {
  const auto end = bytes_.begin() + static_cast<std::ptrdiff_t>(at_);
  return 1 + static_cast<std::uint64_t>(std::count(bytes_.begin(), end, '\n'));
}

// The map at hand is the last line, and the writer of lines was interrupted in it: it does not end.
bool PlainMaps::is_cut() const {
  const bool later_line = bytes_.substr(0, at_).find('\n') != std::string_view::npos;
  if (!lines_ || !later_line || bytes_.find('\n', at_) != std::string_view::npos) return false;
  if (edn_) return !PlainText(bytes_.substr(at_), true).pass_edn();
  int open = 0;
  bool quoted = false;
  for (auto at = at_; at < bytes_.size(); ++at) {
    const char c = bytes_[at];
    if (quoted && c == '\\') {
      ++at;
    } else if (c == '"') {
      quoted = !quoted;
    } else if (!quoted && (c == '{' || c == '}')) {
      open += c == '{' ? 1 : -1;
      if (open == 0) return false;
    }
  }
  return true;
}

bool PlainMaps::next_map(PlainValue& map) {
  while (text_.more()) {
    at_ = text_.position();
    const char c = text_.peek();
    const bool ends = open_ && (c == ']' || c == ')');
    if (ends || (open_ && !edn_ && c == ',')) {
      open_ = !ends;
      text_.advance();
      continue;
    }
    if (!text_.record(map)) {
      return !is_cut() && fail(text_.error());
    }
    return map.kind == Kind::kMap || fail("found no operation map");
  }
  at_ = text_.position();
  return text_.error().empty() ? false : fail(text_.error());
}

std::unique_ptr<PlainMap> PlainMaps::next() {
  for (PlainValue map; next_map(map); map = {}) {
    auto op = fields_of(map);
    op->ordinal = ordinal_++;
    const bool nemesis = op->process.is_name() && op->process.text == "nemesis";
    if (!text_.unread().empty() && (op->is_header() || !nemesis)) {
      fail(text_.unread());
      return nullptr;
    }
    if (nemesis && !op->is_header()) continue;
    if (op->is_header()) return op;
    if (std::find(ignored_.begin(), ignored_.end(), op->f) != ignored_.end()) continue;
    if (!read_operations(*op)) return nullptr;
    return op;
  }
  return nullptr;
}

std::unique_ptr<PlainMap> PlainMaps::fields_of(PlainValue& map) {
  auto op = std::make_unique<PlainMap>();
  for (std::size_t i = 0; i + 1 < map.items.size(); i += 2) {
    if (!map.items[i].is_name()) continue;
    const auto& name = map.items[i].text;
    auto& value = map.items[i + 1];
    if (name == "type") op->type = value.text;
    if (name == "f") op->f = value.is_name() ? value.text : "";
    if (name == "time") op->time = value.kind == Kind::kInteger ? value.integer : kNoTime;
    if (name == "index") op->index = index_of(value);
    if (name == "process") {
      op->process = std::move(value);
    } else if (name == "key") {
      op->key = std::move(value);
    } else if (name == "value") {
      op->value = std::move(value);
    }
  }
  return op;
}

// Decides whether the map is of a transaction, and reads its operations.
bool PlainMaps::read_operations(PlainMap& op) {
  const auto& items = op.value.items;
  const bool vector = op.value.is_vector();
  const bool ends_badly = op.type == "fail" || op.type == "info";
  op.transaction =
      op.f.empty() || op.f == "txn" ||
      (vector && !items.empty() && std::all_of(items.begin(), items.end(), is_micro_operation));
  if (!op.transaction) add_key(op);
  const bool of_client = op.type == "invoke" || op.type == "ok" || is_set_up(op.value);
  if (!op.transaction && of_client && (op.f == "init" || op.f == "setup")) {
    set_up(op);
    return true;
  }
  if (!op.transaction) return true;
  const auto is_vector = [](const PlainValue& item) { return item.is_vector(); };
  const bool says = vector && std::all_of(items.begin(), items.end(), is_vector);
  if (!says) return ends_badly || fail("found no operations in a transaction");
  for (const auto& item : items) {
    if (!is_micro_operation(item)) return fail("found no operation: " + canonical_text(item));
    op.operations.push_back(operation(item));
  }
  op.value = {};
  return true;
}

// The field `key` of a register: its value is [key value]; of a set-up, a vector of this.
void PlainMaps::add_key(PlainMap& op) {
  const bool set_up = op.f == "init" || op.f == "setup";
  if (op.key.is_nothing() || (!set_up && op.f != "read" && op.f != "write" && op.f != "cas"))
    return;
  const bool null = op.type == "invoke" || (op.f == "read" && op.type == "ok");
  if (op.value.is_nothing() && (!null || set_up)) return;
  PlainValue pair{.kind = Kind::kVector};
  pair.items = {op.key, op.value};
  op.value = pair;
  if (!set_up) return;
  op.value = {.kind = Kind::kVector};
  op.value.items = {pair};
}

// The writes [key value], a vector of such pairs, or a map.
void PlainMaps::set_up(PlainMap& op) {
  const auto write = [&](const PlainValue& key, const PlainValue& value) {
    op.operations.push_back({.kind = OpKind::kWrite, .key = id(key), .value = id(value)});
  };
  const auto& items = op.value.items;
  const auto is_pair = [](const PlainValue& item) { return item.is_pair(); };
  if (op.value.kind == Kind::kMap) {
    std::vector<std::pair<std::string, std::size_t>> order;  // as a canonical map has it
    for (std::size_t i = 0; i + 1 < items.size(); i += 2) {
      order.emplace_back(canonical_text(items[i]) + " " + canonical_text(items[i + 1]), i);
    }
    std::sort(order.begin(), order.end());
    for (const auto& [text, i] : order) write(items[i], items[i + 1]);
    op.transaction = true;
  } else if (!items.empty() && std::all_of(items.begin(), items.end(), is_pair)) {
    for (const auto& item : items) write(item.items[0], item.items[1]);
    op.transaction = true;
  } else if (op.value.is_pair()) {
    write(items[0], items[1]);
    op.transaction = true;
  }
}

PlainOperation PlainMaps::operation(const PlainValue& vector) {
  const auto& items = vector.items;
  const auto kind = *kind_of(items[0].text);
  PlainOperation op{.kind = kind};
  const PlainValue nothing;
  const PlainValue& value = items.size() > 2 ? items[2] : nothing;
  const bool marked = items.size() == 4;  // with false
  switch (kind) {
    case OpKind::kRangeRead:
      op.known = !marked;  // else it is left out
      range_read(items[1], value, op);
      return op;
    case OpKind::kRead:
      op.key = id(items[1]);
      op.known = !marked && items.size() > 2;
      set_result(table_, value, op);
      return op;
    case OpKind::kCompareAndSet:
      op.key = id(items[1]);
      op.succeeded = !marked;
      if (value.is_pair()) {
        op.value = id(value.items[0]);
        op.other = id(value.items[1]);
      }
      return op;
    default:
      op.key = id(items[1]);
      op.value = id(value);
      return op;
  }
}

void PlainMaps::range_read(const PlainValue& bounds, const PlainValue& found, PlainOperation& op) {
  if (bounds.is_pair()) {
    op.value = id(bounds.items[0]);
    const auto& high = bounds.items[1];
    op.other = high.is_nothing() ? table_.id("lnil") : id(high);  // none: above every key
  }
  for (const auto& entry : found.items) {
    if (!entry.is_pair()) continue;
    op.items.push_back(id(entry.items[0]));
    op.items.push_back(id(entry.items[1]));
  }
}

}  // namespace cupel::certify
