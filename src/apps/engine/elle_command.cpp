// cupel elle: the command line and the output of elle-cli (ligurio/elle-cli), answered by cupel.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "apps/command.hpp"
#include "apps/engine/elle_models.hpp"
#include "apps/engine/elle_objects.hpp"
#include "apps/engine/report_folder.hpp"
#include "apps/interrupt.hpp"
#include "apps/options.hpp"
#include "apps/spelling.hpp"
#include "base/interrupt.hpp"
#include "base/text/json.hpp"
#include "base/visible.hpp"
#include "data/formats/input.hpp"
#include "data/history/ignored.hpp"
#include "data/history/object_history.hpp"
#include "engine/analysis/analyze.hpp"
#include "engine/analysis/explanations.hpp"
#include "engine/analysis/final_reads.hpp"
#include "report/final_reads.hpp"

namespace cupel::apps {

namespace {

using check::Verdict;
using history::History;
using history::OpId;
using history::OpKind;
using Json = nlohmann::ordered_json;

// The model of the workload, as elle-cli has it.
enum class Workload { kListAppend, kRwRegister, kCasRegister, kMutex };

constexpr std::pair<std::string_view, Workload> kWorkloads[] = {
    {"list-append", Workload::kListAppend},
    {"rw-register", Workload::kRwRegister},
    {"cas-register", Workload::kCasRegister},
    {"mutex", Workload::kMutex}};

// Models of elle-cli that cupel does not check.
constexpr std::string_view kOtherWorkloads[] = {"long-fork", "comments", "sequential"};

struct ElleArguments {
  std::vector<std::string> histories;
  std::string workload, format, output = "text", models = "strict-serializable", anomalies = "G0";
  std::string directory, plot_format = "svg";
  LimitArguments limits;
  InterpretationArguments as;
  std::uint64_t search_ms = 0, plot_ms = 0, plot_bytes = 0, max_transfer = 0;
  std::string total;
  bool verbose = false, negative_balances = false;
};

Workload workload_of(const std::string& name) {
  std::vector<std::string> known;
  for (const auto& [known_name, workload] : kWorkloads) {
    if (name == known_name) return workload;
    known.emplace_back(known_name);
  }
  for (const auto model : kElleObjects) known.emplace_back(model);
  for (const auto other : kOtherWorkloads) {
    if (name == other) {
      throw UsageError("--model", fmt::format("found `{}`, a model of elle-cli that cupel does not "
                                              "check; expected {}",
                                              name, one_of(known)));
    }
  }
  throw UsageError("--model", fmt::format("found `{}`, expected {}{}", name, one_of(known),
                                          did_you_mean(name, known)));
}

std::vector<ElleModel> models_of(const std::string& names) {
  std::vector<ElleModel> asked;
  for (const auto& name : split(names, ',')) {
    const auto model = elle_model(name);
    if (!model) {
      std::vector<std::string> known;
      for (const auto& one : elle_models()) known.emplace_back(one.name);
      throw UsageError(
          "--consistency-models",
          fmt::format("found `{}`, expected {}{}", name, one_of(known), did_you_mean(name, known)));
    }
    asked.push_back(*model);
  }
  return asked;
}

// Anomalies that no asked model forbids would be looked for in vain.
void check_anomalies(const std::string& names, const std::vector<ElleModel>& models) {
  for (const auto& name : split(names, ',')) {
    bool forbidden = false;
    for (const auto& model : models) {
      const auto answer = forbids(model, name);
      if (!answer) {
        throw UsageError(
            "--anomalies",
            fmt::format("found `{}`, which is no anomaly that elle-cli lists and cupel "
                        "finds",
                        name));
      }
      forbidden = forbidden || *answer;
    }
    if (!forbidden) {
      throw UsageError("--anomalies",
                       fmt::format("found {}, which {} allows; name a model that forbids it with "
                                   "--consistency-models",
                                   name, models.front().name));
    }
  }
}

std::string text_of(history::ScalarView key) {
  return key.kind == history::ScalarKind::kNull ? "null" : key.to_string();
}

// What of the history does not fit the workload; empty: nothing.
std::string misfit(const History& history, Workload workload) {
  for (std::uint32_t i = 0; i < history.op_count(); ++i) {
    const auto op = history.op(OpId(i));
    const bool list = op.kind == OpKind::kAppend || op.kind == OpKind::kListRead;
    const bool nothing =
        op.kind == OpKind::kRead && (!op.value.valid() || op.value == history.null_value());
    if (workload == Workload::kListAppend && !list && !nothing) {
      return fmt::format("a {} of a register", history::to_string(op.kind));
    }
    if (workload == Workload::kRwRegister && list) {
      return fmt::format("a {} of a list", history::to_string(op.kind));
    }
    if (workload == Workload::kMutex &&
        (op.kind != OpKind::kCompareAndSet || text_of(history.key(op.key)) != "mutex")) {
      return fmt::format("a {}", history::to_string(op.kind));
    }
    if (workload == Workload::kCasRegister &&
        (list || op.kind == OpKind::kRangeRead || text_of(history.key(op.key)) == "mutex")) {
      return list ? "operations on lists" : "operations that are not of a register";
    }
  }
  const bool single = workload == Workload::kCasRegister || workload == Workload::kMutex;
  for (std::uint32_t i = 0; single && i < history.txn_count(); ++i) {
    const history::TxnId txn(i);
    if (history.last_op(txn) - history.first_op(txn) > 1) return "transactions";
  }
  return {};
}

struct Answer {
  Verdict verdict = Verdict::kSatisfied;  // of all models together
  std::string detail = {};
  std::vector<std::string> violated = {};
  std::vector<const check::LevelResult*> found = {};
};

Answer answer_of_models(const std::vector<ElleModel>& models, const History& history,
                        const check::CheckResult& result) {
  Answer all;
  for (const auto& model : models) {
    const auto one = elle_verdict(model, history, result);
    if (one.verdict == Verdict::kViolated) {
      all.verdict = Verdict::kViolated;
      all.violated.emplace_back(model.name);
      if (std::find(all.found.begin(), all.found.end(), one.violated) == all.found.end()) {
        all.found.push_back(one.violated);
      }
    } else if (one.verdict != Verdict::kSatisfied) {
      if (all.verdict == Verdict::kSatisfied) all.verdict = Verdict::kUnknown;
      all.detail = one.detail;
    }
  }
  return all;
}

Answer answer_of_object(const check::CheckResult& result) {
  const auto& found = result.levels.front();
  if (found.verdict == Verdict::kViolated) {
    return {.verdict = Verdict::kViolated, .violated = {"linearizable"}, .found = {&found}};
  }
  if (found.verdict == Verdict::kSatisfied) return {};
  return {.verdict = Verdict::kUnknown, .detail = found.detail};
}

std::string validity(Verdict verdict) {
  return verdict == Verdict::kSatisfied  ? "true"
         : verdict == Verdict::kViolated ? "false"
                                         : "unknown";
}

// Elle's map, with explanations where Elle has its own.
std::string as_json(const Answer& answer, const analysis::AnalyzedFile& file) {
  Json object, anomalies = Json::object(), names = Json::array();
  for (const auto* result : answer.found) {
    for (const auto& shown :
         analysis::explanations_of(file.history, file.analysis, *result, 100).shown) {
      const auto& name = shown.anomaly.adya.empty() ? shown.anomaly.name : shown.anomaly.adya;
      if (!anomalies.contains(name)) names.push_back(name);
      anomalies[name].push_back(
          {{"name", shown.anomaly.name}, {"explanation", shown.anomaly.explanation}});
    }
  }
  if (answer.verdict == Verdict::kUnknown) {
    object["valid?"] = "unknown";
    object["error"] = answer.detail;
  } else {
    object["valid?"] = answer.verdict == Verdict::kSatisfied;
  }
  if (!names.empty()) object["anomaly-types"] = names;
  if (!names.empty()) object["anomalies"] = anomalies;
  if (!answer.violated.empty()) object["not"] = answer.violated;
  const auto kind = file.history.fact("kind");
  object["kind"] = kind.empty() ? "transactions" : kind;
  object["ignored"] = Json::array();
  for (const auto& [f, count] : history::ignored_op_maps(file.history.fact("ignored")))
    object["ignored"].push_back({{"f", f}, {"op_maps", count}});
  return text::dump_indented(object) + "\n";
}

// No model of elle-cli forbids it, and `true` would hide it.
std::string loss_of(const analysis::Losses& losses) {
  return losses.verdict() == Verdict::kViolated
             ? fmt::format("acknowledged writes are lost, which no model forbids: {}",
                           base::visible(losses.gone))
             : report::unknown_whether_lost(losses.why_unknown());
}

struct Question {
  Workload workload = Workload::kListAppend;
  bool objects = false;  // the model is one of kElleObjects, instead
  std::optional<std::int64_t> total;
  std::vector<ElleModel> models;
  analysis::Options options;
  analysis::FileOptions reading;
  bool json = false;
};

int check_file(const std::string& name, const ElleArguments& arguments, const Question& question,
               std::optional<ReportFolder>& folder) {
  const formats::OpenOnce once(name);
  const auto found = analysis::analyze_file(name, question.reading, question.options);
  if (found.ok() && found->objects) {
    found->objects->negative_balances = arguments.negative_balances;
    found->objects->total = question.total;
    return check_elle_objects(name, *found->objects, question.options.check, question.json);
  }
  if (!found.ok()) {
    if (folder) folder->add(name, found.error());
    return bad(found.error());
  }
  if (const auto why = misfit(found->history, question.workload); !why.empty()) {
    return bad({.message = fmt::format("the model {} does not fit this history, which has {}",
                                       arguments.workload, why),
                .file = name});
  }
  note_interpretation(name, found->history, /*kind=*/false);
  const auto& result = found->analysis.check;
  const bool object =
      question.workload == Workload::kCasRegister || question.workload == Workload::kMutex;
  auto answer =
      object ? answer_of_object(result) : answer_of_models(question.models, found->history, result);
  const auto& evidence = found->analysis.evidence;
  if (!object && answer.verdict == Verdict::kSatisfied && evidence && evidence->nothing_committed())
    answer = {.verdict = Verdict::kUnknown, .detail = "no transaction committed"};
  const auto losses =
      analysis::losses_of(found->history, found->analysis.final_reads, /*levels_by_name=*/true);
  if (answer.verdict == Verdict::kSatisfied && losses.verdict() != Verdict::kSatisfied)
    answer = {.verdict = Verdict::kUnknown, .detail = loss_of(losses)};
  print(question.json ? as_json(answer, *found)
                      : fmt::format("{} \t {}\n", name, validity(answer.verdict)));
  if (answer.verdict == Verdict::kUnknown) {
    print_error(base::Error{.message = "unknown: " + answer.detail, .file = name});
  }
  if (folder) {
    if (const auto added = folder->add({name, found->history, found->analysis}); !added.ok()) {
      return bad(added.error());
    }
  }
  flush_output();
  return answer.verdict == Verdict::kSatisfied  ? kSatisfied
         : answer.verdict == Verdict::kViolated ? kViolated
                                                : kUnknown;
}

int check_files(const ElleArguments& arguments, const Question& question) {
  std::optional<ReportFolder> folder;
  if (!arguments.directory.empty()) {
    folder.emplace(arguments.directory, arguments.histories.size());
    if (const auto made = folder->prepare(); !made.ok()) return bad(made.error());
  }
  int code = kSatisfied;
  for (const auto& file : arguments.histories) {
    code = std::max(code, check_file(file, arguments, question, folder));
  }
  if (folder) {
    if (const auto done = folder->finish(); !done.ok()) return bad(done.error());
  }
  return code;
}

std::int64_t total_of(const std::string& text) {
  std::int64_t total = 0;
  const auto [end, bad] = std::from_chars(text.data(), text.data() + text.size(), total);
  if (bad != std::errc() || end != text.data() + text.size())
    throw UsageError("--total-amount", fmt::format("`{}` is no whole number", text));
  return total;
}

Question question_of(const ElleArguments& arguments) {
  Question question;
  question.objects =
      std::find(kElleObjects.begin(), kElleObjects.end(), arguments.workload) != kElleObjects.end();
  if (!arguments.total.empty()) question.total = total_of(arguments.total);
  if (!question.objects) question.workload = workload_of(arguments.workload);
  question.models = models_of(arguments.models);
  check_anomalies(arguments.anomalies, question.models);
  if (!arguments.format.empty() && arguments.format != "edn" && arguments.format != "json") {
    throw UsageError("--format", fmt::format("found `{}`, expected edn or json", arguments.format));
  }
  if (arguments.output != "text" && arguments.output != "json") {
    throw UsageError("--output",
                     fmt::format("found `{}`, expected text or json", arguments.output));
  }
  if (arguments.plot_format != "svg") {
    throw UsageError("--plot-format", fmt::format("found `{}`, expected svg: the report's pictures "
                                                  "are SVG",
                                                  arguments.plot_format));
  }
  question.json = arguments.verbose || arguments.output == "json";
  question.options.check = check_options({}, arguments.limits);
  auto& asked = question.options.check.asked;
  const bool object =
      question.workload == Workload::kCasRegister || question.workload == Workload::kMutex;
  if (object) asked = {levels::Level::kLinearizable};
  for (const auto& model : question.models) {
    if (object) break;
    for (const auto level : levels_to_check(model)) {
      if (std::find(asked.begin(), asked.end(), level) == asked.end()) asked.push_back(level);
    }
    // The evidence says whether a violation depends on an assumption.
    question.options.check.evidence = question.options.check.evidence || !model.is_level();
  }
  std::sort(asked.begin(), asked.end());
  question.options.shrink_seconds = shrink_seconds(arguments.limits);
  question.options.whole_history = question.json || !arguments.directory.empty();
  question.options.test_power = analysis::TestPower::kNever;
  if (!arguments.format.empty()) question.reading.format = formats::Format::kJepsen;
  question.reading.as = interpretation(arguments.as);
  if (question.objects) {
    if (!arguments.as.kind.empty())
      throw UsageError("--kind", "it cannot be used with a model of objects, which says the kind");
    if (!arguments.directory.empty())
      throw UsageError("--directory", "reports are of transactions, and the model is of objects");
    question.reading.as.objects = formats::parse_objects(arguments.workload);
    question.reading.objects = true;
  }
  return question;
}

constexpr const char* kNoEffect = "Options of elle-cli without effect";

void add_options(Command& command, ElleArguments& arguments) {
  command.add_option("HISTORY", arguments.histories, "History files of Jepsen, as EDN or JSON")
      ->required()
      ->check(not_empty("a file"))
      ->type_name("");
  command
      .add_option(
          "-m,--model", arguments.workload,
          fmt::format("The workload: list-append, rw-register, cas-register, mutex or one of "
                      "objects: {}",
                      fmt::join(kElleObjects, ", ")))
      ->required()
      ->type_name("MODEL");
  command
      .add_option("-c,--consistency-models", arguments.models,
                  "The consistency models that the history must satisfy, separated by commas. "
                  "cas-register and mutex are checked for linearizability instead, and objects by "
                  "the rules of Jepsen's checkers")
      ->capture_default_str()
      ->type_name("MODELS");
  command
      .add_option(
          "-a,--anomalies", arguments.anomalies,
          "Anomalies to look for, separated by commas. The models must forbid them, so that "
          "this changes nothing")
      ->capture_default_str()
      ->type_name("ANOMALIES");
  command
      .add_option("-f,--format", arguments.format,
                  "edn or json. Both are recognised by content. Default: any format that cupel "
                  "reads")
      ->type_name("FORMAT");
  command.add_option("-v,--output", arguments.output, "text or json")
      ->capture_default_str()
      ->type_name("OUTPUT");
  command.add_flag("--verbose", arguments.verbose, "The same as --output json");
  command
      .add_option("-d,--directory", arguments.directory,
                  "Write the report of `cupel check --report` to this folder")
      ->check(not_standard_output("the folder to write to"))
      ->type_name("DIR");
  add_interpretation_options(command, arguments.as);
  add_limit_options(command, "The time for one history", arguments.limits);
  command.add_flag("-n,--allow-negative-balances", arguments.negative_balances,
                   "Model bank: balances may be negative");
  command
      .add_option("-o,--total-amount", arguments.total,
                  "Model bank: the total of all accounts. Default: that of the first read")
      ->type_name("NUMBER");
  command.add_option("--max-transfer", arguments.max_transfer, "Model bank: not needed")
      ->type_name("NUMBER")
      ->group(kNoEffect);
  command.add_option("-p,--plot-format", arguments.plot_format, "svg")
      ->capture_default_str()
      ->type_name("FORMAT")
      ->group(kNoEffect);
  command.add_option("-s,--cycle-search-timeout", arguments.search_ms, "cupel has --timeout")
      ->type_name("MS")
      ->group(kNoEffect);
  command.add_option("-t,--plot-timeout", arguments.plot_ms, "Pictures take no time")
      ->type_name("MS")
      ->group(kNoEffect);
  command.add_option("-b,--max-plot-bytes", arguments.plot_bytes, "Pictures are of one violation")
      ->type_name("BYTES")
      ->group(kNoEffect);
}

}  // namespace

void add_elle(Command& app, Run& run) {
  auto* command = add_command(app, "elle");
  auto arguments = std::make_shared<ElleArguments>();
  add_options(*command, *arguments);
  command->footer(
      "Output: a line FILE <TAB> true, false or unknown for each history, as elle-cli prints it.\n"
      "Exit code: 0 all are true, 1 one is false, 2 one is unknown, 3 bad input or usage; the\n"
      "largest over all files.\n"
      "\n"
      "Examples:\n"
      "  cupel elle --model list-append history.edn\n"
      "  cupel elle -m rw-register -c snapshot-isolation --verbose history.json\n"
      "  cupel elle -m list-append -c serializable -d report history.edn");
  command->callback([arguments, &run] {
    run = [arguments, question = question_of(*arguments)] {
      return check_files(*arguments, question);
    };
  });
}

}  // namespace cupel::apps
