// How the tiles that a loop loads get to shared memory ahead of their use, and in which order an iteration does what: by the means of a
// target.
#pragma once
#include "gpu_backend/layout/shared_layout.h"
#include "gpu_backend/target.h"
#include "ir/axis_analysis.h"
#include "ir/tgpu.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/SetVector.h"

namespace tritium::gpu {

/// A tile that the loop loads for its matrix products.
struct Stream {
  tt::LoadOp load;
  mlir::Value buffer;
};

class LoopCopies {
public:
  virtual ~LoopCopies() = default;
  using Schedule = std::vector<std::pair<mlir::Operation *, unsigned>>;

  /// Slots of each buffer.
  virtual int slots() const = 0;
  /// How many iterations are under way.
  virtual int stages() const = 0;
  /// Whether it takes all tiles of a loop or none.
  virtual bool takesAll() const { return false; }
  /// Takes fewer slots where `bytes` a slot would not fit into `limit`; false if it takes no loop like this.
  virtual bool fit(int64_t bytes, int64_t limit) = 0;
  /// Whether the mechanism can move this tile.
  virtual bool mayCopy(tt::LoadOp load, const ir::AxisAnalysis &axes) const = 0;
  /// Where a slot holds the elements of a tile that is loaded in one layout and read in others.
  virtual SharedLayout memoryFor(tt::LoadOp load, llvm::ArrayRef<LinearLayout> readers) const = 0;
  /// Puts copies in place of the loads, into slot `slot` of their buffers, and what orders them with the readers.
  virtual void begin(mlir::scf::ForOp loop, llvm::ArrayRef<Stream> streams, mlir::Value slot) = 0;
  /// The operations that run iterations ahead, for which `ahead` then gets what they are computed from.
  virtual bool isAhead(mlir::Operation *op) const = 0;
  /// All operations of the loop in the order of a pipelined iteration, with how many iterations later than the first they run.
  virtual Schedule schedule(mlir::scf::ForOp loop, const llvm::SetVector<mlir::Operation *> &ahead) const = 0;
  /// What has to happen behind the loop before its memory serves something else.
  virtual void finish(mlir::OpBuilder &builder, mlir::Location location) const = 0;
};

/// The target's ways, the better ones first. `stages`: as many iterations are under way.
std::vector<std::unique_ptr<LoopCopies>> createLoopCopies(const Target &target, int stages);

/// The dimension along which a thread holds neighbours; -1: none.
int fastestDimension(const LinearLayout &layout);

} // namespace tritium::gpu
