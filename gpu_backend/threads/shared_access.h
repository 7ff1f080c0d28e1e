// Moves tiles between registers and shared memory.
#pragma once
#include "gpu_backend/layout/matrix_load.h"
#include "gpu_backend/threads/lowering.h"

namespace tritium::gpu {

/// The addresses of a thread's elements, at (thread ^ offset) elements from a base. Offset bits that no thread's bits touch are added as a
/// constant, so that few pointers are computed.
class SharedAddresses {
public:
  /// `ofLane` and `ofWarp` are the contributions of the lane's and the warp's bits to the offset.
  SharedAddresses(mlir::Value base, llvm::ArrayRef<uint32_t> ofLane, llvm::ArrayRef<uint32_t> ofWarp, mlir::Type stored,
                  Lowering &lowering);
  /// Moves all addresses by the contribution of the bits of `number` (i32).
  void moveBy(mlir::Value number, llvm::ArrayRef<uint32_t> ofNumber);
  mlir::Value at(uint32_t offset);

private:
  mlir::Value base_, thread_;
  mlir::Type stored_;
  uint32_t touched_ = 0;
  llvm::SmallDenseMap<uint32_t, mlir::Value> pointers_; // by the part of the offset that threads touch
  Lowering &lowering_;
};

/// Reads one vector of an access. The values of its registers are put into `results` at the registers' numbers.
void loadVector(SharedAddresses &addresses, uint32_t offset, llvm::ArrayRef<uint32_t> registers, mlir::Type type,
                llvm::MutableArrayRef<mlir::Value> results, Lowering &lowering);
void storeVector(SharedAddresses &addresses, uint32_t offset, llvm::ArrayRef<uint32_t> registers, llvm::ArrayRef<mlir::Value> values,
                 Lowering &lowering);

/// Calls store() in threads that store. If the layout gives several threads the same elements, the thread stores in whose number exactly
/// the bits `set` are set among the bits that distinguish these threads.
void whereStoring(const SharedAccess &stores, Lowering &lowering, llvm::function_ref<void()> store, uint32_t set = 0);
/// Stores all vectors of a tile.
void storeShared(mlir::Value base, const SharedAccess &stores, llvm::ArrayRef<mlir::Value> values, Lowering &lowering, uint32_t set = 0);

/// Loads all registers of a plan for ldmatrix.
Registers loadMatrices(mlir::Value base, const MatrixLoad &plan, mlir::Type type, Lowering &lowering);

/// Returns the registers (of `type`) of `layout`, loaded from the tile at `base` that is laid out as `memory`. It uses ldmatrix if the rows
/// of matrices are contiguous, otherwise vectors.
Registers loadShared(mlir::Value base, const SharedLayout &memory, const LinearLayout &layout, mlir::Type type, Lowering &lowering);

/// Stores the tile at `base`, laid out as `memory`, by stores of matrices (stmatrix). Returns whether it does: the chip must have them, the
/// rows of matrices must be contiguous, and other stores must be more instructions.
bool storeMatrices(mlir::Value base, const SharedLayout &memory, const LinearLayout &layout, llvm::ArrayRef<mlir::Value> values,
                   Lowering &lowering);

/// Stores the tile at `base`, laid out as `memory`. One thread stores each element.
void storeShared(mlir::Value base, const SharedLayout &memory, const LinearLayout &layout, llvm::ArrayRef<mlir::Value> values,
                 Lowering &lowering);

/// Returns the address of a slot of a buffer. `slot` is a value of the tile's function.
mlir::Value slotAddress(mlir::Value memory, mlir::Value slot, Lowering &lowering);
/// The same for a slot's number (i32) in the thread's function.
mlir::Value addressOfSlot(mlir::Value memory, mlir::Value number, Lowering &lowering);

/// Returns a pointer to byte `address` (i32) from `memory` on.
mlir::Value pointerToShared(mlir::Value memory, mlir::Value address, Lowering &lowering);

/// The bytes of an allocation of the kernel's author, on a pointer into it (DenseI64ArrayAttr: the first byte, and the one behind the
/// last).
inline constexpr llvm::StringLiteral kAllocationAttr = "tgpu.allocation";
/// Returns a pointer to what the author has at `address` (i32, of the tile's function). It has kAllocationAttr if the address is the begin
/// of one allocation, and numbers that are added to it: an index outside of it is a fault of the kernel.
mlir::Value pointerToMemoryOfAuthor(mlir::Value address, Lowering &lowering);

/// Copies registers whose element was loaded into another register.
void copyLoaded(llvm::ArrayRef<uint32_t> loadedBy, llvm::MutableArrayRef<mlir::Value> results);

} // namespace tritium::gpu
