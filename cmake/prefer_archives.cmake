# What every run uses is linked in, where the system has it as an archive: each shared
# library costs the start of the process as much as a small check does. What is installed
# (CUPEL_INSTALL) uses the system's shared libraries: Debian's rules want that, and its archives were
# not compiled to be part of libcupel.so.

# cupel_find_library(VARIABLE NAME [REQUIRED]): find_library(), by these rules.
macro(cupel_find_library variable name)
  if(CUPEL_INSTALL)
    find_library(${variable} ${name} ${ARGN})
  else()
    find_library(${variable} NAMES lib${name}.a ${name} ${ARGN})
  endif()
endmacro()

# The imported targets whose names match, from their .so to the .a beside it.
function(cupel_prefer_archives regex)
  if(CUPEL_INSTALL)
    return()
  endif()
  get_property(targets DIRECTORY PROPERTY IMPORTED_TARGETS)
  list(FILTER targets INCLUDE REGEX "${regex}")
  foreach(target IN LISTS targets)
    get_target_property(configurations ${target} IMPORTED_CONFIGURATIONS)
    if(NOT configurations)
      continue()
    endif()
    foreach(configuration IN LISTS configurations)
      get_target_property(shared ${target} IMPORTED_LOCATION_${configuration})
      string(REGEX REPLACE "\\.so[.0-9]*$" ".a" archive "${shared}")
      if(archive MATCHES "\\.a$" AND EXISTS ${archive})
        set_target_properties(${target} PROPERTIES IMPORTED_LOCATION_${configuration} ${archive})
      endif()
    endforeach()
  endforeach()
endfunction()
