# cupel_lazy_library(LAYER NAME SOURCES … LIBRARY imported-target): adds sources to
# a layer whose shared library is loaded at the first need and not at the start of
# the process. Client libraries bring forty others with them, which cost
# ten times what a small check does. The library's functions that the sources call
# become jumps through a table (stubs.cmake writes them in assembly), which the first
# call fills (src/base/lazy_library.cpp). Without CUPEL_LAZY_LIBRARIES, the library is
# linked as any. Layers may share a library: one NAME, one table.
#
# The sources may use functions of the library only, no data: a type with virtual
# functions in the library's headers wants -fno-rtti (NO_RTTI).

set(lazy_default OFF)
if(CMAKE_SYSTEM_NAME STREQUAL "Linux" AND CMAKE_SYSTEM_PROCESSOR STREQUAL "x86_64"
    AND NOT CMAKE_CXX_FLAGS MATCHES "-fsanitize")
  set(lazy_default ON)
endif()
option(CUPEL_LAZY_LIBRARIES "Load client libraries at the first need (Linux on x86-64)" ${lazy_default})
if(CUPEL_LAZY_LIBRARIES)
  enable_language(ASM)
endif()
set(CUPEL_STUBS ${CMAKE_CURRENT_LIST_DIR}/stubs.cmake)

function(cupel_lazy_library layer name)
  cmake_parse_arguments(LAZY "NO_RTTI" "LIBRARY" "SOURCES" ${ARGN})
  if(NOT CUPEL_LAZY_LIBRARIES)
    target_sources(cupel_${layer} PRIVATE ${LAZY_SOURCES})
    # Alone, as the object library below has them.
    set_source_files_properties(${LAZY_SOURCES} TARGET_DIRECTORY cupel_${layer}
                                PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
    target_link_libraries(cupel_${layer} PUBLIC ${LAZY_LIBRARY})
    return()
  endif()
  set(objects cupel_${layer}_${name})
  add_library(${objects} OBJECT ${LAZY_SOURCES})
  target_include_directories(${objects} PRIVATE $<TARGET_PROPERTY:cupel_${layer},INCLUDE_DIRECTORIES>)
  target_compile_options(${objects} PRIVATE $<TARGET_PROPERTY:cupel_${layer},COMPILE_OPTIONS>)
  target_compile_definitions(${objects} PRIVATE $<TARGET_PROPERTY:cupel_${layer},COMPILE_DEFINITIONS>)
  target_link_libraries(${objects} PRIVATE ${LAZY_LIBRARY})
  if(LAZY_NO_RTTI)
    target_compile_options(${objects} PRIVATE -fno-rtti)
  endif()
  set(lazy cupel_lazy_${name})
  if(NOT TARGET ${lazy})
    # Where the library is: the imported target's file, or what pkg-config said to link.
    foreach(property IMPORTED_LOCATION IMPORTED_LOCATION_RELEASE INTERFACE_LINK_LIBRARIES)
      get_target_property(files ${LAZY_LIBRARY} ${property})
      if(files)
        break()
      endif()
    endforeach()
    list(FILTER files INCLUDE REGEX "\\.so")
    if(NOT files)
      message(FATAL_ERROR "${LAZY_LIBRARY}: no shared library found; configure with -DCUPEL_LAZY_LIBRARIES=OFF")
    endif()
    string(REPLACE ";" "|" listed "${files}")
    set(stubs ${CMAKE_CURRENT_BINARY_DIR}/${name}_stubs.s)
    set(callers $<GENEX_EVAL:$<TARGET_PROPERTY:${lazy},CUPEL_CALLERS>>)  # all that later calls add
    add_custom_command(OUTPUT ${stubs}
      COMMAND ${CMAKE_COMMAND} -DNAME=${name} "-DOBJECTS=$<JOIN:${callers},|>" "-DLIBRARIES=${listed}"
              -DNM=${CMAKE_NM} -DOBJDUMP=${CMAKE_OBJDUMP} -DOUTPUT=${stubs} -P ${CUPEL_STUBS}
      DEPENDS ${callers} ${files} ${CUPEL_STUBS}
      COMMENT "Stubs of ${name}" VERBATIM)
    add_library(${lazy} STATIC ${stubs})
    target_link_libraries(${lazy} PUBLIC cupel_base)
  endif()
  set_property(TARGET ${lazy} APPEND PROPERTY CUPEL_CALLERS $<TARGET_OBJECTS:${objects}>)
  target_sources(cupel_${layer} PRIVATE $<TARGET_OBJECTS:${objects}>)
  target_link_libraries(cupel_${layer} PUBLIC ${lazy})
endfunction()
