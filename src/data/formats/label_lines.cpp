// lines_of_labels: see the header. A search for the label's name, not a second reader.
#include "data/formats/label_lines.hpp"

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <string_view>

#include "data/formats/input.hpp"

namespace cupel::formats {

std::map<std::uint32_t, std::uint64_t> lines_of_labels(const std::string& file,
                                                       const std::string& format,
                                                       std::vector<std::uint32_t> labels) {
  std::map<std::uint32_t, std::uint64_t> found;
  const bool jepsen = format == "jepsen", plume = format == "plume";
  std::error_code ignored;
  if (labels.empty() || (!jepsen && !plume) || !std::filesystem::is_regular_file(file, ignored)) {
    return found;
  }
  std::sort(labels.begin(), labels.end());
  labels.erase(std::unique(labels.begin(), labels.end()), labels.end());
  const auto opened = MappedFile::open_as_it_is(file);
  const auto bytes = opened.ok() ? opened->bytes() : std::string_view();
  std::uint64_t number = 0;
  for (std::size_t next = 0; found.size() < labels.size() && next < bytes.size();) {
    const auto line = bytes.substr(next, bytes.find('\n', next) - next);
    next += line.size() + 1;
    ++number;
    std::size_t at = std::string::npos;
    if (jepsen) {
      for (const std::string_view name : {"\"index\":", ":index "}) {
        if (at != std::string::npos) break;
        at = line.find(name);
        if (at != std::string::npos) at += name.size();
      }
    } else if (at = line.rfind(','); at != std::string::npos) {
      ++at;
    }
    if (at == std::string::npos) continue;
    while (at < line.size() && line[at] == ' ') ++at;
    std::uint64_t label = 0;
    std::size_t digits = 0;
    for (;
         at < line.size() && digits < 10 && std::isdigit(static_cast<unsigned char>(line[at])) != 0;
         ++at) {
      label = label * 10 + static_cast<std::uint64_t>(line[at] - '0');
      ++digits;
    }
    if (digits > 0 && label <= 0xffffffff &&
        std::binary_search(labels.begin(), labels.end(), static_cast<std::uint32_t>(label))) {
      found.try_emplace(static_cast<std::uint32_t>(label), number);
    }
  }
  return found;
}

}  // namespace cupel::formats
