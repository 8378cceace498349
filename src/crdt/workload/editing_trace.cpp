// Editing traces: see the header. The text is chunks of some hundred characters, so an edit costs
// the number of chunks and the length of one.
#include "crdt/workload/editing_trace.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>

#include "base/budget.hpp"
#include "base/text/json.hpp"
#include "base/utf8.hpp"
#include "crdt/model/unique_character.hpp"

namespace cupel::crdt {

namespace {

using Json = nlohmann::json;

// The reason why it is none, or nothing.
std::optional<std::string> take_patches(const Json& patches, EditTransaction& into) {
  if (!patches.is_array()) return "found no array `patches`";
  for (const Json& patch : patches) {
    if (!patch.is_array() || patch.size() != 3 || !patch[0].is_number_unsigned() ||
        !patch[1].is_number_unsigned() || !patch[2].is_string())
      return fmt::format("found the patch {}, expected [position, deleted, \"inserted\"]",
                         text::dump_excerpt(patch));
    into.patches.push_back({patch[0], patch[1], patch[2]});
  }
  return std::nullopt;
}

std::optional<std::string> take_place(const Json& json, std::uint32_t number, std::uint32_t agents,
                                      EditTransaction& into) {
  const Json agent = json.value("agent", Json()), parents = json.value("parents", Json());
  if (!agent.is_number_unsigned() || agent >= agents)
    return fmt::format("found the agent {}, expected a number below `numAgents`, {}",
                       text::dump_excerpt(agent), agents);
  if (!parents.is_array()) return "found no array `parents`";
  into.agent = agent;
  for (const Json& parent : parents) {
    if (!parent.is_number_unsigned() || parent >= number)
      return fmt::format("found the parent {}, expected the number of an earlier transaction",
                         text::dump_excerpt(parent));
    into.parents.push_back(parent);
  }
  return std::nullopt;
}

std::optional<std::string> take_edits(const Json& json, RecordedEdits& edits) {
  constexpr std::uint32_t kMostAgents = 1000;
  const auto txns = json.find("txns");
  if (!json.is_object() || txns == json.end() || !txns->is_array())
    return "found no editing trace, expected an object with `endContent` and `txns`";
  const Json start = json.value("startContent", Json("")), end = json.value("endContent", Json());
  if (!start.is_string() || !end.is_string())
    return "found no strings `startContent` and `endContent`";
  edits.start = start;
  edits.end = end;
  edits.concurrent = json.value("kind", Json()) == "concurrent";
  if (edits.concurrent) {
    if (!edits.start.empty())
      return "found a `startContent` in a concurrent trace, expected that transaction 0 inserts it";
    const Json agents = json.value("numAgents", Json());
    if (!agents.is_number_unsigned() || agents == 0 || agents > kMostAgents)
      return fmt::format("found {} in `numAgents`, expected 1 to {}", text::dump_excerpt(agents),
                         kMostAgents);
    edits.agents = agents;
  }
  for (const Json& txn : *txns) {
    const auto number = static_cast<std::uint32_t>(edits.transactions.size());
    auto& made = edits.transactions.emplace_back();
    auto wrong = txn.is_object() ? take_patches(txn.value("patches", Json()), made)
                                 : std::optional<std::string>("found no object");
    if (!wrong && edits.concurrent) wrong = take_place(txn, number, edits.agents, made);
    if (wrong) return fmt::format("transaction {}: {}", number, *wrong);
    edits.patches += made.patches.size();
  }
  return std::nullopt;
}

}  // namespace

base::Result<RecordedEdits> read_edits(std::string_view bytes, const std::string& file) {
  const base::AllocationWatch::Deferral deferral;  // JSON's destructors allocate
  const Json json = Json::parse(bytes, nullptr, false);
  if (json.is_discarded())
    return base::Error{.message = "found no JSON, expected an editing trace", .file = file};
  RecordedEdits edits;
  if (auto wrong = take_edits(json, edits))
    return base::Error{.message = std::move(*wrong), .file = file};
  return edits;
}

bool TracedText::edit(std::uint64_t position, std::uint64_t deleted, std::uint64_t inserted,
                      Place& place) {
  constexpr std::size_t kLongest = 1024;
  place = {.before = kBeginning, .units = 0, .at = {}};
  std::size_t c = 0;
  for (; c + 1 < chunks_.size() && chunks_[c].characters.size() < position; ++c) {
    position -= chunks_[c].characters.size();
    place.units += chunks_[c].characters.size() + chunks_[c].wide;
    if (!chunks_[c].characters.empty()) place.before = chunks_[c].characters.back();
  }
  if (chunks_[c].characters.size() < position) return false;
  const auto is_wide = [](std::uint64_t character) { return character >= kNarrowCharacters; };
  for (std::uint64_t i = 0; i < position; ++i)
    place.units += 1 + (is_wide(chunks_[c].characters[i]) ? 1U : 0U);
  if (position > 0) place.before = chunks_[c].characters[position - 1];
  auto at = position;
  for (auto d = c; place.at.size() < deleted; ++d, at = 0) {
    if (d == chunks_.size()) return false;
    auto& all = chunks_[d].characters;
    const auto end = at + std::min<std::uint64_t>(all.size() - at, deleted - place.at.size());
    for (auto i = at; i < end; ++i) {
      place.at.push_back(all[i]);
      chunks_[d].wide -= is_wide(all[i]) ? 1U : 0U;
    }
    all.erase(all.begin() + static_cast<std::ptrdiff_t>(at),
              all.begin() + static_cast<std::ptrdiff_t>(end));
  }
  auto& into = chunks_[c];
  std::vector<std::uint64_t> fresh(inserted);
  for (auto& character : fresh) {
    character = next_++;
    into.wide += is_wide(character) ? 1U : 0U;
  }
  into.characters.insert(into.characters.begin() + static_cast<std::ptrdiff_t>(position),
                         fresh.begin(), fresh.end());
  while (chunks_[c].characters.size() > kLongest) {
    Chunk rest;
    auto& all = chunks_[c].characters;
    const auto half = all.end() - static_cast<std::ptrdiff_t>(kLongest / 2);
    rest.characters.assign(half, all.end());
    rest.wide = static_cast<std::uint64_t>(
        std::count_if(rest.characters.begin(), rest.characters.end(), is_wide));
    chunks_[c].wide -= rest.wide;
    all.erase(half, all.end());
    chunks_.insert(chunks_.begin() + static_cast<std::ptrdiff_t>(c) + 1, std::move(rest));
  }
  return true;
}

TracedObject traced_object(std::span<const Type> types) {
  TracedObject traced;
  for (const Type wanted : {Type::kText, Type::kMarkedText}) {
    const auto found = std::find(types.begin(), types.end(), wanted);
    if (found == types.end()) continue;
    traced.candidates = static_cast<std::size_t>(std::count(found, types.end(), wanted));
    traced.object = static_cast<std::size_t>(found - types.begin());
    break;
  }
  return traced;
}

std::vector<std::uint64_t> TracedText::characters() const {
  std::vector<std::uint64_t> all;
  for (const Chunk& chunk : chunks_)
    all.insert(all.end(), chunk.characters.begin(), chunk.characters.end());
  return all;
}

}  // namespace cupel::crdt
