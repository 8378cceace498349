// Plugin: a driver in a shared object of its own, libcupel-driver-NAME.so, so that a program loads
// the client library of the one database that it uses. It is found in the folders of the variable
// CUPEL_PLUGINS (separated by colons), then beside the program.
//
// The entry point is C and has its version in its name. What it returns is C++: a plug-in is
// compiled with the headers of the cupel that loads it, and loaded by no other version. It takes
// base, text, history, workload and this folder from the program; its source ends with
//
//   CUPEL_DRIVER_PLUGIN(open_postgres, nullptr)
//
// A driver that registry.cpp does not list gives its DriverInfo in place of the null, and `cupel
// run --db NAME:…` finds it by the name of its file.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "databases/drivers/registry.hpp"

namespace cupel::drivers {

struct Plugin {
  const char* version;     // of the cupel whose headers it was compiled with: "0.2.0-dev"
  OpenFunction* open;      // never null
  const DriverInfo* info;  // null: registry.cpp has it
};
using PluginEntry = const Plugin*();
inline constexpr const char* kPluginEntry = "cupel_driver_1";

#define CUPEL_DRIVER_PLUGIN(open_function, driver_info)                                         \
  extern "C" const cupel::drivers::Plugin* cupel_driver_1();                                    \
  extern "C" __attribute__((visibility("default"))) const cupel::drivers::Plugin*               \
  cupel_driver_1() {                                                                            \
    static const cupel::drivers::Plugin kPlugin{CUPEL_VERSION, (open_function), (driver_info)}; \
    return &kPlugin;                                                                            \
  }

// The file of a driver's plug-in; empty: there is none.
std::string find_plugin(std::string_view driver);
// The names of all plug-ins that are found, sorted.
std::vector<std::string> found_plugins();
// Loads the plug-in, once. Errors: there is none, with what to install; its client library is
// missing; another version's.
base::Result<const Plugin*> load_plugin(std::string_view driver);

}  // namespace cupel::drivers
