# cpack writes scripts that call ldconfig into a package with a shared library. Debian has a trigger for
# this (debian_packages.cmake) and calls such scripts a mistake: they are taken out again.
foreach(package IN LISTS CPACK_PACKAGE_FILES)
  if(NOT package MATCHES "/libcupel0_")
    continue()
  endif()
  set(root ${CPACK_TEMPORARY_DIRECTORY}/without_ldconfig)
  file(REMOVE_RECURSE ${root})
  execute_process(COMMAND dpkg-deb --raw-extract ${package} ${root} COMMAND_ERROR_IS_FATAL ANY)
  file(REMOVE ${root}/DEBIAN/postinst ${root}/DEBIAN/postrm)
  execute_process(COMMAND dpkg-deb --root-owner-group --build ${root} ${package}
                  OUTPUT_QUIET COMMAND_ERROR_IS_FATAL ANY)
endforeach()
