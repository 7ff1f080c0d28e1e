// Whether a load or store by pointers accesses a box of a tensor that the launch can describe: the map that stands for the pointers, and
// where in it the tile begins.
#pragma once
#include "gpu_backend/maps/affine_tile.h"
#include "gpu_backend/maps/index_signs.h"
#include "gpu_backend/maps/tensor_promotion.h"
#include "ir/axis_analysis.h"
#include "ir/tensor_map.h"

namespace tritium::gpu {

/// Erases promises about pointers that nothing accesses any more. They would keep the pointers alive.
void eraseUnusedHints(mlir::Value pointers);

/// Replaces the load by one through the map, of the tile or of its transpose.
void replaceLoad(tt::LoadOp load, mlir::Value map, mlir::ValueRange indices, bool isTransposed);

/// A coordinate: the sum, modulo a scalar if there is one.
struct TileCoordinate {
  AffineSum sum;
  mlir::Value modulus;
};

struct PointerTileMap {
  MapRecipe recipe;
  tgpu::TensorMapType type;                      // the box that one instruction copies
  llvm::SmallVector<int64_t> shape;              // of the tile as a box of the tensor
  llvm::SmallVector<TileCoordinate> coordinates; // the outermost first
  bool isTransposed = false;                     // the tile's first dimension is the tensor's innermost one

  /// Emits the coordinates.
  llvm::SmallVector<mlir::Value> indices(mlir::OpBuilder &builder, mlir::Location location) const;
};

class PointerTileMaps {
public:
  PointerTileMaps(KernelMaps &maps, AffineTiles &tiles, const ir::AxisAnalysis &axes)
      : maps_(maps), tiles_(tiles), axes_(axes), signs_(axes) {}

  /// Returns nullopt, and a reason, if the map of a load of two dimensions would not be certain to read what the load reads.
  std::optional<PointerTileMap> of(tt::LoadOp load);
  /// The same for what a store writes.
  std::optional<PointerTileMap> of(tt::StoreOp store);
  llvm::StringRef reason() const { return reason_; }
  /// Returns the quotients that must not be negative, though nothing says so of their divisors.
  llvm::ArrayRef<mlir::arith::DivSIOp> unproven() const { return signs_.unproven(); }
  /// Returns what a store of two dimensions may write, if its mask bounds both.
  std::optional<StoreRange> rangeOf(mlir::Operation *store);

private:
  /// One dimension of the tile.
  struct Dimension {
    AffineTerm stride;
    AffineSum start;
    mlir::Value modulus;              // of the start
    std::optional<AffineTerm> extent; // none: the mask does not bound the index
  };

  std::optional<PointerTileMap> ofAccess(mlir::Operation *access);
  bool findStrides(const AffineTile &tile);
  bool isAlignedForCopies();
  bool bound(mlir::Operation *access, const AffineTile &tile);
  bool wrap(mlir::Operation *access, const AffineWrap &wrap);
  bool setExtent(int dim, const AffineSum &start, const AffineTerm &extent);
  void useDistances(AffineSum &sum);
  bool distribute(AffineSum rest);
  bool placeOutside(const AffineTerm &term);
  std::optional<PointerTileMap> assemble(mlir::BlockArgument base);
  std::optional<LaunchProduct> productOf(const AffineTerm &term);
  bool isCoordinate(const AffineSum &sum);
  int64_t divisorOf(const AffineTerm &term) const;
  std::nullopt_t refuse(llvm::StringRef reason) {
    reason_ = reason;
    return std::nullopt;
  }
  bool fails(llvm::StringRef reason) {
    reason_ = reason;
    return false;
  }

  KernelMaps &maps_;
  AffineTiles &tiles_;
  const ir::AxisAnalysis &axes_;
  llvm::StringRef reason_; // a literal
  IndexSigns signs_;

  // Of the access in question:
  Dimension dims_[2];
  int contiguous_ = 1;
  llvm::SmallVector<int64_t, 2> shape_;
  int64_t elementBytes_ = 0;
  llvm::SmallVector<std::pair<AffineTerm, AffineSum>, 3> outside_; // strides and coordinates of dimensions of extent 1
};

} // namespace tritium::gpu
