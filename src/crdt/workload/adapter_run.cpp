// Adapter run: see the header.
#include "crdt/workload/adapter_run.hpp"

#include <map>
#include <numeric>
#include <set>

#include "base/budget.hpp"
#include "crdt/workload/adapter_replicas.hpp"
#include "crdt/workload/adapter_schedule.hpp"
#include "crdt/workload/edit_replay.hpp"

namespace cupel::crdt {

namespace {

using Json = nlohmann::json;
using StepKind = AdapterStep::Kind;

// The steps of another run again.
class StepReplay {
 public:
  explicit StepReplay(AdapterReplicas& replicas) : replicas_(replicas) {}

  void repeat(const AdapterStep& step) {
    const ReplicaId r = step.replica;
    switch (step.kind) {
      case StepKind::kOperation:
        repeat_operation(step);
        break;
      case StepKind::kDeliver:
        if (const auto made = remade_.find(step.message); made != remade_.end())
          hand_again(r, made->second);
        break;
      case StepKind::kSync:
        replicas_.sync(r, step.other);
        break;
      case StepKind::kRestart:
        replicas_.restart(r);
        break;
      case StepKind::kSave:
        replicas_.save(r);
        break;
      case StepKind::kCrash:
        replicas_.crash(r);
        break;
      case StepKind::kJoin:
        replicas_.join_from(r, step.other);
        break;
      case StepKind::kClock:
        replicas_.set_clock(r, step.ahead);
        break;
      case StepKind::kMerge:
        replicas_.merge(r, step.other);
        break;
      case StepKind::kGreet:
        replicas_.greet(r, step.other);
        break;
      case StepKind::kHear:
        replicas_.hear(r, step.other);
        break;
      case StepKind::kCompact:
        replicas_.compact(r);
        break;
    }
  }

 private:
  void repeat_operation(const AdapterStep& step) {
    const base::AllocationWatch::Deferral deferral;  // JSON's destructors allocate
    Json question = step.question;
    const bool is_node =
        recorder().type_of(step.operation.key).type == Type::kTree && question.contains("value");
    const Json asked = is_node ? question["value"] : Json();
    if (is_node) rename_nodes(question["value"]);
    Operation op = step.operation;
    op.replica = step.replica;
    const auto count = messages().size(), steps = recorded().steps.size();
    replicas_.perform(op, question);
    if (messages().size() > count) remade_[step.message] = count;
    if (is_node && asked.is_array() && recorded().steps.size() > steps)
      renamed_[asked[0]] = recorded().steps.back().question["value"][0];
  }

  // As the library names them this time.
  void rename_nodes(Json& value) const {
    if (value.is_array()) {
      for (Json& part : value) rename_nodes(part);
    } else if (const auto name = renamed_.find(value); name != renamed_.end()) {
      value = name->second;
    }
  }

  // As far as the library survives it without what is missing now.
  void hand_again(ReplicaId to, MessageId m) {
    const auto status = messages().status(to, m);
    const bool had = status == MessageStatus::kWaiting || status == MessageStatus::kApplied;
    if (had && !replicas_.has(Hazard::kDuplicates)) return;
    const bool in_order = !replicas_.has(Hazard::kReordering) || messages()[m].is_silent();
    if (!had && in_order && !messages().has_past_of(messages()[m], to)) return;
    replicas_.hand(to, m);
  }

  [[nodiscard]] Recorder& recorder() { return replicas_.recorder(); }
  [[nodiscard]] ReplicaMessages& messages() { return replicas_.messages(); }
  [[nodiscard]] AdapterRecorded& recorded() { return replicas_.recorded(); }

  AdapterReplicas& replicas_;
  // The messages and nodes that those of the steps are now.
  std::map<MessageId, MessageId> remade_;
  std::map<Json, Json> renamed_;
};

}  // namespace

base::Result<AdapterRecorded> run(Adapter& adapter, const AdapterRunOptions& options) {
  AdapterReplicas replicas(adapter, options);
  AdapterSchedule schedule(replicas);
  EditReplay edits(replicas, schedule);
  const Recorder& recorder = replicas.recorder();
  const auto key_count = static_cast<std::uint32_t>(recorder.keys().size());
  std::vector<std::uint32_t> keys(key_count);
  std::iota(keys.begin(), keys.end(), 0);
  replicas.begin(keys, /*script=*/false);
  for (ReplicaId r = 0; r < options.replicas && replicas.has(Hazard::kClocks); ++r)
    schedule.set_clock(r);
  if (options.edits == nullptr) {
    schedule.run_operations();
  } else {
    edits.replay(*options.edits);
    replicas.crashed_since().erase(replicas.text_key());  // it is edited to the end
  }
  schedule.update_after_crashes();
  schedule.settle();
  for (ReplicaId r = 0; r < options.replicas; ++r) {
    for (std::uint32_t k = 0; k < key_count && !replicas.has_failed(); ++k)
      replicas.perform(recorder.read_of(r, k));
  }
  if (!replicas.has_failed() && options.edits != nullptr)
    replicas.recorded().ends_as_traced =
        edits.as_traced(replicas.last_text()) == options.edits->end;
  if (!options.keep_steps) adapter.program().close();
  return replicas.finished();
}

base::Result<AdapterRecorded> replay(Adapter& adapter, const AdapterRunOptions& options,
                                     const std::vector<AdapterStep>& steps,
                                     const std::vector<History>& names, bool script) {
  AdapterReplicas replicas(adapter, options);
  replicas.recorder().use_names(names);
  std::set<std::uint32_t> used;
  for (const auto& step : steps) {
    if (step.kind == StepKind::kOperation) used.insert(step.operation.key);
  }
  replicas.begin({used.begin(), used.end()}, script);
  StepReplay replay(replicas);
  for (const auto& step : steps) {
    if (!replicas.has_failed()) replay.repeat(step);
  }
  return replicas.finished();
}

}  // namespace cupel::crdt
