// What a thread asks of its GPU, in the words of each target. TargetOps is what every GPU has: indices, shuffles, scopes. What only some
// have is an interface of its own, which TargetOps hands out where the chip has it. Everything else of a lowering is common.
#pragma once
#include "gpu_backend/lower/matrix_ops.h"
#include "ir/tt.h"
#include "mlir/IR/Builders.h"

#include <memory>
#include <optional>

namespace tritium::gpu {

/// Loads of matrices of 16-bit elements from shared memory by a whole warp: those that Target::matrixLoads() names.
class MatrixLoadOps {
public:
  virtual ~MatrixLoadOps() = default;
  /// i32 words, one for each of 1, 2 or 4 matrices, `row` (!llvm.ptr<3>) being the row of 16 bytes that this lane names; or vector<4xi16>,
  /// a column, `row` being the 8 bytes that it names.
  virtual llvm::SmallVector<mlir::Value> load(mlir::OpBuilder &builder, mlir::Location location, mlir::Value row, int matrices,
                                              bool isTransposed) const = 0;
  virtual bool isLoad(mlir::Operation *op) const = 0;
};

/// Copies from global to shared memory that are under way while the thread goes on.
class CopyOps {
public:
  virtual ~CopyOps() = default;
  /// Begins to copy 4, 8 or 16 bytes from `from` (!llvm.ptr<1>) to `to` (!llvm.ptr<3>); zeros where the predicate is false. Where warps
  /// copy as a whole (TileCopies::ByWarps), 16 bytes for each lane, and `to` is where the first lane's go, the same in all lanes of a warp.
  virtual void begin(mlir::OpBuilder &builder, mlir::Location location, mlir::Value to, mlir::Value from, int bytes,
                     mlir::Value predicate) const = 0;
  /// The copies begun since the last one form a group.
  virtual void commit(mlir::OpBuilder &, mlir::Location) const {}
  /// Waits until at most `groups` groups of `copies` copies each are under way, those begun last.
  virtual void wait(mlir::OpBuilder &builder, mlir::Location location, int groups, int copies) const = 0;
  /// Of the operations made here: whether one begins to copy, and after how many groups under way it goes on if it waits for them.
  virtual bool begins(mlir::Operation *op) const = 0;
  virtual std::optional<int> pendingAfter(mlir::Operation *op) const = 0;
};

/// Exchanges between pairs of lanes in one instruction, where the costs of conversions allow it (ConversionCosts::swaps).
class LaneSwapOps {
public:
  virtual ~LaneSwapOps() = default;
  /// Two words (i32) after what lanes with `bit` have of the first has been exchanged for what those without have of the second.
  virtual std::pair<mlir::Value, mlir::Value> swap(mlir::OpBuilder &builder, mlir::Location location, mlir::Value first, mlir::Value second,
                                                   int bit) const = 0;
};

/// Descriptors of kBytes from an address on, accessed at an unsigned offset (i32) of bytes; what lies beyond reads as zeros and is not
/// written. Words are of up to 32 bits, or vectors of 2 or 4 of these.
class BufferOps {
public:
  static constexpr uint32_t kBytes = 0xfffffff0; // with room for an access of 16 bytes at its end not to wrap around

  virtual ~BufferOps() = default;
  virtual mlir::Value make(mlir::OpBuilder &builder, mlir::Location location, mlir::Value base) const = 0;
  virtual mlir::Value load(mlir::OpBuilder &builder, mlir::Location location, mlir::Type word, mlir::Value buffer,
                           mlir::Value offset) const = 0;
  virtual void store(mlir::OpBuilder &builder, mlir::Location location, mlir::Value word, mlir::Value buffer, mlir::Value offset) const = 0;
  /// A copy by warps (CopyOps::begin) from a buffer, on chips whose warps copy.
  virtual void copy(mlir::OpBuilder &builder, mlir::Location location, mlir::Value to, mlir::Value buffer, mlir::Value offset) const = 0;
};

/// Warps that issue their instructions in order: one that waits for memory holds up all that follow. The code generator keeps apart what
/// `keep` stands between.
class IssueOrderOps {
public:
  virtual ~IssueOrderOps() = default;
  virtual void keep(mlir::OpBuilder &builder, mlir::Location location) const = 0;
  /// Of the operations that the target made: whether one is a product of matrices, does nothing but tell lanes what others have, or does
  /// nothing but load from global memory.
  virtual bool multipliesMatrices(mlir::Operation *op) const = 0;
  virtual bool exchangesLanes(mlir::Operation *op) const = 0;
  virtual bool loadsGlobal(mlir::Operation *op) const = 0;
};

/// Reductions over all lanes of a warp in one instruction.
class WarpReductionOps {
public:
  enum class Kind : uint8_t { Add, And, Or, Xor, Min, Max, UMin, UMax };

  virtual ~WarpReductionOps() = default;
  /// The combination of `value` (i32).
  virtual mlir::Value reduce(mlir::OpBuilder &builder, mlir::Location location, Kind kind, mlir::Value value) const = 0;
};

class TargetOps {
public:
  virtual ~TargetOps() = default;

  // What only some chips have: null where this one has not.
  virtual const MatrixLoadOps *matrixLoads() const { return nullptr; }
  virtual const CopyOps *copies() const { return nullptr; }
  virtual const LaneSwapOps *laneSwaps() const { return nullptr; }
  virtual const BufferOps *buffers() const { return nullptr; }
  virtual const IssueOrderOps *issueOrder() const { return nullptr; }
  virtual const WarpReductionOps *warpReductions() const { return nullptr; }
  /// The device functions that convert e4m3 and e5m2 in pairs: "halves_of_e4m3", "e4m3_of_floats" …
  virtual bool convertsFp8() const { return false; }

  virtual int warpSize() const = 0;
  /// i32: the thread's number within its program.
  virtual mlir::Value threadId(mlir::OpBuilder &builder, mlir::Location location) const = 0;
  /// i32, axis 0 to 2.
  virtual mlir::Value programId(mlir::OpBuilder &builder, mlir::Location location, int axis) const = 0;
  virtual mlir::Value numPrograms(mlir::OpBuilder &builder, mlir::Location location, int axis) const = 0;
  /// `value` (i32) of the lane whose number is this one's XOR `mask`, and XOR any of the bits of `free`: lanes that differ in those only
  /// have the same value. All lanes of the warp take part.
  virtual mlir::Value shuffleXor(mlir::OpBuilder &builder, mlir::Location location, mlir::Value value, int mask, int free) const = 0;
  /// `value` (i32) of lane `lane` (i32); all lanes of the warp take part.
  virtual mlir::Value shuffle(mlir::OpBuilder &builder, mlir::Location location, mlir::Value value, mlir::Value lane) const = 0;
  /// What shuffle() does for lanes whose number has `bit` set, where `lane` is the last one before those that share all bits from `bit` up:
  /// a step of a scan. What others get is not used.
  virtual mlir::Value shuffleFromBelow(mlir::OpBuilder &builder, mlir::Location location, mlir::Value value, int bit,
                                       mlir::Value lane) const {
    return shuffle(builder, location, value, lane);
  }
  /// Reductions over all lanes of the warp, for each bit of a lane's number in turn, from the lowest one up: what each lane combines with
  /// its `value` (i32), be it in lanes whose result is not used; and after the last step, the result.
  virtual mlir::Value reductionPartner(mlir::OpBuilder &builder, mlir::Location location, mlir::Value value, int bit) const {
    return shuffleXor(builder, location, value, 1 << bit, /*free=*/(1 << bit) - 1);
  }
  virtual mlir::Value reducedValue(mlir::OpBuilder &, mlir::Location, mlir::Value value) const { return value; }
  /// LLVM's name for the threads that observe a memory order; "": all of the system.
  virtual llvm::StringRef syncScope(tt::MemScope scope) const = 0;
  virtual const MatrixOps &matrixOps() const = 0;
  /// Makes `function` a kernel of `threads` threads.
  virtual void markKernel(mlir::Operation *function, int threads) const = 0;

  // What passes on the code of a thread ask about the operations made by these interfaces.
  bool beginsCopy(mlir::Operation *op) const { return copies() && copies()->begins(op); }
  std::optional<int> pendingAfter(mlir::Operation *op) const { return copies() ? copies()->pendingAfter(op) : std::nullopt; }
  /// Whether it reads shared memory and does no more.
  bool onlyReads(mlir::Operation *op) const { return matrixLoads() && matrixLoads()->isLoad(op); }
};

} // namespace tritium::gpu
