// Marked text: see the header.
#include "crdt/solve/marked_text.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <utility>

#include "base/hash_table.hpp"
#include "base/parallel.hpp"
#include "crdt/solve/known_state.hpp"
#include "crdt/solve/last_update_order.hpp"

namespace cupel::crdt {

namespace {

using Mark = MarkIndex::Mark;

// Which characters are new to a mark.
class Newness {
 public:
  Newness(const History& h, const Visibility& visibility)
      : visibility_(visibility), inserts_(inserts_of(h)), removes_(h.elements.size()) {
    for (OpId id = 0; id < h.ops.size(); ++id) {
      if (h.ops[id].kind != Kind::kDelete) continue;
      for (const auto e : h.changed(h.ops[id])) removes_[e].push_back(id);
    }
  }

  // Its replica did not show the character.
  [[nodiscard]] bool is_new(OpId mark, std::uint32_t e) const {
    if (inserts_[e] == kNone || !visibility_.sees(mark, inserts_[e])) return true;
    return std::any_of(removes_[e].begin(), removes_[e].end(),
                       [&](OpId d) { return visibility_.sees(mark, d); });
  }

 private:
  const Visibility& visibility_;
  const std::vector<OpId> inserts_;
  std::vector<std::vector<OpId>> removes_;  // by element
};

// What a mark is to the characters of a read, by their places: `named(place)` says whether the mark
// names the character, `covers(place, surely)` gets the new ones that it covers or may cover. The
// mark names something that is shown, between the places first and last.
template <typename Named, typename IsNew, typename Covers>
void for_new_characters(std::size_t count, std::size_t first, std::size_t last, Named named,
                        IsNew is_new, Covers covers) {
  for (auto at = first; at > 0 && !named(at - 1) && is_new(at - 1); --at)
    covers(at - 1, /*surely=*/false);
  for (auto at = last + 1; at < count && is_new(at); ++at) covers(at, /*surely=*/false);
  bool left_is_named = true;
  for (auto at = first + 1; at < last;) {
    if (named(at) || !is_new(at)) {
      left_is_named = named(at);
      ++at;
      continue;
    }
    const auto begin = at;
    while (!named(at) && is_new(at)) ++at;  // ends at `last`
    const bool right_is_named = named(at);
    for (auto place = begin; place < at && (left_is_named || right_is_named); ++place)
      covers(place, left_is_named && right_is_named);
  }
}

// Those that none of the others had seen.
void add_maximal(const Visibility& visibility, std::vector<OpId>& maximal, OpId update) {
  if (std::any_of(maximal.begin(), maximal.end(),
                  [&](OpId other) { return other == update || visibility.sees(other, update); }))
    return;
  std::erase_if(maximal, [&](OpId other) { return visibility.sees(update, other); });
  maximal.push_back(update);
}

class MarkedText {
 public:
  explicit MarkedText(const KnownContext& context)
      : context_(context),
        h_(context.history),
        marks_(h_),
        newness_(h_, context.visibility),
        elements_(h_),
        marks_of_(h_.keys.size()),
        naming_(h_.elements.size()),
        place_(h_.elements.size(), kNone),
        named_(h_.elements.size()),
        shown_(h_.elements.size(), false),
        removed_(h_.elements.size(), false),
        shown_of_(h_.ops.size(), 0),
        has_come_(h_.ops.size(), false) {
    for (OpId id = 0; id < h_.ops.size(); ++id) {
      if (h_.ops[id].kind != Kind::kMark) continue;
      marks_of_[h_.ops[id].key].push_back(id);
      for (const auto e : h_.changed(h_.ops[id])) naming_[e].push_back(id);
    }
  }

  ContextDecision decide() {
    const KeyEvents events(h_, context_.visibility);
    events.replay_all([&](std::uint32_t key, std::uint32_t) { begin(key); },
                      [&](OpId update) { arrive(update); },
                      [&](OpId id) { return h_.ops[id].kind != Kind::kList || is_right(id); });
    if (context_.budget.limit() != base::Limit::kNone) return {};
    if (wrong_.is_there()) return wrong_.decision();
    claims_.sort(h_);
    auto decision = order_of_last_updates(context_, events, claims_,
                                          [&](OpId u) { return marks_.of(u).value; });
    if (!decision.wrong) return decision;
    if (auto both = contradiction()) decision.wrong = WrongRead{.cycle = std::move(*both)};
    decision.wrong->object = 0;  // of the marks, not of the text
    return decision;
  }

 private:
  struct Named {
    std::uint32_t name;
    std::vector<OpId> maximal;
  };

  void begin(std::uint32_t key) {
    for (const auto e : elements_.of(key)) {
      named_[e].clear();
      shown_[e] = removed_[e] = false;
    }
    for (const OpId mark : marks_of_[key]) {
      shown_of_[mark] = 0;
      has_come_[mark] = false;
    }
    live_.clear();
    unseen_.clear();
  }

  void arrive(OpId update) {
    const Operation& op = h_.ops[update];
    if (op.kind != Kind::kMark) {
      for (const auto e : h_.changed(op)) change(e, op.kind == Kind::kInsert);
      return;
    }
    has_come_[update] = true;
    for (const auto e : h_.changed(op)) {
      if (shown_[e]) ++shown_of_[update];
      auto& all = named_[e];
      const auto name = marks_.of(update).name;
      auto same =
          std::find_if(all.begin(), all.end(), [&](const Named& one) { return one.name == name; });
      if (same == all.end()) same = all.insert(all.end(), {name, {}});
      add_maximal(context_.visibility, same->maximal, update);
    }
    (shown_of_[update] > 0 ? live_ : unseen_).push_back(update);
  }

  void change(std::uint32_t e, bool inserts) {
    if (inserts ? shown_[e] || removed_[e] : removed_[e]) return;
    const bool before = shown_[e];
    shown_[e] = inserts;
    if (!inserts) removed_[e] = true;
    if (before == inserts) return;
    for (const OpId mark : naming_[e]) {
      if (!has_come_[mark]) continue;
      shown_of_[mark] += inserts ? 1U : -1U;
      if (inserts && shown_of_[mark] == 1) {
        std::erase(unseen_, mark);
        std::erase(live_, mark);
        live_.push_back(mark);
      }
    }
  }

  // Two marks and two reads, each of which wants another one last: often smaller than a deadlock.
  [[nodiscard]] std::optional<std::vector<Step>> contradiction() const {
    base::HashMap<std::pair<OpId, OpId>, OpId> wanted;  // by two marks in their order: the read
    for (const LastUpdateClaim& claim : claims_.claims()) {
      const auto all = claims_.updates(claim);
      const auto fits = [&](OpId mark) { return marks_.of(mark).value == claim.value; };
      const auto last = std::find_if(all.begin(), all.end(), fits);
      if (std::any_of(last + 1, all.end(), fits)) continue;
      for (const OpId other : all) {
        if (other == *last) continue;
        wanted.try_emplace({other, *last}, claim.read);
        const auto opposite = wanted.find({*last, other});
        if (opposite == wanted.end()) continue;
        return std::vector<Step>{{other, *last, Why::kArbitrated, claim.read},
                                 {*last, other, Why::kArbitrated, opposite->second}};
      }
    }
    return std::nullopt;
  }

  struct Cover {
    OpId mark;
    bool surely;
  };

  bool is_right(OpId read) {
    if (context_.budget.exceeded()) return false;
    const Operation& op = h_.ops[read];
    const auto list = h_.list(op);
    for (std::uint32_t i = 0; i < list.size(); ++i) place_[list[i]] = i;
    find_covers(op);
    auto shown = marks_.shown(op);
    bool right = true;
    for (std::uint32_t i = 0; i < list.size() && right; ++i) {
      const auto [from, to] =
          std::equal_range(shown.begin(), shown.end(), MarkIndex::Shown{list[i], {}},
                           [](const auto& a, const auto& b) { return a.character < b.character; });
      right = is_right_character(read, list[i], covers_[i], {from, to});
      if (!right) wrong_.add(read, list[i]);
    }
    for (const auto e : list) place_[e] = kNone;
    return right;
  }

  void find_covers(const Operation& op) {
    const auto list = h_.list(op);
    for (auto& covers : covers_) covers.clear();
    if (covers_.size() < list.size()) covers_.resize(list.size());
    std::erase_if(live_, [&](OpId mark) {
      if (shown_of_[mark] > 0) return false;
      unseen_.push_back(mark);
      return true;
    });
    std::vector<OpId> named_by(list.size(), kNone);
    for (const OpId mark : live_) {
      std::size_t first = list.size(), last = 0;
      for (const auto e : h_.changed(h_.ops[mark])) {
        if (place_[e] == kNone) continue;
        first = std::min<std::size_t>(first, place_[e]);
        last = std::max<std::size_t>(last, place_[e]);
        named_by[place_[e]] = mark;
      }
      for_new_characters(
          list.size(), first, last, [&](std::size_t at) { return named_by[at] == mark; },
          [&](std::size_t at) { return newness_.is_new(mark, list[at]); },
          [&](std::size_t at, bool surely) {
            covers_[at].push_back({mark, surely});
          });
    }
  }

  bool is_right_character(OpId read, std::uint32_t e, const std::vector<Cover>& covers,
                          std::span<const MarkIndex::Shown> shown) {
    std::vector<std::uint32_t> names;
    for (const Named& one : named_[e]) names.push_back(one.name);
    for (const Cover& cover : covers) names.push_back(marks_.of(cover.mark).name);
    for (const auto& one : shown) names.push_back(one.mark.name);
    std::sort(names.begin(), names.end());
    names.erase(std::unique(names.begin(), names.end()), names.end());
    return std::all_of(names.begin(), names.end(), [&](std::uint32_t name) {
      Mark said{name, kNone};
      for (const auto& one : shown) {
        if (one.mark.name == name) said = one.mark;
      }
      return is_right_mark(read, e, covers, said);
    });
  }

  bool is_right_mark(OpId read, std::uint32_t e, const std::vector<Cover>& covers, Mark said) {
    std::vector<OpId> all;  // maximal
    for (const Named& one : named_[e]) {
      if (one.name == said.name) all = one.maximal;
    }
    for (const Cover& cover : covers) {
      if (cover.surely && marks_.of(cover.mark).name == said.name)
        add_maximal(context_.visibility, all, cover.mark);
    }
    const auto fits = [&](OpId mark) { return marks_.of(mark) == said; };
    if (all.empty() && said.value == kNone) return true;
    if (!all.empty() && std::all_of(all.begin(), all.end(), fits)) return true;
    for (const Cover& cover : covers) {
      if (!cover.surely && fits(cover.mark)) add_maximal(context_.visibility, all, cover.mark);
    }
    for (const OpId mark : unseen_) {
      if (fits(mark) && newness_.is_new(mark, e)) add_maximal(context_.visibility, all, mark);
    }
    const auto fitting = std::count_if(all.begin(), all.end(), fits);
    if (fitting == 0) return false;
    if (static_cast<std::size_t>(fitting) == all.size()) return true;
    std::sort(all.begin(), all.end());
    // Neighbours mostly say the same.
    if (last_claim_ == std::pair(said, all)) return true;
    claims_.add(read, said.value, all);
    last_claim_ = {said, std::move(all)};
    return true;
  }

  const KnownContext& context_;
  const History& h_;
  MarkIndex marks_;
  const Newness newness_;
  const ElementsOfKeys elements_;
  std::vector<std::vector<OpId>> marks_of_;  // by key
  std::vector<std::vector<OpId>> naming_;    // by element: the marks that name it
  std::vector<std::uint32_t> place_;         // by element: in the read
  std::vector<std::vector<Cover>> covers_;   // by place in the read: of new characters
  // Of the key and at the replica that are replayed.
  std::vector<std::vector<Named>> named_;  // by element: the marks that name it, by name
  std::vector<bool> shown_, removed_;      // by element
  std::vector<std::uint32_t> shown_of_;    // by mark: how many of its characters are shown
  std::vector<bool> has_come_;             // by mark
  // Marks of which something is shown, perhaps; of which nothing is.
  std::vector<OpId> live_, unseen_;
  std::pair<Mark, std::vector<OpId>> last_claim_;
  LastUpdateClaims claims_;
  FirstWrong wrong_;
};

}  // namespace

ContextDecision decide_known_marked_text(const KnownContext& context) {
  ContextDecision text, decision;
  if (base::thread_count(context.threads) == 1) {
    text = decide_known_list(context);
    if (text.verdict == Verdict::kSatisfied) decision = MarkedText(context).decide();
  } else {
    base::for_each_index(2, context.threads, [&](std::size_t marks) {
      if (marks == 0)
        text = decide_known_list(context);
      else
        decision = MarkedText(context).decide();
    });
  }
  if (text.verdict != Verdict::kSatisfied) return text;
  if (decision.verdict == Verdict::kSatisfied) decision.characters = std::move(text.characters);
  return decision;
}

MarksOfCharacter marks_of_character(const History& h, const Visibility& visibility,
                                    const MarkIndex& marks, const MarkIndex::Shown& shown,
                                    OpId read) {
  const auto& [character, shown_mark] = shown;
  const Newness newness(h, visibility);
  const auto list = h.list(h.ops[read]);
  const auto here =
      static_cast<std::size_t>(std::find(list.begin(), list.end(), character) - list.begin());
  MarksOfCharacter found;
  for (OpId mark = 0; mark < h.ops.size(); ++mark) {
    if (h.ops[mark].kind != Kind::kMark || h.ops[mark].key != h.ops[read].key ||
        marks.of(mark).name != shown_mark.name || !visibility.sees(read, mark))
      continue;
    const auto range = h.changed(h.ops[mark]);
    const std::set<std::uint32_t> named(range.begin(), range.end());
    std::size_t first = list.size(), last = 0;
    for (std::size_t at = 0; at < list.size(); ++at) {
      if (!named.contains(list[at])) continue;
      first = std::min(first, at);
      last = at;
    }
    if (named.contains(character)) {
      found.covering.push_back(mark);
    } else if (first == list.size()) {
      if (newness.is_new(mark, character)) found.perhaps.push_back(mark);
    } else {
      for_new_characters(
          list.size(), first, last, [&](std::size_t at) { return named.contains(list[at]); },
          [&](std::size_t at) { return newness.is_new(mark, list[at]); },
          [&](std::size_t at, bool surely) {
            if (at == here) (surely ? found.covering : found.perhaps).push_back(mark);
          });
    }
  }
  return found;
}

std::optional<WrongMark> wrong_mark(const History& h, const Visibility& visibility,
                                    MarkIndex& marks, OpId read, std::uint32_t character) {
  std::map<std::uint32_t, std::uint32_t> names;  // with the value that is shown
  for (const auto& one : marks.shown(h.ops[read])) {
    if (one.character == character) names[one.mark.name] = one.mark.value;
  }
  for (OpId id = 0; id < h.ops.size(); ++id) {
    if (h.ops[id].kind == Kind::kMark) names.try_emplace(marks.of(id).name, kNone);
  }
  for (const auto& [name, value] : names) {
    const Mark shown{name, value};
    auto found = marks_of_character(h, visibility, marks, {character, shown}, read);
    std::vector<OpId> all;
    for (const OpId mark : found.covering) add_maximal(visibility, all, mark);
    if (all.empty() && value == kNone) continue;
    for (const OpId mark : found.perhaps) {
      if (marks.of(mark) == shown) add_maximal(visibility, all, mark);
    }
    if (std::none_of(all.begin(), all.end(), [&](OpId mark) { return marks.of(mark) == shown; }))
      return WrongMark{shown, std::move(found)};
  }
  return std::nullopt;
}

}  // namespace cupel::crdt
