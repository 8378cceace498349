// Reads a campaign file. Every field is checked; a name that is not known is an
// error, since a typing mistake must not run another campaign than was meant.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string_view>

#include "base/budget.hpp"
#include "base/fnv.hpp"
#include "base/newlines.hpp"
#include "base/read_file.hpp"
#include "engine/levels/level.hpp"
#include "run/campaign.hpp"
#include "run/lab_url.hpp"

namespace cupel::run {

namespace {

using FileJson = nlohmann::json;

struct Mistake {
  std::string text;
};

[[noreturn]] void wrong(const std::string& place, const FileJson& found,
                        std::string_view expected) {
  throw Mistake{fmt::format("{}: found {}, expected {}", place, found.dump(), expected)};
}

// `expected`: which fields there are.
[[noreturn]] void unknown_field(const std::string& place, std::string_view expected) {
  throw Mistake{fmt::format("{}: found an unknown field, expected {}", place, expected)};
}

template <typename T>
void number(const FileJson& value, const std::string& place, T& target, double low, double high) {
  if (!value.is_number() || value.get<double>() < low || value.get<double>() > high ||
      (std::is_integral_v<T> && !value.is_number_integer())) {
    const auto bound = [](double n) {  // 1000000, not 1e+06
      return n == std::floor(n) ? fmt::format("{:.0f}", n) : fmt::format("{}", n);
    };
    wrong(place, value,
          fmt::format("{} from {} to {}", std::is_integral_v<T> ? "a whole number" : "a number",
                      bound(low), bound(high)));
  }
  target = value.get<T>();
}

std::string text(const FileJson& value, const std::string& place) {
  if (!value.is_string()) wrong(place, value, "a text");
  return value.get<std::string>();
}

// The fields that both the whole file and one workload may have.
bool shape_field(const std::string& name, const FileJson& value, const std::string& place,
                 RunAndCheckOptions& options) {
  auto& shape = options.shape;
  if (name == "sessions") {
    number(value, place, options.run.sessions, 1, kMostSessions);
  } else if (name == "txns") {
    number(value, place, options.run.txns, 0, 1e9);
  } else if (name == "time_limit") {
    number(value, place, options.run.time_limit, 0, 1e7);
  } else if (name == "rate") {
    number(value, place, options.run.rate, 0, 1e9);
  } else if (name == "retries") {
    number(value, place, options.run.retries, 0, 1e6);
  } else if (name == "keys") {
    number(value, place, shape.keys, 1, 1e9);
  } else if (name == "read_share") {
    number(value, place, shape.read_share, 0, 1);
  } else if (name == "read_only") {
    number(value, place, shape.read_only_share, 0, 1);
  } else if (name == "write_only") {
    number(value, place, shape.write_only_share, 0, 1);
  } else if (name == "rmw") {
    number(value, place, shape.rmw_share, 0, 1);
  } else if (name == "duplicates") {
    number(value, place, shape.duplicates, 0, 1);
  } else if (name == "scale") {
    number(value, place, shape.scale, 0.001, 1000);
  } else if (name == "deletes") {
    if (!value.is_boolean()) wrong(place, value, "true or false");
    shape.tombstones = !value.get<bool>();
  } else if (name == "live") {
    if (!value.is_boolean()) wrong(place, value, "true or false");
    options.live = value.get<bool>();
  } else if (name == "ops") {
    if (value.is_array() && value.size() == 2) {
      number(value[0], place + "[0]", shape.min_ops, 1, 100000);
      number(value[1], place + "[1]", shape.max_ops, shape.min_ops, 100000);
    } else if (value.is_number_integer()) {
      number(value, place, shape.min_ops, 1, 100000);
      shape.max_ops = shape.min_ops;
    } else {
      wrong(place, value, "a number, or [lowest, highest]");
    }
  } else if (name == "distribution") {
    const auto found = workload::parse_distribution(text(value, place));
    if (!found) wrong(place, value, "\"uniform\", \"zipf\", \"hotspot\" or \"exponential\"");
    shape.distribution = *found;
  } else if (name == "timeout") {
    double seconds = 0;
    number(value, place, seconds, 0, 1e7);
    options.analysis.check.timeout_seconds = seconds;
  } else {
    return false;
  }
  return true;
}

// A changed plan is another workload under the same name.
std::string plan_sum(const std::string& path) {
  const auto text = base::read_file(path);
  return fmt::format(" {:016x}", base::fnv(text.ok() ? *text : std::string()));
}

struct Database {
  std::string place = {};  // in the file, "databases[0]"
  std::string name = {}, url = {};
  std::vector<std::string> isolations = {};
  std::vector<levels::Level> asked = {};
  ReadFrom read_from = ReadFrom::kOwnHost;
};

ReadFrom read_from(const FileJson& value, const std::string& place) {
  for (const auto one : {ReadFrom::kPrimary, ReadFrom::kReplica, ReadFrom::kAny}) {
    if (value == name(one)) return one;
  }
  wrong(place, value, "\"primary\", \"replica\" or \"any\"");
}

Database database(const FileJson& value, const std::string& place) {
  if (!value.is_object()) wrong(place, value, R"({"name": …, "url": …, "isolations": […]})");
  Database database{.place = place};
  for (const auto& [name, field] : value.items()) {
    const auto at = place + '.' + name;
    if (name == "name") {
      database.name = text(field, at);
    } else if (name == "url") {
      database.url = text(field, at);
    } else if (name == "isolations") {
      if (!field.is_array() || field.empty()) wrong(at, field, "a list of isolation levels");
      for (std::size_t i = 0; i < field.size(); ++i) {
        database.isolations.push_back(text(field[i], fmt::format("{}[{}]", at, i)));
      }
    } else if (name == "level") {
      const auto level = levels::parse_level(text(field, at));
      if (!level) wrong(at, field, "a level of `cupel levels`");
      database.asked.push_back(*level);
    } else if (name == "read_from") {
      database.read_from = read_from(field, at);
    } else {
      unknown_field(at, "name, url, isolations, level or read_from");
    }
  }
  // The name identifies the results; a URL may hold a password.
  if (database.name.empty()) {
    const auto scheme = database.url.find(':');
    database.name = is_lab_url(database.url)
                        ? database.url.substr(scheme + 1, database.url.find('?') - scheme - 1)
                        : database.url.substr(0, scheme);
  }
  if (database.name.empty()) database.name = "sqlite";
  if (database.isolations.empty()) database.isolations.emplace_back();
  // One spelling, so that a level is one column; and known before anything runs.
  for (std::size_t i = 0; i < database.isolations.size(); ++i) {
    auto level =
        isolation_of(database.url.empty() ? "sqlite:" : database.url, database.isolations[i]);
    if (!level.ok()) throw Mistake{fmt::format("{}: {}", place, level.error().message)};
    database.isolations[i] = *std::move(level);
    for (std::size_t j = 0; j < i; ++j) {
      if (database.isolations[j] == database.isolations[i]) {
        wrong(fmt::format("{}.isolations[{}]", place, i), database.isolations[i],
              "each level once");
      }
    }
  }
  return database;
}

std::vector<Database> databases_of(const FileJson& value, const std::string& place) {
  if (!value.is_array() || value.empty()) wrong(place, value, "a list of databases");
  std::vector<Database> databases;
  for (std::size_t i = 0; i < value.size(); ++i) {
    databases.push_back(database(value[i], fmt::format("{}[{}]", place, i)));
    for (std::size_t j = 0; j < i; ++j) {
      if (databases[j].name == databases[i].name) {
        wrong(fmt::format("{}[{}].name", place, i), databases[i].name, "a name of its own");
      }
    }
  }
  return databases;
}

std::vector<std::uint64_t> seeds_of(const FileJson& value, const std::string& place) {
  std::vector<std::uint64_t> seeds;
  if (value.is_array() && !value.empty()) {
    seeds.assign(value.size(), 0);
    for (std::size_t i = 0; i < value.size(); ++i) {
      number(value[i], fmt::format("{}[{}]", place, i), seeds[i], 0, 1e15);
    }
  } else if (value.is_number_integer()) {
    std::uint64_t count = 0;
    number(value, place, count, 1, 1e6);
    for (std::uint64_t seed = 1; seed <= count; ++seed) seeds.push_back(seed);
  } else {
    wrong(place, value, "how many, or a list of them");
  }
  return seeds;
}

// What is broken during a run, and what its column is called; no name: nothing is.
struct FaultsOfRun {
  std::string place = {};  // in the file, "faults[0]"
  std::string name = {};
  faults::Options options = {};
};

FaultsOfRun faults_of(const FileJson& value, const std::string& place) {
  FaultsOfRun faults{.place = place};
  auto& options = faults.options;
  if (value.is_string()) {
    options.list = value.get<std::string>();
  } else if (!value.is_object()) {
    wrong(place, value, "a list of faults as \"partition,kill\", or an object");
  }
  const FileJson fields = value.is_object() ? value : FileJson::object();
  for (const auto& [name, field] : fields.items()) {
    const auto at = place + '.' + name;
    if (name == "faults") {
      options.list = text(field, at);
    } else if (name == "name") {
      faults.name = text(field, at);
    } else if (name == "every") {
      number(field, at, options.every, 0.01, 1e6);
    } else if (name == "for") {
      number(field, at, options.lasts, 0.01, 1e6);
    } else if (name == "targets") {
      const auto targets = faults::parse_targets(text(field, at));
      if (!targets) wrong(at, field, "one, minority, majority, primaries or all");
      options.targets = *targets;
    } else if (name == "optional") {
      if (!field.is_boolean()) wrong(at, field, "true or false");
      options.optional = field.get<bool>();
    } else {
      unknown_field(at, "faults, name, every, for, targets or optional");
    }
  }
  if (options.list == "none") return {};
  if (const auto list = faults::parse_list(options.list); !list.ok()) {
    throw Mistake{place + ": " + list.error().message};
  }
  if (faults.name.empty()) faults.name = options.list;
  return faults;
}

std::vector<FaultsOfRun> all_faults_of(const FileJson& value, const std::string& place) {
  if (!value.is_array() || value.empty()) wrong(place, value, "a list of faults");
  std::vector<FaultsOfRun> all;
  for (std::size_t i = 0; i < value.size(); ++i) {
    const auto at = fmt::format("{}[{}]", place, i);
    all.push_back(faults_of(value[i], at));
    for (std::size_t j = 0; j < i; ++j) {
      if (all[j].name == all[i].name) wrong(at, value[i], "a name of its own (\"name\")");
    }
  }
  return all;
}

// Faults need a server that the run starts, and time.
void check_faults(const std::vector<FaultsOfRun>& faults, const std::vector<Database>& databases,
                  const FileJson& file) {
  const bool any =
      std::any_of(faults.begin(), faults.end(), [](const auto& one) { return one.options.any(); });
  if (!any) return;
  if (!file.contains("time_limit")) {
    throw Mistake{"faults: found no time_limit, expected one: how long the load lasts"};
  }
  for (const auto& database : databases) {
    if (is_lab_url(database.url)) continue;
    throw Mistake{
        fmt::format("{}.url: found the database {}, which cupel does not start, so that it can "
                    "have no `faults`; expected lab:KIND, as in lab:postgres",
                    database.place, database.name)};
  }
}

StopAt stop_of(const FileJson& value, const std::string& place) {
  const auto stop = text(value, place);
  if (stop == "first") return StopAt::kFirst;
  if (stop == "never") return StopAt::kNever;
  if (stop != "each") wrong(place, value, "\"each\", \"first\" or \"never\"");
  return StopAt::kEach;
}

// A workload with its options.
struct Row {
  std::string name;
  RunAndCheckOptions options;
  std::string definition;  // everything that decides what is run
};

std::string definition_of(const RunAndCheckOptions& o) {
  auto definition = fmt::format(
      "{} {} {} {} {} {} {}-{} {} {} {} {} {} {} {} {} {} {}", o.workload, o.run.sessions,
      o.run.txns, o.run.time_limit, o.run.rate, o.run.retries, o.shape.min_ops, o.shape.max_ops,
      o.shape.keys, o.shape.read_share, o.shape.read_only_share, o.shape.write_only_share,
      o.shape.rmw_share, o.shape.duplicates, o.shape.scale, o.shape.tombstones,
      workload::name(o.shape.distribution), o.analysis.check.timeout_seconds.value_or(0));
  if (o.live) definition += " live";
  if (o.workload.ends_with(".json")) definition += plan_sum(o.workload);
  return definition;
}

// `value`: an element of the file's workloads, at `place`. If it names no workload, `usual` runs.
Row row_of(const FileJson& file, const FileJson& value, const std::string& place,
           const std::string& usual) {
  if (!value.is_string() && !value.is_object()) {
    wrong(place, value, "a workload's name, or an object with its options");
  }
  Row row;
  auto& options = row.options;
  options.workload = value.is_string()            ? value.get<std::string>()
                     : value.contains("workload") ? text(value["workload"], place + ".workload")
                                                  : usual;
  row.name = options.workload;
  // The source's own options, then the file's for all, then this workload's.
  for (const auto& info : workload::all_workloads()) {
    if (info.name == options.workload) options.shape = info.defaults;
  }
  // All of a plan, unless less is asked for.
  const bool plan = options.workload.ends_with(".json");
  if (plan || file.contains("faults")) options.run.txns = 0;
  for (const auto& [name, field] : file.items()) shape_field(name, field, name, options);
  const FileJson own = value.is_object() ? value : FileJson::object();
  for (const auto& [name, field] : own.items()) {
    const auto at = place + '.' + name;
    if (name == "name") {
      row.name = text(field, at);
    } else if (name != "workload" && !shape_field(name, field, at, options)) {
      unknown_field(at, "one of those in docs/reference/campaign.md");
    }
  }
  if (plan) return row;
  const auto made = workload::make_workload(options.workload, options.shape);
  if (!made.ok()) throw Mistake{place + ": " + made.error().message};
  return row;
}

std::vector<Row> rows_of(const FileJson& file, const std::string& usual) {
  std::vector<Row> rows;
  const FileJson workloads = file.value("workloads", FileJson::array({FileJson::object()}));
  for (std::size_t i = 0; i < workloads.size(); ++i) {
    const auto place = fmt::format("workloads[{}]", i);
    auto row = row_of(file, workloads[i], place, usual);
    for (const auto& other : rows) {
      if (other.name == row.name) wrong(place, row.name, "a name of its own (\"name\")");
    }
    const auto& run = row.options.run;
    if (!row.options.workload.ends_with(".json") && run.txns == 0 && run.time_limit == 0) {
      throw Mistake{place + ": found txns 0, which needs a time_limit"};
    }
    row.definition = definition_of(row.options);
    rows.push_back(std::move(row));
  }
  return rows;
}

// What runs on the database at that level where the file names no workload.
std::string usual_workload(const Database& database, const std::string& isolation) {
  const auto can = can_at(database.url.empty() ? "sqlite:" : database.url, isolation);
  if (!can.ok()) throw Mistake{can.error().message};
  return std::string(default_workload(*can));
}

// A database at a level, and what runs on it.
struct Target {
  const Database& database;
  const std::string& isolation;
  std::vector<Row> rows;
};

std::string definition_of(const FaultsOfRun& faults) {
  const auto& o = faults.options;
  if (!o.any()) return "";
  return fmt::format(" | {} {} {} {} {}", faults.name, o.list, o.every, o.lasts,
                     faults::name(o.targets));
}

// Messages name the fields of the file.
SettingNames names_of(const Database& database, const FaultsOfRun& faults) {
  return {.sessions = "sessions",
          .time_limit = "time_limit",
          .read_from = database.place + ".read_from",
          .isolation = database.place + ".isolations",
          .faults = faults.place,
          .fault_every = faults.place + ".every",
          .faults_optional = faults.place + ".optional: true",
          .commands = ""};
}

CampaignRun run_of(const Target& target, const Row& row, const FaultsOfRun& faults,
                   std::uint64_t seed) {
  const auto& [database, isolation, rows] = target;
  CampaignRun run{.database = database.name,
                  .isolation = isolation,
                  .workload = row.name,
                  .faults = faults.name,
                  .options = row.options,
                  .identity = {}};
  run.options.url = database.url;
  run.options.open.isolation = isolation;
  run.options.run.read_from =
      database.read_from == ReadFrom::kOwnHost ? usual_read_from(database.url) : database.read_from;
  run.options.inject = faults.options;
  run.options.run.seed = seed;
  run.options.run.names = names_of(database, faults);
  run.options.analysis.check.asked = database.asked;
  std::string asked;
  for (const auto level : database.asked) asked += fmt::format(" | {}", levels::name(level));
  if (database.read_from != ReadFrom::kOwnHost) {
    asked += fmt::format(" | reads from {}", name(database.read_from));
  }
  run.identity = fmt::format("{} | {} | {} | {} | seed {}{}{}", database.name, isolation, row.name,
                             row.definition, seed, asked, definition_of(faults));
  return run;
}

Campaign campaign_of(const FileJson& file) {
  if (!file.is_object())
    throw Mistake{"found no JSON object, expected one with databases, workloads and seeds"};
  Campaign campaign;
  RunAndCheckOptions of_all;  // looked at here, taken by each workload
  std::vector<Database> databases;
  std::vector<std::uint64_t> seeds{1};
  std::vector<FaultsOfRun> faults{{}};
  for (const auto& [name, value] : file.items()) {
    if (name == "databases") {
      databases = databases_of(value, name);
    } else if (name == "workloads") {
      if (!value.is_array() || value.empty()) wrong(name, value, "a list of workloads");
    } else if (name == "seeds") {
      seeds = seeds_of(value, name);
    } else if (name == "faults") {
      faults = all_faults_of(value, name);
    } else if (name == "budget") {
      number(value, name, campaign.budget, 0, 1e9);
    } else if (name == "stop") {
      campaign.stop = stop_of(value, name);
    } else if (!shape_field(name, value, name, of_all)) {
      unknown_field(name, "one of those in docs/reference/campaign.md");
    }
  }
  if (databases.empty()) throw Mistake{"found no databases, expected a list of them"};
  check_faults(faults, databases, file);
  std::vector<Target> targets;
  for (const auto& database : databases) {
    for (const auto& isolation : database.isolations) {
      targets.push_back({database, isolation, rows_of(file, usual_workload(database, isolation))});
    }
  }
  for (const auto seed : seeds) {
    for (const auto& target : targets) {
      for (const auto& each : faults) {
        for (const auto& row : target.rows) {
          campaign.runs.push_back(run_of(target, row, each, seed));
        }
      }
    }
  }
  return campaign;
}

}  // namespace

base::Result<Campaign> read_campaign(const std::string& path) {
  std::ifstream in(path);
  std::stringstream content;
  if (!in || std::filesystem::is_directory(path) || !(content << in.rdbuf())) {
    return base::Error{.message =
                           "cannot read the campaign: is the path right, and is it a file "
                           "with a JSON object in it?",
                       .file = path};
  }
  try {
    const base::AllocationWatch::Deferral deferral;  // JSON's destructors allocate
    return campaign_of(FileJson::parse(content.str(), nullptr, true, true));
  } catch (const FileJson::parse_error& error) {
    const auto text = content.str();
    const auto at =
        std::min<std::size_t>(error.byte - std::min<std::size_t>(error.byte, 1), text.size());
    return base::Error{.message =
                           "found no JSON here, expected a campaign: an object with databases, "
                           "workloads and seeds (docs/reference/campaign.md)",
                       .file = path,
                       .line = 1 + base::count_newlines(std::string_view(text).substr(0, at))};
  } catch (const Mistake& mistake) {
    return base::Error{.message = mistake.text, .file = path};
  }
}

}  // namespace cupel::run
