// Random documents: small histories of maps with nested values. A read shows what some of the
// updates make, one after the other, or often something else.
#pragma once

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "base/random.hpp"
#include "crdt/model/document.hpp"

namespace cupel::crdt {

class RandomDocument {
 public:
  RandomDocument(History& history, Operation& op, std::vector<std::uint32_t>& list,
                 base::Random& random)
      : h_(history), op_(op), list_(list), random_(random) {
    for (const Operation& before : h_.ops) {
      if (before.key != op_.key) continue;
      if (before.kind == Kind::kPut &&
          document_element(text(before.parent)).kind != ValueKind::kScalar)
        containers_.push_back(before.parent);
      if (before.kind == Kind::kInsert && held_by(before.element) != kNone)
        containers_.push_back(held_by(before.element));
    }
  }

  void choose(bool read) {
    if (read) {
      choose_read();
    } else if (containers_.empty() || random_.chance(0.45)) {
      change_place();
    } else {
      update(containers_[random_.below(containers_.size())]);
    }
  }

 private:
  static constexpr std::size_t kMostContainers = 4, kMostCharacters = 4;

  [[nodiscard]] const std::string& text(std::uint32_t e) const { return h_.elements[e].text; }
  std::uint32_t element(const std::string& text) { return h_.element(op_.key, text); }

  // The container that an element of a list is; kNone: it is none.
  [[nodiscard]] std::uint32_t held_by(std::uint32_t member) const {
    const auto what = document_element(text(member));
    if (!what.is_member || document_element(what.local).kind == ValueKind::kScalar) return kNone;
    return h_.known_element(op_.key, std::string(what.local));
  }

  std::uint32_t some_place() {
    std::string container;
    for (const auto c : containers_) {
      if (text(c).starts_with("map ") && random_.chance(0.6)) container = text(c);
    }
    return element(member_text(container, random_.chance(0.7) ? "\"a\"" : "\"b\""));
  }

  void change_place() {
    op_.element = some_place();
    std::vector<std::uint32_t> used;
    for (const Operation& before : h_.ops) {
      if (before.kind == Kind::kPut && before.key == op_.key) used.push_back(before.element);
    }
    if (!used.empty() && random_.chance(0.45)) {
      op_.kind = Kind::kDelete;
      op_.element = used[random_.below(used.size())];
      return;
    }
    op_.kind = Kind::kPut;
    if (containers_.size() == kMostContainers || random_.chance(0.25)) {
      op_.parent = element(std::to_string(random_.below(2)));
      return;
    }
    const auto& kind = kContainers[random_.chance(0.4) ? 0 : random_.below(kContainers.size())];
    op_.parent = element(std::string(kind.name) + " " + std::to_string(h_.ops.size()));
    h_.note_put(op_.element, op_.parent);
  }

  std::uint32_t member(std::uint32_t container, const std::string& local) {
    return element(member_text(text(container), local));
  }
  [[nodiscard]] std::vector<std::uint32_t> inserted(std::uint32_t container) const {
    std::vector<std::uint32_t> all;
    for (const Operation& before : h_.ops) {
      if (before.kind == Kind::kInsert && text(before.element).starts_with(text(container) + ":"))
        all.push_back(before.element);
    }
    return all;
  }

  void update(std::uint32_t container) {
    switch (document_element(text(container)).kind) {
      case ValueKind::kMap:
        change_place();
        return;
      case ValueKind::kCounter:
        op_.kind = Kind::kInc;
        op_.element = container;
        op_.amount = random_.chance(0.7) ? 1 : -1;
        return;
      case ValueKind::kSet:
        op_.kind = random_.chance(0.6) ? Kind::kUp : Kind::kDown;
        op_.element = member(container, std::to_string(random_.below(2)));
        return;
      case ValueKind::kRegister:
        op_.kind = Kind::kWrite;
        op_.element = member(container, std::to_string(random_.below(3)));
        return;
      default: {
        const auto known = inserted(container);
        const bool remove = !known.empty() && random_.chance(0.3);
        op_.kind = remove || known.size() == kMostCharacters ? Kind::kDelete : Kind::kInsert;
        op_.element = op_.kind == Kind::kDelete
                          ? known[random_.below(known.size())]
                          : member(container, "\"" + std::to_string(h_.ops.size() % 10) + "\"");
        if (op_.kind == Kind::kInsert && !known.empty() && random_.chance(0.6))
          op_.parent = known[random_.below(known.size())];
        if (op_.kind == Kind::kInsert && text(container).starts_with("list")) hold_container();
        if (text(container).starts_with("text")) list_ = {op_.element};
      }
    }
  }

  // Of the inserted element, often.
  void hold_container() {
    if (containers_.size() >= kMostContainers || random_.chance(0.3)) return;
    const auto& kind = kContainers[random_.chance(0.5) ? 0 : random_.below(kContainers.size())];
    const auto held = std::string(kind.name) + " " + std::to_string(h_.ops.size());
    const auto list = std::string(document_element(text(op_.element)).container);
    op_.element = element(member_text(list, held));
    h_.note_put(op_.element, element(held));
  }

  // What is in the document after some updates.
  struct State {
    std::map<std::uint32_t, std::uint32_t> values;                // by place
    std::map<std::uint32_t, std::vector<std::uint32_t>> members;  // by container
    std::map<std::uint32_t, std::int64_t> sums;                   // by container
  };

  void apply(State& state, OpId id) {
    const Operation& op = h_.ops[id];
    if (op.kind == Kind::kPut) {
      state.values[op.element] = op.parent;
      return;
    }
    const auto what = document_element(text(op.element));
    if (op.kind == Kind::kDelete && what.kind == ValueKind::kMap) {
      if (random_.chance(0.8)) state.values.erase(op.element);
      if (h_.type == Type::kResetMap && random_.chance(0.7)) {
        state.members.clear();
        state.sums.clear();
      }
      return;
    }
    if (op.kind == Kind::kInc) {
      state.sums[op.element] += op.amount;
      return;
    }
    auto& members = state.members[element(std::string(what.container))];
    if (op.kind == Kind::kWrite && random_.chance(0.8)) members.clear();
    if (op.kind != Kind::kInsert) std::erase(members, op.element);
    if (op.kind == Kind::kDown || op.kind == Kind::kDelete) return;
    auto place = members.end();
    if (op.kind == Kind::kInsert) {
      place = std::find(members.begin(), members.end(), op.parent);
      place = place == members.end() ? members.begin() : place + 1;
    }
    members.insert(place, op.element);
  }

  void show(const State& state, std::uint32_t place) {
    const auto held = state.values.find(place);
    if (held == state.values.end() || random_.chance(0.03)) return;
    const auto value = held->second;
    list_.push_back(place);
    list_.push_back(value);
    show_content(state, value);
  }

  void show_content(const State& state, std::uint32_t value) {
    const auto what = document_element(text(value));
    if (what.is_member || what.kind == ValueKind::kScalar) return;
    if (what.kind == ValueKind::kCounter) {
      const auto sum = state.sums.find(value);
      const auto off = random_.chance(0.05) ? 1 : 0;
      list_.push_back(
          member(value, std::to_string((sum == state.sums.end() ? 0 : sum->second) + off)));
      return;
    }
    if (what.kind == ValueKind::kMap) {
      show_map(state, text(value));
      return;
    }
    if (const auto found = state.members.find(value); found != state.members.end()) {
      auto members = found->second;
      if (what.kind == ValueKind::kRegister && !members.empty() && random_.chance(0.1))
        members.push_back(members[random_.below(members.size())]);
      if (what.kind == ValueKind::kSet || what.kind == ValueKind::kRegister)
        std::sort(members.begin(), members.end());
      list_.insert(list_.end(), members.begin(), members.end());
      for (const auto e : members) {
        if (held_by(e) != kNone) show_content(state, held_by(e));
      }
    }
  }

  // By value: showing a counter adds an element.
  void show_map(const State& state,
                std::string container) {  // NOLINT(performance-unnecessary-value-param)
    for (const auto& [place, value] : state.values) {
      if (document_element(text(place)).container == container) show(state, place);
    }
  }

  void choose_read() {
    op_.kind = Kind::kDocument;
    State state;
    const double share = random_.chance(0.6) ? 1 : 0.7;
    for (OpId id = 0; id < h_.ops.size(); ++id) {
      const bool counts = !is_read(h_.ops[id].kind) && h_.ops[id].key == op_.key;
      if (counts && random_.chance(share)) apply(state, id);
    }
    if (random_.chance(0.5)) {
      show_map(state, "");
    } else {
      op_.element = some_place();
      show(state, op_.element);
    }
  }

  History& h_;
  Operation& op_;
  std::vector<std::uint32_t>& list_;
  base::Random& random_;
  std::vector<std::uint32_t> containers_;
};

}  // namespace cupel::crdt
