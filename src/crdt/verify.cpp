// Verify: see the header. Clocks are read from the certificate and checked; orders of
// a core are bit sets of predecessors, built pair by pair.
#include "crdt/verify.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>

namespace cupel::crdt {

namespace {

using Json = nlohmann::json;

constexpr std::uint64_t kPrime = 0x100000001b3ULL;

Verified not_valid(std::string verdict, std::string reason) {
  return {Outcome::kNotValid, std::move(verdict), std::move(reason)};
}

// What a read may return, of what it has seen. `seen(o)` and `below(a, b)` - a happens before
// b - are asked of updates; `rank` orders writes and additions, where it is known.
class Meaning {
 public:
  using Below = std::function<bool(OpId, OpId)>;
  Meaning(const History& h, bool letter) : h_(h), letter_(letter) {
    insert_.assign(h.elements.size(), kNone);
    for (OpId id = 0; id < h.ops.size(); ++id) {
      const auto& op = h.ops[id];
      if (is_read(op.kind)) continue;
      if (is_set(h.type) || h.type == Type::kGrowableArray) of_element_[op.element].push_back(id);
      of_key_[op.key].push_back(id);
      if (op.kind == Kind::kInsert) insert_[op.element] = id;
      if (is_set(h.type) || h.type == Type::kGrowableArray)
        elements_of_key_[op.key].insert(op.element);
    }
  }

  // The reason why it is wrong, or nothing.
  [[nodiscard]] std::optional<std::string> wrong(OpId id, const Below& below) const {
    const auto& op = h_.ops[id];
    switch (op.kind) {
      case Kind::kTest:
        return member(is_set(h_.type) ? of(of_element_, op.element) : of(of_key_, op.key),
                      op.returned, id, below);
      case Kind::kState: {
        const auto list = h_.list(op);
        std::set<std::uint32_t> returned(list.begin(), list.end());
        std::set<std::uint32_t> all = returned;
        if (const auto it = elements_of_key_.find(op.key); it != elements_of_key_.end())
          all.insert(it->second.begin(), it->second.end());
        for (const auto e : all) {
          if (auto reason = member(of(of_element_, e), returned.contains(e), id, below))
            return reason;
        }
        return std::nullopt;
      }
      case Kind::kValue: {
        std::int64_t sum = 0;
        for (const OpId u : of(of_key_, op.key)) sum += below(u, id) ? h_.ops[u].amount : 0;
        if (sum != op.amount)
          return fmt::format("{}, but what it has seen adds up to {}", h_.text(id), sum);
        return std::nullopt;
      }
      case Kind::kValues:
        return h_.type == Type::kMultiValueRegister ? siblings(id, below) : std::nullopt;
      case Kind::kInsert:
        return op.parent == kNone ? std::nullopt : names(id, op.parent, below);
      case Kind::kDelete:
        return names(id, op.element, below);
      case Kind::kList:
        return shown(id, below);
      default:
        return std::nullopt;
    }
  }

  // Last writer wins: the writes that a read may have read from.
  [[nodiscard]] std::vector<OpId> sources(OpId id, const Below& below) const {
    std::vector<OpId> found;
    const auto list = h_.list(h_.ops[id]);
    for (const OpId w : of(of_key_, h_.ops[id].key)) {
      if (!list.empty() && h_.ops[w].element == list[0] && below(w, id)) found.push_back(w);
    }
    return found;
  }
  [[nodiscard]] std::vector<OpId> writes_seen(OpId id, const Below& below) const {
    std::vector<OpId> found;
    for (const OpId w : of(of_key_, h_.ops[id].key)) {
      if (below(w, id)) found.push_back(w);
    }
    return found;
  }

  // What the lists of an array ask of the linearization: pairs, earlier first; nothing if
  // a list shows a character before one that it stands behind.
  [[nodiscard]] std::optional<std::vector<std::pair<OpId, OpId>>> asked_order() const {
    std::set<std::pair<OpId, OpId>> pairs;
    for (OpId id = 0; id < h_.ops.size(); ++id) {
      if (h_.ops[id].kind != Kind::kList) continue;
      std::vector<std::vector<OpId>> paths;
      for (const auto e : h_.list(h_.ops[id])) paths.push_back(path(e));
      for (std::size_t a = 0; a < paths.size(); ++a) {
        for (std::size_t b = a + 1; b < paths.size(); ++b) {
          // Down from the beginning, to where they part.
          std::size_t at = 0;
          while (at < paths[a].size() && at < paths[b].size() && paths[a][at] == paths[b][at]) ++at;
          if (at == paths[a].size()) continue;  // the first is above the second
          if (at == paths[b].size()) {
            if (!letter_) return std::nullopt;
            continue;
          }
          pairs.insert({paths[b][at], paths[a][at]});
        }
      }
    }
    return std::vector<std::pair<OpId, OpId>>(pairs.begin(), pairs.end());
  }

 private:
  using Lists = std::map<std::uint32_t, std::vector<OpId>>;
  static const std::vector<OpId>& of(const Lists& lists, std::uint32_t at) {
    static const std::vector<OpId> kNothing;
    const auto it = lists.find(at);
    return it == lists.end() ? kNothing : it->second;
  }

  [[nodiscard]] std::vector<OpId> maximal(const std::vector<OpId>& updates, OpId read,
                                          const Below& below) const {
    // Of a replica only the last one seen can be.
    std::map<std::uint32_t, OpId> last;
    for (const OpId u : updates) {
      if (!below(u, read)) continue;
      const auto [it, fresh] = last.try_emplace(h_.ops[u].replica, u);
      if (!fresh && h_.ops[it->second].seq < h_.ops[u].seq) it->second = u;
    }
    std::vector<OpId> found;
    for (const auto& [replica, u] : last) {
      if (std::none_of(last.begin(), last.end(), [&](const auto& other) {
            return other.second != u && below(u, other.second);
          }))
        found.push_back(u);
    }
    return found;
  }

  [[nodiscard]] std::optional<std::string> member(const std::vector<OpId>& updates, bool returned,
                                                  OpId read, const Below& below) const {
    bool up = false, down = false;
    for (const OpId u : maximal(updates, read, below))
      (h_.ops[u].kind == Kind::kUp ? up : down) = true;
    const bool is = up && (up_wins(h_.type) || !down);
    if (is == returned) return std::nullopt;
    return fmt::format("{}, but what it has seen makes it {}", h_.text(read), is);
  }

  [[nodiscard]] std::optional<std::string> siblings(OpId read, const Below& below) const {
    std::map<std::uint32_t, int> values;
    for (const OpId w : maximal(of(of_key_, h_.ops[read].key), read, below))
      ++values[h_.ops[w].element];
    const auto list = h_.list(h_.ops[read]);
    const std::set<std::uint32_t> returned(list.begin(), list.end());
    bool well = returned.size() == values.size();
    for (const auto& [value, count] : values)
      well = well && returned.contains(value) && (count == 1 || !letter_);
    return well ? std::nullopt
                : std::optional(fmt::format("{} is not what it has seen", h_.text(read)));
  }

  [[nodiscard]] std::optional<std::string> names(OpId id, std::uint32_t e,
                                                 const Below& below) const {
    if (insert_[e] != kNone && below(insert_[e], id)) return std::nullopt;
    return fmt::format("{} has not seen {} added", h_.text(id), h_.element_text(e));
  }

  [[nodiscard]] std::optional<std::string> shown(OpId id, const Below& below) const {
    const auto list = h_.list(h_.ops[id]);
    const std::set<std::uint32_t> here(list.begin(), list.end());
    if (here.size() != list.size()) return fmt::format("{} shows a character twice", h_.text(id));
    for (const auto e : list) {
      if (auto reason = names(id, e, below)) return reason;
    }
    const auto all = elements_of_key_.find(h_.ops[id].key);
    if (all == elements_of_key_.end()) return std::nullopt;
    for (const auto e : all->second) {
      if (insert_[e] == kNone || !below(insert_[e], id)) continue;
      bool removed = false;
      for (const OpId u : of(of_element_, e))
        removed = removed || (h_.ops[u].kind == Kind::kDelete && below(u, id));
      if (here.contains(e) ? removed && !letter_ : !removed)
        return fmt::format("{} and the removes it has seen of {} do not fit", h_.text(id),
                           h_.element_text(e));
    }
    return std::nullopt;
  }

  [[nodiscard]] std::vector<OpId> path(std::uint32_t e) const {
    std::vector<OpId> up;
    for (std::size_t guard = 0; e != kNone && insert_[e] != kNone && guard <= h_.ops.size();
         ++guard) {
      up.push_back(insert_[e]);
      e = h_.ops[insert_[e]].parent;
    }
    std::reverse(up.begin(), up.end());
    return up;
  }

  const History& h_;
  bool letter_;
  Lists of_element_, of_key_;
  std::map<std::uint32_t, std::set<std::uint32_t>> elements_of_key_;
  std::vector<OpId> insert_;
};

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

// Every happens-before of a few operations.
class Exhaustive {
 public:
  Exhaustive(const History& h, bool letter) : h_(h), meaning_(h, letter), n_(h.ops.size()) {
    // Pairs that some read asks about first, read by read: what is wrong shows early.
    std::set<std::pair<OpId, OpId>> said;
    const auto say = [&](OpId a, OpId b) {
      if (a != b && h.ops[a].replica != h.ops[b].replica && !is_read(h.ops[a].kind) &&
          said.insert({a, b}).second)
        pairs_.push_back({a, b, {}});
    };
    for (OpId r = 0; r < n_; ++r) {
      if (!asks(r)) continue;
      const auto related = [&](OpId u) {
        return !is_read(h.ops[u].kind) && h.ops[u].key == h.ops[r].key;
      };
      for (OpId u = 0; u < n_; ++u) {
        if (related(u)) say(u, r);
      }
      if (h.type != Type::kCounter && h.type != Type::kGrowableArray) {
        for (OpId u = 0; u < n_; ++u) {
          for (OpId v = 0; v < n_; ++v) {
            if (related(u) && related(v)) say(u, v);
          }
        }
      }
      if (pairs_.empty())
        first_.push_back(r);
      else
        pairs_.back().decided.push_back(r);
    }
    for (OpId u = 0; u < n_; ++u) {
      for (OpId o = 0; o < n_; ++o) say(u, o);
    }
  }

  // Is there one? Nothing: too many to try.
  std::optional<bool> admitted() {
    std::vector<std::uint64_t> past(n_, 0);
    for (const auto& line : h_.by_replica) {
      std::uint64_t before = 0;
      for (const OpId id : line) {
        past[id] = before;
        before |= bit(id);
      }
    }
    if (h_.type == Type::kGrowableArray) {
      auto asked = meaning_.asked_order();
      if (!asked) return false;
      asked_ = std::move(*asked);
    }
    for (const OpId r : first_) {
      if (!right(r, past)) return false;
    }
    const bool found = next(past, std::vector<std::uint64_t>(n_, 0), 0);
    if (steps_ > kMostSteps) return std::nullopt;
    return found;
  }

 private:
  struct Pair {
    OpId first, second;
    std::vector<OpId> decided;  // what can be judged after it
  };
  static std::uint64_t bit(OpId o) { return std::uint64_t{1} << o; }
  [[nodiscard]] bool asks(OpId o) const {
    const auto kind = h_.ops[o].kind;
    return is_read(kind) || kind == Kind::kDelete ||
           (kind == Kind::kInsert && h_.ops[o].parent != kNone);
  }

  [[nodiscard]] bool right(OpId o, const std::vector<std::uint64_t>& past) const {
    const auto below = [&](OpId a, OpId b) { return (past[b] & bit(a)) != 0; };
    if (meaning_.wrong(o, below)) return false;
    if (h_.type == Type::kLastWriterWinsRegister && h_.ops[o].kind == Kind::kValues) {
      return h_.list(h_.ops[o]).empty() ? meaning_.writes_seen(o, below).empty()
                                        : !meaning_.sources(o, below).empty();
    }
    return true;
  }

  bool next(const std::vector<std::uint64_t>& past, const std::vector<std::uint64_t>& apart,
            std::size_t at) {
    if (++steps_ > kMostSteps) return false;
    for (; at < pairs_.size(); ++at) {
      const auto& [a, b, decided] = pairs_[at];
      const bool known =
          (past[b] & bit(a)) != 0 || (past[a] & bit(b)) != 0 || (apart[b] & bit(a)) != 0;
      if (!known) break;
      for (const OpId r : decided) {
        if (!right(r, past)) return false;
      }
    }
    if (at == pairs_.size()) return linearizes(past);
    const auto& [a, b, decided] = pairs_[at];
    auto with = past;
    const std::uint64_t added = past[a] | bit(a);
    bool well = true;
    for (OpId o = 0; o < n_ && well; ++o) {
      if (o != b && !(past[o] & bit(b))) continue;
      with[o] |= added;
      well = !(with[o] & bit(o)) && !(with[o] & apart[o]);
    }
    const auto go = [&](const std::vector<std::uint64_t>& then,
                        const std::vector<std::uint64_t>& never) {
      for (const OpId r : decided) {
        if (!right(r, then)) return false;
      }
      return next(then, never, at + 1);
    };
    if (well && go(with, apart)) return true;
    auto never = apart;
    never[b] |= bit(a);
    return go(past, never);
  }

  [[nodiscard]] bool linearizes(const std::vector<std::uint64_t>& past) const {
    const auto below = [&](OpId a, OpId b) { return (past[b] & bit(a)) != 0; };
    std::vector<std::uint64_t> before = past;
    for (const auto& [first, second] : asked_) before[second] |= bit(first);
    if (h_.type != Type::kLastWriterWinsRegister)
      return h_.type != Type::kGrowableArray || acyclic(before);
    std::vector<OpId> reads;
    for (OpId o = 0; o < n_; ++o) {
      if (h_.ops[o].kind == Kind::kValues && !h_.list(h_.ops[o]).empty()) reads.push_back(o);
    }
    const std::function<bool(std::size_t, const std::vector<std::uint64_t>&)> choose =
        [&](std::size_t r, const std::vector<std::uint64_t>& so_far) {
          if (r == reads.size()) return acyclic(so_far);
          for (const OpId w : meaning_.sources(reads[r], below)) {
            auto more = so_far;
            for (const OpId other : meaning_.writes_seen(reads[r], below)) {
              if (other != w) more[w] |= bit(other);
            }
            if (choose(r + 1, more)) return true;
          }
          return false;
        };
    return choose(0, before);
  }
  [[nodiscard]] bool acyclic(const std::vector<std::uint64_t>& before) const {
    std::uint64_t done = 0;
    for (bool moved = true; moved;) {
      moved = false;
      for (OpId o = 0; o < n_; ++o) {
        if ((done & bit(o)) || (before[o] & ~done)) continue;
        done |= bit(o);
        moved = true;
      }
    }
    return done == (n_ == 64 ? ~std::uint64_t{0} : bit(static_cast<OpId>(n_)) - 1);
  }

  const History& h_;
  const Meaning meaning_;
  std::size_t n_;
  std::vector<Pair> pairs_;
  std::vector<OpId> first_;
  std::vector<std::pair<OpId, OpId>> asked_;
  std::uint64_t steps_ = 0;
};

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
      if (ops.contains(id) && (set || array) && !is_read(op.kind) &&
          !elements.contains(op.element) && !(set && says.contains(op.element))) {
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
  const auto admitted = Exhaustive(small, letter).admitted();
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
  if (!json.contains("type") || json["type"] != name(history.type))
    return not_valid(word, "it is for another type");
  if (!json.contains("history") || json["history"] != fmt::format("{:016x}", digest(history)))
    return not_valid(word, "it is for another history");
  const bool letter = json.contains("letter") && json["letter"] == true;
  return word == "satisfied" ? check_witness(history, json, letter)
                             : check_core(history, json, letter);
}

}  // namespace cupel::crdt
