// Compilers of other languages, for the tests with clients in Java and Go.
#pragma once

#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

namespace cupel::test {

inline bool is_command(const std::string& name) {
  return std::system(("command -v " + name + " >/dev/null 2>&1").c_str()) == 0;
}

// The command that compiles Java files into a folder: a JDK's compiler with its warnings as
// errors (but for libraries that a library names and Debian leaves out), or Eclipse's (Debian's
// ecj), which needs no JDK and has warnings of its own. None: empty.
inline std::vector<std::string> java_compiler() {
  if (is_command("javac")) return {"javac", "-Xlint:all,-path", "-Werror"};
  if (is_command("ecj")) return {"ecj", "-17", "-nowarn", "-proc:none"};
  return {};
}

// What Go has compiled of its own library, kept between the tests: a minute of CPU time each.
inline std::pair<std::string, std::string> go_cache() {
  return {"GOCACHE", CUPEL_GO_CACHE};
}

}  // namespace cupel::test
