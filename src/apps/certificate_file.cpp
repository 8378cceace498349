// Certificate files: see the header. Only the start of the file is read.
#include "apps/certificate_file.hpp"

#include <fmt/format.h>

#include <filesystem>

#include "data/formats/formats.hpp"
#include "data/formats/input.hpp"

namespace cupel::apps {

bool is_certificate(const std::string& file) {
  std::error_code unknown;
  if (!std::filesystem::is_regular_file(file, unknown)) return false;  // a pipe is read only once
  constexpr std::size_t kHead = 256;
  const auto content = formats::MappedFile::open_as_it_is(file);
  return content.ok() && formats::is_certificate(content->bytes().substr(0, kHead));
}

base::Error certificate_comes_second(const char* command, const std::string& file) {
  return {
      .message = fmt::format("found a certificate, expected a history; the history comes first: "
                             "`cupel {} HISTORY CERTIFICATE`",
                             command),
      .file = file};
}

std::optional<base::Error> certificate_of_other(std::string_view command,
                                                std::string_view certificate,
                                                const std::string& file) {
  if (!formats::is_certificate(certificate)) return std::nullopt;
  constexpr std::string_view kReplicated = R"("cupel_crdt_certificate")";
  const auto field = certificate.find('"');
  const bool replicated = certificate.substr(field).starts_with(kReplicated);
  const std::string_view other = replicated ? "crdt verify" : "verify";
  if (other == command) return std::nullopt;
  return base::Error{
      .message = fmt::format("found a certificate of {}, which `cupel {}` checks",
                             replicated ? "a replicated data type" : "transactions", other),
      .file = file};
}

}  // namespace cupel::apps
