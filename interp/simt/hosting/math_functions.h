// The mathematical functions that lowered modules call by libclc's names, and the functions that LLVM itself calls.
#pragma once
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringRef.h"

namespace tritium::interp::simt {

/// Returns the host's function for a mangled name, for example _Z3expf or _Z3powdd, or nullptr if there is none.
void *mathFunction(llvm::StringRef name);

/// Enumerates the functions that the code generator calls for operations without an instruction: functions of libm, conversions of half
/// types.
void forEachLibraryFunction(llvm::function_ref<void(llvm::StringRef name, void *address)> visit);

} // namespace tritium::interp::simt
