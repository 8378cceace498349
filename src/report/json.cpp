// JSON: one object a history. The names of the fields are an interface
// (docs/reference/commands.md): add, never rename.
#include "base/text/json.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>

#include "base/budget.hpp"
#include "data/history/ignored.hpp"
#include "engine/analysis/explanations.hpp"
#include "engine/explain/counts/severity.hpp"
#include "engine/explain/why/explain.hpp"
#include "engine/explain/why/glossary.hpp"
#include "engine/levels/product.hpp"
#include "report/evidence.hpp"
#include "report/final_reads.hpp"
#include "report/render.hpp"

namespace cupel::report {

using check::Verdict;
using history::History;
using history::OpId;
using history::TxnId;
using levels::Level;
using Json = nlohmann::ordered_json;

namespace {

// A history may hold a million thin-air reads; the first ones show what is wrong. Where
// there was to be one for each cause, and no time was left to group them, fewer do.
constexpr std::size_t kAnomaliesListed = 1000, kUngroupedListed = 10;

struct Listed {
  Json anomalies = Json::array();
  std::size_t total = 0;
  std::map<std::string, std::uint64_t> left_out;  // by name
};

Json scalar(history::ScalarView value) {
  switch (value.kind) {
    case history::ScalarKind::kNull:
      return nullptr;
    case history::ScalarKind::kInteger:
      return value.integer;
    default:
      return value.to_string();
  }
}

Json transaction(const History& history, TxnId txn) {
  if (!txn.valid()) return nullptr;  // the initial transaction
  return history.label(txn);
}

// An anomaly and the history whose transactions it names.
struct Found {
  const History& whole;
  const explain::Anomaly& anomaly;
  const explain::Counterexample* small;  // or nullptr: the whole
  const explain::FieldsByLabel* fields = nullptr;
  [[nodiscard]] const History& history() const { return small != nullptr ? small->history : whole; }
};

// An operation's place in its transaction in the file, from 0.
Json operation(const Found& found, OpId op) {
  if (!op.valid()) return nullptr;
  const auto txn = found.history().txn_of(op);
  if (found.small == nullptr) return op.raw - found.whole.first_op(txn);
  const auto original = found.small->original_op[op.index()];
  return original.raw - found.whole.first_op(found.small->original_txn[txn.index()]);
}

Json edge_object(const Found& found, const explain::ExplainedEdge& edge) {
  const History& history = found.history();
  Json object;
  object["from"] = transaction(history, edge.from);
  object["to"] = transaction(history, edge.to);
  object["kind"] = explain::to_string(edge.kind);
  object["reason"] = explain::to_string(edge.reason);
  if (edge.key.valid()) object["key"] = scalar(history.key(edge.key));
  if (edge.from_op.valid()) object["from_operation"] = operation(found, edge.from_op);
  if (edge.to_op.valid()) object["to_operation"] = operation(found, edge.to_op);
  if (edge.case_number != 0) object["case"] = edge.case_number;
  object["sentence"] = edge.sentence;
  return object;
}

Json counterexample_object(const explain::Counterexample& small) {
  Json object;
  object["transactions"] = Json::array();
  for (std::size_t t = 0; t < small.history.txn_count(); ++t) {
    object["transactions"].push_back(small.history.label(TxnId(t)));
  }
  object["operations"] = small.history.op_count();
  object["minimal"] = small.minimal;
  return object;
}

// What is known of a transaction that the explanation lists.
Json details_object(const Found& found, TxnId txn) {
  const History& history = found.history();
  const auto time = [](history::Time t) { return t == history::kNoTime ? Json(nullptr) : Json(t); };
  Json object;
  object["transaction"] = transaction(history, txn);
  object["session"] = history.session_name(history.session(txn));
  object["place"] = history.place(txn);
  object["status"] = history::to_string(history.status(txn));
  object["invoked"] = time(history.invoke(txn));
  object["completed"] = time(history.complete(txn));
  object["fields"] = Json::object();
  if (found.fields != nullptr) {
    const auto known = found.fields->find(history.label(txn));
    if (known != found.fields->end()) {
      for (const auto& [name, text] : known->second) {
        if (name == explain::kStatementField) {
          object["statements"].push_back(text);
        } else {
          object["fields"][name] = text;
        }
      }
    }
  }
  return object;
}

Json anomaly_object(const Found& found) {
  const History& history = found.history();
  const explain::Anomaly& anomaly = found.anomaly;
  Json object;
  object["name"] = anomaly.name;
  object["adya"] = anomaly.adya.empty() ? Json(nullptr) : Json(anomaly.adya);
  object["plume"] = Json::array();
  for (const auto letter : explain::plume_letters(anomaly.name)) object["plume"].push_back(letter);
  object["found_at"] = levels::name(anomaly.at);
  object["transactions"] = Json::array();
  for (const TxnId txn : anomaly.transactions)
    object["transactions"].push_back(transaction(history, txn));
  object["keys"] = Json::array();
  for (const auto key : anomaly.keys) object["keys"].push_back(scalar(history.key(key)));
  object["summary"] = anomaly.summary;
  object["explanation"] = anomaly.explanation;
  object["edges"] = Json::array();
  for (const auto& edge : anomaly.edges) object["edges"].push_back(edge_object(found, edge));
  object["details"] = Json::array();
  for (const TxnId txn : anomaly.listed) object["details"].push_back(details_object(found, txn));
  if (found.small != nullptr) object["counterexample"] = counterexample_object(*found.small);
  return object;
}

Json names(const std::vector<Level>& list) {
  Json array = Json::array();
  for (const Level level : list) array.push_back(levels::name(level));
  return array;
}

Json test_power_object(const Checked& checked) {
  const power::TestPower& w = *checked.analysis.test_power;
  Json object{{"transactions", w.transactions},
              {"timed", w.timed},
              {"mean_open", std::round(w.mean_open * 1e3) / 1e3},
              {"most_open", w.most_open},
              {"pairs", w.pairs},
              {"pairs_overlapped", w.pairs_overlapped},
              {"met", w.met},
              {"reads", w.reads},
              {"constraining_reads", w.constraining},
              {"written_keys", w.written_keys},
              {"ordered_keys", w.ordered_keys},
              {"ordered_by",
               {{"one_writer", w.ordered_by_one_writer},
                {"list", w.ordered_by_list},
                {"chain", w.ordered_by_chain}}},
              {"keys_sampled_one_in", w.keys_sampled_one_in},
              {"transactions_sampled", w.transactions_sampled},
              {"limit_met", w.limit_met}};
  object["anomalies"] = Json::array();
  for (const auto& anomaly : w.anomalies) {
    Json one{{"name", anomaly.name},
             {"chance", power::to_string(anomaly.detection)},
             {"places_tried", anomaly.tried},
             {"places_seen", anomaly.seen}};
    if (!anomaly.reason.empty()) one["reason"] = anomaly.reason;
    if (!anomaly.transactions.empty()) {
      one["transactions"] = Json::array();
      for (const auto txn : anomaly.transactions) {
        one["transactions"].push_back(checked.history.label(txn));
      }
    }
    object["anomalies"].push_back(std::move(one));
  }
  return object;
}

Json anomaly_object(const Checked& checked, const analysis::Explanation& explanation) {
  auto object = anomaly_object(
      {checked.history, explanation.anomaly, explanation.small, &checked.analysis.fields});
  if (explanation.occurrences > 0) object["occurrences"] = explanation.occurrences;
  return object;
}

// An anomaly is the same as one of the list if it has the same name, transactions and keys, though
// it was found at another level.
void add_once(Json anomaly, Json& anomalies) {
  const auto same = std::find_if(anomalies.begin(), anomalies.end(), [&](const Json& other) {
    return other["name"] == anomaly["name"] && other["transactions"] == anomaly["transactions"] &&
           other["keys"] == anomaly["keys"];
  });
  if (same == anomalies.end()) {
    anomalies.push_back(std::move(anomaly));
  } else if (anomaly.contains("occurrences") && !same->contains("occurrences")) {
    (*same)["occurrences"] = anomaly["occurrences"];
  }
}

// The causes besides the check's own that the level forbids.
void add_causes(const Checked& checked, Level level, Json& anomalies) {
  if (!checked.analysis.whole_history) return;
  for (const auto& cause : checked.analysis.whole_history->causes.found) {
    if (cause.from_check || !levels::implies(level, cause.level)) continue;
    const auto found = analysis::explanations_of(checked.history, checked.analysis, cause);
    if (!found.empty()) add_once(anomaly_object(checked, found.front()), anomalies);
  }
}

// Why a level is violated, without what other levels of the same violation have besides.
Listed listed_anomalies(const Checked& checked, const check::LevelResult& result) {
  const auto most = checked.analysis.whole_history ? kUngroupedListed : kAnomaliesListed;
  auto found = analysis::explanations_of(checked.history, checked.analysis, result, most);
  Listed listed{Json::array(), found.total, std::move(found.left_out)};
  for (const auto& one : found.shown) listed.anomalies.push_back(anomaly_object(checked, one));
  return listed;
}

// As the text: the most severe first, and of these the smallest.
void sort_by_severity(Json& anomalies) {
  auto& all = anomalies.get_ref<Json::array_t&>();
  const auto rank = [](const Json& anomaly) {
    return std::pair(counts::severity(anomaly["name"].get_ref<const std::string&>()),
                     anomaly["transactions"].size());
  };
  std::stable_sort(all.begin(), all.end(),
                   [&](const Json& a, const Json& b) { return rank(a) < rank(b); });
}

Json level_object(const Checked& checked, const check::LevelResult& result,
                  std::map<Level, Listed>& listed_at) {
  Json level;
  level["level"] = levels::name(result.level);
  if (const auto product = levels::product_name(checked.history, result.level); !product.empty()) {
    level["product"] = product;
  }
  level["verdict"] = check::to_string(result.verdict);
  level["decided_by"] = result.decided_by;
  level["seconds"] = std::round(result.seconds * 1e6) / 1e6;
  if (result.verdict == Verdict::kUnknown) level["detail"] = result.detail;
  level["anomalies"] = Json::array();
  if (!result.violation) return level;
  const Level at = result.explained_at.value_or(result.level);
  auto found = listed_at.find(at);
  if (found == listed_at.end()) {
    found = listed_at.emplace(at, listed_anomalies(checked, result)).first;
  }
  const Listed& listed = found->second;
  level["anomalies"] = listed.anomalies;
  if (listed.total > listed.anomalies.size()) level["anomalies_total"] = listed.total;
  if (!listed.left_out.empty()) level["anomalies_left_out"] = listed.left_out;
  add_causes(checked, result.level, level["anomalies"]);
  sort_by_severity(level["anomalies"]);
  return level;
}

Json counts_object(const Checked& checked) {
  if (!checked.analysis.whole_history) return nullptr;
  Json object = Json::object();
  for (const auto& count : checked.analysis.whole_history->counts) {
    Json one;
    one["count"] = count.count;
    one["exact"] = count.exact && checked.analysis.whole_history->counted;
    one["keys"] = Json::array();
    for (const auto key : count.keys) one["keys"].push_back(scalar(checked.history.key(key)));
    one["keys_total"] = count.key_count;
    object[count.name] = std::move(one);
  }
  return object;
}

Json windows_object(const analysis::Windows& windows) {
  Json object{{"most_held", windows.most_held}};
  object["promises"] = Json::object();
  for (const auto& [level, promise] : windows.promises) {
    object["promises"][std::string(levels::name(level))] = promise;
  }
  if (windows.violated) {
    object["explained"] = {{"level", levels::name(windows.violated->first)},
                           {"after_transactions", windows.violated->second}};
  }
  return object;
}

}  // namespace

std::string json(const Checked& checked) {
  const base::AllocationWatch::Deferral deferral;  // JSON's destructors allocate
  const History& history = checked.history;
  std::size_t committed = 0;
  for (std::size_t t = 0; t < history.txn_count(); ++t) {
    if (history.status(TxnId(t)) == history::TxnStatus::kCommitted) ++committed;
  }
  const auto metadata = [&](const char* name) -> Json {
    const auto it = history.metadata().find(name);
    return it == history.metadata().end() ? Json(nullptr) : Json(it->second);
  };

  Json object;
  const auto& windows = checked.analysis.windows;
  object["file"] = checked.file;
  object["format"] = windows ? Json(windows->format) : metadata("format");
  for (const char* name : {"database", "isolation"}) {
    if (history.metadata().contains(name)) object[name] = metadata(name);
  }
  const auto count = [&](std::size_t number) {
    return checked.analysis.whole ? Json(number) : Json(nullptr);
  };
  object["transactions"] = count(windows ? windows->transactions : history.txn_count());
  object["committed"] = count(windows ? windows->committed : committed);
  object["sessions"] = count(windows ? windows->sessions : history.session_count());
  object["operations"] = count(windows ? windows->operations : history.op_count());
  object["keys"] = count(windows ? windows->keys : history.key_count());
  if (windows) object["windows"] = windows_object(*windows);
  const auto kind = history.fact("kind");
  object["kind"] = kind.empty() ? "transactions" : kind;
  object["ignored"] = Json::array();
  for (const auto& [f, number] : history::ignored_op_maps(history.fact("ignored")))
    object["ignored"].push_back({{"f", f}, {"op_maps", number}});
  object["levels"] = Json::array();
  Json refused = Json::array();
  std::map<Level, Listed> listed_at;  // many levels share one violation
  for (const auto& result : checked.analysis.check.levels) {
    if (result.verdict == Verdict::kRefused) {
      refused.push_back({{"level", levels::name(result.level)}, {"reason", result.detail}});
      continue;
    }
    object["levels"].push_back(level_object(checked, result, listed_at));
  }
  object["refused"] = std::move(refused);
  object["counts"] = counts_object(checked);
  if (checked.analysis.whole_history) {
    object["causes_complete"] = checked.analysis.whole_history->causes.all;
    object["causes_left_out"] = Json::object();
    for (const auto& [name, number] : checked.analysis.whole_history->causes.left_out) {
      object["causes_left_out"][name] = number;
    }
  }
  object["strongest_satisfied"] = names(checked.analysis.check.strongest_satisfied);
  object["weakest_violated"] = names(checked.analysis.check.weakest_violated);
  object["warnings"] = warnings_of(checked);
  if (!checked.analysis.stages.empty()) {
    const auto microseconds = [](double seconds) { return std::round(seconds * 1e6) / 1e6; };
    object["stages"] = Json::array();
    for (const auto& stage : checked.analysis.stages) {
      object["stages"].push_back({{"stage", stage.name},
                                  {"seconds", microseconds(stage.seconds)},
                                  {"cpu_seconds", microseconds(stage.cpu_seconds)}});
    }
  }
  if (checked.analysis.final_reads) object["final_reads"] = final_reads_object(checked);
  for (const auto& [field, fact] : {std::pair("data_gone", analysis::kDataGone),
                                    std::pair("final_reads_failed", analysis::kFinalReadsFailed)}) {
    if (const auto why = history.fact(fact); !why.empty()) object[field] = why;
  }
  if (checked.analysis.test_power) object["worth"] = test_power_object(checked);
  return text::dump(object) + "\n";
}

}  // namespace cupel::report
