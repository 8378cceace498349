# cupel_unity(TARGET FILE…): with CUPEL_UNITY, the target's files are compiled eight at a time, as
# one: what they include is read once, and a build from nothing takes a third of the time. The
# files named stay alone, because a name of theirs that no other file sees (`Reader`, `kItems`) is
# another file's too. Without CUPEL_UNITY (preset debug) each file is compiled by itself, and
# has to include what it uses.
function(cupel_unity target)
  if(NOT CUPEL_UNITY)
    return()
  endif()
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 8)
  if(ARGN)
    set_source_files_properties(${ARGN} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
  endif()
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    # A private State may hold what only its file knows; GCC takes the file for a header here.
    target_compile_options(${target} PRIVATE -Wno-subobject-linkage)
  endif()
endfunction()
