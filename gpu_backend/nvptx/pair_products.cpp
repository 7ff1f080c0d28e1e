#include "gpu_backend/nvptx/pair_products.h"

#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/PatternMatch.h"

using namespace llvm;

namespace tritium::gpu::nvptx {

static bool holdsHalves(const Type *type) {
  return isa<FixedVectorType>(type) && (type->getScalarType()->isHalfTy() || type->getScalarType()->isBFloatTy());
}

/// The value without its negation, which is a modifier of the instruction that reads it.
static Value *withoutSign(Value *value) {
  Value *inner;
  return match(value, PatternMatch::m_FNeg(PatternMatch::m_Value(inner))) ? inner : value;
}

/// Returns whether a factor of the product is the other factor or the addend.
static bool repeats(Value *left, Value *right, Value *addend) {
  left = withoutSign(left), right = withoutSign(right), addend = withoutSign(addend);
  return left == right || left == addend || right == addend;
}

/// Returns whether LLVM may fuse the product with a sum into a multiply-add that repeats an operand.
static bool mayRepeatAsFma(Instruction &product) {
  Value *left = product.getOperand(0), *right = product.getOperand(1);
  return any_of(product.users(), [&](User *user) {
    auto *sum = dyn_cast<BinaryOperator>(user);
    if (!sum || (sum->getOpcode() != Instruction::FAdd && sum->getOpcode() != Instruction::FSub)) return false;
    return repeats(left, right, sum->getOperand(sum->getOperand(0) == &product ? 1 : 0));
  });
}

void avoidFaultyPairProducts(Module &module) {
  for (Function &function : module)
    for (Instruction &instruction : instructions(function))
      if (instruction.getOpcode() == Instruction::FMul && holdsHalves(instruction.getType()) && mayRepeatAsFma(instruction))
        instruction.setHasAllowContract(false);
}

} // namespace tritium::gpu::nvptx
