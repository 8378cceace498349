// Wording: what the reports for people share. Numbers, names, and text in markup.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/text/escape.hpp"
#include "data/history/history.hpp"
#include "engine/explain/why/explain.hpp"

namespace cupel::report {

// "12,345". For people: JSON and lines for scripts have plain digits.
std::string grouped(std::uint64_t number);
// "1 transaction", "12,345 transactions", "2 histories".
std::string counted(std::uint64_t number, std::string_view noun);

using text::in_markup;

}  // namespace cupel::report
