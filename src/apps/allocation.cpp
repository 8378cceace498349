// The program's operator new, which asks the memory limit before it allocates:
// see base::AllocationWatch. A library must not replace it for the programs that
// use it, so it is here, linked into the tool alone.
#include <cstdlib>
#include <new>

#include "base/budget.hpp"
#include "base/watched_threads.hpp"

void* operator new(std::size_t size) {
  cupel::base::AllocationWatch::before_allocation(size);
  if (void* place = std::malloc(size == 0 ? 1 : size)) return place;
  cupel::base::system_has_no_more_memory();
  throw std::bad_alloc();
}

void* operator new(std::size_t size, std::align_val_t align) {
  cupel::base::AllocationWatch::before_allocation(size);
  const auto unit = static_cast<std::size_t>(align);
  const auto whole = (size == 0 ? unit : size + unit - 1) / unit * unit;  // aligned_alloc wants it
  if (void* place = std::aligned_alloc(unit, whole)) return place;
  cupel::base::system_has_no_more_memory();
  throw std::bad_alloc();
}

// The library's own would call ours, but a sanitizer's does not.
void* operator new(std::size_t size, const std::nothrow_t&) noexcept {
  try {
    return operator new(size);
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
}
void* operator new[](std::size_t size) {
  return operator new(size);
}
void* operator new[](std::size_t size, const std::nothrow_t&) noexcept {
  return operator new(size, std::nothrow);
}

void operator delete(void* place) noexcept {
  std::free(place);
}
void operator delete[](void* place) noexcept {
  std::free(place);
}
void operator delete[](void* place, std::size_t) noexcept {
  std::free(place);
}
void operator delete(void* place, std::size_t) noexcept {
  std::free(place);
}
void operator delete(void* place, std::align_val_t) noexcept {
  std::free(place);
}
void operator delete(void* place, std::size_t, std::align_val_t) noexcept {
  std::free(place);
}
