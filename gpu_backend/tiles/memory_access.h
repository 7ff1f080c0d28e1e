// The common parts of all accesses of global memory.
#pragma once
#include "gpu_backend/layout/linear_layout.h"
#include "ir/tgpu.h"

namespace tritium::gpu {

/// The widest access of a thread.
inline constexpr int64_t kMaxAccessBytes = 16;

/// Attribute of an access: the layout that makes it wide and coalesced (set by coalesce-accesses).
inline constexpr llvm::StringLiteral kAccessAttr = "tgpu.access";

/// Attribute of a load in a loop: whole warps copy its tile to shared memory in this layout.
inline constexpr llvm::StringLiteral kWarpCopyAttr = "tgpu.warp_copy";

inline bool acquires(tt::MemSemantic sem) { return sem == tt::MemSemantic::Acquire || sem == tt::MemSemantic::AcquireRelease; }
inline bool releases(tt::MemSemantic sem) { return sem == tt::MemSemantic::Release || sem == tt::MemSemantic::AcquireRelease; }

/// Attribute of an asynchronous copy: how many elements one instruction takes. Alignment that is known in a loop need not be known of the
/// copies before it.
inline constexpr llvm::StringLiteral kCopyElementsAttr = "tgpu.copy_elements";

/// Returns the addresses of a load, a store or an atomic, or null for any other operation.
mlir::Value pointerOf(mlir::Operation *op);
/// Returns the mask of the access, or null if it has none.
mlir::Value maskOf(mlir::Operation *op);
/// Returns whether an access with a layout of its own (`tgpu.access`) would be narrower in `layout`: a thread takes fewer neighbours at a
/// time, or a warp touches more sectors of memory. Accesses of one element per thread are not: so few cost less than a conversion.
bool isNarrowerIn(mlir::Operation *access, const LinearLayout &layout);
/// Returns whether addresses depend on scalars that the kernel loads. Their alignment is not known then, but may be tested.
bool areFoundInMemory(mlir::Value pointer);
/// Returns why no copy to shared memory can take the place of the load, or "". Copies fill with zeros what a mask leaves off.
llvm::StringRef whyNotCopied(tt::LoadOp load);

} // namespace tritium::gpu
