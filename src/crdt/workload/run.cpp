// Run: see the header. Each operation is one line to the program and one line back; a replica
// never has two requests at a time.
#include "crdt/workload/run.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <optional>

#include "base/budget.hpp"
#include "crdt/workload/program.hpp"
#include "crdt/workload/recorder.hpp"

namespace cupel::crdt {

namespace {

using Json = nlohmann::json;

struct Message {
  Json value;
  std::vector<std::size_t> past;  // messages of each replica that the sender had received
  std::string id = {};            // what it carries, as deliver lines name it; empty: nothing new
};

// What has arrived of one sender's messages.
struct Inbox {
  std::size_t in_order = 0;  // the first so many, all
  std::vector<bool> had;     // kAny
};

class Runner {
 public:
  explicit Runner(const RunOptions& options)
      : options_(options), recorder_(options, Arguments::kAsRequested) {}

  base::Result<Recorded> run() {
    for (std::uint32_t r = 0; r < options_.replicas; ++r) {
      auto program =
          Program::start(fmt::format("replica {} (`{}`)", r, options_.command),
                         {.arguments = {"sh", "-c", options_.command},
                          .environment = {{"CUPEL_REPLICA", std::to_string(r)},
                                          {"CUPEL_REPLICAS", std::to_string(options_.replicas)}}},
                         options_.timeout_seconds);
      if (!program.ok()) return std::move(program).error();
      programs_.push_back(std::move(*program));
    }
    sent_.resize(options_.replicas);
    inboxes_.assign(options_.replicas, std::vector<Inbox>(options_.replicas));
    for (std::uint64_t i = 0; i < options_.ops; ++i) {
      const auto r = static_cast<std::uint32_t>(recorder_.random().below(options_.replicas));
      deliver_some(r, options_.delivery);
      if (!failure_) perform(recorder_.next(r));
      if (failure_) return *failure_;
    }
    // A delivery may make a replica send again, as gossip does; that ends, or it is reported.
    constexpr int kMostRounds = 1000;
    for (int round = 0; round < kMostRounds && !recorded_.settled; ++round) {
      const auto before = recorded_.messages;
      for (std::uint32_t r = 0; r < options_.replicas && !failure_; ++r) deliver_some(r, 1);
      if (failure_) return *failure_;
      recorded_.settled = recorded_.messages == before;
    }
    for (std::uint32_t r = 0; r < options_.replicas; ++r) {
      for (std::uint32_t k = 0; k < options_.keys; ++k) {
        perform(recorder_.read_of(r, k));
        if (failure_) return *failure_;
      }
    }
    for (auto& program : programs_) program.close();
    recorded_.lines = recorder_.lines(recorded_.without_context.empty());
    return std::move(recorded_);
  }

 private:
  // Nothing: it failed, which is kept.
  std::optional<Json> request(std::uint32_t replica, const Json& question) {
    auto answer = programs_[replica].ask(question);
    if (!answer.ok()) {
      failure_ = std::move(answer).error();
      return std::nullopt;
    }
    if (answer->contains("send") && !(*answer)["send"].is_null()) {
      Message message{(*answer)["send"], {}};
      for (const auto& inbox : inboxes_[replica]) message.past.push_back(inbox.in_order);
      message.past[replica] = sent_[replica].size();
      sent_[replica].push_back(std::move(message));
      const Json carries = answer->value("carries", Json());
      if (!carries.is_null() && carries != "update" && carries != "state") {
        failure_ = programs_[replica].refused(question, *answer,
                                              ", expected in `carries` \"update\" or \"state\"");
        return std::nullopt;
      }
    }
    return std::move(*answer);
  }

  void hand(std::uint32_t to, std::uint32_t from, std::size_t index) {
    const base::AllocationWatch::Deferral deferral;  // JSON's destructors allocate
    const Json question = {{"f", "deliver"}, {"from", from}, {"value", sent_[from][index].value}};
    const auto answer = request(to, question);
    if (answer && (*answer)["type"] != "ok")
      failure_ = programs_[to].refused(question, *answer, ", expected the type \"ok\"");
    ++recorded_.messages;
    if (failure_) return;
    if (const auto& id = sent_[from][index].id; !id.empty())
      recorder_.note({{"process", to}, {"f", "deliver"}, {"value", {id}}});
    name_message(to, *answer, "");
  }

  // After the line of an operation or delivery: what the message of its answer carries. `update` is
  // the id of the update that it answers.
  void name_message(std::uint32_t replica, const Json& answer, const std::string& update) {
    const bool sends = answer.contains("send") && !answer["send"].is_null();
    const bool says = answer.contains("carries");
    if (says && answer["carries"] == "state") {
      if (!sends) return;
      const auto id = fmt::format("{}!{}", replica, sent_[replica].size() - 1);
      sent_[replica].back().id = id;
      recorder_.note({{"process", replica}, {"f", "send"}, {"id", id}});
      return;
    }
    if (sends) sent_[replica].back().id = update;
    // With causal delivery, whoever gets a message has had all that its sender had.
    if (!update.empty() && !sends && recorded_.without_context.empty()) {
      recorded_.without_context = fmt::format(
          "the answer to an update of replica {} has no message; say \"carries\":\"state\" if "
          "later "
          "messages bring it",
          replica);
    }
    if (sends && !says && options_.order != Delivery::kCausal && recorded_.without_context.empty())
      recorded_.without_context = fmt::format(
          "replica {} does not say what its messages carry; say \"carries\":\"update\" or "
          "\"state\"",
          replica);
  }

  void deliver_some(std::uint32_t to, double chance) {
    auto& random = recorder_.random();
    const auto first = static_cast<std::uint32_t>(random.below(options_.replicas));
    for (std::uint32_t k = 0; k < options_.replicas && !failure_; ++k) {
      const auto from = (first + k) % options_.replicas;
      Inbox& inbox = inboxes_[to][from];
      while (from != to && !failure_ && inbox.in_order < sent_[from].size() &&
             random.chance(chance)) {
        std::size_t index = inbox.in_order;
        if (options_.order == Delivery::kCausal) {
          const auto& past = sent_[from][index].past;
          bool early = false;
          for (std::uint32_t j = 0; j < options_.replicas; ++j)
            early = early || (j != from && j != to && past[j] > inboxes_[to][j].in_order);
          if (early) break;
        } else if (options_.order == Delivery::kAny) {
          inbox.had.resize(sent_[from].size());
          std::vector<std::size_t> waiting;
          for (auto i = inbox.in_order; i < inbox.had.size(); ++i) {
            if (!inbox.had[i]) waiting.push_back(i);
          }
          index = waiting[random.below(waiting.size())];
        }
        hand(to, from, index);
        if (!failure_ && random.chance(options_.repeats)) hand(to, from, index);
        if (options_.order == Delivery::kAny) {
          inbox.had[index] = true;
          while (inbox.in_order < inbox.had.size() && inbox.had[inbox.in_order]) ++inbox.in_order;
        } else {
          ++inbox.in_order;
        }
      }
    }
  }

  void perform(const Operation& op) {
    const base::AllocationWatch::Deferral deferral;  // JSON's destructors allocate
    const Json question = recorder_.question(op);
    const auto answer = request(op.replica, question);
    if (!answer) return;
    const auto outcome = recorder_.record(op, question, *answer);
    if (outcome.wrong)
      failure_ = programs_[op.replica].refused(question, *answer, ": " + *outcome.wrong);
    else
      name_message(op.replica, *answer, outcome.update);
  }

  const RunOptions& options_;
  Recorder recorder_;
  std::vector<Program> programs_;
  std::vector<std::vector<Message>> sent_;
  std::vector<std::vector<Inbox>> inboxes_;  // by receiver and sender
  std::optional<base::Error> failure_;
  Recorded recorded_;
};

}  // namespace

base::Result<Recorded> run(const RunOptions& options) {
  return Runner(options).run();
}

}  // namespace cupel::crdt
