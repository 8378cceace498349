// Verify mixed: see the header.
#include "crdt/verify/verify_mixed.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/budget.hpp"
#include "crdt/model/times.hpp"
#include "crdt/verify/digest.hpp"
#include "crdt/verify/seen_updates.hpp"
#include "text/json.hpp"

namespace cupel::crdt {

namespace {

using Json = nlohmann::json;

// The objects' deliver lines by what the verifier says that the replicas had seen. False: the lines
// contradict each other.
bool deliver_as_seen(MixedHistory& history) {
  SeenUpdates seen(history.whole);
  if (!seen.run()) return false;
  for (MixedObject& object : history.objects) {
    History& h = object.history;
    h.context = {};
    h.context.rule = history.whole.context.rule;
    h.context.receptions.reserve(h.ops.size());
  }
  for (std::uint32_t r = 0; r < history.whole.replicas.size(); ++r) {
    const auto log = seen.log(r);
    std::vector<std::vector<OpId>> arrived(history.objects.size());
    std::size_t next = 0;
    for (const OpId id : history.whole.by_replica[r]) {
      for (; next < log.size() && log[next].place <= history.whole.ops[id].seq; ++next) {
        const OpId update = log[next].update;
        const auto [object, op] = history.place[update];
        if (history.whole.ops[update].replica != r) arrived[object].push_back(op);
      }
      const auto [object, op] = history.place[id];
      auto& news = arrived[object];
      if (news.empty()) continue;
      std::sort(news.begin(), news.end());
      History& h = history.objects[object].history;
      Reception reception{.replica = h.ops[op].replica, .seq = h.ops[op].seq};
      reception.begin = static_cast<std::uint32_t>(h.context.named.size());
      for (const OpId update : news) h.context.named.push_back({.of = update});
      reception.end = static_cast<std::uint32_t>(h.context.named.size());
      h.context.receptions.push_back(reception);
      news.clear();
    }
  }
  for (MixedObject& object : history.objects) {
    if (object.history.replicas.empty()) object.history.replica("0");  // it has no operations
    if (object.history.context.receptions.empty())
      object.history.context.receptions.push_back(Reception{});
  }
  return true;
}

// Joins the clocks of the objects along the replicas. They are those of valid certificates.
class JoinedClocks {
 public:
  JoinedClocks(const MixedHistory& history, const std::vector<const Json*>& clocks)
      : history_(history),
        clocks_(clocks),
        width_(history.whole.replicas.size()),
        at_(history.whole.ops.size() * width_, 0),
        done_(width_, 0) {}

  // What is wrong; empty: they are those of one happens-before.
  std::string wrong() {
    const History& whole = history_.whole;
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
    const auto [object, op] = history_.place[id];
    if (object == kNone) return;
    const History& h = history_.objects[object].history;
    const Json& row = (*clocks_[object])[op];
    for (std::uint32_t j = 0; j < h.replicas.size(); ++j) {
      const auto count = row[j].get<std::uint32_t>();
      if (count > 0) take(history_.objects[object].origin[h.by_replica[j][count - 1]]);
    }
  }

  bool can_execute(OpId id) const {
    bool can = true;
    seen_of_object(id, [&](OpId seen) {
      const Operation& op = history_.whole.ops[seen];
      can = can && op.seq < done_[op.replica];
    });
    return can;
  }

  void execute(OpId id) {
    const auto& own = history_.whole.ops[id];
    if (own.seq > 0) join(id, history_.whole.by_replica[own.replica][own.seq - 1]);
    seen_of_object(id, [&](OpId seen) { join(id, seen); });
  }

  void join(OpId id, OpId seen) {
    const Operation& from = history_.whole.ops[seen];
    for (std::size_t j = 0; j < width_; ++j)
      at_[id * width_ + j] = std::max(at_[id * width_ + j], at_[seen * width_ + j]);
    auto& count = at_[id * width_ + from.replica];
    count = std::max(count, from.seq + 1);
  }

  std::string sees_more(OpId id) const {
    const History& whole = history_.whole;
    for (std::uint32_t j = 0; j < width_; ++j) {
      const auto count = at_[id * width_ + j];
      if (count == 0) continue;
      if (is_too_late(whole.ops[whole.by_replica[j][count - 1]], whole.ops[id]))
        return fmt::format("operation {} has seen one that was invoked after it had ended", id);
    }
    const auto [object, op] = history_.place[id];
    if (object == kNone) return {};
    const MixedObject& its = history_.objects[object];
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

  const MixedHistory& history_;
  const std::vector<const Json*>& clocks_;  // by object
  const std::size_t width_;
  std::vector<std::uint32_t> at_;  // by operation and replica
  std::vector<std::uint32_t> done_;
};

// The certificates by object; null: it has none. An error is the sentence.
base::Result<std::vector<const Json*>> certificates_of(const MixedHistory& history,
                                                       const Json& certificate) {
  std::vector<const Json*> of(history.objects.size(), nullptr);
  const auto objects = certificate.find("objects");
  if (objects == certificate.end() || !objects->is_array())
    return base::Error{.message = "it has no `objects`"};
  for (const Json& one : *objects) {
    if (!one.is_object() || !one.contains("object") || !one.contains("certificate") ||
        !one["certificate"].is_object())
      return base::Error{.message = "one of its `objects` has no `object` or no `certificate`"};
    const auto named = text::dump(one["object"]);
    const auto its = std::find_if(history.objects.begin(), history.objects.end(),
                                  [&](const MixedObject& object) { return object.name == named; });
    if (its == history.objects.end())
      return base::Error{.message = "the history has no object " + named};
    auto& there = of[static_cast<std::size_t>(its - history.objects.begin())];
    if (there != nullptr)
      return base::Error{.message = "it has two certificates of the object " + named};
    there = &one["certificate"];
  }
  return of;
}

class MixedCheck {
 public:
  MixedCheck(MixedHistory& history, const Json& certificate)
      : history_(history),
        certificate_(certificate),
        verdict_(certificate["verdict"]),
        strict_(certificate.value("letter", false)) {}

  Verified run() {
    const auto of = certificates_of(history_, certificate_);
    if (!of.ok()) return result(CertificateStatus::kNotValid, of.error().message);
    const auto any = std::find_if(of->begin(), of->end(), [](auto* one) { return one != nullptr; });
    if (any == of->end() && verdict_ == "violated" && certificate_.contains("together")) {
      return result(CertificateStatus::kUnknown,
                    "no object is violated alone, and the verifier does not search for a "
                    "happens-before of several objects");
    }
    if (any == of->end()) return result(CertificateStatus::kNotValid, "it has no `objects`");
    context_ = (*any)->value("context", Json());
    by_context_ = !context_.is_null();
    if (by_context_ && (!history_.whole.context.is_known() || !deliver_as_seen(history_))) {
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
    auto wrong = JoinedClocks(history_, clocks).wrong();
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

  std::optional<Verified> check_one(std::size_t object, const Json& one) const {
    const auto named = [&](const std::string& reason) {
      return fmt::format("of the object {}: {}", history_.objects[object].name, reason);
    };
    const auto found = verify_parsed(history_.objects[object].history, one);
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

  MixedHistory& history_;
  const Json& certificate_;
  const std::string verdict_;
  const bool strict_;
  Json context_;  // of its objects; null: they have none
  bool by_context_ = false;
};

}  // namespace

bool is_mixed_certificate(std::string_view certificate) {
  const base::AllocationWatch::Deferral deferral;  // JSON's destructors allocate
  if (text::beyond_bounds(certificate)) return false;
  const auto no_array = [](int /*depth*/, Json::parse_event_t event, Json& /*parsed*/) {
    return event != Json::parse_event_t::array_start;
  };
  const Json parsed = Json::parse(certificate, no_array, false);
  return parsed.is_object() && parsed.contains("cupel_crdt_certificate") &&
         parsed.contains("type") && parsed["type"] == kMixedType;
}

Verified verify_mixed(MixedHistory& history, std::string_view certificate) {
  const base::AllocationWatch::Deferral deferral;  // JSON's destructors allocate
  if (auto reason = text::beyond_bounds(certificate))
    return {CertificateStatus::kBadInput, {}, std::move(*reason)};
  const Json parsed = Json::parse(certificate, nullptr, false);
  if (auto wrong = wrong_head(parsed, kMixedType, digest(history))) return *wrong;
  return MixedCheck(history, parsed).run();
}

}  // namespace cupel::crdt
