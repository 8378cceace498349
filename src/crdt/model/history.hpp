// History of a replicated data type: the calls on each replica and their results, in the
// order of that replica (thesis 2.1: Op and ro).
//
// Replicas, keys and elements are small numbers in order of appearance. An element
// belongs to a key: a member of that set, a value of that register, a character of
// that array. What is allowed is not described here but in decide.hpp.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/hash_table.hpp"
#include "base/result.hpp"
#include "crdt/model/context.hpp"
#include "crdt/model/type.hpp"

namespace cupel::crdt {

// Types share the kinds: a new type may use those of another one, such as kInc and kValue for a
// number that is written and read. The names that a user sees come from the type.
enum class Kind : std::uint8_t {
  kUp,      // add (element), enable
  kDown,    // remove (element), disable
  kTest,    // contains (element), read of a flag: `returned`
  kState,   // read of a whole set: `list`
  kInc,     // update by a number, such as inc or dec: `amount`, negative for dec
  kReset,   // of a counter to 0
  kValue,   // read that returns a number, as of a counter: `amount`
  kWrite,   // of `element`
  kValues,  // read of a register: `list`
  kInsert,  // addAfter(parent, element); no parent: at the beginning. Of a text: `list`, its first
            // character is `element`
  kDelete,  // of `element` from an array; of a text: `list`, its first character is `element`
  kList,    // read of an array: `list`
  kMove,    // of the node `element` of a tree below `parent`; no parent: to the top. A kDelete
            // removes a node and all below it
  kTree,    // read of a tree: `list` has each node and its parent; itself: it is at the top
  kPut,  // maps: of the value `parent` at the place `element` (document.hpp). A kDelete of a place
         // removes what is there
  kDocument,  // read of a map, or of what is at the place `element`: `list` (document.hpp)
  kMark,  // of a marked text: `list`, its first character is `element`, gets the mark `parent`. The
          // marks that a kList shows are its `parent` (marks.hpp)
};
inline bool is_read(Kind k) {
  return k == Kind::kTest || k == Kind::kState || k == Kind::kValue || k == Kind::kValues ||
         k == Kind::kList || k == Kind::kTree || k == Kind::kDocument;
}

// How updates of unknown outcome are read.
enum class UnknownOutcome : std::uint8_t {
  kOpen,          // as updates that any operation may have seen, which leaves the deliveries out
  kAbsent,        // as updates that did not happen
  kAbsentUnread,  // the same, and without the reads of their keys
};
// "absent"; of kOpen, nothing.
std::string_view name(UnknownOutcome outcome);

using OpId = std::uint32_t;
inline constexpr std::uint32_t kNone = 0xffffffff;
// Of an operation without times.
inline constexpr std::int64_t kAlways = std::numeric_limits<std::int64_t>::min(),
                              kNever = std::numeric_limits<std::int64_t>::max();

struct Operation {
  Kind kind = Kind::kUp;
  bool returned = false;
  std::uint32_t replica = 0;
  std::uint32_t seq = 0;  // place in its replica, from 0
  std::uint32_t key = 0;
  std::uint32_t element = kNone;
  std::uint32_t parent = kNone;
  std::int64_t amount = 0;
  std::uint32_t list_begin = 0, list_end = 0;
  std::uint64_t line = 0;                 // of the file, from 1; 0: none
  std::optional<std::int64_t> time = {};  // nanoseconds, of the completion, as recorded
  // Nanoseconds: it was not invoked before, and it had ended by then (times.hpp).
  std::int64_t begun = kAlways, ended = kNever;
};

struct Element {
  std::uint32_t key;
  std::string text;  // its value, as JSON
};

class History {
 public:
  Type type = Type::kAddWinsSet;
  std::vector<std::string> replicas;  // as the file has them, as JSON
  std::vector<std::string> keys;      // texts without quotes, but for those of digits
  std::vector<Element> elements;
  std::vector<Operation> ops;  // in the order of the file
  std::vector<std::vector<OpId>> by_replica;
  std::vector<std::uint32_t> lists;
  // Updates of unknown outcome, each on a replica of its own: no operation has to see them.
  std::vector<std::uint32_t> indeterminate;  // replicas
  // Or else they are not among the operations.
  UnknownOutcome unknown_outcome = UnknownOutcome::kOpen;
  struct Absent {
    std::uint64_t line;  // that says so; of an update without a completion, its invocation
    std::uint32_t key;
  };
  std::vector<Absent> absent;
  [[nodiscard]] std::set<std::uint32_t> keys_of_absent() const;
  // Reads were left out: what they returned may be wrong.
  [[nodiscard]] bool has_unread() const {
    return unknown_outcome == UnknownOutcome::kAbsentUnread && !absent.empty();
  }
  Context context;
  std::uint64_t backward_clock_line = 0;  // where the times of a replica decrease; 0: nowhere
  // Maps (document.hpp): by place, the container that was put there, or kNone if there are several;
  // by container, its place.
  base::HashMap<std::uint32_t, std::uint32_t> container_at, place_of;

  [[nodiscard]] std::span<const std::uint32_t> list(const Operation& op) const {
    return std::span(lists).subspan(op.list_begin, op.list_end - op.list_begin);
  }
  // The characters that an update of an array, list or text adds or removes, in order. The
  // operation is one of this history.
  [[nodiscard]] std::span<const std::uint32_t> changed(const Operation& op) const {
    const auto range = list(op);
    return range.empty() && op.element != kNone ? std::span(&op.element, 1) : range;
  }
  template <typename Test>
  [[nodiscard]] bool any_changed(const Operation& op, Test test) const {
    const auto all = changed(op);
    return std::any_of(all.begin(), all.end(), test);
  }
  // "add(\"a\") on s", "read(c) = 3": with its key where there are several.
  [[nodiscard]] std::string text(OpId op) const;
  // A key as JSON: names that are whole numbers, or have quotes, are so already.
  [[nodiscard]] std::string key_json(std::uint32_t key) const;
  [[nodiscard]] std::string element_text(std::uint32_t element) const;
  // The first elements that a whole read returned: "a, b, … 3 more".
  [[nodiscard]] std::string listed(const Operation& op) const;
  // What a set, flag, counter, register or array calls an operation of this kind.
  [[nodiscard]] std::string_view method(const Operation& op) const;

  std::uint32_t replica(const std::string& name);
  std::uint32_t key(const std::string& name);
  std::uint32_t element(std::uint32_t key, std::string_view text);
  // The elements of one read, one after the other. They are mostly those of the last list of the
  // key, in its order, so that is looked at first: its elements wait for memory all at once, where
  // each next one of element() waits for the one before.
  class Shown {
   public:
    Shown(History& history, std::uint32_t key);
    std::uint32_t element(std::string_view text);

   private:
    History& h_;
    const std::uint32_t key_;
    std::uint32_t at_ = 0, end_ = 0;  // in lists
  };
  // Of a map (document.hpp), what a container has, which is an element itself. Its text is made
  // only for a new one.
  std::uint32_t member(std::uint32_t of, std::uint32_t container, std::string_view local);
  // kNone: there is none.
  [[nodiscard]] std::uint32_t known_element(std::uint32_t key, const std::string& text) const;
  // Notes that the value, a container, is put at the place.
  void note_put(std::uint32_t place, std::uint32_t container);
  // Sets the operation's place in its replica.
  OpId add(Operation op);
  OpId add(Operation op, std::span<const std::uint32_t> list);

 private:
  base::HashMap<std::string, std::uint32_t> replica_ids_, key_ids_;
  // A key and a short text as one number.
  using ShortText = std::pair<std::uint64_t, std::uint64_t>;
  static constexpr ShortText kLong = {~std::uint64_t{0}, 0};  // no short text is that
  // A container and the short text of its member.
  static constexpr std::uint64_t kOfContainer = std::uint64_t{1} << 63U;
  static ShortText short_text(std::uint32_t of, std::string_view text);
  std::pair<std::uint32_t, bool> short_element(const ShortText& number);
  std::pair<std::uint32_t, bool> long_element(std::uint32_t of, std::string_view text);
  base::HashMap<ShortText, std::uint32_t> short_ids_;
  // Is looked up without a copy of the text.
  struct LongTextHash {
    using is_transparent = void;
    std::size_t operator()(const std::pair<std::uint32_t, std::string_view>& text) const {
      return absl::HashOf(text);
    }
  };
  struct SameLongText {
    using is_transparent = void;
    using Text = std::pair<std::uint32_t, std::string_view>;
    bool operator()(const Text& a, const Text& b) const { return a == b; }
  };
  base::HashMap<std::pair<std::uint32_t, std::string>, std::uint32_t, LongTextHash, SameLongText>
      element_ids_;  // the others
  struct Known {
    ShortText text;
    std::uint32_t next = kNone;  // looked up after it last time
  };
  std::vector<Known> known_;                 // by element
  std::vector<std::uint32_t> last_element_;  // by key: that was looked up
  struct ListOfKey {
    std::uint32_t begin = 0, end = 0;
  };
  std::vector<ListOfKey> last_list_;  // by key: of the last operation that has one
};

}  // namespace cupel::crdt
