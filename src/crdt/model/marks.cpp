// Marks: see the header.
#include "crdt/model/marks.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/utf8.hpp"
#include "text/json.hpp"

namespace cupel::crdt {

namespace {

using Json = nlohmann::json;

std::uint32_t number_of(base::HashMap<std::string, std::uint32_t>& ids,
                        std::vector<std::string>& texts, const std::string& text) {
  const auto [it, fresh] = ids.try_emplace(text, static_cast<std::uint32_t>(texts.size()));
  if (fresh) texts.push_back(text);
  return it->second;
}

}  // namespace

std::string mark_text(std::string_view name, std::string_view value) {
  return std::string("[").append(name).append(",").append(value).append("]");
}

MarkIndex::MarkIndex(const History& history) : h_(history), marks_(history.ops.size()) {
  base::HashMap<std::uint32_t, Mark> known;  // by element
  for (OpId id = 0; id < h_.ops.size(); ++id) {
    const Operation& op = h_.ops[id];
    if (op.kind != Kind::kMark) continue;
    const auto [it, fresh] = known.try_emplace(op.parent, Mark{});
    if (fresh) {
      const Json pair = Json::parse(h_.elements[op.parent].text);
      it->second.name = name_number(text::dump(pair[0]));
      if (!pair[1].is_null()) it->second.value = value_number(text::dump(pair[1]));
    }
    marks_[id] = it->second;
  }
}

std::uint32_t MarkIndex::name_number(const std::string& name) {
  return number_of(name_ids_, names_, name);
}

std::uint32_t MarkIndex::value_number(const std::string& value) {
  return number_of(value_ids_, values_, value);
}

void for_shown_marks(const History& h, const Operation& read, const ShownMark& found) {
  if (read.parent == kNone) return;
  const Json by_name = Json::parse(h.elements[read.parent].text);
  std::vector<std::uint32_t> characters;
  for (const auto& [name, by_value] : by_name.items()) {
    for (const auto& [value, shown] : by_value.items()) {
      characters.clear();
      const std::string_view text = shown.get_ref<const std::string&>();
      for (std::size_t at = 0; at < text.size();) {
        const auto length = std::max<std::size_t>(1, base::utf8_length(text.substr(at)));
        const auto e = h.known_element(read.key, text::quoted(text.substr(at, length)));
        if (e != kNone) characters.push_back(e);
        at += length;
      }
      found(text::quoted(name), value, characters);
    }
  }
}

std::vector<MarkIndex::Shown> MarkIndex::shown(const Operation& read) {
  std::vector<Shown> all;
  for_shown_marks(h_, read,
                  [&](const std::string& name, const std::string& value,
                      std::span<const std::uint32_t> characters) {
                    const Mark mark{name_number(name), value_number(value)};
                    for (const auto e : characters) all.push_back({e, mark});
                  });
  std::sort(all.begin(), all.end());
  return all;
}

}  // namespace cupel::crdt
