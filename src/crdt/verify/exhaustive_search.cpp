// Exhaustive search: facts that the reads add to a partial order, and depth-first search over its
// open pairs.
#include "crdt/verify/exhaustive_search.hpp"

#include <algorithm>
#include <functional>
#include <memory>
#include <set>
#include <span>
#include <vector>

#include "crdt/model/times.hpp"
#include "crdt/verify/claim_rules.hpp"
#include "crdt/verify/list_order_check.hpp"
#include "crdt/verify/partial_order.hpp"
#include "crdt/verify/read_rules.hpp"
#include "crdt/verify/semantics.hpp"
#include "crdt/verify/visible_state.hpp"

namespace cupel::crdt {

namespace {

// What the reads of one object require of a partial order of its operations.
class ObjectRules {
 public:
  ObjectRules(const History& h, bool strict, SearchWork& work)
      : h_(h),
        semantics_(h, strict),
        rules_(rules_of(h.type)),
        n_(h.ops.size()),
        words_((n_ + 63) / 64),
        work_(work),
        claims_(h, semantics_, work_),
        reads_(h, semantics_, strict, work_),
        state_(
            h, [this](OpId op, OpId update) { return known_->before(update, op); }, strict) {}

  // Once, before the others. False: there is no execution.
  bool begin() {
    if (rules_.returns == Returns::kCharacters) {
      auto required = semantics_.required_order();
      if (!required) return false;
      required_ = std::move(*required);
    }
    for (OpId r = 0; r < n_; ++r) {
      const Kind kind = h_.ops[r].kind;
      if (is_read(kind) || kind == Kind::kInsert || kind == Kind::kDelete)
        constrained_.push_back(r);
    }
    return true;
  }

  // Adds what every execution has; false: there is none.
  bool propagate(const PartialOrder& known, OrderFacts& facts) {
    if (!claims_.propagate(known, facts)) return false;
    return std::all_of(constrained_.begin(), constrained_.end(),
                       [&](OpId op) { return reads_.propagate(known, op, facts); });
  }

  // Is there a linearization of what is known, as far as it goes? More that is known
  // leaves fewer, where each read has one source.
  [[nodiscard]] bool linearizes(const PartialOrder& known) {
    if (rules_.returns == Returns::kListed) {
      // What is surely seen, and not removed by anything that may be seen.
      const auto sure = [&](OpId u, OpId o) {
        return h_.ops[u].kind == Kind::kDelete ? !known.never(u, o) : known.before(u, o);
      };
      work_.done += n_ * n_;
      return has_list_order(h_, sure, nullptr).value_or(true);
    }
    if (rules_.returns == Returns::kLastUpdate)
      return claims_.orders_updates(known, [&](OpId u, OpId r) { return !known.never(u, r); });
    if (rules_.returns != Returns::kLastWrite && rules_.returns != Returns::kCharacters)
      return true;
    std::vector<std::vector<OpId>> next(n_);
    const auto require = [&](OpId a, OpId b) { next[a].push_back(b); };
    for (const auto& [a, b] : required_) require(a, b);
    if (rules_.returns == Returns::kLastWrite) {
      for (const OpId r : constrained_) {
        if (!is_read(h_.ops[r].kind) || h_.list(h_.ops[r]).empty()) continue;
        OpId source = kNone;
        std::size_t sources = 0;
        for (const OpId w : semantics_.updates_of_key(h_.ops[r].key)) {
          if (h_.ops[w].element != h_.list(h_.ops[r])[0] || known.never(w, r)) continue;
          source = w;
          ++sources;
        }
        if (sources != 1) continue;
        for (const OpId w : semantics_.updates_of_key(h_.ops[r].key)) {
          if (w != source && known.before(w, r)) require(w, source);
        }
      }
    }
    return acyclic(known, next);
  }

  // With what is known as the happens-before: is every read right, and if not, which
  // open pair may change that? kNone twice: none, so that it is wrong for good.
  bool right(const PartialOrder& known, OpenPair& pair) {
    const auto below = [&](OpId a, OpId b) { return known.before(a, b); };
    if (!claims_.are_right(known, pair)) return false;
    if (rules_.returns == Returns::kMembership) return true;
    if (rules_.returns == Returns::kLastUpdate) {
      if (claims_.orders_updates(known, below)) return true;
      return pair = claims_.open_of_last(known), false;
    }
    for (const OpId r : constrained_) {
      const bool last = rules_.returns == Returns::kLastWrite && is_read(h_.ops[r].kind);
      const bool wrong = last ? !last_writer(r, below) : is_wrong(known, r);
      if (!wrong) continue;
      pair = h_.ops[r].kind == Kind::kValue
                 ? open_of_number(known, r)
                 : known.open_of(r, semantics_.updates_of_key(h_.ops[r].key));
      return false;
    }
    if (rules_.returns == Returns::kListed) return in_one_order(known, pair);
    if (rules_.returns != Returns::kLastWrite || chooses(known)) return true;
    for (const OpId r : constrained_) {
      pair = known.open_of(r, semantics_.updates_of_key(h_.ops[r].key));
      if (pair.first != kNone) break;
    }
    return false;
  }

 private:
  [[nodiscard]] bool acyclic(const PartialOrder& known,
                             const std::vector<std::vector<OpId>>& next) {
    if (!rules_.order_by_object) return acyclic_together(known, next);
    std::set<std::uint32_t> objects;
    for (OpId id = 0; id < n_; ++id) {
      if (!next[id].empty()) objects.insert(rules_.object(h_.ops[id]));
    }
    return std::all_of(objects.begin(), objects.end(), [&](std::uint32_t object) {
      auto of_object = next;
      for (OpId id = 0; id < n_; ++id) {
        if (rules_.object(h_.ops[id]) != object) of_object[id].clear();
      }
      return acyclic_together(known, of_object);
    });
  }

  [[nodiscard]] bool acyclic_together(const PartialOrder& known,
                                      const std::vector<std::vector<OpId>>& next) {
    work_.done += n_ * words_;
    std::vector<std::uint32_t> waits(n_, 0);
    for (OpId a = 0; a < n_; ++a) {
      for (OpId b = 0; b < n_; ++b) waits[b] += known.before(a, b);
      for (const OpId b : next[a]) ++waits[b];
    }
    std::vector<OpId> ready;
    for (OpId o = 0; o < n_; ++o) {
      if (waits[o] == 0) ready.push_back(o);
    }
    std::size_t done = 0;
    while (!ready.empty()) {
      const OpId a = ready.back();
      ready.pop_back();
      ++done;
      const auto arrive = [&](OpId b) {
        if (--waits[b] == 0) ready.push_back(b);
      };
      for (OpId b = 0; b < n_; ++b) {
        if (known.before(a, b)) arrive(b);
      }
      for (const OpId b : next[a]) arrive(b);
    }
    return done == n_;
  }

  // For what it has seen.
  [[nodiscard]] bool is_wrong(const PartialOrder& known, OpId op) {
    known_ = &known;
    state_.begin();
    for (const OpId u : semantics_.updates_of_key(h_.ops[op].key)) {
      if (known.before(u, op)) state_.arrive(u);
    }
    return state_.wrong(op).has_value();
  }

  // Lists: an addition fits otherwise, if its replica has not seen as much.
  bool in_one_order(const PartialOrder& known, OpenPair& pair) {
    const auto below = [&](OpId a, OpId b) { return known.before(a, b); };
    const auto ordered = has_list_order(h_, below, nullptr);
    if (!ordered) work_.done = SearchWork::kMost + 1;
    if (ordered.value_or(false)) return true;
    for (const OpId r : constrained_) {
      if (h_.ops[r].kind != Kind::kInsert) continue;
      pair = known.open_of(r, semantics_.updates_of_key(h_.ops[r].key));
      if (pair.first != kNone) return false;
    }
    return pair = {}, false;
  }
  [[nodiscard]] bool last_writer(OpId r, const Semantics::Below& below) const {
    return h_.list(h_.ops[r]).empty() ? semantics_.writes_seen(r, below).empty()
                                      : !semantics_.sources(r, below).empty();
  }

  // A number depends on which updates are seen, and on what a reset among them had seen.
  [[nodiscard]] OpenPair open_of_number(const PartialOrder& known, OpId r) const {
    const auto& updates = semantics_.updates_of_key(h_.ops[r].key);
    for (const OpId u : updates) {
      if (known.open(u, r)) return {u, r};
    }
    for (const OpId reset : updates) {
      if (h_.ops[reset].kind != Kind::kReset || !known.before(reset, r)) continue;
      for (const OpId u : updates) {
        if (known.before(u, r) && known.open(u, reset)) return {u, reset};
      }
    }
    return {};
  }

  // Some source for each read of a last-writer-wins register, so that an order is left.
  bool chooses(const PartialOrder& known) {
    const auto below = [&](OpId a, OpId b) { return known.before(a, b); };
    std::vector<OpId> reads;
    for (const OpId r : constrained_) {
      if (is_read(h_.ops[r].kind) && !h_.list(h_.ops[r]).empty()) reads.push_back(r);
    }
    std::vector<std::vector<OpId>> next(n_);
    const std::function<bool(std::size_t)> choose = [&](std::size_t i) {
      if (work_.is_spent()) return false;
      if (i == reads.size()) return acyclic(known, next);
      const auto sources = semantics_.sources(reads[i], below),
                 seen = semantics_.writes_seen(reads[i], below);
      for (const OpId w : sources) {
        for (const OpId other : seen) {
          if (other != w) next[other].push_back(w);
        }
        // Early where there is a choice.
        if ((sources.size() == 1 || acyclic(known, next)) && choose(i + 1)) return true;
        for (const OpId other : seen) {
          if (other != w) next[other].pop_back();
        }
      }
      return false;
    };
    return choose(0);
  }

  const History& h_;
  const Semantics semantics_;
  const Rules& rules_;
  const std::size_t n_, words_;
  SearchWork& work_;
  ClaimRules claims_;
  ReadRules reads_;
  const PartialOrder* known_ = nullptr;  // for `state_`
  VisibleState state_;
  std::vector<OpId> constrained_;
  std::vector<std::pair<OpId, OpId>> required_;
};

// Over all operations of the objects, which share one happens-before.
class ExhaustiveSearch {
 public:
  ExhaustiveSearch(const History& whole, std::span<const SharedObject> objects, bool strict)
      : whole_(whole), n_(whole.ops.size()) {
    for (const auto& object : objects) {
      parts_.push_back({std::make_unique<ObjectRules>(object.history, strict, work_),
                        object.origin.empty() ? nullptr : &object.origin});
    }
  }

  std::optional<bool> run() {
    PartialOrder known(n_);
    OrderFacts facts;
    for (OpId o = 0; o < n_; ++o) {
      known.never_past.set(o, o);
      known.never_future.set(o, o);
    }
    for (const auto& line : whole_.by_replica) {
      for (std::size_t i = 1; i < line.size(); ++i) facts.push_back({line[i - 1], line[i], true});
    }
    for (OpId a = 0; a < n_; ++a) {
      for (OpId b = 0; b < n_; ++b) {
        if (is_too_late(whole_.ops[a], whole_.ops[b])) facts.push_back({a, b, false});
      }
    }
    for (const auto& part : parts_) {
      if (!part.rules->begin()) return false;
    }
    if (search(std::move(known), std::move(facts))) return true;
    if (work_.is_spent()) return std::nullopt;
    return false;
  }

 private:
  struct Part {
    std::unique_ptr<ObjectRules> rules;
    const std::vector<OpId>* origin;  // null: the object is the whole
  };

  // What is known of the operations of an object.
  template <typename Use>
  bool with_part(const PartialOrder& known, const Part& part, Use use) {
    if (part.origin == nullptr) return use(known);
    const auto& origin = *part.origin;
    PartialOrder local(origin.size());
    work_.done += origin.size() * origin.size();
    for (OpId a = 0; a < origin.size(); ++a) {
      for (OpId b = 0; b < origin.size(); ++b) {
        if (known.before(origin[a], origin[b])) {
          local.past.set(b, a);
          local.future.set(a, b);
        }
        if (known.never(origin[a], origin[b])) {
          local.never_past.set(b, a);
          local.never_future.set(a, b);
        }
      }
    }
    return use(local);
  }
  static OpId in_whole(const Part& part, OpId op) {
    return part.origin == nullptr || op == kNone ? op : (*part.origin)[op];
  }

  bool settle(PartialOrder& known, OrderFacts& facts) {
    while (true) {
      if (!known.close(facts, work_) || work_.is_spent()) return false;
      for (const auto& part : parts_) {
        OrderFacts found;
        if (!with_part(known, part, [&](const PartialOrder& local) {
              return part.rules->propagate(local, found);
            })) {
          return false;
        }
        for (const auto& [first, second, before] : found)
          facts.push_back({in_whole(part, first), in_whole(part, second), before});
      }
      std::erase_if(facts, [&](const OrderFact& f) {
        return f.before ? known.before(f.first, f.second) : known.never(f.first, f.second);
      });
      if (!facts.empty()) continue;
      return std::all_of(parts_.begin(), parts_.end(), [&](const Part& part) {
        return with_part(known, part,
                         [&](const PartialOrder& local) { return part.rules->linearizes(local); });
      });
    }
  }

  bool search(PartialOrder known, OrderFacts facts) {
    work_.done += n_ * known.past.words();
    if (!settle(known, facts) || work_.is_spent()) return false;
    for (const auto& part : parts_) {
      OpenPair pair;
      const bool right = with_part(
          known, part, [&](const PartialOrder& local) { return part.rules->right(local, pair); });
      if (right) continue;
      if (pair.first == kNone) return false;
      const OpId first = in_whole(part, pair.first), second = in_whole(part, pair.second);
      for (const bool before : {true, false}) {
        if (search(known, {{first, second, before}})) return true;
      }
      return false;
    }
    return true;
  }

  const History& whole_;
  const std::size_t n_;
  SearchWork work_;
  std::vector<Part> parts_;
};

}  // namespace

std::optional<bool> has_execution(const History& history, bool strict) {
  const SharedObject object{history, {}};
  return ExhaustiveSearch(history, std::span(&object, 1), strict).run();
}

std::optional<bool> have_execution(const History& whole, std::span<const SharedObject> objects,
                                   bool strict) {
  return ExhaustiveSearch(whole, objects, strict).run();
}

}  // namespace cupel::crdt
