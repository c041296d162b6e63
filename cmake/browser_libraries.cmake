# The libraries of a browser: those that are headers alone, taken from the host, whose other headers em++ must not see; of the
# others nothing is compiled. And what the C++ library of emscripten leaves out.
set(headers ${CMAKE_BINARY_DIR}/headers)
find_path(SWIZPROOF_HOST_HEADERS nlohmann/json.hpp PATHS /usr/include /usr/local/include REQUIRED NO_DEFAULT_PATH NO_CMAKE_FIND_ROOT_PATH)
foreach(library fmt nlohmann CLI)
  if(NOT EXISTS ${SWIZPROOF_HOST_HEADERS}/${library})
    message(FATAL_ERROR "no ${SWIZPROOF_HOST_HEADERS}/${library}: install libfmt-dev, nlohmann-json3-dev, libcli11-dev")
  endif()
  file(COPY ${SWIZPROOF_HOST_HEADERS}/${library} DESTINATION ${headers})
endforeach()
include_directories(SYSTEM ${headers} ${PROJECT_SOURCE_DIR}/src/page/standard)

foreach(library fmt::fmt nlohmann_json::nlohmann_json CLI11::CLI11 re2::re2 simdjson::simdjson z3::libz3 tomlplusplus::tomlplusplus Threads::Threads)
  add_library(${library} INTERFACE IMPORTED)
endforeach()
target_compile_definitions(fmt::fmt INTERFACE FMT_HEADER_ONLY)

# Exceptions of WebAssembly itself: of JavaScript, each call that may throw would go through it.
add_compile_options(-fwasm-exceptions)
add_link_options(-fwasm-exceptions)
