// SARIF 2.1.0 (OASIS): the violations as results of an analysis tool, which code
// scanning services show.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "base/result.hpp"
#include "report/emit.hpp"

namespace cupel::report {

// A result an anomaly of a weakest violated level: its rule is the anomaly's name, its
// location the line of its first transaction, where that is known, or the file. A
// history that was not read or not decided is a notification of the invocation.
class Sarif {
 public:
  explicit Sarif(std::string version);
  ~Sarif();
  Sarif(const Sarif&) = delete;
  Sarif& operator=(const Sarif&) = delete;
  void add(const Emission& emission);
  void add(const std::string& file, const base::Error& error);
  [[nodiscard]] std::string text() const;

 private:
  // `definition`: sentences; `example`: a smallest history; either may be empty.
  std::size_t rule(const std::string& name, std::string_view definition, std::string_view example);
  std::size_t rule(const std::string& name);
  void add_final_reads(const Emission& emission);
  void notify(const std::string& file, const std::string& text, const char* level);

  std::string version_;
  std::map<std::string, std::size_t> rule_index_;
  struct Lists;  // JSON, which only the .cpp needs to know
  std::unique_ptr<Lists> lists_;
  bool successful_ = true;
};

// A path as a URI reference: relative stays relative, absolute gets file://.
std::string uri_of(std::string_view path);

}  // namespace cupel::report
