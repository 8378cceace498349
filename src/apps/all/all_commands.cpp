// See the header.
#include "apps/all/all_commands.hpp"

#include <vector>

namespace cupel::apps {

std::span<const NamedCommand> all_commands() {
  static const std::vector<NamedCommand> kAll = [] {
    std::vector<NamedCommand> all;
    for (const auto part : {engine_commands(), run_commands(),
#ifdef CUPEL_MOCK
                            mock_commands(),
#endif
                            crdt_commands()}) {
      all.insert(all.end(), part.begin(), part.end());
    }
    return all;
  }();
  return kAll;
}

}  // namespace cupel::apps
