// The pages: see the header. The tables are in entries.cpp.
#include "engine/explain/why/glossary.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/budget.hpp"
#include "base/text.hpp"

namespace cupel::explain {

using levels::Level;
using Json = nlohmann::ordered_json;

namespace {

constexpr std::size_t kColumns = 100;

std::string normal(std::string_view text) {
  return base::to_lower(text, " _", '-');
}

std::string wrapped(std::string_view text, std::size_t indent, std::size_t width = 78) {
  std::string result, line(indent, ' ');
  std::size_t at = 0;
  while (at < text.size()) {
    const auto end = std::min(text.find(' ', at), text.size());
    if (line.size() > indent && line.size() + 1 + end - at > width) {
      result += line + "\n";
      line.assign(indent, ' ');
    }
    if (line.size() > indent) line += ' ';
    line += text.substr(at, end - at);
    at = end + 1;
  }
  return result + line + "\n";
}

std::string join(const std::vector<std::string>& words) {
  std::string text;
  for (const auto& word : words) text += (text.empty() ? "" : ", ") + word;
  return text.empty() ? "none" : text;
}

std::vector<std::string> names_of(const std::vector<Level>& list) {
  std::vector<std::string> names;
  for (const Level level : list) names.emplace_back(levels::name(level));
  return names;
}

std::vector<std::string> forbidden_by(Level level) {
  std::vector<std::string> names;
  for (const auto& anomaly : anomalies()) {
    const auto by = forbidding(anomaly);
    if (std::find(by.begin(), by.end(), level) != by.end()) names.emplace_back(anomaly.name);
  }
  return names;
}

std::vector<std::string> forbidden_in_part_by(Level level) {
  std::vector<std::string> names;
  for (const auto& anomaly : anomalies()) {
    const auto by = forbidding_some(anomaly);
    if (std::find(by.begin(), by.end(), level) != by.end()) names.emplace_back(anomaly.name);
  }
  return names;
}

std::string section(std::string_view heading, std::string_view text) {
  return text.empty() ? std::string() : fmt::format("  {}\n{}", heading, wrapped(text, 4));
}

std::string join_views(const std::vector<std::string_view>& words) {
  std::string text;
  for (const auto word : words) text += (text.empty() ? "" : ", ") + std::string(word);
  return text;
}

std::string describe_anomaly(const AnomalyEntry& entry) {
  std::string text = fmt::format("{}\n{}", entry.name, wrapped(entry.definition, 2));
  if (!entry.example.empty()) text += "  Smallest example\n" + table(entry.example, 4);
  text += section("Forbidden by", join(names_of(forbidding(entry))));
  if (const auto some = forbidding_some(entry); !some.empty()) {
    text += section("Some of them also by", join(names_of(some)));
  }
  text += section("Allowed by", entry.allowed);
  text += section("Usually caused by", entry.cause);
  text += section("What to do", entry.remedy);
  return text + section("Also called", join_views(entry.also));
}

std::string describe_term(const TermEntry& entry) {
  return fmt::format("{}\n{}", entry.name, wrapped(entry.definition, 2)) +
         (entry.nearest ? section(entry.same ? "Checked by" : "Nearest level",
                                  fmt::format("-l {}", levels::name(*entry.nearest)))
                        : std::string()) +
         section("See", join_views(entry.see)) + section("Also called", join_views(entry.also));
}

std::string describe_level(const levels::LevelSpec& entry) {
  std::vector<std::string> weaker, stronger;
  for (const Level other : levels::all_levels()) {
    if (other == entry.level) continue;
    if (levels::implies(entry.level, other)) weaker.emplace_back(levels::name(other));
    if (levels::implies(other, entry.level)) stronger.emplace_back(levels::name(other));
  }
  std::string text = fmt::format("{} ({})\n{}", levels::name(entry.level),
                                 levels::short_name(entry.level), wrapped(entry.definition, 2));
  text += section("Also called", entry.also_called);
  text += "  Smallest violation\n" + table(entry.example, 4);
  text += section("Given by", entry.given_by);
  text += section("Implies", join(weaker));
  text += section("Is implied by", join(stronger));
  for (const auto& term : terms()) {  // ssi is also another word
    const bool same = std::any_of(term.also.begin(), term.also.end(), [&](std::string_view other) {
      return normal(other) == levels::short_name(entry.level);
    });
    if (same) text += section("Not to be confused with", term.name);
  }
  text += section("Forbids", join(forbidden_by(entry.level)));
  const auto some = forbidden_in_part_by(entry.level);
  return some.empty() ? text : text + section("Forbids some of", join(some));
}

// ---- examples

// "r(x,0)" as "read x = 0".
std::string spoken(std::string_view op) {
  const auto open = op.find('(');
  const auto kind = op.substr(0, open);
  const auto inside = op.substr(open + 1, op.size() - open - 2);
  const auto comma = inside.find(',');
  const auto key = inside.substr(0, comma), value = inside.substr(comma + 1);
  if (kind == "r" || kind == "l") return fmt::format("read {} = {}", key, value);
  if (kind == "w") return fmt::format("write {} = {}", key, value);
  if (kind == "a") return fmt::format("append {} to {}", value, key);
  const auto second = value.find(',');
  return fmt::format("compare-and-set {} from {} to {} (failed)", key, value.substr(0, second),
                     value.substr(second + 1));
}

std::vector<std::string_view> pieces(std::string_view text, char separator) {
  std::vector<std::string_view> all;
  int open = 0;
  std::size_t from = 0;
  for (std::size_t i = 0; i <= text.size(); ++i) {
    if (i < text.size() && (text[i] == '(' || text[i] == '[')) ++open;
    if (i < text.size() && (text[i] == ')' || text[i] == ']')) --open;
    if (i < text.size() && (text[i] != separator || open > 0)) continue;
    auto piece = text.substr(from, i - from);
    while (piece.starts_with(' ')) piece.remove_prefix(1);
    while (piece.ends_with(' ')) piece.remove_suffix(1);
    if (!piece.empty()) all.push_back(piece);
    from = i + 1;
  }
  return all;
}

struct Page {
  const AnomalyEntry* anomaly = nullptr;
  const levels::LevelSpec* level = nullptr;
  const TermEntry* term = nullptr;
};

// Blanks, hyphens and underscores do not count.
std::string squeezed(std::string_view text) {
  auto result = normal(text);
  std::erase(result, '-');
  return result;
}

// By name; else by what it is called as well.
std::vector<Page> pages(std::string_view name) {
  const auto wanted = normal(name);
  // As level_asked() has it: SSI in capitals is the term.
  if (const auto level = levels::parse_level(wanted); level && name != "SSI") {
    for (const auto& entry : levels::kLevelSpecs) {
      if (entry.level == *level) return {{.level = &entry}};
    }
  }
  const auto is = [short_name = squeezed(name)](std::string_view other) {
    return squeezed(other) == short_name;
  };
  for (const auto& entry : anomalies()) {
    if (is(entry.name)) return {{.anomaly = &entry}};
  }
  for (const auto& entry : terms()) {
    if (is(entry.name)) return {{.term = &entry}};
  }
  std::vector<Page> found;
  for (const auto& entry : anomalies()) {
    if (std::any_of(entry.also.begin(), entry.also.end(), is)) found.push_back({.anomaly = &entry});
  }
  for (const auto& entry : terms()) {
    if (std::any_of(entry.also.begin(), entry.also.end(), is)) found.push_back({.term = &entry});
  }
  return found;
}

Json names_json(const std::vector<std::string>& names) {
  Json array = Json::array();
  for (const auto& name : names) array.push_back(name);
  return array;
}

Json page_json(const Page& page) {
  Json object;
  if (page.level != nullptr) {
    const auto& entry = *page.level;
    std::vector<std::string> weaker, stronger;
    for (const Level other : levels::all_levels()) {
      if (other == entry.level) continue;
      if (levels::implies(entry.level, other)) weaker.emplace_back(levels::name(other));
      if (levels::implies(other, entry.level)) stronger.emplace_back(levels::name(other));
    }
    object["level"] = levels::name(entry.level);
    object["short_name"] = levels::short_name(entry.level);
    object["meaning"] = entry.definition;
    object["also_called"] = entry.also_called;
    object["example"] = entry.example;
    object["given_by"] = entry.given_by;
    object["implies"] = names_json(weaker);
    object["implied_by"] = names_json(stronger);
    object["forbids"] = names_json(forbidden_by(entry.level));
    object["forbids_some"] = names_json(forbidden_in_part_by(entry.level));
    return object;
  }
  if (page.term != nullptr) {
    object["term"] = page.term->name;
    if (page.term->nearest) {
      object["nearest_level"] = levels::name(*page.term->nearest);
      object["same_level"] = page.term->same;
    }
    object["meaning"] = page.term->definition;
    object["see"] = page.term->see;
    object["also_called"] = page.term->also;
    return object;
  }
  const auto& entry = *page.anomaly;
  object["anomaly"] = entry.name;
  object["group"] = entry.group;
  object["meaning"] = entry.definition;
  object["also_called"] = Json::array();
  for (const auto name : entry.also) object["also_called"].push_back(name);
  object["example"] = entry.example;
  object["forbidden_by"] = names_json(names_of(forbidding(entry)));
  object["some_forbidden_by"] = names_json(names_of(forbidding_some(entry)));
  object["allowed_by"] = entry.allowed;
  object["cause"] = entry.cause;
  object["remedy"] = entry.remedy;
  return object;
}

}  // namespace

std::vector<Level> forbidding(const AnomalyEntry& anomaly) {
  std::vector<Level> found;
  for (const Level level : levels::all_levels()) {
    const bool forbids =
        std::any_of(anomaly.weakest.begin(), anomaly.weakest.end(),
                    [&](Level weakest) { return levels::implies(level, weakest); });
    if (forbids) found.push_back(level);
  }
  return found;
}

std::vector<Level> forbidding_some(const AnomalyEntry& anomaly) {
  const auto all = forbidding(anomaly);
  std::vector<Level> found;
  for (const Level level : levels::all_levels()) {
    const bool some = std::any_of(anomaly.some.begin(), anomaly.some.end(),
                                  [&](Level weakest) { return levels::implies(level, weakest); });
    if (some && std::find(all.begin(), all.end(), level) == all.end()) found.push_back(level);
  }
  return found;
}

std::string describe(std::string_view name) {
  std::string text;
  for (const Page& page : pages(name)) {
    if (!text.empty()) text += "\n";
    text += page.level != nullptr  ? describe_level(*page.level)
            : page.term != nullptr ? describe_term(*page.term)
                                   : describe_anomaly(*page.anomaly);
  }
  return text;
}

std::optional<LevelAsked> level_asked(std::string_view name) {
  const auto level = levels::parse_level(name);
  if (level && name != "SSI") return LevelAsked{*level, {}};
  // The term, where a level has the name in other letters.
  for (const TermEntry& term : terms()) {
    const bool called =
        squeezed(term.name) == squeezed(name) ||
        std::any_of(term.also.begin(), term.also.end(),
                    [&](std::string_view other) { return squeezed(other) == squeezed(name); });
    if (called && term.same) return LevelAsked{term.nearest, term.name};
    if (called) return LevelAsked{std::nullopt, term.name, term.nearest};
  }
  const auto found = pages(name);
  if (found.empty() || found.front().anomaly == nullptr) return std::nullopt;
  const auto& anomaly = *found.front().anomaly;
  return LevelAsked{std::nullopt, anomaly.name, anomaly.weakest.front(), true};
}

std::string describe_json(std::string_view name) {
  const base::AllocationWatch::Deferral deferral;  // JSON's destructors allocate
  const auto found = pages(name);
  if (found.empty()) return {};
  Json object = page_json(found.front());
  if (found.size() > 1) {
    object["others"] = Json::array();
    for (std::size_t i = 1; i < found.size(); ++i) object["others"].push_back(page_json(found[i]));
  }
  return object.dump() + "\n";
}

std::string table(std::string_view example, std::size_t indent) {
  std::vector<std::vector<std::string>> sessions;
  std::size_t rows = 0, transactions = 0;
  for (const auto text : pieces(example, '|')) {
    const auto colon = text.find(':');
    auto& lines = sessions.emplace_back();
    lines.push_back(fmt::format("session {}", text.substr(0, colon)));
    for (auto one : pieces(text.substr(colon + 1), ';')) {
      std::string end;
      if (one.starts_with("!")) {
        end = "aborted";
        one.remove_prefix(1);
      }
      auto lead = fmt::format("T{}: ", ++transactions);
      for (const auto op : pieces(one, ' ')) {
        if (op.starts_with("@")) {
          const auto dash = op.find('-');
          end = fmt::format("from {} to {}", op.substr(1, dash - 1), op.substr(dash + 1));
          continue;
        }
        lines.push_back(lead + spoken(op));
        lead.assign(lead.size(), ' ');
      }
      if (!end.empty()) lines.push_back(lead + "(" + end + ")");
    }
    rows = std::max(rows, lines.size());
  }
  // Side by side where that fits, else below each other.
  std::vector<std::size_t> widths;
  std::size_t width = indent;
  for (const auto& lines : sessions) {
    std::size_t widest = 0;
    for (const auto& line : lines) widest = std::max(widest, line.size());
    widths.push_back(widest + 4);
    width += widths.back();
  }
  std::string text;
  if (width > 96) {
    for (const auto& lines : sessions) {
      for (const auto& line : lines) text += std::string(indent, ' ') + line + "\n";
    }
    return text;
  }
  for (std::size_t row = 0; row < rows; ++row) {
    std::string line(indent, ' ');
    for (std::size_t s = 0; s < sessions.size(); ++s) {
      line += fmt::format("{:<{}}", row < sessions[s].size() ? sessions[s][row] : "", widths[s]);
    }
    text += line.substr(0, line.find_last_not_of(' ') + 1) + "\n";
  }
  return text;
}

std::vector<std::string_view> plume_letters(std::string_view anomaly) {
  std::vector<std::string_view> letters;
  for (const auto& entry : anomalies()) {
    if (entry.name != anomaly) continue;
    for (const auto other : entry.also) {
      if (other.starts_with("TAP-")) letters.push_back(other);
    }
  }
  return letters;
}

std::vector<std::string> glossary_names() {
  std::vector<std::string> names;
  for (const auto& entry : anomalies()) {
    names.emplace_back(entry.name);
    for (const auto other : entry.also) names.emplace_back(other);
  }
  for (const auto& entry : terms()) {
    names.emplace_back(entry.name);
    for (const auto other : entry.also) names.emplace_back(other);
  }
  for (const Level level : levels::all_levels()) {
    names.emplace_back(levels::name(level));
    names.emplace_back(levels::short_name(level));
  }
  return names;
}

std::string list_levels(std::size_t width) {
  std::string text;
  for (const auto& entry : levels::kLevelSpecs) {
    const auto stop = entry.definition.find_first_of(".;:");
    const auto head =
        fmt::format("{:<34} {:<7} ", levels::name(entry.level), levels::short_name(entry.level));
    const auto definition = entry.definition.substr(0, stop);
    text += head + wrapped(definition, head.size(), width).substr(head.size());
  }
  return text;
}

std::string list_anomalies() {
  std::string text;
  std::string_view group;
  for (const auto& entry : anomalies()) {
    if (entry.group != group) {
      text += fmt::format("{}{}\n", text.empty() ? "" : "\n", entry.group);
      group = entry.group;
    }
    const auto letters = plume_letters(entry.name);
    text +=
        fmt::format("  {:<28} {:<6} first forbidden by {}\n", entry.name,
                    letters.empty() ? "" : letters.front(), levels::name(entry.weakest.front()));
    const auto first = entry.definition.substr(0, entry.definition.find(". "));
    text += wrapped(fmt::format("{}{}", first, first.ends_with('.') ? "" : "."), 6, kColumns);
  }
  text += "\nOther names\n";
  for (const auto& entry : terms()) {
    text += fmt::format("  {:<28} see {}\n", entry.name, join_views(entry.see));
  }
  return text;
}

std::string list_json() {
  Json object;
  object["levels"] = Json::array();
  for (const Level level : levels::all_levels()) object["levels"].push_back(levels::name(level));
  object["anomalies"] = Json::array();
  for (const auto& entry : anomalies()) {
    object["anomalies"].push_back({{"anomaly", entry.name},
                                   {"group", entry.group},
                                   {"first_forbidden_by", levels::name(entry.weakest.front())}});
  }
  return object.dump() + "\n";
}

}  // namespace cupel::explain
