// JUnit: an XML document that CI servers show: a suite a history, a test case a level.
#pragma once

#include <string>
#include <string_view>

#include "base/result.hpp"
#include "report/emit.hpp"

namespace cupel::report {

// violated is a failure, unknown an error, refused a skipped case, and so is the exit
// code of `cupel check`: as long as it is 0 nothing fails here.
class Junit {
 public:
  void add(const Emission& emission);
  // A history that could not be read: one case, an error.
  void add(const std::string& file, const base::Error& error);
  // The document, of what was added so far.
  [[nodiscard]] std::string text() const;

 private:
  struct Counts {
    std::size_t tests = 0, failures = 0, errors = 0, skipped = 0;
    double seconds = 0;
  };
  static void add_final_reads(const Checked& checked, Counts& counts, std::string& cases);
  void close(const std::string& file, const Counts& counts, const std::string& cases);

  Counts all_;
  std::string suites_;
};

}  // namespace cupel::report
