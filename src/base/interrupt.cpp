// Interrupt: see the header.
#include "base/interrupt.hpp"

namespace cupel::base {

namespace {
std::atomic<const std::atomic<bool>*> interrupt = nullptr;
}  // namespace

void interrupt_by(const std::atomic<bool>* flag) {
  interrupt = flag;
}

bool interrupted() {
  const auto* flag = interrupt.load(std::memory_order_relaxed);
  return flag != nullptr && flag->load(std::memory_order_relaxed);
}

std::string event_of(Limit limit) {
  if (limit == Limit::kTime && interrupted()) return "interrupted";
  return std::string(to_string(limit)) + " limit met";
}

}  // namespace cupel::base
