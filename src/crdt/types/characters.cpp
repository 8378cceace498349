// Characters: see the header. The simulated replica is a replicated growable array (Roh et al.
// 2011), whose orders are those of a list, too.
#include "crdt/types/characters.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/text/flat_json.hpp"
#include "crdt/explain/read_explainer.hpp"
#include "crdt/solve/encoder.hpp"
#include "crdt/workload/simulated_replica.hpp"

namespace cupel::crdt {

namespace {

// An addAfter or remove of unknown outcome did not happen if no operation can have added the
// character that it names: that may be the work of one that failed, or of another that did
// not happen. What a read shows is left to the decision.
History without_unnamed(const History& history) {
  std::vector<bool> unknown(history.replicas.size(), false);
  for (const auto r : history.indeterminate) unknown[r] = true;
  std::vector<bool> added(history.elements.size(), false), shown(history.elements.size(), false);
  std::vector<std::vector<OpId>> waiting(history.elements.size());  // by what they name
  std::vector<std::uint32_t> fresh;
  const auto add = [&](std::uint32_t e) {
    if (!added[e]) fresh.push_back(e);
    added[e] = true;
  };
  for (OpId id = 0; id < history.ops.size(); ++id) {
    const Operation& op = history.ops[id];
    if (op.kind == Kind::kList) {
      for (const auto e : history.list(op)) shown[e] = true;
    }
    if (op.kind != Kind::kInsert) continue;
    if (unknown[op.replica] && op.parent != kNone) {
      waiting[op.parent].push_back(id);
    } else {
      for (const auto e : history.changed(op)) add(e);
    }
  }
  while (!fresh.empty()) {
    const auto e = fresh.back();
    fresh.pop_back();
    for (const OpId id : waiting[e]) {
      for (const auto next : history.changed(history.ops[id])) add(next);
    }
  }
  History kept;
  kept.type = history.type;
  kept.context = history.context;  // the reader has left out what was received
  for (const Operation& whole : history.ops) {
    Operation op = whole;
    const bool inserts = op.kind == Kind::kInsert;
    const auto named = inserts ? std::span(&whole.parent, 1) : history.changed(whole);
    const bool is_named = std::all_of(named.begin(), named.end(),
                                      [&](std::uint32_t e) { return e == kNone || added[e]; });
    const bool is_shown =
        inserts && history.any_changed(whole, [&](std::uint32_t e) { return shown[e]; });
    if (unknown[op.replica] && !is_named && !is_shown) continue;
    op.replica = kept.replica(history.replicas[op.replica]);
    op.key = kept.key(history.keys[op.key]);
    const auto element = [&](std::uint32_t e) {
      return e == kNone ? kNone : kept.element(op.key, history.elements[e].text);
    };
    if (unknown[whole.replica]) kept.indeterminate.push_back(op.replica);
    op.parent = element(op.parent);
    op.element = element(op.element);
    std::vector<std::uint32_t> list;
    for (const auto e : history.list(whole)) list.push_back(element(e));
    kept.add(op, list);
  }
  return kept;
}

// What the operations name and show must have been seen; removes of it must not, or must.
class CharactersEncoding {
 public:
  explicit CharactersEncoding(Encoder& encoder)
      : encoder_(encoder),
        h_(encoder.history()),
        // The printed axioms allow it; they are those of arrays.
        shows_removed_(encoder.axioms().strict && !replicated_type(h_).traits().one_order),
        inserts_(inserts_of(h_)),
        removes_(h_.elements.size()),
        characters_(h_.keys.size()) {
    for (OpId id = 0; id < h_.ops.size(); ++id) {
      const Operation& op = h_.ops[id];
      if (is_read(op.kind)) continue;
      for (const auto e : h_.changed(op)) {
        if (op.kind == Kind::kDelete) removes_[e].push_back(id);
        if (op.kind == Kind::kInsert) characters_[op.key].push_back(e);
      }
    }
  }

  void encode(OpId id) {
    const Operation& op = h_.ops[id];
    if (op.kind == Kind::kList) {
      encode_list(id);
    } else if (op.kind == Kind::kDelete) {
      for (const auto e : h_.changed(op)) must_see(id, e);
    } else if (op.parent != kNone) {
      must_see(id, op.parent);
    }
  }

 private:
  void must_see(OpId id, std::uint32_t e) {
    if (inserts_[e] == kNone)
      encoder_.clause({});
    else
      encoder_.clause({encoder_.seen(id, inserts_[e])});
  }

  void encode_list(OpId read) {
    std::vector<bool> shown(h_.elements.size(), false);
    for (const auto e : h_.list(h_.ops[read])) {
      shown[e] = true;
      must_see(read, e);
      for (const OpId d : removes_[e]) {
        if (!shows_removed_) encoder_.clause({-encoder_.seen(read, d)});
      }
    }
    for (const auto e : characters_[h_.ops[read].key]) {
      if (shown[e]) continue;
      Clause one{-encoder_.seen(read, inserts_[e])};
      for (const OpId d : removes_[e]) one.push_back(encoder_.seen(read, d));
      encoder_.clause(one);
    }
  }

  Encoder& encoder_;
  const History& h_;
  const bool shows_removed_;
  std::vector<OpId> inserts_;
  std::vector<std::vector<OpId>> removes_;              // by element
  std::vector<std::vector<std::uint32_t>> characters_;  // by key
};

class CharactersReplica final : public SimulatedReplica {
 public:
  CharactersReplica(const History& history, std::string_view bug, std::uint32_t self)
      : SimulatedReplica(history, self),
        ignores_stamp_(bug == "ignores-timestamp"),
        interleaves_(bug == "interleaves"),
        forgets_removed_(bug == "forgets-removed-neighbour"),
        removes_first_(bug == "removes-first-of-range"),
        texts_(history.keys.size()),
        visible_(history.keys.size()) {}

  void answer(Operation& read, std::vector<std::uint32_t>& list) override {
    for (const auto& c : texts_[read.key]) {
      if (!c.removed) list.push_back(c.element);
    }
  }

  [[nodiscard]] std::span<const std::vector<std::uint32_t>> visible() const override {
    return visible_;
  }

 private:
  struct Character {
    std::uint32_t element;
    std::uint32_t parent;
    std::uint64_t stamp;
    std::uint32_t replica;
    bool removed;
  };

  void change(const Update& update, base::Random& /*random*/) override {
    auto& text = texts_[update.op.key];
    auto& visible = visible_[update.op.key];
    const auto find = [&](std::uint32_t e) {
      return std::find_if(text.begin(), text.end(),
                          [&](const Character& c) { return c.element == e; });
    };
    if (update.op.kind == Kind::kDelete) {
      for (const auto e : h_.changed(update.op)) {
        // Out of order it may not be there; then it will never be removed.
        if (const auto at = find(e); at != text.end()) at->removed = true;
        std::erase(visible, e);
        if (removes_first_ && is_remote(update)) return;
      }
      return;
    }
    auto at = text.begin();
    if (update.op.parent != kNone) {
      at = find(update.op.parent);
      if (at != text.end())
        at = forgets_removed_ && is_remote(update) && at->removed ? text.begin() : at + 1;
    }
    // What was added later after the same character, and what comes after that, has a
    // larger stamp each.
    const auto is_later = [&](const Character& c) {
      return std::pair(c.stamp, c.replica) > std::pair(update.stamp, update.tie);
    };
    while (at != text.end() && is_later(*at)) {
      if (is_remote(update) && ignores_stamp_) break;
      if (is_remote(update) && interleaves_ && at->parent != update.op.parent) break;
      ++at;
    }
    auto parent = update.op.parent;
    for (const auto e : h_.changed(update.op)) {
      at = text.insert(at, {e, parent, update.stamp, update.tie, false}) + 1;
      parent = e;
      visible.push_back(e);
    }
  }

  const bool ignores_stamp_, interleaves_, forgets_removed_, removes_first_;
  std::vector<std::vector<Character>> texts_;
  std::vector<std::vector<std::uint32_t>> visible_;
};

}  // namespace

TypeTraits CharactersType::traits_of(std::vector<TypeName> names, std::vector<TypeBug> bugs,
                                     DecideContext decide_context) {
  constexpr std::string_view kPair =
      "the character before (null: the beginning) and the new one, as in [null,\"a\"]";
  return {.names = std::move(names),
          .whole_read = Kind::kList,
          .bugs = std::move(bugs),
          .injected = {"loses-update", "clock-apart", "ties-by-arrival"},
          .reads_list_elements = true,
          .updates_use_elements = true,
          .calls = {{"addAfter", Kind::kInsert, Argument::kAfter, Answer::kAbsent, kPair},
                    {"add-after", Kind::kInsert, Argument::kAfter, Answer::kAbsent, kPair},
                    {"remove", Kind::kDelete, Argument::kElement, Answer::kAbsent, "the character"},
                    {"read", Kind::kList, Argument::kAbsent, Answer::kList,
                     "the array of the characters, none of them null"}},
          .methods = "addAfter, remove or read of an array",
          .decide_context = std::move(decide_context),
          .simulate = simulate_by<CharactersReplica>,
          .summary_of_no_order = "no one order of the characters fits all reads and additions"};
}

namespace {

// A read; its elements are their own text.
class CharactersRead final : public FlatCall {
 public:
  explicit CharactersRead(std::vector<std::string_view> all) : all_(std::move(all)) {}

  [[nodiscard]] std::optional<std::string> parse(const ParsedCall& call) const override {
    call.op.kind = Kind::kList;
    History::Shown shown(call.history, call.op.key);
    for (const auto one : all_) call.list.push_back(shown.element(one));
    return std::nullopt;
  }

 private:
  const std::vector<std::string_view> all_;
};

}  // namespace

std::unique_ptr<FlatCall> CharactersType::flat_call(std::string_view method,
                                                    std::string_view value) const {
  if (method == "read" && value.starts_with('[')) {
    auto all = text::flat_values(value);
    const auto is_own_text = [](std::string_view one) {
      return one != "null" && !one.starts_with('[') && !one.starts_with('{') &&
             std::all_of(one.begin(), one.end(), [](char c) { return c > 0; });
    };
    if (std::all_of(all.begin(), all.end(), is_own_text))
      return std::make_unique<CharactersRead>(std::move(all));
  }
  return tree_call(value);
}

History CharactersType::without_impossible(History history) const {
  return without_unnamed(history);
}

void CharactersType::choose(RequestChoice& choice) const {
  if (choice.read) return;
  Operation& op = choice.op;
  const auto& known = choice.visible[op.key];
  if (!known.empty() && choice.down) {
    op.kind = Kind::kDelete;
    op.element = known[choice.random.below(known.size())];
    return;
  }
  op.kind = Kind::kInsert;
  op.parent = known.empty() || choice.random.chance(0.25)
                  ? kNone
                  : known[choice.random.below(known.size())];
  op.element = choice.history.element(op.key, fmt::format("\"{}-{}\"", op.replica, choice.fresh++));
}

bool CharactersType::encode(Encoder& encoder) const {
  CharactersEncoding encoding(encoder);
  for (const OpId id : encoder.nodes()) {
    if (encoder.budget_exceeded()) return false;
    if (!encoder.is_probed(id)) encoding.encode(id);
  }
  return encode_order(encoder);
}

bool CharactersType::explain_characters(ReadExplainer& explainer) {
  const History& h = explainer.history();
  const auto list = h.list(explainer.read());
  const auto inserts = inserts_of(h);
  for (const auto e : list) {
    if (inserts[e] != kNone) continue;
    explainer.report("thin-air", fmt::format("{} shows {}, which nobody added", explainer.text(),
                                             h.element_text(e)));
    return true;
  }
  const auto is_shown = [&](std::uint32_t e) {
    return std::find(list.begin(), list.end(), e) != list.end();
  };
  bool missing = false;
  for (std::uint32_t e = 0; e < h.elements.size(); ++e)
    missing = missing || (inserts[e] != kNone && !is_shown(e));
  const auto is_removed = [&](OpId id) {
    return h.ops[id].kind == Kind::kDelete && h.any_changed(h.ops[id], is_shown);
  };
  OpId remove = kNone;  // best one that it has surely seen
  for (OpId id = 0; id < h.ops.size(); ++id) {
    if (is_removed(id) && (remove == kNone || explainer.must_see(id))) remove = id;
  }
  const bool half = remove != kNone && !explainer.must_see(remove) &&
                    h.any_changed(h.ops[remove], [&](std::uint32_t e) { return !is_shown(e); });
  if (half) {
    explainer.report("removed-character-shown",
                     fmt::format("{} shows only a part of what {} removes", explainer.text(),
                                 with_replica(h, remove)));
  } else if (remove != kNone) {
    explainer.report(
        "removed-character-shown",
        fmt::format("{} shows a character whose remove it has seen", explainer.text()));
  } else if (missing) {
    explainer.report("lost-character",
                     fmt::format("{} leaves out a character that it has seen, and it cannot have "
                                 "seen a remove of it",
                                 explainer.text()));
  }
  return remove != kNone || missing;
}

}  // namespace cupel::crdt
