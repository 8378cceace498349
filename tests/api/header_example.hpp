// A public header opens with an example, which is the code of its test, with what it returns.
#pragma once

#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <sstream>
#include <string>

#include "source_dir.hpp"

namespace cupel::test {

inline std::string text_of(const std::string& path) {
  std::ifstream in(path);
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

// `test` defines `std::string example()`, whose lines stand in `header` as a comment, and below
// them, each after `//   `, those that it returned.
inline void expect_example(const std::string& header_path, const std::string& test_path,
                           const std::string& returned) {
  const auto header = text_of(CUPEL_SOURCE_DIR "/" + header_path);
  std::istringstream test(text_of(CUPEL_SOURCE_DIR "/" + test_path));
  std::string code;
  bool inside = false;
  for (std::string line; std::getline(test, line);) {
    if (line == "std::string example() {") {
      inside = true;
    } else if (inside && line == "}") {
      break;
    } else if (inside) {
      code += "// " + line + "\n";
    }
  }
  ASSERT_FALSE(code.empty());
  EXPECT_NE(header.find(code), std::string::npos) << "the header should hold\n" << code;
  std::string shown;
  std::istringstream lines(returned);
  for (std::string line; std::getline(lines, line);) shown += "//   " + line + "\n";
  EXPECT_NE(header.find(shown), std::string::npos) << "the header should hold\n" << shown;
}

}  // namespace cupel::test
