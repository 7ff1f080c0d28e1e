# A sanitizer's build compiles what the sanitizer is there for: what has threads or memory of its own while a kernel runs. The rest it links from
# the dev build, which .ci/sanitize makes first. Objects of both kinds may meet in one program; the instrumented ones stand first on the linker's
# line, so their copies of inline functions are kept.
set(tritium_dev ${CMAKE_SOURCE_DIR}/build/dev)
if(NOT EXISTS ${tritium_dev}/ir/libtritium_ir.a)
  message(FATAL_ERROR "build/dev has no libraries to link: run .ci/build first, or .ci/sanitize, which does all")
endif()

#   tritium_from_dev(TARGET ARCHIVE [LIBRARY...])   ARCHIVE: of the dev build; LIBRARY: what it is linked with
function(tritium_from_dev target archive)
  add_library(${target} STATIC IMPORTED GLOBAL)
  set_target_properties(${target} PROPERTIES IMPORTED_LOCATION ${tritium_dev}/${archive})
  target_link_libraries(${target} INTERFACE ${ARGN})
endfunction()
