// Adapter run: see the header.
//
// A replica has a status for each message. A library may keep a message until others have come; the
// adapter says which wait, so the history has only what was applied. Lines `deliver` are written
// at that time.
#include "crdt/workload/adapter_run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <iterator>
#include <map>
#include <numeric>
#include <optional>
#include <set>
#include <utility>

#include "base/budget.hpp"
#include "base/hash_table.hpp"
#include "base/utf8.hpp"
#include "crdt/model/unique_character.hpp"
#include "crdt/workload/recorder.hpp"
#include "text/excerpt.hpp"
#include "text/json.hpp"

namespace cupel::crdt {

namespace {

using Json = nlohmann::json;
using MessageId = std::size_t;
using Replica = std::uint32_t;
// The messages of a replica between two crashes. It does not know its earlier ones until they come
// back, so only within a stream does each message have all before it in its past.
using Stream = std::uint32_t;

// Chances, before an operation.
constexpr double kPartition = 0.01, kRestart = 0.01, kSync = 0.02, kLateRepeat = 0.1, kSave = 0.02,
                 kCrash = 0.007, kJump = 0.02, kCalm = 0.002, kMerge = 0.02, kGreet = 0.03,
                 kHear = 0.4;
// Of a delivery.
constexpr double kRepeatedShare = 0.1, kLostShare = 0.1;

enum class Status : std::uint8_t { kNone, kLost, kWaiting, kApplied };

struct Sent {
  Replica from;
  Stream stream;
  Json value;                          // null: nothing is delivered, see take_silent()
  std::vector<std::string> ids;        // as `deliver` lines name what it has
  std::vector<std::size_t> past;       // messages of each stream that the sender had
  std::vector<MessageId> beyond = {};  // what it had besides, if there is no value
  [[nodiscard]] bool is_silent() const { return value.is_null(); }
};

// All that a replica has seen at some time: the name of that state and the messages in it.
struct Saved {
  std::string id;
  std::vector<Status> status;
};

// A message of an exchange, and the state of its sender.
struct Addressed {
  Json value;
  Saved state;
};

class AdapterRunner {
 public:
  AdapterRunner(Adapter& adapter, const AdapterRunOptions& options)
      : adapter_(adapter),
        options_(options),
        recorder_(options, Arguments::kAsAnswered, options.objects),
        status_(options.replicas),
        pending_(options.replicas),
        silent_(options.replicas),
        waiting_(options.replicas),
        in_order_(options.replicas),
        side_(options.replicas, 0),
        saved_(options.replicas) {
    if (options.edits != nullptr) {
      std::vector<Type> types;
      for (std::uint32_t key = 0; key < recorder_.keys().size(); ++key)
        types.push_back(recorder_.type_of(key).type);
      text_ = static_cast<std::uint32_t>(traced_object(types).object);
    }
    for (Replica r = 0; r < options.replicas; ++r) begin_stream(r);
  }

  base::Result<AdapterRecorded> run() {
    std::vector<std::uint32_t> keys(recorder_.keys().size());
    std::iota(keys.begin(), keys.end(), 0);
    begin(keys, /*script=*/false);
    for (Replica r = 0; r < options_.replicas && has(Hazard::kClocks); ++r) set_clock(r);
    if (options_.edits == nullptr) {
      for (std::uint64_t i = 0; i < options_.ops && !failure_; ++i) {
        const bool calm_now =
            i == options_.ops / 2 || (i > options_.ops / 4 && random().chance(kCalm));
        if (calm_now) i += calm();
        const auto r = before_operation(i, options_.ops);
        if (!failure_) perform(recorder_.next(r));
      }
    } else if (options_.edits->concurrent) {
      replay_agents(*options_.edits);
    } else {
      replay_one_agent(*options_.edits);
    }
    if (options_.edits != nullptr) crashed_since_.erase(text_);  // it is edited to the end
    update_after_crashes();
    settle();
    for (Replica r = 0; r < options_.replicas; ++r) {
      for (std::uint32_t k = 0; k < recorder_.keys().size() && !failure_; ++k)
        perform(recorder_.read_of(r, k));
    }
    if (!failure_ && options_.edits != nullptr)
      recorded_.ends_as_traced = as_traced(last_read_) == options_.edits->end;
    if (!options_.keep_steps) adapter_.program().close();
    return finished();
  }

  base::Result<AdapterRecorded> replay(const std::vector<AdapterStep>& steps,
                                       const std::vector<History>& names, bool script) {
    recorder_.use_names(names);
    std::set<std::uint32_t> used;
    for (const auto& step : steps) {
      if (step.kind == StepKind::kOperation) used.insert(step.operation.key);
    }
    begin({used.begin(), used.end()}, script);
    for (const auto& step : steps) {
      if (!failure_) repeat(step);
    }
    return finished();
  }

 private:
  using StepKind = AdapterStep::Kind;

  // Of several objects, one may be left that has keys.
  void begin(const std::vector<std::uint32_t>& keys, bool script) {
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

  base::Result<AdapterRecorded> finished() {
    if (failure_ && !ends_by_throw_) return *failure_;
    recorded_.messages = messages_.size();
    recorded_.lines = recorder_.lines();
    recorded_.has_everything = has_everything();
    for (Replica r = 0; r < options_.replicas; ++r)
      recorded_.processes.push_back(text::dump(recorder_.process(r)));
    if (options_.keep_steps) recorded_.names = recorder_.names();
    return std::move(recorded_);
  }

  void note_step(AdapterStep step) {
    if (options_.keep_steps) recorded_.steps.push_back(std::move(step));
  }

  void repeat(const AdapterStep& step) {
    const Replica r = step.replica;
    switch (step.kind) {
      case StepKind::kOperation:
        repeat_operation(step);
        break;
      case StepKind::kDeliver:
        if (const auto made = remade_.find(step.message); made != remade_.end())
          hand_again(r, made->second);
        break;
      case StepKind::kSync:
        sync(r, step.other);
        break;
      case StepKind::kRestart:
        restart(r);
        break;
      case StepKind::kSave:
        save(r);
        break;
      case StepKind::kCrash:
        crash(r);
        break;
      case StepKind::kJoin:
        join_from(r, step.other);
        break;
      case StepKind::kClock:
        set_clock(r, step.ahead);
        break;
      case StepKind::kMerge:
        merge(r, step.other);
        break;
      case StepKind::kGreet:
        greet(r, step.other);
        break;
      case StepKind::kHear:
        hear(r, step.other);
        break;
      case StepKind::kCompact:
        compact(r);
        break;
    }
  }

  void repeat_operation(const AdapterStep& step) {
    const base::AllocationWatch::Deferral deferral;  // JSON's destructors allocate
    Json question = step.question;
    const bool is_node =
        recorder_.type_of(step.operation.key).type == Type::kTree && question.contains("value");
    const Json asked = is_node ? question["value"] : Json();
    if (is_node) rename_nodes(question["value"]);
    Operation op = step.operation;
    op.replica = step.replica;
    const auto messages = messages_.size(), steps = recorded_.steps.size();
    perform(op, question);
    if (messages_.size() > messages) remade_[step.message] = messages;
    if (is_node && asked.is_array() && recorded_.steps.size() > steps)
      renamed_[asked[0]] = recorded_.steps.back().question["value"][0];
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
  void hand_again(Replica to, MessageId m) {
    const auto status = status_[to][m];
    const bool had = status == Status::kWaiting || status == Status::kApplied;
    if (had && !has(Hazard::kDuplicates)) return;
    const bool in_order = !has(Hazard::kReordering) || messages_[m].is_silent();
    if (!had && in_order && !has_past_of(messages_[m], to)) return;
    hand(to, m);
  }

  base::Random& random() { return recorder_.random(); }

  // What the network does before the operation i of so many; some replica.
  Replica before_operation(std::uint64_t i, std::uint64_t count) {
    const bool late = options_.replicas > 2;
    const auto last = options_.replicas - 1;
    const bool absent = late && i < count / 4;
    if (late && i == count / 4) join(last);
    const auto present = absent ? last : options_.replicas;
    const auto r = static_cast<Replica>(random().below(present));
    change_partition(i, count);
    if (has(Hazard::kRestart) && random().chance(kRestart)) restart(r);
    if ((has(Hazard::kCrash) || has(Hazard::kFiles)) && random().chance(kSave)) save(r);
    const bool edits = options_.edits != nullptr && r == 0;  // it has what the trace says
    if (has(Hazard::kCrash) && random().chance(kCrash) && !edits) crash(r);
    if (has(Hazard::kClocks) && random().chance(kJump)) set_clock(r);
    if (has(Hazard::kLoss) && random().chance(kSync)) sync_with_some(r, present);
    if (has(Hazard::kFiles) && random().chance(kMerge)) merge_some(r, present);
    if (has(Hazard::kExchange)) exchange_some(r, present);
    if (has(Hazard::kDuplicates) && random().chance(kLateRepeat)) repeat_some(r);
    deliver_some(r, options_.delivery);
    return r;
  }

  [[nodiscard]] base::Error wrong_edits(std::string message) const {
    return {.message = "the editing trace does not fit its text: " + std::move(message)};
  }

  // The characters of an edit, each as one that no other is; nothing: Unicode has no more.
  std::optional<std::string> unique(const std::string& inserted) {
    std::string all;
    for (std::string_view rest = inserted; !rest.empty();) {
      const auto length = std::max<std::size_t>(1, base::utf8_length(rest));
      const auto one = unique_character(originals_.size());
      if (one.empty()) {
        failure_ = wrong_edits(fmt::format(
            "it inserts more than {} characters, which Unicode does not have", originals_.size()));
        return std::nullopt;
      }
      originals_.emplace_back(rest.substr(0, length));
      all += one;
      rest.remove_prefix(length);
    }
    return all;
  }

  // The lines of an edit; the ids of the updates that it is.
  void record_edit(Replica r, const std::string& deleted, const std::string& before,
                   const std::string& inserted, std::vector<std::string>& ids) {
    const auto& object = recorder_.object_name(text_);
    const auto line = [&](const char* method, const std::string& value) {
      ids.push_back(recorder_.update(
          r, fmt::format(R"({{"process":{},{}"f":"{}","key":{},"value":{}}})",
                         text::dump(recorder_.process(r)),
                         object.empty() ? "" : fmt::format("\"object\":{},", text::quoted(object)),
                         method, text::quoted(recorder_.key_in_object(text_)), value)));
    };
    if (!deleted.empty()) line("delete", text::quoted(deleted));
    if (inserted.empty()) return;
    line("insert", fmt::format("[{},{}]", before.empty() ? "null" : text::quoted(before),
                               text::quoted(inserted)));
  }

  // What the library is asked to do; nothing: it failed.
  std::optional<Json> edit(Replica r, Json patches, bool named) {
    const Json request = {{"f", "edit"},
                          {"key", recorder_.keys()[text_]},
                          {"value", std::move(patches)},
                          {"named", named},
                          {"replica", r},
                          {"message", messages_.size()}};
    auto answer = ask(request);
    if (answer && (*answer)["type"] != "ok") {
      // Nobody can say which of the edits it made, so the run ends here. If the library threw, what
      // was recorded before counts.
      ends_by_throw_ = answer->contains("threw");
      failure_ = adapter_.program().refused({{"f", "edit"}, {"replica", r}}, *answer,
                                            ", expected the type \"ok\"");
    }
    if (failure_) return std::nullopt;
    return answer;
  }

  // To another object than the text.
  void perform_beside_text(Replica r) {
    constexpr int kMostDraws = 100;
    for (int i = 0; i < kMostDraws && recorder_.keys().size() > 1 && !failure_; ++i) {
      const Operation op = recorder_.next(r);
      if (op.key == text_) continue;
      perform(op);
      return;
    }
  }

  // Replica 0 edits, some hundred times many edits at once, and the others receive.
  void replay_one_agent(const RecordedEdits& edits) {
    const base::AllocationWatch::Deferral deferral;  // JSON's destructors allocate
    constexpr std::uint64_t kBatches = 200;
    constexpr double kReads = 0.1;
    std::vector<RecordedEdit> all;
    if (!edits.start.empty()) all.push_back({0, 0, edits.start});
    for (const auto& transaction : edits.transactions)
      all.insert(all.end(), transaction.patches.begin(), transaction.patches.end());
    const auto batch = std::max<std::uint64_t>(1, all.size() / kBatches);
    const auto count = (all.size() + batch - 1) / batch;
    TracedText text;
    for (std::uint64_t i = 0; i < count && !failure_; ++i) {
      const auto r = before_operation(i, count);
      if (failure_) return;
      if (random().chance(kReads)) perform(recorder_.read_of(r, text_));
      perform_beside_text(r);
      edit_batch(text, all, i * batch, std::min<std::uint64_t>(all.size(), (i + 1) * batch));
    }
    std::string end;
    for (const auto character : text.characters()) end += originals_[character];
    if (!failure_ && end != edits.end)
      failure_ = wrong_edits("its edits end in another text than `endContent`");
  }

  void edit_batch(TracedText& text, const std::vector<RecordedEdit>& all, std::size_t begin,
                  std::size_t end) {
    Json patches = Json::array();
    std::vector<std::string> ids;
    for (auto p = begin; p < end; ++p) {
      const auto& [position, deleted, inserted] = all[p];
      const auto first = originals_.size();
      const auto fresh = unique(inserted);
      if (!fresh) return;
      TracedText::Place place;
      if (!text.edit(position, deleted, originals_.size() - first, place)) {
        failure_ = wrong_edits(
            fmt::format("edit {}, [{}, {}, …], is beyond its end", p, position, deleted));
        return;
      }
      std::string gone;
      std::uint64_t units = 0;
      for (const auto character : place.at) {
        gone += unique_character(character);
        units += character >= kNarrowCharacters ? 2 : 1;
      }
      patches.push_back({position, deleted, *fresh, place.units, units});
      record_edit(0, gone,
                  place.before == TracedText::kBeginning ? "" : unique_character(place.before),
                  *fresh, ids);
    }
    if (ids.empty()) return;
    if (auto answer = edit(0, std::move(patches), /*named=*/false))
      send(0, std::move(ids), answer->value("send", Json()));
  }

  // A replica for each agent, which has exactly what the agent had seen; the last one receives.
  void replay_agents(const RecordedEdits& edits) {
    const base::AllocationWatch::Deferral deferral;  // JSON's destructors allocate
    constexpr double kReads = 0.01;
    const auto observer = options_.replicas - 1;
    std::vector<std::vector<MessageId>> made(edits.transactions.size());
    std::vector<std::uint32_t> last(edits.agents, ~std::uint32_t{0});
    for (std::uint32_t t = 0; t < edits.transactions.size() && !failure_; ++t) {
      const auto& transaction = edits.transactions[t];
      const Replica r = transaction.agent;
      std::vector<bool> seen(t, false);
      for (const auto parent : transaction.parents) seen[parent] = true;
      for (auto earlier = t; earlier-- > 0;) {
        if (!seen[earlier]) continue;
        for (const auto parent : edits.transactions[earlier].parents) seen[parent] = true;
      }
      if (last[r] != ~std::uint32_t{0} && !seen[last[r]]) {
        failure_ = wrong_edits(
            fmt::format("transaction {} of agent {} has not seen transaction {} of the same agent",
                        t, r, last[r]));
        return;
      }
      last[r] = t;
      for (std::uint32_t earlier = 0; earlier < t && !failure_; ++earlier) {
        for (const MessageId m : made[earlier]) {
          if (seen[earlier] && status_[r][m] == Status::kNone) hand(r, m);
        }
      }
      deliver_some(observer, options_.delivery);
      if (has(Hazard::kRestart) && random().chance(kRestart)) restart(r);
      if (has(Hazard::kClocks) && random().chance(kJump)) set_clock(r);
      if (has(Hazard::kDuplicates) && random().chance(kLateRepeat)) repeat_some(observer);
      if (random().chance(kReads)) perform(recorder_.read_of(observer, text_));
      if (!transaction.patches.empty() && !failure_) edit_named(edits, t, made[t]);
      const auto before = messages_.size();
      perform_beside_text(r);
      if (messages_.size() > before) made[t].push_back(before);
    }
  }

  // The library says which characters are at the places.
  void edit_named(const RecordedEdits& edits, std::uint32_t t, std::vector<MessageId>& made) {
    const EditTransaction& transaction = edits.transactions[t];
    const Replica r = transaction.agent;
    Json patches = Json::array();
    for (const auto& [position, deleted, inserted] : transaction.patches) {
      const auto fresh = unique(inserted);
      if (!fresh) return;
      patches.push_back({position, deleted, *fresh});
    }
    const Json asked = patches;
    const auto answer = edit(r, std::move(patches), /*named=*/true);
    if (!answer) return;
    const Json places = answer->value("value", Json());
    std::vector<std::string> ids;
    for (std::size_t p = 0; p < asked.size(); ++p) {
      if (places.is_array() && p < places.size() && places[p].is_null()) {
        failure_ = wrong_edits(fmt::format(
            "transaction {}: edit {}, [{}, {}, …], is beyond its end, in the order of {}", t, p,
            transaction.patches[p].position, transaction.patches[p].deleted,
            adapter_.library().name));
        return;
      }
      const bool well = places.is_array() && places.size() == asked.size() &&
                        places[p].is_array() && places[p].size() == 2 && places[p][0].is_string() &&
                        places[p][1].is_string();
      if (!well) {
        failure_ = adapter_.program().refused({{"f", "edit"}, {"replica", r}}, *answer,
                                              "; expected in `value` what is at each place");
        return;
      }
      record_edit(r, each_character_once(places[p][1].get_ref<const std::string&>()), places[p][0],
                  asked[p][2], ids);
    }
    if (ids.empty()) return;
    made.push_back(messages_.size());
    send(r, std::move(ids), answer->value("send", Json()));
  }

  // A text of this run in the characters of the trace.
  [[nodiscard]] std::string as_traced(std::string_view text) const {
    base::HashMap<std::string, std::uint64_t> numbers;
    for (std::uint64_t n = 0; n < originals_.size(); ++n) numbers[unique_character(n)] = n;
    std::string traced;
    while (!text.empty()) {
      const auto length = std::max<std::size_t>(1, base::utf8_length(text));
      const auto number = numbers.find(std::string(text.substr(0, length)));
      if (number != numbers.end()) traced += originals_[number->second];
      text.remove_prefix(length);
    }
    return traced;
  }

  // What a read of a text shows, or of a text with marks; nothing: it is neither.
  static std::optional<std::string> characters_of(const Json& read) {
    if (read.is_string()) return read.get<std::string>();
    if (!read.is_array()) return std::nullopt;
    std::string characters;
    for (const Json& run : read) {
      if (!run.is_array() || run.empty() || !run[0].is_string()) return std::nullopt;
      characters += run[0].get_ref<const std::string&>();
    }
    return characters;
  }

  [[nodiscard]] bool has(Hazard hazard) const {
    return std::find(options_.hazards.begin(), options_.hazards.end(), hazard) !=
           options_.hazards.end();
  }

  // Nothing: it failed, which is kept.
  std::optional<Json> ask(const Json& question) {
    if (failure_) return std::nullopt;
    auto answer = adapter_.program().ask(question);
    if (!answer.ok()) {
      failure_ = std::move(answer).error();
      return std::nullopt;
    }
    if (const Json threw = answer->value("threw", Json()); threw.is_string())
      note_throw(question, threw.get<std::string>());
    return std::move(*answer);
  }

  void note_throw(const Json& question, const std::string& message) {
    Json request = brief(question);
    if (recorded_.throws++ == 0)
      recorded_.first_throw = fmt::format("`{}`: {}", text::dump(request), message);
    if (recorded_.threw.size() == AdapterRecorded::kMostNamed) return;
    std::optional<Replica> replica;
    if (const Json its = request.value("replica", Json()); its.is_number_unsigned())
      replica = its.get<Replica>();
    request.erase("replica");
    recorded_.threw.push_back(
        {replica, text::dump(request), text::excerpt(message, text::kLongExcerpt)});
  }

  // Of a message only where it is from, of a trace not its edits.
  static Json brief(Json question) {
    if (question["f"] == "deliver" || question["f"] == "hear" || question["f"] == "edit")
      question.erase("value");
    return question;
  }

  // The answer to a request that is no operation; nothing: it failed, which is kept.
  std::optional<Json> ask_ok(const Json& question) {
    auto answer = ask(question);
    if (answer && (*answer)["type"] != "ok") {
      failure_ = adapter_.program().refused(brief(question), *answer, ", expected the type \"ok\"");
      return std::nullopt;
    }
    return answer;
  }

  void command(const Json& question, const std::vector<Replica>& concerned) {
    const base::AllocationWatch::Deferral deferral;  // JSON's destructors allocate
    const auto answer = ask_ok(question);
    if (answer) learn_from(question, *answer, concerned);
  }

  // What waits at these replicas now. `before`: what waited elsewhere and has come to them.
  void learn_from(const Json& question, const Json& answer, const std::vector<Replica>& concerned,
                  std::set<MessageId> before = {}) {
    for (const Replica r : concerned) before.insert(waiting_[r].begin(), waiting_[r].end());
    for (const Replica r : concerned) {
      std::set<MessageId> now;
      if (!read_waiting(answer, r, now)) {
        failure_ = adapter_.program().refused(
            brief(question), answer, "; expected in `waiting` the messages that wait, by replica");
        return;
      }
      learn_waiting(r, before, now);
      set_applied(r, brought(answer, r));
    }
  }

  // What an exchange has brought, now or earlier, without the messages that are known to wait.
  [[nodiscard]] std::vector<MessageId> brought(const Json& answer, Replica replica) const {
    std::vector<MessageId> applied;
    const Json all = answer.value("applied", Json::object());
    if (!all.is_object()) return applied;
    for (const Json& m : all.value(std::to_string(replica), Json::array())) {
      const bool is_known = m.is_number_unsigned() && m.get<MessageId>() < messages_.size();
      if (is_known && status_[replica][m.get<MessageId>()] != Status::kApplied)
        applied.push_back(m.get<MessageId>());
    }
    return applied;
  }

  // False: the answer has something else than messages there.
  bool read_waiting(const Json& answer, Replica replica, std::set<MessageId>& now) const {
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

  // Those that waited somewhere before and do not wait here any more are applied here.
  void learn_waiting(Replica r, const std::set<MessageId>& before, const std::set<MessageId>& now) {
    std::vector<MessageId> applied;
    for (const MessageId m : before) {
      if (!now.contains(m) && status_[r][m] != Status::kApplied) applied.push_back(m);
    }
    waiting_[r].clear();
    for (const MessageId m : now) {
      if (status_[r][m] == Status::kApplied) continue;
      status_[r][m] = Status::kWaiting;
      waiting_[r].insert(m);
    }
    set_applied(r, applied);
  }

  void set_applied(Replica r, const std::vector<MessageId>& applied) {
    if (applied.empty()) return;
    for (const MessageId m : applied) {
      status_[r][m] = Status::kApplied;
      waiting_[r].erase(m);
    }
    note_applied(r, applied);
  }

  void note_applied(Replica r, const std::vector<MessageId>& applied) {
    Json ids = Json::array();
    for (const MessageId m : applied) {
      for (const auto& id : messages_[m].ids) ids.push_back(id);
    }
    recorder_.note({{"process", recorder_.process(r)}, {"f", "deliver"}, {"value", ids}});
  }

  // A message or a document with all that the replica has seen.
  std::string note_state(Replica r) {
    auto id = fmt::format("m{}", states_++);
    recorder_.note({{"process", recorder_.process(r)}, {"f", "send"}, {"id", id}});
    return id;
  }

  void perform(const Operation& op) {
    const base::AllocationWatch::Deferral deferral;  // JSON's destructors allocate
    perform(op, recorder_.question(op));
  }

  // The operation, and the step that it is.
  void note_operation(const Operation& op, Json question, const Json& answer, bool is_line) {
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

  void perform(const Operation& op, const Json& question) {
    Json request = question;
    request["replica"] = op.replica;
    if (has(Hazard::kExchange)) request["message"] = messages_.size();  // if it sends one
    const auto answer = ask(request);
    if (!answer) return;
    if ((*answer)["type"] == "info") {
      failure_ =
          adapter_.program().refused(request, *answer, ", expected the type \"ok\" or \"fail\"");
      return;
    }
    const auto lines = recorder_.line_count();
    const auto outcome = recorder_.record(op, question, *answer);
    note_operation(op, question, *answer, recorder_.line_count() > lines);
    if (!outcome.update.empty()) crashed_since_.erase(op.key);
    if (outcome.wrong)
      failure_ = adapter_.program().refused(request, *answer, ": " + *outcome.wrong);
    // Nobody could say which update such a message has.
    if (outcome.update.empty() && !failure_ && !answer->value("send", Json()).is_null())
      failure_ = adapter_.program().refused(
          request, *answer,
          fmt::format(", expected no `send`, because {} makes no message",
                      is_read(op.kind) ? "a read" : "an update that failed"));
    if (options_.edits != nullptr && op.key == text_)
      last_read_ = characters_of(answer->value("value", Json())).value_or(last_read_);
    if (!outcome.update.empty()) send(op.replica, {outcome.update}, answer->value("send", Json()));
  }

  void send(Replica from, std::vector<std::string> ids, Json value) {
    Sent sent{from, stream_of_[from], std::move(value), std::move(ids), {}};
    if (adapter_.library().sends_states) sent.ids = {note_state(from)};
    for (Stream s = 0; s < streams_.size(); ++s) sent.past.push_back(next_in_order(from, s));
    if (sent.is_silent()) sent.beyond = applied_beyond(from, sent.past);
    const bool silent = sent.is_silent();
    const MessageId m = messages_.size();
    streams_[sent.stream].messages.push_back(m);
    messages_.push_back(std::move(sent));
    for (Replica r = 0; r < options_.replicas; ++r) {
      status_[r].push_back(r == from ? Status::kApplied : Status::kNone);
      if (r != from) (silent ? silent_ : pending_)[r].push_back(m);
    }
  }

  [[nodiscard]] std::vector<MessageId> applied_beyond(Replica r,
                                                      const std::vector<std::size_t>& past) const {
    std::vector<MessageId> beyond;
    for (Stream s = 0; s < streams_.size(); ++s) {
      const auto& messages = streams_[s].messages;
      std::copy_if(messages.begin() + static_cast<std::ptrdiff_t>(past[s]), messages.end(),
                   std::back_inserter(beyond),
                   [&](MessageId m) { return status_[r][m] == Status::kApplied; });
    }
    return beyond;
  }

  bool has_past_of(const Sent& sent, Replica to) {
    for (Stream s = 0; s < sent.past.size(); ++s) {
      if (sent.past[s] > next_in_order(to, s)) return false;
    }
    return std::all_of(sent.beyond.begin(), sent.beyond.end(),
                       [&](MessageId m) { return status_[to][m] == Status::kApplied; });
  }

  // An update without a message has changed nothing, as the library says: a set had the element
  // already. So another replica has seen it as soon as it has all that the sender had; earlier, it
  // would have to show what never came. In causal order it comes as other messages do.
  void take_silent(Replica to) {
    if (!has(Hazard::kReordering)) return;
    constexpr int kMostTries = 16;  // a library may send nothing at all
    std::vector<MessageId> left;
    auto& silent = silent_[to];
    int tries = 0;
    std::size_t i = 0;
    for (; i < silent.size() && tries < kMostTries && !failure_; ++i) {
      const MessageId m = silent[i];
      if (status_[to][m] != Status::kNone) continue;  // it came otherwise
      if (has_past_of(messages_[m], to)) {
        hand(to, m);
      } else {
        left.push_back(m);
        ++tries;
      }
    }
    left.insert(left.end(), silent.begin() + static_cast<std::ptrdiff_t>(i), silent.end());
    silent = std::move(left);
  }

  void begin_stream(Replica sender) {
    stream_of_.resize(options_.replicas);
    stream_of_[sender] = static_cast<Stream>(streams_.size());
    streams_.push_back({sender, {}});
    for (auto& counts : in_order_) counts.push_back(0);
  }

  // How many of the stream's messages the replica has without a gap.
  std::size_t next_in_order(Replica to, Stream s) {
    std::size_t& next = in_order_[to][s];
    const auto& messages = streams_[s].messages;
    while (next < messages.size() && status_[to][messages[next]] == Status::kApplied) ++next;
    return next;
  }

  [[nodiscard]] bool is_reachable(Replica a, Replica b) const { return side_[a] == side_[b]; }

  // The next message in causal order; none: there is none, or others come first.
  std::optional<MessageId> next_causal(Replica to, Stream s) {
    const auto next = next_in_order(to, s);
    if (next == streams_[s].messages.size()) return std::nullopt;
    const MessageId m = streams_[s].messages[next];
    const auto& past = messages_[m].past;
    for (Stream other = 0; other < past.size(); ++other) {
      if (other != s && past[other] > next_in_order(to, other)) return std::nullopt;
    }
    return m;
  }

  // Some message that did not come yet.
  std::optional<MessageId> next_of_any(Replica to) {
    auto& pending = pending_[to];
    while (!pending.empty()) {
      std::swap(pending[random().below(pending.size())], pending.back());
      const MessageId m = pending.back();
      if (status_[to][m] == Status::kNone) {
        if (!is_reachable(messages_[m].from, to)) return std::nullopt;
        pending.pop_back();
        return m;
      }
      pending.pop_back();  // it came otherwise
    }
    return std::nullopt;
  }

  void hand(Replica to, MessageId m) {
    const Sent& sent = messages_[m];
    note_step({.kind = StepKind::kDeliver, .replica = to, .message = m});
    ++recorded_.delivered;
    const bool had = status_[to][m] == Status::kApplied;
    if (status_[to][m] == Status::kNone || status_[to][m] == Status::kLost) {
      status_[to][m] = Status::kWaiting;
      waiting_[to].insert(m);
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
    if (had) note_applied(to, {m});
  }

  void deliver_some(Replica to, double chance) {
    take_silent(to);
    const auto count = static_cast<Stream>(streams_.size());
    const auto first = static_cast<Stream>(random().below(count));
    for (Stream k = 0; k < count; ++k) {
      const Stream s = (first + k) % count;
      // What a replica sent before a crash comes back to it.
      while (s != stream_of_[to] && !failure_ && random().chance(chance)) {
        const bool any = has(Hazard::kReordering);
        const auto m = any                                    ? next_of_any(to)
                       : is_reachable(streams_[s].sender, to) ? next_causal(to, s)
                                                              : std::nullopt;
        if (!m) break;
        if (any && has(Hazard::kLoss) && random().chance(kLostShare)) {
          status_[to][*m] = Status::kLost;
          ++recorded_.lost;
          continue;
        }
        hand(to, *m);
        if (has(Hazard::kDuplicates) && random().chance(kRepeatedShare)) hand(to, *m);
      }
    }
  }

  // A message that came long ago, if one drawn at random did.
  void repeat_some(Replica to) {
    if (messages_.empty()) return;
    const MessageId m = random().below(messages_.size());
    if (messages_[m].from == to || messages_[m].value.is_null()) return;
    if (status_[to][m] == Status::kWaiting || status_[to][m] == Status::kApplied) hand(to, m);
  }

  void change_partition(std::uint64_t now, std::uint64_t count) {
    if (now >= heals_ && heals_ > 0) heal();
    if (heals_ > 0 || options_.replicas < 2 || !random().chance(kPartition)) return;
    const auto cut = 1 + random().below((std::uint64_t{1} << std::min(options_.replicas, 60U)) - 2);
    for (Replica r = 0; r < options_.replicas; ++r) side_[r] = (cut >> (r % 60)) & 1;
    heals_ = now + 5 + random().below(std::max<std::uint64_t>(1, count / 8));
    ++recorded_.partitions;
  }

  void heal() {
    side_.assign(options_.replicas, 0);
    heals_ = 0;
  }

  void restart(Replica r) {
    ++recorded_.restarts;
    note_step({.kind = StepKind::kRestart, .replica = r});
    hang_up(r);
    command({{"f", "restart"}, {"replica", r}}, {r});
  }

  // Its document and what it has seen, for a crash.
  void save(Replica r) {
    const auto throws = recorded_.throws;
    note_step({.kind = StepKind::kSave, .replica = r});
    command({{"f", "save"}, {"replica", r}}, {r});
    if (recorded_.throws == throws) saved_[r] = Saved{note_state(r), status_[r]};
  }

  // It begins again from what it saved last, or from nothing, as a new process. What it has not
  // seen any more, its own messages too, comes again.
  void crash(Replica r) {
    const Json question = {{"f", "crash"}, {"replica", r}};
    note_step({.kind = StepKind::kCrash, .replica = r});
    hang_up(r);
    const auto throws = recorded_.throws;
    const auto answer = ask(question);
    if (!answer || recorded_.throws > throws) return;  // it goes on as it was
    ++recorded_.crashes;
    for (std::uint32_t key = 0; key < recorder_.keys().size(); ++key) crashed_since_.insert(key);
    begin_stream(r);
    const auto& last = saved_[r];
    recorder_.begin_again(r);
    if (last)
      recorder_.note({{"process", recorder_.process(r)}, {"f", "deliver"}, {"value", {last->id}}});
    pending_[r].clear();
    silent_[r].clear();
    waiting_[r].clear();
    in_order_[r].assign(streams_.size(), 0);
    for (MessageId m = 0; m < messages_.size(); ++m) {
      auto status = last && m < last->status.size() ? last->status[m] : Status::kNone;
      if (status == Status::kLost) status = Status::kNone;
      if (status == Status::kNone) (messages_[m].is_silent() ? silent_ : pending_)[r].push_back(m);
      if (status == Status::kWaiting) waiting_[r].insert(m);
      status_[r][m] = status;
    }
    std::set<MessageId> now;
    if ((*answer)["type"] != "ok" || !read_waiting(*answer, r, now)) {
      failure_ = adapter_.program().refused(question, *answer,
                                            ", expected the type \"ok\" and what waits");
      return;
    }
    learn_waiting(r, std::set<MessageId>(waiting_[r]), now);
  }

  // Up to a day ahead or behind.
  void set_clock(Replica r) {
    constexpr std::int64_t kDay = 86'400'000;
    set_clock(r, static_cast<std::int64_t>(random().below(2 * kDay)) - kDay);
  }

  void set_clock(Replica r, std::int64_t ahead) {
    note_step({.kind = StepKind::kClock, .replica = r, .ahead = ahead});
    command({{"f", "clock"}, {"replica", r}, {"ahead", ahead}}, {});
  }

  // The replica that was not there yet begins empty, or from what another one saved.
  void join(Replica r) {
    recorded_.joined_late = true;
    if (!has(Hazard::kJoin) || random().chance(0.5)) return;
    join_from(r, static_cast<Replica>(random().below(r)));
  }

  void join_from(Replica r, Replica from) {
    note_step({.kind = StepKind::kJoin, .replica = r, .other = from});
    copy_status(from, r);
    command({{"f", "join"}, {"replica", r}, {"from", from}}, {r});
  }

  void sync_with_some(Replica r, Replica among) {
    const auto other = static_cast<Replica>(random().below(among));
    if (other != r && is_reachable(r, other)) sync(r, other);
  }

  void sync(Replica a, Replica b) {
    ++recorded_.syncs;
    note_step({.kind = StepKind::kSync, .replica = a, .other = b});
    copy_status(a, b);
    copy_status(b, a);
    command({{"f", "sync"}, {"replica", a}, {"from", b}}, {a, b});
  }

  // What was applied at one is now applied at the other.
  void copy_status(Replica from, Replica to) {
    if (!take_status(status_[from], to)) return;
    const auto id = note_state(from);
    recorder_.note({{"process", recorder_.process(to)}, {"f", "deliver"}, {"value", {id}}});
  }
  void copy_status(const Saved& from, Replica to) {
    if (!take_status(from.status, to)) return;
    recorder_.note({{"process", recorder_.process(to)}, {"f", "deliver"}, {"value", {from.id}}});
  }

  static std::set<MessageId> waiting_in(const Saved& state) {
    std::set<MessageId> waiting;
    for (MessageId m = 0; m < state.status.size(); ++m) {
      if (state.status[m] == Status::kWaiting) waiting.insert(m);
    }
    return waiting;
  }

  // False: it had all of them.
  bool take_status(const std::vector<Status>& from, Replica to) {
    bool fresh = false;
    for (MessageId m = 0; m < from.size(); ++m) {
      if (from[m] != Status::kApplied || status_[to][m] == Status::kApplied) continue;
      status_[to][m] = Status::kApplied;
      waiting_[to].erase(m);
      fresh = true;
    }
    return fresh;
  }

  // What another replica saved some time ago, as from a file.
  void merge_some(Replica r, Replica among) {
    const auto other = static_cast<Replica>(random().below(among));
    if (other != r && saved_[other]) merge(r, other);
  }

  void merge(Replica r, Replica other) {
    if (!saved_[other]) return;
    ++recorded_.merges;
    note_step({.kind = StepKind::kMerge, .replica = r, .other = other});
    const base::AllocationWatch::Deferral deferral;  // JSON's destructors allocate
    copy_status(*saved_[other], r);
    const Json question = {{"f", "merge"}, {"replica", r}, {"from", other}};
    if (const auto answer = ask_ok(question))
      learn_from(question, *answer, {r}, waiting_in(*saved_[other]));
  }

  // The library's protocol between two replicas: its messages are delivered in their order, and
  // other things happen between them.
  void exchange_some(Replica r, Replica among) {
    const auto other = static_cast<Replica>(random().below(among));
    if (other != r && is_reachable(r, other) && random().chance(kGreet)) greet(r, other);
    for (Replica from = 0; from < options_.replicas; ++from) {
      while (!addressed_[{from, r}].empty() && is_reachable(from, r) && random().chance(kHear) &&
             !failure_)
        hear(r, from);
    }
  }

  // A new exchange ends an earlier one of the two.
  void greet(Replica r, Replica other) {
    const base::AllocationWatch::Deferral deferral;  // JSON's destructors allocate
    ++recorded_.exchanges;
    note_step({.kind = StepKind::kGreet, .replica = r, .other = other});
    addressed_[{r, other}].clear();
    addressed_[{other, r}].clear();
    const auto answer = ask_ok({{"f", "greet"}, {"replica", r}, {"from", other}});
    if (answer) address(r, other, answer->value("say", Json::array()));
  }

  void hear(Replica r, Replica from) {
    const base::AllocationWatch::Deferral deferral;  // JSON's destructors allocate
    auto& messages = addressed_[{from, r}];
    if (messages.empty()) return;
    note_step({.kind = StepKind::kHear, .replica = r, .other = from});
    const Addressed message = std::move(messages.front());
    messages.pop_front();
    Json lacks = Json::array();
    for (MessageId m = 0; m < message.state.status.size(); ++m) {
      const auto sent = message.state.status[m];  // what waits at the sender may come, too
      if ((sent == Status::kApplied || sent == Status::kWaiting) &&
          status_[r][m] != Status::kApplied)
        lacks.push_back(m);
    }
    const Json question = {
        {"f", "hear"}, {"replica", r}, {"from", from}, {"value", message.value}, {"lacks", lacks}};
    const auto answer = ask_ok(question);
    if (!answer) return;
    const Json carries = answer->value("carries", Json("nothing"));
    if (carries == "state") copy_status(message.state, r);
    learn_from(question, *answer, {r},
               carries == "state" ? waiting_in(message.state) : std::set<MessageId>());
    address(r, from, answer->value("say", Json::array()));
  }

  void address(Replica from, Replica to, const Json& messages) {
    if (!messages.is_array()) return;
    for (const Json& value : messages)
      addressed_[{from, to}].push_back({value, Saved{note_state(from), status_[from]}});
  }

  // Of a replica that begins again: its exchanges are over.
  void hang_up(Replica r) {
    for (auto& [pair, messages] : addressed_) {
      if (pair.first == r || pair.second == r) messages.clear();
    }
  }

  // Nobody can lack what is forgotten then, if nobody goes back to what it saved before.
  void compact_some() {
    if (!has(Hazard::kCompaction)) return;
    sync_lost();
    if (!has_everything()) return;
    for (Replica r = 0; r < options_.replicas && !failure_; ++r) {
      if (random().chance(0.5)) compact(r);
      if (has(Hazard::kCrash) || has(Hazard::kFiles)) save(r);
    }
  }

  void compact(Replica r) {
    if (!has_everything()) return;
    ++recorded_.compactions;
    note_step({.kind = StepKind::kCompact, .replica = r});
    hang_up(r);
    command({{"f", "compact"}, {"replica", r}}, {r});
  }

  [[nodiscard]] bool has_everything() const {
    return std::all_of(status_.begin(), status_.end(), [](const std::vector<Status>& all) {
      return std::all_of(all.begin(), all.end(), [](Status s) { return s == Status::kApplied; });
    });
  }

  // A process that crashed has not seen everything, so no read of it may come after the last update
  // of its key: the last reads of all processes are compared.
  void update_after_crashes() {
    constexpr int kMostDraws = 10'000;
    for (int i = 0; i < kMostDraws && !crashed_since_.empty() && !failure_; ++i) {
      const Operation op = recorder_.next(static_cast<Replica>(random().below(options_.replicas)));
      if (!is_read(op.kind) && crashed_since_.contains(op.key)) perform(op);
    }
  }

  // Updates that nothing is concurrent to, each seen and read everywhere before the next: some
  // update, and for sets and flags its opposite at another replica, and the first again. At random
  // most updates are overtaken by others. How many operations that were.
  std::uint64_t calm() {
    const auto random_replica = [&] {
      return static_cast<Replica>(random().below(options_.replicas));
    };
    constexpr int kMostDraws = 100;
    Operation op = recorder_.next(random_replica());
    for (int i = 0; is_read(op.kind) && i < kMostDraws; ++i) op = recorder_.next(random_replica());
    if (is_read(op.kind)) return 0;
    arrive();
    compact_some();
    std::uint64_t count = 0;
    const bool has_opposite = op.kind == Kind::kUp || op.kind == Kind::kDown;
    for (int turn = 0; turn < (has_opposite ? 3 : 1) && !failure_; ++turn) {
      perform(op);
      arrive();
      for (Replica r = 0; r < options_.replicas && !failure_; ++r)
        perform(recorder_.read_of(r, op.key));
      count += 1 + options_.replicas;
      if (!has_opposite) break;
      const NamedType type = recorder_.type_of(op.key);
      const bool removes =
          op.kind == Kind::kUp && !type.grow_only && type.type != Type::kGrowOnlySet;
      op.kind = removes ? Kind::kDown : Kind::kUp;
      op.replica = random_replica();
    }
    return count;
  }

  // What is pending, but for what is lost.
  void arrive() {
    heal();
    for (bool more = true; more && !failure_;) {
      more = false;
      for (Replica r = 0; r < options_.replicas; ++r) {
        const auto before = recorded_.delivered;
        deliver_some(r, 0.9);
        more = more || recorded_.delivered > before || !has_all_but_lost(r);
      }
    }
    for (Replica r = 0; r < options_.replicas && !failure_; ++r) take_silent(r);
  }

  // All replicas bring each other up to date, because what was lost does not come otherwise.
  // What nobody has, because the only replica that had it crashed, is sent again.
  void sync_lost() {
    if (!has(Hazard::kLoss)) return;
    for (MessageId m = 0; m < messages_.size() && !failure_; ++m) {
      const bool is_gone = std::all_of(status_.begin(), status_.end(), [&](const auto& all) {
        return all[m] == Status::kLost || all[m] == Status::kNone;
      });
      if (is_gone && comes_by_itself(m)) hand(messages_[m].from, m);
    }
    for (int round = 0; round < 2; ++round) {
      for (Replica r = 0; r + 1 < options_.replicas && !failure_; ++r) sync(r, r + 1);
      if (options_.replicas > 2 && !failure_) sync(options_.replicas - 1, 0);
    }
    for (Replica r = 0; r < options_.replicas && !failure_; ++r) take_silent(r);
  }

  // Everything arrives: what is pending, then what was lost by syncs, then what still waits again.
  void settle() {
    arrive();
    sync_lost();
    for (Replica r = 0; r < options_.replicas; ++r) {
      const auto kept = waiting_[r];
      for (const MessageId m : kept) hand(r, m);
    }
    for (Replica r = 0; r < options_.replicas && !failure_; ++r) {
      report_stuck(r);
      for (auto left = silent_[r].size() + 1; left > silent_[r].size() && !failure_;) {
        left = silent_[r].size();
        take_silent(r);
      }
    }
  }

  // Not with another message, see take_silent().
  [[nodiscard]] bool comes_by_itself(MessageId m) const {
    return !messages_[m].is_silent() || !has(Hazard::kReordering);
  }

  [[nodiscard]] bool has_all_but_lost(Replica r) const {
    for (MessageId m = 0; m < messages_.size(); ++m) {
      if (comes_by_itself(m) && status_[r][m] == Status::kNone) return false;
    }
    return true;
  }

  // They count as applied: the library had everything that it needed.
  void report_stuck(Replica r) {
    const std::vector<MessageId> kept(waiting_[r].begin(), waiting_[r].end());
    for (const MessageId m : kept) {
      if (recorded_.stuck++ == 0)
        recorded_.first_stuck = fmt::format("{} at replica {}", messages_[m].ids.front(), r);
      if (recorded_.not_applied.size() < AdapterRecorded::kMostNamed)
        recorded_.not_applied.push_back({r, messages_[m].ids.front()});
    }
    set_applied(r, kept);
  }

  Adapter& adapter_;
  const AdapterRunOptions& options_;
  Recorder recorder_;
  std::vector<Sent> messages_;
  std::vector<std::vector<Status>> status_;      // by replica and message
  std::vector<std::vector<MessageId>> pending_;  // by replica: not handed over yet
  std::vector<std::vector<MessageId>> silent_;   // the same, of updates that have no message
  std::vector<std::set<MessageId>> waiting_;     // by replica: those of that status
  struct MessageStream {
    Replica sender;
    std::vector<MessageId> messages;
  };
  std::vector<MessageStream> streams_;
  std::vector<Stream> stream_of_;                   // by replica: of its messages from now on
  std::vector<std::vector<std::size_t>> in_order_;  // by receiver and stream
  std::vector<std::uint64_t> side_;                 // of the partition, by replica
  std::uint64_t heals_ = 0;                         // before this operation; 0: there is none
  // By replica: what it saved last.
  std::vector<std::optional<Saved>> saved_;
  std::map<std::pair<Replica, Replica>, std::deque<Addressed>> addressed_;  // from and to
  std::set<std::uint32_t> crashed_since_;  // keys without an update since a crash
  std::uint64_t states_ = 0;
  std::optional<base::Error> failure_;  // nothing more is asked
  bool ends_by_throw_ = false;          // then it is none of the run
  AdapterRecorded recorded_;
  // Of a replay: the messages and nodes that those of the steps are now.
  std::map<MessageId, MessageId> remade_;
  std::map<Json, Json> renamed_;
  // Of a trace: the key of its text; the characters that its own stand for, by number; the last
  // text that was read.
  std::uint32_t text_ = 0;
  std::vector<std::string> originals_;
  std::string last_read_;
};

}  // namespace

base::Result<AdapterRecorded> run(Adapter& adapter, const AdapterRunOptions& options) {
  return AdapterRunner(adapter, options).run();
}

base::Result<AdapterRecorded> replay(Adapter& adapter, const AdapterRunOptions& options,
                                     const std::vector<AdapterStep>& steps,
                                     const std::vector<History>& names, bool script) {
  return AdapterRunner(adapter, options).replay(steps, names, script);
}

}  // namespace cupel::crdt
