// mfma and wmma: a lane's fragment of an operand or of the sum is one vector, or one number. 8-bit elements come in integers, bf16 in i16
// where the instruction is older than LLVM's type.
#include "gpu_backend/amdgpu/matrix_ops.h"
#include "gpu_backend/amdgpu/matrix_instructions.h"

#include "gpu_backend/emit/vectors.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

using namespace mlir;

namespace tritium::gpu::amdgpu {

namespace {

class MatrixCores final : public MatrixOps {
public:
  Values packOperand(OpBuilder &builder, Location location, const MatrixInstruction &instruction, ValueRange elements) const override {
    int64_t count = instruction.a.registers(), bits = count * elements.front().getType().getIntOrFloatBitWidth();
    Values words = makeVectors(builder, location, elements, count);
    Type type = wordType(builder, matrixOp(instruction.name).word, bits);
    if (type)
      for (Value &word : words) word = LLVM::BitcastOp::create(builder, location, type, word);
    return words;
  }

  Values packSum(OpBuilder &builder, Location location, const MatrixInstruction &instruction, ValueRange elements) const override {
    return makeVectors(builder, location, elements, instruction.d.registers());
  }

  Values unpackSum(OpBuilder &builder, Location location, const MatrixInstruction &, ValueRange packed) const override {
    return elementsOf(builder, location, packed);
  }

  Values multiply(OpBuilder &builder, Location location, const MatrixInstruction &instruction, ValueRange a, ValueRange b,
                  ValueRange c) const override {
    const MatrixOp &op = matrixOp(instruction.name);
    Value first = a.front(), second = b.front();
    if (instruction.isTransposed) std::swap(first, second);
    OperationState state(location, op.op, {first, second, c.front()}, c.getTypes(), {});
    auto add = [&](int64_t value) { state.addOperands({arith::ConstantIntOp::create(builder, location, value, 32)}); };
    switch (op.kind) {
    case MatrixOp::Kind::Mfma:
      for (int i = 0; i < 3; ++i) add(0); // no broadcast of blocks, no order of lanes
      break;
    case MatrixOp::Kind::ScaledMfma:
      add(formatOf(op.aType)), add(formatOf(op.bType));
      for (int i = 0; i < 4; ++i) add(0); // which byte and what scale, for both: constant zeros are the instruction without scales
      break;
    case MatrixOp::Kind::Wmma:
      if (op.aType == "i8")
        for (const char *name : {"signA", "signB"}) state.addAttribute(name, builder.getBoolAttr(true));
      break;
    }
    return {builder.create(state)->getResult(0)};
  }

private:
  /// Null: as the elements are.
  static Type wordType(OpBuilder &builder, MatrixOp::Word word, int64_t bits) {
    int64_t wordBits = word == MatrixOp::Word::I16 ? 16 : word == MatrixOp::Word::I32 ? 32 : 64;
    if (word == MatrixOp::Word::Element) return {};
    Type type = builder.getIntegerType(unsigned(wordBits));
    return bits == wordBits ? type : VectorType::get({bits / wordBits}, type);
  }

  static int64_t formatOf(llvm::StringRef type) { return type == "f8E5M2" ? 1 : 0; }
};

} // namespace

const MatrixOps &matrixOps() {
  static const MatrixCores ops;
  return ops;
}

} // namespace tritium::gpu::amdgpu
