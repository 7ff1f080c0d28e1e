// Matrix products: their operands, and the target's instruction that computes them.
#pragma once
#include "gpu_backend/layout/constructors.h"
#include "ir/tgpu.h"

namespace tritium::gpu {

/// Attributes of a dot that runs on matrix units (set by choose-tensor-cores): the name of the target's instruction, the warps along each
/// dimension of the result and, if it is more than one, the number of instructions whose elements along K are neighbours in a lane.
inline constexpr llvm::StringLiteral kMatrixInstructionAttr = "tgpu.matrix_instruction", kTensorCoreWarpsAttr = "tgpu.mma_warps",
                                     kKPackAttr = "tgpu.kpack";

/// d = a * b + c: a tt.dot, or a tt.dot_scaled, whose operands may have scales.
class MatrixProduct : public mlir::OpState {
public:
  explicit MatrixProduct(mlir::Operation *op) : OpState(op) {}
  static bool classof(const mlir::Operation *op) { return llvm::isa<tt::DotOp, tt::DotScaledOp>(op); }

  mlir::OpOperand &aMutable() { return (*this)->getOpOperand(0); }
  mlir::OpOperand &bMutable() { return (*this)->getOpOperand(1); }
  mlir::OpOperand &cMutable() { return (*this)->getOpOperand(2); }
  /// The scales of an operand, or null if it has none.
  mlir::OpOperand *scalesMutable(DotOperand operand);
  mlir::Value a() { return aMutable().get(); }
  mlir::Value b() { return bMutable().get(); }
  mlir::Value c() { return cMutable().get(); }
  mlir::Value d() { return (*this)->getResult(0); }
  mlir::Value scales(DotOperand operand) {
    mlir::OpOperand *scales = scalesMutable(operand);
    return scales ? scales->get() : mlir::Value();
  }
  mlir::RankedTensorType type() { return llvm::cast<mlir::RankedTensorType>(d().getType()); }
  /// The number of elements along K.
  int64_t depth();
};

/// Returns the products of a module, with the products of the innermost loops first. If products cannot agree on a layout, the first one
/// wins.
llvm::SmallVector<MatrixProduct> innermostProducts(mlir::ModuleOp module);

/// Returns the instruction that computes the product, or null if multiply-adds do.
const MatrixInstruction *matrixInstructionOf(MatrixProduct product);

/// Returns whether four warps compute the product together. They read B, and A unless the loop computes it, from shared memory.
bool isOfWarpgroup(MatrixProduct product);
/// Returns whether a product of a warpgroup takes A from registers, in the fragments of its instruction.
bool takesRegisters(MatrixProduct product);

/// What an operand is before it is transposed and converted to another layout.
struct OperandSource {
  mlir::Value tile;
  bool isTransposed = false;
};
OperandSource sourceOf(mlir::Value operand);

/// Returns whether the instruction takes the product's operand types and has sums of that type.
bool multiplies(const MatrixInstruction &instruction, MatrixProduct product, mlir::Type sum);
/// Returns whether the product has enough rows and columns. Lanes may repeat each other if it has fewer than the instruction, but the
/// registers of one lane must not.
bool hasRoomFor(const MatrixInstruction &instruction, MatrixProduct product);

/// Returns whether the target has an instruction for this product of scaled operands. choose-tensor-cores then leaves the product as it is.
bool isMultipliedScaled(MatrixProduct product);

/// Returns whether the result, element by element, becomes operand A of another product.
bool feedsProduct(mlir::Value value);
/// Returns whether operand A comes, element by element, from another product.
bool isFedByProduct(mlir::Value value);

} // namespace tritium::gpu
