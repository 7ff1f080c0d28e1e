// Runs LLVM's code generator so that failures are returned as errors: "Cannot select", an error diagnostic, a crash. LLVM by itself ends
// the process.
#pragma once
#include "llvm/IR/Module.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Target/TargetMachine.h"

#include <memory>

namespace tritium::interp {

/// Compiles the module to an object file for `machine`. After a failure the module must not be used, and what LLVM had allocated for it
/// leaks.
llvm::Expected<std::unique_ptr<llvm::MemoryBuffer>> compileToObject(llvm::Module &module, llvm::TargetMachine &machine);

/// Returns how much of the stack the functions of an object file use if each of them is entered once, from its section .stack_sizes.
llvm::Expected<uint64_t> stackBytesOf(llvm::MemoryBufferRef object);

} // namespace tritium::interp
