// The public API over the layers: see include/cupel/check.hpp.
#include "cupel/check.hpp"

#include <fmt/format.h>

#include <functional>
#include <string_view>
#include <utility>

#include "api/content.hpp"
#include "data/formats/formats.hpp"
#include "data/history/builder.hpp"
#include "data/history/ignored.hpp"
#include "data/history/times.hpp"
#include "engine/analysis/analyze.hpp"
#include "engine/analysis/explanations.hpp"
#include "engine/analysis/final_reads.hpp"
#include "engine/analysis/levels_by_name.hpp"
#include "engine/check/check.hpp"
#include "engine/explain/counts/whole_history.hpp"
#include "engine/explain/why/explain.hpp"
#include "engine/explain/why/glossary.hpp"

namespace cupel {

// Levels cross the border by number: each enumerator must have the same name on both sides.
template <auto kEnumerator>
consteval std::string_view enumerator_name() {
  std::string_view text =
      __PRETTY_FUNCTION__;  // "… [with auto kEnumerator = a::Level::kCausal; …]"
  text.remove_prefix(text.find("kEnumerator = "));
  text = text.substr(0, text.find_first_of(";]"));
  return text.substr(text.rfind(':') + 1);
}
template <std::size_t... kNumbers>
consteval bool same_levels(std::index_sequence<kNumbers...>) {
  return ((enumerator_name<static_cast<Level>(kNumbers)>() ==
           enumerator_name<static_cast<levels::Level>(kNumbers)>()) &&
          ...);
}
static_assert(enumerator_name<Level::kReadAtomic>() == "kReadAtomic");
static_assert(same_levels(std::make_index_sequence<levels::kLevelCount>()));

namespace {

levels::Level inner(Level level) {
  return static_cast<levels::Level>(level);
}
Level outer(levels::Level level) {
  return static_cast<Level>(level);
}

std::vector<Level> outer(const std::vector<levels::Level>& list) {
  std::vector<Level> result;
  for (const auto level : list) result.push_back(outer(level));
  return result;
}

Verdict outer(check::Verdict verdict) {
  switch (verdict) {
    case check::Verdict::kSatisfied:
      return Verdict::kSatisfied;
    case check::Verdict::kViolated:
      return Verdict::kViolated;
    case check::Verdict::kRefused:
      return Verdict::kRefused;
    case check::Verdict::kUnknown:
      break;
  }
  return Verdict::kUnknown;
}

history::ScalarView view(const Scalar& scalar) {
  if (const auto* integer = std::get_if<std::int64_t>(&scalar))
    return history::ScalarView::of(*integer);
  if (const auto* text = std::get_if<std::string>(&scalar)) {
    return history::ScalarView::of(std::string_view(*text));
  }
  return history::ScalarView::null();
}

Anomaly outer(const history::History& history, explain::Anomaly found) {
  Anomaly anomaly{
      std::move(found.name), std::move(found.adya), {}, {}, std::move(found.explanation)};
  for (const auto txn : found.transactions) {
    if (txn.valid()) anomaly.transactions.push_back(history.label(txn));
  }
  for (const auto key : found.keys) anomaly.keys.push_back(history.key(key).to_string());
  return anomaly;
}

}  // namespace

std::string_view name(Level level) {
  return levels::name(inner(level));
}

std::optional<Level> parse_level(std::string_view text) {
  const auto level = levels::parse_level(text);
  return level ? std::optional(outer(*level)) : std::nullopt;
}

History::History()
    : History([] {
        return std::make_shared<const Content>(
            Content{std::move(history::HistoryBuilder()).finish().value()});
      }()) {}
History::History(std::shared_ptr<const Content> content) : content_(std::move(content)) {}
std::size_t History::transaction_count() const {
  return content_->columns.txn_count();
}
std::size_t History::session_count() const {
  return content_->columns.session_count();
}
std::size_t History::operation_count() const {
  return content_->columns.op_count();
}
std::string History::kind() const {
  auto kind = content_->columns.fact("kind");
  return kind.empty() ? "transactions" : kind;
}
std::map<std::string, std::uint64_t> History::ignored() const {
  return history::ignored_op_maps(content_->columns.fact("ignored"));
}

// The inner builder wants to know a transaction's status when it begins, and here
// it is said later: so the facts of the open one wait, and its operations too.
struct HistoryBuilder::State {
  using Operation = std::function<void(history::HistoryBuilder&)>;

  history::HistoryBuilder builder;
  bool open = false;
  history::SessionId session;
  history::TxnStatus status = history::TxnStatus::kCommitted;
  history::HistoryBuilder::TxnFacts facts;
  std::vector<Operation> operations;
  std::uint32_t next_label = 0;
  std::string error;

  void close() {
    if (!open) return;
    builder.begin(session, status, facts);
    for (const auto& operation : operations) operation(builder);
    builder.end();
    operations.clear();
    status = history::TxnStatus::kCommitted;
    facts = {};
    open = false;
  }
  void add(Operation operation) {
    if (!open && error.empty()) error = "an operation came before the first transaction()";
    if (open) operations.push_back(std::move(operation));
  }
};

HistoryBuilder::HistoryBuilder() : state_(std::make_unique<State>()) {}
HistoryBuilder::~HistoryBuilder() = default;
HistoryBuilder::HistoryBuilder(HistoryBuilder&&) noexcept = default;
HistoryBuilder& HistoryBuilder::operator=(HistoryBuilder&&) noexcept = default;

HistoryBuilder& HistoryBuilder::transaction(std::string_view session) {
  state_->close();
  state_->open = true;
  state_->session = state_->builder.session(session);
  state_->facts.label = state_->next_label++;
  return *this;
}
HistoryBuilder& HistoryBuilder::aborted() {
  state_->status = history::TxnStatus::kAborted;
  return *this;
}
HistoryBuilder& HistoryBuilder::indeterminate() {
  state_->status = history::TxnStatus::kIndeterminate;
  return *this;
}
HistoryBuilder& HistoryBuilder::label(std::uint32_t label) {
  state_->facts.label = label;
  return *this;
}
HistoryBuilder& HistoryBuilder::times(std::int64_t invoked_ns, std::int64_t completed_ns) {
  state_->facts.invoke = invoked_ns;
  state_->facts.complete = completed_ns;
  return *this;
}
HistoryBuilder& HistoryBuilder::read(const Scalar& key, const Scalar& value) {
  state_->add([=](auto& b) { b.read(b.key(view(key)), b.value(view(value))); });
  return *this;
}
HistoryBuilder& HistoryBuilder::write(const Scalar& key, const Scalar& value) {
  state_->add([=](auto& b) { b.write(b.key(view(key)), b.value(view(value))); });
  return *this;
}
HistoryBuilder& HistoryBuilder::erase(const Scalar& key) {
  state_->add([=](auto& b) { b.erase(b.key(view(key)), history::ValueId::none()); });
  return *this;
}
HistoryBuilder& HistoryBuilder::compare_and_set(const Scalar& key, const Scalar& expected,
                                                const Scalar& desired, bool succeeded) {
  state_->add([=](auto& b) {
    b.compare_and_set(b.key(view(key)), b.value(view(expected)), b.value(view(desired)), succeeded);
  });
  return *this;
}
HistoryBuilder& HistoryBuilder::append(const Scalar& list, const Scalar& element) {
  state_->add([=](auto& b) { b.append(b.key(view(list)), b.value(view(element))); });
  return *this;
}
HistoryBuilder& HistoryBuilder::read_list(const Scalar& list, const std::vector<Scalar>& elements) {
  state_->add([=](auto& b) {
    std::vector<history::ValueId> values;
    for (const auto& element : elements) values.push_back(b.value(view(element)));
    b.list_read(b.key(view(list)), values);
  });
  return *this;
}
HistoryBuilder& HistoryBuilder::initial(const Scalar& value) {
  state_->builder.set_default_initial(state_->builder.value(view(value)));
  return *this;
}
HistoryBuilder& HistoryBuilder::initial(const Scalar& key, const Scalar& value) {
  state_->builder.set_initial(state_->builder.key(view(key)), state_->builder.value(view(value)));
  return *this;
}

std::optional<History> HistoryBuilder::build(std::string& error) {
  state_->close();
  auto finished = std::move(state_->builder).finish();
  if (!finished.ok() && state_->error.empty()) state_->error = finished.error().to_string();
  error = state_->error;
  if (!error.empty()) return std::nullopt;
  return History(std::make_shared<const History::Content>(History::Content{std::move(*finished)}));
}

std::optional<History> read_history(const std::string& path, std::string& error,
                                    std::string_view format) {
  return read_history(path, error, ReadOptions{.format = std::string(format)});
}

std::optional<History> read_history(const std::string& path, std::string& error,
                                    const ReadOptions& given) {
  formats::ReadOptions options;
  if (!given.format.empty()) {
    options.format = formats::parse_format(given.format);
    if (!options.format) {
      error = "found the format `" + given.format + "`, expected " +
              formats::format_names(/*written_only=*/false);
      return std::nullopt;
    }
  }
  if (!given.kind.empty()) {
    options.as.kind = formats::parse_workload(given.kind);
    if (!options.as.kind) {
      error = "found the kind `" + given.kind + "`, expected " + formats::workload_names();
      return std::nullopt;
    }
  }
  for (const auto& words : given.ignore) options.as.add_ignored(words);
  analysis::Source source(path);
  auto read = formats::read(path, options);
  if (!read.ok()) {
    error = read.error().to_string();
    return std::nullopt;
  }
  return History(std::make_shared<const History::Content>(
      History::Content{std::move(*read), std::move(source)}));
}

bool write_history(const History& history, const std::string& path, std::string_view format,
                   std::string& error) {
  const auto known = formats::parse_format(format);
  if (!known) {
    error = "found the format `" + std::string(format) + "`, expected " +
            formats::format_names(/*written_only=*/true);
    return false;
  }
  const auto written = formats::write(history.content().columns, path, {.format = *known});
  if (!written.ok()) error = written.error().to_string();
  return written.ok();
}

namespace {

std::vector<Anomaly> outer(std::vector<analysis::Explanation> explanations) {
  std::vector<Anomaly> anomalies;
  for (auto& one : explanations) {
    anomalies.push_back(outer(*one.history, std::move(one.anomaly)));
  }
  return anomalies;
}

}  // namespace

analysis::Analysis analyze(const History& history, const CheckOptions& options) {
  // A negative one would narrow the intervals, and accuse the innocent.
  if (options.clock_drift_ns < 0 || options.clock_drift_ns > kMostClockDriftNs) {
    throw std::invalid_argument(fmt::format(
        "found a clock drift of {} ns, expected 0 to thirty years", options.clock_drift_ns));
  }
  if (const auto refusal =
          history::drift_refusal(history.content().columns, options.clock_drift_ns)) {
    throw std::invalid_argument(*refusal);
  }
  analysis::Options inside;
  for (const Level level : options.levels) inside.check.asked.push_back(inner(level));
  inside.check.clock_drift_ns = options.clock_drift_ns;
  inside.check.timeout_seconds = options.timeout_seconds;
  inside.check.memory_limit_bytes = options.memory_limit_bytes;
  inside.check.threads = options.threads;
  inside.check.evidence = options.evidence;
  inside.shrink_seconds = options.shrink_seconds;
  inside.whole_history = options.history_analysis || options.survey;
  inside.test_power = analysis::TestPower::kNever;
  const auto& content = history.content();
  if (content.source) inside.fields = analysis::fields_of_file(*content.source, content.columns);
  return analysis::analyze(content.columns, inside);
}

Answer answer_of(const History& history, const analysis::Analysis& found) {
  const history::History& columns = history.content().columns;
  Answer answer;
  if (found.fields_error) answer.file_error = found.fields_error->to_string();
  answer.nothing_committed = found.evidence && found.evidence->nothing_committed();
  const auto losses = analysis::losses_of(columns, found.final_reads,
                                          analysis::levels_by_name(found.check.levels.size()));
  answer.durable = outer(losses.verdict());
  answer.durable_detail = answer.durable == Verdict::kViolated  ? found.final_reads->in_words()
                          : answer.durable == Verdict::kUnknown ? losses.why_unknown()
                                                                : "";
  answer.strongest_satisfied = outer(found.check.strongest_satisfied);
  answer.weakest_violated = outer(found.check.weakest_violated);
  for (const auto& one : found.check.levels) {
    auto& level = answer.levels.emplace_back();
    level.level = outer(one.level);
    level.verdict = outer(one.verdict);
    level.decided_by = one.decided_by;
    level.seconds = one.seconds;
    level.detail = one.detail;
    if (!one.violation) continue;
    level.explained_at = outer(one.explained_at.value_or(one.level));
    level.anomalies = outer(analysis::explanations_of(columns, found, one).shown);
  }
  if (!found.whole_history) return answer;
  for (const auto& count : found.whole_history->counts) {
    answer.counts.push_back({count.name, count.count, count.exact && found.whole_history->counted});
  }
  for (const auto& cause : found.whole_history->causes.found) {
    if (cause.from_check) continue;
    for (auto& anomaly : outer(analysis::explanations_of(columns, found, cause))) {
      answer.further.push_back(std::move(anomaly));
    }
  }
  return answer;
}

Answer check_history(const History& history, const Options& options) {
  CheckOptions inside;
  static_cast<Options&>(inside) = options;
  return answer_of(history, analyze(history, inside));
}

std::string describe(std::string_view name) {
  return explain::describe(name);
}

}  // namespace cupel
