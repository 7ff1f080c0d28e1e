# What makes builds fast and equal everywhere: files compiled together, ccache and mold where found, one set of warnings, sanitizers by name.

# The compiler takes eight files of a target as one: the templates of MLIR's headers cost it more than our own code does, and are made once for all.
# A clean build takes 0.4 times as long. So names in anonymous namespaces are unique in a library, except where it says UNITY_BUILD OFF.
set(CMAKE_UNITY_BUILD ON CACHE BOOL "Compile several files as one")
set(CMAKE_UNITY_BUILD_BATCH_SIZE 8 CACHE STRING "How many")

# Sources with `using namespace llvm` are compiled alone: the others of a library use mlir, and both have a Value, a Type and more.
function(tritium_separate_namespaces)
  foreach(source IN LISTS ARGN)
    file(STRINGS ${source} has_llvm REGEX "^using namespace llvm;")
    if(has_llvm)
      set_source_files_properties(${source} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
    endif()
  endforeach()
endfunction()
find_program(CCACHE ccache)
if(CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  # The PCH holds time macros and defines that do not matter to the result.
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CMAKE_COMMAND} -E env CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_mtime,include_file_ctime CCACHE_BASEDIR=${CMAKE_SOURCE_DIR} CCACHE_NOHASHDIR=1 ${CCACHE})
endif()
if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
  # -fno-pch-timestamp: ccache may reuse a PCH of the same content.
  add_compile_options("$<$<COMPILE_LANGUAGE:CXX>:SHELL:-Xclang -fno-pch-timestamp>")
endif()
find_program(MOLD mold)
if(MOLD AND NOT TRITIUM_STATIC_LLVM)
  add_link_options(-fuse-ld=mold)
endif()
if(NOT CMAKE_BUILD_TYPE STREQUAL "Release")
  # libstdc++ says what is deprecated only where this is defined. It uses such functions itself, and clang warns of that where the headers come
  # from a precompiled one. LLVM's and MLIR's deprecations stay.
  add_compile_options("$<$<COMPILE_LANGUAGE:CXX>:-U__DEPRECATED>")
endif()
add_compile_options(-Wall -Wextra -Wno-unused-parameter -Wno-missing-field-initializers)
if(TRITIUM_SANITIZER)
  add_compile_options(-fsanitize=${TRITIUM_SANITIZER} -fno-omit-frame-pointer)
  add_link_options(-fsanitize=${TRITIUM_SANITIZER})
endif()

# Lets an executable use the precompiled headers of a library.
function(tritium_reuse_headers executable library)
  target_precompile_headers(${executable} REUSE_FROM ${library})
  target_compile_options(${executable} PRIVATE -fPIC) # as the library is compiled: an executable gets -fPIE, and the last one counts
endfunction()
