// Context reader: the lines `deliver`, `version`, `send` and `delivery`, and the fields `id` and
// `seen` of operations (docs/reference/formats/crdt.md#context).
//
// Ids are names of updates and messages. A line may name an update that comes later in the file, so
// names are resolved at the end. The default id of an update is its process and a number, "0:5";
// ids are kept as such a pair, without their text.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "crdt/model/history.hpp"

namespace cupel::crdt {

class ContextReader {
 public:
  explicit ContextReader(History& history) : history_(history) {}

  // Is it the name of a line that is no operation?
  static bool is_context(std::string_view method) {
    return method == "deliver" || method == "version" || method == "send" || method == "delivery";
  }
  // A line with such a name. An error is the sentence, without the place.
  std::optional<std::string> line(const nlohmann::json& object, std::uint64_t line);
  // A deliver line with these ids, in quotes, none of which has an escape.
  void deliver(const std::string& process, std::span<const std::string_view> ids,
               std::uint64_t line);
  // The field `seen` of an operation that comes next in its replica.
  std::optional<std::string> seen(const nlohmann::json& object, const Operation& op);
  // The field `id` of an update, which was added.
  std::optional<std::string> id(const nlohmann::json& object, OpId update);

  struct Error {
    std::string message;
    std::uint64_t line;
  };
  // All names become operations and messages.
  std::optional<Error> resolve();

 private:
  static constexpr std::uint32_t kWhole = kNone;  // an id without a number
  struct Id {
    std::uint32_t name, number;
  };
  struct Target {
    bool message;
    std::uint32_t of;
    std::uint64_t line;
  };
  struct Hash {
    using is_transparent = void;
    std::size_t operator()(std::string_view text) const {
      return std::hash<std::string_view>()(text);
    }
  };
  static std::uint64_t packed(Id id) { return std::uint64_t{id.name} << 32U | id.number; }

  std::uint32_t intern(std::string_view text);
  Id parse(std::string_view text);
  [[nodiscard]] std::string text(Id id) const;
  std::optional<std::string> define(const nlohmann::json& object, Target target);
  // The updates that a value names, to the reception.
  std::optional<std::string> take(const nlohmann::json& value, std::string_view what,
                                  Reception& reception);
  std::optional<std::string> take_rule(const nlohmann::json& object);
  [[nodiscard]] std::optional<std::string> resolve_one(Id id, NamedUpdates& named) const;
  // The replica of a process, by the text of its name; an error where it is none, or two.
  [[nodiscard]] std::optional<std::string> replica_of(std::uint32_t name,
                                                      std::uint32_t& replica) const;
  void find_processes();

  History& history_;
  bool has_rule_ = false;
  std::unordered_map<std::string, std::uint32_t, Hash, std::equal_to<>> names_;
  std::vector<std::string_view> texts_;  // by name
  std::unordered_map<std::uint64_t, Target> ids_;
  std::vector<bool> has_id_;  // by operation: an id other than its default one
  std::vector<Id> named_;     // by entry of the context's `named`
  // By name: the process that is a number, and the one that is a string.
  struct Process {
    std::uint32_t number = kNone, string = kNone;
  };
  std::vector<Process> processes_;
  std::vector<std::vector<OpId>> updates_;  // by replica
};

}  // namespace cupel::crdt
