// Shared libraries that are loaded at the first call of one of their functions, not
// at the start of the process: cmake/lazy_library.cmake makes the callers of this.
#include "base/lazy_library.hpp"

#include <dlfcn.h>

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <mutex>

#include "base/budget.hpp"

namespace {

// Laid out in assembly by cmake/stubs.cmake: the order of the members matters.
struct LazyLibrary {
  const char* file;          // what the loader looks for: "libpq.so.5"
  const char* const* names;  // `count` functions
  void** places;             // where the stub of each jumps to
  std::size_t count;
};

// There is no way back to a caller that expects the function: a bad environment,
// exit code 3. A package names its libraries, so this is a broken installation.
[[noreturn]] void give_up(const LazyLibrary& library) {
  const char* const why = dlerror();
  std::fflush(stdout);
  std::fprintf(stderr,
               "cupel: found no usable library %s, which this needs (%s); install its package, or "
               "build without it\n",
               library.file, why == nullptr ? "no reason given" : why);
  std::_Exit(3);
}

// A library's own constructors may allocate, and an exception of theirs would end the process.
void* load(const char* file) {
  const cupel::base::AllocationWatch::Deferral deferral;
  return dlopen(file, RTLD_LAZY | RTLD_LOCAL);
}

}  // namespace

// Fills in where the stubs of a library jump to. Threads may come at once: both write
// the same addresses.
extern "C" void cupel_lazy_load(const LazyLibrary* library) {
  static std::mutex one_at_a_time;
  const std::lock_guard lock(one_at_a_time);
  void* const handle = load(library->file);
  if (handle == nullptr) give_up(*library);
  for (std::size_t i = 0; i < library->count; ++i) {
    void* const place = dlsym(handle, library->names[i]);
    if (place == nullptr) give_up(*library);
    library->places[i] = place;
  }
}

// The linker gathers what the callers put into the section of this name.
extern "C" {
// NOLINTBEGIN(bugprone-reserved-identifier): the linker's own names
extern const LazyLibrary* const __start_cupel_lazy_libraries[] __attribute__((weak));
extern const LazyLibrary* const __stop_cupel_lazy_libraries[] __attribute__((weak));
// NOLINTEND(bugprone-reserved-identifier)
}

namespace cupel::base {

std::vector<LazyLibraryState> lazy_libraries(std::string_view part) {
  std::vector<LazyLibraryState> states;
  for (auto at = __start_cupel_lazy_libraries; at != __stop_cupel_lazy_libraries; ++at) {
    if (std::string_view((*at)->file).find(part) == std::string_view::npos) continue;
    const char* why = nullptr;
    if (load((*at)->file) == nullptr) why = dlerror();
    states.push_back({(*at)->file, why == nullptr ? "" : why});
  }
  std::sort(states.begin(), states.end(),
            [](const auto& one, const auto& other) { return one.file < other.file; });
  return states;
}

}  // namespace cupel::base
