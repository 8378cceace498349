// Strong list: the types `list` and `weak-list`, and what texts have in common with them (see the
// header). Yjs, Automerge, Loro and others promise the order of a list, each with one of its own.
// Protocols by operational transformation such as Jupiter promise that of a weak list
// (solve/weak_list_order.hpp): each two characters that are visible together have one order.
#include "crdt/types/strong_list.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "crdt/explain/context_explainer.hpp"
#include "crdt/explain/read_explainer.hpp"
#include "crdt/solve/context.hpp"
#include "crdt/solve/encoder.hpp"
#include "crdt/types/common_bugs.hpp"

namespace cupel::crdt {

namespace {

// The order of the characters of one key as variables for pairs, with all triples for transitivity.
class ListEncoding {
 public:
  ListEncoding(Encoder& encoder, std::vector<std::uint32_t> characters)
      : encoder_(encoder),
        h_(encoder.history()),
        characters_(std::move(characters)),
        inserts_(inserts_of(h_)),
        neighbours_(neighbours_of(h_)),
        place_(h_.elements.size(), kNone),
        pairs_(characters_.size() * characters_.size(), 0),
        removes_(h_.elements.size()) {
    for (std::uint32_t i = 0; i < characters_.size(); ++i) place_[characters_[i]] = i;
    for (OpId id = 0; id < h_.ops.size(); ++id) {
      if (h_.ops[id].kind != Kind::kDelete) continue;
      for (const auto e : h_.changed(h_.ops[id])) removes_[e].push_back(id);
    }
  }

  bool encode(std::uint32_t key) {
    const auto count = characters_.size();
    for (std::size_t a = 0; a < count; ++a) {
      for (std::size_t b = a + 1; b < count; ++b) {
        pairs_[a * count + b] = encoder_.new_variable();
        pairs_[b * count + a] = -pairs_[a * count + b];
      }
    }
    for (std::size_t a = 0; a < count; ++a) {
      for (std::size_t b = 0; b < count; ++b) {
        for (std::size_t c = 0; c < count; ++c) {
          if (encoder_.too_much()) return false;
          if (a != b && b != c && a != c)
            encoder_.clause(
                {-pairs_[a * count + b], -pairs_[b * count + c], pairs_[a * count + c]});
        }
      }
    }
    for (const Operation& op : h_.ops) {
      if (op.kind != Kind::kList) continue;
      const auto list = h_.list(op);
      for (std::size_t i = 0; op.key == key && i + 1 < list.size(); ++i)
        encoder_.clause({in_front(list[i], list[i + 1])});
    }
    for (const auto e : characters_) place(e);
    return true;
  }

 private:
  // A character that nobody added, and one in front of itself, is never right.
  [[nodiscard]] Literal in_front(std::uint32_t a, std::uint32_t b) const {
    if (a == b || place_[a] == kNone || place_[b] == kNone) return encoder_.never();
    return pairs_[place_[a] * characters_.size() + place_[b]];
  }

  // Next to its neighbour, of what its replica shows.
  void place(std::uint32_t e) {
    const auto l = neighbours_[e];
    if (l != kNone) encoder_.clause({in_front(l, e)});
    for (const auto x : characters_) {
      if (x == l || inserts_[x] == inserts_[e]) continue;
      Clause one{-encoder_.seen(inserts_[e], inserts_[x]), in_front(e, x)};
      if (l != kNone) one.push_back(in_front(x, l));
      for (const OpId d : removes_[x]) one.push_back(encoder_.seen(inserts_[e], d));
      encoder_.clause(one);
    }
  }

  Encoder& encoder_;
  const History& h_;
  const std::vector<std::uint32_t> characters_;
  const std::vector<OpId> inserts_;
  const std::vector<std::uint32_t> neighbours_;
  std::vector<std::uint32_t> place_;  // by element: in characters_
  std::vector<Literal> pairs_;
  std::vector<std::vector<OpId>> removes_;  // by element
};

}  // namespace

std::optional<Decision> StrongListType::decide_quickly(const History& history,
                                                       const Axioms& /*axioms*/,
                                                       base::Budget& budget, Effort effort) const {
  constexpr int kFewRepairs = 12, kMostRepairs = 200;
  return decide_list(history, budget, effort == Effort::kFirst ? kFewRepairs : kMostRepairs);
}

void StrongListType::explain_cycle(const ArbitrationCycle& cycle) const {
  const bool weak = cycle.explanation.part.history.type == Type::kWeakList;
  cycle.report(
      "order-disagreement",
      weak ? std::string(traits().summary_of_no_order)
      : cycle.one_read
          ? fmt::format("{} shows characters in an order that the others exclude", cycle.read())
          : "no one order of the characters fits these reads and additions");
}

void StrongListType::explain_read(ReadExplainer& explainer) const {
  const auto list = explainer.history().list(explainer.read());
  for (const auto e : list) {
    if (std::count(list.begin(), list.end(), e) == 1) continue;
    explainer.report("character-twice", fmt::format("{} shows {} twice", explainer.text(),
                                                    explainer.history().element_text(e)));
    return;
  }
  base::Budget budget(std::chrono::duration<double>(1), 0);
  const auto characters = decide_characters(explainer.history(), budget);
  const bool ordered = !characters || characters->verdict != Verdict::kSatisfied;
  if (ordered && explain_characters(explainer)) return;
  explainer.report(
      "order-disagreement",
      fmt::format("no one order of the characters explains {} and the others", explainer.text()));
}

void StrongListType::explain_received(ContextExplainer& explainer) const {
  explainer.explain_content();
}

bool StrongListType::encode_order(Encoder& encoder) const {
  constexpr std::size_t kMostCharacters = 120;
  const History& h = encoder.history();
  std::vector<std::vector<std::uint32_t>> of_key(h.keys.size());
  for (const Operation& op : h.ops) {
    if (op.kind != Kind::kInsert) continue;
    for (const auto e : h.changed(op)) of_key[op.key].push_back(e);
  }
  for (std::uint32_t key = 0; key < of_key.size(); ++key) {
    if (of_key[key].size() > kMostCharacters) return false;
    if (!ListEncoding(encoder, of_key[key]).encode(key)) return false;
  }
  return true;
}

const ReplicatedType& strong_list() {
  auto traits = CharactersType::traits_of({{"list"}, {"strong-list"}},
                                          {ignores_timestamp(), forgets_removed_neighbour()},
                                          decide_known_list);
  traits.one_order = true;
  static const StrongListType type(std::move(traits));
  return type;
}

const ReplicatedType& weak_list() {
  auto traits = CharactersType::traits_of(
      {{"weak-list"}}, {ignores_timestamp(), forgets_removed_neighbour()}, decide_known_weak_list);
  traits.needs_deliveries = true;
  traits.summary_of_no_order =
      "characters that are visible together do not have the same order wherever they are";
  static const StrongListType type(std::move(traits));
  return type;
}

}  // namespace cupel::crdt
