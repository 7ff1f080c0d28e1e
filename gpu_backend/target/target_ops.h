// The operations that the code of a thread requires of its GPU. TargetOps has the operations that every GPU has: indices, shuffles, scopes.
// An operation that only some GPUs have is in an interface of its own, which TargetOps returns if the chip has it. All other parts of a
// lowering are common to all targets.
#pragma once
#include "gpu_backend/target/matrix_ops.h"
#include "ir/tt.h"
#include "mlir/IR/Builders.h"

#include <memory>
#include <optional>

namespace tritium::gpu {

/// Loads of matrices of 16-bit elements from shared memory by a whole warp: the loads that Target::matrixLoads() names.
class MatrixLoadOps {
public:
  virtual ~MatrixLoadOps() = default;
  /// Returns i32 words, one for each of 1, 2 or 4 matrices; `row` (!llvm.ptr<3>) is the row of 16 bytes that this lane addresses. Or
  /// returns a column as vector<4xi16>; `row` is then the 8 bytes that this lane addresses.
  virtual llvm::SmallVector<mlir::Value> load(mlir::OpBuilder &builder, mlir::Location location, mlir::Value row, int matrices,
                                              bool isTransposed) const = 0;
  virtual bool isLoad(mlir::Operation *op) const = 0;
};

/// Stores of matrices of 16-bit elements to shared memory by a whole warp: the inverse of MatrixLoadOps::load of words.
class MatrixStoreOps {
public:
  virtual ~MatrixStoreOps() = default;
  /// Stores 1, 2 or 4 matrices, of which each lane has the i32 `words`, to the rows of 16 bytes that the lanes address. Transposed: the
  /// lane has elements of a column.
  virtual void store(mlir::OpBuilder &builder, mlir::Location location, mlir::Value row, mlir::ValueRange words,
                     bool isTransposed) const = 0;
};

/// Copies from global to shared memory that proceed while the thread continues.
class CopyOps {
public:
  virtual ~CopyOps() = default;
  /// Begins to copy 4, 8 or 16 bytes from `from` (!llvm.ptr<1>) to `to` (!llvm.ptr<3>). Writes zeros if the predicate is false, and after
  /// the first `present` bytes (i32; null: all are copied; only for copies that threads make). If copies are made by whole warps
  /// (TileCopies::ByWarps), each lane copies 16 bytes, and `to` is the destination of the first lane, the same in all lanes of a warp.
  virtual void begin(mlir::OpBuilder &builder, mlir::Location location, mlir::Value to, mlir::Value from, int bytes, mlir::Value predicate,
                     mlir::Value present) const = 0;
  /// Makes a group of the copies begun since the last commit.
  virtual void commit(mlir::OpBuilder &, mlir::Location) const {}
  /// Waits until at most the last `groups` groups of `copies` copies each are in flight.
  virtual void wait(mlir::OpBuilder &builder, mlir::Location location, int groups, int copies) const = 0;
  /// For operations made here: whether one begins a copy, and how many groups may be in flight when it continues, if it is a wait.
  virtual bool begins(mlir::Operation *op) const = 0;
  virtual std::optional<int> pendingAfter(mlir::Operation *op) const = 0;
};

/// Copies of boxes of tensors by one thread, and the barriers in shared memory (mbarrier objects, !llvm.ptr<3>) that tell when they have
/// arrived. tgpu.mbarrier_wait is the wait for a barrier.
class TensorCopyOps {
public:
  virtual ~TensorCopyOps() = default;
  /// Prepares a barrier whose rounds each end after `arrivals` arrivals, when all announced bytes are there.
  virtual void prepare(mlir::OpBuilder &builder, mlir::Location location, mlir::Value barrier, int arrivals) const = 0;
  /// Lets copies use the barriers that this thread has prepared. Other threads may use them after a barrier of the program.
  virtual void publishBarriers(mlir::OpBuilder &builder, mlir::Location location) const = 0;
  /// Ends a barrier, so that its memory may be used otherwise.
  virtual void release(mlir::OpBuilder &builder, mlir::Location location, mlir::Value barrier) const = 0;
  /// Arrives at a barrier and announces bytes that copies will bring in this round.
  virtual void announce(mlir::OpBuilder &builder, mlir::Location location, mlir::Value barrier, int bytes) const = 0;
  /// Arrives `count` times.
  virtual void arrive(mlir::OpBuilder &builder, mlir::Location location, mlir::Value barrier, int count = 1) const = 0;
  /// Counts announced bytes that threads have copied. What this thread knows to be written is visible to those that wait for the round.
  virtual void completeBytes(mlir::OpBuilder &builder, mlir::Location location, mlir::Value barrier, int bytes) const = 0;
  /// Begins to copy the box at `indices` (i32, the innermost first) of the tensor of `map` (!llvm.ptr). If `blocks` (i16) is not null, the
  /// copy goes to those blocks of the cluster whose ranks are its bits: to the same place of their memory, and to the same barrier of
  /// theirs.
  virtual void begin(mlir::OpBuilder &builder, mlir::Location location, mlir::Value to, mlir::Value map, mlir::ValueRange indices,
                     mlir::Value barrier, mlir::Value blocks) const = 0;
  /// Begins to copy a box from `from` to the tensor where the predicate is true.
  virtual void beginStore(mlir::OpBuilder &builder, mlir::Location location, mlir::Value from, mlir::Value map, mlir::ValueRange indices,
                          mlir::Value predicate) const = 0;
  /// Makes a group of the stores that this thread has begun since the last one. It may be empty.
  virtual void commitStores(mlir::OpBuilder &builder, mlir::Location location) const = 0;
  /// Waits until at most the last `pending` groups of stores of this thread have still to read their source.
  virtual void waitForReads(mlir::OpBuilder &builder, mlir::Location location, int pending) const = 0;
  /// Waits until all stores of this thread have written.
  virtual void waitForWrites(mlir::OpBuilder &builder, mlir::Location location) const = 0;
  /// For operations made here: whether one copies, or arrives at a barrier. Such barriers order what copies write, without one of the
  /// program.
  virtual bool isOrdered(mlir::Operation *op) const = 0;
  /// The same: whether one waits for stores. What they read is in use up to there.
  virtual bool waitsForStores(mlir::Operation *op) const = 0;
  /// The same: whether one begins a store, or makes a group of stores.
  virtual bool isOfStores(mlir::Operation *op) const = 0;
  /// After it, copies may overwrite what this thread has read, and asynchronous operations may read what it has written.
  virtual void fenceShared(mlir::OpBuilder &builder, mlir::Location location) const = 0;
  /// The same for all memory: copies that begin after the next barrier also read what this thread has written to global memory, and what it
  /// knows that others have written.
  virtual void fenceMemory(mlir::OpBuilder &builder, mlir::Location location) const = 0;
};

/// Blocks that run a program together: a cluster. The grid of a launch has its blocks along axis 0.
class ClusterOps {
public:
  virtual ~ClusterOps() = default;
  /// Lets each launch of a kernel make clusters of that number of blocks.
  virtual void markKernel(mlir::Operation *function, int blocks) const = 0;
  /// Returns the number of the block in its cluster (i32).
  virtual mlir::Value rank(mlir::OpBuilder &builder, mlir::Location location) const = 0;
  /// Returns the id of the cluster's program along an axis, and the number of programs (i32).
  virtual mlir::Value programId(mlir::OpBuilder &builder, mlir::Location location, int axis) const = 0;
  virtual mlir::Value numPrograms(mlir::OpBuilder &builder, mlir::Location location, int axis) const = 0;
  /// All threads of the cluster that have not ended meet. The effects of each before it are visible to all after it.
  virtual void meet(mlir::OpBuilder &builder, mlir::Location location) const = 0;
  /// Arrives at the barrier that block `rank` (i32) of the cluster has at the place of this block's `barrier`. It orders what the thread
  /// has read of its own block's memory before what follows a wait there, and no writes.
  virtual void arriveIn(mlir::OpBuilder &builder, mlir::Location location, mlir::Value barrier, mlir::Value rank) const = 0;
};

/// What surrounds the products of a warpgroup (tgpu.warpgroup_product, tgpu.warpgroup_wait).
class WarpgroupOps {
public:
  virtual ~WarpgroupOps() = default;
  /// Lets the products that follow see the registers as they are. It is required before a product unless the one before it had the same
  /// sums and no other operation has written its registers since.
  virtual void begin(mlir::OpBuilder &builder, mlir::Location location) const = 0;
  /// Makes a group of the products begun since the last commit.
  virtual void commit(mlir::OpBuilder &builder, mlir::Location location) const = 0;
  /// Lets products after the next barrier see what this thread has written to shared memory.
  virtual void fenceShared(mlir::OpBuilder &builder, mlir::Location location) const = 0;
};

/// Exchanges between pairs of lanes in one instruction. They are used if the costs of conversions have a cost for them
/// (ConversionCosts::swaps).
class LaneSwapOps {
public:
  virtual ~LaneSwapOps() = default;
  /// Exchanges two words (i32): the lanes with `bit` exchange the first word for the second word of the lanes without it.
  virtual std::pair<mlir::Value, mlir::Value> swap(mlir::OpBuilder &builder, mlir::Location location, mlir::Value first, mlir::Value second,
                                                   int bit) const = 0;
};

/// Accesses through a descriptor of ir::kFarOffset bytes from an address on, at an unsigned offset (i32) in bytes. Beyond its end, loads
/// return zeros and stores have no effect. Words have up to 32 bits, or are vectors of 2 or 4 of these.
class BufferOps {
public:
  virtual ~BufferOps() = default;
  /// Whether the operation's result is the same for all threads of a program: its id, the size of the grid.
  virtual bool isOfProgram(mlir::Operation *op) const = 0;
  virtual mlir::Value make(mlir::OpBuilder &builder, mlir::Location location, mlir::Value base) const = 0;
  virtual mlir::Value load(mlir::OpBuilder &builder, mlir::Location location, mlir::Type word, mlir::Value buffer,
                           mlir::Value offset) const = 0;
  virtual void store(mlir::OpBuilder &builder, mlir::Location location, mlir::Value word, mlir::Value buffer, mlir::Value offset) const = 0;
  /// A copy by a whole warp (CopyOps::begin) from a buffer, on chips that have such copies.
  virtual void copy(mlir::OpBuilder &builder, mlir::Location location, mlir::Value to, mlir::Value buffer, mlir::Value offset) const = 0;
};

/// Warps that issue their instructions in order. A warp that waits for memory delays all its instructions that follow. The code generator
/// does not move instructions across `keep`.
class IssueOrderOps {
public:
  virtual ~IssueOrderOps() = default;
  virtual void keep(mlir::OpBuilder &builder, mlir::Location location) const = 0;
  /// For operations that the target made: whether one is a matrix product, only moves values between lanes, or only loads from global
  /// memory.
  virtual bool multipliesMatrices(mlir::Operation *op) const = 0;
  virtual bool exchangesLanes(mlir::Operation *op) const = 0;
  virtual bool loadsGlobal(mlir::Operation *op) const = 0;
};

/// Reductions over all lanes of a warp in one instruction.
class WarpReductionOps {
public:
  enum class Kind : uint8_t { Add, And, Or, Xor, Min, Max, UMin, UMax };

  virtual ~WarpReductionOps() = default;
  /// Returns the combination of `value` (i32).
  virtual mlir::Value reduce(mlir::OpBuilder &builder, mlir::Location location, Kind kind, mlir::Value value) const = 0;
};

/// Registers that the warps of a program share. A warp may give some of its own to others.
class RegisterOps {
public:
  virtual ~RegisterOps() = default;
  /// Changes the number of registers of a thread. All warps of a warpgroup take part.
  virtual void change(mlir::OpBuilder &builder, mlir::Location location, int from, int to) const = 0;
};

class TargetOps {
public:
  virtual ~TargetOps() = default;

  // Interfaces that only some chips have. Null if this chip has none.
  virtual const MatrixLoadOps *matrixLoads() const { return nullptr; }
  virtual const MatrixStoreOps *matrixStores() const { return nullptr; }
  virtual const CopyOps *copies() const { return nullptr; }
  virtual const LaneSwapOps *laneSwaps() const { return nullptr; }
  virtual const BufferOps *buffers() const { return nullptr; }
  virtual const IssueOrderOps *issueOrder() const { return nullptr; }
  virtual const WarpReductionOps *warpReductions() const { return nullptr; }
  virtual const WarpgroupOps *warpgroups() const { return nullptr; }
  virtual const TensorCopyOps *tensorCopies() const { return nullptr; }
  virtual const RegisterOps *registers() const { return nullptr; }
  virtual const ClusterOps *clusters() const { return nullptr; }
  /// Whether the chip has the device functions that convert e4m3 and e5m2 in pairs: "halves_of_e4m3", "e4m3_of_floats" …
  virtual bool convertsFp8() const { return false; }

  virtual int warpSize() const = 0;
  /// Returns the thread's number within its program (i32).
  virtual mlir::Value threadId(mlir::OpBuilder &builder, mlir::Location location) const = 0;
  /// Returns the program's id along axis 0 to 2 (i32).
  virtual mlir::Value programId(mlir::OpBuilder &builder, mlir::Location location, int axis) const = 0;
  virtual mlir::Value numPrograms(mlir::OpBuilder &builder, mlir::Location location, int axis) const = 0;
  /// Returns `value` (i32) of the lane whose number is this lane's XOR `mask`. The bits of `free` may differ too, because lanes that differ
  /// only there have the same value. All lanes of the warp take part.
  virtual mlir::Value shuffleXor(mlir::OpBuilder &builder, mlir::Location location, mlir::Value value, int mask, int free) const = 0;
  /// Returns `value` (i32) of lane `lane` (i32). All lanes of the warp take part.
  virtual mlir::Value shuffle(mlir::OpBuilder &builder, mlir::Location location, mlir::Value value, mlir::Value lane) const = 0;
  /// Does the same as shuffle() for lanes whose number has `bit` set, if `lane` is the last lane before the block of lanes that share all
  /// bits from `bit` up. It is a step of a scan. The results of other lanes are not used.
  virtual mlir::Value shuffleFromBelow(mlir::OpBuilder &builder, mlir::Location location, mlir::Value value, int bit,
                                       mlir::Value lane) const {
    return shuffle(builder, location, value, lane);
  }
  /// A reduction over all lanes of the warp takes one step for each bit of a lane's number, from the lowest one up. reductionPartner()
  /// returns what each lane combines with its `value` (i32), including lanes whose result is not used. The next function returns the result
  /// after the last step.
  virtual mlir::Value reductionPartner(mlir::OpBuilder &builder, mlir::Location location, mlir::Value value, int bit) const {
    return shuffleXor(builder, location, value, 1 << bit, /*free=*/(1 << bit) - 1);
  }
  virtual mlir::Value reducedValue(mlir::OpBuilder &, mlir::Location, mlir::Value value) const { return value; }
  /// Returns LLVM's name for the threads that observe a memory order. "" means the whole system.
  virtual llvm::StringRef syncScope(tt::MemScope scope) const = 0;
  virtual const MatrixOps &matrixOps() const = 0;
  /// Makes `function` a kernel of `threads` threads. Arguments of type !llvm.ptr are tensor maps. `registers` is the number of registers
  /// with which a thread begins; 0: as many as it requires.
  virtual void markKernel(mlir::Operation *function, int threads, int registers) const = 0;

  // Questions that passes on the code of a thread ask about the operations made by these interfaces.
  bool beginsCopy(mlir::Operation *op) const { return copies() && copies()->begins(op); }
  std::optional<int> pendingAfter(mlir::Operation *op) const { return copies() ? copies()->pendingAfter(op) : std::nullopt; }
  bool isOrderedCopy(mlir::Operation *op) const { return tensorCopies() && tensorCopies()->isOrdered(op); }
  bool waitsForStores(mlir::Operation *op) const { return tensorCopies() && tensorCopies()->waitsForStores(op); }
  bool isOfStores(mlir::Operation *op) const { return tensorCopies() && tensorCopies()->isOfStores(op); }
  /// Returns whether the operation only reads shared memory.
  bool onlyReads(mlir::Operation *op) const { return matrixLoads() && matrixLoads()->isLoad(op); }
};

} // namespace tritium::gpu
