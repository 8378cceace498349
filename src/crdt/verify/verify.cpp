// Verify: see the header. Clocks are read from the certificate and checked; what is left
// of a history is put together here, and tried in exhaustive_search.cpp.
#include "crdt/verify/verify.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>

#include "crdt/io/json.hpp"
#include "crdt/verify/exhaustive_search.hpp"
#include "crdt/verify/semantics.hpp"

namespace cupel::crdt {

namespace {

using Json = nlohmann::json;

constexpr std::uint64_t kPrime = 0x100000001b3ULL;

Verified not_valid(std::string verdict, std::string reason) {
  return {Outcome::kNotValid, std::move(verdict), std::move(reason)};
}

Verified check_witness(const History& h, const Json& certificate, bool letter) {
  const char* const kSatisfied = "satisfied";
  const auto clocks = certificate.find("clocks"), order = certificate.find("order");
  if (clocks == certificate.end() || !clocks->is_array() || clocks->size() != h.ops.size() ||
      order == certificate.end() || !order->is_array() || order->size() != h.ops.size()) {
    return {Outcome::kBadInput, kSatisfied,
            "found no `clocks` and `order` with an entry for each operation"};
  }
  const std::size_t width = h.replicas.size();
  std::vector<std::uint32_t> at(h.ops.size() * width), rank(h.ops.size(), kNone);
  for (std::size_t o = 0; o < h.ops.size(); ++o) {
    const Json& row = (*clocks)[o];
    if (!row.is_array() || row.size() != width)
      return {Outcome::kBadInput, kSatisfied,
              fmt::format("found a clock of operation {} that has not one number a replica", o)};
    for (std::size_t j = 0; j < width; ++j) {
      if (!row[j].is_number_unsigned() || row[j].get<std::uint64_t>() > h.by_replica[j].size())
        return {Outcome::kBadInput, kSatisfied,
                fmt::format("found a clock of operation {} that counts what is not there", o)};
      at[o * width + j] = row[j].get<std::uint32_t>();
    }
    const Json& place = (*order)[o];
    if (!place.is_number_unsigned() || place.get<std::uint64_t>() >= h.ops.size())
      return {Outcome::kBadInput, kSatisfied, "found an order that names what is not there"};
    auto& r = rank[place.get<std::size_t>()];
    if (r != kNone) return not_valid(kSatisfied, "the order has an operation twice");
    r = static_cast<std::uint32_t>(o);
  }
  // A happens-before: contains the replica order, is transitive, and is within the order.
  for (OpId o = 0; o < h.ops.size(); ++o) {
    const auto& op = h.ops[o];
    if (at[o * width + op.replica] != op.seq)
      return not_valid(
          kSatisfied,
          fmt::format("operation {} does not see exactly those before it on its replica", o));
    const auto within = [&](OpId p) {
      if (rank[p] >= rank[o]) return false;
      for (std::size_t i = 0; i < width; ++i) {
        if (at[p * width + i] > at[o * width + i]) return false;
      }
      return true;
    };
    for (std::size_t j = 0; j < width; ++j) {
      const auto count = at[o * width + j];
      if (count > 0 && !within(h.by_replica[j][count - 1]))
        return not_valid(
            kSatisfied,
            fmt::format("what operation {} sees is not closed, or not before it in the order", o));
    }
  }
  const Meaning meaning(h, letter);
  const auto below = [&](OpId a, OpId b) {
    return at[b * width + h.ops[a].replica] > h.ops[a].seq;
  };
  for (OpId o = 0; o < h.ops.size(); ++o) {
    if (auto reason = meaning.wrong(o, below)) return not_valid(kSatisfied, *reason);
    if (h.type != Type::kLastWriterWinsRegister || h.ops[o].kind != Kind::kValues) continue;
    OpId last = kNone;
    for (const OpId w : meaning.writes_seen(o, below)) {
      if (last == kNone || rank[last] < rank[w]) last = w;
    }
    const auto list = h.list(h.ops[o]);
    if (list.empty() ? last != kNone : last == kNone || h.ops[last].element != list[0])
      return not_valid(kSatisfied,
                       fmt::format("{} is not the last write that it has seen", h.text(o)));
  }
  if (h.type == Type::kGrowableArray) {
    const auto asked = meaning.asked_order();
    if (!asked)
      return not_valid(kSatisfied, "a list shows a character before one that it stands behind");
    for (const auto& [first, second] : *asked) {
      if (rank[first] >= rank[second])
        return not_valid(kSatisfied,
                         fmt::format("a list has {} linearized before {}, and the order has not",
                                     h.text(first), h.text(second)));
    }
  }
  return {Outcome::kValid, kSatisfied, {}};
}

Verified check_core(const History& h, const Json& certificate, bool letter) {
  const char* const kViolated = "violated";
  std::set<OpId> ops;
  std::set<std::uint32_t> elements;
  for (const auto& [field, most] :
       {std::pair{"operations", h.ops.size()}, std::pair{"elements", h.elements.size()}}) {
    const auto list = certificate.find(field);
    if (list == certificate.end() || !list->is_array())
      return {Outcome::kBadInput, kViolated, fmt::format("found no array `{}`", field)};
    for (const Json& number : *list) {
      if (!number.is_number_unsigned() || number.get<std::uint64_t>() >= most)
        return {Outcome::kBadInput, kViolated,
                fmt::format("found {} in `{}`, which is not there", number.dump(), field)};
      (most == h.ops.size() && std::string_view(field) == "operations" ? ops : elements)
          .insert(number.get<std::uint32_t>());
    }
  }
  const bool set = is_set(h.type), array = h.type == Type::kGrowableArray;

  // What is left of the history.
  History small;
  small.type = h.type;
  std::map<std::uint32_t, std::pair<bool, bool>> says;  // of an object: false, true
  std::set<std::uint32_t> asked_keys;
  std::set<std::pair<std::uint32_t, std::uint32_t>> returned;  // of a key: values
  for (const OpId id : ops) {
    Operation op = h.ops[id];
    const auto whole = h.list(h.ops[id]);
    std::vector<std::uint32_t> list;
    const std::set<std::uint32_t> shown(whole.begin(), whole.end());
    if (is_read(op.kind)) asked_keys.insert(op.key);
    if (op.kind == Kind::kTest) {
      auto& [no, yes] = says[set ? op.element : op.key];
      (op.returned ? yes : no) = true;
    }
    if (op.kind == Kind::kState || op.kind == Kind::kList) {
      for (const auto e : elements) {
        if (h.elements[e].key != op.key) continue;
        auto& [no, yes] = says[e];
        (shown.contains(e) ? yes : no) = true;
      }
    }
    op.replica = small.replica(h.replicas[op.replica]);
    op.key = small.key(h.keys[op.key]);
    const auto element = [&](std::uint32_t e) {
      return e == kNone ? kNone
                        : small.element(small.key(h.keys[h.elements[e].key]), h.elements[e].text);
    };
    for (const auto e : whole) {
      if (is_register(h.type)) returned.insert({h.ops[id].key, e});
      if (is_register(h.type) || elements.contains(e)) list.push_back(element(e));
    }
    op.element = element(op.element);
    op.parent = element(op.parent);
    small.add(op, list);
  }
  // Which updates a history may lose.
  for (OpId id = 0; id < h.ops.size(); ++id) {
    const auto& op = h.ops[id];
    if (is_read(op.kind) || ops.contains(id)) {
      // Whole reads keep `elements` alone, so that another's update would have no effect on them.
      if (ops.contains(id) && (set || array) && !is_read(op.kind) &&
          !elements.contains(op.element)) {
        return not_valid(kViolated, fmt::format("operation {} is there without its element", id));
      }
      continue;
    }
    bool may_go = false;
    if (set || is_flag(h.type)) {
      const auto it = says.find(set ? op.element : op.key);
      may_go = it == says.end() || !(op.kind == Kind::kUp ? it->second.second : it->second.first);
    } else if (h.type == Type::kCounter) {
      may_go = !asked_keys.contains(op.key);
    } else if (is_register(h.type)) {
      may_go = !returned.contains({op.key, op.element});
    } else if (op.kind == Kind::kInsert) {
      may_go = !elements.contains(op.element);
    } else {
      const auto it = says.find(op.element);
      may_go = !elements.contains(op.element) || it == says.end() || !it->second.first;
    }
    if (!may_go)
      return not_valid(
          kViolated, fmt::format("operation {}, {}, was left out, and might explain what is there",
                                 id, h.text(id)));
  }
  // A character that stays needs all those it stands behind.
  for (OpId id = 0; array && id < h.ops.size(); ++id) {
    const auto& op = h.ops[id];
    if (op.kind == Kind::kInsert && ops.contains(id) && op.parent != kNone &&
        !elements.contains(op.parent))
      return not_valid(kViolated, "a character is there without the one it was added after");
  }
  if (small.ops.size() > kMostOperations) {
    return {Outcome::kUnknown, kViolated,
            fmt::format("it rests on {} operations, more than the {} whose executions are tried",
                        small.ops.size(), kMostOperations)};
  }
  const auto admitted = has_execution(small, letter);
  if (!admitted)
    return {Outcome::kUnknown, kViolated,
            fmt::format("its {} operations have too many executions to try them all",
                        small.ops.size())};
  if (*admitted) return not_valid(kViolated, "the operations it names have an execution");
  return {Outcome::kValid, kViolated, {}};
}

}  // namespace

std::uint64_t digest(const History& history) {
  std::uint64_t hash = 0xcbf29ce484222325ULL;
  const auto mix = [&](std::string_view text) {
    for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * kPrime;
    hash = (hash ^ 0x1f) * kPrime;
  };
  mix(name(history.type));
  for (OpId id = 0; id < history.ops.size(); ++id) {
    const auto& op = history.ops[id];
    mix(history.replicas[op.replica]);
    mix(history.keys[op.key]);
    mix(history.method(op));
    mix(op.element == kNone ? "" : history.elements[op.element].text);
    mix(op.parent == kNone ? "" : history.elements[op.parent].text);
    mix(std::to_string(op.amount));
    mix(op.returned ? "t" : "f");
    for (const auto e : history.list(op)) mix(history.elements[e].text);
  }
  return hash;
}

Verified verify(const History& history, std::string_view certificate) {
  if (auto reason = beyond_bounds(certificate)) return {Outcome::kBadInput, {}, std::move(*reason)};
  const Json json = Json::parse(certificate, nullptr, false);
  if (!json.is_object() || !json.contains("cupel_crdt_certificate"))
    return {Outcome::kBadInput,
            {},
            "found no certificate, expected what `cupel crdt check --certificate` writes"};
  if (json["cupel_crdt_certificate"] != 1)
    return {Outcome::kBadInput, {}, "found a certificate of another version, expected 1"};
  const auto verdict = json.find("verdict");
  if (verdict == json.end() || (*verdict != "satisfied" && *verdict != "violated"))
    return {Outcome::kBadInput, {}, "found no `verdict`, expected satisfied or violated"};
  const std::string word = *verdict;
  if (const auto letter = json.find("letter"); letter != json.end() && !letter->is_boolean())
    return {Outcome::kBadInput, word, "found a `letter` that is neither true nor false"};
  if (!json.contains("type") || json["type"] != name(history.type))
    return not_valid(word, "it is for another type");
  if (!json.contains("history") || json["history"] != fmt::format("{:016x}", digest(history)))
    return not_valid(word, "it is for another history");
  const bool letter = json.value("letter", false);
  auto verified = word == "satisfied" ? check_witness(history, json, letter)
                                      : check_core(history, json, letter);
  verified.letter = letter;
  return verified;
}

}  // namespace cupel::crdt
