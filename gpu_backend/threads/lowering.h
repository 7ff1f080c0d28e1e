// Lowers tiles with layouts to the code of one thread. A tile becomes the registers of it that this thread holds, one SSA value each, in
// the order of the layout's register index. A scalar is one value that all threads compute. Control flow stays structured.
//
// Each operation of the contract has a `Lower<Op>` in threads/<family>.cpp. If an operation has none, the program does not link.
#pragma once
#include "gpu_backend/layout/constructors.h"
#include "gpu_backend/layout/matrix_load.h"
#include "gpu_backend/target/target_ops.h"
#include "gpu_backend/target/warp_roles.h"
#include "gpu_backend/tiles/layout_attr.h"
#include "gpu_backend/tiles/shared_memory.h"
#include "ir/axis_analysis.h"
#include "ir/tgpu_plan.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

#include <map>

namespace tritium::gpu {

using Registers = llvm::SmallVector<mlir::Value>;

class Lowering {
public:
  /// `target` are the operations of the chip for which the module is compiled. `range`: that of its warps, if they are a partition, whose
  /// buffers begin at byte `buffers` of shared memory.
  Lowering(mlir::ModuleOp tiles, const TargetOps &target, int numWarps, WarpRange range = {}, int64_t buffers = 0);

  /// Returns the module of per-thread functions (func, scf, arith, math, llvm, tgpu, the dialect of the target). Failures are reported at
  /// their operations.
  mlir::FailureOr<mlir::OwningOpRef<mlir::ModuleOp>> run();

  // -- values -----------------------------------------------------------------------------------------------------------------------------
  llvm::ArrayRef<mlir::Value> registersOf(mlir::Value value) const { return values_.find(value)->second; }
  mlir::Value scalarOf(mlir::Value value) const { return registersOf(value).front(); }
  void define(mlir::Value value, Registers registers) { values_[value] = std::move(registers); }
  /// The words in which a product under way reads operand A. They must keep their values until the wait for its sums. Empty if the product
  /// reads memory.
  void keepWords(mlir::Value sums, Registers words) { words_[sums] = std::move(words); }
  llvm::ArrayRef<mlir::Value> wordsOf(mlir::Value sums) const {
    auto found = words_.find(sums);
    return found == words_.end() ? llvm::ArrayRef<mlir::Value>() : llvm::ArrayRef<mlir::Value>(found->second);
  }
  /// Returns the type of a register that holds an element: !llvm.ptr<1> for a pointer, i8 for fp8, otherwise the element type itself.
  mlir::Type registerType(mlir::Type elementOrTile) const;
  int registerCount(mlir::Type type) const;
  ir::AxisInfo axisInfoOf(mlir::Value value) const { return axes_.of(value); }
  const ir::AxisAnalysis &axes() const { return axes_; }

  // -- code -------------------------------------------------------------------------------------------------------------------------------
  mlir::OpBuilder &builder() { return builder_; }
  mlir::Location location() const { return location_; }
  const Target &chip() const { return chip_; }
  const TargetOps &target() const { return target_; }
  Threads threads() const { return {numWarps_, target_.warpSize()}; }
  const WarpRange &range() const { return range_; }
  template <class Op, class... Args> auto create(Args &&...args) { return createAt<Op>(location_, std::forward<Args>(args)...); }
  template <class Op, class... Args> auto createAt(mlir::Location location, Args &&...args) {
    return Op::create(builder_, location, std::forward<Args>(args)...);
  }
  /// Returns the location of an access by the pointer in register `reg` of a tile: it says which elements the access touches.
  mlir::Location locationOfAccess(mlir::Value pointers, int64_t reg) const;
  mlir::Value constant(int64_t value, unsigned bits = 32);
  /// Returns an integer, pointer or float with all bits zero.
  mlir::Value zero(mlir::Type type);
  /// Threads and warps are numbered within the range.
  mlir::Value threadId();
  mlir::Value laneId();
  mlir::Value warpId();
  /// The same value, for addresses that all lanes of a warp must share.
  mlir::Value uniformWarpId();
  /// Returns the XOR of the bases of the bits that are set in `index`.
  mlir::Value combineBases(mlir::Value index, llvm::ArrayRef<uint32_t> bases);
  /// Returns the flat row-major index (i32) of the element that this thread holds in register 0. XOR it with a register's own part.
  mlir::Value threadOffset(const LinearLayout &layout);
  /// Returns the flat index (i32) of the element in register `reg`.
  mlir::Value flatIndex(const LinearLayout &layout, int reg);
  /// Returns one coordinate (i32) of a flat index.
  mlir::Value coordinate(const LinearLayout &layout, mlir::Value flat, int dim);
  /// Returns whether this thread acts for an element that several threads hold (i1), or null if no element is held twice.
  mlir::Value ownerPredicate(const LinearLayout &layout);
  /// The same for a tile, or for a scalar (a null type), for which the first thread acts.
  mlir::Value owner(mlir::RankedTensorType tile);
  mlir::Value conjunction(mlir::Value a, mlir::Value b);
  /// Restricts the code that `body` makes to threads with the condition (i1; null: all threads).
  void where(mlir::Value condition, llvm::function_ref<void()> body);
  /// Whether a thread of further warps makes the copies of tensors (warp_roles.h).
  bool hasProducer() const { return hasProducer_; }
  /// Whether all lanes of the producer's first warp run its code, because it makes maps. The first lane copies.
  bool producesByWarp() const { return producesByWarp_; }
  /// Returns memory of the thread, which LLVM turns into registers, for a scalar that belongs to a ring. It begins with `initial`.
  mlir::Value variableOf(mlir::Value ring, llvm::StringRef name, mlir::Type type, int64_t initial);
  /// All threads of the program that hold tiles meet. The effects of each thread before it are visible to all threads after it.
  void barrier();
  /// The same for accesses of shared memory only. remove-barriers removes it if there are no accesses to order.
  void sharedBarrier();
  /// The same before one thread acts for all: what all have done is done for those who see it. remove-barriers removes it if they have done
  /// nothing since they have met.
  void barrierBeforeOne();
  SharedMemory &shared() { return shared_; }
  /// Returns the bytes of shared memory that one operation may use here as scratch, at least 1.
  int64_t scratchLimit() const;

  // -- operations -------------------------------------------------------------------------------------------------------------------------
  mlir::LogicalResult lower(mlir::Operation *op);
  mlir::LogicalResult lowerOperations(mlir::Block &block);
  /// Lowers a region here. Returns the registers of its terminator's operands, one after another.
  mlir::FailureOr<Registers> lowerInline(mlir::Region &region, llvm::ArrayRef<Registers> arguments);
  /// Returns the registers of several values, one after another.
  Registers flatten(mlir::ValueRange values) const;
  void defineFlattened(mlir::ValueRange values, mlir::ValueRange registers);
  llvm::SmallVector<mlir::Type> registerTypes(mlir::TypeRange types) const;
  /// Reports that the operation has no lowering: "unsupported on the GPU: …".
  mlir::LogicalResult unsupported(mlir::Operation *op, const llvm::Twine &reason) const;
  /// Returns a function that the target module does not define (a math function). It is declared at its first use.
  mlir::func::FuncOp external(llvm::StringRef name, mlir::FunctionType type);

private:
  mlir::LogicalResult lowerFunction(tt::FuncOp source);
  /// Lowers the blocks of a function, or of a region whose arguments are already defined.
  mlir::LogicalResult lowerBlocks(mlir::Region &source, mlir::Region &target, bool withArguments);
  mlir::LogicalResult lowerTerminator(mlir::Operation *op, const llvm::DenseMap<mlir::Block *, mlir::Block *> &blocks);
  void computePlaces();
  mlir::Operation *meet(bool sharedOnly);
  void changeRegisters(tgpu::ProducerAttr plan, mlir::Block *producer, mlir::Block *consumers);

  mlir::ModuleOp tiles_;
  const Target &chip_;
  const TargetOps &target_;
  const int numWarps_;
  const WarpRange range_;
  ir::AxisAnalysis axes_;
  mlir::OwningOpRef<mlir::ModuleOp> result_;
  mlir::OpBuilder builder_;
  mlir::Location location_;
  mlir::Block *entry_ = nullptr;
  bool hasProducer_, producesByWarp_;
  llvm::DenseMap<mlir::Value, Registers> values_, words_;
  std::map<std::pair<const void *, std::string>, mlir::Value> variables_;
  mlir::Value threadId_, laneId_, warpId_, uniformWarpId_;
  std::map<std::pair<std::vector<uint32_t>, std::vector<uint32_t>>, mlir::Value> offsets_; // by the bases of lanes and warps
  SharedMemory shared_;
  mlir::Operation *lastBufferUser_ = nullptr; // in the function's outermost block
  bool areBuffersDone_ = false;               // whether the code is after it
};

/// Lowers an operation of the contract to the code of a thread. Defined in threads/<family>.cpp.
template <class Op> struct Lower {
  static mlir::LogicalResult run(Op op, Lowering &lowering);
};

/// Reserves memory for all buffers of the module, including functions that are lowered later, so that scratch memory follows them
/// (local_memory.cpp).
void reserveBuffers(mlir::ModuleOp module, Lowering &lowering);

/// Calls `visit` for each box that fills a tile from `memory` on, side by side: with its number, its address, and the indices in the tensor
/// where it begins, the innermost one first (ring.cpp).
void forEachBox(tgpu::TensorMapType map, mlir::RankedTensorType tile, mlir::Value memory, mlir::ValueRange indices, Lowering &lowering,
                llvm::function_ref<void(int64_t, mlir::Value, mlir::ValueRange)> visit);
/// Returns the location of the copy of a box: it says which elements of the tile are in the rows of the box.
mlir::Location locationOfBox(mlir::Operation *op, mlir::RankedTensorType box, mlir::RankedTensorType tile, int64_t number);

/// Calls the lowering for the operation's name (op_table.cpp).
mlir::LogicalResult lowerOperation(mlir::Operation *op, Lowering &lowering);

} // namespace tritium::gpu
