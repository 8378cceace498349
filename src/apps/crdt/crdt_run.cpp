// cupel crdt run: libraries and programs as replicas.
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <optional>

#include "apps/command.hpp"
#include "apps/crdt/crdt_arguments.hpp"
#include "apps/crdt/crdt_check.hpp"
#include "apps/crdt/crdt_report.hpp"
#include "apps/crdt/crdt_reproduce.hpp"
#include "apps/crdt/crdt_subcommands.hpp"
#include "apps/emit.hpp"
#include "apps/options.hpp"
#include "apps/spelling.hpp"
#include "base/budget.hpp"
#include "crdt/workload/adapter.hpp"
#include "crdt/workload/adapter_run.hpp"
#include "crdt/workload/run.hpp"
#include "data/formats/decompress.hpp"

namespace cupel::apps {

namespace {

struct CrdtRunArguments : CrdtArguments {
  std::string output, order = "causal", adapter, faults, edits, reproduce;
  bool names_replicas = false;
  crdt::RunOptions options;
};

// Where adapters and their libraries are. By itself cupel looks in the folders above the program,
// in share/cupel/adapters where it is installed and in adapters of the sources.
crdt::AdapterPlaces adapter_places() {
  const auto value = [](const char* variable) -> std::string {
    const char* text = std::getenv(variable);
    return text != nullptr ? text : "";
  };
  namespace fs = std::filesystem;
  std::error_code none;
  crdt::AdapterPlaces places{.adapters = value("CUPEL_ADAPTERS"),
                             .cache = value("CUPEL_ADAPTER_CACHE")};
  auto folder = fs::read_symlink("/proc/self/exe", none).parent_path();
  while (places.adapters.empty() && folder.has_relative_path()) {
    for (const char* at : {"share/cupel/adapters", "adapters"}) {
      if (fs::exists(folder / at / "harness.mjs", none)) places.adapters = (folder / at).string();
    }
    folder = folder.parent_path();
  }
  if (places.cache.empty()) {
    auto top = value("XDG_CACHE_HOME");
    if (const auto home = value("HOME"); top.empty() && !home.empty()) top = home + "/.cache";
    if (!top.empty()) places.cache = (fs::path(top) / "cupel/adapters").string();
  }
  return places;
}

// Those of --faults, or all that the object survives.
base::Result<std::vector<crdt::Hazard>> hazards_of(const std::string& faults,
                                                   const crdt::Library& library,
                                                   const crdt::ChosenObject& chosen) {
  if (faults.empty()) return chosen.survives;
  std::vector<std::string> promised;
  for (const auto hazard : chosen.survives)
    promised.emplace_back(crdt::kHazardNames[static_cast<std::size_t>(hazard)]);
  if (faults == "all") return chosen.survives;
  std::vector<crdt::Hazard> hazards;
  if (faults == "none") return hazards;
  for (const auto& name : split(faults, ',')) {
    const auto at = std::find(promised.begin(), promised.end(), name);
    if (at == promised.end()) {
      return base::Error{
          .message = fmt::format("--faults: found `{}`, but {} promises to survive {}{}", name,
                                 library.name, promised.empty() ? "none" : one_of(promised),
                                 did_you_mean(name, promised))};
    }
    hazards.push_back(chosen.survives[static_cast<std::size_t>(at - promised.begin())]);
  }
  const auto has = [&](crdt::Hazard hazard) {
    return std::find(hazards.begin(), hazards.end(), hazard) != hazards.end();
  };
  if (has(crdt::Hazard::kLoss) && !has(crdt::Hazard::kReordering)) {
    return base::Error{.message =
                           "--faults: found loss without reordering, expected both: what "
                           "follows a lost message comes out of order"};
  }
  return hazards;
}

// A concurrent trace says how many replicas there are, and what each of them has seen.
std::optional<base::Error> refuse_for_agents(const CrdtRunArguments& arguments) {
  if (arguments.names_replicas) {
    return base::Error{
        .message =
            "--replicas: found it with a concurrent trace, which has a replica for each "
            "agent and one more; leave it out"};
  }
  for (const auto& name : split(arguments.faults, ',')) {
    if (name == "join" || name == "crash") {
      return base::Error{
          .message = fmt::format("--faults: found `{}` with a concurrent trace, which says what "
                                 "each replica has seen; leave it out",
                                 name)};
    }
  }
  return std::nullopt;
}

// The editing trace of a file, which may be compressed.
base::Result<crdt::RecordedEdits> edits_of(const std::string& file) {
  auto bytes = crdt_contents(file);
  if (bytes.ok() && formats::is_compressed(*bytes)) {
    bytes = formats::decompress(*bytes, nullptr);
    if (!bytes.ok()) {
      auto error = bytes.error();
      error.file = file;
      return error;
    }
  }
  if (!bytes.ok()) return bytes.error();
  return crdt::read_edits(*bytes, file);
}

// Without a type, the run has several objects.
int check_run(CrdtRunArguments& arguments, const std::string& lines,
              std::optional<crdt::NamedType> type, const CrdtLimits& limits,
              const CrdtRunReport* ran = nullptr) {
  const bool kept = !arguments.output.empty();
  if (kept && !write_whole(arguments.output, lines, /*append=*/false, "the history")) return kBad;
  const std::string file = kept ? arguments.output : "the run";
  base::Budget budget(limits.timeout, limits.memory_bytes);
  return check_crdt_lines({file, arguments, limits, budget, ran}, lines, type);
}

// Nothing if it is one of the names, and something else was wrong.
std::string suggested(const std::string& word, const std::vector<std::string>& names) {
  const bool is_known = std::find(names.begin(), names.end(), word) != names.end();
  return is_known ? "" : did_you_mean(word, names);
}

// For an object, or else a type, that the library does not offer.
std::string suggested_object(const crdt::Library& library, const std::string& object,
                             const std::string& type) {
  std::vector<std::string> objects, types;
  for (const auto& [name, its] : library.objects) {
    objects.push_back(name);
    types.push_back(its);
  }
  // A weaker or stronger specification of a list that is there.
  const auto asked = crdt::type_of(type);
  for (const auto& [base, spec, means] : kCrdtSpecs) {
    const auto is_offered = [base = base](const std::string& its) {
      const auto offered = crdt::type_of(its);
      return offered && offered->type == base;
    };
    if (base == crdt::Type::kStrongList && base != means && asked && asked->type == means &&
        std::any_of(types.begin(), types.end(), is_offered))
      return fmt::format("; expected --type {} --spec {}", crdt::name(base), spec);
  }
  const bool is_known = std::find(objects.begin(), objects.end(), object) != objects.end();
  return object.empty() || is_known ? suggested(type, types) : suggested(object, objects);
}

// "list,map": the parts.
std::vector<std::string> parts_of(const std::string& list) {
  std::vector<std::string> parts;
  for (std::size_t at = 0; at <= list.size() && !list.empty();) {
    const auto comma = std::min(list.find(',', at), list.size());
    parts.push_back(list.substr(at, comma - at));
    at = comma + 1;
  }
  return parts;
}

// What is wrong with the names of several objects; `objects` or else `types` names them.
std::optional<base::Error> refuse_objects(const crdt::Library& library,
                                          const std::vector<std::string>& objects,
                                          const std::vector<std::string>& types) {
  if (!library.has_several)
    return base::Error{
        .message = fmt::format("found several objects, but the adapter of {} has one at a time",
                               library.name)};
  for (const auto* names : {&objects, &types}) {
    if (std::find(names->begin(), names->end(), "") != names->end())
      return base::Error{.message = "found an empty name among several objects, expected none"};
  }
  if (!objects.empty() && !types.empty() && objects.size() != types.size())
    return base::Error{
        .message = fmt::format("found {} names of objects with {} of --type, expected as many, or "
                               "names of one kind only",
                               objects.size(), types.size())};
  return std::nullopt;
}

// The objects of a run: one, or several in its place.
base::Result<base::Ok> choose_objects(const crdt::Library& library,
                                      const std::vector<std::string>& objects,
                                      const std::vector<std::string>& types,
                                      const CrdtRunArguments& arguments,
                                      crdt::AdapterRunOptions& options) {
  const auto count = std::max(objects.size(), types.size());
  if (count > 1) {
    if (auto error = refuse_objects(library, objects, types)) return std::move(*error);
  }
  for (std::size_t i = 0; i < std::max<std::size_t>(count, 1); ++i) {
    const std::string object = objects.empty() ? "" : objects[i];
    const std::string type = types.empty() ? "" : types[i];
    const auto chosen = crdt::choose_object(library, object, type);
    if (!chosen.ok()) {
      auto error = chosen.error();
      error.message += suggested_object(library, object, type);
      return error;
    }
    const auto same = [&](const auto& other) { return other.name == chosen->object; };
    if (std::any_of(options.objects.begin(), options.objects.end(), same))
      return base::Error{
          .message = fmt::format("found the object {} twice, expected each once; --keys makes more",
                                 chosen->object)};
    const auto hazards = hazards_of(arguments.faults, library, *chosen);
    if (!hazards.ok()) return hazards.error();
    if (i == 0) options.hazards = *hazards;
    std::erase_if(options.hazards, [&](crdt::Hazard hazard) {
      return std::find(hazards->begin(), hazards->end(), hazard) == hazards->end();
    });
    options.object += (i == 0 ? "" : ", ") + chosen->object;
    options.type = with_crdt_spec(chosen->type, crdt_spec(arguments));
    if (count > 1) options.objects.push_back({chosen->object, options.type});
  }
  if (count > 1) options.type = {};
  return base::Ok{};
}

// The edits of --trace, and what they decide of the run.
base::Result<base::Ok> take_edits(const CrdtRunArguments& arguments,
                                  crdt::AdapterRunOptions& options,
                                  std::optional<crdt::RecordedEdits>& edits) {
  std::vector<crdt::Type> types;
  for (const auto& object : options.objects) types.push_back(object.type.type);
  if (types.empty()) types = {options.type.type};
  const auto traced = crdt::traced_object(types);
  if (traced.candidates == 0) {
    return base::Error{.message = fmt::format("--trace: found an object of the type {}, expected a "
                                              "text or marked-text, such as --adapter yjs:text",
                                              crdt::name(types[0]))};
  }
  if (traced.candidates > 1)
    return base::Error{
        .message =
            fmt::format("--trace: found {} texts, expected one that is edited", traced.candidates)};
  auto read = edits_of(arguments.edits);
  if (!read.ok()) return read.error();
  edits = std::move(*read);
  options.edits = &*edits;
  options.keys = 1;
  if (edits->concurrent) {
    if (const auto error = refuse_for_agents(arguments)) return *error;
    options.replicas = edits->agents + 1;
  }
  return base::Ok{};
}

int run_adapter(CrdtRunArguments& arguments, const CrdtLimits& limits) {
  auto name = arguments.adapter;
  std::string object;
  if (const auto colon = name.rfind(':');
      colon != std::string::npos && name.find('/', colon) == std::string::npos) {
    object = name.substr(colon + 1);
    name.resize(colon);
  }
  const auto failed = [](base::Error error, const std::string& suggestion = "") {
    error.message += suggestion;
    print_error(error);
    return kBad;
  };
  const auto command = crdt::adapter_command(
      name, adapter_places(), +[](const std::string& folder) {
        print_note("npm installs the libraries of the adapters once, into " + folder);
      });
  if (!command.ok())
    return failed(command.error(), suggested(name, crdt::adapter_names(adapter_places())));
  auto adapter = crdt::Adapter::start(*command, arguments.options.timeout_seconds);
  if (!adapter.ok()) return failed(adapter.error());
  const auto& library = adapter->library();
  crdt::AdapterRunOptions options;
  static_cast<crdt::Requests&>(options) = arguments.options;
  options.ops = arguments.options.ops;
  options.delivery = arguments.options.delivery;
  options.keep_steps = !arguments.reproduce.empty();
  const auto objects = parts_of(object), types = parts_of(arguments.type);
  const auto chosen = choose_objects(library, objects, types, arguments, options);
  if (!chosen.ok()) return failed(chosen.error());
  std::optional<crdt::RecordedEdits> edits;
  if (!arguments.edits.empty()) {
    const auto read = take_edits(arguments, options, edits);
    if (!read.ok()) return failed(read.error());
  }
  const auto recorded = crdt::run(*adapter, options);
  if (!recorded.ok()) return failed(recorded.error());
  if (recorded->ends_as_traced == false && edits->concurrent) {
    print_note(
        "the last text is not the `endContent` of the trace; libraries place concurrent "
        "insertions in different orders");
  }
  arguments.converge = options.replicas > 1;
  const CrdtRunReport ran(library, options, *recorded);
  const auto type = options.objects.empty() ? std::optional(options.type) : std::nullopt;
  const int code = check_run(arguments, recorded->lines, type, limits, &ran);
  const bool wrong = ran.went_wrong();
  if (wrong && (arguments.json || code == kBad)) print_status(ran.wrong_text());
  if (options.keep_steps && (wrong || code == kViolated) &&
      !write_reproduction(*command, *adapter, options, *recorded,
                          {.file = arguments.reproduce,
                           .strict = arguments.strict,
                           .shrink_seconds = limits.shrink_seconds,
                           .memory_bytes = limits.memory_bytes,
                           .timeout_seconds = arguments.options.timeout_seconds}))
    return kBad;
  // That is certain, even if the convergence is not known because the run ended early.
  return wrong && code != kBad ? kViolated : code;
}

int run_replicas(CrdtRunArguments& arguments, const CrdtLimits& limits) {
  for (const auto& [file, what] :
       {std::pair{arguments.output, "the history"},
        std::pair{arguments.certificate, "the certificate"},
        std::pair{arguments.svg, "the picture"}, std::pair{arguments.reproduce, "the script"}}) {
    if (!file.empty() && !can_write(file, /*append=*/false, what)) return kBad;
  }
  if (!prepare_crdt_page(arguments.page)) return kBad;
  if (!arguments.adapter.empty()) return run_adapter(arguments, limits);
  const auto recorded = crdt::run(arguments.options);
  if (!recorded.ok()) {
    print_error(recorded.error());
    return kBad;
  }
  arguments.converge = recorded->settled && arguments.options.replicas > 1;
  if (!recorded->settled)
    print_note("the replicas did not stop sending; convergence was not checked");
  if (recorded->messages == 0 && arguments.options.replicas > 1) {
    print_note(
        "no replica sent a message; unless the replicas have a network of their own, nothing "
        "was replicated");
  }
  if (!recorded->without_context.empty() && recorded->messages > 0)
    print_note(fmt::format("the deliveries are left out: {}", recorded->without_context));
  return check_run(arguments, recorded->lines, arguments.options.type, limits);
}

// --order and --repeats are the program's promise; an adapter says its own.
void refuse_for_adapter(Command& command, const CrdtRunArguments& arguments) {
  const bool adapter = !arguments.adapter.empty();
  if (!adapter && arguments.options.command.empty())
    throw UsageError("--adapter", "found neither --adapter nor --exec, expected one of them");
  for (const char* option : {"--exec", "--order", "--repeats"}) {
    if (adapter && command.get_option(option)->count() > 0)
      throw UsageError(option, "found it beside --adapter, expected one of them");
  }
  if (!adapter && !arguments.faults.empty())
    throw UsageError("--faults", "found it without --adapter; programs have --order and --repeats");
  if (!adapter && !arguments.edits.empty())
    throw UsageError("--trace", "found it without --adapter, expected a library that replays it");
  if (!adapter && !arguments.reproduce.empty())
    throw UsageError("--reproduce", "found it without --adapter, which writes the script");
  for (const char* option : {"--keys", "--ops"}) {
    if (!arguments.edits.empty() && command.get_option(option)->count() > 0)
      throw UsageError(option, "found it beside --trace, which replays the edits of one text");
  }
  if (!arguments.edits.empty() && !arguments.reproduce.empty())
    throw UsageError("--reproduce",
                     "found it beside --trace, expected one of them: a script is made by leaving "
                     "out requests, and the edits of a trace have positions that rest on all "
                     "edits before; without --trace, --ops makes as many random edits");
}

// Of a run with --adapter.
void add_adapter_options(Command& command, CrdtRunArguments& arguments, const char* group) {
  command
      .add_option("--faults", arguments.faults,
                  "Adapters: "
                  "reordering,duplicates,loss,restart,join,crash,clocks,files,exchange,compaction, "
                  "some of what the library promises to survive, or none. Default: all, which is "
                  "all that it promises")
      ->type_name("LIST")
      ->group(group);
  command
      .add_option("--trace", arguments.edits,
                  "Adapters' texts, with marks or without: replay this editing trace, JSON and "
                  "maybe compressed, in place "
                  "of random operations (docs/reference/crdt-adapters.md#editing-traces)")
      ->type_name("FILE")
      ->group(group);
  command
      .add_option("--reproduce", arguments.reproduce,
                  "Adapters: if something is wrong, run fewer and fewer of the requests again, and "
                  "write a short script in the library's own API that shows it")
      ->type_name("FILE")
      ->group(group);
}

}  // namespace

void add_crdt_run(Command& app, Run& run) {
  auto* command = app.add_subcommand("run",
                                     "Run a library or your own programs as replicas, deliver "
                                     "their messages at random, and check what they return");
  auto arguments = std::make_shared<CrdtRunArguments>();
  auto& options = arguments->options;
  command
      ->add_option("--adapter", arguments->adapter,
                   "A library, such as yjs or automerge, or yjs:text for one of its objects, or "
                   "yjs:text,map for several in one document; or a "
                   "file of your own, with a slash in its path (docs/reference/crdt-adapters.md)")
      ->type_name("NAME");
  command
      ->add_option("--exec", options.command, "The command that sh -c starts once for each replica")
      ->type_name("COMMAND");
  add_crdt_type_option(*command, arguments->type, ". May be left out for an object of an adapter");
  add_crdt_request_options(*command, options);
  const char* group = "Replicas";
  add_adapter_options(*command, *arguments, group);
  command
      ->add_option("--ops", options.ops,
                   "Number of operations of all replicas together, without the final reads")
      ->type_name("N")
      ->check(whole_number(0, 100000000))
      ->capture_default_str()
      ->group(group);
  command
      ->add_option(
          "--delivery", options.delivery,
          "Probability that the next message of another replica arrives before an operation, "
          "from 0 to 1")
      ->type_name("SHARE")
      ->check(share())
      ->capture_default_str()
      ->group(group);
  command
      ->add_option("--order", arguments->order,
                   "Order of delivery: causal, fifo (each sender's messages in order) or any")
      ->type_name("ORDER")
      ->capture_default_str()
      ->group(group);
  command
      ->add_option("--repeats", options.repeats,
                   "Share of messages that are delivered twice, from 0 to 1")
      ->type_name("SHARE")
      ->check(share())
      ->capture_default_str()
      ->group(group);
  command
      ->add_option("--answer-timeout", options.timeout_seconds,
                   "Seconds to wait for the answer of a replica")
      ->type_name("SECONDS")
      ->check(not_negative())
      ->capture_default_str()
      ->group(group);
  command
      ->add_option("-o,--output", arguments->output,
                   "Write the history to this file, as JSON lines")
      ->check(not_standard_output("the file to write"))
      ->type_name("FILE");
  add_crdt_answer_options(*command, *arguments);
  command->footer(
      "Exit code: 0 satisfied and converged, 1 violated or not converged, 2 unknown, 3 a replica\n"
      "does not start, exits early, or violates the protocol in docs/reference/crdt.md#run.\n"
      "\n"
      "Examples:\n"
      "  cupel crdt run --adapter automerge --type counter\n"
      "  cupel crdt run --adapter loro --type list,map,counter\n"
      "  cupel crdt run --adapter delta-crdts:aworset --reproduce aworset.mjs\n"
      "  cupel crdt run --type or-set --exec 'python3 examples/replicated_set.py'\n"
      "  cupel crdt run --type counter --exec ./replica --replicas 5 --order any --repeats 0.1 "
      "--seed 7");
  command->callback([arguments, command, &run] {
    refuse_for_adapter(*command, *arguments);
    arguments->names_replicas = command->get_option("--replicas")->count() > 0;
    if (arguments->adapter.empty()) {
      if (arguments->type.empty()) throw UsageError("--type", "found none, expected a type");
      arguments->options.type = crdt_type(arguments->type, crdt_spec(*arguments));
    }
    const std::vector<std::string> orders = {"causal", "fifo", "any"};
    const auto order = std::find(orders.begin(), orders.end(), arguments->order);
    if (order == orders.end())
      throw UsageError("--order",
                       fmt::format("found `{}`, expected {}", arguments->order, one_of(orders)));
    arguments->options.order = static_cast<crdt::Delivery>(order - orders.begin());
    const auto limits = crdt_limits(*arguments);
    run = [arguments, limits] { return run_replicas(*arguments, limits); };
  });
}

}  // namespace cupel::apps
