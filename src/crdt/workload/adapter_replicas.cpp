// Adapter replicas: see the header.
#include "crdt/workload/adapter_replicas.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/budget.hpp"
#include "base/text/json.hpp"

namespace cupel::crdt {

namespace {

using Json = nlohmann::json;
using StepKind = AdapterStep::Kind;

// What a read of a text shows, or of a text with marks; nothing: it is neither.
std::optional<std::string> characters_of(const Json& read) {
  if (read.is_string()) return read.get<std::string>();
  if (!read.is_array()) return std::nullopt;
  std::string characters;
  for (const Json& run : read) {
    if (!run.is_array() || run.empty() || !run[0].is_string()) return std::nullopt;
    characters += run[0].get_ref<const std::string&>();
  }
  return characters;
}

}  // namespace

AdapterReplicas::AdapterReplicas(Adapter& adapter, const AdapterRunOptions& options)
    : options_(options),
      link_(adapter, recorded_),
      recorder_(options, Arguments::kAsAnswered, options.objects),
      messages_(options.replicas),
      saved_(options.replicas) {
  if (options.edits == nullptr) return;
  std::vector<Type> types;
  for (std::uint32_t key = 0; key < recorder_.keys().size(); ++key)
    types.push_back(recorder_.type_of(key).type);
  text_ = static_cast<std::uint32_t>(traced_object(types).object);
}

void AdapterReplicas::begin(const std::vector<std::uint32_t>& keys, bool script) {
  recorder_.note({{"f", "delivery"}, {"value", "applied"}});
  Json request = {{"f", "begin"},
                  {"replicas", options_.replicas},
                  {"keys", Json::array()},
                  {"object", options_.object}};
  std::set<std::string> objects;
  for (const auto key : keys) {
    request["keys"].push_back(recorder_.keys()[key]);
    if (!options_.objects.empty()) objects.insert(recorder_.object_name(key));
  }
  if (objects.size() == 1) request["object"] = *objects.begin();
  if (objects.size() > 1) {
    request["object"] = nullptr;
    for (const auto key : keys)
      request["objects"][recorder_.keys()[key]] = recorder_.object_name(key);
  }
  if (script) request["script"] = true;
  command(request, {});
}

base::Result<AdapterRecorded> AdapterReplicas::finished() {
  if (const auto failure = link_.failure()) return *failure;
  recorded_.messages = messages_.size();
  recorded_.lines = recorder_.lines();
  recorded_.has_everything = messages_.has_everything();
  for (ReplicaId r = 0; r < options_.replicas; ++r)
    recorded_.processes.push_back(text::dump(recorder_.process(r)));
  if (options_.keep_steps) recorded_.names = recorder_.names();
  return std::move(recorded_);
}

bool AdapterReplicas::has(Hazard hazard) const {
  return std::find(options_.hazards.begin(), options_.hazards.end(), hazard) !=
         options_.hazards.end();
}

void AdapterReplicas::note_step(AdapterStep step) {
  if (options_.keep_steps) recorded_.steps.push_back(std::move(step));
}

void AdapterReplicas::command(const Json& question, const std::vector<ReplicaId>& concerned) {
  const base::AllocationWatch::Deferral deferral;  // JSON's destructors allocate
  const auto answer = link_.ask_ok(question);
  if (answer) learn_from(question, *answer, concerned);
}

// What waits at these replicas now. `before`: what waited elsewhere and has come to them.
void AdapterReplicas::learn_from(const Json& question, const Json& answer,
                                 const std::vector<ReplicaId>& concerned,
                                 std::set<MessageId> before) {
  for (const ReplicaId r : concerned)
    before.insert(messages_.waiting(r).begin(), messages_.waiting(r).end());
  for (const ReplicaId r : concerned) {
    std::set<MessageId> now;
    if (!read_waiting(answer, r, now)) {
      link_.refuse(question, answer, "; expected in `waiting` the messages that wait, by replica");
      return;
    }
    set_applied(r, messages_.set_waiting(r, before, now));
    set_applied(r, brought(answer, r));
  }
}

// What an exchange has brought, now or earlier, without the messages that are known to wait.
std::vector<MessageId> AdapterReplicas::brought(const Json& answer, ReplicaId replica) const {
  std::vector<MessageId> applied;
  const Json all = answer.value("applied", Json::object());
  if (!all.is_object()) return applied;
  for (const Json& m : all.value(std::to_string(replica), Json::array())) {
    const bool is_known = m.is_number_unsigned() && m.get<MessageId>() < messages_.size();
    if (is_known && messages_.status(replica, m.get<MessageId>()) != MessageStatus::kApplied)
      applied.push_back(m.get<MessageId>());
  }
  return applied;
}

// False: the answer has something else than messages there.
bool AdapterReplicas::read_waiting(const Json& answer, ReplicaId replica,
                                   std::set<MessageId>& now) const {
  const Json all = answer.value("waiting", Json::object());
  if (!all.is_object()) return false;
  const Json its = all.value(std::to_string(replica), Json::array());
  if (!its.is_array()) return false;
  for (const Json& id : its) {
    if (!id.is_number_unsigned() || id.get<MessageId>() >= messages_.size()) return false;
    now.insert(id.get<MessageId>());
  }
  return true;
}

void AdapterReplicas::set_applied(ReplicaId r, const std::vector<MessageId>& applied) {
  if (applied.empty()) return;
  messages_.set_applied(r, applied);
  note_applied(r, applied);
}

void AdapterReplicas::note_applied(ReplicaId r, const std::vector<MessageId>& applied) {
  Json ids = Json::array();
  for (const MessageId m : applied) {
    for (const auto& id : messages_[m].ids) ids.push_back(id);
  }
  recorder_.note({{"process", recorder_.process(r)}, {"f", "deliver"}, {"value", ids}});
}

void AdapterReplicas::note_delivered(ReplicaId to, const std::string& id) {
  recorder_.note({{"process", recorder_.process(to)}, {"f", "deliver"}, {"value", {id}}});
}

// A message or a document with all that the replica has seen.
std::string AdapterReplicas::note_state(ReplicaId r) {
  auto id = fmt::format("m{}", states_++);
  recorder_.note({{"process", recorder_.process(r)}, {"f", "send"}, {"id", id}});
  return id;
}

void AdapterReplicas::perform(const Operation& op) {
  const base::AllocationWatch::Deferral deferral;  // JSON's destructors allocate
  perform(op, recorder_.question(op));
}

// The operation, and the step that it is.
void AdapterReplicas::note_operation(const Operation& op, Json question, const Json& answer,
                                     bool is_line) {
  const bool threw = answer.contains("threw");
  if (!options_.keep_steps || (!is_line && !threw)) return;
  const Json value = answer.value("value", Json());
  if (!is_read(op.kind) && !value.is_null()) question["value"] = value;
  recorded_.steps.push_back({.replica = op.replica,
                             .message = messages_.size(),
                             .operation = op,
                             .question = std::move(question),
                             .line = is_line ? recorder_.line_count() : 0});
}

void AdapterReplicas::perform(const Operation& op, const Json& question) {
  Json request = question;
  request["replica"] = op.replica;
  if (has(Hazard::kExchange)) request["message"] = messages_.size();  // if it sends one
  const auto answer = link_.ask(request);
  if (!answer) return;
  if ((*answer)["type"] == "info") {
    link_.refuse(request, *answer, ", expected the type \"ok\" or \"fail\"");
    return;
  }
  const auto lines = recorder_.line_count();
  const auto outcome = recorder_.record(op, question, *answer);
  note_operation(op, question, *answer, recorder_.line_count() > lines);
  if (!outcome.update.empty()) crashed_since_.erase(op.key);
  if (outcome.wrong) link_.refuse(request, *answer, ": " + *outcome.wrong);
  // Nobody could say which update such a message has.
  if (outcome.update.empty() && !has_failed() && !answer->value("send", Json()).is_null())
    link_.refuse(request, *answer,
                 fmt::format(", expected no `send`, because {} makes no message",
                             is_read(op.kind) ? "a read" : "an update that failed"));
  if (options_.edits != nullptr && op.key == text_)
    last_text_ = characters_of(answer->value("value", Json())).value_or(last_text_);
  if (!outcome.update.empty()) send(op.replica, {outcome.update}, answer->value("send", Json()));
}

void AdapterReplicas::send(ReplicaId from, std::vector<std::string> ids, Json value) {
  if (link_.library().sends_states) ids = {note_state(from)};
  messages_.add({.from = from, .value = std::move(value), .ids = std::move(ids)});
}

void AdapterReplicas::hand(ReplicaId to, MessageId m) {
  const SentMessage& sent = messages_[m];
  note_step({.kind = StepKind::kDeliver, .replica = to, .message = m});
  ++recorded_.delivered;
  const auto status = messages_.status(to, m);
  if (status == MessageStatus::kMissing || status == MessageStatus::kLost) {
    messages_.set_waiting(to, m);
  } else {
    ++recorded_.again;
  }
  if (sent.value.is_null()) {
    set_applied(to, {m});
    return;
  }
  command({{"f", "deliver"},
           {"replica", to},
           {"from", sent.from},
           {"message", m},
           {"value", sent.value}},
          {to});
  // It has no effect, but says what a library may have counted twice.
  if (status == MessageStatus::kApplied) note_applied(to, {m});
}

void AdapterReplicas::restart(ReplicaId r) {
  ++recorded_.restarts;
  note_step({.kind = StepKind::kRestart, .replica = r});
  hang_up(r);
  command({{"f", "restart"}, {"replica", r}}, {r});
}

void AdapterReplicas::save(ReplicaId r) {
  const auto throws = recorded_.throws;
  note_step({.kind = StepKind::kSave, .replica = r});
  command({{"f", "save"}, {"replica", r}}, {r});
  if (recorded_.throws == throws) saved_[r] = Saved{note_state(r), messages_.statuses(r)};
}

void AdapterReplicas::crash(ReplicaId r) {
  const Json question = {{"f", "crash"}, {"replica", r}};
  note_step({.kind = StepKind::kCrash, .replica = r});
  hang_up(r);
  const auto throws = recorded_.throws;
  const auto answer = link_.ask(question);
  if (!answer || recorded_.throws > throws) return;  // it goes on as it was
  ++recorded_.crashes;
  for (std::uint32_t key = 0; key < recorder_.keys().size(); ++key) crashed_since_.insert(key);
  recorder_.begin_again(r);
  const auto& last = saved_[r];
  if (last) note_delivered(r, last->id);
  messages_.begin_again(r, last ? &last->status : nullptr);
  std::set<MessageId> now;
  if ((*answer)["type"] != "ok" || !read_waiting(*answer, r, now)) {
    link_.refuse(question, *answer, ", expected the type \"ok\" and what waits");
    return;
  }
  set_applied(r, messages_.set_waiting(r, std::set<MessageId>(messages_.waiting(r)), now));
}

void AdapterReplicas::set_clock(ReplicaId r, std::int64_t ahead) {
  note_step({.kind = StepKind::kClock, .replica = r, .ahead = ahead});
  command({{"f", "clock"}, {"replica", r}, {"ahead", ahead}}, {});
}

void AdapterReplicas::join_from(ReplicaId r, ReplicaId from) {
  note_step({.kind = StepKind::kJoin, .replica = r, .other = from});
  copy_status(from, r);
  command({{"f", "join"}, {"replica", r}, {"from", from}}, {r});
}

void AdapterReplicas::sync(ReplicaId a, ReplicaId b) {
  ++recorded_.syncs;
  note_step({.kind = StepKind::kSync, .replica = a, .other = b});
  copy_status(a, b);
  copy_status(b, a);
  command({{"f", "sync"}, {"replica", a}, {"from", b}}, {a, b});
}

void AdapterReplicas::copy_status(ReplicaId from, ReplicaId to) {
  if (messages_.take(messages_.statuses(from), to)) note_delivered(to, note_state(from));
}

void AdapterReplicas::copy_status(const Saved& from, ReplicaId to) {
  if (messages_.take(from.status, to)) note_delivered(to, from.id);
}

void AdapterReplicas::merge(ReplicaId r, ReplicaId other) {
  if (!saved_[other]) return;
  ++recorded_.merges;
  note_step({.kind = StepKind::kMerge, .replica = r, .other = other});
  const base::AllocationWatch::Deferral deferral;  // JSON's destructors allocate
  copy_status(*saved_[other], r);
  const Json question = {{"f", "merge"}, {"replica", r}, {"from", other}};
  if (const auto answer = link_.ask_ok(question))
    learn_from(question, *answer, {r}, ReplicaMessages::waiting_in(saved_[other]->status));
}

void AdapterReplicas::greet(ReplicaId r, ReplicaId other) {
  const base::AllocationWatch::Deferral deferral;  // JSON's destructors allocate
  ++recorded_.exchanges;
  note_step({.kind = StepKind::kGreet, .replica = r, .other = other});
  addressed_[{r, other}].clear();
  addressed_[{other, r}].clear();
  const auto answer = link_.ask_ok({{"f", "greet"}, {"replica", r}, {"from", other}});
  if (answer) address(r, other, answer->value("say", Json::array()));
}

void AdapterReplicas::hear(ReplicaId r, ReplicaId from) {
  const base::AllocationWatch::Deferral deferral;  // JSON's destructors allocate
  auto& messages = addressed_[{from, r}];
  if (messages.empty()) return;
  note_step({.kind = StepKind::kHear, .replica = r, .other = from});
  const Addressed message = std::move(messages.front());
  messages.pop_front();
  Json lacks = Json::array();
  for (MessageId m = 0; m < message.state.status.size(); ++m) {
    const auto sent = message.state.status[m];  // what waits at the sender may come, too
    if ((sent == MessageStatus::kApplied || sent == MessageStatus::kWaiting) &&
        messages_.status(r, m) != MessageStatus::kApplied)
      lacks.push_back(m);
  }
  const Json question = {
      {"f", "hear"}, {"replica", r}, {"from", from}, {"value", message.value}, {"lacks", lacks}};
  const auto answer = link_.ask_ok(question);
  if (!answer) return;
  const Json carries = answer->value("carries", Json("nothing"));
  if (carries == "state") copy_status(message.state, r);
  learn_from(question, *answer, {r},
             carries == "state" ? ReplicaMessages::waiting_in(message.state.status)
                                : std::set<MessageId>());
  address(r, from, answer->value("say", Json::array()));
}

void AdapterReplicas::address(ReplicaId from, ReplicaId to, const Json& messages) {
  if (!messages.is_array()) return;
  for (const Json& value : messages)
    addressed_[{from, to}].push_back({value, Saved{note_state(from), messages_.statuses(from)}});
}

// Of a replica that begins again: its exchanges are over.
void AdapterReplicas::hang_up(ReplicaId r) {
  for (auto& [pair, messages] : addressed_) {
    if (pair.first == r || pair.second == r) messages.clear();
  }
}

void AdapterReplicas::compact(ReplicaId r) {
  if (!messages_.has_everything()) return;
  ++recorded_.compactions;
  note_step({.kind = StepKind::kCompact, .replica = r});
  hang_up(r);
  command({{"f", "compact"}, {"replica", r}}, {r});
}

}  // namespace cupel::crdt
