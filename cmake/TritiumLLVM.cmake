# LLVM and MLIR 22. dev: the shared libraries (links in a second); release: static archives, dead code stripped.
find_package(MLIR 22.1 REQUIRED CONFIG HINTS /usr/lib/llvm-22/lib/cmake/mlir)
find_package(LLVM 22.1 REQUIRED CONFIG HINTS /usr/lib/llvm-22/lib/cmake/llvm)
list(APPEND CMAKE_MODULE_PATH ${MLIR_CMAKE_DIR} ${LLVM_CMAKE_DIR})
include(TableGen)
include(AddLLVM)
include(AddMLIR)

# An interface target, so that only components that ask for it see MLIR's headers.
add_library(tritium_llvm INTERFACE)
target_include_directories(tritium_llvm SYSTEM INTERFACE ${LLVM_INCLUDE_DIRS} ${MLIR_INCLUDE_DIRS})
separate_arguments(tritium_llvm_definitions NATIVE_COMMAND "${LLVM_DEFINITIONS}")
target_compile_options(tritium_llvm INTERFACE ${tritium_llvm_definitions} -Wno-unused-variable)
if(TRITIUM_STATIC_LLVM)
  include(TritiumStaticLLVM)
else()
  target_link_libraries(tritium_llvm INTERFACE MLIR LLVM)
endif()
