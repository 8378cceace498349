// See the header.
#include "databases/drivers/base64.hpp"

#include <absl/strings/escaping.h>

namespace cupel::drivers {

std::string to_base64(std::string_view bytes) {
  return absl::Base64Escape(absl::string_view(bytes.data(), bytes.size()));
}

std::optional<std::string> from_base64(std::string_view text) {
  std::string bytes;
  if (!absl::Base64Unescape(absl::string_view(text.data(), text.size()), &bytes)) return {};
  return bytes;
}

}  // namespace cupel::drivers
