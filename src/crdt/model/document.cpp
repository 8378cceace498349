// Document: see the header.
#include "crdt/model/document.hpp"

#include <algorithm>
#include <cctype>

namespace cupel::crdt {

std::string_view name(ValueKind kind) {
  for (const auto& container : kContainers) {
    if (container.kind == kind) return container.name;
  }
  return "scalar";
}

std::optional<ValueKind> container_kind(std::string_view name) {
  for (const auto& container : kContainers) {
    if (container.name == name) return container.kind;
  }
  return std::nullopt;
}

std::string container_text(ValueKind kind, std::string_view id) {
  std::string text(name(kind));
  return text.append(" ").append(id);
}

std::string member_text(std::string_view container, std::string_view member) {
  std::string text(container);
  return text.append(":").append(member);
}

namespace {

// The length of the JSON string or number that the text begins with.
std::size_t length_of_id(std::string_view text) {
  if (!text.starts_with('"')) return std::min(text.find(':'), text.size());
  std::size_t at = 1;
  while (at < text.size() && text[at] != '"') at += text[at] == '\\' ? 2 : 1;
  return std::min(at + 1, text.size());
}

}  // namespace

DocumentElement document_element(std::string_view text) {
  if (text.starts_with(':'))
    return {.kind = ValueKind::kMap, .is_member = true, .container = {}, .local = text.substr(1)};
  const auto space = text.find(' ');
  const auto kind = space == std::string_view::npos || text.starts_with('"')
                        ? std::nullopt
                        : container_kind(text.substr(0, space));
  if (!kind) return {.local = text};
  const auto id = text.substr(space + 1);
  const auto length = length_of_id(id);
  if (length == id.size()) return {.kind = *kind, .local = id};
  return {.kind = *kind,
          .is_member = true,
          .container = text.substr(0, space + 1 + length),
          .local = id.substr(length + 1)};
}

DocumentIndex::DocumentIndex(const History& history)
    : history_(&history), entries_(history.elements.size()) {
  std::string container;
  for (std::uint32_t e = 0; e < entries_.size(); ++e) {
    const auto& [key, text] = history.elements[e];
    const auto what = document_element(text);
    entries_[e].kind = what.kind;
    entries_[e].is_member = what.is_member;
    if (!what.is_member) continue;
    container.assign(what.container);
    const auto node = container.empty() ? kNone : history.known_element(key, container);
    entries_[e].node = node == kNone ? root(key) : node;
    const bool holds =
        what.kind == ValueKind::kList && document_element(what.local).kind != ValueKind::kScalar;
    if (holds) entries_[e].holds = history.known_element(key, std::string(what.local));
  }
  for (OpId id = 0; id < history.ops.size(); ++id) {
    const Operation& op = history.ops[id];
    auto made = kNone;
    if (op.kind == Kind::kPut && is_container(op.parent)) made = op.parent;
    if (op.kind == Kind::kInsert) made = entries_[op.element].holds;
    if (made == kNone) continue;
    entries_[made].place = op.element;
    entries_[made].put = id;
  }
}

std::uint32_t DocumentIndex::node_of(const Operation& update) const {
  if (is_read(update.kind)) return kNone;
  return update.kind == Kind::kInc ? update.element : entries_[update.element].node;
}

std::string member_json(std::string_view local) {
  const auto what = document_element(local);
  if (what.kind == ValueKind::kScalar) return std::string(local);
  std::string text = "{\"";
  return text.append(name(what.kind)).append("\":").append(what.local).append("}");
}

std::string joined_path(std::string path, std::string_view key) {
  const bool is_text = key.starts_with('"');
  const auto plain = is_text ? key.substr(1, key.size() - 2) : key;
  const bool is_word =
      !is_text || (!plain.empty() && std::all_of(plain.begin(), plain.end(), [](char c) {
        return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '-';
      }));
  const bool is_key = is_word && document_element(key).kind == ValueKind::kScalar;
  if (!is_key) return path.append("[").append(key).append("]");
  if (!path.empty()) path += '.';
  return path.append(plain);
}

std::string path_text(const History& history, std::uint32_t element) {
  const auto& [key, text] = history.elements[element];
  const auto what = document_element(text);
  if (what.is_member) {
    if (what.container.empty()) return joined_path("", what.local);
    const auto node = history.known_element(key, std::string(what.container));
    const auto above = node == kNone ? std::string(what.container) : path_text(history, node);
    return joined_path(above, what.local);
  }
  const auto place = history.place_of.find(element);
  if (place == history.place_of.end()) return text;
  auto path = path_text(history, place->second);
  if (history.container_at.at(place->second) == kNone) path += " (" + text + ")";
  return path;
}

}  // namespace cupel::crdt
