# What `cmake --install` installs, and the Debian packages that `cpack` makes of it.
#
#   component     Debian package  content
#   program       cupel           the program, the manual pages and completions of all, the schema of the JSON
#                                 output; cupel-proved, where OCaml was found (proofs/CMakeLists.txt)
#   run           cupel-run       the program of run, campaign, lab, merge and doctor
#   mock          cupel-mock      the program of mock
#   crdt          cupel-crdt      the program of crdt
#   postgres …    cupel-postgres … the driver of cupel-run, a plug-in
#   mpi           cupel-mpi       cupel-mpi and its manual pages, where MPI was found
#   library       libcupel0       libcupel.so.0
#   development   libcupel-dev    headers, find_package(cupel), cupel.pc
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

# ---- program
install(TARGETS cupel RUNTIME COMPONENT program)
set(pages ${CMAKE_BINARY_DIR}/pages)
find_program(GZIP gzip REQUIRED)
add_custom_command(OUTPUT ${pages}/man1/cupel.1.gz
  COMMAND ${CMAKE_COMMAND} -E rm -rf ${pages}  # those of commands that are no more
  COMMAND cupel_pages ${pages}
  COMMAND sh -c "${GZIP} -9n ${pages}/man1/*.1 ${pages}/mpi/man1/*.1"
  DEPENDS cupel_pages COMMENT "Manual pages, completions" VERBATIM)
add_custom_target(cupel_manual ALL DEPENDS ${pages}/man1/cupel.1.gz)
install(DIRECTORY ${pages}/man1 DESTINATION ${CMAKE_INSTALL_MANDIR} COMPONENT program)
install(FILES ${pages}/completions/cupel
  DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions COMPONENT program)
install(FILES ${pages}/completions/_cupel
  DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/vendor-completions COMPONENT program)
install(FILES ${pages}/completions/cupel.fish
  DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d COMPONENT program)
install(FILES docs/reference/output.schema.json DESTINATION ${CMAKE_INSTALL_DATADIR}/cupel COMPONENT program)

# ---- run, mock, crdt: found by the program (src/apps/programs.hpp)
foreach(part run mock crdt)
  if(TARGET cupel-${part})
    install(TARGETS cupel-${part} RUNTIME DESTINATION ${CMAKE_INSTALL_LIBEXECDIR}/cupel COMPONENT ${part})
  endif()
endforeach()

# ---- the drivers of cupel-run, which are plug-ins: a component each, "postgres" …
get_property(plugged_drivers GLOBAL PROPERTY CUPEL_PLUGGED_DRIVERS)
foreach(driver IN LISTS plugged_drivers)
  install(TARGETS cupel-driver-${driver} LIBRARY DESTINATION ${CMAKE_INSTALL_LIBEXECDIR}/cupel COMPONENT ${driver})
endforeach()

# ---- mpi
if(TARGET cupel_mpi)
  install(TARGETS cupel_mpi RUNTIME COMPONENT mpi)
  install(DIRECTORY ${pages}/mpi/man1 DESTINATION ${CMAKE_INSTALL_MANDIR} COMPONENT mpi)
endif()

# ---- library, development
install(TARGETS cupel_library EXPORT cupel
  LIBRARY COMPONENT library NAMELINK_COMPONENT development)
install(DIRECTORY include/cupel TYPE INCLUDE COMPONENT development)
set(config ${CMAKE_INSTALL_LIBDIR}/cmake/cupel)
install(EXPORT cupel NAMESPACE cupel:: FILE cupel-config.cmake DESTINATION ${config} COMPONENT development)
write_basic_package_version_file(cupel-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/cupel-config-version.cmake DESTINATION ${config} COMPONENT development)
# The folder can be moved, and is with `cmake --install --prefix`.
file(RELATIVE_PATH CUPEL_PREFIX_FROM_PC /prefix/${CMAKE_INSTALL_LIBDIR}/pkgconfig /prefix)
configure_file(cmake/cupel.pc.in cupel.pc @ONLY)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/cupel.pc
  DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT development)

# ---- Debian packages: `cpack --config build/package/CPackConfig.cmake`
include(cmake/debian_packages.cmake)
