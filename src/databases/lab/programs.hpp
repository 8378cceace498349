// Programs: finding those of the servers' packages, and running one until it ends.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "databases/lab/kinds.hpp"

namespace cupel::lab {

// By PATH, `folders` first, and where servers are though the PATH of a plain user often does not
// lead there. Empty: not found.
std::string find_program(const std::string& name, std::vector<std::string> folders = {});

// An error that names the Debian package, if `found` is empty.
base::Status need(const std::string& found, std::string_view what, std::string_view package);

// Runs a program of the server's package until it ends, with `input`, a file, if there is one.
// Error: the end of its log.
base::Status run_once(const Site& site, std::vector<std::string> arguments, const std::string& log,
                      const std::string& input = {});
// The same on a node, in its network.
base::Status run_once_on(const Site& site, const Node& node, std::vector<std::string> arguments,
                         const std::string& log);

// Writes a file in the server's directory as the server's user, whose links may lead anywhere; a
// reader sees the old text or the new one, which is empty or ends in a line feed.
base::Status write_as_user(const Site& site, const std::string& path, const std::string& text);

// The account that needs a password: Server::guarded_url().
inline constexpr const char* kGuarded = "guarded";
inline constexpr const char* kSecret = "secret";

}  // namespace cupel::lab
