# CUPEL_WASM: the core as WebAssembly, for Node and the browser: what include/cupel/cupel.h declares
# but its recorder, in one thread. Preset `wasm`, with Debian's emscripten; tools/wasm_core.sh.
#
# The libraries are compiled here from Debian's source packages, which the script unpacks.
set(CUPEL_DEBIAN_SOURCES "" CACHE PATH "Folder with unpacked source packages (tools/debian_source_packages.sh)")
foreach(package simdjson fmtlib abseil nlohmann-json3 libzstd zlib xz-utils cadical)
  if(NOT IS_DIRECTORY "${CUPEL_DEBIAN_SOURCES}/${package}")
    message(FATAL_ERROR "CUPEL_WASM needs the source of ${package} in CUPEL_DEBIAN_SOURCES; tools/wasm_core.sh gets it")
  endif()
endforeach()
# Exceptions of the virtual machine: those in JavaScript are slow. All code needs the option.
add_compile_options(-fwasm-exceptions)
add_link_options(-fwasm-exceptions)

# cupel_wasm_library(TARGET INCLUDES … SOURCES … DEFINITIONS …): one of those libraries. Its warnings are not ours.
function(cupel_wasm_library target)
  cmake_parse_arguments(LIBRARY "" "" "INCLUDES;SOURCES;DEFINITIONS" ${ARGN})
  add_library(${target} STATIC ${LIBRARY_SOURCES})
  target_include_directories(${target} SYSTEM PUBLIC ${LIBRARY_INCLUDES})
  target_compile_definitions(${target} PRIVATE ${LIBRARY_DEFINITIONS})
  target_compile_options(${target} PRIVATE -w)
endfunction()

set(from ${CUPEL_DEBIAN_SOURCES})
find_package(Threads REQUIRED)

cupel_wasm_library(wasm_fmt INCLUDES ${from}/fmtlib/include SOURCES ${from}/fmtlib/src/format.cc)
add_library(fmt::fmt ALIAS wasm_fmt)

cupel_wasm_library(wasm_simdjson INCLUDES ${from}/simdjson/singleheader
                   SOURCES ${from}/simdjson/singleheader/simdjson.cpp DEFINITIONS SIMDJSON_THREADS_ENABLED=0)
add_library(simdjson::simdjson ALIAS wasm_simdjson)

add_library(wasm_json INTERFACE)
target_include_directories(wasm_json SYSTEM INTERFACE ${from}/nlohmann-json3/include)
add_library(nlohmann_json::nlohmann_json ALIAS wasm_json)

file(GLOB cadical ${from}/cadical/src/*.cpp)
list(FILTER cadical EXCLUDE REGEX "/(cadical|mobical|ccadical|ipasir)\\.cpp$")
cupel_wasm_library(wasm_cadical INCLUDES ${from}/cadical/src SOURCES ${cadical}
                   DEFINITIONS NBUILD NDEBUG NUNLOCKED QUIET)
set(CADICAL_LIBRARY wasm_cadical)
set(CADICAL_INCLUDE ${from}/cadical/src)

file(GLOB zstd ${from}/libzstd/lib/common/*.c ${from}/libzstd/lib/compress/*.c ${from}/libzstd/lib/decompress/*.c)
cupel_wasm_library(wasm_zstd INCLUDES ${from}/libzstd/lib SOURCES ${zstd} DEFINITIONS ZSTD_DISABLE_ASM)
set(ZSTD_LIBRARY wasm_zstd)

file(GLOB zlib ${from}/zlib/*.c)
list(FILTER zlib EXCLUDE REGEX "/gz[a-z]*\\.c$")
cupel_wasm_library(wasm_zlib INCLUDES ${from}/zlib SOURCES ${zlib})
set(ZLIB_LIBRARY wasm_zlib)

# What decompresses. Its own CMakeLists.txt makes programs too, and not with this compiler.
set(xz ${from}/xz-utils/src)
file(GLOB lzma ${xz}/liblzma/check/*.c ${xz}/liblzma/common/*.c ${xz}/liblzma/delta/*.c ${xz}/liblzma/lz/*.c
     ${xz}/liblzma/lzma/*.c ${xz}/liblzma/simple/*.c)
list(FILTER lzma EXCLUDE REGEX
     "(_small|_tablegen|encoder[a-z0-9_]*|_mt|outqueue|string_conversion|lz_encoder_mf|hardware_[a-z]*|/easy_[a-z_]*)\\.c$")
cupel_wasm_library(wasm_lzma
  INCLUDES ${xz}/liblzma/api SOURCES ${lzma}
  DEFINITIONS HAVE_CHECK_CRC32 HAVE_CHECK_CRC64 HAVE_CHECK_SHA256 HAVE_DECODERS HAVE_DECODER_ARM HAVE_DECODER_ARMTHUMB
              HAVE_DECODER_ARM64 HAVE_DECODER_DELTA HAVE_DECODER_IA64 HAVE_DECODER_LZMA1 HAVE_DECODER_LZMA2
              HAVE_DECODER_POWERPC HAVE_DECODER_SPARC HAVE_DECODER_X86 HAVE_STDBOOL_H HAVE__BOOL HAVE_STDINT_H
              HAVE_INTTYPES_H TUKLIB_SYMBOL_PREFIX=lzma_ PACKAGE_NAME="XZ")
foreach(folder common check lz rangecoder lzma delta simple)
  target_include_directories(wasm_lzma PRIVATE ${xz}/liblzma/${folder})
endforeach()
target_include_directories(wasm_lzma PRIVATE ${xz}/common)
set(LZMA_LIBRARY wasm_lzma)

set(BUILD_TESTING OFF)
set(ABSL_PROPAGATE_CXX_STD ON)
add_subdirectory(${from}/abseil absl EXCLUDE_FROM_ALL SYSTEM)
# Debian's abseil links libatomic, which this compiler has not and does not need.
function(cupel_without_libatomic folder)
  get_property(targets DIRECTORY ${folder} PROPERTY BUILDSYSTEM_TARGETS)
  foreach(target IN LISTS targets)
    foreach(property LINK_LIBRARIES INTERFACE_LINK_LIBRARIES)
      get_target_property(libraries ${target} ${property})
      if(libraries)
        list(FILTER libraries EXCLUDE REGEX "-latomic|-Wl,--(push|pop)-state")
        set_target_properties(${target} PROPERTIES ${property} "${libraries}")
      endif()
    endforeach()
  endforeach()
  get_property(folders DIRECTORY ${folder} PROPERTY SUBDIRECTORIES)
  foreach(inner IN LISTS folders)
    cupel_without_libatomic(${inner})
  endforeach()
endfunction()
cupel_without_libatomic(${from}/abseil)
