// Chain document: see the header.
#include "engine/certify/chain_document.hpp"

#include <fmt/format.h>
#include <simdjson.h>

#include <limits>
#include <set>

#include "base/simdjson_first_use.hpp"

namespace cupel::certify {

namespace {

using history::ScalarKind;
using simdjson::dom::array;
using simdjson::dom::element;
using simdjson::dom::object;

// Thrown and caught in this file only.
[[noreturn]] void fail(std::string what) {
  throw ChainTrouble{std::move(what)};
}

std::uint64_t number(std::string_view field, const element& e,
                     std::uint64_t most = std::uint64_t{1} << 62) {
  std::uint64_t value = 0;
  if (e.get(value) != simdjson::SUCCESS || value > most) {
    fail(fmt::format("{}: expected a number from 0 to {}", field, most));
  }
  return value;
}
std::uint32_t small(std::string_view field, const element& e) {
  return static_cast<std::uint32_t>(number(field, e, std::numeric_limits<std::uint32_t>::max()));
}
std::string text(std::string_view field, const element& e) {
  std::string_view value;
  if (e.get(value) != simdjson::SUCCESS) fail(fmt::format("{}: expected a text", field));
  return std::string(value);
}
array list(std::string_view field, const element& e) {
  array value;
  if (e.get(value) != simdjson::SUCCESS) fail(fmt::format("{}: expected a list", field));
  return value;
}
array list_of(std::string_view field, const element& e, std::size_t size) {
  const auto value = list(field, e);
  if (value.size() != size) fail(fmt::format("{}: expected lists of {} entries", field, size));
  return value;
}
Level level(std::string_view field, const element& e) {
  const auto name = text(field, e);
  const auto known = level_named(name);
  if (!known) fail(fmt::format("{}: found `{}`, expected the name of a level", field, name));
  return *known;
}
std::uint64_t sum(std::string_view field, std::uint64_t from, const element& e) {
  return from + number(field, e, std::uint64_t{1} << 61);
}

// [0], [1, integer], [2, "text"] …: the kind's number first.
OwnedScalar scalar(std::string_view field, const element& e) {
  const auto parts = list(field, e);
  OwnedScalar out;
  if (parts.size() == 0) fail(fmt::format("{}: found an empty list as a key", field));
  const auto kind = number(field, parts.at(0), static_cast<std::uint64_t>(ScalarKind::kLiteral));
  out.kind = static_cast<ScalarKind>(kind);
  if (parts.size() != (out.kind == ScalarKind::kNull ? 1u : 2u)) {
    fail(fmt::format("{}: found a key of {} parts", field, parts.size()));
  }
  if (out.kind == ScalarKind::kInteger) {
    if (parts.at(1).get(out.integer) != simdjson::SUCCESS) {
      fail(fmt::format("{}: expected an integer as a key", field));
    }
  } else if (out.kind != ScalarKind::kNull) {
    out.text = text(field, parts.at(1));
  }
  return out;
}

void add_order(std::string_view field, std::uint64_t from, const element& e,
               std::vector<std::uint64_t>& out) {
  const auto all = list(field, e);
  out.reserve(all.size());
  for (const element entry : all) out.push_back(sum(field, from, entry));
}

ChainHead head(const object& all) {
  ChainHead out;
  std::set<std::string_view> seen;
  for (const auto& [field, value] : all) {
    if (!seen.insert(field).second) fail(fmt::format("{}: found twice", field));
    if (field == "cupel_certificate_windows") {
      if (number(field, value) != 1) fail("found a certificate of another version, expected 1");
    } else if (field == "level") {
      out.level = level(field, value);
    } else if (field == "asked") {
      out.asked = level(field, value);
    } else if (field == "clock_drift_ns") {
      out.clock_drift_ns = static_cast<std::int64_t>(number(field, value, std::uint64_t{1} << 61));
    } else {
      fail(fmt::format("{}: found an unknown field", field));
    }
  }
  if (!seen.contains("level")) fail("level: missing");
  if (out.asked && !implies(out.level, *out.asked)) {
    fail(fmt::format("asked: {} does not follow from {}", name_of(*out.asked), name_of(out.level)));
  }
  return out;
}

void reads_from(std::string_view field, std::uint64_t from, const element& e, ChainWindow& out) {
  for (const element entry : list(field, e)) {
    const auto parts = list_of(field, entry, 4);
    ChainReadFrom read{sum(field, from, parts.at(0)), small(field, parts.at(1)),
                       scalar(field, parts.at(2)), std::nullopt};
    if (!element(parts.at(3)).is_null()) read.writer = sum(field, from, parts.at(3));
    out.reads_from.push_back(std::move(read));
  }
}

void placings(std::string_view field, std::uint64_t from, const element& e, ChainWindow& out) {
  for (const element entry : list(field, e)) {
    const auto parts = list_of(field, entry, 4);
    out.placings.push_back({scalar(field, parts.at(0)), small(field, parts.at(1)),
                            sum(field, from, parts.at(2)), small(field, parts.at(3))});
  }
}

ChainWindow window(const object& all, Level usual) {
  ChainWindow out;
  out.level = usual;
  std::set<std::string_view> seen;
  std::uint64_t from = 0;
  for (const auto& [field, value] : all) {
    if (!seen.insert(field).second) fail(fmt::format("{}: found twice", field));
    const bool counts =
        field == "order" || field == "gone" || field == "reads_from" || field == "placings";
    if (counts && !seen.contains("from")) fail(fmt::format("from: expected before {}", field));
    if (field == "window") {
      out.number = number(field, value);
    } else if (field == "transactions") {
      out.transactions = number(field, value);
    } else if (field == "history") {
      out.history = text(field, value);
    } else if (field == "frontier") {
      out.frontier = text(field, value);
    } else if (field == "level") {
      out.level = level(field, value);
    } else if (field == "from") {
      from = number(field, value, std::uint64_t{1} << 61);
    } else if (field == "order") {
      add_order(field, from, value, out.order);
    } else if (field == "gone") {
      add_order(field, from, value, out.gone);
    } else if (field == "reads_from") {
      reads_from(field, from, value, out);
    } else if (field == "placings") {
      placings(field, from, value, out);
    } else {
      fail(fmt::format("{}: found an unknown field", field));
    }
  }
  for (const auto* needed : {"window", "transactions", "history", "from", "order"}) {
    if (!seen.contains(needed)) fail(fmt::format("{}: missing", needed));
  }
  return out;
}

ChainEnd end(const object& all) {
  ChainEnd out;
  std::set<std::string_view> seen;
  for (const auto& [field, value] : all) {
    if (!seen.insert(field).second) fail(fmt::format("{}: found twice", field));
    if (field == "end") {
      const auto how = text(field, value);
      if (how != "satisfied" && how != "violated" && how != "unknown") {
        fail(fmt::format("end: found `{}`, expected satisfied, violated or unknown", how));
      }
      out.how = how == "satisfied"  ? ChainEnd::kSatisfied
                : how == "violated" ? ChainEnd::kViolated
                                    : ChainEnd::kUnknown;
    } else if (field == "windows") {
      out.windows = number(field, value);
    } else if (field == "transactions") {
      out.transactions = number(field, value);
    } else if (field == "history") {
      out.history = text(field, value);
    } else if (field == "why") {
      out.why = text(field, value);
    } else if (field == "certificate") {
      out.certificate = simdjson::minify(value);
    } else {
      fail(fmt::format("{}: found an unknown field", field));
    }
  }
  const bool satisfied = out.how == ChainEnd::kSatisfied;
  for (const auto* needed : {"windows", "transactions", "history"}) {
    if (satisfied && !seen.contains(needed)) fail(fmt::format("{}: missing", needed));
  }
  if (seen.contains("certificate") != (out.how == ChainEnd::kViolated)) {
    fail("certificate: expected where the end is `violated`, and only there");
  }
  return out;
}

}  // namespace

ChainLine parse_chain_line(std::string_view line, Level usual) {
  if (line.empty()) return ChainTrouble{"found an empty line, expected a JSON object"};
  static thread_local simdjson::dom::parser parser;
  element root;
  object all;
  base::prepare_simdjson();
  if (parser.parse(line.data(), line.size()).get(root) != simdjson::SUCCESS ||
      root.get(all) != simdjson::SUCCESS) {
    return ChainTrouble{"found no JSON object, expected one a line"};
  }
  try {
    for (const auto& [field, value] : all) {
      if (field == "cupel_certificate_windows") return head(all);
      if (field == "window") return window(all, usual);
      if (field == "end") return end(all);
      break;
    }
    fail("expected `window` or `end` as the first field");
  } catch (ChainTrouble& trouble) {
    return std::move(trouble);
  }
}

}  // namespace cupel::certify
