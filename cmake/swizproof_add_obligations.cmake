# swizproof_add_obligations(FILE layouts.toml [ARCH sm_90,sm_100] [PREFIX prefix] [TIMEOUT seconds])
# swizproof_add_obligations(NAME layouts SOURCES layouts.cpp... [LIBRARIES target...] [ARCH ...] [PREFIX prefix] [TIMEOUT seconds])
#
# Adds one CTest for each [[obligation]] of a TOML file, named <prefix><name of the obligation>; the prefix is the
# file's name and a dot unless it is given. ctest reads the file when it starts, so that a change of it is seen at once.
# TIMEOUT bounds each test (default 300) and each solver query within it. ARCH: one architecture, or several; every test checks all
# of them (default sm_90, or the architecture of a descriptor's number; an obligation's own goes before).
#
# With SOURCES a program prints the obligations: it includes the header with the kernel's own CuTe types and
# calls swizproof::print_obligation() for them (swizproof/cute.hpp). So the proof is about the type that the kernel uses. The
# program, executable NAME, is built with the project and run then; it links LIBRARIES, such as CUTLASS's.
#
# swizproof::swizproof may be installed (find_package) or built with the project (add_subdirectory).
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
  if(NOT DEFINED arg_PREFIX)
    get_filename_component(name "${arg_FILE}" NAME_WE)
    set(arg_PREFIX "${name}.")
  endif()
  swizproof_obligation_tests("${arg_FILE}" "${arg_PREFIX}" "${arg_TIMEOUT}" "${arg_ARCH}")
endfunction()

# swizproof_add_kernel_obligations(TARGET gemm [EXCESS 0] [DATA allow|refuse] [KERNEL regex] [BLOCK shape...] [ARCH sm_90] [PREFIX prefix]
#                                  [TIMEOUT seconds])
#
# Compiles the CUDA sources of a target to PTX as well, with the target's own options, and adds one CTest for each kernel: that none
# of its accesses to shared memory takes more than EXCESS wavefronts above the ideal (default 0). DATA: whether accesses that depend on
# data pass (default allow); with EXCESS, those with a bound above it do not. KERNEL: the kernels whose names it finds. BLOCK: shapes of the block, as TOML has them: 128, or "[32, 8]";
# needed for kernels that read tid.y or tid.z and have no .reqntid. PREFIX: of the tests' names, the target and a dot unless it is given.
function(swizproof_add_kernel_obligations)
  cmake_parse_arguments(PARSE_ARGV 0 arg "" "TARGET;EXCESS;DATA;KERNEL;ARCH;PREFIX;TIMEOUT" "BLOCK")
  if(NOT TARGET "${arg_TARGET}" OR arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "swizproof_add_kernel_obligations(TARGET target [EXCESS 0] [DATA allow|refuse] [KERNEL regex] [BLOCK shape...] "
                        "[ARCH sm_90] [PREFIX prefix] [TIMEOUT seconds])")
  endif()
  set(target ${arg_TARGET})
  get_target_property(sources ${target} SOURCES)
  get_target_property(folder ${target} SOURCE_DIR)
  list(FILTER sources INCLUDE REGEX "\\.cu$")
  if(NOT sources)
    message(FATAL_ERROR "swizproof_add_kernel_obligations: ${target} has no source named *.cu")
  endif()
  list(TRANSFORM sources REPLACE "^([^/].*)$" "${folder}/\\1")
  add_library(${target}_ptx OBJECT ${sources})
  foreach(property IN ITEMS CUDA_STANDARD CUDA_EXTENSIONS CUDA_ARCHITECTURES)
    get_target_property(value ${target} ${property})
    if(value)
      list(GET value 0 value)  # PTX is of one architecture
      set_target_properties(${target}_ptx PROPERTIES ${property} "${value}")
    endif()
  endforeach()
  set_target_properties(${target}_ptx PROPERTIES CUDA_PTX_COMPILATION ON)
  target_compile_definitions(${target}_ptx PRIVATE $<TARGET_PROPERTY:${target},COMPILE_DEFINITIONS>)
  target_include_directories(${target}_ptx PRIVATE $<TARGET_PROPERTY:${target},INCLUDE_DIRECTORIES>)
  target_compile_options(${target}_ptx PRIVATE $<TARGET_PROPERTY:${target},COMPILE_OPTIONS> -lineinfo)

  set(rest "")
  if(arg_KERNEL)
    string(APPEND rest "name = '''${arg_KERNEL}'''\n")
  endif()
  if(arg_BLOCK)
    list(JOIN arg_BLOCK ", " shapes)
    string(APPEND rest "block = [${shapes}]\n")
  endif()
  if(NOT arg_DATA)
    set(arg_DATA allow)
  endif()
  if(DEFINED arg_EXCESS)
    string(APPEND rest "excess = ${arg_EXCESS}\n")
  endif()
  string(APPEND rest "data = \"${arg_DATA}\"\n")
  string(REPLACE "," "$<COMMA>" rest "${rest}")
  string(REPLACE ">" "$<ANGLE-R>" rest "${rest}")
  string(REPLACE "$<COMMA$<ANGLE-R>" "$<COMMA>" rest "${rest}")
  set(file "${CMAKE_CURRENT_BINARY_DIR}/${target}_kernels.toml")
  file(GENERATE OUTPUT "${file}"
       CONTENT "[[kernel]]\nptx = \"$<JOIN:$<TARGET_OBJECTS:${target}_ptx>,\"\n${rest}\n[[kernel]]\nptx = \">\"\n${rest}")
  if(NOT DEFINED arg_PREFIX)
    set(arg_PREFIX "${target}.")
  endif()
  swizproof_obligation_tests("${file}" "${arg_PREFIX}" "${arg_TIMEOUT}" "${arg_ARCH}")
endfunction()

# Of both: a CTest for each obligation in a file, which ctest reads when it starts.
function(swizproof_obligation_tests arg_FILE arg_PREFIX arg_TIMEOUT arg_ARCH)
  get_filename_component(file "${arg_FILE}" ABSOLUTE)
  get_filename_component(name "${arg_FILE}" NAME_WE)
  if(NOT arg_TIMEOUT)
    set(arg_TIMEOUT 300)
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
