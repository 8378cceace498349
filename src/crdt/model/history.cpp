// History: interning and the text of an operation.
#include "crdt/model/history.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "base/text/json.hpp"
#include "crdt/model/document.hpp"
#include "crdt/model/replicated_type.hpp"

namespace cupel::crdt {

std::string_view name(UnknownOutcome outcome) {
  switch (outcome) {
    case UnknownOutcome::kAbsent:
      return "absent";
    case UnknownOutcome::kAbsentUnread:
      return "absent and unread";
    case UnknownOutcome::kOpen:
      break;
  }
  return "";
}

std::set<std::uint32_t> History::keys_of_absent() const {
  std::set<std::uint32_t> of;
  for (const Absent& one : absent) of.insert(one.key);
  return of;
}

namespace {

// As in `counter "c1"`: the number of its kind from 1 on; 0: as no container.
std::uint64_t begins_as_container(std::string_view text) {
  if (text.empty() || text[0] < 'c' || text[0] > 't') return 0;
  for (std::size_t i = 0; i < kContainers.size(); ++i) {
    const auto name = kContainers[i].name;
    if (text.size() > name.size() && text[name.size()] == ' ' && text.starts_with(name))
      return i + 1;
  }
  return 0;
}

}  // namespace

std::uint32_t History::replica(const std::string& name) {
  const auto [it, fresh] = replica_ids_.try_emplace(name, replicas.size());
  if (fresh) {
    replicas.push_back(name);
    by_replica.emplace_back();
  }
  return it->second;
}

std::uint32_t History::key(const std::string& name) {
  const auto [it, fresh] = key_ids_.try_emplace(name, keys.size());
  if (fresh) keys.push_back(name);
  return it->second;
}

// Lists are read again and again in nearly the same order, so what followed the key's element
// before is tried first: with a million operations on texts, looking up was half of the time. Short
// texts are compared as numbers, which are in one place: as strings they took a quarter. A text
// that is right needs one place of the memory, that of its element.
std::uint32_t History::element(std::uint32_t of, std::string_view text) {
  if (last_element_.size() <= of) last_element_.resize(of + 1, kNone);
  std::uint32_t& last = last_element_[of];
  const auto number = short_text(of, text);
  if (last != kNone) {
    const auto next = known_[last].next;
    if (next != kNone && known_[next].text == number &&
        (number != kLong || (elements[next].text == text && elements[next].key == of)))
      return last = next;
  }
  const auto [id, fresh] = number == kLong ? long_element(of, text) : short_element(number);
  if (fresh) {
    elements.push_back({of, std::string(text)});
    known_.push_back({number});
  }
  if (last != kNone) known_[last].next = id;
  return last = id;
}

std::uint32_t History::member(std::uint32_t of, std::uint32_t container, std::string_view local) {
  auto number = short_text(container, local);
  const bool is_short = number != kLong;
  number.first |= is_short ? kOfContainer : 0;
  const auto last = of < last_element_.size() ? last_element_[of] : kNone;
  if (is_short && last != kNone) {
    const auto next = known_[last].next;
    if (next != kNone && known_[next].text == number) return last_element_[of] = next;
  }
  const auto found = is_short ? short_ids_.find(number) : short_ids_.end();
  if (found == short_ids_.end()) {
    const auto id = element(of, member_text(elements[container].text, local));
    if (is_short) {
      known_[id].text = number;
      short_ids_.try_emplace(number, id);
    }
    return id;
  }
  if (last != kNone) known_[last].next = found->second;
  return last_element_[of] = found->second;
}

std::pair<std::uint32_t, bool> History::short_element(const ShortText& number) {
  const auto [it, fresh] = short_ids_.try_emplace(number, elements.size());
  return {it->second, fresh};
}

std::pair<std::uint32_t, bool> History::long_element(std::uint32_t of, std::string_view text) {
  const auto known = element_ids_.find(std::pair(of, text));
  if (known != element_ids_.end()) return {known->second, false};
  const auto [it, fresh] = element_ids_.try_emplace({of, std::string(text)}, elements.size());
  return {it->second, fresh};
}

// Four bytes of the key, the kind of container and the length, and up to eleven of the text, which
// is the rest of a container's.
History::ShortText History::short_text(std::uint32_t of, std::string_view text) {
  constexpr std::size_t kMost = 11;
  const auto kind = begins_as_container(text);
  if (kind > 0) text.remove_prefix(kContainers[kind - 1].name.size() + 1);
  if (text.size() > kMost) return kLong;
  ShortText number{of, 0};
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto byte = static_cast<std::uint64_t>(static_cast<unsigned char>(text[i]));
    if (i < 8)
      number.second |= byte << (8 * i);
    else
      number.first |= byte << (8 * (i - 4));
  }
  number.first |= (static_cast<std::uint64_t>(text.size()) | kind << 4U) << 56U;
  return number;
}

std::uint32_t History::known_element(std::uint32_t of, const std::string& text) const {
  const auto number = short_text(of, text);
  if (number != kLong) {
    const auto it = short_ids_.find(number);
    return it == short_ids_.end() ? kNone : it->second;
  }
  const auto it = element_ids_.find(std::pair(of, std::string_view(text)));
  return it == element_ids_.end() ? kNone : it->second;
}

void History::note_put(std::uint32_t place, std::uint32_t container) {
  place_of[container] = place;
  const auto [it, fresh] = container_at.try_emplace(place, container);
  if (!fresh && it->second != container) it->second = kNone;
}

OpId History::add(Operation op) {
  const auto id = static_cast<OpId>(ops.size());
  op.seq = static_cast<std::uint32_t>(by_replica[op.replica].size());
  by_replica[op.replica].push_back(id);
  ops.push_back(op);
  return id;
}

History::Shown::Shown(History& history, std::uint32_t key) : h_(history), key_(key) {
  if (key >= h_.last_list_.size()) return;
  at_ = h_.last_list_[key].begin;
  end_ = h_.last_list_[key].end;
}

std::uint32_t History::Shown::element(std::string_view text) {
  const auto number = short_text(key_, text);
  if (number != kLong) {
    constexpr std::uint32_t kRemoved = 2;  // that may have been shown in between
    const auto until = std::min(end_, at_ + kRemoved + 1);
    for (auto at = at_; at < until; ++at) {
      const auto id = h_.lists[at];
      if (h_.known_[id].text != number) continue;
      at_ = at + 1;
      return id;
    }
  }
  return h_.element(key_, text);
}

OpId History::add(Operation op, std::span<const std::uint32_t> list) {
  op.list_begin = static_cast<std::uint32_t>(lists.size());
  lists.insert(lists.end(), list.begin(), list.end());
  op.list_end = static_cast<std::uint32_t>(lists.size());
  if (op.kind == Kind::kList && !list.empty()) {
    if (last_list_.size() <= op.key) last_list_.resize(op.key + 1);
    last_list_[op.key] = {op.list_begin, op.list_end};
  }
  return add(op);
}

std::string_view History::method(const Operation& op) const {
  return replicated_type(type).method(op);
}

std::string History::key_json(std::uint32_t key) const {
  const std::string& name = keys[key];
  const bool whole =
      !name.empty() &&
      name.find_first_not_of("0123456789", name.starts_with('-') ? 1 : 0) == std::string::npos;
  if (whole || name.starts_with('"')) return name;
  return text::quoted(name);
}

std::string History::element_text(std::uint32_t element) const {
  return element == kNone ? std::string("the beginning") : elements[element].text;
}

std::string History::text(OpId id) const {
  const Operation& op = ops[id];
  const ReplicatedType& of = replicated_type(type);
  auto [arguments, result] = of.text(*this, op);
  if (of.traits().text_has_key || keys.size() > 1)
    arguments.insert(arguments.begin(), keys[op.key]);
  return fmt::format("{}({}){}", of.method(op), fmt::join(arguments, ", "),
                     result.empty() ? "" : " = " + result);
}

std::string History::listed(const Operation& op) const {
  constexpr std::size_t kShown = 12;
  const auto all = list(op);
  std::string text;
  for (std::size_t i = 0; i < all.size() && i < kShown; ++i)
    text += (i == 0 ? "" : ", ") + elements[all[i]].text;
  if (all.size() > kShown) text += fmt::format(", … {} more", all.size() - kShown);
  return text;
}

}  // namespace cupel::crdt
