# swizproof_add_obligations(FILE layouts.toml [ARCH sm_90,sm_100] [PREFIX prefix] [TIMEOUT seconds])
# swizproof_add_obligations(NAME layouts SOURCES layouts.cpp... [LIBRARIES target...] [ARCH ...] [PREFIX prefix] [TIMEOUT seconds])
#
# Adds one CTest for each [[obligation]] of a TOML file, named <prefix><name of the obligation>; the prefix is the
# file's name and a dot unless it is given. ctest reads the file when it starts, so that a change of it is seen at once.
# TIMEOUT bounds each test (default 300) and each solver query within it. ARCH: one architecture, or several, each of which every
# test is about (default sm_90; an obligation's own goes before).
#
# With SOURCES the obligations are what a program prints: one that includes the header with the kernel's own CuTe types and
# calls swizproof::print_obligation() for them (swizproof/cute.hpp). So the type that the kernel uses is what is proved. The
# program, executable NAME, is built with the project and run then; LIBRARIES are what it links, such as CUTLASS's.
#
# swizproof::swizproof may be installed (find_package) or built beside the project (add_subdirectory).
function(swizproof_add_obligations)
  cmake_parse_arguments(PARSE_ARGV 0 arg "" "FILE;NAME;PREFIX;TIMEOUT;ARCH" "SOURCES;LIBRARIES")
  if(arg_SOURCES AND arg_NAME AND NOT arg_FILE)
    add_executable(${arg_NAME} ${arg_SOURCES})
    target_link_libraries(${arg_NAME} PRIVATE swizproof::hardware ${arg_LIBRARIES})
    set(arg_FILE "${CMAKE_CURRENT_BINARY_DIR}/${arg_NAME}.toml")
    add_custom_command(OUTPUT "${arg_FILE}" COMMAND ${arg_NAME} > "${arg_FILE}" DEPENDS ${arg_NAME} VERBATIM)
    add_custom_target(${arg_NAME}_obligations ALL DEPENDS "${arg_FILE}")
  elseif(arg_SOURCES OR arg_NAME OR arg_LIBRARIES)
    set(arg_FILE "")
  endif()
  if(NOT arg_FILE OR arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "swizproof_add_obligations(FILE layouts.toml [ARCH sm_90,sm_100] [PREFIX prefix] [TIMEOUT seconds]) or "
                        "swizproof_add_obligations(NAME layouts SOURCES layouts.cpp... [LIBRARIES target...] ...)")
  endif()
  get_filename_component(file "${arg_FILE}" ABSOLUTE)
  get_filename_component(name "${arg_FILE}" NAME_WE)
  if(NOT DEFINED arg_PREFIX)
    set(arg_PREFIX "${name}.")
  endif()
  if(NOT arg_TIMEOUT)
    set(arg_TIMEOUT 300)
  endif()
  if(NOT arg_ARCH)
    set(arg_ARCH sm_90)
  endif()
  string(MD5 digest "${file} ${arg_PREFIX}")
  set(tests "${CMAKE_CURRENT_BINARY_DIR}/${name}_${digest}")
  # Multi-configuration generators write one file a configuration; ctest is told the one it is run with.
  file(GENERATE OUTPUT "${tests}_$<CONFIG>.cmake" CONTENT
"set(program [==[$<TARGET_FILE:swizproof::swizproof>]==])
set(file [==[${file}]==])
set(prefix [==[${arg_PREFIX}]==])
set(timeout ${arg_TIMEOUT})
set(arch ${arg_ARCH})
include([==[${CMAKE_CURRENT_FUNCTION_LIST_DIR}/swizproof_obligation_tests.cmake]==])
")
  get_property(multi GLOBAL PROPERTY GENERATOR_IS_MULTI_CONFIG)
  if(multi)
    file(WRITE "${tests}.cmake" "include(\"${tests}_\${CTEST_CONFIGURATION_TYPE}.cmake\")\n")
  else()
    file(WRITE "${tests}.cmake" "include([==[${tests}_${CMAKE_BUILD_TYPE}.cmake]==])\n")
  endif()
  set_property(DIRECTORY APPEND PROPERTY TEST_INCLUDE_FILES "${tests}.cmake")
endfunction()
