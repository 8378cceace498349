// The style and the script of the pages: the files of web/, put into the program
// when it is built (embed.cmake).
#pragma once

#include <string_view>

namespace cupel::report {

std::string_view report_css();
std::string_view report_js();

}  // namespace cupel::report
