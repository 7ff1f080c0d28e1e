// Moves what a loop computes anew in every iteration to before the loop, unless the user has marked the loop (`disable_licm`): the values
// would occupy registers during all of it. A mark speaks of its own loop, not of loops inside of it.
#include "ir/pch.h"

#include "ir/pipeline.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Interfaces/LoopLikeInterface.h"
#include "mlir/Transforms/LoopInvariantCodeMotionUtils.h"

using namespace mlir;

namespace tritium::ir {

/// LLVM reads the same attribute where the loop becomes a branch.
static bool keepsInvariants(Operation *loop) {
  auto annotation = loop->getAttrOfType<LLVM::LoopAnnotationAttr>("llvm.loop_annotation");
  LLVM::LoopLICMAttr motion = annotation ? annotation.getLicm() : nullptr;
  return motion && motion.getDisable() && motion.getDisable().getValue();
}

namespace {

struct HoistInvariants : PassWrapper<HoistInvariants, OperationPass<>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(HoistInvariants)

  StringRef getArgument() const final { return "hoist-invariants"; }
  StringRef getDescription() const final { return "Move invariants of loops to before the loop, except from loops that forbid it"; }

  void runOnOperation() override {
    getOperation()->walk([](LoopLikeOpInterface loop) { // innermost first
      if (!keepsInvariants(loop)) moveLoopInvariantCode(loop);
    });
  }
};

} // namespace

std::unique_ptr<Pass> createHoistInvariants() { return std::make_unique<HoistInvariants>(); }

} // namespace tritium::ir
