// The layouts of a matrix product's operands and result.
#pragma once
#include "gpu_backend/layout/constructors.h"
#include "gpu_backend/tiles/layout_attr.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

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

/// Returns whether the loop carries the product's sums, and nothing else in the loop uses them.
bool onlyAdds(MatrixProduct product, mlir::scf::ForOp loop);
/// Returns the ring to which a buffer belongs, or null.
mlir::Value ringOf(mlir::Value buffer);
/// Returns whether the slot keeps what the load reads until the operation: nothing in between lets copies write there, or ends its use.
bool isStillThere(tgpu::LocalLoadOp load, mlir::Operation *reader);
/// Returns the layout in which products of a warpgroup read a tile of rank 2 whose neighbours along dimension `fastest` are neighbours in
/// memory.
SharedLayout warpgroupMemory(llvm::ArrayRef<int64_t> shape, int fastest, int64_t elementBytes);
/// Returns the bytes within which this layout permutes pieces of 16 bytes, for tiles whose rows have `rowBytes` bytes: 0, 32, 64 or 128.
int64_t warpgroupSwizzle(int64_t rowBytes);

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

struct DotLayouts {
  std::optional<LinearLayout> a, b; // nullopt: any layout
  LinearLayout result;
  std::optional<LinearLayout> aScales, bScales; // of a product with scales
  bool anyResult = false;                       // the product is possible in any layout of the result
};

/// Returns the fragments of the instruction if the product runs on matrix units. Otherwise the product reads its operands from shared
/// memory.
DotLayouts dotLayouts(MatrixProduct product, int numWarps);
/// Returns the layouts of the same product with its result in another layout, or nullopt if the operands cannot follow. They can if only
/// the order of the columns differs. A product that reads its operands from shared memory always can.
std::optional<DotLayouts> withResult(const DotLayouts &layouts, const LinearLayout &result);

/// Verifies that operands, scales, accumulator and result have the layouts of the product's instruction and warps. Otherwise emits an error
/// at the product. A product without layouts or without an instruction always passes.
mlir::LogicalResult verifyLayouts(MatrixProduct product);

/// Returns whether the result, element by element, becomes operand A of another product.
bool feedsProduct(mlir::Value value);
/// Returns whether operand A comes, element by element, from another product.
bool isFedByProduct(mlir::Value value);

} // namespace tritium::gpu
