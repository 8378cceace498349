// Base64, for the drivers whose protocol is JSON. Abseil has it; its archives are no part of a
// plug-in.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace cupel::drivers {

std::string to_base64(std::string_view bytes);
// None: the text is not Base64.
std::optional<std::string> from_base64(std::string_view text);

}  // namespace cupel::drivers
