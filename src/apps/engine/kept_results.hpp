// Kept results: a folder in which `cupel check --json --results` keeps what it decided, so that a
// shard that was killed goes on where it was.
//
// A file for each history, written at once or not at all. Its name comes from all that decides the
// answer: the bytes of the history and its name, the question, the limits, the version of cupel. So
// a history that changed is checked again, and several shards share a folder. The names are of 64
// bits and tell accidents apart, not forgeries (base/fnv.hpp).
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.hpp"

namespace cupel::apps {

class KeptResults {
 public:
  // `question`: what the answer depends on, but for the history. `brief`: answers without what the
  // histories of one command share the time for will do, too.
  KeptResults(std::string folder, std::string_view question, bool brief);

  // Makes the folder.
  [[nodiscard]] base::Result<base::Ok> prepare() const;

  struct Result {
    std::string line;  // of --json, with its end
    int code;          // kSatisfied or kViolated
    bool brief = false;
  };
  [[nodiscard]] std::optional<Result> find(const std::string& history);
  // For the next time, of a history that find() did not find. Does nothing if it has changed since,
  // for nobody knows which bytes were checked, or if the code is another one: with more time the
  // answer may be too.
  [[nodiscard]] base::Result<base::Ok> keep(const std::string& history, const Result& result) const;

 private:
  // Without the end that says the code; none: the history cannot be read.
  [[nodiscard]] std::optional<std::string> stem_of(const std::string& history) const;

  std::string folder_;
  std::uint64_t question_;
  bool brief_;
  std::map<std::string, std::string> sought_;  // the stem by the history
};

}  // namespace cupel::apps
