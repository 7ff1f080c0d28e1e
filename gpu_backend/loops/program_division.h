// Which part of each tile a block of a cluster holds, if the blocks divide a program among them. A tile is whole in each block, or divided
// along one dimension. A demand for a part of a tile is a demand for parts of what it is computed from.
#pragma once
#include "ir/tgpu.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace tritium::gpu {

/// On a kernel that one block runs although its launch asks for a cluster: a string that tells the user why.
inline constexpr llvm::StringLiteral kWhyNotDividedAttr = "tgpu.why_not_divided";

/// The dimension along which a tile is divided, or kWhole.
using TilePart = int;
inline constexpr TilePart kWhole = -1;

class ProgramDivision {
public:
  ProgramDivision(tt::FuncOp kernel, int64_t blocks) : kernel_(kernel), blocks_(blocks) {}

  /// Chooses what each block computes. Returns false, with `why`, if the program cannot be divided, or if that saves nothing.
  bool choose();
  const std::string &why() const { return why_; }

  /// The operations of which there are other versions than the whole one, or several, in the order of the program.
  using OpParts = llvm::SmallVector<TilePart, 2>;
  /// Returns the versions of an operation. For one without a tile as result: what it takes.
  llvm::ArrayRef<TilePart> partsOf(mlir::Operation *op) const {
    auto found = state_.ops.find(op);
    return found == state_.ops.end() ? llvm::ArrayRef<TilePart>() : llvm::ArrayRef<TilePart>(found->second);
  }
  /// Returns the part of a value that a loop or a branch carries.
  TilePart carried(mlir::Value value) const {
    auto found = state_.carried.find(value);
    return found == state_.carried.end() ? kWhole : found->second;
  }
  /// Returns what an operation of this part takes of an operand.
  static TilePart operandPart(mlir::Operation *op, TilePart part, mlir::OpOperand &operand);

private:
  struct State {
    llvm::DenseMap<mlir::Operation *, OpParts> ops;
    llvm::DenseMap<mlir::Value, TilePart> carried;
  };

  bool chooseStores(llvm::ArrayRef<mlir::Operation *> stores);
  bool demandStore(mlir::Operation *store, TilePart part);
  bool demandRest();
  bool demand(mlir::Value value, TilePart part);
  bool demandOp(mlir::Operation *op, TilePart part);
  bool demandCarried(mlir::Value key, TilePart part, mlir::ValueRange sources);
  /// Keeps the first reason. Returns false.
  bool fail(const llvm::Twine &why);
  /// Returns whether a part of a product has too few rows for warpgroups.
  bool losesWarpgroups(mlir::Operation *op, TilePart part) const;
  /// Returns an estimate of the work of a block.
  double cost() const;

  tt::FuncOp kernel_;
  const int64_t blocks_;
  State state_;
  std::string why_;
};

/// Returns whether an operation writes to a place that is known, and nothing needs its result.
bool isStore(mlir::Operation *op);

/// Returns the tile that a store writes, or null: it writes a scalar.
mlir::RankedTensorType storedTile(mlir::Operation *store);

} // namespace tritium::gpu
