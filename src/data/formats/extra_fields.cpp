// A map at a time: see the header. Errors end the search in silence, because the
// file was read without any a moment ago.
#include "data/formats/extra_fields.hpp"

#include <simdjson.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <optional>

#include "data/formats/cupel_binary.hpp"
#include "data/formats/edn.hpp"
#include "data/formats/input.hpp"
#include "data/formats/jepsen_events.hpp"
#include "data/formats/jepsen_reader.hpp"
#include "data/formats/json_members.hpp"

namespace cupel::formats {

namespace {

using Fields = std::vector<std::pair<std::string, std::string>>;
using ByLabel = std::map<std::uint32_t, Fields>;

constexpr std::size_t kMostFields = 12;  // of one map

bool is_known(std::string_view name) {
  constexpr std::string_view kKnown[] = {"type", "process", "f", "value", "key", "time", "index"};
  return std::find(std::begin(kKnown), std::end(kKnown), name) != std::end(kKnown);
}

// Takes the fields of each map in turn: its label is its index or else its place.
class FieldCollector {
 public:
  explicit FieldCollector(const std::set<std::uint32_t>& labels) : labels_(labels) {}

  // False once there is nothing left to find.
  bool take(std::optional<std::int64_t> index, Fields fields) {
    const auto label = index && *index >= 0 ? static_cast<std::uint64_t>(*index) : place_;
    ++place_;
    if (label > 0xffffffff || !labels_.contains(static_cast<std::uint32_t>(label))) return true;
    if (fields.size() > kMostFields) fields.resize(kMostFields);
    if (!fields.empty()) found_.emplace(static_cast<std::uint32_t>(label), std::move(fields));
    return ++met_ < labels_.size();
  }
  [[nodiscard]] ByLabel found() && { return std::move(found_); }

 private:
  const std::set<std::uint32_t>& labels_;
  ByLabel found_;
  std::uint64_t place_ = 0;
  std::size_t met_ = 0;
};

// Takes the nodes of all maps.
class NodeCollector {
 public:
  bool take(std::optional<std::int64_t> index, const Fields& fields) {
    const auto label = index && *index >= 0 ? static_cast<std::uint64_t>(*index) : place_;
    ++place_;
    const auto node = std::find_if(fields.begin(), fields.end(),
                                   [](const auto& field) { return field.first == "node"; });
    if (node == fields.end() || label >= kMostNodeLabels) return true;
    std::string_view name = node->second;
    if (name.size() >= 2 && name.front() == '"' && name.back() == '"') {
      name = name.substr(1, name.size() - 2);
    }
    const auto [known, fresh] =
        numbers_.try_emplace(std::string(name), static_cast<std::uint16_t>(numbers_.size() + 1));
    if (fresh) nodes_.names.emplace_back(name);
    if (nodes_.names.size() > kMostNodeNames) return false;
    auto& of = nodes_.of_label;
    if (of.size() <= label) of.resize(std::max<std::size_t>(label + 1, of.size() * 3 / 2));
    of[label] = known->second;
    return true;
  }
  [[nodiscard]] Nodes found() && {
    return nodes_.names.size() > kMostNodeNames ? Nodes() : std::move(nodes_);
  }

 private:
  std::map<std::string, std::uint16_t> numbers_;
  Nodes nodes_;
  std::uint64_t place_ = 0;
};

template <typename Collector>
void collect_json(std::string_view bytes, Collector& collector, Reading& reading) {
  simdjson::dom::parser parser;
  for (std::size_t at = bytes.find('{'); at != std::string_view::npos; at = bytes.find('{', at)) {
    reading.step(bytes.data() + at);
    const auto end = end_of_map(bytes, at);
    if (end == std::string_view::npos) return;
    simdjson::dom::object object;
    if (parser.parse(bytes.data() + at, end - at, true).get(object)) return;
    std::optional<std::int64_t> index;
    Fields fields;
    for (const auto field : object) {
      if (field.key == "index" && field.value.is_int64()) index = std::int64_t(field.value);
      if (is_known(field.key)) continue;
      fields.emplace_back(std::string(field.key), simdjson::minify(field.value));
    }
    if (!collector.take(index, std::move(fields))) return;
    at = end;
  }
}

template <typename Collector>
void collect_edn(std::string_view bytes, Collector& collector, Reading& reading) {
  using namespace jepsen;
  auto chunk = std::make_unique<Chunk>();
  EdnReader reader(bytes, *chunk);
  while (reader.skip_discards(1) && !reader.at_end()) {
    reading.step(bytes.data() + reader.position());
    const char c = reader.peek();
    if (c == '[' || c == '(' || c == ']' || c == ')') {  // around all maps
      reader.advance();
      continue;
    }
    if (c == '#') {  // the tag of a map
      reader.advance();
      reader.token();
      continue;
    }
    if (c != '{') return;
    reader.advance();
    std::optional<std::int64_t> index;
    Fields fields;
    for (;;) {
      if (!reader.skip_discards(2) || reader.at_end()) return;
      if (reader.peek() == '}') break;
      Cell name, value;
      const auto readable = [&](Cell& cell) {
        const auto begin = reader.position();
        if (reader.value(cell, 2)) return true;
        chunk->error.reset();
        reader.rewind(begin);
        if (reader.pass_over()) return false;
        cell = Cell::of(Tag::kLiteral, bytes.substr(begin, reader.position() - begin));
        return true;
      };
      if (!readable(name) || !readable(value)) return;
      if (!name.is_name()) continue;
      if (name.view() == "index" && value.tag == Tag::kInteger) index = value.integer;
      if (is_known(name.view())) continue;
      std::string text;
      canonical(*chunk, value, text);
      fields.emplace_back(std::string(name.view()), std::move(text));
    }
    reader.advance();
    if (!collector.take(index, std::move(fields))) return;
    chunk = std::make_unique<Chunk>();  // one map at a time
    reader.builder().use(*chunk);
  }
}

template <typename Collector>
auto collected(const MappedFile& file, Collector collector, Reading reading) {
  auto bytes = file.bytes();
  if (bytes.starts_with("\xef\xbb\xbf")) bytes.remove_prefix(3);
  if (is_edn(bytes)) {
    collect_edn(bytes, collector, reading);
  } else {
    collect_json(bytes, collector, reading);
  }
  return std::move(collector).found();
}

// The nodes of these labels, as fields.
ByLabel fields_of(const Nodes& nodes, const std::set<std::uint32_t>& labels) {
  ByLabel found;
  for (const auto label : labels) {
    const auto number = label < nodes.of_label.size() ? nodes.of_label[label] : 0;
    if (number > 0) found[label] = {{"node", '"' + nodes.names[number - 1] + '"'}};
  }
  return found;
}

}  // namespace

bool has_extra_fields(std::string_view format) {
  return format == "jepsen" || format == "cupel";
}

ByLabel extra_fields(const std::string& path, std::string_view format,
                     const std::set<std::uint32_t>& labels, base::Budget* budget) {
  std::error_code ignored;
  if (!has_extra_fields(format) || labels.empty() ||
      !std::filesystem::is_regular_file(path, ignored)) {
    return {};
  }
  if (format == "cupel") return fields_of(nodes_of_file(path, format, budget), labels);
  try {
    const auto file = MappedFile::open(path, budget);
    return file.ok() ? collected(*file, FieldCollector(labels), Reading(budget, &*file))
                     : ByLabel();
  } catch (const Stopped&) {
    return {};
  }
}

Nodes nodes_of_file(const std::string& path, std::string_view format, base::Budget* budget) {
  std::error_code ignored;
  if (!has_extra_fields(format) || !std::filesystem::is_regular_file(path, ignored)) return {};
  try {
    const auto file = MappedFile::open(path, budget);
    if (file.ok() && format == "cupel") {
      return nodes_of_cupel(file->bytes(), Reading(budget, &*file));
    }
    // Most files have none, which is quickly seen.
    if (!file.ok() || file->bytes().find("node") == std::string_view::npos) return {};
    return collected(*file, NodeCollector(), Reading(budget, &*file));
  } catch (const Stopped&) {
    return {};
  }
}

}  // namespace cupel::formats
