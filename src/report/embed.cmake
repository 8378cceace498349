# Writes OUTPUT, a C++ file that holds the bytes of CSS and JS: `cmake -DCSS=… -DJS=…
# -DOUTPUT=… -P embed.cmake`. As numbers, so that no character needs escaping.
set(text "// Made by embed.cmake.\n#include \"report/web_assets.hpp\"\n\nnamespace cupel::report {\n\nnamespace {\n\n")
foreach(name CSS JS)
  file(READ ${${name}} bytes HEX)
  string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${bytes}")
  string(APPEND text "constexpr unsigned char k${name}[] = {${bytes}};\n")
endforeach()
string(APPEND text "
std::string_view text_of(const unsigned char* bytes, std::size_t size) {
  return {reinterpret_cast<const char*>(bytes), size};
}

}  // namespace

std::string_view report_css() { return text_of(kCSS, sizeof kCSS); }
std::string_view report_js() { return text_of(kJS, sizeof kJS); }

}  // namespace cupel::report
")
file(WRITE ${OUTPUT} "${text}")
