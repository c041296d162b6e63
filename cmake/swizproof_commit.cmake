# cmake -D source=FOLDER -D out=FILE -P swizproof_commit.cmake: a header with the commit of the checkout, empty outside of one. Written
# only if it changes, since what includes it is compiled anew.
execute_process(COMMAND git -C "${source}" rev-parse --short=8 HEAD OUTPUT_VARIABLE commit OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
set(text "#pragma once\n#define SWIZPROOF_COMMIT \"${commit}\"\n")
if(EXISTS "${out}")
  file(READ "${out}" old)
endif()
if(NOT "${old}" STREQUAL "${text}")
  file(WRITE "${out}" "${text}")
endif()
