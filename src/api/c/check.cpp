// Histories and checks of cupel.h, over check.hpp and the report's text, JSON and pictures.
#include "cupel/check.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "api/c/values.hpp"
#include "api/content.hpp"
#include "cupel/cupel.h"
#include "engine/analysis/analyze.hpp"
#include "engine/analysis/violations.hpp"
#include "engine/certify/verify.hpp"
#include "report/certificate.hpp"
#include "report/figure.hpp"
#include "report/render.hpp"
#include "report/svg.hpp"
#include "report/verification.hpp"

using cupel::Level;
using cupel::c_api::guarded;
using cupel::c_api::scalar;
using cupel::c_api::set_error;
using cupel::c_api::text_of;

struct cupel_builder {
  cupel::HistoryBuilder builder;
  bool spent = false;
};

struct cupel_history {
  cupel::History history;
  std::string file;  // "history" for one that was built
  std::string kind = "transactions";
};

struct cupel_answer {
  cupel::History history;
  std::string file;
  cupel::analysis::Analysis analysis;
  bool with_evidence = false;
  std::int64_t clock_drift_ns = 0;
  cupel::Answer answer = {};
  std::string text = {}, json = {}, svg = {}, certificate = {};

  [[nodiscard]] cupel::report::Checked checked() const {
    return {file, history.content().columns, analysis};
  }
};

namespace {

// Results that belong to no handle live until the next call on the thread.
thread_local std::string verified_text, description;

// One call of the C++ builder.
template <typename Call>
cupel_status build_with(cupel_builder* builder, Call&& call) noexcept {
  if (builder == nullptr || builder->spent) {
    set_error(builder == nullptr ? "no builder was given" : "the builder has built its history");
    return CUPEL_FAILED;
  }
  return guarded(CUPEL_FAILED, [&] {
    call(builder->builder);
    return CUPEL_OK;
  });
}

// None, after set_error(), if a name is no level.
std::optional<std::vector<Level>> levels_of(std::string_view names) {
  std::vector<Level> levels;
  bool more = !names.empty();
  while (more) {
    const auto comma = names.find(',');
    auto name = names.substr(0, comma);
    while (name.starts_with(' ')) name.remove_prefix(1);
    while (name.ends_with(' ')) name.remove_suffix(1);
    const auto level = cupel::parse_level(name);
    if (!level) {
      set_error("found `" + std::string(name) + "`, expected a level, such as serializable");
      return std::nullopt;
    }
    levels.push_back(*level);
    more = comma != std::string_view::npos;
    if (more) names.remove_prefix(comma + 1);
  }
  return levels;
}

std::optional<cupel::CheckOptions> options_of(const cupel_options* given) {
  cupel_options all;
  cupel_options_init(&all, sizeof all);
  if (given != nullptr) {
    // A caller that was compiled with an older header knows fewer fields.
    if (given->size > sizeof all || given->size < offsetof(cupel_options, clock_drift_ns)) {
      set_error(
          "options of a size that this library does not know: begin with cupel_options_init()");
      return std::nullopt;
    }
    std::memcpy(&all, given, given->size);
  }
  auto levels = levels_of(text_of(all.levels));
  if (!levels) return std::nullopt;
  cupel::CheckOptions options;
  options.levels = std::move(*levels);
  options.clock_drift_ns = all.clock_drift_ns;
  if (all.timeout_seconds > 0) options.timeout_seconds = all.timeout_seconds;
  options.memory_limit_bytes = all.memory_limit;
  options.threads = all.threads;
  if (all.shrink_seconds >= 0) options.shrink_seconds = all.shrink_seconds;
  options.history_analysis = all.history_analysis != 0;
  options.evidence = all.evidence != 0;
  return options;
}

const cupel::LevelAnswer* level_at(const cupel_answer* answer, size_t level) {
  if (answer == nullptr || level >= answer->answer.levels.size()) return nullptr;
  return &answer->answer.levels[level];
}
cupel_verdict outer(cupel::Verdict verdict) {
  static constexpr std::array kVerdicts = {CUPEL_SATISFIED, CUPEL_VIOLATED, CUPEL_UNKNOWN,
                                           CUPEL_REFUSED};
  return kVerdicts.at(static_cast<std::size_t>(verdict));
}
const cupel::Anomaly* anomaly_at(const cupel_answer* answer, size_t level, size_t anomaly) {
  const auto* at = level_at(answer, level);
  return at == nullptr || anomaly >= at->anomalies.size() ? nullptr : &at->anomalies[anomaly];
}

}  // namespace

// ---- Histories

cupel_builder* cupel_builder_new(void) {
  return guarded<cupel_builder*>(nullptr, [] { return new cupel_builder; });
}
void cupel_builder_free(cupel_builder* builder) {
  delete builder;
}
cupel_status cupel_builder_transaction(cupel_builder* builder, const char* session) {
  return build_with(builder, [&](auto& to) { to.transaction(text_of(session)); });
}
cupel_status cupel_builder_aborted(cupel_builder* builder) {
  return build_with(builder, [](auto& to) { to.aborted(); });
}
cupel_status cupel_builder_indeterminate(cupel_builder* builder) {
  return build_with(builder, [](auto& to) { to.indeterminate(); });
}
cupel_status cupel_builder_label(cupel_builder* builder, uint32_t label) {
  return build_with(builder, [&](auto& to) { to.label(label); });
}
cupel_status cupel_builder_times(cupel_builder* builder, int64_t invoked_ns, int64_t completed_ns) {
  return build_with(builder, [&](auto& to) { to.times(invoked_ns, completed_ns); });
}
cupel_status cupel_builder_read(cupel_builder* builder, cupel_value key, cupel_value value) {
  return build_with(builder, [&](auto& to) { to.read(scalar(key), scalar(value)); });
}
cupel_status cupel_builder_write(cupel_builder* builder, cupel_value key, cupel_value value) {
  return build_with(builder, [&](auto& to) { to.write(scalar(key), scalar(value)); });
}
cupel_status cupel_builder_erase(cupel_builder* builder, cupel_value key) {
  return build_with(builder, [&](auto& to) { to.erase(scalar(key)); });
}
cupel_status cupel_builder_compare_and_set(cupel_builder* builder, cupel_value key,
                                           cupel_value expected, cupel_value desired,
                                           int succeeded) {
  return build_with(builder, [&](auto& to) {
    to.compare_and_set(scalar(key), scalar(expected), scalar(desired), succeeded != 0);
  });
}
cupel_status cupel_builder_append(cupel_builder* builder, cupel_value list, cupel_value element) {
  return build_with(builder, [&](auto& to) { to.append(scalar(list), scalar(element)); });
}
cupel_status cupel_builder_read_list(cupel_builder* builder, cupel_value list,
                                     const cupel_value* elements, size_t count) {
  return build_with(builder, [&](auto& to) {
    to.read_list(scalar(list), cupel::c_api::scalars(elements, count));
  });
}
cupel_status cupel_builder_initial(cupel_builder* builder, cupel_value value) {
  return build_with(builder, [&](auto& to) { to.initial(scalar(value)); });
}
cupel_status cupel_builder_initial_of(cupel_builder* builder, cupel_value key, cupel_value value) {
  return build_with(builder, [&](auto& to) { to.initial(scalar(key), scalar(value)); });
}
cupel_history* cupel_builder_build(cupel_builder* builder) {
  std::string error;
  std::optional<cupel::History> built;
  if (build_with(builder, [&](auto& to) { built = to.build(error); }) != CUPEL_OK) return nullptr;
  builder->spent = true;
  if (!built) set_error(error);
  return guarded<cupel_history*>(nullptr, [&] {
    return built ? new cupel_history{std::move(*built), "history"} : nullptr;
  });
}

cupel_history* cupel_history_read(const char* path, const char* format) {
  return cupel_history_read_as(path, format, nullptr, nullptr);
}
cupel_history* cupel_history_read_as(const char* path, const char* format, const char* kind,
                                     const char* ignore) {
  return guarded<cupel_history*>(nullptr, [&]() -> cupel_history* {
    std::string error;
    auto read = cupel::read_history(std::string(text_of(path)), error,
                                    {.format = std::string(text_of(format)),
                                     .kind = std::string(text_of(kind)),
                                     .ignore = {std::string(text_of(ignore))}});
    if (!read) {
      set_error(error);
      return nullptr;
    }
    auto how = read->kind();
    return new cupel_history{std::move(*read), std::string(text_of(path)), std::move(how)};
  });
}
const char* cupel_history_kind(const cupel_history* history) {
  return history == nullptr ? nullptr : history->kind.c_str();
}
cupel_status cupel_history_write(const cupel_history* history, const char* path,
                                 const char* format) {
  return guarded(CUPEL_FAILED, [&] {
    std::string error = "no history was given";
    if (history != nullptr && cupel::write_history(history->history, std::string(text_of(path)),
                                                   text_of(format), error)) {
      return CUPEL_OK;
    }
    set_error(error);
    return CUPEL_FAILED;
  });
}
uint64_t cupel_history_transactions(const cupel_history* history) {
  return history == nullptr ? 0 : history->history.transaction_count();
}
uint64_t cupel_history_sessions(const cupel_history* history) {
  return history == nullptr ? 0 : history->history.session_count();
}
uint64_t cupel_history_operations(const cupel_history* history) {
  return history == nullptr ? 0 : history->history.operation_count();
}
void cupel_history_free(cupel_history* history) {
  delete history;
}

// ---- Checks

void cupel_options_init(cupel_options* options, size_t size) {
  const cupel_options all = {size, nullptr, 0, 0, 0, 0, -1, 0, 0};
  std::memcpy(options, &all, std::min(size, sizeof all));
}

cupel_answer* cupel_check(const cupel_history* history, const cupel_options* options) {
  return guarded<cupel_answer*>(nullptr, [&]() -> cupel_answer* {
    if (history == nullptr) set_error("no history was given");
    const auto inside = history == nullptr ? std::nullopt : options_of(options);
    if (!inside) return nullptr;
    auto answer = std::make_unique<cupel_answer>(
        cupel_answer{history->history, history->file, cupel::analyze(history->history, *inside),
                     inside->evidence, inside->clock_drift_ns});
    answer->answer = cupel::answer_of(answer->history, answer->analysis);
    answer->text = cupel::report::ladder(answer->checked());
    answer->json = cupel::report::json(answer->checked());
    return answer.release();
  });
}
void cupel_answer_free(cupel_answer* answer) {
  delete answer;
}
const char* cupel_answer_text(const cupel_answer* answer) {
  return answer == nullptr ? nullptr : answer->text.c_str();
}
const char* cupel_answer_json(const cupel_answer* answer) {
  return answer == nullptr ? nullptr : answer->json.c_str();
}
size_t cupel_answer_level_count(const cupel_answer* answer) {
  return answer == nullptr ? 0 : answer->answer.levels.size();
}
const char* cupel_answer_level(const cupel_answer* answer, size_t level) {
  const auto* at = level_at(answer, level);
  return at == nullptr ? nullptr : cupel::name(at->level).data();  // a literal
}
cupel_verdict cupel_answer_verdict(const cupel_answer* answer, size_t level) {
  const auto* at = level_at(answer, level);
  return at == nullptr ? CUPEL_REFUSED : outer(at->verdict);
}
const char* cupel_answer_detail(const cupel_answer* answer, size_t level) {
  const auto* at = level_at(answer, level);
  return at == nullptr ? nullptr : at->detail.c_str();
}
cupel_verdict cupel_answer_durable(const cupel_answer* answer) {
  return answer == nullptr ? CUPEL_REFUSED : outer(answer->answer.durable);
}
const char* cupel_answer_durable_detail(const cupel_answer* answer) {
  return answer == nullptr ? nullptr : answer->answer.durable_detail.c_str();
}
size_t cupel_answer_anomaly_count(const cupel_answer* answer, size_t level) {
  const auto* at = level_at(answer, level);
  return at == nullptr ? 0 : at->anomalies.size();
}
const char* cupel_answer_anomaly(const cupel_answer* answer, size_t level, size_t anomaly) {
  const auto* at = anomaly_at(answer, level, anomaly);
  return at == nullptr ? nullptr : at->name.c_str();
}
const char* cupel_answer_explanation(const cupel_answer* answer, size_t level, size_t anomaly) {
  const auto* at = anomaly_at(answer, level, anomaly);
  return at == nullptr ? nullptr : at->explanation.c_str();
}

const char* cupel_answer_svg(cupel_answer* answer) {
  return guarded<const char*>(nullptr, [&]() -> const char* {
    if (answer != nullptr && !answer->svg.empty()) return answer->svg.c_str();
    if (answer == nullptr) {
      set_error("no answer was given");
      return nullptr;
    }
    const auto violations =
        cupel::analysis::violations_of(answer->history.content().columns, answer->analysis, 1);
    if (violations.shown.empty()) {
      set_error("nothing is violated, so there is no picture");
      return nullptr;
    }
    answer->svg = cupel::report::svg(
        cupel::report::figure_of(violations.shown.front(), answer->analysis.fields));
    return answer->svg.c_str();
  });
}

const char* cupel_answer_certificate(cupel_answer* answer) {
  return guarded<const char*>(nullptr, [&]() -> const char* {
    if (answer != nullptr && !answer->certificate.empty()) return answer->certificate.c_str();
    if (answer == nullptr || !answer->with_evidence) {
      set_error(answer == nullptr ? "no answer was given"
                                  : "the check kept no evidence: its options had no `evidence`");
      return nullptr;
    }
    auto made = cupel::report::certificate(answer->history.content().columns,
                                           answer->analysis.check, answer->clock_drift_ns);
    if (!made.missing.empty()) {
      set_error(std::string(cupel::name(static_cast<Level>(made.missing.front()))) +
                " is not in the certificate: a limit was met while its evidence was put together");
      return nullptr;
    }
    answer->certificate = std::move(made.json);
    return answer->certificate.c_str();
  });
}

const char* cupel_verify(const cupel_history* history, const char* certificate,
                         int64_t clock_drift_ns) {
  return guarded<const char*>(nullptr, [&]() -> const char* {
    if (history == nullptr) {
      set_error("no history was given");
      return nullptr;
    }
    if (clock_drift_ns < 0 || clock_drift_ns > cupel::kMostClockDriftNs) {
      set_error("found a clock drift of " + std::to_string(clock_drift_ns) +
                " ns, expected 0 to thirty years");
      return nullptr;
    }
    const auto report = cupel::certify::verify_answers(history->history.content().columns,
                                                       text_of(certificate), clock_drift_ns);
    if (report.validity == cupel::certify::Validity::kBadInput) {
      set_error(report.reason);
      return nullptr;
    }
    verified_text =
        cupel::report::verification_json({history->file, "certificate", report, clock_drift_ns});
    return verified_text.c_str();
  });
}

const char* cupel_level_name(const char* name) {
  return guarded<const char*>(nullptr, [&]() -> const char* {
    const auto level = cupel::parse_level(text_of(name));
    if (level) return cupel::name(*level).data();  // of a literal, so it ends with a zero
    set_error("found `" + std::string(text_of(name)) + "`, expected a level, such as serializable");
    return nullptr;
  });
}

const char* cupel_describe(const char* name) {
  return guarded<const char*>(nullptr, [&]() -> const char* {
    description = cupel::describe(text_of(name));
    if (description.empty())
      set_error("found `" + std::string(text_of(name)) +
                "`, which is neither a level nor an anomaly");
    return description.empty() ? nullptr : description.c_str();
  });
}
