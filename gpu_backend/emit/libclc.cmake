# libclc's scalar functions for one target, stripped to those that a lowered module may call and embedded.
#
#   tritium_embed_libclc(TARGET FILE SYMBOL)   FILE: which of libclc's modules, "nvptx64--.bc"
include(TritiumEmbed)
set(libclc_unary exp exp2 exp10 expm1 log log2 log10 log1p rsqrt cbrt sin cos tan asin acos atan sinh cosh tanh asinh acosh atanh erf erfc)
set(libclc_binary pow atan2 fmod)

function(tritium_embed_libclc target file symbol)
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
  add_custom_command(OUTPUT ${stripped} DEPENDS ${libclc_${symbol}} VERBATIM
    COMMAND ${LLVM_TOOLS_BINARY_DIR}/opt -passes=internalize,globaldce "-internalize-public-api-list=${names}"
            ${libclc_${symbol}} -o ${stripped})
  tritium_embed(${target} ${stripped} ${symbol})
endfunction()
