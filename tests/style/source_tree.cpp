// The style checks: line by line, without a C++ parser. Comments and literals
// are blanked first, so that only code is checked.
#include "style/source_tree.hpp"

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <regex>
#include <sstream>

namespace cupel::style {

namespace {

std::vector<std::string> lines_of(std::string_view text) {
  std::vector<std::string> lines;
  std::istringstream in{std::string(text)};
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

std::string trimmed(std::string_view text) {
  const auto first = text.find_first_not_of(" \t\r`");
  if (first == std::string_view::npos) return {};
  return std::string(text.substr(first, text.find_last_not_of(" \t\r`") - first + 1));
}

std::vector<std::string> split(std::string_view text, char separator) {
  std::vector<std::string> parts;
  std::size_t start = 0;
  for (std::size_t i = 0; i <= text.size(); ++i) {
    if (i == text.size() || text[i] == separator) {
      parts.push_back(trimmed(text.substr(start, i - start)));
      start = i + 1;
    }
  }
  return parts;
}

std::string at(const SourceFile& file, std::size_t line) {
  return file.path + ":" + std::to_string(line + 1) + ": ";
}

// The text with comments, string and character literals replaced by spaces;
// line breaks stay.
std::string code_only(const std::string& text) {
  std::string code = text;
  const auto blank = [&](std::size_t from, std::size_t to) {
    for (std::size_t i = from; i < to && i < code.size(); ++i) {
      if (code[i] != '\n') code[i] = ' ';
    }
    return to;
  };
  std::size_t i = 0;
  while (i < text.size()) {
    if (text.compare(i, 2, "//") == 0) {
      i = blank(i, std::min(text.find('\n', i), text.size()));
    } else if (text.compare(i, 2, "/*") == 0) {
      const auto end = text.find("*/", i + 2);
      i = blank(i, end == std::string::npos ? text.size() : end + 2);
    } else if (text.compare(i, 2, "R\"") == 0) {
      const auto open = text.find('(', i);
      const std::string close = ")" + text.substr(i + 2, open - i - 2) + "\"";
      const auto end = text.find(close, open);
      i = blank(i, end == std::string::npos ? text.size() : end + close.size());
    } else if (text[i] == '"' ||
               (text[i] == '\'' &&
                (i == 0 || std::isalnum(static_cast<unsigned char>(text[i - 1])) == 0))) {
      std::size_t end = i + 1;
      while (end < text.size() && text[end] != text[i] && text[end] != '\n') {
        end += text[end] == '\\' ? 2 : 1;
      }
      i = blank(i, end + 1);
    } else {
      ++i;
    }
  }
  return code;
}

// The words of an identifier, in lower case: all_Edges1 → all, edges1.
std::vector<std::string> words_of(const std::string& identifier) {
  std::vector<std::string> words;
  std::string word;
  for (const char c : identifier) {
    const auto u = static_cast<unsigned char>(c);
    const bool starts = std::isupper(u) != 0 && !word.empty() &&
                        std::islower(static_cast<unsigned char>(word.back())) != 0;
    if ((c == '_' || starts) && !word.empty()) {
      words.push_back(word);
      word.clear();
    }
    if (c != '_') word += c;
  }
  if (!word.empty()) words.push_back(word);
  for (auto& w : words) {
    std::transform(w.begin(), w.end(), w.begin(),
                   [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  }
  return words;
}

// The row of a file or an include, "engine/explain/why/cycle.hpp": the deepest folder that has
// one, else the first folder. Empty for a file without a folder.
std::string row_of(const LayerTable& table, const std::string& path) {
  const auto first = path.find('/');
  if (first == std::string::npos) return {};
  for (auto end = path.rfind('/'); end != first; end = path.rfind('/', end - 1)) {
    if (table.count(path.substr(0, end)) != 0) return path.substr(0, end);
  }
  return path.substr(0, first);
}

std::string folder_of(const std::string& path) {
  return path.substr(0, path.rfind('/'));
}

// A target of cupel_layer(…), and what it links, by name.
struct Target {
  std::string folder;  // "explain/why"
  std::string path;    // of its CMakeLists.txt
  std::set<std::string> links = {};
};
using Targets = std::map<std::string, Target>;

Targets targets_of(const std::vector<SourceFile>& cmake_lists) {
  static const std::regex layer(R"(cupel_layer\(\s*(\w+)([^)]*)\))");
  static const std::regex link(R"(target_link_libraries\(\s*cupel_(\w+)([^)]*)\))");
  static const std::regex library(R"(\bcupel_(\w+))");
  Targets targets;
  for (const auto& file : cmake_lists) {
    for (std::sregex_iterator it(file.text.begin(), file.text.end(), layer), end; it != end; ++it) {
      auto& target = targets[(*it)[1]];
      target.folder = folder_of(file.path).substr(4);
      target.path = file.path;
      std::istringstream arguments((*it)[2].str());
      bool uses = false;
      for (std::string word; arguments >> word;) {
        if (word == "USES" || word == "SOURCES" || word == "LIBRARIES" || word == "ALONE") {
          uses = word == "USES";
        } else if (uses) {
          target.links.insert(word);
        }
      }
    }
  }
  for (const auto& file : cmake_lists) {
    for (std::sregex_iterator it(file.text.begin(), file.text.end(), link), end; it != end; ++it) {
      const auto target = targets.find((*it)[1]);
      if (target == targets.end()) continue;
      const std::string arguments = (*it)[2];
      for (std::sregex_iterator one(arguments.begin(), arguments.end(), library), last; one != last;
           ++one) {
        target->second.links.insert((*one)[1]);
      }
    }
  }
  return targets;
}

// The target that a folder belongs to; empty if there is none.
std::string target_of(const Targets& targets, std::string folder) {
  for (;;) {
    for (const auto& [name, target] : targets) {
      if (target.folder == folder) return name;
    }
    const auto end = folder.rfind('/');
    if (end == std::string::npos) return {};
    folder.resize(end);
  }
}

bool allows(const std::set<std::string>& row, const std::string& layer) {
  return row.count("anything") != 0 || row.count(layer) != 0;
}

}  // namespace

LayerTable parse_layer_table(std::string_view markdown) {
  LayerTable table;
  bool inside = false;
  for (const auto& line : lines_of(markdown)) {
    if (line.empty() || line.front() != '|') {
      inside = false;
      continue;
    }
    const auto cells = split(line, '|');  // cells[0] is the text before the first bar
    if (cells.size() < 3) continue;
    if (cells[1] == "folder" && cells[2] == "may include") {
      inside = true;
    } else if (inside && cells[1].find_first_not_of("-: ") != std::string::npos) {
      auto& row = table[cells[1]];
      row.insert(cells[1]);
      for (const auto& layer : split(cells[2], ',')) row.insert(layer);
    }
  }
  return table;
}

std::set<std::string> parse_banned_words(std::string_view markdown) {
  static const std::string kStart = "Not in identifiers:";
  std::set<std::string> words;
  for (const auto& line : lines_of(markdown)) {
    if (line.rfind(kStart, 0) != 0) continue;
    static const std::regex code("`([^`]+)`");
    for (std::sregex_iterator it(line.begin(), line.end(), code), end; it != end; ++it) {
      words.insert((*it)[1].str());
    }
  }
  return words;
}

std::string read_text(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

std::vector<SourceFile> read_sources(const std::string& repository,
                                     const std::vector<std::string>& folders) {
  namespace fs = std::filesystem;
  std::vector<SourceFile> sources;
  for (const auto& folder : folders) {
    const fs::path top = fs::path(repository) / folder;
    for (const auto& entry : fs::recursive_directory_iterator(top)) {
      const auto extension = entry.path().extension();
      if (!entry.is_regular_file() || (extension != ".cpp" && extension != ".hpp")) continue;
      sources.push_back({fs::relative(entry.path(), repository).generic_string(),
                         read_text(entry.path().string())});
    }
  }
  std::sort(sources.begin(), sources.end(),
            [](const SourceFile& a, const SourceFile& b) { return a.path < b.path; });
  return sources;
}

std::vector<SourceFile> read_cmake_lists(const std::string& repository) {
  namespace fs = std::filesystem;
  std::vector<SourceFile> lists;
  for (const auto& entry : fs::recursive_directory_iterator(fs::path(repository) / "src")) {
    if (entry.path().filename() != "CMakeLists.txt") continue;
    lists.push_back({fs::relative(entry.path(), repository).generic_string(),
                     read_text(entry.path().string())});
  }
  std::sort(lists.begin(), lists.end(),
            [](const SourceFile& a, const SourceFile& b) { return a.path < b.path; });
  return lists;
}

Findings check_includes(const LayerTable& table, const std::vector<SourceFile>& sources) {
  static const std::regex include(R"re(^\s*#\s*include\s*"([^"/]+/[^"]*)")re");
  Findings findings;
  std::set<std::string> folders;
  for (const auto& file : sources) {
    if (file.path.rfind("src/", 0) != 0) continue;
    const auto folder = row_of(table, file.path.substr(4));
    if (folder.empty()) continue;
    folders.insert(folder);
    const auto row = table.find(folder);
    if (row == table.end()) continue;  // said once, below
    const auto lines = lines_of(file.text);
    for (std::size_t i = 0; i < lines.size(); ++i) {
      if (lines[i].find("include") == std::string::npos) continue;  // the regex is slow
      std::smatch match;
      if (!std::regex_search(lines[i], match, include)) continue;
      const auto included = row_of(table, match[1]);
      if (included != "cupel" && !allows(row->second, included)) {
        findings.push_back(at(file, i) + "src/" + folder + " may not include " + included +
                           "/ (docs/internals/architecture.md)");
      }
    }
  }
  for (const auto& folder : folders) {
    if (table.count(folder) == 0) {
      findings.push_back("src/" + folder + ":1: has no row in docs/internals/architecture.md");
    }
  }
  for (const auto& [folder, row] : table) {
    if (folders.count(folder) == 0) {
      findings.push_back("docs/internals/architecture.md:1: has a row for src/" + folder +
                         ", which has no source file");
    }
  }
  return findings;
}

Findings check_links(const LayerTable& table, const std::vector<SourceFile>& cmake_lists,
                     const std::vector<SourceFile>& sources) {
  static const std::regex include(R"re(^\s*#\s*include\s*"([^"/]+/[^"]*)")re");
  const auto targets = targets_of(cmake_lists);
  Findings findings;
  // Of a target: the targets of its folders' rows.
  std::map<std::string, std::set<std::string>> allowed;
  for (const auto& [folder, row] : table) {
    for (const auto& layer : row) {
      const auto used = target_of(targets, layer);
      allowed[target_of(targets, folder)].insert(layer == "anything" ? layer : used);
    }
  }
  for (const auto& [name, target] : targets) {
    for (const auto& used : target.links) {
      if (!allows(allowed[name], used)) {
        findings.push_back(target.path + ":1: " + name + " may not link " + used +
                           " (docs/internals/architecture.md)");
      }
    }
  }
  std::set<std::pair<std::string, std::string>> missing;
  for (const auto& file : sources) {
    if (file.path.rfind("src/", 0) != 0) continue;
    const auto name = target_of(targets, folder_of(file.path.substr(4)));
    if (name.empty()) continue;
    const auto lines = lines_of(file.text);
    for (std::size_t i = 0; i < lines.size(); ++i) {
      if (lines[i].find("include") == std::string::npos) continue;  // the regex is slow
      std::smatch match;
      if (!std::regex_search(lines[i], match, include)) continue;
      const auto used = target_of(targets, folder_of(match[1]));
      if (used.empty() || used == name || targets.at(name).links.count(used) != 0) continue;
      if (missing.emplace(name, used).second) {
        findings.push_back(at(file, i) + name + " includes " + used + " and does not link it (" +
                           targets.at(name).path + ")");
      }
    }
  }
  return findings;
}

Findings check_openings(const std::vector<SourceFile>& sources) {
  Findings findings;
  for (const auto& file : sources) {
    if (file.text.rfind("// ", 0) != 0 && file.text.rfind("/*", 0) != 0) {
      findings.push_back(at(file, 0) + "must open with a comment that says what the file is");
    }
  }
  return findings;
}

Findings check_words(const std::set<std::string>& banned, const std::vector<SourceFile>& sources) {
  static const std::regex identifier(R"([A-Za-z_]\w*)");
  static const std::regex numbered("[a-z]{4,}[12]");
  // ZSTD_compress2; CaDiCaL's members; the dynamic linker; zlib
  static const std::regex of_a_library(
      "[A-Z]+_[a-z].*|(close_proof_trace)|(trace_proof)|(dladdr1)|(inflateInit2)");
  std::set<std::string> banned_lower;
  for (const auto& word : banned) {
    for (const auto& part : words_of(word)) banned_lower.insert(part);
  }
  Findings findings;
  for (const auto& file : sources) {
    const auto lines = lines_of(code_only(file.text));
    for (std::size_t i = 0; i < lines.size(); ++i) {
      if (lines[i].find("#include") != std::string::npos) continue;
      for (std::sregex_iterator it(lines[i].begin(), lines[i].end(), identifier), end; it != end;
           ++it) {
        if (std::regex_match(it->str(), of_a_library)) continue;
        for (const auto& word : words_of(it->str())) {
          if (banned_lower.count(word) != 0 || std::regex_match(word, numbered)) {
            findings.push_back(at(file, i) + "`" + it->str() + "`: the glossary has a better word");
          }
        }
      }
    }
  }
  return findings;
}

Findings check_forbidden(const Forbidden& rule, const std::vector<SourceFile>& sources) {
  const std::regex pattern(rule.pattern);
  Findings findings;
  for (const auto& file : sources) {
    if (rule.allowed.count(file.path) != 0) continue;
    const auto lines = lines_of(code_only(file.text));
    for (std::size_t i = 0; i < lines.size(); ++i) {
      if (std::regex_search(lines[i], pattern)) findings.push_back(at(file, i) + rule.why);
    }
  }
  return findings;
}

Findings check_public_docs(const std::vector<SourceFile>& headers) {
  static const std::regex declaration(
      R"(^(\[\[nodiscard\]\] )?(struct|class|enum|using|inline|constexpr|[A-Za-z_][\w:<>,&* ]* [\w:]+\()[^{;]*.*)");
  static const std::regex uninteresting(
      R"(^(namespace|using namespace|template|extern "C"|#|\}).*)");
  Findings findings;
  for (const auto& file : headers) {
    const auto lines = lines_of(file.text);
    for (std::size_t i = 0; i < lines.size(); ++i) {
      const auto& line = lines[i];
      if (!std::regex_match(line, declaration) || std::regex_match(line, uninteresting)) continue;
      if (line.find("//") != std::string::npos) continue;
      // A forward declaration needs no words.
      if (std::regex_match(line, std::regex(R"(^(struct|class|enum class) \w+;$)"))) continue;
      std::size_t above = i;
      while (above > 0 && lines[above - 1].rfind("template", 0) == 0) --above;
      const bool said = above > 0 && (lines[above - 1].rfind("//", 0) == 0 ||
                                      lines[above - 1].find("*/") != std::string::npos);
      if (!said) findings.push_back(at(file, i) + "a public declaration without a word about it");
    }
  }
  return findings;
}

}  // namespace cupel::style
