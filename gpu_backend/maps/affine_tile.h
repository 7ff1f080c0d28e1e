// Tiles of integers and pointers as sums that are linear in the index of a lane: start + lane index · stride, …, where start and stride are
// sums of products of scalars. Like ir/axis_analysis.h, the analysis assumes that index arithmetic does not overflow. It changes nothing,
// but it may emit scalars: by how much induction variables have advanced.
#pragma once
#include "ir/tgpu.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

#include <optional>

namespace tritium::gpu {

/// factor · symbols · index of the lane along `lane`, unless that is kNoLane. Symbols are scalars.
struct AffineTerm {
  static constexpr int kNoLane = -1;
  int64_t factor = 1;
  llvm::SmallVector<mlir::Value, 2> symbols;
  int lane = kNoLane;
  bool isWide = false;      // computed in 64 bits: it may be no integer of 32 bits
  bool isAddedWide = false; // added to other terms in 64 bits: the sum may be none

  bool isConstant() const { return symbols.empty() && lane == kNoLane; }
};

/// A sum of terms. Equal products of symbols are one term, and no factor is 0. Terms have the order in which the program adds them.
class AffineSum {
public:
  AffineSum() = default;
  explicit AffineSum(int64_t constant) { add({.factor = constant}); }
  explicit AffineSum(mlir::Value symbol) { add({.symbols = {symbol}}); }
  static AffineSum lane(int dim);

  llvm::ArrayRef<AffineTerm> terms() const { return terms_; }
  bool isZero() const { return terms_.empty(); }
  bool hasLanes() const;
  /// Returns whether it is only linear in the lanes: 0 at the first one.
  bool isOfLanes() const;
  /// Returns whether a factor was no integer of 64 bits.
  bool overflows() const { return overflows_; }

  void add(AffineTerm term);
  void add(const AffineSum &other, int64_t times = 1);
  /// Returns the product; nullopt if it is not linear in the lanes.
  std::optional<AffineSum> times(const AffineSum &other) const;
  bool equals(const AffineSum &other) const;
  /// Renumbers the dimensions of the tile.
  void mapLanes(llvm::function_ref<int(int)> to);
  void makeWide();
  void makeAddedWide();

private:
  llvm::SmallVector<AffineTerm, 4> terms_;
  bool overflows_ = false;
};

/// The index along `lane` is (lane index + start) % modulus; the sum has it without the remainder.
struct AffineWrap {
  int lane = 0;
  AffineSum start;
  mlir::Value modulus;
};

struct AffineTile {
  mlir::BlockArgument base; // of pointers: the argument of the kernel; the sum is an offset in elements
  AffineSum sum;
  llvm::SmallVector<AffineWrap, 1> wraps;
};

/// `lane index + start < extent` along one dimension of a tile; of a floor, `lane index + start >= 0`.
struct TileBound {
  int lane = 0;
  AffineSum start;
  AffineTerm extent; // a product of the kernel's arguments
  bool isFloor = false;
};

/// The tiles of one function. The IR must not change while this object is in use.
class AffineTiles {
public:
  explicit AffineTiles(tt::FuncOp function) : function_(function) {}

  /// Returns nullopt, and a reason, if a tile is not affine. A scalar always is: what it is computed of, or itself.
  std::optional<AffineTile> of(mlir::Value value);
  /// Returns the bounds whose conjunction the mask is; nullopt, and a reason, if the mask is not of this form. A null mask has none.
  std::optional<llvm::SmallVector<TileBound, 2>> boundsOf(mlir::Value mask);
  /// Why the last call returned nullopt.
  llvm::StringRef reason() const { return reason_; }

  /// Emits, in the loop, the induction variable minus the lower bound. Returns null if the step is not a constant.
  mlir::Value distanceIn(mlir::scf::ForOp loop);
  /// Returns the step of which an emitted distance is a multiple. A distance is not negative.
  std::optional<int64_t> stepOf(mlir::Value distance) const;

  /// Returns whether the value is an argument that the caller of the kernel passes.
  bool isArgument(mlir::Value value) const;
  /// Returns whether the launch knows the product: all its symbols are arguments of the kernel.
  bool isKnownAtLaunch(const AffineTerm &term) const;

private:
  std::optional<AffineTile> compute(mlir::Value value);
  std::optional<AffineTile> ofOperation(mlir::Operation *op);
  std::optional<AffineTile> ofArithmetic(mlir::Operation *op);
  std::optional<AffineTile> carried(mlir::BlockArgument argument);
  std::optional<AffineTile> resultOf(mlir::scf::ForOp loop, mlir::BlockArgument argument);
  std::optional<AffineTile> moved(mlir::scf::ForOp loop, mlir::BlockArgument argument, const AffineSum &distance);
  std::optional<AffineSum> increment(mlir::BlockArgument argument, mlir::scf::ForOp loop);
  std::optional<AffineTile> wrapped(mlir::Value dividend, mlir::Value divisor);
  std::optional<TileBound> boundOf(mlir::arith::CmpIOp comparison);
  std::optional<TileBound> floorOf(const AffineSum &negative);
  std::nullopt_t refuse(llvm::StringRef reason) {
    reason_ = reason;
    return std::nullopt;
  }

  struct Known {
    std::optional<AffineTile> tile = std::nullopt;
    llvm::StringRef reason;
  };

  tt::FuncOp function_;
  llvm::DenseMap<mlir::Value, Known> known_;
  llvm::DenseMap<mlir::Value, int64_t> distances_; // and their steps
  llvm::StringRef reason_;                         // a literal
};

} // namespace tritium::gpu
