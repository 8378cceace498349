// registry: the list of formats, and recognition by content.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cassert>

#include "data/formats/format_spec.hpp"
#include "data/formats/store_directory.hpp"

namespace cupel::formats {

extern const FormatSpec kJepsenFormat, kPlumeFormat, kAwditFormat, kDbcopFormat, kCobraFormat,
    kViperFormat, kCupelFormat, kKnossosFormat;

namespace {

constexpr std::array kSpecs = {&kJepsenFormat, &kPlumeFormat, &kAwditFormat, &kDbcopFormat,
                               &kCobraFormat,  &kViperFormat, &kCupelFormat, &kKnossosFormat};

std::string joined(std::span<const std::string> names) {
  std::string text;
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (i > 0) text += i + 1 == names.size() ? " or " : ", ";
    text += names[i];
  }
  return text;
}

base::Error ambiguous(const std::string& path, std::span<const FormatSpec* const> matches) {
  std::vector<std::string> names, options;
  for (const auto* spec : matches) {
    names.emplace_back(spec->name);
    options.push_back(fmt::format("-f {}", spec->name));
  }
  return {.message = fmt::format("found a file that can be {}; name its format with {}",
                                 joined(names), joined(options)),
          .file = path};
}

}  // namespace

std::span<const FormatSpec* const> all_specs() {
  return kSpecs;
}

const FormatSpec& spec_of(Format format) {
  const auto& spec = *kSpecs.at(static_cast<std::size_t>(format));
  assert(spec.format == format && "the registry is in the order of Format");
  return spec;
}

std::string_view name(Format format) {
  return spec_of(format).name;
}

std::span<const Format> all_formats() {
  static const auto all = [] {
    std::array<Format, kSpecs.size()> formats;
    for (std::size_t i = 0; i < formats.size(); ++i) formats[i] = kSpecs[i]->format;
    return formats;
  }();
  return all;
}

bool is_written(Format format) {
  return spec_of(format).write != nullptr;
}

std::optional<Format> parse_format(std::string_view text) {
  for (const auto* spec : kSpecs) {
    if (spec->name == text) return spec->format;
  }
  return std::nullopt;
}

std::string format_names(bool written_only) {
  std::vector<std::string> names;
  for (const auto* spec : kSpecs) {
    if (!written_only || spec->write != nullptr) names.emplace_back(spec->name);
  }
  return joined(names);
}

std::vector<std::string> written_extensions() {
  std::vector<std::string> endings;
  for (const auto* spec : kSpecs) {
    if (spec->write == nullptr) continue;
    for (const auto& extension : spec->extensions) {
      if (!extension.ending.empty()) endings.emplace_back(extension.ending);
    }
  }
  return endings;
}

std::optional<WriteOptions> options_of_extension(std::string_view ending) {
  for (const auto* spec : kSpecs) {
    for (const auto& extension : spec->extensions) {
      if (!ending.empty() && extension.ending == ending) {
        return WriteOptions{.format = spec->format, .edn = extension.edn};
      }
    }
  }
  return std::nullopt;
}

std::vector<std::string> lost_facts(const history::History& history, Format format) {
  const auto& spec = spec_of(format);
  return spec.lost == nullptr ? std::vector<std::string>() : spec.lost(history);
}

std::string found_compressed(std::string_view bytes) {
  struct Compression {
    std::string_view start, name, command;
  };
  static constexpr Compression kKnown[] = {{"BZh", "bzip2", "bzip2 -dc"},
                                           {"\x04\x22\x4d\x18", "lz4", "lz4 -dc"},
                                           {"PK\x03\x04", "zip", "unzip -p"}};
  if (bytes.size() > 512 && bytes.substr(257, 5) == "ustar") {
    return "found a tar archive, expected one history. Unpack it with `tar xf FILE`, and name the "
           "file or the folder that was in it";
  }
  for (const auto& [start, name, command] : kKnown) {
    if (!bytes.starts_with(start)) continue;
    return fmt::format(
        "found a file compressed with {}, expected gzip, zstd, xz or none; decompress it first, as "
        "in "
        "`{} FILE | cupel check -`",
        name, command);
  }
  return {};
}

namespace {

// The first bytes, unless they are no text.
std::string beginning(std::string_view bytes) {
  const auto start = bytes.substr(0, 40);
  const bool binary = std::any_of(start.begin(), start.end(), [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return byte == 0x7f || (byte < ' ' && c != '\n' && c != '\r' && c != '\t');
  });
  return binary ? "binary data" : shown(start);
}

}  // namespace

base::Error unrecognized(const std::string& path, std::string_view found) {
  std::vector<std::string> known;
  for (const auto* spec : kSpecs) {
    known.push_back(fmt::format("{} ({})", spec->name, spec->description));
  }
  return {
      .message = fmt::format(
          "found {}, expected a history in the format {}; if it is one of these, name it with -f",
          found, joined(known)),
      .file = path};
}

bool is_certificate(std::string_view bytes) {
  const auto skip_blanks = [&] {
    bytes.remove_prefix(std::min(bytes.find_first_not_of(" \t\r\n"), bytes.size()));
  };
  skip_blanks();
  if (!bytes.starts_with('{')) return false;
  bytes.remove_prefix(1);
  skip_blanks();
  constexpr std::array<std::string_view, 4> kFields = {
      R"("cupel_certificate")", R"("cupel_object_certificate")", R"("cupel_certificate_windows")",
      R"("cupel_crdt_certificate")"};
  return std::any_of(kFields.begin(), kFields.end(),
                     [&](std::string_view field) { return bytes.starts_with(field); });
}

base::Result<Format> recognize(const std::string& path, std::string_view bytes, bool in_logs) {
  if (auto binary = in_logs ? std::nullopt : without_text(path, bytes)) return *std::move(binary);
  if (bytes.empty()) return unrecognized(path, "an empty file");
  // Its first header could be the lengths of a binary format.
  if (auto packed = found_compressed(bytes); packed.find("tar archive") != packed.npos)
    return base::Error{.message = std::move(packed), .file = path};
  if (is_certificate(bytes)) {
    return base::Error{.message = "found a certificate, expected a history", .file = path};
  }
  Match best = Match::kNo;
  std::vector<const FormatSpec*> matches;
  for (const auto* spec : kSpecs) {
    if (in_logs && !spec->in_logs) continue;
    const Match match = spec->recognize(bytes);
    if (match == Match::kNo || match < best) continue;
    if (match > best) matches.clear();
    best = match;
    matches.push_back(spec);
  }
  if (matches.empty()) {
    if (auto packed = found_compressed(bytes); !packed.empty()) {
      return base::Error{.message = std::move(packed), .file = path};
    }
    return unrecognized(path, beginning(bytes));
  }
  if (matches.size() > 1) return ambiguous(path, matches);
  return matches.front()->format;
}

}  // namespace cupel::formats
