// What the kinds of Redis share.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "databases/lab/kinds.hpp"

namespace cupel::lab {

base::Status find_redis();
// KindSpec::initialize of servers that talk to each other, without passwords.
base::Status initialize_redis_group(const Site& site);
// KindSpec::command of a server; -o comes last, so `more` does not win over it.
std::vector<std::string> redis_arguments(const Site& site, const Node& node,
                                         const std::vector<std::string>& more);
// The answer of a server to a command whose answer is a text that ends with a blank line: INFO.
std::string ask_redis_for_text(const Node& node, std::string_view command);
// KindSpec::is_up and ignores_end.
bool redis_is_up(const Site& site, const Node& node, std::string_view written);
bool redis_ignores_end(const Site& site, const Node& node);

}  // namespace cupel::lab
