// Mark check: see the header.
#include "crdt/verify/mark_check.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace cupel::crdt {

MarkCheck::MarkCheck(const History& history, const SeenUpdates& seen)
    : h_(history),
      seen_(seen),
      index_(history),
      marks_(history.keys.size()),
      insert_(history.elements.size(), kNone),
      removes_(history.elements.size()),
      at_(history.elements.size(), 0) {
  for (OpId id = 0; id < h_.ops.size(); ++id) {
    const Operation& op = h_.ops[id];
    if (op.kind == Kind::kMark) marks_[op.key].push_back(id);
    if (op.kind != Kind::kInsert && op.kind != Kind::kDelete) continue;
    for (const auto e : h_.changed(op)) {
      if (op.kind == Kind::kInsert)
        insert_[e] = id;
      else
        removes_[e].push_back(id);
    }
  }
}

// Had the replica of the mark not the character, or not any more?
bool MarkCheck::is_new(OpId mark, std::uint32_t character) {
  if (insert_[character] == kNone || !saw(mark, insert_[character])) return true;
  for (const OpId d : removes_[character]) {
    if (saw(mark, d)) return true;
  }
  return false;
}

void MarkCheck::may_cover_from(OpId mark, std::span<const std::uint32_t> list, std::size_t at,
                               int step) {
  for (auto i = static_cast<std::ptrdiff_t>(at) + step;
       i >= 0 && i < static_cast<std::ptrdiff_t>(list.size()); i += step) {
    const auto place = static_cast<std::size_t>(i);
    if (!is_new(mark, list[place])) return;
    maybe_[place].push_back(mark);
  }
}

void MarkCheck::place_marks(OpId read) {
  const Operation& op = h_.ops[read];
  const auto list = h_.list(op);
  covering_.assign(list.size(), {});
  maybe_.assign(list.size(), {});
  hidden_.clear();
  for (std::size_t i = 0; i < list.size(); ++i) at_[list[i]] = i + 1;
  for (const OpId mark : marks_[op.key]) {
    if (!saw(read, mark)) continue;
    std::vector<std::size_t> named;
    for (const auto e : h_.changed(h_.ops[mark])) {
      if (at_[e] != 0) named.push_back(at_[e] - 1);
    }
    work_ += named.size();
    if (named.empty()) {
      hidden_.push_back(mark);
      continue;
    }
    std::sort(named.begin(), named.end());
    named.erase(std::unique(named.begin(), named.end()), named.end());
    for (const auto place : named) covering_[place].push_back(mark);
    may_cover_from(mark, list, named.front(), -1);
    may_cover_from(mark, list, named.back(), 1);
    for (std::size_t n = 1; n < named.size(); ++n) {
      const auto from = named[n - 1], to = named[n];
      auto at = from + 1;
      while (at < to && is_new(mark, list[at])) ++at;
      if (at == to) {
        for (auto place = from + 1; place < to; ++place) covering_[place].push_back(mark);
      } else {
        may_cover_from(mark, list, from, 1);
        may_cover_from(mark, list, to, -1);
      }
    }
  }
  for (const auto e : list) at_[e] = 0;
}

template <typename Visit>
void MarkCheck::for_asked(OpId read, Visit visit) {
  place_marks(read);
  std::map<std::uint32_t, std::vector<MarkIndex::Mark>> shown;
  for (const auto& one : index_.shown(h_.ops[read])) shown[one.character].push_back(one.mark);
  const auto list = h_.list(h_.ops[read]);
  for (std::size_t place = 0; place < list.size(); ++place) {
    const auto e = list[place];
    std::map<std::uint32_t, Asked> by_name;
    const auto asked = [&](std::uint32_t name) -> Asked& {
      return by_name.try_emplace(name, Asked{e, {name, kNone}, {}, {}}).first->second;
    };
    if (const auto here = shown.find(e); here != shown.end()) {
      for (const auto& mark : here->second) asked(mark.name).said = mark;
    }
    for (const OpId mark : covering_[place]) asked(index_.of(mark).name).covering.push_back(mark);
    for (const OpId mark : maybe_[place]) {
      Asked& one = asked(index_.of(mark).name);
      if (index_.of(mark) == one.said) one.fitting.push_back(mark);
    }
    for (auto& [name, one] : by_name) {
      const auto fits = [&, &said = one.said](OpId mark) { return index_.of(mark) == said; };
      if (std::all_of(one.covering.begin(), one.covering.end(), fits) &&
          (one.said.value == kNone || !one.covering.empty()))
        continue;
      for (const OpId mark : hidden_) {
        if (fits(mark) && is_new(mark, e)) one.fitting.push_back(mark);
      }
      if (!visit(one)) return;
    }
  }
}

std::optional<std::string> MarkCheck::wrong_in_order(OpId read,
                                                     const std::vector<std::size_t>& place) {
  std::optional<std::string> wrong;
  for_asked(read, [&](const Asked& asked) {
    const auto earlier = [&](OpId a, OpId b) { return place[a] < place[b]; };
    const auto last = std::max_element(asked.covering.begin(), asked.covering.end(), earlier);
    if (last != asked.covering.end() && index_.of(*last) == asked.said) return true;
    const bool fits = std::any_of(asked.fitting.begin(), asked.fitting.end(), [&](OpId mark) {
      return last == asked.covering.end() || earlier(*last, mark);
    });
    if (!fits)
      wrong = fmt::format("{} does not show the last {} at {}", h_.text(read),
                          index_.name(asked.said.name), h_.element_text(asked.character));
    return fits;
  });
  return wrong;
}

bool MarkCheck::add_choices(OpId read, std::vector<LastChoice>& choices) {
  bool right = true;
  for_asked(read, [&](const Asked& asked) {
    LastChoice choice{asked.fitting, {}};
    for (const OpId mark : asked.covering)
      (index_.of(mark) == asked.said ? choice.last : choice.others).push_back(mark);
    // What another one had seen is not the last.
    const auto is_seen_by = [&](OpId mark, const std::vector<OpId>& all) {
      return std::any_of(all.begin(), all.end(),
                         [&](OpId other) { return other != mark && saw(other, mark); });
    };
    std::erase_if(choice.last, [&](OpId mark) { return is_seen_by(mark, choice.others); });
    std::erase_if(choice.others, [&](OpId mark) { return is_seen_by(mark, choice.last); });
    right = !choice.last.empty();
    if (right && !choice.others.empty()) choices.push_back(std::move(choice));
    return right;
  });
  return right;
}

}  // namespace cupel::crdt
