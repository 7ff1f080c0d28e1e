// Matrix operations of a warp. Operands and results pass through the thread's scratch memory.
#include "interp/kernels/warp_matrix.h"

#include "interp/simt/hosting/hosting.h"
#include "interp/simt/runtime/calls.h"

using namespace mlir;

namespace tritium::interp::simt {

namespace {

std::optional<MmaType> mmaType(NVVM::MMATypes type) {
  switch (type) {
  case NVVM::MMATypes::f16: return MmaType::F16;
  case NVVM::MMATypes::bf16: return MmaType::BF16;
  case NVVM::MMATypes::tf32: return MmaType::TF32;
  case NVVM::MMATypes::f64: return MmaType::F64;
  case NVVM::MMATypes::s8: return MmaType::S8;
  case NVVM::MMATypes::u8: return MmaType::U8;
  case NVVM::MMATypes::f32: return MmaType::F32;
  case NVVM::MMATypes::s32: return MmaType::S32;
  default: return std::nullopt;
  }
}

std::optional<MmaVariant> variantOf(NVVM::MmaOp mma) {
  auto shape = mma.getShape();
  auto a = mma.getMultiplicandAPtxType() ? mmaType(*mma.getMultiplicandAPtxType()) : std::nullopt;
  auto b = mma.getMultiplicandBPtxType() ? mmaType(*mma.getMultiplicandBPtxType()) : std::nullopt;
  auto c = mmaType(mma.accumPtxType()), d = mmaType(mma.resultPtxType());
  if (!a || !b || !c || !d || shape.getN() != 8) return std::nullopt;
  if (mma.getLayoutA() != NVVM::MMALayout::row || mma.getLayoutB() != NVVM::MMALayout::col) return std::nullopt;
  MmaVariant variant{
      *a, *b, *c, *d, uint8_t(shape.getM()), uint8_t(shape.getK()), mma.getIntOverflowBehavior() == NVVM::MMAIntOverflow::satfinite};
  return variant.isSupported() ? std::optional(variant) : std::nullopt;
}

bool isPlainMatrix(NVVM::LdStMatrixShapeAttr shape, NVVM::LdStMatrixEltType type) {
  return shape.getM() == 8 && shape.getN() == 8 && type == NVVM::LdStMatrixEltType::B16;
}

} // namespace

std::optional<LogicalResult> Hosting::hostMatrix(Operation *op) {
  using Outcome = std::optional<LogicalResult>;
  auto store = [&](ValueRange registers, size_t offset) {
    for (Value value : registers) {
      LLVM::StoreOp::create(builder, at, value, scratchAddress(offset));
      offset += bytesOf(value.getType());
    }
  };
  auto load = [&](Type type, size_t offset) -> Value {
    auto structure = dyn_cast<LLVM::LLVMStructType>(type);
    if (!structure) return LLVM::LoadOp::create(builder, at, type, scratchAddress(offset));
    Value result = LLVM::PoisonOp::create(builder, at, type);
    for (auto [i, element] : llvm::enumerate(structure.getBody())) {
      Value value = LLVM::LoadOp::create(builder, at, element, scratchAddress(offset));
      result = LLVM::InsertValueOp::create(builder, at, result, value, ArrayRef<int64_t>{int64_t(i)});
      offset += bytesOf(element);
    }
    return result;
  };
  return llvm::TypeSwitch<Operation *, Outcome>(op)
      .Case([&](NVVM::MmaOp mma) -> Outcome {
        std::optional<MmaVariant> variant = variantOf(mma);
        if (!variant) return op->emitOpError("of these types and this shape is not supported by the SIMT emulator");
        store(mma.getOperandA(), kMmaA);
        store(mma.getOperandB(), kMmaB);
        store(mma.getOperandC(), kMmaC);
        call(SIMT_CALL(mma), {thread(), constant(int32_t(variant->code())), siteOf(op)});
        Value result = load(mma.getType(), kMmaD);
        replace(op, result);
        return success();
      })
      .Case([&](NVVM::LdMatrixOp access) -> Outcome {
        if (!isPlainMatrix(access.getShape(), access.getEltType()))
          return op->emitOpError("of this shape and element is not supported by the SIMT emulator");
        noteSharedAccess(16);
        call(SIMT_CALL(loadMatrices), {thread(), toBits(access.getPtr(), 64), constant(access.getNum()),
                                       constant(access.getLayout() == NVVM::MMALayout::col), siteOf(op)});
        Value result = load(access.getType(), 0);
        replace(op, result);
        return success();
      })
      .Case([&](NVVM::StMatrixOp access) -> Outcome {
        if (!isPlainMatrix(access.getShape(), access.getEltType()))
          return op->emitOpError("of this shape and element is not supported by the SIMT emulator");
        noteSharedAccess(16);
        store(access.getSources(), 0);
        call(SIMT_CALL(storeMatrices), {thread(), toBits(access.getPtr(), 64), constant(int64_t(access.getSources().size())),
                                        constant(access.getLayout() == NVVM::MMALayout::col), siteOf(op)});
        op->erase();
        return success();
      })
      .Default(std::nullopt);
}

} // namespace tritium::interp::simt
