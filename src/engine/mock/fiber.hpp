// Fiber: a function with a stack of its own, in the thread that runs it, which hands over and
// is gone on with later.
//
// Made of the C library's contexts: a hand-over costs well under a microsecond, where one
// between threads costs several, and a hundred on a busy machine. The sanitizers are notified.
#pragma once

#include <exception>
#include <functional>
#include <memory>

namespace cupel::mock {

class Fiber {
 public:
  // The function outlives it. Throws std::bad_alloc where there is no memory for a stack.
  explicit Fiber(const std::function<void()>& function);
  // It has not begun, or it has ended: what is on the stack of another is lost, not destroyed.
  ~Fiber();
  Fiber(const Fiber&) = delete;
  Fiber& operator=(const Fiber&) = delete;

  // Until the function calls leave(), or ends. Not after it has ended.
  void run();
  [[nodiscard]] bool ended() const;
  // What the function threw.
  [[nodiscard]] std::exception_ptr thrown() const;

  // Back to who called run() of the fiber that this is in; nothing where it is in none.
  static void leave();
  // The caller is in a fiber.
  static bool inside();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace cupel::mock
