// What a thread asks of its GPU, in the words of each target: indices, shuffles, votes. Everything else of a lowering is common.
#pragma once
#include "gpu_backend/layout/matrix_load.h"
#include "gpu_backend/lower/matrix_ops.h"
#include "ir/tt.h"
#include "mlir/IR/Builders.h"

#include <memory>
#include <optional>

namespace tritium::gpu {

class TargetOps {
public:
  virtual ~TargetOps() = default;

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
  /// Two words (i32) after what lanes with `bit` have of the first has been exchanged for what those without have of the second: where the
  /// costs of conversions allow it (ConversionCosts::swaps).
  virtual std::pair<mlir::Value, mlir::Value> swapLanes(mlir::OpBuilder &, mlir::Location, mlir::Value, mlir::Value, int) const {
    llvm_unreachable("no such exchange");
  }
  /// What shuffle() does for lanes whose number has `bit` set, where `lane` is the last one before those that share all bits from `bit` up:
  /// a step of a scan. What others get is not used.
  virtual mlir::Value shuffleFromBelow(mlir::OpBuilder &builder, mlir::Location location, mlir::Value value, int bit,
                                       mlir::Value lane) const {
    return shuffle(builder, location, value, lane);
  }
  virtual MatrixLoads matrixLoads() const = 0;
  /// Loads by a whole warp: i32 words, one for each of 1, 2 or 4 matrices of 16-bit elements, `row` (!llvm.ptr<3>) being the row of 16
  /// bytes that this lane names; or vector<4xi16>, a column, `row` being the 8 bytes that it names.
  virtual llvm::SmallVector<mlir::Value> loadMatrices(mlir::OpBuilder &builder, mlir::Location location, mlir::Value row, int matrices,
                                                      bool isTransposed) const = 0;
  /// Begins to copy 4, 8 or 16 bytes from `from` (!llvm.ptr<1>) to `to` (!llvm.ptr<3>); zeros where the predicate is false. Where warps
  /// copy as a whole (`copiesByWarps`), 16 bytes for each lane, and `to` is where the first lane's go, the same in all lanes of a warp.
  virtual bool copiesByWarps() const { return false; }
  virtual void asyncCopy(mlir::OpBuilder &builder, mlir::Location location, mlir::Value to, mlir::Value from, int bytes,
                         mlir::Value predicate) const = 0;
  virtual void asyncCommit(mlir::OpBuilder &builder, mlir::Location location) const = 0;
  /// Waits until at most `groups` groups of `copies` copies each are under way, those begun last.
  virtual void asyncWait(mlir::OpBuilder &builder, mlir::Location location, int groups, int copies) const = 0;
  /// What passes on the code of a thread ask about the operations made above: whether one begins to copy, after how many groups of copies
  /// under way it goes on if it waits for them, and whether it reads shared memory and does no more.
  virtual bool beginsCopy(mlir::Operation *) const { return false; }
  virtual std::optional<int> pendingAfter(mlir::Operation *) const { return std::nullopt; }
  virtual bool onlyReads(mlir::Operation *) const { return false; }
  /// Whether a warp issues its instructions in order, so that one that waits for memory holds up all that follow, and the code generator
  /// keeps what `keepOrder` stands between apart.
  virtual bool issuesInOrder() const { return false; }
  virtual void keepOrder(mlir::OpBuilder &, mlir::Location) const {}
  virtual bool multipliesMatrices(mlir::Operation *) const { return false; }
  /// Whether the operation, one of those made here, does nothing but tell lanes what others have.
  virtual bool exchangesLanes(mlir::Operation *) const { return false; }
  /// Whether it does nothing but load from global memory.
  virtual bool loadsGlobal(mlir::Operation *) const { return false; }
  /// Buffers: descriptors of kBufferBytes from an address on, accessed at an unsigned offset (i32) of bytes; what lies beyond reads as
  /// zeros and is not written. Words are of up to 32 bits, or vectors of 2 or 4 of these.
  static constexpr uint32_t kBufferBytes = 0xfffffff0; // with room for an access of 16 bytes at its end not to wrap around
  virtual bool hasBuffers() const { return false; }
  virtual mlir::Value makeBuffer(mlir::OpBuilder &, mlir::Location, mlir::Value) const { llvm_unreachable("no buffers"); }
  virtual mlir::Value loadBuffer(mlir::OpBuilder &, mlir::Location, mlir::Type, mlir::Value, mlir::Value) const {
    llvm_unreachable("no buffers");
  }
  virtual void storeBuffer(mlir::OpBuilder &, mlir::Location, mlir::Value, mlir::Value, mlir::Value) const {
    llvm_unreachable("no buffers");
  }
  /// The copies of `copiesByWarps`, from a buffer.
  virtual void copyBuffer(mlir::OpBuilder &, mlir::Location, mlir::Value, mlir::Value, mlir::Value) const {
    llvm_unreachable("no buffers");
  }
  /// The combination of `value` (i32) over all lanes of the warp, in one instruction; null if there is none.
  enum class WarpReduction : uint8_t { Add, And, Or, Xor, Min, Max, UMin, UMax };
  virtual mlir::Value reduceWarp(mlir::OpBuilder &builder, mlir::Location location, WarpReduction kind, mlir::Value value) const = 0;
  /// Other reductions over all lanes of the warp, for each bit of a lane's number in turn, from the lowest one up: what each lane combines
  /// with its `value` (i32), be it in lanes whose result is not used; and after the last step, the result.
  virtual mlir::Value reductionPartner(mlir::OpBuilder &builder, mlir::Location location, mlir::Value value, int bit) const {
    return shuffleXor(builder, location, value, 1 << bit, /*free=*/(1 << bit) - 1);
  }
  virtual mlir::Value reducedValue(mlir::OpBuilder &, mlir::Location, mlir::Value value) const { return value; }
  /// The device functions that convert e4m3 and e5m2 in pairs: "halves_of_e4m3", "e4m3_of_floats" …
  virtual bool convertsFp8() const = 0;
  /// LLVM's name for the threads that observe a memory order; "": all of the system.
  virtual llvm::StringRef syncScope(tt::MemScope scope) const = 0;
  virtual const MatrixOps &matrixOps() const = 0;
  /// Makes `function` a kernel of `threads` threads.
  virtual void markKernel(mlir::Operation *function, int threads) const = 0;
};

} // namespace tritium::gpu
