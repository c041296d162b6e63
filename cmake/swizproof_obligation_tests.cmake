# Included by ctest when it starts: a test for each obligation of `file`. A file that cannot be read is a test that fails,
# with the reason; so is a program that is not built.
execute_process(COMMAND "${program}" prove "${file}" --list
                OUTPUT_VARIABLE names ERROR_VARIABLE error RESULT_VARIABLE result)
if(NOT result EQUAL 0)
  add_test("${prefix}${file}" "${program}" prove "${file}" --list)
  return()
endif()
set(on_arch "")
if(arch)
  set(on_arch --arch ${arch})
endif()
# A list would split names at semicolons and brackets.
while(names MATCHES "^([^\n]+)\n")
  set(name "${CMAKE_MATCH_1}")
  string(LENGTH "${name}\n" length)
  string(SUBSTRING "${names}" ${length} -1 names)
  add_test("${prefix}${name}" "${program}" prove "${file}" --name "${name}" --timeout ${timeout} ${on_arch})
  set_tests_properties("${prefix}${name}" PROPERTIES TIMEOUT ${timeout})
endwhile()
