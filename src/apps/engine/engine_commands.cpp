// The commands of the program cupel.
#include <array>

#include "apps/command.hpp"

namespace cupel::apps {

void add_check(Command& app, Run& run);
void add_watch(Command& app, Run& run);
void add_verify(Command& app, Run& run);
void add_stats(Command& app, Run& run);
void add_convert(Command& app, Run& run);
void add_generate(Command& app, Run& run);
void add_elle(Command& app, Run& run);
void add_explain(Command& app, Run& run);
void add_levels(Command& app, Run& run);
void add_completion(Command& app, Run& run);
#ifdef CUPEL_CORE
void add_merge(Command& app, Run& run);
#endif

std::span<const NamedCommand> engine_commands() {
  static constexpr std::array kCommands{
      NamedCommand{"check", add_check},     NamedCommand{"watch", add_watch},
      NamedCommand{"verify", add_verify},   NamedCommand{"stats", add_stats},
      NamedCommand{"convert", add_convert}, NamedCommand{"generate", add_generate},
      NamedCommand{"elle", add_elle},       NamedCommand{"explain", add_explain},
      NamedCommand{"levels", add_levels},   NamedCommand{"completion", add_completion},
#ifdef CUPEL_CORE
      NamedCommand{"merge", add_merge},
#endif
  };
  return kCommands;
}

}  // namespace cupel::apps
