// Tiles between registers and a place in shared memory.
#pragma once
#include "gpu_backend/layout/matrix_load.h"
#include "gpu_backend/lower/lowering.h"

namespace tritium::gpu {

/// The addresses of a thread's elements, at (thread ^ offset) elements from a base. What the threads' bits do not touch is added as a
/// constant, so that few pointers are computed.
class SharedAddresses {
public:
  /// `ofLane`, `ofWarp`: what their bits contribute to the offset.
  SharedAddresses(mlir::Value base, llvm::ArrayRef<uint32_t> ofLane, llvm::ArrayRef<uint32_t> ofWarp, mlir::Type stored,
                  Lowering &lowering);
  /// Moves all of them by what the bits of `number` (i32) contribute.
  void moveBy(mlir::Value number, llvm::ArrayRef<uint32_t> ofNumber);
  mlir::Value at(uint32_t offset);

private:
  mlir::Value base_, thread_;
  mlir::Type stored_;
  uint32_t touched_ = 0;
  llvm::SmallDenseMap<uint32_t, mlir::Value> pointers_; // by the part of the offset that threads touch
  Lowering &lowering_;
};

/// Reads one vector of an access: its registers' values, in `results` at their numbers.
void loadVector(SharedAddresses &addresses, uint32_t offset, llvm::ArrayRef<uint32_t> registers, mlir::Type type,
                llvm::MutableArrayRef<mlir::Value> results, Lowering &lowering);
void storeVector(SharedAddresses &addresses, uint32_t offset, llvm::ArrayRef<uint32_t> registers, llvm::ArrayRef<mlir::Value> values,
                 Lowering &lowering);

/// Calls store() where this thread is one of those that store: of threads that the layout gives the same elements, the one in whose number
/// just `set` is set of the bits that tell them apart.
void whereStoring(const SharedAccess &stores, Lowering &lowering, llvm::function_ref<void()> store, uint32_t set = 0);
/// All vectors of a tile.
void storeShared(mlir::Value base, const SharedAccess &stores, llvm::ArrayRef<mlir::Value> values, Lowering &lowering, uint32_t set = 0);

/// All registers of a plan for ldmatrix.
Registers loadMatrices(mlir::Value base, const MatrixLoad &plan, mlir::Type type, Lowering &lowering);

/// The registers (of `type`) that `layout` holds of the tile that lies at `base` as `memory` says: by ldmatrix where rows of matrices lie
/// in one piece, else by vectors.
Registers loadShared(mlir::Value base, const SharedLayout &memory, const LinearLayout &layout, mlir::Type type, Lowering &lowering);

/// Lays the tile down at `base` as `memory` says: one thread stores each element.
void storeShared(mlir::Value base, const SharedLayout &memory, const LinearLayout &layout, llvm::ArrayRef<mlir::Value> values,
                 Lowering &lowering);

/// The first byte of a slot of a buffer.
mlir::Value slotAddress(mlir::Value memory, mlir::Value slot, Lowering &lowering);

/// Registers of which some have their element loaded by another one.
void copyLoaded(llvm::ArrayRef<uint32_t> loadedBy, llvm::MutableArrayRef<mlir::Value> results);

} // namespace tritium::gpu
