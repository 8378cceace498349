// Unpacking, reading and checking a history whose verdicts are known. Unpacks
// with libzstd itself, so that a mistake in formats cannot hide another.
#include "golden/known_verdicts.hpp"

#include <gtest/gtest.h>
#include <zstd.h>

#include <algorithm>
#include <cctype>
#include <fstream>
#include <iterator>
#include <stdexcept>

#include "data/formats/formats.hpp"
#include "engine/certify/verify.hpp"
#include "report/certificate.hpp"
#include "support/scratch_folder.hpp"

namespace cupel::golden {

namespace fs = std::filesystem;

namespace {

void unpack_file(const fs::path& packed, const fs::path& to) {
  std::ifstream in(packed, std::ios::binary);
  const std::string bytes{std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
  // The zstd tool writes the size when it compresses a file.
  const auto size = ZSTD_getFrameContentSize(bytes.data(), bytes.size());
  if (size == ZSTD_CONTENTSIZE_ERROR || size == ZSTD_CONTENTSIZE_UNKNOWN) {
    throw std::runtime_error(packed.string() + " is not a zstd file of known size");
  }
  std::string text(size, '\0');
  const auto got = ZSTD_decompress(text.data(), text.size(), bytes.data(), bytes.size());
  if (ZSTD_isError(got) != 0U) {
    throw std::runtime_error(packed.string() + ": " + ZSTD_getErrorName(got));
  }
  std::ofstream(to, std::ios::binary) << text;
}

// `path` itself, or its unpacked copy in `scratch`.
fs::path unpacked(const fs::path& path, const fs::path& scratch) {
  if (path.extension() != ".zst") return path;
  const fs::path copy = scratch / path.stem();
  unpack_file(path, copy);
  return copy;
}

}  // namespace

base::Result<history::History> read(const fs::path& path) {
  const test::ScratchFolder scratch;
  return formats::read(unpacked(path, scratch.path()).string());
}

void expect_verdicts(const KnownHistory& known) {
  const auto history = read(known.path);
  ASSERT_TRUE(history.ok()) << known.path << ": " << history.error().to_string();

  check::Options options;
  for (const auto& [level, verdict] : known.verdicts) options.asked.push_back(level);
  options.timeout_seconds = 120;
  options.evidence = true;
  const auto result = check::check(*history, options);
  ASSERT_EQ(result.levels.size(), known.verdicts.size());
  for (const auto& answer : result.levels) {
    EXPECT_EQ(check::to_string(answer.verdict), check::to_string(known.verdicts.at(answer.level)))
        << known.path << " at " << levels::name(answer.level) << ", decided by "
        << answer.decided_by << " " << answer.detail;
  }
  const auto made = report::certificate(*history, result, options.clock_drift_ns);
  EXPECT_TRUE(made.missing.empty()) << known.path << " at " << levels::name(made.missing.front());
  const auto report = certify::verify(*history, made.json);
  EXPECT_EQ(report.validity, certify::Validity::kValid) << known.path << ": " << report.reason;
}

std::string test_name(std::string_view path) {
  std::string name(path);
  std::replace_if(
      name.begin(), name.end(), [](unsigned char c) { return std::isalnum(c) == 0; }, '_');
  return name;
}

}  // namespace cupel::golden
