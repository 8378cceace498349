// Manual pages and completions, from the command line's own tables: what --help prints, so that
// neither can say something else.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "apps/command_line.hpp"

namespace cupel::apps {

// A page for man(1), section 1, in the macros of man(7). `version`: "0.2.0".
std::string man_page(const CommandPage& page, std::string_view version);
// "cupel-mock-test.1".
std::string man_file(const CommandPage& page);

// What the values of options are, where there is a list: by the name of the value ("LEVEL").
struct ValueWords {
  std::string value;
  std::vector<std::string> words;
};

// For `source`, or a folder of bash-completion; for a folder of zsh's $fpath; for one of fish.
std::string bash_completion(const std::vector<CommandPage>& pages,
                            const std::vector<ValueWords>& values);
std::string zsh_completion(const std::vector<CommandPage>& pages,
                           const std::vector<ValueWords>& values);
std::string fish_completion(const std::vector<CommandPage>& pages,
                            const std::vector<ValueWords>& values);

}  // namespace cupel::apps
