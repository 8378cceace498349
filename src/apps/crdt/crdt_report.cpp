// Run report: see the header.
#include "apps/crdt/crdt_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

namespace cupel::apps {

bool CrdtRunReport::went_wrong() const {
  return recorded_.throws > 0 || recorded_.stuck > 0;
}

std::string CrdtRunReport::wrong_text() const {
  std::string text;
  if (recorded_.throws > 0)
    text += fmt::format("  the library threw {} time{}, first at {}\n", recorded_.throws,
                        recorded_.throws == 1 ? "" : "s", recorded_.first_throw);
  if (recorded_.stuck > 0) {
    text += fmt::format(
        "  {} deliveries had no effect although all others had been made, first that of {}\n",
        recorded_.stuck, recorded_.first_stuck);
  }
  return text;
}

void CrdtRunReport::leave_out_crashed(const crdt::History& history,
                                      std::optional<crdt::Convergence>& convergence) const {
  if (!convergence) return;
  const auto& going_on = recorded_.processes;
  std::erase_if(convergence->unread, [&](const auto& unread) {
    return std::find(going_on.begin(), going_on.end(), history.replicas[unread.second]) ==
           going_on.end();
  });
}

std::string CrdtRunReport::network_text() const {
  return fmt::format(
      "  {}, {}; replicas: {}{}; messages: {}; deliveries: {}, {} of them again; lost: {}\n"
      "  partitions: {}; restarts: {}; crashes: {}; syncs: {}; merged files: {}; exchanges: {}; "
      "compactions: {}\n",
      library_.name, options_.object, options_.replicas,
      recorded_.joined_late ? ", one of them late" : "", recorded_.messages, recorded_.delivered,
      recorded_.again, recorded_.lost, recorded_.partitions, recorded_.restarts, recorded_.crashes,
      recorded_.syncs, recorded_.merges, recorded_.exchanges, recorded_.compactions);
}

std::string CrdtRunReport::in_text(const std::string& report) const {
  const auto verdict = report.find('\n') + 1;
  return report.substr(0, verdict) + wrong_text() + report.substr(verdict) + network_text();
}

void CrdtRunReport::add_to(nlohmann::ordered_json& report) const {
  using Json = nlohmann::ordered_json;
  report["library"] = library_.name;
  report["object"] = options_.object;
  report["threw_count"] = recorded_.throws;
  report["threw"] = Json::array();
  for (const auto& [replica, operation, message] : recorded_.threw) {
    Json one = {{"replica", nullptr}, {"operation", Json::parse(operation)}, {"message", message}};
    if (replica) one["replica"] = *replica;
    report["threw"].push_back(std::move(one));
  }
  report["not_applied_count"] = recorded_.stuck;
  report["not_applied"] = Json::array();
  for (const auto& [replica, message] : recorded_.not_applied)
    report["not_applied"].push_back({{"replica", replica}, {"message", message}});
  report["network"] = {{"joined_late", recorded_.joined_late},
                       {"messages", recorded_.messages},
                       {"deliveries", recorded_.delivered},
                       {"again", recorded_.again},
                       {"lost", recorded_.lost},
                       {"partitions", recorded_.partitions},
                       {"restarts", recorded_.restarts},
                       {"crashes", recorded_.crashes},
                       {"syncs", recorded_.syncs},
                       {"merged_files", recorded_.merges},
                       {"exchanges", recorded_.exchanges},
                       {"compactions", recorded_.compactions}};
}

}  // namespace cupel::apps
