// Contexts and stacks.
#include "engine/mock/fiber.hpp"

#include <cxxabi.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

#include <cassert>
#include <new>
#include <utility>
#include <vector>

#ifdef __has_feature
#if __has_feature(address_sanitizer) && !defined(__SANITIZE_ADDRESS__)
#define __SANITIZE_ADDRESS__ 1
#endif
#if __has_feature(thread_sanitizer) && !defined(__SANITIZE_THREAD__)
#define __SANITIZE_THREAD__ 1
#endif
#endif
#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif
#ifdef __SANITIZE_THREAD__
#include <sanitizer/tsan_interface.h>
#endif

namespace cupel::mock {

namespace {

// Of a thread's usual size; the system gives only what is touched.
constexpr std::size_t kStackBytes = std::size_t{8} << 20;

// Stacks are kept for the next fibers of the thread.
class Stacks {
 public:
  ~Stacks() {
    for (void* const bottom : kept_) ::munmap(bottom, kStackBytes);
  }
  void* take() {
    if (!kept_.empty()) {
      void* const bottom = kept_.back();
      kept_.pop_back();
#ifdef __SANITIZE_ADDRESS__
      __asan_unpoison_memory_region(bottom, kStackBytes);  // frames that never returned
#endif
      return bottom;
    }
    void* const bottom = ::mmap(nullptr, kStackBytes, PROT_READ | PROT_WRITE,
                                MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
    if (bottom == MAP_FAILED) throw std::bad_alloc();
    // What runs over its end is stopped there.
    if (::mprotect(bottom, static_cast<std::size_t>(::sysconf(_SC_PAGESIZE)), PROT_NONE) != 0) {
      ::munmap(bottom, kStackBytes);
      throw std::bad_alloc();
    }
    return bottom;
  }
  void give_back(void* bottom) {
    if (kept_.size() < kKept) {
      kept_.push_back(bottom);
    } else {
      ::munmap(bottom, kStackBytes);
    }
  }

 private:
  static constexpr std::size_t kKept = 16;
  std::vector<void*> kept_;
};

thread_local Stacks stacks;

// The exceptions that are being handled here: a fiber may leave inside of a handler.
struct Handled {
  void* caught;
  unsigned uncaught;
};

}  // namespace

struct Fiber::State {
  const std::function<void()>* function;
  void* stack = nullptr;
  ucontext_t context, back;
  State* outer = nullptr;  // in which run() was called
  bool ended = false;
  std::exception_ptr thrown;
  Handled handled = {nullptr, 0};
#ifdef __SANITIZE_ADDRESS__
  void* fake = nullptr;  // the sanitizer's, of the one that is not running
  void* fake_back = nullptr;
  const void* back_bottom = nullptr;
  std::size_t back_size = 0;
#endif
#ifdef __SANITIZE_THREAD__
  void* fiber = nullptr;
  void* fiber_back = nullptr;
#endif

  void enter();
  void leave();
  void arrived();
  void swap_handled() {
    auto* const mine = reinterpret_cast<Handled*>(abi::__cxa_get_globals());
    std::swap(*mine, handled);
  }
};

namespace {

thread_local void* here = nullptr;  // the State of the fiber that runs

}  // namespace

// In the fiber, whenever it goes on.
void Fiber::State::arrived() {
#ifdef __SANITIZE_ADDRESS__
  __sanitizer_finish_switch_fiber(fake, &back_bottom, &back_size);
#endif
}

void Fiber::State::enter() {
  outer = static_cast<State*>(here);
  here = this;
  swap_handled();
#ifdef __SANITIZE_ADDRESS__
  __sanitizer_start_switch_fiber(&fake_back, stack, kStackBytes);
#endif
#ifdef __SANITIZE_THREAD__
  fiber_back = __tsan_get_current_fiber();
  __tsan_switch_to_fiber(fiber, 0);
#endif
  ::swapcontext(&back, &context);
#ifdef __SANITIZE_ADDRESS__
  __sanitizer_finish_switch_fiber(fake_back, nullptr, nullptr);
#endif
  swap_handled();
  here = outer;
}

void Fiber::State::leave() {
#ifdef __SANITIZE_ADDRESS__
  // None is kept of one that ends.
  __sanitizer_start_switch_fiber(ended ? nullptr : &fake, back_bottom, back_size);
#endif
#ifdef __SANITIZE_THREAD__
  __tsan_switch_to_fiber(fiber_back, 0);
#endif
  ::swapcontext(&context, &back);
  arrived();
}

Fiber::Fiber(const std::function<void()>& function) : state_(std::make_unique<State>()) {
  State& state = *state_;
  state.function = &function;
  state.stack = stacks.take();
  ::getcontext(&state.context);
  state.context.uc_stack.ss_sp = state.stack;
  state.context.uc_stack.ss_size = kStackBytes;
  state.context.uc_link = nullptr;
  // Takes numbers only: the one that runs is known.
  ::makecontext(
      &state.context,
      +[] {
        State& mine = *static_cast<State*>(here);
        mine.arrived();
        try {
          (*mine.function)();
        } catch (...) {
          mine.thrown = std::current_exception();
        }
        mine.ended = true;
        mine.leave();
      },
      0);
#ifdef __SANITIZE_THREAD__
  state.fiber = __tsan_create_fiber(0);
#endif
}

Fiber::~Fiber() {
#ifdef __SANITIZE_THREAD__
  __tsan_destroy_fiber(state_->fiber);
#endif
  stacks.give_back(state_->stack);
}

void Fiber::run() {
  assert(!state_->ended);
  state_->enter();
}

bool Fiber::ended() const {
  return state_->ended;
}

std::exception_ptr Fiber::thrown() const {
  return state_->thrown;
}

bool Fiber::inside() {
  return here != nullptr;
}

void Fiber::leave() {
  if (here != nullptr) static_cast<State*>(here)->leave();
}

}  // namespace cupel::mock
