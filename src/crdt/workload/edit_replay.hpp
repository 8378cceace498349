// Edit replay: the edits of an editing trace on the replicas of an adapter, in place of random
// operations. With one agent, replica 0 edits and the others receive. With several, each has a
// replica of its own, and a last one only receives.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "crdt/workload/adapter_replicas.hpp"
#include "crdt/workload/adapter_schedule.hpp"
#include "crdt/workload/editing_trace.hpp"

namespace cupel::crdt {

class EditReplay {
 public:
  EditReplay(AdapterReplicas& replicas, AdapterSchedule& schedule)
      : replicas_(replicas), schedule_(schedule), text_key_(replicas.text_key()) {}

  void replay(const RecordedEdits& edits);
  // A text of this run in the characters of the trace.
  [[nodiscard]] std::string as_traced(std::string_view text) const;

 private:
  using Json = nlohmann::json;

  std::optional<std::string> unique(const std::string& inserted);
  void record_edit(ReplicaId r, const std::string& deleted, const std::string& before,
                   const std::string& inserted, std::vector<std::string>& ids);
  std::optional<Json> edit(ReplicaId r, Json patches, bool named);
  void refuse_edit(ReplicaId r, const Json& answer, std::string_view why);
  void perform_beside_text(ReplicaId r);
  void replay_one_agent(const RecordedEdits& edits);
  void edit_batch(TracedText& text, const std::vector<RecordedEdit>& all, std::size_t begin,
                  std::size_t end);
  void replay_agents(const RecordedEdits& edits);
  void edit_named(const RecordedEdits& edits, std::uint32_t t, std::vector<MessageId>& made);

  [[nodiscard]] const AdapterRunOptions& options() const { return replicas_.options(); }
  [[nodiscard]] Recorder& recorder() { return replicas_.recorder(); }
  [[nodiscard]] base::Random& random() { return recorder().random(); }
  [[nodiscard]] ReplicaMessages& messages() { return replicas_.messages(); }

  AdapterReplicas& replicas_;
  AdapterSchedule& schedule_;
  const std::uint32_t text_key_;
  std::vector<std::string> originals_;  // by number: what its characters stand for
};

}  // namespace cupel::crdt
