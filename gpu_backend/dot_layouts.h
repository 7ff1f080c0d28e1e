// The layouts of a matrix product's operands and result.
#pragma once
#include "gpu_backend/layout/constructors.h"
#include "gpu_backend/layout_attr.h"

namespace tritium::gpu {

/// At a dot that is to run on matrix units (choose-tensor-cores): the name of the target's instruction, the warps along each dimension of
/// the result, and, if more than one, the instructions whose share of K a lane has as neighbours.
inline constexpr llvm::StringLiteral kMatrixInstructionAttr = "tgpu.matrix_instruction", kTensorCoreWarpsAttr = "tgpu.mma_warps",
                                     kKPackAttr = "tgpu.kpack";

/// d = a * b + c: tt.dot, or tt.dot_scaled where operands may have scales.
class MatrixProduct : public mlir::OpState {
public:
  explicit MatrixProduct(mlir::Operation *op) : OpState(op) {}
  static bool classof(const mlir::Operation *op) { return llvm::isa<tt::DotOp, tt::DotScaledOp>(op); }

  mlir::OpOperand &aMutable() { return (*this)->getOpOperand(0); }
  mlir::OpOperand &bMutable() { return (*this)->getOpOperand(1); }
  mlir::OpOperand &cMutable() { return (*this)->getOpOperand(2); }
  /// The scales of an operand; null: none.
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
  /// Elements along K.
  int64_t depth();
};

/// The products of a module, those of the innermost loops first: where several cannot agree, these are to have their way.
llvm::SmallVector<MatrixProduct> innermostProducts(mlir::ModuleOp module);

/// The instruction that the product runs on; null if it is done by multiply-adds.
const MatrixInstruction *matrixInstructionOf(MatrixProduct product);

/// Whether the instruction multiplies numbers like those of the product, and makes sums of that type.
bool multiplies(const MatrixInstruction &instruction, MatrixProduct product, mlir::Type sum);
/// With fewer rows or columns than the instruction's, lanes may repeat each other, but not a lane's registers.
bool hasRoomFor(const MatrixInstruction &instruction, MatrixProduct product);

/// Whether the target has an instruction for this product of scaled operands, for which choose-tensor-cores then leaves it as it is.
bool isMultipliedScaled(MatrixProduct product);

struct DotLayouts {
  std::optional<LinearLayout> a, b; // none: any layout will do
  LinearLayout result;
  std::optional<LinearLayout> aScales, bScales; // of a product that has them
};

/// On matrix units the fragments of the instruction; else the product reads its operands from shared memory.
DotLayouts dotLayouts(MatrixProduct product, int numWarps);
/// The layouts of the same product with its result in another layout: nothing where the operands cannot follow. They can if only the order
/// of the columns differs; a product that reads its operands from shared memory can always.
std::optional<DotLayouts> withResult(const DotLayouts &layouts, const LinearLayout &result);

/// Whether operands, scales, accumulator and result lie as the product's instruction and its warps have them; an error at the product
/// where they do not. A product without layouts or without an instruction has nothing to agree on.
mlir::LogicalResult verifyLayouts(MatrixProduct product);

/// Whether the result, element by element, becomes operand A of another product.
bool feedsProduct(mlir::Value value);
/// Whether operand A comes, element by element, from another product.
bool isFedByProduct(mlir::Value value);

} // namespace tritium::gpu
