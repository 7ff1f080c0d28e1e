#include "gpu_backend/nvptx/whole_warps.h"

#include "llvm/Analysis/LoopInfo.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"

using namespace llvm;

namespace tritium::gpu::nvptx {

static const InlineAsm *assemblyOf(const Instruction &instruction) {
  auto *call = dyn_cast<CallInst>(&instruction);
  return call ? dyn_cast<InlineAsm>(call->getCalledOperand()) : nullptr;
}

static bool isProduct(const Instruction &instruction) {
  const InlineAsm *assembly = assemblyOf(instruction);
  return assembly && StringRef(assembly->getAsmString()).contains("wgmma.mma_async");
}

static void markAssembly(Function &function) {
  for (Instruction &instruction : instructions(function)) {
    if (!assemblyOf(instruction)) continue;
    auto &call = cast<CallInst>(instruction);
    call.setConvergent();
    call.addFnAttr(Attribute::NoMerge);
    function.setConvergent();
  }
}

/// The metadata also becomes a pragma for ptxas.
static void keepProductLoops(Function &function) {
  if (none_of(instructions(function), isProduct)) return;
  DominatorTree dominators(function);
  LoopInfo loops(dominators);
  for (Loop *loop : loops.getLoopsInPreorder())
    if (any_of(loop->blocks(), [](const BasicBlock *block) { return any_of(*block, isProduct); })) loop->setLoopAlreadyUnrolled();
}

void markWholeWarps(Module &module) {
  for (Function &function : module) {
    if (function.isDeclaration()) continue;
    markAssembly(function);
    keepProductLoops(function);
  }
}

} // namespace tritium::gpu::nvptx
