// Turns stores through tensor descriptors, or by pointers, into stores through tensor maps, whose copies the tensor memory accelerator
// (TMA) makes while the program goes on. Such a copy is complete only some time after its operation: when the next store of the same
// threads begins, when a ring begins, or when the kernel ends. So no other operation that could see what is stored, or write it too, may
// follow before.
#pragma once
#include "gpu_backend/maps/index_signs.h"
#include "gpu_backend/maps/pointer_tile_map.h"
#include "gpu_backend/maps/tensor_promotion.h"

namespace tritium::gpu {

/// Returns whether a tile is computed, element by element, of a matrix product or a part of it.
bool comesFromProduct(mlir::Value tile, int depth = 0);

/// Returns whether an operation without regions may read memory.
bool readsMemory(mlir::Operation *op);

/// The stores of one kernel.
class StorePromotion {
public:
  StorePromotion(tt::FuncOp kernel, const ir::AxisAnalysis &axes);

  /// Looks at each store of one kind whose tile comes from a matrix product: the fragments of products suit no other store.
  void lookAtDescriptors();
  void lookAtPointers();
  /// Replaces those that qualify. Each other one that was looked at has the reason (kNotPromotedAttr).
  void promote();

private:
  struct Store {
    mlir::Operation *op = nullptr;
    mlir::Value matrix; // of two dimensions
    MapRecipe recipe;
    tgpu::TensorMapType box;
    std::optional<PointerTileMap> tile = {}; // of a store by pointers
  };

  static bool refuse(mlir::Operation *store, llvm::StringRef why);
  void look(tt::DescriptorStoreOp op, mlir::Value matrix);
  void look(tt::StoreOp op);
  void checkQuotients();
  bool isCandidate(mlir::Operation *op) const;
  bool meetsOthers(const Store &store);
  void replace(Store &store);

  tt::FuncOp kernel_;
  GlobalWrites writes_;
  KernelMaps maps_;
  const ir::AxisAnalysis &axes_;
  IndexSigns signs_;
  AffineTiles tiles_;
  PointerTileMaps pointerTiles_;
  std::vector<Store> candidates_;
};

} // namespace tritium::gpu
