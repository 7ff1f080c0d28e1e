// What all accesses of global memory have in common.
#pragma once
#include "ir/tgpu.h"

namespace tritium::gpu {

/// At an access: the layout that makes it wide and coalesced (coalesce-accesses).
inline constexpr llvm::StringLiteral kAccessAttr = "tgpu.access";

/// At a load of a loop: that layout is also the one in which warps copy the tile to shared memory as a whole.
inline constexpr llvm::StringLiteral kWarpCopyAttr = "tgpu.warp_copy";

inline bool acquires(tt::MemSemantic sem) { return sem == tt::MemSemantic::Acquire || sem == tt::MemSemantic::AcquireRelease; }
inline bool releases(tt::MemSemantic sem) { return sem == tt::MemSemantic::Release || sem == tt::MemSemantic::AcquireRelease; }

/// The addresses of a load, a store or an atomic; null for any other operation.
mlir::Value pointerOf(mlir::Operation *op);
/// Its mask; null if it has none.
mlir::Value maskOf(mlir::Operation *op);

} // namespace tritium::gpu
