// cupel crdt run --adapter: what is reported beside the verdict - what the library threw, messages
// that it did not apply, and the faults of the network.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>

#include "crdt/analysis/analyze.hpp"
#include "crdt/workload/adapter.hpp"
#include "crdt/workload/adapter_run.hpp"

namespace cupel::apps {

// Borrows what it is made of.
class CrdtRunReport {
 public:
  CrdtRunReport(const crdt::Library& library, const crdt::AdapterRunOptions& options,
                const crdt::AdapterRecorded& recorded)
      : library_(library), options_(options), recorded_(recorded) {}

  // For a reason that no verdict has: the library threw, or did not apply a message.
  [[nodiscard]] bool went_wrong() const;
  // That reason, in lines; empty: there is none.
  [[nodiscard]] std::string wrong_text() const;
  // Processes that crashed do not read at the end, and nobody needs to know of them.
  void leave_out_crashed(const crdt::History& history,
                         std::optional<crdt::Convergence>& convergence) const;
  // The report of the history, with that reason right after its first line, and with the faults at
  // its end.
  [[nodiscard]] std::string in_text(const std::string& report) const;
  // The same in the fields of docs/reference/crdt.md#json.
  void add_to(nlohmann::ordered_json& report) const;

 private:
  [[nodiscard]] std::string network_text() const;

  const crdt::Library& library_;
  const crdt::AdapterRunOptions& options_;
  const crdt::AdapterRecorded& recorded_;
};

}  // namespace cupel::apps
