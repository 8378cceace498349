// How much memory there is.
#pragma once

#include <cstdint>

namespace cupel::base {

// Bytes that this process may come to use before the system runs out: what the machine has free,
// or less where a control group allows less. 0 where the system does not report it.
std::uint64_t usable_memory();

// Bytes of the whole machine, or of the control group; 0 where the system does not report it.
std::uint64_t machine_memory();

}  // namespace cupel::base
