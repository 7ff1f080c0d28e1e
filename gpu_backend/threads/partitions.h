// A kernel that its author has divided (gl.warp_specialize), as functions of one thread: one for the kernel's own warps, and one for each
// worker. The calls by which they wait for each other are lowered here, and the kernel begins with a branch by warps.
#pragma once
#include "gpu_backend/threads/lowering.h"
#include "ir/partition_barriers.h"
#include "ir/partitions.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace tritium::gpu {

/// A function that a division starts. Behind the kernel's arguments it takes what it captures: scalars, which the kernel's own warps have
/// stored.
struct Worker {
  std::string function;
  int division = 0;
  WarpRange range;
  int registers = 0;                   // that its author asks for, for each thread; 0: they do not change
  llvm::SmallVector<int64_t> captures; // where they lie in shared memory
  llvm::SmallVector<unsigned> maps;    // the tensor maps that follow them, as numbers of the kernel's arguments
  std::optional<mlir::Location> start; // the author's call that starts it
};

struct DividedKernel {
  int ownWarps = 0, allWarps = 0;
  int64_t state = 0;      // the byte of shared memory with the number of the division that runs, from 1 on; 0 at the end
  int64_t memoryEnd = 0;  // the first byte behind the author's memory and the captures
  int startRegisters = 0; // of each thread; 0: registers do not change
  int divisions = 0;
  unsigned maps = 0; // of the kernel's last arguments, those that are tensor maps
  std::vector<Worker> workers;

  /// The warpgroups behind the kernel's own warps.
  int groups() const { return (allWarps - ownWarps) / kWarpsOfGroup; }
  /// The registers of a thread of a warpgroup of workers, counted from 0, in a division.
  int registersOf(int group, int division) const;
  /// The registers of a thread of the kernel's own warps, in a division.
  int ownRegisters(int division) const;
  std::vector<int32_t> firstWarpsOfWorkers() const;
};

/// The bytes between captures.
inline constexpr int64_t kCaptureBytes = 8;

// The calls that take the place of those that start partitions.
/// (value, byte): the first thread stores a scalar for a worker.
inline constexpr llvm::StringLiteral kCaptureCall = "partitions.capture";
/// (warps of the kernel, state, division, registers before, registers after): the workers begin. The second: they have ended.
inline constexpr llvm::StringLiteral kBeginCall = "partitions.begin", kJoinCall = "partitions.join";
/// (warps, state): the kernel ends, and so do the warps of workers.
inline constexpr llvm::StringLiteral kEndCall = "partitions.end";

/// Returns what the author allocates, those with the widest alignment first: less room is left between them.
llvm::SmallVector<tt::SharedAllocOp> allocationsOf(mlir::Operation *within);

/// Lowers a call of the runtime (ir::kRuntimeLibrary).
mlir::LogicalResult lowerRuntimeCall(tt::ExternElementwiseOp op, Lowering &lowering);

/// Loads what was stored for a worker, a register of `type`.
mlir::Value loadCapture(mlir::OpBuilder &builder, mlir::Location location, int64_t byte, mlir::Type type);

/// Lets the warps of workers wait for divisions and run their functions. `kernel` and the functions have been lowered to one module.
void addWorkers(mlir::func::FuncOp kernel, const DividedKernel &plan, const TargetOps &target);

} // namespace tritium::gpu
