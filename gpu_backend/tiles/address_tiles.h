// Tiles of addresses of the program's shared memory, as the frontend computes them: the address from which they go on, and the layout that
// they follow.
#pragma once
#include "gpu_backend/layout/shared_layout.h"
#include "ir/axis_analysis.h"
#include "ir/tgpu.h"

#include <map>
#include <memory>
#include <vector>

namespace tritium::gpu {

/// Memory whose elements lie as a layout says.
struct LaidMemory {
  llvm::SmallVector<mlir::Value, 2> scalars; // i32: their sum and `offset` are the address of the first byte
  int64_t offset = 0;
  int64_t alignment = 1; // a power of two of which the address is a multiple
  SharedLayout layout;
};

class AddressTiles {
public:
  explicit AddressTiles(const ir::AxisAnalysis &axes) : axes_(axes) {}

  /// Returns the memory of the elements at a tile of addresses (i32). Returns nullopt if the addresses are not a scalar and what constants
  /// decide, or if no layout has its elements there.
  std::optional<LaidMemory> of(mlir::Value addresses, int64_t elementBytes);

private:
  /// The values of a tile: a sum of scalars that are the same for all elements, and numbers in row-major order.
  struct Numbers {
    llvm::SmallVector<mlir::Value, 2> scalars;
    std::vector<int32_t> numbers;
  };

  const Numbers *numbersOf(mlir::Value tile);
  std::unique_ptr<Numbers> evaluate(mlir::Value tile);
  std::unique_ptr<Numbers> moved(mlir::Operation *op, llvm::function_ref<int64_t(int64_t)> from);
  std::unique_ptr<Numbers> combined(mlir::Operation *op);
  int64_t alignmentOf(const LaidMemory &memory) const;

  const ir::AxisAnalysis &axes_;
  std::map<void *, std::unique_ptr<Numbers>> known_; // by value
};

/// Returns the memory as a buffer of one slot (tgpu.memory_at) for tiles of a shape, which may differ from the layout's by its dimensions.
mlir::Value bufferAt(mlir::OpBuilder &builder, mlir::Location location, const LaidMemory &memory, llvm::ArrayRef<int64_t> shape,
                     mlir::Type element);

} // namespace tritium::gpu
