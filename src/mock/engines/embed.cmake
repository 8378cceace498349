# Writes OUTPUT, a C++ file that defines FUNCTION, declared in HEADER: the bytes of the library
# LIBRARY; without one, none.
set(bytes "")
if(LIBRARY)
  file(READ ${LIBRARY} bytes HEX)
  string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${bytes}")
endif()
file(WRITE ${OUTPUT} "// Made by embed.cmake.
#include \"${HEADER}\"

namespace cupel::engines {

std::string_view ${FUNCTION}() {
  static constexpr unsigned char kLibrary[] = {${bytes}0};
  return {reinterpret_cast<const char*>(kLibrary), sizeof kLibrary - 1};
}

}  // namespace cupel::engines
")
