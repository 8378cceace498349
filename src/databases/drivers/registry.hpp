// Registry: the list of drivers (registry.cpp), as driver.cpp needs it.
//
// To add a driver: a folder with its source and a CMakeLists.txt that makes a plug-in (plugin.hpp),
// and an entry in registry.cpp. The source defines open_NAME().
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "databases/drivers/driver.hpp"

namespace cupel::drivers {

// The URL as the user wrote it, scheme included; options.isolation is one of the
// driver's names, or empty.
using OpenFunction = base::Result<std::unique_ptr<Database>>(const std::string& url,
                                                             const OpenOptions& options);

// `name`: of one of all_drivers(). Errors: those of load_plugin().
struct Opener {
  OpenFunction* open;  // never null
};
base::Result<Opener> opener_of(std::string_view name);

}  // namespace cupel::drivers
