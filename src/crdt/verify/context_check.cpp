// Context check: see the header. The replicas execute their lines in rounds, each as far as it can.
#include "crdt/verify/context_check.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "crdt/verify/list_order_check.hpp"
#include "crdt/verify/semantics.hpp"

namespace cupel::crdt {

namespace {

using Json = nlohmann::json;
using UpdateSet = std::vector<bool>;  // by operation

// What each update and each chosen operation had seen.
class SeenSets {
 public:
  // It keeps the sets of the updates and of these.
  SeenSets(const History& h, std::set<OpId> chosen) : h_(h), chosen_(std::move(chosen)) {}

  // False: the lines contradict each other.
  template <typename Visit>
  bool run(Visit visit) {
    const auto replicas = h_.replicas.size();
    now_.assign(replicas, UpdateSet(h_.ops.size(), false));
    waiting_.assign(replicas, {});
    std::vector<std::vector<const Reception*>> lines(replicas);
    for (const Reception& reception : h_.context.receptions)
      lines[reception.replica].push_back(&reception);
    std::vector<std::size_t> line(replicas, 0), place(replicas, 0);
    for (bool again = true; again;) {
      again = false;
      for (std::uint32_t r = 0; r < replicas; ++r) {
        for (;;) {
          const bool reception = line[r] < lines[r].size() && lines[r][line[r]]->seq <= place[r];
          if (reception) {
            if (!can_receive(*lines[r][line[r]])) break;
            receive(*lines[r][line[r]++]);
          } else {
            if (place[r] == h_.by_replica[r].size()) break;
            const OpId id = h_.by_replica[r][place[r]++];
            visit(id, now_[r]);
            if (!is_read(h_.ops[id].kind) || chosen_.contains(id)) past_[id] = now_[r];
            done_.insert(id);
            if (!is_read(h_.ops[id].kind)) now_[r][id] = true;
          }
          again = true;
        }
      }
    }
    for (std::uint32_t r = 0; r < replicas; ++r) {
      if (line[r] < lines[r].size() || place[r] < h_.by_replica[r].size()) return false;
    }
    return true;
  }

  [[nodiscard]] bool sees(OpId op, OpId update) const { return past_.at(op)[update]; }

 private:
  [[nodiscard]] std::size_t index_of(const Reception& reception) const {
    return static_cast<std::size_t>(&reception - h_.context.receptions.data());
  }

  // The updates that a name stands for; of a message only when it was sent.
  [[nodiscard]] std::vector<OpId> updates(const NamedUpdates& named) const {
    if (named.kind == NamedUpdates::Kind::kUpdate) return {named.of};
    std::vector<OpId> found;
    if (named.kind == NamedUpdates::Kind::kFirst) {
      for (const OpId id : h_.by_replica[named.of]) {
        if (found.size() == named.count) break;
        if (!is_read(h_.ops[id].kind)) found.push_back(id);
      }
      return found;
    }
    const UpdateSet& all = messages_.at(named.of);
    for (OpId id = 0; id < all.size(); ++id) {
      if (all[id]) found.push_back(id);
    }
    return found;
  }

  [[nodiscard]] bool can_receive(const Reception& reception) const {
    for (const NamedUpdates& named : h_.context.updates(reception)) {
      if (named.kind == NamedUpdates::Kind::kMessage) {
        if (!messages_.contains(named.of)) return false;
        continue;
      }
      const auto all = updates(named);
      if (!std::all_of(all.begin(), all.end(), [&](OpId id) { return done_.contains(id); }))
        return false;
    }
    return true;
  }

  void receive(const Reception& reception) {
    UpdateSet& now = now_[reception.replica];
    if (reception.kind == Reception::Kind::kSent) {
      messages_[static_cast<std::uint32_t>(index_of(reception))] = now;
      return;
    }
    for (const NamedUpdates& named : h_.context.updates(reception)) {
      const bool at_once = named.kind == NamedUpdates::Kind::kMessage ||
                           reception.kind == Reception::Kind::kVersion ||
                           h_.context.rule == DeliveryRule::kApplied;
      for (const OpId id : updates(named)) {
        if (at_once)
          see(now, id, reception.kind == Reception::Kind::kVersion);
        else
          waiting_[reception.replica].insert(id);
      }
    }
    auto& waiting = waiting_[reception.replica];
    for (bool again = true; again;) {
      again = false;
      for (auto it = waiting.begin(); it != waiting.end();) {
        if (now[*it] || is_ready(now, *it)) {
          again = again || !now[*it];
          now[*it] = true;
          it = waiting.erase(it);
        } else {
          ++it;
        }
      }
    }
  }

  // A version brings what must come before.
  void see(UpdateSet& now, OpId id, bool version) const {
    now[id] = true;
    if (!version || h_.context.rule == DeliveryRule::kApplied) return;
    for (OpId before = 0; before < now.size(); ++before) {
      if (must_come_before(before, id)) now[before] = true;
    }
  }
  [[nodiscard]] bool must_come_before(OpId before, OpId id) const {
    if (is_read(h_.ops[before].kind)) return false;
    if (h_.context.rule == DeliveryRule::kCausal) return past_.at(id)[before];
    return h_.ops[before].replica == h_.ops[id].replica && h_.ops[before].seq < h_.ops[id].seq;
  }
  [[nodiscard]] bool is_ready(const UpdateSet& now, OpId id) const {
    for (OpId before = 0; before < now.size(); ++before) {
      if (!now[before] && must_come_before(before, id)) return false;
    }
    return true;
  }

  const History& h_;
  const std::set<OpId> chosen_;
  std::vector<UpdateSet> now_;           // by replica
  std::vector<std::set<OpId>> waiting_;  // by replica
  std::map<std::uint32_t, UpdateSet> messages_;
  std::map<OpId, UpdateSet> past_;
  std::set<OpId> done_;
};

class ContextCheck {
 public:
  ContextCheck(const History& h, const Json& certificate, bool strict)
      : h_(h),
        rules_(rules_of(h.type)),
        json_(certificate),
        strict_(strict),
        of_key_(h.keys.size()) {
    for (OpId id = 0; id < h.ops.size(); ++id) {
      if (!is_read(h.ops[id].kind)) of_key_[h.ops[id].key].push_back(id);
    }
  }

  Verified run() {
    verdict_ = json_.value("verdict", "");
    std::size_t updates = 0;
    for (const auto& of : of_key_) updates += of.size();
    if (updates > kMostContextUpdates)
      return result(CertificateStatus::kUnknown,
                    fmt::format("it has {} updates, more than the {} whose contexts fit in memory",
                                updates, kMostContextUpdates));
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

  // Numbers of operations, each at most once; nothing if they are something else.
  [[nodiscard]] std::optional<std::vector<OpId>> numbers(const char* field) const {
    const auto found = json_.find(field);
    if (found == json_.end() || !found->is_array()) return std::nullopt;
    std::vector<OpId> all;
    std::set<OpId> once;
    for (const Json& n : *found) {
      if (!n.is_number_unsigned() || n >= h_.ops.size() || !once.insert(n.get<OpId>()).second)
        return std::nullopt;
      all.push_back(n.get<OpId>());
    }
    return all;
  }

  // What a read returned, whatever the order of a set.
  [[nodiscard]] std::vector<std::int64_t> answer(const Operation& op) const {
    std::vector<std::int64_t> all = {op.returned ? 1 : 0, op.kind == Kind::kValue ? op.amount : 0};
    for (const auto e : h_.list(op)) all.push_back(e);
    if (op.kind != Kind::kList) std::sort(all.begin() + 2, all.end());
    return all;
  }

  // Reads of one key that had seen the same of it return the same; or those named do not.
  Verified check_equal_reads() {
    const auto named = numbers(verdict_ == "satisfied" ? "order" : "operations");
    if (!named) return not_valid_because("it does not name operations");
    const std::set<OpId> ops(named->begin(), named->end());
    std::map<std::vector<std::uint32_t>, std::vector<std::int64_t>> answers;
    bool equal = true;
    const bool possible = SeenSets(h_, {}).run([&](OpId id, const UpdateSet& now) {
      const Operation& op = h_.ops[id];
      if (!is_read(op.kind) || (verdict_ == "violated" && !ops.contains(id))) return;
      std::vector<std::uint32_t> seen = {op.key, static_cast<std::uint32_t>(op.kind), op.element};
      for (const OpId u : of_key_[op.key]) {
        if (now[u]) seen.push_back(u);
      }
      const auto [it, fresh] = answers.try_emplace(std::move(seen), answer(op));
      equal = equal && (fresh || it->second == answer(op));
    });
    if (!possible) return not_valid_because("the deliveries of the history contradict each other");
    if (equal == (verdict_ == "satisfied")) return result(CertificateStatus::kValid);
    return not_valid_because(equal ? "its reads return the same, or had not seen the same"
                                   : "two reads that had seen the same return different values");
  }

  Verified check_satisfied() {
    const auto order = numbers("order");
    if (!order || order->size() != h_.ops.size())
      return not_valid_because("its `order` does not have each operation once");
    std::vector<std::size_t> at(h_.ops.size());
    for (std::size_t i = 0; i < order->size(); ++i) at[(*order)[i]] = i;
    std::optional<std::string> wrong;
    SeenSets seen(h_, {});
    const bool possible = seen.run([&](OpId id, const UpdateSet& now) {
      if (wrong) return;
      const Operation& op = h_.ops[id];
      if (op.seq > 0 && at[h_.by_replica[op.replica][op.seq - 1]] > at[id])
        wrong = fmt::format("{} is before its replica's earlier operations", h_.text(id));
      for (OpId u = 0; u < now.size(); ++u) {
        if (now[u] && at[u] > at[id])
          wrong = fmt::format("{} is before {}, which it had seen", h_.text(id), h_.text(u));
      }
      if (!wrong) wrong = content(id, now, seen);
      if (!wrong && rules_.returns == Returns::kLastWrite && op.kind == Kind::kValues)
        wrong = last_write(id, now, at);
    });
    if (!possible) return not_valid_because("the deliveries of the history contradict each other");
    if (wrong) return not_valid_because(*wrong);
    if (rules_.returns == Returns::kCharacters) {
      const auto required = Semantics(h_, strict_).required_order();
      if (!required)
        return not_valid_because("a read shows a character before one that it follows");
      for (const auto& [first, second] : *required) {
        if (at[first] > at[second])
          return not_valid_because(
              fmt::format("the order has {} after {}", h_.text(first), h_.text(second)));
      }
    }
    if (rules_.returns == Returns::kListed) {
      const auto characters = json_.find("characters");
      if (auto reason =
              wrong_list_order(h_, characters == json_.end() ? Json::array() : *characters,
                               [&](OpId a, OpId b) { return seen.sees(b, a); }))
        return not_valid_because(*reason);
    }
    return result(CertificateStatus::kValid);
  }

  Verified check_violated() {
    const auto named = numbers("operations");
    if (!named) return not_valid_because("its `operations` are not numbers of operations");
    const std::set<OpId> ops(named->begin(), named->end());
    bool wrong = false;
    SeenSets seen(h_, ops);
    const bool possible = seen.run([&](OpId id, const UpdateSet& now) {
      if (ops.contains(id) && content(id, now, seen)) wrong = true;
    });
    if (!possible) return not_valid_because("the deliveries of the history contradict each other");
    if (wrong) return result(CertificateStatus::kValid);
    if (rules_.returns == Returns::kListed) {
      const auto ordered = has_list_order(
          h_, [&](OpId a, OpId b) { return seen.sees(b, a); }, &ops);
      if (!ordered)
        return result(CertificateStatus::kUnknown, "its operations have too many orders to try");
      return *ordered ? not_valid_because("an order of the characters fits its operations")
                      : result(CertificateStatus::kValid);
    }
    if (rules_.returns != Returns::kLastWrite && rules_.returns != Returns::kCharacters)
      return not_valid_because("each of its operations fits what its replica had received");
    return check_cycle(ops, seen);
  }

  // The order that the operations ask for: theirs and that of happens-before.
  Verified check_cycle(const std::set<OpId>& ops, const SeenSets& seen) {
    std::map<OpId, std::set<OpId>> after;
    for (const OpId a : ops) {
      for (const OpId b : ops) {
        const Operation &one = h_.ops[a], &other = h_.ops[b];
        if (one.replica == other.replica ? one.seq < other.seq
                                         : !is_read(one.kind) && seen.sees(b, a))
          after[a].insert(b);
      }
    }
    if (rules_.returns == Returns::kCharacters) {
      if (!characters_order(ops, after)) return result(CertificateStatus::kValid);
    } else {
      for (const OpId read : ops) {
        if (h_.ops[read].kind != Kind::kValues || h_.list(h_.ops[read]).empty()) continue;
        std::vector<OpId> last, others;
        for (const OpId w : of_key_[h_.ops[read].key]) {
          if (!seen.sees(read, w)) continue;
          (h_.ops[w].element == h_.list(h_.ops[read])[0] && !is_overwritten(w, read, seen) ? last
                                                                                           : others)
              .push_back(w);
        }
        if (last.size() > 1)
          return result(
              CertificateStatus::kUnknown,
              fmt::format("{} may have read any of {} writes", h_.text(read), last.size()));
        for (const OpId w : others) after[w].insert(last[0]);
      }
    }
    if (has_cycle(after)) return result(CertificateStatus::kValid);
    return not_valid_because("the order that its operations ask for has no cycle");
  }

  // Of lists: false if a character stands before one that it follows.
  [[nodiscard]] bool characters_order(const std::set<OpId>& ops,
                                      std::map<OpId, std::set<OpId>>& after) const {
    History lists;  // the additions, and the reads that are named
    lists.type = h_.type;
    for (const auto& key : h_.keys) lists.key(key);
    for (const auto& element : h_.elements) lists.element(element.key, element.text);
    std::vector<OpId> origin;
    for (OpId id = 0; id < h_.ops.size(); ++id) {
      Operation op = h_.ops[id];
      if (op.kind != Kind::kInsert && !(op.kind == Kind::kList && ops.contains(id))) continue;
      op.replica = lists.replica("all");
      lists.add(op, h_.list(h_.ops[id]));
      origin.push_back(id);
    }
    const auto required = Semantics(lists, strict_).required_order();
    if (!required) return false;
    for (const auto& [first, second] : *required) after[origin[first]].insert(origin[second]);
    return true;
  }

  static bool has_cycle(std::map<OpId, std::set<OpId>>& after) {
    std::map<OpId, std::size_t> before;
    for (const auto& [id, next] : after) {
      before.try_emplace(id, 0);
      for (const OpId to : next) ++before[to];
    }
    std::vector<OpId> free;
    for (const auto& [id, count] : before) {
      if (count == 0) free.push_back(id);
    }
    std::size_t gone = 0;
    for (; gone < free.size(); ++gone) {
      for (const OpId to : after[free[gone]]) {
        if (--before[to] == 0) free.push_back(to);
      }
    }
    return gone < before.size();
  }

  [[nodiscard]] bool is_overwritten(OpId write, OpId read, const SeenSets& seen) const {
    const auto& writes = of_key_[h_.ops[write].key];
    return std::any_of(writes.begin(), writes.end(), [&](OpId w) {
      return w != write && seen.sees(read, w) && seen.sees(w, write);
    });
  }

  // What is wrong with an operation for what it had seen, whatever the linearization.
  [[nodiscard]] std::optional<std::string> content(OpId id, const UpdateSet& now,
                                                   const SeenSets& seen) const {
    const Operation& op = h_.ops[id];
    const auto wrong = [&] { return fmt::format("{} does not fit what it had seen", h_.text(id)); };
    const auto list = h_.list(op);
    const std::set<std::uint32_t> returned(list.begin(), list.end());
    std::vector<OpId> visible;
    for (const OpId u : of_key_[op.key]) {
      if (now[u]) visible.push_back(u);
    }
    switch (op.kind) {
      case Kind::kTest:
        if (is_member(rules_.object(op), visible, seen) != op.returned) return wrong();
        return std::nullopt;
      case Kind::kState: {
        std::set<std::uint32_t> all = returned;
        for (const OpId u : visible) all.insert(h_.ops[u].element);
        for (const auto e : all) {
          if (is_member(e, visible, seen) != returned.contains(e)) return wrong();
        }
        return std::nullopt;
      }
      case Kind::kValue: {
        std::int64_t sum = 0;
        for (const OpId u : visible) sum += h_.ops[u].amount;
        if (sum != op.amount) return wrong();
        return std::nullopt;
      }
      case Kind::kValues:
        return fits_writes(op, returned, visible, seen) ? std::nullopt : std::optional(wrong());
      case Kind::kInsert:
      case Kind::kDelete: {
        const auto named = op.kind == Kind::kInsert ? op.parent : op.element;
        if (named != kNone && !is_added(named, visible)) return wrong();
        return std::nullopt;
      }
      case Kind::kList:
        if (returned.size() != list.size()) return wrong();
        return fits_characters(returned, visible) ? std::nullopt : std::optional(wrong());
      default:
        return std::nullopt;
    }
  }

  // "Each element with a visible add that no visible remove observed"; remove-wins: "with a visible
  // add, if for each visible remove there is a visible add that observed it".
  [[nodiscard]] bool is_member(std::uint32_t object, const std::vector<OpId>& visible,
                               const SeenSets& seen) const {
    std::vector<OpId> up, down;
    for (const OpId u : visible) {
      if (rules_.object(h_.ops[u]) == object)
        (h_.ops[u].kind == Kind::kUp ? up : down).push_back(u);
    }
    const auto observed_by = [&](OpId one, const std::vector<OpId>& others) {
      return std::any_of(others.begin(), others.end(),
                         [&](OpId other) { return seen.sees(other, one); });
    };
    if (rules_.for_good) return !up.empty() && down.empty();
    if (rules_.up_wins)
      return std::any_of(up.begin(), up.end(), [&](OpId u) { return !observed_by(u, down); });
    return !up.empty() &&
           std::all_of(down.begin(), down.end(), [&](OpId d) { return observed_by(d, up); });
  }

  [[nodiscard]] bool fits_writes(const Operation& read, const std::set<std::uint32_t>& returned,
                                 const std::vector<OpId>& visible, const SeenSets& seen) const {
    std::map<std::uint32_t, int> values;
    for (const OpId w : visible) {
      if (std::none_of(visible.begin(), visible.end(),
                       [&](OpId other) { return other != w && seen.sees(other, w); }))
        ++values[h_.ops[w].element];
    }
    if (rules_.returns == Returns::kLastWrite)
      return h_.list(read).empty() ? visible.empty() : values.contains(h_.list(read)[0]);
    if (values.size() != returned.size()) return false;
    return std::all_of(values.begin(), values.end(), [&](const auto& value) {
      return returned.contains(value.first) && (value.second == 1 || !strict_);
    });
  }

  [[nodiscard]] bool is_added(std::uint32_t e, const std::vector<OpId>& visible) const {
    return std::any_of(visible.begin(), visible.end(), [&](OpId u) {
      return h_.ops[u].kind == Kind::kInsert && h_.ops[u].element == e;
    });
  }

  [[nodiscard]] bool fits_characters(const std::set<std::uint32_t>& shown,
                                     const std::vector<OpId>& visible) const {
    std::set<std::uint32_t> added, removed;
    for (const OpId u : visible)
      (h_.ops[u].kind == Kind::kInsert ? added : removed).insert(h_.ops[u].element);
    for (const auto e : shown) {
      if (!added.contains(e) ||
          (removed.contains(e) && (!strict_ || rules_.returns == Returns::kListed)))
        return false;
    }
    return std::all_of(added.begin(), added.end(),
                       [&](std::uint32_t e) { return shown.contains(e) || removed.contains(e); });
  }

  [[nodiscard]] std::optional<std::string> last_write(OpId read, const UpdateSet& now,
                                                      const std::vector<std::size_t>& at) const {
    OpId last = kNone;
    for (const OpId w : of_key_[h_.ops[read].key]) {
      if (now[w] && (last == kNone || at[w] > at[last])) last = w;
    }
    const auto list = h_.list(h_.ops[read]);
    if (last == kNone ? list.empty() : !list.empty() && h_.ops[last].element == list[0])
      return std::nullopt;
    return fmt::format("{} did not return the last write that it had seen", h_.text(read));
  }

  const History& h_;
  const Rules& rules_;
  const Json& json_;
  const bool strict_;
  std::string verdict_;
  std::vector<std::vector<OpId>> of_key_;  // updates
};

}  // namespace

Verified check_context(const History& history, const Json& certificate, bool strict) {
  return ContextCheck(history, certificate, strict).run();
}

}  // namespace cupel::crdt
