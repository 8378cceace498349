// See the header.
#include "apps/engine/crdt_hint.hpp"

#include <filesystem>
#include <system_error>

#ifndef CUPEL_CORE
#include "apps/programs.hpp"
#include "base/process.hpp"
#endif

namespace cupel::apps {

std::string crdt_hint([[maybe_unused]] const std::string& file) {
#ifndef CUPEL_CORE
  constexpr base::Seconds kPatience(10);
  std::error_code unknown;
  if (!std::filesystem::is_regular_file(file, unknown)) return "";  // a pipe can be read once
  const auto program = find_program(Program::kCrdt);
  if (!program.ok()) return "";
  auto process = base::Process::start(
      {.arguments = {*program, "--fits", file}, .output = base::Stream::pipe()});
  if (!process.ok()) return "";
  auto hint = process->read_all(kPatience);
  const auto status = process->wait(kPatience);
  if (hint && status && status->well()) return *std::move(hint);
#endif
  return "";
}

}  // namespace cupel::apps
