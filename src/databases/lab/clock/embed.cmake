# Writes OUTPUT, a C++ file that holds the bytes of the library LIBRARY.
file(READ ${LIBRARY} bytes HEX)
string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${bytes}")
file(WRITE ${OUTPUT} "// Made by embed.cmake.
#include \"databases/lab/clock/clock.hpp\"

namespace cupel::lab {

namespace {
constexpr unsigned char kLibrary[] = {${bytes}};
}  // namespace

std::string_view clock_library() {
  return {reinterpret_cast<const char*>(kLibrary), sizeof kLibrary};
}

}  // namespace cupel::lab
")
