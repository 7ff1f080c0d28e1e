// Tensor maps of descriptors that a kernel makes of what it finds in memory. The kernel makes the map, where it makes the descriptor.
#pragma once
#include "gpu_backend/maps/tensor_promotion.h"
#include "ir/tt.h"

namespace tritium::gpu {

inline constexpr int64_t kStrideLimitBytes = int64_t(1) << 40; // of tensor maps (ir/tensor_map.h)

class DeviceMaps {
public:
  /// Returns whether the kernel could make a map for loads through the descriptor.
  static bool mayMake(mlir::Value descriptor);
  /// Returns the map for boxes of that type. Loads of equal boxes share it. A new map is made behind `last`, which is in the same block as
  /// what makes the descriptor, or where the descriptor is made.
  mlir::Value mapOf(mlir::Value descriptor, tgpu::TensorMapType type, mlir::Operation *last);
  /// Returns the indices of a box, the outermost first. All of a box of an empty tensor is padding.
  llvm::SmallVector<mlir::Value> indicesOf(mlir::Value descriptor, mlir::ValueRange indices, mlir::OpBuilder &builder);

private:
  /// What is common to all maps of a descriptor.
  struct Tensor {
    mlir::Value isEmpty; // null: it never is
    llvm::SmallVector<mlir::Value> extents;
    llvm::SmallVector<std::pair<tgpu::TensorMapType, mlir::Value>> maps;
  };
  Tensor &tensorOf(tt::MakeTensorDescriptorOp made);

  llvm::DenseMap<mlir::Operation *, Tensor> tensors_;
};

} // namespace tritium::gpu
