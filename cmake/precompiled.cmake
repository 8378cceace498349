# cupel_precompiled(TARGET layers|tests): the target's files start with the headers that most
# of them include anyway, compiled once: a quarter of the time of compiling goes into
# reading them. One set for the layers and one, with GoogleTest, for the tests. Without
# CUPEL_PCH nothing changes: no file may count on a header that it does not include.
# With CUPEL_INSTALL the tests go without: a library's header is compiled with -fPIC then, and fits
# no program, which is compiled with -fPIE.
set(CUPEL_COMMON_HEADERS
  <algorithm> <array> <chrono> <cstdint> <functional> <limits> <map> <memory> <optional> <set>
  <span> <string> <string_view> <utility> <variant> <vector>
  <absl/container/flat_hash_map.h> <absl/container/flat_hash_set.h> <fmt/format.h>)

if(CUPEL_PCH)
  file(CONFIGURE OUTPUT ${CMAKE_BINARY_DIR}/precompiled.cpp CONTENT "// The headers are compiled with this.\n")
  add_library(cupel_headers_of_layers OBJECT ${CMAKE_BINARY_DIR}/precompiled.cpp)
  target_link_libraries(cupel_headers_of_layers PRIVATE fmt::fmt absl::flat_hash_map absl::flat_hash_set)
  # As the layers: the option changes what the compiler predefines.
  target_compile_options(cupel_headers_of_layers PRIVATE -Wpedantic)
  target_precompile_headers(cupel_headers_of_layers PRIVATE ${CUPEL_COMMON_HEADERS})
endif()

function(cupel_precompiled target set)
  if(NOT CUPEL_PCH OR (set STREQUAL "tests" AND CUPEL_INSTALL))
    return()
  endif()
  if(set STREQUAL "tests" AND NOT TARGET cupel_headers_of_tests)
    add_library(cupel_headers_of_tests OBJECT ${CMAKE_BINARY_DIR}/precompiled.cpp)
    target_link_libraries(cupel_headers_of_tests PRIVATE fmt::fmt absl::flat_hash_map absl::flat_hash_set GTest::gtest)
    target_precompile_headers(cupel_headers_of_tests PRIVATE ${CUPEL_COMMON_HEADERS} <gtest/gtest.h>)
  endif()
  # The headers were compiled with the options of these libraries, and fit no file that lacks them.
  target_link_libraries(${target} PRIVATE fmt::fmt)
  if(set STREQUAL "tests")
    target_compile_options(${target} PRIVATE $<TARGET_PROPERTY:GTest::gtest,INTERFACE_COMPILE_OPTIONS>)
  endif()
  target_precompile_headers(${target} REUSE_FROM cupel_headers_of_${set})
endfunction()
