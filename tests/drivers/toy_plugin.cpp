// A plug-in for a database that cupel does not list, which refuses every URL by a sentence of its
// own. With TOY_VERSION it says that it is of that version; with TOY_WITHOUT_ENTRY it is none.
#ifdef TOY_VERSION
#undef CUPEL_VERSION
#define CUPEL_VERSION TOY_VERSION
#endif
#include "databases/drivers/plugin.hpp"

namespace cupel::drivers {

namespace {

base::Result<std::unique_ptr<Database>> open_toy(const std::string& url,
                                                 const OpenOptions& options) {
  return base::Error{.message = "the toy was asked for " + url + " at " + options.isolation};
}

constexpr std::string_view kToyLevels[] = {"playful", "serious"};
constexpr DriverInfo kToy{.name = "toy",
                          .url = "toy:NAME",
                          .page = "docs/reference/drivers/toy.md",
                          .isolations = kToyLevels};

}  // namespace

}  // namespace cupel::drivers

#ifdef TOY_WITHOUT_ENTRY
extern "C" const void* some_other_entry() {
  static const void* const kAll[] = {reinterpret_cast<const void*>(&cupel::drivers::open_toy),
                                     &cupel::drivers::kToy};
  return kAll;
}
#else
CUPEL_DRIVER_PLUGIN(cupel::drivers::open_toy, &cupel::drivers::kToy)
#endif
