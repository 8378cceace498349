// The command of the program cupel-mock.
#include <array>

#include "apps/command.hpp"

namespace cupel::apps {

void add_mock(Command& app, Run& run);

std::span<const NamedCommand> mock_commands() {
  static constexpr std::array kCommands{NamedCommand{"mock", add_mock}};
  return kCommands;
}

}  // namespace cupel::apps
