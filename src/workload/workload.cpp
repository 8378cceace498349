// The list of workloads, and the check of their options.
#include "workload/workload.hpp"

#include <fmt/format.h>

#include <array>

#include "workload/factories.hpp"

namespace cupel::workload {

namespace {

constexpr WorkloadOptions kGeneral{.keys = 100};
constexpr WorkloadOptions kMini{.keys = 100};
constexpr WorkloadOptions kBlindW{.min_ops = 8, .max_ops = 8, .keys = 2000};
constexpr WorkloadOptions kRange{.min_ops = 8, .max_ops = 8, .keys = 100};
constexpr WorkloadOptions kAppend{.min_ops = 1, .max_ops = 4, .keys = 10};
constexpr WorkloadOptions kApplication{};
constexpr WorkloadOptions kBank{.distribution = Distribution::kHotspot};
constexpr WorkloadOptions kSocial{.distribution = Distribution::kZipf};

struct Entry {
  WorkloadInfo info;
  WorkloadPointer (*make)(const WorkloadOptions&);
};

constexpr std::array kEntries = {
    Entry{{"general", "reads and writes of registers, in any mixture",
           "PolySI, section 5.1; Cobra's, as in MTC, section V-A", kGeneral},
          make_general},
    Entry{{"mini", "mini-transactions: one or two reads, each write after a read of its key",
           "MTC, sections III and V-A", kMini},
          make_mini},
    Entry{{"lwt", "insert-if-absent, compare-and-set and reads of single objects",
           "MTC, section IV-E", kMini},
          make_lwt},
    Entry{{"blindw-rm", "eight reads (90 %) or eight blind writes", "VIPER, section 7", kBlindW},
          make_blindw_rm},
    Entry{{"blindw-rw", "eight reads (50 %) or eight blind writes", "VIPER, section 7", kBlindW},
          make_blindw_rw},
    Entry{{"range-b", "reads, writes, inserts, deletes and range queries, 20 % each",
           "VIPER, section 7", kRange},
          make_range_b},
    Entry{
        {"range-rqh", "50 % range queries, 12.5 % each of the others", "VIPER, section 7", kRange},
        make_range_rqh},
    Entry{{"range-idh", "35 % inserts, 35 % deletes, 10 % each of the others", "VIPER, section 7",
           kRange},
          make_range_idh},
    Entry{{"append", "appends to lists and reads of them", "Elle, section 3", kAppend},
          make_append},
    Entry{{"tpcc", "wholesale supplier: new orders, payments, deliveries",
           "TPC-C 5.11; sizes as in VIPER, section 7", kApplication},
          make_tpcc},
    Entry{{"rubis", "auctions: browse, bid, buy, comment", "RUBiS; sizes as in VIPER, section 7",
           kSocial},
          make_rubis},
    Entry{{"twitter", "tweet, follow, timeline", "Cobra's Twitter; sizes as in VIPER, section 7",
           kSocial},
          make_twitter},
    Entry{{"smallbank", "savings and checking accounts", "Alomari et al., ICDE 2008; OLTPBench",
           kBank},
          make_smallbank},
    Entry{{"courseware", "students enrol in courses of limited capacity",
           "Biswas, thesis, section 4.5.1", kApplication},
          make_courseware},
};

constexpr auto kInfos = [] {
  std::array<WorkloadInfo, kEntries.size()> infos{};
  for (std::size_t i = 0; i < infos.size(); ++i) infos[i] = kEntries[i].info;
  return infos;
}();

std::string names() {
  std::string text;
  for (const auto& info : kInfos) text += (text.empty() ? "" : ", ") + std::string(info.name);
  return text;
}

std::optional<std::string> out_of_range(const WorkloadOptions& o) {
  constexpr std::uint32_t kMostOps = 1'000'000;
  constexpr double kMostScale = 1000;
  if (o.sessions == 0 || o.sessions > kMaxSessions) {
    return fmt::format("found {} sessions, expected 1 to {}", o.sessions, kMaxSessions);
  }
  if (o.keys == 0 || o.keys > kMaxKeys) {
    return fmt::format("found {} keys, expected 1 to {}", o.keys, kMaxKeys);
  }
  if (o.min_ops == 0 || o.min_ops > o.max_ops || o.max_ops > kMostOps) {
    return fmt::format("found {} to {} operations a transaction, expected a range in 1 to {}",
                       o.min_ops, o.max_ops, kMostOps);
  }
  const std::pair<const char*, double> shares[] = {{"read share", o.read_share},
                                                   {"read-only share", o.read_only_share},
                                                   {"write-only share", o.write_only_share},
                                                   {"read-modify-write share", o.rmw_share},
                                                   {"share of duplicates", o.duplicates}};
  for (const auto& [what, share] : shares) {
    if (!(share >= 0 && share <= 1)) {
      return fmt::format("found a {} of {}, expected 0 to 1", what, share);
    }
  }
  const double kinds = o.read_only_share + o.write_only_share + o.rmw_share;
  if (kinds > 1 + 1e-9) {
    return fmt::format(
        "found read-only, write-only and read-modify-write shares of {} together, expected at most "
        "1",
        kinds);
  }
  if (!(o.scale > 0 && o.scale <= kMostScale)) {
    return fmt::format("found a scale of {}, expected more than 0 and at most {}", o.scale,
                       kMostScale);
  }
  return std::nullopt;
}

}  // namespace

std::span<const WorkloadInfo> all_workloads() {
  return kInfos;
}

base::Result<WorkloadPointer> make_workload(std::string_view name, const WorkloadOptions& options) {
  for (const auto& entry : kEntries) {
    if (entry.info.name != name) continue;
    if (auto wrong = out_of_range(options)) return base::Error{.message = std::move(*wrong)};
    return entry.make(options);
  }
  return base::Error{
      .message = fmt::format("found the workload \"{}\", expected one of: {}", name, names())};
}

}  // namespace cupel::workload
