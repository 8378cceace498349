// The terminal that standard output is.
#pragma once

#include <cstddef>
#include <optional>

namespace cupel::apps {

// How wide it is; none: standard output is no terminal, or a very narrow one.
std::optional<std::size_t> output_columns();

}  // namespace cupel::apps
