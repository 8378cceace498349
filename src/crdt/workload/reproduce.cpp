// Reproduce: see the header.
#include "crdt/workload/reproduce.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <optional>
#include <set>
#include <utility>

#include "base/budget.hpp"
#include "base/leave_out.hpp"
#include "base/process.hpp"
#include "base/text/excerpt.hpp"
#include "base/text/json.hpp"

namespace cupel::crdt {

namespace {

using Json = nlohmann::json;
using Steps = std::vector<AdapterStep>;
using Clock = std::chrono::steady_clock;

class Shrinker {
 public:
  Shrinker(Adapter& adapter, AdapterRunOptions options, const AdapterRecorded& recorded,
           const CheckRun& check, double seconds)
      : adapter_(adapter),
        options_(std::move(options)),
        names_(recorded.names),
        check_(check),
        end_(Clock::now() +
             std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds))) {
    options_.keep_steps = true;
  }

  base::Result<Reproduction> run(const Steps& all) {
    if (!is_wrong(all)) {
      if (failure_) return *failure_;
      return base::Error{.message =
                             "the same requests do not go wrong again, so there is no script; the "
                             "library may depend on time or chance"};
    }
    keep_explained();
    drop_replicas();
    while (drop_parts() && has_time()) {
    }
    number_replicas();
    return written();
  }

 private:
  [[nodiscard]] bool has_time() const { return Clock::now() < end_; }

  // Then these are the best steps, as far as they were done.
  bool is_wrong(const Steps& steps) { return is_wrong(steps, options_); }
  bool is_wrong(const Steps& steps, const AdapterRunOptions& options) {
    ++replays_;
    auto done = replay(adapter_, options, steps, names_);
    if (!done.ok()) {
      failure_ = done.error();
      return false;
    }
    if (!check_(*done, /*explain=*/false)) return false;
    best_ = std::move(*done);
    options_ = options;
    return true;
  }

  void keep_explained() {
    const auto wrong = check_(best_, /*explain=*/true);
    if (!wrong || wrong->lines.empty()) return;
    const std::set<std::uint64_t> needed(wrong->lines.begin(), wrong->lines.end());
    Steps some;
    for (const auto& step : best_.steps) {
      if (step.kind != AdapterStep::Kind::kOperation || needed.contains(step.line))
        some.push_back(step);
    }
    is_wrong(some);
  }

  void drop_replicas() {
    for (std::uint32_t r = 0; r < options_.replicas && has_time(); ++r) {
      Steps some;
      for (const auto& step : best_.steps) {
        if (step.replica != r && (!has_other(step) || step.other != r)) some.push_back(step);
      }
      if (some.size() < best_.steps.size()) is_wrong(some);
    }
  }

  static bool has_other(const AdapterStep& step) {
    return step.kind == AdapterStep::Kind::kSync || step.kind == AdapterStep::Kind::kJoin;
  }

  // True: some was dropped when parts had one step.
  bool drop_parts() {
    // From the end on, because what is there depends on what is in front.
    return base::leave_out(
        {.first = std::max<std::size_t>(1, best_.steps.size() / 2)},
        [&] { return best_.steps.size(); },
        [&](std::size_t from_end, std::size_t until) -> std::optional<std::size_t> {
          const auto begin = best_.steps.size() - until;
          if (!is_wrong(base::without_range(best_.steps, begin, best_.steps.size() - from_end)))
            return std::nullopt;
          return best_.steps.size() - std::min(begin, best_.steps.size());
        },
        [&] { return has_time(); });
  }

  // From 0 on, in their order, so that the others need not be opened.
  void number_replicas() {
    std::set<std::uint32_t> used;
    for (const auto& step : best_.steps) {
      used.insert(step.replica);
      if (has_other(step)) used.insert(step.other);
    }
    if (used.size() == options_.replicas) return;
    const auto number = [&](std::uint32_t replica) {
      return static_cast<std::uint32_t>(std::distance(used.begin(), used.find(replica)));
    };
    Steps renamed = best_.steps;
    for (auto& step : renamed) {
      step.replica = number(step.replica);
      if (has_other(step)) step.other = number(step.other);
    }
    auto options = options_;
    options.replicas = static_cast<std::uint32_t>(used.size());
    is_wrong(renamed, options);
  }

  // Those that are left.
  [[nodiscard]] std::string objects_of(const Steps& steps) const {
    std::string names;
    for (std::size_t o = 0; o < options_.objects.size(); ++o) {
      const auto is_of = [&](const AdapterStep& step) {
        return step.kind == AdapterStep::Kind::kOperation &&
               step.operation.key / options_.keys == o;
      };
      if (std::any_of(steps.begin(), steps.end(), is_of))
        names += (names.empty() ? "" : ", ") + options_.objects[o].name;
    }
    return names.empty() ? options_.object : names;
  }

  base::Result<Reproduction> written() {
    const base::AllocationWatch::Deferral deferral;  // JSON's destructors allocate
    const auto done = replay(adapter_, options_, best_.steps, names_, /*script=*/true);
    if (!done.ok()) return done.error();
    const auto wrong = check_(*done, /*explain=*/true);
    if (!wrong) return base::Error{.message = "the shortened requests do not go wrong again"};
    Reproduction result{.replays = replays_, .minimal = has_time()};
    for (const auto& step : done->steps)
      result.operations += step.kind == AdapterStep::Kind::kOperation ? 1 : 0;
    std::vector<std::string> about = {
        fmt::format("{}, {}: {}", adapter_.library().name, objects_of(done->steps), wrong->name)};
    about.insert(about.end(), wrong->words.begin(), wrong->words.end());
    const Json request = {{"f", "script"}, {"about", about}, {"wrong", wrong->name}};
    const auto answer = adapter_.program().ask(request);
    if (!answer.ok()) return answer.error();
    const Json lines = answer->value("lines", Json()), prints = answer->value("prints", Json());
    const auto are_texts = [](const Json& texts) {
      return texts.is_array() && std::all_of(texts.begin(), texts.end(),
                                             [](const Json& text) { return text.is_string(); });
    };
    if (!are_texts(lines) || !are_texts(prints)) {
      return adapter_.program().refused(
          request, *answer,
          "; expected `lines` and `prints` of docs/reference/crdt-adapters.md#protocol");
    }
    result.program = lines.get<std::vector<std::string>>();
    result.prints = prints.get<std::vector<std::string>>();
    if (const Json throws = answer->value("throws", Json()); throws.is_string())
      result.throws = throws.get<std::string>();
    return result;
  }

  Adapter& adapter_;
  AdapterRunOptions options_;
  const std::vector<History>& names_;
  const CheckRun& check_;
  Clock::time_point end_;
  AdapterRecorded best_;
  std::optional<base::Error> failure_;
  std::uint64_t replays_ = 0;
};

}  // namespace

base::Result<Reproduction> reproduce(Adapter& adapter, AdapterRunOptions options,
                                     const AdapterRecorded& recorded, const CheckRun& check,
                                     double seconds) {
  return Shrinker(adapter, std::move(options), recorded, check, seconds).run(recorded.steps);
}

std::optional<std::string> refuted(const AdapterCommand& command, const std::string& file,
                                   const Reproduction& reproduction, double timeout_seconds) {
  namespace fs = std::filesystem;
  const auto& started = command.process.arguments;
  base::ProcessOptions options{.arguments = {started.front(), "-"},
                               .environment = command.process.environment,
                               .directory = fs::absolute(started.back()).parent_path().string(),
                               .input = base::Stream::file(fs::absolute(file).string()),
                               .output = base::Stream::pipe(),
                               .errors = base::Stream::output()};
  if (started.front() == "node")
    options.arguments.insert(options.arguments.begin() + 1, "--input-type=module");
  auto process = base::Process::start(options);
  if (!process.ok()) return process.error().message;
  const auto said = process->read_all(base::Seconds(timeout_seconds));
  if (!said) return fmt::format("it did not end in {} s", timeout_seconds);
  const auto status = process->wait(base::Seconds(timeout_seconds));
  std::string expected;
  for (const auto& line : reproduction.prints) expected += line + "\n";
  const bool throws = !reproduction.throws.empty();
  const bool as_expected =
      throws ? said->starts_with(expected) && said->find(reproduction.throws) != std::string::npos
             : *said == expected;
  const bool ended = status && status->known && status->well() != throws;
  if (as_expected && ended) return std::nullopt;
  return fmt::format("it printed: {}", text::excerpt(*said, text::kLongExcerpt));
}

}  // namespace cupel::crdt
