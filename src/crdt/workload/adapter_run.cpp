// Adapter run: see the header.
//
// A replica has a status for each message. A library may keep a message until others have come; the
// adapter says which wait, so the history has only what was applied. Lines `deliver` are written
// at that time.
#include "crdt/workload/adapter_run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>

#include "base/budget.hpp"
#include "base/hash_table.hpp"
#include "base/utf8.hpp"
#include "crdt/model/unique_character.hpp"
#include "crdt/workload/recorder.hpp"
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
                 kCrash = 0.007, kJump = 0.02;
// Of a delivery.
constexpr double kRepeatedShare = 0.1, kLostShare = 0.1;

enum class Status : std::uint8_t { kNone, kLost, kWaiting, kApplied };

struct Sent {
  Replica from;
  Stream stream;
  Json value;                     // null: the update made no message, and nothing is delivered
  std::vector<std::string> ids;   // as `deliver` lines name what it has
  std::vector<std::size_t> past;  // messages of each stream that the sender had
};

class AdapterRunner {
 public:
  AdapterRunner(Adapter& adapter, const AdapterRunOptions& options)
      : adapter_(adapter),
        options_(options),
        recorder_(options, Arguments::kAsAnswered),
        status_(options.replicas),
        pending_(options.replicas),
        waiting_(options.replicas),
        in_order_(options.replicas),
        side_(options.replicas, 0),
        saved_(options.replicas) {
    for (Replica r = 0; r < options.replicas; ++r) begin_stream(r);
  }

  base::Result<AdapterRecorded> run() {
    recorder_.note({{"f", "delivery"}, {"value", "applied"}});
    command({{"f", "begin"},
             {"replicas", options_.replicas},
             {"keys", recorder_.keys()},
             {"object", options_.object}},
            {});
    for (Replica r = 0; r < options_.replicas && has(Hazard::kClocks); ++r) set_clock(r);
    if (options_.edits == nullptr) {
      for (std::uint64_t i = 0; i < options_.ops && !failure_; ++i) {
        const auto r = before_operation(i, options_.ops);
        if (!failure_) perform(recorder_.next(r));
      }
    } else if (options_.edits->concurrent) {
      replay_agents(*options_.edits);
    } else {
      replay_one_agent(*options_.edits);
    }
    settle();
    for (Replica r = 0; r < options_.replicas; ++r) {
      for (std::uint32_t k = 0; k < options_.keys && !failure_; ++k)
        perform(recorder_.read_of(r, k));
    }
    if (failure_) return *failure_;
    if (options_.edits != nullptr)
      recorded_.ends_as_traced = as_traced(last_read_) == options_.edits->end;
    adapter_.program().close();
    recorded_.messages = messages_.size();
    recorded_.lines = recorder_.lines();
    return std::move(recorded_);
  }

 private:
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
    if (has(Hazard::kCrash) && random().chance(kSave)) save(r);
    const bool edits = options_.edits != nullptr && r == 0;  // it has what the trace says
    if (has(Hazard::kCrash) && random().chance(kCrash) && !edits) crash(r);
    if (has(Hazard::kClocks) && random().chance(kJump)) set_clock(r);
    if (has(Hazard::kLoss) && random().chance(kSync)) sync_with_some(r, present);
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
    const auto line = [&](const char* method, const std::string& value) {
      ids.push_back(
          recorder_.update(r, fmt::format(R"({{"process":{},"f":"{}","key":{},"value":{}}})",
                                          text::dump(recorder_.process(r)), method,
                                          text::quoted(recorder_.keys()[0]), value)));
    };
    if (!deleted.empty()) line("delete", text::quoted(deleted));
    if (inserted.empty()) return;
    line("insert", fmt::format("[{},{}]", before.empty() ? "null" : text::quoted(before),
                               text::quoted(inserted)));
  }

  // What the library is asked to do; nothing: it failed.
  std::optional<Json> edit(Replica r, Json patches, bool named) {
    const Json request = {{"f", "edit"},
                          {"key", recorder_.keys()[0]},
                          {"value", std::move(patches)},
                          {"named", named},
                          {"replica", r}};
    auto answer = ask(request);
    if (answer && (*answer)["type"] != "ok") {
      // Nobody can say which of the edits it made.
      failure_ = adapter_.program().refused({{"f", "edit"}, {"replica", r}}, *answer,
                                            ", expected the type \"ok\"");
    }
    if (failure_) return std::nullopt;
    return answer;
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
      if (random().chance(kReads)) perform(recorder_.read_of(r, 0));
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
      if (random().chance(kReads)) perform(recorder_.read_of(observer, 0));
      if (!transaction.patches.empty() && !failure_) edit_named(edits, t, made[t]);
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
      record_edit(r, places[p][1], places[p][0], asked[p][2], ids);
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
    if (const Json threw = answer->value("threw", Json()); threw.is_string()) {
      if (recorded_.throws++ == 0)
        recorded_.first_throw =
            fmt::format("`{}`: {}", text::dump(brief(question)), threw.get<std::string>());
    }
    return std::move(*answer);
  }

  // Of a message only where it is from.
  static Json brief(Json question) {
    if (question["f"] == "deliver") question.erase("value");
    return question;
  }

  // For a request that is no operation.
  void command(const Json& question, const std::vector<Replica>& concerned) {
    const base::AllocationWatch::Deferral deferral;  // JSON's destructors allocate
    const auto answer = ask(question);
    if (!answer) return;
    if ((*answer)["type"] != "ok") {
      failure_ = adapter_.program().refused(brief(question), *answer, ", expected the type \"ok\"");
      return;
    }
    std::set<MessageId> before;
    for (const Replica r : concerned) before.insert(waiting_[r].begin(), waiting_[r].end());
    for (const Replica r : concerned) {
      std::set<MessageId> now;
      if (!read_waiting(*answer, r, now)) {
        failure_ = adapter_.program().refused(
            brief(question), *answer, "; expected in `waiting` the messages that wait, by replica");
        return;
      }
      learn_waiting(r, before, now);
    }
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
    Json question = recorder_.question(op);
    Json request = question;
    request["replica"] = op.replica;
    const auto answer = ask(request);
    if (!answer) return;
    if ((*answer)["type"] == "info") {
      failure_ =
          adapter_.program().refused(request, *answer, ", expected the type \"ok\" or \"fail\"");
      return;
    }
    const auto outcome = recorder_.record(op, question, *answer);
    if (outcome.wrong)
      failure_ = adapter_.program().refused(request, *answer, ": " + *outcome.wrong);
    // Nobody could say which update such a message has.
    if (outcome.update.empty() && !failure_ && !answer->value("send", Json()).is_null())
      failure_ = adapter_.program().refused(
          request, *answer,
          fmt::format(", expected no `send`, because {} makes no message",
                      is_read(op.kind) ? "a read" : "an update that failed"));
    if (options_.edits != nullptr && (*answer)["value"].is_string())
      last_read_ = (*answer)["value"];
    if (!outcome.update.empty()) send(op.replica, {outcome.update}, answer->value("send", Json()));
  }

  void send(Replica from, std::vector<std::string> ids, Json value) {
    Sent sent{from, stream_of_[from], std::move(value), std::move(ids), {}};
    if (adapter_.library().sends_states) sent.ids = {note_state(from)};
    for (Stream s = 0; s < streams_.size(); ++s) sent.past.push_back(next_in_order(from, s));
    const MessageId m = messages_.size();
    streams_[sent.stream].messages.push_back(m);
    messages_.push_back(std::move(sent));
    for (Replica r = 0; r < options_.replicas; ++r) {
      status_[r].push_back(r == from ? Status::kApplied : Status::kNone);
      if (r != from) pending_[r].push_back(m);
    }
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
    command({{"f", "restart"}, {"replica", r}}, {r});
  }

  // Its document and what it has seen, for a crash.
  void save(Replica r) {
    const auto throws = recorded_.throws;
    command({{"f", "save"}, {"replica", r}}, {r});
    if (recorded_.throws == throws) saved_[r] = Saved{note_state(r), status_[r]};
  }

  // It begins again from what it saved last, or from nothing, as a new process. What it has not
  // seen any more, its own messages too, comes again.
  void crash(Replica r) {
    const Json question = {{"f", "crash"}, {"replica", r}};
    const auto throws = recorded_.throws;
    const auto answer = ask(question);
    if (!answer || recorded_.throws > throws) return;  // it goes on as it was
    ++recorded_.crashes;
    begin_stream(r);
    const auto& last = saved_[r];
    recorder_.begin_again(r);
    if (last)
      recorder_.note({{"process", recorder_.process(r)}, {"f", "deliver"}, {"value", {last->id}}});
    pending_[r].clear();
    waiting_[r].clear();
    in_order_[r].assign(streams_.size(), 0);
    for (MessageId m = 0; m < messages_.size(); ++m) {
      auto status = last && m < last->status.size() ? last->status[m] : Status::kNone;
      if (status == Status::kLost) status = Status::kNone;
      if (status == Status::kNone) pending_[r].push_back(m);
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
    command({{"f", "clock"},
             {"replica", r},
             {"ahead", static_cast<std::int64_t>(random().below(2 * kDay)) - kDay}},
            {});
  }

  // The replica that was not there yet begins empty, or from what another one saved.
  void join(Replica r) {
    recorded_.joined_late = true;
    if (!has(Hazard::kJoin) || random().chance(0.5)) return;
    const auto from = static_cast<Replica>(random().below(r));
    copy_status(from, r);
    command({{"f", "join"}, {"replica", r}, {"from", from}}, {r});
  }

  void sync_with_some(Replica r, Replica among) {
    const auto other = static_cast<Replica>(random().below(among));
    if (other != r && is_reachable(r, other)) sync(r, other);
  }

  void sync(Replica a, Replica b) {
    ++recorded_.syncs;
    copy_status(a, b);
    copy_status(b, a);
    command({{"f", "sync"}, {"replica", a}, {"from", b}}, {a, b});
  }

  // What was applied at one is now applied at the other.
  void copy_status(Replica from, Replica to) {
    std::vector<MessageId> fresh;
    for (MessageId m = 0; m < messages_.size(); ++m) {
      if (status_[from][m] == Status::kApplied && status_[to][m] != Status::kApplied) {
        status_[to][m] = Status::kApplied;
        waiting_[to].erase(m);
        fresh.push_back(m);
      }
    }
    if (fresh.empty()) return;
    const auto id = note_state(from);
    recorder_.note({{"process", recorder_.process(to)}, {"f", "deliver"}, {"value", {id}}});
  }

  // Everything arrives: what is pending, then what was lost by syncs, then what still waits again.
  void settle() {
    heal();
    for (bool more = true; more && !failure_;) {
      more = false;
      for (Replica r = 0; r < options_.replicas; ++r) {
        const auto before = recorded_.delivered;
        deliver_some(r, 0.9);
        more = more || recorded_.delivered > before || !has_all_but_lost(r);
      }
    }
    if (has(Hazard::kLoss)) {
      for (int round = 0; round < 2; ++round) {
        for (Replica r = 0; r + 1 < options_.replicas && !failure_; ++r) sync(r, r + 1);
        if (options_.replicas > 2) sync(options_.replicas - 1, 0);
      }
    }
    for (Replica r = 0; r < options_.replicas; ++r) {
      const auto kept = waiting_[r];
      for (const MessageId m : kept) hand(r, m);
    }
    for (Replica r = 0; r < options_.replicas && !failure_; ++r) report_stuck(r);
  }

  [[nodiscard]] bool has_all_but_lost(Replica r) const {
    return std::none_of(status_[r].begin(), status_[r].end(),
                        [](Status s) { return s == Status::kNone; });
  }

  // They count as applied: the library had everything that it needed.
  void report_stuck(Replica r) {
    const std::vector<MessageId> kept(waiting_[r].begin(), waiting_[r].end());
    for (const MessageId m : kept) {
      if (recorded_.stuck++ == 0)
        recorded_.first_stuck = fmt::format("{} at replica {}", messages_[m].ids.front(), r);
    }
    set_applied(r, kept);
  }

  Adapter& adapter_;
  const AdapterRunOptions& options_;
  Recorder recorder_;
  std::vector<Sent> messages_;
  std::vector<std::vector<Status>> status_;      // by replica and message
  std::vector<std::vector<MessageId>> pending_;  // by replica: not handed over yet
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
  // By replica: what it saved last, the name of that state and the messages in it.
  struct Saved {
    std::string id;
    std::vector<Status> status;
  };
  std::vector<std::optional<Saved>> saved_;
  std::uint64_t states_ = 0;
  std::optional<base::Error> failure_;
  AdapterRecorded recorded_;
  // Of a trace: the characters that its own stand for, by number; the last text that was read.
  std::vector<std::string> originals_;
  std::string last_read_;
};

}  // namespace

base::Result<AdapterRecorded> run(Adapter& adapter, const AdapterRunOptions& options) {
  return AdapterRunner(adapter, options).run();
}

}  // namespace cupel::crdt
