// The list of workloads, and the check of their options.
#include "data/workload/workload.hpp"

#include <fmt/format.h>

#include <array>
#include <string>
#include <vector>

#include "base/spelling.hpp"
#include "data/workload/workload_spec.hpp"

namespace cupel::workload {

extern const WorkloadSpec kGeneralWorkload, kMiniWorkload, kLwtWorkload, kBlindwRmWorkload,
    kBlindwRwWorkload, kLongForkWorkload, kRangeBWorkload, kRangeRqhWorkload, kRangeIdhWorkload,
    kAppendWorkload, kTpccWorkload, kRubisWorkload, kTwitterWorkload, kSmallbankWorkload,
    kCoursewareWorkload;

namespace {

constexpr std::array kWorkloads = {&kGeneralWorkload,  &kMiniWorkload,      &kLwtWorkload,
                                   &kBlindwRmWorkload, &kBlindwRwWorkload,  &kLongForkWorkload,
                                   &kRangeBWorkload,   &kRangeRqhWorkload,  &kRangeIdhWorkload,
                                   &kAppendWorkload,   &kTpccWorkload,      &kRubisWorkload,
                                   &kTwitterWorkload,  &kSmallbankWorkload, &kCoursewareWorkload};

std::vector<std::string> names() {
  std::vector<std::string> all;
  for (const auto* spec : kWorkloads) all.emplace_back(spec->info.name);
  return all;
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
  static const auto all = [] {
    std::array<WorkloadInfo, kWorkloads.size()> infos{};
    for (std::size_t i = 0; i < infos.size(); ++i) infos[i] = kWorkloads[i]->info;
    return infos;
  }();
  return all;
}

base::Result<WorkloadPointer> make_workload(std::string_view name, const WorkloadOptions& options) {
  for (const auto* spec : kWorkloads) {
    if (spec->info.name != name) continue;
    if (auto wrong = out_of_range(options)) return base::Error{.message = std::move(*wrong)};
    return spec->make(options);
  }
  return base::Error{.message =
                         fmt::format("there is no workload `{}`.{} Write {}", name,
                                     base::suggestion(name, names()), base::one_of(names()))};
}

}  // namespace cupel::workload
