// See the header.
#include "apps/crdt/crdt_fits.hpp"

#include <fmt/format.h>

#include <cstddef>
#include <filesystem>
#include <string_view>
#include <system_error>
#include <vector>

#include "apps/emit.hpp"
#include "apps/spelling.hpp"
#include "base/read_file.hpp"
#include "crdt/io/reader.hpp"

namespace cupel::apps {

namespace {

// A larger file is not read once more for a hint.
constexpr std::size_t kMostHintBytes = 16 << 20;

// Are the operations those of clients of a database, which have a type (invoke, ok …)? Whether such
// a history is linearizable or loses an element is another question than that of a replicated data
// type, unless it says what each replica has seen.
bool is_of_clients(std::string_view bytes) {
  const auto has = [&](std::string_view text) {
    return bytes.find(text) != std::string_view::npos;
  };
  const bool typed = has("\"type\"") || has(":type");
  const bool replicated = has("\"seen\"") || has(":seen") || has("\"deliver\"") || has(":deliver");
  return typed && !replicated;
}

}  // namespace

std::string crdt_fits(const std::string& file) {
  std::error_code unknown;
  if (std::filesystem::file_size(file, unknown) > kMostHintBytes || unknown) return "";
  const auto bytes = base::read_file(file);
  if (!bytes.ok()) return "";
  if (const auto read = crdt::read_recording(*bytes, file); read.ok()) {
    return fmt::format(
        "; it is a history of replicated data types, which it names: `cupel crdt check {}`",
        shell_word(file));
  }
  if (is_of_clients(*bytes)) return "";
  std::vector<std::string> types;
  for (const auto type : crdt::all_types()) {
    const auto read = crdt::read(*bytes, file, {.type = type});
    if (read.ok() && !read->ops.empty()) types.emplace_back(crdt::name(type));
  }
  if (types.empty()) return "";
  return fmt::format(
      "; it can be read as the history of a replicated data type, {}: `cupel crdt check --type {} "
      "{}`",
      one_of(types), types.front(), shell_word(file));
}

}  // namespace cupel::apps
