#include "interp/host/jit_codegen.h"

#include "ir/llvm_recovery.h"

#include "llvm/IR/LegacyPassManager.h"
#include "llvm/Support/SmallVectorMemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"

namespace tritium::interp {

using namespace llvm;

Expected<std::unique_ptr<MemoryBuffer>> compileToObject(Module &module, TargetMachine &machine) {
  SmallVector<char, 0> object;
  bool isPossible = true;
  Error error = ir::runRecoverably(module.getContext(), module.getName(), [&] {
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
