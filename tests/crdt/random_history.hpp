// Random histories, small: nothing is simulated, reads return what they like, so that
// many are admitted for odd reasons and many are not.
#pragma once

#include <algorithm>
#include <array>
#include <map>
#include <string>

#include "base/random.hpp"
#include "crdt/families.hpp"
#include "crdt/model/history.hpp"
#include "random_document.hpp"

namespace cupel::crdt {

struct Shape {
  std::uint32_t ops, replicas, keys, values;  // values 0, of a register: written once each
};

// Ranges of one to three characters, six characters in all: the oracle tries all their orders.
inline void random_text_operation(History& h, Operation& op, std::vector<std::uint32_t>& list,
                                  std::vector<std::uint32_t>& inserted, bool read,
                                  base::Random& random) {
  constexpr std::size_t kMostCharacters = 6;
  std::vector<std::uint32_t> here;
  for (const auto e : inserted) {
    if (h.elements[e].key == op.key) here.push_back(e);
  }
  const bool full = inserted.size() == kMostCharacters;
  op.kind = read || (full && here.empty())                  ? Kind::kList
            : !full && (random.chance(0.7) || here.empty()) ? Kind::kInsert
                                                            : Kind::kDelete;
  if (op.kind == Kind::kInsert) {
    op.parent = here.empty() || random.chance(0.5) ? kNone : here[random.below(here.size())];
    do {
      list.push_back(h.element(
          op.key, "\"" + std::string(1, static_cast<char>('a' + inserted.size())) + "\""));
      inserted.push_back(list.back());
    } while (inserted.size() < kMostCharacters && list.size() < 3 && random.chance(0.5));
    op.element = list.front();
  } else if (op.kind == Kind::kDelete) {
    const auto begin = random.below(here.size());
    for (auto at = begin; at < here.size() && (at == begin || random.chance(0.5)); ++at)
      list.push_back(here[at]);
    op.element = list.front();
  } else {
    const bool sorted = random.chance(0.5);
    const double share = random.chance(0.5) ? 1 : 0.7;
    for (const auto e : here) {
      if (random.chance(share)) list.push_back(e);
    }
    if (!sorted) random.shuffle(std::span(list));
  }
}

// A text with marks of two names and few values. A read often shows what the marks so far, some
// left out, give its characters in the order of the file, and what is between them.
inline void random_marked_operation(History& h, Operation& op, std::vector<std::uint32_t>& list,
                                    std::vector<std::uint32_t>& inserted, bool read,
                                    base::Random& random) {
  static constexpr std::array kMarks = {R"(["b",1])", R"(["b",1])", R"(["b",2])", R"(["b",null])",
                                        R"(["i",1])"};
  std::vector<std::uint32_t> here;
  for (const auto e : inserted) {
    if (h.elements[e].key == op.key) here.push_back(e);
  }
  if (!read && !here.empty() && random.chance(0.55)) {
    op.kind = Kind::kMark;
    op.parent = h.element(op.key, kMarks[random.below(kMarks.size())]);
    for (auto at = random.below(here.size()); at < here.size(); ++at) {
      list.push_back(here[at]);
      if (random.chance(0.4)) break;
    }
    op.element = list.front();
    return;
  }
  random_text_operation(h, op, list, inserted, read, random);
  if (op.kind != Kind::kList) return;
  const double share = random.chance(0.6) ? 1 : 0.6;
  if (random.chance(0.6)) {  // in an order that the insertions make
    std::vector<std::uint32_t> shown;
    for (const Operation& other : h.ops) {
      if (other.key != op.key || !random.chance(share)) continue;
      const auto changed = h.changed(other);
      if (other.kind == Kind::kDelete) {
        for (const auto e : changed) std::erase(shown, e);
      } else if (other.kind == Kind::kInsert) {
        const auto left = std::find(shown.begin(), shown.end(), other.parent);
        shown.insert(left == shown.end() ? shown.begin() : left + 1, changed.begin(),
                     changed.end());
      }
    }
    list = shown;
  }
  std::map<std::pair<std::string, std::string>, std::string> by_mark;
  for (const auto e : list) {
    std::map<std::string, std::string> marks;
    for (const Operation& other : h.ops) {
      if (other.kind != Kind::kMark || other.key != op.key || !random.chance(share)) continue;
      const auto at = [&](std::uint32_t c) { return std::find(list.begin(), list.end(), c); };
      auto first = list.end(), last = list.end();
      for (const auto c : h.changed(other)) {
        if (at(c) == list.end()) continue;
        first = first == list.end() ? at(c) : std::min(first, at(c));
        last = last == list.end() ? at(c) : std::max(last, at(c));
      }
      if (first == list.end() || at(e) < first || at(e) > last) continue;
      const std::string& text = h.elements[other.parent].text;
      marks[text.substr(2, 1)] = text.substr(5, text.size() - 6);
    }
    for (const auto& [name, value] : marks) {
      const std::string& quoted = h.elements[e].text;
      if (value != "null") by_mark[{name, value}] += quoted.substr(1, quoted.size() - 2);
    }
  }
  std::map<std::string, std::string> names;
  for (const auto& [mark, characters] : by_mark) {
    std::string& text = names[mark.first];
    text += (text.empty() ? "" : ",") + ("\"" + mark.second + "\":\"" + characters + "\"");
  }
  std::string all;
  for (const auto& [name, text] : names)
    all += (all.empty() ? "" : ",") + ("\"" + name + "\":{" + text + "}");
  if (!all.empty()) op.parent = h.element(op.key, "{" + all + "}");
}

// Four nodes a key. A read is a random tree, or often what some order of some moves makes.
inline void random_tree_operation(History& h, Operation& op, std::vector<std::uint32_t>& list,
                                  bool read, base::Random& random) {
  constexpr std::uint64_t kNodes = 4;
  const auto node = [&](std::uint64_t n) {
    return h.element(op.key, "\"" + std::string(1, static_cast<char>('a' + n)) + "\"");
  };
  std::vector<OpId> moves;
  for (OpId id = 0; id < h.ops.size(); ++id) {
    if (!is_read(h.ops[id].kind) && h.ops[id].key == op.key) moves.push_back(id);
  }
  const auto known = [&] {
    return moves.empty() || random.chance(0.05) ? node(random.below(kNodes))
                                                : h.ops[moves[random.below(moves.size())]].element;
  };
  if (!read) {
    op.kind = !moves.empty() && random.chance(0.15) ? Kind::kDelete : Kind::kMove;
    op.element =
        op.kind == Kind::kDelete || random.chance(0.5) ? known() : node(random.below(kNodes));
    if (op.kind == Kind::kMove && random.chance(0.6)) op.parent = known();
    if (op.parent == op.element) op.parent = kNone;
    return;
  }
  op.kind = Kind::kTree;
  const std::uint32_t gone = kNone - 1;
  std::map<std::uint32_t, std::uint32_t> parent;
  if (random.chance(0.3)) random.shuffle(std::span(moves));
  const double share = random.chance(0.5) ? 1 : 0.7;
  for (const OpId id : moves) {
    const Operation& move = h.ops[id];
    if (!random.chance(share)) continue;
    auto up = move.parent;
    // There may be a cycle already.
    for (std::size_t steps = 0; steps < kNodes && up != move.element && parent.contains(up);
         ++steps)
      up = parent[up];
    if (up != move.element || random.chance(0.1))
      parent[move.element] = move.kind == Kind::kDelete ? gone : move.parent;
  }
  for (const auto& [n, above] : parent) {
    auto up = n;
    for (std::size_t steps = 0; steps < kNodes && parent.contains(up); ++steps) up = parent[up];
    if (up != kNone && !random.chance(0.1)) continue;
    if (above == gone) continue;
    list.push_back(n);
    list.push_back(above == kNone ? n : above);
  }
}

// Two elements or three a key, so that they are moved often. A read is often what the updates so
// far, some left out, make in the order of the file.
inline void random_movable_operation(History& h, Operation& op, std::vector<std::uint32_t>& list,
                                     bool read, base::Random& random) {
  constexpr std::size_t kMostElements = 3;
  std::vector<std::uint32_t> here;
  for (const Operation& other : h.ops) {
    if (other.kind == Kind::kInsert && other.key == op.key) here.push_back(other.element);
  }
  const auto any = [&] { return here[random.below(here.size())]; };
  if (!read) {
    const bool full = here.size() == kMostElements;
    op.kind = here.empty() || (!full && random.chance(0.4)) ? Kind::kInsert
              : random.chance(0.75)                         ? Kind::kMove
                                                            : Kind::kDelete;
    if (op.kind == Kind::kInsert)
      op.element = h.element(op.key, std::to_string(here.size()));
    else
      op.element = any();
    if (op.kind != Kind::kDelete && !here.empty() && random.chance(0.5)) op.parent = any();
    if (op.parent == op.element) op.parent = kNone;
    return;
  }
  op.kind = Kind::kList;
  const double share = random.chance(0.5) ? 1 : 0.7;
  for (const Operation& other : h.ops) {
    if (is_read(other.kind) || other.key != op.key || !random.chance(share)) continue;
    std::erase(list, other.element);
    if (other.kind == Kind::kDelete) continue;
    const auto left = std::find(list.begin(), list.end(), other.parent);
    list.insert(left == list.end() ? list.begin() : left + 1, other.element);
  }
  if (random.chance(0.2)) random.shuffle(std::span(list));
}

inline History random_history(Type type, const Shape& shape, base::Random& random) {
  History h;
  h.type = type;
  for (std::uint32_t r = 0; r < shape.replicas; ++r) h.replica(std::to_string(r));
  for (std::uint32_t k = 0; k < shape.keys; ++k) h.key("k" + std::to_string(k));
  std::uint32_t fresh = 0;
  std::vector<std::uint32_t> inserted;
  for (std::uint32_t o = 0; o < shape.ops; ++o) {
    Operation op;
    op.replica = static_cast<std::uint32_t>(random.below(shape.replicas));
    op.key = static_cast<std::uint32_t>(random.below(shape.keys));
    const bool read = random.chance(0.45);
    const auto value = [&] {
      return h.element(op.key, std::to_string(random.below(shape.values)));
    };
    std::vector<std::uint32_t> list;
    const auto subset = [&](double probability) {
      for (std::uint32_t v = 0; v < shape.values; ++v) {
        if (random.chance(probability)) list.push_back(h.element(op.key, std::to_string(v)));
      }
    };
    switch (type) {
      case Type::kAddWinsSet:
      case Type::kRemoveWinsSet:
      case Type::kGrowOnlySet:
      case Type::kTwoPhaseSet:
      case Type::kLastWriterWinsSet:
        op.kind = read ? (random.chance(0.5) ? Kind::kTest : Kind::kState)
                  : random.chance(0.55) || type == Type::kGrowOnlySet ? Kind::kUp
                                                                      : Kind::kDown;
        if (op.kind == Kind::kState)
          subset(0.5);
        else
          op.element = value();
        op.returned = op.kind == Kind::kTest && random.chance(0.5);
        break;
      case Type::kEnableWinsFlag:
      case Type::kDisableWinsFlag:
        op.kind = read ? Kind::kTest : random.chance(0.5) ? Kind::kUp : Kind::kDown;
        op.returned = read && random.chance(0.5);
        break;
      case Type::kCounter:
      case Type::kResettableCounter:
      case Type::kBoundedCounter:
        op.kind = read ? Kind::kValue : Kind::kInc;
        op.amount = read ? random.between(-1, 3) : random.chance(0.7) ? random.between(1, 2) : -1;
        if (!read && type == Type::kResettableCounter && random.chance(0.4)) {
          op.kind = Kind::kReset;
          op.amount = 0;
        }
        break;
      case Type::kMultiValueRegister:
      case Type::kLastWriterWinsRegister:
      case Type::kLastWriterWinsMap:
      case Type::kAnyMaximalRegister:
      case Type::kMaxRegister:
        op.kind = read ? Kind::kValues : Kind::kWrite;
        if (!read)
          op.element = shape.values == 0 ? h.element(op.key, std::to_string(fresh++)) : value();
        else if (shape.values == 0) {
          for (std::uint32_t e = 0; e < h.elements.size(); ++e) {
            if (h.elements[e].key == op.key && random.chance(0.5)) list.push_back(e);
          }
          if (type != Type::kMultiValueRegister && list.size() > 1)
            list = {list[random.below(list.size())]};
        } else if (type == Type::kMultiValueRegister)
          subset(0.6);
        else if (random.chance(0.9))
          list = {value()};
        if (type == Type::kMultiValueRegister && !list.empty() && random.chance(0.1))
          list.push_back(list[random.below(list.size())]);
        if (type == Type::kMaxRegister && !read)
          op.amount = std::stoll(h.elements[op.element].text);
        break;
      case Type::kGrowableArray:
      case Type::kStrongList:
      case Type::kNonInterleavingList:
      case Type::kWeakList: {
        std::vector<std::uint32_t> here;
        for (const auto e : inserted) {
          if (h.elements[e].key == op.key) here.push_back(e);
        }
        op.kind = read                                 ? Kind::kList
                  : random.chance(0.7) || here.empty() ? Kind::kInsert
                                                       : Kind::kDelete;
        if (op.kind == Kind::kInsert) {
          op.parent = here.empty() || random.chance(0.5) ? kNone : here[random.below(here.size())];
          op.element = h.element(op.key, std::to_string(fresh++));
          inserted.push_back(op.element);
        } else if (op.kind == Kind::kDelete) {
          op.element = here[random.below(here.size())];
        } else {
          for (const auto e : here) {
            if (random.chance(0.7)) list.push_back(e);
          }
          random.shuffle(std::span(list));
        }
        break;
      }
      case Type::kMovableList:
        random_movable_operation(h, op, list, read, random);
        break;
      case Type::kTree:
        random_tree_operation(h, op, list, read, random);
        break;
      case Type::kMap:
      case Type::kRemoveWinsMap:
      case Type::kUpdateWinsMap:
      case Type::kResetMap:
        RandomDocument(h, op, list, random).choose(read);
        break;
      case Type::kMarkedText:
        random_marked_operation(h, op, list, inserted, read, random);
        break;
      case Type::kText:
        random_text_operation(h, op, list, inserted, read, random);
        break;
    }
    h.add(op, list);
  }
  return h;
}

// A history with a few reads of siblings changed: one more or one less, or all of another
// read. Nearly right is harder to refute than random.
inline History misread(const History& history, base::Random& random) {
  History h;
  h.type = history.type;
  for (const auto& replica : history.replicas) h.replica(replica);
  for (const auto& key : history.keys) h.key(key);
  for (const auto& element : history.elements) h.element(element.key, element.text);
  std::vector<OpId> reads;
  for (OpId id = 0; id < history.ops.size(); ++id) {
    if (history.ops[id].kind == Kind::kValues) reads.push_back(id);
  }
  std::vector<OpId> changed;
  const auto changes = reads.empty() ? 0 : random.below(3);
  for (std::uint64_t c = 0; c < changes; ++c) changed.push_back(reads[random.below(reads.size())]);
  for (OpId id = 0; id < history.ops.size(); ++id) {
    const Operation& op = history.ops[id];
    const auto list = history.list(op);
    std::vector<std::uint32_t> shown(list.begin(), list.end());
    if (std::find(changed.begin(), changed.end(), id) != changed.end()) {
      const Operation& other = history.ops[reads[random.below(reads.size())]];
      const auto e = static_cast<std::uint32_t>(random.below(history.elements.size() + 1));
      if (random.chance(0.3) && other.key == op.key) {
        const auto another = history.list(other);
        shown.assign(another.begin(), another.end());
      } else if (!shown.empty() && random.chance(0.5)) {
        shown.erase(shown.begin() + static_cast<std::ptrdiff_t>(random.below(shown.size())));
      } else if (e < history.elements.size() && history.elements[e].key == op.key &&
                 std::find(shown.begin(), shown.end(), e) == shown.end()) {
        shown.push_back(e);
      }
    }
    h.add(op, shown);
  }
  return h;
}

// The i-th shape of a series: sizes that an exhaustive search can take.
inline Shape small_shape(Type type, int i, base::Random& random) {
  const auto replicas = 1 + static_cast<std::uint32_t>(random.below(3));
  // Documents, which only known deliveries decide, are only interesting with more.
  const std::uint32_t least = is_map(type) ? 5 : 2;
  const auto ops = least + static_cast<std::uint32_t>(random.below(replicas == 3 ? 5 : 6));
  const auto keys = 1 + static_cast<std::uint32_t>(random.chance(0.3));
  return {ops, replicas, keys, is_register(type) && i % 2 == 0 ? 0U : 2U};
}

}  // namespace cupel::crdt
