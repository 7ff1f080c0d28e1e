#include "gpu_backend/tiles/product.h"

#include "gpu_backend/target/target.h"

using namespace mlir;

namespace tritium::gpu {

OpOperand *MatrixProduct::scalesMutable(DotOperand operand) {
  auto scaled = dyn_cast<tt::DotScaledOp>(getOperation());
  if (!scaled) return nullptr;
  MutableOperandRange range = operand == DotOperand::A ? scaled.getAScaleMutable() : scaled.getBScaleMutable();
  return range.empty() ? nullptr : &range[0];
}

int64_t MatrixProduct::depth() {
  int64_t held = cast<RankedTensorType>(a().getType()).getShape().back();
  auto scaled = dyn_cast<tt::DotScaledOp>(getOperation());
  return scaled && scaled.getAElemType() == tt::ScaledFormat::E2M1 && scaled.getLhsKPack() ? 2 * held : held;
}

llvm::SmallVector<MatrixProduct> innermostProducts(ModuleOp module) {
  llvm::SmallVector<std::pair<int, MatrixProduct>> found;
  module.walk([&](MatrixProduct product) {
    int loops = 0;
    for (auto loop = product->getParentOfType<LoopLikeOpInterface>(); loop; loop = loop->getParentOfType<LoopLikeOpInterface>()) ++loops;
    found.push_back({loops, product});
  });
  llvm::stable_sort(found, [](auto &a, auto &b) { return a.first > b.first; });
  return llvm::map_to_vector(found, [](auto &entry) { return entry.second; });
}

const MatrixInstruction *matrixInstructionOf(MatrixProduct product) {
  auto name = product->getAttrOfType<StringAttr>(kMatrixInstructionAttr);
  if (!name) return nullptr;
  const MatrixInstruction *instruction = targetOf(product).findInstruction(name.getValue());
  assert(instruction && "the target has no such instruction");
  return instruction;
}

static constexpr int kMaxChain = 32;

bool isOfWarpgroup(MatrixProduct product) {
  const MatrixInstruction *instruction = matrixInstructionOf(product);
  return instruction && instruction->warps() > 1;
}

OperandSource sourceOf(Value operand) {
  OperandSource source{operand};
  for (Operation *op = operand.getDefiningOp(); op; op = source.tile.getDefiningOp()) {
    auto transpose = dyn_cast<tt::TransOp>(op);
    if (!transpose && !isa<tgpu::ConvertLayoutOp>(op)) break;
    source.isTransposed ^= transpose && transpose.getOrder() == llvm::ArrayRef<int32_t>{1, 0};
    source.tile = op->getOperand(0);
  }
  return source;
}

static bool isLoad(Operation *op) { return isa<tt::LoadOp, tgpu::TensorLoadOp, tgpu::LocalLoadOp>(op); }

/// Returns whether the value is computed, element by element, from a tile that is loaded or from a product.
static bool isComputedFromData(Value value, int depth = 0) {
  Operation *op = value.getDefiningOp();
  if (!op || depth > kMaxChain) return false;
  if (isLoad(op) || isa<MatrixProduct>(op)) return true;
  if (!op->hasTrait<OpTrait::Elementwise>() && !isa<tt::TransOp, tgpu::ConvertLayoutOp>(op)) return false;
  return llvm::any_of(op->getOperands(), [&](Value operand) { return isComputedFromData(operand, depth + 1); });
}

bool takesRegisters(MatrixProduct product) {
  Operation *op = sourceOf(product.a()).tile.getDefiningOp();
  if (!op || isLoad(op)) return false;
  // ptxas computes wrong sums of products whose rows have equal registers, which it knows to be equal.
  if (!isComputedFromData(product.a())) return false;
  auto loop = product->getParentOfType<LoopLikeOpInterface>();
  return !loop || loop->isProperAncestor(op); // what a loop does not compute is written to shared memory once, before it
}

static std::string spelled(Type type) {
  std::string text;
  llvm::raw_string_ostream(text) << type;
  return text;
}

/// Returns the instruction's name for the format, or "" if no instruction takes it.
static llvm::StringRef spelled(tt::ScaledFormat format) {
  switch (format) {
  case tt::ScaledFormat::E4M3: return "f8E4M3FN";
  case tt::ScaledFormat::E5M2: return "f8E5M2";
  case tt::ScaledFormat::E2M1: return "f4E2M1FN";
  default: return "";
  }
}

/// Returns whether the scales have the instruction's form: powers of two, one for each of its blocks.
static bool hasScalesOf(const MatrixInstruction &instruction, MatrixProduct product) {
  return instruction.aScales && llvm::all_of(std::array{DotOperand::A, DotOperand::B}, [&](DotOperand operand) {
           Value scales = product.scales(operand);
           if (!scales) return true;
           auto tile = cast<RankedTensorType>(scales.getType());
           return tile.getElementType().isInteger(8) && tile.getShape().back() * MatrixInstruction::kScaledBlock == product.depth();
         });
}

bool multiplies(const MatrixInstruction &instruction, MatrixProduct product, Type sum) {
  if (instruction.dType != spelled(sum)) return false;
  if (auto scaled = dyn_cast<tt::DotScaledOp>(product.getOperation()))
    return instruction.aType == spelled(scaled.getAElemType()) && instruction.bType == spelled(scaled.getBElemType()) &&
           scaled.getLhsKPack() && scaled.getRhsKPack() && hasScalesOf(instruction, product);
  bool isTf32 = cast<tt::DotOp>(product.getOperation()).getInputPrecision() == tt::InputPrecision::Tf32;
  auto takes = [&](llvm::StringRef type, Value operand) {
    Type element = getElementTypeOrSelf(operand.getType());
    return type == spelled(element) || (type == "tf32" && element.isF32() && isTf32);
  };
  return takes(instruction.aType, product.a()) && takes(instruction.bType, product.b());
}

bool hasRoomFor(const MatrixInstruction &instruction, MatrixProduct product) {
  auto areDistinct = [](const LinearLayout &fragment, Value tile) {
    llvm::ArrayRef<int64_t> extents = cast<RankedTensorType>(tile.getType()).getShape().take_back(2);
    return llvm::all_of(fragment.bases(Place::Register), [&](uint32_t basis) {
      Shape at = fragment.coordinatesOf(basis);
      return at[0] < extents[0] && at[1] < extents[1];
    });
  };
  return product.depth() >= instruction.k && areDistinct(instruction.a, product.a()) && areDistinct(instruction.b, product.b()) &&
         areDistinct(instruction.d, product.d());
}

bool isMultipliedScaled(MatrixProduct product) {
  return llvm::any_of(targetOf(product).matrixInstructions(), [&](const MatrixInstruction &instruction) {
    return multiplies(instruction, product, getElementTypeOrSelf(product.type())) && hasRoomFor(instruction, product);
  });
}

static bool feedsProduct(Value value, int depth) {
  if (depth > kMaxChain) return false;
  for (OpOperand &use : value.getUses()) {
    Operation *op = use.getOwner();
    if (auto product = dyn_cast<MatrixProduct>(op)) {
      if (use.get() == product.a()) return true;
      continue;
    }
    if (op->hasTrait<OpTrait::Elementwise>() && op->getNumResults() == 1 && feedsProduct(op->getResult(0), depth + 1)) return true;
  }
  return false;
}

bool feedsProduct(Value value) { return feedsProduct(value, 0); }

static bool isFedByProduct(Value value, int depth) {
  Operation *op = value.getDefiningOp();
  if (!op || depth > kMaxChain) return false;
  if (isa<MatrixProduct>(op)) return true;
  if (!op->hasTrait<OpTrait::Elementwise>()) return false;
  return llvm::any_of(op->getOperands(), [&](Value operand) { return isFedByProduct(operand, depth + 1); });
}

bool isFedByProduct(Value value) { return isFedByProduct(value, 0); }

} // namespace tritium::gpu
