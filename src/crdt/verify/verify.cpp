// Verify: see the header. The clocks come from the certificate and are checked. For a violation,
// the remaining part of the history is built here and decided in exhaustive_search.cpp.
#include "crdt/verify/verify.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>

#include "base/budget.hpp"
#include "base/text/json.hpp"
#include "crdt/model/recording.hpp"
#include "crdt/model/times.hpp"
#include "crdt/verify/context_check.hpp"
#include "crdt/verify/digest.hpp"
#include "crdt/verify/exhaustive_search.hpp"
#include "crdt/verify/semantics.hpp"

namespace cupel::crdt {

namespace {

using Json = nlohmann::json;

Verified not_valid(std::string verdict, std::string reason) {
  return {CertificateStatus::kNotValid, std::move(verdict), std::move(reason)};
}

// An operation that has seen one which was invoked after it had ended. `at`: the clocks.
std::optional<std::string> seen_too_early(const History& h, const std::vector<std::uint32_t>& at) {
  const std::size_t width = h.replicas.size();
  for (OpId o = 0; o < h.ops.size(); ++o) {
    for (std::size_t j = 0; j < width; ++j) {
      const auto count = at[o * width + j];
      if (count > 0 && is_too_late(h.ops[h.by_replica[j][count - 1]], h.ops[o]))
        return fmt::format("{} was invoked after {} had ended, which has seen it",
                           h.text(h.by_replica[j][count - 1]), h.text(o));
    }
  }
  return std::nullopt;
}

Verified check_witness(const History& h, const Json& certificate, bool strict) {
  const char* const kSatisfied = "satisfied";
  const auto clocks = certificate.find("clocks"), order = certificate.find("order");
  if (clocks == certificate.end() || !clocks->is_array() || clocks->size() != h.ops.size() ||
      order == certificate.end() || !order->is_array() || order->size() != h.ops.size()) {
    return {CertificateStatus::kBadInput, kSatisfied,
            "found no `clocks` and `order` with an entry for each operation"};
  }
  const std::size_t width = h.replicas.size();
  std::vector<std::uint32_t> at(h.ops.size() * width), rank(h.ops.size(), kNone);
  for (std::size_t o = 0; o < h.ops.size(); ++o) {
    const Json& row = (*clocks)[o];
    if (!row.is_array() || row.size() != width)
      return {CertificateStatus::kBadInput, kSatisfied,
              fmt::format("found a clock of operation {} that has not one number a replica", o)};
    for (std::size_t j = 0; j < width; ++j) {
      if (!row[j].is_number_unsigned() || row[j].get<std::uint64_t>() > h.by_replica[j].size())
        return {CertificateStatus::kBadInput, kSatisfied,
                fmt::format("found a clock of operation {} that counts what is not there", o)};
      at[o * width + j] = row[j].get<std::uint32_t>();
    }
    const Json& place = (*order)[o];
    if (!place.is_number_unsigned() || place.get<std::uint64_t>() >= h.ops.size())
      return {CertificateStatus::kBadInput, kSatisfied,
              "found an order that names what is not there"};
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
  if (auto reason = seen_too_early(h, at)) return not_valid(kSatisfied, *reason);
  const bool inserts = std::any_of(h.ops.begin(), h.ops.end(),
                                   [](const Operation& op) { return op.kind == Kind::kInsert; });
  if (rules_of(h.type).returns == Returns::kListed && inserts &&
      !certificate.contains("characters"))
    return {CertificateStatus::kUnknown, kSatisfied, "it has no order of the characters"};
  return check_orders(h, certificate, strict, at);
}

// A certificate of violated: what of the history it rests on, and whether that is enough.
class CoreCheck {
 public:
  CoreCheck(const History& h, bool strict) : h_(h), rules_(rules_of(h.type)), strict_(strict) {}

  Verified run(const Json& certificate) {
    if (auto wrong = read(certificate)) return std::move(*wrong);
    if (has_read_out_of_bounds()) return {CertificateStatus::kValid, kViolated, {}};
    build_part();
    if (auto wrong = check_left_out()) return std::move(*wrong);
    if (auto wrong = check_ancestors()) return std::move(*wrong);
    if (part_.ops.size() > kMostOperations) {
      return {CertificateStatus::kUnknown, kViolated,
              fmt::format("it rests on {} operations, more than the {} whose executions are tried",
                          part_.ops.size(), kMostOperations)};
    }
    const auto admitted = has_execution(part_, strict_);
    if (!admitted)
      return {CertificateStatus::kUnknown, kViolated,
              fmt::format("its {} operations have too many executions to try them all",
                          part_.ops.size())};
    if (*admitted) return not_valid(kViolated, "the operations it names have an execution");
    return {CertificateStatus::kValid, kViolated, {}};
  }

  // The part of these operations and of all elements of their keys. An update may be left out only
  // with all operations of its key, so that the part has the happens-before of the whole.
  std::optional<Verified> take(const std::vector<OpId>& operations, History& part) {
    ops_.insert(operations.begin(), operations.end());
    std::set<std::uint32_t> keys;
    for (const OpId id : ops_) keys.insert(h_.ops[id].key);
    for (std::uint32_t e = 0; e < h_.elements.size(); ++e) {
      if (keys.contains(h_.elements[e].key)) elements_.insert(e);
    }
    for (OpId id = 0; id < h_.ops.size(); ++id) {
      if (is_read(h_.ops[id].kind) || ops_.contains(id) || !keys.contains(h_.ops[id].key)) continue;
      return not_valid(kViolated, fmt::format("operation {}, {}, was left out, and might explain "
                                              "what is there",
                                              id, h_.text(id)));
    }
    build_part();
    if (auto wrong = check_left_out()) return wrong;
    if (auto wrong = check_ancestors()) return wrong;
    part = std::move(part_);
    return std::nullopt;
  }

 private:
  static constexpr const char* kViolated = "violated";

  std::optional<Verified> read(const Json& certificate) {
    if (auto wrong = read_numbers(certificate, "operations", h_.ops.size(), ops_)) return wrong;
    return read_numbers(certificate, "elements", h_.elements.size(), elements_);
  }
  static std::optional<Verified> read_numbers(const Json& certificate, const char* field,
                                              std::size_t most, std::set<std::uint32_t>& into) {
    const auto list = certificate.find(field);
    if (list == certificate.end() || !list->is_array())
      return Verified{CertificateStatus::kBadInput, kViolated,
                      fmt::format("found no array `{}`", field)};
    for (const Json& number : *list) {
      if (!number.is_number_unsigned() || number.get<std::uint64_t>() >= most)
        return Verified{CertificateStatus::kBadInput, kViolated,
                        fmt::format("found {} in `{}`, which is not there", number.dump(), field)};
      into.insert(number.get<std::uint32_t>());
    }
    return std::nullopt;
  }

  // Whatever a read has seen and resets undo, the sum is not above that of all increments of its
  // key, and not below that of all decrements.
  [[nodiscard]] bool has_read_out_of_bounds() const {
    if (rules_.returns != Returns::kSumSinceReset) return false;
    std::vector<std::int64_t> least(h_.keys.size(), 0), most(h_.keys.size(), 0);
    for (const Operation& op : h_.ops) {
      if (is_read(op.kind)) continue;
      (op.amount < 0 ? least : most)[op.key] += op.amount;
    }
    return std::any_of(ops_.begin(), ops_.end(), [&](OpId id) {
      const Operation& op = h_.ops[id];
      return op.kind == Kind::kValue && (op.amount < least[op.key] || op.amount > most[op.key]);
    });
  }

  // What is left of the history.
  void build_part() {
    part_.type = h_.type;
    for (const OpId id : ops_) {
      note_said(id);
      Operation op = h_.ops[id];
      op.replica = part_.replica(h_.replicas[op.replica]);
      op.key = part_.key(h_.keys[op.key]);
      const auto element = [&](std::uint32_t e) {
        return e == kNone
                   ? kNone
                   : part_.element(part_.key(h_.keys[h_.elements[e].key]), h_.elements[e].text);
      };
      std::vector<std::uint32_t> list;
      for (const auto e : h_.list(h_.ops[id])) {
        if (rules_.returns_writes() || elements_.contains(e)) list.push_back(element(e));
      }
      op.element = op.element == kNone || list.empty() ? element(op.element) : list.front();
      op.parent = element(op.parent);
      part_.add(op, list);
    }
  }

  // What a read says of objects, values and keys.
  void note_said(OpId id) {
    const Operation& op = h_.ops[id];
    const auto list = h_.list(op);
    if (is_read(op.kind)) read_keys_.insert(op.key);
    if (op.kind == Kind::kValue && op.amount < 0) keys_below_0_.insert(op.key);
    if (op.kind == Kind::kTest) {
      auto& [no, yes] = says_[rules_.object(op)];
      (op.returned ? yes : no) = true;
    }
    if (op.kind == Kind::kState || op.kind == Kind::kList) {
      const std::set<std::uint32_t> shown(list.begin(), list.end());
      for (const auto e : elements_) {
        if (h_.elements[e].key != op.key) continue;
        auto& [no, yes] = says_[e];
        (shown.contains(e) ? yes : no) = true;
      }
    }
    for (const auto e : list) {
      if (rules_.returns_writes()) returned_.insert({op.key, e});
    }
  }

  [[nodiscard]] bool names_kept(const Operation& op) const {
    return h_.any_changed(op, [&](std::uint32_t e) { return elements_.contains(e); });
  }

  // May the history lose this update without becoming harder to explain?
  [[nodiscard]] bool may_go(const Operation& op) const {
    const auto said = [&](std::uint32_t object) {
      const auto it = says_.find(object);
      return it == says_.end() ? std::pair(false, false) : it->second;
    };
    switch (rules_.returns) {
      default:  // any update of a key that is read may matter
      case Returns::kSum:
      case Returns::kSumSinceReset:
        return !read_keys_.contains(op.key);
      case Returns::kSumNotBelow0:
        return !read_keys_.contains(op.key) || keys_below_0_.contains(op.key);
      case Returns::kMembership:
      case Returns::kLastUpdate: {
        const auto [no, yes] = said(rules_.object(op));
        return !(op.kind == Kind::kUp ? yes : no);
      }
      case Returns::kMaximalWrites:
      case Returns::kLastWrite:
      case Returns::kAnyMaximal:
      case Returns::kGreatest:
        return !returned_.contains({op.key, op.element});
      case Returns::kListed:  // without a remove, more would be shown to an addition
        return !names_kept(op);
      case Returns::kCharacters:
        return !elements_.contains(op.element) ||
               (op.kind != Kind::kInsert && !said(op.element).first);
    }
  }

  std::optional<Verified> check_left_out() const {
    for (OpId id = 0; id < h_.ops.size(); ++id) {
      const auto& op = h_.ops[id];
      if (is_read(op.kind)) continue;
      if (!ops_.contains(id)) {
        if (may_go(op)) continue;
        return not_valid(kViolated,
                         fmt::format("operation {}, {}, was left out, and might explain what is "
                                     "there",
                                     id, h_.text(id)));
      }
      // Whole reads keep `elements` alone, so that another's update would have no effect on them.
      if (rules_.names_elements() && !names_kept(op))
        return not_valid(kViolated, fmt::format("operation {} is there without its element", id));
    }
    return std::nullopt;
  }

  // A character that stays needs all those it comes after.
  std::optional<Verified> check_ancestors() const {
    for (const OpId id : ops_) {
      const auto& op = h_.ops[id];
      if (op.kind != Kind::kInsert) continue;
      bool is_there = op.parent == kNone || elements_.contains(op.parent);
      for (const auto e : h_.changed(op)) {
        if (elements_.contains(e) && !is_there)
          return not_valid(kViolated, "a character is there without the one it was added after");
        is_there = is_there && elements_.contains(e);
      }
    }
    return std::nullopt;
  }

  const History& h_;
  const Rules& rules_;
  const bool strict_;
  std::set<OpId> ops_;
  std::set<std::uint32_t> elements_;
  History part_;
  std::map<std::uint32_t, std::pair<bool, bool>> says_;  // of an object: false, true
  std::set<std::uint32_t> read_keys_, keys_below_0_;
  std::set<std::pair<std::uint32_t, std::uint32_t>> returned_;  // of a key: values
};

// What is certain, whatever the updates did that were left out; else why not.
std::string uncertain(const History& history, const Json& certificate) {
  if (history.unknown_outcome == UnknownOutcome::kOpen || history.absent.empty()) return {};
  if (!certificate.contains("context")) return "it leaves out updates of unknown outcome";
  if (certificate["verdict"] == "satisfied") {
    return history.has_unread() ? "it is about a history without some of its reads" : "";
  }
  if (history.context.rule != DeliveryRule::kApplied)
    return "an update of unknown outcome may have held others back";
  const auto operations = certificate.find("operations");
  if (operations == certificate.end() || !operations->is_array())
    return "it does not name operations";
  const auto keys = history.keys_of_absent();
  for (const Json& id : *operations) {
    if (!id.is_number_unsigned() || id >= history.ops.size()) return "it does not name operations";
    if (keys.contains(history.ops[id.get<OpId>()].key))
      return "it is about the key of an update of unknown outcome";
  }
  return {};
}

}  // namespace

CertificateHead head_of(std::string_view certificate) {
  const base::AllocationWatch::Deferral deferral;  // JSON's destructors allocate
  CertificateHead head;
  if (text::beyond_bounds(certificate)) return head;
  // Without the arrays, which are nearly all of it.
  const auto no_array = [](int /*depth*/, Json::parse_event_t event, Json& /*parsed*/) {
    return event != Json::parse_event_t::array_start;
  };
  const Json json = Json::parse(certificate, no_array, false);
  if (!json.is_object() || !json.contains("cupel_crdt_certificate")) return head;
  if (const auto type = json.find("type"); type != json.end() && type->is_string()) {
    const auto named = type_of(type->get<std::string>());
    if (named) head.type = named->type;
    head.of_named_objects = *type == kNamedObjects;
  }
  if (const auto outcome = json.find("unknown_outcomes"); outcome != json.end()) {
    head.unknown_outcome = std::nullopt;
    for (const auto known : {UnknownOutcome::kAbsent, UnknownOutcome::kAbsentUnread}) {
      if (*outcome == name(known)) head.unknown_outcome = known;
    }
  }
  return head;
}

Verified verify(const History& history, std::string_view certificate) {
  const base::AllocationWatch::Deferral deferral;  // JSON's destructors allocate
  if (auto reason = text::beyond_bounds(certificate))
    return {CertificateStatus::kBadInput, {}, std::move(*reason)};
  return verify_parsed(history, Json::parse(certificate, nullptr, false));
}

std::optional<Verified> wrong_head(const Json& json, std::string_view type, std::uint64_t digest) {
  if (!json.is_object() || !json.contains("cupel_crdt_certificate")) {
    return Verified{CertificateStatus::kBadInput,
                    {},
                    "found no certificate, expected what `cupel crdt check --certificate` writes"};
  }
  if (json["cupel_crdt_certificate"] != 1) {
    return Verified{
        CertificateStatus::kBadInput, {}, "found a certificate of another version, expected 1"};
  }
  const auto verdict = json.find("verdict");
  if (verdict == json.end() || (*verdict != "satisfied" && *verdict != "violated")) {
    return Verified{
        CertificateStatus::kBadInput, {}, "found no `verdict`, expected satisfied or violated"};
  }
  const std::string word = *verdict;
  if (const auto strict = json.find("letter"); strict != json.end() && !strict->is_boolean()) {
    return Verified{CertificateStatus::kBadInput, word,
                    "found a `letter` that is neither true nor false"};
  }
  if (!json.contains("type") || json["type"] != type)
    return not_valid(word, "it is for another type");
  if (!json.contains("history") || json["history"] != fmt::format("{:016x}", digest))
    return not_valid(word, "it is for another history");
  return std::nullopt;
}

std::optional<Verified> take_part(const History& history, bool strict,
                                  const std::vector<OpId>& operations, History& part) {
  return CoreCheck(history, strict).take(operations, part);
}

Verified verify_parsed(const History& history, const Json& json) {
  if (auto wrong = wrong_head(json, name(history.type), digest(history))) return *wrong;
  const std::string word = json["verdict"];
  const bool strict = json.value("letter", false);
  const auto context = json.find("context");
  if (context != json.end() &&
      ((*context != "trusted" && *context != "converged-only") || !history.context.is_known()))
    return not_valid(word, "it takes a context from the history that is not there");
  if (auto wrong = uncertain(history, json); !wrong.empty())
    return not_valid(word, std::move(wrong));
  const Rules& rules = rules_of(history.type);
  if (context == json.end() && rules.needs_deliveries())
    return not_valid(word, fmt::format("it has no context, and a {} is decided with known "
                                       "deliveries only",
                                       name(history.type)));
  auto verified = context != json.end() ? check_context(history, json, strict)
                  : word == "satisfied" ? check_witness(history, json, strict)
                                        : CoreCheck(history, strict).run(json);
  verified.strict = strict;
  verified.by_deliveries = context != json.end();
  verified.converged_only = verified.by_deliveries && *context == "converged-only";
  return verified;
}

}  // namespace cupel::crdt
