// Wording: see the header.
#include "report/wording.hpp"

#include <fmt/format.h>

#include "engine/explain/why/glossary.hpp"

namespace cupel::report {

std::string grouped(std::uint64_t number) {
  auto digits = std::to_string(number);
  for (std::ptrdiff_t at = std::ssize(digits) - 3; at > 0; at -= 3) {
    digits.insert(static_cast<std::size_t>(at), 1, ',');
  }
  return digits;
}

std::string counted(std::uint64_t number, std::string_view noun) {
  if (number == 1) return fmt::format("1 {}", noun);
  const bool ies = noun.size() > 1 && noun.back() == 'y' &&
                   std::string_view("aeiou").find(noun[noun.size() - 2]) == std::string_view::npos;
  if (ies) return fmt::format("{} {}ies", grouped(number), noun.substr(0, noun.size() - 1));
  return fmt::format("{} {}s", grouped(number), noun);
}

}  // namespace cupel::report
