# Finds Z3 and defines z3::libz3: by upstream's own CMake package where there is one, else by
# header, library and z3.pc, which is all that Debian ships.
find_package(Z3 CONFIG QUIET)
if(TARGET z3::libz3)
  set(Z3_FOUND TRUE)
  return()
endif()

find_path(Z3_INCLUDE_DIR z3.h PATH_SUFFIXES z3)
find_library(Z3_LIBRARY z3)
if(Z3_INCLUDE_DIR AND EXISTS "${Z3_INCLUDE_DIR}/z3_version.h")
  file(STRINGS "${Z3_INCLUDE_DIR}/z3_version.h" Z3_VERSION_LINE REGEX "define Z3_FULL_VERSION")
  string(REGEX MATCH "[0-9]+\\.[0-9]+\\.[0-9]+" Z3_VERSION "${Z3_VERSION_LINE}")
endif()

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(Z3 REQUIRED_VARS Z3_LIBRARY Z3_INCLUDE_DIR VERSION_VAR Z3_VERSION)
mark_as_advanced(Z3_INCLUDE_DIR Z3_LIBRARY)

if(Z3_FOUND AND NOT TARGET z3::libz3)
  add_library(z3::libz3 UNKNOWN IMPORTED)
  set_target_properties(z3::libz3 PROPERTIES IMPORTED_LOCATION "${Z3_LIBRARY}"
                                             INTERFACE_INCLUDE_DIRECTORIES "${Z3_INCLUDE_DIR}")
endif()
