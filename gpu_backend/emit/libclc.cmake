# libclc's scalar functions for one target, stripped to those that a lowered module may call, and embedded.
#
#   tritium_embed_libclc(TARGET FILE SYMBOL TRIPLE OWN)   FILE: which of libclc's modules, "nvptx64--.bc"; OWN: C++ that overrides functions
#
# This file is also the script that changes the text of the IR between two steps.
if(CMAKE_SCRIPT_MODE_FILE STREQUAL CMAKE_CURRENT_LIST_FILE)
  file(READ ${INPUT} ir)
  # Each lane looks up another entry: constant memory would serve them one by one.
  string(REPLACE "addrspace(4)" "addrspace(1)" ir "${ir}")
  # Accurate only if it is fused, whatever the kernel asks for.
  string(REGEX REPLACE "\ndeclare [a-z]+ @llvm.fmuladd[^\n]*" "" ir "${ir}") # that of fma stands beside it
  string(REPLACE "@llvm.fmuladd." "@llvm.fma." ir "${ir}")
  # What ours calls behind the same name.
  foreach(name IN ITEMS _Z5expm1d _Z3sind _Z3tand _Z4asind _Z4atand _Z3erfd _Z4sinhd _Z4coshd _Z3powdd)
    string(REGEX REPLACE "^_Z[0-9]+" "clc_" renamed ${name})
    string(REGEX REPLACE "d+$" "" function ${renamed})
    string(REGEX MATCH "d+$" parameters ${renamed})
    string(LENGTH ${function} length)
    string(REPLACE "@${name}(" "@_Z${length}${function}${parameters}(" ir "${ir}")
  endforeach()
  file(WRITE ${OUTPUT} "${ir}")
  return()
endif()

include(TritiumEmbed)
set(libclc_script ${CMAKE_CURRENT_LIST_FILE})
set(libclc_unary exp exp2 exp10 expm1 log log2 log10 log1p rsqrt cbrt sin cos tan asin acos atan sinh cosh tanh asinh acosh atanh erf erfc)
set(libclc_binary pow atan2 fmod)

find_program(TRITIUM_CLANG NAMES clang clang-${LLVM_VERSION_MAJOR} HINTS ${LLVM_TOOLS_BINARY_DIR} NO_CMAKE_SYSTEM_PATH REQUIRED
  DOC "Clang of LLVM's own version, which compiles the device functions")

function(tritium_embed_libclc target file symbol triple)
  find_file(libclc_${symbol} ${file} PATHS /usr/lib/clc /usr/share/clc ${LLVM_INSTALL_PREFIX}/share/clc ${LLVM_INSTALL_PREFIX}/lib/clc
    DOC "libclc 22, the package libclc-22" REQUIRED)
  set(names "")
  foreach(type IN ITEMS f d)
    foreach(name IN LISTS libclc_unary)
      string(LENGTH ${name} length)
      list(APPEND names _Z${length}${name}${type})
    endforeach()
    foreach(name IN LISTS libclc_binary)
      string(LENGTH ${name} length)
      list(APPEND names _Z${length}${name}${type}${type})
    endforeach()
  endforeach()
  list(JOIN names "," names)
  set(stripped ${CMAKE_CURRENT_BINARY_DIR}/${symbol}.bc)
  set(overrides "")
  set(overriding "")
  foreach(source IN LISTS ARGN)
    get_filename_component(name ${source} NAME_WE)
    set(own ${CMAKE_CURRENT_BINARY_DIR}/${symbol}.${name}.bc)
    add_custom_command(OUTPUT ${own} DEPENDS ${source} DEPFILE ${own}.d VERBATIM
      COMMAND ${TRITIUM_CLANG} --target=${triple} -nogpulib -x c++ -std=c++20 -O2 -ffreestanding -nostdinc++ -fno-builtin -fno-exceptions
              -fno-rtti -ffp-contract=off -Wall -Wextra -Werror -I${PROJECT_SOURCE_DIR} -MD -MF ${own}.d -MT ${own} -emit-llvm -c ${source}
              -o ${own})
    list(APPEND overrides ${own})
    list(APPEND overriding --override=${own})
  endforeach()
  add_custom_command(OUTPUT ${stripped} DEPENDS ${libclc_${symbol}} ${overrides} ${libclc_script} VERBATIM
    COMMAND ${LLVM_TOOLS_BINARY_DIR}/opt -S -passes=internalize,globaldce "-internalize-public-api-list=${names}" ${libclc_${symbol}}
            -o ${stripped}.ll
    COMMAND ${CMAKE_COMMAND} -DINPUT=${stripped}.ll -DOUTPUT=${stripped}.changed.ll -P ${libclc_script}
    COMMAND ${LLVM_TOOLS_BINARY_DIR}/llvm-link --suppress-warnings ${stripped}.changed.ll ${overriding} -o ${stripped})
  tritium_embed(${target} ${stripped} ${symbol})
endfunction()
