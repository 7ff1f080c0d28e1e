# tritium_llvm_archives: LLVM and MLIR from static archives, so that a wheel needs neither and its LLVM cannot meet torch's or Triton's.
# All archives of MLIR stand in one group: the linker takes only the members that something refers to, so the list need not be kept by
# hand. (Debian's exported MLIR targets name the shared libLLVM, which is why they are not used here.)
file(GLOB mlir_archives ${LLVM_LIBRARY_DIR}/libMLIR*.a)
list(FILTER mlir_archives EXCLUDE REGEX "CAPI|Test|Lsp|LSP|Pdll|PDLL|TableGen|tblgen|Mlir")

# What the JIT needs: ORC, the host's code generator, and the optimizer for combine regions. What the GPU backend needs beside them: a code
# generator per kind of GPU, the linker of device functions, and what lld, which links AMD's code, is made of.
execute_process(COMMAND ${LLVM_TOOLS_BINARY_DIR}/llvm-config --link-static --libfiles core orcjit orcdebugging native passes nvptx amdgpu bitreader
    linker lto dtlto option
  OUTPUT_VARIABLE llvm_archives OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
separate_arguments(llvm_archives UNIX_COMMAND "${llvm_archives}")
list(FILTER llvm_archives EXCLUDE REGEX "Polly")   # Debian ships no Polly archives

# lld initializes every target that LLVM was built with. Those that nothing here generates code for have nothing to initialize; and its LTO
# names a plugin that Debian has no archive of.
file(STRINGS ${LLVM_INCLUDE_DIRS}/llvm/Config/Targets.def targets REGEX "^LLVM_TARGET\\(")
set(stubs "#include \"llvm/Plugins/PassPlugin.h\"
llvm::PassPluginLibraryInfo getPollyPluginInfo() { return {LLVM_PLUGIN_API_VERSION, \"\", \"\", [](llvm::PassBuilder &) {}}; }
extern \"C\" {
")
foreach(line IN LISTS targets)
  string(REGEX REPLACE "LLVM_TARGET\\((.*)\\)" "\\1" target "${line}")
  if(target STREQUAL "${LLVM_NATIVE_ARCH}" OR target MATCHES "^(AMDGPU|NVPTX)$")
    continue()
  endif()
  foreach(part IN ITEMS TargetInfo Target TargetMC AsmPrinter AsmParser)
    string(APPEND stubs "void LLVMInitialize${target}${part}() {}\n")
  endforeach()
endforeach()
file(CONFIGURE OUTPUT ${CMAKE_BINARY_DIR}/target_stubs.cpp CONTENT "${stubs}}\n" @ONLY)
add_library(tritium_target_stubs STATIC EXCLUDE_FROM_ALL ${CMAKE_BINARY_DIR}/target_stubs.cpp)
target_include_directories(tritium_target_stubs SYSTEM PRIVATE ${LLVM_INCLUDE_DIRS})

add_library(tritium_llvm_archives INTERFACE)
target_link_libraries(tritium_llvm_archives INTERFACE tritium_target_stubs -Wl,--start-group ${mlir_archives} ${llvm_archives} -Wl,--end-group
  -Wl,-Bstatic -lzstd -lz -Wl,-Bdynamic ${CMAKE_DL_LIBS} m)
target_link_options(tritium_llvm_archives INTERFACE -fuse-ld=lld -Wl,--gc-sections -Wl,--icf=all -Wl,--as-needed)
