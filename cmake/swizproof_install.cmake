# What `cmake --install` and cpack put where. Components: `program`, `share` (manual, completions, examples), `headers` (core and
# hardware, for kernels too, with swizproof_add_obligations), `library` (what swizproof::prover links), `python`; and, only when
# request, `bundle`: the program with all that it needs (cmake/swizproof_bundle.cmake).
include(CMakePackageConfigHelpers)
include(CheckCXXSourceCompiles)
set(CMAKE_INSTALL_DEFAULT_COMPONENT_NAME library)
set(package ${CMAKE_INSTALL_LIBDIR}/cmake/swizproof)

get_property(rooms GLOBAL PROPERTY SWIZPROOF_LIBRARY_ROOMS)
set(headers swizproof_core swizproof_hardware)
list(REMOVE_ITEM rooms ${headers})
install(TARGETS ${headers} EXPORT swizproofTargets FILE_SET HEADERS DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT headers)
install(TARGETS ${rooms} swizproof_proofs swizproof_prover EXPORT swizproofProverTargets
        ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} FILE_SET HEADERS DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(FILES include/swizproof/cute.hpp include/swizproof/cute_partition.hpp include/swizproof/cute_obligation.hpp
        DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/swizproof COMPONENT headers)  # needs CuTe's headers

# For find_package, and for pkg-config.
configure_package_config_file(cmake/swizproofConfig.cmake.in swizproofConfig.cmake INSTALL_DESTINATION ${package})
write_basic_package_version_file(swizproofConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/swizproofConfig.cmake ${CMAKE_CURRENT_BINARY_DIR}/swizproofConfigVersion.cmake
              cmake/swizproof_add_obligations.cmake cmake/swizproof_obligation_tests.cmake
        DESTINATION ${package} COMPONENT headers)
install(FILES cmake/FindZ3.cmake cmake/FindRE2.cmake DESTINATION ${package})
install(EXPORT swizproofTargets NAMESPACE swizproof:: DESTINATION ${package} COMPONENT headers)
install(EXPORT swizproofProverTargets NAMESPACE swizproof:: DESTINATION ${package})
list(TRANSFORM rooms REPLACE "swizproof_(.+)" "-lswizproof_\\1" OUTPUT_VARIABLE libraries)
list(REVERSE libraries)  # who needs, before what is needed
list(JOIN libraries " " libraries)
file(RELATIVE_PATH to_prefix "/${CMAKE_INSTALL_LIBDIR}/pkgconfig" "/")
string(REGEX REPLACE "/$" "" to_prefix "${to_prefix}")
foreach(name IN ITEMS swizproof swizproof-prover)
  configure_file(cmake/${name}.pc.in ${name}.pc @ONLY)
endforeach()
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/swizproof.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT headers)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/swizproof-prover.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)

if(SWIZPROOF_BUILD_COMMAND)
  install(TARGETS swizproof EXPORT swizproofTargets RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT program)

  # The manual and the completions are what the program says of its own options.
  set(said ${CMAKE_CURRENT_BINARY_DIR}/manual)
  file(MAKE_DIRECTORY ${said})
  set(from "")
  foreach(what IN ITEMS "swizproof.1|--man" "swizproof|--completions=bash" "_swizproof|--completions=zsh" "swizproof.fish|--completions=fish")
    string(REPLACE "|" ";" what ${what})
    list(GET what 0 file)
    list(GET what 1 option)
    add_custom_command(OUTPUT ${said}/${file} COMMAND swizproof ${option} > ${said}/${file} DEPENDS swizproof VERBATIM)
    list(APPEND from ${said}/${file})
  endforeach()
  add_custom_target(swizproof_manual ALL DEPENDS ${from})
  set(share ${CMAKE_INSTALL_DATADIR})
  install(FILES ${said}/swizproof.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1 COMPONENT share)
  install(FILES ${said}/swizproof DESTINATION ${share}/bash-completion/completions COMPONENT share)
  install(FILES ${said}/_swizproof DESTINATION ${share}/zsh/site-functions COMPONENT share)
  install(FILES ${said}/swizproof.fish DESTINATION ${share}/fish/vendor_completions.d COMPONENT share)
  install(FILES proofs/examples/layouts.toml proofs/examples/operands.toml gpu/examples/transpose.cu gpu/examples/transpose.toml gpu/examples/ptx/transpose.ptx gpu/evidence/traces/transpose.trace
          DESTINATION ${share}/swizproof/examples COMPONENT share)
  install(FILES README.md CHANGELOG.md DESTINATION ${share}/doc/swizproof COMPONENT share)
  install(FILES LICENSE DESTINATION ${share}/doc/swizproof COMPONENT share RENAME copyright)

  # The program with its libraries and their loader: for any Linux. The launcher is linked statically, where the C library can be.
  set(CMAKE_REQUIRED_LINK_OPTIONS -static)
  check_cxx_source_compiles("#include <cstdio>\nint main() { std::puts(\"\"); }" SWIZPROOF_LINKS_STATICALLY)
  unset(CMAKE_REQUIRED_LINK_OPTIONS)
  if(SWIZPROOF_LINKS_STATICALLY AND CMAKE_SYSTEM_NAME STREQUAL "Linux" AND CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|AMD64)$")
    set(loader ld-linux-x86-64.so.2)
    add_executable(swizproof_launcher src/launcher.cpp)
    target_compile_definitions(swizproof_launcher PRIVATE SWIZPROOF_LOADER="${loader}")
    target_compile_options(swizproof_launcher PRIVATE -fno-exceptions -fno-rtti)
    target_link_options(swizproof_launcher PRIVATE -static)
    target_link_libraries(swizproof_launcher PRIVATE swizproof_options)
    if(SWIZPROOF_SANITIZE)  # which cannot be linked so: it is read by clang-tidy alone
      set_target_properties(swizproof_launcher PROPERTIES EXCLUDE_FROM_ALL ON)
    endif()
    install(CODE "set(program [==[$<TARGET_FILE:swizproof>]==])\nset(launcher [==[$<TARGET_FILE:swizproof_launcher>]==])\n
                  set(strip [==[${CMAKE_STRIP}]==])\nset(loader ${loader})\n
                  include([==[${CMAKE_CURRENT_SOURCE_DIR}/cmake/swizproof_bundle.cmake]==])"
            COMPONENT bundle EXCLUDE_FROM_ALL)
  endif()
endif()

# cpack -G TGZ: the archive that runs on any x86-64 Linux. cpack -G DEB: a package of this distribution, by its libraries.
set(CPACK_PACKAGE_NAME swizproof)
set(CPACK_PACKAGE_VENDOR "the swizproof authors")
set(CPACK_PACKAGE_CONTACT "the swizproof authors <swizproof@localhost>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "proofs about swizzles, layouts and banks of CUDA shared memory")
set(CPACK_PACKAGE_DESCRIPTION "Decides for every tile origin and every base address whether accesses to a tile in shared
memory have bank conflicts, and names the lanes that collide; finds the best
swizzle, compares layouts, derives descriptors of wgmma and boxes of TMA.")
set(CPACK_RESOURCE_FILE_LICENSE ${CMAKE_CURRENT_SOURCE_DIR}/LICENSE)
set(CPACK_PACKAGE_FILE_NAME swizproof-${PROJECT_VERSION}-linux-x86_64)
set(CPACK_GENERATOR TGZ)
set(CPACK_PROJECT_CONFIG_FILE ${CMAKE_CURRENT_SOURCE_DIR}/cmake/swizproof_cpack.cmake)
set(CPACK_STRIP_FILES ON)
set(CPACK_ARCHIVE_COMPONENT_INSTALL ON)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_COMPONENTS_GROUPING ALL_COMPONENTS_IN_ONE)
set(CPACK_THREADS 0)
# 0.1.0-1~debian12: a package is for the distribution whose libraries it depends on.
if(EXISTS /etc/os-release)
  file(STRINGS /etc/os-release release REGEX "^(ID|VERSION_ID)=")
  list(SORT release)
  string(REGEX REPLACE "(ID|VERSION_ID)=|[\";]" "" release "${release}")
  set(CPACK_DEBIAN_PACKAGE_RELEASE "1~${release}")
endif()
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION devel)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_SUGGESTS "cvc5, cadical, boolector")  # of `recheck`
set(CPACK_DEBIAN_COMPRESSION_TYPE xz)
include(CPack)
