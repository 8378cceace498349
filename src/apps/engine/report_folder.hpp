// A report's folder: where `--report DIR` puts its files.
//
// One history: DIR/index.html and its pictures. Several: DIR/1-NAME/, DIR/2-NAME/ …
// and DIR/index.html, which links to them; of very many (many_histories.hpp) only those that do not
// pass have a page. What is in DIR already stays, but for
// files of these names, which are written over, and pictures of an earlier report's
// further violations, which are removed.
#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "base/result.hpp"
#include "report/page.hpp"

namespace cupel::apps {

class ReportFolder {
 public:
  // `histories`: how many there will be.
  ReportFolder(std::string folder, std::size_t histories)
      : folder_(std::move(folder)), histories_(histories) {}

  // Makes DIR and looks whether files can be made in it, so that a folder that cannot be had
  // is reported before hours of checking.
  [[nodiscard]] base::Result<base::Ok> prepare();
  struct Written {
    std::string folder, file;
    check::CheckResult result;  // verdicts only
    std::string error = {};     // instead, if it could not be read
    std::string lost = {};      // as report::ReportLink has it
  };
  // The files of the history of this number, counted from 0. Thread-safe for different numbers.
  // Errors: a folder or a file that cannot be written.
  [[nodiscard]] base::Result<Written> write(std::size_t number, const report::Checked& checked,
                                            const report::PageOptions& options = {}) const;
  // The next history is this one.
  void add(Written written) { added_.push_back(std::move(written)); }
  // Both, for the next history.
  [[nodiscard]] base::Result<base::Ok> add(const report::Checked& checked,
                                           const report::PageOptions& options = {});
  // Instead of that, for a history that cannot be read.
  void add(const std::string& file, const base::Error& error);
  // The page that links to the reports, if there are several histories. A folder that was
  // made for a report that was not written goes again.
  [[nodiscard]] base::Result<base::Ok> finish() const;

  // The page to begin with.
  [[nodiscard]] std::string page() const;
  // Was a page written, or an error for one?
  [[nodiscard]] bool wrote() const { return !added_.empty(); }

 private:
  std::string folder_;
  std::size_t histories_;
  bool made_ = false;  // DIR was not there
  std::vector<Written> added_;
};

}  // namespace cupel::apps
