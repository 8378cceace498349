// Document: how the history of a map has nested values.
//
// A value is a scalar or a container: a map, list, text, counter, set or register, with an id. A
// container is put once, at one place: a key of a map, of the document itself or of another
// container; or it is inserted once into a list. So its id says its path. In a history all of these
// are elements of the document:
//
//   "x", 5, true         a scalar
//   counter "c7"         a container
//   :"n"                 a place: a key of the document
//   map "m1":"n"         a place: a key of a container
//   list "l2":"a"        a character of a list or text, an element of a set, a write of a register
//   list "l2":map "m3"   a character of a list that is a container
//   counter "c7":5       what a read of the counter returned
//
// A read of a document lists what it shows, in this form: each place with its value after it, and
// after that what the value has, if it is a container. Of a list these are its characters, and then
// what each of them has that is a container.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "crdt/model/history.hpp"

namespace cupel::crdt {

enum class ValueKind : std::uint8_t { kScalar, kMap, kList, kText, kCounter, kSet, kRegister };

struct ContainerName {
  ValueKind kind;
  std::string_view name;
};
inline constexpr std::array kContainers = {
    ContainerName{ValueKind::kMap, "map"},   ContainerName{ValueKind::kList, "list"},
    ContainerName{ValueKind::kText, "text"}, ContainerName{ValueKind::kCounter, "counter"},
    ContainerName{ValueKind::kSet, "set"},   ContainerName{ValueKind::kRegister, "register"}};
std::string_view name(ValueKind kind);
std::optional<ValueKind> container_kind(std::string_view name);

// The texts of elements. `id`, `key` and `member` are JSON; `container`: empty is the document.
std::string container_text(ValueKind kind, std::string_view id);
std::string member_text(std::string_view container, std::string_view member);

// What an element of a document is, by its text.
struct DocumentElement {
  ValueKind kind = ValueKind::kScalar;  // of the container, of a member that of its container
  bool is_member = false;               // a place, or what else a container has
  std::string_view container = {};      // its text; empty: the document
  std::string_view local = {};          // the scalar, the id, the key or the member, as JSON
};
DocumentElement document_element(std::string_view text);

// The elements of a history with what they are. A node is a container, by its element, or a
// document, by root().
class DocumentIndex {
 public:
  explicit DocumentIndex(const History& history);

  struct Entry {
    ValueKind kind = ValueKind::kScalar;
    bool is_member = false;
    std::uint32_t node = kNone;   // of a member: what has it; of a part of a history a document
    std::uint32_t holds = kNone;  // of a character of a list: the container that it is
    // Of a container: where it was put, or the character of a list that it is; kNone: nobody put
    // it.
    std::uint32_t place = kNone;
    OpId put = kNone;  // or insertion
  };
  [[nodiscard]] const Entry& at(std::uint32_t element) const { return entries_[element]; }
  [[nodiscard]] bool is_place(std::uint32_t element) const {
    return entries_[element].is_member && entries_[element].kind == ValueKind::kMap;
  }
  [[nodiscard]] bool is_container(std::uint32_t element) const {
    return !entries_[element].is_member && entries_[element].kind != ValueKind::kScalar;
  }
  [[nodiscard]] std::uint32_t root(std::uint32_t key) const {
    return static_cast<std::uint32_t>(entries_.size()) + key;
  }
  [[nodiscard]] bool is_root(std::uint32_t node) const { return node >= entries_.size(); }
  [[nodiscard]] std::size_t count_of_nodes() const {
    return entries_.size() + history_->keys.size();
  }
  // The place, or the character, of a node; kNone: it is a document, or nobody put it.
  [[nodiscard]] std::uint32_t place_of(std::uint32_t node) const {
    return is_root(node) ? kNone : entries_[node].place;
  }
  // What an update is made to: the container, or the document. kNone: it is a read.
  [[nodiscard]] std::uint32_t node_of(const Operation& update) const;
  [[nodiscard]] ValueKind kind_of(std::uint32_t node) const {
    return is_root(node) ? ValueKind::kMap : entries_[node].kind;
  }
  // The last part of an element's text, as JSON.
  [[nodiscard]] std::string_view local(std::uint32_t element) const {
    return document_element(history_->elements[element].text).local;
  }

 private:
  const History* history_;
  std::vector<Entry> entries_;
};

// A member that is a container is so as JSON, too: {"map":"m3"}.
std::string member_json(std::string_view local);

// todo and "n" make todo.n; keys that are no words are quoted, and a path stays as it is.
std::string joined_path(std::string path, std::string_view key);
// "todo.items" of a place or container. Of containers that were put at one place, each has its id,
// too. Takes what History::note_put() says.
std::string path_text(const History& history, std::uint32_t element);

// What a read shows, item by item.
struct ShownItem {
  std::uint32_t element;        // a place, or a member of a container of another kind
  std::uint32_t value = kNone;  // of a place
  // The container that is shown there, or kNone.
  [[nodiscard]] std::uint32_t container(const DocumentIndex& index) const {
    const auto shown = value == kNone ? index.at(element).holds : value;
    return shown != kNone && index.is_container(shown) ? shown : kNone;
  }
};
template <typename Found>
void for_shown(const History& history, const DocumentIndex& index, const Operation& read,
               Found found) {
  const auto list = history.list(read);
  for (std::size_t i = 0; i < list.size(); ++i) {
    ShownItem item{list[i]};
    if (index.is_place(item.element) && i + 1 < list.size()) item.value = list[++i];
    found(item);
  }
}

}  // namespace cupel::crdt
