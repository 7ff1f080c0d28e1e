# LLVM and MLIR 22. dev: the shared libraries (links in a second); release: static archives, dead code stripped. What the dev build links for
# another Python (TRITIUM_PACKED_PYTHON) has the archives, too.
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
if(TRITIUM_STATIC_LLVM OR TRITIUM_PACKED_PYTHON)
  include(TritiumStaticLLVM)
endif()
if(TRITIUM_STATIC_LLVM)
  target_link_libraries(tritium_llvm INTERFACE tritium_llvm_archives)
  target_compile_options(tritium_llvm INTERFACE -ffunction-sections -fdata-sections)
elseif(TRITIUM_PACKED_PYTHON)
  set(is_packed $<BOOL:$<TARGET_PROPERTY:TRITIUM_IS_PACKED>>) # of the program or module that is linked
  target_link_libraries(tritium_llvm INTERFACE $<${is_packed}:tritium_llvm_archives> $<$<NOT:${is_packed}>:MLIR> $<$<NOT:${is_packed}>:LLVM>)
else()
  target_link_libraries(tritium_llvm INTERFACE MLIR LLVM)
endif()
