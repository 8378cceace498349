// Semantics: the types as the verifier reads the axioms. It shares no code with decide.hpp.
//
// A type is described here a second time, on purpose, by a row of kRules. visible_state.hpp says
// by it whether a read returns what it may. What the exhaustive search derives from a read besides
// (exhaustive_search.cpp) saves work, for the values of Returns that it knows.
#pragma once

#include <algorithm>
#include <cstddef>
#include <functional>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "crdt/model/history.hpp"

namespace cupel::crdt {

// What a read of a type returns, of what it has seen.
enum class Returns : std::uint8_t {
  kMembership,     // which objects are on; one side of the updates wins
  kLastUpdate,     // which objects are on; the last update in the order of the object says it
  kSum,            // of all amounts
  kSumSinceReset,  // of those that no visible reset observed
  kSumNotBelow0,   // of all amounts, and not below 0
  kMaximalWrites,  // all that are not causally overwritten by any visible write
  kLastWrite,      // in the linearization
  kAnyMaximal,     // one of those not overwritten
  kGreatest,       // of all writes
  kCharacters,     // added and not removed, in the order of the linearization
  kListed,         // added and not removed, in one order of them all
  kMoved,          // each where its last move put it; only with known deliveries
  kTree,           // what the moves make, in the linearization; only with known deliveries
  kDocument,       // nested values (document_check.hpp); only with known deliveries
};

// What the remove of a key of a document does to the values that it had seen.
enum class Removal : std::uint8_t {
  kInOrder,       // it is one of the updates of the key, of which the last one counts
  kTakesAway,     // it takes them away
  kUnlessWithin,  // the same, but for those with an update that no visible remove had seen
  kUndoesWithin,  // the same, and the updates that it had seen do not count
};

struct Rules {
  Type type;
  Returns returns;
  bool up_wins = false;               // of kMembership
  bool for_good = false;              // and the other side overwrites nothing
  bool objects_are_elements = false;  // else keys
  bool order_by_object = false;       // of kLastWrite and others: and of each for itself
  bool weak = false;        // of kListed: in one order of each two; only with known deliveries
  bool keeps_runs = false;  // of kListed: runs are not mixed; only with known deliveries
  bool marks = false;       // of kListed: characters have marks; only with known deliveries
  Removal removal = Removal::kInOrder;  // of kDocument

  // Do updates name elements, and reads list them one by one?
  [[nodiscard]] bool names_elements() const { return objects_are_elements || shows_characters(); }
  [[nodiscard]] bool shows_characters() const {
    return returns == Returns::kCharacters || returns == Returns::kListed;
  }
  [[nodiscard]] bool returns_writes() const {
    return returns == Returns::kMaximalWrites || returns == Returns::kLastWrite ||
           returns == Returns::kAnyMaximal || returns == Returns::kGreatest;
  }
  [[nodiscard]] bool needs_deliveries() const {
    return returns == Returns::kTree || returns == Returns::kMoved ||
           returns == Returns::kDocument || weak || keeps_runs || marks;
  }
  [[nodiscard]] std::uint32_t object(const Operation& op) const {
    return objects_are_elements ? op.element : op.key;
  }
};

inline constexpr Rules kRules[] = {
    {.type = Type::kAddWinsSet,
     .returns = Returns::kMembership,
     .up_wins = true,
     .objects_are_elements = true},
    {.type = Type::kRemoveWinsSet, .returns = Returns::kMembership, .objects_are_elements = true},
    {.type = Type::kGrowOnlySet,
     .returns = Returns::kMembership,
     .up_wins = true,
     .objects_are_elements = true},
    {.type = Type::kTwoPhaseSet,
     .returns = Returns::kMembership,
     .for_good = true,
     .objects_are_elements = true},
    {.type = Type::kLastWriterWinsSet,
     .returns = Returns::kLastUpdate,
     .up_wins = true,
     .objects_are_elements = true,
     .order_by_object = true},
    {.type = Type::kEnableWinsFlag, .returns = Returns::kMembership, .up_wins = true},
    {.type = Type::kDisableWinsFlag, .returns = Returns::kMembership},
    {.type = Type::kMultiValueRegister, .returns = Returns::kMaximalWrites},
    {.type = Type::kLastWriterWinsRegister, .returns = Returns::kLastWrite},
    {.type = Type::kLastWriterWinsMap, .returns = Returns::kLastWrite, .order_by_object = true},
    {.type = Type::kAnyMaximalRegister, .returns = Returns::kAnyMaximal},
    {.type = Type::kMaxRegister, .returns = Returns::kGreatest},
    {.type = Type::kCounter, .returns = Returns::kSum},
    {.type = Type::kResettableCounter, .returns = Returns::kSumSinceReset},
    {.type = Type::kBoundedCounter, .returns = Returns::kSumNotBelow0},
    {.type = Type::kGrowableArray, .returns = Returns::kCharacters},
    {.type = Type::kStrongList, .returns = Returns::kListed},
    {.type = Type::kWeakList, .returns = Returns::kListed, .weak = true},
    {.type = Type::kNonInterleavingList, .returns = Returns::kListed, .keeps_runs = true},
    {.type = Type::kText, .returns = Returns::kListed},
    {.type = Type::kMarkedText,
     .returns = Returns::kListed,
     .order_by_object = true,
     .marks = true},
    {.type = Type::kMovableList, .returns = Returns::kMoved},
    {.type = Type::kTree, .returns = Returns::kTree, .order_by_object = true},
    {.type = Type::kMap,
     .returns = Returns::kDocument,
     .objects_are_elements = true,
     .order_by_object = true},
    {.type = Type::kRemoveWinsMap,
     .returns = Returns::kDocument,
     .objects_are_elements = true,
     .order_by_object = true,
     .removal = Removal::kTakesAway},
    {.type = Type::kUpdateWinsMap,
     .returns = Returns::kDocument,
     .objects_are_elements = true,
     .order_by_object = true,
     .removal = Removal::kUnlessWithin},
    {.type = Type::kResetMap,
     .returns = Returns::kDocument,
     .objects_are_elements = true,
     .order_by_object = true,
     .removal = Removal::kUndoesWithin},
};

// The type's row, or the number of rows. An index and no pointer: with -fsanitize=undefined GCC 12
// takes no comparison of addresses for a constant.
constexpr std::size_t row_of(Type type) {
  std::size_t row = 0;
  while (row < std::size(kRules) && kRules[row].type != type) ++row;
  return row;
}
#define CUPEL_HAS_RULES(enumerator, maker) \
  static_assert(row_of(Type::enumerator) < std::size(kRules), "a type without a row in kRules");
CUPEL_REPLICATED_TYPES(CUPEL_HAS_RULES)
#undef CUPEL_HAS_RULES
constexpr const Rules& rules_of(Type type) {
  return kRules[row_of(type)];
}

// `below(a, b)`: the update a happens before b.
class Semantics {
 public:
  using Below = std::function<bool(OpId, OpId)>;
  Semantics(const History& h, bool strict)
      : h_(h), rules_(rules_of(h.type)), strict_(strict && rules_.returns != Returns::kListed) {
    insert_.assign(h.elements.size(), kNone);
    for (OpId id = 0; id < h.ops.size(); ++id) {
      const auto& op = h.ops[id];
      if (is_read(op.kind)) continue;
      of_key_[op.key].push_back(id);
      for (const auto e : h.changed(op)) {
        if (op.kind == Kind::kInsert) insert_[e] = id;
        if (!rules_.names_elements()) continue;
        of_element_[e].push_back(id);
        elements_of_key_[op.key].insert(e);
      }
    }
  }

  // Last writer wins: the writes that a read may have read from.
  [[nodiscard]] std::vector<OpId> sources(OpId id, const Below& below) const {
    std::vector<OpId> found;
    const auto list = h_.list(h_.ops[id]);
    for (const OpId w : of(of_key_, h_.ops[id].key)) {
      if (!list.empty() && h_.ops[w].element == list[0] && below(w, id)) found.push_back(w);
    }
    return found;
  }
  [[nodiscard]] std::vector<OpId> writes_seen(OpId id, const Below& below) const {
    std::vector<OpId> found;
    for (const OpId w : of(of_key_, h_.ops[id].key)) {
      if (below(w, id)) found.push_back(w);
    }
    return found;
  }

  // The order that the lists of an array require of the linearization: pairs, earlier first;
  // nothing if a list shows a character before one that it comes after.
  [[nodiscard]] std::optional<std::vector<std::pair<OpId, OpId>>> required_order() const {
    std::set<std::pair<OpId, OpId>> pairs;
    for (OpId id = 0; id < h_.ops.size(); ++id) {
      if (h_.ops[id].kind != Kind::kList) continue;
      std::vector<std::vector<OpId>> paths;
      for (const auto e : h_.list(h_.ops[id])) paths.push_back(path(e));
      for (std::size_t a = 0; a < paths.size(); ++a) {
        for (std::size_t b = a + 1; b < paths.size(); ++b) {
          // Down from the beginning, to where they separate.
          std::size_t at = 0;
          while (at < paths[a].size() && at < paths[b].size() && paths[a][at] == paths[b][at]) ++at;
          if (at == paths[a].size()) continue;  // the first is above the second
          if (at == paths[b].size()) {
            if (!strict_) return std::nullopt;
            continue;
          }
          pairs.insert({paths[b][at], paths[a][at]});
        }
      }
    }
    return std::vector<std::pair<OpId, OpId>>(pairs.begin(), pairs.end());
  }

  // The updates of an element, of a key; who added an array's character, or kNone; the
  // elements of a key that updates name.
  [[nodiscard]] const std::vector<OpId>& updates_of_element(std::uint32_t e) const {
    return of(of_element_, e);
  }
  [[nodiscard]] const std::vector<OpId>& updates_of_key(std::uint32_t k) const {
    return of(of_key_, k);
  }
  [[nodiscard]] OpId insert_of(std::uint32_t e) const { return insert_[e]; }
  [[nodiscard]] std::vector<std::uint32_t> elements_of(std::uint32_t key) const {
    const auto it = elements_of_key_.find(key);
    return it == elements_of_key_.end()
               ? std::vector<std::uint32_t>()
               : std::vector<std::uint32_t>(it->second.begin(), it->second.end());
  }
  [[nodiscard]] const Rules& rules() const { return rules_; }
  // Which objects a read says to be on or off.
  [[nodiscard]] std::vector<std::pair<std::uint32_t, bool>> claims(OpId read) const {
    const auto& op = h_.ops[read];
    if (op.kind == Kind::kTest) return {{rules_.object(op), op.returned}};
    const auto list = h_.list(op);
    const std::set<std::uint32_t> returned(list.begin(), list.end());
    std::set<std::uint32_t> all = returned;
    if (const auto it = elements_of_key_.find(op.key); it != elements_of_key_.end())
      all.insert(it->second.begin(), it->second.end());
    std::vector<std::pair<std::uint32_t, bool>> found;
    for (const auto e : all) found.emplace_back(e, returned.contains(e));
    return found;
  }
  [[nodiscard]] const std::vector<OpId>& updates_of_object(std::uint32_t object) const {
    return of(rules_.objects_are_elements ? of_element_ : of_key_, object);
  }
  // Of kLastUpdate: by some order of the updates alone.
  [[nodiscard]] bool may_be_member(const std::vector<OpId>& updates, bool returned, OpId read,
                                   const Below& below) const {
    const auto last = maximal(updates, read, below);
    if (last.empty()) return !returned;
    return std::any_of(last.begin(), last.end(),
                       [&](OpId u) { return (h_.ops[u].kind == Kind::kUp) == returned; });
  }
  // Of a set's element or a flag, for a read that has seen this much.
  [[nodiscard]] bool is_member(const std::vector<OpId>& updates, OpId read,
                               const Below& below) const {
    bool up = false, down = false;
    for (const OpId u :
         rules_.for_good ? visible(updates, read, below) : maximal(updates, read, below))
      (h_.ops[u].kind == Kind::kUp ? up : down) = true;
    return up && (rules_.up_wins || !down);
  }

 private:
  using Lists = std::map<std::uint32_t, std::vector<OpId>>;
  static const std::vector<OpId>& of(const Lists& lists, std::uint32_t at) {
    static const std::vector<OpId> kNoUpdates;
    const auto it = lists.find(at);
    return it == lists.end() ? kNoUpdates : it->second;
  }

  static std::vector<OpId> visible(const std::vector<OpId>& updates, OpId read,
                                   const Below& below) {
    std::vector<OpId> found;
    for (const OpId u : updates) {
      if (below(u, read)) found.push_back(u);
    }
    return found;
  }

  [[nodiscard]] std::vector<OpId> maximal(const std::vector<OpId>& updates, OpId read,
                                          const Below& below) const {
    // Of a replica only the last one seen can be.
    std::map<std::uint32_t, OpId> last;
    for (const OpId u : updates) {
      if (!below(u, read)) continue;
      const auto [it, fresh] = last.try_emplace(h_.ops[u].replica, u);
      if (!fresh && h_.ops[it->second].seq < h_.ops[u].seq) it->second = u;
    }
    std::vector<OpId> found;
    for (const auto& entry : last) {
      const OpId u = entry.second;
      if (std::none_of(last.begin(), last.end(), [&](const auto& other) {
            return other.second != u && below(u, other.second);
          }))
        found.push_back(u);
    }
    return found;
  }

  [[nodiscard]] std::vector<OpId> path(std::uint32_t e) const {
    std::vector<OpId> up;
    for (std::size_t guard = 0; e != kNone && insert_[e] != kNone && guard <= h_.ops.size();
         ++guard) {
      up.push_back(insert_[e]);
      e = h_.ops[insert_[e]].parent;
    }
    std::reverse(up.begin(), up.end());
    return up;
  }

  const History& h_;
  const Rules& rules_;
  bool strict_;
  Lists of_element_, of_key_;
  std::map<std::uint32_t, std::set<std::uint32_t>> elements_of_key_;
  std::vector<OpId> insert_;
};

}  // namespace cupel::crdt
