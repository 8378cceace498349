// Words to scalars: see the header. Linear in the keys and values of the history.
#include "data/formats/initial_values.hpp"

#include <fmt/format.h>
#include <simdjson.h>

#include <algorithm>
#include <charconv>
#include <string_view>
#include <utility>
#include <vector>

#include "base/simdjson_first_use.hpp"
#include "data/formats/op_setup.hpp"
#include "data/history/builder.hpp"
#include "data/history/naming.hpp"

namespace cupel::formats {

namespace {

using history::History;
using history::ScalarView;

// Where the string that begins with this double quote ends; npos: it does not.
std::size_t end_of_string(std::string_view text) {
  for (std::size_t i = 1; i < text.size(); ++i) {
    if (text[i] == '\\') {
      ++i;
    } else if (text[i] == '"') {
      return i + 1;
    }
  }
  return std::string_view::npos;
}

// None: it is no JSON string.
std::optional<std::string> json_string(const std::string& text) {
  if (!text.starts_with('"') || end_of_string(text) != text.size()) return std::nullopt;
  base::prepare_simdjson();
  simdjson::dom::parser parser;
  std::string_view content;
  if (parser.parse(text).get(content) != simdjson::SUCCESS) return std::nullopt;
  return std::string(content);
}

// The scalars that a word may mean, the likeliest first. They borrow from the word.
class Word {
 public:
  explicit Word(const std::string& text) : text_(text), string_(json_string(text)) {
    std::int64_t integer = 0;
    const auto* const last = text.data() + text.size();
    const auto [end, error] = std::from_chars(text.data(), last, integer);
    if (string_) {
      candidates_ = {ScalarView::of(std::string_view(*string_))};
    } else if (text == "null" || text == "nil") {
      candidates_ = {ScalarView::null()};
    } else if (text.size() > 1 && text.front() == ':') {
      candidates_ = {ScalarView::keyword(std::string_view(text_).substr(1))};
    } else {
      if (error == std::errc() && end == last) candidates_.push_back(ScalarView::of(integer));
      candidates_.push_back(ScalarView::of(std::string_view(text_)));
      candidates_.push_back(ScalarView::keyword(text_));
      candidates_.push_back(ScalarView::literal(text_));
    }
  }
  Word(const Word&) = delete;
  Word& operator=(const Word&) = delete;

  [[nodiscard]] const std::vector<ScalarView>& candidates() const { return candidates_; }

 private:
  std::string text_;
  std::optional<std::string> string_;
  std::vector<ScalarView> candidates_;
};

// The first candidate that the history has among `count` scalars; none if it has none.
template <typename At>
std::optional<std::size_t> found(const Word& word, std::size_t count, const At& at) {
  for (const auto& candidate : word.candidates()) {
    for (std::size_t i = 0; i < count; ++i) {
      if (at(i) == candidate) return i;
    }
  }
  return std::nullopt;
}

ScalarView value_of(const History& history, const Word& word) {
  const auto id = found(word, history.value_count(),
                        [&](std::size_t i) { return history.value(history::ValueId(i)); });
  return id ? history.value(history::ValueId(*id)) : word.candidates().front();
}

}  // namespace

base::Result<InitialValues> parse_initial_values(std::span<const std::string> texts) {
  InitialValues values;
  for (const auto& text : texts) {
    const auto quoted = text.starts_with('"') ? end_of_string(text) : 0;
    if (text.empty() || quoted == std::string::npos) {
      return base::Error{
          .message = fmt::format("found `{}`, expected VALUE or KEY=VALUE, as in 0 or x=0", text)};
    }
    const auto equals = text.find('=', quoted);
    if (equals == std::string::npos) {
      if (values.of_all && *values.of_all != text) {
        return base::Error{.message =
                               fmt::format("found `{}` and `{}`, expected one value for every key; "
                                           "KEY=VALUE says that of one key",
                                           *values.of_all, text)};
      }
      values.of_all = text;
    } else if (equals == 0 || equals + 1 == text.size()) {
      return base::Error{.message =
                             fmt::format("found `{}`, expected KEY=VALUE, as in x=0; a text with = "
                                         "in it is put in double quotes",
                                         text)};
    } else {
      values.of_keys.emplace_back(text.substr(0, equals), text.substr(equals + 1));
    }
  }
  return values;
}

base::Result<History> with_initial_values(History history, const InitialValues& values) {
  // What operations set up came after the values that the user states.
  const bool set_up = !history.fact(jepsen::kSetUp).empty();
  if (values.of_all) {
    const auto stated = history.initial_overrides();
    const std::vector<std::pair<history::KeyId, history::ValueId>> before(stated.begin(),
                                                                          stated.end());
    const Word word(*values.of_all);
    const auto value = value_of(history, word);
    history = history::HistoryBuilder::with_initial_of_all(std::move(history), value);
    for (const auto& [key, held] : before) {
      if (!set_up) break;
      const auto again = history.value(held);
      history = history::HistoryBuilder::with_initial(std::move(history), key, again);
    }
  }
  for (const auto& [key_text, value_text] : values.of_keys) {
    const Word key(key_text), word(value_text);
    const auto id = found(key, history.key_count(),
                          [&](std::size_t i) { return history.key(history::KeyId(i)); });
    if (!id) {
      return base::Error{
          .message = fmt::format("found the initial value `{}={}`, but the history has no key {}",
                                 key_text, value_text, key_text)};
    }
    const history::KeyId k(*id);
    if (history.is_list(k)) {
      return base::Error{.message =
                             fmt::format("found the initial value `{}={}`, but {} is a list, "
                                         "which starts empty",
                                         key_text, value_text, history::shown_key(history.key(k)))};
    }
    const auto value = value_of(history, word);
    const auto stated = history.initial_overrides();
    const bool written = std::any_of(stated.begin(), stated.end(),
                                     [&](const auto& entry) { return entry.first == k; });
    if (set_up && written && !(history.value(history.initial_value(k)) == value)) {
      return base::Error{
          .message = fmt::format("found the initial value `{}={}`, but the set-up of the history "
                                 "wrote {}. Leave out the initial value",
                                 key_text, value_text,
                                 history::shown(history.value(history.initial_value(k))))};
    }
    history = history::HistoryBuilder::with_initial(std::move(history), k, value);
  }
  return history;
}

}  // namespace cupel::formats
