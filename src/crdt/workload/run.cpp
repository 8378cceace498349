// Run: see the header. Each operation is one line to the program and one line back; a replica
// never has two requests at a time.
#include "crdt/workload/run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <nlohmann/json.hpp>
#include <optional>

#include "base/budget.hpp"
#include "base/process.hpp"
#include "crdt/io/reader.hpp"
#include "crdt/model/replicated_type.hpp"
#include "text/excerpt.hpp"
#include "text/json.hpp"

namespace cupel::crdt {

namespace {

using base::Line;
using base::Process;
using base::Seconds;
using Json = nlohmann::json;
using Clock = std::chrono::steady_clock;

std::string excerpt(std::string_view output) {
  return text::excerpt(output, text::kLongExcerpt);
}

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
      : options_(options),
        type_(replicated_type(options.type.type)),
        requester_(options, history_),
        visible_(options.replicas, std::vector<std::vector<std::uint32_t>>(options.keys)) {}

  base::Result<Recorded> run() {
    for (std::uint32_t r = 0; r < options_.replicas; ++r) {
      auto process =
          Process::start({.arguments = {"sh", "-c", options_.command},
                          .environment = {{"CUPEL_REPLICA", std::to_string(r)},
                                          {"CUPEL_REPLICAS", std::to_string(options_.replicas)}},
                          .input = base::Stream::pipe(),
                          .output = base::Stream::pipe(),
                          .errors = base::Stream::inherited()});
      if (!process.ok()) return std::move(process).error();
      processes_.push_back(std::move(*process));
    }
    lines_.assign(options_.replicas, 0);
    updates_.assign(options_.replicas, 0);
    sent_.resize(options_.replicas);
    inboxes_.assign(options_.replicas, std::vector<Inbox>(options_.replicas));
    for (std::uint64_t i = 0; i < options_.ops; ++i) {
      const auto r = static_cast<std::uint32_t>(requester_.random().below(options_.replicas));
      deliver_some(r, options_.delivery);
      if (!failure_) perform(requester_.next(r, visible_[r]));
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
        perform(requester_.read_of(r, k));
        if (failure_) return *failure_;
      }
    }
    recorded_.lines = joined_lines();
    for (auto& process : processes_) process.close_input();
    for (auto& process : processes_) {
      if (!process.wait(Seconds(1))) process.stop(Seconds(1));
    }
    return std::move(recorded_);
  }

 private:
  void fail(std::uint32_t replica, const std::string& what) {
    failure_ = base::Error{
        .message = fmt::format("replica {} (`{}`) {}", replica, options_.command, what)};
  }

  // Nothing: it failed, which is kept.
  std::optional<Json> request(std::uint32_t replica, const Json& question) {
    const base::AllocationWatch::Deferral deferral;  // JSON's destructors allocate
    auto& process = processes_[replica];
    const auto sent_line = text::dump(question);
    if (const auto sent = process.write_line(sent_line, Seconds(options_.timeout_seconds));
        !sent.ok()) {
      const auto status = process.wait(Seconds(1));
      fail(replica,
           status ? fmt::format("{} and did not take `{}`", status->to_string(), excerpt(sent_line))
                  : fmt::format("did not take `{}`: {}", excerpt(sent_line), sent.error().message));
      return std::nullopt;
    }
    const auto line = process.read_line(Seconds(options_.timeout_seconds));
    ++lines_[replica];
    if (line.kind != Line::Kind::kLine) {
      std::string what =
          fmt::format("did not answer `{}` in {} s", excerpt(sent_line), options_.timeout_seconds);
      if (line.kind == Line::Kind::kEnd) {
        const auto status = process.wait(Seconds(1));
        what = fmt::format("{} and did not answer `{}`",
                           status ? status->to_string() : "closed its output", excerpt(sent_line));
      } else if (line.kind == Line::Kind::kTooLong) {
        what = fmt::format("answered `{}` with a line longer than {} MiB", excerpt(sent_line),
                           base::kLongestLine >> 20);
      }
      fail(replica, what);
      return std::nullopt;
    }
    const auto beyond = text::beyond_bounds(line.text);
    const Json answer = beyond ? Json() : Json::parse(line.text, nullptr, false);
    if (answer.is_object() && answer.contains("type") &&
        (answer["type"] == "ok" || answer["type"] == "fail" || answer["type"] == "info")) {
      if (answer.contains("send") && !answer["send"].is_null()) {
        Message message{answer["send"], {}};
        for (const auto& inbox : inboxes_[replica]) message.past.push_back(inbox.in_order);
        message.past[replica] = sent_[replica].size();
        sent_[replica].push_back(std::move(message));
        if (answer.contains("carries") && answer["carries"] != "update" &&
            answer["carries"] != "state") {
          fail(replica, fmt::format("answered `{}` with the `carries` {}, expected \"update\" or "
                                    "\"state\"",
                                    excerpt(sent_line), text::dump_excerpt(answer["carries"])));
          return std::nullopt;
        }
      }
      return answer;
    }
    fail(replica, fmt::format("answered `{}` with line {} of its output, `{}`{}; expected a "
                              "JSON object with the `type` \"ok\", \"fail\" or \"info\"",
                              excerpt(sent_line), lines_[replica], excerpt(line.text),
                              beyond ? ": " + *beyond : ""));
    return std::nullopt;
  }

  void hand(std::uint32_t to, std::uint32_t from, std::size_t index) {
    const auto answer =
        request(to, {{"f", "deliver"}, {"from", from}, {"value", sent_[from][index].value}});
    if (answer && (*answer)["type"] != "ok")
      fail(to, fmt::format("answered a delivery with `{}`, expected the type \"ok\"",
                           excerpt(text::dump(*answer))));
    ++recorded_.messages;
    if (failure_) return;
    if (const auto& id = sent_[from][index].id; !id.empty())
      add_context_line({{"process", to}, {"f", "deliver"}, {"value", {id}}});
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
      add_context_line({{"process", replica}, {"f", "send"}, {"id", id}});
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

  void add_context_line(const Json& line) {
    const base::AllocationWatch::Deferral deferral;  // JSON's destructors allocate
    lines_of_file_.emplace_back(/*context=*/true, text::dump(line));
  }

  [[nodiscard]] std::string joined_lines() const {
    std::string text;
    for (const auto& [context, line] : lines_of_file_) {
      if (!context || recorded_.without_context.empty()) text += line + "\n";
    }
    return text;
  }

  void deliver_some(std::uint32_t to, double chance) {
    auto& random = requester_.random();
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
    Json question = {{"f", history_.method(op)}, {"key", history_.keys[op.key]}};
    const Json argument = type_.argument(history_, op);
    if (!argument.is_null()) question["value"] = argument;
    const auto answer = request(op.replica, question);
    if (!answer) return;
    const std::string type = (*answer)["type"];
    std::string update;
    if (!is_read(op.kind) && type == "ok")
      update = fmt::format("{}:{}", op.replica, updates_[op.replica]++);
    record(op, question, argument, *answer);
    if (!failure_) name_message(op.replica, *answer, update);
  }

  void record(const Operation& op, const Json& question, const Json& argument, const Json& answer) {
    const std::string type = answer["type"];
    Json line = {{"process", op.replica}};
    line.update(question);
    if (is_read(op.kind)) {
      if (type != "ok") return;  // a read without an answer says nothing
      const Json value = answer.contains("value") ? answer["value"] : Json();
      line["value"] = type_.value_of_read(op, argument, value);
    } else if (type == "fail") {
      return;
    } else if (type == "info") {
      line["type"] = "info";
    }
    line["time"] =
        std::chrono::duration_cast<std::chrono::nanoseconds>(Clock::now() - began_).count();
    const auto text = text::dump(line);
    // What it returned must be something that the type can return.
    const auto understood = read(text, "", options_.type);
    if (!understood.ok()) {
      fail(op.replica, fmt::format("answered `{}` with line {} of its output, `{}`: {}",
                                   excerpt(text::dump(question)), lines_[op.replica],
                                   excerpt(text::dump(answer)), understood.error().message));
      return;
    }
    learn(op, *understood, type == "ok");
    lines_of_file_.emplace_back(/*context=*/false, text);
  }

  // Arrays: the characters that requests to a replica may name.
  void learn(const Operation& op, const History& understood, bool certain) {
    auto& known = visible_[op.replica][op.key];
    if (op.kind == Kind::kInsert && certain) known.push_back(op.element);
    if (op.kind == Kind::kDelete) std::erase(known, op.element);
    if (op.kind != Kind::kList) return;
    known.clear();
    for (const auto e : understood.list(understood.ops[0]))
      known.push_back(history_.element(op.key, understood.elements[e].text));
  }

  const RunOptions& options_;
  const ReplicatedType& type_;
  History history_;  // of requests: names only
  Requester requester_;
  const Clock::time_point began_ = Clock::now();
  std::vector<Process> processes_;
  std::vector<std::uint64_t> lines_, updates_;               // by replica
  std::vector<std::pair<bool, std::string>> lines_of_file_;  // is it of the context?
  std::vector<std::vector<Message>> sent_;
  std::vector<std::vector<Inbox>> inboxes_;  // by receiver and sender
  std::vector<std::vector<std::vector<std::uint32_t>>> visible_;
  std::optional<base::Error> failure_;
  Recorded recorded_;
};

}  // namespace

base::Result<Recorded> run(const RunOptions& options) {
  return Runner(options).run();
}

}  // namespace cupel::crdt
