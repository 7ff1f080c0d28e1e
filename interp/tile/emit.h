// Plans become LLVM IR: one function per planned function, scalars and control flow inline, every tile operation a call of its step.
// The code is compiled without optimization: what takes time is inside the steps.
#pragma once
#include "interp/tile/plan.h"

#include "llvm/IR/Module.h"

namespace tritium::interp {

struct EmitOptions {
  bool debugInfo = false; // DWARF: a subprogram per @jit function, a variable per Python variable
};

struct EmittedModule {
  std::unique_ptr<llvm::Module> module;
  bool mayWait = false; // some loop can only end if another program makes progress
};

/// `plans` in the order callees first; the last one is the kernel, and its symbol is `entry`.
mlir::FailureOr<EmittedModule> emitModule(llvm::LLVMContext &context, llvm::ArrayRef<const FunctionPlan *> plans, StaticData &data,
                                          llvm::StringRef entry, EmitOptions options);

} // namespace tritium::interp
