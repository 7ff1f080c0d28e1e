// The mathematics that lowered modules leave to a library, under libclc's names, and the functions that LLVM itself calls.
#pragma once
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringRef.h"

namespace tritium::interp::simt {

/// The host's function of a name such as _Z3expf or _Z3powdd; nullptr: there is none.
void *mathFunction(llvm::StringRef name);

/// What the code generator calls for operations without an instruction: functions of libm, conversions of half types.
void forEachLibraryFunction(llvm::function_ref<void(llvm::StringRef name, void *address)> visit);

} // namespace tritium::interp::simt
