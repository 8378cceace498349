# Writes OUTPUT, a C++ file that holds the bytes of the library LIBRARY; without one, none.
set(bytes "")
if(LIBRARY)
  file(READ ${LIBRARY} bytes HEX)
  string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${bytes}")
endif()
file(WRITE ${OUTPUT} "// Made by embed.cmake.
#include \"engines/postgres_engine.hpp\"

namespace cupel::engines {

namespace {
constexpr unsigned char kLibrary[] = {${bytes}0};
}  // namespace

std::string_view weak_table_library() {
  return {reinterpret_cast<const char*>(kLibrary), sizeof kLibrary - 1};
}

}  // namespace cupel::engines
")
