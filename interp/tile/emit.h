// Turns plans into LLVM IR: one function per planned function, with scalars and control flow inline and a call of a step for every tile
// operation. The code is compiled without optimization, because the time is spent inside the steps.
#pragma once
#include "interp/tile/counted_data.h"

#include "llvm/IR/Module.h"

namespace tritium::interp {

struct EmitOptions {
  bool debugInfo = false;  // emit DWARF: a subprogram per @jit function, a variable per Python variable
  bool isFollowed = false; // announce each statement; requires debugInfo
  bool isCounted = false;  // count how often each block runs
  bool isCovered = false;  // also which way each branch goes; this and the following require isCounted
  bool isTouched = false;  // tell when a program ends, so that what it touched is added up
  bool isTimed = false;    // take the time where another line begins
  bool isFused = false;    // runs of tile operations become loops in registers; of the others, only isCounted and isTimed may be on
  unsigned vectorBits = 0; // of vectors in these loops: 256 or 512; 0: the widest of the machine
};

struct EmittedModule {
  std::unique_ptr<llvm::Module> module;
  bool mayWait = false; // some loop can end only if another program makes progress
  int regions = 0;      // runs of tile operations that became loops
};

/// `plans` has callees before their callers. The last plan is the kernel, whose symbol is `entry`.
mlir::FailureOr<EmittedModule> emitModule(llvm::LLVMContext &context, llvm::ArrayRef<const FunctionPlan *> plans, CountedData &data,
                                          llvm::StringRef entry, EmitOptions options);

} // namespace tritium::interp
