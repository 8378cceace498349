// Document check: see the header.
#include "crdt/verify/document_check.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

namespace cupel::crdt {

DocumentCheck::DocumentCheck(const History& history, const SeenUpdates& seen)
    : h_(history),
      seen_(seen),
      rules_(rules_of(history.type)),
      index_(history),
      updates_at_(history.elements.size()),
      updates_of_(index_.count_of_nodes()),
      places_of_(index_.count_of_nodes()),
      containers_at_(history.elements.size()) {
  for (std::uint32_t e = 0; e < h_.elements.size(); ++e) {
    if (index_.is_place(e) || index_.at(e).holds != kNone)
      places_of_[index_.at(e).node].push_back(e);
    if (index_.is_container(e) && index_.place_of(e) != kNone)
      containers_at_[index_.place_of(e)].push_back(e);
  }
  for (OpId id = 0; id < h_.ops.size(); ++id) {
    const Operation& op = h_.ops[id];
    if (is_read(op.kind)) continue;
    const bool removal = is_key_removal(op);
    if (op.kind == Kind::kPut || removal) updates_at_[op.element].push_back(id);
    if (!removal) updates_of_[index_.node_of(op)].push_back(id);
  }
}

// Had a remove of the place seen the update, of those that the read had seen? Or a remove of a
// place that this one is in.
bool DocumentCheck::is_undone(OpId update, OpId read, std::uint32_t place, bool places_above) {
  while (place != kNone) {
    for (const OpId r : updates_at_[place]) {
      if (h_.ops[r].kind == Kind::kDelete && sees(read, r) && sees(r, update)) return true;
    }
    if (!places_above) return false;
    place = index_.place_of(index_.at(place).node);
  }
  return false;
}

void DocumentCheck::arrive(OpId update) {
  const Operation& op = h_.ops[update];
  if (op.kind != Kind::kPut && !is_key_removal(op)) return;
  Maximal& at = maximal_[op.element];
  std::erase_if(at.updates, [&](OpId other) { return sees(update, other); });
  const bool observed = std::any_of(at.latest.begin(), at.latest.end(),
                                    [&](OpId other) { return sees(other, update); });
  if (!observed) at.updates.push_back(update);
  // What a replica's earlier update observed, its later one did.
  const auto same = std::find_if(at.latest.begin(), at.latest.end(),
                                 [&](OpId other) { return h_.ops[other].replica == op.replica; });
  if (same == at.latest.end())
    at.latest.push_back(update);
  else if (h_.ops[*same].seq < op.seq)
    *same = update;
}

// Each operation, while what its replica had seen is known. False ends it.
template <typename Visit>
void DocumentCheck::for_operations(Visit visit) {
  const bool plain = rules_.removal == Removal::kInOrder || rules_.removal == Removal::kTakesAway;
  seen_.replay(
      [&](std::uint32_t) {
        if (plain) maximal_.assign(h_.elements.size(), {});
      },
      [&](OpId update) {
        if (plain) arrive(update);
      },
      [&](OpId id) { return work_ <= kMostWork && visit(id); });
}

// Of which the last one in the order says what the place holds.
std::vector<OpId> DocumentCheck::candidates(OpId read, std::uint32_t place) {
  if (rules_.removal == Removal::kInOrder) return maximal_[place].updates;
  std::vector<OpId> found;
  if (rules_.removal == Removal::kTakesAway) {
    for (const OpId u : maximal_[place].updates) {
      if (h_.ops[u].kind == Kind::kPut) found.push_back(u);
    }
    return found;
  }
  const bool above = rules_.removal == Removal::kUndoesWithin;
  for (const OpId put : updates_at_[place]) {
    if (h_.ops[put].kind != Kind::kPut || !sees(read, put)) continue;
    const bool overwritten =
        std::any_of(updates_at_[place].begin(), updates_at_[place].end(), [&](OpId other) {
          return other != put && h_.ops[other].kind == Kind::kPut && sees(read, other) &&
                 sees(other, put);
        });
    if (overwritten) continue;
    bool stands = !is_undone(put, read, place, above);
    const auto value = h_.ops[put].parent;
    // What is in the value, from the containers at its places on.
    std::vector<std::uint32_t> nodes;
    if (index_.is_container(value)) nodes.push_back(value);
    for (std::size_t i = 0; i < nodes.size() && !stands; ++i) {
      for (const OpId u : updates_of_[nodes[i]]) {
        if (!sees(read, u)) continue;
        stands = stands || !is_undone(u, read, place, above);
      }
      for (const auto below : places_of_[nodes[i]])
        nodes.insert(nodes.end(), containers_at_[below].begin(), containers_at_[below].end());
    }
    if (stands) found.push_back(put);
  }
  return found;
}

std::vector<DocumentCheck::Held> DocumentCheck::shown(OpId read) const {
  std::vector<Held> all;
  for_shown(h_, index_, h_.ops[read], [&](const ShownItem& item) {
    if (item.value != kNone) all.push_back({item.element, item.value});
  });
  return all;
}

std::vector<std::uint32_t> DocumentCheck::shown_containers(OpId read) const {
  std::vector<std::uint32_t> all;
  for_shown(h_, index_, h_.ops[read], [&](const ShownItem& item) {
    const auto container = item.container(index_);
    if (container != kNone) all.push_back(container);
  });
  return all;
}

// Does its list have the character, a container, for what the read had seen?
bool DocumentCheck::is_in_list(OpId read, std::uint32_t character) {
  const auto list = index_.at(character).node;
  bool inserted = false, removed = false;
  for (const OpId u : updates_of_[list]) {
    const Operation& op = h_.ops[u];
    if (op.element != character || !sees(read, u)) continue;
    const bool undone =
        rules_.removal == Removal::kUndoesWithin && is_undone(u, read, index_.place_of(list), true);
    inserted = inserted || (op.kind == Kind::kInsert && !undone);
    removed = removed || op.kind == Kind::kDelete;
  }
  return inserted && !removed;
}

// What it says of places: of those that it shows, and that there is nothing at the others of the
// maps that it shows.
std::vector<DocumentCheck::Held> DocumentCheck::claimed(OpId read) const {
  const Operation& op = h_.ops[read];
  auto all = shown(read);
  std::set<std::uint32_t> places;
  std::vector<std::uint32_t> maps;
  if (op.element == kNone) maps.push_back(index_.root(op.key));
  for (const auto& held : all) places.insert(held.place);
  for (const auto container : shown_containers(read)) {
    if (index_.kind_of(container) == ValueKind::kMap) maps.push_back(container);
  }
  const bool in_document = op.element != kNone && index_.is_root(index_.at(op.element).node);
  if (in_document && places.insert(op.element).second) all.push_back({op.element, kNone});
  for (const auto node : maps) {
    for (const auto place : places_of_[node]) {
      if (places.insert(place).second) all.push_back({place, kNone});
    }
  }
  return all;
}

// It found nothing at the end of a path through containers, although whatever the orders, these are
// there, and so is something at the end.
bool DocumentCheck::misses_value(OpId read) {
  const auto place = h_.ops[read].element;
  if (place == kNone || !h_.list(h_.ops[read]).empty() || index_.is_root(index_.at(place).node))
    return false;
  const auto must_hold = [&](std::uint32_t at, auto test) {
    const auto all = candidates(read, at);
    return !all.empty() &&
           std::all_of(all.begin(), all.end(), [&](OpId u) { return test(value_after(u)); });
  };
  bool must = must_hold(place, [](std::uint32_t value) { return value != kNone; });
  for (auto node = index_.at(place).node; must && !index_.is_root(node);) {
    const auto at = index_.place_of(node);
    must = at != kNone &&
           (index_.is_place(at) ? must_hold(at, [&](std::uint32_t value) { return value == node; })
                                : is_in_list(read, at));
    if (must) node = index_.at(at).node;
  }
  return must;
}

bool DocumentCheck::names_unseen(OpId update) {
  const auto node = index_.node_of(h_.ops[update]);
  if (index_.is_root(node)) return false;
  const OpId put = index_.at(node).put;
  return put == kNone || !sees(update, put);
}

std::optional<std::string> DocumentCheck::wrong_in_order(const std::vector<std::size_t>& place) {
  std::optional<std::string> wrong;
  for_operations([&](OpId id) {
    if (!is_read(h_.ops[id].kind)) {
      if (names_unseen(id))
        wrong = fmt::format("{} names a container that its replica had not received", h_.text(id));
      return !wrong;
    }
    for (const auto& [at, value] : claimed(id)) {
      const auto all = candidates(id, at);
      const auto last = std::max_element(all.begin(), all.end(),
                                         [&](OpId a, OpId b) { return place[a] < place[b]; });
      if (value != (last == all.end() ? kNone : value_after(*last)))
        wrong = fmt::format("{} does not show at {} what the order of its updates says",
                            h_.text(id), path_text(h_, at));
    }
    if (!wrong && (misses_value(id) || has_wrong_content(id)))
      wrong = fmt::format("{} does not show what its replica had received", h_.text(id));
    return !wrong;
  });
  return wrong;
}

DocumentCheck::Claims DocumentCheck::claims(const std::vector<bool>& counts,
                                            const std::set<std::uint32_t>& places) {
  Claims found;
  for_operations([&](OpId id) {
    if (!counts[id]) return true;
    if (!is_read(h_.ops[id].kind)) {
      found.is_wrong = names_unseen(id);
      return !found.is_wrong;
    }
    for (const auto& [at, value] : claimed(id)) {
      LastChoice choice;
      for (const OpId u : candidates(id, at))
        (value_after(u) == value ? choice.last : choice.others).push_back(u);
      const bool nothing = choice.others.empty() && choice.last.empty();
      if (choice.last.empty() && !(nothing && value == kNone)) found.is_wrong = true;
      if (!choice.others.empty() && places.contains(at)) found.choices.push_back(std::move(choice));
    }
    found.is_wrong = found.is_wrong || misses_value(id) || has_wrong_content(id);
    return !found.is_wrong;
  });
  return found;
}

// Where removes undo updates: of its counters, sets and registers.
bool DocumentCheck::has_wrong_content(OpId read) {
  if (rules_.removal != Removal::kUndoesWithin) return false;
  std::map<std::uint32_t, std::vector<std::uint32_t>> members;
  for (const auto container : shown_containers(read)) members[container];
  for (const auto e : h_.list(h_.ops[read])) {
    if (index_.at(e).is_member && !index_.is_place(e)) members[index_.at(e).node].push_back(e);
  }
  return std::any_of(members.begin(), members.end(), [&](const auto& one) {
    return has_wrong_container(read, one.first, one.second);
  });
}

bool DocumentCheck::has_wrong_container(OpId read, std::uint32_t container,
                                        const std::vector<std::uint32_t>& members) {
  const auto kind = index_.kind_of(container);
  std::vector<OpId> visible, counting;
  for (const OpId u : updates_of_[container]) {
    if (!sees(read, u)) continue;
    visible.push_back(u);
    if (!is_undone(u, read, index_.place_of(container), true)) counting.push_back(u);
  }
  if (kind == ValueKind::kCounter) {
    std::int64_t sum = 0;
    for (const OpId u : counting) sum += h_.ops[u].amount;
    return members.size() != 1 || index_.local(members[0]) != std::to_string(sum);
  }
  if (kind != ValueKind::kSet && kind != ValueKind::kRegister) return false;
  const std::set<std::uint32_t> returned(members.begin(), members.end());
  std::map<std::uint32_t, std::ptrdiff_t> right;  // how many updates each member stands for
  for (const OpId u : counting) {
    const Operation& op = h_.ops[u];
    if (op.kind == Kind::kDown) continue;
    const bool gone = std::any_of(visible.begin(), visible.end(), [&](OpId other) {
      const Operation& by = h_.ops[other];
      const bool may = kind == ValueKind::kRegister
                           ? other != u
                           : by.kind == Kind::kDown && by.element == op.element;
      return may && sees(other, u);
    });
    if (!gone) ++right[op.element];
  }
  return returned.size() != right.size() ||
         std::any_of(right.begin(), right.end(), [&](const auto& of) {
           const auto [member, updates] = of;
           const auto times = std::count(members.begin(), members.end(), member);
           return times == 0 || times > (kind == ValueKind::kRegister ? updates : 1);
         });
}

namespace {

std::optional<Type> type_of(ValueKind kind, Removal removal) {
  const bool lists_only = removal == Removal::kUndoesWithin;
  switch (kind) {
    case ValueKind::kList:
    case ValueKind::kText:
      return Type::kStrongList;
    case ValueKind::kCounter:
      return lists_only ? std::nullopt : std::optional(Type::kCounter);
    case ValueKind::kSet:
      return lists_only ? std::nullopt : std::optional(Type::kAddWinsSet);
    case ValueKind::kRegister:
      return lists_only ? std::nullopt : std::optional(Type::kMultiValueRegister);
    case ValueKind::kMap:
    case ValueKind::kScalar:
      break;
  }
  return std::nullopt;
}

// One part in the making. Its deliveries are what each replica had newly seen, and where.
class PartMaker {
 public:
  PartMaker(const History& h, const DocumentIndex& index, Type type) : h_(h), index_(index) {
    part.history.type = type;
    part.history.context.rule = DeliveryRule::kApplied;
    for (const auto& replica : h.replicas) part.history.replica(replica);
  }

  // `what` has elements of the document.
  void add(OpId id, std::uint32_t container, const Operation& what,
           const std::vector<std::uint32_t>& list) {
    Operation op = what;
    op.replica = h_.ops[id].replica;
    op.key = part.history.key(std::to_string(container));
    op.element = member(op.key, what.element);
    op.parent = member(op.key, what.parent);
    std::vector<std::uint32_t> members;
    for (const auto e : list) members.push_back(member(op.key, e));
    if (members.empty())
      part.history.add(op);
    else
      part.history.add(op, members);
    part.origin.push_back(id);
  }

  void deliver(const SeenUpdates& seen) {
    auto& [history, origin, elements] = part;
    Context& context = history.context;
    for (std::uint32_t r = 0; r < history.replicas.size(); ++r) {
      const auto log = seen.log(r);
      std::size_t next = 0;
      for (const OpId own : history.by_replica[r]) {
        const auto begin = static_cast<std::uint32_t>(context.named.size());
        for (; next < log.size() && log[next].place <= h_.ops[origin[own]].seq; ++next) {
          if (h_.ops[log[next].update].replica == r) continue;
          auto at = std::lower_bound(origin.begin(), origin.end(), log[next].update);
          for (; at != origin.end() && *at == log[next].update; ++at)
            context.named.push_back({.of = static_cast<OpId>(at - origin.begin())});
        }
        const auto end = static_cast<std::uint32_t>(context.named.size());
        if (begin < end)
          context.receptions.push_back(
              {.replica = r, .seq = history.ops[own].seq, .begin = begin, .end = end});
      }
    }
    if (context.receptions.empty()) context.receptions.push_back({});  // nothing is known, too
  }

  DocumentCheck::Part part;

 private:
  std::uint32_t member(std::uint32_t key, std::uint32_t element) {
    if (element == kNone) return kNone;
    const auto there = part.history.element(key, std::string(index_.local(element)));
    if (there == part.elements.size()) part.elements.push_back(element);
    return there;
  }

  const History& h_;
  const DocumentIndex& index_;
};

}  // namespace

std::vector<DocumentCheck::Part> DocumentCheck::parts() {
  std::map<Type, PartMaker> makers;
  const auto maker = [&](std::uint32_t container) -> PartMaker* {
    const auto type = type_of(index_.kind_of(container), rules_.removal);
    if (!type) return nullptr;
    return &makers.try_emplace(*type, h_, index_, *type).first->second;
  };
  const auto add_read = [&](OpId id) {
    std::map<std::uint32_t, std::vector<std::uint32_t>> members;
    for (const auto container : shown_containers(id)) members[container];
    for (const auto e : h_.list(h_.ops[id])) {
      if (index_.at(e).is_member && !index_.is_place(e)) members[index_.at(e).node].push_back(e);
    }
    for (const auto& [container, list] : members) {
      PartMaker* const made = maker(container);
      if (made == nullptr) continue;
      switch (index_.kind_of(container)) {
        case ValueKind::kCounter:
          if (!list.empty())
            made->add(
                id, container,
                {.kind = Kind::kValue, .amount = std::stoll(std::string(index_.local(list[0])))},
                {});
          break;
        case ValueKind::kSet:
          made->add(id, container, {.kind = Kind::kState}, list);
          break;
        case ValueKind::kRegister:
          made->add(id, container, {.kind = Kind::kValues}, list);
          break;
        default:
          made->add(id, container, {.kind = Kind::kList}, list);
      }
    }
  };
  // By kUndoesWithin: what a remove had seen inserted below its place is removed.
  const auto add_removal = [&](OpId id) {
    std::vector<std::uint32_t> nodes = containers_at_[h_.ops[id].element];
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      const auto node = nodes[i];
      for (const auto below : places_of_[node])
        nodes.insert(nodes.end(), containers_at_[below].begin(), containers_at_[below].end());
      const auto kind = index_.kind_of(node);
      if (kind != ValueKind::kList && kind != ValueKind::kText) continue;
      std::vector<std::uint32_t> gone;
      for (const OpId u : updates_of_[node]) {
        if (h_.ops[u].kind != Kind::kInsert || !sees(id, u)) continue;
        const auto changed = h_.changed(h_.ops[u]);
        gone.insert(gone.end(), changed.begin(), changed.end());
      }
      if (!gone.empty())
        maker(node)->add(id, node, {.kind = Kind::kDelete, .element = gone[0]}, gone);
    }
  };
  for (OpId id = 0; id < h_.ops.size(); ++id) {
    const Operation& op = h_.ops[id];
    if (is_read(op.kind)) {
      add_read(id);
    } else if (is_key_removal(op)) {
      if (rules_.removal == Removal::kUndoesWithin) add_removal(id);
    } else if (const auto node = index_.node_of(op); op.kind != Kind::kPut) {
      PartMaker* const made = maker(node);
      const auto list = h_.list(op);
      if (made == nullptr) continue;
      made->add(id, node,
                {.kind = op.kind,
                 .element = op.kind == Kind::kInc ? kNone : op.element,
                 .parent = op.parent,
                 .amount = op.amount},
                {list.begin(), list.end()});
    }
  }
  std::vector<Part> made;
  for (auto& [type, one] : makers) {
    one.deliver(seen_);
    made.push_back(std::move(one.part));
  }
  return made;
}

}  // namespace cupel::crdt
