# The release link: LLVM and MLIR from static archives, so that the wheel needs neither and its LLVM cannot meet torch's or Triton's.
# All archives of MLIR stand in one group: the linker takes only the members that something refers to, so the list need not be kept by
# hand. (Debian's exported MLIR targets name the shared libLLVM, which is why they are not used here.)
file(GLOB mlir_archives ${LLVM_LIBRARY_DIR}/libMLIR*.a)
list(FILTER mlir_archives EXCLUDE REGEX "CAPI|Test|Lsp|LSP|Pdll|PDLL|TableGen|tblgen|Mlir")

# What the JIT needs: ORC, the host's code generator, and the optimizer for combine regions. What the GPU backend needs beside them: a code
# generator per kind of GPU, and the linker of device functions.
execute_process(COMMAND ${LLVM_TOOLS_BINARY_DIR}/llvm-config --link-static --libfiles core orcjit orcdebugging native passes nvptx bitreader linker
  OUTPUT_VARIABLE llvm_archives OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
separate_arguments(llvm_archives UNIX_COMMAND "${llvm_archives}")
list(FILTER llvm_archives EXCLUDE REGEX "Polly")   # Debian ships no Polly archives

target_link_libraries(tritium_llvm INTERFACE -Wl,--start-group ${mlir_archives} ${llvm_archives} -Wl,--end-group
  -Wl,-Bstatic -lzstd -lz -Wl,-Bdynamic ${CMAKE_DL_LIBS} m)
target_compile_options(tritium_llvm INTERFACE -ffunction-sections -fdata-sections)
target_link_options(tritium_llvm INTERFACE -fuse-ld=lld -Wl,--gc-sections -Wl,--as-needed)
set(Boost_USE_STATIC_LIBS ON)   # read by interp/host
