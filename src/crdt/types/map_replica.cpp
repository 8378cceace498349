// Map replica: see the header. It relies on causal delivery, as broadcast by the simulation: what a
// remove or put takes away has arrived before it, so nothing is kept of what has taken effect.
#include "crdt/types/map_replica.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "base/text/json.hpp"
#include "crdt/model/document.hpp"
#include "crdt/model/unique_character.hpp"
#include "crdt/types/common_bugs.hpp"

namespace cupel::crdt {

namespace {

constexpr std::string_view kBringsBack = "update-brings-back-removed",
                           kKillsUpdate = "remove-kills-concurrent-update",
                           kKillsPut = "remove-kills-concurrent-put",
                           kLosesUpdate = "loses-nested-update",
                           kForgetsInside = "kept-value-forgets",
                           kKeepsContainer = "keeps-removed-container";
constexpr double kLost = 0.3;

// An update by its replica and its number there.
struct Dot {
  std::uint32_t replica, number;
};

bool saw(const Update& later, Dot dot) {
  return later.past[dot.replica] > dot.number;
}

class MapReplica final : public SimulatedReplica {
 public:
  MapReplica(const History& history, std::string_view bug, std::uint32_t self, MapPolicy policy)
      : SimulatedReplica(history, self), policy_(policy), bug_(bug) {}

  void answer(Operation& /*read*/, std::vector<std::uint32_t>& /*list*/) override {}
  void answer(Operation& read, std::vector<std::uint32_t>& list, History& names) override {
    const Shown shown{.list = &list, .names = &names};
    if (read.element == kNone)
      show_map(read.key, kNone, shown);
    else
      show_place(read.key, read.element, shown);
  }

  [[nodiscard]] std::span<const std::vector<std::uint32_t>> visible() const override {
    visible_.resize(h_.keys.size());
    for (const auto key : changed_) {
      visible_[key].clear();
      show_map(key, kNone, {.named = &visible_[key]});
    }
    changed_.clear();
    return visible_;
  }

 private:
  struct Value {
    std::uint32_t value;
    Dot put;
    std::uint64_t rank;
    std::vector<Dot> standing;  // of the put and what is done within: those not taken away
  };
  struct Place {
    // By kLastWriterWins the last one; it is removed, or one value.
    std::uint64_t rank = 0;
    bool is_removed = false;
    std::vector<Value> values;
  };
  struct Amount {
    Dot dot;
    std::int64_t amount;
  };
  struct Member {
    Dot dot;
    std::uint32_t element;
    std::uint64_t rank = 0;
    bool is_removed = false;  // of a list or text
  };
  struct Container {
    std::vector<Amount> amounts;  // of a counter
    std::int64_t sum = 0;
    std::vector<Member> members;   // of the others
    std::set<std::uint32_t> keys;  // of a map: places
  };

  [[nodiscard]] bool has(std::string_view bug) const { return bug_ == bug; }
  [[nodiscard]] static Dot dot_of(const Update& update) {
    return {update.op.replica, update.past[update.op.replica]};
  }
  [[nodiscard]] std::uint64_t rank_of(const Update& update) {
    return has(ignores_timestamp().name) ? ++arrivals_
                                         : (update.stamp << kReplicaBits) + update.tie + 1;
  }

  [[nodiscard]] DocumentElement what(std::uint32_t element) const {
    return document_element(h_.elements[element].text);
  }
  [[nodiscard]] std::uint32_t container_of(std::uint32_t element) const {
    const auto text = what(element).container;
    return text.empty() ? kNone : h_.known_element(h_.elements[element].key, std::string(text));
  }

  void change(const Update& update, base::Random& random) override {
    const Operation& op = update.op;
    changed_.insert(op.key);
    if (op.kind == Kind::kPut) {
      put(update);
      touch(update, container_of(op.element), random);
      return;
    }
    if (op.kind == Kind::kDelete && what(op.element).kind == ValueKind::kMap) {
      remove(update);
      return;
    }
    const auto container = op.kind == Kind::kInc ? op.element : container_of(op.element);
    if (has(kLosesUpdate) && is_remote(update) && random.chance(kLost)) return;
    change_content(update, at(containers_, container));
    touch(update, container, random);
  }

  void put(const Update& update) {
    const Operation& op = update.op;
    if (const auto node = container_of(op.element); node != kNone)
      at(containers_, node).keys.insert(op.element);
    else
      roots_[op.key].insert(op.element);
    Place& place = at(places_, op.element);
    const auto rank = rank_of(update);
    const Value value{op.parent, dot_of(update), rank, {dot_of(update)}};
    if (policy_ == MapPolicy::kLastWriterWins) {
      if (rank < place.rank) return;
      place = {.rank = rank, .values = {value}};
      return;
    }
    std::erase_if(place.values, [&](const Value& other) { return saw(update, other.put); });
    place.values.push_back(value);
  }

  void remove(const Update& update) {
    Place& place = at(places_, update.op.element);
    if (policy_ == MapPolicy::kLastWriterWins) {
      const auto rank = rank_of(update);
      if (rank < place.rank) return;
      place.rank = rank;
      place.is_removed = true;
      return;
    }
    const bool all = is_remote(update) && (has(kKillsUpdate) || has(kKillsPut));
    take_away(update.op.element, update, all);
  }

  void take_away(std::uint32_t element, const Update& update, bool all) {
    for (Value& value : at(places_, element).values) {
      const bool stood = !value.standing.empty();
      std::erase_if(value.standing, [&](Dot dot) { return all || saw(update, dot); });
      const bool forgets = policy_ == MapPolicy::kReset || has(kForgetsInside);
      if (!forgets || !stood || what(value.value).kind == ValueKind::kScalar) continue;
      forget_within(value.value, update, all);
    }
  }

  void forget_within(std::uint32_t element, const Update& update, bool all) {
    Container& container = at(containers_, element);
    forget(container, update);
    const auto keys = container.keys;
    const auto members = container.members;
    for (const auto below : keys) take_away(below, update, all);
    for (const Member& member : members) {
      const auto held = held_by(member.element);
      if (held != kNone) forget_within(held, update, all);
    }
  }

  // The container that a character of a list is; kNone: it is none.
  [[nodiscard]] std::uint32_t held_by(std::uint32_t member) const {
    const auto its = what(member);
    if (its.kind != ValueKind::kList || document_element(its.local).kind == ValueKind::kScalar)
      return kNone;
    return h_.known_element(h_.elements[member].key, std::string(its.local));
  }

  static void forget(Container& container, const Update& update) {
    std::erase_if(container.amounts, [&](const Amount& amount) {
      if (!saw(update, amount.dot)) return false;
      container.sum -= amount.amount;
      return true;
    });
    for (Member& member : container.members) {
      if (saw(update, member.dot)) member.is_removed = true;
    }
  }

  // The update is within these values.
  void touch(const Update& update, std::uint32_t container, base::Random& random) {
    while (container != kNone) {
      const auto above = h_.place_of.find(container);
      if (above == h_.place_of.end()) return;
      Place& place = at(places_, above->second);
      for (Value& value : place.values) {
        if (value.value == container) stand(place, value, update, random);
      }
      container = container_of(above->second);
    }
  }

  void stand(Place& place, Value& value, const Update& update, base::Random& random) {
    if (has(kBringsBack) && is_remote(update) && random.chance(0.5)) {
      place.is_removed = false;
      if (value.standing.empty()) value.standing.push_back(dot_of(update));
    }
    if (policy_ != MapPolicy::kUpdateWins && policy_ != MapPolicy::kReset) return;
    const Dot dot = dot_of(update);
    std::erase_if(value.standing, [&](Dot other) {
      return other.replica == dot.replica && other.number < dot.number;
    });
    value.standing.push_back(dot);
  }

  void change_content(const Update& update, Container& container) {
    const Operation& op = update.op;
    const Dot dot = dot_of(update);
    auto& members = container.members;
    switch (op.kind) {
      case Kind::kInc:
        container.sum += op.amount;
        if (policy_ == MapPolicy::kReset || has(kForgetsInside))
          container.amounts.push_back({dot, op.amount});
        return;
      case Kind::kUp:
        members.push_back({dot, op.element});
        return;
      case Kind::kDown:
        std::erase_if(members, [&](const Member& member) {
          return member.element == op.element && saw(update, member.dot);
        });
        return;
      case Kind::kWrite:
        std::erase_if(members, [&](const Member& member) { return saw(update, member.dot); });
        members.push_back({dot, op.element});
        return;
      case Kind::kDelete:
        if (has(kKeepsContainer) && is_remote(update) && held_by(op.element) != kNone) return;
        for (Member& member : members) {
          if (h_.any_changed(op, [&](std::uint32_t e) { return e == member.element; }))
            member.is_removed = true;
        }
        return;
      case Kind::kInsert:
        insert(update, members);
        return;
      default:
        return;
    }
  }

  // After its neighbour, and after what was added there with a later timestamp.
  void insert(const Update& update, std::vector<Member>& members) {
    const Operation& op = update.op;
    const auto rank = (update.stamp << kReplicaBits) + update.tie + 1;
    auto place = members.begin();
    if (op.parent != kNone) {
      place = std::find_if(members.begin(), members.end(),
                           [&](const Member& member) { return member.element == op.parent; });
      if (place != members.end()) ++place;
    }
    while (place != members.end() && place->rank > rank) ++place;
    for (const auto e : h_.changed(op)) {
      place = members.insert(place, Member{dot_of(update), e, rank});
      ++place;
    }
  }

  // What the place holds; kNone: nothing.
  [[nodiscard]] std::uint32_t held(std::uint32_t element) const {
    if (element >= places_.size()) return kNone;
    const Place& place = places_[element];
    if (place.is_removed) return kNone;
    const Value* last = nullptr;
    for (const Value& value : place.values) {
      if (!value.standing.empty() && (last == nullptr || last->rank < value.rank)) last = &value;
    }
    return last == nullptr ? kNone : last->value;
  }

  // Into the list of a read, or of the elements that requests may name: places, containers,
  // characters and members of sets.
  struct Shown {
    std::vector<std::uint32_t>* list = nullptr;
    History* names = nullptr;  // a read may return any number
    std::vector<std::uint32_t>* named = nullptr;
  };

  void show_map(std::uint32_t key, std::uint32_t container, const Shown& shown) const {
    static const std::set<std::uint32_t> kNothing;
    const std::set<std::uint32_t>* keys = &kNothing;
    if (container != kNone) {
      if (container < containers_.size()) keys = &containers_[container].keys;
    } else if (const auto root = roots_.find(key); root != roots_.end()) {
      keys = &root->second;
    }
    for (const auto place : *keys) show_place(key, place, shown);
  }

  void show_place(std::uint32_t key, std::uint32_t place, const Shown& shown) const {
    const auto value = held(place);
    if (value == kNone) return;
    const ValueKind kind = what(value).kind;
    if (shown.list != nullptr) {
      shown.list->push_back(place);
      shown.list->push_back(value);
    } else {
      shown.named->push_back(place);
      if (kind != ValueKind::kScalar) shown.named->push_back(value);
    }
    show_container(key, value, kind, shown);
  }

  void show_container(std::uint32_t key, std::uint32_t container, ValueKind kind,
                      const Shown& shown) const {
    if (kind == ValueKind::kMap)
      show_map(key, container, shown);
    else if (kind != ValueKind::kScalar)
      show_content(container, kind, shown);
  }

  void show_content(std::uint32_t container, ValueKind kind, const Shown& shown) const {
    static const Container kEmpty;
    const Container& content = container < containers_.size() ? containers_[container] : kEmpty;
    if (kind == ValueKind::kCounter) {
      if (shown.list == nullptr) return;
      const auto& [key, text] = h_.elements[container];
      const auto number = member_text(text, std::to_string(content.sum));
      shown.list->push_back(shown.names->element(key, number));
      return;
    }
    std::vector<std::uint32_t> members;
    for (const Member& member : content.members) {
      if (!member.is_removed) members.push_back(member.element);
    }
    if (kind == ValueKind::kSet || kind == ValueKind::kRegister) {
      std::sort(members.begin(), members.end());
      members.erase(std::unique(members.begin(), members.end()), members.end());
    }
    auto& into = shown.list != nullptr ? *shown.list : *shown.named;
    into.insert(into.end(), members.begin(), members.end());
    for (const auto e : members) {
      const auto held = kind == ValueKind::kList ? held_by(e) : kNone;
      if (held == kNone) continue;
      if (shown.named != nullptr) shown.named->push_back(held);
      show_container(h_.elements[container].key, held, what(held).kind, shown);
    }
  }

  static constexpr std::uint64_t kReplicaBits = 24;

  const MapPolicy policy_;
  const std::string_view bug_;
  std::uint64_t arrivals_ = 0;
  std::vector<Place> places_;                                // by element
  std::vector<Container> containers_;                        // by element
  std::map<std::uint32_t, std::set<std::uint32_t>> roots_;   // by key: places of the document
  mutable std::vector<std::vector<std::uint32_t>> visible_;  // by key, as asked for last
  mutable std::set<std::uint32_t> changed_;                  // keys, since then
};

// One request in the making.
class MapRequest {
 public:
  explicit MapRequest(RequestChoice& choice)
      : choice_(choice), h_(choice.history), op_(choice.op), random_(choice.random) {
    for (const auto e : choice.visible[op_.key]) {
      const auto what = document_element(h_.elements[e].text);
      if (!what.is_member && what.kind != ValueKind::kScalar) {
        auto& of_kind = what.kind == ValueKind::kMap ? maps_ : containers_;
        if (what.kind != ValueKind::kMap || depth(e) < kDeepest) of_kind.push_back(e);
        const auto above = h_.place_of.find(e);
        const bool in_list =
            above != h_.place_of.end() &&
            document_element(h_.elements[above->second].text).kind == ValueKind::kList;
        if (in_list && depth(e) <= kDeepest) held_.push_back(e);
      } else if (what.is_member && what.kind == ValueKind::kMap) {
        places_.push_back(e);
      }
    }
  }

  void choose() {
    constexpr double kWholeReads = 0.3, kMapUpdates = 0.25, kRemoves = 0.35, kHeld = 0.5;
    if (choice_.read) {
      if (!places_.empty() && !random_.chance(kWholeReads)) op_.element = any(places_);
      return;
    }
    if (!held_.empty() && random_.chance(kHeld)) {
      update_held(random_.chance(kHeld) ? *std::min_element(held_.begin(), held_.end())
                                        : any(held_));  // so that replicas meet in one
    } else if (!containers_.empty() && !random_.chance(kMapUpdates)) {
      update(any(containers_));
    } else if (!places_.empty() && random_.chance(kRemoves)) {
      op_.kind = Kind::kDelete;
      op_.element = any(places_);
      update_list_instead();
    } else {
      put();
    }
  }

 private:
  static constexpr int kDeepest = 3, kKeys = 3, kMostHeld = 2;

  std::uint32_t any(const std::vector<std::uint32_t>& some) {
    return some[random_.below(some.size())];
  }

  // So that what is in lists is not soon gone with them. True: most of the time, of a place with a
  // list.
  bool update_list_instead() {
    constexpr double kGone = 0.2;
    const auto list = list_at(op_.element);
    if (list == kNone || random_.chance(kGone)) return false;
    op_.element = kNone;
    update(list);
    return true;
  }

  // Of the lists that are shown, the one at this place; kNone: there is none.
  [[nodiscard]] std::uint32_t list_at(std::uint32_t place) const {
    const auto found = std::find_if(containers_.begin(), containers_.end(), [&](auto container) {
      const auto at = h_.place_of.find(container);
      return at != h_.place_of.end() && at->second == place &&
             document_element(h_.elements[container].text).kind == ValueKind::kList;
    });
    return found == containers_.end() ? kNone : *found;
  }

  // An element of a list: it, or what is in it.
  void update_held(std::uint32_t container) {
    constexpr double kRemoves = 0.25;
    if (random_.chance(kRemoves)) {
      op_.kind = Kind::kDelete;
      op_.element = h_.place_of.find(container)->second;
    } else if (document_element(h_.elements[container].text).kind == ValueKind::kMap) {
      put_into(container);
    } else {
      update(container);
    }
  }

  // How many containers a container is in, itself included.
  [[nodiscard]] int depth(std::uint32_t container) const {
    int depth = 0;
    for (; container != kNone; ++depth) {
      const auto place = h_.place_of.find(container);
      if (place == h_.place_of.end()) return kDeepest;
      const auto above = document_element(h_.elements[place->second].text).container;
      container = above.empty() ? kNone : h_.known_element(op_.key, std::string(above));
    }
    return depth;
  }

  void put() { put_into(maps_.empty() || random_.chance(0.4) ? kNone : any(maps_)); }

  void put_into(std::uint32_t container) {
    op_.kind = Kind::kPut;
    const std::string key(1, static_cast<char>('a' + random_.below(kKeys)));
    op_.element = h_.element(
        op_.key,
        member_text(container == kNone ? "" : h_.elements[container].text, text::quoted(key)));
    if (update_list_instead()) return;
    if (random_.chance(0.25)) {
      op_.parent = h_.element(op_.key, std::to_string(choice_.fresh++));
      return;
    }
    op_.parent = h_.element(op_.key, new_container());
    ++choice_.fresh;
    h_.note_put(op_.element, op_.parent);
  }

  // Its text. Maps and lists twice as often as the other containers.
  [[nodiscard]] std::string new_container() {
    static_assert(kContainers[0].kind == ValueKind::kMap &&
                  kContainers[1].kind == ValueKind::kList);
    const auto kind = random_.below(kContainers.size() + 2) % kContainers.size();
    return container_text(kContainers[kind].kind, fmt::format("\"c{}\"", choice_.fresh));
  }

  [[nodiscard]] std::uint32_t member(std::uint32_t container, const std::string& local) {
    return h_.element(op_.key, member_text(h_.elements[container].text, local));
  }

  // Of those that are shown, some member of the container; kNone: there is none.
  std::uint32_t some_member(std::uint32_t container) {
    std::vector<std::uint32_t> members;
    const std::string text = h_.elements[container].text + ":";
    for (const auto e : choice_.visible[op_.key]) {
      if (h_.elements[e].text.starts_with(text)) members.push_back(e);
    }
    return members.empty() ? kNone : any(members);
  }

  void update(std::uint32_t container) {
    switch (document_element(h_.elements[container].text).kind) {
      case ValueKind::kCounter:
        op_.kind = Kind::kInc;
        op_.element = container;
        op_.amount = static_cast<std::int64_t>(1 + random_.below(3)) * (choice_.down ? -1 : 1);
        return;
      case ValueKind::kSet:
        op_.kind = Kind::kUp;
        if (choice_.down) op_.element = some_member(container);
        if (op_.element != kNone)
          op_.kind = Kind::kDown;
        else
          op_.element = member(container, fmt::format("\"e{}\"", random_.below(3)));
        return;
      case ValueKind::kRegister:
        op_.kind = Kind::kWrite;
        op_.element = member(container, std::to_string(choice_.fresh++));
        return;
      case ValueKind::kList: {
        const bool holds = random_.chance(0.5) && depth(container) < kDeepest &&
                           containers_in(container) < kMostHeld;
        const auto held = new_container();
        remove_or_insert(container, holds ? held : fmt::format("\"v{}\"", choice_.fresh));
        if (op_.kind == Kind::kInsert && holds) h_.note_put(op_.element, h_.element(op_.key, held));
        return;
      }
      default:
        remove_or_insert(container, text::quoted(unique_character(choice_.fresh % kCharacters)));
        set_range();
    }
  }

  // Among the elements of a list that are shown.
  [[nodiscard]] std::int64_t containers_in(std::uint32_t list) const {
    const auto is_in_list = [&](std::uint32_t container) {
      const auto above = h_.place_of.find(container);
      return above != h_.place_of.end() &&
             document_element(h_.elements[above->second].text).container == h_.elements[list].text;
    };
    return std::count_if(containers_.begin(), containers_.end(), is_in_list) +
           std::count_if(maps_.begin(), maps_.end(), is_in_list);
  }

  void remove_or_insert(std::uint32_t container, const std::string& fresh) {
    const auto before = some_member(container);
    if (choice_.down && before != kNone) {
      op_.kind = Kind::kDelete;
      op_.element = before;
      return;
    }
    op_.kind = Kind::kInsert;
    op_.element = member(container, fresh);
    if (!random_.chance(0.25)) op_.parent = before;
    ++choice_.fresh;
  }

  void set_range() {
    auto& lists = h_.lists;
    op_.list_begin = static_cast<std::uint32_t>(lists.size());
    lists.push_back(op_.element);
    op_.list_end = static_cast<std::uint32_t>(lists.size());
  }

  // So many that no text has one twice.
  static constexpr std::uint64_t kCharacters = 1'000'000;

  RequestChoice& choice_;
  History& h_;
  Operation& op_;
  base::Random& random_;
  std::vector<std::uint32_t> maps_, containers_, held_, places_;  // that are shown
};

}  // namespace

std::vector<TypeBug> bugs_of_map(MapPolicy policy) {
  std::vector<TypeBug> bugs = {
      ignores_timestamp(),
      {kLosesUpdate, "an update of another replica within a value of a key is lost"},
      {kKeepsContainer,
       "the remove of an element of a list has no effect at other replicas if it is a container"}};
  const TypeBug brings_back = {
      kBringsBack, "an update of another replica within a removed value brings back its key"};
  switch (policy) {
    case MapPolicy::kLastWriterWins:
      bugs.push_back(brings_back);
      break;
    case MapPolicy::kRemoveWins:
      bugs.push_back(brings_back);
      bugs.push_back({kKillsPut, "the remove of a key takes away a concurrent put, too"});
      break;
    case MapPolicy::kUpdateWins:
      bugs.push_back(
          {kKillsUpdate, "the remove of a key takes away a value that is updated concurrently"});
      bugs.push_back(
          {kForgetsInside, "a value that a concurrent update keeps forgets the updates before"});
      break;
    case MapPolicy::kReset:
      bugs.push_back(
          {kKillsUpdate, "the remove of a key takes away a value that is updated concurrently"});
      break;
  }
  return bugs;
}

std::unique_ptr<SimulatedReplica> make_map_replica(const History& history, std::string_view bug,
                                                   std::uint32_t self, MapPolicy policy) {
  return std::make_unique<MapReplica>(history, bug, self, policy);
}

void choose_map_request(RequestChoice& choice) {
  MapRequest(choice).choose();
}

}  // namespace cupel::crdt
