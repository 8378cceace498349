// Campaign results: see the header.
#include "run/campaign_results.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string_view>

#include "base/budget.hpp"
#include "base/text/json.hpp"
#include "base/write_file.hpp"

namespace cupel::run {

namespace {

using Json = nlohmann::ordered_json;

Json to_json(const CampaignResult& r) {
  return {{"identity", r.identity},   {"database", r.database},
          {"isolation", r.isolation}, {"workload", r.workload},
          {"faults", r.faults},       {"seed", r.seed},
          {"product", r.product},     {"asked", r.asked},
          {"verdict", r.verdict},     {"error", r.error},
          {"anomalies", r.anomalies}, {"strongest_satisfied", r.strongest_satisfied},
          {"committed", r.committed}, {"aborted", r.aborted},
          {"unknown", r.unknown},     {"seconds", r.seconds},
          {"history", r.history},     {"without_faults", r.without_faults}};
}

// Throws Json::exception on what is no result.
CampaignResult from_json(const Json& json) {
  CampaignResult r;
  json.at("identity").get_to(r.identity);
  json.at("database").get_to(r.database);
  json.at("isolation").get_to(r.isolation);
  json.at("workload").get_to(r.workload);
  r.faults = json.value("faults", std::string());  // files of before have none
  json.at("seed").get_to(r.seed);
  json.at("product").get_to(r.product);
  json.at("asked").get_to(r.asked);
  json.at("verdict").get_to(r.verdict);
  json.at("error").get_to(r.error);
  json.at("anomalies").get_to(r.anomalies);
  json.at("strongest_satisfied").get_to(r.strongest_satisfied);
  json.at("committed").get_to(r.committed);
  json.at("aborted").get_to(r.aborted);
  json.at("unknown").get_to(r.unknown);
  json.at("seconds").get_to(r.seconds);
  json.at("history").get_to(r.history);
  r.without_faults = json.value("without_faults", false);
  return r;
}

constexpr std::array kStops{std::pair(StopAt::kEach, "each"), std::pair(StopAt::kFirst, "first"),
                            std::pair(StopAt::kNever, "never")};

base::Error not_of_campaign(const std::string& path, std::optional<std::uint64_t> line) {
  return base::Error{.message =
                         "found no result of a campaign, expected what an earlier time "
                         "wrote; use another folder, or remove the line",
                     .file = path,
                     .line = line};
}

base::Error cannot_read(const std::string& path) {
  return base::Error{.message = fmt::format("cannot read the results: {}", std::strerror(errno)),
                     .file = path};
}

}  // namespace

std::string result_line(const CampaignResult& result) {
  const base::AllocationWatch::Deferral deferral;  // JSON's destructors allocate
  return text::dump(to_json(result));
}

base::Status read_results(const std::string& path, KnownResults& results) {
  errno = 0;
  std::ifstream in(path);
  if (!in && errno != ENOENT) return cannot_read(path);  // or nothing would replace what is there
  std::string line;
  std::uint64_t number = 0;
  while (std::getline(in, line)) {
    ++number;
    const bool whole = !in.eof();
    try {
      const base::AllocationWatch::Deferral deferral;  // JSON's destructors allocate
      auto result = from_json(Json::parse(line));
      results.insert_or_assign(result.identity, std::move(result));
    } catch (const Json::exception&) {
      if (!whole) break;
      return not_of_campaign(path, number);
    }
  }
  return base::Ok{};
}

base::Status read_result_of_shard(const std::string& path, KnownResults& results) {
  errno = 0;
  std::ifstream in(path);
  if (!in && errno == ENOENT) return base::Ok{};
  std::stringstream content;
  if (!in || !(content << in.rdbuf())) return cannot_read(path);
  try {
    const base::AllocationWatch::Deferral deferral;  // JSON's destructors allocate
    auto result = from_json(Json::parse(content.str()));
    const auto known = results.find(result.identity);
    // What failed elsewhere may have been made here.
    if (known != results.end() && result.verdict == "error") return base::Ok{};
    results.insert_or_assign(result.identity, std::move(result));
  } catch (const Json::exception&) {
    return base::Error{.message =
                           "found no result of a shard, expected what an earlier time "
                           "wrote; remove the file, and its run is made again",
                       .file = path};
  }
  return base::Ok{};
}

std::string file_stem(const CampaignRun& run) {
  std::string name = fmt::format("{}-{}-{}{}-{}", run.database, run.isolation, run.workload,
                                 run.faults.empty() ? "" : "-" + run.faults, run.options.run.seed);
  for (char& c : name) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                       c == '-' || c == '.';
    if (!plain) c = '_';
  }
  // Names that differ in what is not plain, and columns of other campaigns in the
  // same folder, are distinguished by the identity.
  std::uint32_t sum = 2166136261;  // FNV-1a
  for (const char c : run.identity) sum = (sum ^ static_cast<unsigned char>(c)) * 16777619U;
  return fmt::format("{}-{:08x}", name, sum);
}

std::string result_file(const std::string& folder, const CampaignRun& run) {
  return fmt::format("{}/runs/{}.json", folder, file_stem(run));
}

std::string cell_of(const CampaignRun& run) {
  return run.database + '\n' + run.isolation + '\n' + run.workload + '\n' + run.faults;
}

namespace {

std::string plan_text(const Campaign& campaign) {
  const base::AllocationWatch::Deferral deferral;  // JSON's destructors allocate
  Json plan;
  for (const auto& [stop, name] : kStops) {
    if (stop == campaign.stop) plan["stop"] = name;
  }
  plan["runs"] = Json::array();
  for (const auto& run : campaign.runs) {
    plan["runs"].push_back({{"identity", run.identity},
                            {"database", run.database},
                            {"isolation", run.isolation},
                            {"workload", run.workload},
                            {"faults", run.faults},
                            {"seed", run.options.run.seed}});
  }
  return text::dump(plan) + "\n";
}

// Throws Json::exception on what is no plan.
Campaign plan_of(const Json& json) {
  Campaign campaign;
  const auto stop = json.at("stop").get<std::string>();
  for (const auto& [value, name] : kStops) {
    if (stop == name) campaign.stop = value;
  }
  for (const auto& one : json.at("runs")) {
    CampaignRun run;
    one.at("identity").get_to(run.identity);
    one.at("database").get_to(run.database);
    one.at("isolation").get_to(run.isolation);
    one.at("workload").get_to(run.workload);
    one.at("faults").get_to(run.faults);
    one.at("seed").get_to(run.options.run.seed);
    campaign.runs.push_back(std::move(run));
  }
  return campaign;
}

}  // namespace

// By a fresh file: several shards may write the same plan at once.
base::Status write_plan(const Campaign& campaign, const std::string& folder) {
  const auto path = folder + "/plan.json";
  const auto text = plan_text(campaign);
  {
    std::ifstream in(path, std::ios::binary);
    std::stringstream before;
    if (in && before << in.rdbuf() && before.str() == text) return base::Ok{};
  }
  return base::replace_file(path, text);
}

base::Result<Campaign> read_campaign_plan(const std::string& folder) {
  const auto path = folder + "/plan.json";
  std::ifstream in(path, std::ios::binary);
  std::stringstream content;
  if (!in || !(content << in.rdbuf())) {
    return base::Error{.message =
                           "cannot read the plan of a campaign; expected a folder that "
                           "`cupel campaign -o` made",
                       .file = path};
  }
  try {
    const base::AllocationWatch::Deferral deferral;  // JSON's destructors allocate
    return plan_of(Json::parse(content.str()));
  } catch (const Json::exception&) {
    return base::Error{.message =
                           "found no plan of a campaign, expected what an earlier time "
                           "wrote; run the campaign again, which writes it",
                       .file = path};
  }
}

base::Result<Lock> Lock::take(const std::string& path, Kind kind, const std::string& busy) {
  int file = ::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (file < 0 && (errno == ENOENT || errno == ENOTDIR)) {
    file = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
  }
  if (file < 0) {
    return base::Error{.message = fmt::format("cannot open: {}", std::strerror(errno)),
                       .file = path};
  }
  Lock lock(file);
  // A file system without such locks is no reason not to run.
  if (::flock(file, (kind == Kind::kOnly ? LOCK_EX : LOCK_SH) | LOCK_NB) != 0 &&
      errno == EWOULDBLOCK) {
    return base::Error{.message = busy, .file = path};
  }
  return lock;
}

Lock::~Lock() {
  if (file_ >= 0) ::close(file_);
}

}  // namespace cupel::run
