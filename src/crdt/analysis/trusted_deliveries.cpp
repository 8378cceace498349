// Trusted deliveries: see the header.
#include "crdt/analysis/trusted_deliveries.hpp"

#include <fmt/format.h>

#include <utility>

#include "crdt/analysis/causal_order.hpp"
#include "crdt/model/replicated_type.hpp"
#include "crdt/model/times.hpp"

namespace cupel::crdt {

namespace {

std::optional<base::Error> refuse_without_deliveries(const std::string& file, const History& typed,
                                                     const Context& deliveries,
                                                     const std::string& context) {
  const auto line = deliveries.unknown_outcome_line;
  if (!replicated_type(typed).traits().needs_deliveries) return std::nullopt;
  if (context != "ignored" && context != "checked" && deliveries.is_known()) return std::nullopt;
  return base::Error{
      .message = fmt::format(
          "the type {} is decided only with the deliveries that a history has; found {}, "
          "expected deliver lines (docs/reference/formats/crdt.md#context) and --context trusted",
          name(typed.type),
          deliveries.is_known() ? "--context " + context
          : line != 0 ? "an update of unknown outcome, so that nobody can say who saw what"
                      : "none"),
      .file = file};
}

// Without deliveries cupel judges causal order. So a history that promises less is not judged
// without them, unless they are causal anyway.
std::optional<base::Error> refuse_to_ignore(const std::string& file, const Recording& recording) {
  const History& history = recording.whole();
  const auto& context = history.context;
  const char* const rule = context.rule == DeliveryRule::kFifo ? "fifo" : "applied";
  if (context.rule == DeliveryRule::kCausal) return std::nullopt;
  if (context.unknown_outcome_line != 0) {
    return base::Error{
        .message = fmt::format(
            "found an update of unknown outcome, so that nobody can say who saw what, in a history "
            "with the delivery `{}`. Without its deliveries cupel would go by causal order, which "
            "this delivery does not promise; expected an outcome, ok or fail",
            rule),
        .file = file,
        .line = context.unknown_outcome_line};
  }
  if (!context.is_known()) return std::nullopt;
  const auto known = Visibility::of(history);
  if (!known.ok()) {
    auto error = known.error();
    error.file = file;
    return error;
  }
  const auto early = early_update(history, *known);
  if (!early) return std::nullopt;
  const auto named = [&](OpId id) {
    return fmt::format("{} of replica {} (line {})", recording.text(id),
                       history.replicas[history.ops[id].replica], history.ops[id].line);
  };
  return base::Error{
      .message = fmt::format(
          "--context ignored: found that replica {} saw {} without {}, which replica {} had seen "
          "before. Without its deliveries cupel would go by causal order, which the delivery `{}` "
          "of this history does not promise; leave out --context ignored (after a run with an "
          "adapter, another run without the fault reordering can do with it)",
          history.replicas[early->replica], named(early->update), named(early->missing),
          history.replicas[history.ops[early->update].replica], rule),
      .file = file};
}

// Without deliveries: an error if they are asked for.
std::optional<base::Error> refuse_missing(const std::string& file, std::uint64_t unknown_line,
                                          const std::string& context, std::string& note) {
  if (!context.empty() && unknown_line != 0) {
    return base::Error{.message =
                           "found an update of unknown outcome, so that nobody can say who "
                           "saw what; expected none with --context " +
                           context,
                       .file = file,
                       .line = unknown_line};
  }
  if (!context.empty()) {
    return base::Error{.message = fmt::format("found no deliveries, expected deliver lines with "
                                              "--context {} (docs/reference/formats/crdt.md)",
                                              context),
                       .file = file};
  }
  if (unknown_line != 0) {
    note = fmt::format("{}:{}: an update of unknown outcome; the deliveries are left out", file,
                       unknown_line);
  }
  return std::nullopt;
}

}  // namespace

base::Result<TrustedDeliveries> trusted_deliveries(const std::string& file,
                                                   const Recording& recording,
                                                   const std::string& context) {
  TrustedDeliveries trusted;
  const History& history = recording.whole();
  for (const auto& object : recording.objects) {
    if (auto error = refuse_without_deliveries(file, object.history, history.context, context))
      return std::move(*error);
  }
  if (context == "ignored" || !history.context.is_known()) {
    if (auto error = refuse_to_ignore(file, recording)) return std::move(*error);
  }
  if (context == "ignored") return trusted;
  if (!history.context.is_known()) {
    if (auto error =
            refuse_missing(file, history.context.unknown_outcome_line, context, trusted.note))
      return std::move(*error);
    return trusted;
  }
  auto known = Visibility::of(history);
  if (!known.ok()) {
    auto error = known.error();
    error.file = file;
    return error;
  }
  if (const auto late = late_update(history, *known)) {
    return base::Error{
        .message = fmt::format(
            "found that {} of replica {} had received {} of replica {} (line {}), which was "
            "invoked after it had ended; expected times of one clock, or --clock-drift",
            recording.text(late->op), history.replicas[history.ops[late->op].replica],
            recording.text(late->update), history.replicas[history.ops[late->update].replica],
            history.ops[late->update].line),
        .file = file,
        .line = history.ops[late->op].line};
  }
  trusted.visibility = std::move(known).value();
  return trusted;
}

}  // namespace cupel::crdt
