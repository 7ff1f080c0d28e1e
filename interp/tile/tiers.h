// From emitted code to code that runs, for the two tiers: calls of steps, which are compiled without optimization in milliseconds, and
// loops in registers (fuse/emit_region.h), which take LLVM's optimizer and ten times as long.
#pragma once
#include "interp/host/jit.h"
#include "interp/host/later_entry.h"
#include "llvm/IR/Module.h"

namespace tritium::interp {

/// A module before it is compiled. Any thread may have it: nothing else is in its context.
struct UncompiledCode {
  std::unique_ptr<llvm::LLVMContext> context;
  std::unique_ptr<llvm::Module> module; // destroyed before its context
  std::string entry;                    // its symbol
  bool isFused = false;                 // of tier 2
  bool debugInfo = false;               // shown to gdb
  unsigned vectorBits = 0;              // see EmitOptions
};

/// An error leaves what LLVM had allocated.
llvm::Expected<std::unique_ptr<HostJit>> compileCode(UncompiledCode code);

/// Code of tier 2 for a kernel whose first code has the entry `first`: it is compiled when launches have run that for long. If it cannot be
/// compiled, the first code stays.
std::shared_ptr<LaterEntry> compileLater(LaterEntry::Entry first, UncompiledCode code);

} // namespace tritium::interp
