# swizproof_page_around(TARGET): the page, one file of HTML that loads nothing. TARGET is the program as one file of JavaScript with
# its WebAssembly inside; style, page and worker are added to it. Called by CMake itself as a script, it writes that file.
if(CMAKE_SCRIPT_MODE_FILE)
  file(READ ${FOLDER}/page.html text)
  foreach(part SHARED_STYLE STYLE SCRIPT WORKER MODULE)
    file(READ ${${part}} inner)
    if(inner MATCHES "</(script|style)|<!--")
      message(FATAL_ERROR "${${part}} would end the element of the page that contains it")
    endif()
    string(REPLACE "{{${part}}}" "${inner}" text "${text}")
  endforeach()
  file(WRITE ${PAGE} "${text}")
  file(SIZE ${PAGE} bytes)
  math(EXPR kibibytes "${bytes} / 1024")
  message(STATUS "${PAGE}: ${kibibytes} KiB")
  return()
endif()

function(swizproof_page_around target)
  set_target_properties(${target} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/page OUTPUT_NAME module)
  # Debian's emscripten finds its own parser of JavaScript only by way of Debian's node.
  set_target_properties(${target} PROPERTIES RULE_LAUNCH_LINK "${CMAKE_COMMAND} -E env NODE_PATH=/usr/share/nodejs")
  target_link_options(${target} PRIVATE -O2 --bind -sSINGLE_FILE -sMODULARIZE -sEXPORT_NAME=swizproof -sENVIRONMENT=worker
                      -sALLOW_MEMORY_GROWTH -sTOTAL_STACK=8MB -sDYNAMIC_EXECUTION=0)
  set(folder ${PROJECT_SOURCE_DIR}/src/page)
  set(page ${PROJECT_BINARY_DIR}/swizproof.html)
  set(parts SHARED_STYLE=${PROJECT_SOURCE_DIR}/src/picture/style.css STYLE=${folder}/style.css SCRIPT=${folder}/page.js
            WORKER=${folder}/worker.js MODULE=$<TARGET_FILE:${target}>)
  list(TRANSFORM parts PREPEND -D OUTPUT_VARIABLE definitions)
  add_custom_command(OUTPUT ${page} VERBATIM
    COMMAND ${CMAKE_COMMAND} ${definitions} -DFOLDER=${folder} -DPAGE=${page} -P ${CMAKE_CURRENT_FUNCTION_LIST_FILE}
    DEPENDS ${target} ${folder}/page.html ${folder}/style.css ${folder}/page.js ${folder}/worker.js
            ${PROJECT_SOURCE_DIR}/src/picture/style.css ${CMAKE_CURRENT_FUNCTION_LIST_FILE})
  add_custom_target(page ALL DEPENDS ${page})
endfunction()
