// SourceTree: what the style test looks at and for. The rules themselves stand
// in docs/internals/architecture.md (the table of layers, the list of words) and are read
// from there, so that the page and the check cannot differ.
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace cupel::style {

// One source file: its path from the top of the repository, and its text.
struct SourceFile {
  std::string path;
  std::string text;
};

// A rule broken, as a sentence that starts with FILE:LINE.
using Findings = std::vector<std::string>;

// A folder of src/ and the folders it may include, itself among them.
// "anything" stands for every folder.
using LayerTable = std::map<std::string, std::set<std::string>>;

// The rows of the table whose header starts with "folder | may include".
LayerTable parse_layer_table(std::string_view markdown);

// The `code words` of the line that starts with "Not in identifiers:".
std::set<std::string> parse_banned_words(std::string_view markdown);

// Every C++ file under the given folders of the repository, in path order.
std::vector<SourceFile> read_sources(const std::string& repository,
                                     const std::vector<std::string>& folders);
// Every CMakeLists.txt in src/, in path order.
std::vector<SourceFile> read_cmake_lists(const std::string& repository);
std::string read_text(const std::string& path);

// #include "layer/…" in src/FOLDER where FOLDER's row does not name the layer;
// a folder without a row; a row without a folder.
Findings check_includes(const LayerTable& table, const std::vector<SourceFile>& sources);

// What the targets of cupel_layer(…) link, against the same table: only what the rows of their
// folders name, and all that their files include. A folder without a target of its own belongs to
// that of the folder around it.
Findings check_links(const LayerTable& table, const std::vector<SourceFile>& cmake_lists,
                     const std::vector<SourceFile>& sources);

// A file's first line must be a comment that says what the file is.
Findings check_openings(const std::vector<SourceFile>& sources);

// Identifiers that are a banned word, hold one as a part (snake_case or
// CamelCase), or are a word of four letters or more followed by 1 or 2
// (edges1, Solver2): a name that needs a number hides two things.
Findings check_words(const std::set<std::string>& banned, const std::vector<SourceFile>& sources);

// Code that matches a pattern, in a file other than those that may have it.
struct Forbidden {
  std::string pattern;            // a regular expression for a part of a line
  std::set<std::string> allowed;  // files, from the top of the repository
  std::string why;                // the rest of "FILE:LINE: "
};
Findings check_forbidden(const Forbidden& rule, const std::vector<SourceFile>& sources);

// In a public header, every declaration at namespace scope has a comment above
// or after it.
Findings check_public_docs(const std::vector<SourceFile>& headers);

}  // namespace cupel::style
