// Certificate files: see the header. Only the start of the file is read.
#include "cli/certificate_file.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <fstream>

#include "formats/formats.hpp"

namespace cupel::cli {

bool is_certificate(const std::string& file) {
  std::error_code unknown;
  if (!std::filesystem::is_regular_file(file, unknown)) return false;  // a pipe is read only once
  std::ifstream in(file, std::ios::binary);
  char bytes[256];
  in.read(bytes, sizeof bytes);
  return formats::is_certificate({bytes, static_cast<std::size_t>(in.gcount())});
}

base::Error certificate_comes_second(const char* command, const std::string& file) {
  return {
      .message = fmt::format("found a certificate, expected a history; the history comes first: "
                             "`cupel {} HISTORY CERTIFICATE`",
                             command),
      .file = file};
}

}  // namespace cupel::cli
