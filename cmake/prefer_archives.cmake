# What every run uses is linked in, where the system has it as an archive: each shared
# library costs the start of the process as much as a small check does.

# The imported targets whose names match, from their .so to the .a beside it.
function(cupel_prefer_archives regex)
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
