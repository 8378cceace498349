// Registry: the list of drivers (registry.cpp), as driver.cpp needs it.
//
// To add a driver: a folder with its source and a CMakeLists.txt, and an entry in
// registry.cpp. The source defines open_NAME(); the CMakeLists.txt defines
// CUPEL_DRIVER_NAME where the client library is there.
#pragma once

#include <memory>
#include <string>

#include "drivers/driver.hpp"

namespace cupel::drivers {

// The URL as the user wrote it, scheme included; options.isolation is one of the
// driver's names, or empty.
using OpenFunction = base::Result<std::unique_ptr<Database>>(const std::string& url,
                                                             const OpenOptions& options);

// `driver` is one of all_drivers(); null if it is left out of this build.
OpenFunction* opener_of(const DriverInfo& driver);

}  // namespace cupel::drivers
