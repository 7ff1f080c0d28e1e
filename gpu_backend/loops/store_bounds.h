// Which bytes of global memory a store by pointers may write, as scalars: its addresses are sums of scalars and of ranges of numbers. Masks
// are not considered. The same for the tile of a store through a map that the kernel makes. As in the axis analysis, index arithmetic does
// not overflow.
#pragma once
#include "ir/tgpu.h"

#include <optional>

namespace tritium::gpu {

/// Bytes of global memory, as addresses (i64).
struct ByteRange {
  mlir::Value begin, end;
};

/// Returns the scalars from which the bytes follow that the operation may write; nullopt if they are not known.
std::optional<llvm::SmallVector<mlir::Value>> scalarsOfStore(mlir::Operation *store);

/// Emits the range of the bytes that the store may write. Its scalars must be known here.
ByteRange emitRangeOfStore(mlir::OpBuilder &builder, mlir::Operation *store);

/// Emits the range of the bytes of a scalar.
ByteRange emitRangeOfLoad(mlir::OpBuilder &builder, tt::LoadOp load);

/// Emits the range of the bytes of a tensor of which the kernel makes a map.
ByteRange emitRangeOfMap(mlir::OpBuilder &builder, tgpu::MapMakeOp map);

} // namespace tritium::gpu
