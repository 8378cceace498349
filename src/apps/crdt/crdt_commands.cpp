// The command of the program cupel-crdt.
#include <array>

#include "apps/command.hpp"

namespace cupel::apps {

void add_crdt(Command& app, Run& run);

std::span<const NamedCommand> crdt_commands() {
  static constexpr std::array kCommands{NamedCommand{"crdt", add_crdt}};
  return kCommands;
}

}  // namespace cupel::apps
