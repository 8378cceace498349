// Verdict: what is known about a question that a limit of time or memory may leave open.
#pragma once

#include <cstdint>
#include <string_view>

namespace cupel::base {

enum class Verdict : std::uint8_t {
  kSatisfied,
  kViolated,
  kUnknown,  // a limit was met
  kRefused,  // the question has no meaning for what was given
};

constexpr std::string_view to_string(Verdict verdict) {
  switch (verdict) {
    case Verdict::kSatisfied:
      return "satisfied";
    case Verdict::kViolated:
      return "violated";
    case Verdict::kUnknown:
      return "unknown";
    case Verdict::kRefused:
      return "refused";
  }
  return "?";
}

}  // namespace cupel::base
