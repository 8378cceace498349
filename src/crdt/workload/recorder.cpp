// Recorder: see the header. Each line is read again at once, so an answer that the type cannot give
// is an error at the request that it answers.
#include "crdt/workload/recorder.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/budget.hpp"
#include "base/text/json.hpp"
#include "crdt/io/reader.hpp"
#include "crdt/model/unique_character.hpp"

namespace cupel::crdt {

using Json = nlohmann::json;

namespace {

// A library that shows a character of a text twice is asked to delete or mark it twice, or did.
// Reads say what it shows; the operation names it once.
void name_characters_once(Json& line) {
  Json& value = line["value"];
  Json* characters = nullptr;
  if (line["f"] == "mark") {
    if (value.is_array() && !value.empty()) characters = &value[0];
  } else if (line["f"] == "delete") {
    characters = value.is_array() && value.size() == 2 ? &value[1] : &value;
  }
  if (characters != nullptr && characters->is_string())
    *characters = each_character_once(characters->get_ref<const std::string&>());
}

}  // namespace

Recorder::Recorder(const Requests& requests, Arguments arguments,
                   const std::vector<RecordedObject>& objects)
    : arguments_(arguments),
      keys_of_each_(std::max(1U, requests.keys)),
      begun_(requests.replicas, 0),
      updates_(requests.replicas, 0) {
  const base::AllocationWatch::Deferral deferral;  // JSON's destructors allocate
  for (std::uint32_t r = 0; r < requests.replicas; ++r) processes_.emplace_back(r);
  const auto add = [&](const std::string& name, NamedType type) {
    Requests own = requests;
    own.type = type;
    own.seed = requests.seed + objects_.size();
    Object object{.name = name, .type = type, .history = std::make_unique<History>()};
    object.requester = std::make_unique<Requester>(own, *object.history);
    object.visible.resize(requests.replicas,
                          std::vector<std::vector<std::uint32_t>>(requests.keys));
    for (const auto& key : object.history->keys)
      keys_.push_back(name.empty() ? key : fmt::format("{} {}", name, key));
    objects_.push_back(std::move(object));
  };
  if (objects.empty()) add("", requests.type);
  for (const auto& [name, type] : objects) {
    add(name, type);
    const Json line = {{"object", name}, {"type", crdt::name(type.type)}};
    lines_.emplace_back(/*context=*/false, text::dump(line));
  }
}

std::vector<History> Recorder::names() const {
  std::vector<History> names;
  for (const Object& object : objects_) names.push_back(*object.history);
  return names;
}

void Recorder::use_names(const std::vector<History>& names) {
  for (std::size_t o = 0; o < objects_.size(); ++o) *objects_[o].history = names[o];
}

Operation Recorder::next(std::uint32_t replica) {
  const auto at = objects_.size() == 1 ? 0 : random().below(objects_.size());
  Object& object = objects_[at];
  Operation op = object.requester->next(replica, object.visible[replica]);
  op.key += static_cast<std::uint32_t>(at) * keys_of_each_;
  return op;
}

Operation Recorder::read_of(std::uint32_t replica, std::uint32_t key) const {
  Operation op = objects_[object_of(key)].requester->read_of(replica, key % keys_of_each_);
  op.key = key;
  return op;
}

Operation Recorder::own(const Operation& op) const {
  Operation own = op;
  own.key %= keys_of_each_;
  return own;
}

void Recorder::begin_again(std::uint32_t replica) {
  processes_[replica] = fmt::format("{}.{}", replica, ++begun_[replica]);
  updates_[replica] = 0;
}

Json Recorder::question(const Operation& op) const {
  const History& history = *objects_[object_of(op.key)].history;
  Json question = {{"f", history.method(op)}, {"key", keys_[op.key]}};
  const Json argument = replicated_type(history).argument(history, own(op));
  if (!argument.is_null()) question["value"] = argument;
  return question;
}

Recorder::Outcome Recorder::record(const Operation& whole, const Json& question,
                                   const Json& answer) {
  const base::AllocationWatch::Deferral deferral;  // JSON's destructors allocate
  Object& object = objects_[object_of(whole.key)];
  const Operation op = own(whole);
  const std::string type = answer["type"];
  const bool is_update = !is_read(op.kind);
  if (type == "fail" || (!is_update && type != "ok")) return {};
  Json line = {{"process", processes_[op.replica]},
               {"f", question["f"]},
               {"key", object.history->keys[op.key]}};
  const Json argument = question.value("value", Json());
  const Json value = answer.value("value", Json());
  if (!is_update)
    line["value"] = replicated_type(*object.history).value_of_read(op, argument, value);
  else if (arguments_ == Arguments::kAsAnswered && !value.is_null())
    line["value"] = value;
  else if (!argument.is_null())
    line["value"] = argument;
  if (is_update && line.contains("value")) name_characters_once(line);
  if (type == "info") line["type"] = "info";
  line["time"] =
      std::chrono::duration_cast<std::chrono::nanoseconds>(Clock::now() - began_).count();
  const auto understood = read(text::dump(line), "", object.type);
  if (!understood.ok()) return {.wrong = understood.error().message};
  learn(object, op, *understood, type == "ok");
  if (!object.name.empty()) line["object"] = object.name;
  lines_.emplace_back(/*context=*/false, text::dump(line));
  if (!is_update || type != "ok") return {};
  return {.update = next_id(op.replica)};
}

std::string Recorder::update(std::uint32_t replica, std::string line) {
  lines_.emplace_back(/*context=*/false, std::move(line));
  return next_id(replica);
}

std::string Recorder::next_id(std::uint32_t replica) {
  const Json& process = processes_[replica];
  return fmt::format("{}:{}", process.is_string() ? process.get<std::string>() : process.dump(),
                     updates_[replica]++);
}

void Recorder::note(const Json& line) {
  const base::AllocationWatch::Deferral deferral;  // JSON's destructors allocate
  lines_.emplace_back(/*context=*/true, text::dump(line));
}

std::string Recorder::lines(bool with_context) const {
  std::string text;
  for (const auto& [context, line] : lines_) {
    if (!context || with_context) text += line + "\n";
  }
  return text;
}

void Recorder::learn(Object& object, const Operation& op, const History& understood, bool certain) {
  History& history = *object.history;
  auto& known = object.visible[op.replica][op.key];
  for (const auto e : history.changed(op)) {
    if (op.kind == Kind::kDelete) std::erase(known, e);
    if (op.kind == Kind::kInsert && certain) known.push_back(e);
  }
  // A container in a list: its id may be the library's.
  if (op.kind == Kind::kInsert && certain && !understood.place_of.empty()) {
    const auto& [container, place] = *understood.place_of.begin();
    const auto member = history.element(op.key, understood.elements[place].text);
    known.back() = member;
    known.push_back(history.element(op.key, understood.elements[container].text));
    history.note_put(member, known.back());
  }
  const auto here = [&](std::uint32_t e) {
    return history.element(op.key, understood.elements[e].text);
  };
  const Operation& done = understood.ops[0];
  if (op.kind == Kind::kMove && certain) {  // the library may have named a new node
    const auto node = here(done.element);
    if (std::find(known.begin(), known.end(), node) == known.end()) known.push_back(node);
  }
  if (op.kind == Kind::kPut && certain) {
    known.push_back(here(done.element));
    if (!understood.place_of.empty()) {
      known.push_back(here(done.parent));
      history.note_put(known[known.size() - 2], known.back());
    }
  }
  const bool whole = op.kind == Kind::kList || op.kind == Kind::kTree ||
                     (op.kind == Kind::kDocument && op.element == kNone);
  if (!whole) return;
  known.clear();
  const auto list = understood.list(done);
  for (std::size_t i = 0; i < list.size(); i += op.kind == Kind::kTree ? 2 : 1)
    known.push_back(here(list[i]));
}

}  // namespace cupel::crdt
