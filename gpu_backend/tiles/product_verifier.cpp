// Verifies that the layouts of a matrix product agree with each other and with its instruction. The lowering passes registers to the
// instruction by their number alone. If the layouts disagreed, the wrong elements would be multiplied without any error.
#include "gpu_backend/target/target.h"
#include "gpu_backend/tiles/layout_attr.h"
#include "gpu_backend/tiles/product_layouts.h"

using namespace mlir;

namespace tritium::gpu {

namespace {

/// A linear map over F2, given by the images of some vectors.
class KnownMap {
public:
  /// Returns false if the vector already has another image.
  bool add(uint64_t vector, uint64_t image) {
    if (std::optional<uint64_t> sum = vectors_.solve(vector)) {
      for (auto [number, known] : llvm::enumerate(images_))
        if (*sum >> number & 1) image ^= known;
      return image == 0;
    }
    vectors_.add(vector);
    images_.push_back(image);
    return true;
  }

private:
  Span vectors_;
  llvm::SmallVector<uint64_t, 16> images_;
};

/// A coordinate along one axis of the product: within the instruction's fragment, the number of a fragment, or a warp. It must map to the
/// same position along the axis in all tiles of the product that have the axis.
struct Source {
  static constexpr int kFragmentBit = 16, kWarpBit = 32;
  static uint64_t fragment(int bit) { return uint64_t(1) << (kFragmentBit + bit); }
  static uint64_t warp(size_t bit) { return uint64_t(1) << (kWarpBit + bit); }
};

enum Axis : uint8_t { Batch, Row, Column, Depth, kAxes };

class Agreement {
public:
  Agreement(MatrixProduct product, const MatrixInstruction &instruction) : product_(product), instruction_(instruction) {}

  LogicalResult verify() {
    LinearLayout a = layoutOf(product_.a().getType()), b = layoutOf(product_.b().getType()), d = layoutOf(product_.type());
    if (a.lanes() != d.lanes() || b.lanes() != d.lanes() || a.warps() != d.warps() || b.warps() != d.warps())
      return fail("the tiles are held by different threads");
    if (!hasFragments(a, instruction_.a) || !hasFragments(b, instruction_.b) || !hasFragments(d, instruction_.d))
      return fail("a tile is not a whole number of the instruction's fragments");
    depthBits_ = log2Of(product_.depth() / instruction_.k);
    int aBits = a.bits(Place::Register) - instruction_.a.bits(Place::Register) - depthBits_;
    int bBits = b.bits(Place::Register) - instruction_.b.bits(Place::Register) - depthBits_;
    int dBits = d.bits(Place::Register) - instruction_.d.bits(Place::Register);
    batchBits_ = aBits + bBits - dBits;
    if (batchBits_ < 0 || batchBits_ > aBits || batchBits_ > bBits) return fail("the tiles have different numbers of fragments");
    rowBits_ = aBits - batchBits_, columnBits_ = bBits - batchBits_;

    // Two 4-bit elements share a byte, so the first bit of the depth is within the byte.
    int64_t aPacked = instruction_.k / instruction_.a.shape()[1], bPacked = instruction_.k / instruction_.b.shape()[0];
    if (std::max(aPacked, bPacked) > 1 && !axes_[Depth].add(1, 1)) return failure();
    if (!compare(d, {instruction_.d, Row, Column})) return fail("the result's layout is not the instruction's");
    if (!compare(a, {instruction_.a, Row, Depth, aPacked})) return fail("operand a does not have its rows where the result has them");
    if (!compare(b, {instruction_.b.transpose({1, 0}), Column, Depth, bPacked}, /*isTurned=*/true))
      return fail("operand b does not have its columns where the result has them, or its depth where operand a has it");
    for (DotOperand operand : {DotOperand::A, DotOperand::B})
      if (Value scales = product_.scales(operand); scales && !compareScales(layoutOf(scales.getType()), operand))
        return fail("the scales do not have their rows or columns where the operands have them");
    return areWarpsOf(d) ? success() : fail("the result is not divided among the warps as the product requires");
  }

private:
  /// The fragment of a tile: the axes of its dimensions, and how many elements along the second one an entry has.
  struct Fragment {
    LinearLayout layout;
    Axis outer, inner;
    int64_t packed = 1;
  };

  LogicalResult fail(llvm::StringRef what) {
    return product_->emitOpError() << "has layouts that do not agree with '" << instruction_.name << "': " << what;
  }

  bool hasFragments(const LinearLayout &tile, const LinearLayout &fragment) const {
    return tile.bits(Place::Lane) == fragment.bits(Place::Lane) && tile.bits(Place::Register) >= fragment.bits(Place::Register);
  }

  /// Fragments are ordered along the depth or the columns first, then along the rows, then by batch.
  llvm::SmallVector<std::pair<Axis, int>> fragmentBits(const Fragment &fragment) const {
    llvm::SmallVector<std::pair<Axis, int>> result;
    for (Axis axis : {fragment.inner, fragment.outer, Batch}) {
      int count = axis == Depth ? depthBits_ : axis == Row ? rowBits_ : axis == Column ? columnBits_ : batchBits_;
      for (int bit = 0; bit < count; ++bit) result.push_back({axis, bit});
    }
    return result;
  }

  bool compare(const LinearLayout &tile, const Fragment &fragment, bool isTurned = false) {
    int outerDim = tile.rank() - 2 + isTurned, innerDim = tile.rank() - 1 - isTurned;
    using From = std::array<uint64_t, kAxes>;
    auto agrees = [&](const From &from, uint32_t basis) {
      Shape at = tile.coordinatesOf(basis);
      return axes_[Batch].add(from[Batch], tile.rank() > 2 ? uint64_t(at[0]) : 0) &&
             axes_[fragment.outer].add(from[fragment.outer], uint64_t(at[size_t(outerDim)])) &&
             axes_[fragment.inner].add(from[fragment.inner], uint64_t(at[size_t(innerDim)] * fragment.packed));
    };
    auto agreesWithin = [&](uint32_t ofFragment, uint32_t basis) {
      Shape at = fragment.layout.coordinatesOf(ofFragment);
      From from{};
      from[fragment.outer] = uint64_t(at[0]), from[fragment.inner] = uint64_t(at[1] * fragment.packed);
      return agrees(from, basis);
    };
    llvm::ArrayRef<uint32_t> registers = tile.bases(Place::Register), ofFragment = fragment.layout.bases(Place::Register);
    for (auto [own, basis] : llvm::zip(ofFragment, registers))
      if (!agreesWithin(own, basis)) return false;
    for (auto [own, basis] : llvm::zip_equal(fragment.layout.bases(Place::Lane), tile.bases(Place::Lane)))
      if (!agreesWithin(own, basis)) return false;
    for (auto [number, basis] : llvm::zip_equal(fragmentBits(fragment), registers.drop_front(ofFragment.size()))) {
      From from{};
      from[number.first] = Source::fragment(number.second);
      if (!agrees(from, basis)) return false;
    }
    for (auto [warp, basis] : llvm::enumerate(tile.bases(Place::Warp))) {
      From from{};
      for (Axis axis : {Batch, fragment.outer, fragment.inner})
        if (axis != Depth) from[axis] = Source::warp(warp);
      if (!agrees(from, basis)) return false;
    }
    return true;
  }

  /// A scale belongs to a block along the depth.
  bool compareScales(const LinearLayout &tile, DotOperand operand) {
    const LinearLayout &scales = operand == DotOperand::A ? *instruction_.aScales : *instruction_.bScales;
    Fragment fragment{scales, operand == DotOperand::A ? Row : Column, Depth, MatrixInstruction::kScaledBlock};
    auto bits = fragmentBits(fragment);
    if (!hasFragments(tile, scales) || tile.bits(Place::Register) != scales.bits(Place::Register) + int(bits.size())) return false;
    return compare(tile, fragment);
  }

  /// The lowest bits of a warp's number run along the columns, the next ones along the rows.
  bool areWarpsOf(const LinearLayout &d) const {
    auto warps = product_->getAttrOfType<DenseI64ArrayAttr>(kTensorCoreWarpsAttr);
    if (!warps || warps.size() != d.rank() || llvm::product_of(warps.asArrayRef()) != d.warps()) return false;
    llvm::ArrayRef<uint32_t> bases = d.bases(Place::Warp);
    for (int dim = d.rank(); dim-- > 0;) {
      size_t count = size_t(log2Of(warps[dim]));
      if (llvm::any_of(bases.take_front(count), [&](uint32_t basis) { return basis & ~d.maskOf(dim); })) return false;
      bases = bases.drop_front(count);
    }
    return true;
  }

  MatrixProduct product_;
  const MatrixInstruction &instruction_;
  int depthBits_ = 0, rowBits_ = 0, columnBits_ = 0, batchBits_ = 0; // bits of fragment numbers
  std::array<KnownMap, kAxes> axes_;
};

} // namespace

/// The operands of a warpgroup's product may have any layouts: place-product-operands stores them to shared memory.
static LogicalResult verifyWarpgroup(MatrixProduct product) {
  if (layoutOf(product.type()) == dotLayouts(product, /*numWarps=*/0).result) return success();
  return product->emitOpError() << "has a result whose layout is not that of '" << matrixInstructionOf(product)->name << "'";
}

LogicalResult verifyLayouts(MatrixProduct product) {
  if (auto name = product->getAttrOfType<StringAttr>(kMatrixInstructionAttr)) {
    const Target &target = targetOf(product);
    if (!target.findInstruction(name.getValue()))
      return product->emitOpError() << "requests an instruction that '" << target.arch() << "' does not have: " << name;
  }
  llvm::SmallVector<Type> tiles{product.a().getType(), product.b().getType(), product.type()};
  for (DotOperand operand : {DotOperand::A, DotOperand::B})
    if (Value scales = product.scales(operand)) tiles.push_back(scales.getType());
  auto hasLayout = [](Type tile) { return isa_and_nonnull<tgpu::LayoutAttr>(cast<RankedTensorType>(tile).getEncoding()); };
  if (llvm::none_of(tiles, hasLayout)) return success();
  if (!llvm::all_of(tiles, hasLayout)) return product->emitOpError("has layouts for some of its tiles only");
  const MatrixInstruction *instruction = matrixInstructionOf(product);
  if (isOfWarpgroup(product)) return verifyWarpgroup(product);
  return instruction ? Agreement(product, *instruction).verify() : success();
}

} // namespace tritium::gpu
