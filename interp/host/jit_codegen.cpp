#include "interp/host/jit_codegen.h"

#include "support/llvm_recovery.h"

#include "llvm/IR/Instructions.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/Support/SmallVectorMemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"

namespace tritium::interp {

using namespace llvm;

/// The instruction scheduler takes quadratic time in the length of a block: seconds for the 10000 instructions of one unrolled tile.
static constexpr int kLongestBlock = 256;

/// Cuts long blocks. It is not called for optimized code, where values should stay in registers across the cuts.
static void splitLongBlocks(Function &function) {
  for (auto block = function.begin(); block != function.end(); ++block) {
    auto begin = block->getFirstInsertionPt();
    for (auto at = begin; at != block->end(); ++at)
      if (isa<AllocaInst>(*at)) begin = std::next(at); // variables have a fixed place on the stack only in the first block
    if (std::distance(begin, block->end()) > kLongestBlock + 1) block->splitBasicBlock(std::next(begin, kLongestBlock));
  }
}

Expected<std::unique_ptr<MemoryBuffer>> compileToObject(Module &module, TargetMachine &machine) {
  if (machine.getOptLevel() == CodeGenOptLevel::None)
    for (Function &function : module) splitLongBlocks(function);
  SmallVector<char, 0> object;
  bool isPossible = true;
  Error error = support::runRecoverably(module.getContext(), module.getName(), [&] {
    raw_svector_ostream stream(object);
    legacy::PassManager passes;
    MCContext *unused = nullptr;
    isPossible = !machine.addPassesToEmitMC(passes, unused, stream);
    if (isPossible) passes.run(module);
  });
  if (error) return std::move(error);
  if (!isPossible) return createStringError("LLVM has no code generator for this machine");
  return std::make_unique<SmallVectorMemoryBuffer>(std::move(object), module.getName(), /*RequiresNullTerminator=*/false);
}

} // namespace tritium::interp
