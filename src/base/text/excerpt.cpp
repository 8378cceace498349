// Excerpts: see the header.
#include "base/text/excerpt.hpp"

namespace cupel::text {

std::string excerpt(std::string_view text, std::size_t most_bytes) {
  if (text.size() <= most_bytes) return std::string(text);
  while (most_bytes > 0 && (text[most_bytes] & 0xc0) == 0x80) --most_bytes;
  return std::string(text.substr(0, most_bytes)) + "…";
}

}  // namespace cupel::text
