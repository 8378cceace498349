// The plug-ins of this build: where a test that opens a database finds its driver, as the programs
// that it starts do.
#include <cstdlib>

namespace {

[[maybe_unused]] const int kSet = setenv("CUPEL_PLUGINS", CUPEL_BUILD_FOLDER, /*overwrite=*/0);

}  // namespace
