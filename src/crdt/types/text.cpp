// Text: see the header.
#include "crdt/types/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/text/flat_json.hpp"
#include "base/text/json.hpp"
#include "base/utf8.hpp"
#include "crdt/model/element_json.hpp"
#include "crdt/model/unique_character.hpp"
#include "crdt/solve/context.hpp"
#include "crdt/types/common_bugs.hpp"
#include "crdt/workload/simulated_replica.hpp"

namespace cupel::crdt {

using Json = nlohmann::json;

constexpr std::uint64_t kLongest = 3;  // range that is chosen

std::string TextType::string_of(const History& history, std::span<const std::uint32_t> characters) {
  std::string text;
  for (const auto e : characters) text += element_json(history, e).get<std::string>();
  return text;
}

std::string TextType::shown_text(const History& history,
                                 std::span<const std::uint32_t> characters) {
  constexpr std::size_t kShown = 40;
  std::string shown =
      text::quoted(string_of(history, characters.first(std::min(kShown, characters.size()))));
  if (characters.size() > kShown) shown += fmt::format(" and {} more", characters.size() - kShown);
  return shown;
}

bool TextType::take_characters(const ParsedCall& call, const Json& value, bool empty) {
  return value.is_string() && add_characters(call, value.get_ref<const std::string&>(), empty);
}

namespace {

// False: it is no text. `element(quoted)` is that of a character.
template <typename Element>
bool for_characters(std::string_view text, std::vector<std::uint32_t>& list, Element element) {
  std::string quoted;
  for (std::size_t at = 0; at < text.size();) {
    const auto length = base::utf8_length(text.substr(at));
    if (length == 0) return false;
    const auto character = text.substr(at, length);
    if (length == 1)
      quoted = text::quoted(character);
    else  // nothing to escape
      quoted.assign(1, '"').append(character).append(1, '"');
    list.push_back(element(quoted));
    at += length;
  }
  return true;
}

}  // namespace

bool TextType::add_characters(const ParsedCall& call, std::string_view text, bool empty) {
  const auto element = [&](const std::string& quoted) {
    return call.history.element(call.op.key, quoted);
  };
  return for_characters(text, call.list, element) && (empty || !text.empty());
}

void add_shown(const ParsedCall& call, History::Shown& shown, std::string_view text) {
  for_characters(text, call.list, [&](const std::string& quoted) { return shown.element(quoted); });
}

namespace {

// False: it is not one character, or one of the new ones.
template <typename Take>
bool take_neighbour(const ParsedCall& call, Take take) {
  const Json& neighbour = call.value[0];
  if (neighbour.is_null()) return true;
  std::vector<std::uint32_t> one;
  const ParsedCall alone{.method = call.method,
                         .value = neighbour,
                         .indeterminate = false,
                         .grow_only = false,
                         .history = call.history,
                         .op = call.op,
                         .list = one};
  if (!take(alone) || one.size() != 1) return false;
  call.op.parent = one.front();
  return std::find(call.list.begin(), call.list.end(), call.op.parent) == call.list.end();
}

}  // namespace

std::string_view TextType::method(const Operation& op) const {
  return op.kind == Kind::kInsert ? "insert" : op.kind == Kind::kDelete ? "delete" : "read";
}

ReplicatedType::Text TextType::text(const History& history, const Operation& op) const {
  const std::string shown = shown_text(history, history.changed(op));
  if (op.kind == Kind::kList) return {{}, shown};
  if (op.kind == Kind::kDelete) return {{shown}, ""};
  return {{op.parent == kNone ? "null" : history.element_text(op.parent), shown}, ""};
}

std::optional<std::string> TextType::parse(const ParsedCall& call) const {
  Operation& op = call.op;
  const Json& value = call.value;
  if (call.method == "insert") {
    op.kind = Kind::kInsert;
    const bool two = value.is_array() && value.size() == 2;
    if (!two || !take_characters(call, value[1], /*empty=*/false) ||
        !take_neighbour(call, [](const ParsedCall& one) {
          return take_characters(one, one.value, /*empty=*/false);
        }))
      return call.expected(
          "the character before (null: the beginning) and the characters to insert, as in "
          "[null,\"abc\"]");
    op.element = call.list.front();
    return std::nullopt;
  }
  if (call.method == "delete") {
    op.kind = Kind::kDelete;
    if (!take_characters(call, value, /*empty=*/false))
      return call.expected("the characters to delete, as in \"abc\"");
    op.element = call.list.front();
    return call.refuse_repeated_characters();
  }
  if (call.method != "read") return call.unknown_method("insert, delete or read of a text");
  op.kind = Kind::kList;
  if (call.indeterminate || take_characters(call, value, /*empty=*/true)) return std::nullopt;
  return call.expected("a string");
}

namespace {

class TextRead final : public FlatCall {
 public:
  explicit TextRead(std::string_view text) : text_(text) {}

  [[nodiscard]] std::optional<std::string> parse(const ParsedCall& call) const override {
    call.op.kind = Kind::kList;
    History::Shown shown(call.history, call.op.key);
    add_shown(call, shown, text_);
    return std::nullopt;
  }

 private:
  const std::string_view text_;
};

}  // namespace

std::unique_ptr<FlatCall> TextType::flat_call(std::string_view method,
                                              std::string_view value) const {
  if (method == "read" && text::is_flat_text(value))
    return std::make_unique<TextRead>(text::flat_text(value));
  return tree_call(value);
}

Json TextType::value(const History& history, const Operation& op) const {
  if (op.kind != Kind::kList) return argument(history, op);
  return string_of(history, history.list(op));
}

Json TextType::argument(const History& history, const Operation& op) const {
  if (op.kind == Kind::kList) return {};
  const auto characters = string_of(history, history.changed(op));
  if (op.kind == Kind::kDelete) return characters;
  return Json::array({element_json(history, op.parent), characters});
}

std::vector<std::uint32_t> TextType::choose_range(RequestChoice& choice) {
  const auto& known = choice.visible[choice.op.key];
  const auto length = 1 + choice.random.below(kLongest);
  std::vector<std::uint32_t> range;
  const auto begin = choice.random.below(known.size());
  for (auto at = begin; at < known.size() && range.size() < length; ++at)
    range.push_back(known[at]);
  return range;
}

void TextType::set_range(RequestChoice& choice, const std::vector<std::uint32_t>& range) {
  Operation& op = choice.op;
  op.element = range.front();
  auto& lists = choice.history.lists;
  op.list_begin = static_cast<std::uint32_t>(lists.size());
  lists.insert(lists.end(), range.begin(), range.end());
  op.list_end = static_cast<std::uint32_t>(lists.size());
}

void TextType::choose(RequestChoice& choice) const {
  if (choice.read) return;
  Operation& op = choice.op;
  const auto& known = choice.visible[op.key];
  if (!known.empty() && choice.down) {
    op.kind = Kind::kDelete;
    set_range(choice, choose_range(choice));
    return;
  }
  const auto length = 1 + choice.random.below(kLongest);
  op.parent = known.empty() || choice.random.chance(0.25)
                  ? kNone
                  : known[choice.random.below(known.size())];
  std::vector<std::uint32_t> range;
  while (range.size() < length) {
    const auto character = unique_character(choice.fresh++);
    if (character.empty()) break;
    range.push_back(choice.history.element(op.key, text::quoted(character)));
  }
  if (range.empty()) {  // all are used: a read
    op.parent = kNone;
    return;
  }
  op.kind = Kind::kInsert;
  set_range(choice, range);
}

const ReplicatedType& replicated_text() {
  auto traits = CharactersType::traits_of(
      {{"text"}}, {ignores_timestamp(), forgets_removed_neighbour(), removes_first_of_range()},
      decide_known_list);
  traits.one_order = true;
  static const TextType type(std::move(traits));
  return type;
}

}  // namespace cupel::crdt
