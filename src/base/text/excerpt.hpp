// Excerpts: the beginning of a text, for messages.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace cupel::text {

// Bytes of a value, and of a line of a program's output, in a message.
inline constexpr std::size_t kShortExcerpt = 60, kLongExcerpt = 200;

// At most so many bytes, whole characters, and an ellipsis where something is left out.
std::string excerpt(std::string_view text, std::size_t most_bytes);

}  // namespace cupel::text
