// Document oracle: see the header. It knows how a history writes documents by its texts alone.
#include "document_oracle.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>

namespace cupel::crdt {

namespace {

using Mask = std::uint32_t;

class DocumentOracle {
 public:
  DocumentOracle(const History& history, const std::vector<Mask>& past) : h_(history), past_(past) {
    for (OpId id = 0; id < h_.ops.size(); ++id) {
      if (h_.ops[id].kind == Kind::kPut && is_container(text(h_.ops[id].parent)))
        put_of_[text(h_.ops[id].parent)] = id;
      if (h_.ops[id].kind == Kind::kInsert && !held_by(text(h_.ops[id].element)).empty())
        put_of_[held_by(text(h_.ops[id].element))] = id;
    }
  }

  [[nodiscard]] bool admitted() {
    for (OpId id = 0; id < h_.ops.size(); ++id) {
      const auto container = container_of_update(id);
      if (container.empty()) continue;
      const auto put = put_of_.find(container);
      if (put == put_of_.end() || !sees(id, put->second)) return false;
    }
    std::set<std::string> places, lists;
    for (OpId id = 0; id < h_.ops.size(); ++id) {
      if (is_at_place(id)) places.insert(text(h_.ops[id].element));
      for (const auto e : h_.list(h_.ops[id])) {
        if (is_place(text(e))) places.insert(text(e));
      }
      if (h_.ops[id].kind == Kind::kDocument && h_.ops[id].element != kNone)
        places.insert(text(h_.ops[id].element));
    }
    for (const auto& entry : put_of_) {
      if (entry.first.starts_with("list") || entry.first.starts_with("text"))
        lists.insert(entry.first);
    }
    return std::all_of(places.begin(), places.end(),
                       [&](const std::string& place) { return place_is_ordered(place); }) &&
           std::all_of(lists.begin(), lists.end(),
                       [&](const std::string& list) { return list_is_well(list); }) &&
           all_contents_are_well() && nothing_is_found_well();
  }

 private:
  [[nodiscard]] const std::string& text(std::uint32_t element) const {
    return h_.elements[element].text;
  }
  [[nodiscard]] bool sees(OpId op, OpId update) const { return (past_[op] >> update & 1U) != 0; }

  // Ids of these histories have no colons.
  static bool is_container(const std::string& text) {
    return text.find(' ') != std::string::npos && text.find(':') == std::string::npos;
  }
  // The container that an element of a list is; empty: it is none.
  static std::string held_by(const std::string& member) {
    if (!member.starts_with("list ") || member.find(':') == std::string::npos) return "";
    const auto local = member.substr(member.find(':') + 1);
    return is_container(local) ? local : "";
  }
  static bool is_place(const std::string& text) {
    return text.starts_with(':') || (text.starts_with("map ") && !is_container(text));
  }
  static std::string container_of(const std::string& member) {
    return member.substr(0, member.find(':'));
  }
  [[nodiscard]] bool is_at_place(OpId id) const {
    const Operation& op = h_.ops[id];
    return op.kind == Kind::kPut || (op.kind == Kind::kDelete && is_place(text(op.element)));
  }
  [[nodiscard]] bool is_key_removal(OpId id) const {
    return h_.ops[id].kind == Kind::kDelete && is_place(text(h_.ops[id].element));
  }
  // Empty: the document, or it is a read.
  [[nodiscard]] std::string container_of_update(OpId id) const {
    const Operation& op = h_.ops[id];
    if (is_read(op.kind)) return "";
    return container_of(text(op.element));
  }
  // The place of a container, and those above it.
  [[nodiscard]] std::vector<std::string> places_above(std::string container) const {
    std::vector<std::string> places;
    while (!container.empty()) {
      places.push_back(text(h_.ops[put_of_.at(container)].element));
      container = container_of(places.back());
    }
    return places;
  }
  // Is the update made to the container, or to one in it?
  [[nodiscard]] bool is_within(OpId id, const std::string& container) const {
    for (auto at = container_of_update(id); !at.empty();
         at = container_of(text(h_.ops[put_of_.at(at)].element))) {
      if (at == container) return true;
    }
    return false;
  }

  // A visible remove of one of the places had seen the update.
  [[nodiscard]] bool is_taken(OpId update, OpId read,
                              const std::vector<std::string>& places) const {
    for (OpId r = 0; r < h_.ops.size(); ++r) {
      if (is_key_removal(r) && sees(read, r) && sees(r, update) &&
          std::find(places.begin(), places.end(), text(h_.ops[r].element)) != places.end())
        return true;
    }
    return false;
  }

  [[nodiscard]] bool is_candidate(OpId update, OpId read, const std::string& place) const {
    const Operation& op = h_.ops[update];
    if (!is_at_place(update) || text(op.element) != place || !sees(read, update)) return false;
    bool overwritten = false, observed = false;
    for (OpId other = 0; other < h_.ops.size(); ++other) {
      if (!is_at_place(other) || text(h_.ops[other].element) != place || !sees(read, other) ||
          !sees(other, update))
        continue;
      observed = true;
      overwritten = overwritten || h_.ops[other].kind == Kind::kPut;
    }
    if (h_.type == Type::kMap) return !observed;
    if (op.kind != Kind::kPut || overwritten) return false;
    if (h_.type == Type::kRemoveWinsMap) return !observed;
    std::vector<std::string> places = {place};
    if (h_.type == Type::kResetMap) {
      const auto above = places_above(container_of(place));
      places.insert(places.end(), above.begin(), above.end());
    }
    if (!is_taken(update, read, places)) return true;
    for (OpId u = 0; u < h_.ops.size(); ++u) {
      if (is_container(text(op.parent)) && !is_key_removal(u) && sees(read, u) &&
          is_within(u, text(op.parent)) && !is_taken(u, read, places))
        return true;
    }
    return false;
  }

  // What a read says of a place: it holds the value (kNone: nothing), or nothing is said.
  struct Said {
    bool is_said = false;
    std::uint32_t value = kNone;
  };
  [[nodiscard]] Said said(OpId read, const std::string& place) const {
    const Operation& op = h_.ops[read];
    if (op.kind != Kind::kDocument) return {};
    const auto list = h_.list(op);
    Said found;
    found.is_said =
        container_of(place).empty() && (op.element == kNone || text(op.element) == place);
    for (std::size_t i = 0; i < list.size(); ++i) {
      if (!container_of(place).empty() && held_by(text(list[i])) == container_of(place))
        found.is_said = true;
      if (!is_place(text(list[i]))) continue;
      if (text(list[i]) == place) return {true, list[i + 1]};
      // The map that has the place is shown.
      if (!container_of(place).empty() && text(list[i + 1]) == container_of(place))
        found.is_said = true;
      ++i;
    }
    return found;
  }

  // Some order of the puts and removes of the place, which contains happens-before, ends for each
  // read with what it shows, of its candidates.
  [[nodiscard]] bool place_is_ordered(const std::string& place) const {
    std::vector<OpId> order;
    for (OpId id = 0; id < h_.ops.size(); ++id) {
      if (is_at_place(id) && text(h_.ops[id].element) == place) order.push_back(id);
    }
    do {
      if (order_fits(order, place)) return true;
    } while (std::next_permutation(order.begin(), order.end()));
    return false;
  }
  [[nodiscard]] bool order_fits(const std::vector<OpId>& order, const std::string& place) const {
    for (std::size_t i = 0; i < order.size(); ++i) {
      for (std::size_t j = i + 1; j < order.size(); ++j) {
        if (sees(order[i], order[j])) return false;
      }
    }
    for (OpId r = 0; r < h_.ops.size(); ++r) {
      const auto claim = said(r, place);
      if (!claim.is_said) continue;
      std::uint32_t held = kNone;
      for (const OpId id : order) {
        if (is_candidate(id, r, place))
          held = h_.ops[id].kind == Kind::kPut ? h_.ops[id].parent : kNone;
      }
      if (held != claim.value) return false;
    }
    return true;
  }

  // Where a path through containers leads to nothing, some order of each place alone has nothing
  // there, or another value at a place above.
  [[nodiscard]] bool nothing_is_found_well() const {
    for (OpId r = 0; r < h_.ops.size(); ++r) {
      const Operation& op = h_.ops[r];
      if (op.kind != Kind::kDocument || op.element == kNone || !h_.list(op).empty()) continue;
      std::string place = text(op.element), expected;
      bool must = true;
      while (must && !container_of(text(op.element)).empty()) {
        bool any = false;
        if (!is_place(place)) {  // an element of a list
          const auto put = put_of_.at(held_by(place));
          any = is_there(r, h_.ops[put].element, container_of(place));
        }
        for (OpId u = 0; u < h_.ops.size(); ++u) {
          if (!is_candidate(u, r, place)) continue;
          any = true;
          const bool put = h_.ops[u].kind == Kind::kPut;
          must = must && put && (expected.empty() || text(h_.ops[u].parent) == expected);
        }
        must = must && any;
        expected = container_of(place);
        if (expected.empty()) {
          if (must) return false;
          break;
        }
        const auto put = put_of_.find(expected);
        if (put == put_of_.end()) break;
        place = text(h_.ops[put->second].element);
      }
    }
    return true;
  }

  // The updates of a container that count for the read.
  [[nodiscard]] bool counts(OpId update, OpId read, const std::string& container) const {
    return container_of_update(update) == container && !is_read(h_.ops[update].kind) &&
           sees(read, update) &&
           (h_.type != Type::kResetMap || !is_taken(update, read, places_above(container)));
  }

  // Of counters, sets and registers.
  [[nodiscard]] bool all_contents_are_well() const {
    for (OpId r = 0; r < h_.ops.size(); ++r) {
      if (h_.ops[r].kind != Kind::kDocument) continue;
      const auto list = h_.list(h_.ops[r]);
      for (std::size_t i = 0; i < list.size(); ++i) {
        const bool at_place = is_place(text(list[i]));
        if (!at_place && held_by(text(list[i])).empty()) continue;
        const std::string value = at_place ? text(list[++i]) : held_by(text(list[i]));
        std::vector<std::string> members;
        for (const auto e : list) {
          if (!is_place(text(e)) && text(e).starts_with(value + ":")) members.push_back(text(e));
        }
        if (is_container(value) && !content_is_well(r, value, members)) return false;
      }
    }
    return true;
  }

  [[nodiscard]] bool content_is_well(OpId read, const std::string& container,
                                     const std::vector<std::string>& members) const {
    std::map<std::string, std::ptrdiff_t> right;
    std::int64_t sum = 0;
    for (OpId u = 0; u < h_.ops.size(); ++u) {
      if (!counts(u, read, container)) continue;
      const Operation& op = h_.ops[u];
      sum += op.kind == Kind::kInc ? op.amount : 0;
      if (op.kind != Kind::kUp && op.kind != Kind::kWrite) continue;
      bool gone = false;
      for (OpId o = 0; o < h_.ops.size(); ++o) {
        const Operation& other = h_.ops[o];
        const bool overwrites = other.kind == Kind::kWrite ||
                                (other.kind == Kind::kDown && other.element == op.element);
        gone = gone ||
               (overwrites && container_of_update(o) == container && sees(read, o) && sees(o, u));
      }
      if (!gone) ++right[text(op.element)];
    }
    if (container.starts_with("counter"))
      return members.size() == 1 && members[0] == container + ":" + std::to_string(sum);
    if (!container.starts_with("set") && !container.starts_with("register")) return true;
    // A register may return a value as often as it has writes of it.
    const std::set<std::string> distinct(members.begin(), members.end());
    return right.size() == distinct.size() &&
           std::all_of(right.begin(), right.end(), [&](const auto& of) {
             const auto times = std::count(members.begin(), members.end(), of.first);
             return times > 0 && times <= (container.starts_with("register") ? of.second : 1);
           });
  }

  [[nodiscard]] bool inserts(OpId id, std::uint32_t e) const {
    return h_.ops[id].kind == Kind::kInsert &&
           h_.any_changed(h_.ops[id], [&](std::uint32_t other) { return other == e; });
  }
  [[nodiscard]] bool deletes(OpId id, std::uint32_t e) const {
    return h_.ops[id].kind == Kind::kDelete &&
           h_.any_changed(h_.ops[id], [&](std::uint32_t other) { return other == e; });
  }
  // Was the character inserted for what the operation had seen? Then, is it there?
  [[nodiscard]] bool knows(OpId op, std::uint32_t e) const {
    for (OpId u = 0; u < h_.ops.size(); ++u) {
      if (inserts(u, e) && sees(op, u)) return true;
    }
    return false;
  }
  [[nodiscard]] bool is_there(OpId op, std::uint32_t e, const std::string& list) const {
    bool there = false;
    for (OpId u = 0; u < h_.ops.size(); ++u) {
      there = there || (inserts(u, e) && counts(u, op, list));
    }
    for (OpId u = 0; u < h_.ops.size(); ++u) there = there && !(deletes(u, e) && sees(op, u));
    return there;
  }

  // Some order of all characters fits the reads and the insertions.
  [[nodiscard]] bool list_is_well(const std::string& list) const {
    std::vector<std::uint32_t> order;
    for (OpId id = 0; id < h_.ops.size(); ++id) {
      if (h_.ops[id].kind != Kind::kInsert || container_of_update(id) != list) continue;
      for (const auto e : h_.changed(h_.ops[id])) order.push_back(e);
    }
    for (OpId id = 0; id < h_.ops.size(); ++id) {
      const Operation& op = h_.ops[id];
      if (container_of_update(id) != list) continue;
      if (op.kind == Kind::kInsert && op.parent != kNone && !knows(id, op.parent)) return false;
      if (op.kind == Kind::kDelete &&
          h_.any_changed(op, [&](std::uint32_t e) { return !knows(id, e); }))
        return false;
    }
    for (OpId r = 0; r < h_.ops.size(); ++r) {
      if (const auto shown = shown_of(r, list)) {
        std::set<std::uint32_t> right;
        for (const auto e : order) {
          if (is_there(r, e, list)) right.insert(e);
        }
        if (right != std::set<std::uint32_t>(shown->begin(), shown->end()) ||
            right.size() != shown->size())
          return false;
      }
    }
    std::sort(order.begin(), order.end());
    do {
      if (characters_fit(order, list)) return true;
    } while (std::next_permutation(order.begin(), order.end()));
    return false;
  }

  // The characters, where the read shows the list.
  [[nodiscard]] std::optional<std::vector<std::uint32_t>> shown_of(OpId read,
                                                                   const std::string& list) const {
    if (h_.ops[read].kind != Kind::kDocument) return std::nullopt;
    bool is_shown = false;
    std::vector<std::uint32_t> characters;
    for (const auto e : h_.list(h_.ops[read])) {
      is_shown = is_shown || text(e) == list || held_by(text(e)) == list;
      if (text(e).starts_with(list + ":")) characters.push_back(e);
    }
    return is_shown ? std::optional(characters) : std::nullopt;
  }

  [[nodiscard]] bool characters_fit(const std::vector<std::uint32_t>& order,
                                    const std::string& list) const {
    std::map<std::uint32_t, std::size_t> place;
    for (std::size_t i = 0; i < order.size(); ++i) place[order[i]] = i + 1;
    for (OpId id = 0; id < h_.ops.size(); ++id) {
      if (const auto shown = shown_of(id, list)) {
        for (std::size_t i = 1; i < shown->size(); ++i) {
          if (place[(*shown)[i - 1]] > place[(*shown)[i]]) return false;
        }
      }
      const Operation& op = h_.ops[id];
      if (op.kind != Kind::kInsert || container_of_update(id) != list) continue;
      auto left = op.parent == kNone ? 0 : place[op.parent];
      for (const auto e : h_.changed(op)) {
        if (place[e] < left) return false;
        for (const auto other : order) {
          if (is_there(id, other, list) && left < place[other] && place[other] < place[e])
            return false;
        }
        left = place[e];
      }
    }
    return true;
  }

  const History& h_;
  const std::vector<Mask>& past_;
  std::map<std::string, OpId> put_of_;  // by container
};

}  // namespace

bool document_is_admitted(const History& history, const std::vector<std::uint32_t>& past) {
  for (std::uint32_t key = 0; key < history.keys.size(); ++key) {
    History one = history;
    one.ops.clear();
    std::vector<OpId> origin;
    for (OpId id = 0; id < history.ops.size(); ++id) {
      if (history.ops[id].key != key) continue;
      one.ops.push_back(history.ops[id]);
      origin.push_back(id);
    }
    std::vector<Mask> seen(origin.size(), 0);
    for (std::size_t a = 0; a < origin.size(); ++a) {
      for (std::size_t b = 0; b < origin.size(); ++b)
        seen[a] |= (past[origin[a]] >> origin[b] & 1U) << b;
    }
    if (!DocumentOracle(one, seen).admitted()) return false;
  }
  return true;
}

}  // namespace cupel::crdt
