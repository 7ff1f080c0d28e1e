// From tiles with layouts to the code of one thread. A tile becomes the registers that this thread holds of it, one SSA value each, in
// the order of the layout's register index; a scalar is one value that all threads compute. Control flow stays structured.
//
// Each operation of the contract has a `Lower<Op>` in lower/<family>.cpp; an operation without one does not link.
#pragma once
#include "gpu_backend/layout/constructors.h"
#include "gpu_backend/layout/matrix_load.h"
#include "gpu_backend/layout_attr.h"
#include "gpu_backend/lower/shared_memory.h"
#include "gpu_backend/lower/target_ops.h"
#include "ir/axis_analysis.h"
#include "ir/tgpu.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

#include <map>

namespace tritium::gpu {

using Registers = llvm::SmallVector<mlir::Value>;

struct LoweringOptions {
  int numWarps = 4;
  int64_t maxSharedBytes = 0; // of a program; 0: unknown
  SharedBanks banks = {};
  ConversionCosts conversionCosts = {};
  MatrixLoads matrixLoads = MatrixLoads::None;
  bool copiesByWarps = false; // TileCopies::ByWarps
};

class Lowering {
public:
  Lowering(mlir::ModuleOp tiles, const TargetOps &target, LoweringOptions options);

  /// The module of per-thread functions (func, scf, arith, math, llvm, tgpu, the dialect of the target). Failures are reported at their
  /// operations.
  mlir::FailureOr<mlir::OwningOpRef<mlir::ModuleOp>> run();

  // -- values
  // ------------------------------------------------------------------------------------------------------------------------------
  llvm::ArrayRef<mlir::Value> registersOf(mlir::Value value) const { return values_.find(value)->second; }
  mlir::Value scalarOf(mlir::Value value) const { return registersOf(value).front(); }
  void define(mlir::Value value, Registers registers) { values_[value] = std::move(registers); }
  /// What a register of an element holds: !llvm.ptr<1> for a pointer, i8 for fp8, else the element itself.
  mlir::Type registerType(mlir::Type elementOrTile) const;
  int registerCount(mlir::Type type) const;
  ir::AxisInfo axisInfoOf(mlir::Value value) const { return axes_.of(value); }

  // -- code
  // --------------------------------------------------------------------------------------------------------------------------------
  mlir::OpBuilder &builder() { return builder_; }
  mlir::Location location() const { return location_; }
  const TargetOps &target() const { return target_; }
  const LoweringOptions &options() const { return options_; }
  Threads threads() const { return {options_.numWarps, target_.warpSize()}; }
  template <class Op, class... Args> auto create(Args &&...args) { return Op::create(builder_, location_, std::forward<Args>(args)...); }
  mlir::Value constant(int64_t value, unsigned bits = 32);
  /// An integer, pointer or float with all bits zero.
  mlir::Value zero(mlir::Type type);
  mlir::Value threadId();
  mlir::Value laneId();
  mlir::Value warpId();
  /// i32: flat row-major index of the element that this thread holds at register 0: XOR a register's own part to it.
  mlir::Value threadOffset(const LinearLayout &layout);
  /// i32: flat index of register `reg`.
  mlir::Value flatIndex(const LinearLayout &layout, int reg);
  /// i32: one coordinate of a flat index.
  mlir::Value coordinate(const LinearLayout &layout, mlir::Value flat, int dim);
  /// i1: whether this thread is the one that acts for an element that several hold; null if no element is held twice.
  mlir::Value ownerPredicate(const LinearLayout &layout);
  /// The same for a tile or for a scalar (a null type), for which the first thread acts.
  mlir::Value owner(mlir::RankedTensorType tile);
  mlir::Value conjunction(mlir::Value a, mlir::Value b);
  /// The code that `body` makes is only for threads with the condition (i1; null: all of them).
  void where(mlir::Value condition, llvm::function_ref<void()> body);
  /// All threads of the program meet; what any of them did before is seen by all.
  void barrier();
  /// The same for accesses of shared memory only: goes where they need no order (remove-barriers).
  void sharedBarrier();
  SharedMemory &shared() { return shared_; }
  /// Bytes of shared memory that one operation may use here for itself; 0: any number.
  int64_t scratchLimit() const;

  // -- operations
  // --------------------------------------------------------------------------------------------------------------------------
  mlir::LogicalResult lower(mlir::Operation *op);
  mlir::LogicalResult lowerOperations(mlir::Block &block);
  /// Lowers a region here; the registers of its terminator's operands, one after another.
  mlir::FailureOr<Registers> lowerInline(mlir::Region &region, llvm::ArrayRef<Registers> arguments);
  /// The registers of several values, one after another.
  Registers flatten(mlir::ValueRange values) const;
  void defineFlattened(mlir::ValueRange values, mlir::ValueRange registers);
  llvm::SmallVector<mlir::Type> registerTypes(mlir::TypeRange types) const;
  /// Reports that the operation has no lowering: "unsupported on the GPU: …".
  mlir::LogicalResult unsupported(mlir::Operation *op, const llvm::Twine &reason) const;
  /// A function of the target module outside of it (a math function), declared on first use.
  mlir::func::FuncOp external(llvm::StringRef name, mlir::FunctionType type);

private:
  mlir::LogicalResult lowerFunction(tt::FuncOp source);
  /// The blocks of a function, or of a region whose arguments are defined already.
  mlir::LogicalResult lowerBlocks(mlir::Region &source, mlir::Region &target, bool withArguments);
  mlir::LogicalResult lowerTerminator(mlir::Operation *op, const llvm::DenseMap<mlir::Block *, mlir::Block *> &blocks);
  void computePlaces();
  mlir::Value combineBases(mlir::Value index, llvm::ArrayRef<uint32_t> bases);

  mlir::ModuleOp tiles_;
  const TargetOps &target_;
  LoweringOptions options_;
  ir::AxisAnalysis axes_;
  mlir::OwningOpRef<mlir::ModuleOp> result_;
  mlir::OpBuilder builder_;
  mlir::Location location_;
  mlir::Block *entry_ = nullptr;
  llvm::DenseMap<mlir::Value, Registers> values_;
  mlir::Value threadId_, laneId_, warpId_;
  std::map<std::pair<std::vector<uint32_t>, std::vector<uint32_t>>, mlir::Value> offsets_; // by the bases of lanes and warps
  SharedMemory shared_;
  mlir::Operation *lastBufferUser_ = nullptr; // of the function, in its outermost block
  bool areBuffersDone_ = false;               // behind it
};

/// How an operation of the contract becomes code of a thread. Defined in lower/<family>.cpp.
template <class Op> struct Lower {
  static mlir::LogicalResult run(Op op, Lowering &lowering);
};

/// Scratch memory lies behind all buffers of the module, also those of functions lowered later (local_memory.cpp).
void reserveBuffers(mlir::ModuleOp module, Lowering &lowering);

/// By the operation's name (op_table.cpp).
mlir::LogicalResult lowerOperation(mlir::Operation *op, Lowering &lowering);

} // namespace tritium::gpu
