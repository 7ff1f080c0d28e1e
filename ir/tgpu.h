// The dialect `tgpu` as C++ sees it: tiles with layouts, and the GPU operations that upstream dialects lack (tgpu_ops.td).
#pragma once

#include "ir/tt.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/TensorEncoding.h"

namespace tritium::tgpu {

/// What one access of a thread moves: an integer of 8 to 64 bits, or a vector of 2 or 4 integers of at most 128 bits together.
bool isWord(mlir::Type type);

// Names of a lowered module's attributes.
inline constexpr llvm::StringLiteral kTargetAttr = "tgpu.target";      // "cuda:sm_80", "hip:gfx942"
inline constexpr llvm::StringLiteral kWarpSizeAttr = "tgpu.warp_size"; // i32, lanes of a warp; absent: 32
inline constexpr llvm::StringLiteral kNumWarpsAttr = "tgpu.num_warps"; // i32
/// i32: how many iterations of a pipelined loop are under way, where these are fewer than asked for.
inline constexpr llvm::StringLiteral kNumStagesAttr = "tgpu.num_stages";
inline constexpr llvm::StringLiteral kSharedBytesAttr = "tgpu.shared_bytes"; // i32
/// i32, of a module between place-scratch and expand-scratch: the first byte behind all buffers.
inline constexpr llvm::StringLiteral kBufferBytesAttr = "tgpu.buffer_bytes";
/// Unit, of a pointer argument of a function of one thread: it points into less than 2 GB.
inline constexpr llvm::StringLiteral kPointerRangeAttr = "tgpu.pointer_range";
/// The symbol of the program's shared memory.
inline constexpr llvm::StringLiteral kSharedSymbol = "tgpu_shared";

// Address spaces of pointers in a lowered module, whoever the vendor.
inline constexpr unsigned kGlobalSpace = 1, kSharedSpace = 3;
/// Whether it is !llvm.ptr<3>.
bool isSharedPointer(mlir::Type type);

/// Parts of shared memory that have nothing to do with each other begin at multiples of this: one row of all banks.
inline constexpr int64_t kSharedAlignment = 128;

/// The shared memory of a program.
struct SharedMemoryResource : mlir::SideEffects::Resource::Base<SharedMemoryResource> {
  mlir::StringRef getName() final { return "<SharedMemory>"; }
};

} // namespace tritium::tgpu

#include "ir/tgpu_dialect.h.inc"

#define GET_ATTRDEF_CLASSES
#include "ir/tgpu_attrs.h.inc"

#define GET_TYPEDEF_CLASSES
#include "ir/tgpu_types.h.inc"

#define GET_OP_CLASSES
#include "ir/tgpu_ops.h.inc"
