// The commands of the program cupel-run.
#include <array>

#include "apps/command.hpp"

namespace cupel::apps {

void add_run(Command& app, Run& run);
void add_campaign(Command& app, Run& run);
void add_merge(Command& app, Run& run);
void add_lab(Command& app, Run& run);
void add_doctor(Command& app, Run& run);

std::span<const NamedCommand> run_commands() {
  static constexpr std::array kCommands{
      NamedCommand{"run", add_run}, NamedCommand{"campaign", add_campaign},
      NamedCommand{"merge", add_merge}, NamedCommand{"lab", add_lab},
      NamedCommand{"doctor", add_doctor}};
  return kCommands;
}

}  // namespace cupel::apps
