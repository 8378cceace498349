// Context reader: see the header.
#include "crdt/io/context_reader.hpp"

#include <fmt/format.h>

#include <charconv>
#include <nlohmann/json.hpp>

#include "base/text/json.hpp"

namespace cupel::crdt {

namespace {

using Json = nlohmann::json;

// A process as JSON: a string is written in quotes, a number is not.
std::string_view without_quotes(std::string_view name) {
  if (name.size() >= 2 && name.front() == '"') return name.substr(1, name.size() - 2);
  return name;
}

}  // namespace

std::uint32_t ContextReader::intern(std::string_view text) {
  if (const auto found = names_.find(text); found != names_.end()) return found->second;
  const auto [it, fresh] = names_.emplace(text, static_cast<std::uint32_t>(texts_.size()));
  texts_.push_back(it->first);
  return it->second;
}

ContextReader::Id ContextReader::parse(std::string_view text) {
  const auto colon = text.rfind(':');
  const auto digits = colon == std::string_view::npos ? "" : text.substr(colon + 1);
  constexpr std::size_t kMostDigits = 9;
  const bool numbered = !digits.empty() && digits.size() <= kMostDigits &&
                        (digits[0] != '0' || digits.size() == 1) &&
                        digits.find_first_not_of("0123456789") == std::string_view::npos;
  if (!numbered) return {intern(text), kWhole};
  std::uint32_t number = 0;
  std::from_chars(digits.data(), digits.data() + digits.size(), number);
  return {intern(text.substr(0, colon)), number};
}

std::string ContextReader::text(Id id) const {
  const std::string name(texts_[id.name]);
  return id.number == kWhole ? name : fmt::format("{}:{}", name, id.number);
}

std::optional<std::string> ContextReader::line(const Json& object, std::uint64_t line) {
  const std::string method = object["f"];
  if (method == "delivery") return take_rule(object);
  if (object.contains("type"))
    return fmt::format("found {} with a `type`, expected it without: it is no operation", method);
  Reception reception{.kind = method == "send"      ? Reception::Kind::kSent
                              : method == "version" ? Reception::Kind::kVersion
                                                    : Reception::Kind::kReceived,
                      .replica = history_.replica(text::dump(object["process"])),
                      .line = line};
  reception.seq = static_cast<std::uint32_t>(history_.by_replica[reception.replica].size());
  auto& receptions = history_.context.receptions;
  if (method == "send") {
    if (!object.contains("id"))
      return "found send without `id`, expected the name of the message, for deliver lines";
    if (auto wrong = define(object, {true, static_cast<std::uint32_t>(receptions.size()), line}))
      return wrong;
  } else {
    static const Json kNoValue;
    const auto found = object.find("value");
    const Json& value = found == object.end() ? kNoValue : *found;
    if (auto wrong = take(value, method + " with the value", reception)) return wrong;
  }
  receptions.push_back(reception);
  return std::nullopt;
}

void ContextReader::deliver(const std::string& process, std::span<const std::string_view> ids,
                            std::uint64_t line) {
  Reception reception{.replica = history_.replica(process), .line = line};
  reception.seq = static_cast<std::uint32_t>(history_.by_replica[reception.replica].size());
  auto& named = history_.context.named;
  reception.begin = static_cast<std::uint32_t>(named.size());
  for (const auto id : ids) {
    named.push_back({});
    named_.push_back(parse(without_quotes(id)));
  }
  reception.end = static_cast<std::uint32_t>(named.size());
  history_.context.receptions.push_back(reception);
}

std::optional<std::string> ContextReader::take_rule(const Json& object) {
  const Json value = object.contains("value") ? object["value"] : Json();
  if (has_rule_) return "found a second delivery line, expected one";
  has_rule_ = true;
  auto& rule = history_.context.rule;
  if (value == "causal")
    rule = DeliveryRule::kCausal;
  else if (value == "fifo")
    rule = DeliveryRule::kFifo;
  else if (value == "applied")
    rule = DeliveryRule::kApplied;
  else
    return fmt::format("found delivery with the value {}, expected causal, fifo or applied",
                       text::dump_excerpt(value));
  return std::nullopt;
}

std::optional<std::string> ContextReader::take(const Json& value, std::string_view what,
                                               Reception& reception) {
  auto& named = history_.context.named;
  reception.begin = static_cast<std::uint32_t>(named.size());
  const auto expected = [&] {
    return fmt::format(
        "found {} {}, expected an array of ids such as [\"0:3\"], or the number of updates of each "
        "process such as {{\"0\":4}}",
        what, text::dump_excerpt(value));
  };
  if (value.is_object()) {
    for (const auto& [process, count] : value.items()) {
      if (!count.is_number_integer() || count < 0 || count > 0xfffffff0) return expected();
      named.push_back({.kind = NamedUpdates::Kind::kFirst, .count = count.get<std::uint32_t>()});
      named_.push_back({intern(process), kWhole});
    }
  } else if (value.is_array()) {
    for (const Json& id : value) {
      if (!id.is_string()) return expected();
      named.push_back({});
      named_.push_back(parse(id.get_ref<const std::string&>()));
    }
  } else {
    return expected();
  }
  reception.end = static_cast<std::uint32_t>(named.size());
  return std::nullopt;
}

std::optional<std::string> ContextReader::seen(const Json& object, const Operation& op) {
  const auto value = object.find("seen");
  if (value == object.end()) return std::nullopt;
  Reception reception{.kind = Reception::Kind::kVersion,
                      .replica = op.replica,
                      .seq = static_cast<std::uint32_t>(history_.by_replica[op.replica].size()),
                      .line = op.line};
  if (auto wrong = take(*value, "`seen` with the value", reception)) return wrong;
  history_.context.receptions.push_back(reception);
  return std::nullopt;
}

std::optional<std::string> ContextReader::define(const Json& object, Target target) {
  const Json& id = object["id"];
  if (!id.is_string() || id.get_ref<const std::string&>().empty())
    return fmt::format("found the id {}, expected a string that is not empty",
                       text::dump_excerpt(id));
  const auto [it, fresh] = ids_.emplace(packed(parse(id.get_ref<const std::string&>())), target);
  if (!fresh)
    return fmt::format("found the id {} a second time, first in line {}; expected each id once",
                       text::dump_excerpt(id), it->second.line);
  return std::nullopt;
}

std::optional<std::string> ContextReader::id(const Json& object, OpId update) {
  if (!object.contains("id")) return std::nullopt;
  if (auto wrong = define(object, {false, update, history_.ops[update].line})) return wrong;
  has_id_.resize(history_.ops.size(), false);
  has_id_[update] = true;
  return std::nullopt;
}

void ContextReader::find_processes() {
  updates_.resize(history_.replicas.size());
  for (OpId id = 0; id < history_.ops.size(); ++id) {
    if (!is_read(history_.ops[id].kind)) updates_[history_.ops[id].replica].push_back(id);
  }
  for (std::uint32_t r = 0; r < history_.replicas.size(); ++r) {
    const auto name = intern(without_quotes(history_.replicas[r]));
    if (name >= processes_.size()) processes_.resize(name + 1);
    (history_.replicas[r].starts_with('"') ? processes_[name].string : processes_[name].number) = r;
  }
  processes_.resize(texts_.size());
}

std::optional<std::string> ContextReader::replica_of(std::uint32_t name,
                                                     std::uint32_t& replica) const {
  const auto [number, string] = processes_[name];
  if (number != kNone && string != kNone)
    return fmt::format(
        "names the process {0}, but there are two, {0} and \"{0}\"; expected another name for one",
        texts_[name]);
  replica = number != kNone ? number : string;
  return std::nullopt;
}

std::optional<std::string> ContextReader::resolve_one(Id id, NamedUpdates& named) const {
  if (named.kind == NamedUpdates::Kind::kFirst) {
    if (auto wrong = replica_of(id.name, named.of)) return wrong;
    const auto known = named.of == kNone ? 0 : updates_[named.of].size();
    if (named.count <= known) {
      if (named.of == kNone) named.of = 0;  // none of a process without operations
      return std::nullopt;
    }
    return fmt::format("names {} updates of the process {}, but the history has {}", named.count,
                       texts_[id.name], known);
  }
  if (const auto target = ids_.find(packed(id)); target != ids_.end()) {
    named.kind =
        target->second.message ? NamedUpdates::Kind::kMessage : NamedUpdates::Kind::kUpdate;
    named.of = target->second.of;
    return std::nullopt;
  }
  std::uint32_t replica = kNone;
  if (id.number != kWhole) {
    if (auto wrong = replica_of(id.name, replica)) return wrong;
  }
  const bool there = replica != kNone && id.number < updates_[replica].size();
  if (there &&
      !(updates_[replica][id.number] < has_id_.size() && has_id_[updates_[replica][id.number]])) {
    named.of = updates_[replica][id.number];
    return std::nullopt;
  }
  return fmt::format("names {}, but no update or message has this id{}", text::quoted(text(id)),
                     there ? fmt::format(": the update of line {} has another",
                                         history_.ops[updates_[replica][id.number]].line)
                           : "");
}

std::optional<ContextReader::Error> ContextReader::resolve() {
  find_processes();
  auto& context = history_.context;
  for (const auto& [key, target] : ids_) {
    const Id id{static_cast<std::uint32_t>(key >> 32U), static_cast<std::uint32_t>(key)};
    if (id.number == kWhole) continue;
    for (const auto replica : {processes_[id.name].number, processes_[id.name].string}) {
      if (replica == kNone || id.number >= updates_[replica].size()) continue;
      const OpId other = updates_[replica][id.number];
      if (other < has_id_.size() && has_id_[other]) continue;
      return Error{fmt::format("found the id {}, which the update of line {} has by default; "
                               "expected another id",
                               text::quoted(text(id)), history_.ops[other].line),
                   target.line};
    }
  }
  for (const Reception& reception : context.receptions) {
    for (auto i = reception.begin; i < reception.end; ++i) {
      if (auto wrong = resolve_one(named_[i], context.named[i]))
        return Error{fmt::format("found a line that {}", *wrong), reception.line};
    }
  }
  // A history that says by which rule it has deliveries, and has none: nothing arrived.
  if (has_rule_ && context.receptions.empty() && !history_.replicas.empty())
    context.receptions.emplace_back();
  return std::nullopt;
}

}  // namespace cupel::crdt
