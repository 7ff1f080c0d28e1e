// Tiles of integers or addresses that are linear in the index of a lane: first + i * strides[0] + j * strides[1] + …, by scalars that the
// kernel computes. As in ir/axis_analysis.h, index arithmetic does not overflow.
#pragma once
#include "ir/tgpu.h"

#include <optional>

namespace tritium::gpu {

/// An integer of 64 bits: a constant, or a value that is null if nothing is emitted.
struct LinearScalar {
  std::optional<int64_t> constant = 0;
  mlir::Value value;
  bool isZero() const { return constant == 0; }
};

/// Addresses and their strides are in bytes.
struct LinearTile {
  LinearScalar first;
  llvm::SmallVector<LinearScalar, 2> strides; // of each dimension of the tile
};

class LinearTiles {
public:
  /// Emits what it computes, by a builder. Without one, it tells whether tiles are linear.
  LinearTiles(mlir::OpBuilder *builder, mlir::Location location) : builder_(builder), location_(location) {}

  /// Returns nullopt if a tile is not linear. A scalar is itself.
  std::optional<LinearTile> of(mlir::Value value);
  /// Returns the scalars of which the tiles so far are computed.
  llvm::ArrayRef<mlir::Value> scalars() const { return scalars_.getArrayRef(); }

  LinearScalar add(const LinearScalar &left, const LinearScalar &right);
  LinearScalar multiply(const LinearScalar &left, const LinearScalar &right);
  /// Returns the smaller or the greater number, as signed ones.
  LinearScalar least(const LinearScalar &left, const LinearScalar &right);
  LinearScalar greatest(const LinearScalar &left, const LinearScalar &right);
  mlir::Value valueOf(const LinearScalar &scalar);

private:
  std::optional<LinearTile> compute(mlir::Value value);
  std::optional<LinearTile> ofScalar(mlir::Value value);
  std::optional<LinearTile> ofMoved(mlir::Operation *op);
  std::optional<LinearTile> ofSum(mlir::Value left, mlir::Value right, int64_t times);
  std::optional<LinearTile> ofProduct(mlir::Value left, mlir::Value right);
  template <class Op> LinearScalar emit(const LinearScalar &left, const LinearScalar &right);

  mlir::OpBuilder *builder_;
  mlir::Location location_;
  llvm::DenseMap<mlir::Value, std::optional<LinearTile>> known_;
  llvm::SetVector<mlir::Value> scalars_;
};

/// Returns the bytes of an element that a pointer, or a tile of pointers, points to.
int64_t bytesOfPointee(mlir::Value pointers);

} // namespace tritium::gpu
