// Document parts: see the header.
#include "crdt/solve/document_parts.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "base/hash_table.hpp"
#include "crdt/solve/known_state.hpp"

namespace cupel::crdt {

namespace {

constexpr const char* kReset = "reset";

// What each remove of a place undoes: of each container below it what its replica had seen there.
// A replica undoes what it has undone before only if it has come anew, so the whole is no more than
// updates × replicas.
class Resets {
 public:
  struct Reset {
    std::uint32_t container;
    std::vector<std::uint32_t> members;  // of a list, text or set
  };

  Resets(const History& history, const DocumentIndex& index, const KeyEvents& events)
      : h_(history), index_(index) {
    const ElementsOfKeys elements(h_);
    live_.resize(index.count_of_nodes());
    changed_at_.resize(h_.elements.size());
    events.replay_all(
        [&](std::uint32_t key, std::uint32_t) {
          for (const auto e : elements.of(key)) {
            live_[e] = {};
            changed_at_[e].clear();
          }
          live_[index.root(key)] = {};
        },
        [&](OpId update) { arrive(h_.ops[update]); },
        [&](OpId id) {
          const Operation& op = h_.ops[id];
          if (op.kind == Kind::kDelete && index_.is_place(op.element)) undo_at(op.element, id);
          return true;
        });
  }

  [[nodiscard]] const std::vector<Reset>& of(OpId remove) const {
    static const std::vector<Reset> kNothing;
    const auto found = by_remove_.find(remove);
    return found == by_remove_.end() ? kNothing : found->second;
  }

 private:
  struct Live {
    bool is_changed = false;  // it, or what is in it, since it was undone last
    bool has_updates = false;
    std::vector<std::uint32_t> members;
  };

  void arrive(const Operation& op) {
    auto node = index_.node_of(op);
    if (!index_.is_root(node) && index_.kind_of(node) != ValueKind::kMap) {
      Live& live = live_[node];
      live.has_updates = true;
      if (op.kind == Kind::kInsert || op.kind == Kind::kUp) {
        const auto changed = h_.changed(op);
        live.members.insert(live.members.end(), changed.begin(), changed.end());
      }
    }
    for (auto place = index_.place_of(node); place != kNone && !live_[node].is_changed;
         place = index_.place_of(node)) {
      live_[node].is_changed = true;
      changed_at_[place].push_back(node);
      node = index_.at(place).node;
    }
  }

  void undo_at(std::uint32_t place, OpId remove) {
    const auto nodes = std::exchange(changed_at_[place], {});
    for (const auto node : nodes) {
      Live live = std::exchange(live_[node], {});
      if (live.has_updates) {
        auto& members = live.members;
        std::sort(members.begin(), members.end());
        members.erase(std::unique(members.begin(), members.end()), members.end());
        by_remove_[remove].push_back({node, std::move(members)});
      }
      for (const auto below : places_of(node)) undo_at(below, remove);
    }
  }

  // Those in which something may be, and of a list its characters that are containers.
  const std::vector<std::uint32_t>& places_of(std::uint32_t node) {
    if (places_.empty()) {
      places_.resize(index_.count_of_nodes());
      for (std::uint32_t e = 0; e < h_.elements.size(); ++e) {
        if (index_.is_place(e) || index_.at(e).holds != kNone)
          places_[index_.at(e).node].push_back(e);
      }
    }
    return places_[node];
  }

  const History& h_;
  const DocumentIndex& index_;
  std::vector<Live> live_;                              // by node
  std::vector<std::vector<std::uint32_t>> changed_at_;  // by place: containers put there
  std::vector<std::vector<std::uint32_t>> places_;      // by node
  base::HashMap<OpId, std::vector<Reset>> by_remove_;
};

class Parts {
 public:
  Parts(const History& history, const DocumentIndex& index, const KeyEvents& events,
        MapPolicy policy)
      : h_(history),
        index_(index),
        resets_(policy == MapPolicy::kReset),
        keys_(h_.elements.size(), kNone),
        members_(h_.elements.size(), kNone),
        shown_at_(h_.elements.size(), kNone) {
    if (resets_) undone_.emplace(history, index, events);
  }

  std::vector<DocumentPart> make() {
    for (OpId id = 0; id < h_.ops.size(); ++id) {
      const Operation& op = h_.ops[id];
      if (op.kind == Kind::kDocument) {
        add_read(id);
      } else if (const auto node = index_.node_of(op); index_.kind_of(node) != ValueKind::kMap) {
        add_update(id, node);
      } else if (resets_ && op.kind == Kind::kDelete) {
        for (const auto& reset : undone_->of(id)) add_reset(id, reset);
      }
    }
    std::vector<DocumentPart> made;
    for (auto& [kind, part] : parts_) {
      part.history.key("");  // texts name the key where there are several
      made.push_back(std::move(part));
    }
    return made;
  }

 private:
  [[nodiscard]] Type type_of(ValueKind kind) const {
    switch (kind) {
      case ValueKind::kList:
        return Type::kStrongList;
      case ValueKind::kText:
        return Type::kText;
      case ValueKind::kCounter:
        return resets_ ? Type::kResettableCounter : Type::kCounter;
      case ValueKind::kSet:
        return Type::kAddWinsSet;
      default:
        return Type::kMultiValueRegister;
    }
  }

  DocumentPart& part_of_kind(ValueKind kind) {
    const auto [it, fresh] = parts_.try_emplace(kind);
    if (fresh) {
      it->second.history.type = type_of(kind);
      it->second.history.context.rule = h_.context.rule;
      for (const auto& replica : h_.replicas) it->second.history.replica(replica);
    }
    return it->second;
  }

  std::uint32_t key_of(DocumentPart& part, std::uint32_t container) {
    auto& found = keys_[container];
    if (found == kNone) {
      auto path = path_text(h_, container);
      if (h_.keys.size() > 1) path = h_.keys[h_.elements[container].key] + "." + path;
      found = part.history.key(path);
    }
    return found;
  }

  std::uint32_t member(DocumentPart& part, std::uint32_t key, std::uint32_t element) {
    if (element == kNone) return kNone;
    auto& found = members_[element];
    if (found == kNone) {
      found = part.history.element(key, member_json(index_.local(element)));
      if (found == part.elements.size()) part.elements.push_back(element);
    }
    return found;
  }

  void add(DocumentPart& part, OpId id, Operation op, const std::vector<std::uint32_t>& list) {
    if (list.empty())
      part.history.add(op);
    else
      part.history.add(op, list);
    part.origin.push_back(id);
  }

  static Operation bare(const Operation& op, Kind kind, std::uint32_t key) {
    return {.kind = kind,
            .replica = op.replica,
            .key = key,
            .line = op.line,
            .time = op.time,
            .begun = op.begun,
            .ended = op.ended};
  }

  void add_update(OpId id, std::uint32_t node) {
    const Operation& op = h_.ops[id];
    DocumentPart& part = part_of_kind(index_.kind_of(node));
    const auto key = key_of(part, node);
    Operation made = bare(op, op.kind, key);
    made.amount = op.amount;
    if (op.kind != Kind::kInc) made.element = member(part, key, op.element);
    made.parent = member(part, key, op.parent);
    std::vector<std::uint32_t> list;
    for (const auto e : h_.list(op)) list.push_back(member(part, key, e));
    add(part, id, made, list);
  }

  void add_reset(OpId id, const Resets::Reset& reset) {
    const Operation& op = h_.ops[id];
    DocumentPart& part = part_of_kind(index_.kind_of(reset.container));
    const auto key = key_of(part, reset.container);
    std::vector<std::uint32_t> members;
    for (const auto e : reset.members) members.push_back(member(part, key, e));
    switch (index_.kind_of(reset.container)) {
      case ValueKind::kCounter:
        add(part, id, bare(op, Kind::kReset, key), {});
        break;
      case ValueKind::kSet:
        for (const auto e : members) {
          Operation down = bare(op, Kind::kDown, key);
          down.element = e;
          add(part, id, down, {});
        }
        break;
      case ValueKind::kList:
      case ValueKind::kText: {
        if (members.empty()) break;
        Operation gone = bare(op, Kind::kDelete, key);
        gone.element = members.front();
        add(part, id, gone, members);
        break;
      }
      default: {
        Operation nothing = bare(op, Kind::kWrite, key);
        nothing.element = nothing_of(part, key);
        add(part, id, nothing, {});
      }
    }
  }

  // The write of a register that a remove stands for.
  static std::uint32_t nothing_of(DocumentPart& part, std::uint32_t key) {
    const auto e = part.history.element(key, kReset);
    if (e == part.elements.size()) part.elements.push_back(kNone);
    return e;
  }

  // One for each container that it shows.
  void add_read(OpId id) {
    const Operation& op = h_.ops[id];
    std::size_t shown = 0;
    for_shown(h_, index_, op, [&](const ShownItem& item) {
      if (!index_.is_place(item.element)) {
        const auto node = index_.at(item.element).node;
        const auto at = index_.is_root(node) ? kNone : shown_at_[node];
        if (at < shown && shown_[at].container == node) shown_[at].members.push_back(item.element);
      }
      const auto container = item.container(index_);
      if (container == kNone || index_.kind_of(container) == ValueKind::kMap) return;
      const auto at = shown_at_[container];
      if (at < shown && shown_[at].container == container) return;
      if (shown == shown_.size()) shown_.emplace_back();
      shown_at_[container] = static_cast<std::uint32_t>(shown);
      shown_[shown].container = container;
      shown_[shown++].members.clear();
    });
    for (std::size_t i = 0; i < shown; ++i) add_content(id, shown_[i].container, shown_[i].members);
  }

  void add_content(OpId id, std::uint32_t container, const std::vector<std::uint32_t>& members) {
    const ValueKind kind = index_.kind_of(container);
    DocumentPart& part = part_of_kind(kind);
    const auto key = key_of(part, container);
    static constexpr auto kKinds =
        std::to_array<std::pair<ValueKind, Kind>>({{ValueKind::kList, Kind::kList},
                                                   {ValueKind::kText, Kind::kList},
                                                   {ValueKind::kCounter, Kind::kValue},
                                                   {ValueKind::kSet, Kind::kState},
                                                   {ValueKind::kRegister, Kind::kValues}});
    const auto* const read = std::find_if(kKinds.begin(), kKinds.end(),
                                          [&](const auto& entry) { return entry.first == kind; });
    Operation made = bare(h_.ops[id], read->second, key);
    if (kind == ValueKind::kCounter) {
      if (members.empty()) return;  // of a part of a history
      made.amount = std::stoll(std::string(index_.local(members[0])));
      add(part, id, made, {});
      return;
    }
    std::vector<std::uint32_t> list;
    for (const auto e : members) list.push_back(member(part, key, e));
    add(part, id, made, list);
  }

  const History& h_;
  const DocumentIndex& index_;
  const bool resets_;
  std::optional<Resets> undone_;
  std::map<ValueKind, DocumentPart> parts_;
  std::vector<std::uint32_t> keys_, members_;  // of the part, by container, by member
  struct Shown {
    std::uint32_t container = kNone;
    std::vector<std::uint32_t> members = {};
  };
  std::vector<Shown> shown_;  // by the read; its first ones, the others are kept for more
  std::vector<std::uint32_t> shown_at_;  // by container: where it was among them
};

// What a remove stands for is a sibling of the writes that a read must return, as long as no
// visible write had seen it.
void show_resets_of_registers(const KnownContext& context, DocumentPart& part) {
  History& h = part.history;
  const auto visibility = context.visibility.of_part(h, part.origin);
  std::vector<MaximalUpdates> states;
  const auto is_reset = [&](OpId u) { return h.elements[h.ops[u].element].text == kReset; };
  const KnownContext own{h, visibility, context.axioms, context.budget};
  replay(
      own, [&](std::uint32_t) { states.assign(h.keys.size(), {}); },
      [&](OpId write) { states[h.ops[write].key].take(own, write); },
      [&](OpId id) {
        Operation& op = h.ops[id];
        const auto& all = states[op.key].updates();
        const auto reset = std::find_if(all.begin(), all.end(), is_reset);
        if (op.kind != Kind::kValues || reset == all.end()) return true;
        const auto returned = h.list(op);
        std::vector<std::uint32_t> list(returned.begin(), returned.end());
        list.push_back(h.ops[*reset].element);
        op.list_begin = static_cast<std::uint32_t>(h.lists.size());
        h.lists.insert(h.lists.end(), list.begin(), list.end());
        op.list_end = static_cast<std::uint32_t>(h.lists.size());
        return true;
      });
}

}  // namespace

std::vector<DocumentPart> document_parts(const KnownContext& context, const DocumentIndex& index,
                                         const KeyEvents& events, MapPolicy policy) {
  auto parts = Parts(context.history, index, events, policy).make();
  for (auto& part : parts) {
    if (policy == MapPolicy::kReset && part.history.type == Type::kMultiValueRegister)
      show_resets_of_registers(context, part);
  }
  return parts;
}

}  // namespace cupel::crdt
