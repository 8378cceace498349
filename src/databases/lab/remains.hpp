// Remains: what a program that was killed left of its servers, and who owns what there is.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "base/result.hpp"
#include "base/temp_dir.hpp"
#include "databases/lab/kinds.hpp"

namespace cupel::lab {

// A server's directory: kDirectory and six letters, under the folder for temporary files.
inline constexpr const char* kDirectory = "cupel-lab-";
// And one of what a server over the mock store loads.
inline constexpr const char* kEngineDirectory = "cupel-engine-";

// Notes in the server's directory that it is this program's until it ends, and from then on the
// state file's, if the server has one.
base::Status note_owner(const Site& site);
// A kEngineDirectory. clear_remains() removes it once this program has ended.
base::Result<base::TempDir> make_engine_directory();

// The processes of the server in this directory, also those that nobody keeps a note of; never this
// one, and none that it comes from.
std::vector<pid_t> processes_in(const std::string& directory);
// Sends SIGKILL to them, and returns when they are gone.
void kill_all_in(const std::string& directory);

}  // namespace cupel::lab
