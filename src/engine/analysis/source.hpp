// Source: the file that a history was read from, and whether it is still the same.
//
// Some fields of a file are not kept with the history (data/formats/extra_fields.hpp); they are
// looked up when something is explained. By then the file may be another one.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>

namespace cupel::analysis {

class Source {
 public:
  // The file as it is now: to be made before it is read.
  explicit Source(std::string path);

  [[nodiscard]] const std::string& path() const { return path_; }
  // Neither written to nor replaced since. Of what is no regular file nothing is known: true.
  [[nodiscard]] bool is_unchanged() const;

 private:
  // Device, number, size, and the times of its content and of its entry, in nanoseconds.
  using State = std::array<std::int64_t, 5>;
  static std::optional<State> state_of(const std::string& path);

  std::string path_;
  std::optional<State> state_;  // none: no regular file
};

}  // namespace cupel::analysis
