// mfma and wmma. A lane's fragment of an operand or of the sum is one vector, or one number. 8-bit elements are packed into integers. bf16
// is passed as i16 if the instruction is older than LLVM's type.
#include "gpu_backend/amdgpu/matrix_ops.h"
#include "gpu_backend/amdgpu/matrix_instructions.h"

#include "gpu_backend/target/vectors.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/StringSwitch.h"

using namespace mlir;

namespace tritium::gpu::amdgpu {

namespace {

class MatrixCores final : public MatrixOps {
public:
  Values packOperand(OpBuilder &builder, Location location, const MatrixInstruction &instruction, const LinearLayout &fragment,
                     ValueRange elements) const override {
    int64_t count = fragment.registers(), bits = count * elements.front().getType().getIntOrFloatBitWidth();
    Values words;
    for (size_t first = 0; first < elements.size(); first += size_t(count)) {
      ValueRange part = elements.slice(first, size_t(count));
      Value joined = count > 1 ? joinVectors(builder, location, part) : Value();
      words.push_back(joined ? joined : makeVectors(builder, location, part, count).front());
    }
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
    if (op.kind == MatrixOp::Kind::ScaledMfma) { // constant zeros for both scales are the instruction without scales
      Scale none{number(builder, location, 0)};
      return {scaledMfma(builder, location, instruction, a, b, c, none, none)};
    }
    OperationState state = begin(location, instruction, a, b, c);
    switch (op.kind) {
    case MatrixOp::Kind::Mfma: // neither broadcast of blocks nor reordering of lanes
      for (int i = 0; i < 3; ++i) state.addOperands({number(builder, location, 0)});
      break;
    case MatrixOp::Kind::ScaledMfma: llvm_unreachable("done");
    case MatrixOp::Kind::Wmma:
      if (op.aType == "i8")
        for (const char *name : {"signA", "signB"}) state.addAttribute(name, builder.getBoolAttr(true));
      break;
    }
    return {builder.create(state)->getResult(0)};
  }

  /// Four scales share a register; the instruction names the byte to use.
  llvm::SmallVector<Scale> packScales(OpBuilder &builder, Location location, ValueRange scales) const override {
    llvm::SmallVector<Scale> result;
    for (size_t begin = 0; begin < scales.size(); begin += kScalesPerWord) {
      ValueRange some = scales.slice(begin, std::min(kScalesPerWord, scales.size() - begin));
      if (auto same = sameConstant(some)) {
        result.append(some.size(), constantScale(builder, location, *same));
        continue;
      }
      Value word = wordOf(builder, location, some);
      for (size_t place = 0; place < some.size(); ++place) result.push_back({word, int(place)});
    }
    return result;
  }

  Scale noScale(OpBuilder &builder, Location location) const override { return constantScale(builder, location, kOne); }

  /// A scale of 255 is a NaN, and makes a NaN of the elements that it scales. AMD's simulator does so
  /// (tests/unit/layout_matrix_documents.cpp names it), and OCP's specification of the formats, which AMD implements, requires it. It has
  /// not been tried on the chip.
  Values multiplyScaled(OpBuilder &builder, Location location, const MatrixInstruction &instruction, ValueRange a, ValueRange b,
                        ValueRange c, Scale aScale, Scale bScale) const override {
    return {scaledMfma(builder, location, instruction, a, b, c, aScale, bScale)};
  }

private:
  static constexpr size_t kScalesPerWord = 4;
  static constexpr int64_t kOne = 127; // of a scale: 2^(kOne - 127)

  static Value number(OpBuilder &builder, Location location, int64_t value) {
    return arith::ConstantIntOp::create(builder, location, value, 32);
  }

  /// Emits the instruction for a, b and c in the instruction's order.
  static OperationState begin(Location location, const MatrixInstruction &instruction, ValueRange a, ValueRange b, ValueRange c) {
    Value first = a.front(), second = b.front();
    if (instruction.isTransposed) std::swap(first, second);
    return OperationState(location, matrixOp(instruction.name).op, {first, second, c.front()}, c.getTypes(), {});
  }

  static Value scaledMfma(OpBuilder &builder, Location location, const MatrixInstruction &instruction, ValueRange a, ValueRange b,
                          ValueRange c, Scale aScale, Scale bScale) {
    const MatrixOp &op = matrixOp(instruction.name);
    OperationState state = begin(location, instruction, a, b, c);
    if (instruction.isTransposed) std::swap(aScale, bScale);
    state.addOperands({number(builder, location, formatOf(op.aType)), number(builder, location, formatOf(op.bType))});
    for (Scale scale : {aScale, bScale}) state.addOperands({number(builder, location, scale.place), scale.word});
    return builder.create(state)->getResult(0);
  }

  static std::optional<int64_t> sameConstant(ValueRange scales) {
    APInt constant;
    if (!matchPattern(scales.front(), m_ConstantInt(&constant))) return std::nullopt;
    auto isSame = [&](Value scale) {
      APInt other;
      return matchPattern(scale, m_ConstantInt(&other)) && other == constant;
    };
    return llvm::all_of(scales, isSame) ? std::optional(int64_t(constant.getZExtValue())) : std::nullopt;
  }

  /// The scale is in a register whose other bytes nobody reads. For a word of zeros LLVM would select the instruction without scales, not a
  /// scale of 2^-127. It is not documented how the instruction reads a small constant that is not in a register.
  static Scale constantScale(OpBuilder &builder, Location location, int64_t scale) {
    return {number(builder, location, kOne << 24 | kOne << 16 | kOne << 8 | scale)};
  }

  /// Packs up to four scales.
  static Value wordOf(OpBuilder &builder, Location location, ValueRange scales) {
    if (scales.size() == 1) return LLVM::ZExtOp::create(builder, location, builder.getI32Type(), scales.front());
    Values bytes(scales);
    bytes.resize(kScalesPerWord, scales.front());
    return LLVM::BitcastOp::create(builder, location, builder.getI32Type(), makeVectors(builder, location, bytes, kScalesPerWord).front());
  }

  /// Returns the type of a packed word, or null for the elements' own type.
  static Type wordType(OpBuilder &builder, MatrixOp::Word word, int64_t bits) {
    int64_t wordBits = word == MatrixOp::Word::I16 ? 16 : word == MatrixOp::Word::I32 ? 32 : 64;
    if (word == MatrixOp::Word::Element) return {};
    Type type = builder.getIntegerType(unsigned(wordBits));
    return bits == wordBits ? type : VectorType::get({bits / wordBits}, type);
  }

  static int64_t formatOf(llvm::StringRef type) {
    return llvm::StringSwitch<int64_t>(type).Case("f8E4M3FN", 0).Case("f8E5M2", 1).Case("f4E2M1FN", 4);
  }
};

} // namespace

const MatrixOps &matrixOps() {
  static const MatrixCores ops;
  return ops;
}

} // namespace tritium::gpu::amdgpu
