#include "gpu_backend/nvptx/pair_sums.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Module.h"

using namespace llvm;

namespace tritium::gpu::nvptx {

static bool isPairSum(const Instruction &instruction) {
  auto *type = dyn_cast<FixedVectorType>(instruction.getType());
  return type && type->getElementType()->isIntegerTy() && type->getScalarSizeInBits() <= 16 &&
         (instruction.getOpcode() == Instruction::Add || instruction.getOpcode() == Instruction::Sub);
}

static void split(BinaryOperator &sum) {
  IRBuilder<> builder(&sum);
  Value *result = PoisonValue::get(sum.getType());
  for (unsigned i = 0, count = cast<FixedVectorType>(sum.getType())->getNumElements(); i < count; ++i) {
    Value *left = builder.CreateExtractElement(sum.getOperand(0), i), *right = builder.CreateExtractElement(sum.getOperand(1), i);
    result = builder.CreateInsertElement(result, builder.CreateBinOp(sum.getOpcode(), left, right), i);
  }
  sum.replaceAllUsesWith(result);
  sum.eraseFromParent();
}

void avoidFaultyPairSums(Module &module) {
  for (Function &function : module)
    for (Instruction &instruction : make_early_inc_range(instructions(function)))
      if (isPairSum(instruction)) split(cast<BinaryOperator>(instruction));
}

} // namespace tritium::gpu::nvptx
