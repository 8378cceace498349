// Edit replay: see the header.
#include "crdt/workload/edit_replay.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/budget.hpp"
#include "base/hash_table.hpp"
#include "base/text/json.hpp"
#include "base/utf8.hpp"
#include "crdt/model/unique_character.hpp"

namespace cupel::crdt {

namespace {

using Json = nlohmann::json;

base::Error wrong_edits(std::string message) {
  return {.message = "the editing trace does not fit its text: " + std::move(message)};
}

}  // namespace

void EditReplay::replay(const RecordedEdits& edits) {
  if (edits.concurrent)
    replay_agents(edits);
  else
    replay_one_agent(edits);
}

void EditReplay::refuse_edit(ReplicaId r, const Json& answer, std::string_view why) {
  replicas_.link().refuse({{"f", "edit"}, {"replica", r}}, answer, why);
}

// The characters of an edit, each as one that no other is; nothing: Unicode has no more.
std::optional<std::string> EditReplay::unique(const std::string& inserted) {
  std::string all;
  for (std::string_view rest = inserted; !rest.empty();) {
    const auto length = std::max<std::size_t>(1, base::utf8_length(rest));
    const auto one = unique_character(originals_.size());
    if (one.empty()) {
      replicas_.link().fail(wrong_edits(fmt::format(
          "it inserts more than {} characters, which Unicode does not have", originals_.size())));
      return std::nullopt;
    }
    originals_.emplace_back(rest.substr(0, length));
    all += one;
    rest.remove_prefix(length);
  }
  return all;
}

// The lines of an edit; the ids of the updates that it is.
void EditReplay::record_edit(ReplicaId r, const std::string& deleted, const std::string& before,
                             const std::string& inserted, std::vector<std::string>& ids) {
  const auto& object = recorder().object_name(text_key_);
  const auto line = [&](const char* method, const std::string& value) {
    ids.push_back(recorder().update(
        r, fmt::format(R"({{"process":{},{}"f":"{}","key":{},"value":{}}})",
                       text::dump(recorder().process(r)),
                       object.empty() ? "" : fmt::format("\"object\":{},", text::quoted(object)),
                       method, text::quoted(recorder().key_in_object(text_key_)), value)));
  };
  if (!deleted.empty()) line("delete", text::quoted(deleted));
  if (inserted.empty()) return;
  line("insert", fmt::format("[{},{}]", before.empty() ? "null" : text::quoted(before),
                             text::quoted(inserted)));
}

// What the library is asked to do; nothing: it failed.
std::optional<Json> EditReplay::edit(ReplicaId r, Json patches, bool named) {
  const Json request = {{"f", "edit"},
                        {"key", recorder().keys()[text_key_]},
                        {"value", std::move(patches)},
                        {"named", named},
                        {"replica", r},
                        {"message", messages().size()}};
  auto answer = replicas_.link().ask(request);
  if (answer && (*answer)["type"] != "ok") {
    // Nobody can say which of the edits it made, so the run ends here. If the library threw, what
    // was recorded before counts.
    if (answer->contains("threw")) replicas_.link().end_by_throw();
    refuse_edit(r, *answer, ", expected the type \"ok\"");
  }
  if (replicas_.has_failed()) return std::nullopt;
  return answer;
}

// To another object than the text.
void EditReplay::perform_beside_text(ReplicaId r) {
  constexpr int kMostDraws = 100;
  for (int i = 0; i < kMostDraws && recorder().keys().size() > 1 && !replicas_.has_failed(); ++i) {
    const Operation op = recorder().next(r);
    if (op.key == text_key_) continue;
    replicas_.perform(op);
    return;
  }
}

// Replica 0 edits, some hundred times many edits at once, and the others receive.
void EditReplay::replay_one_agent(const RecordedEdits& edits) {
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
  for (std::uint64_t i = 0; i < count && !replicas_.has_failed(); ++i) {
    const auto r = schedule_.before_operation(i, count);
    if (replicas_.has_failed()) return;
    if (random().chance(kReads)) replicas_.perform(recorder().read_of(r, text_key_));
    perform_beside_text(r);
    edit_batch(text, all, i * batch, std::min<std::uint64_t>(all.size(), (i + 1) * batch));
  }
  std::string end;
  for (const auto character : text.characters()) end += originals_[character];
  if (!replicas_.has_failed() && end != edits.end)
    replicas_.link().fail(wrong_edits("its edits end in another text than `endContent`"));
}

void EditReplay::edit_batch(TracedText& text, const std::vector<RecordedEdit>& all,
                            std::size_t begin, std::size_t end) {
  Json patches = Json::array();
  std::vector<std::string> ids;
  for (auto p = begin; p < end; ++p) {
    const auto& [position, deleted, inserted] = all[p];
    const auto first = originals_.size();
    const auto fresh = unique(inserted);
    if (!fresh) return;
    TracedText::Place place;
    if (!text.edit(position, deleted, originals_.size() - first, place)) {
      replicas_.link().fail(wrong_edits(
          fmt::format("edit {}, [{}, {}, …], is beyond its end", p, position, deleted)));
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
    replicas_.send(0, std::move(ids), answer->value("send", Json()));
}

// A replica for each agent, which has exactly what the agent had seen; the last one receives.
void EditReplay::replay_agents(const RecordedEdits& edits) {
  const base::AllocationWatch::Deferral deferral;  // JSON's destructors allocate
  constexpr double kReads = 0.01;
  const auto observer = options().replicas - 1;
  std::vector<std::vector<MessageId>> made(edits.transactions.size());
  std::vector<std::uint32_t> last(edits.agents, ~std::uint32_t{0});
  for (std::uint32_t t = 0; t < edits.transactions.size() && !replicas_.has_failed(); ++t) {
    const auto& transaction = edits.transactions[t];
    const ReplicaId r = transaction.agent;
    std::vector<bool> seen(t, false);
    for (const auto parent : transaction.parents) seen[parent] = true;
    for (auto earlier = t; earlier-- > 0;) {
      if (!seen[earlier]) continue;
      for (const auto parent : edits.transactions[earlier].parents) seen[parent] = true;
    }
    if (last[r] != ~std::uint32_t{0} && !seen[last[r]]) {
      replicas_.link().fail(wrong_edits(
          fmt::format("transaction {} of agent {} has not seen transaction {} of the same agent", t,
                      r, last[r])));
      return;
    }
    last[r] = t;
    for (std::uint32_t earlier = 0; earlier < t && !replicas_.has_failed(); ++earlier) {
      for (const MessageId m : made[earlier]) {
        if (seen[earlier] && messages().status(r, m) == MessageStatus::kMissing)
          replicas_.hand(r, m);
      }
    }
    schedule_.deliver_some(observer, options().delivery);
    if (replicas_.has(Hazard::kRestart) && random().chance(AdapterSchedule::kRestart))
      replicas_.restart(r);
    if (replicas_.has(Hazard::kClocks) && random().chance(AdapterSchedule::kJump))
      schedule_.set_clock(r);
    if (replicas_.has(Hazard::kDuplicates) && random().chance(AdapterSchedule::kLateRepeat))
      schedule_.repeat_some(observer);
    if (random().chance(kReads)) replicas_.perform(recorder().read_of(observer, text_key_));
    if (!transaction.patches.empty() && !replicas_.has_failed()) edit_named(edits, t, made[t]);
    const auto before = messages().size();
    perform_beside_text(r);
    if (messages().size() > before) made[t].push_back(before);
  }
}

// The library says which characters are at the places.
void EditReplay::edit_named(const RecordedEdits& edits, std::uint32_t t,
                            std::vector<MessageId>& made) {
  const EditTransaction& transaction = edits.transactions[t];
  const ReplicaId r = transaction.agent;
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
      replicas_.link().fail(wrong_edits(
          fmt::format("transaction {}: edit {}, [{}, {}, …], is beyond its end, in the order of {}",
                      t, p, transaction.patches[p].position, transaction.patches[p].deleted,
                      replicas_.link().library().name)));
      return;
    }
    const bool well = places.is_array() && places.size() == asked.size() && places[p].is_array() &&
                      places[p].size() == 2 && places[p][0].is_string() && places[p][1].is_string();
    if (!well) {
      refuse_edit(r, *answer, "; expected in `value` what is at each place");
      return;
    }
    record_edit(r, each_character_once(places[p][1].get_ref<const std::string&>()), places[p][0],
                asked[p][2], ids);
  }
  if (ids.empty()) return;
  made.push_back(messages().size());
  replicas_.send(r, std::move(ids), answer->value("send", Json()));
}

std::string EditReplay::as_traced(std::string_view text) const {
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

}  // namespace cupel::crdt
