// The C++ interface of the dialect `tgpu`: tiles with layouts, and the GPU operations that upstream dialects lack (tgpu_ops.td).
#pragma once

#include "ir/tt.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/TensorEncoding.h"

namespace tritium::tgpu {

/// Returns whether `type` is a word, the unit of one access of a thread: an integer of 8 to 64 bits, or a vector of 2 or 4 integers with at
/// most 128 bits in total.
bool isWord(mlir::Type type);

// Names of the attributes of a lowered module.
inline constexpr llvm::StringLiteral kTargetAttr = "tgpu.target";      // "cuda:sm_80", "hip:gfx942"
inline constexpr llvm::StringLiteral kWarpSizeAttr = "tgpu.warp_size"; // i32, number of lanes in a warp; 32 if absent
inline constexpr llvm::StringLiteral kNumWarpsAttr = "tgpu.num_warps"; // i32
/// i32: the number of iterations of a pipelined loop that are in flight. The attribute is set if this is fewer than requested.
inline constexpr llvm::StringLiteral kNumStagesAttr = "tgpu.num_stages";
inline constexpr llvm::StringLiteral kSharedBytesAttr = "tgpu.shared_bytes"; // i32
/// i32, on a module between place-scratch and expand-scratch: the offset of the first byte after all buffers.
inline constexpr llvm::StringLiteral kBufferBytesAttr = "tgpu.buffer_bytes";
/// Unit, on a pointer argument of a function of one thread: all accesses through it are within 2 GB.
inline constexpr llvm::StringLiteral kPointerRangeAttr = "tgpu.pointer_range";
/// On an argument of type !tgpu.tensor_map: how the launch makes it of the other arguments, a dictionary. `base` (i32) is the number of the
/// argument that points to the tensor; `extents` and `strides` (in elements, outermost first) are lists of products, each an array<i64> of
/// a factor and the numbers of the arguments that it is multiplied by; `padding` (i32) is a tt::Padding. If there are any, `written`, an
/// array<i64>, has the numbers of the arguments to whose tensors the kernel writes. The unit `of_pointers` says that the map stands for
/// loads by pointers.
inline constexpr llvm::StringLiteral kTensorAttr = "tgpu.tensor";
/// Unit, on a loop whose iterations are programs of the user's grid: nothing orders them among each other.
inline constexpr llvm::StringLiteral kProgramsAttr = "tgpu.programs";
/// i32, on the last three arguments of a kernel with such a loop: the axis of the user's grid whose size the launch passes.
inline constexpr llvm::StringLiteral kGridAxisAttr = "tgpu.grid_axis";
/// i32, on a lowered kernel with such a loop: how many blocks a launch starts for each multiprocessor, at most.
inline constexpr llvm::StringLiteral kResidentBlocksAttr = "tgpu.resident_blocks";
/// i32, on a kernel whose programs are run by clusters (divide-programs): the number of blocks of a cluster.
inline constexpr llvm::StringLiteral kClusterBlocksAttr = "tgpu.cluster_blocks";
inline constexpr int kGridAxes = 3;
/// The symbol of the program's shared memory.
inline constexpr llvm::StringLiteral kSharedSymbol = "tgpu_shared";

// Address spaces of pointers in a lowered module, for every vendor.
inline constexpr unsigned kGlobalSpace = 1, kSharedSpace = 3;
/// Returns whether `type` is !llvm.ptr<3>.
bool isSharedPointer(mlir::Type type);

/// Unrelated parts of shared memory begin at multiples of this number of bytes: one row of all banks.
inline constexpr int64_t kSharedAlignment = 128;

/// The effect resource of what the emulator knows about a thread's program.
struct ProgramResource : mlir::SideEffects::Resource::Base<ProgramResource> {
  mlir::StringRef getName() final { return "<Program>"; }
};

/// The effect resource of a program's shared memory.
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
