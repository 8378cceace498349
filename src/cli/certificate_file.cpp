// Certificate files: see the header. Only the start of the file is read: both kinds of certificates
// are written with the field first that says so.
#include "cli/certificate_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string_view>

namespace cupel::cli {

bool is_certificate(const std::string& file) {
  std::error_code unknown;
  if (!std::filesystem::is_regular_file(file, unknown)) return false;  // a pipe is read only once
  std::ifstream in(file, std::ios::binary);
  char bytes[256];
  in.read(bytes, sizeof bytes);
  std::string_view head(bytes, static_cast<std::size_t>(in.gcount()));
  const auto skip_blanks = [&] {
    head.remove_prefix(std::min(head.find_first_not_of(" \t\r\n"), head.size()));
  };
  skip_blanks();
  if (!head.starts_with('{')) return false;
  head.remove_prefix(1);
  skip_blanks();
  return head.starts_with("\"cupel_certificate\"") ||
         head.starts_with("\"cupel_certificate_windows\"") ||
         head.starts_with("\"cupel_crdt_certificate\"");
}

base::Error certificate_comes_second(const char* command, const std::string& file) {
  return {
      .message = fmt::format("found a certificate, expected a history; the history comes first: "
                             "`cupel {} HISTORY CERTIFICATE`",
                             command),
      .file = file};
}

}  // namespace cupel::cli
