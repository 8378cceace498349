// Verify a certificate of a recording: see the header.
#include "crdt/verify/verify_recording.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>
#include <vector>

#include "base/budget.hpp"
#include "base/text/json.hpp"
#include "crdt/model/times.hpp"
#include "crdt/verify/digest.hpp"
#include "crdt/verify/exhaustive_search.hpp"
#include "crdt/verify/seen_updates.hpp"
#include "crdt/verify/semantics.hpp"

namespace cupel::crdt {

namespace {

using Json = nlohmann::json;

// The objects' deliver lines by what the verifier says that the replicas had seen. False: the lines
// contradict each other.
bool deliver_as_seen(Recording& recording) {
  SeenUpdates seen(recording.combined);
  if (!seen.run()) return false;
  for (ObjectHistory& object : recording.objects) {
    History& h = object.history;
    h.context = {};
    h.context.rule = recording.combined.context.rule;
    h.context.receptions.reserve(h.ops.size());
  }
  for (std::uint32_t r = 0; r < recording.combined.replicas.size(); ++r) {
    const auto log = seen.log(r);
    std::vector<std::vector<OpId>> arrived(recording.objects.size());
    std::size_t next = 0;
    for (const OpId id : recording.combined.by_replica[r]) {
      for (; next < log.size() && log[next].place <= recording.combined.ops[id].seq; ++next) {
        const OpId update = log[next].update;
        const auto [object, op] = recording.place[update];
        if (recording.combined.ops[update].replica != r) arrived[object].push_back(op);
      }
      const auto [object, op] = recording.place[id];
      auto& news = arrived[object];
      if (news.empty()) continue;
      std::sort(news.begin(), news.end());
      History& h = recording.objects[object].history;
      Reception reception{.replica = h.ops[op].replica, .seq = h.ops[op].seq};
      reception.begin = static_cast<std::uint32_t>(h.context.named.size());
      for (const OpId update : news) h.context.named.push_back({.of = update});
      reception.end = static_cast<std::uint32_t>(h.context.named.size());
      h.context.receptions.push_back(reception);
      news.clear();
    }
  }
  for (ObjectHistory& object : recording.objects) {
    if (object.history.replicas.empty()) object.history.replica("0");  // it has no operations
    if (object.history.context.receptions.empty())
      object.history.context.receptions.push_back(Reception{});
  }
  return true;
}

// Joins the clocks of the objects along the replicas. They are those of valid certificates.
class JoinedClocks {
 public:
  JoinedClocks(const Recording& recording, const std::vector<const Json*>& clocks)
      : recording_(recording),
        clocks_(clocks),
        width_(recording.combined.replicas.size()),
        at_(recording.combined.ops.size() * width_, 0),
        done_(width_, 0) {}

  // What is wrong; empty: they are those of one happens-before.
  std::string wrong() {
    const History& whole = recording_.combined;
    std::size_t left = whole.ops.size();
    for (bool again = true; again;) {
      again = false;
      for (std::uint32_t r = 0; r < width_; ++r) {
        for (; done_[r] < whole.by_replica[r].size(); --left, again = true) {
          const OpId id = whole.by_replica[r][done_[r]];
          if (!can_execute(id)) break;
          execute(id);
          ++done_[r];
          if (auto more = sees_more(id); !more.empty()) return more;
        }
      }
    }
    return left == 0 ? "" : "the clocks of its objects contradict each other";
  }

 private:
  // The last operation of each replica that it has seen of its object.
  template <typename Take>
  void seen_of_object(OpId id, Take take) const {
    const auto [object, op] = recording_.place[id];
    if (object == kNone) return;
    const History& h = recording_.objects[object].history;
    const Json& row = (*clocks_[object])[op];
    for (std::uint32_t j = 0; j < h.replicas.size(); ++j) {
      const auto count = row[j].get<std::uint32_t>();
      if (count > 0) take(recording_.objects[object].origin[h.by_replica[j][count - 1]]);
    }
  }

  bool can_execute(OpId id) const {
    bool can = true;
    seen_of_object(id, [&](OpId seen) {
      const Operation& op = recording_.combined.ops[seen];
      can = can && op.seq < done_[op.replica];
    });
    return can;
  }

  void execute(OpId id) {
    const auto& own = recording_.combined.ops[id];
    if (own.seq > 0) join(id, recording_.combined.by_replica[own.replica][own.seq - 1]);
    seen_of_object(id, [&](OpId seen) { join(id, seen); });
  }

  void join(OpId id, OpId seen) {
    const Operation& from = recording_.combined.ops[seen];
    for (std::size_t j = 0; j < width_; ++j)
      at_[id * width_ + j] = std::max(at_[id * width_ + j], at_[seen * width_ + j]);
    auto& count = at_[id * width_ + from.replica];
    count = std::max(count, from.seq + 1);
  }

  std::string sees_more(OpId id) const {
    const History& whole = recording_.combined;
    for (std::uint32_t j = 0; j < width_; ++j) {
      const auto count = at_[id * width_ + j];
      if (count == 0) continue;
      if (is_too_late(whole.ops[whole.by_replica[j][count - 1]], whole.ops[id]))
        return fmt::format("operation {} has seen one that was invoked after it had ended", id);
    }
    const auto [object, op] = recording_.place[id];
    if (object == kNone) return {};
    const ObjectHistory& its = recording_.objects[object];
    for (std::uint32_t j = 0; j < its.history.replicas.size(); ++j) {
      const auto said = (*clocks_[object])[op][j].get<std::uint32_t>();
      const auto& line = its.history.by_replica[j];
      if (said >= line.size()) continue;
      const Operation& next = whole.ops[its.origin[line[said]]];
      if (next.seq < at_[id * width_ + next.replica]) {
        return fmt::format(
            "operation {} has seen more of the object {} than its certificate says, by what was "
            "seen of other objects",
            id, its.name);
      }
    }
    return {};
  }

  const Recording& recording_;
  const std::vector<const Json*>& clocks_;  // by object
  const std::size_t width_;
  std::vector<std::uint32_t> at_;  // by operation and replica
  std::vector<std::uint32_t> done_;
};

// The certificates by object; null: it has none. An error is the sentence.
base::Result<std::vector<const Json*>> certificates_of(const Recording& recording,
                                                       const Json& certificate) {
  std::vector<const Json*> of(recording.objects.size(), nullptr);
  const auto objects = certificate.find("objects");
  if (objects == certificate.end() || !objects->is_array())
    return base::Error{.message = "it has no `objects`"};
  for (const Json& one : *objects) {
    if (!one.is_object() || !one.contains("object") || !one.contains("certificate") ||
        !one["certificate"].is_object())
      return base::Error{.message = "one of its `objects` has no `object` or no `certificate`"};
    const auto named = text::dump(one["object"]);
    const auto its =
        std::find_if(recording.objects.begin(), recording.objects.end(),
                     [&](const ObjectHistory& object) { return object.name == named; });
    if (its == recording.objects.end())
      return base::Error{.message = "the history has no object " + named};
    auto& there = of[static_cast<std::size_t>(its - recording.objects.begin())];
    if (there != nullptr)
      return base::Error{.message = "it has two certificates of the object " + named};
    there = &one["certificate"];
  }
  return of;
}

class ObjectsCheck {
 public:
  ObjectsCheck(Recording& recording, const Json& certificate)
      : recording_(recording),
        certificate_(certificate),
        verdict_(certificate["verdict"]),
        strict_(certificate.value("letter", false)) {}

  Verified run() {
    const auto of = certificates_of(recording_, certificate_);
    if (!of.ok()) return result(CertificateStatus::kNotValid, of.error().message);
    const auto any = std::find_if(of->begin(), of->end(), [](auto* one) { return one != nullptr; });
    if (any == of->end() && verdict_ == "violated" && certificate_.contains("together")) {
      return check_together();
    }
    if (any == of->end()) return result(CertificateStatus::kNotValid, "it has no `objects`");
    context_ = (*any)->value("context", Json());
    by_context_ = !context_.is_null();
    if (by_context_ && (!recording_.combined.context.is_known() || !deliver_as_seen(recording_))) {
      return result(CertificateStatus::kNotValid,
                    "it takes a context from the history that is not there");
    }
    std::size_t valid = 0;
    for (std::size_t o = 0; o < of->size(); ++o) {
      const Json* const one = (*of)[o];
      if (one == nullptr) continue;
      if (auto wrong = check_one(o, *one)) return *wrong;
      ++valid;
    }
    if (verdict_ == "violated") return result(CertificateStatus::kValid, "");
    if (valid < of->size())
      return result(CertificateStatus::kNotValid, "it lacks a certificate of some object");
    if (by_context_) return result(CertificateStatus::kValid, "");
    std::vector<const Json*> clocks;
    for (const Json* one : *of) clocks.push_back(&(*one)["clocks"]);
    auto wrong = JoinedClocks(recording_, clocks).wrong();
    return wrong.empty() ? result(CertificateStatus::kValid, "")
                         : result(CertificateStatus::kNotValid, std::move(wrong));
  }

 private:
  [[nodiscard]] Verified result(CertificateStatus status, std::string reason) const {
    return {.status = status,
            .verdict = verdict_,
            .reason = std::move(reason),
            .strict = strict_,
            .by_deliveries = by_context_,
            .converged_only = context_ == "converged-only"};
  }

  // No object is violated alone: these operations of several have no common happens-before.
  Verified check_together() const {
    const History& whole = recording_.combined;
    const auto is_certain = [](const History& h) {
      return h.unknown_outcome == UnknownOutcome::kOpen || h.absent.empty();
    };
    std::set<OpId> ids;
    for (const Json& number : certificate_["together"]) {
      if (!number.is_number_unsigned() || number.get<std::uint64_t>() >= whole.ops.size() ||
          recording_.place[number.get<OpId>()].object == kNone) {
        return result(CertificateStatus::kBadInput,
                      "found an entry of `together` that is no operation of an object");
      }
      ids.insert(number.get<OpId>());
    }
    if (!is_certain(whole))
      return result(CertificateStatus::kNotValid, "it leaves out updates of unknown outcome");
    if (ids.size() > kMostOperations) {
      return result(CertificateStatus::kUnknown,
                    fmt::format("it rests on {} operations, more than the {} whose executions are "
                                "tried",
                                ids.size(), kMostOperations));
    }
    History combined;
    std::vector<OpId> number(whole.ops.size(), kNone);
    std::vector<std::vector<OpId>> own(recording_.objects.size());
    for (const OpId id : ids) {
      Operation op = whole.ops[id];
      op.replica = combined.replica(whole.replicas[op.replica]);
      number[id] = combined.add(op);
      own[recording_.place[id].object].push_back(recording_.place[id].op);
    }
    std::vector<History> parts(own.size());
    std::vector<SharedObject> shared;
    for (std::size_t o = 0; o < own.size(); ++o) {
      if (own[o].empty()) continue;
      const auto& object = recording_.objects[o];
      if (!is_certain(object.history) || rules_of(object.history.type).needs_deliveries())
        return result(CertificateStatus::kNotValid,
                      fmt::format("the object {} is decided by deliveries only", object.name));
      if (auto wrong = take_part(object.history, strict_, own[o], parts[o]))
        return result(wrong->status,
                      fmt::format("of the object {}: {}", object.name, wrong->reason));
      std::sort(own[o].begin(), own[o].end());
      for (OpId& op : own[o]) op = number[object.origin[op]];
      shared.push_back({parts[o], own[o]});
    }
    const auto admitted = have_execution(combined, shared, strict_);
    if (!admitted) {
      return result(
          CertificateStatus::kUnknown,
          fmt::format("its {} operations have too many executions to try them all", ids.size()));
    }
    return *admitted ? result(CertificateStatus::kNotValid,
                              "the operations it names have a common happens-before")
                     : result(CertificateStatus::kValid, "");
  }

  std::optional<Verified> check_one(std::size_t object, const Json& one) const {
    const auto named = [&](const std::string& reason) {
      return fmt::format("of the object {}: {}", recording_.objects[object].name, reason);
    };
    const auto found = verify_parsed(recording_.objects[object].history, one);
    if (found.status != CertificateStatus::kValid) {
      const bool unknown = found.status == CertificateStatus::kUnknown;
      return result(unknown ? CertificateStatus::kUnknown : CertificateStatus::kNotValid,
                    named(found.reason));
    }
    if (found.verdict != verdict_ || found.strict != strict_)
      return result(CertificateStatus::kNotValid, named("it has another verdict or other axioms"));
    if (one.value("context", Json()) != context_)
      return result(CertificateStatus::kNotValid, named("it differs in the use of deliveries"));
    return std::nullopt;
  }

  Recording& recording_;
  const Json& certificate_;
  const std::string verdict_;
  const bool strict_;
  Json context_;  // of its objects; null: they have none
  bool by_context_ = false;
};

}  // namespace

Verified verify(Recording& recording, std::string_view certificate) {
  if (!recording.is_named()) return verify(recording.whole(), certificate);
  const base::AllocationWatch::Deferral deferral;  // JSON's destructors allocate
  if (auto reason = text::beyond_bounds(certificate))
    return {CertificateStatus::kBadInput, {}, std::move(*reason)};
  const Json parsed = Json::parse(certificate, nullptr, false);
  if (auto wrong = wrong_head(parsed, kNamedObjects, digest(recording))) return *wrong;
  return ObjectsCheck(recording, parsed).run();
}

}  // namespace cupel::crdt
