// Document calls: see the header. A path begins at the document, or at a container by its kind and
// id. Of containers that were put at one place, only an id says which is meant.
#include "crdt/types/document_calls.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/text/json.hpp"
#include "base/utf8.hpp"
#include "crdt/model/amounts.hpp"
#include "crdt/model/document.hpp"

namespace cupel::crdt {

namespace {

using Json = nlohmann::json;

constexpr const char* kWrongPath =
    "a path of keys, as in [\"todo\",\"n\"], or from a container on, as in "
    "[{\"map\":\"m1\"},\"n\"]";

std::string json_text(const Json& value) {
  return value.is_string() ? text::quoted(value.get_ref<const std::string&>()) : text::dump(value);
}

bool is_scalar(const Json& value) {
  return value.is_string() || value.is_number() || value.is_boolean();
}
bool is_id(const Json& value) {
  return value.is_string() || value.is_number_integer();
}

// The container that has an element; kNone: the document.
std::uint32_t container_of(const History& history, std::uint32_t element) {
  const auto& [key, text] = history.elements[element];
  return history.known_element(key, std::string(document_element(text).container));
}

// Reads one call. Each function returns the sentence of an error, or nothing.
class DocumentCall {
 public:
  explicit DocumentCall(const ParsedCall& call) : call_(call), h_(call.history), op_(call.op) {}

  using Wrong = std::optional<std::string>;

  // A container; without a text the document.
  struct Container {
    std::string text = {};
    std::uint32_t element = kNone;  // kNone: also one that no line before has named
  };

  Wrong parse() {
    if (call_.method == "read") return read();
    constexpr std::string_view kMethods[] = {"put",   "remove",   "inc",    "dec",   "add",
                                             "write", "addAfter", "insert", "delete"};
    if (std::find(std::begin(kMethods), std::end(kMethods), call_.method) == std::end(kMethods)) {
      return call_.unknown_method(
          "put, remove, inc, dec, add, write, addAfter, insert, delete or read of a map");
    }
    const Json& value = call_.value;
    if (!value.is_array() || value.empty() || value.size() > 2 || !value[0].is_array())
      return call_.expected("a path and what to do there, as in [[\"todo\",\"n\"],1]");
    static const Json kNothing;
    const Json& argument = value.size() == 2 ? value[1] : kNothing;
    if (call_.method == "put") return put(value[0], argument);
    if (call_.method == "remove" && value.size() == 1) return remove_key(value[0]);
    return update(value[0], argument);
  }

 private:
  [[nodiscard]] static Wrong error(std::string message) { return message; }

  // {"map":"m1"}: a container by its id. Empty: it is none.
  [[nodiscard]] static std::string container_named(const Json& part) {
    if (!part.is_object() || part.size() != 1) return {};
    return container_of_entry(part.begin());
  }
  [[nodiscard]] static std::string container_of_entry(const Json::const_iterator& entry) {
    if (!is_id(entry.value())) return {};
    const auto kind = container_kind(entry.key());
    return kind ? container_text(*kind, json_text(entry.value())) : std::string();
  }

  // `found` becomes the container, or the document.
  Wrong container_at(const Json& path, std::size_t length, Container& found) const {
    found = {};
    auto& text = found.text;
    for (std::size_t i = 0; i < length; ++i) {
      const Json& part = path[i];
      if (auto named = container_named(part); !named.empty()) {
        found = {std::move(named), kNone};
        continue;
      }
      if (!part.is_string()) return call_.expected(kWrongPath);
      const auto place = h_.known_element(op_.key, member_text(text, json_text(part)));
      const auto put = place == kNone ? h_.container_at.end() : h_.container_at.find(place);
      if (put == h_.container_at.end())
        return error(
            fmt::format("found the path {}, expected containers that lines before put at {}",
                        text::dump_excerpt(path), text::dump_excerpt(part)));
      if (put->second == kNone)
        return error(fmt::format(
            "found the path {}, but several containers were put at {}, expected the id of the one "
            "that is meant, as in [{{\"map\":\"m1\"}},\"n\"]",
            text::dump_excerpt(path), text::dump_excerpt(part)));
      found = {h_.elements[put->second].text, put->second};
    }
    if (!text.empty() && found.element == kNone) found.element = h_.known_element(op_.key, text);
    return std::nullopt;
  }

  // A key of a map.
  Wrong place(const Json& path, std::uint32_t& found) const {
    if (!path.is_array() || path.empty() || !path.back().is_string())
      return call_.expected(kWrongPath);
    Container container;
    if (auto wrong = container_at(path, path.size() - 1, container)) return wrong;
    if (!container.text.empty() && document_element(container.text).kind != ValueKind::kMap)
      return error(fmt::format("found the path {}, which leads through a {}, expected maps",
                               text::dump_excerpt(path), container.text));
    found = member(container, json_text(path.back()));
    return std::nullopt;
  }

  Wrong put(const Json& path, const Json& value) {
    op_.kind = Kind::kPut;
    if (auto wrong = place(path, op_.element)) return wrong;
    if (is_scalar(value)) {
      op_.parent = call_.element(value);
      return std::nullopt;
    }
    constexpr const char* kExpected =
        "a path and a value: a string, a number, true or false, or a new container with an id, as "
        "in {\"map\":\"m1\"}; containers are map, list, text, counter, set and register";
    const auto container = container_named(value);
    if (container.empty()) return call_.expected(kExpected);
    op_.parent = h_.element(op_.key, container);
    return new_container(container, op_.parent);
  }

  // It is put at the place, or is the character of a list, that the call is about.
  Wrong new_container(const std::string& text, std::uint32_t container) const {
    if (h_.place_of.contains(container))
      return error(
          fmt::format("found a second put of {}, expected each container to be put once; "
                      "tag them with the replica and a number",
                      text));
    for (auto node = container_of(h_, op_.element); node != kNone;) {
      if (node == container)
        return error(fmt::format("found that {} is put into itself, expected no cycle", text));
      const auto above = h_.place_of.find(node);
      node = above == h_.place_of.end() ? kNone : container_of(h_, above->second);
    }
    h_.note_put(op_.element, container);
    return std::nullopt;
  }

  Wrong remove_key(const Json& path) {
    op_.kind = Kind::kDelete;
    return place(path, op_.element);
  }

  // A scalar, or a container that is a character of a list.
  [[nodiscard]] std::uint32_t member(const Container& container, const Json& value) const {
    const auto named = container_named(value);
    return member(container, named.empty() ? json_text(value) : named);
  }
  [[nodiscard]] std::uint32_t member(const Container& container, const std::string& local) const {
    if (container.element != kNone) return h_.member(op_.key, container.element, local);
    return h_.element(op_.key, member_text(container.text, local));
  }
  [[nodiscard]] static bool is_character(const Json& value) {
    return is_scalar(value) || !container_named(value).empty();
  }

  // Of a container that is no map.
  Wrong update(const Json& path, const Json& argument) {
    Container container;
    if (auto wrong = container_at(path, path.size(), container)) return wrong;
    const auto kind =
        container.text.empty() ? ValueKind::kMap : document_element(container.text).kind;
    switch (kind) {
      case ValueKind::kCounter:
        if (call_.method == "inc" || call_.method == "dec") return count(container, argument);
        break;
      case ValueKind::kSet:
        if (call_.method == "add" || call_.method == "remove")
          return one_member(container, argument, call_.method == "add" ? Kind::kUp : Kind::kDown);
        break;
      case ValueKind::kRegister:
        if (call_.method == "write") return one_member(container, argument, Kind::kWrite);
        break;
      case ValueKind::kList:
        if (call_.method == "addAfter") return insert(container, argument, kind);
        if (call_.method == "remove") return remove_character(container, argument);
        break;
      case ValueKind::kText:
        if (call_.method == "insert") return insert(container, argument, kind);
        if (call_.method == "delete") return remove_characters(container, argument);
        break;
      case ValueKind::kMap:
      case ValueKind::kScalar:
        break;
    }
    return error(fmt::format("found {} of {}, which is a {}, expected an update that it has",
                             call_.method, text::dump_excerpt(path),
                             container.text.empty() ? "document" : name(kind)));
  }

  Wrong count(const Container& container, const Json& argument) {
    const Json amount = argument.is_null() ? Json(1) : argument;
    const bool well = is_whole_within(amount, kMostAmount) && amount >= 1;
    if (!well) return call_.expected("a path and an amount from 1 to 2^40");
    op_.kind = Kind::kInc;
    op_.element = h_.element(op_.key, container.text);
    op_.amount = amount.get<std::int64_t>() * (call_.method == "dec" ? -1 : 1);
    return std::nullopt;
  }

  Wrong one_member(const Container& container, const Json& argument, Kind kind) {
    if (!is_scalar(argument)) return call_.expected("a path and a string, a number, true or false");
    op_.kind = kind;
    op_.element = member(container, argument);
    return std::nullopt;
  }

  Wrong remove_character(const Container& list, const Json& argument) {
    if (!is_character(argument))
      return call_.expected(
          "a path and an element: a string, a number, true, false, or a container such as "
          "{\"map\":\"m1\"}");
    op_.kind = Kind::kDelete;
    op_.element = member(list, argument);
    return std::nullopt;
  }

  // The characters of a string. False: it is none.
  bool take_characters(const Container& container, const Json& value) {
    if (!value.is_string()) return false;
    std::string_view rest = value.get_ref<const std::string&>();
    while (!rest.empty()) {
      const auto length = base::utf8_length(rest);
      if (length == 0) return false;
      call_.list.push_back(member(container, text::quoted(rest.substr(0, length))));
      rest.remove_prefix(length);
    }
    return true;
  }

  Wrong insert(const Container& container, const Json& argument, ValueKind kind) {
    op_.kind = Kind::kInsert;
    const bool text = kind == ValueKind::kText;
    const bool two =
        argument.is_array() && argument.size() == 2 &&
        (argument[0].is_null() || is_scalar(argument[0]) || (!text && is_character(argument[0])));
    const bool well = two && (text ? take_characters(container, argument[1]) && !call_.list.empty()
                                   : is_character(argument[1]));
    if (!well)
      return call_.expected(
          text ? "a path, the character before (null: the beginning) and the characters to insert, "
                 "as in [[\"title\"],[null,\"abc\"]]"
               : "a path, the element before (null: the beginning) and the element, which may be a "
                 "new container, as in [[\"items\"],[null,\"a\"]] and "
                 "[[\"items\"],[\"a\",{\"map\":\"m1\"}]]");
    op_.element = text ? call_.list.front() : member(container, argument[1]);
    if (!argument[0].is_null()) op_.parent = member(container, argument[0]);
    const bool itself = op_.parent == op_.element || std::find(call_.list.begin(), call_.list.end(),
                                                               op_.parent) != call_.list.end();
    if (op_.parent != kNone && itself) return call_.expected("something else before it");
    const auto inserted = text ? std::string() : container_named(argument[1]);
    if (inserted.empty()) return std::nullopt;
    return new_container(inserted, h_.element(op_.key, inserted));
  }

  Wrong remove_characters(const Container& container, const Json& argument) {
    op_.kind = Kind::kDelete;
    if (!take_characters(container, argument) || call_.list.empty())
      return call_.expected("a path and the characters to delete, as in [[\"title\"],\"abc\"]");
    op_.element = call_.list.front();
    return call_.refuse_repeated_characters();
  }

  Wrong read() {
    op_.kind = Kind::kDocument;
    const Json& value = call_.value;
    if (value.is_array() && !value.empty() && value.size() <= 2) {
      if (auto wrong = place(value[0], op_.element)) return wrong;
      static const Json kNothing;
      const Json& shown = value.size() == 2 ? value[1] : kNothing;
      if (call_.indeterminate || shown.is_null()) return std::nullopt;
      return take_value(op_.element, shown);
    }
    if (call_.indeterminate) return std::nullopt;
    if (!value.is_object())
      return call_.expected(
          "the document, as in {\"n\":{\"counter\":\"c1\",\"value\":2}}, or a path and what is "
          "there (null: nothing)");
    return take_entries({}, value);
  }

  Wrong take_value(std::uint32_t place, const Json& value) {
    call_.list.push_back(place);
    if (is_scalar(value)) {
      call_.list.push_back(call_.element(value));
      return std::nullopt;
    }
    Container container{shown_container(value)};
    if (!container.text.empty()) {
      container.element = h_.element(op_.key, container.text);
      call_.list.push_back(container.element);
      return take_content(document_element(container.text).kind, container, value["value"]);
    }
    return error(fmt::format(
        "found {} in what a read shows, expected a string, a number, true, false, or a container "
        "with its id, as in {{\"counter\":\"c1\",\"value\":2}}",
        text::dump_excerpt(value)));
  }

  // {"map":"m1","value":{}}: its text. Empty: it is no container.
  [[nodiscard]] static std::string shown_container(const Json& value) {
    if (!value.is_object() || value.size() != 2 || !value.contains("value")) return {};
    const auto first = value.begin();
    return container_of_entry(first.key() == "value" ? std::next(first) : first);
  }

  // In the order of their elements, so that equal documents are equal lists.
  Wrong take_entries(const Container& container, const Json& entries) {
    if (!entries.is_object())
      return error(fmt::format("found {} as the value of a map, expected an object of its keys",
                               text::dump_excerpt(entries)));
    std::vector<std::pair<std::uint32_t, const Json*>> places;
    for (const auto& [key, value] : entries.items())
      places.emplace_back(member(container, text::quoted(key)), &value);
    std::sort(places.begin(), places.end());
    for (const auto& [place, value] : places) {
      if (auto wrong = take_value(place, *value)) return wrong;
    }
    return std::nullopt;
  }

  Wrong take_content(ValueKind kind, const Container& container, const Json& content) {
    const auto begin = static_cast<std::ptrdiff_t>(call_.list.size());
    bool well = false;
    switch (kind) {
      case ValueKind::kMap:
        return take_entries(container, content);
      case ValueKind::kCounter:
        well = is_whole_within(content, kMostSum);
        if (well) call_.list.push_back(member(container, content));
        break;
      case ValueKind::kText:
        well = take_characters(container, content);
        break;
      case ValueKind::kList:
        return take_list(container, content);
      default:
        well = content.is_array() && std::all_of(content.begin(), content.end(), is_scalar);
        for (const Json& one : content) {
          if (well) call_.list.push_back(member(container, one));
        }
    }
    if (!well)
      return error(fmt::format("found {} as the value of a {}, expected {}",
                               text::dump_excerpt(content), name(kind),
                               kind == ValueKind::kCounter ? "a whole number of at most 2^59"
                               : kind == ValueKind::kText  ? "a string"
                                                           : "an array of scalars"));
    if (kind == ValueKind::kSet || kind == ValueKind::kRegister)
      std::sort(call_.list.begin() + begin, call_.list.end());
    const bool repeats =
        kind == ValueKind::kSet &&
        std::adjacent_find(call_.list.begin() + begin, call_.list.end()) != call_.list.end();
    if (repeats)
      return error(fmt::format("found {} as the value of a set, expected each element once",
                               text::dump_excerpt(content)));
    return std::nullopt;
  }

  // Its characters, and then what is in those that are containers.
  Wrong take_list(const Container& container, const Json& content) {
    std::vector<std::string> shown;  // empty: a scalar
    bool well = content.is_array();
    for (std::size_t i = 0; well && i < content.size(); ++i) {
      shown.push_back(is_scalar(content[i]) ? std::string() : shown_container(content[i]));
      well = is_scalar(content[i]) || !shown[i].empty();
    }
    if (!well)
      return error(fmt::format(
          "found {} as the value of a list, expected an array of scalars and of containers with "
          "their values, as in [\"a\",{{\"map\":\"m1\",\"value\":{{}}}}]",
          text::dump_excerpt(content)));
    for (std::size_t i = 0; i < content.size(); ++i)
      call_.list.push_back(member(container, shown[i].empty() ? json_text(content[i]) : shown[i]));
    for (std::size_t i = 0; i < content.size(); ++i) {
      if (shown[i].empty()) continue;
      const Container held{shown[i], h_.element(op_.key, shown[i])};
      const auto kind = document_element(held.text).kind;
      if (auto wrong = take_content(kind, held, content[i]["value"])) return wrong;
    }
    return std::nullopt;
  }

  const ParsedCall& call_;
  History& h_;
  Operation& op_;
};

Json parsed(std::string_view text) {
  return Json::parse(text, nullptr, false);
}

Json container_json(const DocumentElement& container) {
  return Json::object({{std::string(name(container.kind)), parsed(container.local)}});
}

// [{"map":"m1"},"n"]; of a container [{"map":"m1"}].
Json path_json(const History& history, std::uint32_t element) {
  const auto what = document_element(history.elements[element].text);
  Json path = Json::array();
  if (!what.is_member) {
    path.push_back(container_json(what));
    return path;
  }
  if (!what.container.empty()) path.push_back(container_json(document_element(what.container)));
  path.push_back(parsed(what.local));
  return path;
}

// The last part of a member's text.
Json local_json(std::string_view local) {
  return parsed(member_json(local));
}

// What a list of a read shows, from the item at `at` on.
class ShownValues {
 public:
  ShownValues(const History& history, const Operation& read)
      : h_(history), list_(history.list(read)) {}

  // The entries of a map: the text of its container; empty: the document.
  Json entries(std::string_view container) {
    Json all = Json::object();
    while (at_ < list_.size()) {
      const auto what = element(at_);
      if (!what.is_member || what.container != container) break;
      all[parsed(what.local).get<std::string>()] = place_value();
    }
    return all;
  }
  // What is at the place that comes now; null: nothing.
  Json place_value() {
    if (at_ + 1 >= list_.size()) return {};
    const std::string& text = h_.elements[list_[at_ + 1]].text;
    const auto value = document_element(text);
    at_ += 2;
    if (value.kind == ValueKind::kScalar) return parsed(text);
    Json shown = container_json(value);
    shown["value"] = content(value.kind, text);
    return shown;
  }

 private:
  [[nodiscard]] DocumentElement element(std::size_t at) const {
    return document_element(h_.elements[list_[at]].text);
  }

  Json content(ValueKind kind, std::string_view container) {
    if (kind == ValueKind::kMap) return entries(container);
    Json members = Json::array();
    std::vector<DocumentElement> held;  // by member
    std::string text;
    for (; at_ < list_.size(); ++at_) {
      const auto what = element(at_);
      if (!what.is_member || what.container != container) break;
      members.push_back(local_json(what.local));
      held.push_back(document_element(what.local));
      if (kind == ValueKind::kText) text += members.back().get_ref<const std::string&>();
    }
    for (std::size_t i = 0; i < held.size(); ++i) {
      if (held[i].kind != ValueKind::kScalar)
        members[i]["value"] = content(held[i].kind, container_text(held[i].kind, held[i].local));
    }
    if (kind == ValueKind::kText) return text;
    if (kind == ValueKind::kCounter) return members.empty() ? Json(0) : members[0];
    return members;
  }

  const History& h_;
  const std::span<const std::uint32_t> list_;
  std::size_t at_ = 0;
};

// Of a text the characters together.
Json changed_json(const History& history, const Operation& op) {
  const auto list = history.list(op);
  if (list.empty()) return local_json(document_element(history.elements[op.element].text).local);
  std::string text;
  for (const auto e : list)
    text += parsed(document_element(history.elements[e].text).local).get<std::string>();
  return text;
}

std::string local_text(const History& history, std::uint32_t element) {
  return member_json(document_element(history.elements[element].text).local);
}

std::string shortened(std::string text) {
  constexpr std::size_t kMost = 200;
  if (text.size() <= kMost) return text;
  auto end = kMost;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0U) == 0x80) --end;
  return text.substr(0, end) + "…";
}

// A document as words have it: {todo: map "m1" {n: counter "c1" 2}}.
std::string shown_text(const Json& value);

std::string entries_text(const Json& entries) {
  std::string all;
  for (const auto& [key, value] : entries.items())
    all += fmt::format("{}{}: {}", all.empty() ? "" : ", ", joined_path("", text::quoted(key)),
                       shown_text(value));
  return "{" + all + "}";
}

std::string shown_text(const Json& value) {
  if (value.is_array()) {
    std::string all;
    for (const Json& one : value) all += (all.empty() ? "" : ",") + shown_text(one);
    return "[" + all + "]";
  }
  if (!value.is_object()) return text::dump(value);
  for (const auto& [kind, name] : kContainers) {
    const auto id = value.find(std::string(name));
    if (id == value.end()) continue;
    const Json& content = value["value"];
    return fmt::format("{} {} {}", name, text::dump(*id),
                       kind == ValueKind::kMap ? entries_text(content) : shown_text(content));
  }
  return {};
}

}  // namespace

std::optional<std::string> parse_document_call(const ParsedCall& call) {
  return DocumentCall(call).parse();
}

std::string_view method_of_document_call(const Operation& op) {
  const bool range = op.list_begin != op.list_end;
  switch (op.kind) {
    case Kind::kPut:
      return "put";
    case Kind::kDelete:
      return range ? "delete" : "remove";
    case Kind::kInsert:
      return range ? "insert" : "addAfter";
    case Kind::kUp:
      return "add";
    case Kind::kDown:
      return "remove";
    case Kind::kInc:
      return op.amount < 0 ? "dec" : "inc";
    case Kind::kWrite:
      return "write";
    default:
      return "read";
  }
}

Json argument_of_document_call(const History& history, const Operation& op) {
  if (op.kind == Kind::kDocument)
    return op.element == kNone ? Json() : Json::array({path_json(history, op.element)});
  if (op.kind == Kind::kPut) {
    const auto value = document_element(history.elements[op.parent].text);
    return Json::array({path_json(history, op.element),
                        value.kind == ValueKind::kScalar ? parsed(history.elements[op.parent].text)
                                                         : container_json(value)});
  }
  if (op.kind == Kind::kInc)
    return Json::array({path_json(history, op.element), std::abs(op.amount)});
  const auto what = document_element(history.elements[op.element].text);
  if (what.kind == ValueKind::kMap) return Json::array({path_json(history, op.element)});
  const Json path = Json::array({container_json(document_element(what.container))});
  const Json changed = changed_json(history, op);
  if (op.kind != Kind::kInsert) return Json::array({path, changed});
  const Json before = op.parent == kNone
                          ? Json()
                          : local_json(document_element(history.elements[op.parent].text).local);
  return Json::array({path, Json::array({before, changed})});
}

Json value_of_document_call(const History& history, const Operation& op) {
  if (op.kind != Kind::kDocument) return argument_of_document_call(history, op);
  ShownValues shown(history, op);
  if (op.element == kNone) return shown.entries("");
  return Json::array({path_json(history, op.element), shown.place_value()});
}

ReplicatedType::Text text_of_document_call(const History& history, const Operation& op) {
  if (op.kind == Kind::kDocument) {
    ShownValues shown(history, op);
    if (op.element == kNone) return {{}, shortened(entries_text(shown.entries("")))};
    const Json value = shown.place_value();
    return {{path_text(history, op.element)},
            value.is_null() ? "nothing" : shortened(shown_text(value))};
  }
  if (op.kind == Kind::kPut)
    return {{path_text(history, op.element), history.elements[op.parent].text}, ""};
  if (op.kind == Kind::kInc)
    return {{path_text(history, op.element), std::to_string(std::abs(op.amount))}, ""};
  const auto what = document_element(history.elements[op.element].text);
  if (what.kind == ValueKind::kMap) return {{path_text(history, op.element)}, ""};
  const auto container = container_of(history, op.element);
  std::vector<std::string> arguments = {container == kNone ? std::string(what.container)
                                                           : path_text(history, container)};
  if (op.kind == Kind::kInsert)
    arguments.push_back(op.parent == kNone ? "null" : local_text(history, op.parent));
  arguments.push_back(text::dump(changed_json(history, op)));
  return {arguments, ""};
}

}  // namespace cupel::crdt
