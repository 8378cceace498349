// --emit: what else a check gives besides its text: which formats, where each goes,
// and their writing.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "report/emit.hpp"
#include "report/emit_junit.hpp"
#include "report/emit_sarif.hpp"

namespace cupel::apps {

// The file as it was, or whole and new; with `append`, this after what it holds. False,
// after an error message, if `what` (or the file, where empty) cannot be written.
bool write_whole(const std::string& path, const std::string& text, bool append = false,
                 const std::string& what = {});

// Whether write_whole() has a place to write to, asked before long work. False, after an
// error message, if not. On failure no file remains; a pipe or a device is not opened.
bool can_write(const std::string& path, bool append = false, const std::string& what = {});

class Emitter {
 public:
  // "sql", "sql=FILE", "junit=a.xml,markdown". Standard output has place for one. Throws
  // UsageError with what was found. `several`: more than one history is checked.
  Emitter(const std::vector<std::string>& asked, bool several);

  [[nodiscard]] bool any() const { return !targets_.empty(); }
  // The files to be written, by the format's name.
  [[nodiscard]] std::vector<std::pair<std::string, std::string>> files() const;
  // False, after an error message, if one of the files cannot be written.
  [[nodiscard]] bool can_write_all() const;
  // Standard output is for a format, so that the text is not to be printed.
  [[nodiscard]] bool instead_of_text() const;

  void add(const report::Emission& emission);
  void add(const std::string& file, const base::Error& error);
  // Writes what is still to be written. False, after an error message, if something could not be.
  bool finish();

 private:
  enum class Kind : std::uint8_t { kMarkdown, kSql, kPlume, kJepsen, kJunit, kSarif, kGithub };
  struct Target {
    Kind kind;
    std::string name;
    std::string file;  // empty: standard output
    bool append = false;
    std::string text = {};  // so far
  };
  static Target target_of(const std::string& text);
  void history(const Target& target, const report::Checked& checked);
  void give(Target& target, const std::string& text);

  std::vector<Target> targets_;
  report::Junit junit_;
  report::Sarif sarif_;
  bool failed_ = false;
};

// A word of a command line, quoted for a shell where it has to be.
std::string shell_word(const std::string& word);

}  // namespace cupel::apps
