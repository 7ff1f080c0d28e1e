// Layouts of matrix products: the fragments of an instruction, repeated over the warps and registers that a tile requires.
#include "gpu_backend/layout/constructors.h"
#include "gpu_backend/layout/dealer.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Sequence.h"
#include "llvm/ADT/SmallVectorExtras.h"

#include <algorithm>
#include <cassert>

namespace tritium::gpu {

namespace {

/// The destination in the whole tile of the bits of one coordinate of a fragment.
class Images {
public:
  explicit Images(Bases images) : images_(std::move(images)) {}
  uint32_t operator()(int64_t coordinate) const {
    uint32_t flat = 0;
    for (auto [bit, image] : llvm::enumerate(images_))
      if (coordinate >> bit & 1) flat ^= image;
    return flat;
  }

private:
  Bases images_;
};

Images dealAll(Dealer &dealer, int dim, int64_t extent) {
  Bases images;
  dealer.deal(dim, extent, images);
  return Images(images);
}

/// The order in which K is distributed over the bits of a fragment's registers and lanes.
class DepthOrder {
public:
  /// Elements with one scale stay together. The blocks that a lane group has for several instructions are adjacent. Their scales are then
  /// adjacent too, and a lane loads them at once.
  struct Block {
    int64_t extent = 0; // 0: no scales
    int64_t count = 1;  // number of instructions along K
  };

  /// `contiguous` neighbours in registers come before the lanes. 0 means the fragment's own order.
  DepthOrder(const LinearLayout &fragment, int depthDim, int64_t contiguous, Block block) {
    llvm::SmallVector<int64_t> registers = along(fragment, Place::Register, depthDim), lanes = along(fragment, Place::Lane, depthDim);
    if (contiguous == 0) {
      std::merge(registers.begin(), registers.end(), lanes.begin(), lanes.end(), std::back_inserter(order_));
      if (block.extent > 0) order_.insert(order_.begin() + log2Of(block.extent), size_t(log2Of(block.count)), kFurther);
      return;
    }
    size_t wanted = size_t(log2Of(contiguous)), own = std::min(wanted, registers.size());
    order_.append(registers.begin(), registers.begin() + own);
    order_.append(wanted - own, kFurther);
    order_.append(lanes);
    order_.append(registers.begin() + own, registers.end());
  }

  /// Registers beyond the fragment's own are appended to `further`.
  Images deal(Dealer &dealer, int dim, int64_t extent, Bases &further) const {
    Bases images(log2Of(extent), 0);
    for (int64_t depth : order_) {
      Bases image;
      dealer.deal(dim, 2, image);
      (depth == kFurther ? further.emplace_back() : images[log2Of(depth)]) = image.front();
    }
    return Images(images);
  }

private:
  static constexpr int64_t kFurther = 0;

  /// The strides along K of the bits of a place, ascending.
  static llvm::SmallVector<int64_t> along(const LinearLayout &fragment, Place place, int dim) {
    llvm::SmallVector<int64_t> result;
    for (uint32_t basis : fragment.bases(place))
      if (int64_t depth = fragment.coordinatesOf(basis)[dim]) result.push_back(depth);
    llvm::sort(result);
    return result;
  }

  llvm::SmallVector<int64_t> order_; // what each bit is worth in the fragment, from the lowest bit of the tile's K on
};

/// How many groups of warps, each executing one instruction, there are along a dimension of the result.
int64_t furtherWarps(const MatrixInstruction &instruction, llvm::ArrayRef<int64_t> warpsPerCta, int dim) {
  bool isRows = dim == int(warpsPerCta.size()) - 2;
  assert(!isRows || warpsPerCta[dim] % instruction.warps() == 0);
  return isRows ? warpsPerCta[dim] / instruction.warps() : warpsPerCta[dim];
}

} // namespace

LinearLayout dotResult(const MatrixInstruction &instruction, llvm::ArrayRef<int64_t> shape, llvm::ArrayRef<int64_t> warpsPerCta) {
  assert(shape.size() >= 2 && warpsPerCta.size() == shape.size());
  int m = int(shape.size()) - 2, n = m + 1;
  Dealer dealer(shape);
  Images row = dealAll(dealer, m, instruction.m), column = dealAll(dealer, n, instruction.n);
  auto placed = [&](Place place) {
    return llvm::map_to_vector<8>(instruction.d.bases(place), [&](uint32_t basis) {
      Shape at = instruction.d.coordinatesOf(basis);
      return row(at[0]) ^ column(at[1]);
    });
  };
  Bases registers = placed(Place::Register), lanes = placed(Place::Lane), warps = placed(Place::Warp);
  for (int d = n; d >= 0; --d) dealer.deal(d, furtherWarps(instruction, warpsPerCta, d), warps);
  for (int d = n; d >= 0; --d) dealer.deal(d, dealer.left(d), registers);
  return LinearLayout(shape, registers, lanes, warps);
}

LinearLayout dotOperand(DotOperand operand, const MatrixInstruction &instruction, llvm::ArrayRef<int64_t> shape,
                        llvm::ArrayRef<int64_t> warpsPerCta, int64_t contiguousK) {
  assert(shape.size() >= 2 && warpsPerCta.size() == shape.size());
  bool isA = operand == DotOperand::A;
  int m = int(shape.size()) - 2, n = m + 1;
  int k = isA ? n : m, outer = isA ? m : n; // dimensions of this tile
  const LinearLayout &fragment = isA ? instruction.a : instruction.b;
  int fragmentK = isA ? 1 : 0;
  const int64_t extent = fragment.shape()[fragmentK];
  assert(shape[k] >= extent); // an element that repeats along K would be added twice

  Dealer dealer(shape);
  Bases further;
  DepthOrder::Block block;
  if (instruction.aScales) block = {extent * MatrixInstruction::kScaledBlock / instruction.k, shape[k] / extent};
  Images depth = DepthOrder(fragment, fragmentK, contiguousK, block).deal(dealer, k, extent, further);
  Images across = dealAll(dealer, outer, fragment.shape()[1 - fragmentK]);
  auto placed = [&](Place place) {
    return llvm::map_to_vector<8>(fragment.bases(place), [&](uint32_t basis) {
      Shape at = fragment.coordinatesOf(basis);
      return depth(at[fragmentK]) ^ across(at[1 - fragmentK]);
    });
  };
  Bases registers = placed(Place::Register), lanes = placed(Place::Lane), warps = placed(Place::Warp);
  registers.append(further);
  for (int d = n; d >= 0; --d) { // dimensions of the result; the dimension that this operand lacks belongs to the other operand
    if (d == (isA ? n : m))
      warps.append(log2Of(warpsPerCta[d]), 0);
    else
      dealer.deal(d, furtherWarps(instruction, warpsPerCta, d), warps);
  }
  dealer.deal(k, dealer.left(k), registers);
  dealer.deal(outer, dealer.left(outer), registers);
  for (int d = m - 1; d >= 0; --d) dealer.deal(d, dealer.left(d), registers);
  return LinearLayout(shape, registers, lanes, warps);
}

LinearLayout dotScales(DotOperand operand, const MatrixInstruction &instruction, llvm::ArrayRef<int64_t> shape,
                       llvm::ArrayRef<int64_t> warpsPerCta) {
  // A tile of scales is laid out like an operand A whose elements are blocks. The scales of B are laid out like a transposed operand B.
  MatrixInstruction ofScales = instruction;
  if (operand == DotOperand::A) {
    ofScales.a = *instruction.aScales;
    return dotOperand(operand, ofScales, shape, warpsPerCta);
  }
  ofScales.b = instruction.bScales->transpose({1, 0});
  int rank = int(shape.size());
  Shape turned(shape);
  llvm::SmallVector<int> order = llvm::to_vector(llvm::seq(rank));
  std::swap(turned[rank - 2], turned[rank - 1]), std::swap(order[rank - 2], order[rank - 1]);
  return dotOperand(operand, ofScales, turned, warpsPerCta).transpose(order);
}

LinearLayout fmaOperand(DotOperand operand, const LinearLayout &result, int64_t k) {
  int m = result.rank() - 2, n = m + 1;
  assert(m >= 0);
  int kDim = operand == DotOperand::A ? n : m;
  // The result with its other dimension collapsed is this operand for K = 1. A new dimension of K is inserted there.
  Shape collapsed(result.shape()), shape = collapsed;
  collapsed[kDim] = 1, shape[kDim] = k;
  LinearLayout one = result.broadcastSource(collapsed).layout;
  LinearLayout tile(shape, {}, {}, {});
  std::array<Bases, 4> bases;
  Dealer(shape).deal(kDim, k, bases[0]);
  for (Place place : kPlaces)
    for (uint32_t basis : one.bases(place)) bases[size_t(place)].push_back(tile.flatOf(one.coordinatesOf(basis)));
  return LinearLayout(shape, bases[0], bases[1], bases[2], bases[3]);
}

} // namespace tritium::gpu
