// Which transactions, and their fields: see the header.
#include "cli/told.hpp"

#include <set>

#include "formats/extra_fields.hpp"

namespace cupel::cli {

namespace {

constexpr std::size_t kMostAnomalies = 1000;  // of a level; as many as --json lists

}  // namespace

explain::FieldsByLabel tell_with_fields(const std::string& file, const history::History& history,
                                        const check::CheckResult& result,
                                        std::vector<explain::Counterexample>& counterexamples,
                                        std::optional<counts::WholeHistory>& survey,
                                        base::Budget& budget) {
  std::set<std::uint32_t> labels;
  const auto add = [&](levels::Level at, const levels::Violation& violation) {
    auto some = violation;
    if (some.internal.size() > kMostAnomalies) some.internal.resize(kMostAnomalies);
    for (const auto& anomaly : explain::explain(history, at, some)) {
      for (const auto txn : anomaly.listed) labels.insert(history.label(txn));
    }
  };
  std::vector<explain::Counterexample*> small;
  for (auto& one : counterexamples) small.push_back(&one);
  if (survey) {
    for (auto& cause : survey->causes.found) {
      if (cause.small) {
        small.push_back(&*cause.small);
      } else {
        add(cause.level, cause.violation);
      }
    }
  }
  std::set<levels::Level> seen;  // many levels share one violation
  for (const auto& level : result.levels) {
    const auto at = level.explained_at.value_or(level.level);
    if (level.violation && seen.insert(at).second) add(at, *level.violation);
  }
  for (const auto* one : small) {
    for (std::size_t t = 0; t < one->history.txn_count(); ++t) {
      labels.insert(one->history.label(history::TxnId(t)));
    }
  }
  if (labels.empty()) return {};
  const auto format = history.metadata().find("format");
  auto fields = formats::extra_fields(
      file, format == history.metadata().end() ? std::string() : format->second, labels, &budget);
  for (auto* one : small) explain::explain_again(*one, history, &fields);
  return fields;
}

}  // namespace cupel::cli
