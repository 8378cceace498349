// Context check: see the header.
#include "crdt/verify/context_check.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <numeric>
#include <set>

#include "base/hash_table.hpp"
#include "base/random.hpp"
#include "base/rank_set.hpp"
#include "crdt/verify/document_check.hpp"
#include "crdt/verify/list_order_check.hpp"
#include "crdt/verify/mark_check.hpp"
#include "crdt/verify/movable_list_check.hpp"
#include "crdt/verify/move_order_check.hpp"
#include "crdt/verify/run_order_check.hpp"
#include "crdt/verify/semantics.hpp"
#include "crdt/verify/tree_order.hpp"
#include "crdt/verify/visible_state.hpp"
#include "crdt/verify/weak_list_check.hpp"

namespace cupel::crdt {

namespace {

using Json = nlohmann::json;

// Beyond these the result is unknown.
constexpr std::size_t kMostEntries = 400'000'000;  // replicas × updates
constexpr std::uint64_t kMostComparisons = 20'000'000'000;
constexpr std::size_t kMostNamed = 5'000;  // operations of a cycle
constexpr std::size_t kMostShownPairs = 100'000'000;
constexpr int kMostChoices = 100'000;

class ContextCheck {
 public:
  ContextCheck(const History& h, const Json& certificate, bool strict)
      : h_(h), rules_(rules_of(h.type)), json_(certificate), strict_(strict), seen_(h) {}

  Verified run() {
    verdict_ = json_.value("verdict", "");
    std::size_t updates = 0;
    for (const Operation& op : h_.ops) updates += is_read(op.kind) ? 0 : 1;
    if (updates * h_.replicas.size() > kMostEntries)
      return unknown_because(
          fmt::format("it has {} updates and {} replicas, of which the product is more than {}",
                      updates, h_.replicas.size(), kMostEntries));
    if (!seen_.run())
      return not_valid_because("the deliveries of the history contradict each other");
    if (json_["context"] == "converged-only") return check_equal_reads();
    return verdict_ == "satisfied" ? check_satisfied() : check_violated();
  }

 private:
  [[nodiscard]] Verified result(CertificateStatus status, std::string reason = {}) const {
    return {.status = status, .verdict = verdict_, .reason = std::move(reason)};
  }
  [[nodiscard]] Verified not_valid_because(std::string reason) const {
    return result(CertificateStatus::kNotValid, std::move(reason));
  }
  [[nodiscard]] Verified unknown_because(std::string reason) const {
    return result(CertificateStatus::kUnknown, std::move(reason));
  }

  // Numbers of operations, each at most once; nothing if they are something else.
  [[nodiscard]] std::optional<std::vector<OpId>> numbers(const char* field) const {
    const auto found = json_.find(field);
    if (found == json_.end() || !found->is_array()) return std::nullopt;
    std::vector<OpId> all;
    std::vector<bool> once(h_.ops.size(), false);
    for (const Json& n : *found) {
      if (!n.is_number_unsigned() || n >= h_.ops.size() || once[n.get<OpId>()]) return std::nullopt;
      all.push_back(n.get<OpId>());
      once[all.back()] = true;
    }
    return all;
  }

  // The replicas one after the other: `begin` a replica, `arrive` an update that is visible from
  // now on, `perform` an operation. False from `perform` ends it.
  template <typename Begin, typename Arrive, typename Perform>
  void for_replicas(Begin begin, Arrive arrive, Perform perform) const {
    for (std::uint32_t r = 0; r < h_.replicas.size(); ++r) {
      begin();
      const auto log = seen_.log(r);
      std::size_t next = 0;
      for (const OpId id : h_.by_replica[r]) {
        for (; next < log.size() && log[next].place <= h_.ops[id].seq; ++next)
          arrive(log[next].update);
        if (!perform(id)) return;
      }
    }
  }

  // What a read returned, whatever the order of a set.
  [[nodiscard]] std::vector<std::int64_t> answer(OpId id) const {
    const Operation& op = h_.ops[id];
    std::vector<std::int64_t> all = {op.returned ? 1 : 0, op.kind == Kind::kValue ? op.amount : 0};
    for (const auto e : h_.list(op)) all.push_back(e);
    if (op.parent != kNone) all.push_back(op.parent);  // marks
    if (op.kind != Kind::kList && op.kind != Kind::kTree && op.kind != Kind::kDocument)
      std::sort(all.begin() + 2, all.end());
    // A register returns concurrent writes of one value once or several times.
    if (op.kind == Kind::kValues) all.erase(std::unique(all.begin() + 2, all.end()), all.end());
    return all;
  }

  [[nodiscard]] bool saw_the_same(OpId one, OpId other) const {
    for (OpId u = 0; u < h_.ops.size(); ++u) {
      if (!is_read(h_.ops[u].kind) && h_.ops[u].key == h_.ops[one].key &&
          seen_.sees(one, u) != seen_.sees(other, u))
        return false;
    }
    return true;
  }

  // Reads of one key that had seen the same of it return the same; or those named do not. Equal
  // sets have equal sums, so that none is overlooked, and what differs is compared in full.
  Verified check_equal_reads() {
    const bool satisfied = verdict_ == "satisfied";
    const auto named = numbers(satisfied ? "order" : "operations");
    if (!named) return not_valid_because("it does not name operations");
    std::vector<bool> counts(h_.ops.size(), satisfied);
    for (const OpId id : *named) counts[id] = true;
    constexpr std::uint64_t kSeed = 2;
    base::Random random(kSeed);
    std::vector<std::uint64_t> number(h_.ops.size());
    for (auto& n : number) n = random.next();
    struct Asked {
      std::uint32_t key, kind, element;
      std::uint64_t sum;
      auto operator<=>(const Asked&) const = default;
    };
    std::map<Asked, std::vector<OpId>> reads;  // the first of each answer
    std::vector<std::uint64_t> sums;
    bool equal = true;
    for_replicas(
        [&] { sums.assign(h_.keys.size(), 0); },
        [&](OpId update) { sums[h_.ops[update].key] += number[update]; },
        [&](OpId id) {
          const Operation& op = h_.ops[id];
          if (!is_read(op.kind) || !counts[id]) return true;
          auto& others =
              reads[{op.key, static_cast<std::uint32_t>(op.kind), op.element, sums[op.key]}];
          const auto mine = answer(id);
          bool known = false;
          for (const OpId other : others) {
            if (answer(other) == mine)
              known = true;
            else if (saw_the_same(other, id))
              equal = false;
          }
          if (!known) others.push_back(id);
          return equal;
        });
    if (equal == satisfied) return result(CertificateStatus::kValid);
    return not_valid_because(equal ? "its reads return the same, or had not seen the same"
                                   : "two reads that had seen the same return different values");
  }

  [[nodiscard]] bool is_register_read(OpId id) const {
    return rules_.returns == Returns::kLastWrite && h_.ops[id].kind == Kind::kValues;
  }

  Verified check_satisfied() {
    const auto order = numbers("order");
    if (!order || order->size() != h_.ops.size())
      return not_valid_because("its `order` does not have each operation once");
    at_.resize(h_.ops.size());
    for (std::size_t i = 0; i < order->size(); ++i) at_[(*order)[i]] = i;
    auto place = at_;  // in the order that decides reads: of all, or of the object
    if (rules_.order_by_object) {
      auto writes = numbers("writes");
      if (!json_.contains("writes")) writes.emplace();
      if (!writes)
        return not_valid_because("its `writes` are not numbers of operations, each once");
      place.assign(h_.ops.size(), h_.ops.size());
      for (std::size_t i = 0; i < writes->size(); ++i) place[(*writes)[i]] = i;
      for (OpId id = 0; id < h_.ops.size(); ++id) {
        if (!is_read(h_.ops[id].kind) && place[id] == h_.ops.size())
          return not_valid_because(fmt::format("its `writes` lack {}", h_.text(id)));
      }
    }
    if (auto reason = wrong_in_order(place)) return not_valid_because(*reason);
    if (state_work_ > kMostComparisons)
      return unknown_because("its reads take too many comparisons");
    if (rules_.returns == Returns::kTree) {
      if (auto reason = wrong_tree(h_, seen_, place)) return not_valid_because(*reason);
    }
    if (rules_.returns == Returns::kMoved) {
      const Json none = Json::array();
      if (auto reason = wrong_movable_list(h_, seen_, json_.value("writes", none),
                                           json_.value("positions", none)))
        return not_valid_because(*reason);
    }
    if (rules_.returns == Returns::kDocument) return check_document(place);
    if (rules_.returns == Returns::kCharacters) return check_tree();
    if (rules_.returns == Returns::kListed) {
      const bool by_pairs = rules_.weak && !json_.contains("characters");
      if (by_pairs && has_too_many_pairs(h_))
        return unknown_because("its lists have too many characters to compare each two");
      const auto reason =
          by_pairs ? wrong_pairs(h_, json_.value("pairs", Json::array()), seen_) : wrong_list();
      if (reason) return not_valid_because(*reason);
    }
    if (rules_.marks) return check_marks(place);
    return result(CertificateStatus::kValid);
  }

  // Texts: the marks of the characters, by the order of the updates of each text.
  [[nodiscard]] Verified check_marks(const std::vector<std::size_t>& place) const {
    MarkCheck marks(h_, seen_);
    for (OpId id = 0; id < h_.ops.size(); ++id) {
      if (h_.ops[id].kind != Kind::kList) continue;
      if (auto reason = marks.wrong_in_order(id, place)) return not_valid_because(*reason);
      if (marks.work() > kMostComparisons)
        return unknown_because("its reads take too many comparisons");
    }
    return result(CertificateStatus::kValid);
  }

  // Nested values, by the order of the updates of each place.
  [[nodiscard]] Verified check_document(const std::vector<std::size_t>& place) const {
    DocumentCheck document(h_, seen_);
    if (auto reason = document.wrong_in_order(place)) return not_valid_because(*reason);
    if (document.is_too_much()) return unknown_because("its reads take too many comparisons");
    const Json characters = json_.value("characters", Json::array());
    for (const auto& part : document.parts()) {
      std::vector<OpId> order(part.history.ops.size());
      std::iota(order.begin(), order.end(), 0);
      std::stable_sort(order.begin(), order.end(),
                       [&](OpId a, OpId b) { return at_[part.origin[a]] < at_[part.origin[b]]; });
      base::HashMap<std::uint32_t, std::uint32_t> number;
      for (std::uint32_t e = 0; e < part.elements.size(); ++e) number[part.elements[e]] = e;
      std::vector<std::uint32_t> own;
      for (const Json& e : characters) {
        const auto there = e.is_number_unsigned() && e < h_.elements.size()
                               ? number.find(e.get<std::uint32_t>())
                               : number.end();
        if (there != number.end()) own.push_back(there->second);
      }
      auto verified = check_context(
          part.history,
          {{"verdict", "satisfied"}, {"context", "trusted"}, {"order", order}, {"characters", own}},
          /*strict=*/false);
      if (verified.status != CertificateStatus::kValid) return verified;
    }
    return result(CertificateStatus::kValid);
  }

  // The operations that are named, of the document and then of each kind of its containers.
  [[nodiscard]] Verified check_no_document(const std::vector<OpId>& named,
                                           const std::vector<bool>& counts,
                                           const std::set<std::uint32_t>& places) {
    DocumentCheck document(h_, seen_);
    auto claims = document.claims(counts, places);
    if (claims.is_wrong) return result(CertificateStatus::kValid);
    if (document.is_too_much()) return unknown_because("its reads take too many comparisons");
    bool unknown = false;
    for (const auto& part : document.parts()) {
      std::vector<OpId> operations;
      for (OpId id = 0; id < part.origin.size(); ++id) {
        if (counts[part.origin[id]]) operations.push_back(id);
      }
      const auto verified = check_context(
          part.history,
          {{"verdict", "violated"}, {"context", "trusted"}, {"operations", operations}},
          /*strict=*/false);
      if (verified.status == CertificateStatus::kValid) return result(CertificateStatus::kValid);
      unknown = unknown || verified.status == CertificateStatus::kUnknown;
    }
    for (auto& choice : claims.choices)
      choices_.push_back({std::move(choice.last), std::move(choice.others)});
    auto verified = check_cycle(named);
    if (unknown && verified.status == CertificateStatus::kNotValid)
      return unknown_because("what is within its values takes too much to try");
    return verified;
  }

  // What is wrong with an operation for what it had seen, or with the order.
  [[nodiscard]] std::optional<std::string> wrong_in_order(const std::vector<std::size_t>& place) {
    VisibleState state(h_, seen_, strict_);
    std::optional<std::string> wrong;
    OpId latest = kNone, own = kNone;  // visible, of the linearization; the operation before
    std::vector<OpId> last;            // by object: visible, of the order of the object
    std::vector<std::size_t> on;       // by key: elements whose last update is an add
    const auto is_on = [&](std::uint32_t object) {
      return last[object] != kNone && h_.ops[last[object]].kind == Kind::kUp;
    };
    for_replicas(
        [&] {
          state.begin();
          latest = own = kNone;
          last.assign(rules_.objects_are_elements ? h_.elements.size() : h_.keys.size(), kNone);
          on.assign(h_.keys.size(), 0);
        },
        [&](OpId update) {
          if (latest == kNone || at_[latest] < at_[update]) latest = update;
          const auto object = rules_.object(h_.ops[update]);
          on[h_.ops[update].key] -= is_on(object) ? 1 : 0;
          if (last[object] == kNone || place[last[object]] < place[update]) last[object] = update;
          on[h_.ops[update].key] += is_on(object) ? 1 : 0;
          state.arrive(update);
        },
        [&](OpId id) {
          const Operation& op = h_.ops[id];
          const auto object = rules_.object(op);
          const OpId of_object = object == kNone ? kNone : last[object];
          if (own != kNone && at_[own] > at_[id])
            wrong = fmt::format("{} is before its replica's earlier operations", h_.text(id));
          else if (latest != kNone && at_[latest] > at_[id])
            wrong = fmt::format("{} is before {}, which it had seen", h_.text(id), h_.text(latest));
          else if (rules_.order_by_object && !is_read(op.kind) && of_object != kNone &&
                   place[of_object] > place[id])
            wrong = fmt::format("{} is before {} in the order of its object, and it had seen that",
                                h_.text(id), h_.text(of_object));
          else
            wrong = state.wrong(id);
          if (!wrong && is_register_read(id) && of_object != kNone &&
              h_.ops[of_object].element != h_.list(op)[0])
            wrong = fmt::format("{} did not return the last write that it had seen", h_.text(id));
          if (!wrong && rules_.returns == Returns::kLastUpdate && is_read(op.kind)) {
            const auto list = h_.list(op);
            const bool shown =
                op.kind == Kind::kTest
                    ? is_on(object) == op.returned
                    : list.size() == on[op.key] && std::all_of(list.begin(), list.end(), is_on);
            if (!shown)
              wrong =
                  fmt::format("{} does not show the last updates that it had seen", h_.text(id));
          }
          own = id;
          return !wrong && state.work() <= kMostComparisons;
        });
    state_work_ = state.work();
    return wrong;
  }

  // Arrays: all reads show the tree in the order that the linearization gives it.
  Verified check_tree() {
    if (strict_) return check_strict_tree();
    const auto place = TreeOrder(h_).places(at_);
    for (OpId id = 0; id < h_.ops.size(); ++id) {
      const auto list = h_.list(h_.ops[id]);
      for (std::size_t i = 1; i < list.size(); ++i) {
        if (place[list[i - 1]] >= place[list[i]])
          return not_valid_because(fmt::format("the order has {} after {}, unlike {}",
                                               h_.element_text(list[i - 1]),
                                               h_.element_text(list[i]), h_.text(id)));
      }
    }
    return result(CertificateStatus::kValid);
  }

  // By the strict axioms a character may stand before one that it follows, so that neighbours say
  // nothing about those further apart.
  Verified check_strict_tree() {
    if (too_many_pairs(h_)) return unknown_because("its reads show too many pairs of characters");
    const auto required = Semantics(h_, strict_).required_order();
    for (const auto& [first, second] : *required) {
      if (at_[first] > at_[second])
        return not_valid_because(
            fmt::format("the order has {} after {}", h_.text(first), h_.text(second)));
    }
    return result(CertificateStatus::kValid);
  }
  static bool too_many_pairs(const History& h) {
    std::size_t pairs = 0;
    for (const Operation& op : h.ops) {
      if (op.kind == Kind::kList) pairs += h.list(op).size() * h.list(op).size();
    }
    return pairs > kMostShownPairs;
  }

  // Lists: the reads show their characters in this order, and no visible character is between a new
  // one and its neighbour.
  [[nodiscard]] std::optional<std::string> wrong_list() const {
    const auto order = character_order(h_, json_.value("characters", Json::array()));
    if (!order.ok()) return order.error().message;
    const auto& place = order->place;
    VisibleState state(h_, seen_, strict_);
    base::RankSet shown(order->elements.size() + 1);
    std::optional<std::string> wrong;
    if (rules_.keeps_runs) wrong = wrong_runs(h_, seen_, *order);
    if (wrong) return wrong;
    for_replicas(
        [&] {
          state.begin();
          shown.clear();
        },
        [&](OpId update) {
          state.arrive(update);
          for (const auto e : h_.changed(h_.ops[update])) {
            if (state.is_shown(e))
              shown.insert(place[e]);
            else
              shown.erase(place[e]);
          }
        },
        [&](OpId id) {
          wrong = wrong_for_order(h_, id, *order);
          if (!wrong && h_.ops[id].kind == Kind::kInsert)
            wrong = wrong_neighbour(id, *order, shown);
          return !wrong;
        });
    return wrong;
  }

  [[nodiscard]] std::optional<std::string> wrong_neighbour(OpId id, const CharacterOrder& order,
                                                           const base::RankSet& shown) const {
    const Operation& op = h_.ops[id];
    const auto left = op.parent == kNone ? 0 : order.place[op.parent];
    const auto before = shown.before(order.place[h_.changed(op).back()]);
    if (before == base::RankSet::kNoRank || before <= left) return std::nullopt;
    const auto other = order.elements[before - 1];
    if (h_.elements[other].key != op.key) return std::nullopt;
    return between_neighbours(h_, id, other);
  }

  Verified check_violated() {
    const auto named = numbers("operations");
    if (!named) return not_valid_because("its `operations` are not numbers of operations");
    std::vector<bool> counts(h_.ops.size(), false);
    for (const OpId id : *named) counts[id] = true;
    std::set<std::uint32_t> objects;  // of the updates that are named
    for (const OpId id : *named) {
      if (!is_read(h_.ops[id].kind)) objects.insert(rules_.object(h_.ops[id]));
    }
    if (rules_.returns == Returns::kDocument) return check_no_document(*named, counts, objects);
    bool wrong = false;
    VisibleState state(h_, seen_, strict_);
    std::optional<MarkCheck> marks;
    if (rules_.marks) marks.emplace(h_, seen_);
    for_replicas([&] { state.begin(); }, [&](OpId update) { state.arrive(update); },
                 [&](OpId id) {
                   if (!counts[id]) return true;
                   wrong = wrong || state.wrong(id).has_value();
                   if (is_register_read(id) && !h_.list(h_.ops[id]).empty())
                     take_choice(id, state.maximal(h_.ops[id].key));
                   if (rules_.returns == Returns::kLastUpdate && is_read(h_.ops[id].kind))
                     take_set_choices(id, objects, state);
                   if (marks && !wrong && h_.ops[id].kind == Kind::kList)
                     wrong = !marks->add_choices(id, choices_);
                   return !wrong && state.work() <= kMostComparisons;
                 });
    if (wrong) return result(CertificateStatus::kValid);
    if (state.work() > kMostComparisons)
      return unknown_because("its reads take too many comparisons");
    if (rules_.returns == Returns::kListed) {
      const std::set<OpId> ops(named->begin(), named->end());
      const auto below = [&](OpId a, OpId b) { return seen_.sees(b, a); };
      const auto ordered = rules_.weak         ? has_weak_list_order(h_, below, ops)
                           : rules_.keeps_runs ? has_run_order(h_, seen_, ops)
                                               : has_list_order(h_, below, &ops);
      if (!ordered) return unknown_because("its operations have too many orders to try");
      if (!*ordered) return result(CertificateStatus::kValid);
      if (!rules_.marks) return not_valid_because("an order of the characters fits its operations");
    }
    if (rules_.returns == Returns::kTree) return check_no_move_order(*named);
    if (rules_.returns == Returns::kMoved) {
      const auto ordered = has_movable_list_order(h_, seen_, {named->begin(), named->end()});
      if (!ordered) return unknown_because("its moves have too many orders to try");
      return *ordered
                 ? not_valid_because("orders of the moves and of the places fit its operations")
                 : result(CertificateStatus::kValid);
    }
    if (rules_.returns != Returns::kLastWrite && rules_.returns != Returns::kLastUpdate &&
        rules_.returns != Returns::kCharacters && !rules_.marks)
      return not_valid_because("each of its operations fits what its replica had received");
    return check_cycle(*named);
  }

  [[nodiscard]] Verified check_no_move_order(const std::vector<OpId>& named) const {
    std::vector<OpId> reads;
    for (const OpId id : named) {
      if (h_.ops[id].kind == Kind::kTree) reads.push_back(id);
    }
    const auto ordered = has_move_order(h_, seen_, reads, named);
    if (!ordered) return unknown_because("its reads have too many orders of moves to try");
    return *ordered ? not_valid_because("an order of the moves fits its reads")
                    : result(CertificateStatus::kValid);
  }

  // Which of the visible writes a read returned: one of those that nobody overwrote.
  void take_choice(OpId read, const std::vector<OpId>& maximal) {
    Choice choice;
    for (const OpId w : maximal)
      (h_.ops[w].element == h_.list(h_.ops[read])[0] ? choice.last : choice.others).push_back(w);
    choices_.push_back(std::move(choice));
  }

  // Which of the updates that nobody observed was the last one of an element.
  void take_set_choices(OpId read, const std::set<std::uint32_t>& objects,
                        const VisibleState& state) {
    const Operation& op = h_.ops[read];
    const auto list = h_.list(op);
    for (const auto e : objects) {
      if (op.kind == Kind::kTest ? op.element != e : h_.elements[e].key != op.key) continue;
      const bool on = op.kind == Kind::kTest ? op.returned
                                             : std::find(list.begin(), list.end(), e) != list.end();
      Choice choice;
      for (const OpId u : state.maximal(e))
        ((h_.ops[u].kind == Kind::kUp) == on ? choice.last : choice.others).push_back(u);
      if (!choice.others.empty()) choices_.push_back(std::move(choice));
    }
  }

  using After = std::vector<std::vector<std::size_t>>;  // by node: those after it

  // The order that the operations ask for: theirs and that of happens-before.
  Verified check_cycle(const std::vector<OpId>& named) {
    std::set<OpId> ops(named.begin(), named.end());
    std::vector<std::pair<OpId, OpId>> asked;
    if (rules_.returns == Returns::kCharacters) {
      bool impossible = false;
      if (auto unknown = ask_for_characters(named, asked, impossible)) return *unknown;
      if (impossible) return result(CertificateStatus::kValid);
    }
    for (const auto& [first, second] : asked) ops.insert({first, second});
    for (const Choice& choice : choices_) {
      ops.insert(choice.last.begin(), choice.last.end());
      ops.insert(choice.others.begin(), choice.others.end());
    }
    if (ops.size() > kMostNamed)
      return unknown_because(fmt::format(
          "it rests on {} operations, more than the {} that are compared", ops.size(), kMostNamed));
    const std::vector<OpId> nodes(ops.begin(), ops.end());
    const auto number = [&](OpId id) {
      return static_cast<std::size_t>(std::lower_bound(nodes.begin(), nodes.end(), id) -
                                      nodes.begin());
    };
    After after(nodes.size());
    for (std::size_t a = 0; a < nodes.size(); ++a) {
      for (std::size_t b = 0; b < nodes.size(); ++b) {
        const Operation &one = h_.ops[nodes[a]], &other = h_.ops[nodes[b]];
        if (rules_.order_by_object && rules_.object(one) != rules_.object(other)) continue;
        if (one.replica == other.replica ? one.seq < other.seq
                                         : !is_read(one.kind) && seen_.sees(nodes[b], nodes[a]))
          after[a].push_back(b);
      }
    }
    for (const auto& [first, second] : asked) after[number(first)].push_back(number(second));
    for (Choice& choice : choices_) {
      for (auto* writes : {&choice.last, &choice.others}) {
        for (OpId& w : *writes) w = static_cast<OpId>(number(w));
      }
    }
    if (rules_.order_by_object) {
      return orders_from_end(after) ? not_valid_because("an order fits its operations")
                                    : result(CertificateStatus::kValid);
    }
    // Those without a choice first.
    std::stable_sort(choices_.begin(), choices_.end(), [](const Choice& one, const Choice& other) {
      return one.last.size() < other.last.size();
    });
    int tries = kMostChoices;
    const bool fits = some_order_fits(0, after, tries);
    if (tries <= 0)
      return unknown_because("its reads may have returned too many combinations of equal writes");
    return fits ? not_valid_because("an order fits its operations")
                : result(CertificateStatus::kValid);
  }

  // Orders of which only the last of some updates matters can be built from their end: whatever may
  // come last of what is left could come last of it in any order that fits. False: there is none.
  [[nodiscard]] bool orders_from_end(const After& after) const {
    const std::size_t count = after.size();
    std::vector<std::size_t> waits(count, 0);  // for nodes after it, for choices of others
    std::vector<std::vector<std::size_t>> before(count), chosen(count);
    for (std::size_t node = 0; node < count; ++node) {
      waits[node] += after[node].size();
      for (const auto later : after[node]) before[later].push_back(node);
    }
    for (std::size_t c = 0; c < choices_.size(); ++c) {
      for (const auto node : choices_[c].others) ++waits[node];
      for (const auto node : choices_[c].last) chosen[node].push_back(c);
    }
    std::vector<std::size_t> free;
    for (std::size_t node = 0; node < count; ++node) {
      if (waits[node] == 0) free.push_back(node);
    }
    const auto relieve = [&](std::size_t node) {
      if (--waits[node] == 0) free.push_back(node);
    };
    std::vector<bool> done(choices_.size(), false);
    std::size_t gone = 0;
    for (; gone < free.size(); ++gone) {
      const auto last = free[gone];
      for (const auto node : before[last]) relieve(node);
      for (const auto c : chosen[last]) {
        if (done[c]) continue;
        done[c] = true;
        for (const auto node : choices_[c].others) relieve(node);
      }
    }
    return gone == count;
  }

  // Is there no cycle, for some choice from here on?
  [[nodiscard]] bool some_order_fits(std::size_t at, After& after, int& tries) const {
    if (--tries <= 0) return true;
    const bool open = at < choices_.size();
    if ((!open || choices_[at].last.size() > 1) && has_cycle(after)) return false;
    if (!open) return true;
    for (const auto last : choices_[at].last) {
      for (const auto w : choices_[at].others) after[w].push_back(last);
      const bool fits = some_order_fits(at + 1, after, tries);
      for (const auto w : choices_[at].others) after[w].pop_back();
      if (fits) return true;
    }
    return false;
  }

  // What the reads that are named show. Neighbours say all, because the tree has one order.
  [[nodiscard]] std::optional<Verified> ask_for_characters(
      const std::vector<OpId>& named, std::vector<std::pair<OpId, OpId>>& asked,
      bool& impossible) const {
    if (strict_) return ask_for_strict_characters(named, asked);
    const TreeOrder tree(h_);
    for (const OpId id : named) {
      const auto list = h_.list(h_.ops[id]);
      for (std::size_t i = 1; h_.ops[id].kind == Kind::kList && i < list.size(); ++i) {
        const auto one = tree.asked(list[i - 1], list[i]);
        impossible = impossible || one.impossible;
        if (one.order) asked.push_back(*one.order);
        if (tree.work() > kMostComparisons)
          return unknown_because("its characters have too long a way up");
      }
    }
    return std::nullopt;
  }
  [[nodiscard]] std::optional<Verified> ask_for_strict_characters(
      const std::vector<OpId>& named, std::vector<std::pair<OpId, OpId>>& asked) const {
    History lists;  // the additions, and the reads that are named
    lists.type = h_.type;
    for (const auto& key : h_.keys) lists.key(key);
    for (const auto& element : h_.elements) lists.element(element.key, element.text);
    const std::set<OpId> ops(named.begin(), named.end());
    std::vector<OpId> origin;
    for (OpId id = 0; id < h_.ops.size(); ++id) {
      Operation op = h_.ops[id];
      if (op.kind != Kind::kInsert && !(op.kind == Kind::kList && ops.contains(id))) continue;
      op.replica = lists.replica("all");
      lists.add(op, h_.list(h_.ops[id]));
      origin.push_back(id);
    }
    if (too_many_pairs(lists)) return unknown_because("its reads show too many pairs");
    const auto required = Semantics(lists, strict_).required_order();
    for (const auto& [first, second] : *required) asked.emplace_back(origin[first], origin[second]);
    return std::nullopt;
  }

  static bool has_cycle(const After& after) {
    std::vector<std::size_t> before(after.size(), 0), free;
    for (const auto& next : after) {
      for (const auto to : next) ++before[to];
    }
    for (std::size_t a = 0; a < after.size(); ++a) {
      if (before[a] == 0) free.push_back(a);
    }
    std::size_t gone = 0;
    for (; gone < free.size(); ++gone) {
      for (const auto to : after[free[gone]]) {
        if (--before[to] == 0) free.push_back(to);
      }
    }
    return gone < after.size();
  }

  using Choice = MarkCheck::Choice;

  const History& h_;
  const Rules& rules_;
  const Json& json_;
  const bool strict_;
  SeenUpdates seen_;
  std::string verdict_;
  std::vector<std::size_t> at_;  // by operation: its place in the linearization
  std::uint64_t state_work_ = 0;
  std::vector<Choice> choices_;  // of the registers' reads that are named
};

}  // namespace

Verified check_context(const History& history, const Json& certificate, bool strict) {
  return ContextCheck(history, certificate, strict).run();
}

}  // namespace cupel::crdt
