# Sets SWIZPROOF_PYTHON: whether `import swizproof` is built. SWIZPROOF_BUILD_PYTHON requests it; an interpreter with its
# headers and pybind11 are needed, and said where they are missing. Not with sanitizers, which the interpreter would need too.
set(SWIZPROOF_PYTHON OFF)
if(SWIZPROOF_BUILD_PYTHON AND SWIZPROOF_BUILD_PROVER AND SWIZPROOF_BUILD_COMMAND)
  if(SWIZPROOF_SANITIZE OR SWIZPROOF_FUZZ)
    message(STATUS "import swizproof: not built, as the sanitizers would have to be in the interpreter")
  else()
    # The first interpreter of the path, the one that `python3` starts. Preferring one with NumPy would be a guess.
    set(Python_FIND_UNVERSIONED_NAMES FIRST)
    set(Python_FIND_STRATEGY LOCATION)
    find_package(Python 3.9 QUIET COMPONENTS Interpreter Development.Module)
    set(pybind11_least 2.10)
    if(Python_VERSION VERSION_GREATER_EQUAL 3.12)
      set(pybind11_least 2.11)  # a module of an older one ends with a segmentation fault there
    endif()
    if(Python_FOUND)
      find_package(pybind11 ${pybind11_least} QUIET CONFIG)
    endif()
    if(Python_FOUND AND pybind11_FOUND)
      set(SWIZPROOF_PYTHON ON)
      message(STATUS "import swizproof: for ${Python_EXECUTABLE} ${Python_VERSION}, by pybind11 ${pybind11_VERSION}")
    else()
      message(STATUS "import swizproof: not built: it needs Python 3.9 with its headers and pybind11 ${pybind11_least} "
                     "(Debian: python3-dev, pybind11-dev; -DPython_EXECUTABLE says which Python)")
    endif()
  endif()
endif()

# swizproof_python_package(TARGET): the package around the module, in the build tree (PYTHONPATH is build/.../python) and
# installed (SWIZPROOF_PYTHON_INSTALL_DIR, component `python`).
function(swizproof_python_package target)
  set(package ${PROJECT_BINARY_DIR}/python/swizproof)
  # A wheel has the libraries next to the package. RPATH, not RUNPATH: it is for the libraries of these libraries too.
  set_target_properties(${target} PROPERTIES LIBRARY_OUTPUT_DIRECTORY ${package} INSTALL_RPATH "$ORIGIN/../swizproof.libs")
  target_link_options(${target} PRIVATE -Wl,--disable-new-dtags)
  file(GLOB sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/python/swizproof/*.py ${PROJECT_SOURCE_DIR}/src/python/swizproof/*.pyi)
  list(APPEND sources ${PROJECT_SOURCE_DIR}/src/python/swizproof/py.typed)
  set(copies "")
  foreach(source IN LISTS sources)
    get_filename_component(name ${source} NAME)
    list(APPEND copies ${package}/${name})
    add_custom_command(OUTPUT ${package}/${name} DEPENDS ${source} VERBATIM
                       COMMAND ${CMAKE_COMMAND} -E copy ${source} ${package}/${name})
  endforeach()
  # The functions, written from the description of the command line in the module.
  set(questions ${package}/_questions.py)
  set(writer ${PROJECT_SOURCE_DIR}/src/python/questions.py)
  add_custom_command(OUTPUT ${questions} DEPENDS ${target} ${writer} VERBATIM
                     COMMAND ${Python_EXECUTABLE} ${writer} ${package})
  add_custom_target(${target}_package ALL DEPENDS ${copies} ${questions})
  if(SWIZPROOF_INSTALL)
    set(SWIZPROOF_PYTHON_INSTALL_DIR lib/python${Python_VERSION_MAJOR}.${Python_VERSION_MINOR}/site-packages
        CACHE STRING "Where `cmake --install` puts the Python package, from the prefix")
    install(TARGETS ${target} LIBRARY DESTINATION ${SWIZPROOF_PYTHON_INSTALL_DIR}/swizproof COMPONENT python)
    install(FILES ${sources} ${questions} DESTINATION ${SWIZPROOF_PYTHON_INSTALL_DIR}/swizproof COMPONENT python)
  endif()
endfunction()
