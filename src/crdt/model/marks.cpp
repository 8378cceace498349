// Marks: see the header.
#include "crdt/model/marks.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <vector>

#include "base/text/json.hpp"
#include "base/utf8.hpp"

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

namespace {

// The texts of what a read shows, such as {"bold":{"true":"abd"}}, mark by mark.
class ShownTexts {
 public:
  explicit ShownTexts(std::string_view text) : text_(text) {}

  // `found` has the name, the value and the characters, without quotes. False: it has escapes other
  // than of quotes, and `found` may have been called.
  template <typename Found>
  bool for_marks(const Found& found) {
    std::string name, value, characters;
    if (!take('{')) return false;
    do {
      if (!string(name) || !take(':') || !take('{')) return false;
      do {
        if (!string(value) || !take(':') || !string(characters)) return false;
        found(name, value, characters);
      } while (take(','));
      if (!take('}')) return false;
    } while (take(','));
    return take('}') && at_ == text_.size();
  }

 private:
  bool take(char expected) {
    if (at_ == text_.size() || text_[at_] != expected) return false;
    ++at_;
    return true;
  }
  bool string(std::string& text) {
    text.clear();
    if (!take('"')) return false;
    for (;;) {
      const auto end = text_.find_first_of("\"\\", at_);
      if (end == std::string_view::npos) return false;
      text.append(text_.substr(at_, end - at_));
      at_ = end + 1;
      if (text_[end] == '"') return true;
      if (at_ == text_.size() || (text_[at_] != '"' && text_[at_] != '\\')) return false;
      text.push_back(text_[at_++]);
    }
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

struct ShownMarkText {
  std::string name, value, characters;
};

std::vector<ShownMarkText> shown_mark_texts(const std::string& text) {
  std::vector<ShownMarkText> all;
  const bool simple =
      ShownTexts(text).for_marks([&](const auto& name, const auto& value, const auto& characters) {
        all.push_back({name, value, characters});
      });
  if (simple) return all;
  all.clear();
  const Json by_name = Json::parse(text);
  for (const auto& [name, by_value] : by_name.items()) {
    for (const auto& [value, shown] : by_value.items())
      all.push_back({name, value, shown.get<std::string>()});
  }
  return all;
}

}  // namespace

void for_shown_marks(const History& h, const Operation& read, const ShownMark& found) {
  if (read.parent == kNone) return;
  std::vector<std::uint32_t> characters;
  for (const auto& [name, value, shown] : shown_mark_texts(h.elements[read.parent].text)) {
    characters.clear();
    const std::string_view text = shown;
    for (std::size_t at = 0; at < text.size();) {
      const auto length = std::max<std::size_t>(1, base::utf8_length(text.substr(at)));
      const auto e = h.known_element(read.key, text::quoted(text.substr(at, length)));
      if (e != kNone) characters.push_back(e);
      at += length;
    }
    found(text::quoted(name), value, characters);
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
