// Interpretation: how the operation maps of a file are to be read, if the user says so: the kind of
// the workload, and the operations that are left out. See
// docs/reference/formats/jepsen.md#single-objects.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "data/history/object_kind.hpp"

namespace cupel::formats {

enum class Workload : std::uint8_t { kTransactions, kRegisters, kMutex, kStrings };

// A kind of object whose history is no history of transactions. `full`: as
// history::ObjectHistory has it.
struct ObjectsOf {
  history::ObjectKind kind = history::ObjectKind::kSet;
  bool full = false;
};

inline constexpr const char* kAllIgnored = "found no operation that --ignore does not leave out";

struct Interpretation {
  std::optional<Workload> kind;           // absent: the operations decide, or the file is refused
  std::vector<std::string> ignore;        // words of f
  std::optional<ObjectsOf> objects = {};  // instead of `kind`
  bool initial_later = false;             // initial values that the file does not say come later

  [[nodiscard]] bool empty() const { return !kind && !objects && ignore.empty(); }
  [[nodiscard]] bool ignores(std::string_view f) const;
  // Words separated by commas, also as keywords of EDN: "nap,:doze".
  void add_ignored(std::string_view words);
};

std::string_view name(Workload kind);  // "transactions" …
std::optional<Workload> parse_workload(std::string_view text);
// By another name that Jepsen, Elle or elle-cli has for it ("list-append", "cas-register"), or one
// that is spelled in another way; none: it is not known.
std::optional<Workload> meant_workload(std::string_view text);
std::string workload_names();  // "transactions, registers, mutex or strings"

std::string_view name(const ObjectsOf& objects);  // "set-full" …
std::optional<ObjectsOf> parse_objects(std::string_view text);
std::string object_names();  // "set, set-full, counter …"

}  // namespace cupel::formats
