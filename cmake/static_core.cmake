# CUPEL_CORE: cupel-core, the commands that need no server and no library beside the kernel (docs/how-to/install.md
# lists them), as one static program for any Linux of this processor.
#
# Debian has no archives of fmt and simdjson. They are compiled here, each from one file of its source,
# which tools/static_core.sh takes from Debian's source packages.
set(CUPEL_STATIC_SOURCES "" CACHE PATH "Folder with simdjson.cpp and format.cc, of the installed headers' versions")
if(NOT EXISTS "${CUPEL_STATIC_SOURCES}/simdjson.cpp")
  message(FATAL_ERROR "CUPEL_CORE needs CUPEL_STATIC_SOURCES; tools/static_core.sh gets them")
endif()

# cupel_archive_of(TARGET NAME SOURCE): an imported library's code, compiled here.
function(cupel_archive_of target name source)
  add_library(${name} STATIC ${source})
  get_target_property(includes ${target} INTERFACE_INCLUDE_DIRECTORIES)
  if(includes)
    target_include_directories(${name} SYSTEM PRIVATE ${includes})
  endif()
  get_target_property(configurations ${target} IMPORTED_CONFIGURATIONS)
  set(archive ${CMAKE_CURRENT_BINARY_DIR}/lib${name}.a)
  foreach(configuration IN LISTS configurations)
    set_target_properties(${target} PROPERTIES IMPORTED_LOCATION_${configuration} ${archive}
                          IMPORTED_SONAME_${configuration} "")
  endforeach()
  set_target_properties(${target} PROPERTIES INTERFACE_COMPILE_DEFINITIONS "")
endfunction()
cupel_archive_of(fmt::fmt cupel_fmt ${CUPEL_STATIC_SOURCES}/format.cc)
cupel_archive_of(simdjson::simdjson cupel_simdjson ${CUPEL_STATIC_SOURCES}/simdjson.cpp)
