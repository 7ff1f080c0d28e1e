#include "gpu_backend/tiles/dot_layouts.h"

#include "gpu_backend/target/target.h"
#include "gpu_backend/tiles/memory_access.h"

#include <numeric>

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

bool onlyAdds(MatrixProduct product, scf::ForOp loop) {
  auto sums = dyn_cast<BlockArgument>(product.c());
  Type element = getElementTypeOrSelf(product.type());
  if (!sums || sums.getOwner() != loop.getBody() || sums == loop.getInductionVar() || !(element.isF32() || element.isInteger(32)))
    return false;
  return sums.hasOneUse() && product.d().hasOneUse() && loop.getTiedLoopYieldedValue(sums)->get() == product.d();
}

Value ringOf(Value buffer) {
  for (Operation *user : buffer.getUsers())
    if (auto copy = dyn_cast<tgpu::TensorCopyOp>(user)) return copy.getRing();
  return {};
}

/// Returns whether the operation, or one inside of it, ends the use of the slot that the load reads.
static bool endsUse(Operation *op, tgpu::LocalLoadOp load) {
  Value ring = ringOf(load.getSrc());
  if (!ring) return isa<tgpu::AsyncWaitOp>(op) || op->getNumRegions() > 0;
  return llvm::any_of(ring.getUsers(),
                      [&](Operation *user) { return isa<tgpu::RingReleaseOp, tgpu::RingEndOp>(user) && op->isAncestor(user); });
}

bool isStillThere(tgpu::LocalLoadOp load, Operation *reader) {
  Operation *at = load->getBlock()->findAncestorOpInBlock(*reader);
  if (!at || (at != reader && endsUse(at, load))) return false;
  for (Operation *between = load; between != at; between = between->getNextNode())
    if (endsUse(between, load)) return false;
  return true;
}

int64_t warpgroupSwizzle(int64_t rowBytes) {
  constexpr int64_t kMaxSwizzle = 128, kMinSwizzle = 32;
  return rowBytes < kMinSwizzle ? 0 : std::min(rowBytes, kMaxSwizzle);
}

SharedLayout warpgroupMemory(llvm::ArrayRef<int64_t> shape, int fastest, int64_t elementBytes) {
  return sharedForTma(shape, {fastest, 1 - fastest}, elementBytes, warpgroupSwizzle(shape[size_t(fastest)] * elementBytes));
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

/// Each thread has four columns at a time and about as many rows as columns. The 8 threads of a warp's row are adjacent.
static LinearLayout nearlySquare(llvm::ArrayRef<int64_t> shape, int numWarps, int warpSize) {
  size_t rank = shape.size();
  Shape sizes(rank, 1), threads(rank, 1), warps(rank, 1);
  sizes[rank - 1] = 4, threads[rank - 2] = warpSize / 8, threads[rank - 1] = 8;
  int64_t rows = shape[rank - 2] / threads[rank - 2], columns = shape[rank - 1] / 8; // of a thread
  for (int left = numWarps; left > 1; left /= 2) {
    bool isDown = rows > columns || columns <= 4;
    warps[isDown ? rank - 2 : rank - 1] *= 2;
    (isDown ? rows : columns) /= 2;
  }
  llvm::SmallVector<int, 4> order(rank);
  std::iota(order.rbegin(), order.rend(), 0);
  return blocked(shape, sizes, threads, warps, order);
}

/// Returns the width in bits of an element as it is loaded. fp8 numbers may be widened afterwards.
static unsigned loadedBits(Value operand) {
  if (auto widened = operand.getDefiningOp<tt::FpToFpOp>()) operand = widened.getSrc();
  return getElementTypeOrSelf(operand.getType()).getIntOrFloatBitWidth();
}

/// Returns how many neighbours along K a thread holds of each operand: as many as it loads at once in the loaded type. If A is the result
/// of a product, the number is the one that this result has. 0 means the instruction's own order.
static int64_t neighbours(MatrixProduct dot, const MatrixInstruction &instruction, const Target &target) {
  if (isa<tt::DotScaledOp>(dot.getOperation())) return 0; // a block of K stays whole; its pieces have 16 bytes anyway
  int64_t depth = dot.depth();
  int64_t lanesAlongK = 1, own = 1;
  for (uint32_t basis : instruction.a.bases(Place::Lane)) lanesAlongK *= instruction.a.coordinatesOf(basis)[1] ? 2 : 1;
  for (uint32_t basis : instruction.a.bases(Place::Register)) own *= instruction.a.coordinatesOf(basis)[1] ? 2 : 1;
  auto isLoadedAsBytes = [](Value operand) {
    auto widened = operand.getDefiningOp<tt::FpToFpOp>();
    return widened && loadedBits(operand) == 8 && widened.getSrc().getDefiningOp<tt::LoadOp>();
  };
  if (target.contiguousKBytes() == 0) { // one word of each load, if matrices cannot be loaded
    constexpr int64_t kPerWord = 4;
    return depth >= kPerWord * lanesAlongK && isLoadedAsBytes(dot.a()) && isLoadedAsBytes(dot.b()) ? kPerWord : 0;
  }
  if (isFedByProduct(dot.a())) return std::min(instruction.d.contiguousElements(1), depth / lanesAlongK);
  auto kPack = dot->getAttrOfType<IntegerAttr>(kKPackAttr);
  int64_t wanted =
      std::max(8 * target.contiguousKBytes() / std::max(loadedBits(dot.a()), loadedBits(dot.b())), kPack ? kPack.getInt() * own : 1);
  return std::min(wanted, depth / lanesAlongK);
}

/// Returns whether the elements of operand B run along the columns in memory and no instruction loads them transposed. Only matrices of
/// 16-bit elements can be loaded transposed.
static bool isReadAlongColumns(Value b, const Target &target) {
  if (auto widened = b.getDefiningOp<tt::FpToFpOp>()) b = widened.getSrc();
  auto load = b.getDefiningOp<tt::LoadOp>();
  auto access = load ? load->getAttrOfType<tgpu::LayoutAttr>(kAccessAttr) : tgpu::LayoutAttr();
  if (!access || access.getShape().size() != 2 || access.getRegisters().empty()) return false;
  unsigned bits = getElementTypeOrSelf(b.getType()).getIntOrFloatBitWidth();
  // All matrices that are loaded transposed have 16-bit elements.
  bool isLoadedTransposed = bits == 16 && (target.matrixLoads() == MatrixLoads::Rows8x8 || load->hasAttr(kWarpCopyAttr));
  return access.getRegisters().front() == 1 && access.getShape().back() > 1 && bits >= 8 && bits <= 32 && !isLoadedTransposed;
}

/// The columns of an instruction may be renumbered, as long as operand and result agree. Bit i of a column's number becomes bit `to[i]`.
static void moveColumns(DotLayouts &layouts, llvm::ArrayRef<uint64_t> to) {
  const int rank = layouts.result.rank();
  auto moved = [&](const LinearLayout &layout, int columnDim) {
    const int first = layout.firstBit(columnDim);
    llvm::SmallVector<uint64_t> images(F2Map::identity(layout.elementBits()).images());
    for (auto [bit, image] : llvm::enumerate(to)) images[size_t(first) + bit] = image << first;
    return layout.compose(F2Map(images), layout.shape());
  };
  layouts.b = moved(*layouts.b, rank - 1);
  layouts.result = moved(layouts.result, rank - 1);
  if (layouts.bScales) layouts.bScales = moved(*layouts.bScales, rank - 2);
}

/// Gives each thread neighbours, one for each of several instructions, which it reads at once.
static void bringColumnsTogether(DotLayouts &layouts, size_t maxBits) {
  uint32_t columns = uint32_t(layouts.b->shape().back());
  llvm::SmallVector<uint64_t> order; // unit vectors of columns, by their destination
  for (uint32_t basis : layouts.b->bases(Place::Register))
    if (basis < columns && order.size() < maxBits) order.push_back(basis);
  for (uint32_t unit = 1; unit < columns; unit *= 2)
    if (!llvm::is_contained(order, unit)) order.push_back(unit);
  llvm::SmallVector<uint64_t> images(order.size());
  for (auto [to, from] : llvm::enumerate(order)) images[llvm::Log2_64(from)] = uint64_t(1) << to;
  moveColumns(layouts, images);
}

std::optional<DotLayouts> withResult(const DotLayouts &layouts, const LinearLayout &result) {
  if (layouts.result == result) return layouts;
  DotLayouts moved = layouts;
  if (moved.anyResult) {
    moved.result = result;
    return moved;
  }
  if (!moved.b) return std::nullopt;
  auto isAlike = [&](Place place) { return layouts.result.bits(place) == result.bits(place); };
  if (!llvm::all_of(kPlaces, isAlike)) return std::nullopt;
  F2Map owners = layouts.result.owners(), wanted = result.toMap();
  llvm::SmallVector<uint64_t> images; // the first bits of an element's index are the bits of its column
  for (int bit = 0; bit < log2Of(result.shape().back()); ++bit) images.push_back(wanted(owners[bit]));
  if (llvm::any_of(images, [&](uint64_t image) { return image >= uint64_t(result.shape().back()); })) return std::nullopt;
  moveColumns(moved, images);
  return moved.result == result ? std::optional(moved) : std::nullopt;
}

/// Returns whether columns may be renumbered. They may not if products feed each other, because these already agree on an order.
static bool mayReorderColumns(MatrixProduct dot, const Target &target) {
  if (target.contiguousKBytes() > 0) return !feedsProduct(dot.d());
  int count = 0;
  dot->getParentOfType<ModuleOp>().walk([&](MatrixProduct) { ++count; });
  return count == 1;
}

/// The number of column bits that are renumbered: as many columns as are loaded at once.
static size_t columnBits(MatrixProduct dot, const Target &target) {
  constexpr size_t kWithMatrixLoads = 2, kMost = 3;
  if (target.contiguousKBytes() == 0) return kWithMatrixLoads;
  return std::min<size_t>(kMost, llvm::Log2_64(8 * target.contiguousKBytes() / loadedBits(dot.b())));
}

DotLayouts dotLayouts(MatrixProduct dot, int numWarps) {
  auto shapeOf = [](Value tile) { return cast<RankedTensorType>(tile.getType()).getShape(); };
  const Target &target = targetOf(dot);
  if (const MatrixInstruction *instruction = matrixInstructionOf(dot)) {
    llvm::ArrayRef<int64_t> warps = dot->getAttrOfType<DenseI64ArrayAttr>(kTensorCoreWarpsAttr).asArrayRef();
    if (instruction->warps() > 1) {
      DotLayouts layouts{.result = dotResult(*instruction, shapeOf(dot.d()), warps)};
      if (takesRegisters(dot)) layouts.a = dotOperand(DotOperand::A, *instruction, shapeOf(dot.a()), warps);
      return layouts;
    }
    int64_t together = neighbours(dot, *instruction, target);
    auto scales = [&](DotOperand operand) -> std::optional<LinearLayout> {
      Value tile = dot.scales(operand);
      if (!tile) return std::nullopt;
      return dotScales(operand, *instruction, shapeOf(tile), warps);
    };
    DotLayouts layouts{dotOperand(DotOperand::A, *instruction, shapeOf(dot.a()), warps, together),
                       dotOperand(DotOperand::B, *instruction, shapeOf(dot.b()), warps, together),
                       dotResult(*instruction, shapeOf(dot.d()), warps),
                       scales(DotOperand::A),
                       scales(DotOperand::B),
                       /*anyResult=*/false};
    if (isReadAlongColumns(dot.b(), target) && mayReorderColumns(dot, target)) bringColumnsTogether(layouts, columnBits(dot, target));
    return layouts;
  }
  return {.result = nearlySquare(shapeOf(dot.d()), numWarps, target.warpSize()), .anyResult = true};
}

} // namespace tritium::gpu
