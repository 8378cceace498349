// Context check: see the header.
#include "crdt/verify/context_check.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <numeric>
#include <set>
#include <span>

#include "base/hash_table.hpp"
#include "crdt/verify/asked_order.hpp"
#include "crdt/verify/document_check.hpp"
#include "crdt/verify/equal_reads_check.hpp"
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

class ContextCheck {
 public:
  ContextCheck(const History& h, const Json& certificate, bool strict)
      : h_(h), rules_(rules_of(h.type)), json_(certificate), strict_(strict), seen_(h) {}

  // `clocks`: instead of the deliveries (SeenUpdates::take_clocks).
  Verified run(const std::span<const std::uint32_t>* clocks) {
    verdict_ = json_.value("verdict", "");
    std::size_t updates = 0;
    for (const Operation& op : h_.ops) updates += is_read(op.kind) ? 0 : 1;
    if (updates * h_.replicas.size() > kMostEntries)
      return unknown_because(
          fmt::format("it has {} updates and {} replicas, of which the product is more than {}",
                      updates, h_.replicas.size(), kMostEntries));
    if (clocks != nullptr) {
      seen_.take_clocks(*clocks);
      return check_satisfied();
    }
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

  // Reads that had seen the same return the same; or those named do not.
  Verified check_equal_reads() {
    const bool satisfied = verdict_ == "satisfied";
    const auto named = numbers(satisfied ? "order" : "operations");
    if (!named) return not_valid_because("it does not name operations");
    std::vector<bool> counts(h_.ops.size(), satisfied);
    for (const OpId id : *named) counts[id] = true;
    const bool equal = has_equal_reads(h_, seen_, counts);
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
    choices_ = std::move(claims.choices);
    auto verified = check_cycle(named);
    if (unknown && verified.status == CertificateStatus::kNotValid)
      return unknown_because("what is within its values takes too much to try");
    return verified;
  }

  // What is wrong with an operation for what it had seen, or with the order.
  [[nodiscard]] std::optional<std::string> wrong_in_order(const std::vector<std::size_t>& place) {
    VisibleState state(h_, sees_, strict_);
    std::optional<std::string> wrong;
    OpId latest = kNone, own = kNone;  // visible, of the linearization; the operation before
    std::vector<OpId> last;            // by object: visible, of the order of the object
    std::vector<std::size_t> on;       // by key: elements whose last update is an add
    const auto is_on = [&](std::uint32_t object) {
      return last[object] != kNone && h_.ops[last[object]].kind == Kind::kUp;
    };
    seen_.replay(
        [&](std::uint32_t) {
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
    if (shows_too_many_pairs(h_))
      return unknown_because("its reads show too many pairs of characters");
    const auto required = Semantics(h_, strict_).required_order();
    for (const auto& [first, second] : *required) {
      if (at_[first] > at_[second])
        return not_valid_because(
            fmt::format("the order has {} after {}", h_.text(first), h_.text(second)));
    }
    return result(CertificateStatus::kValid);
  }

  [[nodiscard]] std::optional<std::string> wrong_list() const {
    const auto order = character_order(h_, json_.value("characters", Json::array()));
    if (!order.ok()) return order.error().message;
    auto wrong = rules_.keeps_runs ? wrong_runs(h_, seen_, *order) : std::nullopt;
    return wrong ? wrong : wrong_list_order(h_, seen_, *order);
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
    VisibleState state(h_, sees_, strict_);
    std::optional<MarkCheck> marks;
    if (rules_.marks) marks.emplace(h_, seen_);
    seen_.replay([&](std::uint32_t) { state.begin(); }, [&](OpId update) { state.arrive(update); },
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

  // The order that the operations ask for: theirs and that of happens-before.
  Verified check_cycle(const std::vector<OpId>& named) {
    const auto answer = decide_asked_order(h_, seen_, strict_, named, std::move(choices_));
    if (!answer.unknown.empty()) return unknown_because(answer.unknown);
    return answer.fits ? not_valid_because("an order fits its operations")
                       : result(CertificateStatus::kValid);
  }

  // Which of the visible writes a read returned: one of those that nobody overwrote.
  void take_choice(OpId read, const std::vector<OpId>& maximal) {
    LastChoice choice;
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
      LastChoice choice;
      for (const OpId u : state.maximal(e))
        ((h_.ops[u].kind == Kind::kUp) == on ? choice.last : choice.others).push_back(u);
      if (!choice.others.empty()) choices_.push_back(std::move(choice));
    }
  }

  const History& h_;
  const Rules& rules_;
  const Json& json_;
  const bool strict_;
  SeenUpdates seen_;
  const VisibleState::Sees sees_ = [this](OpId op, OpId update) { return seen_.sees(op, update); };
  std::string verdict_;
  std::vector<std::size_t> at_;  // by operation: its place in the linearization
  std::uint64_t state_work_ = 0;
  std::vector<LastChoice> choices_;  // of the registers' reads that are named
};

}  // namespace

Verified check_context(const History& history, const Json& certificate, bool strict) {
  return ContextCheck(history, certificate, strict).run(nullptr);
}

Verified check_orders(const History& history, const Json& certificate, bool strict,
                      std::span<const std::uint32_t> clocks) {
  return ContextCheck(history, certificate, strict).run(&clocks);
}

}  // namespace cupel::crdt
