# cupel_split_debug(TARGET): the program without debug information, which goes into
# TARGET.debug beside it; debuggers find it there by the link that the program holds.
function(cupel_split_debug target)
  if(NOT CUPEL_SPLIT_DEBUG OR NOT CMAKE_OBJCOPY OR NOT CMAKE_STRIP)
    return()
  endif()
  add_custom_command(TARGET ${target} POST_BUILD
    COMMAND ${CMAKE_OBJCOPY} --only-keep-debug $<TARGET_FILE:${target}> $<TARGET_FILE:${target}>.debug
    COMMAND ${CMAKE_STRIP} --strip-all $<TARGET_FILE:${target}>
    COMMAND ${CMAKE_OBJCOPY} --add-gnu-debuglink=$<TARGET_FILE:${target}>.debug $<TARGET_FILE:${target}>
    COMMENT "Debug information of ${target} into ${target}.debug" VERBATIM)
endfunction()
