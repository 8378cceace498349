// Reads and writes plans. Every field is checked: a typing mistake must not run another plan than
// was meant.
#include "run/faults/plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/duration.hpp"
#include "base/read_file.hpp"
#include "base/text/json.hpp"
#include "run/faults/kinds.hpp"

namespace cupel::faults {

namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kClientsName = "clients";

struct Mistake {
  std::string text;
};

[[noreturn]] void wrong(const std::string& place, const Json& found, std::string_view expected) {
  throw Mistake{fmt::format("{}: found {}, expected {}", place, text::dump(found), expected)};
}

// "3s", or a number of seconds.
double seconds(const Json& value, const std::string& place) {
  constexpr std::string_view kExpected = "a duration of 0 or more, as in \"3s\" or \"250ms\"";
  if (value.is_number() && value.get<double>() >= 0) return value.get<double>();
  if (!value.is_string()) wrong(place, value, kExpected);
  const auto parsed = base::parse_duration(value.get<std::string>(), 1);
  if (!parsed.ok()) wrong(place, value, kExpected);
  return *parsed;
}

// "100 commits".
std::uint64_t commits(const Json& value, const std::string& place) {
  constexpr std::string_view kUnit = " commits";
  constexpr std::size_t kMostDigits = 15;
  const auto text = value.is_string() ? value.get<std::string>() : std::string();
  const auto digits = std::min(text.find_first_not_of("0123456789"), text.size());
  if (digits == 0 || digits > kMostDigits || text.substr(digits) != kUnit) {
    wrong(place, value, "a number of transactions, as in \"100 commits\"");
  }
  return std::stoull(text);
}

std::size_t node(const Json& value, const std::string& place) {
  if (!value.is_number_unsigned()) wrong(place, value, "a node's number, from 0");
  return value.get<std::size_t>();
}

void take_targets(const Json& value, const std::string& place, Fault& fault) {
  if (value.is_string()) {
    const auto targets = parse_targets(value.get<std::string>());
    if (!targets) wrong(place, value, "one, minority, majority, primaries, all or a list of nodes");
    fault.targets = *targets;
    return;
  }
  if (!value.is_array() || value.empty()) wrong(place, value, "a list of nodes, or a word");
  for (const auto& one : value) fault.nodes.push_back(node(one, place));
  std::sort(fault.nodes.begin(), fault.nodes.end());
  fault.nodes.erase(std::unique(fault.nodes.begin(), fault.nodes.end()), fault.nodes.end());
}

void take_links(const Json& value, const std::string& place, Fault& fault) {
  const auto end = [&](const Json& one) {
    return one == kClientsName ? kClients : node(one, place);
  };
  if (!value.is_array() || value.empty()) wrong(place, value, "a list of links [FROM, TO]");
  for (const auto& link : value) {
    const bool pair = link.is_array() && link.size() == 2 && link[0] != link[1];
    if (!pair) wrong(place, link, "a link [FROM, TO] of two different nodes, or \"clients\"");
    fault.links.emplace_back(end(link[0]), end(link[1]));
  }
}

// The kinds of a family have the same parameters, or none.
const Parameter* find_parameter(const Fault& fault, const std::string& name) {
  for (const auto* kind : kinds_named(fault.kind)) {
    for (const auto& parameter : kind->parameters) {
      if (parameter.name == name) return &parameter;
    }
  }
  return nullptr;
}

void take_parameter(const Json& value, const std::string& place, const Parameter& parameter,
                    Fault& fault) {
  double number = 0;
  if (parameter.unit == Parameter::Unit::kSeconds && value.is_string()) {
    number = seconds(value, place);
  } else if (value.is_number()) {
    number = value.get<double>();
  } else {
    wrong(place, value, "a number");
  }
  if (number < parameter.least || number > parameter.most) {
    wrong(place, value, fmt::format("{} to {}", parameter.least, parameter.most));
  }
  fault.parameters[std::string(parameter.name)] = number;
}

std::string fields_of(const Fault& fault) {
  std::string text = "fault, targets, links, at, when, for";
  for (const auto* kind : kinds_named(fault.kind)) {
    for (const auto& parameter : kind->parameters) text += fmt::format(", {}", parameter.name);
    if (!kind->parameters.empty()) break;
  }
  return text;
}

bool about_the_past(const std::string& name) {
  return name == "what" || name == "began" || name == "ended" || name == "failed";
}

Fault read_fault(const Json& value, const std::string& place) {
  if (!value.is_object()) wrong(place, value, "a fault: {\"fault\": \"kill\", \"at\": \"3s\"}");
  Fault fault;
  const auto named = value.find("fault");
  if (named != value.end() && named->is_string()) fault.kind = named->get<std::string>();
  if (kinds_named(fault.kind).empty()) {
    wrong(place + ".fault", named == value.end() ? Json() : *named,
          fmt::format("one of {}", fmt::join(all_families(), ", ")));
  }
  if (value.contains("at") == value.contains("when")) {
    throw Mistake{place + ": found " + (value.contains("at") ? "both" : "none") +
                  " of at and when, expected one of them"};
  }
  if (value.contains("targets") && value.contains("links")) {
    throw Mistake{place + ": found both targets and links, expected one of them"};
  }
  if (value.contains("links") && kinds_named(fault.kind).front()->order != Kind::Order::kNetwork) {
    throw Mistake{fmt::format("{}.links: found them of {}, which is no fault of the network", place,
                              fault.kind)};
  }
  for (const auto& [name, field] : value.items()) {
    const auto where = place + "." + name;
    if (name == "fault" || about_the_past(name)) continue;
    if (name == "at") {
      fault.at = seconds(field, where);
    } else if (name == "when") {
      fault.commits = commits(field, where);
    } else if (name == "for") {
      fault.lasts = seconds(field, where);
    } else if (name == "targets") {
      take_targets(field, where, fault);
    } else if (name == "links") {
      take_links(field, where, fault);
    } else if (const auto* parameter = find_parameter(fault, name)) {
      take_parameter(field, where, *parameter, fault);
    } else {
      throw Mistake{where + ": found an unknown field, expected " + fields_of(fault)};
    }
  }
  return fault;
}

std::string in_seconds(double value) {
  return fmt::format("{}s", value);
}

Json link_ends(const std::vector<Link>& links) {
  const auto end = [](std::size_t one) { return one == kClients ? Json(kClientsName) : Json(one); };
  auto list = Json::array();
  for (const auto& [from, to] : links) list.push_back(Json::array({end(from), end(to)}));
  return list;
}

Json written(const Done& done) {
  const auto& fault = done.fault;
  const auto* kind = find_kind(fault.kind);
  Json object{{"fault", fault.kind}};
  if (!fault.links.empty()) {
    object["links"] = link_ends(fault.links);
  } else if (!fault.nodes.empty()) {
    object["targets"] = fault.nodes;
  }
  for (const auto& [name, value] : fault.parameters) {
    const auto* parameter = find_parameter(fault, name);
    const bool time = parameter != nullptr && parameter->unit == Parameter::Unit::kSeconds;
    object[name] = time && value >= 0 ? Json(in_seconds(value)) : Json(value);
  }
  object["at"] = in_seconds(fault.at);
  if (kind == nullptr || !kind->momentary) object["for"] = in_seconds(fault.lasts);
  object["what"] = done.what;
  object["began"] = done.began;
  if (done.ended >= 0) object["ended"] = done.ended;
  if (!done.failed.empty()) object["failed"] = done.failed;
  return object;
}

}  // namespace

base::Result<std::vector<Fault>> parse_plan(std::string_view text) {
  if (auto bad = text::beyond_bounds(text)) return base::Error{.message = *bad};
  std::vector<Fault> plan;
  try {
    const auto all = Json::parse(text);
    if (!all.is_array() || all.empty()) {
      return base::Error{.message =
                             "found no list of faults, expected JSON such as [{\"fault\": "
                             "\"kill\", \"at\": \"3s\", \"for\": \"5s\"}]"};
    }
    for (const auto& value : all)
      plan.push_back(read_fault(value, fmt::format("[{}]", plan.size())));
  } catch (const Mistake& mistake) {
    return base::Error{.message = mistake.text};
  } catch (const Json::parse_error& error) {
    return base::Error{
        .message = "found no JSON, expected a list of faults (docs/reference/faults.md)",
        .byte = error.byte - std::min<std::size_t>(error.byte, 1)};
  }
  return plan;
}

base::Result<std::vector<Fault>> read_plan(const std::string& path) {
  const auto text = base::read_file(path);
  if (!text.ok()) return text.error();
  auto plan = parse_plan(*text);
  if (plan.ok()) return plan;
  auto error = std::move(plan).error();
  error.file = path;
  return error;
}

std::string plan_text(std::span<const Done> done) {
  std::string text = "[";
  for (const auto& one : done) text += (text.size() > 1 ? ",\n " : "") + text::dump(written(one));
  return text + "]\n";
}

}  // namespace cupel::faults
