# Debian packages of the components of install.cmake, by cpack. Each has the copyright and the
# changelog that Debian asks for; dependencies on libraries are what the files need.
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME cupel)
set(CPACK_PACKAGE_CONTACT "the cupel maintainers <cupel@example.invalid>")
set(CPACK_PACKAGE_VERSION ${PROJECT_VERSION})
set(CPACK_PACKAGE_DIRECTORY ${CMAKE_BINARY_DIR}/packages)
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_COMPONENTS_GROUPING IGNORE)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS ON)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)

# Debian's version: 0.2.0~dev comes before 0.2.0.
string(REPLACE "-" "~" deb_version ${CUPEL_VERSION})
set(CPACK_DEBIAN_PACKAGE_VERSION ${deb_version})
set(CPACK_DEBIAN_PACKAGE_RELEASE 1)

string(TIMESTAMP date "%a, %d %b %Y %H:%M:%S +0000" UTC)
set(documents ${CMAKE_BINARY_DIR}/debian)
configure_file(packaging/debian/changelog.in ${documents}/changelog.Debian @ONLY)
execute_process(COMMAND ${GZIP} -9nk --force changelog.Debian WORKING_DIRECTORY ${documents} COMMAND_ERROR_IS_FATAL ANY)

# cupel_debian(COMPONENT PACKAGE SECTION DEPENDS DESCRIPTION): the first line of the last is its title.
macro(cupel_debian component package section depends description)
  install(FILES packaging/debian/copyright ${documents}/changelog.Debian.gz
          DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/${package} COMPONENT ${component})
  string(TOUPPER ${component} upper)
  set(CPACK_DEBIAN_${upper}_PACKAGE_NAME ${package})
  set(CPACK_DEBIAN_${upper}_PACKAGE_SECTION ${section})
  set(CPACK_DEBIAN_${upper}_PACKAGE_DEPENDS "${depends}")
  set(CPACK_COMPONENT_${upper}_DESCRIPTION "${description}")
  list(APPEND CPACK_COMPONENTS_ALL ${component})
endmacro()

# The driver of cupel-run that is a plug-in; it brings its client library.
macro(cupel_driver_package name databases)
  if(TARGET cupel-driver-${name})
    cupel_debian(${name} cupel-${name} database "cupel-run (= ${deb_version}-1)"
"cupel with ${databases}
The driver for ${databases}, which cupel-run loads when it is asked for.")
    list(APPEND suggested cupel-${name})
  endif()
endmacro()

set(CPACK_COMPONENTS_ALL)
cupel_debian(program cupel database ""
"assays which isolation levels a database really gives
cupel decides which isolation levels a recorded history satisfies, proves each
verdict and explains each violation.
.
The package cupel-run brings the commands that generate workloads and run them
against databases, with faults where asked; cupel-mock a database that is as
weak as its isolation level allows, for tests of applications; cupel-crdt the
check of replicated data types.")
set(programs cupel-run cupel-crdt)
cupel_debian(run cupel-run database "cupel (= ${deb_version}-1)"
"cupel: workloads on real databases, with faults
The commands run, campaign, lab, merge and doctor of cupel.
.
SQLite is built in. The drivers for other databases are the packages
cupel-postgres, cupel-mysql and others. cupel doctor says what is there.")
if(TARGET cupel-mock)
  cupel_debian(mock cupel-mock database "cupel (= ${deb_version}-1)"
"cupel: a database as weak as its isolation level allows
The command mock of cupel: a simulated database for tests of applications.")
  list(APPEND programs cupel-mock)
endif()
cupel_debian(crdt cupel-crdt database "cupel (= ${deb_version}-1)"
"cupel: replicated data types
The command crdt of cupel: checks what replicas of sets, registers, counters,
lists and documents returned.")
string(JOIN ", " CPACK_DEBIAN_PROGRAM_PACKAGE_RECOMMENDS ${programs})
set(suggested)
cupel_driver_package(postgres PostgreSQL)
cupel_driver_package(mysql "MariaDB and MySQL")
cupel_driver_package(redis Redis)
cupel_driver_package(rocksdb RocksDB)
cupel_driver_package(etcd etcd)
cupel_driver_package(zookeeper ZooKeeper)
cupel_driver_package(nats NATS)
string(JOIN ", " CPACK_DEBIAN_RUN_PACKAGE_SUGGESTS ${suggested})
if(TARGET cupel_mpi)
  cupel_debian(mpi cupel-mpi database "cupel (= ${deb_version}-1)"
"cupel check of one history by several processes of MPI
cupel-mpi is cupel with MPI: it divides the check of one history between
processes, on one machine or many. Verdict, explanation and certificate are the
same for any number of processes. The program mpirun starts them.")
  set(CPACK_DEBIAN_MPI_PACKAGE_RECOMMENDS "openmpi-bin")
endif()
cupel_debian(library libcupel0 libs ""
"library that assays which isolation levels a history satisfies
The checker, the explanations, the recorder and the mock store of cupel, with
interfaces in C and C++.")
cupel_debian(development libcupel-dev libdevel "libcupel0 (= ${deb_version}-1)"
"library that assays isolation levels: development files
Headers for C and C++, a configuration for CMake (find_package(cupel)), and one
for pkg-config.")
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_SHLIBDEPS OFF)
file(WRITE ${documents}/triggers "activate-noawait ldconfig\n")
set(CPACK_DEBIAN_LIBRARY_PACKAGE_CONTROL_EXTRA ${documents}/triggers)
set(CPACK_POST_BUILD_SCRIPTS ${PROJECT_SOURCE_DIR}/cmake/without_ldconfig.cmake)
include(CPack)
