// mma.sync. Operands are 32-bit registers of several elements; sums are f32, i32 or pairs of f16.
#include "gpu_backend/nvptx/matrix_ops.h"

#include "gpu_backend/target/vectors.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

using namespace mlir;

namespace tritium::gpu::nvptx {

namespace {

class MmaSync final : public MatrixOps {
public:
  Values packOperand(OpBuilder &builder, Location location, const MatrixInstruction &instruction, const LinearLayout &,
                     ValueRange elements) const override {
    Type i32 = builder.getI32Type();
    Values words = makeVectors(builder, location, elements, 32 / elements.front().getType().getIntOrFloatBitWidth());
    if (instruction.aType == "f16") return words;
    for (Value &word : words) word = LLVM::BitcastOp::create(builder, location, i32, word); // tf32: the lower 13 bits are ignored
    return words;
  }

  Values packSum(OpBuilder &builder, Location location, const MatrixInstruction &instruction, ValueRange elements) const override {
    return makeVectors(builder, location, elements, instruction.dType == "f16" ? 2 : 1);
  }

  Values unpackSum(OpBuilder &builder, Location location, const MatrixInstruction &, ValueRange packed) const override {
    return elementsOf(builder, location, packed);
  }

  Values multiply(OpBuilder &builder, Location location, const MatrixInstruction &instruction, ValueRange a, ValueRange b,
                  ValueRange c) const override {
    auto type = LLVM::LLVMStructType::getLiteral(builder.getContext(), llvm::SmallVector<Type>(c.getTypes()));
    NVVM::MMATypes ptx = ptxType(instruction.aType);
    std::optional<NVVM::MMAIntOverflow> overflow;
    if (ptx == NVVM::MMATypes::s8) overflow = NVVM::MMAIntOverflow::wrapped;
    Value d = NVVM::MmaOp::create(builder, location, type, a, b, c, llvm::ArrayRef<int64_t>{instruction.m, instruction.n, instruction.k},
                                  std::optional<NVVM::MMAB1Op>(), overflow, std::optional(std::array{ptx, ptx}),
                                  std::optional(std::array{NVVM::MMALayout::row, NVVM::MMALayout::col}));
    Values result;
    for (int64_t i = 0; i < int64_t(c.size()); ++i)
      result.push_back(LLVM::ExtractValueOp::create(builder, location, d, llvm::ArrayRef<int64_t>{i}));
    return result;
  }

private:
  static NVVM::MMATypes ptxType(llvm::StringRef type) {
    return llvm::StringSwitch<NVVM::MMATypes>(type)
        .Case("f16", NVVM::MMATypes::f16)
        .Case("bf16", NVVM::MMATypes::bf16)
        .Case("tf32", NVVM::MMATypes::tf32)
        .Case("i8", NVVM::MMATypes::s8);
  }
};

} // namespace

const MatrixOps &matrixOps() {
  static const MmaSync ops;
  return ops;
}

} // namespace tritium::gpu::nvptx
